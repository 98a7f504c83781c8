"""The target topograph: its models by the rules of topograph's pkg/models/model.go."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.targets.build import design
from tests.targets.inventories import DESIGN, NODES, PLANES, made, tree, yaml

DOMAIN = "accelerator.topology.test/domain"
SMALL = """\
switches:
  S1: {switches: [S2, S3]}
blocks:
- {switch: S2, nodes: [a, b], annotations: {accelerator.topology.test/domain: nvl2}}
- {switch: S3, nodes: [c]}
"""


def model(text: str | bytes) -> dict[str, tuple[list[str], str]]:
    """Node -> its switches from the nearest, and its domain, as ``NewModelFromData`` derives them."""
    read: dict[str, Any] = yaml.safe_load(text)
    assert set(read) == {"switches", "blocks"}
    switches = {name: facts or {} for name, facts in read["switches"].items()}
    parent: dict[str, str] = {}
    for name, facts in switches.items():
        assert set(facts) <= {"switches", "labels", "annotations"}
        for child in facts.get("switches", ()):
            assert child not in parent, f"{child} has two parents"
            parent[child] = name
    out: dict[str, tuple[list[str], str]] = {}
    for block in read["blocks"]:
        assert set(block) <= {"switch", "nodes", "annotations"} and block["nodes"]
        assert block["switch"] in {*switches, *parent}, "an unknown switch"
        layers = [block["switch"]]
        while layers[-1] in parent:
            layers.append(parent[layers[-1]])
            assert len(set(layers)) == len(layers)
        for node in block["nodes"]:
            assert node not in out and not set(node) & set("[],"), node  # of two blocks, or a range
            out[node] = layers, block.get("annotations", {}).get(DOMAIN, "")
    return out


def test_the_judge_reads_a_model_and_can_say_no() -> None:
    assert model(SMALL) == {"a": (["S2", "S1"], "nvl2"), "b": (["S2", "S1"], "nvl2"), "c": (["S3", "S1"], "")}
    for wrong in (
        SMALL.replace("[c]", "[a]"),
        SMALL.replace("switch: S3", "switch: S4"),
        SMALL.replace("[S2, S3]", "[S2, S3, S2]"),
    ):
        with pytest.raises(AssertionError):
            model(wrong)


@pytest.mark.parametrize("text", [DESIGN, PLANES, design("racks")])
def test_nodes_are_where_slurm_has_them(text: str, tmp_path: Path) -> None:
    files = made(text, tmp_path, "topograph", "slurm", "kubernetes")
    found = model(files["topograph/model.yaml"])
    above = {child: name for name, (_, below) in tree(files["slurm/conf/topology.conf"].decode()).items() for child in below}
    leaf = {n: name for name, (nodes, _) in tree(files["slurm/conf/topology.conf"].decode()).items() for n in nodes if n}
    assert set(leaf) == set(found) and (text != DESIGN or sorted(found) == NODES)
    for node, (layers, _) in found.items():
        way = [leaf[node]]
        while way[-1] in above:
            way.append(above[way[-1]])
        assert layers == way
    labels = {n["metadata"]["name"]: n["metadata"]["labels"] for n in yaml.safe_load_all(files["kubernetes/labels.yaml"])}
    domains = {node: of.get("accelerator.topograph.run/domain", "") for node, of in labels.items()}
    assert domains == {node: domain for node, (_, domain) in found.items()}
    told = json.loads(files["topograph/instances.json"])["instances"]
    assert {
        i["id"]: (i["network_layers"], i.get("labels", {}).get("accelerator.topograph.run/domain", "")) for i in told
    } == found
