"""Convex combinations of routings, and routings over hubs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import lcm
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.prove.budget import Budget
from tdsl.prove.network import Network
from tdsl.prove.routing_combinations import FINE, STEPS, Combination, FullRouting, NodeDemands, combine_routings, route_over_hubs
from tests.prove.networks import arrives, bound_by_lengths, most_flow, network_with_copies, random_network

Demands = dict[tuple[int, int], int]


def column(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def made(seed: int, flows: bool = True) -> tuple[Combination, list[FullRouting], np.ndarray]:
    rng = Random(seed)
    arcs = rng.randint(2, 6)
    capacity = column([rng.randint(1, 9) for _ in range(arcs)])
    routings = []
    for _ in range(rng.randint(1, 6)):
        load = [rng.choice([0, *range(1, 60)]) for _ in range(arcs)]
        flow = [(rng.randrange(3), arc, x) for arc, x in enumerate(load) if x]
        given = tuple(column([f[i] for f in flow]) for i in range(3)) if flows else None
        routings.append(
            FullRouting(column([max(x, 1) if i == 0 else x for i, x in enumerate(load)]), rng.choice([4, 6, 10]), given)
        )  # type: ignore[arg-type]
    found = Combination(capacity)
    for x in routings:
        found.add(x)
    return found, routings, capacity


@pytest.mark.parametrize("seed", range(60))
def test_a_routing_is_mixed_in_as_far_as_it_helps(seed: int) -> None:
    """In 64 parts, the least of those that are as good; what does not help is left out."""
    found, routings, capacity = made(seed)
    use = [float(x) / routings[0].whole / c for x, c in zip(routings[0].load.tolist(), capacity.tolist(), strict=True)]
    shares, kept = [1.0], [routings[0]]
    for routing in routings[1:]:
        other = [float(x) / routing.whole / c for x, c in zip(routing.load.tolist(), capacity.tolist(), strict=True)]
        tried = [max(x + (y - x) * (k / 64) for x, y in zip(use, other, strict=True)) for k in range(65)]
        part = tried.index(min(tried)) / 64
        if part:
            shares = [x * (1 - part) for x in shares] + [part]
            kept.append(routing)
            use = [x + (y - x) * part for x, y in zip(use, other, strict=True)]
    assert found.columns == kept and found.shares == pytest.approx(shares) and found.use.tolist() == pytest.approx(use)
    assert STEPS == 64 and FINE == 1_000_000
    whole = found.whole()
    most = [int(x * FINE) for x in found.shares]
    most[most.index(max(most))] += FINE - sum(most)
    assert whole == most and sum(whole) == FINE
    exact = [
        sum((Fraction(w * int(c.load[arc]), FINE * c.whole) for w, c in zip(whole, kept, strict=True)), Fraction(0))
        for arc in range(len(capacity))
    ]
    some = list(range(len(capacity)))[:: 1 + seed % 2]
    load, parts = found.loads(column(some))
    assert [Fraction(x, parts) for x in load.tolist()] == [exact[arc] for arc in some]
    assert parts == FINE * lcm(*(c.whole for c in kept))
    assert found.fits() == min(int(capacity[arc]) / exact[arc] for arc in range(len(capacity)) if exact[arc])
    flows = found.flows()
    wanted: dict[tuple[int, int], Fraction] = Counter()  # type: ignore[assignment]
    for w, c in zip(whole, kept, strict=True):
        assert c.flow is not None
        for s, arc, x in zip(*(y.tolist() for y in c.flow), strict=True):
            wanted[s, arc] += Fraction(w * x, FINE * c.whole)
    assert flows is not None and {(s, arc): x for s, part in flows.items() for arc, x in part.items()} == wanted


def test_the_fullest_arc_of_almost_equal_ones() -> None:
    """Floats say which arcs are near the fullest; the least of these is exact."""
    found = Combination(column([10**6, 10**6, 10**6]))
    found.add(FullRouting(column([10**9 - 2000, 10**9 - 1, 10**9 + 1]), 7, None))
    assert found.fits() == Fraction(7 * 10**6, 10**9 + 1)
    found.use = np.array([1.0, 1.0 - 0.9e-4, 1.0 - 1.2e-4])
    assert found.fits() == Fraction(7 * 10**6, 10**9 - 1)
    found.use = np.array([1.0, 1.0 - 1e-4, 0.5])
    assert found.fits() == Fraction(7 * 10**6, 10**9 - 1)
    found.use = np.array([1.0, 1.0 - 1.2e-4, 1.0 - 1.2e-4])
    assert found.fits() == Fraction(7 * 10**6, 10**9 - 2000)
    empty = Combination(column([5, 5]))
    empty.add(FullRouting(column([0, 3]), 1, None))
    empty.use = np.array([1.0, 1.0])
    assert empty.fits() == Fraction(5, 3)


def node_demands(demands: Demands) -> NodeDemands:
    pairs = list(demands)
    return NodeDemands.of(column([p[0] for p in pairs]), column([p[1] for p in pairs]), column(list(demands.values())))


def test_a_host_between_all_others_is_no_hub() -> None:
    """It forwards nothing; the switch beside it is the only hub."""
    links = column([(0, 2), (1, 2), (0, 3), (1, 3)]).T
    net = Network.both_ways(np.array([False, False, False, True]), links[0], links[1])
    found = route_over_hubs(net, node_demands({(0, 1): 1}))
    assert found is not None and found.hubs is not None and found.hubs[0].tolist() == [3]


@pytest.mark.parametrize("last", [(3, 1), (1, 3)])
def test_a_hub_is_reached_by_all_that_send_or_receive(last: tuple[int, int]) -> None:
    """The last host has a link to the first switch alone, and asks for one; the host at the other switch asks for nothing."""
    links = column([(0, 5), (1, 4), (1, 5), (2, 4), (2, 5), (3, 4)]).T
    net = Network.both_ways(np.arange(6) > 3, links[0], links[1])
    found = route_over_hubs(net, node_demands({(1, 2): 3, last: 1}))
    assert found is not None and found.hubs is not None and found.hubs[0].tolist() == [4]


def drawn(seed: int) -> tuple[Network, Demands]:
    """Hosts on a few switches, some of which are no switch's neighbour; some hosts send, some receive, some forward."""
    rng = Random(seed)
    hosts, switches = rng.randint(2, 5), rng.randint(1, 5)
    size = hosts + switches
    links = [(h, hosts + rng.randrange(switches), rng.choice([1, 2])) for h in range(hosts) for _ in range(rng.choice([1, 1, 2]))]
    links += [(hosts + a, hosts + b, rng.choice([1, 3])) for a in range(switches) for b in range(a) if rng.random() < 0.7]
    if seed % 4 == 3:  # some arcs lead one way only
        made = [(a, b, x) for a, b, x in links] + [(b, a, x) for a, b, x in links if rng.random() < 0.9]
    else:
        made = [y for a, b, x in links for y in ((a, b, x), (b, a, x))]
    forwards = np.arange(size) >= hosts
    forwards[0] = seed % 5 == 4
    ends = list(range(hosts + (seed % 6 == 5)))
    pairs = [(s, t) for s in ends for t in ends if s != t]
    demands = {
        pair: rng.choice([2, 2, 4] if seed % 3 else [1, 1, 3])
        for pair in (pairs if seed % 2 else rng.sample(pairs, rng.randint(1, len(pairs))))
    }
    return Network.of(forwards, *(column([x[i] for x in made]) for i in range(3))), demands


def test_hubs_of_amounts_beyond_one_word() -> None:
    net, demands = drawn(1)
    big = node_demands({pair: (1 << 60) + i for i, pair in enumerate(demands)})
    assert route_over_hubs(net, big) is None
    even = node_demands(dict.fromkeys(demands, 1 << 50))
    assert route_over_hubs(net, even) is not None


def test_combined_routings_carry_no_more_than_flows() -> None:
    """The least factor that fits, the most that flows, and the bound that lengths show are in this order."""
    some = 0
    for seed in range(60):
        net, demands = random_network(seed, directed=seed % 2 == 0)
        found, upper, lengths = combine_routings(net, node_demands(demands), Fraction(1000), budget=Budget(hub_gap=-1.0))
        if not found.columns:
            continue
        best = most_flow(net, demands)
        assert float(found.fits()) <= best * (1 + 1e-9) and float(upper) >= best * (1 - 1e-9), seed
        if len(lengths):
            assert bound_by_lengths(lengths.tolist(), net, demands) == upper, seed
        load, parts = found.loads(np.arange(net.arcs))
        assert arrives({arc: Fraction(int(x), parts) for arc, x in enumerate(load) if x}, net, demands), seed
        some += 1
    assert some > 20


def test_everybody_arrives_over_hubs() -> None:
    """Also where some nodes only send, and some only receive."""
    some = 0
    for seed in range(120):
        net, demands = network_with_copies(seed)
        found = route_over_hubs(net, node_demands(demands)) if demands else None
        if found is not None:
            load = {arc: Fraction(int(x), found.whole) for arc, x in enumerate(found.load) if x}
            assert arrives(load, net, demands), seed
            some += 1
    assert some > 40
