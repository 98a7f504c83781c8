"""Where devices are placed and how far halls are apart: racks of rows, rows by number, ends of distances, and each refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import Origin, SourceFile, SourceSpan
from tdsl.semantics.autoplace import EXAMPLE as AUTO
from tdsl.semantics.evaluate import Evaluator
from tdsl.semantics.fault import Excused, Fault
from tdsl.semantics.model import Axis, Chip, DeviceModel, DeviceSet, PathComponent
from tdsl.semantics.place_statements import Distance, Placing, RackRow, enter_physical_statement, is_physical
from tdsl.semantics.plan import Context, FabricPlan, Group
from tdsl.semantics.scope import Scope
from tdsl.syntax import tree
from tdsl.syntax.parser import parse_source_file

ORIGIN = Origin(SourceSpan(SourceFile("o.fab", "o"), 0, 1))
HALLS = "hall h1 { row A { rack 1..4 }; row B { rack 9 } }", "hall h2 { row A { rack 1 } }"
PLACE = "write `place leaf[i] in h1.A[i + 1] at 2U`, or `place leaf[*] in h1.A[3] stacked from 30U`"
FAR = "write `distance h1 to h2 120m`, or `distance dc[0] to dc[1] 100km`"


def statement(text: str) -> Any:
    """The one statement of a fabric."""
    (fabric,) = parse_source_file(SourceFile("t.fab", f"fabric f {{\n{text}\n}}\n"), Diagnostics()).body
    assert isinstance(fabric, tree.Decl) and fabric.body is not None
    (s,) = fabric.body
    return s


def plan() -> tuple[FabricPlan, Context, Context]:
    """A fabric with two halls, ``leaf[4]``, ``node[2]`` and groups ``dc[2]`` and ``su[3]``; its context and that of ``su``."""
    root = Group("f", "fabric", (), None, ORIGIN.span, Scope())
    gpu = DeviceModel("GPU", "chip", "", (), (), (), (), {}, ORIGIN)
    for kind, name, n, chips in (
        ("switch", "leaf", 4, ()),
        ("host", "node", 2, (Chip("gpu", "chip", (Axis(0, 8),), gpu, ORIGIN),)),
    ):
        model = DeviceModel(name.upper(), kind, "", (), chips, (), (), {}, ORIGIN)
        root.members[name] = DeviceSet(0, (PathComponent(name, kind, (Axis(0, n),)),), model, "", ORIGIN)
    for name, n in (("dc", 2), ("su", 3)):
        root.members[name] = Group(name, "group", (Axis(0, n),), root, ORIGIN.span, root.scope.child())
    outer = Context((root,), ())
    made = FabricPlan("f", "", ORIGIN, root, Evaluator(), absent_halls={"gone"})
    su = root.members["su"]
    assert isinstance(su, Group)
    for text in HALLS:
        assert enter_physical_statement(made, statement(text), root.scope, outer, ORIGIN) == []
    return made, outer, outer.inner(su)


def entered(text: str) -> FabricPlan:
    """The plan after a statement and all that waits."""
    made, outer, _ = plan()
    for step in enter_physical_statement(made, statement(text), made.root.scope, outer, ORIGIN):
        step()
    return made


def placed(text: str) -> Placing:
    (found,) = entered(text).placings
    return found


def apart(text: str) -> Distance:
    (found,) = entered(text).distances
    return found


def refusal(run: Callable[[], object]) -> tuple[str, str, str, str, list[str]]:
    with pytest.raises(Fault) as raised:
        run()
    d = raised.value.diagnostic
    return d.code, d.span.text if d.span else "", d.message, d.help, [f"{x.span.text}: {x.message}" for x in d.labels]


@pytest.mark.parametrize(
    ("text", "hall", "row", "rack", "stacked", "unit"),
    [
        ("place leaf[i] in h1.A[i + 1]", "h1", "A", "i + 1", False, ""),
        ("place leaf[i] in h1.B[9] at 2U", "h1", "B", "9", False, "2U"),
        ("place leaf[*] in h2.A[1] stacked from 3U", "h2", "A", "1", True, "3U"),
        ("place leaf[i] in h1[i // 2 + 1, i % 2] at i + 1", "h1", "i // 2 + 1", "i % 2", False, "i + 1"),
    ],
)
def test_places(text: str, hall: str, row: str, rack: str, stacked: bool, unit: str) -> None:
    """A row by its name or its number, a rack, and the unit that is stated."""
    p = placed(text)
    assert (p.hall.name, p.row.name if isinstance(p.row, RackRow) else p.row.span.text, p.rack.span.text) == (hall, row, rack)
    assert (p.stacked, p.unit.span.text if p.unit else "", p.origin) == (stacked, unit, ORIGIN)
    assert p.target.device is not None and p.target.device.name == "leaf"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("place su in h1.A[1]", ("E0120", "su", "`su` is a group; racks hold devices", "name a device in it", [])),
        ("place node[0].gpu in h1.A[1]",
         ("E0120", "node[0].gpu", "`node[0].gpu` is inside another device and is placed with it", "place `node`", [])),
        ("place leaf in h1.A[1] from 3U",
         ("E0120", "place leaf in h1.A[1] from 3U", "a place is `at` a unit, or `stacked from` one", PLACE, [])),
        ("place leaf in h1.A[1] stacked at 3U",
         ("E0120", "place leaf in h1.A[1] stacked at 3U", "a place is `at` a unit, or `stacked from` one", PLACE, [])),
        ("place leaf in hh1.A[1]", ("E0101", "hh1", "there is no hall `hh1` here", "did you mean `h1`?", [])),
        ("place leaf in h1.C[1]", ("E0101", "C", "there is no row of `h1` called `C` here", "known here: `A`, `B`", [])),
        *((f"place leaf in {where}", ("E0120", where, "a place is a rack: hall, row and number", PLACE, []))
          for where in ("h1", "h1.A", "h1[1]", "h1[1, 2, 3]", "h1.A[1, 2]", "h1.A[1].x", "h1[1].A")),
        *((f"place leaf in {where}", ("E0120", part, "a device is in one rack", PLACE, []))
          for where, part in (("h1.A[*]", "*"), ("h1.A[1..2]", "1..2"), ("h1[1..2, 3]", "1..2"), ("h1[1, *]", "*"),
                              ("h1.A[[1, 2]]", "[1, 2]"))),
    ],
)  # fmt: skip
def test_places_that_are_refused(text: str, expected: tuple[str, str, str, str, list[str]]) -> None:
    assert refusal(lambda: placed(text)) == expected


@pytest.mark.parametrize("text", ["place leaf in gone.A[1]", "distance h1 to gone 3m", "distance gone to h1 3m"])
def test_halls_that_have_an_error_of_their_own(text: str) -> None:
    with pytest.raises(Excused):
        entered(text)


def test_halls_that_are_refused_are_absent() -> None:
    made, outer, inner = plan()
    scope = made.root.scope
    with pytest.raises(Fault):
        enter_physical_statement(made, statement("hall h3 { slack 3m }"), scope, outer, ORIGIN)
    assert made.absent_halls == {"gone", "h3"} and [h.name for h in made.halls] == ["h1", "h2"]
    again = statement("hall h2 { row A { rack 1 } }")
    assert refusal(lambda: enter_physical_statement(made, again, scope, outer, ORIGIN)) == (
        "E0104", "h2", "`h2` is already declared in this block", "", ["o: first here"],
    )  # fmt: skip
    for text, word in (("hall h4 { row A { rack 1 } }", "hall"), ("distance h1 to h2 3m", "distance")):
        assert refusal(lambda text=text: enter_physical_statement(made, statement(text), scope, inner, ORIGIN)) == (  # type: ignore[misc]
            "E0118", text, f"`{word}` belongs in the fabric's own block", "declare it once, outside groups", [],
        )  # fmt: skip
    no_halls = FabricPlan("f", "", ORIGIN, made.root, Evaluator())
    (step,) = enter_physical_statement(no_halls, statement("place leaf in q.A[1]"), scope, outer, ORIGIN)
    assert refusal(step)[2:4] == (
        "there is no hall `q` here", "declare it: `hall h1 { row A { rack 1..8 { height 48U } } }`",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "ends", "length", "said"),
    [
        ("distance h1 to h2 120m", ["h1", "h2"], 120_000, "h1 to h2"),
        ("distance h2 to h1 1mm", ["h2", "h1"], 1, "h2 to h1"),
        ("distance dc[0]   to dc[1] 100km", [("dc", "0"), ("dc", "1")], 100_000_000, "dc[0] to dc[1]"),
        ("distance dc to su 2m", [("dc", ""), ("su", "")], 2000, "dc to su"),
    ],
)
def test_distances(text: str, ends: list[Any], length: int, said: str) -> None:
    """Two halls or two groups, and millimetres."""
    d = apart(text)
    found = [
        e if isinstance(e, str) else (e.group.name if e.group else "", e.entries[0].expr.span.text if e.entries[0].expr else "")
        for e in d.ends
    ]  # fmt: skip
    assert (found, d.length, d.text, d.span.text) == (ends, length, said, text)


BETWEEN = "a distance is between two halls, or two groups such as sites"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, ("E0120", text, BETWEEN, FAR, [])) for text in (
            "distance", "distance h1", "distance h1 to h2", "distance h1 to h2 3m, 4m", "distance 3 to h2 3m",
            "distance h1 to 3 3m", "distance h1 to h1 3m", "distance h1 from h2 3m", "distance dc[0] to dc[0] 3m",
        )),
        ("distance h1 to h2 0m", ("E0120", "0m", "0mm is not a length in whole millimetres above 0mm", "such as `0.6m`", [])),
        ("distance h1 to h2 3kg", ("E0103", "3kg", "expected a length, found a mass", "such as `0.6m`", [])),
        ("distance h1 to dc 3m",
         ("E0120", "distance h1 to dc 3m", "one end is a hall and the other is none", "name two halls, or two groups", [])),
        ("distance dc to h1 3m",
         ("E0120", "distance dc to h1 3m", "one end is a hall and the other is none", "name two halls, or two groups", [])),
        ("distance h1 to zz 3m",
         ("E0101", "zz", "there is no hall or group `zz` here", "known here: `dc`, `h1`, `h2`, `su`", [])),
        ("distance leaf to dc 3m",
         ("E0120", "leaf", "`leaf` is a device; a distance is between groups", "name a group", [])),
        ("distance zz[0] to dc 3m",
         ("E0101", "zz", "there is no device or group `zz` here", "known here: `dc`, `leaf`, `node`, `su`", [])),
    ],
)  # fmt: skip
def test_distances_that_are_refused(text: str, expected: tuple[str, str, str, str, list[str]]) -> None:
    assert refusal(lambda: apart(text)) == expected


def test_what_says_where_things_are() -> None:
    texts = ("hall h { }", "place a in h.A[1]", "distance a to b 3m", "switch a: S", "layer scaleup", "connect a to b")
    assert [is_physical(statement(t)) for t in texts] == [True, True, True, False, False, False]


def test_automatic_places() -> None:
    """Several halls or a block belong to ``place auto`` in the fabric's own block."""
    made, outer, inner = plan()
    (step,) = enter_physical_statement(made, statement("place auto in h1"), made.root.scope, outer, ORIGIN)
    assert step.func.__name__ == "place_auto"  # type: ignore[attr-defined]
    for text, at, context in (
        ("place leaf in h1.A[1], h2.A[1]", "h2.A[1]", outer),
        ("place leaf in h1.A[1] { x }", "place leaf in h1.A[1] { x }", outer),
        ("place auto in h1, h2", "h2", inner),
    ):  # fmt: skip
        s = statement(text)
        if isinstance(s, tree.PlaceStmt):
            assert refusal(lambda s=s, context=context: enter_physical_statement(made, s, made.root.scope, context, ORIGIN)) == (  # type: ignore[misc]
                "E0120", at, "only `place auto` in the fabric's own block has several halls or a block", AUTO, [],
            )  # fmt: skip
