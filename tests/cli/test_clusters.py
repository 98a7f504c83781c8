"""Commands on a cluster: one page, one difference, one work list. What they say of random clusters is what the blueprint has:
of each network its own, and what networks share once."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import tdsl, write
from tests.harness import sampled
from tests.soundness.blueprint import Blueprint
from tests.soundness.families.shared_clusters import cluster_design
from tests.soundness.judge_parts import COUNTS
from tests.tables import sections
from tests.viewer.test_viewer import unpacked

SEEDS = range(1, 9)
MODELS = """
model switch SW { port p[1..8]: 100Gbps { type GE }; height 1U; power 2kW max 2kW; price $10 }
model host N { port nic[2]: 100Gbps { type GE }; port sto: 100Gbps { type GE }; power 1kW max 1kW; price $100; height 2U }
"""
SITE = sections(__file__)["site"]


def told(*args: Any) -> Any:
    """The JSON that a command prints, also of a cluster whose networks put two devices into one place."""
    done = tdsl(*map(str, args), "--format", "json")
    assert done.exit_code in (0, 1) and done.stdout, done.output
    return json.loads(done.stdout)


def written_cluster(seed: int, folder: Path) -> tuple[Path, Blueprint]:
    """A random cluster as a file, without its requirements."""
    from dataclasses import replace

    blueprint = replace(cluster_design(seed), asked=())
    return Path(write(folder, blueprint.text(), f"k{seed}.fab")), blueprint


@pytest.mark.parametrize("seed", sampled(SEEDS, 4))
def test_what_networks_share_is_told_once(seed: int, tmp_path: Path) -> None:
    path, blueprint = written_cluster(seed, tmp_path)
    inventory = blueprint.inventory()
    parts, wires = inventory.parts, inventory.wires
    (devices,) = told("show", path, "devices")["designs"]
    rows = devices["devices"]
    assert sorted(r["path"] for r in rows) == sorted(p for p in parts if parts[p].model.kind != "chip")
    assert all(r["network"] == parts[r["path"]].network for r in rows) and len({r["device"] for r in rows}) == len(rows)
    (links,) = told("show", path, "links")["designs"]
    assert Counter(r["network"] for r in links["links"]) == Counter(w.network for w in wires)
    (summary,) = [d for d in told("show", path)["designs"] if "members" in d]
    assert summary["summary"]["switches"] == sum(p.model.kind == "switch" for p in parts.values())
    column = {r["figure"]: r for r in told("compare", path, path)["comparison"]}
    name = next(k for k in column["links"] if k.endswith("(all) (1)"))
    watts, dollars = (COUNTS[what](inventory, frozenset(parts), False)[0] for what in ("power", "cost"))
    assert float(column["power_kw"][name]) == float(watts) / 1000 and float(column["cost"][name]) == float(dollars)
    assert [column[what][name] for what in ("links", "hosts")] == [len(wires), sum(r["kind"] == "host" for r in rows)]
    page = tmp_path / "page.html"
    tdsl("view", str(path), "--no-open", "-o", str(page))
    html = page.read_text()
    assert html.count('class="pack"') == 1
    header, columns = unpacked(html)
    assert len(columns["device_model"]) == sum(s["count"] for s in header["sets"]) == len(parts)
    assert Counter(header["networks"][k] for k in columns["link_network"]) == Counter(w.network for w in wires)


@pytest.mark.parametrize("seed", sampled(SEEDS, 4, 1))
def test_a_host_more_is_one_difference_and_one_work_list(seed: int, tmp_path: Path) -> None:
    """A cable for each network, and the host once."""
    path, blueprint = written_cluster(seed, tmp_path)
    hosts = sum(p.model.kind == "host" for p in blueprint.inventory().parts.values())
    text = path.read_text()
    more = Path(write(tmp_path, text.replace(f"host node[{hosts}]", f"host node[{hosts + 1}]"), "more.fab"))
    networks = text.count("fabric ")
    (found,) = told("diff", path, more, "--no-checks")["fabrics"]
    assert found["devices_added"] == [{"device": f"node[{hosts}]", "model": "N"}] and found["devices_removed"] == []
    assert len(found["added"]) == networks == len(found["members"])
    (plan,) = told("plan", path, more, "--no-lock", "--floor", "0%")["fabrics"]
    assert plan["cables_laid"] == networks and [n["fabric"] for n in plan["networks"]] == found["members"]
    work = Counter((r["action"], r["device"]) for r in plan["work"])
    assert work["plug", f"node{hosts}"] == networks and work["into service", f"node[{hosts}]"] == 1
    assert plan["work"][-1]["action"] == "into service" and max(work.values()) == networks
    same = told("diff", path, path, "--no-checks")
    assert same["same"] and len(same["fabrics"]) == 1


def test_work_and_captures_of_several_networks(tmp_path: Path) -> None:
    """One list each, in the order of the racks; own devices of two networks that have one path are two."""
    path = write(tmp_path, SITE + MODELS, "site.fab")
    done = tdsl("plan", path, path, "--set-old", "n=5", "--floor", "0%", "--no-lock", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    out = [r["device"] for r in rows if r["action"] == "out of service"]
    assert out == ["node[3]", "node[4]", "storage.filer[1]", "storage.filer[2]"], done.output
    assert [int(r["step"]) for r in rows] == sorted(int(r["step"]) for r in rows) and rows[0]["step"] == "0"
    ends = list(csv.DictReader(io.StringIO(tdsl("show", path, "links", "--format", "csv").stdout)))
    head = "a_device,a_port,b_device,b_port\n"
    for name in ("compute", "storage"):
        lines = [f"{r['a_device']},{r['a_port']},{r['b_device']},{r['b_port']}\n" for r in ends if r["network"] == name]
        (tmp_path / f"{name}.csv").write_text(head + "".join(lines[1:]))
    captures = [x for name in ("compute", "storage") for x in ("--p2p", str(tmp_path / f"{name}.csv"))]
    done = tdsl("audit", path, *captures, "--format", "csv")
    listed = [(r["step"], r["hall"], r["rack"], r["u"], r["device"]) for r in csv.DictReader(io.StringIO(done.stdout))]
    assert done.exit_code == 1 and listed == [("1", "h1", "A01", "1", "node0"), ("2", "h1", "A01", "1", "node0")], done.output


def test_a_network_by_its_name(tmp_path: Path) -> None:
    """What fails, is compared and added is named as the cluster calls it."""
    path = write(tmp_path, SITE + MODELS, "site.fab")
    done = tdsl("check", path, "--fail", "compute.leaf[0]", "--output-format", "json", "--select", "edge_redundancy")
    found = {d["fabric"]: d["results"][0]["value"] for d in json.loads(done.stdout)["designs"] if d["results"]}
    assert found == {"compute": 1, "storage": 1} and "leaf[0]" not in done.stderr
    assert tdsl("check", path, "--fail", "computer.leaf[0]").exit_code == 2
    other = write(tmp_path, (SITE + MODELS).replace("fabric storage {", "fabric storage { require links == 5;"), "o.fab")
    (change,) = told("diff", path, other, "--no-checks")["fabrics"][0]["contract"]
    assert (change["change"], change["what"], change["note"]) == ("added", "links", "in storage")
