"""Node redundancy: paths between the worst pair of hosts that share no switch."""

from __future__ import annotations

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.redundancy import node_disjoint_paths
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.shortfall import count_missing


class NodeRedundancy(Check):
    """Paths between the worst pair of hosts that share no switch.

    ## What it means
    How many switches must fail before some two hosts lose each other. A host counts with all its ports: eight
    NICs on eight leaves can give 8, eight NICs on one leaf give 1, however many links there are. In a direct
    fabric the chips between are what may fail, and a link between two chips is a path that no failure cuts.

    ## Formula and source
    min over pairs (u, v) of the least number of switches that separate u from v, which is the number of paths
    that share none (Menger 1927). The switches that hosts are connected to are first compared with each other
    (Even 1975): hosts with links to x and y of them have min(x, y) such paths unless fewer switches separate
    two of them, and only the pairs for which that is less than the least found are searched. Where all chips
    are equivalent, the number of neighbours of one is the answer (Mader 1970).

    ## What it assumes
    Hosts do not forward; chips of a direct fabric do. The scale-up domain is left out. Above a limit of work
    the answer is `bounded`.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r]                       # eight NICs, eight leaves
    require node_redundancy >= 8
    ```

    ## A design that fails
    ```fab
    connect node[n].nic[r] to leaf[n // 4]                  # all NICs of a host on one leaf
    require node_redundancy >= 2
    ```

    ### What it prints
    ```
    E0410: `node_redundancy >= 2` does not hold: 1: leaf0 separates node0 from node1
    ```
    """

    code = "E0410"
    name = "node_redundancy"
    wrong = "Too few switches between losing two hosts"
    kind = "number"
    cost = 2
    unit = "paths"
    after_failures = True
    reads = frozenset()
    scarce = True
    of_ends = True
    crosses = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        if len(view.units) < 2:
            return skipped(f"there are fewer than two {view.unit_word}")
        found = node_disjoint_paths(view)
        cut = found.proof_upper
        f = view.fabric
        u, v = (f.device_name(d) for d in cut.pair)
        names = [f.device_name(d) for d in cut.devices]
        verb = "separates" if len(names) == 1 else "separate"
        said = (
            f"{first_names_and_more(names)} {verb} {u} from {v}" if names else f"no path connects {u} and {v}"
        )
        if cut.linked:
            said = f"a link joins {u} and {v}, and {len(names)} paths through others"
        amount = str(found.upper) if found.exact else f"between {found.lower} and {found.upper}"
        return Judgement(
            "proved" if found.exact else "bounded",
            f"{amount}: {said}",
            found.lower,
            found.lower,
            found.upper,
            witness={"pair": [u, v], "separators": names[:16], "separator_count": len(names)},
            help="attach hosts to more switches, or join these switches by more ways",
        )

    def help_for_unmet(self, claim: ResolvedClaim, judged: Judgement) -> str:
        """How many ways the two ends lack at least."""
        more = count_missing(claim, judged)
        what = f"at least {counted_noun(more, 'more separate path')} between them: " if more else ""
        return what + judged.help
