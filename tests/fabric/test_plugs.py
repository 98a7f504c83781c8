"""What goes into which cage: each reason why a transceiver, a plug or a break-out cable does not fit."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tdsl.fabric.cables import plugs
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.model import Axis, DeviceModel, PortClass
from tdsl.semantics.quantity import RATE, Quantity

ORIGIN = Origin(SourceSpan(SourceFile("x.fab", "x"), 0, 1))
GBPS = 10**9


def port(form: str = "", rate: int | None = 400, split: int = 1, sockets: int = 1, per_cage: int = 1, **more: Any) -> PortClass:
    """A class of one port, whose rate in Gb/s is that of one lane; a class without a form has no cages."""
    return PortClass(
        "p", (Axis(0, 1),), 0, None if rate is None else rate * GBPS, more.get("types", ()), (0,), form, (0,), ("",), ("",), (),
        split, ORIGIN, sockets=sockets, per_cage=per_cage if form else 0, heatsink=more.get("heatsink", ""),
    )  # fmt: skip


def part(kind: str, name: str = "A_1", rate: int | None = None, **facts: Any) -> DeviceModel:
    """A cable or transceiver; its rate in Gb/s."""
    if rate is not None:
        facts["rate"] = Quantity(Fraction(rate * GBPS), RATE)
    return DeviceModel(name, kind, "", (), (), (), (), facts, ORIGIN)


TWISTED = port(types=("BASE_T",), rate=1)


def test_forms_that_a_cage_takes() -> None:
    """Its own and some older ones, not newer ones; a port of twisted pair has a socket RJ45, and only if it has no other type."""
    forms = ["QSFP28", "QSFP56", "QSFP112", "QSFPDD", "OSFP", "RJ45"]
    taken = {c: [f for f in forms if plugs.cage_takes_form(port(c), f)] for c in forms[:5]}
    assert taken == {
        "QSFP28": ["QSFP28"], "QSFP56": ["QSFP28", "QSFP56"], "QSFP112": ["QSFP28", "QSFP56", "QSFP112"],
        "QSFPDD": ["QSFP28", "QSFP56", "QSFPDD"], "OSFP": ["OSFP"],
    }  # fmt: skip
    assert [f for f in forms if plugs.cage_takes_form(TWISTED, f)] == ["RJ45"]
    assert [f for f in forms if plugs.cage_takes_form(port(), f)] == []
    classes = (TWISTED, port(), port("OSFP"), port(types=("BASE_T", "X")), port("OSFP", types=("BASE_T",)))
    assert [plugs.cage_form(c) for c in classes] == ["RJ45", "", "OSFP", "", "OSFP"]


OSFP = port("OSFP", 400, heatsink="finned")
TWIN = port("OSFP", 400, per_cage=2)
FOUR = port("QSFP112", 100, split=4)  # one cable of 400 Gb/s
HALF = port("QSFP112", 100, split=4, sockets=2)  # two cables of 200 Gb/s


FITS = [
    # transceiver, cage, rate of a link in Gb/s, legs, at a leg, the reason
    (part("optic", rate=400, form="OSFP"), port(), 400, 1, False, "the model does not state the cage"),
    (part("optic", rate=400), OSFP, 400, 1, False, "A-1 is of no stated form, and the cage is OSFP"),
    (part("optic", rate=400, form="QSFP56"), OSFP, 400, 1, False, "A-1 is QSFP56, and the cage is OSFP"),
    (part("optic", rate=400, form="OSFP"), OSFP, 400, 1, False, ""),
    (part("optic", rate=400, form=("OSFP", "flat")), OSFP, 400, 1, False, "A-1 is flat, and the cage takes finned"),
    (part("optic", rate=400, form=("OSFP", "flat"), ports=2), TWIN, 400, 1, False,
     "A-1 is flat, and the model does not state whether the cage takes finned or flat"),
    (part("optic", rate=400, form="OSFP", ports=2), OSFP, 400, 1, False, "A-1 has 2 ports, and the cage 1"),
    (part("optic", rate=400, form="OSFP"), TWIN, 400, 1, False, "A-1 has 1 port, and the cage 2"),
    (part("optic", rate=400, form="OSFP", ports=2), TWIN, 400, 1, False, ""),
    (part("optic", form="OSFP"), OSFP, 400, 1, False, "A-1 runs at an unknown rate, and the link at 400Gbps"),
    (part("optic", rate=200, form="OSFP"), OSFP, 400, 1, False, "A-1 runs at 200Gbps, and the link at 400Gbps"),
    (part("optic", rate=800, form="OSFP"), OSFP, 400, 2, False, ""),
    (part("optic", rate=400, form="OSFP"), OSFP, 400, 2, False, "A-1 runs at 400Gbps, and a breakout with 2 legs at 800Gbps"),
    (part("optic", rate=400, form="QSFP56"), FOUR, 100, 2, True, ""),
    (part("optic", rate=100, form="QSFP56"), FOUR, 100, 2, True, "A-1 runs at 100Gbps, and the port at 400Gbps"),
    (part("optic", rate=200, form="QSFP56", ports=2), HALF, 100, 4, True, ""),
    (part("optic", rate=400, form="QSFP56", ports=2), HALF, 100, 4, True, "A-1 runs at 400Gbps, and the port at 200Gbps"),
    (part("optic", rate=100, form="OSFP"), port("OSFP", None), 100, 4, True, ""),
    (part("optic", rate=400, form="OSFP"), port("OSFP", None), 100, 4, True, "A-1 runs at 400Gbps, and the port at 100Gbps"),
    (part("optic", rate=1, form="RJ45"), TWISTED, 1, 1, False, ""),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(FITS)))
def test_transceivers(row: int) -> None:
    optic, c, rate, legs, tail, reason = FITS[row]
    assert plugs.optic_misfit_reason(optic, c, rate * GBPS, legs, tail) == reason
    if legs == 1:
        assert plugs.optic_misfit_reason(optic, c, rate * GBPS) == reason


PLUGS = [
    # cable, cage, rate of a link in Gb/s, the split side, the reason
    (part("cable", rate=400, form="OSFP"), OSFP, 400, False, ""),
    (part("cable", rate=400, form="OSFP"), port("QSFP112"), 400, False, "A-1 has the plug OSFP, and the cage is QSFP112"),
    (part("cable", rate=400, form="OSFP"), port(), 800, False, ""),
    (part("cable", rate=400, form=("OSFP", "flat")), OSFP, 400, False, "A-1 has a plug that is flat, and the cage takes finned"),
    (part("cable", rate=400, form=("OSFP", "flat")), port("OSFP"), 400, False, ""),
    (part("cable", rate=400, form="OSFP"), OSFP, 401, False,
     "A-1 gives a port of this cage 400Gbps, and the link runs at 401Gbps"),
    (part("cable", rate=800, form="OSFP"), TWIN, 400, False, ""),
    (part("cable", rate=400, form="OSFP"), TWIN, 400, False,
     "A-1 gives a port of this cage 200Gbps, and the link runs at 400Gbps"),
    (part("cable", rate=800, form="OSFP", legs=2), OSFP, 400, True, ""),
    (part("cable", rate=800, form="OSFP", legs=4), OSFP, 400, True,
     "A-1 gives a port of this cage 200Gbps, and the link runs at 400Gbps"),
    (part("cable", rate=800, form="OSFP", tail="QSFP112", legs=2), port("QSFP112"), 400, True, ""),
    (part("cable", rate=800, form="OSFP", tail="QSFP112", legs=2), port("QSFP112"), 400, False,
     "A-1 has the plug OSFP, and the cage is QSFP112"),
    (part("cable", rate=800, form="OSFP", tail="QSFP112", legs=2), OSFP, 400, True,
     "A-1 has the plug QSFP112, and the cage is OSFP"),
    (part("cable", rate=800, form="OSFP", medium="aoc"), OSFP, 400, False,
     "A-1 gives a port of this cage 800Gbps, and the port runs at 400Gbps"),
    (part("cable", rate=800, form="OSFP", medium="acc"), TWIN, 400, False, ""),
    (part("cable", rate=1600, form="OSFP", medium="acc"), TWIN, 400, False,
     "A-1 gives a port of this cage 800Gbps, and the port runs at 400Gbps"),
    (part("cable", rate=800, form="OSFP", medium="aoc"), port("OSFP", None), 400, False, ""),
    (part("cable", rate=1, form="RJ45", medium="copper"), TWISTED, 1, False, ""),
]  # fmt: skip


@pytest.mark.parametrize("row", range(len(PLUGS)))
def test_plugs_of_cables(row: int) -> None:
    cable, c, rate, tail, reason = PLUGS[row]
    assert plugs.plug_wrong(cable, c, rate * GBPS, tail) == reason


def test_cables_for_a_break_out() -> None:
    """Copper whose plugs fit both cages, each the only one of its cage; fibre with transceivers for the head and for the legs."""
    head, leg, link = port("OSFP", 400), port("QSFP112", 200), 200 * GBPS
    plug = part("cable", "PLUG", 400, form="OSFP", tail="QSFP112", legs=2)
    fibre = part("cable", "FIBRE", 400, fibre="multi", legs=2)
    far = part("optic", "FAR", 400, form="OSFP", fibre="multi")
    near = part("optic", "NEAR", 200, form="QSFP112", fibre="multi")
    single = part("optic", "SINGLE", 200, form="QSFP112", fibre="single")

    def found(*catalogue: DeviceModel, head: PortClass = head, leg: PortClass = leg, legs: int = 2) -> list[str]:
        return [p.name for p in plugs.break_outs(catalogue, head, leg, legs, link)]

    assert found(plug, fibre, far, near) == found(far, plug, near, fibre) == ["PLUG", "FIBRE"]
    assert found(plug, fibre, far, near, legs=4) == [] and found(replace(plug, kind="optic")) == []
    assert found(part("cable", "MORE", 800, form="OSFP", tail="QSFP112", legs=4)) == []
    assert found(plug, head=leg, leg=head) == [] and found(plug, head=head, leg=head) == []
    assert found(plug, fibre, far, near, head=port()) == found(plug, fibre, far, near, leg=port()) == []
    assert found(replace(plug, facts=plug.facts | {"rate": Quantity(Fraction(399 * GBPS), RATE)})) == []
    assert found(plug, head=replace(head, per_cage=2)) == found(plug, leg=replace(leg, per_cage=2)) == []
    assert found(plug, head=replace(head, per_cage=2), leg=replace(leg, per_cage=2)) == []
    assert found(fibre, far) == found(fibre, near) == found(fibre) == [] and found(fibre, far, single) == []
    assert found(fibre, far, single, near) == ["FIBRE"]
    assert found(replace(fibre, facts=fibre.facts | {"rate": Quantity(Fraction(399 * GBPS), RATE)}), far, near) == []
    slow = replace(far, facts=far.facts | {"rate": Quantity(Fraction(200 * GBPS), RATE)})
    assert found(fibre, slow, near) == []
    whole = part("cable", "WHOLE", 200, form="OSFP")
    assert found(whole, head=head, leg=head, legs=1) == ["WHOLE"]
    assert found(replace(far, kind="cable"), fibre, near) == []
