"""What the stand-alone checker takes for a lower end of bisection: never more than the least, whatever is stated."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import BISECTION, Rejected, bisection_lower_bound_shown, value_of_form
from tdsl.certificates.write_figures import _concurrent_routes, _device_permutations, _lower_bound_proof
from tdsl.prove.automorphisms import automorphism_orbits
from tdsl.prove.bound import EveryPlacement
from tdsl.prove.budget import DEFAULT
from tdsl.prove.equal_split import FAR, SHORT, UniformDemand, lengths_from_sources
from tdsl.prove.switch_placements import least_cut_by_placements
from tdsl.prove.uniform_flow import bound_across_halves, uniform_flow_bounds
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import random_chips, random_fabric, random_layers, superpod, without
from tests.verify import judges
from tests.verify.test_any_topology import random_switches
from tests.verify.test_bisection import least_over_all_splits
from tests.verify.test_certificates import as_json, net_of

SEEDS = st.integers(0, 10**6)


def small(seed):
    """A fabric of which all splits are soon tried."""
    rng = np.random.default_rng(seed)
    kind = seed % 5
    if kind == 0:
        return random_fabric(seed, 4, 6, 2, 8, 1).build()
    if kind == 1:
        return random_layers(seed).build()
    if kind == 2:
        return random_chips(seed, 7, 12).build()
    if kind == 3:
        f = superpod(2, 3, 2, 2, uplinks=2).build()
        return without(f, sorted(rng.choice(f.link_count, 3, replace=False).tolist()))
    return random_switches(6, 3, seed, 1)


def shown(fabric, stated):
    """What the checker takes a lower end for, in grains; None where it rejects it."""
    net = net_of(fabric)
    try:
        return bisection_lower_bound_shown(net, value_of_form(json.loads(json.dumps(stated)), BISECTION["lower"], "lower"))
    except (Rejected, LookupError, ValueError, TypeError, ArithmeticError):
        return None


def least(f, fabric):
    return Fraction(least_over_all_splits(f), net_of(fabric).grain)


@settings(max_examples=75, deadline=None)
@given(SEEDS, st.randoms(use_true_random=False), st.integers(1, 12))
def test_sides_in_any_order_show_the_least_and_no_more(seed, random, asked):
    f = small(seed)
    fabric = as_json(f)
    net = net_of(fabric)
    assume(len(net.units) > 1)
    assert len(net.units) == len(judges.units(f))
    order = sorted(net.units | net.forward)
    random.shuffle(order)
    stated = {"by": "splits", "parts": [{"least": asked, "order": [[d] for d in order]}]}
    assert (shown(fabric, stated) == asked) == (asked <= least(f, fabric))


@settings(max_examples=75, deadline=None)
@given(SEEDS, st.data())
def test_no_hubs_and_lengths_show_too_much(seed, data):
    f = small(seed)
    fabric = as_json(f)
    view = View.whole(f)
    graph = UnitGraph.of(view, unit_network(view))
    found = automorphism_orbits(graph)
    hubs = data.draw(st.dictionaries(st.integers(0, graph.nodes - 1), st.integers(1, 5), min_size=1, max_size=6))
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=len(graph.a), max_size=len(graph.a)))
    name = view.names(graph.device)
    links = zip(graph.a.tolist(), graph.b.tolist(), found.link.tolist(), strict=True)
    named = [[name[v], name[w], lengths[orbit]] for a, b, orbit in links for v, w in ((a, b), (b, a))]
    stated = {
        "by": "routes",
        "hubs": {name[v]: n for v, n in hubs.items()},
        "symmetries": _device_permutations(view, graph, found),
        "routes": [{"share": 1, "parts": 5040, "by": "lengths", "lengths": named}],
    }
    assume(len(net_of(fabric).units) > 1)
    assert (shown(fabric, stated) or 0) <= least(f, fabric)


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_the_engine_and_the_script_agree(seed):
    """Of places and routes from hubs, whichever of them the engine would choose."""
    f = small(seed)
    fabric, view = as_json(f), View.whole(f)
    net = unit_network(view)
    assume(len(net.units) > 1)
    assert len(net.units) == len(net_of(fabric).units)
    places = least_cut_by_placements(net)
    if places is not None and places[0]:
        assert shown(fabric, _lower_bound_proof(view, net, EveryPlacement(((net, places[0]),)))) == places[0] == least(f, fabric)
        assert shown(fabric, _lower_bound_proof(view, net, EveryPlacement(((net, places[0] + 1),)))) is None
    graph = UnitGraph.of(view, net)
    rounds = replace(DEFAULT, uniform_rounds=3)
    found = uniform_flow_bounds(
        graph, UniformDemand.hubs(graph, automorphism_orbits(graph).node, 1 + seed % graph.nodes), budget=rounds
    )
    if found is not None:
        assert shown(fabric, {"by": "routes"} | _concurrent_routes(view, found)) == bound_across_halves(found) <= least(f, fabric)


@settings(max_examples=75, deadline=None)
@given(SEEDS, st.data())
def test_no_hubs_with_shares_show_too_much(seed, data):
    """Each switch divides among some of those after it in an order, and the last are hubs."""
    f = small(seed)
    fabric = as_json(f)
    net = net_of(fabric)
    inner = data.draw(st.permutations(sorted(net.forward - net.units)))
    assume(len(net.units) > 1 and inner)
    shares = {}
    for i, v in enumerate(inner[:-1]):
        above = data.draw(st.lists(st.sampled_from(inner[i + 1 :]), max_size=3, unique=True))
        weight = {w: data.draw(st.integers(0, 3)) for w in above}
        if sum(weight.values()) or data.draw(st.booleans()):
            shares[v] = {w: str(Fraction(n, max(sum(weight.values()), 1))) for w, n in weight.items()}
    hubs = [v for v in inner if v not in shares]
    assert (shown(fabric, {"by": "shares", "parts": [{"hubs": hubs, "shares": shares}]}) or 0) <= least(f, fabric)


def test_shares_that_show_more_than_there_is():
    """Shares that add up to more than one, circles, hubs with shares, two parts with one node, shares of nothing."""
    f = superpod(2, 3, 2, 2, uplinks=2).build()
    fabric = as_json(f)
    net = net_of(fabric)
    spines = sorted(v for v in net.forward if v.startswith("spine"))
    leaves = sorted(net.forward - {*spines})
    honest = {v: {s: str(Fraction(1, len(spines))) for s in spines} for v in leaves}

    def bound(shares, hubs=spines, times=1):
        try:
            return shown(fabric, {"by": "shares", "parts": [{"hubs": hubs, "shares": shares}] * times})
        except RecursionError:
            return None

    assert 0 < bound(honest) <= least(f, fabric)
    assert bound(honest, times=2) is None
    assert bound(honest | {leaves[0]: dict.fromkeys(spines, "1")}) is None
    assert bound(honest | {leaves[0]: {leaves[1]: "1"}, leaves[1]: {leaves[0]: "1"}}) is None
    assert bound(honest | {spines[0]: {spines[1]: "1"}}) is None
    assert bound(honest, hubs=[*spines, sorted(net.units)[0]]) is None
    zero = {v: {s: str(int(s == spines[0])) for s in spines} for v in leaves}
    assert bound(zero) <= bound(honest)
    none = {v: {spines[0]: "1"} for v in leaves}
    assert bound(none) == bound(zero)


@settings(max_examples=40)
@given(SEEDS, st.sampled_from([9, SHORT]), st.booleans())
def test_distances_by_another_search(seed, longest, many):
    """Shortest paths of few and of many sources, in 32 and in 64 bits, are those of networkx; nothing passes what does not
    forward."""
    view = View.whole(small(seed))
    g = UnitGraph.of(view, unit_network(view))
    rng = np.random.default_rng(seed)
    length = rng.integers(1, longest, len(g.a), endpoint=True)
    near = nx.Graph()
    near.add_nodes_from(range(g.nodes))
    near.add_weighted_edges_from(zip(g.a.tolist(), g.b.tolist(), length.tolist(), strict=True))
    closed = {v for v in range(g.nodes) if not g.forwards[v]}
    sources = np.arange(g.nodes)
    far = lengths_from_sources(g, length, np.tile(sources, 4000 if many else 1))
    assert many == (len(far) > g.nodes)
    for s in sources.tolist():
        expected = dict.fromkeys(range(g.nodes), FAR)
        for t in range(g.nodes):
            kept = near.subgraph(set(near) - (closed - {s, t}))
            if nx.has_path(kept, s, t):
                expected[t] = nx.dijkstra_path_length(kept, s, t)
        assert far[s].tolist() == far[-g.nodes + s].tolist() == list(expected.values())
