"""Cables at front and rear ports of patch panels, joined to the links that run through them.

Front ports lead to a position of a rear port, as NetBox has it (``dcim/models/device_components.py``,
``FrontPort``, ``RearPort``); where no list of front ports says it, a front port leads to the rear port of the
same number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple

from tdsl.observe.record import CapturedEnd, CapturedLink, CaptureLine, Observed
from tdsl.system.lazy_dataclass import dataclass

FRONT, REAR = "dcim.frontport", "dcim.rearport"
MOST_PANELS = 64
"""Panels on one link."""
STRAY = "the cable ends at a port of a panel that leads to no other cable"


class PanelPort(NamedTuple):
    """A port of a panel."""

    device: str
    kind: str
    name: str


CableEnd = PanelPort | CapturedEnd
"""An end of a cable: a port of a panel, or of a device."""


class PanelCable(NamedTuple):
    """A cable with a port of a panel at one of its ends or at both."""

    a: CableEnd
    b: CableEnd
    at: CaptureLine
    words: str


@dataclass(slots=True)
class PanelCables:
    """All cables at panels, and which rear port and position each front port leads to."""

    cables: list[PanelCable] = field(default_factory=list)
    behind: dict[PanelPort, tuple[PanelPort, int]] = field(default_factory=dict)

    def join_links(self, into: Observed) -> None:
        """Add a link for each pair of devices' ports that cables join through panels; a cable that is on none
        is set aside."""
        other = {here: (there, k) for k, here, there in self._ends_of_cables() if isinstance(here, PanelPort)}
        ahead = {place: front for front, place in self._places().items()}
        used: set[int] = set()
        for k, here, there in self._ends_of_cables():
            if isinstance(here, PanelPort) or not isinstance(there, PanelPort):
                continue
            far, passed = self._trace(there, other, ahead)
            if far is None:
                continue
            used.update((k, *passed))
            if not passed or k < passed[-1]:  # each link once, from its first cable
                into.wire(CapturedLink(here, far, self.cables[k].at))
        for k, cable in enumerate(self.cables):
            if k not in used:
                into.leave_out(STRAY, cable.at, cable.words)

    def _ends_of_cables(self) -> Iterator[tuple[int, CableEnd, CableEnd]]:
        """Both ends of every cable: the number of the cable, the end, and the other end."""
        for k, cable in enumerate(self.cables):
            yield k, cable.a, cable.b
            yield k, cable.b, cable.a

    def _places(self) -> dict[PanelPort, tuple[PanelPort, int]]:
        """The rear port and position behind each front port that a cable ends at or that is listed."""
        out = dict(self.behind)
        ports = {end for cable in self.cables for end in (cable.a, cable.b) if isinstance(end, PanelPort)}
        listed = {front.device for front in out}
        rear = {(p.device, _last_number(p.name)): p for p in sorted(ports) if p.kind == REAR}
        for p in sorted(ports):
            if p.kind == FRONT and p.device not in listed:
                found = rear.get((p.device, _last_number(p.name)))
                if found is not None:
                    out[p] = found, 1
        return out

    def _trace(
        self,
        port: PanelPort,
        other: dict[PanelPort, tuple[CableEnd, int]],
        ahead: dict[tuple[PanelPort, int], PanelPort],
    ) -> tuple[CapturedEnd | None, list[int]]:
        """The port of a device to which a port of a panel leads, None where it leads to none, and the cables
        on the way."""
        behind = {front: place for place, front in ahead.items()}
        passed: list[int] = []
        positions: list[int] = []  # of rear ports that were entered from the front
        for _ in range(MOST_PANELS):
            if port.kind == FRONT:
                place = behind.get(port)
                if place is None:
                    return None, passed
                positions.append(place[1])
                leaving = place[0]
            else:
                front = ahead.get((port, positions.pop() if positions else 1))
                if front is None:
                    return None, passed
                leaving = front
            found = other.get(leaving)
            if found is None:
                return None, passed
            passed.append(found[1])
            if not isinstance(found[0], PanelPort):
                return found[0], passed
            port = found[0]
        return None, passed


def _last_number(name: str) -> str:
    """The last number in the name of a port: that of ``Front 12`` and ``rear12``; the name where it has
    none."""
    found = re.findall(r"\d+", name)
    return found[-1].lstrip("0") or "0" if found else name.casefold()


def front_ports_listed(rows: Iterator[tuple[str, str, str, int]]) -> dict[PanelPort, tuple[PanelPort, int]]:
    """Rear ports and positions by front port, of rows of a device, a front port, a rear port and a
    position."""
    return {
        PanelPort(device, FRONT, front): (PanelPort(device, REAR, rear), position)
        for device, front, rear, position in rows
    }
