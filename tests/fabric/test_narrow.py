"""Narrow columns: whatever is read of one is what the 64-bit column gives, in values and in type."""

from __future__ import annotations

import copy
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tdsl.fabric.narrow import Narrow, narrow_column

BOUNDS = [0, 127, 128, -128, -129, 32767, 32768, -32769, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**62]
WIDE = st.one_of(st.sampled_from(BOUNDS), st.integers(-(2**62), 2**62), st.integers(-5, 5))
SMALL = arrays.arrays(np.int64, st.integers(1, 20), elements=st.integers(-130, 130))
COLUMNS = SMALL | st.lists(WIDE, min_size=1, max_size=20).map(lambda rows: np.array(rows, dtype=np.int64))
TAKEN = [
    lambda x: x[0], lambda x: x[-1:], lambda x: x[x > 0], lambda x: x[[0, 0]], lambda x: x[None, :], lambda x: x.max(), list, len,
    lambda x: np.where(x < 0, 0, x), lambda x: x.sum(), lambda x: np.sum(x), lambda x: np.max(x), lambda x: x.tolist(), np.unique,
    lambda x: np.concatenate([x, x, [5]]), lambda x: np.append(x, 7), lambda x: np.bincount(np.abs(x % 50)), lambda x: x.copy(),
    lambda x: np.arange(400)[x % 300], lambda x: -x, lambda x: ~x, lambda x: np.add.reduce(x), lambda x: np.diff(x), np.asarray,
    lambda x: x.astype(np.float64), np.flatnonzero, lambda x: np.array(x), lambda x: np.asarray(x, dtype=np.float64), np.sort,
    lambda x: x.dtype, lambda x: x.shape, lambda x: x.size, lambda x: 5 in x, lambda x: np.argsort(x, kind="stable"),
    lambda x: x.any(), lambda x: x[0].item(), lambda x: np.repeat(x, 2), lambda x: x.reshape(-1, 1),
]  # fmt: skip
PAIRS = [
    operator.add, operator.sub, operator.mul, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    operator.and_, operator.or_, operator.xor, np.minimum, np.maximum,
]  # fmt: skip


def same(found: object, wanted: object) -> None:
    assert type(found) is type(wanted)
    assert getattr(found, "dtype", None) == getattr(wanted, "dtype", None)
    assert np.array_equal(found, wanted)  # type: ignore[arg-type]


@given(COLUMNS)
def test_reading_gives_what_the_wide_column_gives(column: np.ndarray) -> None:
    for take in TAKEN:
        same(take(narrow_column(column)), take(column))


@given(COLUMNS, WIDE)
def test_arithmetic_is_in_64_bits(column: np.ndarray, number: int) -> None:
    with np.errstate(over="ignore"):
        for f in PAIRS:
            for other in (number, np.int64(number), column[::-1].copy()):
                same(f(narrow_column(column), other), f(column, other))
                same(f(other, narrow_column(column)), f(other, column))
            same(f(narrow_column(column), narrow_column(column)), f(column, column))


def test_it_cannot_be_written_and_can_be_copied() -> None:
    column = narrow_column(np.arange(5))
    assert isinstance(column, Narrow)
    with pytest.raises(TypeError):
        column[0] = 1
    with pytest.raises(TypeError):
        column += 1
    with pytest.raises(TypeError):
        np.add(column, 1, out=column)
    with pytest.raises(ValueError, match="copy"):
        np.array(column, copy=False)
    for again in (copy.copy(column), copy.deepcopy(column), pickle.loads(pickle.dumps(column))):
        assert isinstance(again, Narrow) and again.tolist() == column.tolist()
