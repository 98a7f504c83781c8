"""Certificates whose proofs are routes: honest ones are accepted, and no other proof shows more."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import Rejected, verify
from tdsl.certificates.write import certificates_by_file_name
from tdsl.fabric.patterns import random_regular
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.prove.all_to_all import ALL
from tdsl.prove.budget import DEFAULT
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tests.certificates.made import HEADLINES, as_json, at, headed, leaves, made, put, rejected, shown
from tests.fabrics import (
    Builder,
    claim,
    multiplane,
    rail_only,
    random_chips,
    random_fabric,
    random_layers,
    superpod,
    torus,
    without,
)
from tests.prove.judges import most_throughput

EXPANDED = replace(DEFAULT, arc_program_cells=0, flow_entries=0)  # flows that are too many to be written
LARGE = replace(DEFAULT, path_program_rows=0, routing_work=0, uniform_work=0)
LIMITS = {
    "paths": EXPANDED,
    "averages of shortest paths": replace(EXPANDED, path_program_rows=0, uniform_work=0),
    "mixtures": replace(LARGE, flow_entries=0),
    "hubs": replace(LARGE, flow_entries=0, combination_rounds=0),
    "no pairs": replace(LARGE, flow_entries=0, uniform_pairs=0),
    "trees": replace(LARGE, flow_entries=0, combination_arcs=0, hub_work=0),
    "twins": replace(LARGE, flow_entries=0, quotient_ratio=0),
    "averages among twins": replace(EXPANDED, path_program_rows=0, uniform_work=0, routing_work=60, quotient_ratio=0),
}
"""What is set to nothing, so that a small fabric is a large one."""
SEEDS = st.integers(0, 10**6)
PLAIN = [(BareWord("ring"),), (BareWord("shift"), 3), (BareWord(ALL),)]
WORDS = [*PLAIN, (BareWord("rail_allreduce"),)]
CERTIFIED = []
HERE = SourceSpan(SourceFile("here.fab", ""), 0, 0)


def made_of_patterns(f, kind, words=WORDS):
    asked = [claim(f, "throughput", args=args, through=way) for args in words for way in ("", "scaleup")]
    return headed(f, certificates_by_file_name(f, asked, [], LIMITS[kind]))


def some(seed):
    """A small fabric of any kind."""
    return (
        random_fabric(seed, 1 + seed % 5, 2 + seed % 4, 2, seed % 9, 1),
        random_layers(seed),
        random_chips(seed, 6, 12),
        superpod(2, 3 + seed % 4, 2, 2, uplinks=1 + seed % 2),
        rail_only(3, 2),
        multiplane(2, 6),
    )[seed % 6].build()


@settings(max_examples=24, deadline=None)
@given(SEEDS, st.sampled_from(sorted(LIMITS)))
def test_what_is_written_is_accepted(seed, kind):
    f = some(seed)
    fabric = as_json(f)
    for certificate in made_of_patterns(f, kind).values():
        try:
            verify(certificate, fabric)
        except Rejected as why:  # shares of a quotient may show less of the whole than was proved: such a one is not written
            assert kind == "averages among twins" and "the proofs show" in str(why)
        assert 0 < Fraction(certificate["lower_bps"]) <= Fraction(certificate["upper_bps"])


def demand_of(f, pattern):
    n = len(View.whole(f).units)
    pairs = [(s, t) for s in range(n) for t in range(n) if s != t]
    if pattern != ALL:
        by = 1 if pattern.startswith("ring") else 3
        pairs = [(s, (s + by) % n) for s in range(n)]
    source, target = np.array(pairs, dtype=np.int64).T
    return TrafficDemand(source, target, np.ones(len(pairs), dtype=np.int64))


def true_bps(f, pattern):
    """By a linear program; of all to all the rate of a pair, else of all demands together."""
    demand = demand_of(f, pattern)
    return most_throughput(f, demand) * (1 if pattern == ALL else len(demand.source))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.sampled_from(sorted(LIMITS)), st.sampled_from(PLAIN))
def test_both_ends_hold(seed, kind, word):
    f = some(seed)
    if len(View.whole(f).units) < 2 or (len(word) > 1 and 3 % len(View.whole(f).units) == 0):
        return
    for certificate in made_of_patterns(f, kind, [word]).values():
        if certificate["pattern"].endswith(" by rail"):
            continue
        true = true_bps(f, certificate["pattern"])
        low, high = (float(Fraction(certificate[end])) for end in ("lower_bps", "upper_bps"))
        assert low <= true * (1 + 1e-6) and true <= high * (1 + 1e-6)


@cache
def examples():
    """Certificates, their fabrics and what truly flows; every kind of proof is among them."""
    out = []
    for f in (
        superpod(2, 3, 2, 2, uplinks=1).build(),
        without(superpod(2, 4, 2, 3).build(), [3]),
        random_chips(5, 6, 12).build(),
        random_layers(8).build(),
    ):
        for kind in LIMITS:
            found = made_of_patterns(f, kind, PLAIN)
            out += [
                (c, as_json(f), Fraction(true_bps(f, c["pattern"]) * (1 + 1e-9)))
                for c in found.values()
                if " by " not in c["pattern"]
            ]
    return [x for x in out if all(route["by"] != "flows" for route in x[0]["lower"]["routes"])]


def test_every_kind_of_proof_is_tampered_with():
    kinds = {(c["pattern"] == ALL, r["by"]) for c, *_ in examples() for r in c["lower"]["routes"]}
    assert kinds >= {(a, x) for a in (True, False) for x in ("lengths", "hubs")}
    assert {bool(c["upper"]["lengths"]) for c, *_ in examples()} == {True, False}
    assert any(c["lower"].get("quotient") for c, *_ in examples())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_is_changed_what_is_accepted_is_true(data):
    """Shares, parts, lengths, hubs, what hangs on what, a device for another; with the figures that the checker then finds."""
    honest, fabric, true = data.draw(st.sampled_from(examples()))
    certificate = deepcopy(honest)
    names = [row[0] for row in fabric["devices"]["rows"]]
    inner = [w for w in leaves(certificate) if w[0] in ("lower", "upper")]
    for _ in range(data.draw(st.integers(1, 3))):
        way = data.draw(st.sampled_from(inner))
        put(certificate, way, data.draw(st.sampled_from([0, 1, 2, 7, -1, 5041, 1.5, True, None, 10**12, "lengths", *names])))
    if data.draw(st.booleans()):  # a key or an entry less, with all that is in it
        way = data.draw(st.sampled_from(inner))
        way = way[: data.draw(st.integers(2, len(way)))]
        del at(certificate, way[:-1])[way[-1]]
    for end in ("lower", "upper"):
        other = "upper" if end == "lower" else "lower"
        found = shown({**certificate, other: honest[other]}, fabric, end)
        assert found is None or (found <= true if end == "lower" else found >= true * (1 - Fraction(1, 10**8)))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_another_figure_is_rejected_or_true(data):
    certificate, fabric, true = data.draw(st.sampled_from(examples()))
    certificate = deepcopy(certificate)
    key = data.draw(st.sampled_from(["lower_bps", "upper_bps", "units"]))
    more = {"lower_bps": (1, 3), "upper_bps": (-3, -1)}.get(key, (1, 3))  # less may be stated than is shown
    certificate[key] = type(certificate[key])(Fraction(certificate[key]) + data.draw(st.integers(*more)))
    low, high = (Fraction(certificate[end]) for end in ("lower_bps", "upper_bps"))
    assert rejected(certificate, fabric) or (key != "units" and low <= true and high >= true * (1 - Fraction(1, 10**8)))


@pytest.mark.parametrize("kind", sorted(LIMITS))
def test_switches_among_themselves(kind):
    """Of a fabric that shows no ends, the switches are the units."""
    b = Builder("ring")
    switch = b.devices("sw", b.model("switch", "SW", {"p": 4}), 6)
    b.connect("connect sw to sw")
    for i in range(6):
        b.link(b.free(switch, i), b.free(switch, (i + 1) % 6))
    f = b.build()
    found = made_of_patterns(f, kind, PLAIN)
    assert len(found) == len(PLAIN)
    for certificate in found.values():
        verify(certificate, as_json(f))


def test_no_plane_reaches_all_and_the_pairs_are_too_many():
    """In each of three planes another host has no port: pairs are routed along trees of those that both have."""
    whole = multiplane(3, 6).build()
    ends = list(zip(whole.device_a.tolist(), whole.device_b.tolist(), strict=True))
    called = [(whole.device_name(a), whole.device_name(b)) for a, b in ends]
    f = without(whole, [called.index(x) for x in (("node0", "pl0-leaf0"), ("node2", "pl1-leaf0"), ("node5", "pl2-leaf1"))])
    found = made_of_patterns(f, "no pairs", [(BareWord(ALL),)])["throughput-all_to_all.json"]
    assert [(r["by"], r["lengths"]) for r in found["lower"]["routes"]] == [("lengths", [])]
    verify(found, as_json(f))
    true = true_bps(f, ALL)
    assert float(Fraction(found["lower_bps"])) <= true * (1 + 1e-6) <= float(Fraction(found["upper_bps"])) * (1 + 1e-5)


def dragonfly(a, p, h, groups, arrangement="absolute"):
    """Groups of ``a`` routers joined each to each, ``p`` hosts and ``h`` global links a router, one link between two groups
    (Kim, Dally, Scott, Abts, ISCA 2008); the arrangements are those of Hastings et al., CLUSTER 2015."""
    b = Builder("dragonfly")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), a * p * groups)
    router = b.devices("g.r", b.model("switch", "SW", {"p": a + p + h}), groups, a)
    b.connect("connect dragonfly")
    for n in range(host.count):
        b.link(b.port(host, n), b.free(router, n // p))
    for i in range(groups):
        for x, y in combinations(range(a), 2):
            b.link(b.free(router, i * a + x), b.free(router, i * a + y), cls="local")
        for j in range(i):
            there, back = {"absolute": (j, i - 1), "relative": ((j - i) % groups - 1, (i - j) % groups - 1)}[arrangement]
            b.link(b.free(router, i * a + there // h), b.free(router, j * a + back // h), cls="global")
    return b.build()


def joined(count, ends, hosts=1):
    """Switches joined by these pairs, some hosts on each."""
    b = Builder("joined")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), count * hosts)
    switch = b.devices("sw", b.model("switch", "SW", {"p": hosts + 2 * len(ends)}), count)
    b.connect("connect joined")
    for n in range(host.count):
        b.link(b.port(host, n), b.free(switch, n // hosts))
    for x, y in ends:
        b.link(b.free(switch, x), b.free(switch, y))
    return b.build()


def hyperx(*sizes):
    """Switches in a grid, joined with all on their row in every dimension (Ahn et al., SC 2009)."""
    at = list(np.ndindex(*sizes))
    pairs = [(i, j) for i, j in combinations(range(len(at)), 2) if sum(x != y for x, y in zip(at[i], at[j], strict=True)) == 1]
    return joined(len(at), pairs)


def random_switches(count, degree, seed, hosts):
    """A random regular graph (Singla et al., "Jellyfish", NSDI 2012)."""
    found = random_regular(count, degree, seed, HERE)
    return joined(count, list(zip(found.a.tolist(), found.b.tolist(), strict=True)), hosts)


def examples_of_all_to_all():
    """Fabrics of which routes are a proof, or the sides that devices take one after the other."""
    yield torus(4, 4).build()
    yield hyperx(3, 3)
    yield torus(5, 3, 2).build()
    yield dragonfly(4, 2, 2, 9)
    yield random_switches(14, 3, 2, 2)
    yield superpod(2, 4, 2, 2, uplinks=2).build()


def certified():
    for f in examples_of_all_to_all():
        asked = claim(
            f, "throughput", ">=", Fraction(1, 1000), args=("all_to_all",), through="scaleup" if f.name == "superpod" else ""
        )
        yield from ((c, as_json(f)) for c in made(f, asked).values() if c["check"] in ("throughput", "bisection"))


def kept():
    if not CERTIFIED:
        CERTIFIED.extend(certified())
    return CERTIFIED


def test_certificates_are_accepted():
    checks = [c["check"] for c, _ in kept()]
    assert checks.count("throughput") == 6 and checks.count("bisection") == 6
    assert {c["lower"].get("by") for c, _ in kept() if c["check"] == "bisection"} == {"routes", "shares", "splits"}
    for certificate, fabric in kept():
        verify(json.loads(json.dumps(certificate)), fabric)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_no_other_proof_shows_more(data):
    """Whatever is changed inside, a lower bound above the true one, or an upper below, is never accepted."""
    certificate, fabric = data.draw(st.sampled_from(kept()))
    certificate = deepcopy(certificate)
    inner = [w for w in leaves(certificate) if w[-1] not in HEADLINES and w[0] in ("lower", "upper")]
    for _ in range(data.draw(st.integers(0, 3))):
        way = data.draw(st.sampled_from(inner))
        old = at(certificate, way)
        new = data.draw(st.integers(0, 40)) if isinstance(old, int) else data.draw(st.sampled_from(["x", "routes", "none"]))
        put(certificate, way, new)
    end = data.draw(st.sampled_from(["lower_bps", "upper_bps"]))
    more = data.draw(st.sampled_from([Fraction(1, 100), Fraction(1, 3), 1])) * (1 if end == "lower_bps" else -1)
    if certificate["check"] == "bisection":
        certificate[end] += (1 if more > 0 else -1) * 400 * 10**9
    else:
        opposite = certificate["upper_bps" if end == "lower_bps" else "lower_bps"]
        certificate[end] = str(Fraction(opposite) * (1 + more))
        if certificate[end] == opposite:
            return
    assert rejected(certificate, fabric)
