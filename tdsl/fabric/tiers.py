"""Tiers: how far a device is from the hosts in the planned fabric, and with it the lower end of a link and
its class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.vector import Array
from tdsl.semantics.model import DeviceSet


def main_ends(sets: Sequence[DeviceSet]) -> list[bool]:
    """Which sets a fabric is built for: hosts and chips with accelerators; where there are none, those whose
    role is not written; where all are storage or managers, they."""
    ends = [s.kind in ("host", "chip") for s in sets]
    for role in ("accelerator", ""):
        found = [end and s.role == role for end, s in zip(ends, sets, strict=True)]
        if any(found):
            return found
    return ends


def planned_tiers(sets: Sequence[DeviceSet], device_set: Array, a: Array, b: Array) -> Array:
    """The tier of every device: 0 for hosts and chips, 1 for switches connected to hosts that the fabric is
    built for, and so on; -1 for panels, OCS and what nothing reaches.

    ``a`` and ``b`` are the devices of all *planned* links, those of omitted devices included, so that no tier
    depends on which hosts are built. Two kinds of switches have a tier by their declaration: those connected
    to other hosts (storage) alone, and those without hosts, where other switches of their declaration are at
    tier 1 and they connect only to switches above. A manager connected to a spine does not make it a leaf.
    """
    is_end = np.array([s.kind in ("host", "chip") for s in sets] or [False])[device_set]
    forwards = np.array([s.kind == "switch" for s in sets] or [False])[device_set]
    main = np.array(main_ends(sets) or [False])[device_set]
    start = np.where(main, 0, -1).astype(np.int64)
    tier = device_tiers(start, forwards, a, b)
    at_one = np.zeros(len(sets), dtype=np.bool_)
    at_one[device_set[forwards & (tier == 1)]] = True
    beside = at_one[device_set]  # whether a device's declaration has one at tier 1
    other = is_end & ~main
    bare = forwards & (tier != 1) & beside
    for near, far in ((a, b), (b, a)) if other.any() or bare.any() else ():
        to_one = beside[far]
        other[near[~to_one]] = False
        bare[near[to_one]] = False
    start[other] = 0
    start[bare] = 1
    if bare.any() or other.any():
        tier = device_tiers(start, forwards, a, b)
    tier[is_end] = 0
    return tier


def device_tiers(start: Array, forwards: NDArray[np.bool_], a: Array, b: Array) -> Array:
    """Hops over forwarding devices from those that have a tier in ``start`` (else -1), by breadth-first
    search."""
    tier, level = start.copy(), 0
    while (tier == level).any():
        here = tier == level
        reached = np.zeros(len(tier), dtype=np.bool_)
        reached[b[here[a]]] = True
        reached[a[here[b]]] = True
        tier[reached & (tier < 0) & forwards] = level + 1
        level += 1
    return tier


def set_tiers(sets: Sequence[DeviceSet], device_set: Array, tier: Array) -> Array:
    """The least tier of any device of each set; -1 if none has one. Hosts and chips are at 0 whatever they
    do."""
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
