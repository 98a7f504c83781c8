"""The adapters of hosts that carry RDMA over Ethernet in a network, for accelerators or for storage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np

from tdsl.emit.records import RdmaHost, RdmaNetwork
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.semantics.model import DeviceModel, PortClass

MLX5_BOND = "mlx5_bond"
"""How the names of the RDMA devices of port channels begin: two ports of one mlx5 adapter that are all
members of a bond are one device (Linux, drivers/infiniband/hw/mlx5/main.c, ``mlx5_ib_stage_ib_reg_init``;
NVIDIA, RoCE LAG). It takes all ports of the bond to be of that adapter (the commit "net/mlx5: Implement
RoCE LAG feature"): those of several adapters keep a device each."""


def is_mlx5_device(name: str) -> bool:
    """Whether this is the name that Linux gives to an RDMA device of an mlx5 adapter."""
    return re.fullmatch(r"mlx5_\d+", name) is not None


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
        inside = rows[bonds_on_one_adapter(fabric, model, rows)]
        bonded = set((fabric.link_a[inside] - fabric.port_base[fabric.device_a[inside]]).tolist())
        found = [_name_for_priorities(model.class_of(p), p, p in bonded) for p in ports]
        names = tuple(dict.fromkeys(name for name in found if name))
        unnamed = None in found
        if names or unnamed:
            network = RdmaNetwork(fabric.name, roce, names, unnamed)
            out.append(RdmaHost(key, model.title or model.name, (network,)))
    return out


def bonds_on_one_adapter(fabric: Fabric, model: DeviceModel, rows: Ints) -> Bools:
    """Which of these links, whose first ends are ports of hosts of a model, are of a bond on one adapter: of
    any bond but those whose ports the model places in several PCIe slots (``bus``)."""
    bundle = fabric.link_bundle[rows]
    out: Bools = bundle >= 0
    slots = _slots_of_ports(model)
    ports = fabric.link_a[rows] - fabric.port_base[fabric.device_a[rows]]
    of_bundle: dict[int, set[str]] = {}
    for number, port in zip(bundle[out].tolist(), ports[out].tolist(), strict=True):
        of_bundle.setdefault(number, set()).add(slots.get(port, ""))
    apart = [number for number, found in of_bundle.items() if len(found) > 1 and "" not in found]
    return out & ~np.isin(bundle, apart)


def _slots_of_ports(model: DeviceModel) -> dict[int, str]:
    """The PCIe slot, ``0000:1b:00``, of each port of a model whose adapter has a ``bus``; its functions share
    it."""
    out: dict[int, str] = {}
    for node in model.layout:
        classes = model.parts(node.name)
        slot = str(node.facts.get("bus", "")).rpartition(".")[0]
        if len(classes) == 1 and slot:
            (c,) = classes
            lanes = range(node.index * c.split, min((node.index + 1) * c.split, c.size))
            out.update((c.first + lane, slot) for lane in lanes)
    return out


def _name_for_priorities(ports: PortClass, port: int, bonded: bool) -> str | None:
    """The name by which a host finds a port of its model: that of its RDMA device, or in a port channel of
    its network device, None where that is not known; "" for a port without any name, or of other types. A
    bond on one mlx5 adapter has an RDMA device of another name."""
    name = ports.systems[port - ports.first]
    if not name or not any(t.startswith("GE") for t in ports.types):
        return ""
    if not bonded:
        return name
    return ports.netdev(port - ports.first) or (None if is_mlx5_device(name) else name)


def join_rdma_hosts(hosts: Iterable[RdmaHost]) -> tuple[RdmaHost, ...]:
    """Each host model once, with its networks one after the other."""
    out: dict[str, RdmaHost] = {}
    for host in hosts:
        known = out.get(host.model)
        networks = (*(known.networks if known is not None else ()), *host.networks)
        out[host.model] = RdmaHost(host.model, host.title, networks)
    return tuple(out.values())
