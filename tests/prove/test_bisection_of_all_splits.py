"""Bisection of small fabrics of every family, against all splits that there are; and each of the searches for a least cut."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.budget import DEFAULT
from tdsl.prove.cuts import capacity_across_split, minimum_cut_of_split
from tdsl.prove.elimination import least_cut_by_elimination
from tdsl.prove.spectral_bound import spectral_cut_bound
from tdsl.prove.switch_placements import least_cut_by_placements
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder, random_chips, random_fabric, random_layers, superpod, swapped, two_links, without
from tests.prove.judges import least_of_table, least_over_all_splits
from tests.verify import judges

SEEDS = st.integers(0, 10**6)


def held(f, mixed=False):
    if mixed:
        f.link_rate[:] = np.where(np.arange(f.link_count) % 3, 400, 100) * GBPS
    view = View.whole(f)
    if len(view.units) < 2 or sorted(view.units.tolist()) != judges.units(f):
        return
    true = least_over_all_splits(f)
    found = bisection_bounds(view)
    net = found.net
    assert found.lower * net.grain == found.upper * net.grain == true  # few units: every split is cut in the end
    assert capacity_across_split(net, found.cut.units, found.cut.nodes) == found.cut.value == found.upper
    bounds = bisection_bounds(View.whole(f, replace(DEFAULT, split_count=0)))
    assert bounds.lower * net.grain <= true <= bounds.upper * net.grain
    assert bounds.lower > 0 or true == 0 or not judges.reachable(f)
    for other in (least_cut_by_elimination(net), least_cut_by_placements(net)):
        assert other is None or other[0] * net.grain == true == minimum_cut_of_split(net, other[1]).value * net.grain
    assert spectral_cut_bound(net)[0] * net.grain <= true


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.integers(1, 8), st.integers(2, 7), st.integers(1, 4), st.integers(0, 14), st.integers(0, 2), st.booleans())
def test_random_fabrics_against_every_split(seed, switches, hosts, nics, cables, loose, mixed):
    held(random_fabric(seed, switches, hosts, nics, cables, loose).build(), mixed)


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.booleans(), st.integers(0, 2))
def test_damaged_trees_against_every_split(seed, units, nodes, rails, spines, omit, damage):
    f = superpod(units, nodes, rails, spines, uplinks=2 * spines, omit_last=omit, manager=False).build()
    rng = np.random.default_rng(seed)
    for _ in range(damage):
        if f.link_count > 2:
            first, second = two_links(f, rng)
            f = without(f, [first]) if rng.random() < 0.5 else swapped(f, first, second)
    held(f)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 8), st.integers(1, 16), st.booleans())
def test_chips_and_layers_against_every_split(seed, chips, cables, layers):
    held((random_layers(seed) if layers else random_chips(seed, chips, cables)).build())


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_meshes_and_tori_against_every_split(data):
    """Chips in a grid, wrapped in some dimensions, with two links a step in some."""
    sizes = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3).filter(lambda s: np.prod(s) <= 10))
    wrap, doubled = (data.draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes))) for _ in range(2))
    b = Builder("mesh")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 40}), tuple(sizes), role="accelerator")
    for d in range(len(sizes)):
        for at in np.ndindex(*sizes):
            step = tuple((x + (i == d)) % sizes[i] for i, x in enumerate(at))
            for _ in range(1 + doubled[d] if wrap[d] or step[d] else 0):
                b.link(*(b.free(chip, int(np.ravel_multi_index(x, sizes))) for x in (at, step)))
    view = View.whole(b.build())
    net, found, none = unit_network(view), bisection_bounds(view), np.zeros(0, dtype=np.bool_)
    n = len(net.units)
    splits = (np.isin(np.arange(n), side) for side in combinations(range(n), n // 2))
    assert found.lower == found.upper == min(capacity_across_split(net, units, none) for units in splits)


@pytest.mark.parametrize(
    "limits", [{}, {"elimination_devices": 0, "split_count": 0}, {"elimination_devices": 0, "placed_switches": 0}]
)
def test_planes_of_one_wiring_and_other_rates_are_proved_apart(limits):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        b = Builder("planes")
        host = b.devices("node", b.model("host", "NODE", {"nic": 3}, accelerators=1), 4 + seed % 2 * 2)
        leaf, spine = (b.devices(f"plane p.{x}", b.model("switch", x, {"p": 16}), 3, 2) for x in ("leaf", "spine"))
        for p, rate in enumerate((rng.integers(1, 5, 3) * 100 * GBPS).tolist()):
            for h in range(4):
                b.link(b.port(host, h, "nic", p), b.free(leaf, 2 * p + h // 2))
            for x, y in ((0, 0), (0, 1), (1, 0), (1, 1)):
                b.link(b.free(leaf, 2 * p + x), b.free(spine, 2 * p + y), rate)
            if seed % 2:  # no Clos: hosts at a spine, and a link beside
                b.link(b.free(spine, 2 * p), b.free(spine, 2 * p + 1), rate)
                for h in (0, 1):
                    b.link(b.port(host, 4 + h, "nic", p), b.free(spine, 2 * p + h))
        found = bisection_bounds(View.whole(b.build(), replace(DEFAULT, **limits)))
        assert found.lower == found.upper == least_of_table(found.net), seed
