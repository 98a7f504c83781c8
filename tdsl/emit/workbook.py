"""Spreadsheets: sheets of plain tables, the same bytes for the same content."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from tdsl.system.lazy_dataclass import dataclass

MAX_ROWS = 1_048_575  # below the heading
MAX_TEXT = 32_767  # characters of a cell; a longer text would be left out
A4_COLUMNS = 12
"""As many columns of this kind of table can be read on a landscape A4 sheet that they fill; more are printed
on A3."""
LEDGER_WIDTH = 34
"""Characters of the widest column of a ledger; longer text is wrapped."""
LINE = 15
"""Points that a line of text takes."""
LARGE = 12
"""Points of the type of sheets of work; a row of them is 18 points high."""
_EPOCH = datetime(1980, 1, 1)  # a workbook must bear a date, and the clock's would change the bytes
_NOT_IN_SHEET_NAMES = re.compile(r"[\[\]:*?/\\\x00-\x1f]+")


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table: its heading, its rows, how wide its columns are at most, and how many columns stay in
    view."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    frozen: int = 0
    hidden: frozenset[str] = frozenset()
    note: str = ""  # printed above every page
    formats: Mapping[str, str] = field(
        default_factory=dict
    )  # number formats of columns, such as ``#,##0.00``
    bold: frozenset[int] = frozenset()  # rows that are sums
    ledger: bool = False  # lines below every row, for tables that are read on paper
    large: bool = False  # type of 12 points and narrow margins, for paper that is read at arm's length
    ends: frozenset[int] = frozenset()  # rows below which there is a thick line


def workbook_bytes(sheets: Iterable[Sheet], title: str) -> bytes:
    """An .xlsx of these sheets, each with a frozen heading, filters, and pages that fit a landscape sheet's
    width."""
    import xlsxwriter

    out = io.BytesIO()
    book = xlsxwriter.Workbook(
        out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    )
    book.set_properties({"title": title, "created": _EPOCH})
    taken: set[str] = set()
    made: dict[tuple[object, ...], object] = {}
    for sheet in sheets:
        page = book.add_worksheet(sheet_name(sheet.name, taken))
        heading, right = _heading_formats(book, sheet)
        if sheet.large:
            page.set_default_row(18)
            page.set_margins(left=0.4, right=0.4, top=0.65, bottom=0.55)
        for at, name in enumerate(sheet.columns):
            page.write_string(0, at, name, right if _is_number_column(sheet, at) else heading)
        _write_sheet_cells(page, sheet, _Formats(book, sheet, made))
        if sheet.ledger and not sheet.large:
            _wrap_ledger_rows(page, sheet)
        page.freeze_panes(1, sheet.frozen)
        page.autofilter(0, 0, max(len(sheet.rows), 1), len(sheet.columns) - 1)
        page.set_landscape()
        page.set_paper(
            9 if sheet.large or len(sheet.columns) - len(sheet.hidden) <= A4_COLUMNS else 8
        )  # A4, else A3
        page.fit_to_pages(1, 0)
        page.repeat_rows(0)
        page.set_header(f"&L{_page_text(sheet.note or title)}&R{_page_text(sheet.name)}")
        page.set_footer("&Rpage &P of &N")
    book.close()
    return out.getvalue()


def _heading_formats(book: Any, sheet: Sheet) -> list[object]:
    """The formats of a heading above text and of one above numbers."""
    size = {"font_size": LARGE} if sheet.large else {}
    plain = {"align": "left", "indent": 1, "text_wrap": True} if sheet.ledger and not sheet.large else {}
    return [
        book.add_format({"bold": True, "bg_color": "#d9e2ec", "bottom": 1, "valign": "top", **size, **more})
        for more in (plain, {"align": "center"} if sheet.large else {"align": "right", "text_wrap": True})
    ]


def _is_number_column(sheet: Sheet, at: int) -> bool:
    """Whether a column of a ledger has numbers and no text, so that its heading stands above them."""
    filled = [row[at] for row in sheet.rows if row[at] != ""] if sheet.ledger else []
    return bool(filled) and not any(isinstance(value, str) for value in filled)


class _Formats:
    """The formats of a sheet's cells, each made once in a workbook: ``made`` are those of earlier sheets."""

    def __init__(self, book: object, sheet: Sheet, made: dict[tuple[object, ...], object]) -> None:
        self.book, self.sheet, self.made = book, sheet, made
        self.plain = not (sheet.formats or sheet.bold or sheet.ledger)

    def of(self, column: str, row: int, number: bool = False) -> object:
        """The format of a cell, None for the default; ``row`` counts from 0. Numbers in large type are
        centred."""
        if self.plain:
            return None
        sheet = self.sheet
        key = (
            sheet.formats.get(column, ""), row in sheet.bold, row in sheet.ends,
            number, sheet.ledger, sheet.large,
        )  # fmt: skip
        if key not in self.made:
            facts: dict[str, object] = {"valign": "top"}
            if self.sheet.ledger:
                facts |= {"bottom": 1, "bottom_color": "#b0bec5"}
            if self.sheet.large:
                facts |= {"font_size": LARGE}
            elif self.sheet.ledger and not number:
                facts |= {"text_wrap": True, "align": "left", "indent": 1}
            if number and self.sheet.large:
                facts |= {"align": "center"}
            if key[2]:
                facts |= {"bottom": 5, "bottom_color": "#37474f"}
            if key[0]:
                facts["num_format"] = key[0]
            if key[1]:
                facts |= {"bold": True, "bg_color": "#eef2f6"}
            self.made[key] = self.book.add_format(facts)  # type: ignore[attr-defined]
        return self.made[key]


def _write_sheet_cells(page: object, sheet: Sheet, formats: _Formats) -> None:
    """Write what is not empty, and make every column as wide as its longest text, within reason."""
    write_string, write_number = page.write_string, page.write_number  # type: ignore[attr-defined]
    set_column = page.set_column  # type: ignore[attr-defined]
    for at, (name, values) in enumerate(zip(sheet.columns, zip(*sheet.rows, strict=True), strict=False)):
        width = _least_width(sheet, name)
        for row, value in enumerate(values, 1):
            look = formats.of(name, row - 1, not isinstance(value, str))
            if value == "":
                if look is not None:
                    page.write_blank(row, at, None, look)  # type: ignore[attr-defined]
                continue
            if type(value) is str:
                if len(value) > MAX_TEXT:
                    value = f"{value[: MAX_TEXT - 1]}…"
                write_string(row, at, value, look)
                if len(value) > width:
                    width = len(value)
            else:
                write_number(row, at, value, look)
                if isinstance(value, (int, float)):
                    shown = f"{value:,.2f}" if name in sheet.formats else f"{value:.10g}"
                    width = max(width, len(shown) + 1)
        width = round((width + 1) * LARGE / 11) if sheet.large else width + 1
        most = LEDGER_WIDTH if sheet.ledger and not sheet.large else 60
        set_column(at, at, min(width, most), None, {"hidden": name in sheet.hidden})


def _least_width(sheet: Sheet, name: str) -> int:
    """Letters that a column's heading takes, in one line or in two."""
    words = (
        [len(word) for word in name.split()]
        if sheet.ledger and not sheet.large and _is_two_line_heading(name)
        else [len(name)]
    )
    return max(max(words), len(name) // 2 if len(words) > 1 else 0) + (2 if sheet.large else 4)


def _wrap_ledger_rows(page: object, sheet: Sheet) -> None:
    """Make the rows of a ledger as high as their longest text, which is wrapped, and the heading two lines
    high."""
    set_row = page.set_row  # type: ignore[attr-defined]
    if any(_is_two_line_heading(name) for name in sheet.columns if name not in sheet.hidden):
        set_row(0, 2 * LINE)
    for row, values in enumerate(sheet.rows, 1):
        longest = max((len(v) for v in values if isinstance(v, str)), default=0)
        if longest > LEDGER_WIDTH - 4:
            set_row(row, LINE * -(-longest // (LEDGER_WIDTH - 6)))


def _is_two_line_heading(heading: str) -> bool:
    """Whether a heading of a ledger is set in two lines."""
    return len(heading) > 12 and " " in heading


def sheet_name(name: str, taken: set[str]) -> str:
    """A name a spreadsheet takes: at most 31 letters, none of ``[]:*?/\\``, no quote at an end, not one that
    is taken."""
    base = _NOT_IN_SHEET_NAMES.sub("_", name).strip("'") or "sheet"
    if base.lower() == "history":  # the one name that is reserved
        base += "_"
    made, number = base[:31], 1
    while made.lower() in taken:
        number += 1
        made = f"{base[: 30 - len(str(number))]}~{number}"
    taken.add(made.lower())
    return made


def _page_text(text: str) -> str:
    """Text in a page's header, where & begins a code; there is room for 255 letters in all."""
    return re.sub(r"[\x00-\x1f]", " ", text)[:80].replace("&", "&&")
