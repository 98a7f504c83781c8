"""Delays of routes: what a message between units takes on the way, by any path without a repetition or by
those of least delay. Whole femtoseconds."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.delays import cable_delays, own_delays
from tdsl.prove.terminals import Offer
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(eq=False)  # no slots: the bound is kept once it is computed
class RouteDelays:
    """``cable`` is the delay of the cable of every link of a view, ``own`` that of every device; 0 where the
    design does not say, and ``missing`` then says what has none."""

    view: View
    cable: Ints
    own: Ints
    missing: tuple[str, ...]

    @classmethod
    def of(cls, view: View) -> RouteDelays:
        """Read a view."""
        cable, unknown = cable_delays(view.fabric, view.rows)
        own, silent = own_delays(view.fabric, view)
        missing = [f"{n:,} {name} {'has' if n == 1 else 'have'} no `latency`" for name, n in silent]
        if unknown:
            missing.append(
                f"{unknown:,} links have no `length`" if unknown > 1 else "one link has no `length`"
            )
        return cls(view, cable, own, tuple(missing))

    @cached_property
    def any_path(self) -> int:
        """What a message takes at most on a path that passes no device twice."""
        view = self.view
        a, b, passes = view.a, view.b, view.forwards
        trunk, access = passes[a] & passes[b], passes[a] ^ passes[b]
        low, high = np.minimum(a, b)[trunk], np.maximum(a, b)[trunk]
        nodes = np.unique(np.concatenate((low, high, a[access & passes[a]], b[access & passes[b]])))
        order = np.lexsort((-self.cable[trunk], high, low))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
        longest = np.sort(self.cable[trunk][order][first])[::-1][: max(len(nodes) - 1, 0)]
        unit = np.where(passes[a], b, a)[~trunk]
        ends = int((self.cable[~trunk] + self.own[unit]).max(initial=0))
        out: int = sum(longest.tolist()) + sum(self.own[nodes].tolist()) + 2 * ends
        return out

    def arc_lengths(self, offer: Offer) -> tuple[list[int], list[int]]:
        """For the network of a demand: what every arc takes, the longest cable of those that it is and the
        device that it leads to, at least 1; and what every node takes itself, at most."""
        view, net = self.view, offer.network
        own = np.zeros(net.nodes, dtype=np.int64)
        mine = offer.node >= 0
        np.maximum.at(own, offer.node[mine], self.own[mine])
        a, b = offer.node[view.a], offer.node[view.b]
        kept = (a >= 0) & (b >= 0) & (a != b)
        keys = net.head * net.nodes + net.tail
        length = np.zeros(net.arcs, dtype=np.int64)
        for x, y in ((a[kept], b[kept]), (b[kept], a[kept])):
            np.maximum.at(length, np.searchsorted(keys, y * net.nodes + x), self.cable[kept])
        return np.maximum(length + own[net.head], 1).tolist(), own.tolist()
