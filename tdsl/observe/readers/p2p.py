"""Tables of cables as CSV: tdsl's ``cables.csv`` and ``links.csv``, UFM's NDT, NetBox's, and any table with
columns for two ends.

A row is a link. Columns are separated by commas, semicolons or tabs. The heading is among the first rows, and
may be of two rows (``observe.cut_sheets``). The columns of a UFM file are StartDevice, StartPort, EndDevice,
EndPort, with or without ``#`` or ``#Fields:``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import NamedTuple

from tdsl.fabric.user_csv import LABEL
from tdsl.findings.source import SourceFile
from tdsl.observe.cut_sheets import (
    AS_PLANNED,
    HEADING,
    LONE_CELL,
    NO_CABLE,
    NOT_DONE,
    NOTHING,
    TITLE,
    UNTOUCHED,
    WIDEST,
    columns_of_ends,
    columns_of_work,
    columns_without_sides,
    device_and_port,
    filled_right,
    is_out_of_service,
    is_ticked,
    plain_words,
    reason_of_bare_row,
    words_listed,
)
from tdsl.observe.panels import FRONT, REAR, CableEnd, PanelCable, PanelCables, PanelPort
from tdsl.observe.readers._neighbours import add_device
from tdsl.observe.readers.netbox import OTHER_ENDS
from tdsl.observe.record import (
    LONGEST_NAME,
    CapturedEnd,
    CapturedLink,
    CaptureLine,
    Malformed,
    Observed,
    plain_capture_name,
)
from tdsl.system.nouns import counted_noun

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
    ("from", "port", "to", "to port"),  # a sheet of work of tdsl's workbook
)
"""Names of the four columns, in lower case, in the order in which they are looked for."""
MORE = {"a": ("a_label", "a_interface", "a_index"), "b": ("b_label", "b_interface", "b_index")}
RATE = ("rate_gbps", "speed_gbps")
LEG = "leg"
"""The number of a leg of a breakout, in tdsl's ``cables.csv``."""
COUNT = "links"
"""How many links a cable carries, in tdsl's ``cables.csv``."""
NETBOX = ENDS[6]
TYPES = ("side_a_type", "side_b_type")
"""Kinds of the ends, in the form in which NetBox imports cables."""
COLUMNS_OF_END = {side: (f"{side}_device", f"{side}_port", f"side_{side}_type") for side in "ab"}
ABSENT = ("decommissioning", "planned")
"""States of a cable in NetBox that is not plugged. In what NetBox is to import, all is still planned."""
REMOVED = frozenset(
    (
        "removed",
        "decommissioned",
        "decommissioning",
        "cancelled",
        "canceled",
        "deleted",
        "retired",
        "obsolete",
    )
)
"""States of a cable in other tables that is not plugged any more."""
PLUGGED = words_listed(
    "installed,connected,active,completed,complete,done,cabled,ok,yes,live,up,plugged,patched,tested,"
    "verified,deployed,in use,in service"
)
"""States of a cable that is plugged."""
LATER = words_listed("planned,to do,todo,not yet,pending,reserved,spare,open")
"""States of a cable that is not plugged yet, in a table with rows of another state."""
SEVERAL = re.compile(r"[,;\n]|\s[&+]\s|\sand\s|\b([A-Za-z]+)\d+/\1\d")
"""What stands between several ends in one cell: ``Ethernet0,Ethernet8``, ``Ethernet0/Ethernet8``."""
SIGN_OF_SEVERAL = re.compile(r"[,;\n&+/]|and")
"""What a cell of several ends has in any case, which is looked for in a tenth of the time."""
PLAIN_CELL = re.compile(r"[A-Za-z0-9][\w.:/() -]*+", re.ASCII)
KIND = "class"
"""tdsl's class of a link, such as ``host-leaf``: the tiers of its two ends."""
OF_CABLE = frozenset((*ENDS[0], *MORE["a"], *MORE["b"], *TYPES, *RATE, KIND, COUNT, LEG, "found"))
"""Columns of what a cable joins, in which a name must be plain text."""
TAKEN = (*ENDS[0], RATE[0])
"""Columns that ``--column`` gives other names."""
COMMENT = re.compile(r"#(?!\s*(fields:)?startdevice)", re.IGNORECASE)


def recognises(head: str) -> bool:
    """Whether a text has the columns of two ends among its first rows."""
    return heading_of_table(head, {}) is not None


class Heading(NamedTuple):
    """Where the heading of a table ends, what separates its columns, the columns by name, and the cells of
    its last row."""

    line: int
    delimiter: str
    columns: dict[str, int]
    named: list[str]


def heading_of_table(text: str, columns: Mapping[str, str]) -> Heading | None:
    """The heading of a table: of the first rows the first that names the columns of two ends, alone or with
    the row above. None where there is none; ``columns`` are names of columns that a call gives."""
    lines = lines_with_ends(text.split("\n", 4 * HEADING)[: 4 * HEADING])
    first = next((line for line in lines if line.strip() and not COMMENT.match(line.strip())), "")
    for delimiter in sorted(",;\t", key=lambda d: (-first.count(d), -sum(line.count(d) for line in lines))):
        reader = csv.reader(lines, delimiter=delimiter)
        above: list[str] = []
        seen = 0
        for row in _rows_until_fault(reader):
            if not any(c.strip() for c in row):
                continue
            found = _column_positions(row, columns, above)
            if found is not None:
                return Heading(reader.line_num, delimiter, found, row)
            above, seen = filled_right(row), seen + 1
            if seen == HEADING:
                break
    return None


def lines_with_ends(lines: Sequence[str]) -> list[str]:
    """Lines with what ended them, so that it stays between the words of a cell of several lines."""
    return [*(f"{line}\n" for line in lines[:-1]), *lines[-1:]]


def _rows_until_fault(reader: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows of a table, up to the first that is not CSV."""
    try:
        yield from reader
    except csv.Error:
        return


def has_columns(text: str) -> bool:
    """Whether the first lines of a text are rows of as many cells, four at least."""
    lines = [line for line in text.split("\n", HEADING)[:HEADING] if line.strip()]
    return any(len(lines) > 1 and min(n.count(d) for n in lines) >= len(ENDS[0]) - 1 for d in ",;\t")


def read(file: SourceFile, stem: str, into: Observed) -> None:
    """Add the rows as links."""
    read_cable_table(file, into, {})


def read_cable_table(file: SourceFile, into: Observed, columns: Mapping[str, str]) -> None:
    """Add the rows of a table; ``columns`` names those of this table, by the names in the first entry of
    ``ENDS``."""
    heading = heading_of_table(file.text, columns)
    if heading is None:
        lines = enumerate(file.text.split("\n"), 1)
        line = next((k for k, text in lines if text.strip(" ,;\t") and not COMMENT.match(text.strip())), 0)
        if not line:
            raise Malformed(1, "the table is empty", "its first line must be a_device,a_port,b_device,b_port")
        raise Malformed(
            line,
            "the first line does not name the columns of two ends",
            "name them a_device,a_port,b_device,b_port, or give --column a_device=NAME",
        )
    rows = []
    reader = csv.reader(lines_with_ends(file.text.split("\n")), strict=True, delimiter=heading.delimiter)
    wrong = None
    try:
        for row in reader:
            rows.append((reader.line_num, [cell.strip() for cell in row]))
    except csv.Error as fault:
        wrong = fault
    heading = heading._replace(named=[cell.strip() for cell in heading.named])
    _CableRows(file, into, heading, rows).read()
    if wrong is not None:
        raise Malformed(max(reader.line_num, 1), f"this is not CSV: {wrong}")


class _CableRows:
    """The rows of a table below its heading; cells are without blanks around them."""

    def __init__(
        self, file: SourceFile, into: Observed, heading: Heading, rows: list[tuple[int, list[str]]]
    ) -> None:
        self.file, self.into, self.heading, self.columns = file, into, heading, heading.columns
        self.rows = rows
        below = [row for line, row in rows if line > heading.line and row != heading.named]
        self.ticked = "done" in self.columns and any(
            plain_words(_cell(row, self.columns, "done")) not in UNTOUCHED for row in below
        )
        says_state = "status" in self.columns
        states = {self.state(row) for row in below if says_state and _cell(row, self.columns, "b_port")}
        self.later_is_absent = "netbox" not in self.columns and bool(states - LATER)
        self.says_work = any(name in self.columns for name in ("done", "status", "found"))
        self.unknown: dict[str, dict[str, list[int]]] = {"done": {}, "status": {}}  # lines by word
        self.fills = {side: self.has_merged_devices(below, side) for side in "ab"}
        self.above = {"a_device": "", "b_device": ""}  # devices of the row above
        self.merged: list[int] = []  # lines whose device is the one of the row above
        places = [self.columns[name] for name in ENDS[0]]
        self.says_ends_alone = self.columns.keys() == set(ENDS[0]) and len(set(places)) == len(places)
        self.last_place, self.ends_of = max(places), itemgetter(*places)

    def state(self, row: list[str]) -> str:
        """What the table says of the state of a row's cable."""
        return plain_words(_cell(row, self.columns, "status")) if "status" in self.columns else ""

    def has_merged_devices(self, below: Sequence[list[str]], side: str) -> bool:
        """Whether devices of a side stand for several rows: so many rows have a port alone that a cell was
        not merely forgotten."""
        device, port = self.columns[f"{side}_device"], self.columns[f"{side}_port"]
        with_port = [row for row in below if len(row) > port and row[port]]
        alone = sum(len(row) <= device or not row[device] for row in with_port)
        return 0 < len(with_port) <= 3 * alone

    def read(self) -> None:
        """Each row is a link, a comment, set aside, or a fault."""
        for line, row in self.rows:
            try:
                if not (self.says_ends_alone and self.has_added_plain_cable(line, row)):
                    self.row(line, row)
            except Malformed as wrong:
                self.into.fault(self.file, wrong.line, wrong.message, wrong.help)
        if self.merged:
            count = counted_noun(len(self.merged), "row")
            self.into.note(
                "E0606",
                CaptureLine(self.file, self.merged[0]),
                f"{count} without a device at one end: the device of the row above is taken",
                help="cells that were merged are exported so; fill them where this is not meant",
            )
        self.note_unknown_words()

    def note_unknown_words(self) -> None:
        """Name the words of which it is not known whether they say that a cable is plugged."""
        for column, words in self.unknown.items():
            lines = [line for of_word in words.values() for line in of_word]
            if not lines:
                continue
            heading = " ".join(self.heading.named[self.columns[column]].split())
            said = ", ".join(f"`{word[:40]}` ({len(at)})" for word, at in list(words.items())[:8])
            taken, yes = ("not ticked", "x") if column == "done" else ("taken for plugged", "installed")
            self.into.note(
                "E0606",
                CaptureLine(self.file, lines[0]),
                f"{counted_noun(len(lines), 'row')} {taken}, with words in column `{heading}` that are not "
                f"known: {said}",
                help=f"write `{yes}` where the cable is plugged, and `not installed` where it is not",
            )

    def row(self, line: int, row: list[str]) -> None:
        """One row. Raises Malformed."""
        place, columns = CaptureLine(self.file, line), self.columns
        if not any(row):
            self.above = dict.fromkeys(self.above, "")
        elif line <= self.heading.line:
            if line < self.heading.line and self.is_more_than_a_title(row):
                words = " ".join(filter(None, row))[:80]
                self.into.leave_out("the row is above the heading of the table", place, words)
        elif _is_comment(row, columns):
            cells = _cells_by_column(row, columns)
            if _names_two_ends(cells):
                why = "the row begins with `#`, as a comment does"
                self.into.leave_out(why, place, _row_in_words(cells))
        elif row != self.heading.named:  # which tables that were joined have again
            self.link(row, place)

    def has_added_plain_cable(self, line: int, row: list[str]) -> bool:
        """Whether a row is a cable between four cells that need no further look, which is then added; large
        tables have hundreds of thousands of such rows. Raises Malformed."""
        if line <= self.heading.line or len(row) <= self.last_place or row[0].startswith("#"):
            return False
        a, port_a, b, port_b = self.ends_of(row)
        plain = _is_plain_cell(a) and _is_plain_cell(b) and _is_plain_cell(port_a) and _is_plain_cell(port_b)
        if not plain or row == self.heading.named:
            return False
        at = CaptureLine(self.file, line)
        self.above["a_device"], self.above["b_device"] = a, b
        near = CapturedEnd(add_device(self.into, a, "", at, heard=True), (port_a,))
        far = CapturedEnd(add_device(self.into, b, "", at, heard=True), (port_b,))
        self.into.wire(CapturedLink(near, far, at))
        return True

    def is_more_than_a_title(self, row: list[str]) -> bool:
        """Whether a row above the heading may be one of cables: two ends that differ, in the columns of two
        ends."""
        cells = [_cell(row, self.columns, name) for name in ENDS[0]]
        comment = COMMENT.match(row[0]) is not None
        return all(cells) and len(set(cells)) >= TITLE and not comment and columns_of_ends(row) is None

    def link(self, row: list[str], place: CaptureLine) -> None:
        """A row of a cable. Raises Malformed."""
        cells = _cells_by_column(row, self.columns)
        why = "" if _names_two_ends(cells) else reason_of_bare_row(row)
        if why:
            self.into.leave_out(why, place, " ".join(filter(None, row))[:80])
            if why == LONE_CELL:  # a device by itself is that of the rows below, which have ports alone
                self.above |= {name: cells[name] for name in self.above if cells.get(name)}
            return
        state = plain_words(cells.get("status", ""))
        why = _reason_to_leave_out(cells, state, "netbox" in self.columns)
        why = why or self.reason_of_work(cells, state, place.line)
        self.fill_devices_of_merged_cells(cells, place.line)
        if why:
            self.into.leave_out(why, place, _row_in_words(cells))
        else:
            self.add_cable(cells, place)

    def add_cable(self, cells: Mapping[str, str], at: CaptureLine) -> None:
        """Add the cable of a row, and the devices at its ends. Raises Malformed."""
        _refuse_several_ends(cells, "netbox" in self.columns, at)
        said = {
            name: plain_capture_name(text.removeprefix("'"), at.line)
            for name, text in cells.items()
            if text and name in OF_CABLE
        }
        if plain_words(said.get("found", "")) in AS_PLANNED:
            del said["found"]
        tiers = said[KIND].split("-") if KIND in said else ()
        of_a, of_b = tiers if len(tiers) == 2 else ("", "")
        a, b = self.end_of_row(said, "a", of_a == "host", at), self.end_of_row(said, "b", of_b == "host", at)
        if isinstance(a, CapturedEnd) and isinstance(b, CapturedEnd):
            bps = _rate_of_cell(said.get(RATE[0]) or said.get(RATE[1], ""))
            carries, leg = _links_of_cell(said.get(COUNT, "")), KIND in self.columns and bool(said.get(LEG))
            found = bool(said.get("found"))
            self.into.wire(CapturedLink(a, b, at, bps, carries=carries, leg=leg, reported=found))
            return
        self.into.panels = self.into.panels or PanelCables()
        self.into.panels.cables.append(PanelCable(a, b, at, _row_in_words(cells)))

    def end_of_row(self, said: Mapping[str, str], side: str, is_host: bool, at: CaptureLine) -> CableEnd:
        """One end of the cable of a row, whose device is added. Raises Malformed."""
        device_column, port_column, kind_column = COLUMNS_OF_END[side]
        name, port = said.get(device_column, ""), said.get(port_column, "")
        if self.columns[device_column] == self.columns[port_column]:
            name, port = device_and_port(name)
        further = [said[more] for more in MORE[side] if more in said]
        if side == "b" and said.get("found"):
            device, port = device_and_port(said["found"])
            name, further = device or name, []
        ports = tuple(dict.fromkeys(filter(None, [port, *further])))
        if not name or not ports:
            raise Malformed(
                at.line,
                f"the row has no device or no port at end {side}",
                "fill both ends of the row, or remove it",
            )
        of_panel = said.get(kind_column, "")
        if of_panel in (FRONT, REAR):
            return PanelPort(name, of_panel, port)
        key = add_device(self.into, name, "", at, heard=True, kind="host" if is_host else "")
        return CapturedEnd(key, ports, printed=KIND in self.columns)

    def reason_of_work(self, cells: Mapping[str, str], state: str, line: int) -> str:
        """Why a row is not plugged, as those say who plug it; "" where it is. Keeps unknown words."""
        if not self.says_work:
            return ""
        done = plain_words(cells.get("done", ""))
        if self.ticked and not is_ticked(done):
            if done not in NOT_DONE:
                self.unknown["done"].setdefault(done, []).append(line)
            return "the row is not ticked as done"
        if plain_words(cells.get("found", "")) in NOTHING:
            return "the table says that no cable was found there"
        if self.later_is_absent and state in LATER:
            return f"the table says that the cable is {state}, and has others that are not"
        if state and state not in PLUGGED and state not in LATER:
            self.unknown["status"].setdefault(state, []).append(line)
        return ""

    def fill_devices_of_merged_cells(self, cells: dict[str, str], line: int) -> None:
        """Give a row the devices of the row above where it has a port alone."""
        for side in "ab":
            name, port = f"{side}_device", f"{side}_port"
            if self.columns[name] == self.columns[port]:
                continue
            if cells.get(name):
                self.above[name] = cells[name]
            elif name in cells and self.fills[side] and self.above[name] and cells.get(port):
                cells[name] = self.above[name]
                self.merged.append(line)


def _column_positions(
    row: list[str], columns: Mapping[str, str] | None = None, above: list[str] | None = None
) -> dict[str, int] | None:
    """Places of columns by name; None where the row does not name four for two ends."""
    names = [c.strip().lower().removeprefix("#fields:").lstrip("#").strip() for c in row]
    first = {name: k for k, name in reversed(list(enumerate(names)))}
    given = {k: v.lower() for k, v in (columns or {}).items()}
    known = _positions_by_known_names(row, first, given)
    if known is not None:
        return known
    if set(given) & set(ENDS[0]):  # a call says what they are called, and they are not here
        return None
    near = names[:WIDEST]
    found = columns_of_ends(near) or (columns_of_ends(near, above) if above else None)
    found = found or columns_without_sides(near)
    return found | _further_positions(row, first, given, ("status",)) if found is not None else None


def _positions_by_known_names(
    row: list[str], first: Mapping[str, int], given: Mapping[str, str]
) -> dict[str, int] | None:
    """Places of columns where those of both ends have the names of a known form of table, or the ``given``
    names in place of them; None where not. ``first`` is the first place of each name."""
    for group in ENDS:
        wanted = [given.get(plain_name, name) for plain_name, name in zip(ENDS[0], group, strict=True)]
        if all(w in first for w in wanted):
            out = {k: first[w] for k, w in zip(ENDS[0], wanted, strict=True)}
            more = ("status", "type", *TYPES) if group in (NETBOX, ENDS[2]) else ("status",)
            out |= _further_positions(row, first, given, more)
            if group == NETBOX:
                out["netbox"] = -1
            return out
    return None


def _further_positions(
    row: list[str], first: Mapping[str, int], given: Mapping[str, str], more: tuple[str, ...]
) -> dict[str, int]:
    """Places of the columns that a table may have beside those of the ends."""
    names = (*MORE["a"], *MORE["b"], *RATE, KIND, COUNT, LEG, *more)
    out = {name: first[name] for name in names if name in first} | columns_of_work(row)
    if given.get(RATE[0]) in first:
        out[RATE[0]] = first[given[RATE[0]]]
    return out


def _cell(row: list[str], heading: Mapping[str, int], name: str) -> str:
    """A cell by the name of its column, "" where there is none."""
    place = heading.get(name, -1)
    if place < 0 or place >= len(row):
        return ""
    return row[place]


@lru_cache(1 << 16)  # devices and ports are named in many rows
def _is_plain_cell(text: str) -> bool:
    """Whether a cell names one device or port in letters that every table may hold."""
    known = PLAIN_CELL.fullmatch(text) is not None and len(text) <= LONGEST_NAME
    return known and not SEVERAL.search(text)


def _cells_by_column(row: list[str], heading: Mapping[str, int]) -> dict[str, str]:
    """The cells of a row by the names of their columns; a column behind the end of the row is not there."""
    count = len(row)
    return {name: row[place] for name, place in heading.items() if 0 <= place < count}


def _names_two_ends(cells: Mapping[str, str]) -> bool:
    return all(map(cells.get, ENDS[0]))


def _is_comment(row: list[str], heading: Mapping[str, int]) -> bool:
    """Whether a row is a comment. A number behind ``#`` in a column of its own is a label of a cable."""
    if not row or not row[0].startswith("#") or not COMMENT.match(row[0]):
        return False
    first_is_an_end = 0 in (heading[name] for name in ENDS[0])
    label = LABEL.fullmatch(row[0]) is not None
    return first_is_an_end or not label or not _names_two_ends(_cells_by_column(row, heading))


def _row_in_words(cells: Mapping[str, str]) -> str:
    a, p, b, q = (cells.get(name, "") for name in ENDS[0])
    return f"{a} {p} to {b} {q}"


def _reason_to_leave_out(cells: Mapping[str, str], state: str, of_netbox: bool) -> str:
    """Why a row is no link that is plugged, as NetBox or its status says, "" where it is one."""
    if (state in REMOVED or state in NO_CABLE) and not of_netbox:
        return f"the table says that the cable is {state}"
    if state in (ABSENT if of_netbox else ABSENT[:1]):
        return f"NetBox says that the cable is {state}"
    if state and is_out_of_service(state):
        return f"{'NetBox' if of_netbox else 'the table'} says that the cable is {state[:40]}"
    if cells.get("type", "").lower() == "power":
        return "a cable of power"
    other = sorted({kind for name in TYPES if (kind := cells.get(name)) and kind in OTHER_ENDS})
    return f"an end is not a port of a network: {', '.join(other)}" if other else ""


def _rate_of_cell(text: str) -> int:
    """A rate in bit/s, from a cell with a number of Gb/s; 0 where it has none."""
    return int(float(text) * 10**9) if re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text) else 0


def _links_of_cell(text: str) -> int:
    """How many links a cable carries, from a cell with that number; 0 where it has none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def _refuse_several_ends(cells: Mapping[str, str], of_netbox: bool, at: CaptureLine) -> None:
    """Raise Malformed where a cell has several ends. NetBox writes them in no order, and leaves out a device
    that it has named already (netbox, ``dcim/tables/cables.py``, a set)."""
    ends = [cells.get(name, "") for name in ENDS[0]]
    if not SIGN_OF_SEVERAL.search("".join(ends)):
        return
    several = [c for c in ends if ("," in c if of_netbox else SEVERAL.search(c))]
    if several:
        raise Malformed(
            at.line,
            f"the cable has several ends in one cell ({' '.join(several[0].split())[:60]}), and this "
            "table does not say which of them are joined",
            "read the cables of NetBox's REST API, /api/dcim/cables/?limit=0, or a table with a row a link"
            if of_netbox
            else "write a row a link",
        )
