"""Judges that read fabric.json and nothing else: plain and slow answers to what the checks compute.

Nothing of ``tdsl`` is imported here. Cuts are counted over all halves, distances by breadth-first search, redundancy by
augmenting paths, traffic patterns by a linear program (HiGHS), and every set of failed elements is gone through.

fabric.json does not state how long a cable is, what latency a model has, how many accelerators a host holds and whether a
scale-up domain joins them. The generator writes these facts into titles, which fabric.json does state: ``acc=2 joined=1 ns=500``
in the title of a model, ``metres=leaf[*]~spine[0]:1000,...`` in that of the fabric.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, gcd, inf
from typing import Any
from zlib import crc32

import numpy as np

SETS = 240
"""Sets of failed elements that are gone through for one requirement; above it the judge gives no answer."""

CELLS = 4_000_000
"""Splits times placements of switches that a bisection looks at."""

METRE = Fraction(49, 10**10)
"""Seconds that light takes for a metre of fibre."""


class Unjudged(Exception):
    """The judge has no answer: the question is too large, or has no meaning here."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a fabric, and the same in bit/s where it is a share of capacity. ``exact`` is False where a linear program
    gave it, ``pairs`` the number of its demands. Of a time ``value`` is that of an algorithm, and no algorithm takes less than
    ``least``."""

    value: Fraction
    bps: Fraction | None = None
    exact: bool = True
    pairs: int = 1
    least: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """One link of fabric.json; devices by their row."""

    a: int
    b: int
    rate: int
    rail: int | None
    cables: tuple[str, ...]
    row: int
    bundle: tuple[int, int] | None = None
    """Device and number there of the bundle that it is part of."""

    cages: tuple[str | None, str | None] = (None, None)
    ports: tuple[str, str] = ("", "")


# ---------------------------------------------------------------- the fabric as it is stated


class World:
    """fabric.json as rows. ``planned`` is the fabric.json of the same design with nothing omitted, for tiers and ratios."""

    def __init__(self, data: Any, planned: World | None = None) -> None:
        self.planned = planned
        self.lefts: dict[tuple[frozenset[int], frozenset[int]], Left] = {}
        rows = [dict(zip(data["devices"]["columns"], row, strict=True)) for row in data["devices"]["rows"]]
        self.names: list[str] = [r["name"] for r in rows]
        self.paths: list[str] = [r["path"] for r in rows]
        self.kinds: list[str] = [r["kind"] for r in rows]
        self.roles: list[str] = [r["role"] or "" for r in rows]
        self.tiers = [0 if r["kind"] in ("host", "chip") else -1 if r["tier"] is None else r["tier"] for r in rows]
        self.absent = [dict(zip(data["planned_links"]["columns"], x, strict=True)) for x in data["planned_links"]["rows"]]
        self.models: list[str] = [r["model"] for r in rows]
        self.planes: list[int | None] = [r["plane"] for r in rows]
        self.sets = [re.sub(r"\[[^\]]*\]", "", p) for p in self.paths]
        row = {n: i for i, n in enumerate(self.names)}
        columns = data["links"]["columns"]
        self.links: list[Link] = []
        self.up: list[Link] = []  # of the layer scaleup, beside a network
        for i, values in enumerate(data["links"]["rows"]):
            f = dict(zip(columns, values, strict=True))
            cables = tuple(c for c in (f["cable_id"], f["far_cable_id"]) if c)
            a, b = row[f["a_device"]], row[f["b_device"]]
            bundle = (a, f["a_bundle"]) if f.get("a_bundle") else None
            cages, ports = (f["a_cage"], f["b_cage"]), (f["a_port"], f["b_port"])
            of = self.up if f.get("layer") else self.links
            of.append(Link(a, b, f["rate_bps"], f["rail"], cables, i, bundle, cages, ports))
        self.passing: dict[int, set[int]] = defaultdict(set)
        for i, values in enumerate(data["links"]["rows"]):
            if through := values[columns.index("via")]:
                self.passing[row[through]].add(i)
        self.inside = [row[r["inside"]] if r["inside"] else -1 for r in rows]
        facts = {m["key"]: _facts(m["title"]) for m in data["models"]}
        self.facts = [facts[m] for m in self.models]
        self.metres = _metres(data["title"])
        self.relays = {i for i, r in enumerate(rows) if r.get("forwards")}
        self.joined_chips = any(self.kinds[x.a] == self.kinds[x.b] == "chip" for x in self.links)
        self.direct = self.joined_chips or any({x.a, x.b} & self.relays for x in self.links)

    @cached_property
    def whole(self) -> Left:
        """The fabric before failures."""
        return Left(self)

    def left(self, devices: frozenset[int], links: frozenset[int] = frozenset()) -> Left:
        """What failures leave; the same for the same ones, so that each figure of it is computed once."""
        found = self.lefts.get((devices, links))
        if found is None:
            found = self.lefts[devices, links] = Left(self, devices, links)
        return found

    def select(self, text: str) -> dict[str, frozenset[int]]:
        """The elements that a selector names: of each path the devices whose own path begins with it."""
        out: dict[str, frozenset[int]] = {}
        for one in re.split(r", (?![^\[]*\])", text):
            parts = [re.fullmatch(r"(\w+)(\[[^\]]*\])?", p) for p in re.split(r"\.(?![^\[]*\])", one)]
            assert all(parts), one
            wanted = [(m[1], m[2]) for m in parts if m]
            for d, path in enumerate(self.paths):
                steps = path.split(".")
                for begin in range(len(steps)) if len(wanted) == 1 else (0,):
                    found = steps[begin : begin + len(wanted)]
                    if len(found) == len(wanted) and all(_fits(s, n, i) for s, (n, i) in zip(found, wanted, strict=True)):
                        name = ".".join(steps[: begin + len(wanted)])
                        out[name] = out.get(name, frozenset()) | {d}
                        break
        return {n: self.closure(d) for n, d in dict(sorted(out.items())).items()}

    def elements(self, claim: Claim) -> dict[str, tuple[frozenset[int], frozenset[int]]]:
        """The devices and links that fail with each element of a requirement."""
        if not claim.what:
            return {n: (d, frozenset()) for n, d in self.select(claim.of).items()}
        here = frozenset().union(*self.select(claim.of).values())
        there = frozenset().union(*self.select(claim.to).values()) if claim.to else frozenset(range(len(self.names)))
        rows = [x for x in self.links if (x.a in here and x.b in there) or (x.b in here and x.a in there)]
        out: dict[str, set[int]] = defaultdict(set)
        name = {x.row: " - ".join(f"{self.paths[d]}.{p}" for d, p in zip((x.a, x.b), x.ports, strict=True)) for x in self.links}
        for x in rows:
            both = zip((x.a, x.b), (x.b, x.a), x.cages, x.ports, strict=True)
            ends = [(d, cage, f"{self.paths[d]}.{p}") for d, far, cage, p in both if d in here and far in there]
            if claim.what == "links":
                out[name[x.row]] = {x.row}
            elif claim.what == "bundles":
                if x.bundle is not None:
                    inside = {y.row for y in self.links if y.bundle == x.bundle}
                    out[f"bundle {name[min(inside)]}"] = inside
            elif claim.what == "ports":
                out |= {port: {x.row} for _, _, port in ends}
            elif claim.what == "cages":
                for d, cage, port in ends:
                    inside = {y.row for y in self.links if (d, cage) in ((y.a, y.cages[0]), (y.b, y.cages[1]))}
                    out |= {f"{self.paths[d]} cage {cage}": inside} if cage else {port: {x.row}}
            else:
                for cable in x.cables:
                    out[f"cable {cable}"] = {y.row for y in self.links if cable in y.cables}
        return {n: (frozenset(), frozenset(links)) for n, links in out.items()}

    def closure(self, devices: Iterable[int]) -> frozenset[int]:
        """Devices with all that they contain."""
        out = set(devices)
        while more := {d for d, x in enumerate(self.inside) if x in out} - out:
            out |= more
        return frozenset(out)

    def length(self, x: Link) -> Fraction | None:
        """Metres of a link's cables; None where nobody says."""
        for one, other, metres in self.metres:
            for a, b in ((x.a, x.b), (x.b, x.a)):
                if _under(self.paths[a], one) and _under(self.paths[b], other):
                    return metres * max(len(x.cables), 1)
        return None


def contradiction(data: Any) -> str:
    """Where fabric.json contradicts itself: containment and paths, panels of links and their cables; "" if nowhere."""
    rows = [dict(zip(data["devices"]["columns"], row, strict=True)) for row in data["devices"]["rows"]]
    name = {r["path"]: r["name"] for r in rows}
    kind = {r["name"]: r["kind"] for r in rows}
    for r in rows:
        if name.get(r["path"].rpartition(".")[0]) != r["inside"]:
            return f"{r['path']} is inside {r['inside']}"
    met: dict[str, set[str]] = defaultdict(set)
    for values in data["cables"]["rows"]:
        f = dict(zip(data["cables"]["columns"], values, strict=True))
        met[f["cable_id"]] |= {f["a_device"], f["b_device"]}
    for values in data["links"]["rows"]:
        f = dict(zip(data["links"]["columns"], values, strict=True))
        through = {d for c in (f["cable_id"], f["far_cable_id"]) if c for d in met[c] if kind[d] in ("ocs", "panel")}
        if through != ({f["via"]} if f["via"] else set()):
            return f"the link at {f['a_device']} {f['a_port']} is via {f['via']}, and its cables meet {sorted(through)}"
        if type(f["rate_bps"]) is not int or f["rate_bps"] <= 0:
            return f"the link at {f['a_device']} {f['a_port']} has the rate {f['rate_bps']}"
    return ""


def _facts(title: str) -> dict[str, int]:
    return {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", title or "")}


def _metres(title: str) -> list[tuple[str, str, Fraction]]:
    found = re.search(r"metres=(\S+)", title or "")
    rules = found[1].split(",") if found else []
    out = []
    for rule in rules:
        ends, _, metres = rule.rpartition(":")
        one, _, other = ends.partition("~")
        out.append((one, other, Fraction(metres)))
    return sorted(out, key=lambda rule: -rule[0].count("[") - rule[1].count("["))  # the most specific rule comes first


def _under(path: str, wanted: str) -> bool:
    """Whether a path is one of a rule: the same names, and the same indices where the rule has any."""
    steps, rules = path.split("."), wanted.split(".")
    return len(steps) == len(rules) and all(s == r or re.sub(r"\[.*\]", "", s) == r for s, r in zip(steps, rules, strict=True))


def _fits(step: str, name: str, index: str | None) -> bool:
    found, _, at = step.partition("[")
    if found != name:
        return False
    if index is None or index == "[*]":
        return True
    inside, at = index[1:-1].strip("()"), at.rstrip("]")
    if ".." in inside:
        low, high = inside.split("..")
        return int(low) <= int(at) <= int(high)
    return inside.replace(" ", "") == at.replace(" ", "")


# ---------------------------------------------------------------- what failures leave


class Left:
    """What is left of a fabric after some devices failed with all they contain and all that runs through them."""

    def __init__(self, world: World, gone: frozenset[int] = frozenset(), links: frozenset[int] = frozenset()) -> None:
        self.world = world
        lost = set(links).union(*(world.passing.get(d, ()) for d in gone)) if gone else set(links)
        self.gone = gone
        self.links = [x for x in world.links if x.a not in gone and x.b not in gone and x.row not in lost]
        self.failed = bool(gone or links)
        self.known: dict[Claim, Figure | bool | str] = {}
        """Figures that were asked before, and why there are none."""

    @cached_property
    def degree(self) -> dict[int, int]:
        out: dict[int, int] = defaultdict(int)
        for x in self.links:
            out[x.a] += 1
            out[x.b] += 1
        return out

    @cached_property
    def units(self) -> list[int]:
        """Between which capacity and connectivity are judged."""
        w = self.world
        before = {end for x in w.links for end in (x.a, x.b)}
        linked = {w.sets[d] for d in before}  # what the units are, no failure changes
        opened = {w.sets[d].rpartition(".")[0] for d in range(len(w.names)) if w.kinds[d] == "chip" and w.sets[d] in linked}
        ends = [d for d in range(len(w.names)) if w.kinds[d] in ("host", "chip")]
        roles = {w.roles[d] for d in ends}
        main = next((r for r in ("accelerator", "") if r in roles), None)
        counted = [d for d in ends if (w.sets[d] in linked if w.inside[d] >= 0 else w.sets[d] not in opened)]
        found = [d for d in counted if main is None or w.roles[d] == main] or counted
        if not found:
            found = [d for d, k in enumerate(w.kinds) if k == "switch"]
        # One that had no link before is still asked about.
        lost = before - {end for end, links in self.degree.items() if links} if self.failed else set()
        return [d for d in found if d not in self.gone and d not in lost]

    @cached_property
    def forwards(self) -> set[int]:
        """Devices that a path may pass through."""
        w = self.world
        passing = ("switch", "chip") if w.joined_chips else ("switch",)
        return {d for d, k in enumerate(w.kinds) if d not in self.gone and (k in passing or d in w.relays)}

    @cached_property
    def trunks(self) -> dict[int, list[int]]:
        out: dict[int, list[int]] = defaultdict(list)
        for x in self.links:
            if x.a in self.forwards and x.b in self.forwards and x.a != x.b:
                out[x.a].append(x.b)
                out[x.b].append(x.a)
        return out

    @cached_property
    def hub(self) -> dict[int, int]:
        """Component of every forwarding device."""
        out: dict[int, int] = {}
        for start in sorted(self.forwards):
            for d in _steps(self.trunks, start) if start not in out else ():
                out[d] = start
        return out

    @cached_property
    def attached(self) -> list[tuple[int, int, int, Link | None]]:
        """Where ends are attached: the end, the forwarding device (-1 for a link between two ends), the component, the link."""
        out: list[tuple[int, int, int, Link | None]] = []
        ends = {d for d, k in enumerate(self.world.kinds) if k in ("host", "chip")} | set(self.units)
        for x in self.links:
            for e, d in ((x.a, x.b), (x.b, x.a)):
                if e in ends and e not in self.forwards:
                    far = d in self.forwards
                    if far or d in ends:
                        out.append((e, d if far else -1, self.hub[d] if far else -1 - x.row, x))
        out += [(d, d, self.hub[d], None) for d in sorted(self.forwards & ends) if d not in self.gone]
        return out

    @cached_property
    def hubs(self) -> dict[int, set[int]]:
        """Components that each end is attached to."""
        out: dict[int, set[int]] = defaultdict(set)
        for e, _, h, _ in self.attached:
            out[e].add(h)
        return out

    @cached_property
    def counted(self) -> list[Link]:
        """Links among units and what forwards for them."""
        kept = self.forwards | set(self.units)
        return [x for x in self.links if x.a in kept and x.b in kept and x.a != x.b]

    @cached_property
    def injection(self) -> dict[int, int]:
        """Bit/s that every unit can send."""
        out = dict.fromkeys(self.units, 0)
        for x in self.counted:
            for d in (x.a, x.b):
                if d in out:
                    out[d] += x.rate
        return out

    @property
    def full(self) -> Fraction:
        """The most that the smaller of two halves can send."""
        sent, half = sorted(self.injection.values()), len(self.units) // 2
        return min(Fraction(sum(sent[len(sent) - half :])), Fraction(sum(sent), 2))

    def distances(self, start: int) -> dict[int, int]:
        return _steps(self.trunks, start)

    # ------------------------------------------------------------ yes or no

    def reachability(self, ports: bool = False) -> bool:
        units = set(self.units)
        if ports:
            mine = {(e, h) for e, _, h, _ in self.attached if e in units}
            return all(h == k for e, h in mine for f, k in mine if e != f) and self.reachability()
        if any(not self.hubs[u] & self.hubs[v] for u, v in combinations(self.units, 2)):
            return False
        others = [e for e in self.hubs if e not in units and self.degree.get(e, 0)]
        every: set[int] = set().union(*(self.hubs[u] for u in units)) if units else set()
        return all(self.hubs[e] & every for e in others)

    def plane_isolation(self) -> bool:
        planes: dict[int, set[int]] = defaultdict(set)
        for d, h in self.hub.items():
            if self.world.planes[d] is not None:
                planes[h].add(self.world.planes[d])  # type: ignore[arg-type]
        return all(len(p) < 2 for p in planes.values())

    # ------------------------------------------------------------ capacity

    def bisection(self) -> tuple[int, Fraction]:
        """Bit/s across the worst split into halves, and the most that a smaller half injects."""
        return min(least for least, _ in self.splits), self.full

    def bisection_share(self) -> Fraction:
        """The least share, over all splits, of what the smaller half injects that can cross."""
        if not self.every_half_injects:
            raise Unjudged("half of the units inject nothing")
        return min(Fraction(least, smaller) for least, smaller in self.splits if smaller)

    @property
    def every_half_injects(self) -> bool:
        """Whether no half of the units is without links."""
        return any(sorted(self.injection.values())[: len(self.units) // 2])

    @cached_property
    def splits(self) -> set[tuple[int, int]]:
        """Of every split into halves the least bit/s that cross, and what the half injects that injects less."""
        units = self.units
        if len(units) < 2:
            raise Unjudged("fewer than two units")
        met = {d for x in self.counted for d in (x.a, x.b)}
        free = sorted((self.forwards & met) - set(units))
        half, n = len(units) // 2, len(units)
        splits = comb(n, half)
        if splits << len(free) > CELLS or len(free) > 14:
            raise Unjudged("too many splits")
        grain = gcd(*(x.rate for x in self.counted)) or 1
        place = {d: i for i, d in enumerate(units)} | {d: n + i for i, d in enumerate(free)}
        large = sum(x.rate // grain for x in self.counted) >= 1 << 52
        kind = object if large else float  # whole numbers beyond what a float holds
        weight = np.zeros((n + len(free),) * 2, dtype=kind)
        for x in self.counted:
            i, j = sorted((place[x.a], place[x.b]))
            weight[i, j] += x.rate // grain
        weight += weight.T
        side = np.zeros((splits, n), dtype=kind)
        for row, chosen in enumerate(combinations(range(n), half)):
            side[row, list(chosen)] = 1
        placed = ((np.arange(1 << len(free))[:, None] >> np.arange(len(free))) & 1).astype(kind)

        def within(x: Any, w: Any) -> Any:
            return ((x @ w) * (1 - x)).sum(axis=1)

        uu, uf, ff = weight[:n, :n], weight[:n, n:], weight[n:, n:]
        across = (side @ uf) @ (1 - placed).T + ((1 - side) @ uf) @ placed.T
        least = (across + within(side, uu)[:, None] + within(placed, ff)[None, :]).min(axis=1)
        sent = np.array([self.injection[u] // grain for u in units], dtype=kind)
        mine = side @ sent
        smaller = np.minimum(mine, sent.sum() - mine)
        return {(int(x) * grain, int(y) * grain) for x, y in zip(least.tolist(), smaller.tolist(), strict=True)}

    def edge_redundancy(self) -> int:
        return min(self._paths(u, v, False) for u, v in self._pairs())

    def node_redundancy(self) -> int:
        return min(self._paths(u, v, True) for u, v in self._pairs())

    def _pairs(self) -> list[tuple[int, int]]:
        if len(self.units) < 2:
            raise Unjudged("fewer than two units")
        return list(combinations(self.units, 2))

    def _paths(self, u: int, v: int, nodes: bool) -> int:
        """Disjoint paths between two units: of links, or of devices. A direct link is one path that no device cuts, a bundle is
        one link between two devices."""
        inner = self.forwards - {u, v}
        room: dict[Any, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        direct = 0
        seen: set[tuple[Any, ...]] = set()
        for x in self.links:
            channel = (x.bundle, x.a, x.b)
            if channel in seen and not nodes:
                continue
            seen |= {channel} if x.bundle is not None else set()
            if x.a == x.b or not {x.a, x.b} <= inner | {u, v}:
                continue
            if {x.a, x.b} == {u, v}:
                direct = 1 if nodes else direct + 1
                continue
            for a, b in ((x.a, x.b), (x.b, x.a)):
                start: Any = (a, "out") if nodes and a in inner else a
                end: Any = (b, "in") if nodes and b in inner else b
                room[start][end] += len(self.links) if nodes else 1
        for d in inner if nodes else ():
            room[d, "in"][d, "out"] = 1
        return direct + max_flow(room, u, v)

    def between(self, here: set[int], there: set[int]) -> Figure:
        """The maximum flow between two sets, each put together as one node."""
        if not here or not there or here & there:
            raise Unjudged("no two sets")
        passing = self.forwards | here | there
        room: dict[Any, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        own = [0, 0]
        for x in self.links:
            if not {x.a, x.b} <= passing or x.a == x.b or {x.a, x.b} <= here or {x.a, x.b} <= there:
                continue
            ends = ["A" if d in here else "B" if d in there else d for d in (x.a, x.b)]
            for i, name in enumerate("AB"):
                own[i] += x.rate * (name in ends)
            room[ends[0]][ends[1]] += x.rate
            room[ends[1]][ends[0]] += x.rate
        if not min(own):
            raise Unjudged("a set has no link")
        flow = max_flow(room, "A", "B")
        return Figure(Fraction(flow, min(own)), Fraction(flow))

    # ------------------------------------------------------------ distances

    @cached_property
    def _access(self) -> list[tuple[int, int]]:
        mine = set(self.units)
        return [(e, d) for e, d, _, _ in self.attached if e in mine and d >= 0]

    def diameter(self) -> int:
        nodes = sorted({d for _, d in self._access})
        if not nodes:
            raise Unjudged("nothing is attached")
        return max(far for v in nodes for w, far in self.distances(v).items() if w in set(nodes))

    def mean_hops(self) -> Fraction:
        far = {d: self.distances(d) for _, d in self._access}
        steps = [far[d][e] for u, d in self._access for v, e in self._access if u != v and e in far[d]]
        if not steps:
            raise Unjudged("no two ends reach each other")
        return Fraction(sum(steps), len(steps))

    def latency(self) -> Fraction:
        """Seconds between the two farthest ends on the path of least delay."""
        w = self.world
        own = {d: Fraction(w.facts[d].get("ns", -1), 10**9) for d in range(len(w.names))}
        if any(own[d] < 0 for d in self.forwards if self.degree.get(d, 0)):
            raise Unjudged("a model has no latency")
        metres = {x.row: w.length(x) for x in self.links}
        if any(m is None for m in metres.values()):
            raise Unjudged("a cable has no length")
        time = {r: m * METRE for r, m in metres.items() if m is not None}
        near: dict[int, list[tuple[int, Fraction]]] = defaultdict(list)
        for x in self.links:
            if x.a in self.forwards and x.b in self.forwards:
                near[x.a].append((x.b, time[x.row]))
                near[x.b].append((x.a, time[x.row]))
        units = set(self.units)
        ends = [
            (d, max(own[e], Fraction(0)) + time[x.row] if x else Fraction(0))
            for e, d, _, x in self.attached if e in units and d >= 0
        ]  # fmt: skip
        worst = None
        for i, (d, more) in enumerate(ends):
            best = {d: own[d]}
            for _ in range(len(self.forwards)):
                for v in list(best):
                    for w_, t in near[v]:
                        if best.get(w_, best[v] + t + own[w_] + 1) > best[v] + t + own[w_]:
                            best[w_] = best[v] + t + own[w_]
            for j, (e, other) in enumerate(ends):
                if i != j and e in best:
                    worst = max(worst or Fraction(0), best[e] + more + other)
        if worst is None:
            raise Unjudged("no two ends reach each other")
        return worst

    # ------------------------------------------------------------ traffic

    def throughput(self, pattern: str, scaleup: bool = False) -> Figure:
        """How much of a pattern flows at once, as a fraction of what its busiest end can send."""
        w, units = self.world, self.units
        if len(units) < 2:
            raise Unjudged("fewer than two units")
        linked = {d for x in w.up for d in (x.a, x.b)}  # by whose own links a host's accelerators exchange
        joined = all(w.facts[u].get("joined", 0) or (w.facts[u].get("ports", 0) and u in linked) for u in units)
        if scaleup and not joined:
            raise Unjudged("no scale-up domain")
        relayed = any(u in self.forwards for u in units)
        inside = joined and not relayed and all(w.facts[u].get("acc", 0) > 1 for u in units)
        word, *args = pattern.split(" ", 1)
        if word == "rail_allreduce" and w.direct:
            raise Unjudged("no rails")
        demands = _permuted(args[0], self) if word == "permutation" else None
        if scaleup and w.up:
            return self._through_domains(demands or _demands(pattern, units))
        by_rail = not scaleup and not relayed and (inside or word == "rail_allreduce")
        return self.flow("file" if demands else pattern, demands, by_rail)

    def flow(self, pattern: str, demands: Mapping[Any, int] | None, by_rail: bool) -> Figure:
        """The figure of a pattern between the units, or of these demands; ``by_rail``: between their rails, if there are any."""
        units = self.units
        demands = demands or _demands(pattern, units)
        ends: dict[Any, list[Link]] = {u: [x for x in self.counted if u in (x.a, x.b)] for u in units}
        rails = any(x.rail is not None and {x.a, x.b} & set(units) for x in self.counted)
        if not by_rail or not rails:
            return self._concurrent(ends, demands)
        split: dict[Any, list[Link]] = {}
        for u, mine in ends.items():
            railed = sorted({x.rail for x in mine if x.rail is not None})
            for r in railed or [-1]:
                split[u, r] = [x for x in mine if x.rail == r or not railed]
        if pattern == "all_to_all":
            return self._concurrent(split, {(a, b): 1 for a in split for b in split if a != b})
        over: dict[Any, int] = {}
        every = sorted({r for _, r in split})
        if pattern in ("ring", "rail_allreduce"):
            for r in every:
                having = [u for u in units if (u, r) in split]
                for u, v in zip(having, having[1:] + having[:1], strict=True) if len(having) > 1 else ():
                    over[(u, r), (v, r)] = 1
        else:
            for (u, v), amount in demands.items():
                both = [r for r in every if (u, r) in split and (v, r) in split]
                if not both:
                    return Figure(Fraction(0), Fraction(0))
                over |= {((u, r), (v, r)): amount for r in both}
        return self._concurrent(split, over)

    def _concurrent(self, ends: Mapping[Any, Sequence[Link]], demands: Mapping[tuple[Any, Any], int]) -> Figure:
        """The greatest factor by which all demands flow together; ends that do not forward are nodes of their own."""
        if not demands:
            raise Unjudged("nobody sends")
        own = {e: sum(x.rate for x in mine) for e, mine in ends.items()}
        sent: dict[Any, int] = defaultdict(int)
        got: dict[Any, int] = defaultdict(int)
        for (s, t), amount in demands.items():
            sent[s] += amount
            got[t] += amount
        busy = set(sent) | set(got)
        if any(not own[e] for e in busy):
            raise Unjudged("an end has no link")
        top = min(Fraction(own[e], max(sent[e], got[e])) for e in busy)
        home: dict[tuple[int, int], Any] = {}  # (row, device) -> the end there
        for e, mine in ends.items():
            d = e[0] if isinstance(e, tuple) else e
            home |= {(x.row, d): e for x in mine}
        divided = {e[0] for e in ends if isinstance(e, tuple)}
        arcs: dict[tuple[Any, Any], int] = defaultdict(int)
        for x in self.counted:
            a, b = (home.get((x.row, d), d) for d in (x.a, x.b))
            if {a, b} & divided:
                continue  # what a host has beside its rails is nobody's
            arcs[a, b] += x.rate
            arcs[b, a] += x.rate
        grain = gcd(*arcs.values()) or 1
        if max(arcs.values(), default=0) > 10**6 * grain:
            raise Unjudged("rates too far apart for floats")
        factor = concurrent({k: c // grain for k, c in arcs.items()}, demands, self.forwards) * grain
        total = sum(demands.values())
        near = Fraction(factor / float(top)).limit_denominator(720)
        if abs(float(near) - factor / float(top)) < 1e-9:
            return Figure(near, near * top * total, False, len(demands))
        return Figure(Fraction(factor) / top, Fraction(factor) * total, False, len(demands))

    def _through_domains(self, demands: Mapping[tuple[Any, Any], int]) -> Figure:
        """Both layers as one linear program: every flow goes over scale-up links, at most once over the network, and over
        scale-up links again, whose capacity both stretches share. 100% is where the busiest domain uses all its ports of the
        network."""
        w = self.world
        if self.failed or w.direct:
            raise Unjudged("domains after failures")
        parent = list(range(len(w.names)))

        def root(x: int) -> int:
            while parent[x] != x:
                x = parent[x]
            return x

        for x in w.up:
            parent[root(x.a)] = root(x.b)
        sent: dict[int, int] = defaultdict(int)
        got: dict[int, int] = defaultdict(int)
        crossing = 0
        for (s, t), amount in demands.items():
            if root(s) != root(t):
                sent[root(s)] += amount
                got[root(t)] += amount
                crossing += amount
        if not crossing:
            raise Unjudged("nothing leaves a domain")
        own: dict[int, int] = defaultdict(int)
        for u in self.units:
            own[root(u)] += self.injection[u]
        busy = {*sent, *got}
        if any(not own[d] for d in busy):
            raise Unjudged("a domain has no link")
        top = min(Fraction(own[d], max(sent[d], got[d])) for d in busy)
        arcs: list[tuple[Any, Any, int]] = []  # from, to, the capacity that it uses
        room: list[int] = []
        for x in w.up:
            for a, b in ((x.a, x.b), (x.b, x.a)):
                room.append(x.rate)
                arcs += [((a, 1), (b, 1), len(room) - 1), ((a, 3), (b, 3), len(room) - 1)]
        ends = set(self.units)
        for x in self.counted:
            for a, b in ((x.a, x.b), (x.b, x.a)):
                room.append(x.rate)
                arcs.append(((a, 1 if a in ends else 2), (b, 3 if b in ends else 2), len(room) - 1))
        arcs += [((u, 1), (u, 3), -1) for u in self.units]
        factor = _layered(arcs, room, {((s, 1), (t, 3)): amount for (s, t), amount in demands.items()})
        value = Fraction(factor) / top
        return Figure(value.limit_denominator(10**9), Fraction(factor) * crossing, False, len(demands))

    def allreduce(self, size: int) -> Figure:
        """Seconds in which ``size`` bytes are added up; only where a rank is a host or a chip."""
        from tests.soundness.judge_times import times_of_collective

        acc = {max(self.world.facts[u].get("acc", 1), 1) if self.world.kinds[u] == "host" else 1 for u in self.units}
        if self.world.up or acc != {1} or len(self.units) * len(self.links) > 400:
            raise Unjudged("ranks are not hosts, or they are too many")
        if not self.reachability() or any(not self.injection[u] for u in self.units):
            raise Unjudged("some do not reach each other")
        found = times_of_collective(self, "allreduce", size)
        if max(found.most, found.described) == inf:
            raise Unjudged("some do not reach each other")
        return Figure(Fraction(found.most * (1 + 2e-6)), exact=False, least=Fraction(found.described * (1 - 2e-6)))


def _permuted(text: str, left: Left) -> dict[Any, int]:
    """The demands of a permutation ``a>b;c>d`` between named units."""
    known = {left.world.names[u]: u for u in left.units}
    pairs = [p.split(">") for p in text.split(";")]
    if any(name not in known for pair in pairs for name in pair):
        raise Unjudged("a named unit failed")
    return {(known[a], known[b]): 1 for a, b in pairs}


def _demands(pattern: str, units: Sequence[int]) -> dict[Any, int]:
    """The demands of a pattern among units in their order."""
    n = len(units)
    if pattern == "all_to_all":
        return {(u, v): 1 for u in units for v in units if u != v}
    by = int(pattern.removeprefix("shift ")) if pattern.startswith("shift ") else 1
    if by % n == 0:
        raise Unjudged("all send to themselves")
    return {(u, units[(i + by) % n]): 1 for i, u in enumerate(units)}


def _steps(near: Mapping[int, Sequence[int]], start: int) -> dict[int, int]:
    far, front = {start: 0}, deque([start])
    while front:
        v = front.popleft()
        for w in near.get(v, ()):
            if w not in far:
                far[w] = far[v] + 1
                front.append(w)
    return far


def max_flow(room: Mapping[Any, Mapping[Any, int]], source: Any, sink: Any) -> int:
    """Maximum flow by shortest augmenting paths (Edmonds and Karp 1972)."""
    free: dict[Any, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
    for a, to in room.items():
        for b, c in to.items():
            free[a][b] += c
            free[b][a] += 0
    flow = 0
    while True:
        came: dict[Any, Any] = {source: None}
        front = deque([source])
        while front and sink not in came:
            v = front.popleft()
            for w, c in free[v].items():
                if c > 0 and w not in came:
                    came[w] = v
                    front.append(w)
        if sink not in came:
            return flow
        way = [sink]
        while came[way[-1]] is not None:
            way.append(came[way[-1]])
        steps = list(zip(way[1:], way, strict=False))
        least = min(free[a][b] for a, b in steps)
        for a, b in steps:
            free[a][b] -= least
            free[b][a] += least
        flow += least


def concurrent(arcs: Mapping[tuple[Any, Any], int], demands: Mapping[tuple[Any, Any], int], forwards: set[int]) -> float:
    """The greatest common factor of all demands, by a linear program of the flow of every source over every arc (HiGHS)."""
    import highspy

    nodes = sorted({x for arc in arcs for x in arc}, key=str)
    sources = sorted({s for s, _ in demands}, key=str)
    if not {x for pair in demands for x in pair} <= set(nodes):
        return 0.0
    every = sorted(arcs, key=str)
    if len(sources) * len(every) > 12_000:
        raise Unjudged("too large for the linear program")
    columns = 1 + len(sources) * len(every)
    row_of = {(s, v): i for i, (s, v) in enumerate((s, v) for s in sources for v in nodes if v != s)}
    entries: list[list[tuple[int, float]]] = [[] for _ in range(columns)]
    upper = [highspy.kHighsInf] * columns
    for (s, t), amount in demands.items():
        entries[0].append((row_of[s, t], -float(amount)))
    for i, s in enumerate(sources):
        for j, (a, b) in enumerate(every):
            at = 1 + i * len(every) + j
            if b == s or (a != s and a not in forwards):
                upper[at] = 0.0
            if (s, a) in row_of:
                entries[at].append((row_of[s, a], -1.0))
            if (s, b) in row_of:
                entries[at].append((row_of[s, b], 1.0))
            entries[at].append((len(row_of) + j, 1.0))
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, len(row_of) + len(every)
    lp.col_cost_ = np.array([-1.0] + [0.0] * (columns - 1))
    lp.col_lower_, lp.col_upper_ = np.zeros(columns), np.array(upper)
    lp.row_lower_ = np.array([0.0] * len(row_of) + [-highspy.kHighsInf] * len(every))
    lp.row_upper_ = np.array([0.0] * len(row_of) + [float(arcs[x]) for x in every])
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.cumsum([0, *(len(e) for e in entries)])
    lp.a_matrix_.index_ = np.array([r for e in entries for r, _ in e])
    lp.a_matrix_.value_ = np.array([x for e in entries for _, x in e])
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("threads", 1)
    solver.passModel(lp)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise Unjudged("the linear program has no answer")
    return -float(solver.getInfo().objective_function_value)


def _layered(arcs: Sequence[tuple[Any, Any, int]], room: Sequence[int], demands: Mapping[tuple[Any, Any], int]) -> float:
    """The greatest common factor of all demands where several arcs may share a capacity (-1: none)."""
    import highspy

    nodes = sorted({x for a, b, _ in arcs for x in (a, b)}, key=str)
    sources = sorted({s for s, _ in demands}, key=str)
    if not {x for pair in demands for x in pair} <= set(nodes):
        return 0.0
    if len(sources) * len(arcs) > 6_000:
        raise Unjudged("too large for the linear program")
    grain = gcd(*room)
    h = highspy.Highs()
    h.silent()
    h.setOptionValue("threads", 1)
    rate = h.addVariable(0, highspy.kHighsInf)
    used: list[list[Any]] = [[] for _ in room]
    for s in sources:
        into: dict[Any, list[Any]] = defaultdict(list)
        out: dict[Any, list[Any]] = defaultdict(list)
        for a, b, shared in arcs:
            x = h.addVariable(0, highspy.kHighsInf)
            into[b].append(x)
            out[a].append(x)
            if shared >= 0:
                used[shared].append(x)
        for v in nodes:
            if v != s:
                h.addConstr(h.qsum(into[v]) - h.qsum(out[v]) - demands.get((s, v), 0) * rate == 0)
    for flows, most in zip(used, room, strict=True):
        h.addConstr(h.qsum(flows) <= most // grain)
    h.maximize(rate)
    return float(h.val(rate)) * grain


# ---------------------------------------------------------------- requirements


@dataclass(frozen=True, slots=True)
class Claim:
    """One requirement. ``value`` is in the unit of ``unit``: "" for a plain number, ``bps``, ``s``, ``W``,
    ``m``, ``$``. ``what`` fails: links, ports,
    cables, cages or bundles; devices and groups where it is empty."""

    metric: str
    arg: str = ""
    of: str = ""
    to: str = ""
    count: int = 0
    scaleup: bool = False
    intact: bool = False
    cmp: str = ""
    value: Fraction = field(default=Fraction(0))
    unit: str = ""
    given: Claim | None = None
    what: str = ""
    at: str = ""
    every: bool = False
    """`of all S`: the hosts and chips that ``of`` names as one set."""
    among: bool = False
    """`among S, T`: each path of ``of`` names a set."""

    def text(self) -> str:
        """The requirement in the language."""
        words = [self.metric]
        if self.metric in ("allreduce", "all_gather_time", "reduce_scatter_time", "all_to_all_time"):
            words.append(f"{int(self.arg)}B")
        elif self.metric == "throughput" and self.arg.startswith("permutation"):
            words.append(f'permutation "{self.file}"')
        elif self.arg:
            words.append(self.arg)
        words += [f"any {self.count} {self.what}".strip()] if self.count else []
        words += [f"{'among' if self.among else 'of all' if self.every else 'of'} {self.of}"] if self.of else []
        words += [f"to {self.to}"] if self.to else []
        words += [f"at {self.at}"] if self.at else []
        words += ["through scaleup"] if self.scaleup else []
        if self.cmp:
            words += [self.cmp, _number(self.value, self.unit)]
        words += ["of intact"] if self.intact else []
        words += [f"with {self.given.text()}"] if self.given else []
        return " ".join(words)

    @property
    def file(self) -> str:
        """The file that a permutation's pairs stand in."""
        return f"pairs{crc32(self.arg.encode()):08x}.csv"

    def holds(self, figure: Figure | bool) -> bool | None:
        """Whether the requirement is met by a figure; None where the figure is not known so exactly."""
        if isinstance(figure, bool):
            return figure
        x = figure.bps if self.unit == "bps" else figure.value
        assert x is not None
        if figure.least is not None and (self.cmp in ("==", "!=") or self._holds_at(figure.least) != self._holds_at(x)):
            return self.cmp == "!=" if not figure.least <= self.value <= x else None
        return self._holds_at(x)

    def _holds_at(self, x: Fraction) -> bool:
        return {
            ">=": x >= self.value, ">": x > self.value, "<=": x <= self.value, "<": x < self.value,
            "==": x == self.value, "!=": x != self.value, "": True,
        }[self.cmp]  # fmt: skip


def _number(value: Fraction, unit: str) -> str:
    if unit in ("W", "m", "B", "ms"):
        return f"1{unit}*{value.numerator}/{value.denominator}"
    if unit == "$":
        assert value.denominator == 1, value
        return f"${value.numerator}"
    if unit == "bps":
        return f"1bps*{value.numerator}/{value.denominator}"
    if unit == "s":
        return f"1ps*{(value * 10**12).numerator}/{(value * 10**12).denominator}"
    return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def figure(left: Left, claim: Claim, intact: Left | None = None) -> Figure | bool:
    """The answer to a requirement's question about what is left. Raises Unjudged."""
    asked = replace(claim, cmp="", value=Fraction(0), unit="", given=None)
    if asked.metric == "survives":
        return all(holds for holds, _ in outcomes(left.world, claim) if holds is not None)
    if asked not in left.known:
        try:
            left.known[asked] = _figure(left, asked, intact)
        except Unjudged as why:
            left.known[asked] = str(why)
    found = left.known[asked]
    if isinstance(found, str):
        raise Unjudged(found)
    if claim.metric in ("diameter", "mean_hops", "latency") and intact is not None and left.failed and not left.reachability():
        if claim.cmp not in ("<", "<="):
            raise Unjudged("a distance of ends that reach each other")
        return False  # no path is within any limit
    return found


def _figure(left: Left, claim: Claim, intact: Left | None) -> Figure | bool:
    whole = intact or left
    match claim.metric:
        case "reachability":
            return left.reachability(ports=claim.of == "ports")
        case "plane_isolation":
            return left.plane_isolation()
        case "bisection":
            cut, _ = left.bisection()
            if claim.intact and not whole.every_half_injects:
                raise Unjudged("half of the units inject nothing")
            return Figure(Fraction(cut, whole.full) if claim.intact else left.bisection_share(), Fraction(cut))
        case "edge_redundancy" | "node_redundancy" | "diameter" | "mean_hops" | "latency":
            return Figure(Fraction(getattr(left, claim.metric)()))
        case "throughput" if claim.to:
            here, there = (_members(left, s) for s in (claim.of, claim.to))
            if left.failed and not (here and there):
                return False
            return left.between(here, there)
        case "throughput":
            return left.throughput(claim.arg, claim.scaleup)
        case "allreduce":
            return left.allreduce(int(claim.arg))
        case "oversubscription":
            return Figure(oversubscription(left.world, claim.at))
        case "taper":
            return Figure(taper(left, claim.of))
        case "blast_radius":
            return blast_radius(left.world, claim.of)
    raise Unjudged(claim.metric)


def _members(left: Left, text: str) -> set[int]:
    """What is left of what is named: of a group the units in it, or all of it where it never had any."""
    units, out = set(left.world.whole.units), set()
    for devices in left.world.select(text).values():
        out |= (devices & units) or devices
    return out - left.gone - (units - set(left.units))


def outcomes(world: World, claim: Claim) -> list[tuple[bool | None, tuple[str, ...]]]:
    """Of every set of K elements whether the requirement holds without it (None: not judged). Raises Unjudged."""
    out: list[tuple[bool | None, tuple[str, ...]]] = []
    asked = claim.given or Claim("reachability")
    for names, found in figures(world, claim):
        out.append((None if found is None else asked.holds(found), names))
    return out


def figures(world: World, claim: Claim) -> list[tuple[tuple[str, ...], Figure | bool | None]]:
    """The figure that every set of K elements leaves. Raises Unjudged."""
    elements = world.elements(claim)
    if comb(len(elements), claim.count) > SETS or len(elements) < claim.count:
        raise Unjudged("too many sets, or too few elements")
    asked = claim.given or Claim("reachability")
    whole = world.whole
    out: list[tuple[tuple[str, ...], Figure | bool | None]] = []
    for names in combinations(elements, claim.count):
        devices, links = (frozenset().union(*(elements[n][i] for n in names)) for i in (0, 1))
        left = world.left(devices, links)
        found: Figure | bool | None = None
        if len(left.units) >= 2 or asked.to:
            try:
                found = figure(left, asked, whole)
            except Unjudged:
                found = None
        out.append((names, found))
    return out


def blast_radius(world: World, text: str) -> Figure:
    """Endpoints without a path to another unit when the worst element has failed."""
    elements = world.select(text)
    if not elements:
        raise Unjudged("nothing fails")
    whole = world.whole
    units = set(whole.units)
    total = sum(e in units and whole.degree.get(e, 0) > 0 for e, _, _, _ in whole.attached)
    live = [_live(world.left(devices)) for devices in elements.values()]
    return Figure(Fraction(max(total - sum(after.get(u, 0) for u in units) for after in live)))


def _live(left: Left) -> dict[int, int]:
    """Endpoints of every unit from which another unit can be reached."""
    units = set(left.units)
    there: dict[int, set[int]] = defaultdict(set)
    for e, _, h, _ in left.attached:
        if e in units:
            there[h].add(e)
    out: dict[int, int] = defaultdict(int)
    for e, _, h, _ in left.attached:
        out[e] += e in units and len(there[h]) > 1
    return out


def taper(left: Left, text: str) -> Fraction:
    """The worst ratio, over elements, of what hosts and chips inject into the switches there over what leads from these to
    switches elsewhere."""
    w = left.world
    ratios: list[Fraction] = []
    if w.direct:
        raise Unjudged("ends forward")
    for devices in w.select(text).values():
        inside = out = 0
        for x in left.links:
            for d, other in ((x.a, x.b), (x.b, x.a)):
                if d in devices and w.kinds[d] == "switch":
                    inside += x.rate * (w.kinds[other] in ("host", "chip"))
                    out += x.rate * (w.kinds[other] == "switch" and other not in devices)
        if inside and not out:
            raise Unjudged("infinite")
        ratios += [Fraction(inside, out)] if inside else []
    if not ratios:
        raise Unjudged("nothing is injected")
    return max(ratios)


def oversubscription(world: World, at: str = "") -> Fraction:
    """The worst ratio of capacity below over capacity above, of all switches or of those that ``at`` names; tiers and what is
    below come from the planned fabric."""
    plan = world.planned or world
    if plan.direct:
        raise Unjudged("a direct fabric has no tiers")
    near: dict[int, list[int]] = defaultdict(list)
    for x in plan.links:
        near[x.a].append(x.b)
        near[x.b].append(x.a)
    ends = {d for d, k in enumerate(plan.kinds) if k in ("host", "chip")}
    roles = {plan.roles[d] for d in ends}
    main = next((r for r in ("accelerator", "") if r in roles), None)
    tier = {d: 0 for d in ends if main is None or plan.roles[d] == main}
    front = deque(tier)
    while front:
        v = front.popleft()
        for w in near[v]:
            if w not in tier and plan.kinds[w] == "switch":
                tier[w] = tier[v] + 1
                front.append(w)
    lowest = {plan.sets[d] for d, t in tier.items() if t == 1}
    bare = [d for d, t in tier.items() if t > 1 and plan.sets[d] in lowest and all(tier[x] > 1 for x in near[d])]
    tier |= dict.fromkeys(bare, 1)  # of a declaration whose others have hosts: it is meant for hosts, too
    tier |= dict.fromkeys(ends, 0)
    down: dict[str, int] = defaultdict(int)
    up: dict[str, int] = defaultdict(int)
    level = {plan.paths[d]: t for d, t in tier.items()}
    for which, x in [(plan, x) for x in plan.links] + [(world, x) for x in world.links]:
        a, b = sorted((which.paths[x.a], which.paths[x.b]), key=lambda p: level.get(p, -1))
        if level.get(a, -1) < 0 or level[a] == level.get(b, -1):
            continue
        if which is plan:
            down[b] += x.rate
        if which is world:
            up[a] += x.rate
    switches = [world.paths[d] for d, k in enumerate(world.kinds) if k == "switch"]
    tiers = {level.get(p, -1) for p in switches if up[p]}
    named = {world.paths[d] for devices in world.select(at).values() for d in devices} if at else {*switches}
    switches = [p for p in switches if p in named]
    if any(down[p] and not up[p] and level.get(p, -1) in tiers for p in switches):
        raise Unjudged("infinite")
    ratios = [Fraction(down[p], up[p]) for p in switches if up[p]]
    if not ratios:
        raise Unjudged("nothing above")
    return max(ratios)
