"""Whole numbers of 64 bits where Python has 32: numpy in a browser counts rows in 32 bits, and products of
such rows would wrap without a word.

Once called, numpy's functions that give such rows give 64 bits, those that take them accept 64 bits, and one
number that does not fit into 32 bits is an error. What a method of an array gives is not reached: the limits
of the playground keep products of two devices' or links' rows below 2^31. tdsl itself names the 64 bits
wherever it makes a column.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

GIVE_ROWS = (
    "arange", "argmax", "argmin", "argpartition", "argsort", "argwhere", "bincount", "count_nonzero",
    "digitize", "flatnonzero", "indices", "lexsort", "nonzero", "searchsorted", "tril_indices",
    "triu_indices", "unique", "unravel_index", "where",
)  # fmt: skip
"""Functions whose answers are numbers of rows."""
ADD_UP = ("cumprod", "cumsum", "prod", "sum")
"""Functions that add or multiply in the default type."""
MAKE_ARRAYS = (
    "array",
    "asarray",
    "full",
    "stack",
    "vstack",
    "hstack",
    "concatenate",
    "append",
    "column_stack",
)
"""Functions that make an array of Python's own numbers."""
WITH_REDUCTIONS = (
    "add",
    "minimum",
    "maximum",
    "bitwise_or",
    "bitwise_and",
    "logical_or",
    "logical_and",
    "subtract",
)
"""Element-wise functions whose ``reduceat`` takes numbers of rows."""


def use_wide_integers() -> None:
    """Replace these functions of numpy, once. Does nothing where Python itself has 64 bits."""
    if np.dtype(np.intp).itemsize > 4 or isinstance(np.add, _WideReductions):
        return
    for name in GIVE_ROWS + MAKE_ARRAYS:
        setattr(np, name, _with_wide_answer(getattr(np, name)))
    for name in ADD_UP:
        setattr(np, name, _with_wide_sums(getattr(np, name)))
    for name in WITH_REDUCTIONS:
        setattr(np, name, _WideReductions(getattr(np, name)))
    np.repeat = _with_narrow_rows(np.repeat, 1, "repeats")
    np.bincount = _with_narrow_rows(np.bincount, 0, "x")
    np.take = _with_narrow_rows(np.take, 1, "indices")
    np.seterr(over="raise")


def _widen(answer: Any) -> Any:
    """64 bits for 32, in each part of an answer."""
    if isinstance(answer, tuple):
        parts = [_widen(x) for x in answer]
        return type(answer)(*parts) if hasattr(answer, "_fields") else tuple(parts)
    if isinstance(answer, (np.ndarray, np.generic)) and answer.dtype == np.int32:
        return answer.astype(np.int64)
    return answer


def _is_narrow(value: Any) -> bool:
    """Whether the caller gave 32 bits by intention."""
    if isinstance(value, (list, tuple)):
        return any(_is_narrow(x) for x in value)
    return getattr(value, "dtype", None) == np.int32


def _with_wide_answer(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with answers of 64 bits, but where its caller names a type or gives 32 bits."""
    keeps = function.__name__ in MAKE_ARRAYS

    def wide(*given: Any, **named: Any) -> Any:
        answer = function(*given, **named)
        if named.get("dtype") is not None or named.get("out") is not None:
            return answer
        if keeps and any(map(_is_narrow, given)):
            return answer
        if function.__name__ in ("array", "asarray", "arange", "full") and any(_is_type(x) for x in given):
            return answer
        if function.__name__ == "where" and len(given) == 3 and any(map(_is_narrow, given[1:])):
            return answer
        if function.__name__ == "unique":
            return _wide_unique(answer, given)
        return _widen(answer)

    wide.__name__ = function.__name__
    return wide


def _with_wide_sums(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which adds up whole numbers in 64 bits where its caller names no type."""

    def wide(array: Any, *given: Any, **named: Any) -> Any:
        if (
            named.get("dtype") is None
            and named.get("out") is None
            and np.asanyarray(array).dtype.kind in "bi"
        ):
            named = {**named, "dtype": np.int64}
        return function(array, *given, **named)

    wide.__name__ = function.__name__
    return wide


def _wide_unique(answer: Any, given: tuple[Any, ...]) -> Any:
    """Values keep the type of the array; places and counts are wide."""
    if not isinstance(answer, tuple):
        return answer if _is_narrow(given[0]) else _widen(answer)
    return (answer[0] if _is_narrow(given[0]) else _widen(answer[0]), *(_widen(x) for x in answer[1:]))


def _is_type(value: Any) -> bool:
    """Whether this is a type of numbers, given by position."""
    return isinstance(value, (type, np.dtype))


def _with_narrow_rows(function: Callable[..., Any], place: int, name: str) -> Callable[..., Any]:
    """The function with one argument of rows in Python's own bits. Raises OverflowError where one does not
    fit."""

    def narrow(*given: Any, **named: Any) -> Any:
        if name in named:
            named = {**named, name: _fit(named[name])}
        elif len(given) > place:
            given = (*given[:place], _fit(given[place]), *given[place + 1 :])
        return function(*given, **named)

    narrow.__name__ = function.__name__
    return narrow


def _fit(rows: Any) -> Any:
    """Numbers of rows in Python's own bits."""
    found = np.asanyarray(rows)
    if found.dtype != np.int64:
        return rows
    if found.size and (int(found.max()) > np.iinfo(np.intp).max or int(found.min()) < np.iinfo(np.intp).min):
        raise OverflowError(f"row {int(found.max()):,} is more than a browser can count")
    return found.astype(np.intp)


class _WideReductions:
    """An element-wise function whose ``reduceat`` accepts rows of 64 bits."""

    def __init__(self, function: np.ufunc) -> None:
        self.function = function

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.function(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def reduceat(self, array: Any, indices: Any, *given: Any, **named: Any) -> Any:
        """As numpy's."""
        return self.function.reduceat(array, _fit(indices), *given, **named)
