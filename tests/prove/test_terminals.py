"""Demands between terminals of a view, and its planes."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from tdsl.prove.budget import Budget
from tdsl.prove.terminals import views_of_planes
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder, random_fabric, random_planes, superpod
from tests.prove.mixed_fabrics import mixed


@pytest.mark.parametrize("seed", range(40))
def test_planes_of_a_view(seed: int) -> None:
    """Components of forwarding devices that units are connected to, in order of their lowest device, with the links of units."""
    makers = (lambda: mixed(seed), lambda: random_planes(seed).build(), lambda: random_fabric(seed, 5, 4, 2, 3, 1).build())
    f = makers[seed % 3]()
    view = replace(View.whole(f, Budget(flow_work=4)), name="some")
    g = nx.Graph()
    g.add_nodes_from(np.flatnonzero(view.forwards).tolist())
    links = list(zip(view.rows.tolist(), view.a.tolist(), view.b.tolist(), strict=True))
    g.add_edges_from((a, b) for _, a, b in links if view.forwards[a] and view.forwards[b])
    own, wanted = set(view.units.tolist()), []
    for group in sorted(sorted(c) for c in nx.connected_components(g)):
        rows = [r for r, a, b in links if a in group or (b in group and not view.forwards[a])]
        if any({a, b} & own and (a in group or b in group) for _, a, b in links):
            wanted.append(rows)
    found = views_of_planes(view)
    assert [x.rows.tolist() for x in found] == wanted
    assert all(x.core is view.core and x.devices is view.devices and x.budget is view.budget and x.name == "some" for x in found)


def test_planes_of_a_pod_are_one() -> None:
    assert len(views_of_planes(View.whole(superpod(2, 4, 2, 2).build()))) == 1
    b = Builder("two")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 8}), 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 2)
    for h in range(2):
        for s in range(2):
            b.link(b.free(node, h), b.free(sw, s), GBPS)
    assert [x.rows.tolist() for x in views_of_planes(View.whole(b.build()))] == [[0, 2], [1, 3]]
