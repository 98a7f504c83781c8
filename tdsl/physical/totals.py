"""Totals of a fabric by hall and rack: pieces, watts and prices, and for each sum how many pieces it leaves
out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.part_facts import optic_watts
from tdsl.fabric.places import RackPlaces
from tdsl.physical.power_and_cost import Figures, price_of_part
from tdsl.physical.racks import PartialSum, watts_of_model
from tdsl.system.lazy_dataclass import dataclass

NONE = PartialSum(Fraction(0), 0)


@dataclass(frozen=True, slots=True)
class Total:
    """One sum over devices, transceivers and cables. ``by`` is ``all``, ``hall``, ``between racks``,
    ``rack``, ``elsewhere``, ``phase`` or ``added by phase``; ``needed`` is the day by which a phase is
    needed. ``watts`` and ``price`` leave out ``without_watts`` and ``without_price`` pieces. A cable belongs
    to a rack where both its ends are in it, else to its hall."""

    by: str
    hall: str
    name: str
    devices: int
    optics: int
    cables: int
    watts: int | float
    without_watts: int
    price: int | float
    without_price: int
    needed: str = ""


@dataclass(slots=True)
class _Sum:
    """A sum while it is made."""

    devices: int = 0
    optics: int = 0
    cables: int = 0
    watts: PartialSum = NONE
    price: PartialSum = NONE

    def add(self, other: _Sum) -> None:
        """Add another sum."""
        self.devices += other.devices
        self.optics += other.optics
        self.cables += other.cables
        self.watts += other.watts
        self.price += other.price


class Tally:
    """Sums over buckets: every device and every cable leg belongs to one, a transceiver to that of its
    device."""

    def __init__(self, figures: Figures) -> None:
        self.figures = figures

    def sums(self, device: Ints, leg: Ints) -> dict[int, _Sum]:
        """The sum of every bucket that holds anything. ``device`` and ``leg`` are the buckets of all rows of
        their tables."""
        f, figures = self.figures.fabric, self.figures
        out: defaultdict[int, _Sum] = defaultdict(_Sum)
        rows = np.flatnonzero(figures.mounted)
        for bucket, m, n in _count_keys_in_buckets(device[rows], f.device_model[rows]):
            model = f.models[m]
            power = (
                PartialSum(Fraction(0), 0)
                if model.kind == "panel"
                else _sum_of_pieces(watts_of_model(model), n)
            )
            out[bucket].add(_Sum(n, 0, 0, power, _sum_of_pieces(figures.device_price(model), n)))
        own = np.array(["power_max" not in m.facts and m.kind != "panel" for m in f.models] or [False])
        found = figures.optics
        for bucket, key, n in _count_keys_in_buckets(
            device[found.device], 2 * found.part + own[f.device_model[found.device]]
        ):
            part = found.parts[key // 2]
            power = _sum_of_pieces(optic_watts(part), n) if key % 2 else NONE
            out[bucket].add(_Sum(0, n, 0, power, _sum_of_pieces(price_of_part(part, f.prices), n)))
        plugs = figures.plugs
        mine = own[f.device_model[plugs.device]]
        for bucket, k, n in _count_keys_in_buckets(device[plugs.device[mine]], plugs.share[mine]):
            out[bucket].add(_Sum(0, 0, 0, _sum_of_pieces(plugs.shares[k][0], n), NONE))
        ends = found.open_ends
        for bucket, counts, n in _count_keys_in_buckets(
            device[ends], own[f.device_model[ends]].astype(np.int64)
        ):
            out[bucket].add(_Sum(0, n, 0, PartialSum(Fraction(0), n * counts), PartialSum(Fraction(0), n)))
        plain = np.flatnonzero(f.cable_leg <= 1)  # a breakout is one part
        number_of, parts = figures.cable_parts
        for bucket, k, n in _count_keys_in_buckets(leg[plain], number_of[plain]):
            part_of = parts[k]
            out[bucket].add(
                _Sum(
                    0,
                    0,
                    n,
                    NONE,
                    _sum_of_pieces(None if part_of is None else price_of_part(part_of, f.prices), n),
                )
            )
        return dict(out)


def _count_keys_in_buckets(bucket: Ints, key: Ints) -> list[tuple[int, int, int]]:
    """Bucket, key and count of every pair that occurs."""
    if not len(bucket):
        return []
    (b, k), n = np.unique(np.stack([bucket, key.astype(np.int64)]), axis=1, return_counts=True)
    return list(zip(b.tolist(), k.tolist(), n.tolist(), strict=True))


def _sum_of_pieces(each: Fraction | None, n: int) -> PartialSum:
    return PartialSum(Fraction(0), n) if each is None else PartialSum(each * n, 0)


def totals_by_place(fabric: Fabric) -> list[Total]:
    """All of the fabric, then its halls with the cables between their racks, then its racks, then what has no
    place."""
    figures = Figures(fabric)
    p = fabric.places
    racks = p.rack_count if p is not None else 0
    halls = p.halls if p is not None else ()
    elsewhere = racks + len(halls)
    rack = np.full(fabric.device_count, -1, dtype=np.int64) if p is None else p.device_rack[figures.top]
    device = np.where(rack >= 0, rack, elsewhere)
    a, b = (rack[fabric.port_device[ports]] for ports in (fabric.cable_a, fabric.cable_b))
    leg = np.full(len(a), elsewhere, dtype=np.int64)
    if p is not None and racks:
        hall_a, hall_b = np.where(a >= 0, p.rack_hall[a], -1), np.where(b >= 0, p.rack_hall[b], -2)
        leg = np.where(hall_a == hall_b, racks + hall_a, leg)
        leg = np.where((a == b) & (a >= 0), a, leg)
    sums = Tally(figures).sums(device, leg)
    whole = _Sum()
    for mine in sums.values():
        whole.add(mine)
    in_hall = _sums_of_halls(p, sums)
    out = [_total_row("all", "", fabric.name, whole)]
    out += [_total_row("hall", h.name, h.name, s) for h, s in zip(halls, in_hall, strict=True) if s != _Sum()]
    out += [
        _total_row("between racks", h.name, h.name, sums[racks + k])
        for k, h in enumerate(halls)
        if racks + k in sums
    ]
    out += [
        _total_row("rack", p.hall_name(r), p.rack_name(r), sums[r])
        for r in range(racks)
        if p is not None and r in sums
    ]
    if elsewhere in sums:
        out.append(_total_row("elsewhere", "", "between halls or without a place", sums[elsewhere]))
    return out


def _sums_of_halls(p: RackPlaces | None, sums: Mapping[int, _Sum]) -> list[_Sum]:
    """What is in each hall: its racks, and the cables between them."""
    if p is None:
        return []
    out = [_Sum() for _ in p.halls]
    for bucket, mine in sums.items():
        if bucket < p.rack_count:
            out[int(p.rack_hall[bucket])].add(mine)
        elif bucket < p.rack_count + len(p.halls):
            out[bucket - p.rack_count].add(mine)
    return out


def _total_row(by: str, hall: str, name: str, s: _Sum) -> Total:
    known = [int(x) if x.denominator == 1 else float(x) for x in (s.watts.known, s.price.known)]
    return Total(
        by, hall, name, s.devices, s.optics, s.cables, known[0], s.watts.missing, known[1], s.price.missing
    )
