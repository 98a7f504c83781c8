"""Rules of single steps of proofs, each by itself: splits, names of domains, tiers, fractions of paths, ranges of numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.prove.bisection import _every_split, bisection_bounds
from tdsl.prove.budget import DEFAULT
from tdsl.prove.by_domain import ByDomain
from tdsl.prove.clos import hub_spread
from tdsl.prove.concurrent_flow import MOST, _round_to_fractions, _whole_lengths
from tdsl.prove.elimination import elimination_order, least_cut_by_elimination
from tdsl.prove.equal_split import FAR, UniformDemand, _sum_distance_times_demand
from tdsl.prove.group_routing import _loads_within_group
from tdsl.prove.restored_links import restore_missing_links
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.uniform_flow import FINE, _sums_fit_in_words
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder, superpod
from tests.verify.test_domains import racks
from tests.verify.test_faults_of_proofs import two_groups


@pytest.mark.parametrize("units", range(2, 9))
def test_every_balanced_split_comes_once(units: int) -> None:
    """Of an even number one side has half and the first unit; of an odd number either side may be the smaller."""
    found = [frozenset(np.flatnonzero(x).tolist()) for x in _every_split(SimpleNamespace(units=range(units), half=units // 2))]
    wanted = {frozenset(c) for c in combinations(range(units), units // 2) if units % 2 or 0 in c}
    assert len(found) == len(set(found)) and set(found) == wanted


@pytest.mark.parametrize(("inside", "crossing"), [((1, 3), 4), ((3, 1), 4), ((5, 7), 10), ((1, 1), 2)])
def test_routes_between_groups_are_no_answer_while_better_bounds_are_known(inside: tuple[int, int], crossing: int) -> None:
    """Groups of two switches and two hosts: routes between them show less than all splits do, or as much."""
    found = bisection_bounds(View.whole(two_groups(*(400 * x for x in inside))))
    assert (found.lower, found.upper) == (crossing, crossing)


@pytest.mark.parametrize(("groups", "spines_first"), [(0, False), (3, False), (3, True)])
def test_links_that_one_group_lacks_are_restored(groups: int, spines_first: bool) -> None:
    """Four leaves, or three groups of two, with 20 links to each of two spines; the first leaf lacks two to one spine."""
    b = Builder("lacking")
    model, leaf, spine = b.model("switch", "SW", {"p": 400}), None, None
    for spines in (spines_first, not spines_first):
        if spines:
            spine = b.devices("spine", model, 2)
        else:
            leaf = b.devices("g.leaf", model, groups, 2) if groups else b.devices("leaf", model, 4)
    assert leaf is not None and spine is not None
    node = b.devices("node", b.model("host", "NODE", {"nic": 40}, accelerators=1), leaf.count)
    b.connect("connect all")
    for x in range(leaf.count):
        b.link(b.free(node, x), b.free(leaf, x))
        for y in range(2):
            for _ in range(18 if (x, y) == (0, not spines_first) else 20):
                b.link(b.free(leaf, x), b.free(spine, y))
    f = b.build()
    net = unit_network(View.whole(f))
    found = restore_missing_links(net, f)
    assert found is not None and found.cost == 2
    ends = {int(net.transit[found.added.a[0]]), int(net.transit[found.added.b[0]])}
    assert len(found.added.a) == 1 and ends == {leaf.first, spine.first + (not spines_first)}


def test_a_domain_has_the_name_of_its_first_host(tmp_path: Path) -> None:
    made = racks(tmp_path).designs[0].fabric
    assert made is not None
    fabric = made.network
    view = ByDomain.of(View.whole(fabric))
    rows = np.arange(view.fabric.device_count)
    names = view.names(rows)
    assert names[: fabric.device_count] == [fabric.device_name(d) for d in range(fabric.device_count)]
    hosts = [fabric.device_name(int(h)) for h in view.hosts[[0, 3]]]
    assert names[fabric.device_count :] == [f"the domain of {h}" for h in hosts]
    assert view.names(view.units) == names[fabric.device_count :] and view.names(rows[:0]) == []


def test_links_between_tiers_lead_to_the_spines() -> None:
    """Leaves and spines that all hosts can send to at once: half of the hosts fill their ports."""
    net = unit_network(View.whole(superpod(2, 4, 2, 4, omit_last=False, manager=False).build()))
    found = hub_spread(net, 2, True)
    assert found.value == net.full and all(sum(x.values()) == 1 for x in found.shares.values())
    assert {len(x) for x in found.shares.values()} == {4} and len(found.shares) == 4


def test_links_within_a_tier_or_above_the_hubs_carry_nothing_to_hubs() -> None:
    """Two leaves and two spines, joined among each other too, and one switch above."""
    b = Builder("sideways")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 40}), 5)
    node = b.devices("node", b.model("host", "NODE", {"nic": 4}, accelerators=1), 4)
    b.connect("connect all")
    for h in range(4):
        b.link(b.free(node, h), b.free(sw, h // 2))
    for x, y in ((0, 1), (2, 3), (0, 2), (0, 3), (1, 2), (1, 3), (2, 4), (3, 4)):
        b.link(b.free(sw, x), b.free(sw, y))
    net = unit_network(View.whole(b.build()))
    assert net.tier.tolist() == [1, 1, 2, 2, 3]
    half = Fraction(1, 2)
    leaves, spines = (dict.fromkeys((x, x + 1), to) for x, to in ((0, {2: half, 3: half}), (2, {4: Fraction(1)})))
    for top, shares, value in ((1, {}, 0), (2, leaves, 2), (3, leaves | spines, 2)):
        found = hub_spread(net, top, True)
        assert (found.shares, found.value) == (shares, value)


@pytest.mark.parametrize("parts", [(1.0,), (0.5, 0.5), (1 / 3, 1 / 3, 1 / 3), (0.9, 0.2), (0.1, 0.7, 0.2)])
def test_fractions_of_paths_are_one_together(parts: tuple[float, ...]) -> None:
    """Of 6 that are demanded each path has its part, the largest what is over."""
    paths = [(0, 6, [(x, [i, 9]) for i, x in enumerate(parts)])]
    found = _round_to_fractions(DEFAULT, paths)
    load = [found.load.get(i, Fraction(0)) for i in range(len(parts))]
    assert sum(load) == found.load[9] == 6
    top = max(range(len(parts)), key=lambda i: parts[i])
    assert all(x == 6 * Fraction(p).limit_denominator(100) for i, (x, p) in enumerate(zip(load, parts, strict=True)) if i != top)


def test_lengths_are_whole_in_the_proportions_of_prices() -> None:
    """None for prices that are all 0, or whose proportions need too long numbers."""
    assert _whole_lengths(np.array([0.3, 0.6, 0.0, -0.3, 0.1])) == [3, 6, 0, 0, 1]
    assert _whole_lengths(np.array([0.0, -1.0])) == [0, 0] and _whole_lengths(np.array([])) == []
    primes = [9_973, 9_967, 9_949]
    assert 9_973 * 9_967 * 9_949 < MOST < 9_973 * 9_967 * 9_949 * 9_941
    assert _whole_lengths(np.array([1, *(1 / p for p in primes)])) == [9_973 * 9_967 * 9_949 // p for p in (1, *primes)]
    assert _whole_lengths(np.array([1, *(1 / p for p in primes), 1 / 9_941])) == [0] * 5


@pytest.mark.parametrize("links", [1, 61, 62, 200])
def test_links_that_carry_much_are_gone_through(links: int) -> None:
    """Four hosts on two leaves with so many links of 400 Gb/s and one of 100 between them."""
    b = Builder("thick")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 400}), 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 4}, accelerators=1), 4)
    b.connect("connect all")
    for h in range(4):
        b.link(b.free(node, h), b.free(sw, h // 2), 400 * GBPS)
    for _ in range(links):
        b.link(b.free(sw, 0), b.free(sw, 1), 400 * GBPS)
    b.link(b.free(sw, 0), b.free(sw, 1), 100 * GBPS)
    net = unit_network(View.whole(b.build()))
    found = least_cut_by_elimination(net)
    assert elimination_order(net) is not None and found is not None and found[0] == min(8, 4 * links + 1)


def test_demands_of_chips_with_hosts_count_the_chips() -> None:
    """Two chips that forward, each with a host of its own: a chip reaches all four units from its component."""
    g: Any = SimpleNamespace(
        nodes=4, weight=np.ones(4, dtype=np.int64), forwards=np.array([True, True, False, False]),
        a=np.array([0, 0, 1]), b=np.array([1, 2, 3]), capacity=np.array([2, 1, 1]),
        net=SimpleNamespace(half=2, units=np.arange(4)),
    )  # fmt: skip
    found = UniformDemand.hubs(g, np.arange(4), 4)
    assert found.apart.tolist()[:2] == [2, 2] and found.senders.tolist() == [1, 1, 0, 0] and not found.pairs
    apart: Any = SimpleNamespace(**vars(g) | {"a": np.array([0, 1]), "b": np.array([2, 3]), "capacity": np.array([1, 1])})
    alone = UniformDemand.hubs(apart, np.arange(4), 4)
    assert alone.senders.tolist() == [0, 0, 0, 0]  # two of four units may be on one side
    few: Any = SimpleNamespace(**vars(apart) | {"net": SimpleNamespace(half=3, units=np.arange(4))})
    assert UniformDemand.hubs(few, np.arange(4), 4).apart.tolist()[:2] == [1, 1]


@pytest.mark.parametrize(
    ("weight", "pairs", "wanted"),
    [(1, True, 25), (2, True, 25 + 2 * PARTS * 4), (3, True, 25 + 2 * 2 * PARTS * 4), (3, False, 25)],
)
def test_what_is_spent_on_the_way(weight: int, pairs: bool, wanted: int) -> None:
    """5 parts over 3 links and one over 10, nothing to what is not reached, and to the other units of its node and back."""
    g: Any = SimpleNamespace(weight=np.array([weight, 1, 1, 1]), a=np.array([0, 0, 1]), b=np.array([1, 2, 3]))
    demand: Any = SimpleNamespace(parts=np.array([0, 5, 1, 7]), pairs=pairs)
    assert _sum_distance_times_demand(g, np.array([6, 4, 1]), 0, np.array([0, 3, 10, FAR]), demand) == wanted
    assert _sum_distance_times_demand(g, np.array([6, 4, 1]), 0, np.array([0, 3, FAR - 1, FAR]), demand) == wanted - 10 + FAR - 1


def test_loads_in_a_group_follow_the_capacities() -> None:
    """A square 0-1-3-2-0 with a thick link 0-1: what 0 sends to 3 is divided two to one; a node alone is not reached."""
    capacity, demand = np.zeros((2, 4, 4), dtype=np.int64)
    for a, b, c in ((0, 1, 4), (1, 3, 2), (3, 2, 1), (2, 0, 4)):
        capacity[a, b] = capacity[b, a] = c
    demand[0, 3] = 5
    demand[3, 0], demand[1, 0] = 2, 7
    load = _loads_within_group(capacity, demand)
    wanted = np.zeros((4, 4), dtype=np.int64)
    wanted[1, 3], wanted[2, 3], wanted[0, 1], wanted[0, 2] = 4, 2, 4, 2
    wanted[3, 1], wanted[3, 2], wanted[2, 0], wanted[1, 0] = 1, 1, 1, 1 + 7
    assert load is not None and load.tolist() == wanted.tolist()
    far = np.zeros((5, 5), dtype=np.int64)
    far[:4, :4] = capacity
    asked = np.zeros((5, 5), dtype=np.int64)
    asked[:4, :4] = demand
    found = _loads_within_group(far, asked)
    assert found is not None and found[:4, :4].tolist() == wanted.tolist() and not found[4].any()
    asked[0, 4] = 1
    assert _loads_within_group(far, asked) is None
    line = np.diag(np.ones(4, dtype=np.int64), 1)
    ends = np.zeros((5, 5), dtype=np.int64)
    ends[0, 4] = 3
    whole = _loads_within_group(line + line.T, ends)
    assert whole is not None and whole.tolist() == (3 * line).tolist()


LIMIT = 1 << 62


def graph(weight: int, capacity: list[int], nodes: int) -> Any:
    return SimpleNamespace(weight=np.array([weight]), capacity=np.array(capacity, dtype=np.int64), nodes=nodes)


def fits(senders: int, weight: int, capacity: list[int], nodes: int) -> bool:
    return _sums_fit_in_words(graph(weight, capacity, nodes), SimpleNamespace(senders=np.array([senders])))  # type: ignore[arg-type]


def test_sums_stay_within_64_bits() -> None:
    """Each of three products at the last number that is within the range, and at the next."""
    for most, fit in (
        (LIMIT // (2 * PARTS) - (LIMIT % (2 * PARTS) == 0), lambda n: fits(n, 1, [1], 1)),
        (LIMIT // (2 * PARTS) - (LIMIT % (2 * PARTS) == 0), lambda n: fits(1, n, [1], 1)),
        (LIMIT // (2 * PARTS) - (LIMIT % (2 * PARTS) == 0), lambda n: fits(1, 1, [1], n)),
        (LIMIT // PARTS // 7 - (LIMIT % (PARTS * 7) == 0), lambda n: fits(0, n, [7, 3], 1)),
        (LIMIT // PARTS // 10**9, lambda n: fits(0, n, [10**9], 1)),
        (LIMIT // (4 * (FINE + 1)), lambda n: fits(0, 1, [n // 2, n - n // 2], 1)),
    ):
        assert fit(most) and not fit(most + 1), most
    assert fits(1, LIMIT // (2 * PARTS), [], 1) and not fits(1, LIMIT // (2 * PARTS) + 1, [], 1)


def test_a_product_of_just_the_limit_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tdsl.prove.uniform_flow.PARTS", 1)
    assert not fits(1, LIMIT // 2, [1], 1) and fits(1, LIMIT // 2 - 1, [1], 1)
    assert not fits(0, LIMIT, [1], 1) and fits(0, LIMIT - 1, [1], 1)
    assert not fits(0, LIMIT, [], 1) and fits(0, LIMIT - 1, [], 1)
