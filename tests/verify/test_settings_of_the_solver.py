"""The settings with which HiGHS solves the program of the second opinion: the same work, and so the same answer, every time."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tdsl.verify.second.answer import Limits
from tdsl.verify.second.patterns import _arcs_both_ways, _solve_concurrent_flow


def test_the_program_is_solved_alike_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread and HiGHS's own first seed: with another the pivots, whose number is limited, are others."""
    highspy: Any = pytest.importorskip("highspy")
    said: dict[str, Any] = {}

    class Heard(highspy.Highs):  # type: ignore[misc]
        def setOptionValue(self, option: str, value: Any) -> Any:
            said[option] = value
            return super().setOptionValue(option, value)

    monkeypatch.setattr(highspy, "Highs", Heard)
    a, b = (0, -1), (1, -1)
    assert _solve_concurrent_flow(
        _arcs_both_ways({(a, b): 100}), frozenset(), {(a, b): 50}, Fraction(1), Limits(iterations=77)
    ) == pytest.approx(2)
    assert said == {
        "output_flag": False, "threads": 1, "random_seed": 0, "simplex_iteration_limit": 77,
        "primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9,
    }  # fmt: skip
