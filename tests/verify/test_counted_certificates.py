"""Certificates of figures that the checker counts again, and of failing links, ports, cables and cages."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tdsl.certificates.checker import CertifiedFabric, Rejected, TooMuchWork, WorkSteps, maximum_flow_by_augmentation, verify
from tdsl.certificates.write import Certified, json_of_fabric_target, verified_certificates
from tests.harness import compile_text

MODELS = """
model host N { port nic[1..2]: 400Gbps; chip gpu: G }
model chip G { port lane: 400Gbps }
model switch SW { port p[1..32]: 400Gbps { cage 2 OSFP } }
model chip C { port l[1..8]: 100Gbps }
"""
CLOS = """fabric f {
  host node[8]: N
  switch leaf[4]: SW
  switch spine[2]: SW
  connect node[n].nic[1] to leaf[n//4]
  connect node[n].nic[2] to leaf[n//4+2]
  connect leaf[*] to spine[*] spread x 4
  report edge_redundancy
  report node_redundancy
  report mean_hops
  report blast_radius of leaf
  report blast_radius of spine, leaf[0], leaf[1]
  report survives any 1 links of leaf to spine with bisection >= 80% of intact
  report survives any 2 links of leaf to spine
  report survives any 1 ports of leaf
  report survives any 1 cables of leaf to spine
  report survives any 1 cages of leaf
  report survives any 1 of node.nic
}"""
MESH = """fabric f {
  chip c[3, 3]: C
  connect c[*] mesh
  report edge_redundancy
  report node_redundancy
  report mean_hops
  report blast_radius of c
  report survives any 1 links of c
}"""


HALF_BUILT = """fabric f {
  host node[8]: N
  switch leaf[4]: SW
  switch spine[4]: SW
  connect node[n].nic[1] to leaf[n//4]
  connect node[n].nic[2] to leaf[n//4+2]
  connect leaf[*] to spine[*] spread x 4
  omit node[6..7], spine[2..3]
  report oversubscription
}"""


CONDITIONS = """fabric f {
  host node[8]: N
  switch leaf[4]: SW
  switch spine[2]: SW
  connect node[n].nic[1] to leaf[n//4]
  connect node[n].nic[2] to leaf[n//4+2]
  connect leaf[*] to spine[*] spread x 4
  report survives any 1 of spine with diameter <= 2
  report survives any 1 of spine with mean_hops < 2
  report survives any 1 of leaf with edge_redundancy >= 1
  report survives any 1 links of leaf to spine with node_redundancy == 2
  report survives any 1 of leaf with bisection >= 2Tbps
  report survives any 1 of spine with oversubscription <= 4
}"""


SIDES = """fabric f {
  host node[8]: N
  switch leaf[4]: SW
  switch spine[2]: SW
  connect node[n].nic[1] to leaf[n//4]
  connect node[n].nic[2] to leaf[n//4+2]
  connect leaf[*] to spine[*] spread x 4
  report survives any 1 of spine with throughput of node[0..3] to node[4..7] >= 50%
  report survives any 1 of leaf with throughput of node[0..3] to node[4..7] == 1.6Tbps
  report survives any 1 links of leaf to spine with throughput of node[0..3] to node[4..7] >= 2.8Tbps
  report survives any 2 of node with throughput of node[0..3] to leaf[1], leaf[3] <= 100%
}"""
TIERS = """fabric f {
  host node[8]: N
  switch leaf[2]: SW
  switch spine[2]: SW
  switch core: SW
  connect node[n].nic[1] to leaf[n//4]
  connect leaf[*] to spine[*] spread x 4
  connect spine[*] to core each x 1
  report oversubscription
  report oversubscription at leaf
  report oversubscription at spine[1], leaf[0]
}"""


@cache
def design(text: str, folder: Path) -> tuple[Any, Certified]:
    (made,) = compile_text(text + MODELS, folder, models=False).designs
    assert made.fabric is not None, made.findings
    return json.loads(json_of_fabric_target(made.fabric)), verified_certificates(made.fabric, made.claims, made.results)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


def is_rejected(certificate: Any, fabric: Any) -> bool:
    try:
        verify(certificate, fabric)
    except Rejected:
        return True
    return False


FIGURES = {
    CLOS: {
        "edge_redundancy": 2,
        "node_redundancy": 2,
        "mean_hops": "11/7",
        "oversubscription": "1",
        "blast_radius-1": 4,
        "blast_radius-2": 4,
    },
    MESH: {"edge_redundancy": 2, "node_redundancy": 2, "mean_hops": "2", "blast_radius-1": 1},
}


@pytest.mark.parametrize("text", [CLOS, MESH])
def test_figures_that_are_counted_again(text: str, folder: Path) -> None:
    fabric, made = design(text, folder)
    assert not made.rejected and not made.left_out
    for name, value in FIGURES[text].items():
        certificate = json.loads(made.texts[f"{name}.json"])
        assert certificate["value"] == value
        for other in ("0", 0, 1, 3, "3/2", None, True, 10**9):
            if other != value and isinstance(other, str) == isinstance(value, str):
                assert is_rejected(certificate | {"value": other}, fabric), (name, other)
        with pytest.raises(TooMuchWork):
            verify(certificate, fabric, steps=20)


def test_ratios_of_a_half_built_fabric(folder: Path) -> None:
    """Hosts that will come count below; spines that will come do not count above."""
    fabric, made = design(HALF_BUILT, folder)
    assert not made.rejected and not made.left_out
    assert sum(links for _, _, _, links in fabric["planned_links"]["rows"]) == 12
    certificate = json.loads(made.texts["oversubscription.json"])
    assert certificate["value"] == "2"
    assert is_rejected(certificate | {"value": "1"}, fabric) and is_rejected(certificate | {"value": "3/2"}, fabric)
    planned = deepcopy(fabric)
    planned["planned_links"]["rows"].clear()
    verify(certificate, planned)  # the other leaf is full
    for row in planned["links"]["rows"]:
        if {"leaf0", "leaf2"} & {*row[:6]} and {"spine0", "spine1"} & {*row[:6]}:
            row[6] *= 2
    assert is_rejected(certificate, planned)
    planned["planned_links"]["rows"] = fabric["planned_links"]["rows"]
    verify(certificate, planned)
    planned["planned_links"]["rows"][1][2] = -1
    assert is_rejected(certificate, planned)


def test_ratios_of_some_switches(folder: Path) -> None:
    """Each of the switches that it names; the ratio of others is none of theirs."""
    fabric, made = design(TIERS, folder)
    assert not made.rejected and not made.left_out
    found = {name: json.loads(text) for name, text in made.texts.items() if name.startswith("oversubscription")}
    assert [(c["value"], c.get("at")) for c in found.values()] == [("4", None), ("1", ["leaf"]), ("4", ["leaf[0]", "spine[1]"])]
    for certificate in found.values():
        value = certificate["value"]
        for at in (None, [], ["absent"], ["leaf", "leaf"], ["core"], ["node"]):
            assert is_rejected(certificate | {"at": at}, fabric), at
        for at, ratio in ((["spine"], "4"), (["leaf[1]"], "1"), (["leaf", "core"], "1"), (["node", "leaf[0]"], "1")):
            assert is_rejected(certificate | {"at": at}, fabric) == (ratio != value), at
        assert is_rejected(certificate | {"value": "2"}, fabric)


def test_throughput_of_two_sets_after_failures(folder: Path) -> None:
    fabric, made = design(SIDES, folder)
    assert not made.rejected and not made.left_out
    found = survivals(made)
    assert [c["condition"]["share"] for c in found] == ["left", None, None, "left"]
    for certificate in found:
        condition = certificate["condition"]
        assert all(c["left"].keys() == {"check", "lower", "upper", "lower_bps", "upper_bps"} for c in certificate["cases"])
        values = [Fraction(condition["value"]) * x for x in (Fraction(9, 8), Fraction(7, 8))]
        harder = [v for v in values if condition["op"] == "==" or (v > Fraction(condition["value"])) == (">" in condition["op"])]
        changes = [{"value": str(v)} for v in harder]
        changes += [{"share": "intact"}] + [{"share": "left"}] * (condition["share"] is None)
        changes += [{"from": []}, {"to": ["absent"]}, {"from": condition["to"]}, {"from": ["node"]}, {"check": "bisection"}]
        for change in changes:
            assert is_rejected(certificate | {"condition": condition | change}, fabric), change
        for i, case in enumerate(certificate["cases"]):
            assert is_rejected(certificate | {"cases": [c for c in certificate["cases"] if c is not case]}, fabric)
            for key, value in (("lower_bps", "9" * 20), ("upper_bps", "1"), ("pattern", "between"), ("from", ["node0"])):
                wrong = deepcopy(certificate)
                wrong["cases"][i]["left"][key] = value
                assert is_rejected(wrong, fabric), key
        assert is_rejected(certificate | {"symmetries": []}, fabric)


def test_a_symmetry_keeps_the_two_sets(folder: Path) -> None:
    """Hosts that are exchanged between the sets, though no link changes: the other leaf would be judged by the one."""
    fabric, made = design(SIDES, folder)
    one = survivals(made)[1]
    turned = {f"node{n}": f"node{(n + 4) % 8}" for n in range(8)} | {f"leaf{n}": f"leaf{n ^ 1}" for n in range(4)}
    assert is_rejected(one | {"symmetries": [*one["symmetries"], turned]}, fabric)
    both = {f"node{n}": f"node{n ^ 1}" for n in range(8)}
    verify(one | {"symmetries": [*one["symmetries"], both]}, fabric)


def test_a_link_less_is_another_figure(folder: Path) -> None:
    fabric, made = design(CLOS, folder)
    fewer = deepcopy(fabric)
    del fewer["links"]["rows"][0]
    for name in ("edge_redundancy", "node_redundancy"):
        assert is_rejected(json.loads(made.texts[f"{name}.json"]), fewer)
    fewer["links"]["rows"] = [x for x in fabric["links"]["rows"] if not {"leaf0", "spine0"} <= {*x[:6]}]
    assert is_rejected(json.loads(made.texts["bisection.json"]), fewer)


def survivals(made: Certified) -> list[Any]:
    return [json.loads(text) for name, text in made.texts.items() if name.startswith("survives")]


def test_failing_links_ports_cables_and_cages(folder: Path) -> None:
    fabric, made = design(CLOS, folder)
    found = survivals(made)
    assert [c["what"] for c in found] == ["links", "links", "ports", "cables", "cages", "links"]
    for certificate in found:
        for i in range(len(certificate["cases"])):
            less = deepcopy(certificate)
            del less["cases"][i]
            assert is_rejected(less, fabric)
        assert is_rejected(certificate | {"what": "hosts"}, fabric)
        assert is_rejected(certificate | {"of": []}, fabric)
        assert is_rejected(certificate | {"of": ["absent"]}, fabric)
        assert is_rejected(certificate | {"count": certificate["count"] + 1}, fabric)
        if certificate["what"] not in ("cables", "cages"):
            assert is_rejected(certificate | {"symmetries": []}, fabric)
    harder = deepcopy(found[0])
    harder["condition"]["value"] = "9/10"
    assert is_rejected(harder, fabric)


def test_conditions_of_every_figure_that_is_counted(folder: Path) -> None:
    fabric, made = design(CONDITIONS, folder)
    assert not made.rejected and not made.left_out
    found = survivals(made)
    checks = [c["condition"]["check"] for c in found]
    assert checks == ["diameter", "mean_hops", "edge_redundancy", "node_redundancy"]  # the others do not hold, or have none
    for certificate, value, op in zip(found, (1, "11/7", 2, 1), ("<", "<=", ">", "<"), strict=True):
        for condition in ({"value": value}, {"op": op}, {"share": "left"}, {"check": "bisection"}, {"check": "reachability"}):
            wrong = certificate | {"condition": certificate["condition"] | condition}
            assert is_rejected(wrong, fabric) or (condition == {"op": "<="} and op == "<="), condition
        for i, case in enumerate(certificate["cases"]):
            wrong = deepcopy(certificate)
            wrong["cases"][i]["left"]["value"] = str(Fraction(case["left"]["value"]) + 1)
            assert is_rejected(wrong, fabric)
        assert is_rejected(certificate | {"cases": []}, fabric)


def test_the_figures_are_those_of_what_fails(folder: Path) -> None:
    """The elements that the checker finds, by their names."""
    fabric = CertifiedFabric(design(CLOS, folder)[0])
    links = fabric.elements(["leaf"], "links", ["spine"])
    assert len(links) == 16 and "leaf[0].p[5] - spine[0].p[1]" in links
    assert len(fabric.elements(["leaf"], "links", None)) == 32
    assert len(fabric.elements(["leaf[0]"], "ports")) == 8
    cages = fabric.elements(["leaf[0]"], "cages")
    assert len(cages) == 4 and all(len(rows) == 2 for _, rows in cages.values())
    assert len(fabric.elements(["leaf[0]"], "cages", ["spine"])) == 2
    (one,) = fabric.elements(["node[0].nic[1]"], "ports").items()
    assert one[0] == "node[0].nic[1]" and len(one[1][1]) == 1


def test_sets_of_links_are_not_exchanged(folder: Path) -> None:
    """Two cages with equal links are not alike where another element holds a link of one of them."""
    fabric, made = design(CLOS, folder)
    cages = next(c for c in survivals(made) if c["what"] == "cages")
    exchange = next(c for c in survivals(made) if c["symmetries"])["symmetries"]
    assert is_rejected(cages | {"symmetries": exchange}, fabric)
    assert is_rejected(cages | {"symmetries": exchange, "cases": cages["cases"][:1]}, fabric)


def test_a_flow_stops_at_what_is_asked() -> None:
    room = {"a": {"b": 3, "c": 2}, "b": {"d": 2, "c": 5}, "c": {"d": 4}}
    assert maximum_flow_by_augmentation(deepcopy(room), "a", "d", 3, WorkSteps()) == 3
    assert maximum_flow_by_augmentation(room, "a", "d", 99, WorkSteps()) == 5
    assert maximum_flow_by_augmentation({}, "a", "d", 1, WorkSteps()) == 0
