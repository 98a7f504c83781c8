"""fabric.json: read with nothing but the standard library, and held against its published schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.system.resources import packaged_folder
from tests.fabrics import torus
from tests.harness import fabric_of
from tests.targets.build import files_of, pod, rows, two_planes

jsonschema = pytest.importorskip("jsonschema")
JUDGE = jsonschema.Draft202012Validator(json.loads((packaged_folder("targets") / "json" / "fabric.schema.json").read_text()))


def made(fabric: Fabric) -> dict[str, bytes]:
    files, found = files_of(fabric)
    assert not found
    return files


def test_it_fits_its_schema() -> None:
    """Which sees faults."""
    JUDGE.check_schema(JUDGE.schema)
    for fabric in (pod(), two_planes(), torus(3, 3).build()):
        JUDGE.validate(json.loads(made(fabric)["fabric.json"]))
    good = made(pod())["fabric.json"]
    spoils: list[Any] = [
        lambda d: d.pop("links"),
        lambda d: d.update(schema=2),
        lambda d: d["links"]["rows"][0].pop(),
        lambda d: d["links"]["rows"][0].__setitem__(2, "1"),
        lambda d: d["devices"]["columns"].reverse(),
        lambda d: d.update(origin="x"),
    ]
    for number, spoil in enumerate(spoils):
        bad = json.loads(good)
        spoil(bad)
        assert not JUDGE.is_valid(bad), number


def test_what_is_omitted_is_left_out_and_ports_count_from_one() -> None:
    files = made(pod())
    names = [x["name"] for x in rows(files, "devices")]
    assert "su1-node3" not in names and "su1-node2" in names and len(names) == 14
    links = rows(files, "links")
    assert next(x for x in links if x["a_device"] == "ufm") == links[0] | {
        "a_device": "ufm", "a_port": "p[1]", "a_index": 1, "b_device": "su1-leaf0", "b_port": "p[4]", "b_index": 4,
        "class": "host-leaf", "rate_bps": 400 * 10**9, "cable_id": "ufm:p1", "rail": None, "a_cage": None, "b_cage": "OSFP 2",
    }  # fmt: skip
    assert links[1]["rail"] == 1


def test_every_link_and_cable_refers_to_what_is_there() -> None:
    files = made(two_planes())
    devices = {x["name"]: x for x in rows(files, "devices")}
    cables = {x["cable_id"] for x in rows(files, "cables")}
    models = json.loads(files["fabric.json"])["models"]
    ports = {(m["key"], p[0]): p[1] for m in models for c in m["classes"] for p in c["ports"]}
    for link in rows(files, "links"):
        assert link["cable_id"] in cables and link["plane"] in (0, 1)
        for side in "ab":
            device = devices[link[f"{side}_device"]]
            assert ports[device["model"], link[f"{side}_port"]] == link[f"{side}_index"] <= device["port_count"]


def test_a_row_is_a_line_and_no_parameter_or_origin_is_told() -> None:
    fabric = pod()
    fabric.parameters = {"units": 2}
    text = made(fabric)["fabric.json"].decode()
    assert text == made(pod())["fabric.json"].decode()
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
    files = made(fabric)
    JUDGE.validate(json.loads(files["fabric.json"]))
    inside = {x["name"]: x["inside"] for x in rows(files, "devices")}
    assert inside["node1-gpu0"] == "node1" and inside["node1"] is None and inside["sw"] is None
    links = {(x["a_device"], x["b_device"]): (x["a_cage"], x["via"]) for x in rows(files, "links")}
    assert links["node0", "sw"] == ("OSFP 1", None) and links["node1-gpu0", "leaf"] == (None, "patch")
