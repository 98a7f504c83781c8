"""Least cuts by elimination against every split, the order of it by its definition; splits of grids across one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, permutations, product
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.prove.budget import DEFAULT
from tdsl.prove.elimination import (
    _greedy_order,
    _neighbour_capacities,
    _table_rows_of_order,
    elimination_order,
    least_cut_by_elimination,
)
from tdsl.prove.flat_cuts import _place_of_layers, flat_splits
from tdsl.prove.network import CapacityPairs

# ---------------------------------------------------------------- elimination


def pairs(rng: Random, ends: list[tuple[int, int]], chance: float) -> CapacityPairs:
    """Some of these pairs, with capacities at random."""
    kept = sorted(x for x in ends if rng.random() < chance)
    columns = np.array([(*x, rng.randint(1, 9)) for x in kept], dtype=np.int64).reshape(-1, 3)
    return CapacityPairs(*columns.T)


def made(seed: int) -> Any:
    """Units and transit nodes with links of all three kinds, not always connected."""
    rng = Random(seed)
    n, m = rng.randint(2, 6), rng.randint(0, 5)
    chance = rng.choice([0.2, 0.4, 0.7])
    access = pairs(rng, list(product(range(n), range(m))), chance)
    trunks, loose = (pairs(rng, list(combinations(range(x), 2)), y) for x, y in ((m, chance), (n, chance * (seed % 2))))
    return SimpleNamespace(units=np.arange(n), transit=np.arange(m), access=access, trunks=trunks, loose=loose, half=n // 2)


def links(net: Any) -> list[tuple[int, int, int]]:
    n = len(net.units)
    return [
        (a + x, b + y, c)
        for p, x, y in ((net.access, 0, n), (net.trunks, n, n), (net.loose, 0, 0))
        for a, b, c in zip(p.a.tolist(), p.b.tolist(), p.capacity.tolist(), strict=True)
    ]


def least(net: Any, units: Sequence[bool]) -> int:
    """The least cut with these units on the one side."""
    sides = ([*units, *nodes] for nodes in product((False, True), repeat=len(net.transit)))
    return min(sum(c for a, b, c in links(net) if side[a] != side[b]) for side in sides)


def test_the_least_of_all_balanced_splits() -> None:
    """And a split that has it."""
    for seed in range(60):
        net = made(seed)
        n = len(net.units)
        found = least_cut_by_elimination(net)
        assert found is not None
        value, side = found
        assert int(side.sum()) in (n // 2, n - n // 2), seed
        every = [least(net, [i in chosen for i in range(n)]) for chosen in combinations(range(n), n // 2)]
        assert value == min(every) == least(net, side.tolist()), seed


def near_of(net: Any) -> list[set[int]]:
    near: list[set[int]] = [set() for _ in range(len(net.units) + len(net.transit))]
    for a, b, _ in links(net):
        near[a].add(b)
        near[b].add(a)
    return near


def test_capacities_between_devices() -> None:
    for seed in range(40):
        net = made(seed)
        found = _neighbour_capacities(net)
        assert {(a, b, c) for a, x in enumerate(found) for b, c in x.items()} == {
            y for a, b, c in links(net) for y in ((a, b, c), (b, a, c))
        }
        assert [set(x) for x in found] == near_of(net)


def opened(near: list[set[int]], done: Sequence[int]) -> list[int]:
    """Those that have a side while some neighbour has none."""
    return [v for v in done if near[v] - set(done)]


def ordered(near: list[set[int]], last: bool) -> tuple[list[int], int]:
    """Next comes what opens least; of those the neighbour of what was opened first, or last, then the lowest. And the most that
    are open at once."""
    done: list[int] = []
    most = 0
    while len(done) < len(near):
        waiting = [v for v in range(len(near)) if v not in done]
        front = opened(near, done)
        rim = [v for v in waiting if any(v in near[w] for w in front)] or waiting[:1]

        def rank(v: int, front: list[int] = front) -> tuple[int, int, int]:
            ages = [done.index(w) for w in front if v in near[w]] or [0]
            return len(opened(near, [*done, v])) - len(front), -max(ages) if last else min(ages), v

        done.append(min(rim, key=rank))
        most = max(most, len(opened(near, done)))
    return done, most


def test_orders_in_which_few_are_open() -> None:
    differ = 0
    for seed in range(150):
        net = made(seed)
        near = _neighbour_capacities(net)
        by = [ordered(near_of(net), last) for last in (False, True)]
        for ties, (wanted, width) in enumerate(by):
            assert _greedy_order(near, ties, width) == wanted, seed
            assert _greedy_order(near, ties, width - 1) is None, seed
            rows = sum(2 ** (len(opened(near_of(net), wanted[:i])) + 1) for i in range(len(wanted)))
            assert _table_rows_of_order(near, wanted) == rows, seed
        differ += by[0][0] != by[1][0]
        works = [_table_rows_of_order(near, x) for x, _ in by]
        chosen = [[v] for v in by[works.index(min(works))][0]]
        assert elimination_order(net) == chosen, seed
        exact = min(works) * (len(net.units) - net.half + 1)
        assert elimination_order(net, replace(DEFAULT, elimination_work=exact)) == chosen
        assert elimination_order(net, replace(DEFAULT, elimination_work=exact - 1)) is None
        assert least_cut_by_elimination(net, replace(DEFAULT, elimination_work=exact - 1)) is None
        devices = len(net.units) + len(net.transit)
        assert elimination_order(net, replace(DEFAULT, elimination_devices=devices)) == chosen
        assert elimination_order(net, replace(DEFAULT, elimination_devices=devices - 1)) is None
        narrow = min(x for _, x in by)
        assert (elimination_order(net, replace(DEFAULT, elimination_width=narrow - 1)) is None) and elimination_order(
            net, replace(DEFAULT, elimination_width=narrow)
        ) is not None
    assert differ > 20


def test_capacities_that_do_not_fit_are_not_added_up() -> None:
    """All links together below 2^61."""
    for kind in ("access", "trunks", "loose"):
        for total, fits in ((2**60, True), (2**61 - 1, True), (2**62, False)):
            one = CapacityPairs(np.array([0]), np.array([1]), np.array([total - 2], dtype=np.int64))
            two = CapacityPairs(np.array([0]), np.array([1]), np.array([1], dtype=np.int64))
            links_ = {k: one if k == kind else two for k in ("access", "trunks", "loose")}
            net: Any = SimpleNamespace(units=np.arange(2), transit=np.arange(2), half=1, **links_)
            assert (elimination_order(net) is not None) == fits
            if fits:
                found = least_cut_by_elimination(net)
                assert found is not None and found[0] == least(net, found[1].tolist())


# ---------------------------------------------------------------- grids


def grid(sizes: tuple[int, ...], wrapped: bool, shuffled: int = 0) -> tuple[Any, np.ndarray[Any, Any], list[tuple[int, ...]]]:
    """Units in a grid, the dimension of every link, and where each unit is in the grid."""
    at = list(product(*map(range, sizes)))
    number = list(range(len(at)))
    Random(shuffled).shuffle(number) if shuffled else None
    rows = []
    for i, place in enumerate(at):
        for d, size in enumerate(sizes):
            step = (*place[:d], (place[d] + 1) % size, *place[d + 1 :])
            if place[d] + 1 < size or (wrapped and size > 2):
                rows.append((number[i], number[at.index(step)], d))
    a, b, kind = np.array(rows).T
    units = np.arange(len(at))
    g: Any = SimpleNamespace(nodes=len(at), a=a, b=b, weight=np.ones(len(at), dtype=np.int64), unit_node=units[::-1].copy())
    where = [at[number.index(i)] for i in range(len(at))]
    return g, kind, where


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("sizes", [(4,), (5,), (2, 3), (3, 4), (3, 3), (2, 3, 4), (3, 3, 3)])
def test_half_of_the_layers_in_every_order_of_dimensions(sizes: tuple[int, ...], wrapped: bool) -> None:
    g, kind, where = grid(sizes, wrapped)
    count = len(where)
    wanted = []
    for dimensions in permutations(range(len(sizes))):
        order_ = sorted(range(count), key=lambda v, by=dimensions: ([where[v][d] for d in by], v))  # type: ignore[misc]
        wanted.append([v in order_[: count // 2] for v in range(count)][::-1])
    assert [side.tolist() for side in flat_splits(g, kind)] == wanted
    few = replace(DEFAULT, flat_orders=2)
    assert [side.tolist() for side in flat_splits(g, kind, few)] == wanted[:2]


@pytest.mark.parametrize("wrapped", [False, True])
def test_layers_have_places_along_their_line_or_ring(wrapped: bool) -> None:
    """In any numbering: a line from its end with the lower number, a ring from the layer with the lowest node to the lower of its
    neighbours."""
    for shuffled in range(1, 30):
        for sizes in ((5,), (4, 3), (6, 2)):
            g, kind, where = grid(sizes, wrapped, shuffled)
            size = sizes[0]
            first = {x: min(v for v in range(g.nodes) if where[v][0] == x) for x in range(size)}
            rank = {x: sorted(first, key=first.__getitem__).index(x) for x in range(size)}
            if wrapped:
                start = min(range(size), key=rank.__getitem__)
                step = min((1, -1), key=lambda d: rank[(start + d) % size])
            else:
                start = min((0, size - 1), key=rank.__getitem__)
                step = 1 if start == 0 else -1
            place = {(start + step * k) % size: k for k in range(size)}
            found = _place_of_layers(g, kind == 0)
            assert found is not None and found.tolist() == [place[where[v][0]] for v in range(g.nodes)]


def test_what_is_no_grid_has_no_flat_splits() -> None:
    g, kind, _ = grid((3, 4), True)
    assert len(list(flat_splits(g, kind, replace(DEFAULT, flat_dimensions=2)))) == 2
    assert not list(flat_splits(g, kind, replace(DEFAULT, flat_dimensions=1)))
    two = SimpleNamespace(**vars(g) | {"weight": g.weight + (np.arange(g.nodes) == 3)})
    none = SimpleNamespace(**vars(g) | {"weight": g.weight - (np.arange(g.nodes) == 3)})
    assert not list(flat_splits(two, kind)) and not list(flat_splits(none, kind))  # type: ignore[arg-type]
    empty: Any = SimpleNamespace(nodes=2, a=kind[:0], b=kind[:0], weight=np.ones(2), unit_node=np.arange(2))
    assert not list(flat_splits(empty, kind[:0]))
    every = np.ones(len(kind), dtype=np.bool_)
    assert _place_of_layers(g, ~every) is None, "all links are inside of the one layer"
    assert _place_of_layers(g, every) is None, "four neighbours each"
    ring, around, _ = grid((4,), True)
    chord: Any = SimpleNamespace(nodes=4, a=np.append(ring.a, 0), b=np.append(ring.b, 2))
    assert _place_of_layers(ring, around == 0) is not None and _place_of_layers(chord, np.ones(5, dtype=np.bool_)) is None


def test_lines_come_before_rings() -> None:
    """A ring of three layers, a line of two and one alone: the one alone, the line, then the ring."""
    g: Any = SimpleNamespace(nodes=6, a=np.array([0, 1, 2, 3]), b=np.array([1, 2, 0, 5]))
    found = _place_of_layers(g, np.ones(4, dtype=np.bool_))
    assert found is not None and found.tolist() == [3, 4, 5, 1, 0, 2]
    double: Any = SimpleNamespace(nodes=3, a=np.array([0, 0, 1, 1]), b=np.array([1, 1, 2, 2]))
    assert _place_of_layers(double, np.ones(4, dtype=np.bool_)) is not None, "parallel links count once"
