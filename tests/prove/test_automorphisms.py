"""Automorphisms and orbits of small random networks, against all permutations."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import networkx as nx
import numpy as np
from networkx.algorithms.isomorphism import GraphMatcher

from tdsl.prove.automorphisms import automorphism_orbits, link_image
from tdsl.prove.budget import DEFAULT
from tdsl.prove.network import Network
from tdsl.prove.unit_graph import UnitGraph
from tests.prove.networks import Rows, columns


def every_automorphism(g: UnitGraph) -> list[list[int]]:
    one = nx.Graph()
    for v in range(g.nodes):
        one.add_node(v, kind=(int(g.weight[v]), bool(g.forwards[v])))
    for a, b, c in zip(g.a.tolist(), g.b.tolist(), g.capacity.tolist(), strict=True):
        one.add_edge(a, b, capacity=c)
    same = {"node_match": lambda x, y: x["kind"] == y["kind"], "edge_match": lambda x, y: x["capacity"] == y["capacity"]}
    return [[m[v] for v in range(g.nodes)] for m in GraphMatcher(one, one, **same).isomorphisms_iter()]


def links_of(g: UnitGraph, image: list[int]) -> list[int]:
    ends = list(zip(g.a.tolist(), g.b.tolist(), strict=True))
    return [ends.index((min(image[a], image[b]), max(image[a], image[b]))) for a, b in ends]


def lowest(size: int, images: list[list[int]]) -> list[int]:
    """The lowest of all that each can be taken to by all automorphisms."""
    return [min(image[v] for image in images) for v in range(size)]


def graph(nodes: int, links: Rows, weight: list[int], forwards: list[bool]) -> UnitGraph:
    network = Network.both_ways(np.array(forwards, dtype=np.bool_), *columns(links))
    none: Any = None
    number = np.arange(nodes)
    return UnitGraph(none, network, np.array(weight), number, number, number, np.zeros(len(network.links), dtype=np.int64))


def symmetric(seed: int) -> UnitGraph:
    """Two or three copies of a random graph with one more node that is linked to some node of each, in any order."""
    rng = Random(seed)
    size, copies = rng.choice([(1, 3), (2, 2), (2, 3), (3, 2), (1, 2)])
    inner = [(x, y, rng.randint(1, 2)) for x in range(size) for y in range(x) if rng.random() < 0.7]
    weight, forwards = ([rng.choice(choice) for _ in range(size)] * copies for choice in ([0, 1, 2], [True, True, False]))
    last = size * copies
    links = [(k * size + x, k * size + y, c) for k in range(copies) for x, y, c in inner]
    links += [(k * size + x, last, 3) for x in rng.sample(range(size), rng.randint(1, size)) for k in range(copies)]
    place = rng.sample(range(last + 1), last + 1)
    facts = [[*weight, 0, *forwards, True][place.index(v) + by] for by in (0, last + 1) for v in range(last + 1)]
    return graph(last + 1, [(place[x], place[y], c) for x, y, c in links], facts[: last + 1], facts[last + 1 :])  # type: ignore[arg-type]


def test_orbits_are_those_of_all_automorphisms() -> None:
    """Every image that is found keeps all, and together they lead as far as all there are; one in forty may miss some. What an
    image does to links is none for a permutation that does not keep links, capacities, weights or what forwards."""
    moved, missed = 0, 0
    for seed in range(80):
        g, rng = symmetric(seed), Random(seed)
        every = every_automorphism(g)
        found = automorphism_orbits(g)
        assert all(image.tolist() in every for image in found.images), seed
        nodes, links = lowest(g.nodes, every), lowest(len(g.a), [links_of(g, x) for x in every])
        assert all(nodes[v] == nodes[w] for v, w in enumerate(found.node)), seed
        assert all(links[i] == links[j] for i, j in enumerate(found.link)), seed
        missed += (found.node.tolist(), found.link.tolist()) != (nodes, links)
        moved += len(every) > 1
        for image in [*every[:4], *(rng.sample(range(g.nodes), g.nodes) for _ in range(4))]:
            there = link_image(g, np.array(image))
            assert (there is not None) == (image in every)
            assert there is None or there.tolist() == links_of(g, image)
    assert moved > 20 and missed <= 2


def test_no_search_without_work_or_links() -> None:
    g, bare = symmetric(0), graph(3, [], [1, 1, 1], [True] * 3)
    assert len(automorphism_orbits(g).images) > 0
    for made, budget in ((g, replace(DEFAULT, automorphism_work=0)), (bare, DEFAULT)):
        found = automorphism_orbits(made, budget)
        assert (found.images, found.node.tolist(), found.link.tolist()) == ((), [*range(made.nodes)], [*range(len(made.a))])


def test_classes_of_twins_take_no_search() -> None:
    """Racks on leaves of two kinds, all on two spines that are connected: one orbit for each kind of node and of link, and
    few images, however many leaves there are."""
    for leaves in ((2, 3), (40, 60)):
        first, last = leaves[0], sum(leaves)
        spines = (2 * last, 2 * last + 1)
        links = [(2 * v, 2 * v + 1, 1 + (v < first)) for v in range(last)]
        links += [(2 * v, s, 2 + (v < first)) for v in range(last) for s in spines] + [(*spines, 5)]
        weight = [0, 4] * last + [0, 0]
        g = graph(2 * last + 2, links, weight, [not w for w in weight])
        found = automorphism_orbits(g)
        assert len(np.unique(found.node)) == 5 and len(np.unique(found.link)) == 5
        assert len(found.images) <= 6
        if last < 10:
            every = every_automorphism(g)
            assert all(image.tolist() in every for image in found.images)
            assert found.node.tolist() == lowest(g.nodes, every)
