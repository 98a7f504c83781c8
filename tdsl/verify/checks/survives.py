"""Survives: whether a claim still holds whichever K elements fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.semantics.quantity import Quantity
from tdsl.verify.check import (
    Check,
    Judgement,
    PropertyFault,
    checks_by_name,
    property_fails,
    property_holds,
    skipped,
)

if TYPE_CHECKING:
    from tdsl.verify.failures import WorstFailure


class Survives(Check):
    """Whether a claim still holds whichever K elements fail.

    ## What it means
    `survives any K of S`: K of the devices or groups that S names fail together, with all that they contain
    (chips of a host, switches of a chassis) and all links that end there or cross there (a panel, an optical
    switch), and every host that still has a link reaches every other. `any K links of S to T` fails links,
    and so do `ports`, `cables` and `cages`; where `to` is written and nothing else, links are meant.

    `with CLAIM` asks for that claim instead, about what is left: percentages are of what the hosts left can
    inject, or with `of intact` of what they could before. `with throughput of A to B` compares with what the
    members of A and B that are left can exchange through their ports (a rate is absolute); if nothing of A or
    B is left, it does not hold. Nor does a distance or a time at most where two of the hosts left have no
    path. A host whose last link is lost is not an endpoint any more; `edge_redundancy` and `blast_radius`
    report those.

    ## Formula and source
    for all F ⊂ S, |F| = K: CLAIM(fabric − F). One set of every orbit is judged: permutations of devices come
    from the design's indices, and each is verified to keep devices, what contains them, links and rates, and
    whatever else CLAIM reads (lengths, rails, the order of the hosts, names), so that sets it maps onto each
    other have the same answer. For K > 2 a cut argument comes first: a cut loses at most the K largest
    elements' capacity, so a bound on the intact fabric less that is a bound after any K (as in Menger 1927
    for reachability); then all sets one by one. Where more than 32 single failures are not equivalent, the
    first is judged and the same argument tried; for `edge_redundancy` it is about parts of the network that
    no failure separates by fewer links than the claim asks for.

    ## What it assumes
    Elements fail completely and K at most at once; what shares a feed or a rack is to be named as one group.
    Above a limit of work the answer is `bounded`.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread x 32
    require survives any 1 of spine with bisection >= 70%
    ```

    ## A design that fails
    ```fab
    connect node[n].nic[r] to leaf[n // 4]                # all NICs on one leaf
    connect leaf[*] to spine each                         # one spine
    require survives any 1 of spine
    ```

    ### What it prints
    ```
    E0409: `survives any 1 of spine` does not hold: without spine, `reachability` does not hold: node0 does \
not reach node4
    ```
    """

    code = "E0409"
    name = "survives"
    wrong = "A failure that the design does not survive"
    kind = "yes_no"
    cost = 3
    on_demand = True
    takes = frozenset({"of", "to", "any", "with"})
    needs = frozenset({"of", "any"})
    reads_of = True
    of_ports = True
    example = "survives any 1 of spine"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.prove.elements import TooMany
        from tdsl.verify.failing_elements import failing_elements_of_claim
        from tdsl.verify.failures import worst_failure
        from tdsl.verify.what_is_left import (
            always_enough_left,
            devices_that_symmetries_keep,
            judgement_of_what_is_left,
        )

        assert claim is not None and claim.any_count is not None
        asked = claim.given or replace(
            claim, metric="reachability", any_count=None, any_of="", of=(), of_to=(), text="reachability"
        )
        check = checks_by_name()[asked.metric]
        reads = check.reads_for(asked)
        through = reads is not None and "domains" in reads
        try:
            named = failing_elements_of_claim(view, claim, through)
        except TooMany as many:
            return skipped(str(many))
        if (there := sum(e.copies for e in named)) < claim.any_count:
            return skipped(_why_too_few_can_fail(view, there))

        def judge(left: View) -> Judgement:
            return judgement_of_what_is_left(left, asked)

        def covered() -> bool:
            return always_enough_left(view, named, claim.any_count or 0, asked)

        most = asked.op in ("<", "<=")
        sets = devices_that_symmetries_keep(view, asked)
        found = worst_failure(view, named, claim.any_count, judge, covered, most, reads, sets)
        decided = found.status in ("proved", "modelled", "refuted")
        return replace(
            _judgement_of_survival(claim, asked, found),
            judged=found.sets if decided else found.runs,
            of=found.sets,
        )


def _why_too_few_can_fail(view: View, there: int) -> str:
    """Why a claim about failures names fewer elements than fail."""
    if view.name and not there:
        return (
            f"nothing that it names is in {view.name}, of which it is asked: write it in the "
            "block of the fabric"
        )
    return f"of what it names only {there} can fail"


def _judgement_of_survival(claim: ResolvedClaim, asked: ResolvedClaim, found: WorstFailure) -> Judgement:
    without = f"without {first_names_and_more([e.name for e in found.failed], 8)}"
    judged = found.judged
    witness = _witness_of_survival(asked, found)
    if found.status in ("proved", "modelled"):
        tried = (
            f"{found.runs} of {found.sets} failures judged, the rest are equivalent"
            if found.how == "orbits"
            else "all judged"
        )
        if found.how == "cut" or judged is None:
            enough = f"no cut loses too much to any {claim.any_count}"
            first = f"; {without}: {judged.text}" if judged is not None else ""
            return property_holds(enough + first, witness)
        return replace(
            property_holds(f"{tried}; worst {without}: {judged.text}", witness), status=found.status
        )
    said = (judged.text or judged.reason) if judged is not None else ""
    if found.status == "bounded":
        if found.how and judged is not None and judged.status == "skipped":
            return replace(skipped(f"{without}: {judged.reason}"), witness=witness)
        if judged is None or judged.status == "proved":
            text = f"{found.runs} of {found.sets} failures judged, and none refutes it"
        else:
            text = f"{without}: {said}"
        return Judgement("bounded", text, None, witness=witness)
    text = f"{without}, `{asked.text}` does not hold: {said}"
    return property_fails(
        text, (PropertyFault(None, text, help="add paths that do not lead through it"),), witness
    )


def _witness_of_survival(asked: ResolvedClaim, found: WorstFailure) -> dict[str, object]:
    """What failed, how many failures were judged, and the figure that is left."""
    witness: dict[str, object] = {
        "failed": [e.name for e in found.failed],
        "claim": asked.text,
        "judged": found.runs,
        "sets": found.sets,
        "by": found.how,
    }
    judged = found.judged
    if judged is not None and found.how != "cut":
        witness["left"] = dict(judged.witness)
        most = asked.op in ("<", "<=")
        figure = judged.upper if most else judged.lower
        figure = figure.amount if isinstance(figure, Quantity) else figure
        if isinstance(figure, (int, Fraction)) and not isinstance(figure, bool):
            witness["most" if most else "least"] = float(figure)
    return witness
