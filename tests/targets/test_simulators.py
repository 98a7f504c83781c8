"""Targets for simulators of training: infragraph's own package, and readers of the formats of SimAI and ASTRA-sim that read the
files of those projects, too."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import Counter
from math import prod
from pathlib import Path
from typing import Any

import pytest
import yaml

from tdsl.emit.build import BuildOptions, build_files
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tests.conftest import need_program
from tests.harness import fabric_of

RAILS = """
fabric rails {
  host node[4]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 2
  host ufm: UFM { role manager }
  connect ufm.p[1] to leaf[(0)]
}
"""
SHARED = """
model chip GPU { port lane: 400Gbps }
model switch SW { port p[1..64]: 400Gbps { type GE400 } }
model host NODE { port nic[2]: 400Gbps { type GE400 }; chip gpu[4]: GPU }
fabric shared {
  pod pod[2] {
    host node[2]: NODE
    switch leaf[2]: SW
    connect node[n].nic[i] to leaf[i]
  }
  switch spine: SW
  connect pod[*].leaf[*] to spine each
}
"""
SPECTRUM_X = """
model switch WIDE { port p[1..128]: 400Gbps { type NDR } }
fabric spectrum_x {
  host node[2]: DGX_H100
  switch leaf[8]: WIDE
  switch spine[64]: WIDE
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] each
}
"""
Graph = tuple[list[int], list[tuple[int, int, float]]]


def made(text: str, place: Path, *targets: str, **settings: object) -> tuple[dict[str, bytes], list[Diagnostic]]:
    """The files of targets and fabric.json, and the findings of their own."""
    found = Diagnostics()
    options = BuildOptions(settings=dict.fromkeys(targets, settings) if settings else {})
    files = build_files(fabric_of(text, place, models=False), [*targets, "json"], found, options)
    return files, list(found)


def rows(files: dict[str, bytes], table: str) -> list[dict[str, Any]]:
    data = json.loads(files["fabric.json"])[table]
    return [dict(zip(data["columns"], r, strict=True)) for r in data["rows"]]


def read_simai(text: str) -> Graph:
    """As SimAI's common.h reads it: six words, the numbers of switches, and five words a link."""
    words = text.split()
    nodes, _, inner, switches, links = map(int, words[:5])
    assert re.fullmatch(r"[A-Z]+\d*", words[5])
    return _links(words[6:], nodes, inner + switches, links)


def read_astra(text: str) -> Graph:
    """As ASTRA-sim's ns-3 back end reads it: three words, the numbers of switches, and five words a link."""
    words = text.split()
    nodes, switches, links = map(int, words[:3])
    return _links(words[3:], nodes, switches, links)


def _links(words: list[str], nodes: int, switches: int, links: int) -> Graph:
    numbers = [int(w) for w in words[:switches]]
    rest = words[switches:]
    assert len(rest) == 5 * links and len(set(numbers)) == switches and all(n < nodes for n in numbers)
    out = []
    for a, b, rate, latency, error in zip(*(rest[k::5] for k in range(5)), strict=True):
        assert int(a) < nodes and int(b) < nodes and latency.endswith("ms") and float(latency[:-2]) > 0 and float(error) >= 0
        out.append((int(a), int(b), float(rate.removesuffix("Gbps"))))
    return numbers, out


@pytest.mark.parametrize("text", [RAILS, SHARED, SPECTRUM_X], ids=["rails", "shared", "spectrum_x"])
def test_infragraph_loads_it_with_every_link(text: str, tmp_path: Path) -> None:
    infragraph = pytest.importorskip("infragraph")
    from infragraph.infragraph_service import InfraGraphService

    files, _ = made(text, tmp_path, "infragraph")
    document = json.loads(files["infragraph/fabric.yaml"])
    service = InfraGraphService()
    service.set_graph(infragraph.Infrastructure().deserialize(files["infragraph/fabric.yaml"].decode()))
    graph = service.get_networkx_graph()
    devices = {(x["instance"], x["instance_idx"]) for _, x in graph.nodes(data=True)}
    assert len(devices) == len(rows(files, "devices")) - sum(d["kind"] == "chip" for d in rows(files, "devices"))
    at = {name: (x["instance"], x["instance_idx"]) for name, x in graph.nodes(data=True)}
    outside = [(at[a], at[b]) for a, b in graph.edges() if at[a] != at[b]]
    links = rows(files, "links")
    assert len(outside) == len(links)
    order: dict[str, list[str]] = {}
    for d in rows(files, "devices"):
        order.setdefault(re.sub(r"\[[^\]]*\]", "", d["path"]).replace(".", "-"), []).append(d["name"])
    named = Counter(frozenset((order[i][k], order[j][m])) for (i, k), (j, m) in outside)
    assert named == Counter(frozenset((x["a_device"], x["b_device"])) for x in links)
    assert {e["link"] for e in document["edges"]} == {x["name"] for x in document["links"]}


def test_infragraph_refuses_what_is_wrong(tmp_path: Path) -> None:
    infragraph = pytest.importorskip("infragraph")
    from infragraph.infragraph_service import InfraGraphService

    files, _ = made(RAILS, tmp_path, "infragraph")
    document = json.loads(files["infragraph/fabric.yaml"])
    document["instances"][0]["device"] = "NOBODY"
    with pytest.raises(Exception):  # noqa: B017
        InfraGraphService().set_graph(infragraph.Infrastructure().deserialize(json.dumps(document)))


def test_simai_has_every_link_of_an_accelerator(tmp_path: Path) -> None:
    files, _ = made(RAILS, tmp_path, "simai")
    text = files["simai/topology"].decode()
    assert text.startswith("46 8 4 10 80 H100\n")
    switches, links = read_simai(text)
    assert switches == list(range(32, 46))
    inside = [x for x in links if 32 <= x[1] < 36]
    assert len(inside) == 32 and {r for *_, r in inside} == {3600.0}, "18 NVLinks of 200 Gb/s"
    # rail r of each host leads to leaf r; the manager has no accelerators
    assert {(a, b) for a, b, _ in links if b >= 36 and a < 32} == {(8 * n + r, 36 + r) for n in range(4) for r in range(8)}
    assert Counter((a, b) for a, b, _ in links if a >= 36) == {(36 + r, 44 + s): 1 for r in range(8) for s in range(2)}


def test_the_files_of_simai_itself_read_alike(tmp_path: Path, test_data: Path) -> None:
    """For the Spectrum-X fabric of 16 GPUs the links are those that SimAI's own generator wrote, but for the NVLinks, of which it
    takes the H800's rate."""
    own = (test_data / "handover" / "simai" / "Spectrum-X_16g_8gps_400Gbps_H100").read_text()
    files, _ = made(SPECTRUM_X, tmp_path, "simai")
    text = files["simai/topology"].decode()
    assert text.splitlines()[:2] == own.splitlines()[:2]
    assert text.replace("3600Gbps", "2880Gbps").split() == own.split()
    assert read_simai(own)[0] == read_simai(text)[0]


def test_astra_sim_has_the_same_graph(tmp_path: Path) -> None:
    for text in (RAILS, SHARED):
        files, _ = made(text, tmp_path, "simai", "astra_sim")
        assert read_astra(files["astra_sim/physical_topology.txt"].decode()) == read_simai(files["simai/topology"].decode())
    assert json.loads(files["astra_sim/logical_topology.json"]) == {"logical-dims": ["4", "4"]}


def test_two_accelerators_of_one_port_have_half_of_it(tmp_path: Path) -> None:
    files, _ = made(SHARED, tmp_path, "simai")
    _, links = read_simai(files["simai/topology"].decode())
    assert len([x for x in links if x[0] < 16]) == 16 and {r for a, _, r in links if a < 16} == {200.0}
    assert [(a, b) for a, b, _ in links[:4]] == [(0, 16), (1, 16), (2, 17), (3, 17)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (RAILS, {"npus_count": [8, 4], "bandwidth": [450.0, 50.0]}),
        # two hosts a pod; 4 uplinks of 400 Gb/s for 16 accelerators
        (SHARED, {"npus_count": [8, 2], "bandwidth": [25.0, 12.5]}),
    ],
    ids=["rails", "shared"],
)
def test_dimensions_of_the_analytical_network(
    text: str, expected: dict[str, list[float]], tmp_path: Path, test_data: Path
) -> None:
    files, _ = made(text, tmp_path, "astra_sim")
    found = yaml.safe_load(files["astra_sim/network.yml"])
    assert {k: found[k] for k in expected} == expected
    for network in (found, yaml.safe_load((test_data / "handover" / "astra_sim" / "hgx_h100_16gpu.yml").read_text())):
        assert set(network["topology"]) <= {"Ring", "Switch", "FullyConnected"}
        assert len({len(network[k]) for k in ("topology", "npus_count", "bandwidth", "latency")}) == 1
    numbers = read_astra(files["astra_sim/physical_topology.txt"].decode())[0]
    assert prod(found["npus_count"]) == min(numbers)


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
    for text, count in ((RAILS, 32), (SHARED, 16)):
        built, _ = made(text, tmp_path, "astra_sim")
        network = tmp_path / "network.yml"
        network.write_bytes(built["astra_sim/network.yml"])
        said = yaml.safe_load(network.read_text())
        for dim, far in enumerate((1, said["npus_count"][0])):
            done = subprocess.run([program, network, "0", str(far)], capture_output=True, text=True, timeout=60, check=True)
            npus, time = map(int, done.stdout.split())
            # a Switch is two links: its bandwidth once, its latency twice (Switch.cpp); GB/s are 2^30 bytes there
            expected = 2 * said["latency"][dim] + 2**20 / (said["bandwidth"][dim] * 2**30 / 10**9)
            assert npus == count and abs(time - expected) <= 2
        network.write_text(network.read_text().replace("Switch", "Swich"))
        assert subprocess.run([program, network, "0", "1"], capture_output=True, timeout=60, check=False).returncode != 0


def test_groups_of_different_sizes_are_one_dimension(tmp_path: Path) -> None:
    """Pods of three and two hosts: no product of dimensions; all five hosts at what the spine gives each accelerator."""
    uneven = SHARED.replace("pod pod[2] {", "pod pod[2] {\n    host more: NODE\n    connect more.nic[i] to leaf[i]")
    uneven += "\nextend shared { omit pod[(1)].more }\n"
    files, found = made(uneven, tmp_path, "astra_sim")
    network = yaml.safe_load(files["astra_sim/network.yml"])
    assert network["npus_count"] == [20] and network["bandwidth"] == [4 * 50.0 / 20] and not found
    assert b"differ in size" in files["astra_sim/network.yml"]


def test_hosts_that_are_not_joined_are_no_dimension(tmp_path: Path) -> None:
    apart = SHARED.replace("connect pod[*].leaf[*] to spine each", "connect pod[(0)].leaf[*] to spine each")
    files, found = made(apart, tmp_path, "astra_sim")
    assert "astra_sim/network.yml" not in files and "astra_sim/physical_topology.txt" in files
    assert [d.code for d in found] == ["E0511"] and "not all hosts are joined" in found[0].message


def test_parallel_links_are_one_of_their_sum(tmp_path: Path) -> None:
    """SimAI and ASTRA-sim keep one link for two nodes (``nbr2if[a][b]``), and drop what comes before."""
    files, _ = made(RAILS.replace("spread x 2", "spread x 8"), tmp_path, "simai", "astra_sim")
    _, links = read_simai(files["simai/topology"].decode())
    assert len({(a, b) for a, b, _ in links}) == len(links)
    assert {r for a, _, r in links if a >= 36} == {1600.0} and sum(r for a, _, r in links if a >= 36) == 8 * 8 * 400
    lines = [line.split() for line in files["simai/ecn.conf"].decode().splitlines()]
    assert [x[0] for x in lines] == ["KMAX_MAP", "KMIN_MAP", "PMAX_MAP"]
    for x in lines:
        assert int(x[1]) == 2 and x[2::2] == ["400000000000", "1600000000000"], "every rate at a switch"


RACKS = """
fabric racks {
  rack rack[2] {
    host tray[18]: GB200_TRAY
    switch nvswitch[9, 2]: NVLINK5_SWITCH
    connect tray[t].gpu[g].nvlink[2*s + c] to nvswitch[s, c].p[4*t + g] { layer scaleup; medium backplane }
  }
  switch leaf[4, 2]: QM9700
  switch spine[2]: QM9700
  connect rack[k].tray[t].nic[r] to leaf[r, (18*k + t)//32]
  connect leaf[*, *] to spine[*] spread x 4
}
"""


def test_the_hosts_of_a_scale_up_domain_are_one_server(tmp_path: Path) -> None:
    files, found = made(RACKS, tmp_path, "simai", "astra_sim")
    text = files["simai/topology"].decode()
    assert text.split()[:6] == ["156", "72", "2", "10", str(144 + 144 + 16), "B200"] and not found
    _, links = read_simai(text)
    assert {(a, b): r for a, b, r in links if b in (144, 145)} == {(n, 144 + n // 72): 7200.0 for n in range(144)}
    assert json.loads(files["astra_sim/logical_topology.json"]) == {"logical-dims": ["72", "2"]}
    network = yaml.safe_load(files["astra_sim/network.yml"])
    assert network["npus_count"] == [72, 2] and network["bandwidth"][0] == 900.0


def test_latencies_are_options(tmp_path: Path) -> None:
    files, _ = made(RAILS, tmp_path, "simai", link_latency="0.001ms")
    assert b"400Gbps 0.001ms 0" in files["simai/topology"]


UNEVEN = SHARED.replace("host node[2]: NODE", "host node[2]: NODE\n    host big: BIG").replace(
    "connect node[n].nic[i] to leaf[i]", "connect node[n].nic[i] to leaf[i]\n    connect big.nic[i] to leaf[i]"
).replace("fabric shared", "model host BIG { port nic[2]: 400Gbps { type GE400 }; chip gpu[8]: GPU }\nfabric shared")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (UNEVEN, "hosts have 4 or 8 accelerators"),
        (SHARED.replace("gpu[4]", "gpu[3]"), "has 2 links for 3 accelerators"),
    ],
)
def test_what_these_formats_cannot_hold_is_left_out_with_the_reason(text: str, says: str, tmp_path: Path) -> None:
    files, found = made(text, tmp_path, "simai", "astra_sim")
    assert not [p for p in files if p.startswith(("simai", "astra_sim"))]
    assert [d.code for d in found] == ["E0511"] * 2 + ["E0516"] * 2
    assert all(says in d.message for d in found[:2])
