"""Cuts and flows on multigraphs with whole capacities: which nodes no small cut separates, and the flow between two."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.verify.components import Adjacency

WORK = 4_000_000
"""Arcs that ``tied`` may look at: some seconds. What it merged by then stays certain."""


def tied(graph: Adjacency, k: int) -> Ints:
    """Groups of nodes that no cut of fewer than ``k`` links separates: a label for every node.

    Nodes are merged only where the bound is certain, so two groups may still be ``k`` links apart. One pass visits nodes in
    the order of most links to those visited; when a link from v brings what w has to r, no cut below r separates v and w.
    Passes repeat on the merged graph, where cuts below ``k`` are the same, until one merges nothing or the work is too much.
    Source: Nagamochi and Ibaraki, "Computing edge-connectivity in multigraphs and capacitated graphs" (SIAM J. Discrete Math.
    5, 1992); capping the order at ``k``: Henzinger, Noe, Schulz, "Shared-memory exact minimum cuts" (IPDPS 2019).
    """
    label = np.arange(graph.nodes)
    budget = WORK
    while graph.nodes > 1 and budget > 0:
        budget -= len(graph.near)
        parent = _scan(graph, k)
        roots, place = np.unique(parent, return_inverse=True)
        if len(roots) == graph.nodes:
            break
        label = place[label]
        graph = contracted(graph, place, len(roots))
    return label


def _scan(graph: Adjacency, k: int) -> Ints:
    """One pass in maximum-adjacency order; the merged groups by their representatives."""
    start, near, count = graph.start.tolist(), graph.near.tolist(), graph.count.tolist()
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


def contracted(graph: Adjacency, place: Ints, nodes: int) -> Adjacency:
    """The graph with every node put in its place; parallel links are counted together, loops left out."""
    a = place[np.repeat(np.arange(graph.nodes), np.diff(graph.start))]
    b = place[graph.near]
    differ = a != b
    keys, back = np.unique(a[differ] * nodes + b[differ], return_inverse=True)
    count = np.bincount(back, weights=graph.count[differ], minlength=len(keys)).astype(np.int64)
    start = np.searchsorted(keys, np.arange(nodes + 1, dtype=np.int64) * nodes)
    return Adjacency(start, keys % nodes if nodes else keys, count)


@dataclass(slots=True)
class Network:
    """Arcs of a flow network, in pairs: arc i and arc i ^ 1 are each other's reverse."""

    out: list[list[int]]
    to: list[int] = field(default_factory=list)
    room: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, graph: Adjacency) -> Network:
        """The graph's links, usable both ways."""
        network = cls([[] for _ in range(graph.nodes)])
        a = np.repeat(np.arange(graph.nodes), np.diff(graph.start))
        once = a < graph.near
        for v, w, c in zip(a[once].tolist(), graph.near[once].tolist(), graph.count[once].tolist(), strict=True):
            network.join(v, w, c, c)
        return network

    def join(self, a: int, b: int, there: int, back: int) -> None:
        """Add an arc and its reverse with these capacities."""
        self.out[a].append(len(self.to))
        self.out[b].append(len(self.to) + 1)
        self.to += (b, a)
        self.room += (there, back)


def max_flow(network: Network, source: int, sink: int) -> tuple[int, set[int]]:
    """Value of a maximum flow and the source's side of a minimum cut.

    The network's capacities are used up. Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
    estimation" (Soviet Math. Dokl. 11, 1970).
    """
    value = 0
    while True:
        level = _levels(network, source)
        if sink not in level:
            return value, set(level)
        at = dict.fromkeys(level, 0)
        while pushed := _augment(network, level, at, source, sink):
            value += pushed


def _levels(network: Network, source: int) -> dict[int, int]:
    level = {source: 0}
    queue = deque([source])
    while queue:
        v = queue.popleft()
        for arc in network.out[v]:
            w = network.to[arc]
            if network.room[arc] and w not in level:
                level[w] = level[v] + 1
                queue.append(w)
    return level


def _augment(network: Network, level: dict[int, int], at: dict[int, int], source: int, sink: int) -> int:
    """Push along one path of rising levels; 0 if there is none left."""
    trail: list[int] = []
    v = source
    while v != sink:
        arcs = network.out[v]
        while at[v] < len(arcs):
            arc = arcs[at[v]]
            if network.room[arc] and level.get(network.to[arc]) == level[v] + 1:
                break
            at[v] += 1
        if at[v] < len(arcs):
            trail.append(arcs[at[v]])
            v = network.to[arcs[at[v]]]
        elif trail:
            v = network.to[trail.pop() ^ 1]
            at[v] += 1
        else:
            return 0
    pushed = min(network.room[arc] for arc in trail)
    for arc in trail:
        network.room[arc] -= pushed
        network.room[arc ^ 1] += pushed
    return pushed
