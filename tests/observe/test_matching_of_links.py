"""Matching, step by step, on small fabrics and captures made by hand: which port an end is, which wire is kept, what is left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric.graph import Fabric
from tdsl.findings.source import SourceFile
from tdsl.observe.match import DesignNames, Identifiers, Seen, match_captures
from tdsl.observe.record import CapturedEnd, CapturedLink, CapturedNode, CaptureLine, Observed
from tests.fabrics import Builder
from tests.harness import fabric_of

AT = CaptureLine(SourceFile("x", "\n" * 50), 1)
G = 10**9


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


def wire(a: str, p: str, b: str, q: str, rate: int = 0, line: int = 1) -> CapturedLink:
    return CapturedLink(
        CapturedEnd(a, tuple(filter(None, p.split("|")))),
        CapturedEnd(b, tuple(filter(None, q.split("|")))),
        CaptureLine(AT.file, line),
        rate,
    )


def pairs(seen: Seen) -> set[tuple[int, int]]:
    assert all(seen.far[q] == p for p, q in seen.far.items())
    return {(p, q) for p, q in seen.far.items() if p < q}


NAMES = "h=node0;i=node1;l=leaf0;m=leaf1;s=spine0;o=lone0"


@pytest.mark.parametrize("first", [0, 100 * G, 200 * G])
@pytest.mark.parametrize("second", [0, 100 * G, 200 * G])
def test_a_link_that_is_seen_twice(first: int, second: int) -> None:
    """The first wire is kept, unless it has no rate and the second has."""
    wires = [wire("h", "nic[0]", "l", "p1", first, 1), wire("l", "p1", "h", "nic[0]", second, 2)]
    seen = match_captures(F, observed(NAMES, wires))
    kept = wires[1] if second and not first else wires[0]
    p, q = BASE[0], BASE[4]
    assert pairs(seen) == {(p, q)} and seen.conflicts == [] and seen.loops == []
    assert seen.wire == {p: kept, q: kept}


def test_conflicts_and_loops() -> None:
    """A port of two links keeps the first; a link of a port with itself is none."""
    wires = [
        wire("h", "nic[0]", "l", "p1", 0, 1),
        wire("i", "nic[0]", "l", "p1", 0, 2),
        wire("h", "nic[0]", "l", "p2", 0, 3),
        wire("l", "p3", "l", "p3", 0, 4),
        wire("l", "p3", "l", "p4", 0, 5),
    ]
    seen = match_captures(F, observed(NAMES, wires))
    assert pairs(seen) == {(BASE[0], BASE[4]), (BASE[4] + 2, BASE[4] + 3)}
    assert seen.conflicts == [(BASE[4], wires[0], wires[1]), (BASE[0], wires[0], wires[2])]
    assert seen.loops == [wires[3]]
    assert seen.wire[BASE[4] + 2] is wires[4] and seen.virtual == []


def test_ends_at_ports_that_are_not_known() -> None:
    """Where the design plans the device, it is the planned port; a free one takes nothing but a device of the design."""
    wires = [
        wire("h", "eth9", "l", "p1", 0, 1),  # planned there
        wire("i", "eth9", "l", "p3", 0, 2),  # node2 is planned there
        wire("x", "eth0", "l", "p4", 0, 3),  # not a device of the design
        wire("x", "eth0", "l", "p6", 0, 4),  # at a free port: management
        wire("h", "eth9", "m", "p6", 0, 5),  # a free port, and a device of the design
        wire("h", "eth8", "x", "eth1", 0, 6),  # no port is known
        wire("x", "eth2", "y", "eth2", 0, 7),  # no device is known
        wire("y", "eth3", "h", "eth7", 0, 8),
        wire("l", "p1", "x", "eth4", 0, 9),  # p1 has its link already
    ]
    seen = match_captures(F, observed(NAMES + ";x=x;y=y", wires))
    n = seen.ports
    assert n == len(F.port_device)
    assert pairs(seen) == {(BASE[0], BASE[4]), (BASE[4] + 2, n), (BASE[4] + 3, n + 1), (BASE[5] + 5, n + 2)}
    assert [(v.device, v.node, v.port) for v in seen.virtual] == [(1, "i", "eth9"), (-1, "x", "eth0"), (0, "h", "eth9")]
    assert seen.other_ports == 3 and seen.conflicts == [] and seen.unplanned == ["x", "y"]
    assert [seen.device(n + i) for i in range(3)] == [1, -1, 0] and seen.device(BASE[5]) == 5


@pytest.mark.parametrize(("a", "b", "count"), [("h", "x", 1), ("x", "h", 1), ("x", "y", 0), ("h", "i", 1)])
def test_links_of_which_no_port_is_known(a: str, b: str, count: int) -> None:
    """They count where one of the devices is known: of no other are ports missing."""
    assert match_captures(F, observed(NAMES + ";x=x;y=y", [wire(a, "eth8", b, "eth9")])).other_ports == count


def test_the_first_port_by_its_number() -> None:
    seen = match_captures(F, observed("s=spine0;l=leaf0", [wire("s", "1", "l", "p6")]))
    assert pairs(seen) == {(BASE[4] + 5, BASE[6])} and seen.virtual == []


def test_an_unknown_switch_at_a_free_port_is_a_link() -> None:
    """InfiniBand has no management ports: what is cabled counts."""
    wires = [wire("l", "6", "x", "3", 0, 1), wire("m", "6", "y", "", 0, 2)]
    seen = match_captures(F, observed("l=leaf0/switch;m=leaf1;x=other/switch;y=far", wires))
    assert [(v.device, v.node, v.port) for v in seen.virtual] == [(-1, "x", "3")]
    assert pairs(seen) == {(BASE[4] + 5, seen.ports)} and seen.other_ports == 1


@pytest.mark.parametrize(("port", "at"), [("1", 0), ("6", 5), ("0", None), ("7", None)])
def test_numbers_of_ports_of_a_switch(port: str, at: int | None) -> None:
    """Of InfiniBand from 1 to the number of ports; of others also ``Port 3``."""
    for kind, word in (("switch", port), ("", port), ("", f"Port {port}"), ("", f"port{port}")):
        seen = match_captures(F, observed(f"s=spine0/{kind};l=leaf0", [wire("s", word, "l", "p5")]))
        near = {} if at is None else {(BASE[4] + 4, BASE[6] + at)}
        # where the number is none of the device, the link is taken for the planned one of the same two devices
        assert pairs(seen) == (near or {(BASE[4] + 4, BASE[6])}), (kind, word)
    for word in ("12x", "", "100000", "²", "-1", "nic"):
        seen = match_captures(F, observed("s=spine0;l=leaf0", [wire("s", word, "l", "p5")]))
        assert pairs(seen) == {(BASE[4] + 4, BASE[6])}, word
    seen = match_captures(F, observed("h=node0;l=leaf0", [wire("h", "2", "l", "p2")]))  # of hosts no number is a port
    assert [(v.device, v.port) for v in seen.virtual] == [(0, "2")]


def test_adapters_of_hosts() -> None:
    """An adapter is the port of its name, with the number where it has more; the only port needs no name."""
    nodes = "a=node0 nic[1]/adapter;b=lone0/adapter;l=leaf1/switch;s=spine0/switch"
    seen = match_captures(F, observed(nodes, [wire("a", "1", "l", "1"), wire("b", "1", "s", "3")]))
    assert pairs(seen) == {(BASE[0] + 1, BASE[5]), (BASE[6] + 2, BASE[7])}
    assert seen.nodes[0] == ["a"] and seen.nodes[7] == ["b"] and seen.unplanned == []
    second = match_captures(F, observed(nodes, [wire("a", "2", "l", "6")]))
    assert second.far  # its node has one port, so that the number says nothing
    assert pairs(second) == {(BASE[0] + 1, BASE[5] + 5)}


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
    assert match_captures(F, observed(nodes.replace("/switch", ""), wires)).nodes[4] == [
        "x",
        "y",
    ]  # captures of other kinds may repeat it


def test_a_name_of_another_kind() -> None:
    """A switch is no host, and an adapter no switch."""
    assert match_captures(F, observed("x=node0/switch;y=leaf0/adapter;z=node0/host", [])).unplanned == ["x", "y"]


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


def test_an_adapter_with_another_identifier() -> None:
    """Only identifiers of the same port count, or of the device where the port is not known."""
    for owner, noted in (((0, 1), True), ((0, 0), False), ((1, 1), False)):
        seen = match_captures(F, observed("a=node0 nic[1]/adapter", []), assets=Identifiers({"other": owner}))
        assert seen.identities == ([(0, "a", "other", "aid")] if noted else []), owner
    seen = match_captures(F, observed("a=node0 nic[1]/adapter", []), assets=Identifiers({"other": (0, 1), "aid": (0, 0)}))
    assert seen.identities == []


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


def test_an_adapter_by_position_is_a_port() -> None:
    leafs = "l=leaf0/switch;m=leaf1/switch"
    seen = match_captures(F, observed(f"x=/adapter;y=/adapter;{leafs}", [wire("x", "1", "l", "1"), wire("y", "1", "m", "1")]))
    assert [(p.node, p.device, p.fit, p.links) for p in seen.positioned] == [("x", 0, 1, 1), ("y", 0, 1, 1)]
    assert pairs(seen) == {(BASE[0], BASE[4]), (BASE[0] + 1, BASE[5])}
    taken = match_captures(F, observed(f"x=/adapter;a=node0 nic[0]/adapter;{leafs}", [wire("x", "1", "l", "1")]))
    assert taken.positioned == [] and taken.unplanned == ["x"]
    free = match_captures(F, observed(f"x=/adapter;a=node0 nic[1]/adapter;{leafs}", [wire("x", "1", "l", "1")]))
    assert [(p.node, p.device) for p in free.positioned] == [("x", 0)]
    more = [wire("x", "1", "l", "1"), wire("x", "1", "l", "1"), wire("y", "1", "l", "1")]
    first = match_captures(F, observed(f"x=/adapter;y=/adapter;{leafs}", more))
    assert [(p.node, p.device, p.fit, p.links) for p in first.positioned] == [("x", 0, 2, 2)] and first.unplanned == ["y"]
    switch = match_captures(F, observed(f"x=/adapter;{leafs}", [wire("x", "1", "l", "5")]))
    assert switch.positioned == []  # a switch is planned there


def test_two_nodes_in_one_place() -> None:
    """The one that more links fit; neither where they are equal; a device that was named is not taken again."""
    hosts = "h=node0;i=node1;j=node2"
    most = [wire("x", "a", "h", "nic[0]"), wire("y", "b", "i", "nic[0]"), wire("y", "c", "j", "nic[0]")]
    seen = match_captures(F, observed(f"x=new;y=newer;{hosts}", most))
    assert [(p.node, p.device, p.fit, p.links) for p in seen.positioned] == [("y", 4, 2, 2)]
    even = match_captures(F, observed(f"x=new;y=newer;{hosts}", most[:2]))
    assert even.positioned == [] and even.unplanned == ["x", "y"]
    named = match_captures(F, observed(f"x=new;l=leaf0;{hosts}", most[:1]))
    assert named.positioned == [] and named.unplanned == ["x"]


def test_positions_that_follow_from_positions() -> None:
    """A spine that is known by a leaf which is known by its hosts."""
    wires = [wire("x", "p1", "h", "nic[0]"), wire("x", "p2", "i", "nic[0]"), wire("x", "p5", "y", "p1")]
    seen = match_captures(F, observed("y=up;x=new;h=node0;i=node1", wires))
    assert [(p.node, p.device, p.fit, p.links) for p in seen.positioned] == [("x", 4, 2, 3), ("y", 6, 1, 1)]
    assert pairs(seen) == {(BASE[0], BASE[4]), (BASE[1], BASE[4] + 1), (BASE[4] + 4, BASE[6])}


def test_what_the_captures_would_show() -> None:
    """All links of a device that was heard; all of a subnet of which a switch was seen, if a capture is whole."""
    ends = np.array([F.device_a, F.device_b])

    def touching(*devices: int) -> list[bool]:
        return np.isin(ends, devices).any(axis=0).tolist()

    assert match_captures(F, observed(NAMES, [], "h m")).audited.tolist() == touching(0, 5)
    assert match_captures(F, observed(NAMES, [])).audited.tolist() == touching()
    every = [True] * F.link_count
    assert match_captures(F, observed("l=leaf0/switch", [], "l", whole=True)).audited.tolist() == every
    assert match_captures(F, observed("l=leaf0/switch", [], "l", whole=False)).audited.tolist() == touching()
    assert match_captures(F, observed("l=lone0/adapter", [], "l", whole=True)).audited.tolist() == touching()
    aside = match_captures(F, observed("r=x/router;l=leaf0/switch;n=Mellanox Technologies Aggregation Node/adapter", []))
    assert aside.observed.aside == {
        "r": "a router between subnets", "n": "an aggregation node of in-network reduction",
    }  # fmt: skip


def test_links_of_nodes_that_are_set_aside() -> None:
    seen = match_captures(
        F, observed("r=x/router;l=leaf0/switch;s=spine0/switch", [wire("r", "1", "l", "6"), wire("l", "6", "r", "1")])
    )
    assert pairs(seen) == set() and seen.virtual == [] and seen.unplanned == [] and seen.other_ports == 0


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


def renamed(names: dict[int, str]) -> Fabric:
    """The fabric with other names of some devices, and hosts whose first port is called hca."""
    b = Builder(names=names)
    host = b.devices("node", b.model("host", "NODE", {"hca": {"shape": ()}, "nic": 1}, accelerators=2), 2)
    leaf = b.devices("leaf", b.model("switch", "SW", {"p": {"shape": 4, "low": 1}}), 2)
    for i in range(2):
        b.link(b.port(host, i, "hca"), b.port(leaf, 0, "p", i))
        b.link(b.port(host, i, "nic"), b.port(leaf, 1, "p", i))
    return b.build()


def test_the_first_reading_of_a_description_counts() -> None:
    f = renamed({1: "node0 hca"})
    assert match_captures(f, observed("x=node0 hca;y=node0 nic", [])).nodes == {1: ["x"], 0: ["y"]}


def test_nodes_set_aside_are_no_devices() -> None:
    """Whatever their name or identifier is."""
    assets = Identifiers({"rid": (5, -1)})
    for nodes in ("r=leaf0/router", "r=unknown/router", "r=Aggregation Node leaf0/switch"):
        seen = match_captures(F, observed(nodes, []), assets=assets)
        assert seen.nodes == {} and seen.unplanned == [] and seen.identities == []
    assert match_captures(renamed({0: "unnamed-rid"}), observed("r=x/router", [])).nodes == {}


def test_adapters_of_one_name() -> None:
    """Several adapters of a host are its own each; two of one name are neither, nor are two switches of one name and host."""
    two = match_captures(F, observed("a=node0 nic[0]/adapter;b=node0 nic[1]/adapter", []))
    assert two.nodes == {0: ["a", "b"]}
    one = match_captures(F, observed("a=node0 nic[0]/adapter;b=node0 nic[0]/adapter;c=node0 nic[1]/adapter", []))
    assert one.nodes == {0: ["c"]} and one.unplanned == ["a", "b"]
    assert match_captures(F, observed("a=leaf0 x/switch;b=leaf0 y/switch", [])).unplanned == ["a", "b"]
    assert match_captures(F, observed("a=leaf0/switch;b=leaf0", [])).unplanned == ["a", "b"]


@pytest.mark.parametrize("local", [-1, 0, 4])
def test_one_identifier_of_several_tells_which_switch_it_is(local: int) -> None:
    made = observed("x=leaf0/switch;y=leaf0/switch", [])
    made.nodes["x"] = made.nodes["x"]._replace(ids=("one", "two"))
    assets = Identifiers({"one": (4, local), "two": (5, local)})
    seen = match_captures(F, made, assets=assets)
    assert seen.nodes == {4: ["x"]} and seen.unplanned == ["y"] and seen.identities == []
    made.nodes["y"] = made.nodes["y"]._replace(ids=("three",))
    both = match_captures(F, made, assets=Identifiers({**assets.owner, "three": (4, -1)}))
    assert both.nodes == {4: ["y"]} and both.unplanned == ["x"]


@pytest.mark.parametrize("device", [0, 1])
def test_devices_that_an_import_named_by_their_identifier(device: int) -> None:
    f = renamed({device: "unnamed-xid", 2: "unnamed-sid"})
    base = f.port_base.tolist()
    seen = match_captures(
        f, observed("x=/adapter;s=/switch;l=leaf1/switch", [wire("x", "1", "s", "4"), wire("x", "2", "l", "4")])
    )
    assert seen.nodes == {device: ["x"], 2: ["s"], 3: ["l"]}
    assert pairs(seen) == {(base[device], base[2] + 3)} and len(seen.conflicts) == 1
    plain = match_captures(f, observed("x=;s=/adapter;l=leaf1", []))
    assert plain.nodes == {device: ["x"], 3: ["l"]} and plain.unplanned == ["s"]
    other = match_captures(f, observed(f"x=node{1 - device}", []))
    assert other.nodes == {1 - device: ["x"]}  # its name counts first


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
        assert [ports(device, n) for n in ("x", "p[1]", "P[2]", "swp3", "14", "SWP1")] == [(0,), (1,), (2,), (3,), (4,), (1,)]
        sonic = [ports(device, f"Ethernet{n}") for n in (0, 8, 24, 32, 1)]
        assert sonic == ([(1,), (2,), (4,), (), ()] if device != "g" else [()] * 5)
        assert ports(device, "nothing") == () and ports(device) == () and ports(device, "none", "p[3]", "p[2]") == (3,)
    assert [ports("d", f"Ethernet{n}") for n in (0, 1, 2, 8, 16)] == [(0,), (0,), (1,), (1,), (2,)]
    assert [ports("e", f"Ethernet{n}") for n in (0, 1, 2, 8, 16)] == [(0,), (0,), (1,), (1,), (2,)]
    assert [ports("c", n) for n in ("p[64]", "p7", "P8")] == [(63,), (6,), (7,)] and ports("h", "mlx5_3", "nic[0]") == (3,)


def test_an_adapter_without_a_name_is_the_only_port(tmp_path: Path) -> None:
    text = """\
model host ONE { port e: 400Gbps { type NDR } }
fabric f {
  host two: BOX
  host one: ONE
  switch s: SW
  connect two.nic[0] to s.p[1]
  connect two.nic[1] to s.p[2]
  connect one.e to s.p[3]
}
"""
    f = fabric_of(text, tmp_path)
    base = f.port_base.tolist()
    seen = match_captures(
        f, observed("a=one/adapter;b=two/adapter;s=s/switch", [wire("a", "1", "s", "8"), wire("b", "1", "s", "7")])
    )
    assert pairs(seen) == {(base[1], base[2] + 7), (base[2] + 6, seen.ports)}
    assert [(v.device, v.node, v.port) for v in seen.virtual] == [(0, "b", "1")]
