"""`Fabric.graph` and its files, read back with networkx and compared with the columns of the fabric."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import networkx as nx
import pytest

from tdsl.compile import compiler
from tdsl.fabric.as_networkx import FORMATS
from tdsl.fabric.graph import Fabric
from tests.cli.run import tdsl

WHOLE = Path(__file__).parent / "whole"
DESIGNS = ("rail_only", *(str(WHOLE / f"{name}.fab") for name in ("crossed", "layers", "subnets", "settings")))


def fabric_of(name: str) -> Fabric:
    (design,) = compiler.compile_without_checks(name).designs
    assert design.fabric is not None
    return design.fabric


def read(form: str, text: str) -> nx.MultiGraph:
    """What networkx makes of a file, edges by key."""
    if form == "json":
        return nx.node_link_graph(json.loads(text), edges="edges")
    if form == "graphml":
        return nx.parse_graphml(text, node_type=int, edge_key_type=int, force_multigraph=True)
    return nx.read_gexf(BytesIO(text.encode()), node_type=int)


@pytest.mark.parametrize("name", DESIGNS, ids=lambda name: Path(name).stem)
def test_the_graph_is_the_fabric(name: str) -> None:
    f = fabric_of(name)
    g = f.graph()
    assert set(g) == {d for d in range(f.device_count) if f.built[d]}
    assert g.number_of_edges() == f.link_count
    for d, facts in g.nodes(data=True):
        assert facts["name"] == f.device_name(d) and facts["kind"] == f.kind[d] and facts.get("tier", -1) == f.tier[d]
        if "container" in facts:
            outer = g.nodes[facts["container"]]
            assert facts["path"].startswith(outer["path"] + ".")
        assert ("plane" in facts) == (f.plane[d] >= 0)
    for a, b, row, facts in g.edges(keys=True, data=True):
        assert {a, b} == {f.device_a[row], f.device_b[row]} and facts["rate_bps"] == f.link_rate[row]
        assert facts["a_port"] == f.port_path(int(f.link_a[row])) and facts["b_port"] == f.port_path(int(f.link_b[row]))
        assert facts["class"] == f.classes[f.link_class[row]] and ("via" in facts) == (f.link_via_a[row] >= 0)
        assert ("cable" in facts) == (facts["medium"] == "cable")


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", DESIGNS[1:4], ids=lambda name: Path(name).stem)
def test_files_are_read_back(name: str, form: str) -> None:
    g = fabric_of(name).graph()
    again = read(form, FORMATS[form](g))
    assert set(again) == set(g) and again.number_of_edges() == g.number_of_edges()
    assert all(facts.items() <= again.nodes[d].items() for d, facts in g.nodes(data=True))
    if form == "gexf":  # networkx gives edges numbers of their own there
        rates = sorted((min(a, b), max(a, b), x["rate_bps"], x["a_port"]) for a, b, x in g.edges(data=True))
        assert rates == sorted((min(a, b), max(a, b), x["rate_bps"], x["a_port"]) for a, b, x in again.edges(data=True))
    else:
        assert all(facts == again.edges[a, b, key] for a, b, key, facts in g.edges(keys=True, data=True))


@pytest.mark.parametrize("form", FORMATS)
def test_names_that_no_file_can_hold_as_they_are(form: str) -> None:
    f = replace(fabric_of("rail_only"), names={0: 'a<&>"\x00\x1f', 1: "ü\U0001f600\n"})
    again = read(form, FORMATS[form](f.graph()))
    assert again.nodes[1]["name"] == "ü\U0001f600\n"
    assert again.nodes[0]["name"] == ('a<&>"\x00\x1f' if form == "json" else 'a<&>"\ufffd\ufffd')


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    for seed, out in (("1", "one"), ("2", "two")):
        call = [sys.executable, "-m", "tdsl", "show", "rail_only", "graph", "--format", "gexf", "-o", str(tmp_path / out)]
        subprocess.run(call, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert b"lastmodified" not in (tmp_path / "one").read_bytes()


def test_show_graph(tmp_path: Path) -> None:
    assert tdsl("show", "rail_only", "graph").stdout == FORMATS["graphml"](fabric_of("rail_only").graph())
    assert nx.is_connected(read("json", tdsl("show", "rail_only", "graph", "--format", "json").stdout))
    wrong = tdsl("show", "rail_only", "graph", "--format", "csv")
    assert wrong.exit_code == 2 and "graphml, json, gexf" in wrong.stderr
    wrong = tdsl("show", "rail_only", "links", "--format", "gexf")
    assert wrong.exit_code == 2 and "table, csv, json" in wrong.stderr
    assert tdsl("show", "rail_only", "links", "-o", str(tmp_path / "links")).exit_code == 2
    whole = read("json", tdsl("show", "superpod_cluster", "graph", "--format", "json").stdout)
    assert Counter(facts["network"] for *_, facts in whole.edges(data=True)) == {
        "compute": 2040,
        "storage": 840,
        "management": 149,
    }
    assert whole.number_of_nodes() == 127 + 16 + 48 + 20 + 4  # each host once
    two = tmp_path / "two.fab"
    two.write_text("fabric one { switch a[2]: QM9700; connect a each }\nfabric two { switch a[2]: QM9700; connect a each }\n")
    several = tdsl("show", str(two), "graph")
    assert several.exit_code == 2 and "one, two" in several.stderr and not several.stdout
