"""Routes of routing engines over the switches of a view, and the turns that they make.

A *channel* is one direction of the links between two forwarding devices; parallel links are one. A route that
enters a device by one channel and leaves it by the next makes a *turn*. For each destination an engine says
which channels lead on; all of them are taken to be in use, whichever the engine or a hash chooses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.subnets import is_full_tree
from tdsl.prove.network import Network
from tdsl.prove.search import adjacency_network, hop_distances
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

ENGINES = ("minhop", "updn", "ftree", "dor", "bgp")
"""The engines whose routes are judged: those of OpenSM (opensm(8)) without virtual lanes, and eBGP as in
RFC 7938."""


class EngineRefuses(Exception):
    """The engine does not route this fabric, or its routes are not known; the text says why."""


@dataclass(eq=False)
class SwitchGraph:
    """The forwarding devices of a view. ``net`` has a node a device and an arc a channel, from ``tail`` to
    ``head``; ``ends`` are the devices that endpoints are attached to, ascending."""

    view: View
    net: Network
    ends: Ints

    @classmethod
    def of(cls, view: View) -> SwitchGraph:
        """Read the switches, chips and other forwarding devices of a view. Raises EngineRefuses where no
        endpoint is attached to any."""
        net = adjacency_network(view.fabric.device_count, view.a[view.trunks], view.b[view.trunks])
        nodes = view.attachment.node
        ends = distinct_values(nodes[nodes < view.fabric.device_count])
        if not len(ends):
            raise EngineRefuses("no endpoint is attached to a switch")
        return cls(view, net, ends)

    @property
    def parts(self) -> int:
        """Numbers of parts with endpoints that no link between forwarding devices joins."""
        return len(distinct_values(self.view.label[self.ends]))

    @property
    def channels(self) -> int:
        """Number of channels."""
        return len(self.net.tail)


class RouteEngine(ABC):
    """What an engine makes of a graph: for each destination the channels that lead on."""

    def __init__(self, graph: SwitchGraph) -> None:
        self.graph = graph

    @abstractmethod
    def channels_towards(self, target: int) -> Bools:
        """Of every channel whether its tail forwards by it what is for the device ``target``. Raises
        EngineRefuses."""


class ShortestRoutes(RouteEngine):
    """All shortest paths: ``minhop``."""

    def channels_towards(self, target: int) -> Bools:
        """The channels that come one link nearer."""
        net = self.graph.net
        far = hop_distances(net, target)
        found: Bools = (far[net.head] >= 0) & (far[net.tail] == far[net.head] + 1)
        return found


class DimensionOrder(RouteEngine):
    """``dor``: in a grid, torus or HyperX one coordinate after the other, each by the shortest way along its
    line. Dimensions are in the order of the indices."""

    def __init__(self, graph: SwitchGraph) -> None:
        super().__init__(graph)
        f, net = graph.view.fabric, graph.net
        nodes = distinct_values(net.tail)
        if len(distinct_values(f.device_set[nodes])) != 1:
            raise EngineRefuses("`dor` routes grids: the switches must be of one declaration")
        declared = f.set_of(int(nodes[0]))
        at = np.unravel_index(nodes - declared.first, tuple(a.size for a in declared.axes))
        self.place = np.zeros((len(at), f.device_count), dtype=np.int64)
        self.place[:, nodes] = np.stack(at)
        moved = self.place[:, net.tail] != self.place[:, net.head]
        if wrong := np.flatnonzero(moved.sum(axis=0) != 1)[:1].tolist():
            a, b = (f.device_name(int(x[wrong[0]])) for x in (net.tail, net.head))
            raise EngineRefuses(f"`dor` routes grids, and {a} and {b} differ in more than one coordinate")
        self.dimension = np.argmax(moved, axis=0)
        self.known: dict[tuple[int, int], Ints] = {}

    def channels_towards(self, target: int) -> Bools:
        """The channels of the first coordinate that differs, one link nearer to its value."""
        net = self.graph.net
        differs = self.place != self.place[:, [target]]
        first = np.where(differs.any(axis=0), np.argmax(differs, axis=0), -1)
        out = np.zeros(self.graph.channels, dtype=np.bool_)
        for dimension in range(len(self.place)):
            far = self._distances_on_lines(dimension, int(self.place[dimension, target]))
            mine = (self.dimension == dimension) & (first[net.tail] == dimension)
            out |= mine & (far[net.head] >= 0) & (far[net.tail] == far[net.head] + 1)
        return out

    def _distances_on_lines(self, dimension: int, value: int) -> Ints:
        """Links along one dimension from every device to the one of its line that has this coordinate, -1
        where there is none."""
        key = dimension, value
        if key not in self.known:
            net = self.graph.net
            mine = self.dimension == dimension
            far = np.full(net.nodes, -1, dtype=np.int64)
            nodes = distinct_values(net.tail)
            far[nodes[self.place[dimension, nodes] == value]] = level = 0
            while True:
                near = mine & (far[net.head] == level) & (far[net.tail] < 0)
                if not near.any():
                    break
                level += 1
                far[net.tail[near]] = level
            self.known[key] = far
        return self.known[key]


class BgpRoutes(RouteEngine):
    """``bgp``: between neighbours of different AS numbers, the shortest AS path without the own number, over
    all that are equally short (RFC 4271, section 9; RFC 7938, section 6)."""

    def __init__(self, graph: SwitchGraph) -> None:
        super().__init__(graph)
        addressing = graph.view.fabric.addressing
        if addressing is None or addressing.routing is None:
            raise EngineRefuses("the fabric has no `routing bgp` block")
        self.asn = addressing.asn.tolist()
        nodes = distinct_values(graph.net.tail)
        if silent := [d for d in nodes.tolist() if not self.asn[d]]:
            raise EngineRefuses(f"{graph.view.fabric.device_name(silent[0])} has no AS number")
        self.near: dict[int, list[tuple[int, int]]] = {}
        for arc, (v, w) in enumerate(zip(graph.net.tail.tolist(), graph.net.head.tolist(), strict=True)):
            self.near.setdefault(w, []).append((v, arc))

    def channels_towards(self, target: int) -> Bools:
        """The channels to the neighbours whose paths are accepted and shortest. Raises EngineRefuses where it
        depends on which of several shortest paths a router announces."""
        out = np.zeros(self.graph.channels, dtype=np.bool_)
        own = frozenset((self.asn[target],))
        some, every = {target: own}, {target: own}  # AS numbers on some, and on every, shortest path
        front = [target]
        while front:
            heard: dict[int, list[tuple[int, int]]] = {}
            for w in front:
                for v, arc in self.near.get(w, ()):
                    if v in some or self.asn[v] in every[w]:
                        continue
                    if self.asn[v] in some[w]:
                        names = self.graph.view.names(np.array([w, v, target]))
                        raise EngineRefuses(
                            f"which path {names[0]} announces to {names[1]} for {names[2]} depends on a tie"
                        )
                    heard.setdefault(v, []).append((w, arc))
            for v, paths in heard.items():
                mine = frozenset((self.asn[v],))
                some[v] = mine.union(*(some[w] for w, _ in paths))
                every[v] = mine | frozenset.intersection(*(every[w] for w, _ in paths))
                out[[arc for _, arc in paths]] = True
            front = list(heard)
        return out


TABLES: dict[str, type[RouteEngine]] = {"minhop": ShortestRoutes, "dor": DimensionOrder, "bgp": BgpRoutes}
"""The engines that give routes for each destination."""


@dataclass(frozen=True, slots=True)
class Levels:
    """How ``updn`` and ``ftree`` direct channels. ``rank`` of every device is its distance from the
    ``roots``, -1 of what is none of the switches; channels go *up* to a lower rank, or among equals to the
    device that is declared first."""

    rank: Ints
    roots: Ints
    up: Bools


def levels_from_roots(graph: SwitchGraph) -> Levels:
    """The ranks of up*/down* routing (Schroeder et al., "Autonet", IEEE JSAC 9, 1991). Roots are the switches
    of the highest tier where every channel joins one tier to the next, as the target `opensm` writes them;
    else, in each part, the first switch of its highest tier."""
    view, net = graph.view, graph.net
    tier, label = view.fabric.tier, view.label
    nodes = distinct_values(np.concatenate((net.tail, graph.ends)))
    layered = bool((np.abs(tier[net.tail] - tier[net.head]) == 1).all()) and bool((tier[nodes] >= 1).all())
    top = np.zeros(net.nodes, dtype=np.int64)
    np.maximum.at(top, label[nodes], tier[nodes])
    roots = nodes[tier[nodes] == top[label[nodes]]]
    if not layered:
        _, first = np.unique(label[roots], return_index=True)
        roots = roots[np.sort(first)]
    rank = np.full(net.nodes, -1, dtype=np.int64)
    rank[roots] = level = 0
    while (near := (rank[net.tail] == level) & (rank[net.head] < 0)).any():
        level += 1
        rank[net.head[near]] = level
    equal = rank[net.head] == rank[net.tail]
    up = (rank[net.head] < rank[net.tail]) | (equal & (net.head < net.tail))
    return Levels(rank, roots, up)


def refuse_unless_full_tree(graph: SwitchGraph) -> None:
    """Raise EngineRefuses where OpenSM's ``ftree`` does not route what is looked at."""
    view, net = graph.view, graph.net
    f = view.fabric
    inner = view.rows[view.trunks]
    for part in distinct_values(view.label[net.tail]).tolist():
        mine = inner[view.label[f.device_a[inner]] == part]
        low, high = f.tier[f.device_a[mine]], f.tier[f.device_b[mine]]
        at = view.forwards[view.b]
        links = view.rows[np.where(at, view.label[view.b], view.label[view.a]) == part]
        if not ((high - low == 1) & (low >= 1)).all() or not is_full_tree(f, links, mine):
            raise EngineRefuses(
                "`ftree` routes trees whose switches of a tier have as many links up and down as each other, "
                "and refuses this one"
            )


def pair_without_legal_route(graph: SwitchGraph, levels: Levels) -> tuple[int, int] | None:
    """Two devices with endpoints, joined by links, of which the first has no path to the second that goes up
    and then down; None where all pairs have one. Sets of devices are the bits of whole numbers."""
    net, label = graph.net, graph.view.label
    ends = graph.ends.tolist()
    bit = {d: 1 << i for i, d in enumerate(ends)}
    ups: dict[int, list[int]] = {}
    for v, w in zip(net.tail[levels.up].tolist(), net.head[levels.up].tolist(), strict=True):
        ups.setdefault(v, []).append(w)
    nodes = np.flatnonzero(levels.rank >= 0)
    top_down = nodes[np.lexsort((nodes, levels.rank[nodes]))].tolist()
    below = {v: bit.get(v, 0) for v in top_down}
    for v in reversed(top_down):
        for w in ups.get(v, ()):
            below[w] |= below[v]
    reached = dict(below)
    for v in top_down:
        for w in ups.get(v, ()):
            reached[v] |= reached[w]
    wanted: dict[int, int] = {}
    for d in ends:
        part = int(label[d])
        wanted[part] = wanted.get(part, 0) | bit[d]
    for d in ends:
        missing = wanted[int(label[d])] & ~reached.get(d, bit[d])
        if missing:
            return d, ends[(missing & -missing).bit_length() - 1]
    return None


@dataclass(frozen=True, slots=True)
class RoutesTo:
    """The routes of an engine to one device: ``used`` channels, and those by which ``next`` devices forward,
    reached or not. ``missing`` is a device with endpoints that has no route to it, -1 if all have one."""

    target: int
    used: Bools
    next: Bools
    missing: int


def routes_of_engine(engine: RouteEngine) -> Iterator[RoutesTo]:
    """The routes to each device that endpoints are attached to, ascending. Raises EngineRefuses."""
    graph = engine.graph
    net, label = graph.net, graph.view.label
    for target in graph.ends.tolist():
        onward = engine.channels_towards(target)
        starts = graph.ends[(label[graph.ends] == label[target]) & (graph.ends != target)]
        without = starts[~np.isin(starts, net.tail[onward])]
        reached = np.zeros(net.nodes, dtype=np.bool_)
        reached[starts] = True
        while True:
            heads = net.head[onward & reached[net.tail]]
            if reached[heads].all():
                break
            reached[heads] = True
        yield RoutesTo(target, onward & reached[net.tail], onward, int(without[0]) if len(without) else -1)


def route_through_turn(graph: SwitchGraph, routes: RoutesTo, turn: tuple[int, int]) -> list[int]:
    """A route to the target of ``routes`` that makes a turn, as devices from one with endpoints on."""
    net = graph.net
    ends = {*graph.ends.tolist()} - {routes.target}
    arcs = np.flatnonzero(routes.used)
    before: dict[int, int] = {}
    front = [int(net.tail[turn[0]])]
    seen = {*front}
    while front and front[0] not in ends:
        v = front.pop(0)
        for u in net.tail[arcs[net.head[arcs] == v]].tolist():
            if u not in seen:
                seen.add(u)
                before[u] = v
                front.append(u)
    way = [front[0]]
    while way[-1] in before:
        way.append(before[way[-1]])
    way += [int(net.head[turn[0]]), int(net.head[turn[1]])]
    while way[-1] != routes.target:
        way.append(int(net.head[np.flatnonzero(routes.next & (net.tail == way[-1]))[0]]))
    return way
