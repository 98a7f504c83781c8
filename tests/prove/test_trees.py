"""Routes along a few trees: all that is asked for arrives."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.budget import Budget
from tdsl.prove.network import Network
from tdsl.prove.trees import Trees, loads_along_trees, uniform_loads_along_trees
from tests.prove.networks import arrives, columns

BUDGETS = (Budget(), Budget(tree_rounds=3, tree_work=20), Budget(tree_rounds=1))


def drawn(seed: int) -> tuple[Network, Random]:
    """Arcs both ways between nodes, some of which do not forward."""
    rng = Random(seed)
    n = rng.randint(2, 9)
    arcs = [(rng.randrange(n), rng.randrange(n), rng.choice([1, 2, 7, 11])) for _ in range(rng.randint(n, 3 * n))]
    return Network.both_ways(np.array([rng.random() < 0.7 for _ in range(n)]), *columns(arcs)), rng


def joined(net: Network, s: int, t: int) -> bool:
    """Whether a path from one to the other passes only through what forwards."""
    ends = zip(net.tail.tolist(), net.head.tolist(), strict=True)
    return nx.has_path(nx.DiGraph([(s, s), (t, t), *((a, b) for a, b in ends if net.forwards[a] or a == s)]), s, t)


def carried(found: Trees, net: Network, demands: dict[tuple[int, int], int]) -> None:
    load = {arc: Fraction(int(x), found.parts) for arc, x in enumerate(found.load) if x}
    assert arrives(load, net, demands)


@pytest.mark.parametrize("budget", BUDGETS)
def test_demands_on_trees(budget: Budget) -> None:
    some = 0
    for seed in range(60):
        net, rng = drawn(seed)
        pairs = [(rng.randrange(net.nodes), rng.randrange(net.nodes)) for _ in range(rng.randint(1, 6))]
        demands = {(s, t): rng.randint(1, 9) for s, t in pairs if s != t} or {(0, 1): 1}
        found = loads_along_trees(net, demands, budget)
        assert (found is not None) == all(joined(net, s, t) for s, t in demands), seed
        if found is not None:
            carried(found, net, demands)
            some += 1
    assert some > 18


@pytest.mark.parametrize("budget", BUDGETS)
def test_everyone_on_trees(budget: Budget) -> None:
    """Units at the ends, some of them several at one: those at one node send each other nothing over the network."""
    some = 0
    for seed in range(60):
        net, rng = drawn(seed)
        weight = np.array([rng.choice([0, 1, 1, 3]) for _ in range(net.nodes)])
        ends = np.flatnonzero(weight).tolist()
        found = uniform_loads_along_trees(net, weight, budget) if ends else None
        if found is not None:
            carried(found, net, {(s, t): int(weight[s] * weight[t]) for s in ends for t in ends if s != t})
            some += 1
    assert some > 9
