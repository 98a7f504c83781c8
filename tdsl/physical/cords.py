"""Power cords: one from every power supply of a device that has a place to a feed of its rack."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.columns import DeviceColumns
from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import DeviceModel
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Cord:
    """One power cord. ``feed`` is the letter of the rack's feed, ``plug`` the form of its plug at the device;
    both are "" where the rack or the model does not state them. Supplies take the feeds in turn, so that the
    loss of one hits them evenly."""

    cord_id: str
    device: str
    model: str
    hall: str
    rack: str
    u: int | str
    supply: int
    feed: str
    plug: str
    label: str


def cords_of(model: DeviceModel) -> tuple[int, str]:
    """How many power cords a device takes, and the form of their plugs; 0 where its model does not say."""
    value = model.facts.get("cords", 0)
    count, *plug = value if isinstance(value, tuple) else (value,)
    return int(str(count)), str(plug[0]) if plug else ""


def has_cords(fabric: Fabric) -> bool:
    """Whether the model of a device that has a place states its cords."""
    return fabric.places is not None and any(cords_of(m)[0] for m in fabric.models)


def power_cords(fabric: Fabric) -> list[Cord]:
    """The cords, rack after rack from the bottom."""
    p = fabric.places
    if p is None or not has_cords(fabric):
        return []
    rows = np.flatnonzero(fabric.built & (fabric.container < 0) & (p.device_rack >= 0))
    rows = rows[np.lexsort((p.device_unit[rows], p.device_rack[rows]))]
    names = DeviceColumns(fabric).name
    stated = [cords_of(m) for m in fabric.models]
    out = []
    for d in rows.tolist():
        m, rack = int(fabric.device_model[d]), int(p.device_rack[d])
        count, plug = stated[m]
        feeds = p.rack_kind[rack].feeds
        for k in range(count):
            feed = chr(ord("A") + k % feeds) if 0 < feeds <= 26 else ""
            to = f"{p.rack_name(rack)} feed {feed}".removesuffix(" feed ")
            out.append(
                Cord(
                    f"{names[d]}:psu{k + 1}",
                    str(names[d]),
                    fabric.models[m].name,
                    p.hall_name(rack),
                    p.rack_name(rack),
                    int(p.device_unit[d]) or "",
                    k + 1,
                    feed,
                    plug,
                    f"FROM {names[d]} PSU{k + 1} TO {to}",
                )
            )
    return out
