"""The network between the units of a view, and its quotient by equal links."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from math import gcd

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.network import Network
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import networks_of_components, unit_network
from tdsl.prove.view import View
from tests.fabrics import random_chips, random_fabric, random_layers
from tests.prove.mixed_fabrics import all_rates, between_units, mixed, passing, table, units, views

SEEDS = range(28)


def components_of(net: Network, wanted: dict[tuple[int, int], int]) -> None:
    """Every component of transit nodes with all units, in order of their lowest node."""
    g, n = nx.Graph(), net.unit_count
    g.add_nodes_from(range(n, net.nodes))
    g.add_edges_from(key for key in wanted if key[0] >= n)
    used = [sorted(c) for c in nx.connected_components(g) if any(key[0] < n and key[1] in c for key in wanted)]
    labelled = replace(net, labels=(np.arange(net.nodes) * 3,))
    found = networks_of_components(labelled)
    assert len(found) == len(used)
    for part, inner in zip(found, sorted(used), strict=True):
        nodes = [*range(n), *inner]
        assert part.device.tolist() == net.device[nodes].tolist() and part.forwards.tolist() == net.forwards[nodes].tolist()
        assert [x.tolist() for x in part.labels] == [[3 * v for v in nodes]]
        assert part.unit_count == n and part.rates == net.rates
        mine = {(nodes.index(a), nodes.index(b)): x for (a, b), x in wanted.items() if b in inner}
        assert table(part) == mine | {(b, a): x for (a, b), x in mine.items()}
        assert list(table(part)) == sorted(table(part))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_network_between_units(seed: int) -> None:
    f = mixed(seed)
    for view in views(f, seed):
        net = unit_network(view)
        device, rates = between_units(view)
        grain = gcd(*all_rates(view)) or 1
        assert net.device.tolist() == device and net.unit_count == len(units(view))
        assert net.rates == tuple(all_rates(view)) and net.grain == grain
        assert net.forwards.tolist() == [d in passing(view) for d in device]
        wanted = {key: x // grain for key, x in rates.items()}
        assert table(net) == wanted | {(b, a): x for (a, b), x in wanted.items()}
        if not len(net.loose.a):
            components_of(net, wanted)


@pytest.mark.parametrize("seed", SEEDS)
def test_units_with_the_same_links_are_one_node(seed: int) -> None:
    """Of what does not forward and is linked to no unit; all capacity is kept."""
    made = (random_fabric(seed, 3, 5, 3, 4, seed % 8), random_layers(seed), random_chips(seed))
    view = View.whole(made[seed % 4 - 1].build() if seed % 4 else mixed(seed))
    net = unit_network(view)
    _, rates = between_units(view)
    n, near = net.unit_count, defaultdict[int, set[tuple[int, int]]](set)
    for (a, b), x in rates.items():
        near[a].add((b, x))
        near[b].add((a, x))
    single = {u for u in range(n) if not near[u] or net.forwards[u] or any(w < n for w, _ in near[u])}
    for quotient in (True, False):
        g = UnitGraph.of(view, net, quotient)
        of = g.unit_node.tolist()
        for u, v in combinations(range(n), 2):
            assert (of[u] == of[v]) == (quotient and not {u, v} & single and near[u] == near[v])
        assert int(g.weight.sum()) == n and int(g.capacity.sum()) * net.grain == sum(rates.values())
