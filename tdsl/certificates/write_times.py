"""Certificates of times: of a transfer between two sets, and of an exchange of all with all.

``fabric.json`` states no lengths and no latencies, so these are given by the certificate and named by a
digest in what it proves. Both ends of the interval are what the checker finds, rounded outwards to
attoseconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
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
from tdsl.prove.route_delays import RouteDelays
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name

ATTO = 10**18
"""Attoseconds in a second."""

TIMED = ("transfer", "all_to_all_time")
"""The metrics whose times have certificates."""


def certificates_of_times(
    view: View,
    claims: Sequence[ResolvedClaim],
    wiring: checker.CertifiedFabric,
    steps: int,
    left_out: dict[str, str],
) -> Mapping[str, Json]:
    """Certificates by the name of their file, one for every time that is asked of the whole fabric; the first
    that is asked for the same size and sets. ``left_out`` gets why others are not written."""
    out: dict[str, Json] = {}
    asked = {
        (c.metric, c.args, *(tuple(s.text for s in side) for side in (c.of, c.of_to))): c
        for c in claims
        if c.metric in TIMED and c.scope is None and not c.of_all and bool(c.of) == bool(c.of_to)
    }
    for number, claim in enumerate(asked.values(), 1):
        name = f"{claim.metric}-{number}.json"
        if checks_by_name()[claim.metric].judge(view, claim).status == "skipped":
            continue
        try:
            out[name] = _certificate_of_time(view, claim, wiring, steps)
        except (Unshown, checker.Rejected) as why:
            left_out[name] = str(why)
    return out


def _certificate_of_time(
    view: View, claim: ResolvedClaim, wiring: checker.CertifiedFabric, steps: int
) -> Json:
    """The certificate of one claim. Raises Unshown, and Rejected where the checker has no argument for it."""
    delays = RouteDelays.of(view)
    if delays.missing:
        raise Unshown(f"delays are not known: {', '.join(delays.missing)}")
    if len(claim.args) != 1:
        raise Unshown("a certificate has no equal rates of the members of a set")
    found = flow_certificate_between_sets(view, claim) if claim.of_to else _exchange(view, wiring, steps)
    if found is None:
        raise Unshown("no routes are known")
    kept = ("from", "to", "units", "lower", "upper")
    body: Json = {"check": claim.metric, "bits": _whole_bits(claim), "at_least": 0, "at_most": 0}
    body |= {"given": _given_delays(view, delays)} | {k: found[k] for k in kept if k in found}
    if "units" in body and claim.of_to:
        del body["units"]
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
