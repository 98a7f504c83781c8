"""Splits found by looking at the wiring: an order by the Fiedler vector, and moves of one switch at a time
that lower the cut.

Switches move with the units that are connected to them alone. Sources: Fiedler, "Algebraic connectivity of
graphs" (Czechoslovak Math. J. 23, 1973); Fiduccia and Mattheyses, "A linear-time heuristic for improving
network partitions" (DAC 1982). Whatever is found is only a candidate: its cut is counted again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.cuts import Cut, capacity_across_split
from tdsl.prove.unit_graph import UnitGraph
from tdsl.system.lazy_dataclass import dataclass

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(eq=False)
class _Clusters:
    """Nodes that move as one: ``of`` says in which each node is; weights, and links between them in both
    directions by tail."""

    of: Ints
    weight: Ints
    start: Ints
    near: Ints
    capacity: Ints

    @classmethod
    def of_graph(cls, g: UnitGraph) -> _Clusters:
        degree = np.bincount(g.a, minlength=g.nodes) + np.bincount(g.b, minlength=g.nodes)
        own = np.arange(g.nodes)
        for end, hub in ((g.a, g.b), (g.b, g.a)):
            lone = (degree[end] == 1) & ~g.forwards[end] & g.forwards[hub]
            own[end[lone]] = hub[lone]
        of = np.unique(own, return_inverse=True)[1].astype(np.int64)
        count = int(of.max(initial=-1)) + 1
        weight = np.bincount(of, g.weight, count).astype(np.int64)
        a, b = np.append(of[g.a], of[g.b]), np.append(of[g.b], of[g.a])
        capacity = np.tile(g.capacity, 2)
        kept = a != b
        order = np.argsort(a[kept], kind="stable")
        start = np.searchsorted(a[kept][order], np.arange(count + 1))
        return cls(of, weight, start, b[kept][order], capacity[kept][order])

    def gains(self, side: Bools) -> Ints:
        """How much less crosses if a cluster changes its side."""
        tail = np.repeat(np.arange(len(self.weight)), np.diff(self.start))
        out = np.zeros(len(self.weight), dtype=np.int64)
        np.add.at(out, tail, np.where(side[tail] == side[self.near], -self.capacity, self.capacity))
        return out

    def fiedler(self, rounds: int) -> Floats:
        """About the second eigenvector of the Laplacian, by powers of what is left of a multiple of the
        identity."""
        n = len(self.weight)
        tail = np.repeat(np.arange(n), np.diff(self.start))
        degree = np.bincount(tail, self.capacity, n)
        x = np.sin(np.arange(1, n + 1, dtype=np.float64) ** 2)
        for _ in range(rounds):
            x = x - x.mean()
            x = (2 * degree.max(initial=1) - degree) * x + np.bincount(tail, self.capacity * x[self.near], n)
            x /= max(np.abs(x).max(), 1e-300)
        out: Floats = np.round(x - x.mean(), 9)
        return out


def cuts_by_local_search(g: UnitGraph, starts: Sequence[Bools], budget: Budget = DEFAULT) -> Iterator[Cut]:
    """Cuts from splits of the units, from the Fiedler order and from places of chance (the same every time),
    each improved by moves as long as that helps."""
    clusters = _Clusters.of_graph(g)
    left = budget.move_work
    for side in _starting_splits(g, clusters, starts, budget):
        for _ in range(budget.move_rounds):
            better = _move_each_cluster_once(clusters, side)
            left -= len(side)
            if better is None:
                break
            side = better
        yield _cut_of_clusters(g, clusters, side)
        if left < 0:
            return


def _starting_splits(
    g: UnitGraph, clusters: _Clusters, starts: Sequence[Bools], budget: Budget
) -> Iterator[Bools]:
    for units in starts:
        ours = np.bincount(clusters.of[g.unit_node], units, len(clusters.weight))
        yield 2 * ours > clusters.weight
    yield _fill_half(clusters, np.argsort(clusters.fiedler(budget.move_order_rounds), kind="stable"))
    random = np.random.PCG64(1)
    for seed in random.random_raw(budget.move_random_starts).tolist():
        yield _fill_half(clusters, _breadth_first_order(clusters, int(seed) % len(clusters.weight)))


def _fill_half(clusters: _Clusters, order: Ints) -> Bools:
    """Clusters in this order until half the weight is reached."""
    total = np.cumsum(clusters.weight[order])
    side = np.zeros(len(order), dtype=np.bool_)
    side[order[2 * total - clusters.weight[order] < total[-1]]] = True
    return side


def _breadth_first_order(clusters: _Clusters, first: int) -> Ints:
    """Clusters in the order in which they are reached from one."""
    seen = dict.fromkeys([first])
    for v in (order := [first]):
        for w in clusters.near[clusters.start[v] : clusters.start[v + 1]].tolist():
            if w not in seen:
                seen[w] = None
                order.append(w)
    rest = np.setdiff1d(np.arange(len(clusters.weight)), np.array(order))
    return np.append(np.array(order, dtype=np.int64), rest)


def _move_each_cluster_once(c: _Clusters, side: Bools) -> Bools | None:
    """Every cluster moved once, the best first that keeps the balance about; the best state on the way if it
    is better."""
    side, gain = side.copy(), c.gains(side)
    total, most = int(c.weight.sum()), int(c.weight.max())
    ours = int(c.weight[side].sum())
    free = np.ones(len(side), dtype=np.bool_)
    moved: list[int] = []
    value = 0
    best, at = (abs(2 * ours - total) // 2, 0), 0
    low = -(2**60)
    while len(moved) < len(side):
        over = 2 * ours - total
        heavy = c.weight > 0
        fits = free & (~heavy | (side if over > 0 else ~side if over < 0 else heavy))
        if not fits.any():
            fits = free & (np.abs(over + np.where(side, -2, 2) * c.weight) <= 2 * most)
            if not fits.any():
                break
        v = int(np.where(fits, gain, low).argmax())
        value -= int(gain[v])
        ours += int(c.weight[v]) * (-1 if side[v] else 1)
        mine = slice(c.start[v], c.start[v + 1])
        near = c.near[mine]
        np.add.at(gain, near, np.where(side[near] == side[v], 2, -2) * c.capacity[mine])
        gain[v] = -gain[v]
        side[v] = not side[v]
        free[v] = False
        moved.append(v)
        state = (abs(2 * ours - total) // 2, value)
        if state < best:
            best, at = state, len(moved)
        if len(moved) - at > 400:
            break
    if not at:
        return None
    for v in moved[at:]:
        side[v] = not side[v]
    return side


def _cut_of_clusters(g: UnitGraph, clusters: _Clusters, side: Bools) -> Cut:
    """The cut of a split of clusters; where they do not come out even, some ends of one are on the other side
    alone."""
    nodes = side[clusters.of]
    units = nodes[g.unit_node]
    excess = int(units.sum()) - len(units) // 2
    if excess > 0 and excess > len(units) % 2:
        units = _move_lightest_units(g, units, True, excess - len(units) % 2)
    elif excess < 0:
        units = _move_lightest_units(g, units, False, -excess)
    inner = nodes[g.inner_node]
    return Cut(units, inner, capacity_across_split(g.net, units, inner))


def _move_lightest_units(g: UnitGraph, units: Bools, side: bool, count: int) -> Bools:
    """That many of one side moved to the other, those with the least capacity first."""
    mine = np.flatnonzero(units == side)
    chosen = mine[np.argsort(g.net.injection[mine], kind="stable")[:count]]
    out = units.copy()
    out[chosen] = not side
    return out
