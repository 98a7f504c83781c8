"""A fabric that grows in phases: sums and orders of each phase, and the phase in which a cable is pulled.

Every phase is a complete fabric. What a phase adds is its difference from the phase before; less than before
is a negative number, so that what is left over can be returned or kept as spares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.graph import Fabric
from tdsl.physical.bom import Line, bill_of_materials
from tdsl.physical.totals import Total, totals_by_place
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Stage:
    """A fabric in one of its phases, and the day by which the phase is needed, "" if none is stated."""

    number: int
    needed: str
    fabric: Fabric


@dataclass(frozen=True, slots=True)
class PhaseLine:
    """One line of the bill in one phase: ``quantity`` is in use then, ``added`` of it are more than in the
    phase before. ``unit_price`` is "" where unknown, and so is ``price``, that of what is added."""

    phase: int
    needed: str
    kind: str
    model: str
    description: str
    order_number: str
    place: str
    length_m: int | float | str
    quantity: int
    added: int
    unit_price: int | float | str
    price: int | float | str
    note: str


def phase_bill(stages: Sequence[Stage]) -> list[PhaseLine]:
    """What to order for every phase, in the order of the bill; lines that a phase does not change are left
    out."""
    out: list[PhaseLine] = []
    before: dict[tuple[object, ...], Line] = {}
    for stage in stages:
        now = _merge_bill_lines(bill_of_materials(stage.fabric))
        for key in [*now, *(k for k in before if k not in now)]:
            line, old = now.get(key), before.get(key)
            quantity, had = (x.quantity if x is not None else 0 for x in (line, old))
            shown = line or old
            if quantity == had or shown is None:
                continue
            each, added = shown.unit_price, quantity - had
            price = round(each * added, 10) if not isinstance(each, str) else ""
            out.append(PhaseLine(
                stage.number, stage.needed, shown.kind, shown.model, shown.description, shown.order_number,
                shown.place, shown.length_m, quantity, added, each, price, shown.note,
            ))  # fmt: skip
        before = now
    return out


def _merge_bill_lines(lines: Sequence[Line]) -> dict[tuple[object, ...], Line]:
    """The lines by what they order: those that differ in nothing else are one."""
    out: dict[tuple[object, ...], Line] = {}
    for x in lines:
        key = (x.kind, x.model, x.order_number, x.place, x.length_m, x.note)
        old = out.get(key)
        out[key] = x if old is None else replace(x, quantity=x.quantity + old.quantity)
    return out


def phase_totals(stages: Sequence[Stage]) -> list[Total]:
    """Two rows a phase: the sum of its fabric, and what it adds to the phase before."""
    out: list[Total] = []
    before: Total | None = None
    for stage in stages:
        now = replace(
            totals_by_place(stage.fabric)[0],
            by="phase",
            hall="",
            name=f"phase {stage.number}",
            needed=stage.needed,
        )
        out += [now, replace(_total_difference(now, before), by="added by phase")]
        before = now
    return out


def _total_difference(now: Total, before: Total | None) -> Total:
    if before is None:
        return now
    price = now.price - before.price
    return replace(
        now,
        devices=now.devices - before.devices,
        optics=now.optics - before.optics,
        cables=now.cables - before.cables,
        watts=now.watts - before.watts,
        without_watts=now.without_watts - before.without_watts,
        price=round(price, 10) if isinstance(price, float) else price,
        without_price=now.without_price - before.without_price,
    )


def phase_of_pulling(stages: Sequence[Stage]) -> list[int]:
    """For every cable leg of the last fabric the phase since which it joins the same two connectors without a
    break."""
    ends = [_connectors_of_legs(s.fabric) for s in stages]
    since = [stages[-1].number] * len(ends[-1])
    open_ = list(range(len(since)))
    for stage, known in zip(stages[-2::-1], ends[-2::-1], strict=True):
        left = Counter(known)
        kept = []
        for leg in open_:
            if left[ends[-1][leg]]:
                left[ends[-1][leg]] -= 1
                since[leg] = stage.number
                kept.append(leg)
        open_ = kept
    return since


def _connectors_of_legs(fabric: Fabric) -> list[tuple[str, str, str, str]]:
    """Device and connector at both ends of every leg."""
    cables = CableIndex(fabric)
    columns: list[list[str]] = []
    for ports in (fabric.cable_a, fabric.cable_b):
        columns.append(cables.devices.name[fabric.port_device[ports]].tolist())
        columns.append(cables.ports.hole_id[cables.ports.hole_rows(ports)].tolist())
    return list(zip(*columns, strict=True))


__all__ = ["PhaseLine", "Stage", "phase_bill", "phase_of_pulling", "phase_totals"]
