"""Shortest paths between all units: distances as networkx finds them, and routes that bring all to where it belongs.

Loads are judged by the linear programs of `test_all_to_all.py`: what routes show is never more than what flows.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.equal_split import FAR, SHORT, UniformDemand, distance_times_demand, lengths_from_sources, route_equal_split
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import random_chips, random_fabric, random_layers, superpod, without

MAKERS = (
    lambda seed: random_fabric(seed, 4, 6, 2, 8, 1).build(),
    lambda seed: random_layers(seed).build(),
    lambda seed: random_chips(seed, 7, 12).build(),
    lambda seed: without(superpod(2, 3, 2, 2, uplinks=2).build(), np.random.default_rng(seed).choice(19, 3, replace=False)),
)


def graph(seed: int, longest: int) -> tuple[UnitGraph, np.ndarray, np.ndarray]:
    """The network between units, lengths of its links, and all distances by networkx; nothing passes what does not forward."""
    view = View.whole(MAKERS[seed % 4](seed))
    g = UnitGraph.of(view, unit_network(view))
    length = np.random.default_rng(seed).integers(1, longest, len(g.a), endpoint=True)
    far = np.full((g.nodes, g.nodes), FAR)
    for s in range(g.nodes):
        judge = nx.DiGraph()
        judge.add_nodes_from(range(g.nodes))
        for a, b, x in zip(g.a.tolist(), g.b.tolist(), length.tolist(), strict=True):
            judge.add_weighted_edges_from((v, w, x) for v, w in ((a, b), (b, a)) if g.forwards[v] or v == s)
        for v, x in nx.single_source_dijkstra_path_length(judge, s).items():
            far[s, v] = x
    return g, length, far


@pytest.mark.parametrize(("longest", "many"), [(9, 1), (9, 4000), (SHORT, 1), (2**36, 1), (2**36, 4000)])
def test_distances_by_another_search(longest: int, many: int) -> None:
    """Of few and of many sources, in 32 and in 64 bits."""
    for seed in range(8 if many == 1 else 4):
        g, length, far = graph(seed, longest)
        found = lengths_from_sources(g, length, np.tile(np.arange(g.nodes), many))
        assert found.dtype == np.int64 and (found.reshape(many, g.nodes, g.nodes) == far).all(), seed


def test_what_is_spent_is_distance_times_demand() -> None:
    """Of units to all others, those of one node by their shortest link and back; and of hubs to what they reach."""
    for seed in range(24):
        g, length, far = graph(seed, 3)
        for demand in (UniformDemand.all_to_all(g), UniformDemand.hubs(g, np.arange(g.nodes), g.nodes)):
            sources = np.flatnonzero(demand.senders)
            totals = []
            for s in sources.tolist():
                total = int(np.where(far[s] < FAR, far[s], 0) @ demand.parts)
                if demand.pairs and g.weight[s] > 1:
                    own = int(length[(g.a == s) | (g.b == s)].min())
                    total += (int(g.weight[s]) - 1) * 2 * own * int(demand.parts[s]) // int(g.weight[s])
                totals.append(total)
            assert distance_times_demand(g, length, sources, demand) == totals, seed
            apart = demand.pairs and (far[np.ix_(sources, np.flatnonzero(demand.parts))] >= FAR).any()
            assert (None in list(route_equal_split(g, length, sources, demand.senders[sources], demand))) == bool(apart), seed
