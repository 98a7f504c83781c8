"""Demands between terminals, and what routes of them put on arcs: offers, sums of loads, and expanded quotients."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import Bound, PortBound
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.column_generation import Along
from tdsl.prove.concurrent_flow import _bounds_of_quotient
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.network import Network
from tdsl.prove.routed_demand import Expanded, RoutedLoads, add_loads, targets_by_source
from tdsl.prove.routing_combinations import Combination, FullRouting
from tdsl.prove.terminals import Offer, offer_of_demand, views_of_planes
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder, random_chips, random_fabric, random_planes, superpod
from tests.verify.test_small_bounds import wired
from tests.verify.test_twins import grown
from tests.verify.test_views_by_definition import mixed


def column(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


# ---------------------------------------------------------------- loads


def test_demands_by_source() -> None:
    assert targets_by_source({(1, 2): 5, (0, 2): 6, (1, 0): 7}) == {1: {2: 5, 0: 7}, 0: {2: 6}}
    into = {1: Fraction(1, 2), 2: Fraction(1)}
    add_loads(into, {2: Fraction(1, 3), 5: Fraction(2)})
    assert into == {1: Fraction(1, 2), 2: Fraction(4, 3), 5: Fraction(2)}


@pytest.mark.parametrize("seed", range(20))
def test_loads_are_added_up_by_source(seed: int) -> None:
    """Kept apart up to so many entries, of which the same source and arc is one; in as few parts as there are."""
    rng = Random(seed)
    parts = [
        (rng.randrange(3), {rng.randrange(4): Fraction(rng.randint(1, 9), rng.randint(1, 6)) for _ in range(rng.randint(1, 3))})
        for _ in range(rng.randint(1, 6))
    ]
    flow: dict[int, Counter[int]] = {}
    load: Counter[int] = Counter()
    for s, part in parts:
        flow.setdefault(s, Counter()).update(part)  # type: ignore[arg-type]
        load.update(part)  # type: ignore[arg-type]
    count = sum(len(x) for x in flow.values())
    for entries in (count, count - 1):
        found = RoutedLoads(entries)
        assert (found.load, found.flow, found.combination, found.trees, found.lengths, found.parts) == ({}, {}, None, None, [], 1)
        for s, part in parts:
            found.add(s, part)
        assert found.load == load and found.entries == entries
        assert found.flow == (flow if entries == count else None)
        assert found.parts == lcm(*(x.denominator for _, part in parts for x in part.values()))


def test_loads_along_paths_and_of_combinations() -> None:
    entries = [(0, 3, 5), (0, 4, 2), (2, 3, 1)]
    along = Along(*(column([e[i] for e in entries]) for i in range(3)), 10, Fraction(1), column([]), Fraction(1))
    found = RoutedLoads.along(along, 7)
    assert found.load == {3: Fraction(6, 10), 4: Fraction(2, 10)} and found.entries == 7
    assert found.flow == {0: {3: Fraction(5, 10), 4: Fraction(2, 10)}, 2: {3: Fraction(1, 10)}}
    combination = Combination(column([4, 4, 4]))
    combination.add(FullRouting(column([3, 0, 6]), 6, (column([1, 1]), column([0, 2]), column([3, 6]))))
    mixed_ = RoutedLoads.combined(combination, 9)
    assert mixed_.load == {0: Fraction(1, 2), 2: Fraction(1)} and mixed_.flow == {1: {0: Fraction(1, 2), 2: Fraction(1)}}
    assert mixed_.combination is combination and mixed_.entries == 9


def carried(load: dict[int, Fraction], net: Network, wanted: dict[tuple[int, int], int]) -> bool:
    """Whether what is on arcs leaves and arrives as it should, and passes only through what forwards."""
    over: Counter[int] = Counter()
    for arc, x in load.items():
        over[int(net.tail[arc])] -= x  # type: ignore[assignment]
        over[int(net.head[arc])] += x  # type: ignore[assignment]
        if x < 0:
            return False
    for (s, t), x in wanted.items():
        over[s] += x
        over[t] -= x
    return not any(over.values())


@pytest.mark.parametrize("limits", [{}, {"arc_program_cells": 0, "path_program_rows": 0}])
@pytest.mark.parametrize("seed", range(40))
def test_loads_of_a_quotient_are_expanded(seed: int, limits: dict[str, int]) -> None:
    """All arcs of a class carry the same; what every source sends arrives at its targets, and all of it together is the load."""
    net, demands = grown(seed)
    if not demands:
        return
    for entries in (DEFAULT.flow_entries, None):
        found = _bounds_of_quotient(net, demands, Fraction(1000), replace(DEFAULT, quotient_ratio=0, **limits))
        if found is None:
            return
        routed = found.proof_lower
        assert isinstance(routed, Expanded)
        by, small = routed.by, routed.whole.proof_lower
        classes = by.arc.tolist()
        wanted = {arc: small.load[c] / int(by.count[c]) for arc, c in enumerate(classes) if c in small.load}
        assert routed.load == wanted and carried(routed.load, net, demands)
        if small.flow is None:
            assert routed.flow is None
            return
        who = targets_by_source(demands)
        size = sum(sum(classes.count(arc) for arc in small.flow[int(by.out[s])]) for s in who)
        if entries is None:  # one entry less than there may be
            less = Expanded(replace_entries(found, size - 1), by, net, demands)
            assert less.flow is None
            enough = Expanded(replace_entries(found, size), by, net, demands)
            assert enough.flow == routed.flow
            continue
        flow = routed.flow
        assert flow is not None and list(flow) == list(who)
        total: dict[int, Fraction] = {}
        for s, part in flow.items():
            assert carried(part, net, {(s, t): x for t, x in who[s].items()})
            assert all(net.forwards[v] or v == s for v in net.tail[list(part)].tolist())
            add_loads(total, part)
        assert {arc: x for arc, x in total.items() if x} == {arc: x for arc, x in wanted.items() if x}


def replace_entries(found: Bound, entries: int) -> Bound:  # type: ignore[type-arg]
    small = found.proof_lower.whole.proof_lower
    small.entries = entries
    return replace(found, proof_lower=small)


# ---------------------------------------------------------------- offers


def drawn(seed: int) -> Fabric:
    """Of several kinds; the first device is a host, a panel, a chip, or a switch that many hosts have their one link to."""
    if seed % 4 == 1:
        return mixed(seed)
    if seed % 4 == 2:
        return random_chips(seed, 5, 4 + seed % 5).build()
    if seed % 4 == 3:
        rng = Random(seed)
        links = [(f"h{h}", f"s{rng.choice([0, 0, 1, 2])}") for h in range(7) for _ in range(rng.choice([1, 1, 2]))]
        return wired(7, 3, [*links, *((f"s{a}", f"s{b}") for a, b in ((0, 1), (1, 2), (0, 2)) if rng.random() < 0.7)]).build()
    return random_fabric(seed, 4, 6, 3, 8, seed % 5).build()


def offered(
    view: View, wanted: list[tuple[int, int, int]]
) -> tuple[list[str], dict[tuple[str, str], int], dict[tuple[str, str], int], Fraction, int, int] | None:
    """Names of nodes, capacities, demands, the factor of the ports, the sum and the grain."""
    f, own = view.fabric, view.units.tolist()
    counted = set(own) | set(np.flatnonzero(view.forwards).tolist())
    links = [
        (int(a), int(b), int(f.link_rate[r]))
        for r, a, b in zip(view.rows, view.a, view.b, strict=True)
        if a in counted and b in counted and a != b
    ]
    grain = gcd(*(x for _, _, x in links)) or 1
    sums: Counter[int] = Counter()
    near: dict[int, set[int]] = {}
    for a, b, x in links:
        for v, w in ((a, b), (b, a)):
            sums[v] += x // grain
            near.setdefault(v, set()).add(w)
    sends: Counter[int] = Counter()
    gets: Counter[int] = Counter()
    for s, t, x in wanted:
        sends[own[s]] += x
        gets[own[t]] += x
    busy = [v for v in {*sends, *gets} if max(sends[v], gets[v]) > 0]
    if not busy or any(not sums[v] for v in busy):
        return None
    top = min(Fraction(sums[v], max(sends[v], gets[v])) for v in busy)
    ends = [v for v in own if not view.forwards[v]]
    place = {v: v for v in counted}
    first: dict[int, int] = {}
    for v in ends:
        if v in busy and len(near[v]) == 1 and next(iter(near[v])) not in ends:
            place[v] = first.setdefault(next(iter(near[v])), v)
    capacity: Counter[tuple[int, int]] = Counter()
    for a, b, x in links:
        if place[a] != place[b]:
            capacity[place[a], place[b]] += x // grain
            capacity[place[b], place[a]] += x // grain
    asked: Counter[tuple[int, int]] = Counter()
    for s, t, x in wanted:
        if place[own[s]] != place[own[t]]:
            asked[place[own[s]], place[own[t]]] += x
    used = {place[v] for a, b, _ in links for v in (a, b)}
    nodes = [v for v in own if v in used and v in ends] + [v for v in range(f.device_count) if v in used and v not in ends]
    name = {v: f.device_name(v) for v in nodes}
    return (
        [name[v] for v in nodes],
        {(name[a], name[b]): x for (a, b), x in capacity.items()},
        {(name[a], name[b]): x for (a, b), x in asked.items()},
        top,
        sum(x for _, _, x in wanted),
        grain,
    )


def relays() -> Fabric:
    """The first host forwards what is not its own; it has one link to the switch that all others have one to."""
    b = Builder("relays")
    model = b.model("host", "NODE", {"nic": 1}, accelerators=1)
    relay, node = b.devices("relay", model, 1), b.devices("node", model, 3)
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 1)
    for s, h in ((relay, 0), (node, 0), (node, 1), (node, 2)):
        b.link(b.free(s, h), b.free(sw, 0))
    f = b.build()
    return replace(f, sets=(replace(f.sets[0], settings={"forwards": True}), *f.sets[1:]))


@pytest.mark.parametrize("seed", range(81))
def test_a_demand_between_units(seed: int) -> None:
    view = View.whole(drawn(seed) if seed < 80 else relays())
    rng, n = Random(seed), len(view.units)
    for _ in range(3):
        pairs = [(rng.randrange(n), rng.randrange(n)) for _ in range(rng.randint(0, 8))]
        wanted = [(s, t, rng.randint(1, 5)) for s, t in pairs if s != t] if seed < 80 else [(0, 1, 2), (1, 2, 3), (2, 0, 1)]
        demand = TrafficDemand(*(column([x[i] for x in wanted]) for i in range(3)))
        found, exact = offer_of_demand(view, demand), offered(view, wanted)
        if exact is None:
            assert found is None
            continue
        nodes, capacity, asked, top, total, grain = exact
        assert found is not None and list(found.nodes) == nodes
        net = found.network
        listed = zip(net.tail.tolist(), net.head.tolist(), net.capacity.tolist(), strict=True)
        assert {(nodes[a], nodes[b]): x for a, b, x in listed} == capacity
        assert {(nodes[a], nodes[b]): x for (a, b), x in found.demands.items()} == asked
        assert (found.top, found.total, found.grain) == (top, total, grain)
        names = {view.fabric.device_name(d): bool(view.forwards[d]) for d in range(view.fabric.device_count)}
        assert net.forwards.tolist() == [
            names[x] or x not in {view.fabric.device_name(int(u)) for u in view.units} for x in nodes
        ]
        if not asked:
            bounds = found.bounds(Budget(flow_entries=3))
            assert bounds is not None and bounds.lower == bounds.upper == top and isinstance(bounds.proof_upper, PortBound)
            assert bounds.proof_lower.load == {} and bounds.proof_lower.entries == 3
            continue
        g = nx.DiGraph()
        g.add_nodes_from((x, side) for x in nodes for side in "io")
        g.add_edges_from(((a, "o"), (b, "i")) for a, b in capacity)
        g.add_edges_from(((x, "i"), (x, "o")) for x, passes in zip(nodes, net.forwards.tolist(), strict=True) if passes)
        bounds = found.bounds()
        assert (bounds is not None) == all(nx.has_path(g, (s, "o"), (t, "i")) for s, t in asked)
        assert bounds is None or 0 < bounds.lower <= bounds.upper <= top


def test_offers_that_are_the_same_but_for_names() -> None:
    net = Network.both_ways(np.array([False, True, False]), column([0, 1]), column([1, 2]), column([4, 5]))
    one = Offer(("a", "s", "b"), net, {(0, 2): 3}, Fraction(4, 3), 3, 100)
    assert one.same(replace(one, nodes=("c", "t", "d"), total=4, grain=7))
    assert not one.same(replace(one, top=Fraction(1)))
    assert not one.same(replace(one, demands={(0, 2): 4}))
    assert not one.same(replace(one, network=net.with_capacity(net.capacity + 1)))


@pytest.mark.parametrize("seed", range(40))
def test_planes_of_a_view(seed: int) -> None:
    """Components of forwarding devices that units are connected to, in order of their lowest device, with the links of units."""
    makers = (lambda: mixed(seed), lambda: random_planes(seed).build(), lambda: random_fabric(seed, 5, 4, 2, 3, 1).build())
    f = makers[seed % 3]()
    view = replace(View.whole(f, Budget(flow_work=4)), name="some")
    g = nx.Graph()
    g.add_nodes_from(np.flatnonzero(view.forwards).tolist())
    links = list(zip(view.rows.tolist(), view.a.tolist(), view.b.tolist(), strict=True))
    g.add_edges_from((a, b) for _, a, b in links if view.forwards[a] and view.forwards[b])
    own, wanted = set(view.units.tolist()), []
    for group in sorted(sorted(c) for c in nx.connected_components(g)):
        rows = [r for r, a, b in links if a in group or (b in group and not view.forwards[a])]
        if any({a, b} & own and (a in group or b in group) for _, a, b in links):
            wanted.append(rows)
    found = views_of_planes(view)
    assert [x.rows.tolist() for x in found] == wanted
    assert all(x.core is view.core and x.devices is view.devices and x.budget is view.budget and x.name == "some" for x in found)


def test_planes_of_a_pod_are_one() -> None:
    assert len(views_of_planes(View.whole(superpod(2, 4, 2, 2).build()))) == 1
    b = Builder("two")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 2)
    for h in range(2):
        for s in range(2):
            b.link(b.free(node, h), b.free(sw, s), GBPS)
    assert [x.rows.tolist() for x in views_of_planes(View.whole(b.build()))] == [[0, 2], [1, 3]]
