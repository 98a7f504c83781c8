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
