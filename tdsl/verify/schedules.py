"""The schedule that answers a requirement of a time, with all of its messages: what `tdsl show FILE schedule`
prints and anyone can replay."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from tdsl.fabric.claims import FabricElement, ResolvedClaim
from tdsl.fabric.failed import FailedElements
from tdsl.fabric.graph import Fabric
from tdsl.fabric.subject import devices_of_selectors, is_of_instance
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.prove.collective_floors import Floor
from tdsl.prove.collective_times import FILL, MessagePlan, Schedule
from tdsl.prove.delays import SECOND
from tdsl.prove.schedule_routes import (
    Route,
    RoutedMessage,
    capacity_between_devices,
    paths_between_sets,
    routes_of_schedule,
)
from tdsl.prove.search import first_names_and_more
from tdsl.prove.switch_messages import SwitchMessages, exchange_inside, switches_inside
from tdsl.prove.transfer_times import time_of_transfer
from tdsl.prove.tree_messages import TreeMessages, names_inside_hosts, names_of_ranks
from tdsl.prove.view import CROSSED, View
from tdsl.semantics.quantity import SIZE, TIME, UNIT_TABLE, Quantity, quantity_text
from tdsl.system.lazy_dataclass import dataclass
from tdsl.system.nouns import counted_noun
from tdsl.verify.check import checks_by_name
from tdsl.verify.checks.all_gather_time import AllGatherTime
from tdsl.verify.checks.all_to_all_time import AllToAllTime
from tdsl.verify.checks.allreduce import IN_NETWORK, AllReduce
from tdsl.verify.checks.reduce_scatter_time import ReduceScatterTime
from tdsl.verify.compare import why_claim_is_malformed
from tdsl.verify.result import INCOMPLETE
from tdsl.verify.workload import (
    Interval,
    Operation,
    interval_of_operation,
    message_size_of_claim,
    text_of_ranks,
    text_of_schedule,
)

OPERATIONS: Mapping[str, Operation] = {
    check.name: check().operation() for check in (AllReduce, AllGatherTime, ReduceScatterTime, AllToAllTime)
}
TRANSFER = "transfer"
TIMED = (*OPERATIONS, TRANSFER)
"""The metrics whose answers are schedules."""

COMPARISON = re.compile(r"[<>=!]=|[<>]")
AMOUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)([kKMGTPE]i?B|B)")


@dataclass(frozen=True, slots=True)
class ShownStage:
    """A stage of a schedule: how many steps a chunk takes through it, into how many chunks the data of a
    message is divided, bits of all messages, and seconds of sending without delays."""

    steps: int
    chunks: int
    messages: int
    bits: Fraction
    seconds: Fraction


@dataclass(frozen=True, slots=True)
class ShownSchedule:
    """A schedule that answers a claim: the floor, the schedule in words and its time with all known delays
    (``unknown`` says what has none), ranks by name with their accelerators, stages, and ``messages`` with
    routes, or why these are not listed. Of a message ``parts`` are parts of which ``size`` has ``whole``.
    ``links`` has the capacity between devices in bit/s, ``trees`` the share of the data of each tree of
    single ranks or of switches, ``failed`` what it does without."""

    claim: ResolvedClaim
    size: Fraction
    whole: int
    floor: Floor
    words: str
    name: str
    overlapped: bool
    seconds: Fraction
    waiting: Fraction
    inside: Fraction
    unknown: tuple[str, ...]
    ranks: Sequence[tuple[str, int]]
    ranks_text: str
    stages: Sequence[ShownStage]
    messages: Sequence[RoutedMessage] | TreeMessages | SwitchMessages | str
    links: Mapping[tuple[str, str], int]
    trees: Sequence[Fraction] = ()
    failed: Sequence[str] = ()

    def bits(self, message: RoutedMessage) -> Fraction:
        """What a message carries in all."""
        return self.size * message.parts / self.whole


def schedule_of_claim(
    fabric: Fabric, claim: ResolvedClaim, failed: FailedElements | None = None
) -> ShownSchedule | str:
    """The best schedule that is known for a claim of a time, on what is left of the fabric where something
    ``failed``; or why there is none, in words."""
    wrong = why_claim_is_malformed(claim, checks_by_name()[claim.metric])
    view = wrong[0] if wrong is not None else _view_of_claim(fabric, claim, failed)
    shown = view if isinstance(view, str) else _schedule_on_view(view, claim)
    if isinstance(shown, str) or failed is None:
        return shown
    return replace(shown, failed=failed.names)


def _schedule_on_view(view: View, claim: ResolvedClaim) -> ShownSchedule | str:
    """The best schedule on a view; or why there is none, in words."""
    if claim.metric == TRANSFER:
        return _schedule_of_transfer(view, claim)
    found = interval_of_operation(claim.metric, view, claim, OPERATIONS[claim.metric])
    if isinstance(found, str):
        return found
    if not found.schedules:
        return f"no schedule is known: {found.why_none}"
    return _shown_interval(claim, found, found.schedules[0])


def claim_of_text(text: str, claims: Sequence[ResolvedClaim]) -> ResolvedClaim | None:
    """The claim of a design that a text is, with or without its comparison; of an operation and a size alone
    also where no claim is that: then it is of the whole fabric. None where there is none."""
    wanted = " ".join(text.split())
    for claim in claims:
        if claim.metric in TIMED and wanted in (claim.text, COMPARISON.split(claim.text)[0].strip()):
            return claim
    words = wanted.split(" ")
    in_network = words[0] == AllReduce.name and words[2:] == ["with", IN_NETWORK]
    plain = words[0] in OPERATIONS and len(words) == 2
    found = AMOUNT.fullmatch(words[1]) if plain or in_network else None
    if found is None or found[2] not in UNIT_TABLE:
        return None
    size = Quantity(Fraction(found[1]) * UNIT_TABLE[found[2]][0], SIZE)
    given = _reported_claim(IN_NETWORK, (), None, text) if in_network else None
    return _reported_claim(words[0], (size,), given, wanted)


def _reported_claim(
    metric: str, args: tuple[object, ...], given: ResolvedClaim | None, text: str
) -> ResolvedClaim:
    """What is asked of the whole fabric, without a limit."""
    at = Origin(SourceSpan(SourceFile("REQUIREMENT", text), 0, len(text)))
    return ResolvedClaim(
        metric, args, None, "", (), (), (), "", "", "", None, False, given, True, None, text, at
    )


def _view_of_claim(fabric: Fabric, claim: ResolvedClaim, failed: FailedElements | None) -> View | str:
    """What a claim is judged on: of the network what is left of it where something ``failed``."""
    network = fabric.network

    def left(view: View) -> View:
        return view if failed is None else view.without_elements(failed)

    if not fabric.complete:
        return INCOMPLETE
    if claim.metric != TRANSFER and claim.of_all:
        whole, named = View.whole(network), devices_of_selectors(network, claim.of) & network.is_end
        if whole.is_crossed_by_others(named):
            return CROSSED
        return left(whole).among(named)
    part = None if claim.metric == TRANSFER else _part_of_claim(claim)
    if part is None or isinstance(part, str):
        return part or left(View.whole(network))
    if failed is not None and failed.devices[part[0].devices].all():
        return f"nothing of {part[0].name} is left"
    return left(View.part(network, *part))


def _part_of_claim(claim: ResolvedClaim) -> tuple[FabricElement, bool] | str | None:
    """The one element that a claim is about, and whether it is a device; None of the whole fabric, and why
    none is shown where there are several."""
    if claim.scope is not None and is_of_instance(claim):
        return claim.scope, False
    elements = [e for s in claim.of for e in s.elements]
    if len(elements) > 1:
        return f"it is judged of each of {len(elements)} elements alone: name one of them, or write `of all`"
    return (elements[0], claim.of[0].kind in ("host", "chip", "switch")) if elements else None


def _shown_interval(claim: ResolvedClaim, found: Interval, best: Schedule) -> ShownSchedule:
    """The best schedule of an interval."""
    if best.trees is not None:
        return _shown_trees(claim, found, best, TreeMessages.of(found.ranks, best.trees))
    if best.switches is not None:
        return _shown_trees(claim, found, best, SwitchMessages.of(found.ranks, best.switches))
    ranks, plan = found.ranks, best.plan
    if (plan is None or not plan.stages) and _is_exchange_by_switches(found, best):
        return _shown_inside(claim, found, best)
    messages = routes_of_schedule(ranks, best)
    links: dict[tuple[str, str], int] = {}
    for view in (ranks.view, ranks.ends, ranks.rails):
        links |= {} if view is None or isinstance(messages, str) else capacity_between_devices(view)
    names = zip(ranks.ends.names(ranks.ends.units), ranks.weight.tolist(), strict=True)
    stages = _stages_of_plan(found.size, best, plan)
    shown = _shown(claim, found, best, list(names), stages, messages, links)
    return shown if plan is None else replace(shown, whole=plan.whole, inside=plan.inside * found.size)


def _shown(
    claim: ResolvedClaim,
    found: Interval,
    best: Schedule,
    ranks: list[tuple[str, int]],
    stages: list[ShownStage],
    messages: Sequence[RoutedMessage] | TreeMessages | SwitchMessages | str,
    links: Mapping[tuple[str, str], int],
) -> ShownSchedule:
    """The best schedule of an interval, with the ranks of each end, its stages and messages, and the bit/s of
    links."""
    return ShownSchedule(
        claim, found.size, 1, found.floor, text_of_schedule(best, found.size),
        best.name, best.overlapped, best.seconds(found.size), best.waiting,
        Fraction(0), found.unknown, ranks, text_of_ranks(found.ranks), stages, messages, links,
    )  # fmt: skip


def _is_exchange_by_switches(found: Interval, best: Schedule) -> bool:
    """Whether a schedule is an exchange of all with all inside of scale-up domains, by way of switches, whose
    messages are not too many to be listed."""
    ranks = found.ranks
    if best.overlapped or not ranks.in_one_domain or ranks.inside is None:
        return False
    most = ranks.view.budget.listed_messages
    return all(r.by_switch for r in ranks.inside) and 2 * sum(n * n for n in ranks.in_set.tolist()) <= most


def _shown_inside(claim: ResolvedClaim, found: Interval, best: Schedule) -> ShownSchedule:
    """An exchange of all with all inside of scale-up domains."""
    ranks, joined = found.ranks, switches_inside(found.ranks)
    passes = 2 if claim.metric == AllReduce.name else 1
    messages = list(exchange_inside(joined, passes))
    each = found.size / passes * sum((m.parts for m in messages), Fraction(0))
    took = best.per_bit * found.size / passes
    stages = [ShownStage(1, 1, len(messages) // passes, each, took)] * passes
    names = [(name, 1) for name in names_of_ranks(ranks, names_inside_hosts(ranks.view))]
    return _shown(claim, found, best, names, stages, messages, joined.links)


def _shown_trees(
    claim: ResolvedClaim, found: Interval, best: Schedule, made: TreeMessages | SwitchMessages
) -> ShownSchedule:
    """A schedule along trees of single ranks or switches: all links of these at once, a chunk in each of them
    once."""
    sending, bits = made.per_bit * found.size, made.parts * found.size
    stage = ShownStage(made.steps, best.chunks, len(made), bits, sending)
    most = found.ranks.view.budget.listed_tree_messages
    why = f"it has {len(made):,} messages along trees, and {most:,} at most are listed"
    names = [(name, 1) for name in made.ranks]
    shown = _shown(claim, found, best, names, [stage], why if len(made) > most else made, made.links)
    return replace(shown, trees=made.trees)


def _stages_of_plan(size: Fraction, best: Schedule, plan: MessagePlan | None) -> list[ShownStage]:
    """The stages of a schedule."""
    out = []
    for stage, seconds in zip(plan.stages, plan.seconds, strict=True) if plan else ():
        part, parts = size / plan.whole if plan else size, int(stage.amount.astype(object).sum())
        chunks = best.chunks if best.overlapped else 1 if stage.steady else FILL * (stage.steps - 1)
        out.append(ShownStage(stage.steps, chunks, len(stage.source), part * parts, part * seconds))
    return out


def _schedule_of_transfer(view: View, claim: ResolvedClaim) -> ShownSchedule | str:
    """The flow of a transfer."""
    size = message_size_of_claim(claim)
    if size is None or len(claim.args) != 1 or not claim.of_to:
        return "the schedule of `transfer SIZE of A to B` is shown, without `each`"
    found = time_of_transfer(view, claim)
    if isinstance(found, str):
        return found
    here, there = (", ".join(s.text for s in side) for side in (claim.of, claim.of_to))
    routes, links = paths_between_sets(view, found.flow, (here, there))
    sent = size / found.rate
    floor = Floor(
        sent + found.least_delay, f"the least cut between them, {counted_noun(len(found.flow.cut), 'link')}"
    )
    taken = quantity_text(Quantity(sent + found.longest_delay, TIME))
    parts = (quantity_text(Quantity(x, TIME)) for x in (sent, found.longest_delay))
    words = "flow at a constant rate: {} = {} of sending + {} of known delays".format(taken, *parts)
    message = RoutedMessage(0, here, there, 1, Fraction(found.rate), tuple(routes))
    ranks = [(n, 1) for n in view.names(np.flatnonzero(found.flow.here | found.flow.there))]
    return ShownSchedule(
        claim, size, 1, floor, words, "flow", False, sent + found.longest_delay, found.longest_delay,
        Fraction(0), found.unknown, ranks, counted_noun(len(ranks), "rank"),
        [ShownStage(1, 1, 1, size, sent)], [message], links,
    )  # fmt: skip


# ---------------------------------------------------------------- as text and as data


def lines_of_schedule(shown: ShownSchedule) -> list[str]:
    """A schedule in a few lines: the floor, what reaches it, and its stages."""
    floor = quantity_text(Quantity(shown.floor.seconds, TIME))
    after = f", after the failure of {first_names_and_more(shown.failed, 8)}" if shown.failed else ""
    out = [
        f"{shown.claim.text}: {shown.ranks_text}{after}",
        f"floor     {floor}, {shown.floor.why}",
        f"schedule  {shown.words}",
    ]
    for number, s in enumerate(shown.stages, 1):
        data = quantity_text(Quantity(s.bits, SIZE))
        took = quantity_text(Quantity(s.seconds, TIME))
        how = f"{counted_noun(s.steps, 'step')}, {counted_noun(s.chunks, 'chunk')}"
        out.append(f"stage {number}   {counted_noun(s.messages, 'message')}, {data}, {took}; {how}")
    if shown.trees:
        shares = [f"{float(100 * x):.3g}%" for x in (max(shown.trees), min(shown.trees))]
        out.append(
            f"trees     {len(shown.trees):,}, each for {' to '.join(dict.fromkeys(shares))} of the data"
        )
    if shown.inside:
        taken = quantity_text(Quantity(shown.inside, TIME))
        out.append(f"inside    {taken} of scale-up links or, without these, of the ports of each host")
    if shown.unknown:
        out.append(f"unknown   {', '.join(shown.unknown)}: its time is without these delays")
    return out


def rows_of_schedule(shown: ShownSchedule, every: bool) -> Iterator[tuple[object, ...]]:
    """The messages of a schedule, a row each: stage, sender, receiver, bytes, bit/s, seconds of delay, how
    many routes, and the first of them; or ``every`` route with its share in percent. Of one along a tree its
    number, and in which steps of a chunk it sends."""
    assert not isinstance(shown.messages, str)
    for m in shown.messages:
        listed = m.routes if every else m.routes[:1]
        ways = "; ".join(_route_text(r, m.rate) for r in listed)
        yield (
            m.stage + 1,
            m.sender,
            m.receiver,
            _exact_or_float(shown.bits(m) / 8),
            _exact_or_float(m.rate),
            float(Fraction(m.delay, SECOND)),
            len(m.routes),
            ways,
            m.tree or None,
            "-".join(str(x) for x in dict.fromkeys(m.steps)) if m.tree else None,
        )


def _route_text(route: Route, rate: Fraction) -> str:
    share = "" if route.rate == rate else f"{float(100 * route.rate / rate):.6g}% "
    return share + " > ".join(route.devices)


def _exact_or_float(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


class RecordStream(list[dict[str, object]]):
    """Records that are made as they are written, and no two of them kept: a list to what writes JSON."""

    def __init__(self, shown: ShownSchedule, messages: TreeMessages | SwitchMessages) -> None:
        super().__init__()
        self.shown, self.made = shown, messages

    def __len__(self) -> int:
        return len(self.made)

    def __iter__(self) -> Iterator[dict[str, object]]:
        return (_message_as_data(self.shown, m) for m in self.made)


def schedule_as_data(shown: ShownSchedule) -> dict[str, object]:
    """All that a replay needs, as JSON."""
    messages = shown.messages
    assert not isinstance(messages, str)
    if isinstance(messages, (TreeMessages, SwitchMessages)):
        used = {*shown.links}
        listed: list[dict[str, object]] = RecordStream(shown, messages)
    else:
        used = {pair for m in messages for r in m.routes for pair in pairwise(r.devices)}
        listed = [_message_as_data(shown, m) for m in messages]
    trees = [{"tree": k, "bytes": _exact_or_float(shown.size * x / 8)} for k, x in enumerate(shown.trees, 1)]
    return {
        "requirement": shown.claim.text,
        "operation": shown.claim.metric,
        **({"failed": list(shown.failed)} if shown.failed else {}),
        "size_bytes": _exact_or_float(shown.size / 8),
        "name": shown.name,
        "floor_s": float(shown.floor.seconds),
        "floor_by": shown.floor.why,
        "total_s": float(shown.seconds),
        "delays_s": float(shown.waiting),
        "inside_s": float(shown.inside),
        "unknown_delays": list(shown.unknown),
        "overlapped": shown.overlapped,
        "ranks": [{"name": name, "accelerators": n} for name, n in shown.ranks],
        "stages": [
            {"stage": k, "steps": s.steps, "chunks": s.chunks, "sending_s": float(s.seconds)}
            for k, s in enumerate(shown.stages, 1)
        ],
        "links": [
            {"from": a, "to": b, "rate_bps": shown.links[a, b]}
            for a, b in sorted(used)
            if (a, b) in shown.links
        ],
        **({"trees": trees} if trees else {}),
        **({"sums_in_switches": True} if isinstance(messages, SwitchMessages) else {}),
        "messages": listed,
    }


def _message_as_data(shown: ShownSchedule, m: RoutedMessage) -> dict[str, object]:
    """A message as JSON."""
    tree = {"tree": m.tree, "first_step": m.steps[0], "last_step": m.steps[1]} if m.tree else {}
    return {
        "stage": m.stage + 1,
        **tree,
        "sender": m.sender,
        "receiver": m.receiver,
        "bytes": _exact_or_float(shown.bits(m) / 8),
        "rate_bps": _exact_or_float(m.rate),
        "delay_s": float(Fraction(m.delay, SECOND)),
        "routes": [{"devices": list(r.devices), "rate_bps": _exact_or_float(r.rate)} for r in m.routes],
    }
