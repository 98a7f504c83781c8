"""How many states of moves are judged before the search for an order is given up: four times the tries of the planner."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tdsl.changes.exhaust import TIMES, Search
from tests.changes.test_batches_of_moves import Counted


def apart(count: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Cables of as many lower devices, so that no two of them are interchangeable."""
    return [(f"l{i}.0", f"s.{i}") for i in range(count)], [(f"l{i}.0", f"t.{i}") for i in range(count)]


@pytest.mark.parametrize("tries", [1, 2])
def test_a_proof_takes_a_state_for_each_cable(tries: int) -> None:
    """Where none can be out, it is proved if all are judged within the limit; one cable more is beyond it."""
    within = Search(Counted(*apart(TIMES * tries), Fraction(1), tries=tries)).run()
    beyond = Search(Counted(*apart(TIMES * tries + 1), Fraction(1), tries=tries)).run()
    assert (within.found, within.proved, within.best) == (False, True, Fraction(TIMES * tries - 1, TIMES * tries))
    assert (beyond.found, beyond.proved) == (False, False)


def test_an_order_is_found_at_the_limit() -> None:
    """A chain has a state for each cable: interchangeable cables that leave one after another."""
    out, come = [(f"l.{i}", f"s.{i}") for i in range(5)], [(f"l.{i}", f"t.{i}") for i in range(5)]
    assert Search(Counted(out[:4], come[:4], Fraction(3, 4), tries=1)).run().found
    last = Search(Counted(out, come, Fraction(4, 5), tries=1)).run()
    assert (last.found, last.proved, last.reached) == (False, False, 4)
