"""Rails in a drawing: a colour for each, and how many links each has on each line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field

import numpy as np

from tdsl.fabric.graph import Fabric, Ints
from tdsl.system.lazy_dataclass import dataclass

RAIL_COLOURS = (
    "#0b62a4", "#b3541e", "#2e7d4f", "#7a4aa0", "#a32a4b", "#3f51b5",
    "#8a6d00", "#00757f", "#6d4c41", "#ad6a8f", "#5d8a1e", "#c48a00",
)  # fmt: skip
"""Of rails, then of the classes of links in no rail: those of the page of `view`, in its order."""
Line = tuple[int, int, int]
"""The two boxes that a line joins, by number, and the class of its links."""


@dataclass(frozen=True, slots=True)
class DrawnRails:
    """The rails that a drawing tells apart, ``count`` of them; none where there are no rails, or more than
    there are colours. ``of_line`` has for each line the links of each of its rails, -1 for those in none."""

    count: int = 0
    of_line: Mapping[Line, Mapping[int, int]] = field(default_factory=dict)
    of_class: Mapping[int, Mapping[int, int]] = field(default_factory=dict)

    def palette(self, classes: int) -> tuple[str, ...]:
        """A colour for each class of links; those with links in no rail have colours of their own."""
        out, taken = [], self.count
        for i in range(classes):
            out.append(RAIL_COLOURS[taken % len(RAIL_COLOURS)])
            taken += -1 in self.of_class.get(i, ())
        return tuple(out)


def drawn_rails(fabric: Fabric, link_rails: Ints, links: Ints, low: Ints, high: Ints) -> DrawnRails:
    """The rails of a fabric's lines; ``links`` has the rows of links that go from box ``low`` to box
    ``high``. A cluster is told apart by its networks instead."""
    count = int(link_rails.max(initial=-1)) + 1
    if fabric.members or not 1 < count < len(RAIL_COLOURS):
        return DrawnRails()
    size = (int(high.max(initial=0)) + 1, len(fabric.classes), count + 1)
    rail = link_rails.astype(np.int64) + 1
    code = ((low * size[0] + high) * size[1] + fabric.link_class[links]) * size[2] + rail[links]
    of_line: dict[Line, dict[int, int]] = {}
    for value, number in zip(*(c.tolist() for c in np.unique(code, return_counts=True)), strict=True):
        pair, r = divmod(value, size[2])
        pair, kind = divmod(pair, size[1])
        a, b = divmod(pair, size[0])
        of_line.setdefault((a, b, kind), {})[r - 1] = number
    of_class: dict[int, Counter[int]] = {}
    told = np.unique(fabric.link_class.astype(np.int64) * size[2] + rail, return_counts=True)
    for value, number in zip(*(c.tolist() for c in told), strict=True):
        kind, r = divmod(value, size[2])
        of_class.setdefault(kind, Counter())[r - 1] = number
    return DrawnRails(count, of_line, of_class)
