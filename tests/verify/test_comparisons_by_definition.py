"""Comparisons of bounds, the element that speaks for several, and what a requirement makes of a judgement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf
from random import Random
from typing import Any

import pytest

from tdsl.semantics.quantity import LENGTH, RATE, TIME, Quantity
from tdsl.verify.check import (
    Check,
    Judgement,
    PropertyFault,
    checks_by_name,
    exactly,
    percent_range,
    percent_text,
    property_fails,
    property_holds,
    skipped,
)
from tdsl.verify.compare import (
    EXAMPLES,
    index_of_worst_judgement,
    judgement_for_claim,
    judgement_in_claim_unit,
    unknown_metric_error,
    verdict_of_bounds,
    why_claim_is_malformed,
)
from tests.fabrics import Selector, claim, selector, superpod
from tests.harness import each

FABRIC = superpod(units=1, nodes=2, rails=2, spines=2, radix=8, uplinks=2, manager=False).build()

OPS = {
    "<": lambda x, y: x < y, "<=": lambda x, y: x <= y, ">": lambda x, y: x > y, ">=": lambda x, y: x >= y,
    "==": lambda x, y: x == y, "!=": lambda x, y: x != y,
}  # fmt: skip


def verdict(op: str, low: Any, high: Any, asked: Any) -> str:
    """By the figures between two bounds, in steps of a quarter."""
    steps = [low + Fraction(i, 4) for i in range(int((min(high, 9) - low) * 4) + 1)] + [high]
    true = {OPS[op](x, asked) for x in steps}
    return "proved" if true == {True} else "refuted" if true == {False} else "bounded"


def test_every_comparison_of_small_bounds() -> None:
    ends = [Fraction(i, 2) for i in range(7)]
    for op, low, high, asked in product(OPS, ends, [*ends, inf], ends):
        if low <= high:
            assert verdict_of_bounds(op, low, high, asked) == verdict(op, low, high, asked), (op, low, high, asked)
            lengths = [x if x == inf else Quantity(Fraction(x), LENGTH) for x in (low, high, asked)]
            assert verdict_of_bounds(op, *lengths) == verdict(op, low, high, asked)


def test_a_figure_is_exact() -> None:
    for wrong in (0.5, float("nan"), "2", None):
        with pytest.raises(TypeError, match=f"^{wrong!r} is not an exact figure$"):
            verdict_of_bounds("<=", 1, 2, wrong)
    assert verdict_of_bounds("<=", -inf, 1, 2) == "proved"
    assert verdict_of_bounds(">=", True, True, 1) == "proved"


RANK = {"refuted": 0, "skipped": 1, "bounded": 2, "modelled": 3, "proved": 4}


def drawn(rng: Random) -> Judgement:
    """A judgement with a figure between bounds, or without one."""
    status = rng.choice(("refuted", "bounded", "proved", "modelled", "skipped"))
    if status == "skipped" or rng.random() < 0.2:
        return rng.choice((skipped("why"), property_holds("good"), property_fails("bad", ()), Judgement(status)))
    low = Fraction(rng.randint(0, 6), rng.randint(1, 2))
    high = low + rng.choice((0, 0, 1, Fraction(5, 2)))
    return Judgement(status, value=low, lower=low, upper=high if rng.random() < 0.9 else inf)


def worst_agrees(seed: int) -> None:
    rng = Random(seed)
    found = [drawn(rng) for _ in range(rng.randint(1, 5))]
    op, asked, scarce = rng.choice((*OPS, "")), Fraction(rng.randint(0, 8), 2), rng.random() < 0.5

    def key(at: int) -> tuple[Any, ...]:
        j = found[at]
        if j.lower is None or j.upper is None:
            return RANK[j.status], 0, at
        rank = RANK[verdict_of_bounds(op, j.lower, j.upper, asked)] if op else RANK[j.status]
        if op in ("==", "!="):
            return rank, -abs(j.lower - asked), at  # type: ignore[operator]
        least = op in (">", ">=") or (not op and scarce)
        return rank, j.lower if least else -j.upper, at  # type: ignore[operator]

    assert index_of_worst_judgement(op, asked if op else None, found, scarce) == min(range(len(found)), key=key)


def test_who_speaks_for_several() -> None:
    each(range(500), worst_agrees)


def test_the_least_is_not_the_worst_unless_it_is_scarce() -> None:
    figures = [exactly(3, ""), exactly(1, ""), exactly(5, "")]
    assert (index_of_worst_judgement("", None, figures), index_of_worst_judgement("", None, figures, scarce=True)) == (2, 1)
    assert (index_of_worst_judgement("<=", 9, figures, scarce=True), index_of_worst_judgement(">", 0, figures)) == (2, 1)


# ---------------------------------------------------------------- requirements and judgements


def test_what_a_requirement_makes_of_a_judgement() -> None:
    checks = checks_by_name()
    diameter, reach, share = (checks[name] for name in ("diameter", "reachability", "bisection"))
    fault = PropertyFault(None, "no rails")
    gave_up, alone = Judgement("skipped", reason="why", faults=(fault,)), skipped("why")
    asked = claim(FABRIC, "diameter", "<=", 4)
    report = claim(FABRIC, "diameter", report=True)
    assert judgement_for_claim(asked, diameter, gave_up) == replace(gave_up, status="refuted")
    assert judgement_for_claim(report, diameter, gave_up) is gave_up
    assert judgement_for_claim(asked, diameter, alone) is alone
    assert judgement_for_claim(claim(FABRIC, "reachability"), reach, property_holds("good")) == property_holds("good")
    assert judgement_for_claim(report, diameter, exactly(9, "nine")) == exactly(9, "nine")
    for lower, upper, status in ((3, 4, "proved"), (4, 5, "bounded"), (5, 6, "refuted")):
        for known in ("proved", "bounded", "modelled"):
            found = Judgement(known, "text", lower, lower, upper)
            kept = known == "modelled" and status == "proved"
            assert judgement_for_claim(asked, diameter, found).status == ("modelled" if kept else status)
            assert judgement_for_claim(asked, diameter, found) == replace(found, status="modelled" if kept else status)
    for half in (Judgement("bounded", "x", 3, 3, None), Judgement("bounded", "x", 3, None, 3)):
        assert judgement_for_claim(asked, diameter, half) is half
    tera = 10**12
    found = Judgement(
        "bounded", "x", Fraction(1, 2), Fraction(1, 2), Fraction(1), measures={"lower_bps": tera, "upper_bps": 2 * tera}
    )
    by_rate = claim(FABRIC, "bisection", ">=", Quantity(Fraction(tera), RATE))
    by_share = claim(FABRIC, "bisection", ">=", Fraction(3, 4))
    assert judgement_in_claim_unit(by_rate, share, found) == replace(
        found, value=Fraction(tera), lower=Fraction(tera), upper=Fraction(2 * tera)
    )
    assert judgement_in_claim_unit(by_share, share, found) is found
    assert judgement_in_claim_unit(by_rate, share, skipped("why")).reason == "why"
    assert judgement_in_claim_unit(claim(FABRIC, "latency", "<=", Quantity(Fraction(1), TIME)), checks["latency"], found) is found
    assert [judgement_for_claim(c, share, found).status for c in (by_rate, by_share)] == ["proved", "bounded"]


def test_metrics_that_are_not_there() -> None:
    known = checks_by_name()
    listed = ", ".join(sorted(known))
    assert unknown_metric_error("deadlock_free", known) == (
        "E0491", "`deadlock_free` is not available in this version of tdsl", f"metrics available: {listed}",
    )  # fmt: skip
    assert unknown_metric_error("ECMP", known) == ("E0490", "there is no metric `ECMP`", "write `edge_redundancy >= 2`")
    assert unknown_metric_error("diametre", known) == ("E0490", "there is no metric `diametre`", "did you mean `diameter`?")
    assert unknown_metric_error("zzzz", known) == ("E0490", "there is no metric `zzzz`", f"metrics: {listed}")


def malformed_cases() -> Iterator[tuple[str, str, object, dict[str, Any], tuple[str, str] | None]]:
    length, leaf = Quantity(Fraction(3), LENGTH), (selector(FABRIC, "leaf"),)
    yield "diameter", "<=", length, {}, ("`diameter` is a number of links, and 3m is a length", "`diameter <= 4`")
    yield "diameter", "<=", True, {}, ("`diameter` is a number of links, and True is none", "`diameter <= 4`")
    yield "diameter", "<=", 10, {}, None
    yield "bisection", ">=", 9, {}, None
    yield "bisection", ">=", 10, {}, ("`bisection` is a share of full, or a rate, and 10 is 1,000%", "`bisection >= 10%`")
    yield (
        "bisection", ">=", Fraction(25001, 1000), {},
        ("`bisection` is a share of full, or a rate, and 25.001 is 2500.1%", "`bisection >= 25.001%`"),
    )  # fmt: skip
    yield "bisection", ">=", Quantity(Fraction(10**12), RATE), {}, None
    yield (
        "bisection",
        ">=",
        length,
        {},
        ("`bisection` is a fraction of full, or a rate, and 3m is a length", "`bisection >= 100%`"),
    )
    yield "cable_length", "<=", 30, {}, ("`cable_length` is a length, and 30 has no unit", "`cable_length <= 30m`")
    yield "cable_length", "<=", length, {}, None
    yield "cable_length", "", None, {}, ("`cable_length` is a quantity: say what it must be", "`cable_length <= 30m`")
    yield "cable_length", "", None, {"report": True}, None
    yield "taper", "<=", 2, {}, ("`taper` needs `of`", f"`{checks_by_name()['taper'].example}`")
    yield "diameter", "<=", 2, {"of": leaf, "of_all": True}, None
    yield (
        "links", "<=", 2, {"of": leaf, "of_all": True},
        ("`links` is not about a set of endpoints", "leave `all` out: each element is then judged"),
    )  # fmt: skip
    yield "address_overlap", "", None, {"of": leaf}, ("`address_overlap` takes no `of`", "leave it out")
    yield "power", "<=", Fraction(3, 10), {"share_of": "network"}, None
    yield (
        "power", "<=", length, {"share_of": "network"},
        ("a share of the network is a percentage", "`power <= 30% of network`"),
    )  # fmt: skip
    yield "power", "<=", True, {"share_of": "network"}, ("a share of the network is a percentage", "`power <= 30% of network`")
    yield "survives", "", None, {"of": leaf, "any_count": 1}, None
    absent = claim(FABRIC, "reachability", of=(Selector("leaf[9]", "switch", ()),))
    ports = claim(FABRIC, "reachability", of=(Selector("ports", "ports", ()),))
    yield (
        "survives", "", None, {"of": leaf, "any_count": 1, "given": absent},
        ("`reachability of …` cannot be asked after failures: it is asked of all that is left", "leave out `of`"),
    )  # fmt: skip
    yield "survives", "", None, {"of": leaf, "any_count": 1, "given": ports}, None
    yield "survives", "", None, {"of": leaf, "any_count": 0}, ("`any 0` fails nothing", "write `any 1` or more")


@pytest.mark.parametrize(("metric", "op", "value", "given", "expected"), list(malformed_cases()))
def test_requirements_that_can_be_judged_or_not(
    metric: str, op: str, value: object, given: dict[str, Any], expected: tuple[str, str] | None
) -> None:
    assert why_claim_is_malformed(claim(FABRIC, metric, op, value, **given), checks_by_name()[metric]) == expected
    assert set(EXAMPLES) == {"number", "ratio", "fraction"}


# ---------------------------------------------------------------- words of checks


def test_percentages_never_read_as_whole_where_they_are_not() -> None:
    assert percent_text(Fraction(15, 16)) == "93.75%"
    assert percent_text(Fraction(1, 3)) == "33.33%"
    assert percent_text(Fraction(1)) == "100%"
    assert percent_text(Fraction(99999, 100000)) == "99.999%"
    assert percent_text(1 - Fraction(1, 10**6), 3) == "99.9999%"
    assert percent_text(1 + Fraction(1, 10**8)) == "100.000001%"
    assert percent_text(1 - Fraction(1, 10**17)) == "100%"
    assert percent_text(1 - Fraction(1, 10**13)) == "99.99999999999%"
    assert percent_text(1 - Fraction(1, 10**15)) == "99.9999999999999%"
    assert percent_text(1 - Fraction(1, 10**16)) == "100%"
    assert percent_range(Fraction(1, 3), Fraction(1, 2)) == "between 33.33% and 50%"
    assert percent_range(Fraction(62499, 100000), Fraction(625, 1000)) == "between 62.499% and 62.5%"
    assert percent_range(Fraction(62499, 100000), Fraction(625, 1000), 2) == "between 62.499% and 62.5%"
    close = Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**16)
    assert percent_range(*close) == "between 33.3333333333333% and 33.3333333333333%"


def test_judgements_in_short() -> None:
    fault = PropertyFault(None, "wrong")
    assert property_holds("good", {"a": 1}) == Judgement("proved", "good", True, witness={"a": 1})
    assert property_fails("bad", (fault,), {"a": 1}) == Judgement("refuted", "bad", False, witness={"a": 1}, faults=(fault,))
    assert exactly(3, "three", {"a": 1}) == Judgement("proved", "three", 3, 3, 3, witness={"a": 1})
    assert skipped("why") == Judgement("skipped", reason="why", judged=0)


def test_facts_of_checks_that_are_wrong() -> None:
    """A check names itself, its code, what it takes and reads and what it costs, or is refused with these words."""
    given = {"code": "E0499", "name": "fresh", "kind": "number", "wrong": "A fault", "__doc__": "A page.", "__module__": "made"}
    for wrong, words in {
        ("code", "E0301"): "code 'E0301' is not of the families E02 and E04",
        ("code", "E04999"): "code 'E04999' is not of the families E02 and E04",
        ("name", "two__words"): "name 'two__words' is not snake_case",
        ("kind", "colour"): "kind 'colour' is none of yes_no, number, ratio, fraction, quantity",
        ("takes", frozenset({"of", "salt", "pepper"})): "takes holds ['pepper', 'salt']",
        ("cost", 4): "cost 4 is none of 0, 1, 2, 3",
        ("cost", -1): "cost -1 is none of 0, 1, 2, 3",
        ("reads", frozenset({"rails", "tea"})): "reads holds ['tea']",
        ("__doc__", "  "): "the docstring is the check's page and must not be empty",
        ("__doc__", None): "the docstring is the check's page and must not be empty",
        ("code", "E0401"): "E0401 is taken by tdsl.verify.checks.reachability.Reachability",
        ("name", "power"): "power is taken by tdsl.verify.checks.power.PowerDraw",
    }.items():
        checks_by_name()
        with pytest.raises(TypeError) as error:
            type("Made", (Check,), {**given, wrong[0]: wrong[1]})
        assert str(error.value) == f"made.Made: {words}"
        assert "fresh" not in Check._names and "E0499" not in Check._codes
    for absent in ("code", "name", "wrong", "kind"):
        with pytest.raises(TypeError) as error:
            type("Made", (Check,), {key: value for key, value in given.items() if key != absent})
        assert str(error.value) == f"made.Made: a check needs `{absent}`"


def test_a_check_that_is_sound() -> None:
    """It is known by code and name; made a second time, as on a reload, it takes its own place."""
    facts = {"code": "E0498", "name": "sound", "kind": "number", "wrong": "A fault", "__doc__": "Is sound.\n\nMore.", "cost": 3}
    try:
        for _ in range(2):
            made = type("Sound", (Check,), dict(facts))
            assert (Check._names["sound"], Check._codes["E0498"]) == (made, made)
        assert (made.title(), made.page()) == ("Is sound", "Is sound.\n\nMore.")
        assert made.of_network is True
        assert type("Sound", (Check,), {**facts, "of_design": True}).of_network is False
        both = {**facts, "of_design": True, "of_network": True}
        assert type("Sound", (Check,), both).of_network is True
    finally:
        Check._names.pop("sound", None), Check._codes.pop("E0498", None)
