"""Rails: which switch serves which index of the hosts' ports, read off the wiring.

The *rail* of an end is the first index of its port class (``nic[3]``, ``nic[3, lane]`` are on rail 3). A design is
*rail-organised* when more than half of the switches that hosts meet serve mostly one rail, and there is more than one
rail. A class with a single index that numbers planes (as many indices as planes) has no rails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from tdsl.dataclass import dataclass
from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import scaleup_links
from tdsl.fabric.order import distinct
from tdsl.semantics.model import DeviceModel, unravel


@dataclass(frozen=True, slots=True)
class RailPlan:
    """What the wiring says about rails.

    ``rows`` are the links between accelerator hosts and switches whose ends have a rail, ``rail`` the rail of each, and
    ``switch`` the device it meets. ``serves`` holds the rail of every device (the commonest among the ends it meets, the
    lowest of several as common), -1 for what meets none. ``count`` is the number of rails, 1 if not organised.
    """

    organised: bool
    count: int
    rows: Ints
    rail: Ints
    switch: Ints
    serves: Ints
    judged: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))  # of rows: the hosts of the declaration have rails


def port_values(fabric: Fabric, ports: Ints, tables: Sequence[Ints]) -> Ints:
    """A fact of each of these ports, from one table a model that holds the fact for every port of the model."""
    if not len(ports):
        return np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum([len(t) for t in tables])))[:-1]
    device = fabric.port_device[ports]
    values: Ints = np.concatenate(tables)[starts[fabric.device_model[device]] + ports - fabric.port_base[device]]
    return values


def _first_indices(model: DeviceModel) -> tuple[Ints, Ints]:
    """For every port of a model: its first index (-1 if it has none), and whether it is the only one."""
    first, single = [], []
    for c in model.classes:
        first += [unravel(i, c.axes)[0] if c.axes else -1 for i in range(c.size)]
        single += [int(len(c.axes) == 1)] * c.size
    return np.array(first, dtype=np.int64), np.array(single, dtype=np.int64)


def _accelerator_hosts(fabric: Fabric) -> Bools:
    wanted = np.array([s.kind == "host" and s.role == "accelerator" for s in fabric.sets], dtype=np.bool_)
    return wanted[fabric.device_set]


def rail_plan(fabric: Fabric) -> RailPlan:
    """Find the rails of a fabric, by the links of its network."""
    if fabric.network is not fabric:
        network = rail_plan(fabric.network)
        return replace(network, rows=np.flatnonzero(~scaleup_links(fabric))[network.rows])
    none = np.zeros(0, dtype=np.int64)
    serves = np.full(fabric.device_count, -1, dtype=np.int64)
    empty = RailPlan(False, 1, none, none, none, serves)
    if not fabric.link_count:
        return empty
    rows = np.flatnonzero(_accelerator_hosts(fabric)[fabric.device_a] & fabric.is_switch[fabric.device_b])
    tables = [_first_indices(m) for m in fabric.models]
    rail = port_values(fabric, fabric.link_a[rows], [t[0] for t in tables])
    single = port_values(fabric, fabric.link_a[rows], [t[1] for t in tables]) == 1
    switch = fabric.device_b[rows]
    keep = rail >= 0
    planes = fabric.plane[switch]
    numbered = single & (planes >= 0)
    if numbered.any():
        indices, instances = len(distinct(rail[numbered])), len(distinct(planes[numbered]))
        if indices == instances > 1:  # the index says the plane, so it is not a rail
            keep &= ~numbered
    rows, rail, switch = rows[keep], rail[keep], switch[keep]
    if not len(rows):
        return empty

    serves, organised, number = _serving(fabric, rail, switch)
    group = fabric.device_set[fabric.device_a[rows]]
    judged = np.zeros(len(rows), dtype=np.bool_)
    for g in np.unique(group).tolist():
        mine = group == g
        judged[mine] = _serving(fabric, rail[mine], switch[mine])[1]
    if judged.any() and not judged.all():  # what other hosts meet says nothing of the rails of these
        of_judged, alone, count = _serving(fabric, rail[judged], switch[judged])
        organised, number = organised or alone, count if alone else number
        serves = np.where(of_judged >= 0, of_judged, serves)
    return RailPlan(organised, number if organised else 1, rows, rail, switch, serves, judged)


def _serving(fabric: Fabric, rail: Ints, switch: Ints) -> tuple[Ints, bool, int]:
    """For links by their rail and switch: the rail that every switch serves (-1: meets none), whether more than half of the
    switches serve mostly one rail and there are several, and how many rails are served."""
    serves = np.full(fabric.device_count, -1, dtype=np.int64)
    met = np.bincount(switch, minlength=fabric.device_count) > 0
    place = np.cumsum(met) - 1
    width = int(rail.max()) + 1
    counts = np.bincount(place[switch] * width + rail, minlength=int(met.sum()) * width).reshape(-1, width)
    own = counts.argmax(axis=1)
    settled = counts.max(axis=1) * 2 > counts.sum(axis=1)
    serves[met] = own
    number = len(distinct(own))
    return serves, bool(settled.sum() * 2 > len(settled) and number > 1), number


def rails(fabric: Fabric) -> int:
    """Number of rails; 1 for a design that is not rail-organised."""
    return rail_plan(fabric).count


def link_rail(fabric: Fabric) -> Ints:
    """Rail of every link: the rail of its host end, -1 for links that have none and where rails mean nothing."""
    out = np.full(fabric.link_count, -1, dtype=np.int64)
    plan = rail_plan(fabric)
    if plan.organised:
        out[plan.rows] = plan.rail
    return out
