"""The target nautobot: every row names what is there, and a Nautobot imports every file."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from math import lcm
from pathlib import Path
from typing import Any

import pytest

from tests.tables import sections
from tests.targets import build
from tests.targets.build import csv_rows
from tests.targets.inventories import DESIGN, PLANES, made
from tests.targets.test_netbox import BMCS, PLACED, TWINS

CASSETTES = sections(__file__)["cassettes"]


@pytest.mark.parametrize("text", [DESIGN, PLANES, PLACED, TWINS], ids=["pods", "planes", "placed", "break-outs"])
@pytest.mark.parametrize("ports", ["types", "devices"])
def test_each_row_names_what_is_there(text: str, ports: str, tmp_path: Path) -> None:
    """What rows name by natural keys is in an earlier file, and a port has one cable; NetBox's files have the same objects."""
    files, _ = build.made(text, tmp_path, "nautobot", "netbox", ports=ports)
    rows = {
        p.split("/")[1].removesuffix(".csv"): csv_rows(files, p)
        for p in files
        if p.startswith("nautobot/") and p.endswith(".csv")
    }
    types = {(r["manufacturer__name"], r["model"]) for r in rows["4-device-types"]}
    assert {m for m, _ in types} == {r["name"] for r in rows["3-manufacturers"]}
    (site,) = rows["2-locations"]
    assert site["location_type__name"] == rows["1-location-types"][0]["name"]
    racks = {r["name"] for r in rows.get("6-racks", ())} | {"NoObject", ""}
    for r in rows["7-devices"]:
        assert (r["device_type__manufacturer__name"], r["device_type__model"]) in types and r["location__name"] == site["name"]
        assert r["role__name"] in {x["name"] for x in rows["5-roles"]} and r.get("rack__name", "") in racks
    model = {r["name"]: (r["device_type__manufacturer__name"], r["device_type__model"]) for r in rows["7-devices"]}
    of_types = Counter(
        (r["device_type__manufacturer__name"], r["device_type__model"], r["name"]) for r in rows.get("4a-interface-templates", ())
    )
    assert set(of_types.values()) <= {1} and bool(of_types) <= (ports == "types")
    brought = {(d, n) for d, m in model.items() for (*of, n) in of_types if tuple(of) == m}
    own = [(r["device__name"], r["name"]) for r in rows.get("8-interfaces", ())]
    assert not brought & set(own) and len(set(own)) == len(own)
    there = {
        "dcim.interface": brought | set(own),
        "dcim.rearport": {(r["device__name"], r["name"]) for r in rows.get("8a-rear-ports", ())},
        "dcim.frontport": {(r["device__name"], r["name"]) for r in rows.get("8b-front-ports", ())},
    }
    sent = json.loads(files["nautobot/payloads.json"])
    cables = [r["body"] for r in sent if r["path"] == "dcim/cables/"]
    ends = Counter((e["object_type"], e["device"], e["name"]) for c in cables for e in c["terminations"].values())
    assert set(ends.values()) == {1} and all((d, n) in there[t] for t, d, n in ends)
    of_netbox = csv_rows(files, "netbox/8-cables.csv") + [
        r for r in json.loads(files.get("netbox/payloads.json", b"[]")) if r["path"] == "dcim/cables/"
    ]
    assert len(cables) == len(of_netbox)
    assert {r["name"] for r in csv_rows(files, "netbox/6-devices.csv")} == set(model)
    kinds = {r["body"]["name"]: r["body"] for r in sent if r["path"] == "dcim/cable-types/"}
    for c in cables:
        sides = Counter(k[0] for k in c["terminations"])
        if "cable_type" in c:
            kind = kinds[c["cable_type"]["name"]]
            assert (kind["a_connectors"], kind["b_connectors"]) == (sides["a"], sides["b"]) and sides["a"] <= sides["b"]
            assert kind["total_lanes"] == lcm(sides["a"], sides["b"])
        else:
            assert sides == {"a": 1, "b": 1}


NAUTOBOT = [(DESIGN, "types"), (DESIGN, "devices"), (PLACED, "types"), (TWINS, "types"), (BMCS, "types"), (CASSETTES, "types")]


@pytest.mark.parametrize(("text", "ports"), NAUTOBOT, ids=["pods", "own-ports", "placed", "break-outs", "bmcs", "cassettes"])
def test_a_nautobot_imports_every_file(text: str, ports: str, tmp_path: Path) -> None:
    """A Nautobot of the machine: NAUTOBOT_ROOT is the folder of its nautobot_config.py, NAUTOBOT_PYTHON its Python."""
    root, python = os.environ.get("NAUTOBOT_ROOT"), os.environ.get("NAUTOBOT_PYTHON")
    if not root or not python:
        pytest.skip("no Nautobot: NAUTOBOT_ROOT and NAUTOBOT_PYTHON name the folder of its configuration and its Python")
    every, found = build.made(text, tmp_path, "nautobot", ports=ports)
    assert not [d for d in found if d.severity.word == "error"]
    files = {p: f for p, f in every.items() if p.startswith("nautobot/")}
    (tmp_path / "nautobot").mkdir()
    for path, data in files.items():
        (tmp_path / path).write_bytes(data)
    command = [python, str(Path(__file__).with_name("nautobot_import.py")), root, str(tmp_path / "nautobot")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else {"errors": done.stderr}
    assert told["errors"] == {}, told
    rows = {p.split("/")[1].removesuffix(".csv"): csv_rows(files, p) for p in files if p.endswith(".csv")}
    assert told["added"] == {n: len(r) for n, r in rows.items() if n[0] in "6789"}
    assert told["devices"] == sorted(r["name"] for r in rows["7-devices"])
    sent = json.loads(files["nautobot/payloads.json"])
    assert told["cables"] == sum(r["path"] == "dcim/cables/" for r in sent)
    assert told["reached"] == told["cabled"] > 0, "every cabled interface is traced to another"
    assert told["placed"] == (len(told["devices"]) if text == PLACED else 0)
    assert told["templates"] == len(rows.get("4a-interface-templates", ())) and (told["templates"] > 0) == (ports == "types")
    assert told["assigned"] == sum(r["path"] == "ipam/ip-address-to-interface/" for r in sent)
    assert told["primary"] == sum(bool(r.get("primary")) for r in sent)


def test_an_option_names_the_kind_of_the_location(tmp_path: Path) -> None:
    files = made(DESIGN, tmp_path, "nautobot", location_type="Building", site="B7")
    assert csv_rows(files, "nautobot/1-location-types.csv")[0]["name"] == "Building"
    assert csv_rows(files, "nautobot/2-locations.csv") == [
        {"name": "B7", "location_type__name": "Building", "status__name": "Planned"}
    ]
