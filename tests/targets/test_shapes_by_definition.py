"""Shapes of declarations against their definition: grids with and without wraps, circles of groups; and small tables."""

from __future__ import annotations

from itertools import combinations, product
from math import prod
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.drawing.shapes import _grid_coordinates, _guess_grid_sizes, _wrapping_dimensions, shapes_of_declarations
from tdsl.emit.data.adapters import _first_of_each_kind, _has_oversubscribed_switch, _largest_domain_sizes
from tdsl.emit.data.planned import planned_links
from tdsl.viewer.fabric_page import ViewerMark
from tests.fabrics import GBPS, Builder

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


def shape_of(counted: tuple[int | Point, ...], links: list[tuple[int, int]], path: str = "s") -> Any:
    """The shape of one declaration of switches that these links join, behind another declaration."""
    b = Builder()
    b.devices("other", b.model("switch", "OTHER", {"p": 4}), 3)
    s = b.devices(path, b.model("switch", "S", {"p": 40}), *counted)
    for x, y in links:
        b.link(b.free(s, x), b.free(s, y))
    return shapes_of_declarations(b.build())[1]


GRIDS = [(2, 2), (2, 3), (3, 2), (4, 4), (5, 3), (2, 2, 3), (3, 4, 2), (2, 3, 2, 2)]


@pytest.mark.parametrize("sizes", GRIDS, ids=str)
def test_grids_over_their_own_axes(sizes: Point) -> None:
    for wraps in {tuple(w and n > 2 for w, n in zip(ws, sizes, strict=True)) for ws in product((False, True), repeat=len(sizes))}:
        links = [(int(np.ravel_multi_index(a, sizes)), int(np.ravel_multi_index(b, sizes))) for a, b in grid_links(sizes, wraps)]
        axes = [[k] for k in range(len(sizes))]
        assert shape_of((sizes,), links) == {"grid": list(sizes), "wraps": list(wraps), "axes": axes}
        # one link between places that are not neighbours: at both ends of a diagonal
        if max(sizes) > 2:
            assert shape_of((sizes,), [*links, (0, prod(sizes) - 1)]) == {}


def test_grids_over_one_axis() -> None:
    for sizes in ((3, 3), (4, 5), (5, 4, 3), (4, 4, 4)):
        links = [
            (int(np.ravel_multi_index(a, sizes)), int(np.ravel_multi_index(b, sizes)))
            for a, b in grid_links(sizes, (True,) * len(sizes))
        ]
        found = shape_of((prod(sizes),), links)
        assert found == {"grid": list(sizes), "wraps": [True] * len(sizes), "axes": []}
    assert _guess_grid_sizes({7}, 20) == [] and _guess_grid_sizes({1, 2, 3}, 6) == [2, 3]


def test_grids_whose_groups_are_joined() -> None:
    """2 × 2 groups of 3 × 2 switches as one grid of 6 × 4: the outer axes are the coarser."""
    sizes, wraps = (6, 4), (True, False)

    def row(at: Point) -> int:
        x, y = at
        return int(np.ravel_multi_index((x // 3, y // 2, x % 3, y % 2), (2, 2, 3, 2)))

    links = [(row(a), row(b)) for a, b in grid_links(sizes, wraps)]
    assert shape_of(((2, 2), (3, 2)), links, "g.s") == {"grid": [6, 4], "wraps": [True, False], "axes": [[0, 2], [1, 3]]}
    # links inside groups alone are those of the whole grid, too
    alone = [(row(a), row(b)) for a, b in grid_links(sizes, (False, False)) if a[0] // 3 == b[0] // 3 and a[1] // 2 == b[1] // 2]
    assert shape_of(((2, 2), (3, 2)), alone, "g.s") == {"grid": [6, 4], "wraps": [False, False], "axes": [[0, 2], [1, 3]]}
    # groups of one axis are counted apart: the links are those inside each
    alone = [(6 * g + 2 * a[0] + a[1], 6 * g + 2 * b[0] + b[1]) for g in range(4) for a, b in grid_links((3, 2), (False, False))]
    assert shape_of((4, (3, 2)), alone, "g.s") == {"grid": [3, 2], "wraps": [False, False], "axes": [[1], [2]]}
    assert shape_of((4, (3, 2)), [*alone, (0, 6)], "g.s") == {}


@pytest.mark.parametrize("groups", [2, 3, 4, 6])
def test_groups_that_are_joined_pairwise(groups: int) -> None:
    pairs = [(3 * a + (b % 3), 3 * b + (a % 3)) for a, b in combinations(range(groups), 2)]
    inside = [(3 * g, 3 * g + 1) for g in range(groups)]
    wanted = {"circle": groups} if groups > 2 else {}
    assert shape_of((groups, 3), [*pairs, *inside, pairs[0]], "g.s") == wanted
    assert shape_of((groups, 3), [*pairs[1:], *inside], "g.s") == {}


def test_declarations_without_a_shape() -> None:
    assert shape_of((5,), list(combinations(range(5), 2))) == {}
    assert shape_of(((2, 2),), []) == {} and shape_of((3,), [(0, 1), (1, 2)]) == {} and shape_of((4,), [(0, 1), (1, 2)]) == {}


def test_coordinates_and_neighbours() -> None:
    for seed in range(200):
        random = Random(seed)
        sizes = [random.randint(1, 4) for _ in range(random.randint(1, 5))]
        count = prod(sizes)
        rows = np.arange(count)
        points = list(product(*map(range, sizes)))
        assert list(zip(*(c.tolist() for c in _grid_coordinates(sizes, rows)), strict=True)) == points
        pairs = [(random.choice(points), random.choice(points)) for _ in range(random.randint(1, 4))]
        if random.random() < 0.7:
            pairs = grid_links(tuple(sizes), tuple(random.random() < 0.5 for _ in sizes)) or pairs
        wrapped, used = [False] * len(sizes), [False] * len(sizes)
        right = 2 <= len(sizes) <= 4
        for a, b in pairs:
            moved = [k for k in range(len(sizes)) if a[k] != b[k]]
            far = abs(a[moved[0]] - b[moved[0]]) if len(moved) == 1 else 0
            end = len(moved) == 1 and far == sizes[moved[0]] - 1 and sizes[moved[0]] > 2
            right &= len(moved) == 1 and (far == 1 or end)
            if len(moved) == 1:
                wrapped[moved[0]] |= end
                used[moved[0]] = True
        left, to = ([np.array([p[n][k] for p in pairs]) for k in range(len(sizes))] for n in (0, 1))
        assert _wrapping_dimensions(sizes, left, to) == (wrapped if right and all(used) else None)


@pytest.mark.parametrize(("to", "right"), [((1, 0), True), ((3, 0), True), ((2, 0), False), ((1, 2), False), ((1, 1), False)])
def test_a_link_joins_neighbours_along_one_dimension(to: Point, right: bool) -> None:
    links = [((0, 0), (0, 1)), ((0, 0), (1, 0)), ((0, 0), to)]
    left, far = ([np.array([link[n][k] for link in links]) for k in range(2)] for n in (0, 1))
    assert _wrapping_dimensions([4, 4], left, far) == ([to == (3, 0), False] if right else None)


def test_planned_links() -> None:
    """Links from devices that are built to planned ones, counted by device, tier and rate."""
    b = Builder()
    host = b.devices("h", b.model("host", "H", {"p": 4}, 1), 3)
    leaf = b.devices("l", b.model("switch", "L", {"p": 9}), 2)
    for h, s, rate in ((0, 0, 400), (0, 0, 400), (1, 0, 200), (2, 0, 400), (2, 1, 400), (0, 1, 100)):
        b.link(b.free(host, h), b.free(leaf, s), rate=rate * GBPS)
    b.omit(leaf.first)
    b.omit(host.first + 2)
    f = b.build()
    table = planned_links(f, np.array([f.device_name(d) for d in range(f.device_count)], dtype=object))
    rows = list(zip(*(table.column(c) for c in ("device", "tier", "rate_bps", "links")), strict=True))
    tier = int(f.tier[leaf.first])
    assert rows == [("h0", tier, 400 * GBPS, 2), ("h1", tier, 200 * GBPS, 1), ("l1", 0, 400 * GBPS, 1)]


def test_kinds_of_columns() -> None:
    facts = np.array([[2, 1, 1, 2, 1], [0, 5, 5, 0, 6]])
    assert _first_of_each_kind(facts) == [1, 4, 0]


def test_the_largest_scale_up_domain() -> None:
    """Domains of hosts 0 to 6 with 1, 2 or 4 accelerators; the switch is no host, and one host is not built."""
    fabric: Any = SimpleNamespace(
        domains=SimpleNamespace(of_device=np.array([0, 0, 1, 1, 1, -1, 2, 1])),
        built=np.array([True] * 4 + [False] + [True] * 3), kind=np.array(["host"] * 7 + ["switch"]),
        models=[SimpleNamespace(accelerators=n) for n in (1, 2, 4)], device_model=np.array([0, 1, 2, 2, 2, 0, 0, 0]),
    )  # fmt: skip
    assert _largest_domain_sizes(fabric, np.array([0])) == (2, 3) and _largest_domain_sizes(fabric, np.array([2, 6])) == (2, 8)
    assert _largest_domain_sizes(fabric, np.array([6])) == (0, 0) and _largest_domain_sizes(fabric, np.array([5])) == (0, 0)


@pytest.mark.parametrize(("hosts", "spines", "wanted"), [(3, 2, True), (2, 2, False), (1, 2, False), (2, 0, False)])
def test_switches_with_less_capacity_up(hosts: int, spines: int, wanted: bool) -> None:
    b = Builder()
    host = b.devices("h", b.model("host", "H", {"p": 4}, 1), 3)
    leaf = b.devices("l", b.model("switch", "L", {"p": 9}), 2)
    spine = b.devices("s", b.model("switch", "S", {"p": 9}), 2)
    for h in range(hosts):
        b.link(b.free(host, h), b.free(leaf, 0))
    for s in range(spines):
        b.link(b.free(leaf, 0), b.free(spine, s))
    b.link(b.free(host, 2), b.free(leaf, 1), rate=900 * GBPS)
    f = b.build()
    assert _has_oversubscribed_switch(f, np.array([leaf.first, leaf.first])) == wanted


def test_a_mark_of_nothing() -> None:
    mark = ViewerMark("cut", "A cut", "text")
    assert (mark.devices.tolist(), mark.links.tolist(), mark.severity) == ([], [], "")
