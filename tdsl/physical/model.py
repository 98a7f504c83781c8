"""The physical side of one fabric, put together once: racks, lengths, parts and what they add up to."""

from __future__ import annotations

from functools import cached_property, lru_cache

from tdsl.fabric.graph import Fabric
from tdsl.fabric.places import Places
from tdsl.physical.lengths import Lengths
from tdsl.physical.parts import Parts
from tdsl.physical.racks import Racks


class Physical:
    """What follows from the places of a fabric; each part is computed when it is asked for."""

    def __init__(self, fabric: Fabric, places: Places) -> None:
        self.places = places
        self.lengths = Lengths(fabric, places)
        self.racks = Racks(fabric, places)
        self._catalogue = fabric.parts
        self._fabric = fabric

    @cached_property
    def parts(self) -> Parts:
        """Cables and transceivers."""
        return Parts(self._fabric, self.lengths, self._catalogue)


@lru_cache(maxsize=2)
def physical_of(fabric: Fabric) -> Physical | None:
    """The physical side of a fabric, None where nothing has a place. The last two are kept."""
    return None if fabric.places is None else Physical(fabric, fabric.places)
