"""Convex combinations of routings, and routings over hubs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from tdsl.prove.network import Network
from tdsl.prove.routing_combinations import FINE, Combination, FullRouting, NodeDemands, route_over_hubs
from tests.prove.networks import Demands, arrives, column, columns, network_with_copies


def test_what_a_combination_carries() -> None:
    """The shares of its routings are one together, in whole parts; loads, the factor that fits and flows are exact sums;
    no routing of them fits more often."""
    for seed in range(40):
        rng = Random(seed)
        arcs = range(rng.randint(2, 6))
        capacity = column(rng.randint(1, 9) for _ in arcs)
        found = Combination(capacity)
        for _ in range(rng.randint(1, 6)):
            load = [rng.randint(1, 60) if arc == 0 else rng.choice([0, *range(1, 60)]) for arc in arcs]
            flow = columns((rng.randrange(3), arc, x) for arc, x in enumerate(load) if x)
            routing = FullRouting(column(load), rng.choice([4, 6, 10]), flow)
            found.add(routing)
            alone = min(int(c) * routing.whole / Fraction(x) for c, x in zip(capacity, load, strict=True) if x)
            assert found.fits() >= alone * (1 - Fraction(1, 10**4)), seed
        whole = found.whole()
        assert sum(whole) == FINE and all(abs(w - x * FINE) <= len(whole) for w, x in zip(whole, found.shares, strict=True))
        parts = [Fraction(w, FINE * c.whole) for w, c in zip(whole, found.columns, strict=True)]
        exact = [sum(part * int(c.load[arc]) for part, c in zip(parts, found.columns, strict=True)) for arc in arcs]
        some = list(arcs)[:: 1 + seed % 2]
        load, by = found.loads(column(some))
        assert [Fraction(x, by) for x in load.tolist()] == [exact[arc] for arc in some]
        assert found.fits() == min(int(capacity[arc]) / exact[arc] for arc in arcs if exact[arc])
        wanted: Counter[tuple[int, int]] = Counter()
        for part, c in zip(parts, found.columns, strict=True):
            assert c.flow is not None
            for s, arc, x in zip(*(y.tolist() for y in c.flow), strict=True):
                wanted[s, arc] += part * x
        flows = found.flows()
        assert flows is not None and {(s, arc): x for s, mine in flows.items() for arc, x in mine.items()} == wanted


def test_the_fullest_arc_of_almost_equal_ones() -> None:
    """Floats say which arcs are near the fullest; the least of these is exact."""
    found = Combination(column([10**6, 10**6, 10**6]))
    found.add(FullRouting(column([10**9 - 2000, 10**9 - 1, 10**9 + 1]), 7, None))
    assert found.fits() == Fraction(7 * 10**6, 10**9 + 1)
    for use, most in (([1, 1 - 0.9e-4, 1 - 1.2e-4], 10**9 - 1), ([1, 1 - 1.2e-4, 1 - 1.2e-4], 10**9 - 2000)):
        found.use = np.array(use)
        assert found.fits() == Fraction(7 * 10**6, most)


def node_demands(demands: Demands) -> NodeDemands:
    return NodeDemands.of(*columns((s, t, x) for (s, t), x in demands.items()))


def test_a_host_between_all_others_is_no_hub() -> None:
    """It forwards nothing; the switch beside it is the only hub."""
    net = Network.both_ways(np.arange(4) > 2, *columns([(0, 2, 1), (1, 2, 1), (0, 3, 1), (1, 3, 1)]))
    found = route_over_hubs(net, node_demands({(0, 1): 1}))
    assert found is not None and found.hubs is not None and found.hubs[0].tolist() == [3]


@pytest.mark.parametrize("last", [(3, 1), (1, 3)])
def test_a_hub_is_reached_by_all_that_send_or_receive(last: tuple[int, int]) -> None:
    """The last host has a link to the first switch alone, and asks for one; the host at the other switch asks for nothing."""
    links = [(0, 5, 1), (1, 4, 1), (1, 5, 1), (2, 4, 1), (2, 5, 1), (3, 4, 1)]
    net = Network.both_ways(np.arange(6) > 3, *columns(links))
    found = route_over_hubs(net, node_demands({(1, 2): 3, last: 1}))
    assert found is not None and found.hubs is not None and found.hubs[0].tolist() == [4]


def test_hubs_of_amounts_beyond_one_word() -> None:
    net = Network.both_ways(np.arange(4) > 2, *columns([(0, 3, 1), (1, 3, 1), (2, 3, 1)]))
    pairs = [(s, t) for s in range(3) for t in range(3) if s != t]
    assert route_over_hubs(net, node_demands({pair: (1 << 60) + i for i, pair in enumerate(pairs)})) is None
    assert route_over_hubs(net, node_demands(dict.fromkeys(pairs, 1 << 50))) is not None


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
