"""Diameter: most links between switches on a shortest path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.bound import NotBounded
from tdsl.prove.diameter import diameter_bounds
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, exactly, skipped


class Diameter(Check):
    """Most links between switches on a shortest path between two ends.

    ## What it means
    How far apart two ends can be when traffic takes the shortest way. The links from the ends to their first
    switches do not count: 2 in a two-tier tree, 4 in a three-tier one, 0 where all ends are at one switch. In
    a direct fabric the links between chips count.

    ## Formula and source
    max over pairs (s, t) of dist(s, t) on the graph of forwarding devices, s and t being those that ends are
    connected to. Breadth-first search from one switch of each class that an exchange maps onto each other,
    all at once, one bit a source. Source for the bit-parallel form: Then et al., "The more the merrier:
    efficient multi-source graph traversal" (VLDB 2014).

    ## What it assumes
    Ends are network ports: two NICs of one host on different rails are two ends. Hosts do not forward. Ends
    that cannot reach each other (rails or planes apart) are left out, and the result says so. Above a limit
    of work both bounds are given, from a sample of sources: the farthest distance seen, and twice the least
    eccentricity.

    ## A design that passes
    ```fab
    connect su[*].leaf[*] to spine[*] spread
    require diameter <= 2
    ```

    ## A design that fails
    ```fab
    connect sw[*] ring                                      # eight switches in a ring
    require diameter <= 3
    ```

    ### What it prints
    ```
    E0407: `diameter <= 3` does not hold: 4, from sw0 to sw4
    ```
    """

    code = "E0407"
    name = "diameter"
    wrong = "A path longer than allowed"
    kind = "number"
    less_is_better = True
    unit = "links"
    after_failures = True
    reads = frozenset()
    of_ends = True
    crosses = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        found = diameter_bounds(view)
        if isinstance(found, NotBounded):
            return skipped(found.reasons[0])
        way, proof = view.names(np.array(found.proof_lower.devices)), found.proof_upper
        span = f", from {way[0]} to {way[-1]}" if found.lower else ""
        apart = ", among ends that reach each other" if proof.apart else ""
        if found.exact and proof.searched == proof.classes:
            judged = exactly(found.lower, f"{found.lower}{span}{apart}", {"path": way})
            return (
                replace(judged, reason="ends that cannot reach each other are left out") if apart else judged
            )
        text = (
            f"between {found.lower} and {found.upper}{span}: {proof.searched} of {proof.classes} "
            "sources searched"
        )
        return Judgement(
            "proved" if found.exact else "bounded",
            text,
            found.lower,
            found.lower,
            found.upper,
            witness={"path": way},
        )
