"""An audit: a design against captures, as findings with the work that mends each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tdsl.emit.data.subnets import ibsim_speed_word
from tdsl.fabric.graph import Bools, Fabric
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Label, Severity
from tdsl.observe.candidates import PortPositions
from tdsl.observe.cut_sheets import LONE_CELL, SUM_OF_ROWS, is_out_of_service
from tdsl.observe.describe import MOST_NOTES, RepairTask, Words
from tdsl.observe.diagnose import diagnose_mistakes
from tdsl.observe.difference import Cabling, Mistake
from tdsl.observe.facts import ComparedFacts, compare_captured_facts, set_facts_aside
from tdsl.observe.match import (
    NOT_IDENTIFIED,
    UNKNOWN_NAME,
    Identifiers,
    Positioned,
    Seen,
    has_factory_name,
    match_captures,
    planned_far_ports,
)
from tdsl.observe.names import NameMapRule, device_name_readings, node_name_shown
from tdsl.observe.record import CapturedLink, CaptureLine, Observed
from tdsl.observe.speeds import rate_of_width_word
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun, noun_for_count
from tdsl.verify.coverage import NOTHING, part_judged_finding

if TYPE_CHECKING:
    from tdsl.observe.asbuilt import Promise

IDENTIFY = (
    "give `--assets FILE` with the MAC of each port, or let the hosts send their names (lldpd); these links "
    "are not judged"
)

EXCHANGE = "repair or exchange what is faulty, then change its status: until then the link counts as missing"


@dataclass(frozen=True, slots=True)
class CablingFault:
    """One mistake: its finding, the work that mends it, and the operation that explains it (None where no
    cable is wrong)."""

    finding: Diagnostic
    tasks: tuple[RepairTask, ...]
    mistake: Mistake | None = None
    slow: tuple[int, int] | None = None  # a port of a link that is slower than planned, and its rate
    step: int = 0  # the place of the mistake among those that lead from the design to what was seen


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """What a call asks for besides the captures. ``only`` are devices to which the audit is limited, None for
    all."""

    rules: tuple[NameMapRule, ...] = ()
    assets: Identifiers | None = None
    only: Bools | None = None
    simulator: bool = False
    at_least: Fraction | None = None  # the share of the links asked for that must be judged


@dataclass(frozen=True, slots=True)
class NetworkShare:
    """What an audit of a cluster judged of one of its networks: links asked for, judged, and cabled as
    designed, of all that it has."""

    name: str
    links: int
    of: int
    judged: int
    matching: int


@dataclass(eq=False)
class Audit:
    """What was found. ``faults`` make the status 1; ``notes`` do not."""

    fabric: Fabric
    seen: Seen
    judged: Bools  # links that the captures show, or would show
    faults: list[CablingFault] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    accepted: list[CablingFault] = field(
        default_factory=list
    )  # lost and slow links that are accepted for a while, and do not count
    promises: list[Promise] = field(
        default_factory=list
    )  # requirements on what is built, where they were judged
    of: int = 0  # links that the audit is asked for
    facts: ComparedFacts = field(
        default_factory=ComparedFacts
    )  # what captures say of other things than links

    @property
    def mistakes(self) -> list[Mistake]:
        """Mistakes of cabling, in the order in which they lead from the design to what was seen."""
        faults = sorted((*self.accepted, *self.faults), key=lambda fault: fault.step)
        return [f.mistake for f in faults if f.mistake is not None]

    def judged_far_ports(self) -> list[int]:
        """The planned far end of each port, those of devices that the design lacks among them; -1 where no
        link is planned, or it is not judged."""
        far = planned_far_ports(self.fabric)
        for ends in (self.fabric.link_a, self.fabric.link_b):
            far[ends[~self.judged]] = -1
        return [*far.tolist(), *(-1 for _ in self.seen.virtual)]

    @cached_property
    def as_designed(self) -> Bools:
        """Links that are judged and cabled as designed."""
        far = self.seen.far
        out = np.zeros(self.fabric.link_count, dtype=np.bool_)
        a, b = self.fabric.link_a.tolist(), self.fabric.link_b.tolist()
        for i in np.flatnonzero(self.judged).tolist():
            out[i] = far.get(a[i], -1) == b[i]
        return out

    @property
    def matching(self) -> int:
        """How many links are cabled as designed."""
        return int(self.as_designed.sum())

    def shares(self, only: Bools | None = None) -> list[NetworkShare]:
        """Of a cluster, its networks one by one; none of a network by itself. ``only`` are the devices that
        the audit is asked for."""
        f = self.fabric
        asked = only[f.device_a] | only[f.device_b] if only is not None else np.ones_like(self.judged)
        return [
            NetworkShare(
                member.name,
                len(rows),
                int(asked[rows].sum()),
                int(self.judged[rows].sum()),
                int(self.as_designed[rows].sum()),
            )
            for member, rows in zip(f.members, f.member_links, strict=True)
        ]


def audit_captures(fabric: Fabric, observed: Observed, settings: AuditSettings | None = None) -> Audit:
    """Compare captures with a design."""
    asked = settings or AuditSettings()
    seen = match_captures(fabric, observed, asked.rules, asked.assets)
    judged = seen.audited.copy()
    judged &= ~seen.unidentified
    if asked.only is not None:
        judged &= asked.only[fabric.device_a] | asked.only[fabric.device_b]
    if observed.findings.has_errors:
        judged[:] = False  # what a broken capture does not list would look like missing cables
    return _Auditor(fabric, seen, judged, asked).run()


class _Auditor:
    def __init__(self, fabric: Fabric, seen: Seen, judged: Bools, asked: AuditSettings) -> None:
        self.fabric, self.seen, self.asked = fabric, seen, asked
        only = asked.only
        of = fabric.link_count if only is None else int((only[fabric.device_a] | only[fabric.device_b]).sum())
        self.out = Audit(fabric, seen, judged, of=of)
        self.planned = self.out.judged_far_ports()
        self.found = self._found()
        self.words = Words(fabric, seen)

    def run(self) -> Audit:
        """All parts, in the order of the report."""
        self.captures()
        if self.seen.observed.findings.has_errors:
            self.out.facts = set_facts_aside(self.seen)
            return self.out
        self.out.facts = compare_captured_facts(self.fabric, self.seen, self.words, self.asked.only)
        self.devices()
        self.coverage()
        self.cables()
        self.rates()
        self.facts()
        return self.out

    def _found(self) -> list[int]:
        """The seen far end of each port, those that the design does not have included; -1 where it is not
        judged. A link is judged by one of its ports: one whose planned link is, or that has none and is of a
        device that is asked for."""
        f, only, size = self.fabric, self.asked.only, self.seen.ports
        free = f.port_link < 0
        if only is not None:
            free &= only[f.port_device]
        counted = np.zeros(len(self.planned), dtype=np.bool_)
        counted[:size] = (np.array(self.planned[:size], dtype=np.int64) >= 0) | free
        far = np.full(len(self.planned), -1, dtype=np.int64)
        far[list(self.seen.far)] = list(self.seen.far.values())
        far[~counted & ~counted[far]] = -1
        out: list[int] = far.tolist()
        return out

    # ------------------------------------------------------------ what the captures say of themselves
    def captures(self) -> None:
        """Faults of the captures, rows of the table of assets that are not used, and ports with two
        neighbours."""
        if self.asked.assets is not None:
            self.out.notes += self.asked.assets.notes
        for d in self.seen.observed.findings:
            if d.severity is Severity.NOTE:
                self.out.notes.append(d)
            else:
                self.out.faults.append(CablingFault(d, ()))
        for port, first, second in self.seen.conflicts:
            self.fault(
                "E0603",
                second,
                f"{self.words.port(port)} has two neighbours in the captures",
                labels=[Label(first.at.span, "the other neighbour")],
                help="remove the older capture, or look for a hub or switch between them that forwards LLDP",
            )
        for wire in self.seen.loops:
            self.fault("E0603", wire, "a port is cabled to itself in the capture", help="capture it again")

    def fault(
        self,
        code: str,
        wire: CapturedLink,
        message: str,
        *,
        help: str,
        labels: Sequence[Label] = (),
        tasks: Sequence[RepairTask] = (),
        slow: tuple[int, int] | None = None,
    ) -> None:
        """Record a fault at a line of a capture; ``slow`` is a port and its rate."""
        finding = Diagnostic(code, message, wire.at.span, tuple(labels), (), help)
        self.out.faults.append(CablingFault(finding, tuple(tasks), None, slow))

    def note(self, code: str, message: str, *, help: str = "", notes: Sequence[str] = ()) -> None:
        """Record what is not a fault."""
        self.out.notes.append(Diagnostic(code, message, None, (), tuple(notes), help, severity=Severity.NOTE))

    # ------------------------------------------------------------ devices
    def devices(self) -> None:
        """Devices of another identity, those matched by position, and those that the design does not have."""
        nodes = self.seen.observed.nodes
        f = self.fabric
        for device, key, planned, found in self.seen.identities:
            at = nodes[key].at
            name = f.device_name(device)
            message = f"{name} is another device than planned: its identifier is {found}, not {planned}"
            help = "if it was replaced, write the new identifier into the table of assets"
            task = RepairTask(name, "", "note the new identifier", found, planned)
            self.out.faults.append(CablingFault(Diagnostic("E0613", message, at.span, help=help), (task,)))
        for p in self.renamed_devices():
            node, name = nodes[p.node], f.device_name(p.device)
            called = node_name_shown(node.description, node.ids)
            evidence = self.evidence_of_position(p)
            if has_factory_name(node):
                self.note(
                    "E0612",
                    f"`{called}` is taken for {name} by its position",
                    notes=[evidence],
                    help=f"name it {name}: its description is the one it had at the factory",
                )
            elif name in (n for n, _ in device_name_readings(node.description)):
                self.out.faults.append(
                    CablingFault(
                        Diagnostic(
                            "E0613",
                            f"several devices of the captures are named `{called}`, and this one is where "
                            "the design plans it",
                            node.at.span,
                            (),
                            (evidence,),
                            "give the others the names that the design has for them",
                        ),
                        (),
                    )
                )
            else:
                self.out.faults.append(
                    CablingFault(
                        Diagnostic(
                            "E0613",
                            f"`{called}` is where the design plans {name}",
                            node.at.span,
                            (),
                            (evidence,),
                            f"if it was replaced or renamed, name it {name}; or give `--map "
                            f"'{called}={name}'`",
                        ),
                        (RepairTask(name, "", "rename or exchange the device", called, name),),
                    )
                )
        aside = defaultdict(list)
        for key, why in self.seen.observed.aside.items():
            aside[why].append(node_name_shown(nodes[key].description, nodes[key].ids))
        for why, names in sorted(aside.items()):
            self.note("E0611", f"{len(names)} set aside: {why}", notes=[first_names_listed(names)])
        loose = [node_name_shown(nodes[k].description, nodes[k].ids) for k in self.seen.unplanned]
        if loose:
            self.note(
                "E0611",
                f"the captures have {counted_noun(len(loose), 'device')} that the design does not have",
                notes=[first_names_listed(loose)],
                help="if one is planned under another name, give `--map 'REGEX=TEMPLATE'` or `--assets FILE`",
            )
        self.unknown_names()
        self.links_set_aside()
        self.links_taken_as_planned()
        if self.seen.repeated:
            again = [
                f"{w.at.text} repeats {first.at.text}: {self.seen.captured(w)}"
                for w, first in self.seen.repeated[:MOST_NOTES]
            ]
            count = len(self.seen.repeated)
            self.note(
                "E0605",
                f"{counted_noun(count, 'link')} of the captures {'is' if count == 1 else 'are'} given twice",
                notes=[*again, *more_than_noted(count)],
                help="remove the rows that repeat others, or write the link that they were to name",
            )

    def evidence_of_position(self, p: Positioned) -> str:
        """By how many of its links a device is matched."""
        known = "" if p.links == p.of else " to known devices"
        name, link = self.fabric.device_name(p.device), noun_for_count(p.links, "link")
        return f"{p.fit} of its {p.links} {link}{known} go where the design plans {name}"

    def renamed_devices(self) -> list[Positioned]:
        """Devices matched by position that are reported one by one: of more than a few switches, or hosts,
        with names that the design does not have, one finding is reported here, with work for each."""
        nodes, f = self.seen.observed.nodes, self.fabric
        groups: dict[bool, list[Positioned]] = defaultdict(list)
        for p in self.seen.positioned:
            if self.has_new_name(p):
                groups[bool(f.is_switch[p.device])].append(p)
        gone: set[str] = set()
        for is_switch, found in groups.items():
            if len(found) <= MOST_NOTES:
                continue
            gone.update(p.node for p in found)
            pairs = [(node_name_shown(nodes[p.node].description, nodes[p.node].ids), p) for p in found]
            said = [f"`{called}`: {self.evidence_of_position(p)}" for called, p in pairs[:MOST_NOTES]]
            devices = len({p.device for p in found})
            what = f"{devices:,} switches" if is_switch else counted_noun(devices, "host")
            finding = Diagnostic(
                "E0613",
                f"renamed: {what}, whose names in the captures are not those of the design; each is taken "
                "for the device in whose place it is",
                nodes[found[0].node].at.span,
                (),
                (*said, *more_than_noted(len(found))),
                "relabel them as the design has them (the work list has a line for each), or rename them in "
                "the design with `naming`, or give `--map 'REGEX=TEMPLATE'`",
            )
            first = {p.device: called for called, p in reversed(pairs)}
            tasks = [
                RepairTask(f.device_name(d), "", "relabel the device", called, f.device_name(d))
                for d, called in sorted(first.items())
            ]
            self.out.faults.append(CablingFault(finding, tuple(tasks)))
        return [p for p in self.seen.positioned if p.node not in gone]

    def has_new_name(self, p: Positioned) -> bool:
        """Whether a device matched by position has a name of its own, which is none of the design's."""
        node = self.seen.observed.nodes[p.node]
        names = {n for n, _ in device_name_readings(node.description)}
        return not has_factory_name(node) and self.fabric.device_name(p.device) not in names

    def unknown_names(self) -> None:
        """Links that are not judged because most devices have names that the design does not have."""
        rows = [wire for why, wire in self.seen.aside if why == UNKNOWN_NAME]
        if rows:
            nodes = self.seen.observed.nodes
            names = [nodes[k].description for k in self.seen.unplanned if nodes[k].description]
            self.fault(
                "E0694",
                rows[0],
                f"{counted_noun(len(names), 'device')} of the captures have names that the design does not "
                f"have, and too little is known around them to say which they are: "
                f"{counted_noun(len(rows), 'link')} not judged ({first_names_listed(names, 4)})",
                help="give `--map 'REGEX=TEMPLATE'` for the names, or `--assets FILE` for identifiers",
            )

    def links_taken_as_planned(self) -> None:
        """Links that join the right devices, and give a port at one end that its model does not have."""
        rows = self.seen.assumed
        if rows:
            said = [f"{w.at.text}: {self.seen.captured(w)}" for w in rows[:MOST_NOTES]]
            self.note(
                "E0615",
                f"{counted_noun(len(rows), 'link')} with a port that the model does not have "
                f"{'is' if len(rows) == 1 else 'are'} taken for the planned one between the same devices",
                notes=[*said, *more_than_noted(len(rows))],
                help="write the port as the model names it, or give the model these names (`os`, `name`)",
            )

    def links_set_aside(self) -> None:
        """Links of the captures that are not compared, by reason; those of routers and aggregation nodes are
        reported with these."""
        reasons: dict[str, list[tuple[CaptureLine, str]]] = defaultdict(list)
        for why, wire in self.seen.aside:
            if why not in self.seen.observed.aside.values():
                reasons[why].append((wire.at, self.seen.captured(wire)))
        for row in self.seen.observed.left:
            reasons[row.why].append((row.at, row.text))
        for why, rows in sorted(reasons.items()):
            said = [f"{at.text}: {text}" for at, text in rows[:MOST_NOTES]]
            noun = "row" if why in (SUM_OF_ROWS, LONE_CELL) else "link"
            self.note(
                "E0611",
                f"{counted_noun(len(rows), noun)} of the captures set aside: {why}",
                notes=[*said, *more_than_noted(len(rows))],
                help=_help_for_links_aside(why),
            )

    def coverage(self) -> None:
        """Links that no capture shows: a note, or an error where nothing is left to judge or less than was
        asked for."""
        of, judged = self.out.of, int(self.out.judged.sum())
        hidden = of - judged
        facts_alone = self.out.facts.used and not self.seen.observed.wires and self.asked.at_least is None
        if not judged and facts_alone:
            self.note(
                "E0632", "no link was judged: the captures are of other things", help="capture links, too"
            )
        elif not judged:
            self.out.faults.append(CablingFault(self.nothing(), ()))
        elif hidden and self.asked.at_least is not None and judged < self.asked.at_least * of:
            text = (
                f"{judged:,} of {counted_noun(of, 'link')} {noun_for_count(judged, 'was', 'were')} judged: "
                f"{self.why_hidden(hidden)} of the others"
            )
            self.out.faults.append(
                CablingFault(part_judged_finding(text, judged, of, self.asked.at_least), ())
            )
        elif hidden:
            self.note(
                "E0632",
                f"{hidden:,} of {counted_noun(of, 'link')} {noun_for_count(hidden, 'was', 'were')} not "
                f"{'judged' if self.seen.unidentified.any() else 'seen'}: {self.why_hidden(hidden)}",
            )
        for share in self.out.shares(self.asked.only) if judged else ():
            if share.of and not share.judged:
                text = (
                    f"none of the {counted_noun(share.of, 'link')} of the network `{share.name}` was judged: "
                    "no capture is of a device at either end"
                )
                help = f"capture the devices of `{share.name}`, or limit the audit to others with --only"
                self.out.faults.append(CablingFault(Diagnostic(NOTHING, text, help=help), ()))

    def why_hidden(self, hidden: int) -> str:
        """Why links were not judged."""
        nameless = self.seen.unidentified.copy()
        if self.asked.only is not None:
            nameless &= self.asked.only[self.fabric.device_a] | self.asked.only[self.fabric.device_b]
        count = int(nameless.sum())
        if not count:
            return "no capture is of a device at either end"
        if count >= hidden:
            return "the captures do not say which device is at one end"
        return (
            f"of {hidden - count:,} no capture is of a device at either end, and of {count:,} the captures "
            "do not say which device is at one end"
        )

    def nothing(self) -> Diagnostic:
        """Why no link of the design can be judged."""
        seen, of = self.seen, self.out.of
        what, help = (
            f"none of the {counted_noun(of, 'link')} of the design was judged",
            "capture the devices again",
        )
        if not of:
            what = "there is no link to judge"
            why = (
                "the design has none"
                if self.asked.only is None
                else "the devices that --only names have none in the design"
            )
            help = (
                "name other devices with --only"
                if self.asked.only is not None
                else "audit a design with links"
            )
        elif not seen.observed.nodes:
            why = "the captures have no device: they have no row, or all their rows are comments"
        elif seen.unidentified.any() and not (seen.audited & ~seen.unidentified).any():
            why = "the captures do not say which device is at one end of any link"
            help = IDENTIFY
        elif seen.audited.any():
            why = "no capture is of a device that --only names"
            help = "capture those devices, too"
        elif seen.nodes:
            names = [self.fabric.device_name(d) for d in sorted(seen.nodes)]
            why = (
                f"of the design {first_names_listed(names, 4)} is seen, and what its links lead to has "
                "no name of the design"
            )
            help = (
                "give `--map 'REGEX=TEMPLATE'` for the other names, `--assets FILE` for identifiers, "
                "or capture the switches"
            )
        else:
            named = [node_name_shown(n.description, n.ids) for n in seen.observed.nodes.values()]
            why = (
                "no name and no identifier of a device in the captures is one of the design "
                f"({first_names_listed(named, 4)})"
            )
            help = "give `--map 'REGEX=TEMPLATE'` for the names, or `--assets FILE` for identifiers"
        return Diagnostic(NOTHING, f"{what}: {why}", help=help)

    # ------------------------------------------------------------ cables
    def cables(self) -> None:
        """The mistakes of cabling."""
        at, far = self.planned.__getitem__, self.found.__getitem__
        ports = [p for p in range(self.seen.ports) if self.planned[p] != self.found[p]]
        if not ports:
            return
        extra = range(self.seen.ports, self.seen.ports + len(self.seen.virtual))
        places = PortPositions(self.fabric, self.seen.device)
        f = self.fabric
        nameless = self.seen.unidentified  # something is plugged at their links
        seen_devices = {*self.seen.nodes, *f.device_a[nameless].tolist(), *f.device_b[nameless].tolist()}
        found = diagnose_mistakes(at, far, [*ports, *extra], places, lambda d: d not in seen_devices)
        state = Cabling(at, far)
        described = []
        for step, one in enumerate(found):
            described.append((self.words.first(one), self.words.fault(one, state), step))
            state.make(one)
        described.sort(key=lambda d: d[0])
        for _, (code, wire, message, notes, help, tasks, origin), step in described:
            labels = [Label(origin, "it is planned here")] if origin is not None and wire is not None else []
            span = wire.at.span if wire is not None else origin
            finding = Diagnostic(code, message, span, tuple(labels), tuple(notes), help)
            self.out.faults.append(CablingFault(finding, tuple(tasks), found[step], None, step))

    # ------------------------------------------------------------ rates
    def rates(self) -> None:
        """Links that came up slower than planned, or than both ends can; what all links of a class share is
        one finding."""
        f = self.fabric
        slow: dict[tuple[str, int, int], list[tuple[int, CapturedLink]]] = defaultdict(list)
        total: dict[str, int] = defaultdict(int)
        met: set[int] = set()
        for port, wire in sorted(self.seen.wire.items()):
            if port >= self.seen.ports or port in met or not wire.rate or self.found[port] < 0:
                continue
            met |= {port, self.seen.far[port]}
            link = int(f.port_link[port])
            if link < 0:
                continue
            name = f.classes[int(f.link_class[link])]
            planned = int(f.link_rate[link])
            expected = (
                rate_of_width_word(ibsim_speed_word(planned)[0])[0] if self.asked.simulator else planned
            )
            total[name] += 1
            expected = max(expected, wire.could) if not self.asked.simulator else expected
            if wire.rate < expected:
                slow[name, expected, wire.rate].append((port, wire))
        for (name, expected, rate), links in slow.items():
            if len(links) == total[name] and len(links) > 1:
                self.fault(
                    "E0631",
                    links[0][1],
                    f"all {len(links):,} {name} links run at {_gigabits_text(rate)}; "
                    f"{_gigabits_text(expected)} is planned",
                    help="correct the rate in the design; if the capture is of ibsim, give --simulator",
                )
                continue
            for port, wire in links:
                lanes = f" on {counted_noun(wire.lanes, 'lane')}" if wire.lanes else ""
                far = self.words.port(self.seen.far[port])
                self.fault(
                    "E0630",
                    wire,
                    f"{self.words.port(port)} to {far} runs at {_gigabits_text(rate)}{lanes}; "
                    f"{_gigabits_text(expected)} is planned",
                    slow=(port, rate),
                    help="clean and reseat both plugs; if it stays, exchange the cable or the transceivers",
                    tasks=[RepairTask(*self.words.split(port), "reseat or exchange the cable", far, "")],
                )

    # ------------------------------------------------------------ what is no link
    def facts(self) -> None:
        """Transceivers, links that run badly, insides of hosts and groups of schedulers; and what of
        these is not compared, by reason."""
        slow = {int(self.fabric.port_link[f.slow[0]]) for f in self.out.faults if f.slow is not None}
        for fault in self.out.facts.faults:
            if fault.slow is None or int(self.fabric.port_link[fault.slow[0]]) not in slow:
                self.out.faults.append(CablingFault(fault.finding, fault.tasks, None, fault.slow))
        reasons: dict[str, list[str]] = defaultdict(list)
        for row in self.out.facts.aside:
            reasons[row.why].append(f"{row.at.text}: {row.text}")
        for why, said in sorted(reasons.items()):
            self.note(
                "E0611",
                f"{counted_noun(len(said), 'row')} of the captures set aside: {why}",
                notes=[*said[:MOST_NOTES], *more_than_noted(len(said))],
            )


def _help_for_links_aside(why: str) -> str:
    """What to do with links that are set aside for a reason; "" where there is nothing to do."""
    if why == NOT_IDENTIFIED:
        return IDENTIFY
    _, says, state = why.partition(" says that the cable is ")
    return EXCHANGE if says and is_out_of_service(state) else ""


def audit_findings(made: Audit) -> Diagnostics:
    """All findings of an audit, faults first."""
    return Diagnostics([*(f.finding for f in made.faults), *made.notes])


def first_names_listed(names: Sequence[str], most: int = 8) -> str:
    """Names, of many the first few."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def more_than_noted(count: int) -> list[str]:
    """What stands behind the first few of many."""
    return [f"and {count - MOST_NOTES:,} more"] if count > MOST_NOTES else []


def _gigabits_text(rate: int) -> str:
    return f"{rate // 10**9 if rate % 10**9 == 0 else rate / 10**9} Gb/s"
