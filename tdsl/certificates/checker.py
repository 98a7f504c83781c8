"""Verifies a certificate of ``tdsl check --certificates`` against the ``fabric.json`` of the same design.

    python checker.py CERTIFICATE fabric.json

Exit status 0: verified, the certificate states a theorem about this fabric, and the theorem is proved. 1: rejected; what it
states is false, or is not shown, or takes more than ``MAX_STEPS`` steps of work. 2: a file is not readable: it is missing, larger
than its limit, not UTF-8, or not strict JSON. One line says which.

This file needs Python 3.11 and nothing else, and shares no code with the program that writes certificates. It takes nothing from
a certificate that it can compute from fabric.json: endpoints, demands, failed elements with all that they contain, orbits and
quotients are computed here. All arithmetic is in integers and fractions. ``docs/certificates.md`` states every theorem.

Six arguments carry all proofs: the capacity of a cut; a flow or routing that fits; lengths (the dual linear program); paths found
by a search and counted; averages over verified symmetries; and dynamic programming over all divisions. In order of the file:
reading, ``Fabric`` (the file), ``Network`` (what is left of it after failures), symmetry, flows and paths, bounds of the
bisection, ``Traffic`` (demands, and bounds on what flows), statements.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from fractions import Fraction
from hashlib import sha256
from heapq import heappop, heappush
from itertools import accumulate, combinations, pairwise
from math import comb, gcd, isqrt, lcm
from operator import add, mul
from typing import Any, NamedTuple

SCHEMA = 3
MAX_CERTIFICATE_BYTES = 1 << 28
MAX_FABRIC_BYTES = 1 << 30
MAX_DEPTH = 100
MAX_DIGITS = 60
MAX_STEPS = 5 * 10**8
MAX_BITS = 1 << 14
"""Bits of a number that is computed from a certificate's fractions."""

Arc = tuple[str, str]
Load = Counter[Arc]
Demands = dict[tuple[str, str], int]
Devices = frozenset[str]


class Rejected(Exception):
    """The statement is false or not shown."""


class TooMuchWork(Rejected):
    """The check takes more work than its limit."""


class Unreadable(Exception):
    """A file is not strict JSON within the limits."""


def need(holds: object, why: str) -> None:
    """Raise Rejected unless it holds."""
    if not holds:
        raise Rejected(why)


class Work:
    """Steps of work that are left."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Raise TooMuchWork when the limit is passed."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork("the check takes more steps than its limit")


# ---------------------------------------------------------------- reading


def parse(text: str, name: str) -> Any:
    """The value of a strict JSON text: integers of at most MAX_DIGITS digits, no other numbers, no key twice, nested at most
    MAX_DEPTH deep. Raises Unreadable."""

    def fail(why: str) -> Any:
        raise Unreadable(f"{name}: {why}")

    def integer(digits: str) -> Any:
        return int(digits) if len(digits.lstrip("-")) <= MAX_DIGITS else fail(f"a number has more than {MAX_DIGITS} digits")

    def other(token: str) -> Any:
        return fail(f"{token[:20]} is not an integer")

    def members(pairs: list[tuple[str, Any]]) -> Any:
        return dict(pairs) if len(dict(pairs)) == len(pairs) else fail("an object has a key twice")

    try:
        value = json.loads(text, parse_int=integer, parse_float=other, parse_constant=other, object_pairs_hook=members)
    except (RecursionError, MemoryError):
        fail("too deep or too large")
    except ValueError as fault:
        fail(f"not JSON: {fault}")
    level, depth = [value], 0
    while level := [x for x in level if type(x) in (dict, list)]:
        depth += depth < MAX_DEPTH or fail(f"nested deeper than {MAX_DEPTH}")
        level = [y for x in level for y in (x.values() if type(x) is dict else x)]
    return value


NUMBER = re.compile(f"([0-9]{{1,{MAX_DIGITS}}})(?:/([0-9]{{1,{MAX_DIGITS}}}))?")


def read(value: Any, form: Any, at: str) -> Any:
    """A value of a declared form, with its fractions as such; keys that may be left out and are, are None.

    Forms: an integer n: an integer of at least n; Fraction: such an integer or "p/q", of 0 or more; str and bool; set: different
    texts; a frozenset: one of its texts; [F]: a list; [F, G, H]: a row; {"*": F}: an object of any keys; {"key": F, "key?": G}:
    an object of these keys; ("key", {text: F}): an object of the form that its key says; (None, F): null or F. Raises Rejected.
    """
    if form is Fraction:
        found = NUMBER.fullmatch(value) if type(value) is str else None
        need((found and int(found[2] or 1)) or (type(value) is int and value >= 0), f"{at}: no number of the form p/q")
        return Fraction(value)
    if isinstance(form, int):
        need(type(value) is int and value >= form, f"{at}: an integer of at least {form} is needed")
    elif form in (str, bool):
        need(type(value) is form, f"{at}: a {'text' if form is str else 'true or false'} is needed")
    elif form is set:
        need(len({*read(value, [str], at)}) == len(value), f"{at}: a text twice")
    elif isinstance(form, frozenset):
        need(type(value) is str and value in form, f"{at}: is none of {', '.join(sorted(form))}")
    elif isinstance(form, list):
        need(type(value) is list and len(value) == (len(form) if len(form) > 1 else len(value)), f"{at}: a list is needed")
        return [read(x, form[i % len(form)], at) for i, x in enumerate(value)]
    elif isinstance(form, tuple) and form[0] is None:
        return None if value is None else read(value, form[1], at)
    else:
        need(type(value) is dict, f"{at}: an object is needed")
        if isinstance(form, tuple):
            kind = read(value.get(form[0]), frozenset(form[1]), f"{at}.{form[0]}")
            form = {form[0]: str} | form[1][kind]
        if "*" in form:
            return {key: read(x, form["*"], f"{at}.{key}") for key, x in value.items()}
        known = {key.rstrip("?"): key for key in form}
        need(value.keys() <= known.keys(), f"{at}: has a key that is not known")
        need(all(key in value for key in form if not key.endswith("?")), f"{at}: a key is missing")
        return {key: read(value[key], form[form_key], f"{at}.{key}") if key in value else None for key, form_key in known.items()}
    return value


PERMUTATIONS = [{"*": str}]
BLOCK: dict[str, Any] = {"nodes": set, "limit": Fraction, "inside": []}
BLOCK["inside"] = [BLOCK]
ROUTES = [("by", {
    "lengths": {"share": 1, "parts": 1, "lengths": [[str, str, 1]]},
    "hubs": {"share": 1, "parts": 1, "hubs": {"*": 1}},
    "trees": {"share": 1, "parts": 1, "trees": [[[str, str]]]},
})]  # fmt: skip
BISECTION = {"units": 2, "lower_bps": 0, "upper_bps": 0, "cut": set, "lower": ("by", {
    "none": {},
    "shares": {"parts": [{"hubs": set, "shares": {"*": {"*": Fraction}}, "blocks": [BLOCK]}], "restored?": [[str, str, 1]]},
    "splits": {"parts": [{"least": 0, "order": [set]}]},
    "flows": {"least": 0},
    "spectrum": {"mu": Fraction},
    "routes": {"symmetries": PERMUTATIONS, "hubs?": {"*": 1}, "routes": ROUTES},
})}  # fmt: skip
THROUGHPUT = {
    "pattern": str, "units?": 2, "demands?": [[str, str, 1]], "from?": set, "to?": set,
    "lower_bps": Fraction, "upper_bps": Fraction,
    "lower": ("by", {
        "flows": {"quotient?": bool, "parts": 1, "flows": {"*": [[str, str, 1]]}},
        "routes": {"quotient?": bool, "symmetries?": PERMUTATIONS, "routes": ROUTES},
    }),
    "upper": ("by", {
        "ports": {},
        "cut": {"cut": set},
        "lengths": {"quotient?": bool, "symmetries?": PERMUTATIONS, "lengths": [[str, str, 0]]},
    }),
}  # fmt: skip
REACHABILITY = {"units": 1, "holds": bool, "apart?": [str, str]}
LEFT = ("check", {"reachability": REACHABILITY, "bisection": BISECTION})
CONDITION = ("check", {
    "reachability": {},
    "bisection": {"at_least": (None, Fraction), "at_least_bps": (None, Fraction), "strict": bool, "of_intact": bool},
})  # fmt: skip
SURVIVES = {
    "what?": (None, frozenset(("links", "ports", "cables", "cages"))), "of": set, "to?": (None, set), "count": 1,
    "condition": CONDITION, "symmetries": PERMUTATIONS, "cases": [{"failed": set, "left": LEFT}],
}  # fmt: skip
HEAD = {"schema": 0, "fabric": str, "design?": str, "check": str}
TABLES: dict[str, dict[str, Any]] = {
    "devices": {
        "name": str, "path": str, "kind": frozenset(("host", "chip", "switch", "ocs", "panel")), "role": (None, str),
        "model": str, "inside": (None, str), "tier": (None, 0),
    },
    "links": {
        "a_device": str, "b_device": str, "rate_bps": 1, "rail": (None, 0), "via": (None, str), "a_port": str, "b_port": str,
        "a_cage": (None, str), "b_cage": (None, str), "cable_id": (None, str), "far_cable_id": (None, str),
    },
    "planned_links": {"device": str, "tier": (None, 0), "rate_bps": 1, "links": 1},
}  # fmt: skip


def table(data: Any, name: str) -> list[list[Any]]:
    """The columns of TABLES that a table of fabric.json has, row by row."""
    heads, rows = (data[name][key] for key in ("columns", "rows"))
    need(len({*heads}) == len(heads) and all(len(row) == len(heads) for row in rows), f"{name}: rows and columns differ")
    columns = [read([row[heads.index(c)] for row in rows], [form], f"{name}.{c}") for c, form in TABLES[name].items()]
    return [list(row) for row in zip(*columns, strict=True)]


# ---------------------------------------------------------------- the fabric


class Device(NamedTuple):
    """A row of the devices; ``inside`` is the device that contains it, ``family`` its path without indices."""

    path: str
    kind: str
    role: str
    model: str
    inside: str | None
    tier: int
    family: str
    forwards: bool


class Link(NamedTuple):
    """A row of the links; ``rail`` is -1 where there is none, ``via`` the panel or optical switch that it crosses; ``ports`` are
    paths, and like ``cages`` of both devices; ``cables`` are those that it runs through."""

    a: str
    b: str
    rate: int
    rail: int
    via: str | None
    ports: tuple[str, str]
    cages: tuple[str | None, str | None]
    cables: tuple[str, ...]


class Element(NamedTuple):
    """The devices and the rows of the links that fail together."""

    devices: Devices
    links: frozenset[int]


def family(path: str) -> str:
    """A path without indices."""
    return re.sub(r"\[[^\]]*\]", "", path)


def elements_of(path: str) -> list[str]:
    """The paths of a device and of the groups and devices around it, outermost first."""
    return [path[: x.start()] for x in re.finditer(r"\.(?![^\[]*\])", path)] + [path]


class Fabric:
    """The devices and links of a fabric.json. Raises Rejected where it contradicts itself."""

    def __init__(self, data: Any) -> None:
        need(data["schema"] == 1, "the schema of fabric.json is not 1")
        self.name: str = read(data["fabric"], str, "fabric")
        rows, links = table(data, "devices"), table(data, "links")
        heads = data["devices"]["columns"]
        stated = data["devices"]["rows"] if "forwards" in heads else []
        need(all(type(row[heads.index("forwards")]) is bool for row in stated), "devices.forwards: true or false is expected")
        passing = {row[heads.index("name")] for row in stated if row[heads.index("forwards")]}
        if "layer" in data["links"]["columns"]:  # of the network alone: without the links of another layer, and its switches
            of = [x[data["links"]["columns"].index("layer")] for x in data["links"]["rows"]]
            links, up = ([x for x, y in zip(links, of, strict=True) if bool(y) is z] for z in (False, True))
            gone = {d for x in up for d in (x[0], x[1], x[4])} - {d for x in links for d in (x[0], x[1], x[4])}
            rows = [x for x in rows if x[2] in ("host", "chip") or x[0] not in gone]
        self.devices = {
            n: Device(path, kind, role or "", model, inside, -1 if tier is None else tier, family(path), n in passing)
            for n, path, kind, role, model, inside, tier in rows
        }
        paths = {d: f.path for d, f in self.devices.items()}
        need(len(paths) == len({*paths.values()}) == len(rows) and "" not in paths, "a device has no name, or two have one")
        self.planned = table(data, "planned_links")
        named = {path: d for d, path in paths.items()}
        self.contents: dict[str, list[str]] = defaultdict(list)
        for d, f in self.devices.items():
            need(f.inside == named.get(f.path.rpartition(".")[0]), f"{d} is inside another device than its path says")
            self.contents[f.inside or ""] += [d]
        need({x for a, b, _, _, via, *_ in links for x in (a, b, via)} <= {*paths, None}, "a link ends at an unknown device")
        need(all(a != b for a, b, *_ in links), "a link joins a device to itself")
        self.links = [
            Link(
                a,
                b,
                rate,
                -1 if rail is None else rail,
                via,
                (f"{paths[a]}.{p}", f"{paths[b]}.{q}"),
                (c, e),
                (*filter(None, ids),),
            )
            for a, b, rate, rail, via, p, q, c, e, *ids in links
        ]
        need(len({p for x in self.links for p in x.ports}) == 2 * len(links), "two links are on one port")

    def closure(self, failed: Iterable[str]) -> Devices:
        """What fails with these devices: all that they contain."""
        out = [*dict.fromkeys(failed)]
        known = {*out}
        for d in out:
            new = [x for x in self.contents.get(d, ()) if x not in known]
            known.update(new)
            out += new
        return frozenset(known)

    def named(self, of: Collection[str]) -> dict[str, Devices]:
        """The devices of every element with all that they contain, by its path. A selector is the path of one device or group, or
        such a path without indices, which names all of that path."""
        wanted, families = {*of}, {family(p) for p in of}
        found: dict[str, list[str]] = defaultdict(list)
        used = set()
        for name, device in self.devices.items():
            for path in elements_of(device.path):
                if family(path) in families and (chosen := wanted & {path, family(path)}):
                    found[path].append(name)
                    used |= chosen
        need(wanted and used == wanted, "no element, or one that is not in the fabric")
        return {path: self.closure(names) for path, names in found.items()}

    def elements(self, of: Collection[str], what: str | None = None, to: Collection[str] | None = None) -> dict[str, Element]:
        """What fails with every element, by its name: devices and groups, or the links, ports, cables or cages there, which fail
        with all links that run through them; with ``to`` those of links that join the two."""
        if what is None:
            return {path: Element(devices, frozenset()) for path, devices in self.named(of).items()}
        here = self.ports(of)
        there = {p for x in self.links for p in x.ports} if to is None else self.ports(to)
        rows: dict[str, set[int]] = defaultdict(set)
        same: dict[str, Any] = {}
        chosen = set()
        for i, x in enumerate(self.links):
            for d, port, other, cage in ((x.a, *x.ports, x.cages[0]), (x.b, *x.ports[::-1], x.cages[1])):
                keys: dict[str, Any] = {port: port}
                if what == "links":
                    keys = {" - ".join(x.ports): i}
                elif what == "cables":
                    keys = {f"cable {c}": c for c in x.cables}
                elif what == "cages" and cage:
                    keys = {f"{self.devices[d].path} cage {cage}": (d, cage)}
                need(all(same.setdefault(name, key) == key for name, key in keys.items()), "two elements have one name")
                for name in keys:
                    rows[name].add(i)
                chosen |= {*keys} if port in here and other in there else set()
        return {name: Element(frozenset(), frozenset(rows[name])) for name in rows if name in chosen}

    def ports(self, of: Collection[str]) -> set[str]:
        """The linked ports of devices and groups with all that they contain, or named by their own path."""
        every = {p: d for x in self.links for p, d in zip(x.ports, (x.a, x.b), strict=True)}
        named = {*of}
        groups = named - every.keys()
        within = frozenset[str]().union(*self.named(groups).values()) if groups or not named else frozenset[str]()
        return {p for p, d in every.items() if p in named or d in within}


# ---------------------------------------------------------------- networks


class Graph:
    """Nodes by name, the capacity of the arcs between them, and which nodes forward."""

    def __init__(self, arcs: Iterable[tuple[str, str, int]], forward: AbstractSet[str], work: Work) -> None:
        self.forward, self.work = forward, work
        self.capacity: dict[str, dict[str, int]] = defaultdict(dict)
        self.add(arcs)

    def add(self, arcs: Iterable[tuple[str, str, int]]) -> int:
        """Add capacities, each way; all of them together."""
        total = 0
        for a, b, rate in arcs:
            for v, w in ((a, b), (b, a)):
                self.capacity[v][w] = self.capacity[v].get(w, 0) + rate
            total += rate
        return total

    def near(self, v: str) -> dict[str, int]:
        """Neighbours of a node and the capacity to each."""
        return self.capacity.get(v, {})

    def arcs(self) -> dict[Arc, int]:
        """The capacity of every arc."""
        return {(v, w): c for v, to in self.capacity.items() for w, c in to.items()}

    def distances(self, source: str, length: Mapping[Arc, int] | None = None) -> dict[str, int]:
        """The length of a shortest path to every node that is reached, nearest first (Dijkstra 1959); links have the length 1 if
        none are given. Only the source and what forwards is passed."""
        far: dict[str, int] = {}
        known, queue = {source: 0}, [(0, source)]
        while queue:
            at, v = heappop(queue)
            if v in far:
                continue
            far[v] = at
            passed = self.near(v) if v in self.forward or v == source else {}
            self.work.spend(1 + len(passed))
            for w in passed:
                then = at + (1 if length is None else length[v, w])
                if then < known.get(w, then + 1):
                    known[w] = then
                    heappush(queue, (then, w))
        return far

    def route(self, source: str, wanted: Mapping[str, int], load: Load, length: Mapping[Arc, int] | None = None) -> None:
        """Add to the load of arcs what a source sends along shortest paths of positive lengths. Every node divides what comes by
        the capacity of the last arcs, rounded down; the first takes the rest."""
        far = self.distances(source, length)
        need(wanted.keys() <= far.keys(), "a target is not reached")
        amount = defaultdict(int, wanted)
        for v in reversed(far):
            x = amount[v]
            if not x or v == source:
                continue
            by = [(u, c) for u, c in self.near(v).items() if u in far and (u in self.forward or u == source)
                  and far[u] + (1 if length is None else length[u, v]) == far[v]]  # fmt: skip
            total = sum(c for _, c in by)
            parts = [x * c // total for _, c in by]
            parts[0] += x - sum(parts)
            for (u, _), part in zip(by, parts, strict=True):
                load[u, v] += part
                amount[u] += part

    def equivalent(self, nodes: Iterable[str]) -> dict[str, str]:
        """For each of these nodes the first with the same neighbours at the same capacities, with which it may be exchanged."""
        known: dict[Any, str] = {}
        return {v: known.setdefault((v in self.forward, *sorted(self.near(v).items())), v) for v in nodes}


class Network(Graph):
    """What is left of a fabric after failures: units, what forwards, and capacities each way in whole multiples of ``grain``.

    Units are the endpoints that are judged: hosts and chips, those with the role of accelerators if there are any, else those
    without a role; chips inside of hosts, where their kind has links, in the place of the hosts; the switches, if there is no
    endpoint. After failures an endpoint without links is none. Switches forward, chips if chips are
    linked to chips before, and what the fabric states.
    """

    def __init__(self, fabric: Fabric, work: Work, failed: Element | None = None) -> None:
        devices, gone = fabric.devices, failed or Element(frozenset(), frozenset())
        work.spend(len(devices) + len(fabric.links))
        left = [x for i, x in enumerate(fabric.links) if i not in gone.links and gone.devices.isdisjoint((x.a, x.b, x.via))]
        linked = {d for x in left for d in (x.a, x.b)}
        up = [d for d, f in devices.items() if d not in gone.devices and (f.kind == "switch" or d in linked or failed is None)]
        direct = any(devices[x.a].kind == devices[x.b].kind == "chip" for x in fabric.links)
        ends = {*self.endpoints(devices, linked)} & (linked if failed else devices.keys())
        self.fabric = fabric
        self.units = {d: None for d in up if d in ends}.keys()
        passing = ("switch", "chip") if direct else ("switch",)
        forward = {d: None for d in up if devices[d].kind in passing or devices[d].forwards}.keys()
        self.others = {d for d in linked if devices[d].kind in ("host", "chip")} - self.units
        self.every = left
        self.links = [x for x in self.every if {x.a, x.b} <= self.units | forward]
        self.grain = gcd(*(x.rate for x in self.links)) or 1
        super().__init__(((x.a, x.b, x.rate // self.grain) for x in self.links), forward, work)

    @staticmethod
    def endpoints(devices: Mapping[str, Device], linked: set[str]) -> list[str]:
        """The devices that would be units if they were all there."""
        ends = {d: f for d, f in devices.items() if f.kind in ("host", "chip")}
        wired = {devices[d].family for d in linked}
        opened = {devices[f.inside].family for f in ends.values() if f.inside and f.kind == "chip" and f.family in wired}
        counted = [d for d, f in ends.items() if f.family not in opened and (f.inside is None or f.family in wired)]
        main = next((r for r in ("accelerator", "") if any(f.role == r for f in ends.values())), "")
        return [d for d in counted if ends[d].role == main] or counted or [d for d, f in devices.items() if f.kind == "switch"]

    @property
    def half(self) -> int:
        """Half of the units, rounded down."""
        return len(self.units) // 2

    def full(self) -> list[int]:
        """What every unit can inject, the least first."""
        return sorted(sum(self.near(u).values()) for u in self.units)

    def cut(self, side: Collection[str]) -> int:
        """Capacity out of a side of units and forwarding devices."""
        ours = {*side}
        need(ours <= self.units | self.forward, "the cut names what does not count")
        return sum(c for a in ours for b, c in self.near(a).items() if b not in ours)

    def counts(self) -> Counter[Arc]:
        """The number of links between nodes."""
        return Counter(arc for x in self.links for arc in ((x.a, x.b), (x.b, x.a)))

    def attached(self) -> list[tuple[str, tuple[str, ...]]]:
        """Every port of a unit or another linked endpoint with what it is connected to: a component of forwarding devices, by its
        first device, or a link of two endpoints that forward nothing, by both. A forwarding endpoint is one port."""
        label: dict[str, str] = {}
        for start in self.forward:
            if start not in label:
                label |= {v: start for v in self.distances(start) if v in self.forward}
        ends = {*self.units, *self.others}
        out: list[tuple[str, tuple[str, ...]]] = [(d, (label[d],)) for d in ends if d in label]
        for x in self.every:
            for d, other in ((x.a, x.b), (x.b, x.a)):
                if d in ends and d not in label and (other in label or other in ends):
                    out.append((d, (label[other],) if other in label else (min(x.a, x.b), max(x.a, x.b))))
        return out

    def orbits(
        self, symmetries: Sequence[Mapping[str, str]], classes: Mapping[str, str], links: Mapping[Arc, int] | None = None
    ) -> dict[str, str]:
        """For every node the first of its orbit under exchanges in classes and under symmetries, which are verified to keep
        units, forwarding, and the capacity, or the number of links, between nodes."""
        nodes = {v: (v in self.units, v in self.forward) for v in (*self.units, *self.forward)}
        automorphisms(self.work, symmetries, nodes, self.arcs() if links is None else links)
        return orbits(nodes, (classes, *symmetries))


def automorphisms(work: Work, images: Sequence[Mapping[Any, Any]], kind: Mapping[Any, Any], arcs: Mapping[Any, Any]) -> None:
    """Reject unless every image, given for the nodes that move, permutes nodes of one kind and maps each arc, a tuple of nodes,
    to one with the same label."""
    for image in images:
        work.spend(len(kind) + len(arcs))
        need(image.keys() <= kind.keys() and {*image.values()} == image.keys(), "a symmetry is not a permutation")
        need(all(kind[v] == kind[w] for v, w in image.items()), "a symmetry exchanges different nodes")
        moved = ((tuple(image.get(v, v) for v in arc), label) for arc, label in arcs.items())
        need(all(arcs.get(arc) == label for arc, label in moved), "a symmetry changes the links")


def orbits(items: Iterable[Any], moves: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
    """For everything the lowest of its orbit under these permutations."""
    lowest = {x: x for x in items}

    def root(x: Any) -> Any:
        while lowest[x] != x:
            lowest[x] = x = lowest[lowest[x]]
        return x

    for move in moves:
        for x in lowest:
            a, b = root(x), root(move.get(x, x))
            lowest[max(a, b)] = min(a, b)
    return {x: root(x) for x in lowest}


def max_flow(capacity: dict[Any, dict[Any, int]], sources: Iterable[Any], targets: Collection[Any], most: int, work: Work) -> int:
    """The flow from sources to targets, ``most`` at most, by shortest paths (Edmonds and Karp 1972). Changes capacity."""
    left = most
    while left > 0:
        by, front, end = dict.fromkeys(sources), [*sources], None
        for v in front:
            work.spend(1 + len(capacity.get(v, {})))
            new = [w for w, c in capacity.get(v, {}).items() if c and w not in by]
            by |= dict.fromkeys(new, v)
            end = next((w for w in new if w in targets), None)
            if end is not None:
                break
            front += new
        if end is None:
            break
        path = [end]
        while by[path[-1]] is not None:
            path.append(by[path[-1]])
        arcs = [(v, w) for w, v in pairwise(path)]
        step = min(left, *(capacity[v][w] for v, w in arcs))
        for v, w in arcs:
            capacity[v][w] -= step
            back = capacity.setdefault(w, {})
            back[v] = back.get(v, 0) + step
        left -= step
    return most - left


# ---------------------------------------------------------------- bisection: lower bounds, in grains


def splits(net: Network, order: list[list[str]], least: int) -> int:
    """The least that every balanced split cuts of the links among these devices, which are then used up.

    Devices take sides in this order, switches with equal links as one. The capacity that crosses by then is kept for every number
    of units on one side and the sides of the open devices, those linked to one without a side (Bertelè and Brioschi, "Nonserial
    dynamic programming", 1972).
    """
    names = {d for same in order for d in same}
    need(len(names) == sum(map(len, order)) and all(order), "an order names a device twice")
    need(net.units <= names <= net.units | net.forward, "an order misses units, or names what does not count")
    near_of = {d: {w: c for w, c in net.near(d).items() if c} for d in names}
    need(all(len(x) == 1 or (d not in net.units and near_of[d] == near_of[x[0]]) for x in order for d in x), "devices differ")
    size, most = {x[0]: len(x) for x in order}, len(net.units) - net.half
    near = {v: {w: c * n * size[w] for w, c in near_of[v].items() if w in size} for v, n in size.items()}
    rows: dict[Devices, list[int]] = {frozenset(): [0]}
    done: set[str] = set()
    for v in size:
        done.add(v)
        closed = {w for w in (v, *near[v]) if near[w].keys() <= done}
        after: dict[Devices, list[int]] = {}
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
        net.capacity[v] = {w: c for w, c in net.near(v).items() if w not in names}
    return least


def flows(net: Network, least: int) -> int:
    """The least flow between the halves of every split, of a thousand splits at most."""
    need(len(net.units) <= 1000 and comb(len(net.units), net.half) <= 1000, "too many splits")
    for side in combinations(net.units, net.half):
        capacity: dict[Any, dict[Any, int]] = {v: dict(to) for v, to in net.capacity.items()}
        need(max_flow(capacity, side, net.units - {*side}, least, net.work) == least, "a split cuts less")
    return least


def spectrum(net: Network, mu: Fraction) -> int:
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
    rate, most = net.full()[0], (count + 1) // 2
    ends = [mu / 4 * (count - Fraction(2 * (2 * k + count % 2) ** 2, count)) + k * rate for k in (0, most)]
    least = ends[0] if direct else min(*ends, Fraction(most * rate))
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


Sums = list[Fraction]
"""What x of some units send at least, for every x."""


def least_sums(parts: Iterable[tuple[Devices, Sums]], most: int, work: Work) -> tuple[Devices, Sums]:
    """The least sums over choices of x units from equal or disjoint sets; where sets overlap, by each unit's least share."""
    same: dict[Devices, Sums] = {}
    for members, sums in parts:
        same[members] = list(map(add, same[members], sums)) if members in same else sums
    everyone = frozenset[str]().union(*same)
    if len(everyone) < sum(map(len, same)):
        share: dict[str, Fraction] = defaultdict(Fraction)
        for members, sums in same.items():
            slope = min(s / x for x, s in enumerate(sums) if x)
            for u in members:
                share[u] += slope
        values = sorted(share.values())
        return everyone, [*accumulate(values, initial=Fraction(0))][: most + 1]
    common = lcm(*(x.denominator for sums in same.values() for x in sums))
    need(common.bit_length() <= MAX_BITS, "a share is too long a number")
    out = [0]
    for sums in same.values():
        row, size = [int(x * common) for x in reversed(sums)], len(sums)
        work.spend(min(len(out), most + 1) * size)
        lows = ((n, max(n - size + 1, 0)) for n in range(min(len(out) + size - 1, most + 1)))
        out = [min(map(add, out[low : n + 1], row[size - 1 - n + low :])) for n, low in lows]
    return everyone, [Fraction(x, common) for x in out]


def greedy(parts: Iterable[tuple[Fraction, Fraction]], sent: Fraction) -> Fraction:
    """What arrives of an amount if senders, each with its (part that arrives, most that it sends), send all they can in turn."""
    out = Fraction(0)
    for part, most in parts:
        out += part * min(most, sent)
        sent -= min(most, sent)
    return out


class Shares:
    """All units send upward to hubs, every node in fixed shares, under the limits of nested blocks of leaves. The load of every
    arc is added up here; down from the hubs the same flows fit in reverse."""

    def __init__(self, net: Network, stated: Any) -> None:
        self.net, self.hubs, self.shares = net, {*stated["hubs"]}, stated["shares"]
        self.nodes = self.hubs | self.shares.keys()
        need(self.nodes <= net.forward - net.units, "a node does not forward")
        need(not self.hubs & self.shares.keys(), "a hub has shares")
        self.above = {h: {h: Fraction(1)} for h in self.hubs}  # of every node: the load of all above by a unit of flow from it
        waiting = dict(self.shares)
        while waiting:
            ready = [v for v, to in waiting.items() if to.keys() <= self.above.keys()]
            need(ready, "shares form a circle, or leave the nodes")
            for v in ready:
                self.above[v] = self.load(v, waiting.pop(v))
        self.limit: dict[str, Fraction] = {}
        self.feeds: dict[str, set[str]] = {}
        self.blocks = [self.block(b) for b in stated["blocks"]]

    def load(self, v: str, shares: dict[str, Fraction]) -> dict[str, Fraction]:
        """The load of a node and all above it by a unit of flow from it."""
        need(not shares or sum(shares.values()) == 1, f"the shares of {v} do not add up to one")
        self.net.work.spend(1 + sum(len(self.above[w]) for w in shares))
        out: dict[str, Fraction] = defaultdict(Fraction, {v: Fraction(1)})
        for w, share in shares.items():
            for x, part in self.above[w].items():
                out[x] += share * part
        need(all(x.denominator.bit_length() <= MAX_BITS for x in out.values()), "a share is too long a number")
        return out

    def arriving(self, leaves: Iterable[str], v: str) -> list[tuple[Fraction, Fraction]]:
        """The part of each leaf's flow that comes to a node, the smallest first, with the leaf's limit."""
        return sorted((self.above[x].get(v, Fraction(0)), self.limit[x]) for x in leaves)

    def block(self, b: Any) -> tuple[set[str], Devices, Sums]:
        """Verify that the nodes of a block pass on what its limit lets come; its leaves, its units, and the least that these
        send. A block with none inside is one leaf, with the units that are linked to it."""
        most, nodes, net = b["limit"], b["nodes"], self.net
        inside = [self.block(x) for x in b["inside"]]
        if not inside:
            need(len(nodes) == 1 and nodes[0] in self.nodes and nodes[0] not in self.limit, "a leaf is no node, or named twice")
            self.limit[nodes[0]] = most
            rates = {u: c for u, c in net.near(nodes[0]).items() if u in net.units}
            order = sorted(map(Fraction, rates.values()))
            units, sums = frozenset(rates), [*accumulate(order, initial=Fraction(0))][: net.half + 1]
        else:
            units, sums = least_sums([x[1:] for x in inside], net.half, net.work)
        leaves = {*nodes} if not inside else set().union(*(x[0] for x in inside))
        net.work.spend(len(nodes) * len(leaves) + len(sums) * (len(inside) + len(units)))
        for v in nodes:
            if v not in self.feeds:
                load = greedy(self.arriving(leaves, v)[::-1], most)  # the greatest parts first are the most
                need(self.shares.get(v) or v in self.hubs or not load, f"{v} passes nothing on")
                for w, share in self.shares.get(v, {}).items():
                    need(load * share <= net.near(v).get(w, 0), f"{v} to {w} is overloaded")
                self.feeds[v] = leaves
        return leaves, units, [min(x, most) for x in sums]

    def value(self) -> int:
        """What crosses every balanced split: wherever a hub is, at least what half of the units send there; rounded up, since a
        cut is a whole number of grains."""
        net, half, total = self.net, self.net.half, Fraction(0)
        net.work.spend(sum(len(self.above[x]) for x in self.limit) + len(self.hubs) * len(self.limit))
        for x in self.limit:  # what passes a node was counted with all that feeds it
            for v, part in self.above[x].items():
                need(not part or v in self.hubs or x in self.feeds.get(v, ()), f"{x} feeds {v} without a limit")
        mixes = ([(i, tuple(self.arriving(b[0], h))) for i, b in enumerate(self.blocks)] for h in self.hubs)
        kinds = Counter(tuple((i, mix) for i, mix in all_of if mix[-1][0]) for all_of in mixes)
        for kind, times in kinds.items():
            parts = [(self.blocks[i][1], [greedy(mix, x) for x in self.blocks[i][2]]) for i, mix in kind]
            net.work.spend(sum(len(sums) * (len(mix) + len(sums)) for (_, mix), (_, sums) in zip(kind, parts, strict=True)))
            members, sums = least_sums(parts, half, net.work)
            total += times * sums[max(half - (len(net.units) - len(members)), 0)]
        return -int(-total // 1)


def lower_bound(net: Network, stated: Any) -> int:
    """The lower bound of the bisection that a certificate's proof shows, in grains."""
    by = stated["by"]
    if by == "splits":
        return sum(splits(net, part["order"], part["least"]) for part in stated["parts"])
    if by == "flows":
        return flows(net, stated["least"])
    if by == "spectrum":
        return spectrum(net, stated["mu"])
    if by == "routes":
        sent, hubs = Uniform(net, stated["symmetries"], stated["hubs"]), stated["hubs"]
        rate, pairs = sent.routed(stated["routes"]), net.half * (len(net.units) - net.half)
        return -int(-(rate * sent.apart / 2 if hubs else rate * pairs) // 1)  # a link carries to hubs and back
    if by == "none":
        return 0
    more, inner = stated["restored"] or [], net.forward - net.units
    need(all({a, b} <= inner and a != b and rate % net.grain == 0 for a, b, rate in more), "no link to restore")
    # No cut is less than one with them by more than all their capacity.
    restored = net.add((a, b, rate // net.grain) for a, b, rate in more)
    parts = [Shares(net, p) for p in stated["parts"]]
    need(sum(len(p.nodes) for p in parts) == len(set[str]().union(*(p.nodes for p in parts))), "two parts share a node")
    return sum(p.value() for p in parts) - restored


# ---------------------------------------------------------------- throughput


class Traffic:
    """Demands in a graph, and the proofs of how much of them can flow at once. Arcs between nodes of the same classes, or mapped
    to each other by a symmetry, are an orbit; what the demands put on an orbit may be spread evenly over its arcs, ``both`` ways
    if so."""

    def __init__(
        self, graph: Graph, classes: Mapping[str, str], symmetries: Sequence[Mapping[str, str]] = (), both: bool = False
    ):
        self.graph, self.work, self.classes, self.both = graph, graph.work, classes, both
        self.arcs = graph.arcs()
        key = {(v, w): (classes.get(v, v), classes.get(w, w)) for v, w in self.arcs}
        moves = ({key[v, w]: key[image.get(v, v), image.get(w, w)] for v, w in self.arcs} for image in symmetries)
        same = orbits({*key.values()}, moves)
        self.orbit: dict[Arc, Arc] = {arc: same[key[arc]] for arc in self.arcs}
        self.top = Fraction(0)  # what the ports of the busiest end allow
        self.total = 1
        self.out: dict[str, int] = {}
        self.into: dict[str, int] = {}

    def sources(self) -> Iterator[tuple[str, int, dict[str, int]]]:
        """Every source that is routed, how many there are of it, and what one of them demands."""
        raise NotImplementedError

    def arc(self, a: str, b: str) -> Arc:
        """The orbit of an arc that is named."""
        need((a, b) in self.arcs, f"{a} and {b} are not linked")
        return self.orbit[a, b]

    def lengths(self, stated: Any, least: int) -> dict[Arc, int]:
        """Lengths of arcs, those of an orbit as of the one that is named; those not named have the least."""
        named: dict[Arc, int] = {}
        for a, b, x in stated:
            need(named.setdefault(self.arc(a, b), x) == x, "lengths differ in an orbit")
        return {arc: named.get(orbit, least) for arc, orbit in self.orbit.items()}

    def lower(self, stated: Any) -> Fraction:
        """The part of the demands that flows or routes show to flow at once."""
        if not self.out:  # all of it stays below one device
            return self.top
        return min(self.top, self.routed(stated["routes"]) if stated["by"] == "routes" else self.flows(stated))

    def fits(self, load: Mapping[Arc, int], parts: int) -> Fraction:
        """What of a load, in parts of a unit, the arcs carry if it is spread over their orbits."""
        need(any(load.values()), "nothing flows")
        carried: Counter[Arc] = Counter()
        capacity: Counter[Arc] = Counter()
        for total, amounts in ((carried, load), (capacity, self.arcs)):
            for (v, w), x in amounts.items():
                total[min(self.orbit[v, w], self.orbit[w, v]) if self.both else self.orbit[v, w]] += x
        return min(Fraction(capacity[orbit] * parts, x) for orbit, x in carried.items() if x)

    def flows(self, stated: Any) -> Fraction:
        """What flows show: those of every source are conserved and bring every target its demand."""
        load: dict[Arc, int] = defaultdict(int)
        asked = {source: (times, wanted) for source, times, wanted in self.sources()}
        need(stated["flows"].keys() == asked.keys(), "other sources send")
        for source, flow in stated["flows"].items():
            over: dict[str, int] = defaultdict(int)
            times, wanted = asked[source]
            self.work.spend(len(flow))
            for a, b, amount in flow:
                need((a, b) in self.arcs, f"{a} and {b} are not linked")
                need(a == source or a in self.graph.forward, f"{a} does not forward")
                load[a, b] += amount * times
                over[a] -= amount
                over[b] += amount
            over[source] += stated["parts"] * sum(wanted.values())
            need(
                all(over[v] == stated["parts"] * wanted.get(v, 0) for v in {**over, **wanted}),
                f"the demand of {source} does not arrive",
            )
        return self.fits(load, stated["parts"])

    def routed(self, routes: list[Any]) -> Fraction:
        """What a convex combination of routings of all demands shows."""
        load: dict[Arc, int] = defaultdict(int)
        made = [(route["share"], *getattr(self, f"by_{route['by']}")(route, route["parts"])) for route in routes]
        common = lcm(*(parts for _, _, parts in made))
        need(made and common.bit_length() <= MAX_BITS, "there are no routes, or parts are too long numbers")
        for share, one, parts in made:
            for arc, x in one.items():
                load[arc] += x * share * (common // parts)
        return self.fits(load, common * sum(share for share, _, _ in made))

    def by_lengths(self, route: Any, parts: int) -> tuple[Load, int]:
        """All demands along shortest paths under positive lengths."""
        length, load = self.lengths(route["lengths"], 1), Counter[Arc]()
        for s, times, wanted in self.sources():
            self.graph.route(s, {t: x * parts * times for t, x in wanted.items()}, load, length)
        return load, parts

    def by_hubs(self, route: Any, parts: int) -> tuple[Load, int]:
        """All demands from their sources to hubs in shares and from hubs to their targets; paths to hubs are those from them,
        reversed."""
        load: Load = Counter()
        for hub, share in route["hubs"].items():
            need(hub in self.graph.forward and self.out, "a hub does not forward")
            for out, ends in ((True, self.out), (False, self.into)):
                one: Load = Counter()
                self.graph.route(hub, {v: x * parts * share for v, x in ends.items()}, one)
                load.update({(w, v) if out else (v, w): x for (v, w), x in one.items()})
        return load, parts * sum(route["hubs"].values())

    def by_trees(self, route: Any, parts: int) -> tuple[Load, int]:
        """Every demand in equal parts in all trees that have both its ends, along the shortest paths of the orbits of the tree's
        arcs; where there is none, and between equivalent ends, along the shortest paths of all."""
        load: Load = Counter()
        trees = []
        for tree in route["trees"]:
            kept = {orbit for a, b in tree for orbit in (self.arc(a, b), self.arc(b, a))}
            arcs = ((a, b, c) for (a, b), c in self.arcs.items() if a < b and self.orbit[a, b] in kept)
            trees.append(Graph(arcs, self.graph.forward, self.work))
        for s, times, wanted in self.sources():
            mine = [tree for tree in trees if s in tree.capacity]
            same = self.classes.get(s, s)
            count = {t: sum(t in tree.capacity for tree in mine) if self.classes.get(t, t) != same else 0 for t in wanted}
            self.work.spend(len(mine) * len(wanted))
            need(all(parts % max(n, 1) == 0 for n in count.values()), "the trees need other parts")
            for tree in mine:
                tree.route(
                    s, {t: x * parts * times // count[t] for t, x in wanted.items() if count[t] and t in tree.capacity}, load
                )
            self.graph.route(s, {t: x * parts * times for t, x in wanted.items() if not count[t]}, load)
        return load, parts

    def upper(self, stated: Any) -> Fraction:
        """The least that the ports or lengths allow: capacity times length over demand times distance."""
        if stated["by"] == "ports":
            return self.top
        length, spent = self.lengths(stated["lengths"], 0), 0
        for s, times, wanted in self.sources():
            far = self.graph.distances(s, length)
            need(wanted.keys() <= far.keys(), "a target is not reached")
            spent += times * sum(x * far[t] for t, x in wanted.items())
        need(spent > 0, "the lengths show nothing")
        return min(self.top, Fraction(sum(self.arcs[arc] * x for arc, x in length.items()), spent))


class Pattern(Traffic):
    """Demands that are listed. Ends linked to one forwarding node only are one: what they exchange stays below it. In the
    ``quotient`` forwarding nodes with the same neighbours at the same capacities, and without demands, are a class."""

    def __init__(
        self, net: Network, arcs: Sequence[tuple[str, str, int]], forward: AbstractSet[str], demands: Demands, quotient: Any
    ) -> None:
        plain = Graph(arcs, forward, net.work)
        sent: dict[str, int] = Counter()
        got: dict[str, int] = Counter()
        for (s, t), amount in demands.items():
            need(s != t and s in plain.capacity and t in plain.capacity, "a demand is not between two that have links")
            sent[s] += amount
            got[t] += amount
        need(demands, "nothing is demanded")
        known: dict[str, str] = {}
        near = {v: plain.near(v) for v in net.units if (v in sent or v in got) and v not in forward}
        place = {v: known.setdefault(min(to), v) for v, to in near.items() if len(to) == 1 and min(to) in forward}
        graph = Graph(((place.get(a, a), place.get(b, b), c) for a, b, c in arcs), forward, net.work)
        inner = [v for v in forward if v not in sent and v not in got] if quotient else []
        super().__init__(graph, graph.equivalent(inner))
        self.total = sum(demands.values())
        self.top = min(Fraction(sum(plain.near(v).values()), max(sent[v], got[v])) for v in {**sent, **got})
        self.asked: dict[str, dict[str, int]] = defaultdict(Counter)
        self.out, self.into = Counter(), Counter()
        for (a, b), amount in demands.items():
            s, t = place.get(a, a), place.get(b, b)
            if s != t:
                self.asked[s][t] += amount
                self.out[s] += amount
                self.into[t] += amount

    def sources(self) -> Iterator[tuple[str, int, dict[str, int]]]:
        """Every source with what it demands."""
        return ((v, 1, wanted) for v, wanted in self.asked.items())


class Uniform(Traffic):
    """Every unit demands as much of every other; or, with ``hubs``, of so many of each hub as it reaches. One source of each
    orbit is routed, under exchanges of equivalent nodes and stated symmetries, which are verified: the average over these spreads
    its load."""

    def __init__(self, net: Network, symmetries: Any = None, hubs: Mapping[str, int] | None = None) -> None:
        need(len(net.units) > 1, "there are no two units")
        classes = net.equivalent(u for u in net.units if u not in net.forward and net.units.isdisjoint(net.near(u)))
        if symmetries is None:
            classes |= net.equivalent(v for v in net.forward if v not in net.units)
        super().__init__(net, classes, symmetries or [], both=True)
        node = net.orbits(symmetries or [], classes)
        units = dict.fromkeys(net.units, 1)
        self.routed_from = Counter[str]()
        for v, n in (units if hubs is None else hubs).items():
            need(v in node, "a hub does not forward")
            self.routed_from[node[v]] += n
        self.wanted = {s: {t: 1 for t in net.distances(s) if t in units} if hubs else units for s in self.routed_from}
        self.apart = sum(n * max(len(self.wanted[s]) - (len(units) + 1) // 2, 0) for s, n in self.routed_from.items())
        self.out = self.into = {} if hubs else dict.fromkeys(units, len(units) - 1)
        self.top = Fraction(net.full()[0], len(units) - 1)

    def sources(self) -> Iterator[tuple[str, int, dict[str, int]]]:
        """One source of each orbit."""
        return ((s, n, {t: 1 for t in self.wanted[s] if t != s}) for s, n in self.routed_from.items())


def pattern(net: Network, stated: Any, quotient: Any) -> Pattern:
    """The demands of a pattern among the units, in the order of fabric.json."""
    units, arcs = [*net.units], [(x.a, x.b, x.rate) for x in net.links]
    found = re.fullmatch(r"(ring|rail_allreduce|file|between|shift ([0-9]{1,9}))( by rail| through scaleup|)", stated["pattern"])
    need(found, "there is no such pattern")
    assert found is not None
    need(not any(" " in d for d in net.fabric.devices), "a device has the name of a rail or a set")
    if found[0] == "between":
        here, there = {*(stated["from"] or ())}, {*(stated["to"] or ())}
        need(
            here and there and here | there <= net.fabric.devices.keys() and not here & there,
            "a set is empty or unknown, or both overlap",
        )
        named = dict.fromkeys(here, "all from") | dict.fromkeys(there, "all to")
        counted = net.forward | here | there
        arcs = [(named.get(x.a, x.a), named.get(x.b, x.b), x.rate) for x in net.every if {x.a, x.b} <= counted]
        forward = {d: None for d in net.forward if d not in named}.keys()
        return Pattern(net, [x for x in arcs if x[0] != x[1]], forward, {("all from", "all to"): 1}, quotient)
    need(len(units) == stated["units"], "the number of units is another")
    by = int(found[2] or 1)
    demands = {(u, units[(i + by) % len(units)]): 1 for i, u in enumerate(units)}
    if found[1] == "file":
        demands = {(s, t): amount for s, t, amount in stated["demands"] or ()}
        need(len(demands) == len(stated["demands"] or ()), "a demand is stated twice")
        need({d for pair in demands for d in pair} <= net.units, "a demand is not between units")
    if found[3] != " by rail" and found[0] != "rail_allreduce":
        return Pattern(net, arcs, net.forward, demands, quotient)
    ring = found[1] in ("ring", "rail_allreduce")
    over, called = by_rail(net, every=ring)
    rails = {rail: [called[u, rail] for u in units if (u, rail) in called] for rail in sorted({rail for _, rail in called})}
    asked: Demands = {}
    for ends in rails.values() if ring else ():  # a ring on every rail, over the units that have it
        asked |= dict.fromkeys(zip(ends, ends[1:] + ends[:1], strict=True), 1) if len(ends) > 1 else {}
    for (s, t), amount in demands.items() if not ring else ():  # from each rail to the same of the other, as far as both have it
        both = {(called[s, rail], called[t, rail]): amount for rail in rails if (s, rail) in called and (t, rail) in called}
        need(both, f"{s} and {t} have no rail in common")
        asked |= both
    return Pattern(over, [(x.a, x.b, x.rate) for x in over.links], net.forward, asked, quotient)


def by_rail(net: Network, every: bool) -> tuple[Network, dict[tuple[str, int], str]]:
    """The network in which every rail of a unit is a unit, and its name; a unit without rails is one, of rail -1. With ``every``
    each unit must have a link."""
    some = {d for x in net.links if x.rail >= 0 for d in (x.a, x.b)} - net.forward
    links = [x for x in net.links if x.rail >= 0 or not {x.a, x.b} & some]
    there = {(d, x.rail) for x in links for d in (x.a, x.b) if d not in net.forward}
    rails, out = sorted({rail for _, rail in there}), copy(net)
    called = {(u, r): u if r < 0 else f"{u} rail {r}" for u in net.units for r in rails if (u, r) in there}
    need(not every or {u for u, _ in called} == net.units, "a unit has no link")
    out.units = dict.fromkeys(called.values()).keys()
    out.links = [x._replace(a=called.get((x.a, x.rail), x.a), b=called.get((x.b, x.rail), x.b)) for x in links]
    out.capacity = defaultdict(dict)
    out.add((x.a, x.b, x.rate // net.grain) for x in out.links)
    return out, called


def throughput(net: Network, stated: Any) -> tuple[Fraction, Fraction]:
    """The bounds in bit/s that proofs show: of all to all on the rate of every ordered pair; else on what flows of all demands
    together, each in its proportion."""
    lower, upper = stated["lower"], stated["upper"]
    if stated["pattern"] not in ("all_to_all", "all_to_all by rail"):
        need(
            not lower.get("symmetries") and not upper.get("symmetries") and upper["by"] != "cut",
            "there is no such proof of a pattern",
        )
        asked = [pattern(net, stated, x.get("quotient")) for x in (lower, upper)]
        return asked[0].total * asked[0].lower(lower), asked[1].total * asked[1].upper(upper)
    if stated["pattern"] != "all_to_all":
        need(not any(" " in d for d in net.fabric.devices), "a device has the name of a rail")
        net = by_rail(net, every=True)[0]
    need(len(net.units) == stated["units"], "the number of units is another")
    low = Uniform(net, lower.get("symmetries")).lower(lower)
    if upper["by"] != "cut":
        return low * net.grain, Uniform(net, upper.get("symmetries")).upper(upper) * net.grain
    ours = len({*upper["cut"]} & net.units)
    need(0 < ours < len(net.units), "the cut divides no units")
    return low * net.grain, Fraction(net.cut(upper["cut"]) * net.grain, ours * (len(net.units) - ours))


# ---------------------------------------------------------------- statements


def all_flow(net: Network, stated: Any) -> None:
    """Bounds on a throughput."""
    low, high = throughput(net, stated)
    need(stated["lower_bps"] <= low, f"the flows or routes show {low} bit/s")
    need(stated["upper_bps"] >= high, f"the upper bound is {high} bit/s")


def bisection(net: Network, stated: Any) -> int:
    """The lower bound in bit/s; rejects unless that and the upper one are shown."""
    units = len(net.units)
    need(units == stated["units"], "the number of units is another")
    need(abs(2 * len({*stated["cut"]} & net.units) - units) <= 1, "the split is not balanced")
    need(net.cut(stated["cut"]) * net.grain == stated["upper_bps"], "other links cross the cut")
    lower = lower_bound(net, stated["lower"]) * net.grain  # restores links, or uses them up: the net is not used again
    need(stated["lower_bps"] <= min(lower, stated["upper_bps"]), f"the proof shows {lower} bit/s")
    return int(stated["lower_bps"])


def reachability(net: Network, stated: Any) -> None:
    """All units reach each other, and other linked endpoints reach some unit; or two named units do not reach each other."""
    hubs: dict[str, set[Any]] = {d: set() for d in (*net.units, *net.others)}
    for d, hub in net.attached():
        hubs[d].add(hub)
    need(len(net.units) == stated["units"], "the number of units is another")
    if not stated["holds"]:
        a, b = stated["apart"] or ("", "")
        need(a != b and {a, b} <= net.units, "these are not two units")
        return need(not hubs[a] & hubs[b], f"{a} and {b} reach each other")
    kinds = {frozenset(hubs[u]) for u in net.units}
    net.work.spend(len(kinds) ** 2)
    need({d for x in net.every for d in (x.a, x.b)} >= net.units, "a unit has no link")
    shared = frozenset.intersection(*kinds) or all(a & b for a, b in combinations(kinds, 2))
    need(shared and all(kinds), "some units do not reach each other")
    reached = frozenset[Any]().union(*kinds)
    need(all(hubs[d] & reached for d in net.others), "a manager or storage device reaches no unit")


def distances(net: Network, stated: Any) -> None:
    """The links between forwarding devices on shortest paths between units that reach each other: the most, or the mean over
    ordered pairs of ports of different units. One device of each orbit is a source."""
    ports: dict[str, Counter[str]] = {u: Counter([u] * (u in net.forward)) for u in net.units}
    for (u, d), n in net.counts().items():
        if u in ports and u not in net.forward and d in net.forward:
            ports[u][d] += n
    at: dict[str, list[Counter[str]]] = defaultdict(list)
    for mine in ports.values():
        for d in mine:
            at[d].append(mine)
    weight = {d: sum(mine[d] for mine in here) for d, here in at.items()}
    orbit = net.orbits(stated["symmetries"] or [], {}, net.counts())
    total = pairs = most = 0
    for s, times in Counter(orbit[d] for d in at).items():
        far = {d: x for d, x in net.distances(s).items() if d in weight}
        net.work.spend(sum(map(len, at[s])))
        own = Counter[str]()
        for mine in at[s]:
            own.update({d: mine[s] * n for d, n in mine.items() if d in far})
        pairs += times * (weight[s] * sum(weight[d] for d in far) - sum(own.values()))
        total += times * sum(x * (weight[s] * weight[d] - own[d]) for d, x in far.items())
        most = max(most, *far.values())
    need(at and (pairs or stated["check"] == "diameter"), "no two units reach each other")
    found = Fraction(total, pairs) if stated["check"] == "mean_hops" else most
    need(found == stated["value"], f"it is {found}")


def redundancy(net: Network, stated: Any) -> None:
    """The least number of paths between two units that share no link, or no forwarding device between them (Menger 1927).

    Units with the same neighbours may be exchanged, and of each orbit one is compared with all others. Where all units forward,
    pairs with a link are enough, and those with a common neighbour for paths that share no device: of those that a least cut or
    separator divides, a pair is linked, or linked to one device of the separator, or each other device of it could be left out.
    """
    nodes, least, work = stated["check"] == "node_redundancy", stated["value"], net.work
    near: dict[str, dict[str, int]] = {d: {} for d in (*net.units, *net.forward)}
    for (v, w), n in net.counts().items():
        near[v][w] = n
    kinds: dict[Any, list[str]] = defaultdict(list)
    for u in net.units:
        kinds[(u,) if u in net.forward else tuple(sorted(near[u].items()))].append(u)
    units = [u for same in kinds.values() for u in same[:2]]
    need(len(units) > 1, "there are no two units")
    orbit = net.orbits(stated["symmetries"] or [], {u: same[0] for same in kinds.values() for u in same}, net.counts())
    direct = net.units == net.forward and net.units <= net.distances(units[0]).keys()
    found = least + 1
    for u in {orbit[u]: u for u in reversed(units)}.values():
        close = {w for v in near[u] for w in (v, *(near[v] if nodes else ()))} if direct else units
        for v in {*close} - {u}:
            work.spend(len(net.links))
            inner = net.forward - {u, v}
            if not nodes:
                paths = max_flow({d: dict(near[d]) for d in (*inner, u)}, [u], {v}, least + 1, work)
            else:
                capacity: dict[Any, dict[Any, int]] = {d: {(d,): 1} for d in inner}
                for d in (*inner, u):
                    into = near[d].keys() & (inner if d == u else inner | {v})
                    capacity[(d,) if d in inner else d] = dict.fromkeys(into, least + 1)
                paths = (v in near[u]) + max_flow(capacity, [u], {v}, least + 1, work)
            found = min(found, paths)
    need(found == least, f"it is {found}" if found < least else "it is more")


def oversubscription(net: Network, stated: Any) -> None:
    """The most capacity below a switch over its capacity above, by the tiers of the planned fabric in fabric.json. Links to
    planned devices below count too."""
    fabric = net.fabric
    level = {d: 0 if f.kind in ("host", "chip") else f.tier for d, f in fabric.devices.items()}
    ends = ((fabric.devices[x.a], fabric.devices[x.b]) for x in fabric.links)
    need(not any(a.kind == b.kind == "chip" or a.forwards or b.forwards for a, b in ends), "the fabric has no tiers")
    below, above = Counter[str](), Counter[str]()
    for x in fabric.links:
        low, high = sorted((x.a, x.b), key=level.__getitem__)
        if 0 <= level[low] < level[high]:
            above[low] += x.rate
            below[high] += x.rate
    for d, tier, rate, links in fabric.planned:
        if tier is not None and tier < level[d]:
            below[d] += rate * links
    switches = [d for d, f in fabric.devices.items() if f.kind == "switch"]
    tiers = {level[d] for d in switches if above[d]}
    need(tiers and all(above[d] or not below[d] or level[d] not in tiers for d in switches), "a switch has no link above")
    found = max(Fraction(below[d], above[d]) for d in switches if above[d])
    need(found == stated["value"], f"it is {found}")


def blast_radius(net: Network, stated: Any) -> None:
    """The most ports of units that the failure of one element leaves without a path to another unit."""
    linked = {d for x in net.every for d in (x.a, x.b)}
    used = Counter(d for d, _ in net.attached() if d in net.units and d in linked)
    found = 0
    for failed in {*net.fabric.elements(stated["of"]).values()}:
        left = Network(net.fabric, net.work, failed)
        ports = [(d, hub) for d, hub in left.attached() if d in left.units]
        there = {hub: d for d, hub in ports}
        several = {hub for d, hub in ports if d != there[hub]}
        found = max(found, sum((used - Counter(d for d, hub in ports if hub in several)).values()))
    need(found == stated["value"], f"it is {found}")


def survives(net: Network, stated: Any) -> None:
    """Every set of K elements is one of the cases, or an image of one under symmetries; the condition holds in every case.

    Symmetries keep all that connectivity and bisection read: kinds, roles, models, containment, families of endpoints, and links
    with their rates and panels. Single links between the same devices with the same rate and panel are of one kind.
    """
    fabric, work, count, devices = net.fabric, net.work, stated["count"], net.fabric.devices
    named = fabric.elements(stated["of"], stated["what"], stated["to"])
    copies = Counter(named.values())  # both ports of a link, say, fail alike: then fewer elements than COUNT may fail
    elements = [*copies]
    need(len(named) >= count > 0, "fewer elements than fail")
    several = len({*copies.values()}) > 1 or any(len(e.links) > 1 for e in elements)
    need(not several or not stated["symmetries"], "a symmetry of sets of links")

    def mark(element: Element, image: Mapping[Any, Any]) -> tuple[Any, ...]:
        """What an element, or its image, is known by."""
        ends = [
            (*sorted(image.get(d, d) for d in (x.a, x.b)), x.rate, image.get(x.via, x.via))
            for x in map(fabric.links.__getitem__, element.links)
        ]
        return element if several else (frozenset(image.get(d, d) for d in element.devices), *ends)

    arcs: dict[Any, Any] = {(d, f.inside): () for d, f in devices.items()}
    for x in fabric.links:
        for arc in ((x.a, x.b, x.via), (x.b, x.a, x.via)):
            arcs[arc] = (*arcs.get(arc, ()), x.rate)
    arcs = {arc: sorted(rates) for arc, rates in arcs.items()}
    automorphisms(work, stated["symmetries"], {d: (f.kind, f.role, f.model, f.family) for d, f in devices.items()}, arcs)
    kind = {e: mark(e, {}) for e in elements}
    amount = Counter(kind.values())
    number = {k: i for i, k in enumerate(amount)}
    moves = [{number[kind[e]]: number.get(mark(e, image), -1) for e in elements} for image in stated["symmetries"]]
    times = [*amount.values()]
    need(all(i >= 0 and times[i] == times[k] for move in moves for k, i in move.items()), "a symmetry leads out of the elements")
    work.spend(sum(comb(len(elements), size) for size in range(1, count + 1)) * (1 + len(moves)))
    chosen = (c for size in range(1, count + 1) for c in combinations(elements, size) if sum(copies[e] for e in c) >= count)
    sets = {tuple(sorted(number[kind[e]] for e in c)) for c in chosen}
    orbit = orbits(sets, ({c: tuple(sorted(move[i] for i in c)) for c in sets} for move in moves))
    cases = [[named[name] for name in case["failed"]] for case in stated["cases"]]
    keys = [tuple(sorted(number[kind[e]] for e in failed)) for failed in cases]
    need(all(len({*failed}) == len(failed) for failed in cases) and {*keys} <= sets, "a case is of others")
    shown = {orbit[key] for key in keys}
    need({*orbit.values()} <= shown, "a failure is not covered")
    for case, failed in zip(stated["cases"], cases, strict=True):
        after = Network(fabric, work, Element(*(frozenset[Any]().union(*parts) for parts in zip(*failed, strict=True))))
        holds(stated["condition"], net, after, case["left"])


def holds(condition: Any, net: Network, after: Network, left: Any) -> None:
    """Reject unless a condition is shown for what is left after failures; shares are of half of the units, intact or left."""
    need(left["check"] == condition["check"] and len(after.units) > 1, "a case is about something else, or leaves no pair")
    if left["check"] == "reachability":
        need(left["holds"], "a case fails")
        return reachability(after, left)
    base, share, rate = net if condition["of_intact"] else after, condition["at_least"], condition["at_least_bps"]
    need((share is None) != (rate is None), "the condition is no bound")
    least = rate if share is None else share * sum(base.full()[: base.half]) * base.grain
    found = bisection(after, left)
    need(found > least or (found == least and not condition["strict"]), "a case fails")


CHECKS: dict[str, tuple[Callable[[Network, Any], object], dict[str, Any]]] = {
    "reachability": (reachability, REACHABILITY),
    "diameter": (distances, {"value": 0, "symmetries?": PERMUTATIONS}),
    "mean_hops": (distances, {"value": Fraction, "symmetries?": PERMUTATIONS}),
    "oversubscription": (oversubscription, {"value": Fraction}),
    "edge_redundancy": (redundancy, {"value": 0, "symmetries?": PERMUTATIONS}),
    "node_redundancy": (redundancy, {"value": 0, "symmetries?": PERMUTATIONS}),
    "blast_radius": (blast_radius, {"value": 0, "of": set}),
    "bisection": (bisection, BISECTION),
    "throughput": (all_flow, THROUGHPUT),
    "survives": (survives, SURVIVES),
}


def verify(certificate: Any, fabric: Any, steps: int = MAX_STEPS) -> None:
    """Raise Rejected unless the theorem that a certificate states is proved for a fabric: both as parsed, or the latter as
    Fabric. Compares no hashes."""
    try:
        wiring = fabric if isinstance(fabric, Fabric) else Fabric(fabric)
        check, form = CHECKS[read(certificate.get("check"), frozenset(CHECKS), "check")]
        stated = read(certificate, HEAD | form, "certificate")
        need(stated["schema"] == SCHEMA, f"the schema of the certificate is not {SCHEMA}")
        need(stated["fabric"] == wiring.name, "the certificate is of another fabric")
        check(Network(wiring, Work(steps)), stated)
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


def main(arguments: Sequence[str]) -> int:
    """Check the files that the arguments name; print a line; the exit status."""
    texts = []
    try:
        if len(arguments) != 2:
            raise ValueError("usage: checker.py CERTIFICATE fabric.json")
        for name, limit in zip(arguments, (MAX_CERTIFICATE_BYTES, MAX_FABRIC_BYTES), strict=True):
            with open(name, "rb") as file:
                data = file.read(limit + 1)
            if len(data) > limit:
                raise ValueError(f"{name}: larger than {limit} bytes")
            texts.append(data.decode("utf-8"))
        status, text = check(*texts)
    except (OSError, ValueError) as fault:
        status, text = 2, line(f"not readable: {fault}")
    print(text, file=sys.stderr if status else sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
