"""The fabric as schedulers see it: hosts in groups, groups in groups, a tree in which each host is in one
group.

Rails, planes and the switches of one tier beside each other are one group: what they join is equally near.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from tdsl.emit.link_tables import Wires
from tdsl.emit.records import HostGroup
from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import scaleup_links
from tdsl.fabric.order import distinct_values
from tdsl.semantics.model import DeviceModel


def host_groups(wires: Wires) -> tuple[tuple[HostGroup, ...], ...]:
    """Levels of groups, nearest to the hosts first; a group is named after its first switch. The last level
    has one group for each part of the fabric that no link joins to another. No levels where no built host
    meets a switch.

    Hosts are those with accelerators, or all where none has; a level that groups nothing more than the one
    below is left out. What a job's traffic does not take joins nothing: managers, storage, and the ports of
    hosts that are not of the adapters of their accelerators.
    """
    f = wires.fabric
    hosts, names = schedulable_hosts(f), wires.devices.name
    members: list[tuple[int, ...]] = []
    levels: list[tuple[HostGroup, ...]] = []
    for level in group_levels(f):
        of = level.label[hosts]
        switches = np.flatnonzero(f.is_switch & f.built & (f.tier <= max(level.tier, 1)))
        order, where = np.unique(of, return_index=True)
        made, inside = [], []
        for group in order[np.argsort(where)].tolist():
            rows = np.flatnonzero(of == group)
            near = switches[level.label[switches] == group]
            top = near[f.tier[near] == f.tier[near].max()] if len(near) else near
            name = str(names[top[0]]) if len(top) else str(names[hosts[rows[0]]])
            below = (
                tuple(g.name for g, m in zip(levels[-1], members, strict=True) if set(m) & set(rows.tolist()))
                if levels
                else ()
            )
            made.append(HostGroup(name, tuple(str(n) for n in names[hosts[rows]].tolist()), below))
            inside.append(tuple(rows.tolist()))
        levels.append(_groups_with_distinct_names(made, levels))
        members = inside
    return tuple(levels)


class GroupLevel(NamedTuple):
    """A level of groups: the highest tier of switches whose links count, whether links between switches of
    one tier do, and for each device a number that those of its group share."""

    tier: int
    beside: bool
    label: Ints


def group_levels(f: Fabric) -> list[GroupLevel]:
    """The levels of ``host_groups``, nearest to the hosts first; those that join no more hosts than the one
    below are left out."""
    hosts = schedulable_hosts(f)
    if not len(hosts):
        return []
    high = int(f.tier[f.is_switch & f.built].max(initial=1))
    of_jobs = links_of_jobs(f, hosts)
    out: list[GroupLevel] = []
    groups = len(hosts)
    for tier in range(1, high + 2):
        label = _lowest_joined_device(f, _links_counted_at_tier(f, tier, high) & of_jobs)
        joined = len(distinct_values(label[hosts]))
        if joined == groups and out:
            continue
        out.append(GroupLevel(tier, tier > high, label))
        groups = joined
        if groups == 1:
            break
    return out


def hosts_without_common_switch(wires: Wires) -> tuple[str, str] | None:
    """Two hosts of one group of the lowest level that have no switch in common: others of the group, with
    links to switches of both, join them. None where every two hosts of a group have one."""
    f = wires.fabric
    hosts = schedulable_hosts(f)
    if not len(hosts):
        return None
    high = int(f.tier[f.is_switch & f.built].max(initial=1))
    counted = links_of_jobs(f, hosts) & _links_counted_at_tier(f, 1, high)
    links, label = np.flatnonzero(counted), _lowest_joined_device(f, counted)
    near: dict[int, set[int]] = {h: set() for h in hosts.tolist()}
    for a, b in zip(f.device_a[links].tolist(), f.device_b[links].tolist(), strict=True):
        if a in near and f.is_switch[b]:
            near[a].add(b)
    groups: dict[
        int, dict[frozenset[int], int]
    ] = {}  # of each group the first host with each set of switches
    for h, switches in near.items():
        groups.setdefault(int(label[h]), {}).setdefault(frozenset(switches), h)
    for kinds in groups.values():
        for one, other in combinations(kinds, 2):
            if not one & other:
                names = wires.devices.name
                return str(names[kinds[one]]), str(names[kinds[other]])
    return None


def host_domains(wires: Wires) -> tuple[HostGroup, ...]:
    """The scale-up domains of several hosts, each named after the first switch of its links or else after its
    first host."""
    f = wires.fabric
    hosts, names = schedulable_hosts(f), wires.devices.name
    of = f.domains.of_device[hosts]
    whole = f.whole if f.whole is not None else f
    up = np.flatnonzero(scaleup_links(whole))
    a, b = whole.device_a[up], whole.device_b[up]
    out: list[HostGroup] = []
    for domain in distinct_values(of[of >= 0]).tolist():
        mine = hosts[of == domain]
        if len(mine) < 2:
            continue
        member = f.domains.of_device == domain
        near = np.concatenate((b[member[a] & whole.is_switch[b]], a[member[b] & whole.is_switch[a]]))
        members = tuple(str(n) for n in names[mine].tolist())
        out.append(HostGroup(str(names[near.min()]) if len(near) else members[0], members, ()))
    return tuple(out)


def host_blocks(
    domains: tuple[HostGroup, ...], levels: tuple[tuple[HostGroup, ...], ...]
) -> tuple[HostGroup, ...]:
    """Groups of hosts for jobs that want the nearest neighbours: ``domains``, and what is in none of them by
    the lowest of ``levels``."""
    out = list(domains)
    placed = {h for d in domains for h in d.hosts}
    for g in levels[0] if levels else ():
        left = tuple(h for h in g.hosts if h not in placed)
        out += [HostGroup(g.name, left, ())] if left else []
    return tuple(out)


def nested_host_groups(
    domains: tuple[HostGroup, ...], levels: tuple[tuple[HostGroup, ...], ...]
) -> tuple[tuple[HostGroup, ...], ...]:
    """``levels`` above the scale-up ``domains``, for schedulers that know one tree: the lowest level is that
    of `host_blocks`. A level that would part the hosts of a block is left out, and so is one that groups
    nothing more than the level below. Without domains, ``levels`` as they are."""
    if not domains:
        return levels
    out = [_groups_with_distinct_names(list(host_blocks(domains, levels)), [])]
    for level in levels:
        group_of = {host: n for n, group in enumerate(level) for host in group.hosts}
        below: list[list[str]] = [[] for _ in level]
        parted = False
        for block in out[-1]:
            above = {group_of.get(host, -1) for host in block.hosts}
            parted |= len(above) > 1 or -1 in above
            below[min(above)].append(block.name)
        if not parted and len(level) < len(out[-1]):
            made = [HostGroup(g.name, g.hosts, tuple(n)) for g, n in zip(level, below, strict=True)]
            out.append(_groups_with_distinct_names(made, out))
    return tuple(out)


def schedulable_hosts(f: Fabric) -> Ints:
    """Hosts with accelerators that have a link to a switch, or all hosts that have one where none has
    accelerators."""
    asked = f.built & (f.kind == "host") & (f.role == "accelerator")
    if not asked.any():
        asked = f.built & (f.kind == "host")
    return np.flatnonzero(asked & _devices_cabled_to_switches(f))


def _groups_with_distinct_names(
    made: list[HostGroup], levels: list[tuple[HostGroup, ...]]
) -> tuple[HostGroup, ...]:
    """Groups whose names no group below has."""
    taken = {g.name for level in levels for g in level}
    return tuple(HostGroup(_free_group_name(g.name, taken), g.hosts, g.groups) for g in made)


def _free_group_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "-up"
    return name


def _devices_cabled_to_switches(f: Fabric) -> Bools:
    """Devices with a link to a switch."""
    out = np.zeros(f.device_count, dtype=bool)
    out[f.device_a[f.is_switch[f.device_b]]] = True
    return out


def links_of_jobs(f: Fabric, hosts: Ints) -> Bools:
    """Links that a job of these hosts takes: between switches and what else forwards, and to the hosts by the
    adapters of their accelerators."""
    mine = np.zeros(f.device_count, dtype=np.bool_)
    mine[hosts] = True
    passes = f.is_switch | f.forwards | (f.kind == "chip")
    out: Bools = (passes | mine)[f.device_a] & (passes | mine)[f.device_b]
    for ports, device in ((f.link_a, f.device_a), (f.link_b, f.device_b)):
        rows = np.flatnonzero(mine[device] & ~f.forwards[device])
        for m in distinct_values(f.device_model[device[rows]]).tolist():
            here = rows[f.device_model[device[rows]] == m]
            local = ports[here] - f.port_base[device[here]]
            out[here] &= _is_job_port(f.models[m], local, f.link_rate[here])
    return out


def _is_job_port(model: DeviceModel, port: Ints, rate: Ints) -> Bools:
    """Of linked ports of hosts of a model (``port`` as the model numbers them, ``rate`` of their links in
    bit/s) whether each is of the accelerators' adapters: of the classes that its layout places, or, where it
    places none of these, that have three quarters at least of the rate of the class that has most."""
    first = np.array([c.first for c in model.classes])
    of_class = np.searchsorted(first, port, side="right") - 1
    total = np.bincount(of_class, rate.astype(np.float64), len(first))
    placed = np.array([any(n.name == c.name for n in model.layout) for c in model.classes]) & (total > 0)
    wanted = placed if placed.any() else 4 * total >= 3 * total.max()
    out: Bools = wanted[of_class]
    return out


def _links_counted_at_tier(f: Fabric, tier: int, high: int) -> Bools:
    """Links that count at a level: those to switches of this tier and below, links between switches of one
    tier last."""
    a, b = f.tier[f.device_a], f.tier[f.device_b]
    counted: Bools = (np.maximum(a, b) <= tier) & (a != b)
    return counted | (tier > high)


def _lowest_joined_device(f: Fabric, links: Bools) -> Ints:
    """A number for each device, that of the lowest device it is joined to by these links."""
    return component_labels(f.device_count, f.device_a[links], f.device_b[links])
