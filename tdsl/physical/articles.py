"""What devices are bought as: boards, trays and racks that hold several of them, which models name by
``sold``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.supply import SoldIn
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Article:
    """Something to order that holds devices. ``kind`` is "rack" or the kind of the model that names it,
    ``used`` how many devices of that model there are for ``quantity`` articles, ``each`` the price of one
    article, None where unknown."""

    kind: str
    sold: SoldIn
    model: str
    quantity: int
    used: int
    each: Fraction | None


@dataclass(frozen=True, slots=True)
class Purchases:
    """What the mounted devices of a fabric are bought as. ``alone`` has, by name of a model, the devices that
    are ordered as such; ``shares`` the price of one device of each model that is in articles, None where
    unknown."""

    articles: tuple[Article, ...]
    alone: Mapping[str, int]
    shares: Mapping[str, Fraction | None]


def sold_in(model: DeviceModel) -> SoldIn | None:
    """What a model is sold inside of, None where it is sold as such."""
    value = model.facts.get("sold")
    return value if isinstance(value, SoldIn) else None


def list_purchases(
    fabric: Fabric, counts: Mapping[str, int], prices: Mapping[str, Fraction | None]
) -> Purchases:
    """The articles for devices of which ``counts`` has the number by the name of their model, and ``prices``
    what one costs. Articles that hold several models come first: what they hold is not ordered again."""
    models = {m.name: m for m in fabric.models}
    asked = {name: s for name in sorted(counts) if (s := sold_in(models[name])) is not None}
    alone, articles = Counter(counts), []
    paid: dict[str, list[Fraction | None]] = {}
    for name in sorted(asked, key=lambda n: (not asked[n].holds, n)):
        s, used = asked[name], alone.pop(name, 0)
        if not used:
            continue
        quantity = max(-(-used // s.pieces), _count_racks_of_model(fabric, name) if s.by_rack else 0)
        for other in _take_held_devices(alone, s, quantity):
            paid.setdefault(other, []).append(Fraction(0))
        each = _price_of_article(s, name, prices)
        paid.setdefault(name, []).append(None if each is None else each * quantity)
        articles.append(Article("rack" if s.by_rack else models[name].kind, s, name, quantity, used, each))
    left_alone = {n: left for n, left in alone.items() if left}
    shares = {name: _price_of_one_device(paid[name], counts[name]) for name in paid}
    for name in paid.keys() & left_alone.keys():  # some inside, the others as such
        shares[name] = _price_of_one_device([prices.get(name)], counts[name], left_alone[name])
    return Purchases(tuple(articles), left_alone, shares)


def _take_held_devices(alone: Counter[str], s: SoldIn, quantity: int) -> list[str]:
    """Take the devices that so many articles hold beside their own from those that are ordered as such; the
    models of which there were some."""
    taken = []
    for other, pieces in s.holds:
        inside = min(alone.get(other, 0), pieces * quantity)
        if inside:
            alone[other] -= inside
            taken.append(other)
    return taken


def _price_of_one_device(paid: Sequence[Fraction | None], count: int, times: int = 1) -> Fraction | None:
    """What is paid so many times for so many devices, for each of these; None where some of it is unknown."""
    known = [x for x in paid if x is not None]
    return sum(known, Fraction(0)) * times / count if len(known) == len(paid) else None


def _price_of_article(s: SoldIn, name: str, prices: Mapping[str, Fraction | None]) -> Fraction | None:
    """The price of an article: its own, else the sum of what it holds where all of that is known."""
    own = prices.get(s.article)
    if own is not None:
        return own
    parts = [(prices.get(held), n) for held, n in ((name, s.pieces), *s.holds)]
    known = [price * n for price, n in parts if price is not None]
    return sum(known, Fraction(0)) if len(known) == len(parts) else None


def _count_racks_of_model(fabric: Fabric, name: str) -> int:
    """The racks of the halls that hold devices of a model."""
    if fabric.places is None:
        return 0
    mine = np.array([m.name == name for m in fabric.models] or [False])[fabric.device_model]
    racks = fabric.places.device_rack[fabric.built & (fabric.container < 0) & mine]
    return len(np.unique(racks[racks >= 0]))


def racks_bought_with_contents(fabric: Fabric) -> set[int]:
    """The numbers of the racks that are articles themselves, as devices in them are sold by the rack."""
    if fabric.places is None:
        return set()
    by_rack = [(s := sold_in(m)) is not None and s.by_rack for m in fabric.models]
    mine = np.array(by_rack or [False])[fabric.device_model] & fabric.built & (fabric.container < 0)
    return set(fabric.places.device_rack[mine].tolist()) - {-1}
