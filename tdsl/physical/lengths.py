"""How long cables must be: from the places of their ends, by arithmetic that is kept to be shown.

Inside a rack a cable runs from the middle of one device to that of the other. Between racks it rises (or
drops) to the tray, follows the trays by the shortest way, and comes down. Each end has the slack of its hall.
Rack units are 44.45 mm (EIA-310).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tdsl.fabric.distances import distances_between_devices
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.places import RackPlaces, height_of
from tdsl.semantics.place_statements import Hall
from tdsl.system.lazy_dataclass import dataclass

HALF_UNIT = 22_225
"""Micrometres of half a rack unit."""
MM = 1000
"""Micrometres of a millimetre: all lengths here are in micrometres."""


@dataclass(frozen=True, slots=True)
class RunStretch:
    """A stretch of a cable's run, in micrometres."""

    what: str
    length: int


def metres_text(micrometres: int) -> str:
    """A length as people write it, to the millimetre, rounded up."""
    return f"{-(-micrometres // MM) / MM:.3f} m"


class CableRuns:
    """The runs of all cable legs of a fabric that has places."""

    def __init__(self, fabric: Fabric, places: RackPlaces) -> None:
        self.fabric, self.places = fabric, places

    @cached_property
    def top(self) -> Ints:
        """For every device the outermost one that it is inside: that is what is mounted."""
        out = np.arange(self.fabric.device_count)
        container = self.fabric.container
        while (container[out] >= 0).any():
            out = np.where(container[out] >= 0, container[out], out)
        return out

    @cached_property
    def height(self) -> Ints:
        """Height of the middle of every device over the floor of its rack, -1 where its unit or its size is
        unknown."""
        f, p = self.fabric, self.places
        known = [-1 if (stated := height_of(m)) is None else stated for m in f.models]
        units = np.array(known, dtype=np.int64)[f.device_model]
        middle = (2 * (p.device_unit - 1) + units) * HALF_UNIT
        return np.where((p.device_unit > 0) & (units >= 0), middle, -1)

    @cached_property
    def _halls(self) -> tuple[Ints, Ints, list[Ints]]:
        """Slack and tray height of every hall, -1 where not stated, and where trays lead across, as x."""
        p = self.places
        slack = np.array([-1 if h.slack is None else h.slack * MM for h in p.halls], dtype=np.int64)
        tray = np.array([0 if h.tray is None else h.tray.height * MM for h in p.halls], dtype=np.int64)
        return slack, tray, [np.array(_cross_tray_positions(h), dtype=np.int64) for h in p.halls]

    @cached_property
    def run(self) -> Ints:
        """Micrometres of every cable leg, slack included; -1 where something that it depends on is
        unknown."""
        f, p = self.fabric, self.places
        a, b = self.top[f.port_device[f.cable_a]], self.top[f.port_device[f.cable_b]]
        out = np.full(len(a), -1, dtype=np.int64)
        if not p.halls:
            return self._far(a, b, out)
        slack, _, _ = self._halls
        ra, rb = p.device_rack[a], p.device_rack[b]
        ha, hb = p.rack_hall[ra], p.rack_hall[rb]
        known = (
            (ra >= 0)
            & (rb >= 0)
            & (self.height[a] >= 0)
            & (self.height[b] >= 0)
            & (slack[ha] >= 0)
            & (slack[hb] >= 0)
        )
        same = known & (ra == rb)
        ends = slack[ha] + slack[hb]
        out[same] = (np.abs(self.height[a] - self.height[b]) + ends)[same]
        apart = np.flatnonzero(known & (ra != rb))
        if len(apart):
            way = self.way(ra[apart], rb[apart])
            rise = self._rise(a[apart]) + self._rise(b[apart])
            out[apart] = np.where(way >= 0, way + rise + ends[apart], -1)
        return self._far(a, b, out)

    @cached_property
    def _span(self) -> tuple[Ints, Ints]:
        """Millimetres of the stated distance that every leg spans, -1 where it spans none, and which distance
        that is."""
        f = self.fabric
        return distances_between_devices(
            f, self.top[f.port_device[f.cable_a]], self.top[f.port_device[f.cable_b]]
        )

    def _far(self, a: Ints, b: Ints, out: Ints) -> Ints:
        """Runs with those that a distance between groups is part of: it, and what is known of the way to it
        at each end."""
        length = self._span[0]
        rows = np.flatnonzero(length >= 0)
        if len(rows):
            near = [np.maximum(self._to_entry(ends[rows]), 0) for ends in (a, b)]
            out[rows] = length[rows] * MM + near[0] + near[1]
        return out

    def _to_entry(self, devices: Ints) -> Ints:
        """From devices to the entry of their hall with slack, -1 where that is unknown."""
        p = self.places
        out = np.full(len(devices), -1, dtype=np.int64)
        rows = np.flatnonzero((p.device_rack[devices] >= 0) & (self.height[devices] >= 0))
        racks = p.device_rack[devices[rows]]
        for h in distinct_values(p.rack_hall[racks]).tolist():
            here = rows[p.rack_hall[racks] == h]
            at = p.device_rack[devices[here]]
            zero = np.zeros(len(here), dtype=np.int64)
            way, slack = self._inside(h, p.rack_x[at], p.rack_y[at], zero, zero), int(self._halls[0][h])
            out[here] = np.where((way >= 0) & (slack >= 0), way + self._rise(devices[here]) + slack, -1)
        return out

    @property
    def spans(self) -> Bools:
        """Whether a leg spans a stated distance between groups: it goes by the entry of the hall at each of
        its ends."""
        found: Bools = self._span[0] >= 0
        return found

    def enters(self, devices: Ints) -> Bools:
        """Whether the way from a device to the entry of its hall is known."""
        found: Bools = self._to_entry(devices) >= 0
        return found

    def across(self, hall: int) -> Ints:
        """Where trays lead across the rows of a hall, as x in millimetres."""
        return self._halls[2][hall]

    def _rise(self, devices: Ints) -> Ints:
        """From the middle of a device to the tray of its hall."""
        tray = self._halls[1][self.places.rack_hall[self.places.device_rack[devices]]]
        found: Ints = np.abs(tray - self.height[devices])
        return found

    def way(self, ra: Ints, rb: Ints) -> Ints:
        """Along the trays from rack to rack, -1 where there is no tray, no pitch, or no distance between the
        halls."""
        p = self.places
        ha, hb = p.rack_hall[ra], p.rack_hall[rb]
        out = np.full(len(ra), -1, dtype=np.int64)
        for h in distinct_values(ha[ha == hb]).tolist():
            here = np.flatnonzero((ha == h) & (hb == h))
            at = (p.rack_x[ra[here]], p.rack_y[ra[here]], p.rack_x[rb[here]], p.rack_y[rb[here]])
            out[here] = self._inside(h, *at)
        for pair in sorted({(x, y) for x, y in zip(ha.tolist(), hb.tolist(), strict=True) if x != y}):
            distance = p.distances.get(pair)
            if distance is None:
                continue
            here = np.flatnonzero((ha == pair[0]) & (hb == pair[1]))
            zero = np.zeros(len(here), dtype=np.int64)
            near = self._inside(pair[0], p.rack_x[ra[here]], p.rack_y[ra[here]], zero, zero)
            far = self._inside(pair[1], p.rack_x[rb[here]], p.rack_y[rb[here]], zero, zero)
            out[here] = np.where((near >= 0) & (far >= 0), near + far + distance * MM, -1)
        return out

    def _inside(self, hall: int, xa: Ints, ya: Ints, xb: Ints, yb: Ints) -> Ints:
        """Along the trays of one hall. From row to row the best single tray across is the shortest way: trays
        across join all rows, so a second one only adds."""
        if self.places.halls[hall].tray is None:
            return np.full(len(xa), -1, dtype=np.int64)
        across = self._halls[2][hall]
        one_row = np.abs(xa - xb)
        by = np.abs(xa[:, None] - across) + np.abs(xb[:, None] - across) if len(across) else None
        many = np.full(len(xa), -1, dtype=np.int64) if by is None else by.min(axis=1) + np.abs(ya - yb)
        known = (xa >= 0) & (ya >= 0) & (xb >= 0) & (yb >= 0) & ((ya == yb) | (many >= 0))
        found: Ints = np.where(known, np.where(ya == yb, one_row, many) * MM, -1)
        return found

    # ------------------------------------------------------------ words
    def steps(self, leg: int) -> list[RunStretch]:
        """The arithmetic of one leg; empty where its length is unknown. The steps add up to its run."""
        if self.run[leg] < 0:
            return []
        f, p = self.fabric, self.places
        a, b = (int(self.top[f.port_device[ports[leg]]]) for ports in (f.cable_a, f.cable_b))
        slack = self._halls[0]
        if self._span[0][leg] >= 0:
            span = f.spans[int(self._span[1][leg])]
            return [
                *self._entering(a),
                RunStretch(f"distance {span.text}", span.length * MM),
                *reversed(self._entering(b)),
            ]
        out = [RunStretch(f"slack at {f.device_name(a)}", int(slack[p.rack_hall[p.device_rack[a]]]))]
        ra, rb = int(p.device_rack[a]), int(p.device_rack[b])
        if ra == rb:
            apart = abs(int(self.height[a]) - int(self.height[b]))
            out.append(RunStretch(f"inside rack {p.rack_names[ra]}, {self._at(a)} to {self._at(b)}", apart))
        else:
            out.append(self._vertical(a, "up to" if self._up(a) else "down to"))
            out += self._along(ra, rb)
            out.append(self._vertical(b, "down from" if self._up(b) else "up from"))
        out.append(RunStretch(f"slack at {f.device_name(b)}", int(slack[p.rack_hall[p.device_rack[b]]])))
        return out

    def _entering(self, device: int) -> list[RunStretch]:
        """From a device to the entry of its hall, none where that is unknown."""
        p = self.places
        if self._to_entry(np.array([device]))[0] < 0:
            return []
        rack = int(p.device_rack[device])
        hall = int(p.rack_hall[rack])
        return [
            RunStretch(f"slack at {self.fabric.device_name(device)}", int(self._halls[0][hall])),
            self._vertical(device, "up to" if self._up(device) else "down to"),
            *self._stretches(
                hall,
                (int(p.rack_x[rack]), int(p.rack_y[rack])),
                (0, 0),
                p.rack_names[rack],
                f"the entry of {p.halls[hall].name}",
            ),
        ]

    def _at(self, device: int) -> str:
        return f"unit {int(self.places.device_unit[device])}"

    def _up(self, device: int) -> bool:
        hall = int(self.places.rack_hall[self.places.device_rack[device]])
        return int(self._halls[1][hall]) >= int(self.height[device])

    def _vertical(self, device: int, word: str) -> RunStretch:
        p = self.places
        rack = int(p.device_rack[device])
        tray = metres_text(int(self._halls[1][int(p.rack_hall[rack])]))
        what = (
            f"rack {p.rack_names[rack]}, {self._at(device)} at "
            f"{metres_text(int(self.height[device]))}, {word} the tray at {tray}"
        )
        return RunStretch(what, int(self._rise(np.array([device]))[0]))

    def _along(self, ra: int, rb: int) -> list[RunStretch]:
        """The stretches between two racks."""
        p = self.places
        ha, hb = int(p.rack_hall[ra]), int(p.rack_hall[rb])
        if ha == hb:
            return self._stretches(
                ha,
                (int(p.rack_x[ra]), int(p.rack_y[ra])),
                (int(p.rack_x[rb]), int(p.rack_y[rb])),
                p.rack_names[ra],
                p.rack_names[rb],
            )
        names = p.halls[ha].name, p.halls[hb].name
        return [
            *self._stretches(
                ha,
                (int(p.rack_x[ra]), int(p.rack_y[ra])),
                (0, 0),
                p.rack_names[ra],
                f"the entry of {names[0]}",
            ),
            RunStretch(f"hall {names[0]} to hall {names[1]}", p.distances[ha, hb] * MM),
            *self._stretches(
                hb,
                (0, 0),
                (int(p.rack_x[rb]), int(p.rack_y[rb])),
                f"the entry of {names[1]}",
                p.rack_names[rb],
            ),
        ]

    def _stretches(
        self, hall: int, a: tuple[int, int], b: tuple[int, int], start: str, end: str
    ) -> list[RunStretch]:
        (xa, ya), (xb, yb) = a, b
        if ya == yb:
            return [RunStretch(f"tray along the row, {start} to {end}", abs(xa - xb) * MM)]
        across = self._halls[2][hall].tolist()
        at = min(across, key=lambda x: (abs(xa - x) + abs(xb - x), x))
        number = _cross_tray_racks(self.places.halls[hall])[at]
        return [
            RunStretch(f"tray along the row, {start} to the tray across at rack {number}", abs(xa - at) * MM),
            RunStretch("tray across the rows", abs(ya - yb) * MM),
            RunStretch(f"tray along the row, the tray across at rack {number} to {end}", abs(xb - at) * MM),
        ]

    def unknown(self, leg: int) -> str:
        """Why the length of a leg is unknown, "" if it is known."""
        if self.run[leg] >= 0:
            return ""
        f, p = self.fabric, self.places
        ends = [int(self.top[f.port_device[ports[leg]]]) for ports in (f.cable_a, f.cable_b)]
        for d in ends:
            if p.device_rack[d] < 0:
                return f"{f.device_name(d)} has no place"
        racks = [int(p.device_rack[d]) for d in ends]
        for d, rack in zip(ends, racks, strict=True):
            if why := self._lacking_at_device(d, rack):
                return why
        for rack in racks:
            if why := self._lacking_in_hall(rack):
                return why
        halls = [p.halls[int(p.rack_hall[r])].name for r in racks]
        return f"there is no `distance {halls[0]} to {halls[1]}`"

    def _lacking_in_hall(self, rack: int) -> str:
        """What keeps the way from a rack to others from being known, "" if nothing."""
        p = self.places
        hall = p.halls[int(p.rack_hall[rack])]
        if hall.tray is None:
            return f"hall {hall.name} has no `tray`"
        if p.rack_x[rack] < 0 or p.rack_y[rack] < 0:
            return f"hall {hall.name} has no `pitch` of {'racks' if p.rack_x[rack] < 0 else 'rows'}"
        return ""

    def _lacking_at_device(self, d: int, rack: int) -> str:
        """What keeps the length of a cable at a placed device from being known, "" if nothing."""
        f, p = self.fabric, self.places
        hall = p.halls[int(p.rack_hall[rack])]
        if hall.slack is None:
            return f"hall {hall.name} has no `slack`"
        if not p.device_unit[d]:
            return f"{f.device_name(d)} has a rack and no unit"
        if self.height[d] < 0:
            return f"{f.model_of(d).name} has no `height`"
        return ""


def _cross_tray_racks(hall: Hall) -> dict[int, int]:
    """Where trays lead across: x in millimetres, and the number of the rack there (of the first row that has
    it)."""
    out: dict[int, int] = {}
    for number in hall.tray.across if hall.tray is not None else ():
        for row in hall.rows:
            at = next((k for k, (n, _) in enumerate(row.racks) if n == number), None)
            if at is not None:
                out[at * (hall.rack_pitch or 0)] = number
                break
    return out


def _cross_tray_positions(hall: Hall) -> list[int]:
    return sorted(_cross_tray_racks(hall))
