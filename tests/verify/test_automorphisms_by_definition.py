"""Automorphisms and orbits of small random networks, against all permutations that keep nodes and links."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.isomorphism import GraphMatcher

from tdsl.prove import automorphisms as module
from tdsl.prove.automorphisms import (
    _AutomorphismSearch,
    _hash_colours,
    _node_to_individualize,
    _number_densely,
    automorphism_orbits,
    is_node_transitive,
    link_image,
    translation_orbits,
)
from tdsl.prove.budget import DEFAULT
from tdsl.prove.network import Network
from tdsl.prove.unit_graph import UnitGraph
from tests.fabrics import torus


def graph(nodes: int, links: list[tuple[int, int, int]], weight: list[int], forwards: list[bool]) -> UnitGraph:
    a, b, c = (np.array([x[i] for x in links], dtype=np.int64) for i in range(3))
    network = Network.both_ways(np.array(forwards, dtype=np.bool_), a, b, c)
    none: Any = None
    number = np.arange(nodes)
    return UnitGraph(none, network, np.array(weight), number, number, number, np.zeros(len(network.links), dtype=np.int64))


def symmetric(seed: int) -> UnitGraph:
    """Two or three copies of a random graph with one more node that is linked to some node of each, in any order."""
    rng = Random(seed)
    size, copies = rng.choice([(1, 3), (2, 2), (2, 3), (3, 2), (1, 2)])
    inner = [(x, y, rng.randint(1, 2)) for x in range(size) for y in range(x) if rng.random() < 0.7]
    weight, forwards = ([rng.choice(choice) for _ in range(size)] for choice in ([0, 1, 2], [True, True, False]))
    nodes = size * copies + 1
    links = [(k * size + x, k * size + y, c) for k in range(copies) for x, y, c in inner]
    for x in rng.sample(range(size), rng.randint(1, size)):
        links += [(k * size + x, nodes - 1, 3) for k in range(copies)]
    place = rng.sample(range(nodes), nodes)
    every = [(*(weight[v % size] if v < nodes - 1 else 0,), forwards[v % size] if v < nodes - 1 else True) for v in range(nodes)]
    facts = [every[place.index(v)] for v in range(nodes)]
    moved = [(place[x], place[y], c) for x, y, c in links]
    return graph(nodes, moved, [w for w, _ in facts], [f for _, f in facts])


def drawn(g: UnitGraph) -> nx.Graph:
    out = nx.Graph()
    for v in range(g.nodes):
        out.add_node(v, kind=(int(g.weight[v]), bool(g.forwards[v])))
    for a, b, c in zip(g.a.tolist(), g.b.tolist(), g.capacity.tolist(), strict=True):
        out.add_edge(a, b, capacity=c)
    return out


def every_automorphism(g: UnitGraph) -> list[list[int]]:
    one = drawn(g)
    found = GraphMatcher(
        one, one, node_match=lambda x, y: x["kind"] == y["kind"], edge_match=lambda x, y: x["capacity"] == y["capacity"]
    )
    return [[m[v] for v in range(g.nodes)] for m in found.isomorphisms_iter()]


def lowest(size: int, images: list[list[int]]) -> list[int]:
    """The lowest of all that each can be taken to by all automorphisms."""
    return [min(image[v] for image in images) for v in range(size)]


def links_of(g: UnitGraph, image: list[int]) -> list[int]:
    number = {(a, b): i for i, (a, b) in enumerate(zip(g.a.tolist(), g.b.tolist(), strict=True))}
    moved = [tuple(sorted((image[a], image[b]))) for a, b in zip(g.a.tolist(), g.b.tolist(), strict=True)]
    return [number[x] for x in moved]  # type: ignore[index]


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_orbits_are_those_of_all_automorphisms(first: int) -> None:
    """Every image that is found keeps all, and together they lead as far as all there are; one in forty may miss some."""
    moved, missed = 0, 0
    for seed in range(first, first + 40):
        g = symmetric(seed)
        every = every_automorphism(g)
        found = automorphism_orbits(g)
        assert all(image.tolist() in every for image in found.images), seed
        nodes, links = lowest(g.nodes, every), lowest(len(g.a), [links_of(g, x) for x in every])
        assert all(nodes[v] == nodes[w] for v, w in enumerate(found.node)) and all(
            links[i] == links[j] for i, j in enumerate(found.link)
        )
        missed += (found.node.tolist(), found.link.tolist()) != (nodes, links)
        moved += len(every) > 1
    assert moved > 10 and missed <= 1


def test_what_an_image_does_to_links() -> None:
    """None for a permutation that does not keep links, capacities, weights or what forwards."""
    for seed in range(40):
        g, rng = symmetric(seed), Random(seed)
        every = every_automorphism(g)
        for image in [*every[:4], *(rng.sample(range(g.nodes), g.nodes) for _ in range(4))]:
            found = link_image(g, np.array(image))
            assert (found is not None) == (image in every)
            assert found is None or found.tolist() == links_of(g, image)


def classes(colour: Any) -> set[frozenset[int]]:
    values = list(colour)
    return {frozenset(v for v, x in enumerate(values) if x == y) for y in values}


def refined_by_hand(g: UnitGraph, colour: list[int]) -> set[frozenset[int]]:
    """Nodes of one colour with as many neighbours of each colour by each capacity, until nothing changes."""
    near = drawn(g)
    while True:
        facts = [(colour[v], tuple(sorted((colour[w], near[v][w]["capacity"]) for w in near[v]))) for v in range(g.nodes)]
        fresh = [sorted(set(facts)).index(x) for x in facts]
        if len(set(fresh)) == len(set(colour)):
            return classes(colour)
        colour = fresh


def test_colours_are_refined_until_they_are_stable() -> None:
    """A trace says whether another start gives the same; an individualized node has a colour of its own."""
    for seed in range(60):
        g, rng = symmetric(seed), Random(seed)
        colour = _number_densely(np.array([rng.randint(0, 1) for _ in range(g.nodes)]))
        search = _AutomorphismSearch(g, DEFAULT)
        found = search.refine(colour, None)
        assert found is not None and classes(found[0].tolist()) == refined_by_hand(g, colour.tolist()), seed
        assert sorted(set(found[0].tolist())) == list(range(len(set(found[0].tolist()))))
        assert search.work == len(found[1]) * g.network.arcs
        again = search.refine(colour, found[1])
        assert again is not None and again[0].tolist() == found[0].tolist() and again[1] == found[1]
        assert search.refine(colour, found[1][:-1]) is None
        for image in every_automorphism(g)[:3]:
            moved = np.empty_like(colour)
            moved[image] = colour
            other = search.refine(moved, found[1])
            assert other is not None and other[0][image].tolist() == found[0].tolist()
        node = rng.randrange(g.nodes)
        single = search.individualized(colour, node, None)
        apart = [2 * x + (v == node) for v, x in enumerate(colour.tolist())]
        assert (
            single is not None
            and classes(single[0].tolist()) == refined_by_hand(g, apart)
            and frozenset({node}) in classes(single[0].tolist())
        )
        every = every_automorphism(g)
        kept = [image for image in every if all(colour[w] == colour[image[w]] for w in range(g.nodes))]
        for other_node in range(g.nodes):
            like = search.individualized(colour, other_node, single[1])
            if any(image[node] == other_node for image in kept):
                assert like is not None
            elif found[0][node] != found[0][other_node]:
                assert like is None


def test_colours_and_capacities_as_pseudorandom_numbers() -> None:
    """The last steps of the generator by Steele, Lea and Flood, in 64 bits."""
    colour, capacity = np.array([0, 1, 2, 1, 0, 2**40]), np.array([0, 1, 1, 2, 7, 2**61])
    wanted = []
    for x, c in zip(colour.tolist(), capacity.tolist(), strict=True):
        z = (x * 0x9E3779B97F4A7C15 + c * 0xD6E8FEB86659FD93) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        wanted.append(z ^ z >> 31)
    assert _hash_colours(colour, capacity).tolist() == wanted and len(set(wanted)) == 6


def test_the_cell_that_is_divided_next() -> None:
    """At first the largest with units, later the largest of all; none where all nodes differ."""

    def of(weight: list[int]) -> Any:
        return SimpleNamespace(weight=np.array(weight))

    assert _node_to_individualize(of([0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1]), False) == 3
    assert _node_to_individualize(of([0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1]), True) == 0
    assert _node_to_individualize(of([0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 2]), False) == 0
    assert _node_to_individualize(of([1, 0, 2, 1, 1, 0, 0, 0]), np.array([3, 0, 3, 1, 3, 0, 0, 0]), False) == 0
    assert _node_to_individualize(of([0, 1, 1, 1, 1, 1]), np.array([2, 1, 1, 0, 0, 0]), False) == 3
    for later in (False, True):
        assert _node_to_individualize(of([1, 0, 1]), np.array([2, 0, 1]), later) is None
        assert _node_to_individualize(of([0, 0, 1]), np.array([1, 1, 0]), later) == 0


def test_no_search_without_work_or_links() -> None:
    g = symmetric(0)
    assert len(automorphism_orbits(g).images) > 0
    quick = automorphism_orbits(g, replace(DEFAULT, automorphism_work=0))
    assert quick.images == () and quick.node.tolist() == list(range(g.nodes)) and quick.link.tolist() == list(range(len(g.a)))
    bare = graph(3, [], [1, 1, 1], [True] * 3)
    assert automorphism_orbits(bare).images == () and automorphism_orbits(bare).node.tolist() == [0, 1, 2]


def test_permutations_by_ports_count_where_all_keep_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring of four chips: one step leads everywhere, two steps or an exchange that breaks links do not."""
    ring = [(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 3, 1)]
    g = graph(4, ring, [1] * 4, [True] * 4)
    step, two, wrong = np.array([1, 2, 3, 0]), np.array([2, 3, 0, 1]), np.array([1, 0, 2, 3])
    fabric: Any = None
    for images, found in (([step], True), ([two], False), ([step, wrong], False), ([], False), ([two, step], True)):
        monkeypatch.setattr(module, "candidates_by_ports", lambda *_, images=images: images)
        made = translation_orbits(g, fabric)
        assert (made is not None) == found
        if made is not None:
            assert made.images == tuple(images) and made.node.tolist() == [0] * 4 and made.link.tolist() == [0] * 4
    monkeypatch.setattr(module, "candidates_by_ports", lambda *_: [step])
    assert translation_orbits(graph(4, ring, [2] * 4, [True] * 4), fabric) is None
    assert translation_orbits(graph(4, ring, [1] * 4, [False] * 4), fabric) is None
    assert translation_orbits(graph(4, ring, [1, 1, 1, 0], [True] * 4), fabric) is None
    assert translation_orbits(graph(4, ring, [1] * 4, [True, True, False, True]), fabric) is None


def test_permutations_that_lead_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of several ways is enough, if all of its permutations keep the network."""
    net = graph(4, [(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 3, 1)], [1] * 4, [True] * 4).network
    step, two, wrong = np.array([1, 2, 3, 0]), np.array([2, 3, 0, 1]), np.array([1, 0, 2, 3])
    fabric: Any = None
    for ways, found in (
        ([[step]], True), ([[two]], False), ([[step, wrong]], False), ([[two], [step, wrong], [step]], True), ([], False),
        ([[wrong]], False), ([[two, step]], True),
    ):  # fmt: skip
        monkeypatch.setattr(module, "transitive_candidates", lambda *_, ways=ways: iter(ways))
        assert is_node_transitive(fabric, net, np.arange(4)) is found
    monkeypatch.undo()
    f = torus(3, 4).build()
    a, b = f.device_a, f.device_b
    whole = Network.both_ways(np.ones(12, dtype=np.bool_), a, b)
    assert is_node_transitive(f, whole, np.arange(12)) and not is_node_transitive(
        f, Network.both_ways(np.ones(12, dtype=np.bool_), a[1:], b[1:]), np.arange(12)
    )


def test_nodes_that_are_tried_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a ring of six: a cell is left after so many nodes one after the other without an image, and the search where it gains
    nothing; a node that another image leads to is not tried."""
    ring = graph(6, [(v, (v + 1) % 6, 1) for v in range(6)], [1] * 6, [True] * 6)
    tried: list[tuple[int, int]] = []
    two = np.array([2, 3, 4, 5, 0, 1])

    def explored(most: int, *hits: int) -> list[int]:
        tried.clear()

        def image(search: Any, path: Any, depth: int, other: int, last: Any) -> Any:
            tried.append((depth, other))
            return two if depth == 0 and other in hits else None

        monkeypatch.setattr(module, "_find_automorphism", image)
        found = automorphism_orbits(ring, replace(DEFAULT, automorphism_rounds=most))
        assert len(found.images) == len([x for x in tried if x[0] == 0 and x[1] in hits])
        return [other for depth, other in tried if depth == 0]

    assert explored(1) == [1] and explored(2) == [1, 2] and explored(3) == [1, 2, 3] and explored(12) == [1, 2, 3, 4, 5]
    assert [depth for depth, _ in tried] == [0] * 5 + [1]
    assert explored(2, 2) == [1, 2, 3, 5] and explored(1, 1) == [1, 3] and explored(3, 2) == [1, 2, 3, 5]
