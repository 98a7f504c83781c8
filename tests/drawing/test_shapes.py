"""Shapes of declarations against their definition: grids with and without wraps, and circles of groups."""

from __future__ import annotations

from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
import pytest

from tdsl.drawing.shapes import shapes_of_declarations
from tests.fabrics import Builder

Point = tuple[int, ...]


def grid_links(sizes: Point, wraps: tuple[bool, ...]) -> list[tuple[Point, Point]]:
    """Neighbours of a mesh, and those at both ends of a dimension that wraps."""
    out = []
    for at in product(*map(range, sizes)):
        for k, size in enumerate(sizes):
            if at[k] + 1 < size or (wraps[k] and size > 2):
                to = list(at)
                to[k] = (at[k] + 1) % size
                out.append((at, tuple(to)))
    return out


def numbered(sizes: Point, wraps: tuple[bool, ...]) -> list[tuple[int, int]]:
    """The same between numbers of switches."""
    return [(int(np.ravel_multi_index(a, sizes)), int(np.ravel_multi_index(b, sizes))) for a, b in grid_links(sizes, wraps)]


def shape_of(counted: tuple[int | Point, ...], links: list[tuple[int, int]], path: str = "s") -> Any:
    """The shape of one declaration of switches that these links join, behind another declaration."""
    b = Builder()
    b.devices("other", b.model("switch", "OTHER", {"p": 4}), 3)
    s = b.devices(path, b.model("switch", "S", {"p": 40}), *counted)
    for x, y in links:
        b.link(b.free(s, x), b.free(s, y))
    return shapes_of_declarations(b.build())[1]


def not_a_ring(shape: Any) -> Any:
    """A shape, nothing for a ring: that is what many links are that fit nothing else."""
    return {} if "ring" in shape else shape


GRIDS = [(2, 2), (2, 3), (3, 2), (4, 4), (5, 3), (2, 2, 3), (3, 4, 2), (2, 3, 2, 2)]


@pytest.mark.parametrize("sizes", GRIDS, ids=str)
def test_grids_over_their_own_axes(sizes: Point) -> None:
    for wraps in {tuple(w and n > 2 for w, n in zip(ws, sizes, strict=True)) for ws in product((False, True), repeat=len(sizes))}:
        links = numbered(sizes, wraps)
        axes = [[k] for k in range(len(sizes))]
        assert shape_of((sizes,), links) == {"grid": list(sizes), "wraps": list(wraps), "axes": axes}
        # one link between places that are not neighbours: at both ends of a diagonal
        if max(sizes) > 2:
            assert not_a_ring(shape_of((sizes,), [*links, (0, prod(sizes) - 1)])) == {}


def test_grids_over_one_axis() -> None:
    for sizes in ((3, 3), (4, 5), (5, 4, 3), (4, 4, 4)):
        wraps = (True,) * len(sizes)
        assert shape_of((prod(sizes),), numbered(sizes, wraps)) == {"grid": list(sizes), "wraps": list(wraps), "axes": []}


def test_grids_whose_groups_are_joined() -> None:
    """2 × 2 groups of 3 × 2 switches as one grid of 6 × 4: the outer axes are the coarser."""
    sizes, wraps = (6, 4), (True, False)

    def row(at: Point) -> int:
        x, y = at
        return int(np.ravel_multi_index((x // 3, y // 2, x % 3, y % 2), (2, 2, 3, 2)))

    links = [(row(a), row(b)) for a, b in grid_links(sizes, wraps)]
    axes = [[0, 2], [1, 3]]
    assert shape_of(((2, 2), (3, 2)), links, "g.s") == {"grid": [6, 4], "wraps": [True, False], "axes": axes}
    # links inside groups alone are those of the whole grid, too
    alone = [(row(a), row(b)) for a, b in grid_links(sizes, (False, False)) if a[0] // 3 == b[0] // 3 and a[1] // 2 == b[1] // 2]
    assert shape_of(((2, 2), (3, 2)), alone, "g.s") == {"grid": [6, 4], "wraps": [False, False], "axes": axes}
    # groups of one axis are counted apart: the links are those inside each
    alone = [(6 * g + 2 * a[0] + a[1], 6 * g + 2 * b[0] + b[1]) for g in range(4) for a, b in grid_links((3, 2), (False, False))]
    assert shape_of((4, (3, 2)), alone, "g.s") == {"grid": [3, 2], "wraps": [False, False], "axes": [[1], [2]]}
    assert not_a_ring(shape_of((4, (3, 2)), [*alone, (0, 6)], "g.s")) == {}


@pytest.mark.parametrize("groups", [2, 3, 4, 6])
def test_groups_that_are_joined_pairwise(groups: int) -> None:
    pairs = [(3 * a + (b % 3), 3 * b + (a % 3)) for a, b in combinations(range(groups), 2)]
    inside = [(3 * g, 3 * g + 1) for g in range(groups)]
    wanted = {"circle": groups} if groups > 2 else {}
    assert shape_of((groups, 3), [*pairs, *inside, pairs[0]], "g.s") == wanted
    assert not_a_ring(shape_of((groups, 3), [*pairs[1:], *inside], "g.s")) == {}


def test_declarations_without_a_shape() -> None:
    assert shape_of((5,), list(combinations(range(5), 2))) == {"ring": 5}
    assert shape_of(((2, 5),), list(combinations(range(10), 2))[:20]) == {"ring": 2}  # by all indices but the last
    assert shape_of((8,), [(0, 1), (2, 3), (4, 5), (6, 7)]) == {}  # pairs are no ring
    assert shape_of(((2, 2),), []) == {} and shape_of((3,), [(0, 1), (1, 2)]) == {} and shape_of((4,), [(0, 1), (1, 2)]) == {}
