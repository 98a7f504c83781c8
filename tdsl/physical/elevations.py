"""Drawings of places: a front view of each kind of rack, and a plan of each hall. Racks that hold the same
are drawn once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.fabric.places import RackPlaces
from tdsl.physical.model import physical_of
from tdsl.physical.power_and_cost import Figures
from tdsl.physical.rack_rows import rack_sums
from tdsl.physical.racks import Racks
from tdsl.physical.trays import Stretch, Trays
from tdsl.semantics.place_statements import Hall
from tdsl.system.lazy_dataclass import dataclass

UNIT = 14
WIDTH = 250
GAP = 60
TRAY = 14
"""From the front of a row to its tray in a plan."""
ACROSS = 5
CELL = 46
COLOURS = (
    "#cfe3f7",
    "#f9dfc1",
    "#d5ecd0",
    "#eed6ea",
    "#f7eeb5",
    "#d9d9ee",
    "#f3cfcf",
    "#cfeeee",
    "#e3e3e3",
    "#e6d8c3",
)


@dataclass(frozen=True, slots=True)
class Slot:
    """A device in a front view."""

    y: float
    height: float
    label: str
    figure: str  # power, "" where it is not stated
    hint: str
    colour: str


@dataclass(frozen=True, slots=True)
class Tick:
    """The number of a rack unit."""

    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Front:
    """The front of one kind of rack. ``lines`` say which racks are of it, and what they take."""

    x: float
    y: float
    width: float
    height: float
    name: str
    colour: str
    lines: tuple[str, ...]
    slots: tuple[Slot, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Fronts:
    """All front views on one sheet."""

    width: float
    height: float
    title: str
    fronts: tuple[Front, ...]


@dataclass(frozen=True, slots=True)
class Floor:
    """A rack in a plan."""

    x: float
    y: float
    label: str
    kind: str
    hint: str
    colour: str


@dataclass(frozen=True, slots=True)
class TrayLine:
    """A tray in a plan."""

    x1: float
    y1: float
    x2: float
    y2: float
    width: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A text in a plan."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Key:
    """A line of the legend: the letter of a kind of rack, its colour, and what it holds."""

    y: float
    letter: str
    colour: str
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A hall from above. ``rows`` are names with the y of each, ``loads`` the cables in stretches of tray."""

    y: float
    name: str
    racks: tuple[Floor, ...]
    trays: tuple[TrayLine, ...]
    rows: tuple[Tick, ...]
    loads: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Plans:
    """All halls on one sheet."""

    width: float
    height: float
    title: str
    cell: float
    halls: tuple[Plan, ...]
    keys: tuple[Key, ...]


def rack_name_ranges(names: Iterable[str]) -> str:
    """Names of racks in short: ``A01-A04, B07``. They come in order."""
    out: list[list[str]] = []
    for name in names:
        head = name.rstrip("0123456789")
        if (
            out
            and out[-1][-1].rstrip("0123456789") == head
            and int(name[len(head) :]) == int(out[-1][-1][len(head) :]) + 1
        ):
            out[-1].append(name)
        else:
            out.append([name])
    return ", ".join(x[0] if len(x) == 1 else f"{x[0]}-{x[-1]}" for x in out)


class RackDrawing:
    """The racks of a fabric by kind."""

    def __init__(self, fabric: Fabric, places: RackPlaces, title: str) -> None:
        self.fabric, self.places, self.title = fabric, places, title
        self.racks = Racks(fabric, places)
        self.sums = rack_sums(Figures(fabric), self.racks)
        self.kinds: dict[tuple[object, ...], list[int]] = {}
        for rack in sorted(self.racks.by_rack):
            devices = self.racks.by_rack[rack]
            what = tuple((int(fabric.device_model[d]), int(places.device_unit[d])) for d in devices)
            own = places.rack_kind[rack]
            offered = own.height, own.feeds, own.feed_watts, own.mass
            self.kinds.setdefault((offered, self.sums[rack], what), []).append(rack)
        self.kind_of = {rack: k for k, racks in enumerate(self.kinds.values()) for rack in racks}
        models = sorted({int(fabric.device_model[d]) for ds in self.racks.by_rack.values() for d in ds})
        self.colour = {m: COLOURS[k % len(COLOURS)] for k, m in enumerate(models)}

    def name(self, kind: int) -> str:
        """What a kind of rack is called: letters, as of a spreadsheet's columns."""
        text = ""
        kind += 1
        while kind:
            kind, rest = divmod(kind - 1, 26)
            text = chr(ord("a") + rest) + text
        return text

    def fronts(self) -> Fronts:
        """Front views, five a line."""
        out: list[Front] = []
        y, tallest = 70.0, 0.0
        for k, racks in enumerate(self.kinds.values()):
            if k and k % ACROSS == 0:
                y, tallest = y + tallest + 150, 0.0
            front = self._front(k, racks, 50 + (k % ACROSS) * (WIDTH + GAP), y)
            tallest = max(tallest, front.height)
            out.append(front)
        width = 50 + min(ACROSS, max(len(out), 1)) * (WIDTH + GAP)
        return Fronts(
            width,
            y + tallest + 130,
            f"{self.title}: front views of {len(self.racks.by_rack):,} racks",
            tuple(out),
        )

    def _front(self, k: int, racks: list[int], x: float, y: float) -> Front:
        p = self.places
        devices = self.racks.by_rack[racks[0]]
        top = max(int(p.device_unit[d]) + max(self.racks.height(d), 1) - 1 for d in devices)
        units = p.rack_kind[racks[0]].height or max(top, 1)
        slots = tuple(
            self._slot(racks, place, y, units)
            for place, d in enumerate(devices)
            if p.device_unit[d] and not self.racks.beside_units(d)
        )
        lines = (
            *_wrap_at_commas(self._where(racks), 40)[:3],
            *self._sums(racks[0], devices),
            *self._devices_without_slot(devices),
        )
        ticks = tuple(Tick(y + (units - u + 0.5) * UNIT + 3, str(u)) for u in range(1, units + 1))
        name = f"{self.name(k)}: {len(racks):,} rack{'' if len(racks) == 1 else 's'}"
        return Front(x, y, WIDTH, units * UNIT, name, "#ffffff", lines, slots, ticks)

    def _slot(self, racks: list[int], place: int, y: float, units: int) -> Slot:
        """The device at this ``place`` of the list of each of these racks, which are equal; ``y`` is where
        the highest of the ``units`` begins."""
        f, d = self.fabric, self.racks.by_rack[racks[0]][place]
        unit, high = int(self.places.device_unit[d]), max(self.racks.height(d), 1)
        model = f.model_of(d)
        label = common_name_pattern([f.device_name(self.racks.by_rack[r][place]) for r in racks])
        power = self.racks.watts_max[int(f.device_model[d])]
        return Slot(
            y + (units - unit - high + 1) * UNIT,
            high * UNIT,
            f"{label}  {model.name}",
            "" if power is None else f"{float(power) / 1000:.3g} kW",
            f"{f.device_name(d)}: {model.title}, units {unit} to {unit + high - 1}",
            self.colour[int(f.device_model[d])],
        )

    def _devices_without_slot(self, devices: list[int]) -> Iterator[str]:
        """How many devices of a rack are beside its units, and how many have no unit."""
        beside = sum(1 for d in devices if self.racks.beside_units(d))
        loose = sum(1 for d in devices if not self.places.device_unit[d] and not self.racks.beside_units(d))
        if beside:
            yield f"{beside} device{'' if beside == 1 else 's'} beside the units"
        if loose:
            yield f"{loose} device{'' if loose == 1 else 's'} without a unit"

    def _where(self, racks: list[int]) -> str:
        """Names of racks in short, those of each hall behind its name where there are several."""
        p = self.places
        halls = {
            p.hall_name(r): [p.rack_names[x] for x in racks if p.rack_hall[x] == p.rack_hall[r]]
            for r in racks
        }
        return ", ".join(
            rack_name_ranges(names) if len(p.halls) == 1 else f"{hall} {rack_name_ranges(names)}"
            for hall, names in halls.items()
        )

    def _sums(self, rack: int, devices: list[int]) -> list[str]:
        """Power, load and units of a rack, each with what there is."""
        kind, bound = self.places.rack_kind[rack], self.sums[rack]
        power = f"{'' if bound.exact else 'at least '}{float(bound.known) / 1000:.4g} kW"
        if kind.watts is not None:
            spare = f" with one of {kind.feeds} feeds lost" if kind.feeds > 1 else ""
            power += f" of {float(kind.watts) / 1000:.4g} kW{spare}"
        mass = self.racks.total(devices, self.racks.mass)
        load = f"{'' if mass.exact else 'at least '}{float(mass.known):.4g} kg"
        load += f" of {float(kind.mass):.4g} kg" if kind.mass is not None else ""
        taken = sum(self.racks.height(d) for d in devices)
        return [power, load, f"{taken}U{'' if kind.height is None else f' of {kind.height}U'} taken"]

    def contents(self, racks: list[int]) -> str:
        """What racks of a kind hold, in words."""
        count = Counter(self.fabric.model_of(d).name for d in self.racks.by_rack[racks[0]])
        held = ", ".join(f"{n} {name}" for name, n in count.items())
        power = self._sums(racks[0], self.racks.by_rack[racks[0]])[0]
        return f"{len(racks):,} rack{'' if len(racks) == 1 else 's'}: {held}; {power}"

    def plans(self) -> Plans:
        """Halls one below the other, to no scale but in order."""
        p = self.places
        out: list[Plan] = []
        y, width = 84.0, 700.0
        physical = physical_of(self.fabric)
        legs = np.ones(len(self.fabric.cable_a), dtype=np.bool_)
        stretches = Trays(self.fabric, physical).stretches(legs) if physical is not None and len(legs) else []
        most = max((s.cables for s in stretches), default=1)
        for h, hall in enumerate(p.halls):
            longest = max(len(row.racks) for row in hall.rows)
            racks, trays, rows = self._floor_of_hall(h, hall, y, longest)
            trays += _trays_across(hall, y)
            wider, loads = self._loads_of_trays(h, y, stretches, most)
            trays += wider
            name = f"hall {hall.name}{_hall_pitch_text(hall)}"
            out.append(Plan(y, name, tuple(racks), tuple(trays), tuple(rows), tuple(loads)))
            y += 70 + len(hall.rows) * CELL * 1.7
            width = max(width, 120 + longest * CELL)
        keys = []
        for k, of_kind in enumerate(self.kinds.values()):
            first_device = self.racks.by_rack[of_kind[0]][0]
            colour = self.colour[int(self.fabric.device_model[first_device])]
            keys.append(Key(y + 18 * k, self.name(k), colour, self.contents(of_kind)))
        y += 18 * len(keys) + 20
        return Plans(width, y, f"{self.title}: plan of the racks", CELL - 4, tuple(out), tuple(keys))

    def _floor_of_hall(
        self, h: int, hall: Hall, y: float, longest: int
    ) -> tuple[list[Floor], list[TrayLine], list[Tick]]:
        """The racks of a hall, the trays along its rows, and the names of the rows; ``longest`` is the number
        of racks of the longest row."""
        p = self.places
        racks: list[Floor] = []
        trays: list[TrayLine] = []
        rows: list[Tick] = []
        at = {
            (int(p.rack_row[r]), int(p.rack_number[r])): r for r in range(p.rack_count) if p.rack_hall[r] == h
        }
        for j, row in enumerate(hall.rows):
            top = y + 30 + j * CELL * 1.7
            rows.append(Tick(top + CELL * 0.55, row.name))
            for k, (number, _) in enumerate(row.racks):
                rack = at[j, number]
                kind = self.kind_of.get(rack, -1)
                held = self.racks.by_rack.get(rack, [])
                colour = self.colour[int(self.fabric.device_model[held[0]])] if held else "#ffffff"
                hint = f"{p.rack_names[rack]}: {len(held)} device{'' if len(held) == 1 else 's'}"
                racks.append(
                    Floor(
                        80 + k * CELL,
                        top,
                        str(number),
                        self.name(kind) if kind >= 0 else "",
                        hint,
                        colour,
                    )
                )
            if hall.tray is not None:
                trays.append(TrayLine(80, top - TRAY, 80 + longest * CELL, top - TRAY, 1.5))
        return racks, trays, rows

    def _loads_of_trays(
        self, h: int, y: float, stretches: list[Stretch], most: int
    ) -> tuple[list[TrayLine], list[Mark]]:
        """The trays of a hall, the wider the more cables they have, and the numbers of their cables where
        those change; ``most`` is the largest number of all halls."""
        trays: list[TrayLine] = []
        loads: list[Mark] = []
        before: dict[tuple[bool, int], int] = {}
        for s in (s for s in stretches if s.hall == h):
            along, down = 80 + (s.start + 0.5) * CELL, y + 30 - TRAY + s.start * CELL * 1.7
            x, top = (
                (80 + (s.line + 0.5) * CELL, down)
                if s.across
                else (along, y + 30 - TRAY + s.line * CELL * 1.7)
            )
            end = (x, top + CELL * 1.7) if s.across else (x + CELL, top)
            trays.append(TrayLine(x, top, *end, 2 + 7 * s.cables / most))
            if before.get((s.across, s.line)) != s.cables:  # the number is written where it changes
                loads.append(
                    Mark(x + 7, top + 11, f"{s.cables:,}")
                    if s.across
                    else Mark(x + 8, top - 6, f"{s.cables:,}")
                )
            before[s.across, s.line] = s.cables
        return trays, loads


def _trays_across(hall: Hall, y: float) -> list[TrayLine]:
    """The trays that lead across the rows of a hall."""
    trays: list[TrayLine] = []
    if hall.tray is not None and len(hall.rows) > 1:
        low, high = y + 30 - TRAY, y + 30 - TRAY + (len(hall.rows) - 1) * CELL * 1.7
        first = [n for n, _ in hall.rows[0].racks]
        for number in hall.tray.across:
            if number in first:
                x = 80 + (first.index(number) + 0.5) * CELL
                trays.append(TrayLine(x, low, x, high, 1.5))
    return trays


def _hall_pitch_text(hall: Hall) -> str:
    """The distances of a hall, in words."""
    found = [
        (w, x)
        for w, x in (("rack to rack", hall.rack_pitch), ("row to row", hall.row_pitch))
        if x is not None
    ]
    words = [f"{w} {x / 1000:g} m" for w, x in found]
    if hall.tray is not None:
        words.append(f"trays at {hall.tray.height / 1000:g} m")
    return f": {', '.join(words)}" if words else ""


def common_name_pattern(names: list[str]) -> str:
    """One name for several that differ in their numbers: ``su#-leaf7`` for ``su0-leaf7`` and
    ``su1-leaf7``."""
    parts = [re.findall(r"\d+|\D+", n) for n in names]
    if len({len(x) for x in parts}) != 1:
        return "#"
    return "".join(column[0] if len(set(column)) == 1 else "#" for column in zip(*parts, strict=True))


def _wrap_at_commas(text: str, width: int) -> list[str]:
    """Lines of about a width, broken behind commas; what does not fit on three ends in dots."""
    out = [""]
    for word in text.split(", "):
        joined = f"{out[-1]}, {word}" if out[-1] else word
        if len(joined) <= width or not out[-1]:
            out[-1] = joined
        else:
            out[-1] += ","
            out.append(word)
    if len(out) > 3:
        out[2] = out[2].rstrip(",") + " …"
    return out
