"""Figures of networks whose figures are published or follow from a formula, intact and with planted faults."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import Builder, claim, multiplane, rail_only, scale_up, superpod, swapped, torus, without
from tests.fabrics import Selector as Selected

POD = superpod().build()
PORTS = (Selected("ports", "ports", ()),)


def judge(fabric, name, **given):
    what = claim(fabric, name, **given) if given else None
    return checks_by_name()[name].judge(View.whole(fabric), what)


def line(fault):
    return fault.at.span.text


def test_reachability_of_published_shapes():
    assert judge(POD, "reachability").text == "all 127 hosts reach each other"
    assert judge(torus(4, 4, 4).build(), "reachability").text == "all 64 chips reach each other"
    assert judge(scale_up().build(), "reachability").status == "proved"
    assert "4 separate networks" in judge(multiplane(4).build(), "reachability").text


def test_reachability_between_ports_needs_the_scale_up_domain():
    f = rail_only(8, 4).build()
    assert judge(f, "reachability").status == "proved"
    assert judge(f, "reachability", of=PORTS).status == "refuted"
    assert judge(f, "reachability", of=PORTS, through="scaleup").status == "proved"
    assert judge(f, "reachability", through="scaleup").status == "proved"
    bare = rail_only(8, 4, scaleup=False).build()
    assert judge(bare, "reachability", of=PORTS, through="scaleup").status == "refuted"


def test_a_manager_must_reach_the_hosts():
    b = superpod(units=1, nodes=2, rails=2, spines=2, radix=8, manager=False)
    far = b.devices("far", b.model("switch", "FAR", {"p": 2}), None)
    boss = b.devices("boss", b.model("host", "BOSS", {"p": 1}), None, role="manager")
    b.link(b.port(boss, 0), b.port(far, 0))
    found = judge(b.build(), "reachability")
    assert found.status == "refuted" and found.faults[0].message == "boss reaches no accelerator host"
    assert line(found.faults[0]) == "host boss: BOSS"


def test_two_swapped_cables():
    found = judge(swapped(POD, 10 * 8 + 2, 10 * 8 + 5), "rail_alignment")
    assert found.witness == {"host": "su0-node10", "nic": "su[0].node[10].nic[2]", "found": "su0-leaf5", "expected": "su0-leaf2"}
    assert len(found.faults) == 1 and found.faults[0].count == 2
    assert line(found.faults[0]) == "connect node[n].nic[r] to leaf[r]"


def test_a_nic_in_another_unit_is_expected_at_home():
    found = judge(swapped(POD, 3, 32 * 8 + 4), "rail_alignment")
    assert found.witness["expected"] == "su0-leaf3" and found.witness["found"] == "su1-leaf4"


def test_oversubscription_is_exact():
    found = judge(POD, "oversubscription")
    assert found.ratio == (1, 1) and found.link_class == "leaf-spine"
    f = superpod(units=1, nodes=32, uplinks=16, radix=64).build()
    found = judge(f, "oversubscription")
    assert found.value == Fraction(2) and found.text.startswith("2:1 at su0-leaf0 (12.8Tbps below, 6.4Tbps above")


def test_edge_redundancy_of_published_shapes():
    assert judge(POD, "edge_redundancy").text == "8 (127 hosts, 8 links at su0-node0)"
    assert judge(torus(4, 4, 4).build(), "edge_redundancy").value == 6
    assert judge(torus(2, 3).build(), "edge_redundancy").value == 4
    assert judge(scale_up(18, 4, 18).build(), "edge_redundancy").value == 18
    assert judge(rail_only(8, 4).build(), "edge_redundancy").value == 4


def test_a_thin_middle_is_found():
    f = superpod(units=2, nodes=8, rails=4, spines=1, radix=64, uplinks=1, omit_last=False, manager=False).build()
    uplinks = np.flatnonzero(f.link_class == 1)
    f = without(f, uplinks[:3])
    found = judge(f, "edge_redundancy")
    assert found.value == 1 and found.witness["cut_links"] == 1
    assert "1 link separates su0-node0 from su1-node0" in found.text


def test_a_broken_torus_is_not_taken_for_a_whole_one():
    f = torus(4, 4, 4).build()
    assert judge(without(f, [17]), "edge_redundancy").value == 5


def test_cubes_are_one_grid():
    """Chips declared as cubes of chips, wired as one torus of 4x4x4."""
    b = Builder("cubes")
    chip = b.devices("cell cube.chip", b.model("chip", "C", {"ici": 6}), (2, 2, 2), (2, 2, 2), role="accelerator")

    def row(at):
        outer = [c // 2 for c in at]
        inner = [c % 2 for c in at]
        return ((outer[0] * 2 + outer[1]) * 2 + outer[2]) * 8 + (inner[0] * 2 + inner[1]) * 2 + inner[2]

    for x in range(4):
        for y in range(4):
            for z in range(4):
                for d in range(3):
                    to = [x, y, z]
                    to[d] = (to[d] + 1) % 4
                    b.link(b.port(chip, row((x, y, z)), "ici", 2 * d), b.port(chip, row(to), "ici", 2 * d + 1))
    f = b.build()
    assert judge(f, "edge_redundancy").value == 6
    assert judge(f, "diameter").value == 6


@pytest.mark.parametrize(
    ("builder", "value"),
    [
        (superpod(units=1), 2), (torus(4, 4, 4), 6), (torus(5, 3), 3), (scale_up(18, 4, 18), 0), (rail_only(), 0),
        (multiplane(2), 2),
    ],
)  # fmt: skip
def test_diameters(builder, value):
    assert judge(builder.build(), "diameter").value == value


def test_switches_are_judged_where_no_ends_are_shown():
    b = Builder("blocks")
    block = b.devices("block", b.model("switch", "AGG", {"up": 8}), 4)
    for x, y in ((0, 1), (1, 2), (2, 3)):
        b.link(b.free(block, x), b.free(block, y))
    f = b.build()
    assert judge(f, "reachability").text == "all 4 switches reach each other"
    assert judge(f, "diameter").value == 3
    assert judge(f, "edge_redundancy").text == "1 (4 switches, 1 link at block0)"


def test_counts():
    f = POD
    values = {n: judge(f, n).value for n in ("links", "cables", "switches", "ports")}
    assert values == {"links": 2044, "cables": 2044, "switches": 48, "ports": 4088}
