"""What the solver answers for small linear programs: feasible, and with prices that show it is the best."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linprog

from tdsl.prove.linear import least_fullest, path_parts, solve_multicommodity_flow
from tdsl.prove.network import Network

Demands = dict[int, dict[int, int]]


def distances(net: Network, source: int, price: Any) -> dict[int, float]:
    """Least prices of paths that only pass through what forwards."""
    g = nx.DiGraph()
    g.add_nodes_from(range(net.nodes))
    for v, w, x in zip(net.tail.tolist(), net.head.tolist(), price, strict=True):
        if (net.forwards[v] or v == source) and w != source:
            g.add_edge(v, w, weight=max(float(x), 0.0))
    return dict(nx.single_source_dijkstra_path_length(g, source))


@cache
def made(seed: int) -> tuple[Network, Demands]:
    """A connected network in which some nodes pass nothing on, and what some nodes send to others that they reach."""
    rng = Random(seed)
    nodes = rng.randint(3, 6)
    forwards = np.array([rng.random() < 0.7 for _ in range(nodes)])
    pairs = [(v - 1, v) for v in range(1, nodes)] + [tuple(rng.sample(range(nodes), 2)) for _ in range(rng.randint(1, 5))]
    a, b = (np.array(x) for x in zip(*pairs, strict=True))
    net = Network.both_ways(forwards, a, b, np.array([rng.randint(1, 7) for _ in pairs]))
    demands: Demands = {}
    for s in range(nodes):
        far = distances(net, s, [1.0] * net.arcs)
        for t in range(nodes):
            if s != t and t in far and rng.random() < 0.5:
                demands.setdefault(s, {})[t] = rng.randint(1, 9)
    return net, demands or {0: {1: 3}}


@pytest.mark.parametrize("steps", [10**6, 0])
def test_flows_of_many_sources(steps: int) -> None:
    """Each target gets the same share of its demand, no arc carries more than it can, and by the prices no more is possible. With
    no steps for the simplex method, too."""
    for seed in range(16):
        net, demands = made(seed)
        flows, price = solve_multicommodity_flow(net, demands, steps)
        assert len(flows) == len(demands) and all(len(x) == net.arcs for x in (*flows, price))
        scale = max(sum(x.values()) for x in demands.values())
        shares = []
        for (s, wanted), flow in zip(demands.items(), flows, strict=True):
            assert (flow > -1e-6).all()
            assert not flow[(net.head == s) | (~net.forwards[net.tail] & (net.tail != s))].any()
            gain = np.bincount(net.head, flow, net.nodes) - np.bincount(net.tail, flow, net.nodes)
            shares += [gain[t] * scale / amount for t, amount in wanted.items()]
            assert all(abs(gain[v]) < 1e-5 for v in range(net.nodes) if v != s and v not in wanted)
        rate = min(shares)
        assert rate > 0 and max(shares) < rate + 1e-4 * max(rate, 1), seed
        assert (sum(flows) <= net.capacity + 1e-5).all(), seed
        assert (price > -1e-6).all()
        spent = sum(amount / scale * distances(net, s, price)[t] for s, x in demands.items() for t, amount in x.items())
        assert abs(float(price @ net.capacity) - rate) < 1e-3 * rate and spent > 1 - 1e-3, seed


def test_combinations_that_fill_the_fullest_row_least() -> None:
    for seed in range(30):
        chance = np.random.default_rng(seed)
        use = np.round(chance.random((chance.integers(1, 6), chance.integers(1, 6))) * 9) * (1 + seed)
        use[0] += 1
        parts, price = least_fullest(use)
        assert (parts >= 0).all() and abs(parts.sum() - 1) < 1e-9 and len(parts) == use.shape[1]
        assert (price >= 0).all() and len(price) == len(use)
        rows, columns = use.shape
        least = np.hstack((use, -np.ones((rows, 1)))), np.zeros(rows), [[1.0] * columns + [0.0]], [1.0]
        value = float(linprog([0.0] * columns + [1.0], *least).fun)  # the least of the greatest entry, by another solver
        assert abs(float((use @ parts).max()) - value) < 1e-6 * value, seed
        assert abs(float(price.sum()) - 1) < 1e-6 and float((price @ use).min()) > value * (1 - 1e-6), seed


def paths(seed: int) -> tuple[Any, Any, Any, Any, int]:
    """Up to four pairs with one to three paths each, over up to seven arcs."""
    rng = Random(seed)
    rows = rng.randint(2, 7)
    pair, arcs, sizes, use = [], [], [], []
    for p in range(rng.randint(1, 4)):
        for _ in range(rng.randint(1, 3)):
            mine = rng.sample(range(rows), rng.randint(1, min(rows, 3)))
            pair.append(p)
            sizes.append(len(mine))
            arcs += mine
            use += [rng.choice([0.5, 1.0, 2.0, 3.0]) * 50 for _ in mine]
    return np.array(pair), np.array(arcs), np.array(sizes), np.array(use), rows


@pytest.mark.parametrize(("corner", "near"), [(True, 1e-6), (False, 2e-3)])
def test_parts_of_paths(corner: bool, near: float) -> None:
    """Those of a pair are one together, the fullest arc is as full as it says, and by the prices none can be less full."""
    for seed in range(24):
        pair, arcs, sizes, use, rows = paths(seed)
        parts, full, price = path_parts(pair, arcs, sizes, use, rows, corner)
        assert (parts >= 0).all() and (price >= 0).all() and (len(parts), len(price)) == (len(pair), rows)
        assert np.allclose(np.bincount(pair, parts), 1, atol=near)
        owner = np.repeat(np.arange(len(pair)), sizes)
        load = np.bincount(arcs, use * parts[owner], rows)
        assert abs(float(load.max()) - full) < near * full, seed
        cost = np.bincount(owner, use * price[arcs], len(pair))
        least = sum(float(cost[pair == p].min()) for p in range(int(pair.max()) + 1))
        assert abs(float(price.sum()) - 1) < near and least > full * (1 - 2 * near), seed
