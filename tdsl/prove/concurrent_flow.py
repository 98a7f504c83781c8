"""How much of a demand can flow at once, between two bounds that anyone can add up again.

λ is the greatest factor such that λ times every demand flows together (maximum concurrent flow). Any explicit
routes show a lower bound: the least, over links, of capacity over load. Any lengths l show an upper one: λ ≤
Σ c·l / Σ demand·distance (Shahrokhi and Matula, "The maximum concurrent flow problem", J. ACM 37, 1990). The
first routes divide evenly over shortest paths; then a linear program, where it is small, or a combination of
routings under growing lengths proposes better ones. Floats only propose: routes and lengths become whole
numbers, and bounds are computed from those exactly.

"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import lcm

import numpy as np

from tdsl.prove import block_cuts as blocks
from tdsl.prove import column_generation as paths
from tdsl.prove import quotient
from tdsl.prove import routing_combinations as wide
from tdsl.prove.bound import ArcLengths, Bound, PortBound
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.linear import Floats, solve_multicommodity_flow
from tdsl.prove.network import Network
from tdsl.prove.routed_demand import DemandBound, Demands, Expanded, Loads, RoutedLoads, targets_by_source
from tdsl.prove.trees import loads_along_trees

SMALL = 10_000
"""Greatest denominator of the fractions that an optimum of a linear program is taken for."""

MOST = 10**12
"""Greatest common denominator of whole lengths."""

FAR = 1 << 60


def concurrent_flow_bounds(
    net: Network, demands: Demands, top: Fraction, budget: Budget = DEFAULT
) -> DemandBound | None:
    """Bounds on λ, which is at most ``top``, what the ports of units allow; None where some demand has no
    path.

    First every source is routed along its shortest paths, then cuts are tried, then a linear program: over
    arcs where that is small, over paths where that is. What is larger is answered by a combination of
    routings, on the quotient network if that is smaller, or by routes along a few spanning trees.
    """
    by_source = targets_by_source(demands)
    if len(by_source) * net.arcs > budget.routing_work:
        return _bounds_of_large_network(net, demands, top, budget)
    routed = RoutedLoads(budget.flow_entries)
    routed.lengths = [[1] * net.arcs]
    for s, wanted in by_source.items():
        part = divide_over_shortest_paths(net, routed.lengths[0], s, wanted)
        if part is None:
            return None
        routed.add(s, part)
    best: DemandBound = Bound(min(_fit_factor(net, routed.load), top), top, routed, PortBound())
    if best.lower >= top:
        return best
    small = len(by_source) * net.arcs <= budget.arc_program_cells
    if not small:
        best = _bound_by_block_cut(net, demands, best, budget)
    if best.lower < best.upper:
        best = _bound_by_lengths(net, by_source, best, _mark_fullest_arcs(net, routed.load))
    if best.lower >= best.upper:
        return best
    if small:
        return _bound_by_arc_program(net, by_source, best, budget)
    if net.arcs + len(demands) <= budget.path_program_rows:
        return _bound_by_path_program(net, demands, best, budget)
    other = _bound_by_combination(net, demands, best, budget)
    return best if other is None else best.joined(other)


def _bound_by_arc_program(
    net: Network, by_source: dict[int, dict[int, int]], best: DemandBound, budget: Budget
) -> DemandBound:
    """The bounds with what the linear program over arcs proposes."""
    for routes, lengths in _round_arc_program(net, by_source, budget):
        if routes is not None:
            best = best.joined(
                Bound(min(_fit_factor(net, routes.load), best.upper), best.upper, routes, best.proof_upper)
            )
        best = _bound_by_lengths(net, by_source, best, lengths)
        if best.lower >= best.upper:
            break
    return best


def _bound_by_block_cut(net: Network, demands: Demands, best: DemandBound, budget: Budget) -> DemandBound:
    """The bounds with what the best cut proves."""
    wanted = _demand_columns(demands)
    arcs = net.tail, net.head, net.capacity
    found = blocks.least_block_cut(
        net.forwards, arcs, (wanted.source, wanted.target, wanted.amount), net.labels, budget
    )
    if found is None or found[0] >= best.upper:
        return best
    return replace(best, upper=found[0], proof_upper=ArcLengths(net, found[1].astype(np.int64)))


def _bound_by_path_program(net: Network, demands: Demands, best: DemandBound, budget: Budget) -> DemandBound:
    """The bounds with what routes along paths and their prices prove."""
    wanted = _demand_columns(demands)
    found = paths.route_along_paths(net, (wanted.source, wanted.target, wanted.amount), best.upper, budget)
    if found is None:
        return best
    if found.upper < best.upper:
        best = replace(best, upper=found.upper, proof_upper=ArcLengths(net, found.lengths))
    lower = min(found.lower, best.upper)
    return (
        replace(best, lower=lower, proof_lower=RoutedLoads.along(found, budget.flow_entries))
        if lower > best.lower
        else best
    )


def _demand_columns(demands: Demands) -> wide.NodeDemands:
    source, target = np.array(list(demands), dtype=np.int64).T
    return wide.NodeDemands.of(source, target, np.array(list(demands.values()), dtype=np.int64))


def _bounds_of_large_network(
    net: Network, demands: Demands, top: Fraction, budget: Budget
) -> DemandBound | None:
    """Bounds where every source by itself is too much work: of a quotient network, or by cuts and a
    combination of routings or a few trees."""
    found = _bounds_of_quotient(net, demands, top, budget)
    if found is not None:
        return found
    best = _bound_by_block_cut(
        net, demands, Bound(Fraction(0), top, RoutedLoads(budget.flow_entries), PortBound()), budget
    )
    return _bound_by_combination(net, demands, best, budget) or _bound_by_trees(net, demands, best, budget)


def _bounds_of_quotient(net: Network, demands: Demands, top: Fraction, budget: Budget) -> DemandBound | None:
    """Bounds of the quotient network, if it is much smaller and routings are found there; else None."""
    wanted = _demand_columns(demands)
    by = quotient.quotient_of_demand(net, (wanted.source, wanted.target, wanted.amount))
    if by.network.arcs * budget.quotient_ratio > net.arcs:
        return None
    asked: Demands = {}
    for s, t, w in zip(
        by.out[wanted.source].tolist(), by.into[wanted.target].tolist(), wanted.amount.tolist(), strict=True
    ):
        asked[s, t] = asked.get((s, t), 0) + w
    if len({s for s, _ in asked}) * by.network.arcs <= budget.routing_work:
        found = concurrent_flow_bounds(by.network, asked, top, budget)
    else:
        cut = _bound_by_block_cut(
            by.network, asked, Bound(Fraction(0), top, RoutedLoads(budget.flow_entries), PortBound()), budget
        )
        found = _bound_by_combination(by.network, asked, cut, budget, of_quotient=True)
    if found is None:
        return None
    proof = found.proof_upper
    if isinstance(proof, ArcLengths):
        proof = ArcLengths(net, np.append(proof.length, 0)[by.arc])
    return Bound(found.lower, found.upper, Expanded(found, by, net, demands), proof)


def _bound_by_combination(
    net: Network, demands: Demands, best: DemandBound, budget: Budget, of_quotient: bool = False
) -> DemandBound | None:
    """The bounds with what a combination of routings proves; None if there is none."""
    combination, upper, lengths = wide.combine_routings(
        net, _demand_columns(demands), best.upper, of_quotient, budget
    )
    if not combination.columns:
        return None
    proof = ArcLengths(net, lengths) if len(lengths) else best.proof_upper
    return Bound(
        min(combination.fits(), upper), upper, RoutedLoads.combined(combination, budget.flow_entries), proof
    )


def _bound_by_trees(net: Network, demands: Demands, best: DemandBound, budget: Budget) -> DemandBound | None:
    """The lower bound by routes along a few trees."""
    found = loads_along_trees(net, demands, budget)
    if found is None:
        return None
    routed = RoutedLoads(budget.flow_entries)
    routed.flow = None
    routed.trees = found
    routed.load = {arc: Fraction(x, found.parts) for arc, x in enumerate(found.load.tolist()) if x}
    return replace(best, lower=min(_fit_factor(net, routed.load), best.upper), proof_lower=routed)


def _fit_factor(net: Network, load: Loads) -> Fraction:
    """The factor by which a load fits all arcs."""
    return min(
        (int(net.capacity[arc]) / amount for arc, amount in load.items() if amount), default=Fraction(0)
    )


def _bound_by_lengths(
    net: Network, by_source: dict[int, dict[int, int]], best: DemandBound, lengths: list[int]
) -> DemandBound:
    """The bounds with what these lengths prove."""
    spent = 0
    for s, wanted in by_source.items():
        far = shortest_distances(net, lengths, s, wanted)
        spent += sum(amount * far[t] for t, amount in wanted.items())
    if not spent:
        return best
    upper = Fraction(sum(c * x for c, x in zip(net.capacity.tolist(), lengths, strict=True)), spent)
    return replace(best, upper=upper, proof_upper=ArcLengths.of(net, lengths)) if upper < best.upper else best


def shortest_distances(net: Network, length: list[int], source: int, targets: Iterable[int]) -> list[int]:
    """Length of the shortest path from a node to some others, and to all that are nearer; FAR where there is
    none. Dijkstra 1959."""
    left = set(targets)
    far = [FAR] * net.nodes
    far[source] = 0
    heap = [(0, source)]
    heads, forwards = net.lists
    while heap:
        d, v = heappop(heap)
        if d > far[v]:
            continue
        left.discard(v)
        if not left:
            break
        if v != source and not forwards[v]:
            continue
        for arc in net.out[v]:
            w, e = heads[arc], d + length[arc]
            if e < far[w]:
                far[w] = e
                heappush(heap, (e, w))
    return far


def divide_over_shortest_paths(
    net: Network, length: list[int], source: int, wanted: dict[int, int]
) -> Loads | None:
    """What a source sends along its shortest paths, each step back divided as the arcs have capacity. None if
    some target is not reached. Lengths are at least 1."""
    far = shortest_distances(net, length, source, wanted)
    if any(far[t] >= FAR for t in wanted):
        return None
    load: Loads = {}
    through: dict[int, Fraction] = {t: Fraction(amount) for t, amount in wanted.items()}
    tails, capacities, forwards = net.tail, net.capacity, net.forwards
    heap = [(-far[t], t) for t in wanted]
    heapify(heap)
    while heap:
        _, v = heappop(heap)
        amount = through[v]
        tight = [
            arc
            for arc in net.into[v]
            if far[u := int(tails[arc])] + length[arc] == far[v] and (u == source or forwards[u])
        ]
        total = sum(int(capacities[arc]) for arc in tight)
        for arc in tight:
            part = amount * int(capacities[arc]) / total
            load[arc] = load.get(arc, Fraction(0)) + part
            u = int(tails[arc])
            if u not in through and u != source:
                heappush(heap, (-far[u], u))
            through[u] = through.get(u, Fraction(0)) + part
    return load


def _mark_fullest_arcs(net: Network, load: Loads) -> list[int]:
    """Lengths: 1 for the arcs that are fullest, 0 for all others."""
    use = {arc: float(amount) / int(net.capacity[arc]) for arc, amount in load.items()}
    most = max(use.values(), default=1.0)
    return [int(use.get(arc, 0.0) > most * 0.999999) for arc in range(net.arcs)]


# ---------------------------------------------------------------- the linear program


def _round_arc_program(
    net: Network, by_source: dict[int, dict[int, int]], budget: Budget
) -> Iterator[tuple[RoutedLoads | None, list[int]]]:
    """The routes and lengths of an optimum, rounded to several whole denominators."""
    values, prices = solve_multicommodity_flow(net, by_source, budget.simplex_work)
    paths = _decompose_into_paths(net, by_source, values)
    top = float(prices.max(initial=0.0))
    for whole in (1, 2, 6, 12, 60, 420, 5040, 720_720, 10**9):
        lengths = [int(x) for x in np.rint(np.maximum(prices, 0) / top * whole)] if top else [0] * len(prices)
        routed = RoutedLoads(budget.flow_entries)
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
    yield _round_to_fractions(budget, paths), _whole_lengths(prices)


def _whole_lengths(prices: Floats) -> list[int]:
    """Whole lengths in the proportions of some prices, as fractions with small denominators."""
    top = float(prices.max(initial=0.0))
    near = (
        [Fraction(max(float(x), 0.0) / top).limit_denominator(SMALL) for x in prices]
        if top
        else [Fraction(0)] * len(prices)
    )
    whole = lcm(*(x.denominator for x in near))
    return [int(x * whole) for x in near] if whole <= MOST else [0] * len(near)


def _round_to_fractions(
    budget: Budget, paths: list[tuple[int, int, list[tuple[float, list[int]]]]]
) -> RoutedLoads:
    """The paths, each with the fraction of a small denominator that is nearest to its part; the first takes
    what is over."""
    routed = RoutedLoads(budget.flow_entries)
    for source, amount, found in paths:
        parts = [Fraction(float(x)).limit_denominator(SMALL) for x, _ in found]
        order = sorted(range(len(parts)), key=lambda i: -parts[i])
        left = Fraction(1)
        for i in order[1:]:
            parts[i] = min(parts[i], left)
            left -= parts[i]
        parts[order[0]] = left
        for part, (_, arcs) in zip(parts, found, strict=True):
            if part:
                routed.add(source, dict.fromkeys(arcs, amount * part))
    return routed


def _decompose_into_paths(
    net: Network, by_source: dict[int, dict[int, int]], values: list[Floats]
) -> list[tuple[int, int, list[tuple[float, list[int]]]]]:
    """Flows as paths: for every demand its source, its amount, and the part that each path carries (together
    1)."""
    out = []
    for (s, wanted), flow in zip(by_source.items(), values, strict=True):
        left = flow.copy()
        share = {t: amount / sum(wanted.values()) for t, amount in wanted.items()}
        total = sum(left[arc] for arc in net.out[s]) or 1.0
        for t, amount in wanted.items():
            found = _take_widest_paths(net, left, (s, t), share[t] * total, total)
            carried = sum(x for x, _ in found)
            if not found:
                found, carried = [(1.0, _widest_path(net, flow + 1e-6, s, t))], 1.0
            out.append((s, amount, [(x / carried, path) for x, path in found]))
    return out


def _take_widest_paths(
    net: Network, left: Floats, pair: tuple[int, int], need: float, total: float
) -> list[tuple[float, list[int]]]:
    """Paths between two nodes of what is left on arcs, the widest first, until they carry what is needed or
    the next carries next to nothing of the total; they are taken off what is left."""
    found: list[tuple[float, list[int]]] = []
    for _ in range(len(left)):
        if need <= 1e-9 * total:
            break
        path = _widest_path(net, left, *pair)
        if not path:
            break
        part = min(need, *(float(left[arc]) for arc in path))
        if part <= 1e-9 * total:
            break
        left[path] -= part
        need -= part
        found.append((part, path))
    return found


def _widest_path(net: Network, left: Floats, source: int, target: int) -> list[int]:
    """The arcs of a path that carries most, none if nothing is left."""
    width = {source: float("inf")}
    by: dict[int, int] = {}
    heap = [(-width[source], source)]
    while heap:
        wide, v = heappop(heap)
        if v == target:
            break
        if -wide < width[v] or (v != source and not net.forwards[v]):
            continue
        for arc in net.out[v]:
            w, capacity = int(net.head[arc]), min(-wide, float(left[arc]))
            if capacity > 1e-12 and capacity > width.get(w, 0.0):
                width[w], by[w] = capacity, arc
                heappush(heap, (-capacity, w))
    if target not in by:
        return []
    path = []
    while target != source:
        path.append(by[target])
        target = int(net.tail[path[-1]])
    return path[::-1]
