"""The target air: the fields of Air's API, and the links of the design."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.targets import build
from tests.targets.build import design
from tests.targets.inventories import DESIGN, made


def simulation(data: bytes | str) -> dict[str, Any]:
    """The content of a document of Air's JSON format, whose fields are those of its API (TopologyFormatFullJSON): nodes with an
    image, links of two interfaces of nodes that are there, no interface twice."""
    told: dict[str, Any] = json.loads(data)
    assert set(told) == {"format", "name", "ztp", "content"} and told["format"] == "JSON" and told["name"]
    content: dict[str, Any] = told["content"]
    assert set(content) == {"nodes", "links", "oob"} and isinstance(content["oob"], bool)
    for node in content["nodes"].values():
        assert node["os"] and all(isinstance(node[k], int) for k in ("cpu", "memory", "storage"))
    ends = [(end["node"], end["interface"]) for link in content["links"] for end in link]
    assert all(len(link) == 2 for link in content["links"]) and len(set(ends)) == len(ends)
    assert {node for node, _ in ends} <= set(content["nodes"])
    return content


def test_nodes_and_links(tmp_path: Path, test_data: Path) -> None:
    simulation((test_data / "handover" / "air" / "air-export_without_oob.json").read_text())
    content = simulation(made(DESIGN, tmp_path, "air", switch_os="cumulus-vx-5.15.0")["air/simulation.json"])
    assert len(content["nodes"]) == 14 and len(content["links"]) == 24 and content["oob"] is False
    assert content["nodes"]["spine0"]["os"] == "cumulus-vx-5.15.0" and content["nodes"]["su0-node0"]["os"] == "generic/ubuntu2404"
    first = [{"interface": "eth0", "node": "su0-node0"}, {"interface": "swp1", "node": "su0-leaf0"}]
    assert content["links"][0] == first


def test_airs_management_takes_no_interface_of_the_design(tmp_path: Path) -> None:
    files, found = build.made(DESIGN, tmp_path, "air", oob=True)
    assert "air/simulation.json" not in files and "eth0 of su0-node0" in found[0].message
    content = simulation(made(design("leaf_spine"), tmp_path, "air", oob=True)["air/simulation.json"])
    assert content["oob"] is True
    named = design("leaf_spine").replace("  routing", '  naming spine[(0)] "oob-mgmt-switch"\n  routing')
    files, found = build.made(named, tmp_path, "air", oob=True)
    assert "air/simulation.json" not in files and "oob-mgmt-switch" in found[0].message
