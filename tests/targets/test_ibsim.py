"""The target ibsim: ibsim takes the netlist, and ibnetdiscover finds exactly the links of fabric.json."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tests.harness import fabric_of
from tests.targets import ib
from tests.targets.build import design, files_of, pod, two_planes
from tests.targets.subnets import FTREE, UP, made, planned, rehearsed, swap


@pytest.fixture(scope="module")
def rails(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(design("rails_alone"), tmp_path_factory.mktemp("rails"), models=False)


@pytest.fixture(scope="module")
def managed(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(design("managed"), tmp_path_factory.mktemp("managed"), models=False)


def test_a_pod_is_discovered_as_designed(tmp_path: Path) -> None:
    """Without an uplink it is no fat tree."""
    ib.need()
    files = made(pod())
    found = ib.discover(files["ibsim/fabric.net"], tmp_path)
    assert FTREE in found.log and UP in found.log
    assert found.wires == planned(json.loads(files["fabric.json"]))
    assert len(found.wires) == 31 and len(found.nodes) == 6 + 15
    text = files["ibsim/fabric.net"].decode()
    cut = re.sub(r'^\[5\]\t"spine0"\[1\].*\n|^\[1\]\t"su0-leaf0"\[5\].*\n', "", text, flags=re.M)
    assert text.count("\n") - cut.count("\n") == 2
    (tmp_path / "cut").mkdir()
    assert FTREE not in ib.discover(cut.encode(), tmp_path / "cut").log


def test_each_plane_and_each_rail_alone_is_a_subnet_of_its_own(rails: Fabric, tmp_path: Path) -> None:
    ib.need()
    files = made(two_planes())
    for number in (0, 1):
        scratch = tmp_path / str(number)
        scratch.mkdir()
        found = ib.discover(files[f"ibsim/pl{number}.net"], scratch)
        assert found.wires == planned(json.loads(files["fabric.json"]), number) and len(found.wires) == 16
    files = rehearsed(rails)
    assert {p for p in files if p.endswith(".net")} == {f"ibsim/rail{r}.net" for r in range(8)}
    assert b"routing_engine minhop" in files["opensm/rail7/opensm.conf"]
    found = ib.discover(files["ibsim/rail5.net"], tmp_path, engine="minhop")
    assert UP in found.log and len(found.wires) == 3
    assert {n for n in found.nodes if n.startswith("leaf")} == {"leaf5"}


@pytest.mark.parametrize("types", [("GE400",), ()])
def test_an_ethernet_fabric_has_no_subnet(types: tuple[str, ...]) -> None:
    files, found = files_of(pod(types=types), "ibsim", "opensm")
    assert set(files) == {"manifest.json", "fabric.json"}
    assert [(d.code, d.severity.word) for d in found] == [("E0516", "error")] * 2
    assert all("the fabric has no InfiniBand links" in d.message for d in found)


def test_a_wrong_table_of_assets_is_told(rails: Fabric) -> None:
    table = made(rails)["ibsim/assets.csv"].decode()
    for old, new, code in (
        ("device,port,node_guid", "name,port,node_guid", "E0531"),
        ('"leaf0"', '"leaf9"', "E0532"),
        ('"node0","nic[0]"', '"node0","nic[8]"', "E0532"),
        ('"node0","nic[0]"', '"node0",""', "E0532"),
        ('"node0","nic[1]"', '"node0","nic[0]"', "E0534"),
    ):
        assert old in table
        made(rails, table.replace(old, new, 1).encode(), **{code: 1})
    for written in ("0x2c9", "0" * 16, "2E+16"):
        made(rails, f"device,port,node_guid,port_guid\nleaf0,,{written},\n".encode(), E0533=1)
    made(rails, b"device,port,node_guid,port_guid\nleaf0,,,\n", E0533=1)
    made(rails, b"device,mac\nleaf0,01:00:00:00:00:01\n", E0533=1)
    for table in ("device,mac\n", "device,mac,device\n", "device,mac\nleaf0,02:00:00:00:00:01,x\n"):
        made(rails, table.encode(), E0531=1)
    twice = b"leaf0,,0x0002c903000a1b2c,\nleaf1,,0002:c903:000a:1b2c,\n"
    made(rails, b"device,port,node_guid,port_guid\n" + twice, E0534=1)


def real_assets(rehearsal: bytes, apart: int) -> bytes:
    """A table as a site has it: GUIDs of a vendor's range, aggregation nodes; adapters' ports are ``apart`` from their nodes."""
    rows = [line.replace('"', "").split(",") for line in rehearsal.decode().splitlines() if not line.startswith("#")]
    out, number = [rows[0]], 0x98039B0300A00000
    for device, port, _, _ in rows[1:]:
        number += 0x10
        out.append([device, port, f"0x{number:016x}", f"0x{number + (apart if port else 0):016x}"])
        if not port:
            number += 0x10
            out.append([device, "aggregation", f"0x{number:016x}", f"0x{number + apart:016x}"])
    return "\n".join(map(",".join, out)).encode()


def test_identical_cabling_shows_no_difference(managed: Fabric, tmp_path: Path) -> None:
    """ibnetdiscover compares a fabric with the cache that was built for it: nothing; a swapped pair of cables: both ends."""
    ib.need()
    files = made(managed, real_assets(made(managed, E0511=1)["ibsim/assets.csv"], 1))
    netlist = files["ibsim/fabric.net"].decode()
    assert "Switch\t65" in netlist and netlist.count("Aggregation Node") == 2 * 10
    (tmp_path / "plan.cache").write_bytes(files["ibsim/fabric.cache"])
    for name, text in (("same", netlist), ("swapped", swap(netlist, "leaf0", 1, 2))):
        (tmp_path / name).mkdir()
        with ib.lab(text.encode(), tmp_path / name, {}) as lab:
            told = lab.ask("ibnetdiscover", "--diff", str(tmp_path / "plan.cache"), host="node3:nic7")
        if name == "same":
            assert not told.strip(), told
        else:
            assert "leaf0" in told and "node0 mlx5_0" in told and "node1 mlx5_0" in told


def test_the_cache_holds_real_guids_and_what_systems_call_themselves(managed: Fabric, tmp_path: Path) -> None:
    """Adapters whose port has the GUID of their node, as most have; rates that the simulator has no word for. A table that lacks
    GUIDs makes no cache."""
    ib.need()
    assets = real_assets(made(managed, E0511=1)["ibsim/assets.csv"], 0)
    files = made(managed, assets)
    (tmp_path / "plan.cache").write_bytes(files["ibsim/fabric.cache"])
    command = ["ibnetdiscover", "--load-cache", str(tmp_path / "plan.cache")]
    told = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    assert len(ib.read_netlist(told)[1]) == len(planned(json.loads(files["fabric.json"]))) + 10
    assert '# "MF0;leaf0:MQM9700/U1" base port 0' in told and "4xNDR" in told and "???" not in told
    nodes = re.findall(r"^caguid=0x(\w+)\nCa.*\n\[1\]\((\w+)\)", told, re.M)
    assert len(nodes) == 32 + 2 + 10 and all(node == port for node, port in nodes)
    lacking = made(managed, b"\n".join(assets.splitlines()[:-1]))
    assert "ibsim/fabric.cache" not in lacking
    assert b"9803" in lacking["ibsim/fabric.net"] and b"placeholders" in lacking["ibsim/fabric.net"]
