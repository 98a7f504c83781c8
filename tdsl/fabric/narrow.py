"""Columns of whole numbers in as few bytes as their numbers need, which every reader meets as 64 bits.

Sums and products of 32-bit columns would wrap without a word. So a narrow column is no numpy array: whatever
is read of it, one number, some rows or all of them, comes out as 64-bit integers, and only what is kept is
small.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tdsl.fabric.graph import Fabric, Ints

KINDS = (np.int8, np.int16, np.int32)
COMPARED = {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}


class Narrow(NDArrayOperatorsMixin):
    """A column that cannot be written, kept in 8, 16 or 32 bits a row, or in none where all rows have one
    number."""

    __slots__ = ("held",)

    def __init__(self, held: NDArray[np.signedinteger[Any]]) -> None:
        self.held = held

    @property
    def wide(self) -> Ints:
        """All rows, in an array of their own."""
        return self.held.astype(np.int64)

    @property
    def nbytes(self) -> int:
        """Bytes that are kept."""
        return self.held.itemsize if self.held.strides == (0,) else self.held.nbytes

    @property
    def dtype(self) -> np.dtype[np.int64]:
        """What readers get."""
        return np.dtype(np.int64)

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows, as numpy says it."""
        return self.held.shape

    @property
    def size(self) -> int:
        """Rows."""
        return self.held.size

    def __len__(self) -> int:
        return len(self.held)

    def __getitem__(self, key: Any) -> Any:
        return self.held[key].astype(np.int64)

    def __iter__(self) -> Iterator[np.int64]:
        return iter(self.wide)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a narrow column is read as a copy")
        return self.held.astype(np.int64 if dtype is None else dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        if "out" in settings and any(isinstance(x, Narrow) for x in settings["out"]):
            return NotImplemented  # it cannot be written
        if method == "__call__" and ufunc in COMPARED and all(isinstance(x, (Narrow, int)) for x in inputs):
            read = [
                x.held if isinstance(x, Narrow) else np.int64(x) for x in inputs
            ]  # no row is changed by comparing
        else:
            read = [x.wide if isinstance(x, Narrow) else x for x in inputs]
        return getattr(ufunc, method)(*read, **settings)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # such as what copy and numpy ask for to learn what this is
            raise AttributeError(name)
        return getattr(self.wide, name)

    def __reduce__(self) -> tuple[type[Narrow], tuple[NDArray[Any]]]:
        return Narrow, (self.held,)


def narrow_column(column: NDArray[np.signedinteger[Any]]) -> Ints:
    """The column in as few bytes as its numbers need. Read as ``Ints``: rows of it and what is computed of it
    are 64 bits."""
    if isinstance(column, Narrow) or column.dtype.kind != "i":
        return cast("Ints", column)
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    if column.strides == (0,) or low == high:
        return cast("Ints", Narrow(np.broadcast_to(np.int64(low), len(column))))
    for kind in KINDS:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return cast("Ints", Narrow(column.astype(kind, copy=False)))
    return column.astype(np.int64, copy=False)


def as_kept(column: NDArray[np.signedinteger[Any]], other: Ints) -> Ints:
    """A derived column: narrow where the one that it is derived from is, else a numpy array."""
    return narrow_column(column) if isinstance(other, Narrow) else column.astype(np.int64, copy=False)


def narrow_fabric_columns(fabric: Fabric) -> Fabric:
    """The fabric itself, whose columns over links, cables and circuits are narrow."""
    for name, column in list(vars(fabric).items()):
        if name.startswith(("link_", "cable_", "circuit_", "absent_")) or name in ("device_a", "device_b"):
            setattr(fabric, name, narrow_column(column))
    return fabric


def widen_fabric_columns(fabric: Fabric) -> None:
    """Have the columns of a fabric be numpy arrays, which other programs take as they are."""
    for name, column in vars(fabric).items():
        if isinstance(column, Narrow):
            object.__setattr__(fabric, name, column.wide)


__all__ = ["Narrow", "as_kept", "narrow_column", "narrow_fabric_columns", "widen_fabric_columns"]
