"""Certificates: what proves a result, as JSON that ``verify_certificate.py`` checks against ``fabric.json`` alone.

Of a bisection: the split with its cut, and the shares and limits of the flows that show the lower bound. Of the diameter: its
links, which the script counts anew. Of reachability: that it holds, or two units apart. Of ``survives``: one case for every
orbit of failures, and the exchanges that lead from the cases to all others. Devices go by the names that ``fabric.json`` gives
them; fractions are texts, ``"15/16"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np

from tdsl.fabric.claims import Element, ResolvedClaim
from tdsl.fabric.graph import Fabric
from tdsl.semantics.quantity import RATE, Quantity
from tdsl.verify import frontier, placements
from tdsl.verify.alltoall import ALL, Between, Both, Rate, Wide, bounds
from tdsl.verify.bisection import Bisection, Proof, bisection
from tdsl.verify.by_rail import ByRail, ways
from tdsl.verify.capacity import Capacities
from tdsl.verify.check import Result, catalogue
from tdsl.verify.checks.survives import standing
from tdsl.verify.concurrent import Concurrent
from tdsl.verify.demand import Unfit
from tdsl.verify.pattern_certificate import Json, mixed, patterns
from tdsl.verify.symmetry import Symmetry, symmetry
from tdsl.verify.updown import Block, Spread
from tdsl.verify.view import View

SCHEMA = 1
CASES = 200
"""Cases that one certificate holds at most."""


def certificates(fabric: Fabric, claims: Sequence[ResolvedClaim], results: Iterable[Result]) -> Mapping[str, Json]:
    """Certificates by the name of their file: of the claims about the whole fabric that are answered, each metric once, or as
    often as `survives` is asked."""
    view = View.whole(fabric)
    status = {(r.check, r.requirement): r.status for r in results}
    out: dict[str, Json] = {}
    if any(check == "bisection" and s != "skipped" for (check, _), s in status.items()):
        out["bisection.json"] = _headed(fabric, _bisection(view))
    if any(check == "reachability" and s in ("proved", "refuted") for (check, _), s in status.items()):
        found = _reachability(view)
        if found is not None:
            out["reachability.json"] = _headed(fabric, found)
    if any(check == "diameter" and s == "proved" for (check, _), s in status.items()):
        judged = catalogue()["diameter"].judge(view, None)
        if judged.status == "proved":
            out["diameter.json"] = _headed(fabric, {"check": "diameter", "links": judged.value})
    out |= {name: _headed(fabric, body) for name, body in _all_to_all(view, claims).items()}
    out |= {name: _headed(fabric, body) for name, body in patterns(view, claims).items()}
    asked = [c for c in claims if c.metric == "survives" and c.scope is None]
    for number, claim in enumerate(asked, 1):
        if status.get(("survives", claim.text)) == "proved":
            made = _survives(view, claim)
            if made is not None:
                out[f"survives-{number}.json"] = _headed(fabric, made)
    return out


def _headed(fabric: Fabric, body: Json) -> Json:
    return {"schema": SCHEMA, "fabric": fabric.name} | body


# ---------------------------------------------------------------- bisection and reachability


def _bisection(view: View) -> Json:
    found = bisection(view)
    net = found.net
    side = np.concatenate((net.units[found.cut.units], net.nodes[found.cut.nodes]))
    shown, lower = _lower(view, found)
    return {
        "check": "bisection",
        "units": len(net.units),
        "lower_bps": shown * net.grain,
        "upper_bps": found.upper * net.grain,
        "cut": sorted(view.names(side)),
        "lower": lower,
    }


def _lower(view: View, found: Bisection) -> tuple[int, Json]:
    """What is written to show the lower end, and how much that shows."""
    if found.proof is not None:
        return found.lower, _proof(view, found.proof)
    if found.routes is not None:
        return found.shown, {"by": "routes"} | _routes(found.routes)
    lower: Json = {"by": "shares" if found.shown else "none"}
    if found.shown:
        lower["parts"] = [_spread(view.fabric, part, spread) for part, spread in found.spreads]
    if found.shown and found.mended is not None:
        added, nodes = found.mended.added, found.net.nodes
        ends = zip(view.names(nodes[added.a]), view.names(nodes[added.b]), added.room.tolist(), strict=True)
        lower["restored"] = [[a, b, room * found.net.grain] for a, b, room in ends]
    return found.shown, lower


def _proof(view: View, proof: Proof) -> Json:
    """Orders in which devices take sides, or the multiplier of the spectrum; where each split of the whole had a flow of its own,
    the script finds those again."""
    if proof.by == "spectrum":
        return {"by": "spectrum", "mu": str(proof.mu)}
    parts: list[Json] = []
    for net, least in proof.parts:
        order = placements.order(net) if proof.by == "places" else frontier.order(net)
        if order is None:
            return {"by": "flows", "least": least}
        name = view.names(np.append(net.units, net.nodes))
        parts.append({"least": least, "order": [[name[v] for v in twins] for twins in order]})
    return {"by": "splits", "parts": parts}


def _routes(found: Concurrent) -> Json:
    """Nodes by their place in the order of fabric.json, units that meet the same as one; links in the order of their nodes."""
    used = [(share, route) for share, route in zip(found.shares, found.routes, strict=True) if share]
    hubs = [[v, n] for v, n in enumerate(found.demand.senders.tolist()) if n]
    return {
        "pairs": found.demand.pairs,
        **({} if found.demand.pairs else {"hubs": hubs}),
        "symmetries": [image.tolist() for image in found.orbits.images],
        "routes": [{"share": share, "lengths": route.length.tolist()} for share, route in used],
    }


def _all_to_all(view: View, claims: Sequence[ResolvedClaim]) -> Mapping[str, Json]:
    """Of hosts with all their ports, and of their rails, as is asked."""
    out: dict[str, Json] = {}
    for claim in claims:
        if claim.metric == "throughput" and claim.args == (ALL,) and claim.scope is None and not claim.of:
            try:
                over = ways(view, claim)[0]
            except Unfit:
                continue
            if isinstance(over, ByRail) and (over.silent(None) or over.apart(None)):
                continue
            words = f"{ALL} by rail" if isinstance(over, ByRail) else ALL
            name = f"throughput-{words.replace(' ', '_')}.json"
            if name not in out and (made := _throughput(over)) is not None:
                out[name] = made | {"pattern": words}
    return out


def _throughput(view: View) -> Json | None:
    if len(view.units) < 2 or not (view.degree[view.units] > 0).all():
        return None
    found = bounds(view)
    if found is None:
        return None
    net, either = found.net, found.either if isinstance(found, Both) else (found,)
    lower, _ = _shown(view, next(x for x in either if x.lower == found.lower))
    _, upper = _shown(view, next(x for x in either if x.upper == found.upper))
    return {
        "check": "throughput",
        "pattern": ALL,
        "units": len(net.units),
        "lower_bps": str(found.lower * net.grain),
        "upper_bps": str(found.upper * net.grain),
        "lower": lower,
        "upper": upper,
    }


def _shown(view: View, found: Between) -> tuple[Json, Json]:
    """What shows either end."""
    net = found.net
    if isinstance(found, Rate):
        cut, lower = found.cut, _routes(found.routes)
        upper: Json = {"lengths": found.routes.dual.tolist(), "symmetries": lower["symmetries"]}
    else:
        assert isinstance(found, Wide)
        name, wires = view.names(found.device), found.wires
        ends = [(name[a], name[b]) for a, b in zip(wires.tail.tolist(), wires.head.tolist(), strict=True)]
        ends = [ends[i] for i in np.argsort(wires.place).tolist()]
        cut, lower = found.side, {"by": "routes", "routes": list(mixed(name, ends, found.mixture))}
        upper = {"by": "lengths", "lengths": [[*ends[arc], x] for arc, x in enumerate(found.lengths.tolist()) if x]}
    if cut is not None:
        upper = {"cut": sorted(view.names(np.concatenate((net.units[cut.units], net.nodes[cut.nodes]))))}
    return lower, upper


def _spread(fabric: Fabric, net: Capacities, spread: Spread) -> Json:
    name = [fabric.device_name(int(d)) for d in net.nodes]
    shares = {name[v]: {name[w]: str(x) for w, x in to.items()} for v, to in spread.shares.items()}

    def block(b: Block) -> Json:
        return {"nodes": [name[v] for v in b.members], "limit": str(b.limit), "inside": [block(x) for x in b.inside]}

    return {"hubs": [name[v] for v in spread.hubs], "shares": shares, "blocks": [block(b) for b in spread.blocks]}


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
    elements = standing(view, claim)
    count, asked = claim.any_count or 0, claim.given
    if asked is not None and (asked.metric not in ("bisection", "reachability") or asked.of or asked.through):
        return None
    if asked is not None and asked.metric == "bisection" and asked.op not in (">", ">="):
        return None
    if np.isin(view.fabric.kind, ("ocs", "panel"))[np.concatenate([e.devices for e in elements])].any():
        return None  # what runs through them is not among the links of fabric.json
    found = symmetry(view, elements)
    chosen = _cases(elements, count, found)
    if chosen is None:
        return None
    cases = []
    for failed in chosen:
        gone = np.zeros(view.fabric.device_count, dtype=np.bool_)
        for e in failed:
            gone[e.devices] = True
        left = view.without(gone)
        body = _bisection(left) if asked is not None and asked.metric == "bisection" else _reachability(left)
        cases.append({"failed": [_names(view, e) for e in failed], "left": body})
    return {
        "check": "survives",
        "count": count,
        "claim": _claim(asked),
        "elements": [_names(view, e) for e in elements],
        "exchanges": [_exchange(view, image) for image in found.images],
        "cases": cases,
    }


def _cases(elements: Sequence[Element], count: int, found: Symmetry) -> Sequence[tuple[Element, ...]] | None:
    """The failures to show; None where they are too many for one certificate."""
    if count == 1:
        out: list[tuple[Element, ...]] = [(elements[o[0]],) for o in found.orbits()]
    elif count == 2:
        out = [(elements[low], elements[high]) for low, high in found.pairs()]
    elif comb(len(elements), count) <= CASES:
        out = list(combinations(elements, count))
    else:
        return None
    return out if len(out) <= CASES else None


def _names(view: View, element: Element) -> list[str]:
    """What an element has that is built."""
    return view.names(element.devices[view.fabric.built[element.devices]])


def _exchange(view: View, image: np.ndarray[tuple[int], np.dtype[np.int64]]) -> dict[str, str]:
    """The devices that an exchange moves, as names."""
    name = view.fabric.device_name
    moved = np.flatnonzero((image != np.arange(len(image))) & view.fabric.built)
    return {name(int(d)): name(int(image[d])) for d in moved}


def _claim(asked: ResolvedClaim | None) -> Json:
    if asked is None or asked.metric == "reachability":
        return {"check": "reachability"}
    value, rate = asked.value, isinstance(asked.value, Quantity) and asked.value.dim == RATE
    amount = value.amount if isinstance(value, Quantity) else value
    assert isinstance(amount, (int, Fraction))
    return {
        "check": "bisection",
        "at_least": None if rate else str(Fraction(amount)),
        "at_least_bps": str(Fraction(amount)) if rate else None,
        "of_intact": asked.of_intact,
    }
