"""Certificates whose proofs are routes: honest ones are accepted, and no other proof shows more."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from operator import getitem

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import Rejected, verify
from tdsl.certificates.write import certificates_by_file_name
from tdsl.prove.all_to_all import ALL
from tdsl.prove.budget import DEFAULT
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tests.certificates.made import as_json, headed, leaves, rejected, shown, tampered
from tests.fabrics import Builder, claim, multiplane, rail_only, random_chips, random_fabric, random_layers, superpod, without
from tests.prove.judges import most_throughput

EXPANDED = replace(DEFAULT, arc_program_cells=0, flow_entries=0)  # flows that are too many to be written
LARGE = replace(DEFAULT, path_program_rows=0, routing_work=0, uniform_work=0)
LIMITS = {
    "nothing": DEFAULT,
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
ENDS = ("lower", "upper")


def made_of_patterns(f, kind, words=WORDS):
    asked = [claim(f, "throughput", args=args, through=way) for args in words for way in ("", "scaleup")]
    return headed(f, certificates_by_file_name(f, asked, [], LIMITS[kind]))


def switches_alone():
    """A ring of switches: of a fabric that shows no ends, they are the units."""
    b = Builder("ring")
    switch = b.devices("sw", b.model("switch", "SW", {"p": 4}), 6)
    b.connect("connect sw to sw")
    for i in range(6):
        b.link(b.free(switch, i), b.free(switch, (i + 1) % 6))
    return b.build()


def planes_that_do_not_reach_all():
    """In each of three planes another host has no port."""
    whole = multiplane(3, 6).build()
    ends = zip(whole.device_a.tolist(), whole.device_b.tolist(), strict=True)
    called = [(whole.device_name(a), whole.device_name(b)) for a, b in ends]
    gone = (("node0", "pl0-leaf0"), ("node2", "pl1-leaf0"), ("node5", "pl2-leaf1"))
    return without(whole, [called.index(x) for x in gone])


def some(seed):
    """A small fabric of any kind."""
    made = (
        lambda: random_fabric(seed, 1 + seed % 5, 2 + seed % 4, 2, seed % 9, 1).build(),
        lambda: random_layers(seed).build(),
        lambda: random_chips(seed, 6, 12).build(),
        lambda: superpod(2, 3 + seed % 2, 2, 2, uplinks=1 + seed % 2).build(),
        lambda: rail_only(3, 2).build(),
        lambda: multiplane(2, 6).build(),
        switches_alone,
        planes_that_do_not_reach_all,
    )
    return made[seed % len(made)]()


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


@settings(max_examples=16, deadline=None)
@given(SEEDS, st.sampled_from(sorted(LIMITS)))
def test_what_is_written_is_accepted_and_both_ends_hold(seed, kind):
    f = some(seed)
    fabric, flow = as_json(f), cache(lambda word: true_bps(f, word))
    for certificate in made_of_patterns(f, kind, WORDS if f.name != "ring" else PLAIN).values():
        try:
            verify(certificate, fabric)
        except Rejected as why:  # shares of a quotient may show less of the whole than was proved: such a one is not written
            assert kind == "averages among twins" and "the proofs show" in str(why)
        low, high = (Fraction(certificate[end]) for end in ("lower_bps", "upper_bps"))
        assert 0 < low <= high
        word = certificate["pattern"].removesuffix(" through scaleup")
        if " by " not in word and word != "rail_allreduce":
            assert low <= flow(word) * (1 + 1e-6) and flow(word) <= high * (1 + 1e-6)


@cache
def examples():
    """Certificates, their fabrics and what truly flows; every kind of proof is among them."""
    out = []
    for f in (
        superpod(2, 3, 2, 2, uplinks=1).build(),
        without(superpod(2, 3, 2, 3).build(), [3]),
        random_chips(5, 6, 12).build(),
        random_layers(8).build(),
    ):
        flow = cache(lambda word, f=f: Fraction(true_bps(f, word) * (1 + 1e-9)))
        for kind in [k for k in LIMITS if k != "nothing"]:
            found = made_of_patterns(f, kind, PLAIN).values()
            out += [(c, as_json(f), flow(c["pattern"])) for c in found if " by " not in c["pattern"]]
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
    certificate = tampered(data, honest, fabric, [0, 1, 2, 7, -1, 5041, 1.5, True, None, 10**12, "lengths"], ENDS, least=1)
    if data.draw(st.booleans()):  # a key or an entry less, with all that is in it
        way = data.draw(st.sampled_from([w for w in leaves(certificate) if w[0] in ENDS]))
        way = way[: data.draw(st.integers(2, len(way)))]
        del reduce(getitem, way[:-1], certificate)[way[-1]]
    for end, other in (ENDS, ENDS[::-1]):
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
