"""Step time of a training job, between the two ends of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.semantics.quantity import TIME
from tdsl.verify.check import Check
from tdsl.verify.job_figure import JobFigure

if TYPE_CHECKING:
    from tdsl.jobs.step import Ends, StepModel


class StepTime(JobFigure, Check):
    """Step time of a training job, between the two ends of a model.

    ## What it means
    `step_time of llama3`: seconds of a step of the job that the design declares as `job llama3 { … }`.
    The answer is an interval of a model, and so never proved: where all of it satisfies a requirement,
    that is `modelled`; where none of it does, the requirement is not satisfied, which is an error; in
    between it is `bounded`.

    ## Formula and source
    step = compute · (1 + bubble) + exposed communication. Compute is FLOPs / (ranks · peak · efficiency)
    of the fullest stage: 6 FLOPs for each active parameter and token, 8 with full recomputation, and
    those of attention as the job counts them. The bubble is (p − 1) / (v · m) (Narayanan et al., arXiv
    2104.04473). What each dimension sends is in `docs/jobs.md`, with sources; it takes at least what must
    cross the cuts around ranks, hosts, scale-up domains and the groups of the design, and at most what
    rings take whose messages all flow at once on routes that fit. What can overlap with compute is hidden
    as far as compute lasts.

    ## What it assumes
    {assumed_of_jobs}

    ## A design that passes
    ```fab
    require step_time of llama3 <= 6.5s
    ```

    ## A design that fails
    ```fab
    require step_time of llama3 <= 3s
    ```

    ### What it prints
    ```
    E0434: `step_time of llama3 <= 3s` is not satisfied: between 5.2s and 5.4s; limited by compute
    ```
    """

    code = "E0434"
    name = "step_time"
    wrong = "A training step that takes too long"
    kind = "quantity"
    unit = "s"
    dim = TIME
    less_is_better = True
    example = "step_time of llama3 <= 6.5s"

    def ends(self, model: StepModel, claim: ResolvedClaim) -> Ends:
        return model.step
