"""The values that a guard allows, by putting every number to it, and what two parameters of one name allow together."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.ranges import parameter_domain
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file
from tests.semantics.test_ranges import domain_of

GUARDS: dict[str, Callable[[int], bool]] = {
    "-n >= -5 and n >= 2": lambda n: 2 <= n <= 5,
    "-(n - 3) in -2..1": lambda n: 2 <= n <= 5,
    "2*n in 3..9": lambda n: 3 <= 2 * n <= 9,
    "7 - n in 1..4": lambda n: 3 <= n <= 6,
    "n // 3 in 1..2": lambda n: 1 <= n // 3 <= 2,
    "n + n % 3 in 4..9": lambda n: 4 <= n + n % 3 <= 9,
    "n / 2 < 3 and n > -2": lambda n: -2 < n < 6,
    "n - 2*n > -4 and n >= 0": lambda n: 0 <= n < 4,
    "0 <= n <= 12 and n ** 2 > 30": lambda n: 5 < n <= 12,
    "0 <= n <= 6 and n * n in 4..16": lambda n: 2 <= n <= 4,
    "0 <= n <= 6 and n % 2 == 1": lambda n: n in (1, 3, 5),
    "0 <= n <= 6 and (n in [1, 9] or n in 3..4)": lambda n: n in (1, 3, 4),
    "n in 1..3 or n == 6": lambda n: n in (1, 2, 3, 6),
    "not (n < 2 or n > 4)": lambda n: 2 <= n <= 4,
    "not (n <= 2) and not (n >= 6)": lambda n: 2 < n < 6,
    "3 > n > -2": lambda n: -2 < n < 3,
    "3 == n": lambda n: n == 3,
    "2*n == 8": lambda n: n == 4,
    "2*n == 7": lambda n: False,
    "(n // 4) * 3 in 3..8": lambda n: 3 <= (n // 4) * 3 <= 8,
    "3 * (n // 4) in 3..8": lambda n: 3 <= 3 * (n // 4) <= 8,
    "(5 - n // 2) * 2 in 1..6": lambda n: 1 <= (5 - n // 2) * 2 <= 6,
    "(n % 4 + 2*n) / -3 > -5 and n > 0": lambda n: n % 4 + 2 * n < 15 and n > 0,
    "0 <= n <= 9 and (n % 3) * (n % 2) == 2": lambda n: n in (5,),
    "0 <= n <= 9 and 2 * 3 < n": lambda n: 6 < n <= 9,
    "0 <= n <= 4 and n != 2": lambda n: n in (0, 1, 3, 4),
    "0 <= n <= 4 and not (n != 2)": lambda n: n == 2,
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


def test_values_of_another_type_are_not_allowed() -> None:
    """A string, a truth value or a fraction is no whole number, with a guard and without."""
    for text in ("n: int = 3 where n in 1..5", "n: int = 3"):
        found = domain_of(text)
        assert [found.allows(v) for v in (3, "3", True, (3,))] == [True, False, False, False]


TOGETHER = [
    ("n: int = 3 where 1 <= n <= 5", "n: int = 3 where 3 <= n <= 9", [3, 4, 5]),
    ("n: int = 3 where 3 <= n <= 9", "n: int = 3 where 1 <= n <= 5", [3, 4, 5]),
    ("n: int = 3 where 1 <= n <= 9", "n: int = 3 where 3 <= n <= 5", [3, 4, 5]),
    ("n: int = 3 where 3 <= n <= 5", "n: int = 3 where 1 <= n <= 9", [3, 4, 5]),
    ("n: int = 3 where 1 <= n <= 3", "n: int = 5 where 5 <= n <= 9", []),
    ("n: int = 3 where 1 <= n <= 3", "n: int = 3 where 3 <= n <= 9", [3]),
    ("n: int = 3 where n in [5, 3, 1]", "n: int = 3 where 2 <= n <= 9", [5, 3]),
    ("n: int = 3 where 2 <= n <= 9", "n: int = 3 where n in [5, 3, 1]", [3, 5]),
    ("n: int = 3 where n in [5, 3, 1]", "n: int = 3 where n in [5, 3, 1]", [5, 3, 1]),
    ("n: int = 3 where n > 2", "n: int = 3 where 1 <= n <= 5", [3, 4, 5]),
    ("n: int = 3 where 1 <= n <= 5", "n: int = 3 where n > 2", [3, 4, 5]),
    ("n: int = 3 where n > 2", "n: int = 3 where n < 6", None),
]


@pytest.mark.parametrize(("first", "second", "values"), TOGETHER)
def test_what_two_parameters_of_one_name_allow(first: str, second: str, values: list[int] | None) -> None:
    """What both allow, in the order of the first that has finite values; None where neither has."""
    both = domain_of(first).also(domain_of(second))
    assert (None if both.choices is None else list(both.choices)) == values
    assert both.alone


def test_a_guard_that_names_another_parameter_is_not_alone() -> None:
    """Nor is what holds with it, first or second."""
    own = domain_of("n: int = 3 where 1 <= n <= 9")
    other = domain_of("m: int = 4", "n: int = 3 where 1 <= n <= m")
    assert (own.alone, other.alone) == (True, False)
    assert not own.also(other).alone and not other.also(own).alone
