"""Network devices of hosts by rail."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from tdsl.emit.data.scheduling import links_of_jobs, schedulable_hosts
from tdsl.emit.link_tables import Wires
from tdsl.emit.records import RailDevices
from tdsl.fabric.graph import Ints
from tdsl.fabric.rails import link_rail


class RailsUnfit(Exception):
    """Network devices of hosts that no list by rail can hold; the message says why."""


def rail_devices(wires: Wires) -> tuple[RailDevices, ...]:
    """The network devices by which hosts that jobs run on have links to switches, rail by rail: of all host
    models together, or of each where a name is of another rail or of a port channel in another model. Hosts
    whose ports are in port channels are left out. Raises ``RailsUnfit`` where there are no rails, where the
    name of a device is not known, where hosts of one model differ, or where all are in port channels."""
    f = wires.fabric
    hosts = schedulable_hosts(f)
    rows = np.flatnonzero(links_of_jobs(f, hosts))
    rows = rows[np.isin(f.device_a[rows], hosts) & f.is_switch[f.device_b[rows]]]
    bonded = rows[np.isin(f.device_a[rows], f.device_a[rows[f.link_bundle[rows] >= 0]])]
    plain = np.setdiff1d(rows, bonded)
    if len(bonded) and not len(plain):
        name = wires.devices.name[int(f.device_a[bonded[0]])]
        raise RailsUnfit(
            f"ports of {name} are in port channels: a bond is one RDMA device, whose network device the "
            "design does not name"
        )
    rails = link_rail(f)[plain]
    if not len(plain) or bool((rails < 0).any()):
        raise RailsUnfit("not every link of its hosts is of a rail")
    by_model = _rails_of_names(wires, plain, rails)
    taken = _names_in_port_channels(wires, bonded, by_model)
    pairs = {pair for names in by_model.values() for pair in names.items()}
    together = {name: rail for names in by_model.values() for name, rail in names.items()}
    if not taken & together.keys() and len(pairs) == len(together):
        return _by_rail(together, "")
    return tuple(
        found for model, names in sorted(by_model.items()) for found in _by_rail(names, f.models[model].name)
    )


def _by_rail(rail_of: Mapping[str, int], model: str) -> tuple[RailDevices, ...]:
    """Names of network devices by rail, of one host model or of all (``""``)."""
    return tuple(
        RailDevices(rail, tuple(name for name, of in rail_of.items() if of == rail), model)
        for rail in sorted(set(rail_of.values()))
    )


def _rails_of_names(wires: Wires, rows: Ints, rails: Ints) -> dict[int, dict[str, int]]:
    """By host model the rail of each network device."""
    f = wires.fabric
    out: dict[int, dict[str, int]] = {}
    seen: set[tuple[int, int, int]] = set()
    for row, rail in zip(rows.tolist(), rails.tolist(), strict=True):
        device, port = int(f.device_a[row]), int(f.link_a[row])
        model = int(f.device_model[device])
        kind = model, port - int(f.port_base[device]), rail
        if kind in seen:
            continue
        seen.add(kind)
        (name,) = wires.network_devices(np.array([port]))
        if not name:
            raise RailsUnfit(
                f"nothing says what the system of {wires.devices.name[device]} calls a network device"
            )
        known = out.setdefault(model, {})
        if known.setdefault(name, rail) != rail:
            raise RailsUnfit(f"{name} is of rail {known[name]} in some hosts and of rail {rail} in others")
    return out


def _names_in_port_channels(wires: Wires, rows: Ints, plain: Collection[int]) -> set[str]:
    """The network devices that port channels of hosts are made of, of models that are not among ``plain``."""
    f = wires.fabric
    names: set[str] = set()
    seen: set[tuple[int, int]] = set()
    for row in rows.tolist():
        device, port = int(f.device_a[row]), int(f.link_a[row])
        kind = int(f.device_model[device]), port - int(f.port_base[device])
        if kind[0] in plain:
            name, model = wires.devices.name[device], f.models[kind[0]].name
            raise RailsUnfit(
                f"ports of {name} are in port channels, and those of other hosts {model} are not"
            )
        if kind not in seen:
            seen.add(kind)
            names.update(filter(None, wires.network_devices(np.array([port]))))
    return names
