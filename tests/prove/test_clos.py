"""Lower bounds by shares towards hubs, against their definition over all choices of units."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import ceil, floor
from random import Random

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.clos import Spread, TierBlock, best_spread, hub_spread, least_arriving
from tdsl.prove.network import Network
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder

Shares = dict[int, dict[int, Fraction]]


def block(limit: Fraction, *inside: TierBlock) -> TierBlock:
    return TierBlock(1 + bool(inside), (0,), limit, inside)


class ByHand:
    """Shares, limits and the bound with the nodes of one tier as hubs, each as the documentation of the method defines it."""

    def __init__(self, net: Network, top: int, even: bool) -> None:
        self.net, self.top = net, top
        tier = self.tier = net.tier.tolist()
        trunks = list(zip(*(x.tolist() for x in (net.trunks.a, net.trunks.b, net.trunks.capacity)), strict=True))
        self.up: dict[int, dict[int, int]] = defaultdict(dict)
        below: dict[int, int] = defaultdict(int)
        for x, y, c in trunks:
            for low, high in ((x, y), (y, x)):
                if 0 < tier[low] < tier[high] <= top:
                    self.up[low][high] = c
                    below[high] += c
        self.shares: Shares = {}
        self.capacity: dict[int, Fraction] = {}
        for v in sorted((v for v in range(len(tier)) if 0 < tier[v] < top), key=lambda v: -tier[v]):
            weight = {}
            for w, c in self.up[v].items():
                if tier[w] == top:
                    weight[w] = Fraction(c)
                elif self.capacity[w]:
                    weight[w] = Fraction(c) if even else c * self.capacity[w] / below[w]
            total = sum(weight.values())
            self.shares[v] = {w: x / total for w, x in weight.items()}
            self.capacity[v] = min((self.up[v][w] / x for w, x in self.shares[v].items()), default=Fraction(0))
        self.hubs = [v for v in range(len(tier)) if tier[v] == top]
        leaves = [v for v in range(len(tier)) if tier[v] == 1]
        self.nested = [[frozenset({v}) for v in leaves]]
        for level in range(2, top):
            graph = nx.Graph()
            graph.add_nodes_from(v for v in range(len(tier)) if 0 < tier[v] <= level)
            graph.add_edges_from((v, w) for v, ups in self.up.items() for w in ups if tier[w] <= level)
            self.nested.append([frozenset(x) for x in nx.connected_components(graph) if any(tier[v] == 1 for v in x)])

    @cache  # noqa: B019
    def part(self, v: int, w: int) -> Fraction:
        """The part of what ``v`` sends that comes to ``w``."""
        if v == w:
            return Fraction(1)
        return sum((x * self.part(u, w) for u, x in self.shares.get(v, {}).items()), Fraction(0))

    @cache  # noqa: B019
    def limit(self, block: frozenset[int], level: int) -> Fraction:
        """The largest total that overloads none of the highest nodes, from the leaves with the greatest part there first."""
        if level == 1:
            return self.capacity[next(iter(block))]
        leaves = [v for v in block if self.tier[v] == 1]
        most = sum((self.capacity[v] for v in leaves), Fraction(0))
        for w in block:
            if self.tier[w] == level:
                total, left = Fraction(0), self.capacity[w]
                for v in sorted(leaves, key=lambda v: -self.part(v, w)):
                    part = self.part(v, w)
                    sent = min(self.capacity[v], left / part) if part else self.capacity[v]
                    total, left = total + sent, left - sent * part
                    if sent < self.capacity[v]:
                        break
                most = min(most, total)
        return most

    def rank(self, block: frozenset[int], level: int, sent: dict[int, Fraction]) -> Fraction:
        """What leaves a block if units send so much to each leaf."""
        if level == 1:
            inner = sent.get(next(iter(block)), Fraction(0))
        else:
            inner = sum((self.rank(x, level - 1, sent) for x in self.nested[level - 2] if x <= block), Fraction(0))
        return min(inner, self.limit(block, level))

    def value(self) -> Fraction:
        """The sum over the hubs of the least that comes there, from the leaves with the smallest part first."""
        net, total = self.net, Fraction(0)
        access = list(zip(*(x.tolist() for x in (net.access.a, net.access.b, net.access.capacity)), strict=True))
        level = self.top - 1
        blocks = self.nested[level - 1] if level else []
        for c in self.hubs:
            least = None
            for chosen in combinations(range(net.unit_count), net.half):
                if not level:
                    found = Fraction(sum(x for u, v, x in access if u in chosen and v == c))
                else:
                    sent: dict[int, Fraction] = defaultdict(Fraction)
                    for u, v, x in access:
                        sent[v] += x if u in chosen else 0
                    found = sum((self.arrives(b, self.rank(b, level, sent), c) for b in blocks), Fraction(0))
                least = found if least is None or found < least else least
            total += least or 0
        return total

    def arrives(self, block: frozenset[int], left: Fraction, hub: int) -> Fraction:
        out = Fraction(0)
        leaves = sorted((self.part(v, hub), self.capacity[v]) for v in block if self.tier[v] == 1)
        for part, most in leaves:
            here = min(left, most)
            out, left = out + here * part, left - here
        return out


def layers(seed: int, tiers: int, pods: bool = False) -> Network:
    """Units of one to three links to one leaf each, below tiers of switches with links to the next tier, to others, or none. With
    ``pods`` there are two of all below the last tier, with no links between them."""
    rng = Random(seed)
    units, counts = rng.randint(2, 6), [rng.randint(1, 4) for _ in range(tiers)]
    first = [units + sum(counts[:i]) for i in range(tiers + 1)]
    rows = [(u, rng.randrange(first[0], first[1]), rng.randint(1, 4)) for u in range(units)]
    for i in range(1, tiers):
        for low in range(first[i - 1], first[i]):
            for high in range(first[i], first[i + 1]):
                if rng.random() < 0.7 and not (pods and i + 1 < tiers and (low - first[i - 1] + high - first[i]) % 2):
                    rows.append((low, high, rng.choice([1, 1, 2, 3, 6])))
    for i in range(tiers - 1 if pods else 0, tiers):
        if counts[i] > 1 and rng.random() < 0.2:
            rows.append((first[i], first[i] + 1, rng.randint(1, 5)))
    a, b, c = (np.array([x[i] for x in rows], dtype=np.int64) for i in range(3))
    made = Network.both_ways(np.ones(first[-1], dtype=np.bool_), a, b, c)
    return replace(made, device=np.arange(first[-1]), unit_count=units, rates=(1,))


def outermost(found: Spread) -> set[tuple[frozenset[int], Fraction]]:
    return {(frozenset(b.members), b.limit) for b in found.blocks}


@pytest.mark.parametrize(
    ("tiers", "first", "count"),
    [
        (1, 0, 10),
        (3, 75, 1),
        (3, 290, 1),
        (4, 285, 1),
        (4, 333, 1),
        (2, 0, 24),
        (3, 0, 12),
        (3, 12, 12),
        (4, 0, 6),
        (4, 6, 6),
        (3, 1000, 10),
        (4, 1000, 6),
    ],
)
def test_the_bound_is_the_least_over_all_choices_of_units(tiers: int, first: int, count: int) -> None:
    """Hubs in every tier, with shares by capacity and by what the nodes above can pass on."""
    for seed in range(first, first + count):  # in those by themselves unequal shares show most
        net = layers(seed, tiers, pods=seed >= 1000)
        every = []
        for top in range(1, int(net.tier.max()) + 1):
            for even in (True, False):
                found, mine = hub_spread(net, top, even), ByHand(net, top, even)
                assert found.hubs == tuple(mine.hubs) and found.shares == mine.shares, (seed, top)
                if top > 1:
                    assert outermost(found) == {(b, mine.limit(b, top - 1)) for b in mine.nested[-1]}, (seed, top, even)
                exact = mine.value()
                kinds = len(mine.hubs)
                if all(b.limit.denominator <= 60 for b in found.blocks):
                    assert found.value == ceil(exact), (seed, top, even, exact)
                assert ceil(exact) - kinds <= found.value <= ceil(exact), (seed, top, even)
                every.append((found.value, -top, even, found))
        best = best_spread(net)
        wanted = max(every, key=lambda x: x[:3])
        assert best is not None and (best.value, best.hubs) == (wanted[3].value, wanted[3].hubs)
        assert best.value == max(x[0] for x in every)
        first_even = next(x for x in every if x[0] == best.value)
        assert best.shares == first_even[3].shares


def test_units_of_several_leaves_count_on_no_more_than_all_choices_show() -> None:
    """Where units have links to several leaves the profile is at most the least."""
    for seed in range(20):
        rng = Random(seed)
        net = layers(seed, 2)
        more = [
            (rng.randrange(net.unit_count), rng.choice(np.flatnonzero(net.tier == 1).tolist()), rng.randint(1, 3))
            for _ in range(3)
        ]
        a, b, c = (np.array(x) for x in zip(*more, strict=True))
        tail, head, capacity = net.tail, net.head, net.capacity
        made = Network.of(
            net.forwards,
            np.concatenate((tail, a, b + net.unit_count)),
            np.concatenate((head, b + net.unit_count, a)),
            np.concatenate((capacity, c, c)),
        )
        net = replace(made, device=net.device, unit_count=net.unit_count, rates=(1,))
        for top in (1, 2):
            if top <= int(net.tier.max()):
                assert 0 <= hub_spread(net, top, True).value <= ceil(ByHand(net, top, True).value()), (seed, top)


def test_shares_of_units_by_at_most_half_of_them() -> None:
    """Three units on two leaves that share the second: one unit sends all that a leaf passes on, and two would send no more."""
    rows = [(0, 3, 2), (1, 3, 2), (1, 4, 2), (2, 4, 2), (3, 5, 2), (4, 5, 2)]
    a, b, c = (np.array([x[i] for x in rows], dtype=np.int64) for i in range(3))
    made = Network.both_ways(np.ones(6, dtype=np.bool_), a, b, c)
    assert hub_spread(replace(made, device=np.arange(6), unit_count=3, rates=(1,)), 2, True).value == 2


@pytest.mark.parametrize("odd", [0, 1])
def test_trunks_beyond_64_bits_in_parts_of_a_grain(odd: int) -> None:
    """Rates whose common divisor is one bit/s, and trunks of 60 times what the hosts send: the hosts are the limit."""
    b = Builder("odd")
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 64}), 2)
    spine = b.devices("spine", b.model("switch", "SP", {"p": 64}), 3)
    node = b.devices("node", b.model("host", "N", {"nic": 1}, accelerators=1), 4)
    b.connect("connect all")
    for h in range(4):
        b.link(b.free(node, h), b.free(leaf, h // 2), 400 * GBPS - (odd if h == 0 else 0))
    for n in range(60):
        b.link(b.free(leaf, n // 30), b.free(spine, n % 3), 800 * GBPS)
    net = unit_network(View.whole(b.build()))
    found = bisection_bounds(View.whole(b.build()))
    assert found.lower * net.grain == found.upper * net.grain == 800 * GBPS - odd


def test_shares_of_rates_with_a_small_common_divisor() -> None:
    """Rates that differ by one bit/s: parts of a grain are so few that sums stay within 64 bits."""
    for less in (0, 1):
        b = Builder("odd")
        sw = b.devices("leaf", b.model("switch", "SW", {"p": 64}), 2)
        spine = b.devices("spine", b.model("switch", "SPINE", {"p": 64}), 3)
        node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 16)
        for h in range(16):
            b.link(b.free(node, h), b.free(sw, h // 8), 400 * GBPS - less * (h == 0))
        for leaf in range(2):
            for s in range(3):
                b.link(b.free(sw, leaf), b.free(spine, s), 800 * GBPS)
        view = View.whole(b.build())
        found, net = best_spread(unit_network(view)), unit_network(view)
        assert found is not None and found.value * net.grain == 2400 * GBPS
        known = bisection_bounds(view)
        assert known.lower == known.upper and known.lower * net.grain == 2400 * GBPS


@pytest.mark.parametrize("fine", [1, 2, 12])
def test_what_comes_of_parts_of_a_grain(fine: int) -> None:
    """Sources with the smallest part send first, what they send at most rounded up to parts of a grain; portions rounded down."""
    profile = np.arange(0, 40 * fine, 3)
    sources = (
        (Fraction(0), Fraction(5, 2)),
        (Fraction(1, 4), Fraction(10, 3)),
        (Fraction(1, 2), Fraction(3)),
        (Fraction(1), Fraction(9)),
    )
    for times in (1, 3):
        wanted = []
        for left in profile.tolist():
            out = 0
            for part, most in sources[:-1]:
                here = min(left, ceil(most * fine))
                out, left = out + floor(here * part * times), left - here
            wanted.append(out + left * times)
        assert least_arriving(profile, sources, times, fine).tolist() == wanted
        assert least_arriving(profile, sources[2:3], times, fine).tolist() == [x * times // 2 for x in profile.tolist()]
