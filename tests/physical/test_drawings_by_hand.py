"""Drawings of racks and halls, with every place on the sheet worked out by hand from the sizes of the drawing."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.physical import elevations
from tdsl.physical.elevations import (
    COLOURS,
    Floor,
    Front,
    Key,
    Mark,
    Plan,
    RackDrawing,
    Slot,
    Tick,
    TrayLine,
    _hall_pitch_text,
    _wrap_at_commas,
    common_name_pattern,
    rack_name_ranges,
)
from tdsl.physical.racks import PartialSum
from tdsl.physical.trays import Stretch

MODELS = ("HOST", "SWITCH", "THING")
HEIGHT, WATTS, MASS = (3, 1, 0), (Fraction(10_200), Fraction(1_234), None), (Fraction(130), None, Fraction(7, 2))


def kind(height: int | None = None, watts: int | None = None, mass: int | None = None, feeds: int = 0) -> Any:
    """What a rack offers."""
    each = None if watts is None else Fraction(watts)
    most = None if mass is None else Fraction(mass)
    return SimpleNamespace(height=height, watts=each, mass=most, feeds=feeds, feed_watts=each)


def drawing(kinds: list[Any], devices: list[tuple[int, int, int]], halls: list[int] | None = None) -> Any:
    """A drawing of racks: each device has a model, a rack and a unit. ``halls`` are those of the racks."""
    made: Any = object.__new__(RackDrawing)
    of = halls or [0] * len(kinds)
    made.title = "pod"
    rack_name = [f"A{r + 1:02}" for r in range(len(kinds))]
    made.places = SimpleNamespace(
        rack_kind=kinds, device_unit=np.array([u for *_, u in devices]), rack_names=rack_name, rack_hall=np.array(of),
        hall_name=lambda r: f"h{of[r]}", halls=[None] * (max(of) + 1),
    )  # fmt: skip
    by_rack: dict[int, list[int]] = {}
    for d, (_, rack, _) in enumerate(devices):
        by_rack.setdefault(rack, []).append(d)
    model = np.array([m for m, *_ in devices])
    made.fabric = SimpleNamespace(
        device_model=model, device_name=lambda d: f"node{d}",
        model_of=lambda d: SimpleNamespace(name=MODELS[model[d]], title=f"the {MODELS[model[d]]}"),
    )  # fmt: skip

    def total(of: list[int], figure: list[Fraction | None]) -> PartialSum:
        known = [figure[model[d]] for d in of]
        return PartialSum(sum((x for x in known if x is not None), Fraction(0)), sum(x is None for x in known))

    made.racks = SimpleNamespace(
        by_rack=by_rack, height=lambda d: HEIGHT[model[d]], watts_max=list(WATTS), mass=list(MASS), total=total
    )
    made.sums = {r: total(ds, list(WATTS)) for r, ds in by_rack.items()}
    made.colour = {m: COLOURS[m] for m in range(3)}
    made.kinds = {k: [r] for k, r in enumerate(by_rack)}
    made.kind_of = {r: k for k, r in enumerate(by_rack)}
    return made


def test_a_front_of_two_racks() -> None:
    """Ten units of 14; a host of three at unit 2 is 14 * (10 - 2 - 3 + 1) = 84 below the top, a switch at unit 10 at it."""
    devices = [(0, 0, 2), (1, 0, 10), (1, 0, 0), (0, 1, 2), (1, 1, 10), (1, 1, 0)]
    made = drawing([kind(10, 20_000, 900, 2)] * 2, devices)
    front = made._front(27, [0, 1], 50.0, 70.0)
    assert front == Front(
        50.0, 70.0, 250, 140, "ab: 2 racks", "#ffffff",
        ("A01-A02", "12.67 kW of 20 kW with one of 2 feeds lost", "at least 130 kg of 900 kg", "5U of 10U taken",
         "1 device without a unit"),
        (Slot(154.0, 42, "node#  HOST", "10.2 kW", "node0: the HOST, units 2 to 4", COLOURS[0]),
         Slot(70.0, 14, "node#  SWITCH", "1.23 kW", "node1: the SWITCH, units 10 to 10", COLOURS[1])),
        tuple(Tick(70 + (10 - u + 0.5) * 14 + 3, str(u)) for u in range(1, 11)),
    )  # fmt: skip
    assert front.ticks[0] == Tick(206.0, "1") and front.ticks[-1] == Tick(80.0, "10")


@pytest.mark.parametrize(
    ("devices", "units", "taken"),
    [
        ([(0, 0, 4)], 6, "3U taken"),  # the host fills units 4 to 6
        ([(2, 0, 4)], 4, "0U taken"),  # of unknown height: one unit
        ([(1, 0, 1)], 1, "1U taken"),
        ([(1, 0, 0)], 1, "1U taken"),  # no unit at all
        ([(0, 0, 0)], 2, "3U taken"),
        ([(1, 0, 7), (0, 0, 2)], 7, "4U taken"),
    ],
)
def test_racks_of_no_stated_height(devices: list[tuple[int, int, int]], units: int, taken: str) -> None:
    """Drawn up to the highest device."""
    front = drawing([kind(feeds=1, watts=None)], devices)._front(0, [0], 0.0, 0.0)
    assert (front.name, front.height, len(front.ticks)) == ("a: 1 rack", 14 * units, units)
    assert taken in front.lines
    assert len(front.slots) == sum(1 for *_, u in devices if u)
    if devices == [(2, 0, 4)]:
        assert front.slots == (Slot(0, 14, "node0  THING", "", "node0: the THING, units 4 to 4", COLOURS[2]),)
        assert front.lines == ("A01", "at least 0 kW", "3.5 kg", "0U taken")


def test_what_racks_take_and_offer() -> None:
    made = drawing([kind(42, 5000, None, 1)], [(1, 0, 0), (1, 0, 0), (2, 0, 1)])
    assert made._sums(0, [0, 1, 2]) == ["at least 2.468 kW of 5 kW", "at least 3.5 kg", "2U of 42U taken"]
    assert made._front(0, [0], 0.0, 0.0).lines[-1] == "2 devices without a unit"
    assert made.contents([0]) == "1 rack: 2 SWITCH, 1 THING; at least 2.468 kW of 5 kW"
    made = drawing([kind()] * 1200, [(0, r, 1) for r in range(1200)])
    assert made.contents(list(range(1200))) == "1,200 racks: 1 HOST; 10.2 kW"
    assert made._front(0, list(range(1200)), 0.0, 0.0).name == "a: 1,200 racks"
    assert made.fronts().title == "pod: front views of 1,200 racks"


def test_names_of_racks_in_halls() -> None:
    devices = [(0, r, 1) for r in range(4)]
    assert drawing([kind()] * 4, devices)._where([0, 1, 3]) == "A01-A02, A04"
    assert drawing([kind()] * 4, devices, [0, 0, 1, 1])._where([0, 1, 3]) == "h0 A01-A02, h1 A04"


def test_fronts_on_a_sheet() -> None:
    """Five a line, 310 apart; the next line begins 150 below the tallest."""
    heights = [3, 9, 4, 2, 5, 6, 1]
    made = drawing([kind(h) for h in heights], [(1, r, 1) for r in range(7)])
    sheet = made.fronts()
    assert [(f.x, f.y, f.height) for f in sheet.fronts] == [
        *((50 + 310 * k, 70.0, 14 * h) for k, h in enumerate(heights[:5])), (50, 70 + 126 + 150, 84), (360, 346, 14),
    ]  # fmt: skip
    assert (sheet.width, sheet.height, sheet.title) == (1600, 346 + 84 + 130, "pod: front views of 7 racks")
    few = drawing([kind(2)] * 2, [(1, 0, 1), (1, 1, 1)]).fronts()
    assert (few.width, few.height) == (670, 70 + 28 + 130)
    made.kinds, made.racks.by_rack = {}, {}
    assert (made.fronts().width, made.fronts().height) == (360, 200)


def hall(
    name: str, rows: list[list[int]], across: tuple[int, ...] | None, rack: int | None = None, row: int | None = None
) -> Any:
    """A hall by the numbers of the racks in its rows, with trays or none."""
    made = [SimpleNamespace(name=f"R{k}", racks=[(n, None) for n in numbers]) for k, numbers in enumerate(rows)]
    tray = None if across is None else SimpleNamespace(across=across, height=2600)
    return SimpleNamespace(name=name, rows=made, tray=tray, rack_pitch=rack, row_pitch=row)


def planned(halls: list[Any], stretches: list[Stretch], patch: pytest.MonkeyPatch, held: dict[int, list[int]]) -> Any:
    """The plan of halls: ``held`` are the models of the devices in racks, which are counted over all halls."""
    devices = [(m, r, 1) for r, models in held.items() for m in models]
    at = [(h, j, n) for h, x in enumerate(halls) for j, row in enumerate(x.rows) for n, _ in row.racks]
    made = drawing([kind(10)] * len(at), devices, [h for h, *_ in at])
    made.places.halls, made.places.rack_count = halls, len(at)
    made.places.rack_row, made.places.rack_number = np.array([j for _, j, _ in at]), np.array([n for *_, n in at])
    made.fabric.cable_a = np.zeros(3 if stretches else 0)
    seen = []

    def of(fabric: Any, physical: Any) -> Any:
        return SimpleNamespace(stretches=lambda legs: seen.append(legs.tolist()) or stretches)

    patch.setattr(elevations, "physical_of", lambda f: SimpleNamespace())
    patch.setattr(elevations, "Trays", of)
    plans = made.plans()
    assert seen == ([[True] * 3] if stretches else [])
    return plans


def test_a_plan_of_two_halls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells of 46, rows 78.2 apart, trays 14 in front of them; lines of cables are 2 to 9 wide by the most of all halls."""
    halls = [hall("h0", [[1, 2, 3], [4, 5]], (2, 9), 600, 3000), hall("h1", [[1]], None)]
    stretches = [
        Stretch(0, "", False, 0, 0, 6, 0, 0),
        Stretch(0, "", False, 0, 1, 6, 0, 0),
        Stretch(0, "", False, 1, 0, 3, 0, 0),
        Stretch(0, "", True, 1, 0, 6, 0, 0),
        Stretch(1, "", False, 0, 0, 1200, 0, 0),
    ]
    plans = planned(halls, stretches, monkeypatch, {0: [1], 1: [0, 1], 5: [2]})
    first, second = plans.halls
    top, step = 84 + 30, 46 * 1.7
    assert (first.y, first.name) == (84.0, "hall h0: rack to rack 0.6 m, row to row 3 m, trays at 2.6 m")
    assert first.racks == (
        Floor(80, top, "1", "a", "A01: 1 device", COLOURS[1]),
        Floor(126, top, "2", "b", "A02: 2 devices", COLOURS[0]),
        Floor(172, top, "3", "", "A03: 0 devices", "#ffffff"),
        Floor(80, top + step, "4", "", "A04: 0 devices", "#ffffff"),
        Floor(126, top + step, "5", "", "A05: 0 devices", "#ffffff"),
    )
    assert first.rows == (Tick(top + 46 * 0.55, "R0"), Tick(top + step + 46 * 0.55, "R1"))
    line = top - 14
    wide = [2 + 7 * n / 1200 for n in (6, 6, 3, 6)]
    assert first.trays == (
        TrayLine(80, line, 80 + 3 * 46, line, 1.5),
        TrayLine(80, top + step - 14, 80 + 3 * 46, top + step - 14, 1.5),
        TrayLine(80 + 1.5 * 46, line, 80 + 1.5 * 46, line + step, 1.5),
        TrayLine(103, line, 149, line, wide[0]),
        TrayLine(149, line, 195, line, wide[1]),
        TrayLine(103, line + step, 149, line + step, wide[2]),
        TrayLine(149, line, 149, line + step, wide[3]),
    )
    assert first.loads == (Mark(111, line - 6, "6"), Mark(111, line + step - 6, "3"), Mark(156, line + 11, "6"))
    below = 84 + 70 + 2 * step
    assert second == Plan(
        below, "hall h1", (Floor(80, below + 30, "1", "c", "A06: 1 device", COLOURS[2]),),
        (TrayLine(103, below + 16, 149, below + 16, 9.0),), (Tick(below + 30 + 46 * 0.55, "R0"),),
        (Mark(111, below + 10, "1,200"),),
    )  # fmt: skip
    legend = below + 70 + step
    assert plans.keys == (
        Key(legend, "a", COLOURS[1], "1 rack: 1 SWITCH; 1.234 kW"),
        Key(legend + 18, "b", COLOURS[0], "1 rack: 1 HOST, 1 SWITCH; 11.43 kW"),
        Key(legend + 36, "c", COLOURS[2], "1 rack: 1 THING; at least 0 kW"),
    )
    assert (plans.width, plans.height, plans.title, plans.cell) == (700, legend + 74, "pod: plan of the racks", 42)


def test_a_wide_hall(monkeypatch: pytest.MonkeyPatch) -> None:
    """No tray across a single row; the sheet is as wide as the longest row of all halls, and no cable is drawn without any."""
    halls = [hall("h0", [list(range(1, 21))], (2,)), hall("h1", [[1], [1, 2], [3]], (1,))]
    plans = planned(halls, [], monkeypatch, {})
    assert plans.width == 120 + 20 * 46 and plans.keys == ()
    assert [len(p.trays) for p in plans.halls] == [1, 4]
    assert plans.halls[0].trays[0].x2 == 80 + 20 * 46
    low = plans.halls[1].y + 16
    assert plans.halls[1].trays[-1] == TrayLine(103, low, 103, low + 2 * 46 * 1.7, 1.5)
    assert plans.height == pytest.approx(plans.halls[1].y + 70 + 3 * 46 * 1.7 + 20)


def test_words_of_halls() -> None:
    assert _hall_pitch_text(hall("h", [], None)) == ""
    assert _hall_pitch_text(hall("h", [], None, row=2500)) == ": row to row 2.5 m"
    assert _hall_pitch_text(hall("h", [], (), rack=600)) == ": rack to rack 0.6 m, trays at 2.6 m"


def test_names_in_short() -> None:
    assert rack_name_ranges(["A9", "A10", "B10", "B11", "B12", "C2", "C1"]) == "A9-A10, B10-B12, C2, C1"
    assert rack_name_ranges([]) == "" and rack_name_ranges(["A01"]) == "A01"
    assert (
        common_name_pattern(["a1b2", "a1b3", "a1b2"]) == "a1b#"
        and common_name_pattern(["a1", "b1"]) == "#1"
        and common_name_pattern(["a1", "a"]) == "#"
    )
    assert _wrap_at_commas("", 5) == [""] and _wrap_at_commas("AAAA, BB, C", 6) == ["AAAA,", "BB, C"]
    assert _wrap_at_commas("AAAA, BB, C", 8) == ["AAAA, BB,", "C"] and _wrap_at_commas("AAAA, BB, C", 7) == ["AAAA,", "BB, C"]
    assert _wrap_at_commas("A, B, C, D", 1) == ["A,", "B,", "C …", "D"] and _wrap_at_commas("A, B, C", 1) == ["A,", "B,", "C"]


def test_kinds_of_racks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Racks that hold the same models at the same units, draw as much and offer as much are one kind."""
    devices = [(5, 0, 1), (5, 1, 1), (5, 2, 2), (3, 3, 1), (5, 4, 1), (5, 5, 1), (5, 6, 1), (5, 7, 1), (5, 8, 1)]
    base = {"height": 10, "feeds": 2, "feed_watts": Fraction(5), "mass": Fraction(7)}
    kinds = [SimpleNamespace(**base) for _ in range(9)]
    for r, changed in ((5, {"height": 11}), (6, {"feeds": 1}), (7, {"feed_watts": None}), (8, {"mass": None})):
        kinds[r] = SimpleNamespace(**(base | changed))
    fabric: Any = SimpleNamespace(device_model=np.array([m for m, *_ in devices]))
    places: Any = SimpleNamespace(device_unit=np.array([u for *_, u in devices]), rack_kind=kinds)
    by_rack = {r: [d] for d, (_, r, _) in enumerate(devices)}
    monkeypatch.setattr(elevations, "Racks", lambda f, p: SimpleNamespace(by_rack=dict(reversed(by_rack.items()))))
    monkeypatch.setattr(elevations, "Figures", lambda f: None)
    monkeypatch.setattr(elevations, "rack_sums", lambda f, r: {k: PartialSum(Fraction(k == 4), 0) for k in by_rack})
    made = RackDrawing(fabric, places, "t")
    assert list(made.kinds.values()) == [[0, 1], [2], [3], [4], [5], [6], [7], [8]]
    assert made.kind_of == {0: 0, 1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 5, 7: 6, 8: 7}
    assert made.colour == {3: COLOURS[0], 5: COLOURS[1]} and made.title == "t"
    many = len(COLOURS) + 1
    fabric = SimpleNamespace(device_model=np.arange(many))
    places = SimpleNamespace(device_unit=np.ones(many, dtype=int), rack_kind=[kinds[0]])
    monkeypatch.setattr(elevations, "Racks", lambda f, p: SimpleNamespace(by_rack={0: list(range(many))}))
    monkeypatch.setattr(elevations, "rack_sums", lambda f, r: {0: None})
    assert RackDrawing(fabric, places, "t").colour == {m: COLOURS[m % (many - 1)] for m in range(many)}
