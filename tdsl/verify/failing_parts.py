"""What may fail of a view, with how often and for how long: devices, links or the cables and transceivers
that they run through, and risk groups that have a rate of their own.

A rate is taken from the design (the declaration, the connect or the risk group), else from the user's file of
prices, else from the model. What states none is counted, by what it is: nothing is assumed of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.claims import FabricElement
from tdsl.fabric.columns import PortColumns
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.part_facts import PLUGGED, cable_medium
from tdsl.prove.elements import TooMany
from tdsl.prove.view import View
from tdsl.semantics.failure_rates import FailureRate, rate_from_settings
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.fabric.failed import FailedElements
    from tdsl.physical.part_choice import PartChoice

NETWORK = ("switch", "ocs", "panel", "link", "cable", "optic")
"""Kinds of failing parts that are of the network; hosts, chips and risk groups are not."""
BASES = ("design", "file", "model")
"""Where a rate is from: the design itself, the user's file, a model."""


@dataclass(frozen=True, slots=True)
class FailingPart:
    """What fails as one. ``per_second`` is its failures a second of service, ``odds`` its mean time of repair
    over its mean time between failures, so that it works with the probability 1/(1 + odds); None where the
    time of repair is not stated. ``bases`` are words of ``BASES``."""

    element: FabricElement
    kind: str
    per_second: Fraction
    odds: Fraction | None
    bases: frozenset[str]

    @property
    def of_network(self) -> bool:
        """Whether it is a part of the network."""
        return self.kind in NETWORK

    @property
    def down_share(self) -> Fraction:
        """The probability that it does not work; 0 where the time of repair is not stated."""
        odds = self.odds or Fraction(0)
        return odds / (1 + odds)


@dataclass(frozen=True, slots=True)
class FailingParts:
    """All that may fail, and what states no rate or no time of repair: how many of each, by what it is. Parts
    that never fail are left out of ``parts``. ``unrated_devices`` are rows of devices."""

    parts: tuple[FailingPart, ...]
    unrated: Mapping[str, int]
    unrepaired: Mapping[str, int]
    unrated_devices: Ints
    names: Mapping[int, str]  # of devices, what they are counted as

    def among_devices(self, named: Bools) -> FailingParts:
        """The same of some devices alone, without links, cables and risk groups."""
        parts = [p for p in self.parts if len(p.element.devices) and p.kind != "risk"]
        mine = tuple(p for p in parts if named[p.element.devices].all())
        lacking = self.unrated_devices[named[self.unrated_devices]]
        what = Counter(self.names[d] for d in lacking.tolist())
        repairs = Counter(self.names[int(p.element.devices[0])] for p in mine if p.odds is None)
        return FailingParts(mine, dict(what), dict(repairs), lacking, self.names)

    def of_kinds(self, network: bool) -> list[FailingPart]:
        """The parts of the network, or all others."""
        return [p for p in self.parts if p.of_network == network]


@dataclass(frozen=True, slots=True)
class _Rated:
    """A rate with where it is from."""

    rate: FailureRate
    bases: frozenset[str]


def failing_parts(view: View) -> FailingParts:
    """What may fail of a view, in the order of devices, links, cables, transceivers and risk groups. Raises
    TooMany."""
    found = _PartsOfView(view)
    merged: dict[tuple[bytes, bytes], FailingPart] = {}
    for part in found.parts():
        key = part.element.devices.tobytes(), part.element.links.tobytes()
        before = merged.get(key)
        merged[key] = part if before is None else _in_series(before, part)
        if len(merged) > view.budget.named_elements:
            raise TooMany(f"more than {view.budget.named_elements:,} parts may fail")
    parts = tuple(p for p in merged.values() if p.per_second)
    lacking = np.array(found.unrated_devices, dtype=np.int64)
    return FailingParts(parts, dict(found.unrated), dict(found.unrepaired), lacking, found.names)


def _in_series(a: FailingPart, b: FailingPart) -> FailingPart:
    """Two parts whose failure takes the same away, as one: it works if both do."""
    odds = None if a.odds is None or b.odds is None else (1 + a.odds) * (1 + b.odds) - 1
    kind = a.kind if a.kind == b.kind else "cable" if {a.kind, b.kind} <= {"cable", "optic"} else a.kind
    return replace(a, kind=kind, per_second=a.per_second + b.per_second, odds=odds, bases=a.bases | b.bases)


class _PartsOfView:
    """The parts of one view, one after another; what lacks a rate is counted on the way."""

    def __init__(self, view: View) -> None:
        self.view, self.fabric = view, view.fabric
        self.unrated: Counter[str] = Counter()
        self.unrepaired: Counter[str] = Counter()
        self.unrated_devices: list[int] = []
        self.names: dict[int, str] = {}

    def parts(self) -> Iterator[FailingPart]:
        """All of them."""
        yield from self._devices()
        yield from self._stated_links()
        yield from self._cables_and_optics()
        yield from self._risk_groups()

    def _part(self, element: FabricElement, kind: str, rated: _Rated, what: str) -> FailingPart | None:
        """A part with its rate; None, and counted, where it states none."""
        rate = rated.rate
        if rate.per_second is None:
            self.unrated[what] += 1
            return None
        if rate.per_second and rate.repair is None:
            self.unrepaired[what] += 1
        odds = Fraction(0) if not rate.per_second else None
        if rate.per_second and rate.repair is not None:
            odds = rate.per_second * rate.repair
        return FailingPart(element, kind, rate.per_second, odds, rated.bases)

    def _of_model(self, model: DeviceModel) -> _Rated:
        """What the user's file says of a model, else the model."""
        own = rate_from_settings(model.facts)
        filed = self.fabric.supply.failures.get(model.name, FailureRate())
        return _joined_rates([("file", filed), ("model", own)])

    # ------------------------------------------------------------ devices
    def _devices(self) -> Iterator[FailingPart]:
        f, there = self.fabric, self.view.devices & self.fabric.built
        rates: dict[tuple[int, int], _Rated] = {}
        none = np.zeros(0, dtype=np.int64)
        for d in np.flatnonzero(there).tolist():
            key = int(f.device_set[d]), int(f.device_model[d])
            if key not in rates:
                stated = rate_from_settings(f.sets[key[0]].settings)
                model = self._of_model(f.models[key[1]])
                rates[key] = _joined_rates([("design", stated)], model)
            rated = rates[key]
            inside = f.container[d] >= 0
            if inside and rated.rate.per_second is None:
                continue  # a failure of it is one of the device that it is in
            what = f"{f.sets[key[0]].path} ({f.models[key[1]].name})"
            element = FabricElement(f.device_path(d), np.array([d]), none)
            self.names[d] = what
            part = self._part(element, str(f.kind[d]), rated, what)
            if part is None:
                self.unrated_devices.append(d)
            else:
                yield part

    # ------------------------------------------------------------ links, cables, transceivers
    @cached_property
    def _of_statements(self) -> list[_Rated]:
        """What every connect says of each of its links."""
        return [_joined_rates([("design", rate_from_settings(s.settings))]) for s in self.fabric.statements]

    def _link_name(self, row: int) -> str:
        f = self.fabric
        return f"{f.port_path(int(f.link_a[row]))} - {f.port_path(int(f.link_b[row]))}"

    def _class_of_link(self, row: int) -> str:
        return f"links of {self.fabric.classes[int(self.fabric.link_class[row])]}"

    def _stated_links(self) -> Iterator[FailingPart]:
        """Links whose connect states a rate: of the cable with what is at its ends."""
        f, none = self.fabric, np.zeros(0, dtype=np.int64)
        for row in self.view.rows.tolist():
            rated = self._of_statements[int(f.link_statement[row])]
            if rated.rate.per_second is not None:
                element = FabricElement(self._link_name(row), none, np.array([row]))
                part = self._part(element, "link", rated, self._class_of_link(row))
                if part is not None:
                    yield part

    def _cables_and_optics(self) -> Iterator[FailingPart]:
        """Cables and transceivers of all other links; a link without a cable, such as a trace, states
        none."""
        f = self.fabric
        rows = [
            r
            for r in self.view.rows.tolist()
            if self._of_statements[f.link_statement[r]].rate.per_second is None
        ]
        if not rows:
            return
        links, legs = CableIndex(f).crossings if len(f.cable_a) else (np.zeros(0, np.int64),) * 2
        mine = np.isin(links, rows)
        links, legs = links[mine].astype(np.int64), legs[mine].astype(np.int64)
        bare = np.setdiff1d(np.array(rows), links)
        self.unrated.update(self._class_of_link(r) for r in bare.tolist())
        number, choices = self._part_choices()
        cages = PortColumns(f)
        held: dict[tuple[str, int, int], list[int]] = {}
        model_of: dict[tuple[str, int, int], DeviceModel | None] = {}
        for ports, end in ((f.cable_a, "optic_a"), (f.cable_b, "optic_b")):
            first = cages.cage_of(ports) if len(ports) else ports
            for link, leg in zip(links.tolist(), legs.tolist(), strict=True):
                choice = choices[int(number[leg])]
                key = ("cable", int(f.cable_group[leg]), 0)
                if end == "optic_a":
                    held.setdefault(key, []).append(link)
                    model_of[key] = choice.cable
                device = int(f.port_device[int(ports[leg])])
                own_plugs = choice.cable is not None and cable_medium(choice.cable) in PLUGGED
                if own_plugs or f.kind[device] in ("panel", "ocs"):
                    continue
                key = ("optic", device, int(first[leg]))
                held.setdefault(key, []).append(link)
                model_of[key] = getattr(choice, end)
        yield from self._parts_of_links(held, model_of)

    def _parts_of_links(
        self,
        held: Mapping[tuple[str, int, int], Sequence[int]],
        model_of: Mapping[tuple[str, int, int], DeviceModel | None],
    ) -> Iterator[FailingPart]:
        f, none = self.fabric, np.zeros(0, dtype=np.int64)
        for key, rows in sorted(held.items()):
            model = model_of[key]
            stated = self._of_statements[int(f.link_statement[rows[0]])]
            rated = (
                stated if model is None else _joined_rates([("design", stated.rate)], self._of_model(model))
            )
            kind = {"cable": "cables", "optic": "transceivers"}[key[0]]
            what = f"{kind} of {f.classes[int(f.link_class[rows[0]])]}" + (
                f" ({model.name})" if model else ""
            )
            name = f"cable of {self._link_name(rows[0])}"
            name = name if key[0] == "cable" else f"transceiver of {f.port_path(key[2])}"
            part = self._part(FabricElement(name, none, np.unique(rows)), key[0], rated, what)
            if part is not None:
                yield part

    def _part_choices(self) -> tuple[Ints, Sequence[PartChoice]]:
        """Of every cable leg the number of its parts, and the parts: those chosen by places, else those that
        connects name."""
        from tdsl.physical.model import physical_of

        physical = physical_of(self.fabric)
        if physical is not None:
            return physical.parts.group
        return self.fabric.cable_statement, [_named_parts(s.settings) for s in self.fabric.statements]

    # ------------------------------------------------------------ risk groups
    def _risk_groups(self) -> Iterator[FailingPart]:
        """Groups that state a rate of what they share, beside the rates of their members."""
        for r in self.fabric.risks:
            rows = r.devices[(self.view.devices & self.fabric.built)[r.devices]]
            if len(rows) and r.rate.per_second is not None:
                element = FabricElement(f"risk {r.path}", rows)
                rated = _Rated(r.rate, frozenset({"design"}))
                part = self._part(element, "risk", rated, f"risk {r.name}")
                if part is not None:
                    yield part


def longest_repair_of_failed(fabric: Fabric, failed: FailedElements) -> tuple[Fraction | None, int]:
    """The longest time of repair in seconds that the design, a file or a model states for what failed, and
    for how many devices and links none does. Links of a failed device come back with it."""
    found = _PartsOfView(View.whole(fabric))
    said = [
        _joined_rates(
            [("design", rate_from_settings(fabric.set_of(d).settings))], found._of_model(fabric.model_of(d))
        )
        for d in np.flatnonzero(failed.devices).tolist()
    ]
    rows = np.flatnonzero(failed.links & ~fabric.links_lost(failed.devices))
    said += [found._of_statements[int(fabric.link_statement[row])] for row in rows.tolist()]
    known = [x.rate.repair for x in said if x.rate.repair is not None]
    return max(known, default=None), len(said) - len(known)


def _joined_rates(said: Sequence[tuple[str, FailureRate]], behind: _Rated | None = None) -> _Rated:
    """Rate and repair, each as the first says it that says it, then as what comes after them all does."""
    rate, bases = FailureRate(), set[str]()
    for basis, one in said:
        filled = rate.filled_by(one)
        if filled != rate:
            bases.add(basis)
        rate = filled
    if behind is not None:
        filled = rate.filled_by(behind.rate)
        if filled != rate:
            bases |= behind.bases
        rate = filled
    return _Rated(rate, frozenset(bases))


def _named_parts(settings: Mapping[str, object]) -> PartChoice:
    """The parts that a connect names."""
    cable, optics = settings.get("part"), settings.get("optics")
    a, b = optics if isinstance(optics, tuple) else (None, None)
    from tdsl.physical.part_choice import PartChoice

    return PartChoice(
        cable if isinstance(cable, DeviceModel) else None,
        a if isinstance(a, DeviceModel) else None,
        b if isinstance(b, DeviceModel) else None,
    )


def missing_text(missing: Mapping[str, int], most: int = 4) -> str:
    """``16 × node (DGX_H100), 128 × links of node-leaf``: what states no rate."""
    said = [f"{n:,} × {what}" for what, n in missing.items()]
    more = f" and {len(said) - most} more kinds" if len(said) > most else ""
    return ", ".join(said[:most]) + more
