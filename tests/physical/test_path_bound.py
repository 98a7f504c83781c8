"""The bound by paths holds for every placement: against all of them where they are few, and random ones of random fabrics."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.fabric.places import RackPlaces
from tdsl.physical.lengths import CableRuns
from tdsl.physical.path_bound import path_bound
from tests.harness import compile_text, sampled, sections

TEXTS = sections(Path(__file__).parent / "path_bound.txt")
HALL = f"\n{TEXTS['HALL']}\n"
MODELS = """
model host H { height 2U; port nic[4]: 400Gbps { type NDR } }
model switch S { height 1U; port p[1..32]: 400Gbps { type NDR } }
"""


def wired(body: str, folder: Path, second_row: int = 2) -> tuple[Fabric, CableRuns]:
    text = "fabric f {" + body + HALL.replace("ROWS", str(second_row)) + "}" + MODELS
    found = compile_text(text, folder, models=False, verify=False)
    fabric = found.designs[0].fabric
    assert fabric is not None and fabric.complete and fabric.places is not None
    return fabric, CableRuns(fabric, fabric.places)


def pairs_of(fabric: Fabric) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a, b = fabric.port_device[fabric.cable_a], fabric.port_device[fabric.cable_b]
    keys, count = np.unique(np.minimum(a, b) * fabric.device_count + np.maximum(a, b), return_counts=True)
    return keys // fabric.device_count, keys % fabric.device_count, count


def bound(fabric: Fabric, lengths: CableRuns, per_rack: int = 1) -> int:
    hosts = fabric.kind == "host"
    racks = list(range(lengths.places.rack_count))
    return path_bound(fabric, pairs_of(fabric), lengths, racks, lambda d: per_rack if hosts[d].all() else 9)


def ways(lengths: CableRuns) -> np.ndarray:
    """Micrometres from every rack to every other one, by arithmetic of this test's own: trays across are at 0 and 1.2 m."""
    p: RackPlaces = lengths.places
    out = np.zeros((p.rack_count, p.rack_count), dtype=np.int64)
    for r, q in product(range(p.rack_count), repeat=2):
        x, y = int(p.rack_x[r]), int(p.rack_x[q])
        same = p.rack_row[r] == p.rack_row[q]
        along = abs(x - y) if same else min(abs(x - c) + abs(y - c) for c in (0, 1200)) + 1000
        out[r, q] = along * 1000
    return out


THREE_TIERS = f"\n{TEXTS['THREE_TIERS']}\n"
SPLIT = f"\n{TEXTS['SPLIT']}\n"
TAPERED = THREE_TIERS.replace("spine x 4", "spine x 1")


@pytest.mark.parametrize("body", [THREE_TIERS, SPLIT, TAPERED])
def test_no_placement_of_few_devices_is_shorter(body: str, tmp_path: Path) -> None:
    """Every way to put four hosts into five racks, one a rack, and the switches anywhere."""
    fabric, lengths = wired(body, tmp_path)
    low, high, count = pairs_of(fabric)
    way = ways(lengths)
    hosts = np.flatnonzero(fabric.kind == "host").tolist()
    rest = [d for d in range(fabric.device_count) if d not in hosts]
    best = None
    at = np.zeros(fabric.device_count, dtype=np.int64)
    for mine in permutations(range(5), len(hosts)):
        at[hosts] = mine
        for others in product(range(5), repeat=len(rest)):
            at[rest] = others
            total = int((count * way[at[low], at[high]]).sum())
            best = total if best is None else min(best, total)
    least = bound(fabric, lengths)
    assert best is not None and 0 < least <= best


@pytest.mark.parametrize("seed", sampled(range(12), 2))
def test_random_fabrics_at_random_places(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    hosts, leaves, spines = random.randint(3, 8), random.randint(1, 4), random.randint(1, 3)
    body = f"  host n[{hosts}]: H\n  switch leaf[{leaves}]: S\n  switch spine[{spines}]: S\n"
    for i in range(hosts):
        body += f"  connect n[{i}].nic to leaf[{random.randrange(leaves)}] x {random.randint(1, 4)}\n"
    for i, j in product(range(leaves), range(spines)):
        body += f"  connect leaf[{i}] to spine[{j}] x {random.randint(1, 3)}\n"
    fabric, lengths = wired(body, tmp_path, 7)
    low, high, count = pairs_of(fabric)
    way = ways(lengths)
    least = bound(fabric, lengths)
    rows = np.flatnonzero(fabric.kind == "host")
    at = np.zeros(fabric.device_count, dtype=np.int64)
    for _ in range(2000):
        at[:] = random.choices(range(10), k=len(at)) if random.random() < 0.5 else random.randrange(10)
        near = np.argsort(way[random.randrange(10)], kind="stable")[: len(rows)]
        at[rows] = random.sample(near.tolist(), len(rows))
        assert least <= int((count * way[at[low], at[high]]).sum())


def test_without_trays_there_is_no_bound(tmp_path: Path) -> None:
    text = "fabric f {" + THREE_TIERS + HALL.replace("ROWS", "2").replace("tray above 2.6m { across at 1, 3 }", "") + "}" + MODELS
    found = compile_text(text, tmp_path, models=False, verify=False)
    fabric = found.designs[0].fabric
    assert fabric is not None and fabric.places is not None
    assert bound(fabric, CableRuns(fabric, fabric.places)) == 0
