"""Certificates that are written verify, also of random fabrics, and whatever is changed in them shows no more than is so."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from operator import getitem
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.certificates import checker
from tdsl.certificates.checker import verify
from tdsl.certificates.write import certificates_by_file_name
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.budget import DEFAULT
from tdsl.semantics.values import BareWord
from tests.certificates.made import HEADLINES, as_json, body, design, headed, leaves, made, net_of, put, rejected, shown, tampered
from tests.cli.run import tdsl
from tests.fabrics import (
    claim,
    multiplane,
    random_chips,
    random_fabric,
    random_layers,
    selector,
    superpod,
    swapped,
    torus,
    two_links,
)
from tests.prove.judges import least_over_all_splits
from tests.tables import sections

SCRIPT = Path(checker.__file__)
SEEDS = st.integers(0, 10**6)


@cache
def examples():
    """Certificates with their fabrics."""
    f = superpod(units=3, nodes=4, rails=2, spines=4).build()
    half = claim(f, "bisection", ">=", Fraction(1, 2), of_intact=True)
    survive = claim(f, "survives", any_count=1, of=(selector(f, "spine"),), given=half)
    two = claim(f, "survives", any_count=2, of=(selector(f, "spine"), selector(f, "su.leaf")))
    out = [(c, as_json(f)) for c in made(f, survive, two).values()]
    for g in (x.build() for x in (torus(4, 4), torus(3, 3), multiplane(2, 8), superpod(2, 4, 2, 2, uplinks=2))):
        out += [(c, as_json(g)) for c in made(g).values()]
    return out


def bisections():
    return [e for e in examples() if e[0]["check"] == "bisection"]


def test_what_is_written_verifies():
    for certificate, fabric in examples():
        verify(certificate, fabric)
    counted = {"diameter", "edge_redundancy", "node_redundancy", "oversubscription", "reachability"}
    assert {c["check"] for c, _ in examples()} == {"bisection", *counted, "survives"}
    assert {c["lower"]["by"] for c, _ in bisections()} == {"routes", "shares", "splits"}


TWISTED = """fabric f {
  chips 6 x C8
  torus 2x3 { twist y by 1 along x; rates [100Gbps, 200Gbps] }
  connect chip[1].ici[6] to chip[5].ici[7] { rate 100Gbps }
}
model chip C8 "acc=0" { port ici[8]: any }
"""
EQUAL_HOSTS = sections(__file__)["equal hosts"]


@pytest.mark.parametrize(
    ("text", "name", "figure"),
    [
        (TWISTED, "edge_redundancy", None),
        (TWISTED, "node_redundancy", None),
        (EQUAL_HOSTS, "throughput-all_to_all", "100000000000"),
    ],
)
def test_what_looks_alike_and_is_not(text, name, figure, tmp_path):
    """Two links are not exchanged with one of twice the rate; one of several equal hosts divides by its own capacity."""
    _, found = design(text, tmp_path)
    assert not found.rejected and not found.left_out
    certificate = body(found, f"{name}.json")
    assert figure is None or certificate["lower_bps"] == certificate["upper_bps"] == figure


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_another_statement_is_rejected(data):
    honest, fabric = data.draw(st.sampled_from(examples()))
    certificate = deepcopy(honest)
    way = data.draw(st.sampled_from([w for w in leaves(certificate) if w[-1] in HEADLINES]))
    old = reduce(getitem, way, certificate)
    if isinstance(old, bool):
        new = not old
    elif isinstance(old, int):  # a lower bound may be stated as less than is shown
        new = old + data.draw(st.integers(-3 * (way[-1] != "lower_bps"), 3).filter(bool))
    else:
        new = data.draw(st.sampled_from(["bisection", "reachability", "survives", ""]).filter(lambda x: x != old))
    put(certificate, way, new)
    assert rejected(certificate, fabric)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_no_other_flow_shows_more(data):
    """Whatever is changed inside, a bound above the true one is never accepted."""
    honest, fabric = data.draw(st.sampled_from(bisections()))
    new = ["0", "1", "1/2", "1/4", "7", "64", "-1", "1/0", "pairs", "splits", "shares"]
    certificate = tampered(data, honest, fabric, new, ("lower",), least=1)
    certificate["lower_bps"] += data.draw(st.integers(1, 8)) * net_of(fabric).grain
    assert rejected(certificate, fabric)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_another_cut_is_rejected_unless_as_much_crosses(data):
    certificate, fabric = data.draw(st.sampled_from(bisections()))
    certificate = deepcopy(certificate)
    name = data.draw(st.sampled_from([row[0] for row in fabric["devices"]["rows"]]))
    certificate["cut"] = sorted(set(certificate["cut"]) ^ {name})
    net = net_of(fabric)
    side = set(certificate["cut"])
    fair = abs(2 * len(side & net.units) - len(net.units)) <= 1 and side <= net.units | net.forward
    assert rejected(certificate, fabric) or (
        fair and net.grain * sum(c for v in side for w, c in net.near(v).items() if w not in side) == certificate["upper_bps"]
    )


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_another_fabric_is_rejected(data):
    """A link less among those that bound, in a fabric of which every link counts."""
    certificate, fabric = data.draw(st.sampled_from(bisections()))
    fabric = deepcopy(fabric)
    net = net_of(fabric)
    side = set(certificate["cut"])
    counted = net.units | net.forward
    ends = [(a, b) for a, b, *_ in fabric["links"]["rows"]]
    crossing = [i for i, (a, b) in enumerate(ends) if (a in side) != (b in side) and {a, b} <= counted]
    del fabric["links"]["rows"][data.draw(st.sampled_from(crossing))]
    assert rejected(certificate, fabric)


@settings(max_examples=24, deadline=None)
@given(
    SEEDS,
    st.integers(1, 6),
    st.integers(2, 6),
    st.integers(1, 3),
    st.integers(0, 10),
    st.sampled_from(["random", "tree", "layers"]),
)
def test_bounds_of_random_fabrics_hold(seed, switches, hosts, nics, cables, kind):
    """Found with splits, with few and by flows alone, the bounds verify, and the least of all splits is between them."""
    f = (random_layers(seed) if kind == 1 else random_fabric(seed, switches, hosts, nics, cables, 1)).build()
    if kind == 2:
        f = superpod(3, 2, 2, 2, uplinks=4, manager=bool(seed % 2)).build()
        f = swapped(f, *two_links(f, np.random.default_rng(seed)))
    if not f.link_count or f.link_rate.size == 0:
        return
    found = made(f, budget=replace(DEFAULT, split_count=0 if seed % 3 else 500))
    for certificate in found.values():
        verify(certificate, as_json(f))
    if "bisection.json" in found:
        assert found["bisection.json"]["lower_bps"] <= least_over_all_splits(f) <= found["bisection.json"]["upper_bps"]


def test_the_checker_stands_alone():
    names = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {a.name.split(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names <= set(sys.stdlib_module_names)


def test_a_superpod_from_end_to_end(tmp_path):
    """The script alone takes each certificate, and none whose figure is another."""
    proofs, built = tmp_path / "proofs" / "superpod", tmp_path / "built"
    small = ("dgx_superpod_h100", "--set", "units=1")
    assert tdsl("check", *small, "--certificates", tmp_path / "proofs").exit_code == 0
    assert tdsl("build", *small, "--target", "json", "--out", built).exit_code == 0
    honest = json.loads((proofs / "bisection.json").read_text())
    (proofs / "forged.json").write_text(json.dumps(honest | {"lower_bps": honest["lower_bps"] + 400 * 10**9}))
    files = sorted(proofs.iterdir())
    counted = ["diameter", "edge_redundancy", "forged", "node_redundancy", "oversubscription", "reachability"]
    assert [p.name for p in files] == ["bisection.json", *(f"{name}.json" for name in counted), "survives-1.json"]
    done = subprocess.run([sys.executable, "-I", SCRIPT, *files, built / "fabric.json"], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout.count(": verified: ") == len(files) - 1, done
    assert done.stderr.count("rejected: ") == 1 and "forged.json: rejected: " in done.stderr, done


WORDS = [(BareWord("ring"),), (BareWord("shift"), 3), (BareWord("rail_allreduce"),), (BareWord("all_to_all"),)]


def of_patterns(f, folder=None, more=(), budget=DEFAULT):
    """Certificates of the patterns that the fabric can be asked for."""
    asked = [claim(f, "throughput", args=args, through=way) for way in ("", "scaleup") for args in WORDS]
    if folder is not None:
        origin = Origin(SourceSpan(SourceFile(str(folder / "design.fab"), "require"), 0, 7))
        files = (("m.csv",), (BareWord("permutation"), "p.csv"))
        asked += [replace(claim(f, "throughput", args=args), origin=origin) for args in files]
    return headed(f, certificates_by_file_name(f, [*asked, *more], [], budget))


@cache
def patterns():
    """Certificates with their fabrics; bounds by a linear program and by weights, ports and lengths."""
    out = []
    trees = [superpod(3, 4, 2, 4), superpod(2, 4, 2, 2, uplinks=2)]
    fabrics = [*trees, torus(3, 4), multiplane(2, 8), random_chips(5, 6, 12)]
    for f in (x.build() for x in fabrics):
        out += [(c, as_json(f)) for c in of_patterns(f).values()]
    f = random_layers(8).build()
    out += [(c, as_json(f)) for c in of_patterns(f, budget=replace(DEFAULT, arc_program_cells=0)).values()]
    f = superpod(2, 4, 2, 2, uplinks=2).build()
    both = [selector(f, "su").elements[i : i + 1] for i in (0, 1)]
    one, two = (replace(selector(f, "su"), elements=e) for e in both)
    out += [(c, as_json(f)) for c in of_patterns(f, more=[claim(f, "throughput", of=(one,), of_to=(two,))]).values()]
    return out


def test_patterns_as_they_are_written_verify():
    words, upper = set(), set()
    for certificate, fabric in patterns():
        verify(certificate, fabric)
        words.add(certificate["pattern"])
        upper.add(bool(certificate["upper"]["lengths"]))
        assert 0 < Fraction(certificate["lower_bps"]) <= Fraction(certificate["upper_bps"])
    assert words >= {"ring", "shift 3", "rail_allreduce", "between"} and upper == {False, True}


def test_matrices_and_permutations_need_no_file(tmp_path):
    f = superpod(2, 4, 2, 2, uplinks=2).build()
    (tmp_path / "m.csv").write_text("from,to,amount\n0,4,2.5\n4,1,1\n6,2,3\n")
    (tmp_path / "p.csv").write_text("from,to\n0,6\n6,3\n")
    found = [c for c in of_patterns(f, tmp_path).values() if c["pattern"].startswith("file")]
    assert [c["pattern"] for c in found] == ["file by rail", "file by rail"]
    for certificate in found:
        verify(certificate, as_json(f))
        other = deepcopy(certificate)
        other["demands"][0][2] += 1
        assert rejected(other, as_json(f))


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_no_other_proof_shows_more(data):
    """Whatever is changed inside, where both ends meet neither a greater lower bound nor a smaller upper one is accepted."""
    certificate, fabric = data.draw(st.sampled_from([e for e in patterns() if e[0]["lower_bps"] == e[0]["upper_bps"]]))
    true = Fraction(certificate["lower_bps"])
    honest, values = certificate, [0, 1, 2, 7, -1, 10**12, "none", "ports", "lengths"]
    certificate = tampered(data, honest, fabric, values, ("lower", "upper"))
    for end, other in (("lower", "upper"), ("upper", "lower")):
        found = shown({**certificate, other: honest[other]}, fabric, end)
        assert found is None or (found <= true if end == "lower" else found >= true)
