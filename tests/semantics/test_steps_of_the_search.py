"""Single steps of the search for the numbers of unknowns: which connects wait, what is refused for every value, what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.semantics.openings import Opening
from tdsl.sizing import independent, required, unknowns
from tdsl.sizing.budget import DEFAULT, SizingBudget, sizing_budget_of_seconds
from tdsl.sizing.objectives import CablePartFigures, Minimize, Weights
from tdsl.sizing.unknowns import SearchBudgetSpent, Solver, TrialVerdict

FILE = SourceFile("x.fab", "abcdefghijklmnopqrstuvwxyz")


def at(i: int) -> SourceSpan:
    return SourceSpan(FILE, i, i + 1)


A, B = Opening("a", at(0)), Opening("b", at(1))


def solver(**more: Any) -> Solver:
    """A search over two unknowns; a text rests on those whose names it has."""
    names: Any = SimpleNamespace(rests=lambda text, asked: any(name in text for name in asked))
    settings: dict[str, Any] = {
        "make": None, "openings": (A, B), "branching": False, "names": names, "judge": None, "max_links": 100, **more,
    }  # fmt: skip
    return Solver(**settings)


def connect(text: str, a: Sequence[str], b: Sequence[str], via: str = "", circuit: bool = False, last: bool = False) -> Any:
    def ends(paths: Sequence[str]) -> list[Any]:
        return [SimpleNamespace(device=SimpleNamespace(path=p) if p else None) for p in paths]

    span = SimpleNamespace(text=text)
    (through,) = ends([via]) if via else (None,)
    return SimpleNamespace(node=SimpleNamespace(circuit=circuit, span=span), a=ends(a), b=ends(b), via=through, last=last)


@pytest.mark.parametrize(
    ("wires", "later", "holes", "waits", "order"),
    [
        ([connect("-", ["x"], ["y"]), connect("-", ["y"], ["z"])], set(), (), False, [0, 1]),
        ([connect("-", ["x"], ["y"]), connect("-", ["y"], ["z"])], {"x"}, (B,), True, [1]),
        ([connect("-", ["x"], ["y"]), connect("-", ["y"], ["z"])], {"z"}, (B,), True, [0]),
        ([connect("b", ["x"], ["y"]), connect("-", ["y"], ["z"])], {"q"}, (B,), True, [1]),
        ([connect("b", ["x"], ["y"]), connect("-", ["y"], ["z"])], {"q"}, (A,), False, [0, 1]),
        ([connect("b", ["x"], ["y"])], set(), (), False, [0]),
        ([connect("-", ["x"], ["y"], via="v")], {"v"}, (B,), True, []),
        ([connect("-", ["x", ""], ["y"])], {""}, (B,), False, [0]),
        ([connect("b", ["x"], ["y"], circuit=True), connect("-", ["y"], ["z"])], {"x"}, (B,), False, [1]),
        # what takes all that is left is wired last, and waits for all that wait at its devices
        ([connect("-", ["x"], ["y"], last=True), connect("-", ["y"], ["z"])], set(), (), False, [1, 0]),
        ([connect("-", ["x"], ["y"], last=True), connect("b", ["y"], ["z"])], set(), (B,), True, []),
        ([connect("-", ["x"], ["w"], last=True), connect("b", ["y"], ["z"])], set(), (B,), True, [0]),
        ([connect("-", ["x"], ["y"]), connect("b", ["y"], ["z"])], set(), (B,), True, [0]),
    ],
)
def test_connects_that_wait(
    wires: list[Any], later: set[str], holes: Any, waits: bool, order: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unknowns, "takes_remaining_ports", lambda wire: wire.last)
    plan: Any = SimpleNamespace(wires=wires)
    assert solver().wires(plan, later, holes) == (waits, [(i, wires[i]) for i in order])


def test_a_text_that_rests_on_an_unknown() -> None:
    """Where statements rest on one, or there is no text, any may; without unknowns nothing does."""
    for branching in (False, True):
        s = solver(branching=branching)
        assert [s.rests(text, (A,)) for text in ("a + 1", "c", "")] == [True, branching, True]
        assert [s.rests(text, ()) for text in ("a + 1", "c", "")] == [False] * 3


def test_a_finding_that_another_number_may_remove() -> None:
    s = solver()
    hole = Opening("q", at(5))
    for start, end, inside in ((5, 6, True), (4, 6, True), (5, 5, False), (6, 9, False), (0, 5, False), (0, 26, True)):
        d = Diagnostic("E0110", "m", SourceSpan(FILE, start, end))
        assert s.may_remove(d, (Opening("?", at(5)),)) == (inside or start == end), (start, end)
        labelled = Diagnostic("E0110", "m", at(20), (Label(SourceSpan(FILE, start, end), ""),))
        assert s.may_remove(labelled, (Opening("?", at(5)),)) == inside
    other = Diagnostic("E0110", "m", SourceSpan(SourceFile("y.fab", FILE.text), 0, 4))
    assert not s.may_remove(other, (hole,)) and s.may_remove(replace(other, span=None), (hole,))


@pytest.mark.parametrize(
    ("sets", "later", "largest", "most"),
    [
        ([("x", 4, 10)], set(), 4096, 64), ([("x", 4, 16)], set(), 4096, 64), ([("x", 5, 13)], set(), 4096, 65),
        ([("x", 5, 13), ("y", 70, 0)], set(), 4096, 135), ([("x", 5, 13), ("y", 70, 2)], {"y"}, 4096, 65),
        ([("x", 5, 13), ("y", 70, 2)], set(), 200, 200), ([], set(), 4096, 64), ([], set(), 60, 60),
    ],
)  # fmt: skip
def test_the_largest_number(sets: list[tuple[str, int, int]], later: set[str], largest: int, most: int) -> None:
    plan = SimpleNamespace(sets=[SimpleNamespace(path=p, count=n, model=SimpleNamespace(port_count=k)) for p, n, k in sets])
    assert solver(make=lambda values, found: plan, budget=SizingBudget(largest=largest)).largest(later) == most


def test_work_up_to_the_limit() -> None:
    s = solver(budget=SizingBudget(trial_work=10))
    s.spend(4)
    s.spend(6)
    assert s.work == 10
    with pytest.raises(SearchBudgetSpent):
        s.spend(1)
    assert [sizing_budget_of_seconds(n).trial_work for n in (1, 5, 10, 25)] == [3_000_000, 15_000_000, 30_000_000, 75_000_000]
    assert replace(sizing_budget_of_seconds(25), trial_work=DEFAULT.trial_work) == DEFAULT


# ---------------------------------------------------------------- words


def found(run: Any, *args: Any) -> list[Diagnostic]:
    diagnostics = Diagnostics()
    run(diagnostics, *args)
    return list(diagnostics)


def test_why_nothing_fits() -> None:
    """What is wrong elsewhere, or the values of the last unknown that was refused, least first; at most three at the limit."""
    wrong = Diagnostic("E0452", "short", at(7))
    assert found(solver(foreign=(wrong,)).report) == [wrong]
    refused = {
        0: {"E0110": (9, wrong)},
        1: {f"E{n}": (n, Diagnostic(f"E{n}", f"m{n}", at(n) if n != 3 else None)) for n in (8, 2, 3, 5, 4)},
    }  # fmt: skip
    labels = tuple(Label(at(n), f"{n}: m{n}") for n in (2, 4, 5, 8))
    (d,) = found(solver(refused=refused).report)
    assert (d.code, d.message, d.span, d.labels) == ("E0459", "no number fits `b`", at(1), labels)
    assert d.help == "change a number that the labels name, or allow `spread uneven`"
    (d,) = found(solver(refused=refused, undecided=True, highest=12).report)
    assert (d.code, d.span, d.labels) == ("E0462", at(1), labels[:3])
    limit = "`b` was not decided within the limit: "
    assert d.message == f"{limit}no number up to 12 fits; higher numbers may fit"
    (d,) = found(solver(refused=refused, undecided=True).report)
    assert d.message == f"{limit}none was tried to the end; higher numbers may fit"
    (d,) = found(solver().report)
    assert (d.message, d.span, d.labels) == ("no number fits `a`", at(0), ())


@pytest.mark.parametrize("undecided", [False, True])
@pytest.mark.parametrize("highest", [4095, 4096])
def test_numbers_that_only_the_wiring_fits(undecided: bool, highest: int) -> None:
    failing = [Diagnostic("E0408", "x is less", at(3)), Diagnostic("E0408", "y is less", at(3))]
    s = solver(failing=failing, undecided=undecided, highest=highest)
    first, last = found(s.concede, {A: 3, B: 5})
    words = "the least number that the wiring fits; requirements are not met"
    assert (first.code, first.message, first.span, first.notes) == ("E0461", f"`a` is 3, {words}", at(0), ())
    limit = ", where the limit is reached" if undecided and highest == 4095 else ""
    tried = f"none of the numbers tried, up to {highest}{limit}, is enough: "
    assert (last.message, last.notes) == (f"`b` is 5, {words}", (f"{tried}x is less", f"{tried}y is less"))
    assert first.severity is last.severity is Severity.NOTE


@pytest.mark.parametrize("second", [False, True])
@pytest.mark.parametrize("ranked", [1, 2])
@pytest.mark.parametrize("undecided", [False, True])
def test_the_best_and_the_second_best(second: bool, ranked: int, undecided: bool) -> None:
    asked = Minimize("switches", at(9))
    rows = [(Fraction(7), (3, 4)), (Fraction(9), (4, 5))][:ranked]
    s = solver(weights=Weights(asked, {}, 1, None), second_best=second, ranked=rows, undecided=undecided, unjudged=("r",))
    first, last, *more = found(s.compare, {A: 3, B: 4})
    notes = ["no other numbers fit"] if ranked == 1 else ["the second best is `a` 4, `b` 5: 9 switches against 7 switches"]
    notes = notes if second else []
    notes += ["`r` was not used to choose a number: to check it takes more work than the limit"]
    assert [first.message, last.message] == [
        f"`{n}` is {v}, with the least switches: 7 switches" for n, v in (("a", 3), ("b", 4))
    ]
    assert list(first.notes) == list(last.notes) == notes and (first.span, last.span) == (at(0), at(1))
    said = [(d.code, d.message, d.span, d.notes, d.severity, d.help) for d in more]
    limit = "the limit is reached, and other numbers may need less"
    least = ("the best that was found: 7 switches",)
    assert said == ([("E0462", limit, at(9), least, Severity.WARNING, "raise it with `--solve-seconds`")] if undecided else [])


@pytest.mark.parametrize(("figure", "what"), [("cost", "price"), ("power", "power")])
@pytest.mark.parametrize(
    ("known", "missing", "judged", "left"),
    [(True, {0, 2}, False, False), (True, {2}, True, False), (False, {0, 2}, True, True), (False, {0}, True, False)],
)
def test_parts_without_the_figure(figure: str, what: str, known: bool, missing: set[int], judged: bool, left: bool) -> None:
    weights = Weights(Minimize(figure, at(9)), {}, 1, None)
    s = solver(weights=weights, ranked=[(Fraction(7), (3, 4))], parts=CablePartFigures(known, missing))
    said = found(s.compare, {A: 3})
    if judged:
        assert said[0].message == f"`a` is 3, with the least {figure}: 7 {figure}" + (", of devices alone" if left else "")
        return
    assert [(d.code, d.span, d.message, d.help) for d in said] == [
        (
            "E0463", at(9), f"some cables or transceivers say no `{what}`, and not equally many for all numbers",
            "name parts that state it, `cable PART` and `optic A, B`, or minimize `switches`",
        )
    ]  # fmt: skip


def test_figures_of_parts() -> None:
    parts = CablePartFigures()
    parts.add(Fraction(0), 2)
    assert (parts.known, parts.missing, parts.incomparable, parts.left_out) == (False, {2}, False, True)
    parts.add(Fraction(1, 2), 2)
    assert (parts.known, parts.incomparable, parts.left_out) == (True, False, False)
    parts.add(Fraction(0), 3)
    assert (parts.known, parts.incomparable, parts.left_out) == (True, True, False)


# ---------------------------------------------------------------- the judge


def judged(verdicts: list[TrialVerdict], **more: Any) -> tuple[Solver, list[bool | None]]:
    """The answers for numbers 1, 2, … of one unknown that get these verdicts; None where the work is spent."""
    given = iter(verdicts)
    s = solver(openings=(A,), make=lambda values, found: SimpleNamespace(broken=True), judge=lambda p, left: next(given), **more)
    out: list[bool | None] = []
    for n in range(len(verdicts)):
        s.give(A, n + 1)
        try:
            out.append(s.judged())
        except SearchBudgetSpent:
            out.append(None)
    return s, out


def bad(message: str, work: int = 1, **more: Any) -> TrialVerdict:
    return TrialVerdict(work, [Diagnostic("E0408", message, at(2))], **more)


def test_verdicts_in_a_row() -> None:
    """The first numbers that fail, better ones with all that is counted; equal refusals are counted."""
    s, out = judged([bad("x"), bad("x"), bad("y"), TrialVerdict(1, [])])
    assert out == [False, False, False, True]
    assert (s.fitting, [d.message for d in s.failing], s.judged_last, s.unmet_equal) == ((1,), ["x"], 4, 1)
    assert s.work == 4 + 3 * 3000 and s.refused[0]["E0408"][0] == 3
    s, out = judged([bad("x"), bad("x"), bad("x")])
    assert s.unmet_equal == 3 and s.unjudged == ()
    s, _ = judged([bad("x", counted=False), bad("y", counted=False), bad("z"), bad("w")])
    assert (s.fitting, [d.message for d in s.failing], s.counted) == ((3,), ["z"], True)
    s, out = judged([bad("x"), TrialVerdict(1, [], unjudged=("r",))])
    assert out == [False, None]  # what nobody knows is no better than what was judged
    s, out = judged([TrialVerdict(1, [], unjudged=("r",))])
    assert out == [True] and s.unjudged == ("r",)
    s, out = judged([TrialVerdict(1, [], unjudged=("r",))], ranked=[(Fraction(1), (1,))])
    assert out == [None]


class Ranking(Solver):
    """A search whose figures are the squares of the distance of the number from 5; even numbers are judged badly."""

    def total(self, by: Weights) -> Fraction:
        return Fraction((self.values[A.span] - 5) ** 2)

    def judged(self) -> bool:
        self.work += 1
        return self.values[A.span] % 2 == 1


@pytest.mark.parametrize(
    ("second", "numbers", "ranked", "judged"),
    [
        (False, (1, 2, 3, 4, 5, 7), [(0, 5)], 5), (False, (3, 7), [(4, 3)], 1), (True, (3, 7), [(4, 3), (4, 7)], 2),
        (True, (1, 3, 5, 7, 9), [(0, 5), (4, 3)], 3), (True, (9, 5, 3, 7), [(0, 5), (4, 3)], 3), (False, (2, 4), [], 2),
        (True, (5, 9, 3, 7), [(0, 5), (4, 3)], 3),
    ],
)  # fmt: skip
def test_the_numbers_that_are_ranked(second: bool, numbers: Sequence[int], ranked: list[tuple[int, int]], judged: int) -> None:
    """The best, or the two best; what is no better is not judged, and the search goes on."""
    weights = Weights(Minimize("switches", at(9)), {}, 1, None)
    names: Any = None
    s = Ranking(names, (A,), False, names, names, 9, second_best=second, weights=weights)
    for n in numbers:
        s.give(A, n)
        assert s.settled() is False
    assert (s.ranked, s.work) == ([(Fraction(total), (n,)) for total, n in ranked], judged)
    s.weights = None
    s.give(A, 7)
    assert s.settled() is True
    s.give(A, 8)
    assert s.settled() is False


def judge(
    monkeypatch: pytest.MonkeyPatch, claims: list[tuple[str, str, bool]], size: int, limit: int
) -> tuple[TrialVerdict, list[str]]:
    """The verdict on claims (metric, text, whether it holds), and which were judged."""
    made = [SimpleNamespace(metric=m, text=t, holds=h, report=False) for m, t, h in claims]
    asked: list[str] = []

    def unmet(fabric: Any, some: Any) -> Any:
        for c in some:
            asked.append(c.text)
            yield [] if c.holds else [Diagnostic("E0408", c.text, at(2))]

    fabric = SimpleNamespace(device_count=size - 1, link_a=[0])
    monkeypatch.setattr(required, "elaborate_fabric", lambda plan, own, most: fabric)
    monkeypatch.setattr(required, "resolve_claims", lambda plan, fabric, own: [*made, SimpleNamespace(report=True)])
    monkeypatch.setattr(required, "findings_of_unmet_claims", unmet)
    plan: Any = SimpleNamespace(requires=[SimpleNamespace(node=SimpleNamespace(report=False))], wires=[])
    return required.judge_trial_plan(9, plan, limit), asked


def test_what_is_judged_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """To count costs 5 a device and link; each other claim 60, and what does not fit into the limit stays open."""
    claims = [("a", "one", True), ("links", "n", True), ("b", "two", True), ("b", "two", True), ("c", "three", True)]
    for limit, within in ((5, 0), (649, 0), (650, 1), (1249, 1), (1250, 2), (1849, 2), (1850, 3), (9999, 3)):
        verdict, asked = judge(monkeypatch, claims, 10, limit)
        texts = ["one", "two", "three"]
        assert dict.fromkeys(asked) == dict.fromkeys(["n", *texts[:within]])
        assert (verdict.work, list(verdict.found), verdict.counted) == (50 + 600 * within, [], True)
        assert verdict.unjudged == tuple(texts[within:])
    verdict, asked = judge(monkeypatch, [("a", "one", False), *claims[1:]], 10, 1250)
    assert asked[:2] == ["n", "one"] and [d.message for d in verdict.found] == ["one"]
    assert (verdict.work, verdict.counted, verdict.unjudged) == (650, True, ())
    verdict, asked = judge(monkeypatch, [*claims, ("ports", "p", False)], 10, 9999)
    assert asked == ["n", "p"] and [d.message for d in verdict.found] == ["p"]
    assert (verdict.work, verdict.counted, verdict.unjudged) == (50, False, ())
    nothing: Any = SimpleNamespace(requires=[SimpleNamespace(node=SimpleNamespace(report=True))], wires=[])
    assert required.judge_trial_plan(9, nothing, 5) == TrialVerdict(0, [])
    nothing.wires = [SimpleNamespace(node=SimpleNamespace(circuit=False))]
    assert required.judge_trial_plan(9, nothing, 5) == TrialVerdict(0, [])
    nothing.wires = [SimpleNamespace(node=SimpleNamespace(circuit=False)), SimpleNamespace(node=SimpleNamespace(circuit=True))]
    assert required.judge_trial_plan(9, nothing, 5).work == 50
    nothing.wires, nothing.requires = [], [SimpleNamespace(node=SimpleNamespace(report=r)) for r in (True, False)]
    assert required.judge_trial_plan(9, nothing, 5).work == 50


# ---------------------------------------------------------------- refusals for every value


def spread(near: Sequence[str], far: Sequence[str], text: str = "", pattern: str = "spread", guard: str = "") -> Any:
    """A connect whose near ends are at the places 0, 1, …; the sets of devices are declared at their letters."""

    def ends(paths: Sequence[str]) -> list[Any]:
        return [
            SimpleNamespace(
                device=SimpleNamespace(path=p, origin=SimpleNamespace(span=at(ord(p) - 97))) if p else None, span=at(i)
            )
            for i, p in enumerate(paths)
        ]

    def said(text: str) -> Any:
        return SimpleNamespace(span=SimpleNamespace(text=text))

    name = SimpleNamespace(name=pattern) if pattern else None
    node = SimpleNamespace(
        pattern=SimpleNamespace(name=name, span=SimpleNamespace(text=f"{pattern} {text}")) if pattern else None,
        a=[said(p) for p in near], b=[said(p) for p in far], guard=said(guard) if guard else None,
        span=SimpleNamespace(text=text),
    )  # fmt: skip
    return SimpleNamespace(node=node, a=ends(near), b=ends(far), last=False)


@pytest.mark.parametrize(
    ("code", "wire", "before", "short", "varying", "every"),
    [
        ("E0452", spread("x", "y"), [], "x", {"y"}, True),
        ("E0451", spread("x", "y"), [], "x", {"y"}, False),
        ("E0452", spread("x", "y", pattern="each"), [], "x", {"y"}, False),
        ("E0452", spread("x", "y", pattern=""), [], "x", {"y"}, False),
        ("E0452", spread("x", "y", "?"), [], "x", {"y"}, False),
        ("E0452", spread("x", "y", guard="i > ?"), [], "x", {"y"}, False),
        ("E0452", spread("x", "y", guard="i > 0"), [], "x", {"y"}, True),
        ("E0452", spread("x", "y"), [], "y", {"y"}, False),
        ("E0452", spread("x", "y"), [], "x", {"x"}, False),
        ("E0452", spread("x", "y"), [spread("x", "z")], "x", {"y"}, True),
        ("E0452", spread("x", "y"), [spread("x", "z")], "x", {"y", "z"}, False),
        ("E0452", spread("x", "y"), [spread("z", "x", "?")], "x", {"y"}, False),
        ("E0452", spread("x", "y"), [spread("z", "w", "?")], "x", {"y"}, True),
        ("E0452", spread("x", "y"), [spread("z", "w", "?"), spread("w", "x", "?")], "x", {"y"}, False),
        ("E0452", spread(["x", "w"], "y"), [], "x", {"y"}, True),
        ("E0452", spread(["x", "w"], "y"), [], "w", {"y"}, False),  # the finding is at the first place
        ("E0452", spread(["", "w"], "y"), [], "w", {"y"}, False),
        ("E0452", spread(["x", "w"], "y"), [spread("w", "z", "?")], "x", {"y"}, True),
    ],
)  # fmt: skip
def test_a_refusal_that_holds_for_every_value(
    code: str, wire: Any, before: list[Any], short: str, varying: set[str], every: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(independent, "takes_remaining_ports", lambda wire: wire.last)
    d = Diagnostic(code, "m", at(0), (Label(at(ord(short) - 97), ""),))
    assert independent.fails_for_every_value(d, wire, before, varying, lambda text: "?" in text) == every
    wire.last = True
    assert not independent.fails_for_every_value(d, wire, before, varying, lambda text: "?" in text)
    wire.last = False
