"""Demands between terminals of a view, and its planes."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.budget import Budget
from tdsl.prove.terminals import views_of_planes
from tdsl.prove.view import View
from tests.fabrics import random_fabric, random_planes
from tests.prove.mixed_fabrics import links, mixed


@pytest.mark.parametrize("seed", range(40))
def test_planes_of_a_view(seed: int) -> None:
    """Components of forwarding devices that units are connected to, in order of their lowest device, with the links of units."""
    makers = (lambda: mixed(seed), lambda: random_planes(seed).build(), lambda: random_fabric(seed, 5, 4, 2, 3, 1).build())
    view = replace(View.whole(makers[seed % 3](), Budget(flow_work=4)), name="some")
    g = nx.Graph()
    g.add_nodes_from(np.flatnonzero(view.forwards).tolist())
    g.add_edges_from((a, b) for _, a, b in links(view) if view.forwards[a] and view.forwards[b])
    own, wanted = set(view.units.tolist()), []
    for group in sorted(sorted(c) for c in nx.connected_components(g)):
        if any({a, b} & own and (a in group or b in group) for _, a, b in links(view)):
            wanted.append([r for r, a, b in links(view) if a in group or (b in group and not view.forwards[a])])
    found = views_of_planes(view)
    assert [x.rows.tolist() for x in found] == wanted
    assert all(x.core is view.core and x.devices is view.devices and x.budget is view.budget and x.name == "some" for x in found)
