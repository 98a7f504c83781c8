"""Tables that `build` writes, against the records: links, cables, and what is bought."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping

from tdsl.api import build
from tdsl.fabric.graph import Fabric
from tests.soundness.inventory import Inventory

TARGETS = ("cabling", "bom")


def wrong_tables(fabric: Fabric, inventory: Inventory) -> Iterator[tuple[str, str, str]]:
    """Where the tables of a fabric differ from the records: which table, what it says, and what is recorded."""
    files = build(fabric, TARGETS if fabric.places is not None else TARGETS[:1])
    links, cables = (rows_of_table(files[name]) for name in ("cabling/links.csv", "cabling/cables.csv"))
    if len(links) != len(inventory.wires):
        yield "links.csv", f"{len(links)} rows", f"{len(inventory.wires)} links"
    said = {row["cable_id"] for row in cables}
    recorded = {w.cable for w in inventory.wires if w.cable >= 0}
    if len(said) != len(recorded):
        yield "cables.csv", f"{len(said)} cables", f"{len(recorded)} cables"
    if fabric.places is None:
        return
    quantities: Counter[str] = Counter()
    for row in rows_of_table(files["bom/bom.csv"]):
        if row["kind"] in ("host", "switch", "cable"):
            quantities[row["model"]] += int(row["quantity"])
    expected = bought_parts(inventory)
    if quantities != expected:
        yield "bom.csv", str(dict(quantities - expected)), str(dict(expected - quantities))


def bought_parts(inventory: Inventory) -> Counter[str]:
    """How many of each model are bought: devices that are inside of no other, and cables."""
    out = Counter(p.model.name for p in inventory.built_parts() if not p.inside)
    products = {w.cable: w.product.name for w in inventory.wires if w.cable >= 0 and w.product is not None}
    return out + Counter(products.values())


def rows_of_table(data: bytes) -> list[Mapping[str, str]]:
    """The rows of a CSV."""
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
