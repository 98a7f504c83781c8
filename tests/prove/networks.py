"""Small networks, made at random or by hand, with demands, and the most that can flow in them by one linear program."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from math import gcd
from random import Random
from typing import Any

import highspy
import networkx as nx
import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.prove.network import Network
from tests.fabrics import GBPS, Builder

Demands = dict[tuple[int, int], int]
Rows = list[tuple[int, int, int]]


def column(values: Iterable[int]) -> np.ndarray:
    return np.array([*values], dtype=np.int64)


def columns(rows: Iterable[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b, c = np.array([*rows], dtype=np.int64).reshape(-1, 3).T
    return a, b, c


def arcs_of(net: Network) -> Rows:
    """Tail, head and capacity of every arc."""
    return list(zip(net.tail.tolist(), net.head.tolist(), net.capacity.tolist(), strict=True))


def between_units(units: int, switches: int, links: Demands) -> Network:
    """Units first, then switches; capacities by the lower and the higher node."""
    size = units + switches
    made = Network.both_ways(np.arange(size) >= units, *columns((a, b, x) for (a, b), x in links.items()))
    return Network(made.tail, made.head, made.capacity, made.forwards, (), np.arange(size), units, (1,))


def random_network(seed: int, directed: bool = True) -> tuple[Network, Demands]:
    """A random network, in which some nodes do not forward, and demands between some nodes."""
    rng = Random(seed)
    nodes = rng.randint(3, 7)
    forwards = np.array([rng.random() < 0.7 for _ in range(nodes)])
    links = {tuple(rng.sample(range(nodes), 2)): rng.randint(1, 6) for _ in range(rng.randint(nodes, 3 * nodes))}
    made = Network.of if directed else Network.both_ways
    net = made(forwards, *columns((a, b, x) for (a, b), x in links.items()))
    demands = {tuple(rng.sample(range(nodes), 2)): rng.randint(1, 5) for _ in range(rng.randint(1, 4))}
    return net, demands  # type: ignore[return-value]


def usable_arcs(net: Network, source: int, length: list[int]) -> nx.DiGraph:
    """What a source can use: the arcs out of it and out of nodes that forward."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(net.nodes))
    for arc, (a, b, capacity) in enumerate(arcs_of(net)):
        if a == source or net.forwards[a]:
            graph.add_edge(a, b, length=length[arc], arc=arc, capacity=capacity)
    return graph


def reachable(net: Network, demands: Demands) -> bool:
    return all(nx.has_path(usable_arcs(net, s, [1] * net.arcs), s, t) for s, t in demands)


def greatest_factor(arcs: list[tuple[Any, Any, int]], inner: set[Any], demands: dict[tuple[Any, Any], int]) -> float:
    """The greatest factor by which all demands flow together over arcs (tail, head, capacity), where only some nodes pass on what
    is not theirs: one linear program, with a flow for every source."""
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    h.setOptionValue("threads", 1)
    unit = gcd(*(x for *_, x in arcs)) or 1
    rate = h.addVariable(0, highspy.kHighsInf)
    used: list[list[object]] = [[] for _ in arcs]
    nodes = {v for a, b, _ in arcs for v in (a, b)} | {v for pair in demands for v in pair}
    for s in {s: None for s, _ in demands}:
        flow = {}
        for arc, (a, b, _) in enumerate(arcs):
            if (a == s or a in inner) and b != s:
                flow[arc] = h.addVariable(0, highspy.kHighsInf)
                used[arc].append(flow[arc])
        for v in nodes - {s}:
            into = [x for arc, x in flow.items() if arcs[arc][1] == v]
            out = [x for arc, x in flow.items() if arcs[arc][0] == v]
            h.addConstr(h.qsum(into) - h.qsum(out) - demands.get((s, v), 0) * rate == 0)
    for flows, (*_, capacity) in zip(used, arcs, strict=True):
        if flows:
            h.addConstr(h.qsum(flows) <= capacity // unit)
    h.maximize(rate)
    return float(h.val(rate)) * unit


def most_flow(net: Network, demands: Demands) -> float:
    """All demands of a network together at the greatest common factor."""
    return greatest_factor(arcs_of(net), set(np.flatnonzero(net.forwards).tolist()), demands)


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
    ends = [v for kind, mine in zip(kinds, copies, strict=True) if kind != 1 for v in mine]
    demands = {(s, t): int(rng.integers(1, 3)) for s in ends for t in ends if s != t and rng.random() < (0.3, 1.0)[seed % 2]}
    if rng.random() < 0.5:  # each to one other
        to = np.roll(ends, int(rng.integers(1, len(ends)))).tolist()
        demands = {(s, t): 1 for s, t in zip(ends, to, strict=True) if s != t}
    return Network.of(passes, *columns((a, b, room[a, b]) for a, b in sorted(room))), demands


def arrives(load, flows, wanted):
    """Whether what is on arcs leaves and arrives as it should, and ends where nothing is forwarded."""
    over, into = Counter(), Counter()
    for arc, amount in load.items():
        assert amount >= 0
        over[int(flows.tail[arc])] -= amount
        over[int(flows.head[arc])] += amount
        into[int(flows.head[arc])] += amount
    for (s, t), amount in wanted.items():
        over[s] += amount
        over[t] -= amount
        into[t] -= amount
    return not any(over.values()) and not any(x for v, x in into.items() if not flows.forwards[v])


def bound_by_lengths(lengths, flows, demands):
    """What lengths show, by networkx."""
    spent = 0
    for (s, t), w in demands.items():
        g = nx.DiGraph()
        for arc, (a, b, _) in enumerate(arcs_of(flows)):
            if (flows.forwards[a] or a == s) and (flows.forwards[b] or b == t):
                g.add_edge(a, b, length=lengths[arc])
        spent += w * nx.shortest_path_length(g, s, t, weight="length")
    return Fraction(int(np.dot(flows.capacity, lengths)), spent)


KINDS = {"s": "switch", "h": "host", "c": "chip"}


def wired(text: str, switches: str = "s") -> Fabric:
    """Switches `s0`, hosts `h0` and chips `c0`, in this order of kinds; `h0-s0*2@100` are two links of 100 Gb/s instead of one of
    400, and `h3` alone is a host without a link."""
    parts = [re.fullmatch(r"(\w)(\d+)(?:-(\w)(\d+))?(?:\*(\d+))?(?:@(\d+))?", word) for word in text.split()]
    ends = [(x[i], int(x[i + 1])) for x in parts if x for i in (1, 3) if x[i]]
    b = Builder("wired")
    sets = {}
    for letter, kind in KINDS.items():
        count = 1 + max((i for k, i in ends if k == letter), default=-1)
        if count:
            model = b.model(kind, kind.upper(), {"p": 64}, accelerators=kind != "switch")
            sets[letter] = b.devices(switches if letter == "s" else letter, model, count)
    for x in parts:
        assert x is not None, text
        for _ in range(int(x[5] or 1) if x[3] else 0):
            b.link(b.free(sets[x[1]], int(x[2])), b.free(sets[x[3]], int(x[4])), int(x[6] or 400) * GBPS)
    return b.build()


def lines(*pairs: tuple[str, str]) -> str:
    """Links of a text for `wired`."""
    return " ".join(f"{a}-{b}" for a, b in pairs)
