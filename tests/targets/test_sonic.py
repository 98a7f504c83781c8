"""The target sonic before its judge: the YANG models of SONiC and yanglint."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tdsl.emit.data.faceplate import FacePort
from tests.conftest import need_program
from tests.targets import sonic_yang, switches
from tests.targets.sonic_yang import Unknown
from tests.targets.switches import distinct, made, neighbours, text

Config = dict[str, Any]
Judge = Callable[..., str]
PORT = 'swp{i}"; name "{i}"; sonic 8*(i - 1) lanes 8; cage 1 "QSFP'
TWIN = """\
model cable TWIN { rate 800Gbps; medium fibre; legs 2 }
model host NODE { port nic[2]: 400Gbps { type GE400; os "mlx5_{i}" }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
fabric f {
  host node[4]: NODE
  switch leaf[2]: SN5600 { split p 2 }
  switch spine[2]: SN5600
  connect node[n].nic[r] to leaf[r] { cable TWIN; length 30m }
  connect leaf[*] to spine[*] each { cable TWIN; length 300m; rate 400Gbps }
  address leaf[*], spine[*] loopback from 10.255.0.0/24
  address leaf[*], spine[*] loopback from fd00:255::/64
  address leaf, spine management from 192.168.0.10/24 { gateway 192.168.0.1 }
  address node[*].nic[r] links from "172.{16 + r}.0.0/24"
  routing bgp { mtu 9216; bfd; graceful_restart }
  roce { dscp 24; priority 4; cnp 40 priority 7; ecn 150kB to 1500kB at 5%; pfc watchdog 200ms }
}
"""


@pytest.fixture
def judge(test_data: Path, tmp_path: Path) -> Judge:
    program = need_program("yanglint", "libyang2-tools")
    return partial(sonic_yang.judge, program, test_data / "sonic-yang", tmp_path)


def config(files: dict[str, bytes], device: str) -> Config:
    found: Config = json.loads(files[f"sonic/{device}/config_db.json"])
    return found


@pytest.fixture
def leaf(tmp_path: Path) -> Config:
    files, found = made(TWIN, tmp_path, "sonic")
    assert not found
    return config(files, "leaf0")


@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(switches.designs(PORT))
def test_every_file_is_valid(tmp_path: Path, judge: Judge, drawn: tuple[str, Config]) -> None:
    design, roce = drawn
    files, found = made(design, tmp_path, "sonic")
    assert {d.code for d in found} <= {"E0511"} and len([p for p in files if p.startswith("sonic/")]) == 6
    expected = neighbours(files)
    assert judge(config(files, "leaf0"), config(files, "spine1")) == ""
    for device in ("leaf0", "spine1"):
        told = config(files, device)
        names = {f"swp{int(p['alias'].removeprefix('etp'))}": name for name, p in told["PORT"].items()}
        asn = {key.split("|")[1]: int(n["asn"]) for key, n in told.get("BGP_NEIGHBOR", {}).items()}
        assert asn == {names.get(p, p): n for p, n in expected[device].items()}
        assert ("PORT_QOS_MAP" in told) == bool(roce)
        if roce:
            assert followed(told) == {
                "data": (roce["dscp"], roce["priority"]), "cnp": (roce["cnp_dscp"], roce["cnp_priority"]),
                "lossless": set() if roce["pfc"] == "off" else {roce["priority"]},
                "ecn": roce["ecn"] and (roce["ecn"][0] * 1000, roce["ecn"][1] * 1000, roce["ecn"][2]),
            }  # fmt: skip
            wait = re.search(r"\d+", roce["pfc"])
            assert {w.get("detection_time") for n, w in told.get("PFC_WD", {}).items() if n != "GLOBAL"} == (
                {wait[0]} if wait else set()
            )


def followed(told: Config) -> Config:
    """What a switch does with packets of each DSCP, followed from map to map on every port."""
    out = []
    for port, maps in told["PORT_QOS_MAP"].items():
        tc = told["DSCP_TO_TC_MAP"][maps["dscp_to_tc_map"]]
        queue = {d: told["TC_TO_QUEUE_MAP"][maps["tc_to_queue_map"]][c] for d, c in tc.items()}
        group = {d: told["TC_TO_PRIORITY_GROUP_MAP"][maps["tc_to_pg_map"]][c] for d, c in tc.items()}
        rest = max(set(queue.values()), key=list(queue.values()).count)
        odd = {int(d): int(q) for d, q in queue.items() if q != rest}
        first = {d for d, q in odd.items() if told["SCHEDULER"][told["QUEUE"][f"{port}|{q}"]["scheduler"]]["type"] == "STRICT"}
        ((data, number),) = ((d, q) for d, q in odd.items() if d not in first)
        ((cnp, above),) = ((d, q) for d, q in odd.items() if d in first)
        assert sorted(map(int, tc)) == list(range(64)) and {d for d, g in group.items() if g == str(number)} == {str(data)}
        lossless = {int(n) for n in maps.get("pfc_enable", "").split(",") if n}
        assert all(told["MAP_PFC_PRIORITY_TO_QUEUE"][maps["pfc_to_queue_map"]][str(n)] == str(n) for n in lossless)
        w = told.get("WRED_PROFILE", {}).get(told["QUEUE"][f"{port}|{number}"].get("wred_profile"))
        assert "wred_profile" not in told["QUEUE"][f"{port}|{above}"]
        keys = ("green_min_threshold", "green_max_threshold", "green_drop_probability")
        out.append({
            "data": (data, number), "cnp": (cnp, above), "lossless": lossless, "ecn": w and tuple(int(w[k]) for k in keys),
        })  # fmt: skip
    assert out and all(o == out[0] for o in out)
    return out[0]


def test_the_example_is_valid(test_data: Path, judge: Judge) -> None:
    assert judge(json.loads((test_data / "sonic-leaf-example.json").read_text())) == ""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("PORT/Ethernet0/speed", "fast"), ("PORT/Ethernet0/speed", "1600001"), ("PORT/Ethernet0/fec", "reed"),
        ("PORT/Ethernet0/mtu", "9217"), ("PORT/Ethernet0/admin_status", "on"), ("PORT/Ethernet0/lanes", None),
        ("PORT/Ethernet0/sped", "400000"), ("PORTS", {}), ("INTERFACE/Ethernet9999", {}),
        ("INTERFACE/Ethernet0|10.0.0.300|31", {}),
        ("LOOPBACK_INTERFACE/Loopback0|10.0.0.1|33", {}), ("BGP_GLOBALS/default/local_asn", "4294967296"),
        ("BGP_GLOBALS/default/router_id", "10.0.0"), ("BGP_NEIGHBOR/default|Ethernet9999", {"asn": "65001"}),
        ("BGP_NEIGHBOR/default|Ethernet16/peer_group_name", "OTHER"), ("BGP_NEIGHBOR/default|Ethernet16/remote_as", "65001"),
        ("BGP_GLOBALS_AF/default|ipv4_unicast/max_ebgp_paths", "257"),
        ("ROUTE_MAP/FABRIC|10/match_prefix_set", "FABRIC9"),
        ("BGP_PEER_GROUP_AF/default|FABRIC|ipv4_unicast/route_map_in", ["X"]),
        ("MGMT_INTERFACE/eth0|192.168.0.10|24/gwaddr", "fd00::1"), ("DSCP_TO_TC_MAP/ROCE/77", "3"),
        ("DSCP_TO_TC_MAP/ROCE/24", "3,4"),
        ("TC_TO_QUEUE_MAP/ROCE/3", "12"), ("PORT_QOS_MAP/Ethernet0/dscp_to_tc_map", "AZURE"),
        ("PORT_QOS_MAP/Ethernet0/pfc_enable", "8"), ("PFC_WD/Ethernet0/detection_time", "99"),
        ("PFC_WD/Ethernet0/action", "wait"), ("PFC_WD/GLOBAL/POLL_INTERVAL", "300"),
        ("WRED_PROFILE/ROCE/green_max_threshold", "1"), ("WRED_PROFILE/ROCE/green_drop_probability", "101"),
        ("QUEUE/Ethernet0|4/scheduler", "NONE"), ("QUEUE/Ethernet0|4/wred_profile", "NONE"), ("SCHEDULER/ROCE/weight", "101"),
        ("BUFFER_PG/Ethernet0|4/profile", "pg_lossless"), ("BUFFER_PROFILE/egress_lossy_profile/pool", "pool"),
        ("BUFFER_PROFILE/egress_lossy_profile/dynamic_th", "8"), ("BUFFER_POOL/egress_lossy_pool/mode", "elastic"),
        ("CABLE_LENGTH/ROCE/Ethernet0", "30 metres"), ("CABLE_LENGTH/ROCE/Ethernet9999", "30m"),
        ("DEVICE_METADATA/localhost/docker_routing_config_mode", "merged"), ("DEVICE_METADATA/localhost/bgp_as", "1"),
    ],
)  # fmt: skip
def test_the_judge_can_say_no(leaf: Config, judge: Judge, path: str, value: object) -> None:
    """One value of a good file is made bad. A ``|`` before the length of a prefix stands for its slash."""
    bad = deepcopy(leaf)
    *where, last = (re.sub(r"\|(\d+)$", r"/\1", p) if re.search(r"[.:]\d*[^|]*\|\d+$", p) else p for p in path.split("/"))
    at = bad
    for step in where:
        assert step in at, step
        at = at[step]
    if value is None:
        del at[last]
    else:
        assert at.get(last) != value
        at[last] = value
    try:
        assert judge(bad)
    except Unknown:
        return


def test_ports_as_the_platform_has_them(leaf: Config) -> None:
    """Ethernet4 of an SN5600 split in two: lanes 4 to 7, cage 1; Ethernet508: 508 to 511, cage 64 (Mellanox-SN5600-O128)."""
    assert len(leaf["PORT"]) == 128 and leaf["BREAKOUT_CFG"]["Ethernet0"] == {"brkout_mode": "2x400G[200G,100G,50G,40G,25G,10G]"}
    port = leaf["PORT"]["Ethernet4"]
    assert port == {
        "lanes": "4,5,6,7", "alias": "etp1b", "index": "1", "speed": "400000", "mtu": "9216", "fec": "rs", "admin_status": "up",
        "subport": "2", "description": "node1 mlx5_0",
    }  # fmt: skip
    last = leaf["PORT"]["Ethernet508"]
    assert (last["lanes"], last["index"], last["admin_status"]) == ("508,509,510,511", "64", "down")
    assert leaf["DEVICE_METADATA"]["localhost"]["hwsku"] == "ACS-SN5600"
    assert leaf["MGMT_INTERFACE"] == {"eth0|192.168.0.10/24": {"gwaddr": "192.168.0.1"}}


def test_headroom_by_hand(leaf: Config) -> None:
    """400 Gb/s over 30 m: two frames of 9,216 bytes, 2 × 30 m at 198,000 km/s are 15,151 bytes, 905 × 64 are 57,920: 91,503, so
    90 KiB. Over 300 m 151,515 on the cable: 227,867, so 223 KiB."""
    profile = leaf["BUFFER_PROFILE"]
    assert profile["pg_lossless_400000_30m_profile"]["xoff"] == str(90 * 1024)
    assert profile["pg_lossless_400000_300m_profile"]["xoff"] == str(223 * 1024)
    assert leaf["BUFFER_PG"]["Ethernet0|4"] == {"profile": "pg_lossless_400000_30m_profile"}
    assert leaf["CABLE_LENGTH"]["ROCE"]["Ethernet16"] == "300m"


@given(
    st.sampled_from([25_000, 100_000, 200_000, 400_000, 800_000]),
    st.integers(1, 2000),
    st.integers(1280, 9216),
)
def test_headroom_holds_what_arrives(mbps: int, metres: int, mtu: int) -> None:
    port = FacePort("", "Ethernet0", (0,), 1, "1", "Ethernet0", "", mbps, True, metres)
    room, longer = (
        port.headroom(mtu),
        FacePort("", "", (0,), 1, "", "", "", mbps, True, metres + 100).headroom(mtu),
    )
    assert room is not None and longer is not None and room % 1024 == 0
    flight = mbps * 10**6 / 8 * 2 * metres / 198e6
    assert 2 * mtu + flight <= room <= longer
    assert FacePort("", "", (0,), 1, "", "", "", mbps, True, "").headroom(mtu) is None
    assert FacePort("", "", (0,), 1, "", "", "", 3_000, True, metres).headroom(mtu) is None


def test_no_length_no_lossless_buffer(tmp_path: Path, judge: Judge) -> None:
    files, _ = made(TWIN.replace("; length 30m", "").replace("; length 300m", ""), tmp_path, "sonic")
    told = config(files, "leaf0")
    assert judge(told) == "" and not [t for t in told if t.startswith(("BUFFER", "CABLE"))] and "PFC_WD" in told


def test_a_switch_that_sonic_does_not_number(tmp_path: Path) -> None:
    files, found = made(text("swp{i}", "swp{i}"), tmp_path, "sonic")
    assert not [p for p in files if p.startswith("sonic/")]
    assert "nothing says how SONiC numbers the ports" in found[0].message


def test_three_tiers(tmp_path: Path, judge: Judge) -> None:
    """Every switch has the neighbours of the design; one of each structure, and some more, are judged."""
    files, found = made(switches.shipped(), tmp_path, "sonic")
    assert [d.message for d in found if d.code == "E0511"] == [
        "target `sonic`: no `hwsku` is stated for ARISTA_7800 and MINIPACK2"
    ]
    expected = neighbours(files)
    texts = {p.split("/")[1]: text for p, text in files.items() if p.startswith("sonic/")}
    assert len(texts) == len(expected) and len([d for d in texts if "rack" in d]) == 48
    chosen = distinct(texts)
    assert len({re.sub(r"\d+", "", d) for d in chosen}) == 3
    assert judge(*(config(files, device) for device in chosen)) == ""
    for device, found_text in texts.items():
        row = re.search(rb'"BGP_NEIGHBOR": \{(.*?)\n  \}', found_text, re.S)
        assert row and sorted(map(int, re.findall(rb'"asn": "(\d+)"', row[1]))) == sorted(expected[device].values()), device


def test_break_out_modes_are_those_of_the_platform(leaf: Config, test_data: Path) -> None:
    """SONiC compares the words with platform.json, letter by letter."""
    platform = json.loads((test_data / "sonic" / "sn5600-platform.json").read_text())["interfaces"]
    assert len(leaf["BREAKOUT_CFG"]) == 64
    assert all(row["brkout_mode"] in platform[port]["breakout_modes"] for port, row in leaf["BREAKOUT_CFG"].items())


@pytest.mark.parametrize(
    ("model", "platform"),
    [("SN5600", "sn5600-platform.json"), ("ARISTA_7060X6_64PE", "arista-7060x6-64pe-platform.json")],
)
@pytest.mark.parametrize("ways", [1, 2, 4])
def test_aliases_and_lanes_are_those_of_the_platform(
    tmp_path: Path, test_data: Path, model: str, platform: str, ways: int
) -> None:
    """SONiC makes the rows of PORT from platform.json; LLDP sends the alias, so it must be the same there and here."""
    split = f"{{ split p[1..64] {ways} }}" if ways > 1 else ""
    path = "p[1, 0]" if ways > 1 else "p[1]"
    design = f"""
model host NODE {{ port nic: {800 // ways}Gbps {{ type GE{800 // ways}; netdev "eth0" }} }}
fabric f {{
  nos sonic
  host node: NODE
  switch leaf: {model} {split}
  connect node.nic to leaf.{path}
  address leaf loopback from 10.255.0.0/24
  routing bgp {{ }}
}}
"""
    files, _ = made(design, tmp_path, "sonic")
    ports = config(files, "leaf")["PORT"]
    known = json.loads((test_data / "sonic" / platform).read_text())["interfaces"]
    expected = {}
    for name, row in known.items():
        lanes = row["lanes"].split(",")
        if len(lanes) < 8:
            continue
        mode = next(m for m in row["breakout_modes"] if m.startswith(f"{ways}x{800 // ways}G"))
        each = 8 // ways
        for k, alias in enumerate(row["breakout_modes"][mode]):
            expected[f"Ethernet{int(name.removeprefix('Ethernet')) + k * each}"] = (
                alias,
                ",".join(lanes[k * each : (k + 1) * each]),
            )
    assert {name: (p["alias"], p["lanes"]) for name, p in ports.items()} == expected and len(expected) == 64 * ways


CAGES = """\
model switch SW {
  port a[1..2]: 400Gbps { type GE400; os "a{i}"; cage 1 OSFP; sonic 8*(i - 1) lanes 8 }
  port b[1..2]: 100Gbps { type GE100; os "b{i}"; cage 1 SFP; sonic 15 + i lanes 1 }
  port c[1..2]: 100Gbps { type GE100; os "c{i}"; sonic 17 + i lanes 1 }
  port d[1..4]: 200Gbps { type GE200; os "d{i}"; cage 2 OSFP, [9, 9, 10, 10][i - 1]; sonic 16 + 4*i lanes 4 }
}
model host NODE { port nic: 400Gbps { type GE400; os "eth0" } }
fabric f {
  host node[2]: NODE
  switch leaf: SW
  connect node[n].nic to leaf.a
  address leaf loopback from 10.255.0.0/24
  routing bgp { }
}
"""


def test_cages_of_several_kinds(tmp_path: Path, judge: Judge) -> None:
    """Two kinds of cages that are both counted from 1, ports without a cage, and two ports behind one transceiver."""
    files, _ = made(CAGES, tmp_path, "sonic")
    told = config(files, "leaf")
    assert judge(told) == "" and "BREAKOUT_CFG" not in told, "the model does not have the platform's words"
    places = [(int(p["index"]), p["subport"]) for p in told["PORT"].values()]
    assert places[:2] == [(1, "0"), (2, "0")] and places[-4:] == [(9, "1"), (9, "2"), (10, "1"), (10, "2")]
    assert len(set(places)) == len(places) == 10
