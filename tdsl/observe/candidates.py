"""Mistakes that would explain several cables at once: devices exchanged, cables of several links, shifted
bundles, dark cages."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from tdsl.fabric.columns import PortColumns
from tdsl.fabric.graph import Fabric
from tdsl.observe.difference import Cabling, Mistake

Move = tuple[int, int]


class PortPositions:
    """Where ports are: device, connector, cage, and the order in which a person meets them."""

    def __init__(self, fabric: Fabric, device: Callable[[int], int]) -> None:
        self.fabric = fabric
        self.device = device
        self.size = len(fabric.port_device)
        self.base = fabric.port_base.tolist()
        self.model = fabric.device_model.tolist()
        self.is_end: list[bool] = fabric.is_end.tolist()

    @cached_property
    def _columns(self) -> PortColumns:
        return PortColumns(self.fabric)

    @cached_property
    def _connector(self) -> list[int]:
        found: list[int] = self._columns.connector_of(np.arange(self.size)).tolist()
        return found

    @cached_property
    def _cages(self) -> list[list[int]]:
        """For every model the first port of the cage that each port is in; its own where it is in none."""
        out = []
        for m in self.fabric.models:
            first: dict[tuple[str, int], int] = {}
            out.append(
                [
                    first.setdefault((c.form, c.cages[i]), c.first + i) if c.cages[i] else c.first + i
                    for c in m.classes
                    for i in range(c.size)
                ]
            )
        return out

    @cached_property
    def _ranks(self) -> list[int]:
        found: list[int] = self._columns.rank[self._columns.rows(np.arange(self.size))].tolist()
        return found

    def rank(self, port: int) -> int:
        """The place of a port on the faceplate of its device."""
        return self._ranks[port]

    def local(self, port: int) -> int:
        """The number of a port inside its device."""
        base: int = self.base[self.device(port)]
        return port - base

    def ports(self, device: int) -> range:
        """The ports of a device."""
        return range(self.base[device], self.base[device + 1])

    def connector(self, port: int) -> int:
        """The port that stands for the connector of a port."""
        return self._connector[port] if port < self.size else port

    def lanes(self, connector: int) -> list[int]:
        """The ports of a connector."""
        d = self.device(connector)
        if connector >= self.size:
            return [connector]
        end = self.base[d + 1]
        out = []
        for p in range(connector, end):  # the ports of a connector follow one another, or lie close by
            if self._connector[p] == connector:
                out.append(p)
            elif out and p - out[-1] > 64:
                break
        return out

    def cage(self, port: int) -> int:
        """The first port of the cage of a port."""
        if port >= self.size:
            return port
        d = self.device(port)
        first: int = self.base[d]
        offset: int = self._cages[self.model[d]][port - first]
        return first + offset


def candidate_mistakes(
    state: Cabling, places: PortPositions, open_ports: Iterable[int], absent: Callable[[int], bool]
) -> Iterator[Mistake]:
    """Mistakes of more than one cable that may explain some of what differs. ``absent`` says that a device
    was not seen."""
    ports = sorted(p for p in open_ports if state.differs(p))
    moves = list(_plugs_seen_elsewhere(state, ports))
    yield from _exchanged_devices(state, places, moves)
    yield from _exchanged_connectors(state, places, moves)
    yield from _shifted_rows(state, places, moves)
    yield from _dark_devices_and_cages(state, places, ports, absent)


def _plugs_seen_elsewhere(state: Cabling, ports: list[int]) -> Iterator[Move]:
    """Plugs that were seen elsewhere: the port where each is planned, and where it is."""
    for p in ports:
        far = state.seen(p)
        if far >= 0:
            home = state.at(far)  # the plug whose cable leads to ``far`` belongs there
            if home >= 0 and home != p:
                yield home, p


def _exchanged_devices(state: Cabling, places: PortPositions, moves: list[Move]) -> Iterator[Mistake]:
    votes: Counter[tuple[int, int]] = Counter()
    for q, p in moves:
        x, y = places.device(q), places.device(p)
        if (
            q < places.size
            and p < places.size
            and x != y
            and places.model[x] == places.model[y]
            and places.local(q) == places.local(p)
        ):
            votes[min(x, y), max(x, y)] += 1
    for (x, y), count in sorted(votes.items()):
        if count < 2:
            continue
        pairs = [
            (a, b)
            for a, b in zip(places.ports(x), places.ports(y), strict=True)
            if state.at(a) >= 0 or state.at(b) >= 0
        ]
        yield Mistake(
            "devices exchanged", tuple(m for a, b in pairs for m in ((a, b), (b, a))), devices=(x, y)
        )


def _exchanged_connectors(state: Cabling, places: PortPositions, moves: list[Move]) -> Iterator[Mistake]:
    """Cables of several links in one another's connectors, or in a free one."""
    votes: Counter[tuple[int, int]] = Counter()
    for q, p in moves:
        c, d = places.connector(q), places.connector(p)
        if c != d:
            votes[c, d] += 1
    for (c, d), count in sorted(votes.items()):
        if count < 2:
            continue
        mine, other = places.lanes(c), places.lanes(d)
        if len(mine) != len(other):
            continue
        there = tuple(zip(mine, other, strict=True))
        if (d, c) in votes and c < d:
            yield Mistake("cables swapped", (*there, *((b, a) for a, b in there)))
        if all(state.at(b) < 0 for b in other):
            yield Mistake("wrong port", there)


def _shifted_rows(state: Cabling, places: PortPositions, moves: list[Move]) -> Iterator[Mistake]:
    """Rows of plugs moved by some ports, with or without going round, and rows in reverse order."""
    inside: dict[int, dict[int, int]] = defaultdict(dict)
    for q, p in moves:
        d = places.device(q)
        if q < places.size and p < places.size and d == places.device(p):
            inside[d][q] = p
    for device, found in sorted(inside.items()):
        if len(found) < 2:
            continue
        for row in _plug_rows(state, places, device):
            at = {p: i for i, p in enumerate(row)}
            moved = {at[q]: at[p] for q, p in found.items() if q in at and p in at}
            if len(moved) >= 2:
                yield from _shifts_along_row(state, row, moved, device)


def _plug_rows(state: Cabling, places: PortPositions, device: int) -> Iterator[list[int]]:
    """Rows in which plugs may have been shifted: all in use, each bundle to one device, uplinks and the
    others."""
    used = [p for p in places.ports(device) if state.at(p) >= 0 or state.seen(p) >= 0]
    used.sort(key=places.rank)
    yield used
    bundles: dict[int, list[int]] = defaultdict(list)
    for p in used:
        if state.at(p) >= 0:
            bundles[places.device(state.at(p))].append(p)
    yield from (b for b in bundles.values() if 3 <= len(b) < len(used))
    up = [p for p in used if state.at(p) >= 0 and not places.is_end[places.device(state.at(p))]]
    if 3 <= len(up) < len(used):
        yield up
        others = set(used).difference(up)
        yield [p for p in used if p in others]


def _shifts_along_row(
    state: Cabling, row: list[int], moved: dict[int, int], device: int
) -> Iterator[Mistake]:
    """Shifts, rotations and reversals of stretches of one row. ``moved`` holds places in the row."""
    amounts = Counter(j - i for i, j in moved.items())
    for by, count in sorted(amounts.items()):
        if count < 2:
            continue
        starts = sorted(i for i, j in moved.items() if j - i == by)
        stretches = _runs_of_numbers(starts)
        if len(stretches) > 1:
            stretches.append((starts[0], starts[-1]))
        for first, last in stretches:
            low, high = (first, last + by) if by > 0 else (first + by, last)
            if last > first and low >= 0 and high < len(row):
                yield from _shifted_stretch(state, row, first, last, by, device)
                yield _rotated_stretch(row, low, high, by, device)
    yield from _rotations_of_row(row, moved, amounts, device)
    yield from _reversals_of_row(row, moved, device)


def _rotations_of_row(
    row: list[int], moved: dict[int, int], amounts: Iterable[int], device: int
) -> Iterator[Mistake]:
    """Rotations of stretches whose ports moved by ``by`` or, from its end to its beginning, by ``back``."""
    for by in sorted(a for a in amounts if a > 0):
        for back in sorted(a for a in amounts if a < 0):
            size = by - back
            held = [x for i, j in moved.items() if j - i in (by, back) for x in (i, j)]
            low, high = min(held), max(held)
            if size >= 3 and high - low < size <= len(row):
                for start in range(max(high - size + 1, 0), min(low, len(row) - size) + 1):
                    yield _rotated_stretch(row, start, start + size - 1, by, device)


def _reversals_of_row(row: list[int], moved: dict[int, int], device: int) -> Iterator[Mistake]:
    """Stretches in which every port changed places with the one as far from the other end."""
    for total, count in sorted(Counter(i + j for i, j in moved.items()).items()):
        if count >= 4:
            low = min(i for i, j in moved.items() if i + j == total)
            high = total - low
            if 0 <= low < high < len(row):
                pairs = tuple((row[i], row[total - i]) for i in range(low, high + 1) if 2 * i != total)
                yield Mistake("reversed", pairs, devices=(device,))


def _rotated_stretch(row: list[int], low: int, high: int, by: int, device: int) -> Mistake:
    size = high - low + 1
    moves = tuple((row[low + i], row[low + (i + by) % size]) for i in range(size))
    return Mistake("rotated", moves, devices=(device,), amount=by % size)


def _shifted_stretch(
    state: Cabling, row: list[int], first: int, last: int, by: int, device: int
) -> Iterator[Mistake]:
    """A stretch moved by some ports; plugs that were in the way are out."""
    low, high = (first, last + by) if by > 0 else (first + by, last)
    plain = tuple((row[i], row[i + by]) for i in range(first, last + 1))
    yield Mistake("shifted", plain, devices=(device,), amount=by)
    gone = tuple(
        (row[i], state.at(row[i]))
        for i in range(low, high + 1)
        if not first <= i <= last and state.at(row[i]) >= 0
    )
    if gone and len(gone) < last - first + 1:
        yield Mistake("shifted", plain, gone, devices=(device,), cost=1 + len(gone), amount=by)


def _runs_of_numbers(places: list[int]) -> list[tuple[int, int]]:
    """First and last of every run of numbers that follow one another."""
    out: list[tuple[int, int]] = []
    for i in places:
        if out and out[-1][1] == i - 1:
            out[-1] = (out[-1][0], i)
        else:
            out.append((i, i))
    return out


def _dark_devices_and_cages(
    state: Cabling, places: PortPositions, ports: list[int], absent: Callable[[int], bool]
) -> Iterator[Mistake]:
    """Devices, cages and cables of which no link is seen."""
    gone = [p for p in ports if p < places.size and state.at(p) >= 0 and state.seen(p) < 0]
    at, seen = state.at, state.seen
    for device in sorted({places.device(p) for p in gone}):
        if any(seen(p) >= 0 and at(p) >= 0 for p in places.ports(device)):
            continue
        mine = [p for p in places.ports(device) if at(p) >= 0]
        if len(mine) > 1 or absent(device):
            kind = "not installed" if absent(device) else "device dark"
            yield Mistake(kind, removed=_links_of_device(state, places, device, mine), devices=(device,))
    for kind, group in (("cage dark", places.cage), ("missing", places.connector)):
        yield from _dark_groups(state, places, gone, kind, group)


def _links_of_device(
    state: Cabling, places: PortPositions, device: int, ports: list[int]
) -> tuple[tuple[int, int], ...]:
    """The links at some ports of a device; one between two of them once."""
    links = ((p, state.at(p)) for p in ports)
    return tuple((p, far) for p, far in links if far >= p or places.device(far) != device)


def _dark_groups(
    state: Cabling, places: PortPositions, gone: list[int], kind: str, group: Callable[[int], int]
) -> Iterator[Mistake]:
    """Cages or connectors of several ports, all of them ``gone``; ``group`` gives the one of a port."""
    held: dict[int, list[int]] = defaultdict(list)
    for p in gone:
        held[group(p)].append(p)
    for first, dark in sorted(held.items()):
        if len(dark) < 2:
            continue
        d = places.device(first)
        whole = [p for p in places.ports(d) if group(p) == first and state.at(p) >= 0]
        if len(whole) == len(dark):
            links = tuple((p, state.at(p)) for p in dark if not (state.at(p) in dark and state.at(p) < p))
            yield Mistake(kind, removed=links, devices=(d,))
