"""Cables that end at a panel or an optical circuit switch, joined to the links that run through it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.observe.record import CapturedLink
from tdsl.system.lazy_dataclass import dataclass


@dataclass(eq=False, slots=True)
class ThroughCables:
    """What a capture says of cables at ports of panels and optical circuit switches.

    ``planned`` is the port outside that the design connects to each of their ports; ``inside`` is the port
    of the same panel or switch to which each leads; ``seen`` is what is cabled, in both directions.
    """

    fabric: Fabric
    planned: dict[int, int] = field(default_factory=dict)
    inside: dict[int, int] = field(default_factory=dict)
    seen: dict[int, int] = field(default_factory=dict)
    wire: dict[int, CapturedLink] = field(default_factory=dict)
    some: bool = False  # whether the fabric has a panel or an optical circuit switch
    kinds: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        f = self.fabric
        self.some = any(s.kind in ("panel", "ocs") for s in f.sets)
        crossing = np.flatnonzero(f.link_via_a >= 0)
        columns = (f.link_a, f.link_via_a, f.link_via_b, f.link_b)
        for a, x, y, b in zip(*(c[crossing].tolist() for c in columns), strict=True):
            self.planned[x], self.planned[y] = a, b
            self.inside[x], self.inside[y] = y, x

    def is_inner(self, port: int) -> bool:
        """Whether a port is one of a panel or an optical circuit switch."""
        if not self.some:
            return False
        device = int(self.fabric.port_device[port])
        if device not in self.kinds:
            self.kinds[device] = self.fabric.set_of(device).kind in ("panel", "ocs")
        return self.kinds[device]

    def add(self, p: int, q: int, wire: CapturedLink) -> int:
        """Note a cable between two ports of which one is inner; a port that has another cable already, -1
        where none has."""
        for x, y in ((p, q), (q, p)):
            if self.seen.get(x, y) != y:
                return x
        self.seen[p], self.seen[q] = q, p
        self.wire.setdefault(p, wire)
        self.wire.setdefault(q, wire)
        return -1

    def links(self) -> Iterator[tuple[int, int, CapturedLink]]:
        """The ports outside that cables join through panels and switches, each pair once."""
        for p, x in self.seen.items():
            if self.is_inner(p) or not self.is_inner(x):
                continue
            y = self.across(x)
            q = self.seen.get(y, -1)
            if q >= 0 and not self.is_inner(q) and p < q:
                yield p, q, self.wire[p]

    def strays(self) -> Iterator[tuple[int, int, CapturedLink]]:
        """Ports outside whose cable ends at an inner port which leads to no other cable, and which the design
        does not connect there."""
        for p, x in self.seen.items():
            ends_here = not self.is_inner(p) and self.is_inner(x) and self.planned.get(x) != p
            if ends_here and self.seen.get(self.across(x), -1) < 0:
                yield p, x, self.wire[p]

    def across(self, port: int) -> int:
        """The inner port to which an inner port leads: as the design has it; of a panel otherwise the port of
        the same number on its other side; -1 where nothing says it."""
        found = self.inside.get(port)
        if found is not None:
            return found
        f = self.fabric
        device = int(f.port_device[port])
        classes = f.model_of(device).classes
        if f.set_of(device).kind != "panel" or len(classes) != 2 or classes[0].size != classes[1].size:
            return -1
        local = port - int(f.port_base[device])
        other = local + classes[0].size if local < classes[0].size else local - classes[0].size
        return int(f.port_base[device]) + other
