"""Which cable and which optics each cable leg gets: those that a connect pins, else the best that the
catalogue has for its run.

A connect has one kind of cable and one pair of optics for each pair of port classes, so that the two ports of
a twin-port transceiver agree; its longest run decides. Of what fits, the least power is chosen (unknown
counts as most), then the shortest reach, then the name. Where the lengths of some cables are unknown, the
others decide. A transceiver that names its ``vendor`` comes last for devices of others. The catalogue states
no prices. Copper takes less power than any transceiver, so it is chosen
where it reaches; where its plugs would fill cages of several ports it is taken if it is pinned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from tdsl.fabric.cables.cabling import fills_cages
from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.cables.plugs import (
    cage_form,
    ends_wrong,
    fibre_carries_rate,
    fibre_connectors,
    optic_fits_fibre,
    optic_misfit_reason,
    outlet_rate,
    outlets_of_cage,
)
from tdsl.fabric.columns import PortColumns
from tdsl.fabric.graph import MEDIA, Bools, Fabric, Ints
from tdsl.fabric.part_facts import (
    ACTIVE,
    COPPER,
    MICRO,
    PLUGGED,
    cable_medium,
    lengths_of,
    optic_watts,
    part_display_name,
    shortest_sold_length,
    stated_quantity,
)
from tdsl.physical.lengths import CableRuns
from tdsl.physical.stated import stated_lengths
from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.semantics.quantity import LENGTH, POWER, RATE, Quantity
from tdsl.system.lazy_dataclass import dataclass

HEAT_SINKS = ("finned", "flat")
"""What a cage takes: modules with a heat sink, or those that one in the cage rides on."""


@dataclass(frozen=True, slots=True)
class PartChoice:
    """What the legs of one connect between two port classes get; ``why`` says what is missing where there is
    no cable."""

    cable: DeviceModel | None
    optic_a: DeviceModel | None
    optic_b: DeviceModel | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Group:
    """Legs of one connect between two port classes: what must fit them."""

    a: PortClass
    b: PortClass
    rate: int
    legs: int  # of a break-out, 0 for straight cables
    head_at_b: bool  # the undivided end of a break-out
    run: int  # the longest that is known, -1 where none is
    vendors: tuple[str, str] = ("", "")  # of the devices at both ends

    @property
    def tails(self) -> tuple[bool, bool]:
        """Whether the ends a and b are at the legs of a break-out."""
        return (self.legs > 0 and self.head_at_b, self.legs > 0 and not self.head_at_b)

    def wrong(self, optic: DeviceModel, c: PortClass, tail: bool) -> str:
        """Why a transceiver does not fit an end, "" if it does."""
        return optic_misfit_reason(optic, c, self.rate, max(self.legs, 1), tail)


def _allowed_parts(parts: list[DeviceModel], allowed: object) -> list[DeviceModel]:
    """The parts of a kind that a connect allows; all where it allows none of the kind."""
    names = {p.name for p in allowed if isinstance(p, DeviceModel)} if isinstance(allowed, tuple) else set()
    return [p for p in parts if p.name in names] or parts


def _limits_of_choice(choice: PartChoice) -> list[tuple[Fraction, str]]:
    """How many metres a fibre and its transceivers go, and what says so; 0 where a part does not state it."""
    out = []
    for part in (choice.cable, choice.optic_a, choice.optic_b):
        if part is not None:
            reach, name = stated_quantity(part, "reach", LENGTH), part_display_name(part)
            said = "states no reach" if reach is None else f"reaches {Quantity(reach, LENGTH)}"
            out.append((reach or Fraction(0), f"{name} {said}"))
    cable = choice.cable
    if cable is not None:
        longest = max((x for lengths in lengths_of(cable) for x in lengths), default=0)
        sold = f"has no longer length than {longest / MICRO:g} m" if longest else "states no lengths"
        out.append((Fraction(longest, MICRO), f"{part_display_name(cable)} {sold}"))
    return out


def _count_unused_legs(
    ends: tuple[PortClass, PortClass], rate: int, legs: int, head_at_b: bool
) -> tuple[int, bool]:
    """Legs of the break-out that a cable is, those that lead nowhere included, and whether its head is at b;
    0 legs for a straight cable. ``legs`` are those in use, 0 where one is, and ``rate`` is that of each. A
    splitter leaves an outlet whose lanes carry more than its links."""
    if legs:
        head = ends[head_at_b]
        return max(legs, (outlet_rate(head) or 0) // rate if rate else 0), head_at_b
    whole = [(outlet_rate(c) or 0) // rate if rate and c.split > 1 else 0 for c in ends]
    several = [k for k, n in enumerate(whole) if n > 1]
    return (whole[several[0]], several[0] == 1) if len(several) == 1 else (0, head_at_b)


def _count_foreign_optics(choice: PartChoice, vendors: tuple[str, str]) -> int:
    """How many transceivers name another maker than that of the device at their end."""
    both = zip((choice.optic_a, choice.optic_b), vendors, strict=True)
    return sum(o is not None and o.facts.get("vendor", own) != own for o, own in both)


def _longest_run_of_cable(run: Ints, group: Ints) -> Ints:
    """For every leg the longest run of its cable, -1 where one of them is unknown."""
    count = int(group.max(initial=-1)) + 1
    most = np.full(count, -1, dtype=np.int64)
    np.maximum.at(most, group, run)
    most[group[run < 0]] = -1
    return most[group]


class ChosenParts:
    """Cables and optics of a fabric that has places."""

    def __init__(self, fabric: Fabric, lengths: CableRuns, catalogue: Sequence[DeviceModel]) -> None:
        self.fabric, self.lengths = fabric, lengths
        self.optics = [p for p in catalogue if p.kind == "optic"]
        self.cables = [p for p in catalogue if p.kind == "cable"]
        self.ports = PortColumns(fabric)

    @cached_property
    def leg_rate(self) -> Ints:
        """Bit/s of the links of every leg together."""
        links, legs = CableIndex(self.fabric).crossings
        total = np.zeros(len(self.fabric.cable_a), dtype=np.int64)
        np.add.at(total, legs, self.fabric.link_rate[links])
        return total

    @cached_property
    def _class(self) -> Ints:
        """For every port of the models, the number of its class over all models."""
        out: list[int] = []
        number = 0
        for m in self.fabric.models:
            for c in m.classes:
                out += [number] * c.size
                number += 1
        return np.array(out, dtype=np.int64)

    @cached_property
    def _classes(self) -> list[PortClass]:
        return [c for m in self.fabric.models for c in m.classes]

    @cached_property
    def _vendors(self) -> list[str]:
        """The maker of the device of each port class, "" where its model names none."""
        return [str(m.facts.get("vendor", "")) for m in self.fabric.models for _ in m.classes]

    @cached_property
    def head_at_b(self) -> Bools:
        """Whether each leg is of a break-out whose undivided end is b."""
        return CableIndex(self.fabric).head_at_b

    @cached_property
    def group(self) -> tuple[Ints, list[PartChoice]]:
        """The group of every leg, and what each group gets."""
        f = self.fabric
        keys = np.stack(
            [
                f.cable_statement,
                self._class[self.ports.rows(f.cable_a)],
                self._class[self.ports.rows(f.cable_b)],
                self.leg_rate,
                np.minimum(f.cable_leg, 1),
                self.head_at_b,
            ]
        )
        found, first, number = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        number = number.ravel()
        order = np.argsort(np.argsort(first, kind="stable"), kind="stable")
        number = order[number]
        choices: list[PartChoice] = []
        stated = stated_lengths(f)
        run = np.where(stated >= 0, stated, self.lengths.run)
        for k in np.argsort(first, kind="stable").tolist():
            statement, a, b, rate, leg, at_b = (int(x) for x in found[:, k])
            mine = run[number == len(choices)]
            longest = int(mine.max())  # of those that are known; the bill says which are not
            legs = int(f.cable_leg[number == len(choices)].max()) if leg else 0
            ends = (self._classes[a], self._classes[b])
            vendors = (self._vendors[a], self._vendors[b])
            legs, head_at_b = _count_unused_legs(ends, rate, legs, bool(at_b))
            choices.append(self._choose(statement, _Group(*ends, rate, legs, head_at_b, longest, vendors)))
        return number, choices

    def _choose(self, statement: int, group: _Group) -> PartChoice:
        settings = self.fabric.statements[statement].settings if statement >= 0 else {}
        pinned = settings.get("part")
        optics = settings.get("optics")
        medium = str(settings.get("medium", ""))
        if medium in MEDIA[1:]:
            return PartChoice(None, None, None, f"it is a {medium}")
        if isinstance(settings.get("cable"), str) and not isinstance(pinned, DeviceModel):
            return PartChoice(None, None, None, f"the catalogue has no part {settings['cable']}")
        allowed = settings.get("allowed", ())
        every = _allowed_parts(self.cables, allowed)
        cables = (
            [pinned]
            if isinstance(pinned, DeviceModel)
            else [c for c in every if self._carries(c, group, medium)]
        )
        best: tuple[object, PartChoice] | None = None
        for cable in cables:
            for choice in self._with_optics(cable, group, optics, isinstance(pinned, DeviceModel), allowed):
                key = self._rank(choice, group.vendors)
                if best is None or key < best[0]:  # type: ignore[operator]
                    best = (key, choice)
        if best is not None:
            return best[1]
        if isinstance(pinned, DeviceModel):
            return PartChoice(pinned, None, None, self._why(group, pinned))
        return PartChoice(None, None, None, self._why(group, None, medium, allowed))

    def _carries(self, cable: DeviceModel, group: _Group, medium: str) -> bool:
        """Whether the catalogue's cable is one to choose: it reaches, and is fibre of the links' rate, or has
        plugs that fit both cages. Such a plug fills its cage, so a cage of several ports gets one only where
        a connect pins it."""
        reach = stated_quantity(cable, "reach", LENGTH)
        kind = cable_medium(cable)
        asked = medium in ("", MEDIA[0], kind) or (medium == "copper" and kind in COPPER)
        if not asked or cable.facts.get("legs", 0) != group.legs:
            return False
        if fills_cages(cable):
            alone = (
                cage_form(group.a)
                and cage_form(group.b)
                and outlets_of_cage(group.a) == outlets_of_cage(group.b) == 1
            )
            if not alone or any(ends_wrong(cable, group.a, group.b, group.rate)):
                return False
        elif kind in COPPER or not fibre_carries_rate(cable, group.rate * max(group.legs, 1)):
            return False
        return (
            reach is not None
            and 0 <= group.run <= reach * MICRO
            and shortest_sold_length(cable, group.run) is not None
        )

    def _with_optics(
        self, cable: DeviceModel, group: _Group, optics: object, pinned: bool, allowed: object
    ) -> Iterator[PartChoice]:
        """The cable with every pair of transceivers that fits both cages, the fibre and the run."""
        if cable_medium(cable) in PLUGGED:
            yield PartChoice(cable, None, None)  # its ends are part of it
            return
        ends = self._optics_at_ends(cable, group, optics, pinned, allowed)
        harness = len(set(fibre_connectors(cable))) > 1  # each end is then judged by itself
        for a in ends[0]:
            for b in ends[1]:
                if a is None and b is None:
                    continue
                mated = harness or a is None or b is None or fibre_connectors(a) == fibre_connectors(b)
                if mated or isinstance(optics, tuple):
                    yield PartChoice(cable, a, b)

    def _optics_at_ends(
        self, cable: DeviceModel, group: _Group, optics: object, pinned: bool, allowed: object
    ) -> list[list[DeviceModel | None]]:
        """The transceivers that each end of a cable may have."""
        given = optics if isinstance(optics, tuple) else (None, None)
        ends: list[list[DeviceModel | None]] = []
        for c, one, tail in zip((group.a, group.b), given, group.tails, strict=True):
            if pinned and one is None and not cage_form(c) and not c.built_in:
                ends.append(
                    [None]
                )  # nothing is known of this cage; the other end gets its transceiver all the same
                continue
            if isinstance(one, DeviceModel):
                ends.append([one])
                continue
            among = self.optics if c.built_in else _allowed_parts(self.optics, allowed)
            fitting = (o for o in among if not group.wrong(o, c, tail))
            ends.append([o for o in fitting if self._on(o, cable, group.run, pinned, tail)])
        return ends

    def _on(self, optic: DeviceModel, cable: DeviceModel, run: int, pinned: bool, tail: bool) -> bool:
        """Whether a transceiver drives a fibre over a run."""
        reach = stated_quantity(optic, "reach", LENGTH)
        far = pinned or run < 0 or (reach is not None and run <= reach * MICRO)
        return far and optic_fits_fibre(optic, cable, tail)

    @staticmethod
    def _rank(choice: PartChoice, vendors: tuple[str, str]) -> tuple[object, ...]:
        """Transceivers of the devices' own makers first, those that name none among them; then least power,
        of which an unknown one counts as more than any."""
        ends = [o for o in (choice.optic_a, choice.optic_b) if o is not None]
        watts = [optic_watts(o) for o in ends]
        shares = [
            w / int(str(o.facts.get("ports", 1))) for o, w in zip(ends, watts, strict=True) if w is not None
        ]
        reach = [stated_quantity(o, "reach", LENGTH) or Fraction(0) for o in ends]
        name = [o.name for o in ends]
        own = stated_quantity(choice.cable, "power", POWER) if choice.cable is not None else None  # of plugs
        active = choice.cable is not None and cable_medium(choice.cable) in ACTIVE
        return (
            _count_foreign_optics(choice, vendors),
            None in watts or (active and own is None),
            sum(shares, own or Fraction(0)),
            max(reach, default=Fraction(0)),
            choice.cable.name if choice.cable is not None else "",
            name,
        )

    def _why(self, group: _Group, cable: DeviceModel | None, medium: str = "", allowed: object = ()) -> str:
        """Why nothing fits, in words."""
        for c, tail in zip((group.a, group.b), group.tails, strict=True):
            if not cage_form(c) and not c.built_in:
                return f"the model does not state the cage of port `{c.name}`"
            if all(group.wrong(o, c, tail) for o in self.optics):
                return self._why_no_optic(group, c, tail)
        if group.run < 0:
            return "no length is known"
        if cable is not None:
            return f"no pair of optics drives {part_display_name(cable)}"
        if medium in PLUGGED:
            return f"no {medium} cable of the catalogue fits both cages and reaches {group.run / MICRO:.3f} m"
        out_of_reach = f"no fibre of the catalogue goes {group.run / MICRO:.3f} m with optics, as it is sold"
        return f"{out_of_reach}: {self._nearest_fibre(group, allowed)}"

    def _why_no_optic(self, group: _Group, c: PortClass, tail: bool) -> str:
        """Why no optic fits the cage of one end."""
        cooled = [replace(c, heatsink=sink) for sink in HEAT_SINKS if c.form and not c.heatsink]
        if any(not group.wrong(o, cage, tail) for o in self.optics for cage in cooled):
            return f"the model does not state whether the cage of port `{c.name}` takes finned or flat"
        best = Quantity(Fraction(group.rate if tail else group.rate * max(group.legs, 1)), RATE)
        n = outlets_of_cage(c)
        named = f"{cage_form(c)} {c.heatsink} cage with {n} connector{'s' if n > 1 else ''}"
        return f"no optic of the catalogue fits an {named.replace('  ', ' ')} at {best}"

    def _nearest_fibre(self, group: _Group, allowed: object) -> str:
        """What the fibre and the transceivers lack that come nearest to the run of a group."""
        nearest: tuple[Fraction, list[str]] | None = None
        for cable in _allowed_parts(self.cables, allowed):
            if cable_medium(cable) in PLUGGED or cable.facts.get("legs", 0) != group.legs:
                continue
            if not fibre_carries_rate(cable, group.rate * max(group.legs, 1)):
                continue
            for choice in self._with_optics(cable, group, None, True, allowed):
                limits = _limits_of_choice(choice)
                least = min(x for x, _ in limits)
                if nearest is None or least > nearest[0]:
                    short = dict.fromkeys(said for x, said in limits if x * MICRO < group.run)
                    nearest = least, list(short)
        return "no fibre fits transceivers of both ends" if nearest is None else ", ".join(nearest[1])

    # ------------------------------------------------------------ columns
    def choice(self, leg: int) -> PartChoice:
        """What one leg gets."""
        number, choices = self.group
        return choices[int(number[leg])]

    @cached_property
    def sold(self) -> tuple[Ints, Ints]:
        """Micrometres of the cable to order for every leg, -1 where unknown, and whether that length has a
        source: what its connect states, else the next length sold. The legs of a break-out are as long as its
        longest run needs: it is one part of one length."""
        number, choices = self.group
        run = _longest_run_of_cable(self.lengths.run, self.fabric.cable_group)
        length = np.full(len(run), -1, dtype=np.int64)
        confirmed = np.zeros(len(run), dtype=np.int64)
        for k, choice in enumerate(choices):
            rows = np.flatnonzero((number == k) & (run >= 0))
            if choice.cable is None or not len(rows):
                continue
            runs, which = np.unique(run[rows], return_inverse=True)
            found = [shortest_sold_length(choice.cable, r) or (-1, False) for r in runs.tolist()]
            length[rows] = np.array([x for x, _ in found], dtype=np.int64)[which]
            confirmed[rows] = np.array([sure for _, sure in found], dtype=np.int64)[which]
        stated = stated_lengths(self.fabric)
        for k, choice in enumerate(choices):
            rows = np.flatnonzero((number == k) & (stated >= 0))
            published, open_ = lengths_of(choice.cable) if choice.cable is not None else ([], [])
            length[rows] = stated[rows]
            confirmed[rows] = np.isin(stated[rows], published) if published or open_ else 1
        return length, confirmed

    @cached_property
    def cages(self) -> tuple[Ints, Ints, Ints, Ints]:
        """Transceivers: device, first port of the cage, index of the part in ``optics``, and the ends in
        it."""
        f = self.fabric
        number, choices = self.group
        index = {id(o): k for k, o in enumerate(self.optics)}
        both = []
        for ports, end in ((f.cable_a, "optic_a"), (f.cable_b, "optic_b")):
            part = np.array([index.get(id(getattr(c, end)), -1) for c in choices] or [-1], dtype=np.int64)[
                number
            ]
            both.append(np.stack([f.port_device[ports], self.ports.cage_of(ports), part]))
        rows = np.concatenate(both, axis=1)
        rows = rows[:, rows[2] >= 0]
        found, count = np.unique(rows, axis=1, return_counts=True)
        return found[0], found[1], found[2], count

    def cage_of(self, ports: Ints) -> Ints:
        """The first port of the cage that each port is in."""
        return self.ports.cage_of(ports)

    def caged(self, ports: Ints) -> Bools:
        """Whether each port shares a cage with others."""
        shared = np.array([c.per_cage > 1 for c in self._classes] or [False])
        found: Bools = shared[self._class[self.ports.rows(ports)]]
        return found
