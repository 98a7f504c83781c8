"""Maximum flows, their cuts, and nodes that no small cut separates, against networkx."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove.budget import DEFAULT
from tdsl.prove.max_flow import LARGE, inseparable_groups, max_flow
from tdsl.prove.network import Network
from tdsl.prove.search import adjacency_network
from tests.prove.networks import column

ENDS = st.integers(0, 11)
EDGES = st.integers(2, 12).flatmap(
    lambda n: st.lists(st.tuples(ENDS.map(lambda v: v % n), ENDS.map(lambda v: v % n)), max_size=40)
)


def both(edges):
    """The network of these edges, and networkx's."""
    n = 1 + max((v for e in edges for v in e), default=1)
    g = nx.empty_graph(n)
    for a, b in edges:
        if a != b:
            g.add_edge(a, b, capacity=g.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1)
    return n, adjacency_network(n, column(a for a, _ in edges), column(b for _, b in edges)), g


@settings(max_examples=100, deadline=None)
@given(EDGES)
def test_max_flow_and_its_cut(edges):
    n, graph, judge = both(edges)
    if n < 2:
        return
    found = max_flow(graph, 0, n - 1)
    assert found.value == nx.maximum_flow_value(judge, 0, n - 1)
    assert found.side[0] and not found.side[n - 1]
    assert found.value == sum(found.side[a] != found.side[b] for a, b in edges)
    over = np.bincount(graph.tail, found.flow, n) - np.bincount(graph.head, found.flow, n)
    assert over[0] == found.value == -over[n - 1] and not over[1:-1].any()
    assert (found.flow >= 0).all() and (found.flow <= graph.capacity).all()


@settings(max_examples=80, deadline=None)
@given(EDGES, st.integers(1, 6))
def test_tied_nodes_are_never_separated_by_fewer_links(edges, k):
    n, graph, judge = both(edges)
    label = inseparable_groups(graph, k)
    for u, v in combinations(range(n), 2):
        assert label[u] != label[v] or nx.maximum_flow_value(judge, u, v) >= k


def test_a_graph_is_one_group_up_to_its_edge_connectivity():
    """Without work each node is a group of its own."""
    for seed in range(20):
        judge = nx.gnm_random_graph(14, 40, seed=seed)
        _, graph, _ = both(list(judge.edges))
        connectivity = nx.edge_connectivity(judge)
        for k in range(1, connectivity + 2):
            assert (len(set(inseparable_groups(graph, k).tolist())) == 1) == (k <= connectivity), seed
    none = replace(DEFAULT, contraction_work=0)
    assert inseparable_groups(graph, connectivity, none).tolist() == list(range(14))


def test_a_large_network():
    """Two random halves with 7 links between them, in one order of magnitude with a large fabric."""
    chance = np.random.default_rng(5)
    a, b = chance.integers(0, 500, 20_000), chance.integers(0, 500, 20_000)
    bridge = chance.choice(500, 7, replace=False)
    ends = np.concatenate((a, b + 500, bridge)), np.concatenate((b, a + 500, bridge + 500))
    net = Network.both_ways(np.ones(1000, dtype=np.bool_), *ends)
    assert net.arcs >= LARGE
    found = max_flow(net, 0, 999)
    assert found.value == 7 and found.side.tolist() == [True] * 500 + [False] * 500
