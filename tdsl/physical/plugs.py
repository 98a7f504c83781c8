"""Cables whose plugs are part of them (copper, and active optical cables): what a plug needs of the cage that it goes into.

A plug fills its cage, so its lanes are shared by the ports of the cage: a cable of 800 Gb/s gives the two ports of a twin-port
cage 400 Gb/s each. That is why a passive cable of one generation does not carry the links of the next.
"""

from __future__ import annotations

from fractions import Fraction

from tdsl.physical.facts import amount, several, shown
from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.semantics.quantity import RATE, Quantity


def legs_of(cable: DeviceModel) -> int:
    """Plugs at the split side of a cable, 1 for a straight one."""
    legs = cable.facts.get("legs", 1)
    return legs if isinstance(legs, int) and legs > 0 else 1


def plug_wrong(cable: DeviceModel, c: PortClass, rate: int, tail: bool) -> str:
    """Why a plug of a cable does not go into the cages of a port class for a link of ``rate`` bit/s, "" if it does. ``tail`` is
    the split side of a break-out. A cage that the model does not state forbids nothing."""
    fact = "tail" if tail and "tail" in cable.facts else "form"
    form = [str(x) for x in several(cable, fact)]
    if c.form and form[0] != c.form:
        return f"{shown(cable)} has the plug {form[0]}, and the cage is {c.form}"
    if len(form) > 1 and c.heatsink and form[1] != c.heatsink:
        return f"{shown(cable)} has a plug that is {form[1]}, and the cage takes {c.heatsink}"
    whole = amount(cable, "rate", RATE)
    if whole is None or not c.per_cage:
        return ""
    each = whole / (legs_of(cable) if tail else 1) / c.per_cage
    if rate > each:
        link = Quantity(Fraction(rate), RATE)
        return f"{shown(cable)} gives a port of this cage {Quantity(each, RATE)}, and the link runs at {link}"
    return ""


def ends_wrong(cable: DeviceModel, a: PortClass, b: PortClass, rate: int) -> tuple[str, str]:
    """Why the plugs of a cable do not go into the cages of the port classes at its two ends, "" for an end that is right. A
    break-out may be either way round."""
    if legs_of(cable) == 1:
        return plug_wrong(cable, a, rate, False), plug_wrong(cable, b, rate, False)
    ways = [(plug_wrong(cable, a, rate, tail), plug_wrong(cable, b, rate, not tail)) for tail in (False, True)]
    return min(ways, key=lambda w: sum(1 for x in w if x))
