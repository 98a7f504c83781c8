"""Second opinions about several elements: the one that speaks for all, and the pairing of results with requirements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.verify.runner import judge_requirements
from tdsl.verify.second.judge import SecondOpinionJudge, results_with_claims
from tests.fabrics import Builder, claim, selector
from tests.verify.second.made import judged_result


def leaves() -> Fabric:
    """Three leaves with 2, 4 and 3 hosts and 4, 1 and 2 links to a spine."""
    b = Builder("leaves")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), 9)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 16}), 3)
    spine = b.devices("spine", b.model("switch", "SP", {"p": 16}), 1)
    for n, at in enumerate((0, 0, 1, 1, 1, 1, 2, 2, 2)):
        b.link(b.port(host, n), b.free(leaf, at))
    for at in (0, 0, 0, 0, 1, 2, 2):
        b.link(b.free(leaf, at), b.free(spine, 0))
    return b.build()


def groups(*hosts: tuple[int, ...], joined: bool) -> Fabric:
    """Two groups of two hosts and two leaves; of each host the leaves that it has a link to."""
    b = Builder("groups")
    host = b.devices("su.node", b.model("host", "NODE", {"nic": 2}), 2, 2)
    leaf = b.devices("su.leaf", b.model("switch", "SW", {"p": 16}), 2, 2)
    for n, at in enumerate(hosts):
        for x in at:
            b.link(b.free(host, n), b.free(leaf, x))
    for su in (0, 1) if joined else ():
        b.link(b.free(leaf, 2 * su), b.free(leaf, 2 * su + 1))
    return b.build()


FABRIC = leaves()


def verdict(fabric: Fabric, asked: Any, **says: Any) -> str:
    """The verdict on a result of which some facts are exchanged."""
    found = SecondOpinionJudge(fabric).opinion(replace(judged_result(fabric, asked), **says), asked)
    assert found is not None
    return found.verdict


@pytest.mark.parametrize(
    ("metric", "op", "value", "says"),
    [
        # Leaf 0 has 6 links, leaf 1 has 5 and leaf 2 has 5.
        ("links", "<=", 6, 6),
        ("links", "<", 7, 6),
        ("links", ">=", 5, 5),
        ("links", ">", 4, 5),
        ("links", "", None, 6),
        ("switches", "<=", 1, 1),
        # Between the hosts of a leaf there is one path each.
        ("edge_redundancy", ">=", 1, 1),
        ("edge_redundancy", "", None, 1),
        # 2:4, 4:1 and 3:2.
        ("taper", "<=", 4, 4),
    ],
)
def test_the_element_that_speaks(metric: str, op: str, value: object, says: int) -> None:
    asked = claim(FABRIC, metric, op, value, of=(selector(FABRIC, "leaf"),), report=not op)
    found = [verdict(FABRIC, asked, lower=x, upper=x, status="proved") for x in (says - 1, says, says + 1)]
    assert found == ["disagrees", "confirmed", "disagrees"]


def test_groups_of_which_the_worst_speaks() -> None:
    """One is joined by a single link, and one by two: the report is of the least. In one hosts do not reach each other."""
    uneven, apart = groups((0, 1), (0,), (2, 3), (2, 3), joined=True), groups((0,), (0,), (2,), (3,), joined=False)
    asked = claim(uneven, "edge_redundancy", report=True, of=(selector(uneven, "su"),))
    assert [verdict(uneven, asked, lower=x, upper=x) for x in (1, 2)] == ["confirmed", "disagrees"]
    asked = claim(apart, "reachability", of=(selector(apart, "su"),))
    assert [verdict(apart, asked, status=x) for x in ("refuted", "proved")] == ["confirmed", "disagrees"]


def test_results_and_their_requirements() -> None:
    """Requirements without a result are passed over, results of no requirement come alone; equal ones stay in order."""
    asked = [claim(FABRIC, "links", "==", n) for n in (16, 17, 16)]
    results = judge_requirements(FABRIC, asked, Diagnostics())
    found = list(results_with_claims(asked, results))
    assert [r for r, _ in found] == list(results)
    assert [c for r, c in found if r.requirement is not None] == asked
    assert all(c is None for r, c in found if r.requirement is None)
    last = [r for r in results if r.requirement is not None][1:]
    assert [c for _, c in results_with_claims(asked, last)] == asked[1:]
    assert list(results_with_claims(asked[:1], last[:1])) == []
    for other in ({"scope": "su[0]"}, {"check": "cables"}):
        assert list(results_with_claims(asked, [replace(last[0], **other)])) == []


@pytest.mark.parametrize(("above", "said"), [(Fraction(1, 10**7), "confirmed"), (Fraction(1, 10**5), "disagrees")])
def test_figures_within_the_error_of_floats(above: Fraction, said: str) -> None:
    """The program's figure is exact to a millionth; an upper bound that is infinite does not make that less."""
    asked = claim(FABRIC, "throughput", args=("ring",), report=True)
    low: Any = judged_result(FABRIC, asked).lower
    assert verdict(FABRIC, asked, lower=low + above, upper=float("inf"), status="bounded") == said
