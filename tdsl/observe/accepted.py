"""Faults that people have accepted for a while: a list of failed elements, each with a reason, a ticket and
an end date.

A line is ``ELEMENT  # [TICKET] until 2027-01-31: REASON``, so the list is also one for ``check --fail-file``.
Only lost and slow links can be accepted; a cable in the wrong port also makes a link that nobody planned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

import numpy as np

from tdsl.compile.waivers import date_from_text
from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.graph import Fabric, Ints
from tdsl.findings.diagnostic import Diagnostic, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.observe.audit import Audit, CablingFault
from tdsl.system.lazy_dataclass import dataclass

LATER = "correct the fault, or agree on a later date"
NOTE = re.compile(r"\s*(?:\[([^\[\]]*)\]\s*)?(?:until\s+([^\s:]+)\s*)?:?\s*(.*)")


@dataclass(frozen=True, slots=True)
class AcceptedFault:
    """A line of the list. ``element`` is what ``check --fail`` takes; ``until`` the last day, None where
    there is no end."""

    element: str
    reason: str
    ticket: str = ""
    until: date | None = None
    span: SourceSpan | None = None

    @property
    def why(self) -> str:
        """The reason with ticket and end date."""
        ticket = f" [{self.ticket}]" if self.ticket else ""
        return f"{self.reason}{ticket}" + (f", until {self.until.isoformat()}" if self.until else "")

    @property
    def line(self) -> str:
        """The entry as it is written."""
        ticket = f"[{self.ticket}] " if self.ticket else ""
        until = f"until {self.until.isoformat()}" if self.until else ""
        return f"{self.element}  # {ticket}{until}{': ' if until else ''}{self.reason}\n"


def read_accepted_faults(file: SourceFile) -> list[AcceptedFault]:
    """The entries of a list. Raises ValueError, which names the line, for a date that is none or an entry
    without a reason."""
    out, start = [], 0
    for number, line in enumerate(file.text.splitlines(keepends=True), 1):
        element, _, said = line.partition("#")
        element = " ".join(element.split())
        if element:
            found = NOTE.fullmatch(said.strip())
            ticket, until, reason = (found[1] or "", found[2], found[3].strip()) if found else ("", None, "")
            if not reason:
                raise ValueError(
                    f"line {number}: `{element}` has no reason: write `{element}  # [TICKET] until DATE: "
                    "REASON`"
                )
            try:
                end = date_from_text(until) if until else None
            except ValueError as wrong:
                raise ValueError(f"line {number}: {wrong}") from None
            out.append(
                AcceptedFault(
                    element, reason, ticket.strip(), end, SourceSpan(file, start, start + len(line.rstrip()))
                )
            )
        start += len(line)
    return out


def planned_links_of_fault(made: Audit, fault: CablingFault) -> list[int] | None:
    """The planned links that a fault takes; None where it is more than lost or slow links."""
    f = made.fabric
    if fault.slow is not None:
        return [int(f.port_link[fault.slow[0]])]
    one = fault.mistake
    if one is None or one.moves or one.added or not one.removed:
        return None
    out = set()
    for a, b in one.removed:
        link = int(f.port_link[a]) if a < made.seen.ports else -1
        if link < 0 or b >= made.seen.ports or int(f.port_link[b]) != link:
            return None
        out.add(link)
    return sorted(out)


def elements_of_fault(made: Audit, fault: CablingFault) -> list[str]:
    """What a fault is written as: a device where all its links are lost, else a port of each link; none where
    it cannot be."""
    f, lost = made.fabric, planned_links_of_fault(made, fault)
    if not lost:
        return []
    for d in fault.mistake.devices if fault.mistake is not None else ():
        if set(lost) == set(np.flatnonzero((f.device_a == d) | (f.device_b == d)).tolist()):
            return [f.device_name(d) if f.members else f.device_path(d)]
    return [_element_of_link(f, link) for link in lost]


def _element_of_link(f: Fabric, link: int) -> str:
    """A port of a link as the design writes it: that of the upper tier. In a cluster that of a device which
    its networks share, or whose path begins with a name that no other network has; else the cable."""
    for port in (int(f.link_b[link]), int(f.link_a[link])):
        s = f.set_of(int(f.port_device[port]))
        path = f.device_path(int(f.port_device[port]))
        others = [x for x in f.sets if x.prefix not in ("", s.prefix)] if f.members else []
        if not f.members or not s.prefix or all(x.parts[0].name != s.parts[0].name for x in others):
            c, i = f.port_class(port)
            return f"{path.removeprefix(f'{s.prefix}.') if f.members else path}.{c.path(i)}"
    return next(name for name, links in CableIndex(f).links_by_id().items() if link in links)


def settle_accepted_faults(
    made: Audit, entries: Iterable[AcceptedFault], rows: Mapping[str, Ints], today: date
) -> None:
    """Take the accepted faults out of those that count; ``rows`` are the links of the elements of this
    fabric."""
    here = [e for e in entries if e.element in rows]
    standing = [e for e in here if e.until is None or e.until >= today]
    by_link = _entry_by_link(reversed(standing), rows)
    over = _entry_by_link((e for e in here if e not in standing), rows)
    counted, met = [], set()
    for fault in made.faults:
        lost = planned_links_of_fault(made, fault)
        if lost and all(i in by_link for i in lost):
            accepted = [by_link[i] for i in lost]
            met |= set(accepted)
            made.accepted.append(fault)
            made.notes.append(_note_on_accepted_fault(fault, accepted))
            continue
        counted.append(fault)
        for e in dict.fromkeys(over[i] for i in lost or () if i in over):
            message = f"the acceptance of `{e.element}` has ended: {e.why}"
            made.notes.append(_acceptance_warning(e, message, LATER))
    made.faults[:] = counted
    made.notes += _warnings_of_faults_gone(here, met.union(over.values()), made, rows)


def _entry_by_link(entries: Iterable[AcceptedFault], rows: Mapping[str, Ints]) -> dict[int, AcceptedFault]:
    """The last of the entries that is about a link, by link."""
    return {int(i): e for e in entries for i in rows[e.element]}


def _warnings_of_faults_gone(
    entries: Iterable[AcceptedFault], met: set[AcceptedFault], made: Audit, rows: Mapping[str, Ints]
) -> Iterator[Diagnostic]:
    """A warning for each entry, but those that are met or have ended, whose links were all judged and have no
    fault."""
    for e in entries:
        if e not in met and len(rows[e.element]) and made.judged[rows[e.element]].all():
            message = f"`{e.element}` is accepted as failed, but the fault has gone"
            yield _acceptance_warning(e, message, "delete its line from the list")


def _note_on_accepted_fault(fault: CablingFault, accepted: Iterable[AcceptedFault]) -> Diagnostic:
    """A fault as a note that says why it is accepted."""
    said = "; ".join(dict.fromkeys(e.why for e in accepted))
    message = f"accepted: {fault.finding.message}"
    return Diagnostic("E0650", message, fault.finding.span, notes=(said,), severity=Severity.NOTE)


def _acceptance_warning(e: AcceptedFault, message: str, help: str) -> Diagnostic:
    return Diagnostic("E0651", message, e.span, help=help, severity=Severity.WARNING)


def new_accepted_entries(
    made: Sequence[Audit], reason: str, ticket: str, until: date | None
) -> tuple[list[AcceptedFault], int]:
    """Entries for the faults that still count, and how many faults cannot be accepted."""
    out, left = [], 0
    for one in made:
        for fault in one.faults:
            found = elements_of_fault(one, fault)
            left += not found
            out += [AcceptedFault(e, reason, ticket, until) for e in found]
    return out, left
