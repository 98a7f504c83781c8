"""How many parts fail in a day on average."""

from __future__ import annotations

from fractions import Fraction
from math import inf

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.subject import devices_of_selectors
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.failing_parts import FailingPart, FailingParts
from tdsl.verify.failure_clauses import DAY, HELP, bases_of_rates, missing_of_parts
from tdsl.verify.failure_figure import FigureOfFailingParts
from tdsl.verify.job_failures import rates_by_kind_text


class FailuresPerDay(FigureOfFailingParts, Check):
    """How many parts fail in a day on average.

    ## What it means
    The mean number of failures in 24 hours of all hosts, switches, links, cables, transceivers and risk
    groups whose rate is stated: by `mtbf`, `fit` or `fails` in the design, in the file of `--prices`, or in
    the model. `failures_per_day of S` counts the devices that S names with what is in them, `of network` the
    switches, optical switches, panels, links, cables and transceivers.

    ## Formula and source
    Σ λ over the parts, in failures a day. One FIT is a failure in 10^9 hours (IEC 61709); a `mtbf` of T is
    λ = 1/T. A month is 730.5 hours. Alibaba's 0.057% a month of a link from a NIC to its switch (Qian and
    others, "Alibaba HPN", SIGCOMM 2024) is 780 FIT.

    ## What it assumes
    Each part is in service all the time: what is under repair and does not fail meanwhile is not taken off.
    The status of a requirement that holds is `modelled`. Where parts state no rate, the figure is a lower
    bound, and the answer counts them.

    ## A design that passes
    ```fab
    switch leaf[8]: SW { fails 0.051%/month }
    require failures_per_day of leaf <= 0.001               # 8 · 0.00051 / 30.4375 = 0.000134
    ```

    ## A design that fails
    ```fab
    host node[2048]: NODE { fails 0.65%/day }
    require failures_per_day of node <= 10                  # 13.3
    ```

    ### What it prints
    ```
    E0429: `failures_per_day of node <= 10` is not met: 13.31 failures a day: host 13.31 a day (rates \
stated in the design)
    ```
    """

    code = "E0429"
    name = "failures_per_day"
    wrong = "More failures than allowed"
    kind = "number"
    unit = "failures/day"
    reads_of = True
    takes = frozenset({"of"})
    example = "failures_per_day <= 10"

    def judgement_of_parts(self, view: View, claim: ResolvedClaim | None, found: FailingParts) -> Judgement:
        parts, missing = _parts_asked_about(view, claim, found)
        if not parts and not missing:
            return skipped("nothing that it names can fail, or is built")
        day = sum((p.per_second for p in parts), Fraction(0)) * DAY
        kinds: dict[str, Fraction] = {}
        for p in parts:
            kinds[p.kind] = kinds.get(p.kind, Fraction(0)) + p.per_second
        said = f": {rates_by_kind_text(kinds)}" if kinds else ""
        text = f"{float(day):.4g} failures a day{said} ({bases_of_rates(parts)})"
        witness = {"by_kind": {k: float(r * DAY) for k, r in sorted(kinds.items())}, "parts": len(parts)}
        if missing:
            text = f"at least {text}; {missing}"
            return Judgement("bounded", text, day, day, inf, witness=witness, help=HELP)
        return Judgement("modelled", text, day, day, day, witness=witness)


def _parts_asked_about(
    view: View, claim: ResolvedClaim | None, found: FailingParts
) -> tuple[list[FailingPart], str]:
    """The parts that a claim is about, and what states no rate."""
    missing = missing_of_parts(found, repairs=False)
    if claim is None or not claim.of:
        return list(found.parts), missing
    if any(s.kind == "network" for s in claim.of):
        return found.of_kinds(network=True), missing
    mine = found.among_devices(devices_of_selectors(view.fabric, claim.of))
    return list(mine.parts), missing_of_parts(mine, repairs=False)
