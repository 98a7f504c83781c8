"""Nodes that stand for several alike: what meets the same neighbours by the same capacities may be exchanged.

Whatever flows keeps its worth when such twins are exchanged, so an average over all exchanges is as good, and divides evenly
over them: one node with the sum of their capacities stands for all, and bounds are the same. Ends that are twins send and
receive apart, and those are together that send, or receive, the same amounts to and from the same sorts: the coarsest such
division is found by refining it until it stands (Grohe, Kersting, Mladenov and Selman, "Dimension reduction via colour
refinement", ESA 2014). All rows are compared, whatever a hash says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tdsl.fabric.graph import Bools, Ints

Words = np.ndarray[tuple[int, ...], np.dtype[np.uint64]]

NONE = -1
"""The place of what is left out."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A smaller network. Of every node that there was, its place where arcs leave it (``out``) and where they enter it
    (``into``), and of every arc its place, NONE of what no path uses. Here: of every node one that it stands for (``first``);
    arcs by tail, then head, with the room of all that each stands for, and their number (``count``).
    """

    out: Ints
    into: Ints
    arc: Ints
    first: Ints
    tail: Ints
    head: Ints
    room: Ints
    count: Ints


def switches(tail: Ints, head: Ints, room: Ints, apart: Bools) -> Merged:
    """Twins put together but for those nodes that are ``apart``. Every arc has one back with the same room."""
    label = np.where(apart, np.arange(len(apart)), len(apart))
    same = alike(label, tail, head, room)
    return _merged(tail, head, room, 2 * same, 2 * same)


def ends(tail: Ints, head: Ints, room: Ints, passes: Bools, demand: tuple[Ints, Ints, Ints]) -> Merged:
    """Twins put together, and those that do not pass divided into what sends and what receives, by role; but for nodes that
    pass and send or receive, and ends that are joined to ends. Every arc has one back with the same room; a demand is source,
    target, amount."""
    size = len(passes)
    sends, receives = np.zeros((2, size), dtype=np.bool_)
    sends[demand[0]] = receives[demand[1]] = True
    apart = passes & (sends | receives)
    apart[tail[~passes[tail] & ~passes[head]]] = True  # an arc between ends is for what one sends to the other only
    out, into = _roles(alike(np.where(apart, np.arange(size), size + ~passes), tail, head, room), *demand)
    begins, meets = np.where(sends, 2 * out, NONE), np.where(receives, 2 * into + 1, NONE)
    return _merged(tail, head, room, np.where(passes, 2 * out, begins), np.where(passes, 2 * into, meets))


def _merged(tail: Ints, head: Ints, room: Ints, out: Ints, into: Ints) -> Merged:
    """Nodes put together by their numbers for arcs that leave and for arcs that enter them; NONE where there are none. Half a
    number, rounded down, is one of its nodes."""
    names, place = np.unique(np.concatenate((out, into)), return_inverse=True)
    lost = int(names[0] == NONE)
    out, into = np.split(place - lost, 2)
    size = len(names) - lost
    used = (out[tail] != NONE) & (into[head] != NONE)
    keys, back = np.unique(out[tail[used]] * size + into[head[used]], return_inverse=True)
    total = np.zeros(len(keys), dtype=np.int64)
    np.add.at(total, back, room[used])
    arc = np.full(len(tail), NONE)
    arc[used] = back
    return Merged(out, into, arc, names[lost:] // 2, keys // size, keys % size, total, np.bincount(back, minlength=len(keys)))


def _roles(label: Ints, source: Ints, target: Ints, amount: Ints) -> tuple[Ints, Ints]:
    """Of every node the first of its label that sends the same amounts to the same sorts of receivers; and the first that
    receives the same from the same sorts of senders."""
    out, into, sorts = label, label, 0
    while (found := len(np.unique(out)) + len(np.unique(into))) > sorts:
        sorts = found
        out, into = alike(out, source, into[target], amount), alike(into, target, out[source], amount)
    return out, into


def alike(label: Ints, owner: Ints, other: Ints, amount: Ints) -> Ints:
    """Of every node the first of its label whose rows say the same; a row gives its ``owner`` an amount for some other."""
    size, width = len(label), int(other.max(initial=0)) + 1
    keys, back = np.unique(owner * width + other, return_inverse=True)
    total = np.zeros(len(keys), dtype=np.int64)
    np.add.at(total, back, amount)
    owner, other = keys // width, keys % width
    start = np.searchsorted(owner, np.arange(size + 1))
    sums = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(_scattered(_scattered(other) ^ total.astype(np.uint64)))))
    facts = np.stack((label.astype(np.uint64), np.diff(start).astype(np.uint64), sums[start[1:]] - sums[start[:-1]]))
    order = np.lexsort(facts)
    fresh = np.append(True, (facts[:, order[1:]] != facts[:, order[:-1]]).any(axis=0))
    first = np.empty(size, dtype=np.int64)
    first[order] = order[fresh][np.cumsum(fresh) - 1]
    at = start[first[owner]] + np.arange(len(owner)) - start[owner]
    wrong = owner[(other != other[at]) | (total != total[at])]  # the sums alike, the rows not
    first[wrong] = wrong
    return first


def _scattered(x: Ints | Words) -> Words:
    """Numbers that look like chance (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014)."""
    z = x.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
