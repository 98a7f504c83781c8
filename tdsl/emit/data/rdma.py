"""The adapters of hosts that carry RDMA over Ethernet in a network, for accelerators or for storage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tdsl.emit.records import RdmaHost, RdmaNetwork
from tdsl.fabric.graph import Fabric
from tdsl.fabric.order import distinct_values
from tdsl.semantics.model import DeviceModel


def rdma_hosts(
    fabric: Fabric, models: Mapping[str, DeviceModel], roce: dict[str, object] | None
) -> list[RdmaHost]:
    """A record for each host model whose ports of Ethernet types, with a name of the operating system, have
    links to switches; none where the fabric says nothing of ``roce``. Ports with a plugin of their own, such
    as EFA's, carry RDMA in another way."""
    if roce is None:
        return []
    ends = (fabric.kind[fabric.device_a] == "host") & fabric.is_switch[fabric.device_b]
    out = []
    for index, (key, model) in enumerate(models.items()):
        rows = np.flatnonzero(ends & (fabric.device_model[fabric.device_a] == index))
        ports = distinct_values(fabric.link_a[rows] - fabric.port_base[fabric.device_a[rows]]).tolist()
        names: dict[str, None] = {}
        for port in ports:
            c = model.class_of(port)
            name = c.systems[port - c.first]
            if name and any(t.startswith("GE") for t in c.types):
                names[name] = None
        if names:
            network = RdmaNetwork(fabric.name, roce, tuple(names))
            out.append(RdmaHost(key, model.title or model.name, (network,)))
    return out


def join_rdma_hosts(hosts: Iterable[RdmaHost]) -> tuple[RdmaHost, ...]:
    """Each host model once, with its networks one after the other."""
    out: dict[str, RdmaHost] = {}
    for host in hosts:
        known = out.get(host.model)
        networks = (*(known.networks if known is not None else ()), *host.networks)
        out[host.model] = RdmaHost(host.model, host.title, networks)
    return tuple(out.values())
