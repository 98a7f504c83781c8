"""Bounds against requirements: by every value between them, the element that speaks for several, and what cannot be judged."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tdsl.changes.requirements import FabricPairNames, Requirement, compare_parts
from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.job_ranks import RankedJob
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.jobs import Job
from tdsl.semantics.quantity import LENGTH, RATE, TIME, Quantity
from tdsl.verify.check import (
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
    index_of_worst_judgement,
    judgement_for_claim,
    judgement_in_claim_unit,
    verdict_of_bounds,
    why_claim_is_malformed,
)
from tdsl.verify.runner import judge_requirements
from tests.fabrics import claim, selector, superpod
from tests.harness import compile_text, each

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
    each(range(300), worst_agrees)


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


NEAR = Fraction(1, 10**16)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Fraction(15, 16), "93.75%"), (Fraction(1, 3), "33.33%"), (Fraction(1), "100%"), (Fraction(99999, 100000), "99.999%"),
        (1 + Fraction(1, 10**8), "100.000001%"), (1 - Fraction(1, 10**17), "100%"), (1 - Fraction(1, 10**13), "99.99999999999%"),
        (1 - Fraction(1, 10**15), "99.9999999999999%"), (1 - NEAR, "100%"),
    ],
)  # fmt: skip
def test_percentages_never_read_as_whole_where_they_are_not(share: Fraction, text: str) -> None:
    assert percent_text(share) == text
    assert percent_text(1 - Fraction(1, 10**6), 3) == "99.9999%"
    assert percent_range(Fraction(1, 3), Fraction(1, 2)) == "between 33.33% and 50%"
    assert percent_range(Fraction(62499, 100000), Fraction(625, 1000), 2) == "between 62.499% and 62.5%"
    assert percent_range(Fraction(1, 3), Fraction(1, 3) + NEAR) == "between 33.3333333333333% and 33.3333333333333%"


# ---------------------------------------------------------------- requirements that cannot be judged

ASKED = """fabric f {
  host node[4]: BOX
  switch leaf[2]: SW
  switch spine[2]: SW
  connect node[n].nic[i] to leaf[i]
  connect leaf[*] to spine[*] spread x 2
"""
MALFORMED = [line.split(" | ") for line in Path(__file__).with_name("malformed.txt").read_text(encoding="utf-8").splitlines()]
JUDGED = (
    "diameter <= 2", "diameter of all node <= 3", "bisection >= 9", "bisection >= 1Tbps", "power typical <= 1kW",
    "power <= 30% of network", "reachability through scaleup", "oversubscription at leaf <= 7", "links of leaf to spine == 4",
    "survives any 1 of leaf", "survives any 1 of leaf with reachability of ports", "throughput ring >= 1", "cost <= $3",
    "survives any 1 of leaf with throughput of node[0] to node[1] >= 100%",
)  # fmt: skip


def test_requirements_that_cannot_be_judged_say_why_and_what_to_write(tmp_path: Path) -> None:
    """Each row of the file: a requirement, the code, the message and the fix; of a list of all metrics the begin."""
    text = ASKED + "".join(f"  require {asked}\n" for asked, *_ in MALFORMED) + "}\n"
    found = {d.span.begin[0]: d for d in compile_text(text, tmp_path).findings if d.span and d.code in ("E0490", "E0492")}
    first = ASKED.count("\n") + 1
    wrong = []
    for number, (asked, code, message, fix) in enumerate(MALFORMED, first):
        d = found.get(number)
        if d is None or (d.code, d.message) != (code, message) or not f"{d.help}…".startswith(fix.removesuffix("…")):
            wrong.append(f"{asked}: {d and (d.code, d.message, d.help)}")
    assert not wrong


def test_requirements_that_can_be_judged(tmp_path: Path) -> None:
    text = ASKED + "".join(f"  require {asked}\n" for asked in JUDGED) + "}\n"
    assert not [d.message for d in compile_text(text, tmp_path).findings if d.code in ("E0490", "E0492", "E0001")]


LEAVES, BARE = (selector(FABRIC, "leaf"),), claim(FABRIC, "address_overlap")
CLAUSES: dict[str, dict[str, Any]] = {
    "args": {"args": ("ring",)},
    "any_count": {"any_count": 1},
    "any_of": {"any_count": 1, "any_of": "links"},
    "of": {"of": LEAVES},
    "of_to": {"of_to": LEAVES},
    "of_all": {"of": LEAVES, "of_all": True},
    "among": {"of": LEAVES, "of_all": True, "among": True},
    "at": {"at": LEAVES},
    "under": {"under": "ecmp"},
    "through": {"through": "scaleup"},
    "given": {"given": BARE},
    "of_intact": {"of_intact": True},
    "of_active": {"of_active": True},
    "share_of": {"share_of": "network"},
    "job": {"job": RankedJob(Job("j", "", BARE.origin.span), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))},
    "over": {"over": 1},
}
"""A claim with each clause."""
NO_CLAUSE = {"metric", "op", "value", "report", "scope", "text", "origin"}


def test_every_clause_is_known_where_requirements_are_judged_and_compared() -> None:
    """A check that takes no clause refuses each; of two designs that differ in it alone the requirement differs; it is not
    answered by the figure of the whole fabric."""
    assert CLAUSES.keys() | NO_CLAUSE == {f.name for f in fields(ResolvedClaim)}, "give the new clause a value here"
    check, names = checks_by_name()["address_overlap"], FabricPairNames(FABRIC, FABRIC, {})
    assert not check.takes and why_claim_is_malformed(BARE, check) is None
    for clause, given in CLAUSES.items():
        asked = replace(BARE, **given)
        assert why_claim_is_malformed(asked, check), f"tdsl/verify/compare.py does not refuse `{clause}`"
        parts = compare_parts(Requirement(BARE, ()), Requirement(asked, ()), names)
        assert set(parts.values()) != {"same"}, f"tdsl/changes/requirements.py does not compare `{clause}`"
        results = judge_requirements(FABRIC, [replace(asked, metric="diameter")], Diagnostics(), ["diameter"])
        bare = [r for r in results if r.requirement is None]
        assert bare, f"tdsl/verify/runner.py takes a requirement with `{clause}` for one of the whole fabric"
