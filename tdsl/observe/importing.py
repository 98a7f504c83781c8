"""Captures as a design: the devices and links that were seen, as text of the language.

Names with numbers become arrays, and links between two arrays become one connect where an affine rule of
their indices gives exactly them; what no rule gives is written link by link, each with its ports.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cache, lru_cache

from tdsl.observe.names import AGGREGATION, device_name_readings, is_factory_description, node_name_shown
from tdsl.observe.record import (
    INFINIBAND,
    CapturedEnd,
    CapturedLink,
    CapturedModel,
    CapturedNode,
    CaptureLine,
    Observed,
    hexadecimal_digits,
)
from tdsl.observe.rules import Rows, connect_rules
from tdsl.syntax.writer import inside_quotes
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

RATES = (10**12, "Tbps"), (10**9, "Gbps"), (10**6, "Mbps")
HOST_PORT = re.compile(r"(?:eth(?!ernet|\d+/)|en[opsx]|mlx|ib|nic|bond|hca|roce|port ?0)\w*", re.IGNORECASE)
NO_NETWORK = re.compile(
    r"(?:psu|ps|pem|outlet|power ?(?:supply|port|outlet|feed)?|console|con|serial)[ _-]?[\da-d]?\d*",
    re.IGNORECASE,
)
"""Names of ports of power and consoles, in tables that do not say what kind the ends of a cable are."""
HOST_NAME = re.compile(
    r"(?:.*[^a-z])?(?:node|host|server|srv|gpu|dgx|hgx|compute|worker)s?[^a-z]*", re.IGNORECASE
)
"""Names of hosts, where neither the capture nor the names of ports say what a device is."""
DENSE = 2
"""An array may have so many times the members that were seen; those that were not are omitted."""
LANE = "\x1f"
"""What stands between the name of a connector and the number of one of its ports."""
MOST_LEFT = 16
"""Rows left out that are reported one by one."""
MOST_GUESSED = 6
"""Devices that a comment names of those that are hosts by their names alone."""
ALIKE = 1.25
"""Devices are of one model where all their ports together are at most so many times those of the one with the
most."""


class NoDesign(Exception):
    """Captures that make no design; the text says why and what to do."""


@dataclass(slots=True)
class SeenDevice:
    """One device: its name, whether it forwards, the number of its ports where known, its ports by their
    names, and the name of its model where known."""

    name: str
    switch: bool
    count: int
    ports: dict[str, None] = field(default_factory=dict)
    model: str = ""


@dataclass(slots=True)
class Array:
    """Devices of one model whose names differ in numbers: ``stem`` has a NUL for each number."""

    word: str
    model: str
    stem: str
    widths: tuple[int, ...]
    lows: tuple[int, ...]
    highs: tuple[int, ...]
    members: dict[tuple[int, ...], str] = field(default_factory=dict)


def design_from_captures(
    observed: Observed, name: str, rate: int = 0, structure: bool = True, hosts: re.Pattern[str] | None = None
) -> str:
    """The text of a design. ``rate`` is that of links whose capture does not say one, ``hosts`` matches the
    names of all hosts. Raises NoDesign."""
    return _Importer(observed, name, rate, structure, hosts).text()


class _Importer:
    def __init__(
        self, observed: Observed, name: str, rate: int, structure: bool, hosts: re.Pattern[str] | None
    ) -> None:
        self.observed, self.name, self.rate, self.structure = (
            observed,
            _identifier_from_text(name),
            rate,
            structure,
        )
        self.called = hosts
        self.hosts: set[str] = set()
        self.guessed: dict[str, set[str]] = {}  # by reason, nodes that are hosts by it alone
        self.devices: dict[str, SeenDevice] = {}
        self.of_node: dict[str, tuple[str, str]] = {}  # device and adapter of a node
        self.kind_of_node: dict[str, str] = {}  # of nodes whose device is among those of the design
        self.links: dict[tuple[tuple[str, str], tuple[str, str]], int] = {}
        self.first: dict[tuple[tuple[str, str], tuple[str, str]], CapturedLink] = {}  # the row of each link
        self.own: dict[str, set[str]] = defaultdict(set)  # names that devices give their own ports
        self.more_left: dict[str, list[CaptureLine]] = defaultdict(
            list
        )  # places of those beside them, by code
        self.left: dict[str, None] = {}  # rows and links that the design does not have, as comments
        self.words: set[str] = {self.name}
        self.at_connector: dict[tuple[str, str], dict[tuple[str, str], int]] = defaultdict(
            dict
        )  # by connector those at the other ends of its legs, with their numbers

    def text(self) -> str:
        """All of it."""
        self.read()
        if not self.links:
            raise NoDesign("the captures have no link")
        unknown = sum(not r for r in self.links.values())
        if unknown:
            raise NoDesign(
                f"the captures do not say the rate of {counted_noun(unknown, 'link')}; give it with "
                "--rate 400Gbps"
            )
        models, model_of, port_of = self.models()
        arrays, place = self.arrays(model_of)
        lines = [
            f"# Made by `tdsl import` from {counted_noun(self.observed.files, 'capture')}:"
            f" {counted_noun(len(self.devices), 'device')}, {counted_noun(len(self.links), 'link')}.",
            *self._guesses_in_comments(),
            *self.left,
            *models,
            "",
            f"fabric {self.name} {{",
        ]
        for a in arrays:
            lines += self.declared(a, model_of)
        lines.append("")
        lines += self.connects(arrays, place, port_of)
        return "\n".join([*lines, "}", ""])

    # ------------------------------------------------------------ devices and links
    def read(self) -> None:
        """Devices by name, and every link once."""
        for w in self.observed.wires:
            if len(w.a.port) == 1 and w.a.node in self.observed.heard:
                self.own[w.a.node].add(w.a.port[0])
        self.hosts = self._hosts()
        self._name_devices()
        self._enter_links()
        self._once()
        self._note_more_left_out()
        for pair in self.links:
            for device, port in pair:
                self.devices[device].ports[port] = None
        self.devices = {name: d for name, d in self.devices.items() if d.ports}
        if self.structure:
            self._alike()

    def _name_devices(self) -> None:
        """The device and adapter of every node. Names that differ in case alone are one. Nodes of one name
        that are different devices by their GUID or chassis get it with their chip or identifier behind."""
        known = {n.description.casefold() for n in self.observed.nodes.values()}
        same: dict[tuple[str, str], list[CapturedNode]] = defaultdict(list)
        spelled: dict[str, str] = {}
        for node in self.observed.nodes.values():
            if not AGGREGATION.fullmatch(node.description) and node.kind != "router":
                name, unit = self._device_and_adapter(node)
                short = name.partition(".")[0]
                name = short if short.casefold() in known and not short.isdigit() else name
                name = spelled.setdefault(name.casefold(), name)
                self.of_node[node.key] = name, unit
                same[name, unit].append(node)
        for (name, unit), nodes in same.items():
            self._name_devices_apart(name, unit, nodes)
        self.of_node = {k: (_name_without_tabs(n), u) for k, (n, u) in self.of_node.items()}

    def _name_devices_apart(self, name: str, unit: str, nodes: Sequence[CapturedNode]) -> None:
        """Give nodes of one name and adapter names of their own, where they are different devices."""
        if len(nodes) > 1 and any(n.kind in INFINIBAND or n.key in self.observed.apart for n in nodes):
            for node, own in zip(nodes, self._names_apart(name, nodes), strict=True):
                self.of_node[node.key] = own, unit

    def _names_apart(self, name: str, nodes: Sequence[CapturedNode]) -> list[str]:
        """Names of their own for devices of one name: by the chip that a switch says it is, else by what
        identifies them."""
        chips = [[n for n, _ in device_name_readings(x.description)][-1:] for x in nodes]
        if all(n.kind == "switch" for n in nodes) and len({*map(tuple, chips)}) == len(nodes):
            return [c[0] for c in chips]
        self.observed.note(
            "E0604",
            nodes[1].at,
            f"{len(nodes)} devices are named `{nodes[0].description or name}`; the design has them with "
            "their identifiers behind the name",
            "give each device a name of its own, and capture again",
            [(nodes[0].at, "the first of them")],
        )
        return [f"{name}-{(*n.ids, str(k))[0]}" for k, n in enumerate(nodes, 1)]

    def _device_and_adapter(self, node: CapturedNode) -> tuple[str, str]:
        """The device that a node is, or is an adapter of; "" for the adapter of what is none."""
        named = list(device_name_readings(node.description))
        count = len(self.of_node)
        if node.kind != "adapter":
            return named[0] if named else (f"unnamed-{(node.ids or (str(count),))[0]}", "")
        if is_factory_description(node.description):
            return f"unnamed-{node.ids[0] if node.ids else count}", "hca"
        name = named[0][0] if named else f"unnamed-{(node.ids or (str(count),))[0]}"
        return next(((n, u) for n, u in named if u), (name, "hca"))

    def _enter_links(self) -> None:
        """Enter the links between known devices with the best rate that a capture gives, and note what the
        design cannot have: links of what is no device, cables that end where they begin."""
        for row in self.observed.left:
            self._leave_out("E0611", row.at, row.text, row.why)
        nameless = {key for key, n in self.observed.nodes.items() if is_factory_description(n.description)}

        def nameless_ends(w: CapturedLink) -> int:
            """Of two neighbours at a port the one that has a name is the better known."""
            return (w.a.node in nameless) + (w.b.node in nameless)

        links = self._links_seen_once()
        for w in sorted(links, key=nameless_ends) if nameless else links:
            if w.a.node not in self.of_node or w.b.node not in self.of_node:
                self._leave_out("E0611", w.at, self._shown(w), "a router or an aggregation node")
                continue
            a, b = self.end(w.a), self.end(w.b)
            outside = "" if w.a.printed else _port_of_no_network(w)
            if outside:
                why = f"by its name `{outside}` is a port of power or a console, not of a network"
                self._leave_out("E0611", w.at, self._shown(w), why)
                continue
            if a[0] == b[0]:
                if a != b:
                    text = f"both ends on {a[0]}, {a[1]} and {b[1]}"
                    self._leave_out("E0603", w.at, text, "a cable that ends where it begins")
                continue
            self._enter_lanes(w, a, b)

    def _enter_lanes(self, w: CapturedLink, a: tuple[str, str], b: tuple[str, str]) -> None:
        """Enter the links that a cable between two known ends carries."""
        count = max(w.carries, 1) if w.a.printed else 1
        rate = w.rate // count or self.rate
        for lane in range(count):
            pair = self._ports_of_link(a, b, lane, w) if lane or w.leg else (a, b)
            key = pair if pair[0] < pair[1] else pair[::-1]
            self.first.setdefault(key, w)
            self.links[key] = max(self.links.get(key, 0), rate)

    def _links_seen_once(self) -> list[CapturedLink]:
        """The links of all captures without those that both ends see and name by a description alone, which
        is no port of the other end's own capture: one such link between two devices is joined, of several the
        one side's stay and the other's are left out. Where the other end names both ports, its row counts."""
        by_ends: dict[tuple[str, str], list[int]] = defaultdict(list)
        wires = list(self.observed.wires)
        described = [at for at, w in enumerate(wires) if self._is_described(w.a, w.b)]
        if not described:
            return wires
        by_description = set(described)
        named = {(w.b.node, p) for at, w in enumerate(wires) if at not in by_description for p in w.b.port}
        gone: set[int] = set()
        for at in described:
            w = wires[at]
            if (w.a.node, w.a.port[0]) in named:
                gone.add(at)
            else:
                by_ends[w.a.node, w.b.node].append(at)
        for (here, there), mine in by_ends.items():
            theirs = by_ends.get((there, here), []) if here < there else []
            if len(mine) == len(theirs) == 1:
                wires[mine[0]] = wires[mine[0]]._replace(b=wires[theirs[0]].a)
                gone.add(theirs[0])
            elif theirs:
                fewer = min(mine, theirs, key=len)
                gone.update(fewer)
                for at in fewer:
                    why = "the other end sees it, too; neither says which port of the other it is"
                    self._leave_out("E0611", wires[at].at, self._shown(wires[at]), why)
        return [w for at, w in enumerate(wires) if at not in gone]

    def _is_described(self, near: CapturedEnd, far: CapturedEnd) -> bool:
        """Whether both devices have captures, and the far port has none of the names that its own has."""
        own = self.own.get(far.node)
        if not own or not far.port or not own.isdisjoint(far.port):
            return False
        return bool(near.port) and near.port[0] in self.own.get(near.node, ())

    def _ports_of_link(
        self, a: tuple[str, str], b: tuple[str, str], lane: int, wire: CapturedLink
    ) -> tuple[tuple[str, str], tuple[str, str]]:
        """The ports of one of the links of a cable. A table of tdsl's names the connector of a breakout in
        the row of each leg, and once for a cable of several links: each link has a port of its own there."""
        out = []
        for near, far in ((a, b), (b, a)):
            others = self.at_connector[near]
            number = others.setdefault(far, len(others)) if wire.leg else 0
            more = f"{number}.{lane}" if number or lane else ""
            out.append((near[0], f"{near[1]}{LANE}{more}" if more else near[1]))
        return out[0], out[1]

    def _shown(self, wire: CapturedLink) -> str:
        """A link as the capture writes it."""
        names = [self.observed.nodes[e.node] for e in (wire.a, wire.b)]
        ends = zip(names, (wire.a, wire.b), strict=True)
        return " to ".join(f"{node_name_shown(n.description, n.ids)} {(*e.port, '')[0]}" for n, e in ends)

    def _leave_out(self, code: str, at: CaptureLine, text: str, why: str) -> None:
        """Note that the design does not have a row of a capture: as a comment and as a finding."""
        if len(self.left) < MOST_LEFT:
            self.left.setdefault(f"# left out: line {at.number}, {_name_in_comment(text)}: {why}")
            self.observed.note(code, at, f"left out of the design: {text}: {why}")
        else:
            self.more_left[code].append(at)

    def _note_more_left_out(self) -> None:
        """Report how many rows are left out beside those that are reported one by one."""
        count = sum(map(len, self.more_left.values()))
        if count:
            self.left.setdefault(f"# and {count:,} more, which are left out")
        for code, places in self.more_left.items():
            rows = counted_noun(len(places), "more row")
            self.observed.note(code, places[0], f"{rows} from here on left out of the design")

    def _alike(self) -> None:
        """Give devices whose names differ in numbers only the ports of all of them: a port without a cable is
        not in a table. So of devices whose model is known by its name."""
        families: dict[tuple[bool, str, str], list[SeenDevice]] = defaultdict(list)
        for d in self.devices.values():
            families[d.switch, d.model, "" if d.model else re.sub(r"\d+", "\0", d.name)].append(d)
        for (_, model, _), family in families.items():
            ports = dict.fromkeys(p for d in family for p in d.ports)
            if model or len(ports) <= ALIKE * max(len(d.ports) for d in family):
                for d in family:
                    d.ports = ports

    def _hosts(self) -> set[str]:
        """Nodes that are hosts: by ``--hosts``; by the capture; else where the name or all ports are called
        as those of hosts. What has two of them for neighbours, and the name of none, is a switch."""
        sure, unsaid, by_name = set(), set(), set()
        for n in {end.node for w in self.observed.wires for end in (w.a, w.b)}:
            node = self.observed.nodes[n]
            if self.called is not None:
                sure |= {n} if self.called.search(node.description) else set()
            elif node.kind:
                sure |= {n} if node.kind == "host" else set()
            elif HOST_NAME.fullmatch(node.description):
                by_name.add(n)
            else:
                unsaid.add(n)
        sure |= by_name
        likely = self._with_ports_of_hosts(unsaid)
        hosts = sure | likely
        ports, around = self._ports_and_neighbours(likely)
        self._note_bare_neighbours([n for n in likely if self._only_addresses(n, ports[n])])
        by_port = {n for n in likely if len(around[n] & hosts) < 2}
        self.guessed = {"their names": by_name, "the names of their ports": by_port}
        return sure | by_port

    def _guesses_in_comments(self) -> list[str]:
        """Which devices are hosts by their names or those of their ports alone, since no capture says what
        they are."""
        out = []
        for why, nodes in self.guessed.items():
            names = sorted({self.of_node[n][0] for n in nodes if n in self.of_node}, key=_natural_sort_parts)
            if names:
                shown = ", ".join(map(_name_in_comment, names[:MOST_GUESSED]))
                more = f" and {len(names) - MOST_GUESSED:,} more" if len(names) > MOST_GUESSED else ""
                count = counted_noun(len(names), "device")
                one = why.replace("their names", "its name").replace("their", "its")
                hosts = f"a host by {one}" if len(names) == 1 else f"hosts by {why}"
                out.append(f"# {count} taken for {hosts}: {shown}{more}")
        return out

    def _with_ports_of_hosts(self, nodes: set[str]) -> set[str]:
        """Those of the nodes of which all ports are called as those of hosts."""
        left = set(nodes)
        for w in self.observed.wires if left else ():
            for end in (w.a, w.b):
                if end.node in left and not _is_called_as_of_host(self.port(end) if end.port else ""):
                    left.discard(end.node)
        return left

    def _ports_and_neighbours(self, nodes: set[str]) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """The names of the ports of the nodes, and the nodes at their other ends."""
        ports: dict[str, set[str]] = defaultdict(set)
        around: dict[str, set[str]] = defaultdict(set)
        for w in self.observed.wires if nodes else ():
            for end, far in ((w.a, w.b), (w.b, w.a)):
                if end.node in nodes:
                    ports[end.node].add(self.port(end) if end.port else "")
                    around[end.node].add(far.node)
        return ports, around

    def _note_bare_neighbours(self, bare: list[str]) -> None:
        """Report several hosts of which the captures have an address and no name."""
        if len(bare) > 1:
            self.observed.note(
                "E0604",
                self.observed.nodes[min(bare)].at,
                f"{len(bare)} neighbours send an address alone, and each is a host of its own in the design; "
                "several may be adapters of one host",
                "let the hosts send their names (lldpd), and capture again",
            )

    def _only_addresses(self, node: str, ports: set[str]) -> bool:
        """Whether an adapter's firmware is heard: no name, and ports that are called by their addresses."""
        nameless = is_factory_description(self.observed.nodes[node].description)
        return nameless and len(ports) == 1 and all(map(hexadecimal_digits, ports))

    def end(self, end: CapturedEnd) -> tuple[str, str]:
        """Device and port of an end; the device is added when its first link is."""
        name, unit = self.of_node[end.node]
        kind = self.kind_of_node.get(end.node)
        if kind is None:
            node = self.observed.nodes[end.node]
            kind = self.kind_of_node[end.node] = node.kind
            if name not in self.devices:
                model = self.observed.models.get(node.key, CapturedModel(""))
                self.devices[name] = SeenDevice(
                    name,
                    kind != "adapter" and node.key not in self.hosts,
                    node.ports,
                    dict.fromkeys(map(_name_without_tabs, model.ports)),
                    model.name,
                )
        if kind == "switch":
            return name, _name_without_tabs(end.port[0])
        if kind == "adapter":
            return name, _name_without_tabs(unit if end.port[0] == "1" else f"{unit}/{end.port[0]}")
        return name, _name_without_tabs(self.port(end)) if end.port else node_name_shown("", ())

    def port(self, end: CapturedEnd) -> str:
        """The name of a port: the one that its own device gives it, else the first that is no MAC address."""
        if len(end.port) == 1:
            return end.port[0]
        own = self.own.get(end.node, ())
        named = (p for p in end.port if p in own)
        return next(named, next((p for p in end.port if not hexadecimal_digits(p)), end.port[0]))

    def _once(self) -> None:
        """Keep the first link of every port: two captures may name the far port differently. What leads to
        another device is noted."""
        met: dict[tuple[str, str], frozenset[str]] = {}
        for a, b in list(self.links):
            pair = frozenset((a[0], b[0]))
            if a in met or b in met:
                del self.links[a, b]
                if not (met.get(a, pair) == met.get(b, pair) == pair):
                    w = self.first[a, b]
                    self._leave_out("E0603", w.at, self._shown(w), "the port has another neighbour")
                    continue
            met.setdefault(a, pair)
            met.setdefault(b, pair)

    # ------------------------------------------------------------ models
    def models(self) -> tuple[list[str], dict[str, str], dict[tuple[str, str], int]]:
        """Lines of the models, the model of every device, and the number of every port in the design."""
        lines: list[str] = []
        model_of: dict[str, str] = {}
        number_of: dict[tuple[str, str], int] = {}
        made: dict[object, str] = {}
        for d in self.devices.values():
            names = sorted(d.ports, key=_natural_sort_parts)
            numbered = d.switch and _are_numbers_of_ports(names)
            count = max([d.count, *map(int, names)]) if numbered else 0
            key = ("switch", count, d.model) if numbered else (d.switch, tuple(names), d.model)
            if key not in made:
                kind = "switch" if d.switch else "host"
                made_up = f"{kind.upper()}_{count}" if numbered else f"{kind.upper()}{len(made)}"
                body = f"port p[1..{count}]: any" if numbered else _port_declarations(names)
                made[key] = self.word(d.model or made_up)
                lines.append(f"model {kind} {made[key]} {{ {body} }}")
            model_of[d.name] = made[key]
            for i, p in enumerate(names):
                number_of[d.name, p] = int(p) if numbered else i
        return lines, model_of, number_of

    def word(self, text: str) -> str:
        """An identifier that nothing else has."""
        word = _identifier_from_text(text)
        while word in self.words:
            word += "_"
        self.words.add(word)
        return word

    # ------------------------------------------------------------ arrays
    def arrays(
        self, model_of: dict[str, str]
    ) -> tuple[list[Array], dict[str, tuple[Array, tuple[int, ...]]]]:
        """Arrays of devices whose names differ in numbers only, and the place of every device."""
        groups: dict[tuple[str, str], dict[tuple[int, ...], str]] = defaultdict(dict)
        widths: dict[tuple[str, str], list[set[tuple[int, bool]]]] = {}
        for d in sorted(self.devices, key=_natural_sort_parts):
            numbers = _numbers_in_name(d)
            at = tuple(map(int, numbers))
            key = model_of[d], re.sub(r"\d+", "\0", d) if numbers else d
            if at in groups[key]:  # n1 and n01
                key, at, numbers = (model_of[d], d), (), []
            groups[key][at] = d
            for axis, n in zip(widths.setdefault(key, [set() for _ in numbers]), numbers, strict=True):
                axis.add((len(n), n.startswith("0")))
        arrays: list[Array] = []
        for (model, stem), members in groups.items():
            if len(members) == 1:
                (name,) = members.values()
                arrays.append(Array(self.word(name), model, name, (), (), (), {(): name}))
                continue
            padded = tuple(_zero_padded_width(w) for w in widths[model, stem])
            whole = self._array_of(model, stem, padded, members)
            if whole is not None:
                arrays.append(whole)
            else:
                for name in members.values():
                    arrays.append(Array(self.word(name), model, name, (), (), (), {(): name}))
        place = {name: (array, at) for array in arrays for at, name in array.members.items()}
        return arrays, place

    def _array_of(
        self, model: str, stem: str, padded: tuple[int, ...], members: dict[tuple[int, ...], str]
    ) -> Array | None:
        """One array of devices by the numbers in their names; None where they leave too many places empty."""
        lows = tuple(min(m[i] for m in members) for i in range(len(padded)))
        highs = tuple(max(m[i] for m in members) for i in range(len(padded)))
        size = math.prod(high - low + 1 for low, high in zip(lows, highs, strict=True))
        dense = -1 not in padded and size <= DENSE * len(members)
        if not dense or not self.structure:
            return None
        word = re.sub(r"[\W_]+", "_", stem.replace("\0", "_")).strip("_") or "device"
        return Array(self.word(word), model, stem, padded, lows, highs, members)

    def declared(self, a: Array, model_of: dict[str, str]) -> list[str]:
        """The declaration of an array, its names, and what of it was not seen."""
        kind = "switch" if self.devices[next(iter(a.members.values()))].switch else "host"
        role = " { role accelerator }" if kind == "host" else ""
        axes = ", ".join(
            f"{low}..{high}" if low else str(high + 1) for low, high in zip(a.lows, a.highs, strict=True)
        )
        lines = [f"  {kind} {a.word}{f'[{axes}]' if axes else ''}: {a.model}{role}"]
        letters = LETTERS[: len(a.lows)]
        template = inside_quotes(a.stem)
        for letter, width in zip(letters, a.widths, strict=True):
            template = template.replace("\0", f"{{{letter}{f':0{width}' if width else ''}}}", 1)
        index = f"[{', '.join(letters)}]" if letters else ""
        lines.append(f'  naming {a.word}{index} "{template}"')
        gone = [at for at in _index_tuples_in_box(a.lows, a.highs) if at not in a.members] if a.lows else []
        lines += [f"  omit {a.word}[{', '.join(map(str, at))}]" for at in gone]
        return lines

    # ------------------------------------------------------------ connects
    def connects(
        self,
        arrays: list[Array],
        place: dict[str, tuple[Array, tuple[int, ...]]],
        port_of: dict[tuple[str, str], int],
    ) -> list[str]:
        """Connects, a rule where one gives all links between two arrays, else a link each."""
        order = {id(a): i for i, a in enumerate(arrays)}
        rank = {d: (self.devices[d].switch, order[id(a)]) for d, (a, _) in place.items()}
        groups: dict[tuple[int, int, int], Rows] = defaultdict(list)
        for (a, b), rate in self.links.items():
            if rank[a[0]] > rank[b[0]]:
                a, b = b, a
            rows = groups[rank[a[0]][1], rank[b[0]][1], rate]
            rows.append(((*place[a[0]][1], port_of[a]), (*place[b[0]][1], port_of[b])))
        out = []
        box = cache(lambda at: self.box(arrays[at]))
        for (i, j, rate), rows in sorted(groups.items()):
            x, y = arrays[i], arrays[j]
            boxes = (box(i), box(j)) if self.structure else None
            out += [f"  {line}" for line in connect_rules(x.word, y.word, rows, _rate_literal(rate), boxes)]
        return out

    def box(self, a: Array) -> list[tuple[int, int]]:
        """The ranges of the indices of an array and of the ports of its model."""
        device = self.devices[next(iter(a.members.values()))]
        numbered = device.switch and all(p.isdigit() for p in device.ports)
        last = max([device.count, *map(int, device.ports)]) if numbered else len(device.ports) - 1
        return [*zip(a.lows, a.highs, strict=True), (int(numbered), last)]


def _port_of_no_network(wire: CapturedLink) -> str:
    """The port of a link that is one of power or a console by its name, "" where none is."""
    for end in (wire.a, wire.b):
        if end.port and _is_of_power_or_console(end.port[0]):
            return end.port[0]
    return ""


@lru_cache(1 << 14)  # devices of one model have ports of the same names
def _is_called_as_of_host(port: str) -> bool:
    return HOST_PORT.fullmatch(port) is not None or bool(hexadecimal_digits(port))


@lru_cache(1 << 14)  # devices of one model have ports of the same names
def _is_of_power_or_console(port: str) -> bool:
    return NO_NETWORK.fullmatch(port) is not None


def _numbers_in_name(name: str) -> list[str]:
    """The numbers in the name of a device; none where they are too many or too long to be indices."""
    numbers = re.findall(r"\d+", name)
    return numbers if len(numbers) <= 3 and not re.search(r"\d{7}", name) else []


LETTERS = ("a", "b", "c", "d")


def _are_numbers_of_ports(names: Iterable[str]) -> bool:
    """Whether all names are numbers that ports of a switch may have."""
    return all(p.isdigit() and 0 < int(p) < 1 << 16 for p in names)


def _port_declarations(names: Sequence[str]) -> str:
    """Ports of the names that they have; those of one connector share it.

    Names such as ``p3`` are their labels, too: without one, that is the label of another port."""
    names = [n.partition(LANE)[0] for n in names]
    are_labels = any(re.fullmatch(r"[pP]\d+", n) for n in names)
    if are_labels and len(set(names)) < len(names):
        return _declarations_of_legs(names)

    def named(template: str) -> str:
        return f'os "{template}"; name "{template}"' if are_labels else f'os "{template}"'

    stem, numbers = _stem_and_numbers(names)
    if numbers == [str(i) for i in range(len(names))]:
        return f"port p[{len(names)}]: any {{ {named(stem + '{i}')} }}"
    if numbers:
        listed = ", ".join(numbers)
        return f"let number = [{listed}]; port p[{len(names)}]: any {{ {named(stem + '{number[i]}')} }}"
    listed = ", ".join(f'"{inside_quotes(n)}"' for n in names)
    return f"let label = [{listed}]; port p[{len(names)}]: any {{ {named('{label[i]}')} }}"


def _stem_and_numbers(names: Sequence[str]) -> tuple[str, list[str]]:
    """What all names begin with, as it stands in quotes, and the number without leading zeros that follows
    it in each; no numbers where some name has none or begins otherwise."""
    common = re.fullmatch(r"([^\d]*)(\d+)", names[0])
    if common is None or len({re.sub(r"(?<!\d)\d++$", "", n) for n in names}) > 1:
        return "", []
    numbers = [n[len(common[1]) :] for n in names]
    if not all(n.isdigit() and str(int(n)) == n for n in numbers):
        return "", []
    return inside_quotes(common[1]), numbers


def _declarations_of_legs(names: Sequence[str]) -> str:
    """Ports of names of which several are those of one connector, each with a label of its own."""
    known: Counter[str] = Counter()
    labels = []
    for n in names:
        known[n] += 1
        labels.append(f"{n}/{known[n]}" if known[n] > 1 else n)
    listed, own = (", ".join(f'"{inside_quotes(n)}"' for n in some) for some in (names, labels))
    return (
        f"let connector = [{listed}]; let label = [{own}]; "
        f'port p[{len(names)}]: any {{ os "{{connector[i]}}"; name "{{label[i]}}" }}'
    )


def _zero_padded_width(seen: set[tuple[int, bool]]) -> int:
    """Digits of numbers that are padded with zeros, 0 where none is padded, -1 where they follow no rule."""
    if not any(zero and digits > 1 for digits, zero in seen):
        return 0
    smallest = min(digits for digits, _ in seen)
    return smallest if all(digits == smallest or not zero for digits, zero in seen) else -1


def _index_tuples_in_box(lows: Sequence[int], highs: Sequence[int]) -> list[tuple[int, ...]]:
    out: list[tuple[int, ...]] = [()]
    for low, high in zip(lows, highs, strict=True):
        out = [(*at, n) for at in out for n in range(low, high + 1)]
    return out


@lru_cache(1 << 14)  # devices of one model have ports of the same names
def _natural_sort_parts(text: str) -> list[tuple[int, int, str]]:
    return [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.findall(r"\d{1,18}|\D+", text)]


def _identifier_from_text(text: str) -> str:
    word = re.sub(r"[^A-Za-z0-9_]+", "_", text).strip("_") or "asbuilt"
    return f"n{word}" if word[0].isdigit() else word


def _name_in_comment(text: str) -> str:
    """A text of a capture as a comment of a design can hold it."""
    return " ".join(text.split())


def _name_without_tabs(text: str) -> str:
    """A name that a string of the language can hold."""
    return text.replace("\t", " ")


def _rate_literal(rate: int) -> str:
    for unit, word in RATES:
        if rate % unit == 0:
            return f"{rate // unit}{word}"
    return f"{rate}bps"
