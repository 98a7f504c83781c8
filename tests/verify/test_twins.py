"""Networks in which twins are one node, against the same without: bounds, and what routes put on every arc."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove import concurrent_flow as multiflow
from tdsl.prove import quotient as twins
from tdsl.prove import routed_demand as routed
from tdsl.prove import routing_combinations as wide
from tdsl.prove import symmetry
from tdsl.prove.bound import ArcLengths
from tdsl.prove.budget import DEFAULT
from tdsl.prove.concurrent_flow import concurrent_flow_bounds
from tdsl.prove.network import Network
from tdsl.semantics.values import BareWord
from tests.fabrics import multiplane, rail_only, superpod, without
from tests.verify.test_throughput import judged

SEEDS = st.integers(0, 10**6)


def grown(seed, loose=False):
    """A network made at random in which every node stands several times: hosts, switches, and switches that send, too."""
    rng = np.random.default_rng(seed)
    kinds = [0] * int(rng.integers(2, 4)) + [1] * int(rng.integers(2, 5)) + [2] * int(rng.integers(0, 2))
    last = np.cumsum(rng.integers(1, 4, size=len(kinds))).tolist()
    copies = [list(range(*x)) for x in pairwise([0, *last])]
    passes = np.array([kind > 0 for kind, mine in zip(kinds, copies, strict=True) for _ in mine])
    room = {}
    for i, a in enumerate(kinds):
        for j in range(i):
            if (loose or a or kinds[j]) and rng.random() < 0.7:
                amount = int(rng.integers(1, 4))
                room |= {p: amount for x in copies[i] for y in copies[j] for p in ((x, y), (y, x))}
    if rng.random() < 0.4 and room:  # one of them is not a twin
        a, b = list(room)[int(rng.integers(len(room)))]
        room[a, b] = room[b, a] = room[a, b] + 1
    pairs = sorted(room)
    tail, head = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    ends = [v for kind, mine in zip(kinds, copies, strict=True) if kind != 1 for v in mine]
    demands = {(s, t): int(rng.integers(1, 3)) for s in ends for t in ends if s != t and rng.random() < (0.3, 1.0)[seed % 2]}
    if rng.random() < 0.5:  # each to one other
        demands = {
            (s, t): 1 for s, t in zip(ends, np.roll(ends, int(rng.integers(1, len(ends)))).tolist(), strict=True) if s != t
        }
    return Network.of(passes, tail, head, np.array([room[p] for p in pairs], dtype=np.int64)), demands


def brought(load, flows, wanted):
    """Whether what is on arcs leaves and arrives as it should."""
    over = dict.fromkeys(range(flows.nodes), Fraction(0))
    for arc, amount in load.items():
        assert amount >= 0
        over[int(flows.tail[arc])] -= amount
        over[int(flows.head[arc])] += amount
    for (s, t), amount in wanted.items():
        over[s] += amount
        over[t] -= amount
    return not any(over.values())


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from(["program", "weights", "mixture"]))
def test_twins_put_together_change_no_bound(seed, loose, by):
    flows, demands = grown(seed, loose)
    if not demands:
        return
    top = Fraction(1000)
    best = concurrent_flow_bounds(flows, demands, top)
    quotient = replace(DEFAULT, quotient_ratio=0)
    limits = {"program": {}, "weights": {"arc_program_cells": 0}, "mixture": {"routing_work": 0}}
    found = multiflow._bounds_of_quotient(flows, demands, top, replace(quotient, **limits[by]))
    if best is None or found is None:
        assert best is found
        return
    assert found.lower <= best.upper and best.lower <= found.upper
    if by == "program":
        assert float(found.lower) == pytest.approx(float(best.lower), rel=1e-6)
        assert float(found.upper) == pytest.approx(float(best.upper), rel=1e-6)
    assert all(x * found.lower <= int(flows.capacity[arc]) for arc, x in found.proof_lower.load.items())
    assert brought(found.proof_lower.load, flows, demands)
    if found.proof_lower.flow is not None:
        total = {}
        for s, part in found.proof_lower.flow.items():
            assert brought(part, flows, {p: x for p, x in demands.items() if p[0] == s})
            assert all(flows.forwards[v] or v == s for v in flows.tail[list(part)].tolist())
            routed.add_loads(total, part)
        assert {arc: x for arc, x in total.items() if x} == found.proof_lower.load
    if isinstance(found.proof_upper, ArcLengths):
        assert shown(found.proof_upper.length.tolist(), flows, demands) == found.upper


def shown(lengths, flows, demands):
    """What lengths show, by networkx."""
    spent = 0
    for (s, t), w in demands.items():
        g = nx.DiGraph()
        for arc, (a, b) in enumerate(zip(flows.tail.tolist(), flows.head.tolist(), strict=True)):
            if (flows.forwards[a] or a == s) and (flows.forwards[b] or b == t):
                g.add_edge(a, b, length=lengths[arc])
        spent += w * nx.shortest_path_length(g, s, t, weight="length")
    return Fraction(int(np.dot(flows.capacity, lengths)), spent)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_hubs_where_some_only_send(seed):
    """Ways over hubs reach everybody, whichever way arcs lead."""
    flows, demands = grown(seed)
    if not demands:
        return
    wanted = multiflow._demand_columns(demands)
    by = twins.quotient_of_demand(flows, (wanted.source, wanted.target, wanted.amount))
    small, asked = by.network, wide.NodeDemands.of(by.out[wanted.source], by.into[wanted.target], wanted.amount)
    column = wide.route_over_hubs(small, asked)
    if column is None:
        return
    load = {arc: Fraction(x, column.whole) for arc, x in enumerate(column.load.tolist()) if x}
    pairs = dict(zip(zip(asked.source.tolist(), asked.target.tolist(), strict=True), [0] * len(asked.source), strict=True))
    for s, t, w in zip(asked.source.tolist(), asked.target.tolist(), asked.amount.tolist(), strict=True):
        pairs[s, t] += w
    assert brought(load, small, pairs)


def test_rows_that_only_sum_alike_are_not_alike(monkeypatch):
    """Should numbers of chance ever agree, the rows themselves are compared."""
    monkeypatch.setattr(symmetry, "_pseudorandom_words", lambda x: np.zeros(len(x), dtype=np.uint64))
    rows = np.array([0, 0, 1, 1, 2, 2]), np.array([5, 6, 5, 6, 5, 7]), np.array([1, 1, 1, 1, 1, 1])
    assert symmetry.equal_rows(np.zeros(8, dtype=np.int64), *rows).tolist()[:3] == [0, 0, 2]


@pytest.mark.parametrize("args", [("ring",), ("shift", 5), ("shift", 8)])
def test_planes_whose_hosts_meet_several_leaves(args, monkeypatch):
    """A full network of planes is full where every source by itself would be too much work; a link less costs a link."""
    f = multiplane(4, 32, 2, 4).build()
    asked = BareWord(args[0]), *args[1:]
    damaged = without(f, [f.link_count - 1])
    best = judged(damaged, *asked)
    made = []
    expanded = routed.Expanded
    monkeypatch.setattr(multiflow, "Expanded", lambda *facts: made.append(1) or expanded(*facts))
    small = replace(DEFAULT, routing_work=0)
    found = judged(f, *asked, budget=small)
    assert (found.status, found.value) == ("proved", 1) and made
    worse = judged(damaged, *asked, budget=small)
    assert worse.lower <= best.upper and best.lower <= worse.upper <= worse.lower * Fraction(11, 10)


@pytest.mark.parametrize(
    "make", [lambda: multiplane(2, 8, 2, 2), lambda: superpod(2, 8, 2, 4, uplinks=4), lambda: rail_only(8, 4)]
)
def test_all_to_all_of_a_large_network(make):
    """Twins first, and the same answer."""
    f = make().build()
    exact = judged(f, BareWord("all_to_all"))
    found = judged(f, BareWord("all_to_all"), budget=replace(DEFAULT, combination_arcs=0))
    assert exact.lower <= found.upper and found.lower <= exact.upper and found.upper <= found.lower * Fraction(11, 10)
