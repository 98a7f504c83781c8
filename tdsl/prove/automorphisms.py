"""Automorphisms of a network: permutations of its nodes that keep it, each verified by `symmetry.arc_image`.

Nodes get colours that automorphisms keep: weight and forwarding, then the colours of their neighbours by
capacity, until the partition is stable (colour refinement). One node is individualized, then another, until
all colours differ; the same with another first node of the same colour gives a candidate. Nodes that can be
exchanged without a search are one before it begins (``twin_reduction.py``). A missed automorphism means more
orbits, never a wrong answer. Source of the search: McKay, "Practical graph
isomorphism" (Congressus Numerantium 30, 1981).
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.prove.symmetry import Words, arc_image, number_distinct_rows, orbit_labels
from tdsl.prove.symmetry_candidates import candidates_by_ports, transitive_candidates
from tdsl.prove.twin_reduction import TwinReduction
from tdsl.prove.unit_graph import UnitGraph
from tdsl.system.lazy_dataclass import dataclass

Trace = list[bytes]


@dataclass(frozen=True, slots=True)
class _Step:
    """The colours before a node was individualized, the node, the colours and the trace of refinement."""

    before: Ints
    node: int
    after: Ints
    trace: Trace


@dataclass(frozen=True, slots=True)
class Orbits:
    """Verified automorphisms (every node's image), and the classes that they make: the lowest node, or link,
    of each."""

    images: tuple[Ints, ...]
    node: Ints
    link: Ints


@dataclass(eq=False)
class _AutomorphismSearch:
    """The search in a network with arcs both ways. Images keep the ``kind`` of every node; those ``first``
    are individualized before others."""

    network: Network
    kind: Ints
    first: Bools
    budget: Budget
    work: int = 0
    images: list[Ints] = field(default_factory=list)

    @cached_property
    def heads(self) -> tuple[Ints, Ints]:
        """The first arc into every node that has any, and that node."""
        start = np.flatnonzero(np.diff(self.network.head, prepend=-1))
        return start, self.network.head[start]

    @cached_property
    def scaled(self) -> Words:
        """The part of every arc's hash that is of its capacity."""
        out: Words = self.network.capacity.astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93)
        return out

    def refine(self, colour: Ints, like: Trace | None) -> tuple[Ints, Trace] | None:
        """Colours refined until the partition is stable; None once they differ from the trace ``like``."""
        arcs, trace = self.network, []
        start, heads = self.heads
        count = int(colour.max()) + 1
        while True:
            self.work += len(arcs.head)
            around = np.zeros(arcs.nodes, dtype=np.uint64)
            if len(start):
                around[heads] = np.add.reduceat(_hash_colours(colour[arcs.tail], self.scaled), start)
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
        mine = colour[node]
        if np.count_nonzero(colour == mine) < 2:
            return self.refine(colour, like)
        out = colour + (colour > mine)
        out[node] += 1
        return self.refine(out, like)


def _hash_colours(colour: Ints, scaled: Words) -> Words:
    x = colour.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + scaled
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    out: Words = x ^ (x >> np.uint64(31))
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

    False may also mean that none were found. Several proofs of one fabric ask for the same network.
    """
    facts = network.tail, network.head, network.capacity, network.forwards, devices
    known, within, answer = _latest_transitive.get(fabric, ((), budget, False))
    if not known or within != budget or not all(map(np.array_equal, facts, known)):
        answer = _has_transitive_images(fabric, network, devices, budget)
        _latest_transitive[fabric] = facts, budget, answer
    return answer


_latest_transitive: WeakKeyDictionary[Fabric, tuple[tuple[Any, ...], Budget, bool]] = WeakKeyDictionary()


def _has_transitive_images(fabric: Fabric, network: Network, devices: Ints, budget: Budget) -> bool:
    for images in transitive_candidates(fabric, devices, budget):
        if (
            all(arc_image(network, i) is not None for i in images)
            and not orbit_labels(network.nodes, images).any()
        ):
            return True
    return False


def automorphism_orbits(g: UnitGraph, budget: Budget = DEFAULT) -> Orbits:
    """Orbits of the nodes and links of a graph under the automorphisms that were found: exchanges of
    equivalent nodes, then what a search finds where each class of these is one node."""
    images: list[Ints] = []
    if len(g.a) and budget.automorphism_work >= len(g.network.head):
        kind = number_distinct_rows([g.weight, g.forwards.astype(np.int64)])
        small = TwinReduction.of(g.network, kind, budget)
        units = np.zeros(small.network.nodes, dtype=np.bool_)
        units[small.bundle[g.weight > 0]] = True
        search = _AutomorphismSearch(small.network, small.label, units, budget)
        if len(small.network.head):
            _search_automorphisms(search)
        images = [*small.cycles, *(small.expand_image(x) for x in search.images)]
    found = [(x, links) for x in images if (links := link_image(g, x)) is not None]
    return Orbits(
        tuple(x for x, _ in found),
        orbit_labels(g.nodes, [x for x, _ in found]),
        orbit_labels(len(g.a), [links for _, links in found]),
    )


def _search_automorphisms(search: _AutomorphismSearch) -> None:
    """Individualize nodes one after the other; then, from the first choice on, try the other nodes of its
    colour."""
    net = search.network
    found = search.refine(number_distinct_rows([search.kind]), None)
    assert found is not None
    path: list[_Step] = []
    colour = found[0]
    while search.work < search.budget.automorphism_work // 4:
        node = _node_to_individualize(search, colour, bool(path))
        if node is None:
            break
        found = search.individualized(colour, node, None)
        assert found is not None
        path.append(_Step(colour, node, *found))
        colour = found[0]
    else:
        return  # too large for a discrete partition
    link_label = np.arange(len(net.links))
    links = len(link_label) + 1
    for depth, step in enumerate(path):
        misses = 0
        label = np.arange(net.nodes)  # under automorphisms that fix the nodes individualized earlier
        for other in np.flatnonzero(step.before == step.before[step.node]).tolist():
            if label[other] == label[step.node]:
                continue
            image = _find_automorphism(search, path, depth, other)
            if image is None:
                misses += 1
                if (
                    misses == search.budget.automorphism_rounds
                    or search.work > search.budget.automorphism_work
                ):
                    break
                continue
            misses = 0
            search.images.append(image)
            label = orbit_labels(net.nodes, [label, image])
            arcs = arc_image(net, image)
            assert arcs is not None
            link_label = orbit_labels(len(link_label), [link_label, net.link[arcs[net.links]]])
        left = len(np.unique(link_label))
        idle = depth and left == links and search.work > search.budget.automorphism_work // 8
        if search.work > search.budget.automorphism_work or idle:
            break
        links = left


def _node_to_individualize(search: _AutomorphismSearch, colour: Ints, later: bool) -> int | None:
    """First node of the cell to divide: at first the largest of units, then the largest; None if all nodes
    differ."""
    size = np.bincount(colour)
    if not later and (size[colour[search.first]] > 1).any():
        size[np.setdiff1d(colour, colour[search.first])] = 0
    if int(size.max()) < 2:
        return None
    return int(np.flatnonzero(colour == int(size.argmax()))[0])


def _find_automorphism(search: _AutomorphismSearch, path: list[_Step], depth: int, other: int) -> Ints | None:
    """The automorphism that fixes the first ``depth`` individualized nodes and takes the next to another;
    None if there is none this way. Nodes of one colour are first taken for each other by rank."""
    step = path[depth]
    found = search.individualized(step.before, other, step.trace)
    for at in range(depth, len(path)):
        if found is None:
            return None
        if at in (depth, len(path) - 1):
            image = _image_by_rank(path[at].after, found[0])
            if arc_image(search.network, image, search.kind) is not None:
                return image
        if at + 1 < len(path):
            following = path[at + 1]
            same = np.flatnonzero(found[0] == following.before[following.node])
            found = search.individualized(found[0], int(same[0]), following.trace)
    return None


def _image_by_rank(colour: Ints, there: Ints) -> Ints:
    """The permutation that takes the nodes of every colour, in order, to those of the same colour there."""
    image = np.empty(len(colour), dtype=np.int64)
    image[np.argsort(colour, kind="stable")] = np.argsort(there, kind="stable")
    return image
