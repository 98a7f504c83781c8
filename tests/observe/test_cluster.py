"""Captures of a cluster: its networks are compared as one, and each link of the captures is used or set aside with the reason."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import Result

from tdsl.observe.match import match_captures
from tdsl.observe.reading import read_capture_files
from tdsl.observe.record import CapturedLink, Observed
from tests.cli.run import tdsl
from tests.observe.test_match import F, observed, wire
from tests.observe.test_readers import FIXTURES, fixture

CLUSTER = """\
model host N { port nic[2]: 100Gbps { type GE; os "eth{i}" }; port sto: 100Gbps { type GE; os "st{i}" } }
model switch SW { port p[1..8]: 100Gbps { type GE; os "swp{i}"; name "{i}" } }
cluster k {
  host node[3]: N
  fabric compute {
    transport ethernet
    switch leaf[2]: SW
    connect node[n].nic[r] to leaf[r]
    require survives any 1 of leaf
  }
  fabric storage {
    transport ethernet
    switch leaf: SW
    connect node[n].sto to leaf
    require reachability
  }
  require links == 9
}
"""
HEADING = "a_device,a_port,b_device,b_port\n"
ROWS = [
    *(f"node{n},nic{r},compute-leaf{r},{n + 1}\n" for n in range(3) for r in range(2)),
    *(f"node{n},sto,storage-leaf,{n + 1}\n" for n in range(3)),
]
BRIDGE = "compute-leaf0,swp8,storage-leaf,swp8\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.fab").write_text(CLUSTER)
    return tmp_path


def cabled(rows: list[str], *options: str) -> Result:
    """The audit of the cluster against a table of cables."""
    Path("cables.csv").write_text(HEADING + "".join(rows))
    return tdsl("audit", "k.fab", "--p2p", "cables.csv", *options)


def document(rows: list[str], *options: str) -> Any:
    (fabric,) = json.loads(cabled(rows, *options, "--format", "json").stdout)["fabrics"]
    return fabric


def found(rows: list[str], *options: str) -> list[tuple[str, int, str]]:
    """Code, line and message of each finding."""
    return [(d["code"], d["line"], d["message"]) for d in document(rows, *options)["findings"]]


def test_a_cluster_that_is_cabled_as_designed(folder: Path) -> None:
    """No device and no link of one network is unknown in the other."""
    done = cabled(ROWS)
    assert done.exit_code == 0 and done.stdout == (
        "k: 9 of 9 links are cabled as designed; no faults\n"
        "  compute: 6 of 6 links are cabled as designed\n"
        "  storage: 3 of 3 links are cabled as designed\n"
        "  9 rows read: 9 used, 0 set aside\n"
    )
    made = document(ROWS)
    assert made["findings"] == [] and made["rows"] == {"read": 9, "used": 9, "repeated": 0, "set_aside": 0, "aside": []}
    assert [(n["fabric"], n["links"], n["links_judged"], n["links_as_designed"]) for n in made["networks"]] == [
        ("compute", 6, 6, 6), ("storage", 3, 3, 3),
    ]  # fmt: skip


@pytest.mark.parametrize("row", [BRIDGE, "storage-leaf,8,compute-leaf0,8\n", "leaf[0],p[8],storage-leaf,p[8]\n"])
def test_a_cable_between_two_networks(folder: Path, row: str) -> None:
    """No network plans it; the cluster's own requirement counts it, and neither network's does."""
    done = cabled([*ROWS, row])
    assert done.exit_code == 1, done.stdout
    (extra, broken) = found([*ROWS, row])
    assert extra[:2] == ("E0626", 11) and broken[:2] == ("E0640", 17)
    assert "compute-leaf0 8" in extra[2] and "storage-leaf 8" in extra[2]
    assert broken[2] == "as built, `links == 9` is refuted: 10 links"
    kept = {(r.get("network", ""), r["requirement"]): r["kept"] for r in document([*ROWS, row])["requirements"]}
    assert kept == {("compute", "survives any 1 of leaf"): True, ("storage", "reachability"): True, ("", "links == 9"): False}


def test_plugs_of_two_networks_that_are_exchanged(folder: Path) -> None:
    """One mistake, not one in each network."""
    rows = [
        r.replace("nic0", "sto")
        if r.startswith("node0,nic0")
        else r.replace("sto", "nic0", 1)
        if r.startswith("node0,sto")
        else r
        for r in ROWS
    ]
    assert [code for code, _, _ in found(rows)] == ["E0620"]


def test_a_network_that_no_capture_shows(folder: Path) -> None:
    """Nothing judged of it is no pass, unless the audit is limited to others."""
    Path("leaf0.txt").write_text(LLDP)
    call = ("audit", "k.fab", "--lldp", "leaf0.txt", "--map", "leaf0=compute-leaf0")
    done = tdsl(*call)
    assert done.exit_code == 1 and "E0907" in done.stdout, done.stdout
    assert "none of the 3 links of the network `storage` was judged" in " ".join(done.stdout.split())
    only = tdsl(*call, "--only", "leaf[*]")
    assert only.exit_code == 0 and "storage: none of 3 links was judged" in only.stdout, only.stdout


LLDP = "".join(
    f"Interface:    swp{n + 1}, via: LLDP, RID: {n}, Time: 0 day, 00:02:10\n  Chassis:\n"
    f"    ChassisID:    mac 6e:76:46:48:03:4{n}\n    SysName:      node{n}\n"
    f"  Port:\n    PortID:       ifname eth0\n    TTL:          120\n{'-' * 60}\n"
    for n in range(3)
)


@pytest.mark.parametrize("pattern", ["compute-leaf0", "leaf[0]", "compute.leaf[0]"])
def test_some_devices_of_a_cluster(folder: Path, pattern: str) -> None:
    """By name, by path in a network, by path in the cluster."""
    assert document(ROWS[1:], "--only", pattern)["of"] == 3
    assert [code for code, _, _ in found(ROWS[1:], "--only", pattern)] == ["E0625", "E0640"]
    assert cabled(ROWS[1:], "--only", "storage-leaf").exit_code == 0
    assert cabled(ROWS, "--only", "nothing").exit_code == 2


def test_what_is_set_aside_and_what_is_repeated(folder: Path) -> None:
    """With the reason, both ends and the line; of many the first few."""
    rows = [
        *ROWS,
        "compute-leaf0,swp8,rogue,e1\n",
        "compute-leaf1,swp99,storage-leaf,mgmt\n",
        "oob,1,console,2\n",
        ROWS[0],
        "compute-leaf0,1,node0,nic0\n",
    ]
    made = document(rows)
    assert made["ok"] and {k: made["rows"][k] for k in ("read", "used", "repeated", "set_aside")} == {
        "read": 14, "used": 11, "repeated": 2, "set_aside": 3,
    }  # fmt: skip
    aside = {(a["line"], a["link"]): a["reason"] for a in made["rows"]["aside"]}
    assert aside == {
        (11, "compute-leaf0 swp8 to rogue e1"): "no link is planned at the port, and the design does not have the device at the "
        "other end",
        (12, "compute-leaf1 swp99 to storage-leaf mgmt"): "the model has no port of that name, such as a management port",
        (13, "oob 1 to console 2"): "the design has neither device",
    }
    notes = {d["message"]: d["notes"] for d in made["findings"]}
    for (line, link), why in aside.items():
        assert notes[f"1 link of the captures set aside: {why}"] == [f"cables.csv:{line}: {link}"]
    assert notes["1 link of the captures is given twice"] == ["cables.csv:14 repeats cables.csv:2: node0 nic0 to compute-leaf0 1"]
    many = document([*ROWS, *(f"a{i},1,b{i},1\n" for i in range(6))])["findings"]
    (listed,) = [d["notes"] for d in many if "neither" in d["message"]]
    assert len(listed) == 5 and listed[-1] == "and 2 more"


def test_a_second_neighbour_of_a_port(folder: Path) -> None:
    """An unknown device at a port whose planned cable is seen is set aside by name; it was dropped in silence."""
    made = document([*ROWS, "node0,nic0,rogue,1\n"])
    (aside,) = made["rows"]["aside"]
    assert aside["line"] == 11 and "another neighbour" in aside["reason"]


def test_faults_of_a_cluster_that_are_accepted(folder: Path) -> None:
    """The list names what the calls on the design take, and counts once."""
    lost = [r for r in ROWS if not r.startswith("node0,") and r != ROWS[-1]]
    assert cabled(lost, "--accept", "dead.txt", "--reason", "ordered").exit_code == 1
    assert Path("dead.txt").read_text() == "node0  # ordered\nnode[2].sto  # ordered\n"
    done = cabled(lost, "--accept", "dead.txt", "--no-requirements")
    assert done.exit_code == 0 and done.stdout.count("E0650") == 2, done.stdout
    mended = cabled(ROWS, "--accept", "dead.txt", "--no-requirements")
    assert mended.stdout.count("E0651") == 2, mended.stdout


def test_metrics_of_a_cluster(folder: Path) -> None:
    """Links of each network, faults of the cluster."""
    cabled([*ROWS[1:], BRIDGE], "--prometheus", "k.prom")
    lines = [x for x in Path("k.prom").read_text().splitlines() if not x.startswith("#")]
    assert lines == [
        'tdsl_links_expected{fabric="compute"} 6', 'tdsl_links_expected{fabric="storage"} 3',
        'tdsl_links_as_designed{fabric="compute"} 5', 'tdsl_links_as_designed{fabric="storage"} 3',
        'tdsl_links_not_judged{fabric="compute"} 0', 'tdsl_links_not_judged{fabric="storage"} 0',
        'tdsl_faults_accepted{fabric="k"} 0',
        'tdsl_faults{fabric="k",finding="cable_extra"} 1', 'tdsl_faults{fabric="k",finding="cable_missing"} 1',
    ]  # fmt: skip


def test_mending_that_leaves_nothing_to_judge_is_no_help(folder: Path) -> None:
    """Without its leaves a network has no figure, with one of them neither; the note said `gives skipped :`."""
    rows = [r for r in ROWS if "compute" not in r]
    said = [n for d in document(rows)["findings"] for n in d["notes"] if n.startswith("correcting")]
    assert not [n for n in said if "skipped" in n], said


@pytest.mark.parametrize("name", FIXTURES)
def test_every_link_that_a_reader_gives_is_used_or_set_aside(name: str, tmp_path: Path) -> None:
    reader, _, capture, _ = fixture(name)
    (tmp_path / "leaf0.txt").write_text(capture)
    made = Observed()
    read_capture_files([("" if reader != "p2p" else "p2p", tmp_path / "leaf0.txt")], made)
    seen = match_captures(F, made)
    assert len(made.wires) == seen.used + len(seen.aside)


@pytest.mark.parametrize("seed", range(20))
def test_read_is_used_and_set_aside(seed: int) -> None:
    """Any mixture of known and unknown devices and ports, with repeats, conflicts and loops."""
    rng = Random(seed)
    nodes = "h=node0;i=node1;l=leaf0;m=leaf1;s=spine0;x=stranger;y=other;r=/router"
    ports = {"h": ("nic[0]", "nic[1]", "?"), "i": ("nic[0]", "bmc"), "l": ("p1", "p2", "p6", "mgmt"), "m": ("p1", "p8")}

    def end() -> tuple[str, str]:
        node = rng.choice("hilmsxyr")
        return node, rng.choice(ports.get(node, ("p1", "p2", "e1")))

    wires: list[CapturedLink] = [wire(*end(), *end()) for _ in range(40)]
    wires += rng.sample(wires, 5)
    seen = match_captures(F, observed(nodes, wires))
    assert seen.used + len(seen.aside) == len(wires) == 45
    assert 0 <= len(seen.repeated) <= seen.again <= seen.used
    kept = Counter(id(w) for _, w in seen.aside)
    assert all(kept[id(w)] <= wires.count(w) for w in wires)
