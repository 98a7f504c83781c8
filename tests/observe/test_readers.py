"""Readers: what captures of real devices say, and hostile ones."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.cli import cli
from tdsl.observe.readers import capture_readers
from tdsl.observe.reading import CaptureUnreadable, read_capture_files
from tdsl.observe.record import Observed
from tdsl.observe.speeds import infiniband_rate
from tests.cli.run import tdsl, write
from tests.fabrics import superpod
from tests.observe.captures import netlist
from tests.observe.plant import Cables

DATA = Path(os.environ.get("TDSL_TEST_DATA", "/nowhere")) / "asbuilt"
GOOD = netlist(Cables(superpod(1, 2, 2, 1).build()))
SWITCH = 'Switch\t4 "S-1"\t# "sw"\n'


def observed(*paths: Path) -> Observed:
    made = Observed()
    read_capture_files([("", p) for p in paths], made)
    return made


def real(name: str) -> Path:
    if not (DATA / name).exists():
        pytest.skip("TDSL_TEST_DATA does not name a folder with asbuilt captures")
    return DATA / name


def faults(made: Observed) -> list[tuple[str, int]]:
    return [(d.code, d.span.begin[0] if d.span else 0) for d in made.findings]


SPEED, WIDTH = {"HDR": 1 << 10, "NDR": 1 << 11, "EDR": 1 << 9}, {1: 1, 4: 2, 2: 16}
LLDPCLI = """\
-------------------------------------------------------------------------------
LLDP neighbors:
-------------------------------------------------------------------------------
Interface:    swp1, via: LLDP, RID: 1, Time: 0 day, 00:02:10
  Chassis:
    ChassisID:    mac 6e:76:46:48:03:41
    SysName:      spine0
    SysDescr:     Debian GNU/Linux 9 (stretch) Linux 4.9.0-6-amd64
    Capability:   Router, on
  Port:
    PortID:       ifname swp7
    PortDescr:    to leaf0
    TTL:          120
-------------------------------------------------------------------------------
Interface:    eth0.5, via: LLDP, RID: 2, Time: 0 day, 00:02:12
  Chassis:
    ChassisID:    mac 6e:76:46:48:03:42
  Port:
    PortID:       mac 6e:76:46:48:03:43
    TTL:          120
-------------------------------------------------------------------------------
"""
KEYVALUE = """\
lldp.swp1.via=LLDP
lldp.swp1.rid=1
lldp.swp1.chassis.mac=6e:76:46:48:03:41
lldp.swp1.chassis.name=spine0
lldp.swp1.port.ifname=swp7
lldp.swp1.port.descr=to leaf0
lldp.eth0.5.chassis.mac=6e:76:46:48:03:42
lldp.eth0.5.port.mac=6e:76:46:48:03:43
"""


@cache
def scanned() -> Observed:
    """The nodes and links of a subnet by its netlist, with a GUID each."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.topo"
        path.write_text(GOOD)
        made = observed(path)
    known = {key: f"id:{number:016x}" for number, key in enumerate(made.nodes, 0xABC000)}
    made.nodes = {known[k]: n._replace(key=known[k], ids=(known[k][3:],)) for k, n in made.nodes.items()}
    made.wires = [w._replace(a=w.a._replace(node=known[w.a.node]), b=w.b._replace(node=known[w.b.node])) for w in made.wires]
    made.heard = {known[k] for k in made.heard}
    return made


def db_csv() -> str:
    """What ibdiagnet writes of the same subnet."""
    made = scanned()
    kinds = {"adapter": 1, "switch": 2, "router": 3}
    lines = ["START_NODES", "NodeDesc,NumPorts,NodeType,SystemImageGUID,NodeGUID,PortGUID,LocalPortNum"]
    for n in made.nodes.values():
        lines.append(f'"{n.description}",{n.ports},{kinds[n.kind]},0x{n.ids[0]},0x{n.ids[0]},0x{n.ids[0]},1')
    lines += ["END_NODES", "", "", "START_PORTS", "NodeGuid,PortGuid,PortNum,LinkWidthActv,LinkSpeedActv,LMC"]
    for w in made.wires:
        speed = next(SPEED[k] for k in SPEED if infiniband_rate(w.lanes, k) == w.rate)
        lines += [f"0x{e.node[3:]},0x{e.node[3:]},{e.port[0]},{WIDTH[w.lanes]},{speed},0" for e in (w.a, w.b)]
    lines += [
        "END_PORTS",
        "",
        "START_EXTENDED",
        "a,b",
        "1",
        "END_EXTENDED",
        "START_LINKS",
        "NodeGuid1,PortNum1,NodeGuid2,PortNum2",
    ]
    lines += [f"0x{w.a.node[3:]},{w.a.port[0]},0x{w.b.node[3:]},{w.b.port[0]}" for w in made.wires]
    return "\n".join([*lines, "END_LINKS", ""])


def links_of_ufm() -> str:
    """What UFM says of the same subnet, each link once from each side."""
    made = scanned()
    out = []
    for w in made.wires:
        for ends in ((w.a, w.b), (w.b, w.a)):
            link = {"width": "4x", "severity": "Info"}
            for side, e in zip(("source", "destination"), ends, strict=True):
                link |= {
                    f"{side}_guid": e.node[3:], f"{side}_port": e.port[0], f"{side}_port_dname": e.port[0],
                    f"{side}_port_node_description": f"{made.nodes[e.node].description}:{e.port[0]}",
                }  # fmt: skip
            out.append(link)
    return json.dumps(out, indent=1)


@pytest.mark.parametrize(("text", "name"), [(db_csv(), "ibdiagnet2.db_csv"), (links_of_ufm(), "links.json")])
def test_three_readers_agree_on_a_subnet(text: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    made, known = observed(tmp_path / name), scanned()
    assert not faults(made) and made.whole and made.heard == known.heard
    assert {k: n.description for k, n in made.nodes.items()} == {k: n.description for k, n in known.nodes.items()}

    def ends(of: Observed) -> set[frozenset[tuple[str, str]]]:
        return {frozenset({(w.a.node, w.a.port[0]), (w.b.node, w.b.port[0])}) for w in of.wires}

    assert ends(made) == ends(known) and len(made.wires) == len(known.wires)
    rates = sorted(w.rate for w in known.wires) if name.endswith("db_csv") else [0] * len(known.wires)
    assert sorted(w.rate for w in made.wires) == rates


def test_a_folder_of_ibdiagnet(tmp_path: Path) -> None:
    (tmp_path / "ibdiagnet2.db_csv").write_text(db_csv())
    (tmp_path / "ibdiagnet2.log").write_text("no table\n")
    made = Observed()
    read_capture_files([("ibdiagnet", tmp_path)], made)
    assert not faults(made) and len(made.wires) == len(scanned().wires)
    (tmp_path / "ibdiagnet2.db_csv").unlink()
    with pytest.raises(CaptureUnreadable, match="db_csv file"):
        read_capture_files([("ibdiagnet", tmp_path)], Observed())


@pytest.mark.parametrize("text", [LLDPCLI, KEYVALUE])
def test_lldpd_as_text(text: str, tmp_path: Path) -> None:
    (tmp_path / "leaf0.txt").write_text(text)
    made = Observed()
    read_capture_files([("lldp", tmp_path / "leaf0.txt")], made)
    assert not faults(made) and "name:leaf0" in made.heard
    assert [(w.a.port[0], w.b.node, w.b.port[0], w.b.id) for w in made.wires] == [
        ("swp1", "name:spine0", "swp7", ""), ("eth0.5", "chassis:6e7646480342", "6e:76:46:48:03:43", "6e7646480343"),
    ]  # fmt: skip


def test_an_interface_that_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "leaf0.txt").write_text(LLDPCLI[: LLDPCLI.index("    PortID:       mac")])
    made = Observed()
    read_capture_files([("lldp", tmp_path / "leaf0.txt")], made)
    assert faults(made) == [("E0601", 15), ("E0602", 18)] and len(made.wires) == 1


# ---------------------------------------------------------------- real captures


@pytest.mark.parametrize(
    ("name", "nodes", "links"),
    [
        ("ibnetdiscover/loginoff-sx6036-8sw-144ca.ibnetdiscover.txt", 152, 192),
        ("ibnetdiscover/ibtopotool-1.topo", 6, 7),
        ("ibnetdiscover/ibtopotool-2.topo", 3, 2),
        ("ibnetdiscover/ibtopotool-4.topo", 2, 1),
        ("ibnetdiscover/exporter-ports-test.out", 7, 4),
        ("lldp/lldpctl-json-sonic.json", 4, 33),
        ("lldp/lldpctl-json-interface_only.json", 3, 2),
        ("lldp/lldpctl-json-empty.json", 1, 0),
        ("lldp/eos-lldp-neighbors.json", 2, 2),
        ("lldp/napalm-nxos.json", 3, 3),
        ("other/layer1-asymmetric.json", 4, 2),
        ("other/example_layer1_topology.json", 15, 40),
        ("other/topologyGraph.json", 11, 79),
        ("ufm_ndt/ndt.csv", 29, 400),
        ("ufm_ndt/ndth2s.csv", 52, 320),
    ],
)
def test_real_captures(name: str, nodes: int, links: int) -> None:
    made = observed(real(name))
    assert (faults(made), len(made.nodes), len(made.wires)) == ([], nodes, links)


def pairs(made: Observed) -> set[tuple[str, str, str]]:
    """Local port, neighbour and its first port, of a capture of one device."""
    return {(w.a.port[0], made.nodes[w.b.node].description, w.b.port[0]) for w in made.wires}


def test_two_readers_agree_on_a_sonic_switch() -> None:
    assert pairs(observed(real("lldp/lldpctl-json-sonic.json"))) == pairs(observed(real("lldp/sonic-LLDP_ENTRY_TABLE.json")))


@pytest.mark.parametrize("issue", ["issue903", "issue1153"])
def test_eos_and_napalm_agree(issue: str) -> None:
    eos, napalm = (observed(real(f"lldp/{n}-{issue}.json")) for n in ("eos-lldp-detail", "napalm-eos"))

    def known(made: Observed) -> set[tuple[str, str]]:
        return {(w.a.port[0], made.nodes[w.b.node].description) for w in made.wires}

    assert known(eos) == known(napalm) and eos.wires


def test_nxos_detail() -> None:
    made = observed(real("lldp/nxos-lldp-detail.txt"))
    assert not faults(made) and made.wires
    short = observed(real("lldp/nxos-lldp-neighbors.txt"))
    assert [c for c, _ in faults(short)] == ["E0601"]


@pytest.mark.parametrize("name", ["garbage.ndt", "incorrect_columns.ndt"])
def test_malformed_tables_of_ufm(name: str) -> None:
    assert faults(observed(real(f"ufm_ndt/{name}"))) == [("E0601", 1)]


# ---------------------------------------------------------------- hostile captures


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "E0602", 1),
        ("hello\n", "E0601", 1),
        (SWITCH + '[9]\t"S-1"[1]\t# lid 0 4xHDR\n', "E0601", 2),
        (SWITCH + '[1]\t"S-2"[1]\t# lid 0 4xHDR\n', "E0602", 2),
        (SWITCH + SWITCH, "E0601", 2),
        (SWITCH + '[1]\t"S-1', "E0601", 2),
        ('[1]\t"S-1"[1]\n' + SWITCH, "E0601", 1),
        (SWITCH + "x" * (2 << 20), "E0601", 2),
        (SWITCH + "\x1b[2Jboo\n", "E0601", 2),
        ('Switch\t4 "S-1"\t# "sw\x07"\n', "E0601", 1),
        ('Switch\t4 "S-1"\t# "sw\u202e1"\n', "E0601", 1),
        (SWITCH + "\0\n", "E0601", 2),
        ('Switch\t99999 "S-1"\t# "sw"\n', "E0601", 1),
        ('Switch\t4 "S-1"\t# "' + "n" * 600 + '"\n', "E0601", 1),
    ],
)
def test_hostile_topologies(text: str, code: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "a.topo").write_text(text)
    made = Observed()
    read_capture_files([("ibnetdiscover", tmp_path / "a.topo")], made)
    assert (code, line) in faults(made)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", 1),
        ('{"lldp": {"interface": [\n{"swp1": 5}]}}', 2),
        ('{"lldp": {"interface": [\n{"swp1": {"chassis": {}, "port": 3}}]}}', 2),
        ('{"lldp": {"interface": {"swp1": {"chassis": {}, "port": {"id": {"value": NaN}}}}}}', 1),
        ('{"lldp": ' + "[" * 100_000, 1),
        ('{"LLDP_ENTRY_TABLE:Ethernet0": 7}', 1),
        ('{"lldpNeighbors": [7]}', 1),
        ('{"edges": [{"node1": 1, "node2": 2}]}', 1),
        ('{"swp1": {"lldp": {"neighbor": {"x": 1}}}}', 1),
        ('{"Ethernet1": [{"remote_system_name": ["x"]}]}', 1),
        ('[{"links": [{"compounded_links": [{"interfaces": []}]}]}]', 1),
        ('graph G {\n"a":"b" -> "c":"d";\n"a":"b" -- "c":"d";\n}', 2),
        ("junk\n", 1),
    ],
)
def test_hostile_neighbours(text: str, line: int, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    made = Observed()
    read_capture_files([("lldp", tmp_path / "a.json")], made)
    assert faults(made) == [("E0601", line)]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.topo").write_bytes(b"# fine\n\xff\xfe\n")
    assert faults(observed(tmp_path / "a.topo")) == [("E0601", 2)]


def test_a_cut_capture_is_a_finding_and_no_missing_cables(tmp_path: Path) -> None:
    design = write(tmp_path)
    whole = netlist(Cables(superpod(1, 4, 8, 2).build()))
    for share in range(1, 12):
        (tmp_path / "cut.topo").write_text(whole[: len(whole) * share // 12])
        done = tdsl("audit", design, "--ibnetdiscover", tmp_path / "cut.topo", "--format", "json")
        assert done.exit_code == 1
        assert {"E0601", "E0602"} >= {d["code"] for d in json.loads(done.stdout)["fabrics"][0]["findings"]}


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_change_of_a_capture_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Never an exception, whatever is cut, doubled or put in."""
    texts = [
        GOOD,
        '{"lldp": {"interface": [{"swp1": {"chassis": {"a": {}}, "port": {"id": {"value": "x"}}}}]}}',
        "a_device,a_port,b_device,b_port\na,1,b,2\n",
        db_csv(),
        links_of_ufm(),
        LLDPCLI,
        KEYVALUE,
    ]
    text = data.draw(st.sampled_from(texts))
    random = Random(data.draw(st.integers(0, 1 << 30)))
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(text) + 1)
        piece = random.choice(["", '"', "[", "{", "\n", "\x00", "é", "\\u", "9" * 30, ",", text[at : at + 40]])
        text = text[:at] + piece + text[at + random.randint(0, 30) :]
    path = tmp_path_factory.mktemp("any") / "x.json"
    path.write_text(text)
    for option in ("", *sorted({r.OPTION for r in capture_readers().values()})):
        made = Observed()
        read_capture_files([(option, path)], made)
        for d in made.findings:
            assert d.span is not None and d.code in ("E0601", "E0602")


def test_a_wrong_call(tmp_path: Path) -> None:
    design = write(tmp_path)
    (tmp_path / "empty").mkdir()
    assert tdsl("audit", design).exit_code == 2
    for args in (["--lldp", tmp_path / "empty"], ["--map", "(=x"], ["--only", "nothing[9]"]):
        (tmp_path / "c.topo").write_text(GOOD)
        done = tdsl("audit", design, "--ibnetdiscover", tmp_path / "c.topo", *args)
        assert done.exit_code == 2 and "Traceback" not in done.output
    assert "audit" in cli.list_commands(None)  # type: ignore[arg-type,attr-defined]
