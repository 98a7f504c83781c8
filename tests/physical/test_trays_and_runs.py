"""Which cables lie in the trays of each hall, runs in racks and between them, and tables of racks: of made-up places."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.physical import fitting, model, rack_rows, stated
from tdsl.physical.bends import Bends
from tdsl.physical.fitting import Fit, cables_for, optics_for, port_class_rates
from tdsl.physical.lengths import CableRuns, RunStretch, _cross_tray_positions, _cross_tray_racks, metres_text
from tdsl.physical.model import Physical, physical_of, with_runs
from tdsl.physical.part_choice import PartChoice
from tdsl.physical.rack_rows import MountLine, RackLine, mount_lines, rack_lines
from tdsl.physical.racks import PartialSum, Racks, kilograms_of_model, watts_of_model
from tdsl.physical.trays import Trays
from tdsl.semantics.model import PortClass
from tdsl.semantics.quantity import LENGTH, MASS, POWER, RATE, UNITS, Quantity
from tests.physical.test_choice_of_parts import GBPS, fibre, optic, part, ports
from tests.physical.test_choice_of_parts import metres as long

UM = 1_000_000
UNIT = 44_450
TWO, ONE = (Quantity(Fraction(n), UNITS) for n in (2, 1))


# ------------------------------------------------------------------ trays
def test_cables_in_the_trays_of_a_hall() -> None:
    """Those between two racks of a hall, and those that leave one: to another hall, or over a stated distance if the way to the
    entry is known. Others, and those without a length, are in none."""
    seen = set()
    for seed in range(120):
        random = Random(seed)
        racks, halls, devices, count = 5, 3, 7, random.randint(0, 6)
        rack_hall = [random.randrange(halls) for _ in range(racks)]
        rack = [random.choice((-1, *range(racks))) for _ in range(devices)]
        top = [random.choice((d, d, 0)) for d in range(devices)]
        known = [random.random() < 0.6 for _ in range(devices)]
        ends = [(random.randrange(devices), random.randrange(devices)) for _ in range(count)]
        run = [random.choice((-1, 0, 5)) for _ in range(count)]
        spans = [random.random() < 0.4 for _ in range(count)]
        chosen = [random.random() < 0.8 for _ in range(count)]
        trayless = [random.random() < 0.4 for _ in range(halls)]
        fabric: Any = SimpleNamespace(
            port_device=np.arange(devices), cable_a=np.array([a for a, _ in ends], dtype=int),
            cable_b=np.array([b for _, b in ends], dtype=int),
        )  # fmt: skip
        lengths = SimpleNamespace(
            run=np.array(run, dtype=int), spans=np.array(spans, dtype=np.bool_), top=np.array(top),
            enters=lambda d, known=known: np.array([known[x] for x in d.tolist()], dtype=np.bool_),
        )  # fmt: skip
        places = SimpleNamespace(
            device_rack=np.array(rack), rack_hall=np.array(rack_hall),
            halls=[SimpleNamespace(tray=None if bare else 1) for bare in trayless],
        )  # fmt: skip
        trays = Trays(fabric, SimpleNamespace(places=places, lengths=lengths))  # type: ignore[arg-type]
        asked: list[Any] = []
        trays._of_hall = lambda h, legs, ra, rb, asked=asked: (  # type: ignore[method-assign]
            asked.append(sorted(zip([h] * len(legs), legs.tolist(), ra.tolist(), rb.tolist(), strict=True))) or [h]
        )
        mask = np.array(chosen, dtype=np.bool_)
        assert trays.stretches(mask) == [0, 1, 2]
        wanted: list[Any] = [[], [], []]
        lost = 0
        for k, (a, b) in enumerate(ends):
            if not chosen[k]:
                continue
            ra, rb = rack[top[a]], rack[top[b]]
            ha, hb = (rack_hall[r] if r >= 0 else -1 for r in (ra, rb))
            lost += run[k] < 0
            if spans[k]:
                lost += any(not known[top[d]] and not (rack[top[d]] >= 0 and trayless[rack_hall[rack[top[d]]]]) for d in (a, b))
            if run[k] < 0:
                continue
            if not spans[k] and ha == hb >= 0:
                if ra != rb:
                    wanted[ha].append((ha, k, ra, rb))
                    seen.add("inside")
                continue
            for d, r, h in ((a, ra, ha), (b, rb, hb)):
                if h >= 0 and (known[top[d]] if spans[k] else ha != hb):
                    wanted[h].append((h, k, r, -1))
                    seen.add(("leaves", spans[k]))
        assert asked == [sorted(x) for x in wanted], seed
        assert trays.unknown(mask) == lost
        seen.add(("lost", min(lost, 2)))
    assert len(seen) == 6


def test_diameters_and_bends() -> None:
    """Micrometres by the part of each leg, -1 where it states none or none is chosen."""
    choices = [
        PartChoice(None, None, None),
        PartChoice(fibre(), None, None),
        PartChoice(fibre(diameter=long(0.003), bend=long(0.03)), None, None),
    ]
    of: Any = SimpleNamespace(parts=SimpleNamespace(group=(np.array([2, 0, 1, 2]), choices)), places=None)
    assert Trays(None, of)._diameter.tolist() == [3000, -1, -1, 3000]  # type: ignore[arg-type]
    assert Bends(None, of).need.tolist() == [30_000, -1, -1, 30_000]  # type: ignore[arg-type]
    none: Any = SimpleNamespace(parts=SimpleNamespace(group=(np.zeros(0, dtype=int), [])), places=None)
    assert Trays(None, none)._diameter.tolist() == [] == Bends(None, none).need.tolist()  # type: ignore[arg-type]


# ------------------------------------------------------------------ runs
def hall(name: str, rows: list[list[int]], tray: int | None, across: tuple[int, ...] = (), slack: int | None = 500) -> Any:
    """A hall with racks 600 apart in rows 1000 apart."""
    made = [SimpleNamespace(name=n, racks=[(x, None) for x in row]) for n, row in zip("AB", rows, strict=False)]
    over = None if tray is None else SimpleNamespace(height=tray, across=across)
    return SimpleNamespace(name=name, rows=made, tray=over, slack=slack, rack_pitch=600, row_pitch=1000)


HALLS = [
    hall("h0", [[1, 2, 3], [1, 2, 4]], 2000, (4, 2, 9)), hall("h1", [[5], [6]], 100, (5,), 250), hall("h2", [[1]], None),
    hall("h3", [[1], [2]], 3000),
]  # fmt: skip
# racks: 0-2 row A of h0, 3-5 row B; 6, 7 of h1; 8 of h2; 9, 10 of h3


def lengths_of(devices: list[tuple[int, int]], ends: list[tuple[int, int]], spans: dict[int, int] | None = None) -> Any:
    """Runs of cables between devices: each device has a rack and a unit; models are 2U, 1U and of no height in turn."""
    racks = [(h, j, k) for h, x in enumerate(HALLS) for j, row in enumerate(x.rows) for k, _ in enumerate(row.racks)]
    places = SimpleNamespace(
        halls=HALLS, device_rack=np.array([r for r, _ in devices]), device_unit=np.array([u for _, u in devices]),
        rack_hall=np.array([h for h, *_ in racks]), rack_x=np.array([600 * k for *_, k in racks]),
        rack_y=np.array([1000 * j for _, j, _ in racks]), rack_names=[f"{HALLS[h].name}.{'AB'[j]}{k}" for h, j, k in racks],
        distances={(0, 1): 7000, (1, 0): 7000, (0, 2): 1000, (2, 0): 1000, (0, 3): 50, (3, 0): 50},
    )  # fmt: skip
    heights = [{"height": TWO}, {"height": ONE}, {}]
    fabric = SimpleNamespace(
        device_count=len(devices), container=np.full(len(devices), -1), port_device=np.arange(len(devices)),
        models=[part("host", f"M{k}", **h) for k, h in enumerate(heights)], device_model=np.arange(len(devices)) % 3,
        cable_a=np.array([a for a, _ in ends]), cable_b=np.array([b for _, b in ends]), device_name=lambda d: f"d{d}",
        spans=[SimpleNamespace(text="x to y", length=9000)],
    )  # fmt: skip
    fabric.model_of = lambda d: fabric.models[d % 3]
    made = CableRuns(fabric, places)  # type: ignore[arg-type]
    over = [(spans or {}).get(k, -1) for k in range(len(ends))]
    made.__dict__["_span"] = (np.array(over), np.zeros(len(ends), dtype=int))
    made.__dict__["height"] = np.array(
        [-1 if u == 0 or k % 3 == 2 else (2 * (u - 1) + (2, 1)[k % 3]) * UNIT // 2 for k, (_, u) in enumerate(devices)]
    )
    return made


DEVICES = [(0, 1), (2, 9), (4, 9), (4, 3), (6, 2), (-1, 4), (8, 1), (0, 0), (0, 3), (7, 5), (9, 1), (3, 2), (10, 2), (0, 40)]
# heights of the middles: d0 44.45, d1 377.825, d3 133.35, d4 66.675, d9 222.25, d10 22.225 mm, d12 88.9 mm, d13 1755.775 mm


def test_runs_by_hand() -> None:
    """Micrometres: the middle of unit u of a 2U device is u units high; inside a rack, along a row, over the best tray across,
    and between halls over their entries."""
    up = {0: 1_955_550, 1: 1_622_175, 3: 1_866_650, 4: 33_325, 9: 122_250, 13: 2_000_000 - (2 * 39 + 1) * 22_225}
    ends = [(0, 13), (0, 1), (1, 3), (0, 4), (4, 9), (0, 5), (0, 6), (0, 7), (0, 8), (4, 10), (0, 10), (10, 12), (13, 0)]
    made = lengths_of(DEVICES, ends)
    assert made.run.tolist() == [
        up[0] - up[13] + 1_000_000,
        up[0] + up[1] + 1_200_000 + 1_000_000,
        up[1] + up[3] + 600_000 + 1_000_000 + 1_000_000,  # from place 2 to place 1, the tray across at place 1 or 2
        up[0] + up[4] + 7_000_000 + 750_000,
        up[4] + up[9] + 1_000_000 + 500_000,
        -1, -1, -1, -1,  # no place, no tray, no unit, no height
        -1,  # no distance
        up[0] + 3_000_000 - 22_225 + 50_000 + 1_000_000,
        -1,  # no tray across between the rows
        up[0] - up[13] + 1_000_000,
    ]  # fmt: skip
    racks = np.array([0, 2, 0, 6, 8, 9, 6, 9]), np.array([5, 4, 6, 9, 0, 10, 0, 9])
    assert made.way(*racks).tolist() == [2_200_000, 1_600_000, 7_000_000, -1, -1, -1, 7_000_000, 0]
    assert made.unknown(0) == "" and [made.unknown(k) for k in range(5, 10)] == [
        "d5 has no place", "hall h2 has no `tray`", "d7 has a rack and no unit", "M2 has no `height`",
        "there is no `distance h1 to h3`",
    ]  # fmt: skip
    for leg in range(len(ends)):
        assert sum(s.length for s in made.steps(leg)) == max(int(made.run[leg]), 0)
    assert made.steps(5) == []


def test_runs_over_a_stated_distance() -> None:
    """The distance, and what is known of the way to the entry at each end."""
    ends = [(0, 4), (3, 5), (7, 6), (12, 13)]
    made = lengths_of(DEVICES, ends, {0: 9000, 1: 9000, 2: 9000, 3: 9000})
    way = made._to_entry(np.array([0, 4, 3, 5, 7, 6, 12, 13])).tolist()
    up = {0: 1_955_550, 4: 33_325, 3: 1_866_650, 13: 2_000_000 - 79 * 22_225}
    assert way == [up[0] + 500_000, up[4] + 250_000, up[3] + 600_000 + 1_000_000 + 500_000, -1, -1, -1, -1, up[13] + 500_000]
    assert made.run.tolist() == [9_000_000 + way[0] + way[1], 9_000_000 + way[2], 9_000_000, 9_000_000 + way[7]]
    assert made.spans.tolist() == [True] * 4 and made.enters(np.array([0, 5, 13])).tolist() == [True, False, True]
    assert [s.what for s in made.steps(0)] == [
        "slack at d0", "rack h0.A0, unit 1 at 0.045 m, up to the tray at 2.000 m",
        "tray along the row, h0.A0 to the entry of h0", "distance x to y", "tray along the row, h1.A0 to the entry of h1",
        "rack h1.A0, unit 2 at 0.067 m, up to the tray at 0.100 m", "slack at d4",
    ]  # fmt: skip
    assert made.steps(2) == [RunStretch("distance x to y", 9_000_000)]
    assert [sum(s.length for s in made.steps(k)) for k in range(4)] == made.run.tolist()


def test_words_of_runs() -> None:
    made = lengths_of([*DEVICES], [(1, 3), (0, 9), (9, 4), (0, 13)])
    assert made.steps(0) == [
        RunStretch("slack at d1", 500_000),
        RunStretch("rack h0.A2, unit 9 at 0.378 m, up to the tray at 2.000 m", 1_622_175),
        RunStretch("tray along the row, h0.A2 to the tray across at rack 2", 600_000),
        RunStretch("tray across the rows", 1_000_000),
        RunStretch("tray along the row, the tray across at rack 2 to h0.B1", 0),
        RunStretch("rack h0.B1, unit 3 at 0.134 m, down from the tray at 2.000 m", 1_866_650),
        RunStretch("slack at d3", 500_000),
    ]
    assert [s.what for s in made.steps(1)][2:-2] == [
        "tray along the row, h0.A0 to the entry of h0", "hall h0 to hall h1",
        "tray along the row, the entry of h1 to the tray across at rack 5", "tray across the rows",
        "tray along the row, the tray across at rack 5 to h1.B0",
    ]  # fmt: skip
    assert made.steps(2)[1] == RunStretch("rack h1.B0, unit 5 at 0.223 m, down to the tray at 0.100 m", 122_250)
    assert made.steps(3)[1] == RunStretch("inside rack h0.A0, unit 1 to unit 40", 79 * 22_225 - UNIT)
    assert [metres_text(x) for x in (0, 1, 1000, 1001, 1_234_567)] == ["0.000 m", "0.001 m", "0.001 m", "0.002 m", "1.235 m"]
    assert _cross_tray_racks(HALLS[0]) == {1200: 4, 600: 2} and _cross_tray_positions(HALLS[0]) == [600, 1200]
    assert _cross_tray_racks(HALLS[2]) == {} and _cross_tray_positions(HALLS[3]) == []


def test_lengths_of_nothing() -> None:
    """A slack, a distance or a way of 0 is known; a tray at the height of a device is above it."""
    made = lengths_of([(0, 20), (0, 20), (6, 2), (0, 20)], [(0, 3), (0, 2), (0, 2), (0, 1)], {2: 0})
    made.places.halls = [hall("h0", [[1, 2, 3], [1, 2, 4]], 889, (4, 2), 0), hall("h1", [[5], [6]], 100, (5,), 0), *HALLS[2:]]
    made.places.distances = {(0, 1): 0}
    down = 3 * UNIT // 2  # device 2 has no height of its own: it is given one here
    made.__dict__["height"] = np.array([889_000, 866_775, down, 889_000])
    assert made.run.tolist() == [0, 100_000 - down, 100_000 - down, 22_225]
    assert [made.unknown(k) for k in range(4)] == [""] * 4 and made.spans.tolist() == [False, False, True, False]
    assert [s.length for s in made.steps(0)] == [0, 0, 0]
    assert made.steps(1)[1] == RunStretch("rack h0.A0, unit 20 at 0.889 m, up to the tray at 0.889 m", 0)
    made.fabric.spans[0].length = 0
    assert [s.length for s in made.steps(2)] == [0, 0, 0, 0, 0, 100_000 - down, 0]
    assert made.steps(2)[3] == RunStretch("distance x to y", 0)


def test_what_a_length_lacks() -> None:
    """The first thing that is missing, from the a end on."""
    made = lengths_of([(0, 1), (3, 1), (9, 1), (10, 1)], [(0, 1), (2, 3)])
    made.__dict__["run"] = np.array([-1, -1])
    for x, y, words in ((-1, 0, "racks"), (0, -1, "rows"), (-1, -1, "racks")):
        made.places.rack_x[3], made.places.rack_y[3] = x, y
        assert made.unknown(0) == f"hall h0 has no `pitch` of {words}"
    assert made.unknown(1) == "M2 has no `height`"
    made.places.rack_x[3] = made.places.rack_y[3] = 0
    bare = hall("h9", [[1]], 5, slack=None)
    made.places.halls = [*HALLS[:3], bare]
    assert made.unknown(1) == "hall h9 has no `slack`"


def test_outermost_devices_and_heights() -> None:
    made: Any = object.__new__(CableRuns)
    made.fabric = SimpleNamespace(
        device_count=5, container=np.array([-1, 0, 1, -1, 2]), models=[part("host", "A", height=TWO), part("host", "B")],
        device_model=np.array([0, 0, 1, 0, 0]),
    )  # fmt: skip
    made.places = SimpleNamespace(device_unit=np.array([1, 0, 4, 7, 2]))
    assert made.top.tolist() == [0, 0, 0, 3, 0]
    assert made.height.tolist() == [44_450, -1, -1, 311_150, 88_900]


# ------------------------------------------------------------------ lengths of links
def test_lengths_of_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """The legs that a link runs through, each as sold, else to the next decimetre; none where one of them is unknown."""
    run = np.array([1, 100_000, 100_001, -1, -1, 7, 0])
    sold = np.array([-1, -1, -1, 2 * UM, -1, 0, -1])
    of = SimpleNamespace(lengths=SimpleNamespace(run=run), parts=SimpleNamespace(sold=(sold, None)))
    links, legs = np.array([0, 0, 1, 2, 3, 3, 5, 6]), np.array([0, 1, 2, 3, 3, 4, 5, 6])
    monkeypatch.setattr(model, "physical_of", lambda f: of)
    monkeypatch.setattr(model, "CableIndex", lambda f: SimpleNamespace(crossings=(links, legs)))
    monkeypatch.setattr(model, "replace", lambda f, link_run: link_run.tolist())
    fabric: Any = SimpleNamespace(cable_a=np.zeros(7), link_count=7)
    assert with_runs(fabric) == [200_000, 200_000, 2 * UM, -1, -1, 0, 0]
    fabric.cable_a = np.zeros(0)
    assert with_runs(fabric) is fabric
    monkeypatch.setattr(model, "physical_of", lambda f: None)
    fabric.cable_a = np.zeros(6)
    assert with_runs(fabric) is fabric


def test_when_there_are_places(monkeypatch: pytest.MonkeyPatch) -> None:
    class Some:
        """A fabric that can be a key."""

        parts, device_count = (), 3

        def __init__(self, places: Any, spans: Any) -> None:
            self.places, self.spans = places, spans

    assert physical_of(Some(None, ())) is None  # type: ignore[arg-type]
    for places, spans in ((1, ()), (1, (2,))):
        found = physical_of(Some(places, spans))  # type: ignore[arg-type]
        assert isinstance(found, Physical) and found.places == 1
    monkeypatch.setattr(model, "ChosenParts", lambda *given: given)
    found = physical_of(some := Some(None, (2,)))  # type: ignore[arg-type]
    assert found is not None and found.places.device_rack.tolist() == [-1] * 3
    assert found.parts == (some, found.lengths, ())


def test_stated_lengths() -> None:
    """One for all classes, or one a class; rounded up to micrometres, and a length that is too large is cut."""
    tiny, far = Quantity(Fraction(1, 3_000_000), LENGTH), Quantity(Fraction(10**15), LENGTH)
    said = [
        {}, {"length": long(2.5)}, {"length": tiny}, {"length": far}, {"length": Quantity(Fraction(3), RATE)},
        {"length": (long(1), tiny), "class": ("up", "down")}, {"length": (long(1), long(2), long(3)), "class": ("up", "down")},
        {"length": (long(1),), "class": "up"},
    ]  # fmt: skip
    count = len(said)
    fabric: Any = SimpleNamespace(
        statements=[SimpleNamespace(settings=s) for s in said], classes=["rail", "down", "up"],
        cable_statement=np.array([*range(count)] * 3 + [-1]), cable_class=np.array([0] * count + [1] * count + [2] * count + [0]),
        cable_a=np.zeros(3 * count + 1),
    )  # fmt: skip
    found = stated.stated_lengths(fabric).tolist()
    same = [-1, 2_500_000, 1, 1 << 60, -1]
    assert found == [*same, -1, -1, -1, *same, 1, -1, -1, *same, UM, -1, -1, -1]
    fabric.cable_a = np.zeros(0)
    assert stated.stated_lengths(fabric).tolist() == []


# ------------------------------------------------------------------ racks
def test_figures_of_models() -> None:
    w, kg = Quantity(Fraction(5), POWER), Quantity(Fraction(7), MASS)
    most = part("host", "A", power=w, power_max=Quantity(Fraction(9), POWER), mass=kg)
    assert (watts_of_model(most), watts_of_model(most, True), kilograms_of_model(most)) == (9, 5, 7)
    one = part("host", "A", power_max=w)
    assert (watts_of_model(part("host", "A", power=w)), watts_of_model(one), watts_of_model(one, True)) == (5, 5, None)
    assert watts_of_model(part("host", "A", power=kg)) is None is kilograms_of_model(part("host", "A", mass=w))
    assert kilograms_of_model(part("host", "A", mass=7)) is None
    total = PartialSum(Fraction(1), 2) + PartialSum(Fraction(5), 0)
    assert total == PartialSum(Fraction(6), 2) and not total.exact and PartialSum(Fraction(0), 0).exact


def placed() -> tuple[Any, Any]:
    """Two halls of racks with devices of three models."""
    w, kg = Quantity(Fraction(1500), POWER), Quantity(Fraction(25, 2), MASS)
    models = [part("host", "H", height=TWO, power_max=w, mass=kg), part("switch", "S", height=ONE, power=w), part("chip", "C")]
    kinds = [
        SimpleNamespace(height=42, feeds=2, feed_watts=Fraction(6000), mass=Fraction(900)),
        SimpleNamespace(height=None, feeds=0, feed_watts=None, mass=None),
        SimpleNamespace(height=0, feeds=1, feed_watts=Fraction(0), mass=None),
    ]  # fmt: skip
    halls = [SimpleNamespace(name=f"h{k}", rows=[SimpleNamespace(name=r) for r in "AB"]) for k in range(2)]
    hall_of = [0, 1, 1]
    places = SimpleNamespace(
        device_rack=np.array([2, 0, 0, 1, -1, 0, 2]), device_unit=np.array([3, 9, 2, 0, 1, 2, 1]), rack_kind=kinds, halls=halls,
        rack_hall=np.array(hall_of), rack_row=np.array([1, 0, 1]), rack_names=["r0", "r1", "r2"],
        hall_name=lambda r: f"h{hall_of[r]}",
    )  # fmt: skip
    model_of = [0, 1, 0, 2, 0, 2, 1]
    fabric = SimpleNamespace(
        models=models, device_model=np.array(model_of), built=np.array([1, 1, 1, 1, 1, 1, 0], dtype=np.bool_), places=places,
        container=np.array([-1, -1, -1, -1, -1, 2, -1]), model_of=lambda d: models[model_of[d]],
    )  # fmt: skip
    return fabric, places


def test_racks_and_their_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric, places = placed()
    racks = Racks(fabric, places)
    assert racks.devices.tolist() == [2, 5, 1, 3, 0] and racks.by_rack == {0: [2, 5, 1], 1: [3], 2: [0]}
    assert [racks.height(d) for d in range(4)] == [2, 1, 2, 0]
    assert racks.total([0, 1, 2, 3], racks.mass) == PartialSum(Fraction(25), 2)
    assert racks.total([0, 1, 2, 3], racks.watts_max) == PartialSum(Fraction(4500), 1)
    monkeypatch.setattr(rack_rows, "DeviceColumns", lambda f: SimpleNamespace(name=[f"d{k}" for k in range(7)]))
    assert mount_lines(fabric) == [
        MountLine("h0", "B", "r0", 2, 2, "d2", "H", "1500", "12.5"),
        MountLine("h0", "B", "r0", 9, 1, "d1", "S", "1500", ""),
        MountLine("h1", "A", "r1", "", "", "d3", "C", "", ""),
        MountLine("h1", "B", "r2", 3, 2, "d0", "H", "1500", "12.5"),
    ]
    sums = {0: PartialSum(Fraction(3000), 0), 1: PartialSum(Fraction(0), 1), 2: PartialSum(Fraction(3, 2), 2)}
    monkeypatch.setattr(rack_rows, "Figures", lambda f: None)
    monkeypatch.setattr(rack_rows, "rack_sums", lambda f, r: sums)
    assert rack_lines(fabric) == [
        RackLine("h0", "r0", 3, 3, 42, "3000", 2, "6000", ">=12.5", "900", "1 H, 1 C, 1 S"),
        RackLine("h1", "r1", 1, 0, "", ">=0", "", "", ">=0", "", "1 C"),
        RackLine("h1", "r2", 1, 2, 0, ">=1.5", 1, "0", "12.5", "", "1 H"),
    ]
    fabric.places = None
    assert mount_lines(fabric) == [] == rack_lines(fabric)


# ------------------------------------------------------------------ parts that fit
def split(c: PortClass, *ways: int) -> PortClass:
    """Ports that may be split."""
    return PortClass(**{n: getattr(c, n) for n in PortClass.__dataclass_fields__} | {"splits": ways})  # type: ignore[arg-type]


def test_rates_of_ports() -> None:
    assert port_class_rates(ports()) == [400 * GBPS] and port_class_rates(split(ports(), 4, 2, 3, 0)) == [
        400 * GBPS,
        200 * GBPS,
        100 * GBPS,
    ]
    free = PortClass(**{n: getattr(ports(), n) for n in PortClass.__dataclass_fields__} | {"rate": None})  # type: ignore[arg-type]
    assert port_class_rates(free) == []
    names = [c.name for c in fitting._classes_with_cages(SimpleNamespace(classes=[ports("a"), free, ports("b", form="")]))]  # type: ignore[arg-type]
    assert names == ["a"]


def test_fibres_between_two_cages() -> None:
    """Pairs of transceivers of one connector on a straight fibre of the rate; of one model alone, each with itself."""
    lc, other = optic("LC", connector="lc"), optic("SMF", fibre="smf")
    slow = optic("SLOW", rate=Quantity(Fraction(200 * GBPS), RATE))
    o, p, fin = optic("O"), optic("P"), optic("FIN", form=("OSFP", "finned"))
    glass, bare, legs = fibre(), fibre("BARE", connector=None), fibre("LEGS", legs=2)
    thin = fibre("THIN", rate=Quantity(Fraction(1), RATE))
    a, b = ports("a"), split(ports("b", heatsink="finned"), 2)
    one, two = SimpleNamespace(classes=[a]), SimpleNamespace(classes=[b])
    parts = [glass, bare, legs, thin, lc, other, slow, o, p, fin]
    assert list(optics_for(parts, one)) == [Fit(x, a, None, 400 * GBPS) for x in (lc, other, o, p)]  # type: ignore[arg-type]
    assert list(cables_for(parts, one)) == [  # type: ignore[arg-type]
        Fit(glass, a, None, 400 * GBPS, ((o, o), (p, p))), Fit(bare, a, None, 400 * GBPS, ((lc, lc), (o, o), (p, p))),
    ]  # fmt: skip
    assert list(cables_for(parts, one, two)) == [  # type: ignore[arg-type]
        Fit(glass, a, b, 400 * GBPS, ((o, fin), (p, fin))), Fit(bare, a, b, 400 * GBPS, ((o, fin), (p, fin))),
    ]  # fmt: skip
    assert list(cables_for([glass, o], two)) == []  # type: ignore[arg-type]
    wire = part(
        "cable", "W", medium="dac", rate=Quantity(Fraction(400 * GBPS), RATE), form=("OSFP", "flat"), tail=("OSFP", "finned")
    )
    both = part("cable", "V", medium="dac", rate=Quantity(Fraction(400 * GBPS), RATE), form=("OSFP", "flat"))
    assert [x.part.name for x in cables_for([wire, both], one, two)] == ["W"]  # type: ignore[arg-type]
    assert [x.part.name for x in cables_for([wire, both], one, one)] == ["V"]  # type: ignore[arg-type]
    assert [(x.part.name, x.rate // GBPS) for x in cables_for([wire, both], two)] == [("W", 400), ("W", 200)]  # type: ignore[arg-type]
    assert [x.part.name for x in cables_for([wire, both], one)] == ["W", "V"]  # type: ignore[arg-type]
