"""Certificates of throughput that ``verify_throughput.py`` checks: of patterns, and between two sets.

The lower end is the flow of every source on the arcs, whole numbers of ``parts`` of a demand, or what routings of everything were
made of, each with its share; the upper end the ports, or lengths of arcs. Either may be of the network in which twins are one.
What a file asked for is written out, so that a certificate needs no other file than ``fabric.json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lcm

import numpy as np

from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.verify.alltoall import ALL
from tdsl.verify.between import Arcs, between
from tdsl.verify.by_rail import SCALEUP, ByRail, ways
from tdsl.verify.demand import RAILS, Unfit, demand_of
from tdsl.verify.routed import Bounds, Divided, Routed
from tdsl.verify.terminals import Offer, offer
from tdsl.verify.trees import Trees
from tdsl.verify.twins import Merged
from tdsl.verify.view import View
from tdsl.verify.waves import PARTS
from tdsl.verify.wide import Mixture

Json = dict[str, object]


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
    """None where the pattern is not answered."""
    if len(view.units) < 2:
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
    low, high = (str(x * asked.total * asked.grain) for x in (found.lower, found.upper))
    body |= {"lower_bps": low, "upper_bps": high}
    if isinstance(found.routes, Divided) and found.routes.flow is None:
        whole, by = found.routes.whole, found.routes.by
        names = [_role(asked, v, i, by) for i, v in enumerate(by.first.tolist())]
        ends = [(names[a], names[b]) for a, b in zip(by.tail.tolist(), by.head.tolist(), strict=True)]
        return body | {"lower": _lower(names, ends, whole) | {"twins": True}, "upper": _lengths(ends, whole) | {"twins": True}}
    return body | {"lower": _lower(asked.nodes, _ends(asked), found), "upper": _lengths(_ends(asked), found)}


def _role(asked: Offer, first: int, place: int, by: Merged) -> str:
    """The name of several nodes that are one: that of their first; of ends, what they do."""
    name = asked.nodes[first]
    return name if asked.flows.passes[first] else f"{name} sends" if by.out[first] == place else f"{name} receives"


def _lower(names: Sequence[str], ends: Sequence[tuple[str, str]], found: Bounds) -> Json:
    """The flow of every source on the arcs; where those are too many, what the routings were made of."""
    kept = found.routes.flow
    if kept is None:
        return {"by": "routes", "routes": list(_routes(names, ends, found.routes))}
    parts = lcm(*{x.denominator for flow in kept.values() for x in flow.values()})
    flows = {names[s]: [[*ends[arc], int(x * parts)] for arc, x in sorted(flow.items()) if x] for s, flow in kept.items()}
    return {"by": "flows", "parts": parts, "flows": flows}


def _routes(names: Sequence[str], ends: Sequence[tuple[str, str]], made: Routed) -> Iterator[Json]:
    """Routings of everything, with the share of each."""
    if made.mixture is not None:
        yield from mixed(names, ends, made.mixture)
    elif made.trees is not None:
        yield {"share": 1, "parts": made.trees.parts, "trees": _grown(ends, made.trees)}
    for length in made.lengths:
        yield {"share": 1, "parts": made.parts, "lengths": _longer(ends, length)}


def mixed(names: Sequence[str], ends: Sequence[tuple[str, str]], made: Mixture) -> Iterator[Json]:
    """Routings of a mixture: along shortest paths under lengths, which are one where nothing else is said, or over hubs."""
    for share, column in zip(made.whole(), made.columns, strict=True):
        route: Json = {"share": share, "parts": PARTS}
        if share and column.lengths is not None:
            yield route | {"lengths": _longer(ends, column.lengths.tolist())}
        elif share and column.hubs is not None:
            yield route | {"hubs": {names[h]: x for h, x in zip(*(c.tolist() for c in column.hubs), strict=True)}}
        elif share and column.trees is not None:
            yield {"share": share, "parts": column.whole, "trees": _grown(ends, column.trees)}


def _grown(ends: Sequence[tuple[str, str]], made: Trees) -> list[dict[str, list[str]]]:
    """Of every tree what hangs on each node."""
    trees: list[dict[str, list[str]]] = []
    for above in made.above:
        trees.append({})
        for a, b in (ends[arc] for arc in above[above >= 0].tolist()):
            trees[-1].setdefault(a, []).append(b)
    return trees


def _longer(ends: Sequence[tuple[str, str]], length: Sequence[int]) -> list[list[object]]:
    return [[*ends[arc], x] for arc, x in enumerate(length) if x != 1]


def _lengths(ends: Sequence[tuple[str, str]], found: Bounds) -> Json:
    if not found.lengths:
        return {"by": "ports"}
    return {"by": "lengths", "lengths": [[*ends[arc], x] for arc, x in enumerate(found.lengths) if x]}


def _ends(asked: Offer) -> list[tuple[str, str]]:
    name, flows = asked.nodes, asked.flows
    return [(name[a], name[b]) for a, b in zip(flows.tail.tolist(), flows.head.tolist(), strict=True)]
