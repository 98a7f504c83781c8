"""The cables to add, move, replace and remove from one fabric to another, a row a leg: ``tdsl diff OLD NEW --cables FILE``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tdsl.changes.model import Cable, Changes, End, Moved
from tdsl.emit.quote import row

COLUMNS = (
    "action", "phase", "needed", "class", "old_cable_id", "cable_id", "device", "hall", "rack", "u", "port",
    "old_device", "old_hall", "old_rack", "old_u", "old_port", "new_device", "new_hall", "new_rack", "new_u", "new_port",
    "old_part", "old_length_m", "part", "length_m", "same_cable",
)  # fmt: skip
"""``device`` to ``port`` is the end that stays, of a cable that is added or removed its lower end. ``same_cable`` says of a cable
that moves whether part and length stay ("yes" or "no"), "" where they are unknown."""
NOWHERE = ("", "", "", "", "")


def csv(changes: Iterable[tuple[Changes, int, str]], first: tuple[list[Cable], int, str] | None = None) -> str:
    """The table: for each comparison, with the number of its phase and the day by which it is needed, what is removed, moved,
    replaced and added, in this order. ``first`` are all cables of a first phase, which is built from nothing."""
    lines = [",".join(COLUMNS)]
    if first is not None:
        cables, phase, needed = first
        lines += [row(x) for x in _added(cables, phase, needed)]
    for c, phase, needed in changes:
        lines += [row(x) for x in _rows(c, phase, needed)]
    return "".join(f"{line}\r\n" for line in lines)


def _rows(c: Changes, phase: int, needed: str) -> Iterator[tuple[object, ...]]:
    when = (phase or "", needed)
    for x in c.removed:
        gone = (*_part(x), "", "", "")
        yield ("remove", *when, x.link_class, x.id, "", *_at(x, x.a), *_at(x, x.b), *NOWHERE, *gone)
    for m in (*c.moved, *c.relocated):
        yield ("move", *when, m.link_class, m.old.id, m.new.id, *_at(m.new, m.stays), *_at(m.old, m.before), *_at(m.new, m.after),
               *_part(m.old), *_part(m.new), _same(m))  # fmt: skip
    for old, new in c.replaced:
        yield ("replace", *when, new.link_class, old.id, new.id, *_at(new, new.a), *_at(old, old.b), *_at(new, new.b),
               *_part(old), *_part(new), "no")  # fmt: skip
    yield from _added(c.added, phase, needed)


def _added(cables: Iterable[Cable], phase: int, needed: str) -> Iterator[tuple[object, ...]]:
    for x in cables:
        yield ("add", phase or "", needed, x.link_class, "", x.id, *_at(x, x.a), *NOWHERE, *_at(x, x.b), "", "", *_part(x), "")


def _at(cable: Cable, end: End) -> tuple[str, ...]:
    """Device, hall, rack, unit and port of an end of a cable."""
    return (end.name, *cable.places[0 if end.key == cable.a.key else 1], end.label)


def _part(cable: Cable) -> tuple[str, str]:
    facts = dict(cable.facts)
    return facts.get("part", ""), facts.get("length", "")


def _same(m: Moved) -> str:
    old, new = _part(m.old), _part(m.new)
    return "" if "" in (*old, *new) else "yes" if old == new else "no"
