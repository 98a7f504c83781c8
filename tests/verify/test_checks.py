"""Every check on a good and on a bad fabric, and the words of its findings."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tdsl.fabric.graph import HOLE
from tdsl.findings.diagnostic import Severity
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name
from tests.fabrics import (
    GBPS,
    Builder,
    claim,
    multiplane,
    rail_only,
    scale_up,
    selector,
    superpod,
    swapped,
    torus,
    without,
)  # fmt: skip
from tests.fabrics import Selector as Selected

POD = superpod().build()
PORTS = (Selected("ports", "ports", ()),)


def judge(fabric, name, **given):
    what = claim(fabric, name, **given) if given else None
    return checks_by_name()[name].judge(View.whole(fabric), what)


def line(fault):
    return fault.at.span.text


def pair(rate_a=400, rate_b=400, types_a=(), types_b=(), rate=400, settings=None):
    """Two switches with three links between them."""
    b = Builder("pair")
    one = b.devices("one", b.model("switch", "A", {"p": {"shape": 3, "rate": rate_a * GBPS, "types": types_a}}), None)
    two = b.devices("two", b.model("switch", "B", {"p": {"shape": 3, "rate": rate_b * GBPS, "types": types_b}}), None)
    b.connect("connect one.p[i] to two.p[i]", **(settings or {}))
    for i in range(3):
        b.link(b.port(one, 0, "p", i), b.port(two, 0, "p", i), rate=rate * GBPS)
    return b.build()


# ---------------------------------------------------------------- reachability and isolated


def test_reachability_of_published_shapes():
    assert judge(POD, "reachability").text == "all 127 hosts reach each other"
    assert judge(torus(4, 4, 4).build(), "reachability").text == "all 64 chips reach each other"
    assert judge(scale_up().build(), "reachability").status == "proved"
    assert "4 separate networks" in judge(multiplane(4).build(), "reachability").text


def test_two_halves_do_not_reach_each_other():
    f = superpod(units=2, nodes=4, rails=2, spines=2, radix=16, omit_last=False, manager=False).build()
    spines = np.flatnonzero(f.link_class == 1)
    unit = f.device_a[spines] >= f.sets[1].first + 2
    f = without(f, spines[unit])
    found = judge(f, "reachability")
    assert found.status == "refuted" and found.witness["parts"] == [4, 4]
    assert len(found.faults) == 1 and "no path of switches" in found.faults[0].message


def test_reachability_between_ports_needs_the_scale_up_domain():
    f = rail_only(8, 4).build()
    assert judge(f, "reachability").status == "proved"
    assert judge(f, "reachability", of=PORTS).status == "refuted"
    assert judge(f, "reachability", of=PORTS, through="scaleup").status == "proved"
    assert judge(f, "reachability", through="scaleup").status == "proved"
    bare = rail_only(8, 4, scaleup=False).build()
    assert judge(bare, "reachability", of=PORTS, through="scaleup").status == "refuted"


def test_a_path_may_not_pass_through_a_host():
    b = Builder("bridge")
    node = b.devices("node", b.model("host", "H", {"nic": 2}, accelerators=1), 3)
    sw = b.devices("sw", b.model("switch", "S", {"p": 4}), 2)
    for n, s in ((0, 0), (1, 0), (1, 1), (2, 1)):
        b.link(b.free(node, n), b.free(sw, s))
    f = b.build()
    assert judge(f, "reachability").status == "refuted"
    assert judge(f, "edge_redundancy").value == 0


def test_a_manager_must_reach_the_hosts():
    b = superpod(units=1, nodes=2, rails=2, spines=2, radix=8, manager=False)
    far = b.devices("far", b.model("switch", "FAR", {"p": 2}), None)
    boss = b.devices("boss", b.model("host", "BOSS", {"p": 1}), None, role="manager")
    b.link(b.port(boss, 0), b.port(far, 0))
    found = judge(b.build(), "reachability")
    assert found.status == "refuted" and found.faults[0].message == "boss reaches no accelerator host"
    assert line(found.faults[0]) == "host boss: BOSS"


def test_a_device_without_a_link():
    f = without(POD, np.flatnonzero(POD.device_a == 3))
    found = judge(f, "isolated")
    assert found.status == "refuted" and found.text == "su0-node3 has no link"
    assert line(found.faults[0]) == "host su.node: DGX"
    assert judge(f, "reachability").faults[0].unless == "isolated"
    assert judge(POD, "isolated").status == "proved"


def test_devices_without_a_link_are_counted_by_declaration():
    b = superpod(units=1, nodes=2, rails=2, spines=2, radix=8, manager=False)
    b.devices("spare", b.models[1], 3)
    box = b.devices("box", b.model("panel", "BOX", {"p": 2}), 2)
    assert box.kind == "panel"
    faults = judge(b.build(), "isolated").faults
    assert [(x.message, x.count, x.severity) for x in faults] == [
        ("none of the 3 devices of `spare` has a link", 3, Severity.ERROR),
        ("none of the 2 devices of `box` has a link", 2, Severity.WARNING),
    ]


def test_a_host_is_linked_by_its_chips():
    assert judge(scale_up().build(), "isolated").status == "proved"


# ---------------------------------------------------------------- planes and rails


def test_planes_stay_apart():
    assert judge(multiplane(4).build(), "plane_isolation").status == "proved"
    assert judge(POD, "plane_isolation").reason == "the design has no planes"


def test_a_cable_between_planes():
    b = multiplane(2)
    b.connect("connect pl[0].leaf[0] to pl[1].spine[0]")
    leaf, spine = b.sets[1], b.sets[2]
    b.link(b.free(leaf, 0), b.free(spine, 2))
    found = judge(b.build(), "plane_isolation")
    assert found.witness == {"planes": ["pl[0]", "pl[1]"], "path": ["pl0-leaf0", "pl1-spine0"]}
    assert [line(x) for x in found.faults] == ["connect pl[0].leaf[0] to pl[1].spine[0]"]
    assert "joins pl[0] and pl[1]" in found.faults[0].message


def test_a_switch_outside_joins_planes():
    b = multiplane(3)
    core = b.devices("core", b.models[1], None)
    b.connect("connect pl[0].spine[*] to core each")
    for s in (0, 1):
        b.link(b.free(b.sets[2], s), b.free(core, 0))
    b.connect("connect pl[2].spine[1] to core")
    b.link(b.free(b.sets[2], 5), b.free(core, 0))
    found = judge(b.build(), "plane_isolation")
    assert found.witness["path"][1] == "core" and len(found.witness["path"]) == 3
    assert [line(x) for x in found.faults] == ["connect pl[2].spine[1] to core"]


def test_rails_are_aligned():
    assert judge(POD, "rail_alignment").text == "8 rails, every NIC is connected to the switch of its rail"


def test_two_swapped_cables():
    found = judge(swapped(POD, 10 * 8 + 2, 10 * 8 + 5), "rail_alignment")
    assert found.witness == {"host": "su0-node10", "nic": "su[0].node[10].nic[2]", "found": "su0-leaf5", "expected": "su0-leaf2"}
    assert len(found.faults) == 1 and found.faults[0].count == 2
    assert line(found.faults[0]) == "connect node[n].nic[r] to leaf[r]"


def test_a_nic_in_another_unit_is_expected_at_home():
    found = judge(swapped(POD, 3, 32 * 8 + 4), "rail_alignment")
    assert found.witness["expected"] == "su0-leaf3" and found.witness["found"] == "su1-leaf4"


def test_without_rails_there_is_nothing_to_align():
    found = judge(multiplane(4).build(), "rail_alignment")
    assert found.status == "skipped" and found.faults


# ---------------------------------------------------------------- ports, rates, connectors


def test_ports_are_recounted():
    found = judge(POD, "port_budget")
    assert found.status == "proved" and found.witness == {"tightest": "su0-leaf0", "free": {"su.leaf": 0, "spine": 0}}


def test_a_port_with_two_links():
    ends = POD.link_b.copy()
    ends[7] = ends[6]
    found = judge(replace(POD, link_b=ends), "port_budget")
    assert found.status == "refuted" and found.text == "su[0].leaf[6].p[1] carries 2 links"


def test_a_link_on_what_is_not_built():
    built = POD.built.copy()
    built[int(POD.device_a[0])] = False
    assert "not built" in judge(replace(POD, built=built), "port_budget").text


@pytest.mark.parametrize(
    ("fabric", "message"),
    [
        (pair(), ""),
        (pair(800, 400, rate=400), "one.p[0] to two.p[0]: an 800Gbps port into a 400Gbps port (3 links do)"),
        (pair(800, 400, settings={"rate": 400}), ""),
        (pair(rate=800), "one.p[0] to two.p[0]: a 400Gbps port into a 400Gbps port (3 links do)"),
    ],
)
def test_rates(fabric, message):
    found = judge(fabric, "rate_match")
    assert (found.status == "proved") == (not message)
    if message:
        assert [x.message for x in found.faults] == [message] and found.faults[0].count == 3


def test_a_rate_that_a_port_cannot_run():
    b = Builder("fast")
    one = b.devices("one", b.model("switch", "A", {"p": {"shape": 1, "types": ("NDR",)}}), None)
    two = b.devices("two", b.model("switch", "B", {"p": {"shape": 1, "rate": 800 * GBPS, "types": ("NDR",)}}), None)
    b.connect("connect one to two { rate 800Gbps }", rate=800 * GBPS)
    b.link(b.port(one, 0), b.port(two, 0), rate=800 * GBPS)
    found = judge(b.build(), "rate_match")
    assert "is asked to run at 800Gbps, between a 400Gbps NDR port and an 800Gbps NDR port" in found.text
    assert [x[1] for x in found.faults[0].labels] == ["400Gbps NDR, declared here", "800Gbps NDR, declared here"]


@pytest.mark.parametrize(
    ("one", "two", "fits"),
    [
        ((), (), True), (("NDR",), (), True), (("NDR",), ("any",), True), (("NDR", "GE400"), ("GE400",), True),
        (("NDR",), ("GE400",), False),
    ],
)  # fmt: skip
def test_connectors(one, two, fits):
    found = judge(pair(types_a=one, types_b=two), "connector_match")
    assert (found.status == "proved") == fits
    if not fits:
        assert found.text == "one.p[0] is of type NDR and two.p[0] of type GE400: they share none (3 such links)"
        assert len(found.faults) == 1 and len(found.faults[0].labels) == 2


def test_panels_on_the_way_must_fit():
    b = Builder("panel")
    ends = b.devices("sw", b.model("switch", "A", {"p": {"shape": 1, "types": ("NDR",)}}), 2)
    panel = b.devices("box", b.model("panel", "BOX", {"p": {"shape": 2, "rate": 100 * GBPS, "types": ("LC",)}}), None)
    b.connect("connect sw[0] to sw[1] via box")
    b.link(b.port(ends, 0), b.port(ends, 1))
    f = b.build()
    f = replace(f, link_via_a=np.array([b.port(panel, 0)]), link_via_b=np.array([b.port(panel, 0, "p", 1)]))
    assert [x.message for x in judge(f, "rate_match").faults] == [
        "box.p[0] carries 400Gbps, but is a 100Gbps LC port",
        "box.p[1] carries 400Gbps, but is a 100Gbps LC port",
    ]
    assert "box.p[0] of type LC" in judge(f, "connector_match").text


# ---------------------------------------------------------------- capacity and distance


def test_oversubscription_is_exact():
    found = judge(POD, "oversubscription")
    assert found.ratio == (1, 1) and found.link_class == "leaf-spine"
    f = superpod(units=1, nodes=32, uplinks=16, radix=64).build()
    found = judge(f, "oversubscription")
    assert found.value == Fraction(2) and found.text.startswith("2:1 at su0-leaf0 (12.8Tbps below, 6.4Tbps above")


def test_an_omitted_host_counts_as_present():
    f = superpod(units=1, nodes=4, rails=2, spines=1, radix=16, uplinks=3, manager=False).build()
    assert (f.port_state == HOLE).sum() == 2
    assert judge(f, "oversubscription").ratio == (4, 3)


def test_an_omitted_spine_is_no_load_below():
    b = superpod(units=1, nodes=4, rails=2, spines=4, radix=16, omit_last=False, manager=False)
    b.omit(b.sets[2].first + 3)
    assert judge(b.build(), "oversubscription").ratio == (4, 3)
    b.omit(b.sets[0].first + 3)
    assert judge(b.build(), "oversubscription").ratio == (4, 3)


def test_a_leaf_without_uplinks_is_worst_of_all():
    up = np.flatnonzero(POD.link_class == 1)
    f = without(POD, up[POD.device_a[up] == POD.sets[1].first + 5])
    found = judge(f, "oversubscription")
    assert found.ratio == (1, 0) and "su0-leaf5" in found.text


def test_oversubscription_at_some_switches():
    f = superpod(units=1, nodes=32, uplinks=16, radix=64).build()
    assert judge(f, "oversubscription", at=(selector(f, "spine"),)).status == "skipped"
    assert judge(f, "oversubscription", at=(selector(f, "leaf"),)).ratio == (2, 1)
    assert judge(torus(4, 4).build(), "oversubscription").status == "skipped"


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


def test_diameter_of_a_plane_and_its_path():
    f = multiplane(2).build()
    group = selector(f, "pl")
    part = View.part(f, group.elements[1], False)
    found = checks_by_name()["diameter"].judge(part, None)
    assert found.value == 2 and found.reason == ""
    assert all(name.startswith("pl1-") for name in found.witness["path"])
    whole = judge(f, "diameter")
    assert "among ends that reach each other" in whole.text


def test_switches_are_judged_where_no_ends_are_shown():
    b = Builder("blocks")
    block = b.devices("block", b.model("switch", "AGG", {"up": 8}), 4)
    for x, y in ((0, 1), (1, 2), (2, 3)):
        b.link(b.free(block, x), b.free(block, y))
    f = b.build()
    assert judge(f, "reachability").text == "all 4 switches reach each other"
    assert judge(f, "diameter").value == 3
    assert judge(f, "edge_redundancy").text == "1 (4 switches, 1 link at block0)"


# ---------------------------------------------------------------- names and counts


def test_names_are_compared_without_case():
    assert judge(POD, "name_collision").status == "proved"
    twice = replace(POD, names={0: "a", 1: "A"})
    assert "differ in case only" in judge(twice, "name_collision").text
    encoded = replace(POD, names={0: "n\u00f6de", 1: "no\u0308de"})
    assert "differ in how one text is encoded only" in judge(encoded, "name_collision").text
    assert judge(replace(POD, names={0: "n\u00f6de", 1: "node"}), "name_collision").status == "proved"
    many = replace(POD, names=dict.fromkeys(range(128, 136), "leaf"))
    found = judge(many, "name_collision")
    assert len(found.faults) == 1 and found.faults[0].count == 7


def test_a_given_name_may_meet_a_path():
    found = judge(replace(POD, names={5: "spine3"}), "name_collision")
    assert found.witness["name"] == "spine3" and len(found.faults) == 1


def test_paths_of_two_declarations_may_meet():
    b = Builder("digits")
    model = b.model("switch", "S", {"p": 1})
    b.devices("a", model, 12)
    b.devices("a1", model, 3)
    found = judge(b.build(), "name_collision")
    assert found.faults[0].count == 2 and "a10" in found.text


def test_counts():
    f = POD
    values = {n: judge(f, n).value for n in ("links", "cables", "switches", "ports")}
    assert values == {"links": 2044, "cables": 2044, "switches": 48, "ports": 4088}
