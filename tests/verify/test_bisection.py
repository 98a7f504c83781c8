"""Bisection: known figures, bounds against every split on random fabrics, and symmetry that changes nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.budget import DEFAULT
from tdsl.prove.clos import total_at
from tdsl.prove.cuts import capacity_across_split
from tdsl.prove.profiles import join_profiles, min_plus, repeat_profile
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.semantics.quantity import RATE, Quantity
from tdsl.verify.check import checks_by_name, percent_range, percent_text
from tdsl.verify.compare import judgement_for_claim
from tests.fabrics import (
    GBPS,
    Builder,
    claim,
    multiplane,
    rail_only,
    random_chips,
    random_fabric,
    scale_up,
    superpod,
    swapped,
    torus,
    two_links,
    without,
)
from tests.harness import compile_text, fabric_of, places
from tests.verify import judges

SEEDS = st.integers(0, 10**6)
THREE = """
fabric f {{
  group pod[4] {{
    group rack[{racks}] {{
      host node[2]: BOX
      switch tor: BIG
      connect node[n].nic[r] to tor
    }}
    switch agg[4]: BIG
    connect rack[*].tor to agg[*] spread x 4
  }}
  switch core[4 * {each}]: BIG
  connect pod[p].agg[a] to core[a * {each}..a * {each} + {each} - 1] spread x {each}
  {more}
}}
"""


def judge(fabric, given=None):
    return checks_by_name()["bisection"].judge(View.whole(fabric), given)


def least_over_all_splits(f):
    """Exhaustive: every balanced split, a maximum flow each."""
    units, inner = judges.units(f), judges.forwarders(f)
    g = nx.DiGraph()
    for (a, b), rate in zip(judges.pairs(f), f.link_rate.tolist(), strict=True):
        if {a, b} <= inner | set(units) and a != b:
            for x, y in ((a, b), (b, a)):
                g.add_edge(x, y, capacity=g.get_edge_data(x, y, {"capacity": 0})["capacity"] + rate)
    values = []
    for side in combinations(units, len(units) // 2):
        h = g.copy()
        h.add_edges_from(("source", u) for u in side)
        h.add_edges_from((u, "sink") for u in units if u not in side)
        values.append(nx.maximum_flow_value(h, "source", "sink"))
    return min(values)


# ---------------------------------------------------------------- known figures


@pytest.mark.parametrize(("units", "spines", "ports"), [(1, 4, 120), (2, 8, 248), (3, 16, 376), (4, 16, 504)])
def test_a_superpod_of_every_size_has_full_bisection(units, spines, ports):
    found = judge(superpod(units=units, spines=spines).build())
    assert (found.status, found.value, found.lower, found.upper) == ("proved", 1, 1, 1)
    assert found.measures["lower_links"] == found.measures["upper_links"] == ports
    assert found.measures["lower_bps"] == ports * 400e9


def lose(f, *paths):
    gone = [d for d in range(f.device_count) if f.device_path(d) in paths]
    assert len(gone) == len(paths)
    return without(f, np.flatnonzero(np.isin(f.device_a, gone) | np.isin(f.device_b, gone)))


@pytest.mark.parametrize(
    ("omit", "lost", "value", "links"),
    [
        (False, ["spine[7]"], Fraction(15, 16), 480),
        (True, ["spine[7]"], Fraction(20, 21), 480),
        (True, ["spine[0]", "spine[1]"], Fraction(448, 504), 448),
    ],
)
def test_a_lost_spine(omit, lost, value, links):
    found = judge(lose(superpod(omit_last=omit).build(), *lost))
    assert (found.status, found.value, found.measures["upper_links"]) == ("proved", value, links)
    assert found.witness["cut_links"] == links and found.witness["cut_classes"] == {"leaf-spine": links}
    assert sum(found.witness["split"]) == (127 if omit else 128)
    assert all(name.startswith("su[") for side in found.witness["sides"] for name in side)


def test_one_lost_link_costs_one_link():
    f = superpod().build()
    trunk = int(np.flatnonzero(f.is_switch[f.device_a])[9])
    assert judge(without(f, [trunk])).value == Fraction(503, 504)


@pytest.mark.parametrize(("uplinks", "value"), [(32, Fraction(1)), (16, Fraction(256, 504))])
def test_two_to_one(uplinks, value):
    assert judge(superpod(uplinks=uplinks).build()).value == value


def test_planes_rails_and_scale_up_domains_are_added_under_one_split():
    for built, ports in ((multiplane(), 32), (rail_only(), 16), (scale_up(), 36)):
        found = judge(built.build())
        assert (found.status, found.value, found.measures["lower_links"]) == ("proved", 1, ports)


@pytest.mark.parametrize(
    ("racks", "each", "more", "links"),
    [
        (24, 28, "", 192),
        (24, 7, "", 56),  # 24 down and 7 up at every agg: 4 pods, 2 of 28 links each on a side
        (24, 7, "omit core[3]", 54),
        (24, 7, "omit core[3]; omit core[9]", 52),
        (24, 24, "omit core[3]", 190),
        (12, 7, "omit pod[1].rack[2].node[1]", 56),
    ],
)  # fmt: skip
def test_three_tiers(racks, each, more, links, tmp_path):
    f = fabric_of(THREE.format(racks=racks, each=each, more=more.replace("; ", "\n  ")), tmp_path)
    found = bisection_bounds(View.whole(f))
    assert (found.lower, found.upper) == (links, links)


@pytest.mark.parametrize("sizes", [(8,), (4, 4), (6, 4), (4, 4, 4), (2, 2, 2), (8, 4, 2)])
def test_even_tori(sizes):
    longest = max(sizes)
    found = bisection_bounds(View.whole(torus(*sizes).build()))
    expected = prod(sizes) // longest * (1 if longest == 2 else 2)
    if longest == 2:
        expected *= 2  # a dimension of two has double links
    assert (found.lower, found.upper) == (expected, expected)


def test_hosts_that_differ_and_rates_that_differ():
    b = Builder()
    switch = b.model("switch", "SW", {"p": 16})
    small, large = (b.model("host", n, {"nic": {"shape": k, "rate": r}}, 1) for n, k, r in (("S", 1, 200), ("L", 3, 400)))
    low, high, leaf = b.devices("small", small, 2), b.devices("large", large, 2), b.devices("leaf", switch, None)
    for s, rate in ((low, 200), (high, 400)):
        for row in range(2):
            for i in range(s.model.port_count):
                b.link(b.port(s, row, "nic", i), b.free(leaf, 0), rate * GBPS)
    found = judge(b.build())
    assert (found.value, found.measures) == (1, {"lower_bps": 400e9, "upper_bps": 400e9})


def test_managers_count_for_nothing_and_pass_nothing_on():
    f = superpod().build()
    net = unit_network(View.whole(f))
    assert net.full == 504 and "ufm" not in {f.device_name(int(d)) for d in (*net.units, *net.transit)}


def test_a_claim_in_bits_a_second():
    rate = Quantity(Fraction(200 * 10**12), RATE)
    f = superpod().build()
    check = checks_by_name()["bisection"]
    for op, amount, status in ((">=", rate, "proved"), (">", Quantity(Fraction(504 * 400 * 10**9), RATE), "refuted")):
        given = claim(f, "bisection", op, amount)
        assert judgement_for_claim(given, check, check.judge(View.whole(f), given)).status == status


def test_fewer_than_two_hosts_and_hosts_without_links():
    assert judge(superpod(units=1, nodes=1, omit_last=False, spines=1).build()).status == "skipped"
    f = superpod(units=1, nodes=2, omit_last=False, spines=1).build()
    assert judge(without(f, np.arange(f.link_count))).status == "skipped"


def test_rates_without_a_common_divisor():
    f = superpod().build()
    f.link_rate[f.is_switch[f.device_a]] += 1
    found = judge(f)
    assert (found.status, found.value) == ("proved", 1) and "lower_links" not in found.measures


def test_a_claim_about_each_unit_and_what_is_printed(tmp_path):
    text = """
fabric f {
  group su[2] {
    host node[4]: NODE
    switch leaf[4]: BIG
    connect node[n].nic[r] to leaf[r]
  }
  switch spine[2]: BIG
  connect su[*].leaf[*] to spine[*] spread x 2
  require bisection of su[*] >= 100%
  require bisection >= 50% and bisection >= 3.2Tbps
  require bisection >= 51%
}
"""
    found = compile_text(text, tmp_path)
    assert places(found.findings) == [("E0408", 12)]
    words = "`bisection >= 51%` does not hold: 50%: 8 of 16 links, 8 leaf-spine separate 4 hosts (su[0]) from 4"
    assert found.findings[0].message == words
    facts = [r.facts() for r in found.designs[0].results if r.check == "bisection"]
    assert [(x["status"], x["lower"], x["upper_links"]) for x in facts][1] == ("proved", 0.5, 8)


# ---------------------------------------------------------------- against every split


@pytest.mark.slow
@settings(max_examples=800, deadline=None)
@given(SEEDS, st.integers(1, 8), st.integers(2, 8), st.integers(1, 4), st.integers(0, 14), st.integers(0, 2), st.booleans())
def test_random_fabrics_against_every_split(seed, switches, hosts, nics, cables, loose, mixed):
    f = random_fabric(seed, switches, hosts, nics, cables, loose).build()
    if mixed:
        f.link_rate[:] = np.where(np.arange(f.link_count) % 3, 400, 100) * GBPS
    held(f)


@settings(max_examples=700, deadline=None)
@given(SEEDS, st.integers(1, 3), st.integers(1, 2), st.integers(1, 2), st.integers(1, 2), st.booleans(), st.integers(0, 2))
def test_damaged_trees_against_every_split(seed, units, nodes, rails, spines, omit, damage):
    f = superpod(units, nodes, rails, spines, uplinks=2 * spines, omit_last=omit, manager=False).build()
    rng = np.random.default_rng(seed)
    for _ in range(damage):
        if f.link_count > 2:
            first, second = two_links(f, rng)
            f = without(f, [first]) if rng.random() < 0.5 else swapped(f, first, second)
    held(f)


@settings(max_examples=150, deadline=None)
@given(SEEDS, st.integers(2, 8), st.integers(1, 16))
def test_chips_against_every_split(seed, chips, cables):
    held(random_chips(seed, chips, cables).build())


def held(f):
    view = View.whole(f)
    if len(view.units) < 2 or sorted(view.units.tolist()) != judges.units(f):
        return
    true = least_over_all_splits(f)
    found = bisection_bounds(view)
    assert found.lower * found.net.grain == found.upper * found.net.grain == true  # few units: every split is cut in the end
    assert capacity_across_split(found.net, found.cut.units, found.cut.nodes) == found.cut.value == found.upper
    bounds = bisection_bounds(View.whole(f, replace(DEFAULT, split_count=0)))
    assert bounds.lower * bounds.net.grain <= true <= bounds.upper * bounds.net.grain
    assert bounds.lower > 0 or true == 0 or not judges.reachable(f)


# ---------------------------------------------------------------- pieces


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=4))
def test_profiles_are_the_least_over_all_choices(steps):
    profiles = [np.concatenate(([0], np.cumsum(s))) for s in steps]
    most = sum(map(len, steps))
    out = np.zeros(1, dtype=np.int64)
    for p in profiles:
        out = min_plus(out, p, most)
    for x in range(most + 1):
        ways = [[]]
        for p in profiles:
            ways = [[*w, k] for w in ways for k in range(len(p)) if sum(w) + k <= x]
        assert out[x] == min(sum(int(p[k]) for p, k in zip(profiles, w, strict=True)) for w in ways if sum(w) == x)
    for p in profiles:
        twice = min_plus(min_plus(p, p, most), p, most)
        assert np.array_equal(repeat_profile(p, 3, most)[: len(twice)], twice)


def test_sets_that_overlap_count_on_their_least_share():
    parts = [(np.array([0, 1]), np.array([0, 4, 6])), (np.array([1, 2]), np.array([0, 2, 2]))]
    members, profile = join_profiles(parts, 3)
    assert members.tolist() == [0, 1, 2] and profile.tolist() == [0, 1, 4, 8]
    for x in range(4):
        ways = (
            [len({0, 1} & set(s)) for s in combinations(range(3), x)],
            [len({1, 2} & set(s)) for s in combinations(range(3), x)],
        )
        assert profile[x] <= min(int(parts[0][1][a] + parts[1][1][b]) for a, b in zip(*ways, strict=True))
    assert all(a <= b for a, b in pairwise(profile))


def test_the_worst_mixture_takes_the_greatest_part_first():
    third, quarter = Fraction(1, 3), Fraction(1, 4)
    assert total_at([(quarter, Fraction(92)), (third, Fraction(3))], Fraction(7)) == 27
    assert total_at([(quarter, Fraction(4))], Fraction(7)) == 4


# ---------------------------------------------------------------- words


def test_a_side_is_counted_whole(tmp_path):
    text = "fabric f { host b[48]: BOX; switch l[2]: BIG; connect b[n].nic[i] to l[n//24]; connect l[0] to l[1] x 3 }"
    found = checks_by_name()["bisection"].judge(View.whole(fabric_of(text, tmp_path)), None)
    assert "separate 24 hosts (b[0], b[1], b[2] and 21 more) from 24" in found.text
    assert [len(side) for side in found.witness["sides"]] == [16, 16] and found.witness["sides"][0][-1] == "and 9 more"


def test_percentages_say_what_they_tell_apart():
    assert (percent_text(Fraction(15, 16)), percent_text(Fraction(1))) == ("93.75%", "100%")
    assert percent_text(Fraction(65535, 65536)) == "99.998%"
    assert percent_range(Fraction(749_988, 1_200_000), Fraction(5, 8)) == "between 62.499% and 62.5%"
