"""The fewest failures that break a condition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from tdsl.fabric.claims import FabricElement, ResolvedClaim
from tdsl.prove.elements import TooMany, view_after_failures
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, checks_by_name, skipped
from tdsl.verify.failing_elements import failing_elements_of_claim
from tdsl.verify.failures import WorstFailure, worst_failure
from tdsl.verify.what_is_left import (
    always_enough_left,
    devices_that_symmetries_keep,
    judgement_of_what_is_left,
)


class FatalSet(Check):
    """The fewest failures after which a condition does not hold.

    ## What it means
    `fatal_set of S with CONDITION` is the least number of the devices, groups or risk groups of S whose
    failure together breaks CONDITION, and the answer names them. Without `with` the condition is that every
    host that still has a link reaches every other. A requirement such as `fatal_set of spine >= 3 with
    bisection >= 50%` says the same as `survives any 2 of spine with bisection >= 50%`, and reports the
    margin.

    ## Formula and source
    min |F| over F ⊂ S with not CONDITION(fabric − F). Sets are gone through by size, one of each orbit, as
    `survives` does it, and with its argument on cuts. Where this ends without one, elements are taken away
    one by one, the one that leaves least first: the set that this finds is an upper bound.

    ## What it assumes
    What `survives` assumes. Above a limit of work, or above 4 failures at once that no cut covers, the answer
    is `bounded`. Where a model answers CONDITION, such as one of `latency`, it is `modelled`.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread x 8                   # two spines
    require fatal_set of spine >= 2 with bisection >= 50%
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread x 8                   # two spines
    require fatal_set of spine >= 2 with bisection >= 60%
    ```

    ### What it prints
    ```
    E0484: `fatal_set of spine >= 2 with bisection >= 60%` does not hold: 1 of 2: spine[0]; then 50%: …
    ```
    """

    code = "E0484"
    name = "fatal_set"
    wrong = "Too few failures break a condition"
    kind = "number"
    unit = "failures"
    cost = 3
    scarce = True
    on_demand = True
    reads_of = True
    of_ports = True
    takes = frozenset({"of", "to", "with"})
    needs = frozenset({"of"})
    example = "fatal_set of spine >= 2 with bisection >= 50%"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        assert claim is not None
        asked = claim.given or _reachability_of_claim(claim)
        reads = checks_by_name()[asked.metric].reads_for(asked)
        beside = reads is not None and "domains" in reads
        try:
            named = failing_elements_of_claim(view, claim, beside)
        except TooMany as many:
            return skipped(str(many))
        if not named:
            return skipped("nothing that it names is built")
        before = judgement_of_what_is_left(view, asked)
        if before.status not in ("proved", "modelled"):
            said = before.text or before.reason
            found = _judgement_of_fatal_set(0 if before.status == "refuted" else None, named, (), said)
        else:
            found = _least_fatal_set(view, claim, asked, named)
        by_model = before.status == "modelled" or checks_by_name()[asked.metric].by_formula
        return replace(found, status="modelled") if by_model and found.status == "proved" else found


def _reachability_of_claim(claim: ResolvedClaim) -> ResolvedClaim:
    """The condition where none is written: that what is left reaches all that is left."""
    return replace(claim, metric="reachability", of=(), of_to=(), op="", value=None, text="reachability")


def _least_fatal_set(
    view: View, claim: ResolvedClaim, asked: ResolvedClaim, named: list[FabricElement]
) -> Judgement:
    """The least set by size, or bounds of its size."""
    reads = checks_by_name()[asked.metric].reads_for(asked)
    fixed = devices_that_symmetries_keep(view, asked)
    most = asked.op in ("<", "<=")
    size, why = 0, ""
    while size < len(named):
        size += 1
        if size > view.budget.fatal_failures and not always_enough_left(view, named, size, asked):
            break

        def covered(count: int = size) -> bool:
            return always_enough_left(view, named, count, asked)

        found = worst_failure(
            view,
            named,
            size,
            lambda left: judgement_of_what_is_left(left, asked),
            covered,
            most,
            reads,
            fixed,
        )
        if found.status == "refuted" and found.judged is not None:
            said = found.judged.text or found.judged.reason
            return _judgement_of_fatal_set(size, named, found.failed, said)
        if found.status not in ("proved", "modelled"):
            why = _why_not_decided(found)
            break
    else:
        return Judgement("proved", f"no set of the {len(named):,} breaks it", inf, inf, inf)
    chosen = _greedy_fatal_set(view, asked, named)
    upper = len(chosen) if chosen else inf
    names = (
        f"; without {first_names_and_more([e.name for e in chosen], 8)} it does not hold" if chosen else ""
    )
    text = f"{size} of {len(named):,} or more{names or why}"
    witness: dict[str, object] = {"set": [e.name for e in chosen], "elements": len(named)}
    return Judgement("bounded", text, size, size, upper, witness=witness)


def _why_not_decided(found: WorstFailure) -> str:
    """The failure after which the condition was not decided, and why; "" where nothing is said of it."""
    if found.judged is None or not found.judged.reason:
        return ""
    failed = first_names_and_more([e.name for e in found.failed], 8)
    return f"; without {failed}: {found.judged.reason}"


def _judgement_of_fatal_set(
    size: int | None, named: Sequence[FabricElement], failed: Sequence[FabricElement], said: str
) -> Judgement:
    """The least set with its members, none where the condition does not hold as it is."""
    if size is None:
        return skipped(f"whether the condition holds before any failure is not decided: {said}")
    if not size:
        return Judgement("proved", f"0: the condition does not hold before any failure: {said}", 0, 0, 0)
    names = [e.name for e in failed]
    text = f"{size} of {len(named):,}: {first_names_and_more(names, 8)}; then {said}"
    witness: dict[str, object] = {"set": names, "elements": len(named), "left": said}
    return Judgement("proved", text, size, size, size, witness=witness)


def _greedy_fatal_set(
    view: View, asked: ResolvedClaim, named: Sequence[FabricElement]
) -> list[FabricElement]:
    """A set that breaks the condition: elements in the order in which they end most links, until it does not
    hold; empty where all together do not break it."""
    weight = [int(view.degree[e.devices].sum()) + len(e.links) for e in named]
    order = sorted(range(len(named)), key=lambda i: (-weight[i], i))
    low, high = 0, len(named)

    def breaks(count: int) -> bool:
        left = view_after_failures(view, [named[i] for i in order[:count]])
        return judgement_of_what_is_left(left, asked).status == "refuted"

    if not breaks(high):
        return []
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if breaks(middle) else (middle, high)
    return [named[i] for i in order[:high]]
