"""Certificates: what proves a result, as JSON that ``checker.py`` checks against ``fabric.json`` alone.

Of a bisection: the split with its cut, and the shares and limits of the flows that show the lower bound. Of what the checker
counts again (diameter, mean hops, redundancy, oversubscription, blast radius): the figure. Of reachability: that it holds, or two
units that do not reach each other. Of ``survives``: one case for every orbit of failures, and the symmetries that map the cases
to all others. Devices have the names that ``fabric.json`` gives them, elements their paths; fractions are texts, ``"15/16"``.
``docs/certificates.md`` has every schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from math import comb

import numpy as np

from tdsl.certificates import checker
from tdsl.certificates.write_throughput import Json, Unshown, combined, of_sets, patterns, shown
from tdsl.diagnostic import Diagnostics
from tdsl.fabric.claims import Element, ResolvedClaim, Selector
from tdsl.fabric.graph import Fabric, Ints
from tdsl.prove import elimination as frontier
from tdsl.prove import switch_placements as placements
from tdsl.prove.all_to_all import ALL, AllToAll, OrbitLengths, bounds
from tdsl.prove.automorphisms import Orbits, orbits
from tdsl.prove.bisection import LowerProof, bisection
from tdsl.prove.bound import Combined, EveryPlacement, EverySplit, GroupRoutes, Lengths, Spectrum
from tdsl.prove.budget import DEFAULT, Budget
from tdsl.prove.by_domain import ByDomain
from tdsl.prove.by_rail import ByRail, ways
from tdsl.prove.capacity import Capacities
from tdsl.prove.clos import Spread
from tdsl.prove.cuts import Cut
from tdsl.prove.demands import Unfit
from tdsl.prove.element_symmetry import Symmetry, symmetry
from tdsl.prove.elements import TooMany, enough, sizes
from tdsl.prove.elements import elements as named
from tdsl.prove.elements import failed as after
from tdsl.prove.equal_split import PARTS
from tdsl.prove.network import names_of
from tdsl.prove.set_flow import members
from tdsl.prove.uniform_flow import Concurrent
from tdsl.prove.unit_graph import UnitGraph
from tdsl.prove.view import View
from tdsl.semantics.quantity import RATE, Quantity
from tdsl.verify.check import Result, catalogue

CASES = 200
"""Cases that one certificate holds at most."""

LINKS = 100_000
"""Links of the largest fabric that certificates are written of."""

CASE_LINKS = 2_000_000
"""Cases of a certificate times the links of the fabric, at most."""

STEPS = 10**8
"""Steps of the checker within which a certificate is verified before it is written: about half a minute."""


@dataclass(frozen=True, slots=True)
class Certified:
    """Texts of certificates by the name of their file, each verified by the checker; by name the checker's reason why one is not
    verified, which is a fault of tdsl; and by name why others are not written, though their results are right."""

    texts: Mapping[str, str]
    rejected: Mapping[str, str]
    left_out: Mapping[str, str]


class LeftOut(Exception):
    """A certificate is not written though the result is proved; the text says why."""


def certify(fabric: Fabric, claims: Sequence[ResolvedClaim], results: Iterable[Result], steps: int = STEPS) -> Certified:
    """Write the certificates of a fabric and verify each against its fabric.json, within so many steps of the checker."""
    if fabric.link_count > LINKS:
        return Certified({}, {}, {"*.json": f"the fabric has {fabric.link_count:,} links, and the limit is {LINKS:,}"})
    design = fabric_json(fabric)
    data = checker.Fabric(checker.parse(design, "fabric.json"))
    texts: dict[str, str] = {}
    rejected: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for name, made in certificates(fabric, claims, results, design=design, left_out=left_out).items():
        text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
        try:
            checker.verify(checker.parse(text, name), data, steps)
            texts[name] = text
        except checker.TooMuchWork:
            left_out[name] = f"to check it takes more than {steps:,} steps of work"
        except (checker.Rejected, checker.Unreadable) as why:
            rejected[name] = str(why)
    return Certified(texts, rejected, left_out)


def fabric_json(fabric: Fabric) -> str:
    """The file that the target ``json`` writes."""
    from tdsl.emit.build import build  # templates are slow to import

    return build(fabric, ["json"], Diagnostics())["fabric.json"].decode()


BUNDLED = "the design has bundles of links, which the checker does not read"


def certificates(
    fabric: Fabric, claims: Sequence[ResolvedClaim], results: Iterable[Result], budget: Budget = DEFAULT, design: str = "",
    left_out: dict[str, str] | None = None,
) -> Mapping[str, Json]:  # fmt: skip
    """Certificates by the name of their file: of the claims about the whole fabric that are answered, each metric once, or as
    often as `survives` is asked. ``design`` is the text of the fabric.json whose hash they state; ``left_out`` gets the names of
    those that are not written, and why."""
    head = {"schema": checker.SCHEMA, "fabric": fabric.name, "design": sha256(design.encode()).hexdigest()}
    found = _bodies(fabric, claims, results, budget, {} if left_out is None else left_out)
    out = {name: head | body for name, body in found.items()}
    flows = [name for name, body in out.items() if body["check"] == "throughput"]
    if flows:
        wiring = checker.Fabric(checker.parse(design or fabric_json(fabric), "fabric.json"))
        for name in flows:
            try:
                out[name] |= shown(out[name], wiring, STEPS)
            except Unshown as why:
                del out[name]
                if left_out is not None:
                    left_out[name] = str(why)
    return out


def _bodies(
    fabric: Fabric, claims: Sequence[ResolvedClaim], results: Iterable[Result], budget: Budget, left_out: dict[str, str]
) -> Mapping[str, Json]:
    fabric = fabric.network
    view = View.whole(fabric, budget)
    status = {(r.check, r.requirement): r.status for r in results}
    out: dict[str, Json] = {}
    if any(check == "bisection" and s != "skipped" for (check, _), s in status.items()):
        out["bisection.json"] = _bisection(view)
    if any(check == "reachability" and s in ("proved", "refuted") for (check, _), s in status.items()):
        found = _reachability(view)
        if found is not None:
            out["reachability.json"] = found
    if any(check == "diameter" and s == "proved" for (check, _), s in status.items()):
        judged = catalogue()["diameter"].judge(view, None)
        if judged.status == "proved":
            out["diameter.json"] = {"check": "diameter", "value": judged.value} | _symmetric(view)
    out |= _all_to_all(view, claims)
    out |= patterns(view, claims)
    for check in ("edge_redundancy", "node_redundancy", "mean_hops", "oversubscription"):
        if any(name == check and s in ("proved", "refuted") for (name, _), s in status.items()):
            if check == "edge_redundancy" and (fabric.link_bundle >= 0).any():
                left_out[f"{check}.json"] = BUNDLED
                continue
            judged = catalogue()[check].judge(view, None)
            if judged.status == "proved" and isinstance(judged.value, (int, Fraction)):  # not without an upper link
                turned = {} if check == "oversubscription" else _symmetric(view)
                out[f"{check}.json"] = {"check": check, "value": _number(judged.value)} | turned
    asked = [
        c for c in claims if c.metric == "blast_radius" and c.scope is None and not any(s.ports for s in c.of) and not c.through
    ]
    for number, claim in enumerate(asked, 1):
        judged = catalogue()["blast_radius"].judge(view, claim)
        if judged.status == "proved":
            of = _selectors(view, named(view, claim))
            out[f"blast_radius-{number}.json"] = {"check": "blast_radius", "of": of, "value": judged.value}
    for number, claim in enumerate(at_switches(claims), 1):
        judged = catalogue()["oversubscription"].judge(view, claim)
        if judged.status == "proved" and isinstance(judged.value, (int, Fraction)):
            at = _selectors(view, _built(view, claim.at))
            out[f"oversubscription-{number}.json"] = {"check": "oversubscription", "at": at, "value": _number(judged.value)}
    asked = [c for c in claims if c.metric == "survives" and c.scope is None]
    for number, claim in enumerate(asked, 1):
        if status.get(("survives", claim.text)) == "proved":
            try:
                made = _survives(view, claim)
            except LeftOut as why:
                left_out[f"survives-{number}.json"] = str(why)
                continue
            if made is not None:
                out[f"survives-{number}.json"] = made
    return out


def at_switches(claims: Iterable[ResolvedClaim]) -> list[ResolvedClaim]:
    """The claims about the oversubscription of some switches that certificates are written of, in order."""
    return [
        c for c in claims
        if c.metric == "oversubscription" and c.at and c.scope is None and not c.of and not c.of_active
    ]  # fmt: skip


def _built(view: View, selectors: Sequence[Selector]) -> list[Element]:
    """The elements that selectors name, as far as something of them is built."""
    return [e for s in selectors for e in s.elements if view.devices[e.devices].any()]


def _number(value: object) -> int | str:
    """A figure as the checker reads it."""
    return value if isinstance(value, int) else str(value)


# ---------------------------------------------------------------- bisection and reachability


def _bisection(view: View) -> Json:
    found = bisection(view)
    lower = _lower(view, found.net, found.bound.proof_lower)
    if lower is None:
        plain = replace(view, budget=replace(view.budget, spectrum_nodes=0, split_count=0))
        found = bisection(plain, between_groups=False)
        lower = _lower(plain, found.net, found.bound.proof_lower)
    net = found.net
    side = np.concatenate((net.units[found.cut.units], net.nodes[found.cut.nodes]))
    return {
        "check": "bisection",
        "units": len(net.units),
        "lower_bps": found.lower * net.grain if lower is not None else 0,
        "upper_bps": found.upper * net.grain,
        "cut": sorted(view.names(side)),
        "lower": lower or {"by": "shares", "parts": []},
    }


def _lower(view: View, net: Capacities, proof: LowerProof) -> Json | None:
    """What is written to show the lower end: routes, shares, or orders in which devices take sides; None of another proof."""
    if isinstance(proof, (Spectrum, GroupRoutes)):
        return None
    if isinstance(proof, Concurrent):
        return {"by": "routes"} | _routes(view, proof)
    if isinstance(proof, (EverySplit, EveryPlacement)):
        return _orders(view, proof)
    lower: Json = {"by": "shares", "parts": [_spread(view.fabric, part, spread) for part, spread in proof.parts]}
    if proof.restored is not None:
        added = proof.restored.added
        ends = zip(view.names(net.nodes[added.a]), view.names(net.nodes[added.b]), added.capacity.tolist(), strict=True)
        lower["restored"] = [[a, b, capacity * net.grain] for a, b, capacity in ends]
    return lower


def _orders(view: View, proof: EverySplit | EveryPlacement) -> Json | None:
    """Orders in which devices take sides; None where each split of the whole had a flow of its own."""
    parts: list[Json] = []
    for net, least in proof.parts:
        order = placements.order(net) if isinstance(proof, EveryPlacement) else frontier.order(net, view.budget)
        if order is None:
            return None
        name = view.names(np.append(net.units, net.nodes))
        parts.append({"least": least, "order": [[name[v] for v in same] for same in order]})
    return {"by": "splits", "parts": parts}


def _routes(view: View, found: Concurrent) -> Json:
    """The lengths of one link of every orbit for each routing, and the permutations of devices that make the orbits."""
    used = [(share, route) for share, route in zip(found.shares, found.routes, strict=True) if share]
    name = view.names(found.graph.device)
    hubs = {name[v]: n for v, n in enumerate(found.demand.senders.tolist()) if n}
    return {
        **({} if found.demand.pairs else {"hubs": hubs}),
        "symmetries": _images(view, found.graph, found.orbits),
        "routes": [
            {"share": share, "by": "lengths", "parts": PARTS, "lengths": _of_orbits(view, found, route.length, 1)}
            for share, route in used
        ],
    }


def _of_orbits(view: View, found: Concurrent, length: Ints, least: int) -> list[list[object]]:
    """The lengths of the first link of every orbit, both ways, where it is not the least."""
    name, g = view.names(found.graph.device), found.graph
    out: list[list[object]] = []
    for link in np.unique(found.orbits.link).tolist():
        a, b, x = name[g.a[link]], name[g.b[link]], int(length[link])
        out += [[a, b, x], [b, a, x]] if x != least else []
    return out


def _images(view: View, g: UnitGraph, found: Orbits) -> list[dict[str, str]]:
    """Permutations of devices: those of a node are mapped to those of its image in order."""
    of: list[list[str]] = [[] for _ in range(g.nodes)]
    for v, name in zip(
        np.append(g.unit_node, g.inner_node).tolist(), view.names(np.append(g.net.units, g.net.nodes)), strict=True
    ):
        of[v].append(name)
    return [
        {a: b for v, w in enumerate(image.tolist()) if v != w for a, b in zip(of[v], of[w], strict=True)}
        for image in found.images
    ]


def _symmetric(view: View) -> Json:
    """Symmetries of a fabric whose units forward, or nothing."""
    if not view.forwards[view.units].all() or len(view.units) < 2:
        return {}
    g = UnitGraph.of(view, Capacities.of(view))
    return {"symmetries": _images(view, g, orbits(g, view.budget))}


def _all_to_all(view: View, claims: Sequence[ResolvedClaim]) -> Mapping[str, Json]:
    """Of hosts with all their ports, and of their rails, as is asked."""
    out: dict[str, Json] = {}
    for claim in claims:
        if claim.metric == "throughput" and claim.args == (ALL,) and claim.scope is None and not claim.of:
            try:
                over = ways(view, claim)[0]
            except Unfit:
                continue
            if isinstance(over, ByDomain):  # a certificate knows no domains of several hosts
                continue
            if isinstance(over, ByRail) and (over.silent(None) or over.apart(None)):
                continue
            words = f"{ALL} by rail" if isinstance(over, ByRail) else ALL
            name = f"throughput-{words.replace(' ', '_')}.json"
            if name not in out and (made := _throughput(over)) is not None:
                out[name] = made | {"pattern": words, "units": len(view.units)}
    return out


def _throughput(view: View) -> Json | None:
    if len(view.units) < 2 or not (view.degree[view.units] > 0).all():
        return None
    found = bounds(view)
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
        "lower": _rate_lower(view, found),
        "upper": _rate_upper(view, found),
    }


def _rate_lower(view: View, found: AllToAll) -> Json:
    """Routes of every pair that fit together."""
    proof = found.bound.proof_lower
    if isinstance(proof, Concurrent):
        return _routes(view, proof)
    assert isinstance(proof, Combined)
    name = view.names(found.device)
    routes = list(combined(name, [[x] for x in names_of(name, proof.network)], proof.combination))
    return {"quotient": True, "routes": routes}


def _rate_upper(view: View, found: AllToAll) -> Json:
    """A cut, or lengths of links or arcs."""
    net, proof = found.net, found.bound.proof_upper
    if isinstance(proof, Cut):
        return {"quotient": True, "cut": sorted(view.names(np.concatenate((net.units[proof.units], net.nodes[proof.nodes]))))}
    if isinstance(proof, OrbitLengths):
        turned = _images(view, proof.found.graph, proof.found.orbits)
        return {"lengths": _of_orbits(view, proof.found, proof.found.dual, 0), "symmetries": turned}
    assert isinstance(proof, Lengths)
    ends = names_of(view.names(found.device), proof.network)
    return {"quotient": True, "lengths": [[*ends[arc], x] for arc, x in enumerate(proof.length.tolist()) if x]}


def _spread(fabric: Fabric, net: Capacities, spread: Spread) -> Json:
    name = [fabric.device_name(int(d)) for d in net.nodes]
    shares = {name[v]: {name[w]: str(x) for w, x in to.items()} for v, to in spread.shares.items()}
    return {"hubs": [name[v] for v in spread.hubs], "shares": shares}


def _reachability(view: View) -> Json | None:
    judged = catalogue()["reachability"].judge(view, None)
    out: Json = {"check": "reachability", "units": len(view.units), "holds": judged.status == "proved"}
    if judged.status == "proved":
        return out
    names = set(view.names(view.units))
    pair = [judged.witness.get("from"), judged.witness.get("to")]
    return out | {"apart": pair} if set(pair) <= names else None  # a manager that reaches no unit is none of these


# ---------------------------------------------------------------- survives


def _survives(view: View, claim: ResolvedClaim) -> Json | None:
    if claim.any_of == "bundles":
        raise LeftOut(BUNDLED)
    try:
        elements = named(view, claim)
    except TooMany as many:
        raise LeftOut(str(many)) from None
    if sum(e.copies for e in elements) < (claim.any_count or 0):
        return None
    count, asked = claim.any_count or 0, claim.given
    if asked is not None and not _has_form(asked):
        return None
    check = catalogue()[asked.metric if asked else "reachability"]
    sides = (asked.of, asked.of_to) if asked is not None and asked.of_to else ()
    fixed = [np.flatnonzero(members(view, side)) for side in sides]
    several = any(len(e.links) > 1 for e in elements)
    several |= len({e.copies for e in elements}) > 1
    reads = check.reads_for(asked) if asked is not None else check.reads
    found = None if several else symmetry(view, elements, reads, fixed, single=count == 1)
    chosen = _cases(elements, count, found)
    if chosen is None:
        raise LeftOut(f"it has more than {CASES} cases")
    if len(chosen) * len(view.rows) > CASE_LINKS:
        raise LeftOut(f"{len(chosen)} cases of {len(view.rows):,} links are more than the limit")
    cases = []
    for failed in chosen:
        left = after(view, list(failed))
        body = _left(left, asked)
        if asked is not None and not _shown(body, asked, view if asked.of_intact else left):
            raise LeftOut(f"no form of certificate shows the figure without {', '.join(e.name for e in failed)}")
        cases.append({"failed": [e.name for e in failed], "left": body})
    return {
        "check": "survives",
        "count": count,
        "condition": _condition(view, asked),
        **_what(view, claim, elements),
        "symmetries": [_exchange(view, image) for image in found.images] if found is not None else [],
        "cases": cases,
    }


def _has_form(asked: ResolvedClaim) -> bool:
    """Whether a certificate can state what is asked after failures: of all that is left, or the throughput of A to B."""
    whole = not (asked.at or asked.through or asked.scope or asked.args)
    sides = (bool(asked.of), bool(asked.of_to)) == (asked.metric == "throughput",) * 2
    return asked.metric in checker.LEFT and asked.op != "!=" and whole and sides


def _left(view: View, asked: ResolvedClaim | None) -> Json:
    """A certificate of what is left after failures, without its head."""
    if asked is None or asked.metric == "reachability":
        return _reachability(view) or {}
    if asked.metric == "bisection":
        return _bisection(view)
    if asked.metric == "throughput":
        flow = of_sets(view, asked)
        if flow is None:
            raise LeftOut("nothing flows between the two sets after some failure")
        return {key: flow[key] for key in ("check", *checker.FLOW)}
    judged = catalogue()[asked.metric].judge(view, None)
    bundled = asked.metric == "edge_redundancy" and bool((view.fabric.link_bundle >= 0).any())
    if judged.status != "proved" or not isinstance(judged.value, (int, Fraction)) or bundled:
        raise LeftOut(BUNDLED if bundled else "the figure is not proved for every case by itself")
    return {"check": asked.metric, "value": _number(judged.value)} | _symmetric(view)


def _shown(body: Json, asked: ResolvedClaim, base: View) -> bool:
    """Whether what a certificate states of a case is enough for the condition. What refutes it is left to the checker, which
    rejects it."""
    if asked.metric == "reachability":
        return True
    amount = _amount(asked)
    if asked.metric == "bisection":
        net = Capacities.of(base)
        least = amount if _is_rate(asked) else amount * net.full * net.grain
        low, high = (Fraction(str(body[end])) for end in ("lower_bps", "upper_bps"))
        refuted = {">=": high < least, ">": high <= least, "<=": low > least, "<": low >= least}
        holds = {">=": low >= least, ">": low > least, "<=": high <= least, "<": high < least}
        return bool(refuted.get(asked.op, not low <= least <= high) or holds.get(asked.op, low == high == least))
    return True


def _is_rate(asked: ResolvedClaim) -> bool:
    return isinstance(asked.value, Quantity) and asked.value.dim == RATE


def _amount(asked: ResolvedClaim) -> Fraction:
    amount = asked.value.amount if isinstance(asked.value, Quantity) else asked.value
    assert isinstance(amount, (int, Fraction))
    return Fraction(amount)


def _what(view: View, claim: ResolvedClaim, elements: Sequence[Element]) -> Json:
    """The elements: devices and groups by their paths, or links, ports, cables and cages of them."""
    if not elements[0].links.size:
        return {"of": _selectors(view, elements)}
    of, to = (_named_ports(view, side) for side in (claim.of, claim.of_to))
    return {"what": claim.any_of or "links", "of": of, "to": to or None}


def _named_ports(view: View, selectors: Sequence[Selector]) -> list[str]:
    """The paths of devices and groups that are built, or of the ports that have links."""
    f = view.fabric
    linked = set(f.link_a.tolist()) | set(f.link_b.tolist())
    ports = [f.port_path(p) for s in selectors if s.ports for p in s.port_rows.tolist() if p in linked]
    elements = [e for s in selectors if not s.ports for e in s.elements if view.devices[e.devices].any()]
    return list(dict.fromkeys(ports)) + (_selectors(view, elements) if elements else [])


def _cases(elements: Sequence[Element], count: int, found: Symmetry | None) -> Sequence[tuple[Element, ...]] | None:
    """The failures to show; None where they are too many for one certificate."""
    out: list[tuple[Element, ...]] = []
    for size in sizes(elements, count):
        if found is not None and size == 1:
            out += [(elements[o[0]],) for o in found.orbits()]
        elif found is not None and size == 2:
            out += [tuple(elements[i] for i in pair) for pair in found.pairs()]
        elif comb(len(elements), size) <= CASES:
            out += [chosen for chosen in combinations(elements, size) if enough(chosen, count)]
        else:
            return None
    return out if len(out) <= CASES else None


def _selectors(view: View, elements: Sequence[Element]) -> list[str]:
    """The paths of elements; where all that is built of such a path is among them, the path without indices."""
    named = {e.name for e in elements}
    wanted = {checker.family(name) for name in named}
    rest: set[str] = set()
    for device in np.flatnonzero(view.fabric.built).tolist():
        around = checker.elements_of(view.fabric.device_path(device))
        rest |= {family for path in around if path not in named and (family := checker.family(path)) in wanted}
    return list(dict.fromkeys(name if checker.family(name) in rest else checker.family(name) for name in sorted(named)))


def _exchange(view: View, image: np.ndarray[tuple[int], np.dtype[np.int64]]) -> dict[str, str]:
    """The devices that an exchange moves, as names."""
    name = view.fabric.device_name
    moved = np.flatnonzero((image != np.arange(len(image))) & view.fabric.built)
    return {name(int(d)): name(int(image[d])) for d in moved}


def _condition(view: View, asked: ResolvedClaim | None) -> Json:
    if asked is None or asked.metric == "reachability":
        return {"check": "reachability"}
    part = asked.metric in ("bisection", "throughput") and not _is_rate(asked)
    share = ("intact" if asked.of_intact else "left") if part else None
    out: Json = {"check": asked.metric, "op": asked.op, "value": str(_amount(asked)), "share": share}
    sides = {"from": asked.of, "to": asked.of_to} if asked.of_to else {}
    return out | {end: _selectors(view, _built(view, side)) for end, side in sides.items()}
