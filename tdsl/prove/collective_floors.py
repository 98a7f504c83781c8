"""Floors of collective operations: times that no algorithm beats which moves and adds up data without coding
or compression, each with what it is due to.

The cuts are around blocks of ranks: an accelerator, a host, a scale-up domain (``collective_bounds``), and
here around the blocks that the design and the wiring make of the units, whose cut is the least that separates
them from all other units. What crosses it may be passed on by any device outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.by_domain import domain_spans_units
from tdsl.prove.collective_bounds import Blocks, accelerators_of
from tdsl.prove.delays import SECOND
from tdsl.prove.localities import Division, nested_divisions
from tdsl.prove.max_flow import max_flow
from tdsl.prove.network import Network
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Floor:
    """A time in seconds that no algorithm beats, and what it is due to, in words."""

    seconds: Fraction
    why: str


@dataclass(frozen=True, slots=True)
class BlockCut:
    """Bit/s that can leave a block of ranks, and enter it, at once; how many ranks of each set are in it;
    ``why`` says which block."""

    ranks: tuple[int, ...]
    rate: int
    why: str


@dataclass(eq=False)  # no slots: what is asked for is kept
class Floors:
    """What floors of a view's collective operations are computed from. ``outer`` numbers the sets of units
    that do an operation each for itself, all at once; None for all as one. ``across`` are divisions of all
    units, whose blocks may have parts of several sets."""

    view: View
    divisions: Sequence[Division]
    outer: Ints | None = None
    across: Sequence[Division] = ()

    @classmethod
    def of(cls, view: View, outer: Ints | None = None, nested: Sequence[Division] | None = None) -> Floors:
        """Read a view, ``outer`` the set of every unit, and its ``nested`` divisions where these are known.
        Where others than units have ports of a domain, what leaves it may leave by these, and no other block
        than the domain is looked at."""
        made = cls(view, nested or nested_divisions(view, outer), outer)
        if outer is not None:
            made.across = nested_divisions(view)[:-1]
        if made.blocks.others_have_ports:
            made.divisions, made.across = made.divisions[-1:], ()
        return made

    @property
    def groups(self) -> list[Division]:
        """The divisions into blocks of several units, those of single sets first."""
        return [*self.divisions[:-1], *self.across]

    @cached_property
    def blocks(self) -> Blocks:
        """Single accelerators, hosts and scale-up domains."""
        return Blocks.of(self.view)

    @cached_property
    def sets(self) -> tuple[int, ...]:
        """The ranks of every set."""
        return self._ranks_by_set(np.ones(len(self.view.units), dtype=np.bool_))

    def _ranks_by_set(self, units: Bools) -> tuple[int, ...]:
        """How many ranks of each set some units hold."""
        group = np.zeros(len(units), dtype=np.int64) if self.outer is None else self.outer
        out = np.zeros(int(group.max(initial=0)) + 1, dtype=np.int64)
        np.add.at(out, group[units], self._weight[units])
        return tuple(out.tolist())

    @cached_property
    def delay(self) -> Floor:
        """The least delay of the two units that are farthest apart, as far as it is known. Where scale-up
        links join units, a path through them may take less, and nothing is said; nor of several sets."""
        if self.outer is not None or domain_spans_units(self.view) or self.blocks.others_have_ports:
            return Floor(Fraction(0), "")
        delays = RouteDelays.of(self.view)
        words = "the least delay of the farthest two" + ", as far as it is known" * bool(delays.missing)
        return Floor(Fraction(delays.farthest_units, SECOND), words)

    @cached_property
    def cuts(self) -> list[BlockCut]:
        """Cuts around blocks of all kinds."""
        blocks = self.blocks
        if self.outer is None:
            small = [BlockCut((r,), c, _own_links_text(r)) for r, c in blocks.kinds]
        else:
            small = self._cuts_of_units()
        return [*small, *(cut for division in self.groups for cut in self._cuts_of(division))]

    def _cuts_of_units(self) -> list[BlockCut]:
        """The cut around every unit with ranks, one of each kind."""
        rate = dict(
            zip(self.blocks.device.tolist(), (self.blocks.ports + self.blocks.beside).tolist(), strict=True)
        )
        group = self.outer if self.outer is not None else np.zeros(len(self.view.units), dtype=np.int64)
        units = self.view.units.tolist()
        kinds = {
            (g, w, rate.get(u, 0))
            for g, w, u in zip(group.tolist(), self._weight.tolist(), units, strict=True)
        }
        chips = self.blocks.ranks > 0
        chips &= self.blocks.chips >= 0
        one = dict(
            zip(
                self.blocks.device[chips].tolist(),
                (self.blocks.ports + self.blocks.least)[chips].tolist(),
                strict=True,
            )
        )
        kinds |= {(g, 1, one[u]) for g, u in zip(group.tolist(), units, strict=True) if u in one}
        return [
            BlockCut(tuple(w if k == g else 0 for k in range(len(self.sets))), c, _own_links_text(w))
            for g, w, c in sorted(kinds)
            if c and w
        ]

    def all_reduce(self, size: Fraction) -> Floor:
        """All ranks of a set end up with the sum of ``size`` bits of each: the sum of either side of a cut
        crosses it, and what blocks receive together is bounded (see ``Blocks.allreduce``), also of the blocks
        of a division."""
        received = self.blocks.allreduce(size, len(self.sets))
        found = [self.delay, Floor(received, "what accelerators, hosts or domains receive")]
        found += [Floor(size * self._sets_divided_by(c) / c.rate, c.why) for c in self.cuts]
        found += [self._divided(size, d) for d in self.divisions[:-1]]
        return max(found, key=lambda f: f.seconds)

    def all_reduce_in_network(self, size: Fraction) -> Floor:
        """The same where switches add up and replicate: the sum of either side of a cut crosses it, and what
        blocks receive together is no bound."""
        found = [self.delay]
        if self.outer is None:
            found += [Floor(size / c, _own_links_text(r)) for r, c in self.blocks.kinds]
        found += [Floor(size * self._sets_divided_by(c) / c.rate, c.why) for c in self.cuts]
        return max(found, key=lambda f: f.seconds)

    def _sets_divided_by(self, cut: BlockCut) -> int:
        """The sets of which some ranks are in a block and others are not."""
        return sum(0 < r < n for r, n in zip(cut.ranks, self.sets, strict=True))

    def all_gather(self, size: Fraction) -> Floor:
        """All ranks of a set end up with ``size`` bits, of which each held the same part: what one side of a
        cut holds crosses it, and blocks receive together what they lack. A reduce-scatter is the same the
        other way."""
        found = [self.delay]
        for cut in self.cuts:
            parts = [Fraction(r, n) for r, n in zip(cut.ranks, self.sets, strict=True) if 0 < r < n]
            found.append(Floor(size * max(sum(parts), len(parts) - sum(parts)) / cut.rate, cut.why))
        received = self.blocks.gathering(size, len(self.sets))
        found.append(Floor(received, "what accelerators, hosts or domains receive"))
        return max(found, key=lambda f: f.seconds)

    def all_to_all(self, size: Fraction) -> Floor:
        """Every rank sends ``size`` bits in equal parts to all of its set: what the ranks of a block send to
        the others leaves it."""
        found = [self.delay]
        for cut in self.cuts:
            sent = sum(Fraction(r * (n - r), n) for r, n in zip(cut.ranks, self.sets, strict=True))
            found.append(Floor(size * sent / cut.rate, cut.why))
        if self.outer is None:
            found.append(Floor(self.blocks.all_to_all(size), "what accelerators, hosts or domains send"))
        return max(found, key=lambda f: f.seconds)

    @cached_property
    def _weight(self) -> Ints:
        return accelerators_of(self.view)[self.view.units]

    def _cuts_of(self, division: Division) -> list[BlockCut]:
        """The cuts around the blocks of a division: of all by their own devices, of those that promise most
        the least one."""
        rate, budget = self._own_rates[id(division)], self.view.budget
        ranks = np.zeros(division.count, dtype=np.int64)
        np.add.at(ranks, division.block, self._weight)
        some = np.flatnonzero((rate > 0) & (ranks > 0) & (ranks < sum(self.sets)))
        promise = np.maximum(ranks, 1)[some] * (sum(self.sets) - ranks[some]) / rate[some]
        closest = some[np.lexsort((some, -promise))]
        inside = {
            b: self._ranks_by_set(division.block == b) for b in closest[: 4 * budget.block_cuts].tolist()
        }
        out = [
            BlockCut(held, int(rate[b]), f"the links that leave {self._block_text(division, b)}")
            for b, held in inside.items()
        ]
        if len(self.view.rows) > budget.block_cut_links:
            return out
        no_less = dict[
            tuple[tuple[int, ...], int], int
        ]()  # blocks of a kind whose own links are the least cut
        for b in closest[: budget.block_cuts].tolist():
            kind = inside[b], int(rate[b])
            if no_less.get(kind, 0) >= budget.equal_block_cuts:
                continue
            value = self._least_cut(division.block == b)
            no_less[kind] = no_less.get(kind, 0) + (value >= rate[b])
            if 0 < value < rate[b]:
                out.append(
                    BlockCut(inside[b], value, f"the least cut around {self._block_text(division, b)}")
                )
        return out

    def _divided(self, size: Fraction, division: Division) -> Floor:
        """All blocks of a division receive at least this together."""
        rate = self._own_rates[id(division)]
        others = int(self._rate_of_others)
        total = int(rate.sum()) + others
        beyond = division.count - len(self.sets)  # each set has a block of its own at least
        if beyond < 1 or not total:
            return Floor(Fraction(0), "")
        words = f"what all {division.count} blocks by {division.word} receive together"
        return Floor(2 * size * beyond / total, words)

    @cached_property
    def _rate_of_others(self) -> int:
        """What endpoints that are no units could receive, and add up."""
        mine = self.blocks.ranks == 0
        return int((self.blocks.ports + self.blocks.beside)[mine].sum())

    @cached_property
    def _own_rates(self) -> dict[int, Ints]:
        """For every division, by its identity, the rate of the links that leave each block with the switches
        that lie in it: those all of whose units, by links from switch to switch below them, are its own."""
        view = self.view
        out: dict[int, Ints] = {}
        for division in self.groups:
            label = self.device_labels(division)
            a, b, rate = label[view.a], label[view.b], view.fabric.link_rate[view.rows]
            crossing = a != b
            found = np.zeros(division.count + 1, dtype=np.int64)
            for end in (a, b):
                np.add.at(found, end[crossing], rate[crossing])
            out[id(division)] = found[:-1]
        return out

    def device_labels(self, division: Division) -> Ints:
        """The block of every device, -1 outside of all: units by themselves; a forwarding device is in a
        block where most of its links lead to devices of it, outwards from the units."""
        view, count = self.view, division.count
        label = np.full(view.fabric.device_count, -1, dtype=np.int64)
        label[view.units] = division.block
        rate = view.fabric.link_rate[view.rows].astype(np.float64)
        passing = view.forwards & (label < 0)
        for _ in range(4):
            keys, amounts = [], []
            for x, y in ((view.a, view.b), (view.b, view.a)):
                mine = passing[x] & (label[x] < 0) & (label[y] >= 0)
                keys.append(x[mine] * count + label[y[mine]])
                amounts.append(rate[mine])
            key, which = np.unique(np.concatenate(keys), return_inverse=True)
            if not len(key):
                break
            total = np.bincount(which, np.concatenate(amounts))
            device, block = key // count, key % count
            every = np.bincount(device, total, view.fabric.device_count)[device]
            full = np.zeros(view.fabric.device_count)
            for x in (view.a, view.b):
                full += np.bincount(x, rate, view.fabric.device_count)
            won = (total == every) & (2 * total >= full[device])
            label[device[won]] = block[won]
            if not won.any():
                break
        return label

    def _least_cut(self, inside: Bools) -> int:
        """Bit/s of the least cut between some units and all others; every other device may pass on."""
        view = self.view
        place = 2 + np.arange(view.fabric.device_count)
        place[view.units] = np.where(inside, 0, 1)
        a, b = place[view.a], place[view.b]
        nodes, dense = np.unique(np.concatenate(([0, 1], a, b)), return_inverse=True)
        one, other = np.split(dense[2:], 2)
        net = Network.both_ways(
            np.ones(len(nodes), dtype=np.bool_), one, other, view.fabric.link_rate[view.rows]
        )
        return max_flow(net, 0, 1).value

    def _block_text(self, division: Division, block: int) -> str:
        """A block by its first unit and how many there are."""
        mine = self.view.units[division.block == block]
        first, more = self.view.names(mine[:1])[0], len(mine) - 1
        return f"{first} and {more:,} more with the same {division.word}" if more else first


def _own_links_text(count: int) -> str:
    return "the links of a rank" if count == 1 else f"the links of {count:,} ranks"
