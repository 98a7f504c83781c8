"""The one type of network that proofs are about: nodes, and arcs with capacities.

Arcs are columns, ordered by head and then by tail, and there is at most one from a node to another: parallel
links are one arc with the sum of their capacities. So the arcs into a node are a slice, networks with the
same arcs have the same columns, and a column over arcs (loads, lengths, flows) means the same everywhere.

Networks between units (hosts, chips) have the units as their first nodes, then the *transit* nodes: what
forwards for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import gcd
from typing import Any

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CapacityPairs:
    """Capacity between two numbered things, each pair once, in grains each way."""

    a: Ints
    b: Ints
    capacity: Ints

    @classmethod
    def of(cls, a: Ints, b: Ints, capacity: Ints) -> CapacityPairs:
        """Parallel links added up."""
        width = int(b.max(initial=0)) + 1
        keys, total = sum_by_key(a * width + b, capacity)
        return cls(keys // width, keys % width, total)

    def where(self, kept: Bools) -> CapacityPairs:
        """Some of the pairs."""
        return CapacityPairs(self.a[kept], self.b[kept], self.capacity[kept])


def _no_devices() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(eq=False)  # no slots: derived columns are kept once they are computed
class Network:
    """Arc i leads from node ``tail[i]`` to ``head[i]`` and carries ``capacity[i]`` (whole grains, or a number
    of links).

    ``forwards`` says of every node whether a path may pass through it; the others only send and receive.
    ``labels`` are columns that divide the nodes into groups of the design, whose cuts are worth a try.

    Of a network between units, ``device`` is the row of every node in the fabric's devices, the first
    ``unit_count`` nodes are the units, and ``rates`` are the different rates of its links in bit/s,
    ascending; its arcs lead both ways.
    """

    tail: Ints
    head: Ints
    capacity: Ints
    forwards: Bools
    labels: tuple[Ints, ...] = ()
    device: Ints = field(default_factory=_no_devices)
    unit_count: int = 0
    rates: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        forwards: Bools,
        tail: Ints,
        head: Ints,
        capacity: Ints | None = None,
        labels: tuple[Ints, ...] = (),
    ) -> Network:
        """Put arcs in order and add up parallel ones; a missing ``capacity`` is 1 each. Loops are left
        out."""
        nodes, apart = len(forwards), tail != head
        keys = head[apart] * nodes + tail[apart]
        if capacity is None:
            keys, total = count_by_key(keys)
        else:
            keys, total = sum_by_key(keys, capacity[apart])
        size = max(nodes, 1)
        return cls(keys % size, keys // size, total, forwards, labels)

    @classmethod
    def both_ways(
        cls, forwards: Bools, a: Ints, b: Ints, capacity: Ints | None = None, labels: tuple[Ints, ...] = ()
    ) -> Network:
        """Links between a and b, each an arc both ways with the same capacity."""
        nodes, apart = max(len(forwards), 1), a != b
        keys = np.minimum(a, b)[
            apart
        ]  # parallel links are added up first, so that half as many rows are put in order
        keys *= nodes
        keys += np.maximum(a, b)[apart]
        keys, total = count_by_key(keys) if capacity is None else sum_by_key(keys, capacity[apart])
        low, high = keys // nodes, keys % nodes
        return cls.of(forwards, np.append(low, high), np.append(high, low), np.append(total, total), labels)

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
    def unit(self) -> int:
        """The greatest common divisor of the capacities, 1 if all are 0."""
        return int(np.gcd.reduce(self.capacity)) or 1

    @cached_property
    def balanced(self) -> bool:
        """Whether every node gets as much as it gives, as where each arc has an opposite of its own
        capacity."""
        gain = np.zeros(self.nodes, dtype=np.int64)
        np.add.at(gain, self.head, self.capacity)
        np.subtract.at(gain, self.tail, self.capacity)
        return not gain.any()

    @cached_property
    def matrix(self) -> Any:
        """The arcs for scipy: rows are heads, columns tails, values capacities in units of ``unit``, at most
        2^30 - 1. Arcs are ordered by head, so what scipy takes them for is the network with every arc the
        other way."""
        from scipy.sparse import csr_array

        values = np.minimum(self.capacity // self.unit, (1 << 30) - 1).astype(np.int32)
        return csr_array(
            (values, self.tail.astype(np.int32), self.start.astype(np.int32)), shape=(self.nodes, self.nodes)
        )

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
    def lists(self) -> tuple[list[int], list[bool]]:
        """The head of every arc and whether each node forwards, as lists that a search in Python reads."""
        return self.head.tolist(), self.forwards.tolist()

    @cached_property
    def out(self) -> list[list[int]]:
        """The arcs out of every node, as lists."""
        bounds = np.searchsorted(self.tail[self.by_tail], np.arange(self.nodes + 1)).tolist()
        order = self.by_tail.tolist()
        return [order[low:high] for low, high in pairwise(bounds)]

    @cached_property
    def links(self) -> Ints:
        """Of a network with arcs both ways, one arc of every link, the one to its lower node: in order of
        both."""
        return np.flatnonzero(self.tail > self.head)

    @cached_property
    def link(self) -> Ints:
        """Of a network with arcs both ways, the link of every arc, numbered as ``links`` are."""
        out = np.empty(self.arcs, dtype=np.int64)
        out[self.links] = out[self.by_tail[self.links]] = np.arange(len(self.links))
        return out

    @property
    def units(self) -> Ints:
        """Device rows of the units."""
        return self.device[: self.unit_count]

    @property
    def transit(self) -> Ints:
        """Device rows of the nodes that forward and are no units."""
        return self.device[self.unit_count :]

    @property
    def grain(self) -> int:
        """What one of ``capacity`` is in bit/s: the greatest common divisor of all rates, so that every cut
        is a whole number."""
        return gcd(*self.rates) or 1

    @property
    def half(self) -> int:
        """Units on the smaller side of a balanced split."""
        return self.unit_count // 2

    @cached_property
    def access(self) -> CapacityPairs:
        """Links between units (``a``, places in ``units``) and transit nodes (``b``, places in ``transit``),
        ascending."""
        return self._pairs((self.head < self.unit_count) & (self.tail >= self.unit_count), 0, self.unit_count)

    @cached_property
    def trunks(self) -> CapacityPairs:
        """Links between transit nodes, places in ``transit``, ascending."""
        return self._pairs(
            (self.head >= self.unit_count) & (self.head < self.tail), self.unit_count, self.unit_count
        )

    @cached_property
    def loose(self) -> CapacityPairs:
        """Links between units (chips of a direct fabric), places in ``units``, ascending."""
        return self._pairs((self.tail < self.unit_count) & (self.head < self.tail), 0, 0)

    def _pairs(self, kept: Bools, a: int, b: int) -> CapacityPairs:
        return CapacityPairs(self.head[kept] - a, self.tail[kept] - b, self.capacity[kept])

    @cached_property
    def injection(self) -> Ints:
        """What every unit can send at once, in grains."""
        out = np.zeros(self.nodes, dtype=np.int64)
        np.add.at(out, self.tail, self.capacity)
        return out[: self.unit_count]

    @property
    def full(self) -> Fraction:
        """The most that the smaller of two halves can send, however the units are divided: at most half of
        all, and at most what the units send that send most."""
        sent = np.sort(self.injection)
        return min(Fraction(int(sent[len(sent) - self.half :].sum())), Fraction(int(sent.sum()), 2))

    @property
    def every_half_can_send(self) -> bool:
        """Whether no half of the units is without links altogether."""
        return bool(np.sort(self.injection)[: self.half].any())

    def sent_by_smaller_side(self, units: Bools) -> int:
        """What the side of a split that sends less can send, in grains; ``units`` are those of one side."""
        return min(int(self.injection[units].sum()), int(self.injection[~units].sum()))

    @cached_property
    def tier(self) -> Ints:
        """Links from the nearest unit to every transit node, -1 where no unit is reached."""
        out = np.full(len(self.transit), -1, dtype=np.int64)
        out[self.access.b] = 1
        level = 1
        while True:
            a, b = self.trunks.a, self.trunks.b
            fresh = np.append(b[(out[a] == level) & (out[b] < 0)], a[(out[b] == level) & (out[a] < 0)])
            if not len(fresh):
                return out
            level += 1
            out[fresh] = level

    def joined(self, more: CapacityPairs) -> Network:
        """A network between units with more links between its transit nodes."""
        a, b = more.a + self.unit_count, more.b + self.unit_count
        tail, head = np.concatenate((self.tail, a, b)), np.concatenate((self.head, b, a))
        made = Network.of(
            self.forwards,
            tail,
            head,
            np.concatenate((self.capacity, more.capacity, more.capacity)),
            self.labels,
        )
        return replace(made, device=self.device, unit_count=self.unit_count, rates=self.rates)

    def neighbours(self, node: int) -> Ints:
        """Tails of the arcs into a node, ascending; of a network with arcs both ways all its neighbours."""
        return self.tail[self.start[node] : self.start[node + 1]]

    def turned(self) -> Network:
        """Every arc the other way; its arc i is the arc ``by_tail[i]`` of this network."""
        order = self.by_tail
        return Network(self.head[order], self.tail[order], self.capacity[order], self.forwards, self.labels)

    def divided(self) -> tuple[Network, Ints]:
        """The network in which paths need no rule: a node v that does not forward stays where arcs leave it,
        and arcs into it lead to node ``nodes + v``. And which of these arcs every arc there is."""
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
        """The network with every node put in its place among ``nodes``; arcs inside one place are left
        out."""
        return Network.of(np.ones(nodes, dtype=np.bool_), place[self.tail], place[self.head], self.capacity)


def sum_by_key(keys: Ints, amount: Ints) -> tuple[Ints, Ints]:
    """Every key once, in order, and the sum of its amounts."""
    if len(amount) and bool((amount == amount[0]).all()):
        keys, times = count_by_key(keys)  # a sort of the keys alone is several times as fast
        return keys, times * amount[0]
    order = np.argsort(keys, kind="stable")
    keys, amount = keys[order], amount[order]
    first = _first_of_each_key(keys)
    return keys[first], np.add.reduceat(amount, first) if len(first) else amount[:0]


def count_by_key(keys: Ints) -> tuple[Ints, Ints]:
    """Every key once, in order, and how often it is there."""
    keys = np.sort(keys)
    first = _first_of_each_key(keys)
    return keys[first], np.diff(np.append(first, len(keys)))


def _first_of_each_key(keys: Ints) -> Ints:
    """The first place of each of the keys, which are in order."""
    fresh = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    return np.flatnonzero(fresh)


def arc_end_names(names: Sequence[str], network: Network) -> list[tuple[str, str]]:
    """Both nodes of every arc by name."""
    return [(names[a], names[b]) for a, b in zip(network.tail.tolist(), network.head.tolist(), strict=True)]
