"""Words for mistakes: both ends as printed on the boxes, and what to do."""

from __future__ import annotations

from collections import Counter

from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.columns import natural_sort_key
from tdsl.fabric.graph import Fabric
from tdsl.findings.source import SourceSpan
from tdsl.observe.difference import Cabling, Mistake
from tdsl.observe.match import Seen
from tdsl.observe.names import node_name_shown
from tdsl.observe.record import CapturedLink
from tdsl.observe.wide import DEVICE_KINDS, PORT_KINDS, set_path
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun, noun_for_count

CODES = {
    "not installed": "E0610",
    "device dark": "E0610",
    "devices exchanged": "E0614",
    "cables swapped": "E0620",
    "plugs swapped": "E0620",
    "cage halves swapped": "E0621",
    "shifted": "E0622",
    "rotated": "E0622",
    "reversed": "E0622",
    "cage dark": "E0624",
    "missing": "E0625",
    "extra": "E0626",
    "cables permuted": "E0629",
    "not explained": "E0618",
    **dict.fromkeys(DEVICE_KINDS, "E0616"),
    **dict.fromkeys(PORT_KINDS, "E0617"),
}
MOST_NOTES = 4


@dataclass(frozen=True, slots=True)
class RepairTask:
    """A line of the work list: at a port of a device, what to do; where the cable goes now and where it shall
    go."""

    device: str
    port: str
    action: str
    found: str
    planned: str
    cable: str = ""


Described = tuple[str, "CapturedLink | None", str, list[str], str, list[RepairTask], "SourceSpan | None"]


class Words:
    """Names of ports and mistakes of one audit."""

    def __init__(self, fabric: Fabric, seen: Seen) -> None:
        self.fabric, self.seen = fabric, seen
        self._split: dict[int, tuple[str, str]] = {}
        self._cables: dict[int, str] | None = None
        self._rows: dict[str, int] | None = None

    # ------------------------------------------------------------ ports
    def split(self, port: int) -> tuple[str, str]:
        """Device and port as printed on the boxes; a host's port with the name that its operating system has
        for it."""
        found = self._split.get(port)
        if found is None:
            found = self._split[port] = self._device_and_port(port)
        return found

    def _device_and_port(self, port: int) -> tuple[str, str]:
        """What ``split`` gives."""
        if port >= self.seen.ports:
            v = self.seen.virtual[port - self.seen.ports]
            node = self.seen.observed.nodes[v.node]
            name = (
                self.fabric.device_name(v.device)
                if v.device >= 0
                else node_name_shown(node.description, node.ids)
            )
            return name, f"port {v.port}" if v.port else "an unknown port"
        c, i = self.fabric.port_class(port)
        device = int(self.fabric.port_device[port])
        label = c.labels[i] or c.path(i)
        system = c.systems[i]
        text = f"{label} ({system})" if system and system != label and self.fabric.is_end[device] else label
        return self.fabric.device_name(device), text

    def port(self, port: int) -> str:
        """``su0-leaf3 IB1/17/1``."""
        return " ".join(self.split(port))

    def ends(self, a: int, b: int) -> str:
        """``su0-node1 OSFP1 (mlx5_0) to su0-leaf0 IB1/1/1``."""
        return f"{self.port(a)} to {self.port(b)}"

    def device_named(self, name: str) -> int:
        """The row of a device by its name."""
        if self._rows is None:
            f = self.fabric
            self._rows = {f.device_name(d): d for d in range(f.device_count)}
        return self._rows[name]

    def first(self, one: Mistake) -> tuple[int, tuple[tuple[int, int, str], ...]]:
        """A key that sorts mistakes by the first device and port they are about."""
        ports = [p for m in (*one.moves, *one.removed, *one.added) for p in m]
        port = min(ports)
        return self.seen.device(port), natural_sort_key(self.split(port)[1])

    def cable(self, port: int) -> str:
        """The identifier of the planned cable at a port, "" where there is none."""
        if self._cables is None:
            ids = CableIndex(self.fabric).links_by_id()
            self._cables = {link: name for name, links in ids.items() for link in links}
        link = int(self.fabric.port_link[port]) if port < self.seen.ports else -1
        return self._cables.get(link, "") if link >= 0 else ""

    def origin(self, port: int) -> SourceSpan | None:
        """The statement that plans the link of a port."""
        link = int(self.fabric.port_link[port]) if port < self.seen.ports else -1
        number = int(self.fabric.link_statement[link]) if link >= 0 else -1
        return self.fabric.statements[number].origin.span if number >= 0 else None

    # ------------------------------------------------------------ mistakes
    def fault(self, one: Mistake, state: Cabling) -> Described:
        """A mistake in words; ``state`` is the cabling before it."""
        loose = [(q, p, state.at(q)) for q, p in one.moves if state.at(q) >= 0]
        make = getattr(self, f"_{one.kind.replace(' ', '_')}", self._several)
        message, help = make(one, state, loose)
        ports = [q for q, _, _ in loose] or [p for p, _ in (*one.removed, *one.added)]
        target = dict(one.moves)
        at = [p for _, p, _ in loose] + [a for a, _ in one.added]
        wire = next((self.seen.wire[p] for p in at if p in self.seen.wire), None)
        origin = next((o for o in map(self.origin, ports) if o is not None), None)
        notes = self._notes(one, loose, target)
        return self._code(one, loose), wire, message, notes, help, self._tasks(one, loose), origin

    def _code(self, one: Mistake, loose: list[tuple[int, int, int]]) -> str:
        """The code of a mistake's finding."""
        if one.kind == "wrong port":
            same = self.seen.device(loose[0][0]) == self.seen.device(loose[0][1])
            return "E0628" if same else "E0627"
        if one.kind == "rotated" and one.devices and self.fabric.is_end[one.devices[0]]:
            return "E0623"
        return CODES.get(one.kind, "")

    def _tasks(self, one: Mistake, loose: list[tuple[int, int, int]]) -> list[RepairTask]:
        """What a technician does about a mistake: plugs to move, cables to plug and to remove; of a
        pattern over many devices a line a device."""
        if one.kind in (*DEVICE_KINDS, *PORT_KINDS):
            return self._tasks_of_pattern(one, loose)
        if one.kind == "not explained":
            return self._tasks_of_tangle(one)
        target = dict(one.moves)
        tasks = [
            RepairTask(
                *self.split(p),
                f"move the plug to {self.port(q)}",
                self.port(target.get(y, y)),
                self.port(q),
                self.cable(q),
            )
            for q, p, y in loose
            if not (y in target and y < q)
        ]
        tasks += [
            RepairTask(*self.split(a), f"plug the cable to {self.port(b)}", "", self.port(b), self.cable(a))
            for a, b in one.removed
        ]
        return tasks + [
            RepairTask(*self.split(a), "remove the cable", self.port(b), "") for a, b in one.added
        ]

    def _tasks_of_pattern(self, one: Mistake, loose: list[tuple[int, int, int]]) -> list[RepairTask]:
        """A line for each device whose plugs are moved by a pattern."""
        count: Counter[int] = Counter()
        stands: dict[int, int] = {}
        device, of_panel, moved = self.seen.device, one.kind.startswith("panel"), set(one.devices)
        for q, p, _ in loose:
            if of_panel or device(q) in moved:
                count[device(q)] += 1
                stands[device(q)] = device(p)
        name = self.fabric.device_name
        if one.kind in DEVICE_KINDS:
            return [
                RepairTask(
                    name(d),
                    "",
                    "exchange the names, or move all cables",
                    f"{name(stands[d])} has them",
                    name(d),
                )
                for d in sorted(count)
            ]
        return [
            RepairTask(name(d), "", f"move {counted_noun(n, 'plug')}, or correct the numbers", "", one.detail)
            for d, n in sorted(count.items())
        ]

    def _tasks_of_tangle(self, one: Mistake) -> list[RepairTask]:
        """A line for each device with links that are not explained."""
        count: Counter[int] = Counter()
        for a, b in one.removed:
            count.update((self.seen.device(a), self.seen.device(b)))
        return [
            RepairTask(self.fabric.device_name(d), "", f"trace {counted_noun(n, 'cable')}", "", "")
            for d, n in sorted(count.items())
        ]

    def _notes(self, one: Mistake, loose: list[tuple[int, int, int]], target: dict[int, int]) -> list[str]:
        """The cables of a mistake, of many the first few; and other explanations."""
        if one.kind == "not explained":
            return self._notes_of_tangle(one)
        rows = [(q, p, y) for q, p, y in loose if not (y in target and y < q)]
        notes = [
            f"seen: {self.ends(p, target.get(y, y))}; planned: {self.ends(q, y)}"
            for q, p, y in rows[:MOST_NOTES]
        ]
        if len(rows) > MOST_NOTES:
            notes.append(f"and {counted_noun(len(rows) - MOST_NOTES, 'more cable')}")
        if len(one.removed) > 1:
            notes += [f"not seen: {self.ends(a, b)}" for a, b in one.removed[:MOST_NOTES]]
            if len(one.removed) > MOST_NOTES:
                notes.append(f"and {counted_noun(len(one.removed) - MOST_NOTES, 'more link')}")
        notes += [f"the same is seen if {self._tie_in_words(t)}" for t in one.ties]
        return notes

    def _notes_of_tangle(self, one: Mistake) -> list[str]:
        """What is known of links that no pattern explains: how many end at the planned device, and what
        is seen between which sets of devices."""
        planned = {p: q for a, b in one.removed for p, q in ((a, b), (b, a))}
        device = self.seen.device
        near = sum(
            any(p in planned and device(planned[p]) == device(q) for p, q in ((a, b), (b, a)))
            for a, b in one.added
        )
        notes = [
            f"{near:,} of the {len(one.added):,} links seen there join devices that the design joins, at "
            "other ports"
        ]
        notes += [
            f"between {' and '.join(pair)}: {gone:,} planned links are not seen, {there:,} others are"
            for pair, (gone, there) in self._links_between_sets(one)
        ]
        return notes[: MOST_NOTES + 1]

    def _links_between_sets(self, one: Mistake) -> list[tuple[tuple[str, ...], tuple[int, int]]]:
        """Links that are gone and links that are there, by the sets of devices that they join; most first."""

        known: dict[int, str] = {-1: "devices without a plan"}

        def set_joined(port: int) -> str:
            device = self.seen.device(port)
            if device not in known:
                known[device] = f"`{set_path(self.fabric.set_of(device))}`"
            return known[device]

        gone = Counter(tuple(sorted(map(set_joined, link))) for link in one.removed)
        there = Counter(tuple(sorted(map(set_joined, link))) for link in one.added)
        pairs = sorted({*gone, *there}, key=lambda k: (-gone[k] - there[k], k))
        return [(k, (gone[k], there[k])) for k in pairs[:MOST_NOTES]]

    def _tie_in_words(self, one: Mistake) -> str:
        """Other mistakes that explain as much of what is seen (a tie), in a few words."""
        ports = [p for p, _ in (*one.moves, *one.removed, *one.added)]
        names = " and ".join(self.port(p) for p in ports[:2])
        more = f" and {len(ports) - 2} more" if len(ports) > 2 else ""
        if one.kind in ("plugs swapped", "cables swapped", "cage halves swapped", "cables permuted"):
            return f"the plugs at {names}{more} are exchanged"
        if one.kind == "missing":
            return f"the cable {self.ends(*one.removed[0])} is missing"
        if one.kind == "wrong port":
            return f"the plug of {self.port(one.moves[0][0])} is in {self.port(one.moves[0][1])}"
        if one.devices:
            return f"{one.kind}: {' and '.join(self.fabric.device_name(d) for d in one.devices)}"
        return f"{one.kind}: {names}{more}"

    def _several(self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]) -> tuple[str, str]:
        ports = [self.port(q) for q, _, _ in loose]
        return (
            f"{len(ports)} cables are in one another's ports: {', '.join(ports[:4])}",
            "plug each as planned",
        )

    def _pattern_of_ports(
        self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]
    ) -> tuple[str, str]:
        left = (
            f"; {counted_noun(len(one.removed), 'link')} would be at ports that are not there"
            if one.removed
            else ""
        )
        help = "if the cables are right, correct the numbers of ports in the capture"
        if one.kind == "ports offset":
            help += " (some systems count from 0, others from 1)"
        if one.kind.startswith("panel"):
            help = (
                "if the labels of the panels are right, plug one side again in the order of the list; else "
                "correct the table"
            )
            return f"{one.detail} ({counted_noun(len(loose), 'link')})", help
        links = len({min(q, y) for q, _, y in loose})
        return (
            f"{one.detail} ({counted_noun(links, 'link')}){left}",
            f"{help}; else move each plug by the same step",
        )

    _ports_offset = _ports_reversed = _ports_rotated = _ports_exchanged = _pattern_of_ports
    _panel_reversed = _panel_offset = _pattern_of_ports

    def _pattern_of_devices(
        self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]
    ) -> tuple[str, str]:
        links = len({min(q, y) for q, _, y in loose})
        return (
            f"{one.detail} ({counted_noun(links, 'link')})",
            "if the cables are right, exchange the names of the devices, in their configuration or with "
            "--map; else move the cables of each to the one that the work list names",
        )

    _devices_offset = _devices_reversed = _indices_exchanged = _devices_permuted = _pattern_of_devices

    def _not_explained(
        self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]
    ) -> tuple[str, str]:
        return (
            f"{counted_noun(len(one.removed), 'planned link')} "
            f"{noun_for_count(len(one.removed), 'is', 'are')} not seen where "
            f"{counted_noun(len(one.added), 'other')} "
            f"{noun_for_count(len(one.added), 'is', 'are')}, and no pattern explains them",
            "look whether the capture is of this design, and its names are those of the design (--map); then "
            "audit one part after another with --only",
        )

    def _swap(self, one: Mistake, what: str) -> tuple[str, str]:
        ports = list(dict.fromkeys(p for p, _ in one.moves))
        if len(ports) == 2:
            a, b = map(self.port, ports)
            return f"{what}: {a} and {b}", f"exchange the plugs at {a} and {b}"
        half = len(ports) // 2
        a, b = (f"{self.port(p)}" for p in (ports[0], one.moves[0][1]))
        return (
            f"{what}: {a} and {b}, {counted_noun(half, 'link')} each",
            f"exchange the plugs of the cages at {a} and {b}",
        )

    def _plugs_swapped(
        self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]
    ) -> tuple[str, str]:
        return self._swap(one, "two cables are swapped")

    _cables_swapped = _plugs_swapped

    def _cage_halves_swapped(
        self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]
    ) -> tuple[str, str]:
        return self._swap(one, "the two halves of a cage are swapped")

    def _devices_exchanged(
        self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]
    ) -> tuple[str, str]:
        a, b = (self.fabric.device_name(d) for d in one.devices)
        return (
            f"{a} and {b} are exchanged: each has the cables of the other",
            f"exchange the two devices, or their names and configurations: {a} and {b}",
        )

    def _rotated(self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]) -> tuple[str, str]:
        name = self.fabric.device_name(one.devices[0])
        what = "the adapters" if self.fabric.is_end[one.devices[0]] else counted_noun(len(loose), "cable")
        return f"{what} of {name} are rotated by {one.amount}", "move each plug to the port in the list"

    def _shifted(self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]) -> tuple[str, str]:
        name = self.fabric.device_name(one.devices[0])
        out = f", and {len(one.removed)} more left out" if one.removed else ""
        by = abs(one.amount)
        return (
            f"{counted_noun(len(loose), 'cable')} of {name} {noun_for_count(len(loose), 'is', 'are')} "
            f"shifted by {counted_noun(by, 'port')}{out}",
            "move each plug to the port in the list",
        )

    def _reversed(self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]) -> tuple[str, str]:
        name = self.fabric.device_name(one.devices[0])
        return f"{len(loose)} cables of {name} are in reverse order", "move each plug to the port in the list"

    def _cage_dark(self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]) -> tuple[str, str]:
        first = one.removed[0][0]
        cage = self.fabric.port_cage(first)
        at = f"{self.fabric.device_name(one.devices[0])} {cage or self.split(first)[1]}"
        return (
            f"the whole cage {at} is dark: none of its {counted_noun(len(one.removed), 'link')} is seen",
            "reseat or exchange the transceiver; then look at the cables",
        )

    def _not_installed(
        self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]
    ) -> tuple[str, str]:
        name = self.fabric.device_name(one.devices[0])
        links = len(one.removed)
        return (
            f"{name} is not seen, nor any of its {counted_noun(links, 'link')}",
            "install it, switch it on, or cable it; if it is not due yet, limit the audit with --only",
        )

    def _device_dark(
        self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]
    ) -> tuple[str, str]:
        name = self.fabric.device_name(one.devices[0])
        return (
            f"none of the {counted_noun(len(one.removed), 'link')} of {name} is seen",
            "look at its power and at its transceivers",
        )

    def _missing(self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]) -> tuple[str, str]:
        a, b = one.removed[0]
        several = f" ({len(one.removed)} links)" if len(one.removed) > 1 else ""
        return (
            f"no link is seen on the cable {self.ends(a, b)}{several}",
            f"plug a cable from {self.port(a)} to {self.port(b)}, or reseat it",
        )

    def _extra(self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]) -> tuple[str, str]:
        a, b = one.added[0]
        return f"a cable that is not planned: {self.ends(a, b)}", "remove it, or write it into the design"

    def _wrong_port(self, one: Mistake, state: Cabling, loose: list[tuple[int, int, int]]) -> tuple[str, str]:
        q, p, y = loose[0]
        count = f" ({len(loose)} links)" if len(loose) > 1 else ""
        return (
            f"the cable of {self.port(y)} is in {self.port(p)}{count}; {self.port(q)} is planned",
            f"move the plug from {self.port(p)} to {self.port(q)}",
        )
