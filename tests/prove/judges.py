"""Figures of small fabrics by brute force and by linear programs."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np

from tdsl.prove.budget import DEFAULT
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import claim
from tests.prove.networks import greatest_factor
from tests.verify import judges


def least_over_all_splits(f):
    """Exhaustive: every balanced split, a maximum flow each."""
    units, inner = judges.units(f), judges.forwarders(f)
    g = nx.DiGraph()
    for (a, b), rate in zip(judges.pairs(f), f.link_rate.tolist(), strict=True):
        if {a, b} <= inner | set(units) and a != b:
            for x, y in ((a, b), (b, a)):
                g.add_edge(x, y, capacity=g.get_edge_data(x, y, {"capacity": 0})["capacity"] + rate)
    values = []
    for side in combinations(units, len(units) // 2):
        h = g.copy()
        h.add_edges_from(("source", u) for u in side)
        h.add_edges_from((u, "sink") for u in units if u not in side)
        values.append(nx.maximum_flow_value(h, "source", "sink"))
    return min(values)


def most_throughput(f, demand):
    """The greatest factor by which demands between units flow together, over single links."""
    units, inner = View.whole(f).units.tolist(), judges.forwarders(f)
    nodes = {*units, *inner}
    arcs = [
        (x, y, rate)
        for (a, b), rate in zip(judges.pairs(f), f.link_rate.tolist(), strict=True)
        for x, y in ((a, b), (b, a))
        if x != y and {a, b} <= nodes
    ]
    rows = zip(demand.source.tolist(), demand.target.tolist(), demand.amount.tolist(), strict=True)
    return greatest_factor(arcs, inner, {(units[s], units[t]): w for s, t, w in rows})


def judged_throughput(f, *args, budget=DEFAULT, **given):
    asked = claim(f, "throughput", args=args, **given)
    return checks_by_name()["throughput"].judge(View.whole(f, budget), asked)


def random_demand(seed, count):
    rng = np.random.default_rng(seed)
    square = rng.integers(0, 4, size=(count, count)) * (rng.random((count, count)) < 0.6)
    np.fill_diagonal(square, 0)
    s, t = np.nonzero(square)
    return TrafficDemand(s, t, square[s, t]) if len(s) else TrafficDemand(np.array([0]), np.array([1]), np.array([1]))


def least_of_table(net):
    """The least of all sides of all units and nodes at once: a bit for each, a row for each choice, balanced ones only."""
    n, m = len(net.units), len(net.transit)
    sides = np.arange(1 << n + m - 1, dtype=np.int32)  # the last one is on the one side
    ours = sum((sides >> u) & 1 for u in range(n))
    sides = sides[abs(2 * ours - n) <= 1]
    value = np.zeros(len(sides), dtype=np.int64)
    for pairs, x, y in ((net.access, 0, n), (net.trunks, n, n), (net.loose, 0, 0)):
        for a, b, capacity in zip((pairs.a + x).tolist(), (pairs.b + y).tolist(), pairs.capacity.tolist(), strict=True):
            value += ((sides >> a ^ sides >> b) & 1) * capacity
    return int(value.min())
