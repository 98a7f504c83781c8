"""Small drawings inside boxes: a torus as slices of a grid, groups that are joined pairwise on a circle,
chips in their trays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import ceil, cos, pi, prod, sin, sqrt
from typing import Any

from tdsl.drawing.records import Glyph, Stroke

MARGIN = 13.0
MOST_CELLS, MOST_GROUPS = 16384, 1000
"""Above, a shape is not drawn."""
MOST_CHORDS = 100
"""Groups on a circle above which chords fill the disc and devices the ring around it: neither can be
read."""


def glyph_of_shape(shape: Mapping[str, Any], count: int, colours: Sequence[str]) -> Glyph | None:
    """The drawing of a shape (see ``shapes``) of so many devices, None where it has none. ``colours`` are
    those of the grid's dimensions, or of the links between groups."""
    if "grid" in shape and count <= MOST_CELLS:
        return _grid_glyph(shape["grid"], shape["wraps"], colours)
    if "circle" in shape and shape["circle"] <= MOST_GROUPS:
        return _circle_glyph(shape["circle"], count // shape["circle"], colours[0])
    return None


def _grid_glyph(sizes: Sequence[int], wraps: Sequence[bool], colours: Sequence[str]) -> Glyph:
    """Slices of the first two dimensions side by side; stubs at their edges are wraps, arrows lead to the
    next slice."""
    across, down, slices = sizes[0], sizes[1], prod(sizes[2:])
    pitch = _distance_of_cells(prod(sizes))
    cell = pitch * 0.6
    columns = min(slices, ceil(sqrt(slices * 1.6)))
    wide, high = across * pitch + 2 * MARGIN, down * pitch + 2 * MARGIN
    stub = MARGIN * 0.55
    cells, rows, ranks, loops, steps = [], [], [], [], []
    for s in range(slices):
        x0, y0 = (s % columns) * wide + MARGIN, s // columns * high + MARGIN
        middle = y0 + down // 2 * pitch
        right, bottom = x0 + (across - 1) * pitch + cell, y0 + (down - 1) * pitch + cell
        cells += [
            _rectangle_path(x0 + i * pitch, y0 + j * pitch, cell, cell)
            for j in range(down)
            for i in range(across)
        ]
        out = stub if wraps[0] else 0.0
        rows += [
            f"M{_coordinate_text(x0 - out)} "
            f"{_coordinate_text(y0 + j * pitch + cell / 2)}H{_coordinate_text(right + out)}"
            for j in range(down)
        ]
        out = stub if wraps[1] else 0.0
        ranks += [
            f"M{_coordinate_text(x0 + i * pitch + cell / 2)} "
            f"{_coordinate_text(y0 - out)}V{_coordinate_text(bottom + out)}"
            for i in range(across)
        ]
        if wraps[0]:
            y, top = y0 + cell / 2, y0 - MARGIN * 0.8
            loops.append(
                f"M{_coordinate_text(x0 - stub)} {_coordinate_text(y)}C{_coordinate_text(x0 - stub - 6)} "
                f"{_coordinate_text(top)} {_coordinate_text(x0)} {_coordinate_text(top)} "
                f"{_coordinate_text((x0 + right) / 2)} {_coordinate_text(top)}"
            )
            loops.append(
                f"S{_coordinate_text(right + stub + 6)} {_coordinate_text(top)} "
                f"{_coordinate_text(right + stub)} {_coordinate_text(y)}"
            )
        if len(sizes) > 2 and (s + 1) % sizes[2] and (s + 1) % columns:
            steps.append(
                f"M{_coordinate_text(right + 2)} "
                f"{_coordinate_text(middle)}h{_coordinate_text(2 * MARGIN + pitch - cell - 5)}m-4 -3l4 3l-4 3"
            )
    strokes = [Stroke("".join(rows + loops), colours[0]), Stroke("".join(ranks), colours[1])]
    if steps:
        strokes.append(Stroke("".join(steps), colours[2]))
    return Glyph(columns * wide, ceil(slices / columns) * high, "".join(cells), tuple(strokes))


def _distance_of_cells(count: int) -> float:
    """How far apart the cells of a grid are, from edge to same edge: the less the more there are."""
    return 18.0 if count <= 128 else 12.0 if count <= 1500 else 6.0


def _circle_glyph(groups: int, each: int, colour: str) -> Glyph:
    """Groups on a circle with a chord for each pair; the devices of a group are a strip that points
    outward."""
    if groups > MOST_CHORDS:
        radius, ring = 150.0, 18.0
        half = radius + ring + 14
        disc = Stroke(_circle_path(half, radius / 2), colour, 0.5, radius)
        return Glyph(
            2 * half,
            2 * half,
            "",
            (disc, Stroke(_circle_path(half, radius + 4 + ring / 2), "#44525f", 0.6, ring)),
        )
    columns = 2 if each > 8 else 1
    size = 4.0 if groups > 40 else 8.0
    radius = max(48.0, groups * (columns * size + 5) / (2 * pi))
    half = radius + ceil(each / columns) * size + 14
    points = [
        (half + cos(t) * radius, half + sin(t) * radius)
        for t in (2 * pi * g / groups - pi / 2 for g in range(groups))
    ]
    chords = "".join(
        f"M{_coordinate_text(x)} {_coordinate_text(y)}L{_coordinate_text(u)} {_coordinate_text(v)}"
        for (x, y), (u, v) in combinations(points, 2)
    )
    cells = []
    for g in range(groups):
        t = 2 * pi * g / groups - pi / 2
        for k in range(each):
            r, side = radius + 7 + k // columns * size, (k % columns - (columns - 1) / 2) * size
            x, y = half + cos(t) * r - sin(t) * side, half + sin(t) * r + cos(t) * side
            cells.append(_rectangle_path(x - size * 0.4, y - size * 0.4, size * 0.8, size * 0.8))
    return Glyph(
        2 * half, 2 * half, "".join(cells), (Stroke(chords, colour, 0.8, round(min(1.0, 16 / groups), 2)),)
    )


def _circle_path(middle: float, radius: float) -> str:
    """A whole circle."""
    r = _coordinate_text(radius)
    return (
        f"M{_coordinate_text(middle - radius)} {_coordinate_text(middle)}a{r} {r} 0 1 0 "
        f"{_coordinate_text(2 * radius)} 0a{r} {r} 0 1 0 -{_coordinate_text(2 * radius)} 0z"
    )


def _rectangle_path(x: float, y: float, wide: float, high: float) -> str:
    """A rectangle by its corner of least coordinates."""
    w, h = _coordinate_text(wide), _coordinate_text(high)
    return f"M{_coordinate_text(x)} {_coordinate_text(y)}h{w}v{h}h-{w}z"


def tray_glyph(rows: int, columns: int) -> Glyph:
    """Chips side by side in trays that are one above the other."""
    wide, high = 26.0, 12.0
    boards = "".join(_rectangle_path(0, r * high, columns * wide + 4, high - 2) for r in range(rows))
    cells = "".join(
        _rectangle_path(4 + c * wide, r * high + 2, wide - 4, high - 6)
        for r in range(rows)
        for c in range(columns)
    )
    return Glyph(columns * wide + 4, rows * high, cells, (Stroke(boards, "#8896a5", 1.0),))


def _coordinate_text(value: float) -> str:
    """A coordinate with a tenth of a unit."""
    return f"{value:.1f}".removesuffix(".0")
