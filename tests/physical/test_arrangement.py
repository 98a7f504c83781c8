"""Contents of racks exchanged until no exchange shortens the cables, against a search that measures all cables anew."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from tdsl.physical import arrangement
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


def exchanged(p: Arrangement) -> list[int]:
    """The same search, with all cables measured anew for each exchange."""
    racks = [*p.slots, *p.fixed]

    def far(r: int, q: int) -> int:
        way = int(p.lengths.way(np.array([racks[r]]), np.array([racks[q]]))[0])
        return 0 if r == q else FAR if way < 0 else way // MM

    at = [*p.start, *range(len(p.slots), len(racks))]
    pairs = list(zip(p.a.tolist(), p.b.tolist(), p.count.tolist(), strict=True))

    def total(of: list[int]) -> int:
        return sum(n * far(of[a], of[b]) for a, b, n in pairs)

    near = [{b if a == c else a for a, b, _ in pairs if c in (a, b)} for c in range(p.size)]
    order = sorted(range(len(p.start)), key=lambda c: (-len(near[c]), c))
    for _ in range(arrangement.SWEEPS):
        moved = False
        for c in order:
            slots = [
                s for s in range(len(p.slots))
                if near[c] and (p.network_slot is None or bool(p.network_slot[s]) == bool(p.network[c]))
            ]  # fmt: skip
            best = (0, -1)
            for s in slots:
                then = [at[c] if x == s else x for x in at]
                then[c] = s
                best = min(best, (total(then) - total(at), s if total(then) < total(at) else -1))
            if best[1] >= 0:
                at = [at[c] if x == best[1] else x for x in at]
                at[c] = best[1]
                moved = True
        if not moved:
            break
    return [p.slots[s] for s in at[: len(p.start)]]


def test_exchanges() -> None:
    moved = 0
    for seed in range(150):
        p = problem(Random(seed))
        found = arrange_racks(p)
        begun = [p.slots[s] for s in p.start]
        assert found == (exchanged(p) if len(p.start) > 1 else begun), seed
        moved += found != begun
    assert moved > 60
