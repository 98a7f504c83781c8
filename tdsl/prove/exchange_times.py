"""The time of an exchange of all ranks with all: between the greatest rate that all pairs could have at once,
and one that they have."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from tdsl.prove.all_to_all import all_to_all_bounds
from tdsl.prove.collective_bounds import Blocks, some_end_relays
from tdsl.prove.collective_ranks import Ranks, seconds_inside_domain
from tdsl.prove.collective_times import NOTHING_CROSSES, MessagePlan, RouteByDelay, Schedule
from tdsl.prove.collective_traffic import Stage
from tdsl.prove.delays import SECOND
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.localities import domain_of_units
from tdsl.prove.terminals import Offer, offer_of_demand
from tdsl.prove.unit_network import unit_network
from tdsl.system.lazy_dataclass import dataclass


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
    name, stage = "direct exchange", stage_of_all_pairs(ranks, ranks.view.budget.exchange_pairs)
    inside, known = ranks.delay_inside.seconds, ranks.inside is not None
    if ranks.in_one_domain:
        took = _with_inside_exchange(ranks, Fraction(0))
        return Exchange(least, (Schedule(name, took, inside, False, 1, 1, None, NOTHING_CROSSES),))
    if most is not None:
        far = Fraction(ranks.delays.any_path, SECOND)
        waiting = far + 2 * inside if known else max(far, inside)
        plan = _plan_of_exchange(ranks, stage, most, False)
        found.append(Schedule(name, _with_inside_exchange(ranks, most), waiting, False, 1, 1, plan))
    if stage is not None and ranks.delays.any_path and len(ranks.weight) == len(ranks.unit_weight):
        routed = RouteByDelay(ranks).stage(stage)
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
    if ranks.in_one_domain:
        return Fraction(0), None
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
    stage = stage_of_all_pairs(ranks, ranks.view.budget.unlike_exchange_pairs)
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
    offer = offer_through_units(ranks)
    bound = None if offer is None else offer.bounds(ranks.view.budget)
    if offer is None or bound is None:
        return Fraction(0)
    return 1 / (bound.upper * offer.grain * ranks.exchange_parts)


def offer_through_units(ranks: Ranks) -> Offer | None:
    """The exchange of all pairs in a network in which units pass on what others send; None where that is too
    much, or hosts that are no units could pass on, too."""
    view = ranks.view
    if not np.isin(view.attachment.end, view.units).all():
        return None
    stage = stage_of_all_pairs(ranks, view.budget.exchange_pairs)
    demand = None if stage is None else TrafficDemand(stage.source, stage.target, stage.amount)
    offer = None if demand is None else offer_of_demand(view, demand)
    if offer is None:
        return None
    return replace(
        offer, network=replace(offer.network, forwards=np.ones(offer.network.nodes, dtype=np.bool_))
    )


def stage_of_all_pairs(ranks: Ranks, most: int) -> Stage | None:
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
        seconds_inside_domain(rate, Fraction(g - 1, n), Fraction(n - g, n) + share * network)
        for g, rate, n in domains
        if g > 1
    ]
    return max(network, *inside)
