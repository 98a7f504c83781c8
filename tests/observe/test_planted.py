"""Random mistakes of mixed kinds: the explanation leads to what is seen, in no more moves than were made."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.observe.candidates import PortPositions
from tdsl.observe.diagnose import diagnose_mistakes
from tdsl.observe.difference import Cabling, Mistake
from tdsl.observe.match import planned_far_ports
from tests.fabrics import multiplane, superpod
from tests.observe.plant import KINDS, Cables, plant
from tests.targets.build import pod

NAMES = {
    "swap": {"plugs swapped", "cage halves swapped"}, "swap_far": {"cables swapped", "plugs swapped", "cage halves swapped"},
    "halves": {"cage halves swapped"}, "dark_cage": {"cage dark"}, "rotate_host": {"rotated"}, "rotate_bundle": {"rotated"},
    "shift": {"shifted", "rotated"}, "exchange_devices": {"devices exchanged"}, "missing": {"missing"}, "extra": {"extra"},
    "wrong_port": {"wrong port"}, "not_installed": {"not installed"},
}  # fmt: skip


@cache
def fabrics() -> tuple[Fabric, ...]:
    return (
        superpod(2, 16, 8, 8).build(),
        superpod(3, 16, 4, 8, 64).build(),
        multiplane(4, 32, 4, 4, 32).build(),
        pod(units=2, nodes=16, rails=8, spines=8),  # with cages of two ports
    )


def explained(cables: Cables) -> list[Mistake]:
    """The mistakes found; made one after the other, they must lead to the cabling."""
    f = cables.fabric
    far, device = planned_far_ports(f).tolist(), f.port_device.tolist()

    def seen(p: int) -> int:
        return cables.far.get(p, -1)

    found = diagnose_mistakes(
        far.__getitem__, seen, range(len(far)), PortPositions(f, device.__getitem__), lambda d: not cables.used(d)
    )
    state = Cabling(far.__getitem__, seen)
    assert all(state.make(m) for m in found)
    assert not any(state.differs(p) for p in range(len(far)))
    return found


def judged(seed: int, count: int) -> tuple[bool, bool]:
    """Whether random mistakes are explained by no more moves, and whether all are named as they were planted."""
    all_ = fabrics()
    cables, kinds = plant(all_[seed % len(all_)], seed, count)
    found = explained(cables)
    left = Counter(m.kind for m in found)
    named = 0
    for kind in kinds:
        hit = next((n for n in NAMES[kind] if left[n]), None)
        if hit is not None:
            left[hit] -= 1
            named += 1
    return sum(m.cost for m in found) <= len(kinds), named == len(kinds) and not +left


def test_random_mistakes() -> None:
    total = 200
    fewer = sum(judged(seed, 1 + Random(seed).randrange(4))[0] for seed in range(total))
    assert fewer >= 0.99 * total


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_alone_is_named(kind: str) -> None:
    named = total = 0
    for seed in range(30):
        cables = Cables(fabrics()[seed % len(fabrics())])
        if KINDS[kind](cables, Random(seed)):
            total += 1
            found = explained(cables)
            named += len(found) == 1 and found[0].kind in NAMES[kind]
    if not total:
        pytest.skip("these fabrics have no such place")
    assert named >= 0.9 * total, (named, total)
