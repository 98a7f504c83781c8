"""Symmetry of a graph of capacities: renamings of its nodes that map it onto itself, found by refinement and each verified.

Nodes get colours that renamings cannot change: what they are, then what is around them, until nothing more is told apart. A node
is singled out, then another, until all differ; the same with a first node of the same colour gives a renaming to try, which
counts only if it keeps weights and capacities of all links. Missing one makes more orbits, never a wrong answer. Source of
the search: McKay, "Practical graph isomorphism" (Congressus Numerantium 30, 1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.verify.folded import Folded

WORK = 150_000_000
"""Arcs that may be looked at in search of renamings: some seconds."""

MISSES = 12
"""Nodes that are tried in vain, one after the other, before a cell is left."""

Trace = list[bytes]


@dataclass(frozen=True, slots=True)
class Orbits:
    """Verified renamings (every node's image), and the classes that they make: the lowest node, or link, of each."""

    images: tuple[Ints, ...]
    node: Ints
    link: Ints


@dataclass(eq=False)
class _Search:
    g: Folded
    work: int = 0
    images: list[Ints] = field(default_factory=list)

    def refine(self, colour: Ints, like: Trace | None) -> tuple[Ints, Trace] | None:
        """Colours refined until they tell no more apart; None once they differ from those that ``like`` tells of."""
        arcs = self.g.arcs
        start, trace = np.flatnonzero(np.diff(arcs.head, prepend=-1)), []
        heads = arcs.head[start]
        count = int(colour.max()) + 1
        while True:
            self.work += len(arcs.head)
            around = np.zeros(self.g.nodes, dtype=np.uint64)
            if len(start):
                around[heads] = np.add.reduceat(_mixed(colour[arcs.tail], arcs.room), start)
            order = np.lexsort((around, colour))
            fresh = np.ones(len(order), dtype=np.bool_)
            fresh[1:] = (np.diff(colour[order]) != 0) | (around[order][1:] != around[order][:-1])
            rank = np.cumsum(fresh) - 1
            colour = np.empty_like(colour)
            colour[order] = rank
            trace.append(around[order][fresh].tobytes() + np.flatnonzero(fresh).tobytes())
            if like is not None and (len(trace) > len(like) or trace[-1] != like[len(trace) - 1]):
                return None
            if int(rank[-1]) + 1 == count:
                return colour, trace
            count = int(rank[-1]) + 1

    def singled(self, colour: Ints, node: int, like: Trace | None) -> tuple[Ints, Trace] | None:
        """Refined after one node is told from those of its colour."""
        out = colour * 2
        out[node] += 1
        return self.refine(_dense(out), like)

    def verified(self, image: Ints) -> bool:
        """Whether renaming keeps what nodes are and all links with their capacities."""
        g = self.g
        if not (np.array_equal(g.weight[image], g.weight) and np.array_equal(g.passes[image], g.passes)):
            return False
        if not np.array_equal(np.sort(image), np.arange(g.nodes)):
            return False
        return link_image(g, image) is not None


def _mixed(colour: Ints, room: Ints) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    x = colour.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + room.astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    out: np.ndarray[tuple[int], np.dtype[np.uint64]] = x ^ (x >> np.uint64(31))
    return out


def _dense(colour: Ints) -> Ints:
    out: Ints = np.unique(colour, return_inverse=True)[1].astype(np.int64)
    return out


def link_image(g: Folded, image: Ints) -> Ints | None:
    """Where every link goes if the nodes are renamed; None if one goes to what is no link, or one of another capacity."""
    key = g.a * g.nodes + g.b
    x, y = image[g.a], image[g.b]
    moved = np.minimum(x, y) * g.nodes + np.maximum(x, y)
    at = np.minimum(np.searchsorted(key, moved), max(len(key) - 1, 0))
    return at if np.array_equal(key[at], moved) and np.array_equal(g.room[at], g.room) else None


def classes(count: int, images: Sequence[Ints]) -> Ints:
    """For every thing the lowest that the images lead to."""
    label = np.arange(count)
    while True:
        before = label.copy()
        for image in images:
            low = np.minimum(label, label[image])
            np.minimum.at(low, image, label)
            label = np.minimum(low, label[low])
        if np.array_equal(before, label):
            return label


def orbits(g: Folded) -> Orbits:
    """Orbits of the nodes and links of a graph under the renamings that were found."""
    search = _Search(g)
    if len(g.a):
        _explore(search)
    links = [x for i in search.images if (x := link_image(g, i)) is not None]
    return Orbits(tuple(search.images), classes(g.nodes, search.images), classes(len(g.a), links))


def _explore(search: _Search) -> None:
    """Single out nodes one after the other; then, from the first choice on, what else of its colour could have been chosen."""
    g = search.g
    kind = np.lexsort((g.weight, g.passes))
    what = np.empty(g.nodes, dtype=np.int64)
    steps = (np.diff(g.weight[kind], prepend=-1) != 0) | (np.diff(g.passes[kind].astype(np.int64), prepend=-1) != 0)
    what[kind] = np.cumsum(steps) - 1
    found = search.refine(what, None)
    assert found is not None
    path: list[tuple[Ints, int, Trace]] = []  # the colours before, the node singled out, what refinement then told
    colour = found[0]
    while search.work < WORK // 4:
        node = _next(g, colour, bool(path))
        if node is None:
            break
        found = search.singled(colour, node, None)
        assert found is not None
        path.append((colour, node, found[1]))
        colour = found[0]
    else:
        return  # too large to tell everything apart
    last = np.argsort(colour)
    links = len(g.a) + 1
    for depth, (before, node, _) in enumerate(path):
        own: list[Ints] = []  # of those that keep the nodes singled out earlier
        misses = 0
        label = np.arange(g.nodes)
        for other in np.flatnonzero(before == before[node]).tolist():
            if label[other] == label[node]:
                continue
            image = _image(search, path, depth, other, last)
            if image is None:
                misses += 1
                if misses == MISSES or search.work > WORK:
                    break
                continue
            misses = 0
            own.append(image)
            label = classes(g.nodes, own)
        search.images += own
        joined = [x for i in search.images if (x := link_image(g, i)) is not None]
        left = len(np.unique(classes(len(g.a), joined)))
        if search.work > WORK or (depth and left == links):
            break
        links = left


def _next(g: Folded, colour: Ints, later: bool) -> int | None:
    """First node of the cell to divide: at first the largest of units, then the largest; None if all nodes differ."""
    size = np.bincount(colour)
    if not later and (size[colour[g.weight > 0]] > 1).any():
        size[np.setdiff1d(colour, colour[g.weight > 0])] = 0
    if int(size.max()) < 2:
        return None
    return int(np.flatnonzero(colour == int(size.argmax()))[0])


def _image(search: _Search, path: list[tuple[Ints, int, Trace]], depth: int, other: int, last: Ints) -> Ints | None:
    """The renaming that leaves the first ``depth`` nodes singled out and takes the next to another; None if there is none
    this way."""
    colour, node, trace = path[depth]
    found = search.singled(colour, other, trace)
    for colours, node, trace in path[depth + 1 :]:
        if found is None:
            return None
        same = np.flatnonzero(found[0] == colours[node])
        found = search.singled(found[0], int(same[0]), trace)
    if found is None:
        return None
    image = np.empty(len(last), dtype=np.int64)
    image[last] = np.argsort(found[0])
    return image if search.verified(image) else None
