"""Routes along shortest paths in whole numbers, node by node as the rule says: distances, loads, and which hubs send how much."""

from __future__ import annotations

from functools import cache
from math import gcd
from random import Random
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove import equal_split
from tdsl.prove.equal_split import (
    FAR,
    UniformDemand,
    _add_traffic_within_nodes,
    distance_times_demand,
    lengths_from_sources,
    route_equal_split,
)
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import Builder, random_chips, random_fabric, random_layers


@cache
def graph(seed: int) -> UnitGraph:
    """Hosts on switches, with links between hosts too, or chips; some hosts have the same links and are one node."""
    if seed % 4 == 0:
        f = random_fabric(seed, switches=4, hosts=6, nics=2, cables=7, loose=seed % 3).build()
    elif seed % 4 == 1:
        f = random_layers(seed).build()
    elif seed % 4 == 2:
        f = random_chips(seed, chips=6, cables=9).build()
    else:
        f = same_hosts(seed)
    view = View.whole(f)
    return UnitGraph.of(view, unit_network(view))


def same_hosts(seed: int) -> Fabric:
    """Up to four hosts on the same two switches by one link and two; the switches in a ring with others."""
    rng = Random(seed)
    b = Builder("same")
    sw = b.devices("s", b.model("switch", "S", {"p": 90}), 4)
    node = b.devices("h", b.model("host", "H", {"nic": 4}, accelerators=1), 9)
    for h in range(9):
        for s in (h // 4 % 3, h // 4 % 3 + 1, h // 4 % 3 + 1):
            b.link(b.free(node, h), b.free(sw, s))
    for s in range(4):
        for _ in range(rng.randint(1, 3)):
            b.link(b.free(sw, s), b.free(sw, (s + 1) % 4))
    return b.build()


def lengths(g: UnitGraph, seed: int, most: int = 4) -> Ints:
    rng = Random(seed)
    return np.array([rng.randint(1, most) for _ in g.a], dtype=np.int64)


def arcs(g: UnitGraph, length: Ints) -> list[tuple[int, int, int, int]]:
    """Tail, head, capacity and length of every arc, those into one node by their tails."""
    out = []
    for a, b, c, x in zip(g.a.tolist(), g.b.tolist(), g.capacity.tolist(), length.tolist(), strict=True):
        out += [(a, b, c, x), (b, a, c, x)]
    return sorted(out, key=lambda e: (e[1], e[0]))


def reach(g: UnitGraph, length: Ints, source: int) -> dict[int, int]:
    """Distances where only what forwards is passed through."""
    judge = nx.DiGraph()
    judge.add_nodes_from(range(g.nodes))
    judge.add_weighted_edges_from((a, b, x) for a, b, _, x in arcs(g, length) if g.forwards[a] or a == source)
    return nx.single_source_dijkstra_path_length(judge, source)


@pytest.mark.parametrize("most", [4, 2**36])
def test_distances_of_all_pairs(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By both ways to look at arcs, with lengths that fit 32 bits and longer ones."""
    for seed in range(24):
        g = graph(seed)
        length = lengths(g, seed, most)
        wanted = [[reach(g, length, s).get(v, FAR) for v in range(g.nodes)] for s in range(g.nodes)]
        for slot in (0, 10**9):
            monkeypatch.setattr(equal_split, "SLOT", slot)
            found = lengths_from_sources(g, length, np.arange(g.nodes))
            assert found.dtype == np.int64 and found.tolist() == wanted, seed
        some = np.array([g.nodes - 1, 0])
        assert lengths_from_sources(g, length, some).tolist() == [wanted[-1], wanted[0]]


@pytest.mark.parametrize("length", [1, 2**26 - 1, 2**26, 2**27, 2**32])
def test_distances_along_a_line(length: int) -> None:
    """Eight chips: the last is seven links from the first."""
    b = Builder("line")
    chip = b.devices("c", b.model("chip", "C", {"p": 2}, accelerators=1), 8)
    for i in range(7):
        b.link(b.free(chip, i), b.free(chip, i + 1))
    view = View.whole(b.build())
    g = UnitGraph.of(view, unit_network(view))
    found = lengths_from_sources(g, np.full(7, length), np.array([0, 3]))
    assert found.tolist() == [[length * x for x in range(8)], [length * abs(x - 3) for x in range(8)]]


def expected(g: UnitGraph, length: Ints, s: int, demand: UniformDemand) -> tuple[list[int], int] | None:
    """What one sender of a node puts on every link, and distance times demand; None if a unit is not reached."""
    far = reach(g, length, s)
    if demand.pairs and any(parts and v not in far for v, parts in enumerate(demand.parts.tolist())):
        return None
    every, weight = arcs(g, length), int(g.weight[s])
    link = {pair: i for i, (a, b) in enumerate(zip(g.a.tolist(), g.b.tolist(), strict=True)) for pair in ((a, b), (b, a))}
    into: dict[int, list[tuple[int, int]]] = {}
    for a, b, c, x in every:
        if a in far and far[a] + x == far.get(b) and (g.forwards[a] or a == s):
            into.setdefault(b, []).append((a, c // max(weight, 1) if a == s else c))
    load = [0] * len(g.a)
    arriving = {v: int(demand.parts[v]) for v in far if v != s and demand.parts[v]}
    length_of = sum(far[v] * int(demand.parts[v]) for v in far)
    while arriving:
        following: dict[int, int] = {}
        for v, amount in arriving.items():
            total = sum(c for _, c in into[v])
            parts = [amount * c // total for _, c in into[v]]
            parts[0] += amount - sum(parts)
            for (a, _), part in zip(into[v], parts, strict=True):
                load[link[a, v]] += part
                if part and a != s:
                    following[a] = following.get(a, 0) + part
        arriving = following
    if demand.pairs and weight > 1:
        mine = [
            (i, c) for i, (a, b, c) in enumerate(zip(g.a.tolist(), g.b.tolist(), g.capacity.tolist(), strict=True)) if s in (a, b)
        ]
        least = min(int(length[i]) for i, _ in mine)
        mine = [(i, c) for i, c in mine if length[i] == least]
        parts = [(weight - 1) * PARTS * c // sum(c for _, c in mine) for _, c in mine]
        parts[0] += (weight - 1) * PARTS - sum(parts)
        for (i, _), part in zip(mine, parts, strict=True):
            load[i] += 2 * part
        length_of += 2 * (weight - 1) * PARTS * least
    return load, length_of


def test_loads_of_every_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    """From units to all others, and from hubs to those that they reach; in one go, and two sources at a time."""
    apart, whole = 0, 0
    for seed in range(40):
        g = graph(seed)
        length = lengths(g, seed, 3)
        for demand in (UniformDemand.all_to_all(g), UniformDemand.hubs(g, np.arange(g.nodes), g.nodes)):
            sources = np.flatnonzero(demand.senders)
            wanted = [expected(g, length, int(s), demand) for s in sources]
            for cells in (10**6, 2 * g.network.arcs):
                monkeypatch.setattr(equal_split, "CELLS", cells)
                found = list(route_equal_split(g, length, sources, demand))
                each = len(sources) if cells == 10**6 else 2
                assert len(found) == -(-len(sources) // max(each, 1)), seed
                for at, one in enumerate(found):
                    mine = wanted[at * each : (at + 1) * each]
                    if one is None:
                        assert None in mine, seed
                        apart += 1
                        continue
                    assert None not in mine and one.sources.tolist() == sources[at * each : (at + 1) * each].tolist(), seed
                    shown = list(zip(one.load.tolist(), one.length.tolist(), strict=True))
                    assert shown == [tuple(x) for x in mine if x is not None], seed
                    whole += 1
            for s, result in zip(sources.tolist(), wanted, strict=True):
                if result is not None:
                    assert distance_times_demand(g, length, s, demand) == result[1], seed
    assert apart > 5 and whole > 80


def test_demands_between_all_units() -> None:
    for seed in range(12):
        g = graph(seed)
        found = UniformDemand.all_to_all(g)
        assert found.pairs and found.parts.tolist() == [PARTS * w for w in g.weight.tolist()]
        assert found.senders.tolist() == found.apart.tolist() == g.weight.tolist()


def hubs(g: UnitGraph, orbit: list[int], most: int) -> tuple[list[int], list[int]]:
    """Senders by the capacity of units below them, of every orbit at its first; and the fewest units on the other side."""
    links = list(zip(g.a.tolist(), g.b.tolist(), g.capacity.tolist(), strict=True))
    both = [(x, y, c) for a, b, c in links for x, y in ((a, b), (b, a))]
    inner = nx.Graph()
    inner.add_nodes_from(range(g.nodes))
    inner.add_edges_from((a, b) for a, b, _ in links if g.forwards[a] and g.forwards[b])
    below, senders = {v: {v} & set(np.flatnonzero(g.weight).tolist()) for v in range(g.nodes)}, [0] * g.nodes
    for end, hub, c in both:
        if g.weight[end] and g.forwards[hub]:
            below[hub].add(end)
            senders[orbit[hub]] += c
    apart = [0] * g.nodes
    for part in nx.connected_components(inner):
        units = set().union(*(below[v] for v in part if g.forwards[v]))
        reached = sum(int(g.weight[u]) for u in units)
        for v in part:
            apart[v] = max(len(g.net.units) // 2 - len(g.net.units) + reached, 0)
    firsts = [v for v in range(g.nodes) if senders[v] and apart[v]]
    step = -(-len(firsts) // most) or 1
    senders = [x if v in firsts[::step] else 0 for v, x in enumerate(senders)]
    common = gcd(*senders) or 1
    return [x // common for x in senders], apart


def test_hubs_that_send() -> None:
    few = 0
    for seed in range(40):
        g, rng = graph(seed), Random(seed)
        for orbit in (list(range(g.nodes)), [rng.choice([v, max(v - 1, 0)]) for v in range(g.nodes)]):
            for most in (1, 2, g.nodes):
                found = UniformDemand.hubs(g, np.array(orbit), most)
                senders, apart = hubs(g, orbit, most)
                assert found.senders.tolist() == senders, (seed, most)
                assert [x for x, y in zip(found.apart.tolist(), g.forwards.tolist(), strict=True) if y] == [
                    x for x, y in zip(apart, g.forwards.tolist(), strict=True) if y
                ], seed
                assert found.parts.tolist() == [PARTS * w for w in g.weight.tolist()] and not found.pairs
                few += 0 < sum(x > 0 for x in senders) == most < 3
    assert few > 10


def test_what_units_of_a_node_send_each_other() -> None:
    """Up and down the two shortest links, of capacities 4 and 7, the remainder on the first; a longer one carries nothing."""
    g: Any = SimpleNamespace(weight=np.array([3, 1]), a=np.array([0, 0, 0]), b=np.array([1, 2, 3]), capacity=np.array([4, 9, 7]))
    links = np.zeros((2, 3), dtype=np.int64)
    _add_traffic_within_nodes(g, np.array([2, 3, 2]), np.array([1, 0]), links)
    parts = [2 * PARTS * 4 // 11, 2 * PARTS * 7 // 11]
    assert sum(parts) == 2 * PARTS - 1
    assert links.tolist() == [[0, 0, 0], [2 * (parts[0] + 1), 0, 2 * parts[1]]]


def test_a_network_without_links() -> None:
    """Every node reaches itself alone."""
    b = Builder("none")
    b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 2)
    b.devices("s", b.model("switch", "S", {"p": 1}), 1)
    view = View.whole(b.build())
    g = UnitGraph.of(view, unit_network(view))
    nothing: Any = np.zeros(0, dtype=np.int64)
    found = lengths_from_sources(g, nothing, np.arange(g.nodes))
    assert found.tolist() == [[0 if x == y else FAR for y in range(g.nodes)] for x in range(g.nodes)]
