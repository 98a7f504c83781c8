"""Devices that contain what is wired: trays of chips and chassis of switches, with active cables that take power."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from tests.soundness.blueprint import Asked, Blueprint, Line, Recording, Statement
from tests.soundness.families.models import cable_product, switch_model
from tests.soundness.families.scoped_groups import links, omit_line
from tests.soundness.inventory import Inventory, Model
from tests.soundness.judges import Claim
from tests.soundness.verdicts import with_failures, with_thresholds


def nested_design(seed: int) -> Blueprint:
    """Trays of chips under switches or chassis of switches, wired to what is in them."""
    rng = Random(seed)
    trays, chips, inner = rng.randint(2, 4), rng.randint(1, 2), rng.randint(1, 2)
    rate = rng.choice((100, 200))
    chip = Model("C", "chip", f"model chip C {{ port nv[4]: {rate}Gbps }}")
    tray = Model(
        "T",
        "host",
        f'model host T "acc={chips} joined={int(chips == 1)}" {{ chip gpu[{chips}]: C; power 120W; price $700; height 1U }}',
        120,
        700,
        chips,
        chips == 1,
    )
    crossbar = Model("X", "switch", "model switch X { port p[1..48]: any }")
    box = Model("BOX", "switch", f"model switch BOX {{ switch x[{inner}]: X; power 60W; price $900; height 2U }}", 60, 900)
    flat = switch_model()
    active = cable_product("AOC", 30, rng.choice((5, 12)), "aoc")
    plain = cable_product("DAC", 4)
    product = rng.choice((active, plain))
    chassis = rng.random() < 0.6
    tops = rng.randint(1, 3)
    statements: list[Statement] = [
        Line(f"host tray[{trays}]: T", contained(tray, [f"tray[{t}]" for t in range(trays)], chip, "gpu", chips))
    ]
    if chassis:
        statements.append(
            Line(f"switch nvs[{tops}]: BOX", contained(box, [f"nvs[{b}]" for b in range(tops)], crossbar, "x", inner))
        )
    else:
        statements.append(
            Line(f"switch nvs[{tops}]: {flat.name}", contained(flat, [f"nvs[{b}]" for b in range(tops)], None, "", 0))
        )
    width = inner if chassis else 1

    def top(b: int, k: int) -> str:
        return f"nvs[{b % tops}].x[{k % width}]" if chassis else f"nvs[{b % tops}]"

    many = rng.choice((1, 1, 2))
    shift = rng.randint(0, 1)
    at = f"nvs[(t + {shift} * g) % {tops}]" + (f".x[g % {width}]" if chassis else "")
    pairs = [(f"tray[{t}].gpu[{g}]", top(t + shift * g, g)) for t in range(trays) for g in range(chips)]
    copies = f" x {many}" if many > 1 else ""
    statements.append(
        Line(f"connect tray[t].gpu[g] to {at}{copies} {{ cable {product.name} }}", links(pairs, rate * 10**9, many, product))
    )
    if tops > 1:
        between = plain if rng.random() < 0.5 else active
        pairs = [(top(b, 0), top(b + 1, 0)) for b in range(tops - 1)]
        inside = ".x[0]" if chassis else ""
        statements.append(
            Line(
                f"connect nvs[b]{inside} to nvs[b + 1]{inside} where b < {tops - 1} {{ rate 100Gbps; cable {between.name} }}",
                links(pairs, 10**11, 1, between),
            )
        )
    if chassis and inner > 1 and rng.random() < 0.6:  # links inside of a chassis
        statements.append(
            Line(
                "connect nvs[b].x[0] to nvs[b].x[1] { rate 100Gbps; cable DAC }",
                links([(f"nvs[{b}].x[0]", f"nvs[{b}].x[1]") for b in range(tops)], 10**11, 1, plain),
            )
        )
    if rng.random() < 0.3 and trays > 2:
        statements.append(omit_line(f"tray[{rng.randrange(trays)}]"))
    blueprint = Blueprint("nested_devices", seed, tuple(statements), (chip, tray, crossbar, box, flat, active, plain))
    return with_thresholds(with_failures(blueprint, rng, 0.25), nested_questions(rng, trays, chassis), rng)


def contained(model: Model, paths: list[str], inner: Model | None, name: str, count: int) -> Recording:
    """The meaning of a declaration of devices that contain others."""

    def record(inventory: Inventory) -> None:
        for path in paths:
            inventory.add_part(path, model)
            for k in range(count):
                assert inner is not None
                inventory.add_part(f"{path}.{name}[{k}]", inner, inside=path)

    return record


def nested_questions(rng: Random, trays: int, chassis: bool) -> list[Asked]:
    """Counts, sums, flows and failures of what contains what is wired."""
    box = rng.choice(("nvs", "nvs[0]")) if not chassis else rng.choice(("nvs", "nvs[0]", "nvs[*].x[0]"))
    pool = [
        Claim("links", of="tray"),
        Claim("links", of="tray[0]"),
        Claim("cables", of="tray"),
        Claim("ports", of="tray"),
        Claim("ports", of="tray[0]"),
        Claim("links", of="tray", to="nvs"),
        Claim("cables", of="tray", to="nvs"),
        Claim("links", of="tray[0]", to=box),
        Claim("cables", of="tray[0]", to=box),
        Claim("links", of=box),
        Claim("cables", of=box),
        Claim("ports", of=box),
        Claim("power"),
        Claim("optics_power"),
        Claim("cost"),
        Claim("power", of="tray"),
        Claim("power", of=box),
        Claim("cost", of="tray"),
        Claim("cost", of="nvs"),
        Claim("optics_power", of="tray"),
        Claim("links"),
        Claim("cables"),
        Claim("ports"),
        Claim("throughput", of="tray", to="nvs"),
        Claim("throughput", of="tray[0]", to=f"tray[{trays - 1}]"),
        Claim("reachability"),
        Claim("bisection"),
        Claim("edge_redundancy"),
        Claim("node_redundancy"),
        Claim("diameter"),
        Claim("reachability", of="tray", every=True),
        Claim("bisection", of="tray[0..1]", every=True),
        Claim("edge_redundancy", of="tray[0..1]", every=True),
        Claim("blast_radius", of="tray"),
        Claim("blast_radius", of="nvs"),
        Claim("survives", of="tray", count=1),
        Claim("survives", of="nvs", count=1),
        Claim("isolated"),
        Claim("survives", of="tray", to="nvs", count=1, what="links"),
        Claim("survives", of="tray", to="nvs", count=2, what="ports"),
        Claim("survives", of="tray", to="nvs", count=2, what="cables"),
        Claim("survives", of="tray[0]", count=1, what="ports"),
        Claim("survives", of="nvs", count=1, what="cables"),
        Claim("taper", of="nvs"),
        Claim("survives", of="tray", count=1, given=Claim("edge_redundancy", cmp=">=", value=Fraction(1))),
    ]
    return [Asked(c) for c in rng.sample(pool, 16)]
