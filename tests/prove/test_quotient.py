"""Equitable partitions, against their definition; that quotient networks change no bound is in ``test_concurrent_flow.py``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from random import Random

import pytest

from tdsl.prove.symmetry import equal_demands
from tests.prove.networks import Rows, column, columns


def first_of(keys: list[Hashable]) -> list[int]:
    """Of everything the first with the same key."""
    seen: dict[Hashable, int] = {}
    return [seen.setdefault(key, i) for i, key in enumerate(keys)]


def rows_of(count: int, rows: Rows) -> list[frozenset[tuple[int, int]]]:
    """What every owner has: others, with the sum of the amounts."""
    out: list[Counter[int]] = [Counter() for _ in range(count)]
    for owner, other, amount in rows:
        out[owner][other] += amount
    return [frozenset(x.items()) for x in out]


def refined(label: list[int], demands: Rows) -> tuple[list[int], list[int]]:
    """The coarsest equitable partition of senders and of receivers, by refinement."""
    out, into = first_of(list(label)), first_of(list(label))
    while True:
        sends = rows_of(len(label), [(s, into[t], x) for s, t, x in demands])
        gets = rows_of(len(label), [(t, out[s], x) for s, t, x in demands])
        fresh = first_of(list(zip(out, sends, strict=True))), first_of(list(zip(into, gets, strict=True)))
        if fresh == (out, into):
            return out, into
        out, into = fresh


@pytest.mark.parametrize("seed", range(40))
def test_the_coarsest_equitable_partition(seed: int) -> None:
    """A chain of demands needs as many rounds as it is long."""
    rng = Random(seed)
    size = rng.randint(2, 9)
    if seed < 5:
        demands = [(v, v + 1, 1) for v in range(seed + 1)]
        size = seed + 4
    else:
        demands = [(rng.randrange(size), rng.randrange(size), rng.choice([1, 1, 2])) for _ in range(rng.randint(0, 12))]
    label = [0] * size if seed % 2 else [rng.randrange(2) for _ in range(size)]
    out, into = equal_demands(column(first_of(list(label))), *columns(demands))
    assert (out.tolist(), into.tolist()) == refined(label, demands)
