"""What formulas of the field make of an all-reduce: a message of m bits takes α + m/B (Hockney 1994).

α is the fabric's worst zero-load latency and B what one rank can send: formulas with stated assumptions, not
measurements, and no bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.rails import rail_plan
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.bound import NotBounded
from tdsl.prove.by_domain import units_with_joined_accelerators
from tdsl.prove.collective_bounds import accelerators_of
from tdsl.prove.delays import worst_delay
from tdsl.prove.domain_rates import domain_rates
from tdsl.prove.network import Network
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.nccl_model import NcclRanks, nccl_all_reduce_models
from tdsl.verify.workload import CollectiveModel


@dataclass(frozen=True, slots=True)
class RankGroup:
    """Ranks that exchange data without the network: those of a scale-up domain, or one alone. ``inside`` is
    what each has of the domain in bit/s, None for one alone; ``rate`` what the slowest of them has of the
    network."""

    ranks: int
    inside: Fraction | None
    rate: Fraction


@dataclass(eq=False)  # no slots: what is asked for is kept
class ModelledRanks:
    """What takes part in a collective: ``count`` ranks (accelerators; the units themselves where they hold
    none) on ``units`` hosts or chips, ``each`` of them on every unit (0 where units differ). ``rate`` is what
    a rank has of the network in bit/s. ``part`` is the number of the scale-up domain of every unit, ``kinds``
    the different ones of these; none where there is no domain, or the accelerators of some unit are not
    joined, or what they exchange is not known."""

    view: View
    net: Network
    units: int
    count: int
    each: int
    rate: Fraction
    part: Ints
    kinds: tuple[RankGroup, ...] = ()

    @classmethod
    def of(cls, view: View) -> ModelledRanks:
        """Read a view. Every rank is as fast as the slowest."""
        net = unit_network(view)
        each = accelerators_of(view)[net.units]
        pairs = [(int(i), int(e)) for i, e in {*zip(net.injection.tolist(), each.tolist(), strict=True)} if e]
        pairs.sort(key=lambda x: Fraction(*x))
        slowest = Fraction(*pairs[0]) * net.grain if pairs else Fraction(0)
        same = int(each[0]) if len(distinct_values(each)) == 1 else 0
        label = view.domains.of_device[net.units]
        label = np.where(label >= 0, label, view.domains.count + np.arange(len(label)))
        found, part = np.unique(label, return_inverse=True)
        made = cls(view, net, len(each), int(each.sum()), same, slowest, part)
        if not units_with_joined_accelerators(view).all() or found[0] >= view.domains.count:
            return made
        kinds = _kinds_of_domains(made, each, pairs, found)
        known = all(k.inside is not None for k in kinds if k.ranks > 1)
        ordered = sorted(kinds, key=lambda k: (k.ranks, k.inside or 0, k.rate))
        return replace(made, kinds=tuple(ordered)) if known else made

    @property
    def inside(self) -> Fraction | None:
        """What a rank has of its scale-up domain in bit/s, the one that has least; None without one."""
        return min((k.inside for k in self.kinds if k.inside is not None), default=None)

    @property
    def domains(self) -> int:
        """Scale-up domains, ranks that are alone in one counted; 0 without any."""
        return int(self.part.max()) + 1 if self.inside is not None else 0

    @cached_property
    def outside(self) -> Fraction:
        """What each domain can send to the others at once in bit/s, at least: where rails are not connected,
        over each part of the network that all of them have ports at as much as the one with least."""
        if not self.rails_apart:
            return min(k.ranks * k.rate for k in self.kinds)
        f, at = self.view.fabric, self.view.attachment
        place = np.full(f.device_count, -1, dtype=np.int64)
        place[self.net.units] = self.part
        mine = (place[at.end] >= 0) & (at.port >= 0)
        key, which = np.unique(at.hub[mine] * self.domains + place[at.end[mine]], return_inverse=True)
        rate = np.zeros(len(key), dtype=np.int64)
        np.add.at(rate, which, f.link_rate[f.port_link[at.port[mine]]])
        begin = np.flatnonzero(np.diff(key // self.domains, prepend=-1))
        every = np.diff(np.append(begin, len(key))) == self.domains
        return Fraction(int(np.minimum.reduceat(rate, begin)[every].sum())) if len(key) else Fraction(0)

    @cached_property
    def rails_apart(self) -> bool:
        """Whether rails are joined nowhere in the network, so that ranks of different rails need the scale-up
        domain."""
        at = self.view.attachment
        unit = np.isin(at.end, self.net.units)
        return rail_plan(self.view.fabric).organised and len(distinct_values(at.hub[unit])) > 1

    @cached_property
    def crossing(self) -> Fraction:
        """Bit/s that two halves can exchange each way, at least."""
        return Fraction(bisection_bounds(self.view).lower * self.net.grain)

    @cached_property
    def across(self) -> Fraction:
        """What a rank can send to the other half, all at once."""
        full = self.net.full * self.net.grain
        return self.rate * min(self.crossing / full, Fraction(1)) if full else Fraction(0)


def _kinds_of_domains(
    ranks: ModelledRanks, each: Ints, pairs: Sequence[tuple[int, int]], domains: Ints
) -> set[RankGroup]:
    """The different domains, by their numbers. ``each`` is how many ranks are on every unit, ``pairs`` what
    the units inject and how many ranks share it, slowest first."""
    net, view = ranks.net, ranks.view
    place = {x: k for k, x in enumerate(pairs)}
    speed = [place.get(x, len(pairs)) for x in zip(net.injection.tolist(), each.tolist(), strict=True)]
    least = np.full(len(domains), len(pairs))
    np.minimum.at(least, ranks.part, np.array(speed))
    sizes = np.bincount(ranks.part, weights=each).astype(np.int64)
    inside = [*(r.bps if r else None for r in domain_rates(view)), *[None] * len(each)]
    rows = {*zip(sizes.tolist(), (inside[k] for k in domains.tolist()), least.tolist(), strict=True)}
    return {RankGroup(g, i if g > 1 else None, Fraction(*pairs[k]) * net.grain) for g, i, k in rows if g}


def _nccl_ranks(ranks: ModelledRanks) -> NcclRanks | None:
    """Ranks as NCCL's model takes them: equal scale-up domains of accelerators of NVIDIA; None for others."""
    capability = _least_capability(ranks.view)
    if len(ranks.kinds) != 1 or ranks.inside is None or not capability:
        return None
    outside = ranks.outside if ranks.domains > 1 else None
    if outside is not None and not outside:
        return None
    return NcclRanks(ranks.domains, ranks.kinds[0].ranks, ranks.inside, outside, capability)


def _least_capability(view: View) -> int:
    """10 times the least compute capability of the accelerators of the units; 0 where one states none, or is
    of another maker than NVIDIA."""
    f = view.fabric
    models = [f.models[m] for m in distinct_values(f.device_model[view.units]).tolist()]
    chips = [c.model.facts for m in models for c in m.chips if c.accelerates]
    stated = [x for c in chips if isinstance(x := c.get("sm"), int)]
    makers = {str(c.get("vendor", "NVIDIA")) for c in chips}
    return min(stated) if stated and len(stated) == len(chips) and makers == {"NVIDIA"} else 0


def all_reduce_models(view: View, size: Fraction) -> list[CollectiveModel]:
    """What applies to a fabric, fastest first: flat models where all ranks are joined by the network, the
    hierarchical one with a scale-up domain. α is the worst latency, 0 where it is not known."""
    ranks = ModelledRanks.of(view)
    if not ranks.rate:
        return []
    far = worst_delay(view)
    alpha = Fraction(0) if far is None or isinstance(far, NotBounded) else far.upper
    n, rate, out = ranks.count, ranks.rate, []
    if not ranks.rails_apart:
        out.append(
            CollectiveModel(
                "ring", 2 * (n - 1) * alpha + Fraction(2 * (n - 1), n) * size / rate, "2(n-1)α + 2(n-1)/n·S/B"
            )
        )
        if ranks.across:
            one = size / ranks.across
            rounds = n.bit_length() - 1
            p = 1 << rounds
            more = 2 * (alpha + one) if p < n else Fraction(0)
            halving = 2 * rounds * alpha + Fraction(2 * (p - 1), p) * one + more
            formula = "2·log₂n·α + 2(n-1)/n·S/B'" if p == n else "2·log₂p·α + 2(p-1)/p·S/B' + 2(α + S/B')"
            out.append(CollectiveModel("recursive halving", halving, formula))
            out.append(
                CollectiveModel("tree", 2 * (n - 1).bit_length() * (alpha + one), "2·log₂n·(α + S/B')")
            )
    h = ranks.domains
    if h and ranks.outside:
        several = [(k.ranks, k.inside) for k in ranks.kinds if k.inside is not None]
        inner = max(Fraction(2 * (g - 1), g) * size / inside for g, inside in several)
        outer = 2 * (h - 1) * alpha + Fraction(2 * (h - 1), h) * size / ranks.outside
        formula = "2(g-1)/g·S/Bs + 2(h-1)α + 2(h-1)/h·(S/g)/B"
        out.append(CollectiveModel("hierarchical", inner + outer, formula))
    nccl = _nccl_ranks(ranks)
    if nccl is not None:
        out += nccl_all_reduce_models(nccl, size)
    return sorted(out, key=lambda model: model.seconds)
