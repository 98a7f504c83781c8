"""The share of all failures that is the network's."""

from __future__ import annotations

from fractions import Fraction

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.failing_parts import FailingParts
from tdsl.verify.failure_clauses import DAY, HELP, missing_of_parts, share_text
from tdsl.verify.failure_figure import FigureOfFailingParts


class NetworkShareOfFailures(FigureOfFailingParts, Check):
    """The share of all failures that is the network's.

    ## What it means
    Failures of switches, optical switches, panels, links, cables and transceivers over those of all parts,
    hosts and accelerators included, at the rates that are stated. Risk groups count as neither.

    ## Formula and source
    Σ λ of the network / Σ λ of all parts. In Llama 3's pre-training 42 of 419 unexpected interruptions were
    of switches, cables and NICs: 10% (Llama Team, "The Llama 3 Herd of Models", 2024, table 5).

    ## What it assumes
    What `failures_per_day` assumes. Where parts state no rate, nothing is known of the share, and the answer
    says what it would be if they never fail.

    ## A design that passes
    ```fab
    host node[16]: NODE { fails 0.65%/day }
    switch leaf[2]: SW { fails 0.051%/month }
    connect node[n].nic to leaf[n // 8] { fails never }
    require network_share_of_failures <= 10%
    ```

    ## A design that fails
    ```fab
    host node[16]: NODE { fails never }
    switch leaf[2]: SW { fails 0.051%/month }
    require network_share_of_failures <= 10%                # nothing but the network fails
    ```

    ### What it prints
    ```
    E0448: `network_share_of_failures <= 10%` is not met: 100% of 3.351e-05 failures a day
    ```
    """

    code = "E0448"
    name = "network_share_of_failures"
    wrong = "A network that fails more often than its share"
    kind = "fraction"
    unit = "fraction"
    takes = frozenset()
    example = "network_share_of_failures <= 10%"

    def judgement_of_parts(self, view: View, claim: ResolvedClaim | None, found: FailingParts) -> Judgement:
        network, other = (
            sum((p.per_second for p in parts), Fraction(0))
            for parts in (
                found.of_kinds(network=True),
                [p for p in found.of_kinds(network=False) if p.kind != "risk"],
            )
        )
        missing = missing_of_parts(found, repairs=False)
        if not network + other:
            return skipped(missing or "nothing that states a rate fails")
        share = network / (network + other)
        text = f"{share_text(share, 4)} of {float((network + other) * DAY):.4g} failures a day"
        witness = {"network_per_day": float(network * DAY), "other_per_day": float(other * DAY)}
        if missing:
            low, high = Fraction(0), Fraction(1)
            text = f"{missing}; if these never fail, {text}"
            return Judgement("bounded", text, share, low, high, witness=witness, help=HELP)
        return Judgement("modelled", text, share, share, share, witness=witness)
