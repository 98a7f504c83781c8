"""Contents of racks exchanged until no exchange shortens the cables, against a search that measures all cables anew."""

from __future__ import annotations

from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from tdsl.physical.arrangement import FAR, Arrangement, arrange_racks
from tdsl.physical.lengths import MM


def problem(random: Random) -> Arrangement:
    """Contents, racks of two kinds or one, some given racks behind them, ways that may be unknown."""
    slots, fixed = random.randint(2, 7), random.randint(0, 2)
    racks = random.sample(range(20), slots + fixed)
    movable = random.randint(1, slots)
    network_slot, network = None, [random.random() < 0.4 for _ in range(movable)]
    start = random.sample(range(slots), movable)
    if random.random() < 0.5:
        own = [random.random() < 0.5 for _ in range(slots)]
        network_slot, network = np.array(own), [own[s] for s in start]
    at = [random.choice((0, 1, 2, 3, 7)) * 600_000 + random.choice((0, 999)) for _ in range(20)]
    unknown = {(a, b) for a in range(20) for b in range(20) if random.random() < 0.05}
    symmetric = unknown | {(b, a) for a, b in unknown}

    def way(a: Any, b: Any) -> Any:
        return np.array([-1 if (x, y) in symmetric else abs(at[x] - at[y]) for x, y in zip(a.tolist(), b.tolist(), strict=True)])

    size = movable + fixed
    every = [(a, b) for a in range(size) for b in range(size) if a != b]
    pairs = sorted(random.sample(every, min(len(every), random.randint(1, 8)))) if every else []
    rows = np.array([(*pair, random.randint(1, 5)) for pair in pairs], dtype=np.int64).reshape(-1, 3)
    a, b, count = rows.T
    lengths: Any = SimpleNamespace(way=way)
    return Arrangement(lengths, racks[:slots], network_slot, start, np.array(network), racks[slots:], size, a, b, count)


def test_exchanges() -> None:
    """The cables are no longer than before, and no content that moves to another rack, whose content takes its place, shortens
    them further, all cables measured anew."""
    shorter = 0
    for seed in range(150):
        p = problem(Random(seed))
        found = arrange_racks(p)
        begun = [p.slots[s] for s in p.start]
        assert len(set(found)) == len(found) and set(found) <= set(p.slots)
        if p.network_slot is not None:
            own = dict(zip(p.slots, p.network_slot.tolist(), strict=True))
            moved = [c for c, (a, b) in enumerate(zip(begun, found, strict=True)) if a != b]
            assert all(own[found[c]] == bool(p.network[c]) for c in moved if (p.a == c).any() or (p.b == c).any())

        def total(racks: list[int], p: Arrangement = p) -> int:
            ends = np.array([*racks, *p.fixed])
            way = p.lengths.way(ends[p.a], ends[p.b])
            far = np.where(ends[p.a] == ends[p.b], 0, np.where(way < 0, FAR, way // MM))
            return int((far * p.count).sum())

        least = total(found)
        assert least <= total(begun)
        for c, s in product(range(len(found)), p.slots):
            if len(found) > 1 and (p.network_slot is None or own[s] == bool(p.network[c])) and ((p.a == c) | (p.b == c)).any():
                then = [found[c] if rack == s else rack for rack in found]
                then[c] = s
                assert least <= total(then), seed
        shorter += least < total(begun)
    assert shorter > 60
