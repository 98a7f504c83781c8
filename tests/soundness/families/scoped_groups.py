"""Questions in the block of a group: nested groups, unequal instances, names that stand outside as well.

Each question is asked again by full path, and its answer is compared with the records of the instance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from tests.soundness.blueprint import Asked, Block, Blueprint, Line, Recording, Statement
from tests.soundness.families.models import CHIP, TRAY, cable_product, host_model, some_cables, switch_model
from tests.soundness.inventory import Inventory, Model
from tests.soundness.judges import Claim
from tests.soundness.verdicts import with_failures, with_thresholds


@dataclass(frozen=True)
class Shape:
    """The groups of a design: the indices of the outer one as the text writes them, and how many of everything an instance has.
    ``variable`` is the outer index in a `place`, ``number`` the number of the instance that it gives."""

    extents: str
    indices: tuple[str, ...]
    stars: str
    variable: str
    number: str
    cells: int
    hosts: int
    leaves: int
    aggs: int
    cores: int

    @property
    def units(self) -> list[str]:
        return [f"su[{i}]" for i in self.indices]

    @property
    def innermost(self) -> list[str]:
        """The instances that contain the hosts."""
        return [f"{u}.cell[{c}]" for u in self.units for c in range(self.cells)] if self.cells else self.units


def shape_of_groups(rng: Random) -> Shape:
    """Groups in one dimension from 0 or 1, or in two."""
    extents, indices, stars, variable, number = rng.choice(
        (
            ("2", ("0", "1"), "*", "s", "s"),
            ("3", ("0", "1", "2"), "*", "s", "s"),
            ("1..2", ("1", "2"), "*", "s", "(s - 1)"),
            ("2x2", ("0, 0", "0, 1", "1, 0", "1, 1"), "*, *", "s, t", "(2*s + t)"),
            ("1x2", ("0, 0", "0, 1"), "*, *", "s, t", "(s + t)"),
        )
    )
    few = len(indices) > 2
    return Shape(
        extents,
        indices,
        stars,
        variable,
        number,
        rng.choice((0, 0, 1, 1 if few else 2)),
        rng.randint(2, 3 if few else 4),
        rng.randint(1, 2 if few else 3),
        rng.randint(1, 2),
        rng.randint(1, 2),
    )


def scoped_design(seed: int) -> Blueprint:
    """A design of groups with questions in their blocks."""
    rng = Random(seed)
    shape = shape_of_groups(rng)
    nics, rate = rng.randint(1, 2), rng.choice((100, 200))
    host, switch, other = host_model(nics, rate), switch_model(), switch_model("BIG", 64, 75, 800)
    wire, cord = some_cables(rng)
    stiff = cable_product("STIFF", 30, bend=60)
    inside = shape.innermost
    inner: list[Statement] = [
        Line(
            f"host node[{shape.hosts}]: {host.name}",
            devices([f"{p}.node[{n}]" for p in inside for n in range(shape.hosts)], host),
        ),
        Line(
            f"switch leaf[{shape.leaves}]: {switch.name}",
            devices([f"{p}.leaf[{x}]" for p in inside for x in range(shape.leaves)], switch),
        ),
        *(adapter_links(rng, shape, i, nics, rate, wire) for i in range(nics)),
        links_upward(rng, shape, cord),
    ]
    body = [Block(f"cell cell[{shape.cells}]", tuple(inner), "cell")] if shape.cells else inner
    upper = Line(
        f"switch agg[{shape.aggs}]: {switch.name}",
        devices([f"{u}.agg[{a}]" for u in shape.units for a in range(shape.aggs)], switch),
    )
    to_core = [(f"{u}.agg[{a}]", f"core[{c}]") for u in shape.units for a in range(shape.aggs) for c in range(shape.cores)]
    statements: list[Statement] = [
        Block(f"group su[{shape.extents}]", (upper, *body), "su"),
        Line(f"switch core[{shape.cores}]: {switch.name}", devices([f"core[{c}]" for c in range(shape.cores)], switch)),
        Line(
            f"connect su[{shape.stars}].agg[*] to core[*] each {{ rate 100Gbps; cable {cord.name}; length 20m }}",
            links(to_core, 10**11, 1, cord, 20),
        ),
    ]
    shadow = rng.random() < 0.3
    if shadow:  # the same names outside of the groups
        statements += [
            Line(f"switch leaf[2]: {switch.name}", devices(["leaf[0]", "leaf[1]"], switch)),
            Line(
                f"connect leaf[*] to core[0] each {{ rate 100Gbps; cable {wire.name}; length 30m }}",
                links([(f"leaf[{x}]", "core[0]") for x in range(2)], 10**11, 1, wire, 30),
            ),
        ]
    statements += unequal_instances(rng, shape, stiff, other)
    placed = rng.random() < 0.5
    if placed:
        statements += places_of_groups(shape, shadow)
    blueprint = Blueprint("scoped_groups", seed, tuple(statements), (CHIP, host, switch, other, wire, cord, stiff))
    return with_thresholds(
        with_failures(blueprint, rng, 0.25), scoped_questions(rng, bool(shape.cells), shape.hosts, placed), rng
    )


def adapter_links(rng: Random, shape: Shape, i: int, nics: int, rate: int, wire: Model) -> Line:
    """The links of one adapter of every host."""
    by, metres = rng.choice((0, i)), rng.choice((1, 2, 3))
    pairs = [(f"{p}.node[{n}]", f"{p}.leaf[{(n + by) % shape.leaves}]") for p in shape.innermost for n in range(shape.hosts)]
    text = f"connect node[n].nic[{i}] to leaf[(n + {by}) % {shape.leaves}] {{ cable {wire.name}; length {metres}m }}"
    return Line(text, links(pairs, rate * 10**9, 1, wire, metres, i if nics > 1 else None))


def links_upward(rng: Random, shape: Shape, cord: Model) -> Line:
    """The links of leaves to the switches of their instance."""
    many, rate = rng.choice((1, 1, 2)), rng.choice((100, 200, 400))
    pairs = [
        (f"{p}.leaf[{x}]", f"{p.removesuffix(p[p.index(']') + 1 :])}.agg[{a}]")
        for p in shape.innermost
        for x in range(shape.leaves)
        for a in range(shape.aggs)
    ]
    copies = f" x {many}" if many > 1 else ""
    text = f"connect leaf[l] to agg[a]{copies} {{ rate {rate}Gbps; cable {cord.name}; length 5m }}"
    return Line(text, links(pairs, rate * 10**9, many, cord, 5))


def unequal_instances(rng: Random, shape: Shape, stiff: Model, other: Model) -> list[Statement]:
    """What one instance has more, or less, than the others."""
    out: list[Statement] = []
    one = rng.choice(shape.innermost)
    if rng.random() < 0.5:
        a, b = f"{one}.leaf[{rng.randrange(shape.leaves)}]", f"{one[: one.index(']') + 1]}.agg[0]"
        text = f"connect {a} to {b} {{ rate 100Gbps; cable {stiff.name}; length 9m }}"
        out.append(Line(text, links([(a, b)], 10**11, 1, stiff, 9)))
    if rng.random() < 0.4:
        name = rng.choice(("leaf", "leaf[0]"))
        count = shape.leaves if name == "leaf" else 1
        out.append(
            Line(f"override {one}.{name}: {other.name}", overridden_models([f"{one}.leaf[{x}]" for x in range(count)], other))
        )
    less = rng.choice(shape.innermost)
    if rng.random() < 0.4:
        out.append(omit_line(f"{less}.node[{rng.randrange(shape.hosts)}]"))
    elif rng.random() < 0.4 and shape.leaves > 1:
        out.append(omit_line(f"{less}.leaf[{rng.randrange(shape.leaves)}]"))
    return out


def omit_line(path: str) -> Line:
    """A device that is planned and not built."""
    return Line(f"omit {path}", lambda inventory: inventory.omit_part(path))


def overridden_models(paths: list[str], model: Model) -> Recording:
    """The meaning of an override: these devices have another model."""

    def record(inventory: Inventory) -> None:
        for path in paths:
            inventory.parts[path] = replace(inventory.parts[path], model=model)

    return record


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
        Claim("survives", of="leaf", to="agg", count=2, what="ports"),
        Claim("survives", of="node[0]", count=1, what="cables"),
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


def places_of_groups(shape: Shape, shadow: bool) -> list[Statement]:
    """A hall with one row: a rack for the hosts and leaves of each instance, another for its upper switches."""
    rack_of = {p: 3 * (i // (shape.cells or 1)) + i % (shape.cells or 1) + 1 for i, p in enumerate(shape.innermost)}
    group, rack = f"su[{shape.variable}]", f"3*{shape.number} + 1"
    inner, inner_rack = (f"{group}.cell[c]", f"{rack} + c") if shape.cells else (group, rack)
    rows: list[tuple[str, list[tuple[str, int, int]]]] = [
        (
            f"{inner}.node[n] in h.A[{inner_rack}] at 1U + 2U*n",
            [(f"{p}.node[{n}]", rack_of[p], 1 + 2 * n) for p in shape.innermost for n in range(shape.hosts)],
        ),
        (
            f"{inner}.leaf[x] in h.A[{inner_rack}] at 20U + 1U*x",
            [(f"{p}.leaf[{x}]", rack_of[p], 20 + x) for p in shape.innermost for x in range(shape.leaves)],
        ),
        (
            f"{group}.agg[a] in h.A[{rack} + 2] at 30U + 1U*a",
            [(f"{u}.agg[{a}]", 3 * i + 3, 30 + a) for i, u in enumerate(shape.units) for a in range(shape.aggs)],
        ),
        ("core[c] in h.A[13] at 1U + 1U*c", [(f"core[{c}]", 13, 1 + c) for c in range(shape.cores)]),
    ]
    if shadow:
        rows.append(("leaf[x] in h.A[13] at 20U + 1U*x", [(f"leaf[{x}]", 13, 20 + x) for x in range(2)]))
    hall = (
        f"hall h {{ row A {{ rack 1..13 {{ height 42U; power 2 x 9kW }} }}; pitch rack 0.6m; "
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
