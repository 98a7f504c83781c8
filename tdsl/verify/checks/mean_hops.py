"""Mean hops: links between switches on a shortest path, on average over all pairs of ends."""

from __future__ import annotations

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, exactly, skipped


class MeanHops(Check):
    """Links between switches on a shortest path, on average over all pairs of ends.

    ## What it means
    How far apart two ends of different hosts are on average when traffic takes the shortest way. As in
    `diameter` the links from the ends to their first switches do not count, and ends are network ports; in a
    direct fabric the links between chips count.

    ## Formula and source
    Σ dist(s, t) / number of pairs, over all ordered pairs (s, t) of ends of different hosts that reach each
    other, each port counted. Distances by exact search from one node of every class that a verified symmetry
    maps onto each other; the sum is one of whole numbers. Mean distance as in Dally and Towles, "Principles
    and practices of interconnection networks" (2004), chapter 3.

    ## What it assumes
    All pairs weigh the same. Hosts do not forward. Ends that cannot reach each other (rails or planes apart)
    are left out, and the result says so. Above a limit of work the answer is `skipped`.

    ## A design that passes
    ```fab
    connect chip[*].ici torus
    require mean_hops <= 3                                  # chip[4, 4, 4]: 192 / 63
    ```

    ## A design that fails
    ```fab
    connect sw[*] ring                                      # eight switches in a ring
    require mean_hops <= 2
    ```

    ### What it prints
    ```
    E0417: `mean_hops <= 2` does not hold: 2.286 over 224 pairs of ends
    ```
    """

    code = "E0417"
    name = "mean_hops"
    wrong = "Paths longer on average than allowed"
    kind = "number"
    unit = "links"
    on_demand = True
    after_failures = True
    reads = frozenset()
    of_ends = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.prove.bound import NotBounded
        from tdsl.prove.mean_hops import mean_hops

        found = mean_hops(view)
        if isinstance(found, NotBounded):
            return skipped(found.reasons[0])
        proof = found.proof_lower
        apart = "" if proof.pairs == proof.most else ", among ends that reach each other"
        text = f"{float(found.lower):.4g} over {proof.pairs:,} pairs of ends{apart}"
        return exactly(found.lower, text, {"hops": proof.hops, "pairs": proof.pairs})
