"""Verdicts of the second opinion on results that are right, wrong or left open, and failures by a second method."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.quantity import SIZE, Quantity
from tdsl.verify.result import Result
from tdsl.verify.runner import judge_requirements
from tdsl.verify.second.answer import Limits, MethodTooLarge, NoOpinion, SecondAnswer
from tdsl.verify.second.failures import survival_by_second_method
from tdsl.verify.second.halves import confirm_bisection_by_z3
from tdsl.verify.second.judge import Opinion, SecondOpinionJudge, results_with_claims
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import Builder, claim, rail_only, random_fabric, selector, torus


def leaves(count: int = 2, trunk: int = 1, complete: bool = True) -> Builder:
    """A chain of leaves with two hosts each, and ``trunk`` links between neighbours."""
    b = Builder("leaves", complete=complete)
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), 2 * count)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 16}), count)
    for n in range(2 * count):
        b.link(b.port(host, n), b.free(leaf, n // 2))
    for n in range(count - 1):
        for _ in range(trunk):
            b.link(b.free(leaf, n), b.free(leaf, n + 1))
    return b


def result(fabric: Fabric, asked: Any) -> Result:
    """What the checks say of a requirement."""
    return next(r for r, c in results_with_claims([asked], judge_requirements(fabric, [asked], Diagnostics())) if c is asked)


def opinion(fabric: Fabric, asked: Any, limits: Limits | None = None, **changed: Any) -> Opinion | None:
    """The second opinion about a result of which some facts are exchanged."""
    return SecondOpinionJudge(fabric, limits=limits).opinion(replace(result(fabric, asked), **changed), asked)


SAME = "the figure is the same, but not whether it satisfies the requirement"


@pytest.mark.parametrize(
    ("op", "value", "changed", "verdict", "reason"),
    [
        # The diameter of two joined leaves is 1.
        ("<=", 1, {}, "confirmed", ""),
        ("<=", 0, {}, "confirmed", ""),
        (">=", 1, {}, "confirmed", ""),
        ("==", 1, {}, "confirmed", ""),
        ("!=", 1, {}, "confirmed", ""),
        ("<=", 1, {"status": "refuted"}, "disagrees", SAME),
        ("<", 1, {"status": "proved"}, "disagrees", SAME),
        ("<", 2, {"status": "refuted"}, "disagrees", SAME),
        ("<=", 1, {"status": "modelled"}, "confirmed", ""),
        ("<", 1, {"status": "modelled"}, "disagrees", SAME),
        ("<=", 1, {"lower": 2, "upper": 2}, "disagrees", ""),
        ("<=", 1, {"lower": 0, "upper": 0}, "disagrees", ""),
        ("<=", 1, {"lower": 0, "upper": 2, "status": "bounded"}, "confirmed", ""),
        ("<=", 1, {"lower": 0, "upper": 1, "status": "proved"}, "confirmed", ""),
        ("<=", 1, {"lower": 0, "upper": 2, "status": "proved"}, "disagrees", SAME),
        ("<=", 1, {"lower": 0, "upper": float("inf"), "status": "bounded"}, "confirmed", ""),
        ("<=", 1, {"lower": 2, "upper": float("inf"), "status": "refuted"}, "disagrees", ""),
        ("<=", 1, {"lower": None}, "unconfirmed", "the check gave no figure"),
        ("<=", 1, {"upper": None}, "unconfirmed", "the check gave no figure"),
        ("<=", 1, {"lower": 0.5}, "unconfirmed", "the check gave no exact figure"),
    ],
)
def test_verdict_on_a_figure(op: str, value: int, changed: dict[str, Any], verdict: str, reason: str) -> None:
    fabric = leaves().build()
    found = opinion(fabric, claim(fabric, "diameter", op, value), **changed)
    assert found is not None and (found.verdict, found.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("status", "verdict", "reason"),
    [
        ("proved", "confirmed", ""),
        ("refuted", "disagrees", ""),
        ("bounded", "unconfirmed", "the check left it open"),
    ],
)
@pytest.mark.parametrize("metric", ["reachability", "survives"])
def test_verdict_on_yes_or_no(metric: str, status: str, verdict: str, reason: str) -> None:
    fabric = leaves(2, 2).build()
    given: dict[str, Any] = {"of": (selector(fabric, "node"),), "any_count": 1} if metric == "survives" else {}
    found = opinion(fabric, claim(fabric, metric, **given), status=status)
    assert found is not None and (found.verdict, found.reason) == (verdict, reason)


def test_results_without_a_second_method() -> None:
    fabric = leaves().build()
    asked = claim(fabric, "diameter", "<=", 1)
    assert opinion(fabric, asked, status="skipped") is None
    assert opinion(fabric, asked, check="ports") is None
    assert SecondOpinionJudge(leaves(complete=False).build()).opinion(result(fabric, asked), asked) is None
    every = replace(asked, of_all=True)
    found = SecondOpinionJudge(fabric).opinion(result(fabric, asked), every)
    assert found == Opinion("unconfirmed", reason="a set of ends has no second method")


def test_links_up_to_the_limit() -> None:
    """Two leaves with two hosts each and one trunk have 5 links."""
    fabric = leaves().build()
    asked = claim(fabric, "links", report=True)
    for limit, verdict in ((5, "confirmed"), (4, "unconfirmed")):
        found = opinion(fabric, asked, Limits(links=limit))
        assert found is not None and found.verdict == verdict
    assert found is not None and found.reason == "too large for networkx: 5 links; the limit is 4"


def test_several_elements() -> None:
    """Of several elements the worst counts, and all of yes and no; `==` has no worst."""
    fabric = torus(3, 3).build()
    chips = (selector(fabric, "chip"),)
    found = opinion(fabric, claim(fabric, "reachability", of=chips), status="proved")
    assert found is not None and found.answer is not None and found.answer.holds is not None
    several = opinion(fabric, claim(fabric, "diameter", "==", 1, of=chips), status="proved", lower=1, upper=1)
    why = "which of several elements is the worst is not asked a second time for such a comparison"
    assert several == Opinion("unconfirmed", reason=why)


def test_a_lower_bound_does_not_confirm_a_figure() -> None:
    """No latency is stated, so all-reduce takes at least 19/2 s."""
    fabric = rail_only(4, 2).build()
    asked = claim(fabric, "allreduce", args=(Quantity(Fraction(8 * 10**11), SIZE),), report=True)
    base = replace(result(fabric, asked), status="modelled")
    for low, high, verdict, reason in (
        (Fraction(19, 2), Fraction(19, 2), "unconfirmed", "networkx gives only at least 19/2"),
        (Fraction(10), Fraction(10), "unconfirmed", "networkx gives only at least 19/2"),
        (Fraction(9), Fraction(9), "disagrees", ""),
        (Fraction(9), float("inf"), "confirmed", ""),
    ):
        found = SecondOpinionJudge(fabric).opinion(replace(base, lower=low, upper=high), asked)
        assert found is not None and (found.verdict, found.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (SecondAnswer("x", holds=True), "yes"),
        (SecondAnswer("x", holds=False), "no"),
        (SecondAnswer("x", Fraction(2), Fraction(2)), "2"),
        (SecondAnswer("x", Fraction(1, 999), Fraction(1, 999)), "1/999"),
        (SecondAnswer("x", Fraction(1, 1000), Fraction(1, 1000)), "0.001"),
        (SecondAnswer("x", Fraction(1, 3), float("inf")), "at least 1/3"),
        (SecondAnswer("x", Fraction(1, 3), Fraction(1, 2)), "between 1/3 and 1/2"),
        (SecondAnswer("x", float("inf"), float("inf")), "inf"),
    ],
)
def test_an_answer_in_words(answer: SecondAnswer, said: str) -> None:
    assert Opinion("confirmed", "x", answer).said == said


# ---------------------------------------------------------------- failures


def held(fabric: Fabric, path: str, count: int, limits: Limits = Limits(), **given: Any) -> bool | None:  # noqa: B008
    """Whether a fabric survives failures, by the second method."""
    asked = claim(fabric, "survives", of=(selector(fabric, path),), any_count=count, **given)
    return survival_by_second_method(WiringGraph.whole(fabric), asked, limits).holds


@pytest.mark.parametrize(
    ("path", "count", "given", "holds"),
    [
        ("leaf", 1, {}, False),  # without the leaf in the middle the outer ones are separated
        ("node", 1, {}, True),
        ("node", 4, {}, True),
        ("leaf", 1, {"any_of": "links"}, False),
    ],
)
def test_failures_in_a_chain_of_three_leaves(path: str, count: int, given: dict[str, Any], holds: bool) -> None:
    assert held(leaves(3).build(), path, count, **given) is holds
    double = leaves(3, 2).build()
    assert held(double, "leaf", 1) is False


def test_metrics_after_failures() -> None:
    """Without a host the diameter of three leaves is 2, and without the last leaf 1."""
    fabric = leaves(3).build()
    for op, value, holds in (
        ("<=", 2, True),
        ("<=", 1, False),
        ("<", 2, False),
        ("==", 2, True),
        ("!=", 2, False),
        (">=", 2, True),
        (">", 2, False),
    ):
        assert held(fabric, "node", 1, given=claim(fabric, "diameter", op, value)) is holds
    with pytest.raises(NoOpinion, match=r"^what is asked after failures is neither a number nor a rate$"):
        held(fabric, "node", 1, given=claim(fabric, "diameter", "<=", True))
    with pytest.raises(NoOpinion, match=r"^what is asked after failures has no second method$"):
        held(fabric, "node", 1, given=claim(fabric, "cost", "<=", 1))


def test_failures_without_an_answer() -> None:
    fabric = leaves(2).build()
    for count in (0, 5):
        with pytest.raises(NoOpinion, match=r"^fewer elements are there than are to fail$"):
            held(fabric, "node", count)
    for limits in (Limits(), Limits(sets=0)):
        with pytest.raises(NoOpinion, match=r"^fewer than two units are left after some failures$"):
            held(fabric, "node", 3, limits)
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: sets of links$"):
        held(fabric, "node", 1, Limits(sets=0), any_of="links")
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 4 sets of failures; the limit is 0 proposals$"):
        held(fabric, "node", 1, Limits(sets=0, rounds=0))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_sets_that_z3_proposes_and_all_sets_agree(count: int) -> None:
    """Both ways give the same answer, or both find that too few units are left."""
    answers = set()
    for seed in range(8):
        fabric = random_fabric(seed, switches=5, hosts=4, cables=9).build()
        found: list[bool | str | None] = []
        for limits in (Limits(sets=comb(5, count)), Limits(sets=0)):
            try:
                found.append(held(fabric, "sw", count, limits))
            except NoOpinion as why:
                found.append(str(why))
        assert found[0] == found[1] or "fewer than two units are left after some failures" in found, (seed, found)
        answers.add(found[0])
    assert len(answers) > 1 or count == 3


def test_bisection_of_units_without_links() -> None:
    fabric = Builder("alone")
    host = fabric.model("host", "NODE", {"nic": 1})
    fabric.devices("node", host, 2)
    made = fabric.build()
    asked = claim(made, "bisection", ">=", Fraction(1, 2))
    with pytest.raises(NoOpinion, match=r"^half of the units have no link$"):
        confirm_bisection_by_z3(WiringGraph.whole(made), asked, result(made, asked), Limits())
