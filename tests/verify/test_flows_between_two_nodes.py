"""Maximum flows between two nodes, who computes them and what is taken for one; passes that merge nodes, by their definition."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.prove import max_flow as module
from tdsl.prove.budget import DEFAULT
from tdsl.prove.max_flow import (
    MaxFlow,
    _is_maximum_flow,
    _max_flow_by_scipy,
    _maximum_adjacency_pass,
    _own_max_flow,
    inseparable_groups,
    max_flow,
)
from tdsl.prove.network import Network
from tdsl.prove.search import adjacency_network

Arcs = list[tuple[int, int, int]]


def network(nodes: int, arcs: Arcs, both: bool = False) -> Network:
    a, b, c = (np.array([x[i] for x in arcs], dtype=np.int64) for i in range(3))
    return (Network.both_ways if both else Network.of)(np.ones(nodes, dtype=np.bool_), a, b, c)


def chance(seed: int) -> tuple[Network, int, int]:
    """Arcs one way, both ways, or both ways with capacities of their own; the source and the sink."""
    rng = Random(seed)
    nodes = rng.randint(2, 8)
    pairs = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.randint(1, 18))]
    unit = rng.choice([1, 1, 3, 10**10])
    arcs = [(a, b, unit * rng.randint(1, 6)) for a, b in pairs if a != b]
    if seed % 3 == 1:
        arcs += [(b, a, unit * rng.randint(1, 6)) for a, b, _ in arcs]
    source, sink = rng.sample(range(nodes), 2)
    return network(nodes, arcs, seed % 3 == 0), source, sink


@pytest.mark.parametrize("search", [_own_max_flow, _max_flow_by_scipy])
def test_flows_and_the_least_side_of_a_cut(search: object) -> None:
    """A flow of the value of networkx; the side is what the source reaches over arcs that are not full, or against flow."""
    found_any = 0
    for seed in range(210):
        net, source, sink = chance(seed)
        if not net.arcs:
            continue
        judge = nx.DiGraph()
        judge.add_nodes_from(range(net.nodes))
        arcs = list(zip(net.tail.tolist(), net.head.tolist(), net.capacity.tolist(), strict=True))
        judge.add_weighted_edges_from(arcs, weight="capacity")
        found = search(net, source, sink)  # type: ignore[operator]
        assert found is not None and found.value == nx.maximum_flow_value(judge, source, sink), seed
        assert _is_maximum_flow(net, found, source, sink), seed
        flow = {(a, b): x for (a, b, _), x in zip(arcs, found.flow.tolist(), strict=True)}
        assert all(0 <= flow[a, b] <= c for a, b, c in arcs), seed
        for v in range(net.nodes):
            gain = sum(x for (_, b), x in flow.items() if b == v) - sum(x for (a, _), x in flow.items() if a == v)
            assert gain == {source: -found.value, sink: found.value}.get(v, 0), seed
        left = nx.DiGraph()
        left.add_nodes_from(range(net.nodes))
        left.add_edges_from((a, b) for a, b, c in arcs if flow[a, b] < c)
        left.add_edges_from((b, a) for a, b, _ in arcs if flow[a, b] > 0)
        assert np.flatnonzero(found.side).tolist() == sorted({source} | nx.descendants(left, source)), seed
        found_any += found.value > 0
    assert found_any > 80


@pytest.mark.parametrize("search", [_own_max_flow, _max_flow_by_scipy])
def test_flow_is_led_another_way(search: object) -> None:
    """What goes from 0 over 1 and 3 to 5 at first has to go over 4, so that 2 can send over 3; the other way round, too."""
    arcs = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 3), (3, 5), (4, 5)]
    for number in ((0, 1, 2, 3, 4, 5), (5, 3, 4, 1, 2, 0), (0, 2, 1, 4, 3, 5)):
        for unit in (1, 7):
            net = network(6, [(number[a], number[b], unit) for a, b in arcs])
            found = search(net, number[0], number[5])  # type: ignore[operator]
            assert found is not None and found.value == 2 * unit and _is_maximum_flow(net, found, number[0], number[5])


@pytest.mark.parametrize("arcs", [2**15 - 2, 2**15, 2**15 + 2])
def test_scipy_searches_large_networks(arcs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 32,768 arcs on; below, our own search answers."""
    links = [(i, 200 + j) for i in range(200) for j in range(200)][: arcs // 2]
    net = network(400, [(a, b, 1) for a, b in links], both=True)
    assert net.arcs == arcs
    made = MaxFlow(0, np.zeros(arcs, dtype=np.int64), np.zeros(400, dtype=np.bool_))
    asked = []
    monkeypatch.setattr(module, "_max_flow_by_scipy", lambda *_: asked.append("scipy") or made)
    monkeypatch.setattr(module, "_own_max_flow", lambda *_: asked.append("own") or made)
    monkeypatch.setattr(module, "_is_maximum_flow", lambda *_: True)
    assert max_flow(net, 0, 200) is made
    assert asked == (["scipy"] if arcs >= 2**15 else ["own"])


@pytest.mark.parametrize(
    ("out", "into", "unit", "asked"),
    [
        ([2**30 - 1], [2**30 - 1], 1, True),
        ([2**30 - 2, 1], [2**30 - 1], 1, True),
        ([2**30 - 1, 1], [2**30 + 7], 1, False),
        ([2**30 + 7], [2**30 - 1, 1], 1, False),
        ([2**30 + 7], [2**30 - 1], 1, True),
        ([2**30 - 1], [2**30 + 7], 1, True),
        ([2**29, 2**29], [2**30], 1, True),
        ([2**30 - 1], [2**30 - 1], 9, True),
        ([2**30 - 1, 1], [2**30 + 7, 1], 9, False),
    ],
)
def test_scipy_is_not_asked_beyond_its_numbers(out: list[int], into: list[int], unit: int, asked: bool) -> None:
    """What the source gives, or what the sink takes, is less than 2^30 units of capacity."""
    arcs = [(0, 2 + i, c * unit) for i, c in enumerate(out)] + [(2 + i, 1, c * unit) for i, c in enumerate(into)]
    net = network(2 + max(len(out), len(into)), arcs)
    found = _max_flow_by_scipy(net, 0, 1)
    assert (found is not None) == asked
    if found is not None:
        assert found.value == unit * sum(min(a, b) for a, b in zip(out, into, strict=False))


SQUARE: Arcs = [(0, 1, 2), (1, 5, 1), (2, 3, 1), (3, 4, 1), (4, 2, 1), (1, 2, 1)]
"""From 0 over 1 to 5 flows one; 2, 3 and 4 are a cycle beside it."""


def forged(flow: dict[tuple[int, int], int], side: set[int], value: int) -> bool:
    net = network(6, SQUARE)
    column = [flow.get(pair, 0) for pair in zip(net.tail.tolist(), net.head.tolist(), strict=True)]
    return _is_maximum_flow(net, MaxFlow(value, np.array(column), np.isin(np.arange(6), list(side))), 0, 5)


def test_what_is_no_maximum_flow() -> None:
    """One thing at a time is wrong with each."""
    way, side = {(0, 1): 1, (1, 5): 1}, {0, 1, 2, 3, 4}
    cycle = [(2, 3), (3, 4), (4, 2)]
    assert forged(way, side, 1) and forged(way | dict.fromkeys(cycle, 1), side, 1)
    assert not forged(way | dict.fromkeys(cycle, -1), side, 1)
    assert not forged(way | dict.fromkeys(cycle, 2), side, 1)
    assert not forged(way, {0}, 1)
    assert not forged({}, side, 1)
    assert not forged({}, side, 0)
    assert not forged(way, side, 2)
    assert not forged(way | {(2, 3): 1}, side, 1)
    assert not forged({(0, 1): 1}, side, 1) and not forged({(1, 5): 1}, side, 1)
    nothing = network(3, [(1, 2, 1)])
    for inside, right in (([True, False, False], True), ([False] * 3, False), ([True] * 3, False), ([True, True, False], False)):
        assert _is_maximum_flow(nothing, MaxFlow(0, np.zeros(1, dtype=np.int64), np.array(inside)), 0, 2) is right


# ---------------------------------------------------------------- groups of nodes


def multigraph(seed: int) -> Network:
    rng = Random(seed)
    nodes = rng.randint(1, 9)
    ends = np.array([(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.randint(0, 4 * nodes))], dtype=np.int64)
    ends = ends.reshape(-1, 2)
    return adjacency_network(nodes, ends[:, 0], ends[:, 1])


def merged(graph: Network, k: int) -> list[frozenset[int]]:
    """Groups after one pass: next comes the node with the most links (k at most) to those before, of those with the same number
    the one that has had it for the shortest time; a node is merged with the one that makes its links k or more."""
    part = {v: frozenset({v}) for v in range(graph.nodes)}
    links, since, clock = dict.fromkeys(part, 0), {v: -v for v in part}, 1
    waiting = set(part)
    while waiting:
        v = max(waiting, key=lambda w: (links[w], since[w]))
        waiting.discard(v)
        for w, count in zip(
            graph.neighbours(v).tolist(), graph.capacity[graph.start[v] : graph.start[v + 1]].tolist(), strict=True
        ):
            if w not in waiting:
                continue
            if links[w] + count >= k:
                whole = part[v] | part[w]
                part |= dict.fromkeys(whole, whole)
            if min(links[w] + count, k) > links[w]:
                links[w], since[w], clock = min(links[w] + count, k), clock, clock + 1
    return sorted(set(part.values()), key=min)


def groups(label: list[int]) -> list[frozenset[int]]:
    return sorted({frozenset(i for i, x in enumerate(label) if x == y) for y in label}, key=min)


def test_one_pass_merges_by_the_order_of_most_links() -> None:
    several = 0
    for seed in range(240):
        graph, k = multigraph(seed), 1 + seed % 5
        found = groups(_maximum_adjacency_pass(graph, k).tolist())
        assert found == merged(graph, k), (seed, k)
        several += 1 < len(found) < graph.nodes
    assert several > 40


TWICE = "33 27 74 38 46 81 85 35 32 20 27 18 80 22 47 71 78 31 14 34 38 03 10 61 47 85"
"""Links of nine nodes; some node gets more links after it was put in the order, and its first place there comes after it."""


def test_links_of_a_node_count_once() -> None:
    ends = np.array([[int(x) for x in pair] for pair in TWICE.split()])
    graph = adjacency_network(9, ends[:, 0], ends[:, 1])
    for k in range(1, 9):
        assert groups(_maximum_adjacency_pass(graph, k).tolist()) == merged(graph, k)


def test_passes_repeat_until_nothing_is_merged() -> None:
    """Each pass counts the arcs that it looks at, and begins while some work is left."""
    repeated = 0
    for seed in range(200):
        graph, k = multigraph(seed), 1 + seed % 5
        whole = groups(inseparable_groups(graph, k).tolist())
        label, small, work = np.arange(graph.nodes), graph, 0
        while True:
            before = inseparable_groups(graph, k, replace(DEFAULT, contraction_work=work))
            assert groups(before.tolist()) == groups(label.tolist()), (seed, work)
            if small.nodes < 2 or not small.arcs:
                break
            _, place = np.unique(_maximum_adjacency_pass(small, k), return_inverse=True)
            label = place[label]
            after = inseparable_groups(graph, k, replace(DEFAULT, contraction_work=work + 1))
            assert groups(after.tolist()) == groups(label.tolist()), (seed, work)
            work += small.arcs
            if int(place.max()) + 1 == small.nodes:
                break
            small = small.contracted(place, int(place.max()) + 1)
            repeated += 1
        assert groups(label.tolist()) == whole, seed
    assert repeated > 60


def test_two_nodes_are_a_group_from_as_many_links_on() -> None:
    for links in range(1, 4):
        graph = adjacency_network(2, np.zeros(links, dtype=np.int64), np.ones(links, dtype=np.int64))
        for k in range(1, 5):
            assert len(set(inseparable_groups(graph, k).tolist())) == (1 if links >= k else 2)
