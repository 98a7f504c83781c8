"""Where a drawing puts boxes, frames, lines and numbers, and what it writes: exact values worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.drawing.picture import (
    _box_texts,
    _bundle_curve,
    _centre_boxes,
    _Cluster,
    _drawn_box,
    _folded_group_name,
    _frame_of_group,
    _give_rows_to_untiered,
    _has_level_wires,
    _instances_at_depth,
    _is_label_spot_free,
    _label_extent,
    _name_at_depth,
    _place_box_columns,
    _Plan,
    _row_width,
    _row_word,
    text_cut_to_width,
)
from tdsl.drawing.records import Frame, Glyph
from tdsl.semantics.model import Axis, PathComponent


def a_set(kind: str = "switch", model: str = "SW", role: str = "", count: int = 1) -> Any:
    return SimpleNamespace(kind=kind, model=SimpleNamespace(name=model), role=role, count=count)


def cluster(number: int, place: str = "", width: float = 100.0, x: float = 0.0, y: float = 0.0, **given: Any) -> _Cluster:
    facts: dict[str, Any] = {"tier": 1, "level": 1.0, "set": a_set(), "devices": 1, "planned": 1} | given
    return _Cluster(number, facts.pop("name", f"c{number}"), place=place, width=width, x=x, y=y, **facts)


def a_plan(*rows: list[_Cluster], bundles: dict[tuple[int, int, int], int] | None = None) -> _Plan:
    every = sorted((c for row in rows for c in row), key=lambda c: c.number)
    return _Plan(every, np.zeros(0, np.int64), bundles or {}, list(rows))


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [
        ("abcdef", 60, "abcdef"),
        ("abcdef", 59, "abcd…"),
        ("abcdef", 50, "abcd…"),
        ("abcdef", 49, "abc…"),
        ("abcdef", 20, "a…"),
        ("abcdef", 5, "a…"),
        ("abcdef", -5, "a…"),
        ("ab", 0, "ab"),
        ("", 0, ""),
    ],
)
def test_texts_are_cut_to_a_width(text: str, width: float, wanted: str) -> None:
    assert text_cut_to_width(text, width, 10.0) == wanted


def test_a_row_of_boxes() -> None:
    boxes = [cluster(0, width=100), cluster(1, width=60), cluster(2, width=30)]
    assert [_row_width(boxes[:n]) for n in range(4)] == [0, 100, 182, 234]
    _centre_boxes(boxes, 10, 300)
    assert [c.x for c in boxes] == [43, 165, 247]


def test_a_frame() -> None:
    glyph = Glyph(20, 30, "", ())
    boxes = [
        cluster(0, "pod", 100, 200, 300),
        cluster(1, "pod", 60, 310, 300, glyph=glyph),
        cluster(2, "pod", 50, 220, 100, times=3),
        cluster(3, "other", 500, 0, 0),
    ]
    p = a_plan(boxes)
    assert _frame_of_group(p, "pod") == Frame(188, 88, 194, 340, "pod", True)
    assert _frame_of_group(p, "other") == Frame(-12, -12, 524, 100, "other", False)
    long = "a" * 100
    assert _frame_of_group(a_plan([cluster(0, long, 100)]), long).label == "a" * 16 + "…"


def test_columns_of_frames_and_a_column_beside_them() -> None:
    """Frames side by side, each as wide as its widest row; what is in no frame follows in rows that have frames."""
    low = [cluster(0, "a", 100), cluster(1, "a", 60), cluster(2, "b", 80), cluster(3, "", 50)]
    high = [cluster(4, "a", 40), cluster(5, "b", 90)]
    top = [cluster(6, "", 70)]
    assert _place_box_columns(a_plan(low, high, top)) == (["a", "b"], 136 + 422)
    # frame a: 182 + 28 wide from 136; frame b: 90 + 28 from 368; beside: 50 from 508; the top row in the middle of 422
    assert [c.x for c in low] == [150, 272, 387, 508]
    assert [c.x for c in high] == [221, 382]
    assert [c.x for c in top] == [312]


def test_columns_below_a_wider_row() -> None:
    """Frames are moved to the middle of a wider row that is in no frame."""
    low = [cluster(0, "a", 100), cluster(1, "b", 100)]
    top = [cluster(2, "", 500)]
    assert _place_box_columns(a_plan(low, top)) == (["a", "b"], 136 + 500)
    assert [c.x for c in low] == [150 + 111, 300 + 111] and top[0].x == 136
    small = [cluster(2, "", 50)]
    low = [cluster(0, "a", 100), cluster(1, "b", 100)]
    assert _place_box_columns(a_plan(low, small)) == (["a", "b"], 136 + 300)
    assert [c.x for c in low] == [161, 311] and small[0].x == 261


def test_rows_without_frames() -> None:
    low, top = [cluster(0, "", 100), cluster(1, "", 100)], [cluster(2, "", 50)]
    assert _place_box_columns(a_plan(low, top)) == ([], 136 + 222)
    assert [c.x for c in low] == [136, 258] and top[0].x == 222


def test_lines_between_rows() -> None:
    x, y = cluster(0, "", 100, 10, 500), cluster(1, "", 60, 300, 292)
    path, spots = _bundle_curve(x, y, 6)
    assert path == "M 66.0 500.0 L 336.0 350.0"
    assert spots[0] == pytest.approx((66 + 270 * 0.34, 504 - 150 * 0.34)) and len(spots) == 7
    # across a row: numbers are in the lowest gap
    path, spots = _bundle_curve(x, cluster(1, "", 60, 300, 142), 0)
    assert path == "M 60.0 500.0 L 330.0 200.0"
    assert spots[1] == pytest.approx((60 + 270 * 0.25, 504 - 300 * 0.25))
    # nearer than a gap
    path, spots = _bundle_curve(x, cluster(1, "", 60, 300, 342), 0)
    assert spots[1] == pytest.approx((60 + 270 * 0.5, 504 - 100 * 0.5))


def test_lines_in_a_row() -> None:
    glyph = Glyph(20, 30, "", ())
    x, y = cluster(0, "", 100, 610, 500), cluster(1, "", 60, 30, 500, glyph=glyph)
    path, spots = _bundle_curve(x, y, 10)
    # left 70, right 670, base 598; 30 + 600 / 20 below
    assert path == "M 70.0 598.0 C 70.0 658.0 670.0 658.0 670.0 598.0"
    assert spots == [pytest.approx((70 + 600 * t, 598 + 45 + 4)) for t in (0.5, 0.4, 0.6, 0.3, 0.7)]
    path, _ = _bundle_curve(x, cluster(1, "", 60, -2000, 500), 0)
    assert path == "M -1970.0 558.0 C -1970.0 638.0 660.0 638.0 660.0 558.0"


def test_numbers_beside_one_another() -> None:
    assert _label_extent((100, 50), 5) == pytest.approx((79, 37, 121, 55))
    taken = [(0.0, 0.0, 20.0, 20.0)]

    def free(x: float, y: float) -> bool:
        return _is_label_spot_free((x, y), 0, taken)

    # the extent of no letters is 5 to each side, 13 up and 5 down
    assert [free(x, 10) for x in (-6, -5, -4, 10, 24, 25, 26)] == [True, True, False, False, False, True, True]
    assert [free(10, y) for y in (-6, -5, -4, 10, 32, 33, 34)] == [True, True, False, False, False, True, True]
    assert _is_label_spot_free((0, 0), 3, [])


def test_lines_of_the_lowest_row() -> None:
    low, high = [cluster(0, level=0.0), cluster(1, level=0.0)], [cluster(2, level=1.0), cluster(3, level=1.0)]
    assert _has_level_wires(a_plan(low, high, bundles={(0, 2, 0): 1, (0, 1, 0): 1}))
    assert not _has_level_wires(a_plan(low, high, bundles={(0, 2, 0): 1, (2, 3, 0): 1}))
    assert not _has_level_wires(a_plan(low, high))


def test_boxes() -> None:
    glyph = Glyph(20, 30, "", ())
    c = cluster(4, "", 101.26, 10.04, 20.06, name="leaf", devices=1200, planned=1202, inside=1500, glyph=glyph)
    box = _drawn_box(c)
    assert (box.id, box.x, box.y, box.width, box.height, box.kind) == ("n4", 10, 20.1, 101.3, 98, "switch")
    assert box.hint == "leaf: 1,200 × SW, 2 omitted: 1,500 links inside"
    assert box.lines == ("leaf", "1,200 × SW, …", "1,500 links …")
    assert (box.glyph, box.glyph_x, box.glyph_y) == (glyph, 50.7, 78.1)
    assert _drawn_box(cluster(0, name="x" * 20)).lines[0] == "x" * 10 + "…"
    bare = _drawn_box(cluster(0, x=7))
    assert (bare.height, bare.glyph_x, bare.glyph_y) == (58, 57, 58)
    assert _drawn_box(cluster(0, scaleup=True)).kind == "scaleup"
    assert _drawn_box(cluster(0, scaleup=True, set=a_set("chip"))).kind == "chip"
    assert _drawn_box(cluster(0, set=a_set("host", role="accelerator"))).kind == "host"
    assert _drawn_box(cluster(0, set=a_set("host", role="storage"))).kind == "other"


def test_texts_of_boxes() -> None:
    assert _box_texts(cluster(0, name="s", devices=1, planned=1)) == ["s", "SW"]
    assert _box_texts(cluster(0, name="s", devices=3, planned=3)) == ["s", "3 × SW"]
    assert _box_texts(cluster(0, name="s", devices=3, planned=4)) == ["s", "3 × SW, 1 omitted"]
    assert _box_texts(cluster(0, name="s", devices=3, planned=3, inside=1)) == ["s", "3 × SW", "1 links inside"]
    assert _box_texts(cluster(0, name="s", devices=12, planned=12, times=4)) == ["s", "3 × SW in each, 12 in all"]
    assert _box_texts(cluster(0, name="s", devices=12, planned=12, times=4, glyph=Glyph(1, 1, "", ()))) == ["s", "12 × SW"]
    held = cluster(0, name="h", devices=1200, holder=a_set("host", "TRAY", count=1000), set=a_set("chip", "GPU"))
    assert _box_texts(held) == ["h", "1,000 × TRAY", "1,200 × GPU inside"]


@pytest.mark.parametrize(
    ("kinds", "tier", "scaleup", "wanted"),
    [
        (["host"], 0, False, "hosts"),
        (["chip"], 0, False, "chips"),
        (["host", "chip"], 0, False, "hosts"),
        (["switch"], 1, False, "tier 1"),
        (["switch"], 2, False, "tier 2"),
        (["switch"], 1, True, "scale-up"),
        (["switch"], 2, True, "scale-up 2"),
        (["switch"], 3, True, "scale-up 3"),
        (["chip"], 2, True, "chips"),
        (["ocs"], -1, False, "OCS"),
        (["panel"], -1, False, "panels"),
        (["switch"], -1, False, "switches"),
        (["host"], -1, False, ""),
        (["ocs", "panel"], -1, False, "others"),
    ],
)
def test_captions_of_rows(kinds: list[str], tier: int, scaleup: bool, wanted: str) -> None:
    assert _row_word([cluster(n, tier=tier, scaleup=scaleup, set=a_set(k)) for n, k in enumerate(kinds)]) == wanted


def test_rows_of_devices_without_a_tier() -> None:
    """Just above the lowest tier that they are cabled to, on top without one."""
    boxes = [cluster(n, tier=t, level=float(t)) for n, t in enumerate((0, 1, 2, -1, -1, -1, -1))]
    _give_rows_to_untiered(boxes, {(1, 3, 0): 1, (2, 3, 0): 1, (4, 2, 0): 1, (4, 5, 0): 1, (0, 6, 0): 2})
    assert [c.level for c in boxes] == [0, 1, 2, 1.5, 2.5, float("inf"), 0.5]


def parted(*parts: tuple[str, tuple[int, ...]]) -> Any:
    return SimpleNamespace(
        parts=tuple(PathComponent(n, "group", tuple(Axis(low, 3 - low % 2) for low in lows)) for n, lows in parts)
    )


def test_names_of_boxes() -> None:
    s = parted(("plane", (0,)), ("pod", (1, 0)), ("leaf", (0,)))
    assert [_instances_at_depth(s, d) for d in range(4)] == [1, 3, 18, 18]
    assert [_name_at_depth(s, 0, 0), _name_at_depth(s, 1, 2), _name_at_depth(s, 2, 7), _name_at_depth(s, 3, 17)] == [
        "plane-pod-leaf", "plane2-pod-leaf", "plane1-pod1-1-leaf", "plane2-pod2-2-leaf",
    ]  # fmt: skip
    twice = parted(("leaf", (0,)), ("leaf", (0,)))
    assert [_name_at_depth(twice, 0, 0), _name_at_depth(twice, 1, 2)] == ["leaf", "leaf2"]
    assert _name_at_depth(parted(("leaf", (0,))), 0, 0) == "leaf"


def test_declarations_in_one_frame() -> None:
    assert _folded_group_name(parted(("pod", (0, 0)), ("leaf", (0,))), "x") == ("leaf", "pod × 9", 9)
    assert _folded_group_name(parted(("pod", (0,)), ("leaf", ()), ("leaf", (0,))), "x") == ("leaf", "pod × 3", 3)
    assert _folded_group_name(parted(("pod", (0,)), ("a", (0,)), ("leaf", (0,))), "x") == ("a-leaf", "pod × 3", 3)
    assert _folded_group_name(parted(("pod", (1,)), ("leaf", (0,))), "x") == ("leaf", "pod × 2", 2)
    assert _folded_group_name(parted(("pod", ()), ("leaf", (0,))), "x") == ("x", "", 1)
    assert _folded_group_name(parted(("leaf", (0,))), "x") == ("x", "", 1)
