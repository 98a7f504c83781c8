"""Tiers as they are written: every field that is read, ports that lead down and up, and each refusal."""

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
from tdsl.semantics.scope import Scope
from tdsl.semantics.sizing import Aim, Leading, TierSpec
from tdsl.semantics.tier_specs import TierReader, _parse_port_range
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

G = 10**9
AT = Origin(SourceSpan(SourceFile("m.fab", "MODEL"), 0, 5))


def ports(name: str, first: int, *axes: Axis, rate: int = 400, split: int = 1) -> PortClass:
    """A class whose ports may be split by two."""
    size = 1
    for a in axes:
        size *= a.size
    blank = ("",) * size
    return PortClass(
        name, axes, first, rate * G or None, (), (0,) * size, "", tuple(range(size)), blank, blank, (2,), split, AT
    )  # fmt: skip


MODELS = {
    "SW": ("switch", (ports("p", 0, Axis(1, 8)),)),
    "TWO": ("switch", (ports("d", 0, Axis(1, 6), rate=200), ports("u", 6, Axis(1, 3), rate=800))),
    "MIXED": ("switch", (ports("p", 0, Axis(1, 4)), ports("p", 4, Axis(5, 3), Axis(0, 2), rate=200, split=2))),
    "ONE": ("switch", (ports("p", 0), ports("q", 1, Axis(0, 4)), ports("g", 5, Axis(1, 2), Axis(1, 3)))),
    "ANY": ("switch", (ports("p", 0, Axis(1, 4), rate=0),)),
    "NONE": ("switch", ()),
    "BOX": ("host", (ports("p", 0, Axis(1, 4)),)),
}  # fmt: skip


def reader(tiers: str, own: str = "", values: dict[str, Any] | None = None) -> tuple[TierReader, tuple[tree.TierDecl, ...]]:
    """A reader of the tiers of a block, or of a topology's ``own`` ones; ``k`` is 3 and ``goal`` 2:1."""
    text = f"fabric f {{\nclos {{ {tiers} }}\n}}\ntopology clos() {{ {own} }}\n"
    fabric, topology = parse_source_file(SourceFile("t.fab", text), Diagnostics()).body
    assert isinstance(fabric, tree.Decl) and fabric.body is not None and isinstance(topology, tree.TopologyDecl)
    (s,) = fabric.body
    assert isinstance(s, tree.Setting)
    written = tuple(x for x in s.body or () if isinstance(x, tree.TierDecl))
    scope = Scope()
    for name, value in {"k": 3, "goal": Fraction(2), **(values or {})}.items():
        scope.set(name, value, AT.span)

    def named(path: tree.PathExpr, _: Scope) -> DeviceModel:
        kind, classes = MODELS[str(path.bare)]
        return DeviceModel(str(path.bare), kind, "", classes, (), (), (), {}, AT)

    planner: Any = SimpleNamespace(
        evaluator=Evaluator(), named_model=named, context=SimpleNamespace(group=SimpleNamespace(scope=Scope()))
    )
    instance: Any = SimpleNamespace(node=topology, scope=scope, tiers=written, missing={})
    tiers_found = written or tuple(x for x in topology.body if isinstance(x, tree.TierDecl))
    return TierReader(planner, s, instance, scope), tiers_found


def spec(text: str) -> TierSpec:
    """The one tier of a block."""
    made, (t,) = reader(text)
    return made.spec(t)


def refusal(run: Callable[[], object]) -> tuple[str, str, str, str, list[str]]:
    with pytest.raises(Fault) as raised:
        run()
    d = raised.value.diagnostic
    return d.code, d.span.text if d.span else "", d.message, d.help, [f"{x.span.text}: {x.message}" for x in d.labels]


def test_fields_of_a_tier() -> None:
    """What is written, and what stands where nothing is."""
    t = spec("tier leaf of 4 hosts { switch SW }")
    assert (t.name, t.child, t.per, t.model.name, t.count, t.aim) == ("leaf", "hosts", 4, "SW", None, Aim("", Fraction(1)))
    assert (t.cable, t.switches, t.settings, t.down, t.up, t.by_rail, t.bundle) == ("", "", "", None, None, False, "")
    assert t.span.text == "tier leaf of 4 hosts { switch SW }"
    assert [(what, at.text) for what, at in t.places] == [("per", "4"), ("model", "SW")]
    t = spec(
        "tier pod of k leaf by rail { switch SW x 2*k as tor { nos sonic }; oversubscription about 3:2; cable AOC carries 2; "
        "bundle 2; down p[1..4]; up p[5..8] }"
    )
    assert (t.name, t.child, t.per, t.model.name, t.count, t.aim) == ("pod", "leaf", 3, "SW", 6, Aim("about", Fraction(3, 2)))
    assert (t.cable, t.switches, t.settings, t.by_rail, t.bundle) == ("AOC carries 2", "tor", "nos sonic", True, "bundle 2")
    assert (t.down, t.up) == (Leading("p[1..4]", 4, 400 * G), Leading("p[5..8]", 4, 400 * G))
    assert [(what, at.text) for what, at in t.places] == [
        ("per", "k"), ("model", "SW"), ("count", "2*k"), ("aim", "about 3:2"),
    ]  # fmt: skip
    t = spec("tier leaf of ? hosts { switch SW x 1; oversubscription goal; cable AOC }")
    assert (t.per, t.count, t.aim, t.cable) == (None, 1, Aim("", Fraction(2)), "AOC")
    assert [what for what, _ in t.places] == ["model", "count", "aim"]
    t = spec("tier leaf of 4 hosts { switch SW { split p 2 }; down p[1..8] at 100Gbps }")
    assert (t.model.port_count, t.settings) == (16, "split p 2") and t.down is not None and t.down.count == 16


def test_places_of_a_topology_that_has_its_own_tiers() -> None:
    """Where the block gives a parameter that is one number of one tier by itself; none where it is in more than that."""
    own = "tier leaf of k hosts { switch m x 2*n; oversubscription r }; tier top of w leaf { switch MIXED x w; down p[1..4] }"
    made, (leaf, top) = reader("k 3; m SW; n 4; r 2:1; w 2", own, {"n": 4, "r": Fraction(2), "w": 2})
    names = {"per": leaf.count, "aim": leaf.body[1].items[0]}  # type: ignore[union-attr]
    assert {n: at.text if (at := made.place(e)) else None for n, e in names.items()} == {"per": "k 3", "aim": "r 2:1"}
    switch = leaf.body[0].items[0]  # type: ignore[union-attr]
    at = made.place(switch.value)
    assert at is not None and at.text == "m SW"
    assert made.place(switch.args[0][1]) is None, "2*n is not n"
    assert made.place(top.count) is None, "w is in two places"
    assert made.place(tree.Number(3, AT.span)) is None


def test_parameters_of_a_topology_that_nobody_gives() -> None:
    """They are refused in its own tiers, at the block; tiers of the block do not use them."""
    text = "tier leaf of w hosts { switch SW x n }"
    formal = reader("", "")[0].instance.node
    for name in ("w", "n"):
        made, (t,) = reader("k 3", text, {"w": 2, "n": 2})
        made.instance.missing[name] = SimpleNamespace(type=SimpleNamespace(name="int"), name=formal.name)  # type: ignore[assignment]
        assert refusal(lambda made=made, t=t: made.spec(t)) == (  # type: ignore[misc]
            "E0115", "clos", f"`clos` needs `{name}` of type int", f"write `{name} …` in its braces", ["clos: asked for here"],
        )  # fmt: skip
        made, (t,) = reader(text.replace("w hosts", "2 hosts").replace("x n", "x 2"))
        made.instance.missing[name] = SimpleNamespace(type=SimpleNamespace(name="int"), name=formal.name)  # type: ignore[assignment]
        assert made.spec(t).per == 2


@pytest.mark.parametrize(
    ("model", "text", "expected"),
    [
        ("SW", "p", ("p", 8, 400, "")), ("SW", "p[1..8]", ("p[1..8]", 8, 400, "")), ("SW", "p[3..3]", ("p[3..3]", 1, 400, "")),
        ("SW", "p[k..k + 2]", ("p[3..5]", 3, 400, "")), ("SW", "p at 200Gbps", ("p", 8, 200, "200Gbps")),
        ("SW", "p[2..5] at 400Gbps", ("p[2..5]", 4, 400, "400Gbps")), ("TWO", "u", ("u", 3, 800, "")),
        ("TWO", "d[2..6]", ("d[2..6]", 5, 200, "")), ("MIXED", "p[1..4]", ("p[1..4]", 4, 400, "")),
        ("MIXED", "p[5..7]", ("p[5..7]", 6, 200, "")), ("MIXED", "p[6..7]", ("p[6..7]", 4, 200, "")),
        ("MIXED", "p[2..3]", ("p[2..3]", 2, 400, "")), ("ONE", "p", ("p", 1, 400, "")), ("ONE", "g", ("g", 6, 400, "")),
        ("ONE", "q[0..2]", ("q[0..2]", 3, 400, "")), ("ANY", "p at 50Gbps", ("p", 4, 50, "50Gbps")),
        ("ANY", "p", ("p", 4, 0, "")),
    ],
)  # fmt: skip
def test_ports_that_lead_down(model: str, text: str, expected: tuple[str, int, int, str]) -> None:
    """A class or a range of one, how many ports there are, their rate in Gb/s, and the rate that is asked for."""
    found = spec(f"tier leaf of 4 hosts {{ switch {model}; down {text} }}").down
    assert found is not None and (found.text, found.count, found.rate // G, found.at) == expected


LEAD = "`down p[1..32]`, `down p at 200Gbps`"
HEAD = "tier leaf of 4 hosts { switch SW"
KNOWN = "known: `switch`, `down`, `up`, `oversubscription`, `cable`, `bundle`"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tier a of ? b by plane { switch SW }", ("E0120", "plane", "a tier is grouped `by rail`, not by plane",
         "write `planes 2` beside the hosts, and the tier without `by plane`: all tiers are built once in each plane", [])),
        ("tier a of ? b by pod { switch SW }",
         ("E0120", "pod", "a tier is grouped `by rail`, not by pod", "write `tier a of ? b by rail`", [])),
        (f"{HEAD}; let x = 3 }}", ("E0118", "let x = 3", "the braces of a tier hold settings only", KNOWN, [])),
        (f"{HEAD}; switch TWO }}", ("E0104", "switch TWO", "`switch` is set twice", "", ["switch SW: first here"])),
        (f"{HEAD}; swich TWO }}",
         ("E0118", "swich", "there is no setting of a tier called `swich` here", "did you mean `switch`?", [])),
        ("tier a of 4 hosts { cable AOC }",
         ("E0120", "tier a of 4 hosts { cable AOC }", "`a` has no switches", "`tier pod of 4 rack { switch MODEL x 16 }`", [])),
        ("tier a of 4 hosts { switch }",
         ("E0120", "tier a of 4 hosts { switch }", "`a` has no switches", "`tier pod of 4 rack { switch MODEL x 16 }`", [])),
        ("tier a of 4 hosts { switch 3 }",
         ("E0120", "tier a of 4 hosts { switch 3 }", "`a` has no switches", "`tier pod of 4 rack { switch MODEL x 16 }`", [])),
        ("tier a of 4 hosts { switch SW, TWO }", ("E0118", "TWO", "`switch` of a tier has one value", "write `switch SW`", [])),
        (f"{HEAD}; cable A, B }}", ("E0118", "B", "`cable` of a tier has one value", "write `cable A`", [])),
        (f"{HEAD}; cable A {{ x }} }}", ("E0118", "x", "`cable` of a tier takes no block", "", [])),
        (f"{HEAD}; cable A {{ }} }}", ("E0118", "cable A { }", "`cable` of a tier takes no block", "", [])),
        ("tier a of 4 hosts { switch SW x 3 of 4 }",
         ("E0118", "4", "`switch` of `a` does not use this", "write `switch MODEL x 4`", [])),
        ("tier a of 4 hosts { switch SW as }",
         ("E0118", "as", "`switch` of a tier does not use this", "`switch MODEL x 4 as NAME`", [])),
        ("tier a of 4 hosts { switch BOX }",
         ("E0102", "tier a of 4 hosts { switch BOX }", "BOX is a host, not a switch", "", ["MODEL: declared here"])),
        ("tier a of 4 hosts { switch NONE }", ("E0459", "tier a of 4 hosts { switch NONE }", "NONE has no ports",
         "give the model a class of ports: `port p[1..64]: 400Gbps`", ["MODEL: declared here"])),
        ("tier a of 0 hosts { switch SW }",
         ("E0120", "tier a of 0 hosts { switch SW }", "a tier has at least one of everything", "", [])),
        ("tier a of 1 hosts { switch SW x 0 }",
         ("E0120", "tier a of 1 hosts { switch SW x 0 }", "a tier has at least one of everything", "", [])),
        (f"{HEAD}; cable AOC x 3 }}",
         ("E0120", "cable AOC x 3", "a tier names one cable, where a design writes it", "`cable PART`", [])),
        (f"{HEAD}; down }}", ("E0120", "down", "`down` of a tier names ports of its switches", LEAD, [])),
        (f"{HEAD}; down 3 }}", ("E0120", "down 3", "`down` of a tier names ports of its switches", LEAD, [])),
        (f"{HEAD}; down p[1..2].x }}", ("E0120", "down p[1..2].x", "`down` of a tier names ports of its switches", LEAD, [])),
        (f"{HEAD}; down p x 2 }}", ("E0120", "down p x 2", "`down` of a tier names ports of its switches", LEAD, [])),
        (f"{HEAD}; down z }}", ("E0101", "z", "there is no port class of SW called `z` here", "known here: `p`", [])),
        (f"{HEAD}; down p[3] }}", ("E0120", "p[3]", "expected a range of ports", LEAD, [])),
        (f"{HEAD}; down p.x }}", ("E0120", "p.x", "expected a range of ports", LEAD, [])),
        ("tier leaf of 4 hosts { switch ONE; down g[1..2] }", ("E0120", "g[1..2]", "expected a range of ports", LEAD, [])),
        (f"{HEAD}; down p[0..3] }}", ("E0108", "0..3", "`p` of SW has ports 1..8, not 0..3", LEAD, [])),
        (f"{HEAD}; down p[4..9] }}", ("E0108", "4..9", "`p` of SW has ports 1..8, not 4..9", LEAD, [])),
        (f"{HEAD}; down p[4..3] }}", ("E0108", "4..3", "`p` of SW has ports 1..8, not 4..3", LEAD, [])),
        ("tier leaf of 4 hosts { switch MIXED; down p[4..5] }",
         ("E0120", "p[4..5]", "these ports run at 400Gbps and 200Gbps; links of one tier run at one rate", LEAD, [])),
        (f"{HEAD}; down p at 3 }}", ("E0103", "3", "expected a rate, found an int", LEAD, [])),
        (f"{HEAD}; down p at 3m }}", ("E0103", "3m", "expected a rate, found a length", LEAD, [])),
        (f"{HEAD}; down p at 401Gbps }}", ("E0120", "401Gbps", "`p` runs at 400Gbps at most", LEAD, [])),
        ("tier leaf of 4 hosts { switch MIXED }",
         ("E0120", "tier leaf of 4 hosts { switch MIXED }",
          "the ports of MIXED run at 2 rates here, so a tier says which lead where",
          "write `down p[1..32]; up p[33..64]` in its braces", [])),
        (f"{HEAD}; up p }}", ("E0120", "up p", "ports that lead up are named, and those that lead down are not",
                              "write `down CLASS[RANGE]` beside it", [])),
        *((f"{HEAD}; down {a}; up {b} }}",
           ("E0120", f"up {b}", f"`{b}` and `{a}` have ports in common", "a port leads one way", [f"down {a}: these lead down"]))
          for a, b in (("p[1..4]", "p[4..8]"), ("p[4..8]", "p[1..4]"), ("p", "p[8..8]"), ("p[1..1]", "p"), ("p", "p"))),
    ],
)  # fmt: skip
def test_tiers_that_are_refused(text: str, expected: tuple[str, str, str, str, list[str]]) -> None:
    assert refusal(lambda: spec(text)) == expected


@pytest.mark.parametrize(("down", "up"), [("p[1..4]", "p[5..8]"), ("p[5..8]", "p[1..4]")])
def test_ports_side_by_side(down: str, up: str) -> None:
    t = spec(f"{HEAD}; down {down}; up {up} }}")
    assert t.down is not None and t.up is not None and (t.down.text, t.up.text) == (down, up)
    t = spec(f"tier leaf of 4 hosts {{ switch TWO; down {down.replace('p', 'd').replace('8', '6')}; up u }}")
    assert t.up == Leading("u", 3, 800 * G)


def test_a_tier_that_was_not_read() -> None:
    with pytest.raises(Excused):
        spec(f"{HEAD}; ] x }}")


def test_numbers_of_ports() -> None:
    assert [_parse_port_range(t) for t in ("p[3..12]", "p", "down[0..7]")] == [("p", 3, 12), ("p", 0, 1 << 30), ("down", 0, 7)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tier a of 2 hosts { switch SW }; tier b of 2 a { switch SW }", None),
        ("tier a of 2 chips { switch SW }; tier b of 2 a { switch SW }", None),
        ("tier a of 2 hosts by rail { switch SW }",
         ("E0120", "rail", "the first tier has a switch for each rail already", "`by rail` belongs in the second tier", [])),
        ("tier a of 2 racks { switch SW }",
         ("E0120", "racks", "`a` holds `hosts`, the tier before it, not `racks`", "", [])),
        ("tier a of 2 hosts { switch SW }; tier b of 2 hosts { switch SW }",
         ("E0120", "hosts", "`b` holds `a`, the tier before it, not `hosts`", "", [])),
        ("tier a of 2 hosts { switch SW }; tier b of 2 chips { switch SW }",
         ("E0120", "chips", "`b` holds `a`, the tier before it, not `chips`", "", [])),
        ("tier a of 2 hosts { switch SW }; tier a of 2 a { switch SW }",
         ("E0104", "a", "there are two tiers `a`", "", ["a: first here"])),
        ("tier a of 2 hosts { switch SW; oversubscription 2:1 }",
         ("E0120", "oversubscription 2:1", "a ratio is of the switches one tier below, and below `a` are hosts",
          "leave it out", [])),
        ("tier a of 2 hosts { switch SW; oversubscription 2:1 }; tier b of 2 a { switch SW }",
         ("E0120", "oversubscription 2:1", "a ratio is of the switches one tier below, and below `a` are hosts",
          "write it in `b`, the tier above", [])),
    ],
)  # fmt: skip
def test_tiers_above_tiers(text: str, expected: tuple[str, str, str, str, list[str]] | None) -> None:
    """Each holds the one before it, the first hosts or chips."""
    made, tiers = reader(text)
    if expected is None:
        made.check_names(tiers)
    else:
        assert refusal(lambda: made.check_names(tiers)) == expected


@pytest.mark.parametrize(
    ("words", "expected"), [(["as", "b"], "b"), ([], ""), (["at", "b"], None), (["as"], None), (["as", "b", "c"], None)]
)
def test_names_of_switches(words: list[str], expected: str | None) -> None:
    """``as NAME`` and nothing else."""
    made, _ = reader(f"{HEAD} }}")
    path = lambda w: tree.PathExpr((tree.Identifier(w, AT.span),), AT.span)  # noqa: E731
    item = tree.SettingItem(path("SW"), (("x", tree.Number(3, AT.span)), *(("", path(w)) for w in words)), AT.span)
    if expected is None:
        assert refusal(lambda: made.label(item))[2:4] == (
            "`switch` of a tier does not use this", "`switch MODEL x 4 as NAME`",
        )  # fmt: skip
    else:
        assert made.label(item) == expected
