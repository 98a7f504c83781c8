"""Halls, rows, racks and trays: what the block of a hall reads in numbers, and each refusal."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics import place_statements
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.place_statements import Hall, RackKind
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

ORIGIN = Origin(SourceSpan(SourceFile("o.fab", "o"), 0, 1))
RACKS = "`rack 1..32 { height 48U }`, or `rack 7 { height 42U }`"
NAMES = "write `row A`, `row A..D` or `row cold1, cold2`"
TRAY = "`tray above 2.6m { along rows; across at 1, 16; capacity 300mm x 100mm }`, or `tray below 0.5m`"
PITCH = "a pitch is from rack to rack and from row to row"
ROW = "row A { rack 1..4 }"


def hall(block: str, head: str = "hall h") -> Hall:
    """A hall with this block."""
    (fabric,) = parse_source_file(SourceFile("t.fab", f"fabric f {{\n{head} {{ {block} }}\n}}\n"), Diagnostics()).body
    assert isinstance(fabric, tree.Decl) and fabric.body is not None
    (s,) = fabric.body
    assert isinstance(s, tree.Decl) and place_statements.is_physical(s)
    return place_statements._HallReader(Scope(), Evaluator()).hall(s, ORIGIN)


def rows(block: str) -> list[tuple[str, list[int]]]:
    """Rows with the numbers of their racks."""
    return [(r.name, [n for n, _ in r.racks]) for r in hall(block).rows]


def kind(block: str) -> tuple[int | None, int, Fraction | None, Fraction | None, int | None]:
    """Height, feeds, watts of a feed, kilograms and millimetres of bend of a rack."""
    ((_, k),) = hall(f"row A {{ rack 7 {{ {block} }} }}").rows[0].racks
    return k.height, k.feeds, k.feed_watts, k.mass, k.bend


def test_rows_and_racks() -> None:
    """Ranges of rows and racks, in the order in which they are written."""
    assert rows("row A { rack 1..4 }") == [("A", [1, 2, 3, 4])]
    assert rows("row B..D { rack 0 }; row a..b { rack 9; rack 2..3 }") == [
        ("B", [0]), ("C", [0]), ("D", [0]), ("a", [9, 2, 3]), ("b", [9, 2, 3]),
    ]  # fmt: skip
    assert rows("row cold1, hot, A..B { rack 131_070..131_071 }") == [
        (name, [131_070, 131_071]) for name in ("cold1", "hot", "A", "B")
    ]
    assert rows("row Z..Z { rack 3 }") == [("Z", [3])]


def test_what_a_rack_offers() -> None:
    assert kind("") == (None, 0, None, None, None)
    assert kind("height 48U; power 2 x 44kW; mass 1400kg; bend 60mm") == (48, 2, 44_000, 1400, 60)
    assert kind("power 17kW") == (None, 1, 17_000, None, None)
    assert kind("power 1 x 3kW; mass 0.5kg; bend 1mm") == (None, 1, 3000, Fraction(1, 2), 1)
    assert kind("power 16 x 3kW") == (None, 16, 3000, None, None)


@pytest.mark.parametrize(("feeds", "watts"), [(0, 70), (1, 70), (2, 70), (3, 140), (4, 210)])
def test_watts_without_one_feed(feeds: int, watts: int) -> None:
    """All feeds but one, or the single one there is."""
    span = ORIGIN.span
    assert RackKind(None, feeds, Fraction(70), None, span).watts == watts
    assert RackKind(None, feeds, None, None, span).watts is None


def test_lengths_of_a_hall() -> None:
    """In millimetres; None where nothing is written."""
    made = hall(ROW)
    assert (made.name, made.rack_pitch, made.row_pitch, made.tray, made.slack, made.origin) == (
        "h",
        None,
        None,
        None,
        None,
        ORIGIN,
    )
    made = hall(f"{ROW}; pitch rack 0.6m, row 3m; slack 0m")
    assert (made.rack_pitch, made.row_pitch, made.slack) == (600, 3000, 0)
    made = hall(f"{ROW}; pitch row 1mm; slack 1.5m")
    assert (made.rack_pitch, made.row_pitch, made.slack) == (None, 1, 1500)
    made = hall(f"{ROW}; pitch rack 1_099_511_627_775mm")
    assert made.rack_pitch == (1 << 40) - 1
    with pytest.raises(Fault, match="is not a length in whole millimetres above 0mm"):
        hall(f"{ROW}; pitch rack 1_099_511_627_776mm")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tray above 2.6m", (2600, (1, 4), None)),
        ("tray below 0.5m", (-500, (1, 4), None)),
        ("tray above 2.6m { along rows }", (2600, (1, 4), None)),
        ("tray above 2.6m { across at 3 }", (2600, (3,), None)),
        ("tray above 2.6m { across at 9, 2, 9 }", (2600, (2, 9), None)),
        ("tray below 1mm { capacity 300mm x 100mm; across at 2, 1 }", (-1, (1, 2), 30_000)),
    ],
)
def test_trays(text: str, expected: tuple[int, tuple[int, ...], int | None]) -> None:
    """Height, racks at which trays lead across (the first and the last of the first row), and area."""
    for block in (f"{ROW}; row B {{ rack 9 }}; {text}", f"{text}; {ROW}; row B {{ rack 9 }}"):
        tray = hall(block).tray
        assert tray is not None
        assert (tray.height, tray.across, tray.area, tray.span.text) == (*expected, text)


def test_a_tray_across_one_rack() -> None:
    tray = hall("row A { rack 5 }; tray above 1m").tray
    assert tray is not None and tray.across == (5,)


REFUSED: list[tuple[str, tuple[str, str, str, str, list[str]]]] = [
    ("", ("E0120", "hall h {  }", "hall `h` has no row", "add `row A { rack 1..8 { height 48U } }`", [])),
    ("connect a to b", ("E0118", "connect a to b", "the block of a hall has settings only",
     "known: `row`, `pitch`, `tray`, `slack`", [])),
    (f"{ROW}; pitches 3", ("E0118", "pitches", "there is no setting of a hall `pitches` here", "did you mean `pitch`?", [])),
    (f"{ROW}; slack 1m; slack 2m", ("E0104", "slack 2m", "`slack` is set twice", "", ["slack 1m"])),
    (f"{ROW}; {ROW}", ("E0104", "A", "row `A` is declared twice", "", ["A"])),
    ("row A, A { rack 1 }", ("E0104", "A", "row `A` is declared twice", "", ["A"])),
    ("row { rack 1 }", ("E0120", "row { rack 1 }", "a row has a name", "`row A..D { rack 1..32 { height 48U } }`", [])),
    ("row A", ("E0120", "row A", "a row has racks", "`row A { rack 1..32 { height 48U } }`", [])),
    ("row A { rack 1..3; rack 3 }", ("E0104", "rack 3", "rack 3 is declared twice", "", ["rack 1..3"])),
    ("row A { row 3 }", ("E0118", "row", "there is no setting of a row `row` here", "known here: `rack`", [])),
    ("row 3 { rack 1 }", ("E0120", "3", "this is not a name of a row", NAMES, [])),
    ("row a..D { rack 1 }", ("E0120", "a..D", "this is not a name of a row", NAMES, [])),
    ("row A..d { rack 1 }", ("E0120", "A..d", "this is not a name of a row", NAMES, [])),
    ("row D..A { rack 1 }", ("E0120", "D..A", "this is not a name of a row", NAMES, [])),
    ("row ab..cd { rack 1 }", ("E0120", "ab..cd", "this is not a name of a row", NAMES, [])),
    ("row A..3 { rack 1 }", ("E0120", "A..3", "this is not a name of a row", NAMES, [])),
    ("row 3..A { rack 1 }", ("E0120", "3..A", "this is not a name of a row", NAMES, [])),
    ("row A { rack 3..2 }", ("E0120", "rack 3..2", "racks have numbers", RACKS, [])),
    ("row A { rack 131_072 }", ("E0120", "rack 131_072", "racks have numbers", RACKS, [])),
    ("row A { rack 1, 2 }", ("E0120", "rack 1, 2", "racks have numbers", RACKS, [])),
    ("row A { rack 1 x 2 }", ("E0120", "rack 1 x 2", "racks have numbers", RACKS, [])),
    ("row A { rack 1 { height 1.5U } }", ("E0120", "height 1.5U", "the height of a rack is in whole units", "`height 48U`", [])),
    ("row A { rack 1 { mass 3 } }", ("E0103", "3", "expected a mass above zero, found an int", "", [])),
    ("row A { rack 1 { mass 3kg, 4kg } }", ("E0120", "mass 3kg, 4kg", "`mass` is one mass", "", [])),
    ("row A { rack 1 { mass 3kg x 4 } }", ("E0120", "mass 3kg x 4", "`mass` is one mass", "", [])),
    ("row A { rack 1 { mass 3kg; mass 4kg } }", ("E0104", "mass 4kg", "`mass` is set twice", "", ["mass 3kg"])),
    ("row A { rack 1 { bend 3mm, 4mm } }", ("E0120", "bend 3mm, 4mm", "`bend` is one length", "`bend 1m`", [])),
    ("row A { rack 1 { bend 3mm x 2 } }", ("E0120", "bend 3mm x 2", "`bend` is one length", "`bend 1m`", [])),
    ("row A { rack 1 { bend 0mm } }",
     ("E0120", "0mm", "0mm is not a length in whole millimetres above 0mm", "such as `0.6m`", [])),
    ("row A { rack 1 { power 0 x 3kW } }", ("E0120", "power 0 x 3kW", "a rack has 1 to 16 feeds, not 0", "`power 2 x 44kW`", [])),
    ("row A { rack 1 { power 17 x 3kW } }",
     ("E0120", "power 17 x 3kW", "a rack has 1 to 16 feeds, not 17", "`power 2 x 44kW`", [])),
    ("row A { rack 1 { power 2 x 3m } }", ("E0103", "2 x 3m", "expected a power above zero, found a length", "", [])),
    (f"{ROW}; slack 3", ("E0103", "3", "expected a length, found an int", "such as `0.6m`", [])),
    (f"{ROW}; slack 3kg", ("E0103", "3kg", "expected a length, found a mass", "such as `0.6m`", [])),
    (f"{ROW}; slack 1m, 2m", ("E0120", "slack 1m, 2m", "`slack` is one length", "`slack 1m`", [])),
    (f"{ROW}; pitch 3m", ("E0120", "3m", PITCH, "`pitch rack 0.6m, row 3m`", [])),
    (f"{ROW}; pitch rack", ("E0120", "rack", PITCH, "`pitch rack 0.6m, row 3m`", [])),
    (f"{ROW}; pitch rack 1m, rack 2m", ("E0120", "rack 2m", PITCH, "`pitch rack 0.6m, row 3m`", [])),
    (f"{ROW}; pitch rack x 1m", ("E0120", "rack x 1m", PITCH, "`pitch rack 0.6m, row 3m`", [])),
    (f"{ROW}; pitch hall 1m", ("E0120", "hall 1m", PITCH, "`pitch rack 0.6m, row 3m`", [])),
    (f"{ROW}; tray", ("E0120", "tray", "a tray is above the racks or below the floor", TRAY, [])),
    (f"{ROW}; tray beside 1m", ("E0120", "tray beside 1m", "a tray is above the racks or below the floor", TRAY, [])),
    (f"{ROW}; tray above", ("E0120", "tray above", "a tray is above the racks or below the floor", TRAY, [])),
    (f"{ROW}; tray above x 1m", ("E0120", "tray above x 1m", "a tray is above the racks or below the floor", TRAY, [])),
    (f"{ROW}; tray above 1m, 2m", ("E0120", "tray above 1m, 2m", "a tray is above the racks or below the floor", TRAY, [])),
    (f"{ROW}; tray above 1m {{ along racks }}", ("E0120", "along racks", "trays run along rows", "`along rows`", [])),
    (f"{ROW}; tray above 1m {{ along rows, rows }}", ("E0120", "along rows, rows", "trays run along rows", "`along rows`", [])),
    (f"{ROW}; tray above 1m {{ across 3 }}", ("E0120", "3", "trays lead across at racks", "`across at 1, 16`", [])),
    (f"{ROW}; tray above 1m {{ across on 3 }}", ("E0120", "on 3", "trays lead across at racks", "`across at 1, 16`", [])),
    (f"{ROW}; tray above 1m {{ across at 3, at 4 }}", ("E0120", "at 4", "trays lead across at racks", "`across at 1, 16`", [])),
    (f"{ROW}; tray above 1m {{ across at 5 }}", ("E0108", "5", "no row has a rack 5", "name racks that the rows have", [])),
    (f"{ROW}; tray above 1m {{ across at 1, 0 }}", ("E0108", "0", "no row has a rack 0", "name racks that the rows have", [])),
    (f"{ROW}; tray above 1m {{ capacity 3mm }}",
     ("E0120", "capacity 3mm", "the capacity of a tray is width x depth", "`capacity 300mm x 100mm`", [])),
    (f"{ROW}; tray above 1m {{ capacity 3mm x 4mm, 5mm }}",
     ("E0120", "capacity 3mm x 4mm, 5mm", "the capacity of a tray is width x depth", "`capacity 300mm x 100mm`", [])),
]  # fmt: skip


@pytest.mark.parametrize(("block", "expected"), REFUSED, ids=lambda x: x if isinstance(x, str) else "")
def test_what_is_refused(block: str, expected: tuple[str, str, str, str, list[str]]) -> None:
    with pytest.raises(Fault) as raised:
        hall(block)
    d = raised.value.diagnostic
    assert d.span is not None
    assert (d.code, d.span.text, d.message, d.help, [x.span.text for x in d.labels]) == expected


@pytest.mark.parametrize("head", ["hall h[2]", "hall h: X"])
def test_a_hall_has_no_extent_and_no_model(head: str) -> None:
    with pytest.raises(Fault) as raised:
        hall(ROW, head)
    assert raised.value.diagnostic.message == "a hall has a name and a block"
    assert raised.value.diagnostic.help == "`hall h1 { row A { rack 1..8 { height 48U } } }`"


def test_the_most_rows_and_racks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as the limits say, and one more."""
    monkeypatch.setattr(place_statements, "ROW_LIMIT", 3)
    monkeypatch.setattr(place_statements, "RACK_LIMIT", 12)
    assert len(rows("row A..C { rack 1..4 }")) == 3
    assert rows("row A { rack 11 }") == [("A", [11])]
    for block in ("row A..D { rack 1 }", "row A..C { rack 1..5 }", "row A..B { rack 1 }; row C..D { rack 1 }"):
        with pytest.raises(Fault) as raised:
            hall(block)
        assert raised.value.diagnostic.message == "a hall has at most 3 rows and 12 racks"


@pytest.mark.parametrize("block", ["] x", "row A { ] x }", "row A { rack 1 { ] x } }", f"{ROW}; tray above 1m {{ ] x }}"])
def test_what_was_not_read_is_excused(block: str) -> None:
    with pytest.raises(Excused):
        hall(block)
