"""How long a job runs between two interruptions, on average."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME, Quantity
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.failure_clauses import DAY, HELP, time_in_words
from tdsl.verify.failure_figure import FigureOfInterruptedJob
from tdsl.verify.job_failures import interruptions_of_claim, rates_by_kind_text


class JobMtbf(FigureOfInterruptedJob, Check):
    """How long a job runs between two interruptions, on average.

    ## What it means
    `job_mtbf of S` is about one job on all hosts that S names (hosts, or their accelerators); without `of` on
    all of the fabric. It is interrupted by the failure of one of its hosts, and of any other part that alone
    takes an endpoint of one of them. `with CONDITION` counts, in place of the latter, the parts after whose
    failure alone CONDITION does not hold.

    ## Formula and source
    1 / Σ λ over the parts that interrupt the job. One part of each orbit is judged. Llama 3's 419 unexpected
    interruptions in 54 days of 16,384 GPUs are 3.09 h (Llama Team, 2024, table 5). 6.5 failures per 1,000
    node-days (RSC-1, Kokolis and others, HPCA 2025) are 1.80 h for 2,048 nodes of 8, and 28.8 h for 128
    nodes, where 7.9 h were measured: a rate of hardware alone does not predict what a job experiences.

    ## What it assumes
    Failures are independent, and of an exponential distribution or in their long-run mean. Software, planned
    maintenance and other jobs interrupt nothing here. Two failures at once that only together interrupt it
    are not counted. The status of a requirement that holds is `modelled`. Where parts state no rate, the
    figure is an upper bound.

    ## A design that passes
    ```fab
    host node[16]: NODE { fails 0.65%/day }
    require job_mtbf of node[0..7] >= 18day                 # 8 nodes: 1/(8 · 0.0065) = 19.2 days
    ```

    ## A design that fails
    ```fab
    host node[16]: NODE { fails 0.65%/day }
    require job_mtbf >= 10day                               # 16 nodes: 9.6 days
    ```

    ### What it prints
    ```
    E0469: `job_mtbf >= 10day` is not met: 9.615 days between interruptions of 16 nodes: host 0.104 a day \
(rates stated in the design)
    ```
    """

    code = "E0469"
    name = "job_mtbf"
    wrong = "A job that is interrupted too often"
    kind = "quantity"
    unit = "s"
    dim = TIME
    takes = frozenset({"of", "with"})
    example = "job_mtbf of node >= 10day"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        job = interruptions_of_claim(view, claim)
        if isinstance(job, str):
            return skipped(job)
        found, missing, bases = job
        high = Quantity(1 / found.lower, TIME) if found.lower else None
        low = Quantity(1 / found.upper, TIME)
        text = (
            f"{time_in_words(1 / found.upper)} between interruptions of {found.nodes:,} "
            f"{'node' if found.nodes == 1 else 'nodes'}: {rates_by_kind_text(found.by_kind)} ({bases})"
        )
        witness = {
            "nodes": found.nodes,
            "interruptions_per_day": float(found.upper * DAY),
            "by_kind": {k: float(r * DAY) for k, r in sorted(found.by_kind.items())},
        }
        if missing:
            low = Quantity(Fraction(0), TIME)
            text = f"at most {text}; {missing}"
        if high is None or low != high:
            return Judgement(
                "bounded", text, high or low, low, inf if high is None else high, witness=witness, help=HELP
            )
        return Judgement("modelled", text, low, low, low, witness=witness)
