"""Rules of single functions of the front end: what names are made of, links up for a ratio, statements that were not read."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from tdsl.semantics.openings import NameDependencies
from tdsl.semantics.sizing import Aim, least_uplinks, link_rate
from tests.harness import compile_text

MADE = {"a": {"b", "c"}, "b": {"d"}, "c": {"a"}, "e": {"e"}, "f": {"g", "h"}, "h": {"d"}}


@pytest.mark.parametrize("on", ["d", "g", "c", "z"])
@pytest.mark.parametrize("text", ["a", "b", "c", "d", "e", "f", "x + 2 * f", "leaf[c]", "3", "", "h", "fa"])
def test_a_text_rests_on_what_its_names_are_made_of(text: str, on: str) -> None:
    """Followed through every name, in a circle too; worked out by the closure of the relation."""
    names = NameDependencies(())
    names.made.update(MADE)
    reached = {
        w
        for w in ("a", "b", "c", "d", "e", "f", "g", "h", "x", "leaf", "fa")
        if w in text.replace("[", " ").replace("]", "").split()
    }
    while more := {m for n in reached for m in MADE.get(n, ())} - reached:
        reached |= more
    assert names.rests(text, [on]) == (on in reached)


RATIOS = (Fraction(1), Fraction(2), Fraction(3, 2), Fraction(1, 2), Fraction(7, 3))
CAPACITIES = tuple(Fraction(n, d) for n, d in product((1, 2, 3, 7, 12, 31), (1, 2, 4)))


@pytest.mark.parametrize("mode", ["", "about", "at most"])
def test_the_least_links_up_for_a_ratio(mode: str) -> None:
    """By a search over all numbers: the exact ratio, the nearest (the larger number of two), the first that is not above."""
    for ratio, capacity in product(RATIOS, CAPACITIES):
        every = range(1, 200)
        if mode == "about":
            expected: int | None = min(every, key=lambda k: (abs(capacity / k - ratio), -k))
        else:
            fits = (k for k in every if (capacity / k == ratio if not mode else capacity / k <= ratio))
            expected = next(fits, None)
        assert least_uplinks(Aim(mode, ratio), capacity) == expected, (ratio, capacity)


@pytest.mark.parametrize(("low", "high", "rate"), [(4, 2, 2), (2, 4, 2), (0, 4, 4), (4, 0, 4), (0, 0, 1), (3, 3, 3)])
def test_the_rate_between_two_ports(low: int, high: int, rate: int) -> None:
    """The lower of two; 0 fits any, and of two that fit any it is 1."""
    assert link_rate(low, high) == rate


@pytest.mark.parametrize("body", ["spares = = 2", "= 2"])
def test_a_setting_that_cannot_be_read_has_one_finding(body: str, tmp_path: Path) -> None:
    """A device whose braces hold what is no statement is not judged further."""
    text = f"fabric f {{\n  switch leaf[2]: SW {{ {body} }}\n  connect leaf[0] to leaf[1]\n}}\n"
    found = [d.code for d in compile_text(text, tmp_path).findings if d.severity.name == "ERROR"]
    assert found and all(code.startswith("E00") for code in found), found
