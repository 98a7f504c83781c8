"""The target network_operator: both operators' own definitions take the policies, and devices are of their rails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
    """The MTU is the links'. Two models of hosts whose names agree are one list; others have policies of their own."""
    found = documents(made(design("every_file_routed"), tmp_path, "network_operator")[SRIOV], "sriov_network_node_policy")
    assert [(p["spec"]["nicSelector"]["pfNames"], p["spec"]["mtu"]) for p in found] == [([f"eth{n}"], 9214) for n in range(1, 5)]
    other = 'model host MORE_HOST { port nic[2]: 400Gbps { type GE400; os "mlx5_{i}"; netdev "<name>" }; chip gpu[2]: GPU }\n'
    text = other + DESIGN.replace("  switch leaf[2]: SW", "  host more: MORE_HOST\n    switch leaf[2]: SW").replace(
        "    connect node", "    connect more.nic[r] to leaf[r]\n    connect node"
    )
    files = made(text.replace("<name>", "ens{i}"), tmp_path, "network_operator")
    told = [p["spec"]["nicSelector"]["pfNames"] for p in documents(files[SRIOV], "sriov_network_node_policy")]
    assert [sorted(names) for names in told] == [["ens0", "eth0"], ["ens1", "eth1"]]
    # a bond of other names is left out; one of the same, or a name of another rail, makes a policy for each model
    bonded = text.replace("more.nic[r] to leaf[r]", "more.nic[r] to leaf[0] { bundle 2 }")
    told = policies(bonded.replace("<name>", "ens{i}"), tmp_path)
    assert [(p["selector"], p["names"]) for p in told] == [({}, ["eth0"]), ({}, ["eth1"])]
    for design_text, names in (
        (
            text.replace("<name>", "eth{1 - i}"),
            {"MORE_HOST-0": ["eth1"], "MORE_HOST-1": ["eth0"], "NODE-0": ["eth0"], "NODE-1": ["eth1"]},
        ),
        (bonded.replace("<name>", "eth{i}"), {"NODE-0": ["eth0"], "NODE-1": ["eth1"]}),
    ):
        told = policies(design_text, tmp_path)
        assert {f"{p['selector'].get('tdsl/host-model')}-{p['rail']}": p["names"] for p in told} == names
        files = made(design_text, tmp_path, "network_operator", "kubernetes")
        assert POLICY not in files, "one in a cluster, which cannot tell the hosts apart"
        labels = {m: files["kubernetes/labels.yaml"].count(f'tdsl/host-model: "{m}"'.encode()) for m in ("NODE", "MORE_HOST")}
        assert labels == {"NODE": 8, "MORE_HOST": 2}
    every = bonded.replace("<name>", "ens{i}").replace(
        "connect node[n].nic[r] to leaf[r]", "connect node[n].nic[r] to leaf[0] { bundle 2 }"
    )
    assert every != bonded.replace("<name>", "ens{i}"), "the design has another connect"
    files, findings = build.made(every, tmp_path, "network_operator")
    assert not {POLICY, SRIOV} & set(files) and any("are in port channels" in d.message for d in findings)


def policies(text: str, tmp_path: Path) -> list[dict[str, Any]]:
    """Rail, names of network devices, and labels of nodes beyond that of an adapter, of each policy."""
    found = documents(made(text, tmp_path, "network_operator")[SRIOV], "sriov_network_node_policy")
    assert len({p["metadata"]["name"] for p in found}) == len(found)
    return [
        {
            "rail": p["spec"]["resourceName"].removeprefix("rail"),
            "names": p["spec"]["nicSelector"]["pfNames"],
            "selector": {k: v for k, v in p["spec"]["nodeSelector"].items() if "pci-15b3" not in k},
        }
        for p in found
    ]
