"""A network with its demands, and what routes put on its arcs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.verify.paths import Along
from tdsl.verify.trees import Trees
from tdsl.verify.twins import Merged
from tdsl.verify.wide import Mixture

Loads = dict[int, Fraction]
Demands = dict[tuple[int, int], int]

KEPT = 200_000
"""Entries up to which the flow of every source is kept apart: what a certificate holds."""


@dataclass(eq=False)
class Flows:
    """A directed graph of capacities in grains, arcs ``tail[i] → head[i]``; nodes that do not ``pass`` only send and receive."""

    nodes: int
    tail: Ints
    head: Ints
    room: Ints
    passes: Bools
    labels: tuple[Ints, ...] = ()  # groups of nodes whose cuts are looked at

    @cached_property
    def into(self) -> list[list[int]]:
        """Arcs that lead to every node."""
        return self._by(self.head)

    @cached_property
    def out(self) -> list[list[int]]:
        """Arcs that leave every node."""
        return self._by(self.tail)

    def _by(self, ends: Ints) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in range(self.nodes)]
        for arc, v in enumerate(ends.tolist()):
            found[v].append(arc)
        return found


class Routed:
    """What routes put on arcs for λ = 1: ``load`` on every arc by all sources, ``flow`` by each alone; None where that would be
    more than KEPT entries. What they were made of: a ``mixture``, ``trees``, or alike of shortest paths under each of
    ``lengths``, which divide every demand into so many whole ``parts``."""

    load: Loads
    flow: dict[int, Loads] | None

    @classmethod
    def mixed(cls, mixture: Mixture) -> Routed:
        """What a mixture of routings puts there."""
        out = cls()
        load, whole = mixture.loads(np.arange(len(mixture.room)))
        out.load = {arc: Fraction(x, whole) for arc, x in enumerate(load.tolist()) if x}
        out.flow = mixture.flows()
        out.mixture = mixture
        return out

    @classmethod
    def along(cls, found: Along) -> Routed:
        """What routes along paths put there, kept apart in any case: there is a limit to all of it."""
        out = cls()
        flow: dict[int, Loads] = {}
        for s, arc, x in zip(found.source.tolist(), found.arc.tolist(), found.amount.tolist(), strict=True):
            part = Fraction(x, found.whole)
            flow.setdefault(s, {})[arc] = part
            out.load[arc] = out.load.get(arc, Fraction(0)) + part
        out.flow = flow
        return out

    def __init__(self) -> None:
        self.load = {}
        self.flow = {}
        self.mixture: Mixture | None = None
        self.trees: Trees | None = None
        self.lengths: list[list[int]] = []
        self.parts = 1
        self._kept = 0

    def add(self, source: int, part: Loads) -> None:
        """Add what a source sends."""
        merge(self.load, part)
        self.parts = lcm(self.parts, *{x.denominator for x in part.values()})
        if self.flow is not None:
            mine = self.flow.setdefault(source, {})
            before = len(mine)
            merge(mine, part)
            self._kept += len(mine) - before
            if self._kept > KEPT:
                self.flow = None

    def over(self, times: int) -> Routed:
        """The same, each amount divided."""
        out = Routed()
        out._kept, out.lengths, out.parts = self._kept, [*self.lengths], self.parts
        out.load = {arc: amount / times for arc, amount in self.load.items()}
        if self.flow is None:
            out.flow = None
        else:
            out.flow = {s: {arc: x / times for arc, x in part.items()} for s, part in self.flow.items()}
        return out


class Divided(Routed):
    """What routes of a network in which twins are one put on the arcs of the whole, worked out when it is asked for."""

    def __init__(self, whole: Bounds, by: Merged, flows: Flows, demands: Demands) -> None:
        super().__init__()
        del self.load, self.flow  # until they are asked for
        self.whole, self.by, self._small = whole, by, whole.routes
        self._flows, self._demands = flows, demands

    @cached_property
    def load(self) -> Loads:  # type: ignore[override]
        """Every arc of a sort carries as much as every other."""
        count = self.by.count.tolist()
        share = {arc: x / count[arc] for arc, x in self._small.load.items()}
        return {i: share[arc] for i, arc in enumerate(self.by.arc.tolist()) if arc in share}

    @cached_property
    def flow(self) -> dict[int, Loads] | None:  # type: ignore[override]
        """Every source of a sort sends alike, but on the last arcs what each target has of it."""
        by, small, place = self.by, self._small.flow, self.by.out.tolist()
        who = grouped(self._demands)
        if small is None or sum(int(by.count[list(small[place[s]])].sum()) for s in who) > KEPT:
            return None
        order = np.argsort(by.arc, kind="stable")
        sorts = np.split(order, np.searchsorted(by.arc[order], np.arange(len(by.count))))[1:]
        alike = Counter(place[s] for s in who)
        return {
            s: self._of(s, wanted, {arc: x / alike[place[s]] for arc, x in small[place[s]].items()}, sorts)
            for s, wanted in who.items()
        }

    def _of(self, source: int, wanted: dict[int, int], part: Loads, sorts: list[Ints]) -> Loads:
        """What one source puts on arcs, by its part on those of each sort."""
        tail, head, passes, into = self._flows.tail, self._flows.head, self._flows.passes, self.by.into
        sums: Counter[int] = Counter()
        for t, amount in wanted.items():
            sums[int(into[t])] += amount
        out: Loads = {}
        for sort, x in part.items():
            arcs = sorts[sort]
            mine = arcs[passes[tail[arcs]] | (tail[arcs] == source)]
            end = int(into[head[arcs[0]]])
            if passes[head[arcs[0]]]:
                out |= dict.fromkeys(mine.tolist(), x / len(mine))
                continue
            for t in [t for t in np.unique(head[mine]).tolist() if t in wanted]:
                last = mine[head[mine] == t].tolist()
                out |= dict.fromkeys(last, x * Fraction(wanted[t], sums[end] * len(last)))
        return out


def grouped(demands: Demands) -> dict[int, dict[int, int]]:
    """What every source asks of its targets."""
    out: dict[int, dict[int, int]] = {}
    for (s, t), amount in demands.items():
        out.setdefault(s, {})[t] = amount
    return out


def merge(into: Loads, part: Loads) -> None:
    """Add loads up."""
    for arc, amount in part.items():
        into[arc] = into.get(arc, Fraction(0)) + amount


@dataclass(frozen=True, slots=True)
class Bounds:
    """``lower`` ≤ λ ≤ ``upper``. ``routes`` show the lower one, ``lengths`` the upper one, unless they are empty."""

    lower: Fraction
    upper: Fraction
    routes: Routed
    lengths: tuple[int, ...]
