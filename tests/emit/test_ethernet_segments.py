"""Port channels of hosts over two switches as Ethernet segments (EVPN multihoming): each before the judge of its target, and
where the kernel has bonds, bridges and VXLAN, FRR carries the packets of hosts that have lost a link or a switch."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.run import tdsl
from tests.targets import frr_lab, nvue_grammar
from tests.targets.build import design, made
from tests.targets.switches import CUMULUS, EOS, ROCE, SONIC

yaml = pytest.importorskip("yaml")
HOSTS = {f"node{p}-{n}": f"172.16.{p}.{4 + 2 * n}" for p in range(2) for n in range(2)}
"""The gateway has the first address of a network, its two switches the next, and a host a place for each port."""


def files(tmp_path: Path, *targets: str, port: str, roce: str = "", **settings: object) -> dict[str, bytes]:
    found, findings = made(design("evpn", port=port, roce=roce), tmp_path, *targets, **settings)
    assert not findings, findings
    return found


def need_devices() -> None:
    """Skip where the kernel lacks bonds, bridges or VXLAN."""
    script = (
        "ip link add b0 type bond mode 802.3ad && ip link add r0 type bridge vlan_filtering 1 && "
        "ip link add x0 type vxlan id 1 local 10.0.0.1 dstport 4789 nolearning"
    )
    done = subprocess.run(["unshare", "-n", "sh", "-c", script], capture_output=True, text=True, timeout=20, check=False)
    if done.returncode:
        pytest.skip(f"this kernel has no bonds, bridges or VXLAN: {done.stderr.strip()}")


def test_frr_carries_hosts_past_a_link_and_a_switch_that_fail(tmp_path: Path) -> None:
    """The built files alone: netplan's of the hosts, the script and the configuration of the switches. After a link is cut,
    what reaches the wrong switch of the pair goes through the tunnel; after a switch is gone, by the other."""
    frr_lab.need()
    need_devices()
    written = dict(files(tmp_path, "frr", port=CUMULUS))
    for path in [p for p in written if p.endswith("/frr.conf") and "/leaf" in p]:
        written[path] = written[path].replace(b"\nservice", b"\nevpn mh startup-delay 0\nservice", 1)  # 180 s at boot
    with frr_lab.running(written, planned=tuple(HOSTS)) as lab:

        def reached() -> list[tuple[str, str]]:
            return [(a, b) for a in HOSTS for b in HOSTS if a != b and lab.reaches(a, HOSTS[b], HOSTS[a])]

        every = [(a, b) for a in HOSTS for b in HOSTS if a != b]
        for name, peer in (("leaf0-0", "10.255.0.2"), ("leaf0-1", "10.255.0.1")):
            frr_lab.until(lambda n=name, p=peer: [peers_of(e) for e in segments(lab, n)], [[peer], [peer]], 120)  # type: ignore[misc]
        frr_lab.until(reached, every, 120)
        assert all(lab.reaches(a, HOSTS[b], HOSTS[a], "-M", "do", "-s", "9136") for a, b in every), "9,164 bytes"
        gateway = lab.shell("node0-0", "ip", "neigh", "show", "172.16.0.1").stdout
        assert mac_of(lab, "leaf0-0", "vlan10-v0") in gateway, "of both switches, not of one"
        lab.cut("leaf0-0", "swp1")
        lab.shell("node0-0", "ip", "link", "set", "eth1", "down")
        frr_lab.until(reached, every, 120)
        macs = lab.ask("leaf0-0", "show evpn mac vni 10010 mac " + mac_of(lab, "node0-0", "bond1"))
        assert macs, "the switch without the link knows the host by the other"
        assert lab.reaches("leaf0-0", HOSTS["node0-0"]), "through the tunnel"
        for port in ("swp1", "swp2", "swp3", "swp4"):
            lab.cut("leaf1-1", port)
        for n in range(2):
            lab.shell(f"node1-{n}", "ip", "link", "set", "eth2", "down")
        frr_lab.until(reached, every, 120)


def segments(lab: frr_lab.Lab, name: str) -> list[dict[str, object]]:
    """The Ethernet segments that bgpd of a switch has of its own."""
    return [e for e in lab.ask(name, "show bgp l2vpn evpn es") if "local" in e["type"]]


def peers_of(segment: dict[str, object]) -> list[str]:
    """The other ends of a segment."""
    vteps = segment.get("vteps", [])
    assert isinstance(vteps, list)
    return [str(v["vtep_ip"]) for v in vteps]


def mac_of(lab: frr_lab.Lab, name: str, device: str) -> str:
    """The MAC address of a device."""
    found = re.search(r"link/ether (\S+)", lab.shell(name, "ip", "link", "show", device).stdout)
    assert found
    return found[1]


@pytest.mark.parametrize(("port", "target"), [(EOS, "eos"), (CUMULUS, "nvue"), (CUMULUS, "frr")])
def test_the_table_of_addresses_has_what_the_switches_have(port: str, target: str, tmp_path: Path) -> None:
    """EOS has the gateway alone, the others an address of each switch beside it; a host is behind both switches."""
    text = design("evpn", port=port, roce="").replace("routing bgp", f"nos {target}\n  routing bgp")
    (tmp_path / "d.fab").write_text(text)
    table = json.loads(tdsl("show", tmp_path / "d.fab", "addresses", "--format", "json").stdout)["designs"][0]["addresses"]
    written, _ = made(text, tmp_path, target)
    told = {r["address"] for r in table if r["device"] == "leaf0-0" and r["kind"] == "vlan"}
    said = b"".join(body for path, body in written.items() if "leaf0-0" in path).decode()
    assert {a for a in re.findall(r"(?:172\.16\.0|fd00:16:):?[.:]?\d+/\d+", said) if not a.endswith((".0/24", "::/64"))} == told
    assert len(told) == (2 if target == "eos" else 4)
    assert {r["peer"] for r in table if r["device"] == "node0-0"} == {"leaf0-0 p[1], leaf0-1 p[1]"}


def test_a_laboratory_makes_the_segments_before_it_starts_frr(tmp_path: Path) -> None:
    """containerlab adds interfaces to containers that run, and its `exec` comes after FRR: a shell that sees them come one by
    one runs the script when all are there, and FRR after it. `$` has another meaning in a file of containerlab's."""
    lab = yaml.safe_load(files(tmp_path, "containerlab", "frr", port=CUMULUS)["containerlab/fabric.clab.yml"])["topology"]
    node = lab["nodes"]["leaf0-0"]
    ends = [e.split(":")[1] for link in lab["links"] for e in link["endpoints"] if e.startswith("leaf0-0:")]
    assert "exec" not in node and "$" not in node["cmd"]
    there, log = tmp_path / "there", tmp_path / "log"
    there.mkdir()
    (tmp_path / "ip").write_text(f"#!/bin/sh\ntest -e {there}/$3\n")
    (tmp_path / "sleep").write_text(
        f"#!/bin/sh\nfor i in {' '.join(ends)}; do test -e {there}/$i || {{ : > {there}/$i; exit; }}; done\n"
    )
    for name in ("ip", "sleep"):
        (tmp_path / name).chmod(0o755)
    script = node["cmd"].replace("/etc/frr/evpn.sh", f"{tmp_path}/evpn").replace("/usr/lib/frr/docker-start", f"{tmp_path}/frr")
    (tmp_path / "evpn").write_text(f"ls {there} > {log}\n")
    (tmp_path / "frr").write_text(f"#!/bin/sh\necho frr >> {log}\n")
    (tmp_path / "frr").chmod(0o755)
    subprocess.run(shlex.split(script), env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, timeout=30, check=True)
    assert log.read_text().split() == [*sorted(ends), "frr"]


def test_eos(tmp_path: Path) -> None:
    """AVD's schema takes the structured configuration and renders the same text; both switches of a pair have one segment."""
    pytest.importorskip("pyavd")
    from tests.targets.test_eos import structured

    written = files(tmp_path, "eos", port=EOS, roce=ROCE)
    pair = [structured(written, f"leaf1-{k}") for k in range(2)]
    for k, config in enumerate(pair):
        (one, two) = (c["evpn_ethernet_segment"] for c in config["port_channel_interfaces"])
        assert one["identifier"] != two["identifier"]
        elected = [e["designated_forwarder_election"] for e in (one, two)]
        assert [e["algorithm"] for e in elected] == ["preference"] * 2
        assert [e["preference_value"] for e in elected] == ([50000, 32767] if k == 0 else [32767, 50000])
        assert config["vxlan_interface"]["vxlan1"]["vxlan"]["vlans"] == [{"id": 10, "vni": 10010}]
        assert config["router_bgp"]["neighbors"][0]["ip_address"] == f"10.255.0.{4 - k}"
        assert (
            config["vlan_interfaces"][0]["ip_address_virtual"] == "172.16.1.1/24" and config["vlan_interfaces"][0]["mtu"] == 9164
        )
        up = [i["name"] for i in config["ethernet_interfaces"] if i.get("link_tracking", {}).get("direction") == "upstream"]
        assert up == ["Ethernet3/1", "Ethernet4/1"]
    shared = ("lacp_id", "name", "switchport")
    for a, b in zip(*(c["port_channel_interfaces"] for c in pair), strict=True):
        assert [a[x] for x in shared] == [b[x] for x in shared]
        for key in ("identifier", "route_target"):
            assert a["evpn_ethernet_segment"][key] == b["evpn_ethernet_segment"][key]
    assert not any("evpn" in written[p].decode() for p in written if "spine" in p and p.startswith("eos/"))


@pytest.mark.parametrize("version", ["5.9", "5.16"])
def test_nvue(version: str, tmp_path: Path) -> None:
    """NVIDIA's lists have each command; a bond is one segment at both switches, and each knows the other by its loopback."""
    written = files(tmp_path, "nvue", port=CUMULUS, roce=ROCE, version=version)
    on = "state enabled" if version == "5.16" else "enable on"
    ip = "ipv4" if version == "5.16" else "ip"
    said = {}
    for k in range(2):
        whole = yaml.load(written[f"nvue/leaf1-{k}.yaml"], Loader=yaml.BaseLoader)[0]["set"]
        grammar = nvue_grammar.GRAMMAR_515 if version == "5.16" else nvue_grammar.GRAMMAR
        assert nvue_grammar.wrong(whole, grammar) == []
        said[k] = {" ".join(words) for words in nvue_grammar.commands(whole)}
        assert f"interface vlan10 {ip} address 172.16.1.{2 + k}/24" in said[k]
        assert f"vrf default router bgp neighbor 10.255.0.{4 - k} address-family l2vpn-evpn {on}" in said[k]
    for command in (f"interface vlan10 {ip} vrr address 172.16.1.1/24", "interface bond2 evpn multihoming segment local-id 2"):
        assert command in said[0] & said[1]
    assert len({c for c in said[0] & said[1] if "segment mac-address" in c}) == 2
    assert {c for c in said[0] ^ said[1] if "df-preference" in c} == {
        f"interface bond{n} evpn multihoming segment df-preference 50000" for n in (1, 2)
    }


def test_sonic_is_refused_by_name(tmp_path: Path) -> None:
    _, findings = made(design("evpn", port=SONIC, roce=""), tmp_path, "sonic")
    assert any("4 of 6 switches: it has no EVPN multihoming" in d.message for d in findings if d.code == "E0511"), findings
