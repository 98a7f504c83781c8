"""Two or three sites of unequal size that few links join: the worst halves are not the sites."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from tests.soundness.blueprint import Asked, Block, Blueprint, Line, Statement
from tests.soundness.families.models import CHIP, host_model, some_cables, switch_model
from tests.soundness.families.scoped_groups import devices, links
from tests.soundness.judges import Claim
from tests.soundness.verdicts import with_failures, with_thresholds


def unequal_design(seed: int) -> Blueprint:
    """Sites of one to seven hosts, each with its switches, joined at a gateway."""
    rng = Random(seed)
    sizes = rng.choice(((1, 5), (2, 6), (3, 5), (7, 1), (2, 3), (1, 2, 4), (4, 1, 1), (6, 3), (2, 2, 5)))
    switch = switch_model()
    wire, cord = some_cables(rng)
    statements: list[Statement] = []
    models = [CHIP, switch, wire, cord]
    for k, size in enumerate(sizes):
        host = host_model(rng.randint(1, 2), rng.choice((100, 200, 400)))
        models.append(host)
        leaves, site = rng.randint(1, 2), f"s{k}"
        nics, rate = (int(x) for x in host.name[1:].split("x"))
        inner = (
            Line(f"host node[{size}]: {host.name}", devices([f"{site}.node[{n}]" for n in range(size)], host)),
            Line(f"switch leaf[{leaves}]: {switch.name}", devices([f"{site}.leaf[{x}]" for x in range(leaves)], switch)),
            Line(f"switch gate: {switch.name}", devices([f"{site}.gate"], switch)),
            Line(
                f"connect node[n].nic[i] to leaf[(n + i) % {leaves}] {{ cable {wire.name} }}",
                links(
                    [(f"{site}.node[{n}]", f"{site}.leaf[{(n + i) % leaves}]") for n in range(size) for i in range(nics)],
                    rate * 10**9,
                    1,
                    wire,
                ),
            ),
            Line(
                f"connect leaf[*] to gate each x {(up := rng.randint(1, 3))} {{ rate 100Gbps; cable {cord.name} }}",
                links([(f"{site}.leaf[{x}]", f"{site}.gate") for x in range(leaves)], 10**11, up, cord),
            ),
        )
        statements.append(Block(f"site {site}", inner, site))
    for a in range(len(sizes) - 1):
        b, many, rate = rng.choice((a + 1, len(sizes) - 1)), rng.randint(1, 3), rng.choice((100, 200))
        statements.append(
            Line(
                f"connect s{a}.gate to s{b}.gate x {many} {{ rate {rate}Gbps; cable {cord.name} }}",
                links([(f"s{a}.gate", f"s{b}.gate")], rate * 10**9, many, cord),
            )
        )
    blueprint = Blueprint("unequal_sites", seed, tuple(statements), tuple(models))
    return with_thresholds(with_failures(blueprint, rng, 0.25), unequal_questions(rng, len(sizes)), rng)


def unequal_questions(rng: Random, sites: int) -> list[Asked]:
    """Figures of the whole, of a site, and between two."""
    last = sites - 1
    reach = Claim("bisection", cmp=">=", value=Fraction(1, 10))
    pool = [
        Claim("bisection"),
        Claim("bisection", of="s0"),
        Claim("bisection", of=f"s{last}"),
        Claim("bisection", of="s0.node[0], s1.node", every=True),
        Claim("bisection", of=f"s0, s{last}", every=True),
        Claim("throughput", "ring"),
        Claim("throughput", "all_to_all"),
        Claim("throughput", "shift 2"),
        Claim("throughput", of="s0", to=f"s{last}"),
        Claim("throughput", of="s0.node", to="s1.node"),
        Claim("throughput", of="s0.node[0]", to=f"s{last}"),
        Claim("edge_redundancy"),
        Claim("node_redundancy"),
        Claim("taper", of="s0"),
        Claim("taper", of=f"s{last}"),
        Claim("diameter"),
        Claim("mean_hops"),
        Claim("blast_radius", of="s0"),
        Claim("blast_radius", of="s0.gate"),
        Claim("survives", of="s0, s1", count=1),
        Claim("reachability"),
        Claim("survives", of="s0.gate", to=f"s{last}.gate", count=1, what="links", given=reach),
        Claim("throughput", "all_to_all", of=f"s0, s{last}", every=True),
        Claim("throughput", "ring", of="s1", every=True),
        Claim("edge_redundancy", of="s0, s1", every=True),
        Claim("links", of="s0"),
        Claim("cables", of="s0"),
        Claim("cost", of="s0"),
    ]
    scoped = [
        Claim("bisection"),
        Claim("links"),
        Claim("taper", of="leaf"),
        Claim("throughput", "ring"),
        Claim("edge_redundancy"),
        Claim("oversubscription", at="leaf"),
        Claim("survives", of="leaf", count=1),
        Claim("cables"),
    ]
    return [Asked(c) for c in rng.sample(pool, 12)] + [Asked(c, "s1") for c in rng.sample(scoped, 3)]
