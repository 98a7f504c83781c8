"""Rows a second of cables.csv, links.csv and labels.csv beside csv.writer, a plain Jinja template, Polars,
pyarrow and the write of bytes that are ready.

tdsl begins with the columns of the elaborated fabric and ends with the bytes on the disk. A peer is given the
same values as it likes them best (lists of rows, a data frame, an Arrow table), which is not counted, and
writes them. "From columns" begins where tdsl does: csv.writer is given the values, and pyarrow builds its
columns from the few values and codes that tdsl has. csv.writer and tdsl write the same bytes but for the ends
of lines; the others quote as they do.
"""

from __future__ import annotations

import csv
import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measure import Record, by_turns, inside

from tdsl.compile import compiler
from tdsl.emit.rows import csv_rows, spreadsheet_cell
from tdsl.emit.view import FabricView
from tdsl.fabric.coded import Coded, Joined, Numbers, coded_constant
from tdsl.findings.diagnostic import Diagnostics
from tdsl.system.resources import packaged_folder

LISTS = ("cables", "links", "labels")
PEERS = (
    "tdsl",
    "csv.writer from columns",
    "pyarrow from columns",
    "csv.writer",
    "Jinja",
    "Polars",
    "pyarrow",
    "raw write",
)
DESIGN, QUICK = "gpu131k", "rail_only"
JINJA = "{% for row in rows %}{{ row | join(',') }}\n{% endfor %}"


def columns_of(name: str) -> tuple[list[str], list[str]]:
    """Headings of a list, and the fields below them, as the target has them."""
    template = packaged_folder("targets") / "cabling" / "templates" / f"{name}.csv.j2"
    found = [
        c.partition("=")
        for c in re.findall(r'"([^"]+)"', template.read_text(encoding="utf-8").partition("+ ([")[0])
    ]
    return [heading for heading, _, _ in found], [
        field if renamed else heading for heading, renamed, field in found
    ]


def fabric(path: str) -> Any:
    """The only fabric of a design."""
    return compiler.compile_without_checks(path).designs[0].fabric


def written(who: str, name: str, made: Any, out: Path) -> tuple[Callable[[], object], int]:
    """What writes a list as one of the peers does, and the number of rows."""
    headings, fields = columns_of(name)
    table = getattr(FabricView(made, Diagnostics()), name)
    if who == "tdsl":

        def rows() -> None:
            with out.open("wb") as file:
                file.writelines(csv_rows(getattr(FabricView(made, Diagnostics()), name), fields, headings))

        return rows, len(table)
    if who == "csv.writer from columns":

        def from_columns() -> None:
            table = getattr(FabricView(made, Diagnostics()), name)
            with out.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(
                    zip(*(map(spreadsheet_cell, table.column(f)) for f in fields), strict=True)
                )

        return from_columns, len(table)
    if who == "pyarrow from columns":
        from pyarrow.csv import WriteOptions, write_csv

        options = WriteOptions(quoting_style="needed")
        return lambda: write_csv(
            _arrow(getattr(FabricView(made, Diagnostics()), name), headings, fields), out, options
        ), len(table)
    values: dict[str, Sequence[object]] = {h: table.column(f) for h, f in zip(headings, fields, strict=True)}
    if who == "csv.writer":
        ready = [[spreadsheet_cell(v) for v in row] for row in zip(*values.values(), strict=True)]

        def lines() -> None:
            with out.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows(ready)

        return lines, len(table)
    if who == "Jinja":
        from jinja2 import Environment

        ready = [[spreadsheet_cell(v) for v in row] for row in zip(*values.values(), strict=True)]
        template = Environment().from_string(JINJA)

        def rendered() -> None:
            with out.open("w", newline="", encoding="utf-8") as file:
                file.writelines(template.generate(rows=ready))

        return rendered, len(table)
    if who == "raw write":
        parts = list(csv_rows(table, fields, headings))
        return lambda: _raw(out, parts), len(table)
    texts = {h: [str(v) for v in column] for h, column in values.items()}
    if who == "Polars":
        import polars

        frame = polars.DataFrame(texts)
        return lambda: frame.write_csv(out), len(table)
    import pyarrow
    from pyarrow.csv import WriteOptions, write_csv

    arrow = pyarrow.table(texts)
    return lambda: write_csv(arrow, out, WriteOptions(quoting_style="needed")), len(table)


def _arrow(table: Any, headings: Sequence[str], fields: Sequence[str]) -> Any:
    """An Arrow table of the compact columns: a text for each value, taken by its codes, and pieces of texts
    joined."""
    import pyarrow
    import pyarrow.compute

    def coded(column: Coded) -> Any:
        return pyarrow.array([str(spreadsheet_cell(v)) for v in column.values], pyarrow.string()).take(
            pyarrow.array(np.ascontiguousarray(column.codes))
        )

    def array(column: Any) -> Any:
        if isinstance(column, Joined):
            pieces = [p if isinstance(p, str) else coded(p) for p in column.pieces]
            return pyarrow.compute.binary_join_element_wise(*pieces, "")
        if isinstance(column, Numbers):
            codes = np.ascontiguousarray(column.codes)  # of another form pyarrow makes Python objects
            return pyarrow.array(codes, mask=None if column.blank is None else codes == column.blank)
        return (
            coded(column)
            if isinstance(column, Coded)
            else pyarrow.array([str(spreadsheet_cell(v)) for v in column])
        )

    return pyarrow.table(
        {
            h: array(table.compact(f)) if f else array(coded_constant("", len(table)))
            for h, f in zip(headings, fields, strict=True)
        }
    )


def _raw(out: Path, parts: Sequence[bytes]) -> None:
    with out.open("wb") as file:
        file.writelines(parts)


def records(rounds: int, quick: bool = False) -> list[Record]:
    """A record for each list and peer."""
    out = []
    design = QUICK if quick else DESIGN
    for name in LISTS:
        peers = {who: (sys.executable, __file__, design, name, who) for who in PEERS}
        out += by_turns("cabling", f"{design}, {name}.csv", peers, min(rounds, 3), unit="rows")
    return out


def main() -> None:
    """One run, its figures as JSON; without arguments all of them, one round."""
    if len(sys.argv) < 2:
        print(json.dumps(records(1), indent=1))
        return
    design, name, who = sys.argv[1:4]
    with tempfile.TemporaryDirectory() as folder:
        work, rows = written(who, name, fabric(design), Path(folder) / "list.csv")
        print(json.dumps(inside(work, n=rows)))


if __name__ == "__main__":
    main()
