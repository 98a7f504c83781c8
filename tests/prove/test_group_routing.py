"""Routes between groups: never more than what is true, and exact on balanced dragonflies."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.all_to_all import all_to_all_bounds
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.cuts import minimum_cut_of_split
from tdsl.prove.group_routing import group_rate
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder


def grouped(seed: int) -> Fabric:
    """Groups of switches in two rates, joined each to each by random links; hosts on one switch or two, some groups with few."""
    rng = Random(seed)
    groups, switches = rng.randint(2, 4), rng.randint(1, 3)
    b = Builder("grouped")
    model = b.model("switch", "SW", {"p": 200})
    sw = b.devices("g.r", model, groups, switches)
    hosts = rng.randint(groups, 8)
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), hosts)
    b.connect("connect hosts")
    for h in range(hosts):
        group = h % groups if h < groups else rng.randrange(groups)
        for nic in range(rng.randint(1, 2)):
            b.link(b.port(node, h, "nic", nic), b.free(sw, group * switches + rng.randrange(switches)))
    b.connect("connect groups")
    for g in range(groups):
        for x in range(1, switches):  # joined in a line at least
            b.link(b.free(sw, g * switches + x - 1), b.free(sw, g * switches + x), rng.choice([400, 800]) * GBPS)
        if switches > 2 and rng.random() < 0.5:
            b.link(b.free(sw, g * switches), b.free(sw, g * switches + 2))
    for g, h in combinations(range(groups), 2):
        for _ in range(rng.randint(1, 3)):
            x, y = g * switches + rng.randrange(switches), h * switches + rng.randrange(switches)
            b.link(b.free(sw, x), b.free(sw, y), rng.choice([200, 400]) * GBPS)
    return b.build()


@pytest.mark.parametrize("seed", range(30))
def test_never_more_than_what_is_true(seed: int) -> None:
    f = grouped(seed)
    view = View.whole(f)
    net = unit_network(view)
    rate = group_rate(net, f)
    assert rate > 0
    known = all_to_all_bounds(view)
    assert known is not None and rate <= known.upper
    found = bisection_bounds(view)
    every = []
    for side in combinations(range(len(net.units)), net.half):
        units = np.zeros(len(net.units), dtype=np.bool_)
        units[list(side)] = True
        every.append(minimum_cut_of_split(net, units).value)
    assert rate * net.half * (len(net.units) - net.half) <= min(every)
    assert found.lower <= min(every) <= found.upper


def test_groups_without_a_link_of_their_own_show_nothing() -> None:
    b = Builder("line")
    sw = b.devices("g.r", b.model("switch", "SW", {"p": 20}), 3, 1)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 3)
    b.connect("connect all")
    for h in range(3):
        b.link(b.port(node, h, "nic", 0), b.free(sw, h))
    for x in range(2):
        b.link(b.free(sw, x), b.free(sw, x + 1))
    f = b.build()
    assert group_rate(unit_network(View.whole(f)), f) == 0


def test_one_link_for_each_two_groups() -> None:
    """Seven groups of one switch with two hosts each: a pair of groups has one link for four pairs of hosts."""
    b = Builder("flat")
    sw = b.devices("g.r", b.model("switch", "SW", {"p": 20}), 7, 1)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 14)
    b.connect("connect all")
    for h in range(14):
        b.link(b.port(node, h, "nic", 0), b.free(sw, h // 2), 800 * GBPS * 2)
    for x, y in combinations(range(7), 2):
        b.link(b.free(sw, x), b.free(sw, y))
    f = b.build()
    assert group_rate(unit_network(View.whole(f)), f) == Fraction(1, 4)


def test_what_crosses_a_group_to_leave_it() -> None:
    """Four groups: hosts at one switch, links to other groups at another, and one link between the two for all that leaves: of
    each of two hosts what goes to six others, λ = 1/12."""
    b = Builder("gateways")
    sw = b.devices("g.r", b.model("switch", "SW", {"p": 40}), 4, 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 8)
    b.connect("connect all")
    for h in range(8):
        b.link(b.port(node, h, "nic", 0), b.free(sw, h // 2 * 2 + 1))
    for g in range(4):
        b.link(b.free(sw, 2 * g), b.free(sw, 2 * g + 1))
        for other in range(g):
            for _ in range(4):
                b.link(b.free(sw, 2 * g), b.free(sw, 2 * other))
    f = b.build()
    assert group_rate(unit_network(View.whole(f)), f) == Fraction(1, 12)


def two_groups(*inside: int) -> Fabric:
    """Two groups of two switches with a host each: in Gb/s the link inside each group; all others have 4,000."""
    b = Builder("thin")
    sw = b.devices("g.r", b.model("switch", "SW", {"p": 20}), 2, 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    b.connect("connect all")
    for h in range(4):
        b.link(b.port(node, h, "nic", 0), b.free(sw, h), 4000 * GBPS)
    for g, rate in enumerate(inside):
        b.link(b.free(sw, 2 * g), b.free(sw, 2 * g + 1), rate * GBPS)
    b.link(b.free(sw, 0), b.free(sw, 2), 4000 * GBPS)
    return b.build()


def test_what_leaves_a_group_loads_its_links() -> None:
    """Host 1 reaches three others by the thin link of its group, two of them in the other group."""
    f = two_groups(400, 400)
    view = View.whole(f)
    known = all_to_all_bounds(view)
    assert known is not None and group_rate(unit_network(view), f) == known.upper == Fraction(1, 3)


def test_groups_with_links_between_hosts_have_no_rate() -> None:
    """Where hosts are linked to hosts beside their switches, what leaves by those links is not counted."""
    rates = []
    for loose in (False, True):
        b = Builder("loose")
        sw = b.devices("g.r", b.model("switch", "SW", {"p": 20}), 2, 1)
        node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 4)
        b.connect("connect all")
        for h in range(4):
            b.link(b.free(node, h), b.free(sw, h // 2), 400 * GBPS)
        b.link(b.free(sw, 0), b.free(sw, 1), 400 * GBPS)
        if loose:
            b.link(b.free(node, 0), b.free(node, 1), 400 * GBPS)
        f = b.build()
        rates.append(group_rate(unit_network(View.whole(f)), f))
    assert rates == [Fraction(1, 4), 0]
