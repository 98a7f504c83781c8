"""Neighbours as the tables that switches print: a heading, a line of dashes under it that says where each
column begins, and a row a neighbour."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from tdsl.findings.source import SourceFile
from tdsl.observe.readers._neighbours import add_local_device, add_neighbour_link
from tdsl.observe.record import CaptureLine, Malformed, Observed, hexadecimal_digits
from tdsl.system.lazy_dataclass import dataclass

RULE = re.compile(r"(?=[\s…]*+-)[\s\-…]*+")
TOTAL = re.compile(
    r"Total (?:entries displayed:|number of entries|Mac Addresses for this criterion:)\s*(\d+)\s*"
)
"""The last line of SONiC's tables (sonic-utilities, ``scripts/lldpshow``, ``scripts/fdbshow``), of ``show
lldp neighbors`` of NX-OS, and of ``show mac address-table`` of EOS."""


@dataclass(frozen=True, slots=True)
class NeighbourTable:
    """A table of neighbours: its heading, the columns of the own port, of the neighbour's name and of what it
    calls its port, and what a port is called where the table abbreviates it."""

    heading: re.Pattern[str]
    port: str
    host: str
    far: tuple[str, ...]
    full_port: Callable[[str], str] = str

    def is_in(self, text: str) -> bool:
        """Whether a text has the heading."""
        return self.heading.search(text) is not None


def add_table_of_neighbours(table: NeighbourTable, file: SourceFile, stem: str, into: Observed) -> None:
    """Add the rows of a table of the switch that the file is named after. Raises Malformed where no line of
    dashes is under the heading."""
    here = add_local_device(into, stem, CaptureLine(file, 1))
    lines = file.text.split("\n")
    above, columns = _lines_above_rows(table, lines)
    port, rows = "", 0
    for number, line in enumerate(lines[above:], above + 1):
        if RULE.fullmatch(line) or is_judged_total(line, rows, CaptureLine(file, number), into):
            continue
        cells = {name: line[c].strip() for name, c in columns.items()}
        port = cells.get(table.port, "") or port  # a further neighbour of the port above
        host, far = cells.get(table.host, ""), tuple(x for n in table.far if (x := cells.get(n, "")))
        rows += bool(line.strip())
        if not port or not (host or far):
            continue  # no neighbour
        try:
            _refuse_cut_row(number, line, port, far)
            chassis = "" if host else next(filter(None, map(hexadecimal_digits, far)), "")
            add_neighbour_link(
                into, here, table.full_port(port), CaptureLine(file, number), host, chassis, far
            )
        except Malformed as wrong:
            into.fault(file, wrong.line, wrong.message, wrong.help)


def _lines_above_rows(table: NeighbourTable, lines: list[str]) -> tuple[int, dict[str, slice]]:
    """How many lines are above the rows of a table, the last of them that of dashes, and its columns. Raises
    Malformed where there is no such line."""
    for number, (before, line) in enumerate(pairwise(lines), 2):
        if RULE.fullmatch(line) and table.heading.match(before):
            columns = _columns_under_rule(before, line)
            if columns:
                return number, columns
    raise Malformed(
        1, "the table has no line of dashes under its heading", "the capture is cut: capture it again"
    )


def is_judged_total(line: str, rows: int, at: CaptureLine, into: Observed) -> bool:
    """Whether a line is the total of a table; report one that is more than the rows that were read."""
    total = TOTAL.fullmatch(line.strip())
    if total is not None and int(total[1]) > rows:
        said = f"the table says that it has {int(total[1]):,} entries, and {rows:,} are here"
        into.fault(at.file, at.line, said, "the capture is cut: capture it again", "E0602")
    return total is not None


def _columns_under_rule(heading: str, rule: str) -> dict[str, slice]:
    """The columns of a table by name: where the dashes under its heading stand."""
    starts = [m.start() for m in re.finditer(r"(?<!\S)\S", rule)]
    columns = [slice(a, b) for a, b in zip(starts, [*starts[1:], None], strict=True)]
    return {heading[c].strip(): c for c in columns}


def _refuse_cut_row(number: int, line: str, port: str, far: tuple[str, ...]) -> None:
    """Raise Malformed where a row lacks a part of the table."""
    if "…" in line:
        raise Malformed(number, "the terminal was too narrow: a cell is cut", "capture it as JSON")
    if not far:
        raise Malformed(
            number, f"the neighbour at {port} has no port", "the capture is cut: capture it again"
        )
