"""Lines of drawings and the numbers on them: a number never covers another, and has a place where there is one."""

from __future__ import annotations

from math import log2
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.drawing.picture import COLOURS, _bundle_curve, _Cluster, _drawn_bundles, _legend_entries, _Plan, _row_captions
from tdsl.drawing.records import Caption, Glyph
from tests.fabrics import Builder

Place = tuple[float, float, float, float]


def box(number: int, x: float, y: float, width: float = 96, **facts: Any) -> _Cluster:
    s: Any = SimpleNamespace(kind="switch", model=SimpleNamespace(name="SW"), role="", count=1)
    return _Cluster(number, f"c{number}", s, "", 1, 1.0, 1, 1, x=x, y=y, width=width, **facts)


def lines(boxes: list[_Cluster], bundles: dict[tuple[int, int, int], int], classes: int = 3) -> Any:
    fabric: Any = SimpleNamespace(classes=[f"class{n}" for n in range(classes)])
    return _drawn_bundles(fabric, _Plan(boxes, np.zeros(0, np.int64), bundles, []))


def test_numbers_of_lines_that_cross() -> None:
    """The second number is farther up its line, where it does not cover the first."""
    boxes = [box(0, 0, 500), box(1, 118, 500), box(2, 0, 292), box(3, 118, 292)]
    first, second = lines(boxes, {(0, 3, 0): 1000, (1, 2, 1): 1000})
    assert (first.path, first.label, first.label_x, first.label_y) == ("M 48.0 500.0 L 166.0 350.0", "1,000", 88.1, 453)
    assert (second.path, second.label, second.label_x, second.label_y) == ("M 166.0 500.0 L 48.0 350.0", "1,000", 107, 429)
    assert [(w.a, w.b, w.link_class, w.colour) for w in (first, second)] == [
        ("n0", "n3", "class0", COLOURS[0]), ("n1", "n2", "class1", COLOURS[1]),
    ]  # fmt: skip
    # shorter numbers have room beside one another
    short = lines(boxes, {(0, 3, 0): 99, (1, 2, 1): 99})
    assert [(w.label_x, w.label_y) for w in short] == [(88.1, 453), (125.9, 453)]


def test_lines_begin_at_the_lower_box() -> None:
    boxes = [box(0, 0, 292), box(1, 300, 500, 60)]
    (line,) = lines(boxes, {(0, 1, 2): 1})
    assert (line.a, line.b, line.path, line.label, line.label_x) == ("n1", "n0", "M 330.0 500.0 L 48.0 350.0", "", 0)


def covered(place: Place, taken: list[Place]) -> bool:
    return any(place[0] < t[2] and t[0] < place[2] and place[1] < t[3] and t[1] < place[3] for t in taken)


@pytest.mark.parametrize("seed", range(40))
def test_numbers_take_the_first_place_that_is_free(seed: int) -> None:
    """Places are where the line is between the lower two rows that it joins; a number takes 6.4 a letter and 5 on both sides,
    from 13 above to 5 below its base line. Lines of one link have no number."""
    random = Random(seed)
    boxes = [box(4 * row + k, 118.0 * k, 708.0 - 208 * row) for row in range(3) for k in range(4)]
    pairs = [(a, b) for a in range(12) for b in range(a + 1, 12)]
    bundles = {
        (*random.choice(pairs), random.randrange(3)): random.choice([1, 2, 30, 1200, 123456])
        for _ in range(random.randint(1, 30))
    }
    bundles = dict(sorted(bundles.items()))
    taken: list[Place] = []
    found = lines(boxes, bundles)
    for wire, ((a, b, cls), links) in zip(found, bundles.items(), strict=True):
        beside = [c for x, y, c in bundles if (x, y) == (a, b)]
        aside = (beside.index(cls) - (len(beside) - 1) / 2) * min(26.0, 80 / len(beside))
        low, high = (boxes[a], boxes[b]) if boxes[a].y >= boxes[b].y else (boxes[b], boxes[a])
        x0, x1 = low.x + 48 + aside, high.x + 48 + aside
        if low.y == high.y:
            left, right = sorted((x0, x1))
            base = low.y + 58 + (30 + min(50, (right - left) / 20)) * 0.75 + 4
            spots = [(left + (right - left) * t, base) for t in (0.5, 0.4, 0.6, 0.3, 0.7)]
        else:
            rise = low.y - high.y - 58
            part = min(150 / rise, 1)
            spots = [(x0 + (x1 - x0) * t * part, low.y - rise * t * part + 4) for t in (0.34, 0.5, 0.42, 0.58, 0.66, 0.26, 0.74)]
        half = len(f"{links:,}") * 3.2 + 5
        places = [(x, y, (x - half, y - 13, x + half, y + 5)) for x, y in spots]
        free = next(((x, y, p) for x, y, p in places if links > 1 and not covered(p, taken)), None)
        assert wire.label == (f"{links:,}" if free else "")
        if free:
            assert (wire.label_x, wire.label_y) == pytest.approx(free[:2], abs=0.051)
            taken.append(free[2])
        assert wire.stroke == round(min(1.2 + 0.35 * log2(links), 5.0), 1) and wire.links == links
    assert len(found) == len(bundles)


def test_lines_in_a_row_of_boxes_of_several_heights() -> None:
    low, high = box(0, 0, 500), box(1, 400, 500, glyph=Glyph(10, 32, "", ()))
    path, spots = _bundle_curve(low, high, 0)
    # from 500 + 58 + 42, down by 30 + 400 / 20
    assert path == "M 48.0 600.0 C 48.0 650.0 448.0 650.0 448.0 600.0"
    assert spots == [pytest.approx((48 + 400 * t, 641.5)) for t in (0.5, 0.4, 0.6, 0.3, 0.7)]


# ---------------------------------------------------------------- captions and legends


def tiers(down: list[tuple[int, int]], up: list[tuple[int, int]]) -> list[Caption]:
    """The captions of the row of three leaves with links of these rates down, and up: (leaf, rate)."""
    b = Builder()
    host = b.devices("node", b.model("host", "H", {"p": 20}, 1), 1)
    leaf = b.devices("leaf", b.model("switch", "L", {"p": 40}), 3)
    spine = b.devices("spine", b.model("switch", "S", {"p": 40}), 1)
    for n, rate in down:
        b.link(b.free(host, 0), b.free(leaf, n), rate=rate)
    for n, rate in up:
        b.link(b.free(leaf, n), b.free(spine, 0), rate=rate)
    f = b.build()
    of_device = np.array([0, 1, 1, 1, 2])
    boxes = [box(n, 0, 100.0 * n) for n in range(3)]
    plan = _Plan(boxes, of_device, {}, [])
    row = [box(1, 0, 300.5, glyph=Glyph(10, 32, "", ()))]
    assert not [c for c in _row_captions(f, plan, [box(0, 0, 0)]) if "ratio" in c.text]
    return _row_captions(f, plan, row)


@pytest.mark.parametrize(
    ("down", "up", "ratio"),
    [
        ([(0, 1)], [(0, 1)], "1"),
        ([(0, 2), (0, 1)], [(0, 1)], "3"),
        ([(0, 1)], [(0, 4)], "0.25"),
        ([(0, 10), (1, 30)], [(0, 4), (1, 9), (2, 1)], "3.33"),
        ([(0, 10), (1, 30)], [(0, 4), (1, 20)], "2.5"),
        ([(0, 100)], [(0, 1)], "100"),
        ([(0, 1)], [(1, 1)], None),
    ],
)
def test_the_greatest_ratio_of_capacity_down_to_capacity_up(
    down: list[tuple[int, int]], up: list[tuple[int, int]], ratio: str | None
) -> None:
    """Of switches that have both; below what the row is, in the middle of its boxes."""
    # the box is 58 + 42 high, and its texts are in the lowest 58
    y = 300.5 + 100 - 29 + 4
    assert tiers(down, up) == [Caption(28, y, "tier 1"), *([Caption(28, y + 16, f"ratio {ratio}:1")] if ratio else [])]


def test_legends() -> None:
    """A class that has cables alone has no line, and keeps its colour."""
    facts = [("a", 1200, 400), ("b", 0, ""), ("c", 1, 12.5), ("d", 2, ""), *(("e", 3, 1600) for _ in range(5))]
    wires: Any = SimpleNamespace(classes=[SimpleNamespace(name=n, links=k, rate_gbps=r) for n, k, r in facts])
    fabric: Any = None
    assert _legend_entries(fabric, wires) == [
        ("a: 1,200 links of 400 Gb/s", COLOURS[0]), ("c: 1 link of 12.5 Gb/s", COLOURS[2]), ("d: 2 links", COLOURS[3]),
        *(("e: 3 links of 1,600 Gb/s", COLOURS[n % 8]) for n in range(4, 9)),
    ]  # fmt: skip
    assert len(set(COLOURS)) == len(COLOURS) == 8
