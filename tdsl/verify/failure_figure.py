"""What checks of failures over time have in common: figures at the rates that are stated."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.elements import TooMany
from tdsl.prove.view import View
from tdsl.semantics.quantity import Quantity
from tdsl.verify.check import Judgement, skipped
from tdsl.verify.failing_parts import FailingParts, failing_parts
from tdsl.verify.failure_clauses import HELP
from tdsl.verify.job_failures import interruptions_of_claim


class FailureFigure:
    """A check of a figure that follows by a formula from rates of failures."""

    on_demand: ClassVar[bool] = True
    by_formula: ClassVar[bool] = True
    by_model: ClassVar[bool] = True


class FigureOfFailingParts(FailureFigure):
    """Such a check of the parts that may fail."""

    less_is_better: ClassVar[bool] = True

    def judgement_of_parts(self, view: View, claim: ResolvedClaim | None, found: FailingParts) -> Judgement:
        """The figure of what may fail."""
        raise NotImplementedError

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        """The figure, unless more parts may fail than are judged."""
        try:
            found = failing_parts(view)
        except TooMany as many:
            return skipped(str(many))
        return self.judgement_of_parts(view, claim, found)


class FigureOfInterruptedJob(FailureFigure):
    """Such a check of a job that failures interrupt."""

    cost: ClassVar[int] = 2
    scarce: ClassVar[bool] = True
    reads_of: ClassVar[bool] = True


def interruption_rate(
    view: View, claim: ResolvedClaim, said: Mapping[str, Fraction]
) -> tuple[Fraction, str] | str:
    """Failures a second that interrupt a job, as a claim states them (``nodes`` and ``node_mtbf``, or
    ``mtbf``) or as they are of the job that it names, with what states no rate; or why they are not known."""
    if "nodes" in said:
        return said["nodes"] / said["node_mtbf"], ""
    if said.get("mtbf"):
        return 1 / said["mtbf"], ""
    job = interruptions_of_claim(view, claim)
    return job if isinstance(job, str) else (job[0].upper, job[1])


def judgement_at_most(
    text: str, value: Fraction | Quantity, missing: str, witness: Mapping[str, object]
) -> Judgement:
    """A figure of a formula; where something states no rate (``missing``) it is at most that, at least 0."""
    if not missing:
        return Judgement("modelled", text, value, value, value, witness=witness)
    least = Quantity(Fraction(0), value.dim) if isinstance(value, Quantity) else Fraction(0)
    return Judgement("bounded", f"at most {text}; {missing}", value, least, value, witness=witness, help=HELP)
