"""InfiniBand planes as a subnet manager sees them: switches and adapter ports with GUIDs that are placeholders."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from tdsl.emit.hosts import INFINIBAND
from tdsl.emit.records import Node, Plane, WiredPort
from tdsl.emit.wires import Wires, gbps
from tdsl.fabric.graph import Bools, Fabric, Ints

KNOWN_RATES = (
    (200, "4xHDR"), (100, "4xEDR"), (56, "4xFDR"), (40, "4xQDR"), (20, "4xDDR"), (10, "4xSDR"),
)  # fmt: skip
"""What ibsim has a word for, in Gb/s, fastest first."""


def is_infiniband(fabric: Fabric) -> bool:
    """Whether every link that is no trace joins ports of InfiniBand types, at a switch at least at one end."""
    if not fabric.link_count or not fabric.is_switch[fabric.device_b].any():
        return False
    speaks = np.array([bool(INFINIBAND & set(c.types)) for m in fabric.models for c in m.classes for _ in range(c.size)])
    base = np.cumsum([0, *(m.port_count for m in fabric.models)])[:-1]
    for ports in (fabric.link_a, fabric.link_b):
        device = fabric.port_device[ports]
        if not speaks[base[fabric.device_model[device]] + ports - fabric.port_base[device]].all():
            return False
    return True


def engine(fabric: Fabric, links: Bools) -> str:
    """The routing engine that the structure of these links asks for.

    A tree, where every link between switches joins one tier to the next, is what ``ftree`` is made for; it spreads the paths
    and cannot deadlock. Anything else gets ``minhop``, which promises neither.
    """
    inner = links & fabric.is_switch[fabric.device_a] & fabric.is_switch[fabric.device_b]
    low, high = fabric.tier[fabric.device_a][inner], fabric.tier[fabric.device_b][inner]
    if len(low) and bool(((high - low == 1) & (low >= 1)).all()):
        return "ftree"
    return "minhop"


def planes(wires: Wires, names: Mapping[int, str]) -> tuple[Plane, ...]:
    """One subnet a plane, in the order of their numbers; what stands in none is one subnet of the fabric's name."""
    numbers = sorted(set(wires.link_plane.tolist()))
    guids = _Guids()
    return tuple(_Subnet(wires, n, names.get(n, wires.fabric.name), guids).plane() for n in numbers)


class _Guids:
    """Numbers made of names: the same on every run, unlike any two of one output."""

    def __init__(self) -> None:
        self.taken: set[int] = set()

    def make(self, name: str) -> str:
        """A GUID with the bit set that marks it as locally made; the byte below is left free for ports."""
        salt = 0
        while True:
            digest = sha256(f"{name}\0{salt}".encode()).digest()
            number = 0x02 << 56 | int.from_bytes(digest[:6], "big") << 8
            if number not in self.taken:
                self.taken.add(number)
                return f"{number:016x}"
            salt += 1


class _Subnet:
    """The nodes of one plane."""

    def __init__(self, wires: Wires, number: int, name: str, guids: _Guids) -> None:
        self.wires = wires
        self.fabric = wires.fabric
        self.name = name
        self.guids = guids
        self.members = wires.link_plane == number
        self.rows = np.flatnonzero(self.members)

    def plane(self) -> Plane:
        """Switches and adapters, each in the order of the fabric's devices."""
        f = self.fabric
        ends = np.concatenate([f.link_a[self.rows], f.link_b[self.rows]])
        fars = np.concatenate([f.link_b[self.rows], f.link_a[self.rows]])
        rates = np.concatenate([f.link_rate[self.rows]] * 2)
        order = np.argsort(ends, kind="stable")
        ends, fars, rates = ends[order], fars[order], rates[order]
        ids, numbers, descriptions = self._names(ends)
        far_ids, far_numbers, far_descriptions = self._names(fars)
        on_switch = f.is_switch[f.port_device[ends]].tolist()
        words = {r: speed_word(r) for r in set(rates.tolist())}
        wired: dict[str, list[WiredPort]] = {}
        facts: dict[str, tuple[bool, str, int]] = {}
        radix = np.diff(f.port_base)[f.port_device[ends]].tolist()
        for i, rate in enumerate(rates.tolist()):
            wired.setdefault(ids[i], []).append(
                WiredPort(numbers[i], far_ids[i], far_numbers[i], far_descriptions[i], words[rate][0])
            )
            facts.setdefault(ids[i], (on_switch[i], descriptions[i], radix[i] if on_switch[i] else 1))
        nodes = [(facts[n][0], Node(n, self.guids.make(n), facts[n][1], facts[n][2], tuple(w))) for n, w in wired.items()]
        slower = tuple(f"{gbps(r)} Gb/s" for r, (_, exact) in sorted(words.items()) if not exact)
        return Plane(
            self.name, tuple(n for s, n in nodes if s), tuple(n for s, n in nodes if not s), engine(f, self.members), slower
        )

    def _names(self, ports: Ints) -> tuple[list[str], list[int], list[str]]:
        """Of each port's node: identifier, port number, description. A switch is one node; every port of a host is one."""
        w = self.wires
        device = self.fabric.port_device[ports]
        names = w.devices.name[device].tolist()
        shorts = w.ports.short[w.ports.rows(ports)].tolist()
        systems = w.ports.system[w.ports.rows(ports)].tolist()
        switch = self.fabric.is_switch[device].tolist()
        numbers = (ports - self.fabric.port_base[device] + 1).tolist()
        ids = [n if s else f"{n}:{p}" for n, s, p in zip(names, switch, shorts, strict=True)]
        described = [n if s else f"{n} {o or p}" for n, s, o, p in zip(names, switch, systems, shorts, strict=True)]
        return ids, [n if s else 1 for n, s in zip(numbers, switch, strict=True)], described


def speed_word(rate: int) -> tuple[str, bool]:
    """ibsim's word for a rate, and whether it says the rate: 400 Gb/s comes up as the fastest it knows."""
    speed = rate / 10**9
    for known, word in KNOWN_RATES:
        if speed >= known:
            return word, speed == known
    return KNOWN_RATES[-1][1], False
