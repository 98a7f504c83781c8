"""Certificates of times: of a transfer between two sets, and of an exchange of all with all.

``fabric.json`` states no lengths and no latencies, so these are given by the certificate and named by a
digest in what it proves. Both ends of the interval are what the checker finds, rounded outwards to
attoseconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from tdsl.certificates import checker
from tdsl.certificates.write_figures import uniform_traffic_certificate
from tdsl.certificates.write_throughput import (
    Json,
    Unshown,
    certificate_as_checked,
    certificate_of_demand,
    flow_certificate_between_sets,
    lengths_through_units,
)
from tdsl.certificates.write_trees import stages_along_trees
from tdsl.fabric.claims import ResolvedClaim
from tdsl.fabric.graph import Ints
from tdsl.fabric.subject import devices_of_selectors, holders_of_devices
from tdsl.prove.collective_bounds import Blocks, rate_at_devices, some_end_relays
from tdsl.prove.collective_floors import Floors
from tdsl.prove.collective_ranks import Ranks
from tdsl.prove.collective_times import MessagePlan
from tdsl.prove.delays import SECOND
from tdsl.prove.demands import TrafficDemand
from tdsl.prove.exchange_times import offer_through_units, stage_of_all_pairs
from tdsl.prove.gathered_pieces import Pieces, Steps, pieces_of_gathering, ring_reduction, turned_pieces
from tdsl.prove.localities import domain_of_units
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.schedule_routes import RoutedMessage, routes_of_schedule
from tdsl.prove.set_flow import max_flow_between_sets
from tdsl.prove.transfer_times import OTHER, rate_of_senders
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME, Quantity, quantity_text
from tdsl.system.lazy_dataclass import dataclass
from tdsl.verify.check import Judgement, checks_by_name
from tdsl.verify.schedules import OPERATIONS
from tdsl.verify.workload import Interval, interval_of_operation

MOST_RANKS = 256
"""Ranks of a schedule that is written down piece by piece at most."""

MOST_CELLS = 2_000_000
"""Parts of the data times ranks up to which a schedule is replayed."""

ATTO = 10**18
"""Attoseconds in a second."""

DIVISION_ROUNDS = 32
"""Rounds of the search for the best division into blocks."""

GATHERED = {"allreduce": True, "all_gather_time": False, "reduce_scatter_time": False}
"""Operations that are gatherings, and whether a reduction comes before."""

TIMED = ("transfer", "all_to_all_time", *GATHERED)
"""The metrics whose times have certificates."""


def certificates_of_times(
    view: View,
    claims: Sequence[ResolvedClaim],
    wiring: checker.CertifiedFabric,
    steps: int,
    left_out: dict[str, str],
    weaker: dict[str, str],
) -> Mapping[str, Json]:
    """Certificates by the name of their file, one for every time that is asked of the whole fabric or of sets
    of its hosts and chips; the first that is asked for the same size and sets. ``left_out`` gets why others
    are not written, ``weaker`` how much wider than the answer the interval of one is."""
    out: dict[str, Json] = {}
    asked = {
        (
            c.metric,
            c.args,
            c.through,
            bool(c.given),
            c.of_all,
            c.among,
            *(tuple(s.text for s in side) for side in (c.of, c.of_to)),
        ): c
        for c in claims
        if c.metric in TIMED and c.scope is None and (c.of_all or bool(c.of) == bool(c.of_to))
    }
    for number, claim in enumerate(asked.values(), 1):
        name = f"{claim.metric}-{number}.json"
        subject = subject_of_time(view, claim)
        judged = None if subject is None else checks_by_name()[claim.metric].judge(*subject)
        if subject is None or judged is None or judged.status == "skipped":
            continue
        try:
            out[name] = _certificate_of_time(view, *subject, wiring, steps)
        except (Unshown, checker.Rejected) as why:
            left_out[name] = str(why)
            continue
        if wider := _wider_than_the_answer(out[name], judged):
            weaker[name] = wider
    return out


def subject_of_time(view: View, claim: ResolvedClaim) -> tuple[View, ResolvedClaim] | None:
    """What a claim of a time is judged on, and the claim of that; None where it is not judged."""
    if not claim.of_all:
        return view, claim
    f = view.fabric
    named = devices_of_selectors(f, claim.of) & f.is_end
    left = view.forwards & f.is_end & ~named & ~holders_of_devices(f, named)
    if not (named & f.built).any() or left.any():
        return None
    return view.among(named), replace(claim, of=claim.of if claim.among else (), of_all=False)


def _wider_than_the_answer(body: Mapping[str, Any], judged: Judgement) -> str:
    """Both intervals, where that of a certificate is wider than the answer by more than a part in a thousand
    at one end; else ""."""
    known = [judged.value if x is None else x for x in (judged.lower, judged.upper)]
    low, high = (x.amount if isinstance(x, Quantity) else None for x in known)
    least, most = (Fraction(body[end]) for end in ("at_least", "at_most"))
    if low is None or high is None or (least * 1001 >= low * 1000 and most * 1000 <= high * 1001):
        return ""
    shown, proved = (
        " to ".join(quantity_text(Quantity(x, TIME)) for x in both) for both in ((least, most), (low, high))
    )
    return f"{shown}, of which {proved} is proved"


def _certificate_of_time(
    whole: View, view: View, claim: ResolvedClaim, wiring: checker.CertifiedFabric, steps: int
) -> Json:
    """The certificate of one claim about a view of the whole network. Raises Unshown, and Rejected where the
    checker has no argument for it."""
    delays = RouteDelays.of(whole)
    if delays.missing:
        raise Unshown(f"delays are not known: {', '.join(delays.missing)}")
    if claim.through or claim.given:
        raise Unshown("times over scale-up links, and of sums in switches, have no certificate")
    body: Json = {"check": claim.metric, "bits": _whole_bits(claim), "at_least": 0, "at_most": 0}
    body["given"] = _given_delays(whole, delays)
    if claim.of_to:
        body |= _transfer(view, claim)
    else:
        body |= _operation_of_ranks(whole, view, claim, wiring, body, steps)
    head = {"schema": checker.SCHEMA, "fabric": wiring.name}
    form = checker.HEAD | checker.FORMS[claim.metric]
    stated: Any = checker.value_of_form(json.loads(json.dumps(head | body)), form, "certificate")
    net = checker.CertifiedNetwork(wiring, checker.WorkSteps(steps))
    low, high = checker.TIMES[claim.metric](net, stated)
    body["at_least"] = str(Fraction(low * ATTO // 1, ATTO))
    body["at_most"] = str(Fraction(-(-high * ATTO // 1), ATTO))
    return body


def _transfer(view: View, claim: ResolvedClaim) -> Json:
    """The flow and the lengths of a transfer; where each member sends as much, the flow of all and a cut."""
    found = flow_certificate_between_sets(view, claim)
    if found is None:
        raise Unshown("no routes are known")
    if len(claim.args) == 1:
        return {key: found[key] for key in ("from", "to", "lower", "upper")}
    between = max_flow_between_sets(view, claim)
    assert not isinstance(between, str)
    sent, most = (rate_of_senders(view, between, passing) for passing in (False, True))
    if not sent.rate:
        raise Unshown("no routes are known")
    name = view.fabric.device_name
    flow = [[name(a), "all to" if b == OTHER else name(b), str(x)] for a, b, x in sent.flow]
    return {
        "from": found["from"],
        "to": found["to"],
        "each": {"flow": flow, "cut": [name(d) for d in most.behind]},
    }


def _operation_of_ranks(
    whole: View, view: View, claim: ResolvedClaim, wiring: checker.CertifiedFabric, body: Json, steps: int
) -> Json:
    """What a certificate says of an operation among the ranks of a view, with its proofs; ``body`` has the
    delays, which get the ranks and domains beside them."""
    interval = interval_of_operation(claim.metric, view, claim, OPERATIONS[claim.metric])
    if isinstance(interval, str):
        raise Unshown(interval)
    ranks, given = interval.ranks, body["given"]
    if ranks.ends is not ranks.view:
        raise Unshown("a certificate knows no single rails of a host")
    if ranks.delay_inside.missing:
        raise Unshown(f"delays are not known: {', '.join(ranks.delay_inside.missing)}")
    assert isinstance(given, dict)
    given |= _given_ranks(ranks)
    out: Json = {"units": len(view.units)}
    if view.members is not None:
        sets = ranks.set_of_unit
        out["sets"] = [view.names(view.units[sets == k]) for k in range(int(sets.max(initial=0)) + 1)]
    if claim.metric in GATHERED:
        found = _schedule_of_gathering(interval, claim.metric)
    else:
        found = _exchange(ranks, wiring, given, out, steps)
    out |= found | _floor_of_collective(ranks, claim.metric)
    if all(len(one) == 1 for domain in given.get("domains", ()) for one in domain["units"]):
        out["apart"] = _units_far_apart(wiring, given, ranks, steps)
    return out


def _given_ranks(ranks: Ranks) -> Json:
    """The ranks of units, and the domains of ranks, that a certificate takes as given."""
    view, weight = ranks.view, ranks.weight
    names = view.names(view.units)
    same_count = len({*weight.tolist()}) == 1
    out: Json = {"ranks": int(weight[0]) if same_count else 1}
    if not same_count:
        out["several"] = {n: w for n, w in zip(names, weight.tolist(), strict=True) if w > 1}
    kinds: dict[tuple[str, bool, str, int], list[list[str]]] = {}
    for number, (units, most) in _given_domains(ranks).items():
        assert ranks.inside is not None
        rate, wait = ranks.inside[number], int(ranks.delay_inside.seconds * SECOND)
        key = str(rate.bps), rate.any_traffic, str(most or ""), wait
        kinds.setdefault(key, []).append([names[u] for u in units])
    if kinds:
        out["domains"] = [
            {"units": units, "rate_bps": bps, "any": any_traffic, "most_bps": most or None, "delay": wait}
            for (bps, any_traffic, most, wait), units in kinds.items()
        ]
    return out


def _whole_bits(claim: ResolvedClaim) -> int:
    """The bits of a claim's size. Raises Unshown where they are no whole number."""
    size: Any = claim.args[0]
    if size.amount.denominator != 1:
        raise Unshown("its size has a part of a bit")
    return int(size.amount)


def _given_domains(ranks: Ranks) -> dict[int, tuple[list[int], int]]:
    """By the number of a domain of several ranks its units, and what each of its ranks receives by scale-up
    links; 0 where that is no limit, or not the same of all."""
    if ranks.inside is None:
        return {}
    view, inner = ranks.view, Blocks.of(ranks.view)
    place = {d: k for k, d in enumerate(inner.device.tolist())}
    domain, block = domain_of_units(view), ranks.divisions[-1].block
    designed, out = np.bincount(domain, ranks.weight), dict[int, tuple[list[int], int]]()
    for number in range(len(ranks.inside)):
        units = np.flatnonzero(block == number).tolist()
        if ranks.in_domain[number] < 2:
            continue
        if designed[domain[units[0]]] != ranks.in_domain[number]:
            raise Unshown("a set has a part of a scale-up domain")
        at = [place.get(int(view.units[u]), -1) for u in units]
        known = all(k >= 0 and inner.chips[k] == inner.ranks[k] * inner.least[k] for k in at)
        out[number] = units, max(int(inner.least[k]) for k in at) if known else 0
    return out


def _units_far_apart(wiring: checker.CertifiedFabric, given: Any, ranks: Ranks, steps: int) -> list[str]:
    """Two units of one set that are far apart: the farthest from the first, and the farthest from that."""
    net = checker.CertifiedNetwork(wiring, checker.WorkSteps(steps))
    delays = checker.GivenDelays(net, given)
    names = ranks.view.names(ranks.view.units)
    best, pair = -1, names[:2]
    for k in range(len(ranks.in_set)):
        members = [n for n, s in zip(names, ranks.set_of_unit.tolist(), strict=True) if s == k]
        last = members[0]
        for _ in range(2 if len(members) > 1 else 0):
            far = checker.least_delays(net, delays, last)
            other = max((u for u in members if u != last), key=lambda u: far.get(u, -1))
            if far.get(other, -1) > best:
                best, pair = far[other], [last, other]
            last = other
    return pair


def _exchange(ranks: Ranks, wiring: checker.CertifiedFabric, given: Any, out: Json, steps: int) -> Json:
    """The routes of an exchange of all with all, and lengths where domains are of single units: of all units
    with as many ranks as for the throughput, else of all pairs."""
    view, head = ranks.view, {"schema": checker.SCHEMA, "fabric": wiring.name}
    joined = len(np.unique(domain_of_units(view))) < len(view.units)
    stage = stage_of_all_pairs(ranks, view.budget.unlike_exchange_pairs)
    found: Json | None = None
    if "sets" not in out and "several" not in given and not joined:
        found = uniform_traffic_certificate(view)
    elif stage is not None:
        demand = TrafficDemand(stage.source, stage.target, stage.amount)
        found = certificate_of_demand(view, demand)
    if found is None:
        raise Unshown("no routes are known")
    found |= certificate_as_checked(head | found, wiring, steps)
    made = {"lower": found["lower"], "upper": found["upper"]}
    if joined:
        del made["upper"]
    elif some_end_relays(view):
        offer = offer_through_units(ranks)
        upper = None if offer is None else lengths_through_units(view, offer)
        made = {"lower": found["lower"]} | ({} if upper is None else {"upper": upper})
    return made


def _given_delays(view: View, delays: RouteDelays) -> Json:
    """What devices take, and the shortest and the longest cable between any two that are linked."""
    f = view.fabric
    devices = {
        f.device_name(d): int(delays.own[d]) for d in np.flatnonzero((delays.own > 0) & f.built).tolist()
    }
    rows: dict[tuple[str, str], tuple[int, int]] = {}
    for a, b, cable in zip(*(x.tolist() for x in (view.a, view.b, delays.cable)), strict=True):
        names = sorted((f.device_name(a), f.device_name(b)))
        low, high = rows.get((names[0], names[1]), (cable, cable))
        rows[names[0], names[1]] = min(low, cable), max(high, cable)
    return {"devices": devices, "links": [[*pair, *both] for pair, both in sorted(rows.items())], "ranks": 1}


# ---------------------------------------------------------------- gatherings


def _schedule_of_gathering(interval: Interval, metric: str) -> Json:
    """The best schedule of an all-reduce, an all-gather or a reduce-scatter whose pieces are listed."""
    ranks = interval.ranks
    count = len(ranks.weight)
    if count > MOST_RANKS:
        raise Unshown(f"there are {count:,} ranks, and schedules of {MOST_RANKS} at most are replayed")
    for best in interval.schedules:
        along = stages_along_trees(ranks, best)
        if along is not None:
            return {"chunks": best.chunks} | along
        plan = best.plan
        if plan is None or plan.gathering is None:
            continue
        routed = routes_of_schedule(ranks, best)
        if isinstance(routed, str):
            continue
        made = _pieces_of_schedule(metric, plan, ranks)
        found = None if made is None else _stages_as_replayed(ranks, plan, routed, made[0], made[1])
        if found is not None:
            return {"chunks": best.chunks} | found
    raise Unshown("no schedule is known whose pieces are listed")


def _pieces_of_schedule(
    metric: str, plan: MessagePlan, ranks: Ranks
) -> tuple[list[Steps], list[Pieces]] | None:
    """The pieces of every stage of a schedule, and what units keep of a sum that their domain has added up
    before."""
    gathering = plan.gathering
    assert gathering is not None
    made = pieces_of_gathering(gathering, ranks.weight, ranks.outer)
    gathered = made.stages
    if metric == "all_gather_time":
        return gathered, []
    if metric == "reduce_scatter_time":
        return turned_pieces(gathered), made.holds
    if len(plan.stages) == 2 and plan.stages[0] is plan.stages[1]:  # both halves of a ring go the same way
        before = pieces_of_gathering(replace(gathering, blocks=()), ranks.weight, ranks.outer).holds
        reduced = ring_reduction(gathered[0], before)
        return None if reduced is None else ([reduced, *gathered], made.holds)
    return [*turned_pieces(gathered[1 if gathering.sums else 0 :]), *gathered], made.holds


def _stages_as_replayed(
    ranks: Ranks,
    plan: MessagePlan,
    routed: Sequence[RoutedMessage],
    pieces: Sequence[Steps],
    kept: Sequence[Pieces],
) -> Json | None:
    """The channels and steps of every stage; None where what they carry is not what was planned."""
    names, lists = ranks.view.names(ranks.view.units), [some for p in pieces for s in p for *_, some in s]
    points = {x for some in (*lists, *kept) for ends in some for x in ends}
    parts = lcm(*ranks.in_set.tolist(), *(x.denominator for x in points))
    if parts * len(names) > MOST_CELLS or len(pieces) != len(plan.stages):
        return None
    stages = []
    for number, steps in enumerate(pieces):
        stage = _stage_as_replayed(names, [m for m in routed if m.stage == number], steps, parts)
        if stage is None:
            return None
        stages.append(stage)
    begin = _parts_kept_in_domains(ranks, names, kept, parts)
    return {"parts": parts, "stages": stages} | ({"begin": begin} if begin else {})


def _parts_kept_in_domains(ranks: Ranks, names: Sequence[str], kept: Sequence[Pieces], parts: int) -> Json:
    """What units of a domain of several keep of the sum that it has added up before all stages."""
    if not kept or ranks.inside is None:
        return {}
    block = ranks.divisions[-1].block
    shared = np.flatnonzero(np.bincount(block)[block] > 1).tolist()
    return {names[u]: _numbered_parts(kept[u], parts) for u in shared}


def _stage_as_replayed(
    names: Sequence[str], messages: Sequence[RoutedMessage], steps: Steps, parts: int
) -> Json | None:
    """The channels and steps of one stage; None where a message of a step has no channel of its own."""
    place = {(m.sender, m.receiver): k for k, m in enumerate(messages)}
    if len(place) < len(messages):  # both ways round two chips are the same way
        return None
    if any((names[s], names[t]) not in place for sends in steps for s, t, _ in sends):
        return None
    listed = [
        [
            {"channel": place[names[s], names[t]], "parts": _numbered_parts(some, parts)}
            for s, t, some in sends
        ]
        for sends in steps
    ]
    return {"channels": [_channel_of_message(m) for m in messages], "steps": listed}


def _channel_of_message(m: RoutedMessage) -> Json:
    """The ways of a message with their rates."""
    ways = [{"devices": [m.sender, *r.devices[1:-1], m.receiver], "rate_bps": str(r.rate)} for r in m.routes]
    return {"ways": ways}


def _numbered_parts(pieces: Pieces, parts: int) -> list[list[int]]:
    """Pieces as rows of the first and the last of so many parts of the data."""
    return [[int(a * parts), int(b * parts) - 1] for a, b in pieces]


def _floor_of_collective(ranks: Ranks, metric: str) -> Json:
    """The cut and the division into blocks that show most, by the devices on a side and in each block."""
    view, f = ranks.view, ranks.view.fabric
    floors = Floors.of(view, ranks.outer, ranks.nested)
    alone = np.full(f.device_count, -1, dtype=np.int64)
    alone[view.units] = domain_of_units(view)
    best, division, out = Fraction(0), Fraction(0), Json()
    for label in (alone, *(floors.device_labels(d) for d in floors.groups)):
        blocks = _rank_blocks(ranks, metric, label)
        if not all(any(b.held) for b in blocks):
            continue
        for b in blocks:
            if b.rate and any(b.held) and b.crossing / b.rate > best:
                best, out = b.crossing / b.rate, out | {"cut": view.names(b.devices)}
        if metric not in GATHERED:
            continue
        inner = _whole_domains(ranks) if label is alone else {}
        shown, divided = _best_division(ranks, metric, blocks, inner)
        if shown > division:
            division, out = shown, out | {"blocks": [view.names(b.devices) for b in blocks]}
            out["divided"] = divided
    return out


@dataclass(frozen=True, slots=True)
class _RankBlock:
    """Devices of a block, its ranks of each set, bit/s of the links that lead into it, and what crosses these
    one way in parts of the data."""

    devices: Ints
    held: list[int]
    rate: int
    crossing: Fraction


def _rank_blocks(ranks: Ranks, metric: str, label: Ints) -> list[_RankBlock]:
    """The blocks that devices are in, -1 for none."""
    view, count = ranks.view, int(label.max()) + 1
    crossing = label[view.a] != label[view.b]
    entering = np.zeros(count + 1, dtype=np.int64)
    for end in (label[view.a], label[view.b]):
        np.add.at(entering, end[crossing], view.fabric.link_rate[view.rows][crossing])
    held = np.zeros((count, len(ranks.in_set)), dtype=np.int64)
    np.add.at(held, (label[view.units], ranks.set_of_unit), ranks.unit_weight)
    sets = ranks.in_set.tolist()
    return [
        _RankBlock(
            np.flatnonzero(label == b),
            held[b].tolist(),
            int(entering[b]),
            _crossing(metric, held[b].tolist(), sets),
        )
        for b in range(count)
    ]


def _crossing(metric: str, held: Sequence[int], sets: Sequence[int]) -> Fraction:
    """What crosses the links around a block one way, in parts of the data, that has so many ranks of each
    set."""
    some = [(Fraction(r, n), n) for r, n in zip(held, sets, strict=True) if 0 < r < n]
    inside, nothing = sum((x for x, _ in some), Fraction(0)), Fraction(0)
    if metric == "all_to_all_time":
        return sum((x * (1 - x) * n for x, n in some), nothing)
    return Fraction(len(some)) if metric == "allreduce" else max(inside, len(some) - inside)


def _whole_domains(ranks: Ranks) -> dict[int, int]:
    """What each rank receives by scale-up links at most, of the domains of which that is given."""
    return {number: most for number, (_, most) in _given_domains(ranks).items() if most}


def _need_as_whole(b: _RankBlock, sets: Sequence[int], adds: bool) -> tuple[Fraction, int, bool]:
    """What a block receives in parts of the data, and bit/s into it; it is not divided."""
    lacking = sum((1 - Fraction(r, n) for r, n in zip(b.held, sets, strict=True) if r), Fraction(0))
    return Fraction(2 * sum(r > 0 for r in b.held)) if adds else lacking, b.rate, False


def _need_of_ranks_apart(
    b: _RankBlock, sets: Sequence[int], adds: bool, rate: Ints, inside: int
) -> tuple[Fraction, int, bool]:
    """The same of all ranks of a domain, each a block by itself that has ``inside`` bit/s in the domain."""
    each = sum(b.held)
    # a domain is in one set, of which its other ranks lack all but their own part
    need = Fraction(2 * each) if adds else each - 1 + _need_as_whole(b, sets, adds)[0]
    return need, int(rate[b.devices].sum()) + each * inside, True


def _best_division(
    ranks: Ranks, metric: str, blocks: Sequence[_RankBlock], inner: Mapping[int, int]
) -> tuple[Fraction, list[int]]:
    """Seconds a bit that a division shows, and the blocks whose ranks are blocks by themselves: by
    Dinkelbach's method, each is divided where that is best at the price of capacity so far
    (``Blocks.allreduce``)."""
    view, adds, sets = ranks.view, metric == "allreduce", ranks.in_set.tolist()
    rate = rate_at_devices(view)
    others = int(rate[view.fabric.is_end & ~np.isin(np.arange(len(rate)), view.units)].sum()) if adds else 0
    options = [
        [_need_as_whole(b, sets, adds)]
        + ([_need_of_ranks_apart(b, sets, adds, rate, inner[number])] if number in inner else [])
        for number, b in enumerate(blocks)
    ]
    best, chosen = Fraction(0), list[int]()
    for _ in range(DIVISION_ROUNDS):
        picked = [max(found, key=lambda x: (x[0] - best * x[1], -x[1])) for found in options]
        need = sum((x[0] for x in picked), Fraction(-2 * len(sets) if adds else 0))
        total = sum(x[1] for x in picked) + others
        if not total or need / total <= best or len(blocks) + sum(x[2] for x in picked) < 2:
            break
        best, chosen = need / total, [k for k, x in enumerate(picked) if x[2]]
    return best, chosen
