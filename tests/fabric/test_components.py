"""Components of links, against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.components import component_labels

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


@settings(deadline=None)
@given(GRAPHS)
def test_components_are_those_of_networkx(given_graph):
    n, edges = given_graph
    label = component_labels(n, *columns(edges))
    expected = {v: min(part) for part in nx.connected_components(multigraph(n, edges)) for v in part}
    assert label.tolist() == [expected[v] for v in range(n)]


@pytest.mark.parametrize("seed", range(20))
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
