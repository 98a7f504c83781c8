"""Certificates of what survives failing devices, links, ports, cables and cages: each change of them is rejected."""

from __future__ import annotations

import json
from copy import deepcopy
from fractions import Fraction
from typing import Any

import pytest

from tdsl.certificates.checker import verify
from tests.certificates.made import design, rejected
from tests.tables import sections

TWO_NICS = sections(__file__)["two nics"]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[Any]]:
    """The fabric and its certificates, in the order of the design."""
    fabric, made = design(TWO_NICS, tmp_path_factory.mktemp("designs"))
    assert not made.rejected
    numbers = sorted(int(name.split("-")[1].split(".")[0]) for name in made.texts if name.startswith("survives"))
    return json.loads(fabric), [json.loads(made.texts[f"survives-{n}.json"]) for n in numbers]


def test_what_failures_are_shown_cannot_be_changed(found: tuple[Any, list[Any]]) -> None:
    fabric, certificates = found
    assert [c.get("what") for c in certificates] == [
        "links",
        "links",
        "ports",
        "cables",
        "cages",
        "links",
        None,
        None,
        "links",
        None,
    ]
    for certificate in certificates:
        changes: list[dict[str, Any]] = [{"what": "hosts"}, {"of": []}, {"of": ["absent"]}, {"count": certificate["count"] + 1}]
        changes += [{"cases": [c for c in certificate["cases"] if c is not case]} for case in certificate["cases"]]
        if certificate.get("what") not in ("cables", "cages"):
            changes += [{"symmetries": []}]
        for change in changes:
            assert rejected(certificate | change, fabric), change


def test_what_is_left_cannot_be_changed(found: tuple[Any, list[Any]]) -> None:
    """The condition, harder or of others, and the figure of each case."""
    fabric, certificates = found
    between = [c for c in certificates if c["condition"]["check"] == "throughput"]
    assert [c["condition"]["share"] for c in between] == ["left", None, None, "left"]
    for certificate in between:
        condition = certificate["condition"]
        assert all(c["left"].keys() == {"check", "lower", "upper", "lower_bps", "upper_bps"} for c in certificate["cases"])
        value = Fraction(condition["value"])
        harder = [v for v in (value * 9 / 8, value * 7 / 8) if condition["op"] == "==" or (v > value) == (">" in condition["op"])]
        changes: list[dict[str, Any]] = [{"value": str(v)} for v in harder]
        changes += [{"share": "intact"}] + [{"share": "left"}] * (condition["share"] is None)
        changes += [{"from": []}, {"to": ["absent"]}, {"from": condition["to"]}, {"from": ["node"]}, {"check": "bisection"}]
        for change in changes:
            assert rejected(certificate | {"condition": condition | change}, fabric), change
        for i in range(len(certificate["cases"])):
            for key, wrong in (("lower_bps", "9" * 20), ("upper_bps", "1"), ("pattern", "between"), ("from", ["node0"])):
                other = deepcopy(certificate)
                other["cases"][i]["left"][key] = wrong
                assert rejected(other, fabric), key
    halves = certificates[0]
    assert rejected(halves | {"condition": halves["condition"] | {"value": "9/10"}}, fabric)


def test_what_a_symmetry_may_exchange(found: tuple[Any, list[Any]]) -> None:
    """No hosts between the two sets, though no link changes; no cages with equal links where another holds a link of one."""
    fabric, certificates = found
    one = next(c for c in certificates if c["condition"].get("value") == str(1600 * 10**9))
    turned = {f"node{n}": f"node{(n + 4) % 8}" for n in range(8)} | {f"leaf{n}": f"leaf{n ^ 1}" for n in range(4)}
    assert rejected(one | {"symmetries": [*one["symmetries"], turned]}, fabric)
    verify(one | {"symmetries": [*one["symmetries"], {f"node{n}": f"node{n ^ 1}" for n in range(8)}]}, fabric)
    cages = next(c for c in certificates if c.get("what") == "cages")
    exchange = next(c for c in certificates if c["symmetries"])["symmetries"]
    for cases in (cages["cases"], cages["cases"][:1]):
        assert rejected(cages | {"symmetries": exchange, "cases": cases}, fabric)
