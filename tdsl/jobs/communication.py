"""What the communication of a job takes on the wiring, with all groups of a dimension at once.

The lower end counts what must cross the cuts around ranks, hosts, scale-up domains and the blocks of the
design, and no algorithm beats it. The upper end is a schedule: rings in the order of the ranks, each message
at a constant rate on routes that fit the wiring together; exchanges of experts are sent directly. The two
ends meet the floors and schedules of ``tdsl explain allreduce`` for the same groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tdsl.fabric.graph import Bools, Ints
from tdsl.jobs.arithmetic import BITS, JobOperation, group_size, operations_of_job
from tdsl.jobs.grid import groups_of_dimension
from tdsl.jobs.placed import PlacedRanks
from tdsl.prove.delays import SECOND
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.domain_rates import DomainRate
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.terminals import offer_of_demand
from tdsl.prove.view import View
from tdsl.semantics.jobs import Job
from tdsl.system.lazy_dataclass import dataclass

GATHERED, ROUND, DIRECT = "gathered", "round", "direct"
PATTERN_OF = {
    "all_gather": GATHERED,
    "reduce_scatter": GATHERED,
    "ring": ROUND,
    "forward": ROUND,
    "backward": ROUND,
    "all_to_all": DIRECT,
}
"""How ranks of a group send in each kind of operation: round rings that begin in every rank of a unit, each
with its part; round one ring; or directly."""
Floats = NDArray[np.float64]
MOST_MESSAGES = 1 << 25
"""Messages of an exchange that are routed; of more the lower end alone is known."""


@dataclass(frozen=True, slots=True)
class OperationTime:
    """What one kind of operation takes in a step, in seconds: ``least`` and ``most``, None where no schedule
    is known. ``sent`` are bytes that a rank sends; ``limit`` is what bounds it, in words."""

    operation: JobOperation
    group: int
    sent: Fraction
    least: Fraction
    most: Fraction | None
    limit: str


@dataclass(frozen=True, slots=True)
class DimensionTime:
    """What a dimension sends in a step: bytes of a rank, seconds between two ends, and where messages go:
    shares of them by the least block that holds both ends, as (words, share)."""

    dimension: str
    group: int
    groups: int
    operations: tuple[OperationTime, ...]
    crossed: tuple[tuple[str, Fraction], ...]

    @property
    def sent(self) -> Fraction:
        """Bytes that a rank sends in a step."""
        return sum((o.sent for o in self.operations), Fraction(0))

    @property
    def least(self) -> Fraction:
        """Seconds that no algorithm beats."""
        return sum((o.least for o in self.operations), Fraction(0))

    @property
    def most(self) -> Fraction | None:
        """Seconds of the schedules; None where one has none."""
        found = [o.most for o in self.operations]
        return None if None in found else sum((x for x in found if x is not None), Fraction(0))

    @property
    def limit(self) -> str:
        """What bounds the slowest operation."""
        return max(self.operations, key=lambda o: o.least).limit if self.operations else ""


@dataclass(eq=False)  # no slots: what is asked for is kept
class JobTraffic:
    """The communication of a job on its ranks."""

    ranks: PlacedRanks

    @property
    def job(self) -> Job:
        """What is written."""
        return self.ranks.job.job

    @cached_property
    def delays(self) -> RouteDelays:
        """Delays of the network."""
        return RouteDelays.of(self.ranks.view)

    @cached_property
    def _step_delay(self) -> Fraction:
        """Seconds of one message between the farthest units, as far as delays are known."""
        return Fraction(self.delays.farthest_units, SECOND)

    def times_of_job(self, job: Job | None = None) -> list[DimensionTime]:
        """Every dimension that sends something; of the job, or of one with other numbers on these ranks."""
        job = job or self.job
        found: dict[str, list[JobOperation]] = {}
        for op in operations_of_job(job):
            found.setdefault(op.dimension, []).append(op)
        return [self._time_of_dimension(job, name, ops) for name, ops in found.items()]

    def _time_of_dimension(self, job: Job, dimension: str, ops: Sequence[JobOperation]) -> DimensionTime:
        groups = groups_of_dimension(job, dimension)
        size = group_size(job, dimension)
        patterns: dict[tuple[str, bool], _Pattern] = {}
        times = []
        for op in ops:
            key = PATTERN_OF[op.kind], op.wraps
            if key not in patterns:
                patterns[key] = self._pattern(groups, *key)
            times.append(self._time_of_operation(op, groups, patterns[key]))
        return DimensionTime(
            dimension, size, len(groups), tuple(times), next(iter(patterns.values())).crossed
        )

    def _time_of_operation(self, op: JobOperation, groups: Ints, pattern: _Pattern) -> OperationTime:
        size = groups.shape[1]
        bits = op.bytes * BITS
        least, limit = self._floor_of_operation(op, groups)
        most: Fraction | None = None
        if pattern.network is not None and pattern.inside is not None:
            outside = pattern.network * op.host_share
            inside = pattern.inside
            if op.kind == "all_to_all":
                most = bits / size * max(outside, inside)
            else:
                most = op.sent_by_rank(size) * BITS * max(outside, inside) / pattern.parts
            steps = size - 1 if op.kind in ("all_gather", "reduce_scatter") else 1
            most += steps * self._step_delay if pattern.network else 0
            most = max(most, least)
        return OperationTime(
            op,
            size,
            op.sent_by_rank(size) * op.count,
            least * op.count,
            None if most is None else most * op.count,
            limit,
        )

    # ------------------------------------------------------------ floors
    def _floor_of_operation(self, op: JobOperation, groups: Ints) -> tuple[Fraction, str]:
        """Seconds that one operation takes at least, and the cut that says so."""
        best, why = Fraction(0), ""
        for cut in self.ranks.cuts:
            count = len(cut.rate) if cut.owner is None else len(cut.owner)
            crossing = _bits_that_cross(op, groups, cut.block, count)
            if cut.owner is not None:
                crossing = np.bincount(cut.owner, crossing, minlength=len(cut.rate)).astype(np.float64)
            some = np.flatnonzero((crossing > 0) & (cut.rate > 0))
            if not len(some):
                continue
            worst = int(some[np.argmax(crossing[some] / cut.rate[some])])
            took = Fraction(float(crossing[worst])).limit_denominator(10**6) / int(cut.rate[worst])
            if took > best:
                best, why = took, cut.words
        return best, why

    # ------------------------------------------------------------ schedules
    def _pattern(self, groups: Ints, how: str, wraps: bool) -> _Pattern:
        """The messages of all groups: seconds a bit of each over the network and inside of domains."""
        ranks = self.ranks
        if how == DIRECT and groups.size * groups.shape[1] > MOST_MESSAGES:
            return _Pattern(None, None, 1, ())
        rings = _rings_of_groups(groups, ranks.unit) if how == GATHERED else [groups]
        each = [_messages_of_groups(ring, how, wraps) for ring in rings]
        source, target = (np.concatenate(x) for x in zip(*each, strict=True))
        same = ranks.domain[source] == ranks.domain[target]
        rates = ranks.rate_of_domain
        unknown = {k for k, rate in rates.items() if rate is None}
        over_ports = same & np.isin(ranks.domain[source], np.array(sorted(unknown), dtype=np.int64))
        outside = ~same | over_ports
        inside = _most_by_rank(source[same & ~over_ports], target[same & ~over_ports], len(ranks.unit))
        network, handed = self._network_seconds(source[outside], target[outside])
        within = _seconds_inside(rates, ranks.domain, inside + handed)
        crossed = _crossed_blocks(ranks, source, target, same & ~over_ports)
        return _Pattern(network, within, len(rings), crossed)

    def _network_seconds(self, source: Ints, target: Ints) -> tuple[Fraction | None, Ints]:
        """Seconds that a bit of each of these messages takes over the network, all at once; None where no
        routes are known. And the messages that a rank hands to another one of its unit, so that they leave
        on the rail of whom they are for."""
        ranks, none = self.ranks, np.zeros(len(self.ranks.unit), dtype=np.int64)
        if not len(source):
            return Fraction(0), none
        rails = ranks.rails
        if rails is None:
            return _seconds_of_messages(ranks.view, ranks.unit[source], ranks.unit[target]), none
        rail = ranks.rail_of_rank
        moved = rail[source] != rail[target]
        np.add.at(none, source[moved], 1)
        table = ranks.rail_table
        a, b = table[ranks.unit[source], rail[target]], table[ranks.unit[target], rail[target]]
        return _seconds_of_messages(rails, a, b), none


@dataclass(frozen=True, slots=True)
class _Pattern:
    """Seconds that a bit of each message of a pattern takes, over the network and inside; None where that is
    not known. Each message carries one of so many ``parts``. ``crossed`` as in ``DimensionTime``."""

    network: Fraction | None
    inside: Fraction | None
    parts: int
    crossed: tuple[tuple[str, Fraction], ...]


def _rings_of_groups(groups: Ints, unit: Ints) -> list[Ints]:
    """Orders of the ranks of every group in which a ring may go round: where each group has runs of equally
    many ranks of a unit, each of them enters a unit at another one, so that all ports are used; the one order
    that is written otherwise."""
    label = unit[groups]
    size = groups.shape[1]
    changes = label[:, 1:] != label[:, :-1]
    first = int(changes[0].argmax()) + 1 if changes[0].any() else size
    wanted = np.arange(1, size) % first == 0
    if first < 2 or first == size or size % first or not (changes == wanted[None, :]).all():
        return [groups]
    runs = groups.reshape(len(groups), -1, first)
    return [np.roll(runs, -turn, axis=2).reshape(groups.shape) for turn in range(first)]


def _messages_of_groups(groups: Ints, how: str, wraps: bool) -> tuple[Ints, Ints]:
    """Sender and receiver of every message: each to the next of its group, in a circle where it ``wraps``; or
    each to all of its group."""
    if how != DIRECT:
        return _flat(groups, np.roll(groups, -1, axis=1), wraps)
    size = groups.shape[1]
    a = np.repeat(groups, size, axis=1)
    b = np.tile(groups, (1, size))
    apart = a != b
    return a[apart], b[apart]


def _flat(groups: Ints, nexts: Ints, wraps: bool) -> tuple[Ints, Ints]:
    kept = slice(None) if wraps else slice(0, -1)
    return groups[:, kept].reshape(-1), nexts[:, kept].reshape(-1)


def _most_by_rank(source: Ints, target: Ints, count: int) -> Ints:
    """How many messages every rank sends or receives, whichever is more."""
    return np.maximum(np.bincount(source, minlength=count), np.bincount(target, minlength=count))


def _seconds_inside(rates: dict[int, DomainRate | None], domain: Ints, messages: Ints) -> Fraction | None:
    """Seconds that a bit of each message inside of domains takes; None where something is to be handed on in
    a domain of which nothing says what joins it."""
    worst = Fraction(0)
    busy = np.flatnonzero(messages > 0)
    for mine, count in {*zip(domain[busy].tolist(), messages[busy].tolist(), strict=True)}:
        rate = rates[mine]
        if rate is None:
            return None
        worst = max(worst, count * (1 if rate.any_traffic else 2) / rate.bps)
    return worst


def _seconds_of_messages(view: View, a: Ints, b: Ints) -> Fraction | None:
    """Seconds that a bit of each message between units takes where all flow at once, on routes that fit; None
    where none are known."""
    pairs, amount = np.unique(np.stack((a, b)), axis=1, return_counts=True)
    offer = offer_of_demand(view, TrafficDemand(pairs[0], pairs[1], amount))
    if offer is None:
        return None
    budget = view.budget
    work = min(budget.routing_work, budget.message_routing_work)
    found = offer.bounds(replace(budget, routing_work=work))
    return None if found is None or not found.lower else 1 / (Fraction(found.lower) * offer.grain)


def _crossed_blocks(
    ranks: PlacedRanks, source: Ints, target: Ints, inside: Bools
) -> tuple[tuple[str, Fraction], ...]:
    """Shares of messages by the least block that holds both ends, innermost first."""
    whole = len(source)
    if not whole:
        return ()
    out = [("scale-up links", int(inside.sum()))]
    left = ~inside
    for division in reversed(ranks.divisions[:-1]):
        block = division.block[ranks.unit]
        here = left & (block[source] == block[target])
        out.append((f"one {division.word}", int(here.sum())))
        left &= ~here
    outermost = ranks.divisions[:-1]
    words = f"more than one {outermost[0].word}" if outermost else "the network"
    out.append((words, int(left.sum())))
    return tuple((words, Fraction(n, whole)) for words, n in out if n)


def _bits_that_cross(op: JobOperation, groups: Ints, block: Ints, count: int) -> Floats:
    """Bits that must leave or enter each block in one operation, whichever are more."""
    size = groups.shape[1]
    label = block[groups]
    if op.kind in ("forward", "backward"):
        here, there = _flat(label, np.roll(label, -1, axis=1), op.wraps)
        apart = here != there
        sums = [np.bincount(x[apart], minlength=count).astype(float) for x in (here, there)]
        crossing: Floats = np.maximum(*sums) * float(op.bytes * BITS)
        return crossing
    row = np.repeat(np.arange(len(groups)), size)
    key, held = np.unique(row * count + label.reshape(-1), return_counts=True)
    held, where = held[held < size], key[held < size] % count
    share = held / size
    if op.kind == "all_to_all":
        sent = np.bincount(where, share * (size - held), minlength=count).astype(np.float64)
        return sent * float(op.bytes * op.host_share * BITS)
    whole = op.bytes * BITS * (Fraction(size, size - 1) if op.kind == "ring" else 1)
    sums = [np.bincount(where, x, minlength=count) for x in (share, 1 - share)]
    most: Floats = np.maximum(*sums) * float(whole)
    return most


def total_seconds(times: Iterable[DimensionTime]) -> tuple[Fraction, Fraction | None]:
    """The sum of the ends of some dimensions."""
    least, most = Fraction(0), Fraction(0)
    known = True
    for t in times:
        least += t.least
        known = known and t.most is not None
        most += t.most or 0
    return least, most if known else None
