"""Uniform all-to-all: the rate that all ordered pairs of units can have at once, between two bounds that
anyone can add up.

λ is that rate. Any routes show a lower bound, capacity over load where that is least; any lengths an upper
one: λ ≤ Σ c·l over Σ of the distances between all pairs (Shahrokhi and Matula, "The maximum concurrent flow
problem", J. ACM 37, 1990). Routings are convex combinations of shortest-path routings under several lengths;
a linear program gives the weights, and its prices are the next lengths (column generation: Dantzig and Wolfe
1960). Only one source of each orbit is routed, and what it puts on an orbit of links is shared by all of
them: averaged over verified symmetries, that is exact. So is all arithmetic: what the program says in floats
is only a proposal of lengths and parts, both rounded to whole numbers first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import count, islice
from math import isqrt

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.automorphisms import Orbits, automorphism_orbits
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.equal_split import (
    UniformDemand,
    distance_times_demand,
    route_equal_split,
)
from tdsl.prove.linear import Floats, LeastFullest
from tdsl.prove.search import hop_distances
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.unit_graph import UnitGraph
from tdsl.system.lazy_dataclass import dataclass

FINE = 10_000
"""The longest length, and parts in which routings are combined where no small number does."""

WHOLES = np.arange(1, 2001)[:, None]
"""Numbers of parts that are tried before those: optimal weights mostly have small denominators."""

SMALL = (1, 2, 3, 4, 6, 12)
"""Greatest lengths to which the last prices are rounded."""

STEEP = 30
"""How steeply the price of an orbit grows with its load."""


@dataclass(frozen=True, slots=True)
class UniformRoute:
    """Shortest paths under whole lengths, one a link, and what all of them put on each orbit of links, in
    PARTS of a unit each pair; ``distance`` is the sum over all ordered pairs."""

    length: Ints
    load: Ints
    distance: int


@dataclass(frozen=True, slots=True)
class Concurrent:
    """Bounds on λ in grains for every ordered pair: of ``shares[i]`` parts along ``routes[i]``, and by the
    lengths ``dual``."""

    graph: UnitGraph
    demand: UniformDemand
    orbits: Orbits
    routes: tuple[UniformRoute, ...]
    shares: tuple[int, ...]
    lower: Fraction
    upper: Fraction
    dual: Ints


def bound_across_halves(found: Concurrent) -> int:
    """What then crosses every split of the units into halves at least, in grains: of all pairs those apart;
    of hubs, whatever side one is on, what it sends to the other."""
    units, demand = len(found.graph.net.units), found.demand
    crossing = (units + 1) // 2 * (units // 2) if demand.pairs else int(demand.senders @ demand.apart)
    return -int(-found.lower * crossing // 1)


def uniform_flow_bounds(
    graph: UnitGraph,
    demand: UniformDemand,
    symmetry: Orbits | None = None,
    enough: Callable[[Concurrent], bool] = lambda found: False,
    budget: Budget = DEFAULT,
    begun: Concurrent | None = None,
) -> Concurrent | None:
    """Bounds on λ; None where something cannot be reached, where even one set of routes would take too long,
    or where the capacities are too large for sums in 64 bits.

    The search ends when ``enough`` says so, when the bounds are close, or after much work. Of one that has
    ``begun`` with the same demand the first routes are taken over.
    """
    found = symmetry or automorphism_orbits(graph, budget)
    times = np.zeros(graph.nodes, dtype=np.int64)
    np.add.at(times, found.node, demand.senders)
    sources = np.flatnonzero(times)
    cells = work_of_round(graph, found, demand)
    if cells > budget.uniform_work or not cells or not _sums_fit_in_words(graph, demand, budget):
        return None
    best: Concurrent | None = None
    routes: list[UniformRoute] = []
    gained = 0, Fraction(0)
    master = _Master(_capacity_of_orbits(graph, found, demand))
    squared = budget.uniform_program_cells // len(np.unique(found.link))
    rounds = max(1, min(budget.uniform_rounds, budget.uniform_work // cells, isqrt(squared)))
    for length in islice(_next_lengths(graph, found, master, budget), rounds):
        if begun is not None and not routes:
            route: UniformRoute | None = begun.routes[0]
        else:
            route = _route_all_sources(graph, found, demand, length, sources, times[sources])
        if route is None:
            return None
        routes.append(route)
        master.add(route)
        best = _bounds_with_route(best, graph, demand, found, routes, master)
        if best.lower * 1000 > gained[1] * 1001:
            gained = len(routes), best.lower
        if (
            enough(best)
            or len(routes) > gained[0] + budget.uniform_idle_rounds
            or float(best.upper) <= float(best.lower) * (1 + budget.uniform_gap)
        ):
            break
    if best is not None and best.lower < best.upper and len(routes) > 1:
        best = _bound_by_small_lengths(best, master, sources, times[sources], budget.uniform_last_cells)
    return best


def work_of_round(graph: UnitGraph, symmetry: Orbits, demand: UniformDemand) -> int:
    """What it takes to route one source of each orbit, as ``uniform_work`` counts it."""
    sources = np.unique(symmetry.node[demand.senders > 0])
    return len(sources) * len(graph.network.head) * max(8, _hops_from(graph, sources))


def _hops_from(g: UnitGraph, sources: Ints) -> int:
    """Hops to what is farthest from the first source: a routing looks at every arc about as often."""
    if not len(sources):
        return 0
    return int(hop_distances(g.network, int(sources[0]), passing=g.forwards).max(initial=0))


def _sums_fit_in_words(g: UnitGraph, demand: UniformDemand, budget: Budget) -> bool:
    """Whether no sum or product of loads, capacities and lengths exceeds 64 bits: the loads of an orbit of
    links, what a unit receives divided by capacity, and capacity times length."""
    ends, senders, capacities = (int(sum(x.tolist())) for x in (g.weight, demand.senders, g.capacity))
    largest = int(g.capacity.max(initial=1))
    return (
        max(
            2 * senders * ends * PARTS * g.nodes,
            ends * PARTS * largest,
            4 * capacities * (FINE + budget.first_length),
        )
        < 1 << 62
    )


def _bound_by_small_lengths(
    best: Concurrent, master: _Master, sources: Ints, times: Ints, most: int
) -> Concurrent:
    """The upper bound by the last prices in small whole numbers, zero among them, if that is better: often
    the exact one. Where sources times arcs are more than ``most`` it is left as it is."""
    g = best.graph
    price = master.price()[best.orbits.link]
    for fine in SMALL if len(sources) * len(g.network.head) < most else ():
        length = np.rint(price * (fine / max(price.max(), 1e-300))).astype(np.int64)
        each = distance_times_demand(g, length, sources, best.demand)
        distance = sum(many * one for many, one in zip(times.tolist(), each, strict=True))
        total = int(((1 + best.demand.pairs) * g.capacity * length).sum()) * PARTS
        if distance and Fraction(total, distance) < best.upper:
            best = replace(best, upper=Fraction(total, distance), dual=length)
    return best


def _capacity_of_orbits(g: UnitGraph, found: Orbits, demand: UniformDemand) -> Ints:
    """Capacity of every orbit of links: both ways; one way for flows to hubs, which are also sent back."""
    out = np.zeros(len(g.a), dtype=np.int64)
    np.add.at(out, found.link, (1 + demand.pairs) * g.capacity)
    return out


def _route_all_sources(
    g: UnitGraph, found: Orbits, demand: UniformDemand, length: Ints, sources: Ints, times: Ints
) -> UniformRoute | None:
    load, distance = np.zeros(len(g.a), dtype=np.int64), 0
    for part in route_equal_split(g, length, sources, times, demand):
        if part is None:
            return None
        np.add.at(load, found.link, part.load)
        distance += part.distance
    return UniformRoute(length, load, distance)


def _bounds_with_route(
    best: Concurrent | None,
    g: UnitGraph,
    demand: UniformDemand,
    found: Orbits,
    routes: list[UniformRoute],
    master: _Master,
) -> Concurrent:
    """The bounds with one route more."""
    route = routes[-1]
    upper = Fraction(int((master.capacity * route.length).sum()) * PARTS, route.distance)
    dual = route.length
    if best is not None and best.upper <= upper:
        upper, dual = best.upper, best.dual
    shares = master.weights() if len(routes) > 1 else (1,)
    lower = capacity_over_load(routes, shares, master.capacity)
    if best is not None and best.lower >= lower:
        lower, shares = best.lower, (*best.shares, 0)
    return Concurrent(g, demand, found, tuple(routes), shares, lower, upper, dual)


def capacity_over_load(routes: list[UniformRoute], shares: tuple[int, ...], capacity: Ints) -> Fraction:
    """λ that fits if every pair sends these parts along these routes: the least, over orbits, of capacity
    over load."""
    taken = [(share, route.load) for share, route in zip(shares, routes, strict=True) if share]
    load = np.zeros(len(capacity))
    for share, of_route in taken:
        load += float(share) * of_route
    used = np.flatnonzero(load > 0)
    ratio = capacity[used] / load[used]
    near = used[ratio <= ratio.min() * (1 + 1e-9)]  # the exact least is among these
    exact = {at: sum(share * int(of_route[at]) for share, of_route in taken) for at in near.tolist()}
    return min(Fraction(int(capacity[at]), total) for at, total in exact.items()) * PARTS * sum(shares)


def _next_lengths(g: UnitGraph, found: Orbits, master: _Master, budget: Budget) -> Iterator[Ints]:
    """At first all equal, then one class of links longer; then longer where links are fuller: by the best
    combination so far, mixed with the prices of the linear program, or by those prices alone."""
    yield np.ones(len(g.a), dtype=np.int64)
    kinds = np.unique(g.kind)
    irregular = np.count_nonzero(np.bincount(found.link)) > budget.irregular_orbits
    if 1 < len(kinds) <= budget.uniform_classes and not irregular:
        yield from (np.where(g.kind == kind, 3, 1)[found.link] for kind in kinds.tolist())
    for turn in count():
        price = master.price() if turn % 4 == 3 else master.pressure()
        least = budget.first_length if irregular and turn < budget.first_lengths else 1
        yield least + np.rint(price[found.link] * (FINE / max(price.max(), 1e-300))).astype(np.int64)


class _Master:
    """The linear program over the routings found so far: the convex combination whose fullest link is least
    loaded."""

    def __init__(self, capacity: Ints) -> None:
        self.capacity = capacity
        self._rows = np.flatnonzero(capacity)
        self._use: list[Floats] = []
        self._parts: Floats = np.ones(1)
        self._prices: Floats = np.zeros(0)
        self._solved = self._added = 0
        self._program: LeastFullest | None = None

    def add(self, route: UniformRoute) -> None:
        """One route more."""
        self._use.append(route.load[self._rows] / self.capacity[self._rows])

    def weights(self) -> tuple[int, ...]:
        """Weights of the convex combination as whole numbers, one for every routing."""
        self._solve()
        exact = self._parts * WHOLES
        near = np.flatnonzero(np.abs(exact - np.rint(exact)).max(axis=1) < 1e-7 * WHOLES[:, 0])
        whole = int(WHOLES[near[0], 0]) if len(near) else FINE
        out = np.rint(self._parts * whole)
        out[int(out.argmax())] += whole - out.sum()
        return tuple(int(x) for x in out)

    def price(self) -> Floats:
        """What a unit of capacity is worth on every orbit."""
        self._solve()
        out = np.zeros(len(self.capacity))
        out[self._rows] = self._prices / self.capacity[self._rows]
        return out

    def pressure(self) -> Floats:
        """The mean of that price and one that grows smoothly with the load of the best combination: the
        linear program alone values nothing but the fullest orbits, and a routing that avoids them fills
        others."""
        self._solve()
        load = sum(
            (part * use for part, use in zip(self._parts, self._use, strict=True)), np.zeros(len(self._rows))
        )
        smooth = np.exp(STEEP * (load / load.max() - 1))
        out = np.zeros(len(self.capacity))
        out[self._rows] = (smooth / smooth.sum() + self._prices / self._prices.sum()) / self.capacity[
            self._rows
        ]
        return out

    def _solve(self) -> None:
        if self._solved == len(self._use):
            return
        self._solved = len(self._use)
        scale = float(self._use[0].max())
        if self._solved == 1:  # no choice: what is fuller is worth more
            self._prices = np.exp(20 * (self._use[0] / scale - 1))
            return
        if self._program is None:
            self._program = LeastFullest(len(self._rows))
        for use in self._use[self._added :]:
            self._program.add(use / scale)
        self._added = len(self._use)
        self._parts, self._prices = self._program.solve()
