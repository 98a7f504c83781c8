"""Narrow columns: the bytes of each kind, arithmetic that would not fit into them, and which columns of a fabric are narrow."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tdsl.fabric.narrow import Narrow, as_kept, narrow_column, narrow_fabric_columns, widen_fabric_columns
from tests.fabrics import superpod


@pytest.mark.parametrize("given", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize(
    ("row", "kept"),
    [
        ([1, 2], np.int8), ([-128, 127], np.int8), ([-129, 127], np.int16), ([-128, 128], np.int16), ([-32768, 32767], np.int16),
        ([-32769, 0], np.int32), ([0, 32768], np.int32), ([-(2**31), 2**31 - 1], np.int32), ([-(2**31) - 1, 0], None),
        ([0, 2**31], None),
    ],
)  # fmt: skip
def test_bytes_of_a_row(given: type, row: list[int], kept: type | None) -> None:
    """From columns of any width, also such that are not contiguous."""
    limits = np.iinfo(given)
    if min(row) < limits.min or max(row) > limits.max:
        return
    column = np.array(row * 3, dtype=given)
    for each in (column, np.repeat(column, 2)[::2]):
        found = narrow_column(each)
        assert found.tolist() == row * 3 and found.dtype == np.int64 and found.shape == (6,) and len(found) == 6
        if kept is None:
            assert type(found) is np.ndarray
        else:
            assert isinstance(found, Narrow) and found.held.dtype == kept and found.nbytes == 6 * np.dtype(kept).itemsize


def test_equal_rows_take_one_number() -> None:
    for column in (np.full(4, 7), np.broadcast_to(np.int64(7), 4), np.full(4, 7, dtype=np.int8), np.full(1, 2**40)):
        found = narrow_column(column)
        assert isinstance(found, Narrow) and found.nbytes == 8 and found.tolist() == column.tolist()
    none = narrow_column(np.zeros(0, dtype=np.int8))
    assert isinstance(none, Narrow) and none.tolist() == [] and none.dtype == np.int64
    texts = np.array(["a", "b"])
    assert narrow_column(texts) is texts  # type: ignore[arg-type]


SMALL = np.array([100, -100, 127, -128, 0])


def test_results_that_do_not_fit_into_the_bytes_of_a_row() -> None:
    """Sums and products of rows, with each other and with other numbers; fractions stay fractions."""
    column = narrow_column(SMALL)
    assert isinstance(column, Narrow) and column.held.dtype == np.int8
    for found, expected in (
        (column + column, SMALL + SMALL),
        (column * column, SMALL * SMALL),
        (column - 100, SMALL - 100),
        (100 * column, 100 * SMALL),
        (column << 9, SMALL << 9),
        (np.maximum(column, 300), np.maximum(SMALL, 300)),
        (-column, -SMALL),
        (np.abs(column), np.abs(SMALL)),
        (column + SMALL, SMALL + SMALL),
        (np.add.reduce(column), SMALL.sum()),
        (np.add.accumulate(column), SMALL.cumsum()),
        (np.multiply.outer(column, column), np.multiply.outer(SMALL, SMALL)),
        (column // 3, SMALL // 3),
        (column % 7, SMALL % 7),
    ):
        assert found.dtype == np.int64 and np.array_equal(found, expected)
    assert (column + 0.5).tolist() == (SMALL + 0.5).tolist() and (column / 8).tolist() == (SMALL / 8).tolist()


def test_comparisons_with_numbers_of_any_kind() -> None:
    column = narrow_column(SMALL)
    for other in (
        100,
        -128,
        300,
        -(2**40),
        2**40,
        127.5,
        -0.5,
        np.int64(127),
        np.int8(100),
        True,
        SMALL[::-1],
        SMALL + 0.5,
        narrow_column(SMALL * 300),
    ):
        for compare in (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal):
            wide = other.wide if isinstance(other, Narrow) else other
            assert compare(column, other).tolist() == compare(SMALL, wide).tolist()
            assert compare(other, column).tolist() == compare(wide, SMALL).tolist()
    assert np.logical_and(column, 256).tolist() == [True, True, True, True, False]


def test_a_narrow_column_is_no_place_for_results() -> None:
    column = narrow_column(SMALL)
    for out in (column, (column, np.zeros(5, dtype=np.int64)), (np.zeros(5, dtype=np.int64), column)):
        with pytest.raises(TypeError):
            (np.divmod if isinstance(out, tuple) else np.add)(SMALL, 2, out=out)
    free = np.zeros(5, dtype=np.int64)
    assert np.add(column, 1, out=free) is free and free.tolist() == (SMALL + 1).tolist()
    for name in ("nothing", "__nothing__"):
        with pytest.raises(AttributeError):
            getattr(column, name)
    assert np.asarray(column, dtype=np.int16).dtype == np.int16 and np.asarray(column).dtype == np.int64
    assert column[1] * 2**40 == -100 * 2**40 and next(iter(column)) * 2**40 == 100 * 2**40
    taken = column.wide
    taken[0] = 5
    assert column.tolist() == SMALL.tolist() and column.size == 5


def test_derived_columns_are_narrow_where_their_source_is() -> None:
    plain = np.array([1, 2, 3], dtype=np.int32)
    assert isinstance(as_kept(plain, narrow_column(SMALL)), Narrow)
    wide = as_kept(plain, SMALL)
    assert type(wide) is np.ndarray and wide.dtype == np.int64 and wide.tolist() == [1, 2, 3]


def test_which_columns_of_a_fabric_are_narrow() -> None:
    """Those over links, cables, circuits and absent links, with the devices at both ends; and back."""
    f = superpod(2, 2, 2, 2).build()
    before = {k: v.copy() for k, v in vars(f).items() if isinstance(v, np.ndarray)}
    assert f.device_a.dtype == np.int64 and f.device_b.dtype == np.int64
    assert narrow_fabric_columns(f) is f
    chosen = {k for k, v in before.items() if k.split("_")[0] in ("link", "cable", "circuit", "absent") and v.dtype == np.int64}
    assert {k for k, v in vars(f).items() if isinstance(v, Narrow)} == chosen | {"device_a", "device_b"}
    assert isinstance(f.absent_reserved, np.ndarray) and isinstance(f.port_base, np.ndarray)
    widen_fabric_columns(f)
    for name, column in before.items():
        found = getattr(f, name)
        assert type(found) is np.ndarray and found.dtype == column.dtype and found.tolist() == column.tolist()
    loose = SimpleNamespace(link_a=np.array([1, 2]), links=np.array([1, 2]), device_c=np.array([1, 2]))
    narrow_fabric_columns(loose)  # type: ignore[arg-type]
    assert [type(x) for x in vars(loose).values()] == [Narrow, np.ndarray, np.ndarray]
