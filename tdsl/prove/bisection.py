"""Bisection bandwidth: bounds that are equal on Clos fabrics and even tori, each with its proof.

The unit of a split is a host with all its ports, or a chip. The figure is the least, over all splits whose
sides differ by at most one unit, of the capacity one way between the sides, nodes placed at their best
(Leighton, "Introduction to parallel algorithms and architectures", 1992; Dally and Towles, "Principles and
practices of interconnection networks", 2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from math import comb
from weakref import WeakKeyDictionary

import numpy as np

from tdsl.fabric.graph import Bools
from tdsl.prove.automorphisms import Orbits, automorphism_orbits, translation_orbits
from tdsl.prove.bound import Bound, EveryPlacement, EverySplit, GroupRoutes, Shares, Spectrum
from tdsl.prove.budget import Budget
from tdsl.prove.clos import Spread, best_spread
from tdsl.prove.cuts import Cut, balanced_splits, cut_with_nodes_placed, minimum_cut_of_split
from tdsl.prove.elimination import least_cut_by_elimination
from tdsl.prove.equal_split import UniformDemand
from tdsl.prove.flat_cuts import flat_splits
from tdsl.prove.group_routing import group_rate
from tdsl.prove.local_search import cuts_by_local_search
from tdsl.prove.network import Network
from tdsl.prove.restored_links import restore_missing_links
from tdsl.prove.spectral_bound import spectral_cut_bound
from tdsl.prove.switch_placements import least_cut_by_placements
from tdsl.prove.symmetry import columns_as_key
from tdsl.prove.uniform_flow import (
    Concurrent,
    bound_across_halves,
    uniform_flow_bounds,
    work_of_round,
)
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import networks_of_components, unit_network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

LowerProof = Shares | Concurrent | EverySplit | EveryPlacement | Spectrum | GroupRoutes
"""What shows a lower bound; shares and routes have a form in certificates, as have all others but routes
between groups."""

Shown = tuple[int, LowerProof]
"""A lower bound in grains, and what shows it."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """Bounds in grains of ``net``: the upper one is a cut. ``ended_early``: routes might have shown more, and
    no requirement asked for it."""

    net: Network
    bound: Bound[int, LowerProof, Cut]
    ended_early: bool = False

    @property
    def lower(self) -> int:
        """Grains that cross every split, at least."""
        return self.bound.lower

    @property
    def upper(self) -> int:
        """Grains that cross the best split known."""
        return self.bound.upper

    @property
    def cut(self) -> Cut:
        """The best split known."""
        return self.bound.proof_upper


@dataclass(frozen=True, slots=True)
class BisectionShare:
    """Bounds on the least share, over all splits, of what the smaller side can send that can cross; ``cut``
    is the split of the upper one."""

    lower: Fraction
    upper: Fraction
    cut: Cut


def bisection_share(view: View) -> BisectionShare | None:
    """The bisection as a share; None where half of the units have no link.

    Where all units send the same, that is the bisection over what half of them send. Where they differ, the
    split that crosses least need not leave the least share: of few splits each is judged; else the lower
    bound is the bisection over the most that a smaller side can send, and the upper one of explicit splits.
    """
    found = bisection_bounds(view)
    net = found.net
    if not net.every_half_can_send:
        return None
    lower = found.lower / net.full
    if (net.injection == net.injection[0]).all():
        return BisectionShare(lower, Fraction(found.upper, net.full), found.cut)
    every = comb(len(net.units), net.half) <= view.budget.split_count
    splits = _every_split(net) if every else balanced_splits(net, view.fabric)
    place = minimum_cut_of_split if every else partial(cut_with_nodes_placed, budget=view.budget)
    cuts = [found.cut, *(place(net, units) for units in splits)]
    shares = [
        (Fraction(cut.value, sent), k)
        for k, cut in enumerate(cuts)
        if (sent := net.sent_by_smaller_side(cut.units))
    ]
    upper, k = min(shares)
    return BisectionShare(upper if every else lower, upper, cuts[k])


def bisection_bounds(view: View, *, between_groups: bool = True) -> Bisection:
    """Bounds on a view's bisection, computed once for each view; there are two units at least. Without
    ``between_groups`` no lower bound comes from routes between groups, for which certificates have no form.
    """
    known = _known.setdefault(view, {})
    if between_groups not in known:
        known[between_groups] = _compute_bisection(view, between_groups)
    return known[between_groups]


_known: WeakKeyDictionary[View, dict[bool, Bisection]] = WeakKeyDictionary()
"""Bisections of the views that are still judged: models of workloads ask for the same one as the check."""


def _compute_bisection(view: View, between_groups: bool) -> Bisection:
    net = unit_network(view)
    graph, translations = None, None
    if not len(net.transit):
        graph = UnitGraph.of(view, net)
        translations = translation_orbits(graph, view.fabric, view.budget)
        found = _bisection_by_translations(view, graph, translations)
        if found is not None:
            return found
    shares = _bound_by_shares(net, view)
    grouped = _bound_by_groups(net, view) if between_groups else (0, GroupRoutes())
    cuts = _bisection_cuts(net, view, max(shares[0], grouped[0]))
    near = (
        grouped[0] * view.budget.near_ratio >= cuts[0].value
        and len(net.trunks.a) > view.budget.good_enough_trunks
    )
    if near and not _is_close_enough(grouped[0], cuts[0].value, view.budget):
        moved = cuts_by_local_search(
            UnitGraph.of(view, net), [c.units for c in cuts[: view.budget.move_starts]], view.budget
        )
        cuts = sorted((*cuts, *moved), key=lambda c: c.value)
    if grouped[0] > shares[0] and (near or grouped[0] == cuts[0].value):
        return _bisection_from_cuts(net, grouped, cuts)
    if shares[0] >= cuts[0].value:
        return _bisection_from_cuts(net, shares, cuts)
    quick, cuts = _bound_by_placements(
        net, cuts, replace(view.budget, placement_work=view.budget.placement_first_work)
    )
    if quick[0] == cuts[0].value:
        return _bisection_from_cuts(net, quick, cuts)
    others, cuts, ended_early = _both_bounds(
        view, graph or UnitGraph.of(view, net), translations, cuts, max(shares[0], grouped[0])
    )
    found = _bisection_from_cuts(net, _greatest_lower_bound(shares, *others, grouped), cuts)
    return replace(found, ended_early=ended_early and found.lower < found.upper)


def _is_close_enough(lower: int, upper: int, budget: Budget) -> bool:
    """Whether bounds are so close that the search for better ones ends."""
    return lower * budget.bisection_parts >= upper * (budget.bisection_parts - 1)


def _bisection_from_cuts(net: Network, shown: Shown, cuts: list[Cut]) -> Bisection:
    return Bisection(net, Bound(shown[0], cuts[0].value, shown[1], cuts[0]))


def _greatest_lower_bound(*shown: Shown) -> Shown:
    """The greatest lower bound, the first of equal ones."""
    return max(shown, key=lambda each: each[0])


def _bisection_by_translations(view: View, graph: UnitGraph, symmetry: Orbits | None) -> Bisection | None:
    """The bisection of chips that are joined to chips where translations and flat cuts settle it: with all
    sources equivalent one set of routes, N²/4 · λ, is enough."""
    if symmetry is None:
        return None
    net = graph.net
    routes = uniform_flow_bounds(
        graph, UniformDemand.all_to_all(graph), symmetry, budget=replace(view.budget, uniform_rounds=1)
    )
    if routes is None:
        return None
    lower = bound_across_halves(routes)
    for kind in (symmetry.link, graph.kind):
        for units in flat_splits(graph, kind, view.budget):
            cut = cut_with_nodes_placed(net, units, view.budget)
            if cut.value == lower:
                return _bisection_from_cuts(net, (lower, routes), [cut])
    return None


def _bound_by_groups(net: Network, view: View) -> Shown:
    """What crosses if every unit sends to every other at the rate that routes between groups show."""
    rate = group_rate(net, view.fabric, view.budget)
    return -int(-rate * net.half * (len(net.units) - net.half) // 1), GroupRoutes()


def _bound_by_shares(net: Network, view: View) -> Shown:
    """What shares towards hubs show, of the network or of the one with its missing links restored."""
    spreads, lower = _best_spreads(net)
    whole = restore_missing_links(net, view.fabric, view.budget) if spreads else None
    if whole is not None:
        others, value = _best_spreads(whole.net)
        if value - whole.cost > lower:
            return value - whole.cost, Shares(others, whole)
    return lower, Shares(spreads if lower else ())


def _best_spreads(net: Network) -> tuple[tuple[tuple[Network, Spread], ...], int]:
    """The best spread of every part, and what they show together."""
    known: dict[tuple[bytes, ...], Spread | None] = {}
    found = []
    for part in networks_of_components(net):
        key = columns_as_key(
            part.tail, part.head, part.capacity
        )  # planes are mostly the same, column by column
        if key not in known:
            known[key] = best_spread(part)
        best = known[key]
        if best is not None:
            found.append((part, best))
    return tuple(found), sum(best.value for _, best in found)


def _both_bounds(
    view: View, graph: UnitGraph, translations: Orbits | None, cuts: list[Cut], lower: int
) -> tuple[list[Shown], list[Cut], bool]:
    """Better lower bounds, by routes and by going through all splits, and better cuts: more of them until
    both bounds are equal. And whether the search ended early because no requirement asks for it."""
    once = view.budget.for_one_routing()
    net = graph.net
    symmetry = translations or automorphism_orbits(graph, view.budget)
    ends = graph.forwards[graph.weight > 0].all()
    demand = (
        UniformDemand.all_to_all(graph) if ends else UniformDemand.hubs(graph, symmetry.node, graph.nodes)
    )
    routes = uniform_flow_bounds(graph, demand, symmetry, budget=once)
    few = max(view.budget.hub_arcs // max(len(graph.network.head), 1), 1)
    many = routes is None and len(np.unique(symmetry.node)) > few
    if routes is None:  # some do not reach each other, or are too many
        demand = UniformDemand.hubs(graph, symmetry.node, few)
        routes = uniform_flow_bounds(graph, demand, symmetry, budget=once)
    shown: list[Shown] = [(bound_across_halves(routes), routes)] if routes is not None else []
    lower = max(bound_across_halves(routes), lower) if routes is not None else lower
    if lower < cuts[0].value:
        every, cuts = _bound_by_all_splits(net, cuts, view.budget)
        value, mu = spectral_cut_bound(net, view.budget)
        shown += [every, (value, Spectrum(mu))]
        lower = max(lower, every[0], value)
    if routes is None or many or lower >= cuts[0].value:
        spared = once.uniform_work < work_of_round(graph, symmetry, demand) <= view.budget.uniform_work
        return shown, cuts, routes is None and spared and lower < cuts[0].value
    found = sorted(
        (
            *cuts,
            *cuts_by_local_search(graph, [c.units for c in cuts[: view.budget.move_starts]], view.budget),
        ),
        key=lambda c: c.value,
    )
    cuts = [_best_placed(net, found, lower, view.budget)]
    early = False
    if lower < cuts[0].value:
        past: list[Fraction] = []
        work = work_of_round(graph, symmetry, demand)
        if _begins_too_low(work, shown[0][0], lower, view.budget):
            return shown, cuts, True
        idle, trend = view.budget.bisection_idle_rounds, view.budget.bisection_trend_rounds

        def enough(so_far: Concurrent) -> bool:
            """Whether the bounds are close, no more was shown for long, or routings cannot show more than is
            known, or would not even if all later ones gained twice as much as the latest."""
            nonlocal early
            past.append(so_far.lower)
            early = len(past) * work * 10 > view.budget.uniform_work and _gains_too_little(
                past, bound_across_halves(so_far), lower, view.budget
            )
            if early:
                return True
            if len(past) > idle and bound_across_halves(
                replace(so_far, lower=past[-idle])
            ) == bound_across_halves(so_far):
                return True
            hope = so_far.upper
            if len(past) > trend:
                left = view.budget.uniform_rounds - len(past)
                hope = min(hope, past[-1] + (past[-1] - past[-1 - trend]) * Fraction(2 * left, trend))
            best = bound_across_halves(replace(so_far, lower=hope))
            return _is_close_enough(bound_across_halves(so_far), cuts[0].value, view.budget) or best < lower

        routes = uniform_flow_bounds(graph, demand, symmetry, enough, budget=view.budget, begun=routes)
        shown[0] = (bound_across_halves(routes), routes) if routes is not None else shown[0]
    return shown, cuts, early


def _begins_too_low(work: int, shown: int, known: int, budget: Budget) -> bool:
    """Whether the first routing shows so much less than is ``known`` that a search that no requirement asks
    for, and that would take more than a tenth of the work for its first routings, does not begin."""
    heavy = budget.bisection_first_rounds * work * 10 > budget.uniform_work
    return bool(budget.bisection_gain) and heavy and 3 * shown < known


def _gains_too_little(past: list[Fraction], shown: int, known: int, budget: Budget) -> bool:
    """Whether routings, whose λ so far is ``past``, gain less than is worth a search that no requirement asks
    for: ``shown`` is less than what is ``known`` from elsewhere, or hardly more than some rounds ago."""
    pause = budget.bisection_pause_rounds
    if not budget.bisection_gain or len(past) < budget.bisection_first_rounds:
        return False
    little = len(past) > pause and past[-1] < past[-1 - pause] * (1 + budget.bisection_gain)
    return little or shown < known


def _bound_by_all_splits(net: Network, cuts: list[Cut], budget: Budget) -> tuple[Shown, list[Cut]]:
    """What all splits show if they can be gone through, or all places of some switches; and the cuts with
    those found so."""
    found = least_cut_by_elimination(net, budget)
    if found is None and comb(len(net.units), net.half) <= budget.split_count:
        every = min((minimum_cut_of_split(net, units) for units in _every_split(net)), key=lambda c: c.value)
        found = every.value, every.units
    if found is not None:
        return (found[0], EverySplit(((net, found[0]),))), sorted(
            (*cuts, minimum_cut_of_split(net, found[1])), key=lambda c: c.value
        )
    return _bound_by_placements(net, cuts, budget)


def _bound_by_placements(net: Network, cuts: list[Cut], budget: Budget) -> tuple[Shown, list[Cut]]:
    """What all places of some switches show, of the whole or of every part by itself, and the cuts with those
    found so."""
    known: dict[tuple[bytes, ...], tuple[int, Bools] | None] = {}
    each = networks_of_components(net)
    lower, shown = 0, EveryPlacement(())
    for part in [*each, net] if len(each) > 1 else each:
        if part is not net and len(np.unique(part.access.a)) <= len(net.units) - net.half:
            continue  # all of its units may be on one side
        key = columns_as_key(part.tail, part.head, part.capacity)
        if key not in known:
            known[key] = found = least_cut_by_placements(part, budget)
            if found is not None:
                cuts = sorted((*cuts, minimum_cut_of_split(net, found[1])), key=lambda c: c.value)
        found = known[key]
        if found and part is not net:
            lower, shown = lower + found[0], EveryPlacement((*shown.parts, (part, found[0])))
        elif found and found[0] > lower:
            lower, shown = found[0], EveryPlacement(((net, found[0]),))
        if lower == cuts[0].value:
            break
    return (lower, shown), cuts


def _bisection_cuts(net: Network, view: View, lower: int) -> list[Cut]:
    """Cuts, the least first; the search ends when one equals the lower bound."""
    found: list[Cut] = []
    for units in balanced_splits(net, view.fabric):
        found.append(cut_with_nodes_placed(net, units, view.budget))
        if found[-1].value == lower:
            return [found[-1]]
    found.sort(key=lambda c: c.value)
    best = _best_placed(net, found, lower, view.budget)
    return [best, *(c for c in found if c is not best)]


def _best_placed(net: Network, found: list[Cut], lower: int, budget: Budget) -> Cut:
    """The least cut, the nodes of as many as there is time for placed by maximum flows."""
    best = found[0]
    if len(net.transit) and len(net.trunks.a) <= budget.placing_trunks:
        for cut in found[: max(budget.placing_work // (len(net.trunks.a) + 1), 4)]:
            if best.value == lower:
                break
            better = minimum_cut_of_split(net, cut.units)
            if better.value < best.value:
                best = better
    return best


def _every_split(net: Network) -> Iterator[Bools]:
    """All balanced splits; with an even number of units each once, the first unit on the one side."""
    count = len(net.units)
    even = count % 2 == 0
    for rest in combinations(range(1 if even else 0, count), net.half - 1 if even else net.half):
        units = np.zeros(count, dtype=np.bool_)
        units[list(rest)] = True
        units[0] |= even
        yield units
