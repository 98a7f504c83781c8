"""Limits of work by the time that is allowed, and how bounds are joined."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from tdsl.prove.bound import Bound, LinkCut
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.view import View
from tests.prove.networks import wired

SIZES = {
    "covered_failures": 6, "drawn_loads": 4_000_000, "drawn_states": 65_536, "exact_failures": 3, "fatal_failures": 4,
    "flow_draws": 1000, "least_flow_draws": 100, "most_spares": 4096, "sampled_states": 100,
    "state_confidence": Fraction(99, 100), "state_seed": 1, "urn_balls": 1024,
    "twin_capacities": 4,
    "port_degree": 64, "symmetry_sets": 200_000, "failure_sets": 600, "symmetric_elements": 600, "named_elements": 100_000,
    "blast_elements": 5_000, "arc_program_cells": 40_000, "path_program_rows": 6_000, "path_program_entries": 200_000,
    "path_program_easy_rows": 4_000, "path_program_gap": 0.02, "path_program_corner_gap": 0.0005,
    "path_program_corner_entries": 20_000, "combination_arcs": 400_000, "combination_gap": 0.005, "hub_gap": 0.1,
    "hub_nodes": 4096, "near_ratio": Fraction(11, 10), "tree_classes": 64, "quotient_ratio": 2, "flow_entries": 200_000,
    "uniform_program_cells": 20_000_000, "uniform_gap": 0.002, "uniform_last_cells": 3_000_000, "uniform_classes": 6,
    "uniform_pairs": 8_000_000, "other_scope_cells": 2_000_000, "domain_pairs": 2**20, "judged_domains": 16, "search_roots": 3,
    "good_enough_trunks": 20_000, "bisection_parts": 200, "bisection_gain": Fraction(0), "split_count": 500,
    "placing_trunks": 60_000, "hub_arcs": 8_000_000,
    "placed_switches": 18, "placement_switches": 4_000, "elimination_width": 20, "elimination_devices": 400,
    "spectrum_nodes": 700, "move_starts": 4, "move_random_starts": 10, "move_patience": 400, "walk_starts": 8, "walk_moves": 700,
    "flat_dimensions": 8, "flat_orders": 24,
    "restored_parts": 20, "restored_pairs": 20_000_000, "group_parts": 2**20, "routed_groups": 4_000, "flow_pairs": 200_000,
    "listed_messages": 20_000, "listed_tree_messages": 1_000_000,
    "block_cuts": 8, "block_cut_links": 400_000, "rail_ends": 4096, "schedule_messages": 300_000,
    "schedule_ends": 2048, "halving_ends": 256, "exchanged_blocks": 8, "exchange_pairs": 20_000,
    "unlike_exchange_pairs": 300_000, "schedule_gap": 0.001, "switch_share_parts": 10_000, "tree_program_columns": 3_000,
    "tree_parts": 2_520, "tree_links": 20_000, "tree_mixture_least": 8, "tree_mixture_stale": 4, "tree_mixture_slack": 0.3,
    "tree_mixture_level": 10, "tree_mixture_gain": 0.0005,
    "tree_mixture_parts": 100_000, "equal_block_cuts": 2, "arcs_compared_at_once": 20, "irregular_orbits": 1_000,
    "first_length": 1_000,
    "first_lengths": 2,
}  # fmt: skip
"""Limits that do not depend on the time: answers of published designs rest on them."""


def test_default_sizes_and_gaps() -> None:
    """A design is judged by the same methods in every release until one of these is changed on purpose."""
    given = {f.name: getattr(DEFAULT, f.name) for f in fields(Budget) if not f.name.endswith(("_work", "_rounds"))}
    assert given == SIZES


@pytest.mark.parametrize("factor", [Fraction(1, 10**12), Fraction(1, 7), Fraction(1), Fraction(10, 7), Fraction(60)])
def test_limits_grow_with_the_time(factor: Fraction) -> None:
    """Work in proportion, one step at least; rounds in proportion where that is more; sizes and gaps as they are."""
    made = DEFAULT.times(factor)
    for f in fields(Budget):
        before, after = getattr(DEFAULT, f.name), getattr(made, f.name)
        if f.name.endswith("_work"):
            assert after == max(1, int(before * factor)), f.name
        elif f.name.endswith("_rounds"):
            assert after == max(before, int(before * factor)), f.name
        else:
            assert after == before, f.name


@pytest.mark.parametrize(("low", "high"), [(1, 6), (2, 7), (3, 8)])
def test_the_better_bounds_of_both(low: int, high: int) -> None:
    """Each with its own proof; of equal ones the first."""
    one, other = Bound(2, 7, "low", "high"), Bound(low, high, "other low", "other high")
    found = one.joined(other)
    assert found == Bound(max(2, low), min(7, high), "other low" if low > 2 else "low", "other high" if high < 7 else "high")
    assert not found.exact and Bound(high, high, "", "").exact


def test_links_of_a_cut() -> None:
    """Links between the sides that forward, or at the two devices; not those of a third host."""
    f = wired("h0-s0 h1-s1 s0-s1*2 s0-s2 h2-s1 h2-s2 h0-s1")
    view = View.whole(f)
    at = {f.device_name(d): d for d in range(f.device_count)}
    for pair, inside, wanted in (
        (("h0", "h1"), ("h0", "s0", "h2"), [("h0", "s1"), ("s0", "s1"), ("s0", "s1"), ("s0", "s2")]),
        (("h2", "h1"), ("h2", "s2"), [("h2", "s1"), ("s0", "s2")]),
        (("h0", "h2"), ("h0",), [("h0", "s0"), ("h0", "s1")]),
        (("h1", "h2"), ("h1", "h0"), [("h1", "s1")]),
    ):
        side = np.zeros(f.device_count, dtype=np.bool_)
        side[[at[x] for x in inside]] = True
        rows = LinkCut((at[pair[0]], at[pair[1]]), side).rows(view)
        found = sorted(tuple(sorted((f.device_name(int(view.a[r])), f.device_name(int(view.b[r]))))) for r in rows)
        assert found == wanted, pair
        assert not view.forwards[[at["h0"], at["h1"]]].any()
