"""Uniform all-to-all: bounds on the rate of every ordered pair, and the cut or the lengths that limit it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tdsl.verify.capacity import Capacities
from tdsl.verify.concurrent import Concurrent, concurrent
from tdsl.verify.cuts import Cut, crossing, placed, splits
from tdsl.verify.folded import Folded
from tdsl.verify.routes import Demand
from tdsl.verify.view import View

ALL = "all_to_all"
"""How a claim names the pattern."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Bounds in grains for every ordered pair; ``cut`` is what gives the upper one, unless the lengths of ``routes`` do."""

    net: Capacities
    lower: Fraction
    upper: Fraction
    routes: Concurrent
    cut: Cut | None

    @property
    def top(self) -> Fraction:
        """What every pair has where the unit with the fewest ports sends all it can."""
        return Fraction(int(self.net.injection.min()), len(self.net.units) - 1)


def all_to_all(view: View) -> Rate | None:
    """The rate; None if some pair has no path or the work would be too much. There are two units at least."""
    net = Capacities.of(view)
    graph = Folded.of(view, net)
    cuts = [_alone(net), *(placed(net, units) for units in splits(net, view.fabric))]
    high, cut = min(((_rate(c), c) for c in cuts), key=lambda found: found[0])
    found = concurrent(graph, Demand.all_to_all(graph), enough=lambda f: f.lower >= min(high, f.upper))
    if found is None:
        return None
    by_cut = high <= found.upper
    return Rate(net, found.lower, min(high, found.upper), found, cut if by_cut else None)


def _alone(net: Capacities) -> Cut:
    """The unit with the fewest ports against all others."""
    units = np.zeros(len(net.units), dtype=np.bool_)
    units[int(net.injection.argmin())] = True
    nodes = np.zeros(len(net.nodes), dtype=np.bool_)
    return Cut(units, nodes, crossing(net, units, nodes))


def _rate(cut: Cut) -> Fraction:
    ours = int(cut.units.sum())
    return Fraction(cut.value, ours * (len(cut.units) - ours))
