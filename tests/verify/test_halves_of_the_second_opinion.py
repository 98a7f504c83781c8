"""Balanced splits of the second opinion: what z3 finds against trying all splits, and the sizes that it takes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.verify.second import failures, graph_figures, halves
from tdsl.verify.second.answer import Limits, MethodTooLarge, NoOpinion, SecondAnswer
from tdsl.verify.second.halves import Halves
from tdsl.verify.second.wiring import WiringGraph
from tests.fabrics import Builder, claim, selector
from tests.verify.test_verdicts_of_the_second_opinion import leaves, result

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
    made = Halves(units, tuple(links), 1, 1)
    possible = {*crossings(units, made.links)}
    least = min(possible)
    for most in (least - 1, least, least + 1, least + 3, sum(c for *_, c in links)):
        found = made.split(most, LIMITS)
        if most < least:
            assert found is None
        else:
            assert found in possible and found is not None and least <= found <= most


def test_a_split_may_cross_nothing() -> None:
    made = Halves((0, 1, 2, 3), ((0, 8, 1), (1, 8, 1), (2, 9, 1), (3, 9, 1)), 1, 1)
    assert made.split(0, LIMITS) == 0 and made.split(-1, LIMITS) is None


def test_units_with_the_very_same_links() -> None:
    """Each with the next of its kind; a link of another capacity or to another device makes another kind."""
    links = ((0, 9, 1), (9, 1, 1), (2, 9, 1), (3, 9, 2), (4, 8, 1), (5, 8, 1), (6, 9, 1), (6, 8, 1))
    assert Halves((0, 1, 2, 3, 4, 5, 6, 7, 10), links, 1, 1)._equal() == [(0, 1), (1, 2), (4, 5), (7, 10)]


def rates(*each: int, switches: int = 1) -> Fabric:
    """Hosts at these rates, in bit/s, on each of some switches."""
    b = Builder("rates")
    host = b.devices("node", b.model("host", "NODE", {"nic": 4}), len(each))
    switch = b.devices("sw", b.model("switch", "SW", {"p": 128}), switches)
    for n, rate in enumerate(each):
        for s in range(switches):
            b.link(b.free(host, n), b.free(switch, s), rate)
    return b.build()


def test_capacities_in_grains() -> None:
    """Five hosts of 60 to 150 bit/s on two switches: grains of 30, and twice 2 + 2 grains of the two slowest."""
    found = Halves.of(WiringGraph.whole(rates(150, 60, 120, 90, 60, switches=2)), LIMITS)
    assert (found.units, found.grain, found.full) == ((0, 1, 2, 3, 4), 30, 8)
    assert sorted(found.links) == [(u, s, c) for u, c in enumerate((5, 2, 4, 3, 2)) for s in (5, 6)]
    assert Halves.of(WiringGraph.whole(rates(40, 40)), LIMITS).grain == 40


def test_sizes_that_are_refused() -> None:
    w = WiringGraph.whole(rates(150, 60, 120, 90, switches=2))
    assert Halves.of(w, Limits(crossings=8, units=4)).full == 10
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 8 pairs with links; the limit is 7$"):
        Halves.of(w, Limits(crossings=7))
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 16 splits of 4 units; the limit is 8$"):
        Halves.of(w, Limits(units=3))
    same = WiringGraph.whole(rates(60, 60, 60, 120, 120))
    assert Halves.of(same, Limits(units=4)).full == 2, "4 x 3 splits of three equal and two equal hosts"
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 12 splits of 5 units; the limit is 8$"):
        Halves.of(same, Limits(units=3))
    with pytest.raises(NoOpinion, match=r"^there are fewer than two units$"):
        Halves.of(WiringGraph.whole(rates(60)), LIMITS)
    most = 2**31 - 1
    assert Halves.of(WiringGraph.whole(rates(1, most - 1)), LIMITS).full == 1
    with pytest.raises(
        MethodTooLarge, match=r"^too large for z3: all links together carry 2,147,483,648 times 1 bit/s; the limit is"
    ):
        Halves.of(WiringGraph.whole(rates(1, most)), LIMITS)
    pairs = WiringGraph.whole(rates(*(n for n in range(1, 41)), switches=1))
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 2\^40 splits of 40 units; the limit is 65,536$"):
        Halves.of(pairs, LIMITS)
    million = WiringGraph.whole(rates(*(n // 9 for n in range(9, 9 * 13))))
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 2\^39 splits of 108 units; the limit is 65,536$"):
        Halves.of(million, LIMITS)  # 12 kinds of 9 equal hosts: 10^12 splits
    few = WiringGraph.whole(rates(*range(1, 40), switches=1))
    with pytest.raises(MethodTooLarge, match=r"^too large for z3: 549,755,813,888 splits of 39 units; the limit is 65,536$"):
        Halves.of(few, LIMITS)


def test_z3_gives_up_after_its_steps() -> None:
    made = Halves(tuple(range(12)), tuple((u, s, 1 + (u * s) % 5) for u in range(12) for s in (20, 21, 22)), 1, 1)
    with pytest.raises(NoOpinion, match=r"^z3 gave no answer within 1 steps$"):
        made.split(20, replace(LIMITS, work=1))


def bounds(low: Any, high: Any) -> SecondAnswer:
    """The answer about bounds of the bisection of two leaves of two hosts each with three links of 400 Gbit/s between them."""
    fabric = leaves(2, 3).build()
    asked = claim(fabric, "bisection", ">=", Fraction(1, 10))
    return halves.confirm_bisection_by_z3(
        WiringGraph.whole(fabric), asked, replace(result(fabric, asked), lower=low, upper=high), LIMITS
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
    """Hosts of 60 and 90 bit/s on two switches; 100% is 120 bit/s before one fails, and 60 then."""
    w = WiringGraph.whole(rates(60, 90, switches=2)).without([2])
    asked = claim(w.fabric, "bisection", ">=", Fraction(1, 2))
    assert halves.least_bisection_by_z3(w, asked, LIMITS) == SecondAnswer("z3", Fraction(1), Fraction(1), full_bps=Fraction(60))
    intact = replace(asked, of_intact=True)
    assert halves.least_bisection_by_z3(w, intact, LIMITS) == SecondAnswer(
        "z3", Fraction(1, 2), Fraction(1, 2), full_bps=Fraction(120)
    )


@pytest.mark.parametrize(
    ("figure", "value", "holds"),
    [
        # of a required value below 1 the error is a tenth of 1, above it a tenth of the value
        (Fraction(6, 10), Fraction(5, 10), (True, Fraction(1, 10))),
        (Fraction(4, 10), Fraction(5, 10), (True, Fraction(1, 10))),
        (Fraction(39, 100), Fraction(5, 10), (False, 0)),
        (Fraction(61, 100), Fraction(5, 10), (True, 0)),
        (Fraction(27, 10), Fraction(3), (True, Fraction(1, 10))),
        (Fraction(269, 100), Fraction(3), (False, 0)),
        (Fraction(331, 100), Fraction(3), (True, 0)),
    ],
)
def test_floats_within_their_error_are_equal(
    figure: Fraction, value: Fraction, holds: tuple[bool, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a failure a figure that is within its error of the required value is said to hold, with the error."""
    fabric = leaves(3).build()
    answer = SecondAnswer("HiGHS", figure, figure, relative=Fraction(1, 10))
    monkeypatch.setattr(failures.patterns, "throughput", lambda *_: answer)
    given = claim(fabric, "throughput", ">=", value, args=("ring",))
    asked = claim(fabric, "survives", of=(selector(fabric, "node"),), any_count=1, given=given)
    found = failures.survival_by_second_method(WiringGraph.whole(fabric), asked, LIMITS)
    assert (found.by, found.holds, found.relative) == ("HiGHS", *holds)


def test_sets_one_by_one_or_by_z3() -> None:
    """Four sets of one host, 240 steps: as many as the limits are judged one by one, and above them z3 proposes sets."""
    fabric = leaves(2).build()
    asked = claim(fabric, "survives", of=(selector(fabric, "node"),), any_count=1)
    w = WiringGraph.whole(fabric)
    for limits, by in (
        (Limits(sets=4, steps=240), "networkx"),
        (Limits(sets=4, steps=239), "z3"),
        (Limits(sets=3, steps=240), "z3"),
    ):
        found = failures.survival_by_second_method(w, asked, limits)
        assert (found.by, found.holds) == (by, True), limits


def test_two_units_are_enough_after_a_failure() -> None:
    """Any one of three hosts, by both ways; of two hosts one is left, and there is no opinion."""
    for limits in (LIMITS, Limits(sets=0)):
        fabric = rates(60, 60, 60)
        asked = claim(fabric, "survives", of=(selector(fabric, "node"),), any_count=1)
        assert failures.survival_by_second_method(WiringGraph.whole(fabric), asked, limits).holds is True
        fabric = rates(60, 60)
        asked = claim(fabric, "survives", of=(selector(fabric, "node"),), any_count=1)
        with pytest.raises(NoOpinion, match=r"^fewer than two units are left after some failures$"):
            failures.survival_by_second_method(WiringGraph.whole(fabric), asked, limits)


def test_what_is_left_of_two_sets() -> None:
    """Where a member of each set is left, what flows is compared; where none is, the requirement fails."""
    fabric = leaves(2).build()
    both = selector(fabric, "leaf")
    one, two = (replace(both, text=f"leaf[{k}]", elements=(e,)) for k, e in enumerate(both.elements))
    for value, holds in ((Fraction(1), True), (Fraction(11, 10), False)):
        given = claim(fabric, "throughput", ">=", value, of=(one,), of_to=(two,))
        asked = claim(fabric, "survives", of=(selector(fabric, "node"),), any_count=1, given=given)
        assert failures.survival_by_second_method(WiringGraph.whole(fabric), asked, LIMITS).holds is holds
        gone = claim(fabric, "survives", of=(one,), any_count=1, given=given)
        assert failures.survival_by_second_method(WiringGraph.whole(fabric), gone, LIMITS).holds is False


def test_two_units_have_paths() -> None:
    """Two hosts are enough for redundancy: over one of two switches each path, and one path over a single switch."""
    for switches in (1, 2):
        w = WiringGraph.whole(rates(60, 90, switches=switches))
        for method in (graph_figures.node_redundancy_by_networkx, graph_figures.edge_redundancy_by_networkx):
            assert method(w, None, LIMITS) == SecondAnswer("networkx", Fraction(switches), Fraction(switches))
