"""Cuts of small random networks, and the splits that are tried, against their definitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.budget import DEFAULT
from tdsl.prove.cuts import (
    _orders_of_groups,
    _pack_whole_groups,
    _unit_groupings,
    _units_by_block,
    _way_out,
    balanced_splits,
    capacity_across_split,
    cut_with_nodes_placed,
    minimum_cut_of_split,
)
from tdsl.prove.network import Network
from tests.fabrics import Builder


def network(seed: int, loose: bool = True, tiers: bool = False) -> Network:
    """A random network between 2 to 7 units and 0 to 5 other nodes; with ``tiers`` a tree with more links beside it."""
    rng = Random(seed)
    units, transit = rng.randint(2, 7), rng.randint(1 if tiers else 0, 5)
    nodes = units + transit
    links = []
    for _ in range(rng.randint(4, 14)):
        a, b = rng.sample(range(nodes), 2)
        if loose or max(a, b) >= units:
            links.append((a, b, rng.randint(1, 5)))
    if tiers:
        links = [(u, units + rng.randrange(max(transit // 2, 1)), rng.randint(1, 5)) for u in range(units)]
        links += [(units + k, units + rng.randrange(k), rng.randint(1, 5)) for k in range(1, transit)]
        links += [(units + k, units + rng.randrange(k), rng.randint(1, 5)) for k in range(1, transit) if rng.random() < 0.5]
    a, b, c = (np.array([x[i] for x in links], dtype=np.int64) for i in range(3))
    made = Network.both_ways(np.ones(nodes, dtype=np.bool_), a, b, c)
    return replace(made, device=np.arange(nodes), unit_count=units, rates=(1,))


def links_of(net: Network) -> list[tuple[int, int, int]]:
    """Every link once, with its capacity."""
    every = zip(net.tail.tolist(), net.head.tolist(), net.capacity.tolist(), strict=True)
    return [(a, b, c) for a, b, c in every if a < b]


def crosses(net: Network, side: list[bool]) -> int:
    return sum(c for a, b, c in links_of(net) if side[a] != side[b])


def halves(net: Network, rng: Random) -> np.ndarray:
    """A random balanced split."""
    out = np.zeros(net.unit_count, dtype=np.bool_)
    out[rng.sample(range(net.unit_count), net.half)] = True
    return out


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_what_crosses_and_the_least_that_can(first: int) -> None:
    """Capacity between two sides, and the least over all sides of the other nodes."""
    for seed in range(first, first + 50):
        net, rng = network(seed), Random(seed)
        units = halves(net, rng)
        ways = list(product((False, True), repeat=len(net.transit)))
        every = [crosses(net, [*units.tolist(), *way]) for way in ways]
        assert [capacity_across_split(net, units, np.array(way, dtype=np.bool_)) for way in ways] == every
        found = minimum_cut_of_split(net, units)
        assert (found.value, found.units.tolist()) == (min(every), units.tolist())
        assert crosses(net, [*found.units.tolist(), *found.nodes.tolist()]) == min(every)


def placed_by_hand(net: Network, units: np.ndarray, rounds: int) -> list[tuple[int, list[bool]]]:
    """All that the sweeps over the tiers find: values and sides of the nodes other than units."""
    n, count = net.unit_count, len(net.transit)
    sign = [1 if x else -1 for x in units.tolist()] + [0] * count
    near: list[list[tuple[int, int]]] = [[] for _ in sign]
    for a, b, c in links_of(net):
        if b >= n:
            near[a].append((b, c))
            near[b].append((a, c))
    for v in range(n, n + count):
        pull = sum(c * sign[w] for w, c in near[v] if w < n)
        sign[v] = (pull > 0) - (pull < 0)
    tiers = sorted({*net.tier.tolist()} - {-1})
    out = [(crosses(net, [x > 0 for x in sign]), [x > 0 for x in sign[n:]])]
    for sweep in range(rounds):
        for tier in tiers if sweep % 2 == 0 else reversed(tiers):
            mine = [n + v for v in range(count) if net.tier[v] == tier]
            force = [sum(c * sign[w] for w, c in near[v]) for v in mine]
            for v, x in zip(mine, force, strict=True):
                sign[v] = (x > 0) - (x < 0) or sign[v] or -1
        out.append((crosses(net, [x > 0 for x in sign]), [x > 0 for x in sign[n:]]))
    return out


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_nodes_go_to_the_side_that_they_have_more_capacity_to(first: int) -> None:
    """The best of a few sweeps, and never a better cut than the least."""
    for seed in range(first, first + 50):
        net, rng = network(seed, tiers=seed % 3 > 0), Random(seed)
        units = halves(net, rng)
        for rounds in (0, 1, 2):
            found = cut_with_nodes_placed(net, units, replace(DEFAULT, placing_rounds=rounds))
            every = placed_by_hand(net, units, rounds)
            assert (found.value, found.nodes.tolist()) == min(every, key=lambda x: x[0]), (seed, rounds)
        found = cut_with_nodes_placed(net, units)
        assert found.value <= placed_by_hand(net, units, 2)[-1][0] and found.value >= minimum_cut_of_split(net, units).value
        assert found.value == crosses(net, [*units.tolist(), *found.nodes.tolist()]) and found.units is units


def test_more_sweeps_improve_a_line() -> None:
    """A long line between two units, in which every node starts without a side: all go to one side, and one end link is cut."""
    count = 9
    links = [(0, 2), *((2 + i, 3 + i) for i in range(count - 1)), (1, 1 + count)]
    a, b = np.array(links, dtype=np.int64).T
    capacity = np.array([3, *[2] * (count - 1), 3])
    net = replace(
        Network.both_ways(np.ones(count + 2, dtype=np.bool_), a, b, capacity),
        device=np.arange(count + 2),
        unit_count=2,
        rates=(1,),
    )
    units = np.array([True, False])
    every = [cut_with_nodes_placed(net, units, replace(DEFAULT, placing_rounds=n)).value for n in range(13)]
    by_hand = [min(x for x, _ in placed_by_hand(net, units, n)) for n in range(13)]
    assert every == by_hand and every[-1] == 2 == minimum_cut_of_split(net, units).value


# ---------------------------------------------------------------- splits


def packed_by_hand(groups: list[list[int]], size: int) -> list[int]:
    """Whole groups that fill most of ``size``, early ones first where there is a choice, then the first that are left."""
    ways = [way for n in range(len(groups) + 1) for way in combinations(range(len(groups)), n)]
    fit = [(sum(len(groups[i]) for i in way), way) for way in ways]
    most = max(total for total, _ in fit if total <= size)
    chosen = min((way for total, way in fit if total == most), key=lambda way: [i not in way for i in range(len(groups))])
    rest = [x for i, group in enumerate(groups) if i not in chosen for x in group]
    return [*(x for i in chosen for x in groups[i]), *rest][:size]


@pytest.mark.parametrize("first", [0, 100])
def test_whole_groups_fill_a_side(first: int) -> None:
    for seed in range(first, first + 100):
        rng = Random(seed)
        sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 6))]
        order = rng.sample(range(sum(sizes)), sum(sizes))
        ends = np.cumsum(sizes).tolist()
        groups = [order[e - s : e] for s, e in zip(sizes, ends, strict=True)]
        for size in range(sum(sizes) + 1):
            found = _pack_whole_groups(np.array(order), ends, size).tolist()
            assert found == packed_by_hand(groups, size), (order, ends, size)


def test_units_group_by_group() -> None:
    """In ascending order of groups, in descending order, and with the least mean capacity out of the nodes first."""
    for seed in range(60):
        net, rng = network(seed, loose=False), Random(seed)
        label = np.array([rng.choice([3, 5, 8]) for _ in range(net.unit_count)])
        way = _way_out(net).tolist()
        groups = {x: [u for u in range(net.unit_count) if label[u] == x] for x in sorted({*label.tolist()})}
        mean = {x: Fraction(sum(way[u] for u in mine), len(mine)) for x, mine in groups.items()}
        orders = (sorted(groups), sorted(groups, reverse=True), sorted(groups, key=lambda x: (mean[x], x)))
        found = [(order.tolist(), ends) for order, ends in _orders_of_groups(net, label)]
        wanted = []
        for order in orders:
            ends = np.cumsum([len(groups[x]) for x in order]).tolist()
            wanted.append(([u for x in order for u in groups[x]], ends))
        assert found == wanted, seed


def test_what_a_unit_gets_out_of_its_nodes() -> None:
    """Its capacity to each node, in thousandths, times the part of it that the node can send on, one at most."""
    for seed in range(60):
        net = network(seed)
        n = net.unit_count
        way = [Fraction(0)] * n
        down, out = [0] * net.nodes, [0] * net.nodes
        for a, b, c in links_of(net):
            if a < n <= b:
                down[b] += c
            elif a >= n:
                out[a] += c
                out[b] += c
        for a, b, c in links_of(net):
            if a < n <= b:
                way[a] += c * min(Fraction(1), Fraction(out[b], down[b]))
        found = _way_out(net).tolist()
        assert all(abs(x - 1000 * y) <= Fraction(1, 2) + Fraction(1, 10**6) for x, y in zip(found, way, strict=True)), seed


def test_units_by_the_block_below_the_top_tier() -> None:
    """The lowest switch that a unit is linked to says which; with fewer than three tiers there are no blocks."""
    seen = set()
    for seed in range(200):
        net = network(seed, tiers=seed % 2 == 0)
        n, top = net.unit_count, int(net.tier.max(initial=0))
        nearest = [min((b - n for a, b, _ in links_of(net) if a == u and b >= n), default=-1) for u in range(n)]
        found = _units_by_block(net, np.array(nearest))
        seen.add(top)
        if top < 3:
            assert found is None
            continue
        graph = nx.Graph()
        graph.add_nodes_from(range(len(net.transit)))
        inner = [(a - n, b - n) for a, b, _ in links_of(net) if a >= n]
        graph.add_edges_from((a, b) for a, b in inner if max(net.tier[a], net.tier[b]) < top)
        lowest = {v: min(part) for part in nx.connected_components(graph) for v in part}
        assert found is not None and found.tolist() == [lowest.get(v, -1) for v in nearest], seed
    assert {2, 3, 4} <= seen


def mixed() -> tuple[Builder, Network]:
    """Hosts in pods of racks, hosts in pods of their own, and one beside them, on leaves in an order of their own."""
    b = Builder("mixed")
    host = b.model("host", "NODE", {"nic": 2}, accelerators=1)
    sets = [b.devices("pod.rack.node", host, 2, 2, 3), b.devices("box.node", host, 3, 2), b.devices("lone", host, None)]
    sw = b.devices("sw", b.model("switch", "SW", {"p": 40}), 3)
    first = [s.first for s in sets]
    links = []
    for u in range(19):
        device = u if u < 12 else first[1] + u - 12 if u < 18 else first[2]
        links.append((device, sw.first + (u * 5 + 1) % 3))
        if u % 4 == 0:
            links.append((device, sw.first + (u * 7 + 2) % 3))
    a, c = np.array(links).T
    made = Network.both_ways(np.ones(22, dtype=np.bool_), a, c, np.ones(len(a), dtype=np.int64))
    return b, replace(made, device=np.arange(22), unit_count=19, rates=(1,))


def test_groups_of_units() -> None:
    """By every depth of the indices of each declaration, by each single index, by the whole declaration, by the lowest leaf."""
    b, net = mixed()
    found = [x.tolist() for x in _unit_groupings(net, b.build())]
    pods, boxes = [(p, r, n) for p in range(2) for r in range(2) for n in range(3)], [(x, n) for x in range(3) for n in range(2)]
    by = [
        ([p for p, _, _ in pods], [12 + x for x, _ in boxes], [18]),
        ([p for p, _, _ in pods], [x for x, _ in boxes], [0]),
        ([2 * p + r for p, r, _ in pods], [12 + 2 * x + n for x, n in boxes], [18]),
        ([r for _, r, _ in pods], [n for _, n in boxes], [0]),
        (list(range(12)), list(range(12, 18)), [18]),
        ([n for _, _, n in pods], [0] * 6, [0]),
        ([0] * 12, [12] * 6, [18]),
        ([0] * 12, [0] * 6, [0]),
    ]
    leaf = [min((u * 5 + 1) % 3, (u * 7 + 2) % 3) if u % 4 == 0 else (u * 5 + 1) % 3 for u in range(19)]
    assert found == [*([*x, *y, *z] for x, y, z in by), leaf]


def splits_by_hand(net: Network, labels: list[np.ndarray]) -> Iterator[tuple[bool, ...]]:
    for label in labels:
        for order, ends in _orders_of_groups(net, label):
            for size in (net.half, net.unit_count - net.half):
                chosen = set(_pack_whole_groups(order, ends, size).tolist())
                yield tuple(u in chosen for u in range(net.unit_count))


def test_splits_of_all_groupings_each_once() -> None:
    b, net = mixed()
    f = b.build()
    found = [tuple(x.tolist()) for x in balanced_splits(net, f)]
    assert len(found) == len(set(found)) and {sum(x) for x in found} == {9, 10}
    assert set(found) == set(splits_by_hand(net, list(_unit_groupings(net, f))))
