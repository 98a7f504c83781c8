"""Diameter: breadth-first searches from one node of every class of equivalent nodes, all at once."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.automorphisms import is_node_transitive
from tdsl.prove.bound import Bound, Diameter, Eccentricities, NotBounded, WitnessPath
from tdsl.prove.network import Network
from tdsl.prove.search import (
    adjacency_network,
    eccentricities_of_sources,
    hop_distances,
    nodes_of_shortest_path,
)
from tdsl.prove.symmetry import first_of_equivalent_nodes
from tdsl.prove.view import View


def diameter_bounds(view: View) -> Diameter | NotBounded:
    """Most links between forwarding devices on a shortest path between two that ends are connected to, over
    all pairs that reach each other. Above ``diameter_work`` only some searches are made: no distance is more
    than twice the least eccentricity."""
    if not view.access.any():
        return NotBounded(("no end is attached to a switch",))
    graph, wanted, device = _compact_forwarders(view)
    first = first_of_equivalent_nodes(graph, np.flatnonzero(wanted))
    if len(first) > 1 and wanted.all() and is_node_transitive(view.fabric, graph, device, view.budget):
        first = first[:1]
    sources = _affordable_sources(graph, first, view.budget.diameter_work)
    far, reaches_all = eccentricities_of_sources(graph, sources, wanted)
    apart = not reaches_all.all()
    at = int(np.argmax(far))
    lower = upper = int(far[at])
    if len(sources) < len(first):
        upper = graph.nodes - 1 if apart else 2 * int(far.min())
    proof = Eccentricities(len(sources), len(first), apart)
    return Bound(
        lower, upper, WitnessPath(_path_of_length(graph, int(sources[at]), wanted, lower, device)), proof
    )


def _path_of_length(graph: Network, source: int, wanted: Bools, length: int, device: Ints) -> tuple[int, ...]:
    """Devices of a path of that many links from a node to one that ends are connected to."""
    target = int(np.flatnonzero(wanted & (hop_distances(graph, source) == length))[0])
    return tuple(device[np.array(nodes_of_shortest_path(graph, source, target))].tolist())


def _compact_forwarders(view: View) -> tuple[Network, Bools, Ints]:
    """The forwarding devices numbered densely, which of them ends are connected to, and the device of
    each."""
    devices = np.flatnonzero(view.forwards & view.devices)
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[devices] = np.arange(len(devices))
    a, b = place[view.a[view.trunks]], place[view.b[view.trunks]]
    return adjacency_network(len(devices), a, b), view.access[devices], devices


def _affordable_sources(graph: Network, sources: Ints, work: int) -> Ints:
    """The sources that can be searched within the limit: all of them, or evenly some."""
    start = hop_distances(graph, int(sources[0]))
    levels = (
        2 * int(start[start < graph.nodes].max(initial=1)) + 1
    )  # no search is deeper than twice any other
    most = max(work * 8 // ((len(graph.tail) + 8 * graph.nodes) * levels), 64)
    return sources if len(sources) <= most else sources[:: -(-len(sources) // most)]
