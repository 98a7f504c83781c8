"""Partitions, systems, forwarding hosts, clusters, parameters and misplaced statements: values and refusals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Fix, Severity
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics import cluster, forwards, later, nos, partitions
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import Axis, DeviceModel, DeviceSet, PathComponent, PortClass
from tdsl.semantics.parameters import define_param, note_given_parameters, note_unused_parameters
from tdsl.semantics.partitions import PartitionRule
from tdsl.semantics.plan import Context, FabricPlan, Group
from tdsl.semantics.ranges import ParameterSettings
from tdsl.semantics.scope import DONE, FAILED, Binding, Scope
from tdsl.semantics.values import Value
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_expression, parse_source_file

ORIGIN = Origin(SourceSpan(SourceFile("o.fab", "o"), 0, 1), ((SourceSpan(SourceFile("c.fab", "chain"), 0, 5), "here"),))


def file(text: str) -> tuple[tree.Stmt, ...]:
    """The statements of a file."""
    return parse_source_file(SourceFile("t.fab", text), Diagnostics()).body


def statement(text: str) -> Any:
    """The one statement of a fabric."""
    (fabric,) = file(f"fabric f {{\n{text}\n}}\n")
    assert isinstance(fabric, tree.Decl) and fabric.body is not None
    (s,) = fabric.body
    return s


Refused = tuple[str, str, str, str, list[str]]


def shown(d: Diagnostic) -> Refused:
    """Code, text that is underlined, message, help and labels."""
    return d.code, d.span.text if d.span else "", d.message, d.help, [f"{x.span.text}: {x.message}" for x in d.labels]


def refusal(run: Callable[[], object]) -> Refused:
    with pytest.raises(Fault) as raised:
        run()
    return shown(raised.value.diagnostic)


def plan() -> tuple[FabricPlan, Context, Context]:
    """A fabric with hosts, switches, chips and a panel, and a group ``su``; its own context and that of ``su``."""
    scope = Scope()
    root = Group("f", "fabric", (), None, ORIGIN.span, scope)
    su = Group("su", "group", (Axis(0, 2),), root, ORIGIN.span, scope.child())
    for kind, name, n in (
        ("host", "node", 4),
        ("host", "filer", 1),
        ("switch", "leaf", 2),
        ("chip", "gpu", 3),
        ("panel", "box", 1),
    ):
        blank = ("",) * 2
        nic = PortClass("nic", (Axis(0, 2),), 0, 400, (), (0, 0), "", (0, 1), blank, blank, (), 1, ORIGIN)
        model = DeviceModel(name.upper(), kind, "", (nic,), (), (), (), {}, ORIGIN)
        at = Origin(SourceSpan(SourceFile("d.fab", name), 0, len(name)))
        root.members[name] = DeviceSet(0, (PathComponent(name, kind, (Axis(0, n),)),), model, "", at, settings={"role": "x"})
    root.members["su"] = su
    outer = Context((root,), ())
    return FabricPlan("f", "", ORIGIN, root, Evaluator()), outer, outer.inner(su)


# ---------------------------------------------------------------- partitions


def rule(text: str) -> PartitionRule:
    made, outer, _ = plan()
    partitions.plan_partition(made, statement(text), made.root.scope, outer, ORIGIN)
    (found,) = made.partitions
    assert found.origin is ORIGIN
    return found


@pytest.mark.parametrize(("key", "value"), [("0x1", 1), ("0x8001", 1), ("0x7fff", 0x7FFF), ("0xffff", 0x7FFF), ("300", 300)])
def test_keys_of_partitions(key: str, value: int) -> None:
    """The bit of full membership says nothing."""
    found = rule(f"partition p {key} {{ full node[*] }}")
    assert (found.name, found.key, found.ipoib, len(found.members)) == ("p", value, False, 1)


def test_members_of_partitions() -> None:
    """In order, full or limited, each with the place of its statement."""
    found = rule('partition "a b" 5 { limited node[1..2].nic, leaf; ipoib; full filer }')
    assert (found.name, found.ipoib) == ("a b", True)
    assert [(full, [t.span.text for t in m.targets], m.origin.span.text, m.origin.chain) for full, m in found.members] == [
        (False, ["node[1..2].nic", "leaf"], "limited node[1..2].nic, leaf", ORIGIN.chain),
        (True, ["filer"], "full filer", ORIGIN.chain),
    ]


KEY = "write a key from `0x1` to `0x7fff`; the bit 0x8000 may be written and says nothing"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((f"partition p {key} {{ full node[*] }}", ("E0110", key, f"{shown} is not a key of a partition", KEY))
          for key, shown in (("0x0", "0x0"), ("0x8000", "0x8000"), ("0x10000", "0x10000"), ("0x10001", "0x10001"))),
        ("partition p { full node[*] }",
         ("E0120", "partition p { full node[*] }", "a partition has a name and a key", partitions.EXAMPLE)),
        ("partition p 3, 4 { full node[*] }",
         ("E0120", "partition p 3, 4 { full node[*] }", "a partition has a name and a key", partitions.EXAMPLE)),
        ("partition p x 4 { full node[*] }",
         ("E0120", "partition p x 4 { full node[*] }", "a partition has a name and a key", partitions.EXAMPLE)),
        ("partition 3 4 { full node[*] }", ("E0103", "3", "expected the name of a partition", partitions.EXAMPLE)),
        ("partition p 3 { let x = 3 }", ("E0118", "let x = 3", "the braces of a partition hold its members", partitions.EXAMPLE)),
        ("partition p 3 { ipoib 3 }", ("E0120", "ipoib 3", "`ipoib` takes no value", "")),
        ("partition p 3 { fall node }",
         ("E0118", "fall", "there is no setting of a partition `fall` here", "did you mean `full`?")),
        ("partition p 3 { ipoib }", ("E0120", "partition p 3 { ipoib }", "partition `p` has no members", partitions.EXAMPLE)),
        ("partition p 3", ("E0120", "partition p 3", "partition `p` has no members", partitions.EXAMPLE)),
        ("partition p 3 { full }", ("E0120", "full", "`full` takes paths to devices", "write `full node[*]`")),
        ("partition p 3 { full node { x } }",
         ("E0120", "full node { x }", "`full` takes paths to devices", "write `full node[*]`")),
        ("partition p 3 { full 7 }", ("E0120", "7", "expected a path to devices", "write `full node[*]`")),
        ("partition p 3 { full node x 2 }", ("E0120", "node x 2", "expected a path to devices", "write `full node[*]`")),
        ("partition p 3 { full su }",
         ("E0120", "su", "`su` is a group; ports of devices are meant", "name the devices in it: `su.NAME[*]`")),
    ],
)  # fmt: skip
def test_partitions_that_are_refused(text: str, expected: tuple[str, str, str, str]) -> None:
    assert refusal(lambda: rule(text))[:4] == expected


def test_a_partition_that_was_not_read() -> None:
    with pytest.raises(Excused):
        rule("partition p 3 { ] x }")


def test_subnet_managers() -> None:
    """Hosts, in order."""
    made, outer, _ = plan()
    partitions.plan_subnet_manager(made, statement("subnet_manager node[0], filer"), made.root.scope, outer, ORIGIN)
    assert [[t.span.text for t in m.targets] for m in made.managers] == [["node[0]", "filer"]]
    s = statement("subnet_manager node[0], leaf")
    assert refusal(lambda: partitions.plan_subnet_manager(made, s, made.root.scope, outer, ORIGIN)) == (
        "E0120", "leaf", "a subnet manager runs on a host, and `leaf` is a switch", "write `subnet_manager manager[*]`", [],
    )  # fmt: skip
    assert len(made.managers) == 1


# ---------------------------------------------------------------- operating systems


@pytest.mark.parametrize(
    ("text", "name"), [("nos sonic", "sonic"), ("nos eos", "eos"), ('nos "junos"', "junos"), ('nos "a_1"', "a_1")]
)
def test_operating_systems(text: str, name: str) -> None:
    assert nos.nos_of_setting(statement(text)) == name
    made, outer, inner = plan()
    s = statement(text)
    assert refusal(lambda: nos.plan_fabric_nos(made, s, inner))[:3] == (
        "E0118", text, "`nos` belongs to a fabric, to switches or to a model",
    )  # fmt: skip
    assert made.nos is None
    nos.plan_fabric_nos(made, s, outer)
    assert made.nos == (name, s.span)
    assert refusal(lambda: nos.plan_fabric_nos(made, s, outer)) == (
        "E0104",
        text,
        "`nos` is set twice",
        "",
        [f"{text}: first here"],
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nos", ("E0120", "nos", "`nos` takes the name of an operating system", nos.HELP)),
        ("nos 3", ("E0120", "nos 3", "`nos` takes the name of an operating system", nos.HELP)),
        ("nos sonic x 2", ("E0120", "nos sonic x 2", "`nos` takes the name of an operating system", nos.HELP)),
        ("nos a[1]", ("E0120", "nos a[1]", "`nos` takes the name of an operating system", nos.HELP)),
        ("nos sonic, eos", ("E0120", "eos", "a switch runs one operating system; this names several", nos.HELP)),
        ("nos sonik", ("E0101", "sonik", "there is no network operating system `sonik` here", "did you mean `sonic`?")),
        ("nos junos", ("E0101", "junos", "there is no network operating system `junos` here", nos.HELP)),
        ('nos "a b"', ("E0120", 'nos "a b"', "'a b' is not a name: letters, digits and `_`", nos.HELP)),
        ('nos "\u00e9os"', ("E0120", 'nos "\u00e9os"', "'\u00e9os' is not a name: letters, digits and `_`", nos.HELP)),
    ],
)  # fmt: skip
def test_operating_systems_that_are_refused(text: str, expected: tuple[str, str, str, str]) -> None:
    assert refusal(lambda: nos.nos_of_setting(statement(text)))[:4] == expected


# ---------------------------------------------------------------- hosts that forward

SWITCHES = "delete `forwards`: switches always forward"


@pytest.mark.parametrize(
    ("kind", "help"), [("switch", SWITCHES), ("ocs", "hosts and chips may"), ("panel", "hosts and chips may")]
)
def test_kinds_that_forward(kind: str, help: str) -> None:
    s = statement("forwards")
    assert [forwards.read_forwards_setting(s, k) for k in ("host", "chip")] == [True, True]
    assert refusal(lambda: forwards.read_forwards_setting(s, kind)) == (
        "E0118",
        "forwards",
        f"a {kind} takes no `forwards`",
        help,
        [],
    )
    with pytest.raises(Fault):
        forwards.read_forwards_setting(statement("forwards 3"), "host")
    with pytest.raises(Fault):
        forwards.read_forwards_setting(statement("forwards { x }"), "host")


def test_declarations_that_forward() -> None:
    """Those that are named, with their other settings."""
    made, outer, _ = plan()
    forwards.plan_forwards_statement(made, statement("forwards node, gpu"), outer)
    assert {s.name: dict(s.settings) for s in made.root.sets()} == {
        name: {"role": "x"} | ({"forwards": True} if name in ("node", "gpu") else {})
        for name in ("node", "filer", "leaf", "gpu", "box")
    }


@pytest.mark.parametrize("text", ["forwards node x 2", "forwards node, gpu x 2", "forwards node { x }"])
def test_more_than_names_of_declarations(text: str) -> None:
    made, outer, _ = plan()
    assert refusal(lambda: forwards.plan_forwards_statement(made, statement(text), outer))[0] in ("E0118", "E0120")
    assert not any("forwards" in s.settings for s in made.root.sets())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("forwards", ("E0120", "forwards", "`forwards` names the hosts or chips that pass traffic on", "`forwards host`", [])),
        ("forwards node[*]",
         ("E0120", "node[*]", "a declaration forwards as a whole", "write its name without an index: `forwards host`", [])),
        ("forwards 3",
         ("E0120", "3", "a declaration forwards as a whole", "write its name without an index: `forwards host`", [])),
        ("forwards su", ("E0120", "su", "this is a group; hosts and chips forward", "name the devices in it: `su.NAME[*]`", [])),
        ("forwards node.nic", ("E0120", "nic", "expected a path to devices, not to their ports", "", [])),
        ("forwards node, leaf", ("E0118", "leaf", "a switch takes no `forwards`", SWITCHES, ["leaf: declared here"])),
    ],
)  # fmt: skip
def test_statements_of_forwarding_that_are_refused(text: str, expected: Refused) -> None:
    made, outer, _ = plan()
    assert refusal(lambda: forwards.plan_forwards_statement(made, statement(text), outer)) == expected


# ---------------------------------------------------------------- clusters


def members(text: str) -> tuple[list[cluster.ClusterMember], list[Refused]]:
    (node,) = file(text)
    entry: Any = SimpleNamespace(node=node, home="home")
    found = Diagnostics()
    made = list(cluster.fabrics_of_entry(entry, found))
    assert all(m.home == "home" for m in made)
    return made, [shown(d) for d in found.items]


CLUSTER = """cluster c {
  let k = 3
  host node[4]: NODE
  host filer: FILER
  switch leaf: SW
  group su { host a: NODE }
  omit node[3], filer
  naming filer "x"
  override node[1]: OTHER
  require links > 3
  if k > 2 { let z = 4 }
  fabric f { connect node[0] to leaf }
  fabric g { connect su.a to filer; require links of leaf > 2 }
}
"""


def test_what_a_cluster_lends() -> None:
    """Values and requirements to all; to each the devices that its connects and settings name, and what is said of them."""
    made, found = members(CLUSTER)
    assert found == [] and [(m.node.name.name, m.cluster) for m in made] == [("f", "c"), ("g", "c")]
    assert [[s.span.text.split("\n")[0] for s in m.node.body or ()] for m in made] == [
        ["let k = 3", "host node[4]: NODE", "switch leaf: SW", "omit node[3], filer", "override node[1]: OTHER",
         "require links > 3", "if k > 2 { let z = 4 }", "connect node[0] to leaf"],
        ["let k = 3", "host filer: FILER", "group su { host a: NODE }", "omit node[3], filer", 'naming filer "x"',
         "require links > 3", "if k > 2 { let z = 4 }", "connect su.a to filer", "require links of leaf > 2"],
    ]  # fmt: skip
    omits = [[p.span.text for p in s.paths] for m in made for s in m.node.body or () if isinstance(s, tree.Omit)]
    assert omits == [["node[3]"], ["filer"]]


def test_names_in_brackets_are_named() -> None:
    """A device that stands in an index is lent too: the index is judged where it is used. One that no fabric names
    belongs to the first."""
    (made,), _ = members("cluster c {\n  host a: A\n  host b: B\n  host q: Q\n  fabric f { connect a[b] to z }\n}\n")
    assert [s.name.name for s in made.node.body or () if isinstance(s, tree.Decl)] == ["a", "b", "q"]


def test_places_that_are_lent() -> None:
    """Inside the cluster and outside the fabric; the bounds themselves are inside."""
    (f, g), _ = members(CLUSTER)
    source = f.node.span.file

    def at(text: str, add: int = 0) -> SourceSpan:
        start = CLUSTER.index(text)
        return SourceSpan(source, start, start + len(text) + add)

    assert [f.lends(at(x)) for x in ("let k = 3", "host filer: FILER", "fabric g", "connect node[0] to leaf")] == [
        True, True, True, False,
    ]  # fmt: skip
    assert f.around is not None and f.lends(f.around) and not f.lends(f.node.span) and g.lends(f.node.span)
    assert not f.lends(SourceSpan(source, f.around.start, f.around.end + 1))
    assert not f.lends(SourceSpan(SourceFile("t.fab", CLUSTER), 20, 24))
    (alone,), _ = members("fabric f { switch a: S }\n")
    assert (alone.cluster, alone.around, alone.lends(alone.node.span)) == ("", None, False)


def test_clusters_that_are_refused() -> None:
    made, found = members("cluster c { switch a: S }\n")
    assert (made, found) == ([], [
        ("E0122", "c", "this cluster declares no fabric, so there is nothing to check",
         "write `fabric NAME { … }` in its braces", []),
    ])  # fmt: skip
    made, found = members(
        "cluster c {\n  connect a to b\n  layer scaleup\n  fabric f { }\n  fabric f { let x = 1 }\n  fabric g { }\n}\n"
    )
    assert [m.node.name.name for m in made] == ["f", "g"] and [m.node.body for m in made] == [(), ()]
    move = "move it between the braces of a `fabric`"
    assert found == [
        ("E0118", "connect a to b", "this belongs to one of the cluster's fabrics", move, []),
        ("E0118", "layer scaleup", "this belongs to one of the cluster's fabrics", move, []),
        ("E0104", "f", "`f` is already declared in this cluster", "", ["f: first here"]),
    ]


# ---------------------------------------------------------------- parameters


def param(text: str, texts: dict[str, str] | None = None, phase: str = "", values: dict[str, Value] | None = None) -> Any:
    """The value of a parameter in a scope where ``k`` is 5, and the scope."""
    scope = Scope()
    scope.set("k", 5, ORIGIN.span)
    given: dict[str, tree.Expr] = {}
    if phase:
        e = parse_expression(phase, "phase.fab", Diagnostics())
        assert e is not None
        given["n"] = e
    s = statement(text)
    return define_param(scope, s, Evaluator(), ParameterSettings(texts=texts or {}, phase=given, values=values or {})), scope, s


@pytest.mark.parametrize(
    ("text", "given", "phase", "values", "expected"),
    [
        ("param n: int = k + 1", {}, "", {}, 6),
        ("param n = 3", {"m": "7"}, "", {}, 3),
        ("param n: int = 3", {"n": "k*2"}, "", {}, 10),
        ("param n: int = 3", {}, "4", {}, 4),
        ("param n: int = 3", {"n": "8"}, "4", {}, 8),
        ("param n: int = 3", {"n": "8"}, "4", {"n": 9}, 9),
        ("param n: string = \"a\"", {"n": "x y"}, "", {}, "x y"),
        ("param n: string = \"a\"", {"n": '"x{k}"'}, "", {}, "x5"),
        ("param n = \"a\"", {"n": '"b"'}, "", {}, "b"),
        ("param n: int = 3 where n >= 3", {}, "", {}, 3),
        ("param n: int = 3 where n >= 3", {"n": "4"}, "", {}, 4),
        ("param n: int = 3 where n >= 3", {}, "5", {}, 5),
        ("param n = 3", {}, "5", {}, 5),
    ],
)  # fmt: skip
def test_values_of_parameters(text: str, given: dict[str, str], phase: str, values: dict[str, Value], expected: Value) -> None:
    """What a caller gives, ``--set``, the phase and the default, in this order."""
    value, scope, s = param(text, given, phase, values)
    binding = scope.names["n"]
    assert value == expected == binding.value and (binding.what, binding.state, binding.node) == ("param", DONE, s)


MUST = "give a value for which `n > 3` holds: `--set n=…`, or another default"


@pytest.mark.parametrize(
    ("text", "given", "phase", "expected"),
    [
        ("param n: int = 3 where n > 3", {}, "",
         ("E0110", "n > 3", "`n` is 3, and this must hold", MUST, ["3: its default"])),
        ("param n: int = 4 where n > 3", {"n": "2"}, "",
         ("E0110", "n > 3", "`n` is 2 (given by --set n=2), and this must hold", MUST, [])),
        ("param n: int = 4 where n > 3", {}, "3",
         ("E0110", "n > 3", "`n` is 3, and this must hold", MUST, ["3: given here"])),
        ("param n = 4", {"n": "true"}, "", ("E0103", "4", "`n` is an int (given by --set n=true), not a bool", "", [])),
        ("param n = 4", {}, "true", ("E0103", "true", "`n` is an int, not a bool", "", [])),
        ("param n: int = 4", {}, "true",
         ("E0103", "true", "this must be of type int and is a bool", "", ["int: asked for here"])),
        ("param n: int = 4", {"n": "1 +"}, "", ("E0103", "n", "--set n=1 + is not a value", "write `--set n=4`", [])),
        ("param n: int = 4", {"n": "1 // 0"}, "", ("E0103", "n", "--set n=1 // 0: `//` by zero", "", [])),
        ("param n: string = \"a\"", {"n": "x\ty"}, "",
         ("E0103", "n", "--set n='x\\ty': a text has no line ends, tabs and hidden characters", "", [])),
    ],
)  # fmt: skip
def test_parameters_that_are_refused(text: str, given: dict[str, str], phase: str, expected: Refused) -> None:
    assert refusal(lambda: param(text, given, phase)) == expected


def test_a_parameter_that_rests_on_itself() -> None:
    scope = Scope()
    s = statement("param n: int = n + 1")
    assert refusal(lambda: define_param(scope, s, Evaluator(), ParameterSettings()))[:3] == (
        "E0114", "n", "`n` is defined in terms of itself",
    )  # fmt: skip
    assert scope.names["n"].state == FAILED
    settings = ParameterSettings(values={"n": 3}, domains=[])
    assert refusal(lambda: define_param(Scope(), s, Evaluator(), settings))[0] == "E0114", "its default is read for its values"
    assert refusal(lambda: define_param(scope, s, Evaluator(), ParameterSettings()))[:3] == (
        "E0104", "n", "`n` is already defined in this block",
    )  # fmt: skip


def test_a_value_that_rests_on_an_error() -> None:
    """What ``--set`` names has an error of its own: the parameter is excused."""
    scope = Scope()
    scope.define("bad", Binding("let", ORIGIN.span, state=FAILED))
    with pytest.raises(Excused):
        define_param(scope, statement("param n: int = 2"), Evaluator(), ParameterSettings(texts={"n": "bad + 1"}))
    assert scope.names["n"].state == FAILED


def test_values_that_a_parameter_may_have() -> None:
    """They are added where they are asked for, whatever value it has."""
    settings = ParameterSettings(values={"n": 3}, domains=[])
    assert define_param(Scope(), statement("param n: int = 2 where 1 <= n <= 4"), Evaluator(), settings) == 3
    assert settings.domains is not None and [(d.name, list(d.choices or ())) for d in settings.domains] == [("n", [1, 2, 3, 4])]


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("param a: int = 1\nfabric f { switch s[a]: S }\n", []),
        ("param a: int = 1\nfabric f { switch s: S }\n", ["a"]),
        ("param a: int = a\n", ["a"]),
        ("param a: int = 1\nparam b: int = a\n", ["b"]),
        ("param a: int = 1\nparam b: int = 2 where b > a\nlet x = b\n", []),
        ("fabric f { param a: int = 1\n param b: int = 2\n if b > 1 { let a = 3 } }\n", []),
        ("fabric f { param a: int = 1 where a > 0 }\n", ["a"]),
        ("param a: int = 1\n] a\n", []),
    ],
)
def test_parameters_that_nothing_uses(text: str, idle: list[str]) -> None:
    """Their own default and guard are no use; others' are."""
    found = Diagnostics()
    note_unused_parameters(file(text), found)
    assert [(*shown(d), d.severity) for d in found.items] == [
        ("E0127", n, f"nothing in this file uses `{n}`", "use it or remove it: its value has no effect", [], Severity.NOTE)
        for n in idle
    ]


def test_errors_that_name_a_given_parameter() -> None:
    """Each once, in the order of the text; notes and errors without a place stay."""
    at = SourceSpan(SourceFile("t.fab", "n + m*n - q"), 0, 11)
    texts = {"m": "7", "n": "8", "z": "1"}
    d = Diagnostic("E0110", "m", at, notes=("first",))
    assert note_given_parameters(d, texts).notes == ("first", "`n` is given by `--set n=8`", "`m` is given by `--set m=7`")
    assert note_given_parameters(d, {"z": "1"}) is d
    for other in (
        Diagnostic("E0110", "m", None), Diagnostic("E0110", "given by --set n=8", at),
        Diagnostic("E0110", "m", at, severity=Severity.NOTE), Diagnostic("E0110", "m", at, severity=Severity.WARNING),
    ):  # fmt: skip
        assert note_given_parameters(other, texts) is other


# ---------------------------------------------------------------- statements in the wrong place


def misplaced(s: tree.Stmt, folder: Path) -> Diagnostic:
    scope = Scope()
    topology = SimpleNamespace(node=file("topology star() { }\n")[0])
    home: Any = SimpleNamespace(names={"star": topology, "other": SimpleNamespace(node=None)}, used={})
    library: Any = SimpleNamespace(loader=SimpleNamespace(paths=[folder]))
    with pytest.raises(Fault) as raised:
        later.refuse_later(s, scope, library, home)
    assert scope.excused == ({s.name.name} if isinstance(s, tree.TierDecl) else set())
    return raised.value.diagnostic


TOP = "move it to the top of the file"
HALL = "`hall h1 { row A { rack 1..8 { height 48U } } }`"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tier leaf of 2 hosts { switch S }", ("leaf", "`tier` belongs in the block of a topology", "")),
        ("hosts 3 x S", ("hosts 3 x S", "`hosts` belongs in the block of a fabric or a group", later.INSTEAD)),
        ("planes 3", ("planes 3", "`planes` belongs in the block of a fabric or a group", later.INSTEAD)),
        ("pitch rack 1m", ("pitch rack 1m", "`pitch` belongs in the block of a hall", HALL)),
        ("row A { rack 1 }", ("row A { rack 1 }", "`row` belongs in the block of a hall", HALL)),
        ("height 3U", ("height 3U", "`height` belongs in the block of a model, or of a rack in a hall", "")),
        ("power 3kW", ("power 3kW", "`power` belongs in the block of a model, or of a rack in a hall", "")),
        ("asn a[*] from 3", ("asn a[*] from 3", "`asn` belongs in `routing bgp`",
                             "write `routing bgp { asn leaf[*] from 4_200_000_000 }`")),
        ("phase 3 { a 1 }", ("phase 3 { a 1 }", "`phase` belongs in the fabric's own block", "move it out of these braces")),
        ("star 3", ("star", "`star` is a topology, which belongs in the block of a fabric or a group", later.INSTEAD)),
        ("conect 3", ("conect", "there is no statement `conect` here", "did you mean `connect`?")),
        ("pods_ 3", ("pods_", "there is no statement `pods_` here", "did you mean `pods`?")),
        ("stars 3", ("stars", "there is no statement `stars` here", "did you mean `star`?")),
        ("model switch S { port p: 1Gbps }", ("model switch S { port p: 1Gbps }", "`model` has no meaning in this place", TOP)),
        ("topology t() { }", ("topology t() { }", "`topology` has no meaning in this place", TOP)),
        ("fabric g { }", ("fabric g { }", "`fabric` has no meaning in this place", TOP)),
        ("cluster g { }", ("cluster g { }", "`cluster` has no meaning in this place", "")),
    ],
)  # fmt: skip
def test_misplaced_statements(text: str, expected: tuple[str, str, str], tmp_path: Path) -> None:
    d = misplaced(statement(text), tmp_path)
    assert (d.code, *shown(d)[1:4], d.fix is None) == ("E0118", *expected, "did you mean" not in expected[2])


def test_use_in_a_block(tmp_path: Path) -> None:
    (s,) = file("use designs.tpu_v4 (tpu_v4)\n")
    assert shown(misplaced(s, tmp_path)) == ("E0120", s.span.text, "`use` belongs at the top of a file", "", [])


def test_units_are_not_built(tmp_path: Path) -> None:
    d = misplaced(statement("units 4"), tmp_path)
    said = "`units` counts scalable units, which this version reads and does not build"
    assert shown(d) == ("E0117", "units", said, "use a param and `--set`", [])


def test_words_of_other_languages(tmp_path: Path) -> None:
    """The word that is meant, with a fix."""
    word, instead = next((w, i) for w, i in sorted(later.INSTEAD_OF.items()) if w.isidentifier())
    s = statement(f"{word.capitalize()} 3")
    d = misplaced(s, tmp_path)
    assert shown(d) == (
        "E0118", word.capitalize(), f"there is no statement `{word.capitalize()}` here; the word is `{instead}`",
        f"write `{instead}`", [],
    )  # fmt: skip
    assert d.fix == Fix(f"write `{instead}`", ((s.name.span, instead),), safe=False)
