"""Diameter: most links between switches on a shortest path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.automorphisms import transitive
from tdsl.prove.components import adjacency, distances, eccentricities, path
from tdsl.prove.network import Network
from tdsl.prove.symmetry import equivalent_nodes
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, exactly, skipped


class Diameter(Check):
    """Most links between switches on a shortest path between two ends.

    ## What it means
    How far apart two ends can be when traffic takes the shortest way. The links from the ends to their first switches do not
    count: 2 in a two-tier tree, 4 in a three-tier one, 0 where all ends are at one switch. In a direct fabric the links between
    chips count.

    ## Formula and source max over pairs (s, t) of dist(s, t) on the graph of forwarding devices, s and t being those that ends
    are connected to. Breadth-first search from one switch of each class that an exchange maps onto each other, all at once, one
    bit a source. Source for the bit-parallel form: Then et al., "The more the merrier: efficient multi-source graph traversal"
    (VLDB 2014).

    ## What it assumes
    Ends are network ports: two NICs of one host on different rails are two ends. Hosts do not forward. Ends that cannot reach
    each other (rails or planes apart) are left out, and the result says so. Above a limit of work both bounds are given, from
    a sample of sources: the farthest distance seen, and twice the least eccentricity.

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
    unit = "links"
    after_failures = True
    reads = frozenset()
    of_ends = True
    takes = frozenset({"of"})

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        nodes = np.flatnonzero(view.access)
        if not len(nodes):
            return skipped("no end is attached to a switch")
        graph, wanted, name = _compact(view)
        targets = np.flatnonzero(wanted)
        classes = equivalent_nodes(graph, targets)
        sources = np.array([c[0] for c in classes], dtype=np.int64)
        if len(sources) > 1 and wanted.all() and transitive(view.fabric, graph, name, view.budget):
            sources = sources[:1]
        sources, all_of_them = _affordable(graph, sources, view.budget.diameter_work)
        far, reaches_all = eccentricities(graph, sources, wanted)
        at = int(np.argmax(far))
        value = int(far[at])
        apart = "" if reaches_all.all() else ", among ends that reach each other"
        way = self._way(view, graph, int(sources[at]), wanted, value, name)
        span = f", from {way[0]} to {way[-1]}" if value else ""
        if all_of_them:
            found = exactly(value, f"{value}{span}{apart}", {"path": way})
            return replace(found, reason="ends that cannot reach each other are left out") if apart else found
        upper = 2 * int(far.min()) if reaches_all.all() else graph.nodes - 1
        text = f"between {value} and {upper}{span}: {len(sources)} of {len(classes)} sources searched"
        return Judgement("bounded" if value < upper else "proved", text, value, value, upper, witness={"path": way})

    def _way(self, view: View, graph: Network, source: int, wanted: Bools, value: int, name: Ints) -> list[str]:
        """A path of that many links, by names."""
        reach = distances(graph, source)
        target = int(np.flatnonzero(wanted & (reach == value))[0])
        return view.names(name[np.array(path(graph, source, target))])


def _compact(view: View) -> tuple[Network, Bools, Ints]:
    """The forwarding devices numbered densely, which of them ends are connected to, and the device of each."""
    devices = np.flatnonzero(view.forwards & view.devices)
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[devices] = np.arange(len(devices))
    a, b = place[view.a[view.trunks]], place[view.b[view.trunks]]
    return adjacency(len(devices), a, b), view.access[devices], devices


def _affordable(graph: Network, sources: Ints, work: int) -> tuple[Ints, bool]:
    """The sources that can be searched within the limit, and whether those are all."""
    first = distances(graph, int(sources[0])) if len(sources) else np.zeros(1, dtype=np.int64)
    levels = 2 * int(first[first < graph.nodes].max(initial=1)) + 1  # no search is deeper than twice any other
    most = max(work * 8 // ((len(graph.tail) + 8 * graph.nodes) * levels), 64)
    if len(sources) <= most:
        return sources, True
    return sources[:: -(-len(sources) // most)], False
