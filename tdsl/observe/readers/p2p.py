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

from tdsl.fabric.user_csv import LABEL
from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.readers.netbox import OTHER_ENDS
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
COUNT = "links"
"""How many links a cable carries, in tdsl's ``cables.csv``."""
NETBOX = ENDS[6]
TYPES = ("side_a_type", "side_b_type")
"""Kinds of the ends, in the form in which NetBox imports cables."""
ABSENT = ("decommissioning", "planned")
"""States of a cable in NetBox that is not plugged. In what NetBox is to import, all is still planned."""
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
    heading: dict[str, int] | None = None
    named: list[str] = []
    lines = (line for line in file.text.split("\n"))
    reader = csv.reader(lines, strict=True, delimiter=_column_delimiter(file.text))
    try:
        for row in reader:
            at = reader.line_num
            if not any(c.strip() for c in row) or _is_comment(row, heading):
                if heading is not None and _names_two_ends(row, heading):
                    place = CaptureLine(file, at)
                    into.leave_out(
                        "the row begins with `#`, as a comment does", place, _row_in_words(row, heading)
                    )
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
                why = _reason_to_leave_out(row, heading)
                if why:
                    into.leave_out(why, CaptureLine(file, at), _row_in_words(row, heading))
                else:
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
            more = ("status", "type", *TYPES) if group in (NETBOX, ENDS[2]) else ()
            for name in (*MORE["a"], *MORE["b"], *RATE, KIND, COUNT, *more):
                if name in first:
                    out[name] = first[name]
            if given.get(RATE[0]) in first:
                out[RATE[0]] = first[given[RATE[0]]]
            if group == NETBOX:
                out["netbox"] = -1
            return out
    return None


def _cell(row: list[str], heading: Mapping[str, int], name: str) -> str:
    """A cell by the name of its column, "" where there is none."""
    place = heading.get(name, -1)
    return row[place].strip() if 0 <= place < len(row) else ""


def _names_two_ends(row: list[str], heading: Mapping[str, int]) -> bool:
    return all(_cell(row, heading, name) for name in ENDS[0])


def _is_comment(row: list[str], heading: Mapping[str, int] | None) -> bool:
    """Whether a row is a comment. A number behind ``#`` in a column of its own is a label of a cable."""
    if not row or not COMMENT.match(row[0].strip()):
        return False
    first_is_an_end = heading is None or 0 in (heading[name] for name in ENDS[0])
    label = LABEL.fullmatch(row[0].strip()) is not None
    return first_is_an_end or not label or not _names_two_ends(row, heading or {})


def _row_in_words(row: list[str], heading: Mapping[str, int]) -> str:
    a, p, b, q = (_cell(row, heading, name) for name in ENDS[0])
    return f"{a} {p} to {b} {q}"


def _reason_to_leave_out(row: list[str], heading: Mapping[str, int]) -> str:
    """Why a row of NetBox is no link that is plugged, "" where it is one."""
    state = _cell(row, heading, "status").lower()
    gone = ABSENT if "netbox" in heading else ABSENT[:1]
    if state in gone:
        return f"NetBox says that the cable is {state}"
    if _cell(row, heading, "type").lower() == "power":
        return "a cable of power"
    kinds = {_cell(row, heading, name) for name in TYPES} - {""}
    other = sorted(kinds & set(OTHER_ENDS))
    return f"an end is not a port of a network: {', '.join(other)}" if other else ""


def _add_cable_row(into: Observed, row: list[str], heading: Mapping[str, int], at: CaptureLine) -> None:
    def cell(name: str) -> str:
        place = heading.get(name, len(row))
        text = row[place].strip() if place < len(row) else ""
        return plain_capture_name(text.removeprefix("'"), at.line)

    if "netbox" in heading:
        _refuse_several_terminations(row, heading, at)
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
    count = cell(COUNT)
    links = int(count) if count.isascii() and count.isdigit() and len(count) < 4 else 0
    into.wire(CapturedLink(ends[0], ends[1], at, bps, carries=links))


def _refuse_several_terminations(row: list[str], heading: Mapping[str, int], at: CaptureLine) -> None:
    """Raise Malformed where a cell has several ends: NetBox writes them in no order, and leaves out a device
    that it has named already (netbox, ``dcim/tables/cables.py``, a set)."""
    several = [name for name in ENDS[0] if "," in _cell(row, heading, name)]
    if several:
        raise Malformed(
            at.line,
            f"the cable has several ends in one cell ({_cell(row, heading, several[0])[:60]}), and this "
            "table does not say which of them are joined",
            "read the cables of NetBox's REST API, /api/dcim/cables/?limit=0, or a table with a row a link",
        )
