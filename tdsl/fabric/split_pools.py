"""Networks of links that lie on both sides of a gap: hosts with static routes would reach one side alone."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.addresses import Addressing
from tdsl.fabric.graph import Fabric
from tdsl.fabric.subnets import switched_components
from tdsl.findings.diagnostic import Diagnostics

SPLIT = "E0475"
"""The links of one network are at switches that nothing joins."""


def refuse_split_pools(fabric: Fabric, found: Addressing, diagnostics: Diagnostics) -> None:
    """A finding for each network whose links to hosts without BGP are at switches that no link joins. A host
    has one route to a network, by one of its links."""
    part = switched_components(fabric)
    hosts = fabric.is_end[fabric.device_a] & fabric.is_switch[fabric.device_b]
    hosts &= found.asn[fabric.device_a] == 0
    for (kind, _), assigned in sorted(found.assigned.items()):
        if kind != "links":
            continue
        rows = np.flatnonzero(hosts & (assigned.pool >= 0))
        parts = part[fabric.device_b[rows]]
        for number in np.unique(assigned.pool[rows]).tolist():
            mine = assigned.pool[rows] == number
            first = rows[mine][0]
            apart = rows[mine & (parts != part[fabric.device_b[first]])]
            if not len(apart):
                continue
            pool = found.pools[number]
            one, two = (fabric.device_path(int(fabric.device_b[x])) for x in (first, apart[0]))
            diagnostics.add(
                SPLIT,
                pool.origin,
                f"links of {pool.network} are at {one} and at {two}, which no links of switches join",
                notes=["a host without BGP has one route to a network, which ends on one side"],
                help="give each side a network of its own, as in "
                '`address node[*].nic[r] links from "172.{16 + r}.0.0/24"`',
            )
