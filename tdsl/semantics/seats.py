"""Hosts and the kinds of groups that a topology seats them in."""

from __future__ import annotations

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceSpan
from tdsl.semantics.ends import EndSet, HostEnds
from tdsl.semantics.values import Value
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Seats:
    """Hosts of one declaration in groups of one kind: from the number ``low`` of the declaration to the one
    before ``high``."""

    kind: str
    of: EndSet
    low: int
    high: int


def report_mixed_kinds(ends: HostEnds, seated: Value, at: SourceSpan, diagnostics: Diagnostics) -> None:
    """Warn of hosts that go into groups of a kind with hosts of another declaration, while others of their
    own go elsewhere. ``seated`` are the kinds of groups, each with the number of its first host among all and
    of the one behind its last."""
    found = _seats_of_kinds(ends, seated)
    for x in ends.sets:
        mine = [seats for seats in found if seats.of is x]
        shared = [seats for seats in mine if _sets_beside(seats, found)]
        if len(mine) < 2 or not shared:
            continue
        by_kind = ", ".join(_describe_seats(seats, found) for seats in mine)
        diagnostics.add(
            "E0466",
            at,
            f"the {x.hosts} hosts of `{_path_of_end_set(x)}` are in groups of {len(mine)} kinds: {by_kind}",
            labels=[(x.span, "these hosts")],
            severity=Severity.WARNING,
            help="give each kind seats for its own hosts, as in `groups gpu 3 of 6 hosts, …`, or allow it "
            "on the line: "
            "`# tdsl: allow(kinds_mixed) REASON`",
        )


def _seats_of_kinds(ends: HostEnds, seated: Value) -> list[Seats]:
    """The hosts of each declaration in each kind of group, where there are any."""
    found: list[Seats] = []
    for row in seated if isinstance(seated, tuple) else ():
        kind, begin, end = row if isinstance(row, tuple) and len(row) == 3 else ("", 0, 0)
        if isinstance(begin, int) and isinstance(end, int):
            spans = (
                (x, max(begin, x.first) - x.first, min(end, x.first + x.hosts) - x.first) for x in ends.sets
            )
            found += [Seats(str(kind), x, low, high) for x, low, high in spans if low < high]
    return found


def _sets_beside(seats: Seats, found: list[Seats]) -> list[EndSet]:
    """The other declarations whose hosts are in groups of the same kind."""
    return [other.of for other in found if other.kind == seats.kind and other.of is not seats.of]


def _describe_seats(seats: Seats, found: list[Seats]) -> str:
    beside = [f"`{_path_of_end_set(x)}`" for x in _sets_beside(seats, found)]
    names = [seats.of.host_name(host) for host in (seats.low, seats.high - 1)]
    shown = f" {'to' if seats.high - seats.low > 2 else 'and'} ".join(dict.fromkeys(names))
    return f"{shown} in `{seats.kind}`" + (f" beside hosts of {' and '.join(beside)}" if beside else "")


def _path_of_end_set(ends: EndSet) -> str:
    return ".".join(name for name, _ in ends.parts)
