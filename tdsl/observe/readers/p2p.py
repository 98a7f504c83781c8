"""Tables of cables as CSV: tdsl's ``cables.csv`` and ``links.csv``, UFM's NDT, NetBox's, and any table with
columns for two ends.

A row is a link. Columns are separated by commas, semicolons or tabs, whichever the first line has most of.
The columns of a UFM file are StartDevice, StartPort, EndDevice, EndPort, with or
without ``#`` or ``#Fields:``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    plain_capture_name,
)

FORMAT = "p2p"
OPTION = "p2p"
ENDS = (
    ("a_device", "a_port", "b_device", "b_port"),
    ("startdevice", "startport", "enddevice", "endport"),
    ("side_a_device", "side_a_name", "side_b_device", "side_b_name"),
    ("source_device", "source_port", "destination_device", "destination_port"),
    ("from_device", "from_port", "to_device", "to_port"),
    ("device_a", "port_a", "device_b", "port_b"),
    ("device a", "termination a", "device b", "termination b"),  # NetBox, "all data (CSV)"
)
"""Names of the four columns, in lower case, in the order in which they are looked for."""
MORE = {"a": ("a_label", "a_interface", "a_index"), "b": ("b_label", "b_interface", "b_index")}
RATE = ("rate_gbps", "speed_gbps")
KIND = "class"
"""tdsl's class of a link, such as ``host-leaf``: the tiers of its two ends."""
TAKEN = (*ENDS[0], RATE[0])
"""Columns that ``--column`` gives other names."""
HEADING = 20
"""Lines among which the heading of a table is."""
COMMENT = re.compile(r"#(?!\s*(fields:)?startdevice)", re.IGNORECASE)


def recognises(head: str) -> bool:
    """Whether a text begins as a table with the columns of two ends."""
    return any(
        _column_positions(row)
        for row in csv.reader(head.split("\n")[:HEADING], delimiter=_column_delimiter(head))
    )


def _column_delimiter(text: str) -> str:
    """What separates the columns of the first line that is no comment."""
    lines = (line.strip() for line in text.split("\n", HEADING)[:HEADING])
    first = next((line for line in lines if line and not COMMENT.match(line)), "")
    return max(",;\t", key=first.count)


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the rows as links."""
    read_cable_table(file, into, {})


def read_cable_table(file: SourceFile, into: Observed, columns: Mapping[str, str]) -> None:
    """Add the rows of a table; ``columns`` names those of this table, by the names in the first entry of
    ``ENDS``."""
    heading: Mapping[str, int] | None = None
    named: list[str] = []
    lines = (line for line in file.text.split("\n"))
    reader = csv.reader(lines, strict=True, delimiter=_column_delimiter(file.text))
    try:
        for row in reader:
            at = reader.line_num
            if not any(c.strip() for c in row) or (row and COMMENT.match(row[0].strip())):
                continue
            if row == named:
                continue  # tables that were joined
            if heading is None:
                named = row
                heading = _column_positions(row, columns)
                if heading is None:
                    raise Malformed(
                        at,
                        "the first line does not name the columns of two ends",
                        "name them a_device,a_port,b_device,b_port, or give --column a_device=NAME",
                    )
                continue
            try:
                _add_cable_row(into, row, heading, CaptureLine(file, at))
            except Malformed as wrong:
                into.fault(file, wrong.line, wrong.message, wrong.help)
    except csv.Error as wrong:
        raise Malformed(max(reader.line_num, 1), f"this is not CSV: {wrong}") from None
    if heading is None:
        raise Malformed(1, "the table is empty", "its first line must be a_device,a_port,b_device,b_port")


def _column_positions(row: list[str], columns: Mapping[str, str] | None = None) -> dict[str, int] | None:
    """Places of columns by name; None where the row does not name four for two ends."""
    names = [c.strip().lower().removeprefix("#fields:").lstrip("#").strip() for c in row]
    first = {name: names.index(name) for name in names}
    given = {k: v.lower() for k, v in (columns or {}).items()}
    for group in ENDS:
        wanted = [given.get(plain_name, name) for plain_name, name in zip(ENDS[0], group, strict=True)]
        if all(w in first for w in wanted):
            out = {k: first[w] for k, w in zip(ENDS[0], wanted, strict=True)}
            for name in (*MORE["a"], *MORE["b"], *RATE, KIND):
                if name in first:
                    out[name] = first[name]
            if given.get(RATE[0]) in first:
                out[RATE[0]] = first[given[RATE[0]]]
            return out
    return None


def _add_cable_row(into: Observed, row: list[str], heading: Mapping[str, int], at: CaptureLine) -> None:
    def cell(name: str) -> str:
        place = heading.get(name, len(row))
        text = row[place].strip() if place < len(row) else ""
        return plain_capture_name(text.removeprefix("'"), at.line)

    tiers = cell(KIND).split("-")
    kinds = ["host" if tier == "host" else "" for tier in tiers] if len(tiers) == 2 else ["", ""]
    ends = []
    for side in "ab":
        name = cell(f"{side}_device")
        ports = tuple(dict.fromkeys(filter(None, [cell(f"{side}_port"), *map(cell, MORE[side])])))
        if not name or not ports:
            raise Malformed(
                at.line,
                f"the row has no device or no port at end {side}",
                "fill both ends of the row, or remove it",
            )
        ends.append(
            CapturedEnd(add_device(into, name, "", at, heard=True, kind=kinds["ab".index(side)]), ports)
        )
    rate = next(filter(None, map(cell, RATE)), "")
    bps = int(float(rate) * 10**9) if re.fullmatch(r"\d{1,6}(\.\d{1,6})?", rate) else 0
    into.wire(CapturedLink(ends[0], ends[1], at, bps))
