"""Blast radius: the figure is the formula of its page, counted with networkx on small random fabrics; and through domains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.budget import DEFAULT
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tests.fabrics import Builder, claim, selector
from tests.harness import fabric_of
from tests.tables import sections


def leaves() -> Fabric:
    """Three leaves with 2, 4 and 3 hosts of two accelerators; the last host has a link to leaf 0, too."""
    b = Builder("leaves")
    host = b.devices("node", b.model("host", "NODE", {"nic": 2}, accelerators=2), 9)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": 16}), 3)
    for n in range(9):
        b.link(b.port(host, n), b.free(leaf, 0 if n < 2 else 1 if n < 6 else 2))
    b.link(b.port(host, 8, "nic", 1), b.free(leaf, 0))
    b.link(b.free(leaf, 0), b.free(leaf, 1))
    return b.build()


def judged(f: Fabric, path: str, most: int = DEFAULT.blast_elements, **given: object) -> Judgement:
    """The judgement of the blast radius of a set, of which at most so many kinds are failed."""
    asked = claim(f, "blast_radius", of=(selector(f, path),), report=True, **given)
    looked_at = f.network if "through" in given else f
    return checks_by_name()["blast_radius"].judge(View.whole(looked_at, replace(DEFAULT, blast_elements=most)), asked)


@pytest.mark.parametrize(("most", "status", "low", "high"), [(1, "bounded", 3, 10), (2, "bounded", 4, 10), (3, "proved", 4, 4)])
def test_elements_beyond_the_limit_are_not_judged(most: int, status: str, low: int, high: int) -> None:
    """Without leaf 0 its two hosts are cut off, and host 8 keeps one of two ports; without leaf 1 four hosts are cut off."""
    f = leaves()
    found = judged(f, "leaf", most)
    name, hosts, less = ("leaf[0]", 2, 1) if most == 1 else ("leaf[1]", 4, 0)
    at_least = "at least " * (status == "bounded")
    text = f"{at_least}{low} at {name}: {hosts} hosts cut off, {less} degraded ({2 * low} accelerators)"
    assert (found.status, found.text, found.value, found.lower, found.upper) == (status, text, low, low, high)
    facts = {"hosts_cut_off": hosts, "hosts_degraded": less, "accelerators": 2 * low, "judged": most}
    assert found.witness == {"element": name, "endpoints": low, **facts}


DOMAINS = sections(__file__)["domains"]


@pytest.fixture(scope="module")
def domains(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(DOMAINS, tmp_path_factory.mktemp("domains"), models=False)


@pytest.mark.parametrize(("path", "most", "low"), [("xbar", 2, 4), ("leaf", 1, 15)])
def test_elements_beyond_the_limit_through_domains(domains: Fabric, path: str, most: int, low: int) -> None:
    """Three domains of four accelerators, and a host of three in none."""
    found = judged(domains, path, most, through="scaleup")
    assert (found.status, found.value, found.lower, found.upper) == ("bounded", low, low, 15)
    assert found.text.startswith(f"at least {low} accelerators at ")
