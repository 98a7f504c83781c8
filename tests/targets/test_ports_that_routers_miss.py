"""Ports of routers that have no name under their system: which devices get no configuration, and what is said of each model."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tdsl.emit.data.routers import RouterMaker
from tdsl.emit.link_tables import Wires
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics, Severity
from tests.harness import fabric_of

MODELS = """
model switch NAMED { port p[1..8]: 400Gbps { type GE400; os "swp{i}" } }
model switch PLAIN { port p[1..8]: 400Gbps { type GE400 } }
model switch NUMBERED { port p[1..8]: 400Gbps { type GE400; os "swp{i}"; sonic 8*(i - 1) lanes 8; cage 2 OSFP } }
model host NODE { port nic[2]: 400Gbps { type GE400; os "eth{i}" }; chip gpu[2]: GPU }
model host BARE { port nic[2]: 400Gbps { type GE400 }; chip gpu[2]: GPU }
model chip GPU { port lane: 400Gbps }
"""
SONIC = "number the ports as SONiC does: `sonic 8*(i - 1) lanes 8`"
OTHER = "name the ports as that system does, or name another system with `nos`"
NAMES = 'name them: `port p[1..64]: 400Gbps { os "swp{i}" }`'


def told(fabric: Fabric, kind: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Routers that are made where EOS knows ports named Ethernet, and message and help of each finding."""
    assert fabric.addressing is not None
    found = Diagnostics()
    wires = Wires(fabric, interfaces={"eos": re.compile("Ethernet.*")})
    names = [r.name for r in RouterMaker(wires, fabric.addressing, found).of(kind)]
    assert {(d.code, d.severity) for d in found} <= {("E0513", Severity.ERROR if kind == "switch" else Severity.WARNING)}
    return names, [(d.message, d.help) for d in found]


def design(tmp_path: Path, statements: str, host: str = "NODE") -> Fabric:
    text = (
        f"fabric f {{\n  host node[2]: {host}\n{statements}\n  connect node[*].nic[r] to leaf[r] each\n"
        "  connect leaf[*] to spine[*] each\n  routing bgp\n}\n"
    )
    return fabric_of(MODELS + text, tmp_path, models=False)


LOOPBACKS = "  address leaf loopback from 10.255.0.1/24"


def test_systems_of_switches_that_miss_a_name(tmp_path: Path) -> None:
    """The first device of a model that misses one decides what is said of the model."""
    leaf, spine = "  switch leaf[2]: {} {{ {} }}\n", "  switch spine[2]: {} {{ {} }}\n" + LOOPBACKS
    named, sonic, eos = "port p[{2}] of {0} has no name under {1}: `swp{2}` is not one", "nos sonic", "nos eos"
    cases = [
        ("NAMED", sonic, "NAMED", eos, [], [(named.format("NAMED", "sonic", 3), SONIC)]),
        ("NAMED", eos, "NAMED", sonic, [], [(named.format("NAMED", "eos", 3), OTHER)]),
        ("NUMBERED", sonic, "NAMED", "nos nvue", ["leaf0", "leaf1", "spine0", "spine1"], []),
        ("NUMBERED", eos, "PLAIN", sonic, [], [
            (named.format("NUMBERED", "eos", 3), OTHER), ("port p[1] of PLAIN has no name under sonic", SONIC),
        ]),
        ("PLAIN", eos, "NAMED", sonic, [], [
            (named.format("NAMED", "sonic", 1), SONIC),
            ("nothing says what the operating system of PLAIN calls port p[3]", NAMES),
        ]),
        ("NUMBERED", sonic, "PLAIN", "", ["leaf0", "leaf1"], [
            ("nothing says what the operating system of PLAIN calls port p[1]", NAMES),
        ]),
    ]  # fmt: skip
    for first, one, second, two, names, messages in cases:
        fabric = design(tmp_path, leaf.format(first, one) + spine.format(second, two))
        made, found = told(fabric, "switch")
        assert (made, sorted(found)) == (names, sorted(messages)), (first, one, second, two)


def test_hosts_that_route_by_an_asn_or_an_address(tmp_path: Path) -> None:
    """An ASN of 1 is one; addresses of links may be IPv6 alone."""
    switches = "  switch leaf[2]: NAMED\n  switch spine[2]: NAMED\n"
    message = [("nothing says what the operating system of BARE calls port nic[0]", NAMES)]
    fabric = design(tmp_path, switches + LOOPBACKS, "BARE")
    assert told(fabric, "host") == ([], [])
    assert fabric.addressing is not None
    fabric.addressing.asn[0] = 1
    assert told(fabric, "host") == ([], message)
    for links in ('from "fd00:{16 + r}::/64"', 'from "172.{16 + r}.0.0/24"'):
        address = f"  address node[*].nic[r] links {links}\n"
        assert told(design(tmp_path, switches + address + LOOPBACKS, "BARE"), "host") == ([], message)
        assert told(design(tmp_path, switches + address + LOOPBACKS), "host") == (["node0", "node1"], [])


def test_the_width_between_switches_of_one_tier(tmp_path: Path) -> None:
    """Links to a switch of the same tier are a side of their own, beside those up and down."""
    text = (
        "fabric f {\n  host node[2]: NODE\n  switch leaf[2]: NAMED\n  switch spine[2]: NAMED\n"
        "  connect node[n].nic[r] to leaf[r]\n  connect leaf[0] to leaf[1] x 3\n  connect leaf[*] to spine[*] each\n"
        "  address leaf loopback from 10.255.0.1/24\n  routing bgp\n}\n"
    )
    fabric = fabric_of(MODELS + text, tmp_path, models=False)
    assert fabric.addressing is not None
    fabric.addressing.asn = np.where(fabric.is_switch, 65000 + np.arange(fabric.device_count), 0)
    made = {r.name: r.width for r in RouterMaker(Wires(fabric), fabric.addressing, Diagnostics()).of("switch")}
    assert made == {"leaf0": 3, "leaf1": 3, "spine0": 2, "spine1": 2}


def test_a_single_bundle(tmp_path: Path) -> None:
    """Two of three links form one port channel; the third is a port of its own."""
    text = (
        "fabric f {\n  switch leaf: NAMED\n  switch spine: NAMED\n  host node: NODE\n  connect node.nic[0] to leaf\n"
        "  connect leaf to spine x 2 { bundle 2 }\n  connect leaf to spine\n  address leaf loopback from 10.255.0.1/24\n"
        "  routing bgp\n}\n"
    )
    fabric = fabric_of(MODELS + text, tmp_path, models=False)
    assert fabric.addressing is not None
    made = {r.name: r for r in RouterMaker(Wires(fabric), fabric.addressing, Diagnostics()).of("switch")}
    assert [(len(c.members), c.rate_gbps) for c in made["leaf"].channels] == [(2, 800)]
    assert sorted(i.channel for i in made["leaf"].interfaces) == ["", "", "channel 1", "channel 1"]
