"""`extend` of one instance of a group: what is in one instance only, beside failures, blast radius and counts."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from tests.soundness.blueprint import Asked, Block, Blueprint, Line, Statement
from tests.soundness.families.models import CHIP, host_model, some_cables, switch_model
from tests.soundness.families.scoped_groups import devices, links
from tests.soundness.inventory import Model
from tests.soundness.judges import Claim
from tests.soundness.verdicts import with_failures, with_thresholds


def extended_design(seed: int) -> Blueprint:
    """Groups of which one has more hosts, switches or links than the others."""
    rng = Random(seed)
    units, hosts, leaves, spines = rng.randint(2, 3), rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 2)
    host, switch = host_model(2, 100), switch_model()
    wire, cord = some_cables(rng)
    inner = (
        Line(
            f"host node[{hosts}]: {host.name}", devices([f"su[{u}].node[{n}]" for u in range(units) for n in range(hosts)], host)
        ),
        Line(
            f"switch leaf[{leaves}]: {switch.name}",
            devices([f"su[{u}].leaf[{x}]" for u in range(units) for x in range(leaves)], switch),
        ),
        Line(
            f"connect node[n].nic[i] to leaf[(n + i) % {leaves}] {{ cable {wire.name} }}",
            links(
                [
                    (f"su[{u}].node[{n}]", f"su[{u}].leaf[{(n + i) % leaves}]")
                    for u in range(units)
                    for n in range(hosts)
                    for i in range(2)
                ],
                10**11,
                1,
                wire,
            ),
        ),
    )
    statements: list[Statement] = [
        Block(f"group su[{units}]", inner, "su"),
        Line(f"switch spine[{spines}]: {switch.name}", devices([f"spine[{s}]" for s in range(spines)], switch)),
        Line(
            f"connect su[*].leaf[*] to spine[*] each {{ rate 200Gbps; cable {cord.name} }}",
            links(
                [(f"su[{u}].leaf[{x}]", f"spine[{s}]") for u in range(units) for x in range(leaves) for s in range(spines)],
                2 * 10**11,
                1,
                cord,
            ),
        ),
    ]
    for chosen in rng.sample(range(units), rng.choice((1, 1, 2)) if units > 2 else 1):
        statements.append(extension(rng, chosen, spines, host, switch, wire, cord))
    blueprint = Blueprint("extended_instances", seed, tuple(statements), (CHIP, host, switch, wire, cord))
    return with_thresholds(with_failures(blueprint, rng, 0.25), extended_questions(rng), rng)


def extension(rng: Random, unit: int, spines: int, host: Model, switch: Model, wire: Model, cord: Model) -> Block:
    """What one instance has more."""
    su, more = f"su[{unit}]", rng.randint(1, 2)
    lines: list[Line] = []
    what = rng.choice(("hosts", "hosts", "switch", "links"))
    if what == "hosts":
        lines += [
            Line(f"host more[{more}]: {host.name}", devices([f"{su}.more[{n}]" for n in range(more)], host)),
            Line(
                f"connect more[n].nic[(0)] to leaf[(0)] {{ cable {wire.name} }}",
                links([(f"{su}.more[{n}]", f"{su}.leaf[0]") for n in range(more)], 10**11, 1, wire),
            ),
        ]
    elif what == "switch":
        lines += [
            Line(f"switch spare: {switch.name}", devices([f"{su}.spare"], switch)),
            Line(
                f"connect leaf[(0)] to spare x 2 {{ rate 100Gbps; cable {cord.name} }}",
                links([(f"{su}.leaf[0]", f"{su}.spare")], 10**11, 2, cord),
            ),
            Line(f"host late[{more}]: {host.name}", devices([f"{su}.late[{n}]" for n in range(more)], host)),
            Line(
                f"connect late[n].nic[i] to spare {{ cable {wire.name} }}",
                links([(f"{su}.late[{n}]", f"{su}.spare") for n in range(more) for _ in range(2)], 10**11, 1, wire),
            ),
        ]
    else:
        lines.append(
            Line(
                f"connect leaf[(0)] to spine[*] each {{ rate 200Gbps; cable {cord.name} }}",
                links([(f"{su}.leaf[0]", f"spine[{s}]") for s in range(spines)], 2 * 10**11, 1, cord),
            )
        )
    return Block(f"extend {su}", tuple(lines), "")


def extended_questions(rng: Random) -> list[Asked]:
    """Failures and counts of all instances, asked from outside and in the block."""
    reach = Claim("edge_redundancy", cmp=">=", value=Fraction(1))
    pool = [
        Claim("blast_radius", of="su"),
        Claim("blast_radius", of="su[*].leaf"),
        Claim("blast_radius", of="spine"),
        Claim("survives", of="su", count=1),
        Claim("survives", of="su[*].leaf", count=1),
        Claim("survives", of="spine", count=1),
        Claim("survives", of="su[0]", count=1),
        Claim("survives", of="su[*].leaf", count=2),
        Claim("survives", of="su[*].leaf", to="spine", count=1, what="links"),
        Claim("survives", of="su[*].leaf", to="spine", count=2, what="links"),
        Claim("survives", of="spine", count=1, given=reach),
        Claim("survives", of="su[*].node", count=1),
        Claim("links", of="su"),
        Claim("links", of="su[*].leaf", to="spine"),
        Claim("ports", of="su"),
        Claim("switches", of="su"),
        Claim("power", of="su"),
        Claim("taper", of="su"),
        Claim("bisection"),
        Claim("bisection", of="su"),
        Claim("edge_redundancy"),
        Claim("node_redundancy"),
        Claim("reachability", of="su"),
        Claim("links"),
        Claim("cables"),
        Claim("power"),
        Claim("cost"),
        Claim("throughput", of="su[0]", to="su[1]"),
        Claim("throughput", "ring"),
        Claim("diameter"),
        Claim("oversubscription", at="su[*].leaf"),
        Claim("reachability", of="su[0]", every=True),
    ]
    scoped = [
        Claim("links"),
        Claim("links", of="leaf"),
        Claim("links", of="leaf", to="spine"),
        Claim("blast_radius", of="leaf"),
        Claim("survives", of="leaf", count=1),
        Claim("bisection"),
        Claim("power"),
        Claim("switches"),
        Claim("ports", of="leaf"),
    ]
    return [Asked(c) for c in rng.sample(pool, 11)] + [Asked(c, "su") for c in rng.sample(scoped, 4)]
