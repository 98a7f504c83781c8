"""Uniform all-to-all: bounds on the rate of every ordered pair, and the cut or the lengths that limit it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.automorphisms import Orbits
from tdsl.prove.block_cuts import group_labels, least_block_cut
from tdsl.prove.bound import ArcLengths, Bound, Combined, PortBound
from tdsl.prove.concurrent_flow import concurrent_flow_bounds as flow_of_demands
from tdsl.prove.cuts import (
    Cut,
    balanced_splits,
    block_splits,
    capacity_across_split,
    cut_with_nodes_placed,
)
from tdsl.prove.equal_split import UniformDemand
from tdsl.prove.network import Network
from tdsl.prove.quotient import quotient_of_switches
from tdsl.prove.routed_demand import RoutedLoads
from tdsl.prove.routing_combinations import FullRouting, NodeDemands, combine_routings, route_over_hubs
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.trees import uniform_loads_along_trees
from tdsl.prove.uniform_flow import Concurrent, uniform_flow_bounds
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

ALL = "all_to_all"
"""How a claim names the pattern."""


@dataclass(frozen=True, slots=True)
class OrbitLengths:
    """Upper bound: lengths of the links of a network of units, found with the routes of one source of each
    orbit."""

    found: Concurrent


RateBound = Bound[Fraction, Concurrent | Combined | RoutedLoads, Cut | OrbitLengths | ArcLengths | PortBound]


@dataclass(frozen=True, slots=True)
class AllToAll:
    """Bounds in grains on what every ordered pair of units has at once. The networks of ``Combined`` and
    ``ArcLengths`` have equivalent switches as one node; ``device`` is the first device of each. Where the
    linear program over arcs proves more than a certificate can state, ``stated`` is what it can."""

    net: Network
    bound: RateBound
    device: Ints
    stated: AllToAll | None = None

    @property
    def lower(self) -> Fraction:
        """The rate that every pair has at least."""
        return self.bound.lower

    @property
    def upper(self) -> Fraction:
        """The rate that every pair has at most."""
        return self.bound.upper

    @property
    def top(self) -> Fraction:
        """What every pair has where the unit with the fewest ports sends all it can."""
        return Fraction(int(self.net.injection.min()), len(self.net.units) - 1)


def all_to_all_bounds(view: View) -> AllToAll | None:
    """The rate, or bounds on it; None as ``interval``. Where arcs are many, those of the quotient network are
    sought first: they are soon found, and often close."""
    first = cut_and_route_bounds(view) if 2 * len(view.rows) > view.budget.combination_arcs else None
    if first is not None and first.upper <= first.lower * view.budget.near_ratio:
        return first
    other = all_to_all(view)
    if first is None and other is not None and other.lower < other.upper:
        return _improve_by_arc_program(view, other)
    if first is None or other is None:
        return first or other or cut_and_route_bounds(view)
    return replace(first, bound=first.bound.joined(other.bound))


def all_to_all(view: View) -> AllToAll | None:
    """The rate; None if some pair has no path or the work would be too much. There are two units at least."""
    net = unit_network(view)
    graph = UnitGraph.of(view, net)
    cuts = [
        _cut_of_least_unit(net),
        *(cut_with_nodes_placed(net, units, view.budget) for units in _splits_to_try(net, view)),
    ]
    high, cut = min(((_rate_of_cut(c), c) for c in cuts), key=lambda found: found[0])

    def enough(found: Concurrent) -> bool:
        return found.lower >= min(high, found.upper)

    demand = UniformDemand.all_to_all(graph)
    found = None
    if np.count_nonzero(graph.weight) * len(graph.network.head) <= view.budget.uniform_first_work:
        alone = Orbits(
            (), np.arange(graph.nodes), np.arange(len(graph.a))
        )  # one try before symmetries are looked for
        found = uniform_flow_bounds(graph, demand, alone, enough, replace(view.budget, uniform_rounds=1))
    if found is None or not enough(found):
        found = uniform_flow_bounds(graph, demand, enough=enough, budget=view.budget)
    if found is None:
        return None
    proof: Cut | OrbitLengths = cut if high <= found.upper else OrbitLengths(found)
    return AllToAll(net, Bound(found.lower, min(high, found.upper), found, proof), graph.device)


def _improve_by_arc_program(view: View, known: AllToAll) -> AllToAll:
    """The bounds with what the linear program over arcs proves, where that is small."""
    graph = UnitGraph.of(view, known.net)
    nodes = graph.unit_node.tolist()
    if (
        int(graph.weight.max(initial=0)) > 1
        or len(nodes) * graph.network.arcs > view.budget.arc_program_cells
    ):
        return known
    demands = {(s, t): 1 for s in nodes for t in nodes if s != t}
    found = flow_of_demands(graph.network, demands, known.upper, view.budget)
    if found is None or (found.lower <= known.lower and found.upper >= known.upper):
        return known
    best = known.bound.joined(Bound(found.lower, found.upper, found.proof_lower, found.proof_upper))
    return AllToAll(known.net, best, known.device, known)


def cut_and_route_bounds(view: View) -> AllToAll | None:
    """Bounds on the rate by cuts, and by routes along shortest paths, over hubs or along trees; None where
    some pair has no path, or those are too many and too unlike."""
    net = unit_network(view)
    g = UnitGraph.of(view, net)
    if not g.network.arcs:
        return None
    by = quotient_of_switches(g.network, ~g.forwards | (g.weight > 0))
    network, weight = by.network, g.weight[by.first]
    wanted = _uniform_node_demands(weight, network, view.budget.uniform_pairs)
    cuts = (
        _cut_of_least_unit(net),
        *(cut_with_nodes_placed(net, units, view.budget) for units in _splits_to_try(net, view)),
    )
    upper, side = min(((_rate_of_cut(c), c) for c in cuts), key=lambda found: found[0])
    shown: Ints = np.zeros(0, dtype=np.int64)
    if len(wanted.source):
        labels = group_labels(view.fabric, g.device[by.first])
        arcs = network.tail, network.head, network.capacity
        found = least_block_cut(
            network.forwards, arcs, (wanted.source, wanted.target, wanted.amount), labels, view.budget
        )
        if found is not None and found[0] < upper:
            upper, shown = found[0], found[1].astype(np.int64)
    combination, upper, lengths = combine_routings(network, wanted, upper, budget=view.budget)
    shown = lengths if len(lengths) else shown
    if not combination.columns and (column := route_over_hubs(network, wanted, view.budget)) is not None:
        combination.add(column)
    if not combination.columns:
        found_trees = uniform_loads_along_trees(network, weight, view.budget)
        if found_trees is None:
            return None
        own = _traffic_within_nodes(weight, network, found_trees.parts)
        combination.add(FullRouting(found_trees.load + own, found_trees.parts, None, trees=found_trees))
    proof = ArcLengths(network, shown) if len(shown) else side
    bound: RateBound = Bound(min(combination.fits(), upper), upper, Combined(network, combination), proof)
    return AllToAll(net, bound, g.device[by.first])


def _uniform_node_demands(w: Ints, network: Network, pairs: int) -> NodeDemands:
    """All pairs of units, by the nodes they are part of, ``w`` at each; those of one node go up and down its
    links. Without the pairs where those are too many."""
    some = np.flatnonzero(w)
    total = w * (int(w.sum()) - 1)
    none = np.zeros(0, dtype=np.int64)
    if len(some) ** 2 > pairs:
        return NodeDemands(none, none, none, total, total)
    source, target = np.repeat(some, len(some)), np.tile(some, len(some))
    apart = source != target
    source, target = source[apart], target[apart]
    own = _traffic_within_nodes(w, network, PARTS).astype(np.int64)
    return NodeDemands(source, target, w[source] * w[target], total, total, own)


def _traffic_within_nodes(w: Ints, network: Network, parts: int) -> Ints:
    """What those of one node send each other, over all its links, in so many parts; rounded up."""
    full = np.bincount(network.tail, network.capacity, len(w)).astype(np.int64)
    own = np.zeros(network.arcs, dtype=object)
    for end in (network.tail, network.head):
        mine = np.where(network.forwards[end], 0, w[end] * (w[end] - 1)).astype(object) * parts
        own += -(-mine * network.capacity // np.maximum(full[end], 1))
    return own


def _splits_to_try(net: Network, view: View) -> Iterator[Bools]:
    """Splits into halves, and of blocks from the rest."""
    yield from balanced_splits(net, view.fabric)
    yield from block_splits(net, view.fabric)


def _cut_of_least_unit(net: Network) -> Cut:
    """The unit with the fewest ports against all others."""
    units = np.zeros(len(net.units), dtype=np.bool_)
    units[int(net.injection.argmin())] = True
    nodes = np.zeros(len(net.transit), dtype=np.bool_)
    return Cut(units, nodes, capacity_across_split(net, units, nodes))


def _rate_of_cut(cut: Cut) -> Fraction:
    ours = int(cut.units.sum())
    return Fraction(cut.value, ours * (len(cut.units) - ours))
