"""Links that are planned and not built, counted by device."""

from __future__ import annotations

import numpy as np

from tdsl.emit.link_tables import number_or_blank
from tdsl.fabric.columns import Objects, Table
from tdsl.fabric.graph import Fabric
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PlannedLinks:
    """Links of one rate from a device that is built to planned devices of one tier, which are not built while
    the ports of these links are kept. ``tier`` is "" where there is none."""

    device: str
    tier: int | str
    rate_bps: int
    links: int


def planned_links(fabric: Fabric, names: Objects) -> Table[PlannedLinks]:
    """The table for a fabric whose devices have these names; endpoints have tier 0."""
    f, kept = fabric, fabric.absent_reserved
    device = np.concatenate((f.absent_a[kept], f.absent_b[kept]))
    other = np.concatenate((f.absent_b[kept], f.absent_a[kept]))
    facts = np.stack((device, np.where(f.is_end, 0, f.tier)[other], np.tile(f.absent_rate[kept], 2)))[
        :, f.built[device]
    ]
    (device, tier, rate), count = np.unique(facts, axis=1, return_counts=True)
    return Table(
        PlannedLinks,
        len(count),
        {
            "device": lambda: names[device].tolist(),
            "tier": lambda: [number_or_blank(t) for t in tier.tolist()],
            "rate_bps": lambda: rate.tolist(),
            "links": lambda: count.tolist(),
        },
    )
