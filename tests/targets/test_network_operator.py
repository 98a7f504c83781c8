"""The target network_operator: both operators' own definitions take the policies, and devices are of their rails."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.targets import build
from tests.targets.build import design
from tests.targets.crds import documents, jsonschema
from tests.targets.inventories import DESIGN, made

POLICY, SRIOV = "network_operator/nic-cluster-policy.yaml", "network_operator/sriov-policies.yaml"


def test_a_resource_for_each_rail(tmp_path: Path) -> None:
    files = made(DESIGN, tmp_path, "network_operator", shares=7, functions=4, version="network-operator-v26.1.0")
    (policy,) = documents(files[POLICY], "nic_cluster_policy")
    plugin = policy["spec"]["rdmaSharedDevicePlugin"]
    assert plugin["version"] == "network-operator-v26.1.0"
    told = json.loads(plugin["config"])["configList"]
    rails = {"rail0": ["eth0"], "rail1": ["eth1"]}
    assert {r["resourceName"]: r["selectors"]["ifNames"] for r in told} == rails and {r["rdmaHcaMax"] for r in told} == {7}
    found = [p["spec"] for p in documents(files[SRIOV], "sriov_network_node_policy")]
    assert {s["resourceName"]: s["nicSelector"]["pfNames"] for s in found} == rails
    assert {(s["numVfs"], s["isRdma"], s["linkType"]) for s in found} == {(4, True, "eth")}
    for path, name in ((POLICY, "nic_cluster_policy"), (SRIOV, "sriov_network_node_policy")):
        for wrong in (
            files[path].replace(b'"spec"', b'"specs"'),
            files[path].replace(b"pfNames", b"pf").replace(b'"image"', b'"img"'),
        ):
            with pytest.raises(jsonschema.ValidationError):
                documents(wrong, name)


def test_mtu_and_models(tmp_path: Path) -> None:
    """The MTU is the links'. Two models of hosts whose names agree are one list; a name of two rails and a
    bond are told."""
    found = documents(made(design("every_file_routed"), tmp_path, "network_operator")[SRIOV], "sriov_network_node_policy")
    assert [(p["spec"]["nicSelector"]["pfNames"], p["spec"]["mtu"]) for p in found] == [([f"eth{n}"], 9214) for n in range(1, 5)]
    other = 'model host MORE { port nic[2]: 400Gbps { type GE400; os "mlx5_{i}"; netdev "<name>" }; chip gpu[2]: GPU }\n'
    text = other + DESIGN.replace("  switch leaf[2]: SW", "  host more: MORE\n    switch leaf[2]: SW").replace(
        "    connect node", "    connect more.nic[r] to leaf[r]\n    connect node"
    )
    files = made(text.replace("<name>", "ens{i}"), tmp_path, "network_operator")
    told = [p["spec"]["nicSelector"]["pfNames"] for p in documents(files[SRIOV], "sriov_network_node_policy")]
    assert [sorted(names) for names in told] == [["ens0", "eth0"], ["ens1", "eth1"]]
    bonds = text.replace("<name>", "ens{i}").replace("more.nic[r] to leaf[r]", "more.nic[r] to leaf[0] { bundle 2 }")
    for unfit, told_of in (
        (text.replace("<name>", "eth{1 - i}"), r"eth[01] is of rail"),
        (bonds, "ports of su0-more are in port channels"),
    ):
        files, findings = build.made(unfit, tmp_path, "network_operator")
        assert not {POLICY, SRIOV} & set(files) and any(re.search(told_of, d.message) for d in findings)
