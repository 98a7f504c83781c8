"""InfiniBand subnets as their managers see them: switches and adapter ports, partitions, managers, and how to
route."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

import numpy as np

from tdsl.emit.link_tables import Wires, gigabits_per_second
from tdsl.emit.records import (
    Aggregator,
    Manager,
    Node,
    PartitionMember,
    PartitionPlan,
    Plane,
    SeedLink,
    TorusPlan,
    WiredPort,
)
from tdsl.fabric.assets import AGGREGATION, Assets
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.subnets import infiniband_ports, speaks_infiniband, subnet_of_links, subnet_shape

KNOWN_RATES = (
    (200, "4xHDR"),
    (100, "4xEDR"),
    (56, "4xFDR"),
    (40, "4xQDR"),
    (20, "4xDDR"),
    (10, "4xSDR"),
)
"""What ibsim has a word for, in Gb/s, fastest first."""


ENGINES = {"one": "minhop", "tree": "ftree", "partial": "updn", "torus": "torus-2QoS", "other": "dfsssp"}
"""The routing engine for a shape: each is free of loops of credits on it (opensm(8), torus-2QoS(8))."""
HIGHEST = 15
"""The highest priority of a subnet manager."""


def is_infiniband(fabric: Fabric) -> bool:
    """Whether every link that is no trace joins ports of InfiniBand types, at a switch at least at one
    end."""
    if not fabric.link_count or not fabric.is_switch[fabric.device_b].any():
        return False
    return all(bool(infiniband_ports(fabric, ports).all()) for ports in (fabric.link_a, fabric.link_b))


def has_torus(fabric: Fabric) -> bool:
    """Whether the switches of a subnet form a torus."""
    subnet = subnet_of_links(fabric)
    return any(
        subnet_shape(fabric, subnet == n).torus is not None for n in range(int(subnet.max(initial=-1)) + 1)
    )


def subnet_planes(wires: Wires, names: Mapping[int, str], assets: Assets | None) -> tuple[Plane, ...]:
    """The subnets, each with a name: its plane's where it is the only one there, else its rail's, else a
    number."""
    subnet = subnet_of_links(wires.fabric)
    called = subnet_names(wires, names, subnet)
    guids = _Guids()
    return tuple(_Subnet(wires, subnet == n, name, guids, assets).plane() for n, name in enumerate(called))


def subnet_names(wires: Wires, names: Mapping[int, str], subnet: Ints) -> list[str]:
    """A name for every subnet: that of its plane or, where it has none, the fabric's, with the rail or a
    number behind if there are several of that name."""
    firsts = [np.flatnonzero(subnet == n) for n in range(int(subnet.max()) + 1 if len(subnet) else 0)]
    stems = [_common_number(wires.link_plane[rows], names, wires.fabric.name) for rows in firsts]
    rails = [_common_number(wires.link_rails[rows], None, "") for rows in firsts]
    out = []
    for n, stem in enumerate(stems):
        equal = [k for k, s in enumerate(stems) if s == stem]
        if len(equal) == 1:
            out.append(stem)
        elif all(rails[k] for k in equal) and len({rails[k] for k in equal}) == len(equal):
            out.append(f"{stem}-rail{rails[n]}" if stem in names.values() else f"rail{rails[n]}")
        else:
            out.append(f"{stem}-{equal.index(n)}")
    return out


def _common_number(values: Ints, names: Mapping[int, str] | None, default: str) -> str:
    """The one number that all have, by its name, or else the default."""
    if len(distinct_values(values)) > 1 or values[0] < 0:
        return default
    number = int(values[0])
    return str(number) if names is None else names.get(number, default)


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
    """The nodes of one subnet, and the settings of its manager."""

    def __init__(self, wires: Wires, members: Bools, name: str, guids: _Guids, assets: Assets | None) -> None:
        self.wires = wires
        self.fabric = wires.fabric
        self.name = name
        self.guids = guids
        self.assets = assets or Assets()
        self.members = members
        self.rows = np.flatnonzero(members)
        self.shape = subnet_shape(self.fabric, members)

    def plane(self) -> Plane:
        """Switches and adapters, each in the order of the fabric's devices."""
        f = self.fabric
        nodes, words = self._nodes()
        switches = tuple(n for switch, n in nodes.values() if switch)
        adapters = tuple(n for switch, n in nodes.values() if not switch)
        highest = max((int(f.tier[d]) for d in nodes if d < f.device_count), default=0)
        return Plane(
            name=self.name,
            switches=switches,
            adapters=adapters,
            engine=ENGINES[self.shape.kind],
            shape=self.shape.kind,
            slower=tuple(
                f"{gigabits_per_second(r)} Gb/s" for r, (_, exact) in sorted(words.items()) if not exact
            ),
            known=all(n.asset for n in switches) and all(n.asset and n.asset_port for n in adapters),
            roots=tuple(n.asset for d, (switch, n) in nodes.items() if switch and int(f.tier[d]) == highest),
            torus=self._torus(),
            partitions=self._partitions(nodes),
            managers=self._managers(nodes),
        )

    def _nodes(self) -> tuple[dict[int, tuple[bool, Node]], dict[int, tuple[str, bool]]]:
        """Nodes by the row of a switch, or by the rows of devices plus the row of an adapter's port; words
        for rates."""
        f = self.fabric
        ends = np.concatenate([f.link_a[self.rows], f.link_b[self.rows]])
        fars = np.concatenate([f.link_b[self.rows], f.link_a[self.rows]])
        rates = np.concatenate([f.link_rate[self.rows]] * 2)
        order = np.argsort(ends, kind="stable")
        ends, fars, rates = ends[order], fars[order], rates[order]
        ids, numbers, descriptions = self._names(ends)
        far_ids, far_numbers, far_descriptions = self._names(fars)
        device = f.port_device[ends]
        on_switch = f.is_switch[device].tolist()
        names = self.wires.devices.name[device].tolist()
        paths = self.wires.ports.path[self.wires.ports.rows(ends)].tolist()
        words = {r: ibsim_speed_word(r) for r in set(rates.tolist())}
        local = (ends - f.port_base[device]).tolist()
        keys = np.where(f.is_switch[device], device, f.device_count + ends).tolist()
        wired: dict[int, list[WiredPort]] = {}
        first: dict[int, int] = {}
        for i, rate in enumerate(rates.tolist()):
            first.setdefault(keys[i], i)
            wired.setdefault(keys[i], []).append(
                WiredPort(
                    numbers[i],
                    far_ids[i],
                    far_numbers[i],
                    far_descriptions[i],
                    words[rate][0],
                    gigabits_per_second(rate),
                )
            )
        out: dict[int, tuple[bool, Node]] = {}
        for key, i in first.items():
            here = int(device[i]), -1 if on_switch[i] else local[i]
            asset, asset_port = self.assets.node.get(here, ""), self.assets.port.get(here, "")
            guid = asset or self.guids.make(ids[i])
            port_guid = asset_port or (
                guid if on_switch[i] else f"{int(guid, 16) + 1:016x}"
            )  # as ibsim numbers them
            count, system, aggregator = self._switch(here[0], names[i]) if on_switch[i] else (1, "", None)
            out[key] = on_switch[i], Node(
                ids[i], guid, port_guid, descriptions[i], count, tuple(wired[key]), names[i],
                "" if on_switch[i] else paths[i], asset, asset_port, system or descriptions[i], aggregator,
            )  # fmt: skip
        return out, words

    def _switch(self, device: int, name: str) -> tuple[int, str, Aggregator | None]:
        """How many InfiniBand ports a switch has, with that of its aggregation node behind the last one; what
        its own system describes it as, "" where its model does not say; its aggregation node, if a table has
        its GUIDs."""
        f = self.fabric
        model = f.models[int(f.device_model[device])]
        facts = model.facts
        count = sum(c.size for c in model.classes if speaks_infiniband(f, c)) + ("aggregation" in facts)
        node, port = (table.get((device, AGGREGATION), "") for table in (self.assets.node, self.assets.port))
        system = f"MF0;{name}:{facts['ib_module']}" if "ib_module" in facts else ""
        return count, system, Aggregator(count, node, port) if node and port else None

    def _torus(self) -> TorusPlan | None:
        """Sizes and seeds; a dimension that the design has not has size 1. Both directions are listed where
        there are two."""
        torus = self.shape.torus
        if torus is None:
            return None
        sizes = [f"{n}{'t' if wraps else 'm'}" for n, wraps in zip(torus.sizes, torus.wraps, strict=True)]
        origin = (0,) * len(torus.sizes)
        near = self.assets.node.get((int(torus.grid[origin]), -1), "")
        seeds = [
            SeedLink(f"{'xyz'[d]}{sign}", near, self.assets.node.get((torus.near(origin, d, step), -1), ""))
            for d, wraps in enumerate(torus.wraps)
            for sign, step in (("p", 1), ("m", -1))
            if step > 0 or wraps
        ]
        x, y, z = [*sizes, "1"][:3]
        return TorusPlan((x, y, z), tuple(seeds), max(torus.hosts + 1, torus.trunk))

    def _partitions(self, nodes: Mapping[int, tuple[bool, Node]]) -> tuple[PartitionPlan, ...]:
        """The partitions that have members here."""
        f = self.fabric
        found = f.management.partitions if f.management is not None else ()
        out = []
        for p in found:
            here = [
                PartitionMember(
                    nodes[f.device_count + port][1].asset_port,
                    full,
                    nodes[f.device_count + port][1].description,
                )
                for port, full in zip(p.port.tolist(), p.full.tolist(), strict=True)
                if f.device_count + port in nodes
            ]
            if here:
                out.append(PartitionPlan(p.name, p.key, p.ipoib, tuple(here)))
        return tuple(out)

    def _managers(self, nodes: Mapping[int, tuple[bool, Node]]) -> tuple[Manager, ...]:
        """The hosts that manage this subnet, each by its first port here."""
        f = self.fabric
        first: dict[int, Node] = {}
        for key, (switch, node) in nodes.items():
            if not switch:
                first.setdefault(int(f.port_device[key - f.device_count]), node)
        found = [first[d] for d in (f.management.managers if f.management is not None else ()) if d in first]
        return tuple(
            Manager(n.device, n.description, max(HIGHEST - k, 0), n.asset_port) for k, n in enumerate(found)
        )

    def _names(self, ports: Ints) -> tuple[list[str], list[int], list[str]]:
        """Of each port's node: identifier, port number, description. A switch is one node; every port of a
        host is one."""
        w = self.wires
        device = self.fabric.port_device[ports]
        names = w.devices.name[device].tolist()
        shorts = w.ports.short[w.ports.rows(ports)].tolist()
        systems = w.ports.system[w.ports.rows(ports)].tolist()
        switch = self.fabric.is_switch[device].tolist()
        numbers = (ports - self.fabric.port_base[device] + 1).tolist()
        ids = [n if s else f"{n}:{p}" for n, s, p in zip(names, switch, shorts, strict=True)]
        described = [
            n if s else f"{n} {o or p}" for n, s, o, p in zip(names, switch, systems, shorts, strict=True)
        ]
        return ids, [n if s else 1 for n, s in zip(numbers, switch, strict=True)], described


def ibsim_speed_word(rate: int) -> tuple[str, bool]:
    """ibsim's word for a rate, and whether it says the rate: 400 Gb/s comes up as the fastest it knows."""
    speed = rate / 10**9
    for known, word in KNOWN_RATES:
        if speed >= known:
            return word, speed == known
    return KNOWN_RATES[-1][1], False
