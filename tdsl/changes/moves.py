"""The cables to add, move, replace and remove from one fabric to another, a row a leg: ``tdsl diff OLD NEW
--cables FILE``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tdsl.changes.model import CableEnd, CableLeg, Changes, MovedCable
from tdsl.emit.quote import csv_row

COLUMNS = (
    "action", "phase", "needed", "class", "old_cable_id", "cable_id", "device", "hall", "rack", "u", "port",
    "old_device", "old_hall", "old_rack", "old_u", "old_port",
    "new_device", "new_hall", "new_rack", "new_u", "new_port",
    "old_part", "old_length_m", "part", "length_m", "same_cable",
)  # fmt: skip
"""``device`` to ``port`` is the end that stays, of a cable that is added or removed its lower end.
``same_cable`` says of a cable that moves whether part and length stay ("yes" or "no"), "" where they are
unknown."""
NOWHERE = ("", "", "", "", "")


def cable_moves_csv(
    changes: Iterable[tuple[Changes, int, str]], first: tuple[list[CableLeg], int, str] | None = None
) -> str:
    """The table: for each comparison, with the number of its phase and the day by which it is needed, what is
    removed, moved, replaced and added, in this order. ``first`` are all cables of a first phase, which is
    built from nothing."""
    lines = [",".join(COLUMNS)]
    if first is not None:
        cables, phase, needed = first
        lines += [csv_row(x) for x in _added_cable_rows(cables, phase, needed)]
    for c, phase, needed in changes:
        lines += [csv_row(x) for x in _move_rows(c, phase, needed)]
    return "".join(f"{line}\r\n" for line in lines)


def _move_rows(c: Changes, phase: int, needed: str) -> Iterator[tuple[object, ...]]:
    when = (phase or "", needed)
    for x in c.removed:
        gone = (*_part_and_length(x), "", "", "")
        yield (
            "remove",
            *when,
            x.link_class,
            x.id,
            "",
            *_end_columns(x, x.a),
            *_end_columns(x, x.b),
            *NOWHERE,
            *gone,
        )
    for m in (*c.moved, *c.relocated):
        ends = (*_end_columns(m.new, m.stays), *_end_columns(m.old, m.before), *_end_columns(m.new, m.after))
        parts = (*_part_and_length(m.old), *_part_and_length(m.new))
        yield ("move", *when, m.link_class, m.old.id, m.new.id, *ends, *parts, _same_part_word(m))
    for old, new in c.replaced:
        ends = (*_end_columns(new, new.a), *_end_columns(old, old.b), *_end_columns(new, new.b))
        parts = (*_part_and_length(old), *_part_and_length(new))
        yield ("replace", *when, new.link_class, old.id, new.id, *ends, *parts, "no")
    yield from _added_cable_rows(c.added, phase, needed)


def _added_cable_rows(cables: Iterable[CableLeg], phase: int, needed: str) -> Iterator[tuple[object, ...]]:
    for x in cables:
        yield (
            "add",
            phase or "",
            needed,
            x.link_class,
            "",
            x.id,
            *_end_columns(x, x.a),
            *NOWHERE,
            *_end_columns(x, x.b),
            "",
            "",
            *_part_and_length(x),
            "",
        )


def _end_columns(cable: CableLeg, end: CableEnd) -> tuple[str, ...]:
    """Device, hall, rack, unit and port of an end of a cable."""
    return (end.name, *cable.places[0 if end.key == cable.a.key else 1], end.label)


def _part_and_length(cable: CableLeg) -> tuple[str, str]:
    facts = dict(cable.facts)
    return facts.get("part", ""), facts.get("length", "")


def _same_part_word(m: MovedCable) -> str:
    old, new = _part_and_length(m.old), _part_and_length(m.new)
    return "" if "" in (*old, *new) else "yes" if old == new else "no"
