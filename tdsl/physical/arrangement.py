"""Puts the contents of racks onto a floor so that cables are short: exchanges of two racks, until none
shortens them.

This is a quadratic assignment problem: cables between contents times tray length between racks. Exchanges
find a local optimum; how far it may be from the best is what `length_bound` says.
"""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.physical.lengths import MM, CableRuns
from tdsl.system.lazy_dataclass import dataclass

SWEEPS = 12
"""Rounds over all racks after which the search ends."""
CELLS = 60_000_000
"""Contents times racks up to which distances are held in memory; above, contents keep the order in which they
were packed."""
FAR = 1_000_000
"""Millimetres that stand for a way whose length is unknown."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """``slots`` are racks, ``network_slot`` those for racks of switches (None: any may be anywhere).
    ``start`` has the slot of every content, ``network`` which are of switches. Contents beyond those of
    ``start`` are in the ``fixed`` racks. Cables join the contents ``a`` and ``b``, ``count`` of them."""

    lengths: CableRuns
    slots: list[int]
    network_slot: Bools | None
    start: list[int]
    network: Bools
    fixed: list[int]
    size: int
    a: Ints
    b: Ints
    count: Ints


def arrange_racks(p: Arrangement) -> list[int]:
    """The rack of every content."""
    movable = len(p.start)
    racks = [*p.slots, *p.fixed]
    if movable < 2 or not len(p.a) or max(p.size, len(racks)) * len(racks) > CELLS:
        return [p.slots[s] for s in p.start]
    return [p.slots[s] for s in _ExchangeSearch(p, racks).run()]


class _ExchangeSearch:
    """``cost[c, s]`` is the length of the cables of content ``c`` if it were on slot ``s`` and the others
    where they are."""

    def __init__(self, p: Arrangement, racks: list[int]) -> None:
        self.p = p
        every = np.array(racks, dtype=np.int64)
        far = np.zeros((len(racks), len(racks)), dtype=np.float64)
        for k, r in enumerate(racks):
            way = p.lengths.way(np.full(len(racks), r, dtype=np.int64), every)
            far[k] = np.where(way < 0, FAR, way // MM)
            far[k, k] = 0
        self.far = far
        self.at = np.array([*p.start, *range(len(p.slots), len(racks))], dtype=np.int64)
        self.on = np.full(len(racks), -1, dtype=np.int64)
        self.on[self.at] = np.arange(p.size)
        a, b, n = np.concatenate([p.a, p.b]), np.concatenate([p.b, p.a]), np.concatenate([p.count, p.count])
        keys, inverse = np.unique(a * p.size + b, return_inverse=True)
        weight = np.bincount(inverse.ravel(), weights=n)
        first = np.searchsorted(keys // p.size, np.arange(p.size + 1))
        self.near = [keys[i:j] % p.size for i, j in zip(first[:-1].tolist(), first[1:].tolist(), strict=True)]
        self.weight = [weight[i:j] for i, j in zip(first[:-1].tolist(), first[1:].tolist(), strict=True)]
        self.cost = np.zeros((p.size, len(racks)))
        for c in range(p.size):
            if len(self.near[c]):
                self.cost[c] = self.weight[c] @ far[self.at[self.near[c]]]

    def run(self) -> list[int]:
        """The slot of every content that may move."""
        p = self.p
        open_slots: dict[bool | None, Ints] = {None: np.arange(len(p.slots))}
        if p.network_slot is not None:
            open_slots = {k: np.flatnonzero(p.network_slot == k) for k in (False, True)}
        movable = len(p.start)
        order = sorted(range(movable), key=lambda c: (-len(self.near[c]), c))
        for _ in range(SWEEPS):
            moved = False
            for c in order:
                if len(self.near[c]):
                    moved = (
                        self.better(c, open_slots[None if p.network_slot is None else bool(p.network[c])])
                        or moved
                    )
            if not moved:
                break
        return [int(s) for s in self.at[:movable].tolist()]

    def better(self, c: int, slots: Ints) -> bool:
        """Exchange a content with the best of the slots, if that shortens the cables."""
        here = int(self.at[c])
        other = self.on[slots]
        taken = other >= 0
        gain = self.cost[c, slots] - self.cost[c, here]
        gain[taken] += self.cost[other[taken], here] - self.cost[other[taken], slots[taken]]
        joint = np.zeros(self.p.size)
        joint[self.near[c]] = self.weight[c]
        gain[taken] += 2 * joint[other[taken]] * self.far[here, slots[taken]]
        gain[slots == here] = 0
        best = int(np.argmin(gain))
        if gain[best] >= 0:
            return False
        self.exchange(c, int(slots[best]))
        return True

    def exchange(self, c: int, there: int) -> None:
        """Put a content on a slot, and what is there where it was."""
        here, other = int(self.at[c]), int(self.on[there])
        self._shift(c, here, there)
        self.on[here] = other
        if other >= 0:
            self._shift(other, there, here)
        self.on[there] = c

    def _shift(self, c: int, here: int, there: int) -> None:
        self.at[c] = there
        self.cost[self.near[c]] += self.weight[c][:, None] * (self.far[there] - self.far[here])
