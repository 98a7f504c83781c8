"""Survives: whether a claim still holds whichever K elements fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tdsl.fabric.claims import Element, ResolvedClaim
from tdsl.fabric.graph import Bools, Ints
from tdsl.semantics.quantity import Quantity
from tdsl.verify.bisection import bisection
from tdsl.verify.capacity import Capacities
from tdsl.verify.check import Check, Fault, Judgement, catalogue, no, skipped, yes
from tdsl.verify.compare import against, in_its_unit
from tdsl.verify.components import listing
from tdsl.verify.disjoint import disjoint_paths
from tdsl.verify.failures import Outcome, worst_failure
from tdsl.verify.view import View


class Survives(Check):
    """Whether a claim still holds whichever K elements fail.

    ## What it means
    `survives any K of S`: K of the devices or groups that S names fail together, with all their links, and every host that
    still has a link reaches every other. `with CLAIM` asks for that claim instead, about what is left: percentages are of what
    the hosts left can inject, or with `of intact` of what they could before. A host whose last link is lost is no end any
    more; `edge_redundancy` and `blast_radius` speak of those.

    ## Formula and source
    for all F ⊂ S, |F| = K: CLAIM(fabric − F). One set of every orbit is judged for K = 1 and 2: exchanges of devices come from
    the design's indices, and each is verified to keep devices, links and rates, so that sets it maps onto each other have the
    same answer. For larger K a cut argument comes first: a cut loses at most the K largest elements' capacity, so a bound on the
    intact fabric less that is a bound after any K (as in Menger 1927 for reachability); then all sets one by one.

    ## What it assumes
    Elements fail completely and K at most at once; what shares a feed or a rack is to be named as one group. Above a limit of
    work the answer is `bounded`.

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
    E0409: `survives any 1 of spine` does not hold: without spine, `reachability` does not hold: node0 does not reach node4
    ```
    """

    code = "E0409"
    name = "survives"
    wrong = "A failure that the design does not survive"
    kind = "yes_no"
    on_demand = True
    takes = frozenset({"of", "any", "with"})
    needs = frozenset({"of", "any"})
    reads_of = True
    example = "survives any 1 of spine"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        assert claim is not None and claim.any_count is not None
        if any(s.ports for s in claim.of):
            return skipped("devices and groups fail, not ports")
        elements = standing(view, claim)
        if len(elements) < claim.any_count:
            return skipped(f"of what it names only {len(elements)} can fail")
        asked = claim.given or replace(claim, metric="reachability", any_count=None, of=(), text="reachability")
        check = catalogue()[asked.metric]

        def judge(left: View) -> Judgement:
            if len(left.units) < 2:
                return skipped(f"fewer than two {view.unit_word} are left")
            return against(asked, check, check.judge(left, asked))

        def covered() -> bool:
            return _covered(view, elements, claim.any_count or 0, asked)

        return _answer(claim, asked, worst_failure(view, elements, claim.any_count, judge, covered, asked.op in ("<", "<=")))


def standing(view: View, claim: ResolvedClaim) -> list[Element]:
    """The elements that a claim names, each once, as far as they are built."""
    found = {tuple(e.devices.tolist()): e for s in claim.of for e in s.elements if view.devices[e.devices].any()}
    return list(found.values())


def _answer(claim: ResolvedClaim, asked: ResolvedClaim, found: Outcome) -> Judgement:
    names = [e.name for e in found.failed]
    without = f"without {listing(names, 8)}"
    judged = found.judged
    witness: dict[str, object] = {"failed": names, "claim": asked.text, "judged": found.runs, "sets": found.sets, "by": found.how}
    if judged is not None:
        witness["left"] = dict(judged.witness)
        most = asked.op in ("<", "<=")
        figure = judged.upper if most else judged.lower
        figure = figure.amount if isinstance(figure, Quantity) else figure
        if isinstance(figure, (int, Fraction)) and not isinstance(figure, bool):
            witness["most" if most else "least"] = float(figure)
    if found.status in ("proved", "modelled"):
        tried = f"{found.runs} of {found.sets} failures judged, the rest are alike" if found.how == "orbits" else "all judged"
        if found.how == "cut" or judged is None:
            return yes(f"no cut loses too much to any {claim.any_count}", witness)
        return replace(yes(f"{tried}; worst {without}: {judged.text}", witness), status=found.status)
    said = (judged.text or judged.reason) if judged is not None else ""
    if found.status == "bounded" and found.how and judged is not None and judged.status == "skipped":
        return replace(skipped(f"{without}: {judged.reason}"), witness=witness)
    if found.status == "bounded":
        if judged is None or judged.status == "proved":
            text = f"{found.runs} of {found.sets} failures judged, and none refutes it"
        else:
            text = f"{without}: {said}"
        return Judgement("bounded", text, None, witness=witness)
    text = f"{without}, `{asked.text}` does not hold: {said}"
    return no(text, (Fault(None, text, help="add paths that do not lead through it"),), witness)


# ---------------------------------------------------------------- many failures at once


def _covered(view: View, elements: list[Element], count: int, asked: ResolvedClaim) -> bool:
    """Whether what any ``count`` elements can take away leaves enough. Only where no unit fails or loses its last link."""
    owner = np.full(view.fabric.device_count, -1, dtype=np.int64)
    for i, e in enumerate(elements):
        if (owner[e.devices] >= 0).any() or np.isin(view.fabric.kind[e.devices], ("ocs", "panel")).any():
            return False
        owner[e.devices] = i
    unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
    unit[view.units] = True
    if not len(view.units) or (owner[view.units] >= 0).any():
        return False
    to_one = _most_to_one_unit(view, owner, unit, len(elements))
    if int(view.degree[view.units].min()) <= count * to_one:
        return False
    if asked.metric == "reachability" and not asked.of and not asked.through and not len(view.others):
        links = _largest(view, owner, np.ones(len(view.rows), dtype=np.int64), len(elements), count)
        return disjoint_paths(view).lower > links
    if asked.metric == "bisection" and asked.op in (">", ">=") and not asked.of:
        found = bisection(view)
        net = found.net
        lost = _largest(view, owner, view.fabric.link_rate[view.rows] // net.grain, len(elements), count)
        left = max(found.lower - lost, 0)
        full = Capacities.of(view.intact).full if view.intact is not None and asked.of_intact else net.full
        figure = Fraction(left, full) if full else Fraction(0)
        bounds = {"lower_bps": float(left * net.grain), "upper_bps": float(found.upper * net.grain)}
        judged = Judgement("bounded", "", figure, figure, Fraction(found.upper, max(full, 1)), measures=bounds)
        check = catalogue()["bisection"]
        return against(asked, check, in_its_unit(asked, check, judged)).status == "proved"
    return False


def _most_to_one_unit(view: View, owner: Ints, unit: Bools, elements: int) -> int:
    ends = ((view.a, view.b), (view.b, view.a))
    keys = [x[unit[x] & (owner[y] >= 0)] * elements + owner[y][unit[x] & (owner[y] >= 0)] for x, y in ends]
    _, number = np.unique(np.concatenate(keys), return_counts=True)
    return int(number.max(initial=0))


def _largest(view: View, owner: Ints, weight: Ints, elements: int, count: int) -> int:
    """The most that ``count`` elements hold together at most: each one's links in full."""
    total = np.zeros(elements, dtype=np.int64)
    a, b = owner[view.a], owner[view.b]
    np.add.at(total, a[a >= 0], weight[a >= 0])
    twice = (b >= 0) & (b != a)
    np.add.at(total, b[twice], weight[twice])
    return int(np.sort(total)[::-1][:count].sum())
