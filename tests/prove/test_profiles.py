"""Profiles, the least that any x units can count on, against all ways to choose the units."""

from __future__ import annotations

from functools import reduce
from itertools import combinations, product
from random import Random

import numpy as np
import pytest

from tdsl.prove.profiles import join_profiles, min_plus, profile_of_overlapping_sets, repeat_profile, sum_of_profiles
from tests.prove.networks import column

Profile = list[int]


def added(first: Profile, second: Profile, most: int) -> Profile:
    """The least sum over all ways to take x units from the two."""
    found: dict[int, int] = {}
    for (i, x), (j, y) in product(enumerate(first), enumerate(second)):
        found[i + j] = min(found.get(i + j, x + y), x + y)
    return [found[x] for x in sorted(found) if x <= most]


def drawn(rng: Random, size: int) -> Profile:
    """A profile of so many units: convex, concave or neither."""
    steps = [rng.randint(0, 9) for _ in range(size)]
    kind = rng.randrange(3)
    if kind:
        steps.sort(reverse=kind == 1)
    return [sum(steps[:x]) for x in range(size + 1)]


@pytest.mark.parametrize("seed", range(30))
def test_the_profile_of_disjoint_sets(seed: int) -> None:
    """Of two sets, of equal ones, and of several, some of which are equal."""
    rng = Random(seed)
    kinds = [drawn(rng, rng.randint(0, 4)) for _ in range(3)]
    first, second, times = kinds[0], kinds[1], rng.randint(1, 7)
    profiles = [rng.choice(kinds) for _ in range(rng.randint(0, 5))]
    for most in (0, 1, 2, 3, 5, 8, 30):
        assert min_plus(column(first), column(second), most).tolist() == added(first, second, most)
        with np.errstate(all="raise"):
            equal = repeat_profile(column(first), times, most).tolist()
        assert equal == reduce(lambda x, y: added(x, y, most), [first] * times, [0])
        wanted = reduce(lambda x, y: added(x, y, most), profiles, [0])
        assert sum_of_profiles(map(column, profiles), most).tolist() == wanted
        sets = [[10 * i + k for k in range(len(p) - 1)] for i, p in enumerate(profiles)]
        members, found = join_profiles([(column(m), column(p)) for m, p in zip(sets, profiles, strict=True)], most)
        assert found.tolist() == wanted and members.tolist() == [m for mine in sets for m in mine]


@pytest.mark.parametrize("seed", range(30))
def test_sets_that_share_members(seed: int) -> None:
    """Each unit counts on the least share of each of its sets, rounded down; no choice of units gets less."""
    rng = Random(seed)
    parts = []
    for _ in range(rng.randint(2, 4)):
        members = sorted(rng.sample(range(6), rng.randint(1, 4)))
        parts.append((members, [0, *(rng.randint(x, 7 * x) for x in range(1, len(members) + 1))]))
    share = dict.fromkeys(sorted({u for members, _ in parts for u in members}), 0)
    for members, profile in parts:
        for u in members:
            share[u] += min(profile[x] // x for x in range(1, len(profile)))
    values = sorted(share.values())
    for most in (2, 20):
        everyone, found = profile_of_overlapping_sets([(column(m), column(p)) for m, p in parts], most)
        assert everyone.tolist() == list(share)
        assert found.tolist() == [sum(values[:x]) for x in range(len(values) + 1)][: most + 1]
    for x in range(1, len(share) + 1):
        for chosen in combinations(share, x):
            assert found[x] <= sum(p[len(set(m) & set(chosen))] for m, p in parts)
    sets = [set(m) for m, _ in parts]
    if any(one != two and one & two for one, two in combinations(sets, 2)) and len({tuple(m) for m, _ in parts}) == len(parts):
        members, both = join_profiles([(column(m), column(p)) for m, p in parts], 20)
        assert both.tolist() == found.tolist() and members.tolist() == everyone.tolist()
