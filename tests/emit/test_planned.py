"""Planned links of devices that are built, counted against their definition."""

from __future__ import annotations

from collections import Counter
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np

from tdsl.emit.data.planned import planned_links


def test_planned_links_by_device() -> None:
    """By device, tier of the other device and rate; both ends of a link count if they are built, ends of traffic are tier 0, and
    links whose ports are not kept do not count."""
    for seed in range(60):
        random = Random(seed)
        n, count = random.randint(2, 6), random.randint(0, 12)
        tier = np.array([random.choice([-1, 0, 1, 2]) for _ in range(n)])
        is_end = np.array([random.random() < 0.4 for _ in range(n)])
        built = np.array([random.random() < 0.6 for _ in range(n)])
        a, b = (np.array([random.randrange(n) for _ in range(count)], dtype=np.int64) for _ in range(2))
        rate = np.array([random.choice([100, 400]) for _ in range(count)], dtype=np.int64)
        kept = np.array([random.random() < 0.7 for _ in range(count)], dtype=bool)
        absent = {"absent_a": a, "absent_b": b, "absent_rate": rate, "absent_reserved": kept}
        fabric: Any = SimpleNamespace(tier=tier, is_end=is_end, built=built, **absent)
        wanted: Counter[tuple[int, int, int]] = Counter()
        for x, y, r, keeps in zip(a.tolist(), b.tolist(), rate.tolist(), kept.tolist(), strict=True):
            for device, other in ((x, y), (y, x)):
                if keeps and built[device]:
                    wanted[device, 0 if is_end[other] else int(tier[other]), r] += 1
        table = planned_links(fabric, np.array([f"d{d}" for d in range(n)], dtype=object))
        rows = list(zip(*(table.column(c) for c in ("device", "tier", "rate_bps", "links")), strict=True))
        assert rows == [(f"d{d}", t if t >= 0 else "", r, wanted[d, t, r]) for d, t, r in sorted(wanted)]
