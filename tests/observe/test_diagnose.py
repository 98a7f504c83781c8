"""Random mistakes of mixed kinds: the explanation leads to what is seen, in no more moves than were made."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.observe.candidates import PortPositions
from tdsl.observe.diagnose import diagnose_mistakes
from tdsl.observe.difference import Cabling, Mistake
from tdsl.observe.match import planned_far_ports
from tdsl.observe.readers import capture_readers
from tests.conftest import Golden
from tests.fabrics import multiplane, superpod
from tests.observe.captures import BY_DEVICE, WHOLE, audited, capture, told
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


def test_random_mistakes() -> None:
    """Explained by no more moves than were made."""
    fewer = 0
    for seed in range(60):
        cables, kinds = plant(fabrics()[seed % len(fabrics())], seed, 1 + Random(seed).randrange(4))
        fewer += sum(m.cost for m in explained(cables)) <= len(kinds)
    assert fewer >= 59


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_alone_is_named(kind: str) -> None:
    named = total = 0
    for seed in range(12):
        cables = Cables(fabrics()[seed % len(fabrics())])
        if KINDS[kind](cables, Random(seed)):
            total += 1
            found = explained(cables)
            named += len(found) == 1 and found[0].kind in NAMES[kind]
    if not total:
        pytest.skip("these fabrics have no such place")
    assert named >= 0.9 * total, (named, total)


@pytest.mark.parametrize("reader", [*WHOLE, *BY_DEVICE])
def test_every_reader_shows_the_mistakes_that_were_planted(reader: str, small: Fabric, tmp_path: Path) -> None:
    """What an audit of a capture finds is what the cabling itself has, mistake by mistake."""
    for seed, kinds in enumerate((["swap"], ["missing", "extra"], ["rotate_host"], ["dark_cage", "wrong_port"], ["halves"])):
        cables = Cables(small)
        assert all(KINDS[k](cables, Random(seed)) for k in kinds)
        (tmp_path / str(seed)).mkdir()
        made = audited(small, (capture_readers()[reader].OPTION, capture(reader, cables, tmp_path / str(seed))))
        assert {f.finding.code for f in made.faults if f.mistake is None} == set(), [f.finding.message for f in made.faults]
        assert sorted(map(repr, made.mistakes)) == sorted(map(repr, explained(cables))), kinds


def test_each_kind_of_mistake_in_words(small: Fabric, golden: Golden, tmp_path: Path) -> None:
    out = []
    for kind, plant_one in KINDS.items():
        cables = Cables(small)
        assert plant_one(cables, Random(2)), kind
        out += [f"==== {kind}", *told(audited(small, ("ibnetdiscover", capture("ibnetdiscover", cables, tmp_path))), 3)]
    golden("observe/mistakes.txt", "\n".join(out) + "\n")
