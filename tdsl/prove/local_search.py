"""Splits found by looking at the wiring: an order by the Fiedler vector, and moves of one switch at a time
that lower the cut.

Switches move with the units that are connected to them alone. Sources: Fiedler, "Algebraic connectivity of
graphs" (Czechoslovak Math. J. 23, 1973); Fiduccia and Mattheyses, "A linear-time heuristic for improving
network partitions" (DAC 1982); Glover, "Tabu search, part I" (ORSA J. Computing 1, 1989); Benlic and Hao,
"An effective multilevel memetic algorithm for balanced graph partitioning" (ICTAI 2010). Whatever is found is
only a candidate: its cut is counted again.
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
    """Nodes that move as one: ``of`` says in which each node is; weights, and what joins each two of them, in
    both directions by tail."""

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
        kept = of[g.a] != of[g.b]
        a, b = of[g.a[kept]], of[g.b[kept]]
        pair, which = np.unique(np.append(a * count + b, b * count + a), return_inverse=True)
        capacity = np.bincount(which, np.tile(g.capacity[kept], 2), len(pair)).astype(np.int64)
        tail, near = np.divmod(pair, max(count, 1))
        return cls(of, weight, np.searchsorted(tail, np.arange(count + 1)), near, capacity)

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


@dataclass(eq=False)
class _Split:
    """The side of each cluster, by how much more than the other side the one has of the weight, and what
    crosses."""

    side: Bools
    over: int
    value: int

    @classmethod
    def of(cls, c: _Clusters, side: Bools) -> _Split:
        tail = np.repeat(np.arange(len(side)), np.diff(c.start))
        across = int(c.capacity[side[tail] & ~side[c.near]].sum())
        return cls(side, 2 * int(c.weight[side].sum()) - int(c.weight.sum()), across)

    def is_same(self, other: _Split) -> bool:
        """Whether two splits divide the clusters in the same way, whichever side is called which."""
        apart = self.side != other.side
        return not apart.any() or bool(apart.all())

    def order(self) -> tuple[int, int]:
        """What is better is less: first how far it is from even, then what crosses."""
        return abs(self.over) // 2, self.value


def cuts_by_local_search(g: UnitGraph, starts: Sequence[Bools], budget: Budget = DEFAULT) -> Iterator[Cut]:
    """Cuts from splits of the units, from the Fiedler order and from places of chance (the same every time),
    the least first: each improved by one pass of moves, the best of them by walks that also lead uphill, and
    then by walks from where two of the best agree."""
    clusters = _Clusters.of_graph(g)
    left, found = budget.move_work, []
    for side in _starting_splits(g, clusters, starts, budget):
        found.append(
            _move_each_cluster_once(clusters, side, budget.move_patience) or _Split.of(clusters, side)
        )
        left -= len(side)
        if left < 0:
            break
    moves = min(2 * len(clusters.weight), budget.walk_moves)
    walks = budget.walk_work // (moves * len(clusters.weight) + 1)
    found.sort(key=_Split.order)
    best = [_walk(clusters, s, moves) for s in found[: min(budget.walk_starts, walks)]] or found[:1]
    random = np.random.PCG64(2)
    for _ in range(min(budget.walk_rounds, walks - len(best)) if len(best) > 1 else 0):
        best.sort(key=_Split.order)
        best = best[: budget.walk_starts]
        one = int(random.random_raw()) % len(best)
        other = (one + 1 + int(random.random_raw()) % (len(best) - 1)) % len(best)
        child = _walk(clusters, _where_both_agree(clusters, best[one].side, best[other].side, random), moves)
        if not any(s.is_same(child) for s in best):
            best.append(child)
    for split in sorted(best, key=_Split.order):
        yield _cut_of_clusters(g, clusters, split.side)


def _where_both_agree(c: _Clusters, one: Bools, other: Bools, random: np.random.PCG64) -> _Split:
    """A split with every cluster on its side in two splits, by chance where they differ (crossover of a
    memetic search)."""
    if 2 * int(c.weight[one != other].sum()) > int(c.weight.sum()):
        other = ~other
    chance = random.random_raw(len(one)).astype(np.float64) / 2.0**64
    place = np.where(one == other, np.where(one, -1.0, 2.0), chance)
    return _Split.of(c, _fill_half(c, np.argsort(place, kind="stable")))


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


def _move_each_cluster_once(c: _Clusters, side: Bools, patience: int) -> _Split | None:
    """The best split while every cluster is moved once, None if none is better than the first."""
    once = np.full(len(side), len(side), dtype=np.int64)
    return _best_on_way(c, _Split.of(c, side), once, patience)


def _walk(c: _Clusters, split: _Split, moves: int) -> _Split:
    """The best split among those after each of ``moves`` moves; a cluster that was moved stays for the next 5
    to 39 moves (tabu search)."""
    rests = 5 + (np.random.PCG64(1).random_raw(moves) % 35).astype(np.int64)
    return _best_on_way(c, split, rests, moves) or split


def _best_on_way(c: _Clusters, first: _Split, rests: Ints, patience: int) -> _Split | None:
    """The best split among those after each of a row of moves, None if none is better than the first. Each
    time the cluster is moved that lowers the cut most, of those that do not rest and keep the balance about;
    after the k-th move it rests for ``rests[k]`` moves. The row ends early after ``patience`` moves without a
    better split."""
    side, gain, value, over = first.side.copy(), c.gains(first.side), first.value, first.over
    light, most, twice = c.weight == 0, int(c.weight.max()), 2 * c.capacity
    lowest = np.iinfo(np.int64).min
    until = np.zeros(len(side), dtype=np.int64)
    moved: list[int] = []
    best, at = first.order(), 0
    for rest in rests.tolist():
        fits = until <= len(moved)
        if over:
            fits &= light | (side if over > 0 else ~side)
        v = int(np.where(fits, gain, lowest).argmax())
        if not fits[v]:
            fits = (until <= len(moved)) & (np.abs(over + np.where(side, -2, 2) * c.weight) <= 2 * most)
            v = int(np.where(fits, gain, lowest).argmax())
            if not fits[v]:
                break
        value -= int(gain[v])
        over += int(c.weight[v]) * (-2 if side[v] else 2)
        mine = slice(c.start[v], c.start[v + 1])
        near = c.near[mine]
        gain[near] += np.where(side[near] == side[v], twice[mine], -twice[mine])
        gain[v] = -gain[v]
        side[v] = not side[v]
        moved.append(v)
        until[v] = len(moved) + rest
        if (abs(over) // 2, value) < best:
            best, at = (abs(over) // 2, value), len(moved)
        if len(moved) - at > patience:
            break
    if not at:
        return None
    for v in moved[at:]:
        side[v] = not side[v]
    return _Split.of(c, side)


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
