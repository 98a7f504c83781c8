"""How much of a demand can flow at once, between two bounds that anyone can add up again.

λ is the greatest factor such that λ times every demand flows together (maximum concurrent flow). Any explicit routes show a lower
bound: the least, over links, of capacity over load. Any lengths l show an upper one: λ ≤ Σ c·l / Σ demand·distance (Shahrokhi and
Matula, "The maximum concurrent flow problem", J. ACM 37, 1990). The first routes divide evenly over shortest paths; then a linear
program, where it is small, or multiplicative weights (Garg and Könemann, SIAM J. Comput. 37, 2007) propose better ones. What they
say in floats only proposes: routes and lengths become whole numbers, and bounds are computed from those exactly.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from tdsl.verify import blocks, paths, twins, wide
from tdsl.verify.routed import Bounds, Demands, Divided, Flows, Loads, Routed, grouped
from tdsl.verify.trees import loads
from tdsl.verify.waves import Wires

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

WORK = 20_000_000
"""Sources times arcs up to which every source is routed by itself."""

SMALL = 40_000
"""Variables up to which the linear program is solved."""

ITERATIONS = 20_000
"""Steps of the simplex method: some ten seconds."""

ROUNDS = 24
"""Routings by multiplicative weights."""

SMALLER = 2
"""Times that a network is smaller with its twins put together from which it is answered instead."""

FAR = 1 << 60


def concurrent(flows: Flows, demands: Demands, top: Fraction) -> Bounds | None:
    """Bounds on λ, which is at most ``top`` for other reasons; None where some demand has no path. Where shortest paths of all
    sources are too much work, a few trees show the lower one."""
    by_source = grouped(demands)
    length = [1] * len(flows.tail)
    if len(by_source) * len(flows.tail) > WORK:
        return _large(flows, demands, top)
    routed = Routed()
    routed.lengths = [length]
    for s, wanted in by_source.items():
        part = _divide(flows, length, s, wanted)
        if part is None:
            return None
        routed.add(s, part)
    best = Bounds(min(_fits(flows, routed.load), top), top, routed, ())
    small = len(by_source) * len(flows.tail) <= SMALL
    if best.lower < best.upper and not small:
        best = _cut(flows, demands, best)
    if best.lower < best.upper:
        best = _tighter(flows, by_source, best, _fullest(flows, routed.load))
    if best.lower < best.upper and not small and len(flows.tail) + len(demands) <= paths.ROWS:
        return _along(flows, demands, best)
    if best.lower < best.upper:
        better = _program if small else _weights
        for routes, lengths in better(flows, by_source, best):
            if routes is not None and (lower := min(_fits(flows, routes.load), top)) > best.lower:
                best = Bounds(lower, best.upper, routes, best.lengths)
            best = _tighter(flows, by_source, best, lengths)
            if best.lower >= best.upper:
                break
    return best


def _cut(flows: Flows, demands: Demands, best: Bounds) -> Bounds:
    """The bounds with what the best cut shows, too."""
    wanted = _columns(demands)
    arcs = flows.tail, flows.head, flows.room
    found = blocks.least(flows.passes, arcs, (wanted.source, wanted.target, wanted.amount), flows.labels)
    if found is None or found[0] >= best.upper:
        return best
    return Bounds(best.lower, found[0], best.routes, tuple(found[1].astype(np.int64).tolist()))


def _along(flows: Flows, demands: Demands, best: Bounds) -> Bounds:
    """The bounds with what routes along paths and their prices show, too."""
    wanted = _columns(demands)
    arcs = flows.tail, flows.head, flows.room
    found = paths.along(flows.passes, arcs, (wanted.source, wanted.target, wanted.amount), best.upper)
    if found is None:
        return best
    lengths = tuple(found.lengths.tolist()) if found.upper < best.upper else best.lengths
    lower = min(found.lower, found.upper)
    if lower <= best.lower:
        return Bounds(best.lower, found.upper, best.routes, lengths)
    return Bounds(lower, found.upper, Routed.along(found), lengths)


def _columns(demands: Demands) -> wide.Demands:
    source, target = np.array(list(demands), dtype=np.int64).T
    return wide.Demands.of(source, target, np.array(list(demands.values()), dtype=np.int64))


def _large(flows: Flows, demands: Demands, top: Fraction) -> Bounds | None:
    """Bounds where every source by itself is too much work: of a smaller network, or by cuts, and by mixtures of routings or a
    few trees."""
    small = _merged(flows, demands, top)
    if small is not None:
        return small
    best = _cut(flows, demands, Bounds(Fraction(0), top, Routed(), ()))
    return _mixed(flows, demands, best) or _by_trees(flows, demands, best)


def _merged(flows: Flows, demands: Demands, top: Fraction) -> Bounds | None:
    """Bounds of the network in which twins are one, if it is much smaller and routings are found there; else None."""
    wanted = _columns(demands)
    by = twins.ends(flows.tail, flows.head, flows.room, flows.passes, (wanted.source, wanted.target, wanted.amount))
    if len(by.tail) * SMALLER > len(flows.tail):
        return None
    small = Flows(len(by.first), by.tail, by.head, by.room, flows.passes[by.first], tuple(x[by.first] for x in flows.labels))
    asked: Demands = {}
    for s, t, w in zip(by.out[wanted.source].tolist(), by.into[wanted.target].tolist(), wanted.amount.tolist(), strict=True):
        asked[s, t] = asked.get((s, t), 0) + w
    if len({s for s, _ in asked}) * len(by.tail) <= WORK:
        found = concurrent(small, asked, top)
    else:
        found = _mixed(small, asked, _cut(small, asked, Bounds(Fraction(0), top, Routed(), ())), wide.FIRST)
    if found is None:
        return None
    lengths = np.append(np.array(found.lengths, dtype=np.int64), 0)[by.arc] if found.lengths else np.zeros(0, dtype=np.int64)
    return Bounds(found.lower, found.upper, Divided(found, by, flows, demands), tuple(lengths.tolist()))


def _mixed(flows: Flows, demands: Demands, best: Bounds, first: int = 0) -> Bounds | None:
    """The bounds with what a mixture of routings shows; None if there is none."""
    wires = Wires.of(flows.nodes, flows.tail, flows.head, flows.room, flows.passes)
    mixture, upper, lengths = wide.mixed(wires, _columns(demands), best.upper, first)
    if not mixture.columns:
        return None
    shown = tuple(lengths.tolist()) if len(lengths) else best.lengths
    return Bounds(min(mixture.fits(), upper), upper, Routed.mixed(mixture), shown)


def _by_trees(flows: Flows, demands: Demands, best: Bounds) -> Bounds | None:
    """The lower bound by routes along a few trees."""
    found = loads(flows.nodes, flows.tail, flows.head, flows.passes, demands)
    if found is None:
        return None
    routed = Routed()
    routed.flow = None
    routed.trees = found
    routed.load = {arc: Fraction(x, found.parts) for arc, x in enumerate(found.load.tolist()) if x}
    return Bounds(min(_fits(flows, routed.load), best.upper), best.upper, routed, best.lengths)


def _fits(flows: Flows, load: Loads) -> Fraction:
    """The factor by which a load fits all arcs."""
    return min((int(flows.room[arc]) / amount for arc, amount in load.items() if amount), default=Fraction(0))


def _tighter(flows: Flows, by_source: dict[int, dict[int, int]], best: Bounds, lengths: list[int]) -> Bounds:
    """The bounds with what these lengths show, too."""
    spent = 0
    for s, wanted in by_source.items():
        far = distances(flows, lengths, s, wanted)
        spent += sum(amount * far[t] for t, amount in wanted.items())
    if not spent:
        return best
    upper = Fraction(sum(c * x for c, x in zip(flows.room.tolist(), lengths, strict=True)), spent)
    return Bounds(best.lower, upper, best.routes, tuple(lengths)) if upper < best.upper else best


def distances(flows: Flows, length: list[int], source: int, targets: Iterable[int]) -> list[int]:
    """Length of the shortest path from a node to some others, and to all that are nearer; FAR where there is none. Dijkstra
    1959."""
    left = set(targets)
    far = [FAR] * flows.nodes
    far[source] = 0
    heap = [(0, source)]
    heads, passes = flows.head.tolist(), flows.passes.tolist()
    while heap:
        d, v = heappop(heap)
        if d > far[v]:
            continue
        left.discard(v)
        if not left:
            break
        if v != source and not passes[v]:
            continue
        for arc in flows.out[v]:
            w, e = heads[arc], d + length[arc]
            if e < far[w]:
                far[w] = e
                heappush(heap, (e, w))
    return far


def _divide(flows: Flows, length: list[int], source: int, wanted: dict[int, int]) -> Loads | None:
    """What a source sends along its shortest paths, each step back divided as the arcs have capacity. None if some target is
    not reached. Lengths are at least 1."""
    far = distances(flows, length, source, wanted)
    if any(far[t] >= FAR for t in wanted):
        return None
    load: Loads = {}
    through: dict[int, Fraction] = {t: Fraction(amount) for t, amount in wanted.items()}
    tails, rooms, passes = flows.tail, flows.room, flows.passes
    heap = [(-far[t], t) for t in wanted]
    heapify(heap)
    while heap:
        _, v = heappop(heap)
        amount = through[v]
        tight = [
            arc for arc in flows.into[v]
            if far[u := int(tails[arc])] + length[arc] == far[v] and (u == source or passes[u])
        ]  # fmt: skip
        total = sum(int(rooms[arc]) for arc in tight)
        for arc in tight:
            part = amount * int(rooms[arc]) / total
            load[arc] = load.get(arc, Fraction(0)) + part
            u = int(tails[arc])
            if u not in through and u != source:
                heappush(heap, (-far[u], u))
            through[u] = through.get(u, Fraction(0)) + part
    return load


def _fullest(flows: Flows, load: Loads) -> list[int]:
    """Lengths: 1 for the arcs that are fullest, 0 for all others."""
    use = {arc: float(amount) / int(flows.room[arc]) for arc, amount in load.items()}
    most = max(use.values(), default=1.0)
    return [int(use.get(arc, 0.0) > most * 0.999999) for arc in range(len(flows.tail))]


def _weights(flows: Flows, by_source: dict[int, dict[int, int]], best: Bounds) -> Iterator[tuple[Routed | None, list[int]]]:
    """Rounds of multiplicative weights: arcs that are full become longer; what all rounds route is averaged. Steep lengths find
    routes, gentle ones the better upper bound."""
    room = flows.room.astype(np.float64)
    total = best.routes.over(1)
    rounds = min(ROUNDS, 2 + 2 * WORK // (len(by_source) * len(room)))
    for turn in range(1, rounds):
        use = np.zeros(len(room))
        for arc, amount in total.load.items():
            use[arc] = float(amount) / room[arc]
        lengths = _prices(use, room, 4.0 + 2.0 * turn)
        total.lengths.append(lengths)
        for s, wanted in by_source.items():
            total.add(s, _divide(flows, lengths, s, wanted) or {})
        yield total.over(turn + 1), lengths
        yield None, _prices(use, room, 4.0 + turn % 8)


def _prices(use: Floats, room: Floats, steep: float) -> list[int]:
    """Lengths that grow with how full an arc is; at least 1."""
    price = np.exp(steep * (use / use.max() - 1)) * (room.min() / room)
    lengths: list[int] = np.rint(1 + 10_000 * price).astype(np.int64).tolist()
    return lengths


# ---------------------------------------------------------------- the linear program


def _program(flows: Flows, by_source: dict[int, dict[int, int]], best: Bounds) -> Iterator[tuple[Routed | None, list[int]]]:
    """The routes and lengths of an optimum, rounded to several whole denominators."""
    values, prices = _solve(flows, by_source)
    paths = _paths(flows, by_source, values)
    top = float(prices.max(initial=0.0))
    for whole in (1, 2, 6, 12, 60, 420, 5040, 720_720, 10**9):
        lengths = [int(x) for x in np.rint(np.maximum(prices, 0) / top * whole)] if top else [0] * len(prices)
        routed = Routed()
        for source, amount, found in paths:
            parts = np.rint(np.array([x for x, _ in found]) * whole).astype(np.int64).tolist()
            parts[int(np.argmax(parts))] += whole - sum(parts)
            if min(parts) < 0:
                break
            for part, (_, arcs) in zip(parts, found, strict=True):
                if part:
                    routed.add(source, dict.fromkeys(arcs, Fraction(amount * part, whole)))
        else:
            yield routed, lengths
            continue
        yield None, lengths


def _solve(flows: Flows, by_source: dict[int, dict[int, int]]) -> tuple[list[Floats], Floats]:
    """Flow of every source on every arc at the optimum, and the price of every arc's capacity, by HiGHS."""
    import highspy

    arcs, n, sources = len(flows.tail), flows.nodes, list(by_source)
    scale = float(max(sum(w.values()) for w in by_source.values()))
    start: list[int] = []
    index: list[int] = []
    value: list[float] = []
    upper: list[float] = []
    for k, s in enumerate(sources):
        for arc in range(arcs):
            a, b = int(flows.tail[arc]), int(flows.head[arc])
            start.append(len(index))
            index += [arc, arcs + k * n + a, arcs + k * n + b]
            value += [1.0, -1.0, 1.0]
            upper.append(highspy.kHighsInf if (a == s or flows.passes[a]) and b != s else 0.0)
    start.append(len(index))
    for k, s in enumerate(sources):
        for t, amount in by_source[s].items():
            index += [arcs + k * n + t]
            value += [-amount / scale]
        index += [arcs + k * n + s]
        value += [sum(by_source[s].values()) / scale]
    start.append(len(index))
    lp = highspy.HighsLp()
    columns, rows = arcs * len(sources) + 1, arcs + n * len(sources)
    lp.num_col_, lp.num_row_ = columns, rows
    cost = np.zeros(columns)
    cost[-1] = -1.0
    lp.col_cost_ = cost
    lp.col_lower_, lp.col_upper_ = np.zeros(columns), np.array([*upper, highspy.kHighsInf])
    balance = np.zeros(n * len(sources))
    lp.row_lower_ = np.append(np.full(arcs, -highspy.kHighsInf), balance)
    lp.row_upper_ = np.append(flows.room.astype(np.float64), balance)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = np.array(start), np.array(index), np.array(value)
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    for option, setting in (("output_flag", False), ("threads", 1), ("solver", "simplex"), ("random_seed", 0)):
        solver.setOptionValue(option, setting)
    solver.passModel(lp)
    solver.setOptionValue("simplex_iteration_limit", ITERATIONS)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:  # interior points come near it sooner
        solver.clearSolver()
        solver.setOptionValue("solver", "ipm")
        solver.run()
    solution = solver.getSolution()
    flow = np.array(solution.col_value[: arcs * len(sources)]).reshape(len(sources), arcs)
    return list(flow), -np.array(solution.row_dual[:arcs])


def _paths(
    flows: Flows, by_source: dict[int, dict[int, int]], values: list[Floats]
) -> list[tuple[int, int, list[tuple[float, list[int]]]]]:
    """Flows as paths: for every demand its source, its amount, and the part that each path carries (together 1)."""
    out = []
    for (s, wanted), flow in zip(by_source.items(), values, strict=True):
        left = flow.copy()
        share = {t: amount / sum(wanted.values()) for t, amount in wanted.items()}
        total = sum(left[arc] for arc in flows.out[s]) or 1.0
        for t, amount in wanted.items():
            need, found = share[t] * total, []
            for _ in range(len(left)):
                if need <= 1e-9 * total:
                    break
                path = _widest(flows, left, s, t)
                if not path:
                    break
                part = min(need, *(float(left[arc]) for arc in path))
                if part <= 1e-9 * total:
                    break
                left[path] -= part
                need -= part
                found.append((part, path))
            carried = sum(x for x, _ in found)
            if not found:
                found, carried = [(1.0, _widest(flows, flow + 1e-6, s, t))], 1.0
            out.append((s, amount, [(x / carried, path) for x, path in found]))
    return out


def _widest(flows: Flows, left: Floats, source: int, target: int) -> list[int]:
    """The arcs of a path that carries most, none if nothing is left."""
    width = {source: float("inf")}
    by: dict[int, int] = {}
    heap = [(-width[source], source)]
    while heap:
        wide, v = heappop(heap)
        if v == target:
            break
        if -wide < width[v] or (v != source and not flows.passes[v]):
            continue
        for arc in flows.out[v]:
            w, room = int(flows.head[arc]), min(-wide, float(left[arc]))
            if room > 1e-12 and room > width.get(w, 0.0):
                width[w], by[w] = room, arc
                heappush(heap, (-room, w))
    if target not in by:
        return []
    path = []
    while target != source:
        path.append(by[target])
        target = int(flows.tail[path[-1]])
    return path[::-1]
