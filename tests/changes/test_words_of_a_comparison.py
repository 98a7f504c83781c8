"""What a comparison and an order of moves print, letter by letter, from records made by hand."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.changes import words
from tdsl.changes.figure_changes import changed_metrics, short_result
from tdsl.changes.model import CableEnd, CableLeg, Change, Changes, Metric, MovedCable
from tdsl.changes.steps import MovePlan, MoveStep
from tdsl.report.paint import Paint
from tdsl.verify.result import Result


def end(device: str, port: str) -> CableEnd:
    return CableEnd(device, device.replace("[", "").replace("]", ""), port, f"P{port}")


HALL = (("h1", "r1", "3"), ("h1", "r2", "4"))
OTHER = (("h1", "r1", "3"), ("h2", "r9", "4"))
ONE = CableLeg(end("leaf[0]", "1"), end("spine[0]", "2"), "leaf-spine", (("part", "DAC"), ("length", "3")))
TWO = CableLeg(end("leaf[1]", "1"), end("spine[0]", "3"), "leaf-spine", (("part", "AOC"), ("length", "5")), places=HALL)
THREE = CableLeg(end("host[0]", "0"), end("leaf[0]", "9"), "host-leaf", (("part", "DAC"), ("length", "1")))
MOVE = MovedCable(ONE.a, ONE.b, end("spine[1]", "7"), "leaf-spine", ONE, TWO)

FULL = Changes(
    "f",
    devices_added=[("spine[2]", "SW"), ("spine[3]", "SW"), ("lone", "BOX")],
    devices_removed=[("leaf[7]", "SW")],
    models=[Change("leaf[0]", "SW", "BIG")],
    renamed=[Change("2 devices", "spine", "core")],
    names=[Change("leaf[0]", "leaf0", "tor0")],
    ports=[Change("leaf[0].1", "P1", "IB1")],
    added=[ONE, TWO, THREE],
    removed=[THREE],
    moved=[MOVE],
    replaced=[(TWO, TWO), (TWO, replace(TWO, places=OTHER)), (ONE, ONE)],
    relocated=[MOVE, MOVE],
    places=[Change("spine[0]", "h1 r2 unit 4", "")],
    cables=[Change("leaf1 P1 to spine0 P3: part", "DAC", "AOC")],
    addresses=[Change("leaf[0] ASN", "", "65001")],
    parameters=[Change("n", "1", "2")],
    figures=[Change("switches", "1,000", "998"), Change("links", "", "1,204"), Change("cost", "1 kUSD", "2 kUSD")],
    metrics=[
        Metric("non-blocking", "yes", "no", None, None, ("proved", "refuted")),
        Metric("bisection", "50%", "60%", 0.5, 0.6, ("bounded", "bounded")),
        Metric("deadlock", "no", "yes", None, None, ("refuted", "proved")),
    ],
)

ROWS = [
    (
        "figures",
        [("~", "switches  1,000 → 998  (-2)"), ("~", "links  none → 1,204  (+1,204)"), ("~", "cost  1 kUSD → 2 kUSD")],
    ),
    (
        "devices",
        [("+", "2 spine: spine[2] to spine[3] (SW)"), ("+", "lone (BOX)"), ("-", "leaf[7] (SW)"), ("~", "leaf[0]  SW → BIG")],
    ),
    (
        "cables: +3 new, -1 gone, 1 moved, 1 other facts",
        [
            ("+", "leaf0 P1 to spine0 P2 (leaf-spine)"),
            ("+", "leaf1 P1 to spine0 P3 (leaf-spine)"),
            ("+", "host0 P0 to leaf0 P9 (host-leaf)"),
            ("-", "host0 P0 to leaf0 P9 (host-leaf)"),
            ("~", "leaf0 P1: from spine0 P2 to spine1 P7 (leaf-spine)"),
            ("~", "leaf1 P1 to spine0 P3: part  DAC → AOC"),
        ],
    ),
    ("renamed in the design", [("~", "2 devices: spine → core")]),
    ("places", [("~", "spine[0]  h1 r2 unit 4 → none")]),
    ("names", [("~", "leaf[0]  leaf0 → tor0")]),
    ("ports", [("~", "leaf[0].1  P1 → IB1")]),
    ("addresses", [("~", "leaf[0] ASN  none → 65001")]),
]

CABLES = (
    "cables: 3 new (host-leaf 1, leaf-spine 2), 1 removed (host-leaf 1), 1 moved (leaf-spine 1), "
    "3 of devices that are mounted elsewhere, 2 of another part or length"
)


def test_sections_of_a_comparison() -> None:
    assert words.change_sections(FULL) == ROWS
    assert words.change_sections(Changes("f")) == []
    ends = Changes("f", figures=[Change("a", "5", ""), Change("b", "", "5"), Change("c", "", ""), Change("d", "x", "5")])
    rows = ["a  5 → none  (-5)", "b  none → 5  (+5)", "c  none → none  (+0)", "d  x → 5"]
    assert words.change_sections(ends) == [("figures", [("~", row) for row in rows])]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (FULL, ["contract: 1 parameter changed", CABLES, "fails now: non-blocking"]),
        (Changes("f"), []),
        (Changes("f", figures=[Change("a", "1", "2")]), ["no cable changes"]),
        (Changes("f", added=[ONE]), ["cables: 1 new (leaf-spine 1); no existing cable moves"]),
        (Changes("f", added=[replace(ONE, link_class="")]), ["cables: 1 new; no existing cable moves"]),
        (Changes("f", added=[ONE, replace(ONE, link_class="")]), ["cables: 2 new ( 1, leaf-spine 1); no existing cable moves"]),
        (Changes("f", removed=[ONE]), ["cables: 1 removed (leaf-spine 1)"]),
        (Changes("f", moved=[MOVE]), ["cables: 1 moved (leaf-spine 1)"]),
        (Changes("f", names=FULL.names, relocated=[MOVE]), ["cables: 1 of devices that are mounted elsewhere"]),
        (Changes("f", names=FULL.names, replaced=[(ONE, ONE)]), ["cables: 1 of another part or length"]),
    ],
)
def test_the_summary_of_a_comparison(changes: Changes, said: list[str]) -> None:
    assert list(words.change_summary(changes)) == said


def test_a_comparison_on_a_terminal() -> None:
    """Signs, columns and lines of a narrow terminal; two fabrics stand apart."""
    empty = replace(FULL, metrics=[])
    assert (
        words.changes_as_text([Changes("a"), Changes("b")], Paint(False), 80, False) == "a  no difference\n\nb  no difference\n"
    )
    said = words.changes_as_text([FULL], Paint(False), 300, False).split("\n")
    assert said[:12] == [
        "f", "  contract: 1 parameter changed", f"  {CABLES}", "  fails now: non-blocking", "", "  parameters", "  ~ n 1 → 2", "",
        "  non-blocking  yes → no", "  bisection     50% → 60%", "  deadlock      no → yes", "",
    ]  # fmt: skip
    assert said[-3:] == ["  addresses", "  ~ leaf[0] ASN none → 65001", ""]
    assert words.changes_as_text([empty], Paint(False), 300, False).split("\n")[4:8] == [
        "  parameters",
        "  ~ n 1 → 2",
        "",
        "  figures",
    ]


@pytest.mark.parametrize("width", [10, 42, 43, 46, 47, 60, 90])
def test_lines_of_a_narrow_terminal(width: int) -> None:
    """Sentences and rows break where a word more would not go on the line."""
    row = Change("ab cde f gh " * 12, "aa", "bb")
    failing = Metric("a b " * 40 + "c", "yes", "no", None, None, ("proved", "refuted"))
    lines = words.changes_as_text(
        [replace(FULL, names=[row] * 3, metrics=[failing], parameters=[])], Paint(False), width, False
    ).split("\n")
    head = lines[1 : lines.index("")]
    assert " ".join(line.strip() for line in head) == f"{CABLES} fails now: {failing.name}"
    at = lines.index("  names") + 1
    rows = lines[at : lines.index("", at)]
    begins = [i for i, line in enumerate(rows) if line.startswith("  ~ ")]
    assert len(begins) == 3 and begins[0] == 0
    one = rows[: begins[1]]
    assert " ".join(line[4 if i == 0 else 6 :] for i, line in enumerate(one)) == f"{row.what} aa → bb".replace("  ", " ")
    for block, indent, least in ((head, 2, 40), (one, 6, 40)):
        broad = [len(line) - (4 if line.startswith("  ~ ") else indent) for line in block]
        for i, (size, after) in enumerate(zip(broad, block[1:], strict=False)):
            assert size <= max(width - indent, least), block[i]
            if not after.startswith("  fails"):
                assert size + 1 + len(after.split()[0]) > max(width - indent, least), block[i]


def painted(style: str, text: str) -> str:
    return f"<{style}>{text}</>"


def test_the_colours_of_a_comparison() -> None:
    """Better is good, worse is bad, and what only differs is neither."""
    paint: Any = painted
    said = words.changes_as_text([FULL], paint, 300, False)
    assert re.findall(r"<(\w+)>(non-blocking|bisection   |deadlock    )</>", said) == [
        ("bad", "non-blocking"), ("bold", "bisection   "), ("good", "deadlock    "),
    ]  # fmt: skip
    assert "<bold>f</>\n" in said and "<bold>parameters</>" in said
    assert "<good>+</> lone (BOX)" in said and "<bad>-</> leaf[7] (SW)" in said and "<middling>~</> n 1 → 2" in said


STATUS = ("", "proved", "modelled", "bounded", "refuted", "skipped")


@pytest.mark.parametrize("before", STATUS)
@pytest.mark.parametrize("after", STATUS)
def test_the_colour_of_a_result(before: str, after: str) -> None:
    good = ("proved", "modelled")
    style = "bold"
    if after in good and before and before not in good:
        style = "good"
    if after == "refuted" and before != "refuted":
        style = "bad"
    assert words._metric_style(Metric("m", "", "", None, None, (before, after))) == style
    failing = after == "refuted" and before != "refuted"
    one = Changes("f", metrics=[Metric("m", "", "", None, None, (before, after))])
    assert ("fails now: m" in list(words.change_summary(one))) == failing


# ---------------------------------------------------------------- Markdown

MARKDOWN = f"""\
### f

Contract: 1 parameter changed.

{CABLES[0].upper()}{CABLES[1:]}.

Fails now: non-blocking.

| contract | before | after | change |
|---|---|---|---|
| parameter n | 1 | 2 | changed |

| figure | before | after | |
|---|---|---|---|
| non-blocking | yes | no | proved → refuted |
| bisection | 50% | 60% | bounded |
| deadlock | no | yes | refuted → proved |
| switches | 1,000 | 998 | -2 |
| links |  | 1,204 | +1,204 |
| cost | 1 kUSD | 2 kUSD |  |

"""


def block(title: str, rows: list[tuple[str, str]]) -> str:
    lines = "".join(f"{'!' if sign == '~' else sign} {row}\n" for sign, row in rows)
    return f"<details><summary>{title}</summary>\n\n```diff\n{lines}```\n</details>\n\n"


def test_a_comparison_as_markdown() -> None:
    whole = MARKDOWN + "".join(block(title, rows) for title, rows in ROWS if title != "figures")
    assert words.changes_as_markdown([FULL], False) == whole.rstrip() + "\n"
    assert (
        words.changes_as_markdown([Changes("a"), Changes("b")], False) == "### a\n\nNo difference.\n\n### b\n\nNo difference.\n"
    )
    bare = Changes("f", names=FULL.names)
    assert words.changes_as_markdown([bare], False) == f"### f\n\nNo cable changes.\n\n{block(*ROWS[5])}".rstrip() + "\n"


@pytest.mark.parametrize("count", [47, 48, 49, 60])
def test_forty_eight_rows_of_a_section(count: int) -> None:
    many = Changes("f", names=[Change(f"d{i}", "", "x") for i in range(count)])
    for whole in (False, True):
        shown = count if whole else min(count, 48)
        said = words.changes_as_markdown([many], whole)
        assert re.findall(r"^! (d\d+)  none → x$", said, re.MULTILINE) == [f"d{i}" for i in range(shown)]
        assert re.findall(r"^# and (\d+) more$", said, re.MULTILINE) == ([str(count - 48)] if shown < count else [])


def test_a_comment_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole sections go, and their number is said; what fits exactly is left."""
    parts = [Changes(f"f{i}", names=[Change("d", "a", "x" * 300)], ports=[Change("p", "a", "y" * 300)]) for i in range(4)]
    whole = words.changes_as_markdown(parts, True)
    assert words.changes_as_markdown(parts, False) == whole
    monkeypatch.setattr(words, "COMMENT", len(whole))
    assert words.changes_as_markdown(parts, False) == whole
    heads = [m.start() for m in re.finditer(r"\n(?:<details>|### )", whole)]
    assert len(heads) == 11  # four fabrics but the first line, and two sections each
    for limit in (len(whole) - 1, len(whole) - 400, 1700, 1300, 900):
        monkeypatch.setattr(words, "COMMENT", limit)
        width = {head: 11 if whole.startswith("\n<details>", head) else 5 for head in heads}
        end = max(h for h in heads if h + (10 if width[h] == 11 else 5) <= limit - 200)
        left = sum(h >= end for h in heads)
        said = f"{left} parts more are left out, so that it fits in a comment; `tdsl diff` prints them.\n"
        assert words.changes_as_markdown(parts, False) == f"{whole[:end].rstrip()}\n\n{said}"
        assert words.changes_as_markdown(parts, True) == whole


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a  b\n c", "a b c"), ("a|b", "a\\|b"), ("`x`", "\\`x\\`"), ("a\\b", "a\\\\b"), ("<b>&", "&lt;b>&amp;"),
        ("[x](y)", "[x]\\(y)"), ("plain", "plain"),
    ],
)  # fmt: skip
def test_a_cell_is_no_markup(text: str, cell: str) -> None:
    assert words._markdown_cell(text) == cell


# ---------------------------------------------------------------- JSON


def test_a_comparison_as_json() -> None:
    found = words.changes_document(FULL)
    assert "relocated" not in found and "replaced" not in found
    assert found["same"] is False and words.changes_document(Changes("f"))["same"] is True
    assert found["fabric"] == "f"
    assert found["devices_added"] == [
        {"device": "spine[2]", "model": "SW"}, {"device": "spine[3]", "model": "SW"}, {"device": "lone", "model": "BOX"},
    ]  # fmt: skip
    assert found["devices_removed"] == [{"device": "leaf[7]", "model": "SW"}]
    point = {"device": "host[0]", "name": "host0", "port": "0", "label": "P0"}
    far = {"device": "leaf[0]", "name": "leaf0", "port": "9", "label": "P9"}
    three = {"a": point, "b": far, "class": "host-leaf", "part": "DAC", "length": "1"}
    assert found["removed"] == [three]
    added: Any = found["added"]
    assert added[2] == three and len(added) == 3
    moved: Any = found["moved"]
    assert [(m["stays"]["name"], m["before"]["name"], m["after"]["name"], m["class"]) for m in moved] == [
        ("leaf0", "spine0", "spine1", "leaf-spine")
    ]
    assert set(moved[0]) == {"stays", "before", "after", "class"}
    assert found["metrics"] == [
        {"name": m.name, "before": m.before, "after": m.after, "value_before": m.value_before, "value_after": m.value_after,
         "status_before": m.verdicts[0], "status_after": m.verdicts[1]}
        for m in FULL.metrics
    ]  # fmt: skip
    assert found["names"] == [{"what": "leaf[0]", "before": "leaf0", "after": "tor0"}]


# ---------------------------------------------------------------- steps

HALF = Fraction(1, 2)
PLAN = MovePlan(
    HALF,
    Fraction(3, 4),
    Fraction(7, 8),
    ("host[0]",),
    ("host[4]", "host[5]", "host[6]"),
    [MoveStep((), (ONE,), Fraction(3, 4), Fraction(3, 4)), MoveStep((TWO, THREE), (ONE,), HALF, Fraction(15, 16))],
    True,
)


def test_an_order_of_moves() -> None:
    assert (
        words.move_steps_text(PLAN, Paint(False), 80, False)
        == """\
order of moves, bisection never below 50% (before: 75%)
  out of service until the end: host[0]
  1. unplug 0, plug 1, then 75%
     + leaf0 P1 to spine0 P2
  2. unplug 2, plug 1, 50% while they are out, then 93.75%
     - leaf1 P1 to spine0 P3
     - host0 P0 to leaf0 P9
     + leaf0 P1 to spine0 P2
  then into service: 3 hosts, host[4] to host[6]; bisection 87.5%
"""
    )


def test_an_order_of_moves_that_is_not_there() -> None:
    none = MovePlan(HALF, complete=True)
    assert (
        words.move_steps_text(none, Paint(False), 80, False) == "order of moves, bisection never below 50%\n  nothing to move\n"
    )
    for end_, join in ((None, ("host[4]",)), (HALF, ())):
        assert "into service" not in words.move_steps_text(replace(PLAN, end=end_, join=join), Paint(False), 80, False)
    assert "into service" not in words.move_steps_text(replace(PLAN, complete=False), Paint(False), 80, False)
    for proved, said in ((True, "no order keeps the floor"), (False, "no order was found; that there is none is not proved")):
        plan = MovePlan(HALF, proved=proved, why="why not")
        assert words.move_steps_text(plan, Paint(False), 200, False).split("\n")[1:] == [f"  {said}: why not", ""]
    plan = MovePlan(HALF, why="word " * 30)
    for width in (10, 42, 43, 70):
        lines = words.move_steps_text(plan, Paint(False), width, False).split("\n")[1:-1]
        for line, after in pairwise(lines):
            assert len(line) <= max(width, 42) < len(line) + 1 + len(after.split()[0])


@pytest.mark.parametrize("rows", [11, 12, 13, 14, 15, 30])
def test_rows_of_a_step(rows: int) -> None:
    plan = MovePlan(HALF, steps=[MoveStep((ONE,) * (rows - 1), (TWO,), HALF, HALF)], complete=True)
    for whole in (False, True):
        shown = rows if whole or rows <= 13 else 12
        said = words.move_steps_text(plan, Paint(False), 80, whole).split("\n")
        assert sum(" to spine0" in line for line in said) == shown
        assert [line for line in said if "more" in line] == (
            [f"       and {rows - shown} more; --full shows them"] if shown < rows else []
        )


def test_the_signs_of_a_step_have_colours() -> None:
    paint: Any = painted
    said = words.move_steps_text(PLAN, paint, 80, False)
    assert "<good>+</> leaf0" in said and "<bad>-</> leaf1" in said


def test_the_share_of_cables_that_change() -> None:
    changes = Changes("f", added=[ONE, TWO, THREE], moved=[MOVE, MOVE], removed=[THREE])
    old: Any = SimpleNamespace(cable_a=[0] * 1200)
    assert words.share_moved(changes, old) == "3 cables to lay, 2 to move, 1 to remove: 0.25% of 1,200 change"
    for none in (None, SimpleNamespace(cable_a=[])):
        nothing: Any = none
        assert words.share_moved(changes, nothing) == "3 cables to lay, 2 to move, 1 to remove"


def test_an_order_of_moves_as_json() -> None:
    cable = {
        c: {"a": {"device": c.a.device, "name": c.a.name, "port": c.a.port, "label": c.a.label},
            "b": {"device": c.b.device, "name": c.b.name, "port": c.b.port, "label": c.b.label},
            "class": c.link_class, **dict(c.facts)}
        for c in (ONE, TWO, THREE)
    }  # fmt: skip
    assert words.steps_document(PLAN) == {
        "floor": 0.5, "before": 0.75, "end": 0.875, "out_of_service": ["host[0]"],
        "into_service": ["host[4]", "host[5]", "host[6]"], "found": True, "impossible": False, "reason": "",
        "steps": [
            {"unplug": [], "plug": [cable[ONE]], "bisection_during": 0.75, "bisection_after": 0.75},
            {"unplug": [cable[TWO], cable[THREE]], "plug": [cable[ONE]], "bisection_during": 0.5, "bisection_after": 0.9375},
        ],
    }  # fmt: skip
    none = words.steps_document(MovePlan(HALF, proved=True, why="x"))
    assert (none["before"], none["end"], none["found"], none["impossible"], none["reason"]) == (None, None, False, True, "x")


# ---------------------------------------------------------------- results


def result(
    check: str = "bisection", status: str = "proved", value: object = Fraction(3, 4), unit: str = "fraction", **more: object
) -> Result:
    made: dict[str, Any] = {
        "check": check, "status": status, "value": value, "unit": unit, "lower": value, "upper": value, "exact": True,
        "ratio": None, "link_class": "", "witness": {}, "reason": "", "requirement": None, "origin": None, "text": "", **more,
    }  # fmt: skip
    return Result(**made)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (result(), "75%"),
        (result(value=Fraction(15, 16)), "93.75%"),
        (result(status="skipped"), "not judged"),
        (result(ratio=(48, 7)), "48:7"),
        (result(value=True), "yes"),
        (result(value=False, status="refuted"), "no"),
        (result(value=None), "yes"),
        (result(value=None, status="refuted"), "no"),
        (result(value=True, status="bounded"), "bounded"),
        (result(lower=Fraction(1, 2)), "50% to 75%"),
        (result(lower=Fraction(1, 2), upper=Fraction(1, 2)), "75%"),
        (result(lower=None, upper=Fraction(1)), "75%"),
        (result(value=12345, unit="links"), "12,345"),
        (result(value=Fraction(12345, 2), unit="links"), "6,172"),
        (result(value=1, lower=1, upper=3, unit="hops"), "1 to 3"),
        (result(value=1, unit="fraction"), "100%"),
    ],
)
def test_a_result_in_a_word(made: Result, said: str) -> None:
    assert short_result(made) == said


def test_results_that_differ() -> None:
    """By what was required where a check was asked twice; "" and None where one side has no such result."""
    old = [result(), result("diameter", value=3, unit="hops"), result("a", scope="s"), result("x", requirement="x >= 1")]
    new = [
        result(value=Fraction(1, 2)), result("diameter", value=3, unit="hops"), result("a", value=True, scope="s"),
        result("x", requirement="x >= 1"), result("x", requirement="x >= 2", value=Fraction(1)), result("new", status="skipped"),
    ]  # fmt: skip
    found = changed_metrics(old, new)
    assert found == [
        Metric("bisection", "75%", "50%", 0.75, 0.5, ("proved", "proved")),
        Metric("a of s", "75%", "yes", 0.75, None, ("proved", "proved")),
        Metric("x >= 2", "", "100%", None, 1.0, ("", "proved")),
        Metric("new", "", "not judged", None, None, ("", "skipped")),
    ]
    assert changed_metrics(new, old)[2] == Metric("x >= 2", "100%", "", 1.0, None, ("proved", ""))
    assert changed_metrics([result()], [result(status="bounded")]) == [
        Metric("bisection", "75%", "75%", 0.75, 0.75, ("proved", "bounded"))
    ]
    twice = [result(requirement="r1"), result(requirement="r2", value=Fraction(1, 4))]
    assert [m.name for m in changed_metrics(twice, [])] == ["r1", "r2"]
    assert [m.name for m in changed_metrics([result(requirement="r1")], [result(requirement="r2", value=Fraction(1))])] == [
        "bisection"
    ]
    assert [m.name for m in changed_metrics([result(requirement="r1")], twice)] == ["r2"]
