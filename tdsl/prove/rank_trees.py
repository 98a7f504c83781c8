"""All-gathers and all-reduces along trees of single ranks, over links of both layers at once.

Every part of the data goes along one of several spanning trees: for an all-reduce in to a root and out from
it, for an all-gather from every rank. Trees are found one by one: under prices of links the cheapest spanning
tree of the ranks, whose links are paths through switches (Mehlhorn, "A faster approximation algorithm for the
Steiner problem in graphs", Inf. Process. Lett. 27, 1988: of terminals alone it is exact); then a linear
program divides the data among all trees so far, and its prices are those of the next one (column generation:
Dantzig and Wolfe 1960). Floats only propose: parts become whole numbers, and the time is what the fullest
link takes, added up from the paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import inf

import numpy as np

from tdsl.prove.collective_ranks import Ranks, inner_delay_of_view
from tdsl.prove.collective_times import (
    FILL,
    Schedule,
    all_reduce_schedules,
    gathering_schedules,
    scattering_schedules,
)
from tdsl.prove.delays import SECOND
from tdsl.prove.linear import Floats, least_fullest
from tdsl.prove.rank_network import NONE, RankNetwork, rank_network
from tdsl.system.lazy_dataclass import dataclass

NAME = "trees of single ranks"
Way = tuple[tuple[int, bool], ...]
"""Links one after the other, each with whether it is passed from its end ``a`` to its end ``b``."""


@dataclass(frozen=True, slots=True)
class TreeLink:
    """A link of a tree from one rank to another by its way; ``behind`` is how many ranks are on the side of
    ``one``. Those that join ``equal`` ranks are as ``many``: from each to the next, where both ends are of
    one node; else from all but the first to the first of ``other``."""

    one: int
    other: int
    way: Way
    behind: int
    many: int = 1
    equal: bool = False


@dataclass(frozen=True, slots=True)
class RankTree:
    """A spanning tree of the ranks: its links, and how many of them the longest path has."""

    links: tuple[TreeLink, ...]
    longest: int


@dataclass(frozen=True, slots=True)
class TreeMixture:
    """Trees, the ``parts`` of the data that go along each, and the seconds a bit that the fullest link
    takes."""

    trees: tuple[RankTree, ...]
    parts: tuple[int, ...]
    per_bit: Fraction

    @property
    def longest(self) -> int:
        """The links of the longest path of a tree."""
        return max(t.longest for t in self.trees)


@dataclass(frozen=True, slots=True)
class TreePlan:
    """What a schedule sends along trees: of an all-reduce (``sums``) in to a root and out; else from each
    rank to all, or, ``turned``, the other way in time. A chunk takes so many ``steps``."""

    net: RankNetwork
    mixture: TreeMixture
    sums: bool
    turned: bool
    steps: int


# ---------------------------------------------------------------- one tree


def cheapest_tree(net: RankNetwork, price: Sequence[float], turn: int, slack: float) -> RankTree | None:
    """The spanning tree of the ranks that costs least, where each link has its ``price`` in both directions
    together; None where some do not reach each other. At a door it is another rank in each ``turn`` that
    leaves first. Ranks below one switch are joined one after the other where that costs no more than one
    of them joined to all does, or more by this ``slack``: then none sends to many."""
    far, label, before = _nearest_ranks(net, price, turn)
    group = list(range(net.count))
    found: list[tuple[int, int, Way]] = []
    latest: dict[int, _Contact] = {}
    for contact in _contacts_of_ranks(net, price, far, label):
        if len(found) == net.count - 1:
            break
        one, other = contact.rank, label[contact.node]
        if _first_of_group(group, one) == _first_of_group(group, other):
            continue
        group[_first_of_group(group, one)] = _first_of_group(group, other)
        before_it = latest.get(contact.node)
        onward = (*_way_from_node(net, before, contact), *_way_to_rank(net, before, contact.node))
        if before_it is not None and before_it.cost <= far[contact.node] * (1 + slack):
            other = before_it.rank
            onward = (
                *_way_from_node(net, before, contact),
                *_turned_way(_way_from_node(net, before, before_it)),
            )
        latest[contact.node] = contact
        found.append((one, other, onward))
    if len(found) < net.count - 1:
        return None
    nearest = _Nearest(far, label, before)
    equal = [_link_of_equal_ranks(net, price, nearest, r, slack) for r, n in enumerate(net.size) if n > 1]
    return _tree_of_links(net, found, equal)


@dataclass(frozen=True, slots=True)
class _Nearest:
    """Of every node how far the nearest rank is, which it is, and the node and the link before it."""

    far: Sequence[float]
    label: Sequence[int]
    before: Sequence[tuple[int, int]]


def _link_of_equal_ranks(
    net: RankNetwork, price: Sequence[float], nearest: _Nearest, rank: int, slack: float
) -> TreeLink:
    """How all but the first of some equal ranks are joined: one to the next, or each to a nearer one."""
    far, label = nearest.far, nearest.label
    _, k, w = min((price[k] + min(price[k], far[w]), k, w) for w, k in net.near[rank])
    ahead, times = net.b[k] == w, net.size[rank] - 1
    if label[w] == rank or 2 * price[k] <= (price[k] + far[w]) * (1 + slack):
        return TreeLink(rank, rank, ((k, ahead), (k, not ahead)), 1, times, True)
    return TreeLink(rank, label[w], ((k, ahead), *_way_to_rank(net, nearest.before, w)), 1, times, True)


@dataclass(frozen=True, slots=True)
class _Contact:
    """A rank that reaches a node of another rank's surroundings at this ``cost``, at last by link ``link``
    from the node ``past`` in its own surroundings, or from its door."""

    total: float
    link: int
    rank: int
    node: int
    past: int
    cost: float


def _contacts_of_ranks(
    net: RankNetwork, price: Sequence[float], far: Sequence[float], label: Sequence[int]
) -> list[_Contact]:
    """Where the surroundings of two ranks are adjacent, those first between which a way costs least."""
    out: list[_Contact] = []
    for k, (a, b) in enumerate(zip(net.a, net.b, strict=True)):
        if label[a] >= 0 and label[b] >= 0 and label[a] != label[b]:
            past, node = (a, b) if far[a] <= far[b] else (b, a)
            cost = far[past] + price[k]
            out.append(_Contact(cost + far[node], k, label[past], node, past, cost))
    for door, mine in net.doors.items():
        for r in mine:
            out += [
                _Contact(price[k] + far[w], k, r, w, -1, price[k])
                for w, k in net.near[door]
                if label[door] != r != label[w] and label[w] >= 0
            ]
    return sorted(out, key=lambda m: (m.total, m.link, m.rank))


def _first_of_group(group: list[int], rank: int) -> int:
    """The rank that represents all that are joined to one."""
    while group[rank] != rank:
        group[rank] = group[group[rank]]
        rank = group[rank]
    return rank


def _way_from_node(net: RankNetwork, before: Sequence[tuple[int, int]], contact: _Contact) -> Way:
    """The links from a rank into another's surroundings."""
    first = () if contact.past < 0 else _turned_way(_way_to_rank(net, before, contact.past))
    return (*first, (contact.link, net.b[contact.link] == contact.node))


def _turned_way(way: Way) -> Way:
    """A way the other way round."""
    return tuple((k, not ahead) for k, ahead in reversed(way))


def _nearest_ranks(
    net: RankNetwork, price: Sequence[float], turn: int
) -> tuple[list[float], list[int], list[tuple[int, int]]]:
    """Of every node how far the nearest rank is, which it is (-1 for none), and the node and the link before
    it on the way from there."""
    far, label = [inf] * net.nodes, [-1] * net.nodes
    before = [(-1, NONE)] * net.nodes
    for r in range(net.count):
        far[r], label[r] = 0.0, r
    for door, mine in net.doors.items():
        r = mine[turn % len(mine)]
        far[door], label[door], before[door] = 0.0, r, (r, NONE)
    heap = [(0.0, v) for v in range(net.nodes) if label[v] >= 0]
    heapify(heap)
    while heap:
        d, v = heappop(heap)
        if d > far[v]:
            continue
        for w, k in net.near[v]:
            reached = d + price[k]
            if reached < far[w]:
                far[w], label[w], before[w] = reached, label[v], (v, k)
                heappush(heap, (reached, w))
    return far, label, before


def _way_to_rank(net: RankNetwork, before: Sequence[tuple[int, int]], node: int) -> Way:
    """The links from a node to its nearest rank."""
    out: list[tuple[int, bool]] = []
    while before[node][0] >= 0:
        at, k = before[node]
        if k != NONE:
            out.append((k, net.a[k] == node))
        node = at
    return tuple(out)


def _tree_of_links(
    net: RankNetwork, found: Sequence[tuple[int, int, Way]], equal: Sequence[TreeLink]
) -> RankTree:
    """A tree with the number of ranks on either side of each link, and its longest path, at most: it passes
    all of those that are one node."""
    near: list[list[tuple[int, int]]] = [[] for _ in range(net.count)]
    for i, (one, other, _) in enumerate(found):
        near[one].append((other, i))
        near[other].append((one, i))
    order, above = [0], {0: (-1, -1)}
    for v in order:
        for w, i in near[v]:
            if w not in above:
                above[w] = v, i
                order.append(w)
    size, longest = [*net.size], max(net.size) - 1
    for link in equal:  # those that are joined to another rank are on its side of every other link
        size[link.one] -= link.many
        size[link.other] += link.many
    deep = [n - 1 for n in net.size]
    behind = [0] * len(found)
    for v in reversed(order[1:]):
        up, i = above[v]
        behind[i] = size[v] if found[i][0] == v else net.ranks - size[v]
        size[up] += size[v]
        longest = max(longest, deep[up] + deep[v] + 1)
        deep[up] = max(deep[up], deep[v] + net.size[up])
    links = [TreeLink(one, other, way, behind[i]) for i, (one, other, way) in enumerate(found)]
    return RankTree((*links, *equal), longest + 2 * bool(equal))


# ---------------------------------------------------------------- mixtures


def loads_of_tree(tree: RankTree, count: int, sums: bool) -> dict[int, int]:
    """What a tree puts on every link, the direction from ``a`` to ``b`` of link k as 2k and the other as
    2k + 1: with ``sums`` each part of the data goes in and out; else each rank's goes from it to all, in
    parts of which each rank holds one."""
    load: dict[int, int] = {}
    for link in tree.links:
        onward, back = (1, 1) if sums else (link.behind, count - link.behind)
        onward, back = onward * link.many, back * link.many
        for k, ahead in link.way:
            for way, amount in ((ahead, onward), (not ahead, back)):
                arc = 2 * k if way else 2 * k + 1
                load[arc] = load.get(arc, 0) + amount
    return load


def mixed_trees(ranks: Ranks, net: RankNetwork, sums: bool) -> TreeMixture | None:
    """Trees among which the data is divided so that the fullest link takes as little as is found; None where
    some rank is not reached."""
    budget = ranks.view.budget
    rounds = min(budget.tree_mixture_rounds, budget.tree_mixture_work // (len(net.rate) + net.count))
    if rounds < budget.tree_mixture_least:
        return None
    found = _Mixture(net, sums)
    price: Floats = 1 / found.rate
    smooth = price / price.sum()
    stale = 0
    for turn in range(rounds):
        exact = turn % 3 == 2
        asked, slack = (price, 0.0) if exact else (smooth, budget.tree_mixture_slack)
        tree = cheapest_tree(net, (asked + 1e-7 / found.rate).tolist(), turn, slack)
        if tree is None:
            return None
        stale = 0 if found.add(tree) else stale + 1
        done = stale == budget.tree_mixture_stale or (stale and exact and sums)
        if len(found.share) and (done or found.level >= budget.tree_mixture_level):
            break
        first = turn < rounds // 2 and stale < budget.tree_mixture_stale and not len(found.share)
        price = found.prices_of_total() if first else found.divide(budget.tree_mixture_gain)
        smooth = (smooth + price / price.sum()) / 2
    return found.exact(budget.tree_mixture_parts)


class _Mixture:
    """Trees so far, how full each makes every link and direction if it carries all, and the ``share`` of
    each, with which the fullest is so ``full``; ``level`` is for how many divisions that is no better."""

    def __init__(self, net: RankNetwork, sums: bool) -> None:
        self.net, self.sums = net, sums
        self.rate: Floats = np.array(net.rate, dtype=np.float64) / max(net.rate)
        self.whole = 1 if sums else net.ranks
        self.trees: list[RankTree] = []
        self.use: Floats = np.zeros((2 * len(net.rate), 0))
        self.share: Floats = np.zeros(0)
        self.full, self.level = inf, 0

    def add(self, tree: RankTree) -> bool:
        """One more tree; False where its like is there."""
        column = np.zeros(2 * len(self.net.rate))
        for arc, amount in loads_of_tree(tree, self.net.ranks, self.sums).items():
            column[arc] = amount
        column /= np.repeat(self.rate, 2) * self.whole
        if (self.use == column[:, None]).all(axis=0).any():
            return False
        self.trees.append(tree)
        self.use = np.column_stack((self.use, column))
        return True

    def prices_of_total(self) -> Floats:
        """Prices of links that grow with what all trees together put on them."""
        total = self.use.sum(axis=1).reshape(-1, 2).max(axis=1)
        out: Floats = np.exp(3 * total / total.max()) / self.rate
        return out

    def divide(self, gain: float) -> Floats:
        """Divide the data among the trees; the price of every link in both directions. A division is better
        if it is so by this part."""
        used = np.flatnonzero(self.use.any(axis=1))
        if self.sums:  # both directions have the same
            used = used[used % 2 == 0]
        self.share, dual = least_fullest(self.use[used])
        full = float((self.use[used] @ self.share).max())
        self.level = self.level + 1 if full > self.full * (1 - gain) else 0
        self.full = full
        price = np.zeros(len(self.use))
        price[used] = dual
        out: Floats = price.reshape(-1, 2).sum(axis=1) / self.rate
        return out

    def exact(self, whole: int) -> TreeMixture:
        """Shares as whole numbers of parts, and what the fullest link takes then."""
        net = self.net
        ends = np.rint(np.cumsum(self.share) / self.share.sum() * whole).astype(np.int64)
        parts = np.diff(ends, prepend=0).tolist()
        chosen = [(tree, n) for tree, n in zip(self.trees, parts, strict=False) if n]
        assert all(_is_replayed(net, tree) for tree, _ in chosen)
        load: dict[int, int] = {}
        for tree, n in chosen:
            for arc, amount in loads_of_tree(tree, net.ranks, self.sums).items():
                load[arc] = load.get(arc, 0) + amount * n
        full = max(Fraction(amount, whole * self.whole * net.rate[arc // 2]) for arc, amount in load.items())
        return TreeMixture(tuple(t for t, _ in chosen), tuple(n for _, n in chosen), full)


def _is_replayed(net: RankNetwork, tree: RankTree) -> bool:
    """Whether each link's way leads from its one rank to its other, and by all of them together every rank
    gets what each other rank holds."""
    at = [{r} for r in range(net.count)]
    for door, mine in net.doors.items():
        for r in mine:
            at[r].add(door)
    got = [0] * net.count
    for link in tree.links:
        passed = [(net.a[k], net.b[k]) if ahead else (net.b[k], net.a[k]) for k, ahead in link.way]
        ends = passed[0][0] in at[link.one] and passed[-1][1] in at[link.other]
        if not ends or any(x[1] != y[0] for x, y in pairwise(passed)):
            return False
        got[link.other] += link.behind * link.many
        got[link.one] += (net.ranks - link.behind) * link.many
    return got == [n * (net.ranks - 1) for n in net.size]


# ---------------------------------------------------------------- schedules


def rank_tree_schedules(ranks: Ranks, sums: bool, turned: bool = False) -> Iterator[Schedule]:
    """The schedule along trees of single ranks, of an all-reduce if ``sums``, else of an all-gather or, if
    ``turned``, of a reduce-scatter, which is one the other way in time."""
    net = rank_network(ranks)
    if net is None or net.ranks < 2 or not net.rate:
        return
    found = mixed_trees(ranks, net, sums)
    if found is None:
        return
    steps = 2 * ((found.longest + 1) // 2) if sums else found.longest
    waiting = steps * _delay_of_step(ranks)
    filled = found.per_bit * (1 + Fraction(1, FILL))
    plan = TreePlan(net, found, sums, turned, steps)
    yield Schedule(NAME, filled, waiting, True, FILL * max(steps - 1, 1), steps, None, trees=plan)


def _delay_of_step(ranks: Ranks) -> Fraction:
    """What a message takes at most on its way from rank to rank: over the network, or over scale-up links,
    through switches inside of both hosts."""
    over_network = ranks.delays.any_path + ranks.delays.to_neighbour_and_back(ranks.shared_ends)
    return max(Fraction(over_network, SECOND), 2 * inner_delay_of_view(ranks.view).seconds)


def gathering_trees(ranks: Ranks) -> Iterator[Schedule]:
    """Trees of an all-gather."""
    yield from rank_tree_schedules(ranks, False)


def scattering_trees(ranks: Ranks) -> Iterator[Schedule]:
    """Trees of a reduce-scatter."""
    yield from rank_tree_schedules(ranks, False, turned=True)


def trees_of_sums(ranks: Ranks) -> Iterator[Schedule]:
    """Trees of an all-reduce."""
    yield from rank_tree_schedules(ranks, True)


def all_gather_schedules(ranks: Ranks) -> Iterator[Schedule]:
    """Schedules of an all-gather by stages of messages, and along trees of single ranks."""
    yield from gathering_schedules(ranks)
    yield from gathering_trees(ranks)


def reduce_scatter_schedules(ranks: Ranks) -> Iterator[Schedule]:
    """The same of a reduce-scatter."""
    yield from scattering_schedules(ranks)
    yield from scattering_trees(ranks)


def schedules_of_sums(ranks: Ranks) -> Iterator[Schedule]:
    """The same of an all-reduce."""
    yield from all_reduce_schedules(ranks)
    yield from trees_of_sums(ranks)
