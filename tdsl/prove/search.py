"""Breadth-first searches: distances, paths, and what is farthest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.network import Network

Words = NDArray[np.uint64]


def adjacency_network(nodes: int, a: Ints, b: Ints) -> Network:
    """The network of links (a[i], b[i]), each node forwarding; capacities are numbers of parallel links."""
    return Network.both_ways(np.ones(nodes, dtype=np.bool_), a, b)


_CHUNK = 4096
"""Sources that are spread at once: bounds memory to a few times links × 512 bytes."""


def eccentricities_of_sources(graph: Network, sources: Ints, targets: Bools) -> tuple[Ints, Bools]:
    """Breadth-first search from many sources at once, a bit a source.

    Gives, for every source, the distance to the farthest target that it reaches, and whether it reaches all.
    """
    if len(sources) == 1:
        far = hop_distances(graph, int(sources[0]))[targets]
        return np.array([far.max(initial=0)]), np.array([bool((far >= 0).all())])
    parts = [
        _eccentricities_of_chunk(graph, sources[low : low + _CHUNK], np.flatnonzero(targets))
        for low in range(0, len(sources), _CHUNK)
    ]
    if not parts:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _eccentricities_of_chunk(graph: Network, sources: Ints, targets: Ints) -> tuple[Ints, Bools]:
    count = len(sources)
    order = np.arange(count)
    word, bit = order // 64, np.uint64(1) << (order % 64).astype(np.uint64)
    reached = np.zeros((graph.nodes, (count + 63) // 64), dtype=np.uint64)
    np.bitwise_or.at(reached, (sources, word), bit)
    degree = np.diff(graph.start)
    falling = np.argsort(-degree, kind="stable")
    with_more = np.searchsorted(-degree[falling], -np.arange(degree.max(initial=0)))
    arcs = [graph.start[falling[:n]] + k for k, n in enumerate(with_more.tolist())]  # of every node the k-th
    far = np.zeros(count, dtype=np.int64)
    level = 0
    while arcs and len(targets):
        level += 1
        before = reached
        reached = before.copy()
        for kth in arcs:  # some times as fast as bitwise_or.reduceat over rows
            reached[falling[: len(kth)]] |= before[graph.tail[kth]]
        if np.array_equal(before, reached):
            break
        news = np.bitwise_or.reduce(reached[targets] & ~before[targets], axis=0)
        far[(news[word] & bit) != 0] = level
        if _have_reached_all(reached, targets, word, bit).all():
            break
    return far, _have_reached_all(reached, targets, word, bit)


def _have_reached_all(reached: Words, targets: Ints, word: Ints, bit: Words) -> Bools:
    """Which sources have reached all targets."""
    full = np.bitwise_and.reduce(reached[targets], axis=0)
    held: Bools = (full[word] & bit) != 0
    return held


def hop_distances(
    graph: Network, source: int, open_: Bools | None = None, passing: Bools | None = None
) -> Ints:
    """Links on a shortest path from one node to every other, -1 where there is none; only over arcs that are
    ``open_``, which are walked from head to tail, and beyond the source only through nodes that are
    ``passing``."""
    out = np.full(graph.nodes, -1, dtype=np.int64)
    place = np.empty(graph.nodes, dtype=np.int64)
    front = np.array([source], dtype=np.int64)
    out[source] = level = 0
    left = graph.nodes - 1
    while len(front) and left:
        level += 1
        first, count = graph.start[front], graph.start[front + 1] - graph.start[front]
        arcs = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
        near = graph.tail[arcs if open_ is None else arcs[open_[arcs]]]
        near = near[out[near] < 0]
        out[near] = level
        place[near] = order = np.arange(len(near))
        front = near[place[near] == order]  # each once
        left -= len(front)
        if passing is not None:
            front = front[passing[front]]
    return out


def nodes_of_shortest_path(graph: Network, source: int, target: int) -> list[int]:
    """Nodes of a shortest path, both ends included; empty if there is none."""
    before = np.full(graph.nodes, -1, dtype=np.int64)
    place = np.empty(graph.nodes, dtype=np.int64)
    before[source] = source
    front = np.array([source], dtype=np.int64)
    while len(front) and before[target] < 0:
        owner, near = _neighbours_of_front(graph, front)
        fresh = before[near] < 0
        owner, near = owner[fresh], near[fresh]
        order = np.arange(len(near))
        place[near[::-1]] = order[::-1]
        found = place[near] == order  # each once, by the first that has it
        front = near[found]
        before[front] = owner[found]
    if before[target] < 0:
        return []
    out = [target]
    while out[-1] != source:
        out.append(int(before[out[-1]]))
    return out[::-1]


def _neighbours_of_front(graph: Network, front: Ints) -> tuple[Ints, Ints]:
    """All neighbours of some nodes, in their order, and whose each is."""
    first, count = graph.start[front], graph.start[front + 1] - graph.start[front]
    arcs = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
    return np.repeat(front, count), graph.tail[arcs]


def first_names_and_more(names: Sequence[str], limit: int = 3) -> str:
    """``a, b, c and 61 more``: the first names and how many more."""
    if len(names) <= limit:
        return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1] if names else ""
    return f"{', '.join(names[:limit])} and {len(names) - limit} more"
