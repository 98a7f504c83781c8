"""The semantic model's values: device models with their ports, and sets of devices in groups. Plain data, no
arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from fractions import Fraction
from math import prod
from typing import NamedTuple

from tdsl.findings.source import Origin
from tdsl.system.lazy_dataclass import dataclass

KINDS = ("host", "chip", "switch", "ocs", "panel")
MODEL_KINDS = (*KINDS, "cable", "optic")
_RDMA = re.compile(
    r"(mlx[45]|bnxt_re|cxgb4|efa|erdma|hfi1|hns|ionic|irdma|mana|ocrdma|qedr)_?(ib|bond_)?\d+"
    r"|(roce|iw|opa|rdma)[Popsx]\d\w*|rdma_vf_rail\d+"
)
"""Names of RDMA devices: those of Linux' drivers (drivers/infiniband/hw, ``ib_register_device``),
``mlx5_ib0`` as on Azure, ``rdma_vf_rail0`` as on Oracle Cloud, and those of rdma-core
(kernel-boot/rdma-persistent-naming.rules) but for ``ib…``, which may be either."""


class Axis(NamedTuple):
    """One dimension of indices: ``low, low+1, …``, ``size`` of them; the last ``size - built`` are planned
    only."""

    low: int
    size: int
    built: int = -1

    @property
    def high(self) -> int:
        """The last index."""
        return self.low + self.size - 1

    @property
    def present(self) -> int:
        """How many are built."""
        return self.size if self.built < 0 else self.built


def indices_at_position(index: int, axes: tuple[Axis, ...]) -> tuple[int, ...]:
    """Indices of the element at a row-major position."""
    out = []
    for axis in reversed(axes):
        index, rest = divmod(index, axis.size)
        out.append(axis.low + rest)
    return tuple(reversed(out))


@dataclass(frozen=True, slots=True)
class SonicPort:
    """How SONiC knows a port: by a number (``Ethernet8``) and the numbers of its lanes at the switch chip.

    ``whole`` is the number of the port that it is a part of, its own if it is not split. ``alias`` is the
    second name that the platform has for it (``etp2``, and ``etp2a`` of a part), "" where the model does not
    say; ``part_aliases`` those of its parts, for every way to split.
    """

    number: int
    lanes: tuple[int, ...]
    whole: int
    alias: str = ""
    part_aliases: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def part(self, lane: int, ways: int) -> SonicPort:
        """One of the parts into which the port is split: SONiC numbers ports by their first lane."""
        each = len(self.lanes) // ways
        names = dict(self.part_aliases).get(ways, ())
        return SonicPort(
            self.number + lane * each,
            self.lanes[lane * each : (lane + 1) * each],
            self.whole,
            names[lane] if names else "",
        )


@dataclass(frozen=True, slots=True)
class PortClass:
    """A named array of ports of a model.

    ``first`` is the place of its first port among all ports of the model. Tuples have one entry a port,
    row-major: ``cages`` (number on the faceplate, 0 where there is no cage), ``connectors`` (number inside
    the class; ports of one connector leave by one cable), ``labels`` (faceplate names) and ``systems``
    (operating-system names, "" if unknown; of an adapter that does RDMA, the name of that device).
    """

    name: str
    axes: tuple[Axis, ...]
    first: int
    rate: int | None  # bit/s one way; None fits any rate
    types: tuple[str, ...]  # () fits any type, as does "any"
    cages: tuple[int, ...]
    form: str
    connectors: tuple[int, ...]
    labels: tuple[str, ...]
    systems: tuple[str, ...]
    splits: tuple[int, ...]  # ways it may be split
    split: int  # lanes a port is split into now, 1 if whole
    origin: Origin
    lane_systems: tuple[
        tuple[int, tuple[str, ...]], ...
    ] = ()  # ways -> ``systems`` of the lanes, where they have their own
    sonic: tuple[SonicPort, ...] = ()  # one entry a port, () where the model does not say
    netdevs: tuple[
        str, ...
    ] = ()  # names of network devices beside ``systems``, () where the model does not say
    lane_netdevs: tuple[tuple[int, tuple[str, ...]], ...] = ()  # as ``lane_systems``
    sockets: int = 1  # of the module in its cage: the lanes of a split port leave by so many cables
    per_cage: int = 0  # ports of a cage before any is split, 0 where there is none
    heatsink: str = ""  # what the cages take: finned, flat, or "" where the model does not say
    built_in: str = ""  # the model of optics that are part of the device, to which fibre goes; "" if none

    @property
    def size(self) -> int:
        """Number of ports."""
        return prod(a.size for a in self.axes)

    def netdev(self, index: int) -> str:
        """The network device of a port, ``enp24s0np0``: its ``netdev``, else its ``os`` if that names none of
        RDMA; else ""."""
        if self.netdevs:
            return self.netdevs[index]
        return "" if _RDMA.fullmatch(self.systems[index]) else self.systems[index]

    def path(self, index: int) -> str:
        """How a design writes its port at a row-major position: ``nic[3]``, ``p[33]``; one without index is
        its name."""
        return (
            f"{self.name}[{', '.join(map(str, indices_at_position(index, self.axes)))}]"
            if self.axes
            else self.name
        )


@dataclass(frozen=True, slots=True)
class Chip:
    """Devices inside a model: ``chip gpu[8]: H100`` or ``switch nvs[4]: NVSWITCH3``."""

    name: str
    kind: str
    axes: tuple[Axis, ...]
    model: DeviceModel
    origin: Origin

    @property
    def size(self) -> int:
        """Number of them."""
        return prod(a.size for a in self.axes)

    @property
    def accelerates(self) -> bool:
        """Whether they are accelerators: chips, but for those whose role is ``cpu``."""
        return self.kind == "chip" and self.model.accelerators > 0


@dataclass(frozen=True, slots=True)
class InnerLink:
    """``count`` links between two devices inside a model, each given as (name, row-major position)."""

    a: tuple[str, int]
    b: tuple[str, int]
    count: int
    rate: int
    layer: str  # "scaleup", or "" for the network


@dataclass(frozen=True, slots=True)
class LayoutNode:
    """A NUMA node or a PCIe function inside a host.

    ``name`` and ``index`` say which (``cpu 0``, ``plx 3``, or the chip or port class it describes: ``gpu 5``,
    ``nic 5``); ``on`` is what it hangs from. ``facts`` holds its settings as written: ``gen`` 5, ``lanes``
    16, ``bus`` "0000:1b:00.0", ``device`` "10de:2330", ``arch`` "x86_64" …; a setting of several items is a
    tuple.
    """

    kind: str  # "numa" or "pcie"
    name: str
    index: int
    on: tuple[str, int] | None
    facts: Mapping[str, object]
    origin: Origin


@dataclass(frozen=True, slots=True)
class DeviceModel:
    """A kind of host, switch, chip, OCS or panel: what a ``model`` declares.

    ``facts`` are its other settings: ``height``, ``power``, ``source``, ``sm`` … as evaluated values
    (Quantity, str, int, tuple). Two fabrics that split a port class differently use two DeviceModels of one
    name.
    """

    name: str
    kind: str
    title: str
    classes: tuple[PortClass, ...]
    chips: tuple[Chip, ...]
    links: tuple[InnerLink, ...]
    layout: tuple[LayoutNode, ...]
    facts: Mapping[str, object]
    origin: Origin
    variant: str = ""  # how it was split, "" if not
    wiring: tuple[object, ...] = ()  # its own connects (tree.Connect), which become ``links``
    scope: object = None  # the names its connects may use

    @property
    def port_count(self) -> int:
        """Ports of all classes."""
        return sum(c.size for c in self.classes)

    @property
    def accelerators(self) -> int:
        """Accelerators inside: a chip model itself counts 1, or 0 if its role is ``cpu``; so do a host's
        chips, each."""
        if self.kind == "chip":
            return 0 if self.facts.get("role") == "cpu" else 1
        return sum(c.size for c in self.chips if c.accelerates)

    def port_class(self, name: str) -> PortClass | None:
        """The class of that name."""
        return next((c for c in self.classes if c.name == name), None)

    def parts(self, name: str) -> tuple[PortClass, ...]:
        """All classes of that name, in the order of their ports: several where a part of the ports is
        split."""
        return tuple(c for c in self.classes if c.name == name)

    @property
    def first_parts(self) -> tuple[PortClass, ...]:
        """The first class, with all that have its name."""
        return self.parts(self.classes[0].name) if self.classes else ()

    def class_of(self, port: int) -> PortClass:
        """The class that a port of the model (counted over all classes) belongs to."""
        for c in self.classes:
            if c.first <= port < c.first + c.size:
                return c
        raise IndexError(port)


@dataclass(frozen=True, slots=True)
class PathComponent:
    """One component of a device set's path: a group or the device itself, and the axes written at it."""

    name: str
    kind: str  # group kinds, or the device's kind
    axes: tuple[Axis, ...]


@dataclass(slots=True, eq=False)
class DeviceSet:
    """What one declaration places: a row-major block of devices over the axes of its groups and its own.

    ``parts`` lead from the outermost group to the device. ``first`` is the block's first row in the device
    table.
    """

    index: int
    parts: tuple[PathComponent, ...]
    model: DeviceModel
    role: str  # "accelerator", "storage", "manager" or "" (switches, panels …)
    origin: Origin
    first: int = 0
    inside: DeviceSet | None = None  # the hosts these chips sit in, if they are devices inside a model
    settings: Mapping[str, object] = field(default_factory=dict)
    extents: tuple[object, ...] = ()  # its own (tree.Extent), as written
    scope: object = None  # the names they may use
    prefix: str = ""  # the fabric that declares it, where that stands in a cluster: its names begin with it

    @property
    def nos(self) -> str:
        """The network operating system that its own braces name, "" if none."""
        return str(self.settings.get("nos", ""))

    @property
    def name(self) -> str:
        """Its own name: ``leaf``."""
        return self.parts[-1].name

    @property
    def kind(self) -> str:
        """host, chip, switch, ocs or panel."""
        return self.parts[-1].kind

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes, outermost first."""
        return tuple(a for p in self.parts for a in p.axes)

    @property
    def count(self) -> int:
        """Number of rows, planned ones included."""
        return prod(a.size for a in self.axes)

    @property
    def path(self) -> str:
        """``su.leaf``."""
        return ".".join(p.name for p in self.parts)

    def device_path(self, row: int) -> str:
        """How a design writes one device of it: ``su[0].leaf[3]`` (row counted inside the block)."""
        coordinates = iter(indices_at_position(row, self.axes))
        out = []
        for p in self.parts:
            here = [str(next(coordinates)) for _ in p.axes]
            out.append(f"{p.name}[{', '.join(here)}]" if here else p.name)
        return ".".join(out)


Ratio = Fraction
