"""Forged certificates, one for each way to cheat: each is rejected, and the honest one beside it verifies."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import pytest

from tdsl.certificates import checker
from tests.certificates.by_hand import COLUMNS, certificate, fabric
from tests.certificates.made import CLOS, body, design, judged

HOSTS, SWITCHES = ["h1", "h2", "h3", "h4"], ["s1", "s2"]
ACCESS = [("h1", "s1"), ("h2", "s1"), ("h3", "s2"), ("h4", "s2")]
TRUNK = ("s1", "s2")
ORDER = [["h1"], ["h2"], ["s1"], ["s2"], ["h3"], ["h4"]]
SHORTEST = {"by": "lengths", "share": 1, "parts": 5040, "lengths": []}


def refused(stated: dict[str, Any], made: dict[str, Any], why: str) -> None:
    with pytest.raises(checker.Rejected, match=why):
        checker.verify(stated, made)


def two(trunks: int) -> dict[str, Any]:
    """Two switches with two hosts each and so many links between them."""
    return fabric(HOSTS, SWITCHES, [*ACCESS, *[TRUNK] * trunks])


def test_what_a_bisection_needs() -> None:
    made = two(2)
    stated = certificate(
        "bisection", units=4, lower_bps=200, upper_bps=200, cut=["h1", "h2", "s1"],
        lower={"by": "splits", "parts": [{"least": 2, "order": ORDER}]},
    )  # fmt: skip
    checker.verify(stated, made)
    refused(stated | {"cut": ["h1"], "lower_bps": 100, "upper_bps": 100}, made, "the split is not balanced")
    refused(stated | {"cut": [*stated["cut"], "x"]}, made, "the cut names what does not count")
    refused(stated | {"upper_bps": 100}, made, "other links cross the cut")
    refused(stated | {"lower_bps": 300}, made, "the proof shows 200 bit/s")
    third = {
        "units": 3,
        "lower_bps": 100,
        "upper_bps": 100,
        "lower": {"by": "splits", "parts": [{"least": 1, "order": ORDER[:5]}]},
    }
    checker.verify(stated | third, fabric(HOSTS[:3], SWITCHES, [*ACCESS[:3], TRUNK]))
    one = {"hubs": ["s1"], "shares": {"s2": {"s1": "1"}}}
    shares: dict[str, Any] = {"by": "shares", "parts": [one]}
    checker.verify(stated | {"lower": shares, "lower_bps": 200}, made)
    twice = {"lower_bps": 400, "lower": {"by": "splits", "parts": [{"least": 2, "order": ORDER}] * 2}}
    refused(stated | twice, made, "a split cuts less")
    for link in (["h1", "s1", 100], ["s1", "s1", 100], ["s1", "s2", 150], ["s1", "x", 100]):
        refused(stated | {"lower_bps": 0, "lower": shares | {"restored": [link]}}, made, "no link to restore")
    routes = {"by": "routes", "routes": [SHORTEST], "hubs": {"x": 1}}
    refused(stated | {"lower_bps": 0, "lower": routes}, made, "a hub does not forward")


def test_what_all_to_all_needs() -> None:
    """Of four hosts, along shortest paths where no route is given."""

    def rate(value: int | str, **change: Any) -> dict[str, Any]:
        ends = {"upper_bps": "100/3", "lower": {"routes": [SHORTEST]}, "upper": {"lengths": []}}
        return certificate("throughput", **({"pattern": "all_to_all", "units": 4, "lower_bps": value} | ends | change))

    apart = [["h1", "s2", 1]]
    checker.verify(rate("100/3"), two(2))
    checker.verify(rate(25), two(1))
    refused(rate("100/3"), two(1), "the proofs show 25 and")  # each host sends to two over the link of 100
    refused(rate("100/3"), two(0), "a target is not reached")
    refused(rate(0, lower={"routes": []}), two(2), "nothing flows")
    refused(rate(0, lower={"routes": [SHORTEST | {"lengths": apart}]}), two(2), "h1 and s2 are not linked")
    refused(rate(0, upper={"lengths": apart}), two(2), "h1 and s2 are not linked")


NARROW = """fabric f {
  host node[8]: N
  switch leaf[2]: SW
  switch spine[2]: SW
  connect node[n].nic to leaf[n//4]
  connect leaf[*] to spine[*] spread x 2
  report throughput all_to_all
}"""
TORUS = """fabric f {
  chip c[4, 4]: C4
  connect c[*, *] torus
  report bisection
  report diameter
  report mean_hops
  report edge_redundancy
  report node_redundancy
  report throughput all_to_all
}
model chip C4 { port p[4]: 400Gbps }"""
PATH = """fabric f {
  chip c[6]: C2
  connect c[*] mesh
  report node_redundancy
  report edge_redundancy
}
model chip C2 { port p[0..1]: 400Gbps }"""
NAMES = """fabric f {
  host a: N
  host ab: N
  switch bc: SW
  switch c: SW
  connect a to bc
  connect ab to c
  report reachability
}"""
TURNED, SHIFTED = ({f"c{i}": f"c{to(i) % 6}" for i in range(6)} for to in (lambda i: 5 - i, lambda i: i + 1))
REDUNDANCY = ("node_redundancy", "edge_redundancy")
ALL, NODES = "throughput-all_to_all", [f"node{i}" for i in range(4)]
NO_FLOWS = {"share": 1, "by": "flows", "parts": 1, "flows": {}}
UNEQUAL = {"by": "lengths", "lengths": [["leaf0", "spine0", 1], ["leaf0", "spine1", 2]]}
EMPTY: list[dict[str, Any]] = [
    {"routes": [NO_FLOWS]}, {"quotient": True, "routes": [NO_FLOWS]}, {"quotient": True, "routes": []}, {"routes": []},
    {"routes": [{"share": 1, "parts": 1, "by": "trees", "trees": []}]},
    {"routes": [{"share": 1, "parts": 1, "by": "hubs", "hubs": {}}]},
    {"routes": [{"share": 0, "parts": 1, "by": "lengths", "lengths": []}]}, {}, {"symmetries": [], "routes": []},
    {"symmetries": [], "hubs": {}, "routes": []},
]  # fmt: skip
ROUTES: list[tuple[int, dict[str, Any], dict[str, Any]]] = [
    (0, {"by": "lengths", "lengths": []}, {}),
    (0, {"by": "lengths", "lengths": []}, {"symmetries": []}),
    (0, {"by": "hubs", "hubs": {"spine0": 1}}, {}),
    (1, {"by": "hubs", "hubs": {"node0": 1}}, {}),
    (1, {"by": "hubs", "hubs": {"spine0": 0}}, {}),
    (1, {"by": "lengths", "lengths": [["node0", "spine0", 1]]}, {}),
    (1, {"by": "lengths", "lengths": [["node0", "leaf0", 0]]}, {}),
    (1, UNEQUAL, {}),
    (0, UNEQUAL, {"quotient": False}),
    (1, {"by": "hubs", "hubs": {"spine0": 1, "spine1": 2}, "parts": 5041}, {}),
    (1, {"by": "trees", "trees": []}, {}),
    (1, {"by": "lengths", "lengths": [], "parts": 0}, {}),
    (1, {"by": "lengths", "lengths": [], "share": -1}, {}),
]
UPPERS: list[dict[str, Any]] = [
    {"cut": ["spine0"]}, {"lengths": []}, {"lengths": [["leaf0", "spine0", 0]]}, {"lengths": None}, {},
    {"lengths": [["node0", "node1", 1]]}, {"lengths": [["spine0", "leaf0", 1]]},
]  # fmt: skip
FORGED: list[tuple[str, str, dict[str, Any], int]] = [
    *((CLOS, ALL, {"lower": lower}, 1) for lower in EMPTY),
    *((CLOS, ALL, {"lower_bps": "1", "lower": {"quotient": True, "routes": [{"share": 1, "parts": 5040} | route]} | more}, status)
      for status, route, more in ROUTES),
    *((NARROW, ALL, {"upper": upper}, 1) for upper in UPPERS),
    *((TORUS, name, {"value": value}, 1) for name in REDUNDANCY for value in (0, 1, 3, 5)),
    *((TORUS, name, {"symmetries": less}, 0) for name in REDUNDANCY for less in ([], None)),
    # a claim that all chips of a path are equivalent would compare those in the middle only
    *((PATH, name, {"symmetries": [TURNED]}, 0) for name in REDUNDANCY),
    *((PATH, name, {"symmetries": [SHIFTED]}, 1) for name in REDUNDANCY),
    *((PATH, name, {"symmetries": [TURNED], "value": value}, 1) for name in REDUNDANCY for value in (0, 2)),
    (CLOS, "throughput-2", {"from": [*NODES, "node0"]}, 1), (CLOS, "throughput-2", {"from": [*NODES, "leaf0"]}, 1),
    (CLOS, "throughput-2", {"to": NODES}, 1), (CLOS, "survives-1", {"of": ["spine", "spine"]}, 1),
    (CLOS, "survives-1", {"cases": []}, 1), (NAMES, "reachability", {"holds": True, "apart": None}, 1),
    (CLOS, "bisection", {"lower": {"by": "shares", "parts": [{"hubs": ["node0"], "shares": {}}]}}, 1),
]  # fmt: skip
"""What is put in the place of fields of an honest certificate; those whose value is None are left out."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forged")


@pytest.mark.parametrize(("text", "name", "change", "status"), FORGED)
def test_a_forged_certificate_of_a_design(text: str, name: str, change: dict[str, Any], status: int, folder: Path) -> None:
    fabric, made = design(text, folder)
    assert not made.rejected and not made.left_out
    honest = body(made, f"{name}.json")
    assert judged(honest, fabric)[0] == 0
    assert judged({k: v for k, v in (honest | change).items() if v is not None}, fabric)[0] == status


@pytest.mark.parametrize("text", [CLOS, TORUS])
def test_every_field_is_needed_and_no_other_is_taken(text: str, folder: Path) -> None:
    fabric, made = design(text, folder)
    for name in made.texts:
        honest = body(made, name)
        assert "not known" in judged(honest | {"note": "trusted"}, fabric)[1]
        for key in honest:
            status, line = judged({k: v for k, v in honest.items() if k != key}, fabric)
            assert status == 1 or key in ("symmetries", "to", "what"), (name, key, line)
        for key in {"cut", "cases"} & honest.keys():  # a cut names nothing twice; a case may be shown twice
            assert judged(honest | {key: honest[key] * 2}, fabric)[0] == (key == "cut")  # type: ignore[operator]


def test_two_ports_whose_paths_are_one_text(folder: Path) -> None:
    """Device `a` with port `b.p` and device `a.b` with port `p` would be one port."""
    fabric, made = design(CLOS, folder)
    data = json.loads(fabric)
    columns = data["links"]["columns"]
    a, p = columns.index("a_device"), columns.index("a_port")
    first, second = data["links"]["rows"][:2]
    paths = {row[0]: row for row in data["devices"]["rows"]}
    paths[first[a]][1], paths[second[a]][1] = "x", "x.y"
    paths[second[a]][data["devices"]["columns"].index("inside")] = first[a]
    first[p], second[p] = "y.p", "p"
    assert "one port" in judged(body(made, "reachability.json"), json.dumps(data))[1]


def test_all_sets_of_failures_are_counted_before_they_are_made() -> None:
    """40 switches of which any 3 fail, with two symmetries: three times 10,700 sets are too much for 30,000 steps."""
    switches = [f"s{i}" for i in range(40)]
    made = fabric(["a1", "a2"], switches, [(h, s) for h in ("a1", "a2") for s in switches])
    symmetries = [{"s0": "s1", "s1": "s0"}, {"s2": "s3", "s3": "s2"}]
    reached = {"condition": {"check": "reachability"}, "cases": [], "symmetries": symmetries}
    stated = certificate("survives", of=["s"], count=3, **reached)
    sets = 3 * sum(comb(40, size) for size in (1, 2, 3))
    with pytest.raises(checker.TooMuchWork):
        checker.verify(stated, made, sets)
    with pytest.raises(checker.Rejected, match="a failure is not covered"):
        checker.verify(stated, made, sets + 2000)


def test_cables_that_share_a_link_are_no_case_of_two_that_do_not() -> None:
    """Cables of two links, and one of a single link; two of them have a link in common, so that they fail with three links."""
    made = fabric(["h1", "h2"], ["s1"], [("h1", "s1")] * 6 + [("h2", "s1")] * 6)
    names = [("c1", None), ("c1", "c2"), ("c2", None), ("c3", None), ("c3", None), ("c4", None)]
    for row, ids in zip(made["links"]["rows"], names, strict=False):
        row[COLUMNS["links"].index("cable_id")], row[COLUMNS["links"].index("far_cable_id")] = ids

    def case(links: int, *failed: str) -> dict[str, Any]:
        low = {"by": "splits", "parts": [{"least": links, "order": [["h1"], ["s1"], ["h2"]]}]}
        left = {"check": "bisection", "units": 2, "lower_bps": 100 * links, "upper_bps": 100 * links, "cut": ["h1"], "lower": low}
        return {"failed": [f"cable {c}" for c in failed], "left": left}

    def stated(value: int, cases: list[dict[str, Any]]) -> dict[str, Any]:
        asked = {"of": ["h[1]"], "what": "cables", "count": 2, "symmetries": []}
        return certificate(
            "survives", condition={"check": "bisection", "op": ">=", "value": value, "share": None}, cases=cases, **asked
        )

    every = [case(3, "c1", "c2"), case(2, "c1", "c3"), case(2, "c2", "c3"), *(case(3, c, "c4") for c in ("c1", "c2", "c3"))]
    checker.verify(stated(200, every), made)
    refused(stated(300, every), made, "a case fails")
    for value in (200, 300):
        for less in ([every[0], *every[3:]], every[:2] + every[3:]):
            refused(stated(value, less), made, "a failure is not covered|a case fails")


def test_switches_of_other_layers_are_no_devices_of_the_network() -> None:
    """Hosts h1 and h2 on s1 and beside it on x1, which h3 is on alone; s2 has links of both, s3 none, and o1 is crossed."""
    links = [("h1", "s1"), ("h2", "s1"), ("h1", "s2"), ("h2", "s2"), ("h1", "x1"), ("h2", "x1"), ("h3", "x1"), ("h3", "s2")]
    made = fabric(["h1", "h2", "h3"], ["s1", "s2", "s3", "x1", "o1"], links)
    for row in made["links"]["rows"][4:]:
        row[COLUMNS["links"].index("layer")] = "scaleup"
    known, via = checker.CertifiedFabric(made), COLUMNS["links"].index("via")
    assert set(known.devices) == {"h1", "h2", "h3", "s1", "s2", "s3", "o1"}
    assert [(x.a, x.b) for x in known.links] == links[:4]
    made["links"]["rows"][4][via] = "o1"
    assert set(checker.CertifiedFabric(made).devices) == {"h1", "h2", "h3", "s1", "s2", "s3"}
    made["links"]["rows"][0][via] = "o1"
    assert set(checker.CertifiedFabric(made).devices) == {"h1", "h2", "h3", "s1", "s2", "s3", "o1"}
