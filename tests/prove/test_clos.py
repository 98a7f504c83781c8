"""Lower bounds by shares towards hubs, against all splits."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from random import Random

import numpy as np
import pytest

from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.clos import best_spread, hub_spread, least_arriving
from tdsl.prove.network import Network
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS
from tests.prove.judges import least_of_table
from tests.prove.networks import arcs_of, columns, wired


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
    [
        (1, range(10)),
        (2, range(24)),
        (3, [*range(24), 75, 290, *range(1000, 1012)]),
        (4, [*range(12), 285, 333, *range(1000, 1006)]),
    ],
)
def test_no_split_crosses_less_and_most_have_one_that_crosses_as_much(tiers: int, seeds: list[int]) -> None:
    """Hubs in every tier, with shares by capacity and by what the nodes above can pass on; the greatest of these bounds is the
    best. Units may have links to several leaves."""
    equal = some = 0
    for seed in seeds:
        for several in (False, True):
            net = layers(seed, tiers, pods=seed >= 1000)
            if several:
                rng, units = Random(seed), net.unit_count
                leaves = np.flatnonzero(net.tier == 1).tolist()
                more = [(rng.randrange(units), units + rng.choice(leaves), rng.randint(1, 3)) for _ in range(3)]
                rows = [*arcs_of(net), *more, *((b, a, c) for a, b, c in more)]
                net = replace(Network.of(net.forwards, *columns(rows)), device=net.device, unit_count=units, rates=(1,))
            if net.nodes > 15:
                continue
            least, best = least_of_table(net), best_spread(net)
            every = [hub_spread(net, top, even) for top in range(1, int(net.tier.max()) + 1) for even in (True, False)]
            for found in every:
                assert 0 <= found.value <= least, (seed, several)
                assert all(sum(x.values()) == 1 for x in found.shares.values() if x)
                assert found.hubs == tuple(np.flatnonzero(net.tier == int(net.tier[found.hubs[0]])).tolist())
            assert best is not None and best.value == max(x.value for x in every), (seed, several)
            if not several:
                equal, some = equal + (best.value == least), some + 1
    assert (equal, some) >= SHARE[tiers]


SHARE = {1: (8, 10), 2: (21, 24), 3: (34, 36), 4: (10, 11)}
"""Of networks of so many tiers those, at least, of which the bound is the least of all splits, and all."""


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
