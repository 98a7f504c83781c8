"""The target frr before its judges: vtysh reads every file, and FRR's daemons bring up the fabrics that were designed."""

from __future__ import annotations

import re
import time
from collections import Counter
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.targets import build, frr_lab, switches
from tests.targets.build import csv_rows, design

LEAF_SPINE, THREE_TIERS, TWO_PLANES = map(design, ("leaf_spine", "three_tiers", "two_planes"))


def made(text: str, place: Path) -> dict[str, bytes]:
    """The files of frr and fabric.json."""
    files, found = build.made(text, place, "frr", "cabling")
    assert not found
    return files


def lines(files: dict[str, bytes], device: str) -> list[str]:
    """A router's configuration."""
    return files[f"frr/{device}/frr.conf"].decode().split("\n")


def confs(files: dict[str, bytes]) -> dict[str, bytes]:
    """Device -> its configuration."""
    return {p.split("/")[1]: b for p, b in files.items() if p.endswith("/frr.conf")}


@pytest.mark.parametrize(("text", "count"), [(LEAF_SPINE, 10), (THREE_TIERS, 12), (TWO_PLANES, 8)])
def test_vtysh_reads_every_file_and_every_name_used_is_defined(text: str, count: int, tmp_path: Path) -> None:
    """vtysh refuses a wrong line, and does not see a route map or prefix list that nobody defines."""
    files = confs(made(text, tmp_path))
    assert len(files) == count
    for device, content in files.items():
        assert frr_lab.reads(content, tmp_path), device
        told = content.decode()

        def all_of(pattern: str, told: str = told) -> set[Any]:
            return set(re.findall(pattern, told, re.M))

        assert all_of(r"^bgp as-path access-list (\S+)") == all_of(r"match as-path (\S+)"), device
        assert all_of(r"^route-map (\S+) permit") == all_of(r"^  .* route-map (\S+)(?: in| out|$)"), device
        lists = all_of(r"^(ip|ipv6) prefix-list (\S+)")
        assert lists == all_of(r"match (ip|ipv6) address prefix-list (\S+)"), device
        groups = all_of(r"^ neighbor (\S+) peer-group$")
        assert all_of(r"^ neighbor \S+ (?:interface )?peer-group (\S+)$") <= groups, device
        assert all_of(r"^ neighbor (\S+) interface") <= all_of(r"^interface (\S+)"), device
    spine = next(b for d, b in files.items() if "spine" in d)
    assert not frr_lab.reads(spine.replace(b"maximum-paths", b"maximum-path-s"), tmp_path)


def test_a_plan_of_numbers_per_rfc_7938(tmp_path: Path) -> None:
    """A number for each leaf, one for the spines of a pod, one for the cores (section 5.2.1)."""
    asn = numbers(made(THREE_TIERS, tmp_path))
    groups: dict[str, set[int]] = {}
    for device, number in asn.items():
        groups.setdefault(re.sub(r"(spine|core).*", r"\1", device), set()).add(number)
    assert sorted(groups) == ["core", *(f"pod{p}-{d}" for p in range(2) for d in ("leaf0", "leaf1", "spine"))]
    assert len(asn) == 12 and len(set.union(*groups.values())) == 7 == sum(map(len, groups.values()))
    assert all(4_200_000_000 <= n <= 4_294_967_294 for n in asn.values())


def test_a_host_leaves_by_the_rail_of_its_source(tmp_path: Path) -> None:
    """Both IP versions and management: netplan accepts the file, and rules and routes are those of the links."""
    frr_lab.need()
    more = '  address node[*].nic[r] links from "fd00:{r}::/64"\n  '
    more += "address node management from 192.168.0.10/24 { gateway 192.168.0.1 }\n  routing bgp"
    files = made(LEAF_SPINE.replace("  routing bgp", more), tmp_path)
    assert not [p for p in files if p.endswith("netplan.yaml") and "node" not in p]
    told = frr_lab.netplan(files["frr/node1/netplan.yaml"], tmp_path / "node1")
    assert [x for x in told if x.startswith("rule")] == [
        f"rule add from {a} table {t} priority {t}"
        for t, a in ((1001, "172.16.0.2"), (1001, "fd00::2"), (1002, "172.17.0.2"), (1002, "fd00:1::2"))
    ]
    assert "route add ::/0 via fd00:1::3 dev eth2 table 1002" in told and "link set eth2 mtu 9216" in told
    assert "address add 192.168.0.11/24 dev eth0" in told and len(told) == 2 + 2 * (1 + 2 + 4 + 2)
    assert "route add 0.0.0.0/0 via 192.168.0.1 dev eth0 table 901" in told
    assert "VRF=mgmt" in (tmp_path / "node1/run/systemd/network/10-netplan-eth0.network").read_text()


def test_two_hosts_keep_their_management_route(tmp_path: Path) -> None:
    """In namespaces: one by its netplan file, one by FRR's; without a gateway the file leaves the interface alone."""
    frr_lab.need()
    managed = "  address node management from 192.168.0.10/24 { vrf default; gateway 192.168.0.1 }\n  routing bgp"
    files = made(LEAF_SPINE.replace("  routing bgp", managed), tmp_path)
    with frr_lab.running(files, planned=("node0",), managed=("node0", "node3")) as lab:
        for name in ("node0", "node3"):
            frr_lab.until(
                lambda n=name: "via 192.168.0.1 dev eth0" in lab.shell(n, "ip", "route", "show", "default").stdout, True
            )
        way = lab.shell("node0", "ip", "route", "get", "172.16.0.9", "from", "172.16.0.0").stdout
        assert "via 172.16.0.1 dev eth1" in way
    files = made(LEAF_SPINE.replace("  routing bgp", managed.replace("{ vrf default; gateway 192.168.0.1 }", "")), tmp_path)
    assert "eth0" not in yaml.safe_load(files["frr/node0/netplan.yaml"])["network"]["ethernets"]


LINKS = 'address node[*].nic[r] links from "172.{16 + r}.0.0/24"'
SIXES = 'address node[*].nic[r] links from "fd00:{r}::/64"'
TWICE = "address node[*].nic[0] links from 172.16.0.0/24\n  address node[*].nic[1] links from 172.16.0.8/24"


def aggregates(files: dict[str, bytes], device: str) -> list[str]:
    """The networks that a router announces in place of longer ones."""
    return [x.split()[1] for x in lines(files, device) if x.startswith("  aggregate-address")]


@pytest.mark.parametrize(
    ("hosts", "leaf", "more", "expected"),
    [
        (6, "r", LINKS, [["172.16.0.0/28"], ["172.17.0.0/28"]]),  # 6 of 8 links: what is left is nobody's
        (4, "r", SIXES, [["fd00::/125"], ["fd00:1::/125"]]),
        (4, "r", TWICE, [[], []]),  # two statements take from one network: a block of one may hold addresses of the other
    ],
)
def test_a_leaf_announces_the_networks_of_its_hosts(
    hosts: int, leaf: str, more: str, expected: list[list[str]], tmp_path: Path
) -> None:
    """Networks that hold no address of another leaf, and that prefix lists let through."""
    files = made(design("summed", hosts=hosts, leaf=leaf, more=more, routing=""), tmp_path)
    assert [aggregates(files, f"leaf{k}") for k in range(2)] == expected and not aggregates(files, "spine")
    listed = [x.split() for x in lines(files, "spine") if "prefix-list FABRIC" in x and "permit" in x and "match" not in x]
    for network in (ip_network(a) for e in expected for a in e):
        fitting = [w for w in listed if ip_network(w[6]).version == network.version and network.subnet_of(ip_network(w[6]))]
        assert any(int(w[8]) <= network.prefixlen if "ge" in w else ip_network(w[6]) == network for w in fitting)
    assert frr_lab.reads(files["frr/leaf0/frr.conf"], tmp_path)


def test_hosts_leave_their_links_to_the_leaves(tmp_path: Path) -> None:
    """A host's own route to a link would be longer than the leaf's, and lead to it by the other rail."""
    for more in (LINKS + "\n  address node loopback from 10.9.0.0/24", LINKS):
        files = made(design("summed", hosts=4, leaf="r", more=more, routing="asn node from 65_100"), tmp_path)
        found = lines(files, "node0")
        assert " match ip address prefix-list OWN4" in found and "ip prefix-list OWN4 seq 5 permit 10.255.0.0/24 ge 32" in found
        assert not [x for x in found if "prefix-list OWN" in x and "172." in x] and not aggregates(files, "node0")
        assert frr_lab.reads(files["frr/node0/frr.conf"], tmp_path)


def test_files_of_a_cluster(tmp_path: Path) -> None:
    """vtysh reads the files of the hosts joined to one, and of the switches one of each structure and some more."""
    texts = confs(build.made(switches.shipped(), tmp_path, "frr")[0])
    hosts = {n: t for n, t in texts.items() if n.startswith("host")}
    assert len(hosts) == 32 and len(texts) == len(hosts) + 16 + 33
    assert frr_lab.reads(b"".join(t.removesuffix(b"end\n") for t in hosts.values()), tmp_path)
    for name in switches.distinct({n: t for n, t in texts.items() if n not in hosts}):
        assert frr_lab.reads(texts[name], tmp_path), name


def numbers(files: dict[str, bytes]) -> dict[str, int]:
    """Device -> ASN, of those that run BGP."""
    found = {d: re.search(rb"^router bgp (\d+)", b, re.M) for d, b in confs(files).items()}
    return {d: int(m[1]) for d, m in found.items() if m}


def widths(lab: frr_lab.Lab, asn: dict[str, int], start: str) -> dict[str, int]:
    """Device -> number of links of ``start`` that begin a shortest path to it, by trying all paths. On a path no ASN comes
    twice (RFC 4271, section 9.1.2), and hosts forward nothing."""
    near: dict[str, Counter[str]] = {d: Counter() for d in asn}
    for w in lab.wires:
        if w.a[0] in asn and w.b[0] in asn:
            near[w.a[0]][w.b[0]] += 1
            near[w.b[0]][w.a[0]] += 1
    best: dict[str, tuple[int, set[str]]] = {}

    def walk(path: list[str]) -> None:
        here = path[-1]
        if len(path) > 1:
            length, firsts = best.setdefault(here, (len(path), set()))
            if len(path) < length:
                best[here] = (len(path), {path[1]})
            elif len(path) == length:
                firsts.add(path[1])
            if here.startswith("node"):
                return
        for far in near[here]:
            if asn[far] not in {asn[d] for d in path} and len(path) < 7:
                walk([*path, far])

    walk([start])
    return {d: sum(near[start][first] for first in firsts) for d, (_, firsts) in best.items()}


def loopbacks(files: dict[str, bytes], version: int = 4) -> dict[str, str]:
    """Device -> loopback with its length."""
    pattern = rf"interface lo\n(?: .*\n)*? {'ip' if version == 4 else 'ipv6'} address (\S+)\n".encode()
    found = {d: re.search(pattern, b) for d, b in confs(files).items()}
    return {d: m[1].decode() for d, m in found.items() if m}


def address(ends: dict[str, str], device: str) -> str:
    return ends[device].split("/")[0]


def counts(lab: frr_lab.Lab, start: str, ends: dict[str, str], version: int = 4) -> dict[str, int]:
    """Device -> next hops that ``start`` uses for its loopback."""
    hops = lab.hops(start, version)
    return {d: len(hops[p]) for d, p in ends.items() if d != start and p in hops}


def expected(lab: frr_lab.Lab, files: dict[str, bytes], start: str, ends: dict[str, str]) -> dict[str, int]:
    """The same of the design."""
    found = widths(lab, numbers(files), start)
    return {d: found[d] for d in ends if d in found}


def routed_as_designed(lab: frr_lab.Lab, files: dict[str, bytes], versions: tuple[int, ...] = (4,)) -> None:
    """Each router has all lines of its file, none read and forgotten, and comes to have the next hops of the design. FRR's
    version has three numbers, and its host's name is the machine's."""
    for name in lab.names:
        running = lab.running_config(name)
        lost = [x for x in lines(files, name) if x and x not in running and not re.match("!|frr version|hostname", x)]
        assert not lost, (name, lost)
    for version in versions:
        ends = loopbacks(files, version)
        for start in ends:
            frr_lab.until(lambda s=start, e=ends, v=version: counts(lab, s, e, v), expected(lab, files, start, ends))


def test_four_leaves_and_two_spines(tmp_path: Path) -> None:
    """Every loopback by as many next hops as the design has, both IP versions; hosts reach each other on both rails; without
    one of a leaf's two links half is left. A spine that hangs is found by BFD, where BGP alone would find nothing for long: its
    bfdd stands still and its bgpd does not."""
    frr_lab.need()
    files = made(LEAF_SPINE, tmp_path)
    ends = loopbacks(files)
    with frr_lab.running(files) as lab:
        routed_as_designed(lab, files, (4, 6))
        assert expected(lab, files, "leaf0", ends) == {"leaf1": 2, "leaf2": 2, "leaf3": 2, "spine0": 1, "spine1": 1}
        for d in ends:
            if d != "leaf0":
                frr_lab.until(lambda d=d: lab.reaches("leaf0", address(ends, d), address(ends, "leaf0")), True)
        summed = {f"172.{16 + r}.0.{4 * half}/30": {f"swp{2 * half + r + 1}"} for r in range(2) for half in range(2)}
        links = {p: h for p, h in lab.hops("spine0").items() if p.startswith("172.")}
        assert links == summed, "a leaf announces the network of its hosts' links, not each link"
        for far in ("172.16.0.6", "172.17.0.6"):  # node3, in the other half
            frr_lab.until(lambda f=far: lab.reaches("node0", f), True)
        lab.cut("leaf0", "swp3")
        frr_lab.until(lambda: counts(lab, "leaf0", ends), {"leaf1": 1, "leaf2": 1, "leaf3": 1, "spine1": 1})
        frr_lab.until(lambda: lab.reaches("node0", "172.16.0.6"), True)

        def sessions(name: str) -> dict[bytes, str]:
            return {p["interface"].encode(): p["status"] for p in lab.ask(name, "show bfd peers")}

        for name in ("leaf1", "spine1"):
            wanted = dict.fromkeys(re.findall(rb"neighbor (\S+) interface", files[f"frr/{name}/frr.conf"]), "up")
            frr_lab.until(lambda n=name: sessions(n), wanted)
        assert counts(lab, "leaf1", ends) == {"leaf0": 1, "leaf2": 2, "leaf3": 2, "spine0": 1, "spine1": 1}
        lab.signal("spine0", "bfdd", "STOP")
        frr_lab.until(lambda: counts(lab, "leaf1", ends), {"leaf0": 1, "leaf2": 1, "leaf3": 1, "spine1": 1}, 15)


def test_what_neighbours_hear_is_what_links_csv_says(tmp_path: Path) -> None:
    """The links of the lab as lldpd reports them, and those of cabling/links.csv; hosts that have a netplan file and no FRR
    reach each other in jumbo frames, from one rail to another as well, and by no other interface than the source's own."""
    frr_lab.need()
    files = made(LEAF_SPINE, tmp_path)
    with frr_lab.running(files, planned=("node0", "node3")) as lab:
        lab.hear()
        links = csv_rows(files, "cabling/links.csv")
        said = {frozenset((r[f"{e}_device"], r[f"{e}_interface"]) for e in "ab") for r in links}
        assert len(said) == 16
        frr_lab.until(lab.neighbours, said)
        jumbo = ["-M", "do", "-s", str(9216 - 28)]
        for source, far in (("172.16.0.0", "172.16.0.6"), ("172.16.0.0", "172.17.0.6"), ("172.17.0.0", "172.16.0.6")):
            frr_lab.until(lambda s=source, f=far: lab.reaches("node0", f, s, *jumbo), True)
        way = lab.shell("node0", "ip", "route", "get", "172.17.0.6", "from", "172.16.0.0").stdout
        assert "via 172.16.0.1 dev eth1" in way, way


def settled(peer: dict[str, Any]) -> bool:
    """Whether a session has gone through its first exchange, so that a restart can be told from a beginning."""
    info = peer.get("gracefulRestartInfo", {})
    ends = [info.get("endOfRibSend", {}), info.get("endOfRibRecv", {})]
    return peer.get("bgpState") == "Established" and all(e and all(e.values()) for e in ends)


def test_a_router_that_restarts(tmp_path: Path) -> None:
    """One whose bgpd is killed goes on forwarding, and its neighbours keep their routes until it is back. Without BFD, whose
    sessions end with bgpd and may be heard of first. Killed right after their first exchange, FRR 8.4 dropped the routes in
    some labs; killed more than a keepalive later, in none of 42. Should it do so here, two more are tried."""
    frr_lab.need()
    files = made(LEAF_SPINE.replace("; bfd", ""), tmp_path)
    assert b" bfd\n" not in files["frr/leaf3/frr.conf"] and b"graceful-restart" in files["frr/leaf3/frr.conf"]
    assert any(kept_while_restarting(files, "leaf3") for _ in range(3))


def states(lab: frr_lab.Lab, name: str) -> dict[str, str]:
    """Neighbour -> state of the BGP session with it."""
    return {n: p["state"] for n, p in lab.ask(name, "show bgp summary").get("ipv4Unicast", {}).get("peers", {}).items()}


QUIET = 3.5
"""Seconds after the first exchange of all sessions: more than a keepalive of FRR's `datacenter` defaults, which is 3."""


def kept_while_restarting(files: dict[str, bytes], name: str) -> bool:
    """Whether routes to and from a router are in use while it has no bgpd; all are there before and afterwards."""
    ends = loopbacks(files)
    with frr_lab.running(files) as lab:

        def whole(*devices: str) -> bool:
            return all(counts(lab, d, ends) == expected(lab, files, d, ends) for d in devices)

        frr_lab.until(lambda: whole(*ends), True)
        for d in ends:
            frr_lab.until(lambda d=d: all(settled(p) for p in lab.ask(d, "show bgp neighbors").values()), True)
        time.sleep(QUIET)
        lab.signal(name, "bgpd", "KILL")
        kept = True
        for _ in range(8):
            kept = kept and whole("leaf0", name) and lab.reaches("leaf0", address(ends, name), address(ends, "leaf0"))
            time.sleep(0.25)
        lab.start(name, "bgpd")
        frr_lab.until(lambda: states(lab, name), {"swp3": "Established", "swp4": "Established"})
        frr_lab.until(lambda: whole(*ends), True)
    return kept


def test_three_tiers(tmp_path: Path) -> None:
    """Pods and cores, numbered links between leaf and spine; when a pod loses a spine's cores the other carries all."""
    frr_lab.need()
    files = made(THREE_TIERS, tmp_path)
    ends = loopbacks(files)
    near, far = "pod0-leaf0", "pod1-leaf1"
    with frr_lab.running(files) as lab:
        routed_as_designed(lab, files)
        assert expected(lab, files, near, ends)[far] == 2
        frr_lab.until(lambda: lab.reaches(near, address(ends, far), address(ends, near)), True)
        for wire in lab.wires:
            if wire.a[0] == "pod0-spine0" and wire.b[0].startswith("core"):
                lab.cut(*wire.a)
        frr_lab.until(lambda: counts(lab, near, ends).get(far), 1)
        frr_lab.until(lambda: lab.reaches(near, address(ends, far), address(ends, near)), True)


def test_two_planes(tmp_path: Path) -> None:
    """Hosts with a foot in each plane run BGP and forward nothing: no switch hears of the other plane's."""
    frr_lab.need()
    files = made(TWO_PLANES, tmp_path)
    ends = loopbacks(files)
    with frr_lab.running(files) as lab:
        routed_as_designed(lab, files)
        assert len(lab.hops("node0")[ends["node1"]]) == 2
        foreign = {p for d, p in ends.items() if d.startswith("plane1")}
        assert foreign and not foreign & set(lab.hops("plane0-leaf0"))
        frr_lab.until(lambda: lab.reaches("node0", address(ends, "node1"), address(ends, "node0")), True)
        lab.cut("node0", "eth2")
        frr_lab.until(lambda: lab.hops("node0").get(ends["node1"]), {"eth1"})
