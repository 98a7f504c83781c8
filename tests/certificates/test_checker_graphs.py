"""Shortest paths, flows, cuts, orbits and networks of hubs of the checker, each against its definition."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tdsl.certificates import checker
from tests.certificates.by_hand import HOST, SWITCH, design, network, rejected


def test_what_a_symmetry_keeps() -> None:
    kind = {"a": 1, "b": 1, "c": 1, "d": 2}
    arcs = {("a", "c"): 5, ("b", "c"): 5, ("c", "d"): 6}
    swap = {"a": "b", "b": "a"}
    none, differ, changes = (
        f"a symmetry {x}" for x in ("is not a permutation", "exchanges different nodes", "changes the links")
    )
    for good in ([], [{}], [swap], [{"c": "c"}, swap]):
        checker.reject_unless_automorphisms(checker.WorkSteps(), good, kind, arcs)
    for image, why in (
        ({"a": "b"}, none), ({"a": "b", "b": "b"}, none), ({"x": "x"}, none), ({"c": "d", "d": "c"}, differ),
        ({"a": "c", "c": "a"}, changes),
    ):  # fmt: skip
        for images in ([image], [swap, image]):
            with rejected(why):
                checker.reject_unless_automorphisms(checker.WorkSteps(), images, kind, arcs)
    for changed in (arcs | {("b", "c"): 4}, arcs | {("a", "d"): 5}):
        with rejected(changes):
            checker.reject_unless_automorphisms(checker.WorkSteps(), [swap], kind, changed)


def test_orders_of_splits() -> None:
    """Three hosts on two switches of each of two kinds; all links are used up then."""
    links = [(h, s, 100) for h in ("h1", "h2", "h3") for s in ("s1", "s2")]
    links += [("s1", "t1", 300), ("s2", "t1", 300), ("t1", "t2", 100)]
    devices = {"h1": HOST, "h2": HOST, "h3": HOST} | dict.fromkeys(("s1", "s2", "t1", "t2"), SWITCH)
    order = [["h1"], ["h2"], ["h3"], ["s1", "s2"]]

    def net() -> checker.CertifiedNetwork:
        return network(design(devices, links))

    for more, true in (([], 2), ([["t1"]], 2), ([["t1"], ["t2"]], 2)):
        made = net()
        assert checker.least_balanced_split(made, order + more, true) == true
        names = {d for same in order + more for d in same}
        expected = {(v, w): c for (v, w), c in net().arcs().items() if not {v, w} <= names}
        assert made.arcs() == expected
        assert checker.least_balanced_split(net(), order + more, true - 1) == true - 1
        with rejected("a split cuts less"):
            checker.least_balanced_split(net(), order + more, true + 1)
    pair = network(design({"h1": HOST, "h2": HOST}, [("h1", "h2", 100)]))
    assert checker.least_balanced_split(pair, [["h1"], ["h2"]], 1) == 1 and pair.arcs() == {}
    for why, orders in (
        ("an order names a device twice", ([*order, ["h1"]], [*order, []], [*order, ["t1", "t1"]])),
        ("an order misses units, or names what does not count", (order[1:], [*order, ["x"]])),
        ("devices differ", ([["h1", "h2"], *order[2:]], [*order, ["t1", "t2"]], [*order[:3], ["s1", "t2"], ["s2"]])),
    ):
        for wrong in orders:
            with rejected(why):
                checker.least_balanced_split(net(), wrong, 0)


def test_what_networks_of_hubs_need() -> None:
    devices = {"h1": HOST, "h2": HOST, "s": SWITCH, "t": SWITCH, "u": SWITCH}
    net = network(design(devices, [("h1", "s"), ("h2", "t"), ("s", "u"), ("t", "u")]))
    half, whole = {"u": Fraction(1, 2)}, {"u": Fraction(1)}
    assert checker.hub_networks(net, ["u"], {"s": whole, "t": whole}) == 1
    assert checker.hub_networks(net, ["u"], {"s": half, "t": half}) == 1, "half a link, rounded up"
    assert checker.hub_networks(net, ["u"], {"s": whole}) == 0
    assert checker.hub_networks(net, [], {}) == 0
    wrong: list[tuple[list[str], Any]] = [(["u"], {"u": whole}), (["h1"], {}), (["u"], {"h1": whole}), (["x"], {})]
    for hubs, shares in wrong:
        with rejected("a node does not forward, or a hub has shares"):
            checker.hub_networks(net, hubs, shares)
    with rejected("the shares of s are more than one"):
        checker.hub_networks(net, ["u"], {"s": {"u": Fraction(3, 4), "t": Fraction(1, 2)}, "t": {}})
    with pytest.raises(RecursionError):
        checker.hub_networks(net, ["u"], {"s": {"t": Fraction(1)}, "t": {"s": Fraction(1)}})
    with pytest.raises(KeyError):
        checker.hub_networks(net, ["u"], {"s": {"t": Fraction(1)}})
