"""Routes along shortest paths in whole parts: all that is sent arrives, over paths that are as short as networkx says."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import networkx as nx
import numpy as np

from tdsl.prove.network import Network
from tdsl.prove.shortest_path_routing import NEVER, PARTS, amounts_fit_in_words, path_lengths, route_on_shortest_paths
from tests.prove.networks import arrives, column, columns, random_network, usable_arcs


def test_all_that_is_sent_arrives_by_shortest_paths() -> None:
    some = 0
    for seed in range(100):
        net, demands = random_network(seed, directed=seed % 2 == 0)
        rng = Random(seed)
        length = [rng.choice([1, 1, 2, 4]) for _ in range(net.arcs)]
        far = {s: nx.single_source_dijkstra_path_length(usable_arcs(net, s, length), s, weight="length") for s, _ in demands}
        rows = [(s, t, x) for (s, t), x in demands.items()] + [(s, s, 5) for s, _ in demands][:1]
        source, target, amount = columns(rows)
        who = np.unique(source)
        ways = path_lengths(net, column(length), who, 10**9)
        assert ways is not None
        assert ways[0].tolist() == [[far[s].get(v, NEVER) for s in who.tolist()] for v in range(net.nodes)], seed
        found = route_on_shortest_paths(net, column(length), source, target, amount, 10**9)
        if any(t not in far[s] for s, t in demands):
            assert found is None
            continue
        assert found is not None and found.flow is not None
        assert found.spent == sum(x * far[s][t] for (s, t), x in demands.items()), seed
        for s in who.tolist():
            mine = found.flow[0] == s
            load = {int(arc): Fraction(int(x), PARTS) for arc, x in zip(found.flow[1][mine], found.flow[2][mine], strict=True)}
            assert arrives(load, net, {pair: x for pair, x in demands.items() if pair[0] == s}), seed
        assert found.load.tolist() == np.bincount(found.flow[1], found.flow[2], net.arcs).astype(np.int64).tolist()
        few = route_on_shortest_paths(net, column(length), source, target, amount, 10**9, len(found.flow[0]) - 1)
        assert few is not None and few.flow is None and few.load.tolist() == found.load.tolist()
        assert route_on_shortest_paths(net, column(length), source, target, amount, found.work) is not None
        assert route_on_shortest_paths(net, column(length), source, target, amount, found.work - 1) is None
        some += 1
    assert some > 40


def test_many_sources_are_routed_as_few_are() -> None:
    """A ring with chords, every node a source, 64 and more at a time; and all amounts at once or one by one."""
    size = 80
    line = np.arange(size)
    net = Network.both_ways(np.ones(size, dtype=np.bool_), np.append(line, line), np.append(line + 1, line + 19) % size)
    target, amount, ones = (7 * line + 3) % size, 1 + line % 4, np.ones(net.arcs, dtype=np.int64)
    once = route_on_shortest_paths(net, ones, line, target, amount, 10**9)
    parts = [route_on_shortest_paths(net, ones, *(x[i : i + 1] for x in (line, target, amount)), 10**9) for i in range(size)]
    assert once is not None and once.load.tolist() == sum(x.load for x in parts if x is not None).tolist()  # type: ignore[union-attr]
    assert once.spent == sum(x.spent for x in parts if x is not None)


def test_amounts_that_fit_one_word() -> None:
    """All amounts in PARTS times the greatest capacity stay below 2^61; without arcs the capacity is 1."""
    most = (1 << 61) // PARTS
    assert amounts_fit_in_words(column([most]), column([1, 1])) and not amounts_fit_in_words(column([most + 1]), column([1]))
    assert amounts_fit_in_words(column([most]), column([])) and not amounts_fit_in_words(column([most + 1]), column([]))
    assert amounts_fit_in_words(column([most // 2 - 3, 3]), column([2, 1])) and not amounts_fit_in_words(
        column([most // 2, 1]), column([1, 2])
    )
