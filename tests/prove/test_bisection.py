"""Bisection: published figures, tori, trees and dragonflies, and designs that one method alone settles."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import verify
from tdsl.compile.compiler import Options, compile_without_checks
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Severity
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.network import Network
from tdsl.prove.node_connectivity import least_separator_bounds
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.certificates.made import as_json, made
from tests.fabrics import GBPS, Builder, multiplane, rail_only, scale_up, superpod, torus, without
from tests.harness import compile_text, fabric_of
from tests.verify.judges import redundancy

FAT = """
fabric f {{
  group pod[{k}] {{
    group rack[{h}] {{ host node[{h}]: ONE; switch edge: WIDE; connect node[*].nic to edge each }}
    switch agg[{h}]: WIDE
    connect rack[*].edge to agg[*] each
  }}
  switch core[{h} * {h}]: WIDE
  connect pod[p].agg[a] to core[a * {h}..a * {h} + {h} - 1] each
}}
model switch WIDE {{ port p[1..64]: 400Gbps {{ type NDR }} }}
model host ONE {{ port nic: 400Gbps {{ type NDR }}; chip gpu: GPU }}
"""
AIMS = ["1:1", "2:1", "3:1", "3:2", "4:3", "1:2", "at most 7:1", "about 5:3"]
MODELS = """
model switch S {{ port p[1..{ports}]: 400Gbps {{ type GE }} }}
model host N {{ port nic[{links}]: 400Gbps {{ type GE }} }}
"""


def judge(fabric, given=None):
    return checks_by_name()["bisection"].judge(View.whole(fabric), given)


@pytest.mark.parametrize(("units", "spines", "ports"), [(1, 4, 120), (2, 8, 248), (3, 16, 376), (4, 16, 504)])
def test_a_superpod_of_every_size_has_full_bisection(units, spines, ports):
    found = judge(superpod(units=units, spines=spines).build())
    assert (found.status, found.value, found.lower, found.upper) == ("proved", 1, 1, 1)
    assert found.measures["lower_links"] == found.measures["upper_links"] == ports
    assert found.measures["lower_bps"] == ports * 400e9


def lose(f, *paths):
    gone = [d for d in range(f.device_count) if f.device_path(d) in paths]
    assert len(gone) == len(paths)
    return without(f, np.flatnonzero(np.isin(f.device_a, gone) | np.isin(f.device_b, gone)))


@pytest.mark.parametrize(
    ("omit", "lost", "value", "links"),
    [
        (False, ["spine[7]"], Fraction(15, 16), 480),
        (True, ["spine[7]"], Fraction(20, 21), 480),
        (True, ["spine[0]", "spine[1]"], Fraction(448, 504), 448),
    ],
)
def test_a_lost_spine(omit, lost, value, links):
    found = judge(lose(superpod(omit_last=omit).build(), *lost))
    assert (found.status, found.value, found.measures["upper_links"]) == ("proved", value, links)
    assert found.witness["cut_links"] == links and found.witness["cut_classes"] == {"leaf-spine": links}
    assert sum(found.witness["split"]) == (127 if omit else 128)
    assert all(name.startswith("su[") for side in found.witness["sides"] for name in side)


def test_one_lost_link_costs_one_link():
    f = superpod().build()
    trunk = int(np.flatnonzero(f.is_switch[f.device_a])[9])
    assert judge(without(f, [trunk])).value == Fraction(503, 504)


def test_planes_rails_and_scale_up_domains_are_added_under_one_split():
    for built, ports in ((multiplane(), 32), (rail_only(), 16), (scale_up(), 36)):
        found = judge(built.build())
        assert (found.status, found.value, found.measures["lower_links"]) == ("proved", 1, ports)


def test_fewer_than_two_hosts_and_hosts_without_links():
    assert judge(superpod(units=1, nodes=1, omit_last=False, spines=1).build()).status == "skipped"
    f = superpod(units=1, nodes=2, omit_last=False, spines=1).build()
    assert judge(without(f, np.arange(f.link_count))).status == "skipped"


def test_rates_without_a_common_divisor():
    f = superpod().build()
    f.link_rate[f.is_switch[f.device_a]] += 1
    found = judge(f)
    assert (found.status, found.value) == ("proved", 1) and "lower_links" not in found.measures


def test_a_fat_tree_that_lost_links(tmp_path):
    """k³/4 hosts at full bisection (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008), less no more than what failed."""
    f = fabric_of(FAT.format(k=8, h=4), tmp_path)
    half = 8**3 // 8
    trunks = np.flatnonzero(f.is_switch[f.device_a])
    lost = np.random.default_rng(8).choice(trunks, 4, replace=False)
    g = without(f, np.sort(lost).tolist())
    found = bisection_bounds(View.whole(g))
    assert half - len(lost) <= found.lower <= found.upper <= half and found.upper - found.lower <= len(lost)
    for certificate in made(g).values():
        verify(certificate, as_json(g))


@pytest.mark.parametrize(
    ("sizes", "links"),
    [
        ((5, 5), 12),
        ((7, 3), 8),
        ((3, 7), 8),
        ((3, 3, 3), 26),
        ((4, 3, 3), 18),
        ((7, 5), 12),
        ((7, 7), 16),
        ((5, 3, 2), 18),
    ],
)
def test_odd_tori(sizes, links):
    """Exact by an order of the chips. Two rows and what is between them: 2 x 5 + 2 of 5 x 5, 2 x 7 + 2 of 7 x 7."""
    found = bisection_bounds(View.whole(torus(*sizes).build()))
    assert (found.lower, found.upper) == (links, links)


@pytest.mark.parametrize(
    ("hosts", "rails", "ports", "over", "links"),
    [
        (
            68,
            "planes 8",
            24,
            "5:1",
            112,
        ),  # each plane: 20, 20, 20 and 8 hosts behind 4 uplinks; one leaf is divided
        (171, "", 16, "1:1", 66),
        (112, "", 24, "7:1", 16),
        (119, "planes 8", 24, "2:1", 280),
        (66, "planes 8", 16, "3:1", 120),
    ],
)
def test_over_and_undersubscribed_clos(hosts, rails, ports, over, links, tmp_path):
    text = f"""
model switch L {{ port p[1..{ports}]: 400Gbps {{ type GE }} }}
model switch B {{ port p[1..576]: 400Gbps {{ type GE }} }}
model host N {{ port nic[{rails[-1:] or 1}]: 400Gbps {{ type GE }} }}
fabric f {{
  hosts {hosts} x N
  {rails}
  clos {{ leaf L; spine {"B" if hosts == 66 else "L"}; oversubscription {over} }}
}}
"""
    result = compile_text(text, tmp_path, verify=False)
    assert {d.code for d in result.findings} <= {"E0461", "E0464"}  # 171 hosts: a leaf meets 8 of 11 spines
    found = bisection_bounds(View.whole(result.designs[0].fabric))
    assert (found.lower, found.upper) == (links, links)


@st.composite
def intents(draw: st.DrawFn) -> str:
    links = draw(st.sampled_from([1, 1, 2, 4]))
    inside = f"{draw(st.sampled_from(['rails', 'planes']))} {links}" if links > 1 else ""
    ports = draw(st.sampled_from([16, 32, 64]))
    omitted = "; omit spine[1]" if draw(st.booleans()) else ""
    if draw(st.booleans()):
        hosts = draw(st.integers(3, 200))
        clos = f"clos {{ leaf S; spine S; oversubscription {draw(st.sampled_from(AIMS))}{omitted} }}"
    else:
        each, racks, pods = (draw(st.sampled_from(x)) for x in ([2, 4, 8], range(2, 6), range(2, 6)))
        hosts = each * racks * pods
        clos = f"""clos {{
          tier rack of {each} hosts {{ switch S }}
          tier pod of {racks} rack {{ switch S; oversubscription {draw(st.sampled_from(AIMS))} }}
          tier core of {pods} pod {{ switch S; oversubscription {draw(st.sampled_from(AIMS))} }}
        }}"""
    return MODELS.format(ports=ports, links=links) + f"fabric f {{\n hosts {hosts} x N\n {inside}\n {clos}\n}}"


def is_clos(net: Network) -> bool:
    """Whether switches of a tier meet the same ones of the next tier, or none in common."""
    joined = np.zeros((len(net.transit), len(net.transit)), dtype=np.bool_)
    joined[net.trunks.a, net.trunks.b] = joined[net.trunks.b, net.trunks.a] = True
    for tier in range(1, int(net.tier.max(initial=0))):
        up = joined[np.ix_(net.tier == tier, net.tier == tier + 1)]
        shared = up.astype(np.int64) @ up.T.astype(np.int64) > 0
        if not all((up[shared[i]] == row).all() for i, row in enumerate(up)):
            return False
    return True


@settings(deadline=None, max_examples=12)
@given(intents())
def test_the_bounds_meet(tmp_path_factory, text):
    result = compile_text(text, tmp_path_factory.getbasetemp(), verify=False)
    fabric = result.designs[0].fabric if result.designs else None
    assume(fabric is not None and not any(d.severity is Severity.ERROR for d in result.findings))
    view = View.whole(fabric)
    assume(len(view.units) > 1 and is_clos(unit_network(view)))
    found = bisection_bounds(view)
    assert found.lower == found.upper


DESIGNS = Path(__file__).parents[2] / "benchmarks" / "designs"


def fabric(source: Path | str, name: str) -> Fabric:
    """The fabric of that name in a design."""
    found = next(d.fabric for d in compile_without_checks(str(source), Options()).designs if d.name == name)
    assert found is not None
    return found


def test_placements_of_few_switches_close_an_uneven_last_pod() -> None:
    found = bisection_bounds(View.whole(fabric(DESIGNS / "uneven_pod.fab", "llama16k")))
    assert (found.lower, found.upper) == (2368, 2368)


def test_the_spectrum_narrows_a_twisted_torus() -> None:
    found = bisection_bounds(View.whole(fabric(DESIGNS / "twisted.fab", "twisted_xy")))
    assert found.lower >= 57
    assert found.upper <= 64


def test_restored_links_narrow_a_fat_tree_that_lost_twenty() -> None:
    f = fabric("ft3", "ft3")
    whole = View.whole(f)
    lost = np.zeros(f.link_count, dtype=np.bool_)
    lost[np.random.default_rng(20).choice(whole.rows[whole.trunks], 20, replace=False)] = True
    found = bisection_bounds(whole.without(np.zeros(f.device_count, dtype=np.bool_), lost))
    assert found.lower >= 492
    assert found.upper <= 512


def planes(links: tuple[int, int], rate: int = 400) -> Builder:
    """Four hosts on two planes; of each plane two leaves, joined by so many links."""
    b = Builder("planes")
    sw = b.devices("sw", b.model("switch", "SW", {"p": 40}), 4)
    node = b.devices("node", b.model("host", "NODE", {"nic": 4}, accelerators=1), 4)
    b.connect("connect all")
    for h in range(4):
        for plane in range(2):
            for _ in range(2):
                b.link(b.free(node, h), b.free(sw, 2 * plane + h // 2), rate * GBPS)
    for plane, count in enumerate(links):
        for _ in range(count):
            b.link(b.free(sw, 2 * plane), b.free(sw, 2 * plane + 1), rate * GBPS)
    return b


@pytest.mark.parametrize("links", [(1, 2), (2, 1), (1, 1), (3, 1)])
def test_planes_that_differ_are_proved_one_by_one(links: tuple[int, int]) -> None:
    """What is kept of one plane is not used for another with other links."""
    f = planes(links).build()
    view = View.whole(f)
    found = bisection_bounds(view)
    assert found.lower == found.upper == sum(links)
    paths = disjoint_paths(view)
    assert paths.lower == paths.upper == redundancy(f) == min(links[0], 2) + min(links[1], 2)
    devices = least_separator_bounds(view)
    assert devices.lower == devices.upper == 2
