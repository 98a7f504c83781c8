"""A lower bound on bisection where ends forward: a rate that all pairs can have at once, over shortest paths.

If every chip sends λ to every other at once, ⌊N/2⌋·⌈N/2⌉·λ crosses any balanced split. Each source divides what it sends equally
among the last steps of its shortest paths; averaged over the symmetries that lead from every chip to every other, an
orbit of arcs carries what one source puts on it. Source: Leighton and Rao, "Multicommodity max-flow min-cut theorems" (J. ACM
46, 1999); for tori Dally and Towles, "Principles and practices of interconnection networks" (2004), chapter 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.verify.capacity import Capacities
from tdsl.verify.components import Adjacency, adjacency, distances
from tdsl.verify.translations import steps_of
from tdsl.verify.view import View

SOURCES = 64
"""Sources that are searched where no symmetry leads from one to all."""


def all_to_all(view: View, net: Capacities) -> int:
    """The bound in grains, rounded up; 0 where not all ends forward or some cannot be reached."""
    if not view.forwards[net.units].all():
        return 0
    n, pairs = len(net.units), (net.loose, net.access, net.trunks)
    shift = ((0, 0), (0, n), (n, n))
    a = np.concatenate([p.a + s[0] for p, s in zip(pairs, shift, strict=True)])
    b = np.concatenate([p.b + s[1] for p, s in zip(pairs, shift, strict=True)])
    room = np.concatenate([p.room for p in pairs])
    graph = adjacency(n + len(net.nodes), a, b)
    cap = _arc_rooms(graph, a, b, room)
    steps = None if len(net.nodes) else steps_of(view.fabric, graph, net.units)
    if steps is not None and all(np.array_equal(cap, cap[_arcs(graph, s)]) for s in steps):
        orbit, sources = _orbits(graph, steps), [0]
    elif n <= SOURCES:
        orbit, sources = np.arange(len(graph.near)), list(range(n))
    else:
        return 0
    rate = _rate(graph, cap, orbit, sources, n)
    return 0 if rate is None else -int(-rate * (n // 2) * (n - n // 2) // 1)


def _arc_rooms(graph: Adjacency, a: Ints, b: Ints, room: Ints) -> Ints:
    tail = np.repeat(np.arange(graph.nodes), np.diff(graph.start))
    keys = tail * graph.nodes + graph.near
    cap = np.zeros(len(keys), dtype=np.int64)
    for x, y in ((a, b), (b, a)):
        np.add.at(cap, np.searchsorted(keys, x * graph.nodes + y), room)
    return cap


def _arcs(graph: Adjacency, image: Ints) -> Ints:
    """Where every arc goes if the nodes are renamed."""
    tail = np.repeat(np.arange(graph.nodes), np.diff(graph.start))
    out: Ints = np.searchsorted(tail * graph.nodes + graph.near, image[tail] * graph.nodes + image[graph.near])
    return out


def _orbits(graph: Adjacency, steps: Sequence[Ints]) -> Ints:
    """A label for every arc: the lowest that the steps lead to."""
    label = np.arange(len(graph.near))
    images = [_arcs(graph, s) for s in steps]
    while True:
        before = label
        for image in images:
            label = np.minimum(label, label[image])
            label = label[label]
        if np.array_equal(before, label):
            return label


def _rate(graph: Adjacency, cap: Ints, orbit: Ints, sources: Sequence[int], units: int) -> Fraction | None:
    """The rate of every pair that fits: least, over orbits, of capacity over load. None if a pair has no path."""
    size = np.bincount(orbit, minlength=len(orbit))
    load: dict[int, Fraction] = {}
    for s in sources:
        found = _loads(graph, s, units)
        if found is None:
            return None
        for arc, amount in found.items():
            at = int(orbit[arc])
            load[at] = load.get(at, Fraction(0)) + amount
    times = units if len(sources) == 1 else 1
    fits = [int(cap[at]) * int(size[at]) / (amount * times) for at, amount in load.items()]
    return min(fits, default=None)


def _loads(graph: Adjacency, source: int, units: int) -> dict[int, Fraction] | None:
    """What one source puts on every arc when it sends one to every other unit, farthest nodes first."""
    far = distances(graph, source)
    if (far[:units] < 0).any():
        return None
    through = {v: Fraction(int(v < units and v != source)) for v in range(graph.nodes)}
    out: dict[int, Fraction] = {}
    start, near, level = graph.start.tolist(), graph.near.tolist(), far.tolist()
    keys = np.repeat(np.arange(graph.nodes), np.diff(graph.start)) * graph.nodes + graph.near
    for v in np.argsort(-far, kind="stable").tolist():
        if level[v] <= 0 or not through[v]:
            continue
        before = [w for w in near[start[v] : start[v + 1]] if level[w] == level[v] - 1]
        part = through[v] / len(before)
        for w, arc in zip(before, np.searchsorted(keys, np.array(before) * graph.nodes + v).tolist(), strict=True):
            out[arc] = out.get(arc, Fraction(0)) + part
            through[w] += part
    return out
