"""Endpoints that are lost at a time, on average."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.availability import labels_of_single_elements
from tdsl.prove.endpoints_lost import endpoints_lost_with
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.failing_parts import FailingParts
from tdsl.verify.failure_clauses import HELP, bases_of_rates, missing_of_parts, share_text
from tdsl.verify.failure_figure import FigureOfFailingParts


class EndpointsLost(FigureOfFailingParts, Check):
    """How many endpoints have no network at a time, on average.

    ## What it means
    The mean number of endpoints (ports of hosts in use, as in `blast_radius`) that are without network
    because of a part that has failed and is not repaired yet: of their host, their link, or whatever else
    takes them alone.

    ## Formula and source
    Σ over parts of λr/(1 + λr) · the endpoints that its failure alone takes: the expectation is linear, and
    one part of each orbit of verified permutations is judged. λ are the rates as in `failures_per_day`, r the
    mean times of repair.

    ## What it assumes
    Each failure counts for itself: an endpoint that two failed parts take at once counts twice, and one that
    two parts take only together does not count. Both are terms of second order, below the square of the share
    of time that a part is down. The status of a requirement that holds is `modelled`. Where parts state no
    rate or no time of repair, the figure is a lower bound.

    ## A design that passes
    ```fab
    switch leaf[2]: SW { fails 0.051%/month; repair 4h }
    require endpoints_lost <= 0.1
    ```

    ## A design that fails
    ```fab
    host node[16]: NODE { fails 0.65%/day; repair 3day }
    require endpoints_lost <= 0.1                           # 16 nodes of a port, each down 1.9% of the time
    ```

    ### What it prints
    ```
    E0468: `endpoints_lost <= 0.1` is not met: 0.306 of 16 endpoints on average (1.912%), most by node[0] \
(0.01912)
    ```
    """

    code = "E0468"
    name = "endpoints_lost"
    wrong = "Endpoints without network for too much of the time"
    kind = "number"
    unit = "endpoints"
    cost = 2
    takes = frozenset()
    example = "endpoints_lost <= 1"

    def judgement_of_parts(self, view: View, claim: ResolvedClaim | None, found: FailingParts) -> Judgement:
        endpoints = int(view.degree[view.units].sum())
        if not endpoints:
            return skipped("no endpoint has a link")
        parts = [p for p in found.parts if p.odds]
        label = labels_of_single_elements(
            view,
            [p.element for p in parts],
            [p.odds or Fraction(0) for p in parts],
            frozenset({"lengths"}),
            (),
        )
        mean, worst = Fraction(0), (Fraction(0), "")
        if len(np.unique(label)) > view.budget.blast_elements:
            return skipped(f"{len(np.unique(label)):,} parts differ, more than are judged")
        orbits, counts = np.unique(label, return_counts=True)
        for first, count in zip(orbits.tolist(), counts.tolist(), strict=True):
            part = parts[first]
            each = part.down_share * endpoints_lost_with(view, part.element).endpoints
            mean += count * each
            worst = max(worst, (each, part.element.name), key=lambda x: x[0])
        most = f", most by {worst[1]} ({float(worst[0]):.4g})" if worst[0] else ""
        text = (
            f"{float(mean):.4g} of {endpoints:,} endpoints on average ({share_text(mean / endpoints, 4)})"
            f"{most}; {bases_of_rates(found.parts)}"
        )
        witness = {"endpoints": endpoints, "mean": float(mean), "judged": len(orbits), "parts": len(parts)}
        missing = missing_of_parts(found, repairs=True)
        if missing:
            text = f"at least {text}; {missing}"
            return Judgement("bounded", text, mean, mean, inf, witness=witness, help=HELP)
        return Judgement("modelled", text, mean, mean, mean, witness=witness)
