"""Column generation: routes along paths that a linear program chooses among, with new ones where its prices
show that they help.

Lengths that grow where arcs are full give the first paths (Garg and Könemann, SIAM J. Comput. 37, 2007). Then
a program says how much goes along each, so that the fullest arc is as empty as can be, and what capacity on
every arc is worth; shortest paths under such prices are the next ones (Ford and Fulkerson, "A suggested
computation for maximal multi-commodity network flows", Management Science 5, 1958), under the best prices so
far mixed with the last (Wentges, "Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming",
Int. Trans. Oper. Res. 4, 1997). What floats say only proposes: lengths are whole numbers, and so are the
parts of a demand that go along its paths.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.linear import Floats, path_parts
from tdsl.prove.network import Network
from tdsl.system.lazy_dataclass import dataclass

TOWARDS = 0.3, 0.9
"""How far from the best prices to the last ones paths are sought, 1 being there."""

LONGEST = 1_000_000
"""The greatest length."""

FINE = 1, 2, 6, 12, 60
"""The greatest lengths that are tried in the end, with none below."""

WHOLE = (1, 2, 6, 12, 60, 420, 5040, 720_720, 10**9)
"""Parts of a demand that are tried."""

SAME = 1 + Fraction(1, 1_000_000)
"""How much better routes in smaller parts must be."""

FAR = 1 << 60


@dataclass(eq=False)
class Commodities:
    """Pairs of nodes with the amount that goes from one to the other, over a network in which every node that
    does not forward is divided into the node that arcs leave and the one that they enter; ``order`` says
    which arc of the original each is."""

    net: Network
    order: Ints
    who: Ints  # sources
    row: Ints  # of every pair the place of its source
    target: Ints
    amount: Ints

    @classmethod
    def of(cls, net: Network, demand: tuple[Ints, Ints, Ints]) -> Commodities:
        """A demand is source, target, amount."""
        divided, order = net.divided()
        who, row = np.unique(demand[0], return_inverse=True)
        target = np.where(net.forwards[demand[1]], demand[1], demand[1] + net.nodes)
        return cls(divided, order, who, row, target, demand[2])

    def distances(self, length: Ints) -> Ints:
        """From every source (columns) to every node (rows), FAR where there is no path (Bellman 1958)."""
        far = np.full((self.net.nodes, len(self.who)), FAR, dtype=np.int64)
        far[self.who, np.arange(len(self.who))] = 0
        fresh = np.zeros(self.net.nodes, dtype=np.bool_)
        fresh[self.who] = True
        while len(arcs := np.flatnonzero(fresh[self.net.tail])):
            heads, starts = np.unique(self.net.head[arcs], return_index=True)
            found = np.minimum.reduceat(far[self.net.tail[arcs]] + length[arcs][:, None], starts, axis=0)
            before = far[heads]
            fresh[:] = False
            fresh[heads] = (found < before).any(axis=1)
            far[heads] = np.minimum(found, before)
        return far

    def shown(self, length: Ints, far: Ints) -> Fraction | None:
        """The upper bound that lengths show; None if they say nothing."""
        spent = int((far[self.target, self.row].astype(object) * self.amount).sum())
        return Fraction(int((self.net.capacity.astype(object) * length).sum()), spent) if spent else None

    def walked(self, length: Ints, far: Ints) -> list[Ints]:
        """A shortest path of every pair, as its arcs. Lengths are at least 1."""
        start = self.net.start
        pair, at = np.arange(len(self.row)), self.target
        entries: list[tuple[Ints, Ints]] = []
        while len(pair):
            sizes = start[at + 1] - start[at]
            owner = np.repeat(np.arange(len(pair)), sizes)
            arc = np.arange(len(owner)) + np.repeat(start[at] - np.cumsum(sizes) + sizes, sizes)
            row = self.row[pair][owner]
            tight = far[self.net.tail[arc], row] + length[arc] == far[at[owner], row]
            first = np.unique(owner[tight], return_index=True)[1]
            arc = arc[tight][first]
            entries.append((pair, arc))
            on = self.net.tail[arc] != self.who[self.row[pair]]
            pair, at = pair[on], self.net.tail[arc][on]
        pairs, arcs = (np.concatenate(c) for c in zip(*entries, strict=True))
        order = np.lexsort((arcs, pairs))
        return np.split(arcs[order], np.searchsorted(pairs[order], np.arange(1, len(self.row))))


@dataclass(eq=False)
class Paths:
    """What was found: paths of pairs, each as its arcs; the part of each; the best prices and what they
    show."""

    asked: Commodities
    upper: Fraction
    lengths: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    pair: list[int] = field(default_factory=list)
    arcs: list[Ints] = field(default_factory=list)
    known: set[tuple[int, bytes]] = field(default_factory=set)
    price: Floats = field(default_factory=lambda: np.zeros(0))
    least: float = float("inf")  # what the best prices show, whether better than ``upper`` or not

    def show(self, length: Ints) -> tuple[Fraction | None, Ints]:
        """Take an upper bound if it is better; what is shown, and distances."""
        far = self.asked.distances(length)
        shown = self.asked.shown(length, far)
        if shown is not None and shown < self.upper:
            self.upper, self.lengths = shown, length
        return shown, far

    def add(self, price: Floats) -> tuple[list[Ints], int]:
        """Shortest paths under these prices, one a pair; how many are new."""
        length: Ints = 1 + np.rint(price / price.max() * LONGEST).astype(np.int64)
        shown, far = self.show(length)
        if shown is not None and float(shown) < self.least:
            self.least, self.price = float(shown), price / float(price @ self.asked.net.capacity)
        before = len(self.pair)
        walked = self.asked.walked(length, far)
        for pair, arcs in enumerate(walked):
            if (key := (pair, arcs.tobytes())) not in self.known:
                self.known.add(key)
                self.pair.append(pair)
                self.arcs.append(arcs)
        return walked, len(self.pair) - before

    def warm(self, rounds: int) -> None:
        """The first paths, by lengths that grow with how full arcs are on the average."""
        asked, net = self.asked, self.asked.net
        seen = np.zeros(net.arcs)
        price = np.ones(net.arcs)
        for turn in range(rounds):
            arcs, _ = self.add(price)
            use = (
                np.bincount(np.concatenate(arcs), np.repeat(asked.amount, [len(x) for x in arcs]), net.arcs)
                / net.capacity
            )
            seen = seen + (use - seen) / (turn + 1)
            price = np.exp((4.0 + 0.75 * turn) * (seen / seen.max() - 1)) / net.capacity

    def solved(self, corner: bool) -> tuple[Floats, float, Floats]:
        """The part of every path that leaves the fullest arc emptiest, how full it is, and the price of every
        arc."""
        net, pair, arcs = self.asked.net, np.array(self.pair), np.concatenate(self.arcs)
        sizes = np.array([len(x) for x in self.arcs])
        use = np.repeat(self.asked.amount[pair].astype(np.float64), sizes) / net.capacity[arcs]
        part, full, prices = path_parts(pair, arcs, sizes, use, net.arcs, corner)
        return part, full, prices / net.capacity

    def rounded(self, part: Floats, whole: int) -> Ints | None:
        """Parts of every path, as many for each pair; None if that leaves less than none of some."""
        pair = np.array(self.pair)
        total = np.bincount(pair, part)
        if not total.all():
            return None
        parts: Ints = np.rint(part / total[pair] * whole).astype(np.int64)
        order = np.lexsort((part, pair))
        most = order[np.append(pair[order][1:] != pair[order][:-1], True)]
        parts[most] += whole - np.bincount(pair, parts, len(total)).astype(np.int64)
        return parts if (parts >= 0).all() else None


@dataclass(frozen=True, slots=True)
class Along:
    """The routes in the end, as entries of source, arc and amount, in ``whole`` parts of the demand; how much
    fits, and by which lengths (none if empty) no more than ``upper``. Arcs as they were numbered."""

    source: Ints
    arc: Ints
    amount: Ints
    whole: int
    lower: Fraction
    lengths: Ints
    upper: Fraction


def route_along_paths(
    net: Network, demand: tuple[Ints, Ints, Ints], upper: Fraction, budget: Budget = DEFAULT
) -> Along | None:
    """Routes and a bound of at most ``upper``; every pair has a path. None where the program says nothing."""
    asked = Commodities.of(net, demand)
    found = Paths(asked, upper)
    found.warm(budget.path_program_first_rounds)
    part: Floats = np.zeros(0)
    full, corner = float("inf"), False
    rows = net.arcs + len(asked.row)
    easy = budget.path_program_easy_rows
    for _ in range(budget.path_program_rounds * easy**2 // max(rows, easy) ** 2):
        part, full, price = found.solved(corner)
        if not len(part) or not price.any() or full <= 0:
            return None
        entries, gap = sum(map(len, found.arcs)), full * float(found.upper) - 1
        exactly = gap < budget.path_program_corner_gap and entries <= budget.path_program_corner_entries
        if corner or entries > budget.path_program_entries or (gap < budget.path_program_gap and not exactly):
            break
        price = price / float(price @ asked.net.capacity)
        found.show(np.rint(price / price.max() * FINE[-2]).astype(np.int64))
        fresh = sum(found.add(x * price + (1 - x) * found.price)[1] for x in TOWARDS)
        corner = exactly
        if not fresh and not corner:
            break
    for fine in FINE:
        found.show(np.rint(found.price / found.price.max() * fine).astype(np.int64))
    return _best_rounded_routes(found, part)


def _best_rounded_routes(found: Paths, part: Floats) -> Along | None:
    """The routes of which most fits, among those of some denominators: the least of those that are about as
    good."""
    asked, net, count = found.asked, found.asked.net, len(part)
    found.pair, found.arcs = found.pair[:count], found.arcs[:count]
    pair, sizes = np.array(found.pair), [len(x) for x in found.arcs]
    keys, back = np.unique(
        np.repeat(asked.row[pair], sizes) * net.arcs + np.concatenate(found.arcs), return_inverse=True
    )
    row, arc = keys // net.arcs, keys % net.arcs
    best: Along | None = None
    for whole in WHOLE:
        parts = found.rounded(part, whole)
        if parts is None:
            continue
        amount, load = np.zeros(len(keys), dtype=object), np.zeros(net.arcs, dtype=object)
        np.add.at(amount, back, np.repeat(parts.astype(object) * asked.amount[pair], sizes))
        np.add.at(load, arc, amount)
        used = np.flatnonzero(load)
        fits = min(
            Fraction(r * whole, x)
            for r, x in zip(net.capacity[used].tolist(), load[used].tolist(), strict=True)
        )
        if best is None or fits > best.lower * SAME or (fits >= found.upper > best.lower):
            some = np.flatnonzero(amount)
            lengths = np.zeros(len(found.lengths), dtype=np.int64)
            if len(lengths):
                lengths[asked.order] = found.lengths
            best = Along(
                asked.who[row[some]], asked.order[arc[some]], amount[some], whole, fits, lengths, found.upper
            )
    return best
