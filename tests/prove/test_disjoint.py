"""The fewest devices that separate, against networkx and every set of devices."""

from __future__ import annotations

from itertools import combinations, pairwise
from random import Random

import networkx as nx
import pytest

from tdsl.prove.disjoint import WorkExhausted, WorkLeft, separator_from_set, separator_of_devices, separator_of_terminals

PLENTY = 10**9


def graphs() -> list[nx.Graph]:
    r = Random(5)
    made = [nx.gnm_random_graph(n, r.randint(n, 3 * n), seed=n * 31 + k) for n in range(4, 13) for k in range(3)]
    made += [nx.petersen_graph(), nx.path_graph(7), nx.hypercube_graph(3), nx.barbell_graph(4, 2), nx.empty_graph(4)]
    return [nx.convert_node_labels_to_integers(g) for g in made]


def near_of(g: nx.Graph) -> dict[int, set[int]]:
    return {v: set(g[v]) for v in g}


def paths(g: nx.Graph, start: set[int], goal: set[int], without: set[int]) -> int:
    """Paths from one set to another that share no node, members of both included."""
    d = nx.DiGraph()
    d.add_nodes_from("st")
    for v in set(g) - without:
        d.add_edge((v, "in"), (v, "out"), capacity=1)
        d.add_edges_from(((v, "out"), (w, "in")) for w in g[v] if w not in without)
        d.add_edges_from([("s", (v, "in"))] * (v in start) + [((v, "out"), "t")] * (v in goal))
    return int(nx.maximum_flow_value(d, "s", "t"))


def test_fans_are_as_wide_as_flows() -> None:
    for at, g in enumerate(graphs()):
        r, near = Random(at), near_of(g)
        for _ in range(8):
            start, goal, without = (set(r.sample(range(len(g)), r.randint(*x))) for x in ((1, 3), (1, 4), (0, 2)))
            wanted = paths(g, start, goal, without)
            steps = nx.multi_source_dijkstra_path_length(g, goal) if r.random() < 0.5 else None
            for limit in (1, wanted, wanted + 1, wanted + 3):
                found = separator_from_set(near, sorted(start), goal - without, without, limit, WorkLeft(PLENTY), steps)
                if wanted >= limit:
                    assert found is None
                    continue
                assert found is not None and len(found) == wanted
                left = g.subgraph(set(g) - without - found)
                assert not any(nx.has_path(left, x, y) for x in start & set(left) for y in goal & set(left))


def apart(g: nx.Graph, u: int, v: int) -> int:
    """Paths between two that share no other node; a link is one."""
    left, joined = g.copy(), g.has_edge(u, v)
    left.remove_edges_from([(u, v)])
    return joined + paths(left, set(left[u]), set(left[v]), {u, v})


def test_the_weakest_pair() -> None:
    for at, g in enumerate(graphs()):
        r, near = Random(at), near_of(g)
        value = {(u, v): apart(g, u, v) for u, v in combinations(g, 2)}
        for terminals in (list(g), r.sample(list(g), max(2, len(g) // 2)), r.sample(list(g), 2)):
            for joined in (True, False):
                pairs = combinations(sorted(terminals), 2)
                least = min((value[pair] for pair in pairs if joined or not g.has_edge(*pair)), default=99)
                for limit in (1, 2, 3, 5, len(g)):
                    found = separator_of_terminals(near, terminals, limit, joined, WorkLeft(PLENTY))
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
            assert separator_of_devices(near, u, v, value[u, v], WorkLeft(PLENTY)) is None
            found = separator_of_devices(near, u, v, value[u, v] + 1, WorkLeft(PLENTY))
            assert found is not None and found.pair == (u, v)
            assert (found.value, found.joined) == (value[u, v], g.has_edge(u, v))


def test_work_is_counted_and_ends() -> None:
    g = nx.cycle_graph(30)
    with pytest.raises(WorkExhausted):
        separator_from_set(near_of(g), [0], {15}, set(), 2, WorkLeft(10))
    work = WorkLeft(PLENTY)
    assert separator_from_set(near_of(g), [0], {1}, set(), 1, work) is None and PLENTY - 10 < work.left < PLENTY


def test_a_path_that_is_taken_back_leaves_its_devices() -> None:
    """First 0, 1, 2; then 3 needs 2, so that 0 goes by 4 and 5 to 6, and 1 is used no more: a long way from 7 leads over it."""
    g, goal = nx.Graph(), {2, 6, 13}
    for way in ((0, 1, 2), (3, 20, 21, 2), (0, 4, 5, 6), (7, *range(30, 42), 1, *range(8, 14))):
        g.add_edges_from(pairwise(way))
    for guide in (None, nx.multi_source_dijkstra_path_length(g, goal)):
        for count in range(1, 4):
            start = [0, 3, 7][:count]
            assert separator_from_set(near_of(g), start, goal, set(), count, WorkLeft(PLENTY), guide) is None
            found = separator_from_set(near_of(g), start, goal, set(), count + 1, WorkLeft(PLENTY), guide)
            assert found is not None and len(found) == count


def test_ways_of_two_steps_that_end_at_one_device_are_one() -> None:
    """Four that are joined each to each; a fifth is linked to one of them, and by two others to the same one."""
    g = nx.complete_graph(4)
    g.add_edges_from([(4, 0), (4, 5), (4, 6), (5, 0), (6, 0)])
    found = separator_of_terminals(near_of(g), [0, 1, 2, 3, 4], 3, False, WorkLeft(PLENTY))
    assert found is not None and found.devices == {0} and 4 in found.pair
