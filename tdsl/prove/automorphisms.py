"""Automorphisms of a network: permutations of its nodes that keep it, each verified by `symmetry.arc_image`.

Nodes get colours that automorphisms keep: weight and forwarding, then the colours of their neighbours by
capacity, until the partition is stable (colour refinement). One node is individualized, then another, until
all colours differ; the same with another first node of the same colour gives a candidate. A missed
automorphism means more orbits, never a wrong answer. Source of the search: McKay, "Practical graph
isomorphism" (Congressus Numerantium 30, 1981).
"""

from __future__ import annotations

from dataclasses import field

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.prove.symmetry import arc_image, orbit_labels
from tdsl.prove.symmetry_candidates import candidates_by_ports, transitive_candidates
from tdsl.prove.unit_graph import UnitGraph
from tdsl.system.lazy_dataclass import dataclass

Trace = list[bytes]


@dataclass(frozen=True, slots=True)
class Orbits:
    """Verified automorphisms (every node's image), and the classes that they make: the lowest node, or link,
    of each."""

    images: tuple[Ints, ...]
    node: Ints
    link: Ints


@dataclass(eq=False)
class _AutomorphismSearch:
    g: UnitGraph
    budget: Budget
    work: int = 0
    images: list[Ints] = field(default_factory=list)

    def refine(self, colour: Ints, like: Trace | None) -> tuple[Ints, Trace] | None:
        """Colours refined until the partition is stable; None once they differ from the trace ``like``."""
        arcs = self.g.network
        start, trace = np.flatnonzero(np.diff(arcs.head, prepend=-1)), []
        heads = arcs.head[start]
        count = int(colour.max()) + 1
        while True:
            self.work += len(arcs.head)
            around = np.zeros(self.g.nodes, dtype=np.uint64)
            if len(start):
                around[heads] = np.add.reduceat(_hash_colours(colour[arcs.tail], arcs.capacity), start)
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

    def individualized(self, colour: Ints, node: int, like: Trace | None) -> tuple[Ints, Trace] | None:
        """Refined after one node is individualized."""
        out = colour * 2
        out[node] += 1
        return self.refine(_number_densely(out), like)


def _hash_colours(colour: Ints, capacity: Ints) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    x = colour.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + capacity.astype(np.uint64) * np.uint64(
        0xD6E8FEB86659FD93
    )
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    out: np.ndarray[tuple[int], np.dtype[np.uint64]] = x ^ (x >> np.uint64(31))
    return out


def _number_densely(colour: Ints) -> Ints:
    out: Ints = np.unique(colour, return_inverse=True)[1].astype(np.int64)
    return out


def link_image(g: UnitGraph, image: Ints) -> Ints | None:
    """Where a permutation of the nodes takes every link; None unless it keeps weights, forwarding, links and
    capacities."""
    arcs = arc_image(g.network, image, g.weight)
    return None if arcs is None else g.network.link[arcs[g.network.links]]


def translation_orbits(g: UnitGraph, fabric: Fabric, budget: Budget = DEFAULT) -> Orbits | None:
    """Orbits of a graph under permutations that follow ports; None unless they lead from every node to every
    other, all of them chips that forward."""
    if not (g.forwards.all() and (g.weight == 1).all()):
        return None
    images = candidates_by_ports(fabric, g.device, budget)
    links = [x for i in images if (x := link_image(g, i)) is not None]
    if not images or len(links) < len(images):
        return None
    node = orbit_labels(g.nodes, images)
    return None if node.any() else Orbits(tuple(images), node, orbit_labels(len(g.a), links))


def is_node_transitive(fabric: Fabric, network: Network, devices: Ints, budget: Budget = DEFAULT) -> bool:
    """Whether verified permutations lead from every node to every other (``devices`` says which device each
    node is).

    False may also mean that none were found.
    """
    for images in transitive_candidates(fabric, devices, budget):
        if (
            all(arc_image(network, i) is not None for i in images)
            and not orbit_labels(network.nodes, images).any()
        ):
            return True
    return False


def automorphism_orbits(g: UnitGraph, budget: Budget = DEFAULT) -> Orbits:
    """Orbits of the nodes and links of a graph under the automorphisms that were found."""
    search = _AutomorphismSearch(g, budget)
    if len(g.a):
        _search_automorphisms(search)
    links = [x for i in search.images if (x := link_image(g, i)) is not None]
    return Orbits(tuple(search.images), orbit_labels(g.nodes, search.images), orbit_labels(len(g.a), links))


def _search_automorphisms(search: _AutomorphismSearch) -> None:
    """Individualize nodes one after the other; then, from the first choice on, try the other nodes of its
    colour."""
    g = search.g
    kind = np.lexsort((g.weight, g.forwards))
    what = np.empty(g.nodes, dtype=np.int64)
    steps = (np.diff(g.weight[kind], prepend=-1) != 0) | (
        np.diff(g.forwards[kind].astype(np.int64), prepend=-1) != 0
    )
    what[kind] = np.cumsum(steps) - 1
    found = search.refine(what, None)
    assert found is not None
    path: list[
        tuple[Ints, int, Trace]
    ] = []  # the colours before, the node individualized, the trace of refinement
    colour = found[0]
    while search.work < search.budget.automorphism_work // 4:
        node = _node_to_individualize(g, colour, bool(path))
        if node is None:
            break
        found = search.individualized(colour, node, None)
        assert found is not None
        path.append((colour, node, found[1]))
        colour = found[0]
    else:
        return  # too large for a discrete partition
    last = np.argsort(colour)
    links = len(g.a) + 1
    for depth, (before, node, _) in enumerate(path):
        own: list[Ints] = []  # automorphisms that fix the nodes individualized earlier
        misses = 0
        label = np.arange(g.nodes)
        for other in np.flatnonzero(before == before[node]).tolist():
            if label[other] == label[node]:
                continue
            image = _find_automorphism(search, path, depth, other, last)
            if image is None:
                misses += 1
                if (
                    misses == search.budget.automorphism_rounds
                    or search.work > search.budget.automorphism_work
                ):
                    break
                continue
            misses = 0
            own.append(image)
            label = orbit_labels(g.nodes, own)
        search.images += own
        joined = [x for i in search.images if (x := link_image(g, i)) is not None]
        left = len(np.unique(orbit_labels(len(g.a), joined)))
        if search.work > search.budget.automorphism_work or (depth and left == links):
            break
        links = left


def _node_to_individualize(g: UnitGraph, colour: Ints, later: bool) -> int | None:
    """First node of the cell to divide: at first the largest of units, then the largest; None if all nodes
    differ."""
    size = np.bincount(colour)
    if not later and (size[colour[g.weight > 0]] > 1).any():
        size[np.setdiff1d(colour, colour[g.weight > 0])] = 0
    if int(size.max()) < 2:
        return None
    return int(np.flatnonzero(colour == int(size.argmax()))[0])


def _find_automorphism(
    search: _AutomorphismSearch, path: list[tuple[Ints, int, Trace]], depth: int, other: int, last: Ints
) -> Ints | None:
    """The automorphism that fixes the first ``depth`` individualized nodes and takes the next to another;
    None if there is none this way."""
    colour, node, trace = path[depth]
    found = search.individualized(colour, other, trace)
    for colours, node, trace in path[depth + 1 :]:
        if found is None:
            return None
        same = np.flatnonzero(found[0] == colours[node])
        found = search.individualized(found[0], int(same[0]), trace)
    if found is None:
        return None
    image = np.empty(len(last), dtype=np.int64)
    image[last] = np.argsort(found[0])
    return image if link_image(search.g, image) is not None else None
