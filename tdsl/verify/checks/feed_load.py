"""Feeds above the racks: what they carry against what they may."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.prove.view import View
from tdsl.semantics.quantity import POWER, Quantity, quantity_text
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import Check, Judgement, PropertyFault, skipped
from tdsl.verify.checks.power import with_estimates
from tdsl.verify.result import Status

if TYPE_CHECKING:
    from tdsl.fabric.places import RackPlaces
    from tdsl.physical.racks import PartialSum

IN_SERVICE = "in_service"
"""The word that asks for the load while all feeds are in service."""


@dataclass(frozen=True, slots=True)
class _LoadedFeed:
    """The load of a feed, and its share of what the feed carries, once the feed of the number ``lost`` is
    lost; -1 where none is."""

    feed: int
    lost: int
    share: Fraction
    load: PartialSum

    def in_words(self, places: RackPlaces) -> str:
        """``56kW of 100kW at feed pdu_a without utility_b``."""
        feed = places.feeds[self.feed]
        least = "at least " if self.load.missing else ""
        words = f"{least}{quantity_text(Quantity(self.load.known, POWER))} of "
        words += f"{quantity_text(Quantity(feed.watts or Fraction(0), POWER))} at feed {feed.name}"
        return words + (f" without {places.feeds[self.lost].name}" if self.lost >= 0 else "")


class FeedLoad(Check):
    """No feed above the racks carries more than it may, also with any one feed lost.

    ## What it means
    The figure is the greatest load of a `feed`, as a share of its `power`: with all feeds in service, and
    with each one lost in turn. A design fails where it is above 100%. `require feed_load <= 80%` asks for a
    margin; `feed_load in_service` is about all feeds in service alone, `feed_load typical` takes typical
    figures.

    ## Formula and source
    The power of a rack is that of `rack_power`. A rack takes it in equal parts from those of its feeds that
    have power, and a feed in equal parts from those after `from` that have. A feed has power if it is not
    lost, and has no `from` or gets power from one that has some. The figure is the maximum of load over
    `power`, of all feeds and single losses.

    ## What it assumes
    All devices at their maximum at once, supplies that share their load evenly, and no losses on the way.
    Breakers of three phases are not in the model: state what a feed carries in all. Feeds without `power`
    are not judged. Where devices of a rack have no known power, the load is a lower bound; where that of a
    model is an estimate (`basis power estimated`), it is `modelled`.

    ## A design that passes
    ```fab
    feed utility { power 200kW }
    feed pdu_a { from utility; power 100kW; racks h1.A }
    feed pdu_b { from utility; power 100kW; racks h1.A }   # each carries all 82kW if the other is lost
    ```

    ## A design that fails
    ```fab
    feed pdu_a { power 60kW; racks h1.A }
    feed pdu_b { power 60kW; racks h1.A }
    ```

    ### What it prints
    ```
    E0235: 82kW of 60kW at feed pdu_b without pdu_a (and 1 more feed)
    ```
    """

    code = "E0235"
    name = "feed_load"
    wrong = "A feed above the racks that carries more than it may"
    kind = "fraction"
    cost = 0
    fails_by_default = True
    of_design = True
    together = "shared"
    takes = frozenset({"args"})
    words = frozenset({"typical", IN_SERVICE})

    def applies_to(self, fabric: Fabric) -> bool:
        return fabric.places is not None and bool(fabric.places.feeds)

    def judge(self, view: View, claim: ResolvedClaim | None) -> Judgement:
        from tdsl.physical.power_and_cost import cached_figures
        from tdsl.physical.rack_rows import rack_sums
        from tdsl.physical.racks import Racks

        places = view.fabric.places
        if places is None or not places.feeds:
            return skipped("the design has no feed: write `feed pdu_a { power 400kW; racks h1.A }`")
        if all(feed.watts is None for feed in places.feeds):
            return skipped("no feed says what it carries: write `power 400kW` in its block")
        words = set(map(str, claim.args)) if claim is not None else set()
        racks = Racks(view.fabric, places)
        watts = rack_sums(cached_figures(view.fabric), racks, "typical" in words)
        plugged = {r for feed in places.feeds for r in feed.racks}
        if not plugged & watts.keys():
            return skipped("no rack that a feed supplies holds a device")
        found = list(_loaded_feeds(places, watts, IN_SERVICE in words))
        judged = _judgement_of_feeds(places, found, watts)
        return replace(judged, text=judged.text + racks.words_for_unplaced(view.fabric.built))


def _loaded_feeds(
    places: RackPlaces, watts: Mapping[int, PartialSum], in_service: bool
) -> Iterator[_LoadedFeed]:
    """The load of every feed that says what it carries: with all in service, and unless ``in_service`` with
    each one lost."""
    from tdsl.physical.feed_load import loads_of_feeds

    for lost in range(-1, 0 if in_service else len(places.feeds)):
        loads = loads_of_feeds(places, watts, () if lost < 0 else (lost,))
        for k, (feed, load) in enumerate(zip(places.feeds, loads, strict=True)):
            if feed.watts is not None and k != lost:
                yield _LoadedFeed(k, lost, load.known / feed.watts, load)


def _judgement_of_feeds(
    places: RackPlaces, found: list[_LoadedFeed], watts: Mapping[int, PartialSum]
) -> Judgement:
    """The feed with the greatest share, and a fault for each that carries too much."""
    most = max(found, key=lambda x: (x.share, -x.lost, -x.feed))
    plugged = {r for feed in places.feeds for r in feed.racks}
    alone = sum(r not in plugged for r in watts)
    missing = sum(x.missing for r, x in watts.items() if r in plugged)
    faults = tuple(
        PropertyFault(
            places.feeds[k].origin,
            x.in_words(places),
            1,
            (),
            help="put racks on other feeds, or devices into other racks",
        )
        for k, x in _worst_overloads(found).items()
    )
    status: Status = "refuted" if faults else "bounded" if missing else "proved"
    share = most.share
    text = f"{float(share * 100):.4g}%: {most.in_words(places)}"
    witness = {
        "feed": places.feeds[most.feed].name,
        "lost": places.feeds[most.lost].name if most.lost >= 0 else "",
    }
    notes, upper = tuple(_what_is_not_judged(places, alone)), inf if missing else share
    judged = Judgement(status, text, share, share, upper, witness=witness, faults=faults, notes=notes)
    every = (x.estimated for r, x in watts.items() if r in plugged)
    return with_estimates(judged, frozenset[str]().union(*every))


def _what_is_not_judged(places: RackPlaces, racks_alone: int) -> Iterator[str]:
    """Racks that are on no feed, and feeds without a limit."""
    if racks_alone:
        are = "is" if racks_alone == 1 else "are"
        yield f"{counted_noun(racks_alone, 'rack')} with devices {are} on no feed"
    unlimited = [feed.name for feed in places.feeds if feed.watts is None]
    if unlimited:
        yield f"what they carry is not stated: {', '.join(unlimited[:8])}"


def _worst_overloads(found: list[_LoadedFeed]) -> dict[int, _LoadedFeed]:
    """Of every feed that carries too much the first of its greatest loads."""
    worst: dict[int, _LoadedFeed] = {}
    for x in found:
        if x.share > 1 and (x.feed not in worst or x.share > worst[x.feed].share):
            worst[x.feed] = x
    return worst
