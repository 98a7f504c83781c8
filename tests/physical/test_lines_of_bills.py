"""Bills line by line, sums of halls and racks, cords, and what a lock records: of made-up racks and parts, by plain counting."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.pins import LockedFigure, UsedFile
from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.physical import bom, cords, explain, rack_rows, standing, totals
from tdsl.physical.bom import Line, bill_of_materials, number_cell, order_number
from tdsl.physical.cords import Cord, cords_of
from tdsl.physical.lengths import RunStretch
from tdsl.physical.part_choice import PartChoice
from tdsl.physical.power_and_cost import Optics, Plugs
from tdsl.physical.racks import PartialSum
from tdsl.physical.totals import Total, _Sum
from tdsl.semantics.quantity import MONEY, POWER, Quantity
from tdsl.semantics.supply import Spares, Supply
from tests.physical.test_choice_of_parts import copper, fibre, metres, optic, part

UM = 1_000_000


def test_amounts_as_cells() -> None:
    assert [number_cell(x) for x in (None, Fraction(0), Fraction(6, 2), Fraction(5, 2))] == ["", 0, 3, 2.5]
    assert type(number_cell(Fraction(6, 2))) is int


def test_codes_of_lengths() -> None:
    cable = fibre(lengths=(metres(3), metres(10), metres(20)), codes=("C-3", "C-10"), part="C")
    assert [order_number(cable, x * UM) for x in (3, 10, 20, 4)] == ["C-3", "C-10", "C", "C"]
    other = fibre(lengths=(Quantity(Fraction(3), POWER), metres(3)), codes=("C-1", "C-2"))
    assert order_number(other, 3 * UM) == "C-1"
    assert order_number(fibre(), 3 * UM) == "" and order_number(fibre(lengths=metres(3), codes="ONE"), 3 * UM) == "ONE"


def line(kind: str, model: str, quantity: int, **more: Any) -> Line:
    """A line of a bill before spares are added."""
    return replace(Line(kind, model, "d", "o", "", "", quantity, "", 10, 10 * quantity, "", "", "", "", ""), **more)


def test_spares_lead_times_and_alternatives(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of prices by name, then by kind, then the model; spares of a part once, on its first line, for all its lines."""
    facts = {"spares": Spares(count=1), "lead": 21, "alternative": ("X", "Y")}
    models = [part("switch", "A_1", **facts), part("switch", "B"), part("host", "N")]
    supply = Supply(
        spares={"B": Spares(share=Fraction(1, 10)), "optic": Spares(count=4)}, lead_days={"B": 0, "switch": 7, "optic": 5},
        alternatives={"N": ("Z",), "A_1": ()},
    )  # fmt: skip
    fabric: Any = SimpleNamespace(parts=[optic("O_1", spares=Spares(count=9), lead=8)], models=models, supply=supply)
    lines = [
        line("switch", "A_1", 3), line("switch", "A_1", 2, place="p"), line("switch", "B", 31, unit_price=0.1),
        line("host", "N", 5), line("optic", "O-1", 3), line("optic", "?", 2, unit_price=""), line("switch", "B", 0, length_m=4),
        line("cable", "C", 1, unit_price=""),
    ]  # fmt: skip
    found = [(x.spares, x.spares_price, x.lead_days, x.alternative) for x in bom._add_supply_columns(lines, fabric)]
    assert found == [
        (1, 10, 7, "X Y"), (0, 0, 7, "X Y"), (4, 0.4, 0, ""), ("", "", "", "Z"), (4, 40, 5, ""), ("", "", 5, ""), (0, 0, 0, ""),
        ("", "", "", ""),
    ]  # fmt: skip
    kept = [replace(x, spares="", spares_price="", lead_days="", alternative="") for x in bom._add_supply_columns(lines, fabric)]
    assert kept == lines
    fabric.supply = Supply()
    assert [(x.spares, x.lead_days) for x in bom._add_supply_columns(lines, fabric)[:5]] == [
        (1, 21),
        (0, 21),
        ("", ""),
        ("", ""),
        (9, 8),
    ]


def places(kinds: list[Any], rack: list[int], unit: list[int] | None = None) -> Any:
    """Racks of one hall and what stands in them."""
    row = SimpleNamespace(name="A")
    return SimpleNamespace(
        device_rack=np.array(rack), device_unit=np.array(unit or [1] * len(rack)), rack_kind=kinds, rack_count=len(kinds),
        rack_hall=np.zeros(len(kinds), dtype=int), rack_row=np.zeros(len(kinds), dtype=int),
        halls=[SimpleNamespace(name="h", rows=[row])],
        hall_name=lambda r: "h", rack_name=lambda r: f"A{r:02}", rack_names=[f"A{r:02}" for r in range(len(kinds))],
    )  # fmt: skip


def kind(height: int | None = None, feeds: int = 0) -> Any:
    """A kind of rack."""
    return SimpleNamespace(height=height, feeds=feeds, feed_watts=None, mass=None)


def test_racks_of_a_bill() -> None:
    """Those that hold a device that is built and not inside another; first the lower ones, of each height those with hosts."""
    assert bom._rack_bill_lines(SimpleNamespace(places=None)) == []  # type: ignore[arg-type]
    heights = [48, 48, None, 20, 48, 20, 52, None, 48]
    rack = [0, 0, 1, 2, 3, 4, 5, 6, 7, -1, 8]
    fabric: Any = SimpleNamespace(
        places=places([kind(h) for h in heights], rack), built=np.array([1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1], dtype=np.bool_),
        container=np.array([-1] * 10 + [0]),
        role=np.array(["accelerator", "", "", "", "accelerator", "storage", "", "accelerator", "accelerator", "accelerator", ""]),
    )  # fmt: skip
    found = [(x.model, x.place, x.quantity, x.description, x.note) for x in bom._rack_bill_lines(fabric)]
    with_hosts, others = "holds hosts with accelerators", "holds switches, managers and other hosts"
    assert found == [
        ("rack", "compute rack", 1, with_hosts, "the height is not stated"),
        ("rack", "management rack", 1, others, "the height is not stated"),
        ("rack 20U", "compute rack", 1, with_hosts, ""),
        ("rack 20U", "management rack", 1, others, ""),
        ("rack 48U", "compute rack", 1, with_hosts, ""),
        ("rack 48U", "management rack", 2, others, ""),
    ]
    assert bom._rack_bill_lines(fabric)[0] == Line(
        "rack", "rack", with_hosts, "", "compute rack", "", 1, "", "", "", "", "", "", "", "the height is not stated"
    )


def test_devices_of_a_bill() -> None:
    """Mounted ones, models of one name together; a switch of a placed design should state its airflow."""
    power, cost = Quantity(Fraction(150), POWER), Quantity(Fraction(5, 2), MONEY)
    models = [
        part("switch", "S", power=power, price=cost, part="S-9"), part("host", "H"), part("switch", "S", power=power, price=cost),
        part("switch", "AIR", airflow="front"), part("switch", "UNUSED"),
    ]  # fmt: skip
    fabric: Any = SimpleNamespace(
        models=models, device_model=np.array([1, 0, 2, 2, 3, 4, 1]), places=None, prices={"H": Fraction(7)}
    )
    figures: Any = SimpleNamespace(fabric=fabric, mounted=np.array([1, 1, 1, 1, 1, 0, 1], dtype=np.bool_))
    wanted = [
        Line("switch", "S", "title of S", "S-9", "", "", 3, 150, 2.5, 7.5, "", "", "", "", ""),
        Line("host", "H", "title of H", "", "", "", 2, "", 7, 14, "", "", "", "", ""),
        Line("switch", "AIR", "title of AIR", "", "", "", 1, "", "", "", "", "", "", "", ""),
    ]
    assert bom._device_bill_lines(figures) == wanted
    fabric.places = 1
    assert [x.note for x in bom._device_bill_lines(figures)] == ["state the direction of airflow", "", ""]


def test_transceivers_of_a_bill() -> None:
    models = [part("switch", "S"), part("host", "H"), part("switch", "S")]
    o, p = optic("O_1", power=Quantity(Fraction(9), POWER), part="N-1"), optic("P", price=Quantity(Fraction(3), MONEY))
    found = Optics(np.array([0, 1, 2, 0, 1]), np.array([1, 0, 1, 0, 1]), [o, p], np.array([2, 0, 1]))
    figures: Any = SimpleNamespace(fabric=SimpleNamespace(models=models, device_model=np.arange(3), prices={}), optics=found)
    lacking = "no transceiver is chosen for these cable ends"
    assert bom._optic_bill_lines(figures) == [
        Line("optic", "O-1", "title of O_1", "N-1", "H", "", 1, 9, "", "", "", "", "", "", ""),
        Line("optic", "O-1", "title of O_1", "N-1", "S", "", 1, 9, "", "", "", "", "", "", ""),
        Line("optic", "P", "title of P", "", "H", "", 1, "", 3, 3, "", "", "", "", ""),
        Line("optic", "P", "title of P", "", "S", "", 2, "", 3, 6, "", "", "", "", ""),
        Line("optic", "?", lacking, "", "H", "", 1, "", "", "", "", "", "", "", "to be settled"),
        Line("optic", "?", lacking, "", "S", "", 2, "", "", "", "", "", "", "", "to be settled"),
    ]


def cabled(**columns: list[int]) -> Any:
    """Cable columns of a fabric with two classes."""
    return SimpleNamespace(
        classes=["rail", "up"], prices={}, statements=[], **{f"cable_{k}": np.array(v) for k, v in columns.items()}
    )


def test_cables_of_a_bill_with_places() -> None:
    """One line for each part, code, class, length and note; only the first leg of a break-out counts."""
    plain = fibre("MY_F", lengths=(metres(3), metres(10)), codes=("F-3", "F-10"), note="soon", price=Quantity(Fraction(4), MONEY))
    bare = fibre("BARE", lengths=None)
    choices = [PartChoice(plain, None, None), PartChoice(bare, None, None), PartChoice(None, None, None, "no part fits")]
    rows = [  # group, class, leg, sold, with a source, run
        (0, 0, 0, 3 * UM, 1, 5), (0, 0, 1, 3 * UM, 1, 9), (0, 0, 2, 3 * UM, 1, 9), (0, 1, 0, 3 * UM, 0, 5), (0, -1, 0, -1, 0, -1),
        (0, 0, 0, -1, 0, 99 * UM), (1, 0, 0, -1, 0, 0), (1, 0, 0, 2_500_000, 1, 0), (2, 1, 0, -1, 0, 7), (2, 1, 0, 0, 1, -1),
    ]  # fmt: skip
    group, c, leg, sold, sure, run = (list(x) for x in zip(*rows, strict=True))
    fabric = cabled(leg=leg, **{"class": c})
    parts = SimpleNamespace(group=(np.array(group), choices), sold=(np.array(sold), np.array(sure)))
    figures: Any = SimpleNamespace(
        fabric=fabric, physical=SimpleNamespace(parts=parts, lengths=SimpleNamespace(run=np.array(run)))
    )

    def of(name: str, code: str, where: str, length: Any, n: int, note: str, each: int | str = "") -> Line:
        title = f"title of {name.replace('-', '_')}" if name != "?" else ""
        total = each * n if isinstance(each, int) else ""
        return Line("cable", name, title, code, where, length, n, "", each, total, "", "", "", "", note)

    assert bom._cable_bill_lines(figures) == [
        of("MY-F", "F-3", "rail", 3, 2, "soon", 4),
        of("MY-F", "F-3", "up", 3, 1, "confirm: this length is not in a published list; soon", 4),
        of("MY-F", "", "", "", 1, "the length is unknown; soon", 4),
        of("MY-F", "", "rail", "", 1, "longer than what is sold; soon", 4),
        of("BARE", "", "rail", "", 1, "no length is stated for this part"),
        of("BARE", "", "rail", 2.5, 1, ""),
        of("?", "", "up", "", 1, "no part fits"),
        of("?", "", "up", 0, 1, "no part fits"),
    ]


def test_cables_of_a_bill_without_places(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = fibre("W", codes=("W-3",), lengths=metres(3), price=Quantity(Fraction(4), MONEY))
    fabric = cabled(leg=[0, 1, 2, 0, 0, 0], statement=[1, 1, 1, 0, 0, 2], **{"class": [0, 0, 0, 1, 1, -1]})
    fabric.statements = [SimpleNamespace(settings=s) for s in ({"cable": "X 1"}, {"cable": "W", "part": wire}, {"part": "no"})]
    monkeypatch.setattr(bom, "stated_lengths", lambda f: np.array([3 * UM, 3 * UM, 1, 0, -1, -1]))
    none = "no length: no places"
    assert bom._cable_bill_lines(SimpleNamespace(fabric=fabric, physical=None)) == [  # type: ignore[arg-type]
        Line("cable", "X 1", "", "", "up", "", 1, "", "", "", "", "", "", "", none),
        Line("cable", "X 1", "", "", "up", 0, 1, "", "", "", "", "", "", "", ""),
        Line("cable", "W", "", "W-3", "rail", 3, 2, "", 4, 8, "", "", "", "", ""),
        Line("cable", "?", "", "", "", "", 1, "", "", "", "", "", "", "", none),
    ]


def test_the_order_of_a_bill(monkeypatch: pytest.MonkeyPatch) -> None:
    """By kind, model, place and length, those without a length first; a label for each plug: two a cable, one a leg more."""
    lines = [line("cord", "x", 1), line("cable", "b", 2, length_m=2), line("cable", "b", 3), line("cable", "b", 4, length_m=0),
             line("cable", "a", 5, place="q", length_m=9), line("cable", "a", 6, place="r"), line("rack", "z", 7)]  # fmt: skip
    monkeypatch.setattr(bom, "Figures", lambda f: None)
    for name, found in (("_racks", lines[:2]), ("_devices", lines[2:3]), ("_optics", lines[3:4]), ("_cables", lines[4:6])):
        monkeypatch.setattr(bom, name, lambda f, found=found: found)
    monkeypatch.setattr(bom, "_cord_bill_lines", lambda f: lines[6:])
    fabric: Any = SimpleNamespace(
        cable_a=np.zeros(6), cable_leg=np.array([0, 1, 2, 3, 0, 1]), parts=[], models=[], supply=Supply()
    )
    found = bill_of_materials(fabric)
    assert [(x.kind, x.quantity) for x in found] == [
        ("rack", 7), ("cable", 5), ("cable", 6), ("cable", 3), ("cable", 4), ("cable", 2), ("cord", 1), ("label", 10),
    ]  # fmt: skip
    text = "one for each plug of each cable"
    assert found[-1] == Line("label", "cable label", text, "", "", "", 10, "", "", "", "", "", "", "", "")
    fabric.cable_a = fabric.cable_leg = np.zeros(0)
    assert [x.kind for x in bill_of_materials(fabric)][-1] == "cord"


def test_power_cords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rack after rack, from the bottom; supplies take the feeds in turn."""
    models = [part("host", "H", cords=(3, "C14")), part("switch", "S", cords=1), part("host", "NONE")]
    assert [cords_of(m) for m in models] == [(3, "C14"), (1, ""), (0, "")]
    p = places([kind(feeds=2), kind(), kind(feeds=27), kind(feeds=26)], [1, 0, 0, 0, -1, 2, 3, 0], [0, 7, 3, 9, 1, 1, 1, 1])
    fabric: Any = SimpleNamespace(
        places=p, models=models, device_model=np.array([1, 0, 1, 2, 0, 1, 1, 0]), built=np.array([1] * 7 + [0], dtype=np.bool_),
        container=np.array([-1] * 8),
    )  # fmt: skip
    monkeypatch.setattr(cords, "DeviceColumns", lambda f: SimpleNamespace(name=[f"d{k}" for k in range(8)]))
    found = cords.power_cords(fabric)
    assert found == [
        Cord("d2:psu1", "d2", "S", "h", "A00", 3, 1, "A", "", "FROM d2 PSU1 TO A00 feed A"),
        *(Cord(f"d1:psu{k}", "d1", "H", "h", "A00", 7, k, x, "C14", f"FROM d1 PSU{k} TO A00 feed {x}")
          for k, x in ((1, "A"), (2, "B"), (3, "A"))),
        Cord("d0:psu1", "d0", "S", "h", "A01", "", 1, "", "", "FROM d0 PSU1 TO A01"),
        Cord("d5:psu1", "d5", "S", "h", "A02", 1, 1, "", "", "FROM d5 PSU1 TO A02"),
        Cord("d6:psu1", "d6", "S", "h", "A03", 1, 1, "A", "", "FROM d6 PSU1 TO A03 feed A"),
    ]  # fmt: skip
    note = "choose the length to the feed"
    state = f"state the plug (`cords N, PLUG`), and {note}"
    monkeypatch.setattr(bom, "power_cords", lambda f: found)
    assert bom._cord_bill_lines(fabric) == [
        Line("cord", "power cord C14", "one for each power supply", "", "H", "", 3, "", "", "", "", "", "", "", note),
        Line("cord", "power cord", "one for each power supply", "", "S", "", 4, "", "", "", "", "", "", "", state),
    ]
    fabric.container[1] = 0
    assert [c.device for c in cords.power_cords(fabric)] == ["d2", "d0", "d5", "d6"]
    fabric.models = models[2:]
    assert not cords.has_cords(fabric) and cords.power_cords(fabric) == []
    fabric.models, fabric.places = models, None
    assert not cords.has_cords(fabric) and cords.power_cords(fabric) == []


# ------------------------------------------------------------------ sums
class Counted:
    """Counts of devices and cable legs by bucket."""

    def __init__(self, figures: Any) -> None:
        self.figures = figures

    def sums(self, device: Any, leg: Any) -> dict[int, _Sum]:
        """One device or leg each, with a price by its number."""
        out: dict[int, _Sum] = {}
        for k, b in enumerate(device.tolist()):
            out.setdefault(b, _Sum()).add(_Sum(1, 0, 0, PartialSum(Fraction(2 * k + 1, 2), 0), PartialSum(Fraction(0), 1)))
        for k, b in enumerate(leg.tolist()):
            out.setdefault(b, _Sum()).add(_Sum(0, 0, 1, PartialSum(Fraction(0), 1), PartialSum(Fraction(10**k), 0)))
        return out


def test_sums_of_halls_and_racks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cable in one rack is of the rack, one in one hall of the hall, any other of neither; a hall has all of its racks."""
    monkeypatch.setattr(totals, "Tally", Counted)
    monkeypatch.setattr(totals, "Figures", lambda f: SimpleNamespace(top=f.top))
    seen = Counter[str]()
    for seed in range(160):
        random = Random(seed)
        count, legs, racks, halls = (
            random.choice((0, 2, 5, 6)),
            random.randint(0, 9),
            random.choice((0, 2, 3, 4)),
            random.choice((1, 1, 2, 3)),
        )
        hall = [random.randrange(halls) for _ in range(racks)]
        top = [random.choice((d, d, random.randrange(d + 1))) for d in range(count)]
        rack = [random.randrange(-1, racks) for _ in range(count)]
        ends = [(random.randrange(count), random.randrange(count)) for _ in range(legs if count else 0)]
        p = SimpleNamespace(
            device_rack=np.array(rack, dtype=int), rack_hall=np.array(hall, dtype=int), rack_count=racks,
            halls=[SimpleNamespace(name=f"h{h}") for h in range(halls)], hall_name=lambda r, hall=hall: f"h{hall[r]}",
            rack_name=lambda r: f"r{r}",
        )  # fmt: skip
        some = random.random() < 0.9
        fabric: Any = SimpleNamespace(
            places=p if some else None, device_count=count, port_device=np.arange(count), name="f", top=np.array(top, dtype=int),
            cable_a=np.array([a for a, _ in ends], dtype=int), cable_b=np.array([b for _, b in ends], dtype=int),
        )  # fmt: skip
        at = [rack[t] if some else -1 for t in top]
        sums: dict[tuple[Any, ...], _Sum] = {}

        def add(key: tuple[Any, ...], s: _Sum, sums: dict[tuple[Any, ...], _Sum] = sums) -> None:
            sums.setdefault(key, _Sum()).add(s)

        away = ("elsewhere", "", "between halls or without a place")
        sums["all", "", "f"] = _Sum()
        for d in range(count):
            one = _Sum(1, 0, 0, PartialSum(Fraction(2 * d + 1, 2), 0), PartialSum(Fraction(0), 1))
            add(("all", "", "f"), one)
            if at[d] >= 0:
                h = f"h{hall[at[d]]}"
                add(("hall", h, h), one)
                add(("rack", h, f"r{at[d]}"), one)
            else:
                add(away, one)
        for k, (a, b) in enumerate(ends):
            one = _Sum(0, 0, 1, PartialSum(Fraction(0), 1), PartialSum(Fraction(10**k), 0))
            add(("all", "", "f"), one)
            known = at[a] >= 0 and at[b] >= 0
            if known and hall[at[a]] == hall[at[b]]:
                h = f"h{hall[at[a]]}"
                add(("hall", h, h), one)
                add(("rack", h, f"r{at[a]}") if at[a] == at[b] else ("between racks", h, h), one)
            else:
                add(away, one)
        by = ("all", "hall", "between racks", "rack", "elsewhere")
        order = sorted(sums, key=lambda x: (by.index(x[0]), 0 if x[0] != "rack" else int(x[2][1:]), x[1]))
        wanted = []
        for key in order:
            s = sums[key]
            watts = int(s.watts.known) if s.watts.known.denominator == 1 else float(s.watts.known)
            wanted.append(Total(*key, s.devices, 0, s.cables, watts, s.watts.missing, int(s.price.known), s.price.missing))
            seen[key[0]] += 1
        found = totals.totals_by_place(fabric)
        assert found == wanted, seed
        assert [type(x.watts) for x in found] == [type(x.watts) for x in wanted]
    assert len(seen) == 5 and min(seen.values()) >= 10


# ------------------------------------------------------------------ tables
def test_watts_of_racks() -> None:
    """The figure of every rack by the devices, transceivers and open ends in it; of equal racks once."""
    calls: list[list[int]] = []

    def power(mask: Any, typical: bool) -> PartialSum:
        calls.append(np.flatnonzero(mask).tolist())
        return PartialSum(Fraction(len(calls)), int(typical))

    found = Optics(np.array([0, 0, 2, 2, 4, 6, 6]), np.array([0, 1, 1, 0, 1, 0, 0]), [optic("A"), optic("B")], np.array([8, 9]))
    fabric = SimpleNamespace(device_count=10, device_model=np.array([1, 2, 1, 2, 1, 2, 1, 2, 1, 1]))
    plugs = Plugs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), [])
    figures: Any = SimpleNamespace(fabric=fabric, optics=found, plugs=plugs, power=power)
    racks: Any = SimpleNamespace(by_rack={7: [0, 1], 3: [2, 3], 4: [4, 5], 5: [6, 7], 9: [8], 2: [9], 1: [1], 0: [3]})
    one, two, three, four, five = (PartialSum(Fraction(k), 1) for k in range(1, 6))
    assert rack_rows.rack_sums(figures, racks, True) == {7: one, 3: one, 4: two, 5: three, 9: four, 2: four, 1: five, 0: five}
    assert calls == [[0, 1], [4, 5], [6, 7], [8], [1]]
    assert rack_rows.rack_sums(figures, racks)[7].missing == 0
    found.open_ends[:] = 8  # two ends of one device, none of the other
    assert rack_rows.rack_sums(figures, racks)[9] != rack_rows.rack_sums(figures, racks)[2]
    assert [rack_rows._decimal_cell(x) for x in (None, Fraction(0), Fraction(5, 2), Fraction(1, 3))] == [
        "",
        "0",
        "2.5",
        "0.3333333333",
    ]
    assert [rack_rows._partial_sum_cell(PartialSum(Fraction(3), n)) for n in (0, 2)] == ["3", ">=3"]


# ------------------------------------------------------------------ the arithmetic of a length
@pytest.mark.parametrize(
    ("why", "stated", "choice", "sold", "sure", "last"),
    [
        (
            "", -1, PartChoice(None, None, None, "none fits"), -1, 0,
            ("no part is chosen: none fits; the run to the next decimetre", 1.3),
        ),
        ("", 0, PartChoice(None, None, None, "none fits"), 0, 1, ("no part is chosen: none fits; stated by its connect", 0.0)),
        ("", -1, PartChoice(copper("W_1"), None, None), -1, 0, ("W-1 is not sold in a length that covers it", None)),
        ("", -1, PartChoice(copper("W_1"), None, None), 0, 1, ("W-1, next length sold", 0.0)),
        ("", 0, PartChoice(copper("W_1"), None, None), 2 * UM, 1, ("W-1, stated by its connect", 2.0)),
        (
            "", -1, PartChoice(fibre("F"), optic("O_1"), optic("P")), 5 * UM, 0,
            ("F between O-1 and P, next length sold; confirm this length with the vendor", 5.0),
        ),
        ("", -1, PartChoice(fibre("F"), None, optic("P")), 5 * UM, 1, ("F between P, next length sold", 5.0)),
        ("no tray", -1, PartChoice(fibre("F"), None, None), -1, 0, None),
        ("no tray", 0, PartChoice(fibre("F"), None, None), 3 * UM, 1, ("F, stated by its connect", 3.0)),
    ],
)  # fmt: skip
def test_lines_of_arithmetic(
    why: str, stated: int, choice: PartChoice, sold: int, sure: int, last: tuple[str, float | None] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(explain, "stated_lengths", lambda f: np.array([-1, stated]))
    lengths = SimpleNamespace(
        fabric=None,
        unknown=lambda leg: why,
        run=np.array([0, 1_200_001]),
        steps=lambda leg: [RunStretch("up", 1_000_000), RunStretch("down", 200_001)],
    )
    parts = SimpleNamespace(choice=lambda leg: choice, sold=(np.array([9, sold]), np.array([9, sure])))
    found = list(explain.explain_cable_length(SimpleNamespace(lengths=lengths, parts=parts), 1))  # type: ignore[arg-type]
    steps = [("up", 1.0), ("down", 0.200001), ("in all", 1.200001)]
    assert found == [*([(f"the length is unknown: {why}", None)] if why else steps), *([last] if last else [])]


# ------------------------------------------------------------------ what a lock records
FILE = SourceFile("f.lock", "0123456789" * 3)


def span(at: int) -> SourceSpan:
    """A place in the lock."""
    return SourceSpan(FILE, at, at + 1)


def test_digests_of_files(tmp_path: Path) -> None:
    inside = SourceFile(str(tmp_path / "lib" / "a.fab"), "text é")
    files = [SourceFile("stdlib:x.fab", "x"), SourceFile("-", "y"), inside, SourceFile(str(tmp_path / "b.fab"), "")]
    found = standing.file_digests(files, tmp_path / "design")
    assert list(found) == ["stdlib:x.fab", "-", "../lib/a.fab", "../b.fab"]
    assert list(found.values()) == [sha256(f.text.encode()).hexdigest() for f in files]


def test_figures_of_a_fabric(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of which nothing is known, and lengths where there are none, are left out."""
    sums = {"power": PartialSum(Fraction(5), 3), "cost": PartialSum(Fraction(0), 2)}
    asked: list[Any] = []
    made = SimpleNamespace(
        power=lambda built: asked.append(built.tolist()) or sums["power"],
        cost=lambda built, legs: asked.append((built.tolist(), legs.tolist())) or sums["cost"],
    )
    monkeypatch.setattr(standing, "Figures", lambda f: made)
    fabric: Any = SimpleNamespace(
        built=np.array([True, True, False]), is_switch=np.array([True, False, True]), link_count=7, cable_a=np.zeros(2),
        cable_group=np.array([3, 1, 3]), link_run=np.array([-1, 1_500_000, 0, 250_000]),
    )  # fmt: skip
    counts = {"switches": Fraction(1), "links": Fraction(7), "cables": Fraction(2)}
    assert standing.lock_figures(fabric) == {**counts, "power": Fraction(5), "cable_length": Fraction(7, 4)}
    assert asked == [[True, True, False], ([True, True, False], [True, True])]
    sums["cost"], sums["power"] = PartialSum(Fraction(1, 2), 0), PartialSum(Fraction(0), 0)
    for run in ([], [-1, 0]):
        fabric.link_run = np.array(run, dtype=int)
        assert standing.lock_figures(fabric) == {**counts, "cost": Fraction(1, 2)}
    fabric.link_run = np.array([1])
    assert standing.lock_figures(fabric)["cable_length"] == Fraction(1, UM)
    assert standing.figure_text("links", Fraction(12345)) == "12,345" and standing.figure_text("power", Fraction(1500)) == "1.5kW"


def fabric(name: str) -> Any:
    """A fabric of which only its name matters."""
    return SimpleNamespace(name=name, origin=SimpleNamespace(span=SourceSpan(SourceFile("d.fab", "fabric"), 0, 6)))


def changed(
    used: dict[str, str], now: dict[str, str], stood: dict[str, dict[str, int]], have: dict[str, dict[str, int]],
    monkeypatch: pytest.MonkeyPatch, locked: bool = False,
) -> Any:  # fmt: skip
    """The finding about a lock: files by digest, figures by fabric."""
    monkeypatch.setattr(standing, "lock_figures", lambda f: {k: Fraction(v) for k, v in have[f.name].items()})
    before = [UsedFile(n, d, span(k)) for k, (n, d) in enumerate(used.items())]
    recorded = {f: [LockedFigure(n, Fraction(v), span(0)) for n, v in of.items()] for f, of in stood.items()}
    return standing.library_change_finding("d.fab", before, recorded, now, [fabric(f) for f in have], locked)


def test_files_that_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    used = {"a": "1", "d.fab": "2", "b": "3", "c": "4"}
    assert changed(used, dict(used), {}, {"f": {}}, monkeypatch) is None
    assert changed(used, {**used, "d.fab": "9", "new": "1"}, {}, {"f": {}}, monkeypatch) is None
    stood, have = (
        {"f": {"links": 3, "power": 5, "gone": 1}, "g": {"links": 1}},
        {"f": {"links": 4, "power": 5}, "h": {"links": 2}},
    )
    now = {"a": "1", "d.fab": "2", "b": "9", "new": "7"}
    found = changed(used, now, stood, have, monkeypatch, locked=True)
    assert found.notes == ("b has changed", "c is not used any more", "f: links 3 before, 4 now", "new is used now, and was not")
    text = "2 of 3 library files that this design uses have changed since the lock was written"
    assert (found.code, found.message, found.span, found.severity) == ("E0494", text, span(2), Severity.ERROR)
    assert found.help == "compare the designs with `tdsl diff`; if what differs is meant, write the lock anew with `tdsl lock`"
    assert [(x.span.text, x.message) for x in found.labels] == [("fabric", "in this design")]
    assert changed(used, now, stood, have, monkeypatch).severity == Severity.NOTE
    own = {**now, "d.fab": "8"}
    assert changed(used, own, stood, have, monkeypatch).notes[-1] == "the design itself has changed as well"
    for files in (now, own):
        found = changed(used, files, {"f": {"links": 4}}, have, monkeypatch, locked=True)
        assert (found.notes[-1], found.severity) == ("no figure differs", Severity.NOTE)
    without = {n: d for n, d in used.items() if n != "d.fab"}
    found = changed(without, now, stood, have, monkeypatch)
    assert found.notes[-2:] == ("d.fab is used now, and was not", "new is used now, and was not")
    assert "2 of 3 library files" in found.message
    assert changed(used, {**now, "a": "8"}, stood, {}, monkeypatch).labels == ()


@pytest.mark.parametrize("moved", [6, 7, 8, 12])
def test_how_many_changes_are_listed(moved: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight of them, or nine where one more is all."""
    names = [f"n{k}" for k in range(moved)]
    found = changed({"a": "1"}, {"a": "2"}, {"f": dict.fromkeys(names, 1)}, {"f": dict.fromkeys(names, 2)}, monkeypatch)
    every = ["a has changed", *(f"f: {n} 1 before, 2 now" for n in names)]
    assert list(found.notes) == (every if moved <= 8 else [*every[:8], f"and {moved - 7} more"])
