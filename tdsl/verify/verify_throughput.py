"""What ``verify_certificate.py`` asks about throughput, and about bounds by routes; it is read from beside that file.

Nothing here is believed either: a pattern by name is worked out anew from ``fabric.json``, and so is what every link carries.
What a file asked for stands in the certificate, and is what it is about. It needs Python and nothing else.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from copy import copy
from fractions import Fraction
from functools import partial
from math import gcd, lcm
from pathlib import Path
from runpy import run_path
from typing import Any

Arc = tuple[int, int]
Wanted = dict[int, int]
Demands = dict[tuple[str, str], int]


class Rejected(Exception):
    """What is stated is not shown."""


def need(holds: bool, why: str) -> None:
    """Reject unless it holds."""
    if not holds:
        raise Rejected(why)


PATHS = run_path(str(Path(__file__).with_name("verify_paths.py")))
Graph, path, classes, first, scaled, sums = (PATHS[x] for x in ("Graph", "path", "classes", "first", "scaled", "sums"))


# ---------------------------------------------------------------- proofs


class Network:
    """Nodes by name, what they ask of each other, and what is on arcs anyway, for each part of a unit of demand."""

    def __init__(self, arcs: list[tuple[str, str, int]], passes: Iterable[str], demands: Demands, ends: Iterable[str]) -> None:
        own: dict[str, int] = defaultdict(int)
        near: dict[str, set[str]] = defaultdict(set)
        for a, b, rate in [*arcs, *((b, a, rate) for a, b, rate in arcs)]:
            own[a] += rate
            near[a].add(b)
        sent: dict[str, int] = defaultdict(int)
        got: dict[str, int] = defaultdict(int)
        for (s, t), amount in demands.items():
            need(type(amount) is int and amount > 0 and s != t, "a demand is no positive number between two")
            sent[s] += amount
            got[t] += amount
        self.total = sum(demands.values())
        self.top = min(Fraction(own[v], max(sent[v], got[v])) for v in {**sent, **got})
        known: dict[str, str] = {}  # ends that meet one node only, which forwards, are one: what they exchange stays below it
        place: dict[str, str] = {}
        forward = dict.fromkeys(passes)
        for v in ends:
            if len(near[v]) == 1 and v not in forward and (v in sent or v in got) and near[v] <= forward.keys():
                place[v] = known.setdefault(min(near[v]), v)
        names = [v for v in ends if v not in forward and place.get(v, v) == v] + [*forward]
        self.name([*names, *sorted({d for a, b, _ in arcs for d in (a, b)} - {*names, *place})])
        room: dict[Arc, int] = defaultdict(int)
        at = {d: self.at[place.get(d, d)] for d in (*self.at, *place)}
        for a, b, rate in arcs:
            room[at[a], at[b]] += rate
            room[at[b], at[a]] += rate
        self.graph = Graph(room, [d in forward for d in self.at])
        self.ask((at[s], at[t], amount) for (s, t), amount in demands.items() if at[s] != at[t])

    def name(self, names: Iterable[str]) -> None:
        """Number the nodes."""
        self.at = {v: i for i, v in enumerate(names)}

    def ask(self, demands: Iterable[tuple[int, int, int]]) -> None:
        """Add up what nodes ask of each other."""
        self.asked: dict[int, Wanted] = defaultdict(lambda: defaultdict(int))
        self.out: Wanted = defaultdict(int)
        self.into: Wanted = defaultdict(int)
        for v, w, amount in demands:
            self.asked[v][w] += amount
            self.out[v] += amount
            self.into[w] += amount

    def twins(self) -> Network:
        """The network in which nodes that meet the same neighbours by the same room are one, ends that send apart from those that
        receive; together are those that send as much to, or receive as much from, the same of these. Exchanging such nodes
        changes nothing: what flows here, divided evenly, flows there. Who passes traffic on that is its own is left alone."""
        room, passes = self.graph.room, self.graph.passes
        alone = {v for v in range(len(passes)) if passes[v] and (v in self.out or v in self.into)}
        alone |= {v for v, w in room if not passes[v] and not passes[w]}
        alike = first(
            v if v in alone else (passes[v], *((w, room[v, w]) for w in self.graph.near[v])) for v in range(len(passes))
        )
        out = into = alike
        turned: dict[int, Wanted] = defaultdict(dict)
        for v, to in self.asked.items():
            for w, amount in to.items():
                turned[w][v] = amount
        known = 0
        while (found := len({*out}) + len({*into})) > known:
            known = found
            out, into = (
                first((alike[v], *sorted(sums(by, mine.get(v, {})).items())) for v in range(len(passes)))
                for mine, by in ((self.asked, into), (turned, out))
            )
        leaves = [2 * out[v] if p or v in self.out else -1 for v, p in enumerate(passes)]
        enters = [2 * out[v] if p else 2 * into[v] + 1 if v in self.into else -1 for v, p in enumerate(passes)]
        small = copy(self)
        names = [[d, d] if p else [f"{d} sends", f"{d} receives"] for d, p in zip(self.at, passes, strict=True)]
        at = small.merge(leaves, enters, [d for two in names for d in two])
        small.ask((at[leaves[v]], at[enters[w]], amount) for v, to in self.asked.items() for w, amount in to.items())
        return small

    def merge(self, leaves: list[int], enters: list[int], names: list[str]) -> dict[int, int]:
        """Put nodes together by numbers for the arcs that leave them and for those that enter, -1 where there are none; half of
        it, rounded down, is one of them. The new node of each number."""
        some = sorted({*leaves, *enters} - {-1})
        at = {i: place for place, i in enumerate(some)}
        room: dict[Arc, int] = defaultdict(int)
        for (v, w), c in self.graph.room.items():
            if leaves[v] >= 0 and enters[w] >= 0:
                room[at[leaves[v]], at[enters[w]]] += c
        self.name(names[i] for i in some)
        self.graph = Graph(room, [self.graph.passes[i // 2] for i in some])
        return at

    def anyway(self, parts: int) -> dict[Arc, int]:
        """What is on arcs whatever way the demands take."""
        return {}

    def arcs(self, stated: Any, least: int) -> dict[Arc, int]:
        """Whole numbers for arcs; those not named have the least."""
        out = dict.fromkeys(self.graph.room, least)
        for a, b, x in stated:
            arc = self.at[a], self.at[b]
            need(arc in out and type(x) is int and x >= least, f"{a} and {b} are not linked, or {x} is no length")
            out[arc] = x
        return out

    def lower(self, stated: Any) -> Fraction:
        """The factor that flows or routes show."""
        if stated.get("twins"):
            return self.twins().lower({**stated, "twins": False})
        need(stated["by"] in ("flows", "routes"), "there is no such proof")
        if stated["by"] == "flows":
            need(type(stated["parts"]) is int and stated["parts"] > 0, "no parts")
            load, whole = self.flows(stated), stated["parts"]
        else:
            load, whole = self.routes(stated["routes"])
        return min([self.top, *(Fraction(self.graph.room[arc] * whole, x) for arc, x in load.items() if x)])

    def flows(self, stated: Any) -> dict[Arc, int]:
        """What flows load: every source's are conserved and bring each its demand."""
        load: dict[Arc, int] = defaultdict(int)
        need({self.at[s] for s in stated["flows"]} == set(self.asked), "other sources send")
        for name, flow in stated["flows"].items():
            over: dict[int, int] = defaultdict(int)
            source = self.at[name]
            for a, b, amount in flow:
                v, w = self.at[a], self.at[b]
                need((v, w) in self.graph.room, f"{a} and {b} are not linked")
                need(type(amount) is int and amount > 0, "a flow is no positive number")
                need(v == source or self.graph.passes[v], f"{a} passes nothing on")
                load[v, w] += amount
                over[v] -= amount
                over[w] += amount
            wanted = {t: x * stated["parts"] for t, x in self.asked[source].items()}
            wanted[source] = -sum(wanted.values())
            need(all(over[v] == wanted.get(v, 0) for v in {**over, **wanted}), f"what {name} sends does not arrive")
        return load

    def routes(self, stated: Any) -> tuple[dict[Arc, int], int]:
        """What routings of everything load, each for its share, and of how many parts."""
        load: dict[Arc, int] = defaultdict(int)
        made = []
        need(len(stated) > 0, "there are no routes")
        for route in stated:
            need(all(type(route[x]) is int and route[x] > 0 for x in ("share", "parts")), "no share or no parts")
            way = self.over_hubs if "hubs" in route else self.along_trees if "trees" in route else self.shortest
            made.append((route["share"], *way(route)))
        whole = lcm(*(parts for _, _, parts in made))
        for share, one, parts in made:
            for arc, x in one.items():
                load[arc] += x * share * (whole // parts)
        return load, whole * sum(share for share, _, _ in made)

    def shortest(self, stated: Any) -> tuple[dict[Arc, int], int]:
        """All along shortest paths under whole lengths."""
        parts, length = stated["parts"], self.arcs(stated["lengths"], 1)
        load: dict[Arc, int] = defaultdict(int, self.anyway(parts))
        got = self.graph.send([*self.out], lambda s: {t: x * parts for t, x in self.asked[s].items()}, length, load, {})
        need(all(got[s] == parts * sum(self.asked[s].values()) for s in self.out), "somebody is not reached")
        return load, parts

    def over_hubs(self, stated: Any) -> tuple[dict[Arc, int], int]:
        """All from their senders to hubs in shares and from hubs to those who get it; paths to hubs are those from them, turned
        round."""
        hubs = {self.at[h]: share for h, share in stated["hubs"].items()}
        need(all(type(x) is int and x > 0 and self.graph.passes[h] for h, x in hubs.items()), "no hub or no share")
        least, parts = gcd(*self.out.values(), *self.into.values()), stated["parts"]
        load: dict[Arc, int] = defaultdict(int)
        for turned, ends in ((True, self.out), (False, self.into)):
            one: dict[Arc, int] = defaultdict(int)
            all_of = {v: x // least * parts for v, x in ends.items()}
            room = {(w, v) if turned else (v, w): c for (v, w), c in self.graph.room.items()}
            graph = Graph(room, self.graph.passes)
            got = graph.send([*hubs], partial(scaled, all_of, hubs), dict.fromkeys(room, 1), one, {})
            need(all(got[h] == share * sum(all_of.values()) for h, share in hubs.items()), "a hub is not reached")
            for (v, w), x in one.items():
                load[(w, v) if turned else (v, w)] += x * least
        return load, parts * sum(hubs.values())

    def along_trees(self, stated: Any) -> tuple[dict[Arc, int], int]:
        """Every demand along all trees that have both its ends, alike; along a link of its own where there is none."""
        trees = [self.tree(t) for t in stated["trees"]]
        load: dict[Arc, int] = defaultdict(int)
        for s, to in self.asked.items():
            for t, amount in to.items():
                both = [tree for tree in trees if s in tree and t in tree]
                need(stated["parts"] % max(len(both), 1) == 0, "other parts")
                each = amount * stated["parts"] // max(len(both), 1)
                for arc in [arc for tree in both for arc in path(tree, s, t)] if both else [(s, t)]:
                    need(arc in self.graph.room, "somebody is not reached")
                    load[arc] += each
        return load, stated["parts"]

    def tree(self, stated: Any) -> dict[int, tuple[int, int]]:
        """For every node of a tree its depth and what is above it."""
        above = {self.at[d]: self.at[v] for v, below in stated.items() for d in below}
        need(len(above) == sum(map(len, stated.values())), "a node hangs on two")
        need(all((v, d) in self.graph.room and self.graph.passes[v] for d, v in above.items()), "a tree follows no links")
        roots = {*above.values()} - {*above}
        need(len(roots) == 1, "a tree has one root")
        out = dict.fromkeys(roots, (0, -1))
        below: dict[int, list[int]] = defaultdict(list)
        for d, v in above.items():
            below[v].append(d)
        front = [*roots]
        for v in front:
            out |= dict.fromkeys(below[v], (out[v][0] + 1, v))
            front += below[v]
        return out

    def upper(self, stated: Any) -> Fraction:
        """The least factor that the ports or lengths allow: capacity times length over demand times distance."""
        if stated.get("twins"):
            return self.twins().upper({**stated, "twins": False})
        if stated["by"] == "ports":
            return self.top
        need(stated["by"] == "lengths", "there is no such proof")
        length = self.arcs(stated["lengths"], 0)
        spent, whole = self.graph.spent([*self.out], self.asked.__getitem__, length, {})
        need(whole, "somebody is not reached")
        return min(self.top, Fraction(sum(self.graph.room[arc] * x for arc, x in length.items()), spent))


# ---------------------------------------------------------------- all to all


class Everyone(Network):
    """Every unit asks as much of every other; units that meet the same nodes are one node, of so much weight, and so may
    switches that do be."""

    def __init__(self, net: Any, twins: bool = True) -> None:
        head: dict[str, str] = {}
        known: dict[Any, str] = {}
        for u in net.units:
            plain = u not in net.forward and net.cap[u] and net.units.isdisjoint(net.cap[u])
            head[u] = known.setdefault(tuple(sorted(net.cap[u].items())), u) if plain else u
        self.name([d for d in net.facts if head.get(d, d) == d and (d in head or d in net.forward)])
        self.units, place = len(net.units), {d: self.at[head.get(d, d)] for d in (*net.forward, *net.units)}
        room: dict[Arc, int] = defaultdict(int)
        for a, b, c in [(place[a], place[b], c) for a, to in net.cap.items() for b, c in to.items()]:
            room[a, b] += c
        self.graph = Graph(room, [d in net.forward for d in self.at])
        count = Counter(place[u] for u in net.units)
        self.weight, self.place = [count[v] for v in self.at.values()], place
        if twins:
            room, passes = self.graph.room, self.graph.passes
            kinds = [tuple((w, room[v, w]) for w in self.graph.near[v]) for v in range(len(passes))]
            alike = [2 * i for i in first(kinds[v] if p and not self.weight[v] else v for v, p in enumerate(passes))]
            self.weight = [self.weight[i // 2] for i in self.merge(alike, alike, [d for d in self.at for _ in "io"])]
        self.asked = Others(self.weight)
        self.out = self.into = {v: w * (self.units - 1) for v, w in enumerate(self.weight) if w}
        self.top = Fraction(min(net.full_of.values()), self.units - 1)

    def anyway(self, parts: int) -> dict[Arc, int]:
        """Units of one node divide what they send each other over all their links, rounded up."""
        out: dict[Arc, int] = {}
        for v, w in enumerate(self.weight):
            near = self.graph.near[v] if w > 1 and not self.graph.passes[v] else []
            full = sum(self.graph.room[v, u] for u in near)
            for u in near:
                out[v, u] = out[u, v] = -(-w * (w - 1) * parts * self.graph.room[v, u] // full)
        return out

    def along_trees(self, stated: Any) -> tuple[dict[Arc, int], int]:
        """The same as of other demands, but counted by the trees that nodes are in: what crosses an arc of a tree is asked by all
        below it of all others."""
        trees, parts = [self.tree(t) for t in stated["trees"]], stated["parts"]
        kind = {v: frozenset(i for i, tree in enumerate(trees) if v in tree) for v in self.out}
        whole: Counter[frozenset[int]] = Counter()
        for v, k in kind.items():
            whole[k] += self.weight[v]
        need(all(a & b and parts % len(a & b) == 0 for a in whole for b in whole), "somebody is not reached, or other parts")
        load: dict[Arc, int] = defaultdict(int, self.anyway(parts))
        for i, tree in enumerate(trees):
            below: dict[int, Counter[frozenset[int]]] = {v: Counter({kind[v]: self.weight[v]} if v in kind else {}) for v in tree}
            for v in sorted(tree, key=lambda v: -tree[v][0])[:-1]:
                here, above = below[v], tree[v][1]
                pairs = ((len(a & b), n * (whole[b] - here[b])) for a, n in here.items() for b in whole if i in b)
                x = sum(n * parts // common for common, n in pairs)
                load[v, above] += x
                load[above, v] += x
                below[above].update(here)
        return load, parts


class Others(dict[int, Wanted]):
    """What the units of a node ask of all others, made when it is looked at."""

    def __init__(self, weight: list[int]) -> None:
        self.some = {v: w for v, w in enumerate(weight) if w}

    def __missing__(self, s: int) -> Wanted:
        return {t: self.some[s] * w for t, w in self.some.items() if t != s}


class Orbits(Everyone):
    """The same under the symmetries that a certificate states: every unit of one source of each orbit sends along shortest
    paths under whole lengths; what it puts on a link, all symmetries spread evenly over the link's orbit. Links are numbered by
    their nodes."""

    PARTS = 5040

    def __init__(self, net: Any, stated: Any) -> None:
        super().__init__(net, twins=False)
        room, passes, nodes = self.graph.room, self.graph.passes, len(self.at)
        self.links = [(a, b) for a, b in sorted(room) if a < b]
        number = {x: i for i, (a, b) in enumerate(self.links) for x in ((a, b), (b, a))}
        for image in stated["symmetries"]:
            need(sorted(image) == list(range(nodes)), "a symmetry is no renaming")
            need(all((self.weight[v], passes[v]) == (self.weight[w], passes[w]) for v, w in enumerate(image)), "unlike")
            need(all(room.get((image[a], image[b])) == c for (a, b), c in room.items()), "no symmetry")
        orbit = classes(nodes, stated["symmetries"])
        moved = [[number[image[a], image[b]] for a, b in self.links] for image in stated["symmetries"]]
        self.orbit = classes(len(self.links), moved)
        self.sources: dict[int, int] = Counter(orbit[self.place[u]] for u in net.units)

    def numbered(self, length: list[int]) -> dict[Arc, int]:
        """Lengths of links both ways."""
        return {x: n for (a, b), n in zip(self.links, length, strict=True) for x in ((a, b), (b, a))}

    def rate(self, stated: Any) -> tuple[Fraction, int]:
        """What fits of the demand if all send so at once, in grains for every pair, or hub and unit; and how many of those are
        apart in every balanced split: whatever side a hub is on, half of the units are on the other, less those not reached."""
        units, pairs, apart = self.units, stated["pairs"] is True, 0
        sources = self.sources if pairs else dict(stated["hubs"])
        need(all(type(n) is int and n > 0 and (pairs or self.weight[v] < 2) for v, n in sources.items()), "no sender")
        wanted = {v: w * self.PARTS for v, w in enumerate(self.weight) if w}
        orbits, capacity, shares = [0] * len(self.links), [0] * len(self.links), 0
        for route in stated["routes"]:
            share, length = route["share"], self.numbered(route["lengths"])
            need(all(type(x) is int and x > 0 for x in (share, *length.values())), "no length or share")
            load: dict[Arc, int] = defaultdict(int)
            got = self.graph.send([*sources], lambda s: wanted, length, load, sources)
            need(not pairs or set(got.values()) == {units * self.PARTS}, "not reached")
            for s, n in sources.items() if pairs else ():
                self.among(s, n, length, load)
            for i, (a, b) in enumerate(self.links):
                orbits[self.orbit[i]] += share * (load[a, b] + load[b, a])
            apart = sum(n * max(got[v] // self.PARTS - (units + 1) // 2, 0) for v, n in sources.items())
            shares += share
        for i, (a, b) in enumerate(self.links):
            capacity[self.orbit[i]] += (1 + pairs) * self.graph.room[a, b]
        rate = min(Fraction(c, x) for c, x in zip(capacity, orbits, strict=True) if x) * self.PARTS * shares
        return rate, units // 2 * ((units + 1) // 2) if pairs else apart

    def among(self, s: int, times: int, length: dict[Arc, int], load: dict[Arc, int]) -> None:
        """What a unit sends to the others of its node: up and down its shortest links."""
        amount = (self.weight[s] - 1) * self.PARTS
        ways = [v for v in self.graph.near[s] if length[s, v] == min(length[s, u] for u in self.graph.near[s])]
        whole, over = sum(self.graph.room[s, v] for v in ways), amount
        parts = [amount * self.graph.room[s, v] // whole for v in ways]
        parts[0] += over - sum(parts)
        for v, x in zip(ways, parts, strict=True):
            load[s, v] += 2 * x * times

    def distances(self, stated: list[int]) -> Fraction:
        """Capacity times length over the distances of all pairs: no rate of all pairs is above it."""
        length, room = self.numbered(stated), self.graph.room
        need(all(type(x) is int and x >= 0 for x in stated), "no lengths")
        need(all(stated[i] == stated[o] for i, o in enumerate(self.orbit)), "lengths differ in an orbit")
        wanted = {v: w for v, w in enumerate(self.weight) if w}
        total, whole = self.graph.spent([*self.sources], lambda s: wanted, length, self.sources)
        need(whole, "somebody is not reached")
        for s, times in self.sources.items():
            total += times * 2 * min(length[s, v] for v in self.graph.near[s]) * (self.weight[s] - 1)
        return Fraction(sum(room[arc] * x for arc, x in length.items()), total)


# ---------------------------------------------------------------- what is asked


def pattern(net: Any, stated: Any) -> Network:
    """The network of a pattern among the units."""
    units, arcs = [*net.units], [(a, b, rate) for a, b, rate, _ in net.links]
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
        need({d for pair in demands for d in pair} <= net.units, "a demand is not between units")
    if words == "rail_allreduce" or words.endswith(" by rail"):
        return rails(net, demands if word in ("shift", "file") else {})
    return Network(arcs, net.forward, demands, units)


def rails(net: Any, wanted: Demands) -> Network:
    """What a unit sends goes from each of its rails to the same rail of the other, as far as both have it; where nothing is
    said, it is a ring on every rail over the units that have it."""
    over = by_rail(net)
    demands: Demands = {}
    called, every = over.called, sorted({rail for _, rail in over.called})
    for rail in every if not wanted else ():
        ring = [called[u, rail] for u in net.units if (u, rail) in called]
        demands |= dict.fromkeys(zip(ring, ring[1:] + ring[:1], strict=True), 1) if len(ring) > 1 else {}
    for (s, t), amount in wanted.items():
        both = [rail for rail in every if (s, rail) in called and (t, rail) in called]
        need(bool(both), f"{s} and {t} have no rail in common")
        demands |= {(called[s, rail], called[t, rail]): amount for rail in both}
    return Network(over.links, net.forward, demands, over.units)


def by_rail(net: Any) -> Any:
    """The same where every rail of a unit is an end for itself; a unit that has none is one end, of rail -1."""
    links = [(a, b, rate, -1 if rail is None else rail) for a, b, rate, rail in net.links]
    some = {d for a, b, _, rail in links if rail >= 0 for d in (a, b)} - net.forward
    links = [x for x in links if x[3] >= 0 or not {x[0], x[1]} & some]
    there = {(d, rail) for a, b, _, rail in links for d in (a, b) if d not in net.forward}
    every, out = sorted({rail for _, rail in there}), copy(net)
    ends = [(u, rail) for u in net.units for rail in every if (u, rail) in there]
    out.called = {(u, rail): u if rail < 0 else f"{u} rail {rail}" for u, rail in ends}
    out.units = dict.fromkeys(out.called.values()).keys()
    out.facts = dict.fromkeys([d for d in net.facts if d not in net.units] + [*out.units])
    out.links = [(out.called.get((a, rail), a), out.called.get((b, rail), b), rate) for a, b, rate, rail in links]
    out.cap = defaultdict(lambda: defaultdict(int))
    out.add(out.links)
    out.full_of = {u: sum(out.cap[u].values()) for u in out.units}
    return out


def between(net: Any, stated: Any) -> Network:
    """The network from one set to another, each of them put together as one node."""
    here, there = set(stated["from"]), set(stated["to"])
    need(here | there <= net.facts.keys() and not here & there, "a set names what is not there, or both have it")
    passes = net.forward | here | there
    named = dict.fromkeys(here, "all from") | dict.fromkeys(there, "all to")
    arcs = [(named.get(a, a), named.get(b, b), rate) for a, b, rate, _ in net.every if a in passes and b in passes]
    return Network([x for x in arcs if x[0] != x[1]], net.forward, {("all from", "all to"): 1}, [])


def all_to_all(net: Any, stated: Any) -> tuple[Fraction, Fraction]:
    """Bounds on the rate of every ordered pair of units when all send to all at once."""
    net = by_rail(net) if stated["pattern"].endswith(" by rail") else net
    need(len(net.units) == stated["units"] > 1, "the number of units is another")
    lower, upper = stated["lower"], stated["upper"]
    if "symmetries" in lower:
        need(lower["pairs"] is True, "that is no proof of all to all")
        low = Orbits(net, lower).rate(lower)[0]
    else:
        low = Everyone(net).lower(lower)
    if "cut" in upper:
        side = set(upper["cut"])
        ours = len(side & net.units)
        need(side <= net.units | net.forward and 0 < ours < len(net.units), "the cut divides no units")
        high = Fraction(net.crossing(side), ours * (len(net.units) - ours))
    else:
        high = Orbits(net, upper).distances(upper["lengths"]) if "symmetries" in upper else Everyone(net).upper(upper)
    return low * net.grain, high * net.grain


def throughput(net: Any, stated: Any) -> None:
    """Bounds in bit/s: of all to all on the rate of every ordered pair; else on what flows of all demands together, each in its
    proportion."""
    plain = stated["pattern"] == "all_to_all"
    need(plain or not any(" " in d for d in net.facts), "a device has the name of a rail or a set")
    if stated["pattern"] in ("all_to_all", "all_to_all by rail"):
        low, high = all_to_all(net, stated)
    else:
        asked = between(net, stated) if stated["pattern"] == "between" else pattern(net, stated)
        low, high = (asked.total * x for x in (asked.lower(stated["lower"]), asked.upper(stated["upper"])))
    need(low == Fraction(stated["lower_bps"]), f"the flows or routes show {low} bit/s")
    need(high == Fraction(stated["upper_bps"]), f"the upper bound is {high} bit/s")


if __name__ == "__main__":
    raise SystemExit("rejected: verify_certificate.py is the one to run; it reads this file")
