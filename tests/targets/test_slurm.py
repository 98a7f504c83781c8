"""The target slurm: slurmctld loads the tree, and blocks are the scale-up domains."""

from __future__ import annotations

from pathlib import Path

from tests.targets.build import design
from tests.targets.inventories import DESIGN, NODES, PLANES, made, slurm_loads, tree, yaml


def test_slurmctld_loads_the_tree(tmp_path: Path) -> None:
    """Every node under the one leaf that it has, and one root. topology.yaml has the tree and blocks: slurmctld asks for the name
    as the first key, and for one kind each (man topology.yaml)."""
    files = made(DESIGN, tmp_path, "slurm")
    told = slurm_loads(files["slurm/conf/topology.conf"], NODES, tmp_path)
    assert "SwitchName=su0-leaf0 Level=0" in told and "Nodes=su0-node[0-3]" in told and "SwitchName=spine0 Level=1" in told
    fabric, blocks = yaml.safe_load(files["slurm/topology.yaml"])
    assert next(iter(fabric)) == next(iter(blocks)) == "topology"
    assert (fabric["cluster_default"], blocks["cluster_default"]) == (True, False)
    switches = {s["switch"]: s.get("children", "").split(",") + s.get("nodes", "").split(",") for s in fabric["tree"]["switches"]}
    assert sorted(n for s in switches.values() for n in s if "node" in n) == NODES
    assert switches["spine0"][:2] == ["su0-leaf0", "su1-leaf0"]
    assert blocks["block"]["block_sizes"] == [4] and len(blocks["block"]["blocks"]) == 2


def test_blocks_are_the_scale_up_domains_that_span_hosts(tmp_path: Path) -> None:
    """Racks of 18 trays, each one NVLink domain, although rails lead from a rack to several leaves."""
    block = yaml.safe_load(made(design("racks"), tmp_path, "slurm")["slurm/topology.yaml"])[1]["block"]
    racks = [(f"rack{k}-nvswitch0-0", [f"rack{k}-tray{t}" for t in range(18)]) for k in range(2)]
    assert block["block_sizes"] == [18] and [(b["block"], b["nodes"].split(",")) for b in block["blocks"]] == racks


def test_planes_and_rails_are_one_tree(tmp_path: Path) -> None:
    """A node under one leaf, although it meets a leaf of each plane; storage runs no jobs. Switches beside each other have one
    above."""
    found = tree(made(PLANES, tmp_path, "slurm")["slurm/conf/topology.conf"].decode())
    assert found == {
        "plane0-leaf0": (["node0", "node1"], []), "plane0-leaf1": (["node2", "node3"], []),
        "plane0-spine": ([], ["plane0-leaf0", "plane0-leaf1"]),
    }  # fmt: skip
    ring = "fabric ring {\n  host node[4]: NODE\n  switch s[4]: SW\n  connect node[n].nic[(0)] to s[n]\n  connect s[*] ring\n}\n"
    found = tree(made(PLANES.split("fabric")[0] + ring, tmp_path, "slurm")["slurm/conf/topology.conf"].decode())
    assert {k: v[0] for k, v in found.items() if v[0]} == {f"s{n}": [f"node{n}"] for n in range(4)}
    assert [v[1] for v in found.values() if v[1]] == [["s0", "s1", "s2", "s3"]]
