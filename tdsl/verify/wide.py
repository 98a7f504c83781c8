"""Bounds on how much of a large demand flows at once: several routings of all of it, mixed, and cuts that anyone can see.

Routings are along the shortest paths of every source under small whole lengths that grow where it is full (as in Garg and
Könemann, SIAM J. Comput. 37, 2007), or from all to hubs and from hubs to all, evenly (Valiant, "A scheme for fast parallel
communication", SIAM J. Comput. 11, 1982). In which parts they are mixed, a search says in floats; the bound is computed
from the whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.verify.components import components
from tdsl.verify.trees import Trees
from tdsl.verify.waves import NEVER, PARTS, Spread, Wires, fits, spread

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

BUDGET = 15_000_000
"""Arcs that routings by lengths may look at altogether, for a source each: some ten seconds."""

FIRST = 400_000_000
"""The same for the first routing of a network in which twins are one: half a minute."""

HUB_BUDGET = 60_000_000
"""The same for ways to hubs and back: some ten seconds."""

ARCS = 400_000
"""Arcs up to which routings are looked for."""

HUBS = 4096
"""Hubs of every component at most."""

ROUNDS = 12
"""Routings by lengths at most."""

LONGEST = 6
"""The longest length."""

STEPS = 64
"""Parts in which a routing is mixed in."""

CLOSE = 5e-3
"""Relative gap at which the search for more ends."""

WIDE = 0.1
"""Relative gap from which hubs are tried."""

FINE = 1_000_000
"""Parts of a mixture in the end."""


@dataclass(frozen=True, slots=True)
class Demands:
    """Amounts that nodes send to other nodes, pairwise; ``own`` is what is on arcs anyway, for λ = 1."""

    source: Ints
    target: Ints
    amount: Ints
    out: Ints
    into: Ints
    own: Ints | None = None

    @classmethod
    def of(cls, source: Ints, target: Ints, amount: Ints) -> Demands:
        """With what every node sends and receives added up."""
        size = int(max(source.max(), target.max())) + 1
        sums = np.zeros((2, size), dtype=np.int64)
        np.add.at(sums[0], source, amount)
        np.add.at(sums[1], target, amount)
        return cls(source, target, amount, *sums)


@dataclass(frozen=True, slots=True)
class Column:
    """One routing of everything: what is on every arc, in parts of which ``whole`` are one unit of demand, and by source. It was
    made of shortest paths under ``lengths``, in the order of the arcs, of ways over ``hubs``, nodes and the share of each, or
    along ``trees``."""

    load: Ints
    whole: int
    flow: tuple[Ints, Ints, Ints] | None
    lengths: Ints | None = None
    hubs: tuple[Ints, Ints] | None = None
    trees: Trees | None = None


@dataclass(eq=False)
class Mixture:
    """Routings, and the part of each."""

    room: Ints
    columns: list[Column] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.use: Floats = np.zeros(len(self.room))

    def add(self, column: Column) -> None:
        """Mix a routing in, as far as that empties the fullest arc."""
        use = np.asarray(column.load / column.whole / self.room, dtype=np.float64)
        if not self.columns:
            self.columns, self.shares, self.use = [column], [1.0], use
            return
        part = min(range(STEPS + 1), key=lambda k: (float((self.use + (use - self.use) * (k / STEPS)).max()), k)) / STEPS
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
        return min(Fraction(int(r) * whole, int(x)) for r, x in zip(self.room[near].tolist(), load.tolist(), strict=True) if x)

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


def mixed(wires: Wires, wanted: Demands, enough: Fraction, first: int = 0) -> tuple[Mixture, Fraction, Ints]:
    """Routings, and the best upper bound that their lengths show, with these (empty if none is below ``enough``). The first may
    take a budget of its own, however many arcs there are."""
    room = np.empty_like(wires.room)
    room[wires.place] = wires.room
    best, found, lengths = enough, Mixture(room), np.zeros(0, dtype=np.int64)
    if len(room) > ARCS and not first:
        return found, best, lengths
    seen: Floats = np.zeros(len(room))
    work = 0
    for turn in range(ROUNDS if len(wanted.source) and fits(wanted.amount, wires.room) else 0):
        length = _lengths(seen, turn)
        sent = spread(
            wires, length[wires.place], wanted.source, wanted.target, wanted.amount, max(BUDGET - work, 0 if turn else first)
        )
        if sent is None:
            break
        work += sent.work
        column = _column(sent, wanted, length)
        shown = Fraction(int((room * length).sum()), sent.spent)  # what is on arcs anyway only adds to the distances
        if shown < best:
            best, lengths = shown, length
        seen = seen + (column.load / column.whole / room - seen) * (2 / (turn + 2))
        found.add(column)
        if _near(found, best, CLOSE):
            break
    if not (found.columns and _near(found, best, WIDE)) and (hub := hubs(wires, wanted)) is not None:
        found.add(hub)
    return found, best, lengths


def _near(found: Mixture, upper: Fraction, gap: float) -> bool:
    return float(found.use.max()) * float(upper) <= 1 + gap


def _column(sent: Spread, wanted: Demands, length: Ints) -> Column:
    own = 0 if wanted.own is None else wanted.own
    return Column(sent.load + own, PARTS, sent.flow if wanted.own is None else None, lengths=length)


def _lengths(seen: Floats, turn: int) -> Ints:
    """All alike; then the fuller the longer, ever more steeply."""
    if not turn:
        return np.ones(len(seen), dtype=np.int64)
    price = np.exp((3.0 + 2.0 * turn) * (seen / seen.max() - 1))
    length: Ints = 1 + np.rint((LONGEST - 1) * price).astype(np.int64)
    return length


# ---------------------------------------------------------------- hubs


def hubs(wires: Wires, wanted: Demands) -> Column | None:
    """Everybody to every hub and every hub to everybody, as hubs have capacity: what no end is nearer to than others, in the
    components that all reach. None if there is none."""
    ends = np.flatnonzero((wanted.out > 0) | (wanted.into > 0))
    tops = _tops(wires, ends)
    amounts = wanted.into, wanted.out
    least = gcd(*(int(x) for side in amounts for x in np.unique(side).tolist())) or 1
    if not len(tops):
        return None
    weight = np.zeros(wires.nodes, dtype=np.int64)
    np.add.at(weight, wires.head, wires.room)
    share = weight[tops] // (gcd(*np.unique(weight[tops]).tolist()) or 1)
    load = np.zeros(len(wires.tail), dtype=np.int64)
    ones = np.ones(len(load), dtype=np.int64)
    turned = wires.turned()
    for way, side in zip((wires, turned), amounts, strict=True):
        to = np.flatnonzero(side)
        amount = np.outer(share, side[to] // least).reshape(-1)
        if not fits(amount, wires.room):
            return None
        found = spread(way, ones, np.repeat(tops, len(to)), np.tile(to, len(tops)), amount, 2 * HUB_BUDGET)
        if found is None:
            return None
        load = load + found.load
        if np.array_equal(wanted.into, wanted.out) and wires.same(turned):
            back = np.empty_like(load)
            back[turned.place] = load[wires.place]
            load = load + back
            break
    common = gcd(least, PARTS * int(share.sum()))
    return Column(load * (least // common), PARTS * int(share.sum()) // common, None, hubs=(tops, share))


def _tops(wires: Wires, ends: Ints) -> Ints:
    """Hubs: of every component that all ends reach what forwards and is farthest from them, at even distances in its order."""
    n, tail, head, passes = wires.nodes, wires.tail, wires.head, wires.passes
    inner = passes[tail] & passes[head]
    label = components(n, tail[inner], head[inner])
    up, down = ~passes[tail] & passes[head], passes[tail] & ~passes[head]
    own = ends[passes[ends]]
    met = np.unique(np.concatenate((label[head[up]] * n + tail[up], label[tail[down]] * n + head[down], label[own] * n + own)))
    reached = np.bincount(met[np.isin(met % n, ends)] // n, minlength=n)
    level = np.full(n, NEVER)
    level[ends] = 0
    depth = 0
    while len(front := np.unique(head[(level[tail] == depth) & (level[head] == NEVER)])):
        depth += 1
        level[front] = depth
    most = max(1, min(HUBS, HUB_BUDGET // max(len(tail), 1)))
    tops = []
    for group in np.flatnonzero(reached == len(ends)).tolist():
        members = np.flatnonzero(passes & (label == group))
        members = members[level[members] == level[members].max()]
        tops.append(members[np.unique(np.linspace(0, len(members) - 1, most).astype(np.int64))])
    return np.concatenate(tops) if tops else np.zeros(0, dtype=np.int64)
