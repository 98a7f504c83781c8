"""Mean hops: the sum of distances over all ordered pairs of ends, by search from one node of every class of
equivalent nodes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.fabric.order import distinct_values
from tdsl.prove.bound import Bound, HopSum, MeanHops, NotBounded
from tdsl.prove.shortest_paths import (
    FAR,
    Forwarders,
    classes_of,
    distances_in_chunks,
    one_orbit,
    search_is_affordable,
)
from tdsl.prove.view import View

Pairs = tuple[Ints, Ints, Ints]


def mean_hops(view: View) -> MeanHops | NotBounded:
    """Links between forwarding devices on a shortest path between two ends of different units, on average
    over all pairs that reach each other; not bounded where there are no two, or the search is too much."""
    net = Forwarders.of(view)
    ends = _Ends.of(view, net)
    if len(distinct_values(ends.end)) < 2:
        return NotBounded((f"fewer than two {view.unit_word} are attached to a switch",))
    one = np.ones(len(net.graph.tail), dtype=np.int64)
    classes = classes_of(net, one)
    pairs_at_home = ends.same()
    if one_orbit(view, net, one) and ends.even(pairs_at_home):
        classes = classes[:1]
    if not search_is_affordable(net.graph, len(classes), view.budget):
        return NotBounded((f"searches from {len(classes):,} switches are more work than the limit",))
    total, pairs = _sum_of_hops(net, ends, one, classes, pairs_at_home)
    if not pairs:
        return NotBounded(("no two ends reach each other",))
    most = len(ends.end) ** 2 - int((np.unique(ends.end, return_counts=True)[1] ** 2).sum())
    value, proof = Fraction(total, pairs), HopSum(total, pairs, most)
    return Bound(value, value, proof, proof)


class _Ends:
    """Where units are connected to the network: unit and node of every link, and how many links each node has
    to units."""

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
        return len(distinct_values(self.weight)) == 1 and bool((home[0] == home[1]).all())

    def same(self) -> Pairs:
        """Ordered pairs of nodes that one unit is connected to, and how many pairs of its ports each
        represents."""
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


def _sum_of_hops(
    net: Forwarders, ends: _Ends, one: Ints, classes: list[Ints], home: Pairs
) -> tuple[int, int]:
    """Hops over all ordered pairs of ends of different units that reach each other, and how many pairs those
    are."""
    w = ends.weight
    lead = np.full(net.graph.nodes, -1, dtype=np.int64)
    for c in classes:
        lead[c] = c[0]
    a, b, count = home
    single_orbit = len(classes) == 1 and not np.array_equal(classes[0], np.flatnonzero(net.access))
    total = pairs = 0
    for sources, far in distances_in_chunks(
        net.graph, one, np.array([c[0] for c in classes], dtype=np.int64)
    ):
        reach = far < FAR
        hops = np.where(reach, far, 0)
        sums, reached = (w @ hops).tolist(), (w @ reach).tolist()
        if single_orbit:  # all nodes are equivalent, and a unit is connected to one node only
            return int(w.sum()) * sums[0], int(w.sum()) * reached[0] - int(count.sum())
        for i, s in enumerate(sources.tolist()):
            for v in np.flatnonzero(
                lead == s
            ).tolist():  # it has the distances of the source, but the two change places
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
