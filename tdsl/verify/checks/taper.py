"""Taper: what the endpoints of a group inject, over the capacity of the links that leave it."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, inf

import numpy as np

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.fabric.graph import Ints
from tdsl.fabric.subject import element_of_devices
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.ports import gbps_text
from tdsl.verify.shortfall import greatest_ratio


class Taper(Check):
    """What the endpoints of a group inject over what leaves the group.

    ## What it means
    At 1:1 all endpoints of a group can send to other groups at full rate at once; at 2:1 half of them can. It
    is the figure by which dragonflies and other direct networks are sized, where no switch is above another
    and `oversubscription` says nothing. `taper of G` is that of the worst of the groups or switches that G
    names.

    ## Formula and source
    For a group: Σ rate of links between endpoints and switches of the group, over Σ rate of links between
    switches of the group and switches outside, an exact ratio in lowest terms. Kim, Dally, Scott, Abts,
    "Technology-Driven, Highly-Scalable Dragonfly Topology" (ISCA 2008), section 3; a group of Frontier
    injects 102.4 Tb/s, and 58.4 Tb/s leave it (Lockwood, glennklockwood.com/garden/dragonfly).

    ## What it assumes
    Endpoints are all hosts and chips that are built, storage and managers included; links are those that are
    built. Groups without endpoints are left out. Where endpoints forward what is not theirs (a torus of
    chips) it is skipped: what is injected there is no set of links. The ratio says what is cabled, not what
    routing makes of it.

    ## A design that passes
    ```fab
    dragonfly { groups 9; routers 4; router SW; trunk 4 }   # 8 hosts of 100G in a group, and 32 links \
leave it
    require taper of g <= 1:1
    ```

    ## A design that fails
    ```fab
    dragonfly { groups 9; routers 4; router SW }            # 32 hosts of 100G in a group, and 8 links \
leave it
    require taper of g <= 2:1
    ```

    ### What it prints
    ```
    E0426: `taper of g <= 2:1` does not hold: 4:1 at g[0] (3.2Tbps injected, 800Gbps leave it)
    ```
    """

    code = "E0426"
    name = "taper"
    wrong = "More is injected into a group than can leave it"
    kind = "ratio"
    cost = 0
    on_demand = True
    takes = frozenset({"of"})
    needs = frozenset({"of"})
    reads_of = True
    example = "taper of g <= 2:1"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        assert claim is not None
        if view.direct:
            return skipped("endpoints forward here, so that no links are those that inject")
        found: list[tuple[Fraction | float, int, int, str, Selector]] = []
        for s in claim.of:
            inside, out = _injected_and_leaving_rates(view, s)
            for k, e in enumerate(s.elements):
                if inside[k]:
                    ratio = Fraction(int(inside[k]), int(out[k])) if out[k] else inf
                    found.append((ratio, int(inside[k]), int(out[k]), e.name, s))
        if not found:
            return skipped("no endpoint is attached to a switch of what it names")
        ratio, injected, leaving, name, _ = max(found, key=lambda x: x[0])
        witness: dict[str, object] = {
            "group": name,
            "injected_bps": injected,
            "leaving_bps": leaving,
            "equal": sum(x[0] == ratio for x in found),
        }
        if not leaving:
            text = f"{name} has {gbps_text(injected)} injected and no link that leaves it"
            return Judgement(
                "proved", text, inf, inf, inf, (1, 0), "", witness, help="join it to other groups"
            )
        exact = Fraction(injected, leaving)
        text = (
            f"{exact.numerator}:{exact.denominator} at {name} ({gbps_text(injected)} injected, "
            f"{gbps_text(leaving)} leave it)"
        )
        return Judgement(
            "proved",
            text,
            exact,
            exact,
            exact,
            (exact.numerator, exact.denominator),
            "",
            witness,
            help="add links between the groups, or attach fewer endpoints",
        )

    def help_for_unmet(self, claim: ResolvedClaim, judged: Judgement) -> str:
        """How much has to leave the worst group, and how much does."""
        allowed, found = greatest_ratio(claim, judged), judged.witness
        injected, leaving = (found.get(key) for key in ("injected_bps", "leaving_bps"))
        if allowed is None or not isinstance(injected, int) or not isinstance(leaving, int):
            return judged.help
        needed = gbps_text(ceil(injected / allowed))
        text = f"{found['group']} needs links of {needed} out of it and has {gbps_text(leaving)}"
        return f"{text}; {judged.help}"


def _injected_and_leaving_rates(view: View, selector: Selector) -> tuple[Ints, Ints]:
    """Of every element of a selector what is injected into it and what leaves it, in bit/s."""
    f, n = view.fabric, len(selector.elements)
    label = element_of_devices(f, selector)
    at = np.where(view.forwards, label, -1)
    a, b, rate = view.a, view.b, f.link_rate[view.rows]
    inside, out = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for near, far in ((a, b), (b, a)):
        mine = at[near] >= 0
        access = mine & f.is_end[far] & ~view.forwards[far]
        np.add.at(inside, at[near[access]], rate[access])
        leaves = mine & view.forwards[far] & (label[far] != label[near])
        np.add.at(out, at[near[leaves]], rate[leaves])
    return inside, out
