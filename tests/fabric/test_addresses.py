"""Addresses and ASNs: figures by hand, what growth keeps, and duplicates against a plain dictionary."""

from __future__ import annotations

from collections import Counter
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.fabric.addresses import Addressing
from tdsl.fabric.graph import Fabric

MODELS = """\
model switch SW { port p[1..16]: 400Gbps { type GE400; os "swp{i}" } }
model host NODE { port nic[2]: 400Gbps { type GE400; os "eth{i}" }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
"""


def made(body: str, tmp_path: Path) -> tuple[Fabric, Addressing, list[str]]:
    """The fabric of a text, its addresses, and the codes of what was found."""
    path = tmp_path / "d.fab"
    path.write_text(f"{MODELS}fabric f {{\n{body}\n}}\n")
    result = compiler.compile_and_verify(str(path))
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.addressing is not None
    return fabric, fabric.addressing, [d.code for d in result.findings if d.severity.word == "error"]


def everything(fabric: Fabric, found: Addressing) -> dict[tuple[str, str, int], str]:
    """(kind, what, IP version) -> address, of devices by path and links by port."""
    out = {}
    for kind in ("loopback", "management"):
        for d in range(fabric.device_count):
            out |= {(kind, fabric.device_path(d), a.version): str(a) for a, _ in found.each(kind, d)}
    for i in range(fabric.link_count):
        for second, ports in ((False, fabric.link_a), (True, fabric.link_b)):
            out |= {("link", fabric.port_path(int(ports[i])), a.version): str(a) for a, _ in found.each("links", i, second)}
    return out


LEAVES = """
  host node[{hosts}]: NODE
  switch leaf[{leaves} of {room}]: SW
  switch spine[2]: SW
  connect node[n].nic[i] to leaf[n % 2]
  connect leaf[*] to spine[*] each
  address leaf loopback from 10.255.0.0/24
  address spine loopback from 10.255.1.0/24
  address leaf[*].p[9..16] to spine links from 10.0.0.0/24
  address leaf to spine links from fd00::/64
  address node[*].nic[r] links from "172.{{16 + r}}.0.0/24"
  routing bgp {{ asn leaf from 4_200_000_000; asn spine 4_200_009_999 }}
"""


def test_by_hand(tmp_path: Path) -> None:
    f, found, codes = made(LEAVES.format(hosts=4, leaves=2, room=4).replace("p[9..16]", "p[1..16]"), tmp_path)
    assert codes == []
    at = everything(f, found)
    assert at["loopback", "leaf[1]", 4] == "10.255.0.1" and at["loopback", "leaf[3]", 4] == "10.255.0.3"
    assert at["loopback", "spine[0]", 4] == "10.255.1.0"
    up = next(i for i in range(f.link_count) if f.port_path(int(f.link_b[i])) == "spine[1].p[2]")
    assert f.port_path(int(f.link_a[up])) == "leaf[1].p[6]"
    # second leaf, sixth port: (1 x 16 + 5) pairs before it
    assert at["link", "leaf[1].p[6]", 4] == str(ip_address("10.0.0.0") + 2 * 21)
    assert at["link", "spine[1].p[2]", 4] == str(ip_address("10.0.0.0") + 2 * 21 + 1)
    assert at["link", "leaf[1].p[6]", 6] == "fd00::2a"
    assert at["link", "node[3].nic[1]", 4] == "172.17.0.6" and at["link", "node[0].nic[0]", 4] == "172.16.0.0"
    asn = {f.device_path(d): int(found.asn[d]) for d in range(f.device_count) if found.asn[d]}
    assert asn["leaf[3]"] == 4_200_000_003 and asn["spine[0]"] == asn["spine[1]"] == 4_200_009_999
    assert "node[0]" not in asn
    origin = found.asns.origin(4) if found.asns else None
    assert origin is not None and origin.span.text == "asn leaf from 4_200_000_000"
    assert found.of("loopback", 4, 4)[1].origin.span.text == "address leaf loopback from 10.255.0.0/24"  # type: ignore[index]


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(hosts=st.integers(2, 6), more=st.integers(0, 3), leaves=st.integers(2, 3), grown=st.integers(0, 2))
def test_growth_moves_nothing(tmp_path: Path, hosts: int, more: int, leaves: int, grown: int) -> None:
    """Hosts added at the end, leaves built that were planned, and leaves planned beyond."""
    small = made(LEAVES.format(hosts=hosts, leaves=leaves, room=5), tmp_path)
    large = made(LEAVES.format(hosts=hosts, leaves=leaves + grown, room=5 + more), tmp_path)
    wide = made(LEAVES.format(hosts=hosts + more, leaves=leaves, room=5), tmp_path)
    before = everything(*small[:2])
    for later in (large, wide):
        after = everything(*later[:2])
        for key, address in before.items():
            kind, what, _ = key
            if kind != "link":
                assert after[key] == address, key
            elif what.startswith("node") or (what in {w for _, w, _ in after} and what.startswith("leaf")):
                assert after.get(key, address) == address, key
    devices = {small[0].device_path(d): int(small[1].asn[d]) for d in range(small[0].device_count)}
    after_asn = {large[0].device_path(d): int(large[1].asn[d]) for d in range(large[0].device_count)}
    assert all(after_asn[path] == n for path, n in devices.items())


PODS = """
  pod pod[{pods}] {{
    switch leaf[2 of 4]: SW
    switch spine[{spines} of 4]: SW
    connect leaf[*] to spine[*] each
  }}
  host node[{pods}, {hosts} of 8]: NODE
  switch core[{cores} of 3]: SW
  connect pod[*].spine[*] to core[*] each
  connect node[p, n].nic[*] to pod[p].leaf[n % 2]
  address pod[*].leaf loopback from 10.1.0.0/16
  address pod[*].spine loopback from 10.2.0.0/16
  address core loopback from 10.3.0.0/24
  address core management from 192.168.0.0/24
  address node[*, *].nic[r] links from "172.{{16 + r}}.0.0/16"
  address node loopback from fd00:9::/64
  address pod[*].leaf[*].p[9..12] to pod[*].spine links from fd00:1::/64
  routing bgp {{ asn node from 4_220_000_000 }}
"""
SIZES = {"pods": (1, 3), "spines": (1, 4), "hosts": (2, 8), "cores": (1, 3)}


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(small=st.fixed_dictionaries({k: st.integers(*v) for k, v in SIZES.items()}), grown=st.sampled_from(list(SIZES)))
def test_pods_spines_and_hosts_keep_what_they_have(tmp_path: Path, small: dict[str, int], grown: str) -> None:
    """One extent more. Addresses of devices, ASNs (planned ones, too) and the addresses of host links stay; a link between
    switches may move to another port, but what a port of a leaf has it keeps."""
    if small[grown] == SIZES[grown][1]:
        return
    before, after = (made(PODS.format(**sizes), tmp_path) for sizes in (small, small | {grown: small[grown] + 1}))
    (f, found, codes), (g, later, more) = before, after
    assert codes == more == []
    old, new = everything(f, found), everything(g, later)
    kept = [k for k in old if k[0] != "link" or k[1].startswith("node")]
    assert kept and {k: old[k] for k in kept} == {k: new[k] for k in kept}
    ports = [k for k in old if k[0] == "link" and "leaf" in k[1] and k in new]
    assert {k: old[k] for k in ports} == {k: new[k] for k in ports}
    one, two = ({x.device_path(d): int(y.asn[d]) for d in range(x.device_count)} for x, y in ((f, found), (g, later)))
    assert {p: two[p] for p in one} == one


POOL = st.builds(lambda a, n: f"{ip_address('10.0.0.0') + 2 * a}/{n}", st.integers(0, 20), st.integers(24, 28))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pools=st.tuples(POOL, POOL, POOL), leaves=st.integers(1, 4), room=st.integers(0, 2))
def test_duplicates_against_a_dictionary(tmp_path: Path, pools: tuple[str, str, str], leaves: int, room: int) -> None:
    body = f"""
  switch leaf[{leaves} of {leaves + room}]: SW
  switch spine[2]: SW
  connect leaf[*] to spine[*] each
  address leaf loopback from {pools[0]}
  address spine loopback from {pools[1]}
  address leaf[*].p[1..2] links from {pools[2]}
"""
    f, found, codes = made(body, tmp_path)
    if "E0471" in codes:
        return
    counted = Counter(everything(f, found).values())
    assert ("E0430" in codes) == (max(counted.values()) > 1), (counted, codes)
    assert set(codes) <= {"E0430"}


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pool=POOL, kind=st.sampled_from(["leaf loopback", "leaf[*].p[1..4] links", "leaf management"]), leaves=st.integers(1, 40))
def test_the_prefix_that_is_proposed_has_room(tmp_path: Path, pool: str, kind: str, leaves: int) -> None:
    """And it is the longest that has: one bit more has too little."""
    body = f"switch leaf[{leaves}]: SW\n switch spine[4]: WIDE\n connect leaf[*] to spine[*] each\n address {kind} from "

    def checked(value: str) -> list[str]:
        (tmp_path / "d.fab").write_text(
            f"{MODELS}model switch WIDE {{ port p[1..64]: 400Gbps {{ type GE400 }} }}\nfabric f {{\n{body}{value}\n}}\n"
        )
        return [d.help for d in compiler.compile_and_verify(str(tmp_path / "d.fab")).findings if d.code == "E0471"]

    for text in checked(pool):
        larger = text.split("`")[1]
        address, length = larger.split("/")
        assert int(length) < int(pool.split("/")[1]) and checked(larger) == []
        if address == pool.split("/")[0] and int(length) + 1 < int(pool.split("/")[1]):
            assert checked(f"{address}/{int(length) + 1}")


def test_the_plan_of_numbers(tmp_path: Path) -> None:
    """Leaves joined to each other share nothing; a design without hosts has numbers, too."""
    f, found, codes = made("switch a[4]: SW\n connect a[*] ring\n routing bgp", tmp_path)
    assert codes == [] and len({int(found.asn[d]) for d in range(f.device_count)}) == 4


def test_addresses_of_each_instance(tmp_path: Path) -> None:
    """Inside a group, one population over all its instances, in order."""
    body = """
  pod pod[2] {
    switch leaf[2]: SW
    address leaf loopback from 10.1.0.0/24
  }
  connect pod[*].leaf[*] each
"""
    f, found, codes = made(body, tmp_path)
    assert codes == []
    assert [a for (k, _, _), a in everything(f, found).items() if k == "loopback"] == [f"10.1.0.{k}" for k in range(4)]


@pytest.mark.parametrize(
    ("network", "first", "room"),
    [("192.168.0.0/24", "192.168.0.1", 254), ("192.168.0.10/24", "192.168.0.10", 245), ("fd00::/120", "fd00::1", 255)],
)
def test_management_leaves_the_networks_own_addresses_out(network: str, first: str, room: int, tmp_path: Path) -> None:
    body = f"switch a[2]: SW\n connect a each\n address a management from {network} {{ interface eth1; vrf oob }}"
    _, found, codes = made(body, tmp_path)
    assert codes == []
    (pool,) = found.pools
    assert (str(pool.address(0)), pool.count, pool.interface, pool.vrf) == (first, room, "eth1", "oob")
    assert pool.address(room - 1) in ip_network(network, strict=False)


@pytest.mark.parametrize(
    ("network", "gateway", "first"),
    [
        ("192.168.0.0/24", "192.168.0.1", "192.168.0.2"),  # the gateway is the first address that can be given
        ("192.168.0.1/24", "192.168.0.1", "192.168.0.2"),
        ("192.168.0.10/24", "192.168.0.1", "192.168.0.10"),
        ("192.168.0.0/24", "192.168.0.254", "192.168.0.1"),
        ("fd00::/64", "fd00:0::1", "fd00::2"),
    ],
)
def test_devices_begin_behind_their_gateway(network: str, gateway: str, first: str, tmp_path: Path) -> None:
    text = f"switch leaf[2]: SW\n  connect leaf[0] to leaf[1]\n  address leaf management from {network} {{ gateway {gateway} }}"
    _, found, codes = made(text, tmp_path)
    assert [str(next(found.each("management", 0))[0]), codes] == [first, []]
