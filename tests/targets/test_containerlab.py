"""The target containerlab against the schema that it publishes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.targets.build import design
from tests.targets.inventories import DESIGN, made, yaml

jsonschema = pytest.importorskip("jsonschema")


def judged(files: dict[str, bytes], test_data: Path) -> dict[str, Any]:
    """The laboratory, once the schema has held it; one with another word it refuses."""
    schema = json.loads((test_data / "containerlab.schema.json").read_text().replace("\\\\p{N}\\\\p{L}", "0-9A-Za-z"))
    told: dict[str, Any] = yaml.safe_load(files["containerlab/fabric.clab.yml"])
    jsonschema.validate(told, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**told, "topology": {"nodez": {}}}, schema)
    return told["topology"]  # type: ignore[no-any-return]


def test_containerlab_has_every_link(tmp_path: Path, test_data: Path) -> None:
    files = made(DESIGN, tmp_path, "containerlab", "frr")
    told = judged(files, test_data)
    ends = [e for link in told["links"] for e in link["endpoints"]]
    assert len(ends) == len(set(ends)) == 48 and {e.split(":")[0] for e in ends} == set(told["nodes"])
    for name, node in told["nodes"].items():
        mounted = [b.split(":")[0] for b in node.get("binds", []) if "frr.conf" in b]
        assert mounted == [f"../frr/{name}/frr.conf"] and f"frr/{name}/frr.conf" in files


def test_containerlab_starts_switches_with_eos(tmp_path: Path, test_data: Path) -> None:
    """cEOS-lab takes names of the form of nodes/ceos/ceos.go, and shows `eth1_5` as `Ethernet1/5`."""
    files = made(design("clab_eos"), tmp_path, "containerlab", "eos", "sonic")
    told = judged(files, test_data)
    assert told["nodes"]["leaf0"] == {"kind": "arista_ceos", "startup-config": "../eos/leaf0.cfg"}
    assert told["nodes"]["spine"] == {"kind": "linux"} and told["kinds"]["arista_ceos"] == {"image": "ceos:4.32.0F"}
    ends = [e.split(":") for link in told["links"] for e in link["endpoints"]]
    names = [name for device, name in ends if device == "leaf0"]
    assert all(re.fullmatch(r"eth[1-9][\w.]*", name) for name in names)
    shown = {name.replace("eth", "Ethernet").replace("_", "/") for name in names}
    assert shown == set(re.findall(r"^interface (Ethernet\S+)$", files["eos/leaf0.cfg"].decode(), re.M))
