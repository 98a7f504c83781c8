"""Tiers: how far a device set is from the hosts, and with it which end of a link is the lower one and what its class is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.vector import Array
from tdsl.semantics.model import DeviceSet


def main_ends(sets: Sequence[DeviceSet]) -> list[bool]:
    """Which sets a fabric is built for: hosts and chips with accelerators; where there are none, those whose role is not written;
    where all are storage or managers, they."""
    ends = [s.kind in ("host", "chip") for s in sets]
    for role in ("accelerator", ""):
        found = [end and s.role == role for end, s in zip(ends, sets, strict=True)]
        if any(found):
            return found
    return ends


def device_tiers(ends: NDArray[np.bool_], active: NDArray[np.bool_], a: Array, b: Array) -> Array:
    """Hops from the nearest end device; -1 for what is not ``active`` (panels, OCS) or not reached.

    ``ends`` are the devices of tier 0: hosts with accelerators, or all hosts and chips where none has any.
    """
    tier = np.where(ends, 0, -1).astype(np.int64)
    level = 0
    while True:
        at_a, at_b = tier[a] == level, tier[b] == level
        reached = np.concatenate([b[at_a], a[at_b]])
        fresh = np.unique(reached[(tier[reached] < 0) & active[reached]])
        if not len(fresh):
            return tier
        level += 1
        tier[fresh] = level


def set_tiers(sets: Sequence[DeviceSet], device_set: Array, tier: Array) -> Array:
    """The least tier of any device of each set; -1 if none has one. Hosts and chips are at 0 whatever they do."""
    out = np.full(len(sets), np.iinfo(np.int64).max, dtype=np.int64)
    known = tier >= 0
    np.minimum.at(out, device_set[known], tier[known])
    out[out == np.iinfo(np.int64).max] = -1
    for i, s in enumerate(sets):
        if s.kind in ("host", "chip"):
            out[i] = 0
    return out


def class_name(a: DeviceSet, b: DeviceSet) -> str:
    """The class of links between two sets, the lower one first: every host is ``host``."""
    return "-".join("host" if s.kind == "host" else s.name for s in (a, b))
