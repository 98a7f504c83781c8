"""Shapes of declarations, read off the links: grids with their wraps (mesh, torus), and groups that are
joined pairwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.semantics.model import DeviceSet

MOST = 4
"""Dimensions that are drawn as a grid."""
MOST_OF_RING, MOST_PAIRS = 400, 8_000
"""Devices, and linked pairs of them, that are drawn as a ring."""


def shapes_of_declarations(fabric: Fabric) -> list[Mapping[str, object]]:
    """For each declaration: ``{"grid": sizes, "wraps": flags, "axes": …}`` where every link inside it joins
    neighbours of a grid, ``{"circle": n}`` where the instances of its outermost group are joined pairwise,
    ``{"ring": n}`` where its devices have as many linked pairs as a ring of them has at least, n groups of
    them side by side, else nothing.

    ``axes`` has for each dimension of the grid the axes of the declaration that count it, outermost first:
    two of a torus whose cubes are joined to one another. It is empty where one axis counts the places of the
    grid, the last dimension the fastest.
    """
    return [_shape_of_set(fabric, s) for s in fabric.sets]


def _shape_of_set(f: Fabric, s: DeviceSet) -> Mapping[str, object]:
    inside = (f.device_set[f.device_a] == s.index) & (f.device_set[f.device_b] == s.index)
    if not bool(inside.any()) or s.count < 4:
        return {}
    a, b = f.device_a[inside] - s.first, f.device_b[inside] - s.first
    return _grid_of_set(s, a, b) or _circle_of_groups(s, a, b) or _ring_of_devices(s, a, b)


def _grid_of_set(s: DeviceSet, a: Ints, b: Ints) -> Mapping[str, object]:
    """A mesh or torus over its own axes, over those of its group and its own taken pairwise, or over
    dimensions of one axis."""
    own = len(s.parts[-1].axes)
    outer = len(s.axes) - own
    ways = [[[k] for k in range(outer, outer + own)]]
    if outer == own:
        ways.insert(0, [[k, outer + k] for k in range(own)])
    at, to = (_grid_coordinates([x.size for x in s.axes], rows) for rows in (a, b))
    for axes in ways:
        if found := _grid_over_axes(s, axes, at, to):
            return found
    if len(s.axes) == 1:
        sizes = _guess_grid_sizes(set(np.unique(np.abs(a - b)).tolist()), s.count)
        wraps = _wrapping_dimensions(sizes, _grid_coordinates(sizes, a), _grid_coordinates(sizes, b))
        if wraps is not None:
            return {"grid": sizes, "wraps": wraps, "axes": []}
    return {}


def _grid_over_axes(
    s: DeviceSet, axes: list[list[int]], at: list[Ints], to: list[Ints]
) -> Mapping[str, object]:
    """A mesh or torus over dimensions of these axes, else nothing; ``at`` and ``to`` are the coordinates of
    both ends of each link."""
    sizes = [int(np.prod([s.axes[k].size for k in group])) for group in axes]
    left, right = ([_coordinate_of_axes(s, c, group) for group in axes] for c in (at, to))
    same = np.ones(len(at[0]), dtype=np.bool_)
    for k in set(range(len(s.axes))).difference(*axes):
        same &= at[k] == to[k]
    wraps = _wrapping_dimensions(sizes, left, right) if bool(same.all()) else None
    if wraps is not None:
        return {"grid": sizes, "wraps": wraps, "axes": axes}
    return {}


def _wrapping_dimensions(sizes: list[int], left: list[Ints], right: list[Ints]) -> list[bool] | None:
    """Which dimensions wrap, where every link joins neighbours along one dimension and each dimension has
    links."""
    if not 2 <= len(sizes) <= MOST:
        return None
    moved = [np.abs(x - y) for x, y in zip(left, right, strict=True)]
    wrap = [(d == n - 1) & (n > 2) for d, n in zip(moved, sizes, strict=True)]
    near = [(d == 1) | w for d, w in zip(moved, wrap, strict=True)]
    one = (sum(n.astype(int) for n in near) == 1) & (
        sum((d == 0).astype(int) for d in moved) == len(sizes) - 1
    )
    return [bool(w.any()) for w in wrap] if bool(one.all()) and all(bool(n.any()) for n in near) else None


def _guess_grid_sizes(steps: set[int], count: int) -> list[int]:
    """Sizes of a grid whose links join places so far apart, outermost first: a guess, which `_neighbours`
    judges."""
    sizes: list[int] = []
    stride = 1
    while stride < count and len(sizes) <= MOST:
        ends = sorted(n for n in {x // stride for x in steps if x % stride == 0} | {count // stride} if n > 1)
        wrapped = [n for n in ends if n > 2 and (n - 1) * stride in steps]
        size = min(wrapped or ends, default=0)
        if size < 2 or count % (stride * size):
            return []
        sizes.append(size)
        stride *= size
    return sizes[::-1]


def _grid_coordinates(sizes: Sequence[int], rows: Ints) -> list[Ints]:
    """Indices of these rows along axes of these sizes, outermost first, from 0."""
    out: list[Ints] = []
    rest = rows
    for size in reversed(sizes):
        rest, here = np.divmod(rest, size)
        out.append(here)
    return out[::-1]


def _coordinate_of_axes(s: DeviceSet, coordinates: list[Ints], group: list[int]) -> Ints:
    """One coordinate from several axes, the first one the coarsest."""
    out = np.zeros_like(coordinates[0])
    for k in group:
        out = out * s.axes[k].size + coordinates[k]
    return out


def _circle_of_groups(s: DeviceSet, a: Ints, b: Ints) -> Mapping[str, object]:
    """Groups, each pair of which has a link."""
    if len(s.parts) < 2 or not s.parts[0].axes:
        return {}
    count = int(np.prod([x.size for x in s.parts[0].axes]))
    each = s.count // count
    ga, gb = a // each, b // each
    apart = ga != gb
    pairs = np.unique(np.minimum(ga, gb)[apart] * count + np.maximum(ga, gb)[apart])
    return {"circle": count} if count > 2 and len(pairs) == count * (count - 1) // 2 else {}


def _ring_of_devices(s: DeviceSet, a: Ints, b: Ints) -> Mapping[str, object]:
    """Devices on a ring with a chord for each linked pair; groups are those of all indices but the last."""
    if s.count > MOST_OF_RING:
        return {}
    pairs = np.unique(np.minimum(a, b) * s.count + np.maximum(a, b))
    if not s.count <= len(pairs) <= MOST_PAIRS:
        return {}
    groups = int(np.prod([x.size for x in s.axes[:-1]])) if len(s.axes) > 1 else s.count
    return {"ring": groups if 1 < groups <= s.count else s.count}
