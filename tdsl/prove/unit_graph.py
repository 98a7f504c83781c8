"""The network between units in which units with the same neighbours by the same capacities are one node.

Exchanging two such units maps the network onto itself, so that an average over all exchanges is as good as
any flow: a node of weight w with w times the capacity represents w units, and what those send each other goes
up and down the same links.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.network import Network
from tdsl.prove.symmetry import equal_rows
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(eq=False)
class UnitGraph:
    """A network with arcs both ways, in grains, and of every node its ``weight``, the number of units it
    represents (0 for switches), and ``device``, the first of its devices; nodes are in the order of those.

    Links are numbered by their lower node ``a``, then ``b``; ``kind`` is the class of some link between two
    nodes. Of every unit of ``net`` ``unit_node`` is the node it is part of, of every node of ``net``
    ``inner_node``.
    """

    net: Network
    network: Network
    weight: Ints
    device: Ints
    unit_node: Ints
    inner_node: Ints
    kind: Ints

    @classmethod
    def of(cls, view: View, net: Network, quotient: bool = True) -> UnitGraph:
        """Read what ``net`` has of a view. Without ``quotient`` every unit is a node of its own."""
        n = len(net.units)
        label = _equivalent_units(net, view.forwards[net.units]) if quotient else np.arange(n)
        device = np.append(net.units, net.transit)
        members = np.append(label, n + np.arange(len(net.transit)))
        order, node = np.unique(device[members], return_inverse=True)
        weight = np.bincount(node[:n], minlength=len(order))
        a = node[np.concatenate((net.access.a, net.trunks.a + n, net.loose.a))]
        b = node[np.concatenate((net.access.b + n, net.trunks.b + n, net.loose.b))]
        capacity = np.concatenate((net.access.capacity, net.trunks.capacity, net.loose.capacity))
        network = Network.both_ways(view.forwards[order], a, b, capacity)
        place = np.full(view.fabric.device_count, -1, dtype=np.int64)
        place[device] = node
        x, y = np.minimum(place[view.a], place[view.b]), np.maximum(place[view.a], place[view.b])
        key = network.head[network.links] * len(order) + network.tail[network.links]
        at = np.searchsorted(key, x * len(order) + y)
        counted = np.flatnonzero((x >= 0) & (x != y))
        kind = np.zeros(len(key), dtype=np.int64)
        kind[at[counted]] = view.fabric.link_class[view.rows[counted]]
        return cls(net, network, weight, order, node[:n], node[n:], kind)

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.weight)

    @property
    def forwards(self) -> Bools:
        """Whether a path may pass through a node."""
        return self.network.forwards

    @cached_property
    def a(self) -> Ints:
        """The lower node of every link."""
        return self.network.head[self.network.links]

    @cached_property
    def b(self) -> Ints:
        """The higher node of every link."""
        return self.network.tail[self.network.links]

    @cached_property
    def capacity(self) -> Ints:
        """What every link carries each way, in grains."""
        return self.network.capacity[self.network.links]


def _equivalent_units(net: Network, forwards: Bools) -> Ints:
    """For every unit the first with the same neighbours by the same capacities; units that forward, or are
    adjacent to units, are represented by themselves."""
    n = len(net.units)
    alone = forwards.copy()
    alone[net.loose.a] = alone[net.loose.b] = True
    alone |= np.bincount(net.access.a, minlength=n) == 0
    return equal_rows(np.where(alone, np.arange(n), n), net.access.a, net.access.b, net.access.capacity)
