"""What a fabric takes in watts and money: sums whose unknown terms are counted, so that they are lower bounds, never guesses."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property

import numpy as np

from tdsl.dataclass import dataclass
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.part_facts import optic_watts
from tdsl.physical.model import Physical, physical_of
from tdsl.physical.parts import COPPER
from tdsl.physical.racks import Bound, watts
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import MONEY, Quantity

NOTHING = Bound(Fraction(0), 0)


def price(part: DeviceModel, prices: Mapping[str, Fraction]) -> Fraction | None:
    """The price of a model: that of the user's table, else what the model states, else None."""
    if part.name in prices:
        return prices[part.name]
    value = part.facts.get("price")
    return value.amount if isinstance(value, Quantity) and value.dim == MONEY else None


@dataclass(frozen=True, slots=True)
class Optics:
    """Transceivers as columns: device, index into ``parts``; and cable ends whose transceiver is not known, by device."""

    device: Ints
    part: Ints
    parts: list[DeviceModel]
    open_ends: Ints  # device of each


class Figures:
    """Power and cost of one fabric."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.physical: Physical | None = physical_of(fabric)

    @cached_property
    def mounted(self) -> Bools:
        """Built devices that are not inside another: a figure of a host or chassis includes its contents."""
        return self.fabric.built & (self.fabric.container < 0)

    @cached_property
    def top(self) -> Ints:
        """For every device the outermost one that it is inside."""
        out = np.arange(self.fabric.device_count)
        container = self.fabric.container
        while len(out) and (container[out] >= 0).any():
            out = np.where(container[out] >= 0, container[out], out)
        return out

    @cached_property
    def optics(self) -> Optics:
        """All transceivers. Without places none is chosen, and every end of a cable without a copper part is open."""
        f = self.fabric
        none = np.zeros(0, dtype=np.int64)
        if self.physical is None:
            copper = np.array([_copper(s.settings.get("part")) for s in f.statements] or [False])
            plain = ~copper[f.cable_statement] if len(f.cable_a) else np.zeros(0, dtype=np.bool_)
            ends = np.concatenate([f.port_device[f.cable_a[plain]], f.port_device[f.cable_b[plain]]])
            return Optics(none, none, [], self.top[ends])
        parts = self.physical.parts
        device, _, part, _ = parts.cages
        number, choices = parts.group
        open_ends = [none]
        for ports, end in ((f.cable_a, "optic_a"), (f.cable_b, "optic_b")):
            lacks = np.array([getattr(c, end) is None and not _copper(c.cable) for c in choices] or [False])
            open_ends.append(f.port_device[ports[lacks[number]]] if len(ports) else none)
        ends = np.concatenate(open_ends)
        kinds = f.kind[ends] if len(ends) else np.array([], dtype=str)
        ends = ends[(kinds != "panel") & (kinds != "ocs")]  # those have no transceivers
        return Optics(self.top[device], part, parts.optics, self.top[ends])

    def optics_power(self, devices: Bools, typical: bool = False) -> Bound:
        """Watts of the transceivers in some devices."""
        found = self.optics
        mine = found.part[devices[found.device]]
        count = np.bincount(mine, minlength=len(found.parts)) if len(mine) else np.zeros(len(found.parts), dtype=np.int64)
        known, missing = Fraction(0), int(devices[found.open_ends].sum())
        for part, n in zip(found.parts, count.tolist(), strict=True):
            if n:
                value = optic_watts(part, typical)
                known, missing = (known, missing + n) if value is None else (known + value * n, missing)
        return Bound(known, missing)

    def power(self, devices: Bools, typical: bool = False) -> Bound:
        """Watts of some devices with their transceivers. A published maximum includes them; any other figure does not."""
        f = self.fabric
        mine = devices & self.mounted
        total = NOTHING
        for m, model in enumerate(f.models):
            rows = np.flatnonzero(mine & (f.device_model == m))
            if not len(rows) or model.kind in ("panel",):
                continue
            value = watts(model, typical)
            total += Bound(Fraction(0), len(rows)) if value is None else Bound(value * len(rows), 0)
        return total + self.parts_power(devices, typical)

    def parts_power(self, devices: Bools, typical: bool = False) -> Bound:
        """Watts of the transceivers in those of some devices whose own figure does not include them."""
        own = np.array([typical or "power_max" not in m.facts for m in self.fabric.models] or [False])
        panel = np.array([m.kind == "panel" for m in self.fabric.models] or [False])
        return self.optics_power(devices & self.mounted & (own & ~panel)[self.fabric.device_model], typical)

    def cost(self, devices: Bools, cables: Bools) -> Bound:
        """Prices of some devices, their transceivers, and some cable legs."""
        f, prices = self.fabric, self.fabric.prices
        total = NOTHING
        mine = devices & self.mounted
        for m, model in enumerate(f.models):
            n = int((mine & (f.device_model == m)).sum())
            if n:
                value = price(model, prices)
                total += Bound(Fraction(0), n) if value is None else Bound(value * n, 0)
        return total + self.parts_cost(devices, cables)

    def parts_cost(self, devices: Bools, cables: Bools) -> Bound:
        """Prices of the transceivers in some devices, and of some cable legs."""
        total = NOTHING
        found = self.optics
        chosen = found.part[devices[found.device]]
        for part, n in zip(found.parts, np.bincount(chosen, minlength=len(found.parts)).tolist(), strict=True):
            if n:
                value = price(part, self.fabric.prices)
                total += Bound(Fraction(0), n) if value is None else Bound(value * n, 0)
        total += Bound(Fraction(0), int(devices[found.open_ends].sum()))
        return total + self._cables(cables)

    def _cables(self, legs: Bools) -> Bound:
        f, prices = self.fabric, self.fabric.prices
        rows = np.flatnonzero(legs & (f.cable_leg <= 1))  # a break-out is one part
        if not len(rows):
            return NOTHING
        if self.physical is not None:
            number, choices = self.physical.parts.group
            parts: list[DeviceModel | None] = [c.cable for c in choices]
        else:
            number = f.cable_statement
            parts = [p if isinstance(p := s.settings.get("part"), DeviceModel) else None for s in f.statements]
        total = NOTHING
        for k, n in enumerate(np.bincount(number[rows], minlength=len(parts)).tolist()):
            if n:
                part = parts[k]
                value = None if part is None else price(part, prices)
                total += Bound(Fraction(0), n) if value is None else Bound(value * n, 0)
        return total


def _copper(part: object) -> bool:
    """Whether the ends of a cable part are part of it."""
    return isinstance(part, DeviceModel) and str(part.facts.get("medium", "")) in (*COPPER, "aoc")
