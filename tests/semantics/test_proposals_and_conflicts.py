"""Numbers that are proposed, weights of what is made least, lines that contradict each other: small relations made by hand."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
import z3

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.fault import Fault
from tdsl.semantics.quantity import MONEY, POWER, Quantity
from tdsl.sizing import conflicts
from tdsl.sizing.budget import DEFAULT, sizing_budget_of_seconds
from tdsl.sizing.conflicts import _span_covers, add_conflicting_lines, finding_with_conflict, irreducible_lines
from tdsl.sizing.objectives import CablePartFigures, Minimize, Weights, weights_of_device_sets
from tdsl.sizing.proposals import Guide, Undecided
from tdsl.sizing.relations import SizeConstraint

FILE = SourceFile("a.fab", "0123456789" * 5)


def span(start: int, end: int | None = None, file: SourceFile = FILE) -> SourceSpan:
    """A place in a text."""
    return SourceSpan(file, start, start + 1 if end is None else end)


# ------------------------------------------------------------------ proposals
def guide(relations: list[Any], holes: dict[Any, Any], total: Any = None, work: int = DEFAULT.proposal_work) -> Any:
    """Relations of holes."""
    made: Any = object.__new__(Guide)
    made.relations, made.total, made.work = relations, total, work
    made.sizes = SimpleNamespace(holes=holes)
    return made


def test_the_least_number_that_relations_allow() -> None:
    """Of all in a range, with the holes before at their values and others at any; below a figure where one is given."""
    x, y = z3.Ints("x y")
    seen = set()
    for seed in range(24):
        random = Random(seed)
        a, b, c, d = random.randint(1, 4), random.randint(1, 4), random.randint(0, 30), random.randint(2, 5)
        odd = random.randrange(2)
        made = guide([a * x + b * y >= c, x % d == y % d, x * y <= 60, x % 2 == odd, y >= 1, y <= 9], {"x": x, "y": y}, x + 2 * y)
        low, high = random.randint(1, 6), random.randint(4, 14)
        fixed = {"y": random.randint(1, 9)} if random.random() < 0.5 else {}
        below = random.choice((None, 12, 20))

        def fits(n: int, m: int, of: tuple[int, ...] = (a, b, c, d, odd), below: int | None = below) -> bool:
            a, b, c, d, odd = of
            small = below is None or n + 2 * m < below
            return a * n + b * m >= c and n % d == m % d and n * m <= 60 and n % 2 == odd and small

        others = [fixed["y"]] if fixed else range(1, 10)
        wanted = next((n for n in range(low, high + 1) if any(fits(n, m) for m in others)), None)
        assert made.least(fixed, "x", low, high, below) == wanted, seed
        seen.add((wanted is None, wanted == low, wanted == high))
    assert len(seen) >= 3
    assert guide([], {}).least({}, "z", 7, 9, None) == 7  # a hole of no relation
    assert guide([x >= 3], {"x": x}).least({}, "x", 1, 5, 1) == 3  # no figure
    with pytest.raises(Undecided):
        guide([x * x * x + y * y * y == 33 + z3.Int("z") ** 3, x > 5], {"x": x}, work=1).least({}, "x", 6, 4000, None)


# ------------------------------------------------------------------ what is made least
def sets(*given: tuple[str, str, dict[str, Any]]) -> list[Any]:
    """Device sets by path, kind and the facts of their models."""
    return [
        SimpleNamespace(
            path=path,
            kind=kind,
            axes=(),
            model=SimpleNamespace(name=path.upper(), facts=facts, origin=SimpleNamespace(span=span(k))),
        )
        for k, (path, kind, facts) in enumerate(given)
    ]


def amount(value: str, dim: tuple[int, ...]) -> Quantity:
    """A quantity, exactly."""
    return Quantity(Fraction(value), dim)


def test_weights_of_devices() -> None:
    """Whole numbers in proportion to what the models state; a price of the user's table goes before."""
    facts = {"price": amount("2.5", MONEY), "power": amount("1/3", POWER)}
    others = {"price": amount("4", MONEY), "power": amount("3/4", POWER)}
    every = sets(("a", "switch", facts), ("b", "host", others), ("c", "switch", {}))
    plan: Any = SimpleNamespace(sets=every, prices={"B": Fraction(1, 5)})
    at = span(9)
    assert weights_of_device_sets(Minimize("switches", at), plan, set()) == Weights(
        Minimize("switches", at), {"a": 1, "c": 1}, 1, None
    )
    assert weights_of_device_sets(Minimize("cables", at), plan, {"c"}) == Weights(Minimize("cables", at), {}, 1, None)
    found = weights_of_device_sets(Minimize("cost", at), plan, {"a", "b"})
    assert (found.each, found.scale, found.unit) == ({"a": 25, "b": 2}, 10, amount("2.5", MONEY))
    found = weights_of_device_sets(Minimize("power", at), plan, set())
    assert (found.each, found.scale, found.unit) == ({"a": 4, "b": 9}, 12, amount("1/3", POWER))
    assert found.show(Fraction(18)) == "power 1.5W"
    assert weights_of_device_sets(Minimize("switches", at), plan, set()).show(Fraction(7)) == "7 switches"
    plan.sets = every[2:]
    assert weights_of_device_sets(Minimize("power", at), plan, set()) == Weights(Minimize("power", at), {}, 1, None)
    for figure, fact, example in (("cost", "price", "$1200"), ("power", "power", "700W")):
        with pytest.raises(Fault) as told:
            weights_of_device_sets(Minimize(figure, at), plan, {"c"})
        d = told.value.diagnostic
        assert (d.code, d.span, d.message) == ("E0463", at, f"C says no `{fact}`, so its {figure} cannot be compared")
        assert d.help == f"write `{fact} {example}` in the model, or minimize `switches`"
        assert [(x.span, x.message) for x in d.labels] == [(span(2), "declared here")]


def test_a_term_that_no_total_lies_below() -> None:
    """Without devices that may be left out, are there in part, or are overridden."""
    axis = SimpleNamespace
    every = sets(*((n, "switch", {}) for n in "abcde"))
    every[2].axes = (axis(present=3, size=3), axis(present=1, size=2))
    every[3].axes = (axis(present=3, size=3),)
    omits = [SimpleNamespace(target=SimpleNamespace(device=every[1], group=None))]
    counts = {id(s): z3.Int(s.path) for s in every}
    group = SimpleNamespace(sets=lambda: [every[0], every[4]])
    sizes: Any = SimpleNamespace(plan=SimpleNamespace(sets=every, omits=omits), partial=set(), count=lambda s: counts[id(s)])
    made = Weights(Minimize("cost", span(0)), {"a": 2, "b": 3, "c": 5, "d": 7}, 1, None)

    def at(term: Any) -> int:
        given = [(counts[id(s)], z3.IntVal(10**k)) for k, s in enumerate(every)]
        return int(z3.simplify(z3.substitute(term, *given)).as_long())

    assert at(made.term(sizes)) == 2 + 7000
    sizes.partial = {id(every[3])}
    assert at(made.term(sizes)) == 2
    omits.append(SimpleNamespace(target=SimpleNamespace(device=None, group=group)))
    assert made.term(sizes) is None


def test_parts_that_state_the_figure() -> None:
    for rows, incomparable, left_out in (
        ([], False, False), ([(0, 0)], False, False), ([(0, 2)], False, True), ([(0, 2), (0, 3)], False, True),
        ([(5, 2)], False, False), ([(5, 2), (0, 2)], False, False), ([(5, 2), (0, 3)], True, False),
        ([(0, 3), (5, 0)], True, False),
    ):  # fmt: skip
        made = CablePartFigures()
        for value, missing in rows:
            made.add(Fraction(value), missing)
        assert (made.incomparable, made.left_out) == (incomparable, left_out), rows


def test_work_in_proportion_to_time() -> None:
    assert (
        sizing_budget_of_seconds(10) == DEFAULT
        and sizing_budget_of_seconds(1).trial_work == 3_000_000
        and sizing_budget_of_seconds(25).trial_work == 75_000_000
    )


# ------------------------------------------------------------------ contradictions
def line(start: int, *holds: Any, number: bool = False, end: int | None = None) -> SizeConstraint:
    """A line of the text with its relations."""
    return SizeConstraint(span(start, end), f"said at {start}", list(holds), number)


def test_places_within_others() -> None:
    other = SourceFile("a.fab", FILE.text)
    for inner, covered in (((3, 7), True), ((3, 8), False), ((2, 7), False), ((4, 5), True), ((3, 3), True), ((8, 9), False)):
        assert _span_covers(span(3, 7), span(*inner)) is covered
        assert not _span_covers(span(3, 7), span(*inner, file=other))


def test_lines_that_cannot_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers stay longer than other lines, and of equals those that come first in the text; the order is that of the text."""
    x = z3.Int("x")
    two, four = line(5, x <= 2), line(9, x >= 4)
    assert irreducible_lines([], [four, two, line(1, x >= 0)], DEFAULT) == ([two, four], True)
    again = line(20, x >= 7)
    assert irreducible_lines([], [four, two, again], DEFAULT) == ([two, four], True)
    written = line(30, x >= 5, number=True)
    assert irreducible_lines([], [two, four, again, written], DEFAULT) == ([two, written], True)
    assert irreducible_lines([x >= 4], [two, four], DEFAULT) == ([two], True)
    assert irreducible_lines([], [two, line(1, x >= 0)], DEFAULT) == ([], False)
    answers = iter([z3.unsat, z3.unknown, z3.unsat])
    monkeypatch.setattr(conflicts, "check_relations", lambda always, lines, budget: next(answers))
    found, proven = irreducible_lines([], [two, four], DEFAULT)
    assert len(found) == 1 and proven is False
    monkeypatch.setattr(conflicts, "check_relations", lambda always, lines, budget: z3.unknown)
    assert irreducible_lines([], [two, four], DEFAULT) == ([], False)


def test_a_finding_with_its_conflict() -> None:
    d = Diagnostic("E0459", "m", span(10, 20), labels=(Label(span(2), "known"),), notes=("first",))
    inside, outside, known = line(12, end=15), line(25), line(2)
    around = line(5, end=30)
    assert finding_with_conflict(d, [around], True) is d
    found = finding_with_conflict(d, [inside, outside, known, around], True)
    assert [(x.span.start, x.message) for x in found.labels] == [(2, "known"), (12, "said at 12"), (25, "said at 25")]
    note = "these 4 statements contradict each other; without any one of them the others are consistent"
    assert found.notes == ("first", note)
    assert (
        finding_with_conflict(d, [outside], False).notes[1] == "these 1 statements contradict each other; a smaller set may exist"
    )
    bare = Diagnostic("E0459", "m", None)
    assert [x.span.start for x in finding_with_conflict(bare, [around], True).labels] == [5]


def test_findings_that_sizes_explain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the codes, without lines of other findings that are no numbers; a conflict must be about the place of its own."""
    x = z3.Int("x")
    low, high, own = line(5, x <= 2), line(9, x >= 4), line(20, x <= 3, end=24)
    lines = dict(enumerate([low, high, own, line(40)]))
    monkeypatch.setattr(conflicts, "SizeRelations", lambda plan, open: SimpleNamespace(always=[], lines=lines))

    def run(*found: Diagnostic) -> list[int]:
        items = Diagnostics()
        items.items += found
        add_conflicting_lines(SimpleNamespace(), items, frozenset({"E0459", "E0452"}))  # type: ignore[arg-type]
        return [len(d.notes) for d in items.items]

    none = Diagnostic("E0459", "m", span(30))
    at = Diagnostic("E0452", "m", span(21))
    assert run(none) == [1]
    assert run(Diagnostic("E0452", "m", span(30))) == [0]  # it is about another place
    assert run(Diagnostic("E0452", "m", span(5))) == [1]
    assert run(Diagnostic("E0451", "m", span(20))) == [0]
    assert run(Diagnostic("E0459", "m", None)) == [0]
    assert run(Diagnostic("E0459", "m", span(30), severity=Severity.WARNING)) == [0]
    assert run(none, Diagnostic("E0001", "m", span(9))) == [0, 0]  # without the line of the other nothing contradicts
    assert run(none, Diagnostic("E0001", "m", span(5))) == [1, 0] and run(none, at) == [1, 0]
    high.number = True
    assert run(none, Diagnostic("E0001", "m", span(9))) == [1, 0]
