"""Routes along paths that a linear program chooses: distances, paths, parts and bounds on small random networks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from tdsl.prove import column_generation as module
from tdsl.prove.budget import DEFAULT
from tdsl.prove.column_generation import FAR, LONGEST, WHOLE, Along, Commodities, Paths, _best_rounded_routes, route_along_paths
from tdsl.prove.network import Network
from tests.verify.test_flows_by_definition import between, network, optimum, reachable

Demand = tuple[np.ndarray, np.ndarray, np.ndarray]


def problem(seed: int) -> tuple[Network, Demand, dict[tuple[int, int], int]] | None:
    """A network in which all demands have a path; None for seeds that give none."""
    net, demands = network(seed, directed=seed % 2 == 0)
    if not reachable(net, demands):
        return None
    source, target = np.array(list(demands), dtype=np.int64).T
    return net, (source, target, np.array(list(demands.values()), dtype=np.int64)), demands


def lengths_of(seed: int, net: Network) -> np.ndarray:
    rng = Random(seed)
    return np.array([rng.randint(1, 5) for _ in range(net.arcs)], dtype=np.int64)


@pytest.mark.parametrize("first", [0, 100])
def test_distances_and_shortest_paths_of_every_pair(first: int) -> None:
    """Over the arcs of a network in which no path passes what does not forward."""
    for seed in range(first, first + 100):
        made = problem(seed)
        if made is None:
            continue
        net, demand, demands = made
        asked = Commodities.of(net, demand)
        length = lengths_of(seed, net)[asked.order]
        far = asked.distances(length)
        assert asked.who.tolist() == sorted({s for s, _ in demands}) and far.shape == (2 * net.nodes, len(asked.who))
        plain = np.empty(net.arcs, dtype=np.int64)
        plain[asked.order] = length
        exact = {(s, t): nx.dijkstra_path_length(between(net, s, plain.tolist()), s, t, weight="length") for s, t in demands}
        assert [int(far[t, r]) for t, r in zip(asked.target, asked.row, strict=True)] == list(exact.values()), seed
        for r, s in enumerate(asked.who.tolist()):
            graph = between(net, s, plain.tolist())
            for v in range(net.nodes):
                node = v if net.forwards[v] else v + net.nodes
                if v != s:
                    wanted = nx.dijkstra_path_length(graph, s, v, weight="length") if nx.has_path(graph, s, v) else FAR
                    assert far[node, r] == wanted, (seed, s, v)
        total = int((net.capacity * plain).sum())
        spent = sum(exact[pair] * x for pair, x in demands.items())
        assert asked.shown(length, far) == Fraction(total, spent) and asked.shown(length * 0, far * 0) is None
        walked = asked.walked(length, far)
        assert len(walked) == len(demands)
        for (s, t), arcs in zip(demands, walked, strict=True):
            graph = nx.DiGraph([(int(net.tail[asked.order[x]]), int(net.head[asked.order[x]])) for x in arcs])
            assert graph.number_of_edges() == len(arcs) and arcs.tolist() == sorted(arcs.tolist())
            path = nx.shortest_path(graph, s, t)
            assert len(path) == len(arcs) + 1 and all(net.forwards[v] for v in path[1:-1])
            assert int(length[arcs].sum()) == exact[s, t]


def parts_by_hand(pair: list[int], part: list[float], whole: int) -> list[int] | None:
    """Rounded parts, of which the largest of each pair (the last of equal ones) takes what is over."""
    total = [sum(x for x, p in zip(part, pair, strict=True) if p == q) for q in range(max(pair) + 1)]
    if not all(total):
        return None
    out = [round(x / total[p] * whole) for x, p in zip(part, pair, strict=True)]
    for q in range(len(total)):
        mine = [i for i, p in enumerate(pair) if p == q]
        most = max(mine, key=lambda i: (part[i], i))
        out[most] += whole - sum(out[i] for i in mine)
    return out if min(out) >= 0 else None


def test_parts_in_whole_numbers() -> None:
    seen = set()
    for seed in range(200):
        rng = Random(seed)
        pair = sorted(rng.randrange(3) for _ in range(rng.randint(3, 14)))
        if set(pair) != set(range(max(pair) + 1)):
            continue
        rng.shuffle(pair)
        part = [rng.choice([0.0, 1.0, 1.0, 3.0, 0.37]) for _ in pair]
        for whole in (1, 2, 3, 6, 60):
            found: Any = SimpleNamespace(pair=pair)
            made = Paths.rounded(found, np.array(part), whole)
            wanted = parts_by_hand(pair, part, whole)
            assert (made if made is None else made.tolist()) == wanted, (pair, part, whole)
            seen.add(wanted is None)
    assert seen == {True, False}


def test_new_paths_and_better_prices() -> None:
    """A path that is known is not added again; the best prices are kept, and the upper bound if it is better."""
    for seed in range(40):
        made = problem(seed)
        if made is None:
            continue
        net, demand, demands = made
        asked = Commodities.of(net, demand)
        found = Paths(asked, Fraction(10**6))
        rng = Random(seed)
        best = float("inf")
        upper = Fraction(10**6)
        for turn in range(4):
            price = np.array([rng.random() + 1e-3 for _ in range(net.arcs)])
            length = 1 + np.rint(price / price.max() * LONGEST).astype(np.int64)
            far = asked.distances(length)
            shown = asked.shown(length, far)
            assert shown is not None
            before = [(p, x.tolist()) for p, x in zip(found.pair, found.arcs, strict=True)]
            walked, fresh = found.add(price)
            assert [x.tolist() for x in walked] == [x.tolist() for x in asked.walked(length, far)]
            new = [(p, x.tolist()) for p, x in enumerate(walked) if (p, x.tolist()) not in before]
            assert [(p, x.tolist()) for p, x in zip(found.pair, found.arcs, strict=True)] == before + new and fresh == len(new)
            if float(shown) < best:
                best = float(shown)
                assert np.allclose(found.price, price / (price @ asked.net.capacity), rtol=1e-12)
            assert found.least == best
            upper = min(upper, shown)
            assert found.upper == upper and (turn or found.lengths.tolist() == length.tolist())
        kept = found.lengths
        found.show(np.ones(net.arcs, dtype=np.int64) * 7)
        assert found.upper <= upper and (found.upper < upper or found.lengths is kept)
        assert len(demands) == len(walked)


def test_routes_in_the_parts_of_which_most_fits() -> None:
    """Of the fewest parts that are about as good, or that reach the upper bound; arcs and lengths as they were numbered."""
    for seed in range(24):
        made = problem(seed)
        if made is None:
            continue
        net, demand, demands = made
        asked = Commodities.of(net, demand)
        found = Paths(asked, Fraction(10**6))
        found.warm(4)
        rng = Random(seed)
        part = [rng.choice([1.0, 2.0, 0.5]) for _ in found.pair]
        every: list[tuple[Fraction, int, dict[tuple[int, int], Fraction]]] = []
        for whole in WHOLE:
            parts = parts_by_hand(found.pair, part, whole)
            if parts is None:
                continue
            flow: dict[tuple[int, int], Fraction] = {}
            load: dict[int, Fraction] = {}
            for p, arcs, x in zip(found.pair, found.arcs, parts, strict=True):
                (s, _), amount = list(demands.items())[p]
                for arc in asked.order[arcs].tolist():
                    flow[s, arc] = flow.get((s, arc), Fraction(0)) + Fraction(x * amount, whole)
                    load[arc] = load.get(arc, Fraction(0)) + Fraction(x * amount, whole)
            every.append((min(int(net.capacity[arc]) / x for arc, x in load.items() if x), whole, flow))
        for upper in (Fraction(10**6), max(x for x, _, _ in every)):
            best = every[0]
            for each in every[1:]:
                if each[0] > best[0] * (1 + Fraction(1, 10**6)) or (each[0] >= upper > best[0]):
                    best = each
            found.upper, found.lengths = upper, np.arange(net.arcs)
            routes = _best_rounded_routes(found, np.array(part))
            assert routes is not None and (routes.lower, routes.whole, routes.upper) == (best[0], best[1], upper), seed
            rows = zip(routes.source.tolist(), routes.arc.tolist(), routes.amount.tolist(), strict=True)
            assert {(s, arc): Fraction(x, routes.whole) for s, arc, x in rows} == {k: x for k, x in best[2].items() if x}
            assert routes.lengths[asked.order].tolist() == list(range(net.arcs))
        found.lengths = np.zeros(0, dtype=np.int64)
        assert len(_best_rounded_routes(found, np.array(part)).lengths) == 0  # type: ignore[union-attr]


def held(found: Along, net: Network, demands: dict[tuple[int, int], int], upper: Fraction) -> None:
    """That the routes carry all demands, fit as often as they say, and that lengths show the upper bound."""
    load = [Fraction(0)] * net.arcs
    gain: dict[tuple[int, int], Fraction] = {}
    for s, arc, x in zip(found.source.tolist(), found.arc.tolist(), found.amount.tolist(), strict=True):
        assert x > 0
        part = Fraction(x, found.whole)
        load[arc] += part
        gain[s, int(net.tail[arc])] = gain.get((s, int(net.tail[arc])), Fraction(0)) - part
        gain[s, int(net.head[arc])] = gain.get((s, int(net.head[arc])), Fraction(0)) + part
    for s in {s for s, _ in demands}:
        for v in range(net.nodes):
            if v != s:
                assert gain.get((s, v), 0) == demands.get((s, v), 0)
    assert found.lower == min(int(c) / x for c, x in zip(net.capacity, load, strict=True) if x)
    if len(found.lengths):
        spent = sum(
            x * nx.dijkstra_path_length(between(net, s, found.lengths.tolist()), s, t, weight="length")
            for (s, t), x in demands.items()
        )
        assert found.upper == Fraction(int((net.capacity * found.lengths).sum()), spent) < upper
    else:
        assert found.upper == upper


def test_bounds_along_paths_are_the_optimum() -> None:
    """Lower and upper bound are within a thousandth of the linear program over single arcs, and most of them equal."""
    equal = total = 0
    for seed in range(12):
        made = problem(seed)
        if made is None:
            continue
        net, demand, demands = made
        exact = optimum(net, demands)
        for top in (Fraction(1000), Fraction(exact).limit_denominator(10**6)):
            found = route_along_paths(net, demand, top)
            assert found is not None
            held(found, net, demands, top)
            assert exact * (1 - 1e-3) <= found.lower <= exact * (1 + 1e-9), seed
            assert exact * (1 - 1e-9) <= found.upper <= exact * (1 + 1e-3), seed
            equal, total = equal + (found.lower == found.upper), total + 1
    assert equal > total * 0.9


def test_a_search_of_few_rounds_keeps_what_was_found() -> None:
    """Without rounds of the program there are no routes; with one there are."""
    made = problem(1) or problem(3)
    assert made is not None
    net, demand, demands = made
    few = replace(DEFAULT, path_program_first_rounds=1, path_program_rounds=1)
    found = route_along_paths(net, demand, Fraction(1000), few)
    assert found is not None
    held(found, net, demands, Fraction(1000))


def rounds(
    patch: pytest.MonkeyPatch, full: float = 1.0, upper: int = 2, entries: int = 3, fresh: int = 1, parts: int = 2,
    price: float = 1.0, **limits: Any,
) -> tuple[Any, list[bool], int, int]:  # fmt: skip
    """The answer, whether each program was solved to a vertex, how many upper bounds were tried, and how often paths were sought.
    Every program has the same answer, on a network of five arcs and three pairs."""
    corners: list[bool] = []
    shown: list[Any] = []
    sought: list[Any] = []

    class Scripted:
        def __init__(self, asked: Any, top: Fraction) -> None:
            self.upper, self.price, self.arcs = Fraction(upper), np.full(5, 2.0), [np.zeros(entries)]

        def warm(self, count: int) -> None:
            self.rounds = count

        def solved(self, corner: bool) -> Any:
            corners.append(corner)
            return np.ones(parts), full, np.array([price, 0, 0, 0, 0])

        def show(self, length: Any) -> None:
            shown.append(length.tolist())

        def add(self, cost: Any) -> tuple[Any, int]:
            sought.append(cost.tolist())
            return [], fresh

    patch.setattr(module, "Paths", Scripted)
    patch.setattr(module, "_best_rounded_routes", lambda found, part: (found.rounds, len(part)))
    net = Network.of(np.ones(4, dtype=np.bool_), *(np.array(x) for x in ([0, 1, 2, 0, 1], [1, 2, 3, 3, 3])))
    demand = np.array([0, 0, 1]), np.array([1, 3, 3]), np.array([1, 1, 1])
    plain = {
        "path_program_first_rounds": 7, "path_program_rounds": 12, "path_program_easy_rows": 4, "path_program_gap": 0.25,
        "path_program_corner_gap": 0.125, "path_program_entries": 10, "path_program_corner_entries": 5,
    }  # fmt: skip
    found = route_along_paths(net, demand, Fraction(9), replace(DEFAULT, **(plain | limits)))  # type: ignore[arg-type]
    if sought:  # prices are scaled to 1 over all capacity, and mixed with the best ones
        assert np.allclose(sought[:2], [[0.3 + 0.7 * 2, *[0.7 * 2] * 4], [0.9 + 0.1 * 2, *[0.1 * 2] * 4]])
        assert shown[0] == [12, 0, 0, 0, 0]
    return found, corners, len(shown), len(sought)


FOUND, FINAL = (7, 2), 5


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, (FOUND, [False] * 3, 3 + FINAL, 6)),  # 12 · 4² / 8² rounds
        ({"path_program_easy_rows": 10}, (FOUND, [False] * 12, 12 + FINAL, 24)),
        ({"path_program_easy_rows": 8, "path_program_rounds": 2}, (FOUND, [False] * 2, 2 + FINAL, 4)),
        ({"parts": 0}, (None, [False], 0, 0)), ({"price": 0.0}, (None, [False], 0, 0)), ({"full": 0.0}, (None, [False], 0, 0)),
        ({"full": -1.0}, (None, [False], 0, 0)),
        ({"full": 0.5}, (FOUND, [False, True], 1 + FINAL, 2)),  # equal bounds: once more, to a vertex
        ({"full": 0.5, "fresh": 0}, (FOUND, [False, True], 1 + FINAL, 2)),
        ({"full": 0.5, "entries": 5}, (FOUND, [False, True], 1 + FINAL, 2)),
        ({"full": 0.5, "entries": 6}, (FOUND, [False], FINAL, 0)),
        ({"full": 0.5625}, (FOUND, [False], FINAL, 0)),  # a gap of an eighth: near, and no vertex
        ({"full": 0.59375}, (FOUND, [False], FINAL, 0)), ({"full": 0.625}, (FOUND, [False] * 3, 3 + FINAL, 6)),
        ({"fresh": 0}, (FOUND, [False], 1 + FINAL, 2)),
        ({"entries": 10}, (FOUND, [False] * 3, 3 + FINAL, 6)), ({"entries": 11}, (FOUND, [False], FINAL, 0)),
    ],
)  # fmt: skip
def test_when_the_search_for_paths_ends(given: Any, wanted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After its rounds, near the upper bound, with too many paths, or with no new ones."""
    assert rounds(monkeypatch, **given) == wanted
