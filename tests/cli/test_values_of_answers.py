"""Values of kept answers as JSON and back: the exact form of each kind, and what is refused."""

from __future__ import annotations

import json
from datetime import date, datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tdsl.answers.form import NotKept, value_read, value_written
from tdsl.semantics.quantity import LENGTH, Quantity
from tdsl.semantics.values import BareWord, Dims, ModelValue, WholeRange

FORMS: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (0, 0),
    (-7, -7),
    ("text", "text"),
    (1.5, ["float", "0x1.8000000000000p+0"]),
    (float("inf"), ["float", "inf"]),
    (Fraction(-3, 4), ["fraction", -3, 4]),
    (Quantity(Fraction(5, 2), LENGTH), ["quantity", 5, 2, *LENGTH]),
    (BareWord("ring"), ["word", "ring"]),
    (Dims((2, 3, 5)), ["dims", 2, 3, 5]),
    (WholeRange(4, 9), ["range", 4, 9]),
    (ModelValue("QM9700"), ["model", "QM9700"]),
    (date(2024, 2, 29), ["date", "2024-02-29"]),
    ((1, "a"), ["tuple", 1, "a"]),
    ([1, (2,)], ["list", 1, ["tuple", 2]]),
    ({"a": Fraction(1, 2), 3: [None]}, ["mapping", ["a", ["fraction", 1, 2]], [3, ["list", None]]]),
]


@pytest.mark.parametrize(("value", "form"), FORMS, ids=lambda x: repr(x)[:40])
def test_each_kind_has_one_form_and_comes_back(value: Any, form: Any) -> None:
    assert value_written(value) == form
    again = value_read(json.loads(json.dumps(form)))
    assert again == value and type(again) is type(value)


@pytest.mark.parametrize(
    ("value", "form"), [(np.int64(7), 7), (np.bool_(True), True), (np.float64(0.5), ["float", "0x1.0000000000000p-1"])]
)
def test_numbers_of_numpy_are_written_as_those_of_python(value: Any, form: Any) -> None:
    assert value_written(value) == form
    assert type(value_written(value)) is type(form)


@pytest.mark.parametrize(
    ("value", "kind"),
    [(object(), "object"), ({1, 2}, "set"), (b"a", "bytes"), (datetime(2024, 1, 1), "datetime"), (1j, "complex")],
    ids=["object", "set", "bytes", "datetime", "complex"],
)
def test_a_value_of_another_kind_is_refused(value: Any, kind: str) -> None:
    for given in (value, [value], (1, value), {"a": value}):
        with pytest.raises(NotKept, match=rf"^a value of type {kind}$"):
            value_written(given)


def test_a_form_of_another_kind_is_refused() -> None:
    for given in (["strange", 1], ["list", ["strange"]]):
        with pytest.raises(NotKept, match=r"^a value of kind strange$"):
            value_read(given)
