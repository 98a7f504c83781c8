"""Rows of tables as text: what is put together from columns is what csv and json write of the same values, one by one."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.emit.rows import csv_cells, csv_line, csv_rows, json_rows, spreadsheet_cell, text_chunks
from tdsl.fabric.coded import Coded, Compact, Joined, Numbers, coded_combination, coded_number_sets
from tdsl.fabric.columns import Column, Table
from tdsl.system.spool import Spool, Spooled, chunks_of_content, content_in_memory, digest_of_content


@dataclass(frozen=True, slots=True)
class Record:
    """A row."""

    a: object
    b: object
    c: object


FIELDS = ("a", "b", "c")
TEXTS = st.text(st.sampled_from("ab;,\"\r\n=@-+\0\u00e9\uff1d '\t"), max_size=5)
VALUES = st.one_of(TEXTS, st.integers(-5, 10**12), st.booleans())


def codes_of(size: int, among: int) -> st.SearchStrategy[np.ndarray]:
    """Numbers that choose a value for each row."""
    return st.lists(st.integers(0, among - 1), min_size=size, max_size=size).map(lambda n: np.array(n, dtype=np.int32))


@st.composite
def columns(draw: st.DrawFn, size: int) -> Column | Compact:
    """A column of some kind."""

    def coded(values: st.SearchStrategy[object]) -> Coded:
        few = draw(st.lists(values, min_size=1, max_size=4))
        return Coded(few, draw(codes_of(size, len(few))))

    kind = draw(st.sampled_from(["listed", "coded", "numbers", "joined"]))
    if kind == "listed":
        return draw(st.lists(VALUES, min_size=size, max_size=size))
    if kind == "coded":
        return coded(VALUES)
    if kind == "numbers":
        wide = draw(st.sampled_from([3, 1 << 17, 1 << 40]))
        low = draw(st.sampled_from([0, -2]))
        found = draw(st.lists(st.integers(low, wide), min_size=size, max_size=size))
        return Numbers(np.array(found, dtype=np.int64), draw(st.sampled_from([None, 0, -1])))
    joined = Joined(draw(TEXTS), coded(TEXTS), draw(TEXTS), coded(TEXTS), blank=True)
    return joined if "" in joined.tolist() else Joined(*joined.pieces)


@st.composite
def tables(draw: st.DrawFn) -> Table[Record]:
    """A table of a few rows, its second column perhaps chosen by the same numbers as the first."""
    size = draw(st.integers(0, 12))
    made = {name: draw(columns(size)) if size else [] for name in FIELDS}
    if isinstance(first := made["a"], Coded) and draw(st.booleans()):
        made["b"] = Coded([f"{v}/" for v in first.values], first.codes)
    return Table(Record, size, {name: (lambda c=column: c) for name, column in made.items()})


def by_csv(table: Table[Record]) -> str:
    """What the csv module writes, with every line's end as it is in the file."""
    lines = []
    for row in [FIELDS, *zip(*(map(spreadsheet_cell, table.column(f)) for f in FIELDS), strict=True)]:
        out = io.StringIO()
        csv.writer(out, lineterminator="\r\n").writerow(row)
        lines.append(out.getvalue()[:-2])
    return "\n".join(lines)


def by_json(table: Table[Record]) -> str:
    """What the json module writes."""
    rows = zip(*(table.column(f) for f in FIELDS), strict=True)
    return ",\n".join(json.dumps([None if v == "" else v for v in row], ensure_ascii=False) for row in rows)


def repeated(table: Table[Record], times: int) -> Table[Record]:
    """The rows of a table again and again: more than are put together at once."""

    def longer(column: Column | Compact) -> Column | Compact:
        if isinstance(column, Coded):
            return Coded(column.values, np.tile(column.codes, times))
        return list(column.tolist() if isinstance(column, Compact) else column) * times

    return Table(Record, len(table) * times, {f: (lambda f=f: longer(table.compact(f))) for f in FIELDS})


def check(table: Table[Record]) -> None:
    assert b"".join(csv_rows(table, FIELDS, FIELDS)).decode() == by_csv(table)
    assert b"".join(json_rows(table, FIELDS)).decode() == by_json(table)


@settings(max_examples=30)
@given(tables(), st.sampled_from([1] * 11 + [900]))
def test_rows_are_those_of_csv_and_json(few: Table[Record], times: int) -> None:
    table = repeated(few, times)
    check(table)
    assert [(r.a, r.b, r.c) for r in table] == list(zip(*(table.column(f) for f in FIELDS), strict=True))


@pytest.mark.parametrize(
    "column",
    [
        ["x" * 9000, "a,b" * 4000],  # a line wider than any table of people
        Joined(Coded(["", "y"], np.array([0, 1])), Coded(["=1", "z"], np.array([0, 1]))),  # a formula in a later piece:
        Joined(Coded(["x", "y"], np.array([0, 1])), Coded(["=1", "z"], np.array([0, 1]))),  # an empty one lets it begin
    ],
)
def test_rows_of_another_kind(column: Column | Compact) -> None:
    check(Table(Record, 2, {f: lambda: column for f in FIELDS}))


@settings(max_examples=50)
@given(
    st.lists(TEXTS, min_size=1, max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=12),
    TEXTS.filter(lambda t: "\0" not in t),
)
def test_texts_as_they_are(values: list[str], codes: list[int], between: str) -> None:
    column = Joined("<", Coded(values, np.array([c % len(values) for c in codes])), ">")
    assert b"".join(text_chunks(column, between)).decode() == between.join(map(str, column.tolist()))


CELLS = st.one_of(VALUES, st.text(max_size=4), st.sampled_from(["", "x", "\uff0b1", "a-b", "d\u00fc", None, 1.5]))


@settings(max_examples=20)
@given(st.lists(CELLS, min_size=1, max_size=9))
def test_cells_are_those_of_csv(values: list[object]) -> None:
    expected = []
    for value in values:
        out = io.StringIO()
        csv.writer(out, lineterminator="\r\n").writerow((spreadsheet_cell(value), ""))
        expected.append(out.getvalue()[:-3])
    assert csv_cells(values) == expected


def test_no_formula_where_lists_are_separated_by_semicolons() -> None:
    """A spreadsheet of such a country splits a line at semicolons, also inside of the quotes of a cell that it has begun."""
    for before, sign in product(";\t\r\n", "=+-@\uff1d\uff0b\uff0d\uff20"):
        text = f"a{before}{sign}cmd()"
        table = Table(Record, 1, {"a": lambda: ["x"], "b": lambda t=text: [t], "c": lambda: [1]})
        for line in (csv_line(["x", text, 1]), b"".join(csv_rows(table, FIELDS, FIELDS)).decode()):
            assert before + sign not in line and f"a{before}'{sign}cmd()" in line
        once = spreadsheet_cell(text)
        assert spreadsheet_cell(f"a{sign}b; c") == f"a{sign}b; c" and spreadsheet_cell(once) == once


def test_a_line_holds_every_line_end() -> None:
    """Two rows of one device, if a carriage return had no quotes."""
    values = ["a\rb", "c\nd", 'e"f', "\uff1dg", "h,i", 1, ""]
    (row,) = csv.reader(io.StringIO(f"{csv_line(values)}\n", newline=""))
    assert row == ["a\rb", "c\nd", 'e"f', "'\uff1dg", "h,i", "1", ""]


def test_chunks_do_not_change_lines() -> None:
    """More rows than a chunk holds: of texts, of numbers that are written as digits, and of pieces."""
    n = np.arange(50_000)
    ends = Coded(["x", "yy", "zzz"], n % 3), Coded([str(i) for i in range(100)], n % 100)
    numbers, texts = Numbers(n * 1_000_003), Coded(["", "q,uoted", "=formula"], n % 3)
    columns: dict[str, Column | Compact] = {"a": Joined("FROM ", ends[0], " TO ", ends[1]), "b": numbers, "c": texts}
    table: Table[Record] = Table(Record, len(n), {name: (lambda c=column: c) for name, column in columns.items()})
    assert len(list(csv_rows(table, FIELDS, FIELDS))) >= 3
    check(table)


@given(st.one_of(st.lists(st.tuples(st.integers(0, 4), st.integers(0, n)), max_size=12) for n in (7, 62, 70)))
def test_sets_are_the_numbers_of_each_row(pairs: list[tuple[int, int]]) -> None:
    made = coded_number_sets(np.array([r for r, _ in pairs], dtype=np.int64), np.array([n for _, n in pairs], dtype=np.int64), 5)
    own = [sorted({n for r, n in pairs if r == row}) for row in range(5)]
    assert made.tolist() == [n[0] if len(n) == 1 else " ".join(map(str, n)) for n in own]


def test_a_field_that_is_not_there() -> None:
    table: Table[Record] = Table(Record, 1, {})
    with pytest.raises(KeyError, match="no field `d`; known: a, b, c"):
        table.compact("d")
    assert table.column("a") == [""]


@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_combined_asks_once_for_each_combination(a: int, b: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, 10))
    first, second = data.draw(codes_of(size, a)), data.draw(codes_of(size, b))
    asked: list[object] = []
    made = coded_combination(lambda *at: asked.append(at) or at, (a, first), (b, second))
    assert made.tolist() == list(zip(first.tolist(), second.tolist(), strict=True)) and len(asked) == len(set(asked))


@pytest.mark.parametrize("sizes", [[0], [3, 4], [1 << 20], [1 << 20, 1], [700_000] * 4])
def test_large_contents_wait_in_a_file(sizes: list[int], tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    pieces = [bytes([65 + i]) * n for i, n in enumerate(sizes)]
    first, second = spool.keep(pieces), spool.keep([b"0123456789"])
    for content, expected in ((first, b"".join(pieces)), (second, b"0123456789")):
        assert isinstance(content, Spooled) is (len(expected) > 1 << 20)
        assert len(content) == len(expected) and content_in_memory(content) == b"".join(chunks_of_content(content)) == expected
        assert digest_of_content(content) == sha256(expected).hexdigest()
    assert not list(tmp_path.iterdir())  # it has no name
    assert content_in_memory(Spool(tmp_path / "absent").keep(pieces)) == b"".join(pieces)
