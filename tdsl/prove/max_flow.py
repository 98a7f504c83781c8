"""Cuts and flows on multigraphs with whole capacities: which nodes no small cut separates, and the flow
between two."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network, sum_by_key
from tdsl.prove.search import hop_distances
from tdsl.system.lazy_dataclass import dataclass


def inseparable_groups(graph: Network, k: int, budget: Budget = DEFAULT) -> Ints:
    """Groups of nodes that no cut of fewer than ``k`` links separates: a label for every node.

    Nodes are merged only where the bound is certain, so two groups may still be ``k`` links apart. One pass
    visits nodes in the order of most links to those visited; when a link from v brings what w has to r, no
    cut below r separates v and w. Passes repeat on the merged graph, where cuts below ``k`` are the same,
    until one merges nothing or the work is too much. Source: Nagamochi and Ibaraki, "Computing
    edge-connectivity in multigraphs and capacitated graphs" (SIAM J. Discrete Math. 5, 1992); capping the
    order at ``k``: Henzinger, Noe, Schulz, "Shared-memory exact minimum cuts" (IPDPS 2019). What is tied
    by paths of one and two links is merged before, without a search.
    """
    label = np.arange(graph.nodes)
    left = budget.contraction_work
    while graph.nodes > 1 and left > 0:
        left -= len(graph.tail) // budget.arcs_compared_at_once
        place = _closely_tied(graph, k)
        count = int(place.max()) + 1
        if count == graph.nodes:
            break
        label = place[label]
        graph = graph.contracted(place, count)
    while graph.nodes > 1 and left > 0:
        left -= len(graph.tail)
        parent = _maximum_adjacency_pass(graph, k)
        roots, place = np.unique(parent, return_inverse=True)
        if len(roots) == graph.nodes:
            break
        label = place[label]
        graph = graph.contracted(place, len(roots))
    return label


def _closely_tied(graph: Network, k: int) -> Ints:
    """Labels of nodes that ``k`` links tie, directly or by a common neighbour each: no two such paths share a
    link. Of the neighbours of a node each and the next are compared."""
    tail, head = graph.tail, graph.head
    near = np.flatnonzero(head[1:] == head[:-1]) if len(head) else head
    low = np.append(tail[near], np.minimum(tail, head))
    high = np.append(tail[near + 1], np.maximum(tail, head))
    by_neighbour = np.minimum(graph.capacity[near], graph.capacity[near + 1])
    direct = np.where(tail < head, graph.capacity, 0)
    keys, paths = sum_by_key(low * graph.nodes + high, np.append(by_neighbour, direct))
    tied = keys[paths >= k]
    lowest = component_labels(graph.nodes, tied // graph.nodes, tied % graph.nodes)
    place: Ints = np.unique(lowest, return_inverse=True)[1]
    return place


def _maximum_adjacency_pass(graph: Network, k: int) -> Ints:
    """One pass in maximum-adjacency order; the merged groups by their representatives."""
    start, near, count = graph.start.tolist(), graph.tail.tolist(), graph.capacity.tolist()
    parent = list(range(graph.nodes))

    def find(v: int) -> int:
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    weight = [0] * graph.nodes
    visited = [False] * graph.nodes
    buckets: list[list[int]] = [[] for _ in range(k + 1)]
    buckets[0] = list(range(graph.nodes - 1, -1, -1))
    top = 0
    while top >= 0:
        if not buckets[top]:
            top -= 1
            continue
        v = buckets[top].pop()
        if visited[v]:
            continue
        visited[v] = True
        for i in range(start[v], start[v + 1]):
            w = near[i]
            if visited[w]:
                continue
            had = weight[w]
            now = had + count[i]
            if now >= k:
                now = k
                parent[find(w)] = find(v)
            weight[w] = now
            if now > had:
                buckets[now].append(w)
                top = max(top, now)
    return np.array([find(v) for v in range(graph.nodes)], dtype=np.int64)


# ---------------------------------------------------------------- between two nodes


@dataclass(frozen=True, slots=True)
class MaxFlow:
    """``value`` of a maximum flow and the flow on every arc; ``side`` are the nodes that the source still
    reaches: the arcs out of them are a minimum cut."""

    value: int
    flow: Ints
    side: Bools


LARGE = 1 << 13
"""From so many arcs on scipy's search is sooner done than our own, which needs no time to load."""
MOST = 1 << 30
"""scipy counts in 32 bits, and adds the flows of two opposite arcs."""


def max_flow(net: Network, source: int, sink: int) -> MaxFlow:
    """A maximum flow between two nodes. ``forwards`` is not asked: every node passes flow on.

    Both searches are of Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
    estimation" (Soviet Math. Dokl. 11, 1970). What scipy finds counts only once it is seen to be a flow, and
    as large as a cut.
    """
    found = _max_flow_by_scipy(net, source, sink) if net.arcs >= LARGE else None
    return (
        found
        if found is not None and _is_maximum_flow(net, found, source, sink)
        else _own_max_flow(net, source, sink)
    )


def _is_maximum_flow(net: Network, found: MaxFlow, source: int, sink: int) -> bool:
    """Whether this is a flow within the capacities, and its value that of the cut: then no flow is larger and
    no cut smaller."""
    if not (
        found.side[source]
        and not found.side[sink]
        and (found.flow >= 0).all()
        and (found.flow <= net.capacity).all()
    ):
        return False
    gain = np.zeros(net.nodes, dtype=np.int64)
    used = np.flatnonzero(found.flow)
    np.add.at(gain, net.head[used], found.flow[used])
    np.subtract.at(gain, net.tail[used], found.flow[used])
    kept = int(gain[sink]) == found.value == -int(gain[source])
    gain[[source, sink]] = 0
    cut = int(net.capacity[found.side[net.tail] & ~found.side[net.head]].sum())
    return kept and not gain.any() and cut == found.value


def _max_flow_by_scipy(net: Network, source: int, sink: int) -> MaxFlow | None:
    """What scipy finds; None where its numbers are too small for what the two nodes can give and take, or
    where it is not there, as in a browser."""
    most = min(
        int(net.capacity[net.tail == source].sum()),
        int(net.capacity[net.start[sink] : net.start[sink + 1]].sum()),
    )
    if most // net.unit >= MOST:
        return None
    try:
        from scipy.sparse.csgraph import maximum_flow
    except ImportError:
        return None
    answer = maximum_flow(net.matrix, sink, source, method="dinic")  # in the reverse network
    values = answer.flow.data
    if len(values) == net.arcs and np.array_equal(answer.flow.indices, net.matrix.indices) and net.balanced:
        side = hop_distances(net, source, values > -net.matrix.data) >= 0
        flow = np.maximum(values, 0).astype(np.int64)
    else:  # arcs that lead one way only, whose opposites scipy has added
        rows = np.repeat(np.arange(net.nodes), np.diff(answer.flow.indptr))
        keys = rows * net.nodes + answer.flow.indices
        order = np.argsort(keys, kind="stable")
        flow = np.maximum(
            values[order[np.searchsorted(keys[order], net.head * net.nodes + net.tail)]], 0
        ).astype(np.int64)
        more, back = flow < net.matrix.data, flow > 0
        left = Network.of(
            net.forwards, np.append(net.head[more], net.tail[back]), np.append(net.tail[more], net.head[back])
        )
        side = hop_distances(left, source) >= 0
    return MaxFlow(int(answer.flow_value) * net.unit, flow if net.unit == 1 else flow * net.unit, side)


def _own_max_flow(net: Network, source: int, sink: int) -> MaxFlow:
    """A search of our own, for networks of which it has an answer before scipy is loaded."""
    search = _Residual.of(net)
    value, side = 0, np.zeros(net.nodes, dtype=np.bool_)
    while True:
        level = search.levels(source)
        if sink not in level:
            side[list(level)] = True
            return MaxFlow(value, search.flow(net), side)
        at = dict.fromkeys(level, 0)
        while pushed := search.augment(level, at, source, sink):
            value += pushed


@dataclass(slots=True)
class _Residual:
    """What is left of the capacities. Arcs are in pairs: arc i and arc i ^ 1 lead between the same nodes,
    either way."""

    out: list[list[int]]
    to: list[int]
    left: list[int]
    place: Ints  # of every arc of the network its number here

    @classmethod
    def of(cls, net: Network) -> _Residual:
        """All capacities. An arc and the one back are a pair; one without has a partner of capacity 0."""
        low, high = np.minimum(net.tail, net.head), np.maximum(net.tail, net.head)
        keys, pair = np.unique(low * net.nodes + high, return_inverse=True)
        place = 2 * pair + (net.tail > net.head)
        left = np.zeros(2 * len(keys), dtype=np.int64)
        left[place] = net.capacity
        low, high = keys // max(net.nodes, 1), keys % max(net.nodes, 1)
        to = np.stack((high, low), axis=1).ravel()
        tail = np.stack((low, high), axis=1).ravel()
        order = np.argsort(tail, kind="stable")
        bounds = np.searchsorted(tail[order], np.arange(net.nodes + 1)).tolist()
        arcs = order.tolist()
        return cls([arcs[x:y] for x, y in pairwise(bounds)], to.tolist(), left.tolist(), place)

    def flow(self, net: Network) -> Ints:
        """What flows on every arc of the network, opposite flows set off against each other."""
        flow: Ints = np.maximum(net.capacity - np.array(self.left, dtype=np.int64)[self.place], 0)
        return flow

    def levels(self, source: int) -> dict[int, int]:
        """Arcs from the source to every node that it reaches."""
        level = {source: 0}
        queue = deque([source])
        while queue:
            v = queue.popleft()
            for arc in self.out[v]:
                w = self.to[arc]
                if self.left[arc] and w not in level:
                    level[w] = level[v] + 1
                    queue.append(w)
        return level

    def augment(self, level: dict[int, int], at: dict[int, int], source: int, sink: int) -> int:
        """Push along one path of rising levels; 0 if there is none left."""
        trail: list[int] = []
        v = source
        while v != sink:
            arcs = self.out[v]
            while at[v] < len(arcs):
                arc = arcs[at[v]]
                if self.left[arc] and level.get(self.to[arc]) == level[v] + 1:
                    break
                at[v] += 1
            if at[v] < len(arcs):
                trail.append(arcs[at[v]])
                v = self.to[arcs[at[v]]]
            elif trail:
                v = self.to[trail.pop() ^ 1]
                at[v] += 1
            else:
                return 0
        pushed = min(self.left[arc] for arc in trail)
        for arc in trail:
            self.left[arc] -= pushed
            self.left[arc ^ 1] += pushed
        return pushed
