"""Verdicts of the second opinion on results that are right, wrong by a little or left open."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tdsl.compile import compiler
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.quantity import SIZE, Quantity
from tdsl.verify.result import Result
from tdsl.verify.runner import judge_requirements
from tdsl.verify.second.answer import Limits
from tdsl.verify.second.judge import Opinion, SecondOpinionJudge, results_with_claims
from tests.cli.run import write
from tests.fabrics import claim, multiplane, rail_only, selector, superpod, torus
from tests.tables import sections
from tests.verify.second.made import judged_result, leaves


def opinion(fabric: Fabric, asked: Any, limits: Limits | None = None, **changed: Any) -> Opinion | None:
    """The second opinion about a result of which some facts are exchanged."""
    return SecondOpinionJudge(fabric, limits=limits).opinion(replace(judged_result(fabric, asked), **changed), asked)


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
    [("proved", "confirmed", ""), ("refuted", "disagrees", ""), ("bounded", "unconfirmed", "the check left it open")],
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
    assert SecondOpinionJudge(leaves(complete=False).build()).opinion(judged_result(fabric, asked), asked) is None
    every = replace(asked, of_all=True)
    found = SecondOpinionJudge(fabric).opinion(judged_result(fabric, asked), every)
    assert found == Opinion("unconfirmed", reason="a set of ends has no second method")


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
    """No latency is stated, so an all-reduce takes at least 3/2 s, and no upper bound is known."""
    fabric = rail_only(4, 2).build()
    asked = claim(fabric, "allreduce", args=(Quantity(Fraction(8 * 10**11), SIZE),), report=True)
    base = replace(judged_result(fabric, asked), status="bounded")
    for low, high, verdict, reason in (
        (Fraction(3, 2), Fraction(2), "unconfirmed", "HiGHS gives only at least 3/2"),
        (Fraction(10), Fraction(10), "unconfirmed", "HiGHS gives only at least 3/2"),
        (Fraction(1), Fraction(1), "disagrees", ""),
        (Fraction(1), float("inf"), "confirmed", ""),
    ):
        found = SecondOpinionJudge(fabric).opinion(replace(base, lower=low, upper=high), asked)
        assert found is not None and (found.verdict, found.reason) == (verdict, reason)


def test_every_method_finds_a_figure_that_is_not_so() -> None:
    """Too great and too small by a hundredth; and yes instead of no."""
    numbers = {"edge_redundancy", "node_redundancy", "mean_hops", "oversubscription", "throughput", "blast_radius", "links"}
    for fabric, path in ((superpod(2, 3, 2, 1, radix=16).build(), "su.leaf"), (multiplane(2, 8).build(), "leaf")):
        of = (selector(fabric, path),)
        asked = [claim(fabric, name, report=True) for name in ("mean_hops", "links")]
        asked += [
            claim(fabric, "throughput", args=("all_to_all",), report=True),
            claim(fabric, "blast_radius", of=of, report=True),
        ]
        asked.append(claim(fabric, "survives", of=of, any_count=1))
        judge, seen = SecondOpinionJudge(fabric), Counter[str]()

        def verdict(result: Result, asked: Any, judge: SecondOpinionJudge = judge, **changed: Any) -> str:
            found = judge.opinion(replace(result, **changed), asked)
            return found.verdict if found is not None else ""

        for result, one in results_with_claims(asked, judge_requirements(fabric, asked, Diagnostics())):
            seen[result.check] += 1
            if result.check in numbers and result.status != "skipped":
                low: Any = result.lower
                more = low + Fraction(1, 100)
                assert verdict(result, one, lower=more, upper=more) == "disagrees", result
                assert verdict(result, one, lower=low - 1, upper=low - Fraction(1, 100)) == "disagrees", result
                assert verdict(result, one, lower=low - 1, upper=more, status="bounded") == "confirmed", result
            elif result.check in ("reachability", "plane_isolation", "survives") and result.status != "skipped":
                other = "refuted" if result.status == "proved" else "proved"
                assert (verdict(result, one), verdict(result, one, status=other)) == ("confirmed", "disagrees"), result
        assert set(seen) >= numbers | {"reachability", "survives"}


TIMES = sections(__file__)["times"]


def test_times_rails_and_ports(tmp_path: Path) -> None:
    """Latency, times, rails and ports again; and what is wrong by a little, or the other way round, is found."""
    design = compiler.compile_and_verify(str(write(tmp_path, TIMES.format(leaf="r")))).designs[0]
    assert design.fabric is not None
    judge, seen = SecondOpinionJudge(design.fabric), Counter[str]()
    wanted = {"latency": 2, "all_gather_time": 1, "transfer": 1, "rail_alignment": 1, "port_budget": 1}
    for result, asked in results_with_claims(design.claims, design.results):
        if result.check not in wanted:
            continue
        right = judge.opinion(result, asked)
        assert right is not None and right.verdict == "confirmed", (result.text, right)
        seen[result.check] += 1
        if isinstance(result.lower, Quantity):
            step = Fraction(1, 10**15) if result.check in ("latency", "transfer") else result.lower.amount / 100
            more = replace(result.upper, amount=result.upper.amount + step)
            wrong = judge.opinion(replace(result, lower=more, upper=more), asked)
        else:
            wrong = judge.opinion(replace(result, status="refuted"), asked)
        assert wrong is not None and wrong.verdict == "disagrees", result.check
    assert seen == wanted


def test_a_swapped_cable_is_found_again(tmp_path: Path) -> None:
    text = TIMES.format(leaf="r").replace("connect node[n].nic[r] to leaf[r]", "connect node[n].nic[r] to leaf[r] where n != 3")
    text = text.replace("  require latency", "  connect node[3].nic[r] to leaf[1 - r] { length 3m }\n  require latency")
    design = compiler.compile_and_verify(str(write(tmp_path, text))).designs[0]
    assert design.fabric is not None
    judge = SecondOpinionJudge(design.fabric)
    ((result, asked),) = [(r, c) for r, c in results_with_claims(design.claims, design.results) if r.check == "rail_alignment"]
    opinion = judge.opinion(result, asked)
    assert result.status == "refuted" and opinion is not None and opinion.verdict == "confirmed"


def test_what_is_too_large_says_so() -> None:
    fabric = torus(4, 4).build()
    results = judge_requirements(fabric, [], Diagnostics())
    judge = SecondOpinionJudge(fabric, limits=Limits(units=4, links=100, steps=10))
    said = {r.check: o.reason for r in results if (o := judge.opinion(r, None)) is not None and o.verdict == "unconfirmed"}
    assert said["bisection"] == "too large for z3: 65,536 splits of 16 units; the limit is 16"
    assert said["edge_redundancy"].startswith("too large for networkx: ") and said["edge_redundancy"].endswith("the limit is 10")
    small = SecondOpinionJudge(fabric, limits=Limits(links=31)).opinion(next(r for r in results if r.check == "diameter"), None)
    assert small is not None and small.reason == "too large for networkx: 32 links; the limit is 31"
