"""Bisection bandwidth: bounds that meet on Clos fabrics and even tori, each with what certifies it.

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
from tdsl.verify.automorphisms import orbits
from tdsl.verify.capacity import Capacities
from tdsl.verify.concurrent import Concurrent, bound, concurrent
from tdsl.verify.cuts import EXACT, Cut, crossing, least, placed, splits
from tdsl.verify.disjoint import disjoint_paths
from tdsl.verify.folded import Folded
from tdsl.verify.mended import Mended, mended
from tdsl.verify.placements import placements
from tdsl.verify.refine import refined
from tdsl.verify.routes import Demand
from tdsl.verify.updown import Spread, best_spread
from tdsl.verify.view import View

By = Literal["shares", "routes", "paths", "splits", "places"]

ALL_SPLITS = 500
"""Splits up to which all are tried where the bounds differ."""

ALL_BARE = 400_000
"""The same where all nodes are units, so that a split is a cut."""

FLOWS = 30_000
"""Trunk pairs that maximum flows may look at where the bounds differ; the splits that sweeps found best come first."""

CLOSE = 200
"""One part in so many that bounds may differ by when the search for better routes ends: it is exact below as many links."""

STARTS = 4
"""Best splits that moves begin from."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """Bounds in grains; ``cut`` is the upper one. ``by`` says what proves the lower: the ``shares`` of ``spreads``, part by
    part, of the fabric or of ``mended``, less what was restored; the ``routes`` of all units at once; disjoint ``paths``; that
    all ``splits`` were cut; or that some switches had all their ``places``. ``shared`` is what the shares alone show."""

    net: Capacities
    lower: int
    upper: int
    cut: Cut
    spreads: tuple[tuple[Capacities, Spread], ...]
    by: By
    shared: int
    routes: Concurrent | None = None
    mended: Mended | None = None


def bisection(view: View) -> Bisection:
    """Bounds on a view's bisection; there are two units at least."""
    net = Capacities.of(view)
    spreads, lower = _spreads(net)
    by: By = "shares"
    whole = mended(net, view.fabric) if spreads else None
    if whole is not None:
        others, value = _spreads(whole.net)
        if value - whole.cost > lower:
            spreads, lower = others, value - whole.cost
        else:
            whole = None
    shared = lower
    cuts = _cuts(net, view, lower)
    routes = None
    if lower < cuts[0].value and not _few(net):
        shown, cuts = _by_places(net, cuts)
        if shown > lower:
            lower, by = shown, "places"
    if lower < cuts[0].value:
        routes, cuts = _both_ends(view, net, cuts, lower)
        if routes is not None and bound(routes) > lower:
            lower, by = bound(routes), "routes"
    cut = cuts[0]
    if lower < cut.value:
        every = _least_of_all(net)
        if every is not None:
            cut, lower, by = every, every.value, "splits"
    if not lower and cut.value:
        lower, by = disjoint_paths(view).lower, "paths"
    return Bisection(net, lower, cut.value, cut, spreads, by, shared, routes if by == "routes" else None, whole)


def _spreads(net: Capacities) -> tuple[tuple[tuple[Capacities, Spread], ...], int]:
    """The best spread of every part, and what they show together."""
    found = tuple((part, best) for part in net.parts() if (best := best_spread(part)) is not None)
    return found, sum(best.value for _, best in found)


def _both_ends(view: View, net: Capacities, cuts: list[Cut], lower: int) -> tuple[Concurrent | None, list[Cut]]:
    """A better lower bound by routes, and where that does not meet the cut, better cuts and more routes."""
    graph = Folded.of(view, net)
    symmetry = orbits(graph)
    demand = Demand.all_to_all(graph) if graph.passes[graph.weight > 0].all() else Demand.hubs(graph)
    routes = concurrent(graph, demand, symmetry, rounds=1)
    if routes is None or max(bound(routes), lower) >= cuts[0].value or _few(net):
        return routes, cuts
    found = sorted((*cuts, *refined(graph, [c.units for c in cuts[:STARTS]])), key=lambda c: c.value)
    cuts = [_best_placed(net, found, max(bound(routes), lower))]
    if max(bound(routes), lower) < cuts[0].value:
        routes = concurrent(graph, demand, symmetry, lambda so_far: bound(so_far) * CLOSE >= cuts[0].value * (CLOSE - 1))
    return routes, cuts


def _by_places(net: Capacities, cuts: list[Cut]) -> tuple[int, list[Cut]]:
    """What all places of some switches show, of the whole or of every part by itself, and the cuts with those found so."""
    known: dict[bytes, tuple[int, Bools] | None] = {}
    parts = net.parts()
    lower = 0
    for part in [*parts, net] if len(parts) > 1 else parts:
        pairs = [x for p in (part.access, part.trunks) for x in (p.a, p.b, p.room)]
        key = b"".join(x.tobytes() for x in pairs)
        if key not in known:
            known[key] = found = placements(part)
            if found is not None:
                cuts = sorted((*cuts, least(net, found[1])), key=lambda c: c.value)
        found = known[key]
        lower = max(lower, found[0] if found else 0) if part is net else lower + (found[0] if found else 0)
        if lower == cuts[0].value:
            break
    return lower, cuts


def _cuts(net: Capacities, view: View, lower: int) -> list[Cut]:
    """Cuts, the least first; the search ends when one meets the lower bound."""
    found: list[Cut] = []
    for units in splits(net, view.fabric):
        found.append(placed(net, units))
        if found[-1].value == lower:
            return [found[-1]]
    found.sort(key=lambda c: c.value)
    best = _best_placed(net, found, lower)
    return [best, *(c for c in found if c is not best)]


def _best_placed(net: Capacities, found: list[Cut], lower: int) -> Cut:
    """The least cut, the nodes of as many as there is time for placed by maximum flows."""
    best = found[0]
    if len(net.nodes) and len(net.trunks.a) <= EXACT:
        for cut in found[: max(FLOWS // (len(net.trunks.a) + 1), 4)]:
            if best.value == lower:
                break
            better = least(net, cut.units)
            if better.value < best.value:
                best = better
    return best


def _least_of_all(net: Capacities) -> Cut | None:
    """The least cut of all splits, if they are few."""
    if not _few(net):
        return None
    if not len(net.nodes):
        return _least_bare(net)
    return min((least(net, units) for units in _every_split(net)), key=lambda c: c.value)


def _few(net: Capacities) -> bool:
    """Whether there are so few splits that all are tried."""
    return comb(len(net.units), net.half) <= (ALL_SPLITS if len(net.nodes) else ALL_BARE)


def _least_bare(net: Capacities) -> Cut:
    """The same where there is nothing to place: all splits at once, as bits of whole numbers."""
    n, none = len(net.units), np.zeros(0, dtype=np.bool_)
    sides = np.arange(2 ** (n - 1), dtype=np.int64)  # the last unit is on the one side
    ours = sum((sides >> u) & 1 for u in range(n))
    sides = sides[(ours == net.half) | (ours == n - net.half)]
    value = np.zeros(len(sides), dtype=np.int64)
    for a, b, room in zip(net.loose.a.tolist(), net.loose.b.tolist(), net.loose.room.tolist(), strict=True):
        value += ((sides >> a ^ sides >> b) & 1) * room
    best = int(sides[int(value.argmin())])
    units = np.array([best >> u & 1 for u in range(n)], dtype=np.bool_)
    return Cut(units, none, crossing(net, units, none))


def _every_split(net: Capacities) -> Iterator[Bools]:
    """All balanced splits; with an even number of units each once, the first unit on the one side."""
    count = len(net.units)
    even = count % 2 == 0
    for rest in combinations(range(1 if even else 0, count), net.half - 1 if even else net.half):
        units = np.zeros(count, dtype=np.bool_)
        units[list(rest)] = True
        units[0] |= even
        yield units
