"""The fabric: devices, ports, links, cables and circuits as columns.

Rows are numbered in the order of the text, so every number here is a function of the design alone. Names are
computed when asked for. Nothing in it points back to the text except ``sets[…].origin`` and
``statements[…].origin``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.failed import FailedElements
from tdsl.fabric.narrow import as_kept
from tdsl.findings.source import Origin
from tdsl.semantics.model import Axis, DeviceModel, DeviceSet, PortClass, indices_at_position
from tdsl.semantics.settings import LINK_MEDIA
from tdsl.semantics.supply import Supply
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.sealed import Sealed

if TYPE_CHECKING:
    import networkx

    from tdsl.fabric.addresses import Addressing
    from tdsl.fabric.distances import GroupDistance
    from tdsl.fabric.layers import Domains
    from tdsl.fabric.partitions import SubnetManagement
    from tdsl.fabric.places import RackPlaces
    from tdsl.fabric.risks import RiskGroup

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FREE, USED, HOLE, INSIDE = 0, 1, 2, 3
"""States of a port: free; carries a link or a drawn cable; kept for something planned but omitted."""

MEDIA = LINK_MEDIA


@dataclass(frozen=True, slots=True)
class LinkStatement:
    """One connect or circuit: where it stands, and the settings that all its links share."""

    origin: Origin
    settings: Mapping[str, object]


def _no_rows() -> Ints:
    return np.zeros(0, dtype=np.int64)


def _no_bools() -> Bools:
    return np.zeros(0, dtype=np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class RowIndex:
    """Rows of a table by device: those of device d are ``rows[start[d]:start[d + 1]]``."""

    start: Ints
    rows: NDArray[np.int32]

    @classmethod
    def of(cls, count: int, pairs: Sequence[tuple[Ints, Ints]]) -> RowIndex:
        """The index of ``count`` devices from columns of devices, each with the rows that belong to them."""
        device = np.concatenate([d for d, _ in pairs])
        rows = np.concatenate([r.astype(np.int32) for _, r in pairs])  # LINK_LIMIT keeps them below 2^31
        order = np.argsort(device, kind="stable")
        return cls(np.append(0, np.cumsum(np.bincount(device, minlength=count))), rows[order])

    def rows_of(self, devices: Ints) -> Ints:
        """The rows of these devices, device by device; a row of two of them twice."""
        low, each = self.start[devices], self.start[devices + 1] - self.start[devices]
        before = np.cumsum(each) - each
        return self.rows[np.repeat(low - before, each) + np.arange(int(each.sum()))].astype(np.int64)


@dataclass(eq=False)  # no slots: the derived columns are kept once computed
class Fabric(Sealed):
    """One elaborated network.

    Columns over devices (``n``), ports (``P``), links (``m``), cables (``k``) and circuits are numpy arrays
    of equal length. A device's ports are ``port_base[d] … port_base[d+1]-1``, in the order of its model's
    classes. Planned but omitted devices have rows with ``built`` False and carry no links. A link's ``a`` end
    is on the lower tier (hosts lowest); links are sorted by their ``a`` port.
    """

    name: str
    title: str
    parameters: Mapping[str, object]
    origin: Origin
    layer: str  # "" (scale-out) or "scaleup"
    sets: tuple[DeviceSet, ...]
    models: tuple[DeviceModel, ...]
    statements: tuple[LinkStatement, ...]
    # devices
    device_set: Ints
    device_model: Ints  # index into models
    built: Bools
    # in the planned fabric: 0 hosts and chips, 1 their switches, … ; -1 for OCS, panels and what nothing
    # reaches
    tier: Ints
    plane: Ints  # number of the `plane` instance it stands in, -1 if in none
    port_base: Ints  # n + 1
    # ports
    port_state: NDArray[np.uint8]
    port_link: NDArray[np.int32]  # link that uses the port, -1
    # links
    link_a: Ints  # port, lower tier
    link_b: Ints
    link_rate: Ints  # bit/s each way
    link_class: Ints  # index into classes
    link_medium: Ints  # index into MEDIA
    link_statement: Ints
    link_via_a: Ints  # port of the panel or OCS facing a, -1
    link_via_b: Ints
    link_bundle: Ints  # number of the port channel that the link belongs to, -1 for none
    classes: tuple[str, ...]
    link_colour: Ints  # index into colours, -1 where none is asked for
    colours: tuple[str, ...]
    # cables: one row a leg, between two ports' connectors; a plain cable has one leg
    cable_a: Ints  # port (the first one) of the connector at the lower end
    cable_b: Ints
    cable_group: Ints  # legs of one cable share it
    cable_leg: Ints  # 0 for a plain cable, else 1, 2, …
    cable_links: Ints  # links that run through the leg
    cable_class: Ints  # index into classes; cables to an OCS or panel have a class of their own
    cable_statement: Ints
    # circuits inside OCS
    circuit_a: Ints
    circuit_b: Ints
    circuit_link: Ints
    # links that are planned and not built, because a device at one end or the panel or OCS crossed is omitted
    absent_a: Ints = field(default_factory=_no_rows)  # device on the lower tier
    absent_b: Ints = field(default_factory=_no_rows)
    absent_rate: Ints = field(default_factory=_no_rows)
    absent_reserved: Bools = field(default_factory=_no_bools)  # whether no other link has taken its ports
    absent_statement: Ints = field(default_factory=_no_rows)
    names: Mapping[int, str] = field(default_factory=dict)  # devices that a `naming` names: row -> name
    named_by: dict[int, Origin] = field(default_factory=dict)  # the naming that names them
    addressing: Addressing | None = (
        None  # None where the design says nothing of addresses, routing and traffic classes
    )
    management: SubnetManagement | None = (
        None  # None where the design says nothing of partitions and subnet managers
    )
    risks: tuple[RiskGroup, ...] = ()  # what fails together, as the design states it
    nos: str = ""  # the operating system of switches of which neither the declaration nor the model says one
    transport: str = ""  # what its links speak, "" where neither the design nor the types of ports say one
    transport_stated: bool = False  # whether the design has a `transport` statement
    purpose: str = ""  # what it is for in a cluster, "" where no statement says it
    parts: tuple[DeviceModel, ...] = ()  # cables and optics to choose from, where it has places
    prices: Mapping[str, Fraction] = field(default_factory=dict)  # by model, as the user states them
    supply: Supply = field(
        default_factory=Supply
    )  # spares, lead times and alternatives, as the user states them
    link_run: Ints = field(
        default_factory=_no_rows
    )  # micrometres of the cables that places ask for, -1 unknown; empty without
    places: RackPlaces | None = None  # None where neither the design nor a table places anything
    cluster: Fabric | None = field(
        default=None, repr=False
    )  # all fabrics of its cluster as one, where it is one of these
    members: tuple[Fabric, ...] = field(
        default=(), repr=False
    )  # the fabrics that it consists of, where it is a cluster as one
    member_rows: tuple[Ints, ...] = ()  # of each of them the row here of every device
    member_links: tuple[Ints, ...] = ()  # and of every link
    whole: Fabric | None = None  # the fabric with both layers, where this is its scale-out network alone
    spans: tuple[GroupDistance, ...] = ()  # distances between groups, such as sites
    sealed: bool = field(default=False, init=False, repr=False)
    complete: bool = True  # False if some wiring was refused: only what more wiring cannot mend may be judged

    def seal(self) -> None:
        """Have no column be written and no attribute be set any more."""
        for column in vars(self).values():
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
        self.sealed = True

    # ------------------------------------------------------------ sizes
    @property
    def device_count(self) -> int:
        """Rows of devices, planned ones included."""
        return len(self.device_set)

    @property
    def link_count(self) -> int:
        """Rows of links."""
        return len(self.link_a)

    @cached_property
    def planned_a(self) -> Ints:
        """Device on the lower tier of every planned link: those built, then those absent."""
        return np.concatenate((self.device_a, self.absent_a))

    @cached_property
    def planned_b(self) -> Ints:
        """Device on the upper tier of every planned link."""
        return np.concatenate((self.device_b, self.absent_b))

    @cached_property
    def spares(self) -> Bools:
        """Devices that the design calls spares: the last along the last index of their declaration."""
        out = np.zeros(self.device_count, dtype=np.bool_)
        for s in self.sets:
            count = s.settings.get("spares", 0)
            if isinstance(count, int) and count:
                size = s.axes[-1].size
                out[s.first : s.first + s.count] = np.arange(s.count) % size >= size - count
        return out

    # ------------------------------------------------------------ layers
    @cached_property
    def network(self) -> Fabric:
        """What metrics of the network are about: the links of the scale-out layer, where there are scale-up
        links beside them."""
        from tdsl.fabric.layers import scaleout_network

        return scaleout_network(self)

    @cached_property
    def domains(self) -> Domains:
        """Scale-up domains: hosts and chips that exchange data without the network."""
        from tdsl.fabric.layers import domains_of

        return self.whole.domains if self.whole is not None else domains_of(self)

    # ------------------------------------------------------------ ports and devices
    @cached_property
    def port_device(self) -> Ints:
        """Device of every port."""
        return as_kept(
            np.repeat(np.arange(self.device_count, dtype=np.int32), np.diff(self.port_base)), self.link_a
        )

    @cached_property
    def device_a(self) -> Ints:
        """Device at the a end of every link."""
        return as_kept(self.port_device[self.link_a], self.link_a)

    @cached_property
    def device_b(self) -> Ints:
        """Device at the b end of every link."""
        return as_kept(self.port_device[self.link_b], self.link_b)

    @cached_property
    def kind(self) -> NDArray[np.str_]:
        """Kind of every device."""
        return np.array([s.kind for s in self.sets] or [""])[self.device_set]

    @cached_property
    def role(self) -> NDArray[np.str_]:
        """Role of every device: accelerator, storage, manager or ""."""
        return np.array([s.role for s in self.sets] or [""])[self.device_set]

    @cached_property
    def is_end(self) -> Bools:
        """Whether a device is where traffic begins: hosts, and chips that are no switches."""
        ends: Bools = (self.kind == "host") | (self.kind == "chip")
        return ends

    @cached_property
    def forwards(self) -> Bools:
        """Whether a host or chip passes traffic of others on because the design, or its model, says so."""
        said = np.array([bool(s.settings.get("forwards")) for s in self.sets] or [False])[self.device_set]
        model = np.array([bool(m.facts.get("forwards")) for m in self.models] or [False])[self.device_model]
        return np.asarray(self.is_end & (said | model), dtype=np.bool_)

    @cached_property
    def is_switch(self) -> Bools:
        """Whether a device is a packet switch (of the network or of a scale-up domain)."""
        switches: Bools = self.kind == "switch"
        return switches

    @cached_property
    def switch_system(self) -> NDArray[np.str_]:
        """Network operating system of every switch: that of its declaration, else of its model, else of the
        fabric; "" if none is written, and for other devices. In a cluster, as in the fabric of the switch."""
        if self.members:
            return self._switch_system_of_members()
        of_set = np.array([s.nos for s in self.sets] or [""])[self.device_set]
        of_model = np.array([str(m.facts.get("nos", "")) for m in self.models] or [""])[self.device_model]
        found = np.where(of_set != "", of_set, np.where(of_model != "", of_model, self.nos))
        return np.where(self.is_switch, found, "")

    def _switch_system_of_members(self) -> NDArray[np.str_]:
        out = np.full(self.device_count, "", dtype=object)
        for f, rows in zip(self.members, self.member_rows, strict=True):
            out[rows[f.is_switch]] = f.switch_system[f.is_switch]
        return out.astype(str)

    @cached_property
    def container(self) -> Ints:
        """The device that each device sits in: the host of a chip, the chassis of a switch; -1 if in none."""
        out = np.full(self.device_count, -1, dtype=np.int64)
        for s in self.sets:
            if s.inside is not None and s.inside.count:
                each = s.count // s.inside.count
                out[s.first : s.first + s.count] = s.inside.first + np.arange(s.count) // each
        return out

    @cached_property
    def contents_index(self) -> RowIndex | None:
        """Devices by the device that they sit in; None where none sits in another."""
        inside = np.flatnonzero(self.container >= 0)
        return RowIndex.of(self.device_count, [(self.container[inside], inside)]) if len(inside) else None

    @cached_property
    def links_index(self) -> RowIndex:
        """Links by the devices at their ends."""
        rows = np.arange(self.link_count)
        return RowIndex.of(self.device_count, [(self.device_a, rows), (self.device_b, rows)])

    @cached_property
    def legs_index(self) -> RowIndex:
        """Cable legs by the devices that they are plugged into."""
        rows = np.arange(len(self.cable_a))
        return RowIndex.of(
            self.device_count, [(self.port_device[ports], rows) for ports in (self.cable_a, self.cable_b)]
        )

    @cached_property
    def used_ports(self) -> Ints:
        """How many ports of every device are in use."""
        before = np.append(0, np.cumsum((self.port_state == USED) | (self.port_state == INSIDE)))
        return np.asarray(np.diff(before[self.port_base]), dtype=np.int64)

    def with_contents(self, devices: Bools) -> Bools:
        """Devices with all that they contain, at any depth: what fails together."""
        out = devices.copy()
        inside = np.flatnonzero(self.container >= 0)
        while len(inside):
            fresh = inside[out[self.container[inside]] & ~out[inside]]
            if not len(fresh):
                break
            out[fresh] = True
        return out

    def links_lost(self, devices: Bools) -> Bools:
        """Links that end at one of these devices, or cross one (a panel, an optical switch)."""
        lost = devices[self.device_a] | devices[self.device_b]
        for via in (self.link_via_a, self.link_via_b):
            lost |= (via >= 0) & devices[self.port_device[via]]
        return lost

    def without(self, devices: Iterable[int] = (), links: Iterable[int] = ()) -> FailedElements:
        """A failure of these devices and links, by their rows, to be judged by ``tdsl.scenarios``. Raises
        IndexError for a row that is not there."""
        here, there = np.array(list(devices), dtype=np.int64), np.array(list(links), dtype=np.int64)
        if min((*here, *there, 0)) < 0:
            raise IndexError("rows of devices and links begin at 0")
        failed, lost = np.zeros(self.device_count, dtype=np.bool_), np.zeros(self.link_count, dtype=np.bool_)
        failed[here] = lost[there] = True
        names = [self.device_path(d) for d in here.tolist()]
        names += [
            f"{self.port_path(int(self.link_a[x]))} - {self.port_path(int(self.link_b[x]))}"
            for x in there.tolist()
        ]
        return FailedElements(tuple(names), failed, lost)

    def set_of(self, device: int) -> DeviceSet:
        """The declaration a device belongs to."""
        return self.sets[int(self.device_set[device])]

    def model_of(self, device: int) -> DeviceModel:
        """The model of a device."""
        return self.models[int(self.device_model[device])]

    def device_path(self, device: int) -> str:
        """How the design writes a device: ``su[0].leaf[3]``."""
        first, form, axes = self._forms[int(self.device_set[device])]
        return form % indices_at_position(device - first, axes) if axes else form

    @cached_property
    def _forms(self) -> list[tuple[int, str, tuple[Axis, ...]]]:
        """Of every declaration the first row, its path with %d for indices (names hold no %), and its axes: a
        fabric is asked for the paths of all its devices and ports."""
        out = []
        for s in self.sets:
            names = (f"{p.name}[{', '.join(['%d'] * len(p.axes))}]" if p.axes else p.name for p in s.parts)
            head = (
                f"{s.prefix}." if self.members and s.prefix else ""
            )  # of a cluster as one: which fabric declares it
            out.append((s.first, head + ".".join(names), s.axes))
        return out

    @cached_property
    def _port_forms(self) -> list[list[str]]:
        """Of every model the paths of its ports, from the device on."""
        return [
            [c.path(port - c.first) for port in range(m.port_count) for c in (m.class_of(port),)]
            for m in self.models
        ]

    def device_name(self, device: int) -> str:
        """Its name on labels and in configurations: ``su0-leaf3`` unless a ``naming`` says otherwise."""
        return self.names.get(device) or self.default_name(device)

    def default_name(self, device: int) -> str:
        """The path as a name, behind the fabric's where that declares it in a cluster: parts joined by ``-``,
        indices behind their part, several joined by ``-``. A name that a group and what it holds share is
        said once: ``rack113`` of ``rack[113].rack``, ``leaf0-3`` of ``leaf[0].leaf[3]``."""
        s = self.set_of(device)
        row = device - s.first
        sizes = [a for p in s.parts for a in p.axes]
        coordinates: list[int] = []
        for axis in reversed(sizes):
            row, rest = divmod(row, axis.size)
            coordinates.append(axis.low + rest)
        out = [s.prefix] if s.prefix else []
        before = ""
        for p in s.parts:
            text = ("" if p.name == before else p.name) + "-".join(str(coordinates.pop()) for _ in p.axes)
            out += [text] if text else []
            before = p.name
        return "-".join(out)

    def port_class(self, port: int) -> tuple[PortClass, int]:
        """The class of a port and its row-major place in it."""
        device = int(self.port_device[port])
        local = int(port - self.port_base[device])
        c = self.model_of(device).class_of(local)
        return c, local - c.first

    def port_path(self, port: int) -> str:
        """How the design writes a port: ``su[0].leaf[3].p[33]``."""
        device = int(self.port_device[port])
        forms = self._port_forms[self.device_model[device]]
        return f"{self.device_path(device)}.{forms[int(port - self.port_base[device])]}"

    def port_label(self, port: int) -> str:
        """What the faceplate says: ``IB1/17/1``."""
        c, i = self.port_class(port)
        return c.labels[i]

    def port_system(self, port: int) -> str:
        """What the operating system calls it: ``mlx5_0``, ``swp1``; "" if the model does not say."""
        c, i = self.port_class(port)
        return c.systems[i]

    def port_cage(self, port: int) -> str:
        """Its cage: form and number (``OSFP 17``), "" if the model has none."""
        c, i = self.port_class(port)
        return f"{c.form} {c.cages[i]}".strip() if c.cages[i] else ""

    # ------------------------------------------------------------ views
    @cached_property
    def model_groups(self) -> Mapping[int, Ints]:
        """Rows of devices by index of their model."""
        return {m: np.flatnonzero(self.device_model == m) for m in range(len(self.models))}

    def graph(self) -> networkx.MultiGraph[int]:
        """The fabric as a networkx multigraph: built devices as nodes, links as edges, both by row number.

        A node has ``name``, ``path``, ``kind`` (host, chip, switch, ocs or panel), ``model`` and
        ``declaration``; where it has them also ``role``, ``tier`` (0 for hosts and chips), ``plane`` (path of
        the instance), ``container`` (row of the device that it is inside) and ``group``. An edge has
        ``rate_bps`` each way, ``class``, ``medium``, ``a_port`` at the lower tier and ``b_port``; where it
        has them also ``cable`` (identifiers, separated by blanks) and ``via`` (ports of a panel or optical
        switch that it crosses). It is for networkx and what reads its files; the stages of tdsl read the
        columns.
        """
        from tdsl.fabric.as_networkx import as_networkx

        return as_networkx(self)
