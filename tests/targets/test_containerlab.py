"""The target containerlab against the schema that it publishes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.targets.inventories import DESIGN, made, yaml


def test_containerlab_has_every_link(tmp_path: Path, test_data: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = (test_data / "containerlab.schema.json").read_text().replace("\\\\p{N}\\\\p{L}", "0-9A-Za-z")
    files = made(DESIGN, tmp_path, "containerlab", "frr")
    told = yaml.safe_load(files["containerlab/fabric.clab.yml"])
    jsonschema.validate(told, json.loads(schema))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**told, "topology": {"nodez": {}}}, json.loads(schema))
    ends = [e for link in told["topology"]["links"] for e in link["endpoints"]]
    assert len(ends) == len(set(ends)) == 48 and {e.split(":")[0] for e in ends} == set(told["topology"]["nodes"])
    for name, node in told["topology"]["nodes"].items():
        mounted = [b.split(":")[0] for b in node.get("binds", []) if "frr.conf" in b]
        assert mounted == [f"../frr/{name}/frr.conf"] and f"frr/{name}/frr.conf" in files


EOS = """
model host NODE { port nic[2]: 400Gbps { type GE400; netdev "eth{i + 1}" }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
fabric f {
  host node[4]: NODE
  switch leaf[2]: ARISTA_7060X6_64PE { nos eos; split p[1..2] 2 }
  switch spine: SN5600 { nos sonic }
  connect node[n].nic[r] to leaf[r] { cable CORD }
  connect leaf[*] to spine each
  address leaf, spine loopback from 10.255.0.0/24
  routing bgp { mtu 9214 }
}
model cable CORD { rate 800Gbps; legs 2 }
"""


def test_containerlab_starts_switches_with_eos(tmp_path: Path, test_data: Path) -> None:
    """cEOS-lab takes names of the form of nodes/ceos/ceos.go, and shows `eth1_5` as `Ethernet1/5`."""
    jsonschema = pytest.importorskip("jsonschema")
    files = made(EOS, tmp_path, "containerlab", "eos", "sonic")
    told = yaml.safe_load(files["containerlab/fabric.clab.yml"])
    schema = (test_data / "containerlab.schema.json").read_text().replace("\\\\p{N}\\\\p{L}", "0-9A-Za-z")
    jsonschema.validate(told, json.loads(schema))
    nodes = told["topology"]["nodes"]
    assert nodes["leaf0"] == {"kind": "arista_ceos", "startup-config": "../eos/leaf0.cfg"} and "eos/leaf0.cfg" in files
    assert nodes["spine"] == {"kind": "linux"} and told["topology"]["kinds"]["arista_ceos"] == {"image": "ceos:4.32.0F"}
    ends = [e.split(":") for link in told["topology"]["links"] for e in link["endpoints"]]
    shown = {name.replace("eth", "Ethernet").replace("_", "/") for device, name in ends if device == "leaf0"}
    assert all(re.fullmatch(r"eth[1-9][\w.]*", name) for device, name in ends if device == "leaf0")
    assert shown == set(re.findall(r"^interface (Ethernet\S+)$", files["eos/leaf0.cfg"].decode(), re.M))
