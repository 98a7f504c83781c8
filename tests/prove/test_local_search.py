"""Splits that are improved by moves: even, counted as they are, and mostly the least."""

from __future__ import annotations

import numpy as np

from tdsl.prove.cuts import capacity_across_split
from tdsl.prove.local_search import cuts_by_local_search
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import random_chips, random_fabric, random_layers
from tests.prove.judges import least_of_table
from tests.prove.networks import wired


def test_moves_give_even_splits_of_which_most_are_the_least() -> None:
    least = total = 0
    for seed in range(60):
        f = (random_fabric(seed, 5, 6, 2, 9), random_layers(seed), random_chips(seed, 8, 14))[seed % 3].build()
        view = View.whole(f)
        net = unit_network(view)
        count = len(net.units)
        if count < 2 or count + len(net.transit) > 14:
            continue
        cuts = list(cuts_by_local_search(UnitGraph.of(view, net), [np.arange(count) < count // 2]))
        true = least_of_table(net)
        for cut in cuts:
            assert int(cut.units.sum()) in (count // 2, count - count // 2), seed
            assert cut.value == capacity_across_split(net, cut.units, cut.nodes) >= true, seed
        least += min(x.value for x in cuts) == true
        total += 1
    assert total > 30 and least > 0.7 * total


def test_moved_splits_are_even() -> None:
    """Three hosts on a switch and one on another: no split of the switches halves the hosts."""
    view = View.whole(wired("h0-s0 h1-s0 h2-s0 h3-s1 s0-s1"))
    three = np.array([True, True, True, False])
    found = list(cuts_by_local_search(UnitGraph.of(view, unit_network(view)), [three, ~three]))
    assert found and {int(c.units.sum()) for c in found} == {2}
