"""What the networks of a cluster are for: which of them carry the traffic of accelerators."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import SCALEUP


def is_compute_network(fabric: Fabric) -> bool:
    """Whether a fabric carries the traffic of accelerators. One that stands alone does.

    In a cluster `purpose` says it. Where no fabric is said to be for compute, it is each to which a host's
    adapters for its accelerators lead: the ports that its layout places beside them, else those of its first
    class. Where they lead to several fabrics, those count in which a host has most bits per second. In a
    cluster without accelerators these are the fabrics in which a host has most.
    """
    if fabric.cluster is None or fabric.purpose:
        return fabric.purpose in ("", "compute")
    if fabric.layer == SCALEUP:
        return True
    members = [f for f in fabric.cluster.members if f.layer != SCALEUP]
    if any(f.purpose == "compute" for f in members):
        return False
    rates = [host_rate(f.network, True) for f in members if not f.purpose]
    adapters = any(rates)
    most = max(rates if adapters else (host_rate(f.network, False) for f in members if not f.purpose))
    return host_rate(fabric.network, adapters) == most


def host_rate(fabric: Fabric, accelerators: bool) -> int:
    """Bits per second of the links of a host, or of a chip by itself, that has most. With ``accelerators``
    those of the adapters beside them, else those of all hosts but of storage and managers."""
    f = fabric
    a, b = (
        _is_adapter_end(f, ports) if accelerators else _is_host_end(f, ports)
        for ports in (f.link_a, f.link_b)
    )
    devices = np.concatenate([f.device_a[a], f.device_b[b]])
    rates = np.concatenate([f.link_rate[a], f.link_rate[b]])
    holder = np.where(f.container[devices] >= 0, f.container[devices], devices)
    total: dict[int, int] = {}
    for device, rate in zip(holder.tolist(), rates.tolist(), strict=True):
        total[device] = total.get(device, 0) + rate
    return max(total.values(), default=0)


def _is_adapter_end(fabric: Fabric, ports: Ints) -> Bools:
    """Which of these ends of links are ports of accelerators, or adapters of hosts with accelerators."""
    device = fabric.port_device[ports]
    local = ports - fabric.port_base[device]
    out = np.zeros(len(ports), dtype=np.bool_)
    for number, model in enumerate(fabric.models):
        if not model.accelerators:
            continue
        placed = [c for c in model.classes if any(n.name == c.name for n in model.layout)]
        mine = fabric.device_model[device] == number
        for c in placed or model.classes[:1]:
            out |= mine & (local >= c.first) & (local < c.first + c.size)
    other: Bools = (fabric.role[device] == "storage") | fabric.is_switch[device]
    return out & ~other


def _is_host_end(fabric: Fabric, ports: Ints) -> Bools:
    """Which of these ends of links are at hosts or chips, but those of storage and managers."""
    device = fabric.port_device[ports]
    found: Bools = fabric.is_end[device] & ~np.isin(fabric.role[device], ("storage", "manager"))
    return found
