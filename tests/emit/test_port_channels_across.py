"""Port channels of hosts over two switches: both show one LACP system identifier, one MAC address and one address, each before
the judge of its target; and FRR reaches every host by the other switch when a link is cut."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tdsl.fabric.cables.bundles import lacp_system_mac
from tests.conftest import need_program
from tests.harness import compile_text
from tests.targets import frr_lab, nvue_grammar, sonic_yang
from tests.targets.build import design, made
from tests.targets.switches import CUMULUS, EOS, ROCE, SONIC

yaml = pytest.importorskip("yaml")
MAC = lacp_system_mac("leaf1-0", "leaf1-1")
DOTTED = ".".join(re.findall("....", MAC.replace(":", "")))
PAIR = ("leaf1-0", "leaf1-1")


def files(tmp_path: Path, *targets: str, port: str, roce: str = ROCE, **settings: object) -> dict[str, bytes]:
    found, findings = made(design("across", port=port, roce=roce), tmp_path, *targets, **settings)
    assert not [d for d in findings if d.code != "E0511"], findings
    return found


def test_eos(tmp_path: Path) -> None:
    pytest.importorskip("pyavd")
    from tests.targets.test_eos import structured

    written = files(tmp_path, "eos", port=EOS)
    for name in PAIR:
        (one, two) = structured(written, name)["port_channel_interfaces"]
        assert (one["name"], one["description"], one["ip_address"]) == ("Port-Channel1", "node1 port channel 1", "172.16.0.5/31")
        assert one["lacp_id"] == two["lacp_id"] == DOTTED
        assert one["eos_cli"] == f"mac-address {MAC}" and two["ip_address"] == "172.16.0.13/31"
    text = written["eos/leaf1-1.cfg"].decode()
    assert text.count("lacp system-id ") == text.count(f"mac-address {MAC}") == 2 and "aggregate-address" not in text


def test_sonic(tmp_path: Path, test_data: Path) -> None:
    program = need_program("yanglint", "libyang2-tools")
    written = files(tmp_path, "sonic", port=SONIC)
    configs: list[dict[str, Any]] = [json.loads(written[f"sonic/{name}/config_db.json"]) for name in PAIR]
    assert sonic_yang.judge(program, test_data / "sonic-yang", tmp_path, *configs) == ""
    for config in configs:
        assert {p["system_mac"] for p in config["PORTCHANNEL"].values()} == {MAC} and len(config["PORTCHANNEL"]) == 2
        assert config["PORTCHANNEL_INTERFACE"]["PortChannel1"] == {"mac_addr": MAC}
        assert "PortChannel1|172.16.0.5/31" in config["PORTCHANNEL_INTERFACE"]


@pytest.mark.parametrize("version", ["5.10", "5.16"])
def test_nvue(version: str, tmp_path: Path) -> None:
    written = files(tmp_path, "nvue", port=CUMULUS, version=version)
    for name in PAIR:
        whole = yaml.load(written[f"nvue/{name}.yaml"], Loader=yaml.BaseLoader)[0]["set"]
        grammar = nvue_grammar.GRAMMAR_515 if version == "5.16" else nvue_grammar.GRAMMAR
        assert nvue_grammar.wrong(whole, grammar) == []
        said = {" ".join(words) for words in nvue_grammar.commands(whole)}
        assert {f"interface bond{n} link mac-address {MAC}" for n in (1, 2)} <= said
        assert any(s.startswith("interface bond1 ") and s.endswith("address 172.16.0.5/31") for s in said)


def test_nvue_before_5_10_is_refused_with_the_option(tmp_path: Path) -> None:
    _, findings = made(design("across", port=CUMULUS, roce=""), tmp_path, "nvue", version="5.9")
    refused = [d for d in findings if d.code == "E0504"]
    assert refused and all("--option nvue.version=5.10" in d.message for d in refused)


def test_a_host_with_an_asn_is_refused_a_session(tmp_path: Path) -> None:
    """Either switch may get the packets of a session with the other: they have one address."""
    text = design("across", port=CUMULUS, roce="").replace("unnumbered;", "unnumbered; asn node from 4200100000;")
    found, findings = made(text, tmp_path, "frr")
    (refused,) = [d for d in findings if d.code == "E0512"]
    assert refused.help and "leave the ASN" in refused.help and found is not None


def test_linux_takes_the_mac_address_of_the_bond_as_the_system_of_lacp(tmp_path: Path) -> None:
    """``ad_actor_system`` is the address of the bond where it is not set (docs.kernel.org, Ethernet Bonding)."""
    need_program("netplan", "netplan.io")
    written = files(tmp_path, "frr", "containerlab", "networkmanager", port=CUMULUS)
    for name in PAIR:
        etc = tmp_path / name / "etc" / "netplan"
        etc.mkdir(parents=True)
        (etc / "60.yaml").write_bytes(written[f"frr/{name}/bonds.yaml"])
        (etc / "60.yaml").chmod(0o600)
        subprocess.run(["netplan", "generate", "--root-dir", str(tmp_path / name)], check=True, capture_output=True, timeout=30)
        made_there = (tmp_path / name / "run/systemd/network/10-netplan-bond1.netdev").read_text()
        assert f"MACAddress={MAC}\n" in made_there and "Mode=802.3ad" in made_there
        node = yaml.safe_load(written["containerlab/fabric.clab.yml"])["topology"]["nodes"][name]
        assert sum(f" address {MAC} type bond" in line for line in node["exec"]) == 2
    host = yaml.safe_load(written["frr/node1/netplan.yaml"])["network"]
    bond = host["bonds"]["bond1"]
    assert (
        bond["interfaces"] == ["eth1", "eth2"]
        and bond["addresses"] == ["172.16.0.4/31", "fd00:16::4/127"]
        and "macaddress" not in bond
    )
    assert {r["via"] for r in bond["routes"]} == {"172.16.0.5", "fd00:16::5"}
    assert b"interface-name=bond1" in written["networkmanager/node1.sh"]


def test_hosts_are_reached_by_the_other_switch_when_a_link_is_cut(tmp_path: Path) -> None:
    """FRR routes; a bridge stands in for the host's bond, and the one member of a switch's for its bond."""
    frr_lab.need()
    written = dict(files(tmp_path, "frr", port=CUMULUS, roce=""))
    for path in [p for p in written if p.endswith("/frr.conf") and "/leaf" in p]:
        bonds = yaml.safe_load(written[path.replace("frr.conf", "bonds.yaml")])["network"]["bonds"]
        text = written[path].decode()
        assert "aggregate-address" not in text, "a switch whose link is cut would still draw the traffic of the host"
        for bond, said in bonds.items():
            (member,) = said["interfaces"]
            text = re.sub(rf"^interface {member}\n.*?^exit\n", "", text, flags=re.M | re.S)
            text = re.sub(rf"\b{bond}\b", member, text)
        written[path] = text.encode()
    with frr_lab.running(written) as lab:
        for n in range(4):
            for k in range(2):
                port = 1 + n // 2
                mac = lacp_system_mac(f"leaf{n % 2}-0", f"leaf{n % 2}-1")
                lab.shell(f"leaf{n % 2}-{k}", "ip", "link", "set", f"swp{port}", "address", mac)
            lab.shell(f"node{n}", "ip", "link", "add", "bond1", "type", "bridge")
            for port in ("eth1", "eth2"):
                lab.shell(f"node{n}", "ip", "link", "set", port, "master", "bond1")
            lab.shell(f"node{n}", "ip", "link", "set", "bond1", "up")
        address = {n: f"172.16.0.{4 * n}" for n in range(4)}

        def reached() -> list[tuple[int, int]]:
            return [(a, b) for a in address for b in address if a != b and lab.reaches(f"node{a}", address[b], address[a])]

        every = [(a, b) for a in address for b in address if a != b]
        frr_lab.until(reached, every, 60)
        lab.cut("leaf0-0", "swp1")
        lab.shell("node0", "ip", "link", "set", "eth1", "down")
        frr_lab.until(reached, every, 60)


def test_a_switch_of_two_is_no_single_point_of_failure(tmp_path: Path) -> None:
    text = design("across", port=CUMULUS, roce="")
    asked = "require edge_redundancy >= 2\n  require survives any 1 of leaf\n}"
    held = compile_text(text.rstrip().removesuffix("}") + asked, tmp_path, models=False)
    assert not [d for d in held.findings if d.code not in ("E0404",)], held.findings
