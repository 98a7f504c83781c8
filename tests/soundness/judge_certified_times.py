"""Whether what a certificate of a time states is so: linear programs on the wiring of its fabric.json, with the delays, ranks and
domains that it takes as given. Nothing of ``tdsl`` is imported.

Links and domains are as wide as what is given allows for what it says no algorithm beats (``generous``), and no wider than it
says for what a schedule takes. The optimum of a gathering is that of trees (see ``judge_times``); an all-reduce takes no less
than one and no more than two, and h ranks receive 2(h-1) times the data. Sets share all links.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from math import inf
from typing import Any

import networkx as nx

from tests.soundness.judge_times import ENDLESS, GBIT, Node, TrueTimes, Wires, _passing, _Program, least_delay, wires_of
from tests.soundness.judges import Left, Unjudged

SLACK = 1 + 1e-6
FEMTO = 1e-15


def is_time_true(left: Left, stated: Any) -> bool:
    """Whether an interval contains the time that the best algorithm takes, as far as linear programs say. Raises Unjudged."""
    given = stated["given"]
    row = {n: i for i, n in enumerate(left.world.names)}
    cable = {frozenset((row[a], row[b])): (low, high) for a, b, low, high in given["links"]}
    if {frozenset((x.a, x.b)) for x in left.world.links} != cable.keys():
        return False
    own = defaultdict(int, {row[d]: took for d, took in given["devices"].items()})
    most = 2 * (sum(high for _, high in cable.values()) + sum(own.values()))
    if stated["check"] == "transfer":
        if left.world.up or given.get("several") or given.get("domains"):
            return False
        here, there = ({row[n] for n in stated[end]} for end in ("from", "to"))
        least, reached = _seconds_of_transfer(left, here, there, stated)
        near = _delay_between(left, here, there, cable, own)
        least += near
    else:
        sets = [[row[n] for n in one] for one in stated.get("sets") or ()] or [left.units]
        units = [u for one in sets for u in one]
        if len(units) != len({*units}) or len(units) != stated["units"]:
            return False
        if left.world.up and not _domains_hold_scale_up(left, stated, row):
            return False
        loose, strict = (wires_of_statement(left, sets, stated, row, generous) for generous in (True, False))
        least, reached = _seconds_of_sets(loose, strict, stated)
        waits = [x["delay"] for x in given.get("domains") or ()]
        most += 4 * max(waits, default=0)
        if all(len(one) == 1 for x in given.get("domains") or () for one in x["units"]):
            pairs = (pair for one in sets for pair in combinations(one, 2))
            least = max(least, *(_delay_between(left, {a}, {b}, cable, own, True) for a, b in pairs), 0.0)
    low, high = float(Fraction(stated["at_least"])), float(Fraction(stated["at_most"]))
    return low <= (reached + most * FEMTO) * SLACK and high * SLACK >= least


def _domains_hold_scale_up(left: Left, stated: Any, row: dict[str, int]) -> bool:
    """Whether what scale-up links join is in one domain."""
    graph = nx.Graph([(x.a, x.b) for x in left.world.up])
    domain = {row[n]: tuple(one) for x in stated["given"].get("domains") or () for one in x["units"] for n in one}
    for part in nx.connected_components(graph):
        ends = {d for d in part if left.world.kinds[d] in ("host", "chip")}
        hosts = {left.world.inside[d] if left.world.inside[d] >= 0 else d for d in ends}
        if len(hosts) > 1 and len({domain.get(d, d) for d in hosts}) > 1:
            return False
    return True


def wires_of_statement(
    left: Left, sets: list[list[int]], stated: Any, row: dict[str, int], generous: bool
) -> tuple[Wires, list[list[Node]]]:
    """The network of the ranks, and these by set; hosts that are no ranks are left out where sets are named."""
    out, given, world = Wires(), stated["given"], left.world
    several = {row[n]: w for n, w in (given.get("several") or {}).items()}
    units = {u for one in sets for u in one}
    if not several.keys() <= units:
        raise Unjudged("ranks of others")
    ranks = {u: [("rank", u, g) for g in range(several.get(u, given["ranks"]))] for u in sorted(units)}
    domains = [([row[n] for n in one], x) for x in given.get("domains") or () for one in x["units"]]
    joined = {u for some, _ in domains for u in some}
    for number, (some, facts) in enumerate(domains):
        mine = [r for u in some for r in ranks[u]]
        most = facts.get("most_bps")
        if generous or facts["any"]:
            rate = float(Fraction(most)) / GBIT if generous and most else ENDLESS
            hub: Node = ("node", -1 - number, 3)
            for r in mine:
                out.add(r, hub, rate if generous else float(Fraction(facts["rate_bps"])) / GBIT)
                out.add(hub, r, rate if generous else float(Fraction(facts["rate_bps"])) / GBIT)
        else:
            for a in mine:
                for b in mine:
                    if a != b:
                        out.add(a, b, float(Fraction(facts["rate_bps"])) / GBIT / (len(mine) - 1))
    for u, mine in ranks.items():
        for r in mine:
            out.add(r, ("out", u, 0), ENDLESS)
            out.add(("in", u, 0), r, ENDLESS)
            if generous and len(mine) > 1 and u not in joined:
                out.add(r, ("node", u, 2), ENDLESS)
                out.add(("node", u, 2), r, ENDLESS)
    ends = {d for d, kind in enumerate(world.kinds) if kind in ("host", "chip")} - units
    passing = left.forwards - units
    for x in left.links:
        gone = (ends - left.forwards if not stated.get("sets") else ends) & {x.a, x.b}
        if gone and (stated.get("sets") or not generous):
            continue
        for a, b in ((x.a, x.b), (x.b, x.a)):
            tail: Node = ("out", a, 0) if a in units else ("node", a, 0)
            head: Node = ("in", b, 0) if b in units else ("node", b, 0)
            if not gone or {a, b} <= units | passing | gone:
                out.add(tail, head, x.rate / GBIT)
    for u in units & left.forwards:  # chips pass traffic on
        out.add(("in", u, 0), ("out", u, 0), ENDLESS)
    out.free = [("node", d, 0) for d in sorted(ends - left.forwards)]
    grouped = [[r for u in one for r in ranks[u]] for one in sets]
    out.ranks = [r for one in grouped for r in one]
    if min(map(len, grouped)) < 2:
        raise Unjudged("fewer than two ranks")
    return out, grouped


Network = tuple[Wires, list[list[Node]]]


def _seconds_of_sets(loose: Network, strict: Network, stated: Any) -> tuple[float, float]:
    """Seconds that no algorithm beats that uses what is said for certain, and that one takes which may use all."""
    check, gbits = stated["check"], stated["bits"] / GBIT
    if check == "all_to_all_time":
        return _exchange(*strict, gbits), _exchange(*loose, gbits)
    least, reached = _gathering(*strict, gbits, True), _gathering(*loose, gbits, False)
    if check != "allreduce":
        return least, reached
    wires, sets = strict
    into = sum(rate for (_, b), rate in wires.rate.items() if b[0] in ("in", "rank") and rate < ENDLESS)
    into += sum(rate for (_, b), rate in wires.rate.items() if b in wires.free)
    beyond = sum(len(one) - 1 for one in sets)
    return max(least, 2 * beyond * gbits / into if into else inf), 2 * reached


def times_of_sets(left: Left, metric: str, size: int, sets: list[list[int]]) -> TrueTimes:
    """What is true of a collective operation that sets of hosts do, each for itself and all at once, without other hosts.
    Raises Unjudged."""
    world = left.world
    units = {u for one in sets for u in one}
    others = {d for d, kind in enumerate(world.kinds) if kind in ("host", "chip")} - world.closure(units)
    alone = world.left(left.gone | others)
    networks = []
    for merged in (True, False):
        wires = wires_of(alone, merged)
        grouped = [[r for r in wires.ranks if wires.home[r] in one] for one in sets]
        if sum(map(len, grouped)) < len(wires.ranks) or min(map(len, grouped)) < 2:
            raise Unjudged("a rank in no set")
        networks.append((wires, grouped))
    loose, strict = networks
    stated = {"check": metric, "bits": 8 * size}
    least, most = _seconds_of_sets(loose, loose, stated)
    delay = least_delay(loose[0])  # of any two, whatever sets they are in
    described = _seconds_of_sets(strict, strict, stated)[0]
    return TrueTimes(least, max(most, delay), max(least, described))


def _gathering(wires: Wires, sets: list[list[Node]], gbits: float, free: bool) -> float:
    """Seconds of the best trees of all sets at once."""
    arcs, nodes = len(wires.arcs), wires.nodes
    program = _Program(1 + arcs * (len(sets) + len(wires.ranks)))
    used = [1 + arcs * k for k in range(len(sets))]
    for i, arc in enumerate(wires.arcs):
        program.most.append(({first + i: 1.0 for first in used}, wires.rate[arc]))
    at = 1 + arcs * len(sets)
    for first, one in zip(used, sets, strict=True):
        program.keep(wires, first, {}, _passing(wires, free))
        for t in one:
            program.keep(wires, at, {r: {0: 1.0 / len(one)} for r in one}, [v for v in nodes if v != t])
            program.most += [({at + i: 1.0, first + i: -1.0}, 0.0) for i in range(arcs)]
            at += arcs
    rate, _ = program.best({0: 1.0})
    return gbits / rate if rate > 1e-9 else inf


def _exchange(wires: Wires, sets: list[list[Node]], gbits: float) -> float:
    """Seconds of an exchange in which everybody passes on."""
    arcs = len(wires.arcs)
    program = _Program(1 + arcs * len(wires.ranks))
    for i, arc in enumerate(wires.arcs):
        program.most.append(({1 + arcs * k + i: 1.0 for k in range(len(wires.ranks))}, wires.rate[arc]))
    at = 1
    for one in sets:
        for s in one:
            ends = {r: {0: -1.0 / len(one)} for r in one}
            program.keep(wires, at, ends, [v for v in wires.nodes if v != s])
            at += arcs
    rate, _ = program.best({0: 1.0})
    return gbits / rate if rate > 1e-9 else inf


def _seconds_of_transfer(left: Left, here: set[int], there: set[int], stated: Any) -> tuple[float, float]:
    """Seconds of sending at the rate that nobody beats, and at one that is reached."""
    if not stated.get("each"):
        bps = left.between(here, there).bps
        assert bps is not None
        return stated["bits"] / float(bps), stated["bits"] / float(bps)
    out = []
    for closed in (False, True):
        arcs: dict[tuple[int, int], float] = defaultdict(float)
        kept = left.forwards | here | there
        for x in left.links:
            for a, b in ((x.a, x.b), (x.b, x.a)):
                if {a, b} <= kept and a not in there and not (closed and b in here):
                    arcs[a, b] += x.rate / GBIT
        names, program = [*arcs], _Program(1 + len(arcs))
        rows: dict[int, dict[int, float]] = defaultdict(dict)
        for i, (a, b) in enumerate(names):
            program.upper[1 + i] = arcs[a, b]
            rows[a][1 + i], rows[b][1 + i] = 1.0, -1.0
        for s in here:
            rows[s][0] = -1.0
        program.equal += [(some, 0.0) for v, some in rows.items() if v not in there]
        rate, _ = program.best({0: 1.0})
        out.append(stated["bits"] / GBIT / rate if rate > 1e-9 else inf)
    return out[0], out[1]


def _delay_between(left: Left, here: set[int], there: set[int], cable: Any, own: Any, hosts_pass: bool = False) -> float:
    """Seconds of the least delay from some devices to others; where ``hosts_pass``, also over hosts, which take none."""
    graph = nx.DiGraph()
    for x in left.links:
        for a, b in ((x.a, x.b), (x.b, x.a)):
            if a in here or a in left.forwards or hosts_pass:
                took = cable[frozenset((a, b))][0] + (own[b] if b in left.forwards or b in there else 0)
                graph.add_edge(a, b, weight=min(took, graph.get_edge_data(a, b, {"weight": took})["weight"]))
    best = inf
    for s in here & graph.nodes:
        far = nx.single_source_dijkstra_path_length(graph, s)
        best = min(best, *(own[s] + far[t] for t in there if t in far), inf)
    return best * FEMTO if best < inf else inf
