"""Times of collective operations by schedules that can be replayed: their ceilings.

A schedule reserves a constant rate for every message of a stage, all at once (a concurrent flow), so each of
them is a channel of its own. A rank hands on what it has received, chunk by chunk. Stages follow each other;
or they overlap: then all messages of all stages have their rates at the same time, and a chunk is in each
stage once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.collective_ranks import Ranks
from tdsl.prove.collective_traffic import (
    Gathering,
    Stage,
    dimension_gathering,
    direct_gathering,
    exchange_of_sums,
    halving_gathering,
    mixed_gathering,
    ring_gathering,
)
from tdsl.prove.concurrent_flow import divide_over_shortest_paths
from tdsl.prove.delays import SECOND
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.localities import Division
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.routed_demand import DemandBound, Loads, add_loads, targets_by_source
from tdsl.prove.shortest_paths import distances_of_pairs
from tdsl.prove.terminals import Offer, offer_of_demand
from tdsl.prove.tree_packing import tree_gathering
from tdsl.prove.unit_network import unit_network
from tdsl.system.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tdsl.prove.in_network import SwitchPlan
    from tdsl.prove.rank_trees import TreePlan

FILL = 4000
"""Chunks for each stage that a chunk passes: filling the pipeline takes so small a part of the time."""


@dataclass(frozen=True, slots=True)
class MessagePlan:
    """What a schedule sends over the network: its ``stages`` of messages, in parts of which the data has
    ``whole``, and the ``seconds`` that a part of each stage takes at the constant rates of its messages. The
    routes are those of least delay (``by_delay``) or those of the most that flows at once; of all stages
    together if ``joint``. ``by_unit``: a unit sends over all its ports, whatever their rails. ``inside`` is
    what gathering and reducing inside of units or scale-up domains takes of a bit, in seconds; ``gathering``
    what the stages were made of, None of an exchange."""

    whole: int
    stages: tuple[Stage, ...]
    seconds: tuple[Fraction, ...]
    by_delay: bool
    joint: bool
    by_unit: bool
    inside: Fraction
    gathering: Gathering | None = None


GatheringMaker = Callable[[Ints, Sequence[Division], Budget, "Ints | None"], Gathering | None]
"""What makes a gathering of weights, divisions, a limit of work and the sets of ends."""


TOO_MANY = "it has more messages than are listed"
NOTHING_CROSSES = "scale-up links carry all of it, and nothing crosses the network"


@dataclass(frozen=True, slots=True)
class Schedule:
    """One way of doing a collective operation: sending each bit of the data takes ``per_bit`` seconds, and
    known delays ``waiting`` seconds in all. ``overlapped`` if its stages run at the same time, in ``chunks``
    chunks; ``stages`` of messages follow each other for a chunk. ``plan`` has the messages, or ``trees``, or
    ``switches`` that add up; none of them where they are not listed, and ``unlisted`` then says why."""

    name: str
    per_bit: Fraction
    waiting: Fraction
    overlapped: bool
    chunks: int
    stages: int
    plan: MessagePlan | None
    unlisted: str = TOO_MANY
    trees: TreePlan | None = None
    switches: SwitchPlan | None = None

    def seconds(self, size: Fraction) -> Fraction:
        """The time of so many bits."""
        return self.per_bit * size + self.waiting


@dataclass(frozen=True, slots=True)
class RoutedStage:
    """Messages with their routes: seconds for each part of the data at the best constant rates, and the delay
    of a chunk through all steps in seconds."""

    per_part: Fraction
    waiting: Fraction


# ---------------------------------------------------------------- schedules


def gathering_schedules(ranks: Ranks) -> Iterator[Schedule]:
    """Schedules of an all-gather."""
    for found in _gatherings(ranks, False):
        yield from _schedules_of_stages(ranks, found, found.stages, 1)


def scattering_schedules(ranks: Ranks) -> Iterator[Schedule]:
    """Schedules of a reduce-scatter, which is an all-gather the other way in time."""
    for found in _gatherings(ranks, False):
        yield from _schedules_of_stages(ranks, found, found.reduction, 1)


def all_reduce_schedules(ranks: Ranks) -> Iterator[Schedule]:
    """Schedules of an all-reduce."""
    for found in _gatherings(ranks, True):
        yield from _schedules_of_stages(ranks, found, (*found.reduction, *found.stages), 2)


def best_schedules(
    found: Iterator[Schedule], size: Fraction, floor: Fraction, gap: float = DEFAULT.schedule_gap
) -> list[Schedule]:
    """The best schedule of each name for so many bits, best first; none is looked for after one that is near
    the ``floor``."""
    best: dict[str, Schedule] = {}
    for one in found:
        if one.name not in best or one.seconds(size) < best[one.name].seconds(size):
            best[one.name] = one
        if float(one.seconds(size)) <= float(floor) * (1 + gap):
            break
    return sorted(best.values(), key=lambda s: s.seconds(size))


def _gatherings(ranks: Ranks, sums: bool) -> Iterator[Gathering]:
    """Gatherings worth a try, the likely best first; with ``sums`` also those of an all-reduce alone."""
    weight, divisions, budget = ranks.weight, ranks.divisions, ranks.view.budget
    grid = _torus_grid(ranks) if ranks.outer is None else None
    if grid is not None and (found := dimension_gathering(grid, budget)) is not None:
        yield found
    for make, chain in _makers_with_chains(ranks, sums):
        if (found := make(weight, chain, budget, ranks.outer)) is not None:
            yield found
    if (found := tree_gathering(ranks, sums)) is not None:
        yield found
    if ranks.outer is not None or divisions[-1].count != len(weight) or len(weight) > budget.halving_ends:
        return
    if (found := halving_gathering(weight, budget)) is not None:
        yield found


def _makers_with_chains(ranks: Ranks, sums: bool) -> Iterator[tuple[GatheringMaker, list[Division]]]:
    """Kinds of gatherings with the divisions that each is tried with: none, one of them, all."""
    divisions = ranks.divisions
    chains = [[divisions[-1]], *([d, divisions[-1]] for d in divisions[:-1])]
    if len(divisions) > 2:
        chains.append([*divisions])
    if len(ranks.weight) > ranks.view.budget.schedule_ends:
        yield from ((ring_gathering, chain) for chain in chains[:2])
        return
    for chain in chains:
        alone = len(chain) < 2
        yield direct_gathering, chain
        if not alone or chain[0].count != 2:
            yield ring_gathering, chain
        if not alone:
            yield mixed_gathering, chain
        if not alone and sums:
            yield exchange_of_sums, chain


def _torus_grid(ranks: Ranks) -> Ints | None:
    """The place of every chip by its coordinates, where chips are joined to chips and all of one declaration;
    None otherwise. Where cubes of chips make one torus, a dimension runs through both."""
    view = ranks.view
    owners = np.unique(view.fabric.device_set[view.units])
    if not view.chips_joined or len(owners) != 1 or ranks.count != len(view.units):
        return None
    parts = [[a.size for a in p.axes] for p in view.fabric.sets[int(owners[0])].parts if p.axes]
    kinds = {len(p) for p in parts}
    if len(kinds) != 1 or kinds == {1} or prod(map(prod, parts)) != len(view.units):
        return None
    sizes = np.array(parts)  # a row a part, a column a dimension
    grid = np.arange(len(view.units)).reshape(sizes.reshape(-1))
    order = np.arange(sizes.size).reshape(sizes.shape).T.reshape(-1)
    return grid.transpose(order).reshape(sizes.prod(axis=0))


def _schedules_of_stages(
    ranks: Ranks, found: Gathering, stages: tuple[Stage, ...], passes: int
) -> Iterator[Schedule]:
    """A gathering's stages one after the other, and overlapped; gathering inside domains is done ``passes``
    times."""
    handed = 0 if ranks.aligned else 2 * sum(s.steps for s in stages)  # before and after each step
    steps = sum(s.steps for s in stages) + handed + (passes if ranks.gather_inside(1) else 0)
    for route in (_RouteByLambda(ranks), RouteByDelay(ranks)):
        routed = [route.stage(s) for s in stages]
        each = [x for x in routed if x is not None]
        if len(each) < len(stages):
            continue
        inside_delay = ranks.delay_inside.seconds * (passes + (handed if ranks.inside is not None else 0))
        waiting = in_order = sum((x.waiting for x in each), Fraction(0)) + inside_delay
        sends = stages
        if len(stages) == passes == 2 and stages[0].steps > 1 and stages[0].steady:
            # Both halves of one ring go round the same way; where they overlap, each has its own.
            in_order = route.delay_of_steps(stages[1], 2 * stages[1].steps) + inside_delay
            sends = (stages[1], stages[1])
        seconds = tuple(x.per_part for x in each)
        inside = ranks.gather_inside(passes, _handed_on(ranks, stages, seconds, found.whole))
        sent = _seconds_in_turn(stages, seconds)
        plan = MessagePlan(found.whole, sends, seconds, route.by_delay, False, False, inside, found)
        yield Schedule(found.name, sent / found.whole + inside, in_order, False, 1, steps, plan)
        if steps < 2:
            continue
        together = sum(seconds, Fraction(0))
        at_once = route.together(stages) if len(found.stages) > 1 or (found.trees and passes > 1) else None
        joint = at_once is not None and at_once < together
        seconds = (min(together, at_once or together),) * len(stages)
        inside = ranks.gather_inside(passes, _handed_on(ranks, stages, seconds, found.whole))
        outside = seconds[0] / found.whole if stages else Fraction(0)
        most = max(outside, inside) if ranks.inside is not None else outside + inside
        plan = MessagePlan(found.whole, sends, seconds, route.by_delay, joint, False, inside, found)
        filled = most * (1 + Fraction(1, FILL))
        yield Schedule(found.name, filled, waiting, True, FILL * (steps - 1), steps, plan)


def _seconds_in_turn(stages: Sequence[Stage], seconds: Sequence[Fraction]) -> Fraction:
    """Seconds a part of stages one after the other; those whose steps differ are filled like a pipeline."""
    fills = [1 if s.steady else 1 + Fraction(1, FILL) for s in stages]
    return sum((x * fill for x, fill in zip(seconds, fills, strict=True)), Fraction(0))


def _handed_on(
    ranks: Ranks, stages: Sequence[Stage], seconds: Sequence[Fraction], whole: int
) -> list[Fraction]:
    """What a rank of each domain hands on at most for each bit of the data, so that what stages send leaves
    by the ports and what arrives gets where it belongs: what a rank itself sends and gets, and what its share
    of the ports carries in that time, ``seconds`` for a part of each stage. Nothing where ranks have ports of
    their own."""
    domain = ranks.divisions[-1].block
    out = [Fraction(0)] * ranks.divisions[-1].count
    if ranks.aligned or ranks.inside is None:
        return []
    net = unit_network(ranks.ends)
    rate = [
        Fraction(x * net.grain, w) for x, w in zip(net.injection.tolist(), ranks.weight.tolist(), strict=True)
    ]
    for stage, took in zip(stages, seconds, strict=True):
        own = np.zeros(len(ranks.weight), dtype=object)
        for end in (stage.source, stage.target):
            total = np.zeros(len(own), dtype=object)
            np.add.at(total, end, stage.amount.astype(object))
            own = np.maximum(own, total)
        most = [Fraction(0)] * len(out)
        for k, x, w, r in zip(domain.tolist(), own.tolist(), ranks.weight.tolist(), rate, strict=True):
            most[k] = max(most[k], (Fraction(x, w) + r * took) / whole)
        out = [x + y for x, y in zip(out, most, strict=True)]
    # A rank alone in its domain has all ports of its unit, and nobody to hand anything to.
    return [x if n > 1 else Fraction(0) for x, n in zip(out, ranks.in_domain.tolist(), strict=True)]


# ---------------------------------------------------------------- routes


class _RouteOfStages:
    """How the messages of stages take their ways; what is found for a stage is kept."""

    by_delay: bool

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self.known: dict[int, RoutedStage | None] = {}

    def stage(self, stage: Stage) -> RoutedStage | None:
        """The messages of one stage, which take as long the other way; None where they are too many."""
        if id(stage.amount) not in self.known:
            per_part = self.together([stage])
            waiting = self.delay_of_steps(stage, stage.steps)
            self.known[id(stage.amount)] = None if per_part is None else RoutedStage(per_part, waiting)
        return self.known[id(stage.amount)]

    def delay_of_steps(self, stage: Stage, steps: int) -> Fraction:
        """What so many steps of a stage take of delays, one after the other."""
        raise NotImplementedError

    def together(self, stages: Sequence[Stage]) -> Fraction | None:
        """Seconds a part of the data where all messages of these stages flow at once; None where unknown."""
        raise NotImplementedError


class _RouteByLambda(_RouteOfStages):
    """Routes of the most that flows together, whatever paths they take."""

    by_delay = False

    def delay_of_steps(self, stage: Stage, steps: int) -> Fraction:
        """What so many steps of a stage take of delays, one after the other."""
        return Fraction(steps * self.ranks.delays.any_path, SECOND)

    def together(self, stages: Sequence[Stage]) -> Fraction | None:
        """Seconds a part of the data where all messages of these stages flow at once."""
        found = offer_of_stages(self.ranks, stages)
        if found is None:
            return None
        offer, rails = found
        bound = bounds_of_messages(self.ranks, offer)
        if bound is None or not bound.lower:
            return None
        return 1 / (bound.lower * offer.grain * rails)


class RouteByDelay(_RouteOfStages):
    """Routes along the paths of least delay, divided as these have capacity."""

    by_delay = True

    def delay_of_steps(self, stage: Stage, steps: int) -> Fraction:
        """What so many steps of a stage take of delays, one after the other."""
        delay = self._message_delays(stage)
        window = _longest_window(delay, stage, steps)
        return Fraction(steps * max(delay) if window is None else window, SECOND)

    def together(self, stages: Sequence[Stage]) -> Fraction | None:
        """Seconds a part of the data where all messages of these stages flow at once."""
        found = offer_of_stages(self.ranks, stages)
        if found is None:
            return None
        offer, rails = found
        flows = flows_of_least_delay(offer, delays_of_offer(self.ranks, offer))
        if flows is None:
            return None
        load: Loads = {}
        for part in flows.values():
            add_loads(load, part)
        capacity = offer.network.capacity.tolist()
        full = max((amount / capacity[arc] for arc, amount in load.items()), default=Fraction(0))
        return max(full, 1 / offer.top) / (offer.grain * rails)

    def _message_delays(self, stage: Stage) -> list[int]:
        """The delay of every message of a stage, in femtoseconds, in the order of the messages. What goes by
        rail is there when its slowest rail has brought its share."""
        found = offer_of_stages(self.ranks, [stage])
        assert found is not None  # the messages have been routed
        offer, view = found[0], self.ranks.ends
        demand = TrafficDemand(stage.source, stage.target, stage.amount)
        divided = len(offer.node) != view.fabric.device_count
        if divided and self.ranks.rails is not None:
            view, demand = self.ranks.rails, self.ranks.rails.laid(demand)
        length, own = delays_of_offer(self.ranks, offer).arc_lengths(offer)
        net = offer.network
        begin, end = (offer.node[view.units[x]] for x in (demand.source, demand.target))
        far = distances_of_pairs(net, np.array(length, dtype=np.int64), begin, end)
        delay = [
            own[s] + d if s != t else delay_below_switch(net.tail, net.head, length, own, s)
            for s, t, d in zip(begin.tolist(), end.tolist(), far.tolist(), strict=True)
        ]
        return [max(delay)] * len(stage.source) if divided else delay


def delay_below_switch(tail: Ints, head: Ints, length: Sequence[int], own: Sequence[int], node: int) -> int:
    """The delay between two units that are one node: up to their switch and down."""
    out = max(length[arc] for arc in np.flatnonzero(tail == node).tolist())
    return own[node] + out + max(length[arc] for arc in np.flatnonzero(head == node).tolist())


def _longest_window(delay: Sequence[int], stage: Stage, steps: int) -> int | None:
    """The most that so many steps one after the other take in a single ring over all units; None for other
    stages."""
    after = dict(zip(stage.source.tolist(), zip(stage.target.tolist(), delay, strict=True), strict=False))
    if len(after) != len(delay) or stage.steps != len(delay) - 1:
        return None
    order: list[int] = []
    at, passed = int(stage.source[0]), set[int]()
    for _ in delay:
        if at in passed or at not in after:
            return None
        passed.add(at)
        at, took = after[at]
        order.append(took)
    rounds, left = divmod(steps, len(order))
    twice = [*order, *order]
    most: int = rounds * sum(order) + max(sum(twice[k : k + left]) for k in range(len(order)))
    return most


def bounds_of_messages(ranks: Ranks, offer: Offer) -> DemandBound | None:
    """What of the messages of a schedule flows at once."""
    budget = ranks.view.budget
    return offer.bounds(replace(budget, routing_work=min(budget.routing_work, budget.message_routing_work)))


def flows_of_least_delay(offer: Offer, delays: RouteDelays) -> dict[int, Loads] | None:
    """What every source puts on arcs along its paths of least delay; None where that is too much work, or
    some target is not reached."""
    by_source = targets_by_source(offer.demands)
    if len(by_source) * offer.network.arcs > delays.view.budget.least_delay_work:
        return None
    length, _ = delays.arc_lengths(offer)
    flows: dict[int, Loads] = {}
    for s, wanted in by_source.items():
        part = divide_over_shortest_paths(offer.network, length, s, wanted)
        if part is None:
            return None
        flows[s] = part
    return flows


def delays_of_offer(ranks: Ranks, offer: Offer) -> RouteDelays:
    """What routes of an offer take: of the ends, or of their rails where it is by rail, or of whole units."""
    for view in (ranks.ends, ranks.rails, ranks.view):
        if view is not None and len(offer.node) == view.fabric.device_count:
            return ranks.delays if view is ranks.ends else RouteDelays.of(view)
    raise AssertionError("an offer is of one of these views")


def offer_of_stages(ranks: Ranks, stages: Sequence[Stage]) -> tuple[Offer, int] | None:
    """The demand of all messages on the network, by rail where units have rails: then each of so many rails
    carries its share."""
    source, target, amount = (
        np.concatenate([getattr(s, name) for s in stages]) for name in ("source", "target", "amount")
    )
    demand = TrafficDemand(source, target, amount)
    if ranks.rails is not None:
        offer = offer_of_demand(ranks.rails, ranks.rails.laid(demand))
        return None if offer is None else (offer, int(ranks.rails.rail.max()) + 1)
    offer = offer_of_demand(ranks.ends, demand)
    return None if offer is None else (offer, 1)
