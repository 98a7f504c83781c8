"""Algorithms of collective operations, as the traffic that they put on the network.

An all-gather among blocks of ranks: every block sends what its ranks hold to the other blocks, each evenly
over the ranks that receive it, and then every block does the same inside, until a block is one unit or what
scale-up links join. A reduce-scatter is the same the other way in time, each message turned round; an
all-reduce is both. So an algorithm is a list of stages, and a stage is who sends how much to whom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import gcd, lcm, prod

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.localities import Division
from tdsl.system.lazy_dataclass import dataclass

MOST = 1 << 44
"""Parts of the data in which amounts are whole numbers; where they would have to be more, amounts are rounded
up."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Messages from unit ``source[i]`` to ``target[i]`` (places among the view's units), of ``amount[i]``
    parts of the data. A chunk of the data takes ``steps`` of them, one after the other; ``steady`` if then
    all messages of all steps are equal, so that no sender waits between them."""

    source: Ints
    target: Ints
    amount: Ints
    steps: int
    steady: bool

    @property
    def turned(self) -> Stage:
        """Every message the other way."""
        return Stage(self.target, self.source, self.amount, self.steps, self.steady)


@dataclass(frozen=True, slots=True)
class DataTree:
    """So many parts of the data on their way from a root to all units: ``links`` from unit to unit, and at
    which step of the tree each is used, from 1."""

    root: int
    parts: int
    links: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class Gathering:
    """An all-gather by stages, in parts of which the whole result has ``whole``. ``name`` says which. With
    ``sums`` it is that of an all-reduce whose first stage exchanges sums. ``blocks`` are its divisions, those
    of the numbers in ``rings`` with rings; or the places of units on a ``grid``, and the ``shares`` of the
    data that begin with each dimension; or the ``trees`` that all parts go along."""

    name: str
    whole: int
    stages: tuple[Stage, ...]
    sums: bool = False
    blocks: tuple[Division, ...] = ()
    rings: frozenset[int] = frozenset()
    grid: Ints | None = None
    shares: tuple[Fraction, ...] = ()
    trees: tuple[DataTree, ...] = ()

    @property
    def reduction(self) -> tuple[Stage, ...]:
        """The stages of an all-reduce that are before the gathering: its own the other way in time."""
        return tuple(s.turned for s in reversed(self.stages[1 if self.sums else 0 :]))


def direct_gathering(
    weight: Ints, blocks: Sequence[Division], budget: Budget = DEFAULT, outer: Ints | None = None
) -> Gathering | None:
    """Every block sends to all others of its block directly; ``weight`` are the ranks of every unit, and
    ``blocks`` nested divisions of the units, outermost first; with ``outer`` every set that it numbers
    gathers for itself, all at once. None where those are too many messages."""
    return _gathering("direct exchange", weight, blocks, budget, frozenset(), outer=outer)


def ring_gathering(
    weight: Ints, blocks: Sequence[Division], budget: Budget = DEFAULT, outer: Ints | None = None
) -> Gathering | None:
    """Every block sends to the next one of its block what it holds and gets, in the order of the units."""
    return _gathering("ring", weight, blocks, budget, frozenset(range(len(blocks))), outer=outer)


def mixed_gathering(
    weight: Ints, blocks: Sequence[Division], budget: Budget = DEFAULT, outer: Ints | None = None
) -> Gathering | None:
    """Direct exchange at the outermost level and rings below."""
    return _gathering("", weight, blocks, budget, frozenset(range(1, len(blocks))), outer=outer)


def halving_gathering(weight: Ints, budget: Budget = DEFAULT) -> Gathering | None:
    """Halves of the units send to each other, then halves of these, down to single units: recursive doubling,
    and halving the other way in time (Thakur, Rabenseifner, Gropp, Int. J. High Perf. Comp. Appl. 19, 2005).
    None where their number is no power of two, or they hold different numbers of ranks."""
    count = len(weight)
    rounds = count.bit_length() - 1
    if count < 4 or count != 1 << rounds or (weight != weight[0]).any():
        return None
    halves = [Division("half", np.arange(count) >> (rounds - 1 - k)) for k in range(rounds)]
    found = _gathering("halving and doubling", weight, halves, budget, frozenset())
    return None if found is None else replace(found, name="halving and doubling")


def exchange_of_sums(
    weight: Ints, blocks: Sequence[Division], budget: Budget = DEFAULT, outer: Ints | None = None
) -> Gathering | None:
    """The gathering of an all-reduce with one trip between the outermost blocks: each adds up its own, sends
    its sums to every other, and gathers inside. The first stage is that exchange, which is not turned."""
    if len(blocks) < 2 or blocks[0].count > budget.exchanged_blocks:
        return None
    return _gathering("one exchange", weight, blocks, budget, frozenset(), sums=True, outer=outer)


def _gathering(
    name: str,
    weight: Ints,
    blocks: Sequence[Division],
    budget: Budget,
    rings: frozenset[int],
    sums: bool = False,
    outer: Ints | None = None,
) -> Gathering | None:
    """The stages of all levels; those in ``rings`` send to the next block alone. ``sums``: at the outermost
    level each block sends as much as all of its set hold together."""
    outer = np.zeros(len(weight), dtype=np.int64) if outer is None else outer
    levels: list[_Level] = []
    left = budget.schedule_messages
    for number, division in enumerate(blocks):
        level = _Level.of(weight, outer, division, number in rings, sums and not number, left)
        if level is None:
            return None
        left -= level.messages
        levels.append(level)
        outer = division.block
    whole = _common_parts(levels)
    stages = tuple(level.stage(whole) for level in levels if level.parts)
    words = [d.word for d in blocks[:-1]]
    called = (
        f"{name or 'exchange and rings'} by {' and '.join(words)}" if words else name or "direct exchange"
    )
    return Gathering(called, whole, stages, sums, tuple(blocks), rings)


@dataclass(frozen=True, slots=True)
class _Level:
    """The messages of a level: sources, targets, amounts and in parts of how many, for each pair of blocks
    that exchange; their steps, and whether these are equal. ``messages`` is how many there are at most."""

    parts: list[tuple[Ints, Ints, Ints, int]]
    steps: int
    steady: bool
    messages: int

    @classmethod
    def of(
        cls, weight: Ints, outer: Ints, division: Division, ring: bool, sums: bool, most: int
    ) -> _Level | None:
        """What the blocks of a division send each other inside of every outer block, in a ring or each to all
        others; None where that is more than ``most`` messages."""
        parts: list[tuple[Ints, Ints, Ints, int]] = []
        steps, steady, messages = 1, True, 0
        for block in np.split(np.argsort(outer, kind="stable"), np.cumsum(np.bincount(outer))[:-1]):
            block = block[np.argsort(division.block[block], kind="stable")]
            children = np.split(block, np.flatnonzero(np.diff(division.block[block])) + 1)
            sizes = [int(weight[c].sum()) for c in children]
            round_ring = ring and len(children) > 2
            steps = max(steps, len(children) - 1 if round_ring else 1)
            steady &= not round_ring or len({*sizes}) == 1
            messages += len(block) * (1 if round_ring else len(children) - 1)
            if messages > most:
                return None
            if len(children) < 2:
                continue
            if len(children) == len(block):
                parts.append(_between_single_units(weight, block, round_ring))
            else:
                parts += _between_blocks(weight, children, sizes, round_ring, sums)
        return cls(parts, steps, steady, messages)

    def stage(self, whole: int) -> Stage:
        """The messages with amounts in so many parts of the data, rounded up."""
        source, target = (np.concatenate([p[i] for p in self.parts]) for i in (0, 1))
        amount = np.concatenate([-(-p[2].astype(object) * whole // p[3]) for p in self.parts])
        return Stage(source, target, amount.astype(np.int64), self.steps, self.steady)


def _common_parts(levels: Sequence[_Level]) -> int:
    """Parts of the data in which all amounts are whole numbers, MOST at most."""
    whole = 1
    for _, _, amount, below in (part for level in levels for part in level.parts):
        whole = lcm(whole, below // gcd(below, *amount.tolist()))
        if whole > MOST:
            return MOST
    return whole


def _between_blocks(
    weight: Ints, blocks: Sequence[Ints], sizes: Sequence[int], ring: bool, sums: bool
) -> Iterator[tuple[Ints, Ints, Ints, int]]:
    """Messages between blocks of several units, of these sizes: to the next one what a block holds and gets,
    or to all others what it holds; with ``sums`` as much as all hold together."""
    count, total = len(blocks), sum(sizes)
    pairs = [(a, (a + 1) % count) for a in range(count)] if ring else [*permutations(range(count), 2)]
    for a, b in pairs:
        sent = total - sizes[b] if ring else total if sums else sizes[a]
        source, target, amount = _even_transport(weight, blocks[a], blocks[b])
        yield source, target, amount * sent, sizes[a] * sizes[b] * total


def _between_single_units(weight: Ints, block: Ints, ring: bool) -> tuple[Ints, Ints, Ints, int]:
    """Messages between units that are blocks of their own: to the next one or to all others; amounts in parts
    of the data, and of how many."""
    total = int(weight[block].sum())
    if ring:
        after = np.roll(block, -1)
        return block, after, total - weight[after], total
    source, target = np.repeat(block, len(block)), np.tile(block, len(block))
    apart = source != target
    return source[apart], target[apart], weight[source[apart]], total


def _even_transport(weight: Ints, one: Ints, other: Ints) -> tuple[Ints, Ints, Ints]:
    """Who of ``one`` sends how much to whom of ``other`` where both hold or get the same a rank: in order, as
    shares of the ranks of the two multiplied. Every pair at most once."""
    a, b = weight[one], weight[other]
    ends_a, ends_b = np.cumsum(a) * int(b.sum()), np.cumsum(b) * int(a.sum())
    ends = np.union1d(ends_a, ends_b)
    amount = np.diff(ends, prepend=0)
    first = ends - amount
    return (
        one[np.searchsorted(ends_a, first, side="right")],
        other[np.searchsorted(ends_b, first, side="right")],
        amount,
    )


def dimension_gathering(place: Ints, budget: Budget = DEFAULT) -> Gathering | None:
    """On a torus or mesh, units given by their coordinates (an array with an axis a dimension): the data is
    divided among the dimensions, and each part goes round in a ring both ways in one dimension after the
    other, each part beginning with another one, so that all links are in use. None where dimensions differ
    too much for that, or there are too many messages.

    Source: the bucket algorithm for tori, Barnett, Littlefield, Payne, van de Geijn, "Global combine on mesh
    architectures with wormhole routing" (IPPS 1993)."""
    extents = place.shape
    long = [k for k, size in enumerate(extents) if size > 1]
    shares = _shares_of_rotations([extents[k] for k in long], budget)
    if shares is None:
        return None
    count = prod(extents)
    stages = []
    below = lcm(*(x.denominator for x in shares)) * 2 * count
    for turn in range(len(long)):
        sources, targets, amounts = [], [], []
        for part, share in enumerate(shares):
            order = [long[(part + k) % len(long)] for k in range(len(long))]
            axis = order[turn]
            # An all-gather ends where a reduce-scatter begins: what is sent grows with the dimensions done.
            held = share * Fraction(prod(extents[k] for k in order[: turn + 1]), count)
            sent = held * (extents[axis] - 1) / extents[axis]
            for way in (1, -1):
                sources.append(place.reshape(-1))
                targets.append(np.roll(place, -way, axis).reshape(-1))
                amounts.append(np.full(count, int(sent * below / 2), dtype=np.int64))
        source, target, amount = (np.concatenate(x) for x in (sources, targets, amounts))
        steps = max(extents[k] for k in long) - 1
        same = len({extents[k] for k in long}) == 1
        stages.append(Stage(source, target, amount, steps, same))
    return Gathering("rings by dimension", below, tuple(stages), grid=place, shares=tuple(shares))


def _shares_of_rotations(extents: Sequence[int], budget: Budget) -> list[Fraction] | None:
    """Which share of the data begins with each dimension so that all dimensions carry the same; None where no
    such shares are positive."""
    count = len(extents)
    if not count or prod(extents) > budget.schedule_messages // (2 * count):
        return None
    total = prod(extents)
    rows = np.zeros((count, count))
    for part in range(count):
        held = Fraction(1, total)
        for k in range(count):
            axis = (part + k) % count
            held *= extents[axis]
            rows[axis, part] = float(held * (extents[axis] - 1) / extents[axis])
    matrix = np.vstack((rows[1:] - rows[:-1], np.ones(count)))
    wanted = np.append(np.zeros(count - 1), 1.0)
    found = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
    if (found < 0).any():
        return None
    shares = [Fraction(float(x)).limit_denominator(10_000) for x in found]
    shares[-1] += 1 - sum(shares)
    return shares if min(shares) >= 0 else None
