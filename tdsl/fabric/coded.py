"""Columns of a table as few values and numbers that choose among them: a million rows cost four bytes each,
no Python objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.order import rank_values

Integers = NDArray[np.integer]
DENSE = 1 << 22
"""Up to so many combinations of codes are marked in an array; more are sorted."""


class Coded:
    """A column whose row ``i`` is ``values[codes[i]]``."""

    __slots__ = ("codes", "values")

    def __init__(self, values: Sequence[object] | NDArray[np.object_], codes: Integers) -> None:
        self.values: Sequence[object] = values.tolist() if isinstance(values, np.ndarray) else values
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, order: Callable[[Integers], Integers]) -> Coded:
        """The rows that ``order`` picks of a column of numbers."""
        return Coded(self.values, order(self.codes))

    def tolist(self) -> list[object]:
        """The value of every row."""
        objects = np.empty(len(self.values), dtype=object)
        objects[:] = list(self.values)
        found: list[object] = objects[self.codes].tolist()
        return found


class Numbers:
    """A column of whole numbers, in which one number, if any, stands for the empty cell."""

    __slots__ = ("blank", "codes")

    def __init__(self, numbers: Integers, blank: int | None = None) -> None:
        self.codes, self.blank = numbers, blank

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, order: Callable[[Integers], Integers]) -> Numbers:
        """The rows that ``order`` picks of a column of numbers."""
        return Numbers(order(self.codes), self.blank)

    def tolist(self) -> list[object]:
        """The value of every row, "" where it is empty."""
        found: list[object] = self.codes.tolist()
        return found if self.blank is None else ["" if n == self.blank else n for n in found]


class Joined:
    """A column of texts, each the pieces of its row one after the other. ``blank``: a row may be the empty
    text."""

    __slots__ = ("blank", "pieces", "size")

    def __init__(self, *pieces: str | Coded, blank: bool = False) -> None:
        self.pieces, self.blank = pieces, blank
        self.size = next(len(p) for p in pieces if isinstance(p, Coded))

    def __len__(self) -> int:
        return self.size

    def take(self, order: Callable[[Integers], Integers]) -> Joined:
        """The rows that ``order`` picks of a column of numbers."""
        return Joined(*(p if isinstance(p, str) else p.take(order) for p in self.pieces), blank=self.blank)

    def tolist(self) -> list[object]:
        """The text of every row."""
        columns = [[p] * self.size if isinstance(p, str) else p.tolist() for p in self.pieces]
        return ["".join(map(str, row)) for row in zip(*columns, strict=True)]


Compact = Coded | Numbers | Joined
RowReader = Callable[[slice | Integers], list[object]]


def read_rows_of_column(column: Sequence[object] | Compact) -> RowReader:
    """What gives the values of some rows of a column, a slice or their numbers, without making those of the
    others."""
    if isinstance(column, Coded):
        objects, codes = np.empty(len(column.values), dtype=object), numbers_in_32_bits(column.codes)
        objects[:] = list(column.values)
        return lambda rows: list(objects[codes[rows]])
    if isinstance(column, Numbers):
        numbers, blank = numbers_in_32_bits(column.codes), column.blank
        return lambda rows: Numbers(numbers[rows], blank).tolist()
    if isinstance(column, Joined):
        pieces = [p if isinstance(p, str) else read_rows_of_column(p) for p in column.pieces]

        def texts(rows: slice | Integers) -> list[object]:
            columns = [repeat(p) if isinstance(p, str) else map(str, p(rows)) for p in pieces]
            return ["".join(row) for row in zip(*columns, strict=False)]

        return texts
    return lambda rows: list(column[rows]) if isinstance(rows, slice) else [column[i] for i in rows.tolist()]


def numbers_in_32_bits(numbers: Integers) -> Integers:
    """Numbers in 32 bits where they fit."""
    fit = (
        numbers.itemsize < 4
        or not len(numbers)
        or (int(numbers.max()) < 1 << 31 and int(numbers.min()) >= -(1 << 31))
    )
    return numbers.astype(np.int32, copy=False) if fit else numbers


def coded_constant(value: object, rows: int) -> Coded:
    """A column of one value, which takes no memory by its rows."""
    return Coded([value], np.broadcast_to(np.zeros(1, np.int32), rows))


def coded_number_sets(rows: Integers, numbers: Integers, size: int) -> Coded:
    """A column of the different numbers of each of ``size`` rows, ascending: one as it is, several joined by
    blanks, none as "". Each number stands beside its row."""
    width = int(numbers.max(initial=-1)) + 1
    low, high = np.full(size, width), np.full(size, -1)
    np.minimum.at(low, rows, numbers)
    np.maximum.at(high, rows, numbers)
    several = low < high
    place = np.cumsum(several) - 1
    here = several[rows]
    there = np.zeros(
        (int(several.sum()), width), dtype=bool
    )  # which numbers occur in each row that has several
    there[place[rows[here]], numbers[here]] = True
    packed = np.packbits(there, axis=1, bitorder="little")
    if width < 63:  # the numbers of a row are the bits of one word
        words = np.zeros((len(packed), 8), np.uint8)
        words[:, : packed.shape[1]] = packed
        keys, codes = rank_values(words.view("<i8").ravel())
        found = keys.astype("<i8").view(np.uint8).reshape(-1, 8)
    else:
        found, codes = np.unique(packed, axis=0, return_inverse=True)
    names = [
        " ".join(map(str, np.flatnonzero(row).tolist()))
        for row in np.unpackbits(found, axis=1, bitorder="little")
    ]
    low[several] = width + 1 + codes.ravel()
    return Coded([*range(width), "", *names], low)


def coded_combination(pick: Callable[..., object], *axes: tuple[int, Integers]) -> Coded:
    """A column that depends on several columns of codes, each given with the number of its codes: ``pick`` is
    called once for each combination that occurs."""
    sizes = [size for size, _ in axes]
    total = int(np.prod(sizes, dtype=np.float64))
    codes: Integers = axes[0][1].astype(np.int32 if total < 1 << 31 else np.int64)
    for size, column in axes[1:]:
        codes *= size
        codes += column.astype(codes.dtype, copy=False)
    if total <= DENSE:
        seen = np.zeros(total, dtype=bool)
        seen[codes] = True
        used = np.flatnonzero(seen)
        number = np.zeros(total, np.int32)
        number[used] = np.arange(len(used), dtype=np.int32)
        codes = number[codes]
    else:
        used, codes = np.unique(codes, return_inverse=True)
        codes = codes.ravel().astype(np.int32)
    places = np.unravel_index(used, sizes) if len(used) else [np.zeros(0, np.int64)] * len(sizes)
    return Coded([pick(*at) for at in zip(*(p.tolist() for p in places), strict=True)], codes)
