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

from tdsl.findings.diagnostic import Severity
from tests.conftest import need_program
from tests.harness import sampled
from tests.targets import sonic_yang, switches
from tests.targets.build import design, made
from tests.targets.sonic_yang import Unknown
from tests.targets.switches import distinct, neighbours, text

Config = dict[str, Any]
Judge = Callable[..., str]
TWIN = design("twin")
WHOLE = TWIN.replace(" { split p 2 }", "").replace("SN5600", "ARISTA_7060X6_64PE").replace("cable TWIN; ", "")
OTHER = WHOLE.replace("400Gbps", "800Gbps").replace("GE400", "GE800")


@pytest.fixture
def judge(test_data: Path, tmp_path: Path) -> Judge:
    program = need_program("yanglint", "libyang2-tools")
    return partial(sonic_yang.judge, program, test_data / "sonic-yang", tmp_path)


def config(files: dict[str, bytes], device: str) -> Config:
    found: Config = json.loads(files[f"sonic/{device}/config_db.json"])
    return found


@pytest.fixture(scope="module")
def leaf(tmp_path_factory: pytest.TempPathFactory) -> Config:
    files, found = made(TWIN, tmp_path_factory.mktemp("leaf"), "sonic")
    assert not found
    return config(files, "leaf0")


@settings(deadline=None, max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(switches.designs(switches.SONIC))
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


FAULTS = [x for x in Path(__file__).with_name("sonic_faults.txt").read_text().splitlines() if not x.startswith("#")]


@pytest.mark.parametrize("fault", sampled(FAULTS, 8))
def test_the_judge_can_say_no(leaf: Config, judge: Judge, fault: str) -> None:
    """One value of a good file is made bad."""
    path, told = fault.split(" = ")
    value = json.loads(told)
    bad = deepcopy(leaf)
    *where, last = (re.sub(r"\|(\d+)$", r"/\1", p) if re.search(r"[.:]\d*[^|]*\|\d+$", p) else p for p in path.split("/"))
    at = bad
    for step in where:
        at = at[step]
    assert at.get(last) != value
    at[last] = value
    if value is None:
        del at[last]
    try:
        assert judge(bad)
    except Unknown:
        return


def test_ports_as_the_platform_has_them(leaf: Config) -> None:
    """Ethernet4 of an SN5600 split in two: lanes 4 to 7, cage 1; Ethernet508: 508 to 511, cage 64 (Mellanox-SN5600-O128)."""
    assert len(leaf["PORT"]) == 128 and leaf["BREAKOUT_CFG"]["Ethernet0"] == {"brkout_mode": "2x400G[200G,100G,50G,40G,25G,10G]"}
    assert leaf["PORT"]["Ethernet4"] == {
        "lanes": "4,5,6,7", "alias": "etp1b", "index": "1", "speed": "400000", "mtu": "9216", "fec": "rs", "admin_status": "up",
        "subport": "2", "description": "node1 mlx5_0",
    }  # fmt: skip
    last = leaf["PORT"]["Ethernet508"]
    assert (last["lanes"], last["index"], last["admin_status"]) == ("508,509,510,511", "64", "down")
    assert leaf["DEVICE_METADATA"]["localhost"]["hwsku"] == "ACS-SN5600"
    assert leaf["MGMT_INTERFACE"] == {"eth0|192.168.0.10/24": {"gwaddr": "192.168.0.1"}}
    # what the platform's own buffers_dynamic.json.j2 leaves to SONiC: the headroom of each group, from speed, length and MTU
    assert [leaf["CABLE_LENGTH"]["AZURE"][f"Ethernet{n}"] for n in (0, 4, 16)] == ["30m", "30m", "300m"]
    assert leaf["BUFFER_PG"]["Ethernet0|4"] == {"profile": "NULL"} and leaf["BUFFER_POOL"]["egress_lossless_pool"]["size"]
    assert not [n for n in leaf["BUFFER_PROFILE"] if n.startswith("pg_")] and list(leaf["LOSSLESS_TRAFFIC_PATTERN"]) == ["AZURE"]


def test_no_length_no_lossless_buffer(tmp_path: Path, judge: Judge) -> None:
    files, _ = made(TWIN.replace("; length 30m", "").replace("; length 300m", ""), tmp_path, "sonic")
    told = config(files, "leaf0")
    assert judge(told) == "" and not [t for t in told if t.startswith(("BUFFER", "CABLE"))] and "PFC_WD" in told


def test_other_makers_take_headroom_from_the_platform(tmp_path: Path, judge: Judge) -> None:
    """buffermgrd works out pools for some makers only; for all others it looks up rate and length, letter by letter
    (sonic-swss, cfgmgr/buffermgr.cpp), and a row is wanted for each two that the file has."""
    files, found = made(OTHER, tmp_path, "sonic")
    told = config(files, "leaf0")
    assert judge(told) == "" and not [t for t in told if t.startswith("BUFFER")]
    assert told["DEVICE_METADATA"]["localhost"]["buffer_model"] == "traditional"
    pairs = {(told["PORT"][p]["speed"], m) for p, m in told["CABLE_LENGTH"]["AZURE"].items()}
    lossless = {p for p, maps in told["PORT_QOS_MAP"].items() if maps["pfc_enable"] == "4"}
    (note,) = [d for d in found if "pg_profile_lookup.ini" in d.message]
    assert (
        {tuple(x.split()) for x in re.findall(r"`(\d+ \d+m)`", note.message)} == pairs == {("800000", "30m"), ("800000", "300m")}
    )
    assert set(told["CABLE_LENGTH"]["AZURE"]) == lossless and "queue 4 lossless" in (note.help or "")
    assert note.severity is Severity.WARNING and "as published lacks" in note.message
    # a length that has no row is written as the next one that has, whose headroom is for a longer cable
    own = Path("stdlib/hardware/arista/arista_7060x6_64pe.fab").read_text().replace('"none"', '"800000 5m 40m, 400000 500m"')
    files, found = made(OTHER + own, tmp_path, "sonic")
    assert set(config(files, "leaf0")["CABLE_LENGTH"]["AZURE"].values()) == {"40m", "300m"}
    (note,) = [d for d in found if "pg_profile_lookup.ini" in d.message]
    assert "`800000 300m`: without" in note.message
    files, found = made(OTHER + own.replace("40m,", "40m;"), tmp_path, "sonic")
    assert set(config(files, "leaf0")["CABLE_LENGTH"]["AZURE"].values()) == {"30m", "300m"}
    said = {d.severity: d.message for d in found if "pg_profile" in d.message}
    assert "not used" in said[Severity.WARNING] and "must have `800000 30m`, `800000 300m`" in said[Severity.NOTE]


def test_a_switch_that_sonic_does_not_number(tmp_path: Path) -> None:
    files, found = made(text("swp{i}", "swp{i}"), tmp_path, "sonic")
    assert not [p for p in files if p.startswith("sonic/")]
    assert "nothing says how SONiC numbers the ports" in found[0].message


def test_three_tiers(tmp_path: Path, judge: Judge) -> None:
    """Every switch has the neighbours of the design; one of each structure, and some more, are judged."""
    files, found = made(switches.shipped(), tmp_path, "sonic")
    platforms, lengths = [d.message for d in found]
    assert platforms == "target `sonic`: no `hwsku` is stated for ARISTA_7800 and MINIPACK2"
    assert "895 other ports have PFC and no headroom" in lengths
    expected = neighbours(files)
    texts = {p.split("/")[1]: text for p, text in files.items() if p.startswith("sonic/")}
    assert len(texts) == len(expected) and len([d for d in texts if "rack" in d]) == 16
    chosen = distinct(texts, 1)
    assert len({re.sub(r"\d+", "", d) for d in chosen}) == 3
    assert judge(*(config(files, device) for device in chosen)) == ""
    for device, found_text in texts.items():
        row = re.search(rb'"BGP_NEIGHBOR": \{(.*?)\n  \}', found_text, re.S)
        assert row and sorted(map(int, re.findall(rb'"asn": "(\d+)"', row[1]))) == sorted(expected[device].values()), device


PLATFORMS = [("SN5600", "sn5600-platform.json"), ("ARISTA_7060X6_64PE", "arista-7060x6-64pe-platform.json")]


@pytest.mark.parametrize(("model", "platform"), PLATFORMS)
@pytest.mark.parametrize("ways", [1, 2, 4])
def test_aliases_lanes_and_modes_are_those_of_the_platform(
    tmp_path: Path, test_data: Path, model: str, platform: str, ways: int
) -> None:
    """SONiC makes the rows of PORT from platform.json, whose words for modes it compares letter by letter; LLDP sends the alias,
    so it must be the same there and here."""
    rate, lanes = 800 // ways, 8 // ways
    split, port = (f"{{ split p[1..64] {ways} }}", "[1, 0]") if ways > 1 else ("", "[1]")
    design = f"""
model host NODE {{ port nic: {rate}Gbps {{ type GE{rate}; netdev "eth0" }} }}
fabric f {{
  nos sonic
  host node: NODE
  switch leaf: {model} {split}
  connect node.nic to leaf.p{port}
  address leaf loopback from 10.255.0.0/24
  routing bgp {{ }}
}}
"""
    told = config(made(design, tmp_path, "sonic")[0], "leaf")
    known = json.loads((test_data / "sonic" / platform).read_text())["interfaces"]
    expected = {}
    for name, row in known.items():
        numbers = row["lanes"].split(",")
        if len(numbers) == 8:
            mode = next(m for m in row["breakout_modes"] if m.startswith(f"{ways}x{rate}G"))
            for k, alias in enumerate(row["breakout_modes"][mode]):
                part = f"Ethernet{int(name.removeprefix('Ethernet')) + k * lanes}"
                expected[part] = (alias, ",".join(numbers[k * lanes : (k + 1) * lanes]))
    assert {name: (p["alias"], p["lanes"]) for name, p in told["PORT"].items()} == expected and len(expected) == 64 * ways
    assert all(row["brkout_mode"] in known[port]["breakout_modes"] for port, row in told["BREAKOUT_CFG"].items())


def test_cages_of_several_kinds(tmp_path: Path, judge: Judge) -> None:
    """Two kinds of cages that are both counted from 1, ports without a cage, and two ports behind one transceiver."""
    files, _ = made(design("cages"), tmp_path, "sonic")
    told = config(files, "leaf")
    assert judge(told) == "" and "BREAKOUT_CFG" not in told, "the model does not have the platform's words"
    places = [(int(p["index"]), p["subport"]) for p in told["PORT"].values()]
    assert places[:2] == [(1, "0"), (2, "0")] and places[-4:] == [(9, "1"), (9, "2"), (10, "1"), (10, "2")]
    assert len(set(places)) == len(places) == 10
