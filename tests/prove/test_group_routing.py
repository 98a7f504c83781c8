"""Routes between groups: never more than what is true, and exact on balanced dragonflies."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.all_to_all import all_to_all_bounds
from tdsl.prove.group_routing import group_rate
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder
from tests.prove.judges import least_of_table


def grouped(groups: int, switches: int, hosts: list[tuple[int, int]], links: list[tuple[int, int, int]]) -> Fabric:
    """Groups of switches; hosts at switches with a rate in Gb/s, and links between switches with theirs."""
    b = Builder("grouped")
    sw = b.devices("g.r", b.model("switch", "SW", {"p": 200}), groups, switches)
    node = b.devices("node", b.model("host", "NODE", {"nic": 4}, accelerators=1), len(hosts))
    for h, (at, rate) in enumerate(hosts):
        b.link(b.free(node, h), b.free(sw, at), rate * GBPS)
    for x, y, rate in links:
        b.link(b.free(sw, x), b.free(sw, y), rate * GBPS)
    return b.build()


def rate_of(f: Fabric) -> Fraction:
    return Fraction(group_rate(unit_network(View.whole(f)), f))


def drawn(seed: int) -> Fabric:
    """Groups of switches in two rates, joined each to each by random links; some groups have few hosts."""
    rng = Random(seed)
    groups, n = rng.randint(2, 4), rng.randint(1, 3)
    hosts = [(h % groups if h < groups else rng.randrange(groups)) * n + rng.randrange(n) for h in range(rng.randint(groups, 8))]
    links = [(g * n + x - 1, g * n + x, rng.choice([400, 800])) for g in range(groups) for x in range(1, n)]  # a line at least
    links += [(g * n, g * n + 2, 400) for g in range(groups) if n > 2 and rng.random() < 0.5]
    for g, h in combinations(range(groups), 2):
        for _ in range(rng.randint(1, 3)):
            links.append((g * n + rng.randrange(n), h * n + rng.randrange(n), rng.choice([200, 400])))
    return grouped(groups, n, [(at, 400) for at in hosts], links)


def test_never_more_than_what_is_true() -> None:
    for seed in range(30):
        view = View.whole(drawn(seed))
        net, rate, known = unit_network(view), rate_of(view.fabric), all_to_all_bounds(view)
        assert rate > 0 and known is not None and rate <= known.upper, seed
        assert rate * net.half * (len(net.units) - net.half) <= least_of_table(net), seed


LARGE = 4000
GATEWAYS = [(2 * g, 2 * g + 1, 400) for g in range(4)] + [
    (2 * g, 2 * h, 400) for g in range(4) for h in range(g) for _ in range(4)
]


@pytest.mark.parametrize(
    ("fabric", "rate"),
    [
        # two groups without a link of their own show nothing
        (grouped(3, 1, [(h, 400) for h in range(3)], [(0, 1, 400), (1, 2, 400)]), 0),
        # seven groups of one switch with two hosts each: a pair of groups has one link for four pairs of hosts
        (grouped(7, 1, [(h // 2, 1600) for h in range(14)], [(x, y, 400) for x, y in combinations(range(7), 2)]), Fraction(1, 4)),
        # four groups, hosts at one switch and links to other groups at another: of each of two hosts what goes to six others
        # crosses the one link between the two
        (grouped(4, 2, [(h // 2 * 2 + 1, 400) for h in range(8)], GATEWAYS), Fraction(1, 12)),
        # host 1 reaches three others by the thin link of its group, two of them in the other group
        (grouped(2, 2, [(h, LARGE) for h in range(4)], [(0, 1, 400), (2, 3, 400), (0, 2, LARGE)]), Fraction(1, 3)),
        (grouped(2, 1, [(h // 2, 400) for h in range(4)], [(0, 1, 400)]), Fraction(1, 4)),
    ],
)
def test_rates_of_groups(fabric: Fabric, rate: Fraction) -> None:
    assert rate_of(fabric) == rate


def test_groups_with_links_between_hosts_have_no_rate() -> None:
    """Where hosts are linked to hosts beside their switches, what leaves by those links is not counted."""
    b = Builder("loose")
    sw = b.devices("g.r", b.model("switch", "SW", {"p": 20}), 2, 1)
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 4)
    for h in range(4):
        b.link(b.free(node, h), b.free(sw, h // 2))
    b.link(b.free(sw, 0), b.free(sw, 1))
    b.link(b.free(node, 0), b.free(node, 1))
    assert rate_of(b.build()) == 0
