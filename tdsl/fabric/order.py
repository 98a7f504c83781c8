"""Sorting of columns of whole numbers: distinct values, their ranks, the order by several keys.

The range of the numbers is mostly known to be small (devices, ports, links), so a flag for each number, or
several keys in one word, answer sooner than a hash or a sort by one key after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.vector import Array

SMALL = 1 << 12
"""Up to so many numbers numpy's own way is as fast."""
WORD = (1 << 63) - 1
DIGIT = 1 << 16


def distinct_values(values: NDArray[Any]) -> Array:
    """The different values, ascending: ``np.unique`` of whole numbers."""
    flat = np.ravel(values)
    if len(flat) <= SMALL or flat.dtype.kind not in "iu":
        return np.asarray(np.unique(flat))
    low, high = int(flat.min()), int(flat.max())
    if high - low <= 4 * len(flat):
        there = np.zeros(high - low + 1, dtype=np.bool_)
        there[np.subtract(flat, low, dtype=np.int64)] = True  # 8 and 16 bits do not hold the difference
        return np.asarray((np.flatnonzero(there) + low).astype(flat.dtype, copy=False))
    ordered = np.sort(flat)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])])


def rank_values(values: Array) -> tuple[Array, Array]:
    """The different values, ascending, and for every value its place among them."""
    if len(values) <= SMALL:
        found, place = np.unique(values, return_inverse=True)
        return found, place.ravel()
    if bool((values == values[0]).all()):
        return values[:1], np.zeros(len(values), dtype=np.int64)
    found = distinct_values(values)
    low, high = int(found[0]), int(found[-1])
    if high - low > 4 * len(values):
        return found, np.searchsorted(found, values)
    table = np.zeros(high - low + 1, dtype=np.int64)
    table[np.subtract(found, low, dtype=np.int64)] = np.arange(len(found), dtype=np.int64)
    return found, table[np.subtract(values, low, dtype=np.int64)]


def by_keys(*keys: Array) -> Array:
    """The rows in ascending order of the first key, then of the next; equal rows keep their order.

    ``np.lexsort`` of the keys from the last to the first.
    """
    rows = len(keys[0])
    if rows <= SMALL:
        return np.lexsort(keys[::-1])
    word: Array | None = None
    room = 1
    for key in keys:
        low = int(key.min())
        size = int(key.max()) - low + 1
        room *= size
        if room > WORD:
            return np.lexsort(keys[::-1])
        if word is None:
            word = key.astype(np.int64)
            word -= low
        elif size > 1:
            word *= size
            word += key
            word -= low
    assert word is not None
    if bool((word[1:] >= word[:-1]).all()):
        return np.arange(rows, dtype=np.int64)
    if rows <= room <= 2 * rows:
        found = _rows_by_place(word, room)
        if found is not None:
            return found
    if DIGIT < room <= DIGIT * DIGIT:  # numpy sorts 16 bits by counting, and keeps the order of equal ones
        low_digit = np.argsort((word & (DIGIT - 1)).astype(np.uint16), kind="stable")
        high_digit = (word[low_digit] >> 16).astype(np.uint16)
        return low_digit[np.argsort(high_digit, kind="stable")]
    bits = (rows - 1).bit_length()
    if room > WORD >> bits:
        return np.argsort(word, kind="stable")
    # The row's number in the same word makes every word different, so that the fastest sort of numpy is
    # stable as well.
    word <<= bits
    word |= np.arange(rows, dtype=np.int64)
    word.sort()
    word &= (1 << bits) - 1
    return word


def _rows_by_place(word: Array, room: int) -> Array | None:
    """The rows in ascending order of numbers below ``room``, None where two are equal."""
    kind = np.int32 if room < 1 << 31 else np.int64
    place: NDArray[Any] = np.full(room, -1, dtype=kind)
    place[word] = np.arange(len(word), dtype=kind)
    found = place[place >= 0]
    return found.astype(np.int64, copy=False) if len(found) == len(word) else None


def number_within_key(keys: Array) -> Array:
    """For every row its number among the rows of the same key, in their order: 0 for the first. Equal keys
    stand together."""
    if not len(keys):
        return np.zeros(0, dtype=np.int64)
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    out = np.arange(len(keys), dtype=np.int64)
    out -= np.repeat(begins, np.diff(np.append(begins, len(keys))))
    return out
