"""Tokens that a training job works off in a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.verify.check import Check
from tdsl.verify.job_figure import JobFigure

if TYPE_CHECKING:
    from tdsl.jobs.step import Ends, StepModel


class TokensPerSecond(JobFigure, Check):
    """Tokens that a training job works off in a second.

    ## What it means
    `tokens_per_second of llama3`: tokens of a step over its time, of all ranks together. An interval of
    the same model as `tdsl explain step_time`.

    ## Formula and source
    batch · sequence / step time.

    ## What it assumes
    {assumed_of_jobs}

    ## A design that passes
    ```fab
    require tokens_per_second of llama3 >= 2_000_000
    ```

    ## A design that fails
    ```fab
    require tokens_per_second of llama3 >= 9_000_000
    ```

    ### What it prints
    ```
    E0436: `tokens_per_second of llama3 >= 9_000_000` is not satisfied: between 2.69M and 2.7M tokens/s
    ```
    """

    code = "E0436"
    name = "tokens_per_second"
    wrong = "A training job with too few tokens a second"
    kind = "number"
    unit = "tokens/s"
    scarce = True
    example = "tokens_per_second of llama3 >= 2000000"

    def ends(self, model: StepModel, claim: ResolvedClaim) -> Ends:
        return model.tokens_per_second
