"""Patterns that are refused: message, notes and advice of each; and the limits of what is tried."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tdsl.fabric import patterns
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault

HERE = SourceSpan(SourceFile("x.fab", "spread"), 0, 6)


def fault(made: Any, *args: Any) -> tuple[str, str, tuple[str, ...], str]:
    """Code, message, notes and help of what a pattern raises at its span."""
    with pytest.raises(Fault) as refused:
        made(*args)
    found = refused.value.diagnostic
    assert found.span == HERE
    return found.code, found.message, found.notes, found.help


def test_pairs_of_two_sizes() -> None:
    for a, b in ((3, 4), (4, 3), (0, 1), (1, 0)):
        said = f"`pairs` connects two sets of the same size; these have {a} and {b} members"
        assert fault(patterns.in_order, a, b, 0, HERE) == ("E0457", said, (), "")


def test_a_spread_that_falls_into_parts() -> None:
    """Without other statements that could join the parts it is refused; with them they are told of it."""
    for a, b, k, parts in ((2, 4, 2, 2), (4, 4, 1, 4), (6, 4, 2, 2), (2, 2, 1, 2)):
        said = f"spreading {k} ports of each of {a} x over {b} y splits them into parts that are not connected"
        help = "give each x more ports, have fewer y, or join the parts by other connects"
        expected = ("E0458", said, (f"{parts} parts by these links alone",), help)
        assert fault(patterns.spread_links, a, b, k, False, HERE, ("x", "y")) == expected
        told: list[Fault] = []
        found = patterns.spread_links(a, b, k, False, HERE, ("x", "y"), told.append)
        assert len(found.a) == a * k and [t.diagnostic.message for t in told] == [said]


def test_a_spread_over_the_others() -> None:
    said = "5 ports of each x do not spread evenly over the 3 others"
    help = "write `spread uneven` to allow one link more to the nearest ones"
    assert fault(patterns.mesh_spread, 4, 5, False, HERE, "x") == ("E0454", said, ("5 = 1 x 3 + 2",), help)


@pytest.mark.parametrize("offers", [1, 2, 3, 5, 8, 40])
def test_numbers_that_would_be_even(offers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest one below and above, fewer than so many away and at most one for each link."""
    assert patterns.OFFERS == 2**16
    monkeypatch.setattr(patterns, "OFFERS", offers)
    for a in range(1, 8):
        for b in range(2, 9):
            for k in range(1, 12):
                if not k % b or (k < b and not a * k % b):
                    continue
                even = [n for n in range(1, a * k + 1) if abs(n - b) < offers and (k % n == 0 or (k < n and a * k % n == 0))]
                below, above = max((n for n in even if n < b), default=0), min((n for n in even if n > b), default=0)
                options = " or ".join(str(n) for n in (below, above) if n)
                help = fault(patterns.spread_links, a, b, k, False, HERE, ("x", "y"))[3]
                assert help == f"{options} y would be even; or write `spread uneven` to allow one link more for some pairs"


def test_random_graphs_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """No such graph; and none found in 200 pairings of all ends."""
    help = "the degree is less than the number of members, and degree times members is even"
    for n, degree in ((4, 0), (4, 4), (5, 3), (4, -1), (1, 1)):
        said = f"no simple graph gives each of {n} members {degree} links"
        assert fault(patterns.random_regular, n, degree, 1, HERE) == ("E0457", said, (), help)
    tried: list[tuple[int, int]] = []

    def failed(a: Any, b: Any, n: int, rng: object) -> bool:
        tried.append((len(a), len(b)))
        return False

    monkeypatch.setattr(patterns, "_remove_loops_and_repeats", failed)
    said = "no 2-regular graph on 6 members was found from seed 7"
    assert fault(patterns.random_regular, 6, 2, 7, HERE) == ("E0457", said, (), "try another seed")
    assert tried == [(6, 6)] * 200


def test_ends_are_swapped_a_thousand_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """One link from a member to itself cannot be mended: each round draws one number for it."""

    class Counted:
        drawn = 0

        def random_raw(self) -> int:
            self.drawn += 1
            return 0

    rng: Any = Counted()
    none = np.zeros(1, dtype=np.int64)
    assert patterns._remove_loops_and_repeats(none.copy(), none.copy(), 1, rng) is False and rng.drawn == 1000
    a, b = np.array([0, 1, 0]), np.array([1, 2, 1])  # the third repeats the first
    again: Any = Counted()
    assert patterns._remove_loops_and_repeats(a, b, 3, again) is False and again.drawn == 1000
    fine = np.array([0, 1, 2]), np.array([1, 2, 0])
    last: Any = Counted()
    assert patterns._remove_loops_and_repeats(*fine, 3, last) is True and last.drawn == 0


def test_a_repair_swaps_ends_of_drawn_links() -> None:
    """A link from a member to itself takes the end of the drawn one; each round draws for every link that is wrong."""

    class Drawn:
        def __init__(self, *numbers: int) -> None:
            self.left = list(numbers)

        def random_raw(self) -> int:
            return self.left.pop(0)

    rng: Any = Drawn(7)
    a, b = np.array([0, 1, 2]), np.array([0, 2, 3])
    assert patterns._remove_loops_and_repeats(a, b, 4, rng) and rng.left == []
    assert (a.tolist(), b.tolist()) == ([0, 1, 2], [2, 0, 3])  # 7 % 3 is 1
    two: Any = Drawn(5, 6)
    a, b = np.array([0, 1, 2, 2]), np.array([0, 1, 3, 4])
    assert patterns._remove_loops_and_repeats(a, b, 5, two) and two.left == []
    assert (a.tolist(), b.tolist()) == ([0, 1, 2, 2], [1, 3, 0, 4])
