"""`of all S` and `of A to B` where a member of the set has no link, is omitted, planned only, or failed: it is a member still."""

from __future__ import annotations

from random import Random

from tests.soundness.blueprint import Asked, Blueprint, Line, Statement
from tests.soundness.families.models import CHIP, host_model, some_cables, switch_model
from tests.soundness.families.scoped_groups import devices, links, omit_line
from tests.soundness.inventory import Inventory
from tests.soundness.judges import Claim
from tests.soundness.verdicts import with_thresholds


def unlinked_design(seed: int) -> Blueprint:
    """A design with a job of which some hosts have no link of their own to the network."""
    rng = Random(seed)
    hosts, leaves, spines = rng.randint(3, 6), rng.randint(1, 2), rng.randint(1, 2)
    host, head, switch = host_model(2, 100), host_model(3, 100), switch_model()
    wire, cord = some_cables(rng)
    away = rng.sample(range(hosts), rng.randint(1, max(1, hosts - 2)))
    kind = rng.choice(("no link", "to another host", "one switch alone", "omitted", "planned", "failed"))
    statements: list[Statement] = []
    if kind == "planned":
        away = list(range(hosts - len(away), hosts))
        paths = [f"job[{n}]" for n in range(hosts)]

        def record(inventory: Inventory) -> None:
            for n, path in enumerate(paths):
                inventory.add_part(path, host, built=n not in away)

        statements.append(Line(f"host job[{hosts - len(away)} of {hosts}]: {host.name}", record))
    else:
        statements.append(Line(f"host job[{hosts}]: {host.name}", devices([f"job[{n}]" for n in range(hosts)], host)))
    statements += [
        Line(f"host head[2]: {head.name}", devices(["head[0]", "head[1]"], head)),
        Line(f"switch leaf[{leaves}]: {switch.name}", devices([f"leaf[{x}]" for x in range(leaves)], switch)),
        Line(f"switch spine[{spines}]: {switch.name}", devices([f"spine[{x}]" for x in range(spines)], switch)),
    ]
    apart = kind in ("no link", "to another host", "one switch alone")
    nics = rng.randint(1, 2)
    for i in range(nics):
        guard = " where " + " and ".join(f"n != {n}" for n in sorted(away)) if apart else ""
        pairs = [(f"job[{n}]", f"leaf[{(n + i) % leaves}]") for n in range(hosts) if not apart or n not in away]
        statements.append(
            Line(
                f"connect job[n].nic[{i}] to leaf[(n + {i}) % {leaves}]{guard} {{ cable {wire.name} }}",
                links(pairs, 10**11, 1, wire),
            )
        )
    for k in range(2):
        at = rng.randrange(leaves)
        statements.append(
            Line(
                f"connect head[{k}].nic[(0)] to leaf[{at}] {{ cable {wire.name} }}",
                links([(f"head[{k}]", f"leaf[{at}]")], 10**11, 1, wire),
            )
        )
    many = rng.randint(1, 2)
    statements.append(
        Line(
            f"connect leaf[*] to spine[*] each{f' x {many}' if many > 1 else ''} {{ rate 100Gbps; cable {cord.name} }}",
            links([(f"leaf[{x}]", f"spine[{y}]") for x in range(leaves) for y in range(spines)], 10**11, many, cord),
        )
    )
    fail: tuple[str, ...] = ()
    if kind == "to another host":
        for k, n in enumerate(away[:2]):
            statements.append(
                Line(
                    f"connect job[{n}].nic[(0)] to head[{k}].nic[(1)] {{ cable {wire.name} }}",
                    links([(f"job[{n}]", f"head[{k}]")], 10**11, 1, wire),
                )
            )
    elif kind == "one switch alone":
        statements.append(Line(f"switch lone: {switch.name}", devices(["lone"], switch)))
        for n in away:
            statements.append(
                Line(
                    f"connect job[{n}].nic[(0)] to lone {{ cable {wire.name} }}", links([(f"job[{n}]", "lone")], 10**11, 1, wire)
                )
            )
    elif kind == "omitted":
        for n in away:
            statements.append(omit_line(f"job[{n}]"))
    elif kind == "failed":
        fail = tuple(f"job[{n}]" for n in away)
    elif kind != "planned":
        pass
    blueprint = Blueprint("unlinked_members", seed, tuple(statements), (CHIP, host, head, switch, wire, cord), fail=fail)
    return with_thresholds(blueprint, unlinked_questions(rng, hosts, away), rng)


def unlinked_questions(rng: Random, hosts: int, away: list[int]) -> list[Asked]:
    """Questions about sets with and without the members that are away."""
    low = rng.randint(0, hosts - 2)
    some = f"job[{low}..{rng.randint(low + 1, hosts - 1)}]"
    sets = ["job", f"job[0..{hosts - 1}]", some, "job, head", f"job[{away[0]}], head[0]", f"job[{away[0]}], head[*]"]
    pool = [
        Claim(m, of=s, every=True)
        for m in ("reachability", "bisection", "edge_redundancy", "node_redundancy", "diameter", "mean_hops")
        for s in sets
    ]
    pool += [Claim("throughput", p, of=s, every=True) for p in ("ring", "shift 1", "all_to_all") for s in sets]
    pool += [
        Claim("throughput", of="job", to="head"),
        Claim("throughput", of=f"job[{away[0]}]", to="head"),
        Claim("reachability"),
        Claim("throughput", of="head[0]", to="job"),
        Claim("links", of="job", to="leaf"),
        Claim("bisection"),
        Claim("edge_redundancy"),
        Claim("isolated"),
        Claim("blast_radius", of="leaf"),
        Claim("survives", of="leaf", count=1),
    ]
    return [Asked(c) for c in rng.sample(pool, 14)]
