"""Mean hops: links between switches on a shortest path, on average over all pairs of ends."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Ints
from tdsl.fabric.order import distinct
from tdsl.prove.shortest_paths import FAR, Forwarders, affordable, classes_of, one_orbit, spread
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, exactly, skipped

Pairs = tuple[Ints, Ints, Ints]


class MeanHops(Check):
    """Links between switches on a shortest path, on average over all pairs of ends.

    ## What it means
    How far apart two ends of different hosts are on average when traffic takes the shortest way. As in `diameter` the links
    from the ends to their first switches do not count, and ends are network ports; in a direct fabric the links between chips
    count.

    ## Formula and source
    Σ dist(s, t) / number of pairs, over all ordered pairs (s, t) of ends of different hosts that reach each other, each port
    counted. Distances by exact search from one node of every class that a verified symmetry maps onto each other; the sum is
    one of whole numbers. Mean distance as in Dally and Towles, "Principles and practices of interconnection networks" (2004),
    chapter 3.

    ## What it assumes
    All pairs weigh the same. Hosts do not forward. Ends that cannot reach each other (rails or planes apart) are left out, and
    the result says so. Above a limit of work the answer is `skipped`.

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
        net = Forwarders.of(view)
        ends = _Ends.of(view, net)
        if len(distinct(ends.end)) < 2:
            return skipped(f"fewer than two {view.unit_word} are attached to a switch")
        one = np.ones(len(net.graph.tail), dtype=np.int64)
        classes = classes_of(net, one)
        pairs_at_home = ends.same()
        if one_orbit(view, net, one) and ends.even(pairs_at_home):
            classes = classes[:1]
        if not affordable(net.graph, len(classes), view.budget):
            return skipped(f"searches from {len(classes):,} switches are more work than the limit")
        total, pairs = _sums(net, ends, one, classes, pairs_at_home)
        if not pairs:
            return skipped("no two ends reach each other")
        most = len(ends.end) ** 2 - int((np.unique(ends.end, return_counts=True)[1] ** 2).sum())
        apart = "" if pairs == most else ", among ends that reach each other"
        value = Fraction(total, pairs)
        text = f"{float(value):.4g} over {pairs:,} pairs of ends{apart}"
        return exactly(value, text, {"hops": total, "pairs": pairs})


class _Ends:
    """Where units are connected to the network: unit and node of every link, and how many links each node has to units."""

    def __init__(self, end: Ints, node: Ints, nodes: int) -> None:
        self.end, self.node = end, node
        self.weight = np.bincount(node, minlength=nodes).astype(np.int64)

    @classmethod
    def of(cls, view: View, net: Forwarders) -> _Ends:
        """From the view's attachment; links of two ends that forward nothing are no part of the network."""
        at = view.attachment
        unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
        unit[view.units] = True
        mine = unit[at.end] & (at.node < view.fabric.device_count)
        return cls(at.end[mine], net.place[at.node[mine]], net.graph.nodes)

    def even(self, home: Pairs) -> bool:
        """Whether every node is adjacent to equally many units, and every unit to one node."""
        return len(distinct(self.weight)) == 1 and bool((home[0] == home[1]).all())

    def same(self) -> Pairs:
        """Ordered pairs of nodes that one unit is connected to, and how many pairs of its ports each represents."""
        order = np.lexsort((self.node, self.end))
        end, node = self.end[order], self.node[order]
        first = np.flatnonzero(np.append(True, end[1:] != end[:-1]))
        size = np.diff(np.append(first, len(end)))
        each = size[np.repeat(np.arange(len(size)), size)]
        a = np.repeat(node, each)
        start = np.repeat(np.repeat(first, size), each)
        step = np.arange(len(a)) - np.repeat(np.cumsum(each) - each, each)
        nodes = len(self.weight)
        keys, count = np.unique(a * nodes + node[start + step], return_counts=True)
        return keys // nodes, keys % nodes, count.astype(np.int64)


def _sums(net: Forwarders, ends: _Ends, one: Ints, classes: list[Ints], home: Pairs) -> tuple[int, int]:
    """Hops over all ordered pairs of ends of different units that reach each other, and how many pairs those are."""
    w = ends.weight
    lead = np.full(net.graph.nodes, -1, dtype=np.int64)
    for c in classes:
        lead[c] = c[0]
    a, b, count = home
    single_orbit = len(classes) == 1 and not np.array_equal(classes[0], np.flatnonzero(net.access))
    total = pairs = 0
    for sources, far in spread(net.graph, one, np.array([c[0] for c in classes], dtype=np.int64)):
        reach = far < FAR
        hops = np.where(reach, far, 0)
        sums, reached = (w @ hops).tolist(), (w @ reach).tolist()
        if single_orbit:  # all nodes are equivalent, and a unit is connected to one node only
            return int(w.sum()) * sums[0], int(w.sum()) * reached[0] - int(count.sum())
        for i, s in enumerate(sources.tolist()):
            for v in np.flatnonzero(lead == s).tolist():  # it has the distances of the source, but the two change places
                if not reach[v, i]:
                    pairs += int(w[v]) ** 2
                    continue
                total += int(w[v]) * (sums[i] + int(w[s] - w[v]) * int(hops[v, i]))
                pairs += int(w[v]) * reached[i]
            mine = np.flatnonzero(lead[a] == s)
            other = np.where(b[mine] == s, a[mine], b[mine])
            same = a[mine] == b[mine]
            total -= int(count[mine] @ np.where(same, 0, hops[other, i]))
            pairs -= int(count[mine] @ (same | reach[other, i]))
    return total, pairs
