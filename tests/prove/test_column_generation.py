"""Routes along paths that a linear program chooses, on small random networks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np

from tdsl.prove.budget import DEFAULT
from tdsl.prove.column_generation import Along, route_along_paths
from tdsl.prove.network import Network
from tests.prove.networks import most_flow, random_network, reachable, usable_arcs

Demand = tuple[np.ndarray, np.ndarray, np.ndarray]


def held(found: Along, net: Network, demands: dict[tuple[int, int], int], upper: Fraction) -> None:
    """That the routes carry all demands, fit as often as they say, and that lengths show the upper bound."""
    load = [Fraction(0)] * net.arcs
    gain: dict[tuple[int, int], Fraction] = {}
    for s, arc, x in zip(found.source.tolist(), found.arc.tolist(), found.amount.tolist(), strict=True):
        assert x > 0
        part = Fraction(x, found.whole)
        load[arc] += part
        gain[s, int(net.tail[arc])] = gain.get((s, int(net.tail[arc])), Fraction(0)) - part
        gain[s, int(net.head[arc])] = gain.get((s, int(net.head[arc])), Fraction(0)) + part
    for s in {s for s, _ in demands}:
        for v in range(net.nodes):
            if v != s:
                assert gain.get((s, v), 0) == demands.get((s, v), 0)
    assert found.lower == min(int(c) / x for c, x in zip(net.capacity, load, strict=True) if x)
    if len(found.lengths):
        spent = sum(
            x * nx.dijkstra_path_length(usable_arcs(net, s, found.lengths.tolist()), s, t, weight="length")
            for (s, t), x in demands.items()
        )
        assert found.upper == Fraction(int((net.capacity * found.lengths).sum()), spent) < upper
    else:
        assert found.upper == upper


def problem(seed: int) -> tuple[Network, Demand, dict[tuple[int, int], int]] | None:
    """A random_network in which all demands have a path; None for seeds that give none."""
    net, demands = random_network(seed, directed=seed % 2 == 0)
    if not reachable(net, demands):
        return None
    source, target = np.array(list(demands), dtype=np.int64).T
    return net, (source, target, np.array(list(demands.values()), dtype=np.int64)), demands


def test_bounds_along_paths_are_the_optimum() -> None:
    """Lower and upper bound are within a thousandth of the linear program over single arcs, and most of them equal."""
    equal = total = 0
    for seed in range(12):
        made = problem(seed)
        if made is None:
            continue
        net, demand, demands = made
        exact = most_flow(net, demands)
        for top in (Fraction(1000), Fraction(exact).limit_denominator(10**6)):
            found = route_along_paths(net, demand, top)
            assert found is not None
            held(found, net, demands, top)
            assert exact * (1 - 1e-3) <= found.lower <= exact * (1 + 1e-9), seed
            assert exact * (1 - 1e-9) <= found.upper <= exact * (1 + 1e-3), seed
            equal, total = equal + (found.lower == found.upper), total + 1
    assert equal > total * 0.9


def test_a_search_of_few_rounds_keeps_what_was_found() -> None:
    """Without rounds of the program there are no routes; with one there are."""
    made = problem(1) or problem(3)
    assert made is not None
    net, demand, demands = made
    few = replace(DEFAULT, path_program_first_rounds=1, path_program_rounds=1)
    found = route_along_paths(net, demand, Fraction(1000), few)
    assert found is not None
    held(found, net, demands, Fraction(1000))
