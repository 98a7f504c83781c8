"""The physical side of one fabric, put together once: racks, lengths, parts and what they add up to."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache

import numpy as np

from tdsl.fabric.cables.identity import CableIndex
from tdsl.fabric.graph import Fabric
from tdsl.fabric.places import RackPlaces, empty_places
from tdsl.physical.lengths import CableRuns
from tdsl.physical.part_choice import ChosenParts
from tdsl.physical.racks import Racks

DECIMETRE = 100_000
"""Micrometres."""


class Physical:
    """What follows from the places of a fabric; each part is computed when it is asked for."""

    def __init__(self, fabric: Fabric, places: RackPlaces) -> None:
        self.places = places
        self.lengths = CableRuns(fabric, places)
        self.racks = Racks(fabric, places)
        self._catalogue = fabric.parts
        self._fabric = fabric

    @cached_property
    def parts(self) -> ChosenParts:
        """Cables and transceivers."""
        return ChosenParts(self._fabric, self.lengths, self._catalogue)


def with_runs(fabric: Fabric) -> Fabric:
    """The fabric with the length to order for the cables of every link: the length sold, else the run to the
    next decimetre."""
    physical = physical_of(fabric)
    if physical is None or not len(fabric.cable_a):
        return fabric
    run, sold = physical.lengths.run, physical.parts.sold[0]
    each = np.where(sold >= 0, sold, np.where(run >= 0, -(-run // DECIMETRE) * DECIMETRE, -1))
    links, legs = CableIndex(fabric).crossings
    total = np.zeros(fabric.link_count, dtype=np.int64)
    np.add.at(total, links, np.maximum(each[legs], 0))
    known = np.bincount(links, minlength=fabric.link_count) > 0
    known[links[each[legs] < 0]] = False
    return replace(fabric, link_run=np.where(known, total, -1))


@lru_cache(maxsize=2)
def physical_of(fabric: Fabric) -> Physical | None:
    """The physical side of a fabric, None where nothing has a place and no distance is stated. The last two
    are kept."""
    if fabric.places is None and not fabric.spans:
        return None
    return Physical(fabric, fabric.places or empty_places(fabric.device_count))
