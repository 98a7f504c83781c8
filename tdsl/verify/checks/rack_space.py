"""Space in racks: no two devices in one unit, none above the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.fabric.order import distinct_values
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.verify.check import Check, Judgement, PropertyFault, property_fails, property_holds, skipped

if TYPE_CHECKING:
    from tdsl.fabric.places import RackPlaces
    from tdsl.physical.racks import Racks

NO_PLACES = "no device has a place: add `hall` and `place`, or give a table with --places"


class RackSpace(Check):
    """Every rack has the units that its devices take.

    ## What it means
    No two devices take the same unit of a rack, none reaches above the top unit, and what is in a rack
    without a unit has units left.

    ## Formula and source
    A device of `height` h at unit u takes the units u to u + h - 1 (EIA-310: 44.45 mm each, counted from the
    bottom). The units of two devices of a rack are disjoint, the highest is at most the `height` of the rack,
    and so is the sum of all heights.

    ## What it assumes
    Devices take the whole depth of the rack. Where a model or a rack has no `height`, and nothing else is
    wrong, the answer is `skipped`.

    ## A design that passes
    ```fab
    hall h1 { row A { rack 1..2 { height 48U } } }
    place node[n] in h1.A[n//4 + 1] at 2U + 8U*(n%4)        # 8U each
    ```

    ## A design that fails
    ```fab
    place node[n] in h1.A[n//4 + 1] at 2U + 6U*(n%4)        # eight units need eight
    ```

    ### What it prints
    ```
    E0222: node[0] and node[1] are both in unit 8 of rack A01 in hall h1
    ```
    """

    code = "E0222"
    name = "rack_space"
    wrong = "A rack unit taken twice, or a rack that is too small"
    kind = "yes_no"
    cost = 0
    fails_by_default = True
    monotone = True
    of_design = True
    together = "shared"
    takes = frozenset({"of"})

    def applies_to(self, fabric: Fabric) -> bool:
        return fabric.places is not None

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.fabric.places import height_of
        from tdsl.physical.racks import Racks

        f, p = view.fabric, view.fabric.places
        if p is None:
            return skipped(NO_PLACES)
        racks = Racks(f, p)
        rows = racks.devices[view.core[racks.devices]]
        if not len(rows):
            return skipped("no device here has a place")
        faults = [*self._overlaps(f, p, racks, view), *self._full(f, p, racks, view)]
        if faults:
            return property_fails(faults[0].message, tuple(faults))
        unknown = {
            f.models[m].name
            for m in distinct_values(f.device_model[rows]).tolist()
            if height_of(f.models[m]) is None
        }
        if unknown:
            return skipped(
                f"{first_names_and_more(sorted(unknown), 4)} {'has' if len(unknown) == 1 else 'have'} no "
                "`height`"
            )
        held = set(p.device_rack[rows].tolist())
        low = [r for r in held if p.rack_kind[r].height is None]
        if low:
            return skipped(f"rack {p.rack_names[low[0]]} has no `height`")
        most = max(held, key=lambda r: sum(racks.height(d) for d in racks.by_rack[r]))
        taken = sum(racks.height(d) for d in racks.by_rack[most])
        return property_holds(
            f"fullest: rack {p.rack_names[most]} with {taken} of {p.rack_kind[most].height} units taken"
            + racks.words_for_unplaced(view.core)
        )

    def _overlaps(self, f: Fabric, p: RackPlaces, racks: Racks, view: View) -> list[PropertyFault]:
        """Devices that share a unit with one below them, in racks that hold something of what is judged."""
        from tdsl.fabric.places import height_of

        taking = np.array([height_of(m) != 0 for m in f.models] or [True])[f.device_model[racks.devices]]
        rows = racks.devices[(p.device_unit[racks.devices] > 0) & taking]
        low = p.device_unit[rows]
        high = low + np.maximum(racks.heights[f.device_model[rows]], 1)
        rack = p.device_rack[rows]
        out: list[PropertyFault] = []
        first: dict[int, tuple[int, int, int]] = {}  # place statement -> devices and how many
        top: dict[int, tuple[int, int]] = {}
        ours = {int(r) for r in p.device_rack[racks.devices[view.core[racks.devices]]]}
        for device, r, u, end in zip(rows.tolist(), rack.tolist(), low.tolist(), high.tolist(), strict=True):
            below = top.get(r)
            if below is not None and u < below[0] and r in ours:
                at = int(p.device_place[device])
                known = first.get(at, (below[1], device, 0))
                first[at] = (known[0], known[1], known[2] + 1)
            if below is None or end > below[0]:
                top[r] = (end, device)
        for below_device, device, count in first.values():
            r = int(p.device_rack[device])
            more = f" (and {count - 1:,} more)" if count > 1 else ""
            other = p.origin(below_device)
            here = p.origin(device)
            labels = (
                ((other.span, "the other is placed here"),) if other is not None and other is not here else ()
            )
            text = (
                f"{f.device_path(below_device)} and {f.device_path(device)} are both in unit "
                f"{int(p.device_unit[device])} "
                f"of rack {p.rack_names[r]} in hall {p.hall_name(r)}{more}"
            )
            out.append(
                PropertyFault(
                    here, text, count, labels, help="place them apart: a device takes `height` units upwards"
                )
            )
        return out

    def _full(self, f: Fabric, p: RackPlaces, racks: Racks, view: View) -> list[PropertyFault]:
        """Devices above the top of their rack, and racks whose devices need more units than there are."""
        out: list[PropertyFault] = []
        blamed: set[int] = set()
        for rack, devices in racks.by_rack.items():
            height = p.rack_kind[rack].height
            if height is None or not view.core[devices].any():
                continue
            where = f"rack {p.rack_names[rack]} in hall {p.hall_name(rack)}"
            over = [
                d
                for d in devices
                if p.device_unit[d] and int(p.device_unit[d]) + max(racks.height(d), 1) - 1 > height
            ]
            need = sum(racks.height(d) for d in devices)
            device = over[0] if over else devices[-1]
            if (not over and need <= height) or int(p.device_place[device]) in blamed:
                continue
            blamed.add(int(p.device_place[device]))
            top = int(p.device_unit[device]) + max(racks.height(device), 1) - 1
            text = (
                f"{f.device_path(device)} reaches unit {top} of {where}, which has {height}"
                if over
                else f"{where} has {height} units, and its devices need {need}"
            )
            labels = ((p.rack_kind[rack].span, "the rack is declared here"),)
            out.append(
                PropertyFault(p.origin(device), text, 1, labels, help="use another rack, or a taller one")
            )
        return out
