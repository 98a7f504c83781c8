"""Node redundancy, against networkx: the figure, and devices that do separate the pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.fabric.graph import Fabric
from tdsl.prove.bound import DevicePaths
from tdsl.prove.budget import DEFAULT
from tdsl.prove.disjoint import WorkLeft, separator_of_terminals
from tdsl.prove.node_connectivity import least_separator_bounds
from tdsl.prove.view import View
from tests.fabrics import Builder, multiplane, rail_only, random_chips, random_fabric, random_layers, random_planes, torus
from tests.prove.networks import lines, wired
from tests.verify.judges import forwarders, units

MAKERS = {
    "fabric": lambda seed: random_fabric(seed),
    "dense": lambda seed: random_fabric(seed, switches=7, hosts=6, nics=4, cables=16),
    "loose": lambda seed: random_fabric(seed, switches=6, hosts=6, nics=4, cables=8, loose=3),
    "layers": random_layers,
    "chips": lambda seed: random_chips(seed, chips=7, cables=15),
    "planes": random_planes,
}


def judged(f: Fabric, work: int = DEFAULT.disjoint_path_work) -> DevicePaths:
    return least_separator_bounds(View.whole(f, replace(DEFAULT, disjoint_path_work=work)))


def paths(f: Fabric, u: int, v: int) -> int:
    """Disjoint paths of a pair by networkx; a link between the two counts as one."""
    keep = (forwarders(f) | {u, v}) & set(np.flatnonzero(f.built).tolist())
    g = nx.Graph()
    g.add_nodes_from(keep)
    g.add_edges_from((a, b) for a, b in zip(f.device_a.tolist(), f.device_b.tolist(), strict=True) if {a, b} <= keep)
    joined = g.has_edge(u, v)
    if joined:
        g.remove_edge(u, v)
    return joined + (nx.node_connectivity(g, u, v) if len(g) > 2 else 0)


def least(f: Fabric) -> int:
    ends = units(f)
    return min(paths(f, u, v) for i, u in enumerate(ends) for v in ends[i + 1 :])


@pytest.mark.parametrize("kind", MAKERS)
def test_the_least_of_all_pairs(kind: str) -> None:
    for seed in range(25):
        f = MAKERS[kind](seed).build()
        if len(units(f)) < 2:
            continue
        found = judged(f)
        assert found.lower == found.upper == least(f), seed
        u, v = found.proof_upper.pair
        assert paths(f, u, v) == found.upper, seed
        assert len(found.proof_upper.devices) + found.proof_upper.linked == found.upper, seed


@pytest.mark.parametrize("made", [multiplane(), rail_only(), torus(4, 4), torus(3, 5, 4), torus(2, 6)], ids=lambda b: b.name)
def test_regular_fabrics(made: Builder) -> None:
    f = made.build()
    found, ends = judged(f), units(f)
    assert found.lower == found.upper == min(paths(f, ends[0], v) for v in ends[1:])


def test_a_thousand_chips_without_symmetry() -> None:
    """A random regular graph of 1,000 nodes is settled."""
    g = nx.random_regular_graph(6, 1000, seed=3)
    near = {v: set(g[v]) for v in g}
    found = separator_of_terminals(near, list(near), 7, True, WorkLeft(6_000_000))
    assert found is not None and found.value == nx.node_connectivity(g, *found.pair) == 6
    near[7], cut = set(near[7]), sorted(near[7])[:3]
    for other in cut:
        near[7].discard(other)
        near[other].discard(7)
    found = separator_of_terminals(near, list(near), 7, True, WorkLeft(6_000_000))
    assert found is not None and found.value == 3 and 7 in found.pair


@pytest.mark.parametrize("radix", [3, 4])
def test_hosts_that_share_no_switch(radix: int) -> None:
    """Every host has a switch of its row and one of its column, and no two switches are linked (BCube of two levels, whose hosts
    forward nothing here): hosts of another row and column share none."""
    ends = [(h, at) for h in range(radix * radix) for at in (h // radix, radix + h % radix)]
    f = wired(lines(*((f"h{h}", f"s{s}") for h, s in ends)))
    found = judged(f)
    assert found.lower == found.upper == least(f) == 0
    u, v = found.proof_upper.pair
    u, v = u - 2 * radix, v - 2 * radix  # the switches come first
    assert u % radix != v % radix and u // radix != v // radix


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 12), st.sets(st.integers(1, 5), min_size=1, max_size=4))
def test_node_redundancy_of_circulants(chips, jumps):
    """Every chip looks like every other, with four of them joined each to each (jumps 1, 2, 3) or not (1, 4)."""
    ring = ((f"c{i}", f"c{(i + jump) % chips}") for jump in jumps if 2 * jump < chips for i in range(chips))
    f = wired(f"c{chips - 1} {lines(*ring)}")
    if View.whole(f).direct:
        found = judged(f)
        assert found.lower == found.upper == least(f)


def test_chips_that_are_connected_are_so_without_a_search() -> None:
    """A line of four chips with a closed square at one side: the far chip has one neighbour."""
    for text, lower in (("c0-c1 c1-c2 c2-c3 c3-c4 c4-c1", 1), ("c0-c1 c2-c3 c3-c4 c4-c2", 0)):
        f = wired(text)
        quick = judged(f, work=0)
        assert (quick.lower, quick.upper) == (lower, 1) and judged(f).lower == lower


@pytest.mark.parametrize(("groups", "each", "value"), [(5, 2, 4), (6, 2, 4), (5, 3, 6), (4, 2, 4)])
def test_equivalent_chips_that_fewer_than_their_neighbours_separate(groups: int, each: int, value: int) -> None:
    """A ring of groups, each chip linked to all of its group and of both groups beside it: two groups separate the rest, and they
    have fewer chips than each has neighbours."""
    ends = combinations(range(groups * each), 2)
    f = wired(lines(*((f"c{x}", f"c{y}") for x, y in ends if (x // each - y // each) % groups in (0, 1, groups - 1))))
    found = judged(f)
    assert found.lower == found.upper == value < 3 * each - 1
