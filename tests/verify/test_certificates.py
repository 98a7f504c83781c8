"""Certificates: the stand-alone checker accepts what is written and rejects what was tampered with."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.certificates import checker
from tdsl.certificates.checker import Rejected, verify
from tdsl.certificates.write import certificates_by_file_name, json_of_fabric_target
from tdsl.findings.diagnostic import Diagnostics
from tdsl.prove.budget import DEFAULT
from tdsl.verify.runner import judge_requirements
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
    without,
)
from tests.harness import fabric_of
from tests.verify.test_bisection import THREE, least_over_all_splits

SCRIPT = Path(checker.__file__)
SEEDS = st.integers(0, 10**6)


READ = {
    "devices": ("name", "path", "kind", "role", "model", "inside", "tier"),
    "planned_links": ("device", "tier", "rate_bps", "links"),
    "links": (
        "a_device",
        "b_device",
        "rate_bps",
        "rail",
        "via",
        "a_port",
        "b_port",
        "a_cage",
        "b_cage",
        "cable_id",
        "far_cable_id",
    ),
}
"""The columns of fabric.json that the checker reads."""


def as_json(f):
    """What the target `json` writes of a fabric, as far as the checker reads it."""
    data = json.loads(json_of_fabric_target(f))
    out = {"schema": data["schema"], "fabric": data["fabric"]}
    for name, columns in READ.items():
        rows = [dict(zip(data[name]["columns"], row, strict=True)) for row in data[name]["rows"]]
        out[name] = {"columns": list(columns), "rows": [[row[c] for c in columns] for row in rows]}
    return out


def net_of(fabric):
    """The checker's view of a fabric.json."""
    return checker.CertifiedNetwork(checker.CertifiedFabric(fabric), checker.WorkSteps())


def crossing(net, side):
    """Bit/s out of a side."""
    return net.grain * sum(c for v in side for w, c in net.near(v).items() if w not in side)


def shown(certificate, fabric, end):
    """The bound of a throughput that one proof shows, in bit/s; None where the checker rejects it."""
    try:
        stated = checker.value_of_form(certificate, checker.HEAD | checker.FORMS["throughput"], "certificate")
        wide = {"lower_bps": Fraction(0), "upper_bps": Fraction(10**60)}
        return checker.verify_throughput_bounds(net_of(fabric), stated | wide)[end == "upper"]
    except (Rejected, LookupError, TypeError, ValueError, ArithmeticError):
        return None


def headed(f, bodies):
    """Bodies of certificates as they are read from their files."""
    head = {"schema": checker.SCHEMA, "fabric": f.name}
    return {name: json.loads(json.dumps(head | body)) for name, body in bodies.items()}


def made(f, *claims, budget=DEFAULT):
    asked = [claim(f, "bisection", ">=", Fraction(1, 100)), *claims]
    return headed(f, certificates_by_file_name(f, asked, judge_requirements(f, asked, Diagnostics(), budget=budget), budget))


def rejected(certificate, fabric):
    try:
        verify(certificate, fabric)
    except Rejected:
        return True
    return False


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


def test_what_is_written_is_accepted():
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


def test_one_of_several_equal_hosts_divides_by_its_own_capacity(tmp_path):
    f = fabric_of(EQUAL_HOSTS, tmp_path)
    (found,) = (c for c in made(f, claim(f, "throughput", args=("all_to_all",))).values() if c["check"] == "throughput")
    assert found["lower_bps"] == found["upper_bps"] == str(100 * 10**9)  # a pair
    verify(found, as_json(f))


def test_three_tiers_with_a_broken_link(tmp_path):
    f = fabric_of(THREE.format(racks=6, each=3, more="omit core[4]"), tmp_path)
    for g in (f, without(f, [int(np.flatnonzero(f.is_switch[f.device_a])[5])]), without(f, [3])):
        for certificate in made(g).values():
            verify(certificate, as_json(g))


# ---------------------------------------------------------------- tampering


def leaves(value, way=()):
    """Ways to every plain value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*way, key))
    elif isinstance(value, list):
        for key, inner in enumerate(value):
            yield from leaves(inner, (*way, key))
    else:
        yield way


def put(value, way, new):
    for key in way[:-1]:
        value = value[key]
    value[way[-1]] = new


def at(value, way):
    for key in way:
        value = value[key]
    return value


HEADLINES = ("lower_bps", "upper_bps", "units", "check", "schema", "fabric", "holds", "count", "value")


@settings(max_examples=150, deadline=None)
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


@settings(max_examples=150, deadline=None)
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


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_another_cut_is_rejected_unless_as_much_crosses(data):
    certificate, fabric = data.draw(st.sampled_from([e for e in examples() if e[0]["check"] == "bisection"]))
    certificate = deepcopy(certificate)
    name = data.draw(st.sampled_from([row[0] for row in fabric["devices"]["rows"]]))
    certificate["cut"] = sorted(set(certificate["cut"]) ^ {name})
    net = net_of(fabric)
    side = set(certificate["cut"])
    fair = abs(2 * len(side & net.units) - len(net.units)) <= 1 and side <= net.units | net.forward
    assert rejected(certificate, fabric) or (fair and crossing(net, side) == certificate["upper_bps"])


@settings(max_examples=100, deadline=None)
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


# ---------------------------------------------------------------- against every split


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(2, 6), st.integers(1, 3), st.integers(0, 10), st.booleans())
def test_random_fabrics(seed, switches, hosts, nics, cables, tree):
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


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_random_layers(seed):
    """Bounds by flows alone hold, and the checker finds the same."""
    f = random_layers(seed).build()
    certificate = made(f, budget=replace(DEFAULT, split_count=0))["bisection.json"]
    verify(certificate, as_json(f))
    assert certificate["lower_bps"] <= least_over_all_splits(f) <= certificate["upper_bps"]


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_where_every_split_had_a_flow_of_its_own(seed):
    """The certificate states the next bound."""
    f = (random_layers(seed), random_fabric(seed, 3, 5, 2, 6, 1), random_chips(seed, 6, 12))[seed % 3].build()
    certificate = made(f, budget=replace(DEFAULT, elimination_work=0)).get("bisection.json")
    if certificate is None:
        return
    verify(certificate, as_json(f))
    assert certificate["lower_bps"] <= least_over_all_splits(f) <= certificate["upper_bps"]


@pytest.mark.parametrize("seed", range(20))
def test_random_chips(seed):
    f = random_chips(seed, 6, 12).build()
    for certificate in made(f).values():
        verify(certificate, as_json(f))


# ---------------------------------------------------------------- the file and the command


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
