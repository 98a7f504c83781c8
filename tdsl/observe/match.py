"""Matches what captures saw with the devices and ports of a design: by name, by identifier, by rules, then by
position."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.columns import PortColumns, port_id
from tdsl.fabric.graph import MEDIA, Bools, Fabric, Ints
from tdsl.fabric.subnets import subnet_of_links
from tdsl.findings.diagnostic import Diagnostic
from tdsl.observe.names import (
    AGGREGATION,
    NameMapRule,
    device_name_readings,
    is_factory_description,
    node_name_shown,
)
from tdsl.observe.record import (
    INFINIBAND,
    CapturedEnd,
    CapturedLink,
    CapturedNode,
    Observed,
    hexadecimal_digits,
)
from tdsl.observe.through import ThroughCables
from tdsl.system.lazy_dataclass import dataclass

MOST_WORDS = 24
"""Words of the name of a file among which that of a device is looked for."""
NO_DEVICE = "the design has neither device"
NO_SUCH_PORT = "the model has no port of that name, such as a management port"
REPORTED_PORT = "the device does not have the port that was found instead"
FREE_PORT = "no link is planned at the port, and the design does not have the device at the other end"
UNKNOWN_NAME = "the design has no device of the neighbour's name, and most names are not known"
NOT_IDENTIFIED = "the neighbour sends no name, and nothing says which device has its address"
BETTER_KNOWN = "another capture says what is at the port, and an address that traffic has shown says no more"
OTHER_NEIGHBOUR = "the port has another neighbour in the captures, which is better known"


@dataclass(frozen=True, slots=True)
class Virtual:
    """A port that the design does not have: of a device of the design (its row) or of a node that is not in
    it (-1)."""

    device: int
    node: str
    port: str


@dataclass(frozen=True, slots=True)
class Positioned:
    """A node that was matched by its neighbours: ``fit`` of its ``links`` to known devices go where the
    device is planned; it has ``of`` links in all."""

    node: str
    device: int
    fit: int
    links: int
    of: int


@dataclass(eq=False, slots=True)
class Seen:
    """A capture in the rows of a fabric. ``far`` holds the port at the other end of every port that was seen,
    in both directions; ports from ``ports`` on are ``virtual``. ``device_of_port`` has the device of each
    port of the design."""

    fabric: Fabric
    observed: Observed
    ports: int
    device_of_port: list[int]
    far: dict[int, int] = field(default_factory=dict)
    wire: dict[int, CapturedLink] = field(default_factory=dict)
    virtual: list[Virtual] = field(default_factory=list)
    nodes: dict[int, list[str]] = field(
        default_factory=lambda: defaultdict(list)
    )  # of every device that was seen
    positioned: list[Positioned] = field(default_factory=list)
    unplanned: list[str] = field(default_factory=list)
    conflicts: list[tuple[int, CapturedLink, CapturedLink]] = field(default_factory=list)
    loops: list[CapturedLink] = field(default_factory=list)
    identities: list[tuple[int, str, str, str]] = field(
        default_factory=list
    )  # device, node, planned id, seen ids
    aside: list[tuple[str, CapturedLink]] = field(
        default_factory=list
    )  # links of the captures that are not compared with the design, each with the reason
    used: int = 0  # links of the captures that are compared with the design, or are faults of the captures
    again: int = 0  # those among them that say what others have said: from the other side, or twice
    repeated: list[tuple[CapturedLink, CapturedLink]] = field(
        default_factory=list
    )  # those among them that a capture gives twice from one side, each with the earlier one
    assumed: list[CapturedLink] = field(
        default_factory=list
    )  # those among them that are taken for the planned link though no port has the name at one end
    unidentified: Bools = field(
        default_factory=lambda: np.zeros(0, dtype=np.bool_)
    )  # links of which the captures do not say which device is at one end
    audited: Bools = field(
        default_factory=lambda: np.zeros(0, dtype=np.bool_)
    )  # links that the captures would show

    device_of: dict[str, int] = field(default_factory=dict)  # by node
    ports_of: Callable[[CapturedEnd], tuple[int, ...]] = field(
        default=lambda end: ()
    )  # the ports of the design that an end means

    def captured(self, wire: CapturedLink) -> str:
        """A link as the captures write it: ``leaf0 swp8 to rogue e1``."""
        ends = []
        for end in (wire.a, wire.b):
            node = self.observed.nodes[end.node]
            name = node_name_shown(node.description, node.ids)
            ends.append(f"{name} {end.port[0]}" if end.port else name)
        return " to ".join(ends)

    def device(self, port: int) -> int:
        """The device of a port, -1 where the design has none."""
        return self.device_of_port[port] if port < self.ports else self.virtual[port - self.ports].device


class DesignNames:
    """The devices of a fabric by all their names, and the ports of every model by all of theirs."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.devices: dict[str, int] = {}
        self.folded: dict[str, int] = {}
        for d in np.flatnonzero(fabric.built).tolist():
            for name in (fabric.device_path(d), fabric.device_name(d)):
                self.devices[name] = d
                self.folded[name.casefold()] = -1 if self.folded.get(name.casefold(), d) != d else d
        self._add_paths_of_members()
        self.tables = [self._table(m) for m in range(len(fabric.models))]
        self.printed: dict[int, dict[str, int]] = {}
        self.sonic = [self._sonic(m) for m in range(len(fabric.models))]

    def _add_paths_of_members(self) -> None:
        """Of a cluster as one, paths as its fabrics write them, where one of the fabrics alone has them."""
        found: dict[str, int] = {}
        for member, rows in zip(self.fabric.members, self.fabric.member_rows, strict=True):
            for d in np.flatnonzero(member.built).tolist():
                path, row = member.device_path(d), int(rows[d])
                found[path] = row if found.get(path, row) == row else -1
        for path, row in found.items():
            if row >= 0:
                self.devices.setdefault(path, row)
                self.folded.setdefault(path.casefold(), row)

    def _table(self, model: int) -> dict[str, tuple[int, ...]]:
        """Ports by name; several where lanes share the name of a device of the operating system."""
        out: dict[str, tuple[int, ...]] = {}
        given_by: dict[str, tuple[int, int]] = {}  # the class and the kind of each name
        columns = PortColumns(self.fabric)
        holes: dict[str, list[int]] = defaultdict(list)
        for c in self.fabric.models[model].classes:
            for i in range(c.size):
                names = (c.path(i), c.labels[i], c.systems[i], c.netdev(i))
                for kind, name in enumerate(map(str.casefold, names)):
                    if name and given_by.setdefault(name, (c.first, kind)) == (c.first, kind):
                        out[name] = (*out.get(name, ()), c.first + i)
                row = int(columns.base[model]) + c.first + i
                for at in (row, row + len(columns.hole) // 2):  # by socket, and by cage
                    for name in (columns.hole[at], columns.hole_id[at]):
                        holes[str(name).casefold()].append(c.first + i)
        for c in self.fabric.models[model].classes:
            for i in range(c.size):
                out.setdefault(port_id(c, i).casefold(), (c.first + i,))
        for name, ports in holes.items():
            out.setdefault(name, tuple(dict.fromkeys(ports)))
        return out

    def _ports_by_label(self, model: int) -> dict[str, int]:
        """Ports by what is printed beside them, where that is another port's name for the operating
        system."""
        if model not in self.printed:
            labels = {
                c.labels[i].casefold(): c.first + i
                for c in reversed(self.fabric.models[model].classes)
                for i in reversed(range(c.size))
            }
            self.printed[model] = {
                name: port
                for name, port in labels.items()
                if name and port not in self.tables[model].get(name, (port,))
            }
        return self.printed[model]

    def _sonic(self, model: int) -> dict[str, tuple[int, ...]]:
        """Ports by SONiC's names, ``Ethernet8``, and its aliases, where the model says them."""
        out: dict[str, tuple[int, ...]] = {}
        for c in self.fabric.models[model].classes:
            for i, port in enumerate(c.sonic):
                for name in (f"Ethernet{port.number}", port.alias):
                    out.setdefault(name.casefold(), (c.first + i,))
        return {name: ports for name, ports in out.items() if name}

    def device(self, name: str) -> int:
        """The row of a device, -1 where there is none of this name."""
        found = self.devices.get(name)
        return self.folded.get(name.casefold(), -1) if found is None else found

    def local(self, device: int, names: Iterable[str], printed: bool = False) -> tuple[int, ...]:
        """Ports inside a device that one of these names means; several for a cable of several links.
        ``printed``: the first is the name on the faceplate."""
        asked = [n.casefold() for n in names]
        if printed and asked:
            found = self._ports_by_label(int(self.fabric.device_model[device])).get(asked[0])
            if found is not None:
                return (found,)
        model, system = int(self.fabric.device_model[device]), str(self.fabric.switch_system[device])
        tables = [self.tables[model]]
        if system in (
            "",
            "sonic",
        ):  # where nothing says which system it is, the names of the model come first
            tables.insert(0 if system else 1, self.sonic[model])
        return next((t[n] for t in tables for n in asked if n in t), ())


@dataclass(frozen=True, slots=True)
class Identifiers:
    """Identifiers of assets: the device and the port (-1 for the device itself) that each belongs to.

    ``notes`` say which rows of the table are not used.
    """

    owner: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    notes: tuple[Diagnostic, ...] = ()


class Evidence(NamedTuple):
    """By what a node is matched with a place: by all its links, or those to known devices if it has no name
    that says which it is; by the numbers of its own ports, too, or by those of its neighbours alone.
    ``renamed``: a name that the design does not have says nothing, as most devices may have new names."""

    all_links: bool
    numbers: bool
    renamed: bool = False


@dataclass(eq=False, slots=True)
class _TakenPlaces:
    """What nodes with a match are: all their devices; those that no further node, heard by its neighbours
    alone, may be; and the ports of hosts that are adapters."""

    devices: set[int]
    heard_as: set[int]
    ports: set[int]


WORDS_OF_COMMANDS = frozenset(
    [
        "address",
        "all",
        "arp",
        "bridge",
        "brief",
        "cable",
        "capture",
        "cli",
        "detail",
        "diag",
        "ethtool",
        "fabric",
        "fdb",
        "health",
        "interface",
        "interfaces",
        "ip",
        "json",
        "link",
        "links",
        "lldp",
        "lldpcli",
        "lldpctl",
        "log",
        "mac",
        "mlxlink",
        "module",
        "modules",
        "neighbor",
        "neighbors",
        "neighbour",
        "neighbours",
        "nv",
        "nvidia",
        "out",
        "output",
        "port",
        "ports",
        "remote",
        "scan",
        "sh",
        "show",
        "smi",
        "status",
        "table",
        "tables",
        "topo",
        "transceiver",
        "transceivers",
        "txt",
    ]
)
"""What names of files of captures have beside the name of a device."""


def planned_far_ports(fabric: Fabric) -> Ints:
    """The port at the other end of every port by the design, -1 where none is planned."""
    far = np.full(len(fabric.port_device), -1, dtype=np.int64)
    far[fabric.link_a] = fabric.link_b
    far[fabric.link_b] = fabric.link_a
    return far


def match_captures(
    fabric: Fabric, observed: Observed, rules: Sequence[NameMapRule] = (), assets: Identifiers | None = None
) -> Seen:
    """Say which port of the design every end of every link is."""
    return _Matcher(fabric, observed, rules, assets or Identifiers()).run()


def _is_named_after_file(node: CapturedNode) -> bool:
    """Whether a node has the name of the file that it was read from."""
    name = node.at.file.name
    return node.description in name and PurePosixPath(name).stem == node.description


class _Matcher:
    def __init__(
        self, fabric: Fabric, observed: Observed, rules: Sequence[NameMapRule], assets: Identifiers
    ) -> None:
        self.fabric, self.observed, self.rules, self.assets = fabric, observed, rules, assets
        self.names = DesignNames(fabric)
        self.base = fabric.port_base.tolist()
        self.planned = planned_far_ports(fabric)
        self.seen = Seen(fabric, observed, len(fabric.port_device), fabric.port_device.tolist())
        self.target: dict[str, tuple[int, str]] = {}  # device and adapter of a node
        self.extra: dict[tuple[str, str], int] = {}  # virtual port of (node, port)
        self.at_port: dict[str, int] = {}  # nodes that are one port of a host
        self.meant: dict[tuple[int, str, bool, str, tuple[str, ...], bool], tuple[int, ...]] = {}
        self.named: dict[str, bool] = {}  # whether a node has a name that is not of a factory
        self.fitting: dict[tuple[str, bool], tuple[int, Counter[int]]] = {}  # until a neighbour is matched
        self.given: dict[tuple[int, int], CapturedLink] = {}  # the first link between two ports, by side
        self.used: set[int] = set()  # ports at which a row says a cable
        self.doubtful: set[str] = set()  # nodes with a name that several have
        self.strange: set[str] = set()  # nodes with names that the design does not have, if most have such
        self.seen_devices: set[int] = set()
        self.learned: set[int] = set()  # ports at which only an address says what is there
        self.carried: dict[
            tuple[int, int], int
        ] = {}  # links of a planned cable, by the first ports of its ends
        self.through = ThroughCables(fabric)
        self.seen.unidentified = np.zeros(fabric.link_count, dtype=np.bool_)

    def run(self) -> Seen:
        """All steps."""
        for node in self.observed.nodes.values():
            if AGGREGATION.fullmatch(node.description):
                self.observed.aside[node.key] = "an aggregation node of in-network reduction"
            elif node.kind == "router":
                self.observed.aside[node.key] = "a router between subnets"
        self.by_name()
        self.by_identifier()
        self.by_position()
        self.split_clones()
        self.strange = self.strange_names()
        self.links()
        for node in self.observed.nodes.values():
            if node.key in self.target:
                self.seen.nodes[self.target[node.key][0]].append(node.key)
            elif node.key not in self.observed.aside:
                self.seen.unplanned.append(node.key)
        self.audited()
        self.seen.device_of = {key: device for key, (device, _) in self.target.items()}
        self.seen.ports_of = self.resolve
        return self.seen

    # ------------------------------------------------------------ which device a node is
    def by_name(self) -> None:
        """Match by names. A whole switch of which two nodes have the name is matched by neither."""
        claimed: dict[tuple[int, str], list[str]] = defaultdict(list)
        for node in self.observed.nodes.values():
            if node.key in self.observed.aside:
                continue
            for name, unit in device_name_readings(node.description, self.rules):
                device = self.names.device(name)
                if device >= 0 and self.fits(node, device, unit):
                    self.target[node.key] = device, unit
                    claimed[device, unit if node.kind == "adapter" else ""].append(node.key)
                    break
            else:
                device = self.device_in_file_name(node)
                if device >= 0:
                    self.target[node.key] = device, ""
                    claimed[device, ""].append(node.key)
        self.drop_switches_of_one_name(claimed)

    def device_in_file_name(self, node: CapturedNode) -> int:
        """The one device whose name is in the name of a file that a node is named after, beside words of
        commands and numbers alone, such as ``leaf0`` of ``show_lldp_leaf0`` or ``leaf0_2026-11-27``; -1 where
        there is none, or several. ``dc2-leaf0`` may be another device."""
        stem = node.description
        if not _is_named_after_file(node):
            return -1
        words = list(re.finditer(r"[A-Za-z0-9]+", stem))[:MOST_WORDS]
        found = {
            (a.start(), b.end()): device
            for i, a in enumerate(words)
            for b in words[i:]
            if (device := self.names.device(stem[a.start() : b.end()])) >= 0 and self.fits(node, device, "")
        }
        longest = {
            device
            for (start, end), device in found.items()
            if not any(a <= start and end <= b and (a, b) != (start, end) for a, b in found)
            and all(
                w[0].isdecimal() or w[0].casefold() in WORDS_OF_COMMANDS
                for w in words
                if not (start <= w.start() and w.end() <= end)
            )
        }
        return longest.pop() if len(longest) == 1 else -1

    def drop_switches_of_one_name(self, claimed: Mapping[tuple[int, str], list[str]]) -> None:
        """Take back the matches of nodes by a name that several of them have, but that of the node which the
        table of assets says it is. ``claimed`` are nodes by device and adapter."""
        for (device, _), keys in claimed.items():
            apart = sum(k in self.observed.apart for k in keys) > 1
            if len(keys) > 1 and (apart or any(self.observed.nodes[k].kind in INFINIBAND for k in keys)):
                chosen = self.by_assets(keys, device)
                for key in keys:
                    if key != chosen:
                        del self.target[key]
                        self.doubtful.add(key)

    def by_assets(self, keys: list[str], device: int) -> str:
        """Of nodes with one name, the one that has the identifier of the asset; "" where none has."""
        found = [
            k
            for k in keys
            if any(self.assets.owner.get(i, (-1, 0))[0] == device for i in self.observed.nodes[k].ids)
        ]
        return found[0] if len(found) == 1 else ""

    def fits(self, node: CapturedNode, device: int, unit: str) -> bool:
        """Whether a node may be this device: a switch is a switch, and an adapter names one that the host
        has."""
        if node.kind == "switch":
            return bool(self.fabric.is_switch[device])
        if node.kind == "adapter":
            return bool(self.fabric.is_end[device])
        return True

    def by_identifier(self) -> None:
        """Match by GUID, MAC or serial number of the table of assets; a device of a name with another
        identifier is noted."""
        owner = self.assets.owner
        for node in self.observed.nodes.values():
            if node.key in self.observed.aside:
                continue
            if node.ids and node.key not in self.target:
                self.by_imported_name(node)
            if not owner:
                continue
            found = {owner[i] for i in node.ids if i in owner}
            if node.key not in self.target and len({d for d, _ in found}) == 1:
                device, local = min(found)
                self.target[node.key] = device, ""
                if local >= 0:
                    self.at_port[node.key] = self.base[device] + local
            elif node.key in self.target and node.ids:
                self.identity(node, found)

    def by_imported_name(self, node: CapturedNode) -> None:
        """Match a node without a name of its own by the one that an import makes of its identifier."""
        called = [("unnamed", ""), *device_name_readings(node.description, self.rules)]
        for name, unit in called:
            named = [d for d in (self.names.device(f"{name}-{i}") for i in node.ids) if d >= 0]
            if (
                named
                and self.fits(node, named[0], unit)
                and (unit or name == "unnamed" or node.kind != "adapter")
            ):
                self.target[node.key] = named[0], unit or ("hca" if node.kind == "adapter" else "")
                return

    def identity(self, node: CapturedNode, found: set[tuple[int, int]]) -> None:
        """Note a named device whose identifier is not the planned one."""
        device, unit = self.target[node.key]
        local = self.names.local(device, (unit,)) if unit else (-1,)
        planned = [i for i, (d, p) in self.assets.owner.items() if d == device and (not local or p in local)]
        if planned and not any(d == device for d, _ in found):
            self.seen.identities.append((device, node.key, planned[0], node.ids[0]))

    def by_position(self) -> None:
        """Match what has no name of the design by its neighbours, as long as that gives new matches: where
        more than half of all its links fit; where there is none of these, what has no name at all, or one
        that others have, too, where more than half of the links fit whose other end is known; then such
        a node where they lead to one device, though to other ports; at last, where most switches or most
        hosts have names that the design does not have, these in the same ways."""
        around = self.ends_of_nodes()
        taken = _TakenPlaces(
            {d for d, _ in self.target.values()},
            {d for key, (d, _) in self.target.items() if not self.knows_name_alone(key)},
            self.ports_of_matched_adapters(),
        )
        open_ = [k for k in self.observed.nodes if k not in self.observed.aside and around[k]]
        by_name = Counter(bool(self.fabric.is_switch[d]) for d in taken.devices)
        evidence = (Evidence(True, True), Evidence(False, True), Evidence(False, False))
        steps = (*evidence, *(e._replace(renamed=True) for e in evidence[1:]))
        step = 0
        while step < len(steps):
            open_ = [k for k in open_ if k not in self.target]
            new = False
            elected = self.elect_places(open_, around, steps[step])
            if steps[step].renamed:
                elected = self.of_renamed_kinds(list(elected), by_name)
            for place, fit, known, key in elected:
                if self.is_taken(key, place, taken):
                    continue
                device = self.match_with_place(key, place, taken, around[key])
                self.seen.positioned.append(Positioned(key, device, fit, known, len(around[key])))
                new = True
            step = 0 if new else step + 1

    def of_renamed_kinds(
        self, elected: Sequence[tuple[int, int, int, str]], by_name: Mapping[bool, int]
    ) -> Iterator[tuple[int, int, int, str]]:
        """Of nodes that may be devices under new names, as ``elect_places`` gives them: the switches if they
        are, with those before them, several and more than those known ``by_name``, and the hosts likewise."""
        device = self.fabric.port_device
        kinds = [bool(self.fabric.is_switch[device[p] if self.single(k) else p]) for p, *_, k in elected]
        count = Counter(kinds) + Counter(bool(self.fabric.is_switch[p.device]) for p in self.seen.positioned)
        return (one for one, kind in zip(elected, kinds, strict=True) if count[kind] > max(by_name[kind], 1))

    def ends_of_nodes(self) -> dict[str, list[tuple[CapturedEnd, CapturedEnd]]]:
        """By node its own end and the other one of each of its links. A link that another capture gives, too,
        or the other side's, is no more evidence."""
        around: dict[str, list[tuple[CapturedEnd, CapturedEnd]]] = defaultdict(list)
        source: dict[tuple[tuple[str, str], tuple[str, str]], tuple[int, bool]] = {}
        for w in self.observed.wires:
            a, b = made_key(w.a), made_key(w.b)
            turned = b < a
            said_by = id(w.at.file), turned
            if source.setdefault((b, a) if turned else (a, b), said_by) == said_by:
                around[w.a.node].append((w.a, w.b))
                around[w.b.node].append((w.b, w.a))
        return around

    def is_taken(self, key: str, place: int, taken: _TakenPlaces) -> bool:
        """Whether the device (of an adapter: the port) that a node would be has a node already. A chassis
        without a name, heard by its neighbours alone, may be a device that is known by its name alone."""
        if self.single(key):
            return place in taken.ports
        chassis = self.nameless(key) and key not in self.observed.heard
        return place in (taken.heard_as if chassis else taken.devices)

    def match_with_place(
        self,
        key: str,
        place: int,
        taken: _TakenPlaces,
        links: Iterable[tuple[CapturedEnd, CapturedEnd]],
    ) -> int:
        """Match a node that has these ``links`` with a device (an adapter with a port), and return the
        device."""
        for _, far in links:
            for numbers in (False, True):
                self.fitting.pop((far.node, numbers), None)
        device = place
        if self.single(key):
            device = int(self.fabric.port_device[place])
            self.at_port[key] = place
            taken.ports.add(place)
        self.target[key] = device, ""
        taken.devices.add(device)
        taken.heard_as.add(device)
        return device

    def strange_names(self) -> set[str]:
        """Nodes with a name that the design does not have, where these are more than the nodes that are
        matched: which of them belongs where is then not known, and none is in a wrong place for its name."""
        self.seen_devices = {device for device, _ in self.target.values()}
        strange = {
            n.key
            for n in self.observed.nodes.values()
            if n.key not in self.target and n.key not in self.observed.aside and not has_factory_name(n)
        }
        return strange if len(strange) > len(self.target) else set()

    def split_clones(self) -> None:
        """Take neighbours of one name, without any identifier, for two devices where their ports are heard
        twice: of more than half of the links of a device that is not seen otherwise, where it is planned."""
        taken = {d for d, _ in self.target.values()}
        for key, ends in self.ends_known_by_name_alone().items():
            home, elsewhere = self.devices_planned_at_ends(self.target[key][0], ends)
            for device, found in elsewhere.items():
                if device not in taken and all(set(own.port[:1]) <= home for _, own in found):
                    self.split_clone(key, device, [i for i, _ in found])
                    taken.add(device)

    def ends_known_by_name_alone(self) -> dict[str, list[tuple[int, CapturedEnd, CapturedEnd]]]:
        """By node with a match that neighbours know by its name alone: the row of each of its links, its end
        and the other one."""
        of_node: dict[str, list[tuple[int, CapturedEnd, CapturedEnd]]] = defaultdict(list)
        for i, w in enumerate(self.observed.wires):
            for own, far in ((w.a, w.b), (w.b, w.a)):
                node = self.observed.nodes[own.node]
                alone = node.kind not in INFINIBAND and not node.ids and node.key not in self.observed.heard
                if alone and node.key in self.target:
                    of_node[node.key].append((i, own, far))
        return of_node

    def devices_planned_at_ends(
        self, matched: int, ends: Iterable[tuple[int, CapturedEnd, CapturedEnd]]
    ) -> tuple[set[str], dict[int, list[tuple[int, CapturedEnd]]]]:
        """Of a node's links, by their rows, own and other ends: the ports of those that are planned at the
        ``matched`` device, and the others by the device at which they are planned at a port of this name."""
        home: set[str] = set()
        elsewhere: dict[int, list[tuple[int, CapturedEnd]]] = defaultdict(list)
        for i, own, far in ends:
            ports = self.resolve(far)
            planned = int(self.planned[ports[0]]) if len(ports) == 1 and ports[0] < self.seen.ports else -1
            device = int(self.fabric.port_device[planned]) if planned >= 0 else -1
            if device == matched:
                home.update(own.port[:1])
            elif device >= 0 and planned - self.base[device] in self.names.local(device, own.port):
                elsewhere[device].append((i, own))
        return home, elsewhere

    def split_clone(self, key: str, device: int, wires: Sequence[int]) -> None:
        """Give the links of these rows to a node of its own, which is this device, where they are more than
        half of the device's links."""
        there = self.planned[self.base[device] : self.base[device + 1]]
        of = int((there >= 0).sum())
        if 2 * len(wires) <= of:
            return
        clone = f"{key} {self.fabric.device_path(device)}"
        at = self.observed.wires[wires[0]].at
        self.observed.nodes[clone] = self.observed.nodes[key]._replace(key=clone, at=at)
        for i in wires:
            w = self.observed.wires[i]
            a, b = (end._replace(node=clone) if end.node == key else end for end in (w.a, w.b))
            self.observed.wires[i] = w._replace(a=a, b=b)
        self.target[clone] = device, ""
        self.seen.positioned.append(Positioned(clone, device, len(wires), len(wires), len(wires)))

    def ports_of_matched_adapters(self) -> set[int]:
        """Ports that adapters with a match have."""
        ports = set(self.at_port.values())
        for key, (device, unit) in self.target.items():
            if self.observed.nodes[key].kind == "adapter":
                ports |= {self.base[device] + p for p in self.names.local(device, (unit,))}
        return ports

    def elect_places(
        self,
        keys: Iterable[str],
        around: Mapping[str, list[tuple[CapturedEnd, CapturedEnd]]],
        evidence: Evidence,
    ) -> Iterator[tuple[int, int, int, str]]:
        """For each device (of an adapter: the port) the node that it fits best, unless two fit as well: the
        place, how many links fit, of how many that were looked at, the node."""
        votes: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        for key in keys:
            best = self.vote(key, around[key], evidence)
            if best is not None:
                votes[best[0]].append((*best[1:], key))
        for place, candidates in votes.items():
            candidates.sort(key=lambda c: (-c[0], c[2]))
            if len(candidates) == 1 or candidates[1][0] != candidates[0][0]:
                yield place, *candidates[0]

    def single(self, key: str) -> bool:
        """Whether a node is one adapter, so that it is matched with a port of a host."""
        return self.observed.nodes[key].kind == "adapter"

    def knows_name_alone(self, key: str) -> bool:
        """Whether a node is known by its own capture or a table only, so that it may be heard elsewhere by
        its chassis, under a name that says nothing."""
        node = self.observed.nodes[key]
        return node.kind not in INFINIBAND and key in self.observed.heard and not node.ids

    def nameless(self, key: str) -> bool:
        """Whether a neighbour tells no more of itself than an address, as the firmware of an adapter does."""
        node = self.observed.nodes[key]
        return node.kind not in INFINIBAND and is_factory_description(node.description)

    def places_of_known_ends(
        self, key: str, links: list[tuple[CapturedEnd, CapturedEnd]], numbers: bool
    ) -> tuple[int, Counter[int]]:
        """How many of a node's links have a known other end, and how many fit each place."""
        found = self.fitting.get((key, numbers))
        if found is not None:
            return found
        count: Counter[int] = Counter()
        known = 0
        for own, far in links:
            ports = self.resolve(far)
            if len(ports) == 1 and ports[0] < self.seen.ports:
                known += 1
                place = self.place_by_neighbour(key, own, ports[0], numbers)
                if place >= 0:
                    count[place] += 1
        self.fitting[key, numbers] = known, count
        return known, count

    def vote(
        self, key: str, links: list[tuple[CapturedEnd, CapturedEnd]], evidence: Evidence
    ) -> tuple[int, int, int] | None:
        """The device (of an adapter: the port) that more than half of a node's links fit, how many do, and of
        how many: of all, or of those whose other end is known. One link of what has no name says nothing:
        whatever is plugged there would fit."""
        named = self.says_own_name(key) and not evidence.renamed
        known, count = self.places_of_known_ends(key, links, named or evidence.numbers)
        if not count:
            return None
        (place, fit), *others = count.most_common(2)
        if others and others[0][1] == fit:
            return None
        if (self.nameless(key) or evidence.renamed) and fit < 2:
            return None
        links_asked = len(links) if evidence.all_links or named else known
        return (place, fit, links_asked) if 2 * fit > links_asked else None

    def says_own_name(self, key: str) -> bool:
        """Whether a node has a name that somebody gave it, and it alone."""
        if key not in self.named:
            self.named[key] = not has_factory_name(self.observed.nodes[key])
        return self.named[key] and key not in self.doubtful

    def place_by_neighbour(self, key: str, own: CapturedEnd, far: int, numbers: bool) -> int:
        """The device (of an adapter: the port) that a node is where its link runs as planned at the far port,
        of a switch with ``numbers`` at its own port, too; -1 where it can be none."""
        planned = int(self.planned[far])
        if planned < 0:
            return -1
        device = int(self.fabric.port_device[planned])
        if self.single(key):
            return planned if self.fabric.is_end[device] else -1
        if self.observed.nodes[key].kind != "switch":
            return device
        fits = bool(self.fabric.is_switch[device]) and (not numbers or self.number_fits(own, planned))
        return device if fits else -1

    def number_fits(self, own: CapturedEnd, planned: int) -> bool:
        """Whether the number of a switch's port is that of the port which the design connects there."""
        device = int(self.fabric.port_device[planned])
        return own.port[0] == str(planned - self.base[device] + 1)

    # ------------------------------------------------------------ which port an end is
    def resolve(self, end: CapturedEnd) -> tuple[int, ...]:
        """The ports of the design that an end means; none where its node or its port is not known."""
        found = self.target.get(end.node)
        if found is None:
            return ()
        device, unit = found
        base = self.base[device]
        node = self.observed.nodes[end.node]
        if end.node in self.at_port:
            return (self.at_port[end.node],)
        if end.id and end.id in self.assets.owner and self.assets.owner[end.id][0] == device:
            local = self.assets.owner[end.id][1]
            if local >= 0:
                return (base + local,)
        if node.kind == "switch":
            at = int(end.port[0]) - 1
            return (base + at,) if 0 <= at < self.base[device + 1] - base else ()
        key = device, node.kind, node.ports == 1, unit, end.port, end.printed
        if key not in self.meant:  # each step of a match by neighbours asks for all ends again
            self.meant[key] = tuple(base + p for p in self.local_ports(node, device, unit, end))
        return self.meant[key]

    def local_ports(self, node: CapturedNode, device: int, unit: str, end: CapturedEnd) -> tuple[int, ...]:
        """The ports of a device that an end of an adapter or a named port means, from 0."""
        if node.kind == "adapter":
            names = [f"{unit}/{end.port[0]}", *([unit] if end.port[0] == "1" or node.ports == 1 else [])]
            return self.names.local(device, names) or (self.lone(device) if not unit else ())
        names = [*([unit] if unit else []), *end.port]
        return self.names.local(device, names, end.printed) or self.numbered(device, end.port)

    def numbered(self, device: int, names: tuple[str, ...]) -> tuple[int, ...]:
        """The port of a switch that is called ``Port 21`` or ``21``, and that of any device whose
        number in the model is given as ``#21``."""
        first = names[0] if names else ""
        of_model = first.startswith("#")
        word = first[1:] if of_model else first.lower().removeprefix("port").strip()
        at = int(word) - 1 if word.isascii() and word.isdigit() and len(word) < 6 else -1
        inside = (of_model or self.fabric.is_switch[device]) and 0 <= at < self.base[device + 1] - self.base[
            device
        ]
        return (at,) if inside else ()

    def lone(self, device: int) -> tuple[int, ...]:
        """The port of a device that has one only."""
        return (0,) if self.base[device + 1] - self.base[device] == 1 else ()

    def links(self) -> None:
        """Every link in the rows of the fabric; those whose ends are both known come first. What is not
        compared is set aside with the reason."""
        aside = self.observed.aside
        later: list[CapturedLink] = []
        learned: list[CapturedLink] = []
        for wire in self.observed.wires:
            why = aside.get(wire.a.node) or aside.get(wire.b.node)
            if why:
                self.set_aside(why, wire)
                continue
            if wire.learned:
                learned.append(wire)
                continue
            a, b = self.resolve(wire.a), self.resolve(wire.b)
            if not a or not b or not self.join_planned_ends(a, b, wire):
                later.append(wire)
        later = [w for w in later if not self.join_other_ends(self.resolve(w.a), self.resolve(w.b), w)]
        self.join_through()
        later.sort(key=lambda w: self.nameless(w.a.node) or self.nameless(w.b.node))
        for wire in later:
            self.link_by_either_end(wire)
        for wire in learned:
            self.link_by_address(wire)

    def link_by_either_end(self, wire: CapturedLink) -> None:
        """A link of which at most one end is known, from that end; set aside where none is."""
        a, b = self.resolve(wire.a), self.resolve(wire.b)
        known = (a or b)[:1]
        if known:
            self.link_with_one_known_end(known[0], wire.b if a else wire.a, wire)
        elif wire.a.node in self.target or wire.b.node in self.target:
            self.set_aside(NO_SUCH_PORT, wire)
        else:
            self.set_aside(NO_DEVICE, wire)

    def link_by_address(self, wire: CapturedLink) -> None:
        """A link that is known by an address at a port alone: none where another capture says what is at
        either end."""
        a, b = self.resolve(wire.a), self.resolve(wire.b)
        far = self.seen.far
        if not a:
            self.set_aside(NO_SUCH_PORT if wire.a.node in self.target else NO_DEVICE, wire)
        elif b and far.get(a[0], -1) == b[0]:
            self.seen.used += 1
            self.seen.again += 1
        elif a[0] in far or (b and b[0] in far):
            self.set_aside(BETTER_KNOWN, wire)
        elif b:
            self.join_known_ends(a[:1], b[:1], wire)
            self.learned |= {a[0], b[0]}
        else:
            known = len(far)
            self.link_with_one_known_end(a[0], wire.b, wire)
            if len(far) > known:
                self.learned |= {a[0], far[a[0]]}

    def set_aside(self, why: str, wire: CapturedLink) -> None:
        """Note a link that is not compared with the design."""
        self.seen.aside.append((why, wire))

    def join_planned_ends(self, a: Sequence[int], b: Sequence[int], wire: CapturedLink) -> bool:
        """Note the links of a cable whose ends are both known; False where an end has several ports to choose
        from, and no link is planned between them that is not taken yet.

        A table names the cage of a cable, or the connector with several lanes, and not which of its ports
        it uses: rows that name the same two are the cables that the design plans there.
        """
        count = wire.carries or self.links_of_cable(a, b) or (len(a) if len(a) == len(b) else 1)
        if len(a) == len(b) == count:
            self.join_known_ends(a, b, wire)
            return True
        pairs = self.planned_pairs(a, b)
        if self.is_said_already(pairs, wire):
            self.seen.used += 1
            self.seen.again += 1
            return True
        if len(pairs) < count:  # a connector is named after its first port
            pairs = self.planned_pairs(
                *(self.ports_of_connector(*side) if len(side) == 1 else side for side in (a, b))
            )
        if len(pairs) < count and len(a) == len(b) == 1:  # and so are cages that one cable joins
            pairs = self.links_between_cages.get((a[0], b[0]), pairs)
        free = [e for e in pairs if e not in self.given and e[::-1] not in self.given][:count]
        if len(free) < count:
            return False
        self.join_known_ends([p for p, _ in free], [q for _, q in free], wire)
        return True

    @cached_property
    def links_between_cages(self) -> Mapping[tuple[int, int], list[tuple[int, int]]]:
        """By the first ports of the cages that a cable of several links joins: the ports of its links."""
        f = self.fabric
        out: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        links, legs = CableIndex(f).crossings
        several = np.flatnonzero(f.cable_links[legs] > 1)
        for link, leg in zip(links[several].tolist(), legs[several].tolist(), strict=True):
            p, q = int(f.link_a[link]), int(f.link_b[link])
            a, b = int(f.cable_a[leg]), int(f.cable_b[leg])
            if f.port_device[a] != f.port_device[p]:
                p, q = q, p
            out[a, b].append((p, q))
            out[b, a].append((q, p))
        return out

    def planned_pairs(self, a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
        """The pairs of ports between two ends between which a cable is planned."""
        return [(p, q) for p in a for q in b if self.is_planned(p, q)]

    def ports_of_connector(self, port: int) -> Sequence[int]:
        """The ports that share the connector of a port, or its name for the operating system, from it on."""
        device = int(self.fabric.port_device[port])
        local = port - int(self.base[device])
        for c in self.fabric.model_of(device).classes:
            if local < c.size:
                of_port = c.connectors[local], c.systems[local] or None
                same = (
                    c.connectors[i] == of_port[0] or c.systems[i] == of_port[1] for i in range(local, c.size)
                )
                return range(port, port + sum(1 for _ in takewhile(bool, same)))
            local -= c.size
        return (port,)

    def is_said_already(self, pairs: Iterable[tuple[int, int]], wire: CapturedLink) -> bool:
        """Whether links between these pairs of ports are known, all of them from other captures or from the
        other side."""
        again = [self.given[e] for p, q in pairs for e in ((p, q), (q, p)) if e in self.given]
        return bool(again) and all(w.at.file is not wire.at.file or w.a.node != wire.a.node for w in again)

    def links_of_cable(self, a: Sequence[int], b: Sequence[int]) -> int:
        """How many links a cable carries that the design plans between two connectors; 0 where it plans none,
        or where each end is one port."""
        if len(a) == len(b) == 1:
            return 0
        if not self.carried:
            f = self.fabric
            ends = zip(f.cable_a.tolist(), f.cable_b.tolist(), f.cable_links.tolist(), strict=True)
            self.carried = {(p, q): links for p, q, links in ends} or {(-1, -1): 0}
        both = ((p, q) for p in a for q in b)
        return next((n for p, q in both for e in ((p, q), (q, p)) if (n := self.carried.get(e, 0))), 0)

    def is_planned(self, p: int, q: int) -> bool:
        """Whether a cable between two ports is planned."""
        return (
            int(self.planned[p]) == q or self.through.planned.get(p) == q or self.through.planned.get(q) == p
        )

    def join_other_ends(self, a: Sequence[int], b: Sequence[int], wire: CapturedLink) -> bool:
        """Note a cable whose ends are both known, where no link is planned: at the first ports that no row
        has named. False where an end is not known."""
        if not a or not b:
            return False
        ends = [next((p for p in side if p not in self.used), side[0]) for side in (a, b)]
        self.join_known_ends(ends[:1], ends[1:], wire)
        return True

    def join_through(self) -> None:
        """Note the links that cables at panels and optical circuit switches make together; of a cable that
        leads on to none, where it ends."""
        for p, q, wire in self.through.links():
            self.join(p, q, wire)
        for p, x, wire in self.through.strays():
            if p not in self.seen.far:
                device = int(self.fabric.port_device[x])
                name = self.fabric.port_label(x)
                self.join(p, self.made(CapturedEnd(self.fabric.device_path(device), (name,)), device), wire)

    def join_known_ends(self, a: Sequence[int], b: Sequence[int], wire: CapturedLink) -> None:
        """Note the links of a cable whose ends are both known; of one that is known already, that it was said
        again."""
        self.seen.used += 1
        far = [self.through.seen if self.crosses(p, q) else self.seen.far for p, q in zip(a, b, strict=True)]
        self.seen.again += all(f.get(p) == q for f, p, q in zip(far, a, b, strict=True))
        first = self.given.setdefault((a[0], b[0]), wire)
        if first is not wire and first.at.file is wire.at.file:
            self.seen.repeated.append((wire, first))
        for p, q in zip(a, b, strict=True):
            self.given.setdefault((p, q), wire)
            self.used |= {p, q}
            if not self.crosses(p, q):
                self.join(p, q, wire)
                continue
            taken = self.through.add(p, q, wire)
            if taken >= 0:
                self.seen.conflicts.append((taken, self.through.wire[taken], wire))

    def crosses(self, p: int, q: int) -> bool:
        """Whether a cable ends at a panel or an optical circuit switch."""
        return self.through.is_inner(p) or self.through.is_inner(q)

    def link_with_one_known_end(self, near: int, end: CapturedEnd, wire: CapturedLink) -> None:
        """A link at a known port: as planned where the other end is at the planned device, else to a port
        that is made for it."""
        device = self.target[end.node][0] if end.node in self.target else -1
        if near in self.seen.far:  # the other side's capture says it better
            self.compare_neighbours(near, end, device, wire)
            return
        planned = int(self.planned[near])
        why = self.reason_not_identified(end.node, planned) if device < 0 else ""
        if why:
            self.set_aside(why, wire)
            if planned >= 0:
                self.seen.unidentified[self.fabric.port_link[near]] = True
            return
        at_device = device >= 0 and planned >= 0 and int(self.fabric.port_device[planned]) == device
        if planned < 0 and device < 0 and self.observed.nodes[end.node].kind not in INFINIBAND:
            self.set_aside(FREE_PORT, wire)
            return
        if (
            at_device and wire.reported and end is wire.b
        ):  # who saw the port would not have written the plan's
            self.set_aside(REPORTED_PORT, wire)
            return
        self.seen.used += 1
        known = at_device and planned not in self.seen.far
        if known and any(name and not hexadecimal_digits(name) for name in end.port):
            self.seen.assumed.append(wire)
        self.join(near, planned if known else self.made(end, device), wire)

    def reason_not_identified(self, node: str, planned: int) -> str:
        """Why nothing is known of a neighbour that is no device of the design, where the port ``planned`` is
        to be (-1 none); "" where it is another device than planned."""
        if self.nameless(node):
            return NOT_IDENTIFIED if planned >= 0 else FREE_PORT
        device = int(self.fabric.port_device[planned]) if planned >= 0 and node in self.strange else -1
        return UNKNOWN_NAME if device >= 0 and device not in self.seen_devices else ""

    def compare_neighbours(self, near: int, end: CapturedEnd, device: int, wire: CapturedLink) -> None:
        """A link at a port whose neighbour is known: said again where it is the same one, else set aside.
        ``device`` is that of the other end, -1 where it is not known."""
        far = self.seen.far[near]
        if self.seen.device(far) == device and (device >= 0 or self.extra.get(made_key(end)) == far):
            self.seen.used += 1
            self.seen.again += 1
        else:
            self.set_aside(OTHER_NEIGHBOUR, wire)

    def made(self, end: CapturedEnd, device: int) -> int:
        """A port that stands for one the design does not have."""
        key = made_key(end)
        if key not in self.extra:
            self.extra[key] = self.seen.ports + len(self.seen.virtual)
            self.seen.virtual.append(Virtual(device, *key))
        return self.extra[key]

    def join(self, p: int, q: int, wire: CapturedLink) -> None:
        """Note a link, unless one of its ports has another."""
        far = self.seen.far
        if p == q:
            self.seen.loops.append(wire)
            return
        for x, y in ((p, q), (q, p)):
            if far.get(x, y) != y:
                self.seen.conflicts.append((x, self.seen.wire[x], wire))
                return
        first = self.seen.wire.get(p)
        if first is None or (wire.rate and not first.rate):
            self.seen.wire[p] = self.seen.wire[q] = wire
        far[p], far[q] = q, p

    # ------------------------------------------------------------ what the captures would show
    def audited(self) -> None:
        """Links of subnets that were captured as a whole, and links of devices whose own ports were read."""
        f = self.fabric
        heard = np.zeros(f.device_count + 1, dtype=np.bool_)
        whole = np.zeros(f.device_count + 1, dtype=np.bool_)
        for key, (device, _) in self.target.items():
            if self.observed.nodes[key].kind in INFINIBAND:
                whole[device] |= bool(f.is_switch[device])
            elif key in self.observed.heard:
                heard[device] = True
        out = (heard[f.device_a] | heard[f.device_b]) & ~self.unlisted_traces()
        if self.observed.whole and f.link_count:
            number = subnet_of_links(f)
            touched = np.unique(number[whole[f.device_a] | whole[f.device_b]])
            out |= np.isin(number, touched)
        for port in self.learned:
            link = int(f.port_link[port]) if port < self.seen.ports else -1
            if link >= 0:
                out[link] = True
        self.seen.audited = out

    def unlisted_traces(self) -> Bools:
        """Links on boards and backplanes, where no capture lists one: tables of cables have cables alone."""
        f = self.fabric
        boards = np.isin(f.link_medium, [MEDIA.index(m) for m in ("trace", "backplane")])
        ends = (*f.link_a[boards].tolist(), *f.link_b[boards].tolist())
        return boards & (not any(port in self.seen.far for port in ends))


def made_key(end: CapturedEnd) -> tuple[str, str]:
    """What tells a port that stands for one the design does not have from others: its node and its name."""
    return end.node, end.port[0] if end.port else ""


def has_factory_name(node: CapturedNode) -> bool:
    """Whether a node has no name of its own."""
    return is_factory_description(node.description)
