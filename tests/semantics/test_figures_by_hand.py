"""Units, ranges, printed lines and what a host has inside, against figures written by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.report.excerpt import TAB, visible_line
from tdsl.semantics.operators import compare_values
from tdsl.semantics.quantity import LENGTH, LOSS, MASS, MONEY, POWER, RATE, SIZE, TIME, UNIT_TABLE, UNITS
from tdsl.semantics.values import WholeRange

HERE = SourceSpan(SourceFile("x.fab", "n in 1..3"), 0, 9)
FIGURES = {
    RATE: {"bps": 1, "kbps": 10**3, "Mb/s": 10**6, "Gbps": 10**9, "Tb/s": 10**12, "GB/s": 8 * 10**9, "KB/s": 8000},
    SIZE: {"B": 8, "kB": 8000, "KB": 8000, "MB": 8 * 10**6, "KiB": 8 << 10, "MiB": 8 << 20, "GiB": 8 << 30, "TiB": 8 << 40},
    TIME: {"s": 1, "ms": "1/1000", "us": "1/1000000", "ns": "1/1000000000", "ps": "1/1000000000000", "min": 60,
           "day": 86400, "week": 604800},
    LENGTH: {"m": 1, "km": 1000, "cm": "1/100", "mm": "1/1000"},
    POWER: {"W": 1, "kW": 1000, "MW": 10**6, "GW": 10**9},
    MASS: {"kg": 1, "g": "1/1000", "t": 1000},
    MONEY: {"$": 1}, UNITS: {"U": 1}, LOSS: {"dB": 1},
}  # fmt: skip


def test_units() -> None:
    """How much of the base unit of its kind each is; those of a length are of the two kinds, one of them divided."""
    for kind, found in FIGURES.items():
        for name, amount in found.items():
            assert UNIT_TABLE[name] == (Fraction(amount), kind), name
    for name, above, below in (("ns/m", "ns", "m"), ("us/km", "us", "km"), ("dB/km", "dB", "km"), ("kg/m", "kg", "m")):
        (x, dim), (y, other) = UNIT_TABLE[above], UNIT_TABLE[below]
        assert UNIT_TABLE[name] == (x / y, tuple(a - b for a, b in zip(dim, other, strict=True))), name


@pytest.mark.parametrize(("value", "found"), [(0, False), (1, True), (2, True), (3, True), (4, False), ("2", False)])
def test_ends_of_a_range_are_in_it(value: Any, found: bool) -> None:
    assert compare_values("in", value, WholeRange(1, 3), HERE) is found


@given(st.text(alphabet="ab \t", max_size=30))
@settings(max_examples=200)
def test_tabs_reach_the_next_stop(line: str) -> None:
    """As `str.expandtabs`, and every code point begins where the text before it ends."""
    found = visible_line(line)
    assert found.text == line.expandtabs(TAB)
    assert found.columns == tuple(len(line[:n].expandtabs(TAB)) for n in range(len(line) + 1))
