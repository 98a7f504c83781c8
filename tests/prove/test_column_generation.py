"""Routes along paths that a linear program chooses, on small random networks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tdsl.prove.budget import DEFAULT
from tdsl.prove.column_generation import Along, route_along_paths
from tdsl.prove.network import Network
from tests.prove.networks import Demands, arrives, bound_by_lengths, columns, most_flow, random_network, reachable


def held(found: Along, net: Network, demands: Demands, upper: Fraction) -> None:
    """That the routes carry all demands, fit as often as they say, and that lengths show the upper bound."""
    load = [Fraction(0)] * net.arcs
    mine: dict[int, dict[int, Fraction]] = {s: {} for s, _ in demands}
    for s, arc, x in zip(found.source.tolist(), found.arc.tolist(), found.amount.tolist(), strict=True):
        load[arc] += Fraction(x, found.whole)
        mine[s][arc] = mine[s].get(arc, Fraction(0)) + Fraction(x, found.whole)
    for s, flow in mine.items():
        assert arrives(flow, net, {pair: x for pair, x in demands.items() if pair[0] == s})
    assert found.lower == min(int(c) / x for c, x in zip(net.capacity, load, strict=True) if x)
    if len(found.lengths):
        assert found.upper == bound_by_lengths(found.lengths.tolist(), net, demands) < upper
    else:
        assert found.upper == upper


def test_bounds_along_paths_are_the_optimum() -> None:
    """Lower and upper bound are within a thousandth of the linear program over single arcs, and most of them equal; after few
    rounds what was found is kept."""
    few = replace(DEFAULT, path_program_first_rounds=1, path_program_rounds=1)
    equal = total = 0
    for seed in range(12):
        net, demands = random_network(seed, directed=seed % 2 == 0)
        if not reachable(net, demands):
            continue
        demand = columns((s, t, x) for (s, t), x in demands.items())
        exact = most_flow(net, demands)
        for top in (Fraction(1000), Fraction(exact).limit_denominator(10**6)):
            found = route_along_paths(net, demand, top)
            assert found is not None
            held(found, net, demands, top)
            assert exact * (1 - 1e-3) <= found.lower <= exact * (1 + 1e-9), seed
            assert exact * (1 - 1e-9) <= found.upper <= exact * (1 + 1e-3), seed
            equal, total = equal + (found.lower == found.upper), total + 1
        short = route_along_paths(net, demand, Fraction(1000), few)
        assert short is not None
        held(short, net, demands, Fraction(1000))
    assert equal > total * 0.9 > 5
