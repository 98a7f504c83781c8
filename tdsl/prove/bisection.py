"""Bisection bandwidth: bounds that are equal on Clos fabrics and even tori, each with its proof.

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
from tdsl.prove.automorphisms import orbits, translated
from tdsl.prove.budget import Budget
from tdsl.prove.capacity import Capacities
from tdsl.prove.clos import Spread, best_spread
from tdsl.prove.cuts import Cut, least, placed, splits
from tdsl.prove.elimination import frontier
from tdsl.prove.equal_split import Demand
from tdsl.prove.flat_cuts import flat_splits
from tdsl.prove.group_routing import group_rate
from tdsl.prove.local_search import refined
from tdsl.prove.restored_links import Mended, mended
from tdsl.prove.spectral_bound import spectrum
from tdsl.prove.switch_placements import placements
from tdsl.prove.uniform_flow import Concurrent, bound, concurrent
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.view import View

By = Literal["shares", "routes", "splits", "places", "spectrum", "groups"]

CLOSE = 200
"""One part in so many that bounds may differ by when the search for better routes ends: it is exact below as many links."""

IDLE = 20
"""Routings without a whole grain gained after which the search ends."""

LAST = 12
"""Latest routings from whose gain the gain of all later ones is estimated."""

NEAR = Fraction(11, 10)
"""Upper over lower bound that is near in a large network."""

STARTS = 4
"""Best splits that moves begin from."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What shows a lower bound: that all ``splits`` were cut, or that some switches had all their ``places``, of every one of
    ``parts`` as much as stands with it; the ``spectrum`` with its multiplier ``mu``; or routes between
    ``groups``."""

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


def bisection(view: View, *, between_groups: bool = True) -> Bisection:
    """Bounds on a view's bisection; there are two units at least. Without ``between_groups`` no lower bound comes from routes
    between groups, for which certificates have no form."""
    net = Capacities.of(view)
    if not len(net.nodes):
        found = _direct(view, net)
        if found is not None:
            return found
    spreads, lower = _spreads(net)
    by: By = "shares"
    whole = mended(net, view.fabric, view.budget) if spreads else None
    if whole is not None:
        others, value = _spreads(whole.net)
        if value - whole.cost > lower:
            spreads, lower = others, value - whole.cost
        else:
            whole = None
    grouped = _by_groups(net, view) if between_groups else Proof(0, "groups")
    cuts = _cuts(net, view, max(lower, grouped.lower))
    near = grouped.lower * NEAR >= cuts[0].value and len(net.trunks.a) > view.budget.good_enough_trunks
    if near and grouped.lower * CLOSE < cuts[0].value * (CLOSE - 1):
        moved = refined(UnitGraph.of(view, net), [c.units for c in cuts[:STARTS]], view.budget)
        cuts = sorted((*cuts, *moved), key=lambda c: c.value)
    if grouped.lower > lower and (near or grouped.lower == cuts[0].value):
        return Bisection(net, grouped.lower, cuts[0].value, cuts[0], spreads, grouped.by, lower, None, whole, grouped)
    shown, routes, exact = lower, None, None
    if lower < cuts[0].value:
        quick, cuts = _by_places(net, cuts, replace(view.budget, placement_work=view.budget.placement_first_work))
        if quick.lower == cuts[0].value:
            return Bisection(net, quick.lower, quick.lower, cuts[0], spreads, quick.by, lower, None, None, quick)
        routes, exact, cuts = _both_bounds(view, net, cuts, lower)
        routes = routes if routes is not None and bound(routes) > lower else None
        if routes is not None:
            shown, lower, by = bound(routes), bound(routes), "routes"
        if exact is None or exact.lower < grouped.lower:
            exact = grouped
        exact = exact if exact.lower > lower else None
        if exact is not None:
            lower, by = exact.lower, exact.by
    return Bisection(net, lower, cuts[0].value, cuts[0], spreads, by, shown, routes, whole, exact)


def _direct(view: View, net: Capacities) -> Bisection | None:
    """The bisection of chips that are joined to chips where translations and flat cuts settle it: with all sources equivalent one
    set of routes, N²/4 · λ, is enough."""
    graph = UnitGraph.of(view, net)
    symmetry = translated(graph, view.fabric)
    if symmetry is None:
        return None
    routes = concurrent(graph, Demand.all_to_all(graph), symmetry, budget=replace(view.budget, uniform_rounds=1))
    if routes is None:
        return None
    lower = bound(routes)
    for kind in (symmetry.link, graph.kind):
        for units in flat_splits(graph, kind):
            cut = placed(net, units)
            if cut.value == lower:
                return Bisection(net, lower, lower, cut, (), "routes", lower, routes)
    return None


def _by_groups(net: Capacities, view: View) -> Proof:
    """What crosses if every unit sends to every other at the rate that routes between groups show."""
    rate = group_rate(net, view.fabric, view.budget)
    return Proof(-int(-rate * net.half * (len(net.units) - net.half) // 1), "groups")


def _spreads(net: Capacities) -> tuple[tuple[tuple[Capacities, Spread], ...], int]:
    """The best spread of every part, and what they show together."""
    known: dict[bytes, Spread | None] = {}
    found = []
    for part in net.parts():
        key = _columns_of(part)  # planes are mostly the same, column by column
        if key not in known:
            known[key] = best_spread(part)
        best = known[key]
        if best is not None:
            found.append((part, best))
    return tuple(found), sum(best.value for _, best in found)


def _columns_of(part: Capacities) -> bytes:
    """All capacities of a part, by the places of its units and nodes."""
    return b"".join(x.tobytes() for p in (part.access, part.trunks) for x in (p.a, p.b, p.room))


def _both_bounds(view: View, net: Capacities, cuts: list[Cut], lower: int) -> tuple[Concurrent | None, Proof | None, list[Cut]]:
    """Better lower bounds, by routes and by going through all splits, and better cuts: more of them until both bounds are
    equal."""
    once = replace(view.budget, uniform_rounds=1)
    graph = UnitGraph.of(view, net)
    symmetry = translated(graph, view.fabric) or orbits(graph, view.budget)
    ends = graph.forwards[graph.weight > 0].all()
    demand = Demand.all_to_all(graph) if ends else Demand.hubs(graph, symmetry.node, graph.nodes)
    routes = concurrent(graph, demand, symmetry, budget=once)
    few = max(view.budget.hub_arcs // max(len(graph.network.head), 1), 1)
    many = routes is None and len(np.unique(symmetry.node)) > few
    if routes is None:  # some do not reach each other, or are too many
        demand = Demand.hubs(graph, symmetry.node, few)
        routes = concurrent(graph, demand, symmetry, budget=once)
    lower = max(bound(routes), lower) if routes is not None else lower
    exact = None
    if lower < cuts[0].value:
        exact, cuts = _exactly(net, cuts, view.budget)
        value, mu = spectrum(net, view.budget)
        exact = exact if exact.lower >= value else Proof(value, "spectrum", mu=mu)
        lower = max(lower, exact.lower)
    if routes is None or many or lower >= cuts[0].value:
        return routes, exact, cuts
    found = sorted((*cuts, *refined(graph, [c.units for c in cuts[:STARTS]], view.budget)), key=lambda c: c.value)
    cuts = [_best_placed(net, found, lower, view.budget)]
    if lower < cuts[0].value:
        past: list[Fraction] = []

        def enough(so_far: Concurrent) -> bool:
            """Whether the bounds are close, no more was shown for long, or routings cannot show more than is known, or would not
            even if all later ones gained twice as much as the latest."""
            past.append(so_far.lower)
            if len(past) > IDLE and bound(replace(so_far, lower=past[-IDLE])) == bound(so_far):
                return True
            hope = so_far.upper
            if len(past) > LAST:
                left = view.budget.uniform_rounds - len(past)
                hope = min(hope, past[-1] + (past[-1] - past[-1 - LAST]) * Fraction(2 * left, LAST))
            best = bound(replace(so_far, lower=hope))
            return bound(so_far) * CLOSE >= cuts[0].value * (CLOSE - 1) or best < lower

        routes = concurrent(graph, demand, symmetry, enough, budget=view.budget)
    return routes, exact, cuts


def _exactly(net: Capacities, cuts: list[Cut], budget: Budget) -> tuple[Proof, list[Cut]]:
    """What all splits show if they can be gone through, or all places of some switches; and the cuts with those found so."""
    found = frontier(net, budget)
    if found is None and comb(len(net.units), net.half) <= budget.split_count:
        every = min((least(net, units) for units in _every_split(net)), key=lambda c: c.value)
        found = every.value, every.units
    if found is not None:
        return Proof(found[0], "splits", ((net, found[0]),)), sorted((*cuts, least(net, found[1])), key=lambda c: c.value)
    return _by_places(net, cuts, budget)


def _by_places(net: Capacities, cuts: list[Cut], budget: Budget) -> tuple[Proof, list[Cut]]:
    """What all places of some switches show, of the whole or of every part by itself, and the cuts with those found so."""
    known: dict[bytes, tuple[int, Bools] | None] = {}
    parts = net.parts()
    best = Proof(0, "places")
    for part in [*parts, net] if len(parts) > 1 else parts:
        if part is not net and len(np.unique(part.access.a)) <= len(net.units) - net.half:
            continue  # all of its units may be on one side
        key = _columns_of(part)
        if key not in known:
            known[key] = found = placements(part, budget)
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
    """Cuts, the least first; the search ends when one equals the lower bound."""
    found: list[Cut] = []
    for units in splits(net, view.fabric):
        found.append(placed(net, units))
        if found[-1].value == lower:
            return [found[-1]]
    found.sort(key=lambda c: c.value)
    best = _best_placed(net, found, lower, view.budget)
    return [best, *(c for c in found if c is not best)]


def _best_placed(net: Capacities, found: list[Cut], lower: int, budget: Budget) -> Cut:
    """The least cut, the nodes of as many as there is time for placed by maximum flows."""
    best = found[0]
    if len(net.nodes) and len(net.trunks.a) <= budget.placing_trunks:
        for cut in found[: max(budget.placing_work // (len(net.trunks.a) + 1), 4)]:
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
