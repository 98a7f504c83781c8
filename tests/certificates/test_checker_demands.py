"""Demands of patterns, and the proofs about them that the checker reads."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from tdsl.certificates import checker
from tests.certificates.by_hand import CHIP, HOST, SWITCH, design, linked, network, rejected

PLAIN: dict[str, Any] = {"quotient": None, "symmetries": None}
SHORTEST: dict[str, Any] = {"by": "lengths", "share": 1, "parts": 1, "lengths": []}


def railed(rows: list[tuple[str, str, int | None]], rate: int = 30) -> dict[str, Any]:
    """Hosts h0 to h4 with links of these rails, given as host, switch, rail."""
    hosts = {f"h{i}": HOST for i in range(5)}
    links = [{"a_device": a, "b_device": b, "rate_bps": rate, "rail": rail} for a, b, rail in rows]
    return design({s: SWITCH for _, s, _ in rows} | hosts, links)


RAILS = [
    ("h0", "a", 0), ("h0", "b", 0), ("h0", "c", 3), ("h0", "d", 3),
    ("h1", "a", 0), ("h1", "b", 0), ("h1", "c", 3), ("h1", "d", 3),
    ("h2", "a", 0), ("h2", "b", 0), ("h2", "a", None),
    ("h3", "c", 3), ("h3", "d", 3), ("h3", "a", 0), ("h3", "b", 0),
    ("h4", "a", None), ("h4", "b", None),
]  # fmt: skip
"""Of three hosts both rails have two switches each, of one a single rail; the last host has links without a rail."""


def asked(pattern: str, rows: Any = RAILS, **more: Any) -> tuple[dict[str, dict[str, int]], checker.Traffic, int]:
    """Amounts by source and target of a pattern, the traffic, and what a rate of one means."""
    net = network(railed(rows))
    stated = {"pattern": pattern, "units": 5, "demands": None, "from": None, "to": None} | more
    traffic, rate = checker.traffic_of_stated_pattern(net, stated, PLAIN)
    assert all(n == 1 for _, n, _ in traffic.asked)
    return {s: dict(wanted) for s, _, wanted in traffic.asked}, traffic, rate


TWICE = [(f"h{i}", s, None) for i in range(5) for s in "ab"]
"""Five hosts, each on both switches."""


def test_demands_of_patterns() -> None:
    """Rings over all hosts or, of each rail, over those that have it; shifts and lists by the rails that two have in common."""
    ring = {f"h{i}": {f"h{(i + 1) % 5}": 1} for i in range(5)}
    assert asked("ring", TWICE)[::2] == (ring, 5 * 30)
    for pattern in ("ring through scaleup", "rail_allreduce through scaleup"):
        assert asked(pattern, TWICE)[0] == asked(pattern)[0] == ring
    of_rails = {"h0 rail 0": "h1 rail 0", "h1 rail 0": "h2 rail 0", "h2 rail 0": "h3 rail 0", "h3 rail 0": "h0 rail 0"}
    of_rails |= {"h0 rail 3": "h1 rail 3", "h1 rail 3": "h3 rail 3", "h3 rail 3": "h0 rail 3"}
    for pattern in ("ring by rail", "rail_allreduce", "rail_allreduce by rail"):
        assert asked(pattern)[::2] == ({s: {t: 1} for s, t in of_rails.items()}, 7 * 30), pattern
    for step, of in ((1, 1), (2, 2), (7, 2), (999, 4)):
        shifted = {f"h{i}": {f"h{(i + of) % 5}": 1} for i in range(5)}
        assert asked(f"shift {step}", TWICE)[::2] == (shifted, 5 * 30)
    with rejected("h3 and h4 have no rail in common"):
        asked("shift 1 by rail")
    listed = [["h0", "h1", 4], ["h1", "h3", 2], ["h2", "h0", 1], ["h0", "h3", 5]]
    railed_list = {
        "h0 rail 0": {"h1 rail 0": 4, "h3 rail 0": 5}, "h0 rail 3": {"h1 rail 3": 4, "h3 rail 3": 5},
        "h1 rail 0": {"h3 rail 0": 2}, "h1 rail 3": {"h3 rail 3": 2}, "h2 rail 0": {"h0 rail 0": 1},
    }  # fmt: skip
    assert asked("file by rail", demands=listed)[::2] == (railed_list, 30 * 23)
    assert asked("file", TWICE, demands=listed)[::2] == ({"h0": {"h1": 4, "h3": 5}, "h1": {"h3": 2}, "h2": {"h0": 1}}, 30 * 12)
    every = [[f"h{i}", f"h{4 - i}", 1 + i] for i in (0, 1, 3)] + [["h2", "h0", 9]]
    assert asked("file", TWICE, demands=every)[0] == {s: {t: n} for s, t, n in every}
    with rejected("nothing is demanded, or there are symmetries of a list"):
        asked("file")
    with rejected("h2 and h4 have no rail in common"):
        asked("file by rail", demands=[["h2", "h4", 1]])
    for wrong in ([["h0", "h1", 4], ["h0", "h1", 4]], [["h0", "h1", 4], ["h0", "h1", 3]]):
        with rejected("a demand is stated twice"):
            asked("file", demands=wrong)
    for wrong in ([["h0", "a", 4]], [["a", "h0", 4]], [["h0", "h1", 1], ["h0", "x", 4]]):
        with rejected("a demand is not between units"):
            asked("file", demands=wrong)
    with rejected("a demand is not between two that have links"):
        asked("file", demands=[["h0", "h0", 4]])
    for units in (4, 6):
        with rejected("the number of units is another"):
            asked("ring", units=units)
    for pattern in (
        "ring by",
        "shift",
        "shift 1234567890",
        "rings",
        "all_to_all by rails",
        "between by rail x",
        "shift -1",
        "ring ",
    ):
        with rejected("there is no such pattern"):
            asked(pattern)


def test_names_that_a_rail_or_a_set_would_have() -> None:
    made = railed(TWICE)
    row = next(row for row in made["devices"]["rows"] if row[0] == "b")
    row[0] = row[1] = "b 2"
    for link in made["links"]["rows"]:
        link[1] = "b 2" if link[1] == "b" else link[1]
    stated = {"units": 5, "demands": None, "from": ["h0"], "to": ["h1"]}
    assert checker.traffic_of_stated_pattern(network(made), stated | {"pattern": "ring"}, PLAIN)[1] == 150
    for pattern in ("ring by rail", "rail_allreduce", "between", "all_to_all by rail"):
        with rejected("a device has the name of a rail or a set"):
            checker.traffic_of_stated_pattern(network(made), stated | {"pattern": pattern}, PLAIN)


def test_demands_of_sets() -> None:
    """All of one set to all of the other: links within a set are none, and members of a set pass nothing on."""
    rows = linked("h0 h1 10, h0 s 20, h1 t 50, h2 s 30, h3 t 60, s t 70, h0 h3 80")
    rows += linked("h4 h0 90, h4 t 110, h1 s 40")
    net = network(design({f"h{i}": HOST for i in range(5)} | {"s": SWITCH, "t": SWITCH}, rows))
    stated = {"pattern": "between", "units": None, "demands": None, "from": ["h0", "h1"], "to": ["h3", "s"]}
    traffic, rate = checker.traffic_of_stated_pattern(net, stated, PLAIN)
    assert rate == 1 and traffic.asked == [("all from", 1, {"all to": 1})]
    capacity = {("all from", "all to"): 20 + 40 + 80, ("all from", "t"): 50, ("all to", "t"): 60 + 70}
    assert traffic.graph.arcs() == {k: c for (a, b), c in capacity.items() for k in ((a, b), (b, a))}
    assert traffic.graph.forward == {"t"} and traffic.top == 140 + 50
    for sides in (
        {"from": []}, {"to": []}, {"from": None}, {"to": None}, {"from": ["h0", "x"]}, {"to": ["x"]}, {"from": ["h0", "s"]},
    ):  # fmt: skip
        with rejected("a set is empty or unknown, or both overlap"):
            checker.traffic_of_stated_pattern(net, stated | sides, PLAIN)
    two = network(design({"h0": HOST, "h1": HOST}, linked("h0 h1 10, h1 h0 20")))
    traffic, _ = checker.traffic_of_stated_pattern(two, stated | {"from": ["h0"], "to": ["h1"]}, PLAIN)
    assert traffic.top == traffic.routed([SHORTEST]) == 30, "both sets are all that there is"
    lone = network(design({"h0": HOST, "h1": HOST, "s": SWITCH}, linked("h0 s 10")))
    for one, other in (("h0", "h1"), ("h1", "h0")):
        with rejected("a demand is not between two that have links"):
            checker.traffic_of_stated_pattern(lone, stated | {"from": [one], "to": [other]}, PLAIN)


def line() -> checker.Traffic:
    """Hosts on two switches each, and two demands: 3 from h0 to h1, 2 from h2 to h1."""
    links = linked("h0 s 20, h0 t 40, h1 s 60, h1 t 80, h2 s 20, h2 t 20, s t 100")
    net = network(design({"h0": HOST, "h1": HOST, "h2": HOST, "s": SWITCH, "t": SWITCH}, links))
    return checker.traffic_of_listed_demands(net, PLAIN, net.units, {("h0", "h1"): 3, ("h2", "h1"): 2})


FLOWS: dict[str, Any] = {
    "h0": [["h0", "s", 2], ["h0", "t", 4], ["s", "t", 1], ["s", "h1", 1], ["t", "h1", 5]],
    "h2": [["h2", "s", 4], ["s", "h1", 4]],
}


def test_flows_are_conserved_and_arrive() -> None:
    traffic = line()
    load = traffic.by_flows({"flows": FLOWS}, 2)
    assert load == {
        ("h0", "s"): 2, ("h0", "t"): 4, ("s", "t"): 1, ("s", "h1"): 5, ("t", "h1"): 5, ("h2", "s"): 4,
    }  # fmt: skip
    traffic.asked = [(s, 3, w) for s, _, w in traffic.asked]
    assert traffic.by_flows({"flows": FLOWS}, 2) == {arc: 3 * x for arc, x in load.items()}
    for source in FLOWS:
        for i, (a, b, x) in enumerate(FLOWS[source]):
            for change in ([[a, b, x + 1]], [[a, b, x], [a, b, x]], [], [[b, a, x]]):
                wrong = FLOWS | {source: [*FLOWS[source][:i], *change, *FLOWS[source][i + 1 :]]}
                passes = not change or change[0][0] in (source, "s", "t")
                with rejected(f"the demand of {source} does not arrive" if passes else f"{b} does not forward"):
                    traffic.by_flows({"flows": wrong}, 2)
    for parts in (1, 3):
        with rejected("the demand of h0 does not arrive"):
            traffic.by_flows({"flows": FLOWS}, parts)
    for wrong in ({"h0": FLOWS["h0"]}, FLOWS | {"h1": []}, {"h0": FLOWS["h0"], "h1": FLOWS["h2"]}):
        with rejected("other sources send"):
            traffic.by_flows({"flows": wrong}, 2)
    with rejected("h0 and h1 are not linked"):
        traffic.by_flows({"flows": FLOWS | {"h0": [["h0", "h1", 6]]}}, 2)


def test_switches_with_equal_links_that_send_or_receive_are_no_class() -> None:
    """Four chips in a square, of which two opposite ones have the same neighbours: one sends, and its own links limit it."""
    square = linked("c0 c1 10, c1 c2 10, c2 c3 10, c3 c0 10")
    net = network(design(dict.fromkeys(("c0", "c1", "c2", "c3"), CHIP), square))
    for quotient, ends in product((None, True), (("c1", "c0"), ("c0", "c1"))):
        traffic = checker.traffic_of_listed_demands(net, {"quotient": quotient, "symmetries": None}, net.units, {ends: 1})
        assert traffic.routed([SHORTEST]) == 1 and traffic.top == 2


def test_links_that_are_restored_are_subtracted() -> None:
    """Two hosts of each of two leaves; the one link between the leaves, with others that are added for the proof."""
    links = linked("h0 s 50, h1 s 50, h2 t 50, h3 t 50, s t 10")
    made = design({f"h{i}": HOST for i in range(4)} | {"s": SWITCH, "t": SWITCH}, links)
    part = {"hubs": ["s"], "shares": {"t": {"s": Fraction(1)}}}
    proof: dict[str, Any] = {"by": "shares", "parts": [part]}
    assert network(made).grain == 10
    for more, found in (
        (None, 1), ([], 1), ([["s", "t", 30]], 1), ([["t", "s", 40]], 1), ([["s", "t", 40], ["s", "t", 50]], 10 - 9),
        ([["s", "t", 100]], 10 - 10), ([["s", "t", 200]], 10 - 20),
    ):  # fmt: skip
        assert checker.bisection_lower_bound_shown(network(made), proof | {"restored": more}) == found
    s_alone = {"hubs": ["s"], "shares": {}}
    for parts in ([part, {"hubs": ["t"], "shares": {}}], [s_alone] * 2, [{"hubs": ["s", "s"], "shares": {}}]):
        with rejected("two parts share a node"):
            checker.bisection_lower_bound_shown(network(made), {"by": "shares", "parts": parts, "restored": None})
    two = [(h, s, 10) for h in ("h0", "h1", "h2", "h3") for s in ("s", "t")]
    planes = network(design({f"h{i}": HOST for i in range(4)} | {"s": SWITCH, "t": SWITCH}, two))
    parts = [{"hubs": ["s"], "shares": {}}, {"hubs": ["t"], "shares": {}}]
    assert checker.bisection_lower_bound_shown(planes, {"by": "shares", "parts": parts, "restored": None}) == 4
    hosts = [[f"h{i}"] for i in range(4)]
    both = [{"least": n, "order": [*hosts, [s]]} for n, s in ((2, "s"), (1, "t"))]
    assert checker.bisection_lower_bound_shown(planes, {"by": "splits", "parts": both}) == 3
