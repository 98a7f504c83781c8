"""Splits that are improved by moves: even, counted as they are, and mostly the least."""

from __future__ import annotations

import numpy as np

from tdsl.prove.cuts import capacity_across_split
from tdsl.prove.local_search import cuts_by_local_search
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import Builder, random_chips, random_fabric, random_layers
from tests.prove.judges import least_of_table


def test_moves_give_even_splits_of_which_most_are_the_least() -> None:
    least = total = 0
    for seed in range(90):
        f = (random_fabric(seed, 5, 6, 2, 9), random_layers(seed), random_chips(seed, 8, 14))[seed % 3].build()
        view = View.whole(f)
        net = unit_network(view)
        count = len(net.units)
        if count < 2 or count + len(net.transit) > 16:
            continue
        start = np.arange(count) < count // 2
        cuts = list(cuts_by_local_search(UnitGraph.of(view, net), [start]))
        true = least_of_table(net)
        for cut in cuts:
            assert int(cut.units.sum()) in (count // 2, count - count // 2), seed
            assert cut.value == capacity_across_split(net, cut.units, cut.nodes) >= true, seed
        least += min(x.value for x in cuts) == true
        total += 1
    assert total > 50 and least > 0.7 * total


def test_moved_splits_are_even() -> None:
    """Three hosts on a switch and one on another: no split of the switches halves the hosts."""
    b = Builder("uneven")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 20}), 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    b.connect("connect all")
    for h in range(4):
        b.link(b.port(node, h, "nic", 0), b.free(sw, h // 3))
    b.link(b.free(sw, 0), b.free(sw, 1))
    view = View.whole(b.build())
    three = np.array([True, True, True, False])
    found = list(cuts_by_local_search(UnitGraph.of(view, unit_network(view)), [three, ~three]))
    assert found and {int(c.units.sum()) for c in found} == {2}
