"""The fewest devices that separate, against networkx and every set of devices."""

from __future__ import annotations

from collections.abc import Set
from itertools import combinations, pairwise
from random import Random

import networkx as nx
import pytest

from tdsl.prove.disjoint import WorkExhausted, WorkLeft, separator_from_set, separator_of_devices, separator_of_terminals

PLENTY = 10**9
Graph = dict[int, set[int]]


def graphs() -> list[nx.Graph]:
    r = Random(5)
    made = [nx.gnm_random_graph(n, r.randint(n, 3 * n), seed=n * 31 + k) for n in range(4, 13) for k in range(3)]
    return [*made, nx.petersen_graph(), nx.path_graph(7), nx.hypercube_graph(3), nx.barbell_graph(4, 2), nx.empty_graph(4)]


GRAPHS = [nx.convert_node_labels_to_integers(g) for g in graphs()]


def cut(g: nx.Graph, start: set[int], goal: set[int], without: set[int], devices: frozenset[int]) -> bool:
    """Whether nothing of one set reaches the other without these devices."""
    left = g.subgraph(set(g) - without - devices)
    return not any(nx.has_path(left, x, y) for x in start & set(left) for y in goal & set(left))


def near_of(g: nx.Graph) -> dict[int, set[int]]:
    return {v: set(g[v]) for v in g}


def paths(g: nx.Graph, start: set[int], goal: set[int], without: set[int]) -> int:
    """Paths from one set to another that share no node, members of both included."""
    d = nx.DiGraph()
    for v in set(g) - without:
        d.add_edge((v, "in"), (v, "out"), capacity=1)
        d.add_edges_from(((v, "out"), (w, "in")) for w in g[v] if w not in without)
        if v in start:
            d.add_edge("s", (v, "in"))
        if v in goal:
            d.add_edge((v, "out"), "t")
    d.add_nodes_from("st")
    return int(nx.maximum_flow_value(d, "s", "t"))


@pytest.mark.parametrize("at", range(len(GRAPHS)))
def test_fans_are_as_wide_as_flows(at: int) -> None:
    g, r = GRAPHS[at], Random(at)
    near = near_of(g)
    for _ in range(12):
        start = set(r.sample(range(len(g)), r.randint(1, 3)))
        goal = set(r.sample(range(len(g)), r.randint(1, 4)))
        without = set(r.sample(range(len(g)), r.randint(0, 2)))
        wanted = paths(g, start, goal, without)
        steps = nx.multi_source_dijkstra_path_length(g, goal) if r.random() < 0.5 else None
        for limit in (1, wanted, wanted + 1, wanted + 3):
            found = separator_from_set(near, sorted(start), goal - without, without, limit, WorkLeft(PLENTY), steps)
            if wanted >= limit:
                assert found is None
            else:
                assert found is not None and len(found) == wanted and cut(g, start, goal, without, found)


def apart(g: nx.Graph, u: int, v: int) -> int:
    """Paths between two that share no other node; a link is one."""
    left = g.copy()
    joined = left.has_edge(u, v)
    if joined:
        left.remove_edge(u, v)
    return joined + paths(left, set(left[u]), set(left[v]), {u, v})


@pytest.mark.parametrize("at", range(len(GRAPHS)))
def test_the_weakest_pair(at: int) -> None:
    g, r = GRAPHS[at], Random(at)
    near = near_of(g)
    for terminals in (list(g), r.sample(list(g), max(2, len(g) // 2)), r.sample(list(g), 2)):
        for joined in (True, False):
            every = [apart(g, u, v) for u, v in combinations(terminals, 2) if joined or not g.has_edge(u, v)]
            for limit in (1, 2, 3, 5, len(g)):
                found = separator_of_terminals(near, terminals, limit, joined, WorkLeft(PLENTY))
                least = min(every, default=limit)
                if least >= limit:
                    assert found is None
                    continue
                assert found is not None and found.value == least
                u, v = found.pair
                assert {u, v} <= set(terminals) and u != v and not {u, v} & found.devices
                assert found.joined == (joined and g.has_edge(u, v))
                left = g.copy()
                left.remove_nodes_from(found.devices)
                left.remove_edges_from([(u, v)] if found.joined else [])
                assert not nx.has_path(left, u, v)
    for u, v in combinations(list(g)[:5], 2):
        wanted = apart(g, u, v)
        assert separator_of_devices(near, u, v, wanted, WorkLeft(PLENTY)) is None
        found = separator_of_devices(near, u, v, wanted + 1, WorkLeft(PLENTY))
        assert found is not None and found.value == wanted and found.pair == (u, v) and found.joined == g.has_edge(u, v)


def test_work_is_counted_and_ends() -> None:
    g = nx.cycle_graph(30)
    with pytest.raises(WorkExhausted):
        separator_from_set(near_of(g), [0], {15}, set(), 2, WorkLeft(10))
    work = WorkLeft(PLENTY)
    assert separator_from_set(near_of(g), [0], {1}, set(), 1, work) is None and PLENTY - 10 < work.left < PLENTY


def steps_to(near: Graph, goal: Set[int]) -> dict[int, int]:
    found = dict.fromkeys(goal, 0)
    for v in (queue := list(goal)):
        for w in near[v]:
            if w not in found:
                found[w] = found[v] + 1
                queue.append(w)
    return found


def ways(near: Graph, v: int, goal: Set[int]) -> int:
    """Paths of one step or two that share no device, where each neighbour in turn takes the first device of the goal left."""
    used = near[v] & goal
    found = len(used)
    for w in near[v]:
        left = [x for x in near[w] if x in goal and x not in used]
        if w not in goal and left:
            used = used | {left[0]}
            found += 1
    return found


def test_a_path_that_is_taken_back_leaves_its_devices() -> None:
    """First 0, 1, 2; then 3 needs 2, so that 0 goes by 4 and 5 to 6, and 1 is used no more: a long way from 7 leads over it."""
    ways = [(0, 1, 2), (3, 20, 21, 2), (0, 4, 5, 6), (7, *range(30, 42), 1, *range(8, 14))]
    near: Graph = {}
    for x, y in (link for way in ways for link in pairwise(way)):
        near.setdefault(x, set()).add(y)
        near.setdefault(y, set()).add(x)
    goal = {2, 6, 13}
    for guide in (None, steps_to(near, goal)):
        for count in range(1, 4):
            assert separator_from_set(near, [0, 3, 7][:count], goal, set(), count, WorkLeft(PLENTY), guide) is None
            found = separator_from_set(near, [0, 3, 7][:count], goal, set(), count + 1, WorkLeft(PLENTY), guide)
            assert found is not None and len(found) == count


def test_ways_of_two_steps_that_end_at_one_device_are_one() -> None:
    """Four that are joined each to each; a fifth is linked to one of them, and by two others to the same one."""
    g = nx.complete_graph(4)
    g.add_edges_from([(4, 0), (4, 5), (4, 6), (5, 0), (6, 0)])
    found = separator_of_terminals(near_of(g), [0, 1, 2, 3, 4], 3, False, WorkLeft(PLENTY))
    assert found is not None and found.devices == {0} and 4 in found.pair
