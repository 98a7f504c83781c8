"""Checks on random fabrics, against slow and plain judges."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove.budget import DEFAULT
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import random_chips, random_fabric, random_planes
from tests.verify import judges

SEEDS = st.integers(0, 10**6)


def judge(fabric, name, budget=DEFAULT):
    return checks_by_name()[name].judge(View.whole(fabric, budget), None)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 7), st.integers(2, 6), st.integers(1, 6), st.integers(0, 14), st.integers(0, 4))
def test_hosts_behind_random_switches(seed, switches, hosts, nics, cables, loose):
    f = random_fabric(seed, switches, hosts, nics, cables, loose).build()
    assert (judge(f, "reachability").status == "proved") == judges.reachable(f)
    expected = judges.diameter(f)
    found = judge(f, "diameter")
    assert found.value == expected if expected is not None else found.status == "skipped"
    paths = judge(f, "edge_redundancy")
    assert (paths.status, paths.value) == ("proved", judges.redundancy(f))
    assert paths.witness["cut_links"] == paths.value


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.integers(2, 8), st.integers(0, 20))
def test_chips_joined_at_random(seed, chips, cables):
    f = random_chips(seed, chips, cables).build()
    if not f.link_count:
        return
    assert (judge(f, "reachability").status == "proved") == judges.reachable(f)
    assert judge(f, "diameter").value == judges.diameter(f)
    paths = judge(f, "edge_redundancy")
    assert (paths.status, paths.value) == ("proved", judges.redundancy(f))
    assert paths.witness["cut_links"] == paths.value


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 4), st.integers(1, 3), st.integers(1, 2), st.integers(0, 12))
def test_planes_joined_at_random(seed, planes, each, outside, cables):
    f = random_planes(seed, planes, each, outside, cables).build()
    found = judge(f, "plane_isolation")
    assert (found.status == "proved") == judges.isolated_planes(f)
    if found.status == "refuted":
        assert found.faults
        way = found.witness["path"]
        rows = {f.device_name(d): d for d in range(f.device_count)}
        links = {frozenset(p) for p in judges.pairs(f)}
        assert all(frozenset((rows[x], rows[y])) in links for x, y in pairwise(way))
        assert 0 <= f.plane[rows[way[0]]] != f.plane[rows[way[-1]]] >= 0


@pytest.mark.parametrize("seed", range(4))
def test_a_work_limit_gives_bounds_that_hold(seed):
    f = random_fabric(seed, 12, 12, 4, 14).build()
    true = judges.redundancy(f)
    found = judge(f, "edge_redundancy", replace(DEFAULT, flow_work=0, flow_pairs=5))
    assert found.lower <= true <= found.upper
    assert found.witness["cut_links"] == found.upper
    assert found.status == ("proved" if found.lower == found.upper else "bounded")


@pytest.mark.parametrize("seed", range(4))
def test_a_diameter_from_a_sample_is_bounded(seed):
    f = random_fabric(seed, 60, 60, 3, 150).build()
    true = judges.diameter(f)
    found = judge(f, "diameter", replace(DEFAULT, diameter_work=1))
    assert found.lower <= true <= found.upper
