"""Drawings of places: a front view of each kind of rack, and a plan of each hall. Racks that hold the same are drawn once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tdsl.fabric.graph import Fabric
from tdsl.fabric.places import Places
from tdsl.physical.figures import Figures
from tdsl.physical.racks import Racks
from tdsl.physical.tables import rack_sums

UNIT = 14
WIDTH = 190
GAP = 60
ACROSS = 5
CELL = 46
COLOURS = ("#cfe3f7", "#f9dfc1", "#d5ecd0", "#eed6ea", "#f7eeb5", "#d9d9ee", "#f3cfcf", "#cfeeee", "#e3e3e3", "#e6d8c3")


@dataclass(frozen=True, slots=True)
class Slot:
    """A device in a front view."""

    y: float
    height: float
    label: str
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


@dataclass(frozen=True, slots=True)
class Plan:
    """A hall from above. ``rows`` are names with the y of each."""

    y: float
    name: str
    racks: tuple[Floor, ...]
    trays: tuple[TrayLine, ...]
    rows: tuple[Tick, ...]


@dataclass(frozen=True, slots=True)
class Plans:
    """All halls on one sheet."""

    width: float
    height: float
    title: str
    cell: float
    halls: tuple[Plan, ...]


def ranges(names: Iterable[str]) -> str:
    """Names of racks in short: ``A01-A04, B07``. They come in order."""
    out: list[list[str]] = []
    for name in names:
        head = name.rstrip("0123456789")
        if out and out[-1][-1].rstrip("0123456789") == head and int(name[len(head) :]) == int(out[-1][-1][len(head) :]) + 1:
            out[-1].append(name)
        else:
            out.append([name])
    return ", ".join(x[0] if len(x) == 1 else f"{x[0]}-{x[-1]}" for x in out)


class Drawing:
    """The racks of a fabric by kind."""

    def __init__(self, fabric: Fabric, places: Places, title: str) -> None:
        self.fabric, self.places, self.title = fabric, places, title
        self.racks = Racks(fabric, places)
        self.sums = rack_sums(Figures(fabric), self.racks)
        self.kinds: dict[tuple[object, ...], list[int]] = {}
        for rack in sorted(self.racks.by_rack):
            devices = self.racks.by_rack[rack]
            what = tuple((int(fabric.device_model[d]), int(places.device_unit[d])) for d in devices)
            self.kinds.setdefault((places.rack_kind[rack].height, self.sums[rack].known, what), []).append(rack)
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
        return Fronts(width, y + tallest + 130, f"{self.title}: front views of {len(self.racks.by_rack):,} racks", tuple(out))

    def _front(self, k: int, racks: list[int], x: float, y: float) -> Front:
        f, p = self.fabric, self.places
        devices = self.racks.by_rack[racks[0]]
        top = max(int(p.device_unit[d]) + max(self.racks.height(d), 1) - 1 for d in devices)
        units = p.rack_kind[racks[0]].height or max(top, 1)
        slots = []
        for d in devices:
            unit, high = int(p.device_unit[d]), max(self.racks.height(d), 1)
            if unit:
                model = f.model_of(d)
                label = f.device_name(d) if len(racks) == 1 else model.name
                slots.append(Slot(y + (units - unit - high + 1) * UNIT, high * UNIT, label, f"{f.device_name(d)}: {model.title}",
                                  self.colour[int(f.device_model[d])]))  # fmt: skip
        loose = sum(1 for d in devices if not p.device_unit[d])
        bound = self.sums[racks[0]]
        names = ranges(p.rack_names[r] for r in racks)
        lines = [
            f"{len(racks):,} rack{'' if len(racks) == 1 else 's'}",
            *_wrapped(names, 30)[:3],
            f"{'' if bound.exact else 'at least '}{float(bound.known) / 1000:g} kW",
        ]
        if loose:
            lines.append(f"{loose} devices without a unit")
        marks = {1, units, *range(5, units, 5)}
        ticks = tuple(Tick(y + (units - u + 0.5) * UNIT + 3, str(u)) for u in sorted(marks))
        return Front(x, y, WIDTH, units * UNIT, f"kind {self.name(k)}", "#ffffff", tuple(lines), tuple(slots), ticks)

    def plans(self) -> Plans:
        """Halls one below the other, to no scale but in order."""
        p = self.places
        out: list[Plan] = []
        y, width = 70.0, 400.0
        for h, hall in enumerate(p.halls):
            racks: list[Floor] = []
            trays: list[TrayLine] = []
            rows: list[Tick] = []
            longest = max(len(row.racks) for row in hall.rows)
            at = {(int(p.rack_row[r]), int(p.rack_number[r])): r for r in range(p.rack_count) if p.rack_hall[r] == h}
            for j, row in enumerate(hall.rows):
                top = y + 30 + j * CELL * 1.7
                rows.append(Tick(top + CELL * 0.55, row.name))
                for k, (number, _) in enumerate(row.racks):
                    rack = at[j, number]
                    kind = self.kind_of.get(rack, -1)
                    held = self.racks.by_rack.get(rack, [])
                    colour = self.colour[int(self.fabric.device_model[held[0]])] if held else "#ffffff"
                    hint = f"{p.rack_names[rack]}: {len(held)} devices"
                    racks.append(Floor(80 + k * CELL, top, str(number), self.name(kind) if kind >= 0 else "", hint, colour))
                if hall.tray is not None:
                    trays.append(TrayLine(80, top - 6, 80 + longest * CELL, top - 6))
            if hall.tray is not None and len(hall.rows) > 1:
                low, high = y + 24, y + 24 + (len(hall.rows) - 1) * CELL * 1.7
                first = [n for n, _ in hall.rows[0].racks]
                for number in hall.tray.across:
                    if number in first:
                        x = 80 + (first.index(number) + 0.5) * CELL
                        trays.append(TrayLine(x, low, x, high))
            out.append(Plan(y, f"hall {hall.name}", tuple(racks), tuple(trays), tuple(rows)))
            y += 60 + len(hall.rows) * CELL * 1.7
            width = max(width, 120 + longest * CELL)
        return Plans(width, y, f"{self.title}: plan of the racks", CELL - 4, tuple(out))


def _wrapped(text: str, width: int) -> list[str]:
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
