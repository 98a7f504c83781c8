"""Planes that share their hosts: questions in the block of a plane, whose names stand inside of it and outside."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from tests.soundness.blueprint import Asked, Block, Blueprint, Line, Statement
from tests.soundness.families.models import CHIP, host_model, some_cables, switch_model
from tests.soundness.families.scoped_groups import devices, links, omit_line
from tests.soundness.judges import Claim
from tests.soundness.verdicts import with_failures, with_thresholds


def plane_design(seed: int) -> Blueprint:
    """Hosts with a port in each plane; one plane has fewer switches, fewer hosts or more links."""
    rng = Random(seed)
    planes, hosts, leaves, spines = rng.randint(2, 3), rng.randint(3, 6), rng.randint(1, 2), rng.randint(1, 2)
    host, switch = host_model(planes, rng.choice((100, 200))), switch_model()
    rate = int(host.name.split("x")[1]) * 10**9
    wire, cord = some_cables(rng)
    up = rng.choice((100, 200))
    every = [f"pl[{p}]" for p in range(planes)]
    inner = (
        Line(f"switch leaf[{leaves}]: {switch.name}", devices([f"{p}.leaf[{x}]" for p in every for x in range(leaves)], switch)),
        Line(
            f"switch spine[{spines}]: {switch.name}", devices([f"{p}.spine[{x}]" for p in every for x in range(spines)], switch)
        ),
        Line(
            f"connect leaf[*] to spine[*] each {{ rate {up}Gbps; cable {cord.name} }}",
            links(
                [(f"{p}.leaf[{x}]", f"{p}.spine[{y}]") for p in every for x in range(leaves) for y in range(spines)],
                up * 10**9,
                1,
                cord,
            ),
        ),
    )
    apart = rng.randrange(hosts) if rng.random() < 0.4 else -1
    statements: list[Statement] = [
        Line(f"host node[{hosts}]: {host.name}", devices([f"node[{n}]" for n in range(hosts)], host)),
        Block(f"plane pl[{planes}]", inner, "pl"),
        Line(
            f"connect node[n].nic[p] to pl[p].leaf[n % {leaves}] where not (n == {apart} and p == 1) {{ cable {wire.name} }}",
            links(
                [
                    (f"node[{n}]", f"pl[{p}].leaf[{n % leaves}]")
                    for n in range(hosts)
                    for p in range(planes)
                    if not (n == apart and p == 1)
                ],
                rate,
                1,
                wire,
            ),
        ),
    ]
    if rng.random() < 0.5:
        more = f"pl[{rng.randrange(planes)}]"
        a, b = f"{more}.leaf[0]", f"{more}.spine[0]"
        statements.append(Line(f"connect {a} to {b} {{ rate 100Gbps; cable {wire.name} }}", links([(a, b)], 10**11, 1, wire)))
    if rng.random() < 0.4:
        statements.append(omit_line(f"pl[{rng.randrange(planes)}].spine[{spines - 1}]" if spines > 1 else f"node[{hosts - 1}]"))
    blueprint = Blueprint("unequal_planes", seed, tuple(statements), (CHIP, host, switch, wire, cord))
    return with_thresholds(with_failures(blueprint, rng, 0.25), plane_questions(rng, hosts), rng)


def plane_questions(rng: Random, hosts: int) -> list[Asked]:
    """Questions for the block of the planes, and about them from outside."""
    kept = Claim("edge_redundancy", cmp=">=", value=Fraction(1))
    pool = [
        Claim("links"),
        Claim("cables"),
        Claim("ports"),
        Claim("switches"),
        Claim("power"),
        Claim("links", of="leaf"),
        Claim("links", of="node", to="leaf"),
        Claim("cables", of="node", to="leaf"),
        Claim("links", of="leaf", to="spine"),
        Claim("links", of="node[0]", to="leaf"),
        Claim("bisection"),
        Claim("edge_redundancy"),
        Claim("node_redundancy"),
        Claim("reachability"),
        Claim("diameter"),
        Claim("mean_hops"),
        Claim("throughput", "ring"),
        Claim("throughput", "all_to_all"),
        Claim("oversubscription", at="leaf"),
        Claim("taper", of="leaf"),
        Claim("survives", of="spine", count=1),
        Claim("survives", of="leaf", count=1),
        Claim("blast_radius", of="leaf"),
        Claim("survives", of="leaf", to="spine", count=1, what="links"),
        Claim("survives", of="spine", count=1, given=kept),
        Claim("cost", of="leaf"),
        Claim("ports", of="spine"),
        Claim("throughput", of="node[0]", to="node[1]"),
        Claim("throughput", of="leaf", to="spine"),
        Claim("isolated"),
    ]
    outside = [
        Claim("bisection", of="pl"),
        Claim("edge_redundancy", of="pl"),
        Claim("links", of="pl"),
        Claim("cables", of="pl"),
        Claim("reachability", of="pl"),
        Claim("throughput", "ring", of="pl"),
        Claim("links", of="node", to="pl[0].leaf"),
        Claim("links", of="node", to="pl"),
        Claim("survives", of="pl", count=1),
        Claim("blast_radius", of="pl"),
        Claim("reachability"),
        Claim("bisection"),
        Claim("edge_redundancy"),
        Claim("taper", of="pl"),
        Claim("cost"),
        Claim("bisection", of=f"node[0..{hosts - 2}]", every=True),
        Claim("edge_redundancy", of="node[0..1]", every=True),
    ]
    return [Asked(c, "pl") for c in rng.sample(pool, 11)] + [Asked(c) for c in rng.sample(outside, 6)]
