"""Which networks of a host each of its accelerators reaches, where no switch joins them: by an adapter near
it, or over scale-up links (NVLink, xGMI) by a neighbour that has one.

Where rails or planes are networks of their own, a rank sends to another rail from a neighbour of its own host
(PXN), and what that cannot do goes through the processors (NCCL 2.30.7, src/graph/paths.cc,
ncclTopoComputePaths: a relay is one NVLink away and near the adapter).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.subnets import switched_components
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass

Adapter = tuple[str, int]
"""A port class and the number of the adapter in it."""


@dataclass(frozen=True, slots=True)
class UnreachedNetwork:
    """An accelerator of a host (a device row) that reaches some networks of its host, and not that of
    ``link`` (a row of the network's links); ``hosts`` are wired so."""

    host: int
    accelerator: str
    link: int
    hosts: int


@dataclass(frozen=True, slots=True)
class RailAccess:
    """What is known of hosts whose adapters no switch joins. ``of`` are all such hosts, ``judged`` those
    whose models say enough, ``joined`` of these the ones whose accelerators all share scale-up links;
    ``reason`` says what the others lack."""

    of: int = 0
    judged: int = 0
    joined: int = 0
    reason: str = ""
    unreached: tuple[UnreachedNetwork, ...] = ()


def adapter_links(fabric: Fabric, model_index: int) -> Ints:
    """The links of a host model's adapters to switches: of the ports that its layout places, or without a
    layout of those of its first class."""
    f, model = fabric, fabric.models[model_index]
    ends = (f.role == "accelerator") & (f.kind == "host") & (f.device_model == model_index)
    rows = np.flatnonzero(ends[f.device_a] & f.is_switch[f.device_b])
    placed = [c for c in model.classes if any(n.name == c.name for n in model.layout)] or model.classes[:1]
    local = f.link_a[rows] - f.port_base[f.device_a[rows]]
    chosen: Ints = rows[np.isin(local, [k for c in placed for k in range(c.first, c.first + c.size)])]
    return chosen


def has_separate_networks(fabric: Fabric) -> bool:
    """Whether hosts with several accelerators meet switches that no link between switches joins."""
    f = fabric.network
    several = np.array([m.kind == "host" and m.accelerators > 1 for m in f.models], dtype=np.bool_)
    if not several.any() or not f.link_count:
        return False
    rows = several[f.device_model[f.device_a]] & f.is_switch[f.device_b]
    return len(distinct_values(switched_components(f)[f.device_b[rows]])) > 1


def rail_access(fabric: Fabric, model: int | None = None) -> RailAccess:
    """What the accelerators of hosts reach of networks that no switch joins; of the hosts of one ``model``
    (an index) or of all."""
    if not has_separate_networks(fabric):
        return RailAccess()
    f = fabric.network
    parts = switched_components(f)
    labels = fabric.domains.inside
    found = RailAccess()
    for index, m in enumerate(f.models):
        if m.kind == "host" and m.accelerators > 1 and model in (None, index):
            found = _sum_of_access(
                found, _access_of_model(f, index, parts, labels.host, labels.label[labels.node])
            )
    return found


def _sum_of_access(a: RailAccess, b: RailAccess) -> RailAccess:
    return RailAccess(
        a.of + b.of, a.judged + b.judged, a.joined + b.joined, a.reason or b.reason, a.unreached + b.unreached
    )


def _access_of_model(f: Fabric, index: int, parts: Ints, owner: Ints, label: Ints) -> RailAccess:
    """The hosts of one model. ``owner`` and ``label`` are the host and the scale-up domain of each
    accelerator, those of a host together and in the order of its model."""
    model, rows = f.models[index], adapter_links(f, index)
    hosts = distinct_values(f.device_a[rows])
    mine = np.isin(owner, hosts)
    hosts = hosts[np.bincount(owner[mine], minlength=f.device_count)[hosts] == model.accelerators]
    rows = rows[np.isin(f.device_a[rows], hosts)]
    if not len(rows):
        return RailAccess()
    mine = np.isin(owner, hosts)
    order = np.argsort(owner[mine], kind="stable")
    domains = label[mine][order].reshape(len(hosts), model.accelerators)
    network = np.full((len(hosts), model.port_count), -1, dtype=np.int64)
    link = np.full((len(hosts), model.port_count), -1, dtype=np.int64)
    place = np.searchsorted(hosts, f.device_a[rows]), f.link_a[rows] - f.port_base[f.device_a[rows]]
    network[place], link[place] = parts[f.device_b[rows]], rows
    used = np.flatnonzero((network >= 0).any(axis=0))
    classes = np.concatenate((_first_equal_column(network[:, used]), _first_equal_column(domains)), axis=1)
    _, first, count = np.unique(classes, axis=0, return_index=True, return_counts=True)
    found, adapters = RailAccess(), [_adapter_of_port(model, int(p)) for p in used]
    for at, number in sorted(zip(first.tolist(), count.tolist(), strict=True)):
        networks: dict[Adapter, set[int]] = {}
        for adapter, value in zip(adapters, network[at, used].tolist(), strict=True):
            if value >= 0:
                networks.setdefault(adapter, set()).add(value)
        if set.intersection(*networks.values()):
            continue
        whole = _access_of_host(model, networks, domains[at])
        if isinstance(whole, str):
            found = _sum_of_access(found, RailAccess(of=number, reason=whole))
            continue
        missing = tuple(
            UnreachedNetwork(int(hosts[at]), name, int(link[at, used][network[at, used] == part][0]), number)
            for name, part in whole
        )
        joined = number * bool((domains[at] == domains[at, 0]).all())
        found = _sum_of_access(found, RailAccess(number, number, joined, "", missing))
    return found


def _first_equal_column(values: Ints) -> Ints:
    """For each cell the first column of its row with the same value, -1 for -1."""
    out = np.full(values.shape, -1, dtype=np.int64)
    for k in range(values.shape[1]):
        todo: Bools = values[:, k] >= 0
        for j in range(k):
            same = todo & (values[:, j] == values[:, k])
            out[same, k] = j
            todo &= ~same
        out[todo, k] = k
    return out


def _adapter_of_port(model: DeviceModel, port: int) -> Adapter:
    """The adapter that a port of a model belongs to: a split port is one adapter of several."""
    own = model.class_of(port)
    before = sum(c.size // c.split for c in model.parts(own.name) if c.first < own.first)
    return own.name, before + (port - own.first) // own.split


def _hides_scale_up_links(model: DeviceModel, domains: Ints) -> bool:
    """Whether accelerators of a host have NVLink ports and the model does not say where these lead."""
    ports = {t for c in model.chips if c.accelerates for p in c.model.classes for t in p.types}
    linked = len(distinct_values(domains)) < len(domains) or any(x.layer == "scaleup" for x in model.links)
    return any(t.startswith("NVLINK") for t in ports) and not linked


def _networks_of_domains(
    near: Mapping[Adapter, Sequence[int]], networks: Mapping[Adapter, set[int]], domains: Ints
) -> dict[int, set[int]]:
    """The networks that each scale-up domain reaches by the adapters beside its accelerators."""
    reached: dict[int, set[int]] = {}
    for adapter, beside in near.items():
        for k in beside:
            reached.setdefault(int(domains[k]), set()).update(networks[adapter])
    return reached


def _access_of_host(
    model: DeviceModel, networks: Mapping[Adapter, set[int]], domains: Ints
) -> list[tuple[str, int]] | str:
    """The accelerators of a host with the networks that each does not reach, though it reaches others; or
    what the model lacks. ``domains`` has the scale-up domain of each accelerator."""
    accelerators = [(c.name, i) for c in model.chips if c.accelerates for i in range(c.size)]
    if (domains == domains[0]).all():
        return []
    if _hides_scale_up_links(model, domains):
        return f"model `{model.name}` does not say where its NVLinks lead"
    near = _nearest_accelerators(model, accelerators, list(networks))
    if near is None:
        return f"model `{model.name}` does not say which adapter is beside which accelerator"
    every = set().union(*networks.values())
    reached = _networks_of_domains(near, networks, domains)
    out = []
    for k, (name, i) in enumerate(accelerators):
        mine = reached.get(int(domains[k]), set())
        several = sum(a == name for a, _ in accelerators) > 1
        out += [(f"{name}[{i}]" if several else name, part) for part in sorted(every - mine) if mine]
    return out


def _nearest_accelerators(
    model: DeviceModel, accelerators: Sequence[Adapter], adapters: Sequence[Adapter]
) -> dict[Adapter, list[int]] | None:
    """The accelerators nearest to each adapter: those with which it shares the lowest PCIe switch or NUMA
    node, all where it shares none; None where the layout leaves a device out."""
    above = {(n.name, n.index): n.on for n in model.layout}
    if any(device not in above for device in (*accelerators, *adapters)):
        return None

    def ancestors(device: Adapter) -> list[Adapter]:
        out, on = [], above.get(device)
        while on is not None:
            out.append(on)
            on = above.get(on)
        return out[::-1]

    chains = [ancestors(a) for a in accelerators]
    out = {}
    for adapter in adapters:
        own = ancestors(adapter)
        shared = [sum(x == y for x, y in zip(own, chain, strict=False)) for chain in chains]
        out[adapter] = [k for k, n in enumerate(shared) if n == max(shared)]
    return out
