"""Questions in the block of a group: nested groups, unequal instances, names that stand outside as well.

Each question is asked again by full path, and its answer is compared with the records of the instance.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from tests.soundness.blueprint import Asked, Block, Blueprint, Line, Recording, Statement
from tests.soundness.families.models import CHIP, TRAY, host_model, some_cables, switch_model
from tests.soundness.inventory import Inventory, Model
from tests.soundness.judges import Claim
from tests.soundness.verdicts import with_thresholds


def scoped_design(seed: int) -> Blueprint:
    """A design of groups with questions in their blocks."""
    rng = Random(seed)
    units, leaves, aggs, cores = rng.randint(2, 3), rng.randint(1, 3), rng.randint(1, 2), rng.randint(1, 2)
    hosts, nics, rate = rng.randint(2, 4), rng.randint(1, 2), rng.choice((100, 200))
    host, switch = host_model(nics, rate), switch_model()
    wire, cord = some_cables(rng)
    nested = rng.random() < 0.5
    cells = rng.randint(1, 2) if nested else 1
    shadow = rng.random() < 0.3
    inner: list[Statement] = []
    prefix = [f"su[{u}].cell[{c}]" if nested else f"su[{u}]" for u in range(units) for c in range(cells)]
    units_of = {p: p.split(".")[0] for p in prefix}
    inner += [
        Line(f"host node[{hosts}]: {host.name}", devices([f"{p}.node[{n}]" for p in prefix for n in range(hosts)], host)),
        Line(f"switch leaf[{leaves}]: {switch.name}", devices([f"{p}.leaf[{x}]" for p in prefix for x in range(leaves)], switch)),
    ]
    many = rng.choice((1, 1, 2))
    up_rate = rng.choice((100, 200, 400))
    for i in range(nics):
        at = rng.choice((f"n % {leaves}", f"(n + {i}) % {leaves}"))
        metres = rng.choice((1, 2, 3))
        inner.append(
            Line(
                f"connect node[n].nic[{i}] to leaf[{at}] {{ cable {wire.name}; length {metres}m }}",
                links(
                    [(f"{p}.node[{n}]", f"{p}.leaf[{eval_index(at, n)}]") for p in prefix for n in range(hosts)],
                    rate * 10**9,
                    1,
                    wire,
                    metres,
                    i if nics > 1 else None,
                ),
            )
        )
    agg_line = Line(
        f"switch agg[{aggs}]: {switch.name}", devices([f"su[{u}].agg[{a}]" for u in range(units) for a in range(aggs)], switch)
    )
    up = Line(
        f"connect leaf[l] to agg[a]{f' x {many}' if many > 1 else ''} {{ rate {up_rate}Gbps; cable {cord.name}; length 5m }}",
        links(
            [(f"{p}.leaf[{x}]", f"{units_of[p]}.agg[{a}]") for p in prefix for x in range(leaves) for a in range(aggs)],
            up_rate * 10**9,
            many,
            cord,
            5,
        ),
    )
    body: list[Statement] = [Block(f"cell cell[{cells}]", (*inner, up), "cell")] if nested else [*inner, up]
    statements: list[Statement] = [Block(f"group su[{units}]", (agg_line, *body), "su")]
    statements.append(Line(f"switch core[{cores}]: {switch.name}", devices([f"core[{c}]" for c in range(cores)], switch)))
    statements.append(
        Line(
            f"connect su[*].agg[*] to core[*] each {{ rate 100Gbps; cable {cord.name}; length 20m }}",
            links(
                [(f"su[{u}].agg[{a}]", f"core[{c}]") for u in range(units) for a in range(aggs) for c in range(cores)],
                10**11,
                1,
                cord,
                20,
            ),
        )
    )
    if shadow:  # the same names outside of the groups
        statements.append(Line(f"switch leaf[2]: {switch.name}", devices(["leaf[0]", "leaf[1]"], switch)))
        statements.append(
            Line(
                f"connect leaf[*] to core[0] each {{ rate 100Gbps; cable {wire.name}; length 30m }}",
                links([(f"leaf[{x}]", "core[0]") for x in range(2)], 10**11, 1, wire, 30),
            )
        )
    statements += unequal_instances(rng, prefix, units_of, hosts, leaves, wire)
    placed = rng.random() < 0.5
    if placed:
        statements += places_of_groups(nested, prefix, (units, cells, hosts, leaves, aggs, cores), shadow)
    blueprint = Blueprint("scoped_groups", seed, tuple(statements), (CHIP, host, switch, wire, cord))
    return with_thresholds(blueprint, scoped_questions(rng, nested, hosts, placed), rng)


def unequal_instances(
    rng: Random, prefix: list[str], units_of: dict[str, str], hosts: int, leaves: int, wire: Model
) -> list[Statement]:
    """What one instance has more, or less, than the others."""
    out: list[Statement] = []
    if rng.random() < 0.5:
        p = rng.choice(prefix)
        a, b = f"{p}.leaf[{rng.randrange(leaves)}]", f"{units_of[p]}.agg[0]"
        out.append(
            Line(f"connect {a} to {b} {{ rate 100Gbps; cable {wire.name}; length 9m }}", links([(a, b)], 10**11, 1, wire, 9))
        )
    if rng.random() < 0.5 and hosts > 1:
        path = f"{rng.choice(prefix)}.node[{rng.randrange(hosts)}]"
        out.append(Line(f"omit {path}", lambda inventory: inventory.omit_part(path)))
    elif rng.random() < 0.5 and leaves > 1:
        other = f"{rng.choice(prefix)}.leaf[{rng.randrange(leaves)}]"
        out.append(Line(f"omit {other}", lambda inventory: inventory.omit_part(other)))
    return out


def scoped_questions(rng: Random, nested: bool, hosts: int, placed: bool) -> list[Asked]:
    """Questions for the block of the innermost group, and of the one around it."""
    inner = "su.cell" if nested else "su"
    one = rng.choice(("node[0]", "node", f"node[0..{hosts - 1}]", "leaf", "leaf[0]"))
    pool = [
        Claim("links"),
        Claim("cables"),
        Claim("ports"),
        Claim("switches"),
        Claim("power"),
        Claim("optics_power"),
        Claim("links", of=one),
        Claim("cables", of=one),
        Claim("ports", of=one),
        Claim("power", of=one),
        Claim("cost", of=one),
        Claim("links", of="leaf", to="agg"),
        Claim("cables", of="leaf", to="agg"),
        Claim("links", of="node", to="leaf"),
        Claim("cables", of="node", to="leaf[0]"),
        Claim("links", of="agg", to="core"),
        Claim("cables", of="agg", to="core"),
        Claim("cable_length", of="leaf", to="agg"),
        Claim("cable_length", of="node", to="leaf"),
        Claim("taper", of="leaf"),
        Claim("taper", of="agg"),
        Claim("oversubscription", at="leaf"),
        Claim("oversubscription", at="agg"),
        Claim("reachability"),
        Claim("isolated"),
        Claim("isolated", of="leaf"),
        Claim("bisection"),
        Claim("edge_redundancy"),
        Claim("node_redundancy"),
        Claim("diameter"),
        Claim("mean_hops"),
        Claim("throughput", "ring"),
        Claim("throughput", of="node[0]", to="node[1]"),
        Claim("throughput", of="node[0]", to="leaf[0]"),
        Claim("throughput", of="leaf", to="agg"),
        Claim("blast_radius", of="leaf"),
        Claim("blast_radius", of="node"),
        Claim("survives", of="leaf", count=1),
        Claim("survives", of="agg", count=1),
        Claim("survives", of="leaf", to="agg", count=1, what="links"),
        Claim("survives", of="leaf", to="agg", count=2, what="links"),
        Claim("survives", of="node", to="leaf", count=1, what="links"),
        Claim("reachability", of="node", every=True),
        Claim("edge_redundancy", of="node", every=True),
        Claim("bisection", of="node", every=True),
        Claim("throughput", "ring", of="node", every=True),
        Claim("survives", of="agg", count=1, given=Claim("edge_redundancy", cmp=">=", value=Fraction(1))),
    ]
    racks = [
        Claim("tray_fill", of="leaf", to="agg"),
        Claim("tray_fill", of="node", to="leaf"),
        Claim("tray_fill", of="agg", to="core"),
        Claim("bend_radius", of="leaf", to="agg"),
        Claim("bend_radius", of="node", to="leaf"),
        Claim("bend_radius", of="agg", to="core"),
        Claim("rack_space"),
    ]
    out = [Asked(c, inner) for c in rng.sample(pool, 14) + (rng.sample(racks, 3) if placed else [])]
    outer = [
        Claim("links", of="cell"),
        Claim("switches", of="cell"),
        Claim("links", of="cell", to="agg"),
        Claim("taper", of="cell"),
        Claim("ports", of="cell"),
        Claim("power", of="cell"),
        Claim("cost", of="cell"),
        Claim("bisection", of="cell"),
        Claim("links", of="leaf", to="agg"),
        Claim("cables", of="leaf"),
        Claim("reachability", of="cell"),
        Claim("reachability", of="cell", every=True),
        Claim("blast_radius", of="cell"),
        Claim("survives", of="cell", count=1),
        Claim("links"),
        Claim("ports", of="leaf"),
        Claim("oversubscription", at="leaf"),
        Claim("cables", of="cell[0]"),
        Claim("bisection", of="cell[0].node", every=True),
    ]
    if nested:
        out += [Asked(c, "su") for c in rng.sample(outer, 6)]
    return out


def places_of_groups(nested: bool, prefix: list[str], counts: tuple[int, ...], shadow: bool) -> list[Statement]:
    """A hall with one row: a rack for the hosts and leaves of each instance, another for its upper switches."""
    units, cells, hosts, leaves, aggs, cores = counts
    rack_of = {p: 3 * (i // cells) + i % cells + 1 for i, p in enumerate(prefix)}
    group, rack = ("su[s].cell[c]", "3*s + c + 1") if nested else ("su[s]", "3*s + 1")
    rows: list[tuple[str, list[tuple[str, int, int]]]] = [
        (
            f"{group}.node[n] in h.A[{rack}] at 1U + 2U*n",
            [(f"{p}.node[{n}]", rack_of[p], 1 + 2 * n) for p in prefix for n in range(hosts)],
        ),
        (
            f"{group}.leaf[x] in h.A[{rack}] at 20U + 1U*x",
            [(f"{p}.leaf[{x}]", rack_of[p], 20 + x) for p in prefix for x in range(leaves)],
        ),
        (
            "su[s].agg[a] in h.A[3*s + 3] at 30U + 1U*a",
            [(f"su[{u}].agg[{a}]", 3 * u + 3, 30 + a) for u in range(units) for a in range(aggs)],
        ),
        ("core[c] in h.A[10] at 1U + 1U*c", [(f"core[{c}]", 10, 1 + c) for c in range(cores)]),
    ]
    if shadow:
        rows.append(("leaf[x] in h.A[10] at 20U + 1U*x", [(f"leaf[{x}]", 10, 20 + x) for x in range(2)]))
    hall = (
        f"hall h {{ row A {{ rack 1..10 {{ height 42U; power 2 x 9kW }} }}; pitch rack 0.6m; "
        f"tray above 2.6m {{ capacity {TRAY[0]}mm x {TRAY[1]}mm }}; slack 0.1m }}"
    )
    return [Line(hall), *(Line(f"place {text}", mounted_devices(places)) for text, places in rows)]


def mounted_devices(places: list[tuple[str, int, int]]) -> Recording:
    """The meaning of a place: each of these devices in its rack, at its unit."""

    def record(inventory: Inventory) -> None:
        for path, rack, unit in places:
            inventory.place_part(path, ("h", "A", rack, unit))

    return record


def devices(paths: list[str], model: Model, **facts: object) -> Recording:
    """The meaning of a declaration: these devices."""

    def record(inventory: Inventory) -> None:
        for path in paths:
            inventory.add_part(path, model, **facts)

    return record


def links(
    pairs: list[tuple[str, str]],
    rate: int,
    count: int,
    product: Model,
    metres: int | None = None,
    rail: int | None = None,
    network: str = "",
) -> Recording:
    """The meaning of a connect: links between these pairs."""

    def record(inventory: Inventory) -> None:
        for a, b in pairs:
            far = None if metres is None else Fraction(metres)
            inventory.add_wires(a, b, rate, count, product=product, metres=far, rail=rail, network=network)

    return record


def eval_index(text: str, n: int) -> int:
    """The value of an index expression of ``n`` that this file wrote."""
    return int(eval(text, {"__builtins__": {}}, {"n": n}))
