"""Bounds on the number of switches for all parameters at once: proved, or the first values that a loop over all values finds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.ranges import Domain
from tdsl.sizing.all_parameters import Answer, prove_switch_count
from tdsl.syntax.parser import parse_source_file

Values = range | tuple[int | bool, ...]
M, N = range(1, 8), range(1, 6)


def answer(
    text: str,
    requirement: str,
    values: dict[str, Values],
    fixed: dict[str, int | bool] | None = None,
    measured: tuple[tuple[dict[str, int], int], ...] = (),
    fabric: str = "f",
) -> Answer:
    """What is said of a fabric ``f`` of a file."""
    found = Diagnostics()
    file = SourceFile("t.fab", text)
    body = parse_source_file(file, found).body
    span = SourceSpan(file, 0, 1)
    domains = [Domain(k, span, v[0], v, lambda _: True, True) for k, v in values.items()]
    return prove_switch_count(body, fabric, requirement, domains, fixed or {}, measured)


def first_broken(holds: Callable[[int, int], bool]) -> Answer:
    """The least values for which it does not hold, m before n."""
    return next(({"m": m, "n": n} for m, n in product(M, N) if not holds(m, n)), "proved")


COUNTS: dict[str, Callable[[int, int], int]] = {
    "switch a[m]: S; switch b[n]: S": lambda m, n: m + n,
    "switch a[m]: S; host h[9]: S; chip c[9]: S; panel q[9]: S; ocs o[9]: S; switch b: S": lambda m, n: m + 1,
    "switch a[m, n]: S": lambda m, n: m * n,
    "switch a[2x3]: S; switch b[n]: S": lambda m, n: 6 + n,
    "switch a[m..m + n]: S": lambda m, n: n + 1,
    "switch a[2*m - n + 9]: S": lambda m, n: 2 * m - n + 9,
    "switch a[m//2 + 1]: S; switch b[m % 3 + 1]: S": lambda m, n: m // 2 + 1 + m % 3 + 1,
    "switch a[min(m, n, 4)]: S; switch b[max(m, n)]: S": lambda m, n: min(m, n, 4) + max(m, n),
    "switch a[m if m > n else n + 1]: S": lambda m, n: m if m > n else n + 1,
    "switch a[1 if (m < n or m == 3) and not (n != 2) else 7]: S": lambda m, n: 1 if (m < n or m == 3) and n == 2 else 7,
    "switch a[2 if true else m]: S; switch b[m if false else 3]: S": lambda m, n: 5,
    "switch a[3 if 1 <= n < m else 8]: S": lambda m, n: 3 if 1 <= n < m else 8,
    "switch a[-(-m)]: S": lambda m, n: m,
    "let k = m + 1; let j = k*n; switch a[j]: S": lambda m, n: (m + 1) * n,
    "pod p[m] { let n = 2; switch a[n]: S; group g[3] { switch b: S } }; switch c[n]: S": lambda m, n: m * 5 + n,
    "connect a to b; naming a \"x\"; switch a[m]: S": lambda m, n: m,
}  # fmt: skip


@pytest.mark.parametrize("body", COUNTS)
def test_the_first_values_that_break_a_bound(body: str) -> None:
    """Every comparison, with bounds below, among and above the counts."""
    count = COUNTS[body]
    text = "fabric f {{\n  {}\n  require switches {} {}\n}}\n"
    for op, test in {
        "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__, "==": int.__eq__,
    }.items():  # fmt: skip
        for bound in {0, 5, min(count(m, n) for m, n in product(M, N)), max(count(m, n) for m, n in product(M, N)), 100}:
            expected = first_broken(lambda m, n, test=test, bound=bound: test(count(m, n), bound))  # type: ignore[misc]
            found = answer(text.format(body, op, bound), f"switches {op} {bound}", {"m": M, "n": N})
            assert found == expected, (op, bound)


UNREAD = [
    "switch a[m**2]: S",
    "switch a[m//n]: S",
    "switch a[m % (0 - 2)]: S",
    "switch a[k]: S",
    "let k: ratio = 2; switch a[k]: S",
    "let k = 2 where m > 1; switch a[k]: S",
    "def k(x: int): int = x; switch a[k(2)]: S",
    "let k = k; switch a[k]: S",
    "switch a[1 if m else 2]: S",
    "switch a[1 if m in 1..2 else 2]: S",
    "switch a[?]: S",
    "switch a[m]: S; omit a[0]",
    "clos { }; switch a[m]: S",
    "if m > 1 { switch a[m]: S }",
]


@pytest.mark.parametrize("body", UNREAD)
def test_what_no_formula_is_made_of_is_not_answered(body: str) -> None:
    """Nothing is said, though the bound would hold for every number."""
    text = f"fabric f {{\n  {body}\n  require switches >= 0\n}}\n"
    assert answer(text, "switches >= 0", {"m": M, "n": N}) is None


BASE = "fabric f {\n  switch a[m]: S\n  require switches >= 1\n}\n"


@pytest.mark.parametrize("more", ["extend f { switch b: S }", "override f.a[0]: T", "fabric ] x"])
def test_a_fabric_that_other_statements_change_is_not_answered(more: str) -> None:
    """Statements at the top of the file that speak of fabrics, or that were not read."""
    assert answer(BASE, "switches >= 1", {"m": M}) == "proved"
    assert answer(f"{BASE}{more}\n", "switches >= 1", {"m": M}) is None


@pytest.mark.parametrize("requirement", ["links >= 1", "switches of a >= 1", "diameter >= 1"])
def test_only_the_number_of_all_switches_is_answered(requirement: str) -> None:
    """Another figure, or the switches of a part, is not."""
    text = f"fabric f {{\n  switch a[m]: S\n  require {requirement}\n}}\n"
    assert answer(text, requirement, {"m": M}) is None


@pytest.mark.parametrize(("fabric", "requirement"), [("g", "switches >= 1"), ("f", "switches >= 2"), ("f", "links >= 1")])
def test_a_requirement_that_is_not_there_is_not_answered(fabric: str, requirement: str) -> None:
    """By the name of the fabric and the text of the requirement."""
    assert answer(BASE, requirement, {"m": M}, fabric=fabric) is None


def test_values_that_are_listed_or_fixed() -> None:
    """Choices are those of the list; a parameter with one value is that value; counts that disagree stop it."""
    text = "fabric f {\n  switch a[m if fat else 2*m + n]: S\n  require switches <= 12\n}\n"
    said = {"m": (2, 5, 9), "fat": (False, True)}
    assert answer(text, "switches <= 12", said, {"n": 1}) == {"m": 9, "fat": False}
    assert answer(text, "switches <= 12", said, {"n": 3}) == {"m": 5, "fat": False}
    assert answer(text, "switches <= 12", {"m": (2, 5, 9)}, {"n": 1, "fat": True}) == "proved"
    assert answer(text, "switches <= 12", {"m": ("x",)}, {"n": 1, "fat": True}) is None  # type: ignore[dict-item]
    assert answer(BASE, "switches >= 1", {"m": M}, measured=(({"m": 3}, 3), ({"m": 7}, 7))) == "proved"
    assert answer(BASE, "switches >= 1", {"m": M}, measured=(({"m": 3}, 3), ({"m": 7}, 8))) is None
