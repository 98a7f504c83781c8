"""Rails: which switch serves which index of the hosts' ports, read off the wiring.

The *rail* of an end is the first index of its port class (``nic[3]``, ``nic[3, lane]`` are on rail 3). The
hosts of a declaration are *rail-organised* in a port class when more than half of the switches that these
ports meet serve mostly one rail, and there is more than one rail; they have rails if they are organised in
the class that has most of their links. A class with a single index that numbers planes (as many indices as
planes) has no rails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.fabric.layers import scaleup_links
from tdsl.fabric.order import distinct_values
from tdsl.semantics.model import DeviceModel, indices_at_position
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RailPlan:
    """What the wiring says about rails.

    ``rows`` are the links between accelerator hosts and switches whose ends have a rail, ``rail`` the rail of
    each, and ``switch`` the device it meets. ``serves`` is the rail that this switch serves among the ends of
    the same class (the commonest, the lowest of several as common; of hosts that have rails, if there are any
    at the switch). ``judged``: hosts of the declaration have rails, and are organised in the class. ``count``
    is the number of rails, 1 if not organised.
    """

    organised: bool
    count: int
    rows: Ints
    rail: Ints
    switch: Ints
    serves: Ints
    judged: Bools = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))


def port_values(fabric: Fabric, ports: Ints, tables: Sequence[Ints]) -> Ints:
    """A fact of each of these ports, from one table a model that holds the fact for every port of the
    model."""
    if not len(ports):
        return np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum([len(t) for t in tables])))[:-1]
    device = fabric.port_device[ports]
    values: Ints = np.concatenate(tables)[
        starts[fabric.device_model[device]] + ports - fabric.port_base[device]
    ]
    return values


def _first_indices(model: DeviceModel, names: dict[str, int]) -> tuple[Ints, Ints, Ints]:
    """For every port of a model: its first index (-1 if it has none), whether it is the only one, and the
    number of the name of its class; ``names`` gets those that are new."""
    first, single, name = [], [], []
    for c in model.classes:
        first += [indices_at_position(i, c.axes)[0] if c.axes else -1 for i in range(c.size)]
        single += [int(len(c.axes) == 1)] * c.size
        name += [names.setdefault(c.name, len(names))] * c.size
    return np.array(first, dtype=np.int64), np.array(single, dtype=np.int64), np.array(name, dtype=np.int64)


def _accelerator_hosts(fabric: Fabric) -> Bools:
    wanted = np.array([s.kind == "host" and s.role == "accelerator" for s in fabric.sets], dtype=np.bool_)
    return wanted[fabric.device_set]


def rail_plan(fabric: Fabric) -> RailPlan:
    """Find the rails of a fabric, by the links of its network."""
    if fabric.network is not fabric:
        network = rail_plan(fabric.network)
        return replace(network, rows=np.flatnonzero(~scaleup_links(fabric))[network.rows])
    none = np.zeros(0, dtype=np.int64)
    empty = RailPlan(False, 1, none, none, none, none)
    if not fabric.link_count:
        return empty
    rows = np.flatnonzero(_accelerator_hosts(fabric)[fabric.device_a] & fabric.is_switch[fabric.device_b])
    names: dict[str, int] = {}
    tables = [_first_indices(m, names) for m in fabric.models]
    rail, single, class_ = (
        port_values(fabric, fabric.link_a[rows], list(of_models)) for of_models in zip(*tables, strict=True)
    )
    switch = fabric.device_b[rows]
    keep = (rail >= 0) & ~_links_numbered_by_plane(fabric.plane[switch], rail, single)
    rows, rail, switch, class_ = rows[keep], rail[keep], switch[keep], class_[keep]
    if not len(rows):
        return empty
    judged, main = _links_that_tell_rails(
        fabric, fabric.device_set[fabric.device_a[rows]], rail, switch, class_
    )
    serves = np.full(len(rows), -1, dtype=np.int64)
    organised, count = False, 1
    for c in distinct_values(class_).tolist():
        ours = class_ == c
        of_all = _rail_of_switches(fabric, rail[ours], switch[ours])[0]
        of_judged = (
            _rail_of_switches(fabric, rail[ours & judged], switch[ours & judged])[0]
            if (ours & judged).any()
            else of_all
        )
        serves[ours] = np.where(of_judged >= 0, of_judged, of_all)[
            switch[ours]
        ]  # what others meet says nothing of these rails
        if (ours & main).any():
            _, together, number = _rail_of_switches(fabric, rail[ours & main], switch[ours & main])
            organised, count = organised or together, max(count, number if together else 1)
    if judged.any():
        organised, count = True, len(distinct_values(serves[judged]))
    return RailPlan(organised, count if organised else 1, rows, rail, switch, serves, judged)


def _links_numbered_by_plane(planes: Ints, rail: Ints, single: Ints) -> Bools:
    """Links whose port index says the plane, so it is not a rail: of ports of one index, where there are as
    many indices as planes."""
    numbered: Bools = (single == 1) & (planes >= 0)
    if numbered.any():
        indices, instances = len(distinct_values(rail[numbered])), len(distinct_values(planes[numbered]))
        if indices == instances > 1:
            return numbered
    return np.zeros(len(planes), dtype=np.bool_)


def _links_that_tell_rails(
    fabric: Fabric, group: Ints, rail: Ints, switch: Ints, class_: Ints
) -> tuple[Bools, Bools]:
    """Of each set of hosts (``group``): the links of port classes by which rails are judged, since those of
    the class with most links lead to switches by rail; and the links of that class."""
    judged, main = np.zeros(len(rail), dtype=np.bool_), np.zeros(len(rail), dtype=np.bool_)
    for g in distinct_values(group).tolist():
        mine = group == g
        links = np.bincount(class_[mine])
        most = mine & (class_ == int(links.argmax()))
        main |= most
        if _rail_of_switches(fabric, rail[most], switch[most])[1]:
            for c in np.flatnonzero(links).tolist():
                ours = mine & (class_ == c)
                judged[ours] = _rail_of_switches(fabric, rail[ours], switch[ours])[1]
    return judged, main


def _rail_of_switches(fabric: Fabric, rail: Ints, switch: Ints) -> tuple[Ints, bool, int]:
    """For links by their rail and switch: the rail that every switch serves (-1: meets none), whether more
    than half of the switches serve mostly one rail and there are several, and how many rails are served."""
    serves = np.full(fabric.device_count, -1, dtype=np.int64)
    met = np.bincount(switch, minlength=fabric.device_count) > 0
    place = np.cumsum(met) - 1
    width = int(rail.max()) + 1
    counts = np.bincount(place[switch] * width + rail, minlength=int(met.sum()) * width).reshape(-1, width)
    own = counts.argmax(axis=1)
    settled = counts.max(axis=1) * 2 > counts.sum(axis=1)
    serves[met] = own
    number = len(distinct_values(own))
    return serves, bool(settled.sum() * 2 > len(settled) and number > 1), number


def rail_count(fabric: Fabric) -> int:
    """Number of rails; 1 for a design that is not rail-organised."""
    return rail_plan(fabric).count


def link_rail(fabric: Fabric) -> Ints:
    """Rail of every link: the rail of its host end, -1 for links that have none and where rails mean
    nothing."""
    out = np.full(fabric.link_count, -1, dtype=np.int64)
    plan = rail_plan(fabric)
    if plan.organised:
        out[plan.rows] = plan.rail
    return out
