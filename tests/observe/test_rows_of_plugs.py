"""Explanations of several cables at once: of moved rows of plugs, of exchanged devices and connectors, and of dark ones."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.observe.candidates import PortPositions, _runs_of_numbers, _shifts_along_row, candidate_mistakes
from tdsl.observe.difference import Cabling, Mistake
from tests.harness import fabric_of


def flat(ports: int, devices: int, ends: set[int] = frozenset(), lanes: int = 1, cage: int = 1, **given: Any) -> Any:  # type: ignore[assignment]
    """Devices with some ports each, in order; ``lanes`` to a connector and ``cage`` ports to a cage."""
    facts: dict[str, Any] = {
        "size": ports * devices,
        "model": [0] * devices,
        "device": lambda p: p // ports,
        "local": lambda p: p % ports,
        "ports": lambda d: range(d * ports, d * ports + ports),
        "rank": lambda p: p % ports,
        "connector": lambda p: p - p % lanes,
        "lanes": lambda c: list(range(c, c + lanes)),
        "cage": lambda p: p - p % cage,
        "fabric": SimpleNamespace(is_end=[d in ends for d in range(devices)]),
    }
    return SimpleNamespace(**{**facts, **given})


def cabling(planned: dict[int, int], seen: dict[int, int]) -> Cabling:
    """Both maps name each link once."""
    both = [{**m, **{b: a for a, b in m.items()}} for m in (planned, seen)]
    return Cabling(lambda p: both[0].get(p, -1), lambda p: both[1].get(p, -1))


def found(planned: dict[int, int], seen: dict[int, int], places: Any, absent: set[int] | None = None) -> list[Mistake]:
    ports = {p for m in (planned, seen) for a, b in m.items() for p in (a, b)}
    return list(candidate_mistakes(cabling(planned, seen), places, ports, lambda d: d in (absent or set())))


# ---------------------------------------------------------------- rows


def test_stretches() -> None:
    rng = Random(1)
    for _ in range(60):
        numbers = sorted(rng.sample(range(14), rng.randint(0, 10)))
        runs = [[n for _, n in g] for _, g in groupby(enumerate(numbers), lambda x: x[1] - x[0])]
        assert _runs_of_numbers(numbers) == [(r[0], r[-1]) for r in runs]


def by_definition(row: list[int], at: dict[int, int], moved: dict[int, int]) -> list[Mistake]:
    """Every shift, rotation and reversal of a stretch of a row that two plugs, or four for a reversal, speak for."""
    out = []
    n = len(row)
    device = (7,)

    def rotated(window: list[int], by: int) -> Mistake:
        size = len(window)
        target = window[by % size :] + window[: by % size]
        return Mistake(
            "rotated", tuple((row[i], row[j]) for i, j in zip(window, target, strict=True)), (), (), device, 1, by % size
        )

    for by in range(-n, n + 1):
        plugs = [i for i in range(n) if moved.get(i, i + by + 1) == i + by]
        if len(plugs) < 2:
            continue
        runs = [[x for _, x in g] for _, g in groupby(enumerate(plugs), lambda x: x[1] - x[0])]
        spans = [(r[0], r[-1]) for r in runs] + ([(plugs[0], plugs[-1])] if len(runs) > 1 else [])
        for first, last in spans:
            own = list(range(first, last + 1))
            window = sorted({*range(first, last + by + 1), *range(first + by, last + 1)})
            if len(own) < 2 or window[0] < 0 or window[-1] >= n:
                continue
            moves = tuple((row[i], row[i + by]) for i in own)
            out.append(Mistake("shifted", moves, (), (), device, 1, by))
            pulled = tuple((row[i], at[row[i]]) for i in window if i not in own and row[i] in at)
            if 0 < len(pulled) < len(own):
                out.append(Mistake("shifted", moves, pulled, (), device, 1 + len(pulled), by))
            out.append(rotated(window, by))
    for by in range(1, n):
        for back in range(-n, 0):
            plugs = [(i, j) for i, j in moved.items() if j - i in (by, back)]
            if not {by, back} <= {j - i for i, j in plugs}:
                continue
            size = by - back
            for start in range(n - size + 1):
                window = list(range(start, start + size))
                if size >= 3 and all(i in window and j in window for i, j in plugs):
                    out.append(rotated(window, by))
    for total in range(2 * n):
        plugs = [(i, j) for i, j in moved.items() if i + j == total]
        if len(plugs) >= 4:
            low = min(i for i, _ in plugs)
            window = range(low, total - low + 1)
            if len(window) > 1 and window[-1] < n:
                out.append(Mistake("reversed", tuple((row[i], row[total - i]) for i in window if i != total - i), devices=device))
    return out


def rows_of_plugs(seed: int) -> tuple[list[int], dict[int, int], dict[int, int]]:
    """A row of ports, the far ends of those in use, and where plugs of some places were seen."""
    rng = Random(seed)
    n = rng.randint(3, 11)
    row = [10 + 3 * i for i in range(n)]
    at = {p: 100 + p for p in row if rng.random() < rng.choice([0.6, 0.9, 1])}
    moved: dict[int, int] = {}
    kind = rng.choice(["shift", "rotate", "reverse", "any", "two", "gap"])
    low = rng.randint(0, max(n - 4, 0))
    high = rng.randint(min(low + 2, n - 1), n - 1)
    size = high - low + 1
    by = rng.choice([-3, -2, -1, 1, 2, 3])
    for i in range(low, high + 1):
        if kind in ("shift", "gap") and 0 <= i + by < n and (kind == "shift" or i != (low + high) // 2):
            moved[i] = i + by
        elif kind == "rotate" and by % size:
            moved[i] = low + (i - low + by) % size
        elif kind == "reverse" and 2 * i != low + high:
            moved[i] = low + high - i
        elif kind == "any":
            moved[i] = rng.randrange(n)
        elif kind == "two":
            moved[i] = max(0, min(n - 1, i + (by if i % 2 else 1)))
    for i in list(moved):
        if moved[i] == i or rng.random() < 0.1:
            del moved[i]
    return row, at, moved


@pytest.mark.parametrize("part", range(4))
def test_moves_along_a_row(part: int) -> None:
    kinds = set()
    for seed in range(100 * part, 100 * part + 100):
        row, at, moved = rows_of_plugs(seed)
        wanted = by_definition(row, at, moved)
        state = cabling(at, {})
        assert list(_shifts_along_row(state, row, moved, 7)) == wanted, (seed, row, at, moved)
        kinds |= {(m.kind, m.cost > 1) for m in wanted}
    assert kinds == {("shifted", False), ("shifted", True), ("rotated", False), ("reversed", False)}


def test_rows_of_a_switch() -> None:
    """All ports in use, bundles of three or more to one device, uplinks and the others; by place on the faceplate."""
    # device 0: 12 ports, device 1 and 2: switches, 3 to 5: hosts; 11 is free
    planned = {0: 12, 1: 13, 2: 14, 3: 24, 4: 25, 5: 26, 6: 27, 7: 36, 8: 48, 9: 60, 10: 61}
    places = flat(12, 6, ends={3, 4, 5})
    seen = planned | {0: 13, 1: 12}  # two plugs of a bundle exchanged
    assert {m.kind for m in found(planned, seen, places)} == set()
    rotated = planned | {3: 25, 4: 26, 5: 27, 6: 24}
    mine = [m for m in found(planned, rotated, places) if m.devices == (0,)]
    shift = Mistake("shifted", ((4, 3), (5, 4), (6, 5)), (), (), (0,), 1, -1)
    pulled = Mistake("shifted", ((4, 3), (5, 4), (6, 5)), ((3, 24),), (), (0,), 2, -1)
    turned = Mistake("rotated", ((3, 6), (4, 3), (5, 4), (6, 5)), (), (), (0,), 1, 3)
    assert mine == [shift, pulled, turned, turned] * 3
    far = [m for m in found(planned, rotated, places) if m.devices == (2,)]
    assert [m.kind for m in far] == ["shifted", "shifted", "rotated", "rotated"]
    back = {**places.__dict__, "rank": lambda p: -(p % 12)}
    turned = next(m for m in found(planned, rotated, SimpleNamespace(**back)) if m.kind == "rotated" and m.devices == (0,))
    assert turned == Mistake("rotated", ((6, 5), (5, 4), (4, 3), (3, 6)), (), (), (0,), 1, 1)


def test_two_uplinks_are_no_row_of_their_own() -> None:
    planned = {0: 12, 1: 24, 2: 13, 3: 25, 4: 36, 5: 48}
    turned = {0: 12, 1: 36, 2: 13, 3: 24, 4: 25, 5: 48}
    mistake = Mistake("rotated", ((1, 3), (3, 4), (4, 1)), (), (), (0,), 1, 1)

    def count(ends: set[int]) -> int:
        return found(planned, turned, flat(12, 6, ends=ends)).count(mistake)

    assert count({1, 4}) == 2, "three uplinks: ports 1, 3 and 4"
    assert count({2, 3}) == 2, "three uplinks beside them: ports 0, 2 and 5"
    assert count({1, 2, 3, 4}) == count({1, 3, 4}) == count({4}) == count(set()) == 0


# ---------------------------------------------------------------- devices, connectors, dark ones


def test_exchanged_devices() -> None:
    """Two plugs at the same ports of another device of the same model speak for it."""
    planned = {0: 8, 1: 9, 4: 10, 5: 11, 6: 12}
    seen = {4: 8, 5: 9, 0: 10, 1: 11, 6: 12}
    places = flat(4, 4)
    pairs = ((0, 4), (4, 0), (1, 5), (5, 1), (2, 6), (6, 2))
    mine = [m for m in found(planned, seen, places) if m.kind == "devices exchanged"]
    assert Mistake("devices exchanged", pairs, devices=(0, 1)) in mine
    assert not [m for m in found({0: 8, 1: 9, 5: 11}, {4: 8, 1: 9, 5: 11}, places) if m.kind == "devices exchanged"]
    half = Mistake("devices exchanged", pairs[:4], devices=(0, 1))
    assert [m for m in found({0: 8, 1: 9}, {4: 8, 5: 9}, places) if m.kind == "devices exchanged"] == [half]
    other = flat(4, 4, model=[0, 1, 0, 0])
    assert not [m for m in found(planned, seen, other) if m.devices == (0, 1)]
    crossed = {5: 8, 4: 9, 1: 10, 0: 11, 6: 12}
    assert not [m for m in found(planned, crossed, places) if m.devices == (0, 1)]
    for size in (4, 5):
        for there, here in (({0: 8, 1: 9}, {4: 8, 5: 9}), ({4: 8, 5: 9}, {0: 8, 1: 9})):
            assert not [m for m in found(there, here, flat(4, 4, size=size)) if m.kind == "devices exchanged"]


def test_connectors() -> None:
    planned = {0: 20, 1: 21, 2: 22, 3: 23}
    places = flat(4, 8, lanes=2)
    swapped = {2: 20, 3: 21, 0: 22, 1: 23}
    kinds = ("cables swapped", "wrong port")
    assert [m for m in found(planned, swapped, places) if m.kind in kinds] == [
        Mistake("cables swapped", ((0, 2), (1, 3), (2, 0), (3, 1))),
        Mistake("cables swapped", ((20, 22), (21, 23), (22, 20), (23, 21))),
    ]
    moved = {0: 20, 1: 21, 8: 22, 9: 23}
    assert [m for m in found(planned, moved, places) if m.kind in kinds] == [Mistake("wrong port", ((2, 8), (3, 9)))]
    assert found({}, {8: 22, 9: 23}, places) == [], "links that are not planned"
    half = {0: 20, 1: 21, 8: 22, 3: 23}
    assert [m for m in found(planned, half, places) if m.kind in kinds] == []
    busy = planned | {9: 24}
    assert [m for m in found(busy, moved | {11: 24}, places) if m.kind in kinds] == []
    narrow = flat(4, 8, lanes=2)
    narrow.lanes = lambda c: list(range(c, c + (2 if c < 8 else 1)))
    assert [m for m in found(planned, moved, narrow) if m.kind in kinds] == []
    within = {1: 20, 0: 21, 2: 22, 3: 23}
    assert [m for m in found(planned, within, places) if m.kind in kinds] == []


def test_dark_devices() -> None:
    planned = {0: 8, 1: 9, 2: 3, 4: 10, 12: 11}
    places = flat(4, 4)
    assert found(planned, {4: 10, 12: 11}, places) == [Mistake("device dark", removed=((0, 8), (1, 9), (2, 3)), devices=(0,))]
    assert found(planned, {4: 10, 12: 11}, places, {0}) == [
        Mistake("not installed", removed=((0, 8), (1, 9), (2, 3)), devices=(0,))
    ]
    assert found(planned, {0: 8, 4: 10, 12: 11}, places) == []
    one = {k: v for k, v in planned.items() if k != 4}
    assert found(planned, one, places) == [], "one link of a device alone is a cable"
    assert found(planned, one, places, {1}) == [Mistake("not installed", removed=((4, 10),), devices=(1,))]
    all_dark = found(planned, {}, places, {2})
    assert [(m.kind, m.devices, m.removed) for m in all_dark] == [
        ("device dark", (0,), ((0, 8), (1, 9), (2, 3))),
        ("not installed", (2,), ((8, 0), (9, 1), (10, 4), (11, 12))),
    ]


def test_dark_cages_and_cables() -> None:
    planned = {0: 16, 1: 17, 2: 18, 3: 19, 4: 24, 5: 6}
    places = flat(8, 4, lanes=2, cage=4)
    assert found(planned, {4: 24, 5: 6, 3: 19}, places) == [
        Mistake("missing", removed=((0, 16), (1, 17)), devices=(0,)),
        Mistake("missing", removed=((16, 0), (17, 1)), devices=(2,)),
    ]
    assert found(planned, {4: 24, 5: 6, 0: 16, 3: 19}, places) == []
    dark = found(planned, {4: 24, 5: 6}, places)
    assert [(m.kind, m.devices, m.removed) for m in dark] == [
        ("device dark", (2,), ((16, 0), (17, 1), (18, 2), (19, 3))),
        ("cage dark", (0,), ((0, 16), (1, 17), (2, 18), (3, 19))),
        ("cage dark", (2,), ((16, 0), (17, 1), (18, 2), (19, 3))),
        ("missing", (0,), ((0, 16), (1, 17))),
        ("missing", (0,), ((2, 18), (3, 19))),
        ("missing", (2,), ((16, 0), (17, 1))),
        ("missing", (2,), ((18, 2), (19, 3))),
    ]
    inside = {0: 1, 2: 16, 4: 24}
    assert found(inside, {2: 16, 4: 24}, flat(8, 4, lanes=4)) == []
    assert found(inside, {2: 16, 4: 24}, flat(8, 4, lanes=2)) == [Mistake("missing", removed=((0, 1),), devices=(0,))]


# ---------------------------------------------------------------- all at once


def every(planned: dict[int, int], seen: dict[int, int], places: Any, absent: set[int]) -> list[Mistake]:
    """All that speaks for several cables, counted from the two maps of both directions."""
    out: list[Mistake] = []
    ends = places.fabric.is_end
    differ = sorted(p for p in {*planned, *seen} if planned.get(p) != seen.get(p))
    moves = [(planned[seen[p]], p) for p in differ if p in seen and seen[p] in planned]
    inside = [(q, p) for q, p in moves if max(p, q) < places.size]
    device, connector = places.device, places.connector
    apart = {tuple(sorted((device(q), device(p)))) for q, p in inside if device(q) != device(p)}
    for x, y in sorted(apart):
        votes = [1 for q, p in inside if {device(q), device(p)} == {x, y} and places.local(q) == places.local(p)]
        if places.model[x] == places.model[y] and len(votes) > 1:
            pairs = [(a, b) for a, b in zip(places.ports(x), places.ports(y), strict=True) if a in planned or b in planned]
            out.append(Mistake("devices exchanged", tuple(m for a, b in pairs for m in ((a, b), (b, a))), devices=(x, y)))
    between = [(connector(q), connector(p)) for q, p in moves if connector(q) != connector(p)]
    for c, d in sorted(set(between)):
        if between.count((c, d)) > 1:
            there = tuple(zip(places.lanes(c), places.lanes(d), strict=True))
            if (d, c) in between and c < d:
                out.append(Mistake("cables swapped", (*there, *((b, a) for a, b in there))))
            if not any(b in planned for _, b in there):
                out.append(Mistake("wrong port", there))
    for x in sorted({device(p) for p in range(places.size)}):
        mine = {q: p for q, p in inside if device(q) == device(p) == x}
        used = [p for p in sorted(places.ports(x), key=places.rank) if p in planned or p in seen]
        fars: dict[int, list[int]] = {}
        for p in used:
            if p in planned:
                fars.setdefault(device(planned[p]), []).append(p)
        up = [p for p in used if p in planned and not ends[device(planned[p])]]
        rows = [used, *(r for r in fars.values() if 3 <= len(r) < len(used))]
        rows += [up, [p for p in used if p not in up]] if 3 <= len(up) < len(used) else []
        for row in rows:
            moved = {row.index(q): row.index(p) for q, p in mine.items() if q in row and p in row}
            if len(moved) >= 2:
                out += [replace(m, devices=(x,)) for m in by_definition(row, planned, moved)]
    gone = [p for p in differ if p < places.size and p in planned and p not in seen]

    def once(ports: list[int]) -> tuple[tuple[int, int], ...]:
        """The planned links at these ports, those between two of them at the lower one."""
        return tuple((p, planned[p]) for p in ports if not (planned[p] in ports and planned[p] < p))

    for x in sorted({device(p) for p in gone}):
        here = [p for p in places.ports(x) if p in planned]
        if not any(p in seen for p in here) and (len(here) > 1 or x in absent):
            out.append(Mistake("not installed" if x in absent else "device dark", removed=once(here), devices=(x,)))
    for kind, group in (("cage dark", places.cage), ("missing", connector)):
        for first in sorted({group(p) for p in gone}):
            dark = [p for p in gone if group(p) == first]
            whole = [p for p in places.ports(device(first)) if group(p) == first and p in planned]
            if len(dark) == len(whole) > 1:
                out.append(Mistake(kind, removed=once(dark), devices=(device(first),)))
    return out


def random_cabling(rng: Random, size: int) -> dict[int, int]:
    """Links of both directions between ports at random."""
    ports = rng.sample(range(size), size - rng.randrange(size // 2))
    links = list(zip(ports[::2], ports[1::2], strict=False))
    return {p: q for a, b in links for p, q in ((a, b), (b, a))}


def spoilt(rng: Random, planned: dict[int, int], size: int, ports: int) -> dict[int, int]:
    """The cabling after some plugs were put elsewhere, by a rule or at random."""
    to = list(range(size))
    kind = rng.choice(["exchange", "turn", "turn", "reverse", "reverse", "lanes", "lanes", "any", "few"])
    x = rng.randrange(size // ports)
    mine = list(range(x * ports, x * ports + ports))
    if kind == "exchange":
        y = rng.randrange(size // ports)
        for k in range(ports):
            to[x * ports + k], to[y * ports + k] = y * ports + k, x * ports + k
    elif kind == "turn":
        low = rng.randrange(ports - 2)
        row = mine[low : rng.randint(low + 3, ports)]
        by = rng.randrange(1, len(row))
        for k, p in enumerate(row):
            to[p] = row[(k + by) % len(row)]
    elif kind == "reverse":
        for k, p in enumerate(mine):
            to[p] = mine[-1 - k]
    elif kind == "lanes":
        c, d = (2 * rng.randrange(size // 2) for _ in range(2))
        to[c], to[d], to[c + 1], to[d + 1] = d, c, d + 1, c + 1
    elif kind == "any":
        rng.shuffle(to)
    gone = {d for d in range(size // ports) if rng.random() < 0.1} if kind == "few" else set()
    seen = {to[p]: to[q] for p, q in planned.items() if not {p // ports, q // ports} & gone}
    for p in rng.sample(sorted(seen), min(len(seen), rng.choice([0, 0, 1, 3]))):
        if p in seen:
            del seen[seen[p]], seen[p]
    return seen


@pytest.mark.parametrize("part", range(4))
def test_all_explanations_by_definition(part: int) -> None:
    kinds = set()
    for seed in range(300 * part, 300 * part + 300):
        rng = Random(seed)
        ports, devices = rng.choice([4, 6, 8]), rng.randint(2, 5)
        size = ports * devices
        places = flat(
            ports, devices, {d for d in range(devices) if rng.random() < 0.5}, 2, rng.choice([2, 4]),
            size=size - rng.choice([0, 0, 1, 2, ports]), model=[rng.randrange(10) // 8 for _ in range(devices)],
        )  # fmt: skip
        if seed % 3 == 0:
            order = rng.sample(range(ports), ports)
            places.rank = lambda p, order=order, ports=ports: order[p % ports]
        planned = random_cabling(rng, size)
        if seed % 2:  # bundles
            half = size // 2
            planned = {p: q for k in range(half) if rng.random() < 0.9 for p, q in ((k, k + half), (k + half, k))}
        seen = spoilt(rng, planned, size, ports)
        absent = {d for d in range(devices) if rng.random() < 0.3}
        wanted = every(planned, seen, places, absent)
        assert found(planned, seen, places, absent) == wanted, seed
        kinds |= {m.kind for m in wanted}
    assert len(kinds) >= 9, kinds


# ---------------------------------------------------------------- ports of a fabric

TEXT = """\
model host CLIENT { port nic: 400Gbps { type GE400 } }
model switch WIDE { port a[1..4]: 400Gbps { type GE400; cage 2 OSFP }; port b[1..3]: 400Gbps { type GE400 } }
fabric split "Break-outs" {
  host client[8]: CLIENT
  host other[3]: CLIENT
  switch side[1]: WIDE
  switch top[1]: SN5600 { split p 2 }
  connect client[n].nic to top[n // 8]
  connect other[n].nic to side[n // 8].a
}
"""


def test_places_of_ports(tmp_path: Path) -> None:
    f = fabric_of(TEXT, tmp_path, models=True)
    places = PortPositions(f, lambda p: int(f.port_device[p]))
    side, top = f.device_count - 2, f.device_count - 1
    base = f.port_base.tolist()
    assert [list(places.ports(d)) for d in (top, side)] == [list(range(base[d], base[d + 1])) for d in (top, side)]
    size = len(f.port_device)
    assert [places.local(p) for p in range(size)] == [k for d in range(f.device_count) for k in range(base[d + 1] - base[d])]
    connectors = [places.connector(p) for p in places.ports(top)]
    lanes = [places.lanes(c) for c in dict.fromkeys(connectors)]
    assert sorted(p for c in lanes for p in c) == sorted(places.ports(top))
    assert all(places.connector(p) == c[0] for c in lanes for p in c)
    assert [places.cage(p) - base[side] for p in places.ports(side)] == [0, 0, 2, 2, 4, 5, 6]
    assert sorted(places.rank(p) for p in places.ports(side)) == list(range(7))
    beyond = PortPositions(f, lambda p: 0)
    assert (beyond.connector(size), beyond.lanes(size), beyond.cage(size)) == (size, [size], size)
