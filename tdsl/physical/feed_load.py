"""What the feeds above the racks carry, with all in service and with one of them lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from fractions import Fraction

from tdsl.fabric.feeds import feeds_of_racks, feeds_with_power
from tdsl.fabric.places import RackPlaces
from tdsl.physical.racks import PartialSum

NOTHING = PartialSum(Fraction(0), 0)


def loads_of_feeds(
    places: RackPlaces, watts: Mapping[int, PartialSum], lost: Collection[int] = ()
) -> list[PartialSum]:
    """Watts of every feed. A rack takes its power in equal parts from those of its feeds that have power, and
    a feed in equal parts from those above it. ``watts`` are those of the racks that hold something."""
    feeds = places.feeds
    live = feeds_with_power(feeds, lost)
    out = [NOTHING] * len(feeds)
    for rack, mine in enumerate(feeds_of_racks(feeds, places.rack_count)):
        having = [k for k in mine if live[k]]
        for k in having if rack in watts else ():
            out[k] += _part_of_sum(watts[rack], len(having))
    for k in range(len(feeds) - 1, -1, -1):
        above = [p for p in feeds[k].parents if live[p]]
        for p in above if live[k] else ():
            out[p] += _part_of_sum(out[k], len(above))
    return out


def _part_of_sum(bound: PartialSum, parts: int) -> PartialSum:
    """One of so many equal parts of a sum."""
    return replace(bound, known=bound.known / parts)
