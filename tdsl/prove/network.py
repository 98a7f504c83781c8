"""The one type of network that proofs are about: nodes, and arcs with capacities.

Arcs are columns, ordered by head and then by tail, and there is at most one from a node to another: parallel links are one arc
with the sum of their capacities. So the arcs into a node are a slice, networks with the same arcs have the same columns, and a
column over arcs (loads, lengths, flows) means the same everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from tdsl.fabric.graph import Bools, Ints


@dataclass(eq=False)  # no slots: derived columns are kept once they are computed
class Network:
    """Arc i leads from node ``tail[i]`` to ``head[i]`` and carries ``capacity[i]`` (whole grains, or a number of links).

    ``forwards`` says of every node whether a path may pass through it; the others only send and receive. ``labels`` are columns
    that divide the nodes into groups of the design, whose cuts are worth a try.
    """

    tail: Ints
    head: Ints
    capacity: Ints
    forwards: Bools
    labels: tuple[Ints, ...] = ()

    @classmethod
    def of(cls, forwards: Bools, tail: Ints, head: Ints, capacity: Ints | None = None, labels: tuple[Ints, ...] = ()) -> Network:
        """Put arcs in order and add up parallel ones; a missing ``capacity`` is 1 each. Loops are left out."""
        nodes, apart = len(forwards), tail != head
        keys = head[apart] * nodes + tail[apart]
        if capacity is None:
            keys, total = counted(keys)
        else:
            keys, total = summed(keys, capacity[apart])
        size = max(nodes, 1)
        return cls(keys % size, keys // size, total, forwards, labels)

    @classmethod
    def both_ways(cls, forwards: Bools, a: Ints, b: Ints, capacity: Ints | None = None, labels: tuple[Ints, ...] = ()) -> Network:
        """Links between a and b, each an arc both ways with the same capacity."""
        twice = None if capacity is None else np.concatenate((capacity, capacity))
        return cls.of(forwards, np.concatenate((a, b)), np.concatenate((b, a)), twice, labels)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.forwards)

    @property
    def arcs(self) -> int:
        """Number of arcs."""
        return len(self.tail)

    @cached_property
    def start(self) -> Ints:
        """The arcs into node v are ``start[v]`` to ``start[v + 1]``."""
        return np.searchsorted(self.head, np.arange(self.nodes + 1))

    @cached_property
    def by_tail(self) -> Ints:
        """The arcs in order of their tail, then head."""
        return np.lexsort((self.head, self.tail))

    @cached_property
    def into(self) -> list[list[int]]:
        """The arcs into every node, as lists."""
        bounds = self.start.tolist()
        return [list(range(low, high)) for low, high in pairwise(bounds)]

    @cached_property
    def out(self) -> list[list[int]]:
        """The arcs out of every node, as lists."""
        bounds = np.searchsorted(self.tail[self.by_tail], np.arange(self.nodes + 1)).tolist()
        order = self.by_tail.tolist()
        return [order[low:high] for low, high in pairwise(bounds)]

    @cached_property
    def links(self) -> Ints:
        """Of a network with arcs both ways, one arc of every link, the one to its lower node: in order of both."""
        return np.flatnonzero(self.tail > self.head)

    @cached_property
    def link(self) -> Ints:
        """Of a network with arcs both ways, the link of every arc, numbered as ``links`` are."""
        out = np.empty(self.arcs, dtype=np.int64)
        out[self.links] = out[self.by_tail[self.links]] = np.arange(len(self.links))
        return out

    def neighbours(self, node: int) -> Ints:
        """Tails of the arcs into a node, ascending; of a network with arcs both ways all its neighbours."""
        return self.tail[self.start[node] : self.start[node + 1]]

    def turned(self) -> Network:
        """Every arc the other way; its arc i is the arc ``by_tail[i]`` of this network."""
        order = self.by_tail
        return Network(self.head[order], self.tail[order], self.capacity[order], self.forwards, self.labels)

    def divided(self) -> tuple[Network, Ints]:
        """The network in which paths need no rule: a node v that does not forward stays where arcs leave it, and arcs into it
        lead to node ``nodes + v``. And which of these arcs every arc there is."""
        head = np.where(self.forwards[self.head], self.head, self.head + self.nodes)
        order = np.argsort(head, kind="stable")
        every = np.ones(2 * self.nodes, dtype=np.bool_)
        return Network(self.tail[order], head[order], self.capacity[order], every), order

    def same_arcs(self, other: Network) -> bool:
        """Whether another network has the same arcs with the same capacities."""
        mine, theirs = (self.tail, self.head, self.capacity), (other.tail, other.head, other.capacity)
        return all(np.array_equal(x, y) for x, y in zip(mine, theirs, strict=True))

    def with_capacity(self, capacity: Ints) -> Network:
        """The same arcs with other capacities."""
        return replace(self, capacity=capacity)

    def contracted(self, place: Ints, nodes: int) -> Network:
        """The network with every node put in its place among ``nodes``; arcs inside one place are left out."""
        return Network.of(np.ones(nodes, dtype=np.bool_), place[self.tail], place[self.head], self.capacity)


def summed(keys: Ints, amount: Ints) -> tuple[Ints, Ints]:
    """Every key once, in order, and the sum of its amounts."""
    order = np.argsort(keys, kind="stable")
    keys, amount = keys[order], amount[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(amount, first) if len(first) else amount[:0]


def counted(keys: Ints) -> tuple[Ints, Ints]:
    """Every key once, in order, and how often it is there."""
    keys = np.sort(keys)
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.diff(np.append(first, len(keys)))


def names_of(names: Sequence[str], network: Network) -> list[tuple[str, str]]:
    """Both nodes of every arc by name."""
    return [(names[a], names[b]) for a, b in zip(network.tail.tolist(), network.head.tolist(), strict=True)]
