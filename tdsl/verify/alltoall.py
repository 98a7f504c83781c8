"""Uniform all-to-all: bounds on the rate of every ordered pair, and the cut or the lengths that limit it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.verify.automorphisms import Orbits
from tdsl.verify.blocks import groups, least
from tdsl.verify.capacity import Capacities
from tdsl.verify.concurrent import Concurrent, concurrent
from tdsl.verify.cuts import Cut, crossing, placed, splits
from tdsl.verify.folded import Folded
from tdsl.verify.routes import Demand
from tdsl.verify.trees import everyone
from tdsl.verify.twins import switches
from tdsl.verify.view import View
from tdsl.verify.waves import PARTS, Wires
from tdsl.verify.wide import ARCS, Column, Demands, Mixture, hubs, mixed

ALL = "all_to_all"
"""How a claim names the pattern."""


NEAR = Fraction(11, 10)
"""Upper over lower bound up to which no better ones are looked for in a large network."""

AT_ONCE = 5_000_000
"""Sources times arcs up to which every source is routed by itself once: some tenths of a second."""

PAIRS = 8_000_000
"""Pairs of nodes up to which each is sent along its own shortest paths."""


@dataclass(frozen=True, slots=True)
class Between:
    """Bounds in grains for every ordered pair."""

    net: Capacities
    lower: Fraction
    upper: Fraction

    @property
    def top(self) -> Fraction:
        """What every pair has where the unit with the fewest ports sends all it can."""
        return Fraction(int(self.net.injection.min()), len(self.net.units) - 1)


@dataclass(frozen=True, slots=True)
class Wide(Between):
    """The same with what shows it, where switches that are twins are one: a mixture of routings over the arcs of ``wires``, and
    the ``side`` of a cut, unless ``lengths`` of those arcs give the upper bound. ``device`` is the first that a node stands for.
    """

    device: Ints
    wires: Wires
    mixture: Mixture
    side: Cut | None
    lengths: Ints


@dataclass(frozen=True, slots=True)
class Rate(Between):
    """The same with what shows it; ``cut`` is what gives the upper bound, unless the lengths of ``routes`` do."""

    routes: Concurrent
    cut: Cut | None


@dataclass(frozen=True, slots=True)
class Both(Between):
    """The better of both ends of ``either``."""

    either: tuple[Between, Between]


def bounds(view: View) -> Between | None:
    """The rate, or bounds on it; None as ``interval``. Where arcs are many, those of a network in which twins are one are sought
    first: they are soon found, and often close."""
    first = interval(view) if 2 * len(view.rows) > ARCS else None
    if first is not None and first.upper <= first.lower * NEAR:
        return first
    other: Between | None = all_to_all(view)
    if first is None or other is None:
        return first or other or interval(view)
    return Both(first.net, max(first.lower, other.lower), min(first.upper, other.upper), (first, other))


def all_to_all(view: View) -> Rate | None:
    """The rate; None if some pair has no path or the work would be too much. There are two units at least."""
    net = Capacities.of(view)
    graph = Folded.of(view, net)
    cuts = [_alone(net), *(placed(net, units) for units in splits(net, view.fabric))]
    high, cut = min(((_rate(c), c) for c in cuts), key=lambda found: found[0])

    def enough(found: Concurrent) -> bool:
        return found.lower >= min(high, found.upper)

    demand = Demand.all_to_all(graph)
    found = None
    if np.count_nonzero(graph.weight) * len(graph.arcs.head) <= AT_ONCE:  # one try before symmetries are looked for
        found = concurrent(graph, demand, Orbits((), np.arange(graph.nodes), np.arange(len(graph.a))), enough, rounds=1)
    if found is None or not enough(found):
        found = concurrent(graph, demand, enough=enough)
    if found is None:
        return None
    by_cut = high <= found.upper
    return Rate(net, found.lower, min(high, found.upper), found, cut if by_cut else None)


def interval(view: View) -> Wide | None:
    """Bounds on the rate by cuts, and by routes along shortest paths, over hubs or along trees; None where some pair has no path,
    or those are too many and too unlike."""
    net = Capacities.of(view)
    g = Folded.of(view, net)
    arcs = g.arcs
    if not len(arcs.tail):
        return None
    by = switches(arcs.tail, arcs.head, arcs.room, ~g.passes | (g.weight > 0))
    tail, head, room, passes = by.tail, by.head, by.room, g.passes[by.first]
    wires = Wires.of(len(passes), tail, head, room, passes)
    wanted = _wanted(g.weight[by.first], passes, tail, head, room)
    cuts = (_alone(net), *(placed(net, units) for units in splits(net, view.fabric)))
    upper, side = min(((_rate(c), c) for c in cuts), key=lambda found: found[0])
    shown: Ints = np.zeros(0, dtype=np.int64)
    if len(wanted.source):
        labels = groups(view.fabric, g.device[by.first])
        found = least(passes, (tail, head, room), (wanted.source, wanted.target, wanted.amount), labels)
        if found is not None and found[0] < upper:
            upper, shown = found[0], found[1].astype(np.int64)
    mixture, upper, lengths = mixed(wires, wanted, upper)
    shown = lengths if len(lengths) else shown
    if not mixture.columns and (column := hubs(wires, wanted)) is not None:
        mixture.add(column)
    if not mixture.columns:
        found_trees = everyone(tail, head, passes, g.weight[by.first])
        if found_trees is None:
            return None
        own = _own(g.weight[by.first], passes, tail, head, room, found_trees.parts)
        mixture.add(Column(found_trees.load + own, found_trees.parts, None, trees=found_trees))
    return Wide(net, min(mixture.fits(), upper), upper, g.device[by.first], wires, mixture, None if len(shown) else side, shown)


def _wanted(w: Ints, passes: Bools, tail: Ints, head: Ints, room: Ints) -> Demands:
    """All pairs of units, by the nodes they are part of, ``w`` at each; those of one node go up and down its links. Without the
    pairs where those are too many."""
    some = np.flatnonzero(w)
    total = w * (int(w.sum()) - 1)
    none = np.zeros(0, dtype=np.int64)
    if len(some) ** 2 > PAIRS:
        return Demands(none, none, none, total, total)
    source, target = np.repeat(some, len(some)), np.tile(some, len(some))
    apart = source != target
    source, target = source[apart], target[apart]
    own = _own(w, passes, tail, head, room, PARTS).astype(np.int64)
    return Demands(source, target, w[source] * w[target], total, total, own)


def _own(w: Ints, passes: Bools, tail: Ints, head: Ints, room: Ints, parts: int) -> Ints:
    """What those of one node send each other, over all its links, in so many parts; rounded up."""
    full = np.bincount(tail, room, len(w)).astype(np.int64)
    own = np.zeros(len(tail), dtype=object)
    for end in (tail, head):
        mine = np.where(passes[end], 0, w[end] * (w[end] - 1)).astype(object) * parts
        own += -(-mine * room // np.maximum(full[end], 1))
    return own


def _alone(net: Capacities) -> Cut:
    """The unit with the fewest ports against all others."""
    units = np.zeros(len(net.units), dtype=np.bool_)
    units[int(net.injection.argmin())] = True
    nodes = np.zeros(len(net.nodes), dtype=np.bool_)
    return Cut(units, nodes, crossing(net, units, nodes))


def _rate(cut: Cut) -> Fraction:
    ours = int(cut.units.sum())
    return Fraction(cut.value, ours * (len(cut.units) - ours))
