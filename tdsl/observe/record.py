"""What captures say, in one form for all formats: nodes, links between their ports, and where each was
read."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, NamedTuple

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import HIDDEN, SourceFile, SourceSpan
from tdsl.observe.names import is_factory_description
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun

if TYPE_CHECKING:
    from tdsl.observe.panels import PanelCables

LONGEST_NAME = 512
MOST_NODES = 1 << 21
MOST_LINKS = 1 << 23
MOST_ALIKE = 5
"""Faults of one kind in a capture that are reported each for itself; of more the first, with their number."""
OF_ONE_LINE = re.compile(r"'[^']*+'|\d++")
"""What a message says of its own line alone: what it quotes, and numbers."""
SHORTEST_ADDRESS = 12
"""Characters of a MAC address without signs between its digits."""
INFINIBAND = ("switch", "adapter", "router")
"""Kinds of nodes that readers of InfiniBand captures give; their ports are numbers."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


class Malformed(Exception):
    """A capture that cannot be read further: the line, what is wrong, and what to do."""

    def __init__(self, line: int, message: str, help: str = "") -> None:
        super().__init__(message)
        self.line, self.message, self.help = line, message, help


class CaptureLine(NamedTuple):
    """A line of a capture, counted from 1 in the text that its reader has."""

    file: SourceFile
    line: int

    @property
    def number(self) -> int:
        """The line's number in the file, of which the text may be a part."""
        return self.line + self.file.lines_above

    @property
    def span(self) -> SourceSpan:
        """The text of the line without the blanks around it."""
        start = self.file.line_starts[self.line - 1]
        text = self.file.line(self.number)
        lead = len(text) - len(text.lstrip())
        return SourceSpan(self.file, start + lead, start + max(len(text.rstrip()), lead))

    @property
    def text(self) -> str:
        """``FILE:LINE``."""
        return f"{self.file.name}:{self.number}"


def line_at(file: SourceFile, offset: int) -> int:
    """The line of an offset in the text of a capture, as ``CaptureLine`` counts."""
    return file.position(offset)[0] - file.lines_above


class CapturedNode(NamedTuple):
    """A device as a capture names it: a switch, a host, or one adapter of a host.

    ``key`` is the same in all captures; ``ids`` are GUIDs, MAC addresses and serial numbers as hexadecimal
    digits or text; ``ports`` is their number where the capture says it, else 0.
    """

    key: str
    description: str
    kind: str  # "switch", "adapter", "router" (of InfiniBand), "host", "forwarder" (any switch), "" unknown
    ids: tuple[str, ...]
    ports: int
    at: CaptureLine

    def with_more(self, description: str, kind: str, ids: tuple[str, ...], ports: int) -> CapturedNode:
        """The node with what one more capture says of it."""
        return self._replace(
            description=self.description or description,
            kind=self.kind or kind,
            ids=self.ids + tuple(i for i in ids if i not in self.ids),
            ports=max(self.ports, ports),
        )

    def has_all_of(self, description: str, kind: str, ids: tuple[str, ...], ports: int) -> bool:
        """Whether what a capture says of the node once more is known."""
        same = self.description == description and kind in ("", self.kind) and ports <= self.ports
        return same and (not ids or set(ids) <= set(self.ids))


class CapturedModel(NamedTuple):
    """What a design in another language says of all devices of one kind: its name, and the names of its
    ports, also of those without a cable; none where it does not list them."""

    name: str
    ports: tuple[str, ...] = ()


class LeftOutRow(NamedTuple):
    """A row of a capture that is no link between two ports of a network, or is not taken for one: why, where,
    and the row as a person reads it."""

    why: str
    at: CaptureLine
    text: str


class CapturedEnd(NamedTuple):
    """One end of a link: its node, the names of the port from the surest to the least, and the MAC or GUID of
    the port. ``printed``: the first name is that on the faceplate, as lists for technicians have it, and not
    one of an operating system."""

    node: str
    port: tuple[str, ...]
    id: str = ""
    printed: bool = False


class CapturedLink(NamedTuple):
    """A link that was seen. ``rate`` in bit/s and ``lanes`` are 0 where unknown; ``could`` is the rate
    that both ends support. ``carries`` is the number of links of the cable where the capture says it,
    else 0; ``leg`` says that it is a leg of a breakout, which shares its connector at one end with others.
    ``learned``: the far end is known by an address alone that traffic has shown there, which a
    neighbour's own word outweighs. ``reported``: a person wrote end ``b`` in place of the planned one."""

    a: CapturedEnd
    b: CapturedEnd
    at: CaptureLine
    rate: int = 0
    lanes: int = 0
    could: int = 0
    carries: int = 0
    learned: bool = False
    leg: bool = False
    reported: bool = False


class CapturedModule(NamedTuple):
    """What is plugged into a cage, by its own memory: vendor, part number and serial number as they are
    written there; ``part`` is "" where there is no module, or where the capture does not give it
    (``present``)."""

    end: CapturedEnd
    vendor: str
    part: str
    serial: str
    present: bool
    at: CaptureLine


class CapturedHealth(NamedTuple):
    """How a link runs as the port at one end sees it: its state as written, bit/s and lanes (0 unknown),
    the rate of bit errors that are left behind the error correction (-1 unknown) and their number (-1
    unknown)."""

    end: CapturedEnd
    state: str
    rate: int
    lanes: int
    errors_per_bit: float
    errors: int
    at: CaptureLine


class CapturedTopology(NamedTuple):
    """What a host says of its accelerators and adapters: ``cells`` has the word for each pair of names
    that the matrix has (``NV18``, ``PIX``, ``SYS``); adapters are named as their driver names them."""

    node: str
    accelerators: tuple[str, ...]
    adapters: tuple[str, ...]
    cells: dict[tuple[str, str], str]
    at: CaptureLine


class CapturedPlacement(NamedTuple):
    """The group in which a scheduler has a host: the source and the level (``Slurm tree``, 0 is nearest
    to the host)."""

    node: str
    source: str
    level: int
    group: str
    at: CaptureLine


class CapturedRoute(NamedTuple):
    """A row of a forwarding table: by which port (0 is the switch itself) packets for a LID leave, and what
    has this LID: a switch, an adapter or a router, and its name."""

    lid: int
    port: int
    kind: str
    name: str
    at: CaptureLine


class CapturedTable(NamedTuple):
    """The forwarding table of a switch."""

    node: str
    rows: tuple[CapturedRoute, ...]
    at: CaptureLine


CapturedFact = CapturedModule | CapturedHealth | CapturedTopology | CapturedPlacement | CapturedTable


class LooseLink(NamedTuple):
    """A link of which a node is described in another part of a capture that was cut into several files: the
    link, and the names by which nodes are missing there, with a line each."""

    link: CapturedLink
    missing: tuple[tuple[str, CaptureLine], ...]


@dataclass(slots=True)
class SidesListed:
    """Links of a capture that lists each from both of its ends, as ends that a reader knows them by."""

    seen: set[tuple[tuple[str, str], tuple[str, str]]] = field(default_factory=set)

    def is_other_side(self, here: tuple[str, str], there: tuple[str, str]) -> bool:
        """Whether a row is the first one that lists a link from its other end; a row that is there again is
        none."""
        if (here, there) in self.seen:
            return False
        self.seen.add((here, there))
        return (there, here) in self.seen


@dataclass(slots=True)
class Observed:
    """All captures together. ``heard`` are nodes whose own ports were read; ``whole``: a capture is of a
    whole subnet.

    A row that a reader meets is a link (``wires``), is left out with its reason (``left``), or is a fault.
    ``apart`` are nodes that share a name and are different devices by their chassis.
    """

    nodes: dict[str, CapturedNode] = field(default_factory=dict)
    wires: list[CapturedLink] = field(default_factory=list)
    heard: set[str] = field(default_factory=set)
    heard_by_name: dict[tuple[str, str], str] = field(
        default_factory=dict
    )  # those of these that are known by a name, by it and their kind
    aside: dict[str, str] = field(default_factory=dict)  # nodes that no design plans, with the reason
    alias: dict[str, str] = field(default_factory=dict)  # GUIDs of ports of adapters, and the node of each
    left: list[LeftOutRow] = field(default_factory=list)
    facts: list[CapturedFact] = field(default_factory=list)  # what captures say of things other than links
    facts_left: list[LeftOutRow] = field(default_factory=list)  # rows of such captures that are no fact
    models: dict[str, CapturedModel] = field(default_factory=dict)  # of nodes, where a capture says it
    apart: set[str] = field(default_factory=set)
    chassis: dict[str, list[str]] = field(
        default_factory=dict
    )  # nodes of one name, each of another chassis; the first is also what is known by the name alone
    spelled: dict[str, dict[str, CaptureLine]] = field(
        default_factory=dict
    )  # names of devices as they are written, by the name without case, each where it is first
    whole: bool = False
    parts_follow: bool = False  # whether what a capture names may be described in another file
    open_block: tuple[str, str] | None = None  # the node whose ports the next part of a capture goes on with
    loose: list[LooseLink] = field(default_factory=list)  # links to what no block of their own file describes
    panels: PanelCables | None = None  # cables at patch panels, which are links once all are known
    files: int = 0
    findings: Diagnostics = field(default_factory=Diagnostics)
    faults: dict[tuple[int, str, str], list[int]] = field(
        default_factory=dict
    )  # places of faults among the findings, by file, code and what they say to do
    more: dict[tuple[int, str, str], int] = field(default_factory=dict)  # faults beside these, counted

    def node(
        self, key: str, description: str, kind: str, ids: tuple[str, ...], ports: int, at: CaptureLine
    ) -> None:
        """Add a node, or what one more capture says of it."""
        if len(key) > LONGEST_NAME or len(description) > LONGEST_NAME:
            raise Malformed(at.line, f"a name has more than {LONGEST_NAME} characters")
        old = self.nodes.get(key)
        if old is not None and old.has_all_of(description, kind, ids, ports):
            return
        if (old is None or old.description != description) and not is_factory_description(description):
            self.note_spelling(description if kind != "adapter" else description.partition(" ")[0], at)
        if old is None:
            if len(self.nodes) >= MOST_NODES:
                raise Malformed(at.line, f"there are more than {MOST_NODES:,} devices")
            self.nodes[key] = CapturedNode(key, description, kind, ids, ports, at)
        elif old[1:5] != (description, kind, ids, ports):
            self.nodes[key] = old.with_more(description, kind, ids, ports)

    def note_spelling(self, name: str, at: CaptureLine) -> None:
        """Keep where a name is first spelt so: names of devices that differ in case alone are of one device,
        as host names are (RFC 4343)."""
        self.spelled.setdefault(name.casefold(), {}).setdefault(name, at)

    def wire(self, wire: CapturedLink) -> None:
        """Add a link."""
        if len(self.wires) >= MOST_LINKS:
            raise Malformed(wire.at.line, f"there are more than {MOST_LINKS:,} links")
        self.wires.append(wire)

    def fact(self, fact: CapturedFact) -> None:
        """Add what a capture says of something that is no link."""
        if len(self.facts) >= MOST_LINKS:
            raise Malformed(fact.at.line, f"there are more than {MOST_LINKS:,} facts")
        self.facts.append(fact)

    @property
    def fact_rows(self) -> int:
        """Rows of captures of other things than links: facts, each row of a forwarding table, and what is no
        fact."""
        tables = sum(len(f.rows) - 1 for f in self.facts if isinstance(f, CapturedTable))
        return len(self.facts) + tables + len(self.facts_left)

    def leave_fact_out(self, why: str, at: CaptureLine, text: str) -> None:
        """Note a row that is no fact which can be compared."""
        self.facts_left.append(LeftOutRow(why, at, text))

    def leave_out(self, why: str, at: CaptureLine, text: str) -> None:
        """Note a row that is no link, or is not taken for one."""
        self.left.append(LeftOutRow(why, at, text))

    def named_node(self, name: str, mac: str) -> str:
        """The key of the device of a name whose chassis has this MAC address ("" where it is not known).

        A second chassis of one name has a key of its own until all captures are read.
        """
        first = next(iter(self.spelled.get(name.casefold(), (name,))))
        base = f"name:{first}"
        if not mac:
            return base
        group = self.chassis.setdefault(base, [mac])
        if mac not in group:
            group.append(mac)
        return base if mac == group[0] else f"{base} {mac}"

    def settle(self) -> None:
        """Once all captures are read: join the nodes that one capture knows by the GUID of a port, the
        chassis of one name that no port tells apart, and chassis without a name with the device that has
        their address."""
        self._settle_parts()
        self._merge_faults()
        if self.panels is not None:
            self.panels.join_links(self)
        self._note_names_of_two_spellings()
        self._settle_names()
        self._settle_nameless()
        for key, node in self.alias.items():
            if key in self.nodes and node in self.nodes and key != node:
                old = self.nodes.pop(key)
                self.node(node, old.description, old.kind, old.ids, old.ports, old.at)
        for i, w in enumerate(self.wires):
            if w.a.node in self.alias or w.b.node in self.alias:
                self.wires[i] = w._replace(a=self._settled(w.a), b=self._settled(w.b))

    def _note_names_of_two_spellings(self) -> None:
        """Report names that differ in case alone."""
        several = [list(s.items()) for s in self.spelled.values() if len(s) > 1]
        if several:
            (_, first), (_, second) = several[0][:2]
            listed = ", ".join(" and ".join(f"`{name}`" for name, _ in one[:3]) for one in several[:4])
            self.note(
                "E0604",
                second,
                f"{counted_noun(len(several), 'device')} named in ways that differ in case alone, "
                f"{'each taken' if len(several) > 1 else 'taken'} for one: {listed}"
                f"{' …' if len(several) > 4 else ''}",
                labels=[(first, "the first of these names")],
                help="write a name in one way; if they are several devices, give each a name of its own",
            )

    def _settle_parts(self) -> None:
        """Add the links between the parts of a capture that was cut into several files."""
        reported: set[str] = set()
        for link, missing in self.loose:
            lacking = [(name, at) for name, at in missing if key_of_infiniband_node(name) not in self.nodes]
            for name, at in lacking:
                if name not in reported:
                    reported.add(name)
                    self.fault_of_missing_block(at, name)
            if not lacking:
                self.wire(link)

    def fault_of_missing_block(self, at: CaptureLine, name: str) -> None:
        """Report a node that no block describes: the capture is cut."""
        self.fault(
            at.file,
            at.line,
            f"the capture is incomplete: it has no block for {name}, which this line names",
            "capture the whole subnet again; nothing is judged from a part of it",
            "E0602",
        )

    def _settle_names(self) -> None:
        """Nodes of one name are devices of their own, since their chassis differ, unless each of them is
        heard at one port alone, and no two at a port of one name: some systems send an address of the port
        as that of the chassis (NX-OS does), and then the name is the surer sign.

        A name that devices have from the factory never joins any.
        """
        groups = self._chassis_by_name()
        met = self._ports_heard({key for keys in groups.values() for key in keys})
        joined: list[str] = []
        for base, keys in groups.items():
            ports = [p for k in keys for p in {p[0] for p in met[k]}]
            alone = all(len(met[k]) <= 1 for k in keys) and len(ports) == len(set(ports))
            if alone and not is_factory_description(self.nodes[base].description):
                self.alias.update(dict.fromkeys(keys[1:], base))
                joined.append(base)
                continue
            self.apart.update(keys)
            self._settle_own_captures(base, keys)
            self._note_devices_of_one_name(base, keys)
        if joined:
            self._note_joined_chassis(joined)

    def _chassis_by_name(self) -> dict[str, list[str]]:
        """By name that several chassis have, by its key: the keys of these chassis."""
        return {
            base: [base, *(f"{base} {mac}" for mac in macs[1:])]
            for base, macs in self.chassis.items()
            if len(macs) > 1
        }

    def _note_devices_of_one_name(self, base: str, keys: list[str]) -> None:
        """Report chassis of one name that are taken for devices of their own."""
        nodes = [self.nodes[k] for k in keys]
        self.note(
            "E0604",
            nodes[1].at,
            f"{len(keys)} chassis are named `{nodes[0].description}`, and are taken for devices of their "
            f"own: {', '.join(self.chassis[base][:4])}{' …' if len(keys) > 4 else ''}",
            labels=[(nodes[0].at, "the first of them")],
            help="give each device a name of its own",
        )

    def _note_joined_chassis(self, joined: list[str]) -> None:
        """Report chassis of one name that are taken for one device; ``joined`` are the first ones."""
        names = [self.nodes[base].description for base in joined]
        self.note(
            "E0604",
            self.nodes[joined[0]].at,
            f"{counted_noun(len(names), 'device')} of several chassis, each heard at a port of its own, "
            f"{'is' if len(names) == 1 else 'are'} known by name: "
            f"{', '.join(names[:4])}{' …' if len(names) > 4 else ''}",
            help="some systems send the address of a port as that of the chassis; if they are several "
            "devices, give each a name of its own",
        )

    def _ports_heard(self, keys: set[str]) -> dict[str, set[tuple[str, str, str]]]:
        """The ports at which others hear some nodes: the first of their names that is no address, and the
        neighbour and its port."""
        met: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
        for w in self.wires if keys else ():
            if w.b.node in keys:
                named = next((p for p in w.b.port if not hexadecimal_digits(p)), w.b.id)
                met[w.b.node].add((named.casefold(), w.a.node, w.a.port[0]))
        return met

    def _settle_own_captures(self, base: str, keys: list[str]) -> None:
        """Give the links of a device's own capture, which knows its name alone, to the one of the chassis of
        this name that most of these links lead to."""
        heard = {(w.a.node, w.a.port[0].casefold()): w.b.node for w in self.wires if w.b.node in keys}
        own = [(i, w) for i, w in enumerate(self.wires) if w.a.node == base and base in self.heard]
        votes = Counter(
            found for _, w in own for p in w.b.port if (found := heard.get((w.b.node, p.casefold())))
        )
        chosen = votes.most_common(1)[0][0] if votes else base
        if chosen == base:
            return
        self.heard.discard(base)
        self.heard.add(chosen)
        for i, w in own:
            self.wires[i] = w._replace(a=w.a._replace(node=chosen))

    def _settle_nameless(self) -> None:
        """A chassis without a name is the device of which another capture gives the same address."""
        known = self._named_nodes_by_identifier()
        for node in self.nodes.values():
            owners = set().union(*(known[i] for i in node.ids)) if not node.description else set()
            owners = {self.alias.get(k, k) for k in owners}
            if len(owners) == 1 and node.key.startswith("chassis:"):
                self.alias[node.key] = owners.pop()

    def _named_nodes_by_identifier(self) -> dict[str, set[str]]:
        """The nodes with a name by each identifier that is theirs or of one of their ports; none for
        an identifier that no node with a name has."""
        known: dict[str, set[str]] = defaultdict(set)
        for node in self.nodes.values():
            if node.description:
                for i in node.ids:
                    known[i].add(node.key)
        for w in self.wires:
            for end in (w.a, w.b):
                if end.id and self.nodes[end.node].description:
                    known[end.id].add(end.node)
        return known

    def _settled(self, end: CapturedEnd) -> CapturedEnd:
        return end._replace(node=self.alias.get(end.node, end.node))

    def fault(self, file: SourceFile, line: int, message: str, help: str = "", code: str = "E0601") -> None:
        """Report a line that is not understood. Faults of one kind have the same help, or a message that
        differs in numbers and in what it quotes."""
        key = (id(file), code, help or OF_ONE_LINE.sub("", message))
        equal = self.faults.setdefault(key, [])
        if len(equal) < MOST_ALIKE:
            line = min(max(line, 1), len(file.line_starts))
            self.findings.add(code, CaptureLine(file, line).span, message, help=help)
            equal.append(len(self.findings) - 1)
        else:
            self.more[key] = self.more.get(key, 0) + 1

    def _merge_faults(self) -> None:
        """Of many faults of one kind in a capture keep the first, with their number."""
        gone: set[int] = set()
        for key, more in self.more.items():
            first, *others = self.faults[key]
            items = self.findings.items
            items[first] = replace(items[first], count=len(others) + 1 + more)
            gone.update(others)
        self.findings.items[:] = [d for k, d in enumerate(self.findings.items) if k not in gone]
        self.more.clear()
        self.faults.clear()

    def note(
        self,
        code: str,
        at: CaptureLine,
        message: str,
        help: str = "",
        labels: Sequence[tuple[CaptureLine, str]] = (),
    ) -> None:
        """Report what does not keep the capture from being used, and is no fault of the cabling."""
        places = [(where.span, text) for where, text in labels]
        self.findings.add(code, at.span, message, help=help, labels=places, severity=Severity.NOTE)


def key_of_infiniband_node(name: str) -> str:
    """The key of the node that blocks of a capture name ``S-b8cef603001bf9de``."""
    digits = hexadecimal_digits(name[2:])
    return f"id:{digits}" if digits else f"node:{name}"


def plain_capture_name(text: str, line: int) -> str:
    """A name from a capture. Raises Malformed where it holds control characters or hidden ones, or is too
    long."""
    if len(text) > LONGEST_NAME:
        raise Malformed(line, f"a name has more than {LONGEST_NAME} characters")
    if text.isascii() and text.isprintable():
        return text
    if _CONTROL.search(text):
        raise Malformed(
            line,
            f"a name contains a control character: {text[:60]!r}",
            "capture the output again without a terminal",
        )
    if HIDDEN.search(text):
        raise Malformed(
            line,
            f"a name contains a character that is not seen or turns the order of the text: {text[:60]!a}",
            "remove it",
        )
    return text


def hexadecimal_digits(text: str) -> str:
    """A GUID or MAC address as bare digits, "" where it is none: ``0x0002c903000a1b2c``,
    ``08:00:27:4f:33:2d``."""
    if len(text) < SHORTEST_ADDRESS:
        return ""
    digits = re.sub(r"[:.\-\s]", "", text.strip().lower()).removeprefix("0x")
    return digits if re.fullmatch(r"[0-9a-f]{12}|[0-9a-f]{16}", digits) else ""


def count_in_capture(text: str, line: int, what: str, most: int = 1 << 20, base: int = 10) -> int:
    """A count in a capture. Raises Malformed where it is not a number or too large."""
    try:
        value = int(text, base) if len(text) <= 20 else -1
    except ValueError:
        value = -1
    if not 0 <= value <= most:
        raise Malformed(line, f"{what} is {text[:40]!r}, which is not a number from 0 to {most:,}")
    return value
