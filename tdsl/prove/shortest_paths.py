"""Shortest distances from many nodes at once, exact in whole numbers: hops, or delays in femtoseconds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.automorphisms import is_node_transitive
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.prove.search import adjacency_network, hop_distances
from tdsl.prove.symmetry import equivalent_nodes
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

FAR = 1 << 60
"""Distance of what cannot be reached."""

CHUNK = 4_000_000
"""Entries of the widest column that one step makes."""


@dataclass(frozen=True, slots=True)
class Forwarders:
    """The forwarding devices of a view, numbered densely: their graph, the device of each, the place of each
    device (-1 for others), and which of them units are connected to."""

    graph: Network
    devices: Ints
    place: Ints
    access: Bools

    @classmethod
    def of(cls, view: View) -> Forwarders:
        """Read a view's columns."""
        devices = np.flatnonzero(view.forwards & view.devices)
        place = np.full(view.fabric.device_count, -1, dtype=np.int64)
        place[devices] = np.arange(len(devices))
        graph = adjacency_network(len(devices), place[view.a[view.trunks]], place[view.b[view.trunks]])
        return cls(graph, devices, place, view.access[devices])


def classes_of(net: Forwarders, weight: Ints) -> list[Ints]:
    """The nodes that units are connected to, in classes of nodes that have the same neighbours at the same
    weights: exchanging two maps the graph onto itself."""
    return equivalent_nodes(net.graph.with_capacity(weight), np.flatnonzero(net.access))


def one_orbit(view: View, net: Forwarders, weight: Ints) -> bool:
    """Whether every node is adjacent to units, and verified permutations of the weighted graph map each node
    to all others."""
    weighted = net.graph.with_capacity(weight)
    return bool(net.access.all()) and is_node_transitive(view.fabric, weighted, net.devices, view.budget)


def search_is_affordable(graph: Network, sources: int, budget: Budget = DEFAULT) -> bool:
    """Whether a search from so many sources stays within the limit of work."""
    if not graph.nodes:
        return True
    first = hop_distances(graph, 0)
    return len(graph.tail) * sources * (2 * int(first.max()) + 2) <= budget.distance_work


def distances_in_chunks(graph: Network, weight: Ints, sources: Ints) -> Iterator[tuple[Ints, Ints]]:
    """For sources a chunk at a time: their numbers, and the distance of every node (rows) from each
    (columns).

    ``weight[i]`` is what a step from ``graph.tail[i]`` to the node in whose list it is costs, at least 0.
    Bellman 1958, Ford 1956: every node takes the best of its neighbours until nothing changes.
    """
    linked = np.flatnonzero(np.diff(graph.start))
    starts = graph.start[linked]
    wide = max(CHUNK // max(len(graph.tail), graph.nodes, 1), 1)
    for low in range(0, len(sources), wide):
        chosen = sources[low : low + wide]
        far = np.full((graph.nodes, len(chosen)), FAR, dtype=np.int64)
        far[chosen, np.arange(len(chosen))] = 0
        while len(linked):
            best = np.minimum(
                far[linked], np.minimum.reduceat(far[graph.tail] + weight[:, None], starts, axis=0)
            )
            if np.array_equal(best, far[linked]):
                break
            far[linked] = best
        yield chosen, far


def distances_of_pairs(net: Network, length: Ints, begin: Ints, end: Ints) -> Ints:
    """The length of the shortest path from ``begin[i]`` to ``end[i]`` by ``length`` of every arc; FAR where
    there is none. What does not forward is passed by none, so paths are searched between forwarding nodes
    alone: from those that the beginnings have arcs to."""
    passes, lists = net.forwards, ArcLists.of(net, length)
    inner = np.flatnonzero(passes[net.tail] & passes[net.head])
    graph = Network(net.tail[inner], net.head[inner], net.capacity[inner], passes)
    message, first, cost = lists.first_steps(begin)
    best = lists.direct(begin, end)
    for hubs, far in distances_in_chunks(graph, length[inner], np.unique(first)):
        column = np.searchsorted(hubs, first)
        mine = np.flatnonzero((column < len(hubs)) & (hubs[np.minimum(column, len(hubs) - 1)] == first))
        for low in range(0, len(mine), max(CHUNK // max(lists.most_last_steps, 1), 1)):
            some = mine[low : low + max(CHUNK // max(lists.most_last_steps, 1), 1)]
            at, last, more = lists.last_steps(end[message[some]])
            whole = np.minimum(cost[some][at] + far[last, column[some][at]] + more, FAR)
            np.minimum.at(best, message[some][at], whole)
    return best


@dataclass(frozen=True, slots=True)
class ArcLists:
    """The arcs of a network by the node that they leave, and by the one that they enter, with lengths."""

    net: Network
    length: Ints
    order: Ints
    start: Ints

    @classmethod
    def of(cls, net: Network, length: Ints) -> ArcLists:
        """Those of a network."""
        order = np.argsort(net.tail, kind="stable")
        return cls(net, length, order, np.searchsorted(net.tail[order], np.arange(net.nodes + 1)))

    @property
    def most_last_steps(self) -> int:
        """The most arcs that enter one node."""
        return int(np.diff(self.net.start).max(initial=1))

    def first_steps(self, nodes: Ints) -> tuple[Ints, Ints, Ints]:
        """For each of these: its place, a forwarding node, and how far that is; itself if it forwards."""
        at, arc = _listed(self.start, nodes, ~self.net.forwards[nodes])
        arc = self.order[arc]
        there = self.net.forwards[self.net.head[arc]]
        own = np.flatnonzero(self.net.forwards[nodes])
        return (
            np.append(own, at[there]),
            np.append(nodes[own], self.net.head[arc[there]]),
            np.append(np.zeros(len(own), dtype=np.int64), self.length[arc[there]]),
        )

    def last_steps(self, nodes: Ints) -> tuple[Ints, Ints, Ints]:
        """For each of these: its place, a forwarding node, and how far it is from that."""
        at, arc = _listed(self.net.start, nodes, ~self.net.forwards[nodes])
        there = self.net.forwards[self.net.tail[arc]]
        own = np.flatnonzero(self.net.forwards[nodes])
        return (
            np.append(own, at[there]),
            np.append(nodes[own], self.net.tail[arc[there]]),
            np.append(np.zeros(len(own), dtype=np.int64), self.length[arc[there]]),
        )

    def direct(self, begin: Ints, end: Ints) -> Ints:
        """The length of the arc from each to each; FAR where there is none, 0 where both are one node."""
        keys = self.net.head * self.net.nodes + self.net.tail
        wanted = end * self.net.nodes + begin
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        found = keys[at] == wanted if len(keys) else np.zeros(len(wanted), dtype=np.bool_)
        out = np.where(begin == end, 0, FAR)
        out[found] = np.minimum(out[found], self.length[at[found]])
        return out


def _listed(start: Ints, nodes: Ints, wanted: Bools) -> tuple[Ints, Ints]:
    """The entries of lists that begin at ``start``, of these nodes where they are wanted: the place of the
    node, and that of the entry."""
    size = np.where(wanted, start[nodes + 1] - start[nodes], 0)
    at = np.repeat(np.arange(len(nodes)), size)
    return at, np.arange(len(at)) + np.repeat(start[nodes] - np.cumsum(size) + size, size)
