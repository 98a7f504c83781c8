"""Availability: the share of time in which a condition holds, with failures and repairs."""

from __future__ import annotations

from fractions import Fraction

from tdsl.fabric.claims import FabricElement, ResolvedClaim
from tdsl.prove.availability import (
    SampledStates,
    StateInterval,
    interval_of_states,
    sample_states,
)
from tdsl.prove.budget import Budget
from tdsl.prove.elements import TooMany, view_after_failures
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, checks_by_name, skipped
from tdsl.verify.compare import verdict_of_bounds
from tdsl.verify.failing_parts import FailingParts, failing_parts
from tdsl.verify.failure_clauses import HELP, bases_of_rates, missing_of_parts, share_text
from tdsl.verify.result import Status
from tdsl.verify.what_is_left import (
    always_enough_left,
    devices_that_symmetries_keep,
    judgement_of_what_is_left,
)


class Availability(Check):
    """The share of time in which a condition holds, with failures and repairs.

    ## What it means
    `availability with CONDITION` is the long-run probability that CONDITION holds while devices, links and
    risk groups fail and are repaired at the rates that are stated: `mtbf`, `fit` or `fails`, and `repair`.
    The answer is an interval. What no, one and two failures leave is judged exactly, and three where few sets
    represent all; what more failures leave is the width of the interval. A requirement is `proved` or
    `refuted` by this interval alone.

    Where the interval does not decide, random states with more failures are judged as well, from a fixed
    seed. They say where in the interval the figure is likely to be, with 99% confidence; the status stays
    `bounded`.

    ## Formula and source
    A part that fails with the rate λ and is repaired in the mean time r works with the probability
    1/(1 + λ·r) in the long run (Barlow, Proschan, "Mathematical Theory of Reliability", 1965). With o = λ·r,
    the probability that just the parts F have failed is Π 1/(1 + o) over all parts · Π o over F. The lower
    bound adds up the sets F that were judged and after which CONDITION holds; the upper bound is 1 less those
    after which it does not. One set of each orbit of verified permutations is judged, with the number of its
    orbit. Where no cut can lose too much to any K parts, all sets of up to K parts are added at once.

    ## What it assumes
    Parts fail independently of each other, and repairs do not wait for each other. What fails together is to
    be stated as a `risk` group with its own rate; its members still fail by themselves at theirs. A part
    fails completely. `repair` is the whole time from the failure until the part works again. Failures of
    NVLink and other scale-up links are not counted. Where a part states no rate, or no time of repair, the
    answer is `bounded` by 0 and 1, and the text gives the interval that would hold if such parts never fail:
    state `fails never` for them if that is meant.

    ## A design that passes
    ```fab
    switch spine[4]: SW { mtbf 100year; repair 4h }
    require availability >= 99.99% with bisection >= 75%    # one spine of four may be down
    ```

    ## A design that fails
    ```fab
    switch spine[2]: SW { mtbf 1year; repair 1week }
    require availability >= 99% with bisection >= 100%
    ```

    ### What it prints
    ```
    E0428: `availability >= 99% with bisection >= 100%` does not hold: 96.2364%: …
    ```
    """

    code = "E0428"
    name = "availability"
    wrong = "A condition that holds for less of the time than required"
    kind = "fraction"
    unit = "fraction"
    cost = 3
    on_demand = True
    scarce = True
    takes = frozenset({"with"})
    needs = frozenset({"with"})
    example = "availability >= 99.9% with bisection >= 90%"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        assert claim is not None and claim.given is not None
        asked = claim.given
        if asked.through:
            return skipped("rates of failures are those of the network: leave out `through`")
        try:
            found = failing_parts(view)
        except TooMany as many:
            return skipped(str(many))
        if not found.parts and not found.unrated:
            return skipped("nothing that can fail is built")
        return _judgement_of_states(view, claim, asked, found)


def _judgement_of_states(
    view: View, claim: ResolvedClaim, asked: ResolvedClaim, found: FailingParts
) -> Judgement:
    """The interval of all states, and where it does not decide also random ones."""
    check = checks_by_name()[asked.metric]
    reads = check.reads_for(asked)
    rated = [p for p in found.parts if p.odds]
    elements = [p.element for p in rated]
    odds = [p.odds or Fraction(0) for p in rated]
    answers: dict[tuple[int, ...], bool | None] = {}

    def holds(failed: tuple[FabricElement, ...]) -> bool | None:
        key = tuple(map(id, failed))
        if key not in answers:
            left = view_after_failures(view, list(failed)) if failed else view
            status = judgement_of_what_is_left(left, asked).status
            answers[key] = {"proved": True, "refuted": False}.get(status)
        return answers[key]

    covered = _failures_that_leave_enough(view, elements, asked)
    fixed = devices_that_symmetries_keep(view, asked)
    reads = None if reads is None else reads | {"lengths"}
    known = interval_of_states(view, elements, odds, holds, reads, fixed, covered)
    open_ = not claim.op or verdict_of_bounds(claim.op, known.lower, known.upper, claim.value) == "bounded"
    sampled = None
    if open_ and known.rest and known.lower < known.upper:
        sampled = sample_states(elements, odds, known, holds, view.budget)
    return _judgement_of_interval(view.budget, found, known, sampled)


def _failures_that_leave_enough(view: View, elements: list[FabricElement], asked: ResolvedClaim) -> int:
    """The number of failures up to which the condition is known to hold, whatever fails, by what that many
    can take away; 0 where that shows nothing."""
    count = 0
    most = min(view.budget.covered_failures, len(elements))
    while count < most and always_enough_left(view, elements, count + 1, asked):
        count += 1
    return count


def _judgement_of_interval(
    budget: Budget, found: FailingParts, known: StateInterval, sampled: SampledStates | None
) -> Judgement:
    """The interval in words, or where rates are missing the one between 0 and 1."""
    low, high = share_text(known.lower), share_text(known.upper)
    figure = low if low == high else f"between {low} and {high}"
    how = (
        f"up to {known.failures} {'failure' if known.failures == 1 else 'failures'} of {known.parts:,} parts "
        f"that fail independently ({bases_of_rates(found.parts)}), {known.judged:,} of {known.sets:,} sets "
        "judged"
    )
    rest = f"; more have {share_text(known.rest, 3)}" if known.rest else ""
    worst = (
        f"; it does not hold without {first_names_and_more([e.name for e in known.worst], 4)}"
        if known.worst
        else ""
    )
    text = f"{figure}: {how}{rest}{worst}"
    witness: dict[str, object] = {
        "lower": float(known.lower),
        "upper": float(known.upper),
        "parts": known.parts,
        "failures": known.failures,
        "judged": known.judged,
        "sets": known.sets,
        "more_failures": float(known.rest),
        "breaks": [e.name for e in known.worst],
        "independent": True,
    }
    if sampled is not None:
        bounds = [float(f"{float(x):.8g}") for x in (sampled.estimate, sampled.lower, sampled.upper)]
        witness["sampled"] = {
            "estimate": bounds[0],
            "lower": bounds[1],
            "upper": bounds[2],
            "states": sampled.judged,
            "seed": budget.state_seed,
            "confidence": float(budget.state_confidence),
        }
        sure = f"{float(budget.state_confidence * 100):.0f}% confidence"
        text += (
            f"; about {share_text(sampled.estimate)} by {sampled.judged} random states with more failures "
            f"(seed {budget.state_seed}, {sure}: {share_text(sampled.lower)} to {share_text(sampled.upper)})"
        )
    missing = missing_of_parts(found, repairs=True)
    lower, upper = known.lower, known.upper
    if missing:
        lower, upper = Fraction(0), Fraction(1)
        text = f"{missing}; if these never fail, {text}"
        witness |= {"unrated": dict(found.unrated), "unrepaired": dict(found.unrepaired)}
    status: Status = "proved" if lower == upper else "bounded"
    return Judgement(status, text, lower, lower, upper, witness=witness, help=HELP if missing else "")
