"""What goes into which cage: transceivers, and cables whose plugs are part of them (copper, and active
optical cables).

A plug fills its cage, so its lanes are shared by the ports of the cage: a cable of 800 Gb/s gives the two
ports of a twin-port cage 400 Gb/s each. That is why a passive cable of one generation does not carry the
links of the next. A transceiver has one outlet for each cable that leaves its cage; the lanes of a port that
is split leave by as many cables as the module has sockets.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tdsl.fabric.part_facts import ACTIVE, cable_medium, fact_values, part_display_name, stated_quantity
from tdsl.semantics.model import DeviceModel, PortClass
from tdsl.semantics.quantity import RATE, Quantity

TWISTED_PAIR = "BASE_T"
"""The type of ports with eight-pin sockets (IEEE 802.3, 40.8.1), which no model needs to state as cages."""


OLDER = {"QSFP112": ("QSFP56", "QSFP28"), "QSFPDD": ("QSFP56", "QSFP28"), "QSFP56": ("QSFP28",)}
"""Forms of earlier generations that a cage takes beside its own (NVIDIA LinkX 100G-PAM4 overview; QSFP-DD
MSA, section 1)."""


def cage_takes_form(c: PortClass, form: str) -> bool:
    """Whether plugs and modules of a form go into the cages of a port class; heat sinks are another
    matter."""
    return form == cage_form(c) or form in OLDER.get(cage_form(c), ())


def cage_form(c: PortClass) -> str:
    """The form of what goes into the ports of a class: that of their cages, RJ45 for twisted pair, else
    ""."""
    return c.form or ("RJ45" if c.types == (TWISTED_PAIR,) else "")


def outlets_of_cage(c: PortClass) -> int:
    """Cables that leave a cage of a port class, or a socket of twisted pair; 0 where it has neither."""
    return (c.per_cage or int(bool(c.built_in or cage_form(c)))) * min(c.sockets, c.split)


def outlet_rate(c: PortClass) -> int | None:
    """Bit/s of all lanes that leave by one cable, None where the port fits any rate."""
    return None if c.rate is None else c.rate * c.split // min(c.sockets, c.split)


def fits_cage(optic: DeviceModel, c: PortClass) -> bool:
    """Whether a transceiver goes into the cages of a port class at some rate; unknown facts of the cage
    forbid nothing."""
    if c.built_in:
        return optic.name == c.built_in
    form = [str(x) for x in fact_values(optic, "form")]
    if not form or not cage_takes_form(c, form[0]) or optic.facts.get("ports", 1) != outlets_of_cage(c):
        return False
    return len(form) < 2 or not c.heatsink or form[1] == c.heatsink


def optic_misfit_reason(
    optic: DeviceModel, c: PortClass, rate: int, legs: int = 1, tail: bool = False
) -> str:
    """Why a transceiver does not go into the cages of a port class for links of ``rate`` bit/s, "" if it
    does. Of a breakout with ``legs`` legs, the one at the head carries all of them; one at a leg (``tail``)
    has the rate of its own port and may run slower, as a 400 Gb/s module does on half of its lanes (NVIDIA
    MMS4X00-NS400, overview)."""
    if c.built_in and optic.name != c.built_in:
        return f"the optics of port `{c.name}` are part of the device: {c.built_in.replace('_', '-')}"
    misfit = "" if c.built_in else _optic_form_misfit(optic, c)
    if misfit:
        return misfit
    ports = optic.facts.get("ports", 1)
    if ports != outlets_of_cage(c):
        return (
            f"{part_display_name(optic)} has {ports} port{'' if ports == 1 else 's'}, and the cage "
            f"{outlets_of_cage(c)}"
        )
    return _optic_rate_misfit(optic, c, rate, legs, tail)


def _optic_rate_misfit(optic: DeviceModel, c: PortClass, rate: int, legs: int, tail: bool) -> str:
    """What differs between the rate of a transceiver and that of what it is for, "" if nothing does."""
    speed, own = stated_quantity(optic, "rate", RATE), outlet_rate(c)
    wanted = max(rate, own or rate) if tail else rate * legs
    if speed is not None and speed == wanted:
        return ""
    its = "an unknown rate" if speed is None else str(Quantity(speed, RATE))
    what = "the port" if tail else "the link" if legs == 1 else f"a breakout with {legs} legs"
    return f"{part_display_name(optic)} runs at {its}, and {what} at {Quantity(Fraction(wanted), RATE)}"


def _optic_form_misfit(optic: DeviceModel, c: PortClass) -> str:
    """Why the form of a transceiver, with or without fins, is not that of the cages, "" if it is."""
    form = [str(x) for x in fact_values(optic, "form")]
    if not cage_form(c):
        return "the model does not state the cage"
    if not form or not cage_takes_form(c, form[0]):
        return (
            f"{part_display_name(optic)} is {form[0] if form else 'of no stated form'}, and the cage "
            f"is {cage_form(c)}"
        )
    if len(form) > 1 and not c.heatsink:
        return (
            f"{part_display_name(optic)} is {form[1]}, and the model does not state whether the cage "
            "takes finned or flat"
        )
    if len(form) > 1 and form[1] != c.heatsink:
        return f"{part_display_name(optic)} is {form[1]}, and the cage takes {c.heatsink}"
    return ""


def break_outs(
    catalogue: Sequence[DeviceModel], head: PortClass, tail: PortClass, legs: int, rate: int
) -> list[DeviceModel]:
    """The cables of a catalogue that lead from one outlet of the class ``head`` to ``legs`` outlets of the
    class ``tail``, each at ``rate`` bit/s: with plugs that fit both cages, or fibre for which the catalogue
    has transceivers that fit them."""
    if not (cage_form(head) and cage_form(tail)):
        return []
    optics = [p for p in catalogue if p.kind == "optic"]
    cables = [c for c in catalogue if c.kind == "cable" and c.facts.get("legs", 1) == legs]
    return [c for c in cables if _break_out_fits(c, optics, (head, tail), legs, rate)]


def _break_out_fits(
    cable: DeviceModel,
    optics: Sequence[DeviceModel],
    cages: tuple[PortClass, PortClass],
    legs: int,
    rate: int,
) -> bool:
    """Whether a cable with so many legs fits the cages at its head and at its legs, with its own plugs or
    with some of the transceivers."""
    head, tail = cages
    if "form" in cable.facts:
        if not outlets_of_cage(head) == outlets_of_cage(tail) == 1:
            return False
        return not plug_wrong(cable, head, rate * legs, False) and not plug_wrong(cable, tail, rate, True)
    if not fibre_carries_rate(cable, rate * legs):
        return False
    return all(
        any(optic_fits_fibre(o, cable, t) and not optic_misfit_reason(o, c, rate, legs, t) for o in optics)
        for c, t in ((head, False), (tail, True))
    )


def fibre_connectors(part: DeviceModel) -> tuple[object, object]:
    """The connector at the undivided end of a fibre or of a transceiver, and at the split side, None where it
    is not stated: a harness has two (``connector MPO12_APC, LC_DUPLEX``), other parts one."""
    stated = fact_values(part, "connector")
    return (stated[0], stated[-1]) if stated else (None, None)


def optic_fits_fibre(optic: DeviceModel, cable: DeviceModel, tail: bool = False) -> bool:
    """Whether a transceiver has the fibre and the connector of a cable, at its split side for ``tail``."""
    plug, hole = fibre_connectors(cable)[tail], optic.facts.get("connector")
    fibres = {str(part.facts.get("fibre")) for part in (optic, cable)}
    return (plug is None or hole is None or plug == hole) and len(fibres) == 1


def fibre_carries_rate(cable: DeviceModel, rate: int) -> bool:
    """Whether a fibre is for links of ``rate`` bit/s together: at most its own rate. The transceivers at its
    ends decide the rate of each link, so one fibre serves those of two generations."""
    most = stated_quantity(cable, "rate", RATE)
    return most is not None and rate <= most


def legs_of(cable: DeviceModel) -> int:
    """Plugs at the split side of a cable, 1 for a straight one."""
    legs = cable.facts.get("legs", 1)
    return legs if isinstance(legs, int) and legs > 0 else 1


def plug_wrong(cable: DeviceModel, c: PortClass, rate: int, tail: bool) -> str:
    """Why a plug of a cable does not go into the cages of a port class for a link of ``rate`` bit/s, "" if it
    does. ``tail`` is the split side of a break-out. A cage that the model does not state forbids nothing."""
    fact = "tail" if tail and "tail" in cable.facts else "form"
    form = [str(x) for x in fact_values(cable, fact)]
    if c.built_in:
        return f"{part_display_name(cable)} has the plug {form[0]}, and port `{c.name}` takes fibre alone"
    if cage_form(c) and not cage_takes_form(c, form[0]):
        return f"{part_display_name(cable)} has the plug {form[0]}, and the cage is {cage_form(c)}"
    if len(form) > 1 and c.heatsink and form[1] != c.heatsink:
        return f"{part_display_name(cable)} has a plug that is {form[1]}, and the cage takes {c.heatsink}"
    whole = stated_quantity(cable, "rate", RATE)
    if whole is None or not cage_form(c):
        return ""
    each = whole / (legs_of(cable) if tail else 1) / max(c.per_cage, 1)
    return _plug_rate_misfit(cable, c, each, rate)


def _plug_rate_misfit(cable: DeviceModel, c: PortClass, each: Fraction, rate: int) -> str:
    """Why what a plug gives ``each`` port of a cage is too slow for a link of ``rate`` bit/s, or too fast for
    the port, "" if it is neither."""
    given = f"{part_display_name(cable)} gives a port of this cage {Quantity(each, RATE)}"
    if rate > each:
        return f"{given}, and the link runs at {Quantity(Fraction(rate), RATE)}"
    if c.rate is not None and each > c.rate and cable_medium(cable) in ACTIVE:
        return f"{given}, and the port runs at {Quantity(Fraction(c.rate), RATE)}"
    return ""


def ends_wrong(cable: DeviceModel, a: PortClass, b: PortClass, rate: int) -> tuple[str, str]:
    """Why the plugs of a cable do not go into the cages of the port classes at its two ends, "" for an end
    that is right. A break-out, and a straight cable with two kinds of plugs, may be either way round."""
    if "tail" not in cable.facts and legs_of(cable) == 1:
        return plug_wrong(cable, a, rate, False), plug_wrong(cable, b, rate, False)
    ways = [
        (plug_wrong(cable, a, rate, tail), plug_wrong(cable, b, rate, not tail)) for tail in (False, True)
    ]
    return min(ways, key=lambda w: sum(1 for x in w if x))
