"""Sizes of tiers as relations: they have a solution where the sizes can be found, also with other numbers at one place."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest
import z3

from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.contradiction import (
    MANY,
    RATES,
    Relations,
    WrittenNumber,
    alternative_numbers,
    common_link_rate,
    has_tier_sizes,
    number_has_sizes,
    numbers_of_gathered_tiers,
    with_replaced_numbers,
    written_numbers,
)
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.sizing import Aim, HostLoad, TierSpec, link_rate
from tests.fabrics import Builder

TEXT = SourceFile("sizes.fab", "x" * 40)
NOWHERE = SourceSpan(TEXT, 0, 1)
EXACT = Aim("", Fraction(1))
BUILDER = Builder()
MODELS: dict[tuple[int, int], DeviceModel] = {
    (n, r): BUILDER.model("switch", f"S{n}r{r}", {"p": {"shape": n, "rate": r or None}})
    for n in (4, 6, 8, 12, 16)
    for r in (0, 100, 400)
}


def at(start: int) -> SourceSpan:
    return SourceSpan(TEXT, start, start + 1)


def tier(
    radix: int, per: int | None, count: int | None = None, aim: Aim = EXACT, rate: int = 400, name: str = "t", **more: Any
) -> TierSpec:
    return TierSpec(name, "", per, MODELS[radix, rate], count, aim, NOWHERE, **more)


def load_of(hosts: int, ends: int = 1, *, rails: int = 0, pods: int = 0, rate: int = 400, **more: Any) -> HostLoad:
    return HostLoad(hosts, ends, rate, rails or 1, bool(rails), pods, NOWHERE, **more)


def drawn(rng: Random, deepest: int = 3) -> tuple[HostLoad, list[TierSpec]]:
    """An intent by chance. The tiers hold what there is more often than not."""
    depth, ends = rng.randint(1, deepest), rng.choice([1, 1, 2, 4])
    pers = [rng.choice([1, 2, 2, 3, 4]) for _ in range(depth)]
    hosts = 1
    for per in pers:
        hosts *= per
    hosts = max(1, hosts - rng.choice([0, 0, 0, 1]))
    pods = rng.choice([0, 0, 1, 2]) if depth == 2 else 0
    specs = []
    for i, per in enumerate(pers):
        mode = rng.choice(["", "", "about", "at most"])
        ratio = rng.choice([Fraction(1), Fraction(1), Fraction(2), Fraction(3, 2), Fraction(1, 2)])
        given = None if pods or (i == depth - 1 and rng.random() < 0.3) else per
        rate = rng.choice([0, 100, 400, 400, 400])
        specs.append(tier(rng.choice([4, 6, 8, 12, 16]), given, rng.choice([None, None, 1, 2, 4]), Aim(mode, ratio), rate))
    return load_of(hosts, ends, rails=ends if rng.random() < 0.4 else 0, pods=pods), specs


@pytest.mark.parametrize("seed", range(3))
def test_relations_have_a_solution_where_sizes_are_found(seed: int) -> None:
    """The relations ask for no more than the Sizer does, and for little less: an even spread over switches is more than sums."""
    rng = Random(seed)
    more = 0
    for _ in range(40):
        load, specs = drawn(rng)
        decided, found = Relations(load, specs, []).decide(), has_tier_sizes(load, specs)
        assert decided == z3.sat or not found, (load, specs)
        more += decided == z3.sat and not found
    assert more <= 3


def choices(load: HostLoad, what: str) -> Iterator[Any]:
    """Numbers that may be at a place."""
    if what == "rails":
        yield from {1, load.rails}
    elif what == "model":
        yield from ((n, r) for n in (*range(1, 20), 64, 4096) for r in (100, 400))
    elif what == "aim":
        yield from (Aim("", Fraction(a, b)) for a in range(1, 17) for b in range(1, 17))
    else:
        yield from range(1, 40)


@pytest.mark.parametrize(
    ("what", "trials"), [("hosts", 24), ("rails", 24), ("pods", 24), ("per", 24), ("count", 24), ("model", 8), ("aim", 24)]
)
def test_another_number_at_one_place(what: str, trials: int) -> None:
    """Where some number at a place gives sizes, the relations without it have a solution, and the Sizer takes it."""
    rng = Random(11)
    tried = solved = more = 0
    for _ in range(trials):
        load, specs = drawn(rng, 2)
        place = -1 if what in ("hosts", "rails", "pods") else rng.randrange(len(specs)) if what != "aim" else len(specs) - 1
        written = getattr(load, what) if place < 0 else getattr(specs[place], what)
        if not written or (what == "aim" and not place) or (what == "rails" and not load.railed):
            continue
        some = any(has_tier_sizes(*with_replaced_numbers(load, specs, {(place, what): n})) for n in choices(load, what))
        relations = Relations(load, specs, [WrittenNumber(place, what, NOWHERE, "")])
        decided = relations.decide()
        assert decided == z3.sat or not some, (load, specs)
        if decided == z3.sat:
            confirmed = relations.confirmed()
            assert confirmed is True or not some, (load, specs)
            more += not some
        tried, solved = tried + 1, solved + some
    assert 3 <= solved < tried and more <= 2


# ------------------------------------------------------------ parts of the search
def test_places_are_in_the_order_of_the_text() -> None:
    """The aim of the first tier judges nothing, and is no place."""
    load = load_of(8, 2, rails=2, places=(("hosts", at(20)), ("rails", at(2))))
    low = tier(16, 4, 3, name="a", places=(("per", at(7)), ("model", at(30)), ("aim", at(1))))
    high = tier(8, 2, 5, Aim("at most", Fraction(3, 2)), name="b", places=(("aim", at(9)), ("count", at(25)), ("model", at(35))))
    assert written_numbers(load, [low, high]) == [
        WrittenNumber(-1, "rails", at(2), "2 rails here"),
        WrittenNumber(0, "per", at(7), "a `a` is of 4 here"),
        WrittenNumber(1, "aim", at(9), "at most 3:2 here"),
        WrittenNumber(-1, "hosts", at(20), "8 hosts here"),
        WrittenNumber(1, "count", at(25), "5 switches here"),
        WrittenNumber(0, "model", at(30), "S16r400 has 16 ports"),
        WrittenNumber(1, "model", at(35), "S8r400 has 8 ports"),
    ]


def test_the_rate_of_a_link() -> None:
    for low in range(4):
        for high in range(4):
            assert z3.simplify(common_link_rate(z3.IntVal(low), z3.IntVal(high))).as_long() == link_rate(low, high)


def test_an_intent_with_other_numbers() -> None:
    load, specs = load_of(8, 2, rails=2), [tier(16, 4, 3), tier(8, 2, 5, rate=100)]
    aim = Aim("about", Fraction(5, 2))
    put = {(-1, "hosts"): 9, (0, "per"): 6, (1, "count"): 7, (1, "aim"): aim, (1, "model"): (10, 50)}
    other, tiers = with_replaced_numbers(load, specs, put)
    assert (other.hosts, other.ends, other.rails, other.railed) == (9, 2, 2, True)
    assert [(s.per, s.count, s.aim, s.radix, s.rate) for s in tiers] == [(6, 3, EXACT, 16, 400), (2, 7, aim, 10, 50)]
    assert [(a.low, a.size) for a in tiers[1].model.classes[0].axes] == [(0, 10)]
    assert [(s.per, s.count, s.radix) for s in specs] == [(4, 3, 16), (2, 5, 8)]
    assert with_replaced_numbers(load, specs, {(-1, "rails"): 2})[0].railed is True
    assert with_replaced_numbers(load_of(8), specs, {(-1, "hosts"): 3})[0].railed is False


def test_numbers_that_are_tried() -> None:
    specs = [tier(16, 3), tier(8, None, 2, rate=100), tier(8, 2)]
    load = load_of(1000, pods=3)
    others = [(MANY, r) for r in (400, 100, *RATES)]
    assert alternative_numbers(load, specs, WrittenNumber(1, "model", NOWHERE, "")) == others
    aims = alternative_numbers(load, specs, WrittenNumber(1, "aim", NOWHERE, ""))
    assert aims[:4] == [Aim("at most", Fraction(4096**2)), EXACT, Aim("", Fraction(1, 2)), Aim("", Fraction(1, 3))]
    assert len(aims) == 1 + 63 * 4 and aims[-1] == Aim("", Fraction(63, 4))
    assert alternative_numbers(load, specs, WrittenNumber(-1, "hosts", NOWHERE, "")) == [18 * k for k in range(1, 64)]
    assert alternative_numbers(load_of(1000), specs, WrittenNumber(-1, "hosts", NOWHERE, "")) == [6 * k for k in range(1, 64)]
    assert alternative_numbers(load, specs, WrittenNumber(0, "per", NOWHERE, "")) == [*range(1, 256), 333]
    parts = [273, 300, 334, 375, 429, 500, 600, 750, 1000, 1500, 3000]  # 3000 divided by 11, 10 … 1, rounded up
    assert alternative_numbers(load_of(3000), specs, WrittenNumber(0, "per", NOWHERE, "")) == [*range(1, 256), *parts]


@pytest.mark.parametrize(
    ("hosts", "pods", "pers", "free", "expected"),
    [
        (24, 2, (5, 2, None), {2}, {2: 3}),  # 12 hosts of a pod are three of 5: six, in pairs three
        (24, 2, (5, 2, None), {1, 2}, {1: 6, 2: 1}),
        (24, 0, (5, 2, None), {1}, {1: 5}),
        (24, 2, (None, 7, 7), {1}, {1: 2}),
        (24, 0, (None, 7, 7), {1}, {1: 1}),
        (24, 2, (5, None, 3), {2}, {2: 1}),
        (24, 0, (5, 7, 3), {2}, {2: 1}),
        (24, 0, (2, 3, 3), {2}, {2: 4}),
        (24, 0, (2, 3, 3), set(), {}),
    ],
)  # fmt: skip
def test_all_that_is_there_in_one(
    hosts: int, pods: int, pers: tuple[int | None, ...], free: set[int], expected: dict[int, int]
) -> None:
    specs = [tier(16, per) for per in pers]
    assert numbers_of_gathered_tiers(load_of(hosts, pods=pods), specs, free) == {(i, "per"): n for i, n in expected.items()}


COUNT, PER, AIM = (WrittenNumber(1, what, NOWHERE, "") for what in ("count", "per", "aim"))


@pytest.mark.parametrize(
    ("hosts", "specs", "others", "place", "solved"),
    [
        (9, [tier(16, 4), tier(16, 2, 2)], [], WrittenNumber(-1, "hosts", NOWHERE, ""), True),  # 8 hosts
        (9, [tier(16, 4), tier(16, 2, 2)], [], PER, True),  # 3
        (9, [tier(16, 4), tier(16, 2, 2)], [], COUNT, False),  # three instances are no pairs
        (9, [tier(16, 4), tier(16, 2, 2)], [PER, WrittenNumber(0, "model", NOWHERE, "")], COUNT, True),
        (9, [tier(16, 4), tier(16, 1, 2)], [WrittenNumber(-1, "hosts", NOWHERE, "")], COUNT, False),
        (10, [tier(6, 5), tier(16, 2, 2)], [], COUNT, False),  # five ports up are too many
        (10, [tier(6, 5), tier(16, 2, 2)], [AIM], COUNT, True),  # one is not
        (10, [tier(6, 5), tier(16, 2, 2)], [WrittenNumber(0, "model", NOWHERE, "")], COUNT, True),
        (8, [tier(16, 4), tier(16, 2, 100)], [], AIM, False),
        (8, [tier(16, 4), tier(16, 2, 100)], [COUNT], AIM, True),
        (8, [tier(4, 8, 1), tier(16, 1, 1)], [], WrittenNumber(0, "model", NOWHERE, ""), True),
    ],
)  # fmt: skip
def test_a_number_found_by_trial(
    hosts: int, specs: list[TierSpec], others: list[WrittenNumber], place: WrittenNumber, solved: bool
) -> None:
    assert number_has_sizes(load_of(hosts), specs, others, place) is solved


def test_every_solution_once() -> None:
    """One switch of two hosts at most has two solutions for their number."""
    relations = Relations(load_of(7), [tier(8, 2, 1)], [WrittenNumber(-1, "hosts", NOWHERE, "")])
    found = []
    for _ in range(2):
        assert relations.decide() == z3.sat
        found.append(relations.solver.model()[relations.terms[-1, "hosts"]].as_long())
        assert relations.confirmed() is True
        relations.another()
    assert sorted(found) == [1, 2]
    assert relations.decide() == z3.unsat


@pytest.mark.parametrize(
    ("each", "free", "expected"),
    [
        (True, [AIM], {"aim": 2}),
        (False, [AIM], {"aim": 1}),
        (True, [AIM, COUNT], {"aim": 1, "count": 1}),
        (True, [COUNT], {"count": 1}),
        (True, [PER], {"per": None}),
    ],
)
def test_the_plainest_sizes(each: bool, free: list[WrittenNumber], expected: dict[str, int | None]) -> None:
    """One switch, and one link up, or one to each switch of a written number; other numbers may be any."""
    relations = Relations(load_of(8), [tier(16, 4), tier(16, 2, 2)], free)
    before = len(relations.solver.assertions())
    relations.plain(each, alike=True)
    added = [str(a) for a in relations.solver.assertions()][before:]
    assert sorted(added) == sorted(f"{relations.terms[1, what]} == {n}" for what, n in expected.items() if n)


@pytest.mark.parametrize("alike", [True, False])
def test_the_plainest_model(alike: bool) -> None:
    """Many ports, and the rate at hand where all are to be alike."""
    relations = Relations(load_of(8), [tier(16, 4), tier(16, 2, 2, rate=100)], [WrittenNumber(1, "model", NOWHERE, "")])
    before = len(relations.solver.assertions())
    relations.plain(each=False, alike=alike)
    added = [str(a) for a in relations.solver.assertions()][before:]
    assert added == ["model1 == 4096", *([f"rate1 == {400 // relations.unit}"] if alike else [])]
    assert relations.unit == 100
