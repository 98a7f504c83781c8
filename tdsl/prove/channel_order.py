"""Whether routes can wait for each other in a cycle: an order of channels, or a cycle of turns.

Routes without virtual lanes are free of deadlock if and only if no cycle of channels exists in which some
route holds each while it waits for the next (Dally and Seitz, "Deadlock-free message routing in
multiprocessor interconnection networks", IEEE Transactions on Computers C-36, 1987). An order of the channels
along which every turn ascends proves it.
"""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.channel_routes import (
    TABLES,
    EngineRefuses,
    Levels,
    RouteEngine,
    RoutesTo,
    SwitchGraph,
    levels_from_roots,
    pair_without_legal_route,
    refuse_unless_full_tree,
    route_through_turn,
    routes_of_engine,
)
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ChannelOrder:
    """Every turn ascends: ``order`` are all channels as pairs of devices. ``roots`` of up*/down*, or
    none; ``parts`` with endpoints are not joined, and no route leads from one to another."""

    order: list[tuple[int, int]]
    roots: Ints
    parts: int = 1


@dataclass(frozen=True, slots=True)
class ChannelCycle:
    """Devices around which routes wait for each other, the first not repeated, and for each of its turns a
    route that makes it."""

    devices: list[int]
    routes: list[list[int]]


@dataclass(frozen=True, slots=True)
class NoRoute:
    """A device with endpoints that has no route to another, though links join them."""

    source: int
    target: int


def order_or_cycle(view: View, engine: str) -> ChannelOrder | ChannelCycle | NoRoute:
    """What is true of the routes of an engine, a name of ENGINES. Raises EngineRefuses, also where the work
    is more than the budget."""
    graph = SwitchGraph.of(view)
    if engine not in TABLES:
        if engine == "ftree":
            refuse_unless_full_tree(graph)
        levels = levels_from_roots(graph)
        apart = pair_without_legal_route(graph, levels)
        return NoRoute(*apart) if apart is not None else _order_of_levels(graph, levels)
    work = len(graph.ends) * max(graph.channels, 1)
    if work > view.budget.route_work:
        raise EngineRefuses(
            f"{len(graph.ends):,} destinations times {graph.channels:,} channels are more than are judged"
        )
    made = TABLES[engine](graph)
    levels = _levels_of_tiers(graph)
    falls = _first_valley_or_gap(made, levels)
    if isinstance(falls, NoRoute):
        return falls
    return _order_of_levels(graph, levels) if falls is None else _order_of_turns(made)


def valley_or_gap(view: View, engine: str) -> list[int] | NoRoute | None:
    """A route that goes up again, or aside, after it went down or aside, as devices; a pair without a route;
    None where no route does. Up and down are between tiers. Raises EngineRefuses."""
    graph = SwitchGraph.of(view)
    net, tier = graph.net, view.fabric.tier
    rise = tier[net.head] - tier[net.tail]
    if engine not in TABLES:
        levels = levels_from_roots(graph)
        if engine == "ftree":
            refuse_unless_full_tree(graph)
        if not np.array_equal(levels.up, rise > 0):
            raise EngineRefuses(f"`{engine}` counts ranks from its roots, and they are not the tiers")
        apart = pair_without_legal_route(graph, levels)
        return NoRoute(*apart) if apart is not None else None
    if len(graph.ends) * max(graph.channels, 1) > view.budget.route_work:
        raise EngineRefuses(f"{graph.channels:,} channels are more than are judged")
    for routes in routes_of_engine(TABLES[engine](graph)):
        if routes.missing >= 0:
            return NoRoute(routes.missing, routes.target)
        turn = _valley_of_routes(graph, routes, routes.used & (rise <= 0), routes.used & (rise >= 0))
        if turn is not None:
            return route_through_turn(graph, routes, turn)
    return None


def _levels_of_tiers(graph: SwitchGraph) -> Levels:
    """Channels go up to a higher tier, or within one to the device declared first."""
    net, tier = graph.net, graph.view.fabric.tier
    equal = tier[net.head] == tier[net.tail]
    up = (tier[net.head] > tier[net.tail]) | (equal & (net.head < net.tail))
    return Levels(-tier, np.zeros(0, dtype=np.int64), up)


def _order_of_levels(graph: SwitchGraph, levels: Levels) -> ChannelOrder:
    """First the channels that go up, those of low tails first, then the others, those of high tails first: no
    route goes up after it went down."""
    net = graph.net
    high = -levels.rank[net.tail] * (net.nodes + 1) - net.tail  # ascends on every way up
    place = np.where(levels.up, high, -high)
    order = np.lexsort((net.head, place, ~levels.up))
    return ChannelOrder(
        list(zip(net.tail[order].tolist(), net.head[order].tolist(), strict=True)), levels.roots, graph.parts
    )


def _first_valley_or_gap(
    made: RouteEngine, levels: Levels
) -> tuple[RoutesTo, tuple[int, int]] | NoRoute | None:
    """The first turn from a channel that goes down to one that goes up, or pair without a route."""
    found = None
    for routes in routes_of_engine(made):
        if routes.missing >= 0:
            return NoRoute(routes.missing, routes.target)
        if found is None:
            turn = _valley_of_routes(made.graph, routes, routes.used & ~levels.up, routes.used & levels.up)
            found = None if turn is None else (routes, turn)
    return found


def _valley_of_routes(
    graph: SwitchGraph, routes: RoutesTo, falling: Bools, rising: Bools
) -> tuple[int, int] | None:
    """A turn from a channel of ``falling`` to one of ``rising``."""
    net = graph.net
    low = np.zeros(net.nodes, dtype=np.bool_)
    low[net.head[falling]] = True
    after = np.flatnonzero(rising & low[net.tail])
    if not len(after):
        return None
    second = int(after[0])
    return int(np.flatnonzero(falling & (net.head == net.tail[second]))[0]), second


def _order_of_turns(made: RouteEngine) -> ChannelOrder | ChannelCycle:
    """An order along which all turns ascend, or a shortest cycle through some channel. Raises EngineRefuses
    where the turns are too many."""
    graph = made.graph
    first, then = _turns_of_routes(made)
    n = graph.channels
    cycle = shortest_cycle_of_turns(n, first, then)
    if not cycle:
        order = _topological_order(n, first, then)
        pairs = zip(graph.net.tail[order].tolist(), graph.net.head[order].tolist(), strict=True)
        return ChannelOrder(list(pairs), np.zeros(0, dtype=np.int64), graph.parts)
    return _cycle_with_routes(made, cycle)


def shortest_cycle_of_turns(count: int, first: Ints, then: Ints) -> list[int]:
    """A shortest cycle through the first of ``count`` channels that is on one, as channels; none where the
    relation, from ``first[i]`` to ``then[i]``, has no cycle."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    turns = coo_array((np.ones(len(first), dtype=np.int8), (first, then)), shape=(count, count))
    parts, label = connected_components(turns.tocsr(), directed=True, connection="strong")
    if parts == count:
        return []
    start = int(np.flatnonzero(np.bincount(label)[label] > 1)[0])
    inside = (label[first] == label[start]) & (label[then] == label[start])
    return _shortest_cycle(start, first[inside], then[inside])


def _turns_of_routes(made: RouteEngine) -> tuple[Ints, Ints]:
    """All turns of an engine's routes, each once: the channel before and the one after."""
    graph = made.graph
    net, n = graph.net, graph.channels
    by_tail = np.argsort(net.tail, kind="stable")
    kept, waiting, held, work = np.zeros(0, dtype=np.int64), list[Ints](), 0, 0
    for routes in routes_of_engine(made):
        before = np.flatnonzero(routes.used)
        after = by_tail[routes.used[by_tail]]
        count = np.bincount(net.tail[after], minlength=net.nodes)
        begin = np.cumsum(count) - count
        many = count[net.head[before]]
        total = int(many.sum())
        work += total
        if work > graph.view.budget.route_work:
            raise EngineRefuses("its routes make more turns than are judged")
        rank = np.arange(total) - np.repeat(np.cumsum(many) - many, many)
        onward = after[np.repeat(begin[net.head[before]], many) + rank]
        waiting.append(np.repeat(before, many) * n + onward)
        held += total
        if held > 4_000_000:
            kept, waiting, held = np.unique(np.concatenate((kept, *waiting))), [], 0
    kept = np.unique(np.concatenate((kept, *waiting)))
    return kept // max(n, 1), kept % max(n, 1)


def _topological_order(n: int, first: Ints, then: Ints) -> Ints:
    """The channels of an acyclic relation in order, lowest first among those that may come next."""
    left = np.bincount(then, minlength=n)
    by_first = np.argsort(first, kind="stable")
    begin = np.searchsorted(first[by_first], np.arange(n + 1))
    onward = then[by_first]
    out: list[Ints] = []
    front = np.flatnonzero(left == 0)
    while len(front):
        out.append(front)
        heads = np.concatenate([onward[begin[c] : begin[c + 1]] for c in front.tolist()])
        left -= np.bincount(heads, minlength=n)
        changed = np.unique(heads)
        front = changed[left[changed] == 0]
    return np.concatenate(out) if out else np.zeros(0, dtype=np.int64)


def _shortest_cycle(start: int, first: Ints, then: Ints) -> list[int]:
    """Channels from ``start`` back to it, each once."""
    onward: dict[int, list[int]] = {}
    for a, b in zip(first.tolist(), then.tolist(), strict=True):
        onward.setdefault(a, []).append(b)
    before: dict[int, int] = {}
    front = [start]
    while start not in before:
        later: list[int] = []
        for a in front:
            for b in onward.get(a, ()):
                if b not in before:
                    before[b] = a
                    later.append(b)
        front = later
    out = [start]
    while before[out[-1]] != start:
        out.append(before[out[-1]])
    return [start, *reversed(out[1:])]


def _cycle_with_routes(made: RouteEngine, cycle: list[int]) -> ChannelCycle:
    """A cycle of channels with a route for each of its turns."""
    graph = made.graph
    turns = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    found: dict[tuple[int, int], list[int]] = {}
    for routes in routes_of_engine(made):
        for turn in turns:
            if turn not in found and routes.used[turn[0]] and routes.used[turn[1]]:
                found[turn] = route_through_turn(graph, routes, turn)
        if len(found) == len(turns):
            break
    return ChannelCycle([int(graph.net.tail[c]) for c in cycle], [found[t] for t in turns])
