"""Bisection bandwidth: bounds that meet where the fabric is a Clos, each with what certifies it.

The unit of a split is a host with all its ports, or a chip. The figure is the least, over all splits whose sides differ by at
most one unit, of the capacity one way between the sides, nodes placed at their best (Leighton, "Introduction to parallel
algorithms and architectures", 1992; Dally and Towles, "Principles and practices of interconnection networks", 2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np

from tdsl.fabric.graph import Bools
from tdsl.verify.alltoall import all_to_all
from tdsl.verify.capacity import Capacities
from tdsl.verify.cuts import EXACT, Cut, least, placed, splits
from tdsl.verify.disjoint import disjoint_paths
from tdsl.verify.updown import Spread, best_spread
from tdsl.verify.view import View

By = Literal["shares", "pairs", "paths", "splits"]

ALL_SPLITS = 500
"""Splits up to which all are tried where the bounds differ."""

FLOWS = 30_000
"""Trunk pairs that maximum flows may look at where the bounds differ; the splits that sweeps found best come first."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """Bounds in grains; ``cut`` is the upper one. ``by`` says what proves the lower: the ``shares`` of ``spreads``, part by
    part; a rate of all ``pairs`` at once; disjoint ``paths``; or that all ``splits`` were cut."""

    net: Capacities
    lower: int
    upper: int
    cut: Cut
    spreads: tuple[tuple[Capacities, Spread], ...]
    by: By


def bisection(view: View) -> Bisection:
    """Bounds on a view's bisection; there are two units at least."""
    net = Capacities.of(view)
    spreads = tuple((part, found) for part in net.parts() if (found := best_spread(part)) is not None)
    lower, by = _lower(view, net, spreads)
    cut = _upper(net, view, lower)
    if lower < cut.value and comb(len(net.units), net.half) <= ALL_SPLITS:
        cut = min((least(net, units) for units in _every_split(net)), key=lambda c: c.value)
        lower, by = cut.value, "splits"
    return Bisection(net, lower, cut.value, cut, spreads, by)


def _lower(view: View, net: Capacities, spreads: tuple[tuple[Capacities, Spread], ...]) -> tuple[int, By]:
    """The best lower bound: flows to hubs, all pairs at once, or the links that separate two units at least."""
    shares = sum(found.value for _, found in spreads)
    pairs = all_to_all(view, net)
    if shares or pairs:
        return (shares, "shares") if shares >= pairs else (pairs, "pairs")
    return disjoint_paths(view).lower, "paths"


def _upper(net: Capacities, view: View, lower: int) -> Cut:
    """The least cut found; the search ends when it meets the lower bound."""
    found: list[Cut] = []
    for units in splits(net, view.fabric):
        found.append(placed(net, units))
        if found[-1].value == lower:
            return found[-1]
    found.sort(key=lambda c: c.value)
    best = found[0]
    if len(net.trunks.a) <= EXACT:
        for cut in found[: max(FLOWS // (len(net.trunks.a) + 1), 4)]:
            better = least(net, cut.units)
            if better.value < best.value:
                best = better
            if best.value == lower:
                break
    return best


def _every_split(net: Capacities) -> Iterator[Bools]:
    """All balanced splits; with an even number of units each once, the first unit on the one side."""
    count = len(net.units)
    even = count % 2 == 0
    for rest in combinations(range(1 if even else 0, count), net.half - 1 if even else net.half):
        units = np.zeros(count, dtype=np.bool_)
        units[list(rest)] = True
        units[0] |= even
        yield units
