"""Throughput of traffic patterns, against a linear program over links."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove.bound import ArcLengths, Bound
from tdsl.prove.budget import DEFAULT
from tdsl.prove.concurrent_flow import FAR, concurrent_flow_bounds, shortest_distances
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.network import Network
from tdsl.prove.quotient import quotient_of_demand
from tdsl.prove.routing_combinations import NodeDemands, combine_routings
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.terminals import offer_of_demand
from tdsl.prove.view import View
from tdsl.semantics.values import BareWord
from tests.fabrics import random_chips, random_fabric, random_layers, superpod, torus, without
from tests.prove.judges import judged_throughput, most_throughput, random_demand
from tests.prove.networks import (
    Demands,
    arrives,
    bound_by_lengths,
    most_flow,
    network_with_copies,
    random_network,
    reachable,
    usable_arcs,
)

SEEDS = st.integers(0, 10**6)
NO_ARCS = replace(DEFAULT, arc_program_cells=0)
METHODS = {
    "arcs": DEFAULT,
    "paths": NO_ARCS,
    "combined": replace(NO_ARCS, path_program_rows=0),
    "large": replace(NO_ARCS, routing_work=0),
    "trees": replace(NO_ARCS, routing_work=0, combination_arcs=0, quotient_ratio=10**9),
}


def added_up(asked, found):
    """What is shown is so: no link is overloaded, and the lengths say the upper bound, by networkx."""
    flows = asked.network
    for arc, amount in found.proof_lower.load.items():
        assert amount * found.lower <= int(flows.capacity[arc])
    if isinstance(found.proof_upper, ArcLengths):
        g = nx.DiGraph()
        for arc, length in enumerate(found.proof_upper.length.tolist()):
            g.add_edge(int(flows.tail[arc]), int(flows.head[arc]), length=length)
        spent = 0
        for (s, t), w in asked.demands.items():
            closed = [v for v in g if not flows.forwards[v] and v not in (s, t)]
            spent += w * nx.shortest_path_length(g.subgraph(set(g) - set(closed)), s, t, weight="length")
        assert found.upper == Fraction(int(np.dot(flows.capacity, found.proof_upper.length.tolist())), spent)


def agrees(f, demand):
    view = View.whole(f)
    asked = offer_of_demand(view, demand)
    if asked is None:
        return
    best = most_throughput(f, demand)
    found = asked.bounds()
    if found is None:
        assert best == pytest.approx(0, abs=1e-6)
        return
    assert found.lower <= found.upper <= asked.top
    low, high = (float(x * asked.grain) for x in (found.lower, found.upper))
    assert low == pytest.approx(best, rel=1e-6) and high == pytest.approx(best, rel=1e-6)
    added_up(asked, found)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 5), st.integers(2, 4), st.integers(1, 3), st.integers(0, 9), st.integers(0, 1))
def test_hosts_against_a_linear_program(seed, switches, hosts, nics, cables, loose):
    f = random_fabric(seed, switches, hosts, nics, cables, loose).build()
    if len(View.whole(f).units) > 1:
        agrees(f, random_demand(seed, len(View.whole(f).units)))


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(3, 6), st.integers(3, 12))
def test_chips_against_a_linear_program(seed, chips, cables):
    f = random_chips(seed, chips, cables).build()
    if len(View.whole(f).units) > 2:
        agrees(f, random_demand(seed, len(View.whole(f).units)))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 3))
def test_damaged_trees_against_a_linear_program(seed, by):
    f = superpod(2, 3, 2, 2, uplinks=2, omit_last=False, manager=False).build()
    f = without(f, np.random.default_rng(seed).integers(f.link_count, size=2).tolist())
    count = np.arange(6)
    agrees(f, TrafficDemand(count, (count + by) % 6, np.ones(6, dtype=np.int64)))


def brought(asked, found):
    """Every demand leaves and arrives."""
    over = dict.fromkeys(range(asked.network.nodes), Fraction(0))
    for arc, amount in found.proof_lower.load.items():
        assert amount > 0
        over[int(asked.network.tail[arc])] -= amount
        over[int(asked.network.head[arc])] += amount
    for (s, t), w in asked.demands.items():
        over[s] += w
        over[t] -= w
    assert not any(over.values())


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.booleans(), st.booleans())
def test_where_there_is_no_linear_program_over_arcs(seed, by_paths, chips):
    """Bounds by multiplicative weights hold, and are near; those by paths are nearer."""
    f = random_chips(seed, 6, 14).build() if chips else random_fabric(seed, 5, 5, 2, 9, seed % 2).build()
    view = View.whole(f)
    asked = offer_of_demand(view, random_demand(seed, len(view.units)))
    small = replace(DEFAULT, arc_program_cells=0)
    found = asked.bounds(small if by_paths else replace(small, path_program_rows=0)) if asked else None
    if found is not None:
        exact = asked.bounds()
        assert found.lower <= exact.upper and exact.lower <= found.upper
        assert found.upper <= (Fraction(102, 100) if by_paths else 2) * found.lower
        brought(asked, found)
        added_up(asked, found)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(0, 2), st.booleans())
def test_above_the_limit_of_work_both_ends_hold(seed, which, trees):
    """Shortest paths alone, or a few trees: bounds around the true ones, from loads that bring every demand where it belongs."""
    made = (random_fabric(seed, 2 + seed % 5, 2 + seed % 4, 1 + seed % 3, seed % 10, seed % 2), random_chips(seed, 6, 12))
    f = (*made, random_layers(seed))[which].build()
    view = View.whole(f)
    if len(view.units) < 3:
        return
    asked = offer_of_demand(view, random_demand(seed, len(view.units)))
    if asked is None or not asked.demands:
        return
    best = asked.bounds()
    small = replace(DEFAULT, routing_work=0)
    found = asked.bounds(replace(small, combination_arcs=0, quotient_ratio=10**9) if trees else small)
    assert (found is None) == (best is None)
    if found is None or best is None:
        return
    assert 0 < found.lower <= best.upper and best.lower <= found.upper <= asked.top
    added_up(asked, found)
    brought(asked, found)


def test_a_large_torus_has_an_interval():
    """Shortest paths of 4,096 chips are too much work: the answer is bounds, not `skipped`."""
    small = replace(DEFAULT, combination_work=10**6, hub_work=5 * 10**6)
    found = judged_throughput(torus(16, 16, 16).build(), BareWord("shift"), 2056, budget=small)
    assert found.status == "bounded" and 0 < found.lower < found.upper <= 1


@pytest.mark.parametrize("first", [0, 100])
def test_distances_to_targets(first: int) -> None:
    """Nothing passes a node that does not forward; nodes that are nearer than the farthest target have theirs, too."""
    for seed in range(first, first + 100):
        net, demands = random_network(seed)
        rng = Random(seed)
        length = [rng.randint(0, 5) for _ in range(net.arcs)]
        for s in {s for s, _ in demands}:
            targets = [t for a, t in demands if a == s]
            exact = nx.single_source_dijkstra_path_length(usable_arcs(net, s, length), s, weight="length")
            found = shortest_distances(net, length, s, targets)
            farthest = max(exact.get(t, FAR) for t in targets)
            for v in range(net.nodes):
                wanted = exact.get(v, FAR)
                assert found[v] == wanted if wanted < farthest or v in targets else found[v] >= wanted, (seed, s, v)


@pytest.mark.parametrize("unit", [1, 100_000_000_000])
def test_amounts_near_the_limit_of_a_word(unit: int) -> None:
    """Two ways from one node to another, of two links and of three, and one way between two others, which ask for a seventh as
    much: both ways are used, however large the unit of the demand is."""
    tail, head = np.array([0, 2, 0, 3, 4, 5]), np.array([2, 1, 3, 4, 1, 6])
    net = Network.both_ways(np.ones(7, dtype=np.bool_), tail, head, np.ones(6, dtype=np.int64))
    most = 7 if unit == 1 else -(-(2**64) // PARTS**2)  # the load in parts, times these parts, is a little more than 64 bits
    wanted = NodeDemands.of(np.array([0, 5]), np.array([1, 6]), np.array([most, unit]))
    found, _, _ = combine_routings(net, wanted, Fraction(100, most))
    assert found.fits() == Fraction(2, most) and len(found.columns) == 2


def test_arcs_that_no_path_uses() -> None:
    """Three hosts at a switch, of which the first sends to the second only: neither what it would receive, nor what the others
    would send, is an arc of the smaller network."""
    forwards = np.array([False, False, False, True])
    net = Network.both_ways(forwards, np.array([0, 1, 2]), np.array([3, 3, 3]), np.array([1, 1, 1]))
    small = quotient_of_demand(net, (np.array([0]), np.array([1]), np.array([1])))
    used = [(int(net.tail[i]), int(net.head[i])) for i in np.flatnonzero(small.arc >= 0).tolist()]
    assert used == [(3, 1), (0, 3)] and small.network.arcs == 2
    assert small.arc.tolist().count(-1) == 4 and small.network.head.tolist() == [1, 2]


def proved(found: Bound, net: Network, demands: Demands) -> None:
    """What routes and lengths show, added up again."""
    load = found.proof_lower.load
    assert all(x * found.lower <= int(net.capacity[arc]) for arc, x in load.items())
    assert not found.lower or arrives({arc: x for arc, x in load.items() if x}, net, demands)
    if isinstance(found.proof_upper, ArcLengths):
        assert bound_by_lengths(found.proof_upper.length.tolist(), net, demands) == found.upper


@pytest.mark.parametrize("name", METHODS)
def test_bounds_of_every_method_hold(name: str) -> None:
    """By the program over arcs the bounds are equal and the optimum; by other methods it is between them."""
    some = 0
    for seed in range(40):
        net, demands = random_network(seed, directed=False)
        found = concurrent_flow_bounds(net, demands, Fraction(100), METHODS[name])
        if not reachable(net, demands):
            assert found is None
            continue
        exact = most_flow(net, demands)
        for top in (Fraction(100), Fraction(1, 100)):
            found = concurrent_flow_bounds(net, demands, top, METHODS[name])
            if found is None:
                assert name in ("trees", "large")
                continue
            assert found.lower <= min(exact, float(top)) * (1 + 1e-9) and found.upper >= min(exact, float(top)) * (1 - 1e-9), seed
            assert found.lower <= found.upper <= top
            assert name != "arcs" or found.lower == found.upper, seed
            proved(found, net, demands)
            some += 1
    assert some > 20


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from(["program", "paths", "combined"]))
def test_equivalent_nodes_put_together_change_no_bound(seed: int, loose: bool, by: str) -> None:
    """A quotient network says of the whole what the whole says, and its routes bring every demand where it belongs."""
    net, demands = network_with_copies(seed, loose)
    if not demands:
        return
    work = 0 if by == "combined" else len({s for s, _ in demands}) * net.arcs - 1
    limits = {"arc_program_cells": 0} if by == "paths" else {}
    budget = replace(DEFAULT, routing_work=work, quotient_ratio=0, **limits)
    best, found = (concurrent_flow_bounds(net, demands, Fraction(1000), x) for x in (DEFAULT, budget))
    assert (best is None) == (found is None)
    if best is not None and found is not None:
        assert found.lower <= best.upper and best.lower <= found.upper
        proved(found, net, demands)
