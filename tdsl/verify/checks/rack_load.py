"""Racks: power of their feeds and load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.semantics.quantity import MASS, POWER, Dim, Quantity, quantity_text
from tdsl.verify.check import Check, Judgement, PropertyFault, skipped
from tdsl.verify.checks.power import with_estimates
from tdsl.verify.checks.rack_space import NO_PLACES
from tdsl.verify.result import Status, Value

if TYPE_CHECKING:
    from tdsl.fabric.places import RackPlaces
    from tdsl.physical.racks import PartialSum, Racks


def _judge_racks(view: View, judge: Callable[[Racks, dict[int, list[int]]], Judgement]) -> Judgement:
    """What ``judge`` says of the racks with a device of the view, each with all that is in it."""
    from tdsl.physical.racks import Racks

    if view.fabric.places is None:
        return skipped(NO_PLACES)
    racks = Racks(view.fabric, view.fabric.places)
    held = {r: devices for r, devices in racks.by_rack.items() if view.core[devices].any()}
    if not held:
        return skipped("no device here has a place")
    found = judge(racks, held)
    return replace(found, text=found.text + racks.words_for_unplaced(view.core)) if found.text else found


def _most_loaded_rack(
    p: RackPlaces,
    sums: dict[int, PartialSum],
    limits: dict[int, Fraction | None],
    dim: Dim,
    what: str,
    devices: dict[int, list[int]],
) -> Judgement:
    """The rack with the greatest sum, and a fault for each statement that overloads one."""
    most = max(sums, key=lambda r: (sums[r].known, -r))
    missing = sum(b.missing for b in sums.values())
    known = Quantity(sums[most].known, dim)
    name = f"rack {p.rack_names[most]} in hall {p.hall_name(most)}"
    over = {r: limit for r, b in sums.items() if (limit := limits[r]) is not None and b.known > limit}
    text = f"{'' if not missing else 'at least '}{quantity_text(known)} in {name}" + (
        f"; {missing:,} {'figure is' if missing == 1 else 'figures are'} unknown" if missing else ""
    )
    faults = _faults_of_overloaded_racks(p, sums, over, dim, what, devices)
    witness = {"rack": p.rack_names[most], "hall": p.hall_name(most)}
    status: Status = "refuted" if faults else "bounded" if missing else "proved"
    upper: Value = inf if missing else known
    found = Judgement(status, text, known, known, upper, witness=witness, faults=tuple(faults))
    return with_estimates(found, frozenset[str]().union(*(b.estimated for b in sums.values())))


def _faults_of_overloaded_racks(
    p: RackPlaces,
    sums: dict[int, PartialSum],
    over: dict[int, Fraction],
    dim: Dim,
    what: str,
    devices: dict[int, list[int]],
) -> list[PropertyFault]:
    """A fault for each statement that places the last device of a rack that is over its limit."""
    faults: list[PropertyFault] = []
    blamed: set[int] = set()
    for r, limit in over.items():
        last = devices[r][-1]
        if int(p.device_place[last]) in blamed:
            continue
        blamed.add(int(p.device_place[last]))
        more = "" if len(over) == 1 else f" (and {len(over) - 1:,} more rack{'' if len(over) == 2 else 's'})"
        words = (
            f"rack {p.rack_names[r]} in hall {p.hall_name(r)} {what} "
            f"{quantity_text(Quantity(limit, dim))}{_words_for_feed_loss(p, r, dim)}, "
        )
        words += f"and its devices come to {quantity_text(Quantity(sums[r].known, dim))}{more}"
        faults.append(
            PropertyFault(
                p.origin(last),
                words,
                len(over),
                ((p.rack_kind[r].span, "the rack is declared here"),),
                help="place fewer devices in it, or use a rack that carries more",
            )
        )
    return faults


def _words_for_feed_loss(p: RackPlaces, rack: int, dim: Dim) -> str:
    """Which feeds a limit is about, where there are more than two."""
    feeds = p.rack_kind[rack].feeds
    return f" with one of {feeds} lost" if dim == POWER and feeds > 2 else ""


class RackPower(Check):
    """No rack takes more power than its feeds carry.

    ## What it means
    The figure is the most that any rack takes, transceivers included. A design fails where a rack takes more
    than its feeds carry after the loss of one: with `power 2 x 44kW` each feed must carry the whole rack,
    with `power 3 x 20kW` two of them. `require rack_power typical <= 30kW` takes typical figures instead of
    maxima. `require rack_power per_feed <= 22kW` is about one feed while all are in service, `require
    rack_power feed_lost <= 44kW` about one feed while another is lost; the rack shares its power evenly among
    them.

    ## Formula and source
    Σ over the devices of a rack as in `power`: the published maximum with transceivers, else the one figure
    and the maximum of the transceivers in its cages. Four DGX H100 are 40.8 kW, and 41.1 kW with four
    twin-port transceivers of 17 W each.

    ## What it assumes
    All devices at their maximum at once, and supplies that share their load evenly over the feeds that are
    left. A rack with a single feed has no other to lose: the limit is that feed. Unknown figures make the sum
    a lower bound, and estimates (`basis power estimated`) make it `modelled`.

    ## A design that passes
    ```fab
    hall h1 { row A { rack 1..2 { height 48U; power 2 x 44kW } } }
    place node[n] in h1.A[n//4 + 1] at 2U + 8U*(n%4)        # four DGX H100 in each
    ```

    ## A design that fails
    ```fab
    hall h1 { row A { rack 1..2 { height 48U; power 2 x 20kW } } }
    ```

    ### What it prints
    ```
    E0223: rack A01 in hall h1 has feeds of 20kW, and its devices come to 40.8kW (and 1 more rack)
    ```
    """

    code = "E0223"
    name = "rack_power"
    wrong = "A rack that takes more power than a feed carries"
    kind = "quantity"
    cost = 0
    unit = "W"
    dim = POWER
    fails_by_default = True
    of_design = True
    together = "shared"
    takes = frozenset({"of", "args"})
    words = frozenset({"typical", "per_feed", "feed_lost"})

    def applies_to(self, fabric: Fabric) -> bool:
        return fabric.places is not None

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        words = set(map(str, claim.args)) if claim is not None else set()
        return _judge_racks(view, partial(self._power, words))

    def _power(self, words: set[str], racks: Racks, held: dict[int, list[int]]) -> Judgement:
        from tdsl.physical.power_and_cost import cached_figures
        from tdsl.physical.rack_rows import rack_sums

        p = racks.places
        found = rack_sums(cached_figures(racks.fabric), racks, "typical" in words)
        lost = "feed_lost" in words
        if lost or "per_feed" in words:
            known = [r for r in held if p.rack_kind[r].feeds]
            if not known:
                return skipped("no rack here states its feeds: `power 2 x 44kW`")
            share = {r: max(p.rack_kind[r].feeds - lost, 1) for r in known}
            sums = {r: replace(found[r], known=found[r].known / share[r]) for r in known}
            return _most_loaded_rack(
                p, sums, {r: p.rack_kind[r].feed_watts for r in known}, POWER, "has feeds of", held
            )
        sums = {r: found[r] for r in held}
        return _most_loaded_rack(
            p, sums, {r: p.rack_kind[r].watts for r in held}, POWER, "has feeds of", held
        )


class RackWeight(Check):
    """No rack carries more than it may.

    ## What it means
    The figure is the most that the devices of any rack weigh. A design fails where they weigh more than the
    `mass` of the rack.

    ## Formula and source
    Σ of `mass` of the models of the devices in a rack.

    ## What it assumes
    The mass of cables, power units and the rack itself is not part of it, so `mass` of a rack is what its
    devices may weigh. Unknown figures make the sum a lower bound.

    ## A design that passes
    ```fab
    hall h1 { row A { rack 1..2 { height 48U; mass 1400kg } } }
    ```

    ## A design that fails
    ```fab
    hall h1 { row A { rack 1..2 { height 48U; mass 400kg } } }
    ```

    ### What it prints
    ```
    E0224: rack A01 in hall h1 carries 400kg, and its devices come to 521.8kg (and 1 more rack)
    ```
    """

    code = "E0224"
    name = "rack_weight"
    wrong = "A rack that carries more than it may"
    kind = "quantity"
    cost = 0
    unit = "kg"
    dim = MASS
    fails_by_default = True
    of_design = True
    together = "shared"
    takes = frozenset({"of"})

    def applies_to(self, fabric: Fabric) -> bool:
        return fabric.places is not None

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        return _judge_racks(view, self._mass)

    def _mass(self, racks: Racks, held: dict[int, list[int]]) -> Judgement:
        p = racks.places
        sums = {r: racks.total(devices, racks.mass) for r, devices in held.items()}
        return _most_loaded_rack(p, sums, {r: p.rack_kind[r].mass for r in held}, MASS, "carries", held)
