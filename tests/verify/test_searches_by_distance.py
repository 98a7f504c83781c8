"""Searches by distance against networkx: many sources at once, closed arcs, paths, and lists of names."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.prove import search, shortest_paths
from tdsl.prove.budget import Budget
from tdsl.prove.search import (
    adjacency_network,
    eccentricities_of_sources,
    first_names_and_more,
    hop_distances,
    nodes_of_shortest_path,
)
from tdsl.prove.shortest_paths import FAR, Forwarders, classes_of, distances_in_chunks, one_orbit, search_is_affordable
from tdsl.prove.view import View
from tests.fabrics import Builder, random_chips, random_fabric, superpod, torus


def graph(seed: int, nodes: int, links: int) -> tuple[nx.Graph, list[tuple[int, int]]]:
    rng = Random(seed)
    edges = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(links)]
    made = nx.Graph()
    made.add_nodes_from(range(nodes))
    made.add_edges_from(e for e in edges if e[0] != e[1])
    return made, edges


def columns(edges: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([e[0] for e in edges], dtype=np.int64), np.array([e[1] for e in edges], dtype=np.int64)


@pytest.mark.parametrize(("nodes", "links"), [(5, 3), (8, 12), (130, 170), (150, 400)])
@pytest.mark.parametrize("chunk", [1, 64, 65, 100, 4096])
def test_farthest_targets(nodes: int, links: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources that are in several words and chunks, some of them twice; targets here and there."""
    monkeypatch.setattr(search, "_CHUNK", max(chunk, nodes // 10))
    judge, edges = graph(nodes + links, nodes, links)
    net, rng = adjacency_network(nodes, *columns(edges)), Random(chunk)
    for share in (0.1, 0.9):
        sources = [rng.randrange(nodes) for _ in range(nodes)]
        targets = np.array([rng.random() < share for _ in range(nodes)])
        targets[rng.randrange(nodes)] = True
        far, everywhere = eccentricities_of_sources(net, np.array(sources), targets)
        reach = [nx.single_source_shortest_path_length(judge, s) for s in sources]
        assert far.tolist() == [max((x for v, x in r.items() if targets[v]), default=0) for r in reach]
        assert everywhere.tolist() == [all(v in r for v in np.flatnonzero(targets).tolist()) for r in reach]
    far, everywhere = eccentricities_of_sources(net, np.zeros(0, dtype=np.int64), np.ones(nodes, dtype=np.bool_))
    assert (far.tolist(), everywhere.tolist(), far.dtype, everywhere.dtype) == ([], [], np.int64, np.bool_)


def test_farthest_targets_where_there_are_none() -> None:
    """No target is reached by all; without a link every node reaches itself."""
    net = adjacency_network(3, *columns([(0, 1)]))
    far, everywhere = eccentricities_of_sources(net, np.arange(3), np.zeros(3, dtype=np.bool_))
    assert far.tolist() == [0, 0, 0] and everywhere.tolist() == [True] * 3
    alone = adjacency_network(3, *columns([]))
    far, everywhere = eccentricities_of_sources(alone, np.arange(3), np.array([True, False, False]))
    assert far.tolist() == [0, 0, 0] and everywhere.tolist() == [True, False, False]


@pytest.mark.parametrize("seed", range(40))
def test_distances_over_open_arcs(seed: int) -> None:
    nodes = 2 + seed % 9
    _, edges = graph(seed, nodes, seed % 17)
    net, rng = adjacency_network(nodes, *columns(edges)), Random(seed)
    open_ = np.array([rng.random() < 0.6 for _ in range(net.arcs)], dtype=np.bool_)
    for closed in (None, open_):
        judge = nx.DiGraph()
        judge.add_nodes_from(range(nodes))
        for i, (v, w) in enumerate(zip(net.head.tolist(), net.tail.tolist(), strict=True)):
            if closed is None or closed[i]:
                judge.add_edge(v, w)
        for source in range(nodes):
            reach = nx.single_source_shortest_path_length(judge, source)
            assert hop_distances(net, source, closed).tolist() == [reach.get(v, -1) for v in range(nodes)]


@pytest.mark.parametrize("seed", range(40))
def test_shortest_paths(seed: int) -> None:
    nodes = 2 + seed % 9
    judge, edges = graph(seed, nodes, seed % 17)
    net = adjacency_network(nodes, *columns(edges))
    for source in range(nodes):
        reach = nx.single_source_shortest_path_length(judge, source)
        for target in range(nodes):
            found = nodes_of_shortest_path(net, source, target)
            if target not in reach:
                assert found == []
                continue
            assert len(found) == reach[target] + 1 and found[0] == source and found[-1] == target
            assert all(judge.has_edge(v, w) for v, w in pairwise(found))


@pytest.mark.parametrize(
    ("count", "limit", "text"),
    [
        (0, 3, ""), (1, 3, "a"), (2, 3, "a and b"), (3, 3, "a, b and c"), (4, 3, "a, b, c and 1 more"),
        (6, 3, "a, b, c and 3 more"), (6, 1, "a and 5 more"), (2, 2, "a and b"), (3, 2, "a, b and 1 more"),
    ],
)  # fmt: skip
def test_lists_of_names(count: int, limit: int, text: str) -> None:
    assert first_names_and_more("abcdef"[:count], limit) == text
    if limit == 3:
        assert first_names_and_more("abcdef"[:count]) == text


@pytest.mark.parametrize("chunk", [1, 30, 4_000_000])
@pytest.mark.parametrize("seed", range(12))
def test_distances_by_weight(seed: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights differ by direction and may be zero; the sources come as many at a time as the limit of entries allows."""
    monkeypatch.setattr(shortest_paths, "CHUNK", chunk)
    nodes = 3 + seed % 7
    _, edges = graph(seed, nodes, seed % 14)
    net, rng = adjacency_network(nodes, *columns(edges)), Random(seed)
    weight = np.array([rng.randint(0, 9) for _ in range(net.arcs)], dtype=np.int64)
    judge = nx.DiGraph()
    judge.add_nodes_from(range(nodes))
    for v, w, x in zip(net.tail.tolist(), net.head.tolist(), weight.tolist(), strict=True):
        judge.add_edge(v, w, weight=x)
    sources = np.array([*range(0, nodes, 2), *range(1, nodes, 2)])
    seen: list[int] = []
    sizes = []
    for chosen, far in distances_in_chunks(net, weight, sources):
        assert far.shape == (nodes, len(chosen))
        seen += chosen.tolist()
        sizes.append(len(chosen))
        for i, s in enumerate(chosen.tolist()):
            reach = nx.single_source_dijkstra_path_length(judge, s)
            assert far[:, i].tolist() == [reach.get(v, FAR) for v in range(nodes)]
    assert seen == sources.tolist()
    wide = max(chunk // max(net.arcs, nodes), 1)
    assert sizes[:-1] == [wide] * (len(sizes) - 1) and 0 < sizes[-1] <= wide


def test_work_of_searches_by_weight() -> None:
    """Links times sources times two steps more than twice the depth from the first node."""
    net = adjacency_network(4, *columns([(0, 1), (1, 2), (2, 3)]))
    work = 6 * 5 * (2 * 3 + 2)
    assert search_is_affordable(net, 5, Budget(distance_work=work))
    assert not search_is_affordable(net, 5, Budget(distance_work=work - 1))
    assert search_is_affordable(adjacency_network(0, *columns([])), 5, Budget(distance_work=-1))
    assert search_is_affordable(adjacency_network(2, *columns([])), 5, Budget(distance_work=0))


def test_forwarding_devices_of_a_view() -> None:
    """Four chassis with two hosts each; the last is not built, and a manager's link leads to no unit."""
    b = Builder("few")
    host = b.model("host", "NODE", {"nic": 2}, accelerators=1)
    switch = b.model("switch", "SW", {"p": 16})
    node = b.devices("node", host, 5)
    leaf = b.devices("leaf", switch, 4)
    spine = b.devices("spine", switch, 2)
    manager = b.devices("ufm", b.model("host", "UFM", {"p": 4}), None, role="manager")
    for h in range(5):
        b.link(b.free(node, h), b.free(leaf, h % 3))
    b.link(b.free(manager, 0), b.free(spine, 1))
    for x in range(4):
        for y in range(2):
            for _ in range(1 + (x == 2)):
                b.link(b.free(leaf, x), b.free(spine, y))
    b.omit(leaf.first + 3)
    view = View.whole(b.build())
    net = Forwarders.of(view)
    assert net.devices.tolist() == [*range(leaf.first, leaf.first + 3), spine.first, spine.first + 1]
    assert net.place.tolist() == [-1] * 5 + [0, 1, 2, -1, 3, 4, -1]
    assert net.access.tolist() == [True, True, True, False, False]
    wanted = sorted(
        [(x, y, 1 + (x == 2)) for x in range(3) for y in (3, 4)] + [(y, x, 1 + (x == 2)) for x in range(3) for y in (3, 4)]
    )
    assert sorted(zip(net.graph.tail.tolist(), net.graph.head.tolist(), net.graph.capacity.tolist(), strict=True)) == wanted
    ones = np.ones(net.graph.arcs, dtype=np.int64)
    assert [c.tolist() for c in classes_of(net, ones)] == [[0, 1, 2]]
    assert [c.tolist() for c in classes_of(net, net.graph.capacity)] == [[0, 1], [2]]
    assert not one_orbit(view, net, ones)


def test_fabrics_whose_switches_are_one_orbit() -> None:
    for made, one in (
        (torus(3, 4), True),
        (torus(2, 3), True),
        (random_chips(1), False),
        (superpod(2, 4, 2, 2), False),
        (random_fabric(2), False),
    ):
        view = View.whole(made.build())
        net = Forwarders.of(view)
        assert one_orbit(view, net, np.ones(net.graph.arcs, dtype=np.int64)) == one


def test_lengths_of_links_divide_an_orbit() -> None:
    """A ring of chips turns; with one link that is longer it does not."""
    view = View.whole(torus(6).build())
    net = Forwarders.of(view)
    weight = np.full(net.graph.arcs, 7)
    assert one_orbit(view, net, weight)
    weight[(net.graph.tail == 0) & (net.graph.head == 1)] = weight[(net.graph.tail == 1) & (net.graph.head == 0)] = 8
    assert not one_orbit(view, net, weight)
