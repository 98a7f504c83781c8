"""The addresses and AS numbers of all fabrics of a cluster as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

import numpy as np

from tdsl.fabric.addresses import Addressing, AssignedAddresses
from tdsl.fabric.asns import PLANNED, Asns
from tdsl.fabric.graph import Fabric, Ints
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin
from tdsl.system.lazy_dataclass import dataclass

TWICE = "E0472"
"""A device has two addresses of one kind and IP version, or two AS numbers."""


@dataclass(eq=False)
class _JoinedAddresses:
    """Addresses of a cluster while they are joined."""

    cluster: Fabric
    diagnostics: Diagnostics
    found: Addressing = field(init=False)
    said: set[tuple[Origin | None, Origin | None]] = field(default_factory=set)

    def refuse_second(self, row: int, what: str, at: Origin | None, first: Origin | None, help: str) -> None:
        """A finding of a device to which two fabrics give what it can have once; one for each two rules."""
        if (at, first) in self.said:
            return
        self.said.add((at, first))
        labels = [(first.span, "given here")] if first is not None else []
        name = self.cluster.device_path(row)
        self.diagnostics.add(
            TWICE, at, f"{name} already has {what}, in another fabric", labels=labels, help=help
        )


def join_addressing(cluster: Fabric, diagnostics: Diagnostics) -> Addressing | None:
    """What the fabrics of a cluster say of addresses and AS numbers, by devices and links of the cluster;
    None where none says anything. How each of them routes is not of the cluster.

    A shared device has one address of a kind and IP version, and one AS number: two fabrics that give it two
    are a finding, and the first counts.
    """
    if all(f.addressing is None for f in cluster.members):
        return None
    joined = _JoinedAddresses(cluster, diagnostics)
    pools = tuple(p for f in cluster.members if f.addressing is not None for p in f.addressing.pools)
    joined.found = Addressing(cluster, pools)
    first = 0
    for k, f in enumerate(cluster.members):
        if f.addressing is not None:
            _join_assigned(joined, k, f.addressing, first)
            first += len(f.addressing.pools)
    joined.found.asns = _join_asns(joined)
    return joined.found


def _join_assigned(joined: _JoinedAddresses, member: int, own: Addressing, first: int) -> None:
    """Enter the addresses that a fabric deals; ``first`` is the number of its first pool among all."""
    cluster, assigned = joined.cluster, dict(joined.found.assigned)
    for (kind, version), d in own.assigned.items():
        links = kind == "links"
        size = cluster.link_count if links else cluster.device_count
        none = np.full(size, -1, dtype=np.int64)
        whole = assigned.setdefault((kind, version), AssignedAddresses(none, none.copy()))
        given = np.flatnonzero(d.pool >= 0)
        rows = (cluster.member_links if links else cluster.member_rows)[member][given]
        fresh = whole.pool[rows] < 0
        for row, mine in zip(rows[~fresh].tolist(), given[~fresh].tolist(), strict=True):
            one, two = joined.found.pools[int(whole.pool[row])], own.pools[int(d.pool[mine])]
            if one.address(int(whole.rank[row])) != two.address(int(d.rank[mine])):
                path = cluster.set_of(row).path
                help = f"write `address {path} {kind} …` in one of the fabrics; it is of all"
                joined.refuse_second(row, f"an IPv{version} {kind} address", two.origin, one.origin, help)
        whole.pool[rows[fresh]] = d.pool[given[fresh]] + first
        whole.rank[rows[fresh]] = d.rank[given[fresh]]
    joined.found.assigned = assigned


def _join_asns(joined: _JoinedAddresses) -> Asns | None:
    """The AS number of every device of the cluster; None where no fabric routes."""
    cluster = joined.cluster
    number = np.zeros(cluster.device_count, dtype=np.int64)
    rule = np.full(cluster.device_count, PLANNED, dtype=np.int64)
    origins: tuple[Origin, ...] = ()
    routed = False
    for f, rows in zip(cluster.members, cluster.member_rows, strict=True):
        own = f.addressing.asns if f.addressing is not None else None
        if own is None:
            continue
        routed = True
        given = np.flatnonzero(own.number > 0)
        known = number[rows[given]]
        for row, mine in _differing_rows(rows[given], given, known, own.number[given]):
            at = origins[int(rule[row])] if rule[row] >= 0 else None
            path = cluster.set_of(row).path
            help = f"write `asn {path} …` in one of the fabrics, or the same in both"
            joined.refuse_second(row, f"ASN {int(number[row])}", own.origin(mine), at, help)
        fresh = given[known == 0]
        number[rows[fresh]] = own.number[fresh]
        rule[rows[fresh]] = np.where(own.rule[fresh] >= 0, own.rule[fresh] + len(origins), PLANNED)
        origins = (*origins, *own.origins)
    return Asns(number, rule, origins) if routed else None


def _differing_rows(rows: Ints, own: Ints, known: Ints, new: Ints) -> Iterable[tuple[int, int]]:
    """Rows of the cluster, and of the fabric, of devices that have another number already."""
    at = np.flatnonzero((known > 0) & (known != new))
    return zip(rows[at].tolist(), own[at].tolist(), strict=True)
