"""What every cable leg gets: legs of one group, lengths to order, transceivers by cage; and sums over them, by plain counting."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.physical import part_choice as room
from tdsl.physical.columns import _optic_name_column, _part_fact_column, chosen_columns, ordered_metres
from tdsl.physical.part_choice import ChosenParts, PartChoice, _Group
from tdsl.physical.power_and_cost import Figures, Optics, price_of_part
from tdsl.physical.racks import PartialSum
from tdsl.physical.totals import NONE, Tally, _count_keys_in_buckets, _Sum, _sum_of_pieces
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import MONEY, POWER, Quantity
from tests.physical.test_choice_of_parts import copper, fibre, metres, optic, part, ports

UM = 1_000_000


def empty() -> Any:
    """Parts with nothing computed."""
    return object.__new__(ChosenParts)


def test_rates_of_legs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The links of a leg add up; a leg without any has none."""
    made = empty()
    made.fabric = SimpleNamespace(cable_a=np.zeros(4), link_rate=np.array([1, 20, 300, 4000]))
    monkeypatch.setattr(
        room, "CableIndex", lambda f: SimpleNamespace(crossings=(np.array([0, 1, 1, 3, 2]), np.array([2, 2, 0, 0, 3])))
    )
    assert made.leg_rate.tolist() == [4020, 0, 21, 300]


def test_numbers_of_classes() -> None:
    made = empty()
    a, b, c = (SimpleNamespace(size=n, per_cage=k) for n, k in ((2, 0), (1, 2), (3, 1)))
    made.fabric = SimpleNamespace(
        models=[SimpleNamespace(classes=[a, b]), SimpleNamespace(classes=[]), SimpleNamespace(classes=[c])]
    )
    assert made._class.tolist() == [0, 0, 1, 2, 2, 2] and made._classes == [a, b, c]
    made.ports = SimpleNamespace(rows=lambda ports: ports - 10, cage_of=lambda ports: ports * 2)
    assert made.caged(np.array([10, 12, 13])).tolist() == [False, True, False]
    assert made.cage_of(np.array([3])).tolist() == [6]


def test_groups_of_legs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Legs of one statement, pair of classes, rate, and side of a break-out; the groups in the order of their first legs."""
    several = 0
    for seed in range(60):
        random = Random(seed)
        count = random.randint(1, 9)
        classes = [ports(f"c{k}") for k in range(3)]

        def some(*values: int, count: int = count, random: Random = random) -> list[int]:
            return [random.choice(values) for _ in range(count)]

        kinds = [(0, 1, 0, 6, 0, 0)]
        for _ in range(random.randint(0, 6)):  # each differs from another in one place
            k, other = random.randrange(6), list(random.choice(kinds))
            other[k] = ((-1, 1, 0), (0, 2, 1), (0, 2), (5, 6), (0, 1), (0, 1))[k][random.randrange(2)]
            kinds.append(tuple(other))
        rows = [random.choice(kinds) for _ in range(count)]
        statement, a, b, rate, split, at_b = (list(x) for x in zip(*rows, strict=True))
        leg = [random.choice((1, 2, 4)) if s else 0 for s in split]
        run, said = some(-1, 0, 7, 9, 9), some(-1, -1, 0, 8)
        made = empty()
        made.fabric = SimpleNamespace(
            cable_statement=np.array(statement), cable_a=np.array(a), cable_b=np.array(b), cable_leg=np.array(leg)
        )
        made.ports = SimpleNamespace(rows=lambda x: x + 1)
        made.lengths = SimpleNamespace(run=np.array(run))
        made.__dict__.update(
            _class=np.array([99, 0, 1, 2]), _classes=classes, leg_rate=np.array(rate), head_at_b=np.array(at_b, dtype=np.bool_)
        )
        monkeypatch.setattr(room, "stated_lengths", lambda f, said=said: np.array(said))
        monkeypatch.setattr(ChosenParts, "_choose", lambda self, s, g: (s, g))
        wanted: dict[Any, list[int]] = {}
        for k in range(count):
            wanted.setdefault((statement[k], a[k], b[k], rate[k], min(leg[k], 1), at_b[k]), []).append(k)
        number, choices = made.group
        assert number.tolist() == [next(n for n, of in enumerate(wanted.values()) if k in of) for k in range(count)]
        for (s, x, y, speed, broken, head), of, choice in zip(wanted, wanted.values(), choices, strict=True):
            far = [said[k] if said[k] >= 0 else run[k] for k in of]
            longest = -1 if min(far) < 0 else max(far)
            legs = max(leg[k] for k in of) if broken else 0
            assert choice == (s, _Group(classes[x], classes[y], speed, legs, bool(head), longest))
            assert type(choice[1].head_at_b) is bool
        assert len(choices) == len(wanted)
        assert made.choice(count - 1) == choices[number[-1]]
        several += len(wanted) < count
    assert several > 30


def some_choices(random: Random) -> list[PartChoice]:
    """Cables with lists of lengths or none."""
    lists = [(), metres(2), (metres(5), metres(2)), (metres(1), metres(9))]
    out = []
    for k in range(4):
        known, open_ = random.choice(lists), random.choice(lists)
        cable = part("cable", f"C{k}", **{n: v for n, v in (("lengths", known), ("unconfirmed", open_)) if v})
        out.append(PartChoice(cable if k else None, None, None))
    return out


def test_lengths_to_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The shortest length sold that covers the longest run of a cable, one with a source before one without; what a connect
    states goes before all, and has a source where the list has it or there is no list."""
    kinds = set()
    for seed in range(120):
        random = Random(seed)
        choices, count = some_choices(random), random.randint(1, 10)
        number = [random.randrange(4) for _ in range(count)]
        cable = [random.randrange(6) for _ in range(count)]
        run = [random.choice((-1, 0, 1, 2, 3, 5, 6, 9, 10)) * UM for _ in range(count)]
        run = [max(r, -1) for r in run]
        said = [random.choice((-1, -1, -1, 0, 2 * UM, 4 * UM)) for _ in range(count)]
        made = empty()
        made.fabric = SimpleNamespace(cable_group=np.array(cable))
        made.lengths = SimpleNamespace(run=np.array(run))
        made.__dict__["group"] = (np.array(number), choices)
        monkeypatch.setattr(room, "stated_lengths", lambda f, said=said: np.array(said))
        length, sure = made.sold
        wanted = []
        for k in range(count):
            of = [run[j] for j in range(count) if cable[j] == cable[k]]
            far = -1 if min(of) < 0 else max(of)
            chosen = choices[number[k]].cable
            lists: list[list[int]] = [[], []]
            for fact, into in zip(("lengths", "unconfirmed"), lists, strict=True):
                value: Any = chosen.facts.get(fact, ()) if chosen else ()
                into += [int(v.amount * UM) for v in (value if isinstance(value, tuple) else (value,))]
            if said[k] >= 0:
                wanted.append((said[k], int(said[k] in lists[0] or not (lists[0] or lists[1]))))
            else:
                fit = [
                    (min(x for x in of if x >= far), m) for of, m in zip(lists, (1, 0), strict=True) if any(x >= far for x in of)
                ]
                wanted.append(fit[0] if fit and far >= 0 else (-1, 0))
            kinds.add((said[k] >= 0, wanted[-1][1], wanted[-1][0] > 0))
        assert list(zip(length.tolist(), sure.tolist(), strict=True)) == wanted, seed
    assert len(kinds) >= 7


def test_transceivers_by_cage() -> None:
    """One for each cage that an end with a transceiver is in, and how many such ends."""
    for seed in range(60):
        random = Random(seed)
        made, count = empty(), random.randint(0, 8)
        made.optics = [optic(n) for n in "XYZ"]
        x, y, z = made.optics
        choices = [
            PartChoice(None, x, y),
            PartChoice(None, None, z),
            PartChoice(None, y, None),
            PartChoice(None, None, optic("own")),
        ]
        number = [random.randrange(4) for _ in range(count)]
        a, b = ([random.randrange(12) for _ in range(count)] for _ in "ab")
        made.fabric = SimpleNamespace(
            cable_a=np.array(a, dtype=np.int64), cable_b=np.array(b, dtype=np.int64), port_device=np.arange(12) // 4
        )
        made.ports = SimpleNamespace(cage_of=lambda p: p // 2 * 2)
        made.__dict__["group"] = (np.array(number, dtype=np.int64), choices)
        wanted: Counter[tuple[int, int, int]] = Counter()
        for k in range(count):
            for port, o in ((a[k], choices[number[k]].optic_a), (b[k], choices[number[k]].optic_b)):
                if any(o is m for m in made.optics):
                    wanted[port // 4, port // 2 * 2, made.optics.index(o)] += 1
        found = [column.tolist() for column in made.cages]
        assert list(zip(*found, strict=True)) == [(*key, n) for key, n in sorted(wanted.items())]


def test_metres_to_order() -> None:
    """Lengths sold, else runs rounded up to a decimetre where the part has no list."""
    listed, open_, plain = fibre(), fibre(lengths=None, unconfirmed=metres(1)), fibre(lengths=None)
    cable = [listed, listed, open_, plain, plain, None, None, plain, plain, listed]
    sold = [3 * UM, -1, -1, -1, -1, -1, -1, 0, 2_500_000, 12_345]
    run = [1, 5, 5, 5 * UM, 5 * UM + 1, 100_001, 0, 9, 9, 9]
    parts = SimpleNamespace(sold=(np.array(sold), None), choice=lambda k: PartChoice(cable[k], None, None))
    physical: Any = SimpleNamespace(parts=parts, lengths=SimpleNamespace(run=np.array(run)))
    found = ordered_metres(physical)
    assert found == [3, "", "", 5, 5.1, 0.2, 0, 0, 2.5, 0.012345]
    assert [type(x) for x in found] == [int, str, str, int, float, float, int, int, float, float]
    physical.lengths.run = np.array([-1] * 10)
    assert ordered_metres(physical) == [3, "", "", "", "", "", "", 0, 2.5, 0.012345]


def test_columns_of_choices() -> None:
    """What a connect says, else the facts of what is chosen."""
    glass, wire = fibre("MY_GLASS", polarity="b"), copper("W_1")
    choices = [PartChoice(glass, optic("O_1"), None), PartChoice(wire, None, optic("O_2")), PartChoice(None, None, None)]
    number = np.array([1, 0, 2, 0])
    parts = SimpleNamespace(
        group=(number, choices), sold=(np.array([-1, UM, -1, 2 * UM]), None), choice=lambda k: choices[number[k]]
    )
    physical: Any = SimpleNamespace(parts=parts, lengths=SimpleNamespace(run=np.array([-1, 5, 200_000, -1])))
    names = ("length_m", "part", "medium", "fibre", "polarity", "a_optic", "b_optic")
    columns = chosen_columns(physical, {n: lambda n=n: ["", "", "", f"said {n}"] for n in names})
    wanted = {
        "length_m": ["", 1, 0.2], "part": ["W-1", "MY-GLASS", ""], "medium": ["dac", "fibre", ""], "fibre": ["", "mmf", ""],
        "polarity": ["", "b", ""], "a_optic": ["", "O-1", ""], "b_optic": ["O-2", "", ""],
    }  # fmt: skip
    assert list(columns) == list(names)
    assert {n: columns[n]()[:3] for n in names} == wanted
    assert [columns[n]()[3] for n in names] == [f"said {n}" for n in names]
    assert _part_fact_column(physical, lambda c: c.name) == ["W_1", "MY_GLASS", "", "MY_GLASS"]
    assert _optic_name_column(physical, "optic_a") == ["", "O-1", "", "O-1"]


# ------------------------------------------------------------------ sums
def money(value: int) -> Quantity:
    """An amount of money."""
    return Quantity(Fraction(value), MONEY)


def power(value: int) -> Quantity:
    """Watts."""
    return Quantity(Fraction(value), POWER)


def model(name: str, kind: str = "switch", **facts: object) -> DeviceModel:
    """A model with these facts."""
    return part(kind, name, **facts)


def test_the_price_of_a_part() -> None:
    own = model("A", price=money(5))
    assert (
        price_of_part(own, {}) == 5
        and price_of_part(own, {"A": Fraction(0), "B": Fraction(9)}) == 0
        and price_of_part(own, {"B": Fraction(9)}) == 5
    )
    assert (
        price_of_part(model("A"), {})
        is None
        is price_of_part(model("A", price=power(5)), {})
        is price_of_part(model("A", price=5), {})
    )


def figures_of(random: Random) -> tuple[Any, Any]:
    """Figures of some devices, transceivers and cables."""
    models = [
        model("MOST", power=power(50), power_max=power(70), price=money(1000)), model("ONE", power=power(30)),
        model("NONE", price=money(300)), model("PANEL", "panel", power=power(5), price=money(7)),
    ]  # fmt: skip
    optics = [optic("P", power=power(9), power_max=power(12), price=money(40)), optic("Q", power=power(15)), optic("R")]
    cables = [
        PartChoice(fibre("F", price=money(3)), None, None),
        PartChoice(copper("W"), None, None),
        PartChoice(None, None, None),
    ]
    count, legs, pieces, ends = random.randint(1, 7), random.randint(0, 8), random.randint(0, 6), random.randint(0, 4)
    number = np.array([random.randrange(3) for _ in range(legs)], dtype=np.int64)
    fabric: Any = SimpleNamespace(
        models=models, device_model=np.array([random.randrange(4) for _ in range(count)]), device_count=count,
        built=np.array([random.random() < 0.8 for _ in range(count)]),
        container=np.array([random.choice((-1, -1, -1, 0)) for _ in range(count)]),
        cable_leg=np.array([random.choice((0, 0, 1, 2, 3)) for _ in range(legs)], dtype=np.int64), cable_statement=number,
        statements=[SimpleNamespace(settings={"part": c.cable} if c.cable else {"part": "F"}) for c in cables],
        prices={"R": Fraction(100)},
    )  # fmt: skip
    figures: Any = object.__new__(Figures)
    figures.fabric = fabric
    figures.physical = SimpleNamespace(parts=SimpleNamespace(group=(number, cables))) if random.random() < 0.5 else None
    found = Optics(
        np.array([random.randrange(count) for _ in range(pieces)], dtype=np.int64),
        np.array([random.randrange(3) for _ in range(pieces)], dtype=np.int64), optics,
        np.array([random.randrange(count) for _ in range(ends)], dtype=np.int64),
    )  # fmt: skip
    figures.__dict__["optics"] = found
    return figures, [c.cable for c in cables]


def bound(values: list[Fraction | None]) -> PartialSum:
    """A sum with its unknown terms."""
    return PartialSum(sum((v for v in values if v is not None), Fraction(0)), sum(v is None for v in values))


PRICE = {"MOST": 1000, "NONE": 300, "PANEL": 7, "P": 40, "R": 100, "F": 3}
WATTS = {False: {"MOST": 70, "ONE": 30, "P": 12, "Q": 15}, True: {"MOST": 50, "ONE": 30, "P": 9, "Q": 15}}


def get(table: dict[str, int], name: str | None) -> Fraction | None:
    """An entry, None where there is none."""
    return Fraction(table[name]) if name in table else None


def test_power_and_cost() -> None:
    """Each device that is mounted, each transceiver in it whose watts its own figure does not include, each open end, and the
    first leg of each cable."""
    for seed in range(150):
        random = Random(seed)
        figures, cables = figures_of(random)
        f, found = figures.fabric, figures.optics
        chosen = [random.random() < 0.7 for _ in range(f.device_count)]
        legs = [random.random() < 0.7 for _ in range(len(f.cable_leg))]
        name = [f.models[m].name for m in f.device_model.tolist()]
        own = [d for d in range(f.device_count) if chosen[d] and f.built[d] and f.container[d] < 0]
        mask, kept = np.array(chosen, dtype=np.bool_), np.array(legs, dtype=np.bool_)
        pieces = [(d, found.parts[k].name) for d, k in zip(found.device.tolist(), found.part.tolist(), strict=True)]
        ends = found.open_ends.tolist()
        for typical in (False, True):
            watts = WATTS[typical]
            every = [*(get(watts, p) for d, p in pieces if chosen[d]), *(None for d in ends if chosen[d])]
            assert figures.optics_power(mask, typical) == bound(every)
            counts = [d for d in own if name[d] != "PANEL" and (typical or name[d] != "MOST")]
            inside = [*(get(watts, p) for d, p in pieces if d in counts), *(None for d in ends if d in counts)]
            assert figures.parts_power(mask, typical) == bound(inside)
            assert figures.power(mask, typical) == bound([*inside, *(get(watts, name[d]) for d in own if name[d] != "PANEL")])
        plain = [k for k, leg in enumerate(f.cable_leg.tolist()) if leg <= 1 and legs[k]]
        of_cables = [get(PRICE, getattr(cables[f.cable_statement[k]], "name", None)) for k in plain]
        assert figures._cables(kept) == bound(of_cables)
        of_parts = [*of_cables, *(get(PRICE, p) for d, p in pieces if chosen[d]), *(None for d in ends if chosen[d])]
        assert figures.parts_cost(mask, kept) == bound(of_parts)
        assert figures.cost(mask, kept) == bound([*of_parts, *(get(PRICE, name[d]) for d in own)])


def test_sums_by_bucket() -> None:
    """Every device, transceiver, open end and cable once, in the bucket that it belongs to."""
    for seed in range(120):
        random = Random(seed)
        figures, cables = figures_of(random)
        f, found = figures.fabric, figures.optics
        device = [random.randrange(4) for _ in range(f.device_count)]
        leg = [random.randrange(4) for _ in range(len(f.cable_leg))]
        wanted: dict[int, _Sum] = {}

        def add(bucket: int, *piece: Any, wanted: dict[int, _Sum] = wanted) -> None:
            wanted.setdefault(bucket, _Sum()).add(_Sum(*piece))

        name = [f.models[m].name for m in f.device_model.tolist()]
        for d, n in enumerate(name):
            if f.built[d] and f.container[d] < 0:
                add(device[d], 1, 0, 0, NONE if n == "PANEL" else bound([get(WATTS[False], n)]), bound([get(PRICE, n)]))
        for d, k in zip(found.device.tolist(), found.part.tolist(), strict=True):
            p = found.parts[k].name
            watts = NONE if name[d] in ("PANEL", "MOST") else bound([get(WATTS[False], p)])
            add(device[d], 0, 1, 0, watts, bound([get(PRICE, p)]))
        for d in found.open_ends.tolist():
            add(device[d], 0, 1, 0, NONE if name[d] in ("PANEL", "MOST") else bound([None]), bound([None]))
        for k, b in enumerate(leg):
            if f.cable_leg[k] <= 1:
                add(b, 0, 0, 1, NONE, bound([get(PRICE, getattr(cables[f.cable_statement[k]], "name", None))]))
        assert Tally(figures).sums(np.array(device), np.array(leg, dtype=np.int64)) == wanted, seed


def test_counts_of_pairs() -> None:
    assert _count_keys_in_buckets(np.array([2, 1, 2, 2]), np.array([True, True, False, True])) == [
        (1, 1, 1),
        (2, 0, 1),
        (2, 1, 2),
    ]
    assert _count_keys_in_buckets(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)) == []
    assert _sum_of_pieces(Fraction(3, 2), 4) == PartialSum(Fraction(6), 0) and _sum_of_pieces(None, 4) == PartialSum(
        Fraction(0), 4
    )
    assert _Sum() == _Sum(0, 0, 0, NONE, NONE) and PartialSum(Fraction(0), 0) == NONE


def test_transceivers_without_places() -> None:
    """None is chosen; every end of a cable without a copper part is open, at the outermost device."""
    for seed in range(40):
        random = Random(seed)
        count = random.randint(0, 6)
        made: Any = object.__new__(Figures)
        given = [copper("W"), copper("A", medium="aoc"), copper("C", medium="acc"), fibre(), "W", None]
        a, b = ([random.randrange(8) for _ in range(count)] for _ in "ab")
        of = [random.randrange(6) for _ in range(count)]
        made.fabric = SimpleNamespace(
            statements=[SimpleNamespace(settings={"part": g} if g else {}) for g in given],
            cable_statement=np.array(of, dtype=int), cable_a=np.array(a, dtype=int), cable_b=np.array(b, dtype=int),
            port_device=np.arange(8) // 2,
            device_count=4, container=np.array([-1, 0, 1, -1]), built=np.ones(4, dtype=np.bool_),
        )  # fmt: skip
        made.physical = None
        assert made.top.tolist() == [0, 0, 0, 3] and made.mounted.tolist() == [True, False, False, True]
        found = made.optics
        assert (len(found.device), len(found.part), found.parts) == (0, 0, [])
        plain = [k for k in range(count) if of[k] >= 3]
        assert found.open_ends.tolist() == [(0, 0, 0, 3)[p // 2] for of in (a, b) for p in (of[k] for k in plain)]
    made = object.__new__(Figures)
    none = np.zeros(1, dtype=int)
    made.fabric = SimpleNamespace(
        statements=[], cable_statement=none - 1, cable_a=none, cable_b=none + 1, port_device=np.arange(2), device_count=2,
        container=np.array([-1, -1]),
    )  # fmt: skip
    made.physical = None
    assert made.optics.open_ends.tolist() == [0, 1]  # a cable of no connect


def test_transceivers_with_places() -> None:
    """Open ends are those without a transceiver of a cable whose ends are not part of it; panels and OCS have none."""
    for seed in range(40):
        random = Random(seed)
        made: Any = object.__new__(Figures)
        count = random.randint(0, 6)
        o = optic("O")
        choices = [
            PartChoice(fibre(), o, None),
            PartChoice(fibre(), None, o),
            PartChoice(copper("W"), None, None),
            PartChoice(None, None, None),
        ]
        number = [random.randrange(4) for _ in range(count)]
        a, b = ([random.randrange(10) for _ in range(count)] for _ in "ab")
        kind = np.array(["host", "switch", "panel", "ocs", "host"])
        made.fabric = SimpleNamespace(
            cable_a=np.array(a, dtype=int), cable_b=np.array(b, dtype=int), port_device=np.arange(10) // 2, device_count=5,
            container=np.array([-1, -1, -1, -1, 1]), kind=kind,
        )  # fmt: skip
        cages = (np.array([4, 1]), None, np.array([0, 0]), None)
        made.physical = SimpleNamespace(
            parts=SimpleNamespace(cages=cages, group=(np.array(number, dtype=int), choices), optics=[o])
        )
        found = made.optics
        assert (found.device.tolist(), found.part.tolist(), found.parts) == ([1, 1], [0, 0], [o])
        ends = [p // 2 for of, open_ in ((a, (1, 3)), (b, (0, 3))) for p, n in zip(of, number, strict=True) if n in open_]
        assert found.open_ends.tolist() == [1 if d == 4 else d for d in ends if kind[d] not in ("panel", "ocs")]
