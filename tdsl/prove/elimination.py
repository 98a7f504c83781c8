"""The least cut of all balanced splits, one device after the other: exact where an order keeps few of them
open.

A device that has its side is *open* while some device it is joined to has none. What is still to come depends
on nothing but the sides of the open ones and how many units are on the one side, so the least that crosses by
then is kept for each of those. Source of the method: Bertelè and Brioschi, "Nonserial dynamic programming"
(1972); the most that are open at once is one more than the pathwidth (Kinnersley, "The vertex separation
number of a graph equals its path-width", Inf. Process. Lett. 42, 1992).
"""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.system.lazy_dataclass import dataclass

FAR = 2**61
"""More than all links carry together, in the nets that are looked at; twice as much fits in 64 bits."""


@dataclass(frozen=True, slots=True)
class _Closed:
    """A device whose side no longer matters: its place among the open ones, and the better side for each cell
    of the table."""

    place: int
    side: Bools


def least_cut_by_elimination(net: Network, budget: Budget = DEFAULT) -> tuple[int, Bools] | None:
    """The least cut of all balanced splits, and the units of one side; None where that would be too much
    work."""
    best = elimination_order(net, budget)
    return (
        None
        if best is None
        else _eliminate_in_order(_neighbour_capacities(net), [v for (v,) in best], len(net.units), net.half)
    )


def elimination_order(net: Network, budget: Budget = DEFAULT) -> list[list[int]] | None:
    """The order that devices take sides in, each alone, units numbered first; None where that would be too
    much work."""
    if len(net.units) + len(net.transit) > budget.elimination_devices:
        return None
    if sum(sum(p.capacity.tolist()) for p in (net.access, net.trunks, net.loose)) >= FAR:
        return None
    near = _neighbour_capacities(net)
    orders = [
        o
        for o in (_greedy_order(near, start, budget.elimination_width) for start in range(2))
        if o is not None
    ]
    best = min(orders, key=lambda o: _table_rows_of_order(near, o), default=None)
    if (
        best is None
        or _table_rows_of_order(near, best) * (len(net.units) - net.half + 1) > budget.elimination_work
    ):
        return None
    return [[v] for v in best]


def _neighbour_capacities(net: Network) -> list[dict[int, int]]:
    """Capacity between devices: units first, then nodes."""
    n = len(net.units)
    out: list[dict[int, int]] = [{} for _ in range(n + len(net.transit))]
    for pairs, x, y in ((net.access, 0, n), (net.trunks, n, n), (net.loose, 0, 0)):
        for a, b, capacity in zip(
            (pairs.a + x).tolist(), (pairs.b + y).tolist(), pairs.capacity.tolist(), strict=True
        ):
            out[a][b] = out[b][a] = capacity
    return out


def _greedy_order(near: list[dict[int, int]], ties: int, width: int) -> list[int] | None:
    """An order in which few are open: next comes what opens least, of those the one joined to what was opened
    first, or last."""
    left = [len(x) for x in near]  # devices joined to it that have no side yet
    done: dict[int, int] = {}
    opened = 0
    while len(done) < len(near):
        rim = {w for v in done if left[v] for w in near[v] if w not in done} or {
            min(set(range(len(near))) - set(done))
        }

        def growth(v: int) -> tuple[int, int, int]:
            closes = sum(w in done and left[w] == 1 for w in near[v])
            ages = [done[w] for w in near[v] if w in done and left[w]] or [0]
            return (any(w not in done for w in near[v]) - closes, min(ages) if ties == 0 else -max(ages), v)

        v = min(rim, key=growth)
        opened += growth(v)[0]
        if opened > width:
            return None
        done[v] = len(done)
        for w in near[v]:
            left[w] -= 1
    return list(done)


def _table_rows_of_order(near: list[dict[int, int]], order: list[int]) -> int:
    """Rows of all tables."""
    left = [len(x) for x in near]
    total, opened, done = 0, 0, set()
    for v in order:
        done.add(v)
        opened += 1
        total += 1 << opened
        for w in near[v]:
            left[w] -= 1
        opened -= sum(not left[w] for w in near[v] if w in done) + (not left[v])
    return total


def _eliminate_in_order(
    near: list[dict[int, int]], order: list[int], units: int, half: int
) -> tuple[int, Bools]:
    """Go through the order; then back, to see who was where."""
    left = [len(x) for x in near]
    table = np.full(units - half + 1, FAR, dtype=np.int64)
    table[0] = 0
    opened: list[int] = []
    steps: list[int | _Closed] = []
    for v in order:
        table = _add_open_device(
            table, [(opened.index(w), capacity) for w, capacity in near[v].items() if w in opened], v < units
        )
        opened.append(v)
        steps.append(v)
        for w in near[v]:
            left[w] -= 1
        for w in [w for w in opened if not left[w]]:
            place = opened.index(w)
            here, there = table.take(0, axis=place), table.take(1, axis=place)
            steps.append(_Closed(place, np.less(there, here, out=np.empty(here.shape, dtype=np.bool_))))
            table = np.minimum(here, there)
            opened.remove(w)
    count = min((half, units - half), key=lambda x: int(table[x]))
    return int(table[count]), _trace_sides_back(steps, count, units)


def _add_open_device(table: Ints, joined: list[tuple[int, int]], unit: bool) -> Ints:
    """The table with one more open device, the last; what it is joined to is at those places."""
    out = np.stack((table, table), axis=-2)
    if unit:
        out[..., 1, 1:], out[..., 1, 0] = table[..., :-1], FAR
    for place, capacity in joined:
        rows = np.moveaxis(out, place, 0)
        rows[0][..., 1, :] += capacity
        rows[1][..., 0, :] += capacity
    return out


def _trace_sides_back(steps: list[int | _Closed], count: int, units: int) -> Bools:
    """Which units are on the one side, from the last step back."""
    out = np.zeros(units, dtype=np.bool_)
    sides: list[int] = []
    for step in reversed(steps):
        if isinstance(step, _Closed):
            sides.insert(step.place, int(step.side[(*sides, count)]))
        elif sides.pop() and step < units:
            out[step] = True
            count -= 1
    return out
