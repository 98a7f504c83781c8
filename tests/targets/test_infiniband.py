"""The InfiniBand targets before their judges: ibsim takes the netlist, OpenSM routes it as a fat tree, ibnetdiscover finds
exactly the links of fabric.json."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tdsl.emit.build import BuildOptions, build_files
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.harness import fabric_of
from tests.targets import ib
from tests.targets.build import pod, two_planes

FTREE = "osm_ucast_mgr_process: ftree tables configured on all switches"


def made(fabric: Fabric, assets: bytes = b"", **noted: int) -> dict[str, bytes]:
    """Netlist, configuration and data of a fabric; findings must be those expected, counted by code."""
    found = Diagnostics()
    table = SourceFile("assets.csv", assets.decode()) if assets else None
    files = build_files(fabric, ["ibsim", "opensm", "json"], found, BuildOptions(assets=table))
    assert Counter(d.code for d in found) == noted
    return files


def rehearsed(fabric: Fabric, **noted: int) -> dict[str, bytes]:
    """The same with the simulator's GUIDs for those of real assets."""
    return made(fabric, made(fabric, **noted)["ibsim/assets.csv"])


def planned(data: dict[str, object], plane: int | None = None) -> frozenset[ib.Wire]:
    """The links of fabric.json as a subnet manager names their ends: a switch's port number, an adapter's only port."""

    def rows(table: str) -> list[dict[str, object]]:
        t = data[table]
        return [dict(zip(t["columns"], r, strict=True)) for r in t["rows"]]  # type: ignore[index]

    systems = {
        (m["key"], port): system
        for m in data["models"]  # type: ignore[attr-defined]
        for c in m["classes"]
        for port, _, _, system, _ in c["ports"]
    }
    device = {d["name"]: d for d in rows("devices")}

    def end(link: dict[str, object], side: str) -> ib.End:
        name, port, index = str(link[f"{side}_device"]), str(link[f"{side}_port"]), link[f"{side}_index"]
        if device[name]["kind"] == "switch":
            return name, int(str(index))
        system = systems[device[name]["model"], port]
        return f"{name} {system or port.replace('[', '').replace(']', '')}", 1

    return frozenset(frozenset((end(x, "a"), end(x, "b"))) for x in rows("links") if plane is None or x["plane"] == plane)


def test_a_pod_is_discovered_as_designed(tmp_path: Path) -> None:
    ib.need()
    files = made(pod())
    found = ib.discover(files["ibsim/fabric.net"], tmp_path)
    assert FTREE in found.log and "SUBNET UP" in found.log
    assert found.wires == planned(json.loads(files["fabric.json"]))
    assert len(found.wires) == 31 and len(found.nodes) == 6 + 15


def test_the_whole_superpod(tmp_path: Path) -> None:
    ib.need()
    files = made(pod(units=4, nodes=32, rails=8, spines=16))
    found = ib.discover(files["ibsim/fabric.net"], tmp_path)
    assert FTREE in found.log and "SUBNET UP" in found.log
    assert found.wires == planned(json.loads(files["fabric.json"]))
    assert len(found.wires) == 2044 and len(found.nodes) == 48 + 1016 + 4
    assert not found.credit_loops()


@pytest.mark.parametrize("fabric", [pod, lambda: pod(units=4, nodes=8, rails=4, spines=8)])
def test_no_loop_of_credits_in_a_tree(fabric, tmp_path: Path) -> None:
    ib.need()
    files = made(fabric())
    assert not ib.discover(files["ibsim/fabric.net"], tmp_path, files["opensm/opensm.conf"], engine="").credit_loops()


TORUS = """
use nvidia (QM9700, UFM)
fabric t {
  switch sw[5x5]: QM9700
  host node[5x5]: UFM { role accelerator }
  connect node[a, b].p[1] to sw[a, b].p[64]
  connect sw[*] torus
}
"""


def test_a_torus_by_dimension_order_has_loops_of_credits(tmp_path: Path) -> None:
    """And is therefore no tree for which the configuration would promise anything."""
    ib.need()
    fabric = fabric_of(TORUS, tmp_path, models=False)
    files = made(fabric, E0511=1)
    assert b"routing_engine dfsssp" in files["opensm/opensm.conf"]  # without GUIDs, nothing says where a torus begins
    found = ib.discover(files["ibsim/fabric.net"], tmp_path, engine="dor")
    assert "osm_ucast_mgr_process: dor tables configured on all switches" in found.log
    assert found.credit_loops()


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


def test_opensm_reads_its_configuration(tmp_path: Path) -> None:
    ib.need()
    files = made(pod())
    found = ib.discover(files["ibsim/fabric.net"], tmp_path, files["opensm/opensm.conf"], engine="")
    assert FTREE in found.log and "SUBNET UP" in found.log
    assert "Unrecognized" not in found.log and "fail" not in found.log.lower().replace("failover", "")


def test_a_typing_error_in_the_configuration_would_be_seen(tmp_path: Path) -> None:
    ib.need()
    files = made(pod())
    spoilt = files["opensm/opensm.conf"].replace(b"routing_engine ftree,updn", b"routing_engin ftree")
    found = ib.discover(files["ibsim/fabric.net"], tmp_path, spoilt, engine="")
    assert FTREE not in found.log


@pytest.mark.parametrize("types", [("GE400",), ()])
def test_an_ethernet_fabric_has_no_subnet(types: tuple[str, ...]) -> None:
    found = Diagnostics()
    files = build_files(pod(types=types), ["ibsim", "opensm"], found)
    assert list(files) == ["manifest.json"]
    assert {(d.code, d.severity.word) for d in found} == {("E0516", "error")}
    assert [d.message.partition(": ")[2] for d in found] == ["the fabric has no InfiniBand links"] * 2


def swap(text: str, switch: str, one: int, other: int) -> str:
    """The netlist with two cables of a switch exchanged, told from both ends as it must be."""
    records = text.split("\n\n")
    far: dict[int, str] = {}
    for record in records:
        if re.search(rf'^Switch\t\d+ "{switch}"', record, re.M):
            far = {int(p): n for p, n in re.findall(r'^\[(\d+)\]\t"([^"]+)"', record, flags=re.M)}
    a, b = far[one], far[other]
    out = []
    for record in records:
        if re.search(rf'^Switch\t\d+ "{switch}"', record, re.M):
            record = record.replace(f'[{one}]\t"{a}"', f'[{one}]\t"@"').replace(f'[{other}]\t"{b}"', f'[{other}]\t"{a}"')
            record = record.replace('"@"', f'"{b}"')
        for node, port, new in ((a, one, other), (b, other, one)):
            if re.search(rf'^(?:Ca\t1|Switch\t\d+) "{re.escape(node)}"', record, flags=re.M):
                record = record.replace(f'"{switch}"[{port}]', f'"{switch}"[{new}]')
        out.append(record)
    return "\n\n".join(out)


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
UP = "SUBNET UP"


def of_opensm(files: dict[str, bytes], folder: str = "opensm/") -> dict[str, bytes]:
    return {p.removeprefix(folder): c for p, c in files.items() if p.startswith(folder)}


def guid(files: dict[str, bytes], device: str, port: str) -> str:
    """The placeholder of a port."""
    (found,) = re.findall(rf'^"{device}","{re.escape(port)}",.*,(\w+)$', files["ibsim/assets.csv"].decode(), re.M)
    return str(found)


def test_partitions_and_names_reach_the_ports(tmp_path: Path) -> None:
    """Each port has the keys that the design gives it, and ibnetdiscover shows the names of the map."""
    ib.need()
    files = rehearsed(fabric_of(MANAGED, tmp_path, models=False), E0511=1)
    netlist = re.sub(r'^(Switch.*# )"[^"]*"', r'\1"nameless"', files["ibsim/fabric.net"].decode(), flags=re.M).encode()
    mine = of_opensm(files)
    with ib.lab(netlist, tmp_path, mine) as lab:
        lab.manage("master", mine["opensm.conf"], "ufm1:p1")
        lab.awaited("master", UP, FTREE)
        keys = {}
        asked = {"node0": "nic[0]", "node1": "nic[7]", "node2": "nic[0]", "node3": "nic[0]", "ufm0": "p[1]"}
        for device, port in asked.items():
            told = lab.ask("smpquery", "-G", "pkeys", f"0x{guid(files, device, port)}", host="ufm1:p1")
            keys[device] = set(re.findall(r"0x[0-9a-f]{4}\b", told)) - {"0x0000"}
        seen = lab.ask("ibnetdiscover", "--node-name-map", "ib-node-name-map", host="ufm1:p1")
    assert keys["node0"] == keys["node1"] == {"0x7fff", "0x8001", "0x0002"}
    assert keys["node2"] == {"0x7fff", "0x0002"} and keys["node3"] == {"0x7fff", "0x8002"}
    assert keys["ufm0"] == {"0xffff"}
    named = set(re.findall(r'^Switch.*# "([^"]+)"', seen, re.M))
    assert named == {f"leaf{n}" for n in range(8)} | {"spine0", "spine1"} and "nameless" not in seen


def test_a_standby_takes_over(tmp_path: Path) -> None:
    ib.need()
    files = rehearsed(fabric_of(MANAGED, tmp_path, models=False), E0511=1)
    mine = of_opensm(files)
    assert b"sm_priority 15" in mine["opensm.conf"] and b"sm_priority 14" in mine["opensm-ufm0.conf"]
    hurried = b"\nsminfo_polling_timeout 300\npolling_retry_number 2\n"
    with ib.lab(files["ibsim/fabric.net"], tmp_path, mine) as lab:
        lab.manage("master", mine["opensm.conf"] + hurried, "ufm1:p1")
        lab.awaited("master", UP)
        lab.manage("standby", mine["opensm-ufm0.conf"] + hurried, "ufm0:p1")
        lab.awaited("standby", "Entering STANDBY state")
        assert "MASTER" in lab.ask("sminfo", host="node0:nic0")
        lab.stop("master")
        assert FTREE in lab.awaited("standby", "Entering MASTER state", UP)


@pytest.mark.parametrize(("extents", "line"), [("4x4x4", "4 x 4 x 4 torus w/ 256 links"), ("5x5", "5 x 5 x 1 torus w/ 75 links")])
def test_torus_2qos_finds_the_torus(extents: str, line: str, tmp_path: Path) -> None:
    ib.need()
    dimensions = extents.count("x") + 1
    text = TORUS.replace("5x5", extents).replace("sw[*]", f"sw[{', '.join('*' * dimensions)}]")
    text = text.replace("[a, b]", f"[{', '.join('abc'[:dimensions])}]")
    files = rehearsed(fabric_of(text, tmp_path, models=False), E0511=1)
    mine = of_opensm(files)
    with ib.lab(files["ibsim/fabric.net"], tmp_path, mine) as lab:
        lab.manage("sm", mine["opensm.conf"])
        told = lab.awaited("sm", UP)
    assert f"Built {line}" in told and "torus-2QoS tables configured on all switches" in told


@pytest.mark.parametrize("engine", ["", pytest.param("dfsssp", marks=pytest.mark.slow)])
def test_no_loop_of_credits_on_a_torus(engine: str, tmp_path: Path) -> None:
    """The engine of the configuration (torus-2QoS) and the one it falls back to break every loop by virtual lanes. Each path's
    service level is asked of the manager that runs."""
    ib.need()
    files = rehearsed(fabric_of(TORUS.replace("5x5", "4x4"), tmp_path, models=False), E0511=1)
    mine = of_opensm(files)
    config = mine["opensm.conf"]
    if engine:
        config = re.sub(rb"(?m)^routing_engine .*", f"routing_engine {engine}".encode(), config)
    with ib.lab(files["ibsim/fabric.net"], tmp_path, mine) as lab:
        lab.manage("sm", config)
        lab.awaited("sm", UP, f"{engine or 'torus-2QoS'} tables configured on all switches")
        told = ib.loops_with_levels(lab, "sm")
    assert "no credit loops found" in told and "Found credit loop on:" not in told, told[-2000:]


RAILS = """
fabric f {
  host node[3]: DGX_H100
  switch leaf[8]: QM9700
  connect node[n].nic[r] to leaf[r]
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


UNEVEN = """
fabric f {
  host node[4]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4
  connect leaf[(0)] to spine[(1)] x 2
}
"""


def test_a_tree_that_ftree_refuses_goes_up_and_down(tmp_path: Path) -> None:
    """The rules by which ftree is chosen are OpenSM's: where they fail, it fails."""
    ib.need()
    files = rehearsed(fabric_of(UNEVEN, tmp_path, models=False))
    mine = of_opensm(files)
    assert b"routing_engine updn\n" in mine["opensm.conf"] and len(mine["root-guids"].split()) == 2
    assert FTREE not in ib.discover(files["ibsim/fabric.net"], tmp_path).log
    (tmp_path / "live").mkdir()
    with ib.lab(files["ibsim/fabric.net"], tmp_path / "live", mine) as lab:
        lab.manage("sm", mine["opensm.conf"])
        assert "updn tables configured on all switches" in lab.awaited("sm", UP)


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


def test_engines_of_opensm_5(tmp_path: Path) -> None:
    """Adaptive routing over the same trees; other shapes keep their engines."""
    fabric = fabric_of(MANAGED, tmp_path, models=False)
    found = Diagnostics()
    files = build_files(fabric, ["opensm"], found, BuildOptions(settings={"opensm": {"version": "5"}}))
    assert b"\nrouting_engine ar_ftree,ar_updn\n" in files["opensm/opensm.conf"]
    assert b"\nrouting_engine ftree,updn\n" in made(fabric, E0511=1)["opensm/opensm.conf"]
    build_files(fabric, ["opensm"], found, BuildOptions(settings={"opensm": {"version": "4"}}))
    assert any("version" in d.message or "`4`" in d.message or "4" in d.message for d in found)


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
        ["ibnetdiscover", "--load-cache", str(tmp_path / "plan.cache")], capture_output=True, text=True, timeout=20, check=True
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


def test_production_invents_no_guid(tmp_path: Path) -> None:
    files = made(fabric_of(MANAGED, tmp_path, models=False), E0511=1)
    told = b"".join(of_opensm(files).values())
    assert not re.search(rb"[0-9a-f]{16}", told) and b"partition_config_file" not in told
