"""Racks exchanged until no exchange shortens the cables, loads of trays and bends in racks: against plain definitions."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from tdsl.physical import arrangement
from tdsl.physical.arrangement import FAR, Arrangement, arrange_racks
from tdsl.physical.bends import Bends, Tight
from tdsl.physical.lengths import MM
from tdsl.physical.pulling import _first_leg_of_cable, pulling_columns
from tdsl.physical.trays import Stretch, Trays, _Loads


def problem(random: Random) -> Arrangement:
    """Contents, racks of two kinds or one, some given racks behind them, ways that may be unknown."""
    slots, fixed = random.randint(2, 7), random.randint(0, 2)
    racks = random.sample(range(20), slots + fixed)
    movable = random.randint(1, slots)
    network_slot, network = None, [random.random() < 0.4 for _ in range(movable)]
    start = random.sample(range(slots), movable)
    if random.random() < 0.5:
        own = [random.random() < 0.5 for _ in range(slots)]
        network_slot, network = np.array(own), [own[s] for s in start]
    at = [random.choice((0, 1, 2, 3, 7)) * 600_000 + random.choice((0, 999)) for _ in range(20)]
    unknown = {(a, b) for a in range(20) for b in range(20) if random.random() < 0.05}
    symmetric = unknown | {(b, a) for a, b in unknown}

    def way(a: Any, b: Any) -> Any:
        return np.array([-1 if (x, y) in symmetric else abs(at[x] - at[y]) for x, y in zip(a.tolist(), b.tolist(), strict=True)])

    size = movable + fixed
    every = [(a, b) for a in range(size) for b in range(size) if a != b]
    pairs = sorted(random.sample(every, min(len(every), random.randint(1, 8)))) if every else []
    rows = np.array([(*pair, random.randint(1, 5)) for pair in pairs], dtype=np.int64).reshape(-1, 3)
    a, b, count = rows.T
    lengths: Any = SimpleNamespace(way=way)
    return Arrangement(lengths, racks[:slots], network_slot, start, np.array(network), racks[slots:], size, a, b, count)


def exchanged(p: Arrangement) -> list[int]:
    """The same search, with all cables measured anew for each exchange."""
    racks = [*p.slots, *p.fixed]

    def far(r: int, q: int) -> int:
        way = int(p.lengths.way(np.array([racks[r]]), np.array([racks[q]]))[0])
        return 0 if r == q else FAR if way < 0 else way // MM

    at = [*p.start, *range(len(p.slots), len(racks))]
    pairs = list(zip(p.a.tolist(), p.b.tolist(), p.count.tolist(), strict=True))

    def total(of: list[int]) -> int:
        return sum(n * far(of[a], of[b]) for a, b, n in pairs)

    near = [{b if a == c else a for a, b, _ in pairs if c in (a, b)} for c in range(p.size)]
    order = sorted(range(len(p.start)), key=lambda c: (-len(near[c]), c))
    for _ in range(arrangement.SWEEPS):
        moved = False
        for c in order:
            slots = [
                s for s in range(len(p.slots))
                if near[c] and (p.network_slot is None or bool(p.network_slot[s]) == bool(p.network[c]))
            ]  # fmt: skip
            best = (0, -1)
            for s in slots:
                then = [at[c] if x == s else x for x in at]
                then[c] = s
                best = min(best, (total(then) - total(at), s if total(then) < total(at) else -1))
            if best[1] >= 0:
                at = [at[c] if x == best[1] else x for x in at]
                at[c] = best[1]
                moved = True
        if not moved:
            break
    return [p.slots[s] for s in at[: len(p.start)]]


def test_exchanges() -> None:
    moved = 0
    for seed in range(150):
        p = problem(Random(seed))
        found = arrange_racks(p)
        begun = [p.slots[s] for s in p.start]
        assert found == (exchanged(p) if len(p.start) > 1 else begun), seed
        moved += found != begun
    assert moved > 60


def test_how_long_is_searched(monkeypatch: Any) -> None:
    """Nothing is moved where there are more cells than may be held, and no cable or a single content to move."""
    p = next(
        p for p in map(problem, map(Random, range(99))) if len(p.start) == 2 and arrange_racks(p) != [p.slots[s] for s in p.start]
    )
    begun, best = [p.slots[s] for s in p.start], arrange_racks(p)
    cells = max(p.size, len(p.slots) + len(p.fixed)) * (len(p.slots) + len(p.fixed))
    for limit, wanted in ((cells, best), (cells - 1, begun)):
        monkeypatch.setattr(arrangement, "CELLS", limit)
        assert arrange_racks(p) == wanted


def test_loads_of_trays() -> None:
    """Each cable along its row to the best tray across, over it, and along the other row, a step between racks at a time."""
    crossed = 0
    for seed in range(80):
        random = Random(seed)
        rows = [SimpleNamespace(name=f"R{r}", racks=[(10 * r + n, None) for n in range(random.randint(2, 5))]) for r in range(3)]
        pitch, row_pitch = random.choice(((600, 1000), (800, 1500), (1, 1)))
        hall: Any = SimpleNamespace(rows=rows, rack_pitch=pitch, row_pitch=row_pitch)
        racks = [(x, y) for y, r in enumerate(rows) for x in range(len(r.racks))]
        most = max(len(r.racks) for r in rows)
        widest = next(r for r in rows if len(r.racks) == most)
        across = sorted(random.sample(range(min(len(r.racks) for r in rows)), random.randint(1, 2)))
        trays: Any = object.__new__(Trays)
        trays.places = SimpleNamespace(
            halls=["other", hall],
            rack_x=np.array([x * pitch for x, _ in racks]),
            rack_y=np.array([y * row_pitch for _, y in racks]),
        )
        lines = np.array(across) * pitch
        trays.physical = SimpleNamespace(lengths=SimpleNamespace(across={1: lines}.__getitem__))
        count = random.randint(0, 7)
        diameter = [random.choice((-1, 3, 5)) for _ in range(count + 3)]
        trays.__dict__["_diameter"] = np.array(diameter)
        legs = random.sample(range(count + 3), count)
        ra = [random.randrange(len(racks)) for _ in legs]
        rb = [random.choice((-1, random.randrange(len(racks)))) for _ in legs]
        loads: dict[Any, list[int]] = defaultdict(lambda: [0, 0, 0])
        for leg, a, b in zip(legs, ra, rb, strict=True):
            (xa, ya), (xb, yb) = racks[a], racks[b] if b >= 0 else (0, 0)
            at = xb if ya == yb else min(across, key=lambda x: (abs(xa - x) + abs(xb - x), x))
            crossed += ya != yb
            steps = [(False, ya, *sorted((xa, at))), (False, yb, *sorted((xb, at))), (True, at, *sorted((ya, yb)))]
            for over, line, low, high in steps:
                for k in range(low, high):
                    here = loads[over, line, k]
                    here[0] += 1
                    here[1 if diameter[leg] >= 0 else 2] += diameter[leg] ** 2 if diameter[leg] >= 0 else 1
        numbers = [n for n, _ in widest.racks]
        wanted = [
            Stretch(
                1,
                f"across at rack {numbers[line]} from row R{k} to R{k + 1}" if over
                else f"row R{line} from rack {numbers[k]} to {numbers[k + 1]}",
                over, line, k, *load,
            )
            for (over, line, k), load in sorted(loads.items())
        ]  # fmt: skip
        assert (
            trays._of_hall(1, np.array(legs, dtype=np.int64), np.array(ra, dtype=np.int64), np.array(rb, dtype=np.int64))
            == wanted
        )
    assert crossed > 50
    assert _Loads(2, 3, np.array([4])).found() == []
    assert Stretch(0, "", False, 0, 0, 1, 113 * 4 * 1_000_000, 0).fill(355) == 1


def test_tight_bends() -> None:
    """The rack at each end by itself: the cable that needs most, the first of equals, and how many need too much."""
    found_any = 0
    for seed in range(80):
        random = Random(seed)
        devices, racks, legs = 5, 4, random.randint(0, 9)
        bend = [random.choice((None, 20, 40)) for _ in range(racks)]
        rack = [random.choice((-1, *range(racks))) for _ in range(devices)]
        ends = [(random.randrange(devices), random.randrange(devices)) for _ in range(legs)]
        need = [random.choice((-1, 20_000, 20_001, 40_000, 60_000)) for _ in range(legs)]
        chosen = [random.random() < 0.8 for _ in range(legs)]
        fabric: Any = SimpleNamespace(
            port_device=np.arange(devices), cable_a=np.array([a for a, _ in ends], dtype=np.int64),
            cable_b=np.array([b for _, b in ends], dtype=np.int64),
        )  # fmt: skip
        places = SimpleNamespace(rack_kind=[SimpleNamespace(bend=b) for b in bend], device_rack=np.array(rack))
        physical: Any = SimpleNamespace(places=places, lengths=SimpleNamespace(top=np.arange(devices)))
        bends = Bends(fabric, physical)
        bends.__dict__["need"] = np.array(need, dtype=np.int64)
        wanted = []
        for r in range(racks):
            have = (bend[r] or 0) * 1000
            over = [k for end in (0, 1) for k in range(legs) if chosen[k] and rack[ends[k][end]] == r and need[k] > have]
            if bend[r] is not None and over:
                worst = max(need[k] for k in over)
                wanted.append(Tight(r, next(k for k in over if need[k] == worst), worst, have, len(over)))
        assert bends.tight(np.array(chosen, dtype=np.bool_)) == wanted
        found_any += bool(wanted)
    assert found_any > 30


def test_order_of_pulling() -> None:
    """Between racks first, row after row, the longest way first; then within racks; then those without a place."""
    for seed in range(60):
        random = Random(seed)
        racks, devices, count = 6, 9, random.randint(1, 10)
        halls = random.choice((1, 2))
        rack_hall = sorted(random.randrange(halls) for _ in range(racks))
        rack_row = [random.randrange(3) for _ in range(racks)]
        rack = [random.choice((-1, *range(racks))) for _ in range(devices)]
        group = [g for g in range(count) for _ in range(random.randint(1, 2))]
        random.shuffle(group)
        ends = {g: (random.randrange(devices), random.randrange(devices)) for g in range(count)}
        rank = random.sample(range(len(group)), len(group))
        length = {frozenset((a, b)): random.choice((-1, 5, 7)) for a in range(racks) for b in range(racks)}
        leader = [group.index(g) for g in range(count)]
        fabric: Any = SimpleNamespace(
            cable_group=np.array(group), port_device=np.arange(devices),
            cable_a=np.array([ends[g][0] if group.index(g) == k else 0 for k, g in enumerate(group)]),
            cable_b=np.array([ends[g][1] if group.index(g) == k else 0 for k, g in enumerate(group)]),
        )  # fmt: skip
        assert _first_leg_of_cable(fabric).tolist() == leader
        places = SimpleNamespace(
            device_rack=np.array(rack), rack_row=np.array(rack_row), rack_hall=np.array(rack_hall), halls=[0] * halls,
            rack_names=[f"r{r}" for r in range(racks)], hall_name=lambda r, of=rack_hall: f"h{of[r]}",
        )  # fmt: skip
        lengths = SimpleNamespace(
            top=np.arange(devices),
            way=lambda a, b, of=length: np.array([of[frozenset(x)] for x in zip(a.tolist(), b.tolist(), strict=True)]),
        )
        physical: Any = SimpleNamespace(places=places, lengths=lengths)
        columns = pulling_columns(fabric, physical, np.array(rank))
        keys, names = [], []
        for g in range(count):
            low, high = sorted(rack[d] for d in ends[g])
            kind = 2 if low < 0 else 1 if low == high else 0
            first = max(low, 0)
            way = length[frozenset((low, high))] if kind == 0 else 0
            at = (
                (rack_hall[first], rack_row[first])
                if any(min(rack[d] for d in e) >= 0 for e in ends.values())
                else (first, first)
            )
            keys.append((kind, *at, -way, low, high, rank[leader[g]]))
            name = [f"r{r}" if halls == 1 else f"h{rack_hall[r]}.r{r}" for r in (low, high)]
            names.append("" if low < 0 else name[0] if low == high else "/".join(name))
        turn = {g: k + 1 for k, g in enumerate(sorted(range(count), key=lambda g: keys[g]))}
        assert columns["pull_order"]() == [turn[g] for g in group]
        assert columns["bundle"]() == [names[g] for g in group]
