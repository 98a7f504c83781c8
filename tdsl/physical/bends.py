"""How tightly cables are bent: what their parts allow, and what racks and trays leave for a bend."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.part_facts import MICRO, stated_quantity
from tdsl.physical.model import Physical
from tdsl.semantics.quantity import LENGTH
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Tight:
    """Cables that need a larger radius than a rack (or hall) leaves: the row of the rack, one leg, and how
    many there are."""

    rack: int
    leg: int
    need: int  # micrometres
    have: int
    count: int


class Bends:
    """The bends of all cable legs of a fabric."""

    def __init__(self, fabric: Fabric, physical: Physical) -> None:
        self.fabric, self.physical = fabric, physical

    @cached_property
    def need(self) -> Ints:
        """Micrometres of radius that the part of every leg needs when installed, -1 where it states none."""
        number, choices = self.physical.parts.group
        found = [None if c.cable is None else stated_quantity(c.cable, "bend", LENGTH) for c in choices]
        return np.array([-1 if r is None else int(r * MICRO) for r in found] or [-1], dtype=np.int64)[number]

    def tight(self, legs: Bools) -> list[Tight]:
        """Racks in which a cable is bent more than its part allows, the worst cable of each."""
        f, p = self.fabric, self.physical.places
        have = np.array(
            [-1 if k.bend is None else k.bend * 1000 for k in p.rack_kind] or [-1], dtype=np.int64
        )
        out: list[Tight] = []
        rows = np.flatnonzero(legs & (self.need >= 0))
        worst: dict[int, tuple[int, int, int]] = {}
        for ports in (f.cable_a, f.cable_b):
            racks = p.device_rack[self.physical.lengths.top[f.port_device[ports[rows]]]]
            over = np.flatnonzero((racks >= 0) & (have[racks] >= 0) & (self.need[rows] > have[racks]))
            for k in over.tolist():
                rack, leg = int(racks[k]), int(rows[k])
                need, first, count = worst.get(rack, (-1, leg, 0))
                better = int(self.need[leg]) > need
                worst[rack] = (int(self.need[leg]), leg, count + 1) if better else (need, first, count + 1)
        for rack, (need, leg, count) in sorted(worst.items()):
            out.append(Tight(rack, leg, need, int(have[rack]), count))
        return out
