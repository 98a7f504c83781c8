"""Cables and transceivers that a connect names: what is kept, and names that are none; overrides and namings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics import statements
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import Axis, DeviceModel, DeviceSet, PathComponent
from tdsl.semantics.plan import Context, FabricPlan, Group
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

ORIGIN = Origin(SourceSpan(SourceFile("o.fab", "o"), 0, 1))
KINDS = {"DAC": "cable", "AOC": "cable", "SR4": "optic", "DR4": "optic", "SW": "switch", "HOST": "host"}
FACTS = {"DAC": {"medium": "copper"}, "AOC": {}}


def statement(text: str) -> Any:
    """The one statement of a fabric."""
    (fabric,) = parse_source_file(SourceFile("t.fab", f"fabric f {{\n{text}\n}}\n"), Diagnostics()).body
    assert isinstance(fabric, tree.Decl) and fabric.body is not None
    (s,) = fabric.body
    return s


def model(name: str) -> DeviceModel:
    return DeviceModel(name, KINDS[name], "", (), (), (), (), FACTS.get(name, {}), ORIGIN)


def declared(name: str) -> Any:
    (node,) = parse_source_file(SourceFile("m.fab", f"model {KINDS[name]} {name} {{ }}\n"), Diagnostics()).body
    return SimpleNamespace(node=node, name=name)


HOME: Any = SimpleNamespace(
    names={n: declared(n) for n in ("DAC", "SR4", "SW", "HOST")}, used={n: declared(n) for n in ("AOC", "DR4")}
)
LIBRARY: Any = SimpleNamespace(
    entry=lambda home, name: home.names.get(name) or home.used.get(name), build=lambda entry, span: model(entry.name),
    loader=SimpleNamespace(catalogue=lambda: ["LISTED"]), model=lambda home, name, span: model(name),
)  # fmt: skip


def plan() -> tuple[FabricPlan, Context]:
    """A fabric with switches ``a[2]`` and ``b[2]``, a host and a group."""
    root = Group("f", "fabric", (), None, ORIGIN.span, Scope())
    for name, kind in (("a", "SW"), ("b", "SW"), ("h", "HOST")):
        root.members[name] = DeviceSet(0, (PathComponent(name, KINDS[kind], (Axis(0, 2),)),), model(kind), "", ORIGIN)
    root.members["g"] = Group("g", "group", (), root, ORIGIN.span, root.scope.child())
    return FabricPlan("f", "", ORIGIN, root, Evaluator()), Context((root,), ())


def wired(braces: str, ends: str = "a to b") -> tuple[dict[str, Any], FabricPlan]:
    made, context = plan()
    s = statement(f"connect {ends} each {{ {braces} }}")
    try:
        statements.plan_connect(made, LIBRARY, HOME, s, made.root.scope, context, ORIGIN)
    except (Fault, Excused):
        assert made.wires == [] and {"a", "b"} <= made.excused
        raise
    (w,) = made.wires
    assert (w.node, w.origin) == (s, ORIGIN) and made.excused == set()
    return dict(w.settings), made


@pytest.mark.parametrize(
    ("braces", "expected"),
    [
        ("rate 400Gbps", {}),
        ("cable DAC", {"part": "DAC", "medium": "copper"}),
        ("cable DAC; medium fibre", {"part": "DAC", "medium": "fibre"}),
        ("cable AOC", {"part": "AOC"}),
        ("cable AOC carries 2", {"part": "AOC", "carries": 2}),
        ('cable "any part"', {}),
        ("optic SR4", {"optics": ("SR4", "SR4")}),
        ("optic SR4, DR4", {"optics": ("SR4", "DR4")}),
        ("allow DAC, DR4, SR4", {"allowed": ("DAC", "DR4", "SR4")}),
    ],
)  # fmt: skip
def test_parts(braces: str, expected: dict[str, Any]) -> None:
    """The cable with its medium, where none is written; a transceiver for each end; parts that are allowed."""
    found, _ = wired(braces)

    def plain(v: Any) -> Any:
        return tuple(map(plain, v)) if isinstance(v, tuple) else v.name if isinstance(v, DeviceModel) else v

    kept = {k: plain(v) for k, v in found.items() if k in ("part", "optics", "allowed", "medium", "carries")}
    assert {k: str(v) if k == "medium" else v for k, v in kept.items()} == expected


@pytest.mark.parametrize(
    ("braces", "expected"),
    [
        ("cable DAK", ("E0102", "DAK", "there is no cable `DAK` here", "did you mean `DAC`?")),
        ("cable SR4", ("E0102", "SR4", "there is no cable `SR4` here", "known here: `AOC`, `DAC`, `LISTED`")),
        ("optic SR5", ("E0102", "SR5", "there is no optic `SR5` here", "did you mean `SR4`?")),
        ("optic DAC", ("E0102", "DAC", "there is no optic `DAC` here", "known here: `DR4`, `LISTED`, `SR4`")),
        ("optic SR4, QQ", ("E0102", "QQ", "there is no optic `QQ` here", "known here: `DR4`, `LISTED`, `SR4`")),
        ("optic 3", ("E0102", "3", "there is no optic `3` here", "known here: `DR4`, `LISTED`, `SR4`")),
        ("optic SR4, DR4, SR4",
         ("E0120", "optic SR4, DR4, SR4", "a cable has two ends", "`optic A, B`, or `optic A` for both")),
        ("allow SW", ("E0102", "SW", "there is no cable or optic `SW` here", "known here: `AOC`, `DAC`, `DR4`, `LISTED`, `SR4`")),
        ("allow DAC, ZZ",
         ("E0102", "ZZ", "there is no cable or optic `ZZ` here", "known here: `AOC`, `DAC`, `DR4`, `LISTED`, `SR4`")),
        ("carries 2", ("E0118", "carries", "`carries` follows the cable that it is about", "write `cable PART carries 2`")),
        ("rates 3", ("E0118", "rates", "there is no setting of a connect `rates` here", "did you mean `rate`?")),
        ("rate 400Gbps; rate 200Gbps", ("E0104", "rate 200Gbps", "`rate` is set twice", "")),
        ("let x = 3", ("E0118", "let x = 3", "a connect's braces hold settings only", "")),
    ],
)  # fmt: skip
def test_braces_that_are_refused(braces: str, expected: tuple[str, str, str, str]) -> None:
    with pytest.raises(Fault) as raised:
        wired(braces)
    d = raised.value.diagnostic
    assert (d.code, d.span.text if d.span else "", d.message, d.help) == expected


def test_braces_that_were_not_read() -> None:
    with pytest.raises(Excused):
        wired("] x")


@pytest.mark.parametrize(("ends", "group"), [("g to b", "g"), ("a to g", "g"), ("a to b via g", "g")])
def test_groups_are_not_cabled(ends: str, group: str) -> None:
    made, context = plan()
    with pytest.raises(Fault) as raised:
        statements.plan_connect(made, LIBRARY, HOME, statement(f"connect {ends}"), made.root.scope, context, ORIGIN)
    d = raised.value.diagnostic
    assert (d.message, d.help) == (f"`{group}` is a group; cables join devices", "name a device in it")
    assert made.excused == set(ends.replace(" to ", " ").replace(" via ", " ").split())


def test_kinds_of_parts() -> None:
    nodes = [declared(n).node for n in KINDS]
    assert [statements.is_cable(n) for n in nodes] == [True, True, False, False, False, False]
    assert [statements.is_optic(n) for n in nodes] == [False, False, True, True, False, False]
    assert not statements.is_cable(statement("switch a: SW")) and not statements.is_optic(None)


def test_overrides_and_namings() -> None:
    """Devices of the same kind; nothing beside the model."""
    made, context = plan()

    def run(text: str) -> None:
        s = statement(text)
        if isinstance(s, tree.Naming):
            statements.plan_naming(made, s, made.root.scope, context, ORIGIN)
        elif isinstance(s, tree.Omit):
            statements.plan_omit(made, s, s.paths[0], made.root.scope, context, ORIGIN)
        else:
            statements.plan_override(made, LIBRARY, HOME, s, made.root.scope, context, ORIGIN)

    for text in ("override a[1]: SW", 'naming b "x"', "omit g"):
        run(text)
    assert [(p.target.span.text, p.model.name if p.model else "") for p in (*made.overrides, *made.namings, *made.omits)] == [
        ("a[1]", "SW"), ("b", ""), ("g", ""),
    ]  # fmt: skip
    for text, expected in (
        ("override g: SW", ("E0120", "g", "an override names devices, not a group", "")),
        ("override a[1]", ("E0120", "override a[1]", "an override says which model replaces the one declared",
                           "`override leaf[3]: MODEL`")),
        ("override a[1]: HOST", ("E0102", "HOST", "HOST is a host and cannot replace a switch", "")),
        ("override a[1]: SW { asn 3 }", ("E0118", "asn 3", "an override takes a model only", "")),
        ('naming g "x"', ("E0120", "g", "a naming names devices, and this is a group", "")),
    ):  # fmt: skip
        with pytest.raises(Fault) as raised:
            run(text)
        d = raised.value.diagnostic
        assert (d.code, d.span.text if d.span else "", d.message, d.help) == expected
    assert (len(made.overrides), len(made.namings)) == (1, 1)
