"""A fabric's capacities as one graph in which ends that meet the same switches are one node.

Exchanging two such ends changes nothing, so an average over all exchanges is as good as any flow: a node of weight w with w
times the capacity stands for w ends, and what those send each other goes up and down the same links.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.verify.capacity import Capacities, Pairs
from tdsl.verify.view import View


@dataclass(eq=False)
class Folded:
    """Nodes with the number of units they stand for (``weight``, 0 for switches), whether a path may pass (``passes``) and the
    first device of each, in the order of those; links as pairs of nodes, the lower first, with capacity each way in grains.

    ``unit_node`` says for every unit of ``net`` which node it is part of, ``inner_node`` the node of every node of ``net``;
    ``kind`` is the class of some link between two nodes.
    """

    net: Capacities
    weight: Ints
    passes: Bools
    device: Ints
    a: Ints
    b: Ints
    room: Ints
    unit_node: Ints
    inner_node: Ints
    kind: Ints

    @classmethod
    def of(cls, view: View, net: Capacities, fold: bool = True) -> Folded:
        """Fold what ``net`` holds of a view. Without ``fold`` every unit stays a node of its own."""
        n = len(net.units)
        passing = view.forwards[net.units]
        label = _twins(net, passing) if fold else np.arange(n)
        device = np.append(net.units, net.nodes)
        members = np.append(label, n + np.arange(len(net.nodes)))
        first = device[members]  # of every unit and node, the device that stands for it
        order, node = np.unique(first, return_inverse=True)
        weight = np.bincount(node[:n], minlength=len(order))
        passes = view.forwards[order]
        a = node[np.concatenate((net.access.a, net.trunks.a + n, net.loose.a))]
        b = node[np.concatenate((net.access.b + n, net.trunks.b + n, net.loose.b))]
        room = np.concatenate((net.access.room, net.trunks.room, net.loose.room))
        links = Pairs.of(np.minimum(a, b), np.maximum(a, b), room)
        place = np.full(view.fabric.device_count, -1, dtype=np.int64)
        place[device] = node
        x, y = np.minimum(place[view.a], place[view.b]), np.maximum(place[view.a], place[view.b])
        key = links.a * len(order) + links.b
        at = np.searchsorted(key, x * len(order) + y)
        met = np.flatnonzero((x >= 0) & (x != y))
        kind = np.zeros(len(key), dtype=np.int64)
        kind[at[met]] = view.fabric.link_class[view.rows[met]]
        return cls(net, weight, passes, order, links.a, links.b, links.room, node[:n], node[n:], kind)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.weight)

    @cached_property
    def arcs(self) -> Arcs:
        """Every link both ways, by the node they lead to."""
        tail, head = np.append(self.a, self.b), np.append(self.b, self.a)
        link = np.tile(np.arange(len(self.a)), 2)
        order = np.lexsort((tail, head))
        return Arcs(tail[order], head[order], self.room[link[order]], link[order])


@dataclass(frozen=True, slots=True)
class Arcs:
    """Links in one direction, ordered by head, then tail; ``link`` is the place of the link."""

    tail: Ints
    head: Ints
    room: Ints
    link: Ints


def _twins(net: Capacities, passing: Bools) -> Ints:
    """For every unit the first that meets the same nodes with the same capacities; units that pass traffic on, or are joined to
    units, stand alone."""
    n = len(net.units)
    alone = passing.copy()
    alone[net.loose.a] = alone[net.loose.b] = True
    order = np.lexsort((net.access.b, net.access.a))
    near, room = net.access.b[order], net.access.room[order]
    ends = np.searchsorted(net.access.a[order], np.arange(n + 1)).tolist()
    label = np.arange(n)
    known: dict[bytes, int] = {}
    for u in np.flatnonzero(~alone).tolist():
        low, high = ends[u], ends[u + 1]
        if low < high:
            label[u] = known.setdefault(near[low:high].tobytes() + room[low:high].tobytes(), u)
    return label
