"""Which adapters the hosts of a model have in a network, in the order of their rails, and what kind of
network that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tdsl.emit.data.hosts import gpu_vendor
from tdsl.emit.data.rdma import MLX5_BOND, bonds_on_one_adapter, is_mlx5_device
from tdsl.emit.records import Adapter, HostAdapters
from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.rail_access import adapter_links, rail_access
from tdsl.fabric.rails import link_rail, rail_count
from tdsl.fabric.subnets import INFINIBAND, infiniband_ports
from tdsl.fabric.subnets import switched_components as part_numbers
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.transport import TRANSPORTS


def host_adapters(fabric: Fabric, models: Mapping[str, DeviceModel]) -> list[HostAdapters]:
    """One record for each host model with accelerators whose adapters have links to switches.

    Its adapters are the ports that its layout places; without a layout, those of its first class. So a
    network of storage or management over the same hosts has none. In a network of accelerators alone, hosts
    that share a scale-up domain have a record without adapters.
    """
    if not fabric.link_count:
        return []
    if fabric.layer == "scaleup":
        return _host_models_in_domains(fabric, models)
    parts = part_numbers(fabric)
    out = []
    for index, (key, model) in enumerate(models.items()):
        if model.kind != "host" or not model.accelerators:
            continue
        rows = adapter_links(fabric, index)
        bonded = bonds_on_one_adapter(fabric, model, rows)
        found, joined = _adapters_by_system_name(fabric, rows, parts, bonded)
        if found:
            out.append(_host_adapters_record(fabric, (key, index), rows, found, joined))
    return out


def _host_models_in_domains(fabric: Fabric, models: Mapping[str, DeviceModel]) -> list[HostAdapters]:
    """Host models of which several hosts share a scale-up domain, in a network that has no adapters."""
    chips = np.flatnonzero((fabric.kind == "chip") & (fabric.container >= 0))
    ends = np.append(fabric.device_a, chips), np.append(fabric.device_b, fabric.container[chips])
    label = component_labels(fabric.device_count, *ends)
    out = []
    for index, (key, model) in enumerate(models.items()):
        hosts = np.flatnonzero((fabric.kind == "host") & fabric.built & (fabric.device_model == index))
        domain_hosts = int(np.bincount(label[hosts]).max()) if len(hosts) else 0
        if domain_hosts > 1 and model.accelerators:
            out.append(HostAdapters(
                host=key, title=model.title or model.name, adapters=(), rails=0, planes=0, joined=False,
                narrow=False, shared=False, verbs=False, scaleup=True, layout=bool(model.layout),
                gpu_vendor=gpu_vendor(model),
                domain_hosts=domain_hosts, domain_accelerators=domain_hosts * model.accelerators,
                **_facts_of_host(model),
            ))  # fmt: skip
    return out


def _facts_of_host(model: DeviceModel) -> dict[str, Any]:
    """What a model says of itself, as fields of its record."""
    note, unconfirmed = model.facts.get("note", ""), model.facts.get("unconfirmed", ())
    said = unconfirmed if isinstance(unconfirmed, tuple) else (unconfirmed,)
    return {
        "note": note if isinstance(note, str) else "",
        "certain": "os" not in map(str, said),
        "virtual": str(model.facts.get("machine", "")) == "virtual",
    }


def _adapters_by_system_name(
    fabric: Fabric, rows: Ints, parts: Ints, bonded: Bools
) -> tuple[tuple[Adapter, ...], bool]:
    """Devices by the names of the operating system, in the order of their ports, a port without a name by
    itself; whether a part of the network joins all. ``bonded`` says of each link whether it is of a bond on
    one adapter."""
    switch = fabric.device_b[rows]
    facts = np.stack(
        (
            fabric.link_a[rows] - fabric.port_base[fabric.device_a[rows]],
            link_rail(fabric)[rows],
            fabric.plane[switch],
            parts[switch],
            bonded,
        )
    )
    seen: dict[tuple[str, int], list[set[int]]] = {}
    for at in _first_of_each_kind(facts):
        name = fabric.port_system(int(fabric.link_a[rows[at]]))
        key = (name, -1 if name else int(facts[0, at]))
        for known, value in zip(
            seen.setdefault(key, [set(), set(), set(), set()]), facts[1:, at].tolist(), strict=True
        ):
            known.add(value)
    adapters = tuple(
        Adapter(name, _only_known_value(rail), _only_known_value(plane), 1 in lag, 0 in lag)
        for (name, _), (rail, plane, _, lag) in seen.items()
    )
    return adapters, bool(seen) and bool(set.intersection(*(part for _, _, part, _ in seen.values())))


def _first_of_each_kind(facts: Ints) -> list[int]:
    """A column of each kind that there is, those with the lowest first row first."""
    key = np.zeros(facts.shape[1], dtype=np.int64)
    for row in facts:
        values, place = np.unique(row, return_inverse=True)
        key = np.unique(key * len(values) + place, return_inverse=True)[
            1
        ]  # stays below the number of columns squared
    order = np.unique(key, return_index=True)[1]
    return sorted(order.tolist(), key=lambda k: (int(facts[0, k]), k))


def _only_known_value(values: set[int]) -> int | str:
    """The one value that is no -1, or ""."""
    return next(iter(values)) if len(values) == 1 and min(values) >= 0 else ""


def _are_types_of_verbs(types: set[str]) -> bool:
    """Whether adapters with ports of these types are used by verbs: some are InfiniBand, or all Ethernet."""
    return bool(types & INFINIBAND) or all(t.startswith("GE") for t in types)


def _host_adapters_record(
    fabric: Fabric, of: tuple[str, int], rows: Ints, adapters: tuple[Adapter, ...], joined: bool
) -> HostAdapters:
    """The record of a model, given as its key and its row."""
    key, index = of
    model = fabric.models[index]
    hosts, switches = fabric.device_a[rows], fabric.device_b[rows]
    types = {
        t
        for port in distinct_values(fabric.link_a[rows] - fabric.port_base[hosts]).tolist()
        for t in model.class_of(port).types
    }
    domain_hosts, domain_accelerators = _largest_domain_sizes(fabric, hosts)
    names, bonds = [a.name for a in adapters], [a.name for a in adapters if a.bonded]
    by = TRANSPORTS[fabric.transport].nccl if fabric.transport_stated else ""
    access = rail_access(fabric, index) if not joined else None
    return HostAdapters(
        host=key,
        title=model.title or model.name,
        adapters=adapters,
        rails=rail_count(fabric),
        planes=len({a.plane for a in adapters if a.plane != ""}),
        joined=joined,
        narrow=_has_oversubscribed_switch(fabric, switches),
        shared=len(distinct_values(hosts * fabric.device_count + switches)) == len(distinct_values(hosts)),
        verbs=by in ("", "verbs") and _are_types_of_verbs(types),
        nccl=by,
        scaleup=any(link.layer == "scaleup" for link in model.links) or domain_hosts > 1,
        layout=bool(model.layout),
        gpu_vendor=gpu_vendor(model),
        domain_hosts=domain_hosts,
        domain_accelerators=domain_accelerators,
        accelerators_joined=access is None or access.joined == access.of,
        named=all(names),
        prefix=_common_beginning(names).rstrip("0123456789"),
        rdma=_are_names_of_rdma(fabric, model, rows),
        bonded=bool(bonds),
        bond_prefix=MLX5_BOND if bonds and all(is_mlx5_device(name) for name in bonds) else "",
        **_facts_of_host(model),
    )


def _are_names_of_rdma(fabric: Fabric, model: DeviceModel, rows: Ints) -> bool:
    """Whether the model's names of the ports of these links are none of network devices. Those of InfiniBand
    ports name RDMA devices."""
    ports = fabric.link_a[rows]
    ethernet = ports[~(infiniband_ports(fabric, ports) & infiniband_ports(fabric, fabric.link_b[rows]))]
    for port in distinct_values(ethernet - fabric.port_base[fabric.port_device[ethernet]]).tolist():
        c = model.class_of(port)
        if c.netdev(port - c.first) == c.systems[port - c.first]:
            return False
    return True


def _common_beginning(names: Sequence[str]) -> str:
    """What all names begin with: what the first and the last of them in alphabetical order do."""
    low, high = min(names), max(names)
    return low[: next((k for k, c in enumerate(low) if high[k : k + 1] != c), len(low))]


def _largest_domain_sizes(fabric: Fabric, hosts: Ints) -> tuple[int, int]:
    """Hosts and accelerators of the largest scale-up domain of some hosts; 0 where it is one host, or there
    is none."""
    label = fabric.domains.of_device
    ends = np.flatnonzero(
        fabric.built & (fabric.kind == "host") & np.isin(label, label[hosts]) & (label >= 0)
    )
    if not len(ends):
        return 0, 0
    each = np.array([m.accelerators for m in fabric.models], dtype=np.int64)[fabric.device_model[ends]]
    sizes = np.bincount(label[ends])
    most = int(sizes.argmax())
    return (int(sizes[most]), int(each[label[ends] == most].sum())) if sizes[most] > 1 else (0, 0)


def _has_oversubscribed_switch(fabric: Fabric, met: Ints) -> bool:
    """Whether one of these switches has less capacity to other switches than to hosts, though it has some."""
    met = distinct_values(met)
    down = np.bincount(
        fabric.device_b,
        weights=fabric.link_rate * fabric.is_end[fabric.device_a],
        minlength=fabric.device_count,
    )
    between = fabric.is_switch[fabric.device_a] & fabric.is_switch[fabric.device_b]
    up = np.bincount(fabric.device_a, weights=fabric.link_rate * between, minlength=fabric.device_count)
    return bool(((up[met] > 0) & (up[met] < down[met])).any())
