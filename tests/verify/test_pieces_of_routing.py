"""Pieces of the bounds of throughput: groups, trees, interchangeable hosts, sets, and the linear program."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tdsl.prove.block_cuts import group_labels
from tdsl.prove.budget import DEFAULT
from tdsl.prove.group_routing import group_rate
from tdsl.prove.linear import least_fullest
from tdsl.prove.network import Network
from tdsl.prove.set_flow import FlowBetweenSets, max_flow_between_sets
from tdsl.prove.trees import uniform_loads_along_trees
from tdsl.prove.unit_graph import _equivalent_units
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tests.fabrics import Builder, claim, multiplane, selector
from tests.verify.test_faults_of_proofs import two_groups


@pytest.mark.parametrize("thin", [0, 1])
def test_the_thin_link_of_any_group_counts(thin: int) -> None:
    """Two groups of two switches with a host each; in one of them the link carries a tenth."""
    f = two_groups(*(400 if g == thin else 4000 for g in range(2)))
    net = unit_network(View.whole(f))
    assert group_rate(net, f) == Fraction(1, 3)
    # switches that are all joined to each other are not searched
    assert group_rate(net, f, replace(DEFAULT, group_work=0)) == Fraction(1, 3)


def test_groups_of_several_names_are_told_apart() -> None:
    """Three switches in no group, two groups of one name and two of another."""
    b = Builder("names")
    sw = b.model("switch", "SW", {"p": 4})
    for path, sizes in (("lone", (3,)), ("a.r", (2, 2)), ("b.r", (2, 3))):
        b.devices(path, sw, *sizes)
    f = b.build()
    (label,) = group_labels(f, np.arange(f.device_count))
    same = [[0], [1], [2], [3, 4], [5, 6], [7, 8, 9], [10, 11, 12]]
    assert [np.flatnonzero(label == label[x[0]]).tolist() for x in same] == same


def test_hosts_that_are_linked_to_hosts_are_not_interchangeable() -> None:
    b = Builder("loose")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 20}), 1)
    node = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=1), 6)
    b.connect("connect all")
    for h in range(5):
        b.link(b.free(node, h), b.free(sw, 0))
    b.link(b.free(node, 0), b.free(node, 5))
    view = View.whole(b.build())
    net = unit_network(view)
    assert _equivalent_units(net, view.forwards[net.units]).tolist() == [0, 1, 1, 1, 1, 5]


def test_trees_reach_their_root() -> None:
    """Three chips in a line, of which one tree is grown: two pairs cross each link, either way."""
    line = Network.both_ways(np.ones(3, dtype=np.bool_), np.array([0, 1]), np.array([1, 2]))
    made = uniform_loads_along_trees(line, np.ones(3, dtype=np.int64), replace(DEFAULT, tree_rounds=1))
    assert made is not None and [Fraction(x, made.parts) for x in made.load.tolist()] == [2] * 4


def test_sets_that_overlap_or_are_empty_have_no_flow() -> None:
    f = multiplane(2, 8).build()
    view = View.whole(f)
    every = selector(f, "node")
    one, two = (replace(every, elements=every.elements[x : x + 1]) for x in (0, 1))
    none = replace(every, elements=())
    assert isinstance(max_flow_between_sets(view, claim(f, "throughput", of=(one,), of_to=(two,))), FlowBetweenSets)
    for of, to, why in (((one,), (one, two), "both sides"), ((one,), (none,), "is left"), ((none,), (two,), "is left")):
        found = max_flow_between_sets(view, claim(f, "throughput", of=of, of_to=to))
        assert isinstance(found, str) and why in found


@pytest.mark.parametrize(
    ("use", "parts", "prices"),
    [
        ([[1.0, 0.0], [0.0, 2.0]], [2 / 3, 1 / 3], [2 / 3, 1 / 3]),
        ([[1.0, 0.0, 4.0], [0.0, 1.0, 4.0]], [0.5, 0.5, 0.0], [0.5, 0.5]),
        ([[3.0, 1.0]], [0.0, 1.0], [1.0]),
    ],
)
def test_the_emptiest_combination(use: list[list[float]], parts: list[float], prices: list[float]) -> None:
    found, worth = least_fullest(np.array(use))
    assert np.allclose(found, parts) and np.allclose(worth, prices)
