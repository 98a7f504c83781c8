"""Times of collective operations as intervals: a floor that no algorithm beats, and the time of a schedule
that can be replayed. Beside them, and never the judge, what formulas of the field make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np

from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Ints
from tdsl.fabric.layers import SCALEUP
from tdsl.fabric.order import distinct_values
from tdsl.fabric.subject import devices_with_contents
from tdsl.prove.by_domain import units_with_joined_accelerators
from tdsl.prove.collective_bounds import accelerators_of
from tdsl.prove.collective_floors import Floor, Floors
from tdsl.prove.collective_ranks import Ranks
from tdsl.prove.collective_times import Schedule, best_schedules
from tdsl.prove.exchange_times import Exchange
from tdsl.prove.search import first_names_and_more
from tdsl.prove.view import View
from tdsl.semantics.quantity import SIZE, TIME, Quantity, quantity_text
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import noun_for_count
from tdsl.verify.check import Judgement, checks_by_name, skipped
from tdsl.verify.result import Value

TO_SAY = (
    "a model in your own file, of the same name if you like, can say `latency 230ns`, and a connect "
    "`{ length 30m }`"
)

MOST_BITS = 2**63
"""Data of each rank that is judged at most."""

LISTED = 6
"""Schedules that an answer lists."""


@dataclass(frozen=True, slots=True)
class CollectiveModel:
    """One formula's answer in seconds, and the formula."""

    name: str
    seconds: Fraction
    formula: str


@dataclass(frozen=True, slots=True)
class Operation:
    """A collective operation: its floor for so many bits, its schedules, and what formulas make of it. Of an
    ``exchange`` the schedules come with a floor. ``in_network`` is the same
    where switches add up, ``across`` are schedules over links of both layers, where those of the network
    alone are not possible."""

    floor: Callable[[Floors, Fraction], Floor]
    schedules: Callable[[Ranks], Iterator[Schedule]] | None = None
    models: Callable[[View, Fraction], list[CollectiveModel]] | None = None
    exchange: Callable[[Ranks], Exchange] | None = None
    across: Callable[[Ranks], Iterator[Schedule]] | None = None
    in_network: Operation | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """What is known of a time: the floor, the schedules that were tried, best first, and what has no delay
    stated, in words. ``apart`` if scale-up links alone join some ranks; ``why_none`` says why there is no
    schedule where there is none. ``beside``: by scale-up links alone."""

    ranks: Ranks
    size: Fraction
    floor: Floor
    schedules: Sequence[Schedule]
    unknown: tuple[str, ...]
    apart: bool
    why_none: str
    beside: bool = False

    @property
    def ceiling(self) -> Fraction | None:
        """The time of the best schedule with all known delays; None without one. Raises ``AssertionError``
        where it is below the floor: one of the two is wrong, so neither proves anything."""
        if not self.schedules:
            return None
        took = self.schedules[0].seconds(self.size)
        if took < self.floor.seconds:
            raise AssertionError(f"a schedule of {took} s is faster than its floor, {self.floor.seconds} s")
        return took


def message_size_of_claim(claim: ResolvedClaim | None) -> Fraction | None:
    """The size that a claim gives as its first argument, in bits; None if it gives none."""
    args = claim.args if claim is not None else ()
    if args and isinstance(args[0], Quantity) and args[0].dim == SIZE and args[0].amount > 0:
        return args[0].amount
    return None


def why_size_is_refused(metric: str, claim: ResolvedClaim | None, example: str) -> str:
    """What is wrong with the size of a claim; "" if nothing."""
    size = message_size_of_claim(claim)
    if size is None:
        given = claim.args[0] if claim is not None and claim.args else None
        nothing = isinstance(given, Quantity) and given.dim == SIZE and not given.amount
        return f"`{metric}` takes one size{', more than 0 B' * nothing}: write `{example}`"
    shown, most = (quantity_text(Quantity(Fraction(x), SIZE)) for x in (size, MOST_BITS))
    return f"{shown} are more than can be judged: {most}, 2^63 bits" * (size > MOST_BITS)


def time_of_operation(
    metric: str, view: View, claim: ResolvedClaim | None, operation: Operation
) -> Judgement:
    """The interval of an operation among all units of a view as the answer to a claim that gives its size."""
    found = interval_of_operation(metric, view, claim, operation)
    if isinstance(found, str):
        return skipped(found)
    if found.ranks.count < 2:
        return skipped("there are fewer than two ranks")
    alone = claim is None or claim.given is None
    plain = operation.models is not None and not found.apart and found.ranks.outer is None and alone
    models = operation.models(view, found.size) if operation.models is not None and plain else []
    alone = claim is not None and (claim.of_all or claim.among)
    return _judgement_of_interval(found, models, SET_ALONE if alone else ())


def interval_of_operation(
    metric: str, view: View, claim: ResolvedClaim | None, operation: Operation
) -> Interval | str:
    """The floor and the schedules of an operation among all units of a view; or why nothing can be said."""
    size, wrong = message_size_of_claim(claim), _why_operation_is_refused(metric, view, claim)
    if wrong or size is None or claim is None:
        return wrong
    beside = bool(claim.through) and view.fabric.layer != SCALEUP
    view = view_of_domains(view) if beside else view
    sets = sets_of_claim(view, claim) if claim.among else None
    if isinstance(sets, str):
        return sets
    apart = _some_set_is_apart(view, sets)
    wrong = _why_ranks_are_apart(view, sets, claim, apart)
    if wrong:
        return wrong
    ranks = Ranks.of(view, sets)
    if claim.given is not None and operation.in_network is not None:
        operation = operation.in_network
    why = _why_no_schedule(ranks, apart)
    if why and operation.across is not None:
        operation = replace(operation, schedules=operation.across)
    possible = not why or operation.across is not None
    floor, found = _floor_and_schedules(operation, ranks, size, apart, possible)
    unknown = ranks.unknown_delays if found else ()
    return Interval(ranks, size, floor, found, unknown, apart, why or "no routes are known", beside)


def _floor_and_schedules(
    operation: Operation, ranks: Ranks, size: Fraction, apart: bool, possible: bool
) -> tuple[Floor, list[Schedule]]:
    """The floor of an operation on ``size`` bits, and where schedules are ``possible`` the best of them.
    ``apart``: some ranks are not connected by the links that an exchange uses."""
    exchange = None if operation.exchange is None else operation.exchange(ranks)
    least = Fraction(0) if exchange is None or apart else exchange.least
    floor = _floor_of_operation(operation, ranks, size, least)
    made: Iterator[Schedule] = iter(())
    if operation.schedules is not None:
        made = operation.schedules(ranks)
    elif exchange is not None:
        made = iter(exchange.schedules)
    return floor, best_schedules(made, size, floor.seconds) if possible else []


def view_of_domains(view: View) -> View:
    """The same units with the scale-up links of their domains alone."""
    members = np.zeros(view.fabric.device_count, dtype=np.bool_)
    members[view.units] = True
    return replace(view, rows=view.rows[:0], members=members)


def _why_ranks_are_apart(view: View, sets: Ints | None, claim: ResolvedClaim, apart: bool) -> str:
    """Why what is asked for cannot be done, where some units do not reach each other in the network; "" if it
    can."""
    word = view.unit_word
    if claim.through and view.fabric.layer != SCALEUP:
        home = view.domains.of_device[view.units]
        each = [home] if sets is None else [home[sets == k] for k in range(int(sets.max()) + 1)]
        if any((mine < 0).any() or len(distinct_values(mine)) > 1 for mine in each):
            several = "say `of` one domain, or `among` several"
            return f"scale-up links do not join all {word}: {several}"
        return ""
    if apart and (sets is not None or not _is_connected_through_scaleup(view, claim)):
        return f"some {word} do not reach each other"
    if not apart and not (view.degree[view.units] > 0).all():
        return f"some {word} have no link"
    return ""


def _floor_of_operation(operation: Operation, ranks: Ranks, size: Fraction, least: Fraction) -> Floor:
    """What no algorithm beats, by cuts and by what comes with the schedules, in seconds a bit."""
    sets = None if ranks.outer is None else ranks.set_of_unit
    found = [operation.floor(Floors.of(ranks.view, sets, ranks.nested), size)]
    if least:
        found.append(Floor(least * size, "the lengths that bound `throughput all_to_all`"))
    return max(found, key=lambda f: f.seconds)


def _why_operation_is_refused(metric: str, view: View, claim: ResolvedClaim | None) -> str:
    """What is wrong with what is asked of a view; "" if nothing."""
    wrong = why_size_is_refused(metric, claim, f"{metric} 1GB")
    if wrong or (claim is not None and len(claim.args) != 1):
        return wrong or f"`{metric}` takes one size: write `{metric} 1GB`"
    alone = len(view.units) < 2 and not (claim is not None and claim.through and len(view.units))
    return f"there are fewer than two {view.unit_word}" if alone else ""


def sets_of_claim(view: View, claim: ResolvedClaim) -> Ints | str:
    """The number of the set of every unit of a view, for the sets that `among` names: the hosts or chips of a
    path, or of each group that it names; or what is wrong with them, in words."""
    element = np.full(len(view.units), -1, dtype=np.int64)
    place = np.full(view.fabric.device_count, -1, dtype=np.int64)
    place[view.units] = np.arange(len(view.units))
    count = 0
    for selector in claim.of:
        if selector.kind in ("host", "chip", "switch"):
            named = [np.concatenate([e.devices for e in selector.elements] or [np.zeros(0, dtype=np.int64)])]
        else:
            named = [devices_with_contents(view.fabric, e.devices) for e in selector.elements]
        for devices in named:
            mine = place[devices]
            mine = mine[mine >= 0]
            if (element[mine] >= 0).any():
                twice = view.names(view.units[mine[element[mine] >= 0][:1]])[0]
                return f"{twice} is in two of the sets"
            element[mine] = count
            count += len(mine) > 0
    each = accelerators_of(view)[view.units] if claim.through else np.ones(len(element))
    if not count or (element < 0).any() or (np.bincount(element, each) < 2).any():
        return f"each of the sets needs two {'ranks' if claim.through else view.unit_word} at least"
    return element


def _some_set_is_apart(view: View, sets: Ints | None) -> bool:
    """Whether some units of a set do not reach each other."""
    reachable = checks_by_name()["reachability"]
    if sets is None:
        return reachable.judge(view, None).status == "refuted"
    for k in range(int(sets.max()) + 1):
        members = np.zeros(view.fabric.device_count, dtype=np.bool_)
        members[view.units[sets == k]] = True
        if reachable.judge(view.among(members), None).status == "refuted":
            return True
    return False


def _is_connected_through_scaleup(view: View, claim: ResolvedClaim) -> bool:
    """Whether all units reach each other where scale-up links carry traffic, too."""
    if not (view.fabric.domains.of_device[view.units] >= 0).any():
        return False
    through = replace(claim, metric="reachability", args=(), of=(), through="scaleup")
    return checks_by_name()["reachability"].judge(view, through).status == "proved"


def _why_no_schedule(ranks: Ranks, apart: bool) -> str:
    """Why there is no schedule, in words; "" where one can."""
    if apart and not ranks.in_one_domain:
        return f"some {ranks.view.unit_word} are connected by scale-up links alone"
    if ranks.inside is None and ranks.rails_apart:
        return "the rails are not connected, and the hosts have no scale-up domain that connects them"
    return ""


SET_ALONE = (
    "the ranks of a set take part alone: a host beside them could add up for them, and is not counted",
)


def _judgement_of_interval(
    found: Interval, models: Sequence[CollectiveModel], of_sets: tuple[str, ...] = ()
) -> Judgement:
    """An interval as an answer. Where some delay is not known there is no ceiling, and the time of the best
    schedule without it is said. ``of_sets`` is noted, too."""
    ranks, floor, ceiling = found.ranks, found.floor, found.ceiling
    low = Quantity(floor.seconds, TIME)
    count = text_of_ranks(ranks) + (" over scale-up links" if found.beside else "")
    witness: dict[str, object] = {
        "ranks": ranks.count,
        "floor_s": float(floor.seconds),
        "floor_by": floor.why,
        **_witness_of_schedules(found),
        **_witness_of_models(models),
    }
    notes = [
        f"floor: {quantity_text(low)}, {floor.why}",
        *of_sets,
        *_schedule_notes(found),
        *_model_notes(models),
    ]
    if ceiling is None:
        text = (
            f"at least {quantity_text(low)} by any algorithm, {count}; no schedule is known: {found.why_none}"
        )
        return Judgement("bounded", text, low, low, inf, witness=witness, notes=tuple(notes))
    best = found.schedules[0]
    high = Quantity(ceiling, TIME)
    exact = floor.seconds == ceiling
    if found.unknown:
        text = (
            f"at least {quantity_text(low)} by any algorithm; {quantity_text(high)} and unknown delays by "
            f"{best.name}, {count}; missing: {first_names_and_more(found.unknown, 2)}"
        )
    elif exact:
        text = f"{quantity_text(high)} by {best.name}, {count}"
    else:
        text = f"{_time_range_text(low, high)} by {best.name}, {count}"
    text += _what_the_design_leaves_open(ranks)
    most: Value = inf if found.unknown else high
    return Judgement(
        "proved" if exact and not found.unknown else "bounded",
        text,
        high,
        low,
        most,
        witness=witness,
        notes=tuple(notes),
        help=TO_SAY if found.unknown else "",
    )


def text_of_ranks(ranks: Ranks) -> str:
    """How many ranks there are, and in how many sets: ``64 ranks in 2 sets``."""
    count = f"{ranks.count:,} {noun_for_count(ranks.count, 'rank')}"
    if ranks.outer is not None:
        count += f" in {len(ranks.in_set)} {noun_for_count(len(ranks.in_set), 'set')}"
    return count


def _time_range_text(low: Quantity, high: Quantity) -> str:
    """``between 80ms and 80.08ms``."""
    return f"between {quantity_text(low)} and {quantity_text(high)}"


def _witness_of_schedules(found: Interval) -> dict[str, object]:
    """The times of schedules in seconds: of the best what sending and known delays take of it."""
    if not found.schedules:
        return {"ceiling_s": None}
    best = found.schedules[0]
    return {
        "ceiling_s": None if found.unknown else float(found.ceiling or 0),
        "schedule": best.name,
        "sending_s": float(best.per_bit * found.size),
        "delays_s": float(best.waiting),
        "chunks": best.chunks,
        "schedules": {s.name: float(s.seconds(found.size)) for s in found.schedules},
    }


def _witness_of_models(models: Sequence[CollectiveModel]) -> dict[str, object]:
    """The seconds and the formula of each model."""
    if not models:
        return {}
    return {
        "models": {m.name: float(m.seconds) for m in models},
        "formulas": {m.name: m.formula for m in models},
    }


def _schedule_notes(found: Interval) -> list[str]:
    """A line for each of the best schedules."""
    return [f"schedule {text_of_schedule(s, found.size)}" for s in found.schedules[:LISTED]]


def text_of_schedule(schedule: Schedule, size: Fraction) -> str:
    """A schedule for so many bits in words: its time, what it consists of, and whether stages overlap."""
    time = quantity_text(Quantity(schedule.seconds(size), TIME))
    sent, waited = (quantity_text(Quantity(x, TIME)) for x in (schedule.per_bit * size, schedule.waiting))
    how = (
        f"stages overlap, {schedule.chunks:,} chunks" if schedule.overlapped else "stages one after the other"
    )
    return f"{schedule.name}: {time} = {sent} of sending + {waited} of known delays ({how})"


def _model_notes(models: Sequence[CollectiveModel]) -> list[str]:
    return [f"modelled {m.name}: {m.formula} = {quantity_text(Quantity(m.seconds, TIME))}" for m in models]


def _what_the_design_leaves_open(ranks: Ranks) -> str:
    """That ranks of one host exchange over its ports, where nothing says what joins them inside: the end of a
    text."""
    if ranks.inside is not None or int(ranks.weight.max(initial=1)) == 1:
        return ""
    view = ranks.view
    apart = view.units[~units_with_joined_accelerators(view)]
    models = [view.fabric.models[m] for m in distinct_values(view.fabric.device_model[apart]).tolist()]
    named = first_names_and_more([m.name for m in models if m.accelerators > 1], 3)
    return (
        f"; no scale-up domain joins the accelerators of {named}, so what they exchange uses its ports"
        if named
        else ""
    )
