"""The target kubernetes: labels of nodes and the topology of Kueue."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.targets.build import design
from tests.targets.inventories import DESIGN, NODES, made, yaml


def test_labels_and_the_topology_of_kueue(tmp_path: Path, test_data: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    files = made(DESIGN, tmp_path, "kubernetes")
    crd = yaml.safe_load((test_data / "handover" / "kueue" / "kueue.x-k8s.io_topologies.yaml").read_text())
    version = next(v for v in crd["spec"]["versions"] if v["name"] == "v1beta2")
    topology = yaml.safe_load(files["kubernetes/topology.yaml"])
    jsonschema.validate(topology, version["schema"]["openAPIV3Schema"])
    keys = [level["nodeLabel"] for level in topology["spec"]["levels"]]
    assert keys == ["fabric.topograph.run/tier-1", "fabric.topograph.run/tier-0", "kubernetes.io/hostname"]
    nodes = list(yaml.safe_load_all(files["kubernetes/labels.yaml"]))
    assert [n["metadata"]["name"] for n in nodes] == NODES
    assert nodes[5]["metadata"]["labels"] == {keys[0]: "spine0", keys[1]: "su1-leaf0"}
    values = {v for n in nodes for v in n["metadata"]["labels"].values()}
    assert all(re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", v) for v in values)


def test_nodes_of_one_nvlink_domain_say_so(tmp_path: Path) -> None:
    """A rack is a domain, whichever leaves its trays have."""
    files = made(design("racks"), tmp_path, "kubernetes")
    nodes = {n["metadata"]["name"]: n["metadata"]["labels"] for n in yaml.safe_load_all(files["kubernetes/labels.yaml"])}
    domains = {name: n["accelerator.topograph.run/domain"] for name, n in nodes.items()}
    assert len(nodes) == 36 and Counter(domains.values()) == {"rack0-nvswitch0-0": 18, "rack1-nvswitch0-0": 18}
    assert all(d.startswith(name.partition("-")[0]) for name, d in domains.items())
