"""Pieces of the bounds of bisection and throughput: splits that are tried, keys of equal networks, routes in small parts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.certificates.write_survives import _is_enough_for_condition
from tdsl.prove import column_generation
from tdsl.prove.automorphisms import automorphism_orbits
from tdsl.prove.bisection import _bisection_cuts, _both_bounds, bisection_bounds
from tdsl.prove.budget import DEFAULT
from tdsl.prove.by_domain import ByDomain
from tdsl.prove.clos import best_spread
from tdsl.prove.column_generation import route_along_paths
from tdsl.prove.cuts import balanced_splits, cut_with_nodes_placed
from tdsl.prove.demands import DIGITS, MOST, UnfitDemand, _scaled_amount
from tdsl.prove.disjoint import WorkLeft, separator_of_terminals
from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.equal_split import UniformDemand, distance_times_demand
from tdsl.prove.flat_cuts import _place_of_layers, flat_splits
from tdsl.prove.group_routing import group_rate
from tdsl.prove.network import Network
from tdsl.prove.node_connectivity import least_separator_bounds
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.spectral_bound import _least_crossing
from tdsl.prove.symmetry import columns_as_key
from tdsl.prove.trees import _levels_from_roots
from tdsl.prove.uniform_flow import SMALL, _bound_by_small_lengths, bound_across_halves, uniform_flow_bounds
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import networks_of_components, unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder, claim, multiplane, random_chips, random_fabric, superpod, torus
from tests.verify.judges import redundancy


def planes(links: tuple[int, int], rate: int = 400) -> Builder:
    """Four hosts on two planes; of each plane two leaves, joined by so many links."""
    b = Builder("planes")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 40}), 4)
    node = b.devices("node", b.model("host", "NODE", {"nic": 4}, accelerators=1), 4)
    b.connect("connect all")
    for h in range(4):
        for plane in range(2):
            for _ in range(2):
                b.link(b.free(node, h), b.free(sw, 2 * plane + h // 2), rate * GBPS)
    for plane, count in enumerate(links):
        for _ in range(count):
            b.link(b.free(sw, 2 * plane), b.free(sw, 2 * plane + 1), rate * GBPS)
    return b


@pytest.mark.parametrize("links", [(1, 2), (2, 1), (1, 1), (3, 1)])
def test_planes_that_differ_are_proved_one_by_one(links: tuple[int, int]) -> None:
    """What is kept of one plane is not used for another with other links."""
    f = planes(links).build()
    view = View.whole(f)
    found = bisection_bounds(view)
    assert found.lower == found.upper == sum(links)
    paths = disjoint_paths(view)
    assert paths.lower == paths.upper == redundancy(f) == min(links[0], 2) + min(links[1], 2)
    devices = least_separator_bounds(view)
    assert devices.lower == devices.upper == 2


def test_keys_are_of_all_columns() -> None:
    one, other = np.array([1, 2]), np.array([1, 3])
    assert columns_as_key(one, other) == columns_as_key(one.copy(), other.copy())
    assert (
        len(
            {
                columns_as_key(one, one),
                columns_as_key(one, other),
                columns_as_key(other, one),
                columns_as_key(one),
                columns_as_key(),
            }
        )
        == 5
    )


@pytest.mark.parametrize("made", [superpod(2, 4, 2, 2), multiplane(2, 8), planes((1, 2)), random_fabric(3), random_fabric(8)])
def test_the_first_cut_is_the_least_of_those_tried(made: Builder) -> None:
    f = made.build()
    view = View.whole(f)
    net = unit_network(view)
    best = min(cut_with_nodes_placed(net, units, view.budget).value for units in balanced_splits(net, f))
    for lower in (-1, 0, best):
        assert _bisection_cuts(net, view, lower)[0].value <= best


@pytest.mark.parametrize("seed", range(6))
def test_routes_between_all_are_used_where_there_are_any(seed: int) -> None:
    """A limit of hubs is for networks in which not all can be routed."""
    f = random_chips(seed, chips=7, cables=12).build()
    view = View.whole(f, replace(DEFAULT, hub_arcs=0))
    net, graph = unit_network(view), UnitGraph.of(view, unit_network(view))
    if len(np.unique(view.label[view.units])) > 1:
        return
    demand = UniformDemand.all_to_all(graph)
    routes = uniform_flow_bounds(
        graph, demand, automorphism_orbits(graph, view.budget), budget=replace(view.budget, uniform_rounds=1)
    )
    assert routes is not None
    shown, _ = _both_bounds(view, net, _bisection_cuts(net, view, 0), 0)
    assert shown[0][0] >= bound_across_halves(routes)
    assert all(each.demand.pairs for _, each in shown if hasattr(each, "demand"))


@pytest.mark.parametrize("sizes", [(4, 4), (6,), (4, 6), (3, 4)])
def test_flat_splits_are_even(sizes: tuple[int, ...]) -> None:
    view = View.whole(torus(*sizes).build())
    net = unit_network(view)
    graph = UnitGraph.of(view, net)
    dimension = automorphism_orbits(graph, view.budget).link
    found = [units for kind in (dimension, graph.kind) for units in flat_splits(graph, kind, view.budget)]
    assert found and {int(units.sum()) for units in found} == {len(net.units) // 2}


def test_layers_along_a_ring_in_any_order() -> None:
    """A ring 0, 3, 4, 1, 2, 5, and a line 3, 0, 2, 1: neighbours have places beside each other."""
    ring, line = [0, 3, 4, 1, 2, 5, 0], [3, 0, 2, 1]
    for walk, nodes in ((ring, 6), (line, 4)):
        a, b = np.array(walk[:-1]), np.array(walk[1:])
        place = _place_of_layers(SimpleNamespace(nodes=nodes, a=a, b=b), np.ones(len(a), dtype=np.bool_))  # type: ignore[arg-type]
        assert place is not None and sorted(place.tolist()) == list(range(nodes))
        assert {int(x) for x in np.abs(place[a] - place[b])} <= {1, nodes - 1}
    star = SimpleNamespace(nodes=4, a=np.array([0, 0, 0]), b=np.array([1, 2, 3]))
    assert _place_of_layers(star, np.ones(3, dtype=np.bool_)) is None  # type: ignore[arg-type]


def test_hubs_send_by_the_capacity_below_them() -> None:
    """Leaves with one host and with two; those in proportion, in the smallest numbers."""
    b = Builder("hubs")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 40}), 3)
    node = b.devices("node", b.model("host", "NODE", {"nic": 4}, accelerators=1), 6)
    b.connect("connect all")
    for h, s in enumerate((0, 1, 1, 2, 2, 2)):
        b.link(b.free(node, h), b.free(sw, s))
    for s in range(3):
        b.link(b.free(sw, s), b.free(sw, (s + 1) % 3))
    view = View.whole(b.build())
    graph = UnitGraph.of(view, unit_network(view))
    demand = UniformDemand.hubs(graph, np.arange(graph.nodes), graph.nodes)
    assert sorted(demand.senders[graph.forwards].tolist()) == [1, 2, 3] and not demand.senders[~graph.forwards].any()
    assert set(demand.apart[graph.forwards].tolist()) == {3} and not demand.pairs


def test_upper_bounds_by_small_lengths_are_the_least_of_all() -> None:
    """With prices that are whole only in twelfths."""
    view = View.whole(random_chips(2, chips=6, cables=11).build())
    graph = UnitGraph.of(view, unit_network(view))
    symmetry = replace(automorphism_orbits(graph, view.budget), node=np.arange(graph.nodes), link=np.arange(len(graph.a)))
    sources, times = np.flatnonzero(graph.weight), graph.weight[graph.weight > 0]
    demand = UniformDemand.all_to_all(graph)
    found = uniform_flow_bounds(graph, demand, symmetry, budget=replace(DEFAULT, uniform_rounds=1))
    assert found is not None
    for turn in range(8):
        price = np.array([(1 + (i * 5 + turn) % 12) / 12 for i in range(len(graph.a))])
        price[turn % len(price)] = 1.0

        def shows(fine: int, price: Any = price) -> Fraction:
            length = np.rint(price * (fine / price.max())).astype(np.int64)
            distance = sum(
                int(m) * distance_times_demand(graph, length, int(s), demand) for s, m in zip(sources, times, strict=True)
            )
            total = int((2 * graph.capacity * length).sum())
            return Fraction(total, distance) * PARTS if distance else Fraction(10**9)

        start = replace(found, upper=Fraction(10**9))
        master: Any = SimpleNamespace(price=lambda price=price: price)
        best = _bound_by_small_lengths(start, master, sources, times, 10**9)
        assert best.upper == min(shows(fine) for fine in (1, 2, 3, 4, 6, 12))
        assert _bound_by_small_lengths(start, master, sources, times, 0) is start
    assert max(SMALL) == 12


def test_routes_in_exact_parts_are_taken_though_others_are_about_as_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two paths of capacities 1 and 2: parts of a third are exact, those of ten million are not."""
    net = Network.both_ways(np.array([False, True, True, False]), *(np.array(x) for x in ([0, 0, 1, 2], [1, 2, 3, 3])))
    net = net.with_capacity(np.array([1 if 1 in (t, h) else 2 for t, h in zip(net.tail, net.head, strict=True)]))
    demand = np.array([0]), np.array([3]), np.array([1])
    for whole in ((10**7, 3), (3,)):
        monkeypatch.setattr(column_generation, "WHOLE", whole)
        found = route_along_paths(net, demand, Fraction(3))
        assert found is not None and found.lower == 3 and found.whole == 3


@pytest.mark.parametrize(("text", "value"), [("0", 0), ("1", 10**DIGITS), ("0.000001", 1), (str(MOST), MOST * 10**DIGITS)])
def test_amounts_within_the_limit(text: str, value: int) -> None:
    assert _scaled_amount(text, "m.csv", 1) == value


@pytest.mark.parametrize("text", ["-1", str(MOST + 1), f"{MOST}.000001", "0.0000001", "nan", "inf", "x", ""])
def test_amounts_beyond_the_limit(text: str) -> None:
    with pytest.raises(UnfitDemand, match=r"m\.csv:1"):
        _scaled_amount(text, "m.csv", 1)


def test_hosts_without_scale_up_links_hand_on_nothing() -> None:
    made = ByDomain.of(View.whole(superpod(1, 4, 2, 2).build()))
    assert made.carried(None, Fraction(10**9)) == 0


def test_groups_with_links_between_hosts_have_no_rate() -> None:
    """Where hosts are linked to hosts beside their switches, what leaves by those links is not counted."""
    rates = []
    for loose in (False, True):
        b = Builder("loose")
        sw = b.devices("g.r", b.model("switch", "SW", {"p": 20}), 2, 1)
        node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 4)
        b.connect("connect all")
        for h in range(4):
            b.link(b.free(node, h), b.free(sw, h // 2), 400 * GBPS)
        b.link(b.free(sw, 0), b.free(sw, 1), 400 * GBPS)
        if loose:
            b.link(b.free(node, 0), b.free(node, 1), 400 * GBPS)
        f = b.build()
        rates.append(group_rate(unit_network(View.whole(f)), f))
    assert rates == [Fraction(1, 4), 0]


def test_trees_of_other_turns_are_others() -> None:
    """A square: its far corner is reached by the one side or the other."""
    near, start = np.array([1, 2, 0, 3, 0, 3, 1, 2]), np.array([0, 2, 4, 6, 8])
    forwards = np.ones(4, dtype=np.bool_)
    by = [_levels_from_roots(4, start, near, forwards, np.array([0]), turn, 2) for turn in range(2)]
    assert [level.tolist() for level, _ in by] == [[0, 1, 1, 2]] * 2
    assert {near[x[1][3]] for x in by} == {3} and by[0][1][3] != by[1][1][3]


@pytest.mark.parametrize("made", [superpod(2, 4, 2, 2), superpod(4, 8, 2, 4), multiplane(2, 8)])
def test_shares_towards_hubs_are_exact_on_regular_fabrics(made: Builder) -> None:
    """The lower bound of a Clos fabric needs no search: shares of capacity show all that the best cut has."""
    net = unit_network(View.whole(made.build()))
    found = [best_spread(part) for part in networks_of_components(net)]
    known = bisection_bounds(View.whole(made.build()))
    assert sum(x.value for x in found if x is not None) == known.lower == known.upper


def test_short_ways_need_no_work() -> None:
    """In a complete graph every device has enough neighbours: nothing is searched."""
    near = {v: set(range(10)) - {v} for v in range(10)}
    assert separator_of_terminals(near, list(range(10)), 3, False, WorkLeft(0)) is None


def test_what_a_certificate_shows_is_held_against_the_condition() -> None:
    """Half of the most: a bound above shows it, one below refutes it, bounds on both sides say nothing."""
    f = superpod(2, 4, 2, 2).build()
    view = View.whole(f)
    net = unit_network(view)
    most = net.full * net.grain
    asked = claim(f, "bisection", ">=", Fraction(1, 2))
    for low, high, enough in ((40, 60, False), (50, 60, True), (60, 70, True), (30, 40, True), (49, 50, False)):
        body = {"lower_bps": str(Fraction(most * low, 100)), "upper_bps": str(Fraction(most * high, 100))}
        assert _is_enough_for_condition(body, asked, view) is enough
    strict = claim(f, "bisection", ">", Fraction(1, 2))
    assert _is_enough_for_condition({"lower_bps": most // 2, "upper_bps": most}, strict, view) is False


@pytest.mark.parametrize("units", range(2, 10))
@pytest.mark.parametrize("way", [None, 1, 3])
def test_the_spectrum_shows_the_least_over_all_numbers_of_moved_units(units: int, way: int | None) -> None:
    """So many units are moved to where their switches are, each over a link of its own; half of them, rounded up, at most."""
    for mu in (Fraction(1, 3), Fraction(2), Fraction(17, 5), Fraction(9)):
        most, odd = -(-units // 2), units % 2
        moved = range(most + 1) if way is not None else [0]
        each = [mu * (units * units - 2 * (2 * k + odd) ** 2) / (4 * units) + k * (way or 0) for k in moved]
        least = min([*each, Fraction(most * way)] if way is not None else each)
        assert _least_crossing(mu, units, way) == max(ceil(least), 0)
