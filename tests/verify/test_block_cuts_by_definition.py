"""Bounds by the cuts of blocks, on small random networks, against their definitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.block_cuts import (
    _both_sides_connected,
    _components_by_distance,
    _fiedler_order,
    _least_of_beginnings,
    _least_of_blocks,
    block_capacity_per_demand,
    group_labels,
    least_block_cut,
)
from tdsl.prove.budget import DEFAULT
from tests.fabrics import Builder

FEW = replace(DEFAULT, order_rounds=5)

Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


def columns(rows: Iterable[tuple[int, int, int]]) -> Columns:
    a, b, c = np.array(list(rows), dtype=np.int64).reshape(-1, 3).T
    return a, b, c


def problem(seed: int) -> tuple[int, Columns, Columns]:
    """Nodes, arcs with capacity, and demands with amounts; not always connected."""
    rng = Random(seed)
    size = rng.randint(2, 8)
    links = {tuple(rng.sample(range(size), 2)): rng.randint(1, 6) for _ in range(rng.randint(1, 14))}
    pairs = {tuple(rng.sample(range(size), 2)): rng.randint(1, 6) for _ in range(rng.randint(1, 6))}
    return size, columns((a, b, c) for (a, b), c in links.items()), columns((a, b, c) for (a, b), c in pairs.items())


def leaving(inside: Iterable[int], rows: Columns) -> int:
    mine = set(inside)
    return sum(c for a, b, c in zip(*(x.tolist() for x in rows), strict=True) if a in mine and b not in mine)


def bound_of(inside: Iterable[int], arcs: Columns, demand: Columns) -> Fraction | None:
    """Capacity out of some nodes over the demand that leaves them; None where none does."""
    mine = list(inside)
    return Fraction(leaving(mine, arcs), leaving(mine, demand)) if leaving(mine, demand) else None


def members(inside: np.ndarray) -> list[int]:
    return np.flatnonzero(inside).tolist()


def held(found: tuple[Fraction | None, np.ndarray], blocks: list[set[int]], size: int, arcs: Columns, demand: Columns) -> None:
    """That this is the first of the blocks, and then of what is outside of each, with the least bound."""
    every = [*blocks, *({*range(size)} - block for block in blocks)]
    bounds = [(x, block) for block in every if (x := bound_of(block, arcs, demand)) is not None]
    if not bounds:
        assert found[0] is None and not found[1].any() and len(found[1]) == size
        return
    least = min(x for x, _ in bounds)
    assert found[0] == block_capacity_per_demand(found[1], arcs, demand) == least
    assert set(members(found[1])) == next(block for x, block in bounds if x == least)


@pytest.mark.parametrize("first", [0, 100, 200])
def test_the_least_of_blocks_and_of_beginnings(first: int) -> None:
    """Of every block of a partition, and of every beginning of an order, by what leaves and by what enters."""
    for seed in range(first, first + 100):
        size, arcs, demand = problem(seed)
        rng = Random(seed)
        label = np.array([rng.choice([0, 1, 4]) for _ in range(size)])
        blocks = [{v for v in range(size) if label[v] == x} for x in {*label.tolist()}]
        held(_least_of_blocks(label, arcs, demand), blocks, size, arcs, demand)
        held(_least_of_blocks(np.arange(size), arcs, demand), [{v} for v in range(size)], size, arcs, demand)
        order = rng.sample(range(size), size)
        beginnings = [set(order[: n + 1]) for n in range(size)]
        held(_least_of_beginnings(np.array(order), arcs, demand), beginnings, size, arcs, demand)


def test_amounts_beyond_doubles_are_added_up_exactly() -> None:
    arcs, demand = columns([(0, 1, 2**60 + 1), (0, 1, 2**60 + 1), (1, 0, 7)]), columns([(0, 1, 3), (1, 0, 2**62 - 1), (1, 0, 2)])
    assert block_capacity_per_demand(np.array([True, False]), arcs, demand) == Fraction(2**61 + 2, 3)
    assert block_capacity_per_demand(np.array([False, True]), arcs, demand) == Fraction(7, 2**62 + 1)


def holds_together(side: set[int], passes: list[bool], graph: nx.Graph) -> bool:
    """Whether one node, or what forwards there is connected and next to each other node."""
    hubs = {v for v in side if passes[v]}
    if len(side) < 2:
        return True
    if not hubs or not nx.is_connected(graph.subgraph(hubs)):
        return False
    return all(set(graph[v]) & hubs for v in side - hubs)


@pytest.mark.parametrize("first", [0, 30])
def test_both_sides_hold_together(first: int) -> None:
    """All sides of random graphs, with and without nodes that do not forward."""
    seen = {True: 0, False: 0}
    for seed in range(first, first + 30):
        rng = Random(seed)
        size = rng.randint(2, 6)
        graph = nx.gnp_random_graph(size, rng.choice([0.4, 0.6, 0.9]), seed=seed)
        passes = [rng.random() < 0.7 for _ in range(size)]
        a, b = (np.array([e[i] for e in graph.edges], dtype=np.int64) for i in range(2))
        tail, head = np.append(a, b), np.append(b, a)
        for way in product((False, True), repeat=size):
            if not 0 < sum(way) < size:
                continue
            one, other = ({v for v in range(size) if way[v] is side} for side in (True, False))
            crossing = any(way[x] != way[y] and passes[x] and passes[y] for x, y in graph.edges)
            wanted = holds_together(one, passes, graph) and holds_together(other, passes, graph)
            wanted = wanted and (min(len(one), len(other)) == 1 or crossing)
            found = _both_sides_connected(np.array(way), np.array(passes), tail, head)
            assert found is wanted, (seed, way)
            seen[wanted] += 1
    assert min(seen.values()) > 50


def test_what_is_joined_without_farther_nodes() -> None:
    """Components of the nodes that are at most 1, 2, … links from an endpoint, as long as there are nodes farther away."""
    depths = set()
    for seed in range(80):
        rng = Random(seed)
        size = rng.randint(4, 12)
        graph = nx.gnp_random_graph(size, 1.5 / size, seed=seed)
        ends = rng.sample(range(size), rng.randint(1, 3))
        level = nx.multi_source_dijkstra_path_length(graph, ends)
        wanted = []
        for depth in range(1, max(level.values())):
            inner = graph.subgraph([v for v, far in level.items() if far <= depth])
            lowest = {v: min(part) for part in nx.connected_components(inner) for v in part}
            wanted.append([lowest.get(v, v) for v in range(size)])
        a, b = (np.array([e[i] for e in graph.edges], dtype=np.int64) for i in range(2))
        mask = np.isin(np.arange(size), ends)
        found = [x.tolist() for x in _components_by_distance(size, np.append(a, b), np.append(b, a), mask)]
        assert found == wanted, seed
        depths.add(len(wanted))
    assert {0, 1, 2, 3} <= depths


def both_ways(links: Iterable[tuple[int, int, int]]) -> Columns:
    a, b, c = columns(links)
    return np.append(a, b), np.append(b, a), np.append(c, c)


@pytest.mark.parametrize("seed", range(8))
def test_the_order_of_the_second_eigenvector(seed: int) -> None:
    """Of the random walk on a line with nodes in any order and capacities of its own: one end to the other."""
    rng = Random(seed)
    walk = rng.sample(range(7), 7)
    arcs = both_ways((x, y, rng.randint(1, 4)) for x, y in pairwise(walk))
    found = _fiedler_order(7, arcs, replace(DEFAULT, order_rounds=2000)).tolist()
    assert found in (walk, walk[::-1])
    matrix = np.zeros((7, 7))
    matrix[arcs[0], arcs[1]] = arcs[2]
    degree = matrix.sum(axis=0)
    values, vectors = np.linalg.eigh(matrix / np.sqrt(np.outer(degree, degree)))
    second = (vectors[:, np.argsort(values)[-2]] / np.sqrt(degree)).tolist()
    assert found in (sorted(range(7), key=lambda v: second[v]), sorted(range(7), key=lambda v: -second[v]))


def walked(size: int, arcs: Columns, rounds: int) -> list[float]:
    """So many steps of the walk from cos(πv / size), without what it tends to, half of it staying where it is."""
    rows = list(zip(*(x.tolist() for x in arcs), strict=True))
    degree = [sum(c for _, b, c in rows if b == v) or 1e-9 for v in range(size)]
    vector = [float(np.cos(v * np.pi / size)) for v in range(size)]
    for _ in range(rounds):
        mean = sum(x * d for x, d in zip(vector, degree, strict=True)) / sum(degree)
        vector = [x - mean for x in vector]
        near = [sum(c * vector[a] for a, b, c in rows if b == v) / degree[v] for v in range(size)]
        vector = [(x + y) / 2 for x, y in zip(vector, near, strict=True)]
        top = max(abs(x) for x in vector)
        vector = [x / (top or 1.0) for x in vector]
    return vector


def test_the_first_steps_towards_it() -> None:
    """Few rounds, as many as are allowed by both limits, on graphs that may have nodes without links."""
    for seed in range(60):
        rng = Random(seed)
        size = rng.randint(3, 8)
        links = {tuple(sorted(rng.sample(range(size), 2))): rng.randint(1, 9) for _ in range(rng.randint(2, 10))}
        arcs = both_ways((a, b, c) for (a, b), c in links.items())
        for rounds, work, steps in (
            (0, 10**6, 0),
            (1, 10**6, 1),
            (3, 10**6, 3),
            (9, len(arcs[0]) * 2, 2),
            (9, len(arcs[0]) - 1, 0),
        ):
            vector = np.round(walked(size, arcs, steps), 9)
            gaps = np.abs(np.subtract.outer(vector, vector))[np.triu_indices(size, 1)]
            if ((gaps > 0) & (gaps < 1e-7)).any():
                continue  # the last digit would decide
            found = _fiedler_order(size, arcs, replace(DEFAULT, order_rounds=rounds, order_work=work)).tolist()
            assert found == sorted(range(size), key=lambda v: vector[v]), (seed, rounds)
    nothing = columns([])
    assert _fiedler_order(3, nothing, DEFAULT).tolist() == [2, 1, 0]


def best_by_hand(
    passes: np.ndarray, arcs: Columns, demand: Columns, labels: list[np.ndarray]
) -> list[tuple[Fraction, list[bool]]]:
    """Bounds of the best block of each kind, where both sides hold together, and the arcs that leave it."""
    size = len(passes)
    ends = np.isin(np.arange(size), np.concatenate(demand[:2]))
    kinds = [np.arange(size), *labels, *_components_by_distance(size, arcs[0], arcs[1], ends)]
    found = [_least_of_blocks(label, arcs, demand) for label in kinds]
    found += [_least_of_beginnings(order, arcs, demand) for order in (np.arange(size), _fiedler_order(size, arcs, FEW))]
    return [
        (x, [bool(inside[a] and not inside[b]) for a, b in zip(*arcs[:2], strict=True)])
        for x, inside in found
        if x is not None and _both_sides_connected(inside, passes, *arcs[:2])
    ]


def test_the_least_of_all_kinds_of_blocks() -> None:
    """Nodes, labels, what is joined below a distance, beginnings of two orders; the first of equal ones."""
    for seed in range(60):
        rng = Random(seed)
        size = rng.randint(4, 9)
        links = {tuple(sorted(rng.sample(range(size), 2))): rng.randint(1, 6) for _ in range(rng.randint(4, 16))}
        arcs = both_ways((a, b, c) for (a, b), c in links.items())
        pairs = {tuple(rng.sample(range(size), 2)): rng.randint(1, 6) for _ in range(rng.randint(1, 6))}
        demand = columns((a, b, c) for (a, b), c in pairs.items())
        passes = np.array([rng.random() < 0.8 for _ in range(size)])
        labels = [np.array([rng.randrange(3) for _ in range(size)]) for _ in range(rng.randrange(3))]
        every = best_by_hand(passes, arcs, demand, labels)
        found = least_block_cut(passes, arcs, demand, labels, FEW)
        wanted = min(every, key=lambda x: x[0], default=None)
        assert (found and (found[0], found[1].tolist())) == wanted, seed


def test_what_is_joined_below_a_distance_is_a_block() -> None:
    """Two pods of two leaves with two hosts each, in an order in which no beginning and no single node is a pod."""
    pods = [[0, 3, 4, 7, 9, 10, 13], [1, 2, 5, 6, 8, 11, 12]]
    links = [link for a, b, *hosts in pods for link in ((a, h, 9) if i % 2 else (b, h, 9) for i, h in enumerate(hosts))]
    links += [(a, b, 9) for a, b, *_ in pods] + [(leaf, 14, 1) for pod in pods for leaf in pod[:2]]
    arcs = both_ways(links)
    demand = columns((x, y, 1) for x in pods[0][2:] for y in pods[1][2:])
    passes = np.isin(np.arange(15), [0, 3, 1, 2, 14])
    found = least_block_cut(passes, arcs, demand, (), replace(DEFAULT, order_rounds=0))
    assert found is not None and found[0] == Fraction(2, 25)
    assert least_block_cut(passes, arcs, demand, (), DEFAULT)[0] == Fraction(2, 25)  # type: ignore[index]


def test_devices_by_the_groups_that_contain_them() -> None:
    """Outer groups first; a device in no group of that depth is alone. Only sets with devices asked about count."""
    b = Builder("groups")
    sw = b.model("switch", "SW", {"p": 4})
    shapes = {
        "lone": (2,),
        "pod.rack.sw": (2, 2, 3),
        "pod.spine": (2, 2),
        "box.sw": ((2, 2), 2),
        "deep.a.b.sw": (1, 2, None, 2),
        "solo.sw": (3, None),
    }
    for path, sizes in shapes.items():
        b.devices(path, sw, *sizes)
    f = b.build()
    path = [f.device_path(d) for d in range(f.device_count)]

    def outer(d: int, depth: int) -> str:
        parts = path[d].split(".")
        return ".".join(parts[:depth]) if len(parts) > depth else f"alone {d}"

    rng = Random(1)
    for chosen in (
        list(range(f.device_count)),
        list(range(2, 14)),
        [0, 1],
        *(sorted(rng.sample(range(f.device_count), 9)) for _ in range(20)),
    ):
        found = [x.tolist() for x in group_labels(f, np.array(chosen))]
        deepest = max(len(path[d].split(".")) for d in chosen)
        assert len(found) == deepest - 1
        for depth, label in enumerate(found, 1):
            names = [outer(d, depth) for d in chosen]
            assert [[x == y for y in label] for x in label] == [[x == y for y in names] for x in names], (chosen, depth)
            alone = [x for x, name in zip(label, names, strict=True) if name.startswith("alone")]
            assert alone == list(range(len(alone))) and {*label} == {*range(len({*names}))}
    assert group_labels(f, np.zeros(0, dtype=np.int64)) == [] and group_labels(f, np.array([0, 1])) == []
