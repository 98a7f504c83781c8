"""A length below which the cables of a fabric do not come, however its devices are distributed over the free
racks.

Each pair of joined devices is counted at the end that has more neighbours. Around one device, at most so many
neighbours fit into its own rack, into the nearest rack and so on, each model by itself; the pairs with the
most cables get the shortest ways. No way is shorter than the distance on the grid of the hall, and no
vertical stretch than from the best unit to the tray. Cables of a device whose place is given count with their
slack, and with their run where both ends are given.

Where it is more, the bound is that of `path_bound` for the ways along the trays, and the least vertical
stretches beside it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.places import RackPlaces
from tdsl.physical.lengths import HALF_UNIT, MM, CableRuns
from tdsl.physical.path_bound import path_bound
from tdsl.semantics.autoplace import AutoPlacing
from tdsl.semantics.place_statements import Hall

OPEN = 1 << 62


def length_bound(
    before: CableRuns,
    pairs: tuple[Ints, Ints, Ints],
    size: Ints,
    host: Bools,
    asked: AutoPlacing,
    free: list[int],
    after: CableRuns,
) -> int:
    """Micrometres. ``before`` has the places that are given, ``after`` all; every cable of ``after`` has a
    length."""
    p, f = before.places, before.fabric
    given = p.device_rack >= 0
    slack = min(h.slack or 0 for h in p.halls) * MM
    top = after.top
    a, b = top[f.port_device[f.cable_a]], top[f.port_device[f.cable_b]]
    fixed = given[a] & given[b]
    total = int(after.run[fixed].sum()) + 2 * slack * int((~fixed).sum())
    low, high, count = pairs
    open_pair = ~given[low] & ~given[high]
    low, high, count = low[open_pair], high[open_pair], count[open_pair]
    if not len(low):
        return total
    degree = np.bincount(np.concatenate([low, high]), minlength=f.device_count)
    centre = np.where(degree[low] >= degree[high], low, high)
    other = low + high - centre
    model = f.device_model[other]
    order = np.lexsort((-count, model, centre))
    centre, other, count, model = centre[order], other[order], count[order], model[order]
    first = np.flatnonzero(np.r_[True, (centre[1:] != centre[:-1]) | (model[1:] != model[:-1])])
    around = _Around(before, asked, free)
    by_pairs = vertical = 0
    for i, j in zip(first.tolist(), [*first[1:].tolist(), len(centre)], strict=True):
        least = tuple(size[other[i:j]].min(axis=0).tolist())
        c = int(centre[i])
        facts = (
            tuple(size[c].tolist()),
            least,
            bool(host[other[i]]),
            bool(host[c]),
            tuple(count[i:j].tolist()),
        )
        by_pairs += around.least(*facts)
        vertical += around.upright(*facts)

    def capacity(devices: Ints) -> int:
        smallest = tuple(size[devices].min(axis=0).tolist())
        return around.whole(smallest, bool(host[devices].all()))

    along = path_bound(f, (low, high, pairs[2][open_pair]), before, free, capacity)
    return total + max(by_pairs, along + vertical)


class _Around:
    """The shortest ways from one device to its neighbours, without slack."""

    def __init__(self, lengths: CableRuns, asked: AutoPlacing, free: list[int]) -> None:
        p = lengths.places
        self.each = asked.hosts_per_rack or OPEN
        kinds = {p.rack_kind[r] for r in free}
        self.most = (
            max(k.height or 0 for k in kinds),
            max(OPEN if k.watts is None else int(k.watts * 1000) for k in kinds),
            max(OPEN if k.mass is None else int(k.mass * 1000) for k in kinds),
        )
        numbers = sorted({int(p.rack_hall[r]) for r in free})
        self.halls = [p.halls[h] for h in numbers]
        near = _distances_from_halls(p, numbers)
        count = min(map(len, near))
        self.ways = [min(way[k] for way in near) * MM for k in range(count)]
        self.least, self.upright = cache(self._least), cache(self._upright)

    def rise(self, units: int) -> int:
        """The shortest vertical stretch of a device of a height."""
        found = []
        for hall in self.halls:
            tray = (hall.tray.height if hall.tray is not None else 0) * MM
            lowest, highest = units * HALF_UNIT, (2 * self.most[0] - units) * HALF_UNIT
            found.append(lowest - tray if tray < lowest else max(tray - highest, 0))
        return min(found)

    def whole(self, other: tuple[int, ...], hosts: bool) -> int:
        """Devices of at least a size that a rack takes."""
        found = min(_count_fitting(m, o) for m, o in zip(self.most, other, strict=True))
        return min(found, self.each) if hosts else found

    def beside(self, own: tuple[int, ...], other: tuple[int, ...], hosts: bool, is_host: bool) -> int:
        """Devices of at least a size that a rack takes beside another."""
        found = min(_count_fitting(m - s, o) for m, s, o in zip(self.most, own, other, strict=True))
        return min(found, self.each - is_host) if hosts else found

    def _upright(
        self,
        own: tuple[int, ...],
        other: tuple[int, ...],
        hosts: bool,
        is_host: bool,
        counts: tuple[int, ...],
    ) -> int:
        """Micrometres of the vertical stretches of the cables of a device, as for `_least`: inside the rack
        of the device from the middle of one to that of the other, else up to the tray twice."""
        vertical = self.rise(own[0]) + self.rise(other[0])
        inside = min((own[0] + other[0]) * HALF_UNIT, vertical)
        near = max(min(self.beside(own, other, hosts, is_host), len(counts)), 0)
        return inside * sum(counts[:near]) + vertical * sum(counts[near:])

    def _least(
        self,
        own: tuple[int, ...],
        other: tuple[int, ...],
        hosts: bool,
        is_host: bool,
        counts: tuple[int, ...],
    ) -> int:
        """Micrometres of the cables of a device to neighbours of at least a size; ``counts`` descend."""
        whole, beside = self.whole(other, hosts), self.beside(own, other, hosts, is_host)
        inside = (own[0] + other[0]) * HALF_UNIT
        vertical = self.rise(own[0]) + self.rise(other[0])
        ways: list[int] = [inside] * min(beside, len(counts))
        for way in self.ways[1:]:
            if len(ways) >= len(counts) + beside or whole <= 0:
                break
            ways += [way + vertical] * min(whole, len(counts))
        ways.sort()
        return sum(n * w for n, w in zip(counts, ways, strict=False))


def _distances_from_halls(p: RackPlaces, numbers: list[int]) -> list[list[int]]:
    """Of each of these halls the distances from a rack to the others, the nearest first."""
    near = []
    for h in numbers:
        others = [
            d
            for g in numbers
            if g != h
            for d in _distances_to_other_hall(p.halls[g], p.distances.get((h, g), 0))
        ]
        near.append(sorted([*_nearest_rack_distances(p.halls[h]), *others]))
    return near


def _count_fitting(room: int, each: int) -> int:
    """How often an amount goes into a room."""
    return OPEN if each <= 0 else max(room, 0) // each


def _nearest_rack_distances(hall: Hall) -> list[int]:
    """Millimetres from a rack in the best place of a hall to each of its racks, itself first, at least."""
    across = max(len(r.racks) for r in hall.rows)
    along = sorted((k + 1) // 2 * (hall.rack_pitch or 0) for k in range(across))
    rows = sorted((k + 1) // 2 * (hall.row_pitch or 0) for k in range(len(hall.rows)))
    return sorted(x + y for y in rows for x in along)


def _distances_to_other_hall(hall: Hall, distance: int) -> list[int]:
    return [distance] * sum(len(r.racks) for r in hall.rows)
