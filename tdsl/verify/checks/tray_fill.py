"""Trays: how full they are."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import Check, Judgement, PropertyFault, skipped
from tdsl.verify.checks.rack_space import NO_PLACES
from tdsl.verify.checks.reach import OfCables
from tdsl.verify.result import Status, Value

if TYPE_CHECKING:
    from tdsl.physical.trays import Stretch, Trays

FULL = Fraction(1, 2)


class TrayFill(OfCables, Check):
    """No tray is more than half filled.

    ## What it means
    The figure is the largest share of a tray's cross-section that cables take, over all stretches between
    neighbouring racks and between neighbouring rows. A design fails at more than 50%, when a tray is
    physically full. `require tray_fill <= 25%` leaves space for growth.

    ## Formula and source
    Sum of pi d^2 / 4 over the cables in a stretch / (width x depth), with `diameter` of the cable's part and
    `capacity` of the tray. Cables take the route of their computed length. TIA-569: plan for 25%; round
    cables at 50% fill a tray physically.

    ## What it assumes
    A cable in a bundle takes no more than its own circle. In a cluster the cables of all its fabrics count,
    also where a requirement of one of them is judged. Cables whose length or diameter is unknown make it a
    lower bound.

    ## A design that passes
    ```fab
    tray above 2.6m { capacity 300mm x 100mm }              # 1,024 fibres of 3 mm in one stretch: 24.1%
    ```

    ## A design that fails
    ```fab
    tray above 2.6m { capacity 100mm x 50mm }
    ```

    ### What it prints
    ```
    E0228: the tray of hall h1 is 50.9% full in row A from rack 1 to 2: 360 cables
    ```
    """

    code = "E0228"
    name = "tray_fill"
    wrong = "A tray that is more than half full"
    kind = "fraction"
    example = "tray_fill <= 40%"
    together = "shared"
    unit = "fraction"

    def applies_to(self, fabric: Fabric) -> bool:
        return fabric.places is not None and any(
            h.tray is not None and h.tray.area for h in fabric.places.halls
        )

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.physical.model import physical_of
        from tdsl.physical.trays import Trays

        f = view.fabric
        physical = physical_of(f)
        if physical is None or f.places is None:
            return skipped(NO_PLACES)
        used, lost = _stretches_used(view, Trays(f, physical))
        found: list[tuple[Fraction, Stretch]] = []
        for s in used:
            tray = f.places.halls[s.hall].tray
            if tray is not None and tray.area:
                found.append((s.fill(tray.area), s))
        if not found:
            return skipped("no cable here uses a tray whose `capacity` is stated")
        fill, worst = max(found, key=lambda x: x[0])
        unknown = lost + max(s.unknown for _, s in found)
        name = f.places.halls[worst.hall].name
        cables = counted_noun(worst.cables, "cable")
        words = f"{_fill_percent_text(fill)} in {worst.where} of hall {name} ({cables})"
        lacking = f"the length or diameter of {counted_noun(unknown, 'cable')} is unknown"
        text = f"at least {words}; {lacking}" if unknown else words
        faults = self._faults_by_hall(f, [(x, s) for x, s in found if x > FULL])
        status: Status = "refuted" if faults else "bounded" if unknown else "proved"
        upper: Value = inf if unknown else fill
        return Judgement(
            status, text, fill, fill, upper, witness={"hall": name, "stretch": worst.where}, faults=faults
        )

    def _faults_by_hall(self, f: Fabric, over: list[tuple[Fraction, Stretch]]) -> tuple[PropertyFault, ...]:
        """A fault for every hall of which some stretches are too full."""
        return tuple(
            self._fault(f, h, [y for y in over if y[1].hall == h]) for h in sorted({s.hall for _, s in over})
        )

    @staticmethod
    def _fault(f: Fabric, h: int, over: list[tuple[Fraction, Stretch]]) -> PropertyFault:
        assert f.places is not None
        hall = f.places.halls[h]
        fill, s = max(over, key=lambda x: x[0])
        more = "" if len(over) == 1 else f" (and {len(over) - 1:,} more stretches are over 50%)"
        text = (
            f"the tray of hall {hall.name} is {_fill_percent_text(fill)} full in {s.where}: "
            f"{counted_noun(s.cables, 'cable')}{more}"
        )
        labels = ((hall.tray.span, "the tray is declared here"),) if hall.tray is not None else ()
        return PropertyFault(
            hall.origin, text, len(over), labels, help="use a larger tray, or more trays `across`"
        )


def _stretches_used(view: View, trays: Trays) -> tuple[list[Stretch], int]:
    """The stretches of trays that cables of a view use, and how many cables there are of unknown length or
    diameter. A tray has the cables of all fabrics of a cluster, whichever of them is asked about."""
    legs = view.leg_columns
    used = trays.stretches(legs)
    if view.fabric.members:
        mine = {(s.hall, s.across, s.line, s.start) for s in used}
        legs = np.ones(len(legs), dtype=np.bool_)
        used = [s for s in trays.stretches(legs) if (s.hall, s.across, s.line, s.start) in mine]
    return used, trays.unknown(legs)


def _fill_percent_text(x: Fraction) -> str:
    return f"{float(x * 100):.3g}%"
