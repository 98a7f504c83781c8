"""Scale-up domains beside a network, and failures: of something else, of the network, and of the domain itself."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import isinf
from random import Random

from tests.soundness.blueprint import Asked, Block, Blueprint, Line, Recording, Statement
from tests.soundness.families.models import cable_product, switch_model
from tests.soundness.families.scoped_groups import devices, links, omit_line
from tests.soundness.inventory import Inventory, Model
from tests.soundness.judge_times import exact_milliseconds, interval_of_time
from tests.soundness.judges import Claim, Unjudged
from tests.soundness.verdicts import left_by_failures

SIZE = 10**9
"""Bytes of every collective."""


def scale_up_design(seed: int) -> Blueprint:
    """Racks of trays with scale-up switches, over leaves and spines, with a filer beside them."""
    rng = Random(seed)
    racks, trays, ups = rng.randint(2, 3), rng.randint(2, 3), rng.randint(1, 3)
    fast, nic = rng.choice((200, 400, 800)), rng.choice((100, 200))
    chip = Model("C", "chip", f"model chip C {{ port nv[{ups}]: {fast}Gbps }}")
    tray = Model("T", "host", f'model host T "acc=1 joined=1 ports=1" {{ port nic[2]: {nic}Gbps; chip gpu: C }}', accelerators=1)
    filer = Model("ST", "host", "model host ST { port p[2]: 100Gbps }")
    switch = switch_model()
    wire = cable_product("WIRE", 4)
    leaves, spines = rng.randint(1, 2), rng.randint(1, 2)
    all_racks = [f"rack[{k}]" for k in range(racks)]
    inner = (
        Line(f"host tray[{trays}]: T", contained_chip(tray, [f"{r}.tray[{t}]" for r in all_racks for t in range(trays)], chip)),
        Line(f"switch nvs[{ups}]: {switch.name}", devices([f"{r}.nvs[{k}]" for r in all_racks for k in range(ups)], switch)),
        Line(
            "connect tray[t].gpu.nv[k] to nvs[k] { layer scaleup; medium backplane }",
            up_links(
                [(f"{r}.tray[{t}].gpu", f"{r}.nvs[{k}]") for r in all_racks for t in range(trays) for k in range(ups)],
                fast * 10**9,
            ),
        ),
    )
    up_rate = rng.choice((100, 200, 400))
    statements: list[Statement] = [
        Block(f"rack rack[{racks}]", inner, "rack"),
        Line(f"switch leaf[{leaves}]: {switch.name}", devices([f"leaf[{x}]" for x in range(leaves)], switch)),
        Line(f"switch spine[{spines}]: {switch.name}", devices([f"spine[{x}]" for x in range(spines)], switch)),
        Line(
            f"connect rack[k].tray[t].nic[r] to leaf[(t + r) % {leaves}] {{ cable WIRE }}",
            links(
                [(f"{r}.tray[{t}]", f"leaf[{(t + i) % leaves}]") for r in all_racks for t in range(trays) for i in range(2)],
                nic * 10**9,
                1,
                wire,
            ),
        ),
        Line(
            f"connect leaf[*] to spine[*] each {{ rate {up_rate}Gbps; cable WIRE }}",
            links([(f"leaf[{x}]", f"spine[{y}]") for x in range(leaves) for y in range(spines)], up_rate * 10**9, 1, wire),
        ),
        Line(f"switch aux: {switch.name}", devices(["aux"], switch)),
        Line("host filer: ST { role storage }", devices(["filer"], filer, role="storage")),
        Line("connect filer.p[(0)] to aux { cable WIRE }", links([("filer", "aux")], 10**11, 1, wire)),
        Line("connect aux to leaf[0] { rate 100Gbps; cable WIRE }", links([("aux", "leaf[0]")], 10**11, 1, wire)),
    ]
    if rng.random() < 0.3:
        statements.append(omit_line(f"rack[{rng.randrange(racks)}].tray[{trays - 1}]"))
    elsewhere, network = ("aux", "filer"), ["spine[0]"] * (spines > 1)
    own = ["rack[0].nvs[0]", f"rack[{racks - 1}].tray[0]"]
    fail = rng.choice(
        [(rng.choice(elsewhere),), (rng.choice(elsewhere),), *((x,) for x in network * 2), *((x,) for x in own), ()]
    )
    blueprint = Blueprint("scale_up_failures", seed, tuple(statements), (chip, tray, filer, switch, wire), fail=fail)
    return replace(blueprint, asked=tuple(time_questions(rng, left_by_failures(blueprint, blueprint.inventory()), trays)))


def contained_chip(model: Model, paths: list[str], chip: Model) -> Recording:
    """The meaning of a declaration of trays with one chip, which has no index."""

    def record(inventory: Inventory) -> None:
        for path in paths:
            inventory.add_part(path, model)
            inventory.add_part(f"{path}.gpu", chip, inside=path)

    return record


def up_links(pairs: list[tuple[str, str]], rate: int) -> Recording:
    """The meaning of a connect of scale-up links, which are no cables."""

    def record(inventory: Inventory) -> None:
        for a, b in pairs:
            inventory.add_wires(a, b, rate, cabled=False, scaleup=True)

    return record


def time_questions(rng: Random, left: Inventory, trays: int) -> list[Asked]:
    """Times just above and below floor and schedule, and figures of the domains."""
    out = [
        Asked(Claim("throughput", p, scaleup=True, cmp=">=", value=rng.choice((Fraction(1, 10), Fraction(1, 2), Fraction(1)))))
        for p in rng.sample(("all_to_all", "ring", "shift 1", "shift 2"), 2)
    ]
    out.append(Asked(Claim("reachability", of="ports", scaleup=True)))
    out.append(
        Asked(Claim("blast_radius", of="rack.nvs", scaleup=True, cmp="<=", value=Fraction(rng.choice((trays, trays - 1)))))
    )
    for metric in ("allreduce", "all_to_all_time"):
        try:
            floor, schedule = interval_of_time(left, metric, SIZE)
        except Unjudged:
            continue
        if isinf(floor) or isinf(schedule):
            continue
        for seconds in (floor * rng.choice((0.5, 0.97)), schedule * rng.choice((1.03, 1.5, 3))):
            out.append(Asked(Claim(metric, str(SIZE), cmp="<=", value=exact_milliseconds(seconds), unit="ms")))
    return out
