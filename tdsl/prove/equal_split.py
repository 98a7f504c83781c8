"""Routes along shortest paths under whole lengths, in whole numbers: nothing is rounded away, and anyone can
add them up again.

Every node distributes what it receives among the last links of the shortest paths, in proportion to their
capacities, rounded down; the first link carries the remainder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Ints
from tdsl.fabric.order import distinct_values
from tdsl.prove.network import Network
from tdsl.prove.search import hop_distances
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.unit_graph import UnitGraph
from tdsl.system.lazy_dataclass import dataclass

FAR = 2**40
"""Farther than any path."""

SHORT = 2**29
"""Longer than any path whose length is held in 32 bits."""

SLOT = 20_000
"""Entries for each slot of arcs from which they are looked at slot by slot."""

CELLS = 3_000_000
"""Sources times arcs that are looked at in one go: bounds memory to some hundred megabytes."""


@dataclass(frozen=True, slots=True)
class UniformDemand:
    """``senders`` at every node send PARTS each to every unit that they reach. ``pairs``: the senders are the
    units, and the other units of their own node receive, too; else the senders are hubs, and ``apart`` is the
    least number of the units that a hub reaches that are on the other side, over all splits of the units into
    halves."""

    parts: Ints
    senders: Ints
    pairs: bool
    apart: Ints

    @classmethod
    def all_to_all(cls, g: UnitGraph) -> UniformDemand:
        """From every unit to every other."""
        return cls(g.weight * PARTS, g.weight, True, g.weight)

    @classmethod
    def hubs(cls, g: UnitGraph, orbit: Ints, most: int) -> UniformDemand:
        """From nodes that forward and are adjacent to units, by capacity; from the first of every orbit for
        all of it, and from so many firsts at most."""
        senders, reached = np.zeros((2, g.nodes), dtype=np.int64)
        both = g.forwards[g.a] & g.forwards[g.b]
        label = component_labels(g.nodes, g.a[both], g.b[both])
        own = np.flatnonzero(g.forwards & (g.weight > 0))
        pairs = [own * g.nodes + label[own]]  # end and component
        for end, hub in ((g.a, g.b), (g.b, g.a)):
            mine = (g.weight[end] > 0) & g.forwards[hub]
            np.add.at(senders, orbit[hub[mine]], g.capacity[mine])
            pairs.append(end[mine] * g.nodes + label[hub[mine]])
        ends, where = np.divmod(distinct_values(np.concatenate(pairs)), g.nodes)
        np.add.at(reached, where, g.weight[ends])
        apart = np.maximum(g.net.half - len(g.net.units) + reached[label], 0)
        firsts = np.flatnonzero(senders * apart)
        chosen = np.zeros(g.nodes, dtype=np.int64)
        chosen[firsts[:: -(-len(firsts) // most) or 1]] = 1
        senders *= chosen
        return cls(g.weight * PARTS, senders // max(np.gcd.reduce(senders), 1), False, apart)


@dataclass(frozen=True, slots=True)
class EqualSplitLoads:
    """For the senders of some sources together: what they put on every link, both directions added up, and
    the sum of distance × units of demand, in the same parts."""

    load: Ints
    distance: int


def route_equal_split(
    g: UnitGraph, length: Ints, sources: Ints, times: Ints, demand: UniformDemand
) -> Iterator[EqualSplitLoads | None]:
    """What ``times`` senders of every source send along shortest paths; ``length`` is at least 1 for every
    link.

    Comes in several goes of some sources each, a None among them where some pair of units cannot reach each
    other.
    """
    each = max(CELLS // max(len(g.network.head), 1), 1)
    for at in range(0, len(sources), each):
        yield _route_some_sources(g, length, sources[at : at + each], times[at : at + each], demand)


def lengths_from_sources(g: UnitGraph, length: Ints, sources: Ints) -> Ints:
    """Length of the shortest path from every source (rows) to every node; what forwards nothing is passed by
    none."""
    return _lengths_of_columns(*_lengths_by_node(g, length, sources))


def _lengths_of_columns(by_node: Any, none: int) -> Ints:
    found = np.ascontiguousarray(by_node.T, dtype=np.int64)
    found[found >= none] = FAR
    return found


def _lengths_by_node(g: UnitGraph, length: Ints, sources: Ints) -> tuple[Any, int]:
    """Length of the shortest path to every node (rows) from every source (columns), in 32 bits where that is
    enough; and the number from which there is no path."""
    arcs = g.network
    short = int(length.max(initial=0)) * g.nodes < SHORT
    none, whole = (SHORT, np.dtype(np.int32)) if short else (FAR, np.dtype(np.int64))
    if len(sources) == 1 and bool((length == length[:1]).all()):
        hops = hop_distances(arcs, int(sources[0]), passing=g.forwards)
        far = np.where(hops < 0, none, hops * int(length.max(initial=0)))
        return far.astype(whole)[:, None], none
    by: Any = length[arcs.link].astype(whole)[:, None]
    out: Any = np.full(
        (g.nodes, len(sources)), none, dtype=whole
    )  # a column for every source: what is added up is contiguous
    column = np.arange(len(sources))
    out[sources, column] = 0
    first, degree = arcs.start[sources], np.diff(arcs.start)[sources]
    own = np.repeat(first - np.cumsum(degree) + degree, degree) + np.arange(degree.sum())
    out[arcs.tail[own], np.repeat(column, degree)] = by[
        own, 0
    ]  # the first links: a source may forward nothing
    by[~g.forwards[arcs.tail]] = none
    slots = len(sources) * arcs.arcs > SLOT * int(np.diff(arcs.start).max(initial=1))
    bring_nearer = (_least_of_slots if slots else _least_of_slices)(arcs)
    before = None
    while arcs.arcs and (before is None or not np.array_equal(before, out)):
        before = out.copy()
        bring_nearer(out, by)
    return out, none


def _least_of_slices(arcs: Network) -> Callable[[Any, Any], None]:
    """Puts for every node (rows) the least of what it has and of what arcs into it bring, with ``by``
    added."""
    heads = np.flatnonzero(np.diff(arcs.start))

    def step(out: Any, by: Any) -> None:
        brought = np.minimum.reduceat(out[arcs.tail] + by, arcs.start[heads], axis=0)
        out[heads] = np.minimum(out[heads], brought)

    return step


def _least_of_slots(arcs: Network) -> Callable[[Any, Any], None]:
    """The same by the first arc into every node, the second, and so on: faster where columns are long and
    degrees small. What has come nearer by one brings others nearer by the next. Nodes of many arcs come
    first, so that those of a slot are the first of all."""
    degree = np.diff(arcs.start)
    order = np.argsort(-degree, kind="stable")
    place = np.argsort(order)
    tail = place[arcs.tail]
    slots = []
    for k in range(int(degree.max())):
        arc = arcs.start[order[: int((degree > k).sum())]] + k
        slots.append((tail[arc], arc))

    def step(out: Any, by: Any) -> None:
        near = out[order]
        for tails, arc in slots:
            brought = near[tails]
            brought += by[arc]
            nearest = near[: len(arc)]
            np.minimum(nearest, brought, out=nearest)
        out[order] = near

    return step


def _route_some_sources(
    g: UnitGraph, length: Ints, sources: Ints, times: Ints, demand: UniformDemand
) -> EqualSplitLoads | None:
    arcs = g.network
    near, none = _lengths_by_node(g, length, sources)
    far = _lengths_of_columns(near, none)
    out_of_reach = far >= FAR
    if demand.pairs and out_of_reach[:, demand.parts > 0].any():
        return None
    leaves = _leaves(g) if not demand.pairs else np.zeros(0, dtype=np.int64)
    row, arc = _last_arcs_of_paths(g, length, sources, near, leaves)
    into, out_of = row * g.nodes + arcs.head[arc], row * g.nodes + arcs.tail[arc]
    # one sender has its own share of what its node has: a node represents units with the same links
    mine = np.flatnonzero(arcs.tail[arc] == sources[row])
    capacity = arcs.capacity[arc]
    capacity[mine] //= np.maximum(g.weight[sources[row[mine]]], 1)
    start = np.flatnonzero(np.diff(into, prepend=-1))
    total = (
        np.repeat(np.add.reduceat(capacity, start), np.diff(start, append=len(into)))
        if len(into)
        else capacity
    )
    wanted: Ints = np.where(out_of_reach, 0, demand.parts)
    load: Ints = np.zeros(len(g.a), dtype=np.int64)
    _bring_to_leaves(arcs, leaves, wanted, times, load)
    arriving = wanted.ravel()
    own = np.arange(len(sources)) * g.nodes + sources
    arriving[own] = 0
    link, many = arcs.link[arc], times[row]
    count = np.bincount(into, minlength=len(arriving))
    begin = np.cumsum(count) - count
    while True:
        node = np.flatnonzero(arriving)
        node = node[count[node] > 0]
        if not len(node):
            break
        each = count[node]
        start = np.cumsum(each) - each
        used = np.repeat(begin[node] - start, each) + np.arange(int(each.sum()))
        part = np.repeat(arriving[node], each) * capacity[used] // total[used]
        part[start] += arriving[node] - np.add.reduceat(part, start)
        np.add.at(load, link[used], part * many[used])
        arriving = np.zeros_like(arriving)
        np.add.at(arriving, out_of[used], part)
        arriving[own] = 0
    if demand.pairs:
        _add_traffic_within_nodes(g, length, sources, times, load)
    each_distance = [
        _sum_distance_times_demand(g, length, s, far[i], demand) for i, s in enumerate(sources.tolist())
    ]
    return EqualSplitLoads(load, sum(n * d for n, d in zip(times.tolist(), each_distance, strict=True)))


def _leaves(g: UnitGraph) -> Ints:
    """Nodes that forward nothing and have one neighbour, one that forwards: they get all from it."""
    alone = np.flatnonzero((np.diff(g.network.start) == 1) & ~g.forwards)
    return alone[g.forwards[g.network.tail[g.network.start[alone]]]]


def _bring_to_leaves(arcs: Network, leaves: Ints, wanted: Ints, times: Ints, load: Ints) -> None:
    """Put what leaves get on their links, and let their neighbours get it; rows are sources, each of which
    sends ``times`` as much."""
    if not len(leaves):
        return
    first = arcs.start[leaves]
    hub = arcs.tail[first]
    order = np.argsort(hub, kind="stable")
    begins = np.flatnonzero(np.diff(hub[order], prepend=-1))
    brought = wanted[:, leaves]
    np.add.at(load, arcs.link[first], times @ brought)
    wanted[:, leaves] = 0
    wanted[:, hub[order][begins]] += np.add.reduceat(brought[:, order], begins, axis=1)


def _last_arcs_of_paths(
    g: UnitGraph, length: Ints, sources: Ints, near: Any, leaves: Ints
) -> tuple[Ints, Ints]:
    """The source, by its place, and the arc of every last arc of a shortest path, in order of both; ``near``
    has the distance of every node (rows) from every source. Those into ``leaves`` are left out."""
    arcs = g.network
    inner = np.ones(g.nodes, dtype=np.bool_)
    inner[leaves] = False
    asked = np.flatnonzero(inner[arcs.head])
    tail = arcs.tail[asked]
    tight = near[tail]
    tight += length[arcs.link[asked]].astype(near.dtype)[:, None]
    last = tight == near[arcs.head[asked]]
    passed = ~g.forwards[tail]
    own = np.full(g.nodes, -1, dtype=np.int64)
    own[sources] = np.arange(len(sources))
    first = own[tail[passed]]
    kept = np.zeros((int(passed.sum()), len(sources)), dtype=np.bool_)
    begins = np.flatnonzero(first >= 0)
    kept[begins, first[begins]] = True
    last[passed] &= kept
    found = np.flatnonzero(np.ascontiguousarray(last.T))
    each = np.diff(np.searchsorted(found, np.arange(len(sources) + 1) * len(asked)))
    row = np.repeat(np.arange(len(sources)), each)
    return row, asked[found - row * len(asked)]


def distance_times_demand(g: UnitGraph, length: Ints, sources: Ints, demand: UniformDemand) -> list[int]:
    """Sum of distance × demand, in its parts, of one sender of each source; lengths may be zero here."""
    each = max(CELLS // max(len(g.network.head), 1), 1)
    out: list[int] = []
    for at in range(0, len(sources), each):
        some = sources[at : at + each]
        far = lengths_from_sources(g, length, some)
        out += [_sum_distance_times_demand(g, length, s, far[i], demand) for i, s in enumerate(some.tolist())]
    return out


def _sum_distance_times_demand(
    g: UnitGraph, length: Ints, source: int, far: Ints, demand: UniformDemand
) -> int:
    out = int(np.where(far < FAR, far, 0) @ demand.parts)
    if demand.pairs and g.weight[source] > 1:  # to the others of its node and back
        out += int(g.weight[source] - 1) * PARTS * 2 * int(length[(g.a == source) | (g.b == source)].min())
    return out


def _add_traffic_within_nodes(g: UnitGraph, length: Ints, sources: Ints, times: Ints, load: Ints) -> None:
    """Add what units send to the other units of their node, up and down its shortest links in proportion to
    their capacities."""
    for s, many in zip(sources.tolist(), times.tolist(), strict=True):
        others = int(g.weight[s]) - 1
        if others > 0:
            mine = np.flatnonzero((g.a == s) | (g.b == s))
            mine = mine[length[mine] == length[mine].min()]
            part = others * PARTS * g.capacity[mine] // int(g.capacity[mine].sum())
            part[0] += others * PARTS - int(part.sum())
            load[mine] += 2 * many * part
