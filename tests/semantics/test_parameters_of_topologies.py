"""Parameters of topologies: values by type, what is refused, ratios and patterns, and names in expressions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import Axis, DeviceModel, PortClass
from tdsl.semantics.scope import DONE, Scope
from tdsl.semantics.sizing import Aim
from tdsl.semantics.topology import (
    Binder,
    Instance,
    Joining,
    contains_broken_statement,
    read_joining_pattern,
    read_ratio_aim,
    require_parameters,
)
from tdsl.semantics.unfold import expression_of_value, names_in
from tdsl.semantics.values import ModelValue, Value, text_of
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_expression, parse_source_file

RATIO = "a ratio is `7:1`, `about 7:1` or `at most 7:1`"
PATTERNS = "`each`, `each x 2`, `spread`, `via ocs MODEL`"
AT = SourceSpan(SourceFile("s.fab", "here"), 0, 4)


CUT = ModelValue("SW", settings=(tree.Naming(tree.PathExpr((), AT), tree.Str((), AT), None, AT),))


def parsed(text: str) -> tree.Expr:
    """An expression."""
    found = parse_expression(text, "x", Diagnostics())
    assert found is not None
    return found


def setting(text: str) -> tree.Setting:
    """A setting of a fabric."""
    (fabric,) = parse_source_file(SourceFile("t.fab", f"fabric f {{\n{text}\n}}\n"), Diagnostics()).body
    assert isinstance(fabric, tree.Decl) and fabric.body is not None
    (s,) = fabric.body
    assert isinstance(s, tree.Setting)
    return s


def topology(formals: str, body: str = "") -> tree.TopologyDecl:
    (node,) = parse_source_file(SourceFile("t.fab", f"topology t({formals}) {{ {body} }}\n"), Diagnostics()).body
    assert isinstance(node, tree.TopologyDecl)
    return node


def model(name: str) -> DeviceModel:
    """A switch of eight ports that may be split by two."""
    blank, origin = ("",) * 8, Origin(AT)
    c = PortClass("p", (Axis(1, 8),), 0, 400, (), (0,) * 8, "", tuple(range(8)), blank, blank, (2,), 1, origin)
    return DeviceModel(name, "switch", "", (c,), (), (), (), {}, origin)


def scope(**values: Value) -> Scope:
    made = Scope()
    for name, value in values.items():
        made.set(name, value, AT)
    return made


def bound(formals: str, written: str, body: str = "", given: dict[str, Value] | None = None) -> Instance:
    """A topology ``t`` whose parameters a block fills; the text of the block knows ``k`` as 5, a ratio and a model."""
    outer = scope(k=5, half=Fraction(1, 2), goal=Aim("about", Fraction(3)), m=ModelValue("SW"), word="leaf", cut=CUT)
    entry: Any = SimpleNamespace(node=topology(formals, body), home=SimpleNamespace(scope=scope(home=9)))
    evaluator = Evaluator(is_model=lambda name: name.isupper())
    binder = Binder(entry, setting(written), outer, evaluator, given or {}, lambda path: model(str(path.bare)))
    return binder.run()


def values(formals: str, written: str, **more: Any) -> dict[str, Value]:
    """Values of the parameters."""
    made = bound(formals, written, **more)
    assert all((b.what, b.state) == ("argument", DONE) for b in made.scope.names.values())
    return {name: b.value for name, b in made.scope.names.items()}


def refusal(run: Callable[[], object]) -> tuple[str, str, str, str, list[str]]:
    """Code, text that is underlined, message, help and labels."""
    with pytest.raises(Fault) as raised:
        run()
    d = raised.value.diagnostic
    assert d.span is not None
    return d.code, d.span.text, d.message, d.help, [f"{x.span.text}: {x.message}" for x in d.labels]


@pytest.mark.parametrize(
    ("formals", "written", "expected"),
    [
        ("a: int", "t 3", {"a": 3}),
        ("a: int, b: int = 7", "t { a k + 1 }", {"a": 6, "b": 7}),
        ("a: int, b: int = a*2", "t 3", {"a": 3, "b": 6}),
        ("a: int, b: int = home", "t { a 3 }", {"a": 3, "b": 9}),
        ("e: ports, a: int", "t 3", {"a": 3}),
        ("a: list", "t 3, 4", {"a": (3, 4)}),
        ("a: list", "t [3, 4]", {"a": (3, 4)}),
        ("a: list", "t { a 3 }", {"a": (3,)}),
        ("a: list", "t [3, 4], 5", {"a": ((3, 4), 5)}),
        ("a: string", 't "x y"', {"a": "x y"}),
        ("a: string", "t spine", {"a": "spine"}),
        ("a: string", "t word", {"a": "leaf"}),
        ("a: bool = false", "t", {"a": False}),
        ("a: ratio = 3:2", "t", {"a": Fraction(3, 2)}),
        ("a: ratio", "t about 7:2", {"a": Aim("about", Fraction(7, 2))}),
        ("a: ratio", "t at most 5", {"a": Aim("at most", Fraction(5))}),
        ("a: ratio", "t goal", {"a": Aim("about", Fraction(3))}),
        ("a: model", "t SW", {"a": "SW"}),
        ("a: model", "t m", {"a": "SW"}),
        ("a: pattern", "t each", {"a": "each"}),
        ("a: pattern = spread", "t", {"a": "spread"}),
        ("a: table = \"N:int\"", "t", {"a": ()}),
        ("a: table = \"N:int\"", "t 4, 5", {"a": ((4,), (5,))}),
        ("a: table = \"N:int\"", "t { a 4; a 6 }", {"a": ((4,), (6,))}),
    ],
)  # fmt: skip
def test_values_of_parameters(formals: str, written: str, expected: dict[str, Any]) -> None:
    """The first parameter that is no port may stand behind the name; defaults may use parameters before them."""

    def plain(v: Any) -> Any:
        if isinstance(v, ModelValue):
            return v.name
        if isinstance(v, Joining):
            return v.pattern.name.name if v.pattern else ""
        return tuple(plain(x) for x in v) if isinstance(v, tuple) else v

    assert {k: plain(v) for k, v in values(formals, written).items()} == expected


def test_values_that_a_caller_gives() -> None:
    """They come before the default, and after what is written."""
    assert values("a: int = 1, b: int = 2, c: int", "t { a 4 }", given={"a": 8, "b": 9, "c": 7}) == {"a": 4, "b": 9, "c": 7}


def test_what_nobody_gives() -> None:
    """Without a default it is missing; it is refused where it is used."""
    made = bound("e: ports, a: int, b: model, c: int = 3", "t")
    assert (list(made.missing), list(made.scope.names), made.ends, made.tiers) == (["a", "b"], ["c"], "e", ())
    assert bound("a: int", "t 3").ends == ""
    require_parameters(made, ["x", "c"], AT)
    assert refusal(lambda: require_parameters(made, ["c", "b", "a"], AT)) == (
        "E0115", "here", "`t` needs `b` of type model", "write `b …` in its braces", ["b: asked for here"],
    )  # fmt: skip


def test_settings_of_the_devices_of_a_model() -> None:
    """They are kept with the model's name, and refused where they do not fit it."""
    (value,) = values("a: model", "t { a SW { split p 2 } }").values()
    assert isinstance(value, ModelValue) and [x.span.text for x in value.settings] == ["split p 2"]  # type: ignore[attr-defined]
    assert refusal(lambda: bound("a: model", "t { a SW { split q 2 } }"))[:2] == ("E0101", "split q 2")


def test_a_value_that_has_settings_keeps_them() -> None:
    """Where the block writes none of its own."""
    assert values("a: model", "t cut") == {"a": CUT}
    assert values("a: model", "t { a cut }") == {"a": CUT}


def test_tiers_of_a_block() -> None:
    tiers = "tier leaf of 2 hosts { switch SW }"
    made = bound("a: int = 3", f"t {{ {tiers} }}", "tier x of 2 hosts { switch SW }")
    assert [x.name.name for x in made.tiers] == ["leaf"]
    assert refusal(lambda: bound("a: int = 3", f"t {{ {tiers} }}", "switch s: SW")) == (
        "E0118", tiers, "`t` has no tiers", "", ["t: declared here"],
    )  # fmt: skip


ONE = "write each setting on its own line, or separate settings with `;`"


@pytest.mark.parametrize(
    ("formals", "written", "expected"),
    [
        ("", "t 3", ("E0118", "3", "`t` takes no value", "")),
        ("e: ports", "t 3", ("E0118", "3", "`t` takes no value", "")),
        ("a: int", "t { let x = 3 }", ("E0118", "let x = 3", "the braces of `t` hold settings only", "")),
        ("a: int, width: int", "t { with 3 }",
         ("E0118", "with", "there is no setting of `t` called `with` here", "did you mean `width`?")),
        ("e: ports, a: int", "t { e 3 }", ("E0118", "e", "there is no setting of `t` called `e` here", "known here: `a`")),
        ("a: int", "t 3 { a 4 }", ("E0104", "a 4", "`a` is set twice", "")),
        ("a: int", "t { a 3; a 4 }", ("E0104", "a 4", "`a` is set twice", "")),
        ("a: int", "t { a }", ("E0120", "a", "`a` needs a value", "")),
        ("a: int", "t { a 3 { x } }", ("E0118", "x", "`a` of `t` takes no block", "write `a 3`")),
        ("a: int", "t { a 3 { } }", ("E0118", "a 3 { }", "`a` of `t` takes no block", "write `a 3`")),
        ("a: int", "t { a 3, 4 }", ("E0120", "4", "`a` is one int", ONE)),
        ("a: ratio", "t { a 3:1, 4:1 }", ("E0120", "4:1", "`a` is one ratio", ONE)),
        ("a: int", "t { a 3 x 4 }", ("E0120", "3 x 4", "`a` is one int, without a count or other words", "write `a 3`")),
        ("a: list", "t { a 3, 4 x 2 }", ("E0120", "4 x 2", "`a` is one list, without a count or other words", "write `a 4`")),
        ("a: int", 't { a "x" }', ("E0103", '"x"', "this must be of type int and is a string", "")),
        ("a: int = \"x\"", "t", ("E0103", "a", "this must be of type int and is a string", "")),
    ],
)  # fmt: skip
def test_blocks_that_are_refused(formals: str, written: str, expected: tuple[str, ...]) -> None:
    assert refusal(lambda: bound(formals, written))[:4] == expected


def test_what_a_caller_gives_has_the_type_of_the_parameter() -> None:
    assert refusal(lambda: bound("a: int", "t { }", given={"a": "x"}))[:2] == ("E0103", "t { }")


def test_statements_that_were_not_read_are_excused() -> None:
    """In the body of the topology at any depth, and in the block that asks for it."""
    for body in ("] x", "if 1 > 0 { ] x }", "for i in 0..1 { ] x }", "group g { ] x }", "if 1 > 0 { } else { ] x }"):
        node = topology("a: int = 3", body)
        assert contains_broken_statement(node.body), body
        with pytest.raises(Excused):
            bound("a: int = 3", "t", body)
    assert not contains_broken_statement(
        topology("", "switch s: SW; connect s to s { rate 3 }; if 1 > 0 { let a = 3 } else { omit s }").body
    )
    assert not contains_broken_statement(3) and not contains_broken_statement((3, "x"))


# ---------------------------------------------------------------- ratios and patterns


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3:2", Aim("", Fraction(3, 2))), ("4", Aim("", Fraction(4))), ("half", Aim("", Fraction(1, 2))),
        ("about 3:2", Aim("about", Fraction(3, 2))), ("at most 3:2", Aim("at most", Fraction(3, 2))),
        ("at most (1 + 1)", Aim("at most", Fraction(2))),
        ("goal", Aim("about", Fraction(3))), ("about half", Aim("about", Fraction(1, 2))),
    ],
)  # fmt: skip
def test_ratios(written: str, expected: Aim) -> None:
    names = scope(k=5, half=Fraction(1, 2), goal=Aim("about", Fraction(3)))
    assert read_ratio_aim(setting(f"r {written}").items[0], names, Evaluator()) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3:2 4", ("E0120", "3:2 4", RATIO)), ("at least 2:1", ("E0120", "at least 2:1", RATIO)),
        ("about 3:1 4", ("E0120", "about 3:1 4", RATIO)), ("at most 3:1 4", ("E0120", "at most 3:1 4", RATIO)),
        ("true", ("E0103", "true", "expected a ratio, found a bool")),
        ('"x"', ("E0103", '"x"', "expected a ratio, found a string")),
        ("0", ("E0120", "0", "a ratio must be greater than zero")),
        ("0:1", ("E0120", "0:1", "a ratio must be greater than zero")),
        ("low", ("E0120", "low", "a ratio must be greater than zero")),
    ],
)  # fmt: skip
def test_ratios_that_are_refused(written: str, expected: tuple[str, str, str]) -> None:
    assert refusal(lambda: read_ratio_aim(setting(f"r {written}").items[0], scope(low=-1), Evaluator()))[:3] == expected


@pytest.mark.parametrize(
    ("written", "name", "args", "copies", "via"),
    [
        ("each", "each", [], "", None),
        ("each x 2", "each", [], "2", None),
        ("spread", "spread", [], "", None),
        ("spread x 4", "spread", [("x", "4")], "", None),
        ("spread uneven", "spread", [("uneven", None)], "", None),
        ("spread x 4 uneven", "spread", [("x", "4"), ("uneven", None)], "", None),
        ("shift by 3", "shift", [("by", "3")], "", None),
        ("via ocs OPTIC", "", [], "", ("ocs", "OPTIC")),
    ],
)
def test_patterns(written: str, name: str, args: list[tuple[str, str | None]], copies: str, via: tuple[str, str] | None) -> None:
    found = read_joining_pattern(setting(f"q {written}").items[0])
    assert found.via == via
    assert (found.copies.span.text if found.copies else "") == copies
    if found.pattern is None:
        assert not name
    else:
        assert found.pattern.name.name == name and found.pattern.span.text == written
        assert [(m.name, e.span.text if e else None) for m, e in found.pattern.args] == args


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3", ("E0103", "3", "expected a pattern", PATTERNS)),
        ('"x"', ("E0103", '"x"', "expected a pattern", PATTERNS)),
        ("via ocs", ("E0120", "via ocs", "say by what kind of device and by which model links are joined", "`via ocs MODEL`")),
        ("via 3 4",
         ("E0120", "via 3 4", "say by what kind of device and by which model links are joined", "`via ocs MODEL`")),
    ],
)  # fmt: skip
def test_patterns_that_are_refused(written: str, expected: tuple[str, ...]) -> None:
    assert refusal(lambda: read_joining_pattern(setting(f"q {written}").items[0]))[:4] == expected


# ---------------------------------------------------------------- expressions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3", []), ("a", ["a"]), ("a + b*a", ["a", "b", "a"]), ("f(a, b)[c]", ["f", "a", "b", "c"]),
        ("[i for i in a..b]", ["i", "a", "b"]), ('"x{a}y{b + 1}"', ["a", "b"]), ("a.b[c].d", ["a", "c"]),
        ("a if b > 3 else c", None),
    ],
)  # fmt: skip
def test_first_names_of_paths(text: str, expected: list[str] | None) -> None:
    """In the order of the text; what stands behind a point is no name of its own."""
    found = names_in(parsed(text))
    assert sorted(found) == ["a", "b", "c"] if expected is None else found == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (3, tree.Number), (Fraction(3, 2), tree.RatioLit), (Fraction(4), tree.Number), (-3, tree.Paren), ("x y", tree.Str),
        ((1, (2, 3)), tree.ListExpr), (True, tree.PathExpr), (Aim("about", Fraction(7, 2)), tree.RatioLit), ((), tree.ListExpr),
        (Aim("", Fraction(3)), tree.Number),
    ],
)  # fmt: skip
def test_values_as_expressions(value: Value, kind: type) -> None:
    """An expression is worth the value; what is no atom stands in brackets."""
    e = expression_of_value(value, AT)
    assert isinstance(e, kind)
    found = Evaluator().evaluate(e, Scope())
    wanted = value.ratio if isinstance(value, Aim) else value
    assert text_of(found) == text_of(wanted)
