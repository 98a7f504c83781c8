"""The target astra_sim: the same graph as SimAI's, and dimensions that its own network takes."""

from __future__ import annotations

import json
import os
import subprocess
from math import prod
from pathlib import Path

import pytest
import yaml

from tests.conftest import need_program
from tests.targets.build import design, made
from tests.targets.simulators import RAILS, SHARED, read_astra, read_simai

SITES = design("two_sites")


@pytest.mark.parametrize(
    ("text", "dims", "bandwidth"),
    # of the second, two hosts a pod; 4 uplinks of 400 Gb/s for 16 accelerators
    [(RAILS, [8, 4], [450.0, 50.0]), (SHARED, [8, 2], [25.0, 12.5])],
)
def test_the_graph_of_simai_and_dimensions(
    text: str, dims: list[int], bandwidth: list[float], tmp_path: Path, test_data: Path
) -> None:
    files, _ = made(text, tmp_path, "simai", "astra_sim")
    graph = read_astra(files["astra_sim/physical_topology.txt"].decode())
    assert graph == read_simai(files["simai/topology"].decode()) and prod(dims) == min(graph[0])
    found = yaml.safe_load(files["astra_sim/network.yml"])
    assert (found["npus_count"], found["bandwidth"]) == (dims, bandwidth)
    for network in (found, yaml.safe_load((test_data / "handover" / "astra_sim" / "hgx_h100_16gpu.yml").read_text())):
        assert set(network["topology"]) <= {"Ring", "Switch", "FullyConnected"}
        assert len({len(network[k]) for k in ("topology", "npus_count", "bandwidth", "latency")}) == 1
    if text == SHARED:
        assert json.loads(files["astra_sim/logical_topology.json"]) == {"logical-dims": ["4", "4"]}


def test_astra_sims_own_network_takes_the_dimensions(tmp_path: Path) -> None:
    """The analytical back end, built from a checkout of astra-network-analytical with g++ and yaml-cpp: as many accelerators, and
    the time of 1 MB within a host and between two, at the bandwidth and latency of the dimension."""
    source = os.environ.get("ASTRA_SIM_ANALYTICAL")
    if not source:
        pytest.skip("no ASTRA-sim: ASTRA_SIM_ANALYTICAL names a checkout of astra-sim/astra-network-analytical")
    root, program = Path(source), tmp_path / "judge"
    parts = ["congestion_unaware/*topology/*.cpp", "common/*.cpp", "common/event-queue/*.cpp", "common/network-parser/*.cpp"]
    files = [str(p) for part in parts for p in sorted(root.glob(part))]
    include = [f"-I{root}/include", f"-I{root}/include/astra-network-analytical"]
    own = str(Path(__file__).with_name("astra_network.cpp"))
    compiler = need_program("g++", "g++")
    subprocess.run([compiler, "-std=c++17", *include, *files, own, "-lyaml-cpp", "-o", program], check=True, timeout=300)
    for text, count in ((RAILS, 32), (SHARED, 16), (SITES, 32)):
        built, _ = made(text, tmp_path, "astra_sim")
        network = tmp_path / "network.yml"
        network.write_bytes(built["astra_sim/network.yml"])
        said = yaml.safe_load(network.read_text())
        for dim in range(len(said["npus_count"])):
            far = prod(said["npus_count"][:dim])
            done = subprocess.run([program, network, "0", str(far)], capture_output=True, text=True, timeout=60, check=True)
            npus, time = map(int, done.stdout.split())
            # a Switch is two links: its bandwidth once, its latency twice (Switch.cpp); GB/s are 2^30 bytes there
            expected = 2 * said["latency"][dim] + 2**20 / (said["bandwidth"][dim] * 2**30 / 10**9)
            assert npus == count and abs(time - expected) <= 2
        network.write_text(network.read_text().replace("Switch", "Swich"))
        assert subprocess.run([program, network, "0", "1"], capture_output=True, timeout=60, check=False).returncode != 0


def test_hosts_that_are_not_joined_are_no_dimension(tmp_path: Path) -> None:
    apart = SHARED.replace("connect pod[*].leaf[*] to spine each", "connect pod[(0)].leaf[*] to spine each")
    files, found = made(apart, tmp_path, "astra_sim")
    assert "astra_sim/network.yml" not in files and "astra_sim/physical_topology.txt" in files
    assert [d.code for d in found] == ["E0511"] and "not all hosts are joined" in found[0].message


def test_sites_far_apart(tmp_path: Path) -> None:
    """Two sites of 16 accelerators and one link of 400 Gb/s, 100 km long: 25 Gb/s for each, and 490 us on the way, which a
    switch of ASTRA-sim takes as two halves."""
    files, found = made(SITES, tmp_path, "astra_sim", "simai")
    assert not found
    said = yaml.safe_load(files["astra_sim/network.yml"])
    assert (said["npus_count"], said["bandwidth"]) == ([8, 2, 2], [450.0, 50.0, 3.125])
    assert 2 * said["latency"][2] == 2 * 500 + 500 + 490_000
    for path in ("astra_sim/physical_topology.txt", "simai/topology"):
        assert files[path].decode().split("\n")[-2].split()[2:4] == ["400Gbps", "0.4905ms"], path
