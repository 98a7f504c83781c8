"""Expressions against Python's own whole numbers, fractions, lists and truth values; quantities against their base units."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Fault
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import text_of, type_name
from tdsl.syntax.parser import parse_expression

NAMES = {"i": 3, "j": -2, "k": 7}


def value(text: str) -> object:
    """The value of an expression, or the code of what is wrong."""
    found = Diagnostics()
    e = parse_expression(text, "text", found)
    assert e is not None and not found.items, (text, found.items)
    scope = Scope()
    for name, n in NAMES.items():
        scope.set(name, n, e.span)
    try:
        return Evaluator().evaluate(e, scope)
    except Fault as fault:
        return fault.diagnostic.code


def number(chance: Random, depth: int = 3) -> str:
    """A random expression; F(…) stands around each number, ABS(…) around what `%` never takes the sign of."""
    if not depth or chance.random() < 0.2:
        return chance.choice([f"F({chance.randrange(13)})", *NAMES])
    a, b, c = (number(chance, depth - 1) for _ in range(3))
    forms = [f"({a} {sign} {b})" for sign in ("+", "-", "*", "/", "//")] + [f"({a} % ABS({b}))", f"({a} if {b} < {c} else {c})"]
    return chance.choice([*forms, f"(-{a})", f"max({a}, {b}, {c})", f"min({a}, {b})", f"sum([{a}, {b}])"])


def truth(chance: Random, depth: int = 2) -> str:
    """A random condition."""
    if not depth:
        return f"{number(chance, 1)} {chance.choice(['<', '<=', '==', '!=', '>', '>='])} {number(chance, 1)}"
    a, b = (truth(chance, depth - 1) for _ in range(2))
    return chance.choice([f"({a} and {b})", f"({a} or {b})", f"(not ({a}))"])


def python(text: str) -> object:
    """The same by Python, over fractions; None where something is divided by zero."""
    try:
        return eval(text, {"F": Fraction, "ABS": abs}, {name: Fraction(n) for name, n in NAMES.items()})
    except ZeroDivisionError:
        return None


@pytest.mark.parametrize("kind", [number, truth])
def test_values_are_those_of_python(kind: Callable[[Random], str]) -> None:
    """A side that is not looked at has no fault; a fraction that is whole is a whole number."""
    chance = Random(1)
    zero = 0
    for _ in range(700):
        text = kind(chance)
        found, expected = value(text.replace("F(", "(").replace("ABS(", "(")), python(text)
        zero += expected is None
        assert found == ("E0120" if expected is None else expected), text
        assert not isinstance(found, Fraction) or found.denominator > 1, text
    assert 10 < zero < 400


@pytest.mark.parametrize("base", range(-3, 4))
def test_powers_and_roundings(base: int) -> None:
    for n in range(-3, 5):
        if base or n >= 0:
            assert value(f"({base}) ** ({n})") == Fraction(base) ** n
        if n:
            assert value(f"({base}) // ({n})") == base // n and value(f"({base}) % ({n})") == base % abs(n)
            assert value(f"({base}) / ({n})") == Fraction(base, n)


KINDS = {
    "int": "7", "ratio": "2.5", "bool": "true", "string": '"ab"', "length": "3m", "power": "2kW", "list": "[1, 2]",
    "range": "1..4", "dims": "4x2",
}  # fmt: skip
NUMBERS = {(a, b) for a in ("int", "ratio") for b in ("int", "ratio")}
QUANTITIES = {("length", "length"), ("power", "power")}
SCALED = {(q, n) for q in ("length", "power") for n in ("int", "ratio")}
ALLOWED = {
    "+": NUMBERS | QUANTITIES | {("string", "string"), ("list", "list")},
    "-": NUMBERS | QUANTITIES,
    "*": NUMBERS | SCALED | {(n, q) for q, n in SCALED} | {(a, b) for a in ("length", "power") for b in ("length", "power")},
    "/": NUMBERS | SCALED | {(n, q) for q, n in SCALED} | {(a, b) for a in ("length", "power") for b in ("length", "power")},
    "<": NUMBERS | QUANTITIES,
    "and": {("bool", "bool")},
}  # fmt: skip


@pytest.mark.parametrize("operator", ALLOWED)
def test_which_kinds_an_operator_takes(operator: str) -> None:
    """All others are refused, with one code."""
    for (a, x), (b, y) in product(KINDS.items(), repeat=2):
        found = value(f"({x}) {operator} ({y})")
        assert (found != "E0103") == ((a, b) in ALLOWED[operator]), (a, operator, b, found)


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("3m + 20cm", "length", "3.2m"), ("2 * 3m", "length", "6m"), ("3m / 20cm", "int", "15"), ("1TB / 50GB/s", "time", "20s"),
        ("400Gbps * 8", "rate", "3.2Tbps"), ("2kW - 500W", "power", "1.5kW"), ("3:2", "ratio", "3/2"), ("50%", "ratio", "1/2"),
        ("$2.5M / 2", "money", "$1250000"), ("[1, 2] + [3]", "list", "[1, 2, 3]"), ('"a" + "b"', "string", "ab"),
        ('"{k:03}-{3m}"', "string", "007-3m"), ("1..4", "range", "1..4"), ("4x2", "dims", "4x2"), ("not i > 5", "bool", "true"),
        ("[2*x for x in 0..3]", "list", "[0, 2, 4, 6]"), ("[[1, 2], [3]][0][1]", "int", "2"),
        ("3m < 400cm", "bool", "true"), ("3 in 1..4", "bool", "true"), ("9 in [1, 2]", "bool", "false"),
        ("1 < 2 < 3", "bool", "true"), ("3 > 2 > 2", "bool", "false"), ("3 == 3.0", "bool", "true"),
    ],
)  # fmt: skip
def test_values_as_they_are_shown(text: str, kind: str, shown: str) -> None:
    found = value(text)
    assert (type_name(found), text_of(found)) == (kind, shown)  # type: ignore[arg-type]


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=6))
def test_functions_over_lists(values: list[int]) -> None:
    text = f"[{', '.join(map(str, values))}]"
    for name, of in {"sum": sum, "product": prod, "len": len, "min": min, "max": max, "sort": sorted}.items():
        found = value(f"{name}({text})")
        assert (list(found) if name == "sort" else found) == of(values), name  # type: ignore[call-overload]


def test_primes_and_fields() -> None:
    """Every field of up to nine elements: each number but zero is a power of its root, and products are those of exponents."""
    assert list(value("primes(30)")) == [p for p in range(2, 31) if all(p % d for d in range(2, p))]  # type: ignore[call-overload]
    for q in (2, 3, 4, 5, 7, 8, 9):
        powers = [value(f"gf_pow({q}, gf_root({q}), {n})") for n in range(q - 1)]
        assert sorted(powers) == list(range(1, q)), q  # type: ignore[type-var]
        for a, b in product(range(q - 1), repeat=2):
            assert value(f"gf_mul({q}, {powers[a]}, {powers[b]})") == powers[(a + b) % (q - 1)]
        for a, b, c in product(range(q), repeat=3):
            if a + b * q + c * 3 < 40:
                one = value(f"gf_mul({q}, {a}, gf_add({q}, {b}, {c}))")
                assert one == value(f"gf_add({q}, gf_mul({q}, {a}, {b}), gf_mul({q}, {a}, {c}))"), (q, a, b, c)
