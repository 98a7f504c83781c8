"""What a design of text describes, as the generator of the text recorded it: devices, links and cables by path.

Nothing here comes from tdsl. A statement of a blueprint writes its line of text and records what that line means; judges read
these records, so that a selection of tdsl cannot hide a wrong one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tests.soundness.judges import World

Elements = dict[str, frozenset[str]]
"""What a path names: of each element its own path, and the paths of all devices in it."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model: of devices, or of cables (``kind`` is "cable"). ``watts`` are the maximum; None where the text states none.
    ``bend`` is the least radius of a cable, in mm."""

    name: str
    kind: str
    text: str
    watts: int | None = None
    price: int | None = None
    accelerators: int = 0
    joined: bool = True
    height: int = 1
    bend: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """A device. ``inside`` is the path of the device that contains it, ``network`` the fabric of a cluster that declares it (""
    for the cluster), ``place`` its hall, row, rack and lowest unit."""

    path: str
    model: Model
    inside: str = ""
    built: bool = True
    role: str = ""
    network: str = ""
    place: tuple[str, str, int, int] | None = None

    @property
    def kind(self) -> str:
        return self.model.kind


@dataclass(frozen=True, slots=True)
class Wire:
    """A link between two devices, and its cable: a number, -1 for a trace or backplane. ``ports`` counts the ports that it uses
    at each end."""

    a: str
    b: str
    rate: int
    cable: int = -1
    product: Model | None = None
    scaleup: bool = False
    metres: Fraction | None = None
    rail: int | None = None
    network: str = ""


@dataclass
class Inventory:
    """Devices by path in the order of the text, and links."""

    parts: dict[str, Part] = field(default_factory=dict)
    wires: list[Wire] = field(default_factory=list)
    cables: int = 0

    # ------------------------------------------------------------ recording

    def add_part(self, path: str, model: Model, **facts: Any) -> None:
        """Record a device; a device of the same path is a fault of the generator."""
        assert path not in self.parts, path
        self.parts[path] = Part(path, model, **facts)

    def add_wires(self, a: str, b: str, rate: int, count: int = 1, cabled: bool = True, **facts: Any) -> None:
        """Record links, each with a cable of its own. Raises KeyError where a device was not recorded."""
        assert a != b, a
        both = self.parts[a], self.parts[b]
        for _ in range(count):
            number = self.cables if cabled else -1
            self.cables += cabled
            if all(p.built for p in both):
                self.wires.append(Wire(a, b, rate, number, **facts))

    def place_part(self, path: str, place: tuple[str, str, int, int]) -> None:
        """Record where a device is mounted: hall, row, rack, lowest unit. Raises KeyError where there is none."""
        self.parts[path] = replace(self.parts[path], place=place)

    def omit_part(self, path: str) -> None:
        """Record that a device, or everything in a group, is planned and not built. Raises KeyError where there is none."""
        found = {p for p in self.parts if is_within(p, path)}
        if not found:
            raise KeyError(path)
        for name in found:
            self.parts[name] = replace(self.parts[name], built=False)
        self.wires = [w for w in self.wires if w.a not in found and w.b not in found]

    # ------------------------------------------------------------ selecting

    def select(self, text: str, scope: str = "") -> Elements:
        """The elements that paths name in the block of an instance, or at the top (``scope`` ""): a name is one of the instance,
        else of the blocks around it, else of any group in the instance. Empty where it names nothing."""
        out: Elements = {}
        for one in re.split(r", (?![^\[(]*[\])])", text):
            out |= self._selected(one, scope)
        return out

    def _selected(self, text: str, scope: str) -> Elements:
        wanted = [split_step(s) for s in split_path(text)]
        around = scope
        while True:
            found = {p: e for p in self.paths_below(around) if (e := _matched(p, around, wanted))}
            if found:
                break
            if not around:
                break
            around = ".".join(split_path(around)[:-1])
        if not found and len(wanted) == 1:  # a bare name, in whichever group it is
            for p in self.parts:
                steps = split_path(p)
                for i in range(len(steps)):
                    if steps_match(steps[i : i + 1], wanted) and (not scope or is_within(p, scope)):
                        found[p] = ".".join(steps[: i + 1])
                        break
        out: dict[str, set[str]] = defaultdict(set)
        for path, element in found.items():
            out[element].add(path)
        return {e: self.closure(paths) for e, paths in out.items()}

    def paths_below(self, scope: str) -> list[str]:
        """Paths of the devices of an instance; all where there is none."""
        return [p for p in self.parts if not scope or (is_within(p, scope) and p != scope)]

    def closure(self, paths: Iterable[str]) -> frozenset[str]:
        """Devices with everything that is inside of them."""
        out = set(paths)
        while more := {p.path for p in self.parts.values() if p.inside in out} - out:
            out |= more
        return frozenset(out)

    def built_parts(self) -> Iterator[Part]:
        return (p for p in self.parts.values() if p.built)

    # ------------------------------------------------------------ parts of it

    def restricted(self, core: frozenset[str]) -> Inventory:
        """A group by itself: its devices, the links among them, and the hosts and chips attached to them from outside."""
        wires = [w for w in self.wires if self._belongs(w, core)]
        kept = core | {end for w in wires for end in (w.a, w.b)}
        kept |= {p.inside for p in self.parts.values() if p.path in kept and p.inside}
        return Inventory({p: v for p, v in self.parts.items() if p in kept}, wires, self.cables)

    def _belongs(self, w: Wire, core: frozenset[str]) -> bool:
        a, b = w.a in core, w.b in core
        ends = [self.parts[x].kind in ("host", "chip") for x in (w.a, w.b)]
        return (a and b) or (a and ends[1]) or (b and ends[0])

    def without(self, gone: frozenset[str], wires: frozenset[int] = frozenset()) -> Inventory:
        """What failures of devices (with all in them) and of links leave; the devices are still recorded, as not built."""
        lost = self.closure(gone)
        parts = {p: replace(v, built=v.built and p not in lost) for p, v in self.parts.items()}
        left = [w for i, w in enumerate(self.wires) if i not in wires and w.a not in lost and w.b not in lost]
        return Inventory(parts, left, self.cables)

    def of_network(self, network: str) -> Inventory:
        """One fabric of a cluster: its own devices, and those of the cluster that its links name."""
        wires = [w for w in self.wires if w.network == network]
        ends = self.closure({end for w in wires for end in (w.a, w.b)})
        kept = {p.path for p in self.parts.values() if p.network == network} | ends
        return Inventory({p: v for p, v in self.parts.items() if p in kept}, wires, self.cables)

    # ------------------------------------------------------------ as the judges of figures read it

    def world(self) -> World:
        """The same for the judges of ``judges.py``, which read tables."""
        rows = list(self.built_parts())
        known = {p.path for p in rows}
        devices = [
            [p.path, p.path, p.kind, _role(p), None, None, p.model.name, p.inside if p.inside in known else None, False]
            for p in rows
        ]
        links = [
            [
                w.a,
                w.b,
                w.rate,
                w.rail,
                str(w.cable) if w.cable >= 0 else None,
                None,
                None,
                "scaleup" if w.scaleup else None,
                None,
                None,
                f"p{i}",
                f"q{i}",
                None,
            ]
            for i, w in enumerate(self.wires)
        ]
        models = {p.model.name: p.model for p in rows}
        return World(
            {
                "title": "",
                "devices": {
                    "columns": ["name", "path", "kind", "role", "tier", "plane", "model", "inside", "forwards"],
                    "rows": devices,
                },
                "links": {
                    "columns": [
                        "a_device",
                        "b_device",
                        "rate_bps",
                        "rail",
                        "cable_id",
                        "far_cable_id",
                        "a_bundle",
                        "layer",
                        "a_cage",
                        "b_cage",
                        "a_port",
                        "b_port",
                        "via",
                    ],
                    "rows": links,
                },
                "planned_links": {"columns": [], "rows": []},
                "models": [{"key": m.name, "title": f"acc={m.accelerators} joined={int(m.joined)}"} for m in models.values()],
            }
        )

    def links_between_paths(self) -> list[tuple[str, str, int, bool]]:
        """The links as a sorted list: both devices, bit/s, and whether they are scale-up links."""
        return sorted((*sorted((w.a, w.b)), w.rate, w.scaleup) for w in self.wires)


def stated_links(data: Any) -> list[tuple[str, str, int, bool]]:
    """The links of a fabric.json, as ``links_between_paths`` gives them."""
    names = [data["devices"]["columns"].index(n) for n in ("name", "path")]
    path = {row[names[0]]: row[names[1]] for row in data["devices"]["rows"]}
    out = []
    for row in data["links"]["rows"]:
        f = dict(zip(data["links"]["columns"], row, strict=True))
        ends = sorted((path[f["a_device"]], path[f["b_device"]]))
        out.append((ends[0], ends[1], f["rate_bps"], bool(f.get("layer"))))
    return sorted(out)


def _role(part: Part) -> str:
    return part.role or ("accelerator" if part.kind == "host" and part.model.accelerators else "")


# ---------------------------------------------------------------- paths


def split_path(text: str) -> list[str]:
    """The steps of a path: ``a[0, 1].b`` is ``a[0, 1]`` and ``b``."""
    return re.split(r"\.(?![^\[]*\])", text) if text else []


def split_step(step: str) -> tuple[str, str]:
    """Name and index of a step; the index without brackets."""
    name, _, index = step.partition("[")
    return name, index.rstrip("]").strip()


def is_within(path: str, group: str) -> bool:
    """Whether a path is that of a group's instance or of something in it, by steps."""
    steps, above = split_path(path), split_path(group)
    return steps[: len(above)] == above


def steps_match(steps: list[str], wanted: list[tuple[str, str]]) -> bool:
    """Whether steps have these names and indices."""
    return len(steps) == len(wanted) and all(_fits(split_step(s), w) for s, w in zip(steps, wanted, strict=True))


def _matched(path: str, scope: str, wanted: list[tuple[str, str]]) -> str:
    steps, depth = split_path(path), len(split_path(scope))
    mine = steps[depth : depth + len(wanted)]
    return ".".join(steps[: depth + len(wanted)]) if steps_match(mine, wanted) else ""


def _fits(step: tuple[str, str], wanted: tuple[str, str]) -> bool:
    if step[0] != wanted[0]:
        return False
    if wanted[1] in ("", "*"):
        return True
    here, there = (x.replace(" ", "").split(",") for x in (step[1], wanted[1]))
    return len(here) == len(there) and all(_index_fits(a, b) for a, b in zip(here, there, strict=True))


def _index_fits(index: str, wanted: str) -> bool:
    wanted = wanted.strip("()")
    if wanted == "*":
        return True
    if ".." in wanted:
        low, high = wanted.split("..")
        return int(low) <= int(index) <= int(high)
    return index == wanted
