"""The target eos before its judge: pyavd's schema holds each structured configuration, and pyavd renders from it the very text
that tdsl writes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.targets import switches
from tests.targets.build import design, made
from tests.targets.switches import CUMULUS, EOS, LOOPBACKS, text

pyavd = pytest.importorskip("pyavd")
yaml = pytest.importorskip("yaml")


def structured(files: dict[str, bytes], device: str) -> dict[str, Any]:
    """A switch's structured configuration, once the schema has held it and its text has been compared."""
    found: dict[str, Any] = yaml.safe_load(files[f"eos/{device}.structured.yaml"])
    judged = pyavd.validate_structured_config(found)
    result = judged.validation_result
    assert not result.violations and not result.deprecations, (result.violations, result.deprecations)
    rendered = pyavd.get_device_config(judged.validated_data)
    for name in [n for n, m in sys.modules.items() if type(m) is weakref.ProxyType]:
        del sys.modules[name]  # its templates are modules that die under hypothesis, which looks at all of them
    assert rendered == files[f"eos/{device}.cfg"].decode()
    return found


def sessions(config: dict[str, Any]) -> dict[str, int]:
    """Neighbour -> ASN."""
    bgp = config["router_bgp"]
    numbered = {n["ip_address"]: int(n["remote_as"]) for n in bgp.get("neighbors", [])}
    return numbered | {n["name"]: int(n["remote_as"]) for n in bgp.get("neighbor_interfaces", [])}


@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(switches.designs(EOS))
def test_pyavd_writes_the_same(tmp_path: Path, drawn: tuple[str, dict[str, Any]]) -> None:
    design, roce = drawn
    files, found = made(design, tmp_path, "eos")
    assert not found and len([p for p in files if p.startswith("eos/")]) == 14
    expected = switches.neighbours(files)
    for device in ("leaf0", "spine1"):
        config = structured(files, device)
        assert sessions(config) == expected[device]
        between = [i for i in config["ethernet_interfaces"] if not i["description"].startswith("node")]
        assert config["router_bgp"]["maximum_paths"] == {"paths": len(between), "ecmp": len(between)}
        if not roce:
            assert "qos" not in config and "qos_profiles" not in config
            continue
        assert config["qos"]["map"]["dscp"] == [
            f"{roce['dscp']} to traffic-class {roce['priority']}", f"{roce['cnp_dscp']} to traffic-class {roce['cnp_priority']}"
        ]  # fmt: skip
        profile = config["qos_profiles"][0]
        lossless = [p["priority"] for p in profile.get("priority_flow_control", {}).get("priorities", [])]
        assert lossless == ([] if roce["pfc"] == "off" else [roce["priority"]])
        marks = [(q["id"], q["random_detect"]["ecn"]["threshold"]) for q in profile.get("tx_queues", [])]
        marked = [(n, *(t[k] for k in ("min", "max", "max_probability"))) for n, t in marks]
        ecn = roce["ecn"]
        assert marked == ([(roce["priority"], ecn[0] * 1000, ecn[1] * 1000, ecn[2])] if ecn else [])
        asked = {"watchdog 200ms": "0.20", "watchdog 350ms": "0.35"}.get(roce["pfc"])
        assert config.get("priority_flow_control", {}).get("watchdog", {}).get("timeout") == asked


def test_the_judge_can_say_no(tmp_path: Path) -> None:
    files, _ = made(text(), tmp_path, "eos")
    for old, new in ((b"mtu: 9214", b"mtu: much"), (b"shutdown: false", b"shutdown: false\n    shut: true")):
        wrong = {p: b.replace(old, new) for p, b in files.items()}
        with pytest.raises(AssertionError):
            structured(wrong, "leaf0")
    with pytest.raises(AssertionError):
        structured({p: b.replace(b"no switchport", b"no switch-port") for p, b in files.items()}, "leaf0")


TWICE = text().replace('type GE400; os "Ethernet{i}/1"', 'type GE400; os "Ethernet{(i + 1)//2}/1"')


@pytest.mark.parametrize(
    ("design", "code", "says"),
    [
        (text(spine=CUMULUS), "E0511", "is not for 2 of 6 switches: `swp1` of spine0 is not a name of a port there"),
        (text(CUMULUS, CUMULUS), "E0516", "`swp1` of leaf0 is not a name of a port there"),
        (text(routing="mtu 9216"), "E0516", "its MTU is at most 9214"),
        (text(statements="address leaf, spine management from 10.0.0.0/24"), "E0516", "`eth0` of leaf0 is not a name of a port"),
        (TWICE, "E0516", "two ports of leaf0 have one name"),  # no file rather than one that says a port twice
    ],
)
def test_only_switches_that_can_run_it(tmp_path: Path, design: str, code: str, says: str) -> None:
    """A note where some cannot, an error where none can."""
    files, found = made(design, tmp_path, "eos")
    some = {f"leaf{i}" for i in range(4)} if code == "E0511" else set()
    others = {"inventory", "build"} if some else set()
    assert {p.split("/")[1].split(".")[0] for p in files if p.startswith("eos/")} == some | others
    assert [(d.code, d.severity.word) for d in found] == [(code, "note" if some else "error")] and says in found[0].message


@pytest.mark.parametrize(("ways", "lanes"), [(2, [1, 5]), (4, [1, 3, 5, 7])])
def test_parts_of_a_port(tmp_path: Path, ways: int, lanes: list[int]) -> None:
    """A part is named after its first lane of eight, and says its speed and lanes."""
    files, found = made(design("split_ports", ways=ways, rate=400 // ways), tmp_path, "eos")
    assert not [d for d in found if d.severity.word == "error"]
    core = structured(files, "core")["ethernet_interfaces"]
    names = [i["name"] for i in core]
    assert len(set(names)) == 32 and {int(n.rsplit("/", 1)[1]) for n in names} == set(lanes)
    assert {i["speed"] for i in core} == {f"{400 // ways}g-{8 // ways}"}
    assert all("speed" not in i for i in structured(files, "leaf0")["ethernet_interfaces"]), "a whole port has its transceiver's"


def test_three_tiers(tmp_path: Path) -> None:
    """Every pod and core switch of the cluster; some judged, all with the neighbours of the design."""
    files, _ = made(switches.llama(), tmp_path, "eos")
    expected = switches.neighbours(files)
    devices = [p.removeprefix("eos/").removesuffix(".cfg") for p in files if p.endswith(".cfg") and p.startswith("eos/")]
    assert len(devices) > 32
    for device in devices[::16]:
        assert sessions(structured(files, device)) == expected[device]
    for device in devices:
        found = re.findall(r"^   neighbor interface (\S+) .* remote-as (\d+)$", files[f"eos/{device}.cfg"].decode(), re.M)
        assert {port: int(asn) for port, asn in found} == expected[device]


def test_the_way_out_of_band_bfd_and_a_limit_of_routes(tmp_path: Path) -> None:
    """EOS of before 2024 shuts a session down above 12,000 routes: the limit is twice what the design has, and at least that."""
    management = "address leaf management from 192.168.0.10/24 { interface Management1; gateway 192.168.0.1 }"
    files, found = made(text(statements=f"{LOOPBACKS}\n  {management}", routing="bfd 100ms x 3"), tmp_path, "eos")
    assert not found and structured(files, "leaf0")
    lines = files["eos/leaf0.cfg"].decode().split("\n")
    for line in ("ip route vrf mgmt 0.0.0.0/0 192.168.0.1", "   interval 100 min-rx 100 multiplier 3 default",
                 "   neighbor FABRIC maximum-routes 12000"):  # fmt: skip
        assert line in lines


def test_avd_finds_the_structured_configuration_of_every_switch(tmp_path: Path) -> None:
    """By Ansible itself: the path that the role's task reads (roles/eos_cli_config_gen/tasks/main.yml of arista.avd)."""
    ansible = Path(sys.executable).with_name("ansible")
    if not ansible.exists():
        pytest.skip("there is no ansible: pip install ansible-core")
    files, _ = made(design("every_file_routed"), tmp_path, "eos")
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    told = "{{ structured_dir }}/{{ inventory_hostname }}.{{ avd_structured_config_file_format }} {{ ansible_host }}"
    command = [ansible, "FABRIC", "-i", tmp_path / "eos" / "inventory.yml", "-m", "debug", "-a", json.dumps({"msg": told})]
    place = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "ANSIBLE_LOCAL_TEMP": str(tmp_path / "tmp")}
    done = subprocess.run(list(map(str, command)), env=place, capture_output=True, text=True, timeout=60, check=False)
    found = dict(re.findall(r'"msg": "(\S+) (\S+)"', done.stdout))
    assert set(found) == {f"{tmp_path}/{p}" for p in files if p.endswith(".structured.yaml")} and len(found) == 3, done
    assert sorted(found.values()) == ["192.168.0.10", "192.168.0.11", "192.168.0.12"]
    (play,) = yaml.safe_load(files["eos/build.yml"])
    assert play["hosts"] == "FABRIC" and play["tasks"][0]["ansible.builtin.import_role"] == {
        "name": "arista.avd.eos_cli_config_gen"
    }
