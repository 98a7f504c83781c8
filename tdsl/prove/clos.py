"""A lower bound on bisection from flows towards hubs, upward only: what every unit can count on at once.

Take the nodes of one tier as *hubs*. Every node below divides what it gets among its links upward in fixed
*shares*; a *block*, the nodes below that share links, passes at most its *limit*, chosen so that no link is
overloaded whichever units send. A choice S of units then sends to hub c at least ``M_c(S)``, the rank of S
under these nested limits. Links up carry what is sent, links down what is received, in the same shares, so
both fit at once. Whatever side of a split (U, V) hub c is on, what U sends to it or what V receives from it
crosses: the cut is at least Σ_c min(M_c(U), M_c(V)), and so at least Σ_c min over |S| = ⌊N/2⌋ of M_c(S). That
minimum is found exactly, by profiles of the nested blocks.

Sources: the argument of hubs is that of concurrent flow, Leighton and Rao, "Multicommodity max-flow min-cut
theorems" (J. ACM 46, 1999); that a folded Clos lets every host send to all top switches at once, Leiserson,
"Fat-trees" (IEEE Trans. Computers 34, 1985), and Al-Fares, Loukissas, Vahdat, "A scalable, commodity data
center network architecture" (SIGCOMM 2008).
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import lcm

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Ints
from tdsl.prove.network import Network
from tdsl.prove.profiles import join_profiles
from tdsl.system.lazy_dataclass import dataclass

Shares = dict[int, Fraction]
Combination = tuple[tuple[Fraction, Fraction], ...]
"""(Part that comes to a hub, most sent) of sources, the least part first."""

FINE = 3_628_800
"""Parts of a grain that profiles count in where the fractions have no common denominator of this size;
rounded down."""


@dataclass(frozen=True, slots=True)
class TierBlock:
    """Nodes of tiers up to ``level`` that links upward join; ``limit`` in grains; a block of level 1 is one
    node."""

    level: int
    members: tuple[int, ...]
    limit: Fraction
    inside: tuple[TierBlock, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """A bound with all that certifies it: hubs, shares of every node below them, outermost blocks. ``value``
    in grains."""

    hubs: tuple[int, ...]
    shares: dict[int, Shares]
    blocks: tuple[TierBlock, ...]
    value: int


@dataclass(eq=False)
class _Routes:
    """Shares upward, and what a unit of flow from a node puts on every node above."""

    shares: dict[int, Shares]
    capacity: dict[int, Fraction]
    above: dict[int, Shares]


def best_spread(net: Network) -> Spread | None:
    """The best bound over the tiers and the ways to choose shares; None if no unit is connected to a node."""
    best = None
    top = int(net.tier.max(initial=0))
    for tier in range(1, top + 1):
        up = _links_upward(net, tier)
        even = _routes_upward(net, up, tier, True)
        passed = _routes_upward(net, up, tier, False) if tier > 2 else even
        for routes in (even,) if _same_shares(even, passed) else (even, passed):
            found = _spread_from_routes(net, up, routes, tier)
            if best is None or found.value > best.value:
                best = found
    return best


def hub_spread(net: Network, top: int, even: bool) -> Spread:
    """The bound with the nodes of tier ``top`` as hubs. ``even``: shares as links have capacity; else also as
    what the nodes above can pass on."""
    up = _links_upward(net, top)
    return _spread_from_routes(net, up, _routes_upward(net, up, top, even), top)


def _same_shares(a: _Routes, b: _Routes) -> bool:
    """Whether two ways to choose shares choose the same. Nodes with the same links upward have one object in
    both."""
    first, second = ({id(s): s for s in routes.shares.values()} for routes in (a, b))
    return list(first.values()) == list(second.values())


def _spread_from_routes(
    net: Network, up: dict[int, list[tuple[int, int]]], routes: _Routes, top: int
) -> Spread:
    blocks = _nested_blocks(net, up, routes, top)
    hubs = tuple(np.flatnonzero(net.tier == top).tolist())
    return Spread(hubs, routes.shares, blocks, _value_of_spread(net, blocks, routes, hubs))


def _links_upward(net: Network, top: int) -> dict[int, list[tuple[int, int]]]:
    """Nodes one tier up, with capacity, of every node below ``top``."""
    out: dict[int, list[tuple[int, int]]] = defaultdict(list)
    tier = net.tier.tolist()
    for a, b, capacity in zip(
        net.trunks.a.tolist(), net.trunks.b.tolist(), net.trunks.capacity.tolist(), strict=True
    ):
        low, high = (a, b) if tier[a] < tier[b] else (b, a)
        if 0 < tier[low] == tier[high] - 1 and tier[high] <= top:
            out[low].append((high, capacity))
    return out


def _routes_upward(net: Network, up: dict[int, list[tuple[int, int]]], top: int, even: bool) -> _Routes:
    below: dict[int, int] = defaultdict(int)
    for links in up.values():
        for w, capacity in links:
            below[w] += capacity
    routes = _Routes({}, {}, {})
    kept: dict[tuple[tuple[int, int], ...], tuple[Shares, Fraction, Shares]] = {}
    for tier in range(top - 1, 0, -1):
        for v in np.flatnonzero(net.tier == tier).tolist():
            key = tuple(sorted(up.get(v, ())))  # nodes with the same links upward have the same routes
            if key not in kept:
                kept[key] = _route_of_node(key, routes, below, even)
            routes.shares[v], routes.capacity[v], routes.above[v] = kept[key]
    return routes


def _route_of_node(
    links: tuple[tuple[int, int], ...], routes: _Routes, below: dict[int, int], even: bool
) -> tuple[Shares, Fraction, Shares]:
    weight: Shares = {}
    for w, capacity in links:
        passes = routes.capacity.get(w)  # a hub has none: it need not pass anything on
        if passes == 0:
            continue
        weight[w] = Fraction(capacity) if even or passes is None else capacity * passes / below[w]
    total = sum(weight.values(), Fraction(0))
    if not total:
        return {}, Fraction(0), {}
    shares = {w: x / total for w, x in weight.items()}
    most = min(capacity / shares[w] for w, capacity in links if w in shares)
    above: Shares = defaultdict(Fraction)
    for w, share in shares.items():
        above[w] += share
        for c, part in routes.above.get(w, {}).items():
            above[c] += share * part
    return shares, most, dict(above)


def _nested_blocks(
    net: Network, up: dict[int, list[tuple[int, int]]], routes: _Routes, top: int
) -> tuple[TierBlock, ...]:
    """The nested blocks below the hubs, outermost; with the hubs in tier 1 there are none."""
    leaves = np.flatnonzero(net.tier == 1).tolist()
    if top == 1:
        return ()
    current = {v: TierBlock(1, (v,), routes.capacity[v], ()) for v in leaves}
    for level in range(2, top):
        label = _labels_below_level(net, up, level)
        inner: dict[int, list[TierBlock]] = defaultdict(list)
        for block in current.values():
            inner[int(label[block.members[0]])].append(block)
        members: dict[int, list[int]] = defaultdict(list)
        for v in np.flatnonzero((net.tier > 0) & (net.tier <= level)).tolist():
            members[int(label[v])].append(v)
        current = {
            at: _block_with_limit(net, level, members[at], blocks, routes) for at, blocks in inner.items()
        }
    return tuple(current.values())


def _labels_below_level(net: Network, up: dict[int, list[tuple[int, int]]], level: int) -> Ints:
    tier = net.tier.tolist()
    ends = [(v, w) for v, links in up.items() if tier[v] < level for w, _ in links]
    a, b = (np.array(x, dtype=np.int64) for x in (list(zip(*ends, strict=True)) or ((), ())))
    return component_labels(len(net.transit), a, b)


def _block_with_limit(
    net: Network, level: int, members: list[int], inside: list[TierBlock], routes: _Routes
) -> TierBlock:
    """A block's limit: the largest total that overloads none of its highest nodes, whatever combination of
    leaves it comes from."""
    sent: dict[int, Fraction] = defaultdict(Fraction)  # what leaves with the same routes send at most
    above: dict[int, Shares] = {}
    for v in members:
        if net.tier[v] == 1:
            sent[id(routes.above[v])] += routes.capacity[v]
            above[id(routes.above[v])] = routes.above[v]
    limit = sum(sent.values(), Fraction(0))
    for w in members:
        if net.tier[w] == level:
            parts = [(above[key].get(w, Fraction(0)), most) for key, most in sent.items()]
            limit = min(limit, total_at(parts, routes.capacity[w]))
    return TierBlock(level, tuple(members), limit, tuple(inside))


def total_at(parts: list[tuple[Fraction, Fraction]], capacity: Fraction) -> Fraction:
    """The largest total of which no combination puts more than ``capacity`` on a node, of sources (part that
    goes there, most sent).

    The worst combination takes sources with the greatest part first.
    """
    total, load = Fraction(0), Fraction(0)
    for part, most in sorted(parts, reverse=True):
        if load + part * most > capacity:
            return total + (capacity - load) / part
        total, load = total + most, load + part * most
    return total


# ---------------------------------------------------------------- the least over all choices of units


def _value_of_spread(
    net: Network, blocks: tuple[TierBlock, ...], routes: _Routes, hubs: tuple[int, ...]
) -> int:
    """Σ over hubs of the least that half of the units can send there, rounded up to whole grains."""
    attached: dict[int, tuple[Ints, Ints]] = {}
    order = np.argsort(net.access.b, kind="stable")
    ends = np.searchsorted(net.access.b[order], np.arange(len(net.transit) + 1))
    for v in np.flatnonzero(net.tier == 1).tolist():
        at = order[ends[v] : ends[v + 1]]
        attached[v] = net.access.a[at], net.access.capacity[at]
    if not blocks:  # units are connected to the hubs
        parts = [join_profiles([_leaf_profile(attached[v], None, 1)], net.half) for v in hubs]
        return sum(_least_of_half(net, members, profile) for members, profile in parts)
    known: dict[tuple[int, Fraction], dict[int, Combination]] = {}
    combinations = [_combinations_at_hubs(b, routes, net, known) for b in blocks]
    fine = min(
        _common_denominator(blocks, combinations), max(2**60 // max(int(net.access.capacity.sum()), 1), 1)
    )
    profiles = [_block_profile(b, attached, fine, net.half) for b in blocks]
    different = list({id(m): m for m in combinations}.values())
    kinds: dict[tuple[Combination, ...], list[int]] = defaultdict(list)
    for c in hubs:
        kinds[tuple(m.get(c, ()) for m in different)].append(c)
    total = 0
    for like in kinds.values():
        here, times = [m.get(like[0], ()) for m in combinations], len(like)
        parts = [
            (members, least_arriving(profile, m, times, fine))
            for m, (members, profile) in zip(here, profiles, strict=True)
            if m
        ]
        total += _least_of_half(net, *join_profiles(parts, net.half))
    return -(-total // fine)


def least_arriving(profile: Ints, combination: Combination, times: int, fine: int) -> Ints:
    """The least that comes to ``times`` like hubs of what a block sends: sources with the smallest part send
    first."""
    out, left = np.zeros_like(profile), profile
    for part, most in combination[:-1]:
        here = _limit_values(left, -int(-most * fine // 1))
        out, left = out + _scale_down(here, part * times), left - here
    return out + _scale_down(left, combination[-1][0] * times)


def _limit_values(values: Ints, most: int) -> Ints:
    """Values, none above ``most``. They are below 2^61 (``fine`` sees to it), and ``most`` may be beyond 64
    bits."""
    found: Ints = np.minimum(values, min(most, 2**62))
    return found


def _scale_down(values: Ints, part: Fraction) -> Ints:
    """That part of each value, rounded down."""
    if max(int(values.max(initial=1)) * part.numerator, part.denominator) < 2**62:
        out: Ints = values * part.numerator // part.denominator
        return out
    return np.array([x * part.numerator // part.denominator for x in values.tolist()], dtype=np.int64)


def _least_of_half(net: Network, members: Ints, profile: Ints) -> int:
    """The least of half of all units, of which those that are no members have nothing to send."""
    inside = max(net.half - (len(net.units) - len(members)), 0)
    return int(profile[inside])


def _leaf_profile(attached: tuple[Ints, Ints], limit: Fraction | None, fine: int) -> tuple[Ints, Ints]:
    units, capacity = attached
    order = np.argsort(units)
    profile = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.sort(capacity)))) * fine
    if limit is not None:
        profile = _limit_values(profile, int(limit * fine))
    return units[order], profile


def _block_profile(
    block: TierBlock, attached: dict[int, tuple[Ints, Ints]], fine: int, most: int
) -> tuple[Ints, Ints]:
    """Members of a block, and the least that x of them send out of it, in parts of a grain."""
    if block.level == 1:
        members, profile = _leaf_profile(attached[block.members[0]], block.limit, fine)
        return members, profile[: most + 1]
    members, profile = join_profiles([_block_profile(b, attached, fine, most) for b in block.inside], most)
    return members, _limit_values(profile, int(block.limit * fine))


def _combinations_at_hubs(
    block: TierBlock, routes: _Routes, net: Network, known: dict[tuple[int, Fraction], dict[int, Combination]]
) -> dict[int, Combination]:
    """For every hub, the parts of what a block's leaves send that come to it, the least first. ``known`` are
    those of blocks whose leaves all have the same routes: equal ones are one object."""
    sent: dict[int, Fraction] = defaultdict(Fraction)
    above: dict[int, Shares] = {}
    for v in block.members:
        if net.tier[v] == 1 and routes.above[v]:
            sent[id(routes.above[v])] += routes.capacity[v]
            above[id(routes.above[v])] = routes.above[v]
    if len(sent) == 1:
        ((key, most),) = sent.items()
        if (key, most) not in known:
            known[key, most] = {c: ((part, most),) for c, part in above[key].items()}
        return known[key, most]
    out = {}
    for c in {c for shares in above.values() for c in shares}:
        parts: dict[Fraction, Fraction] = defaultdict(Fraction)
        for key, most in sent.items():
            parts[above[key].get(c, Fraction(0))] += most
        out[c] = tuple(sorted(parts.items()))
    return out


def _common_denominator(blocks: tuple[TierBlock, ...], combinations: list[dict[int, Combination]]) -> int:
    """Parts of a grain in which all limits and fractions are whole, if there are not too many."""
    different = {id(m): m for m in combinations}.values()
    parts = {
        part.denominator for m in different for combination in set(m.values()) for part, _ in combination
    }
    waiting = list(blocks)
    limits = set()
    while waiting:
        block = waiting.pop()
        limits.add(block.limit.denominator)
        waiting += block.inside
    whole = lcm(*limits) * lcm(*parts) if len(parts) < 50 else FINE + 1
    return whole * max(FINE // whole, 1) if whole <= FINE else FINE
