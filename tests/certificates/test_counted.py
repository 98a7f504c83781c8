"""Certificates of counted figures and of failing links, ports, cables and cages: each change of them is rejected."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tdsl.certificates.checker import Rejected, TooMuchWork, verify
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


def test_sets_of_links_are_not_exchanged(folder: Path) -> None:
    """Two cages with equal links are not alike where another element holds a link of one of them."""
    fabric, made = design(CLOS, folder)
    cages = next(c for c in survivals(made) if c["what"] == "cages")
    exchange = next(c for c in survivals(made) if c["symmetries"])["symmetries"]
    assert is_rejected(cages | {"symmetries": exchange}, fabric)
    assert is_rejected(cages | {"symmetries": exchange, "cases": cages["cases"][:1]}, fabric)
