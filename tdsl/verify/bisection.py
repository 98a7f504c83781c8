"""Bisection bandwidth: bounds that meet on Clos fabrics and even tori, each with what certifies it.

The unit of a split is a host with all its ports, or a chip. The figure is the least, over all splits whose sides differ by at
most one unit, of the capacity one way between the sides, nodes placed at their best (Leighton, "Introduction to parallel
algorithms and architectures", 1992; Dally and Towles, "Principles and practices of interconnection networks", 2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np

from tdsl.fabric.graph import Bools
from tdsl.verify.automorphisms import orbits
from tdsl.verify.capacity import Capacities
from tdsl.verify.concurrent import ROUNDS, Concurrent, bound, concurrent
from tdsl.verify.cuts import EXACT, Cut, least, placed, splits
from tdsl.verify.folded import Folded
from tdsl.verify.frontier import frontier
from tdsl.verify.mended import Mended, mended
from tdsl.verify.placements import placements
from tdsl.verify.refine import refined
from tdsl.verify.routes import Demand
from tdsl.verify.spectrum import spectrum
from tdsl.verify.updown import Spread, best_spread
from tdsl.verify.view import View

By = Literal["shares", "routes", "splits", "places", "spectrum"]

ALL_SPLITS = 500
"""Splits up to which all are tried where the bounds differ."""

FLOWS = 30_000
"""Trunk pairs that maximum flows may look at where the bounds differ; the splits that sweeps found best come first."""

CLOSE = 200
"""One part in so many that bounds may differ by when the search for better routes ends: it is exact below as many links."""

FEW = 8_000_000
"""Arcs times hubs that are routed from where all would be too many: the script that checks them takes minutes."""

LAST = 12
"""Better routes by which it is told how far more of them would come."""

STARTS = 4
"""Best splits that moves begin from."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What shows a lower bound: that all ``splits`` were cut, or that some switches had all their ``places``, of every one of
    ``parts`` as much as stands with it; or the ``spectrum`` with its multiplier ``mu``."""

    lower: int
    by: By
    parts: tuple[tuple[Capacities, int], ...] = ()
    mu: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Bisection:
    """Bounds in grains; ``cut`` is the upper one. ``by`` says what proves the lower: the ``shares`` of ``spreads``, part by
    part, of the fabric or of ``mended``, less what was restored; the ``routes`` of all units at once; or else ``proof``. The
    shares or routes, whichever are better, show ``shown``."""

    net: Capacities
    lower: int
    upper: int
    cut: Cut
    spreads: tuple[tuple[Capacities, Spread], ...]
    by: By
    shown: int
    routes: Concurrent | None = None
    mended: Mended | None = None
    proof: Proof | None = None


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
    cuts = _cuts(net, view, lower)
    shown, routes, exact = lower, None, None
    if lower < cuts[0].value:
        routes, exact, cuts = _both_ends(view, net, cuts, lower)
        routes = routes if routes is not None and bound(routes) > lower else None
        if routes is not None:
            shown, lower, by = bound(routes), bound(routes), "routes"
        exact = exact if exact is not None and exact.lower > lower else None
        if exact is not None:
            lower, by = exact.lower, exact.by
    return Bisection(net, lower, cuts[0].value, cuts[0], spreads, by, shown, routes, whole, exact)


def _spreads(net: Capacities) -> tuple[tuple[tuple[Capacities, Spread], ...], int]:
    """The best spread of every part, and what they show together."""
    found = tuple((part, best) for part in net.parts() if (best := best_spread(part)) is not None)
    return found, sum(best.value for _, best in found)


def _both_ends(view: View, net: Capacities, cuts: list[Cut], lower: int) -> tuple[Concurrent | None, Proof | None, list[Cut]]:
    """Better lower bounds, by routes and by going through all splits, and better cuts: more of them until both ends meet."""
    graph = Folded.of(view, net)
    symmetry = orbits(graph)
    ends = graph.passes[graph.weight > 0].all()
    demand = Demand.all_to_all(graph) if ends else Demand.hubs(graph, symmetry.node, graph.nodes)
    routes = concurrent(graph, demand, symmetry, rounds=1)
    few = max(FEW // max(len(graph.arcs.head), 1), 1)
    many = routes is None and len(np.unique(symmetry.node)) > few
    if routes is None:  # some do not reach each other, or are too many
        demand = Demand.hubs(graph, symmetry.node, few)
        routes = concurrent(graph, demand, symmetry, rounds=1)
    lower = max(bound(routes), lower) if routes is not None else lower
    exact = None
    if lower < cuts[0].value:
        exact, cuts = _exactly(net, cuts)
        value, mu = spectrum(net)
        exact = exact if exact.lower >= value else Proof(value, "spectrum", mu=mu)
        lower = max(lower, exact.lower)
    if routes is None or many or lower >= cuts[0].value:
        return routes, exact, cuts
    found = sorted((*cuts, *refined(graph, [c.units for c in cuts[:STARTS]])), key=lambda c: c.value)
    cuts = [_best_placed(net, found, lower)]
    if lower < cuts[0].value:
        past: list[Fraction] = []

        def enough(so_far: Concurrent) -> bool:
            """Whether the ends are close, or routes cannot show more than is known, or will not, were all to come twice as good
            as the latest."""
            past.append(so_far.lower)
            hope = so_far.upper
            if len(past) > LAST:
                hope = min(hope, past[-1] + (past[-1] - past[-1 - LAST]) * Fraction(2 * (ROUNDS - len(past)), LAST))
            best = bound(replace(so_far, lower=hope))
            return bound(so_far) * CLOSE >= cuts[0].value * (CLOSE - 1) or best < lower

        routes = concurrent(graph, demand, symmetry, enough)
    return routes, exact, cuts


def _exactly(net: Capacities, cuts: list[Cut]) -> tuple[Proof, list[Cut]]:
    """What all splits show if they can be gone through, or all places of some switches; and the cuts with those found so."""
    found = frontier(net)
    if found is None and comb(len(net.units), net.half) <= ALL_SPLITS:
        every = min((least(net, units) for units in _every_split(net)), key=lambda c: c.value)
        found = every.value, every.units
    if found is not None:
        return Proof(found[0], "splits", ((net, found[0]),)), sorted((*cuts, least(net, found[1])), key=lambda c: c.value)
    return _by_places(net, cuts)


def _by_places(net: Capacities, cuts: list[Cut]) -> tuple[Proof, list[Cut]]:
    """What all places of some switches show, of the whole or of every part by itself, and the cuts with those found so."""
    known: dict[bytes, tuple[int, Bools] | None] = {}
    parts = net.parts()
    best = Proof(0, "places")
    for part in [*parts, net] if len(parts) > 1 else parts:
        pairs = [x for p in (part.access, part.trunks) for x in (p.a, p.b, p.room)]
        key = b"".join(x.tobytes() for x in pairs)
        if key not in known:
            known[key] = found = placements(part)
            if found is not None:
                cuts = sorted((*cuts, least(net, found[1])), key=lambda c: c.value)
        found = known[key]
        if found and part is not net:
            best = replace(best, lower=best.lower + found[0], parts=(*best.parts, (part, found[0])))
        elif found and found[0] > best.lower:
            best = replace(best, lower=found[0], parts=((net, found[0]),))
        if best.lower == cuts[0].value:
            break
    return best, cuts


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


def _every_split(net: Capacities) -> Iterator[Bools]:
    """All balanced splits; with an even number of units each once, the first unit on the one side."""
    count = len(net.units)
    even = count % 2 == 0
    for rest in combinations(range(1 if even else 0, count), net.half - 1 if even else net.half):
        units = np.zeros(count, dtype=np.bool_)
        units[list(rest)] = True
        units[0] |= even
        yield units
