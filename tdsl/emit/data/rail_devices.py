"""Network devices of hosts by rail."""

from __future__ import annotations

import numpy as np

from tdsl.emit.data.scheduling import links_of_jobs, schedulable_hosts
from tdsl.emit.link_tables import Wires
from tdsl.emit.records import RailDevices
from tdsl.fabric.rails import link_rail


class RailsUnfit(Exception):
    """Network devices of hosts that no list by rail can hold; the message says why."""


def rail_devices(wires: Wires) -> tuple[RailDevices, ...]:
    """The network devices by which hosts that jobs run on have links to switches, rail by rail, of all host
    models together. Raises ``RailsUnfit`` where there are no rails, where the name of a device is not known,
    where one name is of several rails, or where a port channel makes one device of several."""
    f = wires.fabric
    hosts = schedulable_hosts(f)
    rows = np.flatnonzero(links_of_jobs(f, hosts))
    rows = rows[np.isin(f.device_a[rows], hosts) & f.is_switch[f.device_b[rows]]]
    bonded = rows[f.link_bundle[rows] >= 0]
    if len(bonded):
        name = wires.devices.name[int(f.device_a[bonded[0]])]
        raise RailsUnfit(
            f"ports of {name} are in port channels: a bond is one RDMA device, whose network device the "
            "design does not name"
        )
    rails = link_rail(f)[rows]
    if not len(rows) or bool((rails < 0).any()):
        raise RailsUnfit("not every link of its hosts is of a rail")
    rail_of: dict[str, int] = {}
    seen: set[tuple[int, int, int]] = set()
    for row, rail in zip(rows.tolist(), rails.tolist(), strict=True):
        device, port = int(f.device_a[row]), int(f.link_a[row])
        kind = int(f.device_model[device]), port - int(f.port_base[device]), rail
        if kind in seen:
            continue
        seen.add(kind)
        (name,) = wires.network_devices(np.array([port]))
        if not name:
            raise RailsUnfit(
                f"nothing says what the system of {wires.devices.name[device]} calls a network device"
            )
        if rail_of.setdefault(name, rail) != rail:
            raise RailsUnfit(f"{name} is of rail {rail_of[name]} in some hosts and of rail {rail} in others")
    return tuple(
        RailDevices(rail, tuple(name for name, of in rail_of.items() if of == rail))
        for rail in sorted(set(rail_of.values()))
    )
