"""Proposals for holes: the next number that the relations between sizes allow. The wiring judges what is
proposed."""

from __future__ import annotations

from collections.abc import Mapping

import z3

from tdsl.semantics.plan import FabricPlan
from tdsl.sizing.budget import DEFAULT, SizingBudget
from tdsl.sizing.objectives import Weights
from tdsl.sizing.relations import SizeRelations


class Undecided(Exception):
    """z3 spent its limit."""


class Guide:
    """The relations of a plan with its holes open. ``spent`` is the work so far, as the search counts it."""

    def __init__(self, plan: FabricPlan, weights: Weights | None, budget: SizingBudget = DEFAULT) -> None:
        self.budget = budget
        self.spent = 0
        self.sizes = SizeRelations(plan, proposing=True)
        lines = [c for line in self.sizes.lines.values() for c in line.holds]
        bounds = [hole <= budget.largest for hole in self.sizes.holes.values()]
        self.relations = [
            z3.BoolVal(c) if isinstance(c, bool) else c for c in (*self.sizes.always, *lines, *bounds)
        ]
        self.total = None if weights is None else weights.term(self.sizes)

    def least(
        self,
        fixed: Mapping[tuple[int, int], int],
        key: tuple[int, int],
        low: int,
        high: int,
        below: int | None,
    ) -> int | None:
        """The least number of ``low..high`` for a hole with those before it fixed, and with the figure below
        a bound.

        None if there is none. Raises Undecided.
        """
        hole = self.sizes.holes.get(key)
        if hole is None:
            return low
        known = [(h, z3.IntVal(fixed[k])) for k, h in self.sizes.holes.items() if k in fixed]
        relations = [
            *self.relations,
            *([self.total < below] if below is not None and self.total is not None else []),
        ]
        relations = [z3.simplify(z3.substitute(c, *known)) for c in relations]
        solver = z3.SolverFor("QF_NIA")
        solver.set("random_seed", 0)
        solver.set("rlimit", self.budget.proposal_work)
        solver.add(*relations)
        if low <= high and self._number_between(solver, hole, low, low) is not None:
            return low  # most often: what the relations do not rule out, the wiring does
        low += 1
        found: int | None = None
        while low <= high:  # that some number up to m fits is monotone in m
            middle = (low + high) // 2 if found is not None else high
            number = self._number_between(solver, hole, low, middle)
            if number is None:
                low = middle + 1
            else:
                found = number
                high = found - 1
        return found

    def _number_between(self, solver: z3.Solver, hole: z3.ArithRef, low: int, high: int) -> int | None:
        """A number of ``low..high`` for a hole for which the assertions of a solver hold, None if there is
        none. Raises Undecided."""
        solver.push()
        try:
            solver.add(hole >= low, hole <= high)
            before = _resources_used(solver)
            answer = solver.check()
            steps = _resources_used(solver) - before
            self.spent += self.budget.relation_cost * len(self.relations) + self.budget.step_cost * steps
            if answer == z3.unknown:
                raise Undecided
            if answer == z3.unsat:
                return None
            number: int = solver.model().eval(hole, model_completion=True).as_long()
            return number
        finally:
            solver.pop()


def _resources_used(solver: z3.Solver) -> int:
    """The steps of z3 in this process so far."""
    statistics = solver.statistics()
    return sum(int(value) for key, value in statistics if key == "rlimit count")
