"""Paths to devices and ports as a statement sees them, models and their ports, and names of devices, on values made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import Axis, Chip, DeviceModel, DeviceSet, PathComponent, PortClass, indices_at_position
from tdsl.semantics.paths import PathReader, resolve_path
from tdsl.semantics.plan import Context, FabricPlan, Group, ResolvedPath
from tdsl.semantics.scope import DONE, WAITING, Binding, Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_expression

ORIGIN = Origin(SourceSpan(SourceFile("o.fab", "o"), 0, 1))


def ports(name: str, first: int, *axes: Axis, split: int = 1) -> PortClass:
    size = 1
    for a in axes:
        size *= a.size
    blank = ("",) * size
    return PortClass(name, axes, first, 400, (), (0,) * size, "", tuple(range(size)), blank, blank, (), split, ORIGIN)


def model(name: str, kind: str, *classes: PortClass, chips: tuple[Chip, ...] = ()) -> DeviceModel:
    return DeviceModel(name, kind, "", classes, chips, (), (), {}, ORIGIN)


GPU = model("GPU", "chip", ports("nv", 0, Axis(1, 4)))
CPU = replace(model("CPU", "chip"), facts={"role": "cpu"})
NODE = model(
    "NODE", "host", ports("nic", 0, Axis(0, 2), Axis(0, 3)), ports("m", 6), chips=(
        Chip("gpu", "chip", (Axis(0, 8),), GPU, ORIGIN), Chip("cpu", "chip", (Axis(0, 2),), CPU, ORIGIN),
        Chip("nvs", "switch", (Axis(0, 4),), model("NVS", "switch"), ORIGIN),
    ),
)  # fmt: skip
CUT = model(
    "CUT", "switch", ports("p", 0, Axis(1, 2)), ports("p", 2, Axis(3, 2), Axis(0, 2), split=2), ports("p", 6, Axis(5, 3)),
    ports("q", 9, Axis(1, 2), Axis(1, 2)), ports("r", 13, Axis(1, 4), Axis(0, 2), split=2),
    ports("t", 21, Axis(1, 2)), ports("t", 23, Axis(3, 2), Axis(0, 2), split=2),
)  # fmt: skip
SU, LEAF = (Axis(1, 3),), (Axis(0, 4),)
PARTS = (
    PathComponent("su", "group", SU),
    PathComponent("rack", "rack", ()),
    PathComponent("node", "host", (Axis(0, 2), Axis(5, 2))),
)


def plan() -> tuple[FabricPlan, Context, Context]:
    """A fabric with ``leaf[4]`` and ``su[1..3].rack.node[2, 5..6]``; its own context and that of ``rack``."""
    root = Group("f", "fabric", (), None, ORIGIN.span, Scope())
    su = Group("su", "group", SU, root, ORIGIN.span, root.scope.child())
    rack = Group("rack", "rack", (), su, ORIGIN.span, su.scope.child())
    rack.members["node"] = DeviceSet(1, PARTS, NODE, "accelerator", ORIGIN)
    rack.absent.add("gone")
    rack.scope.excused.add("unread")
    su.members["rack"] = rack
    root.members.update(leaf=DeviceSet(0, (PathComponent("leaf", "switch", LEAF),), CUT, "", ORIGIN), su=su)
    evaluator = Evaluator(is_model=lambda name: name == "CUT")
    root.scope.set("k", 5, ORIGIN.span)
    made = FabricPlan("f", "", ORIGIN, root, evaluator)
    outer = Context((root,), ())
    return made, outer, outer.inner(su).inner(rack)


def path(text: str) -> tree.PathExpr:
    found = parse_expression(text, "t.fab", Diagnostics())
    assert isinstance(found, tree.PathExpr)
    return found


def seen(text: str, *, within: bool = False, ports: bool = True) -> ResolvedPath:
    made, outer, inner = plan()
    return resolve_path(made, inner if within else outer, path(text), ports=ports)


Row = tuple[int, int, str, str]


def entries(t: ResolvedPath) -> tuple[list[Row], list[Row]]:
    """First index, extent, text in the brackets ("" for all), and name of each dimension: of devices, then of ports."""
    rows = [
        [(e.axis.low, e.axis.size, e.expr.span.text if e.expr else "", e.name) for e in x or ()] for x in (t.entries, t.ports)
    ]
    return rows[0], rows[1]


WHOLE: list[Row] = [(1, 3, "", "su"), (0, 2, "", "node"), (5, 2, "", "node")]


@pytest.mark.parametrize(
    ("text", "devices", "found"),
    [
        ("leaf", [(0, 4, "", "leaf")], []),
        ("leaf[*]", [(0, 4, "", "leaf")], []),
        ("leaf[i + 1]", [(0, 4, "i + 1", "leaf")], []),
        ("su.rack.node", WHOLE, []),
        ("su[*].rack.node[*]", WHOLE, []),
        ("su[2].rack.node[1, 6]", [(1, 3, "2", "su"), (0, 2, "1", "node"), (5, 2, "6", "node")], []),
        ("su[2].rack.node[*, 6]", [(1, 3, "2", "su"), (0, 2, "*", "node"), (5, 2, "6", "node")], []),
        ("su.rack.node.nic", WHOLE, [(0, 2, "", "nic"), (0, 3, "", "nic")]),
        ("su.rack.node.nic[*]", WHOLE, [(0, 2, "", "nic"), (0, 3, "", "nic")]),
        ("su.rack.node.nic[1, 0..2]", WHOLE, [(0, 2, "1", "nic"), (0, 3, "0..2", "nic")]),
        ("su.rack.node.m", WHOLE, []),
        ("su.rack.node.gpu", [*WHOLE, (0, 8, "", "gpu")], []),
        ("su.rack.node.gpu[3].nv[1..2]", [*WHOLE, (0, 8, "3", "gpu")], [(1, 4, "1..2", "nv")]),
        ("leaf.p", [(0, 4, "", "leaf")], [(0, 9, "", "p")]),
        ("leaf.p[*]", [(0, 4, "", "leaf")], [(0, 9, "", "p")]),
        ("leaf.p[4, 1]", [(0, 4, "", "leaf")], [(3, 2, "4", "p"), (0, 2, "1", "p")]),
        ("leaf.p[2]", [(0, 4, "", "leaf")], [(1, 2, "2", "p")]),
        ("leaf.p[k]", [(0, 4, "", "leaf")], [(5, 3, "k", "p")]),
        ("leaf.p[7]", [(0, 4, "", "leaf")], [(5, 3, "7", "p")]),
        ("leaf.p[8]", [(0, 4, "", "leaf")], [(1, 2, "8", "p")]),
        ("leaf.q[i, 1]", [(0, 4, "", "leaf")], [(1, 2, "i", "q"), (1, 2, "1", "q")]),
        ("leaf.t[3, 1]", [(0, 4, "", "leaf")], [(3, 2, "3", "t"), (0, 2, "1", "t")]),
        ("leaf.t[i]", [(0, 4, "", "leaf")], [(1, 2, "i", "t")]),
        ("leaf.r[i, 1]", [(0, 4, "", "leaf")], [(1, 4, "i", "r"), (0, 2, "1", "r")]),
    ],
)
def test_dimensions_of_paths(text: str, devices: list[Row], found: list[Row]) -> None:
    """From the fabric's own block."""
    t = seen(text)
    assert entries(t) == (devices, found) and t.shared == 0 and t.group is None and t.span.text == text


@pytest.mark.parametrize(
    ("text", "offset"),
    [("leaf.p[2]", 0), ("leaf.p[3, 0]", 2), ("leaf.p[4, 1]", 2), ("leaf.p[5]", 6), ("leaf.p[7]", 6), ("leaf.q[1, 1]", 0),
     ("leaf.p", 0)],
)  # fmt: skip
def test_ports_before_those_of_a_part(text: str, offset: int) -> None:
    """Ports of the name that stand before the part that is meant."""
    assert seen(text).offset == offset


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("leaf.p[1..7]", [0, 1, 2, 3, 4, 5, 6, 7, 8]), ("leaf.p[2..4]", [1, 2, 3, 4, 5]), ("leaf.p[3..3]", [2, 3]),
        ("leaf.p[[4, 1, 7]]", [4, 5, 0, 8]), ("leaf.p[(k - 1)..k]", [4, 5, 6]), ("leaf.r[2..3]", [2, 3, 4, 5]),
        ("leaf.r[[k - 1]]", [6, 7]),
    ],
)  # fmt: skip
def test_all_lanes_of_some_ports(text: str, places: list[int]) -> None:
    """A range or list with one entry means all lanes of these ports, as places in the class."""
    t = seen(text)
    assert t.ports is not None and t.offset == 0
    (e,) = t.ports
    assert isinstance(e.expr, tree.ListExpr) and [x.value for x in e.expr.items if isinstance(x, tree.Number)] == places
    assert (e.axis, e.name) == (Axis(0, 9 if ".p" in text else 8), text[5])


@pytest.mark.parametrize(
    ("text", "shared", "devices"),
    [
        ("node[1, 5]", 1, [(0, 2, "1", "node"), (5, 2, "5", "node")]),
        ("node", 1, [(0, 2, "", "node"), (5, 2, "", "node")]),
        ("rack.node", 1, [(0, 2, "", "node"), (5, 2, "", "node")]),
        ("su[2].rack.node", 0, [(1, 3, "2", "su"), (0, 2, "", "node"), (5, 2, "", "node")]),
        ("leaf[3]", 0, [(0, 4, "3", "leaf")]),
    ],
)
def test_paths_from_a_group(text: str, shared: int, devices: list[Row]) -> None:
    """Axes of the groups that the statement shares with the devices are no dimensions of the path."""
    t = seen(text, within=True)
    assert (t.shared, entries(t)[0]) == (shared, devices)


def test_paths_to_groups() -> None:
    t = seen("su[2].rack", ports=False)
    assert t.group is not None and (t.group.name, t.device, t.port_class, t.ports) == ("rack", None, "", None)
    assert entries(t)[0] == [(1, 3, "2", "su")] and t.group_parts == PARTS[:2]
    t = seen("rack", within=True)
    assert (entries(t)[0], t.group_parts, t.shared) == ([], PARTS[:2], 1)


def test_devices_inside_devices_are_made_once() -> None:
    made, outer, _ = plan()
    first, again, other = (resolve_path(made, outer, path(f"su.rack.node.{n}")).device for n in ("gpu", "gpu[2]", "cpu"))
    assert first is again and first is not None and other is not None
    assert (first.index, first.path, first.role, first.model, first.inside) == (
        -1, "su.rack.node.gpu", "accelerator", GPU, resolve_path(made, outer, path("su.rack.node")).device,
    )  # fmt: skip
    assert (other.role, other.count, first.count) == ("", 24, 96)


INDEX = "one entry a dimension, separated by commas; `[*]` alone means all members"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("leaf[1, 2]", ("E0109", "[1, 2]", "`leaf` has 1 index (0..3), and 2 are written", INDEX)),
        ("su.rack.node[1]", ("E0109", "[1]", "`node` has 2 indices (0..1, 5..6), and 1 is written", INDEX)),
        ("su[1, 2].rack.node", ("E0109", "[1, 2]", "`su` has 1 index (1..3), and 2 are written", INDEX)),
        ("su.rack[1].node", ("E0109", "[1]", "`rack` has 0 indices (none), and 1 is written", "write `rack`")),
        ("su.rack[*].node", ("E0109", "[*]", "`rack` has 0 indices (none), and 1 is written", "write `rack`")),
        ("leaf[*, *]", ("E0109", "[*, *]", "`leaf` has 1 index (0..3), and 2 are written", INDEX)),
        ("leaf.q[1]", ("E0109", "[1]", "`q` has 2 indices (1..2, 1..2), and 1 is written", INDEX)),
        ("leaf.p[1, 2, 3]", ("E0109", "[1, 2, 3]", "`p` has 1 index (1..2), and 3 are written", INDEX)),
        ("leaf.p[i]", ("E0120", "[i]", "ports of `p` are split in parts, so a number must say which one is meant",
                       "the parts are `p[1..2]`, `p[5..7]`")),
        ("leaf.p[0..3]", ("E0108", "0..3", "`p[0]` is outside 1..7", "")),
        ("leaf.p[6..8]", ("E0108", "6..8", "`p[8]` is outside 1..7", "")),
        ("leaf.p[[1, 9]]", ("E0108", "[1, 9]", "`p[9]` is outside 1..7", "")),
        ("leaf.p[3..2]", ("E0108", "3..2", "this names no port", "")),
        ("leaf.p[1].x", ("E0120", "x", "nothing follows a port", "")),
        ("leaf.p[1][2]", ("E0120", "[2]", "nothing follows a port", "")),
        ("leaf(3)", ("E0120", "(3)", "a path cannot be called; indices are written in square brackets", "")),
        ("leaf[1][2]", ("E0120", "[2]", "expected a name", "")),
        ("laef", ("E0101", "laef", "there is no device or group `laef` here", "did you mean `leaf`?")),
        ("zzz", ("E0101", "zzz", "there is no device or group `zzz` here", "known here: `leaf`, `su`")),
        ("CUT", ("E0101", "CUT", "`CUT` is a model, not a device",
                 "declare one, `switch NAME: CUT` or `host NAME: CUT`, and write its name here")),
        ("su.rack.zzz", ("E0101", "zzz", "there is no member of `rack` called `zzz` here", "known here: `node`")),
        ("leaf.x", ("E0101", "x", "there is no port class of CUT called `x` here", "known here: `p`, `q`, `r`, `t`")),
        ("su.rack.node.x",
         ("E0101", "x", "there is no port class of NODE called `x` here", "known here: `cpu`, `gpu`, `m`, `nic`, `nvs`")),
    ],
)  # fmt: skip
def test_paths_that_are_refused(text: str, expected: tuple[str, str, str, str]) -> None:
    with pytest.raises(Fault) as raised:
        seen(text)
    d = raised.value.diagnostic
    assert d.span is not None and (d.code, d.span.text, d.message, d.help) == expected


def test_ports_where_devices_are_meant() -> None:
    with pytest.raises(Fault) as raised:
        seen("leaf.p[1]", ports=False)
    assert raised.value.diagnostic.message == "expected a path to devices, not to their ports"


@pytest.mark.parametrize(
    ("text", "within"), [("su.rack.gone", False), ("su.rack.unread", False), ("gone", True), ("unread[3]", True)]
)
def test_what_has_an_error_of_its_own_is_excused(text: str, within: bool) -> None:
    with pytest.raises(Excused):
        seen(text, within=within)


def test_entries_are_evaluated_later() -> None:
    """A value in brackets is not asked for where the number of the port chooses no part."""
    made, outer, _ = plan()
    asked = Binding("let", ORIGIN.span, lambda: 1)
    made.root.scope.define("late", asked)
    for text in ("leaf[late]", "leaf.q[late, 1]", "leaf.r[late, 0]", "leaf.t[late]", "leaf.t[late, 0]", "su[late].rack.node"):
        resolve_path(made, outer, path(text))
    assert asked.state == WAITING
    resolve_path(made, outer, path("leaf.p[late]"))
    assert asked.state == DONE


def test_the_parts_of_a_path() -> None:
    """Name by name, each with the brackets behind it."""
    made, outer, _ = plan()
    reader = PathReader(made, outer, path("a.b[1].c"))
    names = []
    while reader.more:
        name, index = reader.member(), reader.index()
        names.append((name.name, index.span.text if index else ""))
    assert names == [("a", ""), ("b", "[1]"), ("c", "")] and reader.index() is None


# ---------------------------------------------------------------- models


def test_axes() -> None:
    assert [(a.high, a.present) for a in (Axis(3, 4), Axis(0, 1), Axis(2, 5, 0), Axis(2, 5, 3))] == [
        (6, 4),
        (0, 1),
        (6, 0),
        (6, 3),
    ]
    axes = (Axis(1, 2), Axis(0, 3), Axis(5, 2))
    assert [indices_at_position(k, axes) for k in range(12)] == [(a, b, c) for a in (1, 2) for b in (0, 1, 2) for c in (5, 6)]
    assert indices_at_position(0, ()) == ()


def test_ports_of_models() -> None:
    """Counts, classes by name, and the class of each port."""
    assert (CUT.port_count, NODE.port_count, GPU.port_count, CPU.port_count) == (27, 7, 4, 0)
    assert [c.size for c in CUT.classes] == [2, 4, 3, 4, 8, 2, 4]
    assert [CUT.class_of(k).first for k in range(27)] == [0] * 2 + [2] * 4 + [6] * 3 + [9] * 4 + [13] * 8 + [21] * 2 + [23] * 4
    for k in (-1, 27):
        with pytest.raises(IndexError):
            CUT.class_of(k)
    assert [c.first for c in CUT.parts("p")] == [0, 2, 6] == [c.first for c in CUT.first_parts]
    assert [c.name for c in NODE.first_parts] == ["nic"]
    assert (CUT.parts("x"), CPU.first_parts, CUT.port_class("x")) == ((), (), None)
    found = CUT.port_class("p")
    assert found is not None and found.first == 0


def test_paths_of_ports() -> None:
    assert [NODE.classes[0].path(k) for k in (0, 2, 3, 5)] == ["nic[0, 0]", "nic[0, 2]", "nic[1, 0]", "nic[1, 2]"]
    assert NODE.classes[1].path(0) == "m" and CUT.classes[2].path(1) == "p[6]"


def test_network_devices_of_ports() -> None:
    """Names of their own, or those of the system that no RDMA device has."""
    systems = ("eth0", "mlx5_3", "rocep12s0", "ib0", "mlx5_bond_0", "")
    c = replace(ports("nic", 0, Axis(0, 6)), systems=systems)
    assert [c.netdev(k) for k in range(6)] == ["eth0", "", "", "ib0", "", ""]
    assert [replace(c, netdevs=tuple("abcdef")).netdev(k) for k in range(6)] == list("abcdef")


def test_accelerators() -> None:
    """Chips but for those with the role of a CPU; switches inside are none."""
    assert [c.accelerates for c in NODE.chips] == [True, False, False]
    assert (NODE.accelerators, GPU.accelerators, CPU.accelerators, CUT.accelerators) == (8, 1, 0, 0)
    assert [c.size for c in NODE.chips] == [8, 2, 4]


def test_sets_of_devices() -> None:
    """Row by row over the axes of the groups and their own."""
    s = DeviceSet(0, PARTS, NODE, "", ORIGIN, settings={"nos": "sonic"})
    assert (s.count, s.path, s.name, s.kind, s.nos, len(s.axes)) == (12, "su.rack.node", "node", "host", "sonic", 3)
    assert [s.device_path(k) for k in (0, 1, 2, 4, 11)] == [
        "su[1].rack.node[0, 5]", "su[1].rack.node[0, 6]", "su[1].rack.node[1, 5]",
        "su[2].rack.node[0, 5]", "su[3].rack.node[1, 6]",
    ]  # fmt: skip
    assert DeviceSet(0, PARTS, NODE, "", ORIGIN).nos == ""
