"""A lower bound of what the cables of an automatic placement run along the trays, from paths through the
whole fabric.

Theorem. Let ``way`` be the length along the trays, n(e) the cables that join the two devices of a pair e, and
let each path of a family have a weight, such that the weights of the paths through a pair e add up to at most
n(e). The cables then run at least the sum, over all paths, of weight times ``way`` between the ends of the
path. Proof. In one hall ``way`` is a metric: it is zero in a rack, symmetric, and no detour through a third
rack is shorter (`_inside` of `Lengths`: along a row, and over the best of the trays across, which join all
rows). So each path is as long as the way between its ends at least; summed with the weights, every pair
counts with at most n(e).

The family: each cable of a device of the top tier is continued downwards, evenly over the cables of each
device that it reaches, until there are none. All weights are then scaled by one factor until no pair has more
than n(e). What the paths leave of n(e) is counted by itself, as a path of one pair. The paths from one device
t lead to devices of which no rack takes more than a number (height, power, load and hosts per rack,
`capacity`). Wherever t is, at a free rack r, they occupy the racks nearest to r at best, with the greatest
weights nearest; the bound takes the least of this over all r, for every t by itself.

Weights are in binary fractions. All terms are positive, so a relative error below 1e-9 covers the rounding,
and is taken off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.graph import Fabric, Ints
from tdsl.fabric.order import distinct_values
from tdsl.physical.lengths import CableRuns

Floats = NDArray[np.float64]
Profile = tuple[tuple[int, bytes], ...]
"""Of every group of devices of one model: how many a rack takes, and their weights, the greatest first."""
MOST_RACKS = 12_000
"""Free racks above which only the bound by pairs is computed."""
MOST_PROFILES = 64
"""Different sets of weights above which only the bound by pairs is computed."""
SAFE = 1 - 1e-9
GRAIN = float(1 << 24)
"""Weights are rounded down to multiples of its inverse, so that those that differ by rounding alone are
one."""
OPEN = 1 << 62


def path_bound(
    fabric: Fabric,
    pairs: tuple[Ints, Ints, Ints],
    lengths: CableRuns,
    racks: list[int],
    capacity: Callable[[Ints], int],
) -> int:
    """Micrometres along the trays of the cables of ``pairs`` (two devices without a place, and how many
    cables join them), 0 where the ways between ``racks``, the free ones, are no metric or there are too many.
    ``capacity`` says how many of some devices a rack takes at most."""
    halls = distinct_values(lengths.places.rack_hall[np.array(racks)])
    if len(halls) != 1 or not len(pairs[0]) or len(racks) > MOST_RACKS:
        return 0
    counted: dict[Profile, float] = {}
    for reached, weight, times in _path_families(fabric, pairs):
        profile = _weights_by_model(fabric, reached, weight, capacity)
        counted[profile] = counted.get(profile, 0.0) + times
        if len(counted) > MOST_PROFILES:
            return 0
    least = _least_weighted_distances(list(counted), lengths, np.array(racks, dtype=np.int64))
    return 0 if least is None else int(sum(least[k] * n for k, n in enumerate(counted.values())) * SAFE)


def _path_families(fabric: Fabric, pairs: tuple[Ints, Ints, Ints]) -> Iterator[tuple[Ints, Floats, float]]:
    """For every kind of device at which paths begin: the devices that they lead to, their weights, and how
    many have one beginning."""
    low, high, count = pairs
    tier = fabric.tier
    level = tier[low] == tier[high]
    upper = np.where(tier[low] > tier[high], low, high)[~level]
    lower = (low + high)[~level] - upper
    room = count[~level].astype(np.float64)
    order = np.lexsort((lower, upper))
    upper, lower, room = upper[order], lower[order], room[order]
    down = np.bincount(upper, weights=room, minlength=fabric.device_count)
    first = np.searchsorted(upper, np.arange(fabric.device_count + 1))
    load = np.zeros(len(room))
    begun: list[tuple[Ints, Floats, float]] = []
    top = int(tier[upper].max(initial=-1))
    for t, times in _interchangeable_devices(distinct_values(upper[tier[upper] == top]), first, lower, room):
        weight = np.zeros(fabric.device_count)
        rows = np.arange(first[t], first[t + 1])
        weight[lower[rows]] = room[rows]
        load[np.concatenate([np.arange(first[u], first[u + 1]) for u in times])] += np.tile(
            room[rows], len(times)
        )
        for now in range(top - 1, -1, -1):
            at = np.flatnonzero((weight > 0) & (tier == now) & (down > 0))
            if not len(at):
                continue
            rows = np.concatenate([np.arange(first[d], first[d + 1]) for d in at.tolist()])
            passed = weight[upper[rows]] * room[rows] / down[upper[rows]]
            load[rows] += passed * len(times)
            np.add.at(weight, lower[rows], passed)
            weight[at] = 0
        reached = np.flatnonzero(weight > 0)
        begun.append((reached, weight[reached], float(len(times))))
    share = 1 / max(1.0, float((load / room).max(initial=0.0)))
    yield from ((reached, weight * share, n) for reached, weight, n in begun)
    left = np.maximum(room - load * share, 0.0)
    left[left < room * 1e-6] = 0
    centre = np.concatenate([upper[left > 0], low[level]])
    other = np.concatenate([lower[left > 0], high[level]])
    yield from _single_pair_paths(
        fabric, centre, other, np.concatenate([left[left > 0], count[level].astype(np.float64)])
    )


def _single_pair_paths(
    fabric: Fabric, a: Ints, b: Ints, weight: Floats
) -> Iterator[tuple[Ints, Floats, float]]:
    """Paths of one pair each, begun at the device that has more of them."""
    if not len(a):
        return
    degree = np.bincount(np.concatenate([a, b]), minlength=fabric.device_count)
    centre = np.where(degree[a] >= degree[b], a, b)
    other = a + b - centre
    order = np.lexsort((other, centre))
    centre, other, weight = centre[order], other[order], weight[order]
    starts = np.flatnonzero(np.r_[True, centre[1:] != centre[:-1]])
    for i, j in zip(starts.tolist(), [*starts[1:].tolist(), len(centre)], strict=True):
        yield other[i:j], weight[i:j], 1.0


def _interchangeable_devices(
    tops: Ints, first: Ints, lower: Ints, room: Floats
) -> Iterator[tuple[int, list[int]]]:
    """Devices that are joined to the same ones by as many cables: one of them, and all."""
    found: dict[tuple[bytes, bytes], list[int]] = {}
    for t in tops.tolist():
        rows = slice(int(first[t]), int(first[t + 1]))
        found.setdefault((lower[rows].tobytes(), room[rows].tobytes()), []).append(t)
    return ((paths[0], paths) for paths in found.values())


def _weights_by_model(
    fabric: Fabric, reached: Ints, weight: Floats, capacity: Callable[[Ints], int]
) -> Profile:
    """What counts of the devices that paths lead to: for each model how many a rack takes, and the
    weights."""
    out = []
    for m in distinct_values(fabric.device_model[reached]).tolist():
        mine = fabric.device_model[reached] == m
        out.append((capacity(reached[mine]), np.sort(np.floor(weight[mine] * GRAIN) / GRAIN)[::-1].tobytes()))
    return tuple(sorted(out))


def _least_weighted_distances(profiles: list[Profile], lengths: CableRuns, racks: Ints) -> list[float] | None:
    """For every profile the least sum of weight times way, over all free racks to be at; None where a way is
    not known."""
    least = [float("inf")] * len(profiles)
    cells = [[(each, np.frombuffer(weights)) for each, weights in p] for p in profiles]
    shares = [[(_weights_by_rack(each, weights, len(racks))) for each, weights in cell] for cell in cells]
    for r in racks.tolist():
        way = lengths.way(np.full(len(racks), r, dtype=np.int64), racks)
        if (way < 0).any():
            return None
        near = np.sort(np.where(racks == r, 0, way)).astype(np.float64)
        for k, share in enumerate(shares):
            least[k] = min(least[k], sum(float(part @ near[: len(part)]) for part in share))
    return least


def _weights_by_rack(each: int, weights: Floats, racks: int) -> Floats:
    """Weights that fall to the nearest rack, the next one and so on, when a rack takes ``each`` of the
    devices."""
    each = max(min(each, len(weights)), 1)
    starts = np.arange(0, len(weights), each)
    return np.asarray(np.add.reduceat(weights, starts)[:racks], dtype=np.float64)
