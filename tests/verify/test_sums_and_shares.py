"""Sums and shares of which terms may be unknown, and which requirements are judged in many scenarios at once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.physical.racks import PartialSum
from tdsl.prove.view import View
from tdsl.semantics.quantity import MONEY, POWER, Quantity
from tdsl.verify import scenarios
from tdsl.verify.check import checks_by_name
from tdsl.verify.checks import power
from tests.fabrics import claim, selector, superpod


def bound(known: int, missing: int = 0) -> PartialSum:
    return PartialSum(Fraction(known), missing)


@pytest.mark.parametrize(
    ("sum", "what", "text"),
    [
        (bound(3000), "typical", "3kW typical"),
        (bound(3000), "", "3kW"),
        (bound(3000, 1), "typical", "at least 3kW typical; 1 are missing"),
        (bound(0, 1200), "", "at least 0W; 1,200 are missing"),
    ],
)
def test_sums_in_words(sum: PartialSum, what: str, text: str) -> None:
    found = power.judgement_of_sum(sum, POWER, what, "are missing")
    known = Quantity(sum.known, POWER)
    assert (found.text, found.value, found.lower) == (text, known, known)
    assert (found.status, found.upper) == (("bounded", inf) if sum.missing else ("proved", known))
    assert found.witness == ({"missing": sum.missing} if sum.missing else {})
    assert power.judgement_of_sum(bound(5), MONEY, "", "").value == Quantity(Fraction(5), MONEY)


@pytest.mark.parametrize(
    ("part", "whole", "of", "status", "low", "high", "text"),
    [
        (bound(3), bound(8), "network", "proved", Fraction(3, 8), Fraction(3, 8), "37.5% of the network"),
        (bound(3), bound(9), "total", "proved", Fraction(1, 3), Fraction(1, 3), "33.33% of the total"),
        (bound(0), bound(9), "total", "proved", 0, 0, "0% of the total"),
        (bound(3), bound(8, 2), "total", "bounded", 0, Fraction(3, 8), "at most 37.5% of the total; 2 lack"),
        (bound(3, 1), bound(8), "total", "bounded", Fraction(3, 8), inf, "at least 37.5% of the total; 1 lack"),
        (bound(3, 999), bound(8, 2), "network", "bounded", 0, inf, "an unknown share of the network; 1,001 lack"),
    ],
)
def test_shares_in_words(part: PartialSum, whole: PartialSum, of: str, status: str, low: Any, high: Any, text: str) -> None:
    found = power.judgement_of_share(part, whole, of, "lack")
    assert (found.status, found.value, found.lower, found.upper) == (status, part.known / whole.known, low, high)
    assert found.text == text
    missing = part.missing + whole.missing
    assert found.witness == ({"missing": missing} if missing else {})


def test_a_share_of_nothing() -> None:
    for whole in (bound(0), bound(0, 4)):
        found = power.judgement_of_share(bound(0), whole, "network", "lack")
        assert (found.status, found.reason) == ("skipped", "nothing is known of the network")


FABRIC = superpod(units=2, nodes=4, rails=2, spines=2).build()
SWITCHES = {d for s in FABRIC.sets if s.kind == "switch" for d in range(s.first, s.first + s.count)}


def rows(found: Any) -> set[int]:
    return set(np.flatnonzero(found).tolist())


def test_devices_of_the_network() -> None:
    f, view = FABRIC, View.whole(FABRIC)
    every = set(range(f.device_count))
    network = replace(selector(f, "spine"), kind="network")
    assert rows(power.devices_of_network(f)) == SWITCHES
    for sides, found in (((), rows(f.built)), ((selector(f, "spine"),), rows(f.built)), ((network,), SWITCHES)):
        assert rows(power.devices_asked_about(view, claim(f, "power", of=sides))) == found
    assert rows(power.devices_asked_about(view, None)) == rows(f.built)
    some = np.zeros(f.device_count, dtype=np.bool_)
    some[[0, min(SWITCHES)]] = True
    of_network, of_total = (
        power.part_and_whole_devices(view, replace(claim(f, "power"), share_of=of), some) for of in ("network", "total")
    )
    assert [rows(x) for x in of_network] == [{min(SWITCHES)}, SWITCHES]
    assert [rows(x) for x in of_total] == [{0, min(SWITCHES)}, every]


# ---------------------------------------------------------------- many scenarios at once


def sides(f: Fabric) -> dict[str, Any]:
    return {"of": (selector(f, "spine"),), "of_to": (selector(f, "su.leaf"),)}


def test_requirements_that_are_judged_at_once() -> None:
    f = FABRIC
    plain = claim(f, "reachability")
    flow = claim(f, "throughput", ">=", Fraction(1, 2), **sides(f))
    assert scenarios._batch_judge_of_claim(plain) is scenarios._Connectivity
    assert scenarios._batch_judge_of_claim(flow) is scenarios._Flow
    spine = (selector(f, "spine"),)
    more: dict[str, Any] = {
        "at": spine, "under": "ecmp", "through": "scaleup", "scope": selector(f, "su").elements[0], "given": plain,
        "of_all": True, "share_of": "total", "any_count": 0, "args": ("ring",), "of_intact": True, "of_active": True,
    }  # fmt: skip
    for name, value in more.items():
        for one in (plain, flow):
            assert scenarios._batch_judge_of_claim(replace(one, **{name: value})) is None, name
    assert scenarios._batch_judge_of_claim(replace(plain, of=spine)) is None
    assert scenarios._batch_judge_of_claim(replace(flow, of=())) is None
    assert scenarios._batch_judge_of_claim(replace(flow, of_to=())) is None
    assert scenarios._batch_judge_of_claim(replace(flow, metric="bisection")) is None
    assert scenarios._batch_judge_of_claim(replace(plain, metric="diameter")) is None


@pytest.mark.parametrize(
    ("select", "ignore", "judged"),
    [
        ((), (), True),
        (("diameter",), (), True),
        (("E0404", "CODE"), (), True),
        (("links",), (), False),
        ((), ("diameter",), False),
        ((), ("CODE",), False),
        ((), ("links",), True),
        (("diameter",), ("CODE",), False),
    ],
)
def test_checks_that_are_selected(select: tuple[str, ...], ignore: tuple[str, ...], judged: bool) -> None:
    check = checks_by_name()["diameter"]
    chosen, left = (tuple(check.code if word == "CODE" else word for word in words) for words in (select, ignore))
    assert scenarios._is_check_selected(check, chosen, left) is judged


def test_an_answer_of_a_scenario() -> None:
    made = scenarios.RequirementOutcome("diameter", "diameter <= 4", "proved", 3, 4, "hops")
    assert made.facts() == {
        "check": "diameter", "requirement": "diameter <= 4", "status": "proved", "lower": 3, "upper": 4, "unit": "hops",
        "judged": 1, "of": 1,
    }  # fmt: skip
    assert replace(made, requirement="", reason="why").facts() | {"lower": 0} == {
        "check": "diameter", "requirement": None, "status": "proved", "lower": 0, "upper": 4, "unit": "hops", "reason": "why",
        "judged": 1, "of": 1,
    }  # fmt: skip
    for status, report, holds in (
        ("proved", False, True), ("modelled", False, True), ("refuted", False, False), ("bounded", False, False),
        ("skipped", False, False), ("refuted", True, True),
    ):  # fmt: skip
        assert replace(made, status=status, report=report).holds is holds
