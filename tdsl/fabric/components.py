"""Connected components of links that are columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.order import rank_values

if TYPE_CHECKING:
    from tdsl.fabric.graph import Ints


def component_labels(nodes: int, a: Ints, b: Ints) -> Ints:
    """Label of every node: the lowest node of its connected component.

    Of many links a part is joined first, and then a part of those that still lead from one component to
    another, until there are none: most need one look. Source: Sutton, Ben-Nun, Barak, "Optimizing parallel
    graph connectivity computation via subgraph sampling" (IPDPS 2018).
    """
    few = 4 * nodes
    if len(a) <= 2 * few:
        return _merge_labels(np.arange(nodes, dtype=np.int64), a, b)
    some = slice(
        None, None, len(a) // few | 1
    )  # odd: links of one plane or rail are often a power of two apart
    label = _merge_labels(np.arange(nodes, dtype=np.int64), a[some], b[some])
    while len(apart := np.flatnonzero(label[a] != label[b])):
        apart = apart[:: max(len(apart) // few, 1)]
        label = _merge_labels(label, a[apart], b[apart])
    return label


def _merge_labels(label: Ints, a: Ints, b: Ints) -> Ints:
    """The labels when the ends of every link have the same.

    Every round hooks the higher of two labels to the lower and shortens the chains, as in Shiloach and
    Vishkin, "An O(log n) parallel connectivity algorithm" (J. Algorithms 3, 1982).
    """
    while len(a):
        at, to = label[a], label[b]
        differ = at != to
        if not differ.any():
            break
        a, b, at, to = a[differ], b[differ], at[differ], to[differ]
        np.minimum.at(label, np.maximum(at, to), np.minimum(at, to))
        while True:
            shorter = label[label]
            if np.array_equal(shorter, label):
                break
            label = shorter
    return label


def joined_groups(a: Ints, b: Ints, group: Ints) -> Ints:
    """Label of the component of every node where nodes of one ``group`` are joined already: the rank of its
    lowest group."""
    _, group = rank_values(group)
    return component_labels(int(group.max(initial=-1)) + 1, group[a], group[b])[group]
