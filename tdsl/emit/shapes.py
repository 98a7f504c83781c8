"""Shapes of declarations, read off the links: grids with their wraps (mesh, torus), and groups that are joined pairwise."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tdsl.fabric.graph import Bools, Fabric, Ints
from tdsl.semantics.model import DeviceSet

MOST = 4
"""Dimensions that are drawn as a grid."""


def shapes(fabric: Fabric) -> list[Mapping[str, object]]:
    """For each declaration: ``{"grid": sizes, "wraps": flags, "axes": …}`` where every link inside it joins neighbours of a
    grid, ``{"circle": n}`` where the instances of its outermost group are joined pairwise, else nothing.

    ``axes`` has for each dimension of the grid the axes of the declaration that count it, outermost first: two of a torus whose
    cubes are joined to one another.
    """
    return [_shape(fabric, s) for s in fabric.sets]


def _shape(f: Fabric, s: DeviceSet) -> Mapping[str, object]:
    inside = (f.device_set[f.device_a] == s.index) & (f.device_set[f.device_b] == s.index)
    if not bool(inside.any()) or s.count < 4:
        return {}
    a, b = f.device_a[inside] - s.first, f.device_b[inside] - s.first
    return _grid(s, a, b) or _circle(s, a, b)


def _grid(s: DeviceSet, a: Ints, b: Ints) -> Mapping[str, object]:
    """A mesh or torus over its own axes, or over those of its group and its own taken pairwise."""
    own = len(s.parts[-1].axes)
    outer = len(s.axes) - own
    ways = [[[k] for k in range(outer, outer + own)]]
    if outer == own:
        ways.insert(0, [[k, outer + k] for k in range(own)])
    at, to = (_coordinates(s, rows) for rows in (a, b))
    for axes in ways:
        if not 1 <= len(axes) <= MOST:
            continue
        sizes = [int(np.prod([s.axes[k].size for k in group])) for group in axes]
        left, right = ([_joined(s, c, group) for group in axes] for c in (at, to))
        moved = [np.abs(x - y) for x, y in zip(left, right, strict=True)]
        wrap = [(d == n - 1) & (n > 2) for d, n in zip(moved, sizes, strict=True)]
        near = [(d == 1) | w for d, w in zip(moved, wrap, strict=True)]
        still = [d == 0 for d in moved]
        others = [k for k in range(len(s.axes)) if not any(k in group for group in axes)]
        same = np.ones(len(a), dtype=np.bool_)
        for k in others:
            same &= at[k] == to[k]
        if bool((same & (sum(n.astype(int) for n in near) == 1) & (sum(n.astype(int) for n in still) == len(axes) - 1)).all()):
            used: list[Bools] = [n.any() for n in near]
            if all(used) and len(axes) > 1:
                return {"grid": sizes, "wraps": [bool(w.any()) for w in wrap], "axes": axes}
    return {}


def _coordinates(s: DeviceSet, rows: Ints) -> list[Ints]:
    """Indices of these rows along every axis, outermost first, from 0."""
    out: list[Ints] = []
    rest = rows
    for axis in reversed(s.axes):
        rest, here = np.divmod(rest, axis.size)
        out.append(here)
    return out[::-1]


def _joined(s: DeviceSet, coordinates: list[Ints], group: list[int]) -> Ints:
    """One coordinate from several axes, the first one the coarsest."""
    out = np.zeros_like(coordinates[0])
    for k in group:
        out = out * s.axes[k].size + coordinates[k]
    return out


def _circle(s: DeviceSet, a: Ints, b: Ints) -> Mapping[str, object]:
    """Groups, each pair of which has a link."""
    if len(s.parts) < 2 or not s.parts[0].axes:
        return {}
    count = int(np.prod([x.size for x in s.parts[0].axes]))
    each = s.count // count
    ga, gb = a // each, b // each
    apart = ga != gb
    pairs = np.unique(np.minimum(ga, gb)[apart] * count + np.maximum(ga, gb)[apart])
    return {"circle": count} if count > 2 and len(pairs) == count * (count - 1) // 2 else {}
