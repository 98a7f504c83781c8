"""Bends of cables: no tighter than their parts allow."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.fabric.part_facts import MICRO, part_display_name
from tdsl.prove.view import View
from tdsl.semantics.quantity import LENGTH, Quantity, quantity_text
from tdsl.verify.check import Check, Judgement, PropertyFault, skipped
from tdsl.verify.checks.rack_space import NO_PLACES
from tdsl.verify.checks.reach import OfCables
from tdsl.verify.result import Status, Value


class BendRadius(OfCables, Check):
    """No cable is bent more than its part allows.

    ## What it means
    The figure is the largest radius that any cable needs for a bend. A design fails where it is more than
    what a rack at one of its ends leaves: `rack 1..8 { bend 60mm }` states the radius of the cable managers
    and of the door of a rack.

    ## Formula and source
    max over cables of `bend` of the part; it is at most `bend` of both racks. Single bends of passive copper
    QSFP: 21 mm with 30 AWG, 29 mm with 26 AWG, 45 and 58 mm repeated; fibre: ten times its diameter (Oracle,
    Exadata: Reviewing the Cable Management Arm Guidelines, docs.oracle.com).

    ## What it assumes
    `bend` of a part is its radius when installed. Cables whose part states none make the figure a lower
    bound, and a rack without `bend` forbids nothing.

    ## A design that passes
    ```fab
    hall h1 { row A { rack 1..8 { height 48U; bend 60mm } } }   # fibre of 3 mm needs 30 mm
    ```

    ## A design that fails
    ```fab
    hall h1 { row A { rack 1..8 { height 48U; bend 20mm } } }
    ```

    ### What it prints
    ```
    E0229: rack A01 in hall h1 leaves 20mm for a bend, and MFP7E10 needs 30mm (4 cables)
    ```
    """

    code = "E0229"
    name = "bend_radius"
    wrong = "A cable bent more than its part allows"
    kind = "quantity"
    example = "bend_radius <= 30mm"
    unit = "m"
    dim = LENGTH

    def applies_to(self, fabric: Fabric) -> bool:
        return fabric.places is not None and any(k.bend is not None for k in fabric.places.rack_kind)

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.physical.bends import Bends
        from tdsl.physical.model import physical_of

        f = view.fabric
        physical = physical_of(f)
        if physical is None:
            return skipped(NO_PLACES)
        legs = view.leg_columns
        bends = Bends(f, physical)
        need = bends.need[legs]
        if not len(need):
            return skipped("there are no cables")
        unknown = int((need < 0).sum())
        if unknown == len(need):
            return skipped("no part here states `bend`")
        leg = int(np.flatnonzero(legs)[int(np.argmax(need))])
        cable = physical.parts.choice(leg).cable
        assert cable is not None
        most = _length_from_micrometres(int(need.max()))
        text = f"{quantity_text(most)} for {part_display_name(cable)}"
        if unknown:
            text = f"at least {text}; {unknown:,} of {len(need):,} cables state no `bend`"
        faults: list[PropertyFault] = []
        blamed: set[int] = set()
        p = physical.places
        for t in bends.tight(legs):
            at = int(f.cable_statement[t.leg])
            if at in blamed:
                continue
            blamed.add(at)
            part = physical.parts.choice(t.leg).cable
            assert part is not None
            several = f" ({t.count:,} cables)" if t.count > 1 else ""
            words = (
                f"rack {p.rack_names[t.rack]} in hall {p.hall_name(t.rack)} leaves "
                f"{quantity_text(_length_from_micrometres(t.have))} for a bend, "
            )
            words += (
                f"and {part_display_name(part)} needs "
                f"{quantity_text(_length_from_micrometres(t.need))}{several}"
            )
            labels = ((p.rack_kind[t.rack].span, "the rack is declared here"),)
            help = "use a thinner cable, or racks with larger cable managers"
            faults.append(PropertyFault(f.statements[at].origin, words, t.count, labels, help=help))
        status: Status = "refuted" if faults else "bounded" if unknown else "proved"
        upper: Value = inf if unknown else most
        return Judgement(
            status, text, most, most, upper, witness={"part": part_display_name(cable)}, faults=tuple(faults)
        )


def _length_from_micrometres(micrometres: int) -> Quantity:
    return Quantity(Fraction(micrometres, MICRO), LENGTH)
