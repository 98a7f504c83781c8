"""The search for an order of moves, on cables whose bandwidth is counted: what may be out at once, in what order, why not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.changes.exhaust import Search
from tdsl.changes.model import CableEnd, CableLeg
from tdsl.changes.steps import MovePlan, MovePlanner, percent_of_share


def cable(a: str, b: str, link: int) -> CableLeg:
    """``x.1`` as an end."""
    (x, p), (y, q) = a.split("."), b.split(".")
    return CableLeg(CableEnd(x, x, p, p), CableEnd(y, y, q, q), "c", (), (link,))


class Counted(MovePlanner):
    """A planner whose bisection is the weight of the links that are present over that of all old ones."""

    def __init__(self, out: Sequence[tuple[str, str]], come: Sequence[tuple[str, str]], floor: Fraction, **given: Any) -> None:
        """Old and new cables by their ends; one link a cable, the old ones first; ``rest`` is the weight of all others."""
        n, m = len(out), len(come)
        self.weight = np.array(given.get("weight", [1] * (n + m)), dtype=np.int64)
        self.rest, self.gap = given.get("rest", 0), given.get("gap", Fraction(0))
        self.out = [cable(a, b, i) for i, (a, b) in enumerate(out)]
        self.come = [cable(a, b, i) for i, (a, b) in enumerate(come)]
        self.floor, self.tries = floor, given.get("tries", 400)
        self.broken = given.get("broken", lambda present, idle: "")
        self.taken = defaultdict(set)
        for i, c in enumerate(self.out):
            for end in (c.a, c.b):
                self.taken[end.key].add(i)
        self.next_of = {c.a.key: c.b.device for c in self.come}
        fabric = SimpleNamespace(device_count=0, is_end=[], link_count=n + m, link_rate=self.weight)
        self.both: Any = SimpleNamespace(old=np.arange(n), new=n + np.arange(m), fabric=fabric)
        self.present = np.arange(n + m) < n
        self.old, self.new = self.present.copy(), ~self.present
        self.idle = self.here = self.there = self.leaves = self.joins = np.zeros(0, dtype=np.bool_)

    def _units(self, present: Any) -> Any:
        return self.here

    def judge(self, present: Any, idle: Any = None) -> tuple[Fraction, Fraction]:
        full = self.rest + int(self.weight[: len(self.out)].sum())
        lower = Fraction(self.rest + int(self.weight[present].sum()), full)
        return lower, lower + self.gap


def straight(count: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Cables of one lower device that go from ports of one upper device to those of another."""
    return [(f"l.{i}", f"s.{i}") for i in range(count)], [(f"l.{i}", f"t.{i}") for i in range(count)]


@pytest.mark.parametrize("seed", range(120))
def test_a_batch(seed: int) -> None:
    """The most of the first groups that the floor bears; else the first half, quarter and so on of the first group; else the
    first cable of any; else none, and what is left at most."""
    random = Random(seed)
    sizes = [random.randint(1, 6) for _ in range(random.randint(1, 5))]
    weights = [random.randint(1, 4) for _ in range(sum(sizes))]
    rest, spare = random.randint(0, 8), random.randint(0, 12)
    full = rest + sum(weights)
    floor = Fraction(max(full - spare, 0), full)
    bad = random.choice((-1, 0, len(weights) - 1))  # without this cable something else breaks
    tries = random.choice((400, 400, 2))
    made = Counted(
        *straight(len(weights)), floor, weight=weights * 2, rest=rest, tries=tries,
        broken=lambda present, idle: "a host is cut off" if bad >= 0 and not present[bad] else "",
    )  # fmt: skip
    numbers = iter(range(len(weights)))
    groups = [[next(numbers) for _ in range(n)] for n in sizes]

    def borne(cables: list[int]) -> bool:
        return Fraction(full - sum(weights[i] for i in cables), full) >= floor and bad not in cables

    prefixes = [[i for group in groups[:k] for i in group] for k in range(len(groups), 0, -1)]
    halves = [groups[0][: len(groups[0]) >> k] for k in (1, 2) if len(groups[0]) >> k > 1]
    waiting = [i for group in groups for i in group]
    wanted = next((c for c in [*prefixes, *halves, *([i] for i in waiting[:tries])] if borne(c)), None)
    before = made.present.copy()
    plan = MovePlan(floor)
    assert made._batch(plan, groups, set()) == wanted
    assert (made.present == before).all()
    if wanted is not None:
        assert plan.why == "" and not plan.proved
        return
    most = max(Fraction(full - weights[i], full) for i in waiting[:tries])
    cut = any(i == bad and Fraction(full - weights[i], full) >= floor for i in waiting[:tries])
    said = ", or a host is cut off" if cut else ""
    assert plan.why == f"whichever of {len(weights)} cables is unplugged next, at most {percent_of_share(most)} is left{said}"
    assert plan.proved is (len(weights) <= tries and not cut)
    again = MovePlan(floor)
    assert made._batch(again, groups, {99}) is None and not again.proved


def test_a_batch_that_bounds_do_not_decide() -> None:
    """A lower bound below the floor and an upper one that is not proves nothing."""
    for gap, proved in ((Fraction(1, 8), True), (Fraction(1, 4), False), (Fraction(1, 2), False)):
        made = Counted(*straight(4), Fraction(1), gap=gap)
        plan = MovePlan(Fraction(1))
        assert made._batch(plan, [[0, 1, 2, 3]], set()) is None and plan.proved is proved
        assert plan.why == f"whichever of 4 cables is unplugged next, at most {percent_of_share(Fraction(3, 4) + gap)} is left"


def test_groups_of_cables() -> None:
    """By the upper device that they leave or go to, and one of every device in turn."""
    out = [("a.0", "s.0"), ("a.1", "t.0"), ("b.0", "s.1"), ("b.1", "u.0"), ("c.0", "t.1"), ("a.2", "v.0")]
    come = [("a.0", "u.1"), ("a.1", "u.2"), ("b.0", "s.5"), ("d.0", "s.0")]
    made = Counted(out, come, Fraction(1))
    assert [made.goes_to(i) for i in range(6)] == ["u", "u", "s", "u", "t", "v"]
    assert made._by_device(made.goes_to) == [[0, 1, 3], [2], [4], [5]]
    assert made._by_device(made.comes_from) == [[0, 2], [1, 4], [3], [5]]
    assert made._spread() == [[0], [1, 2, 3, 4], [5]]  # only a, for the third time, is later than second


def test_states() -> None:
    """What is left without some old cables, what some new ones add, and which of those have free ports."""
    out = [("a.0", "s.0"), ("a.1", "s.1"), ("b.0", "t.0")]
    come = [("a.0", "t.0"), ("b.9", "s.9"), ("a.1", "u.0")]
    made = Counted(out, come, Fraction(1))
    assert made.less(made.old, [0, 2]).tolist() == [False, True, False, False, False, False]
    assert made.more(made.old, [1]).tolist() == [True, True, True, False, True, False]
    assert made.old.tolist() == [True] * 3 + [False] * 3
    assert made.pluggable(set(), set()) == [1] and made.pluggable({0}, {1}) == [] and made.pluggable({0, 2}, set()) == [0, 1]
    assert made.pluggable({0, 1, 2}, {0}) == [1, 2]


@pytest.mark.parametrize(("most", "steps"), [(9, 2), (2, 2), (1, 1), (0, 0)])
def test_an_order_group_by_group(most: int, steps: int) -> None:
    """In fewer steps than are given: each unplugs what the floor bears, and plugs what fits then."""
    made = Counted(*straight(4), Fraction(1, 2))
    plan = made._ordered(MovePlan(Fraction(1, 2)), [[0, 3], [1, 2]], most)
    rows = [([c.a.port for c in s.unplug], [c.a.port for c in s.plug], s.during, s.after) for s in plan.steps]
    half, whole = Fraction(1, 2), Fraction(1)
    assert rows == [(["0", "3"], ["0", "3"], half, whole), (["1", "2"], ["1", "2"], half, whole)][:steps]
    assert plan.complete is (steps == 2) and plan.why == "" and (made.present == made.old).all()


def test_an_order_that_breaks_the_floor_once_cables_are_plugged() -> None:
    """More hosts may mean less for each: here a new cable counts less than nothing."""
    made = Counted([("l.0", "s.0")], [("m.0", "s.9"), ("l.0", "t.0")], Fraction(1), weight=[4, -1, 4])
    plan = made._ordered(MovePlan(Fraction(1)), [[0]], 5)
    assert (plan.steps, plan.complete) == ([], False)
    assert plan.why == "once everything is plugged that fits, the bisection is 75%"
    made.weight[1], made.broken = 1, lambda present, idle: "it is cut" if present[1] else ""
    plan = made._ordered(MovePlan(Fraction(1)), [[0]], 5)
    assert (plan.steps, plan.why) == ([], "once everything is plugged that fits, it is cut")


class Hosts(MovePlanner):
    """A planner that is told which hosts have links."""

    told: Any = None

    def _units(self, present: Any) -> Any:
        return np.isin(np.arange(6), [1, 2, 3] if present[1] else [1, 2, 4])


def test_hosts_that_are_out_of_service() -> None:
    """Those that leave, those that join, and one that stays without keeping a cable; not one that keeps a cable."""
    ends = [(1, 0), (2, 0), (2, 5), (3, 0), (4, 5)]
    a, b = (np.array(x) for x in zip(*ends, strict=True))
    fabric = SimpleNamespace(device_a=a, device_b=b, device_count=6, link_count=5, is_end=np.isin(np.arange(6), [1, 2, 3, 4]))
    both: Any = SimpleNamespace(fabric=fabric, old=np.array([0, 1, 3]), new=np.array([0, 2, 4]))
    changes: Any = SimpleNamespace(
        moved=[], removed=[cable("x.0", "y.0", 1)], added=[cable("x.0", "z.0", 1), cable("w.0", "z.1", 2)]
    )
    made = Hosts(both, changes, Fraction(1))
    assert [np.flatnonzero(x).tolist() for x in (made.idle, made.leaves, made.joins)] == [[2, 3, 4], [2, 3], [2, 4]]
    assert [x.tolist() for x in (made.old, made.new)] == [[i in rows for i in range(5)] for rows in ((0, 1, 3), (0, 2, 4))]
    assert made.taken == {("x", "0"): {0}, ("y", "0"): {0}} and made.next_of == {("x", "0"): "z", ("w", "0"): "z"}
    assert (made.present == made.old).all() and made.come == changes.added and made.out == changes.removed


def reachable(made: Counted) -> bool:
    """Whether single moves lead to the new design: all that fits is plugged at once, and the floor is kept throughout."""
    every = frozenset(range(len(made.out)))
    todo, met = [frozenset[int]()], {frozenset[int]()}
    while todo:
        gone = todo.pop()
        if gone == every:
            return True
        here = made.more(made.less(made.old, gone), made.pluggable(set(gone), set()))
        for i in every - gone:
            there = gone | {i}
            after = made.more(made.less(made.old, there), made.pluggable(set(there), set()))
            kept = all(made.judge(x)[0] >= made.floor for x in (made.less(here, [i]), after))
            if kept and there not in met:
                met.add(there)
                todo.append(there)
    return False


@pytest.mark.parametrize("seed", range(80))
def test_orders_of_random_moves(seed: int) -> None:
    """An order is found where there is one, and can be done by hand; else it is proved that there is none."""
    random = Random(seed)
    n = random.randint(2, 5)
    ports = random.sample([f"s.{i}" for i in range(6)], n)
    moved = random.sample(ports, n) if seed % 2 else random.sample([f"{d}.{i}" for d in "st" for i in range(5)], n)
    out = [(f"l{random.randint(0, 1)}.{i}", p) for i, p in enumerate(ports)]
    come = [(a, q) for (a, _), q in zip(out, moved, strict=True)]
    rest, spare = random.randint(0, 4), random.randint(0, 4)
    weight = [random.randint(1, 3) for _ in range(n)]
    full = rest + sum(weight)
    made = Counted(out, come, Fraction(max(full - spare, 0), full), weight=weight + random.sample(weight, n), rest=rest)
    plan = made.run()
    assert plan.complete is reachable(made) and plan.complete is not plan.proved
    assert plan.complete or plan.why
    state, gone, put = made.old.copy(), set(), set()
    for step in plan.steps if plan.complete else ():
        mine = {i for i, c in enumerate(made.out) if c in step.unplug}
        new = [i for i, c in enumerate(made.come) if c in step.plug]
        assert not mine & gone and not set(new) & put
        state = made.less(state, mine)
        assert made.judge(state)[0] >= step.during >= made.floor or not mine
        gone |= mine
        assert set(new) <= set(made.pluggable(gone, put))
        put |= set(new)
        state = made.more(state, new)
        assert made.judge(state)[0] == step.after >= made.floor
    if plan.complete:
        assert gone == put == set(range(n)) and (state == made.new).all()


def test_designs_that_break_the_floor_themselves() -> None:
    """Before and after the moves: by the bandwidth, which is proved, or in another way."""
    made = Counted(*straight(2), Fraction(3, 2))
    plan = made.run()
    assert (plan.why, plan.proved, plan.complete) == ("the old design itself has a bisection of 100%", True, False)
    made = Counted(*straight(2), Fraction(1), weight=[2, 2, 1, 2])
    plan = made.run()
    assert (plan.why, plan.proved, plan.before, plan.end) == (
        "the new design itself has a bisection of 75%",
        True,
        1,
        Fraction(3, 4),
    )
    for which, name in ((0, "the old design"), (1, "the new design")):
        made = Counted(
            *straight(2), Fraction(0), broken=lambda present, idle, which=which: "it is cut" * bool(present[2] == which)
        )
        plan = made.run()
        assert (plan.why, plan.proved, plan.complete, plan.steps) == (f"in {name} it is cut", False, False, [])


def test_the_bisection_before_and_after() -> None:
    """It is the lower bound that is shown, and the upper one that decides."""
    plan = Counted(*straight(2), Fraction(9, 8), weight=[2, 2, 4, 0], gap=Fraction(1, 8)).run()
    assert (plan.before, plan.end, plan.floor) == (1, 1, Fraction(9, 8)) and "itself" not in plan.why
    plan = Counted(*straight(2), Fraction(5, 4), weight=[2, 2, 4, 0], gap=Fraction(1, 8)).run()
    assert plan.why == "the old design itself has a bisection of 112.5%" and plan.proved


def test_no_order() -> None:
    """All orders are tried: how many cables can be out, and what is left at most then."""
    out, come = [("l.0", "s.0"), ("l.1", "s.1")], [("l.0", "s.1"), ("l.1", "s.0")]
    plan = Counted(out, come, Fraction(2, 3), weight=[2, 1, 2, 1]).run()
    said = "all orders were tried: at most 1 of 2 cables can be out, and whichever is unplugged then, at most 33.33% is left"
    assert plan.proved and plan.why == said
    plan = Counted(out, come, Fraction(2, 3), weight=[2, 1, 2, 1], gap=Fraction(1, 2)).run()
    assert not plan.proved and not plan.complete


def test_a_chain_that_begins_at_its_end() -> None:
    """Each cable goes to the port of the next one, and only the last port is free: the cables are not interchangeable."""
    out = [(f"l.{i}", f"s.{i}") for i in range(4)]
    come = [*((f"l.{i}", f"s.{i + 1}") for i in range(3)), ("l.3", "s.9")]
    search = Search(Counted(out, come, Fraction(3, 4))).run()
    assert search.found and [[c.a.port for c in s.unplug] for s in search.steps] == [["3"], ["2"], ["1"], ["0"]]
    assert [(s.during, s.after) for s in search.steps] == [(Fraction(3, 4), Fraction(1))] * 4


def test_what_a_search_says() -> None:
    """No cable can be out; too few states are judged to know; and what breaks only while a cable is out."""
    none = Search(Counted(*straight(2), Fraction(1))).run()
    assert (none.found, none.proved, none.reached, none.best, none.steps) == (False, True, 0, Fraction(1, 2), [])
    few = Search(Counted(*straight(2), Fraction(1), tries=0)).run()
    assert (few.found, few.proved) == (False, False)
    cut = Counted(
        [("l.0", "s.0"), ("m.0", "s.1")], [("l.0", "t.0"), ("m.0", "t.1")], Fraction(1, 2),
        broken=lambda present, idle: "" if present[0] or present[2] else "it is cut",
    )  # fmt: skip
    found = Search(cut).run()
    assert (found.found, found.proved, found.reached, found.best) == (False, False, 1, Fraction(1, 2))
