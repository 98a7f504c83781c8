"""Certificates of throughput that ``verify_throughput.py`` checks: of patterns, and between two sets.

The lower end is the flow of every source on the arcs, whole numbers of ``parts`` of a demand; the upper end the ports, or lengths
of arcs. What a file asked for is written out, so that a certificate needs no other file than ``fabric.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

from tdsl.fabric.claims import ResolvedClaim
from tdsl.verify.alltoall import ALL
from tdsl.verify.demand import Demand, Unfit, demand_of
from tdsl.verify.multiflow import Bounds
from tdsl.verify.terminals import Links, Offer, offer
from tdsl.verify.view import View

Json = dict[str, object]

DIGITS = 4_000
"""Bits of a common denominator; with more, no flows are written."""


def patterns(view: View, claims: Sequence[ResolvedClaim]) -> Mapping[str, Json]:
    """Certificates by the name of their file, one for every pattern that is asked of the whole fabric, in the order of the
    claims."""
    asked = {
        (c.args, c.through): c for c in claims
        if c.metric == "throughput" and c.args and c.args != (ALL,) and c.scope is None and not c.of and not c.of_to
    }  # fmt: skip
    out: dict[str, Json] = {}
    if len(view.units) < 2 or view.unit_word == "switches":
        return out
    for number, claim in enumerate(asked.values(), 1):
        try:
            demand = demand_of(view, claim)
        except Unfit:
            continue
        whole = offer(view, Links.of(view), demand)
        found = whole.bounds() if whole is not None else None
        if whole is not None and found is not None:
            out[f"throughput-{number}.json"] = _pattern(view, claim, demand, whole, found)
    return out


def _pattern(view: View, claim: ResolvedClaim, demand: Demand, asked: Offer, found: Bounds) -> Json:
    word = str(claim.args[0])
    body: Json = {"check": "throughput", "units": len(view.units)}
    if word in ("ring", "shift", "rail_allreduce"):
        body["pattern"] = " ".join((*map(str, claim.args), *(["through scaleup"] if claim.through else [])))
    else:
        s, t = (view.names(view.units[x]) for x in (demand.source, demand.target))
        body |= {"pattern": "file", "demands": [list(x) for x in zip(s, t, demand.amount.tolist(), strict=True)]}
    lower = _flows(asked, found)
    shown = found.lower if lower["by"] == "flows" else Fraction(0)
    low, high = (str(x * asked.total * asked.grain) for x in (shown, found.upper))
    return body | {"lower_bps": low, "upper_bps": high, "lower": lower, "upper": _lengths(asked, found)}


def _flows(asked: Offer, found: Bounds) -> Json:
    """The flow of every source on the arcs; none where they are too many to keep."""
    kept = found.routes.flow
    parts = lcm(*{x.denominator for flow in (kept or {}).values() for x in flow.values()})
    if kept is None or parts.bit_length() > DIGITS:
        return {"by": "none"}
    ends = _ends(asked)
    flows = {
        asked.nodes[s]: [[*ends[arc], int(x * parts)] for arc, x in sorted(flow.items()) if x] for s, flow in kept.items()
    }  # fmt: skip
    return {"by": "flows", "parts": parts, "flows": flows}


def _lengths(asked: Offer, found: Bounds) -> Json:
    if not found.lengths:
        return {"by": "ports"}
    ends = _ends(asked)
    return {"by": "lengths", "lengths": [[*ends[arc], x] for arc, x in enumerate(found.lengths) if x]}


def _ends(asked: Offer) -> list[tuple[str, str]]:
    name, flows = asked.nodes, asked.flows
    return [(name[a], name[b]) for a, b in zip(flows.tail.tolist(), flows.head.tolist(), strict=True)]
