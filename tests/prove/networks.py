"""Small random networks with demands, and the most that can flow in them by one linear program."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from random import Random

import highspy
import networkx as nx
import numpy as np

from tdsl.prove.network import Network
from tests.fabrics import Builder

Demands = dict[tuple[int, int], int]


def random_network(seed: int, directed: bool = True) -> tuple[Network, Demands]:
    """A random network, in which some nodes do not forward, and demands between some nodes."""
    rng = Random(seed)
    nodes = rng.randint(3, 7)
    forwards = np.array([rng.random() < 0.7 for _ in range(nodes)])
    links = {tuple(rng.sample(range(nodes), 2)): rng.randint(1, 6) for _ in range(rng.randint(nodes, 3 * nodes))}
    a, b = np.array(list(links), dtype=np.int64).T
    made = Network.of if directed else Network.both_ways
    net = made(forwards, a, b, np.array(list(links.values()), dtype=np.int64))
    demands = {tuple(rng.sample(range(nodes), 2)): rng.randint(1, 5) for _ in range(rng.randint(1, 4))}
    return net, demands  # type: ignore[return-value]


def usable_arcs(net: Network, source: int, length: list[int]) -> nx.DiGraph:
    """What a source can use: the arcs out of it and out of nodes that forward."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(net.nodes))
    for arc in range(net.arcs):
        a, b = int(net.tail[arc]), int(net.head[arc])
        if a == source or net.forwards[a]:
            graph.add_edge(a, b, length=length[arc], arc=arc, capacity=int(net.capacity[arc]))
    return graph


def reachable(net: Network, demands: Demands) -> bool:
    return all(nx.has_path(usable_arcs(net, s, [1] * net.arcs), s, t) for s, t in demands)


def most_flow(net: Network, demands: Demands) -> float:
    """All demands together at the greatest common factor: one linear program, with a flow for every source."""
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    rate = h.addVariable(0, highspy.kHighsInf)
    used: list[list[object]] = [[] for _ in range(net.arcs)]
    for s in {s for s, _ in demands}:
        flow = {}
        for arc in range(net.arcs):
            if (net.tail[arc] == s or net.forwards[net.tail[arc]]) and net.head[arc] != s:
                flow[arc] = h.addVariable(0, highspy.kHighsInf)
                used[arc].append(flow[arc])
        for v in range(net.nodes):
            if v != s:
                into = [x for arc, x in flow.items() if net.head[arc] == v]
                out = [x for arc, x in flow.items() if net.tail[arc] == v]
                h.addConstr(h.qsum(into) - h.qsum(out) - demands.get((s, v), 0) * rate == 0)
    for arc, flows in enumerate(used):
        if flows:
            h.addConstr(h.qsum(flows) <= int(net.capacity[arc]))
    h.maximize(rate)
    return float(h.val(rate))


def network_with_copies(seed, loose=False):
    """A network made at random in which every node stands several times: hosts, switches, and switches that send, too."""
    rng = np.random.default_rng(seed)
    kinds = [0] * int(rng.integers(2, 4)) + [1] * int(rng.integers(2, 5)) + [2] * int(rng.integers(0, 2))
    last = np.cumsum(rng.integers(1, 4, size=len(kinds))).tolist()
    copies = [list(range(*x)) for x in pairwise([0, *last])]
    passes = np.array([kind > 0 for kind, mine in zip(kinds, copies, strict=True) for _ in mine])
    room = {}
    for i, a in enumerate(kinds):
        for j in range(i):
            if (loose or a or kinds[j]) and rng.random() < 0.7:
                amount = int(rng.integers(1, 4))
                room |= {p: amount for x in copies[i] for y in copies[j] for p in ((x, y), (y, x))}
    if rng.random() < 0.4 and room:  # one of them is not a twin
        a, b = list(room)[int(rng.integers(len(room)))]
        room[a, b] = room[b, a] = room[a, b] + 1
    pairs = sorted(room)
    tail, head = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    ends = [v for kind, mine in zip(kinds, copies, strict=True) if kind != 1 for v in mine]
    demands = {(s, t): int(rng.integers(1, 3)) for s in ends for t in ends if s != t and rng.random() < (0.3, 1.0)[seed % 2]}
    if rng.random() < 0.5:  # each to one other
        demands = {
            (s, t): 1 for s, t in zip(ends, np.roll(ends, int(rng.integers(1, len(ends)))).tolist(), strict=True) if s != t
        }
    return Network.of(passes, tail, head, np.array([room[p] for p in pairs], dtype=np.int64)), demands


def arrives(load, flows, wanted):
    """Whether what is on arcs leaves and arrives as it should, and ends where nothing is forwarded."""
    over = dict.fromkeys(range(flows.nodes), Fraction(0))
    for arc, amount in load.items():
        assert amount >= 0
        over[int(flows.tail[arc])] -= amount
        over[int(flows.head[arc])] += amount
    for (s, t), amount in wanted.items():
        over[s] += amount
        over[t] -= amount
    into = Counter()
    for arc, amount in load.items():
        into[int(flows.head[arc])] += amount
    for (_, t), amount in wanted.items():
        into[t] -= amount
    return not any(over.values()) and not any(x for v, x in into.items() if not flows.forwards[v])


def bound_by_lengths(lengths, flows, demands):
    """What lengths show, by networkx."""
    spent = 0
    for (s, t), w in demands.items():
        g = nx.DiGraph()
        for arc, (a, b) in enumerate(zip(flows.tail.tolist(), flows.head.tolist(), strict=True)):
            if (flows.forwards[a] or a == s) and (flows.forwards[b] or b == t):
                g.add_edge(a, b, length=lengths[arc])
        spent += w * nx.shortest_path_length(g, s, t, weight="length")
    return Fraction(int(np.dot(flows.capacity, lengths)), spent)


def wired(hosts: int, switches: int, links: list[tuple[str, str]]) -> Builder:
    """Hosts h0, h1, …, and switches s0, s1, …, with these links."""
    b = Builder("wired")
    sw = b.devices("s", b.model("switch", "SW", {"p": 40}), switches)
    node = b.devices("h", b.model("host", "NODE", {"nic": 8}, accelerators=1), hosts)
    b.connect("connect all")
    for one in links:
        b.link(*(b.free(node if end[0] == "h" else sw, int(end[1:])) for end in one))
    return b
