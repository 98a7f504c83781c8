"""Trays: how much of their cross-section the cables take, stretch by stretch.

A cable that leaves its rack goes along the tray of its row, over the best tray across, and along the other
row, as its length is computed. A circle of diameter d has the area pi d^2 / 4; 355/113 stands for pi, which
is more by less than a ten-millionth.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.part_facts import MICRO, stated_quantity
from tdsl.physical.model import Physical
from tdsl.semantics.quantity import LENGTH
from tdsl.system.lazy_dataclass import dataclass

QUARTER_PI = Fraction(355, 113) / 4


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a tray: cables in it, the sum of their squared diameters in square micrometres, and how many
    state none.

    ``line`` is the row that it lies along, and ``start`` the place of the rack where it begins; with
    ``across`` they are the place of the rack where it crosses rows, and the row where it begins."""

    hall: int
    where: str
    across: bool
    line: int
    start: int
    cables: int
    squares: int
    unknown: int

    def fill(self, area: int) -> Fraction:
        """The share of a cross-section in square millimetres that is taken, at least."""
        return QUARTER_PI * self.squares / (area * MICRO)


class Trays:
    """The load of every stretch of tray."""

    def __init__(self, fabric: Fabric, physical: Physical) -> None:
        self.fabric, self.physical, self.places = fabric, physical, physical.places

    @cached_property
    def _diameter(self) -> Ints:
        """Micrometres of every cable leg, -1 where its part states no diameter or none is chosen."""
        number, choices = self.physical.parts.group
        found = [None if c.cable is None else stated_quantity(c.cable, "diameter", LENGTH) for c in choices]
        return np.array([-1 if d is None else int(d * MICRO) for d in found] or [-1], dtype=np.int64)[number]

    def stretches(self, legs: Bools) -> list[Stretch]:
        """Every stretch that a cable lies in: along the rows, then across them, of each hall."""
        return [found for found, _ in self._stretches_and_legs(legs, False)]

    def legs_by_stretch(self, legs: Bools) -> list[tuple[Stretch, Ints]]:
        """Every stretch with the rows of the legs that lie in it."""
        return self._stretches_and_legs(legs, True)

    def _stretches_and_legs(self, legs: Bools, listed: bool) -> list[tuple[Stretch, Ints]]:
        """The stretches, with the legs in each where they are to be ``listed``."""
        p, lengths = self.places, self.physical.lengths
        rows = np.flatnonzero(legs & (lengths.run >= 0))
        spans, ends = lengths.spans[rows], self._ends(rows)
        ra, rb = (p.device_rack[e] for e in ends)
        ha, hb = (np.where(r >= 0, p.rack_hall[r], -1) for r in (ra, rb))
        out_a, out_b = (np.where(spans, lengths.enters(e), ha != hb) for e in ends)
        out: list[tuple[Stretch, Ints]] = []
        for h in range(len(p.halls)):
            both = np.flatnonzero(~spans & (ha == h) & (hb == h) & (ra != rb))
            leave, enter = np.flatnonzero((ha == h) & out_a), np.flatnonzero((hb == h) & out_b)
            near = np.concatenate([ra[both], ra[leave], rb[enter]])
            far = np.concatenate([rb[both], np.full(len(leave) + len(enter), -1, dtype=np.int64)])
            out += self._of_hall(h, rows[np.concatenate([both, leave, enter])], near, far, listed)
        return out

    def unknown(self, legs: Bools) -> int:
        """How many legs may lie in trays that `stretches` does not know of: those without a length, and those
        that span a stated distance and have an end whose way to it is not known, in a hall with trays or in
        none."""
        p, lengths = self.places, self.physical.lengths
        trayless = np.array([h.tray is None for h in p.halls], dtype=np.bool_)
        rows = np.flatnonzero(legs & lengths.spans)
        lost = np.zeros(len(rows), dtype=np.bool_)
        for end in self._ends(rows):
            rack = p.device_rack[end]
            lost |= ~lengths.enters(end) & ~((rack >= 0) & trayless[p.rack_hall[rack]])
        return int((legs & (lengths.run < 0)).sum()) + int(lost.sum())

    def _ends(self, legs: Ints) -> tuple[Ints, Ints]:
        """The devices at both ends of legs, as they are placed."""
        f, top = self.fabric, self.physical.lengths.top
        return top[f.port_device[f.cable_a[legs]]], top[f.port_device[f.cable_b[legs]]]

    def _of_hall(self, h: int, legs: Ints, ra: Ints, rb: Ints, listed: bool) -> list[tuple[Stretch, Ints]]:
        """Stretches of one hall; ``rb`` is -1 where a cable leaves by the entry: the first rack of the first
        row."""
        p, hall = self.places, self.places.halls[h]
        xa, ya = p.rack_x[ra], p.rack_y[ra]
        xb, yb = np.where(rb < 0, 0, p.rack_x[rb]), np.where(rb < 0, 0, p.rack_y[rb])
        across = self.physical.lengths.across(h)
        pitch, row_pitch = max(hall.rack_pitch or 0, 1), max(hall.row_pitch or 0, 1)
        at = xa.copy()
        if len(across):
            by = np.abs(xa[:, None] - across) + np.abs(xb[:, None] - across)
            at = np.where(ya == yb, xb, across[np.argmin(by, axis=1)]) if len(legs) else at
        racks = max(len(r.racks) for r in hall.rows)
        along = _Loads(len(hall.rows), racks, self._diameter[legs])
        along.add(ya // row_pitch, xa // pitch, at // pitch)
        along.add(yb // row_pitch, xb // pitch, at // pitch)
        over = _Loads(racks, len(hall.rows), self._diameter[legs])
        over.add(at // pitch, ya // row_pitch, yb // row_pitch)
        names = [r.name for r in hall.rows]
        numbers = [n for n, _ in max(hall.rows, key=lambda r: len(r.racks)).racks]
        out = []
        for row, k, *load in along.found():
            where = f"row {names[row]} from rack {numbers[k]} to {numbers[k + 1]}"
            mine = legs[along.lying(row, k)] if listed else legs[:0]
            out.append((Stretch(h, where, False, row, k, *load), mine))
        for x, k, *load in over.found():
            where = f"across at rack {numbers[x]} from row {names[k]} to {names[k + 1]}"
            mine = legs[over.lying(x, k)] if listed else legs[:0]
            out.append((Stretch(h, where, True, x, k, *load), mine))
        return out


class _Loads:
    """Lines of stretches, with what is added between two positions of a line."""

    def __init__(self, lines: int, positions: int, diameter: Ints) -> None:
        known = diameter >= 0
        self.terms = np.stack(
            [
                np.ones(len(diameter), dtype=np.int64),
                np.where(known, diameter, 0) ** 2,
                (~known).astype(np.int64),
            ]
        )
        self.steps = np.zeros((3, lines, positions + 1), dtype=np.int64)
        self.segments: list[tuple[Ints, Ints, Ints]] = []

    def add(self, line: Ints, start: Ints, stop: Ints) -> None:
        """Cables from one position to another."""
        low, high = np.minimum(start, stop), np.maximum(start, stop)
        self.segments.append((line, low, high))
        for k in range(3):
            np.add.at(self.steps[k], (line, low), self.terms[k])
            np.subtract.at(self.steps[k], (line, high), self.terms[k])

    def found(self) -> list[tuple[int, int, int, int, int]]:
        """Line, position, cables, squared diameters and unknown ones of every stretch that holds a cable."""
        load = np.cumsum(self.steps, axis=2)
        lines, at = np.nonzero(load[0])
        cables, squares, unknown = (load[k, lines, at].tolist() for k in range(3))
        return list(zip(lines.tolist(), at.tolist(), cables, squares, unknown, strict=True))

    def lying(self, line: int, position: int) -> Ints:
        """The numbers of the cables that lie in one stretch."""
        found = [
            np.flatnonzero((at == line) & (low <= position) & (position < high))
            for at, low, high in self.segments
        ]
        return np.unique(np.concatenate(found))
