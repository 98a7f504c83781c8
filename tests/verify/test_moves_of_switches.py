"""Splits that are improved by moves, step by step as the rule says; clusters of switches with their hosts, and where a search
begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from random import Random
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Bools
from tdsl.prove.budget import DEFAULT
from tdsl.prove.cuts import capacity_across_split
from tdsl.prove.local_search import (
    _breadth_first_order,
    _Clusters,
    _cut_of_clusters,
    _fill_half,
    _move_each_cluster_once,
    _move_lightest_units,
    _starting_splits,
    cuts_by_local_search,
)
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import random_chips, random_fabric, random_layers, superpod

Links = dict[int, dict[int, int]]


def clusters(seed: int, most: int = 3) -> _Clusters:
    """Up to eight clusters with weights of 0 to ``most``, joined at random."""
    rng = Random(seed)
    count = rng.randint(2, 8)
    near: Links = {v: {} for v in range(count)}
    for v in range(count):
        for w in range(v):
            if rng.random() < 0.5:
                near[v][w] = near[w][v] = rng.randint(1, 5)
    weight = [rng.randint(0, most) for _ in range(count)]
    weight[0] = max(weight[0], 1)
    order = [(v, w, c) for v in range(count) for w, c in sorted(near[v].items())]
    start = np.array([sum(1 for x in order if x[0] < v) for v in range(count + 1)])
    columns = np.array(order, dtype=np.int64).reshape(-1, 3)
    return _Clusters(np.arange(count), np.array(weight), start, columns[:, 1], columns[:, 2])


def links(c: _Clusters) -> Links:
    out: Links = {}
    for v in range(len(c.weight)):
        mine = range(c.start[v], c.start[v + 1])
        out[v] = {int(c.near[i]): int(c.capacity[i]) for i in mine}
    return out


def crosses(near: Links, side: Sequence[bool]) -> int:
    return sum(c for v, x in near.items() for w, c in x.items() if v < w and side[v] != side[w])


def uneven(weight: Sequence[int], side: Sequence[bool]) -> int:
    """What one side has more than the other."""
    return sum(w if s else -w for w, s in zip(weight, side, strict=True))


def moved(c: _Clusters, side: list[bool]) -> list[bool] | None:
    """Every cluster moves once. Next comes the one by which least crosses, of those with no weight and those on the heavier side;
    where there is none, of those that leave the sides no more uneven than twice the greatest weight. The best state counts: the
    most even one, then the one with the least that crosses."""
    near, weight, side = links(c), c.weight.tolist(), list(side)
    free = set(near)
    first = (abs(uneven(weight, side)) // 2, crosses(near, side))
    states = [(first, list(side))]
    while free:
        over = uneven(weight, side)
        fit = [v for v in sorted(free) if not weight[v] or over == 0 or side[v] == (over > 0)]
        fit = fit or [v for v in sorted(free) if abs(over + (-2 if side[v] else 2) * weight[v]) <= 2 * max(weight)]
        if not fit:
            break

        def left(v: int) -> int:
            return crosses(near, [not s if v == i else s for i, s in enumerate(side)])

        v = min(fit, key=left)
        side[v] = not side[v]
        free.discard(v)
        states.append(((abs(uneven(weight, side)) // 2, crosses(near, side)), list(side)))
    best = min(x for x, _ in states)
    return None if best == first else next(s for x, s in states if x == best)


def test_moves_of_one_pass() -> None:
    better = 0
    for seed in range(360):
        c = clusters(seed, most=(0, 1, 2, 3, 9, 30)[seed % 6])
        side = [x < 0.5 for x in np.random.default_rng(seed).random(len(c.weight)).tolist()]
        before = np.array(side)
        found = _move_each_cluster_once(c, before)
        wanted = moved(c, side)
        assert (None if found is None else found.tolist()) == wanted, seed
        assert before.tolist() == side, "what was given stays as it is"
        better += found is not None
    assert 50 < better < 350


def test_what_less_crosses_by_a_move() -> None:
    for seed in range(40):
        c = clusters(seed)
        side = np.random.default_rng(seed).random(len(c.weight)) < 0.5
        near = links(c)
        now = crosses(near, side.tolist())
        after = [crosses(near, [not s if v == i else s for i, s in enumerate(side.tolist())]) for v in near]
        assert c.gains(side).tolist() == [now - x for x in after]


@cache
def graph(seed: int) -> UnitGraph:
    if seed % 4 == 0:
        f = superpod(2, 3, 2, 1 + seed % 3, omit_last=False, manager=False).build()
    elif seed % 4 == 1:
        f = random_layers(seed).build()
    elif seed % 4 == 2:
        f = random_chips(seed, chips=6, cables=9).build()
    else:
        f = random_fabric(seed, switches=5, hosts=7, nics=2, cables=6, loose=seed % 3).build()
    view = View.whole(f)
    return UnitGraph.of(view, unit_network(view), quotient=seed % 3 > 0)


def joined(g: UnitGraph) -> list[int]:
    """For every node the switch that it has its only link to, if it passes nothing on and that does, else itself."""
    ends: dict[int, list[int]] = {v: [] for v in range(g.nodes)}
    for a, b in zip(g.a.tolist(), g.b.tolist(), strict=True):
        ends[a].append(b)
        ends[b].append(a)
    return [x[0] if len(x) == 1 and not g.forwards[v] and g.forwards[x[0]] else v for v, x in ends.items()]


def test_hosts_with_one_link_move_with_their_switch() -> None:
    some = 0
    for seed in range(24):
        g = graph(seed)
        c = _Clusters.of_graph(g)
        own = joined(g)
        names = sorted(set(own))
        assert c.of.tolist() == [names.index(x) for x in own], seed
        assert c.weight.tolist() == [sum(int(g.weight[v]) for v in range(g.nodes) if own[v] == x) for x in names], seed
        wanted: Links = {v: {} for v in range(len(names))}
        for a, b, x in zip(g.a.tolist(), g.b.tolist(), g.capacity.tolist(), strict=True):
            v, w = names.index(own[a]), names.index(own[b])
            if v != w:
                wanted[v][w] = wanted[v].get(w, 0) + x
                wanted[w][v] = wanted[w].get(v, 0) + x
        every = {v: dict.fromkeys(x, 0) for v, x in wanted.items()}
        for v in wanted:
            for i in range(c.start[v], c.start[v + 1]):
                every[v][int(c.near[i])] += int(c.capacity[i])
        assert every == wanted and len(c.start) == len(names) + 1, seed
        some += len(names) < g.nodes
    assert some > 5


def test_half_of_the_weight_in_an_order() -> None:
    """As long as the middle of the next one is before half of all."""
    for seed in range(40):
        c = clusters(seed)
        order = Random(seed).sample(range(len(c.weight)), len(c.weight))
        weight, before, wanted = c.weight.tolist(), 0, set()
        for v in order:
            if 2 * before + weight[v] < sum(weight):
                wanted.add(v)
            before += weight[v]
        assert set(np.flatnonzero(_fill_half(c, np.array(order))).tolist()) == wanted, seed


def test_places_in_the_order_of_steps() -> None:
    """Breadth first, then what is not reached."""
    for seed in range(40):
        c = clusters(seed)
        near = links(c)
        for first in near:
            order = [first]
            for v in order:
                order += [w for w in near[v] if w not in order]
            assert _breadth_first_order(c, first).tolist() == order + [v for v in near if v not in order]


def test_the_order_of_fiedler_is_the_second_eigenvector() -> None:
    """After many steps, of connected clusters; and one step by hand."""
    checked = 0
    for seed in range(16):
        c = clusters(seed)
        judge = nx.Graph()
        judge.add_nodes_from(range(len(c.weight)))
        judge.add_weighted_edges_from((v, w, x) for v, y in links(c).items() for w, x in y.items())
        if not nx.is_connected(judge):
            continue
        values, vectors = np.linalg.eigh(nx.laplacian_matrix(judge, nodelist=range(len(c.weight))).toarray().astype(float))
        if len(values) > 2 and values[2] - values[1] < 0.3:
            continue
        found = c.fiedler(1500)
        vector = vectors[:, 1]
        assert abs(found.sum()) < 1e-6
        assert abs(abs(float(found @ vector)) - float(np.linalg.norm(found))) < 1e-5, seed
        checked += 1
    assert checked > 3
    one = clusters(3)
    first = one.fiedler(1)
    tail = np.repeat(np.arange(len(one.weight)), np.diff(one.start))
    degree = np.bincount(tail, one.capacity, len(one.weight))
    x = np.sin(np.arange(1, len(one.weight) + 1) ** 2.0)
    x -= x.mean()
    x = (2 * degree.max() - degree) * x + np.bincount(tail, one.capacity * x[one.near], len(one.weight))
    x /= np.abs(x).max()
    assert np.allclose(first, np.round(x - x.mean(), 9), atol=2e-9)


def test_where_a_search_begins() -> None:
    """From every split that is given (clusters by the most of their units), from Fiedler's order, and from places of chance."""
    for seed in range(12):
        g = graph(seed)
        c = _Clusters.of_graph(g)
        given = [np.random.default_rng(seed + k).random(len(g.unit_node)) < 0.5 for k in range(2)]
        found = [x.tolist() for x in _starting_splits(g, c, given, replace(DEFAULT, move_random_starts=3))]
        of = c.of[g.unit_node].tolist()
        for units, side in zip(given, found, strict=False):
            ours = [sum(1 for u, x in zip(units.tolist(), of, strict=True) if u and x == v) for v in range(len(c.weight))]
            assert side == [2 * x > w for x, w in zip(ours, c.weight.tolist(), strict=True)], seed
        assert found[2] == _fill_half(c, np.argsort(c.fiedler(DEFAULT.move_order_rounds), kind="stable")).tolist()
        chance = [int(x) % len(c.weight) for x in np.random.PCG64(1).random_raw(3).tolist()]
        assert found[3:] == [_fill_half(c, _breadth_first_order(c, x)).tolist() for x in chance], seed


@pytest.mark.parametrize("units", [6, 7])
def test_sides_are_made_even_by_units_with_little_capacity(units: int) -> None:
    """Of the side that has too many; of an odd number either may have one more."""
    inject = np.array([5, 3, 4, 3, 9, 1, 2][:units])
    made = SimpleNamespace(injection=inject)
    g: Any = SimpleNamespace(net=made)
    some = np.arange(units) < units - 1
    for count in range(4):
        for side in (True, False):
            mine = sorted((i for i in range(units) if some[i] == side), key=lambda i: int(inject[i]))[:count]
            found = _move_lightest_units(g, some, side, count)
            assert found.tolist() == [x != (i in mine) for i, x in enumerate(some.tolist())]


def test_cuts_of_clusters_are_even_and_counted() -> None:
    """Of an even number of units each side has half; of an odd number one side has one more, whichever it was."""
    for seed in range(24):
        g = graph(seed)
        c = _Clusters.of_graph(g)
        count = len(g.unit_node)
        for turn in range(6):
            side = np.random.default_rng(seed * 7 + turn).random(len(c.weight)) < (0.5, 0.1, 0.9)[turn % 3]
            units, nodes = side[c.of][g.unit_node], side[c.of][g.inner_node]
            found = _cut_of_clusters(g, c, side)
            have = int(units.sum())
            want = min(max(have, count // 2), count - count // 2)
            assert int(found.units.sum()) == want and found.nodes.tolist() == nodes.tolist(), seed
            changed = np.flatnonzero(found.units != units)
            assert len(changed) == abs(have - want) and all(units[x] == (have > want) for x in changed.tolist())
            assert found.value == capacity_across_split(g.net, found.units, nodes)


def test_passes_go_on_while_they_help() -> None:
    """A number of rounds at most for each start, and no further start once the work is done."""
    for seed in range(4):
        g = graph(seed)
        c = _Clusters.of_graph(g)
        given = [np.arange(len(g.unit_node)) % 2 == 0]
        for rounds in (0, 1, 2, 9):
            budget = replace(DEFAULT, move_rounds=rounds, move_random_starts=2)
            wanted = []
            for side in _starting_splits(g, c, given, budget):
                now: Bools | None = side
                for _ in range(rounds):
                    after = _move_each_cluster_once(c, side)
                    if after is None:
                        break
                    side = after
                assert now is not None
                wanted.append(_cut_of_clusters(g, c, side).units.tolist())
            assert [x.units.tolist() for x in cuts_by_local_search(g, given, budget)] == wanted, seed
        once = replace(DEFAULT, move_rounds=1, move_random_starts=2)
        for starts in range(4):
            work = starts * len(c.weight)
            assert len(list(cuts_by_local_search(g, given, replace(once, move_work=work)))) == min(starts + 1, 4)
            assert len(list(cuts_by_local_search(g, given, replace(once, move_work=max(work - 1, 0))))) == max(starts, 1)
