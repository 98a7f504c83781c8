"""How many spares keep enough devices working, with a confidence."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools
from tdsl.fabric.subject import devices_of_selectors
from tdsl.prove.elements import TooMany
from tdsl.prove.job_reliability import spares_for_confidence
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.failing_parts import FailingParts, failing_parts
from tdsl.verify.failure_clauses import missing_of_parts, share_text
from tdsl.verify.failure_figure import FailureFigure


class SparesNeeded(FailureFigure, Check):
    """How many spares keep enough devices working, with a confidence.

    ## What it means
    `spares_needed 99% of S` is the least number of spares beside the devices of S that are in use so that
    with a probability of 99% at any time at least as many work as are in use. Devices that the design
    declares as `spares` are not in use; the answer says how many there are.

    ## Formula and source
    The least s with P(Binomial(n + s, q) ≤ s) ≥ confidence, q = λr/(1 + λr) the share of time that one is
    down. 130 of 144 cubes at 95% ask for an availability of a cube of 0.9347 (Zu and others, "Resiliency at
    scale: managing Google's TPUv4", NSDI 2024).

    ## What it assumes
    A device is down where it or something in it is. Devices fail independently, spares as often as those in
    use; a spare takes the place of any device at once. Where devices of S have different rates, the worst
    counts for all. The status of a requirement that holds is `modelled`.

    ## A design that passes
    ```fab
    host node[16]: NODE { fails 0.65%/day; repair 3day }
    require spares_needed 99% of node <= 2
    ```

    ## A design that fails
    ```fab
    host node[16]: NODE { fails 10%/day; repair 3day }
    require spares_needed 99% of node <= 2
    ```

    ### What it prints
    ```
    E0479: `spares_needed 99% of node <= 2` is not met: 11 spares beside 16 of node: …
    ```
    """

    code = "E0479"
    name = "spares_needed"
    wrong = "More spares needed than wanted"
    kind = "number"
    unit = "devices"
    less_is_better = True
    reads_of = True
    takes = frozenset({"of", "args"})
    needs = frozenset({"of", "args"})
    example = "spares_needed 99% of node <= 2"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        assert claim is not None
        asked = claim.args[0] if len(claim.args) == 1 else None
        if isinstance(asked, bool) or not isinstance(asked, (int, Fraction)) or not 0 < asked < 1:
            return skipped("`spares_needed` takes one confidence above 0% and below 100%")
        f = view.fabric
        named = _built_devices_named(view, claim)
        try:
            found = failing_parts(view).among_devices(devices_of_selectors(f, claim.of) & view.devices)
        except TooMany as many:
            return skipped(str(many))
        missing = missing_of_parts(found, repairs=True)
        if missing or not named.any():
            return skipped(missing or "nothing that it names is built")
        spare = int((named & f.spares).sum())
        used = int(named.sum()) - spare
        down = _most_down_share(view, named, found)
        enough = spares_for_confidence(used, down, Fraction(asked), view.budget.most_spares)
        paths = ", ".join(s.text for s in claim.of)
        if enough is None:
            return skipped(
                f"more than {view.budget.most_spares:,} spares beside {used:,} of {paths} would be needed"
            )
        count, held = enough
        there = f"; the design has {spare}" if spare else ""
        text = (
            f"{count} {'spare' if count == 1 else 'spares'} beside {used:,} of {paths}: enough with "
            f"{share_text(held)}, each down {share_text(down, 4)} of the time{there}"
        )
        witness = {"in_use": used, "declared": spare, "down": float(down), "held": float(held)}
        return Judgement("modelled", text, count, count, count, witness=witness)


def _built_devices_named(view: View, claim: ResolvedClaim) -> Bools:
    """Of every device of the fabric whether a claim names it, and it is built and in the view."""
    named = np.zeros(view.fabric.device_count, dtype=np.bool_)
    for s in claim.of:
        for e in s.elements:
            named[e.devices] = True
    return named & view.fabric.built & view.devices


def _most_down_share(view: View, named: Bools, found: FailingParts) -> Fraction:
    """The most that one of the devices is down: it works if it does and all that it contains."""
    inside = view.fabric.container
    works: dict[int, Fraction] = {}
    for part in found.parts:
        device = int(part.element.devices[0])
        while not named[device] and inside[device] >= 0:
            device = int(inside[device])
        works[device] = works.get(device, Fraction(1)) * (1 - part.down_share)
    return 1 - min(works.values(), default=Fraction(1))
