"""What captures say of things other than links, against the design: transceivers against the bill, links
that run badly, the inside of hosts, and where schedulers have their nodes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property

from tdsl.emit.data.scheduling import host_blocks, host_domains, host_groups
from tdsl.emit.link_tables import Wires
from tdsl.emit.records import HostGroup
from tdsl.fabric.graph import Bools, Fabric
from tdsl.fabric.part_facts import fact_values, part_display_name
from tdsl.findings.diagnostic import Diagnostic
from tdsl.observe.candidates import PortPositions
from tdsl.observe.describe import MOST_NOTES, RepairTask, Words
from tdsl.observe.forwarding import ForwardingTables
from tdsl.observe.match import Seen
from tdsl.observe.record import (
    CapturedEnd,
    CapturedFact,
    CapturedHealth,
    CapturedModule,
    CapturedPlacement,
    CapturedTable,
    CapturedTopology,
    LeftOutRow,
)
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun, noun_for_count

WORST_ERROR_RATE = 1e-12
"""Bit errors left behind the error correction for each bit sent, above which a link is a fault. Source:
IEEE 802.3-2022, 80.1.3 and 116.1.2 ask for 1e-12 (100 Gb/s) and 1e-13 (200 and 400 Gb/s) at the MAC; the
InfiniBand Architecture Specification, volume 2, for 1e-12."""
UP = frozenset(("active", "act", "up", "linkup"))
NEARNESS = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4}
"""Words of ``nvidia-smi topo -m`` for two PCIe functions, nearest first. Source: its legend."""
NO_HOST = "the design has no such device"
NOT_ASKED = "the audit is limited to other devices by --only"
NO_PORT = "the model has no such port"
NO_PLAN = "the design does not say which transceiver or cable belongs here"
NO_CHOICE = "the design has no places, and so no transceivers are chosen for its cables"
NOT_COMPARED = "a capture has errors, so nothing is compared"
NO_PART = "the capture gives no part number"
NO_LINK = "the design plans no link at the port"
NO_LAYOUT = "the model of the host does not say what hangs from what"
ROUTES = "routes of switches"
HELP_OF_ROUTES = {
    "E0645": "let the subnet manager route again, and capture the tables of one sweep",
    "E0646": "route by `updn` or `ftree` with a file of roots; tables of dfsssp, lash and torus-2QoS are "
    "judged with their service levels by ibdmchk",
}
TABLE_TWICE = "the switch has a forwarding table already"
NO_GROUPS = "the design has no such level of groups"


@dataclass(frozen=True, slots=True)
class FactFault:
    """A difference that is no cable: its finding, the work, and where a link is slow, its port and rate."""

    finding: Diagnostic
    tasks: tuple[RepairTask, ...] = ()
    slow: tuple[int, int] | None = None


@dataclass(eq=False)
class ComparedFacts:
    """Facts that were compared with the design, and the differences; ``used`` and ``aside`` are all facts
    that were read together."""

    used: int = 0
    aside: list[LeftOutRow] = field(default_factory=list)
    faults: list[FactFault] = field(default_factory=list)
    used_by_kind: Counter[str] = field(default_factory=Counter)
    as_designed: Counter[str] = field(default_factory=Counter)


def compare_captured_facts(
    fabric: Fabric, seen: Seen, words: Words, only: Bools | None = None
) -> ComparedFacts:
    """Compare all facts of the captures with the design; ``only`` are the devices that are asked for."""
    return _FactComparison(fabric, seen, words, only).run()


def set_facts_aside(seen: Seen) -> ComparedFacts:
    """All facts of captures that are not compared with the design, since one of them has errors."""
    observed = seen.observed
    out = ComparedFacts(aside=list(observed.facts_left))
    for fact in observed.facts:
        if isinstance(fact, CapturedTable):
            name = observed.nodes[fact.node].description or fact.node
            out.aside += [LeftOutRow(NOT_COMPARED, r.at, f"{name} to {r.name}") for r in fact.rows]
            continue
        node = fact.end.node if isinstance(fact, (CapturedModule, CapturedHealth)) else fact.node
        port = fact.end.port[:1] if isinstance(fact, (CapturedModule, CapturedHealth)) else ()
        text = " ".join((observed.nodes[node].description or node, *port))
        out.aside.append(LeftOutRow(NOT_COMPARED, fact.at, text))
    return out


class _FactComparison:
    def __init__(self, fabric: Fabric, seen: Seen, words: Words, only: Bools | None) -> None:
        self.fabric, self.seen, self.words, self.only = fabric, seen, words, only
        self.out = ComparedFacts()
        self.bad_links: set[int] = set()

    def run(self) -> ComparedFacts:
        """All kinds, in the order in which they were read."""
        facts = self.seen.observed.facts
        self.out.aside += self.seen.observed.facts_left
        placements = [f for f in facts if isinstance(f, CapturedPlacement)]
        for fact in facts:
            if isinstance(fact, CapturedModule):
                self.module(fact)
            elif isinstance(fact, CapturedHealth):
                self.health(fact)
            elif isinstance(fact, CapturedTopology):
                self.topology(fact)
        for source in dict.fromkeys(p.source for p in placements):
            self.placements(source, [p for p in placements if p.source == source])
        self.forwarding_tables([f for f in facts if isinstance(f, CapturedTable)])
        return self.out

    # ------------------------------------------------------------ what is used
    def leave(self, why: str, fact: CapturedFact, text: str) -> None:
        """Set a fact aside."""
        self.out.aside.append(LeftOutRow(why, fact.at, text))

    def use(self, kind: str, fits: bool = True) -> None:
        """Count a fact that is compared."""
        self.out.used += 1
        self.out.used_by_kind[kind] += 1
        self.out.as_designed[kind] += fits

    def shown(self, end: CapturedEnd) -> str:
        """A port as the capture writes it."""
        return f"{self.seen.observed.nodes[end.node].description or end.node} {' '.join(end.port[:1])}"

    def port_of(self, end: CapturedEnd, fact: CapturedFact) -> int:
        """The port of the design that a fact is about, -1 where there is none; then the fact is set aside."""
        ports = self.seen.ports_of(end)
        if not ports:
            known = end.node in self.seen.device_of
            self.leave(NO_PORT if known else NO_HOST, fact, self.shown(end))
            return -1
        if not self.is_asked(int(self.fabric.port_device[ports[0]])):
            self.leave(NOT_ASKED, fact, self.shown(end))
            return -1
        return ports[0]

    def is_asked(self, device: int) -> bool:
        """Whether the audit is asked for a device."""
        return self.only is None or bool(self.only[device])

    def fault(self, code: str, fact: CapturedFact, message: str, help: str, **more: object) -> None:
        """Note a difference; ``more`` are notes, tasks and a slow port."""
        notes = more.get("notes", ())
        tasks, slow = more.get("tasks", ()), more.get("slow")
        assert isinstance(notes, (tuple, list)) and isinstance(tasks, (tuple, list))
        finding = Diagnostic(code, message, fact.at.span, (), tuple(notes), help)
        self.out.faults.append(FactFault(finding, tuple(tasks), slow if isinstance(slow, tuple) else None))

    # ------------------------------------------------------------ transceivers
    @cached_property
    def positions(self) -> PortPositions:
        """Cages of ports."""
        return PortPositions(self.fabric, self.fabric.port_device.tolist().__getitem__)

    @cached_property
    def planned_modules(self) -> dict[int, tuple[str, str]]:
        """By the first port of a cage: the transceiver that the design has there, and the cable."""
        wires = Wires(self.fabric)
        rows = wires.cable_order[0]
        columns = {n: list(wires.cables.column(n)) for n in ("a_optic", "b_optic", "part")}
        out: dict[int, tuple[str, str]] = {}
        for i, row in enumerate(rows.tolist()):
            for port, optic in ((self.fabric.cable_a[row], "a_optic"), (self.fabric.cable_b[row], "b_optic")):
                cage = self.positions.cage(int(port))
                out.setdefault(cage, (str(columns[optic][i]), str(columns["part"][i])))
        return out

    @cached_property
    def parts(self) -> dict[str, DeviceModel]:
        """Cables and transceivers of the catalogue by their names."""
        return {part_display_name(p): p for p in self.fabric.parts}

    def numbers_of_part(self, name: str) -> set[str]:
        """The part numbers by which a part and what may be bought instead of it is known."""
        names = [name, *map(str, self.fabric.supply.alternatives.get(name.replace("-", "_"), ()))]
        found: set[str] = set()
        for one in names:
            part = self.parts.get(one.replace("_", "-"))
            facts = (
                [str(v) for k in ("part", "codes") for v in fact_values(part, k)] if part is not None else []
            )
            found |= {plain_part_number(x) for x in (one, *facts)}
        return found - {""}

    def module(self, fact: CapturedModule) -> None:
        """A module against the bill."""
        port = self.port_of(fact.end, fact)
        if port < 0:
            return
        optic, cable = self.planned_modules.get(self.positions.cage(port), ("", ""))
        wanted = optic or cable
        where = self.words.port(port)
        if not wanted or (not optic and cable and "form" not in getattr(self.parts.get(cable), "facts", {})):
            why = NO_CHOICE if wanted and not self.parts else NO_PLAN
            self.leave(why, fact, f"{where}: {fact.part or 'no module'}")
        elif fact.present and not fact.part:
            self.leave(NO_PART, fact, f"{where}: {fact.vendor} {fact.serial}".rstrip())
        elif not fact.present:
            self.use("modules", False)
            task = RepairTask(*self.words.split(port), f"plug a {wanted}", "", wanted)
            self.fault(
                "E0633", fact, f"{where} has no module; {wanted} is planned", f"plug a {wanted}", tasks=[task]
            )
        else:
            fits = self.is_part(fact.part, wanted, of_cable=not optic)
            self.use("modules", fits)
            if not fits:
                self.other_module(fact, port, wanted)

    def is_part(self, number: str, wanted: str, of_cable: bool) -> bool:
        """Whether a part number is that of a part, or of what may be bought instead of it; the number of a
        cable may begin with that of the part."""
        found, numbers = plain_part_number(number), self.numbers_of_part(wanted)
        return found in numbers or (of_cable and any(found.startswith(n) for n in numbers))

    def other_module(self, fact: CapturedModule, port: int, wanted: str) -> None:
        """The fault of a module that is another than planned."""
        serial = f", serial number {fact.serial}" if fact.serial else ""
        task = RepairTask(*self.words.split(port), f"exchange the module for a {wanted}", fact.part, wanted)
        self.fault(
            "E0633",
            fact,
            f"{self.words.port(port)} has {fact.vendor} {fact.part}{serial}; {wanted} is planned".replace(
                "  ", " "
            ),
            f"exchange it for a {wanted}, or state it in the design; what may be bought instead is an "
            "alternative in the file of --supply",
            tasks=[task],
        )

    # ------------------------------------------------------------ links that run badly
    def health(self, fact: CapturedHealth) -> None:
        """State, rate and bit errors of a link; a link is one fault, whichever end says it first."""
        port = self.port_of(fact.end, fact)
        if port < 0:
            return
        link = int(self.fabric.port_link[port])
        where = self.words.port(port)
        if link < 0:
            self.leave(NO_LINK, fact, f"{where}: {fact.state}")
            return
        up = fact.state.replace("_", "").casefold() in UP
        slow = up and 0 < fact.rate < int(self.fabric.link_rate[link])
        noisy = up and fact.errors_per_bit > WORST_ERROR_RATE and fact.errors != 0
        self.use("ports of links", up and not slow and not noisy)
        if (up and not slow and not noisy) or link in self.bad_links:
            return
        self.bad_links.add(link)
        self.bad_link(fact, port, up, slow)

    def bad_link(self, fact: CapturedHealth, port: int, up: bool, slow: bool) -> None:
        """The fault of a link at a port that is not up, is slow, or has too many bit errors."""
        link = int(self.fabric.port_link[port])
        where = self.words.port(port)
        a, b = int(self.fabric.link_a[link]), int(self.fabric.link_b[link])
        far = self.words.port(b if port == a else a)
        task = RepairTask(*self.words.split(port), "clean and reseat both plugs", far, "")
        help = "clean and reseat both plugs; if it stays, exchange the cable or the transceivers"
        if not up:
            self.fault(
                "E0634", fact, f"{where} to {far} is not up: its state is {fact.state}", help, tasks=[task]
            )
        elif slow:
            planned = int(self.fabric.link_rate[link])
            lanes = f" on {counted_noun(fact.lanes, 'lane')}" if fact.lanes else ""
            text = (
                f"{where} to {far} runs at {fact.rate / 10**9:g} Gb/s{lanes}; {planned / 10**9:g} Gb/s is "
                "planned"
            )
            self.fault("E0630", fact, text, help, tasks=[task], slow=(port, fact.rate))
        else:
            count = f", {counted_noun(fact.errors, 'error')}" if fact.errors > 0 else ""
            self.fault(
                "E0634",
                fact,
                f"{where} to {far} has {fact.errors_per_bit:.1e} errors a bit behind its error "
                f"correction{count}; at most {WORST_ERROR_RATE:.0e} is usual",
                help,
                tasks=[task],
            )

    # ------------------------------------------------------------ forwarding tables
    def forwarding_tables(self, tables: list[CapturedTable]) -> None:
        """The tables of switches, which are judged together."""
        known: dict[int, CapturedTable] = {}
        for table in tables:
            device = self.seen.device_of.get(table.node, -1)
            why = (
                NO_HOST
                if device < 0
                else NOT_ASKED
                if not self.is_asked(device)
                else TABLE_TWICE
                if device in known
                else ""
            )
            if why:
                name = self.seen.observed.nodes[table.node].description or table.node
                self.out.aside += [LeftOutRow(why, r.at, f"{name} to {r.name}") for r in table.rows]
            else:
                known[device] = table
        if not known:
            return
        judged = ForwardingTables(self.fabric, self.seen, self.words, known)
        faults = list(judged.faults())
        self.out.used += judged.routes
        self.out.used_by_kind[ROUTES] += judged.routes
        self.out.as_designed[ROUTES] += 0 if faults else judged.routes
        for found in faults:
            finding = Diagnostic(
                found.code, found.message, found.route.at.span, (), found.notes, HELP_OF_ROUTES[found.code]
            )
            self.out.faults.append(
                FactFault(finding, (RepairTask("", "", "route the subnet again", "", ""),))
            )

    # ------------------------------------------------------------ the inside of hosts
    def topology(self, fact: CapturedTopology) -> None:
        """The matrix of a host against its model: number of accelerators, their links, and the nearest
        adapters."""
        device = self.seen.device_of.get(fact.node, -1)
        name = self.seen.observed.nodes[fact.node].description
        if device < 0:
            self.leave(NO_HOST, fact, name)
            return
        if not self.is_asked(device):
            self.leave(NOT_ASKED, fact, name)
            return
        model = self.fabric.model_of(device)
        count = sum(_size_of(c.axes) for c in model.chips if c.kind == "chip")
        if not count:
            self.leave(NO_LAYOUT, fact, name)
            return
        wrong: list[str] = []
        if len(fact.accelerators) != count:
            wrong.append(
                f"{counted_noun(len(fact.accelerators), 'GPU')} "
                f"{noun_for_count(len(fact.accelerators), 'is', 'are')} seen; {count} are planned"
            )
        wrong += [
            *_missing_adapters(model, fact),
            *_links_between_accelerators(model, fact),
            *_nearest_adapters(model, fact),
        ]
        self.use("hosts", not wrong)
        if wrong:
            shown = self.fabric.device_name(device)
            more = [f"and {len(wrong) - MOST_NOTES} more"] if len(wrong) > MOST_NOTES else []
            self.fault(
                "E0635",
                fact,
                f"the inside of {shown} is not that of {model.name}: {wrong[0]}",
                "look at the seating of the board, the adapter or its riser, or correct the model of the "
                "host",
                notes=[*wrong[1:MOST_NOTES], *more],
                tasks=[RepairTask(shown, "", "look at GPUs, NVLink and PCIe", "", model.name)],
            )

    # ------------------------------------------------------------ schedulers
    @cached_property
    def levels(self) -> tuple[tuple[tuple[HostGroup, ...], ...], tuple[HostGroup, ...]]:
        """Groups of hosts by level as the design has them, and blocks."""
        wires = Wires(self.fabric)
        levels = host_groups(wires)
        return levels, host_blocks(host_domains(wires), levels)

    def planned_groups(self, source: str, placed: list[CapturedPlacement]) -> tuple[HostGroup, ...]:
        """The groups of the design that those of a scheduler are compared with; none where the design has no
        such level."""
        levels, blocks = self.levels
        level = max(p.level for p in placed)
        return blocks if source.endswith("blocks") else levels[level] if level < len(levels) else ()

    def placements(self, source: str, placed: list[CapturedPlacement]) -> None:
        """The groups of one scheduler against those of the design: hosts that are grouped with others
        than planned, and hosts that it does not have."""
        groups = self.planned_groups(source, placed)
        of_host = {h: g.name for g in groups for h in g.hosts}
        asked = {h for h in of_host if self.only is None or self.is_asked(self.words.device_named(h))}
        if not groups:
            for p in placed:
                self.leave(NO_GROUPS, p, f"{self.seen.observed.nodes[p.node].description} in {p.group}")
            return
        known: dict[str, tuple[str, CapturedPlacement]] = {}
        for p in placed:
            device = self.seen.device_of.get(p.node, -1)
            name = self.fabric.device_name(device) if device >= 0 else ""
            if name not in of_host:
                self.leave(NO_HOST, p, f"{self.seen.observed.nodes[p.node].description} in {p.group}")
            elif name not in asked:
                self.leave(NOT_ASKED, p, f"{name} in {p.group}")
            elif name in known:
                self.leave("the host is in a group already", p, f"{name} in {p.group} and {known[name][0]}")
            else:
                known[name] = p.group, p
        self.compare_groups(source, known, {h: g for h, g in of_host.items() if h in asked})

    def compare_groups(
        self, source: str, known: dict[str, tuple[str, CapturedPlacement]], of_host: dict[str, str]
    ) -> None:
        """Note hosts in other groups than planned: those that are not of the planned group that most
        hosts of their group are of, and of planned groups that are in several, those outside of the
        largest."""
        plan = _planned_group_by_votes(Counter((group, of_host[h]) for h, (group, _) in known.items()))
        wrong = [h for h, (group, _) in known.items() if plan.get(group) != of_host[h]]
        for host in known:
            self.use("hosts of schedulers", host not in set(wrong))
        if wrong:
            self.wrong_groups(source, wrong, known, of_host)
        lost = [h for h in of_host if h not in known]
        if lost and known:
            self.fault(
                "E0636",
                next(iter(known.values()))[1],
                f"{source}: {counted_noun(len(lost), 'host')} of the design "
                f"{noun_for_count(len(lost), 'is', 'are')} in no group: {_names_in_short(lost)}",
                "add them, or limit the design to what is installed",
            )

    def wrong_groups(
        self,
        source: str,
        wrong: list[str],
        known: dict[str, tuple[str, CapturedPlacement]],
        of_host: dict[str, str],
    ) -> None:
        """The fault of hosts that are in other groups than planned."""
        lines = [
            f"{h} is in {known[h][0]}; its switches are those of {of_host[h]}" for h in wrong[:MOST_NOTES]
        ]
        more = [f"and {len(wrong) - MOST_NOTES:,} more"] if len(wrong) > MOST_NOTES else []
        self.fault(
            "E0636",
            known[wrong[0]][1],
            f"{source}: {len(wrong):,} of {counted_noun(len(known), 'host')} "
            f"{noun_for_count(len(wrong), 'is', 'are')} in another group than the design has",
            "write the files of `tdsl build` for the scheduler again, or correct where the hosts are",
            notes=[*lines, *more],
            tasks=[
                RepairTask(h, "", f"correct its group in {source}", known[h][0], of_host[h]) for h in wrong
            ],
        )


def _planned_group_by_votes(votes: Counter[tuple[str, str]]) -> dict[str, str]:
    """By group of a scheduler the planned group that most of its hosts are of, each planned group once.
    ``votes`` are numbers of hosts by group and planned group."""
    plan: dict[str, str] = {}
    taken: set[str] = set()
    for (group, planned), _ in sorted(votes.items(), key=lambda v: (-v[1], v[0])):
        if group not in plan and planned not in taken:
            plan[group] = planned
            taken.add(planned)
    return plan


def plain_part_number(text: str) -> str:
    """A part number without case, blanks and hyphens."""
    return re.sub(r"[^A-Z0-9]", "", text.upper())


def _names_in_short(names: list[str]) -> str:
    return ", ".join(names[:MOST_NOTES]) + (" …" if len(names) > MOST_NOTES else "")


def _size_of(axes: Iterable[object]) -> int:
    out = 1
    for a in axes:
        out *= int(getattr(a, "size", 1))
    return out


def _adapters_of_model(model: DeviceModel) -> dict[str, tuple[str, int]]:
    """By the name that an operating system has for it, the class and number of each port of a model."""
    return {c.systems[i]: (c.name, i) for c in model.classes for i in range(c.size) if c.systems[i]}


def _missing_adapters(model: DeviceModel, fact: CapturedTopology) -> Iterator[str]:
    """Adapters whose place the model states and the matrix does not have, where it has some of them."""
    known = _adapters_of_model(model)
    placed = {(n.name, n.index) for n in model.layout}
    lost = [n for n, place in known.items() if place in placed and n not in fact.adapters]
    if lost and any(a in known for a in fact.adapters):
        yield f"{_names_in_short(lost)} {noun_for_count(len(lost), 'is', 'are')} not seen"


def _links_between_accelerators(model: DeviceModel, fact: CapturedTopology) -> Iterator[str]:
    """Pairs of accelerators with fewer links than the model has: of those that one joins to switches, or
    between the two."""
    own, between = _planned_links_of_accelerators(model)
    for i, a in enumerate(fact.accelerators):
        for j in range(i + 1, len(fact.accelerators)):
            word = fact.cells.get((a, fact.accelerators[j]), "")
            wanted = between.get((i, j), 0) if between else min(own.get(i, 0), own.get(j, 0))
            seen = int(word[2:]) if re.fullmatch(r"NV\d+", word) else 0
            if wanted and seen < wanted:
                yield (
                    f"{a} and {fact.accelerators[j]} are joined by {word or 'nothing'}; NV{wanted} is planned"
                )


def _planned_links_of_accelerators(model: DeviceModel) -> tuple[Counter[int], Counter[tuple[int, int]]]:
    """How many links a model has at each accelerator, and directly between each pair of them, the lower
    number first."""
    chips = {c.name for c in model.chips if c.kind == "chip"}
    own: Counter[int] = Counter()
    between: Counter[tuple[int, int]] = Counter()
    for link in model.links:
        ends = [e for e in (link.a, link.b) if e[0] in chips]
        own.update(dict.fromkeys((e[1] for e in ends), 0))
        for e in ends:
            own[e[1]] += link.count
        if len(ends) == 2:
            between[min(ends[0][1], ends[1][1]), max(ends[0][1], ends[1][1])] += link.count
    return own, between


def _nearest_adapters(model: DeviceModel, fact: CapturedTopology) -> Iterator[str]:
    """Accelerators whose nearest adapter is another than by the model: where one is nearer than those
    that hang from the same PCIe switch by design."""
    parents = {(n.name, n.index): n.on for n in model.layout}
    known = _adapters_of_model(model)
    chip = next((c.name for c in model.chips if c.kind == "chip"), "")
    named = {a: known[a] for a in fact.adapters if a in known}
    for i, gpu in enumerate(fact.accelerators):
        parent = parents.get((chip, i))
        mine = [a for a, place in named.items() if parent is not None and parents.get(place) == parent]
        others = [a for a in named if a not in mine and known[a] in parents]
        if not mine or not others:
            continue
        best = _adapter_nearer_than(mine, others, gpu, fact)
        if best is not None:
            yield (
                f"{gpu} is nearest to {best} ({fact.cells[gpu, best]}); {_names_in_short(mine)} "
                f"({fact.cells[gpu, mine[0]]}) is planned"
            )


def _adapter_nearer_than(mine: list[str], others: list[str], gpu: str, fact: CapturedTopology) -> str | None:
    """Of the ``others`` the adapter that is nearest to an accelerator; None where one of ``mine`` is as
    near."""
    near = {a: NEARNESS.get(fact.cells.get((gpu, a), ""), 9) for a in (*mine, *others)}
    best = min(others, key=lambda a: (near[a], a))
    return best if near[best] < min(near[a] for a in mine) else None
