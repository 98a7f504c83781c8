"""The fewest links that separate two ends, against networkx."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import LinkPaths
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.view import View
from tests.fabrics import Builder, random_chips, random_fabric, random_layers, torus
from tests.prove.networks import wired
from tests.verify import judges


def mixed(seed: int) -> Fabric:
    """Chips linked to chips and to switches, and hosts on both; not always connected."""
    rng = Random(seed)
    b = Builder("mixed")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 90}, accelerators=1), rng.randint(2, 5))
    sw = b.devices("s", b.model("switch", "S", {"p": 90}), rng.randint(1, 3))
    host = b.devices("h", b.model("host", "H", {"nic": 6}, accelerators=1), rng.randint(1, 4))
    b.link(b.free(chip, 0), b.free(chip, 1))
    inner = [(s, i) for s in (chip, sw) for i in range(s.count)]
    for _ in range(rng.randint(1, 9)):
        x, y = rng.sample(inner, 2)
        b.link(b.free(*x), b.free(*y))
    for h in range(host.count):
        for _ in range(rng.randint(1, 4)):
            b.link(b.free(host, h), b.free(*rng.choice(inner)))
    if host.count > 1 and rng.random() < 0.4:
        b.link(b.free(host, 0), b.free(host, 1))
    return b.build()


MAKERS = {
    "chips": lambda seed: random_chips(seed, chips=2 + seed % 6, cables=4 + seed % 13).build(),
    "mixed": mixed,
    "hosts": lambda seed: random_fabric(seed, 2 + seed % 5, 2 + seed % 4, 3, seed % 11, seed % 4).build(),
    "layers": lambda seed: random_layers(seed).build(),
}


def value_of(f: Fabric, budget: Budget = DEFAULT) -> tuple[int, LinkPaths]:
    """The figure, which as many links show that lead from the side of one end to that of the other, among what forwards and the
    two."""
    view = View.whole(f, budget)
    found = disjoint_paths(view)
    (u, v), side = found.proof_upper.pair, found.proof_upper.side
    assert u != v and {u, v} <= set(view.units.tolist()) and side[u] and not side[v] and len(side) == f.device_count
    keep = judges.forwarders(f) | {u, v}
    crossing = sum(bool(side[a] != side[b]) for a, b in judges.pairs(f) if {a, b} <= keep)
    assert found.lower == found.upper == crossing
    return crossing, found


@pytest.mark.parametrize("kind", MAKERS)
def test_the_fewest_links_and_a_side(kind: str) -> None:
    values = set()
    for seed in range(40):
        f = MAKERS[kind](seed)
        if len(View.whole(f).units) > 1:
            value, _ = value_of(f)
            assert value == judges.redundancy(f), seed
            values.add(value)
    assert {0, 1, 2} <= values


def test_symmetric_chips_are_separated_by_the_links_of_one() -> None:
    """Without a flow where all links are single; with double links by flows."""
    for sizes, value in (((4, 4), 4), ((5,), 2), ((3, 3, 3), 6)):
        found, shown = value_of(torus(*sizes).build(), replace(DEFAULT, flow_work=0))
        assert (found, shown.proof_upper.pair) == (value, (0, 1)) and np.flatnonzero(shown.proof_upper.side).tolist() == [0]
    assert value_of(torus(2, 2, 3).build())[0] == 6


@pytest.mark.parametrize("bridges", [1, 2])
def test_chips_with_single_links_that_are_not_symmetric(bridges: int) -> None:
    """Two groups of four that are linked each to each, and one link or two between the groups."""
    groups = [f"c{x}-c{y}" for g in range(2) for x, y in combinations(range(4 * g, 4 * g + 4), 2)]
    assert value_of(wired(" ".join([*groups, *(f"c{x}-c{4 + x}" for x in range(bridges))])))[0] == bridges


def test_hosts_without_links_reach_nobody() -> None:
    value, found = value_of(wired("h0-s0 h3-s0"))
    u, v = (1, 2)  # the first two hosts; the second has no link
    assert value == 0 and found.proof_upper.pair == (v, u) and np.flatnonzero(found.proof_upper.side).tolist() == [v]


def test_a_host_on_a_chip_has_the_links_of_its_own() -> None:
    """A ring of chips, each with two links to the next; one host, and then two, on the first or the last of them."""
    for count in (3, 4, 5):
        ring = " ".join(f"c{i}-c{(i + 1) % count}*2" for i in range(count))
        for places in ((0,), (count - 1,), (0, 0), (0, 1)):
            f = wired(ring + "".join(f" h{h}-c{at}" for h, at in enumerate(places)))
            assert value_of(f)[0] == judges.redundancy(f) == 1
