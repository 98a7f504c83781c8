"""A part of a fabric as templates see it: some of its devices, the cables and links with an end at one of
them, and their labels.

What is seen is that of the whole: names, numbers, addresses and the order of pulling do not depend on the
part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tdsl.emit.records import (
    Address,
    Cable,
    CableLabel,
    Device,
    HostAdapters,
    HostLayout,
    Link,
    Managed,
    Model,
    Pod,
    RdmaHost,
    Router,
    System,
)
from tdsl.emit.view import FabricView
from tdsl.fabric.columns import Table
from tdsl.fabric.graph import Bools, Ints
from tdsl.physical.cords import Cord
from tdsl.physical.rack_rows import MountLine


class PartView(FabricView):
    """The view of some devices of a fabric; what is not about one device, link or cable is that of the
    whole."""

    def __init__(self, whole: FabricView, only: Bools) -> None:
        """``only``: the devices of the part."""
        super().__init__(
            whole._fabric, whole._diagnostics, whole._assets, None, whole._stages, whole.shared_folder
        )
        self._whole, self._only, self._wires = whole, only, whole._wires
        self._asked = only

    @property
    def networks(self) -> tuple[FabricView, ...]:
        """The networks of a cluster, where the part is one of a cluster."""
        return self._whole.networks

    @cached_property
    def capabilities(self) -> frozenset[str]:
        """What a target may ask for in ``needs``, as in the whole."""
        return self._whole.capabilities

    def routers(self, kind: str) -> tuple[Router, ...]:
        """Routers of the part."""
        if not self.networks:
            return super().routers(kind)
        return tuple(r for r in self._whole.routers(kind) if r.name in self._names)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self._wires.devices.name[self._only].tolist())

    @cached_property
    def _keys(self) -> frozenset[str]:
        """Models of the part's devices."""
        keys = list(self.models_by_key)
        return frozenset(keys[m] for m in np.unique(self._fabric.device_model[self._only]).tolist())

    @cached_property
    def _legs(self) -> Bools:
        """Legs of cables of which a leg has an end at a device of the part."""
        f = self._fabric
        here = self._only[f.port_device[f.cable_a]] | self._only[f.port_device[f.cable_b]]
        groups = np.zeros(int(f.cable_group.max(initial=-1)) + 1, dtype=np.bool_)
        groups[f.cable_group[here]] = True
        found: Bools = groups[f.cable_group]
        return found

    @cached_property
    def _cable_rows(self) -> Ints:
        """Rows of the whole table of cables."""
        return np.flatnonzero(self._legs[self._wires.cable_order[0]])

    @cached_property
    def _tables(self) -> dict[str, Table[Any]]:
        return {}

    def _once(self, name: str, make: Callable[[], Table[Any]]) -> Table[Any]:
        if name not in self._tables:
            self._tables[name] = make()
        return self._tables[name]

    def _named(self, name: str) -> Table[Any]:
        """The rows of a table of the whole whose device is one of the part."""

        def picked() -> Table[Any]:
            table: Table[Any] = getattr(self._whole, name)
            column = table.column("name" if name == "devices" else "device")
            return table.pick(np.array([n for n, d in enumerate(column) if d in self._names], dtype=np.int64))

        return self._once(name, picked)

    @property
    def devices(self) -> Table[Device]:
        """Devices of the part that are built."""
        return self._named("devices")

    @property
    def links(self) -> Table[Link]:
        """Links with an end at a device of the part."""
        f = self._fabric
        return self._once(
            "links",
            lambda: self._whole.links.pick(np.flatnonzero(self._only[f.device_a] | self._only[f.device_b])),
        )

    @property
    def cables(self) -> Table[Cable]:
        """Cables with an end at a device of the part, all legs of a break-out together."""
        return self._once("cables", lambda: self._whole.cables.pick(self._cable_rows))

    @property
    def labels(self) -> Table[CableLabel]:
        """Labels of these cables, of both ends."""
        return self._once(
            "labels", lambda: self._whole.labels.pick(np.flatnonzero(self._legs[self._wires.label_legs]))
        )

    @cached_property
    def pods(self) -> tuple[Pod, ...]:
        """The cables of the part by pods of the whole."""
        place = {row: n for n, row in enumerate(self._cable_rows.tolist())}
        picked = (Pod(p.name, tuple(place[r] for r in p.rows if r in place)) for p in self._whole.pods)
        return tuple(p for p in picked if p.rows)

    @property
    def cords(self) -> Table[Cord]:
        """Power cords of devices of the part."""
        return self._named("cords")

    @property
    def mounting(self) -> Table[MountLine]:
        """Devices of the part to mount."""
        return self._named("mounting")

    @property
    def addresses(self) -> Table[Address]:
        """Addresses of devices of the part."""
        return self._named("addresses")

    @property
    def systems(self) -> Table[System]:
        """ASNs of devices of the part."""
        return self._named("systems")

    @cached_property
    def managed(self) -> tuple[Managed, ...]:
        """Management addresses of devices of the part."""
        return tuple(m for m in self._whole.managed if m.device in self._names)

    @cached_property
    def switch_systems(self) -> Mapping[str, str]:
        """The network operating systems of the part's switches by their names."""
        return {name: system for name, system in self._whole.switch_systems.items() if name in self._names}

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """Models of the part's devices."""
        return tuple(m for m in self._whole.models if m.key in self._keys)

    @cached_property
    def hosts(self) -> tuple[HostLayout, ...]:
        """The insides of the part's host models with accelerators."""
        return tuple(h for h in self._whole.hosts if h.name in self._keys)

    @cached_property
    def adapters(self) -> tuple[HostAdapters, ...]:
        """The adapters of the part's host models with accelerators."""
        return tuple(a for a in self._whole.adapters if a.host in self._keys)

    @cached_property
    def rdma_hosts(self) -> tuple[RdmaHost, ...]:
        """The part's host models with adapters for RDMA over Ethernet."""
        return tuple(h for h in self._whole.rdma_hosts if h.model in self._keys)
