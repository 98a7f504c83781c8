"""Forwarding devices of a view, and which of them are equivalent."""

from __future__ import annotations

import numpy as np

from tdsl.prove.shortest_paths import Forwarders, classes_of, one_orbit
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
