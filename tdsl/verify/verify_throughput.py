"""Verifies a certificate of ``throughput`` of a pattern, or between two sets, against the ``fabric.json`` of the same design.

    python verify_throughput.py certificate.json fabric.json

Status 0 and no word: what the certificate states is so. Status 1: it is not, or is not shown, and why. This file stands alone:
it needs Python and nothing else, shares no code with what wrote the certificate, and reads the wiring from fabric.json only.
Patterns by name are worked out anew; what a file asked for stands in the certificate, and is what it is about.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

Arc = tuple[str, str, int]
Demands = dict[tuple[str, str], int]


class Rejected(Exception):
    """What is stated is not shown."""


def need(holds: bool, why: str) -> None:
    """Reject unless it holds."""
    if not holds:
        raise Rejected(why)


class Wiring:
    """Units in the order of the fabric, what forwards, and the links that count: both ends, bit/s, rail."""

    def __init__(self, fabric: Any) -> None:
        columns, links = fabric["devices"]["columns"], fabric["links"]
        facts = {row[0]: dict(zip(columns, row, strict=True)) for row in fabric["devices"]["rows"]}
        at = [links["columns"].index(c) for c in ("a_device", "b_device", "rate_bps", "rail")]
        every = [(row[at[0]], row[at[1]], row[at[2]], row[at[3]]) for row in links["rows"]]
        every = [x for x in every if x[0] != x[1]]
        linked = {d for a, b, _, _ in every for d in (a, b)}
        kind = {d: f["kind"] for d, f in facts.items()}
        ends = [d for d in facts if kind[d] == "host" or (kind[d] == "chip" and d in linked)]
        ends = [d for d in ends if facts[d]["role"] == "accelerator"] or ends
        self.units = [d for d in ends if kind[d] == "chip"] or ends
        direct = any(kind[a] == kind[b] == "chip" for a, b, _, _ in every)
        self.forward = {d for d in facts if kind[d] == "switch" or (direct and kind[d] == "chip")}
        self.known = set(facts)
        need(not any(" " in d for d in facts), "a device has the name of a rail or a set")
        self.every = every
        counted = self.forward | set(self.units)
        self.links = [x for x in every if {x[0], x[1]} <= counted]


class Network:
    """Capacities in bit/s between named nodes, who may pass traffic on, what is asked, and the factor that ports allow."""

    def __init__(self, arcs: list[Arc], passes: set[str], demands: Demands, ends: list[str]) -> None:
        own: dict[str, int] = defaultdict(int)
        near: dict[str, set[str]] = defaultdict(set)
        for a, b, rate in arcs:
            own[a] += rate
            own[b] += rate
            near[a].add(b)
            near[b].add(a)
        sent: dict[str, int] = defaultdict(int)
        got: dict[str, int] = defaultdict(int)
        for (s, t), amount in demands.items():
            need(type(amount) is int and amount > 0 and s != t, "a demand is no positive number between two")
            sent[s] += amount
            got[t] += amount
        self.total = sum(demands.values())
        self.top = min(Fraction(own[v], max(sent[v], got[v])) for v in {**sent, **got})
        first: dict[str, str] = {}  # ends that meet one node only, which forwards, are one: what they exchange stays below it
        place: dict[str, str] = {}
        for v in ends:
            if len(near[v]) == 1 and v not in passes and (v in sent or v in got) and near[v] <= passes:
                place[v] = first.setdefault(min(near[v]), v)
        self.passes = passes
        self.cap: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for a, b, rate in arcs:
            x, y = place.get(a, a), place.get(b, b)
            self.cap[x][y] += rate
            self.cap[y][x] += rate
        self.asked: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for (s, t), amount in demands.items():
            s, t = place.get(s, s), place.get(t, t)
            if s != t:
                self.asked[s][t] += amount

    def lower(self, stated: Any) -> Fraction:
        """The factor that flows show: every source's are conserved and bring each its demand; all together load the arcs."""
        if stated["by"] == "none":
            return Fraction(0)
        need(stated["by"] == "flows" and type(stated["parts"]) is int and stated["parts"] > 0, "no parts")
        need(set(stated["flows"]) == set(self.asked), "other sources send")
        load: dict[tuple[str, str], int] = defaultdict(int)
        for source, flow in stated["flows"].items():
            over: dict[str, int] = defaultdict(int)
            for a, b, amount in flow:
                need(b in self.cap.get(a, {}), f"{a} and {b} are not linked")
                need(type(amount) is int and amount > 0, "a flow is no positive number")
                need(a == source or a in self.passes, f"{a} passes nothing on")
                load[a, b] += amount
                over[a] -= amount
                over[b] += amount
            wanted = {t: x * stated["parts"] for t, x in self.asked[source].items()}
            wanted[source] = -sum(wanted.values())
            need(all(over[v] == wanted.get(v, 0) for v in {**over, **wanted}), f"what {source} sends does not arrive")
        fits = (Fraction(self.cap[a][b] * stated["parts"], x) for (a, b), x in load.items())
        return min([self.top, *fits])

    def upper(self, stated: Any) -> Fraction:
        """The least factor that the ports or lengths allow: capacity times length over demand times distance."""
        if stated["by"] == "ports":
            return self.top
        length: dict[tuple[str, str], int] = {}
        for a, b, x in stated["lengths"]:
            need(b in self.cap.get(a, {}) and type(x) is int and x > 0 and (a, b) not in length, "no length")
            length[a, b] = x
        spent = 0
        for source, wanted in self.asked.items():
            far = self.far(source, length, set(wanted))
            spent += sum(x * far[t] for t, x in wanted.items())
        return min(self.top, Fraction(sum(self.cap[a][b] * x for (a, b), x in length.items()), spent))

    def far(self, source: str, length: dict[tuple[str, str], int], left: set[str]) -> dict[str, int]:
        """Distances from a node to all of some others, and to what is nearer."""
        out: dict[str, int] = {}
        heap = [(0, source)]
        while heap and left:
            at, v = heappop(heap)
            if v not in out:
                out[v] = at
                left.discard(v)
                for w in self.cap[v] if v == source or v in self.passes else ():
                    if w not in out:
                        heappush(heap, (at + length.get((v, w), 0), w))
        return out


def pattern(wiring: Wiring, stated: Any) -> Network:
    """The network of a pattern among the units."""
    units, arcs = wiring.units, [(a, b, rate) for a, b, rate, _ in wiring.links]
    need(len(units) == stated["units"] > 1, "the number of units is another")
    words = stated["pattern"]
    word, *rest = words.removesuffix(" by rail").removesuffix(" through scaleup").split(" ")
    if word in ("ring", "shift", "rail_allreduce"):
        by = int(rest[0]) if word == "shift" else 1
        demands = {(u, units[(i + by) % len(units)]): 1 for i, u in enumerate(units)}
    else:
        need(word == "file", "there is no such pattern")
        demands = {(s, t): amount for s, t, amount in stated["demands"]}
        need(len(demands) == len(stated["demands"]), "a demand stands twice")
        need({d for pair in demands for d in pair} <= set(units), "a demand is not between units")
    if words == "rail_allreduce" or words.endswith(" by rail"):
        return rails(wiring, demands if word in ("shift", "file") else {})
    return Network(arcs, wiring.forward, demands, units)


def rails(wiring: Wiring, wanted: Demands) -> Network:
    """Every rail of a unit is an end for itself; one that has none is one end. What a unit sends goes from each rail to the same
    rail of the other, as far as both have it; where nothing is said, it is a ring on every rail over the units that have it."""

    def called(d: str, rail: int) -> str:
        return d if rail < 0 or d in wiring.forward else f"{d} rail {rail}"

    links = [(a, b, rate, -1 if rail is None else rail) for a, b, rate, rail in wiring.links]
    railed = {d for a, b, _, rail in links if rail >= 0 for d in (a, b)} - wiring.forward
    links = [(a, b, rate, rail) for a, b, rate, rail in links if rail >= 0 or not {a, b} & railed]
    arcs = [(called(a, rail), called(b, rail), rate) for a, b, rate, rail in links]
    there = {(d, rail) for a, b, _, rail in links for d in (a, b)}
    every = sorted({rail for _, rail in there})
    demands: Demands = {}
    for rail in every if not wanted else ():
        ring = [called(u, rail) for u in wiring.units if (u, rail) in there]
        demands |= dict.fromkeys(zip(ring, ring[1:] + ring[:1], strict=True), 1) if len(ring) > 1 else {}
    for (s, t), amount in wanted.items():
        both = [rail for rail in every if (s, rail) in there and (t, rail) in there]
        need(bool(both), f"{s} and {t} have no rail in common")
        demands |= {(called(s, rail), called(t, rail)): amount for rail in both}
    return Network(arcs, wiring.forward, demands, [called(u, rail) for u in wiring.units for rail in every])


def between(wiring: Wiring, stated: Any) -> Network:
    """The network from one set to another, each of them put together as one node."""
    here, there = set(stated["from"]), set(stated["to"])
    need(here | there <= wiring.known and not here & there, "a set names what is not there, or both have it")
    passes = wiring.forward | here | there
    named = dict.fromkeys(here, "all from") | dict.fromkeys(there, "all to")
    arcs = [(named.get(a, a), named.get(b, b), rate) for a, b, rate, _ in wiring.every if a in passes and b in passes]
    return Network([x for x in arcs if x[0] != x[1]], wiring.forward, {("all from", "all to"): 1}, [])


def throughput(wiring: Wiring, stated: Any) -> None:
    """Bounds in bit/s on what flows of all demands together, each in its proportion."""
    net = between(wiring, stated) if stated["pattern"] == "between" else pattern(wiring, stated)
    low, high = (net.total * x for x in (net.lower(stated["lower"]), net.upper(stated["upper"])))
    need(low == Fraction(stated["lower_bps"]), f"the flows show {low} bit/s")
    need(high == Fraction(stated["upper_bps"]), f"the upper bound is {high} bit/s")


def verify(certificate: Any, fabric: Any) -> None:
    """Raise Rejected unless all that a certificate states is so."""
    try:
        need(certificate["schema"] == 1 and certificate["fabric"] == fabric["fabric"], "it is of another fabric")
        need(certificate["check"] == "throughput", "it is no certificate of a pattern's throughput")
        throughput(Wiring(fabric), certificate)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError) as fault:
        raise Rejected(f"malformed: {fault!r}") from None


if __name__ == "__main__":
    try:
        with open(sys.argv[1], encoding="utf-8") as one, open(sys.argv[2], encoding="utf-8") as other:
            verify(json.load(one), json.load(other))
    except (Rejected, OSError, ValueError, IndexError) as why:  # no such file, no JSON, no two arguments
        raise SystemExit(f"rejected: {why}") from None
