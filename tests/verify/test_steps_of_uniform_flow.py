"""The search for the rate of all-to-all step by step: lengths, prices, weights, bounds, and where it ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import isqrt
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.prove import uniform_flow
from tdsl.prove.automorphisms import Orbits, automorphism_orbits
from tdsl.prove.budget import Budget
from tdsl.prove.equal_split import UniformDemand, distance_times_demand, route_equal_split
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.uniform_flow import (
    FINE,
    SMALL,
    Concurrent,
    UniformRoute,
    _bound_by_small_lengths,
    _bounds_with_route,
    _capacity_of_orbits,
    _Master,
    _next_lengths,
    _route_all_sources,
    _sums_fit_in_words,
    bound_across_halves,
    capacity_over_load,
    uniform_flow_bounds,
)
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import Builder, random_chips, random_fabric, random_layers, superpod, torus


def column(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def graph_of(made: Builder) -> UnitGraph:
    view = View.whole(made.build())
    return UnitGraph.of(view, unit_network(view))


def graphs() -> list[UnitGraph]:
    made = [
        superpod(2, 4, 2, 2),
        torus(3, 4),
        torus(2, 3),
        random_fabric(1),
        random_fabric(4),
        random_layers(3),
        random_layers(7),
    ]
    return [graph_of(x) for x in (*made, random_chips(3), random_chips(6, 6, 14))]


def demands(g: UnitGraph) -> list[UniformDemand]:
    return [UniformDemand.all_to_all(g), UniformDemand.hubs(g, np.arange(g.nodes), 4)]


def route(load: list[int], distance: int = 1, length: list[int] | None = None) -> UniformRoute:
    return UniformRoute(column(length or [1] * len(load)), column(load), distance)


def test_capacity_over_load_of_parts() -> None:
    """The least over orbits that carry something, for so many parts of each routing."""
    routes = [route([4, 0, 6, 0]), route([1, 5, 0, 0])]
    capacity = column([10, 7, 9, 0])
    for shares in ((1, 0), (0, 1), (2, 3), (1, 1)):
        load = [shares[0] * x + shares[1] * y for x, y in zip((4, 0, 6, 0), (1, 5, 0, 0), strict=True)]
        wanted = min(Fraction(c * PARTS * sum(shares), x) for c, x in zip((10, 7, 9, 0), load, strict=True) if x)
        assert capacity_over_load(routes, shares, capacity) == wanted


def test_an_orbit_that_carries_one_part() -> None:
    assert capacity_over_load([route([1, 5, 0])], (1,), column([2, 20, 0])) == 2 * PARTS


def test_what_crosses_every_split() -> None:
    """Of all pairs those apart, of hubs what they send to the other side; rounded up."""
    for units in (4, 5, 6, 7):
        g = SimpleNamespace(net=SimpleNamespace(units=np.arange(units)))
        for lower in (Fraction(1, 3), Fraction(2), Fraction(7, 5)):
            pairs: Any = SimpleNamespace(graph=g, demand=SimpleNamespace(pairs=True), lower=lower)
            exact = lower * (units // 2) * (units - units // 2)
            assert bound_across_halves(pairs) == -(-exact.numerator // exact.denominator)
            hubs = SimpleNamespace(pairs=False, senders=column([2, 0, 3]), apart=column([5, 9, 1]))
            exact = lower * 13
            found: Any = SimpleNamespace(graph=g, demand=hubs, lower=lower)
            assert bound_across_halves(found) == -(-exact.numerator // exact.denominator)


# ---------------------------------------------------------------- the linear program


def test_the_first_price_grows_with_the_load() -> None:
    """Orbits without a capacity have no price."""
    master = _Master(column([10, 0, 5, 8]))
    master.add(route([5, 0, 5, 2]))
    use = np.array([0.5, 1.0, 0.25])
    price = np.exp(20 * (use - 1)) / np.array([10, 5, 8])
    assert master.price().tolist() == pytest.approx([price[0], 0, price[1], price[2]], rel=1e-12)
    assert master.weights() == (1,)
    smooth = np.exp(30 * (use - 1))
    prices = np.exp(20 * (use - 1))
    both = (smooth / smooth.sum() + prices / prices.sum()) / np.array([10, 5, 8])
    assert master.pressure().tolist() == pytest.approx([both[0], 0, both[1], both[2]], rel=1e-12)


def test_the_program_sees_the_fullest_orbits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that some routing fills by more than three tenths of the least fullest; it is solved once for the same routings."""
    seen: list[Any] = []

    def solved(use: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(use.tolist())
        return np.array([0.25, 0.75]), np.array([0.2, 0.8])[: len(use)]

    monkeypatch.setattr(uniform_flow, "least_fullest", solved)
    master = _Master(column([10, 0, 10, 10]))
    master.add(route([10, 0, 3, 1]))
    master.add(route([2, 0, 8, 2]))  # the least fullest is 0.8, three tenths of it 0.24
    assert master.weights() == (1, 3)
    assert np.allclose(seen, [[[1.0 / 0.8, 0.2 / 0.8], [0.3 / 0.8, 0.8 / 0.8]]]) and len(seen) == 1
    assert master.price().tolist() == pytest.approx([0.02, 0, 0.08, 0]) and len(seen) == 1
    load = np.array([0.25 * 1.0 + 0.75 * 0.2, 0.25 * 0.3 + 0.75 * 0.8, 0.25 * 0.1 + 0.75 * 0.2])
    smooth = np.exp(30 * (load / load.max() - 1))
    both = (smooth / smooth.sum() + np.array([0.2, 0.8, 0.0])) / 10
    assert master.pressure().tolist() == pytest.approx([both[0], 0, both[1], both[2]])
    master.add(route([1, 0, 1, 1]))
    monkeypatch.setattr(uniform_flow, "least_fullest", lambda use: (np.array([0.5, 0.25, 0.25]), np.ones(len(use))))
    assert master.weights() == (2, 1, 1)


def test_orbits_at_the_limit_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three tenths of the least fullest, and no more, are too little; the program is solved where its answer is first read."""
    seen: list[Any] = []

    def solved(use: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        seen.append(use.tolist())
        return np.array([0.5, 0.5]), np.array([1.0])

    monkeypatch.setattr(uniform_flow, "least_fullest", solved)
    for first in ("pressure", "price", "weights"):
        master = _Master(column([10, 10]))
        master.add(route([10, 3]))
        master.add(route([10, 1]))
        getattr(master, first)()
        assert seen.pop() == [[1.0, 1.0]] and not seen
        getattr(master, first)()
        assert not seen


@pytest.mark.parametrize(
    ("parts", "weights"),
    [
        ([1 / 3, 2 / 3], (1, 2)), ([0.5, 0.5], (1, 1)), ([1 / 7, 2 / 7, 4 / 7], (1, 2, 4)), ([1999 / 2000, 1 / 2000], (1999, 1)),
        ([2000 / 2001, 1 / 2001], (9995, 5)), ([0.123456, 0.876544], (1235, 8765)), ([0.00004, 0.99996], (0, 10_000)),
        ([0.0, 1.0], (0, 1)),
        ([1e-7, 1 - 1e-7], (0, 10_000)),
        ([1 / 3 + 0.9e-7, 2 / 3 - 0.9e-7], (1, 2)), ([1 / 3 + 1.2e-7, 2 / 3 - 1.2e-7], (3333, 6667)),
        ([0.33334, 0.33334, 0.33332], (3334, 3333, 3333)), ([0.25004, 0.25004, 0.24996, 0.24996], (2500, 2500, 2500, 2500)),
    ],
)  # fmt: skip
def test_weights_of_small_denominators(parts: list[float], weights: tuple[int, ...]) -> None:
    """The fewest parts that are whole within a ten-millionth each, up to 2,000; else 10,000, the largest with the rest."""
    master = _Master(column([1]))
    master._parts = np.array(parts)
    master._solve = lambda: None  # type: ignore[method-assign]
    found = master.weights()
    assert found == weights and all(type(x) is int for x in found)


# ---------------------------------------------------------------- lengths, loads, bounds


def test_lengths_of_every_turn() -> None:
    """All equal, every class by itself, then by pressure, each fourth time by price; all as their orbit."""
    g: Any = SimpleNamespace(a=np.zeros(4), kind=column([2, 0, 2, 5]))
    found: Any = SimpleNamespace(link=column([0, 1, 0, 3]))
    master: Any = SimpleNamespace(price=lambda: np.array([0.5, 0.25, 9.0, 0.0]), pressure=lambda: np.array([0.1, 0.2, 0.0, 0.05]))
    first = [[1, 1, 1, 1]]
    kinds = [[1, 3, 1, 1], [3, 1, 3, 1], [1, 1, 1, 3]]
    assert FINE == 10_000
    by_price = [1 + round(x * 10_000 / 9) for x in (0.5, 0.25, 0.5, 0.0)]
    by_pressure = [1 + round(x * 10_000 / 0.2) for x in (0.1, 0.2, 0.1, 0.05)]
    turns = [by_pressure, by_pressure, by_pressure, by_price, by_pressure, by_pressure, by_pressure, by_price]
    for classes, some in ((3, kinds), (6, kinds), (2, []), (0, [])):
        wanted = [*first, *some, *turns]
        made = islice(_next_lengths(g, found, master, classes), len(wanted))
        assert [x.tolist() for x in made] == wanted
    g.kind = column([7, 7, 7, 7])
    assert [x.tolist() for x in islice(_next_lengths(g, found, master, 6), 2)] == [*first, by_pressure]
    master.pressure = lambda: np.zeros(4)
    assert [x.tolist() for x in islice(_next_lengths(g, found, master, 6), 2)] == [*first, *first]


@pytest.mark.parametrize("number", range(9))
def test_loads_of_orbits(number: int) -> None:
    """Every source as often as it represents, on the orbits of links; their capacities both ways, or one way to hubs."""
    g = graphs()[number]
    found = automorphism_orbits(g)
    rng = Random(number)
    for demand in demands(g):
        length = column([rng.randint(1, 4) for _ in g.a])[found.link]
        sources, times = column(sorted(set(found.node.tolist()))), column([1 + v % 3 for v in sorted(set(found.node.tolist()))])
        load, distance, reached = Counter[int](), 0, True
        for part in route_equal_split(g, length, sources, demand):
            if part is None:
                reached = False
                continue
            for i, s in enumerate(part.sources.tolist()):
                many = int(times[sources.tolist().index(s)])
                distance += many * int(part.length[i])
                for at, x in zip(found.link.tolist(), part.load[i].tolist(), strict=True):
                    load[at] += many * x
        made = _route_all_sources(g, found, demand, length, sources, times)
        assert (made is not None) == reached
        if made is not None:
            assert made.load.tolist() == [load[at] for at in range(len(g.a))] and made.distance == distance
            assert made.length is length
        total = Counter[int]()
        for at, x in zip(found.link.tolist(), g.capacity.tolist(), strict=True):
            total[at] += (2 if demand.pairs else 1) * x
        assert _capacity_of_orbits(g, found, demand).tolist() == [total[at] for at in range(len(g.a))]


def test_bounds_with_one_route_more() -> None:
    """The upper bound is the first of the least, the lower the first of the greatest, with a share of 0 for what came after."""
    g: Any = SimpleNamespace()
    demand: Any = SimpleNamespace()
    orb: Any = SimpleNamespace()
    master: Any = SimpleNamespace(capacity=column([6, 4]), weights=lambda: (1, 1))
    one, two = route([6, 2], 40, [1, 2]), route([2, 4], 35, [2, 1])
    first = _bounds_with_route(None, g, demand, orb, [one], master)
    assert first == Concurrent(g, demand, orb, (one,), (1,), Fraction(PARTS), Fraction(14 * PARTS, 40), one.length)
    both = _bounds_with_route(first, g, demand, orb, [one, two], master)
    lower = min(Fraction(6 * 2, 8), Fraction(4 * 2, 6)) * PARTS
    assert both == Concurrent(g, demand, orb, (one, two), (1, 1), lower, Fraction(14 * PARTS, 40), one.length)
    better = replace(two, distance=80)
    made = _bounds_with_route(first, g, demand, orb, [one, better], master)
    assert (made.upper, made.dual) == (Fraction(16 * PARTS, 80), better.length)
    equal = replace(two, distance=Fraction(16 * 40, 14))  # type: ignore[arg-type]
    assert _bounds_with_route(first, g, demand, orb, [one, equal], master).dual is one.length
    for known in (lower, lower + 1):
        kept = _bounds_with_route(replace(first, lower=known), g, demand, orb, [one, two], master)
        assert (kept.lower, kept.shares) == (known, (1, 0))


@pytest.mark.parametrize("number", range(9))
def test_bounds_by_the_last_prices(number: int) -> None:
    """In small whole numbers up to 1, 2, 3, 4, 6 and 12, the first of the least; none where there is too much to look at."""
    g = graphs()[number]
    found, rng = automorphism_orbits(g), Random(number)
    for demand in demands(g):
        times = np.zeros(g.nodes, dtype=np.int64)
        np.add.at(times, found.node, demand.senders)
        sources = np.flatnonzero(times)
        if not len(sources):
            continue
        for scale in (1.0, 0.0):
            price = np.array([rng.choice([0.0, 0.2, 0.5, 1.0]) * scale for _ in g.a])
            master: Any = SimpleNamespace(price=lambda price=price: price)
            upper, dual = Fraction(10**9), column([7] * len(g.a))
            best = Concurrent(g, demand, found, (), (), Fraction(0), upper, dual)
            for fine in SMALL:
                length = np.rint(price[found.link] * (fine / max(price[found.link].max(), 1e-300))).astype(np.int64)
                distance = sum(int(times[s]) * distance_times_demand(g, length, s, demand) for s in sources.tolist())
                total = int(((2 if demand.pairs else 1) * g.capacity * length).sum()) * PARTS
                if distance and Fraction(total, distance) < upper:
                    upper, dual = Fraction(total, distance), length
            cells = len(sources) * g.network.arcs
            made = _bound_by_small_lengths(best, master, sources, times[sources], cells + 1)
            assert made.upper == upper and made.dual.tolist() == dual.tolist()
            assert _bound_by_small_lengths(best, master, sources, times[sources], cells) is best
    assert SMALL == (1, 2, 3, 4, 6, 12)


def test_sums_that_fit_64_bits() -> None:
    """Loads of an orbit of links, parts times capacity, and capacity times length, each below 2^62."""
    most = 1 << 62

    def fits(weight: list[int], senders: list[int], capacity: list[int], nodes: int) -> bool:
        g: Any = SimpleNamespace(weight=column(weight), capacity=column(capacity), nodes=nodes)
        return _sums_fit_in_words(g, SimpleNamespace(senders=column(senders)))  # type: ignore[arg-type]

    for nodes in (3, 5):
        ends = (most - 1) // (2 * 4 * PARTS * nodes)
        assert fits([ends - 2, 2], [3, 1], [1], nodes) and not fits([ends - 2, 3], [3, 1], [1], nodes)
    largest = (most - 1) // (7 * PARTS)
    few = (most - 1) // (4 * (FINE + 1))
    assert fits([7], [1], [min(largest, few // 2), 1], 1)
    assert fits([5, 2], [0], [1, few - 1], 1) == (few - 1 <= largest) is True
    assert not fits([7], [0], [few, 1], 1)
    assert fits([10**9], [0], [(most - 1) // (10**9 * PARTS)], 1) and not fits(
        [10**9], [0], [(most - 1) // (10**9 * PARTS) + 1], 1
    )
    assert fits([1], [1], [], 1)


# ---------------------------------------------------------------- the search


def searched(g: UnitGraph, demand: UniformDemand, orb: Orbits, budget: Budget, enough: Any) -> Concurrent | None:
    """The same search, one length after the other."""
    times = Counter[int]()
    for v, x in zip(orb.node.tolist(), demand.senders.tolist(), strict=True):
        times[v] += x
    sources = column(sorted(v for v, x in times.items() if x))
    weight = column([times[v] for v in sources.tolist()])
    cells = len(sources) * g.network.arcs * 8
    if not cells or cells > budget.uniform_work:
        return None
    squared = budget.uniform_program_cells // len(set(orb.link.tolist()))
    rounds = min(budget.uniform_rounds, budget.uniform_work // cells, isqrt(squared))
    master, routes = _Master(_capacity_of_orbits(g, orb, demand)), list[UniformRoute]()
    best, gained = None, (0, Fraction(0))
    for length in islice(_next_lengths(g, orb, master, budget.uniform_classes), max(rounds, 1)):
        made = _route_all_sources(g, orb, demand, length, sources, weight)
        if made is None:
            return None
        routes.append(made)
        master.add(made)
        best = _bounds_with_route(best, g, demand, orb, routes, master)
        if best.lower > gained[1] * Fraction(1001, 1000):
            gained = len(routes), best.lower
        idle = len(routes) - gained[0]
        if enough(best) or idle > budget.uniform_idle_rounds or float(best.upper) <= float(best.lower) * (1 + budget.uniform_gap):
            break
    assert best is not None
    if best.lower < best.upper and len(routes) > 1:
        best = _bound_by_small_lengths(best, master, sources, weight, budget.uniform_last_cells)
    return best


@pytest.mark.parametrize("number", range(9))
def test_the_search_ends_where_it_should(number: int) -> None:
    g = graphs()[number]
    orb = automorphism_orbits(g)
    for demand in demands(g):
        sources = len({v for v, x in zip(orb.node.tolist(), demand.senders.tolist(), strict=True) if x})
        cells = sources * g.network.arcs * 8
        links = len(set(orb.link.tolist()))
        limits: list[tuple[dict[str, Any], Any]] = [
            ({"uniform_rounds": 6}, lambda found: False),
            ({"uniform_rounds": 9, "uniform_gap": -1.0}, lambda found: False),

            ({"uniform_gap": -1.0, "uniform_rounds": 30, "uniform_idle_rounds": 3}, lambda found: False),

            ({"uniform_gap": -1.0, "uniform_rounds": 9}, lambda found: len(found.routes) == 4),
            ({"uniform_gap": -1.0, "uniform_work": 3 * cells + 1}, lambda found: False),
            ({"uniform_gap": -1.0, "uniform_work": cells}, lambda found: False),
            ({"uniform_work": cells - 1}, lambda found: False),
            ({"uniform_gap": -1.0, "uniform_program_cells": 5 * 5 * links}, lambda found: False),
            ({"uniform_gap": -1.0, "uniform_program_cells": 0}, lambda found: False),
            ({"uniform_rounds": 0}, lambda found: False),
            ({"uniform_gap": 0.5, "uniform_rounds": 9}, lambda found: False),
            ({"uniform_gap": 0.0, "uniform_rounds": 4}, lambda found: False),
            ({"uniform_gap": -1.0, "uniform_rounds": 2}, lambda found: False),
            ({"uniform_gap": -1.0, "uniform_rounds": 5, "uniform_last_cells": 0}, lambda found: False),
        ]  # fmt: skip
        for given, enough in limits:
            budget = Budget(**given)
            found, wanted = uniform_flow_bounds(g, demand, orb, enough, budget), searched(g, demand, orb, budget, enough)
            assert (found is None) == (wanted is None)
            if found is None or wanted is None:
                continue
            assert found.graph is g and found.demand is demand and found.orbits is orb
            assert [x.length.tolist() for x in found.routes] == [x.length.tolist() for x in wanted.routes]
            assert (found.shares, found.lower, found.upper) == (wanted.shares, wanted.lower, wanted.upper)
            assert found.dual.tolist() == wanted.dual.tolist() and found.lower <= found.upper
            assert sum(found.shares) > 0 and len(found.shares) == len(found.routes)


def test_the_search_finds_symmetries_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    g = graph_of(torus(3, 4))
    found = uniform_flow_bounds(g, UniformDemand.all_to_all(g))
    assert found is not None and [x.tolist() for x in (found.orbits.node, found.orbits.link)] == [
        x.tolist() for x in (automorphism_orbits(g).node, automorphism_orbits(g).link)
    ]
    monkeypatch.setattr(uniform_flow, "_sums_fit_in_words", lambda graph, demand: False)
    assert uniform_flow_bounds(g, UniformDemand.all_to_all(g)) is None


def test_bounds_at_the_gap_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    g = graph_of(random_fabric(1))
    monkeypatch.setattr(uniform_flow, "_bound_by_small_lengths", lambda best, *rest: best)
    for upper, rounds in ((Fraction(3, 2), 1), (Fraction(151, 100), 5), (Fraction(1), 1)):

        def better(best: Any, g_: Any, d: Any, o: Any, routes: Any, master: Any, upper: Fraction = upper) -> Any:
            return SimpleNamespace(lower=Fraction(1), upper=upper, routes=tuple(routes))

        monkeypatch.setattr(uniform_flow, "_bounds_with_route", better)
        found = uniform_flow_bounds(g, UniformDemand.all_to_all(g), None, budget=Budget(uniform_gap=0.5, uniform_rounds=5))
        assert found is not None and len(found.routes) == rounds


def test_lower_bounds_that_hardly_grow_are_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound has to grow by more than a thousandth within the rounds that are waited for."""
    g = graph_of(random_fabric(1))
    demand = UniformDemand.all_to_all(g)
    for growth, rounds in ((Fraction(1001, 1000), 4), (Fraction(1002, 1000), 5)):
        values = [Fraction(1), Fraction(1), *[growth] * 30]

        def better(best: Any, g_: Any, d: Any, o: Any, routes: Any, master: Any, values: Any = values) -> Any:
            return SimpleNamespace(lower=values[len(routes)], upper=Fraction(10**9), routes=tuple(routes))

        monkeypatch.setattr(uniform_flow, "_bounds_with_route", better)
        monkeypatch.setattr(uniform_flow, "_bound_by_small_lengths", lambda best, *rest: best)
        budget = Budget(uniform_idle_rounds=2, uniform_rounds=20)
        found = uniform_flow_bounds(g, demand, None, budget=budget)
        assert found is not None and len(found.routes) == rounds
