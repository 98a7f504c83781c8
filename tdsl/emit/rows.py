"""Rows of a table as lines of text, a few thousand at a time: what a cell looks like is made once for every
value, and lines are put together by numpy.

A chunk of lines is a matrix of bytes with a row a line, in which every cell has the width of the widest value
and ends in zeros; the zeros are then deleted in one step.
"""

from __future__ import annotations

import csv as csv_module
import json as json_module
import re
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.coded import Coded, Integers, Joined, Numbers, coded_combination, coded_constant
from tdsl.fabric.columns import Table
from tdsl.system import progress

CHUNK = 1 << 22
"""Bytes of a matrix."""
WIDEST = 1 << 14
"""Bytes of a line; wider ones are written cell by cell."""
FEW = 1 << 12
"""Combinations of two neighbouring cells that are rendered as one."""
FORMULA = frozenset("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""First characters by which a spreadsheet takes a cell for a formula, or looks past them for one; some take
full-width signs for narrow ones."""
_SPLIT = re.compile("(?<=[;\t\r\n])(?=[=+\\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a formula begins for a spreadsheet whose lists are separated by semicolons or tabs: it does not see
the quotes of a cell that it begins to read before them."""
_QUOTED = frozenset(',"\r\n\0')
"""Characters of texts that are not put together from pieces: those that csv quotes, and zero, which ends a
cell here."""

Piece = bytes | bytearray
"""Some lines of a text."""
Texts = Callable[[Sequence[object]], list[str]]
_Bytes = NDArray[np.bytes_]
_Cells = _Bytes | list[bytes]
_Part = bytes | tuple[_Bytes, Integers] | Numbers | list[object]


class _Wide(Exception):
    """A line that does not fit into the matrix."""


class RowLines(str):
    """Lines that are made when they are asked for. Where a template prints them they go to the file piece by
    piece."""

    __slots__ = ("chunks",)
    chunks: Callable[[], Iterator[Piece]]

    @classmethod
    def of(cls, chunks: Callable[[], Iterator[Piece]]) -> RowLines:
        """Lines that a call gives in pieces."""
        made = cls()
        made.chunks = chunks
        return made

    def __str__(self) -> str:
        return self


def spreadsheet_cell(value: object) -> object:
    """A spreadsheet cell: text that would be taken for a formula gets an apostrophe before it, also behind a
    semicolon, a tab or a line end."""
    if not isinstance(value, str) or not value:
        return value
    text = _SPLIT.sub("'", value)
    return f"'{text}" if text[0] in FORMULA else text


def csv_line(values: Sequence[object]) -> str:
    """Values as a line of a CSV file, without its end."""
    return ",".join(csv_cells(values))


def csv_cells(values: Sequence[object]) -> list[str]:
    """Values as cells of a CSV file."""
    if set(map(type, values)) <= {str, int}:
        texts = list(map(str, values))
        whole = "".join(texts)
        marked = any(c in whole for c in _QUOTED) or _SPLIT.search(whole) is not None
        if not marked and FORMULA.isdisjoint({v[:1] for v in values if isinstance(v, str)}):
            return texts
    lines: list[str] = []
    writer = csv_module.writer(
        SimpleNamespace(write=lines.append), lineterminator="\r\n"
    )  # so that both are quoted in a cell
    writer.writerows((spreadsheet_cell(v), "") for v in values)
    return [line[:-3] for line in lines]


def json_cells(values: Sequence[object]) -> list[str]:
    """Values as JSON; empty is null, since no column has the empty string as a value of its own."""
    encode = json_module.JSONEncoder(ensure_ascii=False).encode
    return [str(v) if type(v) is int else "null" if v == "" else encode(v) for v in values]


def csv_rows(table: Table[Any], fields: Sequence[str], headings: Sequence[str]) -> Iterator[Piece]:
    """A table as comma-separated values with a heading, without the last line's end; a field "" is an empty
    column."""
    head: list[str] = []
    csv_module.writer(SimpleNamespace(write=head.append), lineterminator="\r\n").writerow(headings)
    yield head[0][:-2].encode()
    yield from _line_chunks(
        _columns_of_fields(table, fields), len(table), csv_cells, _csv_pieces, ("\n", ",", "")
    )


def json_rows(table: Table[Any], fields: Sequence[str]) -> Iterator[Piece]:
    """A table as JSON arrays, one a line."""
    first = True
    for chunk in _line_chunks(
        _columns_of_fields(table, fields), len(table), json_cells, _json_pieces, (",\n[", ", ", "]")
    ):
        yield chunk[2:] if first else chunk
        first = False


def text_chunks(column: Joined, between: str) -> Iterator[Piece]:
    """The texts of a column as they are, in chunks."""
    first = True
    for chunk in _line_chunks([column], len(column), _texts_of_values, _pieces_of_column, (between, "", "")):
        yield chunk[len(between.encode()) :] if first else chunk
        first = False


def _texts_of_values(values: Sequence[object]) -> list[str]:
    return list(map(str, values))


def _pieces_of_column(column: Joined) -> list[str | Coded]:
    return list(column.pieces)


def _columns_of_fields(table: Table[Any], fields: Sequence[str]) -> list[Any]:
    """The columns of a table; a field "" is an empty one."""
    return [table.compact(f) if f else coded_constant("", len(table)) for f in fields]


def _csv_pieces(column: Joined) -> list[str | Coded] | None:
    """The pieces of a column of texts, None where a text may need quotes or apostrophes."""
    whole = "".join(
        piece if isinstance(piece, str) else "".join(map(str, piece.values)) for piece in column.pieces
    )
    if any(c in whole for c in _QUOTED) or (
        (";" in whole or "\t" in whole) and not FORMULA.isdisjoint(whole)
    ):
        return None
    for piece in column.pieces:  # as long as a text may begin with this one
        starts = {piece[:1]} if isinstance(piece, str) else {str(v)[:1] for v in piece.values}
        if not FORMULA.isdisjoint(starts):
            return None
        if "" not in starts:
            break
    return list(column.pieces)


def _json_pieces(column: Joined) -> list[str | Coded]:
    """The pieces of a column of texts as JSON writes them, null for an empty text."""
    encode = json_module.JSONEncoder(ensure_ascii=False).encode
    inner: list[str | Coded] = [
        encode(p)[1:-1] if isinstance(p, str) else Coded([encode(str(v))[1:-1] for v in p.values], p.codes)
        for p in column.pieces
    ]
    empty = np.full(len(column), column.blank)
    for piece in inner:
        empty &= (
            not piece if isinstance(piece, str) else np.array([v == "" for v in piece.values])[piece.codes]
        )
    if not empty.any():
        return ['"', *inner, '"']
    number = empty.view(np.int8)
    return [Coded(['"', "null"], number), *inner, Coded(['"', ""], number)]


def _line_chunks(
    columns: Sequence[Any],
    size: int,
    texts: Texts,
    pieces: Callable[[Joined], list[str | Coded] | None],
    marks: tuple[str, str, str],
) -> Iterator[Piece]:
    """Lines in chunks. ``marks`` stand before a line, between its cells and behind it."""
    if not size:
        return
    parts = _parts_of_columns(columns, texts, pieces, marks)
    start = 0
    step = 4096
    held = bytearray()
    progress.count_phase_pieces(size, "rows")
    while start < size:
        try:
            held, width = _chunk_of_rows(parts, texts, start, min(size, start + step), held)
            yield held.translate(None, b"\0")
        except _Wide:
            yield _lines_one_by_one(parts, texts, start, min(size, start + step))
            width = WIDEST
        progress.advance_phase(min(step, size - start))
        start += step
        step = max(256, CHUNK // max(1, width))


def _parts_of_columns(
    columns: Sequence[Any],
    texts: Texts,
    pieces: Callable[[Joined], list[str | Coded] | None],
    marks: tuple[str, str, str],
) -> list[_Part]:
    """The parts of which a line consists, from the mark before it to the one behind it."""
    before, between, behind = marks
    parts: list[_Part] = [before.encode()]
    once: dict[tuple[bool, int], tuple[object, _Cells]] = {}

    def cells(values: Sequence[object], inside: bool = False) -> _Cells:
        """Values as cells, or as they are inside of one; those of one list are made once."""
        key = inside, id(values)
        if key not in once:
            once[key] = (
                values,
                _encoded_texts(list(map(str, values)) if inside else texts(values)),
            )  # kept, so that no other has its id
        return once[key][1]

    for n, column in enumerate(columns):
        parts += [between.encode()] if n else []
        made = pieces(column) if isinstance(column, Joined) else None
        if isinstance(column, Joined):
            for piece in made or ():
                parts.append(
                    piece.encode()
                    if isinstance(piece, str)
                    else _coded_part(cells(piece.values, True), piece.codes)
                )
        elif isinstance(column, Coded):
            parts.append(_coded_part(cells(column.values), column.codes))
        elif isinstance(column, Numbers):
            parts.append(_number_part(column, texts))
        if made is None and not isinstance(column, (Coded, Numbers)):
            parts.append(column.tolist() if isinstance(column, Joined) else list(column))
    return _merged_parts([*parts, behind.encode()])


def _encoded_texts(texts: Sequence[str]) -> _Cells:
    """Texts as bytes, of one width where they do not take too much memory in it."""
    encoded = [t.encode() for t in texts]
    width = max(1, max(map(len, encoded)))
    if width * len(encoded) > 1 << 28 or b"\0" in b"".join(encoded):
        return encoded
    return np.array(encoded, dtype=f"S{width}")


def _coded_part(cells: _Cells, codes: Integers) -> _Part:
    """A column of few texts: one text alone where no other occurs."""
    if isinstance(cells, list):
        return [_Raw(cells[c]) for c in codes.tolist()]
    if len(cells) == 1 or (low := int(codes.min())) == int(codes.max()):
        return bytes(cells[0 if len(cells) == 1 else low])
    return cells, codes


class _Raw(bytes):
    """A cell as it is written."""


def _number_part(column: Numbers, texts: Texts) -> _Part:
    """A column of numbers as few texts where its range is small, else as digits."""
    codes = column.codes
    low, high = int(codes.min()), int(codes.max())
    if low == high or high - low < 1 << 16 or low < 0 or column.blank is not None:
        if high - low < 1 << 20 or high - low < len(codes):
            values: list[object] = ["" if n == column.blank else n for n in range(low, high + 1)]
            return _coded_part(_encoded_texts(texts(values)), (codes - low).astype(np.int32))
        return column.tolist()
    return column


def _merged_parts(parts: Sequence[_Part]) -> list[_Part]:
    """Parts with neighbours put together: fixed texts, cells chosen by the same numbers, and cells of few
    values."""
    out: list[_Part] = []
    for part in parts:
        if isinstance(part, bytes) and not part:
            continue
        both = _merged_pair(out[-1], part, len(out) == 1) if out else None
        if both is None:
            out.append(part)
        else:
            out[-1] = both
    return out


def _merged_pair(last: _Part, part: _Part, first: bool) -> _Part | None:
    """A part and the one behind it as one, None where they stay two. A fixed text joins the cells behind it
    only where it is the ``first`` part."""
    if isinstance(part, bytes):
        if isinstance(last, bytes):
            return last + part
        return (np.char.add(last[0], part), last[1]) if isinstance(last, tuple) else None
    if not isinstance(part, tuple):
        return None
    if isinstance(last, bytes):
        return (np.char.add(last, part[0]), part[1]) if first else None
    if not isinstance(last, tuple):
        return None
    if last[1] is part[1] and len(last[0]) == len(part[0]):
        return (np.char.add(last[0], part[0]), last[1])
    if len(last[0]) * len(part[0]) > FEW:
        return None
    both = coded_combination(
        lambda a, b, x=last[0], y=part[0]: bytes(x[a]) + bytes(y[b]),
        (len(last[0]), last[1]),
        (len(part[0]), part[1]),
    )
    joined = [v for v in both.values if isinstance(v, bytes)]
    return joined[0] if len(joined) == 1 else (np.array(joined), both.codes)


def _chunk_of_rows(
    parts: Sequence[_Part], texts: Texts, start: int, stop: int, held: bytearray
) -> tuple[bytearray, int]:
    """The matrix of some rows, in ``held`` where that has the size, and its width. Raises _Wide."""
    rows = stop - start
    cells: list[Any] = []
    for part in parts:
        if isinstance(part, bytes):
            cells.append(np.frombuffer(part, dtype=f"V{len(part)}"))
        elif isinstance(part, tuple):
            cells.append(part)
        elif isinstance(part, Numbers):
            cells.append(_decimal_digit_bytes(part.codes[start:stop]))
        else:
            cells.append(_cells_of_one_width(part[start:stop], texts))
    widths = [c[0].dtype.itemsize if isinstance(c, tuple) else c.dtype.itemsize for c in cells]
    if sum(widths) > WIDEST:
        raise _Wide
    if len(held) != rows * sum(widths):
        held = bytearray(rows * sum(widths))
    matrix = np.frombuffer(held, dtype=[(f"f{i}", f"V{w}") for i, w in enumerate(widths)])
    for i, c in enumerate(cells):  # take is twice as fast as an index
        matrix[f"f{i}"] = c[0].view(f"V{widths[i]}").take(c[1][start:stop]) if isinstance(c, tuple) else c
    return held, sum(widths)


def _cells_of_one_width(values: Sequence[object], texts: Texts) -> NDArray[Any]:
    """Cells that have no codes, as bytes of one width. Raises _Wide."""
    found = _uncoded_cells(values, texts)
    if any(b"\0" in t for t in found):
        raise _Wide
    width = max(1, max(map(len, found)))
    if width > WIDEST:
        raise _Wide
    return np.array(found, dtype=f"S{width}").view(f"V{width}")


def _uncoded_cells(values: Sequence[object], texts: Texts) -> list[bytes]:
    """Cells that have no codes."""
    if isinstance(values[0], _Raw):
        return [v for v in values if isinstance(v, _Raw)]
    return [t.encode() for t in texts(values)]


def _decimal_digit_bytes(numbers: Integers) -> NDArray[Any]:
    """Numbers that are not negative as decimal digits, behind zero bytes."""
    count = len(str(int(numbers.max(initial=0))))
    out = np.zeros((len(numbers), count), np.uint8)
    rest: NDArray[Any] = numbers.astype(np.uint64 if int(numbers.max(initial=0)) >> 31 else np.uint32)
    for place in range(count - 1, -1, -1):
        above = rest // 10
        digit = (rest - above * 10 + 48).astype(np.uint8)
        out[:, place] = digit if place == count - 1 else np.where(rest > 0, digit, 0)
        rest = above
    return out.view(f"V{count}").ravel()


def _lines_one_by_one(parts: Sequence[_Part], texts: Texts, start: int, stop: int) -> bytes:
    """Lines of some rows, put together one by one."""
    columns: list[list[bytes]] = []
    for part in parts:
        if isinstance(part, bytes):
            columns.append([part] * (stop - start))
        elif isinstance(part, tuple):
            columns.append(part[0][part[1][start:stop]].tolist())
        elif isinstance(part, Numbers):
            columns.append([str(n).encode() for n in part.codes[start:stop].tolist()])
        else:
            columns.append(_uncoded_cells(part[start:stop], texts))
    return b"".join(b"".join(row) for row in zip(*columns, strict=True))
