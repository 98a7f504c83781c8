"""Single steps of the bounds of concurrent flow on small random networks, against their definitions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random

import highspy
import networkx as nx
import numpy as np
import pytest

from tdsl.prove import concurrent_flow
from tdsl.prove.bound import ArcLengths, Bound, PortBound
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.concurrent_flow import (
    FAR,
    _bound_by_lengths,
    _decompose_into_paths,
    _divide_over_shortest_paths,
    _fit_factor,
    _mark_fullest_arcs,
    _round_arc_program,
    _round_to_fractions,
    _widest_path,
    concurrent_flow_bounds,
    shortest_distances,
)
from tdsl.prove.network import Network
from tdsl.prove.routed_demand import Expanded, RoutedLoads, targets_by_source

Demands = dict[tuple[int, int], int]


def network(seed: int, directed: bool = True) -> tuple[Network, Demands]:
    """A random network, in which some nodes do not forward, and demands between some nodes."""
    rng = Random(seed)
    nodes = rng.randint(3, 7)
    forwards = np.array([rng.random() < 0.7 for _ in range(nodes)])
    links = {tuple(rng.sample(range(nodes), 2)): rng.randint(1, 6) for _ in range(rng.randint(nodes, 3 * nodes))}
    a, b = np.array(list(links), dtype=np.int64).T
    made = Network.of if directed else Network.both_ways
    net = made(forwards, a, b, np.array(list(links.values()), dtype=np.int64))
    demands = {tuple(rng.sample(range(nodes), 2)): rng.randint(1, 5) for _ in range(rng.randint(1, 4))}
    return net, demands  # type: ignore[return-value]


def reachable(net: Network, demands: Demands) -> bool:
    return all(nx.has_path(between(net, s, [1] * net.arcs), s, t) for s, t in demands)


def between(net: Network, source: int, length: list[int]) -> nx.DiGraph:
    """What a source can use: the arcs out of it and out of nodes that forward."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(net.nodes))
    for arc in range(net.arcs):
        a, b = int(net.tail[arc]), int(net.head[arc])
        if a == source or net.forwards[a]:
            graph.add_edge(a, b, length=length[arc], arc=arc, capacity=int(net.capacity[arc]))
    return graph


def optimum(net: Network, demands: Demands) -> float:
    """All demands together at the greatest common factor: one linear program, with a flow for every source."""
    h = highspy.Highs()
    h.setOptionValue("output_flag", False)
    rate = h.addVariable(0, highspy.kHighsInf)
    used: list[list[object]] = [[] for _ in range(net.arcs)]
    for s in {s for s, _ in demands}:
        flow = {}
        for arc in range(net.arcs):
            if (net.tail[arc] == s or net.forwards[net.tail[arc]]) and net.head[arc] != s:
                flow[arc] = h.addVariable(0, highspy.kHighsInf)
                used[arc].append(flow[arc])
        for v in range(net.nodes):
            if v != s:
                into = [x for arc, x in flow.items() if net.head[arc] == v]
                out = [x for arc, x in flow.items() if net.tail[arc] == v]
                h.addConstr(h.qsum(into) - h.qsum(out) - demands.get((s, v), 0) * rate == 0)
    for arc, flows in enumerate(used):
        if flows:
            h.addConstr(h.qsum(flows) <= int(net.capacity[arc]))
    h.maximize(rate)
    return float(h.val(rate))


@pytest.mark.parametrize("first", [0, 100])
def test_distances_to_targets(first: int) -> None:
    """Nothing passes a node that does not forward; nodes that are nearer than the farthest target have theirs, too."""
    for seed in range(first, first + 100):
        net, demands = network(seed)
        rng = Random(seed)
        length = [rng.randint(0, 5) for _ in range(net.arcs)]
        for s in {s for s, _ in demands}:
            targets = [t for a, t in demands if a == s]
            exact = nx.single_source_dijkstra_path_length(between(net, s, length), s, weight="length")
            found = shortest_distances(net, length, s, targets)
            farthest = max(exact.get(t, FAR) for t in targets)
            for v in range(net.nodes):
                wanted = exact.get(v, FAR)
                assert found[v] == wanted if wanted < farthest or v in targets else found[v] >= wanted, (seed, s, v)


def divided_by_hand(net: Network, length: list[int], source: int, wanted: dict[int, int]) -> dict[int, Fraction] | None:
    """Each node divides what it gets back among the last arcs of shortest paths, as they have capacity."""
    graph = between(net, source, length)
    far = nx.single_source_dijkstra_path_length(graph, source, weight="length")
    if any(t not in far for t in wanted):
        return None
    load: dict[int, Fraction] = {}
    amount = {t: Fraction(x) for t, x in wanted.items()}
    for v in sorted(far, key=lambda v: -far[v]):
        if v == source or not amount.get(v):
            continue
        tight = [
            (u, e["arc"], e["capacity"]) for u, _, e in graph.in_edges(v, data=True) if far.get(u, FAR) + e["length"] == far[v]
        ]
        total = sum(c for _, _, c in tight)
        for u, arc, c in tight:
            load[arc] = load.get(arc, Fraction(0)) + amount[v] * c / total
            amount[u] = amount.get(u, Fraction(0)) + amount[v] * c / total
    return load


@pytest.mark.parametrize("first", [0, 100])
def test_what_a_source_sends_along_its_shortest_paths(first: int) -> None:
    for seed in range(first, first + 100):
        net, demands = network(seed)
        rng = Random(seed)
        for length in ([1] * net.arcs, [rng.randint(1, 3) for _ in range(net.arcs)]):
            for s, wanted in targets_by_source(demands).items():
                assert _divide_over_shortest_paths(net, length, s, wanted) == divided_by_hand(net, length, s, wanted), seed


@pytest.mark.parametrize("first", [0, 100])
def test_what_lengths_prove(first: int) -> None:
    """Capacity times length over demand times distance, if that is less than what is known."""
    for seed in range(first, first + 100):
        net, demands = network(seed)
        rng = Random(seed)
        length = [rng.randint(0, 2) for _ in range(net.arcs)]
        if not reachable(net, demands):
            continue
        spent = sum(x * nx.dijkstra_path_length(between(net, s, length), s, t, weight="length") for (s, t), x in demands.items())
        total = sum(c * x for c, x in zip(net.capacity.tolist(), length, strict=True))
        shown = Fraction(total, spent) if spent else None
        for top in (Fraction(1000), shown or Fraction(0)):
            start: Bound = Bound(Fraction(0), top, RoutedLoads(0), PortBound())
            found = _bound_by_lengths(net, targets_by_source(demands), start, length)
            if shown is None or shown >= top:
                assert found is start
            else:
                assert found.upper == shown and isinstance(found.proof_upper, ArcLengths)
                assert (found.proof_upper.length.tolist(), found.lower) == (length, 0)


def test_how_often_a_load_fits() -> None:
    net = Network.of(np.ones(3, dtype=np.bool_), *(np.array(x) for x in ([0, 1, 2], [1, 2, 0], [6, 10, 14])))
    order = dict(zip(net.tail.tolist(), range(3), strict=True))
    load = {order[0]: Fraction(4), order[1]: Fraction(20, 3), order[2]: Fraction(0)}
    assert _fit_factor(net, load) == Fraction(3, 2) and _fit_factor(net, {}) == _fit_factor(net, {0: Fraction(0)}) == 0
    assert _mark_fullest_arcs(net, load) == [int(arc != order[2]) for arc in range(3)]
    assert _mark_fullest_arcs(net, load | {order[1]: Fraction(6)}) == [int(arc == order[0]) for arc in range(3)]
    assert _mark_fullest_arcs(net, {}) == [0, 0, 0] and _mark_fullest_arcs(net, {order[2]: Fraction(1)}) == [
        int(arc == order[2]) for arc in range(3)
    ]


@pytest.mark.parametrize("first", [0, 150])
def test_the_widest_path(first: int) -> None:
    """The least of its arcs is as large as can be; nothing passes a node that does not forward, or an arc with nothing left."""
    for seed in range(first, first + 150):
        net, demands = network(seed)
        rng = Random(seed)
        left = np.array([rng.choice([0.0, 1e-13, 1e-12, 0.5, 1.0, 2.0, 3.0]) for _ in range(net.arcs)])
        for s, t in demands:
            path = _widest_path(net, left, s, t)
            best = 0.0
            for width in sorted({*left.tolist()}):
                graph = between(net, s, [1] * net.arcs)
                graph.remove_edges_from([(u, v) for u, v, e in graph.edges(data=True) if left[e["arc"]] < max(width, 1e-12)])
                if width > 1e-12 and nx.has_path(graph, s, t):
                    best = width
            assert (min(float(left[arc]) for arc in path) if path else 0.0) == best, (seed, s, t)
            assert path or path == []
            if path:
                at = [s, *(int(net.head[arc]) for arc in path)]
                assert at[:-1] == [int(net.tail[arc]) for arc in path] and at[-1] == t and len({*at}) == len(at)
                assert all(net.forwards[v] for v in at[1:-1])


def test_flows_as_paths() -> None:
    """Of every demand the parts of its paths are one together, and paths carry no more than the flow of the source does."""
    for seed in range(120):
        net, demands = network(seed)
        rng = Random(seed)
        by_source = targets_by_source(demands)
        if not reachable(net, demands):
            continue
        values = []
        for s, wanted in by_source.items():
            flow = np.zeros(net.arcs)
            for t, amount in wanted.items():
                graph = between(net, s, [1] * net.arcs)
                every = list(nx.all_simple_paths(graph, s, t))
                weights = [rng.randint(1, 4) for _ in every]
                for path, weight in zip(every, weights, strict=True):
                    for u, v in pairwise(path):
                        flow[graph[u][v]["arc"]] += amount * weight / sum(weights)
            for arc in net.into[s]:
                assert flow[arc] == 0
            values.append(flow)
        found = _decompose_into_paths(net, by_source, values)
        assert [(s, amount) for s, amount, _ in found] == [(s, x) for s, wanted in by_source.items() for x in wanted.values()]
        targets = iter([(s, t) for s, wanted in by_source.items() for t in wanted])
        load = dict.fromkeys(by_source, 0)
        carried = {s: np.zeros(net.arcs) for s in by_source}
        for s, amount, parts in found:
            source, target = next(targets)
            assert source == s and sum(x for x, _ in parts) == pytest.approx(1) and load[s] == 0
            for x, path in parts:
                assert x > 0
                at = [s, *(int(net.head[arc]) for arc in path)]
                assert at[:-1] == [int(net.tail[arc]) for arc in path] and at[-1] == target
                assert all(net.forwards[v] for v in at[1:-1])
                carried[s][path] += amount * x
        for (s, wanted), flow in zip(by_source.items(), values, strict=True):
            if len(wanted) == 1:
                assert (carried[s] <= flow + 1e-6).all(), seed


def test_flows_that_carry_less_than_is_asked() -> None:
    """A demand without a path gets the one that has most left with a little everywhere; paths of next to nothing are left out."""
    ends = [np.array(x) for x in ([0, 0, 0, 2], [1, 2, 3, 1])]
    net = Network.of(np.ones(4, dtype=np.bool_), *ends, np.ones(4, dtype=np.int64))
    arc = {(int(a), int(b)): i for i, (a, b) in enumerate(zip(net.tail, net.head, strict=True))}

    def flow(**amounts: float) -> np.ndarray:
        out = np.zeros(4)
        for name, x in amounts.items():
            out[arc[int(name[1]), int(name[2])]] = x
        return out

    assert _decompose_into_paths(net, {0: {1: 1, 3: 1}}, [flow(f01=2.0)]) == [
        (0, 1, [(1.0, [arc[0, 1]])]),
        (0, 1, [(1.0, [arc[0, 3]])]),
    ]
    assert _decompose_into_paths(net, {0: {1: 5}}, [flow(f01=0.5, f02=0.5, f21=1e-10)]) == [(0, 5, [(1.0, [arc[0, 1]])])]
    assert _decompose_into_paths(net, {0: {1: 4}}, [flow(f01=0.5, f02=0.5, f21=0.5)]) == [
        (0, 4, [(0.5, [arc[0, 1]]), (0.5, [arc[0, 2], arc[2, 1]])])
    ]
    assert _decompose_into_paths(net, {0: {3: 2}}, [flow()]) == [(0, 2, [(1.0, [arc[0, 3]])])]


@pytest.mark.parametrize(("first", "count"), [(0, 8), (8, 8)])
def test_bounds_of_every_method_hold(first: int, count: int) -> None:
    """By the program over arcs the bounds are equal and the optimum; by other methods it is between them."""
    none = replace(DEFAULT, arc_program_cells=0)
    budgets: dict[str, Budget] = {
        "arcs": DEFAULT,
        "paths": none,
        "combined": replace(none, path_program_rows=0),
        "large": replace(none, routing_work=0),
        "trees": replace(none, routing_work=0, combination_arcs=0),
    }
    for seed in range(first, first + count):
        net, demands = network(seed, directed=False)
        if not reachable(net, demands):
            assert all(concurrent_flow_bounds(net, demands, Fraction(100), DEFAULT) is None for _ in budgets)
            continue
        exact = optimum(net, demands)
        for top in (Fraction(100), Fraction(1, 100))[: 1 + (seed % 5 == 0)]:
            wanted = min(exact, float(top))
            for name, budget in budgets.items():
                found = concurrent_flow_bounds(net, demands, top, budget)
                if found is None:
                    assert name in ("trees", "large")
                    continue
                assert found.lower <= wanted * (1 + 1e-9) and found.upper >= wanted * (1 - 1e-9), (seed, name)
                assert found.lower <= found.upper <= top
                if name == "arcs":
                    assert found.lower == found.upper, seed
                if isinstance(found.proof_upper, ArcLengths):
                    start: Bound = Bound(Fraction(0), Fraction(1000), RoutedLoads(0), PortBound())
                    again = _bound_by_lengths(net, targets_by_source(demands), start, found.proof_upper.length.tolist())
                    assert again.upper == found.upper, (seed, name)
                else:
                    assert found.upper == top
                if not isinstance(found.proof_lower, Expanded) and found.proof_lower.load:
                    assert min(_fit_factor(net, found.proof_lower.load), found.upper) == found.lower, (seed, name)


def test_routes_and_lengths_of_an_optimum() -> None:
    """The last of the proposals has fractions: both of its bounds are the optimum."""
    for seed in range(40):
        net, demands = network(seed)
        if not reachable(net, demands):
            continue
        proposals = list(_round_arc_program(net, targets_by_source(demands), DEFAULT))
        assert len(proposals) == 10
        exact = optimum(net, demands)
        for routed, lengths in proposals:
            start: Bound = Bound(Fraction(0), Fraction(1000), RoutedLoads(0), PortBound())
            assert _bound_by_lengths(net, targets_by_source(demands), start, lengths).upper >= exact * (1 - 1e-9)
            if routed is not None:
                assert _fit_factor(net, routed.load) <= exact * (1 + 1e-9)
                for v in range(net.nodes):
                    gain = sum(routed.load.get(arc, 0) for arc in net.into[v]) - sum(
                        routed.load.get(arc, 0) for arc in net.out[v]
                    )
                    wanted = sum(x for (_, t), x in demands.items() if t == v) - sum(x for (s, _), x in demands.items() if s == v)
                    assert gain == wanted, (seed, v)
        routed, lengths = proposals[-1]
        assert routed is not None and float(_fit_factor(net, routed.load)) == pytest.approx(exact, rel=1e-3)
        assert float(_bound_by_lengths(net, targets_by_source(demands), start, lengths).upper) == pytest.approx(exact, rel=1e-6)


def test_parts_that_are_more_than_one_are_cut() -> None:
    """Of three paths with parts that are 1.2 together the largest gives way, and nothing is sent along a path of no part."""
    found = _round_to_fractions(DEFAULT, [(0, 6, [(0.5, [0]), (0.4, [1]), (0.3, [2]), (0.0, [3])])])
    assert {k: Fraction(v) for k, v in found.load.items()} == {0: Fraction(9, 5), 1: Fraction(12, 5), 2: Fraction(9, 5)}
    found = _round_to_fractions(DEFAULT, [(2, 6, [(0.9, [0]), (0.8, [1]), (0.7, [2])])])
    assert found.load == {1: Fraction(24, 5), 2: Fraction(6, 5)}
    assert concurrent_flow.SMALL == 10_000 and concurrent_flow.MOST == 10**12
