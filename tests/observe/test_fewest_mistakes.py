"""How mistakes are put together: groups of ports, the choice among mistakes of several cables, and moves of single cables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.observe import diagnose
from tdsl.observe.difference import Cabling, Mistake

Links = dict[int, int]


def links(*pairs: tuple[int, int]) -> Links:
    return {p: q for a, b in pairs for p, q in ((a, b), (b, a))}


def cabling(random: Random, ports: int, count: int) -> Links:
    chosen = random.sample(range(ports), 2 * count)
    return links(*zip(chosen[::2], chosen[1::2], strict=True))


def of(planned: Links, seen: Links) -> Cabling:
    return Cabling(lambda p: planned.get(p, -1), lambda p: seen.get(p, -1))


PLACES: Any = SimpleNamespace(device=lambda p: p // 4, cage=lambda p: p // 2 * 2)
"""Devices of four ports, two a cage."""


def kind(ports: tuple[int, ...]) -> str:
    if len(ports) > 2:
        return "cables permuted"
    a, b = ports
    return "cage halves swapped" if a // 2 == b // 2 else "plugs swapped" if a // 4 == b // 4 else "cables swapped"


@pytest.mark.parametrize("seed", range(150))
def test_moves_of_single_cables(seed: int) -> None:
    """They explain each path and cycle in as many moves as it costs, and so do the other explanations that they name."""
    random = Random(seed)
    n = random.choice((6, 8, 12))
    planned, seen = (cabling(random, n, random.randint(1, n // 2)) for _ in range(2))
    for component in of(planned, seen).components(range(n)):
        state = of(planned, seen)
        found = diagnose._single_cable_mistakes(state, component, PLACES)
        assert sum(m.cost for m in found) == component.cost
        assert all(state.make(m) for m in found)
        assert not any(state.differs(p) for p in component.ports)
        kinds = sorted(m.kind for m in found)
        if component.closed:
            near, far = component.ports[::2], component.ports[1::2]
            ranks = ["cage halves swapped", "plugs swapped", "cables swapped", "cables permuted"]
            first, second = sorted((kind(near), kind(far)), key=ranks.index)
            assert kinds == [first] and [t.kind for t in found[0].ties] == [second]
            state = of(planned, seen)
            assert state.make(found[0].ties[0]) and not any(state.differs(p) for p in component.ports)
            continue
        moved = min(component.missing, component.extra)
        rest = ["missing"] * (component.missing - moved) + ["extra"] * (component.extra - moved)
        assert kinds == sorted(rest + ["wrong port"] * moved)
        assert all(bool(m.ties) == (component.missing == 2 and component.extra == 1) for m in found)
        for m in found:
            state = of(planned, seen)
            assert all(state.make(t) for t in m.ties)
            assert not m.ties or not any(state.differs(p) for p in component.ports)


CYCLES = [
    ((0, 4), (1, 8), "cage halves swapped", "cables swapped"),
    ((4, 0), (8, 1), "cage halves swapped", "cables swapped"),
    ((0, 4), (2, 8), "plugs swapped", "cables swapped"),
    ((4, 0), (8, 2), "plugs swapped", "cables swapped"),
    ((0, 4), (2, 5), "cage halves swapped", "plugs swapped"),
    ((4, 0), (5, 2), "cage halves swapped", "plugs swapped"),
    ((0, 4), (2, 6), "plugs swapped", "plugs swapped"),
    ((0, 12), (4, 8), "cables swapped", "cables swapped"),
]


@pytest.mark.parametrize(("a", "b", "first", "second"), CYCLES)
def test_names_of_two_swapped_cables(a: tuple[int, int], b: tuple[int, int], first: str, second: str) -> None:
    """The nearer of the two exchanges first: in a cage, on a device, anywhere; of two alike that of the ports named first."""
    planned, seen = links(a, b), links((a[0], b[1]), (b[0], a[1]))
    (component,) = of(planned, seen).components([a[0]])
    (made,) = diagnose._single_cable_mistakes(of(planned, seen), component, PLACES)
    assert (made.kind, [t.kind for t in made.ties]) == (first, [second])
    if first == second:
        assert made.moves == ((a[0], b[0]), (b[0], a[0]))


PATHS = [
    (links((1, 2)), {}, 1, [("missing", (), ((1, 2),), ())]),
    ({}, links((1, 2)), 1, [("extra", (), (), ((1, 2),))]),
    (links((1, 2)), links((2, 3)), 1, [("wrong port", ((1, 3),), (), ())]),
    (links((1, 2)), links((2, 3)), 3, [("wrong port", ((1, 3),), (), ())]),
    (links((1, 2), (3, 4)), links((2, 3)), 1, [("missing", (), ((3, 4),), ()), ("wrong port", ((1, 3),), (), ())]),
    (links((2, 3)), links((1, 2), (3, 4)), 1, [("wrong port", ((2, 4),), (), ()), ("extra", (), (), ((2, 1),))]),
    (links((2, 3)), links((1, 2), (3, 4)), 4, [("wrong port", ((3, 1),), (), ()), ("extra", (), (), ((3, 4),))]),
    (
        links((1, 2), (3, 4), (5, 6)), links((2, 3), (4, 5)), 1,
        [("missing", (), ((5, 6),), ()), ("wrong port", ((3, 5),), (), ()), ("wrong port", ((1, 3),), (), ())],
    ),
    (links((1, 2), (3, 4)), links((2, 3), (4, 5)), 1, [("wrong port", ((3, 5),), (), ()), ("wrong port", ((1, 3),), (), ())]),
]  # fmt: skip


@pytest.mark.parametrize(("planned", "seen", "port", "expected"), PATHS)
def test_paths(planned: Links, seen: Links, port: int, expected: list[Any]) -> None:
    """The last move comes first, since it leaves the port that the one before it takes."""
    state = of(planned, seen)
    found = diagnose._single_cable_mistakes(state, state.component(port), PLACES)
    assert [(m.kind, m.moves, m.removed, m.added) for m in found] == expected


def test_the_other_end_of_a_path_of_four() -> None:
    """Of three cables in a row the first may be gone, and the last be where the first was."""
    state = of(links((1, 2), (3, 4)), links((2, 3)))
    for m in diagnose._single_cable_mistakes(state, state.component(1), PLACES):
        assert m.ties == (Mistake("missing", removed=((1, 2),)), Mistake("wrong port", ((4, 2),)))


# ---------------------------------------------------------------- mistakes of several cables
def dark(*numbers: int, cost: int = 1, kind: str = "dark") -> Mistake:
    """None of these links is seen; link i is at ports 2i and 2i + 1."""
    return Mistake(kind, removed=tuple((2 * i, 2 * i + 1) for i in numbers), cost=cost)


def unseen(count: int) -> Cabling:
    """So many links, none of which is seen."""
    return of(links(*((2 * i, 2 * i + 1) for i in range(count))), {})


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Mistake]]:
    """The mistakes of several cables that there are to choose from."""
    offered: list[Mistake] = []
    monkeypatch.setattr(diagnose, "candidate_mistakes", lambda state, places, ports, absent: iter(offered))
    yield offered


def explain(count: int) -> list[Mistake]:
    state = unseen(count)
    return diagnose.diagnose_mistakes(state.at, state.seen, range(2 * count), PLACES, lambda d: False)


def names(found: Iterable[Mistake]) -> list[tuple[str, list[int]]]:
    return [(m.kind, [p // 2 for p, _ in m.removed]) for m in found]


def test_groups_of_ports(offer: list[Mistake]) -> None:
    """A mistake joins what it touches if it explains more than it costs."""
    state = unseen(6)
    ports = [p for p in range(12) if p != 5]

    def groups() -> list[list[int]]:
        return diagnose._independent_port_groups(state, PLACES, ports, lambda d: False)

    single = [[0, 1], [2, 3], [4], [6, 7], [8, 9], [10, 11]]
    assert groups() == single
    offer.append(dark(3, 1, cost=2))  # explains no more than it costs
    assert groups() == single
    offer.append(dark(3, 1))
    assert groups() == [[0, 1], [2, 3, 6, 7], [4], [8, 9], [10, 11]]
    offer.append(dark(5, 3))
    assert groups() == [[0, 1], [2, 3, 6, 7, 10, 11], [4], [8, 9]]
    offer.append(dark(0, 4))
    assert groups() == [[0, 1, 8, 9], [2, 3, 6, 7, 10, 11], [4]]


def test_the_mistakes_of_a_round(offer: list[Mistake]) -> None:
    """Those that explain most first, as long as they touch nothing that another one touches; of equal ones the others as ties."""
    offer += [dark(0, 1), dark(2, 3, 4), dark(4, 5), dark(0, 1, kind="same"), dark(5, 6, cost=2), dark(7, kind="not installed")]
    other = Mistake("other", removed=((0, 1), (3, 2)))
    offer += [other, dark(2, 3, 4, 9, cost=2)]
    state = unseen(10)
    ports = list(range(20))
    chosen, judged = diagnose._make_best_mistakes(state, PLACES, ports, lambda d: False, frozenset())
    assert names(chosen) == [("dark", [2, 3, 4]), ("dark", [0, 1])]
    assert chosen[0].ties == () and chosen[1].ties == (other,)
    assert [p for p in ports if state.differs(p)] == list(range(10, 20))
    assert names(judged) == [("dark", [2, 3, 4]), ("dark", [2, 3, 4, 9]), ("dark", [0, 1]), ("dark", [4, 5]), ("other", [0, 1])]
    banned = frozenset({diagnose.mistake_key(dark(2, 3, 4)), diagnose.mistake_key(offer[0])})
    chosen, _ = diagnose._make_best_mistakes(unseen(10), PLACES, ports, lambda d: False, banned)
    assert names(chosen) == [("dark", [2, 3, 4, 9]), ("other", [0, 1])]


def test_a_device_that_is_not_installed(offer: list[Mistake]) -> None:
    """One of one link explains no more than it costs; it is chosen where nothing else explains more."""
    offer += [dark(0, kind="not installed"), dark(1), dark(2, cost=2, kind="not installed")]
    chosen, judged = diagnose._make_best_mistakes(unseen(3), PLACES, list(range(6)), lambda d: False, frozenset())
    assert names(chosen) == names(judged) == [("not installed", [0])]
    assert names(explain(3)) == [("not installed", [0]), ("missing", [1]), ("missing", [2])]


def test_at_most_three_ties(offer: list[Mistake]) -> None:
    """They touch the same ports, explain as much and cost as much."""
    ends = [[(2 * k + (i >> k & 1), 2 * k + 1 - (i >> k & 1)) for k in range(3)] for i in range(6)]
    turned = [Mistake(str(i), removed=tuple(pairs)) for i, pairs in enumerate(ends)]
    offer += [*turned, dark(0, 1)]
    (chosen,), _ = diagnose._make_best_mistakes(unseen(3), PLACES, list(range(6)), lambda d: False, frozenset())
    assert chosen.kind == "0" and [t.kind for t in chosen.ties] == ["1", "2", "3"]


def test_a_better_choice_than_the_largest_mistake(offer: list[Mistake], monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest leaves two cables over; without it two mistakes explain all. So many other choices are tried as are allowed."""
    large, left, right = dark(1, 2, 3, 4), dark(0, 1, 2), dark(3, 4, 5)
    offer += [left, large, right]
    best = [("dark", [0, 1, 2]), ("dark", [3, 4, 5])]
    greedy = [("dark", [1, 2, 3, 4]), ("missing", [0]), ("missing", [5])]
    assert names(explain(6)) == best
    monkeypatch.setattr(diagnose, "TRIES", 0)
    assert names(explain(6)) == greedy
    monkeypatch.setattr(diagnose, "TRIES", 1)
    assert names(explain(6)) == best
    offer.append(dark(6, 7, 8, 9, 10))  # is left out first, for nothing
    ports = list(range(22))
    more = ("dark", [6, 7, 8, 9, 10])
    assert names(diagnose._best_explanation(unseen(11), ports, PLACES, lambda d: False)) == [more, *greedy]
    monkeypatch.setattr(diagnose, "TRIES", 2)
    assert names(diagnose._best_explanation(unseen(11), ports, PLACES, lambda d: False)) == [more, *best]


def test_a_mistake_to_begin_with(offer: list[Mistake], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where leaving one out does not help, each is made first: the small one and what fits beside it explain all."""
    offer += [dark(0, 1, 2, 3), dark(0, 1, 2, 4), dark(3, 4, 5), dark(0, 1, 2)]
    assert names(explain(6)) == [("dark", [3, 4, 5]), ("dark", [0, 1, 2])]
    found, cost, _ = diagnose._greedy_explanation(
        unseen(6), list(range(12)), PLACES, lambda d: False, frozenset(), (dark(4, 5), dark(5))
    )
    assert names(found) == [("dark", [4, 5]), ("dark", [0, 1, 2, 3])] and cost == 2


def test_rounds_after_one_another(offer: list[Mistake]) -> None:
    """A mistake that can be made only after another one is found in the next round."""
    state = of(links((0, 1), (2, 3)), links((4, 1), (6, 3)))
    offer += [Mistake("second", ((8, 4), (10, 6))), Mistake("first", ((0, 8), (2, 10)))]
    found, cost, judged = diagnose._greedy_explanation(state, list(range(12)), PLACES, lambda d: False, frozenset(), ())
    assert [m.kind for m in found] == ["wrong port", "wrong port"] and cost == 2 and judged == []
    gone = of(links((0, 1), (2, 3), (4, 5)), {})
    offer[:] = [Mistake("a", removed=((0, 1), (2, 3))), Mistake("b", removed=((4, 5), (2, 3)))]
    found, cost, judged = diagnose._greedy_explanation(gone, list(range(6)), PLACES, lambda d: False, frozenset(), ())
    assert [m.kind for m in found] == ["a", "missing"] and cost == 2 and [m.kind for m in judged] == ["a", "b"]
