"""Addresses and ASNs: figures by hand, what growth keeps, and duplicates against a plain dictionary."""

from __future__ import annotations

from collections import Counter
from ipaddress import ip_address, ip_interface
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.emit.view import FabricView
from tdsl.fabric import addresses
from tdsl.fabric.addresses import Addressing
from tdsl.fabric.assets import read_assets_table
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile, SourceSpan
from tests.harness import sections

HERE = SourceSpan(SourceFile("x.fab", "value"), 0, 5)

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
    for kind in ("loopback", "management", "bmc"):
        for d in range(fabric.device_count):
            out |= {(kind, fabric.device_path(d), a.version): str(a) for a, _ in found.each(kind, d)}
    for i in range(fabric.link_count):
        for second, ports in ((False, fabric.link_a), (True, fabric.link_b)):
            out |= {("link", fabric.port_path(int(ports[i])), a.version): str(a) for a, _ in found.each("links", i, second)}
    return out


TEXTS = sections(Path(__file__).parent / "addresses.txt")
PODS = f"\n{TEXTS['PODS']}\n"
SIZES = {"pods": (1, 3), "spines": (1, 4), "hosts": (2, 8), "cores": (1, 3)}


@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def rule(kind: str, each: bool = True, gateway: str = "") -> Any:
    """A rule, as far as its pool asks."""
    value = SimpleNamespace(span=HERE)
    return SimpleNamespace(kind=kind, each=each, gateway=gateway, interface="eth7", vrf="oob", origin=HERE, value=value)


def addresses_of(kind: str, each: bool, written: str, gateway: str) -> list[str]:
    """The addresses that a rule gives, one after the other; of links the lower one."""
    at = ip_interface(written)
    net = list(at.network)
    usable = [a for a in net if a >= at.ip]
    if kind in ("management", "bmc") and len(net) > 2:
        own = {net[0]} | ({net[-1]} if at.version == 4 else set())
        usable = [a for a in usable if a not in own]
    if each and gateway and usable[:1] == [ip_address(gateway)]:
        usable = usable[1:] if kind != "links" else usable[2:]
    if kind == "links":
        usable = usable[0 : len(usable) // 2 * 2 : 2]
    return [str(a) for a in (usable if each else usable[:1])]


@pytest.mark.parametrize("kind", ["loopback", "links", "management", "bmc"])
@pytest.mark.parametrize("base", ["10.0.0.{}", "fd00::1:{:x}"])
def test_pools_are_lists_of_addresses(kind: str, base: str) -> None:
    """Every network of up to 16 addresses, from each address of it on, with and without ``from`` and gateways."""
    top = 32 if "." in base else 128
    for length, first, each in product(range(top - 4, top + 1), range(16, 34), (True, False)):
        if kind == "links" and each and first % 2:
            continue
        written = f"{base.format(first)}/{length}"
        net = ip_interface(written).network
        for gateway in ("", str(net[0]), str(net[min(1, len(list(net)) - 1)]), str(net[-1])):
            if gateway and kind not in ("management", "bmc"):
                continue
            found = addresses.pool_of(rule(kind, each, gateway), written)
            expected = addresses_of(kind, each, written, gateway)
            assert [str(found.address(k)) for k in range(max(found.count, 0))] == expected, (written, each, gateway)
            assert (found.kind, found.version, found.network) == (kind, 4 if top == 32 else 6, str(net))
            assert found.step == (2 if kind == "links" else 1)
            assert found.prefix == {"loopback": top, "links": top - 1}.get(kind, length)
            assert (found.interface, found.vrf, found.gateway, found.origin) == ("eth7", "oob", gateway, HERE)
            if kind == "links" and expected:
                assert found.address(0, True) == ip_address(expected[0]) + 1


def test_an_operating_system_and_a_controller_are_two_addresses(tmp_path: Path) -> None:
    """Of one host; on one network none is given twice, and the gateway is that of each."""
    body = """
  host node[3]: NODE
  switch leaf[2]: SW
  connect node[n].nic[r] to leaf[r]
  address node management from 10.10.0.1/24 {{ gateway 10.10.0.1 }}
  address node bmc from 10.11.0.1/24 {{ interface ipmi; gateway 10.11.0.1 }}
  address leaf management from 10.11.0.{}/24
"""
    f, found, codes = made(body.format(8), tmp_path)
    assert codes == []
    rows = np.flatnonzero(f.kind == "host").tolist()
    assert [str(a) for d in rows for a, _ in found.each("management", d)] == [f"10.10.0.{n}" for n in (2, 3, 4)]
    assert [str(a) for d in rows for a, _ in found.each("bmc", d)] == [f"10.11.0.{n}" for n in (2, 3, 4)]
    assert {(p.interface, p.vrf, p.gateway) for p in found.pools if p.kind == "bmc"} == {("ipmi", "mgmt", "10.11.0.1")}
    assert made(body.format(3), tmp_path)[2] == ["E0430"]
    view = FabricView(f, Diagnostics())
    told = [(c.device, c.name, c.interface, c.address, c.network, c.gateway) for c in view.controllers]
    assert told[0] == ("node0", "node0-bmc", "ipmi", "10.11.0.2", "10.11.0.0/24", "10.11.0.1") and len(told) == 3
    assert [m.device for m in view.managed] == ["node0", "node1", "node2", "leaf0", "leaf1"]
    assert [a.kind for a in view.addresses if a.device == "node2"] == ["management", "bmc"]
    macs = "device,mac,bmc_mac\nnode0,94:6d:ae:00:00:01,94:6D:AE:00:00:02\nnode1,,94:6d:ae:00:00:{:02}\n"
    for last, wanted in ((3, []), (2, ["E0534"]), (1, ["E0534"])):
        found_of_table = Diagnostics()
        assets = read_assets_table(f, SourceFile("assets.csv", macs.format(last)), found_of_table)
        assert [d.code for d in found_of_table] == wanted and assets.mac == {rows[0]: "94:6d:ae:00:00:01"}
        assert assets.bmc_mac[rows[0]] == "94:6d:ae:00:00:02" and (rows[1] in assets.bmc_mac) == (not wanted)
