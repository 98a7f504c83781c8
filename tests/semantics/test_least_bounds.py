"""Bounds that a condition gives are the least and the greatest whole number for which it can hold."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.ranges import (
    ANY,
    Reach,
    _bounds_around_choices,
    _combine_linear_forms,
    _GuardReader,
    _intersect_bounds,
    _scale_linear_form,
    _solve_comparison,
    _unite_bounds,
)
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

FAR = 15


def holds(op: str, low: Fraction, high: Fraction) -> bool:
    """Whether some number of an interval compares with 0."""
    return {"<": low < 0, "<=": low <= 0, ">": high > 0, ">=": high >= 0, "==": low <= 0 <= high}[op]


@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "=="])
@pytest.mark.parametrize("k", [Fraction(1), Fraction(-1), Fraction(3), Fraction(-2), Fraction(1, 2), Fraction(-2, 3)])
def test_solutions_of_one_comparison(op: str, k: Fraction) -> None:
    """``k·x + c op 0`` with c between two bounds, by trying every x."""
    values = [Fraction(n, 2) for n in (-9, -8, -3, 0, 1, 4, 6, 7)]
    for c, d in product(values, values):
        if c > d:
            continue
        found = _solve_comparison((k, c, d), op)
        held = [x for x in range(-FAR, FAR + 1) if holds(op, k * x + c, k * x + d)]
        assert found.exact == (c == d) and found.choices is None and not found.whole
        if not held:
            assert op == "==" and found.low is not None and found.high is not None and found.low > found.high
            continue
        assert found.low == (held[0] if held[0] > -FAR else None), (c, d)
        assert found.high == (held[-1] if held[-1] < FAR else None), (c, d)


def test_comparisons_without_bounds() -> None:
    one = (Fraction(1), Fraction(2), Fraction(2))
    assert _solve_comparison(one, "!=") == ANY and _solve_comparison(one, "") == ANY
    assert _solve_comparison((Fraction(0), Fraction(2), Fraction(2)), "<") == ANY


def form(k: int, c: int, d: int | None = None) -> tuple[Fraction, Fraction, Fraction]:
    return Fraction(k), Fraction(c), Fraction(c if d is None else d)


@pytest.mark.parametrize(
    ("op", "a", "b", "expected"),
    [
        ("+", form(2, 1, 3), form(4, -5, 6), form(6, -4, 9)),
        ("-", form(2, 1, 3), form(4, -5, 6), form(-2, -5, 8)),
        ("*", form(2, 1, 3), form(0, -4), form(-8, -12, -4)),
        ("*", form(0, 3), form(2, 1, 4), form(6, 3, 12)),
        ("*", form(0, 3), form(0, 5), form(0, 15)),
        ("*", form(1, 0), form(1, 0), None),
        ("*", form(0, 1, 2), form(1, 0), None),
        ("*", form(1, 0), form(0, 1, 2), None),
        ("/", form(4, 2, 6), form(0, 2), form(2, 1, 3)),
        ("/", form(4, 2, 6), form(0, -2), form(-2, -3, -1)),
        ("//", form(4, 2, 6), form(0, 2), form(2, 0, 3)),
        ("//", form(4, 8), form(0, -4), form(-1, -3, -2)),
        ("%", form(4, 2, 6), form(0, 5), form(0, 0, 5)),
        ("%", form(4, 2, 6), form(0, -5), form(0, 0, 5)),
        ("/", form(4, 2), form(0, 0), None),
        ("//", form(4, 2), form(0, 0), None),
        ("%", form(4, 2), form(0, 0), None),
        ("/", form(0, 2), form(1, 0), None),
        ("**", form(1, 0), form(0, 2), None),
    ],
)  # fmt: skip
def test_arithmetic_of_linear_forms(op: str, a: Any, b: Any, expected: Any) -> None:
    assert _combine_linear_forms(op, a, b) == expected


def test_a_form_times_a_number() -> None:
    assert _scale_linear_form(form(2, 1, 3), Fraction(5)) == form(10, 5, 15)
    assert _scale_linear_form(form(2, 1, 3), Fraction(-1)) == form(-2, -3, -1)


def reach(low: int | None, high: int | None, whole: bool = False, exact: bool = False) -> Reach:
    return Reach(None if low is None else Fraction(low), None if high is None else Fraction(high), whole, exact)


ONE, TWO = Reach(choices=(1,)), Reach(choices=(7, 3))


@pytest.mark.parametrize(
    ("a", "b", "both", "either"),
    [
        (reach(1, 5), reach(3, 9), reach(3, 5), reach(1, 9)),
        (reach(1, 9), reach(3, 5), reach(3, 5), reach(1, 9)),
        (reach(1, None), reach(None, 5), reach(1, 5), reach(None, None)),
        (reach(None, 4), reach(None, 5), reach(None, 4), reach(None, 5)),
        (reach(4, None), reach(5, None), reach(5, None), reach(4, None)),
        (reach(1, 5, True, True), reach(2, 6, False, True), reach(2, 5, True, True), reach(1, 6)),
        (reach(1, 5, True, True), reach(2, 6, True, False), reach(2, 5, True), reach(1, 6, True)),
        (ANY, reach(2, 6), reach(2, 6), ANY),
        (ONE, reach(2, 6), ONE, reach(1, 6)),
        (reach(2, 6, True), TWO, TWO, reach(2, 7, True)),
        (ONE, TWO, ONE, Reach(choices=(1, 7, 3))),
        (TWO, ONE, ONE, Reach(choices=(7, 3, 1))),
        (ONE, Reach(choices=(2,)), ONE, Reach(choices=(1, 2))),
        (Reach(choices=("a",)), reach(2, 6), Reach(choices=("a",)), ANY),
    ],
)
def test_two_conditions(a: Reach, b: Reach, both: Reach, either: Reach) -> None:
    assert (_intersect_bounds(a, b), _unite_bounds(a, b)) == (both, either)


def test_choices_as_bounds() -> None:
    assert _bounds_around_choices(TWO) == reach(3, 7, True) and _bounds_around_choices(reach(1, 2)) == reach(1, 2)
    for choices in ((), ("a",), (1, "a"), (True, 2), (Fraction(1, 2), 1)):
        assert _bounds_around_choices(Reach(choices=choices)) == ANY


def read(text: str) -> Reach:
    """Bounds on x of a condition."""
    found = Diagnostics()
    (s,) = parse_source_file(SourceFile("t.fab", f"let y = {text}\n"), found).body
    assert isinstance(s, tree.Let) and not list(found)
    return _GuardReader("x", Scope(), Evaluator()).read(s.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > 3", reach(4, None, exact=True)),
        ("3 > x", reach(None, 2, exact=True)),
        ("not x > 3", reach(None, 3, exact=True)),
        ("not (x >= 3)", reach(None, 2, exact=True)),
        ("1 < x <= 8", reach(2, 8, exact=True)),
        ("not 1 < x <= 8", ANY),
        ("not (x > 3 or x < 1)", reach(1, 3, exact=True)),
        ("x > 3 and x < 9", reach(4, 8, exact=True)),
        ("x == 3 or x == 5", Reach(choices=(3, 5))),
        ("(x) == 3", Reach(choices=(3,))),
        ("3 == x", Reach(choices=(3,))),
        ("not x != 3", Reach(choices=(3,))),
        ("not x == 3", ANY),
        ("2*x == 6", reach(3, 3, exact=True)),
        ("x in 2..6", reach(2, 6, True, True)),
        ("2*x + 1 in 2..6", reach(1, 2)),
        ("not x in 2..6", ANY),
        ("x in [2, 6]", Reach(choices=(2, 6))),
        ("x + 1 in [2, 6]", ANY),
        ("x in 5", ANY),
        ("-x > 3", reach(None, -4, exact=True)),
        ("3 - 2*x >= -4", reach(None, 3, exact=True)),
        ("x // 4 < 3", reach(None, 15)),
        ("x % 4 < 3", ANY),
        ("x * x < 9", ANY),
        ("true", ANY),
        ("x < true", ANY),
        ('x < "a"', ANY),
        ("x < z", ANY),
        ("x", ANY),
        ("x if true else x", ANY),
        ("x < 2.5", reach(None, 2, exact=True)),
        ("x < 3 < 5", reach(None, 2)),
    ],
)
def test_bounds_of_conditions(text: str, expected: Reach) -> None:
    assert read(text) == expected
