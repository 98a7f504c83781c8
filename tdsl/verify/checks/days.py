"""Days that a training job takes for so many tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.verify.check import Check
from tdsl.verify.job_figure import JobFigure

if TYPE_CHECKING:
    from tdsl.jobs.step import Ends, StepModel


class TrainingDays(JobFigure, Check):
    """Days that a training job takes for so many tokens.

    ## What it means
    `days of llama3 over 15T tokens`: days that the job takes for 15 trillion tokens at the time of its
    steps, without failures. An interval of the same model as `tdsl explain step_time`.

    ## Formula and source
    tokens / (batch · sequence) · step time / 86,400 s.

    ## What it assumes
    {assumed_of_jobs}

    ## A design that passes
    ```fab
    require days of llama3 over 15T tokens <= 70
    ```

    ## A design that fails
    ```fab
    require days of llama3 over 15T tokens <= 30
    ```

    ### What it prints
    ```
    E0437: `days of llama3 over 15T tokens <= 30` is not satisfied: between 64.1 and 64.4 days
    ```
    """

    code = "E0437"
    name = "days"
    wrong = "A training run that takes too long"
    kind = "number"
    unit = "days"
    less_is_better = True
    takes = frozenset({"job", "over"})
    needs = frozenset({"job", "over"})
    example = "days of llama3 over 15T tokens <= 60"

    def ends(self, model: StepModel, claim: ResolvedClaim) -> Ends:
        return model.days_over(claim.over or 1)
