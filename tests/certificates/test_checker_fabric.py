"""The checker's fabric: elements that paths name, units, what forwards and what failures leave, each by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tdsl.certificates import checker
from tests.certificates.by_hand import CHIP, HOST, SWITCH, Rows, cells, design, network, rejected

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
    for name, other in (
        ("g2-s", {"path": "a"}), ("g2-s", {"name": "a"}), ("g2-s", {"name": ""}),
        ("a-b", {"inside": None}), ("a-b-c", {"inside": "a"}), ("g2-s", {"inside": "a"}),
    ):  # fmt: skip
        with rejected(f"{name} is inside another device than its path says" if "inside" in other else one):
            checker.CertifiedFabric(design(NESTED | {name: NESTED[name] | other}, ENDS))
    for link, why in (
        (("a", "a"), "a link joins a device to itself"),
        (("a", "x"), "a link ends at an unknown device"),
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


NAMED = [
    (["a"], {"a": {"a", "a-b", "a-b-c"}}),
    (["g"], {"g[1]": {"g1-h"}, "g[2]": {"g2-h", "g2-h-c", "g2-s"}}),
    (["g[1]"], {"g[1]": {"g1-h"}}),
    (["g.h", "a.b.c"], {"g[1].h": {"g1-h"}, "g[2].h": {"g2-h", "g2-h-c"}, "a.b.c[1]": {"a-b-c"}}),
    (["g[2].s[x.y]", "g[2].s"], None),
    (["g.s"], {"g[2].s[x.y]": {"g2-s"}}),
    ([], None),
    (["g", "x"], None),
    (["g[3]"], None),
]


@pytest.mark.parametrize(("of", "found"), NAMED)
def test_elements_that_paths_name(of: list[str], found: dict[str, set[str]] | None) -> None:
    """A path without indices names every element of the family; one with, its own; each with all that it contains."""
    made = checker.CertifiedFabric(design(NESTED, ENDS))
    if found is not None:
        assert made.elements(of) == {path: (devices, frozenset()) for path, devices in found.items()}
        return
    with rejected("no element, or one that is not in the fabric"):
        made.elements(of)


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
    ("links", ["g[2]"], None, {"s1.p2 - g[2].h.q2": {2}, "g[2].h.p3 - g[2].s.q3": {3}, "g[2].s.p4 - s1.q4": {4}}),
    ("links", ["g[2]"], ["g[2]"], {"g[2].h.p3 - g[2].s.q3": {3}}),
    ("links", ["s1.q0"], None, {"g[1].h.p0 - s1.q0": {0}}),
    ("links", ["s1.q0", "g[2].h"], ["g.h"], {"g[1].h.p0 - s1.q0": {0}}),
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
    if found is not None:
        assert made.elements(of, what, to) == {name: (frozenset(), rows) for name, rows in found.items()}
        return
    with rejected("no element, or one that is not in the fabric"):
        made.elements(of, what, to)


BOXES = {"h1": cells("host", path="h[1]"), "h2": cells("host", path="h[2]")}
GPUS = {f"c{i}{j}": cells("chip", path=f"h[{i}].c[{j}]", inside=f"h{i}") for i in (1, 2) for j in (0, 1)}
UNITS: list[tuple[dict[str, Any], list[tuple[Any, ...]], set[str], set[str], set[str]]] = [
    ({"h1": HOST, "h2": HOST, "s": SWITCH}, [("h1", "s"), ("h2", "s")], {"h1", "h2"}, {"s"}, set()),
    ({"s": SWITCH, "t": SWITCH, "o": cells("ocs")}, [("s", "t")], {"s", "t"}, {"s", "t"}, set()),
    (BOXES | GPUS | {"s": SWITCH}, [("h1", "s"), ("h2", "s")], {"h1", "h2"}, {"s"}, set()),
    (BOXES | GPUS | {"s": SWITCH}, [("c10", "s"), ("c20", "s")], {*GPUS}, {"s"}, set()),
    (BOXES | GPUS | {"s": SWITCH}, [("c10", "s"), ("h1", "s")], {*GPUS}, {"s"}, {"h1"}),
    (BOXES | GPUS | {"b1": HOST, "b2": HOST, "s": SWITCH}, [("c10", "s"), ("b1", "s")], {*GPUS, "b1", "b2"}, {"s"}, set()),
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
    net = network(design(devices, links))
    assert list(net.units) == [d for d in devices if d in units]
    assert (net.forward, net.others, net.half) == (forward, others, len(units) // 2)


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
