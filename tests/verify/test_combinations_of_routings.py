"""Convex combinations of routings, and routings over hubs, against their definition in fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import gcd, lcm
from random import Random
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tdsl.prove import routing_combinations
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.prove.routing_combinations import (
    FINE,
    LONGEST,
    STEPS,
    Combination,
    FullRouting,
    NodeDemands,
    _bounds_are_near,
    combine_routings,
    route_over_hubs,
)
from tdsl.prove.shortest_path_routing import PARTS, route_on_shortest_paths

Demands = dict[tuple[int, int], int]


def column(values: Any) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def drawn(seed: int) -> tuple[Network, Demands]:
    """Hosts on a few switches, some of which are no switch's neighbour; some hosts send, some receive, some forward."""
    rng = Random(seed)
    hosts, switches = rng.randint(2, 5), rng.randint(1, 5)
    size = hosts + switches
    links = [(h, hosts + rng.randrange(switches), rng.choice([1, 2])) for h in range(hosts) for _ in range(rng.choice([1, 1, 2]))]
    links += [(hosts + a, hosts + b, rng.choice([1, 3])) for a in range(switches) for b in range(a) if rng.random() < 0.7]
    if seed % 4 == 3:  # some arcs lead one way only
        made = [(a, b, x) for a, b, x in links] + [(b, a, x) for a, b, x in links if rng.random() < 0.9]
    else:
        made = [y for a, b, x in links for y in ((a, b, x), (b, a, x))]
    forwards = np.arange(size) >= hosts
    forwards[0] = seed % 5 == 4
    ends = list(range(hosts + (seed % 6 == 5)))
    pairs = [(s, t) for s in ends for t in ends if s != t]
    demands = {
        pair: rng.choice([2, 2, 4] if seed % 3 else [1, 1, 3])
        for pair in (pairs if seed % 2 else rng.sample(pairs, rng.randint(1, len(pairs))))
    }
    return Network.of(forwards, *(column([x[i] for x in made]) for i in range(3))), demands


def node_demands(demands: Demands) -> NodeDemands:
    pairs = list(demands)
    return NodeDemands.of(column([p[0] for p in pairs]), column([p[1] for p in pairs]), column(list(demands.values())))


@pytest.mark.parametrize("seed", range(20))
def test_amounts_of_nodes_are_added_up(seed: int) -> None:
    _, demands = drawn(seed)
    wanted = node_demands(demands)
    size = max(max(p) for p in demands) + 1
    assert wanted.out.tolist() == [sum(x for p, x in demands.items() if p[0] == v) for v in range(size)]
    assert wanted.into.tolist() == [sum(x for p, x in demands.items() if p[1] == v) for v in range(size)]
    assert list(zip(wanted.source.tolist(), wanted.target.tolist(), strict=True)) == list(demands)
    assert wanted.amount.tolist() == list(demands.values()) and wanted.own is None


# ---------------------------------------------------------------- combinations


def made(seed: int, flows: bool = True) -> tuple[Combination, list[FullRouting], np.ndarray]:
    rng = Random(seed)
    arcs = rng.randint(2, 6)
    capacity = column([rng.randint(1, 9) for _ in range(arcs)])
    routings = []
    for _ in range(rng.randint(1, 6)):
        load = [rng.choice([0, *range(1, 60)]) for _ in range(arcs)]
        flow = [(rng.randrange(3), arc, x) for arc, x in enumerate(load) if x]
        given = tuple(column([f[i] for f in flow]) for i in range(3)) if flows else None
        routings.append(
            FullRouting(column([max(x, 1) if i == 0 else x for i, x in enumerate(load)]), rng.choice([4, 6, 10]), given)
        )  # type: ignore[arg-type]
    found = Combination(capacity)
    for x in routings:
        found.add(x)
    return found, routings, capacity


@pytest.mark.parametrize("seed", range(60))
def test_a_routing_is_mixed_in_as_far_as_it_helps(seed: int) -> None:
    """In 64 parts, the least of those that are as good; what does not help is left out."""
    found, routings, capacity = made(seed)
    use = [float(x) / routings[0].whole / c for x, c in zip(routings[0].load.tolist(), capacity.tolist(), strict=True)]
    shares, kept = [1.0], [routings[0]]
    for routing in routings[1:]:
        other = [float(x) / routing.whole / c for x, c in zip(routing.load.tolist(), capacity.tolist(), strict=True)]
        tried = [max(x + (y - x) * (k / 64) for x, y in zip(use, other, strict=True)) for k in range(65)]
        part = tried.index(min(tried)) / 64
        if part:
            shares = [x * (1 - part) for x in shares] + [part]
            kept.append(routing)
            use = [x + (y - x) * part for x, y in zip(use, other, strict=True)]
    assert found.columns == kept and found.shares == pytest.approx(shares) and found.use.tolist() == pytest.approx(use)
    assert STEPS == 64 and FINE == 1_000_000
    whole = found.whole()
    most = [int(x * FINE) for x in found.shares]
    most[most.index(max(most))] += FINE - sum(most)
    assert whole == most and sum(whole) == FINE
    exact = [
        sum((Fraction(w * int(c.load[arc]), FINE * c.whole) for w, c in zip(whole, kept, strict=True)), Fraction(0))
        for arc in range(len(capacity))
    ]
    some = list(range(len(capacity)))[:: 1 + seed % 2]
    load, parts = found.loads(column(some))
    assert [Fraction(x, parts) for x in load.tolist()] == [exact[arc] for arc in some]
    assert parts == FINE * lcm(*(c.whole for c in kept))
    assert found.fits() == min(int(capacity[arc]) / exact[arc] for arc in range(len(capacity)) if exact[arc])
    flows = found.flows()
    wanted: dict[tuple[int, int], Fraction] = Counter()  # type: ignore[assignment]
    for w, c in zip(whole, kept, strict=True):
        assert c.flow is not None
        for s, arc, x in zip(*(y.tolist() for y in c.flow), strict=True):
            wanted[s, arc] += Fraction(w * x, FINE * c.whole)
    assert flows is not None and {(s, arc): x for s, part in flows.items() for arc, x in part.items()} == wanted


def test_flows_that_are_not_kept_apart() -> None:
    found, _, _ = made(3, flows=False)
    assert found.flows() is None
    assert Combination(column([1, 2])).use.tolist() == [0.0, 0.0]


def test_the_fullest_arc_of_almost_equal_ones() -> None:
    """Floats say which arcs are near the fullest; the least of these is exact."""
    found = Combination(column([10**6, 10**6, 10**6]))
    found.add(FullRouting(column([10**9 - 2000, 10**9 - 1, 10**9 + 1]), 7, None))
    assert found.fits() == Fraction(7 * 10**6, 10**9 + 1)
    found.use = np.array([1.0, 1.0 - 0.9e-4, 1.0 - 1.2e-4])
    assert found.fits() == Fraction(7 * 10**6, 10**9 - 1)
    found.use = np.array([1.0, 1.0 - 1e-4, 0.5])
    assert found.fits() == Fraction(7 * 10**6, 10**9 - 1)
    found.use = np.array([1.0, 1.0 - 1.2e-4, 1.0 - 1.2e-4])
    assert found.fits() == Fraction(7 * 10**6, 10**9 - 2000)
    empty = Combination(column([5, 5]))
    empty.add(FullRouting(column([0, 3]), 1, None))
    empty.use = np.array([1.0, 1.0])
    assert empty.fits() == Fraction(5, 3)


# ---------------------------------------------------------------- rounds


def rounds(
    net: Network, demands: Demands, enough: Fraction, budget: Budget, first: int | None = None, own: np.ndarray | None = None
) -> tuple[Combination, Fraction, list[int]]:
    """Routings under lengths that are all equal, then the longer the fuller an arc is; the bound of each; hubs in the end."""
    wanted = node_demands(demands)
    capacity = net.capacity.astype(float)
    best, lengths, found, work = enough, list[int](), Combination(net.capacity), 0
    seen = np.zeros(net.arcs)
    near = False
    for turn in range(budget.combination_rounds):
        length = np.ones(net.arcs, dtype=np.int64)
        if turn:
            length += np.rint((LONGEST - 1) * np.exp((3 + 2 * turn) * (seen / seen.max() - 1))).astype(np.int64)
        left = budget.combination_work - work
        if first is not None and turn == 0:
            left = max(left, first)
        sent = route_on_shortest_paths(net, length, wanted.source, wanted.target, wanted.amount, left, budget.flow_entries)
        if sent is None:
            break
        work += sent.work
        shown = Fraction(int((net.capacity * length).sum()), sent.spent)
        if shown < best:
            best, lengths = shown, length.tolist()
        load = sent.load if own is None else sent.load + own
        seen = seen + (load / PARTS / capacity - seen) * (2 / (turn + 2))
        found.add(FullRouting(load, PARTS, sent.flow if own is None else None, lengths=length))
        near = float(found.use.max()) * float(best) <= 1 + budget.combination_gap
        if near:
            break
    if not found.columns or float(found.use.max()) * float(best) > 1 + budget.hub_gap:
        other = route_over_hubs(net, wanted, budget)
        if other is not None:
            found.add(other)
    return found, best, lengths


def same(found: tuple[Combination, Fraction, np.ndarray], wanted: tuple[Combination, Fraction, list[int]]) -> None:
    assert found[1] == wanted[1] and found[2].tolist() == wanted[2]
    assert found[0].shares == pytest.approx(wanted[0].shares)
    assert len(found[0].columns) == len(wanted[0].columns)
    for one, two in zip(found[0].columns, wanted[0].columns, strict=True):
        assert one.load.tolist() == two.load.tolist() and one.whole == two.whole
        assert (one.lengths is None) == (two.lengths is None) and (one.flow is None) == (two.flow is None)
        if one.lengths is not None and two.lengths is not None:
            assert one.lengths.tolist() == two.lengths.tolist()
        if one.flow is not None and two.flow is not None:
            assert [x.tolist() for x in one.flow] == [x.tolist() for x in two.flow]
        assert one.hubs is None if two.hubs is None else one.hubs is not None


@pytest.mark.parametrize("seed", range(14))
def test_rounds_of_routings(seed: int) -> None:
    net, demands = drawn(seed)
    wanted = node_demands(demands)
    budgets = [Budget(), Budget(combination_rounds=3, hub_gap=-1.0), Budget(combination_gap=-1.0, combination_rounds=5)]
    budgets += [
        Budget(combination_work=60, hub_gap=0.0),
        Budget(flow_entries=6, combination_rounds=4),
        Budget(combination_rounds=0),
    ]
    for budget in budgets:
        for enough in (Fraction(100), Fraction(1, 50)):
            same(combine_routings(net, wanted, enough, budget=budget), rounds(net, demands, enough, budget))
    for first in (0, 10**9):
        budget = Budget(combination_work=10, first_routing_work=first, combination_arcs=0)
        same(combine_routings(net, wanted, Fraction(9), True, budget), rounds(net, demands, Fraction(9), budget, first))


def test_bounds_that_are_near() -> None:
    """The fullest arc times the upper bound is at most 1 and the gap."""
    found: Any = SimpleNamespace(use=np.array([0.25, 0.5]))
    for upper, gap, near in (
        (Fraction(2), 0.0, True),
        (Fraction(201, 100), 0.0, False),
        (Fraction(3), 0.5, True),
        (Fraction(1), -0.5, True),
    ):
        assert _bounds_are_near(found, upper, gap) is near


@pytest.mark.parametrize("seed", range(6))
def test_the_first_of_equal_bounds_and_the_work_of_one_routing(seed: int) -> None:
    """A bound that is only reached shows no lengths; the work of the first routing is just enough, or not."""
    net, demands = drawn(seed)
    wanted, ones = node_demands(demands), np.ones(net.arcs, dtype=np.int64)
    sent = route_on_shortest_paths(net, ones, wanted.source, wanted.target, wanted.amount, 10**9)
    if sent is None:
        return
    shown = Fraction(int(net.capacity.sum()), sent.spent)
    one = Budget(combination_rounds=1, hub_gap=10.0**9)
    assert combine_routings(net, wanted, shown, budget=one)[2].tolist() == []
    assert combine_routings(net, wanted, shown + 1, budget=one)[2].tolist() == ones.tolist()
    for less in (0, 1):
        budget = Budget(combination_work=sent.work - less, hub_gap=10.0**9)
        found = combine_routings(net, wanted, shown, budget=budget)[0]
        assert (found.columns[0].lengths is None if found.columns else True) == bool(less)


def test_loads_that_are_there_anyway() -> None:
    net, demands = drawn(1)
    wanted = node_demands(demands)
    own = np.arange(net.arcs) * PARTS
    given = NodeDemands(wanted.source, wanted.target, wanted.amount, wanted.out, wanted.into, own)
    budget = Budget(hub_gap=10.0**9)
    same(combine_routings(net, given, Fraction(100), budget=budget), rounds(net, demands, Fraction(100), budget, own=own))


def test_networks_that_are_too_large_to_combine() -> None:
    """As many arcs as the limit are, and any number in a quotient; amounts beyond one word have no rounds."""
    net, demands = drawn(1)
    wanted = node_demands(demands)
    assert combine_routings(net, wanted, Fraction(9), budget=Budget(combination_arcs=net.arcs))[0].columns
    found, best, lengths = combine_routings(net, wanted, Fraction(9), budget=Budget(combination_arcs=net.arcs - 1))
    assert (found.columns, found.shares, best, lengths.tolist()) == ([], [], Fraction(9), [])
    assert combine_routings(net, wanted, Fraction(9), True, Budget(combination_arcs=0))[0].columns
    huge = node_demands({pair: x << 60 for pair, x in demands.items()})
    found, best, lengths = combine_routings(net, huge, Fraction(9))
    assert best == 9 and len(lengths) == 0 and all(x.hubs is not None for x in found.columns)


# ---------------------------------------------------------------- hubs


def tops(net: Network, ends: list[int], most: int) -> list[int]:
    """Of every component that all ends reach what is farthest from them, at even distances in its order."""
    arcs = list(zip(net.tail.tolist(), net.head.tolist(), strict=True))
    inner = nx.Graph()
    inner.add_nodes_from(np.flatnonzero(net.forwards).tolist())
    inner.add_edges_from((a, b) for a, b in arcs if net.forwards[a] and net.forwards[b])
    every = nx.DiGraph(arcs)
    every.add_nodes_from([*range(net.nodes), "start"])
    every.add_edges_from(("start", v) for v in ends)
    far = nx.single_source_shortest_path_length(every, "start")
    out = []
    for group in sorted(sorted(c) for c in nx.connected_components(inner)):
        near = {a for a, b in arcs if b in group} | {b for a, b in arcs if a in group} | set(group)
        if set(ends) <= near:
            last = max(far.get(v, 0) for v in group)
            members = [v for v in group if far.get(v, 0) == last]
            out += sorted({members[i] for i in np.linspace(0, len(members) - 1, most).astype(int).tolist()})
    return out


@pytest.mark.parametrize("seed", range(80))
def test_everybody_over_every_hub(seed: int) -> None:
    """What every node sends goes to all hubs, and from them to all that receive, as hubs have capacity."""
    net, demands = drawn(seed)
    wanted = node_demands(demands)
    ends = sorted({v for pair in demands for v in pair})
    for budget in (DEFAULT, Budget(hub_nodes=1), Budget(hub_nodes=2), Budget(hub_work=2 * net.arcs), Budget(hub_work=1)):
        most = max(1, min(budget.hub_nodes, budget.hub_work // net.arcs))
        chosen = tops(net, ends, most)
        found = route_over_hubs(net, wanted, budget)
        if not chosen:
            assert found is None
            continue
        weight = [int(net.capacity[net.head == v].sum()) for v in chosen]
        share = [w // gcd(*weight) for w in weight]
        least = gcd(*wanted.into.tolist(), *wanted.out.tolist())
        parts: Counter[int] = Counter()
        failed = False
        for way, place, side in ((net, np.arange(net.arcs), wanted.into), (net.turned(), net.by_tail, wanted.out)):
            to = np.flatnonzero(side)
            amount = np.outer(column(share), side[to] // least).reshape(-1)
            sent = route_on_shortest_paths(
                way,
                np.ones(net.arcs, dtype=np.int64),
                np.repeat(chosen, len(to)),
                np.tile(to, len(chosen)),
                amount,
                2 * budget.hub_work,
            )
            if sent is None:
                failed = True
                break
            for arc, x in zip(place.tolist(), sent.load.tolist(), strict=True):
                parts[arc] += x
        if failed:
            assert found is None
            continue
        assert found is not None and found.hubs is not None and found.flow is None and found.lengths is None
        assert found.hubs[0].tolist() == chosen and found.hubs[1].tolist() == share
        whole = PARTS * sum(share)
        assert found.whole == whole // gcd(least, whole)
        assert [Fraction(x, found.whole) for x in found.load.tolist()] == [
            Fraction(parts[arc] * least, whole) for arc in range(net.arcs)
        ]


def test_a_host_between_all_others_is_no_hub() -> None:
    """It forwards nothing; the switch beside it is the only hub."""
    links = column([(0, 2), (1, 2), (0, 3), (1, 3)]).T
    net = Network.both_ways(np.array([False, False, False, True]), links[0], links[1])
    found = route_over_hubs(net, node_demands({(0, 1): 1}))
    assert found is not None and found.hubs is not None and found.hubs[0].tolist() == [3]


@pytest.mark.parametrize("last", [(3, 1), (1, 3)])
def test_a_hub_is_reached_by_all_that_send_or_receive(last: tuple[int, int]) -> None:
    """The last host has a link to the first switch alone, and asks for one; the host at the other switch asks for nothing."""
    links = column([(0, 5), (1, 4), (1, 5), (2, 4), (2, 5), (3, 4)]).T
    net = Network.both_ways(np.arange(6) > 3, links[0], links[1])
    found = route_over_hubs(net, node_demands({(1, 2): 3, last: 1}))
    assert found is not None and found.hubs is not None and found.hubs[0].tolist() == [4]


def test_bounds_that_are_near_end_the_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(*given: Any) -> Any:
        calls.append(1)
        return route_on_shortest_paths(*given)

    monkeypatch.setattr(routing_combinations, "route_on_shortest_paths", counted)
    net, demands = drawn(1)
    for gap, rounds_ in ((10.0**9, 1), (-1.0, 5)):
        calls.clear()
        combine_routings(
            net, node_demands(demands), Fraction(9), budget=Budget(combination_gap=gap, combination_rounds=5, hub_gap=10.0**9)
        )
        assert len(calls) == rounds_


def test_hubs_of_amounts_beyond_one_word() -> None:
    net, demands = drawn(1)
    big = node_demands({pair: (1 << 60) + i for i, pair in enumerate(demands)})
    assert route_over_hubs(net, big) is None
    even = node_demands(dict.fromkeys(demands, 1 << 50))
    assert route_over_hubs(net, even) is not None


def test_both_ways_of_equal_amounts_are_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where arcs lead both ways, and all receive what they send, the ways back are those there."""
    calls: list[int] = []

    def counted(*given: Any) -> Any:
        calls.append(1)
        return route_on_shortest_paths(*given)

    monkeypatch.setattr(routing_combinations, "route_on_shortest_paths", counted)
    net, _ = drawn(1)
    everyone = {(s, t): 1 for s in range(2) for t in range(2) if s != t}
    assert route_over_hubs(net, node_demands(everyone)) is not None and len(calls) == 1
    assert route_over_hubs(net, node_demands({(0, 1): 1})) is not None and len(calls) == 3
