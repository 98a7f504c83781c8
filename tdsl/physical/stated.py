"""Lengths of cables that connects state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.semantics.quantity import LENGTH, Quantity

MICRO = 1_000_000
MOST = 1 << 60
"""Micrometres that a stated length is at most taken for."""


def stated_lengths(fabric: Fabric) -> Ints:
    """Micrometres of every cable leg as its connect states them, rounded up; -1 where it states none."""
    f = fabric
    table = np.full((len(f.statements) + 1, max(len(f.classes), 1)), -1, dtype=np.int64)
    for k, s in enumerate(f.statements):
        said, classes = s.settings.get("length"), s.settings.get("class")
        for c, name in enumerate(f.classes):
            one = said
            if isinstance(said, tuple):  # one a dimension, as the classes are
                several = isinstance(classes, Sequence) and len(classes) == len(said) and name in classes
                one = said[list(classes).index(name)] if several and isinstance(classes, Sequence) else None
            if isinstance(one, Quantity) and one.dim == LENGTH:
                table[k, c] = min(int(-(-one.amount * MICRO // 1)), MOST)
    if not len(f.cable_a):
        return np.zeros(0, dtype=np.int64)
    found: Ints = table[f.cable_statement, f.cable_class]
    return found
