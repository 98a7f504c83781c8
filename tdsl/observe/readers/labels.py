"""tdsl's ``labels.csv``: a row for each end of a cable, with its device and port. The two ends of a cable, or
of a leg of a break-out, are a link; the connector that legs share has one label."""

from __future__ import annotations

import csv
from collections import defaultdict
from typing import NamedTuple

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    count_in_capture,
    plain_capture_name,
)

FORMAT = "labels"
OPTION = "p2p"
COLUMNS = ("cable_id", "leg", "end", "device", "port")
COUNT = "links"
"""The column with how many links a cable carries, which lists of older versions do not have."""
MOST_LINKS_OF_CABLE = 999


class LabelledEnd(NamedTuple):
    """The end of a cable that a label is on."""

    device: str
    port: str
    links: int
    at: CaptureLine


def recognises(head: str) -> bool:
    """Whether a text begins with the columns of such a table."""
    first = next((line for line in head.split("\n") if line.strip()), "")
    return set(COLUMNS) <= set(_cells(first))


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line]), [])]


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add a link for each cable whose two ends have a label. Raises Malformed."""
    cables: dict[str, dict[tuple[str, str], list[LabelledEnd]]] = defaultdict(lambda: defaultdict(list))
    reader = csv.reader(iter(file.text.split("\n")), strict=True)
    heading: list[str] = []
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if not heading:
                heading = [cell.strip() for cell in row]
                if not set(COLUMNS) <= set(heading):
                    raise Malformed(
                        reader.line_num,
                        "the first line does not name the columns of labels",
                        ",".join(COLUMNS),
                    )
            else:
                at = CaptureLine(file, reader.line_num)
                _add_label(cables, dict(zip(heading, row, strict=False)), at, into)
    except csv.Error as wrong:
        raise Malformed(max(reader.line_num, 1), f"this is not CSV: {wrong}") from None
    if not heading:
        raise Malformed(1, "the table is empty", f"its first line must be {','.join(COLUMNS)}")
    for cable, ends in cables.items():
        _join_ends(cable, ends, into)


def _add_label(
    cables: dict[str, dict[tuple[str, str], list[LabelledEnd]]],
    row: dict[str, str],
    at: CaptureLine,
    into: Observed,
) -> None:
    """Note the end that a row is of."""
    cable, leg, end, device, port = (
        plain_capture_name(row.get(c, "").strip().removeprefix("'"), at.line) for c in COLUMNS
    )
    if not (cable and device and port) or end not in ("a", "b"):
        help = "fill cable_id, end (a or b), device and port, or remove the row"
        into.fault(at.file, at.line, "the label does not say which end of a cable it is on", help)
        return
    links = row.get(COUNT, "").strip()
    count = count_in_capture(links, at.line, f"column {COUNT}", most=MOST_LINKS_OF_CABLE) if links else 0
    cables[cable][leg, end].append(LabelledEnd(device, port, count, at))


def _join_ends(cable: str, ends: dict[tuple[str, str], list[LabelledEnd]], into: Observed) -> None:
    """A link for each leg of a cable; the connector that legs share is the end of each. Cables between the
    same two cages have one identifier, and as many labels at each end."""
    legs = sorted({leg for leg, _ in ends if leg}, key=lambda x: (len(x), x)) or [""]
    for n, leg in enumerate(legs):
        a, b = (
            ends.get((leg, end)) or [_end_of_leg(x, n, len(legs)) for x in ends.get(("", end), [])]
            for end in "ab"
        )
        if leg and ("", "a") in ends:
            a = a * len(b)
        elif leg and ("", "b") in ends:
            b = b * len(a)
        for here, there in zip(a, b, strict=False):
            _add_link_of_labels(into, here, there, bool(leg))
        for one in (*a[len(b) :], *b[len(a) :]):
            help = "add the label of its other end, or remove this one"
            into.fault(one.at.file, one.at.line, f"cable {cable} has a label at one end alone", help)


def _end_of_leg(head: LabelledEnd, n: int, legs: int) -> LabelledEnd:
    """The shared plug as the n-th leg ends there: one that fills a cage of several ports has a port a leg."""
    ports = head.port.split(", ")
    return head._replace(port=ports[n]) if len(ports) == legs else head


def _add_link_of_labels(into: Observed, here: LabelledEnd, there: LabelledEnd, leg: bool) -> None:
    a, b = (
        CapturedEnd(add_device(into, e.device, "", e.at, heard=True), (e.port,), printed=True)
        for e in (here, there)
    )
    at = max(here.at, there.at, key=lambda at: at.line)
    into.wire(CapturedLink(a, b, at, carries=min(here.links, there.links), leg=leg))
