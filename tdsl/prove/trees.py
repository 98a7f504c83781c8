"""Routes along a few spanning trees: what a demand surely can have, where there are too many sources to route
each by itself."""

from __future__ import annotations

from collections.abc import Mapping
from math import lcm

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Trees:
    """What is on every arc, in so many ``parts`` of the demands; ``above`` is the arc by which each tree
    reaches every node, -1 at its root and where it does not come."""

    load: Ints
    parts: int
    above: tuple[Ints, ...]


def loads_along_trees(
    net: Network, demands: Mapping[tuple[int, int], int], budget: Budget = DEFAULT
) -> Trees | None:
    """What every arc carries, in so many parts of the demands, where each is divided evenly over the trees
    that have both its ends; None if there is no path. Every arc has one back; a node that does not forward
    ends all paths.

    Trees are by breadth first from nodes far from those who send and receive, at even distances in their
    order.
    """
    tail, head, back = net.tail, net.head, net.by_tail
    source, target = np.array(list(demands), dtype=np.int64).T
    amount = np.array(list(demands.values()), dtype=object)
    ends = np.unique(np.concatenate((source, target)))
    grown = _grow_trees(net, ends, budget.tree_rounds, budget.tree_work // len(demands))
    both = np.array(
        [(level[source] >= 0) & (level[target] >= 0) for level, _ in grown], dtype=np.bool_
    ).reshape(len(grown), len(source))
    count = both.sum(axis=0)
    parts = lcm(*np.unique(np.maximum(count, 1)).tolist())
    load = np.zeros(len(tail), dtype=object)
    for i in np.flatnonzero(
        count == 0
    ).tolist():  # nothing between them forwards: they have a link of their own, or none
        own = np.flatnonzero((tail == source[i]) & (head == target[i]))
        if not len(own):
            return None
        load[own[0]] += amount[i] * parts
    for (level, down), there in zip(grown, both, strict=True):
        _add_loads_on_tree(
            level,
            down,
            back,
            tail,
            source[there],
            target[there],
            (amount * parts // np.maximum(count, 1))[there],
            load,
        )
    return Trees(load, parts, tuple(down for _, down in grown))


def uniform_loads_along_trees(net: Network, weight: Ints, budget: Budget = DEFAULT) -> Trees | None:
    """The same where the units at every node, so many, ask as much of all those at others; None if there is
    no path, or the ends are in too many sets of components. What crosses an arc is counted by the sets that
    both its sides have."""
    nodes, ends, tail, back = net.nodes, np.flatnonzero(weight), net.tail, net.by_tail
    grown = _grow_trees(net, ends, budget.tree_rounds, budget.tree_work // nodes)
    there = np.array([level[ends] >= 0 for level, _ in grown]).reshape(len(grown), len(ends))
    kinds, kind = np.unique(there, axis=1, return_inverse=True)
    count = kinds.T.astype(np.int64) @ kinds.astype(np.int64)
    if len(count) > budget.tree_classes or not count.all():
        return None
    parts = lcm(*np.unique(count).tolist())
    each = (parts // count).astype(object)
    units = np.zeros((nodes, len(count)), dtype=np.int64)
    units[ends, kind.reshape(-1)] = weight[ends]
    load = np.zeros(len(tail), dtype=object)
    for (level, down), members in zip(grown, kinds, strict=True):
        below = np.where(members, units, 0)
        total = below.sum(axis=0)
        for depth in range(int(level.max()), 0, -1):
            mine = np.flatnonzero(level == depth)
            np.add.at(below, tail[down[mine]], below[mine])
            crossing = ((below[mine].astype(object) @ each) * (total - below[mine])).sum(axis=1)
            load[down[mine]] += crossing
            load[back[down[mine]]] += crossing
    return Trees(load, parts, tuple(down for _, down in grown))


def _grow_trees(net: Network, ends: Ints, rounds: int, work: int) -> list[tuple[Ints, Ints]]:
    """Trees of every component of what forwards: of every node its level and the arc by which it is reached,
    -1 if it is not."""
    nodes, tail, head, forwards, order = net.nodes, net.tail, net.head, net.forwards, net.by_tail
    start = np.searchsorted(tail[order], np.arange(nodes + 1))
    far = _levels_from_roots(nodes, start, head[order], forwards, ends)[0]
    inner = forwards[tail] & forwards[head]
    label = component_labels(nodes, tail[inner], head[inner])
    most = min(rounds, max(1, work))
    grown: list[tuple[Ints, Ints]] = []
    for group in np.unique(label[forwards]).tolist():
        members = np.flatnonzero(forwards & (label == group))
        tops = members[far[members] == far[members].max()]
        for root in np.unique(tops[np.linspace(0, len(tops) - 1, most).astype(np.int64)]).tolist():
            level, by = _levels_from_roots(
                nodes, start, head[order], forwards, np.array([root]), len(grown), rounds
            )
            if (by >= 0).any():  # else it is a switch without links
                grown.append((level, np.where(by < 0, -1, order[by])))
    return grown


def _levels_from_roots(
    nodes: int, start: Ints, near: Ints, forwards: Bools, roots: Ints, turn: int = 0, turns: int = 1
) -> tuple[Ints, Ints]:
    """Links from the roots to every node, -1 where there is no path, and the place of the arc by which each
    is reached first; among several another in each of so many ``turns``, so that trees differ."""
    level, by = np.full(nodes, -1), np.full(nodes, -1)
    level[roots] = 0
    front, depth = roots, 0
    while len(front):
        depth += 1
        open_to = front[forwards[front]] if depth > 1 else front
        sizes = start[open_to + 1] - start[open_to]
        place = np.repeat(start[open_to] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        place = place[level[near[place]] < 0]
        place = np.roll(place, -(turn * len(place) // turns))
        front, first = np.unique(near[place], return_index=True)
        level[front], by[front] = depth, place[first]
    return level, by


def _add_loads_on_tree(
    level: Ints, down: Ints, back: Ints, tail: Ints, source: Ints, target: Ints, amount: Ints, load: Ints
) -> None:
    """Add what goes from sources to targets on a tree: the deeper end of each climbs until both are at one
    node."""
    while len(source):
        up = level[source] >= level[target]
        arc = np.where(up, back[down[np.where(up, source, target)]], down[np.where(up, source, target)])
        np.add.at(load, arc, amount)
        source, target = np.where(up, tail[down[source]], source), np.where(up, target, tail[down[target]])
        apart = source != target
        source, target, amount = source[apart], target[apart], amount[apart]
