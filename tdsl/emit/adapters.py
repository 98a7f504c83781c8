"""Which adapters the hosts of a model have in a network, in the order of their rails, and what kind of network that is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tdsl.emit.hosts import INFINIBAND
from tdsl.emit.records import Adapter, HostAdapters
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.rails import link_rail, rails
from tdsl.semantics.model import DeviceModel


def host_adapters(fabric: Fabric, models: Mapping[str, DeviceModel]) -> list[HostAdapters]:
    """One record for each host model with accelerators that has links to switches; none for a network inside of hosts."""
    if fabric.layer == "scaleup" or not fabric.link_count:
        return []
    parts = _parts(fabric)
    ends = (fabric.role == "accelerator") & (fabric.kind == "host")
    to_switch = ends[fabric.device_a] & fabric.is_switch[fabric.device_b]
    out = []
    for index, (key, model) in enumerate(models.items()):
        rows = np.flatnonzero(to_switch & (fabric.device_model[fabric.device_a] == index))
        found = _adapters(fabric, rows)
        if found:
            out.append(_record(fabric, key, model, rows, found, parts))
    return out


def _adapters(fabric: Fabric, rows: Ints) -> tuple[Adapter, ...]:
    """Devices by the names of the operating system, in the order of their ports."""
    rail = link_rail(fabric)
    plane = fabric.plane[fabric.device_b]
    seen: dict[str, tuple[set[int], set[int]]] = {}
    local = fabric.link_a[rows] - fabric.port_base[fabric.device_a[rows]]
    kinds = (local * (fabric.link_count + 1) + rail[rows] + 1) * (fabric.device_count + 1) + plane[rows] + 1
    for row in rows[np.unique(kinds, return_index=True)[1]].tolist():
        name = fabric.port_system(int(fabric.link_a[row]))
        if name:
            own = seen.setdefault(name, (set(), set()))
            own[0].add(int(rail[row]))
            own[1].add(int(plane[row]))
    return tuple(Adapter(name, _only(r), _only(p)) for name, (r, p) in seen.items())


def _only(values: set[int]) -> int | str:
    """The one value that is no -1, or ""."""
    return next(iter(values)) if len(values) == 1 and min(values) >= 0 else ""


def _record(fabric: Fabric, key: str, model: DeviceModel, rows: Ints, adapters: tuple[Adapter, ...], parts: Ints) -> HostAdapters:
    hosts, switches = fabric.device_a[rows], fabric.device_b[rows]
    types = {t for port in np.unique(fabric.link_a[rows] - fabric.port_base[hosts]).tolist() for t in model.class_of(port).types}
    return HostAdapters(
        host=key,
        title=model.title or model.name,
        adapters=adapters,
        rails=rails(fabric),
        planes=len({a.plane for a in adapters if a.plane != ""}),
        joined=len(np.unique(parts[switches])) == 1,
        narrow=_narrow(fabric, switches),
        shared=len(np.unique(hosts * fabric.device_count + switches)) == len(np.unique(hosts)),
        verbs=bool(types & INFINIBAND) or all(t.startswith("GE") for t in types),
        scaleup=any(link.layer == "scaleup" for link in model.links),
        layout=bool(model.layout),
    )


def _parts(fabric: Fabric) -> Ints:
    """A number for every device, the same for two switches that links between switches join."""
    between = fabric.is_switch[fabric.device_a] & fabric.is_switch[fabric.device_b]
    a, b = fabric.device_a[between], fabric.device_b[between]
    label = np.arange(fabric.device_count)
    while True:
        low = np.minimum(label[a], label[b])
        after = label.copy()
        np.minimum.at(after, a, low)
        np.minimum.at(after, b, low)
        after = after[after]
        if np.array_equal(after, label):
            return label
        label = after


def _narrow(fabric: Fabric, met: Ints) -> bool:
    """Whether one of these switches has less capacity to other switches than to hosts, though it has some."""
    wanted: Bools = np.zeros(fabric.device_count, dtype=np.bool_)
    wanted[met] = True
    down = np.bincount(fabric.device_b, weights=fabric.link_rate * fabric.is_end[fabric.device_a], minlength=fabric.device_count)
    between = fabric.is_switch[fabric.device_a] & fabric.is_switch[fabric.device_b]
    up = np.bincount(fabric.device_a, weights=fabric.link_rate * between, minlength=fabric.device_count)
    return bool(((up > 0) & (up < down) & wanted).any())
