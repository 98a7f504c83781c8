"""The time of a transfer between two sets of devices: a flow over time.

What is sent in T seconds is at most F·(T − d), F the maximum flow and d the least delay from one set to the
other (Ford and Fulkerson, "Constructing maximal dynamic flows from static flows", Operations Research 6,
1958); and a maximum flow at a constant rate has all of it there after its longest path's delay."""

from __future__ import annotations

from fractions import Fraction

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
    shared as is best), the least delay from one set to the other and the longest of a path of the flow, in
    seconds as far as known, and what has no delay stated."""

    flow: FlowBetweenSets
    rate: Fraction
    senders: int
    least_delay: Fraction
    longest_delay: Fraction
    unknown: tuple[str, ...]


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
    rate, senders = Fraction(found.bound.lower), 1
    if EACH in claim.args:
        each, senders, longest = equal_rate_of_members(view, found), int(found.here.sum()), None
        if not each:
            return "no path leads from some member of the first set to the second"
        rate = each * senders
    longest = delays.any_path if longest is None else longest
    low, high = (Fraction(x, SECOND) for x in (least, longest))
    return TransferTime(found, rate, senders, low, high, delays.missing)


def equal_rate_of_members(view: View, found: FlowBetweenSets) -> Fraction:
    """The most bit/s that every member of the first set has at once towards the second, all the same.

    With what a member may send as the capacity of its source, a cut that does not let all through has ``k``
    members on its near side, and the rest of it carries C: no more than C/k is possible for each of these.
    From cut to cut the rate falls to the greatest that flows (Newton's method on the capacity of cuts)."""
    members = np.flatnonzero(found.here)
    passing = view.forwards | found.here | found.there
    kept = (view.a != view.b) & passing[view.a] & passing[view.b]
    place = np.where(found.there, 1, 2 + np.arange(view.fabric.device_count))
    a, b, rate = place[view.a[kept]], place[view.b[kept]], view.fabric.link_rate[view.rows[kept]]
    nodes = np.unique(np.concatenate(([0, 1], a, b, place[members])))
    tails, heads = np.concatenate((a, b)), np.concatenate((b, a))
    real = ~np.isin(heads, place[members[~view.forwards[members]]])
    grain = int(np.gcd.reduce(rate))
    tails, heads, capacity = tails[real], heads[real], np.append(rate, rate)[real] // grain
    forwards = np.ones(len(nodes), dtype=np.bool_)
    ends = (np.zeros(len(members), dtype=np.int64), place[members])
    tail, head = (np.searchsorted(nodes, np.append(x, y)) for x, y in zip((tails, heads), ends, strict=True))
    each = Fraction(found.bound.lower, grain * len(members))
    while each:
        whole = each.denominator
        own = np.full(len(members), each.numerator, dtype=np.int64)
        net = Network.of(forwards, tail, head, np.append(capacity * whole, own))
        flow = max_flow(net, 0, 1)
        if flow.value == each.numerator * len(members):
            break
        near = int(flow.side[np.searchsorted(nodes, place[members])].sum())
        each = Fraction(flow.value - each.numerator * (len(members) - near), whole * near)
    return each * grain


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
