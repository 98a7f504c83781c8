"""What a parameter may be is what its guard allows: read from the syntax, held against trying every number."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.parameters import define_param
from tdsl.semantics.ranges import Domain, ParameterSettings, parameter_domain
from tdsl.semantics.scope import Scope
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
        ("n: int = 4 where n in [8, 4, 4, 2]", [8, 4, 2]),
        ("n: int = 4 where 0 <= (9 - n) // 2 < 3 and n > 0", [4, 5, 6, 7, 8, 9]),
        ("n: int = 4 where n > 0 and 12 % n == 0 and n <= 12", [1, 2, 3, 4, 6, 12]),
        ("n: int = 4 where n in 0..6 and 12 // n == 3", [4]),
        ("b: bool = true", [False, True]),
        ("b = true where b", [True]),
        ('s: string = "a" where s in ["a", "b c"]', ["a", "b c"]),
        ('s = "a" where s == "a" or s == "b"', ["a", "b"]),
        ("r: ratio = 2:1 where r in [1:1, 2:1, 7:2]", [1, 2, Fraction(7, 2)]),
        ("r: ratio = 2 where r in 1..3", [1, 2, 3]),
    ],
)
def test_finite(param: str, values: list[object]) -> None:
    found = domain_of(param)
    assert found.choices is not None, found.missing
    assert list(found.choices) == values


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
    if param.startswith("n: int") and "n in " not in param:
        again = domain_of(f"n: int = 4 {found.help.split('`')[1]}").choices
        assert again is not None and 4 in again, "the guard that is offered bounds the parameter"


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
    return re.sub(r"RANGE\(([^,]*), ([^)]*)\)", r"\1..\2", guard)


def brute(guard: str) -> list[int]:
    """The numbers that a guard allows, by Python."""
    return [n for n in WIDE if eval(guard, {"RANGE": lambda a, b: range(a, b + 1), "n": n})]


@settings(max_examples=40)
@given(guards)
def test_a_bounded_guard_is_finite_and_has_just_its_values(guard: str) -> None:
    guard = f"-20 <= n <= 20 and {guard}"
    values = brute(guard)
    if values:
        found = domain_of(f"n: int = {values[0]} where {as_fab(guard)}")
        assert found.choices is not None
        assert sorted(found.choices) == values  # type: ignore[type-var]
        assert len(set(found.choices)) == len(found.choices)


@settings(max_examples=40)
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


GUARDS: dict[str, Callable[[int], bool]] = {
    "-(n - 3) in -2..1": lambda n: 2 <= n <= 5,
    "2*n in 3..9": lambda n: 3 <= 2 * n <= 9,
    "n // 3 in 1..2": lambda n: 1 <= n // 3 <= 2,
    "n / 2 < 3 and n > -2": lambda n: -2 < n < 6,
    "0 <= n <= 12 and n ** 2 > 30": lambda n: 5 < n <= 12,
    "0 <= n <= 6 and (n in [1, 9] or n in 3..4)": lambda n: n in (1, 3, 4),
    "not (n <= 2) and not (n >= 6)": lambda n: 2 < n < 6,
    "3 > n > -2": lambda n: -2 < n < 3,
    "2*n == 7": lambda n: False,
    "(5 - n // 2) * 2 in 1..6": lambda n: 1 <= (5 - n // 2) * 2 <= 6,
    "(n % 4 + 2*n) / -3 > -5 and n > 0": lambda n: n % 4 + 2 * n < 15 and n > 0,
    "0 <= n <= 9 and (n % 3) * (n % 2) == 2": lambda n: n in (5,),
    "0 <= n <= 9 and (3 if n > 4 else 8) > 5": lambda n: 0 <= n <= 4,
    "n * 100W <= 450W and n > 0": lambda n: 0 < n <= 4,
    "0 < n <= 5 and n * 100W <= 3m": lambda n: False,
    "0 < n <= 5 and n > true": lambda n: False,
}


@pytest.mark.parametrize("guard", GUARDS)
def test_the_values_of_a_guard(guard: str) -> None:
    """All of them, in order, and the guard says the same of each number around."""
    (s,) = parse_source_file(SourceFile("t.fab", f"param n: int = 3 where {guard}\n"), Diagnostics()).body
    assert isinstance(s, tree.Param)
    found = parameter_domain(Scope(), s, Evaluator())
    assert found.choices is not None, found.missing
    assert list(found.choices) == [n for n in range(-60, 61) if GUARDS[guard](n)]
    assert [n for n in range(-60, 61) if found.allows(n)] == list(found.choices)


TOGETHER = [
    ("1 <= n <= 5", "3 <= n <= 9", [3, 4, 5]),
    ("3 <= n <= 5", "1 <= n <= 9", [3, 4, 5]),
    ("1 <= n <= 3", "4 <= n <= 9", []),
    ("n in [5, 3, 1]", "2 <= n <= 9", [5, 3]),
    ("2 <= n <= 9", "n in [5, 3, 1]", [3, 5]),
    ("n in [5, 3, 1]", "n in [5, 3, 1]", [5, 3, 1]),
    ("n > 2", "1 <= n <= 5", [3, 4, 5]),
    ("1 <= n <= 5", "n > 2", [3, 4, 5]),
    ("n > 2", "n < 6", None),
]


@pytest.mark.parametrize(("first", "second", "values"), TOGETHER)
def test_what_two_parameters_of_one_name_allow(first: str, second: str, values: list[int] | None) -> None:
    """What both allow, in the order of the first that has finite values; None where neither has."""
    one, two = (domain_of(f"n: int = {4 if '4' in guard else 3} where {guard}") for guard in (first, second))
    both = one.also(two)
    assert (None if both.choices is None else list(both.choices)) == values
    assert both.alone


def test_a_guard_that_names_another_parameter_is_not_alone() -> None:
    """Nor is what holds with it, first or second."""
    own = domain_of("n: int = 3 where 1 <= n <= 9")
    other = domain_of("m: int = 4", "n: int = 3 where 1 <= n <= m")
    assert (own.alone, other.alone) == (True, False)
    assert not own.also(other).alone and not other.also(own).alone
