"""Searches by distance, against networkx."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove.search import adjacency_network, eccentricities_of_sources, hop_distances, nodes_of_shortest_path
from tests.prove.networks import column

GRAPHS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40))
)


@settings(deadline=None)
@given(GRAPHS, st.data())
def test_distances_eccentricities_and_paths(given_graph, data):
    n, edges = given_graph
    graph = adjacency_network(n, column(a for a, _ in edges), column(b for _, b in edges))
    judge = nx.MultiGraph()
    judge.add_nodes_from(range(n))
    judge.add_edges_from(e for e in edges if e[0] != e[1])
    wanted = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    far, everywhere = eccentricities_of_sources(graph, np.arange(n), wanted)
    for v in range(n):
        low, high = graph.start[v], graph.start[v + 1]
        found = dict(zip(graph.tail[low:high].tolist(), graph.capacity[low:high].tolist(), strict=True))
        assert found == {w: judge.number_of_edges(v, w) for w in judge[v]}
        reach = nx.single_source_shortest_path_length(judge, v)
        near = [reach[w] for w in np.flatnonzero(wanted).tolist() if w in reach]
        assert far[v] == max(near, default=0) and (not wanted.any() or everywhere[v] == (len(near) == wanted.sum()))
        assert hop_distances(graph, v).tolist() == [reach.get(w, -1) for w in range(n)]
        for w in range(n):
            path = nodes_of_shortest_path(graph, v, w)
            assert len(path) == reach.get(w, -1) + 1 and path[:1] + path[-1:] == ([v, w] if path else [])
            assert all(judge.has_edge(x, y) for x, y in pairwise(path))
