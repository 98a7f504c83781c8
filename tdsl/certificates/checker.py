"""Verifies a certificate of ``tdsl check --certificates`` against the ``fabric.json`` of the same design.

    python checker.py CERTIFICATE... fabric.json [--expect REQUIREMENT]...

Prints the theorem that each certificate states about this fabric. Exit status 0: all are proved, and each
REQUIREMENT, such as ``bisection >= 100%``, follows from one of them. 1: one is rejected; it is false, or not
shown, or takes more than ``MAX_STEPS`` steps of work; or a requirement does not follow. 2: a requirement or a
file is not readable: missing, too large, not UTF-8, not strict JSON.

This file needs Python 3.11 and nothing else, and shares no code with the program that writes certificates. It
takes nothing from a certificate that it can compute from fabric.json, and all arithmetic is in integers and
fractions. ``docs/certificates.md`` states every theorem. In order: reading, ``CertifiedFabric``,
``CertifiedNetwork``, symmetries, flows, cuts, ``Traffic`` (demands), statements, requirements that are
expected.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict, namedtuple
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from fractions import Fraction
from functools import cache
from hashlib import sha256
from heapq import heappop, heappush
from itertools import combinations, pairwise
from math import comb, gcd, lcm
from typing import Any

SCHEMA, MAX_DEPTH, MAX_DIGITS = 4, 100, 60
MAX_CERTIFICATE_BYTES, MAX_FABRIC_BYTES, MAX_STEPS = 1 << 28, 1 << 30, 5 * 10**8
MAX_PARTS = 1 << 24  # of the data, times ranks, in a schedule that is replayed
MAX_BITS = 1 << 14  # of a number that is computed from a certificate's fractions

Arc = tuple[str, str]
Load = Counter[Arc]
Devices = frozenset[str]


class Rejected(Exception):
    """The statement is false or not shown."""


class TooMuchWork(Rejected):
    """The check takes more work than its limit."""


class InputUnreadable(Exception):
    """A file is not strict JSON within the limits, or a requirement is none."""


def reject_unless(holds: object, why: str) -> None:
    """Raise Rejected unless it holds."""
    if not holds:
        raise Rejected(why)


def least_common_multiple(numbers: Iterable[int]) -> int:
    """Their least common multiple, unless it is too long a number."""
    out = 1
    for x in numbers:
        out = lcm(out, x)
        reject_unless(out.bit_length() <= MAX_BITS, "fractions or parts are too long numbers")
    return out


class WorkSteps:
    """Steps of work that are left; to spend more raises TooMuchWork."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork("the check takes more steps than its limit")


def parse_strict_json(text: str, name: str) -> Any:
    """The value of a strict JSON text within the limits. Raises Unreadable."""

    def fail(why: str) -> Any:
        raise InputUnreadable(f"{name}: {why}")

    def whole(token: str) -> Any:
        return (
            int(token)
            if INTEGER.fullmatch(token)
            else fail(f"{token[:20]} is not an integer of at most {MAX_DIGITS} digits")
        )

    def once(pairs: list[tuple[str, Any]]) -> Any:
        return dict(pairs) if len(dict(pairs)) == len(pairs) else fail("an object has a key twice")

    try:
        value = json.loads(
            text, parse_float=whole, parse_int=whole, parse_constant=whole, object_pairs_hook=once
        )
    except (RecursionError, MemoryError):
        fail("too deep or too large")
    except ValueError as fault:
        fail(f"not JSON: {fault}")
    level, depth = [value], 0
    while level := [x for x in level if type(x) in (dict, list)]:
        depth += depth < MAX_DEPTH or fail(f"nested deeper than {MAX_DEPTH}")
        level = [y for x in level for y in (x.values() if type(x) is dict else x)]
    return value


WORDS = re.compile(
    r"(all_to_all|ring|rail_allreduce|file|between|shift ([0-9]{1,9}))( by rail| through scaleup|)"
)
INTEGER = re.compile(f"-?[0-9]{{1,{MAX_DIGITS}}}")
NUMBER = re.compile(f"([0-9]{{1,{MAX_DIGITS}}})(?:/([0-9]{{1,{MAX_DIGITS}}}))?")


def value_of_form(value: Any, form: Any, at: str) -> Any:
    """A value of a declared form, with its fractions as such; keys that may be left out and are, are None.

    Forms: an integer n: an integer of at least n; Fraction: such an integer or "p/q", of 0 or more; str and
    bool; set: different texts; a frozenset: one of its texts; [F]: a list; [F, G, H]: a row; {"*": F}: an
    object of any keys; {"key": F, "key?": G}: an object of these keys; ("key", {text: F}): an object of the
    form that its key says; (None, F): null or F. Raises Rejected.
    """
    if form is Fraction:
        return fraction_of_form(value, at)
    if isinstance(form, list):
        reject_unless(
            type(value) is list and len(value) == (len(form) if len(form) > 1 else len(value)),
            f"{at}: a list is needed",
        )
        return [value_of_form(x, form[i % len(form)], at) for i, x in enumerate(value)]
    if isinstance(form, tuple) and form[0] is None:
        return None if value is None else value_of_form(value, form[1], at)
    if isinstance(form, (tuple, dict)):
        return object_of_form(value, form, at)
    reject_unless_scalar(value, form, at)
    return value


def fraction_of_form(value: Any, at: str) -> Fraction:
    """The fraction of a text "p/q", or of an integer of 0 or more. Raises Rejected."""
    found = NUMBER.fullmatch(value) if type(value) is str else None
    reject_unless(
        (found and int(found[2] or 1)) or (type(value) is int and value >= 0),
        f"{at}: no number of the form p/q",
    )
    return Fraction(value)


def reject_unless_scalar(value: Any, form: Any, at: str) -> None:
    """Reject unless a value is of a form that has no keys and no rows: the integer, text, truth value, one of
    some texts or list of different texts that is declared."""
    if isinstance(form, int):
        reject_unless(type(value) is int and value >= form, f"{at}: an integer of at least {form} is needed")
    elif form in (str, bool):
        reject_unless(type(value) is form, f"{at}: a {'text' if form is str else 'true or false'} is needed")
    elif form is set:
        reject_unless(len({*value_of_form(value, [str], at)}) == len(value), f"{at}: a text twice")
    else:
        reject_unless(type(value) is str and value in form, f"{at}: is none of {', '.join(sorted(form))}")


def object_of_form(value: Any, form: Any, at: str) -> dict[str, Any]:
    """The values of an object by their keys, each of the form that is declared for it. Raises Rejected."""
    reject_unless(type(value) is dict, f"{at}: an object is needed")
    if isinstance(form, tuple):
        kind = value_of_form(value.get(form[0]), frozenset(form[1]), f"{at}.{form[0]}")
        form = {form[0]: str} | form[1][kind]
    if "*" in form:
        return {key: value_of_form(x, form["*"], f"{at}.{key}") for key, x in value.items()}
    known = {key.rstrip("?"): key for key in form}
    reject_unless(value.keys() <= known.keys(), f"{at}: has a key that is not known")
    reject_unless(all(key in value for key in form if not key.endswith("?")), f"{at}: a key is missing")
    return {
        key: value_of_form(value[key], form[form_key], f"{at}.{key}") if key in value else None
        for key, form_key in known.items()
    }


PERMUTATIONS = [{"*": str}]
ROUTES = [
    (
        "by",
        {
            "flows": {"share": 1, "parts": 1, "flows": {"*": [[str, str, 1]]}},
            "lengths": {"share": 1, "parts": 1, "lengths": [[str, str, 1]]},
            "hubs": {"share": 1, "parts": 1, "hubs": {"*": 1}},
        },
    )
]
ORBITS: dict[str, Any] = {"quotient?": bool, "symmetries?": PERMUTATIONS}
ROUTED = ORBITS | {"routes": ROUTES}
BISECTION = {"units": 2, "lower_bps": 0, "upper_bps": 0, "cut": set, "lower": ("by", {
    "shares": {"parts": [{"hubs": set, "shares": {"*": {"*": Fraction}}}], "restored?": [[str, str, 1]]},
    "splits": {"parts": [{"least": 0, "order": [set]}]},
    "routes": ROUTED | {"hubs?": {"*": 1}},
})}  # fmt: skip
FLOW = {
    "lower_bps": Fraction,
    "lower": ROUTED,
    "upper_bps": Fraction,
    "upper": ORBITS | {"lengths": [[str, str, 0]]},
}
COUNTED, SIDES = {"value": Fraction, "symmetries?": PERMUTATIONS}, {"from": set, "to": set}
GIVEN = {
    "devices": {"*": 1},
    "links": [[str, str, 0, 0]],  # delays in femtoseconds, at least and at most
    "ranks": 1,
    "several?": {"*": 1},  # ranks of units that have another number of them
    "domains?": [
        {"units": [set], "rate_bps": Fraction, "any": bool, "most_bps?": (None, Fraction), "delay": 0}
    ],
}
TIME = {"bits": 1, "at_least": Fraction, "at_most": Fraction, "given": GIVEN}
LEFT: dict[str, Any] = dict.fromkeys(
    ("diameter", "mean_hops", "edge_redundancy", "node_redundancy"), COUNTED
) | {
    "reachability": {"units": 1, "holds": bool, "apart?": [str, str]},
    "bisection": BISECTION,
    "throughput": FLOW,
}
TIMED_UNITS = TIME | {"units": 1, "sets?": [set], "apart?": [str, str], "cut?": set}
PRICED = ORBITS | {"lengths": [[str, str, 0]]}
COLLECTIVE = TIMED_UNITS | {
    "blocks?": [set],
    "divided?": [0],  # blocks whose ranks are blocks by themselves
    "begin?": {"*": [[0, 0]]},  # parts of the sum of a domain of several units that each of them keeps
    "parts": 1,  # equal parts of the data
    "chunks": 1,
    "stages": [
        {
            "channels": [{"ways": [{"devices": [str], "rate_bps": Fraction}]}],
            "steps": [[{"channel": 0, "parts": [[0, 0]]}]],
        }
    ],
}
COMPARED = {
    "op": frozenset((">=", ">", "<=", "<", "==")),
    "value": Fraction,
    "share": (None, frozenset(("left", "intact"))),
}
ROUTING = frozenset(("minhop", "updn", "ftree", "dor"))
FORMS: dict[str, Any] = LEFT | {
    "oversubscription": {"value": Fraction, "at?": set},
    "blast_radius": {"value": 0, "of": set},
    "throughput": FLOW | {"pattern": str, "units?": 2, "demands?": [[str, str, 1]], "from?": set, "to?": set},
    "transfer": TIME
    | SIDES
    | {"lower?": ROUTED, "upper?": PRICED, "each?": {"flow": [[str, str, Fraction]], "cut": set}},
    "all_to_all_time": TIMED_UNITS | {"lower": ROUTED, "upper?": PRICED},
    **dict.fromkeys(("allreduce", "all_gather_time", "reduce_scatter_time"), COLLECTIVE),
    "deadlock_free": {"under": ROUTING, "order": [[str, str]]},
    "survives": {
        "what?": (None, frozenset(("links", "ports", "cables", "cages"))),
        "of": set,
        "to?": (None, set),
        "count": 1,
        "condition": (
            "check",
            dict.fromkeys(LEFT, COMPARED) | {"reachability": {}, "throughput": COMPARED | SIDES},
        ),
        "symmetries": PERMUTATIONS,
        "cases": [{"failed": set, "left": ("check", LEFT)}],
    },
}
HEAD = {"schema": 0, "fabric": str, "design?": str, "check": str}
TABLES: dict[str, dict[str, Any]] = {
    "devices": {"name": str, "path": str, "kind": frozenset(("host", "chip", "switch", "ocs", "panel")),
                "role": (None, str), "model": str, "inside": (None, str), "tier": (None, 0),
                "forwards": (None, bool)},
    "links": {"a_device": str, "b_device": str, "rate_bps": 1, "rail": (None, 0), "via": (None, str),
              "a_port": str, "b_port": str, "a_cage": (None, str), "b_cage": (None, str),
              "cable_id": (None, str), "far_cable_id": (None, str), "layer": (None, str)},
    "planned_links": {"device": str, "tier": (None, 0), "rate_bps": 1, "links": 1},
}  # fmt: skip


def table_rows(data: Any, name: str) -> list[list[Any]]:
    """The columns of TABLES of a table of fabric.json, row by row; one that is not there is null."""
    heads, rows = (data[name][key] for key in ("columns", "rows"))
    reject_unless(
        len({*heads}) == len(heads) and all(len(row) == len(heads) for row in rows),
        f"{name}: rows and columns differ",
    )
    cells = {
        c: [row[heads.index(c)] for row in rows] if c in heads else [None] * len(rows) for c in TABLES[name]
    }
    columns = [value_of_form(cells[c], [form], f"{name}.{c}") for c, form in TABLES[name].items()]
    return [list(row) for row in zip(*columns, strict=True)]


Device = namedtuple("Device", "name path kind role model inside tier forwards family")
Link = namedtuple("Link", "a b rate rail via a_port b_port a_cage b_cage cable far_cable layer")
Element = namedtuple("Element", "devices links")  # what fails together: devices, and rows of the links


@cache
def unindexed_path(path: str) -> str:
    """A path without indices."""
    return re.sub(r"\[[^\]]*\]", "", path)


def enclosing_element_paths(path: str) -> list[str]:
    """The paths of a device and of the groups and devices around it, outermost first."""
    return [path[: x.start()] for x in re.finditer(r"\.(?![^\[]*\])", path)] + [path]


def devices_of_links(links: Iterable[Link]) -> set[Any]:
    """The names of the devices at links and of the panels on their way; None where a link has no panel."""
    return {d for x in links for d in (x.a, x.b, x.via)}


def network_device_rows(every: Iterable[list[Any]], outside: AbstractSet[Any]) -> list[list[Any]]:
    """The rows of the devices of a network: hosts and chips, and of others those that are not outside."""
    return [row for row in every if row[2] in ("host", "chip") or row[0] not in outside]


def contents_of_devices(devices: Mapping[str, Device], named: Mapping[str, str]) -> dict[str, list[str]]:
    """The devices in each device, and under "" those in none. ``named`` are the devices by path. Raises
    Rejected where a device is inside another than its path says."""
    contents: dict[str, list[str]] = defaultdict(list)
    for d, f in devices.items():
        reject_unless(
            f.inside == named.get(f.path.rpartition(".")[0]),
            f"{d} is inside another device than its path says",
        )
        contents[f.inside or ""] += [d]
    return contents


class CertifiedFabric:
    """The devices and links of a fabric.json. Raises Rejected where it contradicts itself."""

    def __init__(self, data: Any) -> None:
        reject_unless(data["schema"] == 1, "the schema of fabric.json is not 1")
        self.name: str = value_of_form(data["fabric"], str, "fabric")
        every = [Link(*row) for row in table_rows(data, "links")]
        self.links = links = [x for x in every if not x.layer]  # of the network, not of a layer beside it
        self.beside = [x for x in every if x.layer]
        here = devices_of_links(links)
        table = table_rows(data, "devices")
        rows = network_device_rows(table, outside=devices_of_links(self.beside) - here)
        self.planned = table_rows(data, "planned_links")
        self.devices = known = {row[0]: Device._make((*row, unindexed_path(row[1]))) for row in rows}
        named = {f.path: d for d, f in known.items()}
        reject_unless(
            len(named) == len(known) == len(rows) and "" not in {*known, *named},
            "a device has no name, or two have one",
        )
        self.contents = contents_of_devices(known, named)
        reject_unless(all(x.a != x.b for x in links), "a link joins a device to itself")
        ends = devices_of_links(every)
        reject_unless(ends <= {None, *(row[0] for row in table)}, "a link ends at an unknown device")
        self.ports = [(f"{known[x.a].path}.{x.a_port}", f"{known[x.b].path}.{x.b_port}") for x in links]
        reject_unless(
            len({p for both in self.ports for p in both}) == 2 * len(links), "two links are on one port"
        )

    def links_without(self, failed: Element) -> list[Link]:
        """The links that neither fail themselves nor with a device at them or a panel on their way."""
        return [
            x
            for i, x in enumerate(self.links)
            if i not in failed.links and failed.devices.isdisjoint((x.a, x.b, x.via))
        ]

    def closure(self, failed: Iterable[str]) -> Devices:
        """What fails with these devices: all that they contain."""
        out = [*failed]
        for d in out:
            out += self.contents.get(d, ())
        return frozenset(out)

    def named(self, of: Collection[str]) -> dict[str, Devices]:
        """The devices of every element, with all that they contain, by its path; without indices a path names
        all of it."""
        wanted, families = {*of}, {unindexed_path(p) for p in of}
        found: dict[str, list[str]] = defaultdict(list)
        used = set()
        for name, device in self.devices.items():
            for path in enclosing_element_paths(device.path):
                if unindexed_path(path) in families and (chosen := wanted & {path, unindexed_path(path)}):
                    found[path].append(name)
                    used |= chosen
        reject_unless(wanted and used == wanted, "no element, or one that is not in the fabric")
        return {path: self.closure(names) for path, names in found.items()}

    def shortest(self, devices: set[str], net: CertifiedNetwork) -> list[str]:
        """Paths of groups and devices that name these devices and no others (``members``), as few as there
        are."""
        under: dict[str, set[str]] = defaultdict(set)
        for d in (*net.units, *(devices - net.units)):
            for path in enclosing_element_paths(self.devices[d].path):
                for name in (path, unindexed_path(path)):
                    under[name].add(d)
        out: list[str] = []
        left = {*devices}
        for d in (d for d in self.devices if d in devices):
            around = [
                name
                for path in enclosing_element_paths(self.devices[d].path)
                for name in (unindexed_path(path), path)
            ]
            if d in left:
                fit = (
                    name
                    for name in around[:-1]
                    if under[name] <= devices and net.members([name]) == under[name]
                )
                best = next(fit, around[-1])
                out.append(best)
                left -= under[best]
        return out

    def elements(
        self, of: Collection[str], what: str | None = None, to: Collection[str] | None = None
    ) -> dict[str, Element]:
        """What fails with every element, by its name: devices and groups, or the links, ports, cables or
        cages there, which fail with all links that run through them; with ``to`` those of links that join the
        two."""
        if what is None:
            return {path: Element(devices, frozenset()) for path, devices in self.named(of).items()}
        here = self.ports_of(of)
        there = None if to is None else self.ports_of(to)
        rows: dict[str, set[int]] = defaultdict(set)
        same: dict[str, Any] = {}
        chosen = set()
        for i, (x, (one, two)) in enumerate(zip(self.links, self.ports, strict=True)):
            for d, port, other, cage in ((x.a, one, two, x.a_cage), (x.b, two, one, x.b_cage)):
                cables = {f"cable {c}": c for c in (x.cable, x.far_cable) if c}
                cages = {f"{self.devices[d].path} cage {cage}": (d, cage)} if cage else {port: port}
                found: Any = {
                    "links": {f"{one} - {two}": i},
                    "ports": {port: port},
                    "cables": cables,
                    "cages": cages,
                }
                for name, key in found[what].items():
                    reject_unless(same.setdefault(name, key) == key, "two elements have one name")
                    rows[name].add(i)
                chosen |= {*found[what]} if port in here and (there is None or other in there) else set()
        return {name: Element(frozenset(), frozenset(rows[name])) for name in rows if name in chosen}

    def ports_of(self, of: Collection[str]) -> set[str]:
        """The linked ports of devices and groups with all that they contain, or named by their own path."""
        every = {
            p: d
            for x, both in zip(self.links, self.ports, strict=True)
            for p, d in zip(both, (x.a, x.b), strict=True)
        }
        groups = {*of} - every.keys()
        within = (
            {d for devices in self.named(groups).values() for d in devices} if groups or not of else set()
        )
        return {p for p, d in every.items() if p in of or d in within}


class Graph:
    """Nodes by name, the capacity of the arcs between them, and which nodes forward."""

    def __init__(
        self, arcs: Iterable[tuple[str, str, int]], forward: AbstractSet[str], work: WorkSteps
    ) -> None:
        self.forward, self.work = forward, work
        self.capacity: dict[str, dict[str, int]] = defaultdict(dict)
        for a, b, rate in arcs:
            for v, w in ((a, b), (b, a)):
                self.capacity[v][w] = self.capacity[v].get(w, 0) + rate

    def near(self, v: str) -> dict[str, int]:
        """Neighbours of a node and the capacity to each."""
        return self.capacity.get(v, {})

    def arcs(self) -> dict[Arc, int]:
        """The capacity of every arc."""
        return {(v, w): c for v, to in self.capacity.items() for w, c in to.items()}

    def distances(self, source: str, length: Mapping[Arc, int] | None = None) -> dict[str, int]:
        """Lengths of shortest paths to all that is reached, nearest first (Dijkstra 1959); only what forwards
        is passed."""
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

    def route(
        self, source: str, wanted: Mapping[str, int], load: Load, length: Mapping[Arc, int] | None = None
    ) -> None:
        """Add to the load of arcs what a source sends along shortest paths of positive lengths. Every node
        divides what comes by the capacity of the last arcs, rounded down; the first takes the rest."""
        far = self.distances(source, length)
        reject_unless(wanted.keys() <= far.keys(), "a target is not reached")
        amount = defaultdict(int, wanted)
        for v in reversed(far):
            x = amount[v]
            if not x or v == source:
                continue
            by = [
                (u, c)
                for u, c in self.near(v).items()
                if u in far
                and (u in self.forward or u == source)
                and far[u] + (1 if length is None else length[u, v]) == far[v]
            ]
            total = sum(c for _, c in by)
            parts = [x * c // total for _, c in by]
            parts[0] += x - sum(parts)
            for (u, _), part in zip(by, parts, strict=True):
                load[u, v] += part
                amount[u] += part

    def equivalent(self, nodes: Iterable[str]) -> dict[str, str]:
        """For each of these nodes the first with the same neighbours at the same capacities, with which it
        may be exchanged."""
        known: dict[Any, str] = {}
        return {v: known.setdefault((v in self.forward, *sorted(self.near(v).items())), v) for v in nodes}


class CertifiedNetwork(Graph):
    """What is left of a fabric after failures: units, what forwards, and capacities in whole multiples of
    ``grain``. Units are hosts and chips, those with the role of accelerators if there are any, else those
    without a role; chips inside of hosts, where their kind has links, in the place of the hosts; switches, if
    there is no endpoint. After failures an endpoint that lost its last link is none. Switches forward, chips
    if chips are linked to chips in the fabric, and what fabric.json says."""

    def __init__(self, fabric: CertifiedFabric, work: WorkSteps, failed: Element | None = None) -> None:
        devices, gone = fabric.devices, failed or Element(frozenset(), frozenset())
        work.spend(len(devices) + len(fabric.links))
        self.every = fabric.links_without(gone)
        linked = {d for x in self.every for d in (x.a, x.b)}
        # A device that had no link before is still asked about; one that lost its last is no end any more.
        linked_before = {d for x in fabric.links for d in (x.a, x.b)}
        stays = devices.keys() - (linked_before - linked if failed else set())
        units = units_of_devices(devices, linked_before)
        forward = forwarding_devices(fabric, stays, gone.devices)
        self.fabric = fabric
        self.full = Fraction(0)  # what a share is of, in bit/s, once a check has computed it
        self.full_at_cut: int | None = None  # what the smaller side of a bisection's cut can inject
        self.pairs = 1  # demands that a rate is of each
        self.units = {d: None for d in units if d in stays and d not in gone.devices}.keys()
        self.half = len(self.units) // 2
        self.others = {d for d in linked if devices[d].kind in ("host", "chip")} - self.units
        nodes = self.units | forward
        self.links = [x for x in self.every if x.a in nodes and x.b in nodes]
        self.grain = gcd(*(x.rate for x in self.links)) or 1
        super().__init__(((x.a, x.b, x.rate // self.grain) for x in self.links), forward, work)

    def attached(self) -> list[tuple[str, tuple[str, ...]]]:
        """Every port of a unit or another linked endpoint with what it is connected to: a component of
        forwarding devices, by its first device, or a link of two endpoints that forward nothing, by both. A
        forwarding endpoint is one port."""
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

    def ends_at_switches(self) -> dict[str, None]:
        """The forwarding devices that endpoints are linked to, or that are endpoints, in order of the
        fabric."""
        ends = {*self.units, *self.others}
        found = {d for d in ends if d in self.forward}
        for x in self.every:
            found |= {
                b for a, b in ((x.a, x.b), (x.b, x.a)) if a in ends - self.forward and b in self.forward
            }
        return {d: None for d in self.fabric.devices if d in found}

    def injection(self) -> Fraction:
        """The most that the smaller of two halves can inject, however the units are divided, in bit/s."""
        sent = sorted(sum(self.near(u).values()) for u in self.units)
        return min(Fraction(sum(sent[len(sent) - self.half :])), Fraction(sum(sent), 2)) * self.grain

    def shares(self, low: Fraction | int, high: Fraction | int) -> tuple[Fraction, Fraction]:
        """Bounds in bit/s as shares. The upper one of a bisection is of what the cut's smaller side injects:
        1 where that is nothing, since what crosses a split is no more than its smaller side injects."""
        full = self.full * self.pairs
        at_cut = full if self.full_at_cut is None else Fraction(self.full_at_cut)
        return low / full, high / at_cut if at_cut else Fraction(1)

    def injection_of_smaller_side(self, one: AbstractSet[str]) -> int:
        """What the side of a split that injects less can inject, in bit/s; some units are on one side."""
        sent = {u: sum(self.near(u).values()) for u in self.units}
        mine = sum(x for u, x in sent.items() if u in one)
        return min(mine, sum(sent.values()) - mine) * self.grain

    def members(self, of: Collection[str]) -> set[str]:
        """The devices that paths name: of a group the units in it, or all of it where it has none."""
        return {d for devices in self.fabric.named(of).values() for d in (devices & self.units or devices)}

    def orbits(self, symmetries: Any, classes: Mapping[str, str], links: Mapping[Arc, int]) -> dict[str, str]:
        """For every node the first of its orbit under classes and symmetries, verified to keep units,
        forwarding and links."""
        nodes = {v: (v in self.units, v in self.forward) for v in (*self.units, *self.forward)}
        reject_unless_automorphisms(self.work, symmetries or (), nodes, links)
        return lowest_of_orbits(nodes, (classes, *(symmetries or ())))


def units_of_devices(devices: Mapping[str, Device], linked: AbstractSet[str]) -> list[str]:
    """The units of a network in which these devices have links, as ``CertifiedNetwork`` says."""
    ends = {d: f for d, f in devices.items() if f.kind in ("host", "chip")}
    counted = endpoints_not_opened(devices, ends, {devices[d].family for d in linked})
    main = "accelerator" if any(f.role == "accelerator" for f in ends.values()) else ""
    units = [d for d in counted if (ends[d].role or "") == main] or counted
    return units or [d for d, f in devices.items() if f.kind == "switch"]


def endpoints_not_opened(
    devices: Mapping[str, Device], ends: Mapping[str, Device], wired: AbstractSet[str]
) -> list[str]:
    """Of the hosts and chips those that count: chips inside of hosts where their kind is wired, and all
    others but the hosts of such chips."""
    opened = {
        devices[f.inside].family for f in ends.values() if f.inside and f.kind == "chip" and f.family in wired
    }
    return [d for d, f in ends.items() if f.family not in opened and (f.inside is None or f.family in wired)]


def forwarding_devices(
    fabric: CertifiedFabric, stays: Iterable[str], failed: AbstractSet[str]
) -> AbstractSet[str]:
    """What forwards and has not failed, in the order of the fabric: switches; and of what stays chips, if
    chips are linked to chips in the fabric, and what fabric.json says."""
    devices = fabric.devices
    direct = any(devices[x.a].kind == devices[x.b].kind == "chip" for x in fabric.links)
    passing = {d for d in stays if devices[d].forwards or (direct and devices[d].kind == "chip")}
    return {
        d: None for d, f in devices.items() if d not in failed and (f.kind == "switch" or d in passing)
    }.keys()


def reject_unless_automorphisms(
    work: WorkSteps, images: Sequence[Mapping[Any, Any]], kind: Mapping[Any, Any], arcs: Mapping[Any, Any]
) -> None:
    """Reject unless every image, given for the nodes that move, permutes nodes of one kind and keeps the
    labels of all arcs."""
    for image in images:
        work.spend(len(kind) + len(arcs))
        reject_unless(
            image.keys() <= kind.keys() and {*image.values()} == image.keys(),
            "a symmetry is not a permutation",
        )
        reject_unless(
            all(kind[v] == kind[w] for v, w in image.items()), "a symmetry exchanges different nodes"
        )
        moved = ((tuple(image.get(v, v) for v in arc), label) for arc, label in arcs.items())
        reject_unless(all(arcs.get(arc) == label for arc, label in moved), "a symmetry changes the links")


def lowest_of_orbits(items: Iterable[Any], moves: Iterable[Mapping[Any, Any]]) -> dict[Any, Any]:
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


def maximum_flow_by_augmentation(
    capacity: dict[Any, dict[Any, int]], source: Any, target: Any, most: int, work: WorkSteps
) -> int:
    """The flow from source to target, ``most`` at most, by shortest paths (Edmonds and Karp 1972). Changes
    capacity."""
    left = most
    while left > 0:
        by, front = {source: source}, [source]
        for v in front:
            near = capacity.get(v, {})
            work.spend(1 + len(near))
            new = [w for w, c in near.items() if c and w not in by]
            by |= dict.fromkeys(new, v)
            front += new
            if target in by:
                break
        else:
            return most - left
        path = [target]
        while path[-1] != source:
            path.append(by[path[-1]])
        arcs = [(v, w) for w, v in pairwise(path)]
        step = min(left, *(capacity[v][w] for v, w in arcs))
        for v, w in arcs:
            capacity[v][w] -= step
            back = capacity.setdefault(w, {})
            back[v] = back.get(v, 0) + step
        left -= step
    return most


def least_cut(
    net: CertifiedNetwork, links: Mapping[str, Mapping[str, int]], size: Mapping[str, int], bound: int
) -> int:
    """The least of some links that a balanced split of the units cuts, or the bound if that is less. Devices
    take sides in the order of ``size``, so many with equal links as one. The capacity that crosses by then is
    kept for every number of units on one side and the sides of the open devices, those linked to one without
    a side (Bertelè and Brioschi, "Nonserial dynamic programming", 1972). Units that are not among them are on
    any side."""
    most = len(net.units) - net.half
    near = {v: {w: c * n * size[w] for w, c in links[v].items() if c and w in size} for v, n in size.items()}
    done: set[str] = set()

    def with_side_of(v: str, rows: dict[Devices, list[int]]) -> dict[Devices, list[int]]:
        """The capacity that crosses, as above, once this device has a side, too."""
        done.add(v)
        closed = {w for w in (v, *near[v]) if near[w].keys() <= done}
        after: dict[Devices, list[int]] = {}
        for ours, row in rows.items():
            net.work.spend(2 * (len(row) + 1 + len(near[v])))
            for side in ((), (v,)) if len(done) > 1 else ((),):  # sides may be exchanged
                more = sum(c for w, c in near[v].items() if w in done and (w in ours) != bool(side))
                new, none = [x + more for x in row], [bound] * (v in net.units)
                new = [*none, *new][: most + 1] if side else [*new, *none][: most + 1]
                if min(new) < bound:
                    key = ours.union(side) - closed
                    after[key] = list(map(min, after[key], new)) if key in after else new
        return after

    rows: dict[Devices, list[int]] = {frozenset(): [0]}
    for v in size:
        rows = with_side_of(v, rows)
    first = max(net.half - len(net.units - size.keys()), 0)
    return min([bound, *(x for row in rows.values() for x in row[first:])])


def least_balanced_split(net: CertifiedNetwork, order: list[list[str]], least: int) -> int:
    """The least that every balanced split cuts of the links among these devices, which are then used up."""
    names = {d for same in order for d in same}
    reject_unless(len(names) == sum(map(len, order)) and all(order), "an order names a device twice")
    reject_unless(
        net.units <= names <= net.units | net.forward, "an order misses units, or names what does not count"
    )
    links = {d: {w: c for w, c in net.near(d).items() if c} for d in names}
    reject_unless(
        all(len(x) == 1 or (d not in net.units and links[d] == links[x[0]]) for x in order for d in x),
        "devices differ",
    )
    reject_unless(least_cut(net, links, {x[0]: len(x) for x in order}, least) == least, "a split cuts less")
    for v in names:
        net.capacity[v] = {w: c for w, c in net.near(v).items() if w not in names}
    return least


def hub_networks(net: CertifiedNetwork, hubs: list[str], shares: Mapping[str, Mapping[str, Fraction]]) -> int:
    """What crosses every balanced split, shown by networks that share the capacity of all links, one for
    every hub. Each node below the hubs divides what leads to it among the nodes above in shares, so that
    every hub has a part of it; of a link upward the hub's network has the part that the upper node has of the
    hub. A split cuts at least the least of each."""
    inner = net.forward - net.units
    reject_unless(
        {*hubs, *shares} <= inner and not {*hubs} & shares.keys(),
        "a node does not forward, or a hub has shares",
    )
    nodes = nodes_below_hubs(hubs, shares, net.work)
    kinds: dict[Any, list[str]] = defaultdict(list)
    for h in hubs:
        kinds[tuple(nodes[h]), tuple(sorted(net.near(h).items()))].append(h)
    known, total = dict[Any, int](), Fraction(0)
    for (below, _), (h, *others) in kinds.items():
        whole, counted = least_common_multiple(x.denominator for _, x in below), [(h, Fraction(1)), *below]
        links = ((v, w, c, x) for w, x in counted for v, c in net.near(w).items())
        arcs = [
            (v, w, int(c * x * whole)) for v, w, c, x in links if v in net.units or shares.get(v, {}).get(w)
        ]
        net.work.spend(len(arcs))
        tree = Graph(arcs, net.forward, net.work)
        order = order_from_hub_down(tree, h, net.units)
        key = links_in_order(tree, order, net.units)
        if key not in known:
            known[key] = least_cut(net, tree.capacity, order, 1 + sum(c for _, _, c in arcs))
        total += Fraction((1 + len(others)) * known[key], whole)
    return -int(-total // 1)


def nodes_below_hubs(
    hubs: list[str], shares: Mapping[str, Mapping[str, Fraction]], work: WorkSteps
) -> dict[str, list[tuple[str, Fraction]]]:
    """For every hub the nodes below of which it has a part, each with that part."""
    parts: dict[str, dict[str, Fraction]] = {h: {h: Fraction(1)} for h in hubs}

    def part(v: str) -> dict[str, Fraction]:
        """The part that each hub has of a node. A circle ends in a RecursionError, which rejects."""
        if v not in parts:
            reject_unless(sum(shares[v].values()) <= 1, f"the shares of {v} are more than one")
            out: dict[str, Fraction] = defaultdict(Fraction)
            for w, share in shares[v].items():
                work.spend(1 + len(part(w)))
                for h, x in part(w).items():
                    out[h] += share * x
            least_common_multiple(x.denominator for x in out.values())
            parts[v] = out
        return parts[v]

    nodes: dict[str, list[tuple[str, Fraction]]] = {h: [] for h in hubs}
    for v in shares:
        for h, x in part(v).items():
            nodes[h] += [(v, x)] if x else []
    return nodes


def order_from_hub_down(tree: Graph, hub: str, units: Collection[str]) -> dict[str, int]:
    """The order in which ``least_cut`` gives sides in the network of a hub, and how many nodes each
    represents: from the hub down, units as soon as all above them have a side."""
    same = tree.equivalent(v for v in tree.capacity if v not in units)
    size, order, stack = Counter(same.values()), dict[str, int](), [same[hub]] if hub in same else []
    while stack:
        v = stack.pop()
        if v not in order:
            order[v] = size[v]
            stack += [w for w in tree.near(v) if w in size]
            order |= {
                u: 1 for u in tree.near(v) if u in units and all(same[w] in order for w in tree.near(u))
            }
    return order


def links_in_order(tree: Graph, order: Mapping[str, int], units: Collection[str]) -> tuple[Any, ...]:
    """All that ``least_cut`` reads of the network of a hub, without names: for each node in order how many it
    represents, whether it is a unit, and its links."""
    at = {v: i for i, v in enumerate(order)}
    near = ((n, v, sorted((at[w], c) for w, c in tree.near(v).items() if w in at)) for v, n in order.items())
    return tuple((n, v in units, *links) for n, v, links in near)


def bisection_lower_bound_shown(net: CertifiedNetwork, stated: Any) -> int:
    """The lower bound of the bisection that a certificate's proof shows, in grains. Uses up the network."""
    if stated["by"] == "splits":
        return sum(least_balanced_split(net, part["order"], part["least"]) for part in stated["parts"])
    if stated["by"] == "routes":
        return bisection_bound_of_routes(net, stated)
    return bisection_bound_of_shares(net, stated)


def bisection_bound_of_routes(net: CertifiedNetwork, stated: Any) -> int:
    """What crosses every balanced split, in grains, because demands that it separates flow at once."""
    sent, most = traffic_of_uniform_demands(net, stated, stated["hubs"]), len(net.units) - net.half
    apart = sum(n * max(len(wanted) - most, 0) for _, n, wanted in sent.asked)
    pairs = Fraction(apart, 2) if stated["hubs"] else net.half * most  # a link carries to hubs and back
    return -int(-(sent.routed(stated["routes"]) * pairs) // 1)


def bisection_bound_of_shares(net: CertifiedNetwork, stated: Any) -> int:
    """What crosses every balanced split, in grains: what networks of hubs show with the links that are
    restored, less the capacity of these, for no cut has more of them than all."""
    more, inner = stated["restored"] or [], net.forward - net.units
    reject_unless(
        all({a, b} <= inner and a != b and rate % net.grain == 0 for a, b, rate in more), "no link to restore"
    )
    added = [(a, b, int(rate) // net.grain) for a, b, rate in more]
    whole = [*((v, w, c) for (v, w), c in net.arcs().items() if v < w), *added]
    net.capacity = Graph(whole, net.forward, net.work).capacity
    nodes = Counter(v for part in stated["parts"] for v in (*part["hubs"], *part["shares"]))
    reject_unless(max(nodes.values(), default=1) == 1, "two parts share a node")
    found = sum(hub_networks(net, part["hubs"], part["shares"]) for part in stated["parts"])
    return found - sum(c for _, _, c in added)


class Traffic:
    """Demands in a graph, and the proofs of how much of them can flow at once. Arcs between nodes of the same
    classes, or mapped to each other by a symmetry, are an orbit, over which load may be spread evenly,
    ``both`` ways if so. In a ``quotient`` forwarding nodes that are no ``ends`` are classes, too."""

    def __init__(
        self, graph: Graph, proof: Any, classes: dict[str, str], ends: Collection[str], both: bool = False
    ) -> None:
        self.graph, self.work, self.both, self.arcs = graph, graph.work, both, graph.arcs()
        self.classes = (
            classes | graph.equivalent(v for v in graph.forward if v not in ends)
            if proof["quotient"]
            else classes
        )
        key = {(v, w): (self.classes.get(v, v), self.classes.get(w, w)) for v, w in self.arcs}
        moves = (
            {key[v, w]: key[image.get(v, v), image.get(w, w)] for v, w in self.arcs}
            for image in proof["symmetries"] or ()
        )
        same = lowest_of_orbits({*key.values()}, moves)
        self.orbit: dict[Arc, Arc] = {arc: same[key[arc]] for arc in self.arcs}
        self.asked: list[
            tuple[str, int, Mapping[str, int]]
        ] = []  # sources, how many are equivalent, and what one demands
        self.out, self.into = Counter[str](), Counter[str]()
        self.top = Fraction(0)  # what the ports of the busiest end allow

    def lengths(self, stated: Any, least: int) -> dict[Arc, int]:
        """Lengths of arcs, those of an orbit as of the one that is named; those not named have the least."""
        named: dict[Arc, int] = {}
        for a, b, x in stated:
            reject_unless((a, b) in self.arcs, f"{a} and {b} are not linked")
            reject_unless(named.setdefault(self.orbit[a, b], x) == x, "lengths differ in an orbit")
        return {arc: named.get(orbit, least) for arc, orbit in self.orbit.items()}

    def lower(self, stated: Any) -> Fraction:
        """The part of the demands that routings show to flow at once; where none leaves its switch, what the
        ports allow."""
        return min(self.top, self.routed(stated["routes"])) if self.out else self.top

    def upper(self, stated: Any) -> Fraction:
        """The least that the ports, and lengths if there are any, allow: capacity times length over demand
        times distance."""
        length, spent = self.lengths(stated["lengths"], 0), 0
        for s, times, wanted in self.asked if stated["lengths"] else ():
            far = self.graph.distances(s, length)
            reject_unless(wanted.keys() <= far.keys(), "a target is not reached")
            spent += times * sum(x * far[t] for t, x in wanted.items())
        return (
            min(self.top, Fraction(sum(self.arcs[arc] * x for arc, x in length.items()), spent))
            if spent
            else self.top
        )

    def routed(self, routes: list[Any]) -> Fraction:
        """What a convex combination of routings of all demands shows: the least, over orbits, of capacity
        over load."""
        load: Load = Counter()
        made = [
            (route["share"], route["parts"], getattr(self, f"by_{route['by']}")(route, route["parts"]))
            for route in routes
        ]
        whole = least_common_multiple(parts for _, parts, _ in made)
        for share, parts, one in made:
            load.update({arc: x * share * (whole // parts) for arc, x in one.items()})
        reject_unless(any(load.values()), "nothing flows")
        carried, capacity = Counter[Arc](), Counter[Arc]()
        for total, amounts in ((carried, load), (capacity, self.arcs)):
            for (v, w), x in amounts.items():
                total[min(self.orbit[v, w], self.orbit[w, v]) if self.both else self.orbit[v, w]] += x
        parts = whole * sum(share for share, _, _ in made)
        return min(Fraction(capacity[orbit] * parts, x) for orbit, x in carried.items() if x)

    def by_flows(self, route: Any, parts: int) -> Load:
        """The flow of every source on arcs: it is conserved, and brings every target its demand."""
        load: Load = Counter()
        reject_unless(route["flows"].keys() == {s for s, _, _ in self.asked}, "other sources send")
        for source, times, wanted in self.asked:
            over = Counter({source: parts * sum(wanted.values())})
            self.work.spend(len(route["flows"][source]))
            for a, b, amount in route["flows"][source]:
                reject_unless((a, b) in self.arcs, f"{a} and {b} are not linked")
                reject_unless(a == source or a in self.graph.forward, f"{a} does not forward")
                load[a, b] += amount * times
                over[a] -= amount
                over[b] += amount
            reject_unless(
                all(over[v] == parts * wanted.get(v, 0) for v in {**over, **wanted}),
                f"the demand of {source} does not arrive",
            )
        return load

    def by_lengths(self, route: Any, parts: int) -> Load:
        """All demands along shortest paths under positive lengths."""
        length, load = self.lengths(route["lengths"], 1), Counter[Arc]()
        for s, times, wanted in self.asked:
            self.graph.route(s, {t: x * parts * times for t, x in wanted.items()}, load, length)
        return load

    def by_hubs(self, route: Any, parts: int) -> Load:
        """All demands from sources to hubs in shares and on to their targets; paths to hubs are those from
        them, reversed."""
        load, whole = Counter[Arc](), sum(route["hubs"].values())
        reject_unless(parts % max(whole, 1) == 0, "the hubs need other parts")
        for hub, share in route["hubs"].items():
            reject_unless(hub in self.graph.forward and self.out, "a hub does not forward")
            for out, ends in ((True, self.out), (False, self.into)):
                one: Load = Counter()
                self.graph.route(hub, {v: x * parts // whole * share for v, x in ends.items()}, one)
                load.update({(w, v) if out else (v, w): x for (v, w), x in one.items()})
        return load


def traffic_of_listed_demands(
    graph: Graph, proof: Any, units: Collection[str], demands: dict[Arc, int]
) -> Traffic:
    """Traffic of demands that are listed. Units that are linked to one forwarding node only are one with it:
    what they exchange stays below it."""
    sent, got = amounts_sent_and_received(graph, demands)
    reject_unless(
        demands and not proof["symmetries"], "nothing is demanded, or there are symmetries of a list"
    )
    known: dict[str, str] = {}
    near = {v: graph.near(v) for v in units if (v in sent or v in got) and v not in graph.forward}
    place = {
        v: known.setdefault(min(to), v) for v, to in near.items() if len(to) == 1 and min(to) in graph.forward
    }
    arcs = ((place.get(v, v), place.get(w, w), c) for (v, w), c in graph.arcs().items() if v < w)
    out = Traffic(Graph(arcs, graph.forward, graph.work), proof, {}, sent | got)
    out.top = min(Fraction(sum(graph.near(v).values()), max(sent[v], got[v])) for v in sent | got)
    asked: dict[str, Counter[str]] = defaultdict(Counter)
    for (a, b), amount in demands.items():
        s, t = place.get(a, a), place.get(b, b)
        if s != t:
            asked[s][t] += amount
            out.out[s] += amount
            out.into[t] += amount
    out.asked = [(s, 1, wanted) for s, wanted in asked.items()]
    return out


def amounts_sent_and_received(graph: Graph, demands: Mapping[Arc, int]) -> tuple[Counter[str], Counter[str]]:
    """What every source sends and every target receives in all. Raises Rejected for a demand of one that has
    no links, or to itself."""
    sent, got = Counter[str](), Counter[str]()
    for (s, t), amount in demands.items():
        reject_unless(
            s != t and s in graph.capacity and t in graph.capacity,
            "a demand is not between two that have links",
        )
        sent[s] += amount
        got[t] += amount
    return sent, got


def traffic_of_uniform_demands(
    net: CertifiedNetwork, proof: Any, hubs: Mapping[str, int] | None = None
) -> Traffic:
    """Traffic of every unit to every other; or of so many of each hub to all that it reaches. One source of
    each orbit is routed: the average over the symmetries, which are verified, spreads its load."""
    units = dict.fromkeys(net.units, 1)
    reject_unless(len(units) > 1, "there are no two units")
    same = net.equivalent(u for u in units if u not in net.forward and net.units.isdisjoint(net.near(u)))
    out = Traffic(net, proof, same, units, both=True)
    node, sources = net.orbits(proof["symmetries"], out.classes, out.arcs), Counter[str]()
    for v, n in (units if hubs is None else hubs).items():
        reject_unless(v in node, "a hub does not forward")
        sources[node[v]] += n
    reached = {s: {t: 1 for t in net.distances(s) if t in units} if hubs else units for s in sources}
    out.asked = [(s, n, reached[s]) for s, n in sources.items()]
    out.out = out.into = Counter() if hubs else Counter(dict.fromkeys(units, len(units) - 1))
    out.top = Fraction(min(sum(net.near(u).values()) for u in units), len(units) - 1)
    return out


def network_by_rail(net: CertifiedNetwork, every: bool) -> tuple[CertifiedNetwork, dict[Any, str]]:
    """The network in which every rail of a unit is a unit, and its name; with ``every`` each unit must have a
    link."""
    some = {d for x in net.links if x.rail is not None for d in (x.a, x.b)} - net.forward
    links = [x for x in net.links if x.rail is not None or not {x.a, x.b} & some]
    called, out = names_of_unit_rails(net, links), copy(net)
    reject_unless(not every or {u for u, _ in called} == net.units, "a unit has no link")
    out.units = dict.fromkeys(called.values()).keys()
    out.links = [
        x._replace(a=called.get((x.a, x.rail), x.a), b=called.get((x.b, x.rail), x.b)) for x in links
    ]
    out.capacity = Graph(((x.a, x.b, x.rate // net.grain) for x in out.links), net.forward, net.work).capacity
    return out, called


def names_of_unit_rails(net: CertifiedNetwork, links: Iterable[Link]) -> dict[Any, str]:
    """The name of every rail that a unit has a link of, by both; links without a rail leave the unit its
    name."""
    there = {(d, x.rail) for x in links for d in (x.a, x.b) if d not in net.forward}
    rails = (None, *sorted({r for _, r in there if r is not None}))
    return {(u, r): u if r is None else f"{u} rail {r}" for u in net.units for r in rails if (u, r) in there}


def traffic_of_stated_pattern(net: CertifiedNetwork, stated: Any, proof: Any) -> tuple[Traffic, int]:
    """The demands of a pattern among the units, in the order of fabric.json, and what a rate of one of them
    means in bit/s."""
    found = WORDS.fullmatch(stated["pattern"])
    if found is None:
        raise Rejected("there is no such pattern")
    word, rails = found[1], found[0] == "rail_allreduce" or found[3] == " by rail"
    reject_unless(
        not (rails or word == "between") or " " not in "".join(net.fabric.devices),
        "a device has the name of a rail or a set",
    )
    if word == "between":
        return traffic_between_sets(net, stated, proof), 1
    units, ring = [*net.units], word in ("all_to_all", "ring", "rail_allreduce")
    reject_unless(len(units) == stated["units"], "the number of units is another")
    net, called = network_by_rail(net, every=ring) if rails else (net, {(u, None): u for u in units})
    if word == "all_to_all":
        return traffic_of_uniform_demands(net, proof), net.grain
    if ring:
        asked = ring_demands_on_rails(units, called)
    elif word == "file":
        asked = demands_on_common_rails(stated_demands_of_units(stated, units), called)
    else:
        ahead = int(found[2] or 1)
        shifted = {(u, units[(i + ahead) % len(units)]): 1 for i, u in enumerate(units)}
        asked = demands_on_common_rails(shifted, called)
    return traffic_of_listed_demands(net, proof, net.units, asked), net.grain * sum(asked.values())


def traffic_between_sets(net: CertifiedNetwork, stated: Any, proof: Any) -> Traffic:
    """The demand of one set of devices to another, each set as one node."""
    graph = graph_between_sets(net, stated)
    return traffic_of_listed_demands(graph, proof, (), {("all from", "all to"): 1})


def graph_between_sets(net: CertifiedNetwork, stated: Any) -> Graph:
    """What forwards, and each of two sets of devices as one node."""
    here, there = {*(stated["from"] or ())}, {*(stated["to"] or ())}
    known = here | there <= net.fabric.devices.keys()
    reject_unless(here and there and known and not here & there, "a set is empty or unknown, or both overlap")
    named = {d: d for d in net.forward} | dict.fromkeys(here, "all from") | dict.fromkeys(there, "all to")
    ends = ((named[x.a], named[x.b], x.rate) for x in net.every if x.a in named and x.b in named)
    passing = {d: None for d in net.forward if named[d] == d}.keys()
    return Graph((x for x in ends if x[0] != x[1]), passing, net.work)


def ring_demands_on_rails(units: Sequence[str], called: Mapping[Any, str]) -> dict[Arc, int]:
    """A ring on every rail, over the units that have it. ``called`` are the names of the rails of units."""
    asked: dict[Arc, int] = {}
    for r in dict.fromkeys(r for _, r in called):
        ends_of = [called[u, r] for u in units if (u, r) in called]
        if len(ends_of) > 1:
            asked |= dict.fromkeys(zip(ends_of, ends_of[1:] + ends_of[:1], strict=True), 1)
    return asked


def stated_demands_of_units(stated: Any, units: Iterable[str]) -> dict[Arc, int]:
    """The demands that a certificate lists. Raises Rejected for one that is not between units, or twice."""
    demands = {(s, t): amount for s, t, amount in stated["demands"] or ()}
    reject_unless(len(demands) == len(stated["demands"] or ()), "a demand is stated twice")
    reject_unless({d for pair in demands for d in pair} <= {*units}, "a demand is not between units")
    return demands


def demands_on_common_rails(demands: Mapping[Arc, int], called: Mapping[Any, str]) -> dict[Arc, int]:
    """Demands from each rail of a unit to the same of the other, as far as both have it. ``called`` are the
    names of the rails of units."""
    rails = dict.fromkeys(r for _, r in called)
    asked: dict[Arc, int] = {}
    for (s, t), amount in demands.items():
        both = {(called[s, r], called[t, r]): amount for r in rails if (s, r) in called and (t, r) in called}
        reject_unless(both, f"{s} and {t} have no rail in common")
        asked |= both
    return asked


def bounds_of_exact_figure(found: int | Fraction, stated: Any) -> tuple[int | Fraction, int | Fraction]:
    """Both bounds of a figure that was computed; rejects another."""
    reject_unless(found == stated["value"], f"it is {found}")
    return found, found


def verify_throughput_bounds(net: CertifiedNetwork, stated: Any) -> tuple[Fraction, Fraction]:
    """Bounds in bit/s: of all to all on the rate of every ordered pair; else on all demands together, each in
    its proportion."""
    (sent, rate), (priced, _) = (
        traffic_of_stated_pattern(net, stated, stated[end]) for end in ("lower", "upper")
    )
    low, high = rate * sent.lower(stated["lower"]), rate * priced.upper(stated["upper"])
    net.full, net.pairs = (
        rate * sent.top,
        sum(sent.out.values()) if stated["pattern"].startswith("all_to_all") else 1,
    )
    reject_unless(
        stated["lower_bps"] <= low and high <= stated["upper_bps"], f"the proofs show {low} and {high} bit/s"
    )
    return low, high


def verify_bisection_bounds(net: CertifiedNetwork, stated: Any) -> tuple[int, int]:
    """Bounds on the least cut between halves. The network is not used again: a proof restores links, or uses
    them up."""
    units = len(net.units)
    reject_unless(units == stated["units"], "the number of units is another")
    ours = {*stated["cut"]}
    net.full, net.full_at_cut = net.injection(), net.injection_of_smaller_side(ours)
    reject_unless(ours <= net.units | net.forward, "the cut names what does not count")
    cut = sum(c for v in ours for w, c in net.near(v).items() if w not in ours) * net.grain
    reject_unless(abs(2 * len(ours & net.units) - units) <= 1, "the split is not balanced")
    reject_unless(cut == stated["upper_bps"], "other links cross the cut")
    lower = bisection_lower_bound_shown(net, stated["lower"]) * net.grain
    reject_unless(stated["lower_bps"] <= min(lower, cut), f"the proof shows {lower} bit/s")
    return stated["lower_bps"], cut


def verify_reachability(net: CertifiedNetwork, stated: Any) -> tuple[bool, bool]:
    """All units reach each other, and other linked endpoints reach some unit; or two named units do not reach
    each other."""
    hubs: dict[str, set[Any]] = {d: set() for d in (*net.units, *net.others)}
    for d, hub in net.attached():
        hubs[d].add(hub)
    reject_unless(len(net.units) == stated["units"], "the number of units is another")
    if not stated["holds"]:
        a, b = stated["apart"] or ("", "")
        reject_unless(a != b and {a, b} <= net.units, "these are not two units")
        reject_unless(not hubs[a] & hubs[b], f"{a} and {b} reach each other")
        return False, False
    kinds = {frozenset(hubs[u]) for u in net.units}
    net.work.spend(len(kinds) ** 2)
    reject_unless({d for x in net.every for d in (x.a, x.b)} >= net.units, "a unit has no link")
    shared = frozenset.intersection(*kinds) or all(a & b for a, b in combinations(kinds, 2))
    reject_unless(shared and all(kinds), "some units do not reach each other")
    reached = frozenset[Any]().union(*kinds)
    reject_unless(all(hubs[d] & reached for d in net.others), "a manager or storage device reaches no unit")
    return True, True


def verify_hop_distance(net: CertifiedNetwork, stated: Any) -> tuple[int | Fraction, int | Fraction]:
    """The links between forwarding devices on shortest paths between units that reach each other: the most,
    or the mean over ordered pairs of ports of different units. One device of each orbit is a source."""
    count = Graph(((x.a, x.b, 1) for x in net.links), net.forward, net.work).arcs()
    weight, own = Counter[str](), Counter[Arc]()
    for mine in ports_at_forwarding_devices(net, count).values():
        weight.update(mine)
        own.update({(s, d): n * m for s, n in mine.items() for d, m in mine.items()})
    net.work.spend(len(own))
    orbit = net.orbits(stated["symmetries"], {}, count)
    total = pairs = most = 0
    for s, times in Counter(orbit[d] for d in weight).items():
        for d, far in net.distances(s).items():
            number = times * (weight[s] * weight[d] - own[s, d])
            total, pairs, most = total + number * far, pairs + number, max(most, far if weight[d] else 0)
    reject_unless(weight and (pairs or stated["check"] == "diameter"), "no two units reach each other")
    return bounds_of_exact_figure(Fraction(total, pairs) if stated["check"] == "mean_hops" else most, stated)


def ports_at_forwarding_devices(net: CertifiedNetwork, count: Mapping[Arc, int]) -> dict[str, Counter[str]]:
    """For every unit its ports by the forwarding device that they are linked to, of so many links between
    two; a unit that forwards is one port of itself."""
    ports: dict[str, Counter[str]] = {u: Counter([u] * (u in net.forward)) for u in net.units}
    for (u, d), n in count.items():
        if u in ports and u not in net.forward and d in net.forward:
            ports[u][d] += n
    return ports


def verify_disjoint_path_count(net: CertifiedNetwork, stated: Any) -> tuple[int | Fraction, int | Fraction]:
    """The least number of paths between two units that share no link, or no forwarding device between them
    (Menger 1927). Units with the same neighbours may be exchanged, and of each orbit one is compared with all
    others. Where all units forward, pairs with a link are enough, and those with a common neighbour for paths
    that share no device (docs/certificates.md)."""
    nodes, most = stated["check"] == "node_redundancy", int(stated["value"]) + 1
    count = Graph(((x.a, x.b, 1) for x in net.links), net.forward, net.work)
    first = {u: u for u in net.units} | count.equivalent(u for u in net.units if u not in net.forward)
    kinds: dict[Any, list[str]] = defaultdict(list)
    for u, same in first.items():
        kinds[same].append(u)
    units = [u for members in kinds.values() for u in members[:2]]
    reject_unless(len(units) > 1, "there are no two units")
    orbit = net.orbits(stated["symmetries"], first, count.arcs())
    direct = net.units == net.forward and net.units <= net.distances(units[0]).keys()
    found = most
    for u in {orbit[u]: u for u in reversed(units)}.values():
        for v in {*(near_units_of_unit(count, u, nodes) if direct else units)} - {u}:
            net.work.spend(len(net.links))
            found = min(found, disjoint_paths_of_pair(count, u, v, nodes, most))
    return bounds_of_exact_figure(found, stated)


def near_units_of_unit(count: Graph, u: str, nodes: bool) -> set[str]:
    """Where all units forward, those with a link to a unit, and with ``nodes`` those with a common
    neighbour."""
    return {w for v in count.near(u) for w in (v, *(count.near(v) if nodes else ()))}


def disjoint_paths_of_pair(count: Graph, u: str, v: str, nodes: bool, most: int) -> int:
    """The paths between two units, ``most`` at most, that share no link, or with ``nodes`` no forwarding
    device between them. ``count`` has the number of links between two devices."""
    inner = count.forward - {u, v}
    capacity: dict[Any, dict[Any, int]] = {d: {(d,): 1 if nodes else most} for d in inner}  # of a device
    for d in (*inner, u):
        near = {w: 1 if nodes else n for w, n in count.near(d).items() if w in inner or w == v}
        capacity[(d,) if d in inner else d] = near
    return maximum_flow_by_augmentation(capacity, u, v, most, count.work)


def verify_oversubscription(net: CertifiedNetwork, stated: Any) -> tuple[int | Fraction, int | Fraction]:
    """The most capacity below a switch (``at`` paths, or any), planned links included, over that above, by
    tiers as planned."""
    devices = net.fabric.devices
    level = levels_of_devices(devices)
    reject_unless(
        not any(level[d] == 0 and d in net.forward for x in net.fabric.links for d in (x.a, x.b)),
        "the fabric has no tiers",
    )
    below, above = capacities_below_and_above(net.fabric, level)
    tiers = {level[d] for d in above if devices[d].kind == "switch"}
    at = [devices] if stated["at"] is None else net.fabric.named(stated["at"]).values()
    asked = [d for some in at for d in some if devices[d].kind == "switch"]
    reject_unless(
        all(above[d] or not below[d] or level[d] not in tiers for d in asked), "a switch has no link above"
    )
    return bounds_of_exact_figure(max(Fraction(below[d], above[d]) for d in asked if above[d]), stated)


def levels_of_devices(devices: Mapping[str, Device]) -> dict[str, int]:
    """The tier of every device: 0 of hosts and chips, -1 of what has none."""
    return {
        d: 0 if f.kind in ("host", "chip") else -1 if f.tier is None else f.tier for d, f in devices.items()
    }


def capacities_below_and_above(
    fabric: CertifiedFabric, level: Mapping[str, int]
) -> tuple[Counter[str], Counter[str]]:
    """What links of a device carry to lower levels, planned links included, and to higher ones."""
    below, above = Counter[str](), Counter[str]()
    for x in fabric.links:
        low, high = sorted((x.a, x.b), key=level.__getitem__)
        if 0 <= level[low] < level[high]:
            above[low] += x.rate
            below[high] += x.rate
    for d, tier, rate, number in fabric.planned:
        if tier is not None and tier < level[d]:
            below[d] += rate * number
    return below, above


def verify_blast_radius(net: CertifiedNetwork, stated: Any) -> tuple[int | Fraction, int | Fraction]:
    """The most ports of units that the failure of one element leaves without a path to another unit."""
    linked = {d for x in net.every for d in (x.a, x.b)}
    used = Counter(d for d, _ in net.attached() if d in net.units and d in linked)
    found = 0
    for failed in {*net.fabric.elements(stated["of"]).values()}:
        left = CertifiedNetwork(net.fabric, net.work, failed)
        ports = [(d, hub) for d, hub in left.attached() if d in left.units]
        there = {hub: d for d, hub in ports}
        several = {hub for d, hub in ports if d != there[hub]}
        found = max(found, sum((used - Counter(d for d, hub in ports if hub in several)).values()))
    return bounds_of_exact_figure(found, stated)


class GivenDelays:
    """What links and devices take by a certificate, in femtoseconds: fabric.json does not say. What is not
    named among the ``devices`` takes nothing; of the links between two devices the shortest and the longest
    cable is named. Raises Rejected unless all links are named."""

    def __init__(self, net: CertifiedNetwork, given: Any) -> None:
        self.net = net
        self.own: Counter[str] = Counter(given["devices"])
        rows = {frozenset((a, b)): (least, most) for a, b, least, most in given["links"]}
        linked = {frozenset((x.a, x.b)) for x in net.fabric.links}
        reject_unless(
            len(rows) == len(given["links"]) and linked == rows.keys(),
            "delays are of other links, or of one twice",
        )
        reject_unless(self.own.keys() <= net.fabric.devices.keys(), "a delay is of an unknown device")
        reject_unless(
            all(low <= high for low, high in rows.values()), "a delay is at least more than at most"
        )
        self.rows = rows

    def of_arcs(self, place: Mapping[str, str], first: str, most: bool) -> dict[Arc, int]:
        """What a step from a node to another takes, where devices are put in nodes: a cable, the shortest or
        the longest (``most``), and the device that is entered; from the ``first`` node also what is left."""
        out: dict[Arc, int] = {}
        for x in self.net.every:
            for a, b in ((x.a, x.b), (x.b, x.a)):
                if a in place and b in place:
                    arc, cable = (place[a], place[b]), self.rows[frozenset((a, b))][most]
                    took = cable + self.own[b] + (self.own[a] if place[a] == first else 0)
                    out[arc] = (max if most else min)(took, out.get(arc, took))
        return out

    def of_any_path(self) -> int:
        """What a path that passes no device twice takes at most: all forwarding devices with the longest
        cables between them, and two ends. Any routing can be one of such paths: what goes in a circle may
        leave it out."""
        inner, trunks, ends = self.net.forward, list[int](), [0]
        for pair in {frozenset((x.a, x.b)): None for x in self.net.every}:
            most = self.rows[pair][1]
            outer = [d for d in pair if d not in inner]
            if outer:
                ends.append(most + sum(self.own[d] for d in outer))
            else:
                trunks.append(most)
        longest: list[int] = sorted(trunks, reverse=True)[: max(len(inner) - 1, 0)]
        return sum(longest) + sum(self.own[d] for d in inner) + 2 * max(ends)


def least_delays(net: CertifiedNetwork, delays: GivenDelays, source: str) -> dict[str, int]:
    """The least delay from a unit to all others, where every device may hand on what it gets: what forwards
    takes its time, and so do both ends; the inside of any other takes none."""
    place = {d: d for x in net.every for d in (x.a, x.b)}
    every = Graph(((x.a, x.b, 1) for x in net.every), place.keys(), net.work)
    step = delays.of_arcs(place, source, most=False)
    inner = {arc: took - delays.own[arc[1]] * (arc[1] not in net.forward) for arc, took in step.items()}
    return {
        d: far + delays.own[d] * (d not in net.forward) for d, far in every.distances(source, inner).items()
    }


def delay_of_units_apart(who: RankSets, delays: GivenDelays, apart: Any) -> Fraction:
    """The least delay between the two units that are named, in seconds; 0 where none are. Where domains have
    several units there may be a shorter way."""
    if apart is None:
        return Fraction(0)
    places = {who.set_of.get(u, -1) for u in apart}
    reject_unless(apart[0] != apart[1] and len(places) == 1 and -1 not in places, "these are not two units")
    reject_unless(not who.joined, "a domain of several units may have a shorter way")
    return Fraction(least_delays(who.net, delays, apart[0])[apart[1]], SECOND)


def longest_path_of_flow(flow: Sequence[Any], length: Mapping[Arc, int], source: str, target: str) -> int:
    """The length of the longest path along the arcs of a flow. Raises Rejected where they have a circle."""
    after: dict[str, list[str]] = defaultdict(list)
    entering = Counter[str]()
    for a, b, _ in flow:
        after[a].append(b)
        entering[b] += 1
    ready, far = [v for v in after if not entering[v]], Counter[str]()
    for v in ready:
        for w in after.get(v, ()):
            far[w] = max(far[w], far[v] + length[v, w])
            entering[w] -= 1
            ready += [w] * (not entering[w])
    reject_unless(not +entering and far[source] == 0, "a flow goes in a circle")
    return far[target]


def transfer_time_shown(net: CertifiedNetwork, stated: Any) -> tuple[Fraction, Fraction]:
    """What sending so many bits from one set to another takes, in seconds, at least and at most. In T seconds
    no more gets there than (T - d) times what flows, d the least delay (Ford and Fulkerson, "Constructing
    maximal dynamic flows from static flows", 1958); a flow at a constant rate has all there after its longest
    path."""
    reject_unless(not net.fabric.beside, "a layer beside the network could carry more")
    delays, bits = GivenDelays(net, stated["given"]), stated["bits"]
    reject_unless(not (stated["given"]["several"] or stated["given"]["domains"]), "a transfer has no ranks")
    place = {d: d for d in net.forward}
    place |= dict.fromkeys(stated["from"], "all from") | dict.fromkeys(stated["to"], "all to")
    least, most = (delays.of_arcs(place, "all from", longest) for longest in (False, True))
    if stated["each"]:
        reject_unless(stated["lower"] is stated["upper"] is None, "members that send as much have no sum")
        graph = graph_between_sets(net, stated)
        near = Fraction(graph.distances("all from", least)["all to"], SECOND)
        slow, fast = rate_of_each_sender(net, stated), most_of_each_sender(net, stated)
        return bits / fast + near, bits / slow + Fraction(delays.of_any_path(), SECOND)
    reject_unless(stated["lower"] and stated["upper"], "a transfer has a flow and lengths")
    sent, priced = (traffic_between_sets(net, stated, stated[end]) for end in ("lower", "upper"))
    routes = stated["lower"]["routes"]
    reject_unless(len(routes) == 1 and routes[0]["by"] == "flows", "a transfer is shown by one flow")
    slow, fast = sent.lower(stated["lower"]), priced.upper(stated["upper"])
    near = Fraction(priced.graph.distances("all from", least)["all to"], SECOND)
    far = longest_path_of_flow(routes[0]["flows"]["all from"], most, "all from", "all to")
    return bits / fast + near, bits / slow + Fraction(far, SECOND)


def most_of_each_sender(net: CertifiedNetwork, stated: Any) -> Fraction:
    """Bit/s that members of the first set send at most where each sends as much, by a cut: what leaves a side
    is of all members on it, whatever these pass on for others."""
    cut, passing = {*stated["each"]["cut"]}, {*net.forward, *stated["from"], *stated["to"]}
    behind = len(cut.intersection(stated["from"]))
    reject_unless(cut <= passing and behind and cut.isdisjoint(stated["to"]), "a cut has no sender behind it")
    links = [x for x in net.every if x.a in passing and x.b in passing]
    out = sum(x.rate for x in links if (x.a in cut) != (x.b in cut))
    return Fraction(out, behind)


def rate_of_each_sender(net: CertifiedNetwork, stated: Any) -> Fraction:
    """Bit/s that each member of the first set sends by the flow that is stated, in which the second set is
    one node: devices that forward pass on what they get, members do not, and all send as much."""
    here, target = {*stated["from"]}, "all to"
    node = {d: d for d in (*net.forward, *here)} | dict.fromkeys(stated["to"], target)
    room, load, left = Counter[Arc](), Counter[Arc](), defaultdict[str, Fraction](Fraction)
    for x in net.every:
        if x.a in node and x.b in node:
            room[node[x.a], node[x.b]] += x.rate
            room[node[x.b], node[x.a]] += x.rate
    for a, b, rate in stated["each"]["flow"]:
        net.work.spend(1)
        load[a, b] += rate
        left[a], left[b] = left[a] + rate, left[b] - rate
        reject_unless(b not in here and a != target, "a member passes on what others send")
    reject_unless(all(rate <= room[arc] for arc, rate in load.items()), "a flow takes more than a link has")
    reject_unless(not any(left[d] for d in left.keys() - here - {target}), "a flow is not conserved")
    sent = {left[d] for d in here}
    reject_unless(len(sent) == 1 and min(sent) > 0, "members do not send as much as each other")
    return min(sent)


Domain = namedtuple("Domain", "units ranks rate any most delay")


def sets_of_ends(fabric: CertifiedFabric, stated: Iterable[Iterable[str]]) -> list[list[str]]:
    """Sets of hosts and chips, each in the order of the fabric. Raises Rejected for other devices."""
    order = {d: i for i, d in enumerate(fabric.devices)}
    sets = [sorted(one, key=order.__getitem__) for one in stated]
    kinds = {fabric.devices[u].kind for one in sets for u in one}
    reject_unless(kinds <= {"host", "chip"}, "a set is of hosts and chips")
    return sets


def domains_given(given: Iterable[Any], weight: Mapping[str, int]) -> list[Domain]:
    """The domains as they are stated, one for each set of units; ``weight`` has the ranks of each unit."""
    return [
        Domain(units, sum(weight[u] for u in units), x["rate_bps"], x["any"], x["most_bps"], x["delay"])
        for x in given
        for units in x["units"]
    ]


class RankSets:
    """Who does a collective operation: ``sets`` of units, in the order of fabric.json, each for itself and
    all at once; the ranks of every unit; and domains, given as the delays are, in which each rank sends at a
    rate to others of it beside the network and gets as much: to ``any`` of them, or in equal parts to all. A
    rank receives by such links no more than ``most``. Domains have nothing else to do with each other, and
    each is in one set. Ranks of a unit in no domain use any of its ports. ``joined`` if a domain has several
    units. Raises Rejected where an end is inside another device, with which it could exchange what the wiring
    does not show."""

    def __init__(self, net: CertifiedNetwork, stated: Any) -> None:
        given = stated["given"]
        self.sets = [[*net.units]]
        if stated["sets"] is not None:
            self.sets = sets_of_ends(net.fabric, stated["sets"])
            net = network_of_units(net, [u for one in self.sets for u in one])
        self.net, self.set_of = net, {u: k for k, one in enumerate(self.sets) for u in one}
        self.reject_unless_units_stand_alone(stated["units"])
        several = given["several"] or {}
        reject_unless(several.keys() <= self.set_of.keys(), "ranks are of another unit")
        self.weight = {u: several.get(u, given["ranks"]) for u in self.set_of}
        self.total = [sum(self.weight[u] for u in one) for one in self.sets]
        reject_unless(min(self.total, default=0) > 1, "a set has no two ranks")
        self.domains = domains_given(given["domains"] or (), self.weight)
        self.domain_of = {u: one for one in self.domains for u in one.units}
        self.joined = any(len(one.units) > 1 for one in self.domains)
        self.reject_unless_domains_are_of_sets()
        self.reject_unless_domains_are_apart(net.fabric)

    def reject_unless_units_stand_alone(self, units: int) -> None:
        """Reject unless there are so many units, each in one set, and no end is inside a device."""
        count, net = len(self.set_of), self.net
        reject_unless(count == sum(map(len, self.sets)), "a unit is in two sets")
        reject_unless(count == units, "the number of units is another")
        ends = {d for x in net.every for d in (x.a, x.b)} - net.forward
        inside = any(net.fabric.devices[d].inside for d in ends | self.set_of.keys())
        reject_unless(not inside, "a unit is inside of a device")

    def reject_unless_domains_are_of_sets(self) -> None:
        """Reject unless a unit is in one domain at most, and each domain has ranks of one set and a rate."""
        units = sum(len(one.units) for one in self.domains)
        reject_unless(len(self.domain_of) == units, "a unit is in two domains")
        for one in self.domains:
            alone = len({self.set_of[u] for u in one.units}) == 1
            reject_unless(alone and one.rate > 0 and one.ranks > 1, "a domain is of no ranks of a set")

    def reject_unless_domains_are_apart(self, fabric: CertifiedFabric) -> None:
        """Reject unless what the links of a layer beside the network join is in one domain, or one host, and
        has no switch of the network."""
        beside = Graph(((x.a, x.b, 1) for x in fabric.beside), set(), self.net.work)
        beside.forward = beside.capacity.keys()
        label: dict[str, str] = {}
        for d in beside.capacity:
            label |= dict.fromkeys(beside.distances(d), d) if d not in label else {}
        seen: dict[str, set[Any]] = defaultdict(set)
        networked = {d for x in fabric.links for d in (x.a, x.b)}
        for d, component in label.items():
            device = fabric.devices.get(d)
            while device and device.inside:
                d, device = device.inside, fabric.devices[device.inside]
            if device and device.kind in ("host", "chip"):
                domain = self.domain_of.get(d)
                seen[component].add(domain.units[0] if domain else d)
            else:
                reject_unless(d not in networked, "a layer beside the network could carry more")
        apart = all(len(some) == 1 for some in seen.values())
        reject_unless(apart, "a layer beside the network could carry more")

    def ports(self, unit: str) -> int:
        """Bit/s of the ports of a unit."""
        return sum(self.net.near(unit).values()) * self.net.grain

    def share_of(self, unit: str) -> Fraction:
        """Bit/s of the ports of a rank."""
        return Fraction(self.ports(unit), self.weight[unit])

    def members_behind(self, side: AbstractSet[str]) -> list[int]:
        """The ranks of every set that are on a side. Raises Rejected where a domain is on both."""
        out = [0] * len(self.sets)
        for u in self.set_of.keys() & side:
            out[self.set_of[u]] += self.weight[u]
        split = (one for one in self.domains if 0 < len(side & {*one.units}) < len(one.units))
        reject_unless(not any(True for _ in split), "a domain is on both sides")
        return out

    def pass_inside(self, amount: Mapping[str, int], bits: Fraction) -> tuple[Fraction, Fraction]:
        """Seconds that ranks take to get, or add up, so many parts of each unit, which are spread evenly over
        its ranks: in domains, and over the ports of units."""
        inside = over_ports = Fraction(0)
        for u, parts in amount.items():
            domain, w = self.domain_of.get(u), self.weight[u]
            if domain is not None:
                inside = max(inside, Fraction(parts * (domain.ranks - 1), w) * bits / domain.rate)
            elif w > 1:
                reject_unless(
                    self.net.near(u).keys() <= self.net.forward, "a unit has no switch to exchange by"
                )
                over_ports = max(over_ports, parts * (w - 1) * bits / self.ports(u))
        return inside, over_ports

    def delay_inside(self, delays: GivenDelays) -> Fraction:
        """What handing data on in a domain takes at most, or to a switch and back, in seconds."""
        took = [0, *(one.delay for one in self.domains)]
        for u in self.set_of:
            if self.weight[u] > 1 and u not in self.domain_of:
                back = [2 * delays.rows[frozenset((u, v))][1] + delays.own[v] for v in self.net.near(u)]
                took.append(2 * delays.own[u] + max(back, default=0))
        return Fraction(max(took), SECOND)


def network_of_units(net: CertifiedNetwork, units: Iterable[str]) -> CertifiedNetwork:
    """The network between these hosts and chips, without all others."""
    out, devices = copy(net), net.fabric.devices
    out.units, out.others = dict.fromkeys(units).keys(), set()
    gone = {d for d, f in devices.items() if f.kind in ("host", "chip")} - out.units
    out.every = [x for x in net.every if x.a not in gone and x.b not in gone]
    out.forward = {d: None for d in net.forward if d not in gone}.keys()
    nodes = out.units | out.forward
    out.links = [x for x in out.every if x.a in nodes and x.b in nodes]
    return network_of_links(out)


def network_of_links(net: CertifiedNetwork) -> CertifiedNetwork:
    """A network with the capacities of its links."""
    net.grain = gcd(*(x.rate for x in net.links)) or 1
    arcs = ((x.a, x.b, x.rate // net.grain) for x in net.links)
    net.capacity = Graph(arcs, net.forward, net.work).capacity
    return net


def network_that_passes(net: CertifiedNetwork) -> CertifiedNetwork:
    """The network in which every end that could hand on what it gets forwards, too; as it is where none
    could: every end that does not forward has links to one device."""
    near: dict[str, set[str]] = defaultdict(set)
    for x in net.every:
        near[x.a].add(x.b)
        near[x.b].add(x.a)
    if all(len(to) == 1 for d, to in near.items() if d not in net.forward):
        return net
    out = copy(net)
    out.links, out.forward = net.every, dict.fromkeys((*net.forward, *near)).keys()
    return network_of_links(out)


def exchange_time_shown(net: CertifiedNetwork, stated: Any) -> tuple[Fraction, Fraction]:
    """What it takes until every rank has sent an equal part of so many bits to each of its set, itself
    included, in seconds, at least and at most. Lengths bound what any algorithm does where paths pass all
    hosts that could hand on what they get; and what ranks on one side of a cut send to others crosses it."""
    who = RankSets(net, stated)
    delays, bits, n = GivenDelays(who.net, stated["given"]), stated["bits"], max(who.total)
    low = delay_of_units_apart(who, delays, stated["apart"])
    if stated["upper"]:
        reject_unless(not who.joined, "in a domain of several units one could send for another")
        wide = network_that_passes(who.net)
        low = max(low, seconds_of_exchange(who, wide, stated, stated["upper"], upper=True))
    if stated["cut"]:
        side = {*stated["cut"]}
        sent = sum(Fraction(r * (k - r), k) for r, k in zip(who.members_behind(side), who.total, strict=True))
        reject_unless(
            side <= net.fabric.devices.keys() and sent, "a cut has no rank on a side, or unknown devices"
        )
        low = max(low, sent * bits / entering_rate(who.net, side))
    took = seconds_of_exchange(who, who.net, stated, stated["lower"], upper=False)
    own, inside = Fraction(0), took
    for u, w in who.weight.items():
        n = who.total[who.set_of[u]]
        if (domain := who.domain_of.get(u)) is not None:
            equal, other = Fraction(domain.ranks - 1, n) * bits, Fraction(n - domain.ranks, n) * bits
            other += who.share_of(u) * took
            inside = max(inside, (equal + other * (1 if domain.any else 2)) / domain.rate)
        elif w > 1:
            own = max(own, who.pass_inside({u: 1}, Fraction(w * bits, n))[1])
    waits = [Fraction(delays.of_any_path(), SECOND), who.delay_inside(delays)]
    return low, own + inside + (waits[0] + 2 * waits[1] if who.domains else max(waits))


def seconds_of_exchange(
    who: RankSets, net: CertifiedNetwork, stated: Any, proof: Any, upper: bool
) -> Fraction:
    """Seconds that the rates of all pairs take in a network: those of the routes that are stated, or the most
    that lengths allow (``upper``)."""
    weights = {*who.weight.values()}
    if stated["sets"] is None and len(weights) == 1 and not who.joined:
        traffic = traffic_of_uniform_demands(net, proof)
        part = Fraction(stated["bits"] * min(weights) ** 2, who.total[0])
    else:
        whole = least_common_multiple(who.total)
        asked = {
            (a, b): who.weight[a] * who.weight[b] * (whole // who.total[k])
            for k, one in enumerate(who.sets)
            for a in one
            for b in one
            if a != b and (a not in who.domain_of or b not in who.domain_of[a].units)
        }
        net.work.spend(len(asked))
        traffic, part = (
            traffic_of_listed_demands(net, proof, net.units, asked),
            Fraction(stated["bits"], whole),
        )
    return part / (net.grain * (traffic.upper(proof) if upper else traffic.lower(proof)))


def entering_rate(net: CertifiedNetwork, inside: AbstractSet[str]) -> int:
    """Bit/s of the links that lead into a set of devices, or out of it."""
    net.work.spend(len(net.every))
    return sum(x.rate for x in net.every if (x.a in inside) != (x.b in inside))


def collective_floor_shown(who: RankSets, stated: Any) -> Fraction:
    """The least seconds of a collective operation by the cut and the blocks that are stated, 0 without them.
    Of each set that a cut divides each side's sum crosses it; or what one side holds and the other lacks."""
    bits, net, found = stated["bits"], who.net, Fraction(0)
    side = {*(stated["cut"] or ())}
    if side:
        behind = zip(who.members_behind(side), who.total, strict=True)
        parts = [Fraction(r, n) for r, n in behind if 0 < r < n]
        reject_unless(side <= net.fabric.devices.keys(), "a cut has unknown devices")
        reject_unless(parts, "a cut has no unit on a side")
        crossing = max(sum(parts, Fraction(0)), len(parts) - sum(parts, Fraction(0)))
        crossing = Fraction(len(parts)) if stated["check"] == "allreduce" else crossing
        found = crossing * bits / entering_rate(net, side)
    if stated["blocks"]:
        found = max(found, bits * received_by_blocks(who, stated))
    return found


def received_by_blocks(who: RankSets, stated: Any) -> Fraction:
    """Seconds a bit until blocks that all ranks are divided into have received what they need. Of an
    all-reduce h blocks of a set receive 2(h - 1) times the data in all, with every other end that could add
    up (Patarasuk and Yuan, J. Parallel Distrib. Comput. 69, 2009): switches do not add up. Else each gets, or
    of a reduce-scatter sends, what its ranks lack. Of a ``divided`` domain each rank is a block."""
    net, adds = who.net, stated["check"] == "allreduce"
    blocks, divided = [{*block} for block in stated["blocks"]], {*(stated["divided"] or ())}
    every = devices_of_blocks(net, blocks, divided)
    count, lacking, rate = [0] * len(who.sets), Fraction(0), Fraction(0)
    for number, block in enumerate(blocks):
        held = who.members_behind(block)
        reject_unless(any(held), "a block has no unit")
        domain = who.domain_of.get(min(block)) if number in divided else None
        reject_unless(number not in divided or (domain and block == {*domain.units}), "a block is no domain")
        each = domain.ranks if domain else 1
        rate += rate_into_block(net, block, domain)
        for k, (ranks, n) in enumerate(zip(held, who.total, strict=True)):
            count[k] += each * (ranks > 0)
            lacking += each - Fraction(ranks, n) if ranks else 0
    if adds:
        linked = {d for x in net.every for d in (x.a, x.b)} - every
        others = {d for d in linked if net.fabric.devices[d].kind in ("host", "chip")}
        rate += sum(entering_rate(net, {d}) for d in others)
        lacking = Fraction(2 * (sum(count) - len(count)))
    return lacking / rate


def devices_of_blocks(net: CertifiedNetwork, blocks: Sequence[set[str]], divided: set[int]) -> set[str]:
    """The devices in blocks. Raises Rejected unless these have all units, each once, and are two or more with
    those of them that are ``divided``."""
    every = {d for block in blocks for d in block}
    whole = sum(map(len, blocks)) == len(every) and every <= net.fabric.devices.keys()
    reject_unless(whole and net.units <= every and len(blocks) + len(divided) > 1, "blocks are no division")
    reject_unless(divided <= {*range(len(blocks))}, "there is no such block")
    return every


def rate_into_block(net: CertifiedNetwork, block: AbstractSet[str], domain: Domain | None) -> Fraction:
    """Bit/s that lead into a block; of one that is a domain whose ranks are blocks, into each of these."""
    if domain is None:
        return Fraction(entering_rate(net, block))
    wired = sum(entering_rate(net, {u}) for u in block)
    return Fraction(wired + domain.ranks * domain.most)  # malformed where that is not given


Channel = namedtuple("Channel", "sender receiver rate delay load rails")


def channels_of_stage(net: CertifiedNetwork, delays: GivenDelays, stage: Any) -> list[Channel]:
    """The channels of a stage: each sends at the rate of its ways together, and what is sent has arrived by
    the slowest. Ways lead over devices that forward, from a unit to another."""
    out = []
    for channel in stage["channels"]:
        ways, load, rails = channel["ways"], Counter[Arc](), Counter[tuple[Arc, Arc]]()
        reject_unless(ways and all(len(way["devices"]) > 1 for way in ways), "a channel has no way")
        (ends,) = {(way["devices"][0], way["devices"][-1]) for way in ways}
        reject_unless({*ends} <= net.units and ends[0] != ends[1], "a channel is not between two units")
        slowest = 0
        for way in ways:
            devices = way["devices"]
            net.work.spend(len(devices))
            reject_unless({*devices[1:-1]} <= net.forward, "a way passes what does not forward")
            reject_unless(all(b in net.near(a) for a, b in pairwise(devices)), "a way has no link")
            cables = sum(delays.rows[frozenset(pair)][1] for pair in pairwise(devices))
            slowest = max(slowest, cables + sum(delays.own[d] for d in devices))
            for pair in pairwise(devices):
                load[pair] += way["rate_bps"]
            rails[(devices[0], devices[1]), (devices[-1], devices[-2])] += way["rate_bps"]
        rate = sum(way["rate_bps"] for way in ways)
        reject_unless(rate > 0, "a channel has no rate")
        out.append(Channel(*ends, rate, Fraction(slowest, SECOND), load, rails))
    return out


def reject_unless_channels_fit(net: CertifiedNetwork, channels: Iterable[Channel]) -> None:
    """Reject unless the rates of channels that are open at once fit every link, each way."""
    load: dict[Arc, Fraction] = defaultdict(Fraction)
    for channel in channels:
        net.work.spend(len(channel.load))
        for arc, rate in channel.load.items():
            load[arc] += rate
    full = any(rate > net.capacity[a][b] * net.grain for (a, b), rate in load.items())
    reject_unless(not full, "channels take more than a link has")


class HandedOn:
    """Which units of a stage hand data on in their domain: before it leaves, to the ranks at whose ports it
    leaves, and after it has arrived. A rank has the ports of its unit in equal shares. What a unit holds is
    spread evenly over its ranks, so none is handed on where all ports are equal and lead to one switch, or
    where two units with as many ranks use all of their rails evenly, each way of one rail only."""

    def __init__(self, who: RankSets, channels: Iterable[Channel]) -> None:
        self.who, net = who, who.net
        self.rails: dict[Arc, set[Any]] = defaultdict(set)
        rates: dict[str, set[Any]] = defaultdict(set)
        for x in net.links:
            for a, b in ((x.a, x.b), (x.b, x.a)):
                self.rails[a, b].add(x.rail)
                rates[a].add((b, x.rate))
        self.units: set[str] = set()
        for c in channels:
            even = who.weight[c.sender] == who.weight[c.receiver] and self.is_by_rail(c)
            ends = (u for u in (c.sender, c.receiver) if who.weight[u] > 1 and u in who.domain_of)
            self.units |= {u for u in ends if not even and len(rates[u]) > 1}

    def is_by_rail(self, channel: Channel) -> bool:
        """Whether a channel uses all rails of both ends evenly, each with the same rail of the other."""
        used: dict[Any, Fraction] = defaultdict(Fraction)
        for (one, other), rate in channel.rails.items():
            both = self.rails[one] | self.rails[other]
            if len(both) > 1 or None in both:
                return False
            used[min(both)] += rate
        every = [{r for (a, _), some in self.rails.items() if a == u for r in some} for u in channel[:2]]
        ranks = self.who.weight[channel.sender]
        even = len({*used.values()}) == 1 and (len(used) % ranks == 0 or ranks % len(used) == 0)
        return bool(even and every[0] == every[1] == used.keys())

    def time_beside(self, channels: Sequence[Channel], lasting: Sequence[int]) -> Fraction:
        """What handing on takes, before and after a step in which every channel sends for so long: no more
        than the ports of a rank carry in that time."""
        out = Fraction(0)
        for channel, took in zip(channels, lasting, strict=True) if self.units else ():
            for u in self.units.intersection(channel[:2]) if took else ():
                domain = self.who.domain_of[u]
                out = max(out, 2 * took * self.who.share_of(u) * (1 if domain.any else 2) / domain.rate)
        return out


class Holdings:
    """Who has which part of the data of its set, as the units (bits of a number) whose ranks' data is added
    up in it, each unit's parts spread evenly over its ranks. At first each has its own: of an all-gather its
    ranks' shares; else all parts, of which ranks of a domain have added up what each unit keeps: all of it,
    or of several units what ``begin`` says."""

    def __init__(self, stated: Any, who: RankSets, work: WorkSteps) -> None:
        self.parts, self.who, self.work, self.check = stated["parts"], who, work, stated["check"]
        reject_unless(all(self.parts % n == 0 for n in who.total), "the ranks have no equal shares in parts")
        reject_unless(self.parts * len(who.set_of) <= MAX_PARTS, "there are too many parts")
        work.spend(self.parts * len(who.set_of))
        self.full = [(1 << len(one)) - 1 for one in who.sets]
        self.own: dict[str, range] = {}
        self.sums: dict[str, list[int]] = {}
        bit: dict[str, int] = {}
        for one, n in zip(who.sets, who.total, strict=True):
            first = 0
            for i, u in enumerate(one):
                last = first + who.weight[u] * self.parts // n
                self.own[u], first, bit[u] = range(first, last), last, 1 << i
        self.kept = dict.fromkeys(who.set_of, self.parts)  # parts that each has added up in its domain
        for u, k in who.set_of.items():
            if self.check == "all_gather_time":
                self.sums[u] = [self.full[k] * (p in self.own[u]) for p in range(self.parts)]
            else:
                domain = who.domain_of.get(u)
                added = sum(bit[v] for v in domain.units) if domain else bit[u]
                self.sums[u] = [added] * self.parts
        if self.check != "all_gather_time":
            self.divide_begun(stated["begin"] or {})

    def divide_begun(self, begin: Mapping[str, Any]) -> None:
        """Leave each unit of a domain of several what it keeps."""
        shared = {u: one for u, one in self.who.domain_of.items() if len(one.units) > 1}
        reject_unless(begin.keys() == shared.keys(), "others begin with parts of a sum")
        seen: dict[Any, set[int]] = defaultdict(set)
        for u, domain in shared.items():
            mine = {p for first, last in begin[u] for p in range(max(first, 0), min(last + 1, self.parts))}
            reject_unless(seen[domain.units[0]].isdisjoint(mine), "two units keep one part")
            seen[domain.units[0]] |= mine
            self.sums[u] = [x * (p in mine) for p, x in enumerate(self.sums[u])]
            self.kept[u] = len(mine)
        reject_unless(all(len(some) == self.parts for some in seen.values()), "no unit keeps a part")

    def sent(self, sender: str, ranges: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
        """The parts that a send carries, each with what is in it. Raises Rejected where it is nothing."""
        out, mine = [], self.sums[sender]
        for first, last in ranges:
            reject_unless(first <= last < self.parts, "there is no such part")
            self.work.spend(last - first + 1)
            out += [(p, mine[p]) for p in range(first, last + 1)]
        reject_unless(out and all(ranks for _, ranks in out), "a rank sends what it does not have")
        return out

    def take(self, receiver: str, parts: Iterable[tuple[int, int]]) -> list[int]:
        """Add up parts that arrive, or take them in the place of those that they contain; which that changed.
        Raises Rejected where the data of some rank would count twice."""
        mine, changed = self.sums[receiver], list[int]()
        for part, ranks in parts:
            if (had := mine[part]) | ranks != had:
                reject_unless(had & ranks in (0, had), "the data of a rank counts twice")
                mine[part] = had | ranks
                changed.append(part)
        return changed

    def given_inside(self) -> dict[str, int]:
        """The parts that every unit gives others of its domain, and its ranks each other, at the end: each is
        of the unit with least that has it. Raises Rejected unless every domain has all, or of a
        reduce-scatter every unit its shares of it, of all ranks."""
        out: Counter[str] = Counter()
        all_ranks = lcm(*self.who.weight.values())
        for u, k in self.who.set_of.items():
            domain = self.who.domain_of.get(u)
            if self.check == "reduce_scatter_time":
                done = all(self.sums[u][p] == self.full[k] for p in self.own[u])
                reject_unless(done, f"{u} does not end up with all")
            elif domain is None or u == domain.units[0]:
                units = [u] if domain is None else domain.units
                self.work.spend(self.parts * len(units))
                for p in range(self.parts):
                    has = [v for v in units if self.sums[v][p] == self.full[k]]
                    reject_unless(has, f"{u} does not end up with all")
                    out[min(has, key=lambda v: out[v] * (all_ranks // self.who.weight[v]))] += 1
        return out


Replayed = namedtuple("Replayed", "done free busy handed steps passes delay")


def replayed_stage(held: Holdings, channels: Sequence[Channel], steps: Any, bits: Fraction) -> Replayed:
    """A stage that all begin at once, with so many bits in a part. Seconds until everything is where it
    belongs, until all channels are free, and that the busiest sends; of handing on in domains, and how often
    that is done; of the delays of its steps. A channel sends in the order of the steps, once it is free and
    its sender has what was there before the step; where units hand on, once all have."""
    scale = lcm(*(x.denominator for c in channels for x in (bits / c.rate, c.delay)))
    lasts, delays = [int(bits / c.rate * scale) for c in channels], [int(c.delay * scale) for c in channels]
    ready, on = defaultdict[str, dict[int, int]](dict), HandedOn(held.who, channels)  # in 1 / scale seconds
    free, busy, done, delay, handed = [0] * len(channels), [0] * len(channels), 0, 0, Fraction(0)
    for step in steps:
        start, arrived, lasting, slowest = done if on.units else 0, [], [0] * len(channels), 0
        for send in step:
            at, channel = send["channel"], channels[send["channel"]]
            sets = {held.who.set_of[u] for u in channel[:2]}
            reject_unless(len(sets) == 1, "a channel is between two sets")
            parts = held.sent(channel.sender, send["parts"])
            held.work.spend(len(parts) * (scale.bit_length() >> 10))  # long numbers take longer
            took, come = len(parts) * lasts[at], ready[channel.sender]
            free[at] = max(start, free[at], *(come.get(p, 0) for p, _ in parts)) + took
            busy[at], lasting[at], slowest = busy[at] + took, lasting[at] + took, max(slowest, delays[at])
            arrived.append((channel, free[at] + delays[at], parts))
        handed, delay = handed + on.time_beside(channels, lasting), delay + slowest
        for channel, when, parts in arrived:
            done = max(done, when)
            for p in held.take(channel.receiver, parts):
                ready[channel.receiver][p] = max(when, ready[channel.receiver].get(p, when))
    times = (done, max([0, *free]), max([0, *busy]), handed, delay)
    over, last, most, handed, late = (Fraction(x, scale) for x in times)
    return Replayed(over, last, most, handed, len(steps), 2 * len(steps) * bool(on.units), late)


def collective_time_shown(net: CertifiedNetwork, stated: Any) -> tuple[Fraction, Fraction]:
    """What a collective operation takes, in seconds, at least and at most. The schedule that is stated is
    replayed for one of ``chunks`` equal chunks, its stages one after the other, with what ranks of a unit or
    domain exchange before and after."""
    who = RankSets(net, stated)
    delays, held = GivenDelays(who.net, stated["given"]), Holdings(stated, who, net.work)
    chunks = stated["chunks"]
    bits = Fraction(stated["bits"], chunks * stated["parts"])
    first = last = Fraction(0), Fraction(0)
    if stated["check"] != "all_gather_time":
        first = who.pass_inside(held.kept, bits)
    stages, every = list[Replayed](), list[Channel]()
    for stage in stated["stages"]:
        channels = channels_of_stage(who.net, delays, stage)
        every += channels
        if chunks == 1:
            reject_unless_channels_fit(who.net, channels)
        stages.append(replayed_stage(held, channels, stage["steps"], bits))
    if chunks > 1:
        reject_unless_channels_fit(who.net, every)
    last = who.pass_inside(held.given_inside(), bits)
    inside, over_ports = (sum((x[i] for x in (first, last)), Fraction(0)) for i in (0, 1))
    passes, wait = sum(any(x) for x in (first, last)), who.delay_inside(delays)
    most = time_of_chunks(stages, chunks, inside, over_ports, passes, wait)
    least = max(collective_floor_shown(who, stated), delay_of_units_apart(who, delays, stated["apart"]))
    return least, most


def time_of_chunks(
    stages: Sequence[Replayed],
    chunks: int,
    inside: Fraction,
    over_ports: Fraction,
    passes: int,
    wait: Fraction,
) -> Fraction:
    """Seconds that chunks take, of which each is so long in domains and on the ports of units before and
    after all stages, in so many passes with a delay each.

    One chunk goes through all in turn. Of several, stage k takes the next one once its channels are free, if
    none hands on: the last is through after all stages once, and the longest for each other chunk. Or each
    step and pass has a constant part of what it uses, so that it takes as long as the busiest channel, the
    ports or the domains in all: then every chunk is a step further whenever that time is over."""
    handed = sum((x.handed for x in stages), inside)
    passes += sum(x.passes for x in stages)
    done, delay = (sum((x[i] for x in stages), passes * wait) for i in (0, 6))
    if chunks == 1:
        return done + handed + over_ports
    period = max(max((x.busy for x in stages), default=Fraction(0)) + over_ports, handed)
    found: Fraction = (chunks - 1 + sum(x.steps for x in stages) + passes) * period + delay
    if not handed and not over_ports:
        found = min(found, done + (chunks - 1) * max((x.free for x in stages), default=Fraction(0)))
    return found


SECOND = 10**15  # femtoseconds
TIMES: dict[str, Callable[[CertifiedNetwork, Any], tuple[Fraction, Fraction]]] = {
    "transfer": transfer_time_shown,
    "all_to_all_time": exchange_time_shown,
} | dict.fromkeys(("allreduce", "all_gather_time", "reduce_scatter_time"), collective_time_shown)


def verify_time(net: CertifiedNetwork, stated: Any) -> tuple[Fraction, Fraction]:
    """The least and the greatest time that a certificate states, in seconds."""
    low, high = TIMES[stated["check"]](net, stated)
    shown = stated["at_least"] <= low and high <= stated["at_most"]
    reject_unless(shown, f"the proofs show {low} and {high} seconds")
    return stated["at_least"], stated["at_most"]


def verify_order_of_channels(net: CertifiedNetwork, stated: Any) -> None:
    """Along an order of all channels (a direction of the links between two forwarding devices) every turn of
    a route ascends, and all devices with endpoints that links join have a route to each other. The routes are
    computed here: shortest paths; one index after the other; or all that go up and then down."""
    inner = [(x.a, x.b) for x in net.every if x.a in net.forward and x.b in net.forward]
    place = {(a, b): i for i, (a, b) in enumerate(stated["order"])}
    channels = {*inner, *((b, a) for a, b in inner)}
    whole = place.keys() == channels and len(place) == len(stated["order"])
    reject_unless(whole, "the order is not of all channels")
    graph = Graph(((a, b, 1) for a, b in inner), net.forward, net.work)
    ends = net.ends_at_switches()
    if stated["under"] in ("updn", "ftree"):
        reject_unless_up_and_down(net, graph, ends, place, stated["under"] == "ftree")
        return
    at = grid_coordinates(net, graph) if stated["under"] == "dor" else None
    for target in ends:
        onward = shortest_next(graph, target) if at is None else next_in_grid(graph, at, target)
        reject_unless_turns_ascend(graph, onward, (d for d in ends if d != target), target, place)


def shortest_next(graph: Graph, target: str) -> dict[str, list[str]]:
    """By which neighbours every node reaches a target on shortest paths."""
    far = graph.distances(target)
    return {v: [w for w in graph.near(v) if far[w] == at - 1] for v, at in far.items()}


def grid_coordinates(net: CertifiedNetwork, graph: Graph) -> dict[str, tuple[int, ...]]:
    """The indices in the paths of forwarding devices that are linked to each other, which must be of one
    declaration and differ in one index over each link."""
    linked = [d for d in net.fabric.devices if graph.near(d)]
    reject_unless(len({net.fabric.devices[d].family for d in linked}) == 1, "the switches are no grid")
    at = {
        d: tuple(
            int(i)
            for part in re.findall(r"\[([^\]]*)\]", net.fabric.devices[d].path)
            for i in part.split(",")
        )
        for d in linked
    }
    one = all(sum(x != y for x, y in zip(at[a], at[b], strict=True)) == 1 for a, b in graph.arcs())
    reject_unless(one, "a link joins devices that differ in more than one index")
    return at


def next_in_grid(graph: Graph, at: Mapping[str, tuple[int, ...]], target: str) -> dict[str, list[str]]:
    """By which neighbours every node reaches a target if the first index that differs is changed first, by as
    few links as that takes."""
    out: dict[str, list[str]] = {target: []}
    goal = at.get(target, ())
    for k in range(len(goal)):
        # along index k, links from the nodes that agree with the target in the indices up to it
        far = {v: 0 for v, x in at.items() if x[: k + 1] == goal[: k + 1]}
        front = [*far]
        for v in front:
            graph.work.spend(1 + len(graph.near(v)))
            line = [w for w in graph.near(v) if at[w][:k] + at[w][k + 1 :] == at[v][:k] + at[v][k + 1 :]]
            if far[v]:
                out[v] = [w for w in line if far.get(w) == far[v] - 1]
            for w in line:
                if w not in far:
                    far[w] = far[v] + 1
                    front.append(w)
    return out


def reject_unless_turns_ascend(
    graph: Graph,
    onward: Mapping[str, list[str]],
    sources: Iterable[str],
    target: str,
    place: Mapping[Arc, int],
) -> None:
    """Reject unless the routes to a target from what is linked to it exist and ascend at every turn."""
    joined = graph.distances(target)
    front = [s for s in sources if s in joined]
    reject_unless(all(onward.get(s) for s in front), "two devices with endpoints have no route")
    latest: dict[str, int] = {}  # the highest place of a channel by which routes enter a node
    seen = {*front}
    for v in front:
        graph.work.spend(1 + len(onward[v]))
        for w in onward[v]:
            latest[w] = max(latest.get(w, -1), place[v, w])
            if w not in seen:
                seen.add(w)
                front.append(w)
    for v in front:
        if v in latest and v != target:
            reject_unless(min(place[v, w] for w in onward[v]) > latest[v], "a route turns against the order")


def reject_unless_up_and_down(
    net: CertifiedNetwork, graph: Graph, ends: Collection[str], place: Mapping[Arc, int], tree: bool
) -> None:
    """Reject unless all turns but those from a channel down to one up ascend, and devices with endpoints
    reach each other without such a turn. Up is nearer to the roots, or to what is first in the fabric."""
    nodes = [d for d in net.fabric.devices if d in net.forward and (graph.near(d) or d in ends)]
    tier = {d: net.fabric.devices[d].tier or 0 for d in nodes}
    layered = are_tiers_layers(graph, tier)
    reject_unless(layered or not tree, "a link does not join one tier to the next")
    rank = ranks_from_roots(graph, tier, layered)
    order = sorted(nodes, key=rank.__getitem__)
    height = {d: -i for i, d in enumerate(order)}
    above = {v: {w for w in graph.near(v) if height[w] > height[v]} for v in nodes}
    for v in reversed(order):
        graph.work.spend(1 + len(graph.near(v)))
        reject_unless_turns_at_node_ascend(v, above[v], {*graph.near(v)} - above[v], place)
    bit = {d: 1 << i for i, d in enumerate(ends)}
    reached, joined = ends_reached_up_and_down(order, above, bit), ends_joined_by_links(graph, nodes, bit)
    reject_unless(all(joined[d] & ~reached[d] == 0 for d in bit), "two devices with endpoints have no route")


def are_tiers_layers(graph: Graph, tier: Mapping[str, int]) -> bool:
    """Whether every node has a tier, and every link joins one tier to the next."""
    return all(abs(tier[a] - tier[b]) == 1 for a, b in graph.arcs()) and all(t >= 1 for t in tier.values())


def ranks_from_roots(graph: Graph, tier: Mapping[str, int], layered: bool) -> dict[str, int]:
    """Links from the roots to every node of ``tier``, whose order is that of the fabric. The roots of what
    links join are its nodes of the highest tier, or the first of these where tiers are no layers."""
    row = {d: i for i, d in enumerate(tier)}
    rank: dict[str, int] = {}
    for start in tier:
        if start not in rank:
            part = graph.distances(start)
            top = max(tier[d] for d in part)
            roots = sorted((d for d in part if tier[d] == top), key=row.__getitem__)
            level = roots if layered else roots[:1]
            rank |= dict.fromkeys(level, 0)
            for v in level:
                for w in graph.near(v):
                    if w not in rank:
                        rank[w] = rank[v] + 1
                        level.append(w)
    return rank


def reject_unless_turns_at_node_ascend(
    node: str, ups: AbstractSet[str], downs: AbstractSet[str], place: Mapping[Arc, int]
) -> None:
    """Reject unless the turns at a node ascend between its neighbours above and below, but for those of
    routes that came down and go up."""
    risen = max((place[w, node] for w in downs), default=-1)  # entered by a channel up
    fallen = max((place[w, node] for w in ups), default=-1)
    least_up = min((place[node, w] for w in ups), default=len(place))
    least_down = min((place[node, w] for w in downs), default=len(place))
    ascend = risen < least_up and max(risen, fallen) < least_down
    reject_unless(ascend, "a route turns against the order")


def ends_reached_up_and_down(
    order: Sequence[str], above: Mapping[str, AbstractSet[str]], bit: Mapping[str, int]
) -> dict[str, int]:
    """The bits of the ends that every node reaches up and then down; ``order`` has the highest first."""
    reached = {d: bit.get(d, 0) for d in order}
    for v in reversed(order):
        for w in above[v]:
            reached[w] |= reached[v]  # down alone, till all below are in
    for v in order:
        for w in above[v]:
            reached[v] |= reached[w]
    return reached


def ends_joined_by_links(graph: Graph, nodes: Collection[str], bit: Mapping[str, int]) -> dict[str, int]:
    """The bits of the ends that links join to every node, by whatever way."""
    joined: dict[str, int] = {}
    for start in nodes:
        if start not in joined:
            part = graph.distances(start)
            joined |= dict.fromkeys(part, sum(bit.get(d, 0) for d in part))
    return joined


def verify_survival(net: CertifiedNetwork, stated: Any) -> None:
    """Every set of COUNT elements is a case, or the image of one under symmetries; the condition holds in
    every case. Symmetries keep all that conditions read: declarations, kinds, roles, models, containment, and
    links with their rates and panels. Single links between the same devices with the same rate and panel are
    of one kind."""
    fabric, count, images = net.fabric, stated["count"], stated["symmetries"]
    named = fabric.elements(stated["of"], stated["what"], stated["to"])
    copies = Counter(named.values())  # both ports of a link are one element: then fewer than COUNT may fail
    elements = [*copies]
    reject_unless(len(named) >= count, "fewer elements than fail")
    several = len({*copies.values()}) > 1 or any(len(e.links) > 1 for e in elements)
    reject_unless(not several or not images, "a symmetry of sets of links")
    condition, shown = stated["condition"], set()
    sides = {end: net.members(condition[end]) for end in SIDES if end in condition}
    reject_unless_symmetries_of_fabric(net, images, sides)
    kind, moves = kinds_of_elements(fabric, elements, images, several)
    net.work.spend(sum(comb(len(elements), size) for size in range(1, count + 1)) * (1 + len(moves)))
    sets = kinds_of_failing_sets(copies, count, kind)
    orbit = lowest_of_orbits(sets, ({c: tuple(sorted(move[i] for i in c)) for c in sets} for move in moves))
    for case in stated["cases"]:
        failed = [named[name] for name in case["failed"]]
        key = tuple(sorted(kind[e] for e in failed))
        reject_unless(len({*failed}) == len(failed) and key in sets, "a case is of others")
        shown.add(orbit[key])
        reject_unless_condition_holds(net, condition, sides, element_of_all(failed), case["left"])
    reject_unless({*orbit.values()} <= shown, "a failure is not covered")


def reject_unless_symmetries_of_fabric(
    net: CertifiedNetwork, images: Sequence[Mapping[str, str]], sides: Mapping[str, AbstractSet[str]]
) -> None:
    """Reject unless every image keeps all that conditions after failures read of the fabric, and each of
    these sets of devices."""
    fabric = net.fabric
    arcs: dict[Any, Any] = {(d, f.inside): [] for d, f in fabric.devices.items()}
    for x in fabric.links:
        for arc in ((x.a, x.b, x.via), (x.b, x.a, x.via)):
            arcs[arc] = sorted((*arcs.get(arc, ()), x.rate))
    kinds = {d: (f.kind, f.role, f.model, f.forwards, f.family) for d, f in fabric.devices.items()}
    reject_unless_automorphisms(
        net.work, images, {d: (*k, *(d in side for side in sides.values())) for d, k in kinds.items()}, arcs
    )


def kinds_of_elements(
    fabric: CertifiedFabric, elements: Sequence[Element], images: Sequence[Mapping[str, str]], several: bool
) -> tuple[dict[Element, int], list[dict[int, int]]]:
    """The kind of every element, and for every image to which kind it moves each. Where elements are
    ``several`` links each is a kind of its own. Raises Rejected where an image is of no element, or of a kind
    of which there are more or fewer."""

    def mark(element: Element, image: Mapping[Any, Any]) -> Any:
        """What an element, or its image, is known by."""
        links = [fabric.links[i] for i in element.links]
        ends = [
            (*sorted(image.get(d, d) for d in (x.a, x.b)), x.rate, image.get(x.via, x.via)) for x in links
        ]
        return element if several else (frozenset(image.get(d, d) for d in element.devices), *ends)

    number: dict[Any, int] = {}
    kind = {e: number.setdefault(mark(e, {}), len(number)) for e in elements}
    amount = Counter(kind.values())
    moves = [{kind[e]: number.get(mark(e, image), -1) for e in elements} for image in images]
    kept = all(amount[k] == amount[i] for move in moves for k, i in move.items())
    reject_unless(kept, "a symmetry leads out of the elements")
    return kind, moves


def element_of_all(elements: Iterable[Element]) -> Element:
    """These elements as one: all that fails with any of them."""
    return Element(*(frozenset[Any]().union(*parts) for parts in zip(*elements, strict=True)))


def kinds_of_failing_sets(
    copies: Mapping[Element, int], count: int, kind: Mapping[Element, int]
) -> set[tuple[int, ...]]:
    """The kinds of the elements of every set that fails: as many as COUNT with their copies."""
    chosen = (
        c
        for size in range(1, count + 1)
        for c in combinations(copies, size)
        if sum(copies[e] for e in c) >= count
    )
    return {tuple(sorted(kind[e] for e in c)) for c in chosen}


def reject_unless_condition_holds(
    net: CertifiedNetwork, condition: Any, sides: Mapping[str, set[str]], lost: Element, left: Any
) -> None:
    """Reject unless the certificate of what is left after a failure is right and shows the condition, which
    is about these sides, if there are any."""
    after = CertifiedNetwork(net.fabric, net.work, lost)
    reject_unless(left["check"] == condition["check"], "a case is about something else")
    reject_unless(sides or len(after.units) > 1, "a case leaves no pair")
    left |= {"pattern": "between"} | {
        end: side - lost.devices - (net.units - after.units) for end, side in sides.items()
    }
    bound, share = condition.get("value", 1), condition.get("share")
    reject_unless(
        not share or left["check"] == "bisection" or (sides and share == "left"),
        "there is no share of such a figure",
    )
    if share and sides:  # of what the ports of the smaller side carry
        bound *= traffic_of_stated_pattern(after, left, left["lower"])[0].top
    elif share == "intact":  # of what half of the units can inject
        bound *= net.injection()
    low, high = CHECKS[left["check"]](after, left)
    if share == "left" and not sides:
        reject_unless(after.full > 0, "half of the units have no link")
        low, high = after.shares(low, high)
    reject_unless(comparison_follows(condition.get("op", ">="), bound, low, high), "a case fails")


CHECKS: dict[str, Callable[[CertifiedNetwork, Any], Any]] = {
    "reachability": verify_reachability,
    "diameter": verify_hop_distance,
    "mean_hops": verify_hop_distance,
    "oversubscription": verify_oversubscription,
    "edge_redundancy": verify_disjoint_path_count,
    "node_redundancy": verify_disjoint_path_count,
    "blast_radius": verify_blast_radius,
    "bisection": verify_bisection_bounds,
    "throughput": verify_throughput_bounds,
    "survives": verify_survival,
    "deadlock_free": verify_order_of_channels,
} | dict.fromkeys(TIMES, verify_time)


# ---------------------------------------------------------------- what is proved, and what is expected

UNITS = {"bps": 1, "Kbps": 10**3, "Mbps": 10**6, "Gbps": 10**9, "Tbps": 10**12, "Pbps": 10**15}
EXPECTED = re.compile(
    r"(?P<survives>survives any (?P<count>[0-9]{1,9})(?: (?P<what>links|ports|cables|cages))? of "
    r"(?P<of>.+?)(?: to (?P<to>.+?))?"
    r"(?: with (?P<given>.+))?)"
    r"|(?P<check>[a-z_]+)(?: (?P<pattern>(?!(?:of|at|under) )[a-z_]+(?: [0-9a-f]+)?(?: by rail| through "
    r"scaleup)?))?"
    r"(?: of (?P<a>.+?)(?: to (?P<b>.+?))?)?(?: at (?P<at>.+?))?"
    r"(?: under (?P<under>[a-z_]{1,20}))?"
    r"(?: ?(?P<op>>=|<=|==|>|<) ?(?P<value>[0-9.:/]{1,60})(?P<unit>%|[KMGTP]?bps)?(?P<intact> of intact)?)?"
)
PARTS = re.compile(r"\.(?![^\[]*\])")
SIZES = {f"{name}B": 8 * 1000**power for power, name in enumerate(("", "k", "M", "G", "T", "P", "E"))} | {
    f"{name}iB": 8 * 1024**power for power, name in enumerate("KMGT", 1)
}
SECONDS = {"s": Fraction(1), "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9)}
EXPECTED_TIME = re.compile(
    r"(?P<check>transfer|allreduce|[a-z_]{1,20}_time) "
    r"(?P<size>[0-9]{1,30}(?:\.[0-9]{1,30})?)(?P<bytes>[kKMGTPE]?i?B)(?P<each> each)?"
    r"(?: of (?!all )(?P<a>.+?) to (?P<b>.+?)| of all (?P<all>.+?)| among (?P<sets>.+?))?"
    r"(?: given (?P<given>[0-9a-f]{16}))?"
    r" ?(?P<op>>=|<=|==|>|<) ?(?P<value>[0-9]{1,30}(?:\.[0-9]{1,30})?)(?P<unit>s|ms|us|ns)"
)


def comparison_follows(op: str, value: Any, low: Any, high: Any) -> bool:
    """Whether every figure from low to high satisfies a comparison."""
    true = {
        ">=": low >= value,
        ">": low > value,
        "<=": high <= value,
        "<": high < value,
        "==": low == high == value,
    }
    return bool(true[op])


def paths_matching_text(fabric: CertifiedFabric, text: str) -> list[str]:
    """The paths of devices and groups that a list of paths names, in which an index is a number, a..b, * or
    left out. Paths that name nothing, of ports, say, stay as they are."""
    every = {
        path: PARTS.split(path) for d in fabric.devices.values() for path in enclosing_element_paths(d.path)
    }

    def fits(wanted: str, part: str) -> bool:
        if "[" not in wanted:
            return unindexed_path(part) == wanted
        asked, given = (x[:-1].partition("[") for x in (wanted, part))
        indices = [x.strip() for x in asked[2].split(",")], [x.strip() for x in given[2].split(",")]
        spans = [re.fullmatch(r"(-?\d{1,6})\.\.(-?\d{1,6})", x) for x in indices[0]]
        return (
            asked[0] == given[0]
            and len(indices[0]) == len(indices[1])
            and all(
                x in ("*", y) or (span is not None and y in map(str, range(int(span[1]), int(span[2]) + 1)))
                for x, y, span in zip(*indices, spans, strict=True)
            )
        )

    out: list[str] = []
    for wanted in (x.strip() for x in re.split(r",(?![^\[]*\])", text)):
        names = PARTS.split(wanted)
        found = [p for p, parts in every.items() if len(parts) == len(names) and all(map(fits, names, parts))]
        out += found or [wanted]
    return out


class CertifiedStatement:
    """What a certificate proves: ``check`` of ``subject`` is from ``low`` to ``high``; of a share in bit/s,
    where 100% are ``full``. What differs in its subject says nothing of another."""

    def __init__(self, stated: Any, net: CertifiedNetwork, bounds: Any) -> None:
        self.stated, self.net, self.check = stated, net, stated["check"]
        if self.check == "throughput":  # what is stated may be less than what the proofs show
            bounds = stated["lower_bps"], stated["upper_bps"]
        self.low, self.high = (x * net.pairs for x in bounds or (0, 0))
        self.full = net.full * net.pairs
        self.words = self.text()

    def subject(self) -> Any:
        """What the figure is of, as sets of devices and links."""
        stated, fabric = self.stated, self.net.fabric
        if self.check == "survives":
            return stated["count"], fabric.elements(stated["of"], stated["what"], stated["to"])
        if self.check == "throughput" and stated["pattern"] == "between":
            return [{*stated[end]} for end in SIDES]
        of = stated.get("of") or stated.get("at")
        return fabric.named(of) if of else self.pattern()

    def pattern(self) -> str:
        """The pattern of a throughput, with a digest of demands that are listed."""
        stated = self.stated
        if self.check != "throughput" or "file" not in stated["pattern"]:
            return str(stated["pattern"]) if self.check == "throughput" else ""
        rows = json.dumps(sorted(stated["demands"]), separators=(",", ":"))
        return str(stated["pattern"]).replace("file", f"file {sha256(rows.encode()).hexdigest()[:16]}")

    def meets(self, text: str) -> bool | None:
        """Whether a requirement follows; None where it is about something else. Raises Unreadable for what is
        none."""
        timed = EXPECTED_TIME.fullmatch(text.strip())
        asked = EXPECTED.fullmatch(text.strip())
        if timed is None and asked is None:
            raise InputUnreadable(f"`{text}` is no requirement such as `bisection >= 100%`")
        if asked is None or timed is not None or self.check in TIMES:
            return None if timed is None else self.meets_time(timed)
        try:
            if asked["survives"]:
                return self.meets_survival(asked)
            if not self.is_about(asked):
                return None
        except Rejected as why:
            raise InputUnreadable(f"`{text}`: {why}") from None
        return self.figure_satisfies(asked)

    def figure_satisfies(self, asked: re.Match[str]) -> bool:
        """Whether all that the figure can be satisfies a requirement about it."""
        if self.check in YES_OR_NO or not asked["op"]:
            return self.check in YES_OR_NO and not asked["op"] and bool(self.stated.get("holds", True))
        scale, value = requirement_amount(asked)
        flowing = self.check in FLOWING
        if asked["intact"] or (scale and not flowing) or (flowing and scale != "bps" and not self.full):
            return False
        if flowing and scale != "bps":
            return comparison_follows(asked["op"], value, *self.net.shares(self.low, self.high))
        return comparison_follows(asked["op"], value, self.low, self.high)

    def meets_time(self, asked: re.Match[str]) -> bool | None:
        """Whether a requirement of a time follows; None where it is about something else. It names what is
        given by the digest that the statement has, or follows whatever delays are."""
        stated, fabric = self.stated, self.net.fabric
        if self.check != asked["check"] or bool(asked["a"]) is not (self.check == "transfer"):
            return None
        bits = Fraction(asked["size"]) * SIZES.get(asked["bytes"], 0)
        sides = [self.net.members(paths_matching_text(fabric, asked[x])) for x in "ab" if asked[x]]
        if bits != stated["bits"] or sides != [{*stated[end]} for end in SIDES if asked["a"]]:
            return None
        if bool(asked["each"]) is not bool(stated.get("each")) or not self.is_of_sets(asked):
            return None
        if asked["given"] != self.given():
            return False
        value = Fraction(asked["value"]) * SECONDS[asked["unit"]]
        return comparison_follows(asked["op"], value, self.low, self.high)

    def is_of_sets(self, asked: re.Match[str]) -> bool:
        """Whether a requirement of a time is about the sets that are stated: those of a path are one set, and
        each group that a path names is one."""
        fabric, stated = self.net.fabric, self.stated.get("sets")
        if not asked["all"] and not asked["sets"]:
            return stated is None
        if asked["all"]:
            wanted = [self.net.members(paths_matching_text(fabric, asked["all"]))]
            return stated is not None and [{*one} for one in stated] == wanted
        devices, named = {d.path for d in fabric.devices.values()}, list[frozenset[str]]()
        for text in re.split(r",(?![^\[]*\])", asked["sets"]):
            paths = paths_matching_text(fabric, text)
            each = [paths] if devices >= {*paths} else [[path] for path in paths]
            named += [frozenset(self.net.members(some)) for some in each]
        return len(named) == len(stated or ()) and {frozenset(one) for one in stated or ()} == {*named}

    def given(self) -> str:
        """A digest of what a certificate of a time gives and fabric.json does not have."""
        given = self.stated["given"]
        rows = sorted([*sorted((a, b)), *delays] for a, b, *delays in given["links"])
        told: list[Any] = [sorted(given["devices"].items()), rows, given["ranks"]]
        if given["several"] or given["domains"]:
            told.append(sorted((given["several"] or {}).items()))
            told.append(
                sorted(
                    [sorted(units), str(x["rate_bps"]), x["any"], str(x["most_bps"]), x["delay"]]
                    for x in given["domains"] or ()
                    for units in x["units"]
                )
            )
        text = json.dumps(told, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()[:16]

    def meets_survival(self, asked: re.Match[str]) -> bool | None:
        """Whether a requirement about failures follows; None where it is about something else."""
        fabric = self.net.fabric
        sides = None if asked["to"] is None else paths_matching_text(fabric, asked["to"])
        here = self.check == "survives" and (self.stated["what"], bool(self.stated["to"])) == (
            asked["what"],
            bool(sides),
        )
        count = int(asked["count"])
        if not here or self.subject() != (
            count,
            fabric.elements(paths_matching_text(fabric, asked["of"]), asked["what"], sides),
        ):
            return None
        return self.implies(
            self.stated.get("condition"), EXPECTED.fullmatch(asked["given"] or "reachability")
        )

    def is_about(self, asked: re.Match[str]) -> bool:
        """Whether a requirement is about the same figure of the same subject."""
        fabric = self.net.fabric
        wanted: Any = asked["pattern"] or ""
        if asked["a"] and asked["b"]:
            wanted = [self.net.members(paths_matching_text(fabric, asked[x])) for x in "ab"]
        elif asked["a"] or asked["at"]:
            wanted = fabric.named(paths_matching_text(fabric, asked["a"] or asked["at"]))
        clause = {"blast_radius": "a", "oversubscription": "at", "throughput": "a"}.get(self.check, "")
        strange = any(asked[x] for x in ("a", "at") if x != clause)
        strange |= (asked["under"] or None) != self.stated.get("under")
        return bool(self.check == asked["check"] and not strange and self.subject() == wanted)

    def implies(self, condition: Any, asked: re.Match[str] | None) -> bool | None:
        """Whether the condition after failures implies the one that is asked for."""
        if asked is None or not asked["check"]:
            raise InputUnreadable("the condition behind `with` is none")
        if not self.condition_is_about(condition, asked):
            return None
        if condition["check"] == "reachability" or not asked["op"]:
            return condition["check"] == "reachability" and not asked["op"]
        scale, value = requirement_amount(asked)
        flowing = condition["check"] in FLOWING
        of_full = ("intact" if asked["intact"] else "left") if flowing and scale != "bps" else None
        if condition["share"] != of_full or (scale and not flowing):
            return False
        return comparison_implies(condition["op"], condition["value"], asked["op"], value)

    def condition_is_about(self, condition: Any, asked: re.Match[str]) -> bool:
        """Whether the condition after failures is about the same figure of the same subject."""
        sides = [self.net.members(paths_matching_text(self.net.fabric, asked[x])) for x in "ab" if asked[x]]
        here = [self.net.members(condition[end]) for end in SIDES if end in condition]
        return not (condition["check"] != asked["check"] or sides != here or asked["at"] or asked["pattern"])

    def text(self) -> str:
        """The theorem in words that can be expected: all of it."""
        stated = self.stated
        if self.check == "reachability":
            if not stated["holds"]:
                return (
                    f"reachability of {stated['fabric']} is refuted: {' and '.join(stated['apart'])} do not "
                    "reach each other"
                )
            return f"reachability of {stated['fabric']} (all {len(self.net.units)} units)"
        if self.check == "survives":
            return self.text_of_survival()
        if self.check == "deadlock_free":
            return (
                f"deadlock_free of {stated['fabric']} under {stated['under']} ({len(stated['order'])} "
                f"channels in order; {len(self.net.ends_at_switches())} devices with endpoints)"
            )
        if self.check in TIMES:
            return self.text_of_time()
        return self.text_of_flow() if self.check in FLOWING else self.text_of_counted_figure()

    def text_of_survival(self) -> str:
        """The theorem about failures."""
        stated = self.stated
        what = f" {stated['what']}" if stated["what"] else ""
        to = f" to {', '.join(stated['to'])}" if stated["to"] else ""
        given = stated["condition"]
        sides = " to ".join(", ".join(given[end]) for end in SIDES if end in given)
        op = f" {given['op']} {figure_of_condition(given)}" if "op" in given else ""
        intact = " of intact" if given.get("share") == "intact" else ""
        left = f"{given['check']}{' of ' + sides if sides else ''}{op}{intact}"
        cases = f"{len(stated['cases'])} representative case{'s' * (len(stated['cases']) > 1)}"
        return (
            f"survives of {stated['fabric']}: any {stated['count']}{what} of {', '.join(stated['of'])}{to} "
            f"with {left} ({cases}; {len(self.net.units)} units)"
        )

    def text_of_time(self) -> str:
        """The theorem about a time: both bounds, and what it takes as given."""
        stated, given = self.stated, self.stated["given"]
        sides = [
            ", ".join(self.net.fabric.shortest({*stated[end]}, self.net)) for end in SIDES if end in stated
        ]
        each = " each" if stated.get("each") else ""
        of = f" of {' to '.join(sides)} in {stated['fabric']}" if sides else f" of {stated['fabric']}"
        sets = [", ".join(self.net.fabric.shortest({*one}, self.net)) for one in stated.get("sets") or ()]
        if sets:
            of = f" {'of all' if len(sets) == 1 else 'among'} {'; '.join(sets)} in {stated['fabric']}"
        low, high = rounded_time_text(Fraction(self.low), False), rounded_time_text(Fraction(self.high), True)
        rows, devices = len(given["links"]), len(given["devices"])
        adding = "; switches do not add up" if self.check == "allreduce" else ""
        adding += "; other hosts and chips take no part" if sets else ""
        what = f"delays of {rows} pairs of linked devices and of {devices} device{'s' * (devices != 1)}"
        return (
            f"{self.check} {size_in_bytes(stated['bits'])}{each}{of}: at least {low}, at most {high} given "
            f"{self.given()} ({what}; {self.text_of_ranks()}{adding})"
        )

    def text_of_ranks(self) -> str:
        """How many units a time is of, and how many ranks these have."""
        stated, given = self.stated, self.stated["given"]
        count = stated.get("units") or len(self.net.units)
        if self.check == "transfer":
            return f"{count} units"
        several = given["several"] or {}
        ranks = sum(several.values()) + (count - len(several)) * given["ranks"]
        domains = sum(len(x["units"]) for x in given["domains"] or ())
        joined = f", {domains} domain{'s' * (domains != 1)} of ranks" if domains else ""
        return f"{count} units {'of one rank each' if ranks == count else f'with {ranks} ranks'}{joined}"

    def text_of_counted_figure(self) -> str:
        """The theorem about a figure that the checker counts."""
        stated = self.stated
        at = stated.get("of") or stated.get("at")
        where = "at" if self.check == "oversubscription" else "of"
        sets = f" {where} {', '.join(at)} in {stated['fabric']}" if at else f" of {stated['fabric']}"
        unit = {"blast_radius": " ports of units", "oversubscription": " to 1"}.get(self.check, "")
        return (
            f"{self.check}{sets} == {self.low}{unit if self.low != 1 else unit.replace('ports', 'port')} "
            f"({len(self.net.units)} units)"
        )

    def text_of_flow(self) -> str:
        """The theorem about a bisection or a throughput: both bounds as shares and in bit/s."""
        stated = self.stated
        if self.check == "throughput" and stated["pattern"] == "between":
            sides = (", ".join(self.net.fabric.shortest({*stated[end]}, self.net)) for end in SIDES)
            subject = f"{self.check} of {' to '.join(sides)} in {stated['fabric']}"
        else:
            subject = f"{self.check} {self.pattern()}".rstrip() + f" of {stated['fabric']}"
        if self.full:
            low, high = map(percent_of_full, self.net.shares(self.low, self.high), (False, True))
        else:
            low, high = map(rate_in_bps_units, (self.low, self.high))
        figure = f"== {low}" if self.low == self.high and low == high else f">= {low} and <= {high}"
        bits = (
            rate_in_bps_units(self.low)
            if self.low == self.high
            else f"{rate_in_bps_units(self.low)} to {rate_in_bps_units(self.high)}"
        )
        return f"{subject} {figure} ({bits}, of {rate_in_bps_units(self.full)}; {len(self.net.units)} units)"


FLOWING = ("bisection", "throughput")
YES_OR_NO = ("reachability", "deadlock_free")


def comparison_implies(op: str, have: Fraction, asked_op: str, value: Fraction) -> bool:
    """Whether one comparison with ``have`` implies another with ``value``."""
    strict = asked_op in ("<", ">") and op not in ("<", ">", "==")
    within = {
        ">": have > value or (have == value and not strict),
        "<": have < value or (have == value and not strict),
    }
    if op == "==":
        return comparison_follows(asked_op, value, have, have)
    return asked_op != "==" and op[0] == asked_op[0] and within[op[0]]


def figure_of_condition(given: Any) -> str:
    """The value of a condition after failures in words: of a share in percent, of a rate in bit/s."""
    value = given.get("value", 0)
    if given.get("share"):
        return percent_of_full(value, 0)
    return rate_in_bps_units(value) if given["check"] in FLOWING else f"{value}"


def requirement_amount(asked: re.Match[str]) -> tuple[str, Fraction]:
    """The unit of a value that is asked for (%, bps or none) and the value; of a percentage the fraction."""
    try:
        value = Fraction(asked["value"].replace(":", "/"))
    except (ValueError, ZeroDivisionError):
        raise InputUnreadable(f"`{asked[0]}`: {asked['value']} is no number") from None
    unit = asked["unit"] or ""
    return ("%", value / 100) if unit == "%" else ("bps" if unit else "", value * UNITS.get(unit, 1))


def percent_of_full(part: Fraction, up: int) -> str:
    """A fraction in percent, rounded down, or up, to a thousandth of one."""
    thousandths = -(-part * 100000 // 1) if up else part * 100000 // 1
    return f"{thousandths // 1000}.{thousandths % 1000:03d}".rstrip("0").rstrip(".") + "%"


def rate_in_bps_units(bits: Fraction | int) -> str:
    """An amount of bit/s, exactly."""
    unit = next(
        (u for u, n in reversed(UNITS.items()) if bits >= n and (Fraction(bits) / n * 1000).denominator == 1),
        "bps",
    )
    whole, part = divmod(Fraction(bits) / UNITS[unit], 1)
    if (part * 1000).denominator != 1:
        return f"{Fraction(bits)}{unit}"
    return f"{whole}.{int(part * 1000):03d}".rstrip("0").rstrip(".") + unit


def size_in_bytes(bits: int) -> str:
    """An amount of data, exactly."""
    for name, n in reversed(SIZES.items()):
        if bits >= n and (Fraction(bits, n) * 1000).denominator == 1 and "i" not in name:
            whole, part = divmod(Fraction(bits, n), 1)
            return f"{whole}.{int(part * 1000):03d}".rstrip("0").rstrip(".") + name
    return f"{bits} bits"


def rounded_time_text(seconds: Fraction, up: bool) -> str:
    """A time in six or more digits, rounded down, or ``up``."""
    unit = next((u for u, n in SECONDS.items() if seconds >= n), "ns")
    scaled = seconds / SECONDS[unit] * 10**6
    whole, part = divmod(-(-scaled // 1) if up else scaled // 1, 10**6)
    return f"{whole}.{part:06d}".rstrip("0").rstrip(".") + unit


def verify(certificate: Any, fabric: Any, steps: int = MAX_STEPS) -> CertifiedStatement:
    """What a certificate proves of a fabric, as parsed or as Fabric. Raises Rejected unless it does. Compares
    no hashes."""
    try:
        wiring = fabric if isinstance(fabric, CertifiedFabric) else CertifiedFabric(fabric)
        stated = value_of_form(
            certificate,
            HEAD | FORMS[value_of_form(certificate.get("check"), frozenset(FORMS), "check")],
            "certificate",
        )
        reject_unless(
            stated["schema"] == SCHEMA and stated["fabric"] == wiring.name,
            "the certificate is of another schema or fabric",
        )
        net = CertifiedNetwork(wiring, WorkSteps(steps))
        return CertifiedStatement(stated, net, CHECKS[stated["check"]](net, stated))
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
        MemoryError,
    ) as fault:
        raise Rejected(f"malformed: {type(fault).__name__}: {fault}") from None


def printable_text(text: str) -> str:
    """A text as one printable line, with escapes."""
    return text.encode("unicode_escape").decode()


def shortened_printable_text(text: str) -> str:
    """The same, of moderate length."""
    return printable_text(text[:300])


def check(certificate_text: str, fabric_text: str) -> tuple[int, str]:
    """Status (0 verified, 1 rejected, 2 not readable) and one line for a certificate and a fabric.json."""
    return judge([certificate_text], fabric_text)[0]


def judge(
    certificates: Sequence[str], fabric_text: str, expected: Sequence[str] = ()
) -> list[tuple[int, str]]:
    """Status and line of each certificate, then of each requirement that is expected: 0 if it follows from
    one of them."""
    out: list[tuple[int, str]] = []
    proved: list[CertifiedStatement] = []
    for text in certificates:
        try:
            proved.append(statement_of_texts(text, fabric_text, proved[-1].net.fabric if proved else None))
            out.append((0, printable_text(f"verified: {proved[-1].words}")))
        except InputUnreadable as why:
            out.append((2, shortened_printable_text(f"not readable: {why}")))
        except Rejected as why:
            out.append((1, shortened_printable_text(f"rejected: {why}")))
    return out + [judge_requirement(requirement, proved) for requirement in expected]


def statement_of_texts(text: str, fabric_text: str, wiring: CertifiedFabric | None) -> CertifiedStatement:
    """What the text of a certificate proves of that of a fabric.json, which is not parsed again where it is
    given as a fabric. Raises Rejected or InputUnreadable."""
    certificate, fabric = (
        parse_strict_json(text, "certificate"),
        wiring or parse_strict_json(fabric_text, "fabric.json"),
    )
    if type(certificate) is not dict or (wiring is None and type(fabric) is not dict):
        raise InputUnreadable("a file is not a JSON object")
    design = sha256(fabric_text.encode("utf-8", "surrogatepass")).hexdigest()
    other = "the certificate is of another fabric.json (its `design` is not the SHA-256)"
    reject_unless(certificate.get("design") == design, other)
    return verify(certificate, fabric)


def judge_requirement(requirement: str, proved: Sequence[CertifiedStatement]) -> tuple[int, str]:
    """Status and line of a requirement that is expected: 0 if it follows from one of the statements."""
    try:
        found = [(statement, statement.meets(requirement)) for statement in proved]
    except InputUnreadable as why:
        return 2, shortened_printable_text(f"not readable: {why}")
    weaker = [statement.words for statement, met in found if met is False]
    if any(met for _, met in found):
        return 0, printable_text(f"met: {requirement}")
    reason = f"proved is only {'; '.join(weaker)}" if weaker else "no certificate is about it"
    return 1, printable_text(f"not met: {requirement}: {reason}")


def check_files_of_arguments(arguments: Sequence[str]) -> int:
    """Check the files that the arguments name; print a line for each certificate and requirement; the exit
    status."""
    names, expected = files_and_requirements(arguments)
    try:
        if len(names) < 2:
            raise ValueError("usage: checker.py CERTIFICATE... fabric.json [--expect REQUIREMENT]...")
        texts = texts_within_limits(names)
        found = judge(texts[:-1], texts[-1], expected)
    except (OSError, ValueError) as fault:
        found = [(2, shortened_printable_text(f"not readable: {fault}"))]
    for i, (status, text) in enumerate(found):
        of = (
            f"{shortened_printable_text(names[i])}: "
            if len(found) > len(expected) and 1 < len(names) - 1 > i
            else ""
        )
        print(of + text, file=sys.stderr if status else sys.stdout)
    return max(status for status, _ in found)


def files_and_requirements(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names of files in the arguments, and the requirements that are expected."""
    names, expected = [], []
    given = iter(arguments)
    for x in given:
        if x == "--expect" or x.startswith("--expect="):
            expected.append(x.partition("=")[2] if x != "--expect" else next(given, ""))
        else:
            names.append(x)
    return names, expected


def texts_within_limits(names: Sequence[str]) -> list[str]:
    """The texts of certificates and of the fabric.json, which is last. Raises ValueError for one that is too
    large or not UTF-8, and OSError."""
    texts = []
    for name in names:
        limit = MAX_FABRIC_BYTES if name is names[-1] else MAX_CERTIFICATE_BYTES
        with open(name, "rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ValueError(f"{name}: larger than {limit} bytes")
        texts.append(data.decode("utf-8"))
    return texts


if __name__ == "__main__":
    sys.exit(check_files_of_arguments(sys.argv[1:]))
