"""Steps of the bounds of bisection and of all-to-all, each by itself: which is tried when, and what it shows."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.prove import all_to_all as pairs
from tdsl.prove import bisection as module
from tdsl.prove.all_to_all import (
    AllToAll,
    OrbitLengths,
    _cut_of_least_unit,
    _rate_of_cut,
    _traffic_within_nodes,
    _uniform_node_demands,
)
from tdsl.prove.bisection import (
    _best_placed,
    _best_spreads,
    _bisection_by_translations,
    _bisection_cuts,
    _bound_by_all_splits,
    _bound_by_groups,
    _bound_by_placements,
    _bound_by_shares,
    _is_close_enough,
)
from tdsl.prove.bound import Bound, EveryPlacement, EverySplit, GroupRoutes, Shares, Spectrum
from tdsl.prove.budget import DEFAULT
from tdsl.prove.cuts import Cut
from tdsl.prove.network import Network
from tdsl.prove.shortest_path_routing import PARTS
from tests.verify.test_cuts_by_definition import crosses, links_of, network


def cut(value: int, units: str = "10", name: int = 0) -> Cut:
    """A cut that is only a value; ``name`` tells it from others."""
    return Cut(np.array([c == "1" for c in units]), np.full(2, name, dtype=np.bool_), value)


def close(ratio: int) -> Any:
    return replace(DEFAULT, bisection_parts=ratio)


def test_bounds_within_a_part_of_each_other() -> None:
    for parts in (2, 7, 200):
        for upper in (1, 7, 199, 200, 201, 1400):
            for lower in range(max(upper - 20, 0), upper + 1):
                assert _is_close_enough(lower, upper, close(parts)) == (Fraction(upper - lower, 1) <= Fraction(upper, parts)), (
                    lower,
                    upper,
                )


class Steps:
    """The steps of a bisection exchanged for given answers; what was asked of them, in order."""

    def __init__(self, patch: pytest.MonkeyPatch, **answers: Any) -> None:
        self.asked: list[str] = []
        self.given: dict[str, tuple[Any, ...]] = {}
        for name, answer in answers.items():
            patch.setattr(module, name, self.step(name, answer))

    def step(self, name: str, answer: Any) -> Any:
        def ask(*given: Any, **words: Any) -> Any:
            self.asked.append(name)
            self.given[name] = (*given, *words.values())
            return answer

        return ask


SHARES, GROUPS, PLACES, ROUTES = Shares(()), GroupRoutes(), EveryPlacement(()), Spectrum(Fraction(1))


def run(
    patch: pytest.MonkeyPatch, shares: int, grouped: int, best: int, places: int = 0, other: int = 0, trunks: int = 1,
    moved: int | None = None, transit: int = 2, direct: Any = None, between_groups: bool = True,
) -> tuple[int, int, Any, list[str]]:  # fmt: skip
    """The bounds, what shows the lower one, and the steps that were taken; ``best`` is the cut known at first."""
    net: Any = SimpleNamespace(transit=range(transit), trunks=SimpleNamespace(a=range(trunks)), units=range(4), half=2)
    budget = replace(DEFAULT, good_enough_trunks=10, near_ratio=Fraction(11, 10), bisection_parts=20)
    steps = Steps(
        patch, unit_network=net, _direct=direct, _shares=(shares, SHARES), _by_groups=(grouped, GROUPS),
        _cuts=[cut(best)], refined=[] if moved is None else [cut(moved)], _by_places=((places, PLACES), [cut(best)]),
        _both_bounds=([(other, ROUTES)], [cut(best)]),
    )  # fmt: skip
    patch.setattr(module, "UnitGraph", SimpleNamespace(of=lambda *_: None))
    view: Any = SimpleNamespace(budget=budget)
    found = module._compute_bisection(view, between_groups)
    if found is direct:
        return 0, 0, direct, steps.asked
    asked = [x for x in steps.asked if x != "unit_network"]
    assert "_cuts" not in asked or steps.given["_cuts"][2] == max(shares, grouped if between_groups else 0)
    if "_by_places" in asked:
        assert steps.given["_by_places"][2].placement_work == DEFAULT.placement_first_work
    if "_both_bounds" in asked:
        assert steps.given["_both_bounds"][3] == shares
    return found.lower, found.upper, found.bound.proof_lower, asked


FIRST = ["_shares", "_by_groups", "_cuts"]
ALL = [*FIRST, "_by_places", "_both_bounds"]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"shares": 10, "grouped": 5, "best": 10}, (10, 10, SHARES, FIRST)),
        ({"shares": 12, "grouped": 5, "best": 10}, (12, 10, SHARES, FIRST)),
        ({"shares": 9, "grouped": 10, "best": 10}, (10, 10, GROUPS, FIRST)),
        ({"shares": 10, "grouped": 10, "best": 10}, (10, 10, SHARES, FIRST)),
        ({"shares": 1, "grouped": 8, "best": 10, "places": 10}, (10, 10, PLACES, ALL[:4])),
        ({"shares": 1, "grouped": 8, "best": 10, "places": 9, "other": 3}, (8, 10, GROUPS, ALL)),
        ({"shares": 1, "grouped": 2, "best": 10, "places": 9, "other": 3}, (3, 10, ROUTES, ALL)),
        ({"shares": 4, "grouped": 2, "best": 10, "other": 4}, (4, 10, SHARES, ALL)),
        ({"shares": 1, "grouped": 4, "best": 10, "other": 4}, (4, 10, ROUTES, ALL)),
        ({"shares": 1, "grouped": 10, "best": 11, "other": 4}, (10, 11, GROUPS, ALL)),
        ({"shares": 1, "grouped": 10, "best": 11, "trunks": 10, "other": 4}, (10, 11, GROUPS, ALL)),
        ({"shares": 1, "grouped": 10, "best": 11, "trunks": 11}, (10, 11, GROUPS, [*FIRST, "refined"])),
        ({"shares": 1, "grouped": 10, "best": 11, "trunks": 11, "moved": 10}, (10, 10, GROUPS, [*FIRST, "refined"])),
        ({"shares": 1, "grouped": 10, "best": 11, "trunks": 11, "moved": 12}, (10, 11, GROUPS, [*FIRST, "refined"])),
        ({"shares": 1, "grouped": 19, "best": 20, "trunks": 11}, (19, 20, GROUPS, FIRST)),
        ({"shares": 1, "grouped": 10, "best": 12, "trunks": 11, "other": 4}, (10, 12, GROUPS, ALL)),
        ({"shares": 10, "grouped": 10, "best": 11, "trunks": 11, "other": 4}, (10, 11, SHARES, [*FIRST, "refined", *ALL[3:]])),
        ({"shares": 1, "grouped": 10, "best": 10, "between_groups": False, "other": 2}, (2, 10, ROUTES, ["_shares", *ALL[2:]])),
        ({"shares": 0, "grouped": 5, "best": 1, "trunks": 11, "between_groups": False}, (0, 1, SHARES, ["_shares", *ALL[2:]])),
        ({"shares": 1, "grouped": 5, "best": 6, "trunks": 11, "other": 2}, (5, 6, GROUPS, ALL)),
        ({"shares": 0, "grouped": 9, "best": 9, "transit": 0}, (9, 9, GROUPS, ["_direct", *FIRST])),
    ],
)  # fmt: skip
def test_the_order_of_the_steps(given: dict[str, Any], wanted: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Quick bounds come first; where networks are large, bounds near each other are enough."""
    assert run(monkeypatch, **given) == wanted


def test_chips_that_are_settled_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    found = object()
    assert run(monkeypatch, 1, 2, 3, transit=0, direct=found) == (0, 0, found, ["unit_network", "_direct"])


def test_translations_and_flat_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing without a symmetry or without routes; else the first flat cut that equals what the routes show."""
    net, view = SimpleNamespace(), SimpleNamespace(fabric=None, budget=DEFAULT)
    graph, symmetry, routes = SimpleNamespace(kind="classes"), SimpleNamespace(link="orbits"), SimpleNamespace()
    tried: list[Any] = []
    monkeypatch.setattr(module, "UnitGraph", SimpleNamespace(of=lambda *_: graph))
    monkeypatch.setattr(module, "UniformDemand", SimpleNamespace(all_to_all=lambda g: "all"))
    monkeypatch.setattr(module, "bound_across_halves", lambda found: 7)
    monkeypatch.setattr(module, "cut_with_nodes_placed", lambda net, units, budget: tried.append(units) or cut(units[1]))
    monkeypatch.setattr(
        module, "flat_splits", lambda g, kind, budget: [(kind, 9), (kind, 7 if kind == "classes" else 8), (kind, 7)]
    )

    def answers(symmetric: Any, routed: Any) -> Any:
        monkeypatch.setattr(module, "translation_orbits", lambda *_: symmetric)
        monkeypatch.setattr(module, "uniform_flow_bounds", lambda *_, budget: (budget.uniform_rounds == 1 and routed) or None)
        return _bisection_by_translations(view, net)  # type: ignore[arg-type]

    assert answers(None, routes) is None and answers(symmetry, None) is None and not tried
    found = answers(symmetry, routes)
    assert (found.lower, found.upper, found.bound.proof_lower) == (7, 7, routes)
    assert tried == [("orbits", 9), ("orbits", 8), ("orbits", 7)]
    tried.clear()
    monkeypatch.setattr(module, "flat_splits", lambda g, kind, budget: [(kind, 9), (kind, 7 if kind == "classes" else 8)])
    assert answers(symmetry, routes).upper == 7 and tried[-1] == ("classes", 7)
    monkeypatch.setattr(module, "flat_splits", lambda g, kind, budget: [(kind, 8)])
    assert answers(symmetry, routes) is None


@pytest.mark.parametrize(
    ("units", "rate", "value"),
    [(4, Fraction(1, 4), 1), (5, Fraction(1, 4), 2), (5, Fraction(1, 3), 2), (6, Fraction(0), 0), (7, Fraction(2, 3), 8)],
)
def test_routes_between_groups_cross_every_split(units: int, rate: Fraction, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the units send to the others at this rate: rounded up to whole grains."""
    monkeypatch.setattr(module, "group_rate", lambda *_: rate)
    net: Any = SimpleNamespace(half=units // 2, units=range(units))
    found = _bound_by_groups(net, SimpleNamespace(fabric=None, budget=None))  # type: ignore[arg-type]
    assert found == (value, GroupRoutes())


def test_shares_of_the_network_or_of_the_one_with_restored_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was restored is taken off; the network itself counts where that shows as much."""
    net, view = object(), SimpleNamespace(fabric=None, budget=None)
    for own, other, cost, wanted in ((5, 9, 3, 6), (5, 9, 4, 5), (5, 9, 5, 5), (0, 3, 3, 0), (5, None, 0, 5), (0, 4, 3, 1)):
        whole = SimpleNamespace(net="whole", cost=cost) if other is not None else None
        monkeypatch.setattr(module, "restore_missing_links", lambda *_, whole=whole: whole)
        monkeypatch.setattr(
            module, "_best_spreads", lambda n, own=own, other=other: (("whole",), other) if n == "whole" else (("own",), own)
        )
        value, proof = _bound_by_shares(net, view)  # type: ignore[arg-type]
        assert value == wanted and isinstance(proof, Shares)
        if wanted > own:
            assert proof.parts == ("whole",) and proof.restored is whole
        else:
            assert proof.parts == (("own",) if own else ()) and proof.restored is None
    monkeypatch.setattr(module, "_best_spreads", lambda n: ((), 0))
    monkeypatch.setattr(module, "restore_missing_links", lambda *_: pytest.fail("links of no network were looked for"))
    assert _bound_by_shares(net, view) == (0, Shares(()))  # type: ignore[arg-type]


def test_equal_planes_are_spread_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def plane(capacity: int) -> Any:
        return SimpleNamespace(tail=np.array([0]), head=np.array([1]), capacity=np.array([capacity]))

    planes = [plane(4), plane(4), plane(0), plane(6)]
    monkeypatch.setattr(module, "networks_of_components", lambda net: planes)

    def best(part: Any) -> Any:
        asked.append(int(part.capacity[0]))
        return SimpleNamespace(value=asked[-1]) if asked[-1] else None

    monkeypatch.setattr(module, "best_spread", best)
    spreads, value = _best_spreads(None)  # type: ignore[arg-type]
    assert asked == [4, 0, 6] and value == 14 and [p for p, _ in spreads] == [planes[0], planes[1], planes[3]]


# ---------------------------------------------------------------- cuts and all splits


def test_cuts_until_one_equals_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    net: Any = SimpleNamespace(transit=range(2), trunks=SimpleNamespace(a=range(3)))
    view: Any = SimpleNamespace(fabric=None, budget=replace(DEFAULT, placing_trunks=2))
    values = {0: 9, 1: 5, 2: 7, 3: 5}
    monkeypatch.setattr(module, "balanced_splits", lambda *_: iter(values))
    monkeypatch.setattr(module, "cut_with_nodes_placed", lambda net, units, budget: cut(values[units], name=units))
    assert [c.value for c in _bisection_cuts(net, view, 7)] == [7]
    assert [c.value for c in _bisection_cuts(net, view, 4)] == [5, 5, 7, 9]
    monkeypatch.setattr(module, "_best_placed", lambda net, found, lower, budget: found[2])
    assert [c.value for c in _bisection_cuts(net, view, 4)] == [7, 5, 5, 9]


def test_switches_are_placed_for_as_many_cuts_as_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four at least; none where there are too many pairs of switches, or none; the search ends at the bound."""
    flows: list[str] = []
    better = {"0": 9, "1": 8, "2": 7, "3": 7, "4": 3, "5": 1}

    def least(net: Any, units: Any) -> Cut:
        flows.append(units)
        return Cut(units, np.zeros(1, dtype=np.bool_), better[units])

    monkeypatch.setattr(module, "minimum_cut_of_split", least)
    found: Any = [Cut(x, None, 9 + (x != "0")) for x in better]  # type: ignore[arg-type]

    def best(pairs: int, lower: int = 0, transit: int = 1, **limits: int) -> tuple[int, int]:
        flows.clear()
        net: Any = SimpleNamespace(transit=range(transit), trunks=SimpleNamespace(a=range(pairs)))
        return _best_placed(net, found, lower, replace(DEFAULT, **limits)).value, len(flows)

    assert best(5, placing_trunks=5, placing_work=36) == (1, 6) and best(5, placing_trunks=4) == (9, 0)
    assert best(5, placing_work=30) == (3, 5) and best(5, placing_work=29) == (7, 4) and best(5, placing_work=0) == (7, 4)
    assert best(5, transit=0) == (9, 0) and best(5, lower=9) == (9, 0) and best(5, lower=8) == (8, 2)
    assert best(0, placing_work=5) == (3, 5)
    assert best(5, lower=7) == (7, 3)
    few: Any = SimpleNamespace(transit=range(1), trunks=SimpleNamespace(a=range(5)))
    assert _best_placed(few, found, 0, replace(DEFAULT, placing_work=0)).units == "2"  # the first of equal ones


def test_all_splits_where_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """By elimination, or one by one, or by the places of some switches; the cut that was found is the best known then."""
    for seed in range(40):
        net = network(seed)
        if net.unit_count < 3:
            continue
        first = [cut(10**6)]
        count = len(list(module._every_split(net)))
        assert count <= 35
        exact = min(module.minimum_cut_of_split(net, units).value for units in module._every_split(net))
        (value, proof), cuts = _bound_by_all_splits(net, first, DEFAULT)
        assert value == cuts[0].value == exact and proof == EverySplit(((net, exact),)) and cuts[-1] is first[0]
        monkeypatch.setattr(module, "least_cut_by_elimination", lambda *_: None)
        (value, proof), cuts = _bound_by_all_splits(net, first, DEFAULT)
        assert value == cuts[0].value == exact and proof == EverySplit(((net, exact),)) and len(cuts) == 2
        assert crosses(net, [*cuts[0].units.tolist(), *cuts[0].nodes.tolist()]) == exact
        monkeypatch.setattr(module, "_bound_by_placements", lambda net, cuts, budget: ((0, PLACES), cuts))
        assert _bound_by_all_splits(net, first, replace(DEFAULT, split_count=0))[0] == (0, PLACES)
        monkeypatch.undo()


def test_places_of_switches_of_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are added up, equal ones asked once; the whole is asked as well; parts with few units show nothing."""
    asked: list[int] = []

    def part(number: int, units: int) -> Any:
        column = np.array([number])
        access = SimpleNamespace(a=np.arange(units))
        return SimpleNamespace(tail=column, head=column, capacity=column, access=access, units=range(6), half=3)

    values: dict[int, int | None] = {1: 4, 2: 3, 9: 8, 5: None}

    def placements(one: Any, budget: Any) -> Any:
        number = int(one.capacity[0])
        asked.append(number)
        value = values[number]
        return None if value is None else (value, np.full(2, number))

    monkeypatch.setattr(module, "least_cut_by_placements", placements)
    monkeypatch.setattr(module, "minimum_cut_of_split", lambda net, units: cut(20 + int(units[0])))
    net = part(9, 6)

    def shown(*each: Any, best: int = 100) -> tuple[int, list[int], list[int]]:
        asked.clear()
        monkeypatch.setattr(module, "networks_of_components", lambda net: list(each))
        (value, proof), cuts = _bound_by_placements(net, [cut(best)], DEFAULT)
        assert isinstance(proof, EveryPlacement)
        return value, [int(p.capacity[0]) * 100 + v for p, v in proof.parts], [c.value for c in cuts]

    one, two, none = part(1, 4), part(2, 5), part(5, 6)
    assert shown(one, two) == (8, [908], [21, 22, 29, 100]) and asked == [1, 2, 9]
    assert shown(one, part(1, 4), two) == (11, [104, 104, 203], [21, 22, 29, 100]) and asked == [1, 2, 9]
    assert shown(one, part(2, 3)) == (8, [908], [21, 29, 100]) and asked == [1, 9]
    assert shown(one, none) == (8, [908], [21, 29, 100]) and shown(net) == (8, [908], [29, 100])
    assert asked == [9]
    assert shown(none) == (0, [], [100])
    monkeypatch.setattr(module, "minimum_cut_of_split", lambda net, units: cut(7))
    assert shown(one, two)[0] == 7 and asked == [1, 2]
    values[9] = 7
    monkeypatch.setattr(module, "minimum_cut_of_split", lambda net, units: cut(50))
    assert shown(one, two) == (7, [104, 203], [50, 50, 50, 100])


# ---------------------------------------------------------------- routes and better cuts


class Routes(SimpleNamespace):
    """Routes that show so many grains, and at most so many by other lengths."""


def both(patch: pytest.MonkeyPatch, given: dict[str, Any]) -> tuple[list[int], list[int], list[Any]]:
    """The lower bounds that are shown, the cuts, and the calls of the search for routes: the demand and how it ends."""
    facts: dict[str, Any] = {
        "forwards": (True, True, False), "orbits": (0, 0, 2), "translated": False, "first": 5, "hubs": 4, "final": 7, "every": 3,
        "spectrum": 2, "best": 10, "lower": 1, "moved": 9, "placed": 8, "hub_arcs": 8, "history": (),
    } | given  # fmt: skip
    calls: list[Any] = []
    ends: list[bool] = []

    def routes(lower: Any, upper: int = 100) -> Any:
        return None if lower is None else replace_able(Fraction(lower), Fraction(upper))

    graph: Any = SimpleNamespace(
        forwards=np.array(facts["forwards"]), weight=np.array([1, 1, 0]), nodes=3, network=SimpleNamespace(head=range(4))
    )
    patch.setattr(module, "UnitGraph", SimpleNamespace(of=lambda *_: graph))
    symmetry = SimpleNamespace(node=np.array(facts["orbits"]), name="orbits")
    ports = SimpleNamespace(node=np.array(facts["orbits"]), name="translated")
    patch.setattr(module, "translation_orbits", lambda *_: ports if facts["translated"] else None)
    patch.setattr(module, "automorphism_orbits", lambda *_: symmetry)
    patch.setattr(
        module, "UniformDemand", SimpleNamespace(all_to_all=lambda g: "all", hubs=lambda g, node, count: f"hubs {count}")
    )

    def concurrent(g: Any, demand: str, symmetry: Any, enough: Any = None, *, budget: Any) -> Any:
        calls.append((demand, symmetry.name, budget.uniform_rounds))
        if enough is None:
            first = len([c for c in calls if c[2] == 1]) == 1
            return routes(facts["first"] if first else facts["hubs"])
        for low, high in facts["history"]:
            ends.append(enough(replace_able(Fraction(low), Fraction(high))))
        return routes(facts["final"])

    patch.setattr(module, "uniform_flow_bounds", concurrent)
    patch.setattr(module, "bound_across_halves", lambda found: int(found.lower))
    patch.setattr(module, "replace", replaced)
    patch.setattr(module, "_bound_by_all_splits", lambda net, cuts, budget: ((facts["every"], EverySplit(())), cuts))
    patch.setattr(module, "spectral_cut_bound", lambda *_: (facts["spectrum"], Fraction(1)))
    patch.setattr(module, "cuts_by_local_search", lambda g, units, budget: [cut(facts["moved"])])
    patch.setattr(module, "_best_placed", lambda net, found, lower, budget: cut(min(facts["placed"], found[0].value), name=lower))
    budget = replace(
        DEFAULT,
        hub_arcs=facts["hub_arcs"],
        uniform_rounds=20,
        bisection_parts=20,
        bisection_idle_rounds=3,
        bisection_trend_rounds=4,
    )
    view: Any = SimpleNamespace(budget=budget, fabric=None)
    net: Any = None
    shown, cuts = module._both_bounds(view, net, [cut(facts["best"]), cut(facts["best"] + 5)], facts["lower"])
    return [value for value, _ in shown], [c.value for c in cuts], [*calls, *([ends] if ends else [])]


def replace_able(lower: Fraction, upper: Fraction) -> Any:
    return Routes(lower=lower, upper=upper)


def replaced(what: Any, **fields: Any) -> Any:
    return Routes(**(vars(what) | fields)) if isinstance(what, Routes) else replace(what, **fields)


ONCE, ALL_ONCE = ("hubs 3", "orbits", 1), ("all", "orbits", 1)


@pytest.mark.parametrize(
    ("given", "shown", "cuts", "calls"),
    [
        ({}, [7, 3, 2], [8], [ALL_ONCE, ("all", "orbits", 20)]),
        ({"translated": True}, [7, 3, 2], [8], [("all", "translated", 1), ("all", "translated", 20)]),
        ({"forwards": (True, False, True)}, [7, 3, 2], [8], [ONCE, ("hubs 3", "orbits", 20)]),
        ({"first": None}, [7, 3, 2], [8], [ALL_ONCE, ("hubs 2", "orbits", 1), ("hubs 2", "orbits", 20)]),
        ({"first": None, "hub_arcs": 3}, [4, 3, 2], [10, 15], [ALL_ONCE, ("hubs 1", "orbits", 1)]),
        ({"first": None, "hub_arcs": 7}, [4, 3, 2], [10, 15], [ALL_ONCE, ("hubs 1", "orbits", 1)]),
        ({"first": 5, "hub_arcs": 3}, [7, 3, 2], [8], [ALL_ONCE, ("all", "orbits", 20)]),
        ({"first": None, "hubs": None}, [3, 2], [10, 15], [ALL_ONCE, ("hubs 2", "orbits", 1)]),
        ({"final": None}, [5, 3, 2], [8], [ALL_ONCE, ("all", "orbits", 20)]),
        ({"first": 10}, [10], [10, 15], [ALL_ONCE]),
        ({"lower": 10}, [5], [10, 15], [ALL_ONCE]),
        ({"every": 10}, [5, 10, 2], [10, 15], [ALL_ONCE]),
        ({"spectrum": 10}, [5, 3, 10], [10, 15], [ALL_ONCE]),
        ({"placed": 5}, [5, 3, 2], [5], [ALL_ONCE]),
        ({"placed": 5, "lower": 4}, [5, 3, 2], [5], [ALL_ONCE]),
        ({"moved": 6}, [7, 3, 2], [6], [ALL_ONCE, ("all", "orbits", 20)]),
        ({"moved": 12, "placed": 12}, [7, 3, 2], [10], [ALL_ONCE, ("all", "orbits", 20)]),
    ],
)  # fmt: skip
def test_routes_and_better_cuts(given: Any, shown: Any, cuts: Any, calls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One set of routes, all splits and the spectrum; then more of both, where the bounds still differ."""
    assert both(monkeypatch, given) == (shown, cuts, calls)


@pytest.mark.parametrize(
    ("history", "ends"),
    [
        ([(1, 100), (2, 100), (3, 100), (4, 100)], [False] * 4),  # a grain gained each round
        ([(1, 100), (1, 100), (1, 100), (1, 100), (2, 100)], [False, False, False, True, False]),  # none in three
        ([("3/2", 100), (1, 100), (1, 100), ("19/10", 100), (2, 100)], [False, False, False, True, False]),
        ([(1, 4), (2, 5), (3, 6)], [True, False, False]),  # more than 5 is known not to come
        ([("19/3", 100), ("38/5", 100)], [False, False]), ([(5, 100), (8, 100), (7, 100)], [False, True, False]),
        ([(4, 100), ("17/4", 100), (2, 100), (4, 100), ("37/9", 100)], [False] * 3 + [True, True]),
        ([(4, 100), ("17/4", 100), (2, 100), (4, 100), ("33/8", 100)], [False] * 3 + [True, False]),
        ([(1, 100), (3, 100), (2, 100), (4, 100), ("8/5", 100)], [False] * 5),
        ([(1, 100), (3, 100), (2, 100), (2, 100), ("11/10", 100)], [False] * 4 + [True]),
    ],
)  # fmt: skip
def test_when_the_search_for_routes_ends(history: Any, ends: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """The cut is 8 and 5 is shown; three rounds without a grain, or a trend over four that would not lead to 5, end it."""
    _, _, calls = both(monkeypatch, {"history": history})
    assert calls[-1] == ends


# ---------------------------------------------------------------- all-to-all


def test_the_unit_with_the_fewest_ports_against_all_others() -> None:
    for seed in range(40):
        net = network(seed)
        found = _cut_of_least_unit(net)
        degree = [sum(c for a, b, c in links_of(net) if u in (a, b)) for u in range(net.unit_count)]
        assert found.units.tolist() == [u == degree.index(min(degree)) for u in range(net.unit_count)] and not found.nodes.any()
        assert found.value == min(degree) == crosses(net, [*found.units.tolist(), *found.nodes.tolist()])
        assert _rate_of_cut(found) == Fraction(min(degree), net.unit_count - 1)
    assert _rate_of_cut(cut(12, "11100")) == 2 and _rate_of_cut(cut(5, "1000")) == Fraction(5, 3)


def weighted(seed: int) -> tuple[Network, list[int]]:
    """A network of nodes that represent so many units, of which some forward."""
    rng = Random(seed)
    nodes = rng.randint(3, 6)
    links = {tuple(sorted(rng.sample(range(nodes), 2))): rng.randint(1, 5) for _ in range(8)}
    a, b = np.array(list(links), dtype=np.int64).T
    net = Network.both_ways(np.array([rng.random() < 0.4 for _ in range(nodes)]), a, b, np.array(list(links.values())))
    return net, [rng.randint(0, 4) for _ in range(nodes)]


def test_what_those_of_one_node_send_each_other() -> None:
    """Over all links of a node that does not forward, in proportion to their capacities, rounded up; up and down."""
    for seed in range(60):
        net, weight = weighted(seed)
        full = [sum(c for a, c in zip(net.tail.tolist(), net.capacity.tolist(), strict=True) if a == v) for v in range(net.nodes)]
        for parts in (1, PARTS):
            wanted = []
            for a, b, c in zip(net.tail.tolist(), net.head.tolist(), net.capacity.tolist(), strict=True):
                ends = [v for v in (a, b) if not net.forwards[v]]
                wanted.append(sum(-(-weight[v] * (weight[v] - 1) * parts * c // full[v]) for v in ends))
            assert _traffic_within_nodes(np.array(weight), net, parts).tolist() == wanted, seed


def test_demands_of_all_pairs() -> None:
    """Between nodes by the units that they represent; without the pairs where those are too many."""
    for seed in range(60):
        net, weight = weighted(seed)
        some = [v for v, w in enumerate(weight) if w]
        total = [w * (sum(weight) - 1) for w in weight]
        for limit in (len(some) ** 2, len(some) ** 2 - 1):
            found = _uniform_node_demands(np.array(weight), net, limit)
            rows = list(zip(found.source.tolist(), found.target.tolist(), found.amount.tolist(), strict=True))
            many = limit < len(some) ** 2
            assert rows == ([] if many else [(s, t, weight[s] * weight[t]) for s in some for t in some if s != t])
            assert [*map(int, found.out)] == [*map(int, found.into)] == total
            if not many and some:
                assert found.own.tolist() == _traffic_within_nodes(np.array(weight), net, PARTS).tolist()


def answer(lower: object, upper: object, name: str) -> AllToAll:
    net: Any = name
    bound: Any = Bound(Fraction(str(lower)), Fraction(str(upper)), f"low {name}", f"high {name}")
    return AllToAll(net, bound, np.zeros(0, dtype=np.int64))


@pytest.mark.parametrize(
    ("arcs", "first", "other", "wanted", "asked"),
    [
        (6, None, (1, 2), (1, 2, "solved"), "as"), (6, None, (2, 2), (2, 2, "other"), "a"), (6, None, None, None, "ai"),
        (5, (10, 11), (1, 2), (10, 11, "first"), "i"),
        (5, (5, 6), (1, 9), (5, 6, "first"), "ia"), (5, (10, 12), (9, 13), (10, 12, "first"), "ia"),
        (5, (10, 12), (11, 13), (11, 12, "first"), "ia"), (5, (10, 12), (9, 11), (10, 11, "first"), "ia"),
        (5, (10, 12), None, (10, 12, "first"), "ia"), (5, None, (1, 2), (1, 2, "solved"), "ias"),
        (5, None, (2, 2), (2, 2, "other"), "ia"), (5, None, None, None, "iai"),
    ],
)  # fmt: skip
def test_the_order_of_the_methods_of_all_to_all(
    arcs: int, first: Any, other: Any, wanted: Any, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three links six arcs; where they are many the quotient network comes first, and bounds within a tenth are enough."""
    taken: list[str] = []

    def method(letter: str, given: Any, name: str) -> Any:
        return lambda *_: (taken.append(letter), answer(*given, name) if given else None)[1]

    monkeypatch.setattr(pairs, "cut_and_route_bounds", method("i", first, "first"))
    monkeypatch.setattr(pairs, "all_to_all", method("a", other, "other"))
    monkeypatch.setattr(
        pairs, "_improve_by_arc_program", lambda view, known: (taken.append("s"), answer(known.lower, known.upper, "solved"))[1]
    )
    view: Any = SimpleNamespace(rows=range(3), budget=replace(DEFAULT, combination_arcs=arcs))
    found = pairs.all_to_all_bounds(view)
    assert "".join(taken) == asked
    assert (found and (found.lower, found.upper, found.net)) == wanted


def test_what_a_linear_program_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every unit is a node, and sources times arcs are within the limit; what certificates can state is kept beside it."""
    known, given = answer(2, 5, "known"), []
    facts: dict[str, Any] = {"weight": [1, 1, 1, 0], "found": None}
    net = Network.both_ways(np.ones(4, dtype=np.bool_), np.array([0, 1, 2]), np.array([3, 3, 3]))

    def graph(*_: Any) -> Any:
        return SimpleNamespace(unit_node=np.array([0, 1, 2]), weight=np.array(facts["weight"]), network=net)

    def program(network: Network, demands: Any, top: Any, budget: Any) -> Any:
        given.append((demands, top))
        return facts["found"]

    monkeypatch.setattr(pairs, "UnitGraph", SimpleNamespace(of=graph))
    monkeypatch.setattr(pairs, "flow_of_demands", program)

    def solved(found: tuple[int, int] | None, cells: int = 18, weight: int = 1) -> Any:
        given.clear()
        facts["found"] = found and Bound(Fraction(found[0]), Fraction(found[1]), "low program", "high program")
        facts["weight"] = [weight, 1, 1, 0]
        view: Any = SimpleNamespace(budget=replace(DEFAULT, arc_program_cells=cells))
        return pairs._improve_by_arc_program(view, known)

    assert solved(None) is known and given == [({(s, t): 1 for s in range(3) for t in range(3) if s != t}, Fraction(5))]
    assert solved((4, 4), cells=17) is known and not given and solved((4, 4), weight=2) is known and not given
    for found, kept in (((2, 5), True), ((1, 6), True), ((3, 5), False), ((2, 4), False), ((1, 4), False), ((4, 4), False)):
        made = solved(found)
        assert (made is known) == kept
        if not kept:
            assert (made.lower, made.upper) == (max(2, found[0]), min(5, found[1])) and made.stated is known
            assert made.net is known.net and made.device is known.device
            assert made.bound.proof_lower == ("low program" if found[0] > 2 else "low known")
            assert made.bound.proof_upper == ("high program" if found[1] < 5 else "high known")


def interval(patch: pytest.MonkeyPatch, **given: Any) -> Any:
    """Bounds by cuts and routes with the methods exchanged: three hosts on two switches."""
    facts: dict[str, Any] = {
        "cut": 6,
        "blocks": None,
        "combined": (7, None),
        "hubs": None,
        "trees": None,
        "fits": 1,
        "weight": [1, 1, 1, 0, 0],
    } | given
    net = Network.both_ways(
        np.array([False] * 3 + [True] * 2), *(np.array(x) for x in ([0, 1, 2, 3], [3, 3, 4, 4], [4, 4, 4, 4]))
    )
    graph = SimpleNamespace(network=net, forwards=net.forwards, weight=np.array(facts["weight"]), device=np.arange(5) + 10)
    patch.setattr(pairs, "unit_network", lambda view: "net")
    patch.setattr(pairs, "UnitGraph", SimpleNamespace(of=lambda *_: graph))
    patch.setattr(pairs, "_cut_of_least_unit", lambda net: cut(9, "100"))
    patch.setattr(pairs, "balanced_splits", lambda net, fabric: [0])
    patch.setattr(pairs, "cut_with_nodes_placed", lambda net, units, budget: cut(facts["cut"], "110", name=1))
    patch.setattr(pairs, "group_labels", lambda fabric, devices: [devices])
    patch.setattr(pairs, "least_block_cut", lambda *_: facts["blocks"])
    added: list[Any] = []
    combination = SimpleNamespace(columns=[1] if facts["fits"] and not facts["hubs"] and not facts["trees"] else [])
    combination.add = lambda column: (added.append(column), combination.columns.append(column))
    combination.fits = lambda: Fraction(facts["fits"])
    asked: list[Any] = []

    def combined(network: Network, wanted: Any, upper: Fraction, *, budget: Any) -> Any:
        asked.append(upper)
        value, lengths = facts["combined"]
        return combination, min(upper, Fraction(value)), np.zeros(0, dtype=np.int64) if lengths is None else lengths

    patch.setattr(pairs, "combine_routings", combined)
    patch.setattr(pairs, "route_over_hubs", lambda *_: facts["hubs"])
    patch.setattr(pairs, "uniform_loads_along_trees", lambda *_: facts["trees"])
    view: Any = SimpleNamespace(fabric=None, budget=replace(DEFAULT, uniform_pairs=given.get("pairs", 9)))
    found = pairs.cut_and_route_bounds(view)
    return found, added, asked


def test_bounds_by_cuts_and_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Splits, blocks, lengths: the least upper bound with its proof; routes over hubs or trees only where there are no others."""
    mask = np.array([True, False, True] + [False] * 5)
    found, added, asked = interval(monkeypatch)
    assert (found.lower, found.upper, asked, added) == (1, 3, [3], []) and found.bound.proof_upper.value == 6
    assert found.device.tolist() == [10, 11, 12, 13, 14]
    assert interval(monkeypatch, fits=5)[0].lower == 3
    found, _, asked = interval(monkeypatch, blocks=(Fraction(2), mask))
    assert (found.upper, asked) == (2, [2]) and found.bound.proof_upper.length.tolist() == mask.astype(int).tolist()
    for blocks in (Fraction(3), Fraction(4)):
        found, _, asked = interval(monkeypatch, blocks=(blocks, mask))
        assert (found.upper, asked) == (3, [3]) and isinstance(found.bound.proof_upper, Cut)
    found, _, asked = interval(monkeypatch, blocks=(Fraction(2), mask), pairs=8)
    assert (found.upper, asked) == (3, [3])
    lengths = np.arange(8)
    found, _, _ = interval(monkeypatch, blocks=(Fraction(2), mask), combined=("3/2", lengths))
    assert found.upper == Fraction(3, 2) and found.bound.proof_upper.length.tolist() == lengths.tolist()
    assert interval(monkeypatch, hubs="hubs")[1] == ["hubs"]
    trees = SimpleNamespace(parts=2, load=np.arange(8).astype(object))
    found, added, _ = interval(monkeypatch, trees=trees)
    assert len(added) == 1 and added[0].whole == 2 and added[0].trees is trees
    assert [int(x) for x in added[0].load] == list(range(8))
    _, added, _ = interval(monkeypatch, trees=trees, weight=[3, 1, 1, 0, 0])
    assert [int(x) for x in added[0].load] == [12, 1, 2, 15, 4, 5, 6, 7]  # what three hosts of one node send each other
    assert interval(monkeypatch, fits=0)[0] is None


def test_nodes_with_units_and_endpoints_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only switches are put together, not what forwards and is a unit, nor hosts that are no units."""
    given: list[Any] = []
    original = pairs.quotient_of_switches
    monkeypatch.setattr(pairs, "quotient_of_switches", lambda net, apart: (given.append(apart.tolist()), original(net, apart))[1])
    interval(monkeypatch, weight=[1, 0, 2, 0, 1])
    assert given == [[True, True, True, False, True]]


def test_the_most_that_a_pair_can_have() -> None:
    net = network(3)
    made = AllToAll(net, answer(0, 1, "x").bound, np.zeros(0, dtype=np.int64))
    assert made.top == Fraction(int(net.injection.min()), net.unit_count - 1)
    assert (made.lower, made.upper) == (0, 1)


def test_cuts_and_routes_of_all_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """One try without symmetry, where that is little work; the search ends at the better of both upper bounds."""
    monkeypatch.setattr(pairs, "unit_network", lambda view: "net")
    graph = SimpleNamespace(
        nodes=3, weight=np.array([1, 1, 0]), a=np.arange(2), network=SimpleNamespace(head=np.arange(4)), device=np.arange(3)
    )
    monkeypatch.setattr(pairs, "UnitGraph", SimpleNamespace(of=lambda *_: graph))
    monkeypatch.setattr(pairs, "UniformDemand", SimpleNamespace(all_to_all=lambda g: "all"))
    monkeypatch.setattr(pairs, "_cut_of_least_unit", lambda net: cut(6, "100"))
    monkeypatch.setattr(pairs, "cut_with_nodes_placed", lambda net, units, budget: cut(4, "110"))
    monkeypatch.setattr(pairs, "balanced_splits", lambda net, fabric: [0])
    answers: list[Any] = []
    given: list[Any] = []

    def concurrent(graph: Any, demand: Any, *rest: Any, **words: Any) -> Any:
        given.append((rest, words))
        return answers.pop(0)

    monkeypatch.setattr(pairs, "uniform_flow_bounds", concurrent)

    def rates(*found: Any, work: int = 8) -> Any:
        answers[:] = [x and SimpleNamespace(lower=Fraction(x[0]), upper=Fraction(x[1])) for x in found]
        given.clear()
        view: Any = SimpleNamespace(fabric=None, budget=replace(DEFAULT, uniform_first_work=work))
        made = pairs.all_to_all(view)
        assert not answers
        return made and (made.lower, made.upper, isinstance(made.bound.proof_upper, OrbitLengths))

    assert rates((2, 3)) == (2, 2, False) and len(given) == 1
    (rest, words) = given[0]
    assert rest[0].images == () and rest[0].node.tolist() == [0, 1, 2] and rest[0].link.tolist() == [0, 1]
    assert rest[2].uniform_rounds == 1 and not words
    assert rates((2, 2)) == (2, 2, False) and rates((1, 1)) == (1, 1, True)
    assert rates((1, 2), (Fraction(3, 2), Fraction(7, 4))) == (Fraction(3, 2), Fraction(7, 4), True) and len(given) == 2
    assert rates((1, 4), (1, 4)) == (1, 2, False)
    assert rates((1, 4), work=7) == (1, 2, False) and given[0][1]["budget"].uniform_rounds == DEFAULT.uniform_rounds
    assert rates(None, None) is None and rates(None, (1, 1)) == (1, 1, True)
