"""The time of a transfer between two sets of devices: a flow over time.

What is sent in T seconds is at most F·(T − d), F the maximum flow and d the least delay from one set to the
other (Ford and Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6,
1958); and a maximum flow at a constant rate has all of it there after its longest path's delay."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.bound import Flow
from tdsl.prove.concurrent_flow import FAR, shortest_distances
from tdsl.prove.delays import SECOND
from tdsl.prove.max_flow import max_flow
from tdsl.prove.network import Network
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.set_flow import FlowBetweenSets, max_flow_between_sets
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

EACH = "each"
"""The word with which every member of the first set sends as much."""

FIRST, OTHER = -2, -1
"""How the arcs of a flow between two sets name these."""


@dataclass(frozen=True, slots=True)
class TransferTime:
    """Bit/s that are sent together, by how many members of the first set each as much (1 where that is
    shared as is best), and ``most``, which nobody beats: more than ``rate`` where members could pass on what
    others send. The least delay from one set to the other and the longest of a path of the flow, in
    seconds as far as known, and what has no delay stated."""

    flow: FlowBetweenSets
    rate: Fraction
    most: Fraction
    senders: int
    least_delay: Fraction
    longest_delay: Fraction
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SenderRate:
    """Bit/s that each member of a set can send at once, a flow that does, and the devices behind a cut that
    lets no more through, some of the members among them. Arcs are devices, OTHER for the set that receives,
    with bit/s."""

    rate: Fraction
    flow: tuple[tuple[int, int, Fraction], ...] = ()
    behind: tuple[int, ...] = ()


def time_of_transfer(view: View, claim: ResolvedClaim) -> TransferTime | str:
    """What a transfer from A to B takes; or why there is none."""
    found = max_flow_between_sets(view, claim)
    if isinstance(found, str):
        return found
    if not found.bound.lower:
        return "no path leads from the one to the other"
    delays = RouteDelays.of(view)
    place, net, shortest, slowest = _network_of_delays(view, found, delays)
    least = shortest_distances(net, shortest, 0, [1])[1]
    assert least < FAR
    longest = _longest_path_of_flow(found.bound.proof_lower, place, net, slowest)
    rate = most = Fraction(found.bound.lower)
    senders = 1
    if EACH in claim.args:
        senders, longest = int(found.here.sum()), None
        rate, most = (senders * rate_of_senders(view, found, passing).rate for passing in (False, True))
        if not rate:
            return "no path leads from some member of the first set to the second"
    longest = delays.any_path if longest is None else longest
    low, high = (Fraction(x, SECOND) for x in (least, longest))
    return TransferTime(found, rate, most, senders, low, high, delays.missing)


def rate_of_senders(view: View, found: FlowBetweenSets, passing: bool) -> SenderRate:
    """What each of the first set can send at once in bit/s; ``passing``: each also passes on what others
    send. The least over cuts of their capacity for each sender behind them, by Newton's method: the cut of
    the last rate gives the next one (Radzik, "Newton's method for fractional combinatorial optimization",
    1992)."""
    here, there = found.here, found.there
    kept = view.forwards | here | there
    rows = kept[view.a] & kept[view.b] & (view.a != view.b)
    senders = np.flatnonzero(here)
    place = np.where(there, 1, 2 + np.arange(view.fabric.device_count))
    tail, head = (
        np.concatenate([place[x[rows]] for x in both]) for both in ((view.a, view.b), (view.b, view.a))
    )
    rate = np.tile(view.fabric.link_rate[view.rows][rows], 2)
    wanted = (tail != 1) & (tail != head) & (passing | ~np.isin(head, 2 + senders))
    tail, head, rate = tail[wanted], head[wanted], rate[wanted]
    nodes, dense = np.unique(np.concatenate(([0, 1], 2 + senders, tail, head)), return_inverse=True)
    first, tail, head = np.split(dense[2:], [len(senders), len(senders) + len(tail)])
    grain = gcd(*np.unique(rate).tolist()) or 1
    best, devices = Fraction(int(rate.sum()) // grain, len(senders)), senders
    for _ in range(view.budget.sender_rate_rounds):
        net = Network.of(
            np.ones(len(nodes), dtype=np.bool_),
            np.append(np.zeros_like(first), tail),
            np.append(first, head),
            np.append(np.full(len(first), best.numerator), rate // grain * best.denominator),
        )
        cut = max_flow(net, 0, 1)
        behind = int(cut.side[first].sum())
        over = cut.side[tail] & ~cut.side[head]
        if not behind or cut.value == best.numerator * len(senders):
            used = (cut.flow > 0) & (net.tail != 0)
            ends = (nodes[x[used]] - 2 for x in (net.tail, net.head))
            part = Fraction(grain, best.denominator)
            flow = zip(*(x.tolist() for x in (*ends, cut.flow[used])), strict=True)
            return SenderRate(
                best * grain, tuple((a, b, x * part) for a, b, x in flow), tuple(devices.tolist())
            )
        best = Fraction(int((rate[over] // grain).sum()), behind)
        devices = nodes[cut.side & (nodes > 1)] - 2
        if not best:
            break
    return SenderRate(Fraction(0))


def _network_of_delays(
    view: View, found: FlowBetweenSets, delays: RouteDelays
) -> tuple[dict[int, int], Network, list[int], list[int]]:
    """The node of every device (the sets are 0 and 1), the links as arcs, and the delay of each, at least and
    at most: of the shortest or the longest of its cables, and of what passes on behind it; what senders and
    receivers take themselves is with their links."""
    passing = view.forwards | found.here | found.there
    kept = passing[view.a] & passing[view.b] & (view.a != view.b)
    device = np.where(found.here, FIRST, np.where(found.there, OTHER, np.arange(view.fabric.device_count)))
    names = np.unique(np.concatenate(([FIRST, OTHER], device[view.a[kept]], device[view.b[kept]])))
    place = {int(d): k for k, d in enumerate(names.tolist())}
    a, b = (np.searchsorted(names, device[x[kept]]) for x in (view.a, view.b))
    own_a, own_b = delays.own[view.a[kept]], delays.own[view.b[kept]]
    cable = delays.cable[kept]
    net = Network.both_ways(np.ones(len(names), dtype=np.bool_), a, b)
    shortest, slowest = np.full(net.arcs, FAR, dtype=np.int64), np.zeros(net.arcs, dtype=np.int64)
    keys = net.head * net.nodes + net.tail
    for x, y, before, after in ((a, b, own_a, own_b), (b, a, own_b, own_a)):
        apart = x != y
        took = cable + after + np.where(x == 0, before, 0)
        at = np.searchsorted(keys, (y * net.nodes + x)[apart])
        np.minimum.at(shortest, at, took[apart])
        np.maximum.at(slowest, at, took[apart])
    return place, net, shortest.tolist(), slowest.tolist()


def _longest_path_of_flow(flow: Flow, place: dict[int, int], net: Network, length: list[int]) -> int | None:
    """The longest path along the arcs of a flow; None where they have a cycle, which a shorter flow would
    leave out."""
    cost = dict(zip(zip(net.tail.tolist(), net.head.tolist(), strict=True), length, strict=True))
    after: dict[int, list[int]] = {}
    entering: dict[int, int] = {}
    for tail, head, _ in flow.arcs:
        one, other = place[tail], place[head]
        after.setdefault(one, []).append(other)
        entering[other] = entering.get(other, 0) + 1
    ready = [v for v in after if not entering.get(v)]
    far = dict.fromkeys(ready, 0)
    seen = 0
    while ready:
        v = ready.pop()
        seen += 1
        for w in after.get(v, []):
            far[w] = max(far.get(w, 0), far[v] + cost[v, w])
            entering[w] -= 1
            if not entering[w]:
                ready.append(w)
    return far.get(1, 0) if seen == len({*after, *far}) and not any(entering.values()) else None
