"""The table of work of an order of moves, row by row, and what it adds up to."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from tdsl.changes.model import CableEnd, CableLeg, Changes, MovedCable
from tdsl.changes.steps import MovePlan, MoveStep
from tdsl.changes.work import actions_by_rack, cable_work_of_step, count_cable_work, mounting_places, ports_to_drain, work_rows


def end(name: str, port: str) -> CableEnd:
    return CableEnd(f"{name[:-1]}[{name[-1]}]", name, port, f"P{port}")


def cable(a: str, p: str, b: str, q: str, *facts: str) -> CableLeg:
    return CableLeg(end(a, p), end(b, q), "leaf-spine", tuple(zip(("length", "part"), facts, strict=False)))


OLD = cable("leaf0", "1", "spine0", "10", "3 m", "DAC")
NEW = cable("leaf0", "1", "spine1", "2", "5 m", "AOC")
GONE = cable("leaf1", "7", "spine0", "9", "1 m", "DAC")
SAME = cable("leaf2", "3", "spine0", "9")
LATE_OLD, LATE_NEW = cable("leaf1", "2", "spine0", "2", "4 m", "X"), cable("leaf1", "2", "spine1", "3", "6 m", "Y")
COME = cable("leaf1", "8", "spine1", "1", "2 m")
MOVED = [
    MovedCable(OLD.a, OLD.b, NEW.b, "leaf-spine", OLD, NEW),
    MovedCable(LATE_OLD.a, LATE_OLD.b, LATE_NEW.b, "leaf-spine", LATE_OLD, LATE_NEW),
]
CHANGES = Changes("f", added=[COME], removed=[GONE, SAME], moved=MOVED)
FIRST = MoveStep((GONE, OLD, SAME, LATE_OLD), (NEW,), Fraction(1, 2), Fraction(3, 4))
SECOND = MoveStep((), (LATE_NEW, COME), Fraction(3, 4), Fraction(1))
PLAN = MovePlan(
    Fraction(1, 2), Fraction(5, 8), Fraction(7, 8), leave=("host[10]", "host[9]"), join=("host[3]",), steps=[FIRST, SECOND]
)
MOUNTED = {
    "leaf[0]": ("h1", "r1", "k2", "5"), "leaf[1]": ("h1", "r1", "k10", "6"), "spine[0]": ("h1", "r2", "k1", "7"),
    "host[9]": ("h2", "", "k1", "1"),
}  # fmt: skip


def test_what_a_step_moves() -> None:
    """A cable is moved where the step takes it out and plugs it in; one that is plugged later is unplugged, then laid."""
    moved, gone, come = cable_work_of_step(FIRST, CHANGES)
    assert moved == [(OLD.a, OLD.b, NEW.b, NEW)]
    assert gone == [GONE, SAME, LATE_OLD] and come == []
    assert cable_work_of_step(SECOND, CHANGES) == ([], [], [LATE_NEW, COME])
    both = MoveStep((LATE_OLD,), (LATE_NEW, COME), Fraction(0), Fraction(0))
    assert cable_work_of_step(both, CHANGES) == ([(LATE_OLD.a, LATE_OLD.b, LATE_NEW.b, LATE_NEW)], [], [COME])
    assert count_cable_work(PLAN, CHANGES) == (2, 1, 3)
    assert count_cable_work(replace(PLAN, steps=[both, both, FIRST]), CHANGES) == (2, 3, 3)
    assert count_cable_work(MovePlan(Fraction(0)), CHANGES) == (0, 0, 0)


def test_ports_to_drain() -> None:
    """Each upper end once, numbers in names in their order."""
    assert ports_to_drain(FIRST) == [LATE_OLD.b, GONE.b, OLD.b] and ports_to_drain(SECOND) == []


def test_the_table_of_work() -> None:
    nowhere = ("", "", "", "")
    l0, l1, s0 = MOUNTED["leaf[0]"], MOUNTED["leaf[1]"], MOUNTED["spine[0]"]
    assert work_rows(PLAN, CHANGES, MOUNTED) == [
        (0, "out of service", *nowhere, "host[10]", "", "", "", "", "", "62.5%"),
        (0, "out of service", *MOUNTED["host[9]"], "host[9]", "", "", "", "", "", "62.5%"),
        (1, "drain", *s0, "spine0", "P2", "", "", "", "", "50%"),
        (1, "drain", *s0, "spine0", "P9", "", "", "", "", "50%"),
        (1, "drain", *s0, "spine0", "P10", "", "", "", "", "50%"),
        (1, "unplug", *nowhere, "leaf2", "P3", "spine0 P9", "", "", "", "50%"),
        (1, "unplug", *l1, "leaf1", "P2", "spine0 P2", "", "4 m", "X", "50%"),
        (1, "unplug", *l1, "leaf1", "P7", "spine0 P9", "", "1 m", "DAC", "50%"),
        (1, "move", *s0, "spine0", "P10", "spine0 P10", "spine1 P2 (the other end stays at leaf0 P1)", "5 m", "AOC", "75%"),
        (2, "plug", *l1, "leaf1", "P2", "", "spine1 P3", "6 m", "Y", "100%"),
        (2, "plug", *l1, "leaf1", "P8", "", "spine1 P1", "2 m", "", "100%"),
        (3, "into service", *nowhere, "host[3]", "", "", "", "", "", "87.5%"),
    ]
    assert l0 not in [row[2:6] for row in work_rows(PLAN, CHANGES, MOUNTED)]
    unknown = replace(PLAN, before=None, end=None, steps=[])
    assert [(row[0], row[1], row[-1]) for row in work_rows(unknown, CHANGES, {})] == [
        (0, "out of service", ""), (0, "out of service", ""), (1, "into service", ""),
    ]  # fmt: skip


def test_the_order_of_halls_rows_and_racks() -> None:
    """By hall, then row, then rack, then device; numbers in their order, and units make no difference."""
    units = {"x[1]": ("h", "r", "k", "9"), "x[2]": ("h", "r", "k", "3")}
    assert [row[6] for row in work_rows(MovePlan(Fraction(0), leave=("x[2]", "x[1]")), CHANGES, units)] == ["x[1]", "x[2]"]
    at = [("h2", "a", "a", ""), ("h10", "a", "a", ""), ("h2", "b", "a", ""), ("h2", "a", "c10", ""), ("h2", "a", "c9", "")]
    mounted = {f"x[{i}]": place for i, place in enumerate(at)}
    plan = MovePlan(Fraction(0), leave=tuple(mounted))
    assert [row[6] for row in work_rows(plan, CHANGES, mounted)] == ["x[0]", "x[4]", "x[3]", "x[2]", "x[1]"]


def test_work_by_rack() -> None:
    table = work_rows(PLAN, CHANGES, MOUNTED)
    assert actions_by_rack(table) == {
        ("", "", ""): {"out of service": 1, "unplug": 1, "into service": 1}, ("h2", "", "k1"): {"out of service": 1},
        ("h1", "r2", "k1"): {"drain": 3, "move": 1}, ("h1", "r1", "k10"): {"unplug": 2, "plug": 2},
    }  # fmt: skip


def test_places_of_several_fabrics() -> None:
    """The last that knows a place gives it; a device in a rack may have no unit."""

    def fabric(rack: list[int], unit: list[int], word: str) -> Any:
        made = SimpleNamespace(device_rack=np.array(rack), device_unit=np.array(unit))
        for what in ("hall", "row", "rack"):
            setattr(made, f"{what}_name", lambda r, what=what: f"{word}{what}{r}")
        return SimpleNamespace(places=made, device_path=lambda d: f"d{d}")

    nothing: Any = SimpleNamespace(places=None)
    old, new = fabric([0, 1, -1, 2, 0], [1, 0, 4, -1, 0], "o"), fabric([-1, 3, 0, -1, -1], [0, 7, 2, 3, 3], "n")
    assert mounting_places(old, nothing, new) == {
        "d0": ("ohall0", "orow0", "orack0", "1"), "d1": ("nhall3", "nrow3", "nrack3", "7"),
        "d2": ("nhall0", "nrow0", "nrack0", "2"), "d3": ("ohall2", "orow2", "orack2", ""),
        "d4": ("ohall0", "orow0", "orack0", ""),
    }  # fmt: skip
