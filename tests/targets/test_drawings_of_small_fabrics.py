"""Drawings of small fabrics as a whole: which boxes there are at which size of the page, and where everything is placed."""

from __future__ import annotations

from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.drawing.glyphs import tray_glyph
from tdsl.drawing.picture import (
    COLOURS,
    _box_count_fits,
    _bundle_curve,
    _Cluster,
    _drawn_box,
    _figures_below_title,
    _frame_of_group,
    _hosts_drawn_with_chips,
    _links_between_boxes,
    _Plan,
    _shape_colours,
    draw_fabric,
    plan_of_boxes,
    sketch_of_fabric,
)
from tdsl.drawing.records import Caption, Frame, Glyph, Picture
from tdsl.emit.link_tables import Wires
from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import Axis
from tests.fabrics import Builder, torus
from tests.harness import fabric_of

PODS = """
fabric pods "Pods" {
  group su[2] {
    host node[3]: NODE
    switch leaf[2]: BIG
    connect node[n].nic[r] to leaf[r % 2]
  }
  host disk[2]: BOX { role storage }
  switch spine[2]: BIG
  connect su[*].leaf[*] to spine[*] each x 3
  connect disk[d].nic[k] to su[k].leaf[d]
  omit su[1].node[2]
}
"""
NESTED = """
fabric nested {
  group a[2] {
    group b[3] {
      host node[4]: BOX
      switch leaf[2]: BIG
      connect node[n].nic[r] to leaf[r]
    }
    switch mid[2]: BIG
    connect b[*].leaf[*] to mid[*] each
  }
  switch top: BIG
  connect a[*].mid[*] to top each x 2
}
"""
PANELS = """
fabric panels {
  switch leaf[3]: SW
  switch spine[2]: SW
  panel patch[2]: PATCH
  connect leaf[*] to spine[s] each via patch[s]
}
"""
CHIPS = """
model host TRAY { chip gpu[4]: GPU }
fabric chips {
  layer scaleup
  host tray[5]: TRAY
  switch sw[4]: NVS
  connect tray[*].gpu[*].nv[k] to sw[k] each
}
model switch NVS { port p[1..20]: 200Gbps { type NVLINK } }
"""


@pytest.fixture(scope="module")
def pods(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(PODS, tmp_path_factory.mktemp("pods"))


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(NESTED, tmp_path_factory.mktemp("nested"))


@pytest.fixture(scope="module")
def picture(pods: Fabric) -> Picture:
    return draw_fabric(pods, Wires(pods), "Pods")


def boxes(fabric: Fabric, most: int, lines: int = 9999, wide: bool = False) -> list[str]:
    """The names of the boxes of a plan."""
    return [c.name for c in plan_of_boxes(fabric, Wires(fabric), most, lines, wide).clusters]


def test_the_finest_level_that_a_page_holds(pods: Fabric) -> None:
    """The page holds so many boxes, or so many in a row. 13 of 14 devices are built, 7 of them in the lowest row."""
    whole = ["node", "leaf", "disk", "spine"]
    units = ["su0-node", "su1-node", "su0-leaf", "su1-leaf", "disk", "spine"]
    sizes = [len(boxes(pods, n)) for n in range(1, 16)]
    assert sizes == [4] * 5 + [6] * 8 + [13] * 2
    assert (boxes(pods, 5), boxes(pods, 6)) == (whole, units)
    wide = [len(boxes(pods, n, wide=True)) for n in range(1, 9)]
    assert wide == [4, 4, 6, 6, 6, 6, 13, 13]
    lines = [len(boxes(pods, 99, n)) for n in (0, 2, 3, 5, 6, 21, 22)]
    assert lines == [4, 4, 4, 4, 6, 6, 13]


def test_levels_of_nested_groups(nested: Fabric) -> None:
    """Four levels: declarations, instances of the outer and of the inner group, and devices."""
    assert [len(boxes(nested, n)) for n in (1, 6, 7, 14, 15, 40, 41)] == [4, 4, 7, 7, 15, 15, 41]
    assert boxes(nested, 15) == [
        *(f"a{i}-b{j}-{w}" for w in ("node", "leaf") for i in (0, 1) for j in (0, 1, 2)), "a0-mid", "a1-mid", "top",
    ]  # fmt: skip
    # side by side six instances would be too many, but not 24 devices
    assert [len(boxes(nested, n, wide=True)) for n in (2, 6, 12, 23, 24)] == [7, 7, 7, 7, 41]
    p = plan_of_boxes(nested, Wires(nested), 7, 99, False)
    assert [(c.place, c.devices, c.planned, c.tier, c.level) for c in p.clusters] == [
        ("a0", 12, 12, 0, 0.0), ("a1", 12, 12, 0, 0.0), ("a0", 6, 6, 1, 1.0), ("a1", 6, 6, 1, 1.0),
        ("a0", 2, 2, 2, 2.0), ("a1", 2, 2, 2, 2.0), ("", 1, 1, 3, 3.0),
    ]  # fmt: skip
    assert p.of_device.tolist() == [0] * 12 + [1] * 12 + [2] * 6 + [3] * 6 + [4] * 2 + [5] * 2 + [6]
    assert p.bundles == {(0, 2, 0): 24, (1, 3, 0): 24, (2, 4, 1): 12, (3, 5, 1): 12, (4, 6, 2): 4, (5, 6, 2): 4}
    assert [[c.number for c in row] for row in p.rows] == [[0, 1], [2, 3], [4, 5], [6]]


@pytest.mark.parametrize(("instances", "apart"), [(4, True), (5, False)])
def test_instances_side_by_side(instances: int, apart: bool) -> None:
    b = Builder()
    leaf = b.devices("pod.leaf", b.model("switch", "LEAF", {"p": 60}), instances, 20)
    spine = b.devices("spine", b.model("switch", "SPINE", {"p": 200}), 2)
    for row in range(20 * instances):
        for s in range(2):
            b.link(b.free(leaf, row), b.free(spine, s))
    fabric = b.build()
    assert len(boxes(fabric, 12, wide=True)) == (instances + 1 if apart else 2)
    assert len(boxes(fabric, 12)) == instances + 1


def test_whether_boxes_fit(pods: Fabric) -> None:
    assert [_box_count_fits(pods, n, False, 0, True) for n in (13, 14)] == [False, True]
    assert [_box_count_fits(pods, n, True, 0, True) for n in (5, 6)] == [False, True]
    assert [_box_count_fits(pods, n, False, 1, False) for n in (5, 6)] == [False, True]
    assert [_box_count_fits(pods, n, True, 1, False) for n in (1, 2)] == [False, True]
    assert [_box_count_fits(pods, n, False, 0, False) for n in (3, 4)] == [False, True]


def test_a_whole_declaration_in_one_frame(pods: Fabric) -> None:
    p = plan_of_boxes(pods, Wires(pods), 1, 99, True)
    assert [(c.name, c.place, c.times, c.devices, c.planned) for c in p.clusters] == [
        ("node", "su × 2", 2, 5, 6), ("leaf", "su × 2", 2, 4, 4), ("disk", "", 1, 2, 2), ("spine", "", 1, 2, 2),
    ]  # fmt: skip
    assert p.bundles == {(0, 1, 0): 20, (1, 2, 0): 4, (1, 3, 1): 24}


def test_boxes_and_frames(picture: Picture) -> None:
    """Boxes of 96 × 58 with gaps of 22; rows are 208 apart; frames of pods, then what is in none."""
    assert (picture.width, picture.height, picture.title) == (1024, 700, "Pods")
    assert picture.figures == "5 hosts · 2 other hosts · 6 switches · 48 links · 48 cables"
    assert picture.frames == (Frame(138, 304, 356, 308, "su0"), Frame(520, 304, 238, 308, "su1"))
    low, middle, top = 524.0, 316.0, 108.0
    assert [(b.hint, b.x, b.y) for b in picture.boxes] == [
        ("su0-node0: NODE", 150, low), ("su0-node1: NODE", 268, low), ("su0-node2: NODE", 386, low),
        ("su1-node0: NODE", 532, low), ("su1-node1: NODE", 650, low),
        ("su0-leaf0: BIG", 209, middle), ("su0-leaf1: BIG", 327, middle),
        ("su1-leaf0: BIG", 532, middle), ("su1-leaf1: BIG", 650, middle),
        ("disk0: BOX", 782, low), ("disk1: BOX", 900, low), ("spine0: BIG", 459, top), ("spine1: BIG", 577, top),
    ]  # fmt: skip
    assert {(b.width, b.height) for b in picture.boxes} == {(96, 58)}
    assert [b.kind for b in picture.boxes] == ["host"] * 5 + ["switch"] * 4 + ["other"] * 2 + ["switch"] * 2


def test_captions_and_the_legend(picture: Picture) -> None:
    """Leaves of the first pod have 7 links down and 6 up."""
    assert picture.tiers == (
        Caption(28, 557, "hosts"), Caption(28, 349, "tier 1"), Caption(28, 365, "ratio 1.17:1"), Caption(28, 141, "tier 2"),
    )  # fmt: skip
    assert picture.legend == (
        Caption(28, 644, "host-leaf: 24 links of 400 Gb/s", COLOURS[0]),
        Caption(28, 666, "leaf-spine: 24 links of 400 Gb/s", COLOURS[1]),
    )


def test_lines_of_a_picture(picture: Picture) -> None:
    lines = {(w.a, w.b): w for w in picture.wires}
    assert len(lines) == len(picture.wires) == 22 and sum(w.links for w in picture.wires) == 48
    first, up, single = lines["n0", "n5"], lines["n5", "n11"], lines["n9", "n5"]
    assert (first.path, first.colour, first.stroke, first.links, first.link_class, first.label) == (
        "M 198.0 524.0 L 257.0 374.0", COLOURS[0], 1.5, 2, "host-leaf", "2",
    )  # fmt: skip
    assert (first.label_x, first.label_y) == (218.1, 477)
    assert (up.path, up.colour, up.stroke, up.links, up.link_class, up.label, up.label_x, up.label_y) == (
        "M 257.0 316.0 L 507.0 166.0", COLOURS[1], 1.8, 3, "leaf-spine", "3", 342, 269,
    )  # fmt: skip
    assert (single.links, single.stroke, single.label, single.label_x, single.label_y) == (1, 1.2, "", 0, 0)


def two_switches(*groups: tuple[int, str], texts: int = 0) -> Picture:
    """Two switches above one another with hosts below the lower one, joined by so many links of each class."""
    b = Builder()
    host = b.devices("node", b.model("host", "H", {"p": 1}, 1), 1)
    sw = b.devices("leaf", b.model("switch", "L", {"p": 1000}), 1)
    top = b.devices("spine", b.model("switch", "S", {"p": 1000}), 1)
    b.link(b.free(host, 0), b.free(sw, 0))
    for count, cls in groups:
        for _ in range(count):
            b.link(b.free(sw, 0), b.free(top, 0), cls=cls)
    fabric = b.build()
    return draw_fabric(fabric, Wires(fabric), "T" * texts)


def test_lines_of_several_classes_are_apart() -> None:
    """26 apart, or less where they would be more than 80 wide together; the width follows the number of links up to 5."""
    p = two_switches((2, "x"), (4, "y"))
    assert [w.path.split()[1] for w in p.wires] == ["184.0", "171.0", "197.0"]
    assert [(w.stroke, w.label, w.link_class, w.colour) for w in p.wires[1:]] == [
        (1.5, "2", "x", COLOURS[1]), (1.9, "4", "y", COLOURS[2]),
    ]  # fmt: skip
    p = two_switches(*((1, c) for c in "abcde"))
    assert [w.path.split()[1] for w in p.wires[1:]] == ["152.0", "168.0", "184.0", "200.0", "216.0"]
    assert two_switches((900, "x")).wires[1].stroke == 4.6
    assert [w.path.split()[1] for w in two_switches((1, "a"), (1, "b"), (1, "c")).wires[1:]] == ["158.0", "184.0", "210.0"]
    assert two_switches(*((1, c) for c in "abcdefghi")).wires[-1].colour == COLOURS[1]


def test_the_width_of_a_page() -> None:
    """At least that of the title, of the figures and of the legend, with margins of 28."""
    p = two_switches((2, "x"))
    assert p.figures == "1 host · 2 switches · 3 links · 3 cables"
    assert p.width == round(28 + len(p.figures) * 7.6 + 28, 1)
    assert two_switches((2, "x"), texts=60).width == 28 + 60 * 13 + 28
    p = two_switches((2, "x" * 60))
    assert [c.text for c in p.legend] == ["host-leaf: 1 link of 400 Gb/s", "x" * 60 + ": 2 links of 400 Gb/s"]
    assert p.width == round(28 + 30 + len(p.legend[1].text) * 7.6 + 28, 1)
    # three rows end at 108 + 3 * 58 + 2 * 150; the legend begins 62 below
    assert [c.y for c in p.legend] == [644, 666] and p.height == 644 + 44 + 12


def test_the_width_of_a_box() -> None:
    """That of its longest text, from 96 to 260."""
    b = Builder()
    model = b.model("switch", "S", {"p": 4})
    for name in ("a", "b" * 10, "c" * 11, "d" * 31, "e" * 32):
        b.devices(name, model, 1)
    fabric = b.build()
    assert [x.width for x in draw_fabric(fabric, Wires(fabric), "").boxes] == [96, 103.6, 111.2, 260, 260]


def test_links_through_panels_are_drawn_to_them(tmp_path: Path) -> None:
    fabric = fabric_of(PANELS, tmp_path)
    p = plan_of_boxes(fabric, Wires(fabric), 12, 72, True)
    assert [c.level for c in p.clusters] == [inf] * 7
    # leaves are 0 to 2, spines 3 and 4, panels 5 and 6
    assert p.bundles == {**{(leaf, 5 + s, 0): 1 for leaf in range(3) for s in range(2)}, (3, 5, 0): 3, (4, 6, 0): 3}
    page = draw_fabric(fabric, Wires(fabric), "")
    assert page.figures == "5 switches · 2 panels · 6 links · 12 cables"
    assert [c.text for c in page.tiers] == ["others"]
    # lines below the only row: the legend begins 90 below it
    assert [c.y for c in page.legend] == [108 + 58 + 90]
    assert [w.label for w in page.wires] == [""] * 6 + ["3", "3"]
    assert page.wires[6].path == "M 538.0 166.0 C 538.0 207.8 774.0 207.8 774.0 166.0"


def test_links_inside_a_box_and_between_boxes() -> None:
    b = Builder()
    s = b.devices("s", b.model("switch", "S", {"p": 9}), 4)
    for x, y, cls in ((0, 1, "x"), (1, 2, "y"), (1, 2, "y"), (2, 3, "x"), (2, 3, "y")):
        b.link(b.free(s, x), b.free(s, y), cls=cls)
    fabric = b.build()
    two = [_Cluster(n, "", s, "", 0, 0.0) for n in range(2)]
    of_device = np.array([0, 0, 1, 1])
    number = {name: n for n, name in enumerate(fabric.classes)}
    assert _links_between_boxes(fabric, of_device, two) == {(0, 1, number["y"]): 2} and [c.inside for c in two] == [1, 2]
    each = [_Cluster(n, "", s, "", 0, 0.0) for n in range(4)]
    assert _links_between_boxes(fabric, np.array([3, 2, 1, 0]), each) == {
        (2, 3, number["x"]): 1, (1, 2, number["y"]): 2, (0, 1, number["x"]): 1, (0, 1, number["y"]): 1,
    }  # fmt: skip


def test_chips_in_trays(tmp_path: Path) -> None:
    """Hosts without links are drawn as one box of their chips, one tray below the other."""
    fabric = fabric_of(CHIPS, tmp_path)
    assert _hosts_drawn_with_chips(fabric) == {0}
    p = plan_of_boxes(fabric, Wires(fabric), 2, 72, False)
    chips = next(c for c in p.clusters if c.set.kind == "chip")
    assert chips.holder is not None and (chips.name, chips.holder.name, chips.devices) == ("tray", "tray", 20)
    page = draw_fabric(fabric, Wires(fabric), "")
    box = next(b for b in page.boxes if b.glyph is not None)
    assert box.glyph == tray_glyph(5, 4) and box.lines == ("tray", "5 × TRAY", "20 × GPU inside")
    assert (box.width, box.height, page.frames) == (134, 58 + 60 + 10, ())


def test_colours_along_a_grid() -> None:
    """The class of links along each dimension."""
    fabric = torus(3, 4).build()
    s = fabric.sets[0]
    along = np.where(fabric.device_b - fabric.device_a == 1, 1, np.where(fabric.device_b - fabric.device_a == 3, 1, 0))
    fabric.link_class[:] = along * 2 + 1
    assert _shape_colours(fabric, s, {"axes": [[0], [1]], "grid": [3, 4]}) == [COLOURS[1], COLOURS[3]]
    fabric.link_class[:] = along + len(COLOURS) + 1
    assert _shape_colours(fabric, s, {"axes": [], "grid": [3, 4]}) == [COLOURS[1], COLOURS[2]]


def test_figures_of_a_fabric() -> None:
    b = Builder()
    host = b.model("host", "H", {"p": 1})
    b.devices("a", host, 2)
    b.devices("b", host, 1, role="storage")
    b.devices("c", host, 1, role="manager")
    b.devices("d", b.model("chip", "C", {"p": 1}), 1)
    b.devices("e", b.model("switch", "S", {"p": 1}), 1)
    b.devices("f", b.model("ocs", "O", {"p": 1}), 1)
    b.devices("g", b.model("panel", "P", {"p": 1}), 1200)
    b.omit(0)
    assert _figures_below_title(b.build()) == "1 host · 2 other hosts · 1 chip · 1 switch · 1 optical switch · 1,200 panels"


def test_a_graph_for_layout_programs(pods: Fabric) -> None:
    found = sketch_of_fabric(pods, Wires(pods))
    nodes = [(n.id, n.label, n.kind, n.frame) for n in found.nodes]
    assert len(nodes) == 13 and nodes[0] == ("su0-node0", "su0-node0\nNODE", "host", "su0")
    assert nodes[9] == ("disk0", "disk0\nBOX", "host", "")
    assert [(e.a, e.b, e.links, e.link_class) for e in found.edges][10:12] == [
        ("su0-leaf0", "disk0", 1, "host-leaf"), ("su0-leaf0", "spine0", 3, "leaf-spine"),
    ]  # fmt: skip
    assert len(found.edges) == 22
    assert [len(r) for r in found.ranks] == [7, 4, 2] and found.ranks[2] == ("spine0", "spine1")


def test_colours_of_shapes_that_are_not_first() -> None:
    """Devices are counted from the first of their declaration; links of others do not count."""
    a, b = np.array([0, 10, 10, 11, 10, 14, 10]), np.array([10, 11, 13, 12, 16, 15, 0])
    fabric: Any = SimpleNamespace(
        device_set=np.array([0] * 10 + [1] * 9), device_a=a, device_b=b, link_class=np.array([5, 1, 2, 1, 2, 1, 5])
    )
    s: Any = SimpleNamespace(index=1, first=10, count=9, axes=(Axis(0, 3), Axis(0, 3)))
    assert _shape_colours(fabric, s, {"axes": [[0], [1]], "grid": [3, 3]}) == [COLOURS[2], COLOURS[1]]
    assert _shape_colours(fabric, s, {"axes": [[1], [0]], "grid": [3, 3]}) == [COLOURS[1], COLOURS[2]]
    assert _shape_colours(fabric, s, {"axes": [], "grid": [3, 3]}) == [COLOURS[2], COLOURS[1]]
    # three groups of three: the first link between two of them is of class 2
    assert _shape_colours(fabric, s, {"circle": 3}) == [COLOURS[2]]
    fabric.link_class += len(COLOURS)
    assert _shape_colours(fabric, s, {"circle": 3}) == [COLOURS[2]]


def a_box(number: int, x: float, y: float, width: float, glyph: Glyph | None = None) -> _Cluster:
    s: Any = SimpleNamespace(kind="switch", model=SimpleNamespace(name="SW"), role="", count=1)
    return _Cluster(number, f"c{number}", s, "pod", 1, 1.0, 1, 1, x=x, y=y, width=width, glyph=glyph)


def test_places_are_rounded_to_a_tenth() -> None:
    boxes = [a_box(0, 200.26, 300.38, 100.37), a_box(1, 310.13, 300.38, 60.49)]
    p = _Plan(boxes, np.zeros(0, np.int64), {}, [boxes])
    # 188.26, 288.38; 310.13 + 60.49 - 200.26 + 24 wide, 58 + 24 + 18 high
    assert _frame_of_group(p, "pod") == Frame(188.3, 288.4, 194.4, 100.0, "pod")
    boxes[1].y = 400.65
    assert _frame_of_group(p, "pod").height == 200.3
    box = _drawn_box(a_box(0, 200.26, 300.38, 100.37, Glyph(20.14, 30.18, "", ())))
    assert (box.x, box.y, box.width, box.height, box.glyph_x, box.glyph_y) == (200.3, 300.4, 100.4, 98.2, 240.4, 358.4)


def test_labels_of_frames_are_cut() -> None:
    """A frame of 100 has 112 for its label, 6.4 a letter."""
    for width, letters in ((103.3, 18), (103.1, 17)):
        box = a_box(0, 0, 0, width)
        box.place = "a" * 40
        assert _frame_of_group(_Plan([box], np.zeros(0, np.int64), {}, [[box]]), box.place).label == "a" * (letters - 1) + "…"


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_lines_in_a_row_begin_below_the_higher_box(order: tuple[int, int]) -> None:
    boxes = [a_box(0, 10, 500, 100, Glyph(20, 30, "", ())), a_box(1, 210, 500, 100)]
    path, spots = _bundle_curve(boxes[order[0]], boxes[order[1]], 0)
    assert path == "M 60.0 598.0 C 60.0 638.0 260.0 638.0 260.0 598.0"
    assert spots[0] == pytest.approx((160, 632))
