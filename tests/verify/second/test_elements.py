"""Second opinions about several elements: the one that speaks for all, and the pairing of results with requirements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.verify.runner import judge_requirements
from tdsl.verify.second.judge import Opinion, SecondOpinionJudge, results_with_claims
from tests.fabrics import Builder, claim, selector


def leaves() -> Fabric:
    """Three leaves with 2, 4 and 3 hosts and 4, 1 and 2 links to a spine."""
    b = Builder("leaves")
    host = b.devices("node", b.model("host", "NODE", {"nic": 1}), 9)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 16}), 3)
    spine = b.devices("spine", b.model("switch", "SP", {"p": 16}), 1)
    n = 0
    for at, (hosts, up) in enumerate(((2, 4), (4, 1), (3, 2))):
        for _ in range(hosts):
            b.link(b.port(host, n), b.free(leaf, at))
            n += 1
        for _ in range(up):
            b.link(b.free(leaf, at), b.free(spine, 0))
    return b.build()


FABRIC = leaves()


def opinion(metric: str, op: str, value: object, says: int) -> Opinion | None:
    """The opinion on a result with this figure."""
    asked = claim(FABRIC, metric, op, value, of=(selector(FABRIC, "leaf"),), report=not op)
    found = next(r for r, c in results_with_claims([asked], judge_requirements(FABRIC, [asked], Diagnostics())) if c is asked)
    return SecondOpinionJudge(FABRIC).opinion(replace(found, lower=says, upper=says, status="proved"), asked)


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
    for figure in (says - 1, says, says + 1):
        found = opinion(metric, op, value, figure)
        assert found is not None
        assert found.verdict == ("confirmed" if figure == says else "disagrees"), (figure, found)


def test_scarce_figures_without_a_comparison() -> None:
    """Groups of which one is joined by a single link, and one by two: the report is of the least."""
    b = Builder("groups")
    host = b.devices("su.node", b.model("host", "NODE", {"nic": 2}), 2, 2)
    leaf = b.devices("su.leaf", b.model("switch", "SW", {"p": 16}), 2, 2)
    for n in range(4):
        for i in range(2):
            if n != 1 or i == 0:
                b.link(b.port(host, n, "nic", i), b.free(leaf, n // 2 * 2 + i))
    for su in range(2):
        b.link(b.free(leaf, 2 * su), b.free(leaf, 2 * su + 1))
    fabric = b.build()
    asked = claim(fabric, "edge_redundancy", report=True, of=(selector(fabric, "su"),))
    found = next(r for r, c in results_with_claims([asked], judge_requirements(fabric, [asked], Diagnostics())) if c is asked)
    for figure, verdict in ((1, "confirmed"), (2, "disagrees")):
        said = SecondOpinionJudge(fabric).opinion(replace(found, lower=figure, upper=figure), asked)
        assert said is not None and said.verdict == verdict


def test_yes_and_no_of_several_elements() -> None:
    """Of two groups the hosts of one reach each other, and those of the other do not."""
    b = Builder("groups")
    host = b.devices("su.node", b.model("host", "NODE", {"nic": 1}), 2, 2)
    leaf = b.devices("su.leaf", b.model("switch", "SW", {"p": 16}), 2, 2)
    for n, at in enumerate((0, 0, 2, 3)):
        b.link(b.port(host, n), b.free(leaf, at))
    fabric = b.build()
    asked = claim(fabric, "reachability", of=(selector(fabric, "su"),))
    found = next(r for r, c in results_with_claims([asked], judge_requirements(fabric, [asked], Diagnostics())) if c is asked)
    for status, verdict in (("refuted", "confirmed"), ("proved", "disagrees")):
        said = SecondOpinionJudge(fabric).opinion(replace(found, status=status), asked)  # type: ignore[arg-type]
        assert said is not None and said.verdict == verdict


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
    other = replace(last[0], scope="su[0]")
    assert list(results_with_claims(asked, [other])) == []
    assert list(results_with_claims(asked, [replace(last[0], check="cables")])) == []


@pytest.mark.parametrize(("above", "verdict"), [(Fraction(1, 10**7), "confirmed"), (Fraction(1, 10**5), "disagrees")])
def test_figures_within_the_error_of_floats(above: Fraction, verdict: str) -> None:
    """The program's figure is exact to a millionth; an upper bound that is infinite does not make that less."""
    asked = claim(FABRIC, "throughput", args=("ring",), report=True)
    found = next(r for r, c in results_with_claims([asked], judge_requirements(FABRIC, [asked], Diagnostics())) if c is asked)
    assert isinstance(found.lower, Fraction)
    said = SecondOpinionJudge(FABRIC).opinion(
        replace(found, lower=found.lower + above, upper=float("inf"), status="bounded"), asked
    )
    assert said is not None and said.verdict == verdict
