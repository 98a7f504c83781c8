"""What captures say, line by line, and all that an audit says of mistakes of every kind: whole answers, as goldens."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostic, Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.observe import identifiers, record, report, speeds, worklist
from tdsl.observe.accepted import new_accepted_entries, settle_accepted_faults
from tdsl.observe.accepted import read_accepted_faults as accepted
from tdsl.observe.audit import Audit, AuditSettings, audit_captures
from tdsl.observe.importing import NoDesign, design_from_captures
from tdsl.observe.match import DesignNames, Identifiers
from tdsl.observe.names import NameMapRule, device_name_readings, is_factory_description
from tdsl.observe.prometheus import prometheus_metrics as metrics
from tdsl.observe.readers import capture_readers
from tdsl.observe.reading import read_capture_files
from tdsl.observe.record import Observed
from tdsl.observe.rules import DIVISORS, Rows, connect_rules
from tests.cli.run import tdsl
from tests.conftest import Golden
from tests.harness import fabric_of
from tests.observe.captures import lldp, netlist
from tests.observe.plant import KINDS, Cables, plant
from tests.observe.test_planted import explained, fabrics
from tests.observe.test_readers import KEYVALUE, LLDPCLI, db_csv
from tests.observe.test_tables import NVUE, cable, interface

NETDISCOVER = """\
#
# Topology file: generated on Mon Nov 23
vendid=0x2c9
devid=0xd2f2
sysimgguid=0xb8cef603000a1b2c
switchguid=0xb8cef603000a1b2c(b8cef603000a1b2c)
Switch\t64 "S-b8cef603000a1b2c"\t\t# "MF0;leaf0:MQM9700/U1" enhanced port 0 lid 1 lmc 0
[1]\t"H-1070fd0300aabb00"[1](1070fd0300aabb01) \t\t# "node0 mlx5_0" lid 4 4xNDR
[2]\t"S-b8cef603000a1b2d"[7]\t\t# "spine0" lid 2 4xNDR
[3][ext 3]\t"H-1070fd0300aabb00"[2](1070fd0300aabb02) \t\t# "node0 mlx5_0" lid 4 2xNDR

switchguid=0xb8cef603000a1b2d(b8cef603000a1b2d)
Switch\t40 "S-b8cef603000a1b2d"\t\t# "Quantum Mellanox Technologies" base port 0 lid 2 lmc 0
[7]\t"S-b8cef603000a1b2c"[2]\t\t# "leaf0" lid 1 4xHDR
[9]\t"S-b8cef603000a1b2d"[10]\t\t# "spine0" lid 2 4xHDR
[10]\t"S-b8cef603000a1b2d"[9]\t\t# "spine0" lid 2 1xHDR

caguid=0x1070fd0300aabb00
Ca\t2 "H-1070fd0300aabb00"\t\t# "node0 mlx5_0"
[1](1070fd0300aabb01) \t"S-b8cef603000a1b2c"[1]\t\t# lid 4 lmc 0 "leaf0" lid 1 4xNDR
[2](1070fd0300aabb02) \t"S-b8cef603000a1b2c"[3]\t\t# lid 4 lmc 0 "leaf0" lid 1 4xNDR
"""
REPORT = """\
SW     1  1 0xb8cef603000a1b2c 4x NDR - CA     4  1 0x1070fd0300aabb00 ( 'leaf0' - 'node0 mlx5_0' )
SW     1  2 0xb8cef603000a1b2c 4x NDR - SW     2  7 0xb8cef603000a1b2d ( leaf0 - spine0 )
SW     1  3 0xb8cef603000a1b2c 4x SDR                                    'leaf0'
SW     2  7 0xb8cef603000a1b2d 4x NDR - SW     1  2 0xb8cef603000a1b2c ( 'spine0' - 'leaf0' )
"""
LINKINFO = """\
Switch: 0xb8cef603000a1b2c leaf0:
0xb8cef603000a1b2c "leaf0" 1 1[  ] ==( 4X 106.25 Gbps Active/  LinkUp)==> 0x1070fd0300aabb00 4 1[  ] "node0 mlx5_0" ( )
0xb8cef603000a1b2c "leaf0" 1 2[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==> 0xb8cef603000a1b2d 2 7[] "spine0" (Could be 106.25 Gbps)
0xb8cef603000a1b2c "leaf0" 1 3[  ] ==( 1X 25.78125 Gbps Active/  LinkUp)==> 0xb8cef603000a1b2d 2 8[  ] "spine0" ( Could be 4X)
0xb8cef603000a1b2c "leaf0" 1 4[  ] ==( Down/ Polling)==> [  ] "" ( )
Switch: 0xb8cef603000a1b2d spine0:
0xb8cef603000a1b2d "spine0" 2 7[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==> 0xb8cef603000a1b2c 1 2[  ] "leaf0" ( )
CA: node1 mlx5_0:
5 1[ ] ==( 4X 14.0625 Gbps Active/ LinkUp)==> 2 9[ ] "spine0" ( )
"""
LLDPCTL = """\
{"lldp": {"interface": [
 {"swp1": {
  "chassis": {"spine0": {"id": {"type": "mac", "value": "6e:76:46:48:03:41"}}},
  "port": {"id": {"type": "ifname", "value": "swp7"}, "descr": "to leaf0"}
 }},
 {"swp2": {
  "chassis": {"id": {"type": "mac", "value": "6e:76:46:48:03:42"}},
  "port": {"id": {"type": "mac", "value": "6e:76:46:48:03:43"}}
 }}
]}}
"""
EOS = """\
{"lldpNeighbors": {
 "Ethernet1": {"lldpNeighborInfo": [
  {"systemName": "spine0.example.com", "chassisId": "6e76.4648.0341",
   "neighborInterfaceInfo": {"interfaceId": "\\"Ethernet7\\"", "interfaceDescription": "to leaf"}}]},
 "Ethernet2": {"lldpNeighborInfo": []},
 "Ethernet3": 7
}}
"""
EOS_SHORT = """\
{"lldpNeighbors": [
 {"port": "Ethernet1", "neighborDevice": "spine0", "neighborPort": "Ethernet7", "ttl": 120},
 {"port": "Ethernet2", "neighborDevice": "", "neighborPort": "Ethernet8", "ttl": 120}
]}
"""
NAPALM = """\
{"Ethernet1/1": [
  {"remote_system_name": "spine0", "remote_port": "Ethernet7", "remote_port_description": "x", "remote_chassis_id": "AA"}],
 "Ethernet1/2": [{"hostname": "spine1", "port": "Ethernet8"}],
 "Ethernet1/3": [3]
}
"""
NXOS = """\
Capability codes:
  (R) Router, (B) Bridge
Chassis id: 6e76.4648.0341
Port id: Ethernet1/7
Local Port id: Eth1/1
Port Description: to leaf
System Name: spine0
Chassis id: 6e76.4648.0342
Port id: 6e76.4648.0343
Local Port id: mgmt0
Port Description: null
System Name: not advertised
Total entries displayed: 2
"""
BATFISH = """\
{"edges": [
 {"node1": {"hostname": "leaf0", "interfaceName": "swp1"},
  "node2": {"hostname": "spine0", "interfaceName": "swp7"}},
 {"node1": {"hostname": "leaf0", "interfaceName": ""},
  "node2": {"hostname": "spine0", "interfaceName": "swp8"}}
]}
"""
NETQ = """\
[{"links": [
 {"compounded_links": [
  {"interfaces": [{"node": "leaf0", "interface": "swp1"}, {"node": "spine0", "interface": "swp7"}]},
  {"interfaces": [{"node": "leaf0", "interface": "swp2"}, {"node": "spine0"}]}]}
]}]
"""
NVUE_JSON = """\
{"swp1": {"lldp": {"neighbor": {
  "spine0": {"chassis": {"system-name": "spine0", "chassis-id": "6e:76:46:48:03:41"}, "port": {"name": "swp7"}}}}},
 "swp2": {"lldp": {"neighbor": {
  "other": {"chassis": {"chassis-id": "6e:76:46:48:03:42"}, "port": {"description": "swp8"}}}}},
 "swp3": {"link": {}}
}
"""
PTM = """\
graph G {
# a comment
// and another
 node [shape=box];
 "leaf0":"swp1" -- "spine0":"swp7";
 leaf0:swp2 -- "spine0":swp8 [bfd=true]
 "leaf0" -- "spine0";
}
"""
SONIC = """\
{
 "LLDP_LOC_CHASSIS": {"lldp_loc_sys_name": "leaf0"},
 "LLDP_ENTRY_TABLE:Ethernet0": {"lldp_rem_port_id": "etp1", "lldp_rem_port_desc": "Ethernet8", "lldp_rem_sys_name": "spine0"},
 "LLDP_ENTRY_TABLE:Ethernet4": {"type": "hash", "value": {"lldp_rem_port_id": "2", "lldp_rem_chassis_id": "6e:76:46:48:03:42"}},
 "LLDP_ENTRY_TABLE:eth0": {"lldp_rem_port_id": "1"}
}
"""
UFM = """\
[
 {"source_guid": "b8cef603000a1b2c", "source_port": "1", "source_port_dname": "1/1/1", "destination_guid": "1070fd0300aabb00",
  "source_port_node_description": "leaf0:1/1/1", "destination_port": "1", "destination_port_node_description": "node0 mlx5_0"},
 {"destination_guid": "b8cef603000a1b2c", "destination_port": "1", "source_guid": "1070fd0300aabb00", "source_port": "1"},
 {"source_guid": "b8cef603000a1b2c", "source_port": "x", "destination_guid": "1070fd0300aabb00", "destination_port": "1"}
]
"""
TABLE = """\
# a table
a_device;a_port;b_device;b_port;rate_gbps;cable_id;status
node0;nic0;leaf0;1;400;c1;connected
node0;nic1;leaf0;2;;c2;planned
node1;nic0;;3;400;c3;connected
node1;nic1;leaf0;4;fast;c4;connected
node2;nic0;node2;nic0;400G;c5;connected
"""
NDT = """\
StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndDeviceLocation,U_1,U_2,State
leaf0,Port 1,A1,spine0,Port 7,A2,1,2,Active
leaf0,Port 2,A1,node0 mlx5_0,,A3,1,2,Active
"""
NETBOX = json.dumps([
    cable([interface("gpu1", "eth0")], [interface("leaf0", "swp1")]),
    cable([interface("gpu1", "eth1")], [interface("leaf1", "swp1")], "decommissioning"),
    cable([interface("gpu1", "psu0", "dcim.powerport")], [interface("pdu", "1", "dcim.poweroutlet")]),
    cable([interface("leaf0", f"swp2s{i}") for i in range(2)], [interface("spine0", f"swp1s{i}") for i in range(2)]),
    cable([interface("leaf0", "")], [interface("spine0", "1")]), cable([interface("a", "1")], []),
], indent=0)  # fmt: skip
CAPTURES = {
    "ibnetdiscover": NETDISCOVER, "ports": REPORT, "iblinkinfo": LINKINFO, "lldpctl": LLDPCTL, "lldpcli": LLDPCLI,
    "keyvalue": KEYVALUE, "eos": EOS, "eos_short": EOS_SHORT, "napalm": NAPALM, "nxos": NXOS, "batfish": BATFISH, "netq": NETQ,
    "nvue": NVUE, "nvue_json": NVUE_JSON, "ptm": PTM, "sonic": SONIC, "ufm": UFM, "p2p": TABLE, "ndt": NDT, "netbox": NETBOX,
    "ibdiagnet": db_csv(),
}  # fmt: skip


def findings(found: Iterable[Diagnostic]) -> Iterator[str]:
    """Findings as they are told."""
    for d in found:
        at = f"{Path(d.span.file.name).name}:{d.span.begin[0]}-{d.span.finish[0]}" if d.span is not None else ""
        yield f"{d.code} {d.severity.word} {at} {d.message}"
        yield from (f"    at {Path(n.span.file.name).name}:{n.span.begin[0]} {n.message}" for n in d.labels)
        yield from (f"    note {n}" for n in d.notes)
        if d.help:
            yield f"    help {d.help}"


def said(made: Observed) -> Iterator[str]:
    """All that captures say."""
    for n in made.nodes.values():
        yield f"{n.key} {n.description!r} {n.kind} {' '.join(n.ids)} {n.ports} line {n.at.line}{' heard' * (n.key in made.heard)}"
    for w in made.wires:
        ends = " to ".join(f"{e.node} {'|'.join(e.port)} {e.id}" for e in (w.a, w.b))
        yield f"{ends}, {w.rate} on {w.lanes}, could {w.could}, line {w.at.line}"
    yield from (f"aside {k}: {why}" for k, why in made.aside.items())
    yield from (f"alias {k}: {n}" for k, n in made.alias.items())
    yield f"whole {made.whole}, {made.files} files"
    yield from findings(made.findings)


def unplaced(lines: Iterable[str]) -> list[str]:
    """What is said without the numbers of lines, which are others where one is left out."""
    return [re.sub(r" (line |leaf9\.txt:)[-0-9]+", "", x) for x in lines]


def taken(text: str, path: Path, option: str = "") -> Observed:
    path.write_text(text)
    made = Observed()
    read_capture_files([(option, path)], made)
    return made


@pytest.mark.parametrize("name", CAPTURES)
def test_captures(name: str, golden: Golden, tmp_path: Path) -> None:
    """A capture as it is; and what is other without each of its lines, and with a word less in each."""
    text = CAPTURES[name]
    path = tmp_path / "leaf9.txt"
    out = list(said(taken(text, path)))
    whole = unplaced(out)
    lines = text.splitlines(keepends=True)
    for n, line in enumerate(lines[:30]):
        words = re.findall(r"\S+", line)
        short = line.replace(words[-1], "", 1) if words else "x\n"
        for what, new in (("without", ""), ("shorter", short), ("twice", line + line)):
            told = unplaced(said(taken("".join([*lines[:n], new, *lines[n + 1 :]]), path)))
            out.append(f"{what} line {n + 1}")
            less = [x for x in whole if x not in told]
            out += ["  - all"] if len(less) > 3 and len(less) >= len(whole) - 1 else [f"  - {x}" for x in less]
            out += [f"  + {x}" for x in told if x not in whole]
    golden(f"observe/captures/{name}.txt", "\n".join(out) + "\n")


SMALL = """\
model switch SW { port p[1..18]: 400Gbps { type NDR; cage 2 OSFP; name "IB1/{(i + 1)//2}/{(i - 1)%2 + 1}"; os "swp{i}" } }
model host NODE { port nic[4]: 400Gbps { type NDR; cage 2 OSFP; os "mlx5_{i}" } }
fabric small {
  group su[2] {
    host node[3]: NODE
    switch leaf[4]: SW
    connect node[n].nic[r] to leaf[r] { class "rail" }
  }
  switch spine[2]: SW
  connect su[*].leaf[*] to spine[*] each x 2
  host lone: NODE
  connect lone.nic[0] to spine[0] { class "lone" }
}
"""
LONELY = """
Switch\t4 "S-99"\t# "lonely"
[1]\t"S-98"[1]\t# lid 0 4xNDR

Ca\t1 "S-98"\t# "lost HCA-1"
[1]\t"S-99"[1]\t# lid 0 4xNDR
"""
PLACES = """\
# of a hall
device,hall,row,rack,u
su0-leaf0,h1,A,2,40
su0-leaf1,h1,A,10,40
spine0,h1,B,1,40
su1-node0,h1,A,2,1
"""
SEEDS = tuple((kind, seed) for kind in KINDS for seed in (1, 2, 3))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(SMALL, tmp_path_factory.mktemp("small"), models=False)


def told(made: Audit) -> Iterator[str]:
    """All that an audit says."""
    for f in (*made.faults, *made.accepted):
        yield from findings([f.finding])
        for t in f.tasks:
            yield f"    {t.device} {t.port}: {t.action} ({t.found}; {t.planned}; {t.cable})"
        if f.mistake is not None:
            m = f.mistake
            yield f"    {m.kind} {m.cost} moves {m.moves} removed {m.removed} added {m.added} devices {m.devices}"
    yield from findings(made.notes)
    yield report.audit_summary(made).rstrip()


def judged(fabric: Fabric, path: Path, option: str, **asked: Any) -> Audit:
    made = Observed()
    read_capture_files([(option, path)], made)
    return audit_captures(fabric, made, AuditSettings(**asked))


@pytest.mark.parametrize("kind", KINDS)
def test_each_mistake(kind: str, small: Fabric, golden: Golden, tmp_path: Path) -> None:
    """One mistake, as three captures show it: the subnet, what devices hear, and what some of them hear."""
    out = []
    for seed in range(4):
        cables = Cables(small)
        if not KINDS[kind](cables, Random(seed)):
            continue
        words = ("4xNDR", "4xNDR", "2xNDR", "4xHDR") if seed == 3 else ("4xNDR",)
        speed = {p: words[p % len(words)] for p in range(len(small.port_device))}
        (tmp_path / "now.topo").write_text(netlist(cables, speed))
        folder = tmp_path / f"heard{seed}"
        lldp(cables, folder)
        out += [f"seed {seed}", *told(judged(small, tmp_path / "now.topo", "ibnetdiscover"))]
        if seed < 2:
            out += ["heard", *told(judged(small, folder, "lldp"))]
            for p in sorted(folder.iterdir())[::2]:
                p.unlink()
            out += ["heard by some", *told(judged(small, folder, "lldp"))]
    golden(f"observe/mistakes/{kind}.txt", "\n".join(out) + "\n")


@pytest.mark.parametrize("seed", range(5))
def test_many_mistakes(seed: int, small: Fabric, golden: Golden, tmp_path: Path) -> None:
    """Mistakes together with devices under other names, strangers, slow links; and all forms of the report."""
    cables, kinds = plant(small, seed, 2 + seed % 2)
    random = Random(seed)
    speed = {p: random.choice(("4xNDR", "4xNDR", "4xNDR", "2xNDR", "4xHDR")) for p in range(len(small.port_device))}
    other = (
        {4: "Quantum Mellanox Technologies", 3: "stranger", 12: "MF0;spine0:MQM9700/U1"} if seed % 2 else {0: "localhost mlx5_0"}
    )
    text = netlist(cables, speed if seed > 2 else dict.fromkeys(speed, "4xNDR"), other)
    text += LONELY
    (tmp_path / "now.topo").write_text(text)
    rules = (NameMapRule.parse("strang(er)=su0-leaf0"),) if seed == 1 else ()
    only = small.device_set == 1 if seed == 2 else None
    made = judged(small, tmp_path / "now.topo", "ibnetdiscover", rules=rules, only=only, simulator=seed == 4)
    rows = worklist.worklist_rows(made, worklist.read_rack_places(PLACES))
    entries, left = new_accepted_entries([made], "cables ordered", "OPS-1", date(2027, 1, 31))
    parts = [
        f"planted {' '.join(kinds)}", *told(made), worklist.worklist_as_csv(rows).decode(), report.audit_markdown(made),
        json.dumps(report.audit_document(made), indent=1), *(e.line.rstrip() for e in entries), f"{left} cannot be accepted",
        metrics([made]),
    ]  # fmt: skip
    path = SourceFile(
        "dead.txt", "".join(e.line for e in entries[::2]) + "".join(e.line for e in entries[1::2]).replace("2027-", "2025-")
    )
    for today in (date(2026, 1, 1), date(2027, 2, 1)):
        again = judged(small, tmp_path / "now.topo", "ibnetdiscover", rules=rules, only=only, simulator=seed == 4)
        listed = accepted(path)
        settle_accepted_faults(again, listed, {e.element: _links(small, e.element) for e in listed}, today)
        parts += [f"on {today}", *told(again)]
    golden(f"observe/many/{seed}.txt", re.sub(r"[^\s|]*/(now\.topo|design\.fab)", r"\1", "\n".join(parts)) + "\n")


def _links(fabric: Fabric, element: str) -> Any:
    """The links of an element of a list of failures."""
    import numpy as np

    device, _, port = element.partition(".p[")
    found = [d for d in range(fabric.device_count) if fabric.device_path(d) in (element, device)]
    rows = np.flatnonzero(np.isin(fabric.device_a, found) | np.isin(fabric.device_b, found))
    if not port:
        return rows
    at = int(fabric.port_base[found[0]]) + int(port.rstrip("]")) - 1
    return rows[(fabric.link_a[rows] == at) | (fabric.link_b[rows] == at)]


@pytest.mark.parametrize("seed", range(6))
def test_imports(seed: int, small: Fabric, golden: Golden, tmp_path: Path) -> None:
    """Captures as designs: arrays and rules where they hold, links one by one where not."""
    cables, kinds = plant(small, seed, seed)
    made = taken(netlist(cables, dict.fromkeys(range(len(small.port_device)), "4xNDR")), tmp_path / "now.topo")
    heard = Observed()
    lldp(cables, tmp_path / "heard")
    read_capture_files([("lldp", tmp_path / "heard")], heard)
    out = [f"planted {' '.join(kinds)}"]
    for one, rate in ((made, 0), (heard, 0), (heard, 400 * 10**9)):
        for structure, hosts in ((True, None), (False, re.compile("su.-node[01]"))):
            try:
                out.append(design_from_captures(one, "as built 2", rate, structure, hosts))
            except NoDesign as why:
                out.append(f"no design: {why}")
    golden(f"observe/imports/{seed}.txt", "\n".join(out) + "\n")


@pytest.mark.parametrize("name", CAPTURES)
def test_imports_of_captures(name: str, golden: Golden, tmp_path: Path) -> None:
    made = taken(CAPTURES[name], tmp_path / "leaf9.txt")
    try:
        text = design_from_captures(made, name, 10**11)
    except NoDesign as why:
        text = f"no design: {why}\n"
    golden(f"observe/imports/{name}.txt", text)


def test_names_of_devices() -> None:
    texts = (
        "MF0;leaf0:MQM9700/U1",
        "node0 mlx5_0",
        "node0.example.com HCA-1",
        "10.1.2.3",
        "localhost",
        "sonic",
        " leaf ",
        "0xab",
        "",
    )
    assert {t: (is_factory_description(t), list(device_name_readings(t))) for t in texts} == {
        "MF0;leaf0:MQM9700/U1": (False, [("leaf0", ""), ("leaf0/U1", "")]),
        "node0 mlx5_0": (False, [("node0 mlx5_0", ""), ("node0", "mlx5_0")]),
        "node0.example.com HCA-1": (
            False, [("node0.example.com HCA-1", ""), ("node0.example.com", "HCA-1"), ("node0", "HCA-1")],
        ),
        "10.1.2.3": (False, [("10.1.2.3", "")]), "localhost": (True, []), "sonic": (True, []), " leaf ": (False, [("leaf", "")]),
        "0xab": (True, []), "": (True, []),
    }  # fmt: skip
    rule = NameMapRule.parse("a=(.*)-x=sw\\1")
    assert list(device_name_readings("a=7-x", [rule])) == [("sw7", "")] and list(device_name_readings("b", [rule])) == [("b", "")]


def test_identifiers_lead_to_devices(small: Fabric, golden: Golden, tmp_path: Path) -> None:
    """Devices by GUIDs and serial numbers where their names say nothing, and such that stand elsewhere."""
    text = netlist(Cables(small), names=dict.fromkeys(range(small.device_count), "localhost"))
    device = {small.device_name(d): d for d in range(small.device_count)}
    nodes = dict.fromkeys(re.findall(r'"([^"]+)"\t#', text))
    guids = {node: f"{number:016x}" for number, node in enumerate(nodes, 0xABC000)}
    for node, guid in guids.items():
        text = text.replace(f'"{node}"', f'"S-{guid}"')
    (tmp_path / "now.topo").write_text(text)
    owner = {guid: (device[node.partition(":")[0]], -1) for node, guid in guids.items()}
    leaves = [guids["su0-leaf1"], guids["su0-leaf2"]]
    owner[leaves[0]], owner[leaves[1]] = owner[leaves[1]], owner[leaves[0]]
    del owner[guids["spine1"]], owner[guids["su1-node1:nic2"]]
    made = judged(small, tmp_path / "now.topo", "ibnetdiscover", assets=Identifiers(owner))
    golden("observe/identifiers.txt", "\n".join(told(made)) + "\n")


def test_recognition(golden: Golden) -> None:
    """Which readers take a text, and each of its lines alone, for theirs."""
    out = []
    for name, text in CAPTURES.items():
        out.append(f"{name}: {' '.join(n for n, r in capture_readers().items() if r.recognises(text))}")
        for line in dict.fromkeys(text.splitlines()[:25]):
            if found := [n for n, r in capture_readers().items() if r.recognises(line + "\n")]:
                out.append(f"  {' '.join(found)}: {line}")
    golden("observe/recognised.txt", "\n".join(out) + "\n")


def affine(low: tuple[int, ...], high: tuple[int, ...], end: Callable[..., tuple[int, ...]]) -> Rows:
    """Links from every place of a box to where a function leads."""
    return [(x, end(*x)) for x in product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))]


WIRED: dict[str, Rows] = {
    **{f"by_{d}": affine((0, 1), (2 * d - 1, 2), lambda n, p, d=d: (n // d, n % d + d * p)) for d in DIVISORS[1:]},
    "by_7": affine((0, 1), (13, 2), lambda n, p: (n // 7, n % 7 + 7 * p)),
    "straight": affine((0, 1), (3, 4), lambda n, p: (p, n)), "turned": affine((0, 1), (3, 4), lambda n, p: (3 - n, 2 * p + 1)),
    "moved": affine((2, 3), (5, 6), lambda n, p: (n - 2, n + p)), "constant": affine((0, 1), (4, 1), lambda n, p: (0, n + 1)),
    "few": affine((0, 1), (1, 1), lambda n, p: (0, n + 1)), "three": affine((0, 1), (2, 1), lambda n, p: (0, n + 1)),
    "one": [((0, 1), (0, 1))], "holes": [r for r in affine((0, 1), (7, 4), lambda n, p: (p, n)) if r[0] not in ((2, 2), (5, 1))],
    "many_holes": [r for r in affine((0, 1), (9, 8), lambda n, p: (p, n)) if (r[0][0] * 7 + r[0][1]) % 4],
    "half": [r for r in affine((0, 1), (9, 8), lambda n, p: (p, n)) if (r[0][0] + r[0][1]) % 3 == 0],
    "swapped": [((n, 1), (0, {3: 6, 5: 4}.get(n, n + 1))) for n in range(12)],
    "half_swapped": [((n, 1), (0, n + 1 if n % 3 else 40 - n)) for n in range(12)],
    "six": [((n, 1), (0, {3: 3, 2: 4}.get(n, n + 1))) for n in range(6)],
    "five": [((n, 1), (0, {3: 3, 2: 4}.get(n, n + 1))) for n in range(5)],
    "by_ports": [((n, p), (n, p + 1) if p < 3 else (7 - n, 9)) for n in range(8) for p in range(1, 5)],
    "by_groups": [((g, n, 1), (g, n * g + n * n % 3)) for g in range(3) for n in range(6)],
    "cubes": affine((0, 0, 1), (2, 3, 2), lambda x, y, p: (x, 4 * p + y)),
    "random": [((n, 1), (n * n % 11, n * 3 % 7)) for n in range(9)],
    "twice": [((n // 2, 1), (0, n)) for n in range(8)], "alone": affine((0, 1), (5, 1), lambda n, p: (n, n + 1)),
}  # fmt: skip


@pytest.mark.parametrize("boxes", ["as_they_are", "larger", "none"])
def test_rules_of_links(boxes: str, golden: Golden) -> None:
    """Connects for links of many forms, between arrays that are as large as the links reach, or larger."""
    out = []
    for name, links in WIRED.items():
        box = []
        for side in (0, 1):
            columns = list(zip(*(r[side] for r in links), strict=True))
            more = 2 if boxes == "larger" else 0
            box.append([(min(c), max(c) + more) for c in columns])
        given = (box[0], box[1]) if boxes != "none" else None
        out += [f"{name}, {len(links)} links", *(f"  {x}" for x in connect_rules("a", "b", list(links), "1Gbps", given))][:14]
    golden(f"observe/rules_{boxes}.txt", "\n".join(out) + "\n")


NAMED = """\
a_device,a_port,b_device,b_port,rate_gbps
{rows}
"""


def test_imports_of_tables(golden: Golden, tmp_path: Path) -> None:
    """Names that are arrays or not, hosts by their names and ports, rates of each unit."""
    tables = {
        "zeros": [f"gpu{n:02},eth{p},leaf-{p:03}-a,swp{n},400" for n in range(9, 13) for p in range(2)],
        "widths": [f"gpu{n},eth0,leaf1,{n},2.5" for n in (8, 9, 10, 11)],
        "mixed": [*(f"gpu{n:02},eth0,leaf1,{n},0.1" for n in (1, 2)), *(f"gpu{n},eth0,leaf1,{n},0.1" for n in (3, 4))],
        "sparse": [f"node{n},ib0,sw,{n},1000" for n in (1, 2, 40, 41)],
        "dense": [f"node{n},ib0,sw,{n},1600" for n in (1, 2, 4, 5)],
        "two_numbers": [f"r{r}n{n},nic{p},r{r}leaf,{4 * n + p},0.0000001" for r in range(2) for n in range(3) for p in range(2)],
        "words": ["switch,1,fabric,2,1", "host,1,switch,2,1", "a-b,x y,a_b,x_y,1", "ü,1,ö,2,1"],
        "loops": ["a,1,a,2,1", "a,3,b,1,1", "b,1,a,3,1", "a,4,b,1,1"],
        "kinds": ["login1,bond0,core,1,1", "srv-1.example.com,p1p1,core,2,1", "box,1,core,3,1", "core,4,edge,Ethernet1/1,1"],
    }
    out = []
    for name, rows in tables.items():
        made = taken(NAMED.format(rows="\n".join(rows)), tmp_path / "t.csv")
        for structure, hosts in ((True, None), (False, re.compile("core|b"))):
            try:
                out.append(f"==== {name}\n" + design_from_captures(made, name, 0, structure, hosts))
            except NoDesign as why:
                out.append(f"==== {name}: {why}\n")
    golden("observe/imports/tables.txt", "".join(out))


def test_names_of_ports(golden: Golden, tmp_path: Path) -> None:
    """The ports that names mean, by model and system; numbers of ports."""
    text = """\
model switch A { port p[1..4]: 400Gbps { type GE400; os "swp{i}"; name "{i + 10}"; sonic 8*(i - 1) lanes 8 } }
model switch ONE { port q: 400Gbps { type GE400 } }
model host H { port nic[2]: 400Gbps { type GE400; os "eth{i}" } }
fabric f {
  switch s: A { nos sonic }
  switch c: A { nos nvue }
  switch n: A
  switch one: ONE
  host h: H
  connect s.p[1] to c.p[1]
  connect n.p[1] to one
  connect h.nic[0] to s.p[2]
}
"""
    fabric = fabric_of(text, tmp_path, models=False)
    names = DesignNames(fabric)
    rows = {fabric.device_name(d): d for d in range(fabric.device_count)}
    assert [names.device(n) for n in ("s", "S", "c", "x", "")] == [rows["s"], rows["s"], rows["c"], -1, -1]
    asked = ("swp2", "SWP2", "12", "p2", "p[2]", "Ethernet8", "etp2", "Ethernet0", "nic1", "eth1", "q", "", "x")
    told = [f"{d}: " + ", ".join(f"{n} {names.local(rows[d], [n])}" for n in asked) for d in rows]
    golden("observe/ports.txt", "\n".join(told) + "\n")


def test_limits_of_captures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More devices, links, faults and characters of a name than are kept."""
    rows = "".join(f"n{n},1,m,{n},1\n" for n in range(30))
    text = "a_device,a_port,b_device,b_port,rate_gbps\n" + rows
    monkeypatch.setattr(record, "MOST_LINKS", 7)
    made = taken(text, tmp_path / "a.csv")
    assert len(made.wires) == 7 and [d.message for d in made.findings] == ["there are more than 7 links"] * record.MOST_FAULTS
    monkeypatch.setattr(record, "MOST_LINKS", 100)
    monkeypatch.setattr(record, "MOST_NODES", 5)
    made = taken(text, tmp_path / "a.csv")
    assert len(made.nodes) == 5 and {d.message for d in made.findings} == {"there are more than 5 devices"}
    assert len(made.wires) == 4 and len(made.findings) == record.MOST_FAULTS == 20
    assert [d.message for d in taken("\0a,b\n", tmp_path / "a.csv").findings] == ["a zero byte"]
    for size in (507, 508):  # with what tells names from other keys
        assert len(taken(NAMED.format(rows=f"{'n' * size},1,b,1,1"), tmp_path / "a.csv").findings) == size - 507
    assert [record.hexadecimal_digits(x) for x in ("0x0002c903000a1b2c", "08:00:27:4f:33:2d", "0800.274F.332d", "8", "g" * 12, "")] == [
        "0002c903000a1b2c", "0800274f332d", "0800274f332d", "", "", "",
    ]  # fmt: skip
    assert [record.count_in_capture(x, 1, "it", 16, b) for x, b in (("0", 10), ("16", 10), ("f", 16))] == [0, 16, 15]
    for wrong in ("17", "-1", "x", "", "1" * 21):
        with pytest.raises(record.Malformed, match=r"it is .* which is not a number from 0 to 16"):
            record.count_in_capture(wrong, 1, "it", 16)


def test_speeds() -> None:
    assert {x: speeds.rate_of_width_word(x) for x in ("4xNDR", "1XHDR", "12x QDR", "2xFDR10", "4xABC", "NDR", "")} == {
        "4xNDR": (400 * 10**9, 4), "1XHDR": (50 * 10**9, 1), "12x QDR": (120 * 10**9, 12), "2xFDR10": (20 * 10**9, 2),
        "4xABC": (0, 4),
        "NDR": (0, 0), "": (0, 0),
    }  # fmt: skip
    printed = {"2.5": "SDR", "5.0": "DDR",
               "10.0": "QDR", "10.3125": "FDR10", "14.0625": "FDR", "25.78125": "EDR", "53.125": "HDR",
               "106.25": "NDR", "212.5": "XDR", "5": "DDR", "9": "", "99999": "", "x": "", "1.x": "", "": ""}  # fmt: skip
    assert {x: speeds.speed_of_signalling_rate(x) for x in printed} == printed


REQUIRED = SMALL.rstrip().removesuffix("}") + "  require bisection >= 100%\n  require reachability\n  require diameter <= 4\n}\n"


@pytest.mark.parametrize("seed", range(4))
def test_requirements_on_what_is_built(seed: int, small: Fabric, golden: Golden, tmp_path: Path) -> None:
    """What the command prints, with the requirements on what is built and the faults whose mending keeps them."""
    cables, kinds = plant(small, 40 + seed, 2 + seed)
    random = Random(seed)
    speed = {p: random.choice(("4xNDR",) * 9 + ("1xHDR",)) for p in range(len(small.port_device))}
    (tmp_path / "now.topo").write_text(netlist(cables, speed))
    (tmp_path / "d.fab").write_text(REQUIRED)
    form = ("text", "markdown", "json", "text")[seed]
    done = tdsl("audit", tmp_path / "d.fab", "--ibnetdiscover", tmp_path / "now.topo", "--format", form)
    assert done.exit_code == 1
    text = re.sub(r"[^\s|\"]*/(now\.topo|d\.fab)", r"\1", done.stdout)
    golden(f"observe/required/{seed}.txt", f"planted {' '.join(kinds)}\n{text}")


def test_explanations(golden: Golden) -> None:
    """What is found of mistakes on four larger fabrics, with the moves of each."""
    out = []
    for seed in range(300, 348):
        made = fabrics()[seed % 4]
        cables, kinds = plant(made, seed, 1 + seed % 3)
        out.append(f"{seed}: {' '.join(kinds)}")
        for m in explained(cables):
            ties = " ".join(f"or {t.kind} {t.moves}" for t in m.ties)
            moves = f"{m.moves} -{m.removed} +{m.added}"
            if len(moves) > 150:
                moves = f"{moves[:60]}… {hashlib.sha256(moves.encode()).hexdigest()[:16]}"
            out.append(f"  {m.kind} {m.cost} {m.devices} {moves} {ties}")
    golden("observe/explained.txt", "\n".join(out) + "\n")


IDENTIFIED = """\
device,port,node_guid,port_guid,mac,serial
su0-leaf0,,0x0002c90300000001,,00:02:c9:00:00:01,S1
su0-node0,nic[0],0002c90300000003,0002c90300000004,,
su0-node0,nic[1],0002c90300000003,0002c90300000006,,
su0-node1,mlx5_1,,,00-02-c9-00-00-0b,S2
nothing,,,,00-02-c9-00-00-0c,S3
"""


def test_tables_of_identifiers(small: Fabric) -> None:
    """What belongs to whom: GUIDs of devices and of ports, MAC addresses, serial numbers."""

    def owners(text: str) -> tuple[dict[str, tuple[int, int]], list[str]]:
        found = Diagnostics()
        return dict(identifiers.read_identifiers(small, SourceFile("assets.csv", text), found).owner), [d.code for d in found]

    row = {small.device_name(d): d for d in range(small.device_count)}
    leaf, one, two = row["su0-leaf0"], row["su0-node0"], row["su0-node1"]
    known = {
        "0002c90300000001": (leaf, -1), "0002c90300000003": (one, -1), "0002c90300000004": (one, 0), "0002c90300000006": (one, 1),
        "0002c9000001": (leaf, -1), "S1": (leaf, -1), "0002c900000b": (two, 1), "S2": (two, 1),
    }  # fmt: skip
    assert owners(IDENTIFIED) == (known, ["E0532"])
    bare = "\n".join(",".join(c for i, c in enumerate(r.split(",")) if i not in (2, 3)) for r in IDENTIFIED.splitlines())
    assert owners(bare) == ({k: v for k, v in known.items() if k in ("0002c9000001", "S1", "0002c900000b", "S2")}, [])
    single = IDENTIFIED.replace("0002c90300000003,0002c90300000006", "0002c90300000005,0002c90300000006")
    assert owners(single)[0] == known | {"0002c90300000003": (one, 0), "0002c90300000005": (one, 1)}
    assert owners("") == ({}, []) and owners("device,x\n") == ({}, ["E0531"])
    assert owners("device,serial\nsu0-leaf0,S\n") == ({"S": (leaf, -1)}, [])
