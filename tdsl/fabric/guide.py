"""Proposals for holes: the next number that the relations between sizes allow. The wiring judges what is proposed."""

from __future__ import annotations

from collections.abc import Mapping

import z3

from tdsl.fabric.conflicts import WORK
from tdsl.fabric.figures import Weights
from tdsl.fabric.sizes import Sizes
from tdsl.semantics.plan import Plan


class Undecided(Exception):
    """z3 spent its limit."""


class Guide:
    """The relations of a plan with its holes open."""

    def __init__(self, plan: Plan, weights: Weights | None) -> None:
        self.sizes = Sizes(plan, open=True)
        lines = [c for line in self.sizes.lines.values() for c in line.holds]
        self.relations = [*self.sizes.always, *lines]
        self.total = None if weights is None else weights.term(self.sizes)

    def least(self, fixed: Mapping[tuple[int, int], int], key: tuple[int, int], low: int, high: int, below: int | None) -> int | None:  # fmt: skip
        """The least number of ``low..high`` for a hole with those before it fixed, and with the figure below a bound.

        None if there is none. Raises Undecided.
        """
        hole = self.sizes.holes.get(key)
        if hole is None:
            return low
        solver = z3.Solver()
        solver.set("random_seed", 0)
        solver.set("rlimit", WORK)
        solver.add(*self.relations, hole >= low)
        solver.add(*(self.sizes.holes[k] == v for k, v in fixed.items() if k in self.sizes.holes))
        if below is not None and self.total is not None:
            solver.add(self.total < below)
        found: int | None = None
        while low <= high:  # that some number up to m fits is monotone in m
            middle = (low + high) // 2 if found is not None else high
            answer = solver.check(hole <= middle)
            if answer == z3.unknown:
                raise Undecided
            if answer == z3.unsat:
                low = middle + 1
            else:
                found = solver.model().eval(hole, model_completion=True).as_long()
                high = found - 1
        return found
