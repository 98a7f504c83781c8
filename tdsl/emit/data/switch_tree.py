"""The fabric as a fat tree that a few numbers describe: adapters at the bottom, and equal switches in each
tier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tdsl.emit.data.scheduling import links_of_jobs, schedulable_hosts
from tdsl.emit.link_tables import Wires, gigabits_per_second
from tdsl.emit.records import SwitchTree, SwitchTreeNode, SwitchTreeTier
from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove.delays import cable_delays

FEMTOSECONDS = 10**6
"""Of a nanosecond."""
LEVELS = ("leaf", "spine", "core")
Far = dict[int, Counter[int]]
"""For each switch its links to each switch of the tier above, or below."""


class SwitchTreeUnfit(Exception):
    """A fabric that is no fat tree of two or three tiers of equal switches; the message says why."""


def switch_tree(wires: Wires) -> SwitchTree:
    """Nodes are the linked ports of the hosts that jobs run on, switch by switch; pods are the parts that the
    switches of the first two tiers form without the third. Raises ``SwitchTreeUnfit``."""
    f = wires.fabric
    edge, inner = _links_of_hosts_and_of_switches(f)
    up, down = _links_by_switch(f, inner), _links_by_switch(f, inner, upwards=False)
    tiers = _tiers_of_switches(f, edge, inner, up)
    pods = _pods_of_two_tiers(tiers[0], up)
    if len(tiers) == 3:
        _refuse_other_cores(pods, up, down, tiers[2])
    elif len(pods) > 1:
        raise SwitchTreeUnfit("parts of it are joined by no link")
    made = _numbers_of_tiers(
        f, [edge, *(inner[np.isin(f.device_a[inner], t)] for t in tiers[:-1])], tiers, up
    )
    ordered = [tor for pod_tors, _ in pods for tor in pod_tors]
    return SwitchTree(
        _nodes_by_switch(wires, edge, ordered),
        made,
        made[0].down * len(pods[0][0]),
        _whole_ratios_of_tiers(made),
    )


def _links_of_hosts_and_of_switches(f: Fabric) -> tuple[Ints, Ints]:
    """Of the links that jobs use, those from a host to a switch, and those between switches."""
    hosts = schedulable_hosts(f)
    rows = np.flatnonzero(links_of_jobs(f, hosts))
    edge = rows[np.isin(f.device_a[rows], hosts) & f.is_switch[f.device_b[rows]]]
    inner = rows[f.is_switch[f.device_a[rows]] & f.is_switch[f.device_b[rows]]]
    if len(edge) + len(inner) < len(rows) or not len(edge):
        raise SwitchTreeUnfit("hosts are linked to hosts, and a fat tree has switches between them")
    return edge, inner


def _tiers_of_switches(f: Fabric, edge: Ints, inner: Ints, up: Far) -> list[list[int]]:
    """The switches at hosts, those above them, and those above these, if there are any."""
    tors = list(dict.fromkeys(f.device_b[edge].tolist()))
    aggs = list(dict.fromkeys(far for tor in tors for far in up.get(tor, ())))
    cores = list(dict.fromkeys(far for agg in aggs for far in up.get(agg, ())))
    tiers = [tors, aggs, cores][: 3 if cores else 2]
    if not aggs or len(inner) != sum(sum(up.get(s, Counter()).values()) for t in tiers[:-1] for s in t):
        raise SwitchTreeUnfit("it has not two or three tiers of switches")
    return tiers


def _numbers_of_tiers(
    f: Fabric, links: Sequence[Ints], tiers: Sequence[Sequence[int]], up: Far
) -> tuple[SwitchTreeTier, ...]:
    """What the simulator wants of each tier, whose links downwards are those of its place in ``links``."""
    delays = cable_delays(f, np.arange(f.link_count))[0] / FEMTOSECONDS
    made = []
    for n, (tier, below) in enumerate(zip(tiers, links, strict=True)):
        down = Counter(f.device_b[below].tolist())
        above = {sum(up[s].values()) for s in tier} if n + 1 < len(tiers) else {0}
        bundles = {count for s in tiers[n - 1] for count in up[s].values()} if n else {1}
        rate = _one_number(set(f.link_rate[below].tolist()), "rates of links of one tier")
        made.append(
            SwitchTreeTier(
                gigabits_per_second(rate),
                _one_number({down[s] for s in tier}, "links down of switches of one tier"),
                _one_number(above, "links up of switches of one tier"),
                _one_number(bundles, f"links from a {LEVELS[n - 1]} to a {LEVELS[n]}"),
                float(delays[below].max()),
            )
        )
    return tuple(made)


def _whole_ratios_of_tiers(tiers: Sequence[SwitchTreeTier]) -> tuple[int, ...]:
    """Oversubscription of the tiers that have uplinks, as ``set_custom_params`` of htsim wants it
    (sim/datacenter/fat_tree_topology.cpp): of the lowest tier links down over links up, of the next one the
    same by rate."""
    first, second = tiers[:2]
    if any(tier.gbps % 1 for tier in tiers):
        raise SwitchTreeUnfit("rates are no whole Gb/s")
    if first.gbps != second.gbps or first.down % first.up:
        raise SwitchTreeUnfit(
            f"leaves have {first.down} links of {first.gbps:g} Gb/s down, {first.up} of {second.gbps:g} Gb/s "
            "up: these are to have the rate of those down, and divide them in number"
        )
    out = [first.down // first.up]
    if len(tiers) == 3:
        down, up = int(second.down * second.gbps), int(second.up * tiers[2].gbps)
        if down % up:
            raise SwitchTreeUnfit(
                f"spines have {down} Gb/s down, which is not a multiple of the {up} Gb/s up"
            )
        out.append(down // up)
    return tuple(out)


def _links_by_switch(f: Fabric, rows: Ints, upwards: bool = True) -> Far:
    """Links between switches, counted by the switch at their lower end, or at their upper one."""
    if bool((f.tier[f.device_a[rows]] == f.tier[f.device_b[rows]]).any()):
        raise SwitchTreeUnfit("switches of one tier are linked to each other")
    out: Far = {}
    for a, b in zip(f.device_a[rows].tolist(), f.device_b[rows].tolist(), strict=True):
        near, far = (a, b) if upwards else (b, a)
        out.setdefault(near, Counter())[far] += 1
    return out


def _pods_of_two_tiers(tors: Sequence[int], up: Far) -> list[tuple[list[int], set[int]]]:
    """Switches of the lowest tier by the switches above that they share. Every switch of a pod is linked to
    every switch above it, and pods are of one size."""
    pods: dict[frozenset[int], list[int]] = {}
    for tor in tors:
        pods.setdefault(frozenset(up.get(tor, ())), []).append(tor)
    if sum(map(len, pods)) > len(frozenset().union(*pods)):
        raise SwitchTreeUnfit("not every leaf is linked to every spine of its pod")
    if len({(len(aggs), len(of)) for aggs, of in pods.items()}) > 1:
        raise SwitchTreeUnfit("pods differ in size")
    return [(of, set(aggs)) for aggs, of in pods.items()]


def _refuse_other_cores(
    pods: Sequence[tuple[list[int], set[int]]], up: Far, down: Far, cores: Collection[int]
) -> None:
    """Raises ``SwitchTreeUnfit`` unless each core has one spine in each pod, and cores that share one share
    all."""
    planes: dict[frozenset[int], int] = Counter(frozenset(down[core]) for core in cores)
    members: Mapping[int, int] = Counter(agg for plane in planes for agg in plane)
    one_each = all(len(plane & aggs) == 1 for plane in planes for _, aggs in pods)
    if not one_each or any(n > 1 for n in members.values()) or len(set(planes.values())) > 1:
        raise SwitchTreeUnfit(
            "not every core is linked to one spine of each pod, and to the same ones as others"
        )
    if not all(agg in up for _, aggs in pods for agg in aggs):
        raise SwitchTreeUnfit("some spines have no core above them")


def _one_number(values: set[int], what: str) -> int:
    if len(values) != 1:
        raise SwitchTreeUnfit(f"{what} differ")
    return next(iter(values))


def _nodes_by_switch(wires: Wires, edge: Ints, tors: Sequence[int]) -> tuple[SwitchTreeNode, ...]:
    """Host ports in the order of these switches, and of the rows of links at one switch."""
    f, names = wires.fabric, wires.devices.name
    place = {tor: n for n, tor in enumerate(tors)}
    order = np.argsort([place[s] for s in f.device_b[edge].tolist()], kind="stable")
    return tuple(
        SwitchTreeNode(
            str(names[f.device_a[row]]), f.port_path(int(f.link_a[row])), str(names[f.device_b[row]])
        )
        for row in edge[order].tolist()
    )
