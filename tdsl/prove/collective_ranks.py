"""The ranks of a view as schedules of collective operations see them: the ends that send over the network,
and what ranks of one unit or scale-up domain exchange inside."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from tdsl.fabric.graph import Ints
from tdsl.fabric.layers import scaleup_network
from tdsl.fabric.rails import rail_plan
from tdsl.prove.by_rail import ByRail
from tdsl.prove.collective_bounds import accelerators_of
from tdsl.prove.delays import SECOND, time_of
from tdsl.prove.domain_rates import DomainRate, domain_rates
from tdsl.prove.localities import Division, domain_of_units, nested_divisions
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.system.lazy_dataclass import dataclass


@dataclass(eq=False)  # no slots: what is asked for is kept
class Ranks:
    """The ranks of a view as schedules see them.

    ``ends`` is the view whose units send and receive over the network: those of ``view``, or each of their
    rails (``by_rail``), ``weight`` the ranks of each end, ``divisions`` nested divisions of the ends.
    ``inside`` is what a rank has of its scale-up domain, for every block of the last division; None where
    the inside of some is not known: then what ranks of one unit exchange goes over its ports. ``outer``
    numbers the sets of ends that do an operation each for itself, all at once; None for all as one.
    ``nested`` are the divisions of the units of ``view``."""

    view: View
    ends: View
    by_rail: bool
    weight: Ints
    divisions: Sequence[Division]
    inside: Sequence[DomainRate] | None
    outer: Ints | None = None
    nested: Sequence[Division] = ()

    @classmethod
    def of(cls, view: View, outer: Ints | None = None) -> Ranks:
        """Read a view, ``outer`` the set of every unit. Where units have unlike rails, or domains differ,
        each rail is an end."""
        weight = accelerators_of(view)[view.units]
        nested = divisions = nested_divisions(view, outer)
        inside = _rates_inside(view, weight, divisions[-1])
        if inside is None:  # what a domain does not carry for sure goes over the ports of its units
            divisions = [*divisions[:-1], Division(view.unit_word, np.arange(len(weight)))]
        made = cls(view, view, False, weight, divisions, inside, outer, nested)
        if inside is None or made.aligned:
            return made
        rails = ByRail.of(view)
        if rails is None or (rails.rail < 0).any() or len(rails.units) > view.budget.rail_ends:
            return made
        each = np.bincount(rails.host, minlength=len(weight))
        if (each == 0).any() or (weight % np.maximum(each, 1)).any():
            return made
        parted = [Division(d.word, d.block[rails.host]) for d in divisions]
        sets = None if outer is None else outer[rails.host]
        return cls(view, rails, True, (weight // each)[rails.host], parted, inside, sets, nested)

    @cached_property
    def count(self) -> int:
        """The number of ranks."""
        return int(self.weight.sum())

    @cached_property
    def in_set(self) -> Ints:
        """The ranks of every set."""
        sets = np.zeros(len(self.weight), dtype=np.int64) if self.outer is None else self.outer
        out = np.zeros(int(sets.max(initial=0)) + 1, dtype=np.int64)
        np.add.at(out, sets, self.weight)
        return out

    @cached_property
    def exchange_parts(self) -> int:
        """Parts of what a rank sends to all of its set in which every part for one of them is a whole
        number."""
        return lcm(*self.in_set.tolist())

    @cached_property
    def set_of_unit(self) -> Ints:
        """The set of every unit of the view."""
        out = np.zeros(len(self.view.units), dtype=np.int64)
        if self.outer is not None:
            out[self.ends.host if isinstance(self.ends, ByRail) else np.arange(len(out))] = self.outer
        return out

    @cached_property
    def unit_weight(self) -> Ints:
        """The ranks of every unit of the view."""
        return accelerators_of(self.view)[self.view.units]

    @cached_property
    def unit_domain(self) -> Ints:
        """The number of every unit's domain; each by itself where the inside of some is not known."""
        return np.arange(len(self.view.units)) if self.inside is None else domain_of_units(self.view)

    @cached_property
    def in_one_domain(self) -> bool:
        """Whether the ranks of every set are in one scale-up domain, so that none of them needs the
        network."""
        return self.inside is not None and self.divisions[-1].count == len(self.in_set)

    @cached_property
    def in_domain(self) -> Ints:
        """The ranks of every domain."""
        out = np.zeros(self.divisions[-1].count, dtype=np.int64)
        np.add.at(out, self.divisions[-1].block, self.weight)
        return out

    def gather_inside(self, passes: int, spread: Sequence[Fraction] = ()) -> Fraction:
        """Seconds a bit of the whole result that gathering inside domains takes so many times, each rank
        holding the same share before; ``spread`` is what the ranks of each domain hand on besides, in bits
        each. Over the ports of the unit where its inside is not known."""
        if self.inside is None:
            return passes * self.over_own_ports(self.weight - 1)
        more = spread or [Fraction(0)] * len(self.inside)
        sizes = self.in_domain.tolist()
        kinds = {*zip(sizes, self.inside, more, strict=True)}
        return max(seconds_inside_domain(rate, passes * Fraction(g - 1, g), m) for g, rate, m in kinds)

    def over_own_ports(self, amount: Ints) -> Fraction:
        """Seconds that the slowest end takes to send so many bits over its ports."""
        net = unit_network(self.ends)
        kinds = {*zip(amount.tolist(), net.injection.tolist(), strict=True)}
        return max((Fraction(x, r * net.grain) for x, r in kinds if x), default=Fraction(0))

    @cached_property
    def aligned(self) -> bool:
        """Whether what is spread over the ranks of an end is spread over its ports by that, so that no rank
        has to hand it to another: each end is a rail, or has one rank, or equal links to one switch alone; or
        the same rails, and domains of one size."""
        if self.by_rail or int(self.weight.max(initial=1)) == 1 or self._equal_links_to_one_switch:
            return True
        return len({*self.in_domain.tolist()}) == len({*self.weight.tolist()}) == 1 and self.rails is not None

    @cached_property
    def _equal_links_to_one_switch(self) -> bool:
        view = self.ends
        if view.forwards[view.units].any():
            return False
        at = view.attachment
        mine = np.isin(at.end, view.units)
        pairs = np.unique(np.stack((at.end[mine], at.node[mine])), axis=1)
        rates = view.fabric.link_rate[view.fabric.port_link[at.port[mine]]]
        return len(np.unique(pairs[0])) == pairs.shape[1] and len(np.unique(rates)) == 1

    @cached_property
    def rails(self) -> ByRail | None:
        """The rails of the units, where each has all of them and what they send is divided among them."""
        if self.inside is None or self.by_rail or int(self.weight.max(initial=1)) == 1:
            return None
        found = ByRail.of(self.view)
        if found is None or (found.rail < 0).any():
            return None
        count = np.bincount(found.host, minlength=len(self.view.units))
        return found if (count == int(found.rail.max()) + 1).all() else None

    @cached_property
    def rails_apart(self) -> bool:
        """Whether rails are joined nowhere in the network, so that ranks of different rails need the scale-up
        domain."""
        at = self.view.attachment
        unit = np.isin(at.end, self.view.units)
        return rail_plan(self.view.fabric).organised and len(np.unique(at.hub[unit])) > 1

    @cached_property
    def delays(self) -> RouteDelays:
        """What routes take."""
        return RouteDelays.of(self.ends)

    @cached_property
    def delay_inside(self) -> DelayInside:
        """What handing data on inside of a domain takes; of ranks that exchange over the ports of their unit
        the way to a switch and back."""
        if self.inside is not None:
            return inner_delay_of_view(self.view)
        return DelayInside(Fraction(self.delays.to_neighbour_and_back(self.shared_ends), SECOND), ())

    @cached_property
    def shared_ends(self) -> Ints:
        """The ends that hold several ranks."""
        return self.ends.units[self.weight > 1]

    @property
    def unknown_delays(self) -> tuple[str, ...]:
        """What has no delay stated and would be passed, in words."""
        return (*self.delays.missing, *self.delay_inside.missing)


@dataclass(frozen=True, slots=True)
class DelayInside:
    """What handing data on inside of a scale-up domain takes at most, in seconds, as far as it is known, and
    what has no delay stated, in words. Traces inside of a host count for nothing."""

    seconds: Fraction
    missing: tuple[str, ...]


def inner_delay_of_view(view: View) -> DelayInside:
    """By the latency that switches inside of hosts state, and by those and the cables between hosts."""
    f = view.fabric
    models, count = np.unique(f.device_model[view.units], return_counts=True)
    silent: dict[str, int] = {}
    longest = 0
    for m, n in zip(models.tolist(), count.tolist(), strict=True):
        passed = [(c, time_of(c.model)) for c in f.models[m].chips if c.kind == "switch"]
        longest = max(longest, sum((t or 0) * c.size for c, t in passed))
        for c, t in passed:
            if t is None:
                silent[c.model.name] = silent.get(c.model.name, 0) + c.size * n
    missing = [f"{n:,} {name} {'has' if n == 1 else 'have'} no `latency`" for name, n in silent.items()]
    up = scaleup_network(f.whole) if f.whole is not None else None
    if up is not None:
        beside = RouteDelays.of(View.whole(up))
        longest += beside.any_path
        missing += beside.missing
    return DelayInside(Fraction(longest, SECOND), tuple(missing))


def seconds_inside_domain(rate: DomainRate, equal: Fraction, other: Fraction) -> Fraction:
    """Seconds that a rank takes for bits in equal parts to all of its domain, and for others to any of them:
    where only equal parts are known to fit, these go by way of all (Valiant, SIAM J. Comput. 11, 1982)."""
    return (equal + other * (1 if rate.any_traffic else 2)) / rate.bps


def _rates_inside(view: View, weight: Ints, last: Division) -> list[DomainRate] | None:
    """What a rank has of its domain, for each; 1 bit/s for a rank alone. None where some domain of several
    ranks does not join them, or its rate is not known."""
    rates = domain_rates(view)
    label = view.domains.of_device[view.units]
    ranks = np.bincount(last.block, weight, last.count)
    out = [DomainRate(Fraction(1), True)] * last.count
    if not (ranks > 1).any():
        return None
    for block, domain in {*zip(last.block.tolist(), label.tolist(), strict=True)}:
        rate = rates[domain] if domain >= 0 else None
        if ranks[block] > 1 and not rate:
            return None
        if rate and ranks[block] > 1:
            out[block] = rate.of_some(int(ranks[block]))
    return out
