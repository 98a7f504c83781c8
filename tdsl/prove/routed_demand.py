"""Demands between the nodes of a network, the loads that their routing puts on arcs, and bounds with what
proves them."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.bound import ArcLengths, Bound, PortBound
from tdsl.prove.column_generation import Along
from tdsl.prove.network import Network
from tdsl.prove.quotient import Quotient
from tdsl.prove.routing_combinations import Combination
from tdsl.prove.trees import Trees

Loads = dict[int, Fraction]
Demands = dict[tuple[int, int], int]


class RoutedLoads:
    """What routes put on arcs for λ = 1: ``load`` on every arc by all sources, ``flow`` by each alone; None
    where that would be more than ``entries``. What they were made of: a ``combination``, ``trees``, or
    shortest paths under ``lengths``, which divide every demand into so many whole ``parts``."""

    load: Loads
    flow: dict[int, Loads] | None

    @classmethod
    def combined(cls, combination: Combination, entries: int) -> RoutedLoads:
        """What a combination of routings puts there."""
        out = cls(entries)
        load, whole = combination.loads(np.arange(len(combination.capacity)))
        share = {x: Fraction(x, whole) for x in {*load.tolist()}}
        out.load = {arc: share[x] for arc, x in enumerate(load.tolist()) if x}
        out.flow = combination.flows()
        out.combination = combination
        return out

    @classmethod
    def along(cls, found: Along, entries: int) -> RoutedLoads:
        """What routes along paths put there, kept apart in any case: there is a limit to all of it."""
        out = cls(entries)
        flow: dict[int, Loads] = {}
        for s, arc, x in zip(found.source.tolist(), found.arc.tolist(), found.amount.tolist(), strict=True):
            part = Fraction(x, found.whole)
            flow.setdefault(s, {})[arc] = part
            out.load[arc] = out.load.get(arc, Fraction(0)) + part
        out.flow = flow
        return out

    def __init__(self, entries: int) -> None:
        self.entries = entries
        self.load = {}
        self.flow = {}
        self.combination: Combination | None = None
        self.trees: Trees | None = None
        self.lengths: list[list[int]] = []
        self.parts = 1
        self._kept = 0

    def add(self, source: int, part: Loads) -> None:
        """Add what a source sends."""
        add_loads(self.load, part)
        self.parts = lcm(self.parts, *{x.denominator for x in part.values()})
        if self.flow is not None:
            mine = self.flow.setdefault(source, {})
            before = len(mine)
            add_loads(mine, part)
            self._kept += len(mine) - before
            if self._kept > self.entries:
                self.flow = None


class Expanded(RoutedLoads):
    """The loads that a routing of a quotient network is in the network itself, computed when they are asked
    for."""

    def __init__(self, whole: DemandBound, by: Quotient, net: Network, demands: Demands) -> None:
        super().__init__(whole.proof_lower.entries)
        del self.load, self.flow  # until they are asked for
        self.whole, self.by, self._small = whole, by, whole.proof_lower
        self._net, self._demands = net, demands

    @cached_property
    def load(self) -> Loads:  # type: ignore[override]
        """Every arc of a class carries as much as every other."""
        count = self.by.count.tolist()
        share = {arc: x / count[arc] for arc, x in self._small.load.items()}
        return {i: share[arc] for i, arc in enumerate(self.by.arc.tolist()) if arc in share}

    @cached_property
    def flow(self) -> dict[int, Loads] | None:  # type: ignore[override]
        """Every source of a class sends the same, but on the last arcs what each target has of it."""
        by, small, place = self.by, self._small.flow, self.by.out.tolist()
        who = targets_by_source(self._demands)
        if small is None or sum(int(by.count[list(small[place[s]])].sum()) for s in who) > self.entries:
            return None
        order = np.argsort(by.arc, kind="stable")
        sorts = np.split(order, np.searchsorted(by.arc[order], np.arange(len(by.count))))[1:]
        sources = Counter(place[s] for s in who)
        return {
            s: self._of(s, wanted, {arc: x / sources[place[s]] for arc, x in small[place[s]].items()}, sorts)
            for s, wanted in who.items()
        }

    def _of(self, source: int, wanted: dict[int, int], part: Loads, sorts: list[Ints]) -> Loads:
        """What one source puts on arcs, by its part on those of each sort."""
        tail, head, forwards, into = self._net.tail, self._net.head, self._net.forwards, self.by.into
        sums: Counter[int] = Counter()
        for t, amount in wanted.items():
            sums[int(into[t])] += amount
        out: Loads = {}
        for sort, x in part.items():
            arcs = sorts[sort]
            mine = arcs[forwards[tail[arcs]] | (tail[arcs] == source)]
            end = int(into[head[arcs[0]]])
            if forwards[head[arcs[0]]]:
                out |= dict.fromkeys(mine.tolist(), x / len(mine))
                continue
            for t in [t for t in np.unique(head[mine]).tolist() if t in wanted]:
                last = mine[head[mine] == t].tolist()
                out |= dict.fromkeys(last, x * Fraction(wanted[t], sums[end] * len(last)))
        return out


def targets_by_source(demands: Demands) -> dict[int, dict[int, int]]:
    """What every source asks of its targets."""
    out: dict[int, dict[int, int]] = {}
    for (s, t), amount in demands.items():
        out.setdefault(s, {})[t] = amount
    return out


def add_loads(into: Loads, part: Loads) -> None:
    """Add loads up."""
    for arc, amount in part.items():
        into[arc] = into.get(arc, Fraction(0)) + amount


DemandBound = Bound[Fraction, RoutedLoads, PortBound | ArcLengths]
"""``lower`` ≤ λ ≤ ``upper``: what the routed loads fit, and what ports or lengths allow."""
