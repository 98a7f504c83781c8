"""What templates see of a fabric: its facts, and tables and records made when they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from ipaddress import ip_network
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tdsl.drawing import picture
from tdsl.drawing.records import Picture, Sketch
from tdsl.emit.data import adapters, hosts, rdma, scheduling, subnets
from tdsl.emit.data.addresses import address_rows, record_without_origin
from tdsl.emit.data.inventory import Inventory, InventoryMaker
from tdsl.emit.data.planned import PlannedLinks, planned_links
from tdsl.emit.limits import NameMatcher
from tdsl.emit.link_tables import Wires, number_or_blank
from tdsl.emit.records import (
    Address,
    Cable,
    CableLabel,
    Circuit,
    Controller,
    Device,
    HostAdapters,
    HostGroup,
    HostLayout,
    Link,
    LinkClass,
    Managed,
    Membership,
    Model,
    NpuGraph,
    Plane,
    Pod,
    Port,
    PortGroup,
    RailDevices,
    RdmaHost,
    Router,
    Standby,
    SwitchTree,
    System,
)
from tdsl.fabric.assets import Assets
from tdsl.fabric.columns import Column, Table
from tdsl.fabric.graph import Bools, Fabric
from tdsl.fabric.order import distinct_values
from tdsl.fabric.places import height_of
from tdsl.fabric.purposes import is_compute_network
from tdsl.fabric.subnets import speaks_infiniband
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.physical.bom import Line as BillLine
from tdsl.physical.bom import bill_of_materials
from tdsl.physical.cords import Cord, has_cords, power_cords
from tdsl.physical.elevations import Fronts, Plans, RackDrawing
from tdsl.physical.rack_rows import MountLine, RackLine, mount_lines, rack_lines
from tdsl.physical.stages import PhaseLine, Stage, phase_bill, phase_totals
from tdsl.physical.totals import Total, totals_by_place
from tdsl.semantics.model import DeviceModel, PathComponent
from tdsl.semantics.transport import TRANSPORTS
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.emit.data.faceplate import Faceplates, FacePort
    from tdsl.fabric.addresses import Ip, Pool


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of what a fabric has: built devices, links, cables; a breakout is one."""

    hosts: int
    chips: int
    switches: int
    links: int
    cables: int


class FabricView:
    """A fabric as templates see it. Findings of its parts go to the diagnostics it was made with."""

    def __init__(
        self,
        fabric: Fabric,
        diagnostics: Diagnostics,
        assets: Assets | None = None,
        interfaces: Mapping[str, NameMatcher] | None = None,
        stages: Sequence[Stage] = (),
        shared: str = "",
    ) -> None:
        """``interfaces``: how each network operating system names ports. ``stages``: the fabric's phases up
        to this one. ``shared``: the value of `shared_folder`."""
        self._fabric, self._shared = fabric, shared
        self._stages = tuple(stages) if len(stages) > 1 else ()
        self._diagnostics = diagnostics
        self._wires = Wires(fabric, interfaces, self._stages)
        self._assets = assets
        self._routers: dict[str, tuple[Router, ...]] = {}
        self._asked: Bools | None = None  # devices that routers are asked of, None for all

    # ------------------------------------------------------------ facts
    @property
    def name(self) -> str:
        """The fabric's name."""
        return self._fabric.name

    @property
    def title(self) -> str:
        """Its title, or its name where it has none."""
        return self._fabric.title or self._fabric.name

    @property
    def layer(self) -> str:
        """ "scaleup", or "" for the network between hosts."""
        return self._fabric.layer

    @property
    def networks(self) -> tuple[FabricView, ...]:
        """The networks of a cluster, where this is a cluster as a whole; else none."""
        return ()

    @property
    def shared_folder(self) -> str:
        """Where files lie that are written once of all networks of its cluster, those of hosts: a folder seen
        from the fabric's own that ends in `/`, "" for that one itself."""
        return self._shared

    @property
    def carries_accelerators(self) -> bool:
        """Whether it is a network of accelerators' traffic, and not another one of their cluster."""
        return is_compute_network(self._fabric)

    @property
    def purpose(self) -> str:
        """What it is for in a cluster where a statement says so, else ""."""
        return self._fabric.purpose

    @property
    def bundled(self) -> bool:
        """Whether some of its links form bundles."""
        return bool((self._fabric.link_bundle >= 0).any())

    @property
    def layered(self) -> bool:
        """Whether it has scale-up links beside its network."""
        return self._fabric.network is not self._fabric

    @property
    def forwarding(self) -> bool:
        """Whether some hosts or chips forward because the design says so."""
        return bool((self._fabric.forwards & self._fabric.built).any())

    @property
    def transport(self) -> str:
        """What its links speak where a statement says so, else ""."""
        return self._fabric.transport if self._fabric.transport_stated else ""

    @property
    def infiniband(self) -> bool:
        """Whether it has links of InfiniBand."""
        return "infiniband" in self.capabilities

    @cached_property
    def sizes(self) -> Sizes:
        """How much of what it has."""
        f = self._fabric
        kinds = f.kind[f.built]
        count = {k: int((kinds == k).sum()) for k in ("host", "chip", "switch")}
        return Sizes(
            count["host"], count["chip"], count["switch"], f.link_count, len(distinct_values(f.cable_group))
        )

    @cached_property
    def capabilities(self) -> frozenset[str]:
        """What a target may ask for in ``needs``."""
        f = self._fabric
        have = {
            "cables": len(f.cable_a) > 0,
            "links": f.link_count > 0,
            "infiniband": subnets.is_infiniband(f),
            "guids": self._assets is not None and bool(self._assets.node or self._assets.port),
            "macs": self._assets is not None and bool(self._assets.mac),
            "partitions": f.management is not None and bool(f.management.partitions),
            "torus": subnets.is_infiniband(f) and subnets.has_torus(f),
            "places": f.places is not None,
            "phases": bool(self._stages),
            "cords": has_cords(f),
            "routing": f.addressing is not None and f.addressing.routing is not None,
            "roce": f.addressing is not None and f.addressing.roce is not None,
            "hosts": bool((f.built & (f.kind == "host")).any()),
            "ethernet": f.link_count > 0 and not subnets.is_infiniband(f),
            "addresses": f.addressing is not None and bool(f.addressing.assigned),
            "accelerator_hosts": any(m.kind == "host" and m.accelerators for m in f.models),
            "switch_tree": True,
            "rail_devices": True,
        }
        return frozenset(name for name, present in have.items() if present)

    def why_unfit(self, need: str) -> str:
        """Why the fabric is not what a target asks for in ``needs``, as ``switch_tree`` or ``rail_devices``;
        "" if it is, and for other needs."""
        found: object = ""
        if need in ("switch_tree", "rail_devices"):
            found = self.switch_tree if need == "switch_tree" else self.rail_devices
        return found if isinstance(found, str) else ""

    # ------------------------------------------------------------ tables
    @cached_property
    def devices(self) -> Table[Device]:
        """Devices that are built, in the order of the text."""
        f = self._fabric
        rows = np.flatnonzero(f.built)
        keys = np.array(list(self.models_by_key), dtype=object)
        names = np.array([m.name for m in f.models], dtype=object)

        def paths() -> Column:
            return [f.device_path(d) for d in rows.tolist()]

        return Table(
            Device,
            len(rows),
            {
                "name": lambda: self._wires.devices.name[rows].tolist(),
                "path": paths,
                "kind": lambda: f.kind[rows].tolist(),
                "role": lambda: f.role[rows].tolist(),
                "model": lambda: keys[f.device_model[rows]].tolist(),
                "model_name": lambda: names[f.device_model[rows]].tolist(),
                "tier": lambda: [number_or_blank(t) for t in f.tier[rows].tolist()],
                "plane": lambda: [number_or_blank(p) for p in f.plane[rows].tolist()],
                "port_count": lambda: np.diff(f.port_base)[rows].tolist(),
                "forwards": lambda: f.forwards[rows].tolist(),
                "inside": lambda: [
                    str(self._wires.devices.name[d]) if d >= 0 else "" for d in f.container[rows].tolist()
                ],
            },
        )

    @property
    def links(self) -> Table[Link]:
        """What the network sees."""
        return self._wires.links

    @property
    def cables(self) -> Table[Cable]:
        """What is pulled, one row a leg."""
        return self._wires.cables

    @cached_property
    def pods(self) -> tuple[Pod, ...]:
        """The cables by the outermost group that they begin in, or else end in; those of no group come last.
        In a fabric without groups, by the row of racks in which they begin, or else end."""
        f, wires = self._fabric, self._wires
        far = wires.devices.place[f.port_device[f.cable_b[wires.cable_order[0]]]].tolist()
        rows: dict[str, list[int]] = {}
        for row, (place, other) in enumerate(zip(self.cables.column("place"), far, strict=True)):
            rows.setdefault(str(place or other).partition("-")[0], []).append(row)
        if list(rows) == [""]:
            rows = self._rows_of_racks()
        ordered = sorted(rows, key=lambda name: (name == "", list(rows).index(name)))
        return tuple(Pod(name or "rest", tuple(rows[name])) for name in ordered)

    def _rows_of_racks(self) -> dict[str, list[int]]:
        """The cables by hall and row, such as ``h1-A``; "" where neither end has a place."""
        rows: dict[str, list[int]] = {}
        ends = ("a_hall", "a_rack", "b_hall", "b_rack")
        for row, (a_hall, a_rack, b_hall, b_rack) in enumerate(
            zip(*map(self.cables.column, ends), strict=True)
        ):
            hall, rack = (a_hall, a_rack) if a_rack else (b_hall, b_rack)
            rows.setdefault(f"{hall}-{str(rack).rstrip('0123456789')}" if rack else "", []).append(row)
        return rows

    @property
    def labels(self) -> Table[CableLabel]:
        """What is printed for the cables' ends."""
        return self._wires.labels

    @property
    def circuits(self) -> Table[Circuit]:
        """Connections inside optical switches."""
        return self._wires.circuits

    @cached_property
    def planned_links(self) -> Table[PlannedLinks]:
        """Links that are planned and not built, and whose ports are kept, counted by device."""
        return planned_links(self._fabric.network, self._wires.devices.name)

    @property
    def classes(self) -> tuple[LinkClass, ...]:
        """Links counted by class."""
        return self._wires.classes

    # ------------------------------------------------------------ places
    @cached_property
    def bill(self) -> Table[BillLine]:
        """What to order, a row a line."""
        return _table_of_records(BillLine, bill_of_materials(self._fabric))

    @cached_property
    def cords(self) -> Table[Cord]:
        """Power cords of devices with places; no rows where no model states them."""
        return _table_of_records(Cord, power_cords(self._fabric))

    @cached_property
    def racks(self) -> Table[RackLine]:
        """What is in every rack that holds a device."""
        return _table_of_records(RackLine, rack_lines(self._fabric))

    @cached_property
    def mounting(self) -> Table[MountLine]:
        """Devices to mount, rack after rack from the bottom."""
        return _table_of_records(MountLine, mount_lines(self._fabric))

    @cached_property
    def totals(self) -> Table[Total]:
        """Pieces, watts and prices of the fabric, its halls and its racks, and of its phases where it is
        built in phases."""
        return _table_of_records(Total, [*totals_by_place(self._fabric), *phase_totals(self._stages)])

    @cached_property
    def phase_bill(self) -> Table[PhaseLine]:
        """What each phase adds to the order; no rows where the design has no phases."""
        return _table_of_records(PhaseLine, phase_bill(self._stages))

    @property
    def prices(self) -> str:
        """Currency and date of the file of prices, as in ``USD of 2026-11-01``; "" where none is given."""
        supply = self._fabric.supply
        return f"{supply.currency} of {supply.date}" if supply.currency and supply.date else supply.currency

    @cached_property
    def _drawing(self) -> RackDrawing:
        assert self._fabric.places is not None  # targets that draw racks need places
        return RackDrawing(self._fabric, self._fabric.places, self.title)

    @cached_property
    def elevations(self) -> Fronts:
        """Front views of the racks."""
        return self._drawing.fronts()

    @cached_property
    def floor_plans(self) -> Plans:
        """Plans of the halls."""
        return self._drawing.plans()

    # ------------------------------------------------------------ models
    @cached_property
    def models_by_key(self) -> Mapping[str, DeviceModel]:
        """Models in use under names that are unique: two variants of one model differ behind a ``+``."""
        return dict(zip(_unique_model_keys(self._fabric.models), self._fabric.models, strict=True))

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """Models in use, with their ports."""
        return tuple(_model_record(self._fabric, k, m) for k, m in self.models_by_key.items())

    @cached_property
    def hosts(self) -> tuple[HostLayout, ...]:
        """The insides of host models with accelerators."""
        return tuple(
            hosts.host_layouts(
                self.models_by_key, self._diagnostics, self._ethernet(), self._outward(), self._bonded()
            )
        )

    def _outward(self) -> set[str]:
        """Host models by key whose accelerators have links of their own that leave the host, such as to
        switches of a rack."""
        f = self._fabric.whole or self._fabric
        ends = np.unique(np.concatenate([f.device_a, f.device_b]))
        holders = f.container[ends[f.kind[ends] == "chip"]]
        keys = list(self.models_by_key)
        return {keys[m] for m in np.unique(f.device_model[holders[holders >= 0]]).tolist()}

    def _ethernet(self) -> set[tuple[str, str]]:
        """Models by key with the port classes whose links here speak what runs over Ethernet."""
        f, keys = self._fabric, list(self.models_by_key)
        if not f.transport or "infiniband" in TRANSPORTS[f.transport].families:
            return set()
        ports = np.concatenate([f.link_a, f.link_b])
        device = f.port_device[ports]
        used = np.unique(np.stack([f.device_model[device], ports - f.port_base[device]]), axis=1)
        return {(keys[m], f.models[m].class_of(p).name) for m, p in used.T.tolist()}

    def _bonded(self) -> set[tuple[str, str, int]]:
        """Models by key with class and place of the ports that are in a port channel of some host."""
        f, keys = self._fabric, list(self.models_by_key)
        ports = f.link_a[f.link_bundle >= 0]
        device = f.port_device[ports]
        used = np.unique(np.stack([f.device_model[device], ports - f.port_base[device]]), axis=1)
        classes = [(m, p, f.models[m].class_of(p)) for m, p in used.T.tolist()]
        return {(keys[m], c.name, p - c.first) for m, p, c in classes}

    @cached_property
    def adapters(self) -> tuple[HostAdapters, ...]:
        """The adapters of host models with accelerators, as they are wired."""
        return tuple(adapters.host_adapters(self._fabric, self.models_by_key))

    @cached_property
    def rdma_hosts(self) -> tuple[RdmaHost, ...]:
        """Host models with adapters for RDMA over Ethernet; none where the design says nothing of `roce`."""
        return tuple(rdma.rdma_hosts(self._fabric, self.models_by_key, self.roce))

    @cached_property
    def rail_devices(self) -> tuple[RailDevices, ...] | str:
        """Network devices of hosts with accelerators by rail, or why there is no such list."""
        from tdsl.emit.data.rail_devices import RailsUnfit, rail_devices

        try:
            return rail_devices(self._wires)
        except RailsUnfit as reason:
            return str(reason)

    @cached_property
    def npus(self) -> NpuGraph | str:
        """Accelerators and what joins them, or why simulators of training cannot hold the fabric."""
        from tdsl.emit.data.npus import NpuGraphUnfit, npu_graph

        try:
            return npu_graph(self._wires)
        except NpuGraphUnfit as reason:
            return str(reason)

    @cached_property
    def switch_tree(self) -> SwitchTree | str:
        """Linked ports of hosts below two or three tiers of equal switches, or why the fabric is no such
        fat tree."""
        from tdsl.emit.data.switch_tree import SwitchTreeUnfit, switch_tree

        try:
            return switch_tree(self._wires)
        except SwitchTreeUnfit as reason:
            return str(reason)

    @cached_property
    def host_groups(self) -> tuple[tuple[HostGroup, ...], ...]:
        """Hosts in groups, levels of groups nearest to the hosts first, as schedulers want them. Hosts of one
        group of the lowest level that have no switch in common are reported."""
        apart = scheduling.hosts_without_common_switch(self._wires)
        if apart is not None:
            self._diagnostics.add(
                "E0511",
                None,
                f"schedulers take {apart[0]} and {apart[1]} for near: they have no switch in common, and "
                "other hosts that are cabled to switches of both join them to one group",
                severity=Severity.NOTE,
            )
        return scheduling.host_groups(self._wires)

    @cached_property
    def host_domains(self) -> tuple[HostGroup, ...]:
        """Hosts by scale-up domain; only domains of several hosts."""
        return scheduling.host_domains(self._wires)

    @cached_property
    def host_blocks(self) -> tuple[HostGroup, ...]:
        """Hosts by scale-up domain where these span hosts, else by the lowest groups."""
        return scheduling.host_blocks(self.host_domains, self.host_groups)

    @cached_property
    def host_tree(self) -> tuple[tuple[HostGroup, ...], ...]:
        """Levels of ``host_groups`` above the scale-up domains that span hosts, as one tree: levels that part
        the hosts of a domain are left out."""
        return scheduling.nested_host_groups(self.host_domains, self.host_groups)

    # ------------------------------------------------------------ routing
    @cached_property
    def addresses(self) -> Table[Address]:
        """Every address of what is built: loopbacks and management by device, then those of links."""
        rows = (
            list(address_rows(self._wires, self._fabric.addressing))
            if self._fabric.addressing is not None
            else []
        )
        names = ("device", "kind", "port", "address", "network", "vrf")
        columns = {n: lambda k=k: [r[k] for r in rows] for k, n in enumerate(names)}
        return Table(Address, len(rows), columns)

    @cached_property
    def managed(self) -> tuple[Managed, ...]:
        """Management addresses of what is built, device by device."""
        macs = self._assets.mac if self._assets is not None else {}
        return tuple(
            Managed(device, kind, p.interface, macs.get(row, ""), a.version, str(a), network, p.gateway)
            for row, device, kind, a, p, network in self._addresses_outside_the_fabric("management")
        )

    @cached_property
    def controllers(self) -> tuple[Controller, ...]:
        """Addresses of the BMCs of what is built, device by device."""
        macs = self._assets.bmc_mac if self._assets is not None else {}
        return tuple(
            Controller(
                device,
                kind,
                f"{device}-bmc",
                p.interface,
                macs.get(row, ""),
                a.version,
                str(a),
                network,
                p.gateway,
            )
            for row, device, kind, a, p, network in self._addresses_outside_the_fabric("bmc")
        )

    def _addresses_outside_the_fabric(self, kind: str) -> Iterator[tuple[int, str, str, Ip, Pool, str]]:
        """Of what is built the addresses of one use, ``management`` or ``bmc``: the row, name and kind of the
        device, the address, its pool, the network it is in."""
        f, found = self._fabric, self._fabric.addressing
        if found is None:
            return
        for row in np.flatnonzero(f.built).tolist():
            for a, pool in found.each(kind, row):
                network = str(ip_network(f"{a}/{pool.prefix}", strict=False))
                yield row, f.device_name(row), str(f.kind[row]), a, pool, network

    @cached_property
    def inventory(self) -> Inventory:
        """Devices, ports and cables as an inventory holds them. What it has no place for is reported."""
        maker = InventoryMaker(self._wires, self.devices, self.models)
        found = maker.inventory(self.links, self.cables, (*self.managed, *self.controllers))
        if found.left_out:
            self._diagnostics.add(
                "E0511",
                None,
                f"inventories leave out what they have no place for: {', '.join(found.left_out)}",
                severity=Severity.NOTE,
            )
        return found

    @cached_property
    def systems(self) -> Table[System]:
        """ASNs of what is built."""
        f = self._fabric
        asn = f.addressing.asn if f.addressing is not None else np.zeros(f.device_count, np.int64)
        rows = np.flatnonzero((asn > 0) & f.built)
        return Table(
            System,
            len(rows),
            {
                "device": lambda: self._wires.devices.name[rows].tolist(),
                "asn": lambda: asn[rows].tolist(),
            },
        )

    @property
    def routing(self) -> dict[str, object] | None:
        """How the fabric routes, None where the design does not say."""
        found = self._fabric.addressing.routing if self._fabric.addressing is not None else None
        return record_without_origin(found)

    @property
    def roce(self) -> dict[str, object] | None:
        """The traffic class of RDMA, None where the design does not say."""
        found = self._fabric.addressing.roce if self._fabric.addressing is not None else None
        return record_without_origin(found)

    def routers(self, kind: str) -> tuple[Router, ...]:
        """Routers of a kind, ``switch`` or ``host``, or with "" of both; none where the design does not say
        how they route.

        What keeps one from being configured is reported when its kind is first asked for."""
        if "routing" not in self.capabilities or self._fabric.addressing is None:
            return ()
        from tdsl.emit.data.routers import RouterMaker

        for one in (kind,) if kind else ("switch", "host"):
            if one not in self._routers:
                self._routers[one] = tuple(
                    RouterMaker(self._wires, self._fabric.addressing, self._diagnostics).of(one, self._asked)
                )
        return self._routers[kind] if kind else (*self._routers["switch"], *self._routers["host"])

    @cached_property
    def switch_systems(self) -> Mapping[str, str]:
        """The network operating system of every built switch by the name of the switch, "" where none is
        written."""
        f = self._fabric
        rows = np.flatnonzero(f.built & f.is_switch)
        return dict(zip(self._wires.devices.name[rows].tolist(), f.switch_system[rows].tolist(), strict=True))

    @cached_property
    def _faceplates(self) -> Faceplates:
        from tdsl.emit.data.faceplate import Faceplates

        return Faceplates(self._wires)

    def faceplate(self, name: str) -> tuple[FacePort, ...]:
        """All ports of a switch as SONiC numbers them; none where its model does not say."""
        return self._faceplates.of(name)

    def model_facts(self, name: str) -> dict[str, str]:
        """What the model of a device says of itself in words, such as its ``platform``, and its name as
        ``model``."""
        model = self._fabric.models[int(self._fabric.device_model[self._faceplates.devices[name]])]
        return {k: v for k, v in model.facts.items() if isinstance(v, str)} | {"model": model.name}

    def buffer_model(self, name: str) -> str:
        """How SONiC makes buffers on a switch: ``dynamic`` where it sizes them itself, which the ``vendor``,
        ``platform`` or ``asic`` of the model tells; else ``traditional``, from tables of the platform."""
        from tdsl.emit.data.faceplate import DYNAMIC_BUFFERS

        facts = self.model_facts(name)
        maker = " ".join(facts.get(k, "") for k in ("vendor", "platform", "asic"))
        return "dynamic" if DYNAMIC_BUFFERS.search(maker) else "traditional"

    def sonic_cable_metres(self, name: str, port: FacePort) -> int | str:
        """The metres that SONiC is to look up for the cable of a port of a switch, in the platform's table as
        the fact ``pg_profile`` of its model has it; "" where the length is not known."""
        from tdsl.emit.data.faceplate import length_to_look_up

        if not isinstance(port.length_m, int):
            return ""
        return length_to_look_up(self.model_facts(name).get("pg_profile", ""), port.mbps, port.length_m)

    def model_units(self, name: str) -> int:
        """Rack units of the model of a device, 0 beside the units, 1 where it does not say them."""
        model = self._fabric.models[int(self._fabric.device_model[self._faceplates.devices[name]])]
        units = height_of(model)
        return 1 if units is None else units

    def rack_of(self, name: str) -> tuple[str, int | str]:
        """Rack of a device with its hall, ``h1.A07`` as on labels, and its lowest unit; "" for what has no
        place, and the unit also for what stands beside the units."""
        places = self._fabric.places
        device = self._faceplates.devices[name]
        rack = int(places.device_rack[device]) if places is not None else -1
        if places is None or rack < 0:
            return "", ""
        unit = int(places.device_unit[device]) if self.model_units(name) else 0
        return f"{places.hall_name(rack)}.{places.rack_name(rack)}", unit or ""

    # ------------------------------------------------------------ InfiniBand
    @cached_property
    def planes(self) -> tuple[Plane, ...]:
        """Subnets: what switches join, one a plane in most fabrics."""
        return subnets.subnet_planes(self._wires, self._plane_names, self._assets)

    @cached_property
    def standbys(self) -> tuple[Standby, ...]:
        """Subnet managers but the masters, subnet by subnet."""
        return tuple(Standby(m.name, p, m) for p in self.planes for m in p.managers[1:])

    @cached_property
    def partitions(self) -> Table[Membership]:
        """Every port in every partition."""
        f, w = self._fabric, self._wires
        found = f.management.partitions if f.management is not None else ()
        ports = np.concatenate([np.zeros(0, np.int64), *(p.port for p in found)])
        return Table(
            Membership,
            len(ports),
            {
                "partition": lambda: [p.name for p in found for _ in p.port],
                "key": lambda: [p.key for p in found for _ in p.port],
                "device": lambda: w.devices.name[f.port_device[ports]].tolist(),
                "port": lambda: w.ports.path[w.ports.rows(ports)].tolist(),
                "membership": lambda: ["full" if x else "limited" for p in found for x in p.full.tolist()],
            },
        )

    @property
    def managers(self) -> tuple[str, ...]:
        """Hosts that run subnet managers, the master first."""
        f = self._fabric
        return tuple(f.device_name(d) for d in f.management.managers) if f.management is not None else ()

    @cached_property
    def _plane_names(self) -> dict[int, str]:
        """``plane3`` for the plane numbered 3, read off the first device that stands in it."""
        f = self._fabric
        out: dict[int, str] = {}
        numbers, first = np.unique(f.plane, return_index=True)
        for number, device in zip(numbers.tolist(), first.tolist(), strict=True):
            if number >= 0:
                s = f.set_of(device)
                depth = next((i for i, p in enumerate(s.parts) if p.kind == "plane"), -1) + 1
                below = prod(a.size for p in s.parts[depth:] for a in p.axes)
                out[number] = (
                    _instance_prefix(s.parts[:depth], (device - s.first) // below)
                    if depth
                    else f"plane{number}"
                )
        return out

    # ------------------------------------------------------------ drawings
    @cached_property
    def picture(self) -> Picture:
        """A drawing laid out."""
        return picture.draw_fabric(self._fabric, self._wires, self.title)

    @cached_property
    def sketch(self) -> Sketch:
        """A graph for a layout program."""
        return picture.sketch_of_fabric(self._fabric, self._wires)


def _table_of_records(record: type[Any], rows: list[Any]) -> Table[Any]:
    """Records as a table of columns."""
    columns = {x.name: lambda n=x.name: [getattr(r, n) for r in rows] for x in fields(record)}
    return Table(record, len(rows), columns)


def _instance_prefix(parts: Iterable[PathComponent], row: int) -> str:
    """The name of one instance of nested groups, counted row-major."""
    out: list[str] = []
    for part in reversed(tuple(parts)):
        here: list[str] = []
        for axis in reversed(part.axes):
            row, rest = divmod(row, axis.size)
            here.append(str(axis.low + rest))
        out.append(part.name + "-".join(reversed(here)))
    return "-".join(reversed(out))


def _unique_model_keys(models: tuple[DeviceModel, ...]) -> list[str]:
    """A unique name for every model, in their order: its own where no other bears it, else with how it is
    split."""
    shared = Counter(m.name for m in models)
    out: list[str] = []
    for m in models:
        key = (
            f"{m.name}+{m.variant.replace('/', '').replace(',', '+')}"
            if shared[m.name] > 1 and m.variant
            else m.name
        )
        number = sum(k == key or k.startswith(f"{key}~") for k in out)
        out.append(f"{key}~{number + 1}" if number else key)
    return out


def _model_record(fabric: Fabric, key: str, model: DeviceModel) -> Model:
    groups = []
    for c in model.classes:
        ports = tuple(
            Port(
                c.path(i),
                c.first + i + 1,
                c.labels[i],
                c.systems[i],
                f"{c.form} {c.cages[i]}".strip() if c.cages[i] else "",
            )
            for i in range(c.size)
        )
        groups.append(PortGroup(c.name, c.rate or "", c.types, speaks_infiniband(fabric, c), ports))
    return Model(key, model.name, model.kind, model.title, tuple(groups), model.accelerators)
