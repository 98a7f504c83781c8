"""Tiers by the definition that the text of ``planned_tiers`` gives, one device after the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric.tiers import planned_tiers
from tests.fabrics import Builder
from tests.harness import compile_text, sections

KINDS = ("host", "chip", "switch", "switch", "switch", "ocs")


def hops(start: dict[int, int], forwards: set[int], near: dict[int, set[int]]) -> dict[int, int]:
    """Hops over switches from the devices that have a tier already."""
    tier, level = dict(start), 0
    while level in tier.values():
        for d in [d for d, t in tier.items() if t == level]:
            for n in near[d] & forwards:
                tier.setdefault(n, level + 1)
        level += 1
    return tier


def by_definition(kinds: list[str], roles: list[str], owner: list[int], links: list[tuple[int, int]]) -> list[int]:
    """Tiers of devices whose declarations have these kinds and roles."""
    devices = range(len(owner))
    near = {d: {y for x, y in links if x == d} | {x for x, y in links if y == d} for d in devices}
    ends = {d for d in devices if kinds[owner[d]] in ("host", "chip")}
    some = [r for k, r in zip(kinds, roles, strict=True) if k in ("host", "chip")]
    wanted = "accelerator" if "accelerator" in some else "" if "" in some else None
    main = {d for d in ends if wanted is None or roles[owner[d]] == wanted}
    forwards = {d for d in devices if kinds[owner[d]] == "switch"}
    tier = hops(dict.fromkeys(main, 0), forwards, near)
    beside = {d for d in devices if any(owner[d] == owner[e] and tier.get(e) == 1 and e in forwards for e in devices)}
    other = {d for d in ends - main if near[d] <= beside}
    bare = {d for d in forwards & beside if tier.get(d) != 1 and not near[d] & beside}
    tier = hops(dict.fromkeys(main | other, 0) | dict.fromkeys(bare, 1), forwards, near)
    return [0 if d in ends else tier.get(d, -1) for d in devices]


@pytest.mark.parametrize("seed", range(100))
def test_tiers_by_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    b = Builder()
    count = int(rng.integers(1, 6))
    kinds = [str(rng.choice(KINDS)) for _ in range(count)]
    roles = [str(rng.choice(["accelerator", "storage", ""])) if k in ("host", "chip") else "" for k in kinds]
    models = {k: b.model(k, k.upper(), {"p": 8}) for k in set(kinds)}
    for n, (kind, role) in enumerate(zip(kinds, roles, strict=True)):
        b.devices(f"d{n}", models[kind], int(rng.integers(1, 5)), role=role)
    assert [(s.kind, s.role) for s in b.sets] == list(zip(kinds, roles, strict=True))
    owner = [n for n, s in enumerate(b.sets) for _ in range(s.count)]
    size = int(rng.integers(0, 2 * len(owner)))
    links = [(int(x), int(y)) for x, y in rng.integers(0, len(owner), (size, 2)) if x != y]
    a, z = (np.array([link[k] for link in links], dtype=np.int64) for k in (0, 1))
    found = planned_tiers(b.sets, np.array(owner), a, z)
    assert found.tolist() == by_definition(kinds, roles, owner, links)


# accelerators 0 and 1, storage 2 and 3, leaves 4 to 7, spine 8
TEXTS = sections(Path(__file__).parent / "tiers.txt")
STORAGE = f"{TEXTS['STORAGE']}\n"


@pytest.mark.parametrize("leaves", [4, 5])
def test_joined_leaves_of_storage_are_leaves(leaves: int, tmp_path: Path) -> None:
    """Two leaves with storage alone and a link between them, beside leaves with accelerators: all are at tier 1, and one more
    leaf without any link changes nothing of that."""
    f = compile_text(STORAGE.format(leaves), tmp_path, verify=False).designs[0].fabric
    assert f is not None
    assert [int(f.tier[d]) for d in range(f.device_count) if "leaf" in f.device_path(d)] == [1] * leaves
