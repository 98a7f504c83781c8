"""The time of every regular expression of the package grows about as its text does, whatever the text."""

import re

import pytest

from tests.safety.patterns import CALLS, Used, find_all_patterns, slowest_growth

STEPS = [2, pytest.param(1, marks=pytest.mark.daily)]
"""Half of the attacks in each run, with which the second test finds what it looks for."""


@pytest.mark.parametrize("step", STEPS)
def test_no_pattern_backtracks(step: int) -> None:
    slow = [
        f"{used.place}: {way} of {text!r} and longer ones grows as n^{exponent:.1f}: {used.pattern.pattern!r}"
        for used in find_all_patterns()
        if (found := slowest_growth(used, step)) is not None
        for exponent, way, text in [found]
    ]
    assert not slow, "\n".join(slow)


@pytest.mark.parametrize("step", STEPS)
def test_what_is_looked_for_is_found(step: int) -> None:
    """Patterns that backtrack, each of another kind, and the same without."""
    for slow in (r"(a+)+b", r"\s*(.*?)\s*x", r"\d*\d+;", r"[\w.]+@", r"(?:a|a)*b", r'"?([^"]*?)"?\s+y'):
        assert slowest_growth(Used("", re.compile(slow), tuple(CALLS)), step) is not None, slow
    for quick in (r"(?:a++)++b", r"\s*+(\S++)", r"(?<!\d)\d++;", r"[\w.]{1,64}@", r"a*+b"):
        assert slowest_growth(Used("", re.compile(quick), ("match", "fullmatch")), step) is None, quick
