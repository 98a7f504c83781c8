"""Bundles as port channels in the configurations of routers, each before the judge of its target."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tdsl.emit.target import RouterSelection
from tdsl.findings.diagnostic import Diagnostics
from tests.conftest import need_program
from tests.harness import fabric_of
from tests.targets import frr_lab, nvue_grammar, sonic_yang
from tests.targets.switches import CUMULUS, EOS, ROCE, made

yaml = pytest.importorskip("yaml")
PORT = 'swp{i}"; name "{i}"; sonic 8*(i - 1) lanes 8; cage 1 "QSFP'
DESIGN = """\
model switch SW {{ port p[1..16]: 400Gbps {{ type GE400; os "{port}" }} }}
model host NODE {{ port nic[2]: 400Gbps {{ type GE400; os "eth{{i + 1}}" }}; chip gpu[2]: GPU }}
model chip GPU {{ port lane: 400Gbps }}
fabric pod "A pod" {{
  host node[4]: NODE
  switch leaf[2]: SW
  switch spine[2]: SW
  connect node[n].nic[*] to leaf[n % 2] x 2 {{ bundle 2 }}
  connect leaf[*] to spine[*] each x 4 {{ bundle 2 }}
  address leaf, spine loopback from 10.255.0.1/24
  address node[*].nic[0] links from 172.16.0.0/24
  address leaf[(0)].p[1..16] to spine[(0)] links from 10.0.0.0/24
  routing bgp {{ mtu 9214; bfd }}
  {roce}
}}
"""


def files(tmp_path: Path, target: str, port: str) -> dict[str, bytes]:
    found, findings = made(DESIGN.format(port=port, roce=ROCE), tmp_path, target)
    assert not [d for d in findings if d.code != "E0511"], findings
    return found


def test_eos(tmp_path: Path) -> None:
    pytest.importorskip("pyavd")
    from tests.targets.test_eos import sessions, structured

    config = structured(files(tmp_path, "eos", EOS), "leaf1")
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
    numbered = structured(files(tmp_path, "eos", EOS), "leaf0")
    assert sorted(sessions(numbered)) == ["10.0.0.21", "10.0.0.5", "Port-Channel4", "Port-Channel6"]


def test_sonic(tmp_path: Path, test_data: Path) -> None:
    program = need_program("yanglint", "libyang2-tools")
    written = files(tmp_path, "sonic", PORT)
    config: dict[str, Any] = json.loads(written["sonic/leaf1/config_db.json"])
    judge = partial(sonic_yang.judge, program, test_data / "sonic-yang", tmp_path)
    assert judge(config, json.loads(written["sonic/leaf0/config_db.json"])) == ""
    assert list(config["PORTCHANNEL"]) == [f"PortChannel{n}" for n in range(1, 7)] and "INTERFACE" not in config
    assert len(config["PORTCHANNEL_MEMBER"]) == 12 and {m.split("|")[1] for m in config["PORTCHANNEL_MEMBER"]} <= set(
        config["PORT"]
    )
    assert {k.split("|")[1] for k in config["BGP_NEIGHBOR"]} == {f"PortChannel{n}" for n in range(3, 7)}
    assert config["PORTCHANNEL_INTERFACE"]["PortChannel3"] == {"ipv6_use_link_local_only": "enable"}
    assert "PortChannel1|172.16.0.3/31" in config["PORTCHANNEL_INTERFACE"]
    config["PORTCHANNEL_MEMBER"]["PortChannel1|Ethernet999"] = {}
    assert judge(config) != ""


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
    frr_lab.need_vtysh()
    for name in ("leaf1", "node1"):
        path = tmp_path / "frr.conf"
        path.write_bytes(written[f"frr/{name}/frr.conf"])
        read = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, timeout=20, check=False)
        assert read.returncode == 0, read.stdout + read.stderr


def test_nodes_of_a_laboratory_make_the_bonds_of_their_configuration(tmp_path: Path) -> None:
    found, _ = made(DESIGN.format(port=CUMULUS, roce=""), tmp_path, "containerlab", "frr")
    node = yaml.safe_load(found["containerlab/fabric.clab.yml"])["topology"]["nodes"]["leaf1"]
    made_there = {c.split()[3] for c in node["exec"] if c.startswith("ip link add ")}
    config = found["frr/leaf1/frr.conf"].decode()
    assert made_there == {line.split()[1] for line in config.splitlines() if line.startswith("interface bond")}
    assert sum(" master bond" in c for c in node["exec"]) == 12


def test_a_target_without_port_channels_says_so(tmp_path: Path) -> None:
    from tdsl.emit.view import FabricView

    design = DESIGN.format(port=EOS, roce="")
    (router, *_) = FabricView(fabric_of(design, tmp_path, models=False), Diagnostics()).routers("switch")
    assert {(len(c.members), c.rate_gbps) for c in router.channels} == {(2, 800)}
    assert "port channels" in RouterSelection(nos="own").refuses(router) and not RouterSelection(nos="own", channel="po").refuses(
        router
    )
    assert [c.name for c in RouterSelection(nos="own", channel="po").named(router).channels][:2] == ["po1", "po2"]
