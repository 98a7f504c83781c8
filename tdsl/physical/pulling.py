"""Bundles and the order of pulling, where devices have places.

Cables between two racks are one bundle. Bundles with the longest way along the trays are pulled first, row
after row: each shorter one then leaves the tray before the ends of those below it, so none is pulled under
another. Cables inside a rack come last, rack after rack, and then those of which an end has no place.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tdsl.fabric.columns import Column
from tdsl.fabric.graph import Fabric, Ints
from tdsl.physical.model import Physical


def pulling_columns(fabric: Fabric, physical: Physical, rank: Ints) -> dict[str, Callable[[], Column]]:
    """``bundle`` and ``pull_order`` of every cable leg; ``rank`` is the place of each row's cable in the
    plan."""
    p, top = physical.places, physical.lengths.top
    leader = _first_leg_of_cable(fabric)
    ends = [
        p.device_rack[top[fabric.port_device[ports[leader]]]] for ports in (fabric.cable_a, fabric.cable_b)
    ]
    low, high = np.minimum(*ends), np.maximum(*ends)
    known = low >= 0
    apart = known & (low != high)
    way = np.zeros(len(leader), dtype=np.int64)
    way[apart] = physical.lengths.way(low[apart], high[apart])
    group = np.where(apart, 0, np.where(known, 1, 2))
    first = np.where(known, low, 0)
    row, hall = (
        column[first] if known.any() else first for column in (p.rack_row, p.rack_hall)
    )  # there may be no rack at all
    order = np.lexsort((rank[leader], high, low, -way, row, hall, group))
    turn = np.empty(len(order), dtype=np.int64)
    turn[order] = np.arange(len(order)) + 1
    cable = fabric.cable_group
    names = (
        p.rack_names if len(p.halls) == 1 else [f"{p.hall_name(r)}.{n}" for r, n in enumerate(p.rack_names)]
    )

    def bundle() -> Column:
        pairs = zip(low.tolist(), high.tolist(), strict=True)
        tied = ["" if a < 0 else names[a] if a == b else f"{names[a]}/{names[b]}" for a, b in pairs]
        return [tied[g] for g in cable.tolist()]

    return {"bundle": bundle, "pull_order": lambda: turn[cable].tolist()}


def _first_leg_of_cable(fabric: Fabric) -> Ints:
    """The first row of every cable."""
    out = np.zeros(int(fabric.cable_group.max()) + 1 if len(fabric.cable_group) else 0, dtype=np.int64)
    out[fabric.cable_group[::-1]] = np.arange(len(fabric.cable_group))[::-1]
    return out
