"""Tables for people: columns as wide as what stands in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, zip_longest

from tdsl.report.paint import Paint, terminal_safe_text, text_columns, wrap_text

SAMPLE = 2000
"""Rows that are looked at to find how wide a column is; later ones may stand out."""


def table_lines(
    head: Sequence[str], rows: Iterable[Sequence[object]], paint: Paint, width: int = 0
) -> Iterator[str]:
    """Lines of a table with a heading; columns in which only numbers stand are set to the right. Of a table
    that is broader than ``width``, 0 for any, cells of the broadest columns take several lines."""
    stream = iter(rows)
    first = [[_cell_text(v) for v in row] for row in islice(stream, SAMPLE)]
    widths = [
        max([text_columns(name), *(text_columns(row[i]) for row in first)]) for i, name in enumerate(head)
    ]
    if width:
        _narrow_columns(widths, [head, *first], width)
    right = [bool(first) and all(_is_numeric_cell(row[i]) for row in first) for i in range(len(head))]
    yield paint("bold", _table_row(head, widths, right))
    for row in chain(first, ([_cell_text(v) for v in row] for row in stream)):
        if width:
            yield from _wrapped_table_row(row, widths, right)
        else:
            yield _table_row(row, widths, right)


def _narrow_columns(widths: list[int], rows: Sequence[Sequence[str]], width: int) -> None:
    """Take columns from the broadest until the table fits; each keeps what its longest word takes."""
    least = [
        max(text_columns(w) for row in rows for w in (row[i].split() or [""])) for i in range(len(widths))
    ]
    while sum(widths) + 2 * (len(widths) - 1) > width:
        broadest = max(range(len(widths)), key=lambda i: widths[i] if widths[i] > least[i] else 0)
        if widths[broadest] <= least[broadest]:
            break
        widths[broadest] -= 1


def _cell_text(value: object) -> str:
    return "" if value is None else terminal_safe_text(str(value))


def _is_numeric_cell(text: str) -> bool:
    return text == "" or text.replace(".", "", 1).replace("-", "", 1).isdigit()


def _wrapped_table_row(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> Iterator[str]:
    """The lines of a row whose cells are wrapped at the widths of their columns."""
    cells = [wrap_text(text, width) for text, width in zip(row, widths, strict=True)]
    return (_table_row(line, widths, right) for line in zip_longest(*cells, fillvalue=""))


def _table_row(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    out = []
    for text, width, to_right in zip(row, widths, right, strict=True):
        blank = " " * (width - text_columns(text))
        out.append(blank + text if to_right else text + blank)
    return "  ".join(out).rstrip()
