"""Floors of collective operations: times that no algorithm beats which moves and adds up data without coding
or compression.

Ranks are accelerators. A *block* is a set of ranks with the devices that only they use: one accelerator, a
host, or all hosts that scale-up links join (a scale-up domain). What a block can receive is the sum of the
links that lead into it, of both layers, and as much can leave it. Where each accelerator of a host has
scale-up links, it receives over these and over the ports of its host alone; the inside of any other host is
no limit, and the host is one block at least. Delays are left out."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

import numpy as np

from tdsl.fabric.components import component_labels
from tdsl.fabric.graph import Bools, Ints
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(eq=False)  # no slots: what is asked for is kept
class Blocks:
    """Blocks of a view's ranks, and what each can receive in bit/s.

    ``ranks`` of every endpoint device (0 for what is no rank, and could add up what others send); ``ports``
    what it receives by links of the network, ``beside`` by scale-up links that lead into it. ``chips`` is
    what its accelerators receive together by scale-up links, -1 where its inside is no limit, and ``least``
    what the slowest of them receives. ``domain`` numbers what scale-up links join."""

    view: View
    device: Ints
    ranks: Ints
    ports: Ints
    beside: Ints
    chips: Ints
    domain: Ints
    least: Ints

    @classmethod
    def of(cls, view: View) -> Blocks:
        """Read a view: its units, and other endpoints that are there."""
        f, inside = view.fabric, view.domains.inside
        before = view.intact or view
        out = _outermost_host(view)
        chips = view.units[f.kind[view.units] == "chip"]
        out[chips] = chips  # what is wired itself is a block of its own
        there = f.is_end & before.devices & (out == np.arange(f.device_count))
        there[out[view.units]] = True
        if view.members is not None:  # accelerators of their domains that are not asked about could add up
            beyond = np.isin(view.domains.of_device, view.domains.of_device[view.units])
            there |= beyond & (view.domains.of_device >= 0) & f.is_end & (out == np.arange(f.device_count))
        if view.failed is not None:
            there &= ~view.failed
        units = np.zeros(f.device_count, dtype=np.bool_)
        units[view.units] = True
        ports = rate_at_devices(view)
        owner = out[inside.owner]
        home = component_labels(
            len(owner), np.append(inside.a, owner), np.append(inside.b, np.arange(len(owner)))
        )
        away = np.where(owner[inside.a] != owner[inside.b], inside.rate, 0)
        beside, capacity = np.zeros(f.device_count, dtype=np.int64), np.zeros(len(owner), dtype=np.int64)
        for one in (inside.a, inside.b):
            np.add.at(beside, owner[one], away)
            np.add.at(capacity, one, inside.rate)
        chips, least = (
            np.zeros(f.device_count, dtype=np.int64),
            np.full(f.device_count, 1 << 62, dtype=np.int64),
        )
        np.add.at(chips, inside.host, capacity[inside.node])
        np.minimum.at(least, inside.host, capacity[inside.node])
        chips = np.where(_known_inside(view), chips, -1)
        ranks, ports = _sum_by_group(out, accelerators_of(view)), _sum_by_group(out, ports)
        device = np.flatnonzero(there)
        return cls(view, device, *(x[device] for x in (ranks, ports, beside, chips, home, least)))

    @property
    def count(self) -> int:
        """The number of ranks."""
        return int(self.ranks.sum())

    @cached_property
    def others_have_ports(self) -> bool:
        """Whether a host that is no rank has ports of the network and scale-up links to ranks: what these
        send may then leave by its ports."""
        mine = self.ranks > 0
        return bool(np.isin(self.domain[~mine & (self.ports > 0)], self.domain[mine]).any())

    @cached_property
    def kinds(self) -> list[tuple[int, int]]:
        """Every kind of block that some other rank is outside of: its ranks, and what it can receive."""
        some = self.ranks > 0
        own = self.ports + self.beside
        found = {*zip(self.ranks[some].tolist(), own[some].tolist(), strict=True)}
        chips = some & (self.chips >= 0)
        found |= {(1, x) for x in (self.ports + self.least)[chips].tolist()}
        _, which = np.unique(self.domain, return_inverse=True)
        ranks, ports = _sum_by_group(which, self.ranks), _sum_by_group(which, self.ports)
        found |= {(r, p) for r, p in zip(ranks.tolist(), ports.tolist(), strict=True) if r}
        return [(r, c) for r, c in found if r < self.count and c]

    def allreduce(self, size: Fraction, sets: int = 1) -> Fraction:
        """Seconds that adding up ``size`` bits over all ranks takes at least; of several ``sets`` that the
        ranks are divided into, each for itself and all at once, by divisions alone.

        The sum of all that is outside of a block must come in. And for every division into h blocks, each
        part of the data is sent to another block 2(h-1) times at least before all have the sum: what
        everybody receives (Patarasuk and Yuan, J. Parallel Distrib. Comput. 69, 2009; one-way gossip takes
        2h-2 messages: Harary and Schwenk, 1974). It assumes that switches do not add up."""
        alone = max((size / c for _, c in self.kinds), default=Fraction(0)) if sets == 1 else Fraction(0)
        return max(alone, 2 * size * self._received_by_division(sets)) if self.count > 1 else Fraction(0)

    def gathering(self, size: Fraction, sets: int = 1) -> Fraction:
        """Seconds that an all-gather of ``size`` bits among the ranks of each set takes at least: of h blocks
        each lacks what it does not hold, h - 1 times the data together, where one sum is of all sets."""
        return size * self._received_by_division(sets) if self.count > 1 else Fraction(0)

    def all_to_all(self, size: Fraction) -> Fraction:
        """Seconds that an exchange takes at least in which each rank sends ``size`` bits in equal parts to
        all: what a block's ranks send to others must leave it; where no domain has several units, half of
        them send half of it to the others."""
        n = self.count
        found = [size * r * (n - r) / n / c for r, c in self.kinds]
        unit = np.isin(self.device, self.view.units)
        units, each = len(self.view.units), self.ranks[unit]
        if len(each) == units > 1 and (each == each[0]).all() and not self._several:
            crossing = bisection_bounds(self.view)
            half, others = units // 2 * int(each[0]), int(self.ports[~unit].sum())
            upper = crossing.upper * crossing.net.grain + others  # which could pass on what others send
            found += [size * half * (n - half) / n / upper] if upper else []
        return max(found, default=Fraction(0))

    @property
    def _several(self) -> bool:
        """Whether scale-up links join several endpoints."""
        return len(np.unique(self.domain)) < len(self.device)

    def _received_by_division(self, sets: int) -> Fraction:
        """The greatest (h-s)/C over divisions of the ranks of s ``sets``: h is the number of blocks, C what
        all receive together in bit/s; of h blocks, s sets have h-s at least beyond one for each. By
        Dinkelbach's method: with the best ratio so far as the price of capacity, each host and domain is
        divided as is best."""
        some, chips = self.ranks > 0, (self.ranks > 0) & (self.chips >= 0)
        _, which = np.unique(self.domain, return_inverse=True)
        host = some.astype(np.int64), self.ports + self.beside
        fine = np.where(chips, self.ranks, host[0]), np.where(chips, self.ports + self.chips, host[1])
        domain = np.minimum(_sum_by_group(which, host[0]), 1), _sum_by_group(which, self.ports)
        best = Fraction(0)
        for _ in range(32):
            price = float(best)
            finer = (fine[0] - price * fine[1]) > (host[0] - price * host[1])
            blocks, rate = (np.where(finer, x, y) for x, y in zip(fine, host, strict=True))
            apart = np.bincount(which, blocks - price * rate) > domain[0] - price * domain[1]
            h = int(np.where(apart, _sum_by_group(which, blocks), domain[0]).sum())
            capacity = _exact_total(rate[apart[which]]) + _exact_total(domain[1][~apart])
            if h <= sets or not capacity or Fraction(h - sets, capacity) <= best:
                return best
            best = Fraction(h - sets, capacity)
        return best


def accelerators_of(view: View) -> Ints:
    """The ranks of every device of a view: the accelerators of a host that are there, 1 for a unit that has
    none or is none; 0 for what is no unit."""
    f = view.fabric
    found = np.zeros(f.device_count, dtype=np.int64)
    holds = np.array([m.kind == "host" and m.accelerators > 0 for m in f.models] or [False], dtype=np.bool_)[
        f.device_model
    ]
    there = np.bincount(view.domains.inside.host, minlength=f.device_count)
    found[view.units] = np.where(holds, there[: f.device_count], 1)[view.units]
    return found


def some_end_relays(view: View) -> bool:
    """Whether some host or chip that no path passes has links to several devices: what reaches it by one of
    them it may send on by another, as an algorithm that runs there can."""
    passes = view.forwards
    ends, others = np.append(view.a, view.b), np.append(view.b, view.a)
    mine = ~passes[ends]
    pairs = np.unique(np.stack((ends[mine], others[mine])), axis=1)
    return len(np.unique(pairs[0])) < int(pairs.shape[1])


def _exact_total(amounts: Ints) -> int:
    """The sum of amounts that are not negative; the insides of a million accelerators exceed 64 bits
    together."""
    return (int((amounts >> 32).sum()) << 32) + int((amounts & 0xFFFFFFFF).sum())


def _sum_by_group(group: Ints, amount: Ints) -> Ints:
    """The exact sum of amounts in every group."""
    out = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.int64)
    np.add.at(out, group, amount)
    return out


def rate_at_devices(view: View) -> Ints:
    """What every device has of links of a view, in bit/s."""
    out = np.zeros(view.fabric.device_count, dtype=np.int64)
    rate = view.fabric.link_rate[view.rows]
    np.add.at(out, view.a, rate)
    np.add.at(out, view.b, rate)
    return out


def _outermost_host(view: View) -> Ints:
    """For every device the host that it is in, at whatever depth; itself if it is in none."""
    f = view.fabric
    host = f.kind == "host"
    out = np.arange(f.device_count)
    for _ in range(8):
        out = np.where(host[out] | (f.container[out] < 0), out, f.container[out])
    return np.where(host[out], out, np.arange(f.device_count))


def _known_inside(view: View) -> Bools:
    """Of every device whether it is a host all of whose accelerators have scale-up links of their own, and
    itself has none. Where an accelerator has lost all of its, others may be reached some other way inside of
    the host."""
    count, inside = view.fabric.device_count, view.domains.inside
    designed, linked = (np.zeros(len(inside.label), dtype=np.bool_) for _ in range(2))
    for domains, out in ((view.fabric.domains.inside, designed), (inside, linked)):
        real = domains.rate > 0
        out[domains.a[real]] = out[domains.b[real]] = True
    known: Bools = (np.bincount(inside.host, minlength=count) > 0) & ~designed[:count]
    known[inside.host[~linked[inside.node]]] = False
    return known
