"""Certificates of times: of a transfer between two sets, and of an exchange of all with all.

``fabric.json`` states no lengths and no latencies, so these are given by the certificate and named by a
digest in what it proves. Both ends of the interval are what the checker finds, rounded outwards to
attoseconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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
    flow_certificate_between_sets,
)
from tdsl.fabric.claims import ResolvedClaim
from tdsl.prove.collective_bounds import accelerators_of
from tdsl.prove.collective_floors import Floors
from tdsl.prove.collective_times import MessagePlan
from tdsl.prove.gathered_pieces import Steps, pieces_of_gathering, ring_reduction, turned_pieces
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.schedule_routes import RoutedMessage, routes_of_schedule
from tdsl.prove.view import View
from tdsl.semantics.quantity import TIME, Quantity, quantity_text
from tdsl.verify.check import Judgement, checks_by_name
from tdsl.verify.schedules import OPERATIONS
from tdsl.verify.workload import interval_of_operation

MOST_RANKS = 256
"""Ranks of a schedule that is written down piece by piece at most."""

MOST_CELLS = 2_000_000
"""Parts of the data times ranks up to which a schedule is replayed."""

ATTO = 10**18
"""Attoseconds in a second."""

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
    """Certificates by the name of their file, one for every time that is asked of the whole fabric; the first
    that is asked for the same size and sets. ``left_out`` gets why others are not written, ``weaker`` how
    much wider than the answer the interval of one is."""
    out: dict[str, Json] = {}
    asked = {
        (
            c.metric,
            c.args,
            c.through,
            bool(c.given),
            *(tuple(s.text for s in side) for side in (c.of, c.of_to)),
        ): c
        for c in claims
        if c.metric in TIMED and c.scope is None and not c.of_all and bool(c.of) == bool(c.of_to)
    }
    for number, claim in enumerate(asked.values(), 1):
        name = f"{claim.metric}-{number}.json"
        judged = checks_by_name()[claim.metric].judge(view, claim)
        if judged.status == "skipped":
            continue
        try:
            out[name] = _certificate_of_time(view, claim, wiring, steps)
        except (Unshown, checker.Rejected) as why:
            left_out[name] = str(why)
            continue
        if wider := _wider_than_the_answer(out[name], judged):
            weaker[name] = wider
    return out


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
    view: View, claim: ResolvedClaim, wiring: checker.CertifiedFabric, steps: int
) -> Json:
    """The certificate of one claim. Raises Unshown, and Rejected where the checker has no argument for it."""
    delays = RouteDelays.of(view)
    if delays.missing:
        raise Unshown(f"delays are not known: {', '.join(delays.missing)}")
    if claim.through or claim.given:
        raise Unshown("times over scale-up links, and of sums in switches, have no certificate")
    if len(claim.args) != 1:
        raise Unshown("a certificate has no equal rates of the members of a set")
    if claim.metric in GATHERED:
        found: Json | None = _collective(view, claim)
    else:
        found = flow_certificate_between_sets(view, claim) if claim.of_to else _exchange(view, wiring, steps)
    if found is None:
        raise Unshown("no routes are known")
    kept = ("from", "to", "units", "lower", "upper", "cut", "blocks", "parts", "chunks", "stages")
    body: Json = {"check": claim.metric, "bits": _whole_bits(claim), "at_least": 0, "at_most": 0}
    body |= {"given": _given_delays(view, delays)} | {k: found[k] for k in kept if k in found}
    if "units" in body and claim.of_to:
        del body["units"]
    if not claim.of_to:
        body["apart"] = _units_far_apart(wiring, body["given"], steps)
    head = {"schema": checker.SCHEMA, "fabric": wiring.name}
    form = checker.HEAD | checker.FORMS[claim.metric]
    stated: Any = checker.value_of_form(json.loads(json.dumps(head | body)), form, "certificate")
    net = checker.CertifiedNetwork(wiring, checker.WorkSteps(steps))
    low, high = checker.TIMES[claim.metric](net, stated)
    body["at_least"] = str(Fraction(low * ATTO // 1, ATTO))
    body["at_most"] = str(Fraction(-(-high * ATTO // 1), ATTO))
    return body


def _whole_bits(claim: ResolvedClaim) -> int:
    """The bits of a claim's size. Raises Unshown where they are no whole number."""
    size: Any = claim.args[0]
    if size.amount.denominator != 1:
        raise Unshown("its size has a part of a bit")
    return int(size.amount)


def _units_far_apart(wiring: checker.CertifiedFabric, given: Any, steps: int) -> list[str]:
    """Two units that are far apart: the farthest from the first, and the farthest from that one."""
    net = checker.CertifiedNetwork(wiring, checker.WorkSteps(steps))
    delays = checker.GivenDelays(net, given)
    pair = [next(iter(net.units))] * 2
    for _ in range(2):
        far = checker.least_delays(net, delays, pair[1])
        pair = [pair[1], max((u for u in net.units if u != pair[1]), key=lambda u: far.get(u, -1))]
    return pair


def _exchange(view: View, wiring: checker.CertifiedFabric, steps: int) -> Json | None:
    """The routes and lengths of a throughput of all to all, as the checker takes them."""
    if (accelerators_of(view)[view.units] != 1).any():
        raise Unshown("a certificate knows no ranks inside of a host")
    found = uniform_traffic_certificate(view)
    if found is None:
        return None
    head: Json = {"schema": checker.SCHEMA, "fabric": wiring.name}
    return found | certificate_as_checked(head | found, wiring, steps)


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


def _collective(view: View, claim: ResolvedClaim) -> Json | None:
    """The floor and the schedule of an all-reduce, an all-gather or a reduce-scatter."""
    count = len(view.units)
    if count > MOST_RANKS:
        raise Unshown(f"there are {count:,} ranks, and schedules of {MOST_RANKS} at most are replayed")
    if (accelerators_of(view)[view.units] != 1).any():
        raise Unshown("a certificate knows no ranks inside of a host")
    interval = interval_of_operation(claim.metric, view, claim, OPERATIONS[claim.metric])
    if isinstance(interval, str):
        raise Unshown(interval)
    for best in interval.schedules:
        plan = best.plan
        if plan is None or plan.gathering is None:
            continue
        routed = routes_of_schedule(interval.ranks, best)
        if isinstance(routed, str):
            continue
        pieces = _pieces_of_schedule(claim.metric, plan, count)
        found = _stages_as_replayed(view, plan, routed, pieces)
        if found is not None:
            return {"units": count, "chunks": best.chunks} | found | _floor_of_collective(view, claim.metric)
    raise Unshown("no schedule is known whose pieces are listed")


def _pieces_of_schedule(metric: str, plan: MessagePlan, count: int) -> list[Steps]:
    """The pieces of every stage of a schedule."""
    gathering = plan.gathering
    assert gathering is not None
    gathered = pieces_of_gathering(gathering, count)
    if metric == "all_gather_time":
        return gathered
    if metric == "reduce_scatter_time":
        return turned_pieces(gathered)
    if len(plan.stages) == 2 and plan.stages[0] is plan.stages[1]:  # both halves of a ring go the same way
        return [ring_reduction([s for s, _, _ in gathered[0][0]]), *gathered]
    return [*turned_pieces(gathered[1 if gathering.sums else 0 :]), *gathered]


def _stages_as_replayed(
    view: View, plan: MessagePlan, routed: Sequence[RoutedMessage], pieces: Sequence[Steps]
) -> Json | None:
    """The channels and steps of every stage; None where what they carry is not what was planned."""
    names = view.names(view.units)
    points = {x for steps in pieces for sends in steps for _, _, some in sends for ends in some for x in ends}
    parts = lcm(len(names), *(x.denominator for x in points))
    if parts * len(names) > MOST_CELLS or len(pieces) != len(plan.stages):
        return None
    stages = []
    for number, steps in enumerate(pieces):
        mine = [m for m in routed if m.stage == number]
        place = {(m.sender, m.receiver): k for k, m in enumerate(mine)}
        if len(place) < len(mine):  # both ways round two chips are the same way
            return None
        listed = []
        for sends in steps:
            row = []
            for s, t, some in sends:
                k = place.get((names[s], names[t]))
                if k is None:
                    return None
                row.append({"channel": k, "parts": [[int(a * parts), int(b * parts) - 1] for a, b in some]})
            listed.append(row)
        channels = [
            {"ways": [{"devices": list(r.devices), "rate_bps": str(r.rate)} for r in m.routes]} for m in mine
        ]
        stages.append({"channels": channels, "steps": listed})
    return {"parts": parts, "stages": stages}


def _floor_of_collective(view: View, metric: str) -> Json:
    """The cut and the division into blocks that show most, by the devices on a side and in each block."""
    floors = Floors.of(view)
    names = {d: view.fabric.device_name(d) for d in np.flatnonzero(view.devices & view.fabric.built).tolist()}
    count, best, division = len(view.units), Fraction(0), Fraction(0)
    out: Json = {}
    alone = np.full(view.fabric.device_count, -1, dtype=np.int64)
    alone[view.units] = np.arange(count)
    for label in (alone, *(floors.device_labels(d) for d in floors.divisions[:-1])):
        blocks = [np.flatnonzero(label == b).tolist() for b in range(int(label.max()) + 1)]
        crossing = label[view.a] != label[view.b]
        rate = np.zeros(len(blocks) + 1, dtype=np.int64)
        for end in (label[view.a], label[view.b]):
            np.add.at(rate, end[crossing], view.fabric.link_rate[view.rows][crossing])
        ranks = np.bincount(label[view.units], minlength=len(blocks))
        if (rate[:-1] == 0).any() or (ranks == 0).any() or len(blocks) < 2:
            continue
        for block, r, c in zip(blocks, ranks.tolist(), rate.tolist(), strict=False):
            shown = Fraction(count if metric == "allreduce" else max(r, count - r), count * c)
            if shown > best:
                best, out = shown, out | {"cut": [names[d] for d in block]}
        shown = Fraction(2 * (len(blocks) - 1), int(rate[:-1].sum()))
        if metric == "allreduce" and shown > division:
            division, out = shown, out | {"blocks": [[names[d] for d in block] for block in blocks]}
    return out
