"""Rails read off the wiring."""

from __future__ import annotations

from tdsl.fabric.rails import link_rail, rail_count, rail_plan
from tests.fabrics import GBPS, Builder, multiplane, rail_only, superpod, swapped


def two_indices(hosts=4, nics=4, planes=2):
    """``nic[r, p]``: the first index is the rail, the last the plane."""
    b = Builder("both")
    node = b.devices("node", b.model("host", "NODE", {"nic": {"shape": (nics, planes), "rate": 200 * GBPS}}, nics), hosts)
    leaf = b.devices("plane pl.leaf", b.model("switch", "SW", {"p": 16}), planes, nics)
    for n in range(hosts):
        for r in range(nics):
            for p in range(planes):
                b.link(b.port(node, n, "nic", r * planes + p), b.free(leaf, p * nics + r), rate=200 * GBPS)
    return b


def test_superpod_has_eight():
    f = superpod(units=2).build()
    assert rail_count(f) == 8
    column = link_rail(f)
    assert (column[f.link_class == 0] >= -1).all() and (column[f.link_class == 1] == -1).all()
    for row in (0, 3, 100):
        assert column[row] == f.port_class(int(f.link_a[row]))[1]


def test_rail_only_is_organised():
    assert rail_count(rail_only(8, 4).build()) == 4


def test_planes_are_not_rails():
    f = multiplane(4).build()
    assert rail_count(f) == 1 and (link_rail(f) == -1).all()


def test_planes_with_a_swapped_cable_are_not_rails():
    f = multiplane(4).build()
    assert rail_count(swapped(f, 0, 1)) == 1


def test_first_index_is_the_rail_where_the_last_is_the_plane():
    f = two_indices().build()
    assert rail_count(f) == 4
    assert link_rail(f).tolist() == [i // 2 % 4 for i in range(32)]


def test_a_swap_keeps_the_rails():
    plan = rail_plan(swapped(superpod(units=1).build(), 0, 1))
    assert plan.organised and plan.count == 8
    assert (plan.serves != plan.rail).sum() == 2
