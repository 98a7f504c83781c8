"""What stands in the braces of a device and of a partition: what is refused, and values that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics import devices, partitions
from tdsl.semantics.devices import DeviceSettings, Split, split_model
from tdsl.semantics.model import Axis, DeviceModel, PortClass, SonicPort
from tests.harness import compile_text

MODELS = """
model switch S { port p[1..16]: 800Gbps { cage 1 OSFP; split 2, 4 } }
model switch P { port p[1..8]: 800Gbps { cage 2 OSFP; connector 2; split 2 } }
model switch D { port p[2x2]: 800Gbps { split 2 }; port q: 100Gbps }
model switch U { port p[1..64]: 400Gbps { type NDR } }
model host H { port nic[4]: 400Gbps { type NDR; split 2 } }
model panel Q { port front[8]: any; port back[8]: any }
"""
NOS = 'write one of `nos eos`, `nos frr`, `nos nvue`, `nos sonic`, or another system in quotes: `nos "junos"`'
KEY = "write a key from `0x1` to `0x7fff`; the bit 0x8000 may be written and says nothing"
Reported = list[tuple[str, str, str, str, list[str]]]


def reported(text: str, folder: Path) -> Reported:
    """Code, underlined text, message, help and labels of each error."""
    found = [d for d in compile_text(text + MODELS, folder, verify=False, models=False).findings if d.severity.name == "ERROR"]
    return [
        (d.code, d.span.text if d.span else "", d.message, d.help, [f"{x.span.text}: {x.message}" for x in d.labels])
        for d in found
    ]


DEVICES: list[tuple[str, Reported]] = [
    ("switch a: S { split }", [("E0120", "split", "write `split CLASS N`", devices.SPLIT, [])]),
    ("switch a: S { split p }", [("E0120", "split p", "write `split CLASS N`", devices.SPLIT, [])]),
    ("switch a: S { split p 2 4 }", [("E0120", "split p 2 4", "write `split CLASS N`", devices.SPLIT, [])]),
    ("switch a: S { split p 2, q 2 }", [("E0120", "split p 2, q 2", "write `split CLASS N`", devices.SPLIT, [])]),
    ("switch a: S { split 5 2 }", [("E0120", "split 5 2", "write `split CLASS N`", devices.SPLIT, [])]),
    ("switch a: S { split p[1][2] 2 }", [("E0120", "split p[1][2] 2", "write `split CLASS N`", devices.SPLIT, [])]),
    (
        "switch a: S { split p.x 2 }",
        [("E0120", "p.x", "one port or one range of ports is split", "`split p[1..32] 2`, one for each range", [])],
    ),
    (
        "switch a: S { split p[1, 2] 2 }",
        [("E0120", "p[1, 2]", "one port or one range of ports is split", "`split p[1..32] 2`, one for each range", [])],
    ),
    (
        "switch a: S { split p[*] 2 }",
        [("E0120", "p[*]", "one port or one range of ports is split", "`split p[1..32] 2`, one for each range", [])],
    ),
    (
        "switch a: S { split p[[1, 2]] 2 }",
        [("E0120", "p[[1, 2]]", "one port or one range of ports is split", "`split p[1..32] 2`, one for each range", [])],
    ),
    ("switch a: S { split p 2 { x 1 } }", [("E0120", "split p 2 { x 1 }", "write `split CLASS N`", devices.SPLIT, [])]),
    ("switch a: S { split p 1 }", [("E0120", "split p 1", "`p` cannot be split 1 ways", "", [])]),
    ("switch a: S { split p 0 }", [("E0120", "split p 0", "`p` cannot be split 0 ways", "", [])]),
    (
        "switch a: S { split p 3 }",
        [
            (
                "E0120",
                "split p 3",
                "`p` of S cannot be split 3 ways",
                "it splits 2 or 4 ways: write `split p 2`",
                ["p: declared here"],
            )
        ],
    ),
    ('switch a: S { split p "x" }', [("E0103", '"x"', "expected a whole number, found a string", "", [])]),
    ("switch a: S { split r 2 }", [("E0101", "split r 2", "there is no port class of S called `r` here", "known here: `p`", [])]),
    (
        "switch a: S { split p[1..4] 2; split p[4] 4 }",
        [("E0104", "split p[4] 4", "`p[4]` is split twice", "", ["split p[1..4] 2: first here"])],
    ),
    (
        "switch a: S { split p[9..12] 2; split p[1..9] 4 }",
        [("E0104", "split p[9..12] 2", "`p[9]` is split twice", "", ["split p[1..9] 4: first here"])],
    ),
    (
        "switch a: S { split p 2; split p 4 }",
        [("E0104", "split p 4", "ports of `p` are split twice", "", ["split p 2: first here"])],
    ),
    (
        "switch a: S { split p[3] 2; split p 4 }",
        [("E0104", "split p 4", "ports of `p` are split twice", "", ["split p[3] 2: first here"])],
    ),
    (
        "switch a: S { split p[0..3] 2 }",
        [
            (
                "E0108",
                "split p[0..3] 2",
                "`p` has ports 1..16, not 0..3",
                "the port after `p` is one of these",
                ["p: declared here"],
            )
        ],
    ),
    (
        "switch a: S { split p[15..17] 2 }",
        [
            (
                "E0108",
                "split p[15..17] 2",
                "`p` has ports 1..16, not 15..17",
                "the port after `p` is one of these",
                ["p: declared here"],
            )
        ],
    ),
    ("switch a: S { split p[4..3] 2 }", [("E0120", "split p[4..3] 2", "the range 4..3 is empty", "", [])]),
    ("switch a: S { split p[1..16] 2 }", []),
    ("switch a: S { split p[1] 2; split p[2] 4; split p[16] 2 }", []),
    (
        "switch a: P { split p[1] 2 }",
        [("E0120", "split p[1] 2", "`p[1]` shares a connector with `p[2]`", "split both or neither", [])],
    ),
    (
        "switch a: P { split p[2..4] 2 }",
        [("E0120", "split p[2..4] 2", "`p[2]` shares a connector with `p[1]`", "split both or neither", [])],
    ),
    (
        "switch a: P { split p[2..3] 2 }",
        [("E0120", "split p[2..3] 2", "`p[2]` shares a connector with `p[1]`", "split both or neither", [])],
    ),
    (
        "switch a: P { split p[3..5] 2 }",
        [("E0120", "split p[3..5] 2", "`p[5]` shares a connector with `p[6]`", "split both or neither", [])],
    ),
    ("switch a: P { split p[7..8] 2 }", []),
    ("switch a: P { split p[3..4] 2 }", []),
    (
        "switch a: D { split p[0] 2 }",
        [("E0109", "split p[0] 2", "`p` has 2 indices, and a part of one with one index may be split", "write `split p 2`", [])],
    ),
    ("switch a: D { split p 2 }", []),
    ("switch a: D { split q 2 }", [("E0120", "split q 2", "`q` of D does not split", "", ["q: no `split` here"])]),
    ("switch a: U { split p 2 }", [("E0120", "split p 2", "`p` of U does not split", "", ["p: no `split` here"])]),
    (
        "switch a: S { spares 2 }",
        [("E0118", "spares 2", "a switch has no spares", "remove `spares 2`: hosts and chips have one", [])],
    ),
    (
        "switch a: S { role storage }",
        [("E0118", "role storage", "a switch has no role", "remove `role storage`: hosts and chips have one", [])],
    ),
    (
        "panel a: Q { spares 2 }",
        [("E0118", "spares 2", "a panel has no spares", "remove `spares 2`: hosts and chips have one", [])],
    ),
    ("panel a: Q { nos sonic }", [("E0118", "nos sonic", "a panel has no network operating system", "switches have one", [])]),
    ("panel a: Q { forwards }", [("E0118", "forwards", "a panel takes no `forwards`", "hosts and chips may", [])]),
    ("switch a: S { nos sonic; nos sonic }", [("E0104", "nos sonic", "`nos` is set twice", "", ["nos sonic: first here"])]),
    (
        "switch a: S { nos sonic; split p 2; nos eos }",
        [("E0104", "nos eos", "`nos` is set twice", "", ["nos sonic: first here"])],
    ),
    ("switch a: S { nos }", [("E0120", "nos", "`nos` takes the name of an operating system", NOS, [])]),
    ("switch a: S { nos 5 }", [("E0120", "nos 5", "`nos` takes the name of an operating system", NOS, [])]),
    ("switch a: S { nos foo }", [("E0101", "foo", "there is no network operating system `foo` here", NOS, [])]),
    ('switch a: S { nos "my os" }', [("E0120", 'nos "my os"', "'my os' is not a name: letters, digits and `_`", NOS, [])]),
    (
        "switch a: S { forwards }",
        [("E0118", "forwards", "a switch takes no `forwards`", "delete `forwards`: switches always forward", [])],
    ),
    (
        "switch a: S { forward }",
        [("E0118", "forward", "there is no setting of a device called `forward` here", "did you mean `forwards`?", [])],
    ),
    (
        "switch a: S { if 1 > 0 { split p 2 } }",
        [
            (
                "E0118",
                "if 1 > 0 { split p 2 }",
                "a device's braces hold settings only",
                "known: `forwards`, `nos`, `role`, `spares`, `split`",
                [],
            )
        ],
    ),
    (
        "switch a: S { let x = 2 }",
        [
            (
                "E0118",
                "let x = 2",
                "a device's braces hold settings only",
                "known: `forwards`, `nos`, `role`, `spares`, `split`",
                [],
            )
        ],
    ),
    ("host h[4]: H { nos sonic }", [("E0118", "nos sonic", "a host has no network operating system", "switches have one", [])]),
    ("host h[4]: H { spares }", [("E0120", "spares", "say how many are spares", "`spares 8`: the last eight of each group", [])]),
    ("host h[4]: H { spares 0 }", [("E0120", "0", "0 spares: leave the setting out", "", [])]),
    ("host h[4]: H { spares 1 }", []),
    ("host h[4]: H { spares -1 }", [("E0120", "-1", "-1 spares: leave the setting out", "", [])]),
    ("host h[4]: H { spares 3 }", []),
    (
        "host h[4]: H { spares 4 }",
        [("E0120", "host h[4]: H { spares 4 }", "4 of 4 `h` are spares, so none is left", "`spares 1`", [])],
    ),
    ("host h[4]: H { spares 2, 3 }", [("E0118", "3", "`spares` takes one value here", "write `spares 8`", [])]),
    ("host h[4]: H { spares 2 { x 1 } }", [("E0118", "x 1", "`spares` takes no block here", "write `spares 8`", [])]),
    ("host h[4]: H { spares 1; spares 2 }", [("E0104", "spares 2", "`spares` is set twice", "", ["spares 1: first here"])]),
    ("host h[4]: H { spares 1/2 }", [("E0111", "1/2", "expected a whole number, found 1/2", "`1//2` rounds down", [])]),
    (
        "host h[4]: H { role boss }",
        [("E0101", "boss", "there is no role `boss` here", "known here: `accelerator`, `manager`, `storage`", [])],
    ),
    ("host h[4]: H { role storage 5 }", [("E0118", "5", "`role` does not use this", "write `role storage`", [])]),
    ("host h[4]: H { role storage, manager }", [("E0118", "manager", "`role` takes one value here", "write `role storage`", [])]),
    (
        "host h[4]: H { role storage; role storage }",
        [("E0104", "role storage", "`role` is set twice", "", ["role storage: first here"])],
    ),
    ("host h[4]: H { role storage; spares 1 }", []),
    ("host h[4]: H { forwards }", []),
    ("host h[4]: H { forwards 3 }", [("E0118", "3", "`forwards` takes 0 values here", "write `forwards`", [])]),
    ("host h[4]: H { split nic[0..1] 2 }", []),
]


@pytest.mark.parametrize(("device", "expected"), DEVICES)
def test_devices(device: str, expected: Reported, tmp_path: Path) -> None:
    assert reported(f"fabric f {{ {device}\n switch z[2]: U\n connect z[*] each }}", tmp_path) == expected


PARTITIONS: list[tuple[str, Reported]] = [
    ("partition a", [("E0120", "partition a", "a partition has a name and a key", partitions.EXAMPLE, [])]),
    ("partition a 1 2", [("E0120", "partition a 1 2", "a partition has a name and a key", partitions.EXAMPLE, [])]),
    ("partition a, b 1", [("E0120", "partition a, b 1", "a partition has a name and a key", partitions.EXAMPLE, [])]),
    ('partition "" 1 { full h[0].nic }', [("E0103", '""', "expected the name of a partition", partitions.EXAMPLE, [])]),
    ("partition 5 1 { full h[0].nic }", [("E0103", "5", "expected the name of a partition", partitions.EXAMPLE, [])]),
    ("partition a 0 { full h[0].nic }", [("E0110", "0", "0x0 is not a key of a partition", KEY, [])]),
    ("partition a 0x8000 { full h[0].nic }", [("E0110", "0x8000", "0x8000 is not a key of a partition", KEY, [])]),
    ("partition a 0x10000 { full h[0].nic }", [("E0110", "0x10000", "0x10000 is not a key of a partition", KEY, [])]),
    ("partition a 0x10001 { full h[0].nic }", [("E0110", "0x10001", "0x10001 is not a key of a partition", KEY, [])]),
    (
        "partition a -1 { full h[0].nic }",
        [("E0120", "partition a -1 { full h[0].nic }", "a partition has a name and a key", partitions.EXAMPLE, [])],
    ),
    ("partition a 0x7fff { full h[0].nic }", []),
    ("partition a 0xffff { full h[0].nic }", []),
    ("partition a 0x7ffe { full h[0].nic }", []),
    ("partition a 0x8001 { full h[0].nic }", []),
    ("partition a 0x1 { full h[0].nic; limited h[1..3].nic; ipoib }", []),
    (
        "partition a 0x1 { ipoib }",
        [("E0120", "partition a 0x1 { ipoib }", "partition `a` has no members", partitions.EXAMPLE, [])],
    ),
    ("partition a 0x1 { }", [("E0120", "partition a 0x1 { }", "partition `a` has no members", partitions.EXAMPLE, [])]),
    ("partition a 0x1", [("E0120", "partition a 0x1", "partition `a` has no members", partitions.EXAMPLE, [])]),
    ("partition a 0x1 { full }", [("E0120", "full", "`full` takes paths to devices", "write `full node[*]`", [])]),
    ("partition a 0x1 { full 5 }", [("E0120", "5", "expected a path to devices", "write `full node[*]`", [])]),
    ("partition a 0x1 { full h[0].nic 2 }", [("E0120", "h[0].nic 2", "expected a path to devices", "write `full node[*]`", [])]),
    (
        "partition a 0x1 { full h[0].nic { x } }",
        [("E0120", "full h[0].nic { x }", "`full` takes paths to devices", "write `full node[*]`", [])],
    ),
    (
        "partition a 0x1 { full g }",
        [("E0120", "g", "`g` is a group; ports of devices are meant", "name the devices in it: `g.NAME[*]`", [])],
    ),
    ("partition a 0x1 { full g.k[*] }", []),
    ("partition a 0x1 { full h[0].nic; full h[0].nic }", []),
    (
        "partition a 0x1 { full h[0].nic; limited h[0].nic }",
        [
            (
                "E0482",
                "limited h[0].nic",
                "h[0].nic[0] is a full and a limited member of `a`",
                "leave it out of `h[0].nic`, or of the full members",
                ["full h[0].nic: full here"],
            )
        ],
    ),
    ("partition a 0x1 { full h[0].nic; ipoib 3 }", [("E0120", "ipoib 3", "`ipoib` takes no value", "", [])]),
    (
        "partition a 0x1 { fall h[0].nic }",
        [("E0118", "fall", "there is no setting of a partition `fall` here", "did you mean `full`?", [])],
    ),
    (
        "partition a 0x1 { let x = 1 }",
        [("E0118", "let x = 1", "the braces of a partition hold its members", partitions.EXAMPLE, [])],
    ),
    ('partition a "x" { full h[0].nic }', [("E0103", '"x"', "expected a whole number, found a string", "", [])]),
    (
        "partition a 0x1 { full h[0].nic }; partition a 0x2 { full h[0].nic }",
        [
            (
                "E0104",
                "partition a 0x2 { full h[0].nic }",
                "partition `a` is given twice",
                "",
                ["partition a 0x1 { full h[0].nic }: first here"],
            )
        ],
    ),
    (
        "partition a 0x1 { full h[0].nic }; partition b 0x8001 { full h[0].nic }",
        [
            (
                "E0480",
                "partition b 0x8001 { full h[0].nic }",
                "partitions `a` and `b` both have the key 0x0001",
                "give each its own key, such as `0x0002`; the bit 0x8000 says full membership",
                ["partition a 0x1 { full h[0].nic }: the first is given here"],
            )
        ],
    ),
    (
        "subnet_manager",
        [("E0120", "subnet_manager", "`subnet_manager` takes paths to devices", "write `subnet_manager node[*]`", [])],
    ),
    ("subnet_manager h[0]", []),
    ("subnet_manager h[0], h[1]", []),
    (
        "subnet_manager s",
        [("E0120", "s", "a subnet manager runs on a host, and `s` is a switch", "write `subnet_manager manager[*]`", [])],
    ),
    (
        "subnet_manager g",
        [("E0120", "g", "`g` is a group; ports of devices are meant", "name the devices in it: `g.NAME[*]`", [])],
    ),
    (
        "subnet_manager h[0], s",
        [("E0120", "s", "a subnet manager runs on a host, and `s` is a switch", "write `subnet_manager manager[*]`", [])],
    ),
    ("subnet_manager h[0] 3", [("E0120", "h[0] 3", "expected a path to devices", "write `subnet_manager node[*]`", [])]),
    (
        "subnet_manager h[0] { x }",
        [("E0120", "subnet_manager h[0] { x }", "`subnet_manager` takes paths to devices", "write `subnet_manager node[*]`", [])],
    ),
    ("subnet_manager 5", [("E0120", "5", "expected a path to devices", "write `subnet_manager node[*]`", [])]),
    ("subnet_manager h[9]", [("E0108", "9", "`h[9]` is outside 0..3", "`h` has indices 0..3", [])]),
]


@pytest.mark.parametrize(("statement", "expected"), PARTITIONS)
def test_partitions(statement: str, expected: Reported, tmp_path: Path) -> None:
    text = "host h[4]: H\n switch s: U\n group g { host k[2]: H }\n connect h[n].nic[r] to s\n connect g.k[n].nic[r] to s"
    assert reported(f"fabric f {{ {text}\n{statement} }}", tmp_path) == expected


AT = SourceSpan(SourceFile("t.fab", "x"), 0, 1)


def test_settings_as_text() -> None:
    """The braces as a design writes them, and what a set of devices keeps."""
    splits = (Split("p", None, None, 2, AT), Split("q", 3, 3, 4, AT), Split("q", 5, 8, 2, AT), Split("q", 0, 0, 2, AT))
    full = DeviceSettings("storage", 3, splits, "sonic", True)
    assert full.text == "role storage; spares 3; split p 2; split q[3] 4; split q[5..8] 2; split q[0] 2; nos sonic; forwards"
    assert DeviceSettings(nos="junos").text == 'nos "junos"'
    assert DeviceSettings().text == ""
    assert DeviceSettings(spares=1).text == "spares 1"
    assert full.kept() == {"spares": 3, "nos": "sonic", "forwards": True}
    assert DeviceSettings(role="storage", nos="eos").kept() == {"nos": "eos"}
    assert DeviceSettings().kept() == {}
    assert [str(s) for s in splits] == ["p/2", "q[3..3]/4", "q[5..8]/2", "q[0..0]/2"]


def ports(name: str, low: int, size: int, sockets: int = 1) -> PortClass:
    """Ports with names and numbers that all differ; two a connector and a cage."""
    each = range(size)
    return PortClass(
        name, (Axis(low, size),), 0, 800, (), tuple(k // 2 + 1 for k in each), "OSFP", tuple(k // 2 for k in each),
        tuple(f"L{low + k}" for k in each), tuple(f"s{low + k}" for k in each), (2, 4), 1, Origin(AT, ()),
        ((2, tuple(f"s{low + k}l{i}" for k in each for i in range(2))),),
        tuple(SonicPort(10 * k, tuple(range(8 * k, 8 * k + 8)), 10 * k) for k in each),
        tuple(f"n{low + k}" for k in each), ((2, tuple(f"n{low + k}l{i}" for k in each for i in range(2))),), sockets, 2,
    )  # fmt: skip


def test_a_model_whose_ports_are_split() -> None:
    """Each class of ports: whole before, split, whole after; lanes have the names, cages and connectors that the class gives."""
    blank = ports("q", 0, 2)
    model = DeviceModel("X", "switch", "", (ports("p", 3, 8, sockets=2), blank), (), (), (), {}, Origin(AT, ()))
    found = split_model(model, [Split("p", 9, 10, 4, AT), Split("p", 5, 6, 2, AT)])
    assert found.variant == "p[5..6]/2,p[9..10]/4"
    assert [c.name for c in found.classes] == ["p", "p", "p", "p", "q"]
    assert [c.first for c in found.classes] == [0, 2, 6, 8, 16]
    assert [c.split for c in found.classes] == [1, 2, 1, 4, 1]
    assert [c.rate for c in found.classes] == [800, 400, 800, 200, 800]
    assert [tuple((a.low, a.size) for a in c.axes) for c in found.classes] == [
        ((3, 2),), ((5, 2), (0, 2)), ((7, 2),), ((9, 2), (0, 4)), ((0, 2),)
    ]  # fmt: skip
    a, b, c, d, _ = found.classes
    assert (a.cages, b.cages, c.cages, d.cages) == ((1, 1), (2, 2, 2, 2), (3, 3), (4,) * 8)
    assert (a.connectors, b.connectors) == ((0, 0), (2, 3, 2, 3))
    assert (c.connectors, d.connectors) == ((2, 2), (6, 6, 7, 7, 6, 6, 7, 7))
    assert (a.labels, b.labels) == (("L3", "L4"), ("L5/1", "L5/2", "L6/1", "L6/2"))
    assert (a.systems, b.systems, c.systems) == (("s3", "s4"), ("s5l0", "s5l1", "s6l0", "s6l1"), ("s7", "s8"))
    assert d.systems == ("s9",) * 4 + ("s10",) * 4
    assert (a.netdevs, b.netdevs, c.netdevs) == (("n3", "n4"), ("n5l0", "n5l1", "n6l0", "n6l1"), ("n7", "n8"))
    assert d.netdevs == ("n9",) * 4 + ("n10",) * 4
    assert [x.number for x in a.sonic] == [0, 10]
    assert [[list(x.lanes) for x in y.sonic] for y in (a, b, d)] == [
        [[*range(8)], [*range(8, 16)]],
        [[*range(k, k + 4)] for k in (16, 20, 24, 28)],
        [[k, k + 1] for k in range(48, 64, 2)],
    ]
    whole = split_model(model, [Split("q", None, None, 2, AT)])
    assert whole.variant == "q/2"
    assert [(x.name, x.first, x.size, x.rate) for x in whole.classes] == [("p", 0, 8, 800), ("q", 8, 4, 400)]
    assert whole.classes[1].connectors == (0, 0, 0, 0)
    assert whole.classes[1].systems == ("s0l0", "s0l1", "s1l0", "s1l1")
    ends = split_model(model, [Split("p", 3, 4, 2, AT)])
    assert [(x.first, x.size) for x in ends.classes] == [(0, 4), (4, 6), (10, 2)]


def test_partitions_that_are_kept(tmp_path: Path) -> None:
    """Name, key of 15 bits, IP over it, and the members of each, in order."""
    text = """fabric f { host h[4]: H
      switch s: U
      connect h[n].nic[r] to s
      partition a 0x8005 { full h[0].nic; limited h[1..2].nic; ipoib }
      partition "b c" 0x7 { limited h[3].nic } }
    """
    plans = compile_text(text + MODELS, tmp_path, verify=False, models=False).designs
    management = plans[0].fabric.management  # type: ignore[union-attr]
    assert management is not None
    found = management.partitions
    assert [(p.name, p.key, p.ipoib) for p in found] == [("a", 5, True), ("b c", 7, False)]


def test_statements_that_do_not_parse(tmp_path: Path) -> None:
    """In the braces of a device or a partition they are reported once, as what they are."""
    for text in (
        "switch a: S { split p[ 2 }\n switch z[2]: U\n connect z[*] each",
        "host h[4]: H\n switch s: U\n connect h[n].nic[r] to s\n partition a 0x1 { full h[ }",
    ):
        found = reported(f"fabric f {{ {text} }}\n", tmp_path)
        assert found and all(code.startswith("E000") for code, *_ in found), found
