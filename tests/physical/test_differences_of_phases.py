"""What each phase adds to the one before: bills, sums and cables, from made-up lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.physical import stages
from tdsl.physical.bom import Line
from tdsl.physical.stages import PhaseLine, Stage, phase_bill, phase_of_pulling, phase_totals
from tdsl.physical.totals import Total


def line(model: str, quantity: int, price: float | str = 2.5, **more: Any) -> Line:
    """A line of a bill."""
    made = Line("switch", model, "d", "o", "", "", quantity, 7, price, "", "", "", "", "", "")
    return replace(made, **more)


def phases(*made: Any) -> list[Stage]:
    """Phases with made-up fabrics."""
    return [Stage(k, f"day {k}", x) for k, x in enumerate(made, 1)]


def test_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that differ, those that go as negative numbers; equal orders are one line."""
    monkeypatch.setattr(stages, "bill_of_materials", lambda of: of)
    first = [line("A", 3), line("B", 1, ""), line("A", 2, description="other"), line("C", 4), line("Z", 0)]
    second = [line("A", 5), line("B", 3, ""), line("D", 1, 0.1)]
    third = [line("D", 4, 0.1), line("D", 1, 0.1, place="p"), line("C", 1)]
    found = phase_bill(phases(first, second, third))
    assert [(x.phase, x.needed, x.model, x.place, x.quantity, x.added, x.unit_price, x.price) for x in found] == [
        (1, "day 1", "A", "", 5, 5, 2.5, 12.5), (1, "day 1", "B", "", 1, 1, "", ""), (1, "day 1", "C", "", 4, 4, 2.5, 10.0),
        (2, "day 2", "B", "", 3, 2, "", ""), (2, "day 2", "D", "", 1, 1, 0.1, 0.1), (2, "day 2", "C", "", 0, -4, 2.5, -10.0),
        (3, "day 3", "D", "", 4, 3, 0.1, 0.3), (3, "day 3", "D", "p", 1, 1, 0.1, 0.1), (3, "day 3", "C", "", 1, 1, 2.5, 2.5),
        (3, "day 3", "A", "", 0, -5, 2.5, -12.5), (3, "day 3", "B", "", 0, -3, "", ""),
    ]  # fmt: skip
    assert found[0] == PhaseLine(1, "day 1", "switch", "A", "other", "o", "", "", 5, 5, 2.5, 12.5, "")
    every = [line("A", 1, kind="x"), line("x", 1), line("A", 1, order_number="x"), line("A", 1, place="x"),
             line("A", 1, length_m=3), line("A", 1, note="x"), line("A", 1)]  # fmt: skip
    assert [x.quantity for x in phase_bill(phases(every))] == [1] * 7
    assert phase_bill([]) == []


def test_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each phase, then what it adds."""
    monkeypatch.setattr(stages, "totals_by_place", lambda of: of)
    sums = [Total("all", "h", "f", 3, 4, 5, 60, 1, 0.1, 2), Total("all", "h", "f", 10, 9, 8, 70.5, 4, 0.4, 1)]
    found = phase_totals(phases(*([s, None] for s in sums)))
    assert found == [
        Total("phase", "", "phase 1", 3, 4, 5, 60, 1, 0.1, 2, "day 1"),
        Total("added by phase", "", "phase 1", 3, 4, 5, 60, 1, 0.1, 2, "day 1"),
        Total("phase", "", "phase 2", 10, 9, 8, 70.5, 4, 0.4, 1, "day 2"),
        Total("added by phase", "", "phase 2", 7, 5, 3, 10.5, 3, 0.3, -1, "day 2"),
    ]
    whole = phase_totals(phases([replace(sums[0], price=5)], [replace(sums[1], price=12)]))[3]
    assert whole.price == 7 and type(whole.price) is int
    assert {f.name for f in fields(Total)} >= {"watts", "without_watts", "without_price"}


def test_since_when_cables_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cable was pulled in the first of the phases, back from the last, in which its ends are joined so often."""
    monkeypatch.setattr(stages, "_connectors_of_legs", lambda of: of)
    for seed in range(100):
        random = Random(seed)
        of = [[random.choice("abc") for _ in range(random.randint(0, 6))] for _ in range(random.randint(1, 4))]
        wanted = []
        for leg, end in enumerate(of[-1]):
            nth, since = of[-1][:leg].count(end), len(of)
            for number in range(len(of) - 1, 0, -1):
                if nth >= min(Counter(x)[end] for x in of[number - 1 :]):
                    break
                since = number
            wanted.append(since)
        made: Any = of
        assert phase_of_pulling(phases(*made)) == wanted, of


def test_ends_of_cables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Device and connector of the one end, then of the other."""
    import numpy as np

    cables = SimpleNamespace(
        devices=SimpleNamespace(name=np.array(["x", "y"], dtype=object)),
        ports=SimpleNamespace(hole_id=np.array(["c0", "c1", "c2"], dtype=object), rows=lambda ports: 2 - ports),
    )
    monkeypatch.setattr(stages, "CableIndex", lambda _: cables)
    fabric: Any = SimpleNamespace(port_device=np.array([0, 0, 1]), cable_a=np.array([0, 1]), cable_b=np.array([2, 2]))
    assert stages._connectors_of_legs(fabric) == [("x", "c2", "y", "c0"), ("x", "c1", "y", "c0")]
