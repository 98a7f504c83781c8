"""What failures leave by the second opinion: one by one, by sets that z3 proposes, and the figures after them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.verify.second.answer import Limits, MethodTooLarge, NoOpinion
from tdsl.verify.second.failures import survival_by_second_method
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import claim, random_fabric, selector
from tests.verify.second.made import leaves, rates


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
    cases = (
        ("<=", 2, True),
        ("<=", 1, False),
        ("<", 2, False),
        ("==", 2, True),
        ("!=", 2, False),
        (">=", 2, True),
        (">", 2, False),
    )
    for op, value, holds in cases:
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


def test_two_units_are_enough_after_a_failure() -> None:
    """Any one of three hosts, by both ways; of two hosts one is left, and there is no opinion."""
    for limits in (Limits(), Limits(sets=0)):
        assert held(rates(60, 60, 60), "node", 1, limits) is True
        with pytest.raises(NoOpinion, match=r"^fewer than two units are left after some failures$"):
            held(rates(60, 60), "node", 1, limits)


def test_what_is_left_of_two_sets() -> None:
    """Where a member of each set is left, what flows is compared; where none is, the requirement fails."""
    fabric = leaves(2).build()
    both = selector(fabric, "leaf")
    one, two = (replace(both, text=f"leaf[{k}]", elements=(e,)) for k, e in enumerate(both.elements))
    for value, holds in ((Fraction(1), True), (Fraction(11, 10), False)):
        given = claim(fabric, "throughput", ">=", value, of=(one,), of_to=(two,))
        assert held(fabric, "node", 1, given=given) is holds
        assert held(fabric, "leaf", 1, given=given) is False
