"""fabric.json: read with nothing but the standard library, and held against its published schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.system.resources import packaged_folder
from tests.fabrics import torus
from tests.harness import fabric_of
from tests.targets.build import pod, two_planes


def data(fabric: Fabric) -> dict[str, Any]:
    """The fabric as a reader sees it."""
    found = Diagnostics()
    out: dict[str, Any] = json.loads(build_files(fabric, ["json"], found)["fabric.json"])
    assert not found.items
    return out


def rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    """A table as dicts."""
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def judge(value: object, schema: dict[str, Any], at: str = "fabric.json") -> list[str]:
    """Faults of a value under the words of JSON Schema that ours uses; an unknown word is a fault of the schema."""
    known = {"$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "required", "properties", "items",
             "prefixItems", "additionalProperties", "minimum", "minItems", "maxItems"}  # fmt: skip
    assert set(schema) <= known, set(schema) - known
    if "$ref" in schema:
        return judge(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], at)
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "null": type(None)}
    words = schema.get("type", [])
    words = [words] if isinstance(words, str) else words
    if words and not any(isinstance(value, kinds[w]) and not isinstance(value, bool) for w in words):
        return [f"{at}: {value!r} is no {words}"]
    faults = []
    if "const" in schema and value != schema["const"]:
        faults.append(f"{at}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        faults.append(f"{at}: {value!r} is none of {schema['enum']}")
    if isinstance(value, int) and value < schema.get("minimum", value):
        faults.append(f"{at}: {value} is too small")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        faults += [f"{at}: {name} is missing" for name in schema.get("required", []) if name not in value]
        for name, inner in value.items():
            if name in properties:
                faults += judge(inner, properties[name], f"{at}.{name}")
            elif schema.get("additionalProperties") is False:
                faults.append(f"{at}: {name} is unknown")
    if isinstance(value, list):
        first = schema.get("prefixItems", [])
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            faults.append(f"{at}: {len(value)} items")
        for i, inner in enumerate(value):
            wanted = first[i] if i < len(first) else schema.get("items", {})
            faults += judge(inner, wanted, f"{at}[{i}]") if isinstance(wanted, dict) else [f"{at}[{i}] is one too many"]
    return faults


SCHEMA: dict[str, Any] = json.loads((packaged_folder("targets") / "json" / "fabric.schema.json").read_text())


def test_it_fits_its_schema() -> None:
    for fabric in (pod(), two_planes(), torus(3, 3).build()):
        assert judge(data(fabric), SCHEMA) == []


def test_the_schema_sees_faults() -> None:
    good = data(pod())
    for spoil in (
        lambda d: d.pop("links"),
        lambda d: d.update(schema=2),
        lambda d: d["links"]["rows"][0].pop(),
        lambda d: d["links"]["rows"][0].__setitem__(2, "1"),
        lambda d: d["devices"]["columns"].reverse(),
        lambda d: d.update(origin="x"),
    ):
        bad = json.loads(json.dumps(good))
        spoil(bad)
        assert judge(bad, SCHEMA), spoil


def test_what_is_omitted_is_left_out_and_ports_count_from_one() -> None:
    d = data(pod())
    names = [x["name"] for x in rows(d["devices"])]
    assert "su1-node3" not in names and "su1-node2" in names and len(names) == 14
    link = next(x for x in rows(d["links"]) if x["a_device"] == "ufm")
    assert (link["a_port"], link["a_index"], link["b_device"], link["b_port"], link["b_index"]) == (
        "p[1]",
        1,
        "su1-leaf0",
        "p[4]",
        4,
    )
    assert link["class"] == "host-leaf" and link["rate_bps"] == 400 * 10**9 and link["cable_id"] == "ufm:p1"
    assert link["rail"] is None and rows(d["links"])[1]["rail"] == 1


def test_every_link_and_cable_refers_to_what_is_there() -> None:
    d = data(two_planes())
    devices = {x["name"]: x for x in rows(d["devices"])}
    cables = {x["cable_id"] for x in rows(d["cables"])}
    ports = {(m["key"], p[0]): p[1] for m in d["models"] for c in m["classes"] for p in c["ports"]}
    for link in rows(d["links"]):
        assert link["cable_id"] in cables and link["plane"] in (0, 1)
        for side in "ab":
            device = devices[link[f"{side}_device"]]
            assert ports[device["model"], link[f"{side}_port"]] == link[f"{side}_index"] <= device["port_count"]


def test_a_row_is_a_line_and_no_parameter_or_origin_is_told() -> None:
    fabric = pod()
    fabric.parameters = {"units": 2}
    text = build_files(fabric, ["json"], Diagnostics())["fabric.json"].decode()
    assert text == build_files(pod(), ["json"], Diagnostics())["fabric.json"].decode()
    assert "made.fab" not in text and "models.fab" not in text and "units" not in text
    links = [x for x in text.splitlines() if x.startswith('["') and '"host-leaf", "cable"' in x]
    assert len(links) == 15


def test_containment_is_stated(tmp_path: Path) -> None:
    """A chip names its host, a port its cage, a link the panel that it crosses."""
    fabric = fabric_of(
        "fabric f {\n  host node[2]: NODE\n  switch sw: BIG\n  switch leaf: ANY\n  panel patch: PATCH\n"
        "  connect node[n].nic[0] to sw\n  connect node[n].gpu[0].nv[0] to leaf via patch { rate 200Gbps }\n}\n"
        "model switch ANY { port p[1..8]: any }\n",
        tmp_path,
    )  # fmt: skip
    d = data(fabric)
    assert judge(d, SCHEMA) == []
    inside = {x["name"]: x["inside"] for x in rows(d["devices"])}
    assert inside["node1-gpu0"] == "node1" and inside["node1"] is None and inside["sw"] is None
    by_end = {(x["a_device"], x["b_device"]): x for x in rows(d["links"])}
    assert by_end["node0", "sw"]["a_cage"] == "OSFP 1" and by_end["node0", "sw"]["via"] is None
    assert by_end["node1-gpu0", "leaf"]["via"] == "patch" and by_end["node1-gpu0", "leaf"]["a_cage"] is None
