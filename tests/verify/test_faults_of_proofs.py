"""Parts of proofs in which a fault once went unnoticed: what leaves a group, groups that begin anywhere, uneven splits."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from tdsl.certificates.write import verified_certificates
from tdsl.fabric.graph import Fabric
from tdsl.prove.all_to_all import all_to_all_bounds
from tdsl.prove.block_cuts import group_labels
from tdsl.prove.cuts import _unit_groupings
from tdsl.prove.group_routing import group_rate
from tdsl.prove.local_search import _breadth_first_order, cuts_by_local_search
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import GBPS, Builder
from tests.harness import compile_text
from tests.verify.test_checker import MODELS


def two_groups(*inside: int) -> Fabric:
    """Two groups of two switches with a host each: in Gb/s the link inside each group; all others have 4,000."""
    b = Builder("thin")
    sw = b.devices("g.r", b.model("switch", "SW", {"p": 20}), 2, 2)
    node = b.devices("node", b.model("host", "NODE", {"nic": 1}, accelerators=1), 4)
    b.connect("connect all")
    for h in range(4):
        b.link(b.port(node, h, "nic", 0), b.free(sw, h), 4000 * GBPS)
    for g, rate in enumerate(inside):
        b.link(b.free(sw, 2 * g), b.free(sw, 2 * g + 1), rate * GBPS)
    b.link(b.free(sw, 0), b.free(sw, 2), 4000 * GBPS)
    return b.build()


def test_what_leaves_a_group_loads_its_links() -> None:
    """Host 1 reaches three others by the thin link of its group, two of them in the other group."""
    f = two_groups(400, 400)
    view = View.whole(f)
    known = all_to_all_bounds(view)
    assert known is not None and group_rate(unit_network(view), f) == known.upper == Fraction(1, 3)


def test_groups_are_told_apart_wherever_they_begin() -> None:
    """One host without an index comes before the groups, so that their first device is at no multiple of their size."""
    b = Builder("shifted")
    one = b.model("host", "NODE", {"nic": 1}, accelerators=1)
    b.devices("lone", one, 1)
    b.devices("g.r", one, 2, 3)
    f = b.build()
    assert f.sets[-1].first == 1
    assert [x.tolist() for x in group_labels(f, np.arange(1, 7))] == [[0, 0, 0, 1, 1, 1]]
    label, place = islice(_unit_groupings(SimpleNamespace(units=np.arange(1, 7)), f), 2)  # type: ignore[arg-type]
    assert np.unique(label, return_inverse=True)[1].tolist() == place.tolist() == [0, 0, 0, 1, 1, 1]


def test_units_without_an_index_have_groupings(tmp_path: Path) -> None:
    text = "fabric f {\n  host a: N\n  host b: N\n  switch s: SW\n  connect a.nic to s\n  connect b.nic to s\n}\n"
    (made,) = compile_text(MODELS + text, tmp_path, models=False).designs
    assert made.fabric is not None
    net = unit_network(View.whole(made.fabric.network))
    assert [len(x) for x in _unit_groupings(net, made.fabric.network)]
    assert all(len(x) == 2 for x in _unit_groupings(net, made.fabric.network))


def test_what_is_spread_from_a_node_is_in_the_order_of_its_steps() -> None:
    """A line 0, 2, 1, 3."""
    line = SimpleNamespace(start=np.array([0, 1, 3, 5, 6]), near=np.array([2, 2, 3, 0, 1, 1]), weight=np.ones(4))
    assert _breadth_first_order(line, 0).tolist() == [0, 2, 1, 3]  # type: ignore[arg-type]


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
    net = unit_network(view)
    three = np.array([True, True, True, False])
    found = list(cuts_by_local_search(UnitGraph.of(view, net), [three, ~three]))
    assert found and {int(c.units.sum()) for c in found} == {2}


def test_a_certificate_is_of_what_was_asked(tmp_path: Path) -> None:
    """Only `bisection` itself gives the certificate of the bisection."""
    names = {}
    for check in ("reachability", "bisection"):
        text = "fabric f {\n  host node[4]: N\n  switch s: SW\n  connect node[n].nic to s\n  report " + check + "\n}\n"
        (made,) = compile_text(text + MODELS, tmp_path, models=False).designs
        assert made.fabric is not None
        names[check] = {*verified_certificates(made.fabric, made.claims, [r for r in made.results if r.check == check]).texts}
    assert "bisection.json" in names["bisection"] - names["reachability"]
