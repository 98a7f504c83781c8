"""A lower bound on uniform all-to-all in networks of groups that are joined each to each (dragonflies and the
like).

What one group sends to another takes the links between the two, in parts as they have capacity. Within a
group every switch sends to those with such links, gets from them, and exchanges with the others of its own
group, along shortest paths. Loads are whole numbers, rounded up, so the least of capacity over load is a rate
λ that every ordered pair of units has at once; it takes no more work than the links, however many pairs there
are. Source of the routing: Kim, Dally, Scott, Abts, "Technology-driven, highly-scalable dragonfly topology"
(ISCA 2008), minimal routing.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove.block_cuts import group_labels
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import CapacityPairs, Network


def group_rate(net: Network, fabric: Fabric, budget: Budget = DEFAULT) -> Fraction:
    """λ in grains for every ordered pair of units by the best of the design's ways to form groups; 0 where
    there is none."""
    if not len(net.transit) or len(net.loose.a) or not len(net.trunks.a) or not net.injection.all():
        return Fraction(0)
    return max(
        (_rate_between_groups(net, label, budget) for label in group_labels(fabric, net.transit)),
        default=Fraction(0),
    )


def _rate_between_groups(net: Network, label: Ints, budget: Budget) -> Fraction:
    count = int(label.max()) + 1
    whole = lcm(*np.unique(net.injection).tolist())
    if not 1 < count <= budget.routed_groups or whole > budget.group_parts or len(net.units) * whole > 2**31:
        return Fraction(0)
    weight = np.zeros(
        len(net.transit), dtype=np.int64
    )  # units at every switch, by the parts that they send there
    np.add.at(weight, net.access.b, net.access.capacity * (whole // net.injection[net.access.a]))
    total = np.zeros(count, dtype=np.int64)
    np.add.at(total, label, weight)
    trunks = net.trunks
    outside = label[trunks.a] != label[trunks.b]
    far = trunks.where(outside)
    key = np.minimum(label[far.a], label[far.b]) * count + np.maximum(label[far.a], label[far.b])
    pairs, at = np.unique(key, return_inverse=True)
    used = np.flatnonzero(total)
    if not len(far.a):
        return Fraction(0)  # what failed has left no link between groups
    if not np.isin((used[:, None] * count + used)[np.triu_indices(len(used), 1)], pairs).all():
        return Fraction(0)  # some two groups have no link of their own
    between = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(between, at, far.capacity)
    demand = total[pairs // count] * total[pairs % count]
    best = _least_capacity_over_load(between, demand)
    parts = lcm(*np.unique(between).tolist())
    parts = parts if parts <= 5040 else 5040
    if int(far.capacity.max()) * int(total.max()) * parts >= 2**62:
        return Fraction(0)
    through = np.zeros(
        len(net.transit), dtype=np.int64
    )  # what leaves a switch for other groups when every unit sends to all
    for here, there in ((far.a, far.b), (far.b, far.a)):
        np.add.at(through, here, -(-far.capacity * total[label[there]] * parts // between[at]))
    local = _ratios_within_groups(trunks.where(~outside), label, weight, through, parts, budget.group_work)
    if local is None:
        return Fraction(0)
    access = Fraction(int(net.injection.min()), len(net.units))
    return min([access, *(rate * whole * whole for rate in (*best, *local))])


def _least_capacity_over_load(capacity: Ints, load: Ints) -> list[Fraction]:
    """The least of capacity over load, exactly; nothing where nothing is loaded."""
    some = np.flatnonzero(load)
    if not len(some):
        return []
    ratio = capacity[some] / load[some]
    near = ratio <= ratio.min() * (1 + 1e-9)  # the exact least is among these
    pairs = set(zip(capacity[some[near]].tolist(), load[some[near]].tolist(), strict=True))
    return [min(Fraction(*pair) for pair in pairs)]


def _ratios_within_groups(
    links: CapacityPairs, label: Ints, weight: Ints, through: Ints, parts: int, work: int
) -> list[Fraction] | None:
    """The least of capacity over load of the links within every group; None where some switch does not reach
    another of its group, or that is too much work."""
    size = np.bincount(label)
    order = np.argsort(label, kind="stable")
    start = np.append(0, np.cumsum(size))
    owner = np.argsort(label[links.a], kind="stable")
    first = np.searchsorted(label[links.a][owner], np.arange(len(size) + 1))
    out = []
    for at in range(len(size)):
        nodes = order[start[at] : start[at + 1]]
        mine = owner[first[at] : first[at + 1]]
        capacity = np.zeros((len(nodes), len(nodes)), dtype=np.int64)
        a, b = (np.searchsorted(nodes, x[mine]) for x in (links.a, links.b))
        capacity[a, b] = capacity[b, a] = links.capacity[mine]
        w, x = weight[nodes].astype(object), through[nodes].astype(object)
        demand = np.multiply.outer(w, x) + np.multiply.outer(x, w) + np.multiply.outer(w, w) * parts
        np.fill_diagonal(demand, 0)
        if int(demand.max(initial=0)) * len(nodes) ** 2 >= 2**62:
            return None
        amount = demand.astype(np.int64)
        if (capacity[amount > 0] == 0).any():
            work -= len(nodes) * len(mine)
            if work < 0:
                return None
            spread = _loads_within_group(capacity, amount)
            if spread is None:
                return None
            amount = spread
        out += _least_capacity_over_load(capacity.ravel(), amount.ravel())
    return [rate * parts for rate in out]


def _loads_within_group(capacity: Ints, demand: Ints) -> Ints | None:
    """Loads of the links of one group, along shortest paths divided as links have capacity, each part rounded
    up; None where something is not reached."""
    count = len(capacity)
    far = np.where(capacity > 0, 1, count)
    np.fill_diagonal(far, 0)
    for v in range(count):
        far = np.minimum(far, far[:, v, None] + far[None, v])
    if (far[demand > 0] >= count).any():
        return None
    load = np.zeros((count, count), dtype=np.int64)
    for s in range(count):
        arriving = demand[s].copy()
        for v in sorted(np.flatnonzero(far[s] < count).tolist(), key=lambda v: -int(far[s, v])):
            if v == s or not arriving[v]:
                continue
            before = np.flatnonzero((capacity[:, v] > 0) & (far[s] == far[s, v] - 1))
            given = -(-int(arriving[v]) * capacity[before, v] // int(capacity[before, v].sum()))
            load[before, v] += given
            arriving[before] += given
    return load
