"""The network that a demand flows through: terminals that send and receive, and capacities between them, in grains."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.rails import link_rail
from tdsl.verify.blocks import groups
from tdsl.verify.components import components
from tdsl.verify.demand import Demand
from tdsl.verify.multiflow import Bounds, Demands, Flows, Routed, concurrent
from tdsl.verify.view import View


@dataclass(frozen=True, slots=True)
class Offer:
    """A demand on a network: the graph, what its terminals ask of each other, the greatest factor that their own links allow,
    and ``total``, the sum of all demands. ``nodes`` are the names of the graph's nodes, of several terminals that of the first:
    the device, and for a terminal that is one rail of it ``device rail 3``."""

    nodes: tuple[str, ...]
    flows: Flows
    demands: Demands
    top: Fraction
    total: int
    grain: int

    def bounds(self) -> Bounds | None:
        """How much of the demand flows at once; the factor ``top`` is full."""
        if not self.demands:  # all of it stays below one switch
            return Bounds(self.top, self.top, Routed(), ())
        return concurrent(self.flows, self.demands, self.top)


@dataclass(frozen=True, slots=True)
class Links:
    """Links between counted devices: both ends, rate, rail (-1 where there is none)."""

    a: Ints
    b: Ints
    rate: Ints
    rail: Ints

    @classmethod
    def of(cls, view: View) -> Links:
        """Read a view's columns; what only managers and storage use is left out."""
        f = view.fabric
        counted = view.forwards.copy()
        counted[view.units] = True
        kept = counted[view.a] & counted[view.b] & (view.a != view.b)
        rail = np.asarray(link_rail(f), dtype=np.int64)[view.rows]
        return cls(view.a[kept], view.b[kept], f.link_rate[view.rows][kept], rail[kept])

    def only(self, kept: Bools) -> Links:
        """Some of the links."""
        return Links(self.a[kept], self.b[kept], self.rate[kept], self.rail[kept])


def parts(view: View, links: Links) -> list[Links]:
    """The links of every plane: of each component of forwarding devices, those of units that meet it among them."""
    n = view.fabric.device_count
    a, b = view.forwards[links.a], view.forwards[links.b]
    label = components(n, links.a[a & b], links.b[a & b])
    home = np.where(a, label[links.a], np.where(b, label[links.b], -1))
    return [links.only(home == at) for at in np.unique(home[home >= 0]).tolist()]


def offer(view: View, links: Links, demand: Demand) -> Offer | None:
    """A demand laid on links; None where somebody who sends or receives has none.

    Terminals are units, or the rails of each where the demand is by rail. Those that meet one node only are put together by
    that node: what they send among themselves stays below it.
    """
    f = view.fabric
    unit = np.full(f.device_count, -1, dtype=np.int64)
    unit[view.units] = np.arange(len(view.units))
    ends = (unit >= 0) & ~view.forwards
    rails = int(links.rail.max(initial=0)) + 2 if demand.by_rail else 1
    lane = links.rail + 1 if demand.by_rail else np.zeros(len(links.a), dtype=np.int64)
    count = len(view.units) * rails
    grain = gcd(*np.unique(links.rate).tolist()) or 1
    # nodes: terminals first, then the devices
    a = np.where(ends[links.a], unit[links.a] * rails + lane, count + links.a)
    b = np.where(ends[links.b], unit[links.b] * rails + lane, count + links.b)
    room = links.rate // grain
    source, target, amount = _terminals(view, demand, a, b, rails, count)
    sent = np.zeros((2, count + f.device_count), dtype=object)
    for side, who in enumerate((source, target)):
        np.add.at(sent[side], who, amount.astype(object))
    own = np.zeros(count + f.device_count, dtype=np.int64)
    np.add.at(own, a, room)
    np.add.at(own, b, room)
    busy = np.flatnonzero((sent[0] > 0) | (sent[1] > 0))
    if not len(busy) or (own[busy] == 0).any():
        return None
    top = min(Fraction(int(own[v]), int(max(sent[0][v], sent[1][v]))) for v in busy.tolist())
    place = _folded(a, b, busy[busy < count], count + f.device_count, count)
    nodes, dense = np.unique(np.concatenate((place[a], place[b])), return_inverse=True)
    size, (tail, head) = len(nodes), np.split(dense, 2)
    keys, back = np.unique(np.concatenate((tail * size + head, head * size + tail)), return_inverse=True)
    total = np.zeros(len(keys), dtype=np.int64)
    np.add.at(total, back, np.concatenate((room, room)))
    labels = groups(f, _devices(view, nodes, rails, count))
    flows = Flows(size, keys // size, keys % size, total, nodes >= count, tuple(labels))
    demands: Demands = {}
    begin, end = (np.searchsorted(nodes, place[x]).tolist() for x in (source, target))
    for s, t, w in zip(begin, end, amount.tolist(), strict=True):
        if s != t:
            demands[s, t] = demands.get((s, t), 0) + w
    return Offer(_called(view, nodes, rails, count), flows, demands, top, int(amount.sum()), grain)


def _terminals(view: View, demand: Demand, a: Ints, b: Ints, rails: int, count: int) -> tuple[Ints, Ints, Ints]:
    """The demand between terminals; by rail, a ring over the units that have that rail."""
    if not demand.by_rail:
        spot = np.where(view.forwards[view.units], count + view.units, np.arange(len(view.units)))
        return spot[demand.source], spot[demand.target], demand.amount
    there = np.unique(np.concatenate((a[a < count], b[b < count])))
    source, target = [], []
    for rail in range(rails):
        ring = there[there % rails == rail]
        if len(ring) > 1:
            source.append(ring)
            target.append(np.roll(ring, -1))
    if not source:
        none = np.zeros(0, dtype=np.int64)
        return none, none, none
    return np.concatenate(source), np.concatenate(target), np.ones(sum(map(len, source)), dtype=np.int64)


def _devices(view: View, nodes: Ints, rails: int, count: int) -> Ints:
    """The device that every node is."""
    return np.where(nodes < count, view.units[np.minimum(nodes, count - 1) // rails], nodes - count)


def _called(view: View, nodes: Ints, rails: int, count: int) -> tuple[str, ...]:
    """Names of nodes."""
    device = _devices(view, nodes, rails, count)
    lane = np.where(nodes < count, nodes % rails - 1, -1).tolist()
    return tuple(n if r < 0 else f"{n} rail {r}" for n, r in zip(view.names(device), lane, strict=True))


def _folded(a: Ints, b: Ints, terminals: Ints, size: int, count: int) -> Ints:
    """Where every node is put: terminals that meet one node only, from ``count`` on as those that forward are, are the first of
    those that do."""
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
