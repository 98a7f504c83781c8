"""The target slurm: slurmctld loads the tree, and blocks are the scale-up domains."""

from __future__ import annotations

import random
from pathlib import Path

from tdsl.emit.quote import folded_host_list
from tests.conftest import need_program
from tests.targets.build import design
from tests.targets.inventories import DESIGN, NODES, PLANES, host_list, made, run, slurm_loads, tree, yaml


def test_slurmctld_loads_the_tree(tmp_path: Path) -> None:
    """Every node under the one leaf that it has, and one root. topology.yaml has the tree and blocks: slurmctld asks for the name
    as the first key, and for one kind each (man topology.yaml)."""
    files = made(DESIGN, tmp_path, "slurm")
    told = slurm_loads(files["slurm/conf/topology.conf"], NODES, tmp_path)
    assert "SwitchName=su0-leaf0 Level=0" in told and "Nodes=su0-node[0-3]" in told and "SwitchName=spine0 Level=1" in told
    fabric, blocks = yaml.safe_load(files["slurm/topology.yaml"])
    assert next(iter(fabric)) == next(iter(blocks)) == "topology"
    assert (fabric["cluster_default"], blocks["cluster_default"]) == (True, False)
    switches = {s["switch"]: host_list(s.get("children", "")) + host_list(s.get("nodes", "")) for s in fabric["tree"]["switches"]}
    assert sorted(n for s in switches.values() for n in s if "node" in n) == NODES
    assert switches["spine0"][:2] == ["su0-leaf0", "su1-leaf0"]
    assert blocks["block"]["block_sizes"] == [4] and len(blocks["block"]["blocks"]) == 2


def test_blocks_are_the_scale_up_domains_that_span_hosts(tmp_path: Path) -> None:
    """Racks of 18 trays, each one NVLink domain, although rails lead from a rack to several leaves."""
    block = yaml.safe_load(made(design("racks"), tmp_path, "slurm")["slurm/topology.yaml"])[1]["block"]
    racks = [(f"rack{k}-nvswitch0-0", [f"rack{k}-tray{t}" for t in range(18)]) for k in range(2)]
    assert block["block_sizes"] == [18] and [(b["block"], host_list(b["nodes"])) for b in block["blocks"]] == racks


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


def test_scontrol_reads_the_names_of_folded_lists(tmp_path: Path) -> None:
    """Gaps, leading zeros, names without a number, and stems that begin alike."""
    scontrol = need_program("scontrol", "slurm-client")
    (tmp_path / "slurm.conf").write_text("ClusterName=t\nSlurmctldHost=localhost\n")
    seeded = random.Random(5)
    for _ in range(20):
        stems = seeded.sample(["n", "n1-", "rack0-node", "a.b_", "n-x"], 3)
        names = [f"{s}{n:0{w}d}" for s in stems for w in (seeded.choice([1, 3]),) for n in range(120) if seeded.random() < 0.6]
        names.insert(seeded.randrange(len(names)), "login")
        text = folded_host_list(names)
        told = run(scontrol, "show", "hostnames", text, SLURM_CONF=str(tmp_path / "slurm.conf")).stdout.split()
        assert sorted(told) == sorted(host_list(text)) == sorted(names)
    assert folded_host_list([f"n{k:02d}" for k in range(8, 12)]) == "n[08-11]"
    assert folded_host_list(["n9", "n10", "n010", "x1"]) == "n[9-10,010],x1"
