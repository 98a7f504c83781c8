"""Points of two figures: which no other point beats, and a drawing of them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

from tdsl.system.lazy_dataclass import dataclass

WIDTH, HEIGHT = 760, 520
LEFT, RIGHT, TOP, BOTTOM = 90, 40, 60, 70


@dataclass(frozen=True, slots=True)
class Point:
    """A design: its name, and two figures."""

    name: str
    x: float
    y: float


def pareto_frontier(points: Sequence[Point], less_x: bool, less_y: bool) -> list[bool]:
    """Which points no other beats: none is at least as good in both figures and better in one."""
    good = [(p.x if less_x else -p.x, p.y if less_y else -p.y) for p in points]
    return [not any(a <= x and b <= y and (a, b) != (x, y) for a, b in good) for x, y in good]


def pareto_svg(
    points: Sequence[Point],
    best: Sequence[bool],
    title: str,
    x_name: str,
    y_name: str,
    less_x: bool = True,
    less_y: bool = False,
    limit: float | None = None,
) -> str:
    """An SVG: all points with their names, those of the frontier filled. The steps between them are the
    border of what some filled point is better than, or as good as, in both figures. ``limit`` is a budget of
    x, drawn where it lies between points."""
    (x_low, x_high, x_step), (y_low, y_high, y_step) = (
        axis_range([p.x for p in points]),
        axis_range([p.y for p in points]),
    )
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def across(value: float) -> float:
        return round(LEFT + (value - x_low) / (x_high - x_low) * (right - LEFT), 1)

    def up(value: float) -> float:
        return round(bottom - (value - y_low) / (y_high - y_low) * (bottom - TOP), 1)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="30" font-size="17" font-weight="bold">{escape(title)}</text>',
        f'<text x="{LEFT}" y="48" fill="#555555">filled: no other point is better in both figures</text>',
    ]
    for value in axis_ticks(x_low, x_high, x_step):
        x = across(value)
        out += [
            f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}" stroke="#dddddd"/>',
            f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{value:,.12g}</text>',
        ]
    for value in axis_ticks(y_low, y_high, y_step):
        y = up(value)
        out += [
            f'<line x1="{LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="#dddddd"/>',
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:,.12g}</text>',
        ]
    middle = (bottom + TOP) / 2
    x_words, y_words = (
        f"{name} ({'less' if less else 'more'} is better)"
        for name, less in ((x_name, less_x), (y_name, less_y))
    )
    out += [
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 20}" text-anchor="middle" '
        f'font-size="13">{escape(x_words)}</text>',
        f'<text x="22" y="{middle}" text-anchor="middle" font-size="13" transform="rotate(-90 22 {middle})">'
        f"{escape(y_words)}</text>",
    ]
    if limit is not None and x_low <= limit <= x_high:
        x = across(limit)
        out += [
            f'<line x1="{x}" y1="{TOP}" x2="{x}" y2="{bottom}" stroke="#b23a1f" stroke-dasharray="6 4"/>',
            f'<text x="{x + 5}" y="{TOP + 14}" fill="#b23a1f">budget</text>',
        ]
    filled = sorted({(across(p.x), up(p.y)) for p, b in zip(points, best, strict=True) if b})
    if len(filled) > 1:
        out.append(
            f'<path d="{_frontier_path(filled, less_x)}" fill="none" stroke="#1f6fb2" stroke-width="2"/>'
        )
    taken = [(x - 7, y - 7, x + 7, y + 7) for x, y in ((across(p.x), up(p.y)) for p in points)]
    for p, b in zip(points, best, strict=True):
        x, y = across(p.x), up(p.y)
        fill = "#1f6fb2" if b else "#ffffff"
        out.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{fill}" stroke="#1f6fb2" stroke-width="2"/>')
        out += _point_label(p.name, x, y, taken)
    return "\n".join([*out, "</svg>"]) + "\n"


def _frontier_path(filled: Sequence[tuple[float, float]], less_x: bool) -> str:
    """A path from point to point along the two axes: what lies behind a step is beaten by the point at its
    corner."""
    path = f"M{filled[0][0]},{filled[0][1]}"
    for x, y in filled[1:]:
        path += f" H{x} V{y}" if less_x else f" V{y} H{x}"
    return path


def _point_label(text: str, x: float, y: float, taken: list[tuple[float, float, float, float]]) -> list[str]:
    """A point's name on a side where nothing is yet, none where every side is taken."""
    wide = 6.6 * len(text)
    for dx, dy, anchor in (
        (9, -7, "start"),
        (-9, -7, "end"),
        (9, 15, "start"),
        (-9, 15, "end"),
        (0, -12, "middle"),
        (0, 22, "middle"),
    ):
        left = x + dx - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        box = (left, y + dy - 10, left + wide, y + dy + 3)
        inside = (
            box[0] >= LEFT - 30 and box[2] <= WIDTH and box[1] >= TOP - 12 and box[3] <= HEIGHT - BOTTOM + 4
        )
        if inside and not any(
            box[0] < c and a < box[2] and box[1] < d and b < box[3] for a, b, c, d in taken
        ):
            taken.append(box)
            halo = 'stroke="#ffffff" stroke-width="3" paint-order="stroke"'
            return [
                f'<text x="{round(x + dx, 1)}" y="{round(y + dy, 1)}" text-anchor="{anchor}" '
                f"{halo}>{escape(text)}</text>"
            ]
    return []


def axis_range(values: Sequence[float]) -> tuple[float, float, float]:
    """The ends of an axis and the step between its marks: round numbers, with the values inside."""
    low, high = min(values), max(values)
    spread = (high - low) or abs(high) or 1.0
    if 0 <= low <= spread:  # not far from nothing: begin there
        low, spread = 0.0, high or 1.0
    rough = spread / 5
    power = 10.0 ** floor(log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    first, last = floor(low / step), ceil(high / step)
    if low and low - first * step < step * 0.1:
        first -= 1
    if last * step - high < step * 0.1:
        last += 1
    return first * step, last * step, step


def axis_ticks(low: float, high: float, step: float) -> list[float]:
    return [round((round(low / step) + k) * step, 12) for k in range(round((high - low) / step) + 1)]
