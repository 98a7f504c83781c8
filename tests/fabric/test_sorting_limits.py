"""Sorting of columns where several keys just fit into one word, and of other kinds of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from tdsl.fabric import order

RNG = np.random.default_rng(5)


def column(size: int, rows: int, low: int = 0) -> np.ndarray:
    """Numbers from ``low`` on, of which the least and the greatest of ``size`` occur."""
    found = RNG.integers(0, size, rows)
    found[:2] = 0, size - 1
    RNG.shuffle(found)
    return found + low


@pytest.mark.parametrize("small", [0, 1 << 12])
@pytest.mark.parametrize("rows", [3, 64, 65, 4097])
def test_keys_that_fit_into_one_word_and_that_do_not(small: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the number of the row, with the keys alone, and not at all."""
    monkeypatch.setattr(order, "SMALL", small)
    bits = (rows - 1).bit_length()
    for total in (20, 62 - bits, 63 - bits, 64 - bits, 61, 62, 63, 64, 90):
        for first in (1, total // 2):
            second = min(total - first, 62)
            for wider in (0, 1):
                keys = [column(max((1 << min(first, 62)) + wider, 2), rows, -7), column(max((1 << second) + wider, 2), rows, 9)]
                assert order.by_keys(*keys).tolist() == np.lexsort(keys[::-1]).tolist()
                keys.append(column(2, rows, -1))
                assert order.by_keys(*keys).tolist() == np.lexsort(keys[::-1]).tolist()


@pytest.mark.parametrize("small", [0, order.SMALL])
@pytest.mark.parametrize("rows", [1, 2, 5, 4097])
def test_rows_that_are_in_order(small: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys are not changed, whatever the order of the rows."""
    monkeypatch.setattr(order, "SMALL", small)
    up = np.arange(rows) // 3
    for key in (up, up[::-1].copy(), np.zeros(rows, dtype=np.int64), np.append(up[1:], 0)):
        for keys in ((key,), (key, up), (key, up[::-1].copy()), (np.zeros(rows, dtype=np.int64), key)):
            before = [k.copy() for k in keys]
            found = order.by_keys(*keys)
            assert found.dtype == np.int64 and found.tolist() == np.lexsort(keys[::-1]).tolist()
            assert all((k == b).all() for k, b in zip(keys, before, strict=True))


@pytest.mark.parametrize("small", [0, order.SMALL])
@pytest.mark.parametrize("rows", [1, 2, 4097])
def test_distinct_values_and_their_ranks(small: int, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dense and sparse numbers on both sides of 0, truth values, fractions and texts."""
    monkeypatch.setattr(order, "SMALL", small)
    for spread in (1, 2, rows, 4 * rows, 4 * rows + 1, 4 * rows + 2, 100 * rows):
        for low in (-spread // 2, 0, 1000):
            values = RNG.integers(low, low + spread + 1, rows)
            values[[0, -1]] = low + spread, low
            found, place = np.unique(values, return_inverse=True)
            assert order.distinct_values(values).tolist() == found.tolist()
            ranked, places = order.rank_values(values)
            assert (ranked.tolist(), places.tolist(), places.dtype) == (found.tolist(), place.tolist(), np.int64)
    for values in (RNG.integers(0, 2, rows) > 0, RNG.random(rows).round(2), RNG.integers(0, 9, rows).astype(str)):
        found = order.distinct_values(values)
        assert (found.dtype, found.tolist()) == (values.dtype, np.unique(values).tolist())


def test_numbers_among_rows_of_the_same_key() -> None:
    assert order.number_within_key(np.zeros(0, dtype=np.int64)).tolist() == []
    assert order.number_within_key(np.array([4, 4, 2, 2, 2, 9, 4])).tolist() == [0, 1, 0, 1, 2, 0, 0]
    assert order.number_within_key(np.array([7])).tolist() == [0]
    assert order.number_within_key(np.array([1, 1, 1])).tolist() == [0, 1, 2]
