"""Points of two figures: which no other point beats, and a drawing of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 760, 520
LEFT, RIGHT, TOP, BOTTOM = 90, 40, 60, 70


@dataclass(frozen=True, slots=True)
class Point:
    """A design: its name, and two figures."""

    name: str
    x: float
    y: float


def frontier(points: Sequence[Point], less_x: bool, less_y: bool) -> list[bool]:
    """Which points no other beats: none is at least as good in both figures and better in one."""
    good = [(p.x if less_x else -p.x, p.y if less_y else -p.y) for p in points]
    return [not any(a <= x and b <= y and (a, b) != (x, y) for a, b in good) for x, y in good]


def drawing(points: Sequence[Point], best: Sequence[bool], title: str, x_name: str, y_name: str) -> str:
    """An SVG: all points with their names, those of the frontier filled and joined by a line."""
    x_low, x_high = _span([p.x for p in points])
    y_low, y_high = _span([p.y for p in points])

    def at(p: Point) -> tuple[float, float]:
        x = LEFT + (p.x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - (p.y - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="30" font-size="17" font-weight="bold">{escape(title)}</text>',
        f'<text x="{LEFT}" y="48" fill="#555555">filled: no other point is better in both figures</text>',
    ]
    for k in range(6):
        x = LEFT + k / 5 * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - k / 5 * (HEIGHT - TOP - BOTTOM)
        out += [
            f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#dddddd"/>',
            f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x_low + k / 5 * (x_high - x_low):,.4g}</text>',
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>',
            f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{y_low + k / 5 * (y_high - y_low):,.4g}</text>',
        ]
    middle = (HEIGHT - BOTTOM + TOP) / 2
    out += [
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 20}" text-anchor="middle" font-size="13">{escape(x_name)}</text>',
        f'<text x="22" y="{middle}" text-anchor="middle" font-size="13" transform="rotate(-90 22 {middle})">'
        f"{escape(y_name)}</text>",
    ]
    line = sorted({at(p) for p, b in zip(points, best, strict=True) if b})
    if len(line) > 1:
        path = " ".join(f"{x},{y}" for x, y in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="#1f6fb2" stroke-width="2"/>')
    for p, b in zip(points, best, strict=True):
        x, y = at(p)
        right = x > WIDTH - RIGHT - 140
        side = f'x="{x - 9}" text-anchor="end"' if right else f'x="{x + 9}"'
        fill = "#1f6fb2" if b else "#ffffff"
        out += [
            f'<circle cx="{x}" cy="{y}" r="5" fill="{fill}" stroke="#1f6fb2" stroke-width="2"/>',
            f'<text {side} y="{y - 7}">{escape(p.name)}</text>',
        ]
    return "\n".join([*out, "</svg>"]) + "\n"


def _span(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis, with room at both."""
    low, high = min(values), max(values)
    room = (high - low) * 0.1 or abs(high) * 0.1 or 1.0
    return (0.0 if 0 <= low - room < room * 3 else low - room), high + room
