"""Nothing that a design can say is lost in a comparison: each word of the language, and each field of what is compiled of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from tdsl.changes.attributes import (
    CABLE_COLUMNS,
    COMPARED_ELSEWHERE,
    COMPARED_HERE,
    NO_DIFFERENCE,
    OF_CABLES,
    OF_EACH_LINK,
    compared_fields,
    declaration_attributes,
    fabric_attributes,
)  # fmt: skip
from tdsl.changes.cable_rows import FACTS
from tdsl.changes.compare import compare_clusters, compare_designs
from tdsl.changes.contract import Contract, Subject, contract_of_design, model_attributes
from tdsl.changes.model import Changes
from tdsl.compile import compiler
from tdsl.compile.compiler import Compilation, Request
from tdsl.emit.records import Cable
from tdsl.fabric.addresses import Addressing, Pool
from tdsl.fabric.distances import GroupDistance
from tdsl.fabric.graph import Fabric, LinkStatement
from tdsl.fabric.partitions import Partition
from tdsl.fabric.places import RackPlaces
from tdsl.findings.source import Origin
from tdsl.semantics.model import Chip, DeviceModel, DeviceSet, PortClass
from tdsl.syntax import keywords
from tests.cli.run import tdsl, write
from tests.tables import sections, table

LEAVES = sections(__file__)["leaves"]
CLAIMS = sections(__file__)["claims"]
INTENT = """
fabric pod {
  hosts 8 x DGX_H100
  clos { leaf QM9700; spine QM9700; oversubscription 1:1 }
}
"""
SUBNET = sections(__file__)["subnet"]
CROSSED = sections(__file__)["crossed"]
ROCE, ROUTING = (f"{line}\n" for line in LEAVES.splitlines() if line.startswith(("  roce", "  routing")))
DESIGNS = {"leaves": LEAVES, "claims": CLAIMS, "intent": INTENT, "subnet": SUBNET, "crossed": CROSSED}
LINES = {"ROCE": ROCE, "ROUTING": ROUTING}
ROWS = [(word, DESIGNS[design], LINES.get(old, old), new) for word, design, old, new in table(__file__, "rows")]
"""Words, the design, a part of it, and what stands there in the other one."""
SAME = {**dict(table(__file__, "same")), **dict.fromkeys(keywords.PATTERNS, "a pattern; cables are compared")}
"""Words that make no difference by themselves, each with what is compared instead."""


@cache
def known_design(text: str, folder: Path) -> tuple[Compilation, Contract]:
    """A design, compiled once, and its contract."""
    path = write(folder, text, f"{sha256(text.encode()).hexdigest()[:8]}.fab")
    found = compiler.compile_without_checks(path, Request())
    assert found.designs and all(d.fabric is not None and d.fabric.complete for d in found.designs), found.findings
    return found, contract_of_design(found, Path(path), {}, {})


def differences_found(old: str, new: str, folder: Path) -> list[Changes]:
    """What differs between the fabrics of two designs that are declared in the same place, and their clusters."""
    (a, before), (b, after) = (known_design(text, folder) for text in (old, new))
    out = []
    for x, y in zip(a.designs, b.designs, strict=True):
        blocks = frozenset((x.name, x.cluster)), frozenset((y.name, y.cluster))
        out.append(compare_designs(x, y, (before, after), Subject(blocks)))
    return out + [compare_clusters(x, y) for x, y in zip(a.clusters, b.clusters, strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("designs")


@pytest.mark.parametrize(("word", "design", "old", "new"), ROWS, ids=[f"{row[0]}: {row[2]:.20}" for row in ROWS])
def test_a_word_of_the_language_that_changes_is_a_difference(word: str, design: str, old: str, new: str, folder: Path) -> None:
    """And it is one the other way round, too."""
    assert design.count(old) >= 1
    other = design.replace(old, new)
    assert not all(c.none for c in differences_found(design, other, folder))
    assert not all(c.none for c in differences_found(other, design, folder))


OF_CLUSTERS = [row for row in ROWS if row[1] is CROSSED]


@pytest.mark.parametrize(("word", "design", "old", "new"), OF_CLUSTERS, ids=[f"{row[0]}: {row[2]:.20}" for row in OF_CLUSTERS])
def test_a_word_in_a_cluster_is_a_difference_of_the_whole(word: str, design: str, old: str, new: str, tmp_path: Path) -> None:
    """Which `tdsl diff` tells once."""
    paths = [write(tmp_path, text, name) for text, name in ((design, "a.fab"), (design.replace(old, new), "b.fab"))]
    found = json.loads(tdsl("diff", *paths, "--no-checks", "--output-format", "json").stdout)
    assert not found["same"] and len(found["fabrics"]) == 1


def test_every_word_has_a_row_or_a_reason() -> None:
    words = set(keywords.GRAMMAR_WORDS) | set(keywords.PATTERNS) | set(keywords.SETTINGS)
    rows = {word for word, *_ in ROWS}
    assert words == rows | SAME.keys() and not rows & SAME.keys()


@pytest.mark.parametrize("design", [LEAVES, CLAIMS, INTENT, SUBNET, CROSSED])
def test_other_ways_to_write_a_design_are_no_difference(design: str, folder: Path) -> None:
    """Comments, blanks, titles, values as expressions in other units, and statements in another order."""
    pairs = (
        ("host node[4]", "host node[2 + 2]"), ("[2 of 4]", "[1 + 1 of 4]"), ("power 1kW max 2kW", "power 1000W max 2000W"),
        ("length 3m", "length 300cm"), ("dscp 26", "dscp 2*13"), ("mtu 9216", "mtu 9*1024"), ("65001", "65000 + 1"),
        ("rack 1..2 { height 42U", "rack 1..2 { height 2*21U"), ("slack 2m", "slack 200cm"), ("g 120m", "g 0.12km"),
        ("0x0001", "1"), ("bundle 2", "bundle 4 // 2"), ("node[0..2]", "node[0..3 - 1]"), ("spread x 4", "spread x 8 // 2"),
        ("50%", "1/2"), ('"Pod"', '"Another title"'), ("nos sonic", "nos sonic  # the system"), ("spares 2%", "spares 2.0%"),
        ("at 20U", "at 10U + 10U"), ("hosts 8", "hosts 2*4"), ("x 2 via", "x 4 // 2 via"),
    )  # fmt: skip
    other = "# a comment\n" + design
    for old, new in pairs:
        other = other.replace(old, new)
    moved = [line for line in other.splitlines() if line.strip().startswith(("require", "report"))]
    if len(moved) > 1:
        other = other.replace("\n".join(moved), "\n".join(reversed(moved)))
    other = other.replace("  ", "    ")
    assert other != design and all(c.none for c in differences_found(design, other, folder))


def test_every_field_is_compared_or_has_a_reason() -> None:
    """A field that is added to a fabric is named here, and in the module that compares it; records under it are compared over
    their fields."""
    left_out = set(NO_DIFFERENCE["Fabric"])
    places = (left_out, set(COMPARED_ELSEWHERE), set(COMPARED_HERE))
    assert set.union(*places) == {f.name for f in fields(Fabric)}
    assert sum(map(len, places)) == len(set.union(*places))
    for record in (
        Fabric,
        DeviceSet,
        DeviceModel,
        PortClass,
        Chip,
        Addressing,
        Pool,
        Partition,
        RackPlaces,
        GroupDistance,
        LinkStatement,
    ):
        assert set(NO_DIFFERENCE[record.__name__]) <= {f.name for f in fields(record)}
    assert all(reason for table in NO_DIFFERENCE.values() for reason in table.values())
    columns = {f.name for f in fields(Cable)}
    assert set(CABLE_COLUMNS) | set(FACTS) <= columns and set(OF_CABLES.values()) <= set(FACTS.values())
    assert all(OF_EACH_LINK.values())


def changed_value(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int() | Fraction():
            return value + 1
        case str():
            return f"{value}x"
        case Mapping():
            return {**value, "more": 1}
        case tuple() if hasattr(value, "_replace"):
            return value._replace(low=value.low + 1)
        case tuple() if value:
            return (changed_value(value[0]), *value[1:])
        case tuple():
            return (1,)
        case None:
            return 7
    for name in compared_fields(value) if is_dataclass(value) else ():
        return replace(value, **{name: changed_value(getattr(value, name))})
    raise TypeError(value)


def parts_of_model(model: DeviceModel) -> dict[str, DeviceModel]:
    """A model with another value in each field that is compared, of its ports, chips, links and layout, too; by what differs."""
    out = {
        name: replace(model, **{name: changed_value(getattr(model, name))}) for name in compared_fields(model) if name != "chips"
    }
    for sort in ("classes", "chips", "links", "layout"):
        first, *rest = getattr(model, sort)
        for f in compared_fields(first):
            if isinstance(getattr(first, f), Origin):
                continue
            if sort == "chips" and f == "model":
                values = {f"model {x}": m for x, m in parts_of_model(first.model).items()} if first.model.classes == () else {}
            else:
                values = {f: changed_value(getattr(first, f))}
            for name, value in values.items():
                out[f"{sort} {name}"] = replace(model, **{sort: (replace(first, **{f: value}), *rest)})
    return out


def test_each_field_of_a_model_is_seen(folder: Path) -> None:
    """Of a host with ports, chips, links among them and a layout."""
    found, _ = known_design("fabric f { host a[2]: DGX_H100; switch s: QM9700; connect a[n].nic[0] to s }", folder)
    fabric = found.designs[0].fabric
    assert fabric is not None
    (model,) = (m for m in fabric.models if m.name == "DGX_H100")
    assert model.links and model.layout and model.chips and model.classes
    own = model_attributes(model, [c.name for c in model.classes])
    unseen = [
        what for what, other in parts_of_model(model).items() if model_attributes(other, [c.name for c in other.classes]) == own
    ]
    assert unseen == []


def test_each_field_of_a_declaration_is_seen(folder: Path) -> None:
    found, _ = known_design(LEAVES, folder)
    fabric = found.designs[0].fabric
    assert fabric is not None
    declared = next(s for s in fabric.sets if s.name == "extra")
    others = {f: replace(declared, **{f: changed_value(getattr(declared, f))}) for f in ("role", "settings")}
    others["inside"] = replace(declared, inside=fabric.sets[0])
    others["parts"] = replace(declared, parts=(replace(declared.parts[0], kind="chip"),))
    assert others.keys() == set(compared_fields(declared))
    assert all(declaration_attributes(other) != declaration_attributes(declared) for other in others.values())


def test_each_field_of_halls_routing_and_traffic_classes_is_seen(folder: Path) -> None:
    found, _ = known_design(LEAVES, folder)
    fabric = found.designs[0].fabric
    assert fabric is not None and fabric.places is not None and fabric.addressing is not None
    own = fabric_attributes(fabric, {})
    hall, *halls = fabric.places.halls
    row, (number, kind) = hall.rows[0], hall.rows[0].racks[0]
    kinds = [replace(kind, **{f: changed_value(getattr(kind, f))}) for f in compared_fields(kind) if f != "span"]
    rows = [replace(row, racks=((number, k), *row.racks[1:])) for k in kinds]
    tray = hall.tray
    trays = [replace(tray, **{f: changed_value(getattr(tray, f))}) for f in compared_fields(tray) if f != "span"]
    others = [replace(hall, rows=(r,)) for r in rows] + [replace(hall, tray=t) for t in trays]
    plain = [f for f in compared_fields(hall) if f not in ("rows", "tray", "origin")]
    others += [replace(hall, **{f: changed_value(getattr(hall, f))}) for f in plain]
    made: list[Any] = [{"places": altered(fabric.places, halls=(h, *halls))} for h in others]
    for name in ("routing", "roce"):
        value = getattr(fabric.addressing, name)
        for f in compared_fields(value):
            if f != "origin":
                changed = replace(value, **{f: changed_value(getattr(value, f))})
                made.append({"addressing": altered(fabric.addressing, **{name: changed})})
    assert len(made) > 20
    assert all(fabric_attributes(altered(fabric, **values), {}) != own for values in made)


def altered(record: Any, **values: object) -> Any:
    """A copy of a record that keeps no slots, with other values."""
    out = copy(record)
    out.__dict__.update(values)
    return out


DIFFERING = LEAVES.replace("role manager", "role storage").replace("require bisection >= 50%", "require bisection >= 40%")


def test_settings_are_said_in_every_format(tmp_path: Path) -> None:
    """Behind requirements, in a line."""
    a, b = write(tmp_path, LEAVES, "old.fab"), write(tmp_path, DIFFERING, "new.fab")
    text = tdsl("diff", a, b, "--no-checks").stdout.splitlines()
    assert text[:3] == ["pod", "  contract: 1 requirement weaker", "  settings: extra: role manager → storage"]
    assert "  ~ extra: role  manager → storage" in text or "  ~ extra: role manager → storage" in text
    markdown = tdsl("diff", a, b, "--no-checks", "--output-format", "markdown").stdout
    assert "Settings: extra: role manager → storage." in markdown
    (fabric,) = json.loads(tdsl("diff", a, b, "--no-checks", "--output-format", "json").stdout)["fabrics"]
    assert fabric["settings"] == [{"what": "extra: role", "before": "manager", "after": "storage"}] and not fabric["same"]
