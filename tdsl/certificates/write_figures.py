"""What proves the figures of a fabric, or of what failures leave of it: bisection, reachability and uniform
all to all, and the symmetries of devices, in the form of certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from tdsl.certificates import checker
from tdsl.certificates.write_throughput import Json, routings_of_combination
from tdsl.fabric.claims import FabricElement, ResolvedClaim, Selector
from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove import elimination as frontier
from tdsl.prove import switch_placements as placements
from tdsl.prove.all_to_all import ALL, AllToAll, OrbitLengths, all_to_all_bounds
from tdsl.prove.automorphisms import Orbits, automorphism_orbits
from tdsl.prove.bisection import LowerProof, bisection_bounds, bisection_share
from tdsl.prove.bound import ArcLengths, Combined, EveryPlacement, EverySplit, GroupRoutes, Spectrum
from tdsl.prove.by_domain import ByDomain
from tdsl.prove.by_rail import ByRail, endpoint_views
from tdsl.prove.clos import Spread
from tdsl.prove.cuts import Cut
from tdsl.prove.demands import UnfitDemand
from tdsl.prove.network import Network, arc_end_names
from tdsl.prove.shortest_path_routing import PARTS
from tdsl.prove.uniform_flow import Concurrent
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.unit_network import unit_network
from tdsl.prove.view import View
from tdsl.verify.check import checks_by_name


def figure_for_checker(value: object) -> int | str:
    """A figure as the checker reads it."""
    return value if isinstance(value, int) else str(value)


def certificate_of_bisection(view: View, weaker: dict[str, str] | None = None) -> Json:
    """The split with its cut, and what shows the lower bound; 0 where no form of certificate shows any. Where
    that is less than what was proved, ``weaker`` gets both."""
    found = bisection_bounds(view)
    proved = found.lower * found.net.grain
    lower = _lower_bound_proof(view, found.net, found.bound.proof_lower)
    if lower is None:
        plain = replace(view, budget=replace(view.budget, spectrum_nodes=0, split_count=0))
        found = bisection_bounds(plain, between_groups=False)
        lower = _lower_bound_proof(plain, found.net, found.bound.proof_lower)
    net = found.net
    side = np.concatenate((net.units[found.cut.units], net.transit[found.cut.nodes]))
    shown = found.lower * net.grain if lower is not None else 0
    share = bisection_share(view)
    if weaker is not None and shown < proved:
        weaker["bisection.json"] = f"at least {shown:,} bit/s, of which {proved:,} are proved"
    elif weaker is not None and share is not None and found.lower < share.lower * net.full:
        weaker["bisection.json"] = (
            f"at least {float(Fraction(found.lower, net.full)):.2%} where hosts differ in what they send, "
            f"of which {float(share.lower):.2%} are proved"
        )
    return {
        "check": "bisection",
        "units": len(net.units),
        "lower_bps": shown,
        "upper_bps": found.upper * net.grain,
        "cut": sorted(view.names(side)),
        "lower": lower or {"by": "shares", "parts": []},
    }


def _lower_bound_proof(view: View, net: Network, proof: LowerProof) -> Json | None:
    """What is written to show the lower end: routes, shares, or orders in which devices take sides; None of
    another proof."""
    if isinstance(proof, (Spectrum, GroupRoutes)):
        return None
    if isinstance(proof, Concurrent):
        return {"by": "routes"} | _concurrent_routes(view, proof)
    if isinstance(proof, (EverySplit, EveryPlacement)):
        return _side_taking_orders(view, proof)
    lower: Json = {
        "by": "shares",
        "parts": [_spread_shares(view.fabric, part, spread) for part, spread in proof.parts],
    }
    if proof.restored is not None:
        added = proof.restored.added
        ends = zip(
            view.names(net.transit[added.a]),
            view.names(net.transit[added.b]),
            added.capacity.tolist(),
            strict=True,
        )
        lower["restored"] = [[a, b, capacity * net.grain] for a, b, capacity in ends]
    return lower


def _side_taking_orders(view: View, proof: EverySplit | EveryPlacement) -> Json | None:
    """Orders in which devices take sides; None where each split of the whole had a flow of its own."""
    parts: list[Json] = []
    for net, least in proof.parts:
        order = (
            placements.placement_order(net)
            if isinstance(proof, EveryPlacement)
            else frontier.elimination_order(net, view.budget)
        )
        if order is None:
            return None
        name = view.names(np.append(net.units, net.transit))
        parts.append({"least": least, "order": [[name[v] for v in same] for same in order]})
    return {"by": "splits", "parts": parts}


def _concurrent_routes(view: View, found: Concurrent) -> Json:
    """The lengths of one link of every orbit for each routing, and the permutations of devices that make the
    orbits."""
    used = [(share, route) for share, route in zip(found.shares, found.routes, strict=True) if share]
    name = view.names(found.graph.device)
    hubs = {name[v]: n for v, n in enumerate(found.demand.senders.tolist()) if n}
    return {
        **({} if found.demand.pairs else {"hubs": hubs}),
        "symmetries": _device_permutations(view, found.graph, found.orbits),
        "routes": [
            {
                "share": share,
                "by": "lengths",
                "parts": PARTS,
                "lengths": _lengths_of_orbits(view, found, route.length, 1),
            }
            for share, route in used
        ],
    }


def _lengths_of_orbits(view: View, found: Concurrent, length: Ints, least: int) -> list[list[object]]:
    """The lengths of the first link of every orbit, both ways, where it is not the least."""
    name, g = view.names(found.graph.device), found.graph
    out: list[list[object]] = []
    for link in np.unique(found.orbits.link).tolist():
        a, b, x = name[g.a[link]], name[g.b[link]], int(length[link])
        out += [[a, b, x], [b, a, x]] if x != least else []
    return out


def _device_permutations(view: View, g: UnitGraph, found: Orbits) -> list[dict[str, str]]:
    """Permutations of devices: those of a node are mapped to those of its image in order."""
    of: list[list[str]] = [[] for _ in range(g.nodes)]
    for v, name in zip(
        np.append(g.unit_node, g.inner_node).tolist(),
        view.names(np.append(g.net.units, g.net.transit)),
        strict=True,
    ):
        of[v].append(name)
    return [
        {a: b for v, w in enumerate(image.tolist()) if v != w for a, b in zip(of[v], of[w], strict=True)}
        for image in found.images
    ]


def symmetries_of_forwarding_units(view: View) -> Json:
    """Symmetries of a fabric whose units forward, or nothing. They keep how many links join two devices,
    which the figures are about, whatever their rates: two links are not exchanged with one of twice the rate.
    """
    if not view.forwards[view.units].all() or len(view.units) < 2:
        return {}
    g = UnitGraph.of(view, unit_network(view, rates_count=False))
    return {"symmetries": _device_permutations(view, g, automorphism_orbits(g, view.budget))}


def all_to_all_certificates(view: View, claims: Sequence[ResolvedClaim]) -> Mapping[str, Json]:
    """Of hosts with all their ports, and of their rails, as is asked."""
    out: dict[str, Json] = {}
    for claim in claims:
        if claim.metric == "throughput" and claim.args == (ALL,) and claim.scope is None and not claim.of:
            try:
                over = endpoint_views(view, claim)[0]
            except UnfitDemand:
                continue
            if isinstance(over, ByDomain):  # a certificate knows no domains of several hosts
                continue
            if isinstance(over, ByRail) and (over.silent(None) or over.apart(None)):
                continue
            words = f"{ALL} by rail" if isinstance(over, ByRail) else ALL
            name = f"throughput-{words.replace(' ', '_')}.json"
            if name not in out and (made := uniform_traffic_certificate(over)) is not None:
                out[name] = made | {"pattern": words, "units": len(view.units)}
    return out


def uniform_traffic_certificate(view: View) -> Json | None:
    """Of an exchange of all units with all others: routes that fit, and lengths or a cut; None where nothing
    is known."""
    if len(view.units) < 2 or not (view.degree[view.units] > 0).all():
        return None
    found = all_to_all_bounds(view)
    if found is None:
        return None
    found = found.stated or found
    net = found.net
    return {
        "check": "throughput",
        "pattern": ALL,
        "units": len(net.units),
        "lower_bps": str(found.lower * net.grain),
        "upper_bps": str(found.upper * net.grain),
        "lower": _rate_lower_proof(view, found),
        "upper": _rate_upper_proof(view, found),
    }


def _rate_lower_proof(view: View, found: AllToAll) -> Json:
    """Routes of every pair that fit together."""
    proof = found.bound.proof_lower
    if isinstance(proof, Concurrent):
        return _concurrent_routes(view, proof)
    assert isinstance(proof, Combined)
    name = view.names(found.device)
    routes = list(
        routings_of_combination(name, [[x] for x in arc_end_names(name, proof.network)], proof.combination)
    )
    return {"quotient": True, "routes": routes}


def _rate_upper_proof(view: View, found: AllToAll) -> Json:
    """A cut, or lengths of links or arcs."""
    net, proof = found.net, found.bound.proof_upper
    if isinstance(proof, Cut):
        return {
            "quotient": True,
            "cut": sorted(view.names(np.concatenate((net.units[proof.units], net.transit[proof.nodes])))),
        }
    if isinstance(proof, OrbitLengths):
        turned = _device_permutations(view, proof.found.graph, proof.found.orbits)
        return {"lengths": _lengths_of_orbits(view, proof.found, proof.found.dual, 0), "symmetries": turned}
    assert isinstance(proof, ArcLengths)
    ends = arc_end_names(view.names(found.device), proof.network)
    return {
        "quotient": True,
        "lengths": [[*ends[arc], x] for arc, x in enumerate(proof.length.tolist()) if x],
    }


def _spread_shares(fabric: Fabric, net: Network, spread: Spread) -> Json:
    name = [fabric.device_name(int(d)) for d in net.transit]
    shares = {name[v]: {name[w]: str(x) for w, x in to.items()} for v, to in spread.shares.items()}
    return {"hubs": [name[v] for v in spread.hubs], "shares": shares}


def certificate_of_reachability(view: View) -> Json | None:
    """That all units reach each other, or two that do not; None where a manager or storage device reaches no
    unit."""
    judged = checks_by_name()["reachability"].judge(view, None)
    out: Json = {"check": "reachability", "units": len(view.units), "holds": judged.status == "proved"}
    if judged.status == "proved":
        return out
    names = set(view.names(view.units))
    pair = [judged.witness.get("from"), judged.witness.get("to")]
    return (
        out | {"apart": pair} if set(pair) <= names else None
    )  # a manager that reaches no unit is none of these


def built_elements(view: View, selectors: Sequence[Selector]) -> list[FabricElement]:
    """The elements that selectors name, as far as something of them is built."""
    return [e for s in selectors for e in s.elements if view.devices[e.devices].any()]


def paths_of_elements(view: View, elements: Sequence[FabricElement]) -> list[str]:
    """The paths of elements; where all that is built of such a path is among them, the path without
    indices."""
    named = {e.name for e in elements}
    wanted = {checker.unindexed_path(name) for name in named}
    rest: set[str] = set()
    for device in np.flatnonzero(view.fabric.built).tolist():
        around = checker.enclosing_element_paths(view.fabric.device_path(device))
        rest |= {
            family
            for path in around
            if path not in named and (family := checker.unindexed_path(path)) in wanted
        }
    return list(
        dict.fromkeys(
            name if checker.unindexed_path(name) in rest else checker.unindexed_path(name)
            for name in sorted(named)
        )
    )
