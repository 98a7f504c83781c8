"""The fabric: devices, ports, links, cables and circuits as columns.

Rows are numbered in the order of the text, so every number here is a function of the design alone. Names are computed
when asked for. Nothing in it points back to the text except ``sets[…].origin`` and ``statements[…].origin``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tdsl.semantics.model import DeviceModel, DeviceSet, PortClass
from tdsl.source import Origin

if TYPE_CHECKING:
    import networkx

    from tdsl.fabric.addresses import Addressing
    from tdsl.fabric.partitions import Management

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

FREE, USED, HOLE = 0, 1, 2
"""States of a port: free; carries a link or a drawn cable; kept for something planned but omitted."""

MEDIA = ("cable", "trace", "backplane")


@dataclass(frozen=True, slots=True)
class Statement:
    """One connect or circuit: where it stands, and the settings that all its links share."""

    origin: Origin
    settings: Mapping[str, object]


@dataclass(eq=False)  # no slots: the derived columns are kept once computed
class Fabric:
    """One elaborated network.

    Columns over devices (``n``), ports (``P``), links (``m``), cables (``k``) and circuits are numpy arrays of equal length.
    A device's ports are ``port_base[d] … port_base[d+1]-1``, in the order of its model's classes. Planned but omitted
    devices have rows with ``built`` False and carry no links. A link's ``a`` end is on the lower tier (hosts lowest); links
    are sorted by their ``a`` port.
    """

    name: str
    title: str
    parameters: Mapping[str, object]
    origin: Origin
    layer: str  # "" (scale-out) or "scaleup"
    sets: tuple[DeviceSet, ...]
    models: tuple[DeviceModel, ...]
    statements: tuple[Statement, ...]
    # devices
    device_set: Ints
    device_model: Ints  # index into models
    built: Bools
    tier: Ints  # 0 hosts and chips, 1 the switches they meet, … ; -1 for OCS, panels and what nothing reaches
    plane: Ints  # number of the `plane` instance it stands in, -1 if in none
    port_base: Ints  # n + 1
    # ports
    port_state: NDArray[np.uint8]
    port_link: Ints  # link that uses the port, -1
    # links
    link_a: Ints  # port, lower tier
    link_b: Ints
    link_rate: Ints  # bit/s each way
    link_class: Ints  # index into classes
    link_medium: Ints  # index into MEDIA
    link_statement: Ints
    link_via_a: Ints  # port of the panel or OCS facing a, -1
    link_via_b: Ints
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
    names: Mapping[int, str] = field(default_factory=dict)  # devices that a `naming` names: row -> name
    named_by: dict[int, Origin] = field(default_factory=dict)  # the naming that names them
    addressing: Addressing | None = None  # None where the design says nothing of addresses, routing and traffic classes
    management: Management | None = None  # None where the design says nothing of partitions and subnet managers
    complete: bool = True  # False if some wiring was refused: only what more wiring cannot mend may be judged

    # ------------------------------------------------------------ sizes
    @property
    def device_count(self) -> int:
        """Rows of devices, planned ones included."""
        return len(self.device_set)

    @property
    def link_count(self) -> int:
        """Rows of links."""
        return len(self.link_a)

    # ------------------------------------------------------------ ports and devices
    @cached_property
    def port_device(self) -> Ints:
        """Device of every port."""
        return np.repeat(np.arange(self.device_count), np.diff(self.port_base))

    @cached_property
    def device_a(self) -> Ints:
        """Device at the a end of every link."""
        return self.port_device[self.link_a]

    @cached_property
    def device_b(self) -> Ints:
        """Device at the b end of every link."""
        return self.port_device[self.link_b]

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
    def is_switch(self) -> Bools:
        """Whether a device is a packet switch (of the network or of a scale-up domain)."""
        switches: Bools = self.kind == "switch"
        return switches

    def set_of(self, device: int) -> DeviceSet:
        """The declaration a device belongs to."""
        return self.sets[int(self.device_set[device])]

    def model_of(self, device: int) -> DeviceModel:
        """The model of a device."""
        return self.models[int(self.device_model[device])]

    def device_path(self, device: int) -> str:
        """How the design writes a device: ``su[0].leaf[3]``."""
        s = self.set_of(device)
        return s.device_path(device - s.first)

    def device_name(self, device: int) -> str:
        """Its name on labels and in configurations: ``su0-leaf3`` unless a ``naming`` says otherwise."""
        return self.names.get(device) or self.default_name(device)

    def default_name(self, device: int) -> str:
        """The path as a name: parts joined by ``-``, indices behind their part, several joined by ``-``."""
        s = self.set_of(device)
        row = device - s.first
        sizes = [a for p in s.parts for a in p.axes]
        coordinates: list[int] = []
        for axis in reversed(sizes):
            row, rest = divmod(row, axis.size)
            coordinates.append(axis.low + rest)
        out = []
        for p in s.parts:
            out.append(p.name + "-".join(str(coordinates.pop()) for _ in p.axes))
        return "-".join(out)

    def port_class(self, port: int) -> tuple[PortClass, int]:
        """The class of a port and its row-major place in it."""
        device = int(self.port_device[port])
        local = int(port - self.port_base[device])
        c = self.model_of(device).class_of(local)
        return c, local - c.first

    def port_path(self, port: int) -> str:
        """How the design writes a port: ``su[0].leaf[3].p[33]``."""
        c, i = self.port_class(port)
        return f"{self.device_path(int(self.port_device[port]))}.{c.path(i)}"

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
        """The links as a networkx multigraph over device rows: for small fabrics, witnesses and readers."""
        import networkx

        g: networkx.MultiGraph[int] = networkx.MultiGraph()
        g.add_nodes_from(np.flatnonzero(self.built).tolist())
        ends = zip(self.device_a.tolist(), self.device_b.tolist(), self.link_rate.tolist(), strict=True)
        g.add_edges_from((a, b, i, {"rate": r}) for i, (a, b, r) in enumerate(ends))
        return g
