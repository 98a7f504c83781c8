"""Workbooks (.xlsx, .ods, .xls) as tables: each sheet as the text of a CSV, whose lines are its rows.

python-calamine reads them. Merged cells are filled with their text where the format says which they are.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tdsl.findings.source import SourceFile
from tdsl.observe.cut_sheets import columns_of_work
from tdsl.observe.record import Malformed

ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
"""How workbooks begin: .xlsx and .ods are ZIP archives, .xls is an OLE file."""
UNPACKED = 512 << 20
"""Bytes of a workbook once it is unpacked."""
MOST_ROWS = 1 << 20
MOST_SHEETS = 1024
MOST_CELLS = 1 << 24
"""Cells of a sheet, empty ones included: the reader allocates all up to the last row and column."""
CELL = re.compile(rb"""\br\s*=\s*["']\s*([A-Za-z]{1,4})(\d{1,8})""")
"""Where a cell of .xlsx says that it stands."""
PART_OF_TABLE = re.compile(rb"""<table:(table|table-row|table-cell|covered-table-cell)(?=[\s/>])([^<]*)""")
REPEATED = re.compile(rb"""number-(?:rows|columns)-repeated\s*=\s*["']\s*(\d{1,18})""")
"""How often .ods has a row or a cell: all rows of a sheet are a million, of which most are empty."""
SPACES = re.compile(rb"""<text:s\s[^<]*\btext:c\s*=\s*["']\s*(\d{1,18})""")
"""How many spaces .ods has in one place."""
OF_SHARED_TEXT = re.compile(rb"""t\s*=\s*["']s["'](?:[^<]*<(?:\w+:)?v>\s*(\d{1,9}))?""")
"""A cell of .xlsx that has one of the shared texts, and which, where it is written as programs do."""
SHARED_TEXT = re.compile(rb"<(?:\w+:)?si[\s/>]")
MOST_TEXT = 1 << 28
"""Characters of all cells: one long text may be shared by millions of them."""
HOW = "save it as .xlsx, .ods or CSV"


class SheetTable(NamedTuple):
    """A sheet: its name and its rows as text."""

    name: str
    rows: list[list[str]]


def is_workbook(data: bytes) -> bool:
    """Whether a file is a workbook, by its first bytes."""
    return data.startswith((ZIP, OLE))


def sheets_of_workbook(data: bytes) -> list[SheetTable]:
    """The sheets of a workbook. Raises Malformed where it cannot be read, or no reader is installed."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise Malformed(
            1,
            "this is a workbook, and python-calamine, which reads one, is not installed",
            "`pip install 'tdsl[sheets]'`, or save the sheet as CSV",
        ) from None
    _refuse_oversized_archive(data)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = book.sheet_names
        if len(names) > MOST_SHEETS:
            raise Malformed(1, f"the workbook has more than {MOST_SHEETS:,} sheets", HOW)
        return [SheetTable(name, _rows_of_sheet(book.get_sheet_by_name(name))) for name in names]
    except (CalamineError, ValueError, OSError) as wrong:
        raise Malformed(
            1, f"this workbook is not readable: {' '.join(str(wrong).split())[:80]}", HOW
        ) from None


def _refuse_oversized_archive(data: bytes) -> None:
    """Raise Malformed for an archive that is cut, or unpacks to more than a workbook of cables has."""
    if not data.startswith(ZIP):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(one.file_size for one in archive.infolist())
            parts = archive.infolist() if size <= UNPACKED else []
            cells, length, shared, uses = 0, 0, b"", Counter[bytes]()
            for part in parts:
                text = archive.read(part)
                of_ods = b"<table:table" in text
                here, more = _size_of_ods(text) if of_ods else (_cells_of_sheet(text), 0)
                cells, length = max(cells, here), length + more
                uses.update(OF_SHARED_TEXT.findall(text))
                shared = text if part.filename.lower().endswith("sharedstrings.xml") else shared
    except (zipfile.BadZipFile, ValueError, OSError) as wrong:
        raise Malformed(1, f"this workbook is not readable: {str(wrong)[:80]}", HOW) from None
    if size > UNPACKED:
        raise Malformed(1, f"the workbook unpacks to more than {UNPACKED >> 20} MiB", HOW)
    if cells > MOST_CELLS:
        raise Malformed(
            1,
            f"a sheet of the workbook has {cells:,} cells up to its last one, more than {MOST_CELLS:,}",
            "delete the cells far below or right of the table",
        )
    _refuse_long_text(length + _length_of_shared_texts(shared, uses))


def _refuse_long_text(length: int) -> None:
    if length > MOST_TEXT:
        raise Malformed(1, f"the cells of the workbook have more than {MOST_TEXT >> 20:,} MiB of text", HOW)


def _length_of_shared_texts(shared: bytes, uses: Counter[bytes]) -> int:
    """Bytes that all cells together have of shared texts, each as often as cells use it by its number; the
    longest where the number is not known."""
    if not uses:
        return 0
    sizes = [len(one) for one in SHARED_TEXT.split(shared)[1:]]
    known = ((int(number), count) for number, count in uses.items() if number)
    found = sum(count * sizes[one] for one, count in known if one < len(sizes))
    return found + uses[b""] * max(sizes, default=0)


def _cells_of_sheet(part: bytes) -> int:
    """How many cells a sheet of .xlsx has up to its last row and column, empty ones included."""
    last_row, columns = 0, set()
    for found in CELL.finditer(part):
        columns.add(found[1])
        last_row = max(last_row, int(found[2]))
    return last_row * max(map(_number_of_column, columns), default=0)


def _size_of_ods(part: bytes) -> tuple[int, int]:
    """How many cells the largest sheet of .ods has up to the last row and column that hold something, and how
    many bytes the text of all; repetitions behind these are not stored."""
    most = rows = last_row = widest = width = length = 0
    times = 1
    for found in PART_OF_TABLE.finditer(part):
        kind, rest = found[1], found[2]
        said = REPEATED.search(rest)
        repeated = int(said[1]) if said else 1
        if kind == b"table":
            rows = last_row = widest = width = 0
            times = 1
        elif kind == b"table-row":
            rows, times, width = rows + repeated, repeated, 0
        else:
            width += repeated
            if b"office:" in rest or b"/>" not in rest:
                last_row, widest = rows, max(widest, width)
                most = max(most, last_row * widest, times * width)
                length += times * repeated * _length_of_text(part, found.end())
    return most, length


def _length_of_text(part: bytes, begin: int) -> int:
    """Bytes of the text of a cell of .ods, which begins there."""
    text = part[begin : part.find(b"<table:", begin)]
    return len(text) + sum(int(spaces[1]) for spaces in SPACES.finditer(text))


def _number_of_column(letters: bytes) -> int:
    """The number of a column from 1: 28 of AB."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - 64
    return number


def _rows_of_sheet(sheet: Any) -> list[list[str]]:
    """The rows of a sheet from its first one, merged cells filled."""
    if sheet.total_height > MOST_ROWS:
        raise Malformed(1, f"sheet {sheet.name!r} has more than {MOST_ROWS:,} rows", HOW)
    rows = [[_cell_text(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
    _fill_merged_cells(sheet, rows)
    _refuse_long_text(sum(len(cell) for row in rows for cell in row))
    return rows


def _fill_merged_cells(sheet: Any, rows: list[list[str]]) -> None:
    """Write the text of merged cells of a sheet, which its first cell has, into each of them."""
    merged = sheet.merged_cell_ranges or ()
    height, width = len(rows), len(rows[0]) if rows else 0
    filled = sum(min(b - t + 1, height) * min(r - s + 1, width) for (t, s), (b, r) in merged)
    if filled > MOST_CELLS:
        raise Malformed(1, f"sheet {sheet.name!r} has {filled:,} merged cells, more than {MOST_CELLS:,}", HOW)
    for (top, left), (bottom, right) in merged:
        if top < len(rows) and left < len(rows[top]):
            text = rows[top][left]
            for row in rows[top : bottom + 1]:
                row[left : right + 1] = [text] * len(row[left : right + 1])


def _cell_text(value: object) -> str:
    """A cell as a person reads it: a whole number without a point."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return str(int(value))
    return str(value)


def table_texts(path: Path, sheets: Sequence[SheetTable]) -> list[SourceFile]:
    """Each sheet that is not empty as the text of a CSV."""
    out = []
    for sheet in sheets:
        if any(cell.strip() for row in sheet.rows for cell in row):
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(
                [" ".join(cell.split("\n")) for cell in row] for row in sheet.rows
            )
            out.append(SourceFile(f"{path.as_posix()}[{sheet.name}]", text.getvalue()))
    return out


def with_work_done(sheets: Sequence[SheetTable]) -> list[SheetTable]:
    """The sheets of a workbook of tdsl as one table: the sheet of all cables, with what technicians filled in
    on the sheets of work (``done``, ``found instead``) beside each cable. Other workbooks as they are."""
    whole = next(
        (s for s in sheets if s.rows and {"cable_id", "leg", "a_device", "b_device"} <= set(s.rows[0])), None
    )
    if whole is None:
        return list(sheets)
    work: dict[tuple[str, str], tuple[str, str]] = {}
    of_work = []
    for sheet in sheets:
        filled_in = _work_on_sheet(sheet)
        if filled_in is not None:
            of_work.append(sheet.name)
            work |= filled_in
    if not work:
        return list(sheets)
    head = whole.rows[0]
    at, of_leg = head.index("cable_id"), head.index("leg")
    rows = [[*head, "done", "found instead"]]
    rows += [[*row, *work.get((row[at], row[of_leg]), ("", ""))] for row in whole.rows[1:]]
    kept = [s for s in sheets if s is not whole and s.name not in of_work]
    return [SheetTable(whole.name, rows), *kept]


def _work_on_sheet(sheet: SheetTable) -> dict[tuple[str, str], tuple[str, str]] | None:
    """By cable and leg what a technician filled in: ``done`` and ``found instead``; None where a sheet is not
    one of work."""
    head = sheet.rows[0] if sheet.rows else []
    places = columns_of_work(head)
    if "done" not in places or "cable" not in head:
        return None
    work: dict[tuple[str, str], tuple[str, str]] = {}
    for row in sheet.rows[1:]:
        leg = row[head.index("leg")] if "leg" in head else ""
        found = row[places["found"]] if "found" in places else ""
        work[row[head.index("cable")], leg] = row[places["done"]], found
    return work
