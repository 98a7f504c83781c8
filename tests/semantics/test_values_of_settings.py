"""Values of the settings of a connect and of `place auto`: what each is, and every refusal as a whole."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.autoplace import EXAMPLE, is_auto, place_auto
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.quantity import LENGTH, RATE, Quantity
from tdsl.semantics.scope import Scope
from tdsl.semantics.settings import connect_value, count_with_noun, fitting_rate, links_carried_by_cable, require_plain_setting
from tdsl.semantics.values import BareWord
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

Found = tuple[str, str, str, str]


def block(text: str) -> tuple[tree.Stmt, ...]:
    found = Diagnostics()
    (s,) = parse_source_file(SourceFile("t.fab", f"fabric f {{\n{text}\n}}\n"), found).body
    assert isinstance(s, tree.Decl)
    return tuple(s.body or ())


def setting(text: str) -> tree.Setting:
    """A setting in the braces of a connect."""
    (s,) = block(f"connect a to b {{ {text} }}")
    assert isinstance(s, tree.Connect)
    (inner,) = s.body or ()
    assert isinstance(inner, tree.Setting)
    return inner


def reported(fault: Fault) -> Found:
    d = fault.diagnostic
    assert d.span is not None
    return d.code, d.span.text, d.message, d.help


EVALUATOR = Evaluator(is_model=lambda name: name == "DAC")
FORM = "`rate 400Gbps`, `length 3m`"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("bundle 2", 2),
        ("bundle 1 + 2", 3),
        ("rate 400Gbps", Quantity(Fraction(400 * 10**9), RATE)),
        ("rate 1bps", Quantity(Fraction(1), RATE)),
        ("length 30cm", Quantity(Fraction(3, 10), LENGTH)),
        ("length 1m, 2m", (Quantity(Fraction(1), LENGTH), Quantity(Fraction(2), LENGTH))),
        ("layer scaleup", "scaleup"),
        ("medium fibre", "fibre"),
        ('medium "aoc"', "aoc"),
        ("cable DAC", "DAC"),
        ("cable DAC carries 2", "DAC"),
        ("cable A, B", ("A", "B")),
        ("optic A, B", ("A", "B")),
        ('class "x"', "x"),
    ],
)
def test_values(text: str, value: object) -> None:
    found = connect_value(setting(text), Scope(), EVALUATOR)
    assert found == value and not isinstance(found, BareWord)


def test_placeholders_are_kept_for_the_links() -> None:
    found = connect_value(setting('class "c{i}", "d"'), Scope(), EVALUATOR)
    assert isinstance(found, tuple) and isinstance(found[0], tree.Str) and found[1] == "d"
    assert isinstance(connect_value(setting('colour "c{i}"'), Scope(), EVALUATOR), tree.Str)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rate", ("E0120", "rate", "`rate` needs a value", "")),
        ("bundle 1", ("E0120", "1", "a bundle has at least two links; this says 1", "write `bundle 2`")),
        ("bundle 2, 3", ("E0118", "3", "`bundle` takes one value here", "write `bundle 2`")),
        ("bundle 2 x", ("E0118", "x", "`bundle` does not use this", "write `bundle 2`")),
        ("bundle 2 { x 1 }", ("E0118", "x 1", "`bundle` takes no block here", "write `bundle 2`")),
        ("bundle 2 { }", ("E0118", "bundle 2 { }", "`bundle` takes no block here", "write `bundle 2`")),
        ("layer scaleup, b", ("E0118", "b", "`layer` takes one value here", "write `layer scaleup`")),
        ("rate 400Gbps x", ("E0118", "x", "`rate` does not use this", "write `rate 400Gbps`")),
        ("rate 400Gbps carries 2", ("E0118", "2", "`rate` does not use this", "write `rate 400Gbps`")),
        ("cable DAC twice", ("E0118", "twice", "`cable` does not use this", "write `cable DAC`, or `cable DAC carries 2`")),
        ('rate "{i}G"', ("E0120", '"{i}G"', "`rate` is the same for all links of a connect; it has no placeholders", "")),
        ("rate 3m", ("E0103", "3m", "`rate` is a rate, not a length", FORM)),
        ("rate 3", ("E0103", "3", "`rate` is a rate, not an int", FORM)),
        ("length 400Gbps", ("E0103", "400Gbps", "`length` is a length, not a rate", FORM)),
        ("rate 0Gbps", ("E0120", "0Gbps", "a rate must be greater than zero", "")),
        ("rate 0.5bps", ("E0120", "0.5bps", "a rate must be greater than zero", "")),
        ("length 0m", ("E0120", "0m", "a length must be greater than zero", "")),
        ("colour 5", ("E0103", "5", "`colour` is a word or a string, not an int", "")),
        (
            "layer network",
            ("E0120", "network", "the layer of a connect is `scaleup`, or not written",
             "leave `layer` out for links of the network"),
        ),
        ("medium fiber", ("E0101", "fiber", "there is no medium `fiber` here", "did you mean `fibre`?")),
    ],
)  # fmt: skip
def test_refused(text: str, expected: Found) -> None:
    with pytest.raises(Fault) as fault:
        connect_value(setting(text), Scope(), EVALUATOR)
    assert reported(fault.value) == expected


@pytest.mark.parametrize(
    ("text", "links"), [("cable DAC", 1), ("cable DAC carries 2", 2), ("cable DAC carries 64", 64), ("cable A, B", 1)]
)
def test_links_of_one_cable(text: str, links: int) -> None:
    assert links_carried_by_cable(setting(text), Scope(), EVALUATOR) == links


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cable DAC carries 1",
         ("E0120", "1", "`carries` is for a cable of at least two links; this says 1", "write `carries 2`, or leave it out")),
        ("cable DAC carries 2 carries 3", ("E0104", "3", "`carries` is written twice", "leave one of them")),
    ],
)  # fmt: skip
def test_refused_links_of_one_cable(text: str, expected: Found) -> None:
    with pytest.raises(Fault) as fault:
        links_carried_by_cable(setting(text), Scope(), EVALUATOR)
    assert reported(fault.value) == expected


def test_numbers_of_values() -> None:
    assert [count_with_noun(n, "value") for n in (0, 1, 2)] == ["0 values", "one value", "2 values"]
    with pytest.raises(Fault) as fault:
        require_plain_setting(setting("x 1, 2, 3"), "x 1, 2", 2)
    assert reported(fault.value) == ("E0118", "3", "`x` takes 2 values here", "write `x 1, 2`")
    with pytest.raises(Fault) as fault:
        require_plain_setting(setting("x 1"), "x", 0)
    assert reported(fault.value) == ("E0118", "1", "`x` takes 0 values here", "write `x`")
    require_plain_setting(setting("x 1, 2"), "x 1, 2", 2)


def test_the_greatest_rate() -> None:
    """All links together stay below 2^62 bit/s, so one does."""
    at = SourceSpan(SourceFile("t.fab", "x"), 0, 1)
    assert fitting_rate(Quantity(Fraction(2**62 - 1), RATE), at) == 2**62 - 1
    with pytest.raises(Fault) as fault:
        fitting_rate(Quantity(Fraction(2**62), RATE), at)
    message = "4611.69Pbps is more than all links may carry together: the limit is 4,611,686,018,427,387,904bps"
    assert reported(fault.value) == ("E0116", "x", message, "correct the unit: links run at `400Gbps` or `1.6Tbps`")


# ------------------------------------------------------------ place auto
def auto(text: str, halls: tuple[str, ...] = ("h1", "h2"), absent: tuple[str, ...] = ()) -> Any:
    """The plan after the `place auto` statements of a text."""
    plan: Any = SimpleNamespace(
        auto=None, halls=[SimpleNamespace(name=n) for n in halls], absent_halls=set(absent), evaluator=Evaluator()
    )
    for s in block(text):
        assert isinstance(s, tree.PlaceStmt) and is_auto(s)
        place_auto(plan, s, Scope(), Origin(s.span))
    return plan


@pytest.mark.parametrize(
    ("text", "halls", "hosts", "switches"),
    [
        ("place auto in h1", ["h1"], None, ""),
        ("place auto in h2, h1 { }", ["h2", "h1"], None, ""),
        ("place auto in h1 { hosts 1 per rack }", ["h1"], 1, ""),
        ("place auto in h1 { switches middle of row; hosts 2 + 2 per rack; minimize length }", ["h1"], 4, "middle"),
        ("place auto in h1 { switches end of row }", ["h1"], None, "end"),
        ("place auto in h1 { switches top of rack }", ["h1"], None, "top"),
    ],
)
def test_automatic_places(text: str, halls: list[str], hosts: int | None, switches: str) -> None:
    made = auto(text).auto
    assert ([h.name for h in made.halls], made.hosts_per_rack, made.switches) == (halls, hosts, switches)
    assert made.origin.span.text == text


PER = ("this says how many hosts a rack holds", "`hosts 4 per rack`")
WHERE = ("this says where switches go", "`switches middle of row`, `switches end of row` or `switches top of rack`")
LEAST = ("what is minimized is the total length of the cables", "`minimize length`")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("place auto in h1; place auto in h2",
         ("E0104", "place auto in h2", "devices are placed automatically by one statement",
          "name all halls in it: `place auto in h1, h2`")),
        ("place auto in h3x", ("E0101", "h3x", "there is no hall `h3x` here", "known here: `h1`, `h2`")),
        ("place auto in h1, h1", ("E0104", "h1", "hall `h1` is named twice", "")),
        ("place auto in h1 { hall x }",
         ("E0118", "hall", "there is no setting of a `place auto` `hall` here",
          "known here: `hosts`, `minimize`, `switches`")),
        ("place auto in h1 { connect a to b }",
         ("E0118", "connect a to b", "the block of a `place auto` has settings only", EXAMPLE)),
        ("place auto in h1 { hosts 4 per rack { } }",
         ("E0118", "hosts 4 per rack { }", "the block of a `place auto` has settings only", EXAMPLE)),
        ("place auto in h1 { host 4 }",
         ("E0118", "host", "there is no setting of a `place auto` `host` here", "did you mean `hosts`?")),
        ("place auto in h1 { minimize length; minimize length }", ("E0104", "minimize length", "`minimize` is set twice", "")),
        ("place auto in h1 { hosts }", ("E0120", "hosts", *PER)),
        ("place auto in h1 { hosts 4 }", ("E0120", "hosts 4", *PER)),
        ("place auto in h1 { hosts 4 per row }", ("E0120", "hosts 4 per row", *PER)),
        ("place auto in h1 { hosts 4, 5 }", ("E0120", "hosts 4, 5", *PER)),
        ("place auto in h1 { hosts 0 per rack }", ("E0120", "0", "a rack holds at least 1 host, not 0", "`hosts 4 per rack`")),
        ("place auto in h1 { switches }", ("E0120", "switches", *WHERE)),
        ("place auto in h1 { switches middle }", ("E0120", "switches middle", *WHERE)),
        ("place auto in h1 { switches middle of rack }", ("E0120", "switches middle of rack", *WHERE)),
        ("place auto in h1 { switches top of row }", ("E0120", "switches top of row", *WHERE)),
        ("place auto in h1 { switches end x row }", ("E0120", "switches end x row", *WHERE)),
        ("place auto in h1 { minimize power }", ("E0120", "minimize power", *LEAST)),
        ("place auto in h1 { minimize }", ("E0120", "minimize", *LEAST)),
        ("place auto in h1 { minimize length x }", ("E0120", "minimize length x", *LEAST)),
        ("place auto in h1 { minimize 5 }", ("E0120", "minimize 5", *LEAST)),
    ],
)  # fmt: skip
def test_refused_automatic_places(text: str, expected: Found) -> None:
    with pytest.raises(Fault) as fault:
        auto(text)
    assert reported(fault.value) == expected


def test_halls_that_are_broken_are_not_reported_again() -> None:
    with pytest.raises(Excused):
        auto("place auto in h1, h9", absent=("h9",))
    with pytest.raises(Fault):
        auto("place auto in h1, h8", absent=("h9",))


@pytest.mark.parametrize(
    ("text", "automatic"),
    [("place auto in h1", True), ("place auto in h1, h2", True), ("place a in h1", False), ("place auto in h1.A", False),
     ("place auto[0] in h1", False), ("place auto in h1, h2.A[3]", False)],
)  # fmt: skip
def test_which_places_are_automatic(text: str, automatic: bool) -> None:
    (s,) = block(text)
    assert isinstance(s, tree.PlaceStmt) and is_auto(s) is automatic
