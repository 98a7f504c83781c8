"""Small networks of chips without symmetry: the rates that linear programs propose become exact fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tdsl.prove.all_to_all import all_to_all_bounds
from tdsl.prove.linear import solve_multicommodity_flow
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.view import View
from tests.fabrics import random_chips


@pytest.mark.parametrize("seed", range(25))
def test_all_to_all_is_exact(seed: int) -> None:
    """Both ends meet at the optimum of the linear program over arcs."""
    view = View.whole(random_chips(seed, chips=6, cables=14).build())
    if not (view.label[view.units] == view.label[view.units[0]]).all():
        pytest.skip("not all of them are joined")
    found = all_to_all_bounds(view)
    assert found is not None
    graph = UnitGraph.of(view, found.net)
    nodes = graph.unit_node.tolist()
    flow, _ = solve_multicommodity_flow(graph.network, {s: {t: 1 for t in nodes if t != s} for s in nodes}, 20_000)
    rate = float(flow[0][graph.network.tail == nodes[0]].sum()) / (len(nodes) - 1)
    assert found.lower == found.upper
    assert abs(float(found.lower) - rate) < 1e-6
    assert found.lower.denominator < 10_000 and isinstance(found.lower, Fraction)
