"""Bounds against claims, and claims that cannot be judged."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tdsl.semantics.quantity import LENGTH, RATE, Quantity
from tdsl.verify.check import Judgement, checks_by_name
from tdsl.verify.compare import index_of_worst_judgement, unknown_metric_error, verdict_of_bounds, why_claim_is_malformed
from tests.fabrics import claim, selector, superpod

FABRIC = superpod(units=1, nodes=2, rails=2, spines=2, radix=8, uplinks=2, manager=False).build()


@pytest.mark.parametrize(
    ("op", "lower", "upper", "asked", "verdict"),
    [
        ("<=", 2, 2, 2, "proved"), ("<=", 2, 3, 2, "bounded"), ("<=", 3, 3, 2, "refuted"),
        ("<", 2, 2, 2, "refuted"), ("<", 1, 2, 2, "bounded"), ("<", 1, 1, 2, "proved"),
        (">=", 2, 5, 2, "proved"), (">=", 1, 2, 2, "bounded"), (">=", 1, 1, 2, "refuted"),
        (">", 3, 4, 2, "proved"), (">", 2, 3, 2, "bounded"), (">", 2, 2, 2, "refuted"),
        ("==", 2, 2, 2, "proved"), ("==", 1, 2, 2, "bounded"), ("==", 3, 4, 2, "refuted"),
        ("!=", 3, 4, 2, "proved"), ("!=", 2, 2, 2, "refuted"), ("!=", 1, 3, 2, "bounded"),
    ],
)  # fmt: skip
def test_bounds(op, lower, upper, asked, verdict):
    assert verdict_of_bounds(op, lower, upper, asked) == verdict


def test_ratios_are_exact():
    third = Fraction(1, 3)
    assert verdict_of_bounds("==", third, third, Fraction(1, 3)) == "proved"
    assert verdict_of_bounds("<=", Fraction(10**20 + 1, 10**20), Fraction(10**20 + 1, 10**20), 1) == "refuted"
    assert verdict_of_bounds("<=", float("inf"), float("inf"), Fraction(7)) == "refuted"


@pytest.mark.parametrize(
    ("metric", "op", "value", "given", "part"),
    [
        ("diameter", "<=", Quantity(Fraction(3), LENGTH), {}, "3m is a length"),
        ("diameter", "", None, {}, "say what it must be"),
        ("diameter", "<=", "two", {}, "is none"),
        ("oversubscription", ">=", Quantity(Fraction(10**9), RATE), {}, "is a ratio"),
        ("reachability", "==", 1, {}, "takes no comparison"),
        ("diameter", "<=", 2, {"at": (selector(FABRIC, "leaf"),)}, "takes no `at`"),
        ("diameter", "<=", 2, {"under": "minhop"}, "takes no `under`"),
        ("links", ">=", 2, {"args": (1,)}, "takes no `argument`"),
        ("reachability", "", None, {"through": "wifi"}, "no layer `wifi`"),
        ("reachability", "", None, {"any_count": 2}, "takes no `any`"),
    ],
)
def test_malformed_claims(metric, op, value, given, part):
    said = why_claim_is_malformed(claim(FABRIC, metric, op, value, **given), checks_by_name()[metric])
    assert said is not None and part in said[0] and said[1]


@pytest.mark.parametrize(
    ("metric", "op", "value", "given"),
    [
        ("diameter", "<=", 2, {}),
        ("diameter", "", None, {"report": True}),
        ("oversubscription", "<=", Fraction(7), {"at": (selector(FABRIC, "leaf"),)}),
        ("reachability", "", None, {"through": "scaleup"}),
        ("links", "==", Fraction(4), {"of": (selector(FABRIC, "leaf"),), "of_to": (selector(FABRIC, "spine"),)}),
    ],
)
def test_sound_claims(metric, op, value, given):
    assert why_claim_is_malformed(claim(FABRIC, metric, op, value, **given), checks_by_name()[metric]) is None


def test_unknown_metrics_get_the_nearest_name():
    assert unknown_metric_error("overscription", checks_by_name())[0] == "E0490"
    assert "`oversubscription`" in unknown_metric_error("overscription", checks_by_name())[2]
    assert unknown_metric_error("deadlock_free", checks_by_name())[0] == "E0491"


def test_the_worst_element_depends_on_the_comparison():
    figures = [Judgement("proved", value=v, lower=v, upper=v) for v in (5, 2, 9)]
    assert index_of_worst_judgement("<=", 10, figures) == 2
    assert index_of_worst_judgement(">=", 1, figures) == 1
    assert index_of_worst_judgement("==", 5, figures) == 2
    assert index_of_worst_judgement("", None, figures) == 2 and index_of_worst_judgement("", None, figures, scarce=True) == 1
    assert index_of_worst_judgement("<=", 4, [*figures[:2], Judgement("skipped", reason="no")]) == 0
