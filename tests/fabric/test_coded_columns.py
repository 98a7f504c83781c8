"""Columns as few values and numbers that choose among them: every operation against the values of its rows, one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tdsl.fabric import coded
from tdsl.fabric.coded import Coded, Joined, Numbers

TEXTS = Coded(np.array(["a", "bc", ""], dtype=object), np.array([2, 0, 1, 1, 0, 2, 2]))
LISTS = Coded([(1, 2), "x", None], np.array([0, 0, 1, 2, 0, 1, 2], dtype=np.int8))
WHOLE = Numbers(np.array([5, 0, -1, 7, 0, 5, 9]))
BLANK = Numbers(np.array([5, 0, -1, 7, 0, 5, 9]), 0)
COLUMNS = {
    "coded": (TEXTS, ["", "a", "bc", "bc", "a", "", ""]),
    "objects": (LISTS, [(1, 2), (1, 2), "x", None, (1, 2), "x", None]),
    "numbers": (WHOLE, [5, 0, -1, 7, 0, 5, 9]),
    "blank": (BLANK, [5, "", -1, 7, "", 5, 9]),
    "joined": (Joined("<", TEXTS, ":", LISTS), ["<:(1, 2)", "<a:(1, 2)", "<bc:x", "<bc:None", "<a:(1, 2)", "<:x", "<:None"]),
    "joined later": (Joined("<", ".", TEXTS, blank=True), ["<.", "<.a", "<.bc", "<.bc", "<.a", "<.", "<."]),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_of_a_column(name: str) -> None:
    """The value of every row, of some rows in another order, and of every stretch of rows."""
    column, rows = COLUMNS[name]
    assert (len(column), column.tolist()) == (7, rows)
    order = np.array([6, 2, 2, 0])
    taken = column.take(lambda codes: codes[order])
    assert (type(taken), len(taken), taken.tolist()) == (type(column), 4, [rows[i] for i in order])
    assert getattr(taken, "blank", None) == getattr(column, "blank", None)
    for values in (coded.row_range_reader(column), coded.row_range_reader(rows)):
        for start, stop in product(range(8), range(8)):
            if start <= stop:
                found = values(start, stop)
                assert (type(found), found) == (list, rows[start:stop])


def test_columns_hold_plain_values() -> None:
    assert (type(TEXTS.values), TEXTS.values) == (list, ["a", "bc", ""])
    assert LISTS.values == [(1, 2), "x", None]
    assert (WHOLE.blank, BLANK.blank) == (None, 0)
    assert (Joined(TEXTS).blank, Joined(TEXTS, blank=True).blank) == (False, True)
    assert [type(x) for x in WHOLE.tolist()] == [int] * 7
    assert coded.row_range_reader(BLANK)(1, 4) == ["", -1, 7]


def test_one_value_in_every_row() -> None:
    column = coded.coded_constant("x", 5)
    assert (column.tolist(), len(column), column.codes.strides, column.codes.dtype) == (["x"] * 5, 5, (0,), np.int32)


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 16, 40, 62, 63, 64, 65, 130])
@pytest.mark.parametrize("seed", range(3))
def test_the_different_numbers_of_each_row(width: int, seed: int) -> None:
    """Ascending and joined by blanks; up to 62 different numbers a row are the bits of one word."""
    rng = np.random.default_rng(seed)
    size, count = 40, (0, 30, 150)[seed]
    rows, numbers = rng.integers(0, size, count), rng.integers(0, width, count)
    if count:
        rows[:8], numbers[:8] = [3, 3, 3, 5, 5, 6, 6, 7], [0, width - 1, 0, width - 1, 0, width - 1, width - 1, 0]
    column = coded.coded_number_sets(rows, numbers, size)
    found = [sorted(set(numbers[rows == row].tolist())) for row in range(size)]
    expected = ["" if not x else x[0] if len(x) == 1 else " ".join(map(str, x)) for x in found]
    assert column.tolist() == expected
    several = {" ".join(map(str, x)) for x in found if len(x) > 1}
    assert sorted(map(str, column.values[int(numbers.max(initial=-1)) + 2 :])) == sorted(several)


def test_no_rows_with_numbers() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert coded.coded_number_sets(none, none, 3).tolist() == [""] * 3
    assert coded.coded_number_sets(none, none, 0).tolist() == []
    assert coded.coded_number_sets(np.array([1]), np.array([0]), 3).tolist() == ["", 0, ""]


@pytest.mark.parametrize("dense", [0, 23, 24, 1 << 22])
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.int8])
def test_a_column_that_depends_on_several(dense: int, kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each combination that occurs is asked for once, in the order of the codes."""
    monkeypatch.setattr(coded, "DENSE", dense)
    rng = np.random.default_rng(1)
    for sizes in ((2, 3, 4), (24,), (4, 6), (1, 5), (7, 1, 9)):
        for rows in (0, 1, 9, 200):
            columns = [rng.integers(0, size, rows).astype(kind) for size in sizes]
            before = [c.copy() for c in columns]
            called: list[tuple[int, ...]] = []

            def pick(*at: int, called: list[tuple[int, ...]] = called) -> str:
                called.append(at)
                return "-".join(map(str, at))

            column = coded.coded_combination(pick, *zip(sizes, columns, strict=True))
            every = list(zip(*(c.tolist() for c in columns), strict=True))
            assert column.tolist() == ["-".join(map(str, at)) for at in every]
            assert called == sorted(set(every)) and column.codes.dtype == np.int32
            assert all((c == b).all() for c, b in zip(columns, before, strict=True))


def test_more_combinations_than_32_bits_count() -> None:
    """Codes of three columns whose sizes multiply to more than 2**31, and to just less."""
    for sizes in ((1 << 10, 1 << 11, 1 << 10), (1 << 20, 1 << 20, 1 << 20), (1 << 16, 1 << 15), (1 << 15, (1 << 16) - 1)):
        columns = [np.array([size - 1, 0, size - 1, size // 2], dtype=np.int32) for size in sizes]
        column = coded.coded_combination(lambda *at: at, *zip(sizes, columns, strict=True))
        assert column.tolist() == list(zip(*(c.tolist() for c in columns), strict=True))
