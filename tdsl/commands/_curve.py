"""A figure over a parameter: where the curve bends, and a drawing of it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from tdsl.commands._pareto import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Point, axis_range, axis_ticks


def knee_of_curve(points: Sequence[Point]) -> int | None:
    """The point of a curve that is farthest from the straight line between its ends, both axes scaled to the
    range of the curve (Satopää et al., Finding a Kneedle in a Haystack, 2011): beyond it more of x gives less
    than before, or costs more. None of fewer than three points, and of a straight line."""
    order = sorted(range(len(points)), key=lambda k: points[k].x)
    if len(order) < 3:
        return None
    first, last = points[order[0]], points[order[-1]]
    high, low = max(p.y for p in points), min(p.y for p in points)
    if high == low or first.x == last.x:
        return None

    def off_line(k: int) -> float:
        share = (points[k].x - first.x) / (last.x - first.x)
        return abs(points[k].y - first.y - share * (last.y - first.y)) / (high - low)

    knee = max(order, key=lambda k: (round(off_line(k), 9), -points[k].x))
    return knee if off_line(knee) > 1e-9 else None


def curve_svg(points: Sequence[Point], knee: int | None, title: str, x_name: str, y_name: str) -> str:
    """An SVG: the points in order of x, joined by lines, with the one where the curve bends filled."""
    (x_low, x_high, x_step), (y_low, y_high, y_step) = (
        axis_range([p.x for p in points]),
        axis_range([p.y for p in points]),
    )
    right, bottom, middle = WIDTH - RIGHT, HEIGHT - BOTTOM, (HEIGHT - BOTTOM + TOP) / 2

    def at(p: Point) -> tuple[float, float]:
        x = LEFT + (p.x - x_low) / (x_high - x_low) * (right - LEFT)
        return round(x, 1), round(bottom - (p.y - y_low) / (y_high - y_low) * (bottom - TOP), 1)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="30" font-size="17" font-weight="bold">{escape(title)}</text>',
        f'<text x="{LEFT}" y="48" fill="#555555">'
        "filled: the knee, farthest from the line between the ends</text>",
    ]
    for value in axis_ticks(x_low, x_high, x_step):
        x, _ = at(Point("", value, y_low))
        out.append(f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}" stroke="#dddddd"/>')
        out.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{value:,.12g}</text>')
    for value in axis_ticks(y_low, y_high, y_step):
        _, y = at(Point("", x_low, value))
        out.append(f'<line x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="#dddddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,.12g}</text>')
    out += [
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 20}" text-anchor="middle" font-size="13">'
        f"{escape(x_name)}</text>",
        f'<text x="22" y="{middle}" text-anchor="middle" font-size="13" transform="rotate(-90 22 {middle})">'
        f"{escape(y_name)}</text>",
    ]
    placed = sorted(at(p) for p in points)
    for (x, y), (far_x, far_y) in pairwise(placed):
        out.append(f'<line x1="{x}" y1="{y}" x2="{far_x}" y2="{far_y}" stroke="#1f6fb2" stroke-width="2"/>')
    for k, p in enumerate(points):
        x, y = at(p)
        fill = "#1f6fb2" if k == knee else "#ffffff"
        out.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{fill}" stroke="#1f6fb2" stroke-width="2"/>')
        if k == knee:
            out.append(
                f'<text x="{x + 9}" y="{y + 18}" stroke="#ffffff" stroke-width="3" paint-order="stroke">'
                f"knee: {escape(p.name)}</text>"
            )
    return "\n".join([*out, "</svg>"]) + "\n"
