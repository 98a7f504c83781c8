"""The target netbox: every row names what is there, and a NetBox imports every file."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.targets.build import csv_rows, design
from tests.targets.inventories import DESIGN, PLANES, made

FIELDS = {
    "1-manufacturers": {"name", "slug"}, "2-device-types": {"manufacturer", "model", "slug", "u_height"},
    "3-device-roles": {"name", "slug", "color"}, "4-sites": {"name", "slug", "status"},
    "6-devices": {"name", "role", "manufacturer", "device_type", "site", "status", "rack", "position", "face"},
    "7-interfaces": {"device", "name", "label", "type", "speed", "enabled"},
    "8-cables": {"side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name", "status", "label"},
}  # fmt: skip
"""What NetBox 4.6 asks for, and some of what it takes (netbox/dcim/forms/bulk_import.py)."""


@pytest.mark.parametrize("text", [DESIGN, PLANES])
def test_netbox_finds_what_each_row_names(tmp_path: Path, test_data: Path, text: str) -> None:
    files = made(text, tmp_path, "netbox", "json")
    tables = {n: csv_rows(files, f"netbox/{n}.csv") for n in FIELDS}
    assert all(set(rows[0]) == FIELDS[n] for n, rows in tables.items())
    names = {n: [r.get("name", r.get("model", "")) for r in rows] for n, rows in tables.items()}
    for r in tables["6-devices"]:
        assert r["manufacturer"] in names["1-manufacturers"] and r["device_type"] in names["2-device-types"]
        assert r["role"] in names["3-device-roles"] and r["site"] in names["4-sites"]
    assert all(re.fullmatch(r"[-a-z0-9_]+", r["slug"]) for n in list(FIELDS)[:4] for r in tables[n])
    ports = [(r["device"], r["name"]) for r in tables["7-interfaces"]]
    assert len(set(ports)) == len(ports) and {d for d, _ in ports} <= set(names["6-devices"])
    ends = [(r[f"side_{s}_device"], r[f"side_{s}_name"]) for r in tables["8-cables"] for s in "ab"]
    assert sorted(ends) == sorted(ports), "each interface has one cable"
    assert len(tables["8-cables"]) == len(json.loads(files["fabric.json"])["links"]["rows"])
    schema = json.loads((test_data / "handover" / "netbox" / "generated_schema.json").read_text())
    known = schema["definitions"]["interface"]["properties"]["type"]["enum"]
    assert {r["type"] for r in tables["7-interfaces"]} <= set(known)


PLACED = design("netbox_racks")


def test_netbox_has_racks_positions_and_types(tmp_path: Path) -> None:
    files = made(PLACED, tmp_path, "netbox")
    racks = [(r["site"], r["name"], r["u_height"]) for r in csv_rows(files, "netbox/5-racks.csv")]
    assert racks == [("Two racks", "h1.A01", "48"), ("Two racks", "h1.A02", "48")]
    rows = {r["name"]: r for r in csv_rows(files, "netbox/6-devices.csv")}
    assert (rows["node1"]["rack"], rows["node1"]["position"], rows["leaf3"]["position"]) == ("h1.A01", "9", "13")
    types = {r["model"]: r["u_height"] for r in csv_rows(files, "netbox/2-device-types.csv")}
    assert types == {"DGX_H100": "8", "QM9700": "1"}
    ports = {(r["type"], r["speed"]) for r in csv_rows(files, "netbox/7-interfaces.csv")}
    assert ports == {("infiniband-ndr", "400000000")}
    osfp = 'model host NODE { port nic: 800Gbps { type GE800; os "eth0" } }\n'
    osfp += "fabric f { host node[2]: NODE; switch leaf: SN5600; connect node[n].nic to leaf }\n"
    ports = csv_rows(made(osfp, tmp_path, "netbox"), "netbox/7-interfaces.csv")
    assert {r["device"][:4]: r["type"] for r in ports} == {"node": "other", "leaf": "800gbase-x-osfp"}


@pytest.mark.parametrize("text", [DESIGN, PLANES, PLACED], ids=["pods", "planes", "placed"])
def test_a_netbox_imports_every_file(tmp_path: Path, text: str) -> None:
    """A NetBox of the machine: NETBOX_ROOT is the folder of its manage.py, NETBOX_PYTHON its Python."""
    netbox, python = os.environ.get("NETBOX_ROOT"), os.environ.get("NETBOX_PYTHON")
    if not netbox or not python:
        pytest.skip("no NetBox: NETBOX_ROOT and NETBOX_PYTHON name the folder of its manage.py and its Python")
    files = {p: f for p, f in made(text, tmp_path, "netbox").items() if p.startswith("netbox/")}
    (tmp_path / "netbox").mkdir()
    for path, data in files.items():
        (tmp_path / path).write_bytes(data)
    command = [python, str(Path(__file__).with_name("netbox_import.py")), netbox, str(tmp_path / "netbox")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    told = json.loads(done.stdout.splitlines()[-1]) if done.stdout else done.stderr
    assert told["errors"] == {}, told
    rows = {p: len(csv_rows(files, p)) for p in files}
    assert told["added"]["device"] == rows["netbox/6-devices.csv"] and told["added"]["cable"] == rows["netbox/8-cables.csv"]
    assert told["cabled"] == 2 * told["added"]["cable"] and told["placed"] == (told["added"]["device"] if text == PLACED else 0)
