"""Matching, step by step, on small fabrics and captures made by hand: which port an end is, which wire is kept, what is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.fabric.graph import Fabric
from tdsl.findings.source import SourceFile
from tdsl.observe.match import DesignNames, Identifiers, Seen, match_captures
from tdsl.observe.record import CapturedEnd, CapturedLink, CapturedNode, CaptureLine, Observed
from tests.fabrics import Builder
from tests.harness import fabric_of

AT = CaptureLine(SourceFile("x", "\n" * 50), 1)


def fabric() -> Fabric:
    """Four hosts of two adapters on two leafs, a spine; host i, adapter r at port i of leaf r, and a spare port at each leaf."""
    b = Builder()
    host = b.devices("node", b.model("host", "NODE", {"nic": {"shape": 2, "low": 0}}, accelerators=2), 4)
    switch = b.model("switch", "SW", {"p": {"shape": 6, "low": 1}})
    leaf = b.devices("leaf", switch, 2)
    spine = b.devices("spine", switch, 1)
    lone = b.devices("lone", b.model("host", "ONE", {"e": 1}), 1, role="storage")
    for r in range(2):
        for i in range(4):
            b.link(b.port(host, i, "nic", r), b.port(leaf, r, "p", i))
        b.link(b.port(leaf, r, "p", 4), b.port(spine, 0, "p", r))
    b.link(b.port(lone, 0), b.port(spine, 0, "p", 2))
    return b.build()


F = fabric()
BASE = F.port_base.tolist()
"""First ports of the devices: hosts 0 to 3, leafs 4 and 5, the spine 6, a host of one port 7."""


def observed(nodes: str, wires: list[CapturedLink], heard: str = "", whole: bool = False) -> Observed:
    """Nodes as ``key=description/kind``; a wire's ends name keys."""
    made = Observed(whole=whole)
    for word in nodes.split(";"):
        key, _, rest = word.partition("=")
        description, _, kind = rest.partition("/")
        ports = 1 if kind == "adapter" else 0
        made.nodes[key] = CapturedNode(key, description, kind, (f"{key}id",), ports, AT)
    made.wires += wires
    made.heard |= set(heard.split())
    return made


def wire(a: str, p: str, b: str, q: str, line: int = 1) -> CapturedLink:
    return CapturedLink(CapturedEnd(a, (p,)), CapturedEnd(b, (q,)), CaptureLine(AT.file, line), 0)


def pairs(seen: Seen) -> set[tuple[int, int]]:
    assert all(seen.far[q] == p for p, q in seen.far.items())
    return {(p, q) for p, q in seen.far.items() if p < q}


def test_two_switches_of_one_name() -> None:
    """Neither is the device, unless the identifier of the asset tells which."""
    nodes = "x=leaf0/switch;y=leaf0/switch;s=spine0/switch"
    wires = [wire("x", "5", "s", "1")]
    assert match_captures(F, observed(nodes, [])).unplanned == ["x", "y"]
    for ids, kept in (({"xid": (4, -1)}, ["x"]), ({"yid": (4, -1)}, ["y"]), ({"xid": (5, -1)}, [])):
        seen = match_captures(F, observed(nodes, []), assets=Identifiers(ids))
        assert seen.nodes.get(4, []) == kept
    both = match_captures(F, observed(nodes, []), assets=Identifiers({"xid": (4, -1), "yid": (4, -1)}))
    assert both.nodes[4] == ["x", "y"] and both.identities == []  # by identifier they are one
    # captures of other kinds may repeat it
    assert match_captures(F, observed(nodes.replace("/switch", ""), wires)).nodes[4] == ["x", "y"]


def test_identifiers_of_devices_and_ports() -> None:
    """By the table of assets: of a device, or of a port of one; a named device with another one is noted."""
    assets = Identifiers({"xid": (4, -1), "yid": (0, 1), "zid": (1, -1), "other": (6, -1), "wid": (2, -1), "wid2": (3, -1)})
    nodes = "x=;y=/adapter;s=spine0/switch;z=node1"
    seen = match_captures(F, observed(nodes, [wire("x", "p6", "y", "1")]), assets=assets)
    assert pairs(seen) == {(BASE[0] + 1, BASE[4] + 5)}
    assert seen.identities == [(6, "s", "other", "sid")]
    assert seen.nodes[4] == ["x"] and seen.nodes[0] == ["y"]
    two = observed("w=", [])
    two.nodes["w"] = two.nodes["w"]._replace(ids=("wid", "wid2"))
    assert match_captures(F, two, assets=assets).unplanned == ["w"]
    end = CapturedLink(CapturedEnd("h", ("eth9",), "portid"), CapturedEnd("l", ("p6",)), AT)
    named = match_captures(F, observed("h=node0;l=leaf0", [end]), assets=Identifiers({"portid": (0, 1)}))
    assert pairs(named) == {(BASE[0] + 1, BASE[4] + 5)}
    elsewhere = match_captures(F, observed("h=node0;l=leaf0", [end]), assets=Identifiers({"portid": (1, 1)}))
    assert [(v.device, v.port) for v in elsewhere.virtual] == [(0, "eth9")]
    whole = match_captures(F, observed("h=node0;l=leaf0", [end]), assets=Identifiers({"portid": (0, -1)}))
    assert [(v.device, v.port) for v in whole.virtual] == [(0, "eth9")]


@pytest.mark.parametrize(
    ("links", "device", "fit", "count"),
    [
        (["x 1 h nic[0]", "x 2 i nic[0]", "x 3 j nic[0]"], 4, 3, 3),
        (["x 1 h nic[0]", "x 2 i nic[0]", "x 3 j nic[1]"], 4, 2, 3),
        (["x 1 h nic[0]", "x 2 i nic[1]"], -1, 0, 0),  # as many for both
        (["x 1 h nic[0]", "x 2 z 1"], -1, 0, 0),  # half of the links is not more than half
        (["x 1 h nic[0]", "x 2 i nic[0]", "x 3 z 1"], 4, 2, 3),
        (["x 1 h nic[0]"], 4, 1, 1),
        (["x 1 h nic[9]"], -1, 0, 0),
        (["x 1 l p6"], -1, 0, 0),  # nothing is planned there
        (["x 1 s p3"], 7, 1, 1),
    ],
)
def test_a_device_by_its_neighbours(links: list[str], device: int, fit: int, count: int) -> None:
    nodes = "x=new;z=unknown;h=node0;i=node1;j=node2;s=spine0" + (";l=leaf1" if device < 0 else "")
    wires = [wire(*link.split()) for link in links if not (device < 0 and " l " in link and "p6" not in link)]
    seen = match_captures(F, observed(nodes, wires))
    found = [(p.node, p.device, p.fit, p.links) for p in seen.positioned if p.node == "x"]
    assert found == ([("x", device, fit, count)] if device >= 0 else [])


def test_a_switch_by_position_has_the_numbers_of_its_ports() -> None:
    hosts = "h=node0;i=node1;j=node2"
    for numbers, found in (("123", True), ("124", True), ("134", False), ("234", False)):
        wires = [wire("x", n, k, "nic[0]") for n, k in zip(numbers, "hij", strict=True)]
        seen = match_captures(F, observed(f"x=new/switch;{hosts}", wires))
        fit = sum(int(n) == i + 1 for i, n in enumerate(numbers))
        assert [(p.device, p.fit) for p in seen.positioned] == ([(4, fit)] if found else [])
    leafs = "l=leaf0/switch;m=leaf1/switch"
    seen = match_captures(F, observed(f"x=new/switch;{leafs}", [wire("x", "1", "l", "5"), wire("x", "2", "m", "5")]))
    assert [(p.node, p.device, p.fit, p.links) for p in seen.positioned] == [("x", 6, 2, 2)]
    host = match_captures(F, observed("x=new/switch;l=leaf0/switch", [wire("x", "1", "l", "1")]))
    assert host.positioned == []  # a host is planned there


def test_names_in_other_cases() -> None:
    """Capitals make no difference, unless they tell two devices apart; then only the exact name is known."""
    assert match_captures(F, observed("x=LEAF0;y=Leaf[1];z=NODE3", [])).nodes == {4: ["x"], 5: ["y"], 3: ["z"]}
    b = Builder()
    kind = b.model("host", "NODE", {"nic": 1}, accelerators=1)
    for name in ("A", "a", "b", "C"):
        b.devices(name, kind, None)
    f = b.build()
    seen = match_captures(f, observed("i=A;j=a;k=B;l=c", []))
    assert seen.nodes == {0: ["i"], 1: ["j"], 2: ["k"], 3: ["l"]}
    b.sets.clear()
    b.port_base[1:] = []
    for name in ("Ab", "aB"):
        b.devices(name, kind, None)
    twice = match_captures(b.build(), observed("i=ab;j=AB;k=Ab;l=aB", []))
    assert twice.nodes == {0: ["k"], 1: ["l"]} and twice.unplanned == ["i", "j"]


def test_names_of_ports(tmp_path: Path) -> None:
    """By path, label, name in the system, and by SONiC's names where the device may run it."""
    text = """\
model switch A { port x: 1Gbps; port p[1..4]: 400Gbps { os "swp{i}"; name "{i + 10}"; sonic 8*(i - 1) lanes 8 } }
model switch B { port p[1..4]: 400Gbps { name "Ethernet{i}"; sonic 8*(i - 1) lanes 8 } }
fabric f {
  switch a: A { nos sonic }
  switch b: A
  switch c: BIG
  switch d: B
  switch e: B { nos sonic }
  switch g: A { nos eos }
  host h: NODE
}
"""
    f = fabric_of(text, tmp_path)
    names = DesignNames(f)
    row = {f.device_path(d): d for d in range(f.device_count)}

    def ports(device: str, *asked: str) -> tuple[int, ...]:
        return names.local(row[device], asked)

    for device in "abg":
        known = [ports(device, n) for n in ("x", "p[1]", "P[2]", "swp3", "14", "SWP1")]
        assert known == [(0,), (1,), (2,), (3,), (4,), (1,)]
        sonic = [ports(device, f"Ethernet{n}") for n in (0, 8, 24, 32, 1)]
        assert sonic == ([(1,), (2,), (4,), (), ()] if device != "g" else [()] * 5)
        assert ports(device, "nothing") == () and ports(device) == () and ports(device, "none", "p[3]", "p[2]") == (3,)
    for device in "de":
        assert [ports(device, f"Ethernet{n}") for n in (0, 1, 2, 8, 16)] == [(0,), (0,), (1,), (1,), (2,)]
    assert [ports("c", n) for n in ("p[64]", "p7", "P8")] == [(63,), (6,), (7,)] and ports("h", "mlx5_3", "nic[0]") == (3,)
