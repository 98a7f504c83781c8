"""Bounds that are read from conditions, by trying numbers; what is said of extents and of parameters without a finite range."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.extents import INDEX_LIMIT, axes_of
from tdsl.semantics.fault import Fault
from tdsl.semantics.ranges import (
    ANY,
    Domain,
    Reach,
    _bounds_around_choices,
    _combine_linear_forms,
    _intersect_bounds,
    _scale_linear_form,
    _solve_comparison,
    _unite_bounds,
    _whole_bounds,
    parameter_domain,
)
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

F = Fraction
AT = SourceSpan(SourceFile("t.fab", "x"), 0, 1)
HOLDS = {
    "<": lambda k, c, d, x: k * x + c < 0,
    "<=": lambda k, c, d, x: k * x + c <= 0,
    ">": lambda k, c, d, x: k * x + d > 0,
    ">=": lambda k, c, d, x: k * x + d >= 0,
    "==": lambda k, c, d, x: k * x + c <= 0 <= k * x + d,
}
NUMBERS = range(-40, 41)


def test_bounds_of_a_linear_comparison() -> None:
    """The least and the greatest whole number for which it holds with some constant between two bounds."""
    for k, c, more, op in product((-3, -1, 1, 2, F(3, 2)), (-7, -2, 0, F(1, 2), 5), (0, 1, F(5, 2)), HOLDS):
        d = c + more
        found = _solve_comparison((F(k), F(c), F(d)), op)
        values = [x for x in NUMBERS if HOLDS[op](k, c, d, x)]
        low, high = found.low, found.high
        assert found.exact == (more == 0)
        assert (found.whole, found.choices) == (False, None)
        inside = [x for x in NUMBERS if (low is None or x >= low) and (high is None or x <= high)]
        assert inside == values, (k, c, d, op)
    assert _solve_comparison((F(0), F(1), F(1)), "<") is ANY
    assert _solve_comparison((F(1), F(1), F(1)), "!=") is ANY


def test_linear_forms() -> None:
    """What two forms give: the sum, the difference, and multiples and quotients by a constant, with rounding between bounds."""
    a, b, c = (F(3), F(-1), F(2)), (F(2), F(1), F(5)), (F(0), F(-4), F(-4))
    zero, loose = (F(0), F(0), F(0)), (F(0), F(1), F(2))
    assert _scale_linear_form(a, F(-2)) == (F(-6), F(-4), F(2))
    assert _combine_linear_forms("+", a, b) == (F(5), F(0), F(7))
    assert _combine_linear_forms("-", a, b) == (F(1), F(-6), F(1))
    assert _combine_linear_forms("*", a, c) == _combine_linear_forms("*", c, a) == (F(-12), F(-8), F(4))
    assert _combine_linear_forms("/", a, c) == (F(-3, 4), F(-1, 2), F(1, 4))
    assert _combine_linear_forms("//", a, c) == (F(-3, 4), F(-3, 2), F(1, 4))
    assert _combine_linear_forms("%", a, c) == (F(0), F(0), F(4))
    assert [_combine_linear_forms(op, a, b) for op in ("*", "/", "//", "%")] == [None] * 4
    assert [_combine_linear_forms(op, a, loose) for op in ("*", "/", "//", "%")] == [None] * 4
    assert [_combine_linear_forms(op, a, zero) for op in ("/", "//", "%")] == [None] * 3
    assert [_combine_linear_forms(op, c, a) for op in ("/", "//", "%")] == [None] * 3
    assert _combine_linear_forms("*", a, zero) == zero
    assert _combine_linear_forms("**", a, c) is None


def test_bounds_together() -> None:
    """Where both hold the narrower ends, where one does the wider; choices are narrower than bounds."""
    a, b = Reach(F(1), F(9), True, True), Reach(F(4), None, False, True)
    few, more, other = Reach(choices=(2, 7)), Reach(choices=(1, 2, 3)), Reach(choices=("x", 3))
    assert _intersect_bounds(a, b) == _intersect_bounds(b, a) == Reach(F(4), F(9), True, True)
    assert _intersect_bounds(a, Reach(None, F(3))) == Reach(F(1), F(3), True, False)
    assert _intersect_bounds(ANY, ANY) == ANY
    assert _intersect_bounds(few, more) is few
    assert _intersect_bounds(more, few) is few
    assert _intersect_bounds(few, a) is few
    assert _intersect_bounds(a, few) is few
    assert _intersect_bounds(few, other) is few
    assert _unite_bounds(a, b) == _unite_bounds(b, a) == Reach(F(1), None, False)
    assert _unite_bounds(a, Reach(F(-2), F(5), True)) == Reach(F(-2), F(9), True)
    assert _unite_bounds(Reach(None, F(5)), Reach(None, F(7))) == Reach(None, F(7))
    assert _unite_bounds(few, more).choices == (2, 7, 1, 2, 3)
    assert _unite_bounds(few, a) == Reach(F(1), F(9), True)
    assert _unite_bounds(Reach(F(3), F(4), True), few) == Reach(F(2), F(7), True)
    assert [_bounds_around_choices(r) for r in (a, few, more, other, Reach(choices=(True, 3)), Reach(choices=()))] == [
        a, Reach(F(2), F(7), True), Reach(F(1), F(3), True), ANY, ANY, ANY
    ]  # fmt: skip
    assert [_whole_bounds(Reach(F(x), F(y))) for x, y in ((F(3, 2), F(7, 2)), (2, 3), (F(-3, 2), F(-1, 2)))] == [
        (2, 3),
        (2, 3),
        (-1, -1),
    ]
    assert _whole_bounds(ANY) == (None, None)


def param(text: str) -> Domain:
    """What a parameter may be."""
    found = Diagnostics()
    (s,) = parse_source_file(SourceFile("t.fab", f"param {text}\n"), found).body
    assert not list(found), [d.message for d in found]
    assert isinstance(s, tree.Param)
    return parameter_domain(Scope(), s, Evaluator())


@pytest.mark.parametrize(
    ("text", "missing", "help"),
    [
        ("n: int = 4", "it has no bounds", "write, for example, `where 1 <= n <= 4`"),
        ("n: int = -3", "it has no bounds", "write, for example, `where 1 <= n <= 1`"),
        ("n: int = 4 where n >= 2", "it has no upper bound", "write, for example, `where n >= 2 and n <= 4`"),
        ("n: int = 4 where n >= 7", "it has no upper bound", "write, for example, `where n >= 7 and n <= 7`"),
        ("n: int = 4 where n < 9", "it has no lower bound", "write, for example, `where n < 9 and n >= 1`"),
        ("n: int = -4 where n < -2", "it has no lower bound", "write, for example, `where n < -2 and n >= -3`"),
        ("n: int = 4 where n < 5 or n > 7", "it has no bounds", "write, for example, `where (n < 5 or n > 7) and 1 <= n <= 4`"),
        ("n: int = 4 where n % 2 == 0 and n % 4 == 0", "it has no bounds",
         "write, for example, `where n % 2 == 0 and n % 4 == 0 and 1 <= n <= 4`"),
        ("r: rate = 4Gbps", "a rate has no finite range", "list what it may be: `where r in [4Gbps, …]`"),
        ("n: int = 4 where n in 1..65537 and n % 4 == 0",
         "its guard is more than bounds, and 65,537 numbers are too many to put to it",
         "narrow the range to 65,536 numbers, or list the values: `where n in [4, …]`"),
    ],
)  # fmt: skip
def test_parameters_without_a_finite_range(text: str, missing: str, help: str) -> None:
    found = param(text)
    assert (found.choices, found.missing, found.help) == (None, missing, help)


def test_domains_of_one_name() -> None:
    """What both allow."""
    one, two = param("n: int = 4 where 1 <= n <= 9"), param("n: int = 4 where 3 <= n <= 12")
    odd, free = param("n: int = 5 where n in [9, 3, 5, 11]"), param("n: int = 5 where n > 3")
    assert one.also(two).choices == two.also(one).choices == range(3, 10)
    assert one.also(odd).choices == (3, 5, 9)
    assert odd.also(one).choices == (9, 3, 5)
    assert odd.also(free).choices == free.also(odd).choices == (9, 5, 11)
    assert one.also(one).choices == range(1, 10)
    assert [n for n in range(15) if one.also(two).allows(n)] == [*range(3, 10)]
    assert [n for n in range(15) if free.also(odd).allows(n)] == [5, 9, 11]
    assert one.alone and one.also(two).alone
    assert free.also(param("n: int = 4")).choices is None


def extents(text: str) -> list[tuple[int, int, int]] | tuple[str, str, str, str]:
    """Low, size and how many are built (-1: all) of each axis; or code, underlined text, message and help."""
    found = Diagnostics()
    (s,) = parse_source_file(SourceFile("t.fab", f"switch a[{text}]: S\n"), found).body
    assert not list(found), [d.message for d in found]
    assert isinstance(s, tree.Decl)
    try:
        return [(a.low, a.size, a.built) for a in axes_of(s.shape, Scope(), Evaluator())]
    except Fault as fault:
        d = fault.diagnostic
        assert d.span is not None
        return d.code, d.span.text, d.message, d.help


WHAT = "an extent is a whole number, a range or dimensions; this is"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", [(0, 1, -1)]), ("4, 2..5", [(0, 4, -1), (2, 4, -1)]), ("2x3", [(0, 2, -1), (0, 3, -1)]),
        ("3..3", [(3, 1, -1)]),
        ("6/2", [(0, 3, -1)]), ("-2..1", [(-2, 4, -1)]), ("1 of 4", [(0, 4, 1)]), ("4 of 4", [(0, 4, 4)]),
        (f"{INDEX_LIMIT}..{INDEX_LIMIT}", [(INDEX_LIMIT, 1, -1)]),
        (f"-{INDEX_LIMIT}..0", [(-INDEX_LIMIT, INDEX_LIMIT + 1, -1)]),
        ("0", ("E0120", "0", "an extent is at least 1; this is 0", "write `1` or more, or leave the statement out")),
        ("0-7", ("E0120", "0-7", "an extent is at least 1; this is -7 (0 minus 7)", "a range is written `0..7`")),
        ("2x0", ("E0120", "2x0", "an extent is at least 1; this is 0", "write `1` or more, or leave the statement out")),
        ("4..3", ("E0120", "4..3", "the range 4..3 is empty", "did you mean 3..4?")),
        ("0..1000000001", ("E0116", "0..1000000001", "an index is at most 1,000,000,000, and these go to 1,000,000,001", "")),
        ("7/2", ("E0111", "7/2", f"{WHAT} 7/2", "`7//2` rounds down")), ("15/2/2", ("E0111", "15/2/2", f"{WHAT} 15/4", "")),
        ("3.5", ("E0111", "3.5", f"{WHAT} 7/2", "write `3` or `4`")), ("true", ("E0103", "true", f"{WHAT} true", "")),
        ('"4"', ("E0103", '"4"', f'{WHAT} the string "4"', "write `4`, without the quotes")),
        ('"a"', ("E0103", '"a"', f'{WHAT} the string "a"', "")),
        ("5 of 4", ("E0120", "5 of 4", "`n of m` builds n of m planned ones, so 1 <= n <= m; here n is 5 and m 4", "")),
        ("0 of 4", ("E0120", "0 of 4", "`n of m` builds n of m planned ones, so 1 <= n <= m; here n is 0 and m 4", "")),
        ("true of 4", ("E0120", "true of 4", "`n of m` builds n of m planned ones, so 1 <= n <= m; here n is true and m 4", "")),
    ],
)  # fmt: skip
def test_extents(text: str, expected: list[tuple[int, int, int]] | tuple[str, str, str, str]) -> None:
    assert extents(text) == expected


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "=="])
def test_rounding_on_either_side(sign: str) -> None:
    """What rounding takes widens the bounds on its own side."""
    values = [n for n in range(1, 21) if eval(f"2*n {sign} n % 7 + 5")]
    assert values
    for guard in (f"2*n {sign} n % 7 + 5", f"n % 7 + 5 {sign.translate(str.maketrans('<>', '><'))} 2*n"):
        found = param(f"n: int = {values[0]} where 1 <= n <= 20 and {guard}")
        assert list(found.choices or ()) == values
