"""Values of every type: their type's name, their text, and as JSON has them; long numbers in messages."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.quantity import LENGTH, RATE, Quantity
from tdsl.semantics.values import (
    TYPE_NAMES,
    BareWord,
    Dims,
    ModelValue,
    Value,
    WholeRange,
    a_type,
    fits_type,
    integer_if_whole,
    json_value,
    number_in_message,
    text_of,
)

GBPS = Quantity(Fraction(10**9), RATE)
VALUES: list[tuple[Value, str, str, Any]] = [  # value, type with its article, text, JSON
    (True, "a bool", "true", True),
    (False, "a bool", "false", False),
    (7, "an int", "7", 7),
    (-7, "an int", "-7", -7),
    (Fraction(4, 2), "a ratio", "2", 2),
    (Fraction(-1, 4), "a ratio", "-1/4", -0.25),
    ("ab", "a string", "ab", "ab"),
    (BareWord("NDR"), "a string", "NDR", "NDR"),
    (GBPS, "a rate", "1Gbps", 10**9),
    (Quantity(Fraction(1, 2), LENGTH), "a length", "500mm", 0.5),
    (Quantity(Fraction(1), (0, 0, 2, 0, 0, 0, 0, 0)), "a m^2", "1 m^2", 1),
    (Dims((4, 2)), "a dims", "4x2", "4x2"),
    (WholeRange(1, 3), "a range", "1..3", "1..3"),
    (ModelValue("H"), "a model", "H", "H"),
    (BUILTINS["min"], "a function", "min", "min"),
    ((), "a list", "[]", []),
    ((1, (True, Fraction(1, 2)), BareWord("x")), "a list", "[1, [true, 1/2], x]", [1, [True, 0.5], "x"]),
]


@pytest.mark.parametrize(("value", "kind", "text", "data"), VALUES)
def test_types_and_texts(value: Value, kind: str, text: str, data: Any) -> None:
    assert a_type(value) == kind
    assert text_of(value) == text
    found = json_value(value)
    assert json.dumps(found) == json.dumps(data) and type(found) is type(data)


@pytest.mark.parametrize(("value", "kind"), [(v, k.split(" ", 1)[1]) for v, k, *_ in VALUES])
def test_where_a_value_fits(value: Value, kind: str) -> None:
    """A whole number is a ratio, too, and a list a table; nothing else is of two types."""
    also = {"int": {"ratio"}, "list": {"table"}}.get(kind, set())
    assert {name for name in TYPE_NAMES if fits_type(value, name)} == ({kind} & set(TYPE_NAMES)) | also


def test_whole_numbers() -> None:
    assert integer_if_whole(Fraction(6, 3)) == 2 and type(integer_if_whole(Fraction(6, 3))) is int
    for value in (Fraction(1, 2), True, "1", GBPS, 3):
        assert integer_if_whole(value) is value


@pytest.mark.parametrize(("low", "high", "size"), [(1, 3, 3), (3, 3, 1), (4, 3, 0), (9, 3, 0), (-2, 2, 5)])
def test_numbers_of_a_range(low: int, high: int, size: int) -> None:
    assert WholeRange(low, high).size == size == len(range(low, high + 1))


def test_long_numbers() -> None:
    """All digits below 10^15; above, a power of ten that the number surely reaches, and that is near it."""
    assert [number_in_message(n) for n in (0, 999, 1000, -1234567)] == ["0", "999", "1,000", "-1,234,567"]
    assert number_in_message(10**15 - 1) == "999,999,999,999,999" and number_in_message(1 - 10**15) == "-999,999,999,999,999"
    for n in (10**15, 10**15 + 1, 3 * 10**20, 10**100 - 1, 10**100, 2**4000):
        text = number_in_message(n)
        digits = int(text.removeprefix("more than 10^"))
        assert 10**digits <= n < 10 ** (digits + 2)
        assert number_in_message(-n) == f"less than -10^{digits}"
    assert number_in_message(2**1000) == "more than 10^301" and number_in_message(2**63) == "more than 10^18"
