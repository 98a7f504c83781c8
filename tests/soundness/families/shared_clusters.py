"""Clusters: two or three networks over the same hosts, halls, racks, feeds and trays."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

from tests.soundness.blueprint import Asked, Block, Blueprint, Line, Recording, Statement
from tests.soundness.families.models import DIAMETER, TRAY
from tests.soundness.families.scoped_groups import links
from tests.soundness.inventory import Inventory, Model
from tests.soundness.judge_clusters import rack_watts
from tests.soundness.judge_parts import COUNTS, tray_share
from tests.soundness.judges import Claim, Unjudged

NETWORKS = ("compute", "storage", "control")


def cluster_design(seed: int) -> Blueprint:
    """A cluster with requirements of the whole and of each network."""
    rng = Random(seed)
    hosts, networks = rng.randint(2, 5), NETWORKS[: rng.choice((2, 2, 3))]
    watts, leaf_watts = rng.randint(1, 9) * 100, rng.randint(1, 9) * 50
    ports = "; ".join(f"port {n}: 400Gbps {{ type GE400 }}" for n in networks)
    chip = Model("G", "chip", "model chip G { port lane: 400Gbps }")
    host = Model(
        "N",
        "host",
        f"model host N {{ {ports}; chip gpu: G; power {watts}W max {watts}W; price $1000; height 1U }}",
        watts,
        1000,
        1,
    )
    switch = Model(
        "S",
        "switch",
        f"model switch S {{ port p[1..64]: 400Gbps {{ type GE400 }}; height 1U; "
        f"power {leaf_watts}W max {leaf_watts}W; price $200 }}",
        leaf_watts,
        200,
    )
    price = rng.randint(0, 9)
    cable = Model(
        "LINK",
        "cable",
        f"model cable LINK {{ rate 400Gbps; medium dac; price ${price}; diameter {DIAMETER}mm; "
        "lengths 1m, 3m, 5m, 10m, 20m; reach 20m }",
        None,
        price,
    )
    placed, routed = rng.random() < 0.8, rng.random() < 0.5
    feed = rng.randint(1, 9) * 200
    statements: list[Statement] = [Line(f"host node[{hosts}]: N", declared(host, "node", hosts, "", placed, 1, 1))]
    if placed:
        statements += [
            Line(
                f"hall h {{ row A {{ rack 1..3 {{ height 42U; power 2 x {feed}W }} }}; pitch rack 0.6m; "
                f"tray above 2.6m {{ capacity {TRAY[0]}mm x {TRAY[1]}mm }}; slack 0.1m }}"
            ),
            Line("place node[n] in h.A[1] at 1U + 1U*n"),
        ]
    for network in networks:
        leaves, rack = rng.randint(1, 2), rng.randint(1, 3)
        unit = rng.choice((20, 20, 21, 30, 3))
        name = rng.choice(("leaf", "leaf", "tor"))
        lines: list[Statement] = [
            Line("transport ethernet"),
            Line(f"switch {name}[{leaves}]: S", declared(switch, name, leaves, network, placed, rack, unit)),
            Line(
                f"connect node[n].{network} to {name}[n % {leaves}] {{ cable LINK }}",
                links(
                    [(f"node[{n}]", f"{network}.{name}[{n % leaves}]") for n in range(hosts)],
                    4 * 10**11,
                    1,
                    cable,
                    network=network,
                ),
            ),
        ]
        if leaves > 1:
            lines.append(
                Line(
                    f"connect {name}[0] to {name}[1] {{ cable LINK }}",
                    links([(f"{network}.{name}[0]", f"{network}.{name}[1]")], 4 * 10**11, 1, cable, network=network),
                )
            )
        if placed:
            lines.append(Line(f"place {name}[i] in h.A[{rack}] at {unit}U + 1U*i"))
        if routed:
            lines.append(Line("routing bgp { unnumbered }"))
            if rng.random() < 0.5:
                lines.append(Line(f"address {name} loopback from 10.255.{rng.randint(0, 1)}.1/24"))
        statements.append(Block(f"fabric {network}", tuple(lines), network))
    blueprint = Blueprint("shared_clusters", seed, tuple(statements), (chip, host, switch, cable), cluster=True)
    return cluster_requirements(rng, blueprint, networks, placed)


def declared(model: Model, name: str, count: int, network: str, placed: bool, rack: int, unit: int) -> Recording:
    """The meaning of a declaration in a cluster or in one of its fabrics, with the places of its devices."""

    def record(inventory: Inventory) -> None:
        for k in range(count):
            path = f"{network}.{name}[{k}]" if network else f"{name}[{k}]"
            place = ("h", "A", rack, unit + k) if placed else None
            inventory.add_part(path, model, network=network, place=place)

    return record


def cluster_requirements(rng: Random, blueprint: Blueprint, networks: tuple[str, ...], placed: bool) -> Blueprint:
    """Requirements with values between the figure of one network and that of the whole."""
    inventory = blueprint.inventory()
    out: list[Asked] = []
    for metric, unit in (("power", "W"), ("cost", "$")):
        whole = COUNTS[metric](inventory, frozenset(inventory.parts), False)[0]
        part = inventory.of_network(rng.choice(networks))
        less = COUNTS[metric](part, frozenset(part.parts), False)[0]
        value = rng.choice((whole, whole - 1, Fraction(int((whole + less) / 2)), less, whole + 1))
        out.append(
            Asked(Claim(metric, cmp=rng.choice(("<=", ">=", "==", "<")), value=value, unit=unit), rng.choice(("", "", *networks)))
        )
    if placed:
        out.append(Asked(Claim("rack_space"), rng.choice(("", *networks))))
        most = max(rack_watts(inventory).values())
        out.append(
            Asked(
                Claim("rack_power", cmp="<=", value=rng.choice((most, most - 1, most + 1)), unit="W"), rng.choice(("", *networks))
            )
        )
        try:
            fill = tray_share(inventory, inventory.wires)
        except (Unjudged, ValueError):
            fill = Fraction(0)
        if fill:
            value = (fill * rng.choice((Fraction(9, 10), Fraction(11, 10)))).limit_denominator(10**6)
            out.append(Asked(Claim("tray_fill", cmp="<=", value=value), rng.choice(("", *networks))))
    out += [Asked(Claim("address_overlap"))]
    return replace(blueprint, asked=tuple(out))
