"""Small drawings inside boxes as geometry: where cells, lines, chords and rings are, read off the paths."""

from __future__ import annotations

import re
from itertools import combinations, product
from math import ceil, pi, prod, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.drawing.glyphs import MARGIN, _circle_path, _coordinate_text, glyph_of_shape, tray_glyph
from tdsl.drawing.records import Glyph
from tdsl.drawing.shapes import _coordinate_of_axes, _grid_of_set, _guess_grid_sizes
from tdsl.emit.qr import qr_matrix, qr_svg_path
from tdsl.semantics.model import Axis
from tests.targets.test_shapes_by_definition import grid_links, shape_of

COLOURS = ("#a", "#b", "#c", "#d")
Square = tuple[float, float, float]


def squares(cells: str) -> list[Square]:
    """The left, top and size of every cell."""
    found = re.findall(r"M(-?[\d.]+) (-?[\d.]+)h([\d.]+)v([\d.]+)h-([\d.]+)z", cells)
    assert "".join("M{} {}h{}v{}h-{}z".format(*x) for x in found) == cells
    assert all(wide == high == back for *_, wide, high, back in found)
    return [(float(x), float(y), float(n)) for x, y, n, *_ in found]


def grid(*sizes: int, wraps: tuple[bool, ...] | None = None, count: int | None = None) -> Glyph | None:
    shape: Any = {"grid": sizes, "wraps": wraps or (False,) * len(sizes)}
    return glyph_of_shape(shape, prod(sizes) if count is None else count, COLOURS)


@pytest.mark.parametrize(
    ("sizes", "pitch"),
    [((128, 1), 18), ((43, 3), 12), ((3, 43), 12), ((1500, 1), 12), ((19, 79), 6), ((2, 3, 4), 18), ((5, 4, 7, 2), 12)],
)  # fmt: skip
def test_cells_of_a_grid(sizes: tuple[int, ...], pitch: float) -> None:
    """One for every place, 0.6 of the pitch wide: 18 up to 128 places, 12 up to 1,500, else 6. Slices are side by side, about
    1.6 times as many in a row as there are rows."""
    found = grid(*sizes)
    assert found is not None
    across, down, slices = sizes[0], sizes[1], prod(sizes[2:])
    wide, high = across * pitch + 2 * MARGIN, down * pitch + 2 * MARGIN
    columns = min(slices, ceil(sqrt(slices * 1.6)))
    assert (found.width, found.height) == (columns * wide, ceil(slices / columns) * high)
    wanted = [
        (s % columns * wide + MARGIN + i * pitch, s // columns * high + MARGIN + j * pitch, pitch * 0.6)
        for s in range(slices) for j in range(down) for i in range(across)
    ]  # fmt: skip
    assert np.allclose(squares(found.cells), wanted, atol=0.051)


def test_lines_of_a_grid() -> None:
    """3 × 2 places, 18 apart, cells of 10.8: rows from the left to the right cell, 7.15 beyond where they wrap."""
    found = grid(3, 2)
    assert found is not None
    rows, ranks = found.strokes
    assert (rows.path, rows.colour) == ("M13 18.4H59.8M13 36.4H59.8", "#a")
    assert (ranks.path, ranks.colour) == ("M18.4 13V41.8M36.4 13V41.8M54.4 13V41.8", "#b")
    found = grid(3, 2, wraps=(True, False))
    assert found is not None
    rows, ranks = found.strokes
    assert rows.path == "M5.8 18.4H67M5.8 36.4H67M5.8 18.4C-0.2 2.6 13 2.6 36.4 2.6S73 2.6 67 18.4"
    assert ranks.path == "M18.4 13V41.8M36.4 13V41.8M54.4 13V41.8"
    found = grid(3, 2, wraps=(False, True))
    assert found is not None
    assert found.strokes[0].path == "M13 18.4H59.8M13 36.4H59.8"
    assert found.strokes[1].path == "M18.4 5.8V48.9M36.4 5.8V48.9M54.4 5.8V48.9"


def test_arrows_to_the_next_slice() -> None:
    """From every slice but the last of a dimension and of a row of slices, in the middle of its height."""
    found = grid(2, 2, 6)
    assert found is not None and len(found.strokes) == 3
    # 6 slices in rows of 4, each 62 wide and high; a slice ends at 13 + 18 + 10.8
    starts = re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)m-4 -3l4 3l-4 3", found.strokes[2].path)
    assert starts == [("43.8", "31", "28.2"), ("105.8", "31", "28.2"), ("167.8", "31", "28.2"), ("43.8", "93", "28.2")]
    assert found.strokes[2].colour == "#c"
    found = grid(2, 3, 2, 3)
    assert found is not None
    # rows of 4 slices of 62 × 80: pairs of slices belong together
    assert re.findall(r"M([\d.]+) ([\d.]+)h", found.strokes[2].path) == [("43.8", "31"), ("167.8", "31"), ("43.8", "111")]
    alone = grid(2, 2, 1)
    assert alone is not None and len(alone.strokes) == 2


def test_the_largest_shapes_that_are_drawn() -> None:
    assert grid(4, 4, count=16384) is not None and grid(4, 4, count=16385) is None
    assert glyph_of_shape({"circle": 1000}, 1000, COLOURS) is not None and glyph_of_shape({"circle": 1001}, 1001, COLOURS) is None
    assert glyph_of_shape({}, 4, COLOURS) is None


@pytest.mark.parametrize(
    ("groups", "each", "columns", "size"),
    [(3, 1, 1, 8), (17, 1, 1, 8), (5, 8, 1, 8), (4, 9, 2, 8), (40, 2, 1, 8), (41, 2, 1, 4), (41, 10, 2, 4), (100, 1, 1, 4)],
)
def test_groups_on_a_circle(groups: int, each: int, columns: int, size: float) -> None:
    """Strips of devices in one column, or two above 8 devices, outside of a circle on which they do not touch; the first group is
    on top. Chords join every two groups."""
    found = glyph_of_shape({"circle": groups}, groups * each, COLOURS)
    assert found is not None
    radius = max(48.0, groups * (columns * size + 5) / (2 * pi))
    half = radius + ceil(each / columns) * size + 14
    assert found.width == found.height == pytest.approx(2 * half)
    angles = [2 * pi * g / groups - pi / 2 for g in range(groups)]
    points = np.array([(half + np.cos(t) * radius, half + np.sin(t) * radius) for t in angles])
    (stroke,) = found.strokes
    assert (stroke.colour, stroke.opacity, stroke.width) == ("#a", 0.8, min(1.0, round(16 / groups, 2)))
    chords = [list(map(float, x)) for x in re.findall(r"M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)", stroke.path)]
    assert np.allclose(chords, [(*points[a], *points[b]) for a, b in combinations(range(groups), 2)], atol=0.051)
    cells = squares(found.cells)
    assert len(cells) == groups * each and {n for *_, n in cells} == {round(size * 0.8, 1)}
    at = np.array([(x + size * 0.4 - half, y + size * 0.4 - half) for x, y, _ in cells]).reshape(groups, each, 2)
    for g, t in enumerate(angles):
        outward, side = at[g] @ (np.cos(t), np.sin(t)), at[g] @ (-np.sin(t), np.cos(t))
        assert np.allclose(outward, [radius + 7 + k // columns * size for k in range(each)], atol=0.15)
        assert np.allclose(side, [0 if columns == 1 else (k % 2 - 0.5) * size for k in range(each)], atol=0.15)


def test_many_groups_are_a_disc_and_a_ring() -> None:
    """A disc of radius 150 and a ring of 18 around it, with a gap of 4 and a margin."""
    found = glyph_of_shape({"circle": 101}, 202, COLOURS)
    assert found is not None and (found.width, found.height, found.cells) == (364, 364, "")
    disc, ring = found.strokes
    assert (disc.path, disc.colour, disc.opacity, disc.width) == (
        "M107 182a75 75 0 1 0 150 0a75 75 0 1 0 -150 0z", "#a", 0.5, 150,
    )  # fmt: skip
    assert (ring.path, ring.colour, ring.opacity, ring.width) == (
        "M19 182a163 163 0 1 0 326 0a163 163 0 1 0 -326 0z", "#44525f", 0.6, 18,
    )  # fmt: skip
    assert _circle_path(10.5, 2) == "M8.5 10.5a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z"


def test_trays() -> None:
    found = tray_glyph(2, 3)
    assert (found.width, found.height) == (82, 24)
    (boards,) = found.strokes
    assert (boards.path, boards.opacity) == ("M0 0h82v10h-82zM0 12h82v10h-82z", 1.0)
    cells = re.findall(r"M(\d+) (\d+)h22v6h-22z", found.cells)
    assert [(int(x), int(y)) for x, y in cells] == [(4 + 26 * c, 2 + 12 * r) for r, c in product(range(2), range(3))]


def test_coordinates_are_written_with_a_tenth() -> None:
    assert [_coordinate_text(x) for x in (0.0, 10.0, 0.04, 0.06, -2.55, 100.25)] == ["0", "10", "0", "0.1", "-2.5", "100.2"]


def test_links_between_groups_are_no_grid_inside_groups() -> None:
    """A link between two groups joins places that would be neighbours if both were in one group."""
    inside = [(6 * g + 2 * a[0] + a[1], 6 * g + 2 * b[0] + b[1]) for g in range(4) for a, b in grid_links((3, 2), (False, False))]
    assert shape_of((4, (3, 2)), inside, "g.s") == {"grid": [3, 2], "wraps": [False, False], "axes": [[1], [2]]}
    assert shape_of((4, (3, 2)), [*inside, (0, 8)], "g.s") == {}
    assert shape_of((4, (3, 2)), [*inside, (7, 0)], "g.s") == {}


def test_four_switches_are_the_fewest_of_a_shape() -> None:
    links = [(0, 1), (1, 2), (0, 2)]
    assert shape_of((3, 1), links, "g.s") == {}
    assert shape_of((4, 1), list(combinations(range(4), 2)), "g.s") == {"circle": 4}


def test_the_path_of_a_code() -> None:
    """Dark modules of a row that are beside each other are one rectangle."""
    m = np.array([[1, 1, 0, 1], [0, 0, 0, 0], [0, 1, 1, 1]], dtype=np.int8)
    assert qr_svg_path(m) == "M0 0h2v1h-2zM3 0h1v1h-1zM1 2h3v1h-3z"
    assert qr_svg_path(np.zeros((2, 2), dtype=np.int8)) == ""


def test_codes_have_three_corners_and_level_m() -> None:
    """A text of up to 14 bytes is in version 1 at level M, 21 modules wide. The level is 00, and the format is masked by
    101010000010010: with mask 0 its first five bits are 10101."""
    finder = np.pad(np.pad(np.ones((3, 3), int), 1), 1, constant_values=1)
    for text, size in (("a", 21), ("a" * 14, 21), ("a" * 15, 25), ("a" * 26, 25), ("a" * 27, 29)):
        m = qr_matrix(text)
        assert m.shape == (size, size) and m.dtype == np.int8
        assert all((corner == finder).all() for corner in (m[:7, :7], m[:7, -7:], m[-7:, :7]))
    assert qr_matrix("a", 0)[8, :5].tolist() == [1, 0, 1, 0, 1] and qr_matrix("a", 5)[8, :5].tolist() == [1, 0, 0, 0, 0]


def test_no_grid() -> None:
    """Links of a chord and of a star over one axis, and over two axes without a link along one."""
    axis = Axis(0, 6)
    one: Any = SimpleNamespace(parts=(SimpleNamespace(axes=(axis,)),), axes=(axis,), count=6)
    assert _grid_of_set(one, np.array([0, 1]), np.array([3, 5])) == {}
    two: Any = SimpleNamespace(parts=(SimpleNamespace(axes=(Axis(0, 2), Axis(0, 3))),), axes=(Axis(0, 2), Axis(0, 3)), count=6)
    assert _grid_of_set(two, np.array([0, 1, 3]), np.array([1, 2, 4])) == {}
    assert _grid_of_set(two, np.array([0, 1, 0]), np.array([1, 2, 3])) == {
        "grid": [2, 3],
        "wraps": [False, False],
        "axes": [[0], [1]],
    }


def test_dimensions_of_one_axis() -> None:
    """From how far apart the places are that links join: neighbours, the two ends of a dimension, and the next dimension."""
    assert _guess_grid_sizes({1, 4}, 20) == _guess_grid_sizes({1, 3, 4, 16}, 20) == [5, 4] and _guess_grid_sizes({1, 5}, 20) == [
        4,
        5,
    ]
    assert _guess_grid_sizes({1, 2, 3, 6, 9, 18}, 27) == _guess_grid_sizes({1, 3, 6, 9}, 27) == [3, 3, 3]
    assert _guess_grid_sizes({1}, 20) == _guess_grid_sizes({1, 19}, 20) == [20] and _guess_grid_sizes(set(), 1) == []
    assert _guess_grid_sizes({1, 3, 4, 8, 12}, 48) == [4, 3, 4] and _guess_grid_sizes({1, 3, 4, 8}, 24) == [3, 2, 4]
    assert _guess_grid_sizes({2, 5}, 20) == [10, 2] and _guess_grid_sizes({1, 6}, 20) == []
    assert _guess_grid_sizes({1, 2, 4, 8, 16}, 32) == [2] * 5 and len(_guess_grid_sizes({1, 2, 4, 8, 16, 32}, 64)) > 4


def test_one_coordinate_of_several_axes() -> None:
    s: Any = SimpleNamespace(axes=(Axis(0, 2), Axis(0, 3), Axis(0, 4)))
    at = [np.array([0, 1]), np.array([2, 1]), np.array([3, 2])]
    assert _coordinate_of_axes(s, at, [0, 2]).tolist() == [3, 6] and _coordinate_of_axes(s, at, [0, 1, 2]).tolist() == [11, 18]
    assert _coordinate_of_axes(s, at, [1]).tolist() == [2, 1]
