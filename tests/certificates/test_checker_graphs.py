"""Shortest paths, flows, cuts, orbits and networks of hubs of the checker, each against its definition."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

import networkx as nx
import pytest

from tdsl.certificates import checker
from tests.certificates.by_hand import HOST, SWITCH, design, network, rejected


def graph(rng: random.Random, nodes: int, links: int, most: int = 5) -> tuple[checker.Graph, nx.Graph]:
    """A random graph, in which some nodes do not forward, and the same as a directed one of what may be passed from each."""
    names = [f"n{i}" for i in range(nodes)]
    ends = [(*rng.sample(names, 2), rng.randrange(1, most)) for _ in range(links)]
    forward = {v: None for v in names if rng.random() < 0.7}.keys()
    made = checker.Graph(ends, forward, checker.WorkSteps())
    whole = nx.DiGraph()
    for a, b, rate in ends:
        for v, w in ((a, b), (b, a)):
            whole.add_edge(v, w, capacity=rate + (whole[v][w]["capacity"] if whole.has_edge(v, w) else 0))
    return made, whole


@pytest.mark.parametrize("seed", range(20))
def test_shortest_paths_pass_what_forwards_only(seed: int) -> None:
    rng = random.Random(seed)
    made, whole = graph(rng, 8, 12)
    length = None if seed % 4 == 0 else {arc: rng.randrange(seed % 2, 6) for arc in whole.edges}
    for source in whole:
        passed = nx.DiGraph(
            (v, w, {"l": length[v, w] if length else 1}) for v, w in whole.edges if v == source or v in made.forward
        )
        passed.add_node(source)
        found = made.distances(source, length)
        assert found == nx.single_source_dijkstra_path_length(passed, source, weight="l")
        assert list(found.values()) == sorted(found.values())


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_flow_up_to_a_limit(seed: int) -> None:
    """Of a random directed network; what is left of it carries no more."""
    rng = random.Random(seed)
    names = [f"n{i}" for i in range(7)]
    arcs = {(v, w): rng.randrange(4) for v, w in product(names, names) if v != w and rng.random() < 0.5}
    whole = nx.DiGraph((v, w, {"capacity": c}) for (v, w), c in arcs.items())
    whole.add_nodes_from(names)
    value = nx.maximum_flow_value(whole, "n0", "n1")
    for most in {value + 2, value + 1, value, max(value - 1, 0), 1, 0}:
        capacity: dict[Any, dict[Any, int]] = {}
        for (v, w), c in arcs.items():
            capacity.setdefault(v, {})[w] = c
        assert checker.maximum_flow_by_augmentation(capacity, "n0", "n1", most, checker.WorkSteps()) == min(value, most)


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


def test_the_lowest_of_every_orbit() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        items = list(range(9))
        moves = []
        for _ in range(rng.randrange(4)):
            some = rng.sample(items, rng.randrange(4))
            moves.append(dict(zip(some, [*some[1:], *some[:1]], strict=True)))
        rng.shuffle(items)
        joined = nx.Graph((x, y) for move in moves for x, y in move.items())
        joined.add_nodes_from(items)
        lowest = {x: min(part) for part in nx.connected_components(joined) for x in part}
        assert checker.lowest_of_orbits(items, moves) == lowest
    assert list(checker.lowest_of_orbits(["c", "a"], [])) == ["c", "a"]


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


def crossing(net: checker.CertifiedNetwork, arcs: Mapping[tuple[str, str], Fraction]) -> Fraction:
    """The least of these links, each named once, that a split of the units in halves cuts."""
    names = sorted({v for arc in arcs for v in arc} | {*net.units})
    found = []
    for sides in product((0, 1), repeat=len(names)):
        side = dict(zip(names, sides, strict=True))
        if sum(side[u] for u in net.units) == net.half:
            found.append(sum((x for (v, w), x in arcs.items() if side[v] != side[w]), Fraction(0)))
    return min(found)


@pytest.mark.parametrize("seed", range(25))
def test_networks_of_hubs_against_all_splits(seed: int) -> None:
    """Hosts on leaves, leaves on spines, spines on two hubs, in random numbers and shares."""
    rng = random.Random(seed)
    hosts, leaves, spines, hubs = (
        [f"{letter}{i}" for i in range(n)]
        for letter, n in zip("hlsx", (rng.randrange(2, 5), 2, rng.randrange(1, 3), 2), strict=True)
    )
    tiers = ((hosts, leaves), (leaves, spines), (spines, hubs))
    links = [(a, b, rng.randrange(1, 4)) for low, high in tiers for a in low for b in high]
    links = [x for x in links if rng.random() < 0.85] + [(hosts[0], hubs[1], 2), (leaves[0], hubs[0], 3)]
    devices = dict.fromkeys(hosts, HOST) | dict.fromkeys((*leaves, *spines, *hubs), SWITCH)
    net = network(design(devices, links))

    def shares(above: list[str]) -> dict[str, Fraction]:
        parts = [Fraction(rng.randrange(4), 2 + len(above) * 2) for _ in above]
        scale = max(sum(parts), Fraction(1))
        return {w: x / scale for w, x in zip(above, parts, strict=True)}

    stated = {
        v: shares([w for w in higher if w in net.near(v)])
        for low, higher in ((spines, hubs), (leaves, [*spines, *hubs]))
        for v in low
    }
    part = {h: {h: Fraction(1)} for h in hubs}
    for v in (*spines, *leaves):
        part[v] = {h: sum((x * part[w].get(h, 0) for w, x in stated[v].items()), Fraction(0)) for h in hubs}
    total = Fraction(0)
    for h in hubs:
        of_hub = {(v, w): c * part[w].get(h, Fraction(0)) for (v, w), c in net.arcs().items() if w not in net.units}
        total += crossing(net, {(v, w): x for (v, w), x in of_hub.items() if v in net.units or stated.get(v, {}).get(w)})
    assert checker.hub_networks(net, hubs, stated) == ceil(total)


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
