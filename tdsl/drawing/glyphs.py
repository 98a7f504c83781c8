"""Small drawings inside boxes: a torus as slices of a grid or as cubes, groups that are joined pairwise on a
circle, devices on a ring with a chord for each linked pair, chips in their trays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, cos, pi, prod, sin, sqrt
from typing import Any

from tdsl.drawing.records import Glyph, Stroke
from tdsl.system.lazy_dataclass import dataclass

MARGIN = 13.0
MOST_CELLS, MOST_GROUPS = 16384, 1000
"""Above, a shape is not drawn."""
MOST_GROUPS_WITH_LOCAL_LINKS = 40
"""Groups on a circle of which the links inside are drawn, too."""
MOST_CHORDS = 100
"""Groups on a circle above which chords fill the disc and devices the ring around it: neither can be
read."""


@dataclass(frozen=True, slots=True)
class LinkedPair:
    """Two devices of a set, by their places in it, and how many links of one colour they have."""

    a: int
    b: int
    links: int
    colour: str


@dataclass(frozen=True, slots=True)
class GlyphLinks:
    """What a glyph shows of the links inside a set: the colours of a grid's dimensions or of the links
    between groups, the linked pairs of a ring or of groups, and the sizes of the set's axes."""

    colours: Sequence[str]
    pairs: Sequence[LinkedPair]
    sizes: Sequence[int]


def glyph_of_shape(shape: Mapping[str, Any], count: int, links: GlyphLinks) -> Glyph | None:
    """The drawing of a shape (see ``shapes``) of so many devices, None where it has none."""
    if "grid" in shape and count <= MOST_CELLS:
        axes = shape["axes"]
        if axes and len(axes) <= 3 and all(len(group) == 2 for group in axes):
            outer, inner = ([links.sizes[group[k]] for group in axes] for k in (0, 1))
            return _cubes_glyph(outer, inner, shape["wraps"], links.colours)
        return _grid_glyph(shape["grid"], shape["wraps"], links.colours)
    if "circle" in shape and shape["circle"] <= MOST_GROUPS:
        return _circle_glyph(shape["circle"], count // shape["circle"], links)
    if "ring" in shape:
        return _ring_glyph(shape["ring"], count, links.pairs)
    return None


def _cubes_glyph(
    outer: Sequence[int], inner: Sequence[int], wraps: Sequence[bool], colours: Sequence[str]
) -> Glyph:
    """A torus of cubes: slices of two dimensions side by side, in each cube its chips layer by layer. A line
    joins neighbouring cubes, a stub is a wrap, an arrow leads to the same place of the next slice."""
    nx, ny, nz = (*outer, 1, 1)[:3]
    ix, iy, iz = (*inner, 1, 1)[:3]
    layers, cell = ceil(sqrt(iz)), 4.0
    wide, high = layers * (ix * cell + 2) + 6, ceil(iz / layers) * (iy * cell + 2) + 6
    step_x, step_y = wide + 24, high + 24
    across = _slices_side_by_side(nz)
    slice_x, slice_y = nx * step_x + 20, ny * step_y + 20
    lines: list[list[str]] = [[], [], []]
    boards, cells = [], list[str]()
    for k in range(nz):
        x0, y0 = k % across * slice_x + 22, k // across * slice_y + 22
        ends = [10 if wraps[0] else 0, 10 if len(wraps) > 1 and wraps[1] else 0]
        for j in range(ny):
            at = _coordinate_text(y0 + j * step_y + high / 2)
            lines[0] += _pieces_between_cubes(x0, nx, step_x, wide, ends[0], f"M{{}} {at}H{{}}")
        for i in range(nx if ny > 1 else 0):
            at = _coordinate_text(x0 + i * step_x + wide / 2)
            lines[1] += _pieces_between_cubes(y0, ny, step_y, high, ends[1], f"M{at} {{}}V{{}}")
        for i, j in ((i, j) for j in range(ny) for i in range(nx)):
            x, y = x0 + i * step_x, y0 + j * step_y
            boards.append(_rectangle_path(x, y, wide, high))
            if nz > 1 and (k + 1 < nz or wraps[2]):
                lines[2].append(f"M{_coordinate_text(x + wide)} {_coordinate_text(y)}l8 -8m-4 0h4v4")
            cells += _chips_of_cube(x + 4, y + 4, (ix, iy, iz), layers, cell)
    strokes = _strokes_of_axes(lines, colours)
    strokes.append(Stroke("".join(boards), "#8896a5", 1.0, 1.0))
    return Glyph(across * slice_x, ceil(nz / across) * slice_y, "".join(cells), tuple(strokes))


def _slices_side_by_side(count: int) -> int:
    """How many of so many slices of a torus stand in one row: all of up to three, else a divisor that makes
    the picture wider than high."""
    even = [k for k in range(1, count + 1) if count % k == 0] if count > 3 else [count]
    return min(even, key=lambda k: abs(k - sqrt(count * 1.6)))


def _chips_of_cube(
    x: float, y: float, sizes: tuple[int, int, int], layers: int, cell: float
) -> Iterator[str]:
    """The chips of a cube, so many layers of it in a row."""
    wide, high, deep = sizes
    for z in range(deep):
        left = x + z % layers * (wide * cell + 2)
        top = y + z // layers * (high * cell + 2)
        for b in range(high):
            for a in range(wide):
                yield _rectangle_path(left + a * cell, top + b * cell, cell * 0.8, cell * 0.8)


def _strokes_of_axes(lines: Sequence[Sequence[str]], colours: Sequence[str]) -> list[Stroke]:
    """The lines along each axis that has some, in its colour."""
    last = len(colours) - 1
    return [Stroke("".join(paths), colours[min(k, last)], 0.9, 1.8) for k, paths in enumerate(lines) if paths]


def _pieces_between_cubes(
    start: float, count: int, step: float, size: float, wrap: float, path: str
) -> list[str]:
    """The pieces of a line through a row of cubes that are between them, and those of ``wrap`` units at both
    ends; ``path`` takes where a piece begins and ends."""
    last = start + (count - 1) * step + size
    pieces = [(start - wrap, start)] if wrap else []
    pieces += [(start + k * step + size, start + (k + 1) * step) for k in range(count - 1)]
    pieces += [(last, last + wrap)] if wrap else []
    return [path.format(_coordinate_text(a), _coordinate_text(b)) for a, b in pieces]


def _ring_glyph(groups: int, count: int, pairs: Sequence[LinkedPair]) -> Glyph:
    """Devices on a circle, a gap between groups, and a chord for each linked pair: the wider the more links
    it has; neighbours of one group are joined by a curve that turns inward."""
    each, size = count // groups, 6.0 if count > 150 else 8.0 if count > 60 else 11.0
    gap = 1 if each > 1 else 0
    slots = count + groups * gap
    radius = max(70.0, slots * (size + 3) / (2 * pi))
    half = radius + size + 12

    def point(i: int, r: float) -> tuple[float, float]:
        turn = (i + gap * (i // each) + gap / 2) / slots * 2 * pi - pi / 2
        return half + cos(turn) * r, half + sin(turn) * r

    most = max((p.links for p in pairs), default=1)
    paths: dict[tuple[str, float], list[str]] = {}
    for p in pairs:
        (x, y), (u, v) = point(p.a, radius - 2), point(p.b, radius - 2)
        pull = 0.55 if each > 1 and p.a // each == p.b // each else 0.18
        mx, my = (x + u) / 2, (y + v) / 2
        width = 0.6 if count > 150 else round(1 + 2.5 * p.links / most, 2) if most > 1 else 1.0
        paths.setdefault((p.colour, width), []).append(
            f"M{_coordinate_text(x)} {_coordinate_text(y)}Q{_coordinate_text(mx + (half - mx) * pull)} "
            f"{_coordinate_text(my + (half - my) * pull)} {_coordinate_text(u)} {_coordinate_text(v)}"
        )
    cells = []
    for i in range(count):
        x, y = point(i, radius + size / 2 + 2)
        cells.append(_rectangle_path(x - size / 2, y - size / 2, size * 0.86, size * 0.86))
    strokes = [Stroke("".join(d), colour, 0.75, width) for (colour, width), d in paths.items()]
    return Glyph(2 * half, 2 * half, "".join(cells), tuple(strokes))


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


def _circle_glyph(groups: int, each: int, links: GlyphLinks) -> Glyph:
    """Groups on a circle with a chord for each pair; the devices of a group are a strip that points outward,
    with curves beside it for its own links."""
    colour = links.colours[0]
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
    local = groups <= MOST_GROUPS_WITH_LOCAL_LINKS and each > 1
    radius = max(48.0, groups * (columns * size + (5 + size if local else 5)) / (2 * pi))
    half = radius + ceil(each / columns) * size + 14
    points = [
        (half + cos(t) * radius, half + sin(t) * radius)
        for t in (2 * pi * g / groups - pi / 2 for g in range(groups))
    ]
    chords = "".join(
        f"M{_coordinate_text(x)} {_coordinate_text(y)}L{_coordinate_text(u)} {_coordinate_text(v)}"
        for (x, y), (u, v) in combinations(points, 2)
    )

    def place(i: int) -> tuple[float, float]:
        g, k = divmod(i, each)
        t = 2 * pi * g / groups - pi / 2
        r, side = radius + 7 + k // columns * size, (k % columns - (columns - 1) / 2) * size
        return half + cos(t) * r - sin(t) * side, half + sin(t) * r + cos(t) * side

    cells = []
    for i in range(groups * each):
        x, y = place(i)
        cells.append(_rectangle_path(x - size * 0.4, y - size * 0.4, size * 0.8, size * 0.8))
    strokes = [Stroke(chords, colour, 0.8, round(min(1.0, 16 / groups), 2))]
    curves: dict[str, list[str]] = {}
    for p in links.pairs if local else ():
        g = p.a // each
        if g != p.b // each:
            continue
        t = 2 * pi * g / groups - pi / 2
        away = size * (0.8 + 0.55 * abs(p.b % each // columns - p.a % each // columns))
        (x, y), (u, v) = place(p.a), place(p.b)
        curves.setdefault(p.colour, []).append(
            f"M{_coordinate_text(x)} {_coordinate_text(y)}Q{_coordinate_text((x + u) / 2 - sin(t) * away)} "
            f"{_coordinate_text((y + v) / 2 + cos(t) * away)} {_coordinate_text(u)} {_coordinate_text(v)}"
        )
    strokes += [Stroke("".join(d), c, 0.85, 0.9) for c, d in curves.items()]
    return Glyph(2 * half, 2 * half, "".join(cells), tuple(strokes))


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
