"""The fewest links that separate two ends, against networkx."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import LinkPaths
from tdsl.prove.budget import DEFAULT
from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.view import View
from tests.fabrics import Builder, random_chips, random_fabric, random_layers, torus
from tests.prove.networks import wired
from tests.verify import judges
from tests.verify.judges import redundancy


def mixed(seed: int) -> Fabric:
    """Chips linked to chips and to switches, and hosts on both; not always connected."""
    rng = Random(seed)
    b = Builder("mixed")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 90}, accelerators=1), rng.randint(2, 5))
    sw = b.devices("s", b.model("switch", "S", {"p": 90}), rng.randint(1, 3))
    host = b.devices("h", b.model("host", "H", {"nic": 6}, accelerators=1), rng.randint(1, 4))
    b.link(b.free(chip, 0), b.free(chip, 1))
    for _ in range(rng.randint(1, 9)):
        x, y = rng.sample([(s, i) for s in (chip, sw) for i in range(s.count)], 2)
        b.link(b.free(*x), b.free(*y))
    for h in range(host.count):
        for _ in range(rng.randint(2, 4)):
            x = rng.choice([(s, i) for s in (chip, sw) for i in range(s.count)])
            b.link(b.free(host, h), b.free(*x))
    if host.count > 1 and rng.random() < 0.4:
        b.link(b.free(host, 0), b.free(host, 1))
    return b.build()


MAKERS = {
    "chips": lambda seed: random_chips(seed, chips=2 + seed % 6, cables=4 + seed % 13).build(),
    "mixed": mixed,
    "hosts": lambda seed: random_fabric(seed, 2 + seed % 5, 2 + seed % 4, 3, seed % 11, seed % 4).build(),
    "layers": lambda seed: random_layers(seed).build(),
}


def separated(f: Fabric, found: LinkPaths) -> int:
    """Links that lead from the side of one end to that of the other, among what forwards and the two."""
    (u, v), side = found.proof_upper.pair, found.proof_upper.side
    ends = set(View.whole(f).units.tolist())
    assert u != v and {u, v} <= ends and side[u] and not side[v] and len(side) == f.device_count
    keep = judges.forwarders(f) | {u, v}
    return sum(bool(side[a] != side[b]) for a, b in judges.pairs(f) if {a, b} <= keep)


@pytest.mark.parametrize("kind", MAKERS)
def test_the_fewest_links_and_a_side(kind: str) -> None:
    values = set()
    for seed in range(40):
        f = MAKERS[kind](seed)
        if len(View.whole(f).units) < 2:
            continue
        found = disjoint_paths(View.whole(f))
        assert found.lower == found.upper == judges.redundancy(f) == separated(f, found), seed
        values.add(found.lower)
    assert {0, 1, 2} <= values


def test_symmetric_chips_are_separated_by_the_links_of_one() -> None:
    """Without a flow where all links are single; with double links by flows."""
    none = replace(DEFAULT, flow_work=0)
    for sizes, value in (((4, 4), 4), ((5,), 2), ((3, 3, 3), 6)):
        f = torus(*sizes).build()
        found = disjoint_paths(View.whole(f, none))
        assert found.lower == found.upper == value == separated(f, found)
        assert found.proof_upper.pair == (0, 1) and np.flatnonzero(found.proof_upper.side).tolist() == [0]
    double = torus(2, 2, 3).build()
    found = disjoint_paths(View.whole(double))
    assert found.lower == found.upper == 6 == separated(double, found)


@pytest.mark.parametrize("bridges", [1, 2])
def test_chips_with_single_links_that_are_not_symmetric(bridges: int) -> None:
    """Two groups of four that are linked each to each, and one link or two between the groups."""
    b = Builder("two")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 9}, accelerators=1), 8)
    for g in range(2):
        for x, y in combinations(range(4 * g, 4 * g + 4), 2):
            b.link(b.free(chip, x), b.free(chip, y))
    for x in range(bridges):
        b.link(b.free(chip, x), b.free(chip, 4 + x))
    f = b.build()
    found = disjoint_paths(View.whole(f))
    assert found.lower == found.upper == bridges == separated(f, found)


def test_hosts_without_links_reach_nobody() -> None:
    b = Builder("bare")
    sw = b.devices("s", b.model("switch", "S", {"p": 9}), 1)
    node = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), 4)
    for h in (0, 3):
        b.link(b.free(node, h), b.free(sw, 0))
    f = b.build()
    found = disjoint_paths(View.whole(f))
    u, v = (int(x) for x in View.whole(f).units[:2])
    assert (found.lower, found.upper) == (0, 0) and found.proof_upper.pair == (v, u)
    assert np.flatnonzero(found.proof_upper.side).tolist() == [v]


def test_a_host_on_a_chip_has_the_links_of_its_own() -> None:
    """A ring of chips, each with two links to the next; one host, and then two, on the first or the last of them."""
    for count in (3, 4, 5):
        for places in ((0,), (count - 1,), (0, 0), (0, 1)):
            b = Builder("ring")
            chip = b.devices("c", b.model("chip", "C", {"p": 9}, accelerators=1), count)
            host = b.devices("h", b.model("host", "H", {"nic": 1}, accelerators=1), len(places))
            for i in range(count):
                for _ in range(2):
                    b.link(b.free(chip, i), b.free(chip, (i + 1) % count))
            for h, at in enumerate(places):
                b.link(b.free(host, h), b.free(chip, at))
            f = b.build()
            found = disjoint_paths(View.whole(f))
            assert found.lower == found.upper == judges.redundancy(f) == separated(f, found) == 1
    assert disjoint_paths(View.whole(torus(4).build())).lower == 2


def test_links_between_switches_separate_hosts() -> None:
    """Two hosts with two links each, and one link between their switches."""
    for between, value in ((1, 1), (2, 2), (3, 2)):
        f = wired(2, 2, [("h0", "s0"), ("h0", "s0"), ("h1", "s1"), ("h1", "s1"), *[("s0", "s1")] * between]).build()
        found = disjoint_paths(View.whole(f))
        assert found.lower == found.upper == value == redundancy(f)
        side = found.proof_upper.side
        assert np.count_nonzero(side[f.device_a] != side[f.device_b]) == value
