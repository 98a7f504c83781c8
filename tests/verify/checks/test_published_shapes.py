"""Figures of networks whose figures are published or follow from a formula, intact and with planted faults."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import Builder, Selector, claim, multiplane, rail_only, scale_up, superpod, swapped, torus, without
from tests.prove.networks import wired

POD = superpod().build()
GRID, RAILS, BARE, SCALEUP = (
    torus(4, 4, 4).build(),
    rail_only().build(),
    rail_only(scaleup=False).build(),
    scale_up(18, 4, 18).build(),
)
HALF = superpod(units=1, nodes=32, uplinks=16, radix=64).build()
LINE = wired("s0-s1 s1-s2 s2-s3")
"""Switches are judged where no ends are shown."""


def judge(fabric, name, **given):
    return checks_by_name()[name].judge(View.whole(fabric), claim(fabric, name, **given) if given else None)


@pytest.mark.parametrize(
    ("fabric", "check", "value", "text"),
    [
        (POD, "reachability", True, "all 127 hosts reach each other"),
        (GRID, "reachability", True, "all 64 chips reach each other"),
        (LINE, "reachability", True, "all 4 switches reach each other"), (scale_up().build(), "reachability", True, ""),
        (multiplane().build(), "reachability", True, "4 separate networks"),
        (POD, "oversubscription", 1, ""), (HALF, "oversubscription", 2, "2:1 at su0-leaf0 (12.8Tbps below, 6.4Tbps above"),
        (POD, "edge_redundancy", 8, "8 (127 hosts, 8 links at su0-node0)"), (GRID, "edge_redundancy", 6, ""),
        (torus(2, 3).build(), "edge_redundancy", 4, ""), (SCALEUP, "edge_redundancy", 18, ""), (RAILS, "edge_redundancy", 4, ""),
        (without(GRID, [17]), "edge_redundancy", 5, ""),  # not taken for a whole one
        (LINE, "edge_redundancy", 1, "1 (4 switches, 1 link at s0)"), (LINE, "diameter", 3, ""),
        (superpod(units=1).build(), "diameter", 2, ""), (GRID, "diameter", 6, ""), (torus(5, 3).build(), "diameter", 3, ""),
        (SCALEUP, "diameter", 0, ""), (RAILS, "diameter", 0, ""), (multiplane(2).build(), "diameter", 2, ""),
        (POD, "links", 2044, ""), (POD, "cables", 2044, ""), (POD, "switches", 48, ""), (POD, "ports", 4088, ""),
    ],
)  # fmt: skip
def test_published_figures(fabric, check, value, text):
    found = judge(fabric, check)
    assert (found.status, found.value) == ("proved", value) and text in found.text


def test_reachability_between_ports_needs_the_scale_up_domain():
    ports = (Selector("ports", "ports", ()),)
    for fabric, given, status in (
        (RAILS, {}, "proved"),
        (RAILS, {"of": ports}, "refuted"),
        (RAILS, {"of": ports, "through": "scaleup"}, "proved"),
        (RAILS, {"through": "scaleup"}, "proved"),
        (BARE, {"of": ports, "through": "scaleup"}, "refuted"),
    ):
        assert judge(fabric, "reachability", **given).status == status


def test_a_manager_must_reach_the_hosts():
    b = superpod(units=1, nodes=2, rails=2, spines=2, radix=8, manager=False)
    far = b.devices("far", b.model("switch", "FAR", {"p": 2}), None)
    boss = b.devices("boss", b.model("host", "BOSS", {"p": 1}), None, role="manager")
    b.link(b.port(boss, 0), b.port(far, 0))
    (fault,) = judge(b.build(), "reachability").faults
    assert (fault.message, fault.at.span.text) == ("boss reaches no accelerator host", "host boss: BOSS")


def test_swapped_cables():
    """Two of one host, and two of hosts of two units: a NIC in another unit is expected at home."""
    found = judge(swapped(POD, 10 * 8 + 2, 10 * 8 + 5), "rail_alignment")
    assert found.witness == {"host": "su0-node10", "nic": "su[0].node[10].nic[2]", "found": "su0-leaf5", "expected": "su0-leaf2"}
    (fault,) = found.faults
    assert (fault.count, fault.at.span.text) == (2, "connect node[n].nic[r] to leaf[r]")
    found = judge(swapped(POD, 3, 32 * 8 + 4), "rail_alignment")
    assert found.witness["expected"] == "su0-leaf3" and found.witness["found"] == "su1-leaf4"


def test_a_thin_middle_is_found():
    f = superpod(units=2, nodes=8, rails=4, spines=1, radix=64, uplinks=1, omit_last=False, manager=False).build()
    found = judge(without(f, np.flatnonzero(f.link_class == 1)[:3]), "edge_redundancy")
    assert found.value == 1 and found.witness["cut_links"] == 1
    assert "1 link separates su0-node0 from su1-node0" in found.text


def test_ratios_of_a_pod():
    assert (judge(POD, "oversubscription").ratio, judge(POD, "oversubscription").link_class) == ((1, 1), "leaf-spine")
    assert judge(HALF, "oversubscription").value == Fraction(2)


def test_cubes_are_one_grid():
    """Chips declared as cubes of chips, wired as one torus of 4x4x4."""
    b = Builder("cubes")
    chip = b.devices("cell cube.chip", b.model("chip", "C", {"ici": 6}), (2, 2, 2), (2, 2, 2), role="accelerator")

    def row(at):
        return int(np.ravel_multi_index((*(c // 2 for c in at), *(c % 2 for c in at)), (2,) * 6))

    for at in np.ndindex(4, 4, 4):
        for d in range(3):
            to = tuple((x + (i == d)) % 4 for i, x in enumerate(at))
            b.link(b.port(chip, row(at), "ici", 2 * d), b.port(chip, row(to), "ici", 2 * d + 1))
    f = b.build()
    assert (judge(f, "edge_redundancy").value, judge(f, "diameter").value) == (6, 6)
