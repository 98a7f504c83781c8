"""Lines of source under findings: where marks begin and end, what fits beside them, and which part of a long line is shown."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tdsl.findings.diagnostic import Diagnostic, Label
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.report import terminal
from tdsl.report.excerpt import (
    NEAR,
    ExcerptMark,
    Remark,
    Shown,
    _excerpt_line,
    _underline_with_message,
    _visible_window,
    marks_of_remark,
    source_excerpt,
    visible_line,
)
from tdsl.report.paint import Paint, character_columns, ci_safe_text, text_columns, wrap_text

PLAIN = Paint(False)
TEXT = "one two\n  three  \n\tfour\n\nsix\n    seven\n"
FILE = SourceFile("a.fab", TEXT)


def remark(start: int, end: int, message: str = "m", file: SourceFile = FILE) -> Remark:
    """Something said about a part of a text."""
    return Remark(SourceSpan(file, start, end), message, "error", "^")


def at(text: str, found: list[ExcerptMark]) -> list[tuple[int, int, int, str]]:
    """Marks as line and columns."""
    return [(m.line, m.start, m.end, m.message) for m in found]


@pytest.mark.parametrize(
    ("start", "end", "wanted"),
    [
        (0, 3, [(1, 0, 3, "m")]),
        (4, 7, [(1, 4, 7, "m")]),
        (4, 8, [(1, 4, 7, "m")]),  # the end of a line is not marked
        (4, 10, [(1, 4, 7, "m")]),
        (2, 2, [(1, 2, 3, "m")]),
        (5, 2, [(1, 5, 6, "m")]),
        (3, 4, [(1, 3, 4, "m")]),
        (7, 8, [(1, 7, 8, "m")]),
        (4, 12, [(1, 4, 7, ""), (2, 2, 4, "m")]),
        (4, 11, [(1, 4, 7, ""), (2, 2, 3, "m")]),
        (10, 23, [(2, 2, 7, ""), (3, 1, 5, "m")]),
        (7, 20, [(1, 7, 8, ""), (3, 1, 2, "m")]),
        (24, 36, [(4, 0, 1, ""), (6, 4, 7, "m")]),
        (24, 31, [(4, 0, 1, ""), (5, 0, 3, "m")]),
        (25, 39, [(5, 0, 3, ""), (6, 4, 9, "m")]),
        (8, 10, [(2, 0, 1, "m")]),
    ],
)
def test_where_marks_are(start: int, end: int, wanted: list[tuple[int, int, int, str]]) -> None:
    found = marks_of_remark(remark(start, end))
    assert at(TEXT, found) == wanted
    assert all((m.style, m.underline) == ("error", "^") for m in found)


def test_columns_of_a_line() -> None:
    """Tabs to the next multiple of four, wide characters in two columns, and a sign for what is not seen."""
    assert visible_line("") == Shown("", (0,)) and visible_line("ab") == Shown("ab", (0, 1, 2))
    assert visible_line("\ta\tbcd\t\t") == Shown("    a   bcd     ", (0, 4, 5, 8, 9, 10, 11, 12, 16))
    assert visible_line("漢é\x1b\x7f\u202e\x1f ~\u0301") == Shown(
        "漢é\ufffd\ufffd\ufffd\ufffd ~\u0301", (0, 2, 3, 4, 5, 6, 7, 8, 9, 9)
    )
    assert visible_line("##[x").text == ci_safe_text("##[x") != "##[x" and visible_line("##[x").columns == (0, 1, 2, 3, 4)
    line = visible_line("漢\tb")
    assert line.width == 5 and [line.place(k) for k in range(6)] == [0, 2, 4, 5, 6, 7]


def test_underlines() -> None:
    """A message beside its underline where it fits in one line or has half the width and 28 columns; else below."""
    for room, begin, size in product((20, 40, 56, 57, 60, 90), (0, 5, 11, 30), (1, 7)):
        beside = room - begin - size - 1
        mark = ExcerptMark(1, 0, 0, "", "error", "^")
        line = " " * begin + "^" * size
        assert _underline_with_message(begin, size, mark, room) == [line]
        for total in {3, max(beside - 1, 3), max(beside, 3), max(beside + 1, 4), room + 5}:
            text = ("abc " * total)[:total].strip() or "a"
            found = _underline_with_message(begin, size, ExcerptMark(1, 0, 0, text, "error", "^"), room)
            if text_columns(text) <= beside:
                assert found == [f"{line} {text}"]
            elif beside >= 28 and beside >= room // 2:
                first, *rest = wrap_text(text, beside)
                assert found == [f"{line} {first}", *(" " * (begin + size + 1) + r for r in rest)]
            else:
                indent = begin if room - begin >= room // 2 else 0
                assert found == [line, *(" " * indent + r for r in wrap_text(text, room - indent))]
    two = _underline_with_message(2, 3, ExcerptMark(1, 0, 0, "a\nb", "error", "-"), 80)
    assert two == ["  --- a", "      b"] and _underline_with_message(2, 3, ExcerptMark(1, 0, 0, "a\nb", "error", "-"), 20) == [
        "  ---",
        "  a",
        "  b",
    ]


def test_windows_of_long_lines() -> None:
    """Around a quarter of the width before the focus, within the line; an ellipsis at each end that is cut."""
    for seed in range(300):
        random = Random(seed)
        text = "".join(random.choice("abc漢") for _ in range(random.randint(0, 40)))
        line, room = visible_line(text), random.randint(8, 30)
        focus = random.randint(0, max(line.width, 1))
        found, low = _visible_window(line, focus, room)
        if line.width <= room:
            assert (found, low) == (text, 0)
            continue
        assert low == max(0, min(focus - room // 4, line.width - room))
        columns: list[str] = []  # a wide character has its second column empty
        for c in text:
            columns += [c] + [""] * (character_columns(c) - 1)
        part = columns[low : low + room]
        if columns[low] == "":
            part[0] = " "
        cut = low + room < line.width
        if cut and columns[low + room] == "":
            part = part[:-1]  # half a character does not fit
        if low > 0:
            part[0] = "…" if len(part) < 2 or part[1] != "" else "… "
        text_of = "".join(part)
        if cut:
            text_of = text_of[:-1] + ("…" if character_columns(text_of[-1]) == 1 else " …")
        assert (found, text_columns(found) <= room) == (text_of, True), seed
    assert _visible_window(visible_line("x" * 30), 20, 20) == ("…" + "x" * 19, 10)
    assert _visible_window(visible_line("x" * 30), 11, 20) == ("…" + "x" * 18 + "…", 6)
    assert _visible_window(visible_line("x" * 30), 0, 20) == ("x" * 19 + "…", 0)


def test_lines_of_an_excerpt() -> None:
    """In order; one line between two is shown, more are dots of at least three or as many as the gutter is wide."""
    text = "".join(f"line {k}\n" for k in range(1, 12))
    file = SourceFile("a.fab", text)
    start = [text.index(f"line {k}\n") for k in range(1, 12)]

    def said(*lines: int, gutter: int = 2) -> list[str]:
        return source_excerpt([remark(start[k - 1], start[k - 1] + 4, f"m{k}", file) for k in lines], gutter, PLAIN, 80)

    def one(k: int, gutter: int = 2) -> list[str]:
        return [f"{k:>{gutter}} | line {k}", f"{'':{gutter}} | ^^^^ m{k}"]

    assert said(3) == ["   |", *one(3)]
    assert said(5, 3) == ["   |", *one(3), " 4 | line 4", *one(5)]
    assert said(3, 4) == ["   |", *one(3), *one(4)]
    assert said(3, 6) == ["   |", *one(3), "...", *one(6)]
    assert said(3, 6, gutter=5) == ["      |", *one(3, 5), ".....", *one(6, 5)]
    assert said(2, 2) == ["   |", *one(2), "   | ^^^^ m2"]
    assert source_excerpt([remark(25, 25)], 1, PLAIN, 80) == ["  |", "5 | six", "  | ^ m"]
    assert source_excerpt([remark(24, 24)], 1, PLAIN, 80) == ["  |", "4 |", "  | ^ m"]
    assert source_excerpt([remark(20, 22)], 1, PLAIN, 80) == ["  |", "3 |     four", "  |      ^^ m"]


def test_very_long_lines() -> None:
    """Only what is near the first mark is looked at."""
    for size, start in ((3 * NEAR, 2500), (3 * NEAR + 1, 2500), (9 * NEAR, 5000), (9 * NEAR, 10), (9 * NEAR, 9 * NEAR)):
        text = "".join(chr(ord("a") + k % 26) for k in range(size))
        file = SourceFile("a.fab", text)
        (mark,) = marks_of_remark(remark(start, start + 5, "m", file))
        lines = _excerpt_line(file, 1, [mark], 1, PLAIN, 64)
        room, low = 60, max(0, min(start - 15, size - 60))
        part = text[low : low + room]
        part = ("…" + part[1:] if low else part)[:room]
        part = part[:-1] + "…" if low + room < size else part
        assert lines[0] == f"1 | {part}"
        begin = min(start - low, room - 1)
        assert lines[1].startswith(f"  | {' ' * begin}^") and lines[1].count("^") == (5 if start < size else 1)


def test_marks_at_the_edges_of_a_line() -> None:
    """A mark has a column at least, none begins behind the last column, and an empty mark of a wide character covers it."""
    file = SourceFile("a.fab", "漢b" + "x" * 100)
    assert _excerpt_line(file, 1, [ExcerptMark(1, 0, 0, "", "error", "^")], 1, PLAIN, 200)[1] == "  | ^"
    assert _excerpt_line(file, 1, [ExcerptMark(1, 0, 1, "", "error", "^")], 1, PLAIN, 200)[1] == "  | ^^"
    assert _excerpt_line(file, 1, [ExcerptMark(1, 102, 104, "", "error", "^")], 1, PLAIN, 200)[1] == "  | " + " " * 103 + "^^"
    far = [ExcerptMark(1, 0, 1, "", "error", "^"), ExcerptMark(1, 90, 95, "", "error", "-")]
    assert _excerpt_line(file, 1, far, 1, PLAIN, 44)[1:] == ["  | ^^", "  | " + " " * 39 + "-"]
    assert len(_excerpt_line(file, 1, [], 1, PLAIN, 10)) == 1 and len(_excerpt_line(file, 1, [], 1, PLAIN, 10)[0]) == 4 + 19


# ------------------------------------------------------------------ findings
def test_a_finding_with_its_source() -> None:
    """The finding's own file, then those of its labels; the gutter is as wide as the highest line number."""
    other = SourceFile("b.fab", "\n" * 98 + "x y\n")
    d = Diagnostic(
        "E9999", "wrong here", SourceSpan(FILE, 4, 7),
        labels=(Label(SourceSpan(other, 98, 99), "there"), Label(SourceSpan(FILE, 0, 3), "first"), Label(SourceSpan(other, 100, 101), "too")),
        notes=("n",), help="h", count=3,
    )  # fmt: skip
    assert terminal.finding_block(d, "a.fab", PLAIN, 80).split("\n") == [
        "error[E9999]: wrong here", "  --> a.fab:1:5", "   |", " 1 | one two", "   |     ^^^", "   | --- first", "   |",
        "  ::: b.fab:99:1", "   |", "99 | x y", "   | - there", "   |   - too", "   |", "   = note: n", "   = help: h",
        "   = (first of 3)",
    ]  # fmt: skip
    bare = Diagnostic("E9999", "wrong", SourceSpan(FILE, 4, 7))
    assert terminal.finding_block(bare, "a.fab", PLAIN, 80).split("\n") == [
        "error[E9999]: wrong", " --> a.fab:1:5", "  |", "1 | one two", "  |     ^^^",
    ]  # fmt: skip
    for more in ({"notes": ("n",)}, {"help": "h"}, {"count": 2}):
        lines = terminal.finding_block(Diagnostic("E9999", "wrong", SourceSpan(FILE, 4, 7), **more), "a.fab", PLAIN, 80).split(
            "\n"
        )  # type: ignore[arg-type]
        assert lines[5] == "  |" and len(lines) == 7
        lines = terminal.finding_block(Diagnostic("E9999", "wrong", None, **more), "x.fab", PLAIN, 80).split("\n")  # type: ignore[arg-type]
        assert lines[:2] == ["error[E9999]: wrong", " --> x.fab"] and len(lines) == 3
    titled = terminal.finding_block(Diagnostic("E0405", "so it is", None), "x.fab", PLAIN, 80).split("\n")
    assert titled[1:] == [" --> x.fab", "  = so it is"] and "so it is" not in titled[0]
    titled = terminal.finding_block(Diagnostic("E0405", "so it is", SourceSpan(FILE, 4, 7)), "x.fab", PLAIN, 80).split("\n")
    assert titled[-1] == "  |     ^^^ so it is"
