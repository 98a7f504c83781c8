"""How near the neighbours of a device can stand at best, and how devices are dealt out to racks: small cases of numbers alone,
against every choice or worked out by hand."""

from __future__ import annotations

from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from tdsl.physical import length_bound as bound
from tdsl.physical.auto import MERGED, OPEN, Content, _Floor, _Unplaceable
from tdsl.physical.length_bound import _Around, _count_fitting, _distances_to_other_hall, _nearest_rack_distances

HALF = 22_225
"""Micrometres of half a rack unit."""


class Kind(NamedTuple):
    """The limits of a rack: units, watts, kilograms."""

    height: int | None
    watts: float | None
    mass: float | None


def hall(rows: list[int], rack_pitch: int | None, row_pitch: int | None, tray: int | None = 2600) -> Any:
    """A hall by the racks of its rows, in millimetres."""
    shape = [SimpleNamespace(racks=[(n, None) for n in range(count)]) for count in rows]
    over = None if tray is None else SimpleNamespace(height=tray)
    return SimpleNamespace(rows=shape, rack_pitch=rack_pitch, row_pitch=row_pitch, tray=over, name=f"h{rows}")


def around(
    halls: list[Any], kinds: list[Kind], each: int | None = None, distances: dict[tuple[int, int], int] | None = None
) -> Any:
    """Every rack of the halls free, with kinds of racks in turn."""
    at = np.array([h for h, x in enumerate(halls) for r in x.rows for _ in r.racks])
    rack_kind = [kinds[k % len(kinds)] for k in range(len(at))]
    p = SimpleNamespace(rack_hall=at, rack_kind=rack_kind, halls=halls, distances=distances or {})
    return _Around(SimpleNamespace(places=p), SimpleNamespace(hosts_per_rack=each), list(range(len(at))))  # type: ignore[arg-type]


def test_grid() -> None:
    """From the rack in the middle: one at each side, then two, and rows likewise."""
    assert _nearest_rack_distances(hall([3, 2], 600, 1000)) == [0, 600, 600, 1000, 1600, 1600]
    assert _nearest_rack_distances(hall([4], 600, None)) == [0, 600, 600, 1200] and _nearest_rack_distances(hall([1, 1, 1, 1, 1], None, 2000)) == [
        0, 2000, 2000, 4000, 4000,
    ]  # fmt: skip
    assert _nearest_rack_distances(hall([2, 2], None, None)) == [0, 0, 0, 0]
    assert _distances_to_other_hall(hall([3, 2], 1, 1), 7000) == [7000] * 5
    assert [_count_fitting(*x) for x in ((7, 2), (6, 2), (1, 2), (-3, 2), (7, 0), (0, 1))] == [3, 3, 0, 0, OPEN, 0]


def test_ways_over_several_halls() -> None:
    """The racks of another hall stand at the distance between the halls, at none where that is not stated; the k-th way is the
    least over all halls."""
    kinds = [Kind(10, None, None)]
    two = [hall([3], 600, None), hall([2], 900, None)]
    assert around(two, kinds, None, {(0, 1): 5000, (1, 0): 5000}).ways == [0, 600_000, 600_000, 5_000_000, 5_000_000]
    assert around(two, kinds, None, {(0, 1): 500, (1, 0): 500}).ways == [0, 500_000, 500_000, 500_000, 600_000]
    assert around(two, kinds).ways == [0, 0, 0, 0, 600_000]
    assert around(two[:1], kinds).ways == [0, 600_000, 600_000]
    uneven = [hall([3, 1], 600, 1000), hall([2], 900, None)]
    far = {(0, 1): 9000, (1, 0): 9000}
    assert around(uneven, kinds, None, far).ways == [0, 600_000, 600_000, 1_000_000, 1_600_000, 1_600_000]


def test_limits_are_the_greatest_of_all_racks() -> None:
    kinds = [Kind(10, 4000.5, None), Kind(None, 3000, 70.25), Kind(12, None, 20)]
    assert around([hall([3], 600, None)], kinds).most == (12, OPEN, OPEN)
    assert around([hall([2], 600, None)], kinds).most == (10, 4_000_500, OPEN)
    assert around([hall([2], 600, None)], [kinds[1], Kind(3, 1, 2)]).most == (3, 3_000_000, 70_250)
    assert around([hall([2], 600, None)], [Kind(None, 1, 2)]).most == (0, 1000, 2000)
    assert _Floor.limits(kinds[1]) == (0, 3_000_000, 70_250) and _Floor.limits(kinds[0]) == (10, 4_000_500, OPEN)  # type: ignore[arg-type]


@pytest.mark.parametrize("tray", [None, 0, 40, 200, 3000])
def test_rise_over_every_unit(tray: int | None) -> None:
    """A device of some units at every place of a rack of 5: from its middle to the tray."""
    floor = around([hall([2], 600, 1000, tray)], [Kind(5, None, None)])
    for units in range(1, 6):
        middles = [(2 * (at - 1) + units) * HALF for at in range(1, 7 - units)]
        over = (tray or 0) * 1000
        within = min(middles) <= over <= max(middles)
        assert floor.rise(units) == (0 if within else min(abs(m - over) for m in middles))
    both = around([hall([1], 600, 1000, 3000), hall([1], 600, 1000, 2500)], [Kind(5, None, None)])
    assert both.rise(1) == 2_500_000 - 9 * HALF


def test_devices_a_rack_takes() -> None:
    """As many as each limit takes, and of hosts no more than is asked, one less beside a host."""
    floor = around([hall([2], 600, None)], [Kind(10, 5, 7)], each=3)
    assert floor.whole((2, 2000, 1000), False) == 2 and floor.whole((3, 0, 0), False) == 3
    assert floor.whole((1, 1, 1), False) == 10 and floor.whole((1, 1, 1), True) == 3 and floor.whole((5, 1, 1), True) == 2
    assert floor.whole((1, 0, 2000), False) == 3
    assert floor.beside((4, 0, 0), (3, 0, 0), False, False) == 2 and floor.beside((1, 4000, 0), (1, 1000, 0), False, True) == 1
    assert floor.beside((1, 0, 6000), (1, 0, 500), False, True) == 2
    assert floor.beside((1, 0, 0), (1, 0, 0), True, True) == 2 and floor.beside((1, 0, 0), (1, 0, 0), True, False) == 3
    assert floor.beside((8, 0, 0), (1, 0, 0), True, True) == 2 and floor.beside((9, 0, 0), (1, 0, 0), True, True) == 1
    assert around([hall([2], 600, None)], [Kind(10, 5, 7)]).whole((1, 0, 0), True) == 10


def test_least_against_every_choice() -> None:
    """Cables to neighbours at the cheapest places: in the rack of the device, or at a rack of the grid. Counts descend."""
    random = Random(7)
    seen = set()
    for _ in range(300):
        height = random.randint(4, 12)
        floor = around(
            [hall([random.randint(1, 3)] * random.randint(1, 3), random.choice((100, 600)), 1000, random.choice((100, 2600)))],
            [Kind(height, None, None)], random.choice((None, 1, 2)),
        )  # fmt: skip
        own, other = (random.randint(1, 4), 0, 0), (random.randint(1, 4), 0, 0)
        hosts, is_host = random.random() < 0.5, random.random() < 0.5
        counts = tuple(sorted((random.choice((1, 2, 5)) for _ in range(random.randint(1, 7))), reverse=True))
        inside, vertical = (own[0] + other[0]) * HALF, floor.rise(own[0]) + floor.rise(other[0])
        beside = (height - own[0]) // other[0]
        whole = height // other[0]
        if hosts:
            beside, whole = min(beside, floor.each - is_host), min(whole, floor.each)
        costs = sorted([inside] * beside + [w + vertical for w in floor.ways[1:] for _ in range(whole)])
        assert floor.least(own, other, hosts, is_host, counts) == sum(n * c for n, c in zip(counts, costs, strict=False))
        near = min(beside, len(counts))
        upright = [min(inside, vertical)] * near + [vertical] * (len(counts) - near)
        assert floor.upright(own, other, hosts, is_host, counts) == sum(n * c for n, c in zip(counts, upright, strict=True))
        seen.add((inside < vertical, near == len(counts), len(costs) > len(counts)))
    assert len(seen) >= 6


def floor_of(sizes: list[tuple[int, int, int]], **asked: Any) -> Any:
    """A floor that knows the sizes of devices and what is asked."""
    floor: Any = object.__new__(_Floor)
    floor.__dict__["size"] = np.array(sizes, dtype=np.int64).reshape(-1, 3)
    floor.asked = SimpleNamespace(**{"switches": "middle", "hosts_per_rack": None, "halls": (), **asked})
    return floor


def test_racks_are_filled_in_order() -> None:
    """A new rack where any of the limits, or the number of devices, would be passed; none where they are met."""
    random = Random(3)
    for _ in range(200):
        sizes = [tuple(random.randint(0, 3) for _ in range(3)) for _ in range(random.randint(0, 8))]
        limits, each = tuple(random.randint(3, 6) for _ in range(3)), random.choice((1, 2, 3, OPEN))
        racks: list[list[int]] = []
        for d in range(len(sizes)):
            last = [*(racks[-1] if racks else ()), d]
            fits = all(sum(sizes[e][k] for e in last) <= limits[k] for k in range(3)) and len(last) <= each
            if racks and fits:
                racks[-1].append(d)
            else:
                racks.append([d])
        assert floor_of(sizes)._filled(range(len(sizes)), limits, each) == racks  # type: ignore[arg-type]
    for axis in range(3):
        size = [1, 1, 1]
        size[axis] = 5
        assert floor_of([tuple(size)])._filled([0], (5, 5, 5), 9) == [[0]]  # type: ignore[list-item]
        least = [9, 9, 9]
        least[axis] = 4
        with pytest.raises(_Unplaceable):
            floor_of([tuple(size)])._filled([0], tuple(least), 9)  # type: ignore[list-item]


def test_switches_in_the_racks_of_hosts() -> None:
    """The fewest racks, no fewer than the hosts alone take, for which even shares in order hold under every limit."""
    random = Random(5)
    refused = 0
    for _ in range(300):
        hosts, switches = random.randint(0, 6), random.randint(0, 4)
        sizes = [(2, random.randint(0, 2), 1)] * hosts + [(1, random.randint(0, 2), random.randint(0, 2))] * switches
        limits, each = (random.randint(2, 8), random.randint(2, 6), random.randint(2, 6)), random.choice((1, 2, 3, OPEN))
        own, others = list(range(hosts)), list(range(hosts, hosts + switches))
        alone = floor_of(sizes)._filled(own, limits, each) if hosts else []
        wanted = None
        for count in range(max(len(alone), 1), hosts + switches + 1):
            cut = [[x * i // count for i in range(count + 1)] for x in (hosts, switches)]
            share = [
                (own[cut[0][i] : cut[0][i + 1]], others[cut[1][i] : cut[1][i + 1]]) for i in range(count)
            ]  # fmt: skip
            if all(len(h) <= each and all(sum(sizes[d][k] for d in h + s) <= limits[k] for k in range(3)) for h, s in share):
                wanted = [Content(tuple(h), tuple(s)) for h, s in share if h or s]
                break
        if wanted is None:
            refused += 1
            with pytest.raises(_Unplaceable):
                floor_of(sizes)._top_of_rack(own, others, limits, each)
        else:
            assert floor_of(sizes)._top_of_rack(own, others, limits, each) == wanted
    assert 0 < refused < 150


def test_racks_of_switches_are_in_the_middle() -> None:
    """Clusters share racks of switches until they have as many racks of hosts as asked; the upper tiers stand between."""
    floor = floor_of([(1, 0, 0)] * 14, hosts_per_rack=2)
    floor.__dict__["clusters"] = [([0, 1, 2], [8]), ([3, 4], [9]), ([5, 6, 7], [10]), ([], [11, 12, 13])]

    def packed(merged: int, limits: tuple[int, int, int] = (2, 9, 9)) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        return [(c.hosts, c.network) for c in floor._packed(limits, merged)]

    a, b, c, d, e = (((0, 1), ()), ((2,), ()), ((3, 4), ()), ((5, 6), ()), ((7,), ()))
    up, per = [((), (11, 12)), ((), (13,))], [((), (k,)) for k in (8, 9, 10)]
    assert packed(1) == [a, per[0], b, c, per[1], *up, d, per[2], e]
    assert packed(3) == [a, b, ((), (8, 9)), c, *up, d, per[2], e]
    assert packed(4) == [a, b, c, ((), (8, 9)), ((), (10,)), d, e, *up]
    assert packed(MERGED[-1]) == [
        a, ((2, 3), ()), ((), (8, 9)), ((), (10,)), ((4, 5), ()), ((6, 7), ()), *up,
    ]  # fmt: skip
    floor.asked.switches = "top"
    assert packed(MERGED[-1], (9, 9, 9)) == [
        ((0,), ()), ((1, 2), (8,)), ((3, 4), (9,)), ((), (11, 12, 13)), ((5,), ()), ((6, 7), (10,)),
    ]  # fmt: skip
    floor.__dict__["clusters"] = [([0, 1, 2], [8])]
    floor.asked.switches = "middle"
    assert packed(8) == [a, ((), (8,)), b]
    floor.__dict__["clusters"] = []
    assert packed(8) == []


def test_slots() -> None:
    """Rows in a serpentine. Racks of switches are in the middle of each row, or at its end, evenly over the rows."""
    rows = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]
    snake = [0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10]
    for switches, count in product(("top", "middle", "end"), (0, 3, 5)):
        network = np.array([k < count for k in range(9)])
        slots, kind, order = floor_of([], switches=switches)._slots(rows, network)
        assert slots == snake
        if switches == "top" or not count:
            assert kind is None and order == list(range(9))
            continue
        chosen = {("middle", 3): {1, 5, 9}, ("middle", 5): {1, 2, 5, 6, 9}, ("end", 3): {3, 7, 10}, ("end", 5): {2, 3, 6, 7, 10}}
        assert {r for r, k in zip(snake, kind.tolist(), strict=True) if k} == chosen[switches, count], (switches, count)
        assert len(set(order)) == 9 and all(bool(kind[o]) == bool(n) for o, n in zip(order, network.tolist(), strict=True))
        firsts = sorted(o for o, n in zip(order, network.tolist(), strict=True) if not n)
        assert firsts == np.flatnonzero(~kind)[: 9 - count].tolist()


def test_bound_of_pairs_and_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given devices count with their runs, others with the least slack at both ends and the greater of two bounds: each
    pair at the end with more neighbours, alike models together, most cables first; or the paths with the vertical stretches."""
    asked: list[Any] = []
    along: int = 0
    monkeypatch.setattr(bound, "path_bound", lambda *x: along if asked.append(x) is None else 0)  # type: ignore[func-returns-value]
    random = Random(11)
    greater = set()
    for _ in range(120):
        count = random.randint(3, 8)
        given = [random.random() < 0.25 for _ in range(count)]
        joined = sorted({tuple(sorted(random.sample(range(count), 2))) for _ in range(random.randint(1, 12))})
        cables = {pair: random.choice((1, 2, 4)) for pair in joined}
        ends = [pair for pair, n in cables.items() for _ in range(n)]
        model = [random.randrange(2) for _ in range(count)]
        size = [(random.randint(1, 3), random.randint(0, 1), random.randint(0, 1)) for _ in range(count)]
        host = [random.random() < 0.5 for _ in range(count)]
        floor = around([hall([3, 3], 600, 1000, 2600)], [Kind(6, None, None)], random.choice((None, 2)))
        halls = [hall([3, 3], 600, 1000, 2600), hall([1], 600, 1000, 2600)]
        halls[0].slack, halls[1].slack = random.choice(((500, 300), (None, 300), (200, 400)))
        least = min(h.slack or 0 for h in halls) * 1000
        rack = [k if g else -1 for k, g in enumerate(given)]
        places = SimpleNamespace(
            device_rack=np.array(rack), halls=halls, rack_kind=[Kind(6, None, None)] * 7, distances={},
            rack_hall=np.array([0] * 6 + [1]),
        )  # fmt: skip
        fabric = SimpleNamespace(
            port_device=np.array([0, 0, *range(count)]), cable_a=np.array([a + 2 for a, _ in ends]),
            cable_b=np.array([b + 2 for _, b in ends]), device_count=count, device_model=np.array(model),
        )  # fmt: skip
        after = SimpleNamespace(top=np.arange(count), run=np.array([1_000_000 + 1000 * k for k in range(len(ends))]))
        open_pairs = {k: n for k, n in cables.items() if not given[k[0]] and not given[k[1]]}
        total = sum(int(after.run[k]) if given[a] and given[b] else 2 * least for k, (a, b) in enumerate(ends))
        degree = [sum(d in k for k in open_pairs) for d in range(count)]
        groups: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for (a, b), n in open_pairs.items():
            c, o = (a, b) if degree[a] >= degree[b] else (b, a)
            groups.setdefault((c, model[o]), []).append((-n, o))
        by_pairs = vertical = 0
        for (c, _), found in sorted(groups.items()):
            others = [o for _, o in sorted(found)]
            smallest = tuple(min(size[o][k] for o in others) for k in range(3))
            facts = size[c], smallest, host[others[0]], host[c], tuple(-n for n, _ in sorted(found))
            by_pairs += floor.least(*facts)
            vertical += floor.upright(*facts)
        along = random.choice((0, by_pairs - vertical, by_pairs - vertical + 1, by_pairs + 7))
        wanted = total + (max(by_pairs, along + vertical) if open_pairs else 0)
        columns = tuple(np.array([(*k, n)[i] for k, n in cables.items()]) for i in range(3))
        asked.clear()
        before: Any = SimpleNamespace(places=places, fabric=fabric)
        plan: Any = SimpleNamespace(hosts_per_rack=None if floor.each == OPEN else floor.each)
        one: Any = bound.length_bound(before, columns, np.array(size), np.array(host), plan, [*range(6)], after)  # type: ignore[arg-type]
        assert one == wanted
        greater.add((bool(open_pairs), along + vertical > by_pairs, any(given)))
        if open_pairs:
            ((own, pairs, lengths, racks, capacity),) = asked
            assert (own, lengths, racks) == (fabric, before, [*range(6)])
            assert list(zip(*(x.tolist() for x in pairs), strict=True)) == [(*k, n) for k, n in open_pairs.items()]
            for some in ([0], [0, 1], [1, 2]):
                smallest = tuple(min(size[d][k] for d in some) for k in range(3))
                assert capacity(np.array(some)) == floor.whole(smallest, all(host[d] for d in some))
    assert len(greater) >= 5
