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
from functools import cached_property
from math import lcm, prod

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.fabric.layers import scaleup_network
from tdsl.fabric.rails import rail_plan
from tdsl.prove.all_to_all import all_to_all_bounds
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.by_rail import ByRail
from tdsl.prove.collective_bounds import Blocks, accelerators_of, some_end_relays
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
from tdsl.prove.concurrent_flow import divide_over_shortest_paths, shortest_distances
from tdsl.prove.delays import SECOND, time_of
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.domain_rates import DomainRate, domain_rates
from tdsl.prove.localities import Division, domain_of_units, nested_divisions
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.routed_demand import DemandBound, Loads, add_loads, targets_by_source
from tdsl.prove.terminals import Offer, offer_of_demand
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

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


@dataclass(frozen=True, slots=True)
class Schedule:
    """One way of doing a collective operation: sending each bit of the data takes ``per_bit`` seconds, and
    known delays ``waiting`` seconds in all. ``overlapped`` if its stages run at the same time, in ``chunks``
    chunks; ``stages`` of messages follow each other for a chunk. ``plan`` has the messages; None where they
    are too many to be listed."""

    name: str
    per_bit: Fraction
    waiting: Fraction
    overlapped: bool
    chunks: int
    stages: int
    plan: MessagePlan | None

    def seconds(self, size: Fraction) -> Fraction:
        """The time of so many bits."""
        return self.per_bit * size + self.waiting


@dataclass(frozen=True, slots=True)
class RoutedStage:
    """Messages with their routes: seconds for each part of the data at the best constant rates, and the delay
    of a chunk through all steps in seconds."""

    per_part: Fraction
    waiting: Fraction


@dataclass(eq=False)  # no slots: what is asked for is kept
class Ranks:
    """The ranks of a view as schedules see them.

    ``ends`` is the view whose units send and receive over the network: those of ``view``, or each of their
    rails (``by_rail``), ``weight`` the ranks of each end, ``divisions`` nested divisions of the ends.
    ``inside`` is what a rank has of its scale-up domain, for every block of the last division; None where
    the inside of some is not known: then what ranks of one unit exchange goes over its ports. ``outer``
    numbers the sets of ends that do an operation each for itself, all at once; None for all as one."""

    view: View
    ends: View
    by_rail: bool
    weight: Ints
    divisions: Sequence[Division]
    inside: Sequence[DomainRate] | None
    outer: Ints | None = None

    @classmethod
    def of(cls, view: View, outer: Ints | None = None) -> Ranks:
        """Read a view, ``outer`` the set of every unit. Where units have unlike rails, or domains differ,
        each rail is an end."""
        weight = accelerators_of(view)[view.units]
        divisions = nested_divisions(view, outer)
        inside = _rates_inside(view, weight, divisions[-1])
        if inside is None:  # what a domain does not carry for sure goes over the ports of its units
            divisions = [*divisions[:-1], Division(view.unit_word, np.arange(len(weight)))]
        made = cls(view, view, False, weight, divisions, inside, outer)
        if inside is None or made.aligned:
            return made
        rails = ByRail.of(view)
        if rails is None or (rails.rail < 0).any() or len(rails.units) > view.budget.rail_ends:
            return made
        each = np.bincount(rails.host, minlength=len(weight))
        if (each == 0).any() or (weight % np.maximum(each, 1)).any():
            return made
        parted = [Division(d.word, d.block[rails.host]) for d in divisions]
        sets = None if outer is None else outer[rails.host]
        return cls(view, rails, True, (weight // each)[rails.host], parted, inside, sets)

    @cached_property
    def count(self) -> int:
        """The number of ranks."""
        return int(self.weight.sum())

    @cached_property
    def in_set(self) -> Ints:
        """The ranks of every set."""
        sets = np.zeros(len(self.weight), dtype=np.int64) if self.outer is None else self.outer
        out = np.zeros(int(sets.max(initial=0)) + 1, dtype=np.int64)
        np.add.at(out, sets, self.weight)
        return out

    @cached_property
    def exchange_parts(self) -> int:
        """Parts of what a rank sends to all of its set in which every part for one of them is a whole
        number."""
        return lcm(*self.in_set.tolist())

    @cached_property
    def set_of_unit(self) -> Ints:
        """The set of every unit of the view."""
        out = np.zeros(len(self.view.units), dtype=np.int64)
        if self.outer is not None:
            out[self.ends.host if isinstance(self.ends, ByRail) else np.arange(len(out))] = self.outer
        return out

    @cached_property
    def unit_weight(self) -> Ints:
        """The ranks of every unit of the view."""
        return accelerators_of(self.view)[self.view.units]

    @cached_property
    def unit_domain(self) -> Ints:
        """The number of every unit's domain; each by itself where the inside of some is not known."""
        return np.arange(len(self.view.units)) if self.inside is None else domain_of_units(self.view)

    @cached_property
    def in_domain(self) -> Ints:
        """The ranks of every domain."""
        out = np.zeros(self.divisions[-1].count, dtype=np.int64)
        np.add.at(out, self.divisions[-1].block, self.weight)
        return out

    def gather_inside(self, passes: int, spread: Sequence[Fraction] = ()) -> Fraction:
        """Seconds a bit of the whole result that gathering inside domains takes so many times, each rank
        holding the same share before; ``spread`` is what the ranks of each domain hand on besides, in bits
        each. Over the ports of the unit where its inside is not known."""
        if self.inside is None:
            return passes * self.over_own_ports(self.weight - 1)
        more = spread or [Fraction(0)] * len(self.inside)
        sizes = self.in_domain.tolist()
        kinds = {*zip(sizes, self.inside, more, strict=True)}
        return max(_seconds_inside(rate, passes * Fraction(g - 1, g), m) for g, rate, m in kinds)

    def over_own_ports(self, amount: Ints) -> Fraction:
        """Seconds that the slowest end takes to send so many bits over its ports."""
        net = unit_network(self.ends)
        kinds = {*zip(amount.tolist(), net.injection.tolist(), strict=True)}
        return max((Fraction(x, r * net.grain) for x, r in kinds if x), default=Fraction(0))

    @cached_property
    def aligned(self) -> bool:
        """Whether what is spread over the ranks of an end is spread over its ports by that, so that no rank
        has to hand it to another: each end is a rail, or has one rank, or equal links to one switch alone; or
        the same rails, and domains of one size."""
        if self.by_rail or int(self.weight.max(initial=1)) == 1 or self._equal_links_to_one_switch:
            return True
        return len({*self.in_domain.tolist()}) == len({*self.weight.tolist()}) == 1 and self.rails is not None

    @cached_property
    def _equal_links_to_one_switch(self) -> bool:
        view = self.ends
        if view.forwards[view.units].any():
            return False
        at = view.attachment
        mine = np.isin(at.end, view.units)
        pairs = np.unique(np.stack((at.end[mine], at.node[mine])), axis=1)
        rates = view.fabric.link_rate[view.fabric.port_link[at.port[mine]]]
        return len(np.unique(pairs[0])) == pairs.shape[1] and len(np.unique(rates)) == 1

    @cached_property
    def rails(self) -> ByRail | None:
        """The rails of the units, where each has all of them and what they send is divided among them."""
        if self.inside is None or self.by_rail or int(self.weight.max(initial=1)) == 1:
            return None
        found = ByRail.of(self.view)
        if found is None or (found.rail < 0).any():
            return None
        count = np.bincount(found.host, minlength=len(self.view.units))
        return found if (count == int(found.rail.max()) + 1).all() else None

    @cached_property
    def exchange(self) -> Exchange:
        """An exchange of equal parts between all ranks."""
        return uniform_exchange_times(self)

    @cached_property
    def rails_apart(self) -> bool:
        """Whether rails are joined nowhere in the network, so that ranks of different rails need the scale-up
        domain."""
        at = self.view.attachment
        unit = np.isin(at.end, self.view.units)
        return rail_plan(self.view.fabric).organised and len(np.unique(at.hub[unit])) > 1

    @cached_property
    def delays(self) -> RouteDelays:
        """What routes take."""
        return RouteDelays.of(self.ends)

    @cached_property
    def delay_inside(self) -> DelayInside:
        """What handing data on inside of a domain takes; of ranks that exchange over the ports of their unit
        the way to a switch and back."""
        if self.inside is not None:
            return _delay_inside(self.view)
        return DelayInside(Fraction(self.delays.to_neighbour_and_back(self.shared_ends), SECOND), ())

    @cached_property
    def shared_ends(self) -> Ints:
        """The ends that hold several ranks."""
        return self.ends.units[self.weight > 1]

    @property
    def unknown_delays(self) -> tuple[str, ...]:
        """What has no delay stated and would be passed, in words."""
        return (*self.delays.missing, *self.delay_inside.missing)


@dataclass(frozen=True, slots=True)
class DelayInside:
    """What handing data on inside of a scale-up domain takes at most, in seconds, as far as it is known, and
    what has no delay stated, in words. Traces inside of a host count for nothing."""

    seconds: Fraction
    missing: tuple[str, ...]


def _delay_inside(view: View) -> DelayInside:
    """By the latency that switches inside of hosts state, and by those and the cables between hosts."""
    f = view.fabric
    models, count = np.unique(f.device_model[view.units], return_counts=True)
    silent: dict[str, int] = {}
    longest = 0
    for m, n in zip(models.tolist(), count.tolist(), strict=True):
        passed = [(c, time_of(c.model)) for c in f.models[m].chips if c.kind == "switch"]
        longest = max(longest, sum((t or 0) * c.size for c, t in passed))
        for c, t in passed:
            if t is None:
                silent[c.model.name] = silent.get(c.model.name, 0) + c.size * n
    missing = [f"{n:,} {name} {'has' if n == 1 else 'have'} no `latency`" for name, n in silent.items()]
    up = scaleup_network(f.whole) if f.whole is not None else None
    if up is not None:
        beside = RouteDelays.of(View.whole(up))
        longest += beside.any_path
        missing += beside.missing
    return DelayInside(Fraction(longest, SECOND), tuple(missing))


def _seconds_inside(rate: DomainRate, equal: Fraction, other: Fraction) -> Fraction:
    """Seconds that a rank takes for bits in equal parts to all of its domain, and for others to any of them:
    where only equal parts are known to fit, these go by way of all (Valiant, SIAM J. Comput. 11, 1982)."""
    return (equal + other * (1 if rate.any_traffic else 2)) / rate.bps


def _rates_inside(view: View, weight: Ints, last: Division) -> list[DomainRate] | None:
    """What a rank has of its domain, for each; 1 bit/s for a rank alone. None where some domain of several
    ranks does not join them, or its rate is not known."""
    rates = domain_rates(view)
    label = view.domains.of_device[view.units]
    ranks = np.bincount(last.block, weight, last.count)
    out = [DomainRate(Fraction(1), True)] * last.count
    if not (ranks > 1).any():
        return None
    for block, domain in {*zip(last.block.tolist(), label.tolist(), strict=True)}:
        rate = rates[domain] if domain >= 0 else None
        if ranks[block] > 1 and not rate:
            return None
        if rate and ranks[block] > 1:
            out[block] = rate.of_some(int(ranks[block]))
    return out


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
    for route in (_RouteByLambda(ranks), _RouteByDelay(ranks)):
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
        at_once = route.together(stages) if len(found.stages) > 1 else None
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
    return out


# ---------------------------------------------------------------- routes


class _RouteByLambda:
    """Routes of the most that flows together, whatever paths they take."""

    by_delay = False

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self.known: dict[int, RoutedStage | None] = {}

    def stage(self, stage: Stage) -> RoutedStage | None:
        """The messages of one stage, which take as long the other way."""
        if id(stage.amount) not in self.known:
            per_part = self.together([stage])
            waiting = self.delay_of_steps(stage, stage.steps)
            self.known[id(stage.amount)] = None if per_part is None else RoutedStage(per_part, waiting)
        return self.known[id(stage.amount)]

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


class _RouteByDelay:
    """Routes along the paths of least delay, divided as these have capacity."""

    by_delay = True

    def __init__(self, ranks: Ranks) -> None:
        self.ranks = ranks
        self.known: dict[int, RoutedStage | None] = {}

    def stage(self, stage: Stage) -> RoutedStage | None:
        """The messages of one stage, which take as long the other way; None where they are too many."""
        if id(stage.amount) not in self.known:
            per_part = self.together([stage])
            self.known[id(stage.amount)] = (
                None if per_part is None else RoutedStage(per_part, self.delay_of_steps(stage, stage.steps))
            )
        return self.known[id(stage.amount)]

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
        begin, end = (offer.node[view.units[x]].tolist() for x in (demand.source, demand.target))
        wanted: dict[int, set[int]] = {}
        for s, t in zip(begin, end, strict=True):
            wanted.setdefault(s, set()).add(t)
        far = {s: shortest_distances(net, length, s, to) for s, to in wanted.items()}
        delay = [
            own[s] + far[s][t] if s != t else delay_below_switch(net.tail, net.head, length, own, s)
            for s, t in zip(begin, end, strict=True)
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
    at = int(stage.source[0])
    for _ in delay:
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


# ---------------------------------------------------------------- all to all


@dataclass(frozen=True, slots=True)
class Exchange:
    """All ranks send to all: no way takes less than ``least`` seconds a bit that each sends in all, and
    ``schedules`` are ways that do it."""

    least: Fraction
    schedules: tuple[Schedule, ...]


def uniform_exchange_times(ranks: Ranks) -> Exchange:
    """Bounds on the time of sending equal parts from each rank to all others, by the greatest rate that all
    pairs of units have at once; nothing is known where no such rate is."""
    least, most = _uniform_seconds(ranks)
    found = []
    name, stage = "direct exchange", _stage_of_all_pairs(ranks, ranks.view.budget.exchange_pairs)
    inside, known = ranks.delay_inside.seconds, ranks.inside is not None
    if most is not None:
        far = Fraction(ranks.delays.any_path, SECOND)
        waiting = far + 2 * inside if known else max(far, inside)
        plan = _plan_of_exchange(ranks, stage, most, False)
        found.append(Schedule(name, _with_inside_exchange(ranks, most), waiting, False, 1, 1, plan))
    if stage is not None and ranks.delays.any_path and len(ranks.weight) == len(ranks.unit_weight):
        routed = _RouteByDelay(ranks).stage(stage)
        if routed is not None:
            sent = routed.per_part / ranks.exchange_parts
            plan = _plan_of_exchange(ranks, stage, sent, True)
            took = _with_inside_exchange(ranks, sent)
            waiting = routed.waiting + 2 * inside if known else max(routed.waiting, inside)
            found.append(Schedule(name, took, waiting, False, 1, 1, plan))
    return Exchange(least, tuple(found))


def _plan_of_exchange(
    ranks: Ranks, stage: Stage | None, network: Fraction, by_delay: bool
) -> MessagePlan | None:
    """The messages of an exchange that takes so many seconds a bit over the network."""
    if stage is None:
        return None
    inside = _with_inside_exchange(ranks, Fraction(0))
    by_unit, whole = not by_delay, ranks.exchange_parts
    return MessagePlan(whole, (stage,), (network * whole,), by_delay, False, by_unit, inside)


def _uniform_seconds(ranks: Ranks) -> tuple[Fraction, Fraction | None]:
    """Seconds a bit over the network, at least and at most; None where no routes are known."""
    view = ranks.view
    apart = len(np.unique(domain_of_units(view))) == len(view.units)
    alone = apart and not Blocks.of(view).others_have_ports
    if alone and ranks.outer is None and len({*ranks.unit_weight.tolist()}) == 1:
        least, most = _seconds_of_equal_units(ranks)
    else:
        least, most = _seconds_of_unlike_units(ranks)
    if most is None:
        return Fraction(0), None
    # Where scale-up links join several units, others of the domain could send for one: no upper bound.
    if alone and some_end_relays(view):
        least = _least_seconds_with_relays(ranks)
    return least if alone else Fraction(0), most


def _seconds_of_equal_units(ranks: Ranks) -> tuple[Fraction, Fraction | None]:
    """Seconds a bit where each unit holds as many ranks."""
    found = all_to_all_bounds(ranks.view) if len(ranks.view.units) > 1 else None
    if found is None or not found.lower:
        return Fraction(0), None
    pair = Fraction(int(ranks.unit_weight[0]) ** 2, ranks.count * found.net.grain)
    return pair / found.upper, pair / found.lower


def _seconds_of_unlike_units(ranks: Ranks) -> tuple[Fraction, Fraction | None]:
    """Seconds a bit by all pairs of units."""
    stage = _stage_of_all_pairs(ranks, ranks.view.budget.unlike_exchange_pairs)
    demand = None if stage is None else TrafficDemand(stage.source, stage.target, stage.amount)
    offer = None if demand is None else offer_of_demand(ranks.view, demand)
    bound = None if offer is None else offer.bounds(ranks.view.budget)
    if offer is None or bound is None or not bound.lower:
        return Fraction(0), None
    whole = offer.grain * ranks.exchange_parts
    return 1 / (bound.upper * whole), 1 / (bound.lower * whole)


def _least_seconds_with_relays(ranks: Ranks) -> Fraction:
    """Seconds a bit at least, by lengths of links, where units also pass on what others send; 0 where that is
    too much, or hosts that are no units could pass on, too."""
    view = ranks.view
    at = view.attachment
    if not np.isin(at.end, view.units).all():
        return Fraction(0)
    stage = _stage_of_all_pairs(ranks, ranks.view.budget.exchange_pairs)
    demand = None if stage is None else TrafficDemand(stage.source, stage.target, stage.amount)
    offer = None if demand is None else offer_of_demand(view, demand)
    if offer is None:
        return Fraction(0)
    net = offer.network
    passing = replace(net, forwards=np.ones(net.nodes, dtype=np.bool_))
    bound = replace(offer, network=passing).bounds(view.budget)
    return Fraction(0) if bound is None else 1 / (bound.upper * offer.grain * ranks.exchange_parts)


def _stage_of_all_pairs(ranks: Ranks, most: int) -> Stage | None:
    """What each unit sends to each of its set that is in another domain, in ``exchange_parts`` of what a rank
    sends; None where those are more than ``most``, or none."""
    weight, domain = ranks.unit_weight, ranks.unit_domain
    count = len(weight)
    if count**2 > most:
        return None
    source, target = np.repeat(np.arange(count), count), np.tile(np.arange(count), count)
    sets = ranks.set_of_unit
    apart = (domain[source] != domain[target]) & (sets[source] == sets[target])
    source, target = source[apart], target[apart]
    if not len(source):
        return None
    part = ranks.exchange_parts // ranks.in_set
    return Stage(source, target, weight[source] * weight[target] * part[sets[source]], 1, True)


def _with_inside_exchange(ranks: Ranks, network: Fraction) -> Fraction:
    """Seconds a bit with what ranks of one domain send each other, and with what they hand to those at whose
    ports it leaves and from those at whose ports it arrives; over the ports where the inside is not known."""
    weight, parts = ranks.unit_weight, ranks.exchange_parts
    if ranks.inside is None:
        own = weight * (weight - 1) * (parts // ranks.in_set)[ranks.set_of_unit]
        return network + ranks.over_own_ports(own) / parts
    net = unit_network(ranks.view)
    kinds = {*zip(net.injection.tolist(), weight.tolist(), strict=True)}
    share = max(Fraction(x * net.grain, w) for x, w in kinds if w)
    size = np.zeros(ranks.divisions[-1].count, dtype=np.int64)
    size[ranks.divisions[-1].block] = ranks.in_set[0 if ranks.outer is None else ranks.outer]
    domains = {*zip(ranks.in_domain.tolist(), ranks.inside, size.tolist(), strict=True)}
    # Of n parts of what a rank sends g-1 stay inside; n-g leave, handed on once at either end.
    inside = [
        _seconds_inside(rate, Fraction(g - 1, n), Fraction(n - g, n) + share * network)
        for g, rate, n in domains
        if g > 1
    ]
    return max(network, *inside)
