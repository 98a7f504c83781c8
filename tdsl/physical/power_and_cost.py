"""What a fabric takes in watts and money: sums whose unknown terms are counted, so that they are lower
bounds, never guesses."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.part_facts import PLUGGED, cable_medium, is_built_in, optic_watts, takes_power
from tdsl.physical.articles import Purchases, list_purchases
from tdsl.physical.model import Physical, physical_of
from tdsl.physical.racks import PartialSum, watts_of_model
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.provenance import basis_of_figure
from tdsl.semantics.quantity import MONEY, Quantity
from tdsl.system.lazy_dataclass import dataclass

NOTHING = PartialSum(Fraction(0), 0)


def price_of_part(part: DeviceModel, prices: Mapping[str, Fraction]) -> Fraction | None:
    """The price of a model: that of the user's table, else what the model states, else None."""
    if part.name in prices:
        return prices[part.name]
    value = part.facts.get("price")
    return value.amount if isinstance(value, Quantity) and value.dim == MONEY else None


@dataclass(frozen=True, slots=True)
class Optics:
    """Transceivers as columns: device, index into ``parts``; and cable ends whose transceiver is not known,
    by device."""

    device: Ints
    part: Ints
    parts: list[DeviceModel]
    open_ends: Ints  # device of each
    open_why: Ints  # index into ``whys`` of each
    whys: list[str]  # "" where nothing is known


@dataclass(frozen=True, slots=True)
class Plugs:
    """Plugs of active cables as columns: the outermost device that each is in, and the index into ``shares``
    of the part of a cable's power that it takes. A share is the watts of the plug, None where the part states
    none, at most and typically; half of a cable's power is that of each end, and the legs of a break-out
    divide theirs evenly."""

    device: Ints
    share: Ints
    shares: list[tuple[Fraction | None, Fraction | None]]


@lru_cache(maxsize=2)
def cached_figures(fabric: Fabric) -> Figures:
    """The sums of a fabric. The last two are kept."""
    return Figures(fabric)


class Figures:
    """Power and cost of one fabric."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.physical: Physical | None = physical_of(fabric)

    @cached_property
    def purchases(self) -> Purchases:
        """What the mounted devices are bought as."""
        f = self.fabric
        numbers = np.bincount(f.device_model[self.mounted], minlength=len(f.models)).tolist()
        counts: dict[str, int] = {}
        prices: dict[str, Fraction | None] = dict(f.prices)
        for model, n in zip(f.models, numbers, strict=True):
            if n:
                counts[model.name] = counts.get(model.name, 0) + n
                prices[model.name] = price_of_part(model, f.prices)
        return list_purchases(f, counts, prices)

    def device_price(self, model: DeviceModel) -> Fraction | None:
        """What one device of a model costs, None where unknown; of those in an article, its share of it."""
        shares = self.purchases.shares
        return shares[model.name] if model.name in shares else price_of_part(model, self.fabric.prices)

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
        """All transceivers. Without places none is chosen, and every end of a cable without a copper part is
        open."""
        return self._optics_not_chosen() if self.physical is None else self._chosen_optics(self.physical)

    def _optics_not_chosen(self) -> Optics:
        """Both ends of every cable without a copper part, each open."""
        f = self.fabric
        none = np.zeros(0, dtype=np.int64)
        copper = np.array([_has_own_plugs(s.settings.get("part")) for s in f.statements] or [False])
        plain = ~copper[f.cable_statement] if len(f.cable_a) else np.zeros(0, dtype=np.bool_)
        ends = np.concatenate([f.port_device[f.cable_a[plain]], f.port_device[f.cable_b[plain]]])
        return Optics(none, none, [], self.top[ends], np.zeros(len(ends), dtype=np.int64), [""])

    def _chosen_optics(self, physical: Physical) -> Optics:
        """The transceivers that the lengths of the cables led to, and the ends for which none is known."""
        f, parts = self.fabric, physical.parts
        none = np.zeros(0, dtype=np.int64)
        device, _, part, _ = parts.cages
        number, choices = parts.group
        open_ends, open_why = [none], [none]
        for ports, end in ((f.cable_a, "optic_a"), (f.cable_b, "optic_b")):
            lacks = np.array(
                [getattr(c, end) is None and not _has_own_plugs(c.cable) for c in choices] or [False]
            )
            open_ends.append(f.port_device[ports[lacks[number]]] if len(ports) else none)
            open_why.append(number[lacks[number]] if len(ports) else none)
        ends, why = np.concatenate(open_ends), np.concatenate(open_why)
        kinds = f.kind[ends] if len(ends) else np.array([], dtype=str)
        plugged = (kinds != "panel") & (kinds != "ocs")  # those have no transceivers
        whys = [c.why for c in choices] or [""]
        return Optics(self.top[device], part, parts.optics, self.top[ends[plugged]], why[plugged], whys)

    @cached_property
    def cable_parts(self) -> tuple[Ints, list[DeviceModel | None]]:
        """Of every cable leg the number of its part, and the parts: those chosen, or without places those
        that connects name."""
        if self.physical is not None:
            number, choices = self.physical.parts.group
            return number, [c.cable for c in choices]
        named = (s.settings.get("part") for s in self.fabric.statements)
        return self.fabric.cable_statement, [p if isinstance(p, DeviceModel) else None for p in named]

    @cached_property
    def plugs(self) -> Plugs:
        """All plugs of cables that take power."""
        f = self.fabric
        number, parts = self.cable_parts
        active = np.array([p is not None and takes_power(p) for p in parts] or [False], dtype=np.bool_)
        legs = np.flatnonzero(active[number]) if len(number) else np.zeros(0, dtype=np.int64)
        if not len(legs):
            none = np.zeros(0, dtype=np.int64)
            return Plugs(none, none, [])
        each = np.bincount(f.cable_group)[f.cable_group[legs]]
        split = f.cable_leg[legs] > 0
        head_at_b = CableIndex(f).head_at_b[legs]
        columns = []
        for ports, is_head in ((f.cable_a, ~head_at_b), (f.cable_b, head_at_b)):
            counted = ~(split & is_head) | (f.cable_leg[legs] == 1)  # the legs of a break-out have one head
            parts_of = np.where(split & ~is_head, 2 * each, 2)
            columns.append((f.port_device[ports[legs]][counted], number[legs][counted], parts_of[counted]))
        device, part, divided = (np.concatenate(x) for x in zip(*columns, strict=True))
        pairs, share = np.unique(np.stack([part, divided]), axis=1, return_inverse=True)
        shares = []
        for k, n in pairs.T.tolist():
            cable = parts[k]
            assert cable is not None
            most, usual = optic_watts(cable), optic_watts(cable, typical=True)
            shares.append((None if most is None else most / n, None if usual is None else usual / n))
        return Plugs(self.top[device], share.ravel(), shares)

    def plugs_power(self, devices: Bools, typical: bool = False) -> PartialSum:
        """Watts of the plugs of active cables in some devices."""
        found = self.plugs
        count = np.bincount(found.share[devices[found.device]], minlength=len(found.shares))
        known, missing = Fraction(0), 0
        for share, n in zip(found.shares, count.tolist(), strict=True):
            value = share[typical]
            known, missing = (known, missing + n) if value is None else (known + value * n, missing)
        return PartialSum(known, missing)

    def optics_power(self, devices: Bools, typical: bool = False) -> PartialSum:
        """Watts of the transceivers in some devices, and of the plugs of active cables."""
        found = self.optics
        mine = found.part[devices[found.device]]
        count = (
            np.bincount(mine, minlength=len(found.parts))
            if len(mine)
            else np.zeros(len(found.parts), dtype=np.int64)
        )
        known, missing = Fraction(0), int(devices[found.open_ends].sum())
        for part, n in zip(found.parts, count.tolist(), strict=True):
            if n:
                value = optic_watts(part, typical)
                known, missing = (known, missing + n) if value is None else (known + value * n, missing)
        return PartialSum(known, missing) + self.plugs_power(devices, typical)

    def power(self, devices: Bools, typical: bool = False) -> PartialSum:
        """Watts of some devices with their transceivers and the plugs of active cables. A published maximum
        includes them; any other figure does not."""
        f = self.fabric
        mine = devices & self.mounted
        total = NOTHING
        for m, model in enumerate(f.models):
            rows = np.flatnonzero(mine & (f.device_model == m))
            if not len(rows) or model.kind in ("panel",):
                continue
            value = watts_of_model(model, typical)
            if value is None:
                total += PartialSum(Fraction(0), len(rows))
                continue
            estimated = {model.name} if basis_of_figure(model, "power") == "estimated" else ()
            total += PartialSum(value * len(rows), 0, frozenset(estimated))
        return total + self.parts_power(devices, typical)

    def parts_power(self, devices: Bools, typical: bool = False) -> PartialSum:
        """Watts of the transceivers and active plugs in those of some devices whose own figure does not
        include them."""
        own = np.array([typical or "power_max" not in m.facts for m in self.fabric.models] or [False])
        panel = np.array([m.kind == "panel" for m in self.fabric.models] or [False])
        return self.optics_power(devices & self.mounted & (own & ~panel)[self.fabric.device_model], typical)

    def cost(self, devices: Bools, cables: Bools) -> PartialSum:
        """Prices of some devices, their transceivers, and some cable legs."""
        f = self.fabric
        total = NOTHING
        mine = devices & self.mounted
        for m, model in enumerate(f.models):
            n = int((mine & (f.device_model == m)).sum())
            if n:
                value = self.device_price(model)
                total += PartialSum(Fraction(0), n) if value is None else PartialSum(value * n, 0)
        return total + self.parts_cost(devices, cables)

    def parts_cost(self, devices: Bools, cables: Bools) -> PartialSum:
        """Prices of the transceivers in some devices, and of some cable legs."""
        total = NOTHING
        found = self.optics
        chosen = found.part[devices[found.device]]
        for part, n in zip(
            found.parts, np.bincount(chosen, minlength=len(found.parts)).tolist(), strict=True
        ):
            if n and not is_built_in(part):
                value = price_of_part(part, self.fabric.prices)
                total += PartialSum(Fraction(0), n) if value is None else PartialSum(value * n, 0)
        total += PartialSum(Fraction(0), int(devices[found.open_ends].sum()))
        return total + self._cables(cables)

    def _cables(self, legs: Bools) -> PartialSum:
        f, prices = self.fabric, self.fabric.prices
        rows = np.flatnonzero(legs & (f.cable_leg <= 1))  # a breakout is one part
        if not len(rows):
            return NOTHING
        number, parts = self.cable_parts
        total = NOTHING
        for k, n in enumerate(np.bincount(number[rows], minlength=len(parts)).tolist()):
            if n:
                part = parts[k]
                value = None if part is None else price_of_part(part, prices)
                total += PartialSum(Fraction(0), n) if value is None else PartialSum(value * n, 0)
        return total


def _has_own_plugs(part: object) -> bool:
    """Whether the ends of a cable part are part of it."""
    return isinstance(part, DeviceModel) and cable_medium(part) in PLUGGED
