"""What a requirement says may fail, the cable trays of ``risk`` and ``risk.trays`` included."""

from __future__ import annotations

import numpy as np

from tdsl.fabric.claims import FabricElement, ResolvedClaim
from tdsl.fabric.feeds import feeds_back_each_other
from tdsl.fabric.risks import RISK
from tdsl.prove.elements import TooMany, elements_of_claim
from tdsl.prove.view import View


def failing_elements_of_claim(view: View, claim: ResolvedClaim, beside: bool) -> list[FabricElement]:
    """The elements that a requirement names, of scale-up links beside the network too where ``beside`` is set
    or nothing else is named. Raises TooMany."""
    _refuse_several_feeds(view, claim)
    named = elements_of_claim(view, claim, beside=beside) or elements_of_claim(view, claim, beside=True)
    trays = any(s.kind == RISK and s.text in (RISK, f"{RISK}.trays") for s in claim.of)
    return [*named, *tray_elements(view)] if trays else named


def _refuse_several_feeds(view: View, claim: ResolvedClaim) -> None:
    """Refuse a question about several feeds lost at once where they back each other: what they take together
    is more than what each takes. Raises TooMany."""
    places = view.fabric.places
    if places is None or claim.any_count == 1 or not feeds_back_each_other(places.feeds):
        return
    named = {RISK, f"{RISK}.feeds", *(f"{RISK}.{feed.name}" for feed in places.feeds)}
    if any(s.kind == RISK and s.text in named for s in claim.of):
        raise TooMany(
            "racks or feeds have a second feed, so that several feeds lost at once take more than each "
            "alone: only `any 1 of` feeds is judged"
        )


def tray_elements(view: View) -> list[FabricElement]:
    """The stretches of cable tray with the links that run through cables in them; those with the same links
    are one element. Empty where nothing has a place in a hall with trays. Raises TooMany where
    it is not known in which trays some cables are."""
    from tdsl.fabric.cables.identity import CableIndex
    from tdsl.physical.model import physical_of
    from tdsl.physical.trays import Trays

    f = view.fabric
    physical = physical_of(f)
    if physical is None or not len(f.cable_a):
        return []
    links, legs = CableIndex(f).crossings
    here = np.isin(links, view.rows)
    links, legs = links[here], legs[here]
    every = np.ones(len(f.cable_a), dtype=np.bool_)
    trays = Trays(f, physical)
    unknown = trays.unknown(every)
    if unknown and any(h.tray is not None for h in physical.places.halls):
        raise TooMany(f"the trays of {unknown:,} cables are not known, as their lengths by places are not")
    out: dict[tuple[int, ...], FabricElement] = {}
    none = np.zeros(0, dtype=np.int64)
    several = len(physical.places.halls) > 1
    for stretch, mine in trays.legs_by_stretch(every):
        hall = physical.places.halls[stretch.hall]
        rows = np.unique(links[np.isin(legs, mine)]) if hall.tray is not None else none
        if len(rows):
            name = f"tray {hall.name + ' ' if several else ''}{stretch.where}"
            out.setdefault(tuple(rows.tolist()), FabricElement(name, none, rows))
    return list(out.values())
