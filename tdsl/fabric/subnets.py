"""InfiniBand subnets: what is joined by switches, and the routing engine that the shape of each asks for."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.semantics.model import PortClass
from tdsl.system.lazy_dataclass import dataclass

INFINIBAND = frozenset(
    ("SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "HDR100", "NDR", "NDR200", "XDR", "GDR")
)
"""Types of ports that speak InfiniBand."""
MOST_DIMENSIONS = 3
"""Of a torus that ``torus-2QoS`` routes (torus-2QoS.conf(5))."""


@dataclass(frozen=True, slots=True)
class Torus:
    """Switches at the points of a grid. ``sizes`` and ``wraps`` have an entry a dimension, ``grid`` the
    device at each point; ``hosts`` is the most adapters at a switch, ``trunk`` the most links between two."""

    sizes: tuple[int, ...]
    wraps: tuple[bool, ...]
    grid: Ints
    hosts: int
    trunk: int

    def near(self, point: tuple[int, ...], dimension: int, step: int) -> int:
        """The device one step away from a point."""
        at = list(point)
        at[dimension] = (at[dimension] + step) % self.sizes[dimension]
        return int(self.grid[tuple(at)])


@dataclass(frozen=True, slots=True)
class Shape:
    """How a subnet is wired: ``one`` switch, a full ``tree``, a ``partial`` tree, a ``torus``, or
    ``other``."""

    kind: str
    torus: Torus | None = None


def infiniband_ports(fabric: Fabric, ports: Ints) -> Bools:
    """Which of these ports speak InfiniBand: those of its types, and where the design states it also those of
    no type. In a cluster, those whose links do in their own fabric."""
    if fabric.members:
        return _infiniband_ports_of_members(fabric)[ports]
    if fabric.transport not in ("", "infiniband"):
        return np.zeros(len(ports), dtype=np.bool_)
    speaks = np.array(
        [speaks_infiniband(fabric, c) for m in fabric.models for c in m.classes for _ in range(c.size)]
    )
    base = np.cumsum([0, *(m.port_count for m in fabric.models)])[:-1]
    device = fabric.port_device[ports]
    found: Bools = speaks[base[fabric.device_model[device]] + ports - fabric.port_base[device]]
    return found


def _infiniband_ports_of_members(cluster: Fabric) -> Bools:
    """Of every port of a cluster whether it has a link of InfiniBand."""
    out = np.zeros(len(cluster.port_state), dtype=np.bool_)
    for f, rows in zip(cluster.members, cluster.member_rows, strict=True):
        for ports in (f.link_a, f.link_b):
            device = f.port_device[ports]
            here = cluster.port_base[rows[device]] + ports - f.port_base[device]
            out[here] |= infiniband_ports(f, ports)
    return out


def speaks_infiniband(fabric: Fabric, ports: PortClass) -> bool:
    """Whether the ports of a class speak InfiniBand in a fabric, or in one of a cluster."""
    if fabric.members:
        return any(speaks_infiniband(f, ports) for f in fabric.members)
    if fabric.transport not in ("", "infiniband"):
        return False
    return bool(INFINIBAND & set(ports.types)) or (
        fabric.transport_stated and (not ports.types or "any" in ports.types)
    )


def switched_components(fabric: Fabric) -> Ints:
    """A number for every device, the same for two switches that links between switches join: the lowest row
    among them."""
    between = fabric.is_switch[fabric.device_a] & fabric.is_switch[fabric.device_b]
    return component_labels(fabric.device_count, fabric.device_a[between], fabric.device_b[between])


def subnet_of_links(fabric: Fabric) -> Ints:
    """The subnet of every link: what switches join is one, and so is a link that meets no switch.

    They are numbered from 0 in the order of their planes (those in none first), then of their first switches.
    """
    part = switched_components(fabric)
    a, b = fabric.device_a, fabric.device_b
    own = fabric.device_count + np.arange(fabric.link_count)
    label = np.where(fabric.is_switch[b], part[b], np.where(fabric.is_switch[a], part[a], own))
    plane = np.maximum(fabric.plane[a], fabric.plane[b])
    known, number = np.unique(label, return_inverse=True)
    lowest = np.full(len(known), np.iinfo(np.int64).max)
    np.minimum.at(lowest, number, plane)
    place = np.empty(len(known), dtype=np.int64)
    place[np.lexsort((known, lowest))] = np.arange(len(known))
    found: Ints = place[number]
    return found


def subnet_shape(fabric: Fabric, links: Bools) -> Shape:
    """What the links of one subnet make of its switches."""
    inner = np.flatnonzero(links & fabric.is_switch[fabric.device_a] & fabric.is_switch[fabric.device_b])
    if not len(inner):
        return Shape("one")
    if is_layered(fabric, inner):
        return Shape("tree" if is_full_tree(fabric, np.flatnonzero(links), inner) else "partial")
    torus = torus_of(fabric, np.flatnonzero(links), inner)
    return Shape("torus", torus) if torus is not None else Shape("other")


def is_layered(fabric: Fabric, inner: Ints) -> bool:
    """Whether every link between switches joins one tier to the next."""
    low, high = fabric.tier[fabric.device_a[inner]], fabric.tier[fabric.device_b[inner]]
    return bool(((high - low == 1) & (low >= 1)).all())


def is_full_tree(fabric: Fabric, links: Ints, inner: Ints) -> bool:
    """Whether the rules hold by which OpenSM's ``ftree`` takes a subnet without a list of its roots
    (opensm(8), "Fat-tree").

    A port group is the ports of a switch that lead to one other switch. In each tier, all switches but roots
    have as many groups upward, all but leaves as many downward, and every group of one direction has as many
    ports. All adapters meet switches of one tier.
    """
    outer = np.setdiff1d(links, inner)
    met = np.maximum(fabric.tier[fabric.device_a[outer]], fabric.tier[fabric.device_b[outer]])
    if len(distinct_values(met)) > 1:
        return False
    pairs, ports = np.unique(
        np.stack((fabric.device_a[inner], fabric.device_b[inner])), axis=1, return_counts=True
    )
    for near in pairs:
        device, groups = np.unique(near, return_counts=True)
        for counted, tier in ((groups, fabric.tier[device]), (ports, fabric.tier[near])):
            if any(len(distinct_values(counted[tier == t])) > 1 for t in distinct_values(tier).tolist()):
                return False
    # a switch below the top without a way up, or above the leaves without a way down, has no groups where
    # others have some
    tier = fabric.tier[distinct_values(pairs)]
    up, down = (np.bincount(fabric.tier[distinct_values(p)], minlength=int(tier.max()) + 1) for p in pairs)
    count = np.bincount(tier)
    return bool((up[1:-1] == count[1:-1]).all() and (down[2:] == count[2:]).all())


def torus_of(fabric: Fabric, links: Ints, inner: Ints) -> Torus | None:
    """The torus of two or three dimensions that these links make of the switches of one declaration, None if
    they do not.

    At least one dimension must wrap: a mesh has no rings, and ``torus-2QoS`` serves it badly when links fail.
    """
    switches = distinct_values(np.concatenate([fabric.device_a[inner], fabric.device_b[inner]]))
    if len(distinct_values(fabric.device_set[switches])) > 1:
        return None
    declared = fabric.set_of(int(switches[0]))
    at = np.stack(np.unravel_index(switches - declared.first, tuple(a.size for a in declared.axes)))
    at = at[[len(distinct_values(x)) > 1 for x in at]]
    sizes = tuple(int(x.max()) + 1 for x in at)
    if not 2 <= len(sizes) <= MOST_DIMENSIONS or int(np.prod(sizes)) != len(switches) or min(sizes) < 3:
        return None
    place = np.zeros((len(sizes), fabric.device_count), dtype=np.int64)
    place[:, switches] = at
    step = np.abs(place[:, fabric.device_a[inner]] - place[:, fabric.device_b[inner]])
    moved = step > 0
    long = np.array(sizes)[:, None] - 1
    if not (moved.sum(axis=0) == 1).all() or not ((step <= 1) | (step == long)).all():
        return None
    ends = np.sort(np.stack((fabric.device_a[inner], fabric.device_b[inner])), axis=0)
    wraps = []
    for dimension, size in enumerate(sizes):
        mine = moved[dimension]
        around = mine & (step[dimension] == size - 1)
        pairs = len(np.unique(ends[:, mine], axis=1).T)
        lines = len(switches) // size
        wrapped = bool(around.any())
        if pairs != lines * (size - 1 + wrapped):
            return None
        wraps.append(wrapped)
    if not any(wraps):
        return None
    trunk = int(np.unique(ends, axis=1, return_counts=True)[1].max())
    outer = np.setdiff1d(links, inner)
    served = np.where(
        fabric.is_switch[fabric.device_b[outer]], fabric.device_b[outer], fabric.device_a[outer]
    )
    hosts = int(np.bincount(served).max()) if len(served) else 0
    grid = np.empty(sizes, dtype=np.int64)
    grid[tuple(at)] = switches
    return Torus(sizes, tuple(wraps), grid, hosts, trunk)
