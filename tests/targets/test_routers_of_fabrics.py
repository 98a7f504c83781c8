"""Routers as targets see them: interfaces, port channels, sessions, routes and names that are missing, in exact values."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.emit.data.routers import RouterMaker, _bgp_sessions, _lanes_of_port
from tdsl.emit.link_tables import Wires
from tdsl.emit.records import Interface, Management, Route, Router, Session
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics, Severity
from tests.harness import fabric_of

MODELS = """
model switch SW { port p[1..16]: 400Gbps { type GE400; os "swp{i}"; sonic 8*(i - 1) lanes 8; cage 2 OSFP } }
model host NODE { port nic[2]: 400Gbps { type GE400; os "eth{i + 1}" }; chip gpu[2]: GPU }
model host BARE { port nic[2]: 400Gbps { type GE400 }; chip gpu[2]: GPU }
model host RDMA { port net[2]: 400Gbps { type GE400; os "mlx5_{i}" }; chip gpu[2]: GPU }
model switch PLAIN { port p[1..16]: 400Gbps { type GE400 } }
model chip GPU { port lane: 400Gbps }
"""
CHANNELS = """
fabric pod "A pod" {
  host node[3]: NODE
  switch leaf[2]: SW
  switch spine[3]: SW
  connect node[n].nic[*] to leaf[n % 2] x 2 { bundle 2 }
  connect leaf[*] to spine[*] each x 2 { bundle 2 }
  address leaf, spine loopback from 10.255.0.1/24
  address leaf, spine loopback from fd00:255::1/64
  address leaf management from 192.168.0.10/24 { gateway 192.168.0.1 }
  address node[*].nic[0] links from 172.16.0.0/24
  address leaf[(0)].p[1..16] to spine[(0)] links from 10.0.0.0/24
  routing bgp { mtu 9214; bfd }
}
"""
SINGLE = """
fabric pod {
  host node[4]: NODE
  switch leaf[2]: SW
  switch spine: SW
  connect node[*].nic[r] to leaf[r] each
  connect leaf[*] to spine each x 3
  omit node[1]
  address spine loopback from 10.255.0.1/24
  address node[*].nic[r] links from "172.{16 + r}.0.0/24"
  routing bgp { graceful_restart }
}
"""


def routers(fabric: Fabric, found: Diagnostics | None = None) -> RouterMaker:
    assert fabric.addressing is not None
    return RouterMaker(Wires(fabric), fabric.addressing, Diagnostics() if found is None else found)


def named(fabric: Fabric, kind: str) -> dict[str, Router]:
    return {r.name: r for r in routers(fabric).of(kind)}


@pytest.fixture(scope="module")
def channels(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(MODELS + CHANNELS, tmp_path_factory.mktemp("channels"), models=False)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(MODELS + SINGLE, tmp_path_factory.mktemp("single"), models=False)


def test_a_switch_with_port_channels(channels: Fabric) -> None:
    """Leaf 0 has two hosts and three spines, each by two links: the interfaces of a channel are beside each other."""
    leaf = named(channels, "switch")["leaf0"]
    assert (leaf.kind, leaf.asn, leaf.router_id, leaf.width) == ("switch", 4201000000, "10.255.0.1", 3)
    assert leaf.loopbacks == (Route(4, "10.255.0.1/32"), Route(6, "fd00:255::1/128"))
    assert leaf.management == (Management("eth0", "mgmt", 4, "192.168.0.10/24", "192.168.0.1"),)
    assert leaf.accepted == leaf.own == (
        Route(4, "10.255.0.0/24", "", 32), Route(4, "172.16.0.0/24", "", 31), Route(6, "fd00:255::/64", "", 128),
    )  # fmt: skip
    assert (leaf.routes, leaf.bfd, leaf.graceful_restart, leaf.mtu, leaf.aggregates) == ((), True, False, 9214, ())
    # five loopbacks of each version, three links to hosts
    assert leaf.route_count == 13
    channel = [i.channel for i in leaf.interfaces]
    assert channel == [f"channel {n}" for n in (1, 1, 2, 2, 3, 3, 4, 4, 5, 5)]
    assert leaf.interfaces[0] == Interface("swp1", "node0 eth1", (), 400, (), 1, True, 4, False, "channel 1")
    assert leaf.interfaces[4].between and leaf.interfaces[4].description.startswith("spine0 swp")
    first, _, third, fourth, _ = leaf.channels
    members = tuple(i.name for i in leaf.interfaces if i.channel == "channel 1")
    assert first == Interface("channel 1", "node0 port channel 1", ("172.16.0.1/31",), 800, (), 1, True, 0, False, "", members)
    assert (third.description, third.between, fourth.addresses) == ("spine0 port channel 1", True, ())
    assert leaf.sessions[1] == Session("channel 4", True, 4202000000, (4, 6), "spine1 port channel 1")
    assert [(s.unnumbered, s.versions) for s in leaf.sessions] == [(False, (4,)), (True, (4, 6)), (True, (4, 6))]


def test_numbers_of_port_channels_at_both_ends(channels: Fabric) -> None:
    """Leaf 1 has one host, so its channels to spines are 2 to 4; at the spines its channel is the second."""
    every = named(channels, "switch")
    assert [c.description for c in every["leaf1"].channels] == [
        "node1 port channel 1", "spine0 port channel 2", "spine1 port channel 2", "spine2 port channel 2",
    ]  # fmt: skip
    assert [c.description for c in every["spine2"].channels] == ["leaf0 port channel 5", "leaf1 port channel 4"]
    assert every["spine2"].width == 2 and every["spine0"].management == ()


def test_a_host_with_static_routes(channels: Fabric) -> None:
    hosts = named(channels, "host")
    assert list(hosts) == ["node0", "node1", "node2"]
    node = hosts["node1"]
    assert (node.asn, node.router_id, node.width, node.sessions, node.loopbacks) == (0, "0.0.0.2", 1, (), ())
    assert node.routes == (Route(4, "172.16.0.0/24", "172.16.0.3"),)
    assert [i.name for i in node.interfaces] == ["eth1", "eth2"] and not node.interfaces[0].sonic
    assert node.channels == (
        Interface(
            "channel 1", "leaf1 port channel 1", ("172.16.0.2/31",), 800, node.routes, between=True, members=("eth1", "eth2")
        ),
    )


def test_routers_without_port_channels(single: Fabric) -> None:
    """The host that is omitted is none; a leaf has no loopback here, so its number stands for one."""
    every = named(single, "switch")
    leaf, spine = every["leaf1"], every["spine"]
    assert list(every) == ["leaf0", "leaf1", "spine"] and list(named(single, "host")) == ["node0", "node2", "node3"]
    assert [(i.name, i.description) for i in leaf.interfaces][:2] == [("swp1", "node0 eth2"), ("swp3", "node2 eth2")]
    assert (leaf.channels, leaf.width, spine.width) == ((), 3, 6)
    assert (leaf.router_id, spine.router_id) == ("0.0.0.6", "10.255.0.1")
    assert (leaf.bfd, leaf.graceful_restart, leaf.mtu, leaf.bfd_ms, leaf.bfd_multiplier) == (False, True, "", 0, 0)
    # one loopback and six links to hosts that are built
    assert leaf.route_count == 7
    assert leaf.accepted == (
        Route(4, "10.255.0.0/24", "", 32), Route(4, "172.16.0.0/24", "", 29), Route(4, "172.17.0.0/24", "", 29),
    )  # fmt: skip
    # a leaf announces its eight addresses in one network; hosts leave them out
    assert (leaf.aggregates, spine.aggregates, leaf.own) == ((Route(4, "172.17.0.0/29"),), (), leaf.accepted[:1])
    assert [s.peer for s in leaf.sessions] == [i.name for i in leaf.interfaces if i.between] and len(leaf.sessions) == 3


def test_routers_of_some_devices(single: Fabric) -> None:
    only = np.zeros(single.device_count, dtype=bool)
    only[[2, 5]] = True
    assert [r.name for r in routers(single).of("host", only)] == ["node2"]
    assert [r.name for r in routers(single).of("switch", only)] == ["leaf1"]
    # devices without an ASN and without addresses on their links do not route
    assert single.addressing is not None
    silent = SimpleNamespace(
        fabric=single, asn=np.where(np.arange(single.device_count) == 6, 65000, 0), dealt={}, pools=(), routing=None,
        each=lambda *_: iter(()), of=lambda *_: None,
    )  # fmt: skip
    found: Any = silent
    made = list(RouterMaker(Wires(single), found, Diagnostics()).of("switch"))
    assert [(r.name, r.sessions, r.width, r.mtu) for r in made] == [("spine", (), 1, "")]
    assert (made[0].bfd, made[0].graceful_restart, made[0].bfd_ms, made[0].route_count) == (False, False, 0, 0)


NAMELESS = """
fabric pod {{
  host node[2]: {host}
  switch leaf[2]: {switch}
  connect node[*].nic[r] to leaf[r] each
  address leaf loopback from 10.255.0.1/24
  {links}
  routing bgp
}}
"""
LINKS = 'address node[*].nic[r] links from "172.{16 + r}.0.0/24"'


def told(tmp_path: Path, kind: str, host: str = "NODE", switch: str = "SW", links: str = "", asn: int = 0) -> tuple[Any, ...]:
    text = NAMELESS.format(host=host, switch=switch, links=links)
    fabric = fabric_of(MODELS + text, tmp_path, models=False)
    assert fabric.addressing is not None
    if asn:
        fabric.addressing.asn[0] = asn
    found = Diagnostics()
    names = [r.name for r in routers(fabric, found).of(kind)]
    return names, [(d.code, d.severity, d.message, tuple(d.notes)) for d in found]


def test_ports_without_names(tmp_path: Path) -> None:
    """A device that would route over a port whose network device has no name is left out, and its model is named once."""
    bare = ("E0513", Severity.WARNING, "nothing says what the operating system of BARE calls port nic[0]",
            ("these hosts are not configured",))  # fmt: skip
    assert told(tmp_path, "host") == ([], [])
    assert told(tmp_path, "host", links=LINKS) == (["node0", "node1"], [])
    assert told(tmp_path, "host", "BARE") == ([], [])
    assert told(tmp_path, "host", "BARE", links=LINKS) == ([], [bare])
    assert told(tmp_path, "switch", "BARE", links=LINKS) == (["leaf0", "leaf1"], [])
    # by its ASN alone a host routes, too
    assert told(tmp_path, "host", "BARE", asn=65001) == ([], [bare])
    assert told(tmp_path, "host", asn=65001) == (["node0"], [])
    assert told(tmp_path, "switch", switch="PLAIN") == ([], [
        ("E0513", Severity.ERROR, "nothing says what the operating system of PLAIN calls port p[1]",
         ("its routers are not configured",)),
    ])  # fmt: skip


def test_each_model_without_names_is_named(tmp_path: Path) -> None:
    text = (
        "fabric f {\n  host bare[2]: BARE\n  host rdma[2]: RDMA\n  switch leaf: SW\n  connect bare[*].nic to leaf each\n"
        '  connect rdma[*].net to leaf each\n  address bare[*].nic[*] links from "172.16.0.0/24"\n  routing bgp\n}\n'
    )
    found = Diagnostics()
    assert list(routers(fabric_of(MODELS + text, tmp_path, models=False), found).of("host")) == []
    assert [d.message for d in found] == [
        "nothing says what the operating system of BARE calls port nic[0]",
        "`mlx5_0` is the RDMA device of port net[0] of RDMA, and nothing names its network device",
    ]


def test_the_width_is_that_of_the_wider_side(tmp_path: Path) -> None:
    """A spine with four links down and one up spreads over four."""
    text = (
        "fabric f {\n  host node[4]: NODE\n  switch leaf[2]: SW\n  switch spine[2]: SW\n  switch core: SW\n"
        "  connect node[n].nic[r] to leaf[r]\n  connect leaf[*] to spine[*] each x 2\n  connect spine[*] to core each\n"
        "  address leaf loopback from 10.255.0.1/24\n  routing bgp\n}\n"
    )
    every = named(fabric_of(MODELS + text, tmp_path, models=False), "switch")
    assert {n: r.width for n, r in every.items()} == {"leaf0": 4, "leaf1": 4, "spine0": 4, "spine1": 4, "core": 2}


def test_sessions_of_a_link() -> None:
    """Over the interface without addresses, else one for each; IPv6 alone carries routes of both versions."""
    assert _bgp_sessions("swp1", "x", 7, []) == [Session("swp1", True, 7, (4, 6), "x")]
    assert _bgp_sessions("swp1", "x", 7, [(4, "a")]) == [Session("a", False, 7, (4,), "x")]
    assert _bgp_sessions("swp1", "x", 7, [(6, "b")]) == [Session("b", False, 7, (4, 6), "x")]
    both = [Session("a", False, 7, (4,), "x"), Session("b", False, 7, (6,), "x")]
    assert _bgp_sessions("swp1", "x", 7, [(4, "a"), (6, "b")]) == both
    assert _bgp_sessions("swp1", "x", 7, [(6, "b"), (4, "a")]) == both[::-1]
    assert [s.versions for s in _bgp_sessions("swp1", "x", 7, [(6, "b"), (6, "c")])] == [(6,), (6,)]


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("OSFP", [8, 4, 4]), ("QSFPDD", [8, 4, 4]), ("QSFP", [4, 2, 2]), ("QSFP28", [4, 2, 2]), ("QSFP56", [4, 2, 2]),
        ("QSFP112", [4, 2, 2]), ("SFP", [1, 0, 0]), ("SFP28", [1, 0, 0]), ("SFP56", [1, 0, 0]), ("", [0] * 3), ("RJ45", [0] * 3),
    ],
)  # fmt: skip
def test_lanes_of_ports_that_share_a_cage(form: str, wanted: list[int]) -> None:
    ports: Any = SimpleNamespace(form=form, cages=(1, 2, 2))
    assert [_lanes_of_port(ports, i) for i in range(3)] == wanted
