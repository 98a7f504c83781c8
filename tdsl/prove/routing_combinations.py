"""Bounds on how much of a large demand flows at once: several routings of all of it, combined, and cuts that
anyone can see.

Routings are along the shortest paths of every source under small whole lengths that grow where it is full (as
in Garg and Könemann, SIAM J. Comput. 37, 2007), or from all to hubs and from hubs to all, evenly (Valiant, "A
scheme for fast parallel communication", SIAM J. Comput. 11, 1982). In which parts they are combined, a search
says in floats; the bound is computed from the whole numbers.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.network import Network
from tdsl.prove.shortest_path_routing import (
    NEVER,
    PARTS,
    PathLoads,
    amounts_fit_in_words,
    route_on_shortest_paths,
)
from tdsl.prove.trees import Trees
from tdsl.system.lazy_dataclass import dataclass

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

LONGEST = 6
"""The longest length."""

STEPS = 64
"""Parts in which a routing is combined in."""

FINE = 1_000_000
"""Parts of a combination in the end."""


@dataclass(frozen=True, slots=True)
class NodeDemands:
    """Amounts that nodes send to other nodes, pairwise; ``own`` is what is on arcs anyway, for λ = 1."""

    source: Ints
    target: Ints
    amount: Ints
    out: Ints
    into: Ints
    own: Ints | None = None

    @classmethod
    def of(cls, source: Ints, target: Ints, amount: Ints) -> NodeDemands:
        """With what every node sends and receives added up."""
        size = int(max(source.max(), target.max())) + 1
        sums = np.zeros((2, size), dtype=np.int64)
        np.add.at(sums[0], source, amount)
        np.add.at(sums[1], target, amount)
        return cls(source, target, amount, *sums)


@dataclass(frozen=True, slots=True)
class FullRouting:
    """One routing of everything: what is on every arc, in parts of which ``whole`` are one unit of demand,
    and by source. It was made of shortest paths under ``lengths``, in the order of the arcs, of ways over
    ``hubs``, nodes and the share of each, or along ``trees``."""

    load: Ints
    whole: int
    flow: tuple[Ints, Ints, Ints] | None
    lengths: Ints | None = None
    hubs: tuple[Ints, Ints] | None = None
    trees: Trees | None = None


@dataclass(eq=False)
class Combination:
    """Routings, and the part of each."""

    capacity: Ints
    columns: list[FullRouting] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.use: Floats = np.zeros(len(self.capacity))

    def add(self, column: FullRouting) -> None:
        """Mix a routing in, as far as that empties the fullest arc."""
        use = np.asarray(column.load / column.whole / self.capacity, dtype=np.float64)
        if not self.columns:
            self.columns, self.shares, self.use = [column], [1.0], use
            return
        part = (
            min(range(STEPS + 1), key=lambda k: (float((self.use + (use - self.use) * (k / STEPS)).max()), k))
            / STEPS
        )
        if part:
            self.shares = [x * (1 - part) for x in self.shares] + [part]
            self.columns.append(column)
            self.use = self.use + (use - self.use) * part

    def whole(self) -> list[int]:
        """The share of every routing in parts of FINE."""
        whole = [int(x * FINE) for x in self.shares]
        whole[whole.index(max(whole))] += FINE - sum(whole)
        return whole

    def _parts(self) -> tuple[list[int], int]:
        """Whole parts of every routing's load, and of how many."""
        whole = self.whole()
        common = lcm(*(c.whole for c in self.columns))
        return [x * (common // c.whole) for x, c in zip(whole, self.columns, strict=True)], common * FINE

    def loads(self, arcs: Ints) -> tuple[Ints, int]:
        """What is on some arcs, exactly, and in parts of what."""
        parts, whole = self._parts()
        load = np.zeros(len(arcs), dtype=object)
        for column, part in zip(self.columns, parts, strict=True):
            load += column.load[arcs].astype(object) * part
        return load, whole

    def fits(self) -> Fraction:
        """The factor by which all of it fits all arcs."""
        near = np.flatnonzero(self.use >= self.use.max() * (1 - 1e-4))
        load, whole = self.loads(near)
        return min(
            Fraction(int(r) * whole, int(x))
            for r, x in {*zip(self.capacity[near].tolist(), load.tolist(), strict=True)}
            if x
        )

    def flows(self) -> dict[int, dict[int, Fraction]] | None:
        """What every source puts on arcs; None where some routing does not say."""
        parts, whole = self._parts()
        out: dict[int, dict[int, Fraction]] = {}
        for column, share in zip(self.columns, parts, strict=True):
            if column.flow is None:
                return None
            for s, arc, x in zip(*(c.tolist() for c in column.flow), strict=True):
                mine = out.setdefault(s, {})
                mine[arc] = mine.get(arc, Fraction(0)) + Fraction(x * share, whole)
        return out


def combine_routings(
    net: Network, wanted: NodeDemands, enough: Fraction, quotient: bool = False, budget: Budget = DEFAULT
) -> tuple[Combination, Fraction, Ints]:
    """Routings, and the best upper bound that their lengths show, with these (empty if none is below
    ``enough``). In a ``quotient`` network the first routing has a budget of its own, however many arcs there
    are."""
    capacity = net.capacity
    best, found, lengths = enough, Combination(capacity), np.zeros(0, dtype=np.int64)
    if len(capacity) > budget.combination_arcs and not quotient:
        return found, best, lengths
    seen: Floats = np.zeros(len(capacity))
    work = 0
    routed = len(wanted.source) and amounts_fit_in_words(wanted.amount, net.capacity)
    for turn in range(budget.combination_rounds if routed else 0):
        length = _lengths_by_fullness(seen, turn)
        left = budget.combination_work - work
        if quotient and not turn:
            left = max(left, budget.first_routing_work)
        sent = route_on_shortest_paths(
            net, length, wanted.source, wanted.target, wanted.amount, left, budget.flow_entries
        )
        if sent is None:
            break
        work += sent.work
        column = _routing_from_loads(sent, wanted, length)
        shown = Fraction(
            int((capacity * length).sum()), sent.spent
        )  # what is on arcs anyway only adds to the distances
        if shown < best:
            best, lengths = shown, length
        seen = seen + (column.load / column.whole / capacity - seen) * (2 / (turn + 2))
        found.add(column)
        if _bounds_are_near(found, best, budget.combination_gap):
            break
    _add_hubs_unless_near(found, best, net, wanted, budget)
    return found, best, lengths


def _add_hubs_unless_near(
    found: Combination, upper: Fraction, net: Network, wanted: NodeDemands, budget: Budget
) -> None:
    """Add the routing over hubs, if there is one, unless the bounds are near already."""
    if (
        not (found.columns and _bounds_are_near(found, upper, budget.hub_gap))
        and (hub := route_over_hubs(net, wanted, budget)) is not None
    ):
        found.add(hub)


def _bounds_are_near(found: Combination, upper: Fraction, gap: float) -> bool:
    return float(found.use.max()) * float(upper) <= 1 + gap


def _routing_from_loads(sent: PathLoads, wanted: NodeDemands, length: Ints) -> FullRouting:
    own = 0 if wanted.own is None else wanted.own
    return FullRouting(sent.load + own, PARTS, sent.flow if wanted.own is None else None, lengths=length)


def _lengths_by_fullness(seen: Floats, turn: int) -> Ints:
    """All equal; then the fuller the longer, ever more steeply."""
    if not turn:
        return np.ones(len(seen), dtype=np.int64)
    price = np.exp((3.0 + 2.0 * turn) * (seen / seen.max() - 1))
    length: Ints = 1 + np.rint((LONGEST - 1) * price).astype(np.int64)
    return length


# ---------------------------------------------------------------- hubs


def route_over_hubs(net: Network, wanted: NodeDemands, budget: Budget = DEFAULT) -> FullRouting | None:
    """Everybody to every hub and every hub to everybody, as hubs have capacity: what no end is nearer to than
    others, in the components that all reach. None if there is none."""
    ends = np.flatnonzero((wanted.out > 0) | (wanted.into > 0))
    tops = _choose_hubs(net, ends, budget)
    amounts = wanted.into, wanted.out
    least = gcd(*(int(x) for side in amounts for x in np.unique(side).tolist())) or 1
    if not len(tops):
        return None
    weight = np.zeros(net.nodes, dtype=np.int64)
    np.add.at(weight, net.head, net.capacity)
    share = weight[tops] // (gcd(*np.unique(weight[tops]).tolist()) or 1)
    load = np.zeros(len(net.tail), dtype=np.int64)
    ones = np.ones(len(load), dtype=np.int64)
    turned = net.turned()
    for way, order, side in zip((net, turned), (np.arange(net.arcs), net.by_tail), amounts, strict=True):
        to = np.flatnonzero(side)
        amount = np.outer(share, side[to] // least).reshape(-1)
        if not amounts_fit_in_words(amount, net.capacity):
            return None
        found = route_on_shortest_paths(
            way, ones, np.repeat(tops, len(to)), np.tile(to, len(tops)), amount, 2 * budget.hub_work
        )
        if found is None:
            return None
        load[order] += found.load
        if np.array_equal(wanted.into, wanted.out) and net.same_arcs(turned):
            load[net.by_tail] += load.copy()
            break
    common = gcd(least, PARTS * int(share.sum()))
    return FullRouting(load * (least // common), PARTS * int(share.sum()) // common, None, hubs=(tops, share))


def _choose_hubs(net: Network, ends: Ints, budget: Budget) -> Ints:
    """Hubs: of every component that all ends reach what forwards and is farthest from them, at even distances
    in its order."""
    n, tail, head, forwards = net.nodes, net.tail, net.head, net.forwards
    inner = forwards[tail] & forwards[head]
    label = component_labels(n, tail[inner], head[inner])
    up, down = ~forwards[tail] & forwards[head], forwards[tail] & ~forwards[head]
    own = ends[forwards[ends]]
    joined = np.unique(
        np.concatenate(
            (label[head[up]] * n + tail[up], label[tail[down]] * n + head[down], label[own] * n + own)
        )
    )
    reached = np.bincount(joined[np.isin(joined % n, ends)] // n, minlength=n)
    level = np.full(n, NEVER)
    level[ends] = 0
    depth = 0
    while len(front := np.unique(head[(level[tail] == depth) & (level[head] == NEVER)])):
        depth += 1
        level[front] = depth
    most = max(1, min(budget.hub_nodes, budget.hub_work // max(len(tail), 1)))
    tops = []
    for group in np.flatnonzero(reached == len(ends)).tolist():
        members = np.flatnonzero(forwards & (label == group))
        members = members[level[members] == level[members].max()]
        tops.append(members[np.unique(np.linspace(0, len(members) - 1, most).astype(np.int64))])
    return np.concatenate(tops) if tops else np.zeros(0, dtype=np.int64)
