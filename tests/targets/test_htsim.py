"""The target htsim: its rules build the tree of the design from the numbers."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import need_program
from tests.tables import sections
from tests.targets.build import csv_rows, design, made, rows

TREES = ("pods", "rails", "shared", "three_tiers", "leaf_spine")
"""Designs that are fat trees, with two tiers or three."""
FAT = sections(__file__)["fat"]
MISSED = "connect leaf[(0)] to agg[*] each\n    connect leaf[(1)], leaf[(2)], leaf[(3)] to agg[(0)] each"
Shape = tuple[int, int, int, int, int]
"""Nodes, switches of the three tiers, links between switches."""


def shape(text: str) -> Shape:
    """What ``FatTreeTopology::load`` and ``set_custom_params`` of htsim make of a file (sim/datacenter/fat_tree_topology.cpp)."""
    head: dict[str, int] = {}
    tiers: dict[int, dict[str, int]] = {}
    now = head
    for line in text.splitlines():
        words = line.lower().split(" ")
        if line.strip() and not line.startswith("#"):
            key, value = words[0], int(words[1])
            now = tiers.setdefault(value, {}) if key == "tier" else now
            assert key == "tier" or key not in now, f"duplicate {key}"
            now[key] = value
    nodes, count, pod = head["nodes"], head["tiers"], head["podsize"]
    t = [tiers[n] for n in range(count)]
    assert count in (2, 3) and all(x["downlink_latency_ns"] > 0 and x["radix_down"] > 0 for x in t)
    speed, over = [x["downlink_speed_gbps"] for x in t], [x.get("oversubscribed", 1) for x in t]
    bundle, up, down = [x.get("bundle", 1) for x in t], [x.get("radix_up", 0) for x in t], [x["radix_down"] for x in t]
    assert nodes % pod == 0 and bundle[0] == 1 and pod % down[0] == 0 and all(u > 0 for u in up[:-1]) and up[-1] == 0
    pods = nodes // pod
    uplinks, rest = divmod(nodes * speed[0], speed[1] * over[0])
    assert rest == 0 and down[0] // up[0] == over[0] and uplinks % (pods * down[1]) == 0
    aggs = uplinks // (pods * down[1])
    assert aggs * bundle[1] == up[0]
    if count == 2:
        assert pods == 1, "leaf-spine is one pod"
        return nodes, nodes // down[0], aggs, 0, uplinks
    further, rest = divmod(uplinks * speed[1], speed[2] * over[1])
    cores, left = divmod(further, down[2])
    assert rest == left == 0 and cores % aggs == 0 and cores * bundle[2] // aggs == up[1]
    return nodes, nodes // down[0], aggs * pods, cores, uplinks + further


def counted(files: dict[str, bytes], tiers: int) -> Shape:
    """The same of fabric.json, of hosts with accelerators."""
    devices = {d["name"]: d for d in rows(files, "devices")}
    links = [(devices[x["a_device"]], devices[x["b_device"]]) for x in rows(files, "links")]
    edge = [b["name"] for a, b in links if a["kind"] == "host" and a["role"] == "accelerator"]
    switches = Counter(d["tier"] for d in devices.values() if d["kind"] == "switch")
    each = [switches.get(n, 0) for n in range(1, 4)]
    return len(edge), *each, sum(a["kind"] == b["kind"] == "switch" for a, b in links)  # type: ignore[return-value]


def fat(**given: int) -> str:
    text = FAT
    for name, value in {"pods": 2, "hosts": 4, "bundle": 1, "core": 1, **given}.items():
        text = text.replace(f"<{name}>", str(value))
    return text


def built(tmp_path: Path) -> list[tuple[str, dict[str, bytes]]]:
    texts = [design(name) for name in TREES]
    texts += [fat(), fat(hosts=8, bundle=2), fat(pods=3, hosts=16, bundle=2, core=2), fat(hosts=8, bundle=1, core=1)]
    return [(text, made(text, tmp_path, "htsim")[0]) for text in texts]


def test_the_judge_reads_htsims_own_files(test_data: Path) -> None:
    """The figures are those that htsim itself prints of them."""
    found = {p.stem: shape(p.read_text()) for p in (test_data / "handover" / "htsim").glob("*.topo")}
    assert found == {
        "fat_tree_1024": (1024, 128, 128, 64, 2048), "fat_tree_1024_4os": (1024, 128, 32, 16, 512),
        "leaf_spine_tiny": (32, 4, 2, 0, 8), "test": (8, 4, 4, 4, 24),
    }  # fmt: skip


def test_numbers_build_the_tree_of_the_design(tmp_path: Path) -> None:
    for text, files in built(tmp_path):
        told = files["htsim/fabric.topo"].decode()
        found = shape(told)
        assert found == counted(files, 2 + (found[3] > 0)), text
        nodes = csv_rows(files, "htsim/nodes.csv")
        down = int(told.split("Radix_Down ")[1].split()[0])
        assert [int(n["node"]) for n in nodes] == list(range(found[0])) and len(
            {(n["device"], n["port"]) for n in nodes}
        ) == found[0]
        cabled = {(x["a_device"], x["a_port"]): x["b_device"] for x in rows(files, "links")}
        for n in nodes:  # those of one leaf follow each other, as htsim numbers them
            first = nodes[int(n["node"]) // down * down]
            assert n["switch"] == first["switch"] == cabled[n["device"], n["port"].removeprefix(_path(files, n["device"]) + ".")]


def _path(files: dict[str, bytes], name: str) -> str:
    return next(str(d["path"]) for d in rows(files, "devices") if d["name"] == name)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (design("planes"), "joined by no link"),
        (design("two_sites"), "switches of one tier are linked to each other"),
        (fat().replace("connect leaf[*] to agg[*] each x 1", MISSED), "not every leaf is linked to every spine"),
        (fat().replace("core[a, *] each", "core[*, *] each"), "one spine of each pod"),
        (fat(hosts=3), "links down of switches of one tier differ"),
        (fat(bundle=4), "divide them in number"),
        (fat().replace("to leaf[2*(n % 2) + r]", "to leaf[2*(n % 2) + r] { rate 200Gbps }"), "the rate of those down"),
    ],
)  # fmt: skip
def test_what_is_no_such_tree_is_left_out(text: str, why: str, tmp_path: Path) -> None:
    files, found = made(text, tmp_path, "htsim")
    assert not {"htsim/fabric.topo", "htsim/nodes.csv"} & set(files)
    assert [d.code for d in found if d.severity.word == "error"] == ["E0516"] and any(why in d.message for d in found), found


def test_htsims_own_code_loads_the_files(tmp_path: Path) -> None:
    """Built with g++ from a checkout of csg-htsim whose libhtsim.a is there."""
    source = os.environ.get("HTSIM")
    if not source:
        pytest.skip("no htsim: HTSIM names a checkout of Broadcom/csg-htsim")
    compiler, home, program = need_program("g++", "g++"), Path(source) / "sim", tmp_path / "judge"
    names = ("fat_tree_topology", "fat_tree_switch", "connection_matrix", "firstfit")
    parts = [
        Path(__file__).with_name("htsim_network.cpp"),
        *(home / "datacenter" / f"{n}.cpp" for n in names),
        home / "libhtsim.a",
    ]
    command = [compiler, "-std=c++11", "-w", f"-I{home}/datacenter", f"-I{home}", *map(str, parts), "-o", str(program)]
    subprocess.run(command, check=True, timeout=300)
    path = tmp_path / "fabric.topo"
    for text, files in built(tmp_path):
        path.write_bytes(files["htsim/fabric.topo"])
        done = subprocess.run([program, path], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0 and "judged" in done.stdout, (text, done)
        assert tuple(map(int, done.stdout.split("judged ")[1].split())) == shape(path.read_text())
    path.write_text(path.read_text().replace("Radix_Up", "Radix_Upwards"))
    assert subprocess.run([program, path], capture_output=True, timeout=60, check=False).returncode != 0
