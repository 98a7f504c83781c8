"""Lines of source with what is said about them underneath."""

from __future__ import annotations

from collections.abc import Sequence

from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.report.paint import (
    TAB,
    Paint,
    character_columns,
    ci_safe_text,
    is_unprintable,
    text_columns,
    wrap_text,
)
from tdsl.system.lazy_dataclass import dataclass

SIDE_BY_SIDE = 28
"""Room that a message needs beside its underline; with less it goes below."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A span and what is said about it."""

    span: SourceSpan
    message: str
    style: str
    underline: str


@dataclass(frozen=True, slots=True)
class ExcerptMark:
    """The part of a remark on one line: code points from ``start`` to ``end``, counted from 0."""

    line: int
    start: int
    end: int
    message: str
    style: str
    underline: str


def marks_of_remark(remark: Remark) -> list[ExcerptMark]:
    """A remark's marks: one where it begins and, over several lines, one where it ends, which carries the
    message."""
    span, style, sign = remark.span, remark.style, remark.underline
    first, column = span.begin
    end = max(span.end, span.start)
    while end > span.start and span.file.text[end - 1 : end].isspace():
        end -= 1
    last, after = span.file.position(end)
    if last == first:
        return [ExcerptMark(first, column - 1, max(after - 1, column), remark.message, style, sign)]
    top, bottom = span.file.line(first), span.file.line(last)
    indent = len(bottom) - len(bottom.lstrip())
    return [
        ExcerptMark(first, column - 1, max(len(top.rstrip()), column), "", style, sign),
        ExcerptMark(last, min(indent, after - 2), after - 1, remark.message, style, sign),
    ]


@dataclass(frozen=True, slots=True)
class Shown:
    """A source line as it is printed: its text, and the column at which each code point begins."""

    text: str
    columns: tuple[int, ...]

    @property
    def width(self) -> int:
        """Columns it takes."""
        return self.columns[-1]

    def place(self, point: int) -> int:
        """Column of a code point; behind the line there is one column a point."""
        last = len(self.columns) - 1
        return self.columns[point] if point <= last else self.width + point - last


NEAR = 200
"""Characters of a very long line that are looked at on both sides of a place."""


def visible_line(line: str) -> Shown:
    """A line with tabs expanded and unseen characters made visible."""
    if line.isascii() and line.isprintable():
        return Shown(ci_safe_text(line), tuple(range(len(line) + 1)))
    out, columns, at = [], [0], 0
    for c in line:
        if c == "\t":
            step = TAB - at % TAB
            out.append(" " * step)
        elif (not c.isascii() and is_unprintable(c)) or c < " " or c == "\x7f":
            step = 1
            out.append("\ufffd")
        else:
            step = character_columns(c)
            out.append(c)
        at += step
        columns.append(at)
    return Shown(ci_safe_text("".join(out)), tuple(columns))


def source_excerpt(remarks: Sequence[Remark], gutter: int, paint: Paint, width: int) -> list[str]:
    """The lines of one file that the remarks are about, in order, with a gutter of that many digits for their
    numbers."""
    file = remarks[0].span.file
    by_line: dict[int, list[ExcerptMark]] = {}
    for remark in remarks:
        for mark in marks_of_remark(remark):
            by_line.setdefault(mark.line, []).append(mark)
    numbers = sorted(by_line)
    empty = paint("frame", " " * gutter + " |")
    out = [empty]
    for at, number in enumerate(numbers):
        if at and number - numbers[at - 1] == 2:
            out += _excerpt_line(file, number - 1, [], gutter, paint, width)
        elif at and number - numbers[at - 1] > 2:
            out.append(paint("frame", "." * max(3, gutter)))
        out += _excerpt_line(file, number, by_line[number], gutter, paint, width)
    return out


def _excerpt_line(
    file: SourceFile, number: int, found: Sequence[ExcerptMark], gutter: int, paint: Paint, width: int
) -> list[str]:
    text, room = file.line(number), max(width - gutter - 3, 20)
    near = max(NEAR, room)
    cut = max(0, min((m.start for m in found), default=0) - near) if len(text) > 3 * near else 0
    line = visible_line(text[cut : cut + 3 * near] if len(text) > 3 * near else text)
    ends = [(max(m.start - cut, 0), max(m.end - cut, 0), m) for m in found]
    places = [(line.place(start), max(line.place(end), line.place(start) + 1), m) for start, end, m in ends]
    text, low = _visible_window(line, min((p[0] for p in places), default=0), room)
    out = [f"{paint('frame', f'{number:>{gutter}} |')} {text}".rstrip()]
    blank = paint("frame", " " * gutter + " |")
    for start, end, mark in places:
        begin = min(max(start - low, 0), room - 1)
        size = max(min(end - low, room) - begin, 1)
        for row in _underline_with_message(begin, size, mark, room):
            out.append(f"{blank} {paint(mark.style, row)}")
    return out


def _underline_with_message(begin: int, size: int, mark: ExcerptMark, room: int) -> list[str]:
    """The underline, with the message beside it or, where that is too tight, below."""
    line = " " * begin + mark.underline * size
    if not mark.message:
        return [line]
    beside = room - begin - size - 1
    if text_columns(mark.message) <= beside and "\n" not in mark.message:
        return [f"{line} {wrap_text(mark.message, beside)[0]}"]
    if beside >= max(SIDE_BY_SIDE, room // 2):
        first, *rest = wrap_text(mark.message, beside)
        return [f"{line} {first}", *(" " * (begin + size + 1) + r for r in rest)]
    indent = begin if room - begin >= room // 2 else 0
    return [line, *(" " * indent + row for row in wrap_text(mark.message, room - indent))]


def _visible_window(line: Shown, focus: int, room: int) -> tuple[str, int]:
    """As much of a long line as fits around a column, and the column at which it begins."""
    if line.width <= room:
        return line.text, 0
    low = max(0, min(focus - room // 4, line.width - room))
    high = low + room
    if line.text.isascii():
        cut = line.text[low:high]
        return ("…" if low > 0 else "") + cut[low > 0 : room - (high < line.width)] + "…" * (
            high < line.width
        ), low
    out, at = "", 0
    for c in line.text:
        step = character_columns(c)
        if at >= low and at + step <= high:
            out += c
        elif at < low < at + step:
            out += " "
        at += step
    if low > 0:
        out = "…" + (out[1:] if character_columns(out[0]) == 1 else " " + out[1:])
    if high < line.width:
        out = (out[:-1] if character_columns(out[-1]) == 1 else out[:-1] + " ") + "…"
    return out, low
