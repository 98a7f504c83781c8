"""Spares and lead times: numbers of pieces and of days, and the ways to write them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest

from tdsl.semantics.supply import Spares, lead_days, parse_spares


@pytest.mark.parametrize("percent", [0, 1, 2, 5, 50, 100, 150])
def test_pieces_to_order(percent: int) -> None:
    """A share of the pieces that are built in, rounded up, and a number beside it."""
    for quantity in (0, 1, 3, 49, 50, 51, 100, 101):
        for count in (0, 4):
            assert Spares(Fraction(percent, 100), count).of(quantity) == ceil(percent * quantity / 100) + count


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2%", Spares(share=Fraction(1, 50))),
        ("2.5%", Spares(share=Fraction(1, 40))),
        (" 0.125% ", Spares(share=Fraction(1, 800))),
        ("4", Spares(count=4)),
        ("0", Spares()),
        ("1_000", Spares(count=1000)),
        ("999999", Spares(count=999_999)),
        ("1000000", None),
        ("2.5", None),
        ("2 %", None),
        ("-2", None),
        ("two", None),
        ("", None),
        ("4 5", None),
    ],
)
def test_spares(text: str, expected: Spares | None) -> None:
    assert parse_spares(text) == expected


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("26 weeks", 182), ("26week", 182), ("1 week", 7), ("90 days", 90), (" 90day ", 90), ("0 days", 0), ("99999day", 99_999),
        ("100000day", None), ("5 months", None), ("5", None), ("week", None), ("1.5 weeks", None), ("2  weeks", None),
    ],
)  # fmt: skip
def test_lead_times(text: str, days: int | None) -> None:
    assert lead_days(text) == days
