"""Single steps of the checker, each against its definition: elements of a fabric, shortest paths, flows, cuts and orbits."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Collection, Mapping
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

import networkx as nx
import pytest

from tdsl.certificates import checker
from tests.verify.test_checker_alone import COLUMNS, fabric

Rows = list[dict[str, Any]]


def design(devices: Mapping[str, Any], links: Rows | list[tuple[Any, ...]]) -> dict[str, Any]:
    """A fabric.json of devices, by name the cells of each, and links, which are cells or (device, device, rate)."""
    made = fabric([], [], [])
    for name, cells in devices.items():
        row = {"name": name, "path": name, "kind": "switch", "model": "M"} | cells
        made["devices"]["rows"].append([row.get(c) for c in COLUMNS["devices"]])
    for i, link in enumerate(links):
        cells = link if isinstance(link, dict) else dict(zip(("a_device", "b_device", "rate_bps"), link, strict=False))
        row = {"rate_bps": 100, "a_port": f"p{i}", "b_port": f"q{i}"} | cells
        made["links"]["rows"].append([row.get(c) for c in COLUMNS["links"]])
    return made


def network(made: dict[str, Any], steps: int = 10**9, failed: checker.Element | None = None) -> checker.CertifiedNetwork:
    return checker.CertifiedNetwork(checker.CertifiedFabric(made), checker.WorkSteps(steps), failed)


def rejected(why: str) -> Any:
    """A check that ends with this message, and no other."""
    return pytest.raises(checker.Rejected, match=f"^{re.escape(why)}$")


# ---------------------------------------------------------------- the fabric


NESTED = {
    "a": {"path": "a", "kind": "switch"},
    "a-b": {"path": "a.b", "kind": "host", "inside": "a"},
    "a-b-c": {"path": "a.b.c[1]", "kind": "chip", "inside": "a-b"},
    "g1-h": {"path": "g[1].h", "kind": "host"},
    "g2-h": {"path": "g[2].h", "kind": "host"},
    "g2-h-c": {"path": "g[2].h.c[0]", "kind": "chip", "inside": "g2-h"},
    "g2-s": {"path": "g[2].s[x.y]", "kind": "switch"},
}
ENDS = [("a", "g1-h"), ("a-b", "g2-s"), ("g2-h", "g2-s"), ("a", "g2-s"), ("a-b-c", "g2-h-c")]


def test_a_fabric_that_contradicts_itself() -> None:
    made = checker.CertifiedFabric(design(NESTED, ENDS))
    assert list(made.devices) == list(NESTED) and made.name == "f" and len(made.links) == 5
    assert made.ports[0] == ("a.p0", "g[1].h.q0") and made.ports[2] == ("g[2].h.p2", "g[2].s[x.y].q2")
    assert made.contents == {"": ["a", "g1-h", "g2-h", "g2-s"], "a": ["a-b"], "a-b": ["a-b-c"], "g2-h": ["g2-h-c"]}
    one = "a device has no name, or two have one"
    for name, cells, why in (
        ("g2-s", {"path": "a"}, one),
        ("g2-s", {"path": ""}, one),
        ("g2-s", {"name": "a"}, one),
        ("g2-s", {"name": ""}, one),
        ("a-b", {"inside": None}, "a-b is inside another device than its path says"),
        ("a-b-c", {"inside": "a"}, "a-b-c is inside another device than its path says"),
        ("g2-s", {"inside": "a"}, "g2-s is inside another device than its path says"),
    ):
        with rejected(why):
            checker.CertifiedFabric(design(NESTED | {name: NESTED[name] | cells}, ENDS))
    for link, why in (
        (("a", "a"), "a link joins a device to itself"),
        (("a", "x"), "a link ends at an unknown device"),
        (("x", "a"), "a link ends at an unknown device"),
        ({"a_device": "a", "b_device": "g2-s", "via": "x"}, "a link ends at an unknown device"),
        ({"a_device": "a", "b_device": "g2-s", "a_port": "p0"}, "two links are on one port"),
        ({"a_device": "g2-s", "b_device": "g1-h", "b_port": "q0"}, "two links are on one port"),
        ({"a_device": "g1-h", "b_device": "a", "a_port": "q0"}, "two links are on one port"),
    ):
        with rejected(why):
            checker.CertifiedFabric(design(NESTED, [*ENDS, link]))
    aside = {"a_device": "a", "b_device": "a", "layer": "oob"}
    assert len(checker.CertifiedFabric(design(NESTED, [*ENDS, aside])).links) == 5, "links of another layer are not judged"


def test_hosts_of_other_layers_stay() -> None:
    """A host whose links are all of a layer is a device of the network; a switch or an optical switch of such links is not."""
    devices = {"h1": cells("host", path="h[1]"), "c1": cells("chip", path="c"), "x": cells("switch", path="y"), "o": cells("ocs")}
    aside = [{"a_device": d, "b_device": "x", "via": "o", "layer": "scaleup"} for d in ("h1", "c1")]
    assert list(checker.CertifiedFabric(design(devices, aside)).devices) == ["h1", "c1"]
    assert list(checker.CertifiedFabric(design(devices, [*aside, ("h1", "x")])).devices) == ["h1", "c1", "x"]


def test_paths_and_families() -> None:
    assert checker.enclosing_element_paths("g[2].s[x.y].c") == ["g[2]", "g[2].s[x.y]", "g[2].s[x.y].c"]
    assert checker.enclosing_element_paths("a") == ["a"]
    assert checker.unindexed_path("g[2].s[x.y].c[1, 2]") == "g.s.c"
    made = checker.CertifiedFabric(design(NESTED, ENDS))
    assert made.closure(["a", "g1-h"]) == {"a", "a-b", "a-b-c", "g1-h"} and made.closure([]) == set()


NAMED = [
    (["a"], {"a": {"a", "a-b", "a-b-c"}}),
    (["a.b"], {"a.b": {"a-b", "a-b-c"}}),
    (["g"], {"g[1]": {"g1-h"}, "g[2]": {"g2-h", "g2-h-c", "g2-s"}}),
    (["g[1]"], {"g[1]": {"g1-h"}}),
    (["g.h", "a.b.c"], {"g[1].h": {"g1-h"}, "g[2].h": {"g2-h", "g2-h-c"}, "a.b.c[1]": {"a-b-c"}}),
    (["g[2].s[x.y]", "g[2].s"], None),
    (["g.s"], {"g[2].s[x.y]": {"g2-s"}}),
    (["g[2].h", "g.h"], {"g[1].h": {"g1-h"}, "g[2].h": {"g2-h", "g2-h-c"}}),
    ([], None),
    (["g", "x"], None),
    (["a[1]"], None),
    (["g[3]"], None),
]


@pytest.mark.parametrize(("of", "found"), NAMED)
def test_elements_that_paths_name(of: list[str], found: dict[str, set[str]] | None) -> None:
    """A path without indices names every element of the family; one with, its own; each with all that it contains."""
    made = checker.CertifiedFabric(design(NESTED, ENDS))
    if found is None:
        with rejected("no element, or one that is not in the fabric"):
            made.named(of)
        return
    assert made.named(of) == found
    assert made.elements(of) == {path: (devices, frozenset()) for path, devices in found.items()}


WIRED: Rows = [
    {"a_device": "h1", "b_device": "s1", "a_cage": "1", "cable_id": "x", "far_cable_id": "y"},
    {"a_device": "h1", "b_device": "s1", "a_cage": "1", "b_cage": "c"},
    {"a_device": "s1", "b_device": "h2", "a_cage": "c", "cable_id": "x"},
    {"a_device": "h2", "b_device": "s2", "far_cable_id": "z"},
    {"a_device": "s2", "b_device": "s1"},
]
HERE = {"h1": {"path": "g[1].h", "kind": "host"}, "h2": {"path": "g[2].h", "kind": "host"}, "s1": {}, "s2": {"path": "g[2].s"}}
LINKED = [
    ("links", ["g[1].h"], None, {"g[1].h.p0 - s1.q0": {0}, "g[1].h.p1 - s1.q1": {1}}),
    ("links", ["s1"], ["g[2].s"], {"g[2].s.p4 - s1.q4": {4}}),
    ("links", ["s1"], ["s2"], None),
    ("links", ["s2"], ["s1"], None),
    ("links", ["g[2]"], None, {"s1.p2 - g[2].h.q2": {2}, "g[2].h.p3 - g[2].s.q3": {3}, "g[2].s.p4 - s1.q4": {4}}),
    ("links", ["g[2]"], ["g[2]"], {"g[2].h.p3 - g[2].s.q3": {3}}),
    ("links", ["s1.q0"], None, {"g[1].h.p0 - s1.q0": {0}}),
    ("links", ["s1.q0", "g[2].h"], ["g.h"], {"g[1].h.p0 - s1.q0": {0}}),
    ("links", ["s1.q0", "s1.p2"], ["g[2].h.q2"], {"s1.p2 - g[2].h.q2": {2}}),
    ("ports", ["g[2].h"], None, {"g[2].h.q2": {2}, "g[2].h.p3": {3}}),
    ("ports", ["g[2].h"], ["s1"], {"g[2].h.q2": {2}}),
    ("ports", ["s1"], None, {"s1.q0": {0}, "s1.q1": {1}, "s1.p2": {2}, "s1.q4": {4}}),
    ("cages", ["g[1].h"], None, {"g[1].h cage 1": {0, 1}}),
    ("cages", ["s1"], None, {"s1.q0": {0}, "s1 cage c": {1, 2}, "s1.q4": {4}}),
    ("cages", ["s1"], ["g[1]"], {"s1.q0": {0}, "s1 cage c": {1, 2}}),
    ("cables", ["g[1].h"], None, {"cable x": {0, 2}, "cable y": {0}}),
    ("cables", ["g[2]"], None, {"cable x": {0, 2}, "cable z": {3}}),
    ("cables", ["g[2]"], ["g[2]"], {"cable z": {3}}),
    ("cables", ["g[2].s"], ["s1"], {}),
]


@pytest.mark.parametrize(("what", "of", "to", "found"), LINKED)
def test_links_ports_cages_and_cables_of_devices(what: str, of: list[str], to: Any, found: dict[str, set[int]] | None) -> None:
    """And of ports by their path, a group of them, or those that are connected to others: rows of the links that fail."""
    made = checker.CertifiedFabric(design(HERE, WIRED))
    if found is None:
        with rejected("no element, or one that is not in the fabric"):
            made.elements(of, what, to)
        return
    assert made.elements(of, what, to) == {name: (frozenset(), rows) for name, rows in found.items()}


def test_ports_by_their_own_path() -> None:
    made = checker.CertifiedFabric(design(HERE, WIRED))
    assert made.ports_of(["s1.q0", "g[2].s"]) == {"s1.q0", "g[2].s.q3", "g[2].s.p4"}
    assert made.ports_of(["s1.q0"]) == {"s1.q0"}
    for of in ([], ["s1.q9"], ["s1.q0", "x"]):
        with rejected("no element, or one that is not in the fabric"):
            made.ports_of(of)


# ---------------------------------------------------------------- graphs


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


def test_links_between_the_same_nodes_add_up() -> None:
    for seed in range(20):
        made, whole = graph(random.Random(seed), 6, 12)
        assert made.arcs() == {(v, w): c for v, w, c in whole.edges(data="capacity")}
        assert all(made.near(v) == {w: whole[v][w]["capacity"] for w in whole[v]} for v in whole)
        assert made.near("x") == {} and "x" not in made.capacity


@pytest.mark.parametrize("seed", range(40))
def test_shortest_paths_pass_what_forwards_only(seed: int) -> None:
    rng = random.Random(seed)
    made, whole = graph(rng, 8, 12)
    length = None if seed % 4 == 0 else {arc: rng.randrange(seed % 2, 6) for arc in whole.edges}
    for source in whole:
        passed = nx.DiGraph(
            (v, w, {"l": length[v, w] if length else 1}) for v, w in whole.edges if v == source or v in made.forward
        )
        passed.add_node(source)
        made.work = checker.WorkSteps(10**6)
        found = made.distances(source, length)
        assert found == nx.single_source_dijkstra_path_length(passed, source, weight="l")
        assert list(found.values()) == sorted(found.values())
        assert 10**6 - made.work.left == sum(1 + passed.out_degree(v) for v in found)


def test_a_flow_is_divided_by_capacity() -> None:
    """Over switches with 1, 2 and 4 links to a target: of 10, each gets its part rounded down, the first the rest."""
    links = [
        ("s1", "t", 1),
        ("s2", "t", 2),
        ("s3", "t", 4),
        *((f"s{i}", "s", 1) for i in (1, 2, 3)),
        ("h", "t", 50),
        ("h", "s", 9),
    ]
    made = checker.Graph(links, {"s1", "s2", "s3"}, checker.WorkSteps())
    load: Counter[tuple[str, str]] = Counter({("s1", "t"): 100})
    made.route("s", {"t": 10, "s2": 3, "s": 7}, load)
    parts = {("s1", "t"): 103, ("s2", "t"): 2, ("s3", "t"): 5, ("s", "s1"): 3, ("s", "s2"): 2 + 3, ("s", "s3"): 5}
    assert load == parts
    load.clear()
    made.route("s", {"t": 10}, load, {arc: 3 if "s2" in arc else 4 if arc == ("s", "s3") else 2 for arc in made.arcs()})
    assert load == {("s1", "t"): 10, ("s", "s1"): 10}
    load.clear()
    made.route("s", {"t": 9}, load, {arc: 1 if "s2" in arc else 2 if arc == ("s1", "t") else 0 for arc in made.arcs()})
    assert load == {("s3", "t"): 9, ("s", "s3"): 9}
    load.clear()
    made.route("s", {"t": 0, "s1": 2}, load)
    assert load == {("s", "s1"): 2}
    with rejected("a target is not reached"):
        made.route("s", {"t": 1, "x": 0}, load)


@pytest.mark.parametrize("seed", range(30))
def test_a_routing_brings_every_target_its_demand(seed: int) -> None:
    """Along shortest paths, in whole numbers, each node divides what comes as closely as capacity asks."""
    rng = random.Random(seed)
    made, whole = graph(rng, 8, 16)
    length = {arc: rng.randrange(1, 4) for arc in whole.edges} if seed % 3 else None
    source = min(whole)
    far = made.distances(source, length)
    wanted = {t: rng.randrange(20) for t in far if rng.random() < 0.7}
    load: Counter[tuple[str, str]] = Counter()
    made.route(source, wanted, load, length)
    for v in far:
        into = {u: x for (u, w), x in load.items() if w == v}
        out = sum(x for (u, _), x in load.items() if u == v)
        assert v == source or sum(into.values()) - out == wanted.get(v, 0)
        step = {u: far[u] + (length[u, v] if length else 1) for u in made.near(v) if u in far}
        ways = [u for u in made.near(v) if u in far and (u in made.forward or u == source) and step[u] == far[v]]
        total, whole_of = sum(made.near(v)[u] for u in ways), sum(into.values())
        even = [whole_of * made.near(v)[u] // total for u in ways]
        if ways and v != source:
            even[0] += whole_of - sum(even)
            assert [into.get(u, 0) for u in ways] == even
        assert set(into) <= set(ways) or v == source


def test_nodes_with_the_same_neighbours_are_one() -> None:
    links = [("a", "x", 1), ("b", "x", 1), ("c", "x", 2), ("d", "x", 1), ("d", "y", 1), ("e", "x", 1), ("f", "y", 1)]
    made = checker.Graph(links, {"e", "x"}, checker.WorkSteps())
    same = {"b": "b", "a": "b", "c": "c", "d": "d", "e": "e", "f": "f", "z": "z"}
    assert made.equivalent(["b", "a", "c", "d", "e", "f", "z"]) == same


@pytest.mark.parametrize("seed", range(40))
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
        gone = Counter[str]()
        for v, near in capacity.items():
            for w, c in near.items():
                back = capacity.get(w, {}).get(v, 0)
                assert c >= 0 and c + back == arcs.get((v, w), 0) + arcs.get((w, v), 0)
                gone[v] += arcs.get((v, w), 0) - c
        assert {v: x for v, x in gone.items() if x} == (
            {"n0": min(value, most), "n1": -min(value, most)} if min(value, most) else {}
        )


def test_the_steps_of_a_flow() -> None:
    """A line of three nodes: two searches along it, the first of which ends at the target."""
    for most, steps in ((1, 3 + 3), (2, 6 + 3), (5, 6 + 3), (0, 0)):
        work = checker.WorkSteps(1000)
        line = {"a": {"b": 1, "d": 0}, "b": {"c": 1, "a": 0}, "c": {"e": 4}}
        assert checker.maximum_flow_by_augmentation(line, "a", "c", most, work) == min(most, 1)
        assert 1000 - work.left == steps


# ---------------------------------------------------------------- networks


def cells(kind: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, **more}


HOST, CHIP, SWITCH = cells("host"), cells("chip"), cells("switch")
BOXES = {"h1": cells("host", path="h[1]"), "h2": cells("host", path="h[2]")}
GPUS = {f"c{i}{j}": cells("chip", path=f"h[{i}].c[{j}]", inside=f"h{i}") for i in (1, 2) for j in (0, 1)}
UNITS: list[tuple[dict[str, Any], list[tuple[Any, ...]], set[str], set[str], set[str]]] = [
    ({"h1": HOST, "h2": HOST, "s": SWITCH}, [("h1", "s"), ("h2", "s")], {"h1", "h2"}, {"s"}, set()),
    ({"h1": HOST, "h2": HOST, "s": SWITCH}, [("h1", "s")], {"h1", "h2"}, {"s"}, set()),
    ({"s": SWITCH, "t": SWITCH, "o": cells("ocs")}, [("s", "t")], {"s", "t"}, {"s", "t"}, set()),
    (BOXES | GPUS | {"s": SWITCH}, [("h1", "s"), ("h2", "s")], {"h1", "h2"}, {"s"}, set()),
    (BOXES | GPUS | {"s": SWITCH}, [("c10", "s"), ("c20", "s")], {*GPUS}, {"s"}, set()),
    (BOXES | GPUS | {"s": SWITCH}, [("c10", "s"), ("h1", "s")], {*GPUS}, {"s"}, {"h1"}),
    (
        BOXES | GPUS | {"b1": HOST, "b2": HOST, "s": SWITCH},
        [("c10", "s"), ("b1", "s")],
        {*GPUS, "b1", "b2"},
        {"s"},
        set(),
    ),
    (BOXES | GPUS, [("c10", "c20")], {*GPUS}, {*GPUS}, set()),
    (
        {"h1": cells("host", role="accelerator"), "h2": HOST, "h3": cells("host", role="storage"), "s": SWITCH},
        [("h1", "s"), ("h2", "s"), ("h3", "s")],
        {"h1"},
        {"s"},
        {"h2", "h3"},
    ),
    ({"h1": cells("host", role="x"), "h2": HOST, "s": SWITCH}, [("h1", "s"), ("h2", "s")], {"h2"}, {"s"}, {"h1"}),
    ({"h1": cells("host", role="x"), "s": SWITCH}, [("h1", "s")], {"h1"}, {"s"}, set()),
    (
        {"h1": cells("host", forwards=True), "h2": HOST, "o": cells("ocs"), "s": cells("switch", forwards=False)},
        [("h1", "s"), ("h2", "s")],
        {"h1", "h2"},
        {"h1", "s"},
        set(),
    ),
    ({"c1": CHIP, "c2": CHIP, "s": SWITCH}, [("c1", "s"), ("c2", "s")], {"c1", "c2"}, {"s"}, set()),
    ({"c1": CHIP, "c2": CHIP, "h": HOST}, [("c1", "h"), ("c2", "h")], {"c1", "c2", "h"}, set(), set()),
    (
        {"c1": CHIP, "c2": CHIP, "c3": CHIP, "s": SWITCH},
        [("c1", "c2"), ("c3", "s")],
        {"c1", "c2", "c3"},
        {"c1", "c2", "c3", "s"},
        set(),
    ),
]


@pytest.mark.parametrize(("devices", "links", "units", "forward", "others"), UNITS)
def test_which_devices_are_units_and_which_forward(
    devices: dict[str, Any], links: list[tuple[Any, ...]], units: set[str], forward: set[str], others: set[str]
) -> None:
    net = network(design(devices, links), len(devices) + len(links))
    assert net.units == units and list(net.units) == [d for d in devices if d in units]
    assert net.forward == forward and net.others == others and net.half == len(units) // 2
    assert net.work.left == 0
    with pytest.raises(checker.TooMuchWork):
        network(design(devices, links), len(devices) + len(links) - 1)


def test_what_a_failure_leaves() -> None:
    """Devices and links that fail, with the panels that links run through; a host without a link is no unit then."""
    devices = {"h1": HOST, "h2": HOST, "h3": cells("host", role="store"), "s": SWITCH, "t": SWITCH, "o": cells("ocs")}
    rates = [("h1", "s", 60), ("h1", "t", 90), ("h2", "s", 150), ("h3", "t", 77), ("s", "t", 210)]
    rows: Rows = [{"a_device": a, "b_device": b, "rate_bps": rate} for a, b, rate in rates]
    rows[2]["via"] = "o"

    def after(*gone: str, links: tuple[int, ...] = ()) -> checker.CertifiedNetwork:
        return network(design(devices, rows), failed=checker.Element(frozenset(gone), frozenset(links)))

    whole = network(design(devices, rows))
    assert whole.units == {"h1", "h2"} and whole.others == {"h3"} and whole.grain == 30 and len(whole.every) == 5
    assert whole.arcs()["h1", "s"] == 2 and whole.arcs()["t", "s"] == 7 and ("h3", "t") not in whole.arcs()
    for net, units, forward, others, grain, links in (
        (after(), {"h1", "h2"}, {"s", "t"}, {"h3"}, 30, 5),
        (after("s"), {"h1"}, {"t"}, {"h3"}, 90, 2),
        (after("t"), {"h1", "h2"}, {"s"}, set(), 30, 2),
        (after("h1"), {"h2"}, {"s", "t"}, {"h3"}, 30, 3),
        (after("o"), {"h1"}, {"s", "t"}, {"h3"}, 30, 4),
        (after(links=(2,)), {"h1"}, {"s", "t"}, {"h3"}, 30, 4),
        (after(links=(0, 1)), {"h2"}, {"s", "t"}, {"h3"}, 30, 3),
        (after("s", "t"), set(), set(), set(), 1, 0),
    ):
        assert (net.units, net.forward, net.others) == (units, forward, others)
        assert len(net.every) == links and (net.grain == grain or not links)
    forwarding = {d: c | {"forwards": c["kind"] == "host"} for d, c in devices.items()}
    made = design(forwarding, rows)
    assert network(made).forward == {"h1", "h2", "h3", "s", "t"}
    assert network(made, failed=checker.Element(frozenset({"s"}), frozenset())).forward == {"h1", "h3", "t"}


def test_ports_and_what_they_are_connected_to() -> None:
    """Two components of switches; hosts with one, two and no ports on them; a link of two hosts; a host that forwards."""
    devices = {f"h{i}": HOST for i in range(1, 7)} | {
        "f": cells("host", forwards=True),
        "z": cells("host", role="x"),
        "o": cells("ocs"),
    }
    devices |= dict.fromkeys(("s", "t", "u"), SWITCH)
    links = [
        ("s", "t"),
        ("h1", "s"),
        ("t", "h1"),
        ("h2", "u"),
        ("h2", "s"),
        ("h4", "h3"),
        ("f", "u"),
        ("z", "u"),
        ("o", "h5"),
        ("h5", "z"),
        ("z", "o"),
    ]
    net = network(design(devices, links))
    expected = [
        ("f", ("f",)), ("h1", ("s",)), ("h1", ("s",)), ("h2", ("f",)), ("h2", ("s",)), ("h3", ("h3", "h4")), ("h4", ("h3", "h4")),
        ("h5", ("h5", "z")), ("z", ("f",)), ("z", ("h5", "z")),
    ]  # fmt: skip
    assert sorted(net.attached()) == expected


def test_the_units_that_a_path_names() -> None:
    devices = {
        "g1-h1": cells("host", path="g[1].h[1]"),
        "g1-h2": cells("host", path="g[1].h[2]"),
        "g1-s": cells("switch", path="g[1].s"),
        "g2-s": cells("switch", path="g[2].s"),
    }
    net = network(design(devices, [("g1-h1", "g1-s"), ("g1-h2", "g1-s"), ("g2-s", "g1-s")]))
    for of, members in (
        (["g"], {"g1-h1", "g1-h2", "g2-s"}),
        (["g[1]"], {"g1-h1", "g1-h2"}),
        (["g[1].s"], {"g1-s"}),
        (["g.h", "g[2]"], {"g1-h1", "g1-h2", "g2-s"}),
    ):
        assert net.members(of) == members


# ---------------------------------------------------------------- symmetries


def test_what_a_symmetry_keeps() -> None:
    kind = {"a": 1, "b": 1, "c": 1, "d": 2}
    arcs = {("a", "c"): 5, ("b", "c"): 5, ("c", "d"): 6}
    swap = {"a": "b", "b": "a"}
    for images, why in (
        ([], ""),
        ([{}], ""),
        ([swap], ""),
        ([{"c": "c"}, swap], ""),
        ([swap, {"a": "b"}], "a symmetry is not a permutation"),
        ([{"a": "b", "b": "b"}], "a symmetry is not a permutation"),
        ([{"x": "x"}], "a symmetry is not a permutation"),
        ([{"c": "d", "d": "c"}], "a symmetry exchanges different nodes"),
        ([swap, {"c": "d", "d": "c"}], "a symmetry exchanges different nodes"),
        ([swap, {"a": "c", "c": "a"}], "a symmetry changes the links"),
    ):
        if why:
            with rejected(why):
                checker.reject_unless_automorphisms(checker.WorkSteps(), images, kind, arcs)
        else:
            checker.reject_unless_automorphisms(checker.WorkSteps(7 * len(images)), images, kind, arcs)
            if images:
                with pytest.raises(checker.TooMuchWork):
                    checker.reject_unless_automorphisms(checker.WorkSteps(7 * len(images) - 1), images, kind, arcs)
    for changed in (arcs | {("b", "c"): 4}, arcs | {("a", "d"): 5}):
        with rejected("a symmetry changes the links"):
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


def test_orbits_keep_units_and_what_forwards() -> None:
    net = network(
        design({"h1": HOST, "h2": HOST, "s": SWITCH, "t": SWITCH}, [("h1", "s"), ("h2", "s"), ("h1", "t"), ("h2", "t")])
    )
    assert net.orbits(None, {}, net.arcs()) == {d: d for d in ("h1", "h2", "s", "t")}
    assert net.orbits([{"s": "t", "t": "s"}], {"h2": "h1"}, net.arcs()) == {"h1": "h1", "h2": "h1", "s": "s", "t": "s"}
    for image in ({"h1": "s", "s": "h1"}, {"h1": "t", "h2": "s", "s": "h2", "t": "h1"}):
        with rejected("a symmetry exchanges different nodes"):
            net.orbits([image], {}, net.arcs())


# ---------------------------------------------------------------- cuts


def least(net: checker.CertifiedNetwork, links: Mapping[str, Mapping[str, int]], size: Mapping[str, int]) -> int:
    """By trying all splits, in which so many devices with equal links are one; units that are not named make up the halves."""
    free, most, names = len(net.units - size.keys()), len(net.units) - net.half, list(size)
    found = []
    for sides in product((0, 1), repeat=len(names)):
        side = dict(zip(names, sides, strict=True))
        ours = sum(side[v] for v in names if v in net.units)
        if ours <= most and ours + free >= net.half:
            crossing = (c * size[v] * size[w] for v in names for w, c in links[v].items() if w in size and side[v] < side[w])
            found.append(sum(crossing))
    return min(found)


def random_links(rng: random.Random, names: Collection[str], most: int = 4) -> list[tuple[str, str, int]]:
    return [(*rng.sample(list(names), 2), rng.randrange(1, most)) for _ in range(2 * len(names))]


@pytest.mark.parametrize("seed", range(60))
def test_the_least_cut_of_halves(seed: int) -> None:
    """Of random links between units and switches; some units are missing, some switches count as several."""
    rng = random.Random(seed)
    hosts = [f"h{i}" for i in range(rng.randrange(2, 7))]
    switches = [f"s{i}" for i in range(rng.randrange(1, 4))]
    net = network(design(dict.fromkeys(hosts, HOST) | dict.fromkeys(switches, SWITCH), []))
    size = {h: 1 for h in hosts if rng.random() < 0.8} | {s: rng.randrange(1, 4) for s in switches}
    size = {d: size[d] for d in rng.sample(list(size), len(size))}
    made = checker.Graph(random_links(rng, size) if len(size) > 1 else [], {}, checker.WorkSteps())
    links = {d: dict(made.near(d)) for d in size}
    true = least(net, links, size)
    for bound in (true + 100, true + 1, true, max(true - 1, 0)):
        assert checker.least_cut(net, links, size, bound) == min(true, bound)


def test_the_steps_of_a_cut() -> None:
    """Two hosts on a switch: a row for each side of the open devices, twice its length and the links of the device."""
    net = network(design({"h1": HOST, "h2": HOST, "s": SWITCH}, [("h1", "s"), ("h2", "s")]), 5)
    assert net.work.left == 0
    net.work = checker.WorkSteps(100)
    assert checker.least_cut(net, net.capacity, {"h1": 1, "s": 1, "h2": 1}, 10) == 1
    # h1 on one side, rows of 2 values; s on both sides of it: 2 x (2 + 1 + 2); h2 of 2 rows that are open at s
    assert 100 - net.work.left == 2 * (1 + 1 + 1) + 2 * (2 + 1 + 2) + 2 * 2 * (2 + 1 + 1)


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
    for wrong, why in (
        ([*order, ["h1"]], "an order names a device twice"),
        ([*order, []], "an order names a device twice"),
        ([*order, ["t1", "t1"]], "an order names a device twice"),
        (order[1:], "an order misses units, or names what does not count"),
        ([*order, ["x"]], "an order misses units, or names what does not count"),
        ([["h1", "h2"], *order[2:]], "devices differ"),
        ([*order, ["t1", "t2"]], "devices differ"),
        ([*order[:3], ["s1", "t2"], ["s2"]], "devices differ"),
    ):
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
    links = [
        (a, b, rng.randrange(1, 4))
        for low, high in ((hosts, leaves), (leaves, spines), (spines, hubs))
        for a in low
        for b in high
    ]
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
    for hubs, shares, why in (
        (["u"], {"u": whole}, "a node does not forward, or a hub has shares"),
        (["h1"], {}, "a node does not forward, or a hub has shares"),
        (["u"], {"h1": whole}, "a node does not forward, or a hub has shares"),
        (["x"], {}, "a node does not forward, or a hub has shares"),
        (["u"], {"s": {"u": Fraction(3, 4), "t": Fraction(1, 2)}, "t": {}}, "the shares of s are more than one"),
    ):
        with rejected(why):
            checker.hub_networks(net, hubs, shares)
    with pytest.raises(RecursionError):
        checker.hub_networks(net, ["u"], {"s": {"t": Fraction(1)}, "t": {"s": Fraction(1)}})
    with pytest.raises(KeyError):
        checker.hub_networks(net, ["u"], {"s": {"t": Fraction(1)}})


def test_links_of_a_hub_are_its_own_once() -> None:
    """A thin link from each leaf to the hub below which all links are thick; and two hubs with the same links count twice."""
    devices = {f"h{i}": HOST for i in range(4)} | dict.fromkeys("stuw", SWITCH)
    links = [("h0", "s", 70), ("h1", "s", 70), ("h2", "t", 70), ("h3", "t", 70), ("s", "u", 30), ("t", "u", 20), ("s", "w", 10)]
    net = network(design(devices, links))
    whole = {"u": Fraction(1)}
    assert checker.hub_networks(net, ["u"], {"s": whole, "t": whole}) == 2
    planes = network(design({h: HOST for h in devices if h[0] == "h"} | dict.fromkeys("stu", SWITCH), PLANES))
    assert checker.hub_networks(planes, ["s", "t"], {}) == 4
    assert checker.hub_networks(planes, ["s", "t", "u"], {}) == 4 + 2 * 3


PLANES = [(f"h{i}", s, 10 if s != "u" else 30) for i in range(4) for s in "stu"]


def test_the_steps_of_networks_of_hubs() -> None:
    """A leaf of one host and half of its own, and the hub: the parts, the arcs, and the least cut."""
    devices = {"h0": HOST, "h1": HOST, "s": SWITCH, "u": SWITCH}
    net = network(design(devices, [("h0", "s", 10), ("s", "u", 10), ("h1", "u", 10)]))
    for shares, hubs, steps in (({}, [], 0), ({}, ["u"], 1), ({"s": {"u": Fraction(1)}}, ["u"], 2 + 3)):
        net.work = checker.WorkSteps(1000)
        checker.hub_networks(net, hubs, shares)
        order = {"u": 1, "h1": 1} if len(shares) == 0 else {"u": 1, "h1": 1, "s": 1, "h0": 1}
        spent = 1000 - net.work.left
        net.work = checker.WorkSteps(1000)
        arcs = [("h1", "u", 1), *([("s", "u", 1), ("h0", "s", 1)] if shares else [])]
        if hubs:
            checker.least_cut(net, checker.Graph(arcs, net.forward, net.work).capacity, order, 100)
        assert spent == steps + 1000 - net.work.left


def test_parts_of_a_node_have_a_common_denominator_of_moderate_length() -> None:
    """That of its parts of all hubs together: numbers of 9,000 bits each are too long if they have nothing in common."""
    net = network(
        design(
            {"h0": HOST, "h1": HOST, "s": SWITCH, "u": SWITCH, "w": SWITCH}, [("h0", "s"), ("h1", "s"), ("s", "u"), ("s", "w")]
        )
    )
    one, other = Fraction(1, 2**9000), Fraction(1, 3**5600)
    assert checker.hub_networks(net, ["u", "w"], {"s": {"u": one, "w": one}}) == 1
    with rejected("fractions or parts are too long numbers"):
        checker.hub_networks(net, ["u", "w"], {"s": {"u": one, "w": other}})
