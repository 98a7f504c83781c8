"""Forged certificates, one for each way to cheat: each is rejected with its reason, and the honest one beside it verifies."""

from __future__ import annotations

import json
from math import comb
from pathlib import Path
from typing import Any

import pytest

from tdsl.certificates import checker
from tests.certificates.by_hand import COLUMNS, certificate, fabric
from tests.certificates.made import body, design, judged

HOSTS, SWITCHES = ["h1", "h2", "h3", "h4"], ["s1", "s2"]
ACCESS = [("h1", "s1"), ("h2", "s1"), ("h3", "s2"), ("h4", "s2")]
TRUNK = ("s1", "s2")
ORDER = [["h1"], ["h2"], ["s1"], ["s2"], ["h3"], ["h4"]]


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
    odd = fabric(HOSTS[:3], SWITCHES, [*ACCESS[:3], TRUNK])
    third = {
        "units": 3,
        "lower_bps": 100,
        "upper_bps": 100,
        "lower": {"by": "splits", "parts": [{"least": 1, "order": ORDER[:5]}]},
    }
    checker.verify(stated | third, odd)

    def lower(**proof: Any) -> dict[str, Any]:
        return stated | {"lower_bps": 0, "lower": proof}

    for order in (ORDER[1:], [*ORDER, ["x"]]):
        refused(lower(by="splits", parts=[{"least": 0, "order": order}]), made, "an order misses units, or names what")
    one = {"hubs": ["s1"], "shares": {"s2": {"s1": "1"}}}
    checker.verify(stated | {"lower": {"by": "shares", "parts": [one]}, "lower_bps": 200}, made)
    refused(lower(by="shares", parts=[{"hubs": ["s1"], "shares": {}}] * 2), made, "two parts share a node")
    refused(lower(by="shares", parts=[one, {"hubs": ["s2"], "shares": {}}]), made, "two parts share a node")
    refused(lower(by="shares", parts=[one | {"shares": {"s2": {"s1": "3/2"}}}]), made, "shares of s2 are more than one")
    for link in (["h1", "s1", 100], ["s1", "s1", 100], ["s1", "s2", 150], ["s1", "x", 100]):
        refused(lower(by="shares", parts=[one], restored=[link]), made, "no link to restore")
    route = {"by": "lengths", "share": 1, "parts": 1, "lengths": []}
    refused(lower(by="routes", routes=[route], hubs={"x": 1}), made, "a hub does not forward")


def rate(value: int | str, route: dict[str, Any] | None = None, **change: Any) -> dict[str, Any]:
    """All to all of four hosts; along shortest paths where no route is given."""
    routes = [route or {"by": "lengths", "share": 1, "parts": 5040, "lengths": []}]
    whole = {"lower_bps": value, "upper_bps": "100/3", "lower": {"routes": routes}, "upper": {"lengths": []}} | change
    return certificate("throughput", **({"pattern": "all_to_all", "units": 4} | whole))


def test_what_all_to_all_needs() -> None:
    checker.verify(rate("100/3"), two(2))
    checker.verify(rate(25), two(1))
    refused(rate("100/3"), two(1), "the proofs show 25 and")  # each host sends to two over the link of 100
    refused(rate("100/3"), two(0), "a target is not reached")
    refused(rate(0, lower={"routes": []}), two(2), "nothing flows")
    refused(rate(0, {"by": "lengths", "share": 1, "parts": 1, "lengths": [["h1", "s2", 1]]}), two(2), "h1 and s2 are not linked")
    refused(rate(0, upper={"lengths": [["h1", "s2", 1]]}), two(2), "h1 and s2 are not linked")
    refused(rate(0, pattern="all"), two(2), "there is no such pattern")
    refused(rate(0, pattern="all_to_all by rail"), two(2) | {"devices": spaced()}, "a device has the name of a rail")


def spaced() -> dict[str, Any]:
    """The devices of ``two``, and a host with a space in its name."""
    out: dict[str, Any] = two(2)["devices"]
    out["rows"].append(["s1 rail 0", "other", "switch", *out["rows"][-1][3:]])
    return out


def failing(cases: list[Any], **change: Any) -> dict[str, Any]:
    whole = {"of": ["s"], "count": 1, "condition": {"check": "reachability"}, "symmetries": [], "cases": cases} | change
    return certificate("survives", **whole)


def case(*failed: str, units: int = 2) -> dict[str, Any]:
    return {"failed": list(failed), "left": {"check": "reachability", "units": units, "holds": True}}


def test_what_a_failure_needs() -> None:
    """Two hosts on three switches each."""
    switches = ["s1", "s2", "s3"]
    made = fabric(["h1", "h2"], switches, [(h, s) for h in ("h1", "h2") for s in switches])
    every, turned = [case(f"s[{i}]") for i in (1, 2, 3)], [{"s1": "s2", "s2": "s1"}]
    checker.verify(failing(every), made)
    checker.verify(failing(every[1:], symmetries=turned), made)
    refused(failing(every[:1], symmetries=turned), made, "a failure is not covered")
    refused(failing(every, count=4), made, "fewer elements than fail")
    refused(failing([*every, case("s[1]", "s[2]")]), made, "a case is of others")
    refused(failing(every[:1], of=["s[1]"], symmetries=turned), made, "a symmetry leads out of the elements")
    refused(failing([case("h[1]", units=1)], of=["h"]), made, "a case leaves no pair")
    cut = fabric(["h1", "h2"], ["s1", "s2"], [("h1", "s1"), ("h2", "s1"), ("h2", "s2")])
    apart = {"check": "reachability", "units": 2, "holds": False, "apart": ["h1", "h2"]}
    refused(failing([{"failed": ["s[1]"], "left": apart}], of=["s[1]"]), cut, "a case leaves no pair")
    cut = fabric(["h1", "h2"], switches, [("h1", "s1"), ("h2", "s1"), ("h1", "s2"), ("h2", "s3")])
    refused(failing([{"failed": ["s[1]"], "left": apart}], of=["s[1]"]), cut, "a case fails")
    distance = {"check": "diameter", "value": 0}
    share = {"check": "diameter", "op": "<=", "value": 1, "share": "left"}
    cases = [one | {"left": distance} for one in every]
    checker.verify(failing(cases, condition=share | {"share": None}), made)
    refused(failing(cases, condition=share), made, "there is no share of such a figure")
    for row in made["links"]["rows"][:2]:
        row[made["links"]["columns"].index("cable_id")] = "c"
    refused(failing([case("cable c")], of=["h"], what="cables", symmetries=turned), made, "a symmetry of sets of links")
    checker.verify(failing([case("cable c")], of=["h"], what="cables"), made)


CLOS = """fabric f {
  host node[8]: N
  switch leaf[4]: SW
  switch spine[2]: SW
  connect node[n].nic to leaf[n//2]
  connect leaf[*] to spine[*] spread x 2
  report bisection
  report reachability
  report diameter
  report mean_hops
  report edge_redundancy
  report node_redundancy
  report oversubscription
  report blast_radius of leaf
  report throughput all_to_all
  report throughput ring
  report throughput of node[0..3] to node[4..7]
  report survives any 1 of spine with bisection >= 30%
}"""
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forged")


def forged(text: str, name: str, folder: Path, **change: Any) -> tuple[int, str]:
    """The answer about a certificate with other fields; those whose value is None are left out."""
    fabric, made = design(text, folder)
    assert not made.rejected and not made.left_out
    honest = body(made, name)
    assert judged(honest, fabric)[0] == 0
    return judged({k: v for k, v in (honest | change).items() if v is not None}, fabric)


@pytest.mark.parametrize("text", [CLOS, TORUS])
def test_every_field_is_needed_and_no_other_is_taken(text: str, folder: Path) -> None:
    fabric, made = design(text, folder)
    for name in made.texts:
        honest = body(made, name)
        assert judged(honest, fabric)[0] == 0
        assert "not known" in judged(honest | {"note": "trusted"}, fabric)[1]
        for key in honest:
            status, line = judged({k: v for k, v in honest.items() if k != key}, fabric)
            assert status == 1 or key in ("symmetries", "to", "what"), (name, key, line)


@pytest.mark.parametrize("value", [0, 1, 3, 5])
@pytest.mark.parametrize("name", ["node_redundancy", "edge_redundancy"])
def test_redundancy_of_a_torus_by_symmetry(name: str, value: int, folder: Path) -> None:
    """Four paths, with the symmetries that are stated, with none, and with less than the group."""
    assert forged(TORUS, f"{name}.json", folder, value=value)[0] == 1
    assert forged(TORUS, f"{name}.json", folder, symmetries=[])[0] == 0
    assert forged(TORUS, f"{name}.json", folder, symmetries=None)[0] == 0


def test_redundancy_of_a_path_is_not_that_of_its_middle(folder: Path) -> None:
    """A claim that all chips are equivalent would compare those in the middle only."""
    fabric, made = design(PATH, folder)
    chips = [row[0] for row in json.loads(fabric)["devices"]["rows"]]
    turned = dict(zip(chips, reversed(chips), strict=True))
    shifted = dict(zip(chips, [*chips[1:], chips[0]], strict=True))
    for name in ("node_redundancy", "edge_redundancy"):
        honest = body(made, f"{name}.json") | {"symmetries": []}
        assert honest["value"] == 1 and judged(honest, fabric)[0] == 0
        assert judged(honest | {"symmetries": [turned]}, fabric)[0] == 0
        assert judged(honest | {"symmetries": [shifted]}, fabric)[0] == 1
        for value in (0, 2):
            assert judged(honest | {"value": value, "symmetries": [turned]}, fabric)[0] == 1


def test_lists_name_nothing_twice(folder: Path) -> None:
    fabric, made = design(CLOS, folder)
    between = next(b for name in made.texts if (b := body(made, name)).get("pattern") == "between")
    assert judged(between, fabric)[0] == 0
    one = between["from"]
    assert isinstance(one, list)
    assert judged(between | {"from": [*one, one[0]]}, fabric)[0] == 1
    assert judged(between | {"from": [*one, "leaf0"]}, fabric)[0] == 1
    assert judged(between | {"to": [*one]}, fabric)[0] == 1
    cut = body(made, "bisection.json")
    assert judged(cut | {"cut": [*cut["cut"], cut["cut"][0]]}, fabric)[0] == 1  # type: ignore[index, misc]
    survives = body(made, "survives-1.json")
    assert judged(survives, fabric)[0] == 0
    assert judged(survives | {"cases": survives["cases"] * 2}, fabric)[0] == 0  # type: ignore[operator]
    assert judged(survives | {"of": ["spine", "spine"]}, fabric)[0] == 1
    assert judged(survives | {"cases": []}, fabric)[0] == 1


def test_routes_that_use_what_is_not_there(folder: Path) -> None:
    """Hubs that do not forward, trees without links, lengths of no link, different lengths in one orbit."""
    fabric, made = design(CLOS, folder)
    honest = body(made, "throughput-all_to_all.json")

    def answer(route: dict[str, object], **more: object) -> int:
        lower = {"quotient": True, "routes": [{"share": 1, "parts": 5040} | route]} | more
        return judged(honest | {"lower_bps": "1", "lower": lower}, fabric)[0]

    assert answer({"by": "lengths", "lengths": []}) == 0
    assert answer({"by": "lengths", "lengths": []}, symmetries=[]) == 0
    assert answer({"by": "hubs", "hubs": {"spine0": 1}}) == 0
    assert answer({"by": "hubs", "hubs": {"node0": 1}}) == 1
    assert answer({"by": "hubs", "hubs": {"spine0": 0}}) == 1
    assert answer({"by": "lengths", "lengths": [["node0", "spine0", 1]]}) == 1
    assert answer({"by": "lengths", "lengths": [["node0", "leaf0", 0]]}) == 1
    assert answer({"by": "lengths", "lengths": [["leaf0", "spine0", 1], ["leaf0", "spine1", 2]]}) == 1
    assert answer({"by": "lengths", "lengths": [["leaf0", "spine0", 1], ["leaf0", "spine1", 2]]}, quotient=False) == 0
    assert answer({"by": "hubs", "hubs": {"spine0": 1, "spine1": 2}, "parts": 5041}) == 1
    assert answer({"by": "trees", "trees": []}) == 1
    assert answer({"by": "lengths", "lengths": [], "parts": 0}) == 1
    assert answer({"by": "lengths", "lengths": [], "share": -1}) == 1


@pytest.mark.parametrize("upper", [{"cut": ["spine0"]}, {"lengths": []}, {"lengths": [["leaf0", "spine0", 0]]}, {"lengths": None},
                                   {"lengths": [["node0", "node1", 1]]}, {"lengths": [["spine0", "leaf0", 1]]}, {}])  # fmt: skip
def test_an_upper_bound_of_nothing(upper: dict[str, object], folder: Path) -> None:
    """Of a fabric whose links between switches are the limit."""
    assert forged(NARROW, "throughput-all_to_all.json", folder, upper=upper)[0] == 1


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
    stated = certificate(
        "survives", of=["s"], count=3, condition={"check": "reachability"}, cases=[],
        symmetries=[{"s0": "s1", "s1": "s0"}, {"s2": "s3", "s3": "s2"}],
    )  # fmt: skip
    sets = 3 * sum(comb(40, size) for size in (1, 2, 3))
    with pytest.raises(checker.TooMuchWork):
        checker.verify(stated, made, sets)
    with pytest.raises(checker.Rejected, match="a failure is not covered"):
        checker.verify(stated, made, sets + 2000)


def test_cables_that_share_a_link_are_no_case_of_two_that_do_not() -> None:
    """Cables of two links, and one of a single link; two of them have a link in common, so that they fail with three links."""
    made = fabric(["h1", "h2"], ["s1"], [("h1", "s1")] * 6 + [("h2", "s1")] * 6)
    names = [("c1", None), ("c1", "c2"), ("c2", None), ("c3", None), ("c3", None), ("c4", None)]
    columns = COLUMNS["links"]
    for row, (cable, far) in zip(made["links"]["rows"], names, strict=False):
        row[columns.index("cable_id")], row[columns.index("far_cable_id")] = cable, far
    after = {3: ["cable c1", "cable c2"], 2: ["cable c1", "cable c3"]}

    def case(links: int, *failed: str) -> dict[str, Any]:
        low = {"by": "splits", "parts": [{"least": links, "order": [["h1"], ["s1"], ["h2"]]}]}
        left = {"check": "bisection", "units": 2, "lower_bps": 100 * links, "upper_bps": 100 * links, "cut": ["h1"], "lower": low}
        return {"failed": [f"cable {c}" for c in failed], "left": left}

    every = [case(3, "c1", "c2"), case(2, "c1", "c3"), case(2, "c2", "c3"), *(case(3, c, "c4") for c in ("c1", "c2", "c3"))]
    asked = {"of": ["h[1]"], "what": "cables", "count": 2, "symmetries": []}

    def stated(value: int, cases: list[dict[str, Any]]) -> dict[str, Any]:
        condition = {"check": "bisection", "op": ">=", "value": value, "share": None}
        return certificate("survives", condition=condition, cases=cases, **asked)

    assert len(after) == 2
    checker.verify(stated(200, every), made)
    with pytest.raises(checker.Rejected, match="a case fails"):
        checker.verify(stated(300, every), made)
    for value in (200, 300):
        for less in ([every[0], *every[3:]], every[:2] + every[3:]):
            with pytest.raises(checker.Rejected):
                checker.verify(stated(value, less), made)


def test_switches_of_other_layers_are_no_devices_of_the_network() -> None:
    """Hosts h1 and h2 on s1 and beside it on x1, which h3 is on alone; s2 has links of both, s3 none, and o1 is crossed."""
    links = [("h1", "s1"), ("h2", "s1"), ("h1", "s2"), ("h2", "s2"), ("h1", "x1"), ("h2", "x1"), ("h3", "x1"), ("h3", "s2")]
    made = fabric(["h1", "h2", "h3"], ["s1", "s2", "s3", "x1", "o1"], links)
    for row in made["links"]["rows"][4:]:
        row[-1] = "scaleup"
    known = checker.CertifiedFabric(made)
    assert set(known.devices) == {"h1", "h2", "h3", "s1", "s2", "s3", "o1"}
    assert [(x.a, x.b) for x in known.links] == links[:4]
    via = made["links"]["columns"].index("via")
    made["links"]["rows"][4][via] = "o1"
    assert set(checker.CertifiedFabric(made).devices) == {"h1", "h2", "h3", "s1", "s2", "s3"}
    made["links"]["rows"][0][via] = "o1"
    assert set(checker.CertifiedFabric(made).devices) == {"h1", "h2", "h3", "s1", "s2", "s3", "o1"}
