"""The target ibsim: ibsim takes the netlist, and ibnetdiscover finds exactly the links of fabric.json."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tdsl.emit.build import build_files
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import fabric_of
from tests.targets import ib
from tests.targets.build import pod, two_planes
from tests.targets.subnets import FTREE, RAILS, UP, made, planned, rehearsed, swap


def test_a_pod_is_discovered_as_designed(tmp_path: Path) -> None:
    ib.need()
    files = made(pod())
    found = ib.discover(files["ibsim/fabric.net"], tmp_path)
    assert FTREE in found.log and "SUBNET UP" in found.log
    assert found.wires == planned(json.loads(files["fabric.json"]))
    assert len(found.wires) == 31 and len(found.nodes) == 6 + 15


def test_a_swapped_pair_of_cables_is_seen(tmp_path: Path) -> None:
    ib.need()
    files = made(pod())
    swapped = swap(files["ibsim/fabric.net"].decode(), "su0-leaf0", 1, 2)
    found = ib.discover(swapped.encode(), tmp_path)
    assert FTREE in found.log  # routable all the same: only the comparison can tell
    good = planned(json.loads(files["fabric.json"]))
    assert found.wires != good
    assert len(found.wires - good) == len(good - found.wires) == 2


def test_a_missing_uplink_is_no_fat_tree(tmp_path: Path) -> None:
    ib.need()
    text = made(pod())["ibsim/fabric.net"].decode()
    cut = re.sub(r'^\[5\]\t"spine0"\[1\].*\n|^\[1\]\t"su0-leaf0"\[5\].*\n', "", text, flags=re.M)
    assert text.count("\n") - cut.count("\n") == 2
    found = ib.discover(cut.encode(), tmp_path)
    assert FTREE not in found.log


def test_each_plane_is_a_subnet_of_its_own(tmp_path: Path) -> None:
    ib.need()
    files = made(two_planes())
    data = json.loads(files["fabric.json"])
    for number in (0, 1):
        scratch = tmp_path / str(number)
        scratch.mkdir()
        found = ib.discover(files[f"ibsim/pl{number}.net"], scratch)
        assert found.wires == planned(data, number) and len(found.wires) == 16


@pytest.mark.parametrize("types", [("GE400",), ()])
def test_an_ethernet_fabric_has_no_subnet(types: tuple[str, ...]) -> None:
    found = Diagnostics()
    files = build_files(pod(types=types), ["ibsim", "opensm"], found)
    assert list(files) == ["manifest.json"]
    assert {(d.code, d.severity.word) for d in found} == {("E0516", "error")}
    assert [d.message.partition(": ")[2] for d in found] == ["the fabric has no InfiniBand links"] * 2


MANAGED = """
fabric pod {
  host node[4]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4
  host ufm[2]: UFM { role manager }
  connect ufm[u].p[1] to leaf[(u)]
  partition tenant 0x8001 { full node[0..1].nic }
  partition storage 0x0002 { full node[(3)].nic; limited node[0..2].nic; ipoib }
  subnet_manager ufm[(1)], ufm[(0)]
}
"""


def test_each_rail_alone_is_a_subnet(tmp_path: Path) -> None:
    ib.need()
    files = rehearsed(fabric_of(RAILS, tmp_path, models=False))
    assert {p for p in files if p.endswith(".net")} == {f"ibsim/rail{r}.net" for r in range(8)}
    assert b"routing_engine minhop" in files["opensm/rail7/opensm.conf"]
    found = ib.discover(files["ibsim/rail5.net"], tmp_path, engine="minhop")
    assert UP in found.log and len(found.wires) == 3
    assert {n for n in found.nodes if n.startswith("leaf")} == {"leaf5"}


@pytest.mark.parametrize(("old", "new", "code"), [
    ("device,port,node_guid", "name,port,node_guid", "E0531"),
    ('"leaf0"', '"leaf9"', "E0532"),
    ('"node0","nic[0]"', '"node0","nic[8]"', "E0532"),
    ('"node0","nic[0]"', '"node0",""', "E0532"),
    ('"node0","nic[1]"', '"node0","nic[0]"', "E0534"),
])  # fmt: skip
def test_a_wrong_table_of_assets_is_told(old: str, new: str, code: str, tmp_path: Path) -> None:
    fabric = fabric_of(RAILS, tmp_path, models=False)
    table = made(fabric)["ibsim/assets.csv"].decode()
    assert old in table
    made(fabric, table.replace(old, new, 1).encode(), **{code: 1})


@pytest.mark.parametrize(("written", "code"), [("0x2c9", "E0533"), ("0" * 16, "E0533"), ("2E+16", "E0533")])
def test_a_malformed_guid_is_told(written: str, code: str, tmp_path: Path) -> None:
    fabric = fabric_of(RAILS, tmp_path, models=False)
    made(fabric, f"device,port,node_guid,port_guid\nleaf0,,{written},\n".encode(), **{code: 1})
    twice = "leaf0,,0x0002c903000a1b2c,\nleaf1,,0002:c903:000a:1b2c,\n"
    made(fabric, f"device,port,node_guid,port_guid\n{twice}".encode(), E0534=1)


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


def test_identical_cabling_shows_no_difference(tmp_path: Path) -> None:
    """ibnetdiscover compares a fabric with the cache that was built for it: nothing; a swapped pair of cables: both ends."""
    ib.need()
    fabric = fabric_of(MANAGED, tmp_path, models=False)
    files = made(fabric, real_assets(made(fabric, E0511=1)["ibsim/assets.csv"], 1))
    netlist = files["ibsim/fabric.net"].decode()
    assert "Switch\t65" in netlist and netlist.count("Aggregation Node") == 2 * 10
    (tmp_path / "plan.cache").write_bytes(files["ibsim/fabric.cache"])
    for name, text, differs in (
        ("same", netlist, False), ("swapped", swap(netlist, "leaf0", 1, 2), True),
    ):  # fmt: skip
        place = tmp_path / name
        place.mkdir()
        with ib.lab(text.encode(), place, {}) as lab:
            told = lab.ask("ibnetdiscover", "--diff", str(tmp_path / "plan.cache"), host="node3:nic7")
        assert bool(told.strip()) == differs, (name, told[:500])
        if differs:
            assert "leaf0" in told and "node0 mlx5_0" in told and "node1 mlx5_0" in told


def test_the_cache_holds_real_guids_and_what_systems_call_themselves(tmp_path: Path) -> None:
    """Adapters whose port has the GUID of their node, as most have; rates that the simulator has no word for."""
    ib.need()
    fabric = fabric_of(MANAGED, tmp_path, models=False)
    files = made(fabric, real_assets(made(fabric, E0511=1)["ibsim/assets.csv"], 0))
    (tmp_path / "plan.cache").write_bytes(files["ibsim/fabric.cache"])
    done = subprocess.run(
        ["ibnetdiscover", "--load-cache", str(tmp_path / "plan.cache")],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert len(ib.read_netlist(done.stdout)[1]) == len(planned(json.loads(files["fabric.json"]))) + 10
    assert '# "MF0;leaf0:MQM9700/U1" base port 0' in done.stdout and "4xNDR" in done.stdout and "???" not in done.stdout
    nodes = re.findall(r"^caguid=0x(\w+)\nCa.*\n\[1\]\((\w+)\)", done.stdout, re.M)
    assert len(nodes) == 32 + 2 + 10 and all(node == port for node, port in nodes)


def test_a_table_that_lacks_guids_makes_no_cache(tmp_path: Path) -> None:
    fabric = fabric_of(MANAGED, tmp_path, models=False)
    table = real_assets(made(fabric, E0511=1)["ibsim/assets.csv"], 0).splitlines()
    files = made(fabric, b"\n".join(table[:-1]))
    assert "ibsim/fabric.cache" not in files
    assert b"9803" in files["ibsim/fabric.net"] and b"placeholders" in files["ibsim/fabric.net"]
