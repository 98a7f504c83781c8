"""What the fabrics of a cluster say of places is said once: a device that several of them have is where any
of them, or the cluster's block, places it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.fabric.pins import Mount, standing_mounts
from tdsl.fabric.places import RackPlaces
from tdsl.semantics.autoplace import AutoPlacing


def members_with_lent_places(cluster: Fabric) -> list[Fabric]:
    """The fabrics of a cluster in order; one that shares a device which another places has its place, too."""
    out = []
    for k, member in enumerate(cluster.members):
        lent = places_of_member(cluster, k)
        if lent is None or not _lacks_places(member, lent):
            out.append(member)
        else:
            out.append(replace(member, places=lent, parts=member.parts or cluster.parts))
    return out


def places_of_member(cluster: Fabric, k: int) -> RackPlaces | None:
    """The places of all fabrics as one of them sees them: the racks of all, and where its own devices are;
    None where nothing has a place."""
    p, rows = cluster.places, cluster.member_rows[k]
    if p is None:
        return None
    return replace(
        p, device_rack=p.device_rack[rows], device_unit=p.device_unit[rows], device_place=p.device_place[rows]
    )


def _lacks_places(member: Fabric, lent: RackPlaces) -> bool:
    """Whether a fabric does not know the place of a device that has one."""
    known = member.places.device_rack >= 0 if member.places is not None else np.False_
    return bool(((lent.device_rack >= 0) & ~known).any())


def automatic_placing_of_cluster(cluster: Fabric, asked: Iterable[AutoPlacing]) -> AutoPlacing | None:
    """The ``place auto`` of the cluster's block with the halls as the cluster has them; None where there is
    none."""
    first = next(iter(asked), None)
    if first is None or cluster.places is None:
        return None
    halls = {h.name: h for h in cluster.places.halls}
    return replace(first, halls=tuple(halls[h.name] for h in first.halls))


def standing_mounts_of_cluster(
    cluster: Fabric, mounts: Sequence[Iterable[Mount]]
) -> dict[int, tuple[int, int]]:
    """Rack and unit of the cluster's devices that stand by the locks of its fabrics, which ``mounts`` has in
    order."""
    out: dict[int, tuple[int, int]] = {}
    for k, member in enumerate(cluster.members):
        placed = replace(member, places=places_of_member(cluster, k))
        rows = cluster.member_rows[k]
        for device, at in standing_mounts(mounts[k], placed).items():
            out.setdefault(int(rows[device]), at)
    return out


__all__ = [
    "automatic_placing_of_cluster",
    "members_with_lent_places",
    "places_of_member",
    "standing_mounts_of_cluster",
]
