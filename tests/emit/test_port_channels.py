"""Bundles as port channels in the configurations of routers, each before the judge of its target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tdsl.emit.target import RouterSelection
from tdsl.emit.view import FabricView
from tdsl.findings.diagnostic import Diagnostics
from tests.conftest import need_program
from tests.harness import fabric_of
from tests.targets import frr_lab, nvue_grammar, sonic_yang
from tests.targets.build import design, made
from tests.targets.switches import CUMULUS, EOS, ROCE, SONIC

yaml = pytest.importorskip("yaml")


def files(tmp_path: Path, target: str, port: str) -> dict[str, bytes]:
    found, findings = made(design("port_channels", port=port, roce=ROCE), tmp_path, target)
    assert not [d for d in findings if d.code != "E0511"], findings
    return found


def test_eos(tmp_path: Path) -> None:
    pytest.importorskip("pyavd")
    from tests.targets.test_eos import sessions, structured

    written = files(tmp_path, "eos", EOS)
    config = structured(written, "leaf1")
    channels = config["port_channel_interfaces"]
    assert [c["name"] for c in channels] == [f"Port-Channel{n}" for n in range(1, 7)]
    assert channels[0]["description"] == "node1 port channel 1" and channels[0]["ip_address"] == "172.16.0.3/31"
    ports = config["ethernet_interfaces"]
    assert len(ports) == 12 and not any("ip_address" in p or "mtu" in p or "service_profile" in p for p in ports)
    members = [p["channel_group"] for p in ports]
    assert all(m["mode"] == "active" for m in members)
    assert sorted(m["id"] for m in members) == [n for n in range(1, 7) for _ in range(2)]
    assert sessions(config) == {f"Port-Channel{n}": 4202000000 for n in range(3, 7)}
    assert config["router_bgp"]["maximum_paths"] == {"paths": 4, "ecmp": 4}
    numbered = structured(written, "leaf0")
    assert sorted(sessions(numbered)) == ["10.0.0.21", "10.0.0.5", "Port-Channel4", "Port-Channel6"]


def test_sonic(tmp_path: Path, test_data: Path) -> None:
    program = need_program("yanglint", "libyang2-tools")
    written = files(tmp_path, "sonic", SONIC)
    config: dict[str, Any] = json.loads(written["sonic/leaf1/config_db.json"])
    other = json.loads(written["sonic/leaf0/config_db.json"])
    assert sonic_yang.judge(program, test_data / "sonic-yang", tmp_path, config, other) == ""
    assert list(config["PORTCHANNEL"]) == [f"PortChannel{n}" for n in range(1, 7)] and "INTERFACE" not in config
    members = [m.split("|")[1] for m in config["PORTCHANNEL_MEMBER"]]
    assert len(members) == 12 and set(members) <= set(config["PORT"])
    assert {k.split("|")[1] for k in config["BGP_NEIGHBOR"]} == {f"PortChannel{n}" for n in range(3, 7)}
    assert config["PORTCHANNEL_INTERFACE"]["PortChannel3"] == {"ipv6_use_link_local_only": "enable"}
    assert "PortChannel1|172.16.0.3/31" in config["PORTCHANNEL_INTERFACE"]


def test_nvue(tmp_path: Path) -> None:
    from tests.targets.test_nvue import tree

    config = tree(files(tmp_path, "nvue", CUMULUS), "leaf1")
    said = {" ".join(words) for words in nvue_grammar.commands(config)}
    assert {
        "interface bond3 type bond", "interface bond3 bond mode lacp", "interface bond3 bond member swp3",
        "interface bond3 description spine0 port channel 2", "interface bond1 ip address 172.16.0.3/31",
        "interface bond3 link mtu 9214", "interface swp3 qos pfc-watchdog state enable",
        "vrf default router bgp neighbor bond3 remote-as 4202000000",
    } <= said  # fmt: skip
    assert not any(s.startswith("interface swp") and ("mtu" in s or "ip address" in s) for s in said)
    members = [s.split()[-1] for s in said if " bond member " in s]
    assert len(members) == len(set(members)) == 12


def test_frr_and_the_bonds_of_linux(tmp_path: Path) -> None:
    written = files(tmp_path, "frr", CUMULUS)
    host, switch = (yaml.safe_load(written[f"frr/{f}"])["network"] for f in ("node1/netplan.yaml", "leaf1/bonds.yaml"))
    assert host["bonds"]["bond1"]["interfaces"] == ["eth1", "eth2"] and host["bonds"]["bond1"]["addresses"] == ["172.16.0.2/31"]
    assert host["bonds"]["bond1"]["parameters"]["mode"] == "802.3ad"
    assert all(e["link-local"] == [] and "addresses" not in e for e in host["ethernets"].values())
    assert set(switch["bonds"]) == {f"bond{n}" for n in range(1, 7)}
    assert sorted(m for b in switch["bonds"].values() for m in b["interfaces"]) == sorted(switch["ethernets"])
    config = written["frr/leaf1/frr.conf"].decode()
    assert " neighbor bond3 interface peer-group FABRIC\n" in config and " neighbor swp" not in config
    assert all(frr_lab.reads(written[f"frr/{name}/frr.conf"], tmp_path) for name in ("leaf1", "node1"))


def test_nodes_of_a_laboratory_make_the_bonds_of_their_configuration(tmp_path: Path) -> None:
    found, _ = made(design("port_channels", port=CUMULUS, roce=""), tmp_path, "containerlab", "frr")
    node = yaml.safe_load(found["containerlab/fabric.clab.yml"])["topology"]["nodes"]["leaf1"]
    made_there = {c.split()[3] for c in node["exec"] if c.startswith("ip link add ")}
    config = found["frr/leaf1/frr.conf"].decode()
    assert made_there == {line.split()[1] for line in config.splitlines() if line.startswith("interface bond")}
    assert sum(" master bond" in c for c in node["exec"]) == 12


def test_a_target_without_port_channels_says_so(tmp_path: Path) -> None:
    text = design("port_channels", port=EOS, roce="")
    (router, *_) = FabricView(fabric_of(text, tmp_path, models=False), Diagnostics()).routers("switch")
    assert {(len(c.members), c.rate_gbps) for c in router.channels} == {(2, 800)}
    named = RouterSelection(nos="own", channel="po")
    assert "port channels" in RouterSelection(nos="own").refuses(router) and not named.refuses(router)
    assert [c.name for c in named.named(router).channels][:2] == ["po1", "po2"]
