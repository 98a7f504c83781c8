"""Routes along shortest paths and along trees, against the same done one source, node and arc at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import heappop, heappush
from math import lcm
from random import Random
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tdsl.prove import shortest_path_routing
from tdsl.prove.budget import Budget
from tdsl.prove.network import Network
from tdsl.prove.shortest_path_routing import NEVER, PARTS, amounts_fit_in_words, path_lengths, route_on_shortest_paths
from tdsl.prove.trees import Trees, loads_along_trees, uniform_loads_along_trees

Demands = dict[tuple[int, int], int]


def column(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def drawn(seed: int, nodes: int = 0, both: bool = False) -> tuple[Network, Random]:
    """A random network in which some nodes do not forward; with ``both`` every arc has one back."""
    rng = Random(seed)
    n = nodes or rng.randint(2, 9)
    forwards = np.array([rng.random() < 0.7 for _ in range(n)])
    arcs = [
        (rng.randrange(n), rng.randrange(n), rng.choice([1, 2, 7, 11])) for _ in range(rng.randint(n, 3 * n if n < 20 else 2 * n))
    ]
    make = Network.both_ways if both else Network.of
    return make(forwards, *(column([x[i] for x in arcs]) for i in range(3))), rng


def reached(net: Network, length: list[int], source: int) -> dict[int, int]:
    """Distances from a source; paths pass only through what forwards."""
    found: dict[int, int] = {}
    queue = [(0, source)]
    while queue:
        far, v = heappop(queue)
        if v in found:
            continue
        found[v] = far
        if v == source or net.forwards[v]:
            for arc in net.out[v]:
                heappush(queue, (far + length[arc], int(net.head[arc])))
    return found


def sent(net: Network, length: list[int], source: int, wanted: dict[int, int], parts: int = PARTS) -> dict[int, int] | None:
    """What one source puts on every arc, in parts: divided by capacity and rounded down, the rest on the first arc."""
    far = reached(net, length, source)
    if not wanted.keys() <= far.keys():
        return None
    waiting, load = Counter[int](), Counter[int]()
    for t, amount in wanted.items():
        waiting[t] += amount * parts
    for v in sorted(far, key=far.__getitem__, reverse=True):
        if v == source or not waiting[v]:
            continue
        last = [
            arc
            for arc in net.into[v]
            for u in [int(net.tail[arc])]
            if far.get(u, -99) + length[arc] == far[v] and (u == source or net.forwards[u])
        ]
        total = sum(int(net.capacity[arc]) for arc in last)
        each = [waiting[v] * int(net.capacity[arc]) // total for arc in last]
        each[0] += waiting[v] - sum(each)
        for arc, x in zip(last, each, strict=True):
            if x:
                load[arc] += x
                waiting[int(net.tail[arc])] += x
    return dict(load)


@pytest.mark.parametrize("gathered", [1, 100, 32_000_000])
@pytest.mark.parametrize("seed", range(24))
def test_distances_with_nodes_that_do_not_forward(seed: int, gathered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The work is a part of what all steps look at: as many as the greatest distance, and as many more as the longest arc."""
    monkeypatch.setattr(shortest_path_routing, "GATHERED", gathered)
    net, rng = drawn(seed, nodes=70 if seed % 12 == 0 else 0)
    length = [rng.choice([1, 1, 2, 4]) for _ in range(net.arcs)]
    sources = rng.sample(range(net.nodes), rng.randint(1, net.nodes))
    found = path_lengths(net, column(length), column(sources), 10**9)
    assert found is not None
    far, work = found
    wanted = [reached(net, length, s) for s in sources]
    assert far.tolist() == [[x.get(v, NEVER) for x in wanted] for v in range(net.nodes)]
    words = (len(sources) + 63) // 64
    last = max(max(x.values()) for x in wanted)
    assert work == (last + max(length, default=0)) * ((net.arcs + 2 * net.nodes) * words // 16)
    if work:
        assert path_lengths(net, column(length), column(sources), work) is not None
        assert path_lengths(net, column(length), column(sources), work - 1) is None


def test_distances_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shortest_path_routing, "FARTHEST", 7)
    for steps, fine in ((6, True), (7, False)):  # one more step finds nothing
        line = np.arange(steps)
        net = Network.of(np.ones(steps + 1, dtype=np.bool_), line, line + 1)
        assert (path_lengths(net, np.ones(steps, dtype=np.int64), column([0]), 10**9) is not None) == fine


def test_distances_without_arcs() -> None:
    net = Network.of(np.ones(3, dtype=np.bool_), column([]), column([]))
    found = path_lengths(net, column([]), column([1]), 0)
    assert found is not None and found[0].tolist() == [[NEVER], [0], [NEVER]] and found[1] == 0


@pytest.mark.parametrize("seed", range(90))
def test_what_shortest_paths_put_on_arcs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are divided as the arcs have capacity; amounts of one pair add up; what is sent to the sender goes nowhere."""
    net, rng = drawn(seed)
    length = [rng.choice([1, 1, 2, 3]) for _ in range(net.arcs)]
    demands = [(rng.randrange(net.nodes), rng.randrange(net.nodes), rng.randint(1, 7)) for _ in range(rng.randint(1, 9))]
    if seed % 4:
        demands = [x for x in demands if x[1] in reached(net, length, x[0])] or [(0, 0, 1)]
    wanted: dict[int, Counter[int]] = defaultdict(Counter)
    for s, t, x in demands:
        wanted[s][t] += x
    parts = (1, 3, PARTS)[seed % 3]
    monkeypatch.setattr(shortest_path_routing, "PARTS", parts)
    exact = {s: sent(net, length, s, w, parts) for s, w in wanted.items()}
    source, target, amount = (column([x[i] for x in demands]) for i in range(3))
    found = route_on_shortest_paths(net, column(length), source, target, amount, 10**9)
    if None in exact.values():
        assert found is None
        return
    assert found is not None and found.flow is not None
    total = Counter[int]()
    flow: dict[int, Counter[int]] = defaultdict(Counter)
    for s, arc, x in zip(*(c.tolist() for c in found.flow), strict=True):
        assert x > 0 and arc not in flow[s]
        flow[s][arc] = x
    for s, load in exact.items():
        assert load is not None and flow[s] == Counter(load)
        total.update(load)
    assert found.load.tolist() == [total[arc] for arc in range(net.arcs)]
    assert found.spent == sum(x * reached(net, length, s)[t] for s, t, x in demands)
    ways = path_lengths(net, column(length), column(sorted(wanted)), 10**9)
    assert ways is not None
    looked = [{*wanted[s], *(int(net.tail[arc]) for arc in flow[s])} - {s} for s in wanted]
    assert found.work == ways[1] + sum(len(net.into[v]) for mine in looked for v in mine)
    entries = len(found.flow[0])
    limits = {entries: route_on_shortest_paths(net, column(length), source, target, amount, 10**9, entries)}
    if entries:
        limits[entries - 1] = route_on_shortest_paths(net, column(length), source, target, amount, 10**9, entries - 1)
    for most, limited in limits.items():
        assert limited is not None and (limited.flow is None) == (most < entries)
        assert limited.load.tolist() == found.load.tolist() and limited.spent == found.spent and limited.work == found.work
    assert route_on_shortest_paths(net, column(length), source, target, amount, found.work) is not None
    if found.work:
        assert route_on_shortest_paths(net, column(length), source, target, amount, found.work - 1) is None


@pytest.mark.parametrize(("cells", "each"), [(70 * 80, 70), (1, 64)])
@pytest.mark.parametrize("entries", [None, 300, 30])
def test_sources_in_several_goes(entries: int | None, cells: int, each: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring with chords, and every node as a source: the limits of memory change no load."""
    size = 80
    line = np.arange(size)
    net = Network.both_ways(np.ones(size, dtype=np.bool_), np.append(line, line), np.append(line + 1, line + 19) % size)
    rng = Random(1)
    order = rng.sample(range(size), size)
    source, target = column(order), column([(7 * v + 3) % size for v in order])
    amount, ones = column([1 + v % 4 for v in order]), np.ones(net.arcs, dtype=np.int64)
    once = route_on_shortest_paths(net, ones, source, target, amount, 10**9, 10**6)
    assert once is not None and once.flow is not None
    exact = Counter[int]()
    for s, t, x in zip(source.tolist(), target.tolist(), amount.tolist(), strict=True):
        part = sent(net, ones.tolist(), s, {t: x} if s != t else {})
        assert part is not None
        exact.update(part)
    assert once.load.tolist() == [exact[arc] for arc in range(net.arcs)]
    whole = path_lengths(net, ones, np.arange(size), 10**9)
    monkeypatch.setattr(shortest_path_routing, "CELLS", cells)
    parts = route_on_shortest_paths(net, ones, source, target, amount, 10**9, 10**6 if entries is None else entries)
    assert parts is not None
    assert parts.load.tolist() == once.load.tolist() and parts.spent == once.spent
    chunks = [path_lengths(net, ones, np.arange(low, min(low + each, size)), 10**9) for low in range(0, size, each)]
    assert whole is not None
    assert parts.work - once.work == sum(x[1] for x in chunks if x is not None) - whole[1]
    if entries is None:
        assert parts.flow is not None
        listed = [sorted(zip(*(c.tolist() for c in x.flow), strict=True)) for x in (once, parts) if x.flow is not None]
        assert listed[0] == listed[1]
        assert route_on_shortest_paths(net, ones, source, target, amount, parts.work, 10**6) is not None
        assert route_on_shortest_paths(net, ones, source, target, amount, parts.work - 1, 10**6) is None
        count = len(parts.flow[0])
        for most in (count, count - 1):
            limited = route_on_shortest_paths(net, ones, source, target, amount, 10**9, most)
            assert limited is not None and (limited.flow is None) == (most < count)
    else:
        assert parts.flow is None


def test_amounts_that_fit_one_word() -> None:
    """All amounts in PARTS times the greatest capacity stay below 2^61; without arcs the capacity is 1."""
    most = (1 << 61) // PARTS
    assert amounts_fit_in_words(column([most]), column([1, 1])) and not amounts_fit_in_words(column([most + 1]), column([1]))
    assert amounts_fit_in_words(column([most]), column([])) and not amounts_fit_in_words(column([most + 1]), column([]))
    assert amounts_fit_in_words(column([most // 2 - 3, 3]), column([2, 1])) and not amounts_fit_in_words(
        column([most // 2, 1]), column([1, 2])
    )
    assert amounts_fit_in_words(column([most]), column([0]))
    assert amounts_fit_in_words(column([]), column([5]))


def test_work_of_sources_that_send_to_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only distances are looked for, in two goes."""
    monkeypatch.setattr(shortest_path_routing, "CELLS", 1)
    line = np.arange(80)
    net = Network.both_ways(np.ones(80, dtype=np.bool_), line, (line + 1) % 80)
    ones = np.ones(net.arcs, dtype=np.int64)
    found = route_on_shortest_paths(net, ones, line, line, line + 1, 10**9)
    assert found is not None and not found.load.any() and found.spent == 0
    assert route_on_shortest_paths(net, ones, line, line, line + 1, found.work) is not None
    assert route_on_shortest_paths(net, ones, line, line, line + 1, found.work - 1) is None


class Many:
    """So many amounts, all 0."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def astype(self, kind: object) -> np.ndarray:
        return np.zeros(1, dtype=object)


def test_amounts_are_numbered_in_32_bits() -> None:
    capacity: Any = column([1])
    many: list[Any] = [Many(2**31 - 1), Many(2**31)]
    assert [amounts_fit_in_words(x, capacity) for x in many] == [True, False]


# ---------------------------------------------------------------- trees


def levels(net: Network, roots: list[int], turn: int, turns: int) -> tuple[list[int], list[int]]:
    """Levels, and the arc by which every node is reached first; arcs are in order of their tail, and turned by so many."""
    level, by = [-1] * net.nodes, [-1] * net.nodes
    for v in roots:
        level[v] = 0
    front, depth = sorted(roots), 0
    while front:
        depth += 1
        arcs = [arc for v in front if depth == 1 or net.forwards[v] for arc in net.out[v] if level[int(net.head[arc])] < 0]
        shift = turn * len(arcs) // turns
        arcs = arcs[shift:] + arcs[:shift]
        fresh: dict[int, int] = {}
        for arc in arcs:
            fresh.setdefault(int(net.head[arc]), arc)
        front = sorted(fresh)
        for v, arc in fresh.items():
            level[v], by[v] = depth, arc
    return level, by


def grown(net: Network, ends: list[int], rounds: int, work: int) -> list[tuple[list[int], list[int]]]:
    """Trees of every component from the nodes that are farthest from the ends, at even distances in their order."""
    far, _ = levels(net, ends, 0, 1)
    judge = nx.Graph()
    judge.add_nodes_from(np.flatnonzero(net.forwards).tolist())
    judge.add_edges_from(
        (v, w) for v, w in zip(net.tail.tolist(), net.head.tolist(), strict=True) if net.forwards[v] and net.forwards[w]
    )
    out: list[tuple[list[int], list[int]]] = []
    for group in sorted(sorted(c) for c in nx.connected_components(judge)):
        tops = [v for v in group if far[v] == max(far[x] for x in group)]
        places = np.linspace(0, len(tops) - 1, min(rounds, max(1, work))).astype(int).tolist()
        for root in sorted({tops[i] for i in places}):
            level, by = levels(net, [root], len(out), rounds)
            if any(x >= 0 for x in by):
                out.append((level, by))
    return out


def on_tree(net: Network, by: list[int], s: int, t: int) -> list[int]:
    """The arcs of a tree's path."""
    up: list[list[int]] = []
    for v in (s, t):
        mine = []
        while by[v] >= 0:
            mine.append(by[v])
            v = int(net.tail[by[v]])
        up.append(mine)
    climbed, down = ([arc for arc in up[i] if arc not in up[1 - i]] for i in (0, 1))
    back = {(int(h), int(t)): i for i, (t, h) in enumerate(zip(net.tail, net.head, strict=True))}
    return [back[int(net.tail[arc]), int(net.head[arc])] for arc in climbed] + down


def divided(net: Network, demands: Demands, trees: list[tuple[list[int], list[int]]]) -> tuple[dict[int, int], int] | None:
    """Loads in parts of the demands: each over all trees that have both its ends; without one over its own link."""
    there = {pair: [by for level, by in trees if level[pair[0]] >= 0 and level[pair[1]] >= 0] for pair in demands}
    parts = lcm(*(max(len(x), 1) for x in there.values()))
    load = Counter[int]()
    for (s, t), amount in demands.items():
        for by in there[s, t]:
            for arc in on_tree(net, by, s, t):
                load[arc] += amount * parts // len(there[s, t])
        if not there[s, t]:
            own = [i for i in range(net.arcs) if net.tail[i] == s and net.head[i] == t]
            if not own:
                return None
            load[own[0]] += amount * parts
    return load, parts


def same(
    found: Trees | None, wanted: tuple[dict[int, int], int] | None, net: Network, trees: list[tuple[list[int], list[int]]]
) -> None:
    assert (found is None) == (wanted is None)
    if found is not None and wanted is not None:
        load, parts = wanted
        assert found.parts == parts
        assert found.load.tolist() == [load.get(arc, 0) for arc in range(net.arcs)]
        assert [x.tolist() for x in found.above] == [by for _, by in trees]


@pytest.mark.parametrize("seed", range(120))
def test_demands_on_trees(seed: int) -> None:
    net, rng = drawn(seed, both=True)
    pairs = [(rng.randrange(net.nodes), rng.randrange(net.nodes)) for _ in range(rng.randint(1, 6))]
    demands = {(s, t): rng.randint(1, 9) for s, t in pairs if s != t} or {(0, 1): 1}
    ends = sorted({v for pair in demands for v in pair})
    for rounds, work in ((4, 100), (3, 2), (5, 0)):
        budget = Budget(tree_rounds=rounds, tree_work=work * len(demands) + len(demands) - 1)
        trees = grown(net, ends, rounds, work)
        same(loads_along_trees(net, demands, budget), divided(net, demands, trees), net, trees)


@pytest.mark.parametrize("seed", range(120))
def test_everyone_on_trees(seed: int) -> None:
    """Units at the ends, some of them several at one: those at one node send each other nothing over the network."""
    net, rng = drawn(seed, both=True)
    weight = column([rng.choice([0, 1, 1, 3]) for _ in range(net.nodes)])
    ends = np.flatnonzero(weight).tolist()
    if not ends:
        return
    for rounds, work in ((4, 100), (3, 2), (5, 0)):
        trees = grown(net, ends, rounds, work)
        demands = {(s, t): int(weight[s] * weight[t]) for s in ends for t in ends if s != t}
        budget = Budget(tree_rounds=rounds, tree_work=work * net.nodes + net.nodes - 1)
        found = uniform_loads_along_trees(net, weight, budget)
        sets = {tuple(level[v] >= 0 for level, _ in trees) for v in ends}
        if not all(any(x and y for x, y in zip(one, two, strict=True)) for one in sets for two in sets):
            assert found is None
            continue
        assert (
            uniform_loads_along_trees(net, weight, Budget(tree_rounds=rounds, tree_work=budget.tree_work, tree_classes=len(sets)))
            is not None
        )
        assert (
            uniform_loads_along_trees(
                net, weight, Budget(tree_rounds=rounds, tree_work=budget.tree_work, tree_classes=len(sets) - 1)
            )
            is None
        )
        counts = [sum(x and y for x, y in zip(one, two, strict=True)) for one in sets for two in sets]
        parts = lcm(*counts)
        wanted = divided(net, demands, trees) if demands else ({}, 1)
        assert wanted is not None
        same(found, ({arc: x * parts // wanted[1] for arc, x in wanted[0].items()}, parts), net, trees)
