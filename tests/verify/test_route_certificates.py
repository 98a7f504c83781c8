"""Certificates of patterns that are too large to write every source's flow down: what the routings were made of is enough."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import verify
from tdsl.certificates.write import certificates_by_file_name
from tdsl.prove.all_to_all import ALL
from tdsl.prove.budget import DEFAULT
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tests.fabrics import Builder, claim, multiplane, rail_only, random_chips, random_fabric, random_layers, superpod, without
from tests.verify.test_certificates import as_json, at, headed, leaves, put, rejected, shown
from tests.verify.test_throughput import optimum

SEEDS = st.integers(0, 10**6)
LARGE = replace(DEFAULT, path_program_rows=0, routing_work=0, uniform_work=0)
EXPANDED = replace(DEFAULT, arc_program_cells=0, flow_entries=0)  # flows that are too many to be written
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
PLAIN = [(BareWord("ring"),), (BareWord("shift"), 3), (BareWord(ALL),)]
WORDS = [*PLAIN, (BareWord("rail_allreduce"),)]


def made(f, kind, words=WORDS):
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


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.sampled_from(sorted(LIMITS)))
def test_what_is_written_is_accepted(seed, kind):
    f = some(seed)
    fabric = as_json(f)
    for certificate in made(f, kind).values():
        verify(certificate, fabric)
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
    return optimum(f, demand) * (1 if pattern == ALL else len(demand.source))


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.sampled_from(sorted(LIMITS)), st.sampled_from(PLAIN))
def test_both_ends_hold(seed, kind, word):
    f = some(seed)
    if len(View.whole(f).units) < 2 or (len(word) > 1 and 3 % len(View.whole(f).units) == 0):
        return
    for certificate in made(f, kind, [word]).values():
        if certificate["pattern"].endswith(" by rail"):
            continue
        true = true_bps(f, certificate["pattern"])
        low, high = (float(Fraction(certificate[end])) for end in ("lower_bps", "upper_bps"))
        assert low <= true * (1 + 1e-6) and true <= high * (1 + 1e-6)


# ---------------------------------------------------------------- tampering


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
            found = made(f, kind, PLAIN)
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


@settings(max_examples=300, deadline=None)
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


def test_another_fabric_is_rejected():
    """With a link less for every unit, nothing flows as it did."""
    for certificate, fabric, _ in examples():
        less = deepcopy(fabric)
        less["links"]["rows"] = [[*row[:2], row[2] // 2, *row[3:]] for row in less["links"]["rows"]]
        assert rejected(certificate, less)


@pytest.mark.parametrize("kind", sorted(LIMITS))
def test_switches_among_themselves(kind):
    """Of a fabric that shows no ends, the switches are the units."""
    b = Builder("ring")
    switch = b.devices("sw", b.model("switch", "SW", {"p": 4}), 6)
    b.connect("connect sw to sw")
    for i in range(6):
        b.link(b.free(switch, i), b.free(switch, (i + 1) % 6))
    f = b.build()
    found = made(f, kind, PLAIN)
    assert len(found) == len(PLAIN)
    for certificate in found.values():
        verify(certificate, as_json(f))


def test_no_plane_reaches_all_and_the_pairs_are_too_many():
    """In each of three planes another host has no port: pairs are routed along trees of those that both have."""
    whole = multiplane(3, 6).build()
    ends = list(zip(whole.device_a.tolist(), whole.device_b.tolist(), strict=True))
    called = [(whole.device_name(a), whole.device_name(b)) for a, b in ends]
    f = without(whole, [called.index(x) for x in (("node0", "pl0-leaf0"), ("node2", "pl1-leaf0"), ("node5", "pl2-leaf1"))])
    found = made(f, "no pairs", [(BareWord(ALL),)])["throughput-all_to_all.json"]
    assert [(r["by"], r["lengths"]) for r in found["lower"]["routes"]] == [("lengths", [])]
    verify(found, as_json(f))
    true = true_bps(f, ALL)
    assert float(Fraction(found["lower_bps"])) <= true * (1 + 1e-6) <= float(Fraction(found["upper_bps"])) * (1 + 1e-5)
