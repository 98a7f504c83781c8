"""Distinct values, ranks and the order by several keys are those of numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric import order

COLUMNS = st.lists(st.tuples(st.integers(-3, 40), st.integers(0, 5), st.integers(-(2**61), 2**61)), min_size=1, max_size=60)


@settings(max_examples=40)
@given(COLUMNS, st.sampled_from([np.int64, np.int32]), st.sampled_from([60, 2 * order.SMALL + 1]))
def test_as_numpy_answers(rows: list[tuple[int, int, int]], kind: type, size: int) -> None:
    near, few, far = (np.resize(np.array(c, dtype=np.int64), size) for c in zip(*rows, strict=True))
    for column in (near.astype(kind), few.astype(np.uint8), far, near.reshape(1, -1)):
        found = order.distinct_values(column)
        assert found.dtype == column.dtype and found.tolist() == np.unique(column).tolist()
    for column in (near, few, far):
        expected = np.unique(column, return_inverse=True)
        assert [x.tolist() for x in order.rank_values(column)] == [x.tolist() for x in expected]
    for keys in ((near,), (near, few), (few, near), (far, near), (few > 2, near)):
        assert order.by_keys(*keys).tolist() == np.lexsort(keys[::-1]).tolist()


def test_nothing_to_sort() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert not len(order.distinct_values(none)) and not len(order.by_keys(none, none)) and not len(order.rank_values(none)[0])


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.uint8, np.uint16])
def test_differences_that_the_type_does_not_hold(kind: type) -> None:
    """Numbers near the least and the greatest of a type, as dense as a table of all between needs."""
    low, high = int(np.iinfo(kind).min) + 10, int(np.iinfo(kind).max)
    low, high = (low, high) if high < 1 << 16 else (-40_000, 40_000)
    column = np.array([high, low] * (1 << 14), dtype=kind)
    assert order.distinct_values(column).tolist() == [low, high]
    assert [x.tolist() for x in order.rank_values(column)] == [[low, high], [1, 0] * (1 << 14)]
