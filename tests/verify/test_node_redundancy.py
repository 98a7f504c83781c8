"""Node redundancy against networkx, on fabrics of all kinds: the figure, and that the devices named do separate the pair."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.automorphisms import translation_orbits
from tdsl.prove.bound import DevicePaths
from tdsl.prove.budget import DEFAULT
from tdsl.prove.disjoint import WorkLeft, separator_of_terminals
from tdsl.prove.node_connectivity import least_separator_bounds
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import (
    Builder,
    multiplane,
    rail_only,
    random_chips,
    random_fabric,
    random_layers,
    random_planes,
    swapped,
    torus,
)
from tests.verify.judges import forwarders, units


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


def judged(f: Fabric, work: int = DEFAULT.disjoint_path_work) -> DevicePaths:
    return least_separator_bounds(View.whole(f, replace(DEFAULT, disjoint_path_work=work)))


def least(f: Fabric) -> int:
    ends = units(f)
    return min(paths(f, u, v) for i, u in enumerate(ends) for v in ends[i + 1 :])


MAKERS = {
    "fabric": lambda seed: random_fabric(seed),
    "dense": lambda seed: random_fabric(seed, switches=7, hosts=6, nics=4, cables=16),
    "loose": lambda seed: random_fabric(seed, switches=6, hosts=6, nics=4, cables=8, loose=3),
    "layers": random_layers,
    "chips": lambda seed: random_chips(seed, chips=7, cables=15),
    "planes": random_planes,
}


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


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_twisted_tori_look_alike_everywhere(turn: int) -> None:
    """A wrap that shifts the other index keeps every device like the first, and the translations that follow ports say so; one
    link moved, they do not."""
    rows, columns = 4, 6
    made = Builder()
    chips = made.devices("c", made.model("chip", "C", {"ici": 4}), rows * columns, role="accelerator")
    made.connect()
    for x in range(rows):
        for y in range(columns):
            right = (x + 1) % rows * columns + (y + turn * ((x + 1) // rows)) % columns
            made.link(made.port(chips, x * columns + y, "ici", 0), made.port(chips, right, "ici", 1))
            made.link(made.port(chips, x * columns + y, "ici", 2), made.port(chips, x * columns + (y + 1) % columns, "ici", 3))
    f = made.build()
    g = UnitGraph.of(View.whole(f), unit_network(View.whole(f)))
    symmetry = translation_orbits(g, f)
    assert symmetry is not None and not symmetry.node.any()
    assert judged(f).upper == judged(f).lower == 4 == least(f)
    other = swapped(f, 0, 2)
    assert translation_orbits(UnitGraph.of(View.whole(other), unit_network(View.whole(other))), other) is None
    found = judged(other)
    assert found.lower == found.upper == least(other)


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
