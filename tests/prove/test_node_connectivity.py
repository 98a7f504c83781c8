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
from tdsl.verify.check import checks_by_name
from tests.fabrics import Builder, multiplane, rail_only, random_chips, random_fabric, random_layers, random_planes, torus
from tests.verify import judges
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
    for seed in range(40):
        f = MAKERS[kind](seed).build()
        if len(units(f)) < 2:
            continue
        found = judged(f)
        assert found.lower == found.upper == least(f), seed
        u, v = found.proof_upper.pair
        assert paths(f, u, v) == found.upper, seed
        assert len(found.proof_upper.devices) + found.proof_upper.linked == found.upper, seed


@pytest.mark.parametrize("work", [0, 5, 40])
def test_bounds_where_the_work_is_spent(work: int) -> None:
    for kind in MAKERS:
        for seed in range(8):
            f = MAKERS[kind](seed).build()
            if len(units(f)) > 1:
                found = judged(f, work)
                assert found.lower <= least(f) <= found.upper, (kind, seed)


@pytest.mark.parametrize("made", [multiplane(), rail_only(), torus(4, 4), torus(3, 5, 4), torus(2, 6)])
def test_regular_fabrics(made: Builder) -> None:
    f = made.build()
    found = judged(f)
    ends = units(f)
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
    made = Builder()
    hosts = made.devices("h", made.model("host", "H", {"nic": 2}, accelerators=2), radix * radix)
    switches = [made.devices(name, made.model("switch", name.upper(), {"p": radix}), radix) for name in ("row", "column")]
    made.connect()
    for h in range(radix * radix):
        for level, at in enumerate((h // radix, h % radix)):
            made.link(made.port(hosts, h, "nic", level), made.free(switches[level], at, "p"))
    f = made.build()
    found = judged(f)
    assert found.lower == found.upper == least(f) == 0
    u, v = found.proof_upper.pair
    assert u % radix != v % radix and u // radix != v // radix


def disjoint(f, u, v):
    """Node-disjoint paths of one pair, by networkx."""
    inner = judges.forwarders(f) - {u, v}
    g = nx.DiGraph()
    g.add_nodes_from([(u, 1), (v, 0)])
    for d in inner:
        g.add_edge((d, 0), (d, 1), capacity=1)
    for a, b in judges.pairs(f):
        for x, y in ((a, b), (b, a)):
            if {x, y} <= inner | {u, v} and x != y and x != v and y != u:
                g.add_edge((x, 1), (y, 0), capacity=1 if (x, y) == (u, v) else 99)
    return nx.maximum_flow_value(g, (u, 1), (v, 0))


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 12), st.sets(st.integers(1, 5), min_size=1, max_size=4))
def test_node_redundancy_of_circulants(chips, jumps):
    """Every chip looks like every other, with four of them joined each to each (jumps 1, 2, 3) or not (1, 4)."""
    b = Builder("circulant")
    chip = b.devices("chip", b.model("chip", "CHIP", {"p": 2 * len(jumps)}), chips, role="accelerator")
    b.connect("connect chip to chip")
    for jump in jumps:
        for i in range(chips if 2 * jump < chips else 0):
            b.link(b.free(chip, i), b.free(chip, (i + jump) % chips))
    f = b.build()
    view = View.whole(f)
    if not view.direct:
        return
    found = checks_by_name()["node_redundancy"].judge(view, None)
    assert found.value == min(disjoint(f, u, v) for u, v in combinations(judges.units(f), 2))


def test_chips_that_are_connected_are_so_without_a_search() -> None:
    """A line of four chips with a closed square at one side: the far chip has one neighbour."""
    for links, lower in (([(0, 1), (1, 2), (2, 3), (3, 4), (4, 1)], 1), ([(0, 1), (2, 3), (3, 4), (4, 2)], 0)):
        b = Builder("line")
        chip = b.devices("chip", b.model("chip", "CHIP", {"p": 8}, accelerators=1), 5)
        b.connect("connect all")
        for x, y in links:
            b.link(b.free(chip, x), b.free(chip, y))
        view = View.whole(b.build())
        quick = least_separator_bounds(replace(view, budget=replace(DEFAULT, disjoint_path_work=0)))
        assert (quick.lower, quick.upper) == (lower, 1)
        assert least_separator_bounds(view).lower == lower


@pytest.mark.parametrize(("groups", "each", "value"), [(5, 2, 4), (6, 2, 4), (5, 3, 6), (4, 2, 4)])
def test_equivalent_chips_that_fewer_than_their_neighbours_separate(groups: int, each: int, value: int) -> None:
    """A ring of groups, each chip linked to all of its group and of both groups beside it: two groups separate the rest, and they
    have fewer chips than each has neighbours."""
    b = Builder("ring")
    chip = b.devices("c", b.model("chip", "C", {"p": 3 * each}), (groups, each), role="accelerator")
    for x, y in combinations(range(groups * each), 2):
        if (x // each - y // each) % groups in (0, 1, groups - 1):
            b.link(b.free(chip, x), b.free(chip, y))
    found = judged(b.build())
    assert found.lower == found.upper == value < 3 * each - 1
