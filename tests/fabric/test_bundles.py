"""Bundles of random connects, by loops: which links are one, and their numbers at each device."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.fabric.cables import bundles
from tdsl.fabric.graph import Fabric
from tests.harness import compile_text

MODEL = "model switch S { port p[1..64]: any; port q[1..64]: any }\n"


def random_design(chance: Random) -> tuple[str, list[int]]:
    """Connects between six switches, some with bundles, whose links mostly fit; the size of bundles of each statement."""
    sizes, lines = [], []
    for _ in range(4):
        size, copies = chance.choice([0, 2, 2, 3]), chance.randint(1, 3)
        guard = chance.choice(["", " where i < 2", " where j != i", " where j == i"])
        times = max(size, 1) * copies + (chance.random() < 0.06)
        sides = chance.choice([("a[i]", "b[j]"), ("b[j]", "a[i]"), ("a[i].q", "b[j].q")])
        lines.append(f"connect {sides[0]} to {sides[1]} x {times}{guard} {{ rate 100Gbps{f'; bundle {size}' if size else ''} }}")
        sizes.append(size)
    return "fabric f { switch a[3]: S; switch b[3]: S\n" + "\n".join(lines) + "\n}\n" + MODEL, sizes


def between(f: Fabric, sizes: list[int]) -> dict[tuple[int, int, int], list[int]]:
    """The links of each statement with bundles between two devices, in the order of their ports at the lower one."""
    out = defaultdict(list)
    for i in range(f.link_count):
        statement = int(f.link_statement[i])
        if sizes[statement]:
            out[statement, int(f.device_a[i]), int(f.device_b[i])].append(i)
    return out


@pytest.mark.parametrize("seed", range(25))
def test_bundles_of_connects(seed: int, tmp_path: Path) -> None:
    """Each takes the next links between its two devices; links that are no multiple are refused at their statement."""
    text, sizes = random_design(Random(seed))
    made = compile_text(text, tmp_path, verify=False, models=False)
    f = made.designs[0].fabric
    assert f is not None
    links = between(f, sizes)
    refused = {d.span.text for d in made.findings if d.code == "E0214" and d.span}
    assert refused == {f"bundle {sizes[s]}" for (s, _, _), rows in links.items() if len(rows) % sizes[s]}
    if refused:
        return
    parts = [rows[k : k + sizes[s]] for (s, _, _), rows in links.items() for k in range(0, len(rows), sizes[s])]
    found = [bundles.links_of_bundle(f, n) for n in range(int(f.link_bundle.max(initial=-1)) + 1)]
    assert found == sorted(parts, key=lambda rows: rows[0])
    assert Counter(f.link_bundle.tolist())[-1] == f.link_count - sum(map(len, parts))
    spare = [i for rows in parts for i in rows[1:]]
    assert bundles.spare_members(f, np.arange(f.link_count)).tolist() == sorted(spare)
    lowest: dict[int, dict[int, int]] = defaultdict(dict)
    for devices, ports in ((f.device_a, f.link_a), (f.device_b, f.link_b)):
        for d, n, port in zip(devices.tolist(), f.link_bundle.tolist(), ports.tolist(), strict=True):
            if n >= 0:
                lowest[d][n] = min(port, lowest[d].get(n, port))
    rank = {d: {n: k for k, n in enumerate(sorted(own, key=own.__getitem__), 1)} for d, own in lowest.items()}
    for devices, numbers in zip((f.device_a, f.device_b), bundles.bundle_numbers_at_devices(f), strict=True):
        told = [rank[d][n] if n >= 0 else 0 for d, n in zip(devices.tolist(), f.link_bundle.tolist(), strict=True)]
        assert numbers.tolist() == told, "from 1 at each device, by the lowest port of a bundle there"
