"""Edge redundancy: link-disjoint paths between the worst pair of hosts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdsl.fabric.cables.bundles import parallel_members
from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.bound import LinkPaths
from tdsl.prove.redundancy import link_disjoint_paths
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import Check, Judgement, skipped
from tdsl.verify.shortfall import count_missing


class EdgeRedundancy(Check):
    """Link-disjoint paths between the worst pair of hosts.

    ## What it means
    How many links must fail before some two hosts lose each other. A host counts with all its ports, so eight
    NICs on eight leaves can give 8; each single NIC port is still its own point of failure, and two NICs on
    two switches (dual-ToR) are not two planes.

    ## Formula and source
    min over pairs (u, v) of the minimum u-v cut (Menger 1927; Ford and Fulkerson 1956). With d_u(h) links of
    u into the component h of switches, a cut separates u from v by at least Σ_h min(k_h, d_u(h), d_v(h)),
    where no fewer than k_h links separate any two switches of h that hosts are connected to; the links of one
    host are an upper bound. k_h comes from maximum-adjacency orders (Nagamochi and Ibaraki 1992). Where
    bounds differ, pairs are settled by Dinic's max flow, one pair for each two classes of hosts with the same
    links. In a direct fabric one chip against all others suffices, because λ(u, v) ≥ min(λ(s, u), λ(s, v))
    (Gomory and Hu 1961); that does not hold between hosts, which pass nothing on. Where shifts of the indices
    keep the wiring and lead from every chip to every other, as in a torus, the links of a chip are the answer
    (Mader 1971).

    ## What it assumes
    Hosts do not forward; chips of a direct fabric do. Links count the same whatever their rate; a bundle
    (`bundle 2` on a connect) counts as one, and one across two switches as one to each. The scale-up domain
    is left out. Above a limit of work the answer is `bounded`: what is certain, and a cut that was counted.

    ## A design that passes
    ```fab
    connect node[n].nic[r] to leaf[r]                       # eight NICs, eight leaves
    require edge_redundancy >= 8
    ```

    ## A design that fails
    ```fab
    connect leaf[*] to spine each                           # one uplink a leaf
    connect node[n].nic[r] to leaf[n // 4]
    require edge_redundancy >= 2
    ```

    ### What it prints
    ```
    E0406: `edge_redundancy >= 2` does not hold: 1 between node0 and node4: 1 link separates them
    ```
    """

    code = "E0406"
    name = "edge_redundancy"
    wrong = "Too few separate paths between hosts"
    kind = "number"
    cost = 2
    unit = "paths"
    after_failures = True
    reads = frozenset({"bundles"})
    scarce = True
    of_ends = True
    crosses = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        if len(view.units) < 2:
            return skipped(f"there are fewer than two {view.unit_word}")
        f = view.fabric
        spare = parallel_members(f, view.rows)
        if len(spare):  # a bundle is one path; nothing fails, so that a unit without a link stays one
            view = replace(view, rows=np.setdiff1d(view.rows, spare))
        answer = link_disjoint_paths(view)
        pair = [f.device_name(d) for d in answer.proof_upper.pair]
        cut = _links_of_cut(view, answer)
        witness: dict[str, object] = {"pair": pair, "cut": cut.names, "cut_links": cut.count}
        if answer.lower < answer.upper:
            text = f"between {answer.lower} and {answer.upper}: {cut.words} from others"
        else:
            text = f"{answer.upper} ({len(view.units)} {view.unit_word}, {cut.words})"
        notes = (
            ("a NIC port has one link: it is its own point of failure",) if view.unit_word == "hosts" else ()
        )
        return Judgement(
            "proved" if answer.exact else "bounded",
            text,
            answer.lower,
            answer.lower,
            answer.upper,
            witness=witness,
            notes=notes,
            help="attach hosts to more switches, or join these switches by more links",
        )

    def help_for_unmet(self, claim: ResolvedClaim, judged: Judgement) -> str:
        """How many links the two sides lack at least."""
        more = count_missing(claim, judged)
        what = f"at least {counted_noun(more, 'more link')} between the two sides: " if more else ""
        return what + judged.help


@dataclass(frozen=True, slots=True)
class CutDescription:
    """The links of a cut: some by name, how many, and in words."""

    names: list[str]
    count: int
    words: str


def _links_of_cut(view: View, answer: LinkPaths) -> CutDescription:
    """The links between the two sides, counted again from the link columns."""
    f = view.fabric
    rows = answer.proof_upper.rows(view)
    links = view.rows[rows]
    names = [f"{f.port_path(int(f.link_a[x]))} - {f.port_path(int(f.link_b[x]))}" for x in links[:8]]
    u, v = answer.proof_upper.pair
    count = len(rows)
    if not count:
        return CutDescription(names, 0, f"no path connects {f.device_name(u)} and {f.device_name(v)}")
    for end in (u, v):
        if count == view.degree[end] and bool(np.all((view.a[rows] == end) | (view.b[rows] == end))):
            return CutDescription(
                names, count, f"{count} link{'s' if count > 1 else ''} at {f.device_name(end)}"
            )
    verb = "links separate" if count > 1 else "link separates"
    return CutDescription(names, count, f"{count} {verb} {f.device_name(u)} from {f.device_name(v)}")
