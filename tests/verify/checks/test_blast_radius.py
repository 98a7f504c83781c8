"""Blast radius: the figure is the formula of its page, counted with networkx on small random fabrics; and through domains."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.prove.budget import DEFAULT
from tdsl.prove.view import View
from tdsl.verify.check import Judgement, checks_by_name
from tests.fabrics import Builder, claim, selector
from tests.harness import compile_text, fabric_of


def test_a_host_that_is_isolated_already_counts(tmp_path):
    """node[2] is alone on leaf[1]: its two ports reach no other host, whichever leaf fails."""
    text = """
    model host N { port nic[2]: 400Gbps; chip gpu: G }
    model chip G { port lane: 400Gbps }
    model switch SW { port p[1..16]: 400Gbps }
    fabric f { host node[3]: N; switch leaf[2]: SW; connect node[n].nic[i] to leaf[n//2]; report blast_radius of leaf }
    """
    result = next(r for r in compile_text(text, tmp_path, models=False).designs[0].results if r.check == "blast_radius")
    assert (result.value, result.witness["element"]) == (6, "leaf[0]")
    assert (result.witness["hosts_cut_off"], result.witness["hosts_degraded"]) == (3, 0)


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


DOMAINS = """
model chip ACC { port nv: 400Gbps { type NVLINK5 } }
model switch XBAR { port p[16]: 400Gbps { type NVLINK5 } }
model host TRAY { port nic[2]: 400Gbps { type NDR }; chip gpu[2]: ACC }
model host THIN { port nic[2]: 400Gbps { type NDR }; chip gpu[3]: ACC }
model switch SW16 { port p[1..16]: 400Gbps { type NDR } }
fabric f {
  group rack[3] {
    host tray[2]: TRAY
    switch xbar: XBAR
    connect tray[t].gpu[g].nv to xbar { layer scaleup; medium backplane }
  }
  host thin: THIN
  switch leaf[2]: SW16
  switch spine: SW16
  connect rack[k].tray[t].nic[r] to leaf[r]
  connect thin.nic[0] to leaf[0]
  connect leaf[*] to spine spread x 2
}
"""


@pytest.fixture(scope="module")
def domains(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(DOMAINS, tmp_path_factory.mktemp("domains"), models=False)


@pytest.mark.parametrize(
    ("path", "most", "text", "low", "high"),
    [
        # A domain has two trays of two accelerators; there are three, and a host of three accelerators in none.
        ("xbar", 3, "4 accelerators at rack[0].xbar, 1 scale-up domain of them", 4, 4),
        ("xbar", 2, "at least 4 accelerators at rack[0].xbar, 1 scale-up domain of them", 4, 15),
        ("tray", 6, "4 accelerators at rack[0].tray[0], 1 scale-up domain of them", 4, 4),
        ("rack", 3, "4 accelerators at rack[0], 1 scale-up domain of them", 4, 4),
        # The last host has its only port at leaf 0.
        ("leaf", 2, "15 accelerators at leaf[0], 0 scale-up domains of them", 15, 15),
        ("leaf", 1, "at least 15 accelerators at leaf[0], 0 scale-up domains of them", 15, 15),
        ("thin", 1, "3 accelerators at thin, 0 scale-up domains of them", 3, 3),
        ("spine", 1, "0 accelerators at spine, 0 scale-up domains of them", 0, 0),
    ],
)
def test_failures_through_domains(domains: Fabric, path: str, most: int, text: str, low: int, high: int) -> None:
    found = judged(domains, path, most, through="scaleup")
    assert (found.text, found.value, found.lower, found.upper) == (text, low, low, high)
    assert found.status == ("bounded" if text.startswith("at least") else "proved")
    name = text.removeprefix("at least ").split(" at ")[1].split(",")[0]
    count = int(text.split(", ")[-1].split()[0])
    assert found.witness == {"element": name, "accelerators": low, "domains": count}


TIERS = """
fabric f {
  group rack[2] {
    host tray[2]: TRAY
    switch xbar: XBAR
    connect tray[t].gpu[g].nv to xbar { layer scaleup; medium backplane }
  }
  host alone[2]: TRAY
  switch other: XBAR
  switch top: XBAR
  switch leaf[2]: SW16
  connect rack[*].xbar to top spread x 2 { layer scaleup; medium backplane }
  connect alone[t].gpu[g].nv to other { layer scaleup; medium backplane }
  connect rack[k].tray[t].nic[r] to leaf[r]
  connect alone[t].nic[r] to leaf[r]
}
"""


def test_a_domain_of_two_tiers_of_switches(tmp_path: Path) -> None:
    """Four trays of two accelerators are one domain, over a switch above those of the racks; two more are another."""
    made = fabric_of(DOMAINS.split("fabric f")[0] + TIERS, tmp_path, models=False)
    for path, count in (("top", 8), ("rack.xbar", 8), ("rack.tray", 8), ("other", 4), ("alone", 4)):
        found = judged(made, path, through="scaleup")
        assert (found.value, found.witness["domains"]) == (count, 1), path
