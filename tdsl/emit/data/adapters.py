"""Which adapters the hosts of a model have in a network, in the order of their rails, and what kind of
network that is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tdsl.emit.data.hosts import gpu_vendor
from tdsl.emit.records import Adapter, HostAdapters
from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.rails import link_rail, rail_count
from tdsl.fabric.subnets import INFINIBAND
from tdsl.fabric.subnets import switched_components as part_numbers
from tdsl.semantics.model import DeviceModel


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
    ends = (fabric.role == "accelerator") & (fabric.kind == "host")
    to_switch = ends[fabric.device_a] & fabric.is_switch[fabric.device_b]
    out = []
    for index, (key, model) in enumerate(models.items()):
        rows = np.flatnonzero(to_switch & (fabric.device_model[fabric.device_a] == index))
        placed = [c for c in model.classes if any(n.name == c.name for n in model.layout)] or model.classes[
            :1
        ]
        local = fabric.link_a[rows] - fabric.port_base[fabric.device_a[rows]]
        rows = rows[np.isin(local, [k for c in placed for k in range(c.first, c.first + c.size)])]
        found, joined = _adapters_by_system_name(fabric, rows, parts)
        if found:
            out.append(_host_adapters_record(fabric, key, model, rows, found, joined))
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
            ))  # fmt: skip
    return out


def _adapters_by_system_name(fabric: Fabric, rows: Ints, parts: Ints) -> tuple[tuple[Adapter, ...], bool]:
    """Devices by the names of the operating system, in the order of their ports; whether a part of the
    network joins all."""
    switch = fabric.device_b[rows]
    facts = np.stack(
        (
            fabric.link_a[rows] - fabric.port_base[fabric.device_a[rows]],
            link_rail(fabric)[rows],
            fabric.plane[switch],
            parts[switch],
        )
    )
    seen: dict[str, list[set[int]]] = {}
    for at in _first_of_each_kind(facts):
        name = fabric.port_system(int(fabric.link_a[rows[at]]))
        if name:
            for known, value in zip(
                seen.setdefault(name, [set(), set(), set()]), facts[1:, at].tolist(), strict=True
            ):
                known.add(value)
    adapters = tuple(
        Adapter(name, _only_known_value(rail), _only_known_value(plane))
        for name, (rail, plane, _) in seen.items()
    )
    return adapters, bool(seen) and bool(set.intersection(*(part for _, _, part in seen.values())))


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


def _host_adapters_record(
    fabric: Fabric, key: str, model: DeviceModel, rows: Ints, adapters: tuple[Adapter, ...], joined: bool
) -> HostAdapters:
    hosts, switches = fabric.device_a[rows], fabric.device_b[rows]
    types = {
        t
        for port in distinct_values(fabric.link_a[rows] - fabric.port_base[hosts]).tolist()
        for t in model.class_of(port).types
    }
    domain_hosts, domain_accelerators = _largest_domain_sizes(fabric, hosts)
    return HostAdapters(
        host=key,
        title=model.title or model.name,
        adapters=adapters,
        rails=rail_count(fabric),
        planes=len({a.plane for a in adapters if a.plane != ""}),
        joined=joined,
        narrow=_has_oversubscribed_switch(fabric, switches),
        shared=len(distinct_values(hosts * fabric.device_count + switches)) == len(distinct_values(hosts)),
        verbs=bool(types & INFINIBAND) or all(t.startswith("GE") for t in types),
        scaleup=any(link.layer == "scaleup" for link in model.links) or domain_hosts > 1,
        layout=bool(model.layout),
        gpu_vendor=gpu_vendor(model),
        domain_hosts=domain_hosts,
        domain_accelerators=domain_accelerators,
    )


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
