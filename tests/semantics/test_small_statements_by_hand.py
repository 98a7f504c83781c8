"""Phases, SONiC ports, cages, names in blocks, findings and rows of tables: exact values and refusals of single functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest

from tdsl.findings.diagnostic import Diagnostics, Fix
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics import fault as faults
from tdsl.semantics.cages import check_cages, heatsink_of
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault, clip_message, closest_known_name, unknown_name_fault
from tdsl.semantics.growth import GrowthPhase, read_phases
from tdsl.semantics.model import Axis, PortClass, SonicPort
from tdsl.semantics.scope import DONE, FAILED, RUNNING, WAITING, Binding, Scope
from tdsl.semantics.sonic import HELP, sonic_ports
from tdsl.semantics.table_parameters import Form, FormPart, read_row_form, read_table_row
from tdsl.semantics.values import Value
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file


def block(text: str) -> tuple[tree.Stmt, ...]:
    """The statements of a fabric."""
    (fabric,) = parse_source_file(SourceFile("t.fab", f"fabric f {{\n{text}\n}}\n"), Diagnostics()).body
    assert isinstance(fabric, tree.Decl) and fabric.body is not None
    return fabric.body


def setting(text: str) -> tree.Setting:
    """One setting."""
    (s,) = block(text)
    assert isinstance(s, tree.Setting)
    return s


def span(text: str) -> SourceSpan:
    return SourceSpan(SourceFile("s.fab", text), 0, len(text))


def refusal(run: Callable[[], object]) -> tuple[str, str, str, str, list[str]]:
    """Code, text that is underlined, message, help and labels."""
    with pytest.raises(Fault) as raised:
        run()
    d = raised.value.diagnostic
    assert d.span is not None
    return d.code, d.span.text, d.message, d.help, [f"{x.span.text}: {x.message}" for x in d.labels]


# ---------------------------------------------------------------- phases

PHASE = 'write `phase 2 { units 4; needed "2027-03-01" }`'
DAY = 'write `needed "2027-03-01"`'


def test_phases_in_order() -> None:
    """By number; a parameter may be called ``needed``."""
    made = read_phases(block('param a: int = 1\nphase 7 { a 5; needed "2028-02-29" }\nphase 2 { }\nphase 3 { a 4 }'))
    assert [(p.number, {k: v.span.text for k, v in p.values.items()}, p.needed) for p in made] == [
        (2, {}, ""), (3, {"a": "4"}, ""), (7, {"a": "5"}, "2028-02-29"),
    ]  # fmt: skip
    (made_one,) = read_phases(block("param needed: int = 1\nphase 1 { needed 4 }"))
    assert (list(made_one.values), made_one.needed) == (["needed"], "")
    assert read_phases(block("switch a: S")) == []
    assert GrowthPhase(4) == GrowthPhase(4, {}, "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("phase 2 { }\nphase 9 { }\nphase 2 { a 1 }",
         ("E0104", "phase 2 { a 1 }", "phase 2 is declared twice", "give it another number: `phase 10`",
          ["phase 2 { }: first here"])),
        ("phase 2 { let x = 3 }",
         ("E0118", "let x = 3", "a phase gives parameters values, and says when it is needed", PHASE, [])),
        ("phase 2 { a }", ("E0118", "a", "a phase gives parameters values, and says when it is needed", PHASE, [])),
        ("phase 2 { a 1; a 2 }", ("E0104", "a 2", "`a` is set twice in this phase", "", [])),
        ('phase 2 { needed "2027-01-01"; needed "2027-01-02" }',
         ("E0104", 'needed "2027-01-02"', "`needed` is set twice in this phase", "", [])),
        ("phase 2 { b 1 }",
         ("E0101", "b", "there is no parameter of this fabric called `b` here", "known here: `a`, `needed`", [])),
        *((f"phase 2 {{ needed {day} }}", ("E0120", day, f"`{day}` is not a day", DAY, []))
          for day in ('"2027-02-29"', '"2027-13-01"', '"20270101"', '"2027-1-1"', "7", '"2027-W01-1"', '" 2027-01-01"')),
    ],
)  # fmt: skip
def test_phases_that_are_refused(text: str, expected: tuple[str, str, str, str, list[str]]) -> None:
    assert refusal(lambda: read_phases(block(f"param a: int = 1\n{text}"))) == expected


# ---------------------------------------------------------------- ports of SONiC


def sonic(
    text: str, splits: tuple[int, ...] = (), aliases: Sequence[str] | None = None,
    parts: Sequence[tuple[int, tuple[str, ...]]] = (), alias: str = "",
) -> tuple[SonicPort, ...]:  # fmt: skip
    """The ports 1 to 3 of a class, with ``i`` as index, and names of numbers by it."""

    def integers(e: tree.Expr) -> list[int]:
        out = []
        for i in (1, 2, 3):
            scope = Scope()
            for name, value in (("i", i), ("low", i - 1), ("twice", 2 * i), ("fourth", 4 * i), ("less", i - 2)):
                scope.set(name, value, e.span)
            out.append(Evaluator().integer(e, scope))
        return out

    return sonic_ports(setting(text) if text else None, setting(alias) if alias else None, splits, integers, aliases, parts)


def test_numbers_and_lanes() -> None:
    """Lanes count from the number of the port, or from what ``from`` says."""
    assert sonic("") == ()
    assert sonic("sonic 8*(i - 1) lanes 2") == tuple(SonicPort(n, (n, n + 1), n) for n in (0, 8, 16))
    assert sonic("sonic i lanes 3 from fourth") == (
        SonicPort(1, (4, 5, 6), 1),
        SonicPort(2, (8, 9, 10), 2),
        SonicPort(3, (12, 13, 14), 3),
    )
    assert [p.lanes for p in sonic("sonic i lanes 1")] == [(1,), (2,), (3,)]
    assert [len(p.lanes) for p in sonic("sonic 16*i lanes 16", (2, 4))] == [16] * 3
    parts = ((2, ("a", "b", "c", "d", "e", "f")), (1, ("x", "y", "z")))
    assert sonic("sonic i lanes 2", (2,), ("one", "two", "three"), parts) == (
        SonicPort(1, (1, 2), 1, "one", ((2, ("a", "b")), (1, ("x",)))),
        SonicPort(2, (2, 3), 2, "two", ((2, ("c", "d")), (1, ("y",)))),
        SonicPort(3, (3, 4), 3, "three", ((2, ("e", "f")), (1, ("z",)))),
    )


LANES = ": a port has 1 to 16, and a number that its `split` divides"


@pytest.mark.parametrize(
    ("text", "splits", "expected"),
    [
        ("sonic i", (), ("sonic i", "`sonic` takes the number of a port and how many lanes it has")),
        ("sonic i lanes 2, 3", (), ("sonic i lanes 2, 3", "`sonic` takes the number of a port and how many lanes it has")),
        ("sonic i lanes 2 x 3", (), ("sonic i lanes 2 x 3", "`sonic` takes the number of a port and how many lanes it has")),
        (
            "sonic i - 2 lanes 2",
            (),
            ("sonic i - 2 lanes 2", "SONiC counts ports and lanes from 0, and no two ports may have one number"),
        ),
        (
            "sonic i // 2 lanes 2",
            (),
            ("sonic i // 2 lanes 2", "SONiC counts ports and lanes from 0, and no two ports may have one number"),
        ),
        (
            "sonic 3*i lanes 2 from less",
            (),
            ("sonic 3*i lanes 2 from less", "SONiC counts ports and lanes from 0, and no two ports may have one number"),
        ),
        ("sonic i lanes 0", (), ("0", "0 lanes" + LANES)),
        ("sonic i lanes 17", (), ("17", "17 lanes" + LANES)),
        ("sonic i lanes 6", (2, 4), ("6", "6 lanes" + LANES)),
    ],
)
def test_numbers_and_lanes_that_are_refused(text: str, splits: tuple[int, ...], expected: tuple[str, str]) -> None:
    assert refusal(lambda: sonic(text, splits)) == ("E0120", *expected, HELP, [])


def test_an_alias_without_a_number() -> None:
    assert refusal(lambda: sonic("", alias='alias "e"')) == (
        "E0120", 'alias "e"', "`alias` is SONiC's second name of a port that `sonic` numbers", HELP, [],
    )  # fmt: skip


@pytest.mark.parametrize(("lane", "ways", "number", "lanes"), [(0, 2, 8, (1, 2)), (1, 2, 10, (3, 4)), (3, 4, 11, (4,))])
def test_parts_of_a_port(lane: int, ways: int, number: int, lanes: tuple[int, ...]) -> None:
    """A part is numbered by its first lane."""
    whole = SonicPort(8, (1, 2, 3, 4), 8, "etp", ((2, ("a", "b")), (8, ("x",) * 8)))
    name = {2: "ab"[lane % 2], 4: ""}[ways]
    assert whole.part(lane, ways) == SonicPort(number, lanes, 8, name)


# ---------------------------------------------------------------- cages


def ports(name: str, cages: tuple[int, ...], form: str = "OSFP") -> PortClass:
    n = len(cages)
    return PortClass(name, (Axis(1, n),), 0, None, (), cages, form, (0,) * n, ("",) * n, ("",) * n, (), 1, Origin(span(name)))


@pytest.mark.parametrize(
    ("numbers", "per_cage", "others", "expected"),
    [
        ((1, 1, 2, 2), 2, [], None),
        ((3, 4), 1, [("q", (1, 2))], None),
        ((1, 2, 2, 2), 2, [], ("cage 2 would hold 3 ports; a cage holds 2", "", [])),
        ((1, 1), 1, [], ("cage 1 would hold 2 ports; a cage holds 1", "", [])),
        ((1, 0), 1, [], ("cage 0 would hold 1 ports; a cage holds 1", "", [])),
        ((5, 4), 1, [("q", (1, 2)), ("r", (4, 9, 7))],
         ("cage OSFP 4 is one of `r` already", "leave the number out, and these cages are 10 and on; or begin with 10",
          ["r: its cages are declared here"])),
        ((9, 2), 1, [("q", (1, 2)), ("r", (9,))],
         ("cage OSFP 2 is one of `q` already", "leave the number out, and these cages are 10 and on; or begin with 10",
          ["q: its cages are declared here"])),
    ],
)  # fmt: skip
def test_ports_of_cages(
    numbers: tuple[int, ...],
    per_cage: int,
    others: list[tuple[str, tuple[int, ...]]],
    expected: tuple[str, str, list[str]] | None,
) -> None:
    """The least cage that is wrong is reported; cages of other classes of the form are taken."""
    s = setting("cage 2 OSFP")
    same = [ports(name, cages) for name, cages in others]
    if expected is None:
        check_cages(numbers, per_cage, s, same)
    else:
        assert refusal(lambda: check_cages(numbers, per_cage, s, same)) == ("E0120", "cage 2 OSFP", *expected)


def test_a_cage_without_a_form() -> None:
    found = refusal(lambda: check_cages((1,), 1, setting("cage 2"), [ports("q", (1,), "")]))
    assert found[2] == "cage 1 is one of `q` already"


def test_heat_sinks() -> None:
    """The word behind the form; other words are refused, the first of them."""
    read = lambda text: heatsink_of(setting(text) if text else None, Evaluator(), Scope())  # noqa: E731
    assert [read(t) for t in ("", "cage 2 OSFP", "cage 2 OSFP flat", "cage 2 OSFP finned")] == ["", "", "flat", "finned"]
    assert refusal(lambda: read("cage 2 OSFP flet")) == (
        "E0101", "flet", "there is no heat sink `flet` here", "did you mean `flat`?", [],
    )  # fmt: skip


# ---------------------------------------------------------------- names in blocks


def test_names_are_looked_up_outward() -> None:
    """The nearest one; what is excused there or around is."""
    outer = Scope()
    inner = outer.child().child()
    outer.set("a", 1, span("a1"))
    outer.set("b", 2, span("b"), "for")
    assert inner.parent is not None
    inner.parent.set("a", 3, span("a3"))
    inner.set("c", 4, span("c"))
    assert [inner.value(n, span("x")) for n in "abc"] == [3, 2, 4]
    assert [outer.value(n, span("x")) for n in "ab"] == [1, 2]
    assert list(inner.visible()) == ["c", "a", "a", "b"]
    assert (inner.find("d"), outer.find("c")) == (None, None)
    found = inner.find("b")
    assert found is not None and (found.what, found.state, found.compute) == ("for", DONE, None)
    with pytest.raises(KeyError):
        inner.value("d", span("x"))
    outer.excused.add("q")
    inner.excused.add("r")
    assert [inner.is_excused(n) for n in "qrs"] == [True, True, False]
    assert [outer.is_excused(n) for n in "qrs"] == [True, False, False]


def test_values_are_computed_once() -> None:
    """When asked for; a circle is one finding, and what rests on it is excused."""
    scope = Scope()
    asked: list[str] = []

    def compute() -> Value:
        asked.append("a")
        assert a.state == RUNNING
        return 7

    a = Binding("let", span("a"), compute)
    assert a.state == WAITING
    scope.define("a", a)
    assert [scope.value("a", span("x")) for _ in range(3)] == [7, 7, 7] and asked == ["a"] and a.state == DONE
    assert refusal(lambda: scope.define("a", Binding("let", span("again")))) == (
        "E0104", "again", "`a` is already defined in this block", "give one of them another name, such as `a_2`, or delete one",
        ["a: first defined here"],
    )  # fmt: skip
    scope.define("b", Binding("let", span("b"), lambda: scope.value("c", span("for c"))))
    scope.define("c", Binding("let", span("c"), lambda: scope.value("b", span("for b"))))
    assert refusal(lambda: scope.value("b", span("x"))) == (
        "E0114", "b", "`b` is defined in terms of itself", "give `b` a value that does not depend on it, such as `4`",
        ["for b: needed again here"],
    )  # fmt: skip
    assert [scope.names[n].state for n in "bc"] == [FAILED, FAILED]
    for n in "bc":
        with pytest.raises(Excused):
            scope.value(n, span("x"))


# ---------------------------------------------------------------- findings


def test_long_messages_are_clipped() -> None:
    assert clip_message("x" * 2000) == "x" * 2000
    assert clip_message("x" * 2001) == "x" * 2000 + " … (2,001 characters)"
    assert (
        refusal(lambda: (_ for _ in ()).throw(Fault("E0120", span("s"), "y" * 3000)))[2] == "y" * 2000 + " … (3,000 characters)"
    )


def test_fields_of_a_fault() -> None:
    """The places of a chain follow the labels; a fault is one finding of a collector."""
    chain = ((span("outer"), "used here"),)
    fault = Fault("E0120", Origin(span("s"), chain), "m", labels=[(span("l"), "first")], notes=["n"], help="h", count=3)
    d = fault.diagnostic
    assert (d.code, d.message, d.notes, d.help, d.fix, d.count) == ("E0120", "m", ("n",), "h", None, 3)
    assert [(x.span.text, x.message) for x in d.labels] == [("l", "first"), ("outer", "used here")]
    assert (str(fault), Fault("E0120", span("s"), "m").diagnostic.count) == ("m", 1)
    collected = Diagnostics()
    fault.report(collected)
    assert collected.items == [d]


def test_the_nearest_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that differs in case only, else a like one; none where very many were compared already."""
    faults.reset_name_suggestions()
    assert closest_known_name("Leaf", ["leaf", "leaf1", "Leaff"]) == "leaf"
    assert closest_known_name("laef", ["spine", "leaf", "leaf"]) == "leaf"
    assert closest_known_name("x", ["spine", "leaf"]) == ""
    monkeypatch.setattr(faults, "LOOKS", 10)
    faults.reset_name_suggestions()
    assert [closest_known_name("laef", ["leaf", "spine"]) for _ in range(6)] == ["leaf"] * 5 + [""]
    faults.reset_name_suggestions()
    assert closest_known_name("laef", ["leaf", "spine"]) == "leaf"
    faults.reset_name_suggestions()


def test_unknown_names() -> None:
    """The nearest with a fix that writes it, or the first eight that are known."""
    at = span("laef")
    d = unknown_name_fault("E0101", at, "device", "laef", ["leaf", "spine"], extra_help="more").diagnostic
    assert (d.code, d.message, d.help) == ("E0101", "there is no device `laef` here", "did you mean `leaf`?")
    assert d.fix == Fix("write `leaf`", ((at, "leaf"),), safe=False)
    help_of = lambda known, more="": unknown_name_fault("E0101", at, "device", "q", known, extra_help=more).diagnostic.help  # noqa: E731
    eight = ", ".join(f"`{c}{c}`" for c in "abcdefgh")
    assert help_of([c + c for c in "hgfedcba"]) == f"known here: {eight}"
    assert help_of([c + c for c in "ihgfedcbaa"]) == f"known here: {eight} …"
    assert (help_of([]), help_of(["aa"], "more")) == ("", "more")


# ---------------------------------------------------------------- tables

KINDS = Form(
    "F",
    (
        FormPart("KIND", "name"),
        FormPart("N", "int"),
        FormPart(optional=(FormPart("of"), FormPart("H", "int"), FormPart("hosts"))),
    ),
)


def formal(default: str | None) -> tree.Formal:
    """A parameter of type table."""
    (s,) = parse_source_file(
        SourceFile("t.fab", f"topology t(x: table{f' = {default}' if default else ''}) {{ }}\n"), Diagnostics()
    ).body
    assert isinstance(s, tree.TopologyDecl)
    return s.formals[0]


def test_forms_of_tables() -> None:
    """Words in lower case as they are, those in upper case with their type, and what may be left out."""
    assert read_row_form(formal('"KIND N:int [of H:int hosts]"')).parts == KINDS.parts
    assert read_row_form(formal('"A B:ratio x C:list [D]"')).parts == (
        FormPart("A", "name"), FormPart("B", "ratio"), FormPart("x"), FormPart("C", "list"), FormPart(optional=(FormPart("D", "name"),)),
    )  # fmt: skip
    assert read_row_form(formal('"A:rate [b [C:int] d]"')).parts == (
        FormPart("A", "rate"), FormPart(optional=(FormPart("b"), FormPart(optional=(FormPart("C", "int"),)), FormPart("d"))),
    )  # fmt: skip


@pytest.mark.parametrize("default", ['""', '"A ["', '"A ]"', '"A 3"', '"A [B:rate]"', '"Ab"', '"A [[B:bool] c]"', "3"])
def test_forms_that_are_refused(default: str) -> None:
    expected = (
        "E0120", default, "`x` is a table, and its default must be the form of its rows",
        'for example `= "KIND N:int [of HOSTS:int hosts]"`; what is in brackets is a name, int, ratio or list', [],
    )  # fmt: skip
    assert refusal(lambda: read_row_form(formal(default))) == expected


def test_a_form_that_is_not_written() -> None:
    assert refusal(lambda: read_row_form(formal(None)))[:3] == (
        "E0120", "x", "`x` is a table, and its default must be the form of its rows",
    )  # fmt: skip


def read(form_text: str, written: str) -> tuple[Value, ...]:
    """A row of a table ``t`` of this form; ``k`` is 5."""
    scope = Scope()
    scope.set("k", 5, span("k"))
    item = setting(f"t {written}").items[0]
    made = read_table_row("t", read_row_form(formal(f'"{form_text}"')), item, scope, Evaluator())
    assert made.span == item.span
    return tuple(made)


@pytest.mark.parametrize(
    ("form_text", "written", "expected"),
    [
        ("KIND N:int [of H:int hosts]", "gpu 3 of 4 hosts", ("gpu", 3, 4)),
        ("KIND N:int [of H:int hosts]", "gpu k", ("gpu", 5, 0)),
        ("KIND x N:int [of H:int hosts]", '"a b" x (2 + 3)', ("a b", 5, 0)),
        ("A [B] C:int", "x 3", ("x", "", 3)),
        ("A [to B] to C:int", "x to y to 3", ("x", "y", 3)),
        ("A [B:ratio] [C:list]", "x", ("x", 0, ())),
        ("A [to B:ratio] [to C:list]", "x to (3:2) to [1]", ("x", Fraction(3, 2), (1,))),
        ("N:int [x M:int] [to L]", "3 x 4 to y", (3, 4, "y")),
        ("N:int [x M:int] [to L]", "3 to y", (3, 0, "y")),
    ],
)
def test_rows_of_tables(form_text: str, written: str, expected: tuple[Value, ...]) -> None:
    """Elements in order; those that are left out are 0, "" or []."""
    assert read(form_text, written) == expected


@pytest.mark.parametrize(
    ("form_text", "written", "at", "wanted"),
    [
        ("KIND N:int", "gpu", "gpu", "expected N (int), found the end"),
        ("KIND N:int", "3 gpu", "3", "expected KIND (a name), found `3`"),
        ("KIND N:int", "gpu 3:2", "3:2", "expected N (int), not a ratio, found `3:2`"),
        ("KIND N:int", "gpu other", "other", "expected N (int), found `other`"),
        ("KIND N:int [of H:int]", "gpu 3 for 4", "gpu 3 for 4", "expected `of`, found `for`"),
        ("KIND N:int [of H:int] [on P]", "gpu 3 by 4", "gpu 3 by 4", "expected `of` or `on`, found `by`"),
        ("N:int [x M:int]", "3 to 4", "3 to 4", "expected `x`, found `to`"),
    ],
)
def test_rows_that_are_refused(form_text: str, written: str, at: str, wanted: str) -> None:
    """The first word that no part takes, and what would be taken there."""
    assert refusal(lambda: read(form_text, written)) == (
        "E0120", at, f"this is not a row of `t`: {wanted}", f"a row is written `t {form_text}`", [],
    )  # fmt: skip
