"""Splits of grids across one dimension after the other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tdsl.prove.automorphisms import automorphism_orbits
from tdsl.prove.cuts import capacity_across_split
from tdsl.prove.flat_cuts import flat_splits
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import torus


@pytest.mark.parametrize(("sizes", "links"), [((4, 4), 8), ((6,), 2), ((3, 4), 6), ((5, 5), 12), ((3, 3, 3), 26)])
def test_flat_splits_are_even_and_one_is_the_least(sizes: tuple[int, ...], links: int) -> None:
    view = View.whole(torus(*sizes).build())
    net = unit_network(view)
    graph = UnitGraph.of(view, net)
    kinds = (automorphism_orbits(graph, view.budget).link, graph.kind)
    found = [units for kind in kinds for units in flat_splits(graph, kind, view.budget)]
    assert found and {int(units.sum()) for units in found} == {len(net.units) // 2}
    none = np.zeros(0, dtype=np.bool_)
    assert min(capacity_across_split(net, units, none) for units in found) == links
    few = replace(view.budget, flat_orders=1)
    assert 0 < len(list(flat_splits(graph, kinds[0], few))) <= len(list(flat_splits(graph, kinds[0], view.budget)))
