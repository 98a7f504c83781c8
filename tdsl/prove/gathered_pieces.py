"""Which pieces of the data each message of a gathering carries, step by step.

The data of a set of n ranks is the interval from 0 to 1, of which each begins with an equal share, in the
order of the units. A level of a gathering goes from block to block as ``collective_traffic`` says, each
evenly over the ranks that receive.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.prove.collective_traffic import Gathering
from tdsl.system.lazy_dataclass import dataclass

Interval = tuple[Fraction, Fraction]
Pieces = list[Interval]
Send = tuple[int, int, Pieces]
"""Sender and receiver, places among the units, and what is sent."""
Steps = list[list[Send]]
"""The messages of every step of a stage; those of one step are of what was there before it."""


@dataclass(frozen=True, slots=True)
class GatheredPieces:
    """What the messages of a gathering carry, stage by stage, and what every unit ``holds`` of the data
    then, that what scale-up links exchange besides is left out of."""

    stages: list[Steps]
    holds: list[Pieces]


def _side_by_side(steps: Steps, further: Steps) -> Steps:
    """The steps of units that send at the same time."""
    nothing: list[Send] = []
    return [[*a, *b] for a, b in zip_longest(steps, further, fillvalue=nothing)]


def _sent_among(children: list[list[int]], held: Sequence[Pieces], weight: Ints, as_ring: bool) -> Steps:
    """The messages with which blocks give each other what they hold: round a ring, or each to all at once."""
    if as_ring and len(children) > 2:
        return _ring(children, held, weight)
    return [_direct(children, held, weight)]


def pieces_of_gathering(found: Gathering, weight: Ints, outer: Ints | None = None) -> GatheredPieces:
    """The pieces of every stage of a gathering among units of so many ranks each; ``outer`` numbers the sets
    of units that gather each for itself, None for all as one. With ``sums`` every unit begins with the part
    of its block that is in its place instead, and the first stage sends sums."""
    count = len(weight)
    outer = np.zeros(count, dtype=np.int64) if outer is None else outer
    held = _shares_in_order(_blocks_in_order(outer, np.arange(count)), weight)
    if found.trees:
        return GatheredPieces([_pieces_along_trees(found)], [[(Fraction(0), Fraction(1))]] * count)
    if found.grid is not None:
        return GatheredPieces(_pieces_by_dimension(found.grid, found.shares, count), held)
    if found.sums:
        held = _shares_in_order(_blocks_in_order(found.blocks[0].block, np.arange(count)), weight)
    stages: list[Steps] = []
    for level, division in enumerate(found.blocks):
        steps: Steps = []
        for members in _blocks_in_order(outer, np.arange(count)):
            children = _blocks_in_order(division.block, np.array(members))
            steps = _side_by_side(steps, _sent_among(children, held, weight, level in found.rings))
        for sends in steps if not (found.sums and not level) else ():
            for _, to, pieces in sends:
                held[to] = [*held[to], *pieces]
        if any(steps):
            stages.append(steps)
        outer = division.block
    return GatheredPieces(stages, held)


def _shares_in_order(blocks: Sequence[Sequence[int]], weight: Ints) -> list[Pieces]:
    """For every unit the part of the data that it has in its block, in order, in proportion to its ranks."""
    out: list[Pieces] = [[] for _ in weight]
    for block in blocks:
        ends = np.cumsum(weight[list(block)]).tolist()
        for u, begin, end in zip(block, [0, *ends], ends, strict=False):
            out[u] = [(Fraction(begin, ends[-1]), Fraction(end, ends[-1]))]
    return out


def _pieces_along_trees(found: Gathering) -> Steps:
    """The pieces of trees: those of a root are one after the other, from where its part begins."""
    steps: Steps = [[] for _ in range(found.stages[0].steps)]
    begin = Fraction(0)
    for tree in sorted(found.trees, key=lambda t: t.root):
        end = begin + Fraction(tree.parts, found.whole)
        for a, b, step in tree.links:
            steps[step - 1].append((a, b, [(begin, end)]))
        begin = end
    return [_joined_sends(sends) for sends in steps]


def _joined_sends(sends: Sequence[Send]) -> list[Send]:
    """Sends with the same two ends as one."""
    out: dict[tuple[int, int], Pieces] = {}
    for a, b, pieces in sends:
        out.setdefault((a, b), []).extend(pieces)
    return [(a, b, pieces) for (a, b), pieces in sorted(out.items())]


def _pieces_by_dimension(grid: Ints, shares: Sequence[Fraction], count: int) -> list[Steps]:
    """The pieces of rings by dimension: of each share half goes round either way, in one dimension after the
    other."""
    long = [k for k, size in enumerate(grid.shape) if size > 1]
    stages: list[Steps] = [[[] for _ in range(max(grid.shape) - 1)] for _ in long]
    begin = Fraction(0)
    for part, share in enumerate(shares):
        for way in (1, -1):
            end = begin + share / 2
            held: list[Pieces] = [[((u + begin) / count, (u + end) / count)] for u in range(count)]
            for turn, steps in enumerate(stages):
                axis = long[(part + turn) % len(long)]
                pairs = list(zip(grid.flat, np.roll(grid, -way, axis).flat, strict=True))
                now = [*held]
                for k in range(grid.shape[axis] - 1):
                    steps[k] += [(int(s), int(t), now[s]) for s, t in pairs if share]
                    after = [*now]
                    for s, t in pairs:
                        after[t] = now[s]
                    now = after
                    held = [[*mine, *more] for mine, more in zip(held, now, strict=True)]
            begin = end
    return stages


def turned_pieces(stages: Sequence[Steps]) -> list[Steps]:
    """The reduction that is a gathering the other way in time: each unit sends on what it got, added up."""
    return [
        [[(t, s, pieces) for s, t, pieces in sends] for sends in reversed(steps)]
        for steps in reversed(stages)
    ]


def ring_reduction(gathered: Steps, holds: Sequence[Pieces]) -> Steps | None:
    """The reduction in rings that go round as a gathering after it, of which the steps are given and what
    units hold before: a part begins behind its unit and ends there. None where units send to several."""
    after = {s: t for s, t, _ in gathered[0]}
    if len(after) < len(gathered[0]):
        return None
    steps: Steps = [[] for _ in gathered]
    while after:
        order = [min(after)]
        while (to := after.pop(order[-1])) in after:
            order.append(to)
        n = len(order)
        for k in range(n - 1):
            steps[k] += [(order[i], order[(i + 1) % n], holds[order[(i - 1 - k) % n]]) for i in range(n)]
    return steps


def _blocks_in_order(label: Ints, members: Ints) -> list[list[int]]:
    """Units by their label, in the order of the labels and then of the units."""
    mine = label[members]
    order = np.argsort(mine, kind="stable")
    cuts = np.flatnonzero(np.diff(mine[order])) + 1
    return [block.tolist() for block in np.split(members[order], cuts)]


def _direct(children: list[list[int]], held: Sequence[Pieces], weight: Ints) -> list[Send]:
    """Every block sends what it holds to all others."""
    every = [[(u, held[u]) for u in child] for child in children]
    return [
        send
        for a, one in enumerate(every)
        for b, other in enumerate(children)
        if a != b
        for send in _evenly(one, other, weight)
    ]


def _ring(children: list[list[int]], held: Sequence[Pieces], weight: Ints) -> list[list[Send]]:
    """Every block sends to the next what it holds, then what it got."""
    now = [[(u, held[u]) for u in child] for child in children]
    steps = []
    for _ in range(len(children) - 1):
        sends: list[Send] = []
        after: list[list[tuple[int, Pieces]]] = [[] for _ in children]
        for a, one in enumerate(now):
            b = (a + 1) % len(children)
            mine = _evenly(one, children[b], weight)
            got: dict[int, Pieces] = {u: [] for u in children[b]}
            for _, t, pieces in mine:
                got[t] += pieces
            after[b] = list(got.items())
            sends += mine
        steps.append(sends)
        now = after
    return steps


def _evenly(one: Sequence[tuple[int, Pieces]], other: Sequence[int], weight: Ints) -> list[Send]:
    """Who of one block sends what to whom of another, so that each rank of these gets as much, in order."""
    total = sum((b - a for _, pieces in one for a, b in pieces), Fraction(0))
    each = total / int(weight[list(other)].sum())
    shares = [each * int(w) for w in weight[list(other)]]
    out = list[Send]()
    at, left = 0, shares[0]
    for u, pieces in one:
        for begin, end in pieces:
            while begin < end:
                part = min(left, end - begin)
                if out and out[-1][:2] == (u, other[at]):
                    out[-1][2].append((begin, begin + part))
                else:
                    out.append((u, other[at], [(begin, begin + part)]))
                begin, left = begin + part, left - part
                if not left and at + 1 < len(other):
                    at, left = at + 1, shares[at + 1]
    return out
