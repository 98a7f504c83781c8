"""Mean hops between all pairs of units."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import pytest

from tdsl.prove.bound import Bound, HopSum, NotBounded
from tdsl.prove.mean_hops import mean_hops
from tdsl.prove.view import View
from tests.fabrics import Builder, rail_only, random_chips, random_fabric, random_layers, superpod, torus
from tests.prove.mixed_fabrics import attached, graph, mixed, units, views

SEEDS = range(36)


def hops(view: View) -> tuple[int, int, int]:
    """Over all ordered pairs of connections of different units: hops, pairs that reach each other, and all pairs."""
    own, n = set(units(view)), view.fabric.device_count
    ends = [(end, node) for end, _, node, _ in attached(view) if end in own and node < n]
    far = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph(view))))
    total = count = 0
    for u, v in ends:
        for w, x in ends:
            if u != w and x in far[v]:
                total += far[v][x]
                count += 1
    return total, count, sum(u != w for u, _ in ends for w, _ in ends)


def mean(view: View) -> None:
    total, count, most = hops(view)
    found = mean_hops(view)
    own, n = set(units(view)), view.fabric.device_count
    attached_units = {end for end, _, node, _ in attached(view) if end in own and node < n}
    if len(attached_units) < 2:
        assert isinstance(found, NotBounded)
        assert found.reasons == (f"fewer than two {view.unit_word} are attached to a switch",)
    elif not count:
        assert isinstance(found, NotBounded) and found.reasons == ("no two ends reach each other",)
    else:
        assert isinstance(found, Bound)
        assert found.lower == found.upper == Fraction(total, count)
        assert found.proof_lower == found.proof_upper == HopSum(total, count, most)


@pytest.mark.parametrize("seed", SEEDS)
def test_mean_hops_of_all_pairs(seed: int) -> None:
    for view in views(mixed(seed), seed):
        mean(view)
    for made in (random_fabric(seed), random_layers(seed), random_chips(seed, 6, 3 + seed % 9)):
        mean(View.whole(made.build()))


def twins() -> list[Builder]:
    """A ring of switches with two hosts each: of one link each, of two links to one switch, and to neighbouring switches."""
    out = []
    for links_, apart in ((1, 0), (2, 0), (2, 1)):
        b = Builder("ring")
        sw = b.devices("s", b.model("switch", "SW", {"p": 12}), 5)
        node = b.devices("h", b.model("host", "NODE", {"nic": 2}, accelerators=1), 10)
        for h in range(10):
            for k in range(links_):
                b.link(b.port(node, h, "nic", k), b.free(sw, (h // 2 + k * apart) % 5))
        for s in range(5):
            b.link(b.port(sw, s, "p", 10), b.port(sw, (s + 1) % 5, "p", 11))
        out.append(b)
    return out


def test_mean_hops_of_symmetric_fabrics() -> None:
    """One search is enough where all nodes are equivalent, but for units that are connected to several nodes."""
    for made in (torus(3, 4), torus(5), torus(2, 3), superpod(2, 4, 2, 2), rail_only(), *twins()):
        mean(View.whole(made.build()))


def test_mean_hops_of_equivalent_switches_with_unlike_hosts() -> None:
    """A ring of six switches with one host and two in turn; or with two each, of which one has a link to the next switch, too."""
    for hosts, second in (([0, 1, 1, 2, 3, 3, 4, 5, 5], []), ([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], [1])):
        b = Builder("ring")
        sw = b.devices("s", b.model("switch", "SW", {"p": 12}), 6)
        node = b.devices("h", b.model("host", "NODE", {"nic": 2}, accelerators=1), len(hosts))
        for h, s in enumerate(hosts):
            b.link(b.free(node, h), b.free(sw, s))
        for h in second:
            b.link(b.free(node, h), b.free(sw, (hosts[h] + 1) % 6))
        for s in range(6):
            b.link(b.port(sw, s, "p", 10), b.port(sw, (s + 1) % 6, "p", 11))
        mean(View.whole(b.build()))
