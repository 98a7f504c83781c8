"""What fabrics of a cluster share, judged as one: sums, racks, feeds, trays, names, ASNs and addresses of the union."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

from click.testing import CliRunner

from tdsl.cli import cli
from tdsl.compile.compiler import Compilation
from tdsl.verify.result import Result
from tests.soundness.arena import said
from tests.soundness.blueprint import Asked, Blueprint
from tests.soundness.inventory import Inventory
from tests.soundness.judge_parts import COUNTS, tray_share
from tests.soundness.judges import Claim, Unjudged
from tests.soundness.verdicts import Compared, Difference, answer_text, compiled_text, difference, first_error, internal_errors

SHARED = ("rack_space", "rack_power", "tray_fill", "name_collision", "address_overlap")
"""What is of the places and names that fabrics share: also where one fabric asks."""

RACK_UNITS = 42


def judged_cluster(blueprint: Blueprint, folder: Path, shrink: bool = True) -> Compared:
    """Compile a cluster and compare each answer with that of the union, or of the fabric that asks."""
    out = Compared(designs=1)
    inventory = blueprint.inventory()
    try:
        compilation = compiled_text(blueprint, folder)
    except Exception as fault:
        out.found.append(difference(blueprint, "internal error", "", said(fault), ""))
        return out
    out.found += [difference(blueprint, "internal error", "", f"{c} {m}", "") for c, m in internal_errors(compilation)]
    if any(d.fabric is None or not d.fabric.complete or not d.results for d in compilation.designs):
        out.refused = 1
        out.verdicts[f"refused: {blueprint.family}: {first_error(compilation)}"] += 1
        return out
    out.found += list(compared_cluster(blueprint, inventory, compilation, out))
    out.found += [difference(blueprint, kind, "", text, "") for kind, text in given_twice(compilation, folder)]
    return out


def compared_cluster(blueprint: Blueprint, inventory: Inventory, compilation: Compilation, out: Compared) -> Iterator[Difference]:
    """Answers of all fabrics that are wrong."""
    for one in blueprint.asked:
        answers = [r for d in compilation.judged for r in d.results if r.requirement == one.claim.text()]
        if not answers:
            yield difference(blueprint, "no answer", one.claim, "nothing", "")
        readings = [inventory]
        if one.block and one.claim.metric not in SHARED:
            readings.append(inventory.of_network(one.block))
        elif one.block and one.claim.metric in ("rack_space", "rack_power"):
            readings = [in_racks_of(inventory, one.block)]
        for result in answers:
            out.figures += 1
            out.verdicts[result.status] += 1
            try:
                every = [holding_figures(part, one.claim) for part in readings]
            except Unjudged:
                continue
            wrong = wrong_of_cluster(one, result, [h for holds, _ in every for h in holds])
            if wrong:
                yield difference(blueprint, wrong, one.claim, answer_text(result), "; ".join(told for _, told in every))
                break


def in_racks_of(inventory: Inventory, network: str) -> Inventory:
    """What stands in the racks in which a network has devices, of any network: what it is asked about there."""
    racks = {p.place[:3] for p in inventory.of_network(network).built_parts() if p.place is not None}
    parts = {path: p for path, p in inventory.parts.items() if p.place is not None and p.place[:3] in racks}
    return Inventory(parts, [], 0)


def wrong_of_cluster(one: Asked, result: Result, holds: list[bool]) -> str:
    """What is wrong with an answer, given whether the requirement holds by each reading."""
    if result.status in ("proved", "modelled") and not any(holds):
        return "false proof" + (" in a fabric" if one.block else " of a cluster")
    if result.status == "refuted" and all(holds):
        return "false refutation" + (" in a fabric" if one.block else " of a cluster")
    return ""


def holding_figures(inventory: Inventory, claim: Claim) -> tuple[list[bool], str]:
    """Whether a requirement holds of some devices, by each reading, and the figures."""
    match claim.metric:
        case "rack_space":
            twice = units_taken_twice(inventory)
            return [not twice], str(twice)
        case "rack_power":
            most = max(rack_watts(inventory).values())
            return [compare_figure(claim, most)], f"{most} W"
        case "tray_fill":
            fill = tray_share(inventory, inventory.wires)
            return [compare_figure(claim, fill)], f"{float(fill):.4f}"
        case "name_collision" | "address_overlap":
            raise Unjudged("judged by what `show addresses` prints")
    values = COUNTS[claim.metric](inventory, frozenset(inventory.parts), False)
    return [compare_figure(claim, v) for v in values], ", ".join(map(str, values))


def compare_figure(claim: Claim, value: Fraction) -> bool:
    """Whether a comparison holds of a figure."""
    return {
        ">=": value >= claim.value,
        ">": value > claim.value,
        "<=": value <= claim.value,
        "<": value < claim.value,
        "==": value == claim.value,
        "!=": value != claim.value,
    }[claim.cmp]


# ---------------------------------------------------------------- places


def units_taken_twice(inventory: Inventory) -> list[str]:
    """Rack units that two devices take."""
    taken: dict[tuple[str, str, int, int], list[str]] = defaultdict(list)
    for p in inventory.built_parts():
        if p.place is not None:
            hall, row, rack, unit = p.place
            for u in range(unit, unit + p.model.height):
                taken[hall, row, rack, u].append(p.path)
    return [
        f"{' and '.join(who)} in unit {u} of {row}{rack}"
        for (_, row, rack, u), who in taken.items()
        if len(who) > 1 or u > RACK_UNITS
    ]


def rack_watts(inventory: Inventory) -> Mapping[tuple[str, str, int], Fraction]:
    """Watts of every rack."""
    out: dict[tuple[str, str, int], Fraction] = defaultdict(Fraction)
    for p in inventory.built_parts():
        if p.place is not None:
            out[p.place[:3]] += p.model.watts or 0
    return out


# ---------------------------------------------------------------- what is given to devices


def given_twice(compilation: Compilation, folder: Path) -> Iterator[tuple[str, str]]:
    """ASNs and addresses that devices of two fabrics have in common, where no finding says so. Within one fabric switches may
    share an ASN on purpose."""
    shown = CliRunner().invoke(cli, ["show", str(folder / "design.fab"), "addresses", "--format", "json"])
    owners: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for design in json.loads(shown.stdout)["designs"]:
        for row in design["addresses"]:
            value = row["asn"] if row["kind"] == "asn" else row["address"]
            owners[row["kind"], str(value)].add((design["fabric"], row["device"]))
    told = " ".join(f"{d.code} {d.message}" for d in compilation.findings)
    for (kind, value), who in sorted(owners.items()):
        several = len({fabric for fabric, _ in who}) > 1 and len({device for _, device in who}) > 1
        if several and value not in told and not (kind != "asn" and "E0430" in told):
            yield f"one {kind} in two fabrics", f"{value} of {', '.join(sorted(device for _, device in who))}"
