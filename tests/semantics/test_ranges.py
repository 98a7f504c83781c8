"""What a parameter may be is what its guard allows: read from the syntax, held against trying every number."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.parameters import define_param
from tdsl.semantics.quantity import Quantity
from tdsl.semantics.ranges import Domain, ParameterSettings
from tdsl.semantics.scope import Scope
from tdsl.semantics.values import text_of
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

WIDE = range(-150, 151)


def domain_of(*params: str) -> Domain:
    """The domain of the last of some parameters."""
    found = Diagnostics()
    module = parse_source_file(SourceFile("t.fab", "\n".join(f"param {p}" for p in params) + "\n"), found)
    assert not list(found), [d.message for d in found]
    scope, evaluator, settings = Scope(), Evaluator(), ParameterSettings(domains=[])
    for s in module.body:
        assert isinstance(s, tree.Param)
        define_param(scope, s, evaluator, settings)
    assert settings.domains is not None
    return settings.domains[-1]


@pytest.mark.parametrize(
    ("param", "values"),
    [
        ("n: int = 4 where 1 <= n <= 4", [1, 2, 3, 4]),
        ("n = 4 where n > 0 and n < 5", [1, 2, 3, 4]),
        ("n: int = 4 where n in 2..5", [2, 3, 4, 5]),
        ("n: int = 4 where n in [8, 4, 4, 2]", [8, 4, 2]),
        ("n: int = 4 where n == 4", [4]),
        ("n: int = 4 where n == 4 or n == 8", [4, 8]),
        ("n: int = 4 where n in 1..9 and n % 2 == 0", [2, 4, 6, 8]),
        ("n: int = 4 where 1 <= n <= 9 and not n in [2, 3] and not (n > 6)", [1, 4, 5, 6]),
        ("n: int = 4 where 3 < 2*n + 1 <= 11", [2, 3, 4, 5]),
        ("n: int = 4 where 0 <= (9 - n) // 2 < 3 and n > 0", [4, 5, 6, 7, 8, 9]),
        ("n: int = 4 where n >= 1 and n * 400Gbps <= 1.6Tbps", [1, 2, 3, 4]),
        ("n: int = 4 where n > 0 and 12 % n == 0 and n <= 12", [1, 2, 3, 4, 6, 12]),
        ("n: int = 4 where n in 0..6 and 12 // n == 3", [4]),
        ("n: int = 4 where n in 2..3 or n in [4, 9]", [2, 3, 4, 9]),
        ("b: bool = true", [False, True]),
        ("b = true where b", [True]),
        ('s: string = "a" where s in ["a", "b c"]', ["a", "b c"]),
        ('s = "a" where s == "a" or s == "b"', ["a", "b"]),
        ("r: ratio = 2:1 where r in [1:1, 2:1, 7:2]", [1, 2, Fraction(7, 2)]),
        ("r: ratio = 2 where r in 1..3", [1, 2, 3]),
    ],
)  # fmt: skip
def test_finite(param: str, values: list[object]) -> None:
    found = domain_of(param)
    assert found.choices is not None, found.missing
    assert list(found.choices) == values


def test_quantities() -> None:
    found = domain_of("r: rate = 400Gbps where r in [200Gbps, 400Gbps]")
    assert found.choices is not None
    assert [text_of(v) for v in found.choices] == ["200Gbps", "400Gbps"] and isinstance(found.choices[0], Quantity)


def test_a_range_may_rest_on_what_stands_before() -> None:
    found = domain_of("m: int = 6", "n: int = 2 where 1 <= n < m")
    assert found.choices == range(1, 6) and not found.alone
    assert domain_of("m: int = 6", "n: int = 2 where 1 <= n < 4").alone


@pytest.mark.parametrize(
    ("param", "missing", "help"),
    [
        ("n: int = 4", "no bounds", "where 1 <= n <= 4"),
        ("n: int = 4 where n >= 2", "no upper bound", "where n >= 2 and n <= 4"),
        ("n: int = 4 where n < 9", "no lower bound", "where n < 9 and n >= 1"),
        ("n: int = 4 where n % 4 == 0", "no bounds", "where n % 4 == 0 and 1 <= n <= 4"),
        ("n: int = 4 where n < 5 or n > 7", "no bounds", "where (n < 5 or n > 7) and 1 <= n <= 4"),
        ("n: int = 4 where n*n <= 16", "no bounds", "where n*n <= 16 and 1 <= n <= 4"),
        ("n: int = 4 where n in 0..1000000 and n % 4 == 0", "more than bounds", "narrow"),
        ('s: string = "a"', "a string has no finite range", 'where s in ["a", …]'),
        ("r: rate = 400Gbps where r <= 800Gbps", "a rate has no finite range", "where r in [400Gbps, …]"),
        ("r: ratio = 1 where 0 <= r <= 4", "a ratio has no finite range", "where r in [1, …]"),
    ],
)  # fmt: skip
def test_what_is_missing(param: str, missing: str, help: str) -> None:
    found = domain_of(param)
    assert found.choices is None
    assert missing in found.missing and help in found.help


def test_a_wide_range_takes_no_memory() -> None:
    found = domain_of(f"n: int = 4 where 1 <= n <= {10**15}")
    assert found.choices == range(1, 10**15 + 1)


def test_what_is_helped_is_finite() -> None:
    """The guard that the finding offers bounds the parameter, and its default is within."""
    for guard in ("", "n >= 2", "n < 9", "n % 4 == 0", "n < 5 or n > 7", "n*n <= 16"):
        found = domain_of(f"n: int = 4 where {guard}" if guard else "n: int = 4")
        offered = found.help.split("`")[1]
        again = domain_of(f"n: int = 4 {offered}")
        assert again.choices is not None and 4 in again.choices, offered


# ---------------------------------------------------------------- against trying them all

numbers = st.integers(-12, 12)
positive = st.integers(1, 6)
terms = st.one_of(
    st.just("n"),
    numbers.map(str).map(lambda t: f"({t})"),
    st.builds("({}*n + {})".format, numbers, numbers),
    st.builds("(n // {})".format, positive),
    st.builds("({} - n % {})".format, numbers, positive),
    st.builds("(n*n - {})".format, numbers),
    st.builds("((n + {}) * {} - n)".format, numbers, numbers),
)
signs = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
leaves = st.one_of(
    st.builds("{} {} {}".format, terms, signs, terms),
    st.builds("{} {} {} {} {}".format, terms, signs, terms, signs, terms),
    st.builds("{} in [{}, {}, {}]".format, terms, numbers, numbers, numbers),
    st.builds("{} in RANGE({}, {})".format, terms, numbers, numbers),
)
guards = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("(not ({}))".format, inner),
    ),
    max_leaves=5,
)


def as_fab(guard: str) -> str:
    import re

    return re.sub(r"RANGE\(([^,]*), ([^)]*)\)", r"\1..\2", guard)


def as_python(guard: str) -> str:
    return guard.replace("RANGE(", "whole(")


def brute(guard: str) -> list[int]:
    """The numbers that a guard allows, by Python."""
    text = as_python(guard)
    return [n for n in WIDE if eval(text, {"whole": lambda a, b: range(a, b + 1), "n": n})]


@given(guards)
def test_a_bounded_guard_is_finite_and_has_just_its_values(guard: str) -> None:
    guard = f"-20 <= n <= 20 and {guard}"
    values = brute(guard)
    if values:
        found = domain_of(f"n: int = {values[0]} where {as_fab(guard)}")
        assert found.choices is not None
        assert sorted(found.choices) == values  # type: ignore[type-var]
        assert len(set(found.choices)) == len(found.choices)


@given(guards)
def test_what_is_called_finite_is_all_there_is(guard: str) -> None:
    values = brute(guard)
    if values:
        found = domain_of(f"n: int = {values[0]} where {as_fab(guard)}")
        if found.choices is not None:
            assert sorted(v for v in found.choices if v in WIDE) == values  # type: ignore[type-var]


@given(terms, signs, terms)
def test_bounds_of_one_comparison_are_not_given_up(a: str, sign: str, b: str) -> None:
    """Whatever linear comparison ends within the numbers tried, on both sides, is read as finite."""
    guard = f"{a} {sign} {b}"
    values = brute(guard)
    linear = "n*n" not in guard and "%" not in guard and "//" not in guard
    if values and linear and values[0] > WIDE[0] + 30 and values[-1] < WIDE[-1] - 30:
        assert domain_of(f"n: int = {values[0]} where {guard}").choices is not None
