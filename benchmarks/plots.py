"""Plots of records as SVG: the same records give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from math import ceil, floor, log10
from typing import Any

COLOURS = ("#1f6fb2", "#d1711f", "#3a8f4f", "#8a5bb0", "#b0413e", "#6b6b6b", "#1b9aaa")
WIDTH, LEFT, RIGHT = 760, 210, 110
ROW, HEAD, FOOT = 20, 66, 46
LINES_HEIGHT = 440
UNITS = ((1.0, "s"), (1e3, "ms"), (1e6, "µs"))
Record = Mapping[str, Any]


def figures(record: Record) -> tuple[float, float, float] | None:
    """Median, least and greatest processor seconds, of the clock where those are not known; None of what was
    skipped."""
    for kind in ("cpu", "wall"):
        median = record.get(f"{kind}_s")
        if median is not None:
            return median, record.get(f"{kind}_least", median), record.get(f"{kind}_most", median)
    return None


def seconds(value: float) -> str:
    """A time with two significant figures and its unit."""
    shown = float(f"{value:.2g}")
    factor, unit = next(((f, u) for f, u in UNITS if shown * f >= 1), UNITS[-1])
    digits = max(0, 1 - floor(log10(shown * factor * 1.000_001))) if shown > 0 else 0
    return f"{value * factor:,.{digits}f} {unit}"


def _axis(values: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around some values."""
    positive = [v for v in values if v > 0] or [1.0]
    low, high = floor(log10(min(positive))), ceil(log10(max(positive)))
    return low, high if high > low else low + 1


def _page(height: int, title: str, subtitle: str, body: Sequence[str]) -> str:
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
        f'height="{height}" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="16" y="24" font-size="16" font-weight="bold">{escape(title)}</text>',
        f'<text x="16" y="42" fill="#555555">{escape(subtitle)}</text>',
    ]
    return "\n".join([*head, *body, "</svg>"]) + "\n"


def bars(
    records: Sequence[Record], title: str, subtitle: str,
    value: Callable[[Record], tuple[float, float, float] | None] = figures,
    text: Callable[[float], str] = seconds,
) -> str:  # fmt: skip
    """A bar a record on a logarithmic scale, grouped by case, with a line from the least to the greatest.
    ``value`` gives median, least and greatest, ``text`` a value as it is shown."""
    shown = [(r, f) for r in records if (f := value(r)) is not None]
    low, high = _axis([x for _, f in shown for x in f])
    cases = list(dict.fromkeys(r["case"] for r, _ in shown))
    peers = list(dict.fromkeys(r["peer"] for r, _ in shown))
    one = len(cases) == 1
    height = HEAD + ROW * (len(shown) + (0 if one else len(cases))) + FOOT
    right, bottom = WIDTH - RIGHT, height - FOOT + 6

    def across(value: float) -> float:
        return round(LEFT + (log10(max(value, 10.0**low)) - low) / (high - low) * (right - LEFT), 1)

    out = []
    for power in range(low, high + 1):
        x = across(10.0**power)
        out.append(f'<line x1="{x}" y1="{HEAD - 12}" x2="{x}" y2="{bottom}" stroke="#dddddd"/>')
        out.append(f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{escape(text(10.0**power))}</text>')
    y = HEAD
    for case in cases:
        if not one:
            out.append(f'<text x="16" y="{y + 2}" font-weight="bold">{escape(case)}</text>')
            y += ROW
        for r, (median, least, most) in shown:
            if r["case"] != case:
                continue
            x, colour = across(median), COLOURS[0] if one else COLOURS[peers.index(r["peer"]) % len(COLOURS)]
            out.append(f'<text x="{LEFT - 8}" y="{y + 2}" text-anchor="end">{escape(r["peer"])}</text>')
            out.append(
                f'<rect x="{LEFT}" y="{y - 9}" width="{max(round(x - LEFT, 1), 1)}" height="14" '
                f'fill="{colour}"/>'
            )
            out.append(
                f'<line x1="{across(least)}" y1="{y - 2}" x2="{across(most)}" y2="{y - 2}" stroke="#000000"/>'
            )
            out.append(f'<text x="{max(x, across(most)) + 6:.1f}" y="{y + 2}">{escape(text(median))}</text>')
            y += ROW
    return _page(height, title, subtitle, out)


def lines(records: Sequence[Record], title: str, subtitle: str, x_name: str) -> str:
    """A line a peer over ``n``, both scales logarithmic."""
    shown = [(r, f) for r in records if r.get("n") and (f := figures(r)) is not None]
    (low, high), (x_low, x_high) = _axis([f[0] for _, f in shown]), _axis([float(r["n"]) for r, _ in shown])
    left, right, top, bottom = 80, WIDTH - RIGHT - 60, HEAD, LINES_HEIGHT - 56

    def scale(lowest: int, highest: int, begin: int, end: int) -> Callable[[float], float]:
        return lambda value: round(begin + (log10(value) - lowest) / (highest - lowest) * (end - begin), 1)

    across, up = scale(x_low, x_high, left, right), scale(low, high, bottom, top)
    out = []
    for power in range(x_low, x_high + 1):
        x = across(10.0**power)
        out.append(f'<line x1="{x}" y1="{top}" x2="{x}" y2="{bottom}" stroke="#dddddd"/>')
        out.append(f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{10**power:,}</text>')
    for power in range(low, high + 1):
        y = up(10.0**power)
        out.append(f'<line x1="{left}" y1="{y}" x2="{right}" y2="{y}" stroke="#dddddd"/>')
        out.append(f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{_power(power)}</text>')
    out.append(
        f'<text x="{(left + right) / 2}" y="{LINES_HEIGHT - 14}" text-anchor="middle">{escape(x_name)}</text>'
    )
    for i, peer in enumerate(dict.fromkeys(r["peer"] for r, _ in shown)):
        points = sorted((across(float(r["n"])), up(f[0])) for r, f in shown if r["peer"] == peer)
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{x},{y}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{colour}"/>' for x, y in points]
        out.append(
            f'<text x="{points[-1][0] + 8}" y="{points[-1][1] + 4}" fill="{colour}">{escape(peer)}</text>'
        )
    return _page(LINES_HEIGHT, title, subtitle, out)


def _power(power: int) -> str:
    return seconds(10.0**power)
