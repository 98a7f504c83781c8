"""The messages of a schedule with their rates and routes, so that anyone can replay it.

A message has a constant rate as long as its stage lasts, and its routes carry parts of it. That all rates
together fit the wiring is counted again here, link by link, and what does not fit is not handed out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np

from tdsl.prove.collective_ranks import Ranks
from tdsl.prove.collective_times import (
    NOTHING_CROSSES,
    MessagePlan,
    Schedule,
    bounds_of_messages,
    delay_below_switch,
    delays_of_offer,
    flows_of_least_delay,
    offer_of_stages,
)
from tdsl.prove.collective_traffic import Stage
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.flow_paths import ArcPaths, paths_of_flow
from tdsl.prove.network import Network
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.routed_demand import Loads, targets_by_source
from tdsl.prove.set_flow import FlowBetweenSets
from tdsl.prove.terminals import Offer, offer_of_demand
from tdsl.prove.transfer_times import FIRST, OTHER
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

AVERAGED = "its routes are averages over symmetries, which are not listed one by one"


@dataclass(frozen=True, slots=True)
class Route:
    """Devices from the sender to the receiver by their names, bit/s that go this way, and what the way takes
    of known delays, in femtoseconds."""

    devices: tuple[str, ...]
    rate: Fraction
    delay: int


@dataclass(frozen=True, slots=True)
class RoutedMessage:
    """A message of a stage (its number, from 0): names of sender and receiver, parts of the data, bit/s, and
    its routes. Of one along a tree its number, from 1, and the first and the last step of a chunk in which it
    sends."""

    stage: int
    sender: str
    receiver: str
    parts: int | Fraction
    rate: Fraction
    routes: tuple[Route, ...]
    tree: int = 0
    steps: tuple[int, int] = (0, 0)

    @property
    def delay(self) -> int:
        """What the slowest of its routes takes, in femtoseconds."""
        return max(r.delay for r in self.routes)


def routes_of_schedule(ranks: Ranks, schedule: Schedule) -> list[RoutedMessage] | str:
    """All messages of a schedule with their rates and routes, in the order of the stages; or why there are
    none, in words."""
    plan = schedule.plan
    if plan is None:
        return schedule.unlisted
    if not plan.stages:
        return NOTHING_CROSSES
    count, most = sum(len(s.source) for s in plan.stages), ranks.view.budget.listed_messages
    if count > most:
        return f"it has {count:,} messages, and {most:,} at most are listed with their routes"
    groups = [plan.stages] if plan.joint else [(s,) for s in plan.stages]
    out: list[RoutedMessage] = []
    known: dict[int, tuple[Stage, _Paths | str]] = {}
    for first, group in enumerate(groups):
        # A stage the other way in time has the routes of the first one, turned round.
        key = id(group[0].amount)
        if key not in known:
            known[key] = group[0], _Paths.of(ranks, plan, group)
        before, paths = known[key]
        if isinstance(paths, str):
            return paths
        turned = before.source is not group[0].source
        for k, stage in enumerate(group):
            number = first + k
            out += paths.messages(stage, number, plan.seconds[number], turned)
    return out if _all_fit(ranks, schedule.overlapped, out) else AVERAGED


@dataclass(frozen=True, slots=True)
class _Paths:
    """The paths between the nodes of an offer, each with its share; the delay of all arcs and nodes; and the
    node that each arc leads to."""

    view: View
    offer: Offer
    rails: int
    share: dict[tuple[int, int], ArcPaths]
    length: Sequence[int]
    own: Sequence[int]
    ends: list[dict[int, int]]
    names: dict[int, str]
    unit_names: dict[int, str]
    head: Sequence[int]

    @classmethod
    def of(cls, ranks: Ranks, plan: MessagePlan, stages: Sequence[Stage]) -> _Paths | str:
        """Find the routes that the rates of these stages were computed from."""
        found = _offer_of_plan(ranks, plan, stages)
        if found is None:
            return "no routes are known"
        offer, rails, view = found
        delays = delays_of_offer(ranks, offer)
        flows = flows_of_least_delay(offer, delays) if plan.by_delay else _flows_of_most(ranks, offer)
        if flows is None:
            return "its routes are too many to be listed"
        by_source = targets_by_source(offer.demands)
        if len(offer.demands) * offer.network.arcs > ranks.view.budget.route_listing_work:
            return "its routes are too many to be listed"
        share: dict[tuple[int, int], ArcPaths] = {}
        for s, wanted in by_source.items():
            paths = paths_of_flow(offer.network, s, flows.get(s, {}), wanted)
            if paths is None:
                return AVERAGED
            for t, mine in paths.items():
                share[s, t] = [(x / wanted[t], arcs) for x, arcs in mine]
        length, own = delays.arc_lengths(offer)
        ends, names = _units_on_rails(ranks, view, rails)
        called = dict(zip(view.units.tolist(), view.names(view.units), strict=True))
        return cls(view, offer, rails, share, length, own, ends, names, called, offer.network.head.tolist())

    def messages(self, stage: Stage, number: int, seconds: Fraction, turned: bool) -> Iterator[RoutedMessage]:
        """The messages of a stage of which a part takes so many seconds; ``turned``: the routes are those of
        the messages the other way."""
        parts_of_rate = _PartsOfRate()
        for s, t, parts in zip(
            *(x.tolist() for x in (stage.source, stage.target, stage.amount)), strict=True
        ):
            if not parts:
                continue
            rate = Fraction(parts) / seconds
            each = [e for e in self.ends if s in e and t in e]
            parts_of_rate.begin(rate / max(len(each), 1))
            routes = [
                route
                for rail in each
                for route in self._routes(
                    *((rail[t], rail[s]) if turned else (rail[s], rail[t])), parts_of_rate, turned
                )
            ]
            yield RoutedMessage(number, self.names[s], self.names[t], parts, rate, tuple(routes))

    def _routes(self, one: int, other: int, parts: _PartsOfRate, turned: bool) -> Iterator[Route]:
        """The routes between two units of the view, which carry the rate of ``parts`` together."""
        net, nodes, head, length = self.offer.network, self.offer.nodes, self.head, self.length
        s, t = (int(self.offer.node[d]) for d in (one, other))
        first, last = self.unit_names[one], self.unit_names[other]
        if s == t:
            inner = [nodes[head[net.out[s][0]]]]
            delay = delay_below_switch(net.tail, net.head, self.length, self.own, s)
            yield Route((last, *inner, first) if turned else (first, *inner, last), parts.rate, delay)
            return
        for part, arcs in self.share[s, t]:
            names = (first, *[nodes[head[arc]] for arc in arcs[:-1]], last)
            delay = self.own[s] + sum([length[arc] for arc in arcs])
            yield Route(names[::-1] if turned else names, parts.part(part), delay)


@dataclass(slots=True)
class _PartsOfRate:
    """Parts of a rate, each multiplied once: the hosts below two switches have routes with the same parts."""

    rate: Fraction = Fraction(0)
    known: dict[tuple[int, int], Fraction] = field(default_factory=dict)

    def begin(self, rate: Fraction) -> None:
        """Divide this rate from now on."""
        if rate != self.rate:
            self.rate = rate
            self.known.clear()

    def part(self, part: Fraction) -> Fraction:
        """A part of the rate."""
        key = part.numerator, part.denominator
        if key not in self.known:
            self.known[key] = self.rate * part
        return self.known[key]


def _offer_of_plan(
    ranks: Ranks, plan: MessagePlan, stages: Sequence[Stage]
) -> tuple[Offer, int, View] | None:
    """The messages as a demand, the number of rails that each is divided among, and the view it is of."""
    if plan.by_unit:
        (stage,) = stages
        offer = offer_of_demand(ranks.view, TrafficDemand(stage.source, stage.target, stage.amount))
        return None if offer is None else (offer, 1, ranks.view)
    found = offer_of_stages(ranks, stages)
    if found is None:
        return None
    offer, rails = found
    by_rail = ranks.rails is not None and len(offer.node) == ranks.rails.fabric.device_count
    return offer, rails, ranks.rails if by_rail and ranks.rails is not None else ranks.ends


def _flows_of_most(ranks: Ranks, offer: Offer) -> dict[int, Loads] | None:
    """What every source puts on arcs by the routes of the most that flows at once."""
    bound = bounds_of_messages(ranks, offer)
    return None if bound is None else bound.proof_lower.flow


def _units_on_rails(ranks: Ranks, view: View, rails: int) -> tuple[list[dict[int, int]], dict[int, str]]:
    """For every rail the device of each end of the schedule; and the names of the ends."""
    names = dict(enumerate(ranks.ends.names(ranks.ends.units)))
    if ranks.rails is not None and view is ranks.rails:
        mine = ranks.rails
        each: list[dict[int, int]] = [{} for _ in range(int(mine.rail.max()) + 1)]
        for host, rail, device in zip(
            mine.host.tolist(), mine.rail.tolist(), mine.units.tolist(), strict=True
        ):
            each[rail][host] = device
        return each, names
    return [dict(enumerate(view.units.tolist()))], dict(enumerate(view.names(view.units)))


def _all_fit(ranks: Ranks, overlapped: bool, messages: Sequence[RoutedMessage]) -> bool:
    """Whether all messages that flow at the same time fit the links between any two devices. Stages have all
    of the network in turn, or share it where they overlap."""
    capacity: dict[tuple[str, str], int] = {}
    for view in (ranks.view, ranks.ends, ranks.rails):
        capacity |= {} if view is None else capacity_between_devices(view)
    whole = lcm(*{r.rate.denominator for m in messages for r in m.routes})
    load: dict[int, dict[tuple[str, str], int]] = {}  # of each stage, in parts of 1/whole bit/s
    for m in messages:
        mine = load.setdefault(0 if overlapped else m.stage, {})
        for r in m.routes:
            amount = r.rate.numerator * (whole // r.rate.denominator)
            for pair in pairwise(r.devices):
                mine[pair] = mine.get(pair, 0) + amount
    return all(
        amount <= capacity.get(pair, 0) * whole for mine in load.values() for pair, amount in mine.items()
    )


def capacity_between_devices(view: View) -> dict[tuple[str, str], int]:
    """Bit/s from every device to each that it has links to, by their names."""
    used = np.unique(np.concatenate((view.a, view.b)))
    names = dict(zip(used.tolist(), view.names(used), strict=True))
    out: dict[tuple[str, str], int] = {}
    for a, b, rate in zip(
        *(x.tolist() for x in (view.a, view.b, view.fabric.link_rate[view.rows])), strict=True
    ):
        for pair in ((names[a], names[b]), (names[b], names[a])):
            out[pair] = out.get(pair, 0) + rate
    return out


def paths_between_sets(
    view: View, found: FlowBetweenSets, names: tuple[str, str]
) -> tuple[list[Route], dict[tuple[str, str], int]]:
    """The paths that a maximum flow between two sets consists of, each set as one device of the name that is
    given; and the capacity between devices, counted in the same way, in bit/s."""
    delays, arcs = RouteDelays.of(view), found.bound.proof_lower.arcs
    nodes = sorted({d for a, b, _ in arcs for d in (a, b)})
    place = {d: k for k, d in enumerate(nodes)}
    tail, head = (np.array([place[arc[end]] for arc in arcs], dtype=np.int64) for end in (0, 1))
    amount = np.array([arc[2] for arc in arcs], dtype=np.int64)
    net = Network.of(np.ones(len(nodes), dtype=np.bool_), tail, head, amount)
    flow = {k: Fraction(x) for k, x in enumerate(net.capacity.tolist())}
    ends = place[FIRST], place[OTHER]
    paths = paths_of_flow(net, ends[0], flow, {ends[1]: int(found.bound.lower)})
    assert paths is not None  # a flow brings what it is worth
    called = {FIRST: names[0], OTHER: names[1]}
    called |= {d: view.fabric.device_name(d) for d in nodes if d >= 0}
    device = np.where(found.here, FIRST, np.where(found.there, OTHER, np.arange(view.fabric.device_count)))
    capacity: dict[tuple[str, str], int] = {}
    took: dict[tuple[str, str], int] = {}
    rows = (device[view.a], device[view.b], view.a, view.b, delays.cable, view.fabric.link_rate[view.rows])
    for x, y, a, b, cable, rate in zip(*(r.tolist() for r in rows), strict=True):
        for one, other, out, into in ((x, y, a, b), (y, x, b, a)):
            if one != other and one in called and other in called:
                key = called[one], called[other]
                own = int(delays.own[into]) + (int(delays.own[out]) if one == FIRST else 0)
                capacity[key] = capacity.get(key, 0) + rate
                took[key] = max(took.get(key, 0), cable + own)
    routes = []
    for part, way in paths[ends[1]]:
        devices = (names[0], *(called[nodes[int(net.head[arc])]] for arc in way))
        routes.append(Route(devices, part, sum(took[pair] for pair in pairwise(devices))))
    return routes, capacity
