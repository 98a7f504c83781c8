"""The share of its time in which a job makes progress that is kept."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.job_reliability import (
    daly_interval,
    expected_training_time_ratio,
)
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.failure_clauses import DAY, share_text, time_in_words, words_and_amounts
from tdsl.verify.failure_figure import FigureOfInterruptedJob, interruption_rate, judgement_at_most

WORDS = {
    "interval": "time above zero",
    "write": "time",
    "restart": "time",
    "mtbf": "time above zero",
    "nodes": "count above zero",
    "node_mtbf": "time above zero",
}


class Goodput(FigureOfInterruptedJob, Check):
    """The share of its time in which a job makes progress that is kept.

    ## What it means
    `goodput write 30s restart 5min of S` is the share of the time of a job on the hosts of S that remains
    after restarts, work that a failure loses, and checkpoints (ETTR, the effective training time ratio).
    `interval` is the time of work between two checkpoints, Daly's best where it is not written. `nodes 2048
    node_mtbf 3692h`, or `mtbf 3.09h` of the whole job, state the failures of a job that is not in the design.

    ## Formula and source
    (1 − f·(u + Δ/2)) / (1 + w/Δ) with f failures of the job in a unit of time, u the time to restart, Δ the
    interval and w the time to write (Kokolis and others, "Revisiting reliability in large-scale machine
    learning research clusters", HPCA 2025, arXiv 2410.21680). 2,048 nodes at 6.5 failures per 1,000 node-days
    with 5 minutes between checkpoints and 5 to restart have 0.931 where writing stops nothing.

    ## What it assumes
    Failures are independent; none happens during a restart; the job never waits for a node, which
    `spares_needed` is about. The status of a requirement that holds is `modelled`. Where parts state no rate,
    the figure is an upper bound.

    ## A design that passes
    ```fab
    host node[16]: NODE { fails 0.65%/day }
    require goodput nodes 2048 node_mtbf 3692h interval 5min restart 5min >= 93%
    ```

    ## A design that fails
    ```fab
    host node[16]: NODE { fails 0.65%/day }
    require goodput nodes 16384 node_mtbf 3692h interval 5min restart 5min >= 93%
    ```

    ### What it prints
    ```
    E0478: `goodput nodes 16384 node_mtbf 3692h interval 5min restart 5min >= 93%` is not met: 44.53%: …
    ```
    """

    code = "E0478"
    name = "goodput"
    wrong = "A job that makes too little progress"
    kind = "fraction"
    unit = "fraction"
    takes = frozenset({"of", "args"})
    needs = frozenset({"args"})
    example = "goodput write 30s restart 5min >= 90%"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        assert claim is not None
        said, wrong = words_and_amounts(claim, WORDS)
        wrong = wrong or _why_words_contradict(said, bool(claim.of))
        if wrong:
            return skipped(wrong)
        interrupted = interruption_rate(view, claim, said)
        if isinstance(interrupted, str):
            return skipped(interrupted)
        rate, missing = interrupted
        write, restart = said.get("write", Fraction(0)), said.get("restart", Fraction(0))
        interval = said.get("interval") or (daly_interval(write, 1 / rate) if write and rate else None)
        if not interval:
            return skipped("without `interval` the time to `write` a checkpoint is to be stated")
        share = expected_training_time_ratio(rate, restart, interval, write)
        between = f"{time_in_words(1 / rate)} between interruptions" if rate else "no interruptions"
        text = (
            f"{share_text(share, 4)}: {between}, {time_in_words(interval)} between checkpoints of "
            f"{time_in_words(write)}, {time_in_words(restart)} to restart"
        )
        witness = {"per_day": float(rate * DAY), "interval": float(interval)}
        return judgement_at_most(text, share, missing, witness)


def _why_words_contradict(said: Mapping[str, Fraction], of: bool) -> str:
    """Why the words do not say of one job how often it fails; "" if they do, or say nothing of it."""
    if ("nodes" in said) != ("node_mtbf" in said):
        return "`nodes` and `node_mtbf` of `goodput` are written together"
    if "nodes" in said and "mtbf" in said:
        return "write `mtbf` of the job, or `nodes` and `node_mtbf`: not both"
    if of and ("nodes" in said or "mtbf" in said):
        return (
            "`of` is a job on hosts of the design, and `mtbf` states the failures of another: leave one out"
        )
    return ""
