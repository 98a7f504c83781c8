"""Balanced splits of the second opinion: what z3 finds against trying all splits, and the sizes that it takes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tdsl.verify.second import halves
from tdsl.verify.second.answer import Limits, MethodTooLarge, NoOpinion, SecondAnswer
from tdsl.verify.second.halves import Halves
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import claim
from tests.verify.second.made import judged_result, leaves, rates

LIMITS = Limits()


def crossings(units: tuple[int, ...], links: tuple[tuple[int, int, int], ...]) -> Iterator[int]:
    """What every split of the units into halves crosses, with the other devices on either side."""
    names = sorted({*units, *(d for a, b, _ in links for d in (a, b))})
    for sides in product((0, 1), repeat=len(names)):
        side = dict(zip(names, sides, strict=True))
        if sum(side[u] for u in units) == len(units) // 2:
            yield sum(c for a, b, c in links if side[a] != side[b])


@pytest.mark.parametrize("seed", range(12))
def test_a_split_that_crosses_at_most_so_much(seed: int) -> None:
    """One is found exactly if there is one; some units have the same links, and one may have none."""
    rng = random.Random(seed)
    units, switches = tuple(range(rng.randrange(2, 6))), (7, 8, 9)
    links = [(u, s, rng.randrange(1, 4)) for u in units[seed % 2 :] for s in rng.sample(switches, rng.randrange(1, 3))]
    links += [(7, 8, 2), (8, 9, 3), (0, 9, 1)]
    if seed % 3 == 0:
        links += [(units[-1], 20, 2), (20, 7, 1)]
    made = Halves(units, tuple(links), 1, Fraction(1), True)
    possible = {*crossings(units, made.links)}
    least = min(possible)
    for most in (least - 1, least, least + 1, least + 3, sum(c for *_, c in links)):
        found = made.split(most, LIMITS)
        if most < least:
            assert found is None
        else:
            assert found in possible and found is not None and least <= found <= most


def test_capacities_in_grains() -> None:
    """Five hosts of 60 to 150 bit/s on two switches: grains of 30, and half of twice 16 grains."""
    found = Halves.of(WiringGraph.whole(rates(150, 60, 120, 90, 60, switches=2)), LIMITS)
    assert (found.units, found.grain, found.full, found.equal) == ((0, 1, 2, 3, 4), 30, 16, False)
    assert sorted(found.links) == [(u, s, c) for u, c in enumerate((5, 2, 4, 3, 2)) for s in (5, 6)]
    assert Halves.of(WiringGraph.whole(rates(40, 40)), LIMITS).grain == 40


def test_sizes_that_are_refused() -> None:
    w = WiringGraph.whole(rates(150, 60, 120, 90, switches=2))
    assert Halves.of(w, Limits(crossings=8, units=4)).full == 14
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 8 pairs with links; the limit is 7$"):
        Halves.of(w, Limits(crossings=7))
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 16 splits of 4 units; the limit is 8$"):
        Halves.of(w, Limits(units=3))
    same = WiringGraph.whole(rates(60, 60, 60, 120, 120))
    assert Halves.of(same, Limits(units=4)).full == Fraction(7, 2), "4 x 3 splits of three equal and two equal hosts"
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 12 splits of 5 units; the limit is 8$"):
        Halves.of(same, Limits(units=3))
    with pytest.raises(NoOpinion, match=r"^there are fewer than two units$"):
        Halves.of(WiringGraph.whole(rates(60)), LIMITS)


def bounds(low: Any, high: Any) -> SecondAnswer:
    """The answer about bounds of the bisection of two leaves of two hosts each with three links of 400 Gbit/s between them."""
    fabric = leaves(2, 3).build()
    asked = claim(fabric, "bisection", ">=", Fraction(1, 10))
    return halves.confirm_bisection_by_z3(
        WiringGraph.whole(fabric), asked, replace(judged_result(fabric, asked), lower=low, upper=high), LIMITS
    )


def test_what_contradicts_the_bounds_of_a_result() -> None:
    """The least split cuts two hosts off, 800 Gbit/s, as much as two hosts inject."""
    full = Fraction(800 * 10**9)
    assert bounds(Fraction(1), Fraction(1)) == SecondAnswer("z3", Fraction(1), Fraction(1), full_bps=full)
    wide = bounds(Fraction(1, 2), Fraction(3, 2))
    assert (wide.lower, wide.full_bps) == (Fraction(1, 2), full) and wide.upper in (1, Fraction(3, 2)), (
        "any split that is no more"
    )
    above = bounds(Fraction(3, 2), Fraction(2))
    assert (above.lower, above.upper, above.full_bps) == (0, 1, full), "a split crosses less than the lower bound"
    below = bounds(Fraction(1, 4), Fraction(1, 2))
    assert (below.lower, below.upper, below.full_bps) == (1, float("inf"), full), "no split crosses so little"
    between = bounds(Fraction(3, 4), Fraction(3, 4))
    assert (between.lower, between.upper) == (1, float("inf"))


@pytest.mark.parametrize(("trunk", "share"), [(1, Fraction(1, 2)), (2, Fraction(1)), (3, Fraction(1))])
def test_the_least_share_of_full(trunk: int, share: Fraction) -> None:
    fabric = leaves(2, trunk).build()
    found = halves.least_bisection_by_z3(WiringGraph.whole(fabric), None, LIMITS)
    assert found == SecondAnswer("z3", share, share, full_bps=Fraction(800 * 10**9))


def test_full_before_a_failure() -> None:
    """Hosts of 60 and 90 bit/s on two switches; 100% is 150 bit/s before one fails, and no one figure then: they differ."""
    w = WiringGraph.whole(rates(60, 90, switches=2)).without([2])
    asked = claim(w.fabric, "bisection", ">=", Fraction(1, 2))
    with pytest.raises(NoOpinion, match="send different amounts"):
        halves.least_bisection_by_z3(w, asked, LIMITS)
    intact = replace(asked, of_intact=True)
    assert halves.least_bisection_by_z3(w, intact, LIMITS) == SecondAnswer(
        "z3", Fraction(2, 5), Fraction(2, 5), full_bps=Fraction(150)
    )
