"""Components, distances, cuts and flows against networkx."""

from __future__ import annotations

from itertools import combinations
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.components import component_labels
from tdsl.prove.max_flow import inseparable_groups, max_flow
from tdsl.prove.network import Network
from tdsl.prove.search import adjacency_network, eccentricities_of_sources, hop_distances, nodes_of_shortest_path
from tdsl.prove.symmetry import equivalent_nodes

GRAPHS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


def columns(edges):
    return np.array([e[0] for e in edges], dtype=np.int64), np.array([e[1] for e in edges], dtype=np.int64)


def multigraph(n, edges):
    g = nx.MultiGraph()
    g.add_nodes_from(range(n))
    g.add_edges_from(e for e in edges if e[0] != e[1])
    return g


def weighted(n, edges):
    g = nx.Graph()
    g.add_nodes_from(range(n))
    for a, b in edges:
        if a != b:
            g.add_edge(a, b, capacity=g.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1)
    return g


@settings(deadline=None)
@given(GRAPHS)
def test_components_are_those_of_networkx(given_graph):
    n, edges = given_graph
    label = component_labels(n, *columns(edges))
    expected = {v: min(part) for part in nx.connected_components(multigraph(n, edges)) for v in part}
    assert label.tolist() == [expected[v] for v in range(n)]


def test_components_of_a_long_path():
    n = 20_000
    order = np.random.default_rng(1).permutation(n)
    assert (component_labels(n, order[:-1], order[1:]) == 0).all()


@pytest.mark.parametrize("seed", range(60))
def test_components_of_many_links(seed):
    """Links inside of blocks, in the order of a stride, and a few from one block to another."""
    random = np.random.default_rng(seed)
    n, blocks, links = int(random.integers(1, 40)), int(random.integers(1, 6)), int(random.integers(0, 4000))
    block = random.integers(0, blocks, n)
    a, b = random.integers(0, n, links), random.integers(0, n, links)
    kept = (block[a] == block[b]) | (random.random(links) < 1 / 2000)
    order = np.argsort(np.arange(links)[kept] % int(random.choice([1, 8, 64])), kind="stable")
    a, b = a[kept][order], b[kept][order]
    judge = multigraph(n, list(zip(a.tolist(), b.tolist(), strict=True)))
    expected = {v: min(part) for part in nx.connected_components(judge) for v in part}
    assert component_labels(n, a, b).tolist() == [expected[v] for v in range(n)]


def test_components_that_a_part_of_the_links_does_not_join():
    """Two blocks, and one link between them, at every place of the list."""
    a, b = np.tile([0, 2], 50), np.tile([1, 3], 50)
    for place in range(100):
        to = b.copy()
        to[place] = (a[place] + 2) % 4
        assert component_labels(4, a, to).tolist() == [0] * 4
    assert component_labels(4, a, b).tolist() == [0, 0, 2, 2]
    assert component_labels(0, a[:0], b[:0]).tolist() == []


@settings(deadline=None)
@given(GRAPHS)
def test_adjacency_counts_parallel_links(given_graph):
    n, edges = given_graph
    graph, judge = adjacency_network(n, *columns(edges)), weighted(n, edges)
    for v in range(n):
        low, high = graph.start[v], graph.start[v + 1]
        found = dict(zip(graph.tail[low:high].tolist(), graph.capacity[low:high].tolist(), strict=True))
        assert found == {w: judge[v][w]["capacity"] for w in judge[v]}


@settings(deadline=None)
@given(GRAPHS, st.data())
def test_eccentricities_are_farthest_distances(given_graph, data):
    n, edges = given_graph
    graph, judge = adjacency_network(n, *columns(edges)), multigraph(n, edges)
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    far, everywhere = eccentricities_of_sources(graph, np.arange(n), wanted)
    for v in range(n):
        reach = nx.single_source_shortest_path_length(judge, v)
        near = [reach[w] for w in np.flatnonzero(wanted).tolist() if w in reach]
        assert far[v] == max(near, default=0)
        if wanted.any():
            assert everywhere[v] == (len(near) == wanted.sum())
        assert hop_distances(graph, v).tolist() == [reach.get(w, -1) for w in range(n)]


def test_eccentricities_beyond_one_word_and_one_chunk(monkeypatch):
    monkeypatch.setattr("tdsl.prove.search._CHUNK", 70)
    ring = np.arange(200)
    graph = adjacency_network(200, ring, (ring + 1) % 200)
    far, everywhere = eccentricities_of_sources(graph, ring, np.ones(200, dtype=bool))
    assert (far == 100).all() and everywhere.all()


def test_path_is_shortest_or_empty():
    graph = adjacency_network(6, np.array([0, 1, 2, 0]), np.array([1, 2, 3, 3]))
    assert nodes_of_shortest_path(graph, 1, 3) in ([1, 2, 3], [1, 0, 3])
    assert nodes_of_shortest_path(graph, 0, 5) == []


def test_twins_have_equal_neighbours_with_equal_counts():
    graph = adjacency_network(6, np.array([0, 1, 2, 2, 3]), np.array([4, 4, 4, 4, 5]))
    assert [c.tolist() for c in equivalent_nodes(graph, np.arange(4))] == [[0, 1], [2], [3]]


@settings(max_examples=300, deadline=None)
@given(GRAPHS, st.integers(1, 6))
def test_tied_nodes_are_never_separated_by_fewer_links(given_graph, k):
    n, edges = given_graph
    label = inseparable_groups(adjacency_network(n, *columns(edges)), k)
    judge = weighted(n, edges)
    for u, v in combinations(range(n), 2):
        if label[u] == label[v]:
            assert nx.maximum_flow_value(judge, u, v) >= k


@pytest.mark.parametrize("seed", range(20))
def test_tied_finds_the_edge_connectivity_of_whole_graphs(seed):
    """A graph is one group for every k up to its edge connectivity."""
    judge = nx.gnm_random_graph(14, 40, seed=seed)
    edges = list(judge.edges)
    graph = adjacency_network(14, *columns(edges))
    connectivity = nx.edge_connectivity(judge)
    for k in range(1, connectivity + 1):
        assert len(set(inseparable_groups(graph, k).tolist())) == 1
    assert len(set(inseparable_groups(graph, connectivity + 1).tolist())) > 1


@settings(max_examples=300, deadline=None)
@given(GRAPHS)
def test_max_flow_and_its_cut(given_graph):
    n, edges = given_graph
    if n < 2:
        return
    graph, judge = adjacency_network(n, *columns(edges)), weighted(n, edges)
    found = max_flow(graph, 0, n - 1)
    assert found.value == nx.maximum_flow_value(judge, 0, n - 1)
    assert found.side[0] and not found.side[n - 1]
    assert found.value == sum(found.side[a] != found.side[b] for a, b in edges)
    over = np.bincount(graph.tail, found.flow, n) - np.bincount(graph.head, found.flow, n)
    assert over[0] == found.value == -over[n - 1] and not over[1:-1].any()
    assert (found.flow >= 0).all() and (found.flow <= graph.capacity).all()


ARCS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(1, 9)), max_size=30)


@settings(max_examples=200, deadline=None)
@given(ARCS)
def test_networks_of_one_way_arcs(arcs):
    """Arcs in order, parallel ones added up, turned round and back; and a maximum flow among them."""
    a, b, c = (np.array([x[i] for x in arcs], dtype=np.int64) for i in range(3))
    net, judge = Network.of(np.ones(7, dtype=bool), a, b, c), nx.DiGraph()
    judge.add_nodes_from(range(7))
    for v, w, x in arcs:
        if v != w:
            judge.add_edge(v, w, capacity=x + judge.get_edge_data(v, w, {"capacity": 0})["capacity"])
    listed = list(zip(net.head.tolist(), net.tail.tolist(), strict=True))
    assert listed == sorted((w, v) for v, w in judge.edges)
    assert all(judge[v][w]["capacity"] == x for (w, v), x in zip(listed, net.capacity.tolist(), strict=True))
    assert net.turned().turned().same_arcs(net)
    assert all(set(net.tail[mine].tolist()) == set(judge.predecessors(v)) for v, mine in enumerate(net.into))
    assert all(set(net.head[mine].tolist()) == set(judge.successors(v)) for v, mine in enumerate(net.out))
    found = max_flow(net, 0, 6)
    assert found.value == nx.maximum_flow_value(judge, 0, 6)
    assert found.value == int(net.capacity[found.side[net.tail] & ~found.side[net.head]].sum())


def test_contracted_adds_up_counts():
    rng = Random(3)
    edges = [(rng.randrange(8), rng.randrange(8)) for _ in range(30)]
    small = adjacency_network(8, *columns(edges)).contracted(np.arange(8) // 2, 4)
    for v in range(4):
        low, high = small.start[v], small.start[v + 1]
        for w, count in zip(small.tail[low:high].tolist(), small.capacity[low:high].tolist(), strict=True):
            assert count == sum({a // 2, b // 2} == {v, w} for a, b in edges)
