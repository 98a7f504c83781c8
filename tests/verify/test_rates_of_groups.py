"""Rates of all-to-all by minimal routing between groups, link by link as the definition says; limits of numbers and of work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import lcm
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.block_cuts import group_labels
from tdsl.prove.budget import DEFAULT
from tdsl.prove.group_routing import (
    _least_capacity_over_load,
    _loads_within_group,
    _rate_between_groups,
    _ratios_within_groups,
    group_rate,
)
from tdsl.prove.network import CapacityPairs, Network
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder
from tests.verify.test_group_routing import grouped

Loads = dict[tuple[int, int], int]


def above(value: int, by: int) -> int:
    """A quotient rounded up."""
    return -(-value // by)


def carried(capacity: Loads, demand: Loads, nodes: Sequence[int]) -> Loads | None:
    """Loads along shortest paths, each node's part by the capacity of the last links; None if something is not reached."""
    near = {v: {a for a, b in capacity if b == v} for v in nodes}
    load: Loads = {}
    for s in nodes:
        far = {s: 0}
        for v in (queue := [s]):
            for w in sorted(near[v]):
                if w not in far:
                    far[w] = far[v] + 1
                    queue.append(w)
        if any(amount and x == s and y not in far for (x, y), amount in demand.items()):
            return None
        arriving = {v: demand.get((s, v), 0) for v in queue}
        for v in reversed(queue[1:]):
            before = [w for w in near[v] if w in far and far[w] == far[v] - 1]
            total = sum(capacity[w, v] for w in before)
            for w in before:
                part = above(arriving[v] * capacity[w, v], total)
                load[w, v] = load.get((w, v), 0) + part
                arriving[w] += part
    return load


def expected(net: Network, label: Sequence[int]) -> Fraction:
    """The rate for one way to form groups."""
    inject = net.injection.tolist()
    whole = lcm(*inject)
    weight, through = [0] * len(label), [0] * len(label)
    for u, s, c in zip(net.access.a.tolist(), net.access.b.tolist(), net.access.capacity.tolist(), strict=True):
        weight[s] += c * whole // inject[u]
    count = max(label) + 1
    total = [sum(w for w, g in zip(weight, label, strict=True) if g == group) for group in range(count)]
    trunks = list(zip(net.trunks.a.tolist(), net.trunks.b.tolist(), net.trunks.capacity.tolist(), strict=True))
    between: dict[frozenset[int], int] = {}
    for a, b, c in trunks:
        if label[a] != label[b]:
            pair = frozenset((label[a], label[b]))
            between[pair] = between.get(pair, 0) + c
    if (
        count < 2
        or not between
        or any(total[g] and total[h] and frozenset((g, h)) not in between for g, h in combinations(range(count), 2))
    ):
        return Fraction(0)
    parts = min(lcm(*between.values()), 5040)
    rates = [Fraction(min(inject), len(inject))]
    for (g, h), c in ((tuple(pair), c) for pair, c in between.items()):
        if total[g] * total[h]:
            rates.append(Fraction(c * whole**2, total[g] * total[h]))
    for a, b, c in trunks:
        if label[a] != label[b]:
            for here, there in ((a, b), (b, a)):
                through[here] += above(c * total[label[there]] * parts, between[frozenset((label[a], label[b]))])
    for group in range(count):
        nodes = [s for s, g in enumerate(label) if g == group]
        capacity = {(x, y): c for a, b, c in trunks if label[a] == label[b] == group for x, y in ((a, b), (b, a))}
        load: Loads | None = {
            (s, t): weight[s] * through[t] + through[s] * weight[t] + weight[s] * weight[t] * parts
            for s in nodes for t in nodes if s != t
        }  # fmt: skip
        if any(amount and pair not in capacity for pair, amount in load.items()):
            load = carried(capacity, load, nodes)
        if load is None:
            return Fraction(0)
        rates += [Fraction(capacity[pair] * parts * whole**2, amount) for pair, amount in load.items() if amount]
    return min(rates)


@pytest.mark.parametrize("share", range(4))
def test_rates_are_those_of_the_definition(share: int) -> None:
    for seed in range(share, 160, 4):
        f = grouped(seed)
        net = unit_network(View.whole(f))
        (label,) = group_labels(f, net.transit)
        assert group_rate(net, f) == expected(net, label.tolist()), seed


def nested(seed: int) -> Fabric:
    """Groups in groups, of up to four switches, with links of several rates; hosts with one to three ports on any switch."""
    rng = Random(seed)
    b = Builder("nested")
    outer, inner, each = rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 3)
    sw = b.devices("su.g.r", b.model("switch", "SW", {"p": 200}), outer, inner, each)
    lone = b.devices("top", b.model("switch", "TOP", {"p": 200}), rng.randint(1, 2))
    node = b.devices("node", b.model("host", "NODE", {"nic": 3}, accelerators=1), rng.randint(1, 6))
    for h in range(node.count):
        for _ in range(rng.randint(1, 3)):
            b.link(b.free(node, h), b.free(sw, rng.randrange(sw.count)), rng.choice([100, 200]) * GBPS)
    chance = rng.choice([0.4, 0.8, 1.0])
    for x, y in combinations(range(sw.count), 2):
        if rng.random() < chance:
            b.link(b.free(sw, x), b.free(sw, y), rng.choice([100, 200, 300, 700]) * GBPS)
    for t in range(lone.count):
        for x in range(sw.count):
            if rng.random() < 0.5:
                b.link(b.free(sw, x), b.free(lone, t), 500 * GBPS)
    return b.build()


def test_the_best_way_to_form_groups_is_taken() -> None:
    better = 0
    for seed in range(150):
        f = nested(seed)
        net = unit_network(View.whole(f))
        rates = [expected(net, label.tolist()) for label in group_labels(f, net.transit)] if len(net.trunks.a) else []
        assert group_rate(net, f) == max(rates, default=0), seed
        better += len(set(rates)) > 1
    assert better > 5


def two(whole: tuple[int, ...], crossing: int) -> Any:
    """Two switches, one link between them, and of so many units at the first and the second switch in turn the injection."""
    count = len(whole)
    access = CapacityPairs(np.arange(count), np.arange(count) % 2, np.array(whole, dtype=np.int64))
    trunks = CapacityPairs(np.array([0]), np.array([1]), np.array([crossing], dtype=np.int64))
    return SimpleNamespace(
        injection=access.capacity, units=np.arange(count), transit=np.arange(2), access=access, trunks=trunks, half=count // 2,
    )  # fmt: skip


def rate(whole: tuple[int, ...], crossing: int, **limits: int) -> Fraction:
    return _rate_between_groups(two(whole, crossing), np.array([0, 1]), replace(DEFAULT, **({"group_parts": 2**40} | limits)))


def test_parts_of_units_are_within_32_bits() -> None:
    """Units times the parts that each sends are at most 2^31."""
    assert rate((2**30, 2**30), 1) == 1
    assert rate((2**30 + 1, 2**30 + 1), 1) == 0


def test_loads_are_within_63_bits() -> None:
    """Two units of 2^30 parts, and a link whose capacity times those and 5,040 parts is just below 2^62."""
    most = (2**62 - 1) // (5040 * 2**30)
    assert rate((2**30, 2**30), most) == most
    assert rate((2**30, 2**30), most + 1) == 0


def test_at_most_5040_parts() -> None:
    """Two groups of two switches, with links of 5,000 and 41 between them: what leaves is rounded up in 5,040 parts."""
    made = two((10, 10), 1)
    made.access = CapacityPairs(np.array([0, 1]), np.array([1, 3]), np.array([10, 10]))
    made.transit = np.arange(4)
    for one in (5000, 4999, 2520):
        made.trunks = CapacityPairs(np.array([0, 0, 1, 2]), np.array([1, 2, 3, 3]), np.array([1, one, 41, 1]))
        found = _rate_between_groups(made, np.array([0, 0, 1, 1]), DEFAULT)
        assert found == expected(made, [0, 0, 1, 1]) and 0 < found < 2


def test_limits_of_groups_and_of_parts() -> None:
    """Units of 2 and of 3: six parts; two groups."""
    assert rate((2, 3), 1) == rate((2, 3), 1, routed_groups=2, group_parts=6) == 1
    assert rate((2, 3), 1, routed_groups=1) == rate((2, 3), 1, group_parts=5) == 0
    assert _rate_between_groups(two((2, 3), 1), np.array([0, 0]), DEFAULT) == 0


def test_links_that_failed_leave_no_rate() -> None:
    """All links between switches are within a group; or the one between groups is at switches without units."""
    made = two((1, 1), 1)
    made.trunks = CapacityPairs(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    assert _rate_between_groups(made, np.array([0, 1]), DEFAULT) == 0


def least_of(capacity: list[int], load: list[int]) -> list[Fraction]:
    return _least_capacity_over_load(np.array(capacity, dtype=np.int64), np.array(load, dtype=np.int64))


def test_the_least_ratio_is_exact() -> None:
    assert least_of([], []) == least_of([3], [0]) == []
    assert least_of([3, 2, 9], [2, 3, 0]) == [Fraction(2, 3)] and least_of([0, 1], [1, 1]) == [0]
    close = 10**15
    for last in (0, 1):
        pairs = [(close + 1, close), (close + 1 - last, close - 1 + last)]
        pairs = pairs[::-1] if last else pairs
        assert least_of(*(list(x) for x in zip(*pairs, strict=True))) == [min(Fraction(a, b) for a, b in pairs)]


def line(count: int) -> CapacityPairs:
    return CapacityPairs(np.arange(count - 1), np.arange(1, count), np.full(count - 1, 6, dtype=np.int64))


def test_loads_of_a_group_stay_within_63_bits() -> None:
    """Of two switches one sends 2^60 parts to the other; of three in a line the first to the last a ninth of 2^62."""
    label = np.zeros(2, dtype=np.int64)
    for amount, fits in ((2**60 - 1, True), (2**60, False), (2**61, False)):
        found = _ratios_within_groups(line(2), label, np.array([1, 0]), np.array([0, amount]), 1, 10**6)
        assert found == ([Fraction(6, amount)] if fits else None)
    for amount, fits in ((2**62 // 9, True), (2**62 // 9 + 1, False)):
        found = _ratios_within_groups(
            line(3), np.zeros(3, dtype=np.int64), np.array([1, 0, 0]), np.array([0, 0, amount]), 5, 10**6
        )
        assert found == ([Fraction(6 * 5, amount)] if fits else None)


def test_work_within_groups_has_a_limit() -> None:
    """Two lines of three switches: three nodes times two links for each."""
    links = CapacityPairs(np.array([0, 1, 3, 4]), np.array([1, 2, 4, 5]), np.array([6, 6, 6, 4]))
    label, weight, through = np.array([0, 0, 0, 1, 1, 1]), np.ones(6, dtype=np.int64), np.zeros(6, dtype=np.int64)
    assert _ratios_within_groups(links, label, weight, through, 1, 12) == [Fraction(6, 2), Fraction(4, 2)]
    assert _ratios_within_groups(links, label, weight, through, 1, 11) is None
    assert _ratios_within_groups(links, label, weight, through, 1, 6) is None
    near = np.array([1, 1, 0, 1, 1, 0])
    assert _ratios_within_groups(links, label, near, through, 1, 0) == [Fraction(6, 1), Fraction(6, 1)]
    cut = CapacityPairs(np.array([0]), np.array([1]), np.array([6]))
    assert _ratios_within_groups(cut, label[:3], weight[:3], through[:3], 1, 10**6) is None


def test_loads_within_one_group() -> None:
    """Along shortest paths, whatever the capacities: small groups at random, not always connected."""
    reached = 0
    for seed in range(120):
        rng = Random(seed)
        count = rng.randint(1, 6)
        capacity, demand = np.zeros((2, count, count), dtype=np.int64)
        for x, y in combinations(range(count), 2):
            if rng.random() < 0.5:
                capacity[x, y] = capacity[y, x] = rng.randint(1, 9)
        for x in range(count):
            for y in range(count):
                if x != y and rng.random() < 0.6:
                    demand[x, y] = rng.randint(1, 40)
        links = {(x, y): int(capacity[x, y]) for x, y in np.argwhere(capacity).tolist()}
        asked = {(x, y): int(demand[x, y]) for x, y in np.argwhere(demand).tolist()}
        wanted, found = carried(links, asked, range(count)), _loads_within_group(capacity, demand)
        assert (wanted is None) == (found is None), seed
        if wanted is not None and found is not None:
            assert found.tolist() == [[wanted.get((x, y), 0) for y in range(count)] for x in range(count)], seed
            reached += 1
    assert 30 < reached < 110


def test_networks_without_transit_have_no_rate() -> None:
    """A unit without a link, or no links between switches, or links between units: nothing is shown."""
    f = grouped(3)
    net = unit_network(View.whole(f))
    assert group_rate(net, f) > 0
    none = CapacityPairs(*np.zeros((3, 0), dtype=np.int64))
    facts = {
        "transit": net.transit,
        "loose": none,
        "trunks": net.trunks,
        "access": net.access,
        "injection": net.injection,
        "units": net.units,
    }
    for change in ({}, {"transit": net.transit[:0]}, {"loose": line(2)}, {"trunks": none}, {"injection": net.injection * 0}):
        found = group_rate(SimpleNamespace(**facts | change), f)  # type: ignore[arg-type]
        assert found == (0 if change else group_rate(net, f)) and isinstance(found, Fraction)
    alone = Builder("alone")
    sw = alone.devices("sw", alone.model("switch", "SW", {"p": 9}), 2)
    node = alone.devices("node", alone.model("host", "N", {"nic": 1}, accelerators=1), 2)
    for x in range(2):
        alone.link(alone.free(node, x), alone.free(sw, x))
    alone.link(alone.free(sw, 0), alone.free(sw, 1))
    made = alone.build()
    found = group_rate(unit_network(View.whole(made)), made)
    assert found == 0 and isinstance(found, Fraction)
