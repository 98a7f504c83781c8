"""Routes along paths that a linear program chooses among, with new ones where its prices show that they help.

Lengths that grow where arcs are full give the first paths (Garg and Könemann, SIAM J. Comput. 37, 2007). Then a program says how
much goes along each, so that the fullest arc is as empty as can be, and what room on every arc is worth; shortest paths under
such prices are the next ones (Ford and Fulkerson, "A suggested computation for maximal multi-commodity network flows",
Management Science 5, 1958), under the best prices so far mixed with the last (Wentges, "Weighted Dantzig-Wolfe decomposition for
linear mixed-integer programming", Int. Trans. Oper. Res. 4, 1997). What floats say only proposes: lengths are whole numbers, and
so are the parts of a demand that go along its paths.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tdsl.fabric.graph import Bools, Ints

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

ROWS = 6_000
"""Arcs and pairs up to which the program is solved."""

ENTRIES = 200_000
"""Arcs of all paths together up to which more are sought."""

WARM = 16
"""Rounds of growing lengths."""

ROUNDS = 12
"""Programs at most; fewer where there are more rows than EASY."""

EASY = 4_000
"""Rows of a program that takes about a second."""

TOWARDS = 0.3, 0.9
"""How far from the best prices to the last ones paths are sought, 1 being there."""

CLOSE = 1.02
"""Upper over lower bound at which the search ends."""

MEET = 1.0005
"""The same from which the program is solved to a corner, where bounds may meet."""

CORNER = 20_000
"""Arcs of all paths up to which it is."""

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
class Pairs:
    """Arcs, ordered by where they lead, and pairs of nodes with the amount that goes from one to the other. A node that does not
    pass stands twice: where arcs leave it, and after all others where they enter it."""

    nodes: int
    tail: Ints
    head: Ints
    room: Ints
    place: Ints  # of every arc its number where it came from
    who: Ints  # sources
    row: Ints  # of every pair the place of its source
    target: Ints
    amount: Ints

    @classmethod
    def of(cls, passes: Bools, arcs: tuple[Ints, Ints, Ints], demand: tuple[Ints, Ints, Ints]) -> Pairs:
        """Arcs are tail, head, room; a demand source, target, amount."""
        size = len(passes)
        head = np.where(passes[arcs[1]], arcs[1], arcs[1] + size)
        order = np.lexsort((arcs[0], head))
        who, row = np.unique(demand[0], return_inverse=True)
        target = np.where(passes[demand[1]], demand[1], demand[1] + size)
        return cls(2 * size, arcs[0][order], head[order], arcs[2][order], order, who, row, target, demand[2])

    def distances(self, length: Ints) -> Ints:
        """From every source (columns) to every node (rows), FAR where there is no path (Bellman 1958)."""
        far = np.full((self.nodes, len(self.who)), FAR, dtype=np.int64)
        far[self.who, np.arange(len(self.who))] = 0
        fresh = np.zeros(self.nodes, dtype=np.bool_)
        fresh[self.who] = True
        while len(arcs := np.flatnonzero(fresh[self.tail])):
            heads, starts = np.unique(self.head[arcs], return_index=True)
            found = np.minimum.reduceat(far[self.tail[arcs]] + length[arcs][:, None], starts, axis=0)
            before = far[heads]
            fresh[:] = False
            fresh[heads] = (found < before).any(axis=1)
            far[heads] = np.minimum(found, before)
        return far

    def shown(self, length: Ints, far: Ints) -> Fraction | None:
        """The upper bound that lengths show; None if they say nothing."""
        spent = int((far[self.target, self.row].astype(object) * self.amount).sum())
        return Fraction(int((self.room.astype(object) * length).sum()), spent) if spent else None

    def walked(self, length: Ints, far: Ints) -> list[Ints]:
        """A shortest path of every pair, as its arcs. Lengths are at least 1."""
        start = np.searchsorted(self.head, np.arange(self.nodes + 1))
        pair, at = np.arange(len(self.row)), self.target
        entries: list[tuple[Ints, Ints]] = []
        while len(pair):
            sizes = start[at + 1] - start[at]
            owner = np.repeat(np.arange(len(pair)), sizes)
            arc = np.arange(len(owner)) + np.repeat(start[at] - np.cumsum(sizes) + sizes, sizes)
            row = self.row[pair][owner]
            tight = far[self.tail[arc], row] + length[arc] == far[at[owner], row]
            first = np.unique(owner[tight], return_index=True)[1]
            arc = arc[tight][first]
            entries.append((pair, arc))
            on = self.tail[arc] != self.who[self.row[pair]]
            pair, at = pair[on], self.tail[arc][on]
        pairs, arcs = (np.concatenate(c) for c in zip(*entries, strict=True))
        order = np.lexsort((arcs, pairs))
        return np.split(arcs[order], np.searchsorted(pairs[order], np.arange(1, len(self.row))))


@dataclass(eq=False)
class Paths:
    """What was found: paths of pairs, each as its arcs; the part of each; the best prices and what they show."""

    net: Pairs
    upper: Fraction
    lengths: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    pair: list[int] = field(default_factory=list)
    arcs: list[Ints] = field(default_factory=list)
    known: set[tuple[int, bytes]] = field(default_factory=set)
    price: Floats = field(default_factory=lambda: np.zeros(0))
    least: float = float("inf")  # what the best prices show, whether better than ``upper`` or not

    def show(self, length: Ints) -> tuple[Fraction | None, Ints]:
        """Take an upper bound if it is better; what is shown, and distances."""
        far = self.net.distances(length)
        shown = self.net.shown(length, far)
        if shown is not None and shown < self.upper:
            self.upper, self.lengths = shown, length
        return shown, far

    def add(self, price: Floats) -> tuple[list[Ints], int]:
        """Shortest paths under these prices, one a pair; how many are new."""
        length: Ints = 1 + np.rint(price / price.max() * LONGEST).astype(np.int64)
        shown, far = self.show(length)
        if shown is not None and float(shown) < self.least:
            self.least, self.price = float(shown), price / float(price @ self.net.room)
        before = len(self.pair)
        walked = self.net.walked(length, far)
        for pair, arcs in enumerate(walked):
            if (key := (pair, arcs.tobytes())) not in self.known:
                self.known.add(key)
                self.pair.append(pair)
                self.arcs.append(arcs)
        return walked, len(self.pair) - before

    def warm(self) -> None:
        """The first paths, by lengths that grow with how full arcs are on the average."""
        net = self.net
        seen = np.zeros(len(net.tail))
        price = np.ones(len(net.tail))
        for turn in range(WARM):
            arcs, _ = self.add(price)
            use = np.bincount(np.concatenate(arcs), np.repeat(net.amount, [len(x) for x in arcs]), len(net.tail)) / net.room
            seen = seen + (use - seen) / (turn + 1)
            price = np.exp((4.0 + 0.75 * turn) * (seen / seen.max() - 1)) / net.room

    def solved(self, corner: bool) -> tuple[Floats, float, Floats]:
        """The part of every path that leaves the fullest arc emptiest, how full it is, and the price of every arc, by HiGHS."""
        import highspy

        net, pair, arcs = self.net, np.array(self.pair), np.concatenate(self.arcs)
        sizes = np.array([len(x) for x in self.arcs])
        count, rows, pairs = len(pair), len(net.tail), len(net.row)
        use = np.repeat(net.amount[pair].astype(np.float64), sizes) / net.room[arcs]
        scale = float(use.max())
        ends = np.cumsum(sizes)
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = count + 1, rows + pairs
        lp.col_cost_ = np.append(np.zeros(count), 1.0)
        lp.col_lower_, lp.col_upper_ = np.zeros(count + 1), np.full(count + 1, highspy.kHighsInf)
        lp.row_lower_ = np.append(np.full(rows, -highspy.kHighsInf), np.ones(pairs))
        lp.row_upper_ = np.append(np.zeros(rows), np.ones(pairs))
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.concatenate(([0], ends + np.arange(1, count + 1), [ends[-1] + count + rows]))
        lp.a_matrix_.index_ = np.append(np.insert(arcs, ends, rows + pair), np.arange(rows))
        lp.a_matrix_.value_ = np.append(np.insert(use / scale, ends, 1.0), np.full(rows, -1.0))
        solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        settings = {"output_flag": False, "threads": 1, "solver": "ipm", "run_crossover": "on" if corner else "off"}
        for option, setting in {**settings, "random_seed": 0, "ipm_optimality_tolerance": 1e-8 if corner else 1e-4}.items():
            solver.setOptionValue(option, setting)
        solver.passModel(lp)
        solver.run()
        solution = solver.getSolution()
        prices = np.maximum(-np.array(solution.row_dual[:rows]), 0) / net.room
        return np.maximum(np.array(solution.col_value[:count]), 0), float(solution.col_value[count]) * scale, prices

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
    """The routes in the end, as entries of source, arc and amount, in ``whole`` parts of the demand; how much fits, and by which
    lengths (none if empty) no more than ``upper``. Arcs as they were numbered."""

    source: Ints
    arc: Ints
    amount: Ints
    whole: int
    lower: Fraction
    lengths: Ints
    upper: Fraction


def along(passes: Bools, arcs: tuple[Ints, Ints, Ints], demand: tuple[Ints, Ints, Ints], upper: Fraction) -> Along | None:
    """Routes and a bound of at most ``upper``; every pair has a path. None where the program says nothing."""
    net = Pairs.of(passes, arcs, demand)
    found = Paths(net, upper)
    found.warm()
    part: Floats = np.zeros(0)
    full, corner = float("inf"), False
    rows = len(net.tail) + len(net.row)
    for _ in range(ROUNDS * EASY**2 // max(rows, EASY) ** 2):
        part, full, price = found.solved(corner)
        if not len(part) or not price.any() or full <= 0:
            return None
        entries, gap = sum(map(len, found.arcs)), full * float(found.upper)
        exactly = gap < MEET and entries <= CORNER
        if corner or entries > ENTRIES or (gap < CLOSE and not exactly):
            break
        price = price / float(price @ net.room)
        found.show(np.rint(price / price.max() * FINE[-2]).astype(np.int64))
        fresh = sum(found.add(x * price + (1 - x) * found.price)[1] for x in TOWARDS)
        corner = exactly
        if not fresh and not corner:
            break
    for fine in FINE:
        found.show(np.rint(found.price / found.price.max() * fine).astype(np.int64))
    return _best(found, part)


def _best(found: Paths, part: Floats) -> Along | None:
    """The routes of which most fits, among those of some denominators: the least of those that are about as good."""
    net, count = found.net, len(part)
    found.pair, found.arcs = found.pair[:count], found.arcs[:count]
    pair, sizes = np.array(found.pair), [len(x) for x in found.arcs]
    keys, back = np.unique(np.repeat(net.row[pair], sizes) * len(net.tail) + np.concatenate(found.arcs), return_inverse=True)
    row, arc = keys // len(net.tail), keys % len(net.tail)
    best: Along | None = None
    for whole in WHOLE:
        parts = found.rounded(part, whole)
        if parts is None:
            continue
        amount, load = np.zeros(len(keys), dtype=object), np.zeros(len(net.tail), dtype=object)
        np.add.at(amount, back, np.repeat(parts.astype(object) * net.amount[pair], sizes))
        np.add.at(load, arc, amount)
        used = np.flatnonzero(load)
        fits = min(Fraction(r * whole, x) for r, x in zip(net.room[used].tolist(), load[used].tolist(), strict=True))
        if best is None or fits > best.lower * SAME or (fits >= found.upper > best.lower):
            some = np.flatnonzero(amount)
            lengths = np.zeros(len(found.lengths), dtype=np.int64)
            if len(lengths):
                lengths[net.place] = found.lengths
            best = Along(net.who[row[some]], net.place[arc[some]], amount[some], whole, fits, lengths, found.upper)
    return best
