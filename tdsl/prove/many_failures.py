"""One fabric after many failures: what can be said of all of them at once, without a view of each.

A batch of failures is a table of booleans, a row a scenario and a column a device or link. Each function says
of which scenarios its answer is certain; the others are to be judged one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.network import sum_by_key
from tdsl.prove.set_flow import max_flow_between_sets
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass

Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Failures:
    """Scenarios of one fabric: of each the devices that are gone, with all they contain, and the links that
    are lost."""

    gone: Bools  # scenarios × devices
    lost: Bools  # scenarios × links

    @property
    def count(self) -> int:
        """Number of scenarios."""
        return len(self.gone)


class Connected:
    """Whether all endpoints of a whole fabric are at one component of forwarding devices, in many scenarios
    at once.

    A breadth-first search from one forwarding device, in which every bit of a word is a scenario.
    """

    def __init__(self, view: View) -> None:
        f = view.fabric
        self.units = view.units
        self.judged = not any(
            s.inside is not None and s.kind == "chip" for s in f.sets
        )  # whose chips count only while linked
        proper = view.a != view.b
        self.rows = view.rows[proper]
        self.a, self.b = view.a[proper], view.b[proper]
        link = np.arange(len(self.rows))
        keys = np.concatenate((self.b, self.a)) * max(f.device_count, 1) + np.concatenate((self.a, self.b))
        order = np.argsort(keys, kind="stable")  # arcs both ways, those into a device together
        self.tail, self.head = (np.concatenate(x)[order] for x in ((self.a, self.b), (self.b, self.a)))
        self.link = np.concatenate((link, link))[order]
        self.first = np.flatnonzero(np.diff(self.head, prepend=-1))
        self.forwards = view.forwards
        end = f.is_end.copy()
        end[self.units] = True
        self.end = end
        hubs = view.attachment.node
        hubs = hubs[hubs < f.device_count]
        self.roots = np.unique(hubs)[: view.budget.search_roots]
        self.judged = self.judged and len(self.rows) > 0

    def certain(self, failures: Failures) -> Bools:
        """Of which scenarios it is certain that two units or more are left, and that all endpoints that have
        links are at one component of forwarding devices, and no forwarding device that one is attached to is
        outside it."""
        out = np.zeros(failures.count, dtype=np.bool_)
        if not self.judged or not len(self.units):
            return out
        intact: Words = _pack_bits(~failures.lost[:, self.rows].T)
        undecided = np.ones(failures.count, dtype=np.bool_)
        for root in self.roots.tolist():
            begun = undecided & ~failures.gone[:, root]
            if begun.any():
                out |= begun & self._at_one(root, begun, intact, failures.count)
            undecided &= failures.gone[:, root]
        linked = np.zeros((failures.count, len(self.units)), dtype=np.int64)
        place = np.full(len(self.forwards), -1, dtype=np.int64)
        place[self.units] = np.arange(len(self.units))
        missing = np.nonzero(failures.lost[:, self.rows])
        degree = np.bincount(
            np.concatenate((place[self.a], place[self.b])) + 1, minlength=len(self.units) + 1
        )[1:]
        linked += degree
        for side in (self.a, self.b):
            at = place[side[missing[1]]]
            np.subtract.at(linked, (missing[0][at >= 0], at[at >= 0]), 1)
        left = (linked > 0) & ~failures.gone[:, self.units]
        enough: Bools = np.count_nonzero(left, axis=1) >= 2
        return out & enough

    def _at_one(self, root: int, begun: Bools, intact: Words, count: int) -> Bools:
        """Of which scenarios all links left at an endpoint lead to what is reached from a device."""
        reached = np.zeros((len(self.forwards), intact.shape[1]), dtype=np.uint64)
        reached[root] = _pack_bits(begun[None, :])[0]
        passing = np.where(self.forwards[self.tail], ~np.uint64(0), np.uint64(0))[:, None] & intact[self.link]
        heads = self.head[self.first]
        while True:
            came = np.bitwise_or.reduceat(reached[self.tail] & passing, self.first, axis=0)
            grown = reached[heads] | came
            if np.array_equal(grown, reached[heads]):
                break
            reached[heads] = grown
        bad = np.zeros(intact.shape[1], dtype=np.uint64)
        for here, there in ((self.a, self.b), (self.b, self.a)):
            at = np.flatnonzero(self.end[here])
            # the other side forwards and is reached; an endpoint that forwards is its own attachment
            away = (
                ~reached[there[at]] | np.where(self.forwards[there[at]], np.uint64(0), ~np.uint64(0))[:, None]
            )
            own = np.where(self.forwards[here[at]], ~np.uint64(0), np.uint64(0))[:, None]
            wrong = (away & ~own) | (~reached[here[at]] & own)
            bad |= np.bitwise_or.reduce(wrong & intact[at], axis=0) if len(at) else bad
        return ~_unpack_bits(bad, count)


class KeptFlow:
    """The maximum flow of ``of A to B`` after failures, where the flow and the cut of the intact fabric show
    it.

    Links of the minimum cut are full, and a path of the flow crosses the cut once. If all other links keep
    the capacity for the flow they carry, the flow less what was lost in the cut is feasible; the cut without
    the lost links bounds it from above.
    """

    def __init__(self, view: View, claim: ResolvedClaim) -> None:
        found = max_flow_between_sets(view, claim)
        self.judged = not isinstance(found, str) and all(
            _all_or_no_units(view, s) for s in (*claim.of, *claim.of_to)
        )
        if isinstance(found, str) or not self.judged:
            return
        f, here, there = view.fabric, found.here, found.there
        self.value = found.bound.lower
        passing = view.forwards | here | there
        kept = (view.a != view.b) & ~((here[view.a] & here[view.b]) | (there[view.a] & there[view.b]))
        kept &= passing[view.a] & passing[view.b]
        self.rows = view.rows[kept]
        self.rate = f.link_rate[self.rows]
        place = np.where(here, 0, np.where(there, 1, 2 + np.arange(f.device_count)))
        a, b = place[view.a[kept]], place[view.b[kept]]
        self.sides = [np.where((a == side) | (b == side), self.rate, 0) for side in (0, 1)]
        keys = np.minimum(a, b) * (2 + f.device_count) + np.maximum(a, b)
        every, capacity = sum_by_key(keys, self.rate)
        self.pair = np.searchsorted(every, keys)
        crossing = np.zeros(len(every), dtype=np.bool_)
        crossing[self.pair[np.isin(self.rows, found.cut)]] = True
        carried = np.zeros(len(every), dtype=np.int64)
        for x, y, amount in found.bound.proof_lower.arcs:
            low, high = sorted((x + 2, y + 2))
            at = int(np.searchsorted(every, low * (2 + f.device_count) + high))
            carried[at] = max(carried[at], amount)
        self.spare = np.where(crossing, capacity, capacity - carried)
        self.in_cut = np.where(crossing[self.pair], self.rate, 0)
        self.pairs = len(every)
        self.judged = (
            bool((carried[crossing] == capacity[crossing]).all())
            and int(capacity[crossing].sum()) == self.value
        )

    def figures(self, failures: Failures) -> tuple[Bools, Ints, Ints]:
        """Of which scenarios the flow is certain; the flow, and what the ports of the smaller side still
        carry, in bit/s."""
        lost = failures.lost[:, self.rows]
        scenario, link = np.nonzero(lost)
        keys, amount = sum_by_key(scenario * self.pairs + self.pair[link], self.rate[link])
        tight = amount > self.spare[keys % self.pairs]
        certain = np.ones(failures.count, dtype=np.bool_)
        certain[keys[tight] // self.pairs] = False
        value = np.full(failures.count, self.value, dtype=np.int64)
        np.subtract.at(value, scenario, self.in_cut[link])
        ports = []
        for side in self.sides:
            left = np.full(failures.count, int(side.sum()), dtype=np.int64)
            np.subtract.at(left, scenario, side[link])
            ports.append(left)
        full = np.minimum(*ports)
        return certain & (full > 0), value, full


def _all_or_no_units(view: View, selector: Selector) -> bool:
    """Whether each element that is named is all units or has none: then no failure changes what is meant."""
    unit = np.zeros(view.fabric.device_count, dtype=np.bool_)
    unit[view.units] = True
    chips = any(s.inside is not None and s.kind == "chip" for s in view.fabric.sets)
    return not chips and all(unit[e.devices].all() or not unit[e.devices].any() for e in selector.elements)


def _pack_bits(bits: Bools) -> Words:
    """Rows of booleans as words of 64, the rest of the last word zeros."""
    width = -bits.shape[1] % 64
    padded = np.pad(bits, ((0, 0), (0, width))) if width else bits
    packed: Words = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    return packed


def _unpack_bits(words: Words, count: int) -> Bools:
    """The first bits of a row of words."""
    return np.unpackbits(words.view(np.uint8), bitorder="little")[:count].astype(np.bool_)
