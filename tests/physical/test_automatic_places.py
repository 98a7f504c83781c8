"""Automatic places: the sizes of devices with their transceivers, what is kept, written and said, of made-up floors."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.physical import auto
from tdsl.physical.auto import OPEN, Content, _Floor, _Unplaceable, place_devices_automatically
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import MASS, POWER, UNITS, Quantity
from tests.physical.test_choice_of_parts import ORIGIN, optic, part, ports


def quantity(value: str, dim: tuple[int, ...]) -> Quantity:
    """An amount, exactly."""
    return Quantity(Fraction(value), dim)


def model(name: str, *classes: Any, **facts: object) -> DeviceModel:
    """A model with ports."""
    made = part("switch", name, **facts)
    return DeviceModel(name, "switch", "", classes, (), (), (), made.facts, ORIGIN)


W = {n: quantity(n, POWER) for n in ("1.0005", "9", "12", "20", "15.5", "99")}
FLAT, FINNED = ports("flat"), ports("finned", heatsink="finned", cage=2)
MODELS = [
    model("A", FLAT, FINNED, height=quantity("2", UNITS), power=W["1.0005"], mass=quantity("0.0001", MASS)),
    model("B", FLAT, height=quantity("1.5", UNITS), power_max=W["99"]),
    model("C", FINNED),
]
OPTICS = [
    optic("O", power=W["9"], power_max=W["12"]), optic("P", power=W["9"]), optic("DARK"),
    optic("Q", form=("OSFP", "finned"), ports=2, power=W["15.5"]), optic("ONE", form=("OSFP", "finned"), power=W["20"]),
]  # fmt: skip


def floor() -> Any:
    """Three devices of A, B and C, and one of C inside A; 20 ports in all."""
    made: Any = object.__new__(_Floor)
    device = np.repeat(np.arange(4), [8, 4, 4, 4])
    made.fabric = SimpleNamespace(
        models=MODELS, device_model=np.array([0, 1, 2, 2]), device_count=4, port_device=device, parts=OPTICS,
        cable_a=np.array([0, 4, 5, 8, 12]), cable_b=np.array([9, 1, 6, 13, 16]),
    )  # fmt: skip
    made.__dict__["lengths"] = SimpleNamespace(top=np.array([0, 1, 2, 0]))
    return made


def test_sizes_with_transceivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units rounded up, milliwatts and grams; each cage that a cable is in counts the hungriest transceiver that it takes, but
    where the maximum of the device has them."""
    asked: list[Any] = []
    row_of = np.r_[np.arange(12), np.arange(12, 16), np.arange(12, 16)]  # ports of models: A 0-7, B 8-11, C 12-15

    def parts(*given: Any) -> Any:
        asked.append(given)
        return SimpleNamespace(
            optics=OPTICS,
            cage_of=lambda p: np.where((p >= 4) & (p < 8), p // 2 * 2, p),
            ports=SimpleNamespace(rows=lambda p: row_of[p]),
        )

    monkeypatch.setattr(auto, "ChosenParts", parts)
    made = floor()
    own = [2 * 12_000 + 2 * 15_500 + 15_500, 0, 2 * 15_500, 0]  # A: ports 0 and 1, cages 4 and 6, port 16 of the device inside
    assert made._optics().tolist() == own
    assert asked == [(made.fabric, made.lengths, OPTICS)]
    assert made.size.tolist() == [[2, 1001 + own[0], 1], [2, 99_000, 0], [0, own[2], 0], [0, 0, 0]]
    made = floor()
    made.fabric.cable_a = made.fabric.cable_b = np.zeros(0, dtype=int)
    assert made._optics().tolist() == [0] * 4 and made.size[:, 1].tolist() == [1001, 99_000, 0, 0]


def test_devices_without_a_place() -> None:
    """Those that are built, not inside another, and have none; hosts and chips are hosts."""
    fabric: Any = SimpleNamespace(
        built=np.array([1, 1, 0, 1, 1], dtype=np.bool_), container=np.array([-1, 0, -1, -1, -1]),
        kind=np.array(["host", "host", "switch", "chip", "switch"]),
    )  # fmt: skip
    places: Any = SimpleNamespace(device_rack=np.array([-1, -1, -1, 0, -1]))
    made = _Floor(fabric, places, SimpleNamespace())  # type: ignore[arg-type]
    assert made.devices.tolist() == [0, 4] and made.host.tolist() == [True, True, False, True, False]


def test_racks_that_offer_enough() -> None:
    made: Any = object.__new__(_Floor)
    kinds = [
        SimpleNamespace(height=h, watts=w, mass=m) for h, w, m in ((9, 5, 7), (8, 5, 7), (9, 4, 7), (9, 5, 6), (None, None, None))
    ]
    made.places = SimpleNamespace(rack_kind=kinds)
    limits = (9, 5000, 7000)
    assert [made._offers(r, limits) for r in range(5)] == [True, False, False, False, False]
    assert made._offers(4, (0, OPEN, OPEN)) and made.limits(kinds[0]) == limits
    made.asked = SimpleNamespace(halls=[SimpleNamespace(name="a"), SimpleNamespace(name="b")])
    assert made._halls() == "hall a and hall b"


def record(**values: Any) -> Any:
    """Values by name."""
    return SimpleNamespace(**values)


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """A fabric of four devices with places for one, and what is asked."""
    monkeypatch.setattr(auto, "replace", lambda x, **more: record(**{**vars(x), **more}))
    p = record(
        device_rack=np.array([5, -1, -1, -1]), device_unit=np.array([3, 0, 0, 0]), device_place=np.array([0, -1, -1, -1]),
        origins=("first",), automatic=-1,
    )  # fmt: skip
    return record(places=p), record(origin=ORIGIN)


def test_places_are_written(start: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices of the lock where they were, the others where the contents are put; the fabric itself stays as it is."""
    fabric, asked = start
    seen: list[Any] = []

    class Floor:
        def __init__(self, f: Any, p: Any, a: Any) -> None:
            assert f.places is p and a is asked
            seen.append((p.device_rack.tolist(), p.device_unit.tolist(), p.device_place.tolist(), p.origins, p.automatic))
            self.devices = [2, 3]

        def contents(self) -> tuple[list[str], list[int]]:
            return ["c", "d"], [7, 8]

        def arrangement(self, contents: Any, racks: Any) -> Any:
            return contents, racks

        def put(self, contents: Any, racks: Any, rack: Any, unit: Any, by: Any, number: int) -> None:
            seen.append((contents, racks, number))
            rack[2:], unit[2:], by[2:] = 8, 9, number

        def say(self, made: Any, racks: int, found: Any) -> None:
            seen.append((made.places.device_rack.tolist(), racks))

    monkeypatch.setattr(auto, "_Floor", Floor)
    monkeypatch.setattr(auto, "arrange_racks", lambda x: ("arranged", x))
    made = place_devices_automatically(fabric, asked, {1: (6, 4)}, Diagnostics())
    assert seen == [
        ([5, 6, -1, -1], [3, 4, 0, 0], [0, 1, -1, -1], ("first", ORIGIN), 1),
        (["c", "d"], ("arranged", (["c", "d"], [7, 8])), 1), ([5, 6, 8, 8], 2),
    ]  # fmt: skip
    assert made.places.device_rack.tolist() == [5, 6, 8, 8] and made.places.device_unit.tolist() == [3, 4, 9, 9]
    assert made.places.device_place.tolist() == [0, 1, 1, 1] and made.places.automatic == 1
    assert fabric.places.device_rack.tolist() == [5, -1, -1, -1] and fabric.places.device_unit.tolist() == [3, 0, 0, 0]


def test_nothing_to_place_and_no_rack(start: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    fabric, asked = start

    class Floor:
        def __init__(self, *given: Any) -> None:
            self.devices: list[int] = []

        def contents(self) -> Any:
            raise _Unplaceable("no rack at all")

    monkeypatch.setattr(auto, "_Floor", Floor)
    found = Diagnostics()
    assert (
        place_devices_automatically(fabric, asked, {1: (6, 4)}, found).places.device_rack.tolist() == [5, 6, -1, -1]
        and not found.items
    )
    monkeypatch.setattr(Floor, "devices", [1], raising=False)
    monkeypatch.setattr(Floor, "__init__", lambda self, *given: None)
    assert place_devices_automatically(fabric, asked, {}, found) is fabric
    (d,) = found.items
    assert (d.code, d.message, d.help, d.severity, d.span) == (
        "E0209", "no rack at all", "add racks, or ones that hold and carry more, to the halls named", Severity.ERROR, ORIGIN.span,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("run", "note"),
    [
        ([1_500_000_000, 499_600_000], "2 cables of 2.000 km in all; no placement in these racks needs less than 1,234.568 km"),
        ([5, -1, -1, 3], "2 of 4 cables have no length: no tray 1"),
        ([], "0 cables of 0.000 km in all; no placement in these racks needs less than 1,234.568 km"),
    ],
)
def test_what_is_said(run: list[int], note: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = object.__new__(_Floor)
    made.asked, made.devices, made.host = record(origin=ORIGIN), np.arange(1200), "host"
    made.__dict__.update(free=list(range(5000)), lengths="before", pairs="pairs", size="size")
    after = record(run=np.array(run, dtype=np.int64), unknown=lambda leg: f"no tray {leg}")
    monkeypatch.setattr(auto, "CableRuns", lambda f, p: after)

    def bound(*given: Any) -> int:
        assert given == ("before", "pairs", "size", "host", made.asked, made.free, after)
        return 1_234_567_900_000

    monkeypatch.setattr(auto, "length_bound", bound)
    found = Diagnostics()
    made.say(record(places=1), 1100, found)
    (d,) = found.items
    assert (d.code, d.severity, d.notes, d.span) == ("E0210", Severity.NOTE, (note,), ORIGIN.span)
    assert d.message == "`place auto` puts 1,200 devices into 1,100 of 5,000 free racks"


def test_contents_are_by_hosts_and_network() -> None:
    assert Content((1,), (2,)) == Content(hosts=(1,), network=(2,))
