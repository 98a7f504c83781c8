"""Routing of demands along shortest paths, for very many sources at once: sets of sources as bits, flows as
whole numbers.

A breadth-first search runs from all sources at once and moves one unit of length a step; a node's row of bits
says which sources have reached it. Then demands are handed back from the targets, farthest first, along the
last arcs of shortest paths, divided as those arcs have capacity and rounded down; the first arc takes the
remainder.
"""

from __future__ import annotations

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.budget import DEFAULT
from tdsl.prove.network import Network
from tdsl.system.lazy_dataclass import dataclass

Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]
Cells = np.ndarray[tuple[int, ...], np.dtype[np.int16]]

CELLS = 40_000_000
"""Nodes times sources that are looked at in one go: bounds memory to some hundred megabytes."""

GATHERED = 32_000_000
"""Bytes of bits that are gathered along arcs in one go."""

PARTS = 5040
"""Parts that one unit of demand is sent in: splits among up to ten arcs are mostly even."""

FARTHEST = 30_000
"""The greatest distance that a cell holds."""

NEVER = -1
"""Distance to a node that no path leads to."""


@dataclass(frozen=True, slots=True)
class PathLoads:
    """Demands on shortest paths: ``load`` on every arc, in PARTS of the amounts; ``spent``, the sum of
    distance × amount; ``flow``, entries of source, arc and parts, None where they are too many; ``work``
    done."""

    load: Ints
    spent: int
    flow: tuple[Ints, Ints, Ints] | None
    work: int


def amounts_fit_in_words(amount: Ints, capacity: Ints) -> bool:
    """Whether whole numbers of one word are enough to route these amounts (of which all together may be on
    one arc)."""
    total = int(amount.astype(object).sum()) * PARTS
    return total * max(int(capacity.max(initial=1)), 1) < 1 << 61 and len(amount) < 1 << 31


def path_lengths(net: Network, length: Ints, sources: Ints, budget: int) -> tuple[Cells, int] | None:
    """Distance from every source (columns) to every node (rows), NEVER where there is no path, and the work;
    None where that would be more than the budget. Lengths of arcs are small whole numbers of at least 1."""
    count = len(sources)
    words = -(-count // 64)
    first = np.zeros((net.nodes, words * 8), dtype=np.uint8)
    np.bitwise_or.at(
        first, (sources, np.arange(count) >> 3), np.left_shift(1, np.arange(count) & 7).astype(np.uint8)
    )
    fresh = first.view(np.uint64)
    seen = fresh.copy()
    far = np.full((net.nodes, count), NEVER, dtype=np.int16)
    far[sources, np.arange(count)] = 0
    by_length = [(x, *_arcs_by_head(net, length == x)) for x in np.unique(length).tolist()]
    most = max((x for x, *_ in by_length), default=0)
    past = {0: fresh}
    step = quiet = 0
    each = (len(net.tail) + 2 * net.nodes) * words // 16
    while quiet < most:
        step += 1
        if step * each > budget or step > FARTHEST:
            return None
        now = np.zeros_like(fresh)
        for x, tails, heads, starts in by_length:
            if step - x in past:
                _gather_source_bits(now, past[step - x], tails, heads, starts)
        now &= ~seen
        reached = np.flatnonzero(now.any(axis=1))
        past.pop(step - most, None)
        quiet = 0 if len(reached) else quiet + 1
        if not len(reached):
            continue
        seen |= now
        bits = np.unpackbits(now[reached].view(np.uint8), axis=1, count=count, bitorder="little").view(
            np.bool_
        )
        rows = far[reached]
        rows[bits] = step
        far[reached] = rows
        now[~net.forwards] = 0
        past[step] = now
    return far, step * each


def _arcs_by_head(net: Network, kept: Bools) -> tuple[Ints, Ints, Ints]:
    heads, starts = np.unique(net.head[kept], return_index=True)
    return net.tail[kept], heads, starts


def _gather_source_bits(now: Words, before: Words, tails: Ints, heads: Ints, starts: Ints) -> None:
    """Add the bits that arcs bring, some arcs at a time."""
    each = max(GATHERED // max(before.shape[1] * 8, 1), 1)
    ends = np.append(starts[1:], len(tails))
    at = 0
    while at < len(heads):
        to = max(int(np.searchsorted(ends, starts[at] + each, side="right")), at + 1)
        low, high = int(starts[at]), int(ends[to - 1])
        now[heads[at:to]] |= np.bitwise_or.reduceat(before[tails[low:high]], starts[at:to] - low, axis=0)
        at = to


def route_on_shortest_paths(
    net: Network,
    length: Ints,
    source: Ints,
    target: Ints,
    amount: Ints,
    budget: int,
    most: int = DEFAULT.flow_entries,
) -> PathLoads | None:
    """Send amounts from sources to targets (nodes, pairwise) along shortest paths; None where a target is not
    reached or the work would be more than the budget. Flows of sources are kept apart up to ``most`` entries.
    """
    who, column = np.unique(source, return_inverse=True)
    each = max(CELLS // net.nodes, 64)
    load = np.zeros(len(net.tail), dtype=np.int64)
    spent, work = 0, 0
    flows: list[tuple[Ints, Ints, Ints]] | None = []
    for at in range(0, len(who), each):
        mine = np.flatnonzero((column >= at) & (column < at + each))
        part = who[at : at + each]
        found = path_lengths(net, length, part, budget - work)
        if found is None:
            return None
        far, done = found
        deep = far[target[mine], column[mine] - at].astype(np.int64)
        if (deep == NEVER).any():
            return None
        work += done
        spent += int((deep.astype(object) * amount[mine]).sum())
        asked = target[mine], column[mine] - at, amount[mine] * PARTS
        held = _hand_back(net, length, far, part, asked, load, budget - work, most)
        if held is None:
            return None
        entries, done = held
        work += done
        if flows is not None:
            flows = (
                None
                if entries is None or sum(len(x[0]) for x in flows) + len(entries[0]) > most
                else [*flows, entries]
            )
    kept = None
    if flows is not None:
        s, arc, x = (np.concatenate(column) for column in zip(*flows, strict=True))
        kept = s, arc, x
    return PathLoads(load, spent, kept, work)


def _hand_back(
    net: Network,
    length: Ints,
    far: Cells,
    sources: Ints,
    asked: tuple[Ints, Ints, Ints],
    load: Ints,
    budget: int,
    most: int,
) -> tuple[tuple[Ints, Ints, Ints] | None, int] | None:
    """Put on arcs what these columns' sources send; the entries (source, arc, parts) if they are few, and the
    work."""
    count, start = len(sources), net.start
    deep = far.reshape(-1)
    arriving = np.zeros(len(deep), dtype=np.int64)
    waiting: dict[int, list[Ints]] = {}

    def later(key: Ints, parts: Ints) -> None:
        np.add.at(arriving, key, parts)
        levels = deep[key]
        for level in np.flatnonzero(np.bincount(levels)).tolist() if len(levels) else ():
            if level:
                waiting.setdefault(level, []).append(key[levels == level])

    target, column, amount = asked
    later(target * count + column, amount)
    entries: list[tuple[Ints, Ints, Ints]] | None = []
    held = work = 0
    while waiting:
        level = max(waiting)
        key = np.concatenate(waiting.pop(level))
        parts = arriving[key]
        turn = np.arange(len(key))
        arriving[key] = turn  # of those that are the same, the last stays
        once = arriving[key] == turn
        arriving[key] = 0
        key, parts = key[once], parts[once]
        each = max(
            1, CELLS // 8 * len(key) // max(int((start[key // count + 1] - start[key // count]).sum()), 1)
        )
        for at in range(0, len(key), each):
            arc, x, here, looked = _last_arcs(
                net, length, far, sources, key[at : at + each], parts[at : at + each], start
            )
            work += looked
            if work > budget:
                return None
            np.add.at(load, arc, x)
            held += len(arc)
            if held > most:
                entries = None
            if entries is not None:
                entries.append((sources[here], arc, x))
            later(net.tail[arc] * count + here, x)
    if entries is None:
        return None, work
    none = np.zeros(0, dtype=np.int64)
    s, arc, x = (np.concatenate(c) for c in zip((none, none, none), *entries, strict=True))
    return (s, arc, x), work


def _last_arcs(
    net: Network, length: Ints, far: Cells, sources: Ints, key: Ints, parts: Ints, start: Ints
) -> tuple[Ints, Ints, Ints, int]:
    """The last arcs of shortest paths to what waits, the parts on each and the column of each; and how many
    were looked at."""
    count = len(sources)
    node, column = np.divmod(key, count)
    sizes = start[node + 1] - start[node]
    owner = np.repeat(np.arange(len(key)), sizes)
    arc = np.arange(len(owner)) + np.repeat(start[node] - np.cumsum(sizes) + sizes, sizes)
    here = column[owner]
    tails = net.tail[arc]
    before = far[tails, here].astype(np.int64)
    tight = (before != NEVER) & (before + length[arc] == far.reshape(-1)[key][owner])
    tight &= net.forwards[tails] | (tails == sources[here])
    looked = len(arc)
    arc, owner, here = arc[tight], owner[tight], here[tight]
    capacity = net.capacity[arc]
    first = np.searchsorted(owner, np.arange(len(key)))
    total = np.add.reduceat(capacity, first)
    x = parts[owner] * capacity // total[owner]
    x[first] += parts - np.add.reduceat(x, first)
    used = x > 0
    return arc[used], x[used], here[used], looked
