"""The power tree above the racks: which feeds and racks are without power once a feed is lost."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics, Fix
from tdsl.findings.source import Origin, SourceSpan
from tdsl.semantics.fault import Excused, Fault, unknown_name_fault
from tdsl.semantics.feeds import EXAMPLE, UNFIT, FeedStatement
from tdsl.semantics.plan import FabricPlan
from tdsl.semantics.values import WholeRange
from tdsl.syntax import tree
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.fabric.places import RackPlaces
    from tdsl.semantics.place_statements import RackRow


@dataclass(frozen=True, slots=True)
class PowerFeed:
    """One feed: the numbers of those that it gets power from, which all come before it; the watts that it
    carries, None where not stated; and the numbers of the racks that are plugged into it."""

    name: str
    parents: tuple[int, ...]
    watts: Fraction | None
    racks: tuple[int, ...]
    origin: Origin


def resolve_feeds(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics) -> None:
    """Enter the feeds of a plan into the places of a fabric; what has no meaning is a finding."""
    try:
        places = fabric.places
        if places is None:
            help = "declare the hall: `hall h1 { row A { rack 1..8 { height 48U; power 2 x 44kW } } }`"
            raise Fault(UNFIT, plan.feeds[0].origin, "the design has feeds, and no rack", help=help)
        ordered = _feeds_in_order(plan.feeds)
        number = {s.name: k for k, s in enumerate(ordered)}
        places.feeds = tuple(
            PowerFeed(
                s.name,
                tuple(dict.fromkeys(number[p.name] for p in s.parents)),
                s.watts,
                tuple(sorted({r for path in s.racks for r in _racks_of_path(plan, places, s, path)})),
                s.origin,
            )
            for s in ordered
        )
        _refuse_racks_with_too_many_feeds(places)
    except Fault as fault:
        fault.report(diagnostics)
    except Excused:
        pass


def _feeds_in_order(feeds: Sequence[FeedStatement]) -> list[FeedStatement]:
    """The feeds, each after those that it gets power from. Raises Fault."""
    known = {s.name: s for s in feeds}
    for s in feeds:
        for parent in s.parents:
            if parent.name not in known:
                own = (
                    f"`from` names another feed: declare `feed {parent.name} {{ power 400kW }}`, or remove it"
                )
                others = [name for name in known if name != s.name]
                raise unknown_name_fault("E0101", parent.span, "feed", parent.name, others, extra_help=own)
    out: list[FeedStatement] = []
    done: set[str] = set()
    left = list(feeds)
    while left:
        ready = [s for s in left if all(p.name in done for p in s.parents)]
        if not ready:
            names = ", ".join(f"`{s.name}`" for s in left[:4])
            raise Fault(
                UNFIT,
                left[0].origin,
                f"feeds get their power from each other: {names}",
                help="let one of them have no `from`",
            )
        out += ready
        done |= {s.name for s in ready}
        left = [s for s in left if s.name not in done]
    return out


def _racks_of_path(
    plan: FabricPlan, places: RackPlaces, s: FeedStatement, path: tree.PathExpr
) -> Iterator[int]:
    """The racks that ``h1``, ``h1.A``, ``h1.A[3]`` or ``h1.A[1..8]`` names. Raises Fault."""
    from tdsl.semantics.place_statements import hall_of_name

    head, *rest = path.parts
    if not isinstance(head, tree.Identifier) or len(rest) > 2:
        raise Fault("E0120", path.span, "this names no racks", help=EXAMPLE)
    hall = hall_of_name(plan, head)
    at = places.halls.index(hall)
    here = places.rack_hall == at
    if rest:
        row = _row_of_hall(hall.name, hall.rows, rest[0])
        here &= places.rack_row == hall.rows.index(row)
        if len(rest) > 1:
            here &= np.isin(places.rack_number, _rack_numbers(plan, s, row, rest[1]))
    yield from np.flatnonzero(here).tolist()


def _row_of_hall(hall: str, rows: Sequence[RackRow], part: object) -> RackRow:
    """The row that a part of a path names."""
    name = part.name if isinstance(part, tree.Identifier) else ""
    found = next((r for r in rows if r.name == name), None)
    if found is None:
        assert hasattr(part, "span")
        raise unknown_name_fault("E0101", part.span, f"row of `{hall}` called", name, [r.name for r in rows])
    return found


def _numbers_of_entry(
    plan: FabricPlan, s: FeedStatement, known: Sequence[int], entry: tree.Expr
) -> list[int]:
    """The numbers of one entry of an index; of a range those that racks have, and its ends."""
    value = plan.evaluator.evaluate(entry, s.scope)
    if isinstance(value, WholeRange):
        inside = [n for n in known if value.low <= n <= value.high]
        return inside + [n for n in (value.low, value.high) if n not in known]
    if type(value) is not int:
        raise Fault("E0120", entry.span, "racks have numbers", help=EXAMPLE)
    return [value]


def _rack_numbers(plan: FabricPlan, s: FeedStatement, row: RackRow, part: object) -> list[int]:
    """The numbers of the racks of a row that an index names. Raises Fault for one that is not there."""
    if not isinstance(part, tree.IndexPart) or len(part.entries) != 1:
        assert hasattr(part, "span")
        raise Fault("E0120", part.span, "racks of a row have one number", help=EXAMPLE)
    known = [n for n, _ in row.racks]
    e = part.entries[0]
    if isinstance(e, tree.Star):
        return known
    if isinstance(e, tree.Hole):
        raise Fault("E0120", e.span, "racks of a feed are named", help=EXAMPLE)
    entries = e.items if isinstance(e, tree.ListExpr) else (e,)
    asked = [n for one in entries for n in _numbers_of_entry(plan, s, known, one)]
    missing = [n for n in asked if n not in known]
    if missing:
        raise _missing_rack_fault(row, e.span, missing[0])
    return asked


def _missing_rack_fault(row: RackRow, span: SourceSpan, number: int) -> Fault:
    """The fault of an index that names a rack which a row does not have: ``3-7`` is a number."""
    message = f"row {row.name} has no rack {number}"
    ends = re.fullmatch(r"(\d+)\s*-\s*(\d+)", span.text)
    if ends is None:
        numbers = [n for n, _ in row.racks]
        return Fault("E0205", span, message, help=f"it has racks {min(numbers)} to {max(numbers)}")
    new = f"{ends[1]}..{ends[2]}"
    fix = Fix(f"write `{new}`", ((span, new),), safe=False)
    return Fault("E0205", span, message, help=f"a range is written `{new}`", fix=fix)


def _refuse_racks_with_too_many_feeds(places: RackPlaces) -> None:
    """Refuse a rack that is plugged into more feeds than it has."""
    for rack, feeds in enumerate(feeds_of_racks(places.feeds, places.rack_count)):
        kind = places.rack_kind[rack]
        if 0 < kind.feeds < len(feeds):
            names = ", ".join(f"`{places.feeds[k].name}`" for k in feeds)
            raise Fault(
                UNFIT,
                places.feeds[feeds[-1]].origin,
                f"rack {places.rack_names[rack]} has {kind.feeds} power feed{'s' * (kind.feeds > 1)}, and is "
                f"plugged into {len(feeds)}: {names}",
                labels=[(kind.span, "the rack is declared here")],
                help="name it once for each feed of the rack",
            )


def feeds_of_racks(feeds: Sequence[PowerFeed], racks: int) -> list[list[int]]:
    """For every rack the numbers of the feeds that it is plugged into."""
    out: list[list[int]] = [[] for _ in range(racks)]
    for k, feed in enumerate(feeds):
        for rack in feed.racks:
            out[rack].append(k)
    return out


def feeds_with_power(feeds: Sequence[PowerFeed], lost: Collection[int]) -> list[bool]:
    """Whether each feed has power once some are lost: it is not lost itself, and one of those that it gets
    power from has."""
    out: list[bool] = []
    for k, feed in enumerate(feeds):
        out.append(k not in lost and (not feed.parents or any(out[p] for p in feed.parents)))
    return out


def racks_without_power(feeds: Sequence[PowerFeed], racks: int, lost: Collection[int]) -> list[int]:
    """The racks of whose feeds none has power once some are lost; one without a feed is none of them."""
    live = feeds_with_power(feeds, lost)
    plugged = feeds_of_racks(feeds, racks)
    return [r for r, mine in enumerate(plugged) if mine and not any(live[k] for k in mine)]


def feeds_back_each_other(feeds: Sequence[PowerFeed]) -> bool:
    """Whether some rack or feed gets power from several feeds, so that what several lost feeds take is more
    than what each of them takes."""
    racks = [r for feed in feeds for r in feed.racks]
    return len(set(racks)) < len(racks) or any(len(feed.parents) > 1 for feed in feeds)


def feed_elements(fabric: Fabric) -> tuple[FabricElement, ...]:
    """Every feed with the devices that are without power once it is lost: none, where all its racks have
    another one."""
    places = fabric.places
    if places is None:
        return ()
    rack = np.where(fabric.built, places.device_rack, -1)
    return tuple(
        FabricElement(
            f"feed {feed.name}",
            np.flatnonzero(np.isin(rack, racks_without_power(places.feeds, places.rack_count, {k}))),
        )
        for k, feed in enumerate(places.feeds)
    )
