"""What the checks of training jobs have in common."""

from __future__ import annotations

import inspect
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.view import View
from tdsl.semantics.quantity import NONE, Dim, Quantity, quantity_text
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Judgement, Kind, percent_text, skipped
from tdsl.verify.result import Value

if TYPE_CHECKING:
    from tdsl.fabric.job_ranks import RankedJob
    from tdsl.jobs.step import Ends, StepModel


@dataclass(slots=True, eq=False)
class KnownSteps:
    """Models of jobs on views, which several requirements ask for."""

    models: WeakKeyDictionary[View, list[tuple[RankedJob, StepModel]]]


_known = KnownSteps(WeakKeyDictionary())


def step_model_of(view: View, job: RankedJob) -> StepModel | str:
    """The model of a job on a view; or why there is none."""
    from tdsl.jobs.placed import JobNotOnNetwork
    from tdsl.jobs.step import StepModel

    found = _known.models.setdefault(view, [])
    for known, model in found:
        if known is job:
            return model
    try:
        model = StepModel.of(view, job)
    except JobNotOnNetwork as fault:
        return f"job `{job.job.name}`: {fault}"
    found.append((job, model))
    return model


ASSUMED = """\
The efficiency is the user's, or follows from what was measured. Phases that do not overlap follow
each other; software costs nothing; delays that the design does not state count as 0, and the notes
say of what. The notes list every figure that the answer rests on with where it is from: the design, a
source, an assumption, a default."""
"""What every figure of a job assumes, put in place of ``{assumed_of_jobs}`` in the pages of the checks."""


class JobFigure:
    """A check of one figure of a training job, as an interval of a model."""

    name: ClassVar[str]
    kind: ClassVar[Kind]
    dim: ClassVar[Dim] = NONE
    unit: ClassVar[str] = ""
    cost: ClassVar[int] = 3
    on_demand: ClassVar[bool] = True
    by_model: ClassVar[bool] = True
    reads_of: ClassVar[bool] = True
    scarce: ClassVar[bool] = False
    takes: ClassVar[frozenset[str]] = frozenset({"job"})
    needs: ClassVar[frozenset[str]] = frozenset({"job"})

    @classmethod
    def page(cls) -> str:
        """The check's page, in Markdown, with what all figures of a job assume."""
        return inspect.cleandoc(cls.__doc__ or "").replace("{assumed_of_jobs}", ASSUMED)

    def ends(self, model: StepModel, claim: ResolvedClaim) -> Ends:
        """The figure's least and most."""
        raise NotImplementedError

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        """The figure of the claim's job."""
        if claim is None or claim.job is None:
            return skipped("it is of a job: write `of JOB`")
        model = step_model_of(view, claim.job)
        if isinstance(model, str):
            return skipped(model)
        if model.why_no_time:
            return skipped(f"job `{claim.job.job.name}`: {model.why_no_time}")
        return self.judgement_of_model(model, claim)

    def judgement_of_model(self, model: StepModel, claim: ResolvedClaim) -> Judgement:
        """The interval as an answer."""
        from tdsl.jobs.step import ORIGINS
        from tdsl.jobs.table import facts_of_model

        least, most = self.ends(model, claim)
        low: Value = self.value_of(least)
        high: Value = inf if most is None else self.value_of(most)
        by_schedule = low if most is None or self.scarce else high  # of the slower end of the step
        shown = self.words_of(least) if most == least else self.words_between(least, most)
        text = f"{shown}; limited by {model.limit}"
        notes = [f"{i.name} {i.value}: {ORIGINS[i.origin]}" for i in model.inputs()]
        if model.unknown_delays:
            notes.append(f"delays that are not stated count as 0: {', '.join(model.unknown_delays)}")
        return Judgement(
            "modelled", text, by_schedule, low, high,
            witness=facts_of_model(model), notes=tuple(notes),
        )  # fmt: skip

    def value_of(self, amount: Fraction) -> Value:
        """An amount in the check's kind."""
        return Quantity(amount, self.dim) if self.kind == "quantity" else amount

    def words_of(self, amount: Fraction) -> str:
        """An amount in words."""
        if self.kind == "quantity":
            return quantity_text(Quantity(amount, self.dim))
        if self.kind == "fraction":
            return percent_text(amount)
        return f"{float(amount):,.6g} {self.unit}".strip()

    def words_between(self, least: Fraction, most: Fraction | None) -> str:
        """An interval in words."""
        if most is None:
            return f"at least {self.words_of(least)}"
        low, high = self.words_of(least), self.words_of(most)
        return low if low == high else f"between {low} and {high}"
