"""The capacities that bandwidth results are about: units, the switches they are connected to, and the links among what forwards
for them.

Capacities are whole numbers of one *grain*, the greatest common divisor of all rates, so every cut is a whole number. Links
of ends that are no units (managers, storage) carry nothing that is asked about, and are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.components import components
from tdsl.prove.view import View


@dataclass(frozen=True, slots=True)
class Pairs:
    """Capacity between two numbered things, each pair once, in grains each way."""

    a: Ints
    b: Ints
    capacity: Ints

    @classmethod
    def of(cls, a: Ints, b: Ints, capacity: Ints) -> Pairs:
        """Parallel links added up."""
        if not len(a):
            return cls(a, b, capacity)
        width = int(b.max()) + 1
        keys, back = np.unique(a * width + b, return_inverse=True)
        total = np.zeros(len(keys), dtype=np.int64)
        np.add.at(total, back, capacity)
        return cls(keys // width, keys % width, total)

    def where(self, kept: Bools) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.a[kept], self.b[kept], self.capacity[kept])


@dataclass(eq=False)  # no slots: the derived columns are kept once computed
class Capacities:
    """Capacities of one view.

    ``units`` and ``nodes`` are device rows; the pairs hold places in them. ``access`` joins units to nodes, ``trunks`` nodes
    to nodes, ``loose`` units to units (chips of a direct fabric). ``grain`` is in bit/s.
    """

    units: Ints
    nodes: Ints
    access: Pairs
    trunks: Pairs
    loose: Pairs
    grain: int
    one_rate: bool

    @classmethod
    def of(cls, view: View) -> Capacities:
        """Read a view's columns."""
        f, units = view.fabric, view.units
        unit = np.full(f.device_count, -1, dtype=np.int64)
        unit[units] = np.arange(len(units))
        nodes = np.flatnonzero(view.forwards & view.devices & (unit < 0))
        node = np.full(f.device_count, -1, dtype=np.int64)
        node[nodes] = np.arange(len(nodes))
        a, b, rate = view.a, view.b, f.link_rate[view.rows]
        counted = (a != b) & ((unit[a] >= 0) | (node[a] >= 0)) & ((unit[b] >= 0) | (node[b] >= 0))
        a, b, rate = a[counted], b[counted], rate[counted]
        grain = gcd(*np.unique(rate).tolist()) or 1
        capacity = rate // grain
        up, down = (unit[a] >= 0) & (node[b] >= 0), (node[a] >= 0) & (unit[b] >= 0)
        both, free = (node[a] >= 0) & (node[b] >= 0), (unit[a] >= 0) & (unit[b] >= 0)
        low, high = np.minimum(a, b), np.maximum(a, b)
        near = np.append(node[b[up]], node[a[down]])
        return cls(
            units,
            nodes,
            Pairs.of(np.append(unit[a[up]], unit[b[down]]), near, np.append(capacity[up], capacity[down])),
            Pairs.of(node[low[both]], node[high[both]], capacity[both]),
            Pairs.of(unit[low[free]], unit[high[free]], capacity[free]),
            grain,
            len(np.unique(rate)) <= 1,
        )  # fmt: skip

    @property
    def half(self) -> int:
        """Units on the smaller side of a balanced split."""
        return len(self.units) // 2

    @cached_property
    def injection(self) -> Ints:
        """What every unit can send at once, in grains."""
        out = np.zeros(len(self.units), dtype=np.int64)
        np.add.at(out, self.access.a, self.access.capacity)
        np.add.at(out, self.loose.a, self.loose.capacity)
        np.add.at(out, self.loose.b, self.loose.capacity)
        return out

    @property
    def full(self) -> int:
        """Injection of the smaller side; where units differ, of the half that injects least."""
        return int(np.sort(self.injection)[: self.half].sum())

    @cached_property
    def tier(self) -> Ints:
        """Links from the nearest unit to every node, -1 where no unit is reached."""
        out = np.full(len(self.nodes), -1, dtype=np.int64)
        out[self.access.b] = 1
        level = 1
        while True:
            a, b = self.trunks.a, self.trunks.b
            fresh = np.append(b[(out[a] == level) & (out[b] < 0)], a[(out[b] == level) & (out[a] < 0)])
            if not len(fresh):
                return out
            level += 1
            out[fresh] = level

    @property
    def columns(self) -> tuple[Ints, ...]:
        """All capacities, by the places of units and nodes."""
        return tuple(x for p in (self.access, self.trunks, self.loose) for x in (p.a, p.b, p.capacity))

    def parts(self) -> list[Capacities]:
        """The components of the nodes, each with all units: what crosses a split is the sum over them and the loose pairs."""
        label = components(len(self.nodes), self.trunks.a, self.trunks.b)
        out = []
        for at in np.unique(label[self.access.b]).tolist():
            mine = np.flatnonzero(label == at)
            place = np.full(len(self.nodes), -1, dtype=np.int64)
            place[mine] = np.arange(len(mine))
            access, trunks = self.access.where(label[self.access.b] == at), self.trunks.where(label[self.trunks.a] == at)
            access = Pairs(access.a, place[access.b], access.capacity)
            trunks = Pairs(place[trunks.a], place[trunks.b], trunks.capacity)
            none = self.loose.where(np.zeros(len(self.loose.a), dtype=np.bool_))
            out.append(Capacities(self.units, self.nodes[mine], access, trunks, none, self.grain, self.one_rate))
        return out
