"""Certificates of throughput: of patterns, and between two sets.

The lower end is the flow of every source on the arcs, whole numbers of ``parts`` of a demand, or what
routings of everything were made of, each with its share; the upper end the ports, or lengths of arcs. Either
may be of the quotient in which equivalent nodes are one. What a file asked for is written out, so that a
certificate needs no other file than ``fabric.json``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np

from tdsl.certificates import checker
from tdsl.fabric.claims import ResolvedClaim, Selector
from tdsl.prove.all_to_all import ALL
from tdsl.prove.bound import PortBound
from tdsl.prove.by_domain import ByDomain
from tdsl.prove.by_rail import SCALEUP, ByRail, endpoint_views
from tdsl.prove.demands import RAILS, TrafficDemand, UnfitDemand, demand_of
from tdsl.prove.network import arc_end_names
from tdsl.prove.routed_demand import DemandBound, Expanded, RoutedLoads
from tdsl.prove.routing_combinations import Combination
from tdsl.prove.set_flow import max_flow_between_sets
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.terminals import Offer, offer_of_demand
from tdsl.prove.view import View

Json = dict[str, object]


def certificates_of_patterns(view: View, claims: Sequence[ResolvedClaim]) -> Mapping[str, Json]:
    """Certificates by the name of their file, one for every pattern or pair of sets that is asked of the
    whole fabric, in the order of the claims."""
    asked = {
        (c.args, c.through, _selected_element_names(c.of), _selected_element_names(c.of_to)): c
        for c in claims
        if c.metric == "throughput"
        and c.args != (ALL,)
        and c.scope is None
        and bool(c.of) == bool(c.of_to) != bool(c.args)
    }
    made = (
        (
            f"throughput-{i}.json",
            flow_certificate_between_sets(view, c) if c.of_to else _certificate_of_pattern(view, c),
        )
        for i, c in enumerate(asked.values(), 1)
    )
    return {name: body for name, body in made if body is not None}


def _selected_element_names(selectors: Sequence[Selector]) -> tuple[str, ...]:
    return tuple(e.name for s in selectors for e in s.elements)


def flow_certificate_between_sets(view: View, claim: ResolvedClaim) -> Json | None:
    """The maximum flow and a minimum cut; None where nothing flows."""
    found = max_flow_between_sets(view, claim)
    if isinstance(found, str) or not found.bound.upper:
        return None
    bound = found.bound

    def named(arcs: Iterable[tuple[int, int, int]]) -> list[list[object]]:
        ends = {-2: "all from", -1: "all to"}
        return [[*(ends.get(v) or view.fabric.device_name(v) for v in (a, b)), x] for a, b, x in arcs]

    flows = {"all from": named(bound.proof_lower.arcs)}
    return {
        "check": "throughput",
        "pattern": "between",
        "from": view.names(np.flatnonzero(found.here)),
        "to": view.names(np.flatnonzero(found.there)),
        "lower_bps": str(bound.lower),
        "upper_bps": str(bound.upper),
        "lower": {"routes": [{"share": 1, "by": "flows", "parts": bound.lower, "flows": flows}]},
        "upper": {"lengths": named(bound.proof_upper.arcs)},
    }


def _certificate_of_pattern(view: View, claim: ResolvedClaim) -> Json | None:
    """None where the pattern is not answered."""
    if len(view.units) < 2:
        return None
    try:
        demand, (over, _) = demand_of(view, claim), endpoint_views(view, claim)
    except UnfitDemand:
        return None
    if isinstance(over, ByDomain):  # a certificate knows no domains of several hosts
        return None
    rails = over if isinstance(over, ByRail) else None
    if rails and (rails.silent(demand) or rails.apart(demand)):
        return None
    asked = offer_of_demand(over, rails.laid(demand) if rails else demand)
    found = asked.bounds(view.budget) if asked is not None else None
    if asked is None or found is None:
        return None
    low, high = (str(x * asked.total * asked.grain) for x in (found.lower, found.upper))
    body: Json = {"check": "throughput", "units": len(view.units)}
    body |= _stated_pattern(view, claim, demand, rails is not None)
    body |= {"lower_bps": low, "upper_bps": high}
    return body | _pattern_proofs(asked, found)


def certificate_of_demand(view: View, demand: TrafficDemand) -> Json | None:
    """The certificate of a throughput of a demand between units of a view, which it lists; None where it is
    not answered."""
    asked = offer_of_demand(view, demand)
    found = None if asked is None else asked.bounds(view.budget)
    if asked is None or found is None or not found.lower:
        return None
    low, high = (str(x * asked.total * asked.grain) for x in (found.lower, found.upper))
    s, t = (view.names(view.units[x]) for x in (demand.source, demand.target))
    rows = [list(x) for x in zip(s, t, demand.amount.tolist(), strict=True)]
    body: Json = {"check": "throughput", "pattern": "file", "units": len(view.units), "demands": rows}
    return body | {"lower_bps": low, "upper_bps": high} | _pattern_proofs(asked, found)


def lengths_through_units(view: View, offer: Offer) -> Json | None:
    """Lengths that bound an offer in which units pass on what others send, of the links of every unit; None
    where nothing is known."""
    found = offer.bounds(view.budget)
    if found is None:
        return None
    if isinstance(found.proof_upper, PortBound):
        return {"lengths": []}
    groups: dict[int, list[int]] = {}
    for device, node in enumerate(offer.node.tolist()):
        groups.setdefault(node, []).append(device)
    linked = {*zip(view.a.tolist(), view.b.tolist(), strict=True)}
    linked |= {(b, a) for a, b in linked}
    rows: list[list[object]] = []
    net, name = offer.network, view.fabric.device_name
    for tail, head, x in zip(
        net.tail.tolist(), net.head.tolist(), found.proof_upper.length.tolist(), strict=True
    ):
        for a in groups[tail] if x else ():
            rows += [[name(a), name(b), x] for b in groups[head] if (a, b) in linked]
    return {"lengths": rows}


def _stated_pattern(view: View, claim: ResolvedClaim, demand: TrafficDemand, by_rail: bool) -> Json:
    """The words of a pattern; of one that the checker cannot list itself also its demands."""
    word = str(claim.args[0])
    by_name = word in ("ring", "shift", RAILS)
    way = [SCALEUP] if claim.through else ["by rail"] if by_rail and word != RAILS else []
    body: Json = {"pattern": " ".join((*(map(str, claim.args) if by_name else ["file"]), *way))}
    if not by_name:
        s, t = (view.names(view.units[x]) for x in (demand.source, demand.target))
        body["demands"] = [list(x) for x in zip(s, t, demand.amount.tolist(), strict=True)]
    return body


def _pattern_proofs(asked: Offer, found: DemandBound) -> Json:
    """Both proofs, in the quotient where they were found there."""
    ends = arc_end_names(asked.nodes, asked.network)
    if isinstance(found.proof_lower, Expanded) and found.proof_lower.flow is None:
        whole, by = found.proof_lower.whole, found.proof_lower.by
        names = [asked.nodes[i] for i in by.first.tolist()]
        arcs: list[list[tuple[str, str]]] = [[] for _ in range(by.network.arcs)]
        for end, arc in zip(ends, by.arc.tolist(), strict=True):
            if arc >= 0:
                arcs[arc].append(end)
        return {
            "lower": _pattern_flows(names, arcs, whole) | {"quotient": True},
            "upper": _pattern_upper_bound(arcs, whole, True),
        }
    single = [[end] for end in ends]
    return {
        "lower": _pattern_flows(asked.nodes, single, found),
        "upper": _pattern_upper_bound(single, found, False),
    }


Named = Sequence[Sequence[tuple[str, str]]]
"""The arcs of the fabric, by the names of both devices, that are one arc of a network."""


def _pattern_flows(names: Sequence[str], arcs: Named, found: DemandBound) -> Json:
    """The flow of every source on the arcs; where those are too many, what the routings were made of."""
    kept = found.proof_lower.flow
    if kept is None:
        return {"routes": list(_pattern_routings(names, arcs, found.proof_lower))}
    parts = lcm(*{x.denominator for flow in kept.values() for x in flow.values()})
    flows = {
        names[s]: [[*arcs[arc][0], int(x * parts)] for arc, x in sorted(flow.items()) if x]
        for s, flow in kept.items()
    }
    return {"routes": [{"share": 1, "by": "flows", "parts": parts, "flows": flows}]}


def _pattern_routings(names: Sequence[str], arcs: Named, made: RoutedLoads) -> Iterator[Json]:
    """Routings of everything, with the share of each."""
    if made.combination is not None:
        yield from routings_of_combination(names, arcs, made.combination)
    elif made.trees is not None:
        yield {"share": 1, "parts": made.trees.parts, "by": "trees"}
    for length in made.lengths:
        yield {"share": 1, "parts": made.parts, "by": "lengths", "lengths": _arc_lengths(arcs, length, 1)}


def routings_of_combination(names: Sequence[str], arcs: Named, made: Combination) -> Iterator[Json]:
    """Routings of a combination: along shortest paths under lengths, which are one where nothing else is
    said, or over hubs."""
    for share, column in zip(made.whole(), made.columns, strict=True):
        route: Json = {"share": share, "parts": PARTS}
        if share and column.lengths is not None:
            yield route | {"by": "lengths", "lengths": _arc_lengths(arcs, column.lengths.tolist(), 1)}
        elif share and column.hubs is not None:
            hubs = {names[h]: x for h, x in zip(*(c.tolist() for c in column.hubs), strict=True)}
            yield route | {"by": "hubs", "parts": PARTS * sum(hubs.values()), "hubs": hubs}
        elif share and column.trees is not None:
            yield {"share": share, "parts": PARTS, "by": "trees"}


def _arc_lengths(arcs: Named, length: Sequence[int], least: int) -> list[list[object]]:
    return [[*end, x] for arc, x in enumerate(length) if x != least for end in arcs[arc]]


def _pattern_upper_bound(arcs: Named, found: DemandBound, quotient: bool) -> Json:
    proof = found.proof_upper
    if isinstance(proof, PortBound):
        return {"lengths": []}
    return {"lengths": _arc_lengths(arcs, proof.length.tolist(), 0)} | (
        {"quotient": True} if quotient else {}
    )


class Unshown(Exception):
    """A figure is proved by a method that certificates do not state, and no other shows it; the text says
    so."""


def certificate_as_checked(body: Json, wiring: checker.CertifiedFabric, steps: int) -> Json:
    """What a certificate states otherwise than the engine did: a cut as lengths, routes along trees as
    shortest paths, and the lower bound that the checker finds where it rounds loads otherwise, up to a
    thousandth less. A greater difference is left to the checker, which rejects it. Shortest paths in the
    place of trees may show more; where they show less it raises Unshown."""
    out: Any = json.loads(json.dumps(body))
    net = checker.CertifiedNetwork(wiring, checker.WorkSteps(steps))
    trees = False
    for route in out["lower"]["routes"]:
        trees |= route["by"] == "trees"
        if route["by"] == "trees":
            route |= {"by": "lengths", "lengths": []}
    try:
        if "cut" in out["upper"]:
            out["upper"] = {"quotient": True, "lengths": _lengths_of_cut(net, out)}
        if all(route["by"] == "flows" for route in out["lower"]["routes"]):
            return {"upper": out["upper"]}
        stated = checker.value_of_form(out, checker.HEAD | checker.FORMS["throughput"], "certificate")
        low, _ = checker.verify_throughput_bounds(
            checker.CertifiedNetwork(wiring, checker.WorkSteps(steps)), stated | {"lower_bps": 0}
        )
    except checker.Rejected:
        return {"lower": out["lower"], "upper": out["upper"]}
    if trees and low < stated["lower_bps"] * Fraction(999, 1000):
        raise Unshown("its lower bound is by routes along trees, and shortest paths show less")
    if trees or stated["lower_bps"] * Fraction(999, 1000) <= low < stated["lower_bps"]:
        out["lower_bps"] = str(min(low, stated["upper_bps"]))
    return {key: out[key] for key in ("lower", "upper", "lower_bps")}


def _lengths_of_cut(net: checker.CertifiedNetwork, body: Any) -> list[list[object]]:
    """The lengths that show as much as a cut: 1 out of its side, and the average of these over every orbit of
    arcs."""
    proof = {"quotient": True, "symmetries": None}
    orbit, side = checker.traffic_of_stated_pattern(net, body, proof)[0].orbit, {*body["upper"]["cut"]}
    size = Counter(orbit.values())
    out = Counter(orbit[v, w] for v, w in orbit if v in side and w not in side)
    whole = lcm(*(size[x] // gcd(size[x], n) for x, n in out.items()))
    return [[*x, n * whole // size[x]] for x, n in out.items()]
