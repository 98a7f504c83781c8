"""What is in every rack, as rows for people: devices, units, power with transceivers, and load."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np

from tdsl.fabric.columns import DeviceColumns
from tdsl.fabric.graph import Fabric
from tdsl.fabric.places import height_of
from tdsl.physical.power_and_cost import Figures
from tdsl.physical.racks import PartialSum, Racks
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RackLine:
    """One rack that holds a device. A sum of which some figure is unknown begins with ``>=``; "" is not
    stated."""

    hall: str
    rack: str
    devices: int
    units: int
    height_u: int | str
    watts: str
    feeds: int | str
    feed_watts: str
    kg: str
    carries_kg: str
    contents: str


@dataclass(frozen=True, slots=True)
class MountLine:
    """One device to mount: its rack and lowest unit, from the bottom. ``watts`` is its maximum without
    transceivers that its model does not include; "" is not stated."""

    hall: str
    row: str
    rack: str
    u: int | str
    units: int | str
    device: str
    model: str
    watts: str
    kg: str


def mount_lines(fabric: Fabric) -> list[MountLine]:
    """Devices that have a place, in the order of halls, rows and racks, from the bottom of each."""
    p = fabric.places
    if p is None:
        return []
    racks = Racks(fabric, p)
    names = DeviceColumns(fabric).name
    rack, model = p.device_rack[racks.devices].tolist(), fabric.device_model[racks.devices].tolist()
    watts, mass = [_decimal_cell(x) for x in racks.watts_max], [_decimal_cell(x) for x in racks.mass]
    mounted = fabric.container[racks.devices] < 0
    return [
        MountLine(
            p.hall_name(r),
            p.halls[int(p.rack_hall[r])].rows[int(p.rack_row[r])].name,
            p.rack_names[r],
            int(p.device_unit[d]) or "",
            "" if (units := height_of(fabric.models[m])) is None else units,
            str(names[d]),
            fabric.models[m].name,
            watts[m],
            mass[m],
        )
        for d, r, m, own in zip(racks.devices.tolist(), rack, model, mounted.tolist(), strict=True)
        if own
    ]


def rack_sums(figures: Figures, racks: Racks, typical: bool = False) -> dict[int, PartialSum]:
    """Watts of every rack that holds a device, with transceivers, at most or typically.

    Racks that hold the same are summed once.
    """
    f = figures.fabric
    found = figures.optics
    count = np.zeros((f.device_count, max(len(found.parts), 1)), dtype=np.int64)
    np.add.at(count, (found.device, found.part), 1)
    ends = np.bincount(found.open_ends, minlength=f.device_count)
    plugs = np.zeros((f.device_count, max(len(figures.plugs.shares), 1)), dtype=np.int64)
    np.add.at(plugs, (figures.plugs.device, figures.plugs.share), 1)
    known: dict[tuple[object, ...], PartialSum] = {}
    out: dict[int, PartialSum] = {}
    for rack, devices in racks.by_rack.items():
        key = tuple(
            (int(f.device_model[d]), count[d].tobytes(), plugs[d].tobytes(), int(ends[d])) for d in devices
        )
        if key not in known:
            mask = np.zeros(f.device_count, dtype=np.bool_)
            mask[devices] = True
            known[key] = figures.power(mask, typical)
        out[rack] = known[key]
    return out


def rack_lines(fabric: Fabric) -> list[RackLine]:
    """Racks that hold devices, in the order of halls, rows and numbers."""
    p = fabric.places
    if p is None:
        return []
    racks = Racks(fabric, p)
    sums = rack_sums(Figures(fabric), racks)
    out = []
    for rack in sorted(racks.by_rack):
        devices, kind = racks.by_rack[rack], p.rack_kind[rack]
        count = Counter(fabric.model_of(d).name for d in devices)
        out.append(
            RackLine(
                p.hall_name(rack),
                p.rack_names[rack],
                len(devices),
                sum(racks.height(d) for d in devices),
                "" if kind.height is None else kind.height,
                _partial_sum_cell(sums[rack]),
                kind.feeds or "",
                _decimal_cell(kind.feed_watts),
                _partial_sum_cell(racks.total(devices, racks.mass)),
                _decimal_cell(kind.mass),
                ", ".join(f"{n} {name}" for name, n in count.items()),
            )
        )
    return out


def _decimal_cell(value: Fraction | None) -> str:
    return "" if value is None else f"{float(value):.10g}"


def _partial_sum_cell(bound: PartialSum) -> str:
    return _decimal_cell(bound.known) if bound.exact else f">={_decimal_cell(bound.known)}"
