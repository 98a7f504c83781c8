"""Forwarding devices of a view, and which of them are equivalent."""

from __future__ import annotations

from random import Random

import networkx as nx
import numpy as np

from tdsl.prove.network import Network
from tdsl.prove.shortest_paths import FAR, Forwarders, classes_of, distances_of_pairs, one_orbit
from tdsl.prove.view import View
from tests.fabrics import Builder, random_chips, random_fabric, superpod, torus
from tests.prove.networks import arcs_of


def test_forwarding_devices_of_a_view() -> None:
    """Four chassis with two hosts each; the last is not built, and a manager's link leads to no unit."""
    b = Builder("few")
    host = b.model("host", "NODE", {"nic": 2}, accelerators=1)
    switch = b.model("switch", "SW", {"p": 16})
    node = b.devices("node", host, 5)
    leaf = b.devices("leaf", switch, 4)
    spine = b.devices("spine", switch, 2)
    manager = b.devices("ufm", b.model("host", "UFM", {"p": 4}), None, role="manager")
    for h in range(5):
        b.link(b.free(node, h), b.free(leaf, h % 3))
    b.link(b.free(manager, 0), b.free(spine, 1))
    for x in range(4):
        for y in range(2):
            for _ in range(1 + (x == 2)):
                b.link(b.free(leaf, x), b.free(spine, y))
    b.omit(leaf.first + 3)
    view = View.whole(b.build())
    net = Forwarders.of(view)
    assert net.devices.tolist() == [*range(leaf.first, leaf.first + 3), spine.first, spine.first + 1]
    assert net.place.tolist() == [-1] * 5 + [0, 1, 2, -1, 3, 4, -1]
    assert net.access.tolist() == [True, True, True, False, False]
    up = [(x, y, 1 + (x == 2)) for x in range(3) for y in (3, 4)]
    assert sorted(arcs_of(net.graph)) == sorted([*up, *((y, x, c) for x, y, c in up)])
    ones = np.ones(net.graph.arcs, dtype=np.int64)
    assert [c.tolist() for c in classes_of(net, ones)] == [[0, 1, 2]]
    assert [c.tolist() for c in classes_of(net, net.graph.capacity)] == [[0, 1], [2]]
    assert not one_orbit(view, net, ones)


def test_fabrics_whose_switches_are_one_orbit() -> None:
    whole = (torus(3, 4), torus(2, 3))
    for made in (*whole, random_chips(1), superpod(2, 4, 2, 2), random_fabric(2)):
        view = View.whole(made.build())
        net = Forwarders.of(view)
        assert one_orbit(view, net, np.ones(net.graph.arcs, dtype=np.int64)) == (made in whole)


def test_distances_of_pairs_are_those_of_networkx() -> None:
    """Random arcs; what does not forward is a place to begin and one to end, and no way leads through."""
    for seed in range(60):
        rng = Random(seed)
        nodes, arcs = rng.randint(2, 9), rng.randint(1, 30)
        passes = np.array([rng.random() < 0.6 for _ in range(nodes)])
        pairs = sorted({(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(arcs)})
        tail, head = (np.array([p[i] for p in pairs], dtype=np.int64) for i in (0, 1))
        net = Network.of(passes, tail, head)
        length = np.array([rng.randint(0, 9) for _ in range(net.arcs)], dtype=np.int64)
        ways = nx.DiGraph()
        ways.add_nodes_from((side, v) for side in "io" for v in range(nodes))
        ways.add_weighted_edges_from((("i", v), ("o", v), 0) for v in range(nodes) if passes[v])
        for t, h, x in zip(net.tail.tolist(), net.head.tolist(), length.tolist(), strict=True):
            ways.add_edge(("o", t), ("i", h), weight=x)
        begin, end = (np.array([rng.randrange(nodes) for _ in range(12)]) for _ in range(2))
        begin, end = begin[begin != end], end[begin != end]
        true = [nx.single_source_dijkstra_path_length(ways, ("o", s)).get(("i", t), FAR) for s, t in zip(begin, end, strict=True)]
        assert distances_of_pairs(net, length, begin, end).tolist() == true, seed
