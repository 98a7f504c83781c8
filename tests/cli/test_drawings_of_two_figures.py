"""The drawing of ``tdsl explore``: the frontier, round axes, the place of each mark, name and step."""

from __future__ import annotations

import re
from math import floor, log10
from random import Random

import pytest

from tdsl.commands._pareto import Point, _axis_range, _axis_ticks, _frontier_path, _point_label, pareto_frontier, pareto_svg

Box = tuple[float, float, float, float]

FIRST = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 520" width="760" height="520" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="90" y="30" font-size="17" font-weight="bold">T &lt;1&gt;</text>
<text x="90" y="48" fill="#555555">filled: no other point is better in both figures</text>
<line x1="90.0" y1="60" x2="90.0" y2="450" stroke="#dddddd"/>
<text x="90.0" y="468" text-anchor="middle">90</text>
<line x1="216.0" y1="60" x2="216.0" y2="450" stroke="#dddddd"/>
<text x="216.0" y="468" text-anchor="middle">100</text>
<line x1="342.0" y1="60" x2="342.0" y2="450" stroke="#dddddd"/>
<text x="342.0" y="468" text-anchor="middle">110</text>
<line x1="468.0" y1="60" x2="468.0" y2="450" stroke="#dddddd"/>
<text x="468.0" y="468" text-anchor="middle">120</text>
<line x1="594.0" y1="60" x2="594.0" y2="450" stroke="#dddddd"/>
<text x="594.0" y="468" text-anchor="middle">130</text>
<line x1="720.0" y1="60" x2="720.0" y2="450" stroke="#dddddd"/>
<text x="720.0" y="468" text-anchor="middle">140</text>
<line x1="90" y1="450.0" x2="720" y2="450.0" stroke="#dddddd"/>
<text x="82" y="454.0" text-anchor="end">-4,000</text>
<line x1="90" y1="372.0" x2="720" y2="372.0" stroke="#dddddd"/>
<text x="82" y="376.0" text-anchor="end">-2,000</text>
<line x1="90" y1="294.0" x2="720" y2="294.0" stroke="#dddddd"/>
<text x="82" y="298.0" text-anchor="end">0</text>
<line x1="90" y1="216.0" x2="720" y2="216.0" stroke="#dddddd"/>
<text x="82" y="220.0" text-anchor="end">2,000</text>
<line x1="90" y1="138.0" x2="720" y2="138.0" stroke="#dddddd"/>
<text x="82" y="142.0" text-anchor="end">4,000</text>
<line x1="90" y1="60.0" x2="720" y2="60.0" stroke="#dddddd"/>
<text x="82" y="64.0" text-anchor="end">6,000</text>
<text x="405.0" y="500" text-anchor="middle" font-size="13">cost &amp; x (less is better)</text>
<text x="22" y="255.0" text-anchor="middle" font-size="13" transform="rotate(-90 22 255.0)">hosts (more is better)</text>
<path d="M216.0,411.0 H682.2 V99.0" fill="none" stroke="#1f6fb2" stroke-width="2"/>
<circle cx="216.0" cy="411.0" r="5" fill="#1f6fb2" stroke="#1f6fb2" stroke-width="2"/>
<text x="225.0" y="404.0" text-anchor="start" stroke="#ffffff" stroke-width="3" paint-order="stroke">a &amp; b</text>
<circle cx="682.2" cy="99.0" r="5" fill="#1f6fb2" stroke="#1f6fb2" stroke-width="2"/>
<text x="691.2" y="92.0" text-anchor="start" stroke="#ffffff" stroke-width="3" paint-order="stroke">c</text>
<circle cx="682.2" cy="333.0" r="5" fill="#ffffff" stroke="#1f6fb2" stroke-width="2"/>
<text x="691.2" y="326.0" text-anchor="start" stroke="#ffffff" stroke-width="3" paint-order="stroke">d</text>
</svg>
"""


def test_a_whole_drawing() -> None:
    """The axes run from 90 to 140 and from -4,000 to 6,000: an x of 137 is 47/50 of 630 from the left."""
    points = [Point("a & b", 100, -3000), Point("c", 137, 5000), Point("d", 137, -1000)]
    assert pareto_svg(points, [True, True, False], "T <1>", "cost & x", "hosts") == FIRST


def test_places_have_one_decimal() -> None:
    svg = pareto_svg([Point("", 1, 105), Point("", 2.345, 333), Point("", 9, 777)], [True] * 3, "t", "p", "q")
    assert re.findall(r'c([xy])="([0-9.]+)"', svg) == [
        ("x", "153.0"), ("y", "398.8"), ("x", "237.7"), ("y", "287.7"), ("x", "657.0"), ("y", "71.2"),
    ]  # fmt: skip


def test_which_way_is_better() -> None:
    points = [Point("a", 1, 9), Point("b", 5, 5)]
    for less_x, less_y in ((False, False), (False, True), (True, True)):
        svg = pareto_svg(points, [True, True], "t", "p", "q", less_x, less_y)
        assert (
            f">p ({'less' if less_x else 'more'} is better)<" in svg and f">q ({'less' if less_y else 'more'} is better)<" in svg
        )
        form = "M[0-9.]+,[0-9.]+ H[0-9.]+ V[0-9.]+" if less_x else "M[0-9.]+,[0-9.]+ V[0-9.]+ H[0-9.]+"
        assert re.search(f'<path d="{form}" ', svg)


def test_one_point_on_the_frontier_has_no_steps() -> None:
    points = [Point("a", 1, 9), Point("b", 5, 5), Point("c", 1, 9)]
    assert "<path" not in pareto_svg(points, [True, False, False], "t", "p", "q")
    assert "<path" not in pareto_svg(points, [True, False, True], "t", "p", "q")  # twice the same place
    assert pareto_svg(points, [True, True, False], "t", "p", "q").count("<path") == 1


def test_steps() -> None:
    three = [(1.0, 2.0), (3.5, 4.0), (5.0, 6.0)]
    assert _frontier_path(three, True) == "M1.0,2.0 H3.5 V4.0 H5.0 V6.0"
    assert _frontier_path(three, False) == "M1.0,2.0 V4.0 H3.5 V6.0 H5.0"


@pytest.mark.parametrize("less_x", [True, False])
@pytest.mark.parametrize("less_y", [True, False])
def test_the_frontier(less_x: bool, less_y: bool) -> None:
    """No other point is at least as good in both figures and better in one."""
    draw = Random(3)
    for _ in range(60):
        points = [Point("", draw.randrange(4), draw.randrange(4)) for _ in range(draw.randrange(1, 7))]
        best = []
        for p in points:
            beaten = False
            for q in points:
                x, y = (q.x - p.x) * (1 if less_x else -1), (q.y - p.y) * (1 if less_y else -1)
                beaten = beaten or (x <= 0 and y <= 0 and x + y < 0)
            best.append(not beaten)
        assert pareto_frontier(points, less_x, less_y) == best


# ---------------------------------------------------------------- names
FREE: list[Box] = []
RIGHT_ABOVE = (
    341.5,
    195.5,
    400.0,
    197.0,
)  # each of these overlaps only the place that it is named after, of 5 letters at 300, 200
LEFT_ABOVE = (200.0, 195.5, 258.5, 197.0)
RIGHT_BELOW = (341.5, 217.5, 350.0, 219.0)
LEFT_BELOW = (250.0, 217.5, 258.5, 219.0)
ABOVE = (299.0, 170.0, 301.0, 178.5)
BELOW = (299.0, 224.5, 301.0, 240.0)


@pytest.mark.parametrize(
    ("x", "y", "taken", "place"),
    [
        (300, 200, FREE, (309, 193, "start")),
        (300, 200, [RIGHT_ABOVE], (291, 193, "end")),
        (300, 200, [RIGHT_ABOVE, LEFT_ABOVE], (309, 215, "start")),
        (300, 200, [RIGHT_ABOVE, LEFT_ABOVE, RIGHT_BELOW], (291, 215, "end")),
        (300, 200, [RIGHT_ABOVE, LEFT_ABOVE, RIGHT_BELOW, LEFT_BELOW], (300, 188, "middle")),
        (300, 200, [RIGHT_ABOVE, LEFT_ABOVE, RIGHT_BELOW, LEFT_BELOW, ABOVE], (300, 222, "middle")),
        (300, 200, [RIGHT_ABOVE, LEFT_ABOVE, RIGHT_BELOW, LEFT_BELOW, ABOVE, BELOW], ()),
        # boxes that touch do not overlap
        (300, 200, [(342, 183, 400, 196)], (309, 193, "start")),
        (300, 200, [(200, 183, 309, 196)], (309, 193, "start")),
        (300, 200, [(309, 100, 342, 183)], (309, 193, "start")),
        (300, 200, [(309, 196, 342, 300)], (309, 193, "start")),
        (300, 200, [(341, 183, 400, 196)], (291, 193, "end")),
        (300, 200, [(301, 183, 310, 196)], (291, 193, "end")),
        (300, 200, [(309, 100, 342, 184)], (291, 193, "end")),
        (300, 200, [(309, 195, 342, 300)], (291, 193, "end")),
        # the right edge is at 760, the left one at 60
        (718, 200, FREE, (727, 193, "start")),
        (718.5, 200, FREE, (709.5, 193, "end")),
        (102, 200, [(120, 190, 130, 195)], (93, 193, "end")),
        (101.5, 200, [(120, 190, 130, 195)], (110.5, 215, "start")),
        # the upper edge is at 48, the lower one at 454
        (300, 65, FREE, (309, 58, "start")),
        (300, 64.5, FREE, (309, 79.5, "start")),
        (300, 458, FREE, (309, 451, "start")),
        (300, 458.5, FREE, (300, 446.5, "middle")),
        (300, 463, FREE, (300, 451, "middle")),
        (300, 463.5, FREE, ()),
    ],
)
def test_a_name_takes_the_first_free_side(
    x: float, y: float, taken: list[Box], place: tuple[float, float, str] | tuple[()]
) -> None:
    held = list(taken)
    out = _point_label("a<b>c", float(x), float(y), held)
    if place == ():
        assert out == []
        assert held == taken
        return
    at, up, anchor = float(place[0]), float(place[1]), place[2]
    assert out == [
        f'<text x="{at}" y="{up}" text-anchor="{anchor}" stroke="#ffffff" stroke-width="3" paint-order="stroke">'
        "a&lt;b&gt;c</text>"
    ]
    left = at - {"start": 0, "middle": 16.5, "end": 33}[anchor]
    assert held == [*taken, (left, up - 10, left + 33, up + 3)]


@pytest.mark.parametrize(
    ("x", "y", "mark", "place"),
    [
        (103.8889, -3000, (265.0, 411.0), (225.0, 404.0, "start")),  # the mark begins at 258, where the name ends
        (103.881, -3000, (264.9, 411.0), (207.0, 404.0, "end")),
        (101.9048, -2384.6, (240.0, 387.0), (225.0, 404.0, "start")),  # it ends at 394, where the name begins
        (101.9048, -2387.2, (240.0, 387.1), (207.0, 404.0, "end")),
        (100.1587, -2717.9, (218.0, 400.0), (225.0, 404.0, "start")),
        (100.1667, -2717.9, (218.1, 400.0), (207.0, 404.0, "end")),
        (101.9048, -3076.9, (240.0, 414.0), (225.0, 404.0, "start")),
        (101.9048, -3074.4, (240.0, 413.9), (207.0, 404.0, "end")),
    ],
)
def test_a_name_keeps_off_the_marks_of_all_points(
    x: float, y: float, mark: tuple[float, float], place: tuple[float, float, str]
) -> None:
    """A mark takes 7 on each side of its middle."""
    svg = pareto_svg([Point("aaaaa", 100, -3000), Point("bb", x, y), Point("c", 137, 5000)], [False] * 3, "t", "p", "q")
    assert re.findall(r'<circle cx="([0-9.]+)" cy="([0-9.]+)"', svg)[1] == (str(mark[0]), str(mark[1]))
    found = re.search(r'<text x="([0-9.]+)" y="([0-9.]+)" text-anchor="([a-z]+)"[^>]*>aaaaa<', svg)
    assert found and (float(found[1]), float(found[2]), found[3]) == place


# ---------------------------------------------------------------- axes
@pytest.mark.parametrize(
    ("values", "axis"),
    [
        ([1, 9.5], (0, 10, 2)),
        ([1, 9.9], (0, 12, 2)),  # less than a tenth of a step is left
        ([10, 11], (9.8, 11.2, 0.2)),
        ([100, 137], (90, 140, 10)),
        ([9, 3, 7], (0, 10, 2)),
        ([0, 0], (0, 0.2, 0.2)),
        ([-4, -4], (-5, -3, 1)),
        ([50, 100], (0, 120, 20)),  # 50 is not more than the spread
        ([51, 100], (50, 110, 10)),
        ([50.5, 100], (40, 110, 10)),
        ([51, 150], (0, 200, 50)),
        ([1000, 2200], (0, 2500, 500)),
        ([30.2, 40], (28, 42, 2)),
        ([30.1875, 40], (28, 42, 2)),
        ([-10, -1], (-12, 0, 2)),
        ([-3, 5], (-4, 6, 2)),
        ([7, 7], (0, 8, 2)),
        ([0, 4.5], (0, 5, 1)),
        ([0, 5], (0, 6, 1)),
        ([0, 5.004], (0, 6, 1)),  # a step may be a thousandth less than a fifth of the spread
        ([0, 5.5], (0, 6, 2)),
        ([0, 11], (0, 12.5, 2.5)),
        ([0, 13], (0, 15, 5)),
        ([0, 26], (0, 30, 10)),
        ([0, 0.0007], (0, 0.0008, 0.0002)),
    ],
)
def test_axes(values: list[float], axis: tuple[float, float, float]) -> None:
    assert _axis_range(values) == pytest.approx(axis, rel=1e-9, abs=1e-12)


def test_axes_of_random_values() -> None:
    """Round steps, of which at most seven or so are needed, and room of a tenth of a step around all values."""
    draw = Random(5)
    for _ in range(300):
        values = [round(draw.uniform(-1, 1) * 10.0 ** draw.randrange(-2, 5), 4) for _ in range(draw.randrange(1, 4))]
        if draw.random() < 0.5:
            values = [abs(v) + 1 for v in values]
        low, high, step = _axis_range(values)
        least, most = min(values), max(values)
        part = step / 10.0 ** floor(log10(step) + 1e-9)
        assert any(part == pytest.approx(m) for m in (1, 2, 2.5, 5))
        assert low / step == pytest.approx(round(low / step), abs=1e-6) and high / step == pytest.approx(
            round(high / step), abs=1e-6
        )
        begin = 0.0 if 0 <= least <= ((most - least) or most) else least
        wide = (most - begin) or abs(most) or 1.0
        assert step >= wide / 5 * 0.998 and step < wide / 5 * 2.51
        assert low <= begin <= low + step * 1.1 + 1e-9 and high - step * 1.1 - 1e-9 <= most <= high - step * 0.1 + 1e-9
        if begin:
            assert begin - low >= step * 0.1 - 1e-9


def test_marks_of_an_axis() -> None:
    assert _axis_ticks(9.8, 11.200000000000001, 0.2) == [9.8, 10.0, 10.2, 10.4, 10.6, 10.8, 11.0, 11.2]
    assert _axis_ticks(-5, 5, 2.5) == [-5, -2.5, 0, 2.5, 5] and _axis_ticks(0, 3, 3) == [0, 3]
    assert _axis_ticks(0.1 + 0.2, 0.6, 0.1) == [0.3, 0.4, 0.5, 0.6]
