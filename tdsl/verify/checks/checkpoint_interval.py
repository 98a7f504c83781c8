"""How long a job works between two checkpoints, at best."""

from __future__ import annotations

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.job_reliability import (
    daly_interval,
    young_interval,
)
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME, Quantity
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.failure_clauses import time_in_words, words_and_amounts
from tdsl.verify.failure_figure import FigureOfInterruptedJob, interruption_rate, judgement_at_most


class CheckpointInterval(FigureOfInterruptedJob, Check):
    """How long a job works between two checkpoints, at best.

    ## What it means
    `checkpoint_interval write 30s mtbf 3.09h` is the time of work after which a checkpoint is to be written
    that takes 30 s, so that the time spent on checkpoints and on work that is lost to failures is least.
    Without `mtbf` it is that of `job_mtbf of S`, with the `of` that is written here.

    ## Formula and source
    Daly's higher order, √(2δM)·(1 + √(δ/2M)/3 + (δ/2M)/9) − δ for δ < 2M (Future Generation Computer Systems
    22, 2006); the answer shows Young's √(2δM) (Communications of the ACM 17, 1974) beside it. δ is the time
    to write and M the mean time between interruptions. δ = 30 s and M = 3.09 h give 817 s by Young.

    ## What it assumes
    The job stops while a checkpoint is written. Failures are exponentially distributed. The status of a
    requirement that holds is `modelled`.

    ## A design that passes
    ```fab
    host node[16]: NODE { fails 0.65%/day }
    require checkpoint_interval write 30s mtbf 3.09h >= 13min
    ```

    ## A design that fails
    ```fab
    host node[16]: NODE { fails 0.65%/day }
    require checkpoint_interval write 30s mtbf 3.09h >= 1h
    ```

    ### What it prints
    ```
    E0477: `checkpoint_interval write 30s mtbf 3.09h >= 1h` is not met: 13.28 min of work between \
checkpoints of 30 s (Daly; 13.62 min by Young), at 3.09 h between interruptions
    ```
    """

    code = "E0477"
    name = "checkpoint_interval"
    wrong = "Checkpoints more often than wanted"
    kind = "quantity"
    unit = "s"
    dim = TIME
    takes = frozenset({"of", "args"})
    needs = frozenset({"args"})
    example = "checkpoint_interval write 30s >= 10min"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        assert claim is not None
        said, wrong = words_and_amounts(claim, {"write": "time above zero", "mtbf": "time above zero"})
        if wrong or "write" not in said:
            return skipped(wrong or "the time to `write` a checkpoint is to be stated")
        if claim.of and "mtbf" in said:
            return skipped("`of` is a job of the design, and `mtbf` that of another: leave one out")
        rate = interruption_rate(view, claim, said)
        if isinstance(rate, str):
            return skipped(rate)
        mtbf, missing = 1 / rate[0], rate[1]
        daly, young = daly_interval(said["write"], mtbf), young_interval(said["write"], mtbf)
        text = (
            f"{time_in_words(daly)} of work between checkpoints of {time_in_words(said['write'])} (Daly; "
            f"{time_in_words(young)} by Young), at {time_in_words(mtbf)} between interruptions"
        )
        witness = {"daly": float(daly), "young": float(young), "mtbf": float(mtbf)}
        return judgement_at_most(text, Quantity(daly, TIME), missing, witness)
