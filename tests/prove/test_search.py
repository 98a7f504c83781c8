"""Searches by distance, against networkx."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove.search import adjacency_network, eccentricities_of_sources, hop_distances, nodes_of_shortest_path

GRAPHS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


def ends_of(edges):
    return np.array([e[0] for e in edges], dtype=np.int64), np.array([e[1] for e in edges], dtype=np.int64)


def weighted(n, edges):
    g = nx.Graph()
    g.add_nodes_from(range(n))
    for a, b in edges:
        if a != b:
            g.add_edge(a, b, capacity=g.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1)
    return g


@settings(deadline=None)
@given(GRAPHS)
def test_adjacency_counts_parallel_links(given_graph):
    n, edges = given_graph
    graph, judge = adjacency_network(n, *ends_of(edges)), weighted(n, edges)
    for v in range(n):
        low, high = graph.start[v], graph.start[v + 1]
        found = dict(zip(graph.tail[low:high].tolist(), graph.capacity[low:high].tolist(), strict=True))
        assert found == {w: judge[v][w]["capacity"] for w in judge[v]}


def multigraph(n, edges):
    g = nx.MultiGraph()
    g.add_nodes_from(range(n))
    g.add_edges_from(e for e in edges if e[0] != e[1])
    return g


@settings(deadline=None)
@given(GRAPHS, st.data())
def test_eccentricities_are_farthest_distances(given_graph, data):
    n, edges = given_graph
    graph, judge = adjacency_network(n, *ends_of(edges)), multigraph(n, edges)
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    far, everywhere = eccentricities_of_sources(graph, np.arange(n), wanted)
    for v in range(n):
        reach = nx.single_source_shortest_path_length(judge, v)
        near = [reach[w] for w in np.flatnonzero(wanted).tolist() if w in reach]
        assert far[v] == max(near, default=0)
        if wanted.any():
            assert everywhere[v] == (len(near) == wanted.sum())
        assert hop_distances(graph, v).tolist() == [reach.get(w, -1) for w in range(n)]


def graph(seed: int, nodes: int, links: int) -> tuple[nx.Graph, list[tuple[int, int]]]:
    rng = Random(seed)
    edges = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(links)]
    made = nx.Graph()
    made.add_nodes_from(range(nodes))
    made.add_edges_from(e for e in edges if e[0] != e[1])
    return made, edges


@pytest.mark.parametrize("seed", range(40))
def test_shortest_paths(seed: int) -> None:
    nodes = 2 + seed % 9
    judge, edges = graph(seed, nodes, seed % 17)
    net = adjacency_network(nodes, *ends_of(edges))
    for source in range(nodes):
        reach = nx.single_source_shortest_path_length(judge, source)
        for target in range(nodes):
            found = nodes_of_shortest_path(net, source, target)
            if target not in reach:
                assert found == []
                continue
            assert len(found) == reach[target] + 1 and found[0] == source and found[-1] == target
            assert all(judge.has_edge(v, w) for v, w in pairwise(found))
