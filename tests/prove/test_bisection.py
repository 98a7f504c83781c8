"""Bisection: published figures, tori, trees and dragonflies, and designs that one method alone settles."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tdsl.certificates.checker import verify
from tdsl.compile.compiler import Request, compile_without_checks
from tdsl.findings.diagnostic import Severity
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.edge_connectivity import disjoint_paths
from tdsl.prove.network import Network
from tdsl.prove.node_connectivity import least_separator_bounds
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.certificates.made import as_json, made
from tests.fabrics import multiplane, rail_only, scale_up, superpod, torus, without
from tests.harness import compile_text, fabric_of
from tests.prove.networks import wired
from tests.tables import sections
from tests.verify.judges import redundancy

DESIGNS = Path(__file__).parents[2] / "benchmarks" / "designs"
POD = superpod().build()
FAT = sections(__file__)["fat"]
AIMS = ["1:1", "2:1", "3:1", "3:2", "4:3", "1:2", "at most 7:1", "about 5:3"]
CLOS = sections(__file__)["clos"]


def judge(fabric):
    return checks_by_name()["bisection"].judge(View.whole(fabric), None)


def lose(f, *paths):
    gone = [d for d in range(f.device_count) if f.device_path(d) in paths]
    assert len(gone) == len(paths)
    return without(f, np.flatnonzero(np.isin(f.device_a, gone) | np.isin(f.device_b, gone)))


@pytest.mark.parametrize(
    ("fabric", "value", "links"),
    [
        (superpod(units=1, spines=4).build(), 1, 120),
        (superpod(units=3, spines=16).build(), 1, 376),
        (POD, 1, 504),
        # planes, rails and scale-up domains are added under one split
        (multiplane().build(), 1, 32),
        (rail_only().build(), 1, 16),
        (scale_up().build(), 1, 36),
        # one lost link costs one link
        (without(POD, [int(np.flatnonzero(POD.is_switch[POD.device_a])[9])]), Fraction(503, 504), 503),
        (lose(superpod(omit_last=False).build(), "spine[7]"), Fraction(15, 16), 480),
        (lose(POD, "spine[7]"), Fraction(20, 21), 480),
        (lose(POD, "spine[0]", "spine[1]"), Fraction(448, 504), 448),
    ],
)
def test_published_fabrics_and_what_they_lost(fabric, value, links):
    found = judge(fabric)
    assert (found.status, found.value, found.lower, found.upper) == ("proved", value, value, value)
    assert found.measures["lower_links"] == found.measures["upper_links"] == links
    assert found.measures["lower_bps"] == links * 400e9


def test_the_cut_of_a_pod_that_lost_a_spine():
    found = judge(lose(POD, "spine[7]"))
    assert found.witness["cut_links"] == 480 and found.witness["cut_classes"] == {"leaf-spine": 480}
    assert sum(found.witness["split"]) == 127
    assert all(name.startswith("su[") for side in found.witness["sides"] for name in side)


def test_fewer_than_two_hosts_and_hosts_without_links():
    assert judge(superpod(units=1, nodes=1, omit_last=False, spines=1).build()).status == "skipped"
    f = superpod(units=1, nodes=2, omit_last=False, spines=1).build()
    assert judge(without(f, np.arange(f.link_count))).status == "skipped"


def test_rates_without_a_common_divisor():
    f = superpod(2, 8, 4, 4).build()
    f.link_rate[f.is_switch[f.device_a]] += 1
    found = judge(f)
    assert (found.status, found.value) == ("proved", 1) and "lower_links" not in found.measures


def test_a_fat_tree_that_lost_links(tmp_path):
    """k³/4 hosts at full bisection (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008), less no more than what failed."""
    f = fabric_of(FAT.format(k=8, h=4), tmp_path)
    half = 8**3 // 8
    lost = np.random.default_rng(8).choice(np.flatnonzero(f.is_switch[f.device_a]), 4, replace=False)
    g = without(f, np.sort(lost).tolist())
    found = bisection_bounds(View.whole(g))
    assert half - len(lost) <= found.lower <= found.upper <= half and found.upper - found.lower <= len(lost)
    for certificate in made(g).values():
        verify(certificate, as_json(g))


@pytest.mark.parametrize(
    ("sizes", "links"),
    [((5, 5), 12), ((7, 3), 8), ((3, 7), 8), ((3, 3, 3), 26), ((4, 3, 3), 18), ((7, 5), 12), ((7, 7), 16), ((5, 3, 2), 18)],
)
def test_odd_tori(sizes, links):
    """Exact by an order of the chips. Two rows and what is between them: 2 x 5 + 2 of 5 x 5, 2 x 7 + 2 of 7 x 7."""
    found = bisection_bounds(View.whole(torus(*sizes).build()))
    assert (found.lower, found.upper) == (links, links)


@pytest.mark.parametrize(
    ("hosts", "planes", "ports", "spine", "over", "links"),
    [
        (68, 8, 24, "S", "5:1", 112),  # each plane: 20, 20, 20 and 8 hosts behind 4 uplinks; one leaf is divided
        (171, 1, 16, "S", "1:1", 66),
        (112, 1, 24, "S", "7:1", 16),
        (119, 8, 24, "S", "2:1", 280),
        (66, 8, 16, "BIG", "3:1", 120),
    ],
)
def test_over_and_undersubscribed_clos(hosts, planes, ports, spine, over, links, tmp_path):
    inside, clos = f"planes {planes}" * (planes > 1), f"leaf S; spine {spine}; oversubscription {over}"
    result = compile_text(
        CLOS.format(hosts=hosts, links=planes, ports=ports, inside=inside, clos=clos), tmp_path, verify=False, models=False
    )
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
        hosts = draw(st.integers(3, 120))
        clos = f"leaf S; spine S; oversubscription {draw(st.sampled_from(AIMS))}{omitted}"
    else:
        each, racks, pods = (draw(st.sampled_from(x)) for x in ([2, 4, 8], range(2, 6), range(2, 6)))
        hosts = each * racks * pods
        clos = f"""tier rack of {each} hosts {{ switch S }}
          tier pod of {racks} rack {{ switch S; oversubscription {draw(st.sampled_from(AIMS))} }}
          tier core of {pods} pod {{ switch S; oversubscription {draw(st.sampled_from(AIMS))} }}"""
    return CLOS.format(ports=ports, links=links, hosts=hosts, inside=inside, clos=clos)


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


@settings(deadline=None, max_examples=5)
@given(intents())
def test_the_bounds_meet(tmp_path_factory, text):
    result = compile_text(text, tmp_path_factory.getbasetemp(), verify=False, models=False)
    fabric = result.designs[0].fabric if result.designs else None
    assume(fabric is not None and not any(d.severity is Severity.ERROR for d in result.findings))
    view = View.whole(fabric)
    assume(len(view.units) > 1 and is_clos(unit_network(view)))
    found = bisection_bounds(view)
    assert found.lower == found.upper


@pytest.mark.parametrize(
    ("source", "name", "low", "high"),
    [
        (DESIGNS / "uneven_pod.fab", "llama16k", 2368, 2368),  # by placements of few switches
        (DESIGNS / "twisted.fab", "twisted_xy", 57, 64),  # by the spectrum
    ],
)
def test_designs_that_one_method_alone_narrows(source, name, low, high):
    f = next(d.fabric for d in compile_without_checks(str(source), Request()).designs if d.name == name)
    found = bisection_bounds(View.whole(f))
    assert low <= found.lower <= found.upper <= high


@pytest.mark.parametrize("links", [(1, 2), (2, 1), (1, 1), (3, 1)])
def test_planes_that_differ_are_proved_one_by_one(links: tuple[int, int]) -> None:
    """Four hosts on two planes of two leaves; what is kept of one plane is not used for another with other links."""
    access = " ".join(f"h{h}-s{2 * plane + h // 2}*2" for h in range(4) for plane in (0, 1))
    f = wired(f"{access} s0-s1*{links[0]} s2-s3*{links[1]}")
    view = View.whole(f)
    found, paths, devices = bisection_bounds(view), disjoint_paths(view), least_separator_bounds(view)
    assert found.lower == found.upper == sum(links)
    assert paths.lower == paths.upper == redundancy(f) == min(links[0], 2) + min(links[1], 2)
    assert devices.lower == devices.upper == 2


def test_a_figure_that_nothing_requires_ends_early(tmp_path: Path) -> None:
    """With little time, and where nothing requires the bisection, the search ends early, says so, and its bounds contain
    those of the whole search."""
    text = sections(__file__)["text of a figure that nothing requires ends early"]
    seen = []
    for word, aim in (("report", ""), ("require", ">= 1%")):
        done = compile_text(text % (word, aim), tmp_path, models=False, select=("bisection",), check_seconds=1)
        (result,) = done.designs[0].results
        seen.append(((result.lower, result.upper), "ended early" in result.text))
    (early, said), (whole, other) = seen
    assert early[0] <= whole[0] <= whole[1] <= early[1]
    assert said and not other
