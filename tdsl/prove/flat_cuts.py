"""Flat cuts: splits of tori, meshes and other grids across one dimension.

Without the links of one dimension the graph falls into layers; the links of that dimension join the layers to
a ring or a line. Half of the layers, in this order, are one side. Where their number is odd, the layer in the
middle is divided by the next dimension in the same way. Source: Dally and Towles, "Principles and practices
of interconnection networks" (2004), section 3.2. Whatever is found is only a candidate: its cut is counted by
itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.unit_graph import UnitGraph


def flat_splits(g: UnitGraph, kind: Ints, budget: Budget = DEFAULT) -> Iterator[Bools]:
    """Balanced splits of the units of a graph whose nodes are all units; ``kind`` says which dimension a link
    belongs to."""
    kinds = np.unique(kind)
    if not 1 <= len(kinds) <= budget.flat_dimensions or not (g.weight == 1).all():
        return
    found = [place for k in kinds.tolist() if (place := _place_of_layers(g, kind == k)) is not None]
    for chosen in islice(permutations(found), budget.flat_orders):
        order = np.lexsort((np.arange(g.nodes), *chosen[::-1]))
        side = np.zeros(g.nodes, dtype=np.bool_)
        side[order[: g.nodes // 2]] = True
        yield side[g.unit_node]


def _place_of_layers(g: UnitGraph, mine: Bools) -> Ints | None:
    """The place of every node's layer along the ring or line of layers; None where layers are joined
    otherwise, or there is one."""
    layer = component_labels(g.nodes, g.a[~mine], g.b[~mine])
    _, layer = np.unique(layer, return_inverse=True)
    count = int(layer.max()) + 1
    a, b = layer[g.a[mine]], layer[g.b[mine]]
    keys = np.unique(np.append(a * count + b, b * count + a))
    tail, head = np.divmod(keys, count)
    tail, head = tail[tail != head], head[tail != head]
    if count < 2 or int(np.bincount(tail, minlength=count).max()) > 2:
        return None
    near: list[list[int]] = [[] for _ in range(count)]
    for x, y in zip(tail.tolist(), head.tolist(), strict=True):
        near[x].append(y)
    place = np.full(count, -1, dtype=np.int64)
    number = 0
    for start in sorted(range(count), key=lambda v: len(near[v])):  # lines from their ends, then rings
        v = start
        while place[v] < 0:
            place[v] = number
            number += 1
            v = next((w for w in near[v] if place[w] < 0), v)
    out: Ints = place[layer]
    return out
