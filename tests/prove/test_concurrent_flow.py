"""Throughput of traffic patterns by every method: programs over arcs and over paths, combined routings, trees; against a linear
program over links."""

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
GAPS = {"arcs": Fraction(1), "paths": Fraction(102, 100), "combined": Fraction(3)}
"""How many times the lower bound the upper one is at most."""
MAKERS = {
    "hosts": lambda s: random_fabric(s, 2 + s % 4, 3 + s % 3, 1 + s % 3, s % 10, s % 2).build(),
    "chips": lambda s: random_chips(s, 3 + s % 4, 3 + s % 12).build(),
    "layers": lambda s: random_layers(s).build(),
    "trees": lambda s: without(
        superpod(2, 3, 2, 2, uplinks=2, omit_last=False, manager=False).build(), Random(s).sample(range(20), 2)
    ),
}


def proved(found: Bound, net: Network, demands: Demands) -> None:
    """What routes and lengths show, added up again: routes bring every demand where it belongs and overload no arc."""
    load = found.proof_lower.load
    assert all(x * found.lower <= int(net.capacity[arc]) for arc, x in load.items())
    assert not found.lower or arrives({arc: x for arc, x in load.items() if x}, net, demands)
    if isinstance(found.proof_upper, ArcLengths):
        assert bound_by_lengths(found.proof_upper.length.tolist(), net, demands) == found.upper


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_fabrics_against_a_linear_program(kind, seed):
    """With its program over arcs the bounds are the optimum; with less work they are around it, and near."""
    f = MAKERS[kind](seed)
    count = len(View.whole(f).units)
    if count < 3:
        return
    by = np.arange(count)
    demand = TrafficDemand(by, (by + 1 + seed % 2) % count, np.ones_like(by)) if kind == "trees" else random_demand(seed, count)
    asked = offer_of_demand(View.whole(f), demand)
    if asked is None or not asked.demands:
        return
    best = most_throughput(f, demand)
    for name, budget in METHODS.items():
        found = asked.bounds(budget)
        if found is None:
            assert best == pytest.approx(0, abs=1e-6)
            continue
        assert found.lower <= found.upper <= asked.top and found.lower * asked.grain <= best * (1 + 1e-6)
        assert found.upper * asked.grain >= best * (1 - 1e-6) and found.upper <= GAPS.get(name, 10**9) * found.lower
        proved(found, asked.network, asked.demands)


def test_a_large_torus_has_an_interval():
    """Shortest paths of so many chips are too much work: the answer is bounds, not `skipped`."""
    small = replace(METHODS["large"], combination_work=10**4, hub_work=5 * 10**4)
    found = judged_throughput(torus(6, 6, 6).build(), BareWord("shift"), 109, budget=small)
    assert found.status == "bounded" and 0 < found.lower < found.upper <= 1


def test_distances_to_targets() -> None:
    """Nothing passes a node that does not forward; nodes that are nearer than the farthest target have theirs, too."""
    for seed in range(100):
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


@pytest.mark.parametrize("name", METHODS)
def test_bounds_of_every_method_hold(name: str) -> None:
    """Of networks; also where a top is below the optimum. Without a path for each demand there are none."""
    some = 0
    for seed in range(20):
        net, demands = random_network(seed, directed=False)
        if not reachable(net, demands):
            assert concurrent_flow_bounds(net, demands, Fraction(100), METHODS[name]) is None
            continue
        exact = most_flow(net, demands)
        for top in (Fraction(100), Fraction(1, 100)):
            found = concurrent_flow_bounds(net, demands, top, METHODS[name])
            if found is None:
                assert name in ("trees", "large")
                continue
            true = min(exact, float(top))
            assert found.lower <= true * (1 + 1e-9) and true * (1 - 1e-9) <= found.upper <= top, seed
            assert name != "arcs" or found.lower == found.upper, seed
            proved(found, net, demands)
            some += 1
    assert some > 10


@settings(max_examples=40, deadline=None)
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
