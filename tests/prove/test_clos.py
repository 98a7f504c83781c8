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
from tdsl.prove.clos import best_spread, hub_spread, least_arriving
from tdsl.prove.network import Network
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS
from tests.prove.networks import arcs_of, columns, wired

Shares = dict[int, dict[int, Fraction]]


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
    made = Network.both_ways(np.ones(first[-1], dtype=np.bool_), *columns(rows))
    return replace(made, device=np.arange(first[-1]), unit_count=units, rates=(1,))


@pytest.mark.parametrize(
    ("tiers", "seeds"),  # in 75, 285, 290 and 333 unequal shares by themselves show most; from 1000 on there are two pods
    [(1, range(5)), (2, range(12)), (3, [*range(12), 75, 290, *range(1000, 1006)]), (4, [*range(5), 285, 333, 1000, 1001, 1002])],
)
def test_the_bound_is_the_least_over_all_choices_of_units(tiers: int, seeds: list[int]) -> None:
    """Hubs in every tier, with shares by capacity and by what the nodes above can pass on."""
    for seed in seeds:
        net = layers(seed, tiers, pods=seed >= 1000)
        every = []
        for top in range(1, int(net.tier.max()) + 1):
            for even in (True, False):
                found, mine = hub_spread(net, top, even), ByHand(net, top, even)
                assert found.hubs == tuple(mine.hubs) and found.shares == mine.shares, (seed, top)
                if top > 1:
                    outermost = {(frozenset(b.members), b.limit) for b in found.blocks}
                    assert outermost == {(b, mine.limit(b, top - 1)) for b in mine.nested[-1]}, (seed, top, even)
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
        units = net.unit_count
        leaves = np.flatnonzero(net.tier == 1).tolist()
        more = [(rng.randrange(units), units + rng.choice(leaves), rng.randint(1, 3)) for _ in range(3)]
        rows = [*arcs_of(net), *more, *((b, a, c) for a, b, c in more)]
        net = replace(Network.of(net.forwards, *columns(rows)), device=net.device, unit_count=units, rates=(1,))
        for top in (1, 2):
            if top <= int(net.tier.max()):
                assert 0 <= hub_spread(net, top, True).value <= ceil(ByHand(net, top, True).value()), (seed, top)


def test_shares_of_units_by_at_most_half_of_them() -> None:
    """Three units on two leaves that share the second: one unit sends all that a leaf passes on, and two would send no more."""
    rows = [(0, 3, 2), (1, 3, 2), (1, 4, 2), (2, 4, 2), (3, 5, 2), (4, 5, 2)]
    made = Network.both_ways(np.ones(6, dtype=np.bool_), *columns(rows))
    assert hub_spread(replace(made, device=np.arange(6), unit_count=3, rates=(1,)), 2, True).value == 2


@pytest.mark.parametrize("odd", [0, 1])
@pytest.mark.parametrize(("hosts", "trunks", "full"), [(4, 10, 800), (16, 1, 2400)])
def test_shares_of_rates_with_a_small_common_divisor(hosts: int, trunks: int, full: int, odd: int) -> None:
    """Rates that differ by one bit/s, with trunks of 60 times what the hosts send, or less than that: parts of a grain are so few
    that sums stay within 64 bits."""
    access = " ".join(f"h{h}-s{2 * h // hosts}" for h in range(hosts))
    f = wired(f"{access} " + " ".join(f"s{leaf}-s{2 + s}*{trunks}@800" for leaf in range(2) for s in range(3)))
    f.link_rate[np.flatnonzero(f.kind[f.device_a] == "host")[0]] -= odd
    view = View.whole(f)
    net, found, spread = unit_network(view), bisection_bounds(view), best_spread(unit_network(view))
    exact = full * GBPS - odd * (full == 800)
    assert found.lower * net.grain == found.upper * net.grain == exact
    assert spread is not None and (full == 800 or spread.value * net.grain == exact)


@pytest.mark.parametrize("fine", [1, 2, 12])
def test_what_comes_of_parts_of_a_grain(fine: int) -> None:
    """Sources with the smallest part send first, what they send at most rounded up to parts of a grain; portions rounded down."""
    profile = np.arange(0, 40 * fine, 3)
    parts, limits = (0, Fraction(1, 4), Fraction(1, 2), 1), (Fraction(5, 2), Fraction(10, 3), 3, 9)
    sources = tuple((Fraction(part), Fraction(most)) for part, most in zip(parts, limits, strict=True))
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
