"""Verifies a certificate of ``tdsl check --certificates`` against the ``fabric.json`` of the same design.

    python checker.py CERTIFICATE fabric.json

Exit status 0: the certificate states a theorem about this fabric, and the theorem is proved. 1: rejected; what it states is
false, or is not shown, or takes more than ``MAX_STEPS`` steps of work. 2: a file is not readable: it is missing, larger than its
limit, not UTF-8, or not strict JSON. One line says which.

This file needs Python 3.11 and nothing else, and shares no code with the program that writes certificates. It reads the wiring
from fabric.json only, and takes nothing from a certificate that it can compute: endpoints, demands, failed elements with all they
contain, orbits and quotients are computed here. ``docs/certificates.md`` states the theorem and the schema of every kind.

Strict JSON: numbers are integers, or texts ``"p/q"``, of at most ``MAX_DIGITS`` digits; floats, NaN and Infinity, duplicate keys
and nesting deeper than ``MAX_DEPTH`` are refused.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from fractions import Fraction
from hashlib import sha256
from heapq import heappop, heappush
from itertools import combinations, pairwise
from math import comb, gcd, isqrt, lcm
from operator import add, mul
from typing import Any, NamedTuple

SCHEMA = 2
MAX_CERTIFICATE_BYTES = 1 << 28
MAX_FABRIC_BYTES = 1 << 30
MAX_DEPTH = 100
MAX_DIGITS = 60
MAX_STEPS = 5 * 10**8
MAX_BITS = 1 << 14
"""Bits of a number that is computed from a certificate's fractions."""

Arc = tuple[int, int]
Amounts = dict[int, int]
Demands = dict[tuple[str, str], int]


class Rejected(Exception):
    """The statement is false or not shown."""


class TooMuchWork(Rejected):
    """The check takes more work than its limit."""


class Unreadable(Exception):
    """A file is not strict JSON within the limits."""


def need(holds: bool, why: str) -> None:
    """Raise Rejected unless it holds."""
    if not holds:
        raise Rejected(why)


# ---------------------------------------------------------------- reading


class Work:
    """Steps of work that are left."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Raise Rejected when the limit is passed."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork("the check takes more steps than its limit")


def parse(text: str, name: str) -> Any:
    """The value of a strict JSON text. Raises Unreadable."""

    def integer(digits: str) -> int:
        if len(digits.lstrip("-")) > MAX_DIGITS:
            raise Unreadable(f"{name}: a number has more than {MAX_DIGITS} digits")
        return int(digits)

    def refuse(token: str) -> Any:
        raise Unreadable(f"{name}: {token[:20]} is not an integer")

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) < len(pairs):
            raise Unreadable(f"{name}: an object has a key twice")
        return out

    try:
        value = json.loads(text, parse_int=integer, parse_float=refuse, parse_constant=refuse, object_pairs_hook=members)
    except (RecursionError, MemoryError):
        raise Unreadable(f"{name}: too deep or too large") from None
    except ValueError as fault:
        raise Unreadable(f"{name}: not JSON: {fault}") from None
    level, depth = [value] * (type(value) in (dict, list)), 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise Unreadable(f"{name}: nested deeper than {MAX_DEPTH}")
        inner = (y for x in level for y in (x.values() if type(x) is dict else x))
        level = [y for y in inner if type(y) in (dict, list)]
    return value


NUMBER = re.compile(f"(-?[0-9]{{1,{MAX_DIGITS}}})(?:/([0-9]{{1,{MAX_DIGITS}}}))?")


def number(x: Any) -> Fraction:
    """An integer, or a text "p/q"."""
    found = NUMBER.fullmatch(x) if type(x) is str else None
    need(type(x) is int or (found is not None and (found[2] is None or int(found[2]) > 0)), "a number is not of the form p/q")
    return Fraction(x)


def whole(x: Any, least: int) -> int:
    """An integer of at least so much."""
    need(type(x) is int and x >= least, f"an integer of at least {least} is needed")
    return int(x)


def table(data: Any, name: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """These columns of a table of fabric.json, row by row."""
    heads, rows = data[name]["columns"], data[name]["rows"]
    need(len(set(heads)) == len(heads) and all(len(row) == len(heads) for row in rows), f"{name}: rows and columns differ")
    at = [heads.index(c) for c in columns]
    return [tuple(row[i] for i in at) for row in rows]


# ---------------------------------------------------------------- the fabric


class Device(NamedTuple):
    """A row of the devices; ``family`` is its path without indices, ``inside`` the device that contains it."""

    path: str
    kind: str
    role: str
    model: str
    inside: str | None
    family: str


class Link(NamedTuple):
    """A row of the links; ``rail`` is -1 where there is none, ``via`` the panel or optical switch that it crosses; ``ports`` and
    ``cages`` at both devices, and the cables that it runs through."""

    a: str
    b: str
    rate: int
    rail: int
    via: str | None
    ports: tuple[str, str] = ("", "")
    cages: tuple[str | None, str | None] = (None, None)
    cables: tuple[str, ...] = ()


Element = tuple[frozenset[str], frozenset[int]]
"""The devices and the rows of the links that fail with an element."""


def family(path: str) -> str:
    """A path without indices."""
    return re.sub(r"\[[^\]]*\]", "", path)


def elements_of(path: str) -> list[str]:
    """The paths of a device and of the groups and devices around it, outermost first."""
    return [path[: x.start()] for x in re.finditer(r"\.(?![^\[]*\])", path)] + [path]


class Fabric:
    """The devices and links of a fabric.json."""

    def __init__(self, data: Any, work: Work) -> None:
        self.name, self.work = data["fabric"], work
        rows = table(data, "devices", ("name", "path", "kind", "role", "model", "inside"))
        work.spend(len(rows))
        for row in rows:
            texts = (*row[:3], row[4], *(x for x in (row[3], row[5]) if x is not None))
            need(all(type(x) is str for x in texts), "a device is not described by texts")
            need(row[2] in ("host", "chip", "switch", "ocs", "panel"), "a device is of no known kind")
        self.devices = {r[0]: Device(r[1], r[2], r[3] or "", r[4], r[5], family(r[1])) for r in rows}
        need(len(self.devices) == len({r[1] for r in rows}) == len(rows), "two devices have one name or one path")
        self.tier = {d: -1 if t is None else whole(t, 0) for d, t in table(data, "devices", ("name", "tier"))}
        self.planned = table(data, "planned_links", ("device", "tier", "rate_bps", "links"))
        self.contents: dict[str, list[str]] = defaultdict(list)
        for name, device in self.devices.items():
            if device.inside is not None:
                need(device.inside in self.devices, f"{name} is inside an unknown device")
                self.contents[device.inside].append(name)
        outer = {d for d, f in self.devices.items() if f.inside is None}
        need(len(self.closure(outer)) == len(rows), "devices contain each other")
        columns = ("a_device", "b_device", "rate_bps", "rail", "via", "a_port", "b_port", "a_cage", "b_cage")
        links = table(data, "links", (*columns, "cable_id", "far_cable_id"))
        work.spend(len(links))
        need(all(x[0] != x[1] for x in links), "a link joins a device to itself")
        need(len({(x[i], x[i + 5]) for x in links for i in (0, 1)}) == 2 * len(links), "two links are on one port")
        self.links = [
            Link(
                a,
                b,
                whole(rate, 1),
                -1 if rail is None else whole(rail, 0),
                via,
                (p, q),
                (more[0], more[1]),
                (*filter(None, more[2:]),),
            )
            for a, b, rate, rail, via, p, q, *more in links
        ]
        ends = {d for x in self.links for d in (x.a, x.b, *((x.via,) if x.via is not None else ()))}
        need(ends <= self.devices.keys(), "a link ends at an unknown device")

    def closure(self, failed: Iterable[str]) -> frozenset[str]:
        """What fails with these devices: all that they contain."""
        out = dict.fromkeys(failed)
        front = [*out]
        for d in front:
            new = [x for x in self.contents.get(d, ()) if x not in out]
            out |= dict.fromkeys(new)
            front += new
        return frozenset(out)

    def named(self, of: Any) -> dict[str, frozenset[str]]:
        """The devices of every element with all that they contain, by its path. A selector is the path of one device or group, or
        such a path without indices, which names all of that path."""
        wanted, families = set(of), {family(p) for p in of}
        need(len(wanted) == len(of) > 0 and all(type(p) is str for p in of), "no elements, or one twice")
        found: dict[str, list[str]] = defaultdict(list)
        used = set()
        for name, device in self.devices.items():
            for path in elements_of(device.path) if families & {family(p) for p in elements_of(device.path)} else ():
                if chosen := wanted & {path, family(path)}:
                    found[path].append(name)
                    used |= chosen
        need(used == wanted, "an element is not in the fabric")
        return {path: self.closure(names) for path, names in found.items()}

    def elements(self, stated: Any) -> dict[str, Element]:
        """What fails with every element, by its name: devices and groups, or ``what`` of theirs: links, ports, cables or cages,
        which fail with all links that run there; with ``to`` those of links that join the two."""
        what = stated.get("what")
        if what is None:
            return {path: (devices, frozenset()) for path, devices in self.named(stated["of"]).items()}
        need(what in ("links", "ports", "cables", "cages"), "there is no such element")
        self.work.spend(4 * len(self.links))
        here, there = self.ports(stated["of"]), self.ports(stated["to"]) if stated["to"] is not None else None
        held: dict[str, set[int]] = defaultdict(set)
        chosen = set()
        for i, x in enumerate(self.links):
            a, b = ((d, p) for d, p in zip((x.a, x.b), x.ports, strict=True))
            mine = [p in here and (there is None or q in there) for p, q in ((a, b), (b, a))]
            paths = [f"{self.devices[d].path}.{p}" for d, p in (a, b)]
            if what in ("links", "cables"):
                names = [" - ".join(paths)] if what == "links" else [f"cable {c}" for c in x.cables]
                chosen |= {*names} if any(mine) else set()
            else:
                both = zip((x.a, x.b), x.cages, paths, strict=True)
                names = [f"{self.devices[d].path} cage {cage}" if cage and what == "cages" else path for d, cage, path in both]
                chosen |= {n for n, p in zip(names, (a, b), strict=True) if any(mine) and p in here}
            for n in names:
                held[n].add(i)
        return {n: (frozenset(), frozenset(held[n])) for n in held if n in chosen}

    def ports(self, of: Any) -> set[tuple[str, str]]:
        """The linked ports, by device and name, of devices and groups with all that they contain, or named by their own path."""
        every = {f"{self.devices[d].path}.{p}": (d, p) for x in self.links for d, p in zip((x.a, x.b), x.ports, strict=True)}
        groups = [path for path in of if path not in every]
        whole_ones: frozenset[str] = frozenset().union(*self.named(groups).values()) if groups or not of else frozenset()
        return {every[path] for path in of if path in every} | {(d, p) for d, p in every.values() if d in whole_ones}


class Net:
    """What is left of a fabric after failures: units, what forwards, and capacities each way in whole multiples of ``grain``.

    Units are the endpoints that are judged: hosts and chips, those with the role of accelerators if there are any, else those
    without a role; chips inside of hosts, where their kind has links, in the place of the hosts; the switches, if there is no
    endpoint. After failures an endpoint without links is none. Switches forward, and chips if chips are linked to chips before.
    """

    def __init__(self, fabric: Fabric, failed: frozenset[str] = frozenset(), cut: frozenset[int] = frozenset()) -> None:
        self.fabric, self.work, devices = fabric, fabric.work, fabric.devices
        self.work.spend(len(devices) + len(fabric.links))
        left = [x for i, x in enumerate(fabric.links) if i not in cut and failed.isdisjoint((x.a, x.b, x.via))]
        intact = not failed and not cut
        linked = {d for x in left for d in (x.a, x.b)}
        up = {d: f for d, f in devices.items() if d not in failed and (f.kind == "switch" or d in linked or intact)}
        self.order = [*devices]
        self.units = dict.fromkeys(d for d in self.endpoints(linked) if d in up and (d in linked or intact)).keys()
        direct = any(devices[x.a].kind == devices[x.b].kind == "chip" for x in fabric.links)
        self.forward = dict.fromkeys(d for d, f in up.items() if f.kind == "switch" or (direct and f.kind == "chip")).keys()
        self.others = {d for d in linked if devices[d].kind in ("host", "chip")} - self.units
        self.every = [x for x in left if x.a != x.b]
        counted = self.units | self.forward
        self.links = [x for x in self.every if x.a in counted and x.b in counted]
        self.grain = gcd(*(x.rate for x in self.links)) or 1
        self.cap: dict[str, dict[str, int]] = defaultdict(dict)
        self.add((x.a, x.b, x.rate) for x in self.links)
        self.half = len(self.units) // 2
        self.full_of = {u: sum(self.near(u).values()) for u in self.units}
        self.full = sum(sorted(self.full_of.values())[: self.half])

    def endpoints(self, linked: set[str]) -> list[str]:
        """The devices that would be units if they were all there."""
        devices = self.fabric.devices
        ends = {d: f for d, f in devices.items() if f.kind in ("host", "chip")}
        wired = {devices[d].family for d in linked}
        opened = {devices[f.inside].family for f in ends.values() if f.inside and f.kind == "chip" and f.family in wired}
        counted = [d for d, f in ends.items() if f.family not in opened and (f.inside is None or f.family in wired)]
        main = next((r for r in ("accelerator", "") if any(f.role == r for f in ends.values())), "")
        return [d for d in counted if ends[d].role == main] or counted or [d for d, f in devices.items() if f.kind == "switch"]

    def near(self, v: str) -> dict[str, int]:
        """Neighbours of a device and the capacity to each."""
        return self.cap.get(v, {})

    def crossing(self, side: set[str]) -> int:
        """Capacity out of a side."""
        return sum(c for a in side for b, c in self.near(a).items() if b not in side)

    def add(self, links: Iterable[tuple[str, str, int]]) -> int:
        """Add the capacities of links; all of them together."""
        total = 0
        for a, b, rate in links:
            self.cap[a][b] = self.cap[a].get(b, 0) + rate // self.grain
            self.cap[b][a] = self.cap[b].get(a, 0) + rate // self.grain
            total += rate // self.grain
        return total

    def hops(self, start: str) -> dict[str, int]:
        """Links from one forwarding device to all that it reaches."""
        out, front = {start: 0}, [start]
        for v in front:
            new = [w for w in self.near(v) if w in self.forward and w not in out]
            out |= dict.fromkeys(new, out[v] + 1)
            front += new
        self.work.spend(sum(len(self.near(v)) for v in out))
        return out

    def meetings(self) -> list[tuple[str, tuple[str, ...]]]:
        """Every port of a unit or another linked endpoint with where it enters the network: a component of forwarding devices, by
        its first device, or a link of two endpoints that forward nothing, by both. A forwarding endpoint is one port."""
        label: dict[str, str] = {}
        for start in self.forward:
            label |= dict.fromkeys(self.hops(start), start) if start not in label else {}
        ends = {*self.units, *self.others}
        out: list[tuple[str, tuple[str, ...]]] = [(d, (label[d],)) for d in ends if d in label]
        for x in self.every:
            for d, other in ((x.a, x.b), (x.b, x.a)):
                if d in ends and d not in label and (other in label or other in ends):
                    out.append((d, (label[other],) if other in label else (min(x.a, x.b), max(x.a, x.b))))
        return out

    def hubs(self) -> dict[str, set[tuple[str, ...]]]:
        """For every unit and every other linked endpoint where it enters the network."""
        out: dict[str, set[tuple[str, ...]]] = {d: set() for d in (*self.units, *self.others)}
        for d, hub in self.meetings():
            out[d].add(hub)
        return out


# ---------------------------------------------------------------- bisection: lower bounds


def splits(net: Net, order: Any, least: int) -> int:
    """The least that every balanced split cuts of the links among these devices, which are then used up.

    Devices take sides in this order, switches with the same links as one. The capacity that crosses by then is kept for every
    number of units on one side and the sides of the open devices, those linked to one without a side (Bertelè and Brioschi,
    "Nonserial dynamic programming", 1972).
    """
    names = {d for same in order for d in same}
    need(len(names) == sum(map(len, order)), "an order names a device twice")
    need(net.units <= names <= net.units | net.forward, "an order misses units, or names what does not count")
    near_of = {d: {w: c for w, c in net.near(d).items() if c} for d in names}
    need(all(len(x) == 1 or (d not in net.units and near_of[d] == near_of[x[0]]) for x in order for d in x), "devices differ")
    size, most = {x[0]: len(x) for x in order}, len(net.units) - net.half
    near = {v: {w: c * n * size[w] for w, c in near_of[v].items() if w in size} for v, n in size.items()}
    rows: dict[frozenset[str], list[int]] = {frozenset(): [0]}
    done: set[str] = set()
    for v in size:
        done.add(v)
        closed = {w for w in (v, *near[v]) if near[w].keys() <= done}
        after: dict[frozenset[str], list[int]] = {}
        net.work.spend(2 * len(rows) * (most + 1 + len(near[v])))
        for ours, row in rows.items():
            for side in ((), (v,)) if len(done) > 1 else ((),):  # sides may be exchanged
                more = sum(c for w, c in near[v].items() if w in done and (w in ours) != bool(side))
                new, none = [x + more for x in row], [least] * (v in net.units)
                new = [*none, *new][: most + 1] if side else [*new, *none][: most + 1]
                if min(new) < least:
                    key = ours.union(side) - closed
                    after[key] = list(map(min, after[key], new)) if key in after else new
        rows = after
    need(all(min(row[net.half :]) >= least for row in rows.values()), "a split cuts less")
    for v in names:
        net.cap[v] = {w: c for w, c in net.near(v).items() if w not in names}
    return least


def flows(net: Net, least: int) -> int:
    """The least flow between the halves of every split, of a thousand splits at most (Edmonds and Karp 1972)."""
    first, *rest = sorted(net.units)
    even = len(net.units) % 2 == 0  # sides may be exchanged
    every = combinations(rest if even else [first, *rest], net.half - even)
    need(len(net.units) <= 1000 and comb(len(net.units), net.half) <= 1000, "too many splits")
    for ours in every:
        side = {first, *ours} if even else {*ours}
        room: dict[Any, dict[Any, int]] = {v: dict(to) for v, to in net.cap.items()}
        need(flow(room, side, net.units - side, least, net.work) == least, "a split cuts less")
    return least


def flow(room: dict[Any, dict[Any, int]], sources: Iterable[Any], targets: set[Any], most: int, work: Work) -> int:
    """The flow from sources to targets, ``most`` at most, by shortest augmenting paths (Edmonds and Karp 1972)."""
    left = most
    while left > 0:
        by, front, end = dict.fromkeys(sources), [*sources], None
        for v in front:
            work.spend(1 + len(room.get(v, {})))
            new = [w for w, c in room.get(v, {}).items() if c and w not in by]
            by |= dict.fromkeys(new, v)
            end = next((w for w in new if w in targets), None)
            if end is not None:
                break
            front += new
        if end is None:
            break
        way = [end]
        while by[way[-1]] is not None:
            way.append(by[way[-1]])
        arcs = [(v, w) for w, v in pairwise(way)]
        step = min(left, *(room[v][w] for v, w in arcs))
        for v, w in arcs:
            room[v][w] -= step
            back = room.setdefault(w, {})
            back[v] = back.get(v, 0) + step
        left -= step
    return most - left


def spectrum(net: Net, mu: Fraction) -> int:
    """The least that crosses by the second eigenvalue (Fiedler 1973; Donath and Hoffman 1973).

    With z = ±1 for the side of every switch (or chip), w the units at each, W all of them and K those that are not on the side
    of theirs, |wᵀz| <= 2K + odd. If L + 2μ wwᵀ/W - μ diag(w) has no negative eigenvalue, trunks with zᵀLz/4 >= μ/4 (W -
    2(wᵀz)²/W) cross, and K links of units; as a function of K that is concave, so least at an end.
    """
    count, direct, p, q = len(net.units), net.forward <= net.units, mu.numerator, mu.denominator
    inner = net.forward - net.units
    need(direct or all(len(net.near(u)) == 1 and net.near(u).keys() <= inner for u in net.units), "a unit has several neighbours")
    weight = Counter(u if direct else min(net.near(u)) for u in net.units)
    nodes = sorted(net.forward | net.units if direct else inner)
    net.work.spend(len(nodes) ** 3)
    matrix = [[2 * p * weight[v] * weight[w] - count * q * net.near(v).get(w, 0) for w in nodes] for v in nodes]
    for i, v in enumerate(nodes):
        matrix[i][i] += count * (q * sum(net.near(v).get(w, 0) for w in nodes) - p * weight[v])
    need(mu > 0 and definite(matrix), "the eigenvalue is less")
    way, most = min(net.full_of.values()), (count + 1) // 2
    ends = [mu / 4 * (count - Fraction(2 * (2 * k + count % 2) ** 2, count)) + k * way for k in (0, most)]
    least = ends[0] if direct else min(*ends, Fraction(most * way))
    return max(-int(-least // 1), 0)


def definite(matrix: list[list[int]]) -> bool:
    """Whether no eigenvalue is negative, shown in integers: a multiple of the matrix is RRᵀ and remainders, whose sum in a row
    is less than what the diagonal was lessened by (Cholesky; Gershgorin)."""
    less = len(matrix) * (isqrt(max(map(max, matrix)) << 40) + 1)
    done: list[list[int]] = []
    for row in matrix:
        new: list[int] = []
        for x, other in zip(row, done, strict=False):
            new.append(((x << 40) - sum(map(mul, new, other))) // other[-1])
        rest = (row[len(done)] << 40) - less - sum(map(mul, new, new))
        if rest <= 0:
            return False
        done.append([*new, isqrt(rest)])
    return True


Profile = tuple[frozenset[str], list[Fraction]]


def disjoint(parts: list[Profile], most: int, work: Work) -> Profile:
    """Least sums over choices of x units from equal or disjoint sets; where sets overlap otherwise, each unit's least share."""
    same: dict[frozenset[str], list[Fraction]] = {}
    for members, profile in parts:
        same[members] = [x + y for x, y in zip(same[members], profile, strict=True)] if members in same else profile
    everyone: frozenset[str] = frozenset().union(*same)
    if len(everyone) < sum(map(len, same)):
        share: dict[str, Fraction] = defaultdict(Fraction)
        for members, profile in same.items():
            slope = min(p / x for x, p in enumerate(profile) if x)
            for u in members:
                share[u] += slope
        values = sorted(share.values())
        return everyone, [sum(values[:x], Fraction(0)) for x in range(min(len(values), most) + 1)]
    common = lcm(*(x.denominator for profile in same.values() for x in profile))
    need(common.bit_length() <= MAX_BITS, "a share is too long a number")
    out = [0]
    for profile in same.values():
        row, size = [int(x * common) for x in reversed(profile)], len(profile)
        work.spend(min(len(out), most + 1) * size)
        lows = ((n, max(n - size + 1, 0)) for n in range(min(len(out) + size - 1, most + 1)))
        out = [min(map(add, out[low : n + 1], row[size - 1 - n + low :])) for n, low in lows]
    return everyone, [Fraction(x, common) for x in out]


class Part:
    """Flows upward in shares to some hubs, under the limits of nested blocks; the load of every arc is added up again."""

    def __init__(self, net: Net, stated: Any) -> None:
        self.net, self.hubs = net, frozenset(stated["hubs"])
        self.shares = {v: {w: number(x) for w, x in to.items()} for v, to in stated["shares"].items()}
        self.nodes = self.hubs | set(self.shares)
        need(self.nodes <= net.forward - net.units, "a node does not forward")
        need(not self.hubs & set(self.shares), "a hub has shares")
        self.above: dict[str, dict[str, Fraction]] = {h: {} for h in self.hubs}
        for v in self.shares:
            self.reach(v, ())
        self.limit: dict[str, Fraction] = {}
        self.feeds: dict[str, set[str]] = {}
        self.leaves = [self.block(b) for b in stated["blocks"]]
        self.outer = stated["blocks"]

    def reach(self, v: str, way: tuple[str, ...]) -> dict[str, Fraction]:
        """The load that a unit of flow from a node puts on every node above it."""
        need(v not in way and v in self.nodes and len(way) < MAX_DEPTH, "shares form a circle, or leave the nodes")
        if v not in self.above:
            out: dict[str, Fraction] = defaultdict(Fraction)
            need(not self.shares[v] or sum(self.shares[v].values()) == 1, f"the shares of {v} do not add up to one")
            for w, share in self.shares[v].items():
                need(share >= 0, "a share is negative")
                out[w] += share
                for x, more in self.reach(w, (*way, v)).items():
                    out[x] += share * more
            self.net.work.spend(sum(map(len, map(self.above.__getitem__, self.shares[v]))))
            need(all(x.denominator.bit_length() <= MAX_BITS for x in out.values()), "a share is too long a number")
            self.above[v] = out
        return self.above[v]

    def fits(self, v: str, most: Fraction) -> None:
        """Reject unless a node can pass that much on."""
        for w, share in self.shares[v].items():
            need(most * share <= self.net.near(v).get(w, 0), f"{v} to {w} is overloaded")
        need(bool(self.shares[v]) or not most, f"{v} passes nothing on")

    def block(self, b: Any) -> set[str]:
        """Check a block's limits; its leaves."""
        most = number(b["limit"])
        need(most >= 0, "a limit is negative")
        if not b["inside"]:
            need(len(b["nodes"]) == 1 and b["nodes"][0] not in self.limit, "a leaf is named twice")
            self.limit[b["nodes"][0]], self.feeds[b["nodes"][0]] = most, set()
            self.fits(b["nodes"][0], most)
            return {b["nodes"][0]}
        leaves: set[str] = set()
        for inner in b["inside"]:
            leaves |= self.block(inner)
        self.net.work.spend(len(b["nodes"]) * len(leaves))
        for v in b["nodes"]:
            if v not in self.feeds:
                self.fits(v, self.arriving(self.mixture(leaves, v)[::-1], most))  # greatest parts first are the most
                self.feeds[v] = leaves
        return leaves

    def mixture(self, leaves: set[str], v: str) -> list[tuple[Fraction, Fraction]]:
        """The part of each leaf's flow that comes to a node, the smallest first, with the leaf's limit."""
        return sorted((self.above[x].get(v, Fraction(0)), self.limit[x]) for x in leaves)

    def profile(self, b: Any) -> Profile:
        """The least that x of a block's units send out of it."""
        inside = [self.profile(x) for x in b["inside"]]
        members, sums = disjoint(inside, self.net.half, self.net.work) if inside else self.leaf(b["nodes"][0])
        self.net.work.spend(sum(len(p) for _, p in inside) * len(sums) + len(members))
        return members, [min(x, number(b["limit"])) for x in sums]

    def leaf(self, v: str) -> Profile:
        """Units at a node, and what x of them send there at least."""
        rates = {u: c for u, c in self.net.near(v).items() if u in self.net.units}
        order = sorted(rates.values())
        return frozenset(rates), [Fraction(sum(order[:x])) for x in range(min(len(order), self.net.half) + 1)]

    def value(self) -> int:
        """The capacity that crosses any balanced split through these hubs, rounded up: a cut is a whole number of grains."""
        self.net.work.spend(sum(len(self.above[x]) for x in self.limit) + len(self.hubs) * len(self.limit))
        for x in self.limit:  # what passes a node was counted with all that feeds it
            for v, part in self.above[x].items():
                need(not part or v in self.hubs or x in self.feeds.get(v, ()), f"{x} feeds {v} without a limit")
        if not self.outer:
            return sum(-int(-self.least([self.leaf(h)]) // 1) for h in self.hubs)
        profiles = [self.profile(b) for b in self.outer]
        kinds = Counter(tuple(tuple(self.mixture(b, h)) for b in self.leaves) for h in self.hubs)
        total = Fraction(0)
        for kind, times in kinds.items():
            mixed = [(mix, m, p) for mix, (m, p) in zip(kind, profiles, strict=True) if any(part for part, _ in mix)]
            sent = [(m, [self.arriving(mix, y) for y in p]) for mix, m, p in mixed]
            self.net.work.spend(sum(len(p) * (len(mix) + len(p)) for mix, _, p in mixed))
            total += times * self.least(sent)
        return -int(-total // 1)

    @staticmethod
    def arriving(mix: Iterable[tuple[Fraction, Fraction]], sent: Fraction) -> Fraction:
        """The part of a block's flow that comes to a node, if leaves send all they can one after the other."""
        out = Fraction(0)
        for part, most in mix:
            out += part * min(most, sent)
            sent -= min(most, sent)
        return out

    def least(self, parts: list[Profile]) -> Fraction:
        """The least of half of all units; those that are linked to none of these send nothing."""
        members, profile = disjoint(parts, self.net.half, self.net.work)
        return profile[max(self.net.half - (len(self.net.units) - len(members)), 0)]


def lower_bound(net: Net, stated: Any) -> int:
    """The lower bound of the bisection that a certificate's proof shows, in grains."""
    by = stated["by"]
    if by == "splits":
        return sum(splits(net, part["order"], whole(part["least"], 0)) for part in stated["parts"])
    if by == "flows":
        return flows(net, whole(stated["least"], 0))
    if by == "spectrum":
        return spectrum(net, number(stated["mu"]))
    if by == "routes":
        rate, apart = Symmetric(net, stated).rate(stated)
        return -int(-rate * apart // 1)
    need(by in ("shares", "none"), "there is no such proof")
    more, inner = stated.get("restored", []), net.forward - net.units
    need(all({a, b} <= inner and a != b and whole(rate, 1) % net.grain == 0 for a, b, rate in more), "no link to restore")
    restored = net.add(more)  # no cut is less than one with them by more than all their capacity
    parts = [Part(net, p) for p in stated.get("parts", [])]
    need(sum(len(p.nodes) for p in parts) == len(set().union(*(p.nodes for p in parts))), "two parts share a node")
    return sum(p.value() for p in parts) - restored


# ---------------------------------------------------------------- routing


class Graph:
    """Nodes by number, the capacity of the arcs between them, and which nodes forward."""

    def __init__(self, capacity: dict[Arc, int], forwards: list[bool], work: Work) -> None:
        self.capacity, self.forwards, self.work = capacity, forwards, work
        self.near: list[list[int]] = [[] for _ in forwards]
        self.before: list[list[int]] = [[] for _ in forwards]
        for v, w in sorted(capacity):
            self.near[v].append(w)
            self.before[w].append(v)

    def distances(self, source: int, length: dict[Arc, int]) -> dict[int, int]:
        """The length of a shortest path to every node that is reached, nearest first (Dijkstra 1959)."""
        far, known, queue = {}, {source: 0}, [(0, source)]
        self.work.spend(len(self.forwards) + len(self.capacity))
        while queue:
            at, v = heappop(queue)
            if v in far:
                continue
            far[v] = at
            for w in self.near[v] if self.forwards[v] or v == source else ():
                then = at + length[v, w]
                if then < known.get(w, then + 1):
                    known[w] = then
                    heappush(queue, (then, w))
        return far

    def route(self, source: int, wanted: Amounts, length: dict[Arc, int], load: dict[Arc, int], times: int = 1) -> int:
        """Add to the load of arcs, so many times, what a source sends along shortest paths of positive lengths; the sum of what
        is wanted by the nodes that are reached. Every node divides what comes by the capacity of the last arcs, rounded down;
        the first takes the rest."""
        far = self.distances(source, length)
        amount = defaultdict(int, {t: x for t, x in wanted.items() if t in far})
        sent = sum(amount.values())
        for v in reversed(far):
            x = amount[v]
            if not x or v == source:
                continue
            ways = [
                u for u in self.before[v] if u in far and far[u] + length[u, v] == far[v] and (self.forwards[u] or u == source)
            ]
            total = sum(self.capacity[u, v] for u in ways)
            parts = [x * self.capacity[u, v] // total for u in ways]
            parts[0] += x - sum(parts)
            for u, part in zip(ways, parts, strict=True):
                load[u, v] += part * times
                amount[u] += part
        return sent

    def spent(self, source: int, wanted: Amounts, length: dict[Arc, int]) -> int:
        """The sum of amounts times distances. Rejects if a target is not reached."""
        far = self.distances(source, length)
        need(wanted.keys() <= far.keys(), "a target is not reached")
        return sum(x * far[t] for t, x in wanted.items())


class Network:
    """Nodes by name, what they demand of each other, and the proofs of how much of that can flow at once."""

    def __init__(
        self, work: Work, arcs: list[tuple[str, str, int]], forward: Iterable[str], demands: Demands, ends: Iterable[str]
    ):
        self.work = work
        own: dict[str, int] = defaultdict(int)
        near: dict[str, set[str]] = defaultdict(set)
        for a, b, rate in [*arcs, *((b, a, rate) for a, b, rate in arcs)]:
            own[a] += rate
            near[a].add(b)
        sent: dict[str, int] = defaultdict(int)
        got: dict[str, int] = defaultdict(int)
        for (s, t), amount in demands.items():
            need(whole(amount, 1) > 0 and s != t, "a demand is not between two")
            sent[s] += amount
            got[t] += amount
        need(len(demands) > 0, "nothing is demanded")
        self.total = sum(demands.values())
        self.top = min(Fraction(own[v], max(sent[v], got[v])) for v in {**sent, **got})
        known: dict[str, str] = {}  # ends linked to one forwarding node only are one: what they exchange stays below it
        place: dict[str, str] = {}
        forwards = dict.fromkeys(forward)
        for v in ends:
            if len(near[v]) == 1 and v not in forwards and (v in sent or v in got) and near[v] <= forwards.keys():
                place[v] = known.setdefault(min(near[v]), v)
        names = [v for v in ends if v not in forwards and place.get(v, v) == v] + [*forwards]
        self.name([*names, *sorted({d for a, b, _ in arcs for d in (a, b)} - {*names, *place})])
        capacity: dict[Arc, int] = defaultdict(int)
        at = {d: self.at[place.get(d, d)] for d in (*self.at, *place)}
        for a, b, rate in arcs:
            capacity[at[a], at[b]] += rate
            capacity[at[b], at[a]] += rate
        self.graph = Graph(dict(capacity), [d in forwards for d in self.at], work)
        self.demand((at[s], at[t], amount) for (s, t), amount in demands.items() if at[s] != at[t])

    def name(self, names: Iterable[str]) -> None:
        """Number the nodes."""
        self.at = {v: i for i, v in enumerate(names)}

    def demand(self, demands: Iterable[tuple[int, int, int]]) -> None:
        """Add up what nodes demand of each other."""
        self.asked: dict[int, Amounts] = defaultdict(lambda: defaultdict(int))
        self.out: Amounts = defaultdict(int)
        self.into: Amounts = defaultdict(int)
        for v, w, amount in demands:
            self.asked[v][w] += amount
            self.out[v] += amount
            self.into[w] += amount

    def wanted(self, source: int) -> Amounts:
        """What a node demands of all others."""
        return self.asked[source]

    def quotient(self) -> Network:
        """The network in which nodes with the same neighbours at the same capacities are one, ends that send apart from those
        that receive; together are those that send as much to, or receive as much from, the same of these. Exchanging such nodes
        changes nothing: what flows here, divided evenly, flows there. A forwarding node with demands of its own is left alone."""
        capacity, forwards, count = self.graph.capacity, self.graph.forwards, len(self.graph.forwards)
        alone = {v for v in range(count) if forwards[v] and (v in self.out or v in self.into)}
        alone |= {v for v, w in capacity if not forwards[v] and not forwards[w]}
        self.work.spend(len(capacity) + sum(map(len, self.asked.values())))
        same = first(v if v in alone else (forwards[v], *((w, capacity[v, w]) for w in self.graph.near[v])) for v in range(count))
        out = into = same
        turned: dict[int, Amounts] = defaultdict(dict)
        for v, to in self.asked.items():
            for w, amount in to.items():
                turned[w][v] = amount
        known = 0
        while (found := len({*out}) + len({*into})) > known:
            known = found
            self.work.spend(sum(map(len, self.asked.values())) + count)
            out, into = (
                first((same[v], *sorted(sums(by, mine.get(v, {})).items())) for v in range(count))
                for mine, by in ((self.asked, into), (turned, out))
            )
        leaves = [2 * out[v] if p or v in self.out else -1 for v, p in enumerate(forwards)]
        enters = [2 * out[v] if p else 2 * into[v] + 1 if v in self.into else -1 for v, p in enumerate(forwards)]
        small = copy(self)
        names = [[d, d] if p else [f"{d} sends", f"{d} receives"] for d, p in zip(self.at, forwards, strict=True)]
        at = small.merge(leaves, enters, [d for two in names for d in two])
        small.demand((at[leaves[v]], at[enters[w]], amount) for v, to in self.asked.items() for w, amount in to.items())
        return small

    def merge(self, leaves: list[int], enters: list[int], names: list[str]) -> dict[int, int]:
        """Put nodes together by numbers for the arcs that leave them and for those that enter, -1 where there are none; half of
        it, rounded down, is one of them. The new node of each number."""
        some = sorted({*leaves, *enters} - {-1})
        at = {i: place for place, i in enumerate(some)}
        capacity: dict[Arc, int] = defaultdict(int)
        for (v, w), c in self.graph.capacity.items():
            if leaves[v] >= 0 and enters[w] >= 0:
                capacity[at[leaves[v]], at[enters[w]]] += c
        self.name(names[i] for i in some)
        self.graph = Graph(dict(capacity), [self.graph.forwards[i // 2] for i in some], self.work)
        return at

    def constant(self, parts: int) -> dict[Arc, int]:
        """The load of arcs that every routing has."""
        return {}

    def arcs(self, stated: Any, least: int) -> dict[Arc, int]:
        """Lengths of arcs; those not named have the least."""
        out = dict.fromkeys(self.graph.capacity, least)
        for a, b, x in stated:
            arc = self.at[a], self.at[b]
            need(arc in out, f"{a} and {b} are not linked")
            out[arc] = whole(x, least)
        return out

    def lower(self, stated: Any) -> Fraction:
        """The factor of the demands that flows or routes show."""
        if stated.get("twins"):
            return self.quotient().lower({**stated, "twins": False})
        need(stated["by"] in ("flows", "routes"), "there is no such proof")
        if stated["by"] == "flows":
            load, parts = self.flows(stated), whole(stated["parts"], 1)
        else:
            load, parts = self.routes(stated["routes"])
        return min([self.top, *(Fraction(self.graph.capacity[arc] * parts, x) for arc, x in load.items() if x)])

    def flows(self, stated: Any) -> dict[Arc, int]:
        """The load of flows: those of every source are conserved and bring every target its demand."""
        load: dict[Arc, int] = defaultdict(int)
        sources = [self.at[s] for s in stated["flows"]]
        need(len(sources) == len(self.asked) and {*sources} == {*self.asked}, "other sources send")
        for name, flow in stated["flows"].items():
            over: dict[int, int] = defaultdict(int)
            source = self.at[name]
            self.work.spend(len(flow))
            for a, b, amount in flow:
                v, w = self.at[a], self.at[b]
                need((v, w) in self.graph.capacity, f"{a} and {b} are not linked")
                need(v == source or self.graph.forwards[v], f"{a} does not forward")
                load[v, w] += whole(amount, 1)
                over[v] -= amount
                over[w] += amount
            wanted = {t: x * whole(stated["parts"], 1) for t, x in self.asked[source].items()}
            wanted[source] = -sum(wanted.values())
            need(all(over.get(v, 0) == wanted.get(v, 0) for v in {**over, **wanted}), f"the demand of {name} does not arrive")
        return load

    def routes(self, stated: Any) -> tuple[dict[Arc, int], int]:
        """The load of a convex combination of routings of everything, and in how many parts of a unit."""
        load: dict[Arc, int] = defaultdict(int)
        made = []
        need(len(stated) > 0, "there are no routes")
        for route in stated:
            way = self.over_hubs if "hubs" in route else self.along_trees if "trees" in route else self.shortest
            made.append((whole(route["share"], 1), *way(route, whole(route["parts"], 1))))
        common = lcm(*(parts for _, _, parts in made))
        need(common.bit_length() <= MAX_BITS, "parts are too long numbers")
        for share, one, parts in made:
            for arc, x in one.items():
                load[arc] += x * share * (common // parts)
        return load, common * sum(share for share, _, _ in made)

    def shortest(self, stated: Any, parts: int) -> tuple[dict[Arc, int], int]:
        """All demands along shortest paths under positive lengths."""
        length, load = self.arcs(stated["lengths"], 1), defaultdict(int, self.constant(parts))
        for s in self.out:
            wanted = {t: x * parts for t, x in self.wanted(s).items()}
            need(self.graph.route(s, wanted, length, load) == sum(wanted.values()), "a target is not reached")
        return load, parts

    def over_hubs(self, stated: Any, parts: int) -> tuple[dict[Arc, int], int]:
        """All demands from their sources to hubs in shares and from hubs to their targets; paths to hubs are those from them,
        reversed."""
        hubs = {self.at[h]: whole(share, 1) for h, share in stated["hubs"].items()}
        need(len(hubs) > 0 and all(self.graph.forwards[h] for h in hubs), "a hub does not forward")
        least = gcd(*self.out.values(), *self.into.values())
        load: dict[Arc, int] = defaultdict(int)
        for turned, ends in ((True, self.out), (False, self.into)):
            one: dict[Arc, int] = defaultdict(int)
            capacity = {(w, v) if turned else (v, w): c for (v, w), c in self.graph.capacity.items()}
            graph = Graph(capacity, self.graph.forwards, self.work)
            for h, share in hubs.items():
                wanted = {v: x // least * parts * share for v, x in ends.items()}
                need(graph.route(h, wanted, dict.fromkeys(capacity, 1), one) == sum(wanted.values()), "a hub is not reached")
            for (v, w), x in one.items():
                load[(w, v) if turned else (v, w)] += x * least
        return load, parts * sum(hubs.values())

    def along_trees(self, stated: Any, parts: int) -> tuple[dict[Arc, int], int]:
        """Every demand in equal parts along all trees that have both its ends; along a link of its own where there is none."""
        trees = [self.tree(t) for t in stated["trees"]]
        load: dict[Arc, int] = defaultdict(int)
        for s, to in self.asked.items():
            for t, amount in to.items():
                both = [tree for tree in trees if s in tree and t in tree]
                need(parts % max(len(both), 1) == 0, "the trees need other parts")
                each = amount * parts // max(len(both), 1)
                self.work.spend(len(trees))
                for arc in [arc for tree in both for arc in path(tree, s, t)] if both else [(s, t)]:
                    self.work.spend(1)
                    need(arc in self.graph.capacity, "a target is not reached")
                    load[arc] += each
        return load, parts

    def tree(self, stated: Any) -> dict[int, tuple[int, int]]:
        """For every node of a tree its depth and the node above it."""
        above = {self.at[d]: self.at[v] for v, below in stated.items() for d in below}
        need(len(above) == sum(map(len, stated.values())), "a node is below two in a tree")
        need(all((v, d) in self.graph.capacity and self.graph.forwards[v] for d, v in above.items()), "a tree follows no links")
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
            return self.quotient().upper({**stated, "twins": False})
        if stated["by"] == "ports":
            return self.top
        need(stated["by"] == "lengths", "there is no such proof")
        length = self.arcs(stated["lengths"], 0)
        spent = sum(self.graph.spent(s, self.wanted(s), length) for s in self.out)
        return min(self.top, Fraction(sum(self.graph.capacity[arc] * x for arc, x in length.items()), spent))


def path(tree: dict[int, tuple[int, int]], s: int, t: int) -> Iterator[Arc]:
    """The arcs from one node of a tree to another."""
    while s != t:
        if tree[s][0] >= tree[t][0]:
            yield s, tree[s][1]
            s = tree[s][1]
        else:
            yield tree[t][1], t
            t = tree[t][1]


def orbits(count: int, images: list[list[int]]) -> list[int]:
    """For everything the lowest of its orbit under these permutations."""
    lowest = list(range(count))

    def root(x: int) -> int:
        while lowest[x] != x:
            lowest[x] = x = lowest[lowest[x]]
        return x

    for image in images:
        for x, y in enumerate(image):
            a, b = root(x), root(y)
            lowest[max(a, b)] = min(a, b)
    return [root(x) for x in range(count)]


def first(kinds: Iterable[Any]) -> list[int]:
    """For everything the first of its kind."""
    known: dict[Any, int] = {}
    return [known.setdefault(kind, i) for i, kind in enumerate(kinds)]


def sums(by: list[int], amounts: Amounts) -> Amounts:
    """Amounts added up by the classes of their nodes."""
    out: Amounts = defaultdict(int)
    for v, amount in amounts.items():
        out[by[v]] += amount
    return out


# ---------------------------------------------------------------- all to all


class Uniform(Network):
    """Every unit demands as much of every other; units with the same neighbours are one node with a weight, and so may switches
    with the same neighbours be."""

    def __init__(self, net: Net, twins: bool = True) -> None:
        head: dict[str, str] = {}
        known: dict[Any, str] = {}
        for u in net.units:
            plain = u not in net.forward and net.near(u) and net.units.isdisjoint(net.near(u))
            head[u] = known.setdefault(tuple(sorted(net.near(u).items())), u) if plain else u
        self.work = net.work
        self.name([d for d in net.order if head.get(d, d) == d and (d in head or d in net.forward)])
        self.units, place = len(net.units), {d: self.at[head.get(d, d)] for d in (*net.forward, *net.units)}
        capacity: dict[Arc, int] = defaultdict(int)
        for a, b, c in [(place[a], place[b], c) for a, to in net.cap.items() for b, c in to.items()]:
            capacity[a, b] += c
        self.graph = Graph(dict(capacity), [d in net.forward for d in self.at], net.work)
        count = Counter(place[u] for u in net.units)
        self.weight, self.place = [count[v] for v in self.at.values()], place
        if twins:
            capacity, forwards = self.graph.capacity, self.graph.forwards
            kinds = [tuple((w, capacity[v, w]) for w in self.graph.near[v]) for v in range(len(forwards))]
            same = [2 * i for i in first(kinds[v] if p and not self.weight[v] else v for v, p in enumerate(forwards))]
            self.weight = [self.weight[i // 2] for i in self.merge(same, same, [d for d in self.at for _ in "io"])]
        self.senders = {v: w for v, w in enumerate(self.weight) if w}
        self.out = self.into = {v: w * (self.units - 1) for v, w in self.senders.items()}
        self.top = Fraction(min(net.full_of.values()), self.units - 1)

    def wanted(self, source: int) -> Amounts:
        """What the units of a node demand of all others."""
        return {t: self.senders[source] * w for t, w in self.senders.items() if t != source}

    def constant(self, parts: int) -> dict[Arc, int]:
        """Units of one node divide what they send each other over all their links, rounded up."""
        out: dict[Arc, int] = {}
        for v, w in enumerate(self.weight):
            near = self.graph.near[v] if w > 1 and not self.graph.forwards[v] else []
            full = sum(self.graph.capacity[v, u] for u in near)
            for u in near:
                out[v, u] = out[u, v] = -(-w * (w - 1) * parts * self.graph.capacity[v, u] // full)
        return out

    def along_trees(self, stated: Any, parts: int) -> tuple[dict[Arc, int], int]:
        """As of other demands, but counted by the trees that nodes are in: what crosses an arc of a tree is demanded by all below
        it of all others."""
        trees = [self.tree(t) for t in stated["trees"]]
        kind = {v: frozenset(i for i, tree in enumerate(trees) if v in tree) for v in self.out}
        total: Counter[frozenset[int]] = Counter()
        for v, k in kind.items():
            total[k] += self.weight[v]
        self.work.spend(len(total) ** 2 + sum(map(len, trees)) * len(total) ** 2)
        need(all(a & b and parts % len(a & b) == 0 for a in total for b in total), "a target is not reached, or other parts")
        load: dict[Arc, int] = defaultdict(int, self.constant(parts))
        for i, tree in enumerate(trees):
            below: dict[int, Counter[frozenset[int]]] = {v: Counter({kind[v]: self.weight[v]} if v in kind else {}) for v in tree}
            for v in sorted(tree, key=lambda v: -tree[v][0])[:-1]:
                here, above = below[v], tree[v][1]
                pairs = ((len(a & b), n * (total[b] - here[b])) for a, n in here.items() for b in total if i in b)
                x = sum(n * parts // common for common, n in pairs)
                load[v, above] += x
                load[above, v] += x
                below[above].update(here)
        return load, parts


class Symmetric(Uniform):
    """The same under the symmetries that a certificate states: every unit of one source of each orbit sends along shortest paths
    under positive lengths; the average over all symmetries spreads its load on a link evenly over the link's orbit. Each symmetry
    is verified to keep weights, forwarding and capacities; orbits are computed here. Links are numbered by their nodes."""

    PARTS = 5040

    def __init__(self, net: Net, stated: Any) -> None:
        super().__init__(net, twins=False)
        capacity, forwards, nodes = self.graph.capacity, self.graph.forwards, len(self.at)
        self.links = [(a, b) for a, b in sorted(capacity) if a < b]
        index = {x: i for i, (a, b) in enumerate(self.links) for x in ((a, b), (b, a))}
        for image in stated["symmetries"]:
            self.work.spend(nodes + len(capacity))
            need(len(image) == nodes and {whole(v, 0) for v in image} == set(range(nodes)), "a symmetry is not a permutation")
            kept = ((self.weight[v], forwards[v]) == (self.weight[w], forwards[w]) for v, w in enumerate(image))
            need(all(kept), "a symmetry exchanges different nodes")
            need(all(capacity.get((image[a], image[b])) == c for (a, b), c in capacity.items()), "a symmetry changes the links")
        orbit = orbits(nodes, stated["symmetries"])
        self.orbit = orbits(len(self.links), [[index[x[a], x[b]] for a, b in self.links] for x in stated["symmetries"]])
        self.sources: Amounts = Counter(orbit[self.place[u]] for u in net.units)

    def numbered(self, length: Any, least: int) -> dict[Arc, int]:
        """Lengths of links both ways."""
        return {x: whole(n, least) for (a, b), n in zip(self.links, length, strict=True) for x in ((a, b), (b, a))}

    def rate(self, stated: Any) -> tuple[Fraction, int]:
        """The amount that fits if all send it at once, in grains for every pair, or hub and unit; and how many of those are on
        different sides of every balanced split: whatever side a hub is on, half of the units are on the other, less those not
        reached."""
        units, pairs, apart = self.units, stated["pairs"] is True, 0
        sources = self.sources if pairs else {v: whole(n, 1) for v, n in stated["hubs"]}
        need(len(sources) > 0 and all(pairs or self.weight[v] < 2 for v in sources) and len(stated["routes"]) > 0, "no source")
        need(pairs or len(sources) == len(stated["hubs"]), "a hub is named twice")
        wanted = {v: w * self.PARTS for v, w in self.senders.items()}
        loads, capacity, shares = [0] * len(self.links), [0] * len(self.links), 0
        for route in stated["routes"]:
            share, length = whole(route["share"], 1), self.numbered(route["lengths"], 1)
            load: dict[Arc, int] = defaultdict(int)
            got = {s: self.graph.route(s, wanted, length, load, n) for s, n in sources.items()}
            need(not pairs or set(got.values()) == {units * self.PARTS}, "a unit is not reached")
            for s, n in sources.items() if pairs else ():
                self.among(s, n, length, load)
            for i, (a, b) in enumerate(self.links):
                loads[self.orbit[i]] += share * (load.get((a, b), 0) + load.get((b, a), 0))
            apart = sum(n * max(got[v] // self.PARTS - (units + 1) // 2, 0) for v, n in sources.items())
            shares += share
        for i, arc in enumerate(self.links):
            capacity[self.orbit[i]] += (1 + pairs) * self.graph.capacity[arc]
        rate = min(Fraction(c, x) for c, x in zip(capacity, loads, strict=True) if x) * self.PARTS * shares
        return rate, units // 2 * ((units + 1) // 2) if pairs else apart

    def among(self, s: int, times: int, length: dict[Arc, int], load: dict[Arc, int]) -> None:
        """What a unit sends to the others of its node: up and down its shortest links."""
        amount = (self.weight[s] - 1) * self.PARTS
        ways = [v for v in self.graph.near[s] if length[s, v] == min(length[s, u] for u in self.graph.near[s])]
        total = sum(self.graph.capacity[s, v] for v in ways)
        parts = [amount * self.graph.capacity[s, v] // total for v in ways]
        parts[0] += amount - sum(parts)
        for v, x in zip(ways, parts, strict=True):
            load[s, v] += 2 * x * times

    def distances(self, stated: Any) -> Fraction:
        """Capacity times length over the distances of all pairs: no rate of all pairs is above it."""
        length = self.numbered(stated, 0)
        need(all(stated[i] == stated[o] for i, o in enumerate(self.orbit)), "lengths differ in an orbit")
        total = 0
        for s, times in self.sources.items():
            total += times * self.graph.spent(s, self.senders, length)
            total += times * 2 * min(length[s, v] for v in self.graph.near[s]) * (self.weight[s] - 1)
        return Fraction(sum(self.graph.capacity[arc] * x for arc, x in length.items()), total)


# ---------------------------------------------------------------- patterns


def pattern(net: Net, stated: Any) -> Network:
    """The network of a pattern among the units, in the order of fabric.json."""
    units, arcs = [*net.units], [(x.a, x.b, x.rate) for x in net.links]
    need(len(units) == stated["units"] > 1, "the number of units is another")
    found = re.fullmatch(r"(ring|rail_allreduce|file|shift ([0-9]{1,9}))( by rail| through scaleup|)", stated["pattern"])
    need(found is not None, "there is no such pattern")
    assert found is not None
    by = int(found[2] or 1)
    demands = {(u, units[(i + by) % len(units)]): 1 for i, u in enumerate(units)}
    if found[1] == "file":
        demands = {(s, t): amount for s, t, amount in stated["demands"]}
        need(0 < len(demands) == len(stated["demands"]), "a demand is stated twice, or none is")
        need({d for pair in demands for d in pair} <= net.units, "a demand is not between units")
    if found[3] == " by rail" or found[0] == "rail_allreduce":
        return rails(net, demands if found[1] not in ("ring", "rail_allreduce") else {})
    return Network(net.work, arcs, net.forward, demands, units)


def rails(net: Net, wanted: Demands) -> Network:
    """A unit sends from each of its rails to the same rail of the other, as far as both have it; without demands, a ring on every
    rail over the units that have it."""
    over, called = by_rail(net, every=not wanted)
    demands: Demands = {}
    every = sorted({rail for _, rail in called})
    for rail in every if not wanted else ():
        ring = [called[u, rail] for u in net.units if (u, rail) in called]
        demands |= dict.fromkeys(zip(ring, ring[1:] + ring[:1], strict=True), 1) if len(ring) > 1 else {}
    for (s, t), amount in wanted.items():
        both = [rail for rail in every if (s, rail) in called and (t, rail) in called]
        need(bool(both), f"{s} and {t} have no rail in common")
        demands |= {(called[s, rail], called[t, rail]): amount for rail in both}
    return Network(net.work, [(x.a, x.b, x.rate) for x in over.links], net.forward, demands, over.units)


def by_rail(net: Net, every: bool) -> tuple[Net, dict[tuple[str, int], str]]:
    """The net in which every rail of a unit is a unit, and its name; a unit without rails is one, of rail -1. With ``every``
    each unit must have a link."""
    some = {d for x in net.links if x.rail >= 0 for d in (x.a, x.b)} - net.forward
    links = [x for x in net.links if x.rail >= 0 or not {x.a, x.b} & some]
    there = {(d, x.rail) for x in links for d in (x.a, x.b) if d not in net.forward}
    rails, out = sorted({rail for _, rail in there}), copy(net)
    called = {(u, r): u if r < 0 else f"{u} rail {r}" for u in net.units for r in rails if (u, r) in there}
    need(not every or {u for u, _ in called} == net.units, "a unit has no link")
    out.units = dict.fromkeys(called.values()).keys()
    out.order = [d for d in net.order if d not in net.units] + [*out.units]
    out.links = [x._replace(a=called.get((x.a, x.rail), x.a), b=called.get((x.b, x.rail), x.b)) for x in links]
    out.cap = defaultdict(dict)
    out.add((x.a, x.b, x.rate) for x in out.links)
    out.full_of = {u: sum(out.near(u).values()) for u in out.units}
    return out, called


def between(net: Net, stated: Any) -> Network:
    """The network from one set of devices to another, each of them put together as one node."""
    here, there = set(stated["from"]), set(stated["to"])
    need(bool(here and there) and here | there <= {*net.order}, "a set is empty or unknown")
    need(not here & there, "both sets have a device")
    counted = net.forward | here | there
    named = dict.fromkeys(here, "all from") | dict.fromkeys(there, "all to")
    arcs = [(named.get(x.a, x.a), named.get(x.b, x.b), x.rate) for x in net.every if x.a in counted and x.b in counted]
    forward = [d for d in net.forward if d not in named]
    return Network(net.work, [x for x in arcs if x[0] != x[1]], forward, {("all from", "all to"): 1}, [])


def all_to_all(net: Net, stated: Any) -> tuple[Fraction, Fraction]:
    """Bounds on the rate of every ordered pair of units when all send to all at once."""
    net = by_rail(net, every=True)[0] if stated["pattern"] == "all_to_all by rail" else net
    need(len(net.units) == stated["units"] > 1, "the number of units is another")
    lower, upper = stated["lower"], stated["upper"]
    plain = not lower.get("twins") and not upper.get("twins") and lower.get("by") != "flows"
    need(plain, "there is no such proof of all to all")
    if "symmetries" in lower:
        need(lower["pairs"] is True, "that is no proof of all to all")
        low = Symmetric(net, lower).rate(lower)[0]
    else:
        low = Uniform(net).lower(lower)
    if "cut" in upper:
        side = set(upper["cut"])
        ours = len(side & net.units)
        need(side <= net.units | net.forward and 0 < ours < len(net.units), "the cut divides no units")
        high = Fraction(net.crossing(side), ours * (len(net.units) - ours))
    else:
        high = Symmetric(net, upper).distances(upper["lengths"]) if "symmetries" in upper else Uniform(net).upper(upper)
    return low * net.grain, high * net.grain


# ---------------------------------------------------------------- statements


def bisection(net: Net, stated: Any) -> int:
    """The lower bound in bit/s; rejects unless that and the upper one are shown exactly as stated."""
    need(len(net.units) == whole(stated["units"], 2), "the number of units is another")
    side = set(stated["cut"])
    need(side <= net.units | net.forward, "the cut names what does not count")
    need(abs(2 * len(side & net.units) - len(net.units)) <= 1, "the split is not balanced")
    need(net.crossing(side) * net.grain == whole(stated["upper_bps"], 0), "other links cross the cut")
    lower = lower_bound(net, stated["lower"]) * net.grain  # restores links, or uses them up: the net is not used again
    need(lower == whole(stated["lower_bps"], 0), f"the proof shows {lower} bit/s")
    need(lower <= stated["upper_bps"], "the lower bound is above the upper one")
    return lower


def reachability(net: Net, stated: Any) -> None:
    """All units reach each other, and other linked endpoints reach some unit; or two named units do not reach each other."""
    hubs = net.hubs()
    need(len(net.units) == whole(stated["units"], 1), "the number of units is another")
    if stated["holds"] is True:
        kinds = {frozenset(hubs[u]) for u in net.units}
        net.work.spend(len(kinds) ** 2)
        need({d for x in net.every for d in (x.a, x.b)} >= net.units, "a unit has no link")
        shared = frozenset.intersection(*kinds) or all(a & b for a, b in combinations(kinds, 2))
        need(bool(shared) and all(kinds), "some units do not reach each other")
        reached = frozenset().union(*kinds)
        need(all(hubs[d] & reached for d in net.others), "a manager or storage device reaches no unit")
    else:
        a, b = stated["apart"]
        need(stated["holds"] is False and a != b and {a, b} <= net.units, "these are not two units")
        need(not hubs[a] & hubs[b], f"{a} and {b} reach each other")


def diameter(net: Net, stated: Any) -> None:
    """Most links between forwarding devices on a shortest path between units that reach each other: steps until nothing new comes
    to any of them from those that units are linked to, one of all with the same neighbours. Sources are bits of an integer."""
    inner = {d: net.near(d).keys() & net.forward for d in net.forward}
    access = {d for u in net.units for d in ({u} if u in net.forward else net.near(u).keys() & net.forward)}
    one = {frozenset(inner[d]): d for d in sorted(access)}
    seen = dict.fromkeys(net.forward, 0) | {d: 1 << i for i, d in enumerate(one.values())}
    fresh, step, far = {d: seen[d] for d in one.values()}, 0, 0 if access else None
    while fresh:
        step += 1
        coming: dict[str, int] = defaultdict(int)
        net.work.spend(sum(len(inner[v]) for v in fresh) * (1 + len(one) // 512))
        for v, bits in fresh.items():
            for w in inner[v]:
                coming[w] |= bits
        fresh = {w: new for w, bits in coming.items() if (new := bits & ~seen[w])}
        for w, new in fresh.items():
            seen[w] |= new
        far = step if fresh.keys() & access else far
    need(far is not None and far == whole(stated["links"], 0), f"it is {far}")


def mean_hops(net: Net, stated: Any) -> None:
    """The mean number of links between forwarding devices on a shortest path, over ordered pairs of ports of different units that
    reach each other."""
    ports: dict[str, Counter[str]] = {u: Counter([u]) if u in net.forward else Counter() for u in net.units}
    for x in net.links:
        for u, d in ((x.a, x.b), (x.b, x.a)):
            if u in ports and u not in net.forward and d in net.forward:
                ports[u][d] += 1
    at: dict[str, list[tuple[Counter[str], int]]] = defaultdict(list)
    for mine in ports.values():
        for d, n in mine.items():
            at[d].append((mine, n))
    weight = {d: sum(n for _, n in here) for d, here in at.items()}
    total = pairs = 0
    for d, here in at.items():
        far = net.hops(d)
        net.work.spend(sum(len(mine) for mine, _ in here))
        total += weight[d] * sum(weight.get(e, 0) * x for e, x in far.items())
        pairs += weight[d] * sum(weight.get(e, 0) for e in far)
        own = [(n * m, far[e]) for mine, n in here for e, m in mine.items() if e in far]
        total, pairs = total - sum(n * x for n, x in own), pairs - sum(n for n, _ in own)
    need(pairs > 0 and Fraction(total, pairs) == number(stated["value"]), f"it is {total} over {pairs}")


def redundancy(net: Net, stated: Any) -> None:
    """The least number of paths between two units that share no link, or no forwarding device (Menger 1927). Units with the same
    neighbours may be exchanged; where all units forward, one of them against all others shows the links of all (Gomory and Hu
    1961)."""
    nodes, least = stated["check"] == "node_redundancy", whole(stated["value"], 0)
    near: dict[str, Counter[str]] = {d: Counter() for d in (*net.units, *net.forward)}
    for x in net.links:
        near[x.a][x.b] += 1
        near[x.b][x.a] += 1
    kinds: dict[Any, list[str]] = defaultdict(list)
    for u in net.units:
        kinds[(u,) if u in net.forward else tuple(sorted(near[u].items()))].append(u)
    units = [u for alike in kinds.values() for u in alike[:2]]
    direct = not nodes and net.units <= net.forward
    pairs: Iterable[tuple[str, str]] = ((units[0], u) for u in units[1:]) if direct else combinations(units, 2)

    def paths(u: str, v: str) -> int:
        net.work.spend(len(net.links))
        inner = net.forward - {u, v}
        if not nodes:
            return flow({d: dict(near[d]) for d in (*inner, u)}, [u], {v}, least + 1, net.work)
        room: dict[Any, dict[Any, int]] = {d: {(d,): 1} for d in inner}
        for d in (*inner, u):
            room[(d,) if d in inner else d] = dict.fromkeys(near[d].keys() & (inner if d == u else inner | {v}), least + 1)
        return (near[u][v] > 0) + flow(room, [u], {v}, least + 1, net.work)

    need(len(units) > 1, "there are no two units")
    found = min(paths(u, v) for u, v in pairs)
    need(found == least, f"it is {found}" if found < least else "it is more")


def oversubscription(net: Net, stated: Any) -> None:
    """The most capacity below a switch over its capacity above, by the tiers of the planned fabric in fabric.json. Links to
    planned devices below count too."""
    fabric = net.fabric
    level = {d: 0 if fabric.devices[d].kind in ("host", "chip") else t for d, t in fabric.tier.items()}
    need(not any(fabric.devices[x.a].kind == fabric.devices[x.b].kind == "chip" for x in fabric.links), "the fabric has no tiers")
    below: dict[str, int] = defaultdict(int)
    above: dict[str, int] = defaultdict(int)
    for x in fabric.links:
        low, high = sorted((x.a, x.b), key=level.__getitem__)
        if 0 <= level[low] < level[high]:
            above[low] += x.rate
            below[high] += x.rate
    for d, tier, rate, links in fabric.planned:
        if tier is not None and 0 <= whole(tier, 0) < level[d]:
            below[d] += whole(rate, 1) * whole(links, 1)
    switches = [d for d, f in fabric.devices.items() if f.kind == "switch"]
    tiers = {level[d] for d in switches if above[d]}
    need(bool(tiers) and all(above[d] or not below[d] or level[d] not in tiers for d in switches), "a switch has no link above")
    found = max(Fraction(below[d], above[d]) for d in switches if above[d])
    need(found == number(stated["value"]), f"it is {found}")


def blast_radius(net: Net, stated: Any) -> None:
    """The most ports of units that the failure of one element leaves without a path to another unit."""
    linked = {d for x in net.every for d in (x.a, x.b)}
    used = Counter(d for d, _ in net.meetings() if d in net.units and d in linked)
    found = []
    for failed, _ in {*net.fabric.elements({"of": stated["of"]}).values()}:
        left = Net(net.fabric, failed)
        met = [x for x in left.meetings() if x[0] in left.units]
        there = {hub: d for d, hub in met}
        several = {hub for d, hub in met if d != there[hub]}
        live = Counter(d for d, hub in met if hub in several)
        found.append(sum((used - live).values()))
    need(max(found) == whole(stated["value"], 0), f"it is {max(found)}")


def throughput(net: Net, stated: Any) -> None:
    """Bounds in bit/s: of all to all on the rate of every ordered pair; else on what flows of all demands together, each in its
    proportion."""
    need(stated["pattern"] == "all_to_all" or not any(" " in d for d in net.order), "a device has the name of a rail or a set")
    if stated["pattern"] in ("all_to_all", "all_to_all by rail"):
        low, high = all_to_all(net, stated)
    else:
        asked = between(net, stated) if stated["pattern"] == "between" else pattern(net, stated)
        low, high = (asked.total * x for x in (asked.lower(stated["lower"]), asked.upper(stated["upper"])))
    need(low == number(stated["lower_bps"]), f"the flows or routes show {low} bit/s")
    need(high == number(stated["upper_bps"]), f"the upper bound is {high} bit/s")
    need(low <= high, "the lower bound is above the upper one")


Mark = tuple[Any, ...]
"""What tells an element from others: single links between the same devices, alike in all that is read, have one mark."""


def mark_of(fabric: Fabric, element: Element, image: Any) -> Mark:
    """The mark of an element, or of its image under an exchange of devices."""
    devices, links = element
    if not links:
        return (frozenset(image.get(d, d) for d in devices),)
    (row,) = links
    x = fabric.links[row]
    via = None if x.via is None else image.get(x.via, x.via)
    return (*sorted((image.get(x.a, x.a), image.get(x.b, x.b))), x.rate, via)


def images_of(fabric: Fabric, image: Any, elements: Sequence[Element], kinds: Sequence[int]) -> dict[int, int]:
    """The kind of element that each kind is mapped to by an exchange of devices, which is verified to keep all that connectivity
    and bisection read: kinds, roles, models, containment, families of endpoints, and links with their rates and panels."""
    devices = fabric.devices
    fabric.work.spend(len(devices) + len(fabric.links) + sum(len(e[0]) + 1 for e in elements))
    need(image.keys() <= devices.keys() and {*image.values()} == image.keys(), "an exchange is not a permutation of devices")

    def to(d: str | None) -> str | None:
        return None if d is None else image.get(d, d)

    families: dict[str, str] = {}
    for d, f in devices.items():
        g = devices[image.get(d, d)]
        need((f.kind, f.role, f.model, to(f.inside)) == (g.kind, g.role, g.model, g.inside), "an exchange of different devices")
        if f.kind in ("host", "chip"):
            need(families.setdefault(f.family, g.family) == g.family, "an exchange divides a set of endpoints")
    need(len({*families.values()}) == len(families), "an exchange puts sets of endpoints together")
    moving = [x for x in fabric.links if x.a in image or x.b in image or x.via in image]
    before = Counter((*sorted((x.a, x.b)), x.rate, x.via) for x in moving)
    after = Counter((*sorted((image.get(x.a, x.a), image.get(x.b, x.b))), x.rate, to(x.via)) for x in moving)
    need(before == after, "an exchange changes the links")
    amount = Counter(kinds)
    place = {mark_of(fabric, elements[k], {}): k for k in amount}
    out = {k: place.get(mark_of(fabric, elements[k], image), -1) for k in amount}
    need(all(amount[k] == amount.get(i) for k, i in out.items()), "an exchange leads out of the elements")
    return out


def survives(net: Net, stated: Any) -> None:
    """Every set of K elements is one of the cases, or an image of one under exchanges; the condition holds in every case."""
    fabric, condition, work = net.fabric, stated["claim"], net.work
    named = fabric.elements(stated)
    elements, count = [*dict.fromkeys(named.values())], whole(stated["count"], 1)
    need(len(elements) >= count, "fewer elements than fail")
    several = any(len(links) > 1 for _, links in elements)
    need(not several or not stated["exchanges"], "an exchange moves sets of links")
    kinds = first(elements if several else (mark_of(fabric, e, {}) for e in elements))
    kind = dict(zip(elements, kinds, strict=True))
    moves = [images_of(fabric, image, elements, kinds) for image in stated["exchanges"]]
    cases = [[named[name] for name in case["failed"]] for case in stated["cases"]]
    need(all(len({*failed}) == len(failed) == count for failed in cases), "a case is of others")
    seen = {tuple(sorted(kind[e] for e in failed)) for failed in cases}
    front = list(seen)
    for case in front:
        work.spend(count * len(moves) + 1)
        new = {tuple(sorted(moved[i] for i in case)) for moved in moves} - seen
        seen |= new
        front += new
    for c in combinations(kinds, count):
        work.spend(1)
        need(tuple(sorted(c)) in seen, "a failure is not covered")
    for case, failed in zip(stated["cases"], cases, strict=True):
        left = case["left"]
        after = Net(fabric, *(frozenset[Any]().union(*sets) for sets in zip(*failed, strict=True)))
        need(left["check"] == condition["check"] and len(after.units) > 1, "a case is about something else, or leaves no pair")
        if left["check"] == "reachability":
            need(left["holds"] is True, "a case fails")
            reachability(after, left)
            continue
        need(left["check"] == "bisection" and condition["of_intact"] in (True, False), "there is no such condition")
        need((condition["at_least"] is None) != (condition["at_least_bps"] is None), "the condition is no bound")
        base = net if condition["of_intact"] else after
        least = number(condition["at_least_bps"] or 0) + number(condition["at_least"] or 0) * base.full * base.grain
        found = bisection(after, left)
        need(found > least or (found == least and condition["strict"] is False), "a case fails")


CHECKS: dict[str, Callable[[Net, Any], object]] = {
    f.__name__: f for f in (bisection, throughput, reachability, diameter, mean_hops, oversubscription, blast_radius, survives)
} | {"edge_redundancy": redundancy, "node_redundancy": redundancy}


def verify(certificate: Any, fabric: Any, steps: int = MAX_STEPS) -> None:
    """Raise Rejected unless the theorem that a certificate states is proved for a fabric, both as parsed. Compares no hashes."""
    try:
        need(certificate["schema"] == SCHEMA, f"the schema of the certificate is not {SCHEMA}")
        need(fabric["schema"] == 1, "the schema of fabric.json is not 1")
        need(certificate["fabric"] == fabric["fabric"], "the certificate is of another fabric")
        need(certificate["check"] in CHECKS, "there is no such kind of certificate")
        CHECKS[certificate["check"]](Net(Fabric(fabric, Work(steps))), certificate)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, MemoryError) as fault:
        raise Rejected(f"malformed: {type(fault).__name__}: {fault}") from None


def line(text: str) -> str:
    """A text as one printable line of moderate length."""
    out = text[:300].encode("ascii", "backslashreplace").decode()
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in out)


def check(certificate_text: str, fabric_text: str) -> tuple[int, str]:
    """Status (0 verified, 1 rejected, 2 not readable) and one line for a certificate and a fabric.json."""
    try:
        certificate, fabric = parse(certificate_text, "certificate"), parse(fabric_text, "fabric.json")
        design = sha256(fabric_text.encode("utf-8", "surrogatepass")).hexdigest()
        if type(certificate) is not dict or type(fabric) is not dict:
            raise Unreadable("a file is not a JSON object")
        need(certificate.get("design") == design, "the certificate is of another fabric.json (its `design` is not the SHA-256)")
        verify(certificate, fabric)
    except Unreadable as why:
        return 2, line(f"not readable: {why}")
    except Rejected as why:
        return 1, line(f"rejected: {why}")
    return 0, line(f"verified: {certificate['check']} of {certificate['fabric']}")


def read(path: str, limit: int) -> str:
    """The text of a file. Raises Unreadable."""
    try:
        with open(path, "rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise Unreadable(f"{path}: larger than {limit} bytes")
        return data.decode("utf-8")
    except (OSError, ValueError) as fault:
        raise Unreadable(f"{path}: {fault}") from None


def main(arguments: Sequence[str]) -> int:
    """Check the files that the arguments name; print a line; the exit status."""
    try:
        if len(arguments) != 2:
            raise Unreadable("usage: checker.py CERTIFICATE fabric.json")
        status, text = check(read(arguments[0], MAX_CERTIFICATE_BYTES), read(arguments[1], MAX_FABRIC_BYTES))
    except Unreadable as why:
        status, text = 2, line(f"not readable: {why}")
    print(text, file=sys.stderr if status else sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
