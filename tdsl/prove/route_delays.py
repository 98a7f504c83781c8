"""Delays of routes: what a message between units takes on the way, by any path without a repetition or by
those of least delay. Whole femtoseconds."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.delays import cable_delays, own_delays
from tdsl.prove.search import adjacency_network
from tdsl.prove.shortest_paths import FAR, distances_in_chunks, search_is_affordable
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
    def farthest_units(self) -> int:
        """What every way takes at least between some two units: the greatest least delay, or that from some
        units where there are too many. Any port of a host may be used, and hosts pass on what they receive,
        which they then receive and send."""
        view = self.view
        if not self.own.any() and not self.cable.any():
            return 0
        used = (view.forwards | view.fabric.is_end) & view.devices
        used[view.units] = True
        kept = used[view.a] & used[view.b] & (view.a != view.b)
        device = np.flatnonzero(used)
        place = np.full(view.fabric.device_count, -1, dtype=np.int64)
        place[device] = np.arange(len(device))
        a, b = place[view.a[kept]], place[view.b[kept]]
        graph = adjacency_network(len(device), a, b)
        if (int(self.own.max(initial=0)) + int(self.cable.max(initial=0))) * (graph.nodes + 2) >= FAR // 4:
            return 0
        cable = np.full(graph.arcs, FAR, dtype=np.int64)
        keys = graph.head * graph.nodes + graph.tail
        for x, y in ((a, b), (b, a)):
            np.minimum.at(cable, np.searchsorted(keys, x * graph.nodes + y), self.cable[kept])
        own = self.own[device]
        again = np.where(view.forwards[device], 0, own)  # a host that passes on receives and sends
        # A step leads from graph.tail to the node in whose list it is; both ways take the same in all.
        weight = cable + own[graph.head] + again[graph.tail]
        units, first = place[view.units], np.where(view.forwards[device], own, 0)
        every = search_is_affordable(graph, len(units), view.budget)
        sources, worst = units if every else units[:1], 0
        for _ in range(1 if every else view.budget.delay_sweep_rounds):
            for chosen, far in distances_in_chunks(graph, weight, sources):
                took = far[units] + first[chosen][None, :]
                took[far[units] >= FAR] = 0
                took[units[:, None] == chosen[None, :]] = 0
                worst = max(worst, int(took.max(initial=0)))
                sources = units[[int(took[:, 0].argmax())]] if not every else sources
        return worst

    @cached_property
    def any_path(self) -> int:
        """What a message takes at most on a path that passes no device twice: it stays in one component of
        the forwarding devices."""
        view = self.view
        a, b, passes = view.a, view.b, view.forwards
        trunk, access = passes[a] & passes[b], passes[a] ^ passes[b]
        low, high = np.minimum(a, b)[trunk], np.maximum(a, b)[trunk]
        nodes = np.unique(np.concatenate((low, high, a[access & passes[a]], b[access & passes[b]])))
        part = view.label
        inner = np.zeros(view.fabric.device_count, dtype=np.int64)
        np.add.at(inner, part[nodes], self.own[nodes])
        hops = np.bincount(part[nodes], minlength=len(inner)) - 1
        order = np.lexsort((-self.cable[trunk], high, low))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = (np.diff(low[order]) != 0) | (np.diff(high[order]) != 0)
        of, cable = part[low[order][first]], self.cable[trunk][order][first]
        order = np.lexsort((-cable, of))
        of, cable = of[order], cable[order]
        place = np.arange(len(of)) - np.searchsorted(of, of)
        np.add.at(inner, of[place < hops[of]], cable[place < hops[of]])
        unit = np.maximum(*(np.where(passes[x], 0, self.own[x])[~trunk] for x in (a, b)))
        ends = int((self.cable[~trunk] + unit).max(initial=0))
        return int(inner.max(initial=0)) + 2 * ends

    def to_neighbour_and_back(self, ends: Ints) -> int:
        """What a message takes at most from one of these ends to a device that it is linked to, and by any
        of their links back to it: ranks of one host that nothing else joins."""
        view, worst = self.view, 0
        mine = np.zeros(view.fabric.device_count, dtype=np.bool_)
        mine[ends] = True
        own = np.where(view.forwards, self.own, 2 * self.own)  # a host receives and sends
        for x, y in ((view.a, view.b), (view.b, view.a)):
            at = mine[x]
            took = 2 * (self.cable[at] + self.own[x[at]]) + own[y[at]]
            worst = max(worst, int(took.max(initial=0)))
        return worst

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
