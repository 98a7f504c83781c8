"""The unit table, how quantities are shown, positions in row-major order, and prime powers, each against a definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tdsl.semantics.builtins import prime_power
from tdsl.semantics.model import Axis, indices_at_position
from tdsl.semantics.quantity import (
    BASE,
    COMPUTE,
    LENGTH,
    LOSS,
    MASS,
    MONEY,
    NONE,
    POWER,
    RATE,
    SIZE,
    TIME,
    UNIT_TABLE,
    UNITS,
    Dim,
    Quantity,
    quantity_text,
)

PER = {"ns/m": ("s", "m", "1e-9"), "us/km": ("s", "m", "1e-9"), "dB/km": ("dB", "m", "1e-3"), "kg/m": ("kg", "m", "1")}
DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}


def expected_units() -> dict[str, tuple[Fraction, dict[str, int]]]:
    """Unit -> (how many base units, exponents of the base), from the SI brochure and IEC 80000-13."""
    out: dict[str, tuple[Fraction, dict[str, int]]] = {}
    for prefix, scale in DECIMAL.items():
        out[f"{prefix}bps"] = out[f"{prefix}b/s"] = Fraction(scale), {"b": 1, "s": -1}
        out[f"{prefix}W"] = Fraction(scale), {"W": 1}
        out[f"{prefix}flops"] = Fraction(scale), {"flop": 1, "s": -1}
        out[f"{prefix}B/s"] = Fraction(8 * scale), {"b": 1, "s": -1}
        out[f"{prefix}B"] = Fraction(8 * scale), {"b": 1}
    out["KB/s"], out["KB"] = out["kB/s"], out["kB"]
    for i, prefix in enumerate("KMGT", 1):
        out[f"{prefix}iB"] = Fraction(8 * 1024**i), {"b": 1}
    for unit, base, value in (
        ("s", "s", "1"), ("ms", "s", "0.001"), ("us", "s", "0.000001"), ("ns", "s", "1e-9"), ("ps", "s", "1e-12"),
        ("min", "s", "60"), ("h", "s", "3600"), ("day", "s", "86400"), ("week", "s", "604800"),
        ("month", "s", "2629800"), ("year", "s", "31557600"),
        ("m", "m", "1"), ("km", "m", "1000"), ("cm", "m", "0.01"), ("mm", "m", "0.001"),
        ("kg", "kg", "1"), ("g", "kg", "0.001"), ("t", "kg", "1000"), ("$", "$", "1"), ("U", "U", "1"), ("dB", "dB", "1"),
    ):  # fmt: skip
        out[unit] = Fraction(value), {base: 1}
    for unit, (top, bottom, value) in PER.items():
        out[unit] = Fraction(value), {top: 1, bottom: -1}
    return out


def test_every_unit_has_its_size_and_dimension() -> None:

    found = {u: (scale, {b: e for b, e in zip(BASE, dim, strict=True) if e}) for u, (scale, dim) in UNIT_TABLE.items()}
    assert found == expected_units()


@pytest.mark.parametrize(
    ("amount", "dim", "text"),
    [
        ("0", RATE, "0bps"), ("999", RATE, "999bps"), ("1000", RATE, "1kbps"), ("999999", RATE, "999.999kbps"),
        ("1e6", RATE, "1Mbps"), ("400e9", RATE, "400Gbps"), ("51.2e12", RATE, "51.2Tbps"), ("1e15", RATE, "1Pbps"),
        ("1e18", RATE, "1000Pbps"), ("-400e9", RATE, "-400Gbps"), ("8", SIZE, "1B"), ("7992", SIZE, "999B"),
        ("8000", SIZE, "1kB"), ("4", SIZE, "0.5B"), ("999", POWER, "999W"), ("1700", POWER, "1.7kW"), ("1e6", POWER, "1MW"),
        ("1e9", POWER, "1000MW"), ("86400", TIME, "1day"), ("172800", TIME, "2day"), ("-86400", TIME, "-1day"),
        ("86401", TIME, "86401s"), ("3600", TIME, "3600s"), ("1", TIME, "1s"), ("0.5", TIME, "500ms"), ("0", TIME, "0ps"),
        ("1e-6", TIME, "1us"), ("2e-9", TIME, "2ns"), ("5e-13", TIME, "0.5ps"), ("0.999", LENGTH, "999mm"),
        ("1", LENGTH, "1m"), ("999", LENGTH, "999m"), ("1000", LENGTH, "1km"), ("0.0001", LENGTH, "0.1mm"),
        ("1200", MONEY, "$1200"), ("0.25", MONEY, "$0.25"), ("2", MASS, "2kg"), ("3", UNITS, "3U"), ("1.5", LOSS, "1.5dB"),
        ("7", NONE, "7 number"), ("5", (0, 1, -1, 0, 0, 0, 0, 0, 0), "5 s·m^-1"), ("1/3", LENGTH, "333.333mm"),
        ("989.4e12", COMPUTE, "989.4Tflops"),
    ],
)  # fmt: skip
def test_a_quantity_as_a_person_writes_it(amount: str, dim: Dim, text: str) -> None:
    """The largest prefix that leaves at least one, six digits, and days only where they are whole."""
    assert quantity_text(Quantity(Fraction(amount), dim)) == text == str(Quantity(Fraction(amount), dim))


@pytest.mark.parametrize("axes", [(Axis(0, 1),), (Axis(3, 4),), (Axis(1, 2), Axis(0, 3)), (Axis(5, 3), Axis(1, 1), Axis(2, 4))])
def test_positions_count_row_by_row(axes: tuple[Axis, ...]) -> None:
    """The last index runs fastest; axes begin where they begin."""
    every = list(product(*(range(a.low, a.low + a.size) for a in axes)))
    assert [indices_at_position(k, axes) for k in range(len(every))] == every


def test_prime_powers_by_multiplication() -> None:
    """All q below 2200, against all powers of all numbers that no smaller number divides."""
    primes = [p for p in range(2, 2200) if all(p % d for d in range(2, p) if d * d <= p)]
    powers = {p**n: (p, n) for p in primes for n in range(1, 12) if p**n < 2200}
    assert {q: prime_power(q) for q in range(-2, 2200)} == {q: powers.get(q) for q in range(-2, 2200)}
