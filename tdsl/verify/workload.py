"""Time of collective operations by α-β models: a message of m bits takes α + m/B (Hockney 1994).

α is the fabric's worst zero-load latency and B what one rank can send: formulas with stated assumptions, not
measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Ints
from tdsl.fabric.order import distinct_values
from tdsl.fabric.rails import rail_plan
from tdsl.prove.bisection import bisection_bounds
from tdsl.prove.bound import Delay, NotBounded
from tdsl.prove.by_domain import units_with_joined_accelerators
from tdsl.prove.collective_bounds import Blocks, accelerators_of
from tdsl.prove.delays import worst_delay
from tdsl.prove.domain_rates import domain_rates
from tdsl.prove.network import Network
from tdsl.prove.search import first_names_and_more
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.semantics.quantity import RATE, SIZE, TIME, Quantity, quantity_text
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Judgement, checks_by_name, skipped
from tdsl.verify.result import Value

Time = Fraction

TO_SAY = (
    "a model in your own file, of the same name if you like, can say `latency 230ns`, and a connect "
    "`{ length 30m }`"
)


@dataclass(frozen=True, slots=True)
class CollectiveModel:
    """One model's answer in seconds, and its formula."""

    name: str
    seconds: Time
    formula: str


@dataclass(frozen=True, slots=True)
class RankGroup:
    """Ranks that exchange data without the network: those of a scale-up domain, or one alone. ``inside`` is
    what each has of the domain in bit/s, None for one alone; ``rate`` what the slowest of them has of the
    network."""

    ranks: int
    inside: Fraction | None
    rate: Fraction


@dataclass(eq=False)  # no slots: what is asked for is kept
class Ranks:
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
    def of(cls, view: View) -> Ranks:
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
    def blocks(self) -> Blocks:
        """What floors are computed from."""
        return Blocks.of(self.view)

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
    ranks: Ranks, each: Ints, pairs: Sequence[tuple[int, int]], domains: Ints
) -> set[RankGroup]:
    """The different domains, by their numbers. ``each`` is how many ranks are on every unit, ``pairs`` what
    the units inject and how many ranks share it, slowest first."""
    net, view = ranks.net, ranks.view
    place = {x: k for k, x in enumerate(pairs)}
    speed = [place.get(x, len(pairs)) for x in zip(net.injection.tolist(), each.tolist(), strict=True)]
    least = np.full(len(domains), len(pairs))
    np.minimum.at(least, ranks.part, np.array(speed))
    sizes = np.bincount(ranks.part, weights=each).astype(np.int64)
    inside = [*domain_rates(view), *[None] * len(each)]
    rows = {*zip(sizes.tolist(), (inside[k] for k in domains.tolist()), least.tolist(), strict=True)}
    return {RankGroup(g, i if g > 1 else None, Fraction(*pairs[k]) * net.grain) for g, i, k in rows if g}


def message_size_of_claim(claim: ResolvedClaim | None) -> Fraction | None:
    """The size that a claim gives as its argument, in bits; None if it gives none."""
    args = claim.args if claim is not None else ()
    if len(args) == 1 and isinstance(args[0], Quantity) and args[0].dim == SIZE and args[0].amount > 0:
        return args[0].amount
    return None


def fastest_model_judgement(
    metric: str,
    view: View,
    claim: ResolvedClaim | None,
    models: Callable[[Ranks, Fraction, Time], list[CollectiveModel]],
    floor: Callable[[Blocks, Fraction], Time],
) -> Judgement:
    """The least time among the models that apply; each is listed. Where a latency is unknown, what remains is
    a lower bound; where scale-up links join accelerators, no model is one, and the lower bound is the
    ``floor``, which no algorithm beats."""
    size = message_size_of_claim(claim)
    if size is None:
        return skipped(f"`{metric}` takes one size: write `{metric} 1GB`")
    if len(view.units) < 2:
        return skipped(f"there are fewer than two {view.unit_word}")
    floored = bool((view.fabric.domains.of_device[view.units] >= 0).any())
    if checks_by_name()["reachability"].judge(view, None).status == "refuted":
        if floored and claim is not None and _is_connected_through_scaleup(view, claim):
            why = f"some {view.unit_word} are connected by scale-up links alone"
            return _lower_bound_alone(floor(Blocks.of(view), size), why)
        return skipped(f"some {view.unit_word} do not reach each other")
    ranks = Ranks.of(view)
    if not ranks.rate:
        return skipped(f"some {view.unit_word} have no link")
    far = worst_delay(view)
    alpha = Fraction(0) if far is None or isinstance(far, NotBounded) else far.upper
    found = sorted(models(ranks, size, alpha), key=lambda m: m.seconds)
    least = floor(ranks.blocks, size) if floored else Fraction(0)
    if not found:
        why = "the rails are not connected, and the hosts have no scale-up domain that connects them"
        return _lower_bound_alone(least, why) if least else skipped(why)
    best = replace(found[0], seconds=max(found[0].seconds, least))
    return _judgement_of_models(ranks, size, far, found, best, least if floored else best.seconds)


def _is_connected_through_scaleup(view: View, claim: ResolvedClaim) -> bool:
    """Whether all units reach each other where scale-up links carry traffic, too."""
    through = replace(claim, metric="reachability", args=(), of=(), through="scaleup")
    return checks_by_name()["reachability"].judge(view, through).status == "proved"


def _judgement_of_models(
    ranks: Ranks,
    size: Fraction,
    far: Delay | NotBounded | None,
    found: Sequence[CollectiveModel],
    best: CollectiveModel,
    least: Time,
) -> Judgement:
    """The time of the best model, the first of those found, and of each; at least ``least`` by any algorithm.
    ``far`` is the worst latency; where it is not known, the time is a lower bound."""
    others = found[1:]
    silent = far is None or isinstance(far, NotBounded)
    known = "at least " if silent else ""
    if least < best.seconds:
        known = f"at least {quantity_text(Quantity(least, TIME))} by any algorithm; "
    each = f"{ranks.count:,} ranks at {quantity_text(Quantity(ranks.rate, RATE))}"
    listed = f"; {', '.join(f'{_model_time_text(m)}' for m in others)}" if others else ""
    text = f"{known}{_model_time_text(best)}, {each}{listed}{_what_models_lack(ranks.view, far)}"
    witness: dict[str, object] = {
        "model": best.name,
        **_witness_of_models(found),
        **_witness_of_ranks(ranks, size, far),
    }
    if least < best.seconds:
        witness["floor_s"] = float(least)
    time, low = Quantity(best.seconds, TIME), Quantity(least, TIME)
    notes = tuple(f"{m.name}: {m.formula} = {quantity_text(Quantity(m.seconds, TIME))}" for m in found)
    most: Value = inf if silent else time
    return Judgement(
        "modelled", text, time, low, most, witness=witness, notes=notes, help=TO_SAY if silent else ""
    )


def _witness_of_models(found: Sequence[CollectiveModel]) -> dict[str, object]:
    """The seconds and the formula of each model."""
    return {
        "models": {m.name: float(m.seconds) for m in found},
        "formulas": {m.name: m.formula for m in found},
    }


def _witness_of_ranks(ranks: Ranks, size: Fraction, far: Delay | NotBounded | None) -> dict[str, object]:
    """What the formulas take: the ranks, what each has in bit/s, and the times of a latency and of sending
    everything."""
    witness: dict[str, object] = {
        "ranks": ranks.count,
        "rate_bps": float(ranks.rate),
        "alpha_s": None if far is None or isinstance(far, NotBounded) else float(far.upper),
        "bytes_s": float(size / ranks.rate),
    }
    if ranks.inside is not None:
        witness["scaleup_bps"] = float(ranks.inside)
    return witness


def _what_models_lack(view: View, far: Delay | NotBounded | None) -> str:
    """What the design does not say and the models would need, as the end of their text."""
    lacking = far.reasons if isinstance(far, NotBounded) else ()
    out = f"; without latency: {first_names_and_more(lacking, 2)}" if lacking else ""
    loose = _models_without_scaleup_domain(view)
    return out + (f"; no scale-up domain joins the accelerators of {loose}" if loose else "")


def _lower_bound_alone(least: Time, why: str) -> Judgement:
    """What is known where no model applies: a lower bound."""
    low = Quantity(least, TIME)
    text = f"at least {quantity_text(low)} by any algorithm; no model applies: {why}"
    return Judgement("bounded", text, low, low, inf, witness={"floor_s": float(least)})


def _models_without_scaleup_domain(view: View) -> str:
    """Models of hosts with several accelerators that no scale-up domain joins, in words; "" without any."""
    f = view.fabric
    models = [
        f.models[m]
        for m in distinct_values(f.device_model[view.units[~units_with_joined_accelerators(view)]]).tolist()
    ]
    return first_names_and_more([m.name for m in models if m.accelerators > 1], 3)


def _model_time_text(model: CollectiveModel) -> str:
    return f"{quantity_text(Quantity(model.seconds, TIME))} by {model.name}"
