"""Times of collective operations by linear programs on the wiring: what no algorithm beats, and what algorithms reach.

Nothing of ``tdsl`` is imported. Every rank is a node; a host has a node in front of its ports out and one behind its ports in, so
that what ranks of it send each other goes over scale-up links or the network. With ``merged`` the inside of a host that is not
described joins its ranks without a limit: what then cannot be beaten is a floor in truth, and otherwise a bound on schedules
that use nothing which is not described. Ranks, and hosts that are none, can receive, keep and send on.

Switches and panels copy and add nothing: as much of what is sent leaves them as comes in. Where that holds in every node that
copies nothing, trees can be packed up to the least flow to a rank (Edmonds 1973; Bang-Jensen, Frank, Jackson 1995), so the linear
program gives the time that the best trees take. Delays are left out of it: ``least_delays`` has them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import inf

import networkx as nx
import numpy as np
from scipy.sparse import coo_array

from tests.soundness.inventory import Inventory
from tests.soundness.judges import METRE, Left, Unjudged

Node = tuple[str, int, int]
"""What a node is, its device, and a number there."""

GBIT = 1e9
INNER = 1e-7
"""Seconds that a switch in a host takes."""

ENDLESS = 1e6
"""Gbit/s of what is no limit."""

CELLS = 60_000
"""Variables of a linear program above which nothing is judged."""


@dataclass
class Wires:
    """The network of the ranks: Gbit/s and seconds of every arc. ``free`` are nodes of hosts that are no ranks; ``unknown`` says
    that some delay is not stated, ``first`` what a chip takes before it sends."""

    rate: dict[tuple[Node, Node], float] = field(default_factory=lambda: defaultdict(float))
    delay: dict[tuple[Node, Node], float] = field(default_factory=dict)
    ranks: list[Node] = field(default_factory=list)
    home: dict[Node, int] = field(default_factory=dict)
    first: dict[Node, float] = field(default_factory=dict)
    free: list[Node] = field(default_factory=list)
    ports: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    inner: float = 0.0
    unknown: bool = False

    def add(self, a: Node, b: Node, rate: float, delay: float = 0.0) -> None:
        """An arc, or more of one."""
        self.rate[a, b] += rate
        self.delay[a, b] = min(delay, self.delay.get((a, b), inf))

    @cached_property
    def arcs(self) -> list[tuple[Node, Node]]:
        """All arcs in order."""
        return sorted(self.rate)

    @cached_property
    def nodes(self) -> list[Node]:
        """All nodes in order."""
        return sorted({v for arc in self.rate for v in arc} | set(self.ranks))

    @cached_property
    def graph(self) -> nx.DiGraph:
        """The arcs with their delays."""
        graph = nx.DiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from((a, b, {"delay": self.delay[a, b], "capacity": self.rate[a, b]}) for a, b in self.arcs)
        return graph

    @cached_property
    def reverse(self) -> list[int]:
        """For every arc the place of that of the opposite direction."""
        place = {arc: i for i, arc in enumerate(self.arcs)}
        return [place[_opposite(b), _opposite(a)] for a, b in self.arcs]


def _opposite(v: Node) -> Node:
    """The node of the same ports for the other direction."""
    return ({"out": "in", "in": "out"}.get(v[0], v[0]), v[1], v[2])


def wires_of(left: Left, merged: bool) -> Wires:
    """What is left of a fabric as a network of ranks. Raises Unjudged where there is none."""
    world, out = left.world, Wires()
    up = [x for x in world.up if x.a not in left.gone and x.b not in left.gone]
    joined = {d for x in up for d in (x.a, x.b)}
    own = {d: world.facts[d].get("ns", -1) * 1e-9 for d in range(len(world.names))}
    port: dict[int, Node] = {}
    for d, kind in enumerate(world.kinds):
        if d in left.gone or (kind == "chip" and world.inside[d] >= 0):
            continue
        if kind == "chip":
            out.ranks.append(("rank", d, 0))
            out.home["rank", d, 0] = d
            out.first["rank", d, 0] = max(own[d], 0.0)
        elif kind == "host":
            _add_host(out, left, d, joined, merged)
            port[d] = ("out", d, 0)
    for d in joined:
        if world.kinds[d] == "chip":
            port[d] = ("rank", d, 0)
    units = set(left.units)
    for x in left.links + up:
        metres, scaleup = world.length(x), x in up
        out.unknown |= metres is None
        took = 0.0 if metres is None else float(metres * METRE)
        for a, b in ((x.a, x.b), (x.b, x.a)):
            tail, head = port.get(a, ("node", a, 0)), port.get(b, ("node", b, 0))
            tail, head = (("rank", d, 0) if v[0] == "node" and d in units else v for v, d in ((tail, a), (head, b)))
            head = _opposite(head)
            passing = 0.0
            if head[0] == "node" or (head[0] == "rank" and not scaleup):
                out.unknown |= own[b] < 0
                passing = max(own[b], 0.0)
            out.add(tail, head, x.rate / GBIT, took + passing)
            if not scaleup and world.kinds[b] == "host":
                out.ports[b] += x.rate / GBIT
    if len(out.ranks) < 2:
        raise Unjudged("fewer than two ranks")
    return out


def _add_host(out: Wires, left: Left, d: int, joined: set[int], merged: bool) -> None:
    """The ranks of a host, and how they are joined; of a host that is no rank, the one that it could be."""
    world = left.world
    facts = world.facts[d]
    took = max(facts.get("ns", 0), 0) * 1e-9
    chips = [c for c, at in enumerate(world.inside) if at == d and world.kinds[c] == "chip" and c not in left.gone]
    wired = any(world.inside[c] == d for c in range(len(world.names)))
    mine = [("rank", c, 0) for c in chips] if wired else [("rank", d, g) for g in range(max(facts.get("acc", 1), 1))]
    if d not in left.units:
        mine = [("free", d, 0)]
        out.free += mine
    else:
        out.ranks += mine
        out.home |= dict.fromkeys(mine, d)
    for r in mine:
        out.add(r, ("out", d, 0), ENDLESS, took)
        out.add(("in", d, 0), r, ENDLESS, took)
    inside = facts.get("nv", 0)
    if inside:
        out.inner += inside * len(mine)
        for r in mine:
            out.add(r, ("node", d, 1), inside, INNER)
            out.add(("node", d, 1), r, inside)
    elif merged and len(mine) > 1 and not all(r[1] in joined for r in mine):
        for r in mine:
            out.add(r, ("node", d, 2), ENDLESS)
            out.add(("node", d, 2), r, ENDLESS)


# ---------------------------------------------------------------- linear programs


class _Program:
    """A linear program over flows, put together row by row; its variables are not negative."""

    def __init__(self, columns: int) -> None:
        if columns > CELLS:
            raise Unjudged("too large for the linear program")
        self.columns = columns
        self.equal: list[tuple[dict[int, float], float]] = []
        self.most: list[tuple[dict[int, float], float]] = []
        self.upper: dict[int, float] = {}

    def best(self, objective: dict[int, float]) -> tuple[float, np.ndarray]:
        """The greatest value of the objective, and a solution."""
        cost = np.zeros(self.columns)
        for i, c in objective.items():
            cost[i] = -c
        given = {}
        for rows, a, b in ((self.equal, "A_eq", "b_eq"), (self.most, "A_ub", "b_ub")):
            if rows:
                entries = [(r, c, x) for r, (row, _) in enumerate(rows) for c, x in row.items()]
                r, c, x = (np.array(v) for v in zip(*entries, strict=True))
                given[a] = coo_array((x, (r, c)), shape=(len(rows), self.columns)).tocsr()
                given[b] = np.array([v for _, v in rows])
        bounds = [(0, self.upper.get(i)) for i in range(self.columns)]
        from scipy.optimize import linprog  # half a second, which each process that collects the tests would spend

        found = linprog(cost, bounds=bounds, method="highs", **given)
        if found.status != 0:
            raise Unjudged("the linear program has no answer")
        return -found.fun, found.x

    def keep(self, wires: Wires, first: int, ends: dict[Node, dict[int, float]], nodes: Sequence[Node]) -> None:
        """What leaves each of some nodes less what enters is what ``ends`` says, as a sum of variables; flows are the variables
        from ``first``, in the order of the arcs."""
        rows: dict[Node, dict[int, float]] = {v: {i: -x for i, x in ends.get(v, {}).items()} for v in nodes}
        for i, (a, b) in enumerate(wires.arcs):
            if a in rows:
                rows[a][first + i] = rows[a].get(first + i, 0) + 1
            if b in rows:
                rows[b][first + i] = rows[b].get(first + i, 0) - 1
        self.equal += [(row, 0.0) for row in rows.values() if row]


def _passing(wires: Wires, free: bool) -> list[Node]:
    """Nodes that copy and add nothing; without hosts that are no ranks where these may."""
    kept = {*wires.ranks, *(wires.free if free else ())}
    return [v for v in wires.nodes if v not in kept]


def seconds_of_gathering(wires: Wires, size: int, free: bool) -> float:
    """The least time in which all ranks get ``size`` bytes of which each holds an equal part; ``free``: hosts that are no ranks
    copy, too, which bounds it only from below."""
    arcs, n = len(wires.arcs), len(wires.ranks)
    program = _Program(1 + arcs * (n + 1))
    for i, arc in enumerate(wires.arcs):
        program.upper[1 + i] = wires.rate[arc]
    program.keep(wires, 1, {}, _passing(wires, free))
    for k, t in enumerate(wires.ranks):
        first = 1 + arcs * (k + 1)
        program.keep(wires, first, {r: {0: 1.0} for r in wires.ranks}, [v for v in wires.nodes if v != t])
        program.most += [({first + i: 1.0, 1 + i: -1.0}, 0.0) for i in range(arcs)]
    rate, _ = program.best({0: 1.0})
    return 8 * size / GBIT / n / rate if rate > 1e-9 else inf


def seconds_of_adding_by_trees(wires: Wires, size: int) -> float:
    """The time of the best trees of an all-reduce: every part of the data is added up towards a rank and sent out from there, the
    two at once. As every link is as fast either way, the first is the second turned round."""
    arcs, n = len(wires.arcs), len(wires.ranks)
    base = 1 + n
    program = _Program(base + arcs * (n + 1))
    back = wires.reverse
    program.equal.append(({0: -1.0} | {1 + k: 1.0 for k in range(n)}, 0.0))
    program.most += [
        ({base + i: 1.0, base + back[i]: 1.0} if back[i] != i else {base + i: 2.0}, wires.rate[arc])
        for i, arc in enumerate(wires.arcs)
    ]
    program.keep(wires, base, {}, _passing(wires, False))
    for k, t in enumerate(wires.ranks):
        first = base + arcs * (k + 1)
        roots = {r: {1 + j: 1.0} for j, r in enumerate(wires.ranks)}
        program.keep(wires, first, roots, [v for v in wires.nodes if v != t])
        program.most += [({first + i: 1.0, base + i: -1.0}, 0.0) for i in range(arcs)]
    rate, _ = program.best({0: 1.0})
    return 8 * size / GBIT / rate if rate > 1e-9 else inf


def seconds_of_adding_at_roots(wires: Wires, size: int) -> float:
    """The time in which every rank sends all it has to roots, which add it up and send each rank the sums; roots are ranks and
    hosts that are none, each for a part of the data."""
    roots = [*wires.ranks, *wires.free]
    arcs, n = len(wires.arcs), len(wires.ranks)
    base = 1 + len(roots)
    program = _Program(base + arcs * n)
    back = wires.reverse
    program.equal.append(({0: -1.0} | {1 + k: 1.0 for k in range(len(roots))}, 0.0))
    for i, arc in enumerate(wires.arcs):
        row: dict[int, float] = defaultdict(float)
        for k in range(n):
            row[base + arcs * k + i] += 1
            row[base + arcs * k + back[i]] += 1
        program.most.append((dict(row), wires.rate[arc]))
    for k, t in enumerate(wires.ranks):
        ends = {r: {1 + j: 1.0} for j, r in enumerate(roots)}
        program.keep(wires, base + arcs * k, ends, [v for v in wires.nodes if v != t])
    rate, _ = program.best({0: 1.0})
    return 8 * size / GBIT / rate if rate > 1e-9 else inf


def seconds_of_exchange(wires: Wires, size: int) -> float:
    """The least time in which every rank sends equal parts of ``size`` bytes to all; all hosts may pass on."""
    arcs, n = len(wires.arcs), len(wires.ranks)
    program = _Program(1 + arcs * n)
    for i, arc in enumerate(wires.arcs):
        program.most.append(({1 + arcs * k + i: 1.0 for k in range(n)}, wires.rate[arc]))
    for k, s in enumerate(wires.ranks):
        ends = {r: {0: -1.0} for r in wires.ranks}
        program.keep(wires, 1 + arcs * k, ends, [v for v in wires.nodes if v != s])
    rate, _ = program.best({0: 1.0})
    return 8 * size / GBIT / n / rate if rate > 1e-9 else inf


def least_seconds_of_adding(wires: Wires, size: int) -> float:
    """What no all-reduce beats: the sum of either side of a cut crosses it; and h ranks, or hosts, receive 2(h-1) times the data
    (Patarasuk and Yuan 2009), where what hosts receive that are no ranks counts, too."""
    cut = min(nx.maximum_flow_value(wires.graph, wires.ranks[0], r) for r in wires.ranks[1:])
    bits = 8 * size / GBIT
    found = [bits / cut if cut > 1e-9 else inf]
    at_ports = sum(wires.ports.values())
    into = defaultdict(float)
    for (_, b), rate in wires.rate.items():
        if b[0] == "rank" and rate < ENDLESS:
            into[b] += rate
    total = at_ports + sum(into.values())
    endless = any(v[0] == "node" and v[2] == 2 for v in wires.nodes)
    if total and not endless:
        found.append(2 * (len(wires.ranks) - 1) * bits / total)
    hosts = {*wires.home.values()}
    between = at_ports + sum(
        rate for (a, b), rate in wires.rate.items() if b[0] == "rank" and rate < ENDLESS and a != ("node", wires.home[b], 1)
    )
    if between and len(hosts) > 1:
        found.append(2 * (len(hosts) - 1) * bits / between)
    return max(found)


# ---------------------------------------------------------------- delays


def least_delay(wires: Wires, within: bool = False) -> float:
    """Seconds of the least delay between the two ranks of different hosts that are farthest apart, whatever passes on; of
    those of one host, too, if ``within``."""
    worst = 0.0
    for s in wires.ranks:
        far = nx.single_source_dijkstra_path_length(wires.graph, s, weight="delay")
        first = wires.first.get(s, 0.0)
        worst = max(
            worst, *(first + far.get(t, inf) for t in wires.ranks if t != s and (within or wires.home[t] != wires.home[s])), 0.0
        )
    return worst


def delays_round_ring(wires: Wires) -> list[float]:
    """The least delays, through switches alone, from the rank of every host to that of the next."""
    network = wires.graph.copy()
    network.remove_edges_from([(a, b) for a, b in wires.arcs if a[0] == "in" and b[0] == "rank"])
    out = []
    for a, b in pairwise([*wires.ranks, wires.ranks[0]]):
        door = ("in", wires.home[b], 0)
        out.append(nx.dijkstra_path_length(network, a, door, weight="delay") + wires.delay[door, b])
    return out


def longest_window(delays: Sequence[float], steps: int) -> float:
    """The most that so many steps one after the other take on a ring."""
    rounds, left = divmod(steps, len(delays))
    twice = [*delays, *delays]
    return rounds * sum(delays) + max(sum(twice[k : k + left]) for k in range(len(delays)))


# ---------------------------------------------------------------- times


@dataclass(frozen=True, slots=True)
class TrueTimes:
    """Seconds: no algorithm takes less than ``least``, and one takes ``most``; nothing that is not described is used by any that
    takes less than ``described``."""

    least: float
    most: float
    described: float


def times_of_collective(left: Left, metric: str, size: int) -> TrueTimes:
    """What is true of a collective operation. Raises Unjudged."""
    loose, strict = wires_of(left, True), wires_of(left, False)
    delay = least_delay(loose)
    if metric == "all_to_all_time":
        least = most = seconds_of_exchange(loose, size)
        described = seconds_of_exchange(strict, size)
    elif metric == "allreduce":
        least = least_seconds_of_adding(loose, size)
        most = min(seconds_of_adding_by_trees(loose, size), seconds_of_adding_at_roots(loose, size))
        described = least_seconds_of_adding(strict, size)
    else:
        least = seconds_of_gathering(loose, size, True)
        most = seconds_of_gathering(loose, size, False)
        described = seconds_of_gathering(strict, size, True)
    return TrueTimes(max(least, delay), max(most, delay), max(described, least, least_delay(strict, True)))


def times_of_transfer(left: Left, here: set[int], there: set[int], size: int, each: bool) -> TrueTimes:
    """What is true of a transfer: the quickest flow over time (Ford and Fulkerson 1958), as a linear program of the unit flow
    that is repeated and of the time that each of its parts takes. With ``each``, of the flow in which all send as much, without
    delays. Raises Unjudged."""
    world = left.world
    arcs: dict[tuple[int, int, int], tuple[float, float]] = {}
    own = {d: max(world.facts[d].get("ns", 0), 0) * 1e-9 for d in range(len(world.names))}
    kept = left.forwards | here | there
    for x in left.links:
        if x.a not in kept or x.b not in kept:
            continue
        metres = world.length(x)
        took = float((metres or 0) * METRE)
        for a, b in ((x.a, x.b), (x.b, x.a)):
            if b not in here and a not in there:
                arcs[a, b, x.row] = (x.rate / GBIT, took + own[b] + (own[a] if a in here else 0.0))
    names = list(arcs)
    senders = sorted(here)
    columns = len(names) + len(senders) + 1
    last = columns - 1
    program = _Program(columns)
    rows: dict[int, dict[int, float]] = defaultdict(dict)
    for i, (a, b, _) in enumerate(names):
        rows[a][i] = 1.0
        rows[b][i] = -1.0
    for k, s in enumerate(senders):
        rows[s][len(names) + k] = -1.0
    program.equal += [(row, 0.0) for v, row in rows.items() if v not in there]
    bits = 8 * size / GBIT
    if each:
        program.equal += [({len(names) + k: 1.0, last: -1.0}, 0.0) for k in range(len(senders))]
        for i, name in enumerate(names):
            program.upper[i] = arcs[name][0]
        rate, _ = program.best({last: 1.0})
        if rate < 1e-9:
            raise Unjudged("nothing flows")
        slack = sum(took for _, took in arcs.values())
        return TrueTimes(bits / rate, bits / rate + slack, bits / rate)
    program.equal.append(({len(names) + k: 1.0 for k in range(len(senders))}, 1.0))
    program.most += [({i: 1.0, last: -arcs[name][0]}, 0.0) for i, name in enumerate(names)]
    best, _ = program.best({last: -bits} | {i: -arcs[name][1] for i, name in enumerate(names)})
    return TrueTimes(-best, -best, -best)


def times_over_scale_up(left: Left, metric: str, size: int, hosts: set[int]) -> TrueTimes:
    """What is true of a collective operation among the ranks of some hosts by scale-up links alone: other ranks could pass on,
    and add up, but nothing says that they do. Raises Unjudged."""
    loose, strict = (_wires_of_scale_up(left, hosts, help_out) for help_out in (True, False))
    delay = least_delay(strict, True)
    if metric == "all_to_all_time":
        least = most = seconds_of_exchange(loose, size)
        described = seconds_of_exchange(strict, size)
    elif metric == "allreduce":
        least = least_seconds_of_adding(loose, size)
        most = min(seconds_of_adding_by_trees(loose, size), seconds_of_adding_at_roots(loose, size))
        described = least_seconds_of_adding(strict, size)
    else:
        least, most = (seconds_of_gathering(loose, size, free) for free in (True, False))
        described = seconds_of_gathering(strict, size, True)
    return TrueTimes(max(least, least_delay(loose, True)), max(most, delay), max(described, delay))


def _wires_of_scale_up(left: Left, hosts: set[int], help_out: bool) -> Wires:
    """The scale-up links among the ranks of some hosts; with those of other ranks of the same domains, if these help out. Raises
    Unjudged where they do not join the ranks."""
    if any(left.world.kinds[h] == "host" and h not in left.units for h in hosts):
        raise Unjudged("a host without a link of the network is asked for, and is no rank here")
    every = wires_of(left, False)
    mine = {r: h for r, h in every.home.items() if h in hosts}
    wires = Wires(ranks=[r for r in every.ranks if r in mine], home=mine)
    others = [*every.free, *(r for r in every.ranks if r not in mine)]
    wires.free = others if help_out else []
    gone = set[Node]() if help_out else {*others}
    for (a, b), rate in every.rate.items():
        if not {a[0], b[0]} & {"in", "out"} and not {a, b} & gone:
            wires.add(a, b, rate, every.delay[a, b])
    if len(wires.ranks) < 2 or not all(nx.has_path(wires.graph, wires.ranks[0], t) for t in wires.ranks[1:]):
        raise Unjudged("scale-up links do not join them")
    return wires


def times_in_network(left: Left, size: int) -> TrueTimes:
    """What is true of an all-reduce where switches add up: the sum of either side of a cut crosses it, and trees of ranks alone
    do it, too. Raises Unjudged."""
    loose, strict = wires_of(left, True), wires_of(left, False)
    found = []
    for wires in (loose, strict):
        cut = min(nx.maximum_flow_value(wires.graph, wires.ranks[0], r) for r in wires.ranks[1:])
        found.append(8 * size / GBIT / cut if cut > 1e-9 else inf)
    most = min(seconds_of_adding_by_trees(loose, size), seconds_of_adding_at_roots(loose, size))
    return TrueTimes(max(found[0], least_delay(loose)), max(most, least_delay(loose)), max(found[1], least_delay(strict, True)))


def interval_of_time(inventory: Inventory, metric: str, size: int) -> tuple[float, float]:
    """What no algorithm beats and what one takes, in seconds, of what an inventory records. Raises Unjudged."""
    found = times_of_collective(Left(inventory.world()), metric, size)
    return found.described, found.most


def exact_milliseconds(seconds: float) -> Fraction:
    """A time as the value of a requirement in ms."""
    return Fraction(seconds * 1000).limit_denominator(10**9)
