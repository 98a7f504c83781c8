"""The ports of a switch as SONiC knows them: numbers, lanes, break-outs, and the rows of headroom that a
lossless class needs."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cached_property

import numpy as np

from tdsl.emit.link_tables import Wires
from tdsl.fabric.columns import values_of_column
from tdsl.fabric.graph import Ints
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass

DYNAMIC_BUFFERS = re.compile(r"mlnx|mellanox|nvidia|spectrum|barefoot|tofino", re.IGNORECASE)
"""Makers for whose switch chips SONiC works out pools and headroom itself: those that have a
buffer_pool_*.lua in sonic-net/sonic-swss, cfgmgr."""
ROWS_OF_A_SPEED = re.compile(r"\s*[0-9]{1,9}(\s+[0-9]{1,9}m)+\s*")
"""Mb/s and the lengths that have a row, as ``400000 5m 40m``."""


@dataclass(frozen=True, slots=True)
class FacePort:
    """A port of a switch. ``system`` is the name that routing uses, ``whole`` and ``mode`` the port it is
    split from and how (``2x400G[200G,100G]``) in the words of the platform, "" if the model does not have
    them. ``index`` tells the transceiver of a cage from all others; ``subport`` counts the ports behind it
    from 1, and is 0 where there is one. ``length_m`` is "" where a leg of the cable has no length. ``alias``
    is the platform's second name of the port, else that on the faceplate."""

    system: str
    name: str
    lanes: tuple[int, ...]
    index: int
    label: str
    whole: str
    mode: str
    mbps: int
    linked: bool
    length_m: int | str
    subport: int = 0
    alias: str = ""

    @property
    def fec(self) -> str:
        """``rs`` on lanes of 50 Gb/s and more, which signal by PAM4 and always have RS(544,514) (IEEE 802.3,
        clauses 119 and 134); else "", since it depends on the optics."""
        return "rs" if self.mbps >= 50_000 * len(self.lanes) else ""


def headroom_rows(stated: str) -> dict[int, list[int]] | None:
    """Metres by Mb/s of the rows of a platform's ``pg_profile_lookup.ini``, as the fact ``pg_profile`` of a
    model states them: ``400000 5m 40m, 200000 5m``. No row of ``none`` and of "", None of any other form."""
    rows: dict[int, list[int]] = {}
    for part in stated.split(",") if stated not in ("", "none") else ():
        if ROWS_OF_A_SPEED.fullmatch(part) is None:
            return None
        mbps, *lengths = part.split()
        rows.setdefault(int(mbps), []).extend(int(m.removesuffix("m")) for m in lengths)
    return rows


def length_to_look_up(stated: str, mbps: int, metres: int) -> int:
    """The metres to write for a cable, which SONiC looks up letter by letter: those of the next row of the
    platform at its speed, whose headroom is for a cable at least as long; its own where no row is."""
    rows = headroom_rows(stated) or {}
    return min((m for m in rows.get(mbps, ()) if m >= metres), default=metres)


class Faceplates:
    """Makes the faceplates of switches whose models tell how SONiC numbers ports."""

    def __init__(self, wires: Wires) -> None:
        self.wires, self.fabric = wires, wires.fabric

    @cached_property
    def devices(self) -> dict[str, int]:
        """Device by name."""
        return {str(n): d for d, n in enumerate(self.wires.devices.name.tolist())}

    @cached_property
    def metres(self) -> Ints:
        """Length of every link, rounded up: what its connect states, else that of the cables to pull; -1
        where neither is known."""
        f = self.fabric
        links, cables = self.wires.crossings
        planned = values_of_column(self.wires.leg_column("length_m"))
        metres = np.array([v if isinstance(v, (int, float)) else np.nan for v in planned], dtype=np.float64)
        stated = self.wires.leg_length
        total = np.bincount(links, np.where(np.isnan(stated), metres, stated)[cables], f.link_count)
        crossed = np.bincount(links, minlength=f.link_count)
        sure = (crossed > 0) & ~np.isnan(total)
        return np.where(sure, np.ceil(np.nan_to_num(total)), -1).astype(np.int64)

    def of(self, name: str) -> tuple[FacePort, ...]:
        """All ports of a switch that SONiC numbers, in the order of the model; none where the model does not
        say."""
        f, device = self.fabric, self.devices[name]
        out = []
        base = int(f.port_base[device])
        sonic = f.switch_system[device] == "sonic"
        model = f.models[int(f.device_model[device])]
        indices = self._indices(model)
        for c in model.classes:
            links = f.port_link[base + c.first : base + c.first + c.size].tolist()
            for i, p in enumerate(c.sonic):
                rate = int(f.link_rate[links[i]]) if links[i] >= 0 else c.rate or 0
                metres = int(self.metres[links[i]]) if links[i] >= 0 else -1
                out.append(
                    FacePort(
                        f"Ethernet{p.number}" if sonic else c.netdev(i),
                        f"Ethernet{p.number}",
                        p.lanes,
                        indices[c.name, p.whole],
                        c.labels[i],
                        f"Ethernet{p.whole}",
                        self._mode(model, c.split, (c.rate or rate) // 10**9),
                        rate // 10**6,
                        links[i] >= 0,
                        metres if metres >= 0 else "",
                        0,
                        p.alias or c.labels[i],
                    )
                )
        return self._numbered_subports(out)

    @staticmethod
    def _numbered_subports(ports: list[FacePort]) -> tuple[FacePort, ...]:
        """Ports with their numbers among those of the same transceiver; 0 for one alone."""
        behind: dict[int, list[FacePort]] = {}
        for port in ports:
            behind.setdefault(port.index, []).append(port)
        number = {p.name: n for same in behind.values() for n, p in enumerate(same, 1) if len(same) > 1}
        return tuple(replace(p, subport=number.get(p.name, 0)) for p in ports)

    @staticmethod
    def _mode(model: DeviceModel, ways: int, gbps: int) -> str:
        """How the platform spells a break-out, "" where the model does not have its ``breakout`` modes or no
        such one."""
        known = model.facts.get("breakout", ())
        modes = [m for m in (known if isinstance(known, tuple) else (known,)) if isinstance(m, str)]
        return next((m for m in modes if re.fullmatch(rf"{ways}x{gbps}G([\[(].*)?", m)), "")

    @staticmethod
    def _indices(model: DeviceModel) -> dict[tuple[str, int], int]:
        """A number for the transceiver behind each whole port, by class and SONiC's number: its cage's, if no
        other has it."""
        out: dict[tuple[str, int], int] = {}
        of_cage: dict[tuple[str, int], int] = {}
        rows = [(c, p, c.cages[i]) for c in model.classes for i, p in enumerate(c.sonic)]
        taken = {cage for _, _, cage in rows if cage}
        for c, p, cage in rows:
            if (c.name, p.whole) in out:
                continue
            if cage and (c.name, cage) not in of_cage:
                free = cage not in of_cage.values()
                of_cage[c.name, cage] = cage if free else max((*taken, *of_cage.values(), *out.values())) + 1
            out[c.name, p.whole] = (
                of_cage[c.name, cage] if cage else max((*taken, *out.values()), default=0) + 1
            )
        return out
