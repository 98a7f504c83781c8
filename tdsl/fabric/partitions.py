"""Partitions and subnet managers with their paths resolved to ports and devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.addresses import ports_of
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import scaleup_links
from tdsl.fabric.order import distinct_values
from tdsl.fabric.resolve import Resolver, note_unread_variables, variable_assignments
from tdsl.fabric.subnets import INFINIBAND, infiniband_ports, subnet_of_links
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin
from tdsl.semantics.fault import Excused, Fault
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.semantics.partitions import Members, PartitionRule
    from tdsl.semantics.plan import FabricPlan


@dataclass(frozen=True, slots=True)
class Partition:
    """``key`` has 15 bits. ``port`` are its members that have a link, in the order of the fabric, ``full``
    how each is one."""

    name: str
    key: int
    ipoib: bool
    port: Ints
    full: Bools
    origin: Origin


@dataclass(frozen=True, slots=True)
class SubnetManagement:
    """What a fabric says of its InfiniBand subnets. ``managers`` are devices: the master, then those that
    stand by."""

    partitions: tuple[Partition, ...] = ()
    managers: tuple[int, ...] = ()


def resolve_subnet_management(plan: FabricPlan, fabric: Fabric, diagnostics: Diagnostics) -> SubnetManagement:
    """Resolve what a plan says; what cannot be is a finding."""
    partitions: list[Partition] = []
    for rule in plan.partitions:
        try:
            _refuse_repeated_partition(rule, partitions)
            partitions.append(_resolve_partition(plan, fabric, rule))
        except Fault as fault:
            fault.report(diagnostics)
        except Excused:
            pass
    managers: tuple[int, ...] = ()
    try:
        managers = _managing_devices(plan, fabric)
    except Fault as fault:
        fault.report(diagnostics)
    return SubnetManagement(tuple(partitions), managers)


def _lowest_free_key(others: list[Partition]) -> str:
    """The lowest key that no partition has, as an example; "" where all 32,767 are taken."""
    taken = {p.key for p in others}
    return next((f", such as `{k:#06x}`" for k in range(1, 1 << 15) if k not in taken), "")


def _refuse_repeated_partition(rule: PartitionRule, others: list[Partition]) -> None:
    """Refuse a name or a key that another partition has."""
    for p in others:
        if p.key == rule.key:
            raise Fault(
                "E0480",
                rule.origin,
                f"partitions `{p.name}` and `{rule.name}` both have the key {p.key:#06x}",
                labels=[(p.origin.span, "the first is given here")],
                help=f"give each its own key{_lowest_free_key(others)}; the bit 0x8000 says full membership",
            )
        if p.name == rule.name:
            raise Fault(
                "E0104",
                rule.origin,
                f"partition `{p.name}` is given twice",
                labels=[(p.origin.span, "first here")],
            )


def _resolve_partition(plan: FabricPlan, fabric: Fabric, rule: PartitionRule) -> Partition:
    ports = [_partition_ports(plan, fabric, members) for _, members in rule.members]
    every = np.concatenate(ports)
    full = np.repeat([f for f, _ in rule.members], [len(p) for p in ports])
    both = np.intersect1d(every[full], every[~full])
    if len(both):
        limited = next(
            m for (f, m), p in zip(rule.members, ports, strict=True) if not f and np.isin(both, p).any()
        )
        said = next(m for (f, m), p in zip(rule.members, ports, strict=True) if f and np.isin(both, p).any())
        raise Fault(
            "E0482",
            limited.origin,
            f"{fabric.port_path(int(both[0]))} is a full and a limited member of `{rule.name}`",
            labels=[(said.origin.span, "full here")],
            count=len(both),
            help=f"leave it out of `{limited.targets[0].span.text}`, or of the full members",
        )
    every, first = np.unique(every, return_index=True)
    return Partition(rule.name, rule.key, rule.ipoib, every, full[first], rule.origin)


def _partition_ports(plan: FabricPlan, fabric: Fabric, members: Members) -> Ints:
    """The InfiniBand ports with links that paths name."""
    over = variable_assignments(
        members.context, members.targets, None, members.scope, plan.evaluator, members.origin.span
    )
    note_unread_variables(plan, over, members.origin.span)
    side = Resolver(members.scope, plan.evaluator, over).side(members.targets)
    ports = ports_of(fabric, side, slice(0, over.count))
    ports = distinct_values(ports[ports >= 0])
    device = fabric.port_device[ports]
    text = ", ".join(t.span.text for t in members.targets)
    if fabric.is_switch[device].any() or not (fabric.is_end[device]).all():
        raise Fault(
            "E0481",
            members.origin,
            f"`{text}` names a switch, and members of a partition are ports of hosts",
            help="name ports of hosts, such as `full node[*].nic`",
        )
    ports = ports[infiniband_ports(fabric, ports)]
    if not len(ports):
        raise Fault(
            "E0481",
            members.origin,
            f"`{text}` has no InfiniBand port",
            notes=[f"types of InfiniBand: {', '.join(sorted(INFINIBAND))}"],
            help="name ports of such a type",
        )
    return ports[fabric.port_link[ports] >= 0]


def _has_infiniband(fabric: Fabric, rows: Ints) -> bool:
    """Whether each of these devices has a port of InfiniBand."""
    return all(
        infiniband_ports(fabric, np.arange(*fabric.port_base[[d, d + 1]])).any()
        for d in distinct_values(rows).tolist()
    )


def _managing_devices(plan: FabricPlan, fabric: Fabric) -> tuple[int, ...]:
    """Devices that manage, in the order of the text; every subnet must have one."""
    found: list[int] = []
    for members in plan.managers:
        over = variable_assignments(
            members.context, members.targets, None, members.scope, plan.evaluator, members.origin.span
        )
        note_unread_variables(plan, over, members.origin.span)
        rows = Resolver(members.scope, plan.evaluator, over).side(members.targets).rows
        found += [d for d in rows.ravel().tolist() if fabric.built[d] and d not in found]
        if not _has_infiniband(fabric, rows):
            raise Fault(
                "E0481",
                members.origin,
                "this host has no InfiniBand port to manage a subnet by",
                help="a subnet manager speaks through a port of the subnet",
            )
    if not plan.managers or not fabric.complete:
        return tuple(found)
    network = np.flatnonzero(~scaleup_links(fabric))
    ours = np.isin(fabric.device_a[network], found) | np.isin(fabric.device_b[network], found)
    subnet = subnet_of_links(fabric)[network]
    without = np.setdiff1d(subnet, subnet[ours])
    if len(without):
        link = int(network[np.flatnonzero(subnet == without[0])[0]])
        where, number = fabric.device_path(int(fabric.device_b[link])), len(distinct_values(subnet))
        raise Fault(
            "E0483",
            plan.managers[0].origin,
            f"no subnet manager has a port in the subnet of {where}",
            count=len(without),
            notes=[
                f"the links make {number:,} subnet{'s' if number > 1 else ''}, since nothing but switches "
                "joins ports"
            ],
            help="connect one of the managers to it, or name a host that is: `subnet_manager node[(0)]`",
        )
    return tuple(found)
