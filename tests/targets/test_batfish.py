"""The target batfish: every link in both directions, with the fields that Batfish asks for."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from tests.harness import fabric_of
from tests.targets.build import design, files_of, port_names, rows
from tests.targets.inventories import DESIGN, made


def test_every_link_in_both_directions(tmp_path: Path) -> None:
    """Layer1Edge and Layer1Node of Batfish, projects/common/src/main/java/org/batfish/common/topology."""
    files = made(DESIGN, tmp_path, "batfish")
    told = json.loads(files["batfish/layer1_topology.json"])
    assert set(told) == {"edges"} and all(set(e) == {"node1", "node2"} for e in told["edges"])
    ends = [[(n["hostname"], n["interfaceName"]) for n in (e["node1"], e["node2"])] for e in told["edges"]]
    name = port_names(files)
    netdev = {"mlx5_0": "eth0", "mlx5_1": "eth1"}
    links = []
    for link in rows(files, "links"):
        a, b = ((link[f"{s}_device"], name(link[f"{s}_device"], link[f"{s}_port"])) for s in "ab")
        links.append([(device, netdev.get(port, port)) for device, port in (a, b)])
    assert Counter(map(tuple, ends)) == Counter(map(tuple, [*links, *(link[::-1] for link in links)])) and len(links) == 24


def test_names_are_in_small_letters_and_infiniband_is_left_out(tmp_path: Path) -> None:
    text = DESIGN.replace("  nos frr", '  nos frr\n  naming spine[s] "SPINE{s}"')
    told = json.loads(made(text, tmp_path, "batfish")["batfish/layer1_topology.json"])
    assert {e["node2"]["hostname"] for e in told["edges"]} >= {"spine0", "spine1"}
    files, found = files_of(fabric_of(design("spectrum_x"), tmp_path), "batfish")
    assert "batfish/layer1_topology.json" not in files and {d.code for d in found} <= {"E0506", "E0516"}
