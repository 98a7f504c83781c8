"""What an inventory of devices, interfaces and cables holds of a fabric: whole devices, the ports that their
models bring, the rest of their interfaces, what passes through panels, and cables with all of their ends.

A device that is inside another is no device there: its cabled ports are interfaces of the one around it. A
link without a cable, such as a trace on a board, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tdsl.emit.link_tables import Wires
from tdsl.emit.records import Cable, Controller, Device, Link, Managed, Model, Port, PortGroup
from tdsl.fabric.columns import Table
from tdsl.fabric.places import height_of
from tdsl.physical.cords import cords_of
from tdsl.physical.racks import kilograms_of_model, watts_of_model
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass

PASSIVE = ("panel", "ocs")
"""Kinds of devices that pass light through and have no interfaces."""


@dataclass(frozen=True, slots=True)
class InventoryPort:
    """An interface of a device, or of all of a model, then with ``device`` "". ``name`` is that of the
    operating system, else of the faceplate. ``types`` are the words of its model for what may be plugged in,
    ``rate_bps`` is "" where the model takes any rate; ``management``: it has no part in traffic. ``fitted``:
    the model of the device brings it."""

    device: str
    name: str
    label: str
    rate_bps: int | str
    cage: str
    types: tuple[str, ...]
    infiniband: bool
    management: bool
    fitted: bool


@dataclass(frozen=True, slots=True)
class InventoryModel:
    """A model as a list of articles has it, however its ports are split; ``ports`` are those that all of its
    devices have, ``front`` and ``rear`` those of a panel. Figures are "" where the model does not state them;
    ``watts`` are the most. ``cords`` is 0 where it states none."""

    name: str
    kind: str
    title: str
    vendor: str
    units: int
    watts: float | str
    kg: float | str
    cords: int
    airflow: str
    ports: tuple[InventoryPort, ...]


@dataclass(frozen=True, slots=True)
class PassThrough:
    """A way through a panel or an optical switch: position ``front_position`` of its port ``front`` leads to
    position ``rear_position`` of ``rear``; positions count from 1."""

    device: str
    front: str
    front_position: int
    rear: str
    rear_position: int


@dataclass(frozen=True, slots=True)
class InventoryEnd:
    """Where a cable ends: ``kind`` is ``interface``, ``front`` or ``rear``; ``positions`` are the links that
    pass through it."""

    device: str
    name: str
    kind: str
    positions: int


@dataclass(frozen=True, slots=True)
class InventoryCable:
    """A cable with all of its ends, in the order of its links. ``connectors`` are the most ends on a side."""

    cable_id: str
    a: tuple[InventoryEnd, ...]
    b: tuple[InventoryEnd, ...]
    medium: str
    fibre: str
    colour: str
    length_m: int | float | str

    @property
    def connectors(self) -> int:
        """The ends of the side that has more of them."""
        return max(len(self.a), len(self.b))


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything that an inventory holds. ``ports`` are the interfaces that are linked or have an address;
    ``left_out`` says what it has no place for, and how much of it."""

    devices: tuple[Device, ...]
    models: tuple[InventoryModel, ...]
    ports: tuple[InventoryPort, ...]
    passes: tuple[PassThrough, ...]
    cables: tuple[InventoryCable, ...]
    left_out: tuple[str, ...]


class InventoryMaker:
    """Makes the inventory of a fabric from the tables that templates see."""

    def __init__(self, wires: Wires, devices: Table[Device], models: Sequence[Model]) -> None:
        self.fabric, self.wires = wires.fabric, wires
        self.all = {d.name: d for d in devices}
        self.devices = tuple(d for d in devices if not d.inside)
        self.models = {m.key: m for m in models}
        self.port_of = {
            m.key: {p.index: (g, p) for g in m.classes for p in g.ports} for m in self.models.values()
        }
        self.left_out: dict[str, int] = {}

    def inventory(
        self, links: Table[Link], cables: Table[Cable], managed: Iterable[Managed | Controller]
    ) -> Inventory:
        """The whole of it."""
        linked = self._linked_ports(links)
        kinds = self._inventory_models(linked)
        fitted = {m.name: {p.name for p in m.ports} for m in kinds}
        named = {(p.device, p.name): p for p in linked.values()}
        for m in managed:
            there = named.get((m.device, m.interface))
            label = there.label if there else m.interface
            rate, types = (there.rate_bps, there.types) if there else (10**9, ("BASE_T",))
            named[m.device, m.interface] = InventoryPort(
                m.device, m.interface, label, rate, "", types, False, True, False
            )
        ports = tuple(
            InventoryPort(
                p.device,
                p.name,
                p.label,
                p.rate_bps,
                p.cage,
                p.types,
                p.infiniband,
                p.management,
                p.name in fitted[self.all[p.device].model_name],
            )
            for p in named.values()
        )
        passes, ends = self._pass_throughs(links)
        found = self._inventory_cables(links, cables, linked, ends)
        left = tuple(f"{n:,} {what}" for what, n in self.left_out.items())
        return Inventory(self.devices, kinds, ports, passes, found, left)

    # ------------------------------------------------------------ ports and models
    def _owner_and_name(self, device: str, name: str) -> tuple[str, str]:
        """The outermost device around this one, and what a port of this one is called there."""
        owner = device
        while self.all[owner].inside:
            owner = self.all[owner].inside
        return (owner, name) if owner == device else (owner, f"{device.removeprefix(f'{owner}-')} {name}")

    def _linked_ports(self, links: Table[Link]) -> dict[tuple[str, int], InventoryPort]:
        """By device and number of the port the interfaces that have a cabled link."""
        found: dict[tuple[str, int], InventoryPort] = {}
        for k in links:
            if not k.cable_id:
                self.left_out["links without a cable"] = self.left_out.get("links without a cable", 0) + 1
                continue
            ends = (
                (k.a_device, k.a_index, k.a_interface, k.a_label, k.a_cage),
                (k.b_device, k.b_index, k.b_interface, k.b_label, k.b_cage),
            )
            for device, index, interface, label, cage in ends:
                group, _ = self.port_of[self.all[device].model][index]
                owner, name = self._owner_and_name(device, interface or label)
                found[device, index] = InventoryPort(
                    owner,
                    name,
                    label,
                    k.rate_bps,
                    cage,
                    group.types,
                    k.infiniband,
                    _is_management_port(group),
                    False,
                )
        return found

    def _inventory_models(
        self, linked: Mapping[tuple[str, int], InventoryPort]
    ) -> tuple[InventoryModel, ...]:
        """Models of whole devices, each once, with the ports that all of its devices have under one name."""
        used: dict[tuple[str, int], set[tuple[str, bool]]] = {}
        for (device, index), port in linked.items():
            used.setdefault((self.all[device].model, index), set()).add((port.name, port.infiniband))
        keys = dict.fromkeys((d.model_name, d.kind, d.model) for d in self.devices)
        variants: dict[str, list[dict[str, InventoryPort]]] = {}
        for name, _, key in keys:
            variants.setdefault(name, []).append(self._ports_of_model(self.models[key], used))
        stated = {m.name: m for m in self.fabric.models}
        return tuple(
            _inventory_model(stated[name], kind, _ports_in_common(variants[name]))
            for name, kind in dict.fromkeys((n, k) for n, k, _ in keys)
        )

    def _ports_of_model(
        self, model: Model, used: Mapping[tuple[str, int], set[tuple[str, bool]]]
    ) -> dict[str, InventoryPort]:
        """By name the ports of a model; one that its devices call differently is not among them."""
        found: dict[str, InventoryPort] = {}
        for group in model.classes if model.kind not in PASSIVE else ():
            for p in group.ports:
                names = used.get((model.key, p.index), {(p.system or p.label, group.infiniband)})
                if len(names) == 1:
                    ((name, infiniband),) = names
                    found.setdefault(name, _port_of_model(p, group, name, infiniband))
        return found

    # ------------------------------------------------------------ panels and cables
    def _pass_throughs(
        self, links: Table[Link]
    ) -> tuple[tuple[PassThrough, ...], dict[int, tuple[InventoryEnd, InventoryEnd]]]:
        """Ways through panels and optical switches, and by link its ends there: that towards its a end, then
        the other. A port whose light goes out at the same side as it comes in is left out."""
        f = self.fabric
        rows = [n for n in range(f.link_count) if f.link_via_a[n] >= 0]
        sides: dict[int, str] = {}
        count: dict[int, int] = {}
        place: dict[int, tuple[int, int]] = {}
        for n in rows:
            front, rear = self._front_and_rear(n, sides)
            if front < 0:
                what = "links that pass between two ports of one side of a panel"
                self.left_out[what] = self.left_out.get(what, 0) + 1
                continue
            sides[front], sides[rear] = "front", "rear"
            count[front], count[rear] = count.get(front, 0) + 1, count.get(rear, 0) + 1
            place[n] = count[front], count[rear]
        passes, ends = [], {}
        for n, (at_front, at_rear) in place.items():
            a, b = int(f.link_via_a[n]), int(f.link_via_b[n])
            one, two = self._passive_end(a, sides, count), self._passive_end(b, sides, count)
            near, far = (one, two) if one.kind == "front" else (two, one)
            passes.append(PassThrough(near.device, near.name, at_front, far.name, at_rear))
            ends[n] = one, two
        return tuple(passes), ends

    def _front_and_rear(self, link: int, sides: Mapping[int, str]) -> tuple[int, int]:
        """The front and the rear port of a link's way through a panel, as sides are known so far; -1 for
        none."""
        a, b = int(self.fabric.link_via_a[link]), int(self.fabric.link_via_b[link])
        if sides.get(a, "front") == "front" and sides.get(b, "rear") == "rear":
            return a, b
        if sides.get(b, "front") == "front" and sides.get(a, "rear") == "rear":
            return b, a
        return -1, -1

    def _passive_end(self, port: int, sides: Mapping[int, str], count: Mapping[int, int]) -> InventoryEnd:
        device = self.fabric.device_name(int(self.fabric.port_device[port]))
        return InventoryEnd(device, self._passive_name(port), sides[port], count[port])

    def _passive_name(self, port: int) -> str:
        f = self.fabric
        device = int(f.port_device[port])
        index = port - int(f.port_base[device]) + 1
        return self.port_of[self.all[f.device_name(device)].model][index][1].label

    def _inventory_cables(
        self,
        links: Table[Link],
        cables: Table[Cable],
        linked: Mapping[tuple[str, int], InventoryPort],
        through: Mapping[int, tuple[InventoryEnd, InventoryEnd]],
    ) -> tuple[InventoryCable, ...]:
        """Cables with their ends: those of all links that run through them, in their order."""
        ends: dict[str, tuple[dict[InventoryEnd, None], dict[InventoryEnd, None]]] = {}

        def add_link(cable: str, a: InventoryEnd, b: InventoryEnd) -> None:
            sides = ends.setdefault(cable, ({}, {}))
            turned = a in sides[1] or b in sides[0]
            sides[turned][a] = None
            sides[not turned][b] = None

        for n, k in enumerate(links):
            if not k.cable_id:
                continue
            a, b = (
                InventoryEnd(p.device, p.name, "interface", 1)
                for p in (linked[k.a_device, k.a_index], linked[k.b_device, k.b_index])
            )
            if not k.via:
                add_link(k.cable_id, a, b)
            elif n in through:
                add_link(k.cable_id, a, through[n][0])
                add_link(k.far_cable_id or k.cable_id, through[n][1], b)
        stated = {c.cable_id: c for c in reversed(list(cables))}
        return tuple(
            InventoryCable(c, tuple(a), tuple(b), s.medium, s.fibre, s.colour, s.length_m)
            for c, (a, b) in ends.items()
            for s in (stated[c],)
        )


def _is_management_port(group: PortGroup) -> bool:
    """Whether a group of ports is of a BMC or of a management network, by its name."""
    return group.name in ("bmc", "mgmt", "management", "ipmi", "oob") and not group.infiniband


def _port_of_model(port: Port, group: PortGroup, name: str, infiniband: bool) -> InventoryPort:
    return InventoryPort(
        "",
        name,
        port.label,
        group.rate_bps,
        port.cage,
        group.types,
        infiniband,
        _is_management_port(group),
        True,
    )


def _ports_in_common(variants: Sequence[Mapping[str, InventoryPort]]) -> tuple[InventoryPort, ...]:
    """Ports that are the same in all variants of a model."""
    first, *others = variants
    return tuple(p for name, p in first.items() if all(v.get(name) == p for v in others))


def _inventory_model(model: DeviceModel, kind: str, ports: tuple[InventoryPort, ...]) -> InventoryModel:
    watts, kilograms = watts_of_model(model), kilograms_of_model(model)
    return InventoryModel(
        model.name,
        kind,
        model.title,
        str(model.facts.get("vendor", "")),
        _units_of(model),
        "" if watts is None else float(watts),
        "" if kilograms is None else float(kilograms),
        cords_of(model)[0],
        str(model.facts.get("airflow", "")),
        ports,
    )


def _units_of(model: DeviceModel) -> int:
    """Rack units of a model: 0 of a chip and of what stands beside the units, 1 where nothing says them."""
    units = height_of(model)
    return (0 if model.kind == "chip" else 1) if units is None else units
