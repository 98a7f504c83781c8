"""Bounds by the cuts of blocks of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tdsl.prove.block_cuts import block_capacity_per_demand, least_block_cut
from tdsl.prove.budget import DEFAULT
from tests.prove.networks import bound_by_lengths, columns, most_flow, random_network, reachable


def both_ways(links: Iterable[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b, c = columns(links)
    return np.append(a, b), np.append(b, a), np.append(c, c)


def test_amounts_beyond_doubles_are_added_up_exactly() -> None:
    arcs, demand = columns([(0, 1, 2**60 + 1), (0, 1, 2**60 + 1), (1, 0, 7)]), columns([(0, 1, 3), (1, 0, 2**62 - 1), (1, 0, 2)])
    assert block_capacity_per_demand(np.array([True, False]), arcs, demand) == Fraction(2**61 + 2, 3)
    assert block_capacity_per_demand(np.array([False, True]), arcs, demand) == Fraction(7, 2**62 + 1)


@pytest.mark.parametrize("budget", [DEFAULT, replace(DEFAULT, order_rounds=0)])
def test_what_is_joined_below_a_distance_is_a_block(budget: object) -> None:
    """Two pods of two leaves with two hosts each, in an order in which no beginning and no single node is a pod."""
    pods = [[0, 3, 4, 7, 9, 10, 13], [1, 2, 5, 6, 8, 11, 12]]
    links = [link for a, b, *hosts in pods for link in ((a, h, 9) if i % 2 else (b, h, 9) for i, h in enumerate(hosts))]
    links += [(a, b, 9) for a, b, *_ in pods] + [(leaf, 14, 1) for pod in pods for leaf in pod[:2]]
    demand = columns((x, y, 1) for x in pods[0][2:] for y in pods[1][2:])
    passes = np.isin(np.arange(15), [0, 3, 1, 2, 14])
    found = least_block_cut(passes, both_ways(links), demand, (), budget)  # type: ignore[arg-type]
    assert found is not None and found[0] == Fraction(2, 25)


@pytest.mark.parametrize("both", [True, False])
def test_no_cut_is_below_the_most_that_flows(both: bool) -> None:
    """And its arcs as lengths show the same bound, or less where arcs lead one way and a path may cross twice."""
    some = equal = 0
    for seed in range(80):
        net, demands = random_network(seed, directed=not both)
        if not reachable(net, demands):
            continue
        wanted = columns((s, t, x) for (s, t), x in demands.items())
        labels = [np.arange(net.nodes) // 2, np.arange(net.nodes) % 3]
        found = least_block_cut(net.forwards, (net.tail, net.head, net.capacity), wanted, labels)
        if found is None:
            continue
        best = most_flow(net, demands)
        assert float(found[0]) >= best * (1 - 1e-9), seed
        shown = bound_by_lengths(found[1].astype(np.int64).tolist(), net, demands)
        assert found[0] == shown if both else found[0] >= shown, seed
        some += 1
        equal += float(found[0]) < best * (1 + 1e-6)
    assert some > 25 and equal > some // 2
