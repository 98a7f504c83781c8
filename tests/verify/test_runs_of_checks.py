"""What a run judges, in which order, and what it reports: with checks made for the tests, so that every answer is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.claims import FabricElement
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.view import View
from tdsl.semantics.quantity import NONE
from tdsl.verify import compare, runner
from tdsl.verify.check import Judgement, PropertyFault, exactly, property_fails, property_holds, skipped
from tdsl.verify.runner import findings_of_unmet_claims, judge_requirements, judge_requirements_stepwise
from tests.fabrics import Selector, claim, selector, superpod

POD = superpod(units=2, nodes=2, rails=2, spines=2, radix=8, uplinks=2, manager=False, omit_last=False).build()
LINES = SourceFile("lines.fab", "one\ntwo\nsix\n")
ONE, TWO, SIX = (Origin(SourceSpan(LINES, 4 * i, 4 * i + 3)) for i in range(3))


def made(name: str, code: str, answer: Any = None, **facts: Any) -> Any:
    """A check with these facts; ``answer`` is a judgement, or made of a view and a requirement."""
    plain: dict[str, Any] = {
        "name": name, "code": code, "cost": 1, "kind": "number", "unit": "things", "dim": NONE, "fails_by_default": False,
        "mild": False, "in_rates": False, "together": "",
        "on_demand": False, "of_network": True, "of_design": False, "monotone": False, "scarce": False, "reads_of": False,
        "of_ends": False, "of_ports": False, "joins": False, "example": f"{name} <= 4", "words": frozenset(),
        "needs": frozenset(), "takes": frozenset({"of", "to", "at", "args"}), "after_failures": False,
        "applies_to": lambda f: True, "asked": [],
    }  # fmt: skip
    check = SimpleNamespace(**(plain | facts))

    def judge(view: View, asked: Any) -> Judgement:
        check.asked.append(view.name)
        return answer(view, asked) if callable(answer) else answer or exactly(3, "three")

    check.judge = judge
    return check


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Checks in the place of the catalogue's."""

    def use(*checks: Any) -> None:
        table = {c.name: c for c in checks}
        monkeypatch.setattr(runner, "checks_by_name", lambda: table)
        monkeypatch.setattr(compare, "checks_by_name", lambda: table)

    return use


def asked(metric: str, op: str = "<=", value: object = 4, fabric: Any = POD, **given: Any) -> Any:
    return claim(fabric, metric, op, value, **given)


def judged(*claims: Any, fabric: Any = POD, **given: Any) -> tuple[list[Any], list[Diagnostic]]:
    diagnostics = Diagnostics()
    return judge_requirements(fabric, claims, diagnostics, **given), list(diagnostics)


def test_order_and_names_of_what_is_judged(known: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails by default before a claim of the same cost, the claims by their cost, then the rest; each figure once."""
    order: list[str] = []
    phases: list[tuple[Any, ...]] = []
    monkeypatch.setattr(runner.progress, "phase", lambda *words: phases.append(words))

    def seen(name: str) -> Callable[..., Judgement]:
        return lambda view, asked: order.append(name) or exactly(3, "three")  # type: ignore[func-returns-value]

    known(
        made("a", "E0401", seen("a"), cost=3, fails_by_default=True), made("b", "E0402", seen("b"), cost=0),
        made("c", "E0403", seen("c"), cost=2, fails_by_default=True), made("d", "E0404", seen("d"), cost=2, on_demand=True),
        made("e", "E0405", seen("e"), cost=0, fails_by_default=True, applies_to=lambda f: False),
        made("g", "E0406", seen("g"), cost=1, on_demand=True, takes=frozenset({"any"})), made("h", "E0407", seen("h"), cost=1),
    )  # fmt: skip
    results, findings = judged(asked("c"), asked("d"), asked("g", any_count=1), asked("zzz"), asked("d", op=""))
    assert [words[0] for words in phases] == [
        "check zzz", "check d", "check c", "check c", "check d", "check g", "check a", "check b", "check h", "check a",
    ]  # fmt: skip
    assert [words[1:] for words in phases] == [(10, "checks", i) for i in range(10)]
    assert order == ["c", "d", "g", "a", "b", "h"]
    assert [r.check for r in results] == ["c", "d", "g", "zzz", "d", "a", "b", "h"]
    assert [r.requirement for r in results][:3] == ["c <= 4", "d <= 4", "g <= 4"]
    assert [d.code for d in findings] == ["E0490", "E0492"]


def test_what_is_selected_and_ignored(known: Any) -> None:
    known(made("a", "E0401", fails_by_default=True), made("b", "E0402"), made("d", "E0404", on_demand=True))
    claims = [asked("a"), asked("d")]

    def names(**given: Any) -> list[str]:
        return [r.check for r in judged(*claims, **given)[0]]

    assert names() == ["a", "d", "b"]
    for words, expected in {
        ("a",): ["a"], ("E0401",): ["a"], ("b",): ["b"], ("d", "E0402"): ["d", "b"], ("zzz",): [],
    }.items():  # fmt: skip
        if expected:
            assert names(select=words) == expected
        assert names(ignore=words) == [x for x in ["a", "d", "b"] if x not in expected]
    assert names(select=("a", "b"), ignore=("E0402",)) == ["a"]


def test_results_that_are_there_after_each_step(known: Any) -> None:
    known(
        made("a", "E0402", property_fails("bad", (PropertyFault(ONE, "bad"),)), cost=0, fails_by_default=True, kind="yes_no"),
        made("b", "E0401", exactly(9, "nine"), cost=1), made("c", "E0403", exactly(9, "nine"), cost=3),
    )  # fmt: skip
    diagnostics = Diagnostics()
    diagnostics.add("E0101", TWO, "before")
    seen = [
        ([r.check for r in results], [d.code for d in diagnostics])
        for results in judge_requirements_stepwise(POD, [asked("c", value=5), asked("b")], diagnostics)
    ]
    assert seen == [
        ([], ["E0101", "E0402"]),
        (["b"], ["E0101", "E0402", "E0401"]),
        (["c", "b"], ["E0101", "E0402", "E0401", "E0403"]),
        (["c", "b", "a"], ["E0101", "E0402", "E0403", "E0401"]),
    ]


def test_faults_that_another_check_reports(known: Any) -> None:
    """Not a second time where that check runs; a warning blames nobody."""
    faults = (
        PropertyFault(ONE, "first", 3, ((TWO.span, "see"),), ("note",), "help"), PropertyFault(TWO, "second", unless="b"),
        PropertyFault(SIX, "third", severity=Severity.WARNING),
    )  # fmt: skip
    known(made("a", "E0401", property_fails("bad", faults), fails_by_default=True, kind="yes_no"), made("b", "E0402"))
    _, findings = judged()
    assert [(d.code, d.message, d.count, d.severity) for d in findings] == [
        ("E0401", "first", 3, Severity.ERROR), ("E0401", "third", 1, Severity.WARNING),
    ]  # fmt: skip
    assert [(x.span, x.message) for x in findings[0].labels] == [(TWO.span, "see")]
    assert (findings[0].notes, findings[0].help) == (("note",), "help")
    assert [d.message for d in judged(ignore=("b",))[1]] == ["first", "second", "third"]
    assert [d.message for d in judged(ignore=("E0402",))[1]] == ["first", "second", "third"]
    # a claim of it says nothing more where all is reported where it was caused, and not where the other check alone does so
    assert [d.message for d in judged(asked("a", op=""))[1]] == ["first", "third", "`a` does not hold: second"]
    assert [d.message for d in judged(asked("a", op=""), ignore=("b",))[1]] == ["first", "second", "third"]
    known(made("a", "E0401", property_fails("bad", faults[2:]), fails_by_default=True, kind="yes_no"))
    assert [d.message for d in judged(asked("a", op=""))[1]] == ["third", "`a` does not hold: third"]


@pytest.mark.parametrize(
    ("kind", "answer", "text"),
    [
        ("number", exactly(3, "three"), None),
        ("number", Judgement("modelled", "three", 3, 3, 3), None),
        ("number", exactly(5, "five"), "`a <= 4` does not hold: five"),
        ("number", Judgement("bounded", "some", 3, 3, 5), "`a <= 4` is not proved: some"),
        ("number", Judgement("refuted", reason="why"), "`a <= 4` does not hold: why"),
        ("number", skipped("why"), "`a <= 4` cannot be judged: why"),
        ("number", skipped("the wiring has errors"), None),
        ("number", Judgement("skipped", reason="why", faults=(PropertyFault(ONE, "bad"),)), "`a <= 4` does not hold: why"),
        ("yes_no", property_fails("wrong", ()), "`a` does not hold: wrong"),
        ("yes_no", property_fails("wrong", (PropertyFault(None, "bad"),)), "`a` does not hold: bad"),
        ("yes_no", skipped("why"), "`a` cannot be judged: why"),
        ("yes_no", property_holds("good"), None),
    ],
)
def test_words_of_what_is_not_met(known: Any, kind: str, answer: Judgement, text: str | None) -> None:
    known(made("a", "E0401", answer, kind=kind))
    op = "" if kind == "yes_no" else "<="
    _, findings = judged(asked("a", op=op))
    assert [(d.code, d.message) for d in findings] == ([] if text is None else [("E0401", text)])
    assert judged(asked("a", op=op, report=True))[1] == []
    assert [len(x) for x in findings_of_unmet_claims(POD, [asked("a", op=op), asked("zzz"), asked("a", op="", under="x")])] == [
        int(text is not None and "is not proved" not in text), 0, 0,
    ]  # fmt: skip


def test_places_and_advice_of_what_is_not_met(known: Any) -> None:
    fault = PropertyFault(TWO, "bad", 2, ((SIX.span, "also"),), ("note",), "help")
    known(made("a", "E0401", property_fails("wrong", (fault, PropertyFault(ONE, "other"))), kind="yes_no"))
    chained = Origin(ONE.span, ((SIX.span, "called here"),))
    failed = SimpleNamespace(
        names=("sw[0]", "sw[1]"),
        devices=np.zeros(POD.device_count, dtype=np.bool_),
        links=np.zeros(POD.link_count, dtype=np.bool_),
    )
    scope = FabricElement("su[1]", np.arange(2))
    (found,) = judged(asked("a", op="", origin=chained, scope=scope), failed=failed)[1]
    assert (found.code, found.message, found.span) == ("E0401", "`a` does not hold: bad (in su[1])", ONE.span)
    assert [(x.span, x.message) for x in found.labels] == [
        (TWO.span, "what it is about"), (SIX.span, "also"), (SIX.span, "called here"),
    ]  # fmt: skip
    assert (found.notes, found.help, found.count) == (("note", "after the failure of sw[0] and sw[1]"), "help", 1)
    figure = Judgement("bounded", "some", 3, 3, 5, labels=((TWO.span, "there"),), notes=("n",), help="add")
    known(made("b", "E0402", figure))
    again = [asked("b", origin=ONE) for _ in range(3)]
    (found,) = judged(*again)[1]
    assert (found.count, found.notes, found.help) == (3, ("n",), "add")
    assert [(x.span, x.message) for x in found.labels] == [(TWO.span, "there")]
    assert [d.count for d in judged(asked("b", origin=ONE), asked("b", origin=TWO), asked("b", origin=ONE, value=3))[1]] == [
        1,
        1,
        1,
    ]


def test_requirements_are_proved_wrong_one_by_one(known: Any) -> None:
    known(made("a", "E0401", exactly(5, "five")))
    claims = [asked("a", origin=ONE), asked("a", value=9, origin=TWO), asked("a", op=">", value=7, origin=SIX)]
    assert [[d.message for d in found] for found in findings_of_unmet_claims(POD, claims)] == [
        ["`a <= 4` does not hold: five"], [], ["`a > 7` does not hold: five"],
    ]  # fmt: skip


def test_what_is_known_is_not_judged_again(known: Any) -> None:
    """Neither figures nor requirements with clauses, but for what failures leave, and places that will not be known."""
    check = made("a", "E0401", lambda view, asked: exactly(3, "three", {"at": view.name}))
    known(check)
    of = asked("a", of=(selector(POD, "su"),), origin=ONE)
    fail = SimpleNamespace(
        names=("x",), devices=np.zeros(POD.device_count, dtype=np.bool_), links=np.zeros(POD.link_count, dtype=np.bool_)
    )

    def times(kept: Any, **given: Any) -> int:
        check.asked.clear()
        for results in judge_requirements_stepwise(POD, [of], Diagnostics(), known=kept, **given):
            last = results
        assert [r.value for r in last] == [3, 3]
        return len(check.asked)

    kept = runner.KnownJudgements(lambda span: True)
    assert [times(kept), times(kept), times(kept, failed=fail), times(kept), times(None)] == [3, 0, 3, 0, 3]
    assert set(kept.plain) == {"a"} and set(kept.claims) == {runner._digest_of_claim(of)}
    placed = replace(exactly(3, "three"), labels=((TWO.span, "there"),))
    check = made("a", "E0401", placed)
    known(check)
    kept = runner.KnownJudgements(lambda span: span != TWO.span)
    assert [times(kept), times(kept)] == [3, 2]


def test_findings_are_in_the_order_of_the_text(known: Any) -> None:
    known(made("a", "E0402", exactly(9, "nine"), cost=3), made("b", "E0401", exactly(9, "nine"), cost=0))
    claims = [asked("a", origin=ONE), asked("b", origin=TWO), asked("a", origin=SIX)]
    assert [d.code for d in judged(*claims)[1]] == ["E0402", "E0401", "E0402"]


def test_metrics_that_no_check_has(known: Any) -> None:
    known(made("a", "E0401"))
    results, findings = judged(
        asked("deadlock_free", op=""), asked("zzz", report=True), asked("deadlock_free", op="", origin=TWO, report=True)
    )
    assert [(r.status, r.reason, r.report) for r in results[:3]] == [
        ("skipped", "this metric is not available", False), ("skipped", "there is no such metric", True),
        ("skipped", "this metric is not available", True),
    ]  # fmt: skip
    assert [(d.code, d.severity) for d in findings] == [
        ("E0491", Severity.ERROR), ("E0490", Severity.ERROR), ("E0491", Severity.WARNING),
    ]  # fmt: skip
    (result, *_), (finding,) = judged(asked("a", op="", under="x"))
    assert (result.check, result.unit, result.status, result.reason) == ("a", "things", "skipped", "`a` takes no `under`")
    assert (finding.code, finding.message, finding.help) == (
        "E0492",
        "`a` takes no `under`",
        "it takes `argument`, `at`, `of`, `to`",
    )


@pytest.mark.parametrize("monotone", [True, False])
@pytest.mark.parametrize(
    "answer", [property_holds("good"), property_fails("bad", (PropertyFault(ONE, "bad"),)), exactly(3, "three")]
)
def test_wiring_that_is_not_complete(known: Any, monotone: bool, answer: Judgement) -> None:
    known(made("a", "E0401", answer, kind="yes_no", fails_by_default=True, monotone=monotone))
    (result,), findings = judged(fabric=replace(POD, complete=False))
    if monotone and answer.status == "refuted":
        assert (result.status, [d.message for d in findings]) == ("refuted", ["bad"])
    else:
        assert (result.status, result.reason, findings) == ("skipped", "the wiring has errors", [])


# ---------------------------------------------------------------- elements


def test_the_worst_element_speaks(known: Any) -> None:
    figures = {"su[0]": 2, "su[1]": 7}

    def answer(view: View, asked: Any) -> Judgement:
        return exactly(figures.get(view.name, 4), f"{view.name or 'whole'}!", {"at": view.name})

    known(made("a", "E0401", answer))
    (result, *_), _ = judged(asked("a", of=(selector(POD, "su"),)))
    assert (result.value, result.text, result.witness) == (7, "su[1]! in su[1]", {"of": "su[1]", "at": "su[1]"})
    assert judged(asked("a", op=">=", value=1, of=(selector(POD, "su"),)))[0][0].value == 2
    for given in ({"of_to": (selector(POD, "spine"),)}, {"at": (selector(POD, "spine"),)}, {"args": (1,)}):
        extra = {"of": (selector(POD, "su"),)} if "of_to" in given else {}
        assert judged(asked("a", **given, **extra))[0][0].text == "whole!"
    scope = FabricElement("su[1]", selector(POD, "su").elements[1].devices)
    assert judged(asked("a", scope=scope))[0][0].value == 7
    known(made("a", "E0401", answer, reads_of=True))
    assert judged(asked("a", of=(selector(POD, "su"),)))[0][0].text == "whole!"
    nothing = replace(POD, built=np.zeros(POD.device_count, dtype=np.bool_))
    known(made("a", "E0401", answer))
    assert judged(asked("a", of=(selector(POD, "su"),)), fabric=nothing)[0][0].reason == "nothing that it names is built"
    known(made("a", "E0401", Judgement("proved", "", 3, 3, 3)))
    assert judged(asked("a", of=(selector(POD, "su"),)))[0][0].text == ""


def test_endpoints_that_are_judged_alone(known: Any) -> None:
    node, leaf = selector(POD, "su.node"), selector(POD, "su.leaf")
    alone = f"each is judged alone, and one has nothing to reach: write `of all {node.text}` for the set"
    for of, ends, reason in (((node,), True, alone), ((node,), False, "why"), ((node, leaf), True, "why")):
        known(made("a", "E0401", skipped("why"), of_ends=ends))
        assert judged(asked("a", of=of))[0][0].reason == reason
    known(made("a", "E0401", lambda v, c: skipped("why") if v.name.endswith("node[0]") else exactly(3, "three"), of_ends=True))
    assert judged(asked("a", of=(node,)))[0][0].reason == "why"


def test_a_set_of_endpoints(known: Any) -> None:
    seen: list[Any] = []

    def answer(view: View, asked: Any) -> Judgement:
        seen.append((view.units.tolist(), asked.of, asked.of_all))
        return exactly(3, "three", {"more": 1})

    known(made("a", "E0401", answer, of_ends=True, on_demand=True))
    two = replace(selector(POD, "su.node"), elements=selector(POD, "su.node").elements[1:3])
    (result, *_), _ = judged(asked("a", of=(two,), of_all=True))
    rows = [int(e.devices[0]) for e in two.elements]
    assert seen[0] == (rows, (), False)
    assert (result.text, result.witness) == (f"three among {two.text}", {"of": [two.text], "more": 1})
    spine = selector(POD, "spine")
    assert judged(asked("a", of=(spine,), of_all=True))[0][0].reason == "it names no hosts or chips"
    gone = replace(POD, built=POD.built & (np.arange(POD.device_count) != rows[0]) & (np.arange(POD.device_count) != rows[1]))
    assert judged(asked("a", of=(two,), of_all=True), fabric=gone)[0][0].reason == "nothing that it names is built"
    known(made("a", "E0401", Judgement("proved", "", 3, 3, 3), of_ends=True))
    assert judged(asked("a", of=(two,), of_all=True))[0][0].text == ""


def test_what_is_left_after_failures(known: Any) -> None:
    """A check of the design sees all of it, any other what is left; what failed is not named alone any more."""
    devices = np.zeros(POD.device_count, dtype=np.bool_)
    spine = selector(POD, "spine")
    devices[spine.elements[0].devices] = True
    failed = SimpleNamespace(names=("spine[0]",), devices=devices, links=np.zeros(POD.link_count, dtype=np.bool_))

    def answer(view: View, asked: Any) -> Judgement:
        return exactly(int(view.devices.sum()), "count")

    for of_design, whole, each in ((False, POD.device_count - 1, 1), (True, POD.device_count, 2)):
        check = made("a", "E0401", answer, of_design=of_design, of_network=not of_design)
        known(check)
        assert judged(failed=failed)[0][0].value == whole
        check.asked.clear()
        judged(asked("a", of=(spine,)), failed=failed)
        assert len([name for name in check.asked if name]) == each


# ---------------------------------------------------------------- requirements that are the same


def test_digests_tell_requirements_apart() -> None:
    """All that a requirement says but its place in the file."""
    leaf, spine = selector(POD, "su.leaf"), selector(POD, "spine")
    base = asked("a", origin=ONE)
    given = asked("b", origin=ONE)
    other = SourceFile("other.fab", LINES.text)
    different = [
        base, replace(base, metric="b"), replace(base, op=">="), replace(base, value=5), replace(base, value=Fraction(9, 2)),
        replace(base, args=(1,)), replace(base, args=("1",)), replace(base, args=(1, 2)), replace(base, of=(leaf,)),
        replace(base, of=(spine,)), replace(base, of_to=(leaf,)), replace(base, at=(leaf,)), replace(base, of=(leaf, spine)),
        replace(base, of=(leaf,), of_to=(spine,)), replace(base, of=(replace(leaf, text="x"),)),
        replace(base, of=(replace(leaf, elements=leaf.elements[1:]),)), replace(base, of=(replace(leaf, kind="host"),)),
        replace(base, of=(replace(leaf, elements=(replace(leaf.elements[0], copies=2), *leaf.elements[1:])),)),
        replace(base, of=(replace(leaf, elements=(replace(leaf.elements[0], name="y"), *leaf.elements[1:])),)),
        replace(base, of=(replace(leaf, elements=(replace(leaf.elements[0], links=np.arange(2)), *leaf.elements[1:])),)),
        replace(base, given=given), replace(base, given=replace(given, value=9)), replace(base, any_count=1),
        replace(base, any_of="links"), replace(base, under="x"), replace(base, through="scaleup"), replace(base, of_intact=True),
        replace(base, scope=leaf.elements[0]), replace(base, scope=leaf.elements[1]), replace(base, report=True),
        replace(base, origin=Origin(SourceSpan(other, 0, 3))),
    ]  # fmt: skip
    digests = [runner._digest_of_claim(c) for c in different]
    assert len(set(digests)) == len(digests)
    assert runner._digest_of_claim(replace(base, origin=SIX)) == digests[0]
    assert runner._digest_of_claim(replace(base, given=replace(given, origin=SIX))) == runner._digest_of_claim(
        replace(base, given=given)
    )


def test_requirements_without_clauses() -> None:
    leaf = (selector(POD, "su.leaf"),)
    base = asked("a")
    assert runner._is_whole_fabric_claim(base) and runner._is_whole_fabric_claim(replace(base, op="", value=None, report=True))
    for facts in (
        {"args": (1,)}, {"of": leaf}, {"of_to": leaf}, {"at": leaf}, {"under": "x"}, {"through": "scaleup"}, {"given": base},
        {"scope": leaf[0].elements[0]}, {"any_count": 0}, {"any_count": 2}, {"of_intact": True}, {"of_active": True},
        {"share_of": "network"}, {"of": (Selector("ports", "ports", ()),)},
    ):  # fmt: skip
        assert not runner._is_whole_fabric_claim(replace(base, **facts)), facts  # type: ignore[arg-type]


def test_results_of_judgements(known: Any) -> None:
    """A figure is exact where both bounds are one and no model gave it."""
    for answer, exact in (
        (exactly(3, "three"), True), (Judgement("bounded", "x", 3, 3, 4), False), (Judgement("modelled", "x", 3, 3, 3), False),
        (property_holds("good"), False),
    ):  # fmt: skip
        known(made("a", "E0401", replace(answer, measures={"lower_bps": 1}, ratio=(1, 2), link_class="up", reason="r")))
        (plain,), _ = judged()
        assert (plain.exact, plain.value, plain.lower, plain.upper) == (exact, answer.value, answer.lower, answer.upper)
        assert (plain.check, plain.unit, plain.requirement, plain.origin, plain.report) == ("a", "things", None, None, False)
        assert (plain.measures, plain.ratio, plain.link_class, plain.reason) == ({"lower_bps": 1}, (1, 2), "up", "r")
    known(made("a", "E0401", takes=frozenset({"share"}), kind="quantity"))
    scope = FabricElement("su[1]", np.arange(2))
    shares = asked("a", value=Fraction(1, 2), share_of="network", origin=TWO, scope=scope)
    (result, *_), _ = judged(shares)
    assert (result.unit, result.requirement, result.origin, result.scope) == ("fraction", "a <= 1/2", TWO, "su[1]")


def test_places_of_a_judgement() -> None:
    faults = (
        PropertyFault(Origin(ONE.span, ((SIX.span, "called"),)), "bad", labels=((TWO.span, "see"),)),
        PropertyFault(None, "bad", labels=((ONE.span, "see"),)),
    )
    found = Judgement("refuted", labels=((SIX.span, "there"),), faults=faults)
    assert list(runner.places_of_judgement(found)) == [SIX.span, TWO.span, ONE.span, SIX.span, ONE.span]
