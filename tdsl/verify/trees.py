"""Routes along a few spanning trees: what a demand surely can have, where there are too many sources to route each by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.verify.components import components

TREES = 32
"""Trees of every component of what forwards, at most."""

WORK = 4_000_000
"""Demands that all trees of a component together may route, but for the first: some ten seconds."""


@dataclass(frozen=True, slots=True)
class Trees:
    """What is on every arc, in so many ``parts`` of the demands; ``above`` is the arc by which each tree reaches every node, -1
    at its root and where it does not come."""

    load: Ints
    parts: int
    above: tuple[Ints, ...]


def loads(nodes: int, tail: Ints, head: Ints, passes: Bools, demands: Mapping[tuple[int, int], int]) -> Trees | None:
    """What every arc carries, in so many parts of the demands, where each is divided alike over the trees that have both its
    ends; None if there is no path. Every arc ``tail → head`` has one back; nodes that do not pass end all paths.

    Trees are by breadth first from nodes far from those who send and receive, at even distances in their order.
    """
    source, target = np.array(list(demands), dtype=np.int64).T
    amount = np.array(list(demands.values()), dtype=object)
    order = np.lexsort((head, tail))
    back = np.empty_like(order)
    back[order] = np.lexsort((tail, head))  # the arc from head to tail
    start = np.searchsorted(tail[order], np.arange(nodes + 1))
    far = _levels(nodes, start, head[order], passes, np.unique(np.concatenate((source, target))))[0]
    inner = passes[tail] & passes[head]
    label = components(nodes, tail[inner], head[inner])
    grown: list[tuple[Ints, Ints]] = []
    most = min(TREES, max(1, WORK // len(demands)))
    for group in np.unique(label[passes]).tolist():
        members = np.flatnonzero(passes & (label == group))
        tops = members[far[members] == far[members].max()]
        for root in np.unique(tops[np.linspace(0, len(tops) - 1, most).astype(np.int64)]).tolist():
            level, by = _levels(nodes, start, head[order], passes, np.array([root]), len(grown))
            grown.append((level, np.where(by < 0, -1, order[by])))
    both = np.array([(level[source] >= 0) & (level[target] >= 0) for level, _ in grown]).reshape(len(grown), len(source))
    count = both.sum(axis=0)
    parts = lcm(*np.unique(np.maximum(count, 1)).tolist())
    load = np.zeros(len(tail), dtype=object)
    for i in np.flatnonzero(count == 0).tolist():  # nothing between them forwards: they have a link of their own, or none
        own = np.flatnonzero((tail == source[i]) & (head == target[i]))
        if not len(own):
            return None
        load[own[0]] += amount[i] * parts
    for (level, down), there in zip(grown, both, strict=True):
        _climb(level, down, back, tail, source[there], target[there], (amount * parts // np.maximum(count, 1))[there], load)
    return Trees(load, parts, tuple(down for _, down in grown))


def _levels(nodes: int, start: Ints, near: Ints, passes: Bools, roots: Ints, turn: int = 0) -> tuple[Ints, Ints]:
    """Links from the roots to every node, -1 where there is no path, and the place of the arc by which each is reached first;
    among several the ``turn``-th, so that trees differ."""
    level, by = np.full(nodes, -1), np.full(nodes, -1)
    level[roots] = 0
    front, depth = roots, 0
    while len(front):
        depth += 1
        open_to = front[passes[front]] if depth > 1 else front
        sizes = start[open_to + 1] - start[open_to]
        place = np.repeat(start[open_to] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        place = place[level[near[place]] < 0]
        place = np.roll(place, -(turn * len(place) // TREES))
        front, first = np.unique(near[place], return_index=True)
        level[front], by[front] = depth, place[first]
    return level, by


def _climb(level: Ints, down: Ints, back: Ints, tail: Ints, source: Ints, target: Ints, amount: Ints, load: Ints) -> None:
    """Add what goes from sources to targets on a tree: the deeper end of each climbs until both meet."""
    while len(source):
        up = level[source] >= level[target]
        arc = np.where(up, back[down[np.where(up, source, target)]], down[np.where(up, source, target)])
        np.add.at(load, arc, amount)
        source, target = np.where(up, tail[down[source]], source), np.where(up, target, tail[down[target]])
        apart = source != target
        source, target, amount = source[apart], target[apart], amount[apart]
