"""Capacity, redundancy, distance and failures of what a design describes, from its records.

The figures themselves are those of ``judges.py``: cuts over all halves, augmenting paths, breadth-first search, linear programs.
What they are about is selected here, from the records.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

from tests.soundness.inventory import Inventory
from tests.soundness.judge_parts import built_elements, is_group, named_devices, wires_between
from tests.soundness.judges import SETS, Claim, Figure, Left, Unjudged, World, _live, figure

Answer = bool | Figure
PLAIN = ("reachability", "bisection", "edge_redundancy", "node_redundancy", "diameter", "mean_hops", "throughput", "isolated")


def path_readings(inventory: Inventory, claim: Claim, scope: str) -> list[list[Answer]]:
    """The answers to a claim that is asked in the block of an instance, or at the top: for each reading those of the elements.
    Raises Unjudged."""
    match claim.metric:
        case "taper":
            each = [Figure(taper_ratio(inventory, core)) for core in built_elements(inventory, claim.of, scope).values()]
            return [[*each], [max(each, key=lambda f: f.value)]]
        case "oversubscription":
            return [[Figure(worst_ratio(inventory, named_devices(inventory, claim.at, scope) if claim.at else None, scope))]]
        case "survives" | "blast_radius":
            return by_both_networks(inventory, claim, scope, failure_answers)
        case "throughput" if claim.to:
            return by_both_networks(inventory, claim, scope, flow_between)
    if claim.metric == "isolated":
        core = named_devices(inventory, claim.of, scope) if claim.of else frozenset(inventory.paths_below(scope))
        return [[not lonely_devices(inventory, core)]]
    if claim.every:
        return set_readings(inventory, claim, scope)
    if claim.of:
        parts = built_elements(inventory, claim.of, scope)
        if any(not is_group(inventory, name) for name in parts):
            raise Unjudged("a figure of one device")
        return [[plain_answer(inventory.restricted(core), claim) for core in parts.values()]]
    part = inventory.restricted(frozenset(inventory.paths_below(scope))) if scope else inventory
    return [[plain_answer(part, claim)]]


def lonely_devices(inventory: Inventory, core: frozenset[str]) -> list[str]:
    """Those of some devices that are built and have no link, nor anything in them one. Devices inside of others are asked where
    one of their declaration has a link."""
    linked = {end for w in inventory.wires for end in (w.a, w.b)}
    declared = {declaration_of(p) for p in linked}
    return [
        p.path
        for p in inventory.built_parts()
        if p.path in core and (not p.inside or declaration_of(p.path) in declared) and not inventory.closure({p.path}) & linked
    ]


def declaration_of(path: str) -> str:
    """A path without its indices."""
    return re.sub(r"\[[^\]]*\]", "", path)


def by_both_networks(inventory: Inventory, claim: Claim, scope: str, judge: object) -> list[list[Answer]]:
    """Answers for the network of the instance alone, and for the whole network with the names of the instance."""
    assert callable(judge)
    out: list[list[Answer]] = [[judge(inventory, inventory, claim, scope)]]
    if scope:
        part = inventory.restricted(frozenset(inventory.paths_below(scope)))
        out.append([judge(part, inventory, claim, scope)])
    return out


def plain_answer(part: Inventory, claim: Claim) -> Answer:
    """The figure of a network that stands for itself."""
    hosts = [p for p in part.built_parts() if p.kind == "host"]
    if claim.metric == "reachability" and len(hosts) == 1:
        raise Unjudged("one host, which reaches all others or has no link")
    return figure(Left(part.world()), replace(claim, of="", to=""))


# ---------------------------------------------------------------- a set of endpoints


def set_readings(inventory: Inventory, claim: Claim, scope: str) -> list[list[Answer]]:
    """`of all S`: the endpoints of S, those without a link, omitted or failed included, with the whole network between them."""
    named = named_devices(inventory, claim.of, scope)
    wired = {inventory.parts[end].kind for w in inventory.wires for end in (w.a, w.b)}
    holding = {p.inside for p in inventory.parts.values() if p.inside and p.kind == "chip" and "chip" in wired}
    ends = {p for p in named if inventory.parts[p].kind in ("host", "chip") and p not in holding}
    ends -= {p for p in ends if inventory.parts[p].kind == "chip" and "chip" not in wired}
    if len(ends) < 2:
        raise Unjudged("fewer than two endpoints")
    others = {p.path for p in inventory.parts.values() if p.kind in ("host", "chip")} - ends - holding
    left = inventory.without(frozenset(others))
    parts = {
        p: replace(v, built=True) if p in ends | (holding & {inventory.parts[e].inside for e in ends}) else v
        for p, v in left.parts.items()
    }
    whole = Left(replace(left, parts=parts).world())
    linked = {end for w in left.wires for end in (w.a, w.b)}
    reached = _all_reached(left, ends)
    asked = replace(claim, of="", every=False)
    zero = Figure(Fraction(0), Fraction(0))
    match claim.metric:
        case "reachability":
            return [[reached]]
        case "edge_redundancy" | "node_redundancy":
            return [[zero]] if not ends <= linked else [[figure(whole, asked)]]
        case "bisection" | "throughput":
            try:
                found = figure(whole, asked)
            except Unjudged:
                if ends <= linked:
                    raise
                return [[zero]]
            return [[found]] if ends <= linked else [[zero], [found]]
    if not reached:
        raise Unjudged("some do not reach each other")
    return [[figure(whole, asked)]]


def _all_reached(inventory: Inventory, ends: set[str]) -> bool:
    """Whether every endpoint reaches every other: hosts pass nothing on, so each is asked alone."""
    near: dict[str, set[str]] = defaultdict(set)
    for w in inventory.wires:
        near[w.a].add(w.b)
        near[w.b].add(w.a)
    chips = any(inventory.parts[w.a].kind == inventory.parts[w.b].kind == "chip" for w in inventory.wires)
    passing = {p.path for p in inventory.parts.values() if p.kind == "switch" or (chips and p.kind == "chip")}
    for first in ends:
        found, front = {first}, deque([first])
        while front:
            at = front.popleft()
            for far in near[at] - found if at in passing or at == first else ():
                found.add(far)
                front.append(far)
        if not ends <= found:
            return False
    return True


# ---------------------------------------------------------------- flows and failures


def flow_between(part: Inventory, whole: Inventory, claim: Claim, scope: str) -> Answer:
    """The maximum flow between two sets of devices; of a group or a device that contains others, between the endpoints in it."""
    world = part.world()
    left = Left(world)
    row = {p: i for i, p in enumerate(world.paths)}
    units = {world.paths[u] for u in left.units}
    sides = []
    for text in (claim.of, claim.to):
        members: set[str] = set()
        for core in whole.select(text, scope).values():
            members |= (core & units) or core
        sides.append({row[p] for p in members if p in row})
    linked = set(left.degree)
    if not sides[0] or not sides[1]:
        raise Unjudged("nothing is left of a set")
    if any(not side & linked for side in sides):
        return Figure(Fraction(0), Fraction(0))
    return left.between(*sides)


def failure_answers(part: Inventory, whole: Inventory, claim: Claim, scope: str) -> Answer:
    """`survives` and `blast_radius`, by going through every set of failed elements."""
    world = part.world()
    row = {p: i for i, p in enumerate(world.paths)}
    if claim.what in ("links", "cables", "ports"):  # every cable carries one link here
        here = named_devices(whole, claim.of, scope)
        there = named_devices(whole, claim.to, scope) if claim.to else frozenset(whole.parts)
        wires = {id(w) for w in wires_between(part, here, there)}
        elements = {}
        for i, w in enumerate(part.wires):
            if id(w) in wires:
                ports = [a for a, b in ((w.a, w.b), (w.b, w.a)) if a in here and b in there]  # ports are those of the first set
                for end in ports if claim.what == "ports" else [""]:
                    elements[f"{i} {end}"] = (frozenset[int](), frozenset({i}))
    else:
        found = whole.select(claim.of, scope)
        elements = {n: (frozenset(row[p] for p in core if p in row), frozenset[int]()) for n, core in found.items()}
        elements = {n: gone for n, gone in elements.items() if gone[0]}
    if not elements:
        raise Unjudged("nothing fails")
    if claim.metric == "blast_radius":
        return blast_figure(world, [devices for devices, _ in elements.values()])
    if comb(len(elements), claim.count) > SETS or len(elements) < claim.count:
        raise Unjudged("too many sets, or too few elements")
    asked = claim.given or Claim("reachability")
    unknown = False
    for chosen in combinations(elements.values(), claim.count):
        devices, links = (frozenset().union(*(x[i] for x in chosen)) for i in (0, 1))
        left = world.left(devices, links)
        if len(left.units) < 2:
            unknown = True
            continue
        try:
            if not asked.holds(figure(left, asked, world.whole)):
                return False
        except Unjudged:
            unknown = True
    if unknown:
        raise Unjudged("some sets of failures leave too little")
    return True


def blast_figure(world: World, failing: list[frozenset[int]]) -> Figure:
    """Endpoints that the worst of these failures takes away."""
    whole = world.whole
    units = set(whole.units)
    total = sum(e in units and whole.degree.get(e, 0) > 0 for e, _, _, _ in whole.attached)
    live = [_live(world.left(devices)) for devices in failing]
    return Figure(Fraction(max(total - sum(after.get(u, 0) for u in units) for after in live)))


# ---------------------------------------------------------------- ratios


def taper_ratio(inventory: Inventory, core: frozenset[str]) -> Fraction:
    """What endpoints inject into the switches of a set over what leads from these to switches elsewhere. Raises Unjudged where
    there is none of either."""
    inside = out = 0
    for w in inventory.wires:
        for here, there in ((w.a, w.b), (w.b, w.a)):
            if here in core and inventory.parts[here].kind == "switch":
                inside += w.rate * (inventory.parts[there].kind in ("host", "chip"))
                out += w.rate * (inventory.parts[there].kind == "switch" and there not in core)
    if not inside or not out:
        raise Unjudged("nothing is injected, or nothing leaves")
    return Fraction(inside, out)


def worst_ratio(inventory: Inventory, asked: frozenset[str] | None, scope: str) -> Fraction:
    """The worst ratio of capacity below to capacity above of these switches, or of all of an instance. Raises Unjudged where one
    has nothing above, or where something is planned only."""
    if any(not p.built for p in inventory.parts.values()):
        raise Unjudged("ratios of planned devices")
    near: dict[str, set[str]] = defaultdict(set)
    for w in inventory.wires:
        near[w.a].add(w.b)
        near[w.b].add(w.a)
    tier = {p.path: 0 for p in inventory.built_parts() if p.kind == "host" and near[p.path]}
    front = deque(tier)
    while front:
        at = front.popleft()
        for far in near[at] - set(tier):
            if inventory.parts[far].kind == "switch":
                tier[far] = tier[at] + 1
                front.append(far)
    # A switch without hosts is at tier 1 where others of its declaration are and it connects only to switches above.
    lowest = {declaration_of(p) for p, t in tier.items() if t == 1}
    bare = [p for p, t in tier.items() if t > 1 and declaration_of(p) in lowest and all(tier[q] > 1 for q in near[p])]
    tier |= dict.fromkeys(bare, 1)
    chosen = asked if asked is not None else frozenset(inventory.paths_below(scope))
    ratios = []
    for p in sorted(chosen):
        if inventory.parts[p].kind != "switch" or p not in tier:
            continue
        down = sum(w.rate for w in inventory.wires for a, b in ((w.a, w.b), (w.b, w.a)) if a == p and tier.get(b, 99) < tier[p])
        up = sum(w.rate for w in inventory.wires for a, b in ((w.a, w.b), (w.b, w.a)) if a == p and tier.get(b, -1) > tier[p])
        if up:
            ratios.append(Fraction(down, up))
        elif asked is not None:
            raise Unjudged("nothing above")
    if not ratios:
        raise Unjudged("nothing above")
    return max(ratios)
