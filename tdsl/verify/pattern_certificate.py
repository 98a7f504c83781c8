"""Certificates of throughput that ``verify_throughput.py`` checks: of patterns, and between two sets.

The lower end is the flow of every source on the arcs, whole numbers of ``parts`` of a demand; the upper end the ports, or lengths
of arcs. What a file asked for is written out, so that a certificate needs no other file than ``fabric.json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.verify.alltoall import ALL
from tdsl.verify.between import Arcs, between
from tdsl.verify.by_rail import SCALEUP, ByRail, ways
from tdsl.verify.demand import RAILS, Unfit, demand_of
from tdsl.verify.multiflow import Bounds
from tdsl.verify.terminals import Offer, offer
from tdsl.verify.view import View

Json = dict[str, object]

DIGITS = 4_000
"""Bits of a common denominator; with more, no flows are written."""


def patterns(view: View, claims: Sequence[ResolvedClaim]) -> Mapping[str, Json]:
    """Certificates by the name of their file, one for every pattern or pair of sets that is asked of the whole fabric, in the
    order of the claims."""
    asked = {
        (c.args, c.through, _named(c.of), _named(c.of_to)): c for c in claims
        if c.metric == "throughput" and c.args != (ALL,) and c.scope is None and bool(c.of) == bool(c.of_to) != bool(c.args)
    }  # fmt: skip
    made = ((f"throughput-{i}.json", _sets(view, c) if c.of_to else _pattern(view, c)) for i, c in enumerate(asked.values(), 1))
    return {name: body for name, body in made if body is not None}


def _named(selectors: Sequence[Selector]) -> tuple[str, ...]:
    return tuple(e.name for s in selectors for e in s.elements)


def _sets(view: View, claim: ResolvedClaim) -> Json | None:
    """The maximum flow and a minimum cut; None where nothing flows."""
    found = between(view, claim)
    if isinstance(found, str) or not found.value:
        return None

    def named(arcs: Arcs) -> list[list[object]]:
        ends = {-2: "all from", -1: "all to"}
        return [[*(ends.get(v) or view.fabric.device_name(v) for v in (a, b)), x] for a, b, x in arcs]

    return {
        "check": "throughput",
        "pattern": "between",
        "from": view.names(np.flatnonzero(found.here)),
        "to": view.names(np.flatnonzero(found.there)),
        "lower_bps": str(found.value),
        "upper_bps": str(found.value),
        "lower": {"by": "flows", "parts": found.value, "flows": {"all from": named(found.flow)}},
        "upper": {"by": "lengths", "lengths": named(found.crossed)},
    }


def _pattern(view: View, claim: ResolvedClaim) -> Json | None:
    """None where the pattern is not answered, or the units are switches."""
    if len(view.units) < 2 or view.unit_word == "switches":
        return None
    try:
        demand, (over, _) = demand_of(view, claim), ways(view, claim)
    except Unfit:
        return None
    rails = over if isinstance(over, ByRail) else None
    if rails and (rails.silent(demand) or rails.apart(demand)):
        return None
    asked = offer(over, rails.laid(demand) if rails else demand)
    found = asked.bounds() if asked is not None else None
    if asked is None or found is None:
        return None
    word = str(claim.args[0])
    body: Json = {"check": "throughput", "units": len(view.units)}
    by_name = word in ("ring", "shift", RAILS)
    way = [SCALEUP] if claim.through else ["by rail"] if rails and word != RAILS else []
    body["pattern"] = " ".join((*(map(str, claim.args) if by_name else ["file"]), *way))
    if not by_name:
        s, t = (view.names(view.units[x]) for x in (demand.source, demand.target))
        body["demands"] = [list(x) for x in zip(s, t, demand.amount.tolist(), strict=True)]
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
