"""Bytes that all ranks of a training job send in a day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.semantics.quantity import SIZE
from tdsl.verify.check import Check
from tdsl.verify.job_figure import JobFigure

if TYPE_CHECKING:
    from tdsl.jobs.step import Ends, StepModel


class BytesPerDay(JobFigure, Check):
    """Bytes that all ranks of a training job send in a day.

    ## What it means
    `bytes_per_day of llama3`: what all ranks together send in a day, over scale-up links and the network.
    An interval of the same model as `tdsl explain step_time`.

    ## Formula and source
    Bytes that a rank sends in a step (docs/jobs.md has the formula of every dimension) · ranks · steps of
    a day. An all-gather or reduce-scatter of S bytes sends (n − 1) / n · S from each of n ranks.

    ## What it assumes
    {assumed_of_jobs}

    ## A design that passes
    ```fab
    require bytes_per_day of llama3 <= 20000PB
    ```

    ## A design that fails
    ```fab
    require bytes_per_day of llama3 <= 1TB
    ```

    ### What it prints
    ```
    E0438: `bytes_per_day of llama3 <= 1TB` is not satisfied: between 9.1EB and 9.2EB
    ```
    """

    code = "E0438"
    name = "bytes_per_day"
    wrong = "A training job that sends too much"
    kind = "quantity"
    unit = "bit"
    dim = SIZE
    example = "bytes_per_day of llama3 <= 100PB"

    def ends(self, model: StepModel, claim: ResolvedClaim) -> Ends:
        low, high = model.bytes_per_day
        return low * 8, None if high is None else high * 8
