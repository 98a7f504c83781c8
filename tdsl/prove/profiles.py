"""Profiles: for every number x of units, the least that any x of them can count on. Whole numbers,
``profile[0] == 0``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np

from tdsl.fabric.graph import Ints


def min_plus(first: Ints, second: Ints, most: int) -> Ints:
    """The least sum over all ways to choose x units from two disjoint sets (min-plus convolution), for x up
    to ``most``."""
    if len(first) > len(second):
        first, second = second, first
    size = min(len(first) + len(second) - 1, most + 1)
    out = np.full(size, np.iinfo(np.int64).max, dtype=np.int64)
    for x, value in enumerate(first[:size].tolist()):
        part = second[: size - x]
        np.minimum(out[x : x + len(part)], part + value, out=out[x : x + len(part)])
    return out


def repeat_profile(profile: Ints, times: int, most: int) -> Ints:
    """The profile of several disjoint sets that have one and the same."""
    size = len(profile) - 1
    if size == 0 or times == 1:
        return profile[: most + 1]
    if (np.diff(profile, 2) <= 0).all():
        # a concave sum is least at a vertex: all sets but one are taken whole or not at all
        x = np.arange(min(size * times, most) + 1)
        whole: Ints = (x // size) * profile[size] + profile[x % size]
        return whole
    out, power = np.zeros(1, dtype=np.int64), profile[: most + 1]
    while times:
        if times & 1:
            out = min_plus(out, power, most)
        times >>= 1
        if times:
            power = min_plus(power, power, most)
    return out


def sum_of_profiles(profiles: Iterable[Ints], most: int) -> Ints:
    """The profile of disjoint sets."""
    equal = Counter(p.tobytes() for p in profiles)
    out = np.zeros(1, dtype=np.int64)
    for key, times in equal.items():
        out = min_plus(out, repeat_profile(np.frombuffer(key, dtype=np.int64), times, most), most)
    return out


def profile_of_overlapping_sets(parts: Iterable[tuple[Ints, Ints]], most: int) -> tuple[Ints, Ints]:
    """Members and profile of sets that share members: each unit counts on the least share that its sets give
    anyone.

    With p(x) ≥ slope · x for every x, a choice S gets at least the sum over its units of the slopes of the
    sets they are in.
    """
    share: dict[int, int] = {}
    for members, profile in parts:
        slope = min((profile[1:] // np.arange(1, len(profile))).tolist(), default=0)
        for u in members.tolist():
            share[u] = share.get(u, 0) + slope
    values = np.sort(np.array(list(share.values()), dtype=np.int64))
    profile = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(values)))
    return np.array(sorted(share), dtype=np.int64), profile[: most + 1]


def join_profiles(parts: Iterable[tuple[Ints, Ints]], most: int) -> tuple[Ints, Ints]:
    """Members and profile of sets that are equal or disjoint; where some overlap otherwise, a smaller profile
    that holds."""
    groups: dict[bytes, tuple[Ints, Ints]] = {}
    for members, profile in parts:
        key = members.tobytes()
        groups[key] = (members, groups[key][1] + profile) if key in groups else (members, profile)
    found = list(groups.values())
    if not found:
        none = np.zeros(0, dtype=np.int64)
        return none, np.zeros(1, dtype=np.int64)
    everyone = np.unique(np.concatenate([m for m, _ in found]))
    if len(everyone) < sum(len(m) for m, _ in found):
        return profile_of_overlapping_sets(found, most)
    return everyone, sum_of_profiles((p for _, p in found), most)
