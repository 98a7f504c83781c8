"""``NAME.fab.lock``: links that stand, and keep their ports when the design grows.

A line names the two ports of a link as the design writes them, lower end first. A connect that joins those
two devices gives the link these ports, if it may use them; what the text writes in full goes before. Nothing
else takes a port that a line names, unless the design has no such link any more.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import FREE, INSIDE, Fabric
from tdsl.fabric.ports import KEPT, LinkEnds, PortTable
from tdsl.fabric.renamed import (
    GONE,
    DesignDevices,
    design_devices_of,
    find_renamed_devices,
    renames_by_declaration,
)
from tdsl.fabric.vector import Array
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.system.lazy_dataclass import dataclass

HEAD = (
    "# Existing links: tdsl keeps them on these ports. Written by `tdsl lock {file}`; "
    "a line a link, in the order of the design.\n"
)
FABRIC = re.compile(r"fabric\s+([A-Za-z_]\w*)")
USES = re.compile(r"uses\s+(\S+(?: \S+)*?)\s+sha256:([0-9a-f]{64})")
FIGURE = re.compile(r"figure\s+([a-z_]+)\s+(\d{1,40}(?:/\d{1,40})?)")
MOUNT = re.compile(
    r"place\s+(\S+(?: \S+)*?)\s+in\s+([A-Za-z_]\w*)\.([A-Za-z_]\w*)\[(\d{1,6})\]\s+at\s+(\d{1,6})U"
)
NAMED = re.compile(r"name\s+(\S+(?: \S+)*?)\s+is\s+(\".*\")")
LINE = re.compile(r"(\S++(?: \S++)*+)\s{2,}+(\S++(?: \S++)*+)")


@dataclass(frozen=True, slots=True)
class PinnedLink:
    """A link that stands: the paths of its ports, and where that is written."""

    a: str
    b: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Mount:
    """A device that stands in a rack where automatic placement put it, and where that is written."""

    device: str
    hall: str
    row: str
    rack: int
    unit: int
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class UsedFile:
    """A file that the design used when the lock was written, and the SHA-256 of its text."""

    name: str
    digest: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class LockedFigure:
    """A figure of a fabric when the lock was written, in base units."""

    name: str
    value: Fraction
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class NamedDevice:
    """A device with the name that the design gave it when the lock was written."""

    device: str
    name: str
    span: SourceSpan


Recorded = PinnedLink | Mount | UsedFile | LockedFigure | NamedDevice
"""A line of a lock."""


def read_lock_lines(file: SourceFile, diagnostics: Diagnostics) -> dict[str, list[Recorded]]:
    """The lines of each fabric, and under "" those of the whole design. What is not a line is a finding, and
    so is a fabric with other than the number of links that was recorded: a lock may be cut at the end of a
    line, or badly merged."""
    out: dict[str, list[Recorded]] = {}
    mine: list[Recorded] | None = None
    for start, end in zip(file.line_starts, [*file.line_starts[1:], len(file.text) + 1], strict=True):
        text = file.text[start : end - 1].partition("#")[0].rstrip()
        if not text.strip():
            continue
        span = SourceSpan(file, start + len(text) - len(text.lstrip()), start + len(text))
        head, used = FABRIC.fullmatch(text.strip()), USES.fullmatch(text.strip())
        recorded = _record_in_line(text.strip(), span) if mine is not None else None
        if head is not None:
            mine = out.setdefault(head[1], [])
        elif used is not None:
            out.setdefault("", []).append(UsedFile(used[1], used[2], span))
        elif mine is not None and recorded is not None:
            mine.append(recorded)
        else:
            diagnostics.add(
                "E0496",
                span,
                "this is neither `fabric NAME` nor two ports nor a place",
                help="restore the line, or remove it: of a link that is not recorded the ports may change",
            )
    if not any(out) and not diagnostics.has_errors:
        help = (
            "restore it, such as with `git checkout`; `tdsl lock` does not take it for the record of nothing"
        )
        diagnostics.add("E0496", SourceSpan(file, 0, 0), "the lock records no fabric", help=help)
    for name, lines in out.items():
        _check_recorded_count(name, lines, diagnostics)
    return out


def _record_in_line(text: str, span: SourceSpan) -> Recorded | None:
    """What a line records of a fabric: a figure, a place, a name, or the two ports of a link; None where it
    is none of them."""
    figure, mount, named, line = (
        FIGURE.fullmatch(text),
        MOUNT.fullmatch(text),
        NAMED.fullmatch(text),
        LINE.fullmatch(text),
    )
    if named is not None:
        try:
            return NamedDevice(named[1], str(json.loads(named[2])), span)
        except json.JSONDecodeError:
            return None
    if figure is not None and not figure[2].endswith("/0"):
        return LockedFigure(figure[1], Fraction(figure[2]), span)
    if mount is not None:
        return Mount(mount[1], mount[2], mount[3], int(mount[4]), int(mount[5]), span)
    return PinnedLink(line[1], line[2], span) if line is not None else None


def _check_recorded_count(name: str, lines: list[Recorded], diagnostics: Diagnostics) -> None:
    """Report a fabric with other than the number of links that its lines record."""
    count = sum(isinstance(x, PinnedLink) for x in lines)
    for x in lines:
        if isinstance(x, LockedFigure) and x.name == "links" and x.value != count:
            diagnostics.add(
                "E0496",
                x.span,
                f"the lock has {count:,} of the {int(x.value):,} links that fabric `{name}` had",
                help="restore it, by `git checkout`; if lines were removed on purpose, write `figure "
                f"links {count}`",
            )


def lock_text(
    fabrics: Iterable[Fabric],
    file: str,
    used: Mapping[str, str] | None = None,
    figures: Mapping[str, Mapping[str, Fraction]] | None = None,
) -> str:
    """The text of a lock: the files that the design used with their SHA-256; of some fabrics the figures and
    every link."""
    parts = [HEAD.format(file=file)]
    parts += [f"uses {name} sha256:{digest}\n" for name, digest in sorted((used or {}).items())]
    for f in fabrics:
        parts.append(f"\nfabric {f.name}\n")
        parts += [f"figure {name} {value}\n" for name, value in (figures or {}).get(f.name, {}).items()]
        ends = zip(f.link_a.tolist(), f.link_b.tolist(), strict=True)
        parts += [f"{f.port_path(a)}  {f.port_path(b)}\n" for a, b in ends]
        parts += [
            f"name {f.device_path(d)} is {_name_in_lock(n)}\n"
            for d, n in sorted(f.names.items())
            if f.built[d]
        ]
        p = f.places
        if p is not None and p.automatic >= 0:
            for d in np.flatnonzero(p.device_place == p.automatic).tolist():
                r = int(p.device_rack[d])
                where = (
                    f"{p.hall_name(r)}.{p.row_name(r)}[{int(p.rack_number[r])}] at {int(p.device_unit[d])}U"
                )
                parts.append(f"place {f.device_path(d)} in {where}\n")
    return "".join(parts)


def _name_in_lock(name: str) -> str:
    """A name in quotes; ``#`` begins a comment in a lock, and is written by its number."""
    return json.dumps(name).replace("#", "\\u0023")


def names_have_moved(names: Iterable[NamedDevice], fabric: Fabric) -> bool:
    """Whether a design gives names of a lock to devices at other places."""
    now = {name: fabric.device_path(d) for d, name in fabric.names.items()}
    return any(now.get(x.name, x.device) != x.device for x in names)


@dataclass
class Pins:
    """The lines of one fabric over its table of ports; ``used`` are those that a link has kept, ``by_device``
    the devices that lines join to each."""

    lines: list[PinnedLink]
    ports: PortTable
    waiting: dict[tuple[int, int], list[tuple[int, int, int]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    by_device: dict[int, dict[int, None]] = field(default_factory=lambda: defaultdict(dict))
    used: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Find the ports that the lines name, and keep them."""
        place = self._places()
        for number, line in enumerate(self.lines):
            a, b = place.get(line.a, -1), place.get(line.b, -1)
            if min(a, b) < 0:
                continue
            x, y = self.ports.device_of(np.array([a, b])).tolist()
            self.waiting[x, y].append((a, b, number))
            self.waiting[y, x].append((b, a, number))
            self.by_device[x].setdefault(y)
            self.by_device[y].setdefault(x)
            if INSIDE not in self.ports.state[[a, b]]:
                self.ports.state[[a, b]] = KEPT

    def _places(self) -> Mapping[str, int]:
        """Ports by the path that the design writes, of the devices that the lines name."""
        wanted: dict[str, set[str]] = defaultdict(set)
        for line in self.lines:
            for path in (line.a, line.b):
                device, _, port = path.rpartition(".")
                wanted[device].add(port)
        out = {}
        models: dict[int, dict[str, int]] = {}
        for s in self.ports.sets:
            for row in range(s.count):
                asked = wanted.get(s.device_path(row))
                if not asked:
                    continue
                m = int(self.ports.device_model[s.first + row])
                if m not in models:
                    classes = self.ports.models[m].classes
                    models[m] = {c.path(i): c.first + i for c in classes for i in range(c.size)}
                for port in asked & models[m].keys():
                    out[f"{s.device_path(row)}.{port}"] = (
                        int(self.ports.base[s.first + row]) + models[m][port]
                    )
        return out

    def pin(self, ends: LinkEnds, total: int) -> None:
        """Give links of a statement the ports of lines for the same two devices, where it may use them."""
        if not self.waiting:
            return
        allowed = [self._allowed(ends, c) for c in range(len(ends.class_name))]
        open_ = np.flatnonzero((ends.local[:total] < 0) | (ends.local[total:] < 0))
        for i in open_.tolist():
            j = i + total
            for a, b, number in self.waiting.get((int(ends.device[i]), int(ends.device[j])), ()):
                free = number not in self.used and set(self.ports.state[[a, b]].tolist()) <= {FREE, KEPT}
                place = [p - int(self.ports.base[d]) for p, d in ((a, ends.device[i]), (b, ends.device[j]))]
                mine, far = (
                    allowed[int(ends.choice[e])](int(ends.device[e]), p)
                    for e, p in zip((i, j), place, strict=True)
                )
                if mine is None or far is None:
                    continue
                if free and ends.local[i] in (mine, -1) and ends.local[j] in (far, -1):
                    ends.local[i], ends.local[j] = mine, far
                    self.used.add(number)
                    break

    def standing(self, near: Array, far: Array) -> Array:
        """How many links that stand, and that no other statement has kept, join each of some devices to each
        of others."""
        out = np.zeros((len(near), len(far)), dtype=np.int64)
        place: dict[int, list[int]] = defaultdict(list)
        for j, d in enumerate(far.tolist()):
            place[d].append(j)
        for i, d in enumerate(near.tolist()):
            for e in self.by_device.get(d, ()):
                for j in place.get(e, ()):
                    out[i, j] = sum(number not in self.used for _, _, number in self.waiting[d, e])
        return out

    def _allowed(self, ends: LinkEnds, c: int) -> Callable[[int, int], int | None]:
        """Of a choice of ports: the place in the class of a device's port, None if it is not among them."""
        candidates = ends.candidates[c]
        among = None if candidates is None else set(candidates.tolist())

        def place(device: int, local: int) -> int | None:
            model = self.ports.models[int(self.ports.device_model[device])]
            parts = model.parts(ends.class_name[c]) if ends.class_name[c] else model.first_parts
            if not parts or not parts[0].first <= local < parts[-1].first + parts[-1].size:
                return None
            at = local - parts[0].first
            return at if among is None or at in among else None

        return place

    def release(self) -> None:
        """Let go of the ports that no link kept."""
        self.ports.state[self.ports.state == KEPT] = FREE

    @property
    def kept(self) -> list[PinnedLink]:
        """The lines that a link has kept."""
        return [line for number, line in enumerate(self.lines) if number in self.used]


def standing_mounts(mounts: Iterable[Mount], fabric: Fabric) -> dict[int, tuple[int, int]]:
    """Rack and unit of the devices that stand: those that exist, have no other place, and whose rack exists,
    has the unit and holds nothing that the design places itself."""
    p = fabric.places
    if p is None:
        return {}
    names = {fabric.device_path(d): d for d in np.flatnonzero(fabric.built & (fabric.container < 0)).tolist()}
    racks = {(p.hall_name(r), p.row_name(r), int(p.rack_number[r])): r for r in range(p.rack_count)}
    taken = set(p.device_rack[p.device_rack >= 0].tolist())
    out: dict[int, tuple[int, int]] = {}
    for m in mounts:
        device, rack = names.get(m.device, -1), racks.get((m.hall, m.row, m.rack), -1)
        if device < 0 or rack < 0 or rack in taken or p.device_rack[device] >= 0:
            continue
        height = p.rack_kind[rack].height
        if m.unit >= 1 and (height is None or m.unit <= height):
            out[device] = (rack, m.unit)
    return out


def report_relocated_devices(
    mounts: list[Mount], fabric: Fabric, diagnostics: Diagnostics, severity: Severity
) -> None:
    """Say which devices do not stay in their racks."""
    p = fabric.places
    now = {}
    if p is not None:
        for d in np.flatnonzero(p.device_rack >= 0).tolist():
            r = int(p.device_rack[d])
            now[fabric.device_path(d)] = (
                p.hall_name(r),
                p.row_name(r),
                int(p.rack_number[r]),
                int(p.device_unit[d]),
            )
    gone = [m for m in mounts if now.get(m.device) != (m.hall, m.row, m.rack, m.unit)]
    if not gone:
        return
    notes = []
    for m in gone[:8]:
        at = now.get(m.device)
        old = f"{m.hall}.{m.row}[{m.rack}] at {m.unit}U"
        notes.append(
            f"{m.device}: from {old} to {at[0]}.{at[1]}[{at[2]}] at {at[3]}U"
            if at
            else f"{m.device}, in {old}, goes"
        )
    words = "E0211", f"{len(gone):,} of {len(mounts):,} placed devices would move", "the devices and racks"
    _report_moves(words, [m.span for m in gone], notes, fabric, diagnostics, severity)


def _report_moves(
    words: tuple[str, str, str],
    spans: list[SourceSpan],
    notes: list[str],
    fabric: Fabric,
    diagnostics: Diagnostics,
    severity: Severity,
) -> None:
    """A finding about lines of a lock that a fabric does not keep: ``words`` are its code, its message and
    what to keep, ``spans`` the places of all these lines, ``notes`` what becomes of the first ones."""
    code, message, keep = words
    if len(spans) > len(notes):
        notes.append(f"and {len(spans) - len(notes):,} more")
    diagnostics.add(
        code,
        spans[0],
        message,
        labels=[(fabric.origin.span, "in this design")],
        notes=notes,
        severity=severity,
        help=f"keep {keep}; if the moves are meant, write the lock anew with `tdsl lock`",
    )


def carry_over_renames(
    lines: list[PinnedLink],
    mounts: list[Mount],
    fabric: Fabric,
    diagnostics: Diagnostics,
    names: Iterable[NamedDevice] = (),
) -> tuple[list[PinnedLink], list[Mount]]:
    """The lines and places with the paths that the design now has for devices which it renamed, or gives a
    name of the lock at another place; a note says which. ``fabric`` is the design as it is wired without
    them."""

    def device(port: str) -> str:
        return port.rpartition(".")[0]

    pairs = [(device(x.a), device(x.b)) for x in lines]
    new = design_devices_of(fabric)
    called_then = {x.device: x.name for x in names}
    paths = [*(p for pair in pairs for p in pair), *called_then]
    known = find_renamed_devices(DesignDevices(dict.fromkeys(paths, ""), pairs, called_then), new)
    if not known:
        return lines, mounts
    words = [
        f"`{old}` is `{now}` ({n:,} {'device' if n == 1 else 'devices'})"
        for old, now, n in renames_by_declaration(known)
    ]
    diagnostics.add(
        "E0498",
        lines[0].span,
        f"the design has other names for devices of this lock: {', '.join(words)}",
        severity=Severity.NOTE,
        help="`tdsl lock` writes the lock with the new names; no cable moves because of them",
    )

    def called(port: str) -> str:
        head, _, own = port.rpartition(".")
        return f"{known.get(head, head)}.{own}"

    stay = [replace(m, device=known.get(m.device, m.device)) for m in mounts]
    return [PinnedLink(called(x.a), called(x.b), x.span) for x in lines], stay


def report_moved_links(
    lines: list[PinnedLink], fabric: Fabric, diagnostics: Diagnostics, severity: Severity
) -> None:
    """Tell which links do not stand as their lines say, and where their lower end goes instead."""
    ends = zip(fabric.link_a.tolist(), fabric.link_b.tolist(), strict=True)
    now = {frozenset((fabric.port_path(a), fabric.port_path(b))) for a, b in ends} if lines else set()
    gone = [line for line in lines if frozenset((line.a, line.b)) not in now]
    if not gone:
        return
    far = {path: next(iter(pair - {path}), "") for pair in now for path in pair}
    notes = []
    for line in gone[:8]:
        here, other = (line.a, line.b) if line.a in far else (line.b, line.a)
        said = f"{here}: from {other} to {far[here]}" if here in far else f"{line.a} to {line.b} goes"
        notes.append(said.replace(GONE, ""))
    words = (
        "E0495",
        f"{len(gone):,} of {len(lines):,} existing links would move",
        "the links between these devices",
    )
    _report_moves(words, [line.span for line in gone], notes, fabric, diagnostics, severity)
