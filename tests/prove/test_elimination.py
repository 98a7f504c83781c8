"""Least cuts by elimination, against every balanced split."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from tdsl.prove.elimination import elimination_order, least_cut_by_elimination
from tdsl.prove.network import CapacityPairs


def links(net: Any) -> list[tuple[int, int, int]]:
    n = len(net.units)
    return [
        (a + x, b + y, c)
        for p, x, y in ((net.access, 0, n), (net.trunks, n, n), (net.loose, 0, 0))
        for a, b, c in zip(p.a.tolist(), p.b.tolist(), p.capacity.tolist(), strict=True)
    ]


def least(net: Any, units: Sequence[bool]) -> int:
    """The least cut with these units on the one side."""
    sides = ([*units, *nodes] for nodes in product((False, True), repeat=len(net.transit)))
    return min(sum(c for a, b, c in links(net) if side[a] != side[b]) for side in sides)


def pairs(rng: Random, ends: list[tuple[int, int]], chance: float) -> CapacityPairs:
    """Some of these pairs, with capacities at random."""
    kept = sorted(x for x in ends if rng.random() < chance)
    columns = np.array([(*x, rng.randint(1, 9)) for x in kept], dtype=np.int64).reshape(-1, 3)
    return CapacityPairs(*columns.T)


def made(seed: int) -> Any:
    """Units and transit nodes with links of all three kinds, not always connected."""
    rng = Random(seed)
    n, m = rng.randint(2, 6), rng.randint(0, 5)
    chance = rng.choice([0.2, 0.4, 0.7])
    access = pairs(rng, list(product(range(n), range(m))), chance)
    trunks, loose = (pairs(rng, list(combinations(range(x), 2)), y) for x, y in ((m, chance), (n, chance * (seed % 2))))
    return SimpleNamespace(units=np.arange(n), transit=np.arange(m), access=access, trunks=trunks, loose=loose, half=n // 2)


def test_the_least_of_all_balanced_splits() -> None:
    """And a split that has it."""
    for seed in range(60):
        net = made(seed)
        n = len(net.units)
        found = least_cut_by_elimination(net)
        assert found is not None
        value, side = found
        assert int(side.sum()) in (n // 2, n - n // 2), seed
        every = [least(net, [i in chosen for i in range(n)]) for chosen in combinations(range(n), n // 2)]
        assert value == min(every) == least(net, side.tolist()), seed


def test_capacities_that_do_not_fit_are_not_added_up() -> None:
    """All links together below 2^61."""
    for kind in ("access", "trunks", "loose"):
        for total, fits in ((2**60, True), (2**61 - 1, True), (2**62, False)):
            one = CapacityPairs(np.array([0]), np.array([1]), np.array([total - 2], dtype=np.int64))
            two = CapacityPairs(np.array([0]), np.array([1]), np.array([1], dtype=np.int64))
            links_ = {k: one if k == kind else two for k in ("access", "trunks", "loose")}
            net: Any = SimpleNamespace(units=np.arange(2), transit=np.arange(2), half=1, **links_)
            assert (elimination_order(net) is not None) == fits
            if fits:
                found = least_cut_by_elimination(net)
                assert found is not None and found[0] == least(net, found[1].tolist())
