"""Splits of grids across one dimension after the other."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.prove.automorphisms import automorphism_orbits
from tdsl.prove.budget import DEFAULT
from tdsl.prove.flat_cuts import flat_splits
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import torus
from tests.prove.networks import columns


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize("sizes", [(4,), (5,), (2, 3), (3, 4), (3, 3), (2, 3, 4)])
def test_half_of_the_layers_in_every_order_of_dimensions(sizes: tuple[int, ...], wrapped: bool) -> None:
    where = list(product(*map(range, sizes)))
    rows = []
    for i, place in enumerate(where):
        for d, size in enumerate(sizes):
            step = (*place[:d], (place[d] + 1) % size, *place[d + 1 :])
            if place[d] + 1 < size or (wrapped and size > 2):
                rows.append((i, where.index(step), d))
    a, b, kind = columns(rows)
    count = len(where)
    g: Any = SimpleNamespace(
        nodes=count, a=a, b=b, weight=np.ones(count, dtype=np.int64), unit_node=np.arange(count)[::-1].copy()
    )
    wanted = []
    for dimensions in permutations(range(len(sizes))):
        order = sorted(range(count), key=lambda v, by=dimensions: ([where[v][d] for d in by], v))  # type: ignore[misc]
        wanted.append([v in order[: count // 2] for v in range(count)][::-1])
    assert [side.tolist() for side in flat_splits(g, kind)] == wanted
    assert [side.tolist() for side in flat_splits(g, kind, replace(DEFAULT, flat_orders=2))] == wanted[:2]


@pytest.mark.parametrize("sizes", [(4, 4), (6,), (3, 4)])
def test_flat_splits_are_even(sizes: tuple[int, ...]) -> None:
    view = View.whole(torus(*sizes).build())
    net = unit_network(view)
    graph = UnitGraph.of(view, net)
    kinds = (automorphism_orbits(graph, view.budget).link, graph.kind)
    found = [units for kind in kinds for units in flat_splits(graph, kind, view.budget)]
    assert found and {int(units.sum()) for units in found} == {len(net.units) // 2}
