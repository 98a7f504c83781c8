"""Time of collective operations by α-β models: a message of m bits takes α + m/B (Hockney 1994).

α is the fabric's worst zero-load latency and B what one rank can send: formulas with stated assumptions, not measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from math import inf

import numpy as np

from tdsl.dataclass import dataclass
from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.order import distinct
from tdsl.fabric.rails import rail_plan
from tdsl.prove.bisection import bisection
from tdsl.prove.bound import NotBounded
from tdsl.prove.by_domain import joined
from tdsl.prove.delays import delay
from tdsl.prove.network import Network
from tdsl.prove.search import listing
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View, scaleup_joined
from tdsl.semantics.model import DeviceModel
from tdsl.semantics.quantity import RATE, SIZE, TIME, Quantity, show
from tdsl.verify.check import Judgement, catalogue, skipped
from tdsl.verify.result import Value

Time = Fraction

TO_SAY = "a model in your own file, of the same name if you like, can say `latency 230ns`, and a connect `{ length 30m }`"


@dataclass(frozen=True, slots=True)
class Model:
    """One model's answer in seconds, and its formula."""

    name: str
    seconds: Time
    formula: str


@dataclass(eq=False)  # no slots: what is asked for is kept
class Ranks:
    """What takes part in a collective: ``count`` ranks (accelerators; the units themselves where they hold none) on ``units``
    hosts or chips, ``each`` of them on every unit (0 where units differ). ``rate`` is what a rank has of the network in
    bit/s, ``inside`` what it has of the scale-up domain of its host (None without one)."""

    view: View
    net: Network
    units: int
    count: int
    each: int
    rate: Fraction
    inside: Fraction | None
    domains: int = 0  # scale-up domains, and how many ranks each has (0 where they differ)
    per_domain: int = 0

    @classmethod
    def of(cls, view: View) -> Ranks:
        """Read a view. Every rank is as fast as the slowest."""
        f, net = view.fabric, unit_network(view)
        used, of_unit = np.unique(f.device_model[net.units], return_inverse=True)
        models = [f.models[m] for m in used.tolist()]
        each = np.array([max(m.accelerators, 1) if m.kind == "host" else 1 for m in models], dtype=np.int64)[of_unit]
        slowest = min(
            (Fraction(int(i), int(e)) for i, e in {*zip(net.injection.tolist(), each.tolist(), strict=True)}), default=0
        )
        same = int(each[0]) if len(distinct(each)) == 1 else 0
        label = f.domains.of_device[net.units]
        held = [_inside(m) for m in models]
        inside, count, per = None, 0, 0
        if (label >= 0).all() and view.intact is None:
            found, which = np.unique(label, return_inverse=True)
            ranks = np.bincount(which, weights=each).astype(np.int64)
            inside = Fraction(int(f.domains.accelerator_bps[found].min()))
            count, per = len(found), int(ranks[0]) if len(distinct(ranks)) == 1 else 0
        elif all(i is not None for i in held):
            inside, count, per = min(i for i in held if i is not None), len(each), same
        return cls(view, net, len(each), int(each.sum()), same, Fraction(slowest) * net.grain, inside, count, per)

    @cached_property
    def rails_apart(self) -> bool:
        """Whether rails are joined nowhere in the network, so that ranks of different rails need the scale-up domain."""
        at = self.view.attachment
        unit = np.isin(at.end, self.net.units)
        return rail_plan(self.view.fabric).organised and len(distinct(at.hub[unit])) > 1

    @cached_property
    def crossing(self) -> Fraction:
        """Bit/s that two halves can exchange each way, at least."""
        return Fraction(bisection(self.view).lower * self.net.grain)

    @cached_property
    def across(self) -> Fraction:
        """What a rank can send to the other half, all at once."""
        full = self.net.full * self.net.grain
        return self.rate * min(self.crossing / full, Fraction(1)) if full else Fraction(0)


def _inside(model: DeviceModel) -> Fraction | None:
    """Bit/s that each accelerator of a host has of its scale-up domain; None if it does not join them."""
    if model.kind != "host" or model.accelerators < 2 or not scaleup_joined(model):
        return None
    total: dict[tuple[str, int], int] = {}
    for link in model.links:
        if link.layer == "scaleup":
            for end in {link.a, link.b}:
                total[end] = total.get(end, 0) + link.rate * link.count
    chips = [(c.name, i) for c in model.chips if c.accelerates for i in range(c.size)]
    return Fraction(min(total[c] for c in chips))


def size_of(claim: ResolvedClaim | None) -> Fraction | None:
    """The size that a claim gives as its argument, in bits; None if it gives none."""
    args = claim.args if claim is not None else ()
    if len(args) == 1 and isinstance(args[0], Quantity) and args[0].dim == SIZE and args[0].amount > 0:
        return args[0].amount
    return None


def best_of(
    metric: str, view: View, claim: ResolvedClaim | None, models: Callable[[Ranks, Fraction, Time], list[Model]]
) -> Judgement:
    """The least time among the models that apply; each is listed. Where a latency is unknown, what remains is a lower bound."""
    size = size_of(claim)
    if size is None:
        return skipped(f"`{metric}` takes one size: write `{metric} 1GB`")
    if len(view.units) < 2:
        return skipped(f"there are fewer than two {view.unit_word}")
    if catalogue()["reachability"].judge(view, None).status == "refuted":
        return skipped(f"some {view.unit_word} do not reach each other")
    ranks = Ranks.of(view)
    if not ranks.rate:
        return skipped(f"some {view.unit_word} have no link")
    far = delay(view)
    silent = far is None or isinstance(far, NotBounded)
    alpha = Fraction(0) if far is None or isinstance(far, NotBounded) else far.upper
    found = sorted(models(ranks, size, alpha), key=lambda m: m.seconds)
    if not found:
        return skipped("the rails are not connected, and the hosts have no scale-up domain that connects them")
    best = found[0]
    lacking = far.reasons if isinstance(far, NotBounded) else ()
    alone = f"; without latency: {listing(lacking, 2)}" if lacking else ""
    apart = view.unit_word == "hosts" and ranks.inside is None and ranks.count > ranks.units
    alone += f"; no scale-up domain joins the accelerators of {_apart(view)}" if apart else ""
    others = f"; {', '.join(f'{_words(m)}' for m in found[1:])}" if found[1:] else ""
    each = f"{ranks.count:,} ranks at {show(Quantity(ranks.rate, RATE))}"
    text = f"{'at least ' if silent else ''}{_words(best)}, {each}{others}{alone}"
    witness: dict[str, object] = {
        "model": best.name,
        "models": {m.name: float(m.seconds) for m in found},
        "formulas": {m.name: m.formula for m in found},
        "ranks": ranks.count,
        "rate_bps": float(ranks.rate),
        "alpha_s": None if silent else float(alpha),
        "bytes_s": float(size / ranks.rate),
    }
    if ranks.inside is not None:
        witness["scaleup_bps"] = float(ranks.inside)
    time = Quantity(best.seconds, TIME)
    notes = tuple(f"{m.name}: {m.formula} = {show(Quantity(m.seconds, TIME))}" for m in found)
    most: Value = inf if silent else time
    return Judgement("modelled", text, time, time, most, witness=witness, notes=notes, help=TO_SAY if silent else "")


def _apart(view: View) -> str:
    """Models of hosts with several accelerators that no scale-up domain joins, in words."""
    f = view.fabric
    apart = [f.models[m] for m in distinct(f.device_model[view.units[~joined(view)]]).tolist()]
    return listing([m.name for m in apart if m.accelerators > 1], 3) if apart else "hosts after failures"


def _words(model: Model) -> str:
    return f"{show(Quantity(model.seconds, TIME))} by {model.name}"
