"""Cuts that bound how much of a demand flows: what leaves a block of nodes over what its arcs carry out of
it.

λ ≤ capacity of a cut / the demand that crosses it (Ford and Fulkerson 1956). Blocks are every node, every
group of the design, what is joined below a tier, and every beginning of the nodes in the design's order and
in that of Fiedler's vector (Czechoslovak Math. J. 23, 1973).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.prove.budget import DEFAULT, Budget

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def group_labels(fabric: Fabric, devices: Ints) -> list[Ints]:
    """Labels of devices by the instance of the design's groups that contains them, outer groups first; what
    is in none is alone."""
    owner = fabric.device_set[devices]
    used = [fabric.sets[i] for i in np.unique(owner).tolist()]
    out = []
    for depth in range(1, max((len(s.parts) for s in used), default=1)):
        label = len(devices) + np.arange(len(devices))
        known: dict[tuple[str, ...], int] = {}
        for s in used:
            if len(s.parts) > depth:
                mine = owner == s.index
                inner = int(np.prod([a.size for p in s.parts[depth:] for a in p.axes] or [1]))
                first = known.setdefault(
                    tuple(p.name for p in s.parts[:depth]),
                    2 * len(devices) + fabric.device_count * len(known),
                )
                label[mine] = first + (devices[mine] - s.first) // inner
        out.append(np.unique(label, return_inverse=True)[1])
    return out


def least_block_cut(
    passes: Bools,
    arcs: tuple[Ints, Ints, Ints],
    demand: tuple[Ints, Ints, Ints],
    labels: Iterable[Ints],
    budget: Budget = DEFAULT,
) -> tuple[Fraction, Bools] | None:
    """The least bound of the blocks that hold together, as the rest does, and the arcs of its cut; None if
    there is none. Arcs are tail, head, capacity; a demand source, target, amount."""
    tail, head, _ = arcs
    size = len(passes)
    best: tuple[Fraction, Bools] | None = None
    ends = np.zeros(size, dtype=np.bool_)
    ends[demand[0]] = ends[demand[1]] = True
    kinds = (
        _least_of_blocks(label, arcs, demand)
        for label in (np.arange(size), *labels, *_components_by_distance(size, tail, head, ends))
    )
    sweeps = (
        _least_of_beginnings(order, arcs, demand)
        for order in (np.arange(size), _fiedler_order(size, arcs, budget))
    )
    for bound, inside in (*kinds, *sweeps):
        if (
            bound is not None
            and (best is None or bound < best[0])
            and _both_sides_connected(inside, passes, tail, head)
        ):
            best = bound, inside[tail] & ~inside[head]
    return best


def _both_sides_connected(inside: Bools, passes: Bools, tail: Ints, head: Ints) -> bool:
    """Whether both sides hold together by what forwards there, with links between: then a path crosses once
    at most, so that the distance by the cut's arcs is what the bound counts."""
    inner = passes[tail] & passes[head]
    within = inner & (inside[tail] == inside[head])
    label = component_labels(len(passes), tail[within], head[within])
    for side in (inside, ~inside):
        hubs = np.flatnonzero(side & passes)
        own = side[tail] & side[head]
        near = np.append(tail[own & passes[head]], head[own & passes[tail]])
        alone = np.setdiff1d(np.flatnonzero(side & ~passes), near)
        if int(side.sum()) > 1 and (not len(hubs) or (label[hubs] != label[hubs[0]]).any() or len(alone)):
            return False
    single = 1 in (int(inside.sum()), int((~inside).sum()))
    return single or bool((inner & inside[tail] & ~inside[head]).any())


def _components_by_distance(size: int, tail: Ints, head: Ints, ends: Bools) -> Iterator[Ints]:
    """What is joined without the nodes farther from the ends than some links."""
    level = np.where(ends, 0, -1)
    depth = 0
    while len(front := np.unique(head[(level[tail] == depth) & (level[head] < 0)])):
        if depth:
            low = (level[tail] <= depth) & (level[head] <= depth) & (level[tail] >= 0) & (level[head] >= 0)
            yield component_labels(size, tail[low], head[low])
        depth += 1
        level[front] = depth


def _least_of_blocks(
    label: Ints, arcs: tuple[Ints, Ints, Ints], demand: tuple[Ints, Ints, Ints]
) -> tuple[Fraction | None, Bools]:
    """The least of every block's way out and way in."""
    out: tuple[Fraction | None, Bools] = None, np.zeros(len(label), dtype=np.bool_)
    size = int(label.max()) + 1
    for way in (0, 1):
        sums: list[Floats] = []
        for side in (arcs, demand):
            crossing = label[side[0]] != label[side[1]]
            sums.append(
                np.bincount(label[side[way]][crossing], side[2][crossing].astype(np.float64), size).astype(
                    np.float64
                )
            )
        at = _index_of_least_ratio(*sums)
        if at >= 0:
            inside = (label == at) != bool(way)
            bound = block_capacity_per_demand(inside, arcs, demand)
            if out[0] is None or bound < out[0]:
                out = bound, inside
    return out


def _least_of_beginnings(
    order: Ints, arcs: tuple[Ints, Ints, Ints], demand: tuple[Ints, Ints, Ints]
) -> tuple[Fraction | None, Bools]:
    """The least of every beginning of an order, out and in."""
    size = len(order)
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    out: tuple[Fraction | None, Bools] = None, np.zeros(size, dtype=np.bool_)
    for way in (0, 1):
        sums = []
        for side in (arcs, demand):
            a, b = place[side[way]], place[side[1 - way]]
            over, amount = a < b, side[2].astype(np.float64)
            sums.append(
                np.cumsum(np.bincount(a[over], amount[over], size) - np.bincount(b[over], amount[over], size))
            )
        at = _index_of_least_ratio(*(np.where(np.abs(x) < 0.5, 0, x) for x in sums))
        if at >= 0:
            inside = (place <= at) != bool(way)
            bound = block_capacity_per_demand(inside, arcs, demand)
            if out[0] is None or bound < out[0]:
                out = bound, inside
    return out


def _index_of_least_ratio(capacity: Floats, wanted: Floats) -> int:
    """Where capacity over demand is least; -1 if nothing is wanted anywhere."""
    some = np.flatnonzero(wanted > 0)
    return int(some[np.argmin(capacity[some] / wanted[some])]) if len(some) else -1


def block_capacity_per_demand(
    inside: Bools, arcs: tuple[Ints, Ints, Ints], demand: tuple[Ints, Ints, Ints]
) -> Fraction:
    """Capacity out of a block over the demand that leaves it."""
    capacity, amount = (int(x[2][inside[x[0]] & ~inside[x[1]]].astype(object).sum()) for x in (arcs, demand))
    return Fraction(capacity, amount)


def _fiedler_order(size: int, arcs: tuple[Ints, Ints, Ints], budget: Budget) -> Ints:
    """Nodes in the order of the second eigenvector of the wiring, about: by a random walk that forgets its
    start."""
    tail, head, capacity = arcs
    weight = capacity.astype(np.float64)
    degree = np.maximum(np.bincount(head, weight, size), 1e-9)
    vector = np.cos(np.arange(size) * (np.pi / max(size, 1)))
    for _ in range(min(budget.order_rounds, budget.order_work // max(len(tail), 1))):
        vector = vector - (vector @ degree) / degree.sum()
        vector = (vector + np.bincount(head, weight * vector[tail], size) / degree) / 2
        vector /= max(float(np.abs(vector).max()), 1e-300)
    return np.argsort(np.round(vector, 9), kind="stable")
