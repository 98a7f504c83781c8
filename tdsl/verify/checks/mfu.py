"""Model FLOPs utilisation (MFU) of a training job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.verify.check import Check
from tdsl.verify.job_figure import JobFigure

if TYPE_CHECKING:
    from tdsl.jobs.step import Ends, StepModel


class ModelFlopsUtilisation(JobFigure, Check):
    """Model FLOPs utilisation (MFU) of a training job.

    ## What it means
    `mfu of llama3`: the share of the peak of all accelerators that the model's FLOPs need: those of
    recomputation do not count. An interval of the same model as `tdsl explain step_time`.

    ## Formula and source
    MFU = FLOPs of a step / (step time · ranks · peak) (Chowdhery et al., "PaLM", arXiv 2204.02311,
    appendix B). FLOPs are 6 for each active parameter and token; `attention causal` or `attention full`
    in the job adds those of attention. The peak is that of the chip for the number format of the job,
    dense.

    ## What it assumes
    {assumed_of_jobs}

    ## A design that passes
    ```fab
    require mfu of llama3 >= 38%
    ```

    ## A design that fails
    ```fab
    require mfu of llama3 >= 60%
    ```

    ### What it prints
    ```
    E0435: `mfu of llama3 >= 60%` is not satisfied: between 42.1% and 43%; limited by compute
    ```
    """

    code = "E0435"
    name = "mfu"
    wrong = "A training job that uses too little of its accelerators"
    kind = "fraction"
    unit = "fraction"
    scarce = True
    example = "mfu of llama3 >= 38%"

    def ends(self, model: StepModel, claim: ResolvedClaim) -> Ends:
        return model.mfu
