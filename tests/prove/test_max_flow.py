"""Maximum flows, their cuts, and nodes that no small cut separates, against networkx."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove import max_flow as module
from tdsl.prove.budget import DEFAULT
from tdsl.prove.max_flow import inseparable_groups, max_flow
from tdsl.prove.network import Network
from tdsl.prove.search import adjacency_network

GRAPHS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


def columns(edges):
    return np.array([e[0] for e in edges], dtype=np.int64), np.array([e[1] for e in edges], dtype=np.int64)


def weighted(n, edges):
    g = nx.Graph()
    g.add_nodes_from(range(n))
    for a, b in edges:
        if a != b:
            g.add_edge(a, b, capacity=g.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1)
    return g


@settings(max_examples=100, deadline=None)
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


@settings(max_examples=100, deadline=None)
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


def test_a_large_network():
    """Two random halves with 7 links between them, in one order of magnitude with a large fabric."""
    chance = np.random.default_rng(5)
    a, b = chance.integers(0, 500, 20_000), chance.integers(0, 500, 20_000)
    bridge = chance.choice(500, 7, replace=False)
    ends = np.concatenate((a, b + 500, bridge)), np.concatenate((b, a + 500, bridge + 500))
    net = Network.both_ways(np.ones(1000, dtype=np.bool_), *ends)
    assert net.arcs >= module.LARGE
    found = max_flow(net, 0, 999)
    assert found.value == 7 and found.side.tolist() == [True] * 500 + [False] * 500


def test_groups_are_not_looked_for_without_work() -> None:
    a, b = (np.array(x) for x in zip(*combinations(range(5), 2), strict=True))
    graph = adjacency_network(5, a, b)
    assert inseparable_groups(graph, 4).tolist() == [0] * 5
    assert inseparable_groups(graph, 4, replace(DEFAULT, contraction_work=0)).tolist() == [0, 1, 2, 3, 4]
