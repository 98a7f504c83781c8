"""Units as types: exact quantities with dimensions, and the unit table.

A dimension is a tuple of exponents over the base bit, second, metre, watt, kilogram, dollar, rack unit,
decibel, floating-point operation. Rates are bits per second in one direction; ``GB/s`` says bytes. Prefixes
of rates and sizes are decimal.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from tdsl.system.lazy_dataclass import dataclass

BASE = ("b", "s", "m", "W", "kg", "$", "U", "dB", "flop")
Dim = tuple[int, int, int, int, int, int, int, int, int]

NONE: Dim = (0, 0, 0, 0, 0, 0, 0, 0, 0)
RATE: Dim = (1, -1, 0, 0, 0, 0, 0, 0, 0)
SIZE: Dim = (1, 0, 0, 0, 0, 0, 0, 0, 0)
TIME: Dim = (0, 1, 0, 0, 0, 0, 0, 0, 0)
LENGTH: Dim = (0, 0, 1, 0, 0, 0, 0, 0, 0)
POWER: Dim = (0, 0, 0, 1, 0, 0, 0, 0, 0)
MASS: Dim = (0, 0, 0, 0, 1, 0, 0, 0, 0)
MONEY: Dim = (0, 0, 0, 0, 0, 1, 0, 0, 0)
UNITS: Dim = (0, 0, 0, 0, 0, 0, 1, 0, 0)
LOSS: Dim = (0, 0, 0, 0, 0, 0, 0, 1, 0)
COMPUTE: Dim = (0, -1, 0, 0, 0, 0, 0, 0, 1)
FREQUENCY: Dim = (0, -1, 0, 0, 0, 0, 0, 0, 0)

KIND_NAMES: dict[Dim, str] = {
    RATE: "rate",
    SIZE: "size",
    TIME: "time",
    LENGTH: "length",
    POWER: "power",
    MASS: "mass",
    MONEY: "money",
    UNITS: "units",
    LOSS: "loss",
    COMPUTE: "compute rate",
    FREQUENCY: "frequency",
}


HOUR = 3_600
YEAR = 31_557_600
"""Seconds. A year is the Julian one of 365.25 days (IAU), a month a twelfth of it: 730.5 hours."""


def _build_unit_table() -> dict[str, tuple[Fraction, Dim]]:
    out: dict[str, tuple[Fraction, Dim]] = {}
    for prefix, power in (("", 0), ("k", 3), ("K", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)):
        scale = Fraction(10) ** power
        if prefix != "K":
            out[f"{prefix}bps"] = (scale, RATE)
            out[f"{prefix}b/s"] = (scale, RATE)
            out[f"{prefix}W"] = (scale, POWER)
            out[f"{prefix}flops"] = (scale, COMPUTE)
        out[f"{prefix}B/s"] = (8 * scale, RATE)
        out[f"{prefix}B"] = (8 * scale, SIZE)
    for prefix, power in (("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40)):
        out[f"{prefix}B"] = (8 * Fraction(2) ** power, SIZE)
    for name, power in (("s", 0), ("ms", -3), ("us", -6), ("ns", -9), ("ps", -12)):
        out[name] = (Fraction(10) ** power, TIME)
    spans = {"min": 60, "h": HOUR, "day": 24 * HOUR, "week": 168 * HOUR, "month": YEAR // 12, "year": YEAR}
    for name, seconds in spans.items():
        out[name] = (Fraction(seconds), TIME)
    for name, power in (("m", 0), ("km", 3), ("cm", -2), ("mm", -3)):
        out[name] = (Fraction(10) ** power, LENGTH)
    out["kg"] = (Fraction(1), MASS)
    out["g"] = (Fraction(1, 1000), MASS)
    out["t"] = (Fraction(1000), MASS)
    out["$"] = (Fraction(1), MONEY)
    out["U"] = (Fraction(1), UNITS)
    out["dB"] = (Fraction(1), LOSS)
    out["ns/m"] = (Fraction(1, 10**9), (0, 1, -1, 0, 0, 0, 0, 0, 0))
    out["us/km"] = (Fraction(1, 10**9), (0, 1, -1, 0, 0, 0, 0, 0, 0))
    out["dB/km"] = (Fraction(1, 1000), (0, 0, -1, 0, 0, 0, 0, 1, 0))
    out["kg/m"] = (Fraction(1), (0, 0, -1, 0, 1, 0, 0, 0, 0))
    return out


UNIT_TABLE: dict[str, tuple[Fraction, Dim]] = _build_unit_table()
"""Unit -> (how many of the base it is, dimension)."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact amount in base units, and what it measures."""

    amount: Fraction
    dim: Dim

    def __str__(self) -> str:
        return quantity_text(self)


def kind_name(dim: Dim) -> str:
    """The dimension in words: ``rate``, ``length``, or its formula such as ``s·m^-1``."""
    if dim == NONE:
        return "number"
    named = KIND_NAMES.get(dim)
    if named:
        return named
    return "·".join(b if e == 1 else f"{b}^{e}" for b, e in zip(BASE, dim, strict=True) if e)


def decimal_text(value: Fraction) -> str:
    """A number in digits: exact where it is whole, else to six digits."""
    if value.denominator == 1:
        return str(value.numerator)
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        return f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}"


def _with_unit_prefix(value: Fraction, unit: str, steps: tuple[tuple[str, int], ...]) -> str:
    best = steps[0]
    for step in steps:
        if abs(value) >= Fraction(10) ** step[1]:
            best = step
    return f"{decimal_text(value / Fraction(10) ** best[1])}{best[0]}{unit}"


_UP = (("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15))


def byte_rate_text(bps: int | Fraction) -> str:
    """A rate in byte/s, from bit/s: ``50GB/s``."""
    return _with_unit_prefix(Fraction(bps) / 8, "B/s", _UP)


def quantity_text(q: Quantity) -> str:
    """The quantity as a person writes it: ``400Gbps``, ``3m``, ``1.7kW``, ``$1200``."""
    if q.dim == RATE:
        return _with_unit_prefix(q.amount, "bps", _UP)
    if q.dim == SIZE:
        return _with_unit_prefix(q.amount / 8, "B", _UP)
    if q.dim == COMPUTE:
        return _with_unit_prefix(q.amount, "flops", _UP)
    if q.dim == POWER:
        return _with_unit_prefix(q.amount, "W", _UP[:3])
    if q.dim == TIME and q.amount and q.amount % 86_400 == 0:
        return f"{decimal_text(q.amount / 86_400)}day"
    if q.dim == TIME:
        return _with_unit_prefix(q.amount, "s", (("p", -12), ("n", -9), ("u", -6), ("m", -3), ("", 0)))
    if q.dim == LENGTH:
        return _with_unit_prefix(q.amount, "m", (("m", -3), ("", 0), ("k", 3)))
    if q.dim == MONEY:
        return f"${decimal_text(q.amount)}"
    if q.dim == FREQUENCY:
        return f"{decimal_text(q.amount * YEAR * 100)}%/year"
    if q.dim in KIND_NAMES:
        return f"{decimal_text(q.amount)}{ {MASS: 'kg', UNITS: 'U', LOSS: 'dB'}[q.dim] }"
    return f"{decimal_text(q.amount)} {kind_name(q.dim)}"
