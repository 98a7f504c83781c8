"""The least cut over all places of some switches; against all cuts in ``test_bisection_of_all_splits.py``."""

from __future__ import annotations

from tdsl.prove.budget import Budget
from tdsl.prove.switch_placements import least_cut_by_placements, placement_order
from tests.prove.networks import between_units

LINE = {(0, 2): 1, (1, 3): 1, (2, 3): 1}


def test_units_of_one_class_need_no_placed_switch() -> None:
    """All of them have a link to both switches."""
    found = least_cut_by_placements(between_units(2, 2, {(u, s): 1 for u in (0, 1) for s in (2, 3)}), Budget(placed_switches=0))
    assert found is not None and found[0] == 2


def test_a_class_of_more_than_half_of_the_units() -> None:
    found = least_cut_by_placements(between_units(12, 2, {(h, 12 if h < 2 else 13): 1 for h in range(12)} | {(12, 13): 9}))
    assert found is not None and found[0] == 6 and int(found[1].sum()) == 6


def test_networks_without_placements() -> None:
    """Links between units, or no switch at all."""
    assert least_cut_by_placements(between_units(2, 2, LINE)) is not None
    assert least_cut_by_placements(between_units(2, 2, LINE | {(0, 1): 1})) is None
    assert least_cut_by_placements(between_units(2, 0, {})) is None
    found = least_cut_by_placements(between_units(3, 1, {}))
    assert found is not None and found[0] == 0 and int(found[1].sum()) in (1, 2)
    assert placement_order(between_units(2, 2, {(0, 2): 1, (1, 2): 1, (2, 3): 4})) == [[3], [2], [0], [1]]
