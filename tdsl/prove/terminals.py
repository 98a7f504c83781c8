"""The network that a demand flows through: terminals that send and receive, and capacities between them, in
grains."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.block_cuts import group_labels
from tdsl.prove.bound import Bound, PortBound
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.concurrent_flow import concurrent_flow_bounds
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.network import Network
from tdsl.prove.routed_demand import DemandBound, Demands, RoutedLoads
from tdsl.prove.symmetry import same_network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Offer:
    """A demand on a network: the graph, what its terminals ask of each other, the greatest factor that their
    own links allow, and ``total``, the sum of all demands. ``nodes`` are the names of the graph's nodes, of
    several terminals that of the first; ``node`` is the node of every device of the view, -1 for others."""

    nodes: tuple[str, ...]
    network: Network
    demands: Demands
    top: Fraction
    total: int
    grain: int
    node: Ints

    def same(self, other: Offer) -> bool:
        """Whether another is the same but for names: its bounds are these."""
        return (
            self.top == other.top
            and self.demands == other.demands
            and same_network(self.network, other.network)
        )

    def bounds(self, budget: Budget = DEFAULT) -> DemandBound | None:
        """How much of the demand flows at once; the factor ``top`` is full."""
        if not self.demands:  # all of it stays below one switch
            return Bound(self.top, self.top, RoutedLoads(budget.flow_entries), PortBound())
        return concurrent_flow_bounds(self.network, self.demands, self.top, budget)


Answers = list[tuple[Offer, DemandBound | None]]
"""Offers with their bounds."""


def views_of_planes(view: View) -> list[View]:
    """Every plane as a view of its own: a component of forwarding devices, and the links of the units
    connected to it."""
    f = view.fabric
    home = np.where(
        view.forwards[view.a], view.label[view.a], np.where(view.forwards[view.b], view.label[view.b], -1)
    )
    of_units = np.isin(view.a, view.units) | np.isin(view.b, view.units)
    found = np.unique(home[(home >= 0) & of_units])
    return [
        View(f, view.core, view.devices, view.rows[home == at], view.name, budget=view.budget)
        for at in found.tolist()
    ]


def offer_of_demand(view: View, demand: TrafficDemand) -> Offer | None:
    """A demand between the units of a view; None where somebody who sends or receives has no link.

    Units that are adjacent to one node only become one node for each such neighbour: traffic among them stays
    below it.
    """
    f, count, size = view.fabric, len(view.units), len(view.units) + view.fabric.device_count
    counted = view.forwards.copy()
    counted[view.units] = True
    kept = counted[view.a] & counted[view.b] & (view.a != view.b)  # not what only managers and storage use
    rate = f.link_rate[view.rows[kept]]
    # nodes: units that forward nothing first, then the devices
    place = len(view.units) + np.arange(f.device_count)
    ends = np.flatnonzero(~view.forwards[view.units])
    place[view.units[ends]] = ends
    a, b = place[view.a[kept]], place[view.b[kept]]
    grain = gcd(*np.unique(rate).tolist()) or 1
    capacity = rate // grain
    source, target, amount = place[view.units[demand.source]], place[view.units[demand.target]], demand.amount
    sent = np.zeros((2, size), dtype=object)
    for side, who in enumerate((source, target)):
        np.add.at(sent[side], who, amount.astype(object))
    own = np.zeros(size, dtype=np.int64)
    np.add.at(own, a, capacity)
    np.add.at(own, b, capacity)
    busy = np.flatnonzero((sent[0] > 0) | (sent[1] > 0))
    if not len(busy) or (own[busy] == 0).any():
        return None
    top = min(
        Fraction(x, y)
        for x, y in set(zip(own[busy].tolist(), np.maximum(sent[0], sent[1])[busy].tolist(), strict=True))
    )
    of_device = place
    place = _merge_single_neighbour_terminals(a, b, busy[busy < count], size, count)
    nodes, dense = np.unique(np.concatenate((place[a], place[b])), return_inverse=True)
    tail, head = np.split(dense, 2)
    device = np.where(nodes < count, view.units[np.minimum(nodes, count - 1)], nodes - count)
    net = Network.both_ways(nodes >= count, tail, head, capacity, tuple(group_labels(f, device)))
    demands: Demands = {}
    begin, end = (np.searchsorted(nodes, place[x]).tolist() for x in (source, target))
    for s, t, w in zip(begin, end, amount.tolist(), strict=True):
        if s != t:
            demands[s, t] = demands.get((s, t), 0) + w
    at = np.minimum(np.searchsorted(nodes, place[of_device]), len(nodes) - 1)
    node = np.where(nodes[at] == place[of_device], at, -1)
    return Offer(tuple(view.names(device)), net, demands, top, int(amount.sum()), grain, node)


def _merge_single_neighbour_terminals(a: Ints, b: Ints, terminals: Ints, size: int, count: int) -> Ints:
    """Where every node is put: terminals that are adjacent to one node only, from ``count`` on as those that
    forward are, are the first of those that do."""
    place = np.arange(size)
    ends = np.concatenate((a, b))
    far = np.concatenate((b, a))
    mine = np.isin(ends, terminals)
    ends, far = ends[mine], far[mine]
    low, high = np.full(size, size), np.full(size, -1)
    np.minimum.at(low, ends, far)
    np.maximum.at(high, ends, far)
    single = terminals[(low[terminals] == high[terminals]) & (low[terminals] >= count)]
    _, first, back = np.unique(low[single], return_index=True, return_inverse=True)
    place[single] = single[first[back]]
    return place
