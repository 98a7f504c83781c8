"""Addresses as rows for people and programs, and what is said once for all devices as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.addresses import DEVICE_KINDS
from tdsl.fabric.segments import EthernetSegments

if TYPE_CHECKING:
    from tdsl.emit.link_tables import Wires
    from tdsl.fabric.addresses import Addressing

Row = tuple[str, str, str, str, str, str]


def address_rows(wires: Wires, found: Addressing) -> Iterator[Row]:
    """Device, kind, port, address, network and VRF of every address of what is built. Those of ``vlan`` are a
    switch's own and the gateway, which both switches of a pair have."""
    f = wires.fabric
    for device in np.flatnonzero(f.built).tolist():
        for kind in DEVICE_KINDS:
            for address, pool in found.each(kind, device):
                yield f.device_name(device), kind, "", f"{address}/{pool.prefix}", pool.network, pool.vrf
    if not any(kind == "links" for kind, _ in found.assigned):
        return
    for link in range(f.link_count):
        for second, ports in ((False, f.link_a), (True, f.link_b)):
            for address, pool in found.each("links", link, second):
                port = int(ports[link])
                c, i = f.port_class(port)
                name = f.device_name(int(f.port_device[port]))
                yield name, "link", c.path(i), f"{address}/{pool.prefix}", pool.network, ""
    for switch, number, text, pool in EthernetSegments(f, found).addresses:
        yield f.device_name(switch), "vlan", f"vlan{number}", text, pool.network, ""


def record_without_origin(found: object) -> dict[str, object] | None:
    """A record of the design as JSON values, without its origin."""
    if not is_dataclass(found) or isinstance(found, type):
        return None
    return {name: value for name, value in asdict(found).items() if name != "origin"}
