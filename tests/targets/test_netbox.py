"""The target netbox: every row names what is there, device types are those of the library's schema, and a NetBox imports
every file."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.tables import sections
from tests.targets import build
from tests.targets.build import csv_rows, design
from tests.targets.inventories import DESIGN, PLANES, made, yaml

FIELDS = {
    "1-manufacturers": {"name", "slug"},
    "3-device-roles": {"name", "slug", "color"}, "4-sites": {"name", "slug", "status"},
    "6-devices": {"name", "role", "manufacturer", "device_type", "site", "status", "rack", "position", "face"},
    "7-interfaces": {"device", "name", "label", "type", "speed", "enabled", "mgmt_only"},
    "8-cables": {
        *(f"side_{s}_{what}" for s in "ab" for what in ("device", "type", "name")),
        "type", "status", "label", "color", "length", "length_unit",
    },
}  # fmt: skip
"""What NetBox 4.6 asks for, and some of what it takes (netbox/dcim/forms/bulk_import.py)."""
Types = dict[str, dict[str, Any]]


def device_types(files: dict[str, bytes]) -> Types:
    """Device types by their model."""
    return {t["model"]: t for t in yaml.safe_load_all(files["netbox/2-device-types.yaml"])}


@pytest.mark.parametrize("text", [DESIGN, PLANES])
@pytest.mark.parametrize("ports", ["types", "devices"])
def test_netbox_finds_what_each_row_names(tmp_path: Path, test_data: Path, text: str, ports: str) -> None:
    files = made(text, tmp_path, "netbox", ports=ports) | made(text, tmp_path, "json")
    tables = {n: csv_rows(files, f"netbox/{n}.csv") for n in FIELDS if f"netbox/{n}.csv" in files}
    assert all(set(rows[0]) == FIELDS[n] for n, rows in tables.items())
    types = device_types(files)
    names = {n: [r.get("name", "") for r in rows] for n, rows in tables.items()}
    for r in tables["6-devices"]:
        assert r["manufacturer"] in names["1-manufacturers"] and r["manufacturer"] == types[r["device_type"]]["manufacturer"]
        assert r["role"] in names["3-device-roles"] and r["site"] in names["4-sites"]
    slugs = [r["slug"] for n in tables for r in tables[n] if "slug" in r] + [t["slug"] for t in types.values()]
    assert all(re.fullmatch(r"[-a-z0-9_]+", s) for s in slugs)
    brought = [(r["name"], p["name"]) for r in tables["6-devices"] for p in types[r["device_type"]].get("interfaces", [])]
    rows = [(r["device"], r["name"]) for r in tables.get("7-interfaces", [])]
    there = {*brought, *rows}
    assert len(there) == len(brought) + len(rows), "no device has an interface twice"
    assert {d for d, _ in there} <= set(names["6-devices"]) and bool(brought) == (ports == "types")
    ends = [(r[f"side_{s}_device"], r[f"side_{s}_name"]) for r in tables["8-cables"] for s in "ab"]
    assert set(ends) <= there and len(set(ends)) == len(ends), "each interface has one cable"
    assert len(tables["8-cables"]) == len(json.loads(files["fabric.json"])["links"]["rows"])
    schema = json.loads((test_data / "handover" / "netbox" / "generated_schema.json").read_text())
    known = schema["definitions"]["interface"]["properties"]["type"]["enum"]
    assert {r["type"] for r in tables.get("7-interfaces", [])} <= set(known)


PLACED = design("netbox_racks")


def test_netbox_has_racks_positions_and_types(tmp_path: Path) -> None:
    files = made(PLACED, tmp_path, "netbox")
    racks = [(r["site"], r["name"], r["u_height"]) for r in csv_rows(files, "netbox/5-racks.csv")]
    assert racks == [("Two racks", "h1.A01", "48"), ("Two racks", "h1.A02", "48")]
    rows = {r["name"]: r for r in csv_rows(files, "netbox/6-devices.csv")}
    assert (rows["node1"]["rack"], rows["node1"]["position"], rows["leaf3"]["position"]) == ("h1.A01", "9", "13")
    types = device_types(files)
    assert {m: (t["u_height"], t["weight"], len(t["power-ports"])) for m, t in types.items()} == {
        "DGX_H100": (8, 130.45, 6), "QM9700": (1, 14.8, 2),
    }  # fmt: skip
    drawn = {m: sum(p["maximum_draw"] for p in t["power-ports"]) for m, t in types.items()}
    assert drawn == {"DGX_H100": 10200, "QM9700": 1720}, "the maximum, shared by the supplies"
    assert Counter(p["type"] for p in types["QM9700"]["interfaces"]) == {"infiniband-ndr": 64, "1000base-t": 1}
    assert types["DGX_H100"]["interfaces"][-1] == {"name": "bmc", "type": "1000base-t", "mgmt_only": True}
    osfp = 'model host NODE { port nic: 800Gbps { type GE800; os "eth0" } }\n'
    osfp += "fabric f { host node[2]: NODE; switch leaf: SN5600; connect node[n].nic to leaf }\n"
    types = device_types(made(osfp, tmp_path, "netbox"))
    assert {t["interfaces"][0]["type"] for t in types.values()} == {"other", "800gbase-x-osfp"}


def test_device_types_are_those_of_the_library(tmp_path: Path, test_data: Path) -> None:
    """By its schema: no field of another name, types of interfaces that NetBox has."""
    jsonschema, referencing = pytest.importorskip("jsonschema"), pytest.importorskip("referencing")
    folder = test_data / "handover" / "netbox"
    kept = {p.name: json.loads(p.read_text()) for p in folder.glob("*.json")}
    generated = kept["generated_schema.json"]["definitions"]
    words = set(generated["interface"]["properties"]["type"]["enum"])
    own = set(kept["devicetype.schema.json"]["properties"])
    assert (
        jsonschema
        and referencing
        and {"manufacturer", "model", "slug", "u_height", "is_full_depth", "interfaces", "power-ports"} <= own
    )
    for text in (DESIGN, PLACED):
        for t in device_types(made(text, tmp_path, "netbox")).values():
            assert set(t) <= own and set(kept["devicetype.schema.json"]["required"]) <= set(t)
            assert all(p["type"] in words and set(p) <= {"name", "label", "type", "mgmt_only"} for p in t.get("interfaces", []))
            names = [p["name"] for p in t.get("interfaces", [])]
            assert len(set(names)) == len(names) and all(0 < len(n) <= 64 for n in names)


BMCS = DESIGN.replace("  routing bgp", "  address su[*].node[*] bmc from 10.9.0.1/24 { gateway 10.9.0.1 }\n  routing bgp")
TWINS = sections(__file__)["twins"]
"""Two hosts on the two halves of a port, by one cable; hosts behind a panel."""


def test_cables_with_several_ends_and_panels_are_payloads(tmp_path: Path) -> None:
    files, found = build.made(TWINS, tmp_path, "netbox")
    assert not [f for f in found if f.severity.word == "error"]
    rows = json.loads(files["netbox/payloads.json"]) if "netbox/payloads.json" in files else []
    single = csv_rows(files, "netbox/8-cables.csv")
    ends = Counter((e["device"], e["name"]) for r in rows for s in "ab" for e in r["body"][f"{s}_terminations"])
    assert set(ends.values()) <= {1}
    seen = {(r["side_a_type"], r["side_b_type"]) for r in single}
    assert {"dcim.frontport", "dcim.rearport"} <= {t for pair in seen for t in pair}
    front = csv_rows(files, "netbox/7b-front-ports.csv")
    rear = {(r["device"], r["name"]) for r in csv_rows(files, "netbox/7a-rear-ports.csv")}
    assert len(front) == 4 and all((r["device"], r["rear_port"]) in rear for r in front)
    both = [r["body"] for r in rows]
    assert len(both) == 2 and all(b["profile"] == "trunk-2c1p" and b["length"] == 3 and b["color"] == "f44336" for b in both)


@pytest.mark.parametrize("text", [DESIGN, PLACED, TWINS, BMCS], ids=["pods", "placed", "break-outs", "bmcs"])
def test_a_netbox_imports_every_file(tmp_path: Path, text: str) -> None:
    """A NetBox of the machine: NETBOX_ROOT is the folder of its manage.py, NETBOX_PYTHON its Python."""
    netbox, python = os.environ.get("NETBOX_ROOT"), os.environ.get("NETBOX_PYTHON")
    if not netbox or not python:
        pytest.skip("no NetBox: NETBOX_ROOT and NETBOX_PYTHON name the folder of its manage.py and its Python")
    files = {p: f for p, f in build.made(text, tmp_path, "netbox")[0].items() if p.startswith("netbox/")}
    (tmp_path / "netbox").mkdir()
    for path, data in files.items():
        (tmp_path / path).write_bytes(data)
    command = [python, str(Path(__file__).with_name("netbox_import.py")), netbox, str(tmp_path / "netbox")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    told = json.loads(done.stdout.splitlines()[-1]) if done.stdout else done.stderr
    assert told["errors"] == {}, told
    rows = {p: len(csv_rows(files, p)) for p in files if p.endswith(".csv")}
    sent = json.loads(files.get("netbox/payloads.json", b"[]"))
    assert told["added"]["device"] == rows["netbox/6-devices.csv"]
    assert told["cables"] == rows["netbox/8-cables.csv"] + sum(r["path"] == "dcim/cables/" for r in sent)
    assert told["reached"] == told["cabled"] > 0, "every cabled interface is traced to another"
    assert told["placed"] == (told["added"]["device"] if text == PLACED else 0)
    assert told["oob"] == (8 if text == BMCS else 0)
