"""Which cable and transceivers are chosen for one connect: each rule by itself, with parts made for it, at its exact limits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.physical.part_choice import ChosenParts, PartChoice, _allowed_parts, _Group, _longest_run_of_cable
from tdsl.semantics.model import Axis, DeviceModel, PortClass
from tdsl.semantics.quantity import LENGTH, POWER, RATE, Quantity
from tests.fabrics import GBPS, Builder

UM = 1_000_000
ORIGIN = Builder().line("here")


def metres(value: float) -> Quantity:
    """A length."""
    return Quantity(Fraction(str(value)), LENGTH)


def rate(gbps: int) -> Quantity:
    """A rate in Gb/s."""
    return Quantity(Fraction(gbps * GBPS), RATE)


def part(kind: str, name: str, **facts: object) -> DeviceModel:
    """A part with these facts."""
    return DeviceModel(name, kind, f"title of {name}", (), (), (), (), facts, ORIGIN)


def ports(name: str = "p", form: str = "OSFP", cage: int = 1, heatsink: str = "flat", gbps: int = 400) -> PortClass:
    """Ports in cages of so many."""
    return PortClass(
        name, (Axis(0, 4),), 0, gbps * GBPS, (), (1, 1, 1, 1), form, (0, 1, 2, 3), ("",) * 4, ("",) * 4, (), 1, ORIGIN,
        per_cage=cage, heatsink=heatsink,
    )  # fmt: skip


def group(a: PortClass | None = None, b: PortClass | None = None, legs: int = 0, head_at_b: bool = False, run: int = 0) -> _Group:
    """Legs at 400 Gb/s."""
    return _Group(a or ports("a"), b or ports("b"), 400 * GBPS, legs, head_at_b, run)


def catalogue(*parts: DeviceModel, **settings: object) -> Any:
    """The parts of a fabric with one statement."""
    made: Any = object.__new__(ChosenParts)
    made.cables = [p for p in parts if p.kind == "cable"]
    made.optics = [p for p in parts if p.kind == "optic"]
    made.fabric = SimpleNamespace(statements=[SimpleNamespace(settings=settings)])
    return made


def fibre(name: str = "GLASS", **facts: object) -> DeviceModel:
    """A fibre of 40 m reach, in two lengths."""
    given: dict[str, object] = {
        "medium": "fibre", "rate": rate(400), "fibre": "mmf", "connector": "mpo", "reach": metres(40),
        "lengths": (metres(3), metres(10)), **facts,
    }  # fmt: skip
    return part("cable", name, **{k: v for k, v in given.items() if v is not None})


def copper(name: str = "WIRE", medium: str = "dac", **facts: object) -> DeviceModel:
    """A cable with plugs for OSFP cages."""
    return part("cable", name, medium=medium, rate=rate(400), reach=metres(3), lengths=metres(3), form=("OSFP", "flat"), **facts)


def optic(name: str, **facts: object) -> DeviceModel:
    """A transceiver for one port of a flat OSFP cage."""
    given: dict[str, object] = {
        "rate": rate(400), "form": ("OSFP", "flat"), "ports": 1, "fibre": "mmf", "connector": "mpo", "reach": metres(30), **facts,
    }  # fmt: skip
    return part("optic", name, **{k: v for k, v in given.items() if v is not None})


def test_ends_of_break_outs() -> None:
    """The legs are at the end that is not the undivided one."""
    assert [group(legs=n, head_at_b=at).tails for n, at in product((0, 1, 2), (False, True))] == [
        (False, False), (False, False), (False, True), (True, False), (False, True), (True, False),
    ]  # fmt: skip
    half = ports(gbps=200)
    split = _Group(half, half, 200 * GBPS, 2, False, 0)
    assert split.wrong(optic("O"), half, False) == "" and split.wrong(optic("O", rate=rate(200)), half, True) == ""
    assert split.wrong(optic("O"), half, True) == "O runs at 400Gbps, and the port at 200Gbps"
    assert group().wrong(optic("O"), ports(), False) == ""
    assert group().wrong(optic("O", rate=rate(800)), ports(), False) == "O runs at 800Gbps, and the link at 400Gbps"


def test_allowed_parts() -> None:
    a, b, c = (part("cable", n) for n in "abc")
    assert _allowed_parts([a, b, c], (c, a)) == [a, c]
    assert (
        _allowed_parts([a, b], (c, "a")) == [a, b]
        and _allowed_parts([a, b], ()) == [a, b]
        and _allowed_parts([a, b], a) == [a, b]
    )


def test_the_longest_run_of_each_cable() -> None:
    assert _longest_run_of_cable(np.array([3, 7, -1, 5, 0, 9]), np.array([0, 0, 2, 1, 2, 3])).tolist() == [7, 7, -1, 5, -1, 9]
    assert _longest_run_of_cable(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)).tolist() == []
    for seed in range(50):
        random = Random(seed)
        of = [g for g in range(random.randint(1, 4)) for _ in range(random.randint(1, 3))]
        random.shuffle(of)
        run = [random.choice((-1, 0, 1, 5, 9)) for _ in of]
        mine = [[r for r, g in zip(run, of, strict=True) if g == x] for x in of]
        assert _longest_run_of_cable(np.array(run), np.array(of)).tolist() == [-1 if min(x) < 0 else max(x) for x in mine]


@pytest.mark.parametrize(
    ("cable", "of", "medium", "carried"),
    [
        (fibre(), group(run=0), "", True),
        (fibre(), group(run=-1), "", False),
        (fibre(), group(run=10 * UM), "fibre", True),
        (fibre(), group(run=10 * UM + 1), "", False),  # not sold
        (fibre(unconfirmed=metres(20)), group(run=20 * UM), "", True),
        (fibre(lengths=metres(90)), group(run=40 * UM), "", True),
        (fibre(lengths=metres(90)), group(run=40 * UM + 1), "", False),  # beyond its reach
        (fibre(reach=None), group(), "", False),
        (fibre(), group(), "aoc", False),
        (copper(), group(), "fibre", False),
        (copper(), group(), "dac", True),
        (copper(), group(), "copper", True),
        (copper(), group(run=3 * UM), "", True),
        (copper(), group(run=3 * UM + 1), "", False),
        (copper(), group(a=ports(cage=2)), "", False),
        (copper(), group(b=ports(cage=2)), "", False),
        (copper(), group(a=ports(cage=2), b=ports(cage=2)), "", False),
        (copper(), group(a=ports(form="")), "", False),
        (copper(), group(b=ports(form="")), "", False),
        (copper(), group(a=ports(heatsink="finned")), "", False),
        (copper(), group(b=ports(heatsink="finned")), "", False),
        (part("cable", "BARE", medium="dac", rate=rate(400), reach=metres(3), lengths=metres(3)), group(), "", False),
        (part("cable", "BARE", medium="aoc", rate=rate(400), reach=metres(3), lengths=metres(3)), group(), "", True),
        (fibre(rate=rate(399)), group(), "", False),
        (fibre(legs=2), group(), "", False),
        (fibre(), group(legs=2), "", False),
        (fibre(legs=2), group(legs=2), "", False),
        (fibre(legs=2, rate=rate(799)), group(legs=2), "", False),
        (fibre(legs=2, rate=rate(800)), group(legs=2), "", True),
        (fibre(legs=2, rate=rate(800)), group(legs=4), "", False),
    ],
)
def test_cables_that_may_be_chosen(cable: DeviceModel, of: _Group, medium: str, carried: bool) -> None:
    assert catalogue()._carries(cable, of, medium) is carried


def pairs(found: Any) -> list[tuple[str, str]]:
    """Transceivers of choices, "-" where there is none."""
    return [(c.optic_a.name if c.optic_a else "-", c.optic_b.name if c.optic_b else "-") for c in found]


def test_pairs_of_transceivers() -> None:
    """Those that fit each cage and the run, in pairs of one connector; a pin takes the place of each."""
    near, far, lc = optic("NEAR", reach=metres(10)), optic("FAR"), optic("LC", connector="lc")
    other, fin = optic("OTHER", fibre="smf"), optic("FIN", form=("OSFP", "finned"))
    parts = catalogue(near, far, lc, other, fin)
    plain, bare = fibre(), fibre(connector=None)

    def found(cable: DeviceModel, of: _Group, optics: object = None, pinned: bool = False, allowed: object = ()) -> Any:
        return pairs(parts._with_optics(cable, of, optics, pinned, allowed))

    both = [(a, b) for a in ("NEAR", "FAR") for b in ("NEAR", "FAR")]
    assert (
        found(plain, group(run=10 * UM)) == both == found(plain, group(run=-1)) == found(plain, group(run=90 * UM), pinned=True)
    )
    assert found(plain, group(run=10 * UM + 1)) == [("FAR", "FAR")] == found(plain, group(run=30 * UM))
    assert found(plain, group(run=30 * UM + 1)) == []
    assert found(bare, group(run=10 * UM)) == [*both, ("LC", "LC")]
    assert found(bare, group(), (lc, None)) == [("LC", x) for x in ("NEAR", "FAR", "LC")]  # a pin is judged elsewhere
    assert found(bare, group(), (None, near)) == [(x, "NEAR") for x in ("NEAR", "FAR", "LC")]
    assert found(plain, group(run=90 * UM), (fin, other)) == [("FIN", "OTHER")]
    assert found(plain, group(b=ports(heatsink="finned"))) == [("NEAR", "FIN"), ("FAR", "FIN")]
    assert found(plain, group(), allowed=(far, lc)) == [("FAR", "FAR")]
    assert found(plain, group(), allowed=(fibre("X"),)) == both
    unknown = ports(form="")
    assert found(plain, group(b=unknown), pinned=True) == [("NEAR", "-"), ("FAR", "-")]
    assert found(plain, group(a=unknown), pinned=True) == [("-", "NEAR"), ("-", "FAR")]
    assert found(plain, group(a=unknown, b=unknown), pinned=True) == [] == found(plain, group(a=unknown))
    assert found(plain, group(a=unknown), (near, None), pinned=True) == [("NEAR", "NEAR"), ("NEAR", "FAR")]
    for medium in ("dac", "acc", "copper", "aoc"):
        assert found(copper(medium=medium), group(), (near, far)) == [("-", "-")]


def test_transceivers_at_the_legs_of_a_break_out() -> None:
    """The head carries all legs, a leg the rate of its own port."""
    head, leg = optic("HEAD", rate=rate(800)), optic("LEG")
    parts = catalogue(head, leg)
    for at_b, wanted in ((False, ("HEAD", "LEG")), (True, ("LEG", "HEAD"))):
        assert pairs(parts._with_optics(fibre(), group(legs=2, head_at_b=at_b), None, False, ())) == [wanted]


def test_a_transceiver_on_a_fibre() -> None:
    parts = catalogue()
    for run, pinned, wanted in ((30 * UM, False, True), (30 * UM + 1, False, False), (-1, False, True), (99 * UM, True, True)):
        assert parts._on(optic("O"), fibre(), run, pinned) is wanted
    assert not parts._on(optic("O", reach=None), fibre(), 0, False) and parts._on(optic("O", reach=None), fibre(), -1, False)
    assert not parts._on(optic("O", fibre="smf"), fibre(), 0, True)


def test_ranks() -> None:
    """Known power before unknown, then watts of each port's share, the longer reach of both ends, and names."""
    w = {n: Quantity(Fraction(n), POWER) for n in (4, 9, 10)}
    two, one = optic("TWO", ports=2, power=w[9]), optic("ONE", power=w[4], power_max=w[10], reach=metres(50))
    dark = optic("DARK")
    rank = ChosenParts._rank
    assert rank(PartChoice(fibre(), two, one)) == (False, Fraction(29, 2), Fraction(50), "GLASS", ["TWO", "ONE"])
    assert rank(PartChoice(fibre(), one, two))[2:] == (Fraction(50), "GLASS", ["ONE", "TWO"])
    assert rank(PartChoice(fibre(), None, two)) == (False, Fraction(9, 2), Fraction(30), "GLASS", ["TWO"])
    assert rank(PartChoice(fibre(), two, dark)) == (True, Fraction(9, 2), Fraction(30), "GLASS", ["TWO", "DARK"])
    assert rank(PartChoice(None, None, None)) == (False, Fraction(0), Fraction(0), "", [])
    assert rank(PartChoice(copper(), None, None)) == (False, Fraction(0), Fraction(0), "WIRE", [])
    for medium in ("acc", "aoc"):
        assert rank(PartChoice(copper(medium=medium), None, None)) == (True, Fraction(0), Fraction(0), "WIRE", [])
        assert rank(PartChoice(copper(medium=medium, power=w[9]), None, None)) == (False, Fraction(9), Fraction(0), "WIRE", [])
    assert rank(PartChoice(fibre(), optic("ONE", ports=None, power=w[9]), None))[1] == 9
    assert rank(PartChoice(fibre(), optic("FAR", reach=None, power=w[4]), None))[2] == 0


def test_why_nothing_fits() -> None:
    parts = catalogue(optic("O"))
    why = parts._why
    unknown, wide = ports("eth", form=""), ports("q", cage=2, heatsink="finned")
    assert why(group(a=unknown), None) == why(group(b=unknown), None) == "the model does not state the cage of port `eth`"
    assert why(group(b=wide), None) == "no optic of the catalogue fits an OSFP finned cage with 2 connectors at 400Gbps"
    single = ports("q", form="QSFP", heatsink="")
    assert why(group(a=single), None) == "no optic of the catalogue fits an QSFP cage with 1 connector at 400Gbps"
    at_head = "no optic of the catalogue fits an OSFP flat cage with 1 connector at 800Gbps"
    assert why(group(legs=2), None) == why(group(legs=2, head_at_b=True), None) == at_head
    at_leg = "no optic of the catalogue fits an OSFP finned cage with 1 connector at 400Gbps"
    assert catalogue(optic("O", rate=rate(800)))._why(group(legs=2, b=ports(heatsink="finned")), None) == at_leg
    assert why(group(run=-1), None) == "a length is unknown" == why(group(run=-1), fibre())
    assert why(group(run=0), None) == "no fibre of the catalogue and no pair of optics reach 0.000 m"
    assert why(group(run=12_345_678), None) == "no fibre of the catalogue and no pair of optics reach 12.346 m"
    assert why(group(run=5), fibre("MY_GLASS")) == "no pair of optics drives MY-GLASS"


def test_the_choice_of_a_connect() -> None:
    """The least rank of all that fits, whichever comes first; what a connect says goes before."""
    four, nine = (Quantity(Fraction(n), POWER) for n in (4, 9))
    glass, thick = fibre("GLASS"), fibre("A_GLASS", connector=None)
    warm, cool = optic("A_WARM", power=nine), optic("COOL", power=four)
    for order in ((glass, thick, warm, cool), (cool, warm, thick, glass)):
        assert catalogue(*order)._choose(0, group()) == PartChoice(thick, cool, cool)
        assert catalogue(*order, copper())._choose(0, group()) == PartChoice(copper(), None, None)
        assert catalogue(*order, copper())._choose(-1, group()) == PartChoice(copper(), None, None)
        assert catalogue(*order, copper(), medium="fibre")._choose(0, group()) == PartChoice(thick, cool, cool)
        assert catalogue(*order, allowed=(glass, warm))._choose(0, group()) == PartChoice(glass, warm, warm)
        assert catalogue(*order, part=glass)._choose(0, group()) == PartChoice(glass, cool, cool)
        assert catalogue(*order, part=glass, cable="GLASS", optics=(None, warm))._choose(0, group()) == PartChoice(
            glass, cool, warm
        )
    for medium in ("trace", "backplane"):
        assert catalogue(glass, cool, part=glass, medium=medium)._choose(0, group()) == PartChoice(
            None, None, None, f"it is a {medium}"
        )
    assert catalogue(glass, cool, cable="X1")._choose(0, group()) == PartChoice(None, None, None, "the catalogue has no part X1")
    assert catalogue(warm, part=fibre("SMF", fibre="smf"))._choose(0, group()) == PartChoice(
        fibre("SMF", fibre="smf"), None, None, "no pair of optics drives SMF"
    )
    assert (
        catalogue(glass)._choose(0, group()).why == "no optic of the catalogue fits an OSFP flat cage with 1 connector at 400Gbps"
    )
