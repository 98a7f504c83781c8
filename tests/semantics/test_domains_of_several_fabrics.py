"""A parameter that several fabrics have takes values that all of their guards allow, in whichever order they come."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.semantics.test_ranges import domain_of

GUARDS = [("n > 2", "n % 2 == 1", "1 <= n <= 7"), ("n in [7, 5, 3, 2]", "n != 5", "n % 2 == 1"), ("n > 2", "n > 4", "n in 1..7")]


@pytest.mark.parametrize("guards", GUARDS)
def test_all_guards_hold(guards: tuple[str, str, str]) -> None:
    """Compared with each guard by itself."""
    domains = [domain_of(f"n: int = {d} where {g}") for g in guards for d in (7,)]
    expected = {n for n in range(-20, 20) if all(d.allows(n) for d in domains)}
    for a, b, c in permutations(domains):
        for found in (a.also(b).also(c), a.also(b.also(c))):
            assert found.choices is not None and set(found.choices) == expected
            assert {n for n in range(-20, 20) if found.allows(n)} == expected
