"""ECMP load: how full a static hash of flows makes the fullest link."""

from __future__ import annotations

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.ecmp_load import NoLoad, load_of_fullest_link
from tdsl.prove.view import View
from tdsl.semantics.transport import TRANSPORTS
from tdsl.verify.check import Check, Judgement, skipped

ONE_HASH = "one_hash"
MOST_FLOWS = 4096


class EcmpLoad(Check):
    """How full the fullest link is where a static hash spreads flows.

    ## What it means
    `ecmp_load 16`: each port of a host sends at its rate to the same port of the host half of all further on,
    in 16 flows; each switch gives a flow one of the links on shortest paths, by a hash of its header. Few
    large flows collide: the answer is what the fullest link between switches is then asked to carry, as a
    multiple of its rate, in 99 of 100 cases; the mean and the load of an even spread are given, too. Above
    1 flows on that link are slowed by as much. With `one_hash` all switches hash by one function, so that
    those of a higher tier divide what a lower tier has divided already along the same lines (polarisation).

    ## Formula and source
    Flows of a leaf fall on its u links up as n balls into u urns: P(no urn has more than k) = n! / u^n times
    the coefficient of x^n in (Σ x^j / j!, j ≤ k)^u, leaves being independent. That is the exact answer where
    all flows of a leaf go to one other leaf, links have one rate, each spine has one link to a leaf, and a
    leaf sends at most 1,024 flows. Elsewhere up to 1,000 draws of all flows by SplitMix64 give it, the same
    in every run; bounds are those of order statistics with 99% confidence. Sixteen flows a pair: The Llama 3
    Herd of Models (2024), section 3.3.1. Polarisation: Qian et al., "Alibaba HPN", SIGCOMM 2024.

    ## What it assumes
    Flows of one size that last; no congestion control, no adaptive routing, no spraying: with these the load
    tends to that of an even spread. The status is `modelled`, since other flows collide elsewhere. A port
    sends nothing where the other host has no such port, or no path leads there; the answer counts them.

    ## A design that passes
    ```fab
    connect leaf[*] to spine[*] spread                      # 8 links up for 8 ports, 1:1
    require ecmp_load 16 <= 2
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine[*] spread                      # one flow a pair: two fall on one link, or three
    require ecmp_load 1 <= 2
    ```

    ### What it prints
    ```
    E0447: `ecmp_load 1 <= 2` is not satisfied: 5 times its rate in 99 of 100 cases, 3.61 on average, …
    ```
    """

    code = "E0447"
    name = "ecmp_load"
    wrong = "A link that a hash of flows overfills"
    kind = "number"
    less_is_better = True
    unit = "times the link's rate"
    cost = 2
    on_demand = True
    by_formula = True
    by_model = True
    takes = frozenset({"of", "args"})
    needs = frozenset({"args"})
    example = "ecmp_load 16 <= 1.5"

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        args = claim.args if claim is not None else ()
        flows = args[0] if args else 0
        if isinstance(flows, bool) or not isinstance(flows, int) or not 1 <= flows <= MOST_FLOWS:
            return skipped(f"write how many flows a pair has, 1 to {MOST_FLOWS:,}: `ecmp_load 16`")
        if [str(a) for a in args[1:]] not in ([], [ONE_HASH]):
            return skipped(f"behind the number of flows only `{ONE_HASH}` may be written")
        try:
            found = load_of_fullest_link(view, flows, len(args) > 1)
        except NoLoad as why:
            return skipped(str(why))
        how = "exact" if not found.draws else f"{found.draws:,} draws"
        text = (
            f"{float(found.quantile):.3g} times its rate in 99 of 100 cases, {float(found.mean):.3g} on "
            f"average, {float(found.even):.3g} if spread evenly ({how}; static hash)"
        )
        transport = view.fabric.transport
        if transport in TRANSPORTS and TRANSPORTS[transport].sprays:
            text += f"; `{transport}` sprays packets, which tends to the even load"
        if found.silent:
            text += (
                f"; {found.silent:,} of {found.ports:,} ports send nothing, without a path to the other end"
            )
        witness = {
            "mean": float(found.mean),
            "quantile_99": float(found.quantile),
            "even": float(found.even),
            "draws": found.draws,
            "ports": found.ports,
            "silent": found.silent,
        }
        return Judgement("modelled", text, found.quantile, found.lower, found.upper, witness=witness)
