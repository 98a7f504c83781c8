"""Certificates that are written verify, also of random fabrics, and whatever is changed in them shows no more than is so."""

from __future__ import annotations

import ast
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import verify
from tdsl.certificates.write import certificates_by_file_name
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.budget import DEFAULT
from tdsl.semantics.values import BareWord
from tests.certificates.made import (
    HEADLINES,
    SCRIPT,
    as_json,
    at,
    headed,
    least_over_all_splits,
    leaves,
    made,
    net_of,
    put,
    rejected,
    shown,
)
from tests.cli.run import tdsl
from tests.fabrics import (
    claim,
    multiplane,
    rail_only,
    random_chips,
    random_fabric,
    random_layers,
    selector,
    superpod,
    swapped,
    torus,
    two_links,
)
from tests.harness import fabric_of, written

SEEDS = st.integers(0, 10**6)


@cache
def examples():
    """Certificates with their fabrics."""
    f = superpod(units=3, nodes=4, rails=2, spines=4).build()
    half = claim(f, "bisection", ">=", Fraction(1, 2), of_intact=True)
    survive = claim(f, "survives", any_count=1, of=(selector(f, "spine"),), given=half)
    two = claim(f, "survives", any_count=2, of=(selector(f, "spine"), selector(f, "su.leaf")))
    out = [(c, as_json(f)) for c in made(f, survive, two).values()]
    for g in (torus(4, 4).build(), multiplane(2, 8).build(), superpod(2, 4, 2, 2, uplinks=2).build()):
        out += [(c, as_json(g)) for c in made(g).values()]
    return out


def test_what_is_written_verifies():
    checks = []
    for certificate, fabric in examples():
        verify(certificate, fabric)
        checks.append(certificate["check"])
    counted = ["diameter", "edge_redundancy", "node_redundancy", "oversubscription", "reachability"]
    assert sorted(set(checks)) == ["bisection", *counted, "survives"] and checks.count("survives") == 2


EQUAL_HOSTS = """
model chip G1 {}
model host H2 { port nic[2]: 100Gbps; chip gpu: G1 }
model switch S40 { port p[1..40]: any }
fabric f {
  host node[3]: H2
  switch sw[3]: S40
  connect node[0].nic[0] to sw[1]
  connect node[0].nic[1] to sw[0]
  connect node[1].nic[0] to sw[2]
  connect node[1].nic[1] to sw[1]
  connect node[2].nic[0] to sw[0]
  connect node[2].nic[1] to sw[1]
  connect sw[0] to sw[1] { rate 200Gbps }
  connect sw[1] to sw[2] { rate 200Gbps }
}
"""


def test_two_links_are_not_exchanged_with_one_of_twice_the_rate(tmp_path):
    """Chips that forward: the symmetries that a certificate names keep the number of links between two devices."""
    text = """fabric f {
      chips 6 x C
      torus 2x3 { twist y by 1 along x; rates [100Gbps, 200Gbps] }
      connect chip[1].ici[6] to chip[5].ici[7] { rate 100Gbps }
    }
    model chip C "acc=0" { port ici[8]: any }
    """
    path = written(tmp_path / "f.fab", text)
    folder = tmp_path / "certificates"
    assert tdsl("check", path, "--certificates", folder).exit_code == 0
    assert {p.name for p in folder.rglob("*.json")} >= {"diameter.json", "edge_redundancy.json", "node_redundancy.json"}


def test_one_of_several_equal_hosts_divides_by_its_own_capacity(tmp_path):
    f = fabric_of(EQUAL_HOSTS, tmp_path)
    (found,) = (c for c in made(f, claim(f, "throughput", args=("all_to_all",))).values() if c["check"] == "throughput")
    assert found["lower_bps"] == found["upper_bps"] == str(100 * 10**9)  # a pair
    verify(found, as_json(f))


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_another_statement_is_rejected(data):
    certificate, fabric = data.draw(st.sampled_from(examples()))
    certificate = deepcopy(certificate)
    ways = [w for w in leaves(certificate) if w[-1] in HEADLINES]
    way = data.draw(st.sampled_from(ways))
    old = at(certificate, way)
    if isinstance(old, bool):
        put(certificate, way, not old)
    elif isinstance(old, int):  # a lower bound may be stated as less than is shown
        put(certificate, way, old + data.draw(st.integers(-3 * (way[-1] != "lower_bps"), 3).filter(bool)))
    else:
        put(
            certificate, way, data.draw(st.sampled_from(["bisection", "reachability", "survives", ""]).filter(lambda x: x != old))
        )
    assert rejected(certificate, fabric)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_no_other_flow_shows_more(data):
    """Whatever is changed inside, a bound above the true one is never accepted."""
    certificate, fabric = data.draw(st.sampled_from([e for e in examples() if e[0]["check"] == "bisection"]))
    certificate = deepcopy(certificate)
    inner = [("lower", *w) for w in leaves(certificate["lower"])]
    names = [row[0] for row in fabric["devices"]["rows"]]
    for _ in range(data.draw(st.integers(1, 4))):
        way = data.draw(st.sampled_from(inner))
        new = [*("0", "1", "1/2", "1/4", "7", "64", "-1", "1/0", "pairs", "splits", "shares"), data.draw(st.sampled_from(names))]
        put(certificate, way, data.draw(st.sampled_from(new)))
    certificate["lower_bps"] += data.draw(st.integers(1, 8)) * net_of(fabric).grain
    assert rejected(certificate, fabric)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_another_cut_is_rejected_unless_as_much_crosses(data):
    certificate, fabric = data.draw(st.sampled_from([e for e in examples() if e[0]["check"] == "bisection"]))
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
    certificate, fabric = data.draw(st.sampled_from([e for e in examples() if e[0]["check"] == "bisection"]))
    fabric = deepcopy(fabric)
    net = net_of(fabric)
    side = set(certificate["cut"])
    counted = net.units | net.forward
    ends = [(a, b) for a, b, *_ in fabric["links"]["rows"]]
    crossing = [i for i, (a, b) in enumerate(ends) if (a in side) != (b in side) and {a, b} <= counted]
    del fabric["links"]["rows"][data.draw(st.sampled_from(crossing))]
    assert rejected(certificate, fabric)


def test_survives_with_a_case_or_an_exchange_less_is_rejected():
    for certificate, fabric in examples():
        if certificate["check"] != "survives":
            continue
        for i in range(len(certificate["cases"])):
            less = deepcopy(certificate)
            del less["cases"][i]
            assert rejected(less, fabric)
        assert rejected({**certificate, "symmetries": []}, fabric)
        if certificate["count"] > 1:
            assert rejected({**certificate, "symmetries": certificate["symmetries"][:1]}, fabric)
        more = deepcopy(certificate)
        spines = [n for n in (row[0] for row in fabric["devices"]["rows"]) if n.startswith("su0-leaf") or n == "spine0"]
        more["symmetries"].append({spines[0]: spines[-1], spines[-1]: spines[0]})
        assert rejected(more, fabric)
        harder = deepcopy(certificate)
        if certificate["condition"]["check"] == "bisection":
            harder["condition"]["value"] = "99/100"
            assert rejected(harder, fabric)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(2, 6), st.integers(1, 3), st.integers(0, 10), st.booleans())
def test_bounds_of_random_fabrics_hold(seed, switches, hosts, nics, cables, tree):
    rng = np.random.default_rng(seed)
    f = random_fabric(seed, switches, hosts, nics, cables, 1).build()
    if tree:
        f = superpod(3, 2, 2, 2, uplinks=4, manager=bool(seed % 2)).build()
        f = swapped(f, *two_links(f, rng))
    if not f.link_count or f.link_rate.size == 0:
        return
    found = made(f, budget=replace(DEFAULT, split_count=0 if seed % 3 else 500))
    fabric = as_json(f)
    for certificate in found.values():
        verify(certificate, fabric)
    if "bisection.json" in found:
        true = least_over_all_splits(f)
        assert found["bisection.json"]["lower_bps"] <= true <= found["bisection.json"]["upper_bps"]


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_bounds_by_flows_alone_hold(seed):
    """Bounds by flows alone hold, and the checker finds the same."""
    f = random_layers(seed).build()
    certificate = made(f, budget=replace(DEFAULT, split_count=0))["bisection.json"]
    verify(certificate, as_json(f))
    assert certificate["lower_bps"] <= least_over_all_splits(f) <= certificate["upper_bps"]


def test_the_checker_stands_alone():
    names = set()
    for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {a.name.split(".")[0] for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names <= set(sys.stdlib_module_names)


def test_a_superpod_from_end_to_end(tmp_path):
    proofs, built = tmp_path / "proofs", tmp_path / "built"
    assert tdsl("check", "dgx_superpod_h100", "--certificates", str(proofs)).exit_code == 0
    assert tdsl("build", "dgx_superpod_h100", "--out", str(built)).exit_code == 0
    names = sorted(p.name for p in (proofs / "superpod").iterdir())
    counted = ["diameter", "edge_redundancy", "node_redundancy", "oversubscription", "reachability"]
    assert names == ["bisection.json", *(f"{name}.json" for name in counted), "survives-1.json"]
    for name in names:
        call = [sys.executable, "-I", str(SCRIPT), str(proofs / "superpod" / name), str(built / "fabric.json")]
        done = subprocess.run(call, capture_output=True, text=True)
        check = name.partition(".")[0].partition("-")[0]
        assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith(f"verified: {check} of superpod"), done
    path = proofs / "superpod" / "bisection.json"
    path.write_text(path.read_text().replace("201600000000000", "202000000000000"))
    call = [sys.executable, "-I", str(SCRIPT), str(path), str(built / "fabric.json")]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("rejected: ")


WORDS = [(BareWord("ring"),), (BareWord("shift"), 3), (BareWord("rail_allreduce"),)]


def of_patterns(f, folder=None, more=(), budget=DEFAULT):
    """Certificates of the patterns that the fabric can be asked for."""
    asked = [claim(f, "throughput", args=args) for args in WORDS]
    asked += [claim(f, "throughput", args=args, through="scaleup") for args in WORDS]
    if folder is not None:
        origin = Origin(SourceSpan(SourceFile(str(folder / "design.fab"), "require"), 0, 7))
        files = (("m.csv",), (BareWord("permutation"), "p.csv"))
        asked += [replace(claim(f, "throughput", args=args), origin=origin) for args in files]
    return headed(f, certificates_by_file_name(f, [*asked, *more], [], budget))


@cache
def patterns():
    """Certificates with their fabrics; bounds by a linear program and by weights, ports and lengths."""
    out = []
    trees = [superpod(3, 4, 2, 4), superpod(2, 4, 2, 2, uplinks=2), rail_only(4, 2)]
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
        if certificate["upper"]["lengths"]:  # both bounds are of one network: of all switches, or of one for those that are equal
            assert ("quotient" in certificate["lower"]) == ("quotient" in certificate["upper"])
    assert words >= {"ring", "shift 3", "rail_allreduce", "between"} and upper == {False, True}


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(2, 5), st.integers(1, 3), st.integers(0, 9), st.integers(0, 2))
def test_patterns_of_random_fabrics_verify(seed, switches, hosts, nics, cables, which):
    f = (random_fabric(seed, switches, hosts, nics, cables, 1), random_layers(seed), random_chips(seed, 6, 12))[which].build()
    for certificate in of_patterns(f).values():
        verify(certificate, as_json(f))


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
    honest, certificate = certificate, deepcopy(certificate)
    names = [row[0] for row in fabric["devices"]["rows"]]
    inner = [w for w in leaves(certificate) if w[0] in ("lower", "upper")]
    for _ in range(data.draw(st.integers(0, 3))):
        way = data.draw(st.sampled_from(inner))
        put(certificate, way, data.draw(st.sampled_from([0, 1, 2, 7, -1, 10**12, "none", "ports", "lengths", *names])))
    for end, other in (("lower", "upper"), ("upper", "lower")):
        found = shown({**certificate, other: honest[other]}, fabric, end)
        assert found is None or (found <= true if end == "lower" else found >= true)
