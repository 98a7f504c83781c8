"""Which method bounds a concurrent flow: by the sizes in the budget, and only until the bounds are equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.prove import concurrent_flow as module
from tdsl.prove.bound import ArcLengths, Bound, PortBound
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.concurrent_flow import (
    _bound_by_arc_program,
    _bound_by_block_cut,
    _bound_by_combination,
    _bound_by_path_program,
    _bound_by_trees,
    _bounds_of_large_network,
    _bounds_of_quotient,
    _round_arc_program,
    concurrent_flow_bounds,
)
from tdsl.prove.network import Network
from tdsl.prove.routed_demand import RoutedLoads

TOP = Fraction(10)
DEMANDS = {(0, 3): 2, (1, 3): 2, (1, 2): 1}


def short_and_long() -> Network:
    """Sources 0 and 1, each with a link to 3, and a longer way by 2; shortest paths are not the best routes."""
    rows = [(0, 3, 1), (1, 3, 1), (0, 2, 3), (1, 2, 3), (2, 3, 9)]
    a, b, c = (np.array([x[i] for x in rows], dtype=np.int64) for i in range(3))
    return Network.of(np.ones(4, dtype=np.bool_), a, b, c)


def bound(lower: object, upper: object, proof: Any = None, shown: Any = None) -> Any:
    return Bound(Fraction(str(lower)), Fraction(str(upper)), RoutedLoads(0) if proof is None else proof, shown or PortBound())


class Recorder:
    """Methods exchanged for ones that only say that they were asked, and for what."""

    def __init__(self, patch: pytest.MonkeyPatch, **answers: Any) -> None:
        self.asked: list[str] = []
        self.given: dict[str, tuple[Any, ...]] = {}
        for name, answer in answers.items():
            patch.setattr(module, name, self.method(name, answer))

    def method(self, name: str, answer: Any) -> Any:
        def ask(*given: Any, **words: Any) -> Any:
            self.asked.append(name)
            self.given[name] = (*given, *words.items())
            return answer(*given) if callable(answer) else answer

        return ask


def methods(patch: pytest.MonkeyPatch, budget: Budget, net: Network | None = None, **answers: Any) -> tuple[Any, Recorder]:
    plain: dict[str, Any] = {
        "_large": "large", "_by_arc_program": "arcs", "_along": "paths", "_combined": None,
        "_cut": lambda net, demands, best, budget: best,
    }  # fmt: skip
    recorder = Recorder(patch, **(plain | answers))
    return concurrent_flow_bounds(net or short_and_long(), DEMANDS, TOP, budget), recorder


def test_sources_times_arcs_say_which_program_is_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sources and five arcs: each limit is met at 10, that of the program over paths at 5 arcs and 3 demands."""
    net = short_and_long()
    assert net.arcs == 5
    assert methods(monkeypatch, replace(DEFAULT, routing_work=9))[0] == "large"
    found, recorder = methods(monkeypatch, replace(DEFAULT, routing_work=10, arc_program_cells=10))
    assert found == "arcs" and recorder.asked == ["_by_arc_program"]
    found, recorder = methods(monkeypatch, replace(DEFAULT, arc_program_cells=9, path_program_rows=8))
    assert found == "paths" and recorder.asked == ["_cut", "_along"]
    found, recorder = methods(monkeypatch, replace(DEFAULT, arc_program_cells=9, path_program_rows=7))
    assert recorder.asked == ["_cut", "_combined"] and (found.lower, found.upper) == (Fraction(1, 2), TOP)
    better = bound("3/4", 2)
    found, _ = methods(monkeypatch, replace(DEFAULT, arc_program_cells=9, path_program_rows=7), _combined=better)
    assert (found.lower, found.upper, found.proof_lower, found.proof_upper) == (
        better.lower, better.upper, better.proof_lower, better.proof_upper,
    )  # fmt: skip
    worse = bound("1/4", 20)
    found, _ = methods(monkeypatch, replace(DEFAULT, arc_program_cells=9, path_program_rows=7), _combined=worse)
    assert (found.lower, found.upper) == (Fraction(1, 2), TOP) and found.proof_lower.flow is not None


def test_routes_that_reach_a_bound_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the ports allow, what a cut shows, and what the fullest arcs do."""
    net, none = short_and_long(), replace(DEFAULT, arc_program_cells=0)
    recorder = Recorder(monkeypatch, _by_arc_program="arcs", _cut="cut", _tighter="tighter")
    for top in (Fraction(1, 3), Fraction(1, 2)):
        found: Any = concurrent_flow_bounds(net, DEMANDS, top, none)
        assert (found.lower, found.upper, recorder.asked) == (top, top, [])
        load = {(int(net.tail[arc]), int(net.head[arc])): x for arc, x in found.proof_lower.load.items()}
        assert load == {(0, 3): 2, (1, 3): 2, (1, 2): 1} and found.proof_lower.lengths == [[1] * 5]
        assert {s: sum(x.values()) for s, x in found.proof_lower.flow.items()} == {0: 2, 1: 3}
    monkeypatch.undo()
    found, recorder = methods(monkeypatch, none, _cut=lambda net, demands, best, budget: replace(best, upper=Fraction(1, 2)))
    assert (found.lower, found.upper) == (Fraction(1, 2), Fraction(1, 2)) and recorder.asked == ["_cut"]
    monkeypatch.undo()
    thin = short_and_long().with_capacity(np.array([3, 3, 1, 1, 1]))
    for budget in (none, DEFAULT):
        recorder = Recorder(monkeypatch, _by_arc_program="arcs", _along="paths", _cut=lambda net, demands, best, budget: best)
        only = {(0, 2): 4, (1, 2): 4}
        found = concurrent_flow_bounds(thin, only, TOP, budget)
        assert (found.lower, found.upper) == (Fraction(3, 4), Fraction(3, 4)) and "_by_arc_program" not in recorder.asked
        assert isinstance(found.proof_upper, ArcLengths) and "_along" not in recorder.asked


def test_no_path_is_no_bound() -> None:
    assert concurrent_flow_bounds(short_and_long(), {(0, 3): 1, (3, 0): 1}, TOP) is None


def test_proposals_are_taken_until_the_bounds_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Routes that are no better are left out, and no proposal is computed after the last."""
    net, taken = short_and_long(), []

    def routed(part: Fraction) -> RoutedLoads:
        out = RoutedLoads(100)
        out.add(0, dict.fromkeys(range(net.arcs), part))
        return out

    def proposals(*_: Any) -> Iterator[tuple[RoutedLoads | None, list[int]]]:
        for number, (part, lengths) in enumerate(
            [(None, [0] * 5), (2, [1, 1, 1, 1, 1]), (4, [0] * 5), (1, [0] * 5), (1, [0] * 5)]
        ):
            taken.append(number)
            yield None if part is None else routed(Fraction(part)), lengths

    monkeypatch.setattr(module, "_round_arc_program", proposals)
    first = bound("1/4", 1)
    found = _bound_by_arc_program(net, {0: {3: 1}}, first, DEFAULT)
    assert taken == [0, 1, 2, 3] and (found.lower, found.upper) == (1, 1)
    assert found.proof_lower.load == dict.fromkeys(range(5), Fraction(1)) and isinstance(found.proof_upper, PortBound)
    taken.clear()
    found = _bound_by_arc_program(net, {0: {3: 1}}, bound("1/4", 30), DEFAULT)
    assert taken == [0, 1, 2, 3, 4] and (found.lower, found.upper) == (1, 17)
    assert isinstance(found.proof_upper, ArcLengths) and found.proof_upper.length.tolist() == [1] * 5


WHOLE = (1, 2, 6, 12, 60, 420, 5040, 720_720, 10**9)


@pytest.mark.parametrize("prices", [[0.3, -0.25, 0.6, 0.1, 0.0], [0.0, -1.0, 0.0, 0.0, 0.0]])
def test_an_optimum_in_whole_parts(prices: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded to each denominator, the largest part takes what is over; where that is not enough only lengths are proposed. The
    last proposal has fractions."""
    values: list[Any] = [np.zeros(5)]
    monkeypatch.setattr(module, "solve_multicommodity_flow", lambda net, by_source, work: (values, np.array(prices)))
    tenths = [(0.1, [0, k % 5]) for k in range(10)]
    top = max(prices)
    for paths in ([(0, 6, [(0.3, [0]), (0.7, [1, 2])]), (1, 5, [(1.0, [3])])], [(0, 7, [(1.0, [4])]), (1, 3, tenths)]):
        monkeypatch.setattr(module, "_decompose_into_paths", lambda *given, paths=paths: paths)
        found = list(_round_arc_program(short_and_long(), {0: {3: 1}}, DEFAULT))
        assert len(found) == len(WHOLE) + 1
        for whole, (routed, lengths) in zip(WHOLE, found[:-1], strict=True):
            assert lengths == ([round(max(x, 0) / top * whole) for x in prices] if top else [0] * 5)
            load: dict[int, Fraction] = {}
            negative = False
            for _, amount, parts in paths:
                near = [round(x * whole) for x, _ in parts]
                near[near.index(max(near))] += whole - sum(near)
                negative |= min(near) < 0
                for x, (_, arcs) in zip(near, parts, strict=True):
                    for arc in dict.fromkeys(arcs):
                        load[arc] = load.get(arc, Fraction(0)) + Fraction(amount * x, whole)
            assert (routed is None) == negative
            if routed is not None:
                assert routed.load == {arc: x for arc, x in load.items() if x} and set(routed.flow or ()) <= {0, 1}
        routed, lengths = found[-1]
        assert routed is not None and lengths == ([3, 0, 6, 1, 0] if top else [0] * 5)
    assert any(routed is None for routed, _ in found) and found[0][0] is not None


def test_a_cut_counts_only_where_it_shows_more(monkeypatch: pytest.MonkeyPatch) -> None:
    net, known = short_and_long(), bound("1/4", 2)
    mask = np.array([True, False, False, True, False])
    for shown, better in ((None, False), (Fraction(3), False), (Fraction(2), False), (Fraction(7, 4), True)):
        monkeypatch.setattr(module.blocks, "least", lambda *given, shown=shown: shown and (shown, mask))
        found = _bound_by_block_cut(net, DEMANDS, known, DEFAULT)
        if not better:
            assert found is known
            continue
        assert (found.lower, found.upper, found.proof_lower) == (known.lower, shown, known.proof_lower)
        assert isinstance(found.proof_upper, ArcLengths) and found.proof_upper.length.tolist() == [1, 0, 0, 1, 0]
    seen: list[Any] = []
    monkeypatch.setattr(module.blocks, "least", lambda *given: seen.append(given))
    labels = (np.array([0, 0, 1, 1]),)
    few = replace(DEFAULT, order_rounds=3)
    assert _bound_by_block_cut(replace(net, labels=labels), DEMANDS, known, few) is known
    ((passes, arcs, demand, groups, budget),) = seen
    assert passes is net.forwards and [x.tolist() for x in arcs] == [x.tolist() for x in (net.tail, net.head, net.capacity)]
    assert [x.tolist() for x in demand] == [[0, 1, 1], [3, 3, 2], [2, 2, 1]] and groups is labels and budget is few


def test_routes_along_paths_count_only_where_they_show_more(monkeypatch: pytest.MonkeyPatch) -> None:
    net, known = short_and_long(), bound("1/4", 2)
    monkeypatch.setattr(module.paths, "along", lambda *_: None)
    assert _bound_by_path_program(net, DEMANDS, known, DEFAULT) is known
    lengths = np.array([1, 0, 2, 0, 0])
    for lower, upper, wanted in (
        ("1/8", 2, ("1/4", 2)), ("1/4", 2, ("1/4", 2)), ("1/2", 2, ("1/2", 2)), ("1/8", 1, ("1/4", 1)), ("3/2", 1, (1, 1)),
        (3, 3, (2, 2)),
    ):  # fmt: skip
        row = np.array([0])
        answer = SimpleNamespace(
            source=row, arc=row, amount=row + 6, whole=4, lengths=lengths, lower=Fraction(lower), upper=Fraction(upper)
        )
        monkeypatch.setattr(module.paths, "along", lambda *_, answer=answer: answer)
        found = _bound_by_path_program(net, DEMANDS, known, DEFAULT)
        assert (found.lower, found.upper) == (Fraction(wanted[0]), Fraction(wanted[1]))
        if found.lower == known.lower:
            assert found.proof_lower is known.proof_lower
        else:
            assert found.proof_lower.load == {0: Fraction(3, 2)}
        if found.upper == known.upper:
            assert found.proof_upper is known.proof_upper
        else:
            assert isinstance(found.proof_upper, ArcLengths) and found.proof_upper.length is lengths


def test_what_is_asked_of_a_large_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quotient network first, then a combination of routings, then trees, from nothing but what the ports allow."""
    cut = bound(0, 3)
    for quotient, combination, asked, wanted in (
        ("quotient", "combined", ["_of_quotient"], "quotient"),
        (None, "combined", ["_of_quotient", "_cut", "_combined"], "combined"),
        (None, None, ["_of_quotient", "_cut", "_combined", "_by_trees"], "trees"),
    ):
        recorder = Recorder(monkeypatch, _of_quotient=quotient, _cut=cut, _combined=combination, _by_trees="trees")
        assert _bounds_of_large_network(short_and_long(), DEMANDS, TOP, DEFAULT) == wanted and recorder.asked == asked
        if "_cut" in asked:
            start = recorder.given["_cut"][2]
            assert (start.lower, start.upper) == (0, TOP) and isinstance(start.proof_upper, PortBound)
            assert recorder.given["_combined"][2] is cut


def star() -> tuple[Network, dict[tuple[int, int], int]]:
    """Three hosts on one switch and two on another, with one link between these; each of the three sends to both."""
    rows = [(0, 5, 4), (1, 5, 4), (2, 5, 4), (3, 6, 4), (4, 6, 4), (5, 6, 6)]
    a, b, c = (np.array([x[i] for x in rows], dtype=np.int64) for i in range(3))
    net = Network.both_ways(np.arange(7) >= 5, a, b, c)
    return net, {(s, t): 2 for s in range(3) for t in (3, 4)}


def test_a_quotient_network_is_used_where_it_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve arcs are four where hosts that only send, or only receive, are one node each."""
    net, demands = star()
    asked: list[Any] = []
    assert net.arcs == 12
    arcs = 4
    for ratio, used in ((3, True), (4, False), (2, True)):
        found = _bounds_of_quotient(net, demands, TOP, replace(DEFAULT, quotient_ratio=ratio))
        assert (found is not None) == used
        if found is not None:
            assert found.lower == found.upper == Fraction(6, 12) and isinstance(found.proof_upper, ArcLengths)
            middle = (net.tail == 5) & (net.head == 6)
            assert (found.proof_upper.length > 0).tolist() == middle.tolist() and found.proof_upper.network is net
            load = {(int(net.tail[arc]), int(net.head[arc])): x for arc, x in found.proof_lower.load.items()}
            assert load == {(0, 5): 4, (1, 5): 4, (2, 5): 4, (5, 6): 12, (6, 3): 6, (6, 4): 6}

    def inner(network: Network, wanted: Any, top: Fraction, budget: Budget) -> Any:
        asked.append((network, wanted, top))

    monkeypatch.setattr(module, "concurrent_flow_bounds", inner)
    recorder = Recorder(monkeypatch, _cut=bound(0, 5), _combined=None)
    for work, by in ((arcs, "concurrent"), (arcs - 1, "combined")):
        assert _bounds_of_quotient(net, demands, TOP, replace(DEFAULT, routing_work=work)) is None
        assert bool(asked) == (by == "concurrent") and bool(recorder.asked) == (by == "combined")
        if asked:
            assert list(asked[0][1].values()) == [12] and asked[0][2] == TOP
        asked.clear()
    start = recorder.given["_cut"][2]
    assert (start.lower, start.upper) == (0, TOP) and recorder.given["_combined"][-1] == ("of_quotient", True)


def test_a_combination_of_routings_shows_no_more_than_the_upper_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    net, known = short_and_long(), bound("1/4", 2)
    combination = SimpleNamespace(
        columns=[], fits=lambda: Fraction(3), capacity=net.capacity, flows=lambda: None, loads=lambda arcs: (arcs, 2)
    )
    lengths = np.array([1, 0, 0, 0, 0])
    monkeypatch.setattr(module.wide, "combined", lambda *_: (combination, Fraction(1), lengths))
    assert _bound_by_combination(net, DEMANDS, known, DEFAULT) is None
    combination.columns.append(1)
    found = _bound_by_combination(net, DEMANDS, known, DEFAULT)
    assert found is not None and (found.lower, found.upper) == (1, 1) and isinstance(found.proof_upper, ArcLengths)
    assert found.proof_upper.length is lengths and found.proof_lower.load == {n: Fraction(n, 2) for n in range(1, 5)}
    monkeypatch.setattr(module.wide, "combined", lambda *_: (combination, Fraction(7), lengths[:0]))
    found = _bound_by_combination(net, DEMANDS, known, DEFAULT)
    assert found is not None and (found.lower, found.upper) == (3, 7) and found.proof_upper is known.proof_upper
    given: list[Any] = []
    monkeypatch.setattr(module.wide, "combined", lambda *x: (given.append(x), (combination, Fraction(7), lengths))[1])
    _bound_by_combination(net, DEMANDS, known, DEFAULT)
    _bound_by_combination(net, DEMANDS, known, DEFAULT, of_quotient=True)
    assert [x[3] for x in given] == [False, True] and given[0][2] == known.upper and given[0][1].amount.tolist() == [2, 2, 1]


def test_routes_along_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    net, known = short_and_long(), bound(0, "1/5")
    monkeypatch.setattr(module, "loads_along_trees", lambda *_: None)
    assert _bound_by_trees(net, DEMANDS, known, DEFAULT) is None
    trees = SimpleNamespace(load=np.array([0, 4, 8, 0, 2], dtype=object), parts=4)
    monkeypatch.setattr(module, "loads_along_trees", lambda *_: trees)
    found = _bound_by_trees(net, DEMANDS, known, DEFAULT)
    fits = min(Fraction(int(c)) / Fraction(int(x), 4) for c, x in zip(net.capacity, trees.load, strict=True) if x)
    assert found is not None and (found.lower, found.upper) == (min(fits, Fraction(1, 5)), Fraction(1, 5))
    assert found.proof_lower.load == {1: 1, 2: 2, 4: Fraction(1, 2)}
    assert found.proof_lower.flow is None and found.proof_lower.trees is trees and found.proof_upper is known.proof_upper
    wide = _bound_by_trees(net, DEMANDS, bound(0, 100), DEFAULT)
    assert wide is not None and wide.lower == fits
