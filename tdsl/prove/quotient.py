"""Quotient networks: nodes that have the same neighbours by the same capacities are one node.

Exchanging two such nodes maps the network onto itself, so that averaging a flow over all exchanges keeps its
value and divides it evenly among them: one node with the sum of their capacities represents all, and bounds
are the same. Endpoints are represented twice, where they send and where they receive, and those are together
that send, or receive, the same amounts to and from the same classes: the coarsest such division is found by
refining it until it is stable (Grohe, Kersting, Mladenov and Selman, "Dimension reduction via colour
refinement", ESA 2014). Rows are compared as a whole, whatever a hash says.
"""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.network import Network, count_by_key
from tdsl.prove.symmetry import equal_demands, equal_rows
from tdsl.system.lazy_dataclass import dataclass

NONE = -1
"""The place of what is left out."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """A smaller network, and where the nodes and arcs of the original are in it.

    Of every original node ``out`` is the node for arcs that leave it and ``into`` the node for arcs that
    enter it; of every original arc ``arc`` is its arc here; NONE for what no path uses. ``first`` is one
    original node of every node, ``count`` the number of original arcs of every arc, whose capacity is their
    sum.
    """

    network: Network
    out: Ints
    into: Ints
    arc: Ints
    first: Ints
    count: Ints


def quotient_of_switches(net: Network, apart: Bools) -> Quotient:
    """Equivalent nodes put together but for those that are ``apart``. Every arc has one back with the same
    capacity."""
    label = np.where(apart, np.arange(len(apart)), len(apart))
    same = equal_rows(label, net.tail, net.head, net.capacity)
    return _put_nodes_together(net, 2 * same, 2 * same)


def quotient_of_demand(net: Network, demand: tuple[Ints, Ints, Ints]) -> Quotient:
    """Equivalent nodes put together, and those that do not forward divided into what sends and what receives,
    by role; but for nodes that forward and send or receive, and endpoints that are adjacent to endpoints.
    Every arc has one back with the same capacity; a demand is source, target, amount."""
    size, tail, head, forwards = net.nodes, net.tail, net.head, net.forwards
    sends, receives = np.zeros((2, size), dtype=np.bool_)
    sends[demand[0]] = receives[demand[1]] = True
    apart = forwards & (sends | receives)
    apart[tail[~forwards[tail] & ~forwards[head]]] = (
        True  # an arc between endpoints carries what one sends to the other only
    )
    label = equal_rows(np.where(apart, np.arange(size), size + ~forwards), tail, head, net.capacity)
    out, into = equal_demands(label, *demand)
    begins, reaches = np.where(sends, 2 * out, NONE), np.where(receives, 2 * into + 1, NONE)
    return _put_nodes_together(
        net, np.where(forwards, 2 * out, begins), np.where(forwards, 2 * into, reaches)
    )


def _put_nodes_together(net: Network, out: Ints, into: Ints) -> Quotient:
    """Nodes put together by their numbers for arcs that leave and for arcs that enter them; NONE where there
    are none. Half a number, rounded down, is one of its nodes."""
    names, place = np.unique(np.concatenate((out, into)), return_inverse=True)
    lost = int(names[0] == NONE)
    out, into = np.split(place - lost, 2)
    first = names[lost:] // 2
    used = (out[net.tail] != NONE) & (into[net.head] != NONE)
    keys = into[net.head[used]] * len(first) + out[net.tail[used]]
    arc = np.full(net.arcs, NONE)
    arc[used] = np.unique(keys, return_inverse=True)[1]
    small = Network.of(
        net.forwards[first],
        out[net.tail[used]],
        into[net.head[used]],
        net.capacity[used],
        tuple(x[first] for x in net.labels),
    )
    return Quotient(small, out, into, arc, first, count_by_key(keys)[1])
