"""What is offered at each place of a text, whole and in order: kinds and ranks, names, words, units and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.ide.complete import CompletionEntry, complete_word
from tdsl.ide.facts import Placed
from tdsl.ide.known import KnownNames
from tdsl.semantics.builtins import BUILTINS
from tdsl.semantics.quantity import LENGTH, POWER, RATE, UNIT_TABLE, kind_name
from tdsl.syntax.parser import parse_source_file
from tdsl.verify.check import checks_by_name
from tests.tables import sections, table

MODELS = sections(__file__)["models"]


def offered(
    text: str, folder: Path = Path("/none"), sets: tuple[Placed, ...] = (), **asked: Any
) -> tuple[int, list[CompletionEntry]]:
    """How many letters before the ``|`` of a text are replaced, and by what."""
    text = MODELS + text
    at = text.index("|")
    file = SourceFile("a.fab", text[:at] + text[at + 1 :])
    known = KnownNames(file, parse_source_file(file, Diagnostics()).body, folder / "a.fab", {}, (), sets)
    start, items = complete_word(known, file, at, **asked)
    return at - start, items


def test_topologies_of_a_fabric() -> None:
    """They come last, with their head; the first parameter of a topology is none of a block of it."""
    text = "# Mine.\ntopology t(e: ports, n: int = 3) { switch a[n]: SA }\nfabric f {\n  |"
    _, items = offered(text)
    found = [i for i in items if i.kind == "topology"]
    assert items[-len(found) :] == found and {i.rank for i in found} == {4}
    assert [i for i in found if i.text == "t"] == [
        CompletionEntry("t", "topology", "t(e: ports, n: int = 3)", "```fab\nt(e: ports, n: int = 3)\n```\n\nMine.", 4)
    ]
    assert {"clos", "ring", "torus"} <= {i.text for i in found}


@pytest.mark.parametrize(
    ("text", "dim", "replaced"),
    [
        ("fabric f { let k = 4|", None, 0),
        ("fabric f { let k = 4G|", None, 1),
        ("fabric f { let k = 4_000.25Gb/s|", None, 4),
        ("model switch M { height 4|", None, 0),
        ("model switch M { port p[1..4]: 4|", RATE, 0),
        ("fabric f { connect a to b { rate 40Gb|", RATE, 2),
        ("fabric f { connect a to b { length 4|", LENGTH, 0),
        ("model cable W { reach 4c|", LENGTH, 1),
    ],
)
def test_units(text: str, dim: Any, replaced: int) -> None:
    """Rates, lengths and powers come before the rest, and of both those without a slash."""
    expected = []
    for unit, (_, d) in UNIT_TABLE.items():
        if unit != "$" and (dim is None or d == dim):
            usual = d in (RATE, LENGTH, POWER)
            rank = {(True, False): 3, (True, True): 4, (False, False): 5, (False, True): 6}[usual, "/" in unit]
            expected.append(CompletionEntry(unit, "unit", kind_name(d), "", rank))
    assert offered(text) == (replaced, expected)


def test_nothing_in_comments_and_strings() -> None:
    for text, some in table(__file__, "asked"):
        assert bool(offered(text)[1]) == (some == "some"), text


def test_what_is_not_asked_for() -> None:
    """Nothing where a statement begins, unless it is asked for."""
    assert offered("fabric f {\n  |", unasked=True) == (0, [])
    assert offered("fabric f {\n  sw|", unasked=True) == (2, [])
    replaced, items = offered("fabric f {\n  sw|")
    assert replaced == 2 and "switch" in {i.text for i in items}
    text = "fabric f {\n  switch a: SA\n  connect |"
    assert offered(text, unasked=True) == offered(text) == (0, [CompletionEntry("a", "switch", "switch a: SA", "", 1)])


ENTRIES = [(row[0], CompletionEntry(*row[1:5], int(row[5]))) for row in table(__file__, "entries")]
ENTRIES += [("let a = |", CompletionEntry("min", "function", BUILTINS["min"].form, BUILTINS["min"].gives, 4))]


@pytest.mark.parametrize(("text", "item"), ENTRIES)
def test_each_with_all_that_is_said_of_it(text: str, item: CompletionEntry) -> None:
    assert [i for i in offered(text)[1] if i.text == item.text] == [item]


def test_checks_with_their_title_and_page() -> None:
    found = {i.text: i for i in offered("fabric f { require |")[1]}
    for name, c in checks_by_name().items():
        assert found[name] == CompletionEntry(name, "check", c.title(), c.page(), 2 if c.fails_by_default else 1)


# ---------------------------------------------------------------- devices that only compiling makes
SETS = (
    Placed("f", ("leaf",), ("switch",), "[4]", "SA"),
    Placed("f", ("su", "node"), ("group", "host"), "[2][3]", "HA"),
    Placed("f", ("su", "tor"), ("group", "switch"), "[2]", "SB"),
    Placed("g", ("core",), ("switch",), "[9]", "SA"),
    Placed("f", ("leaf",), ("switch",), "[5]", "SB"),
)


def test_devices_of_the_compiled_design() -> None:
    assert offered("fabric f { connect |", sets=SETS)[1] == [
        CompletionEntry("leaf", "switch", "switch leaf[4]: SA", "", 1),
        CompletionEntry("su", "group", "group su", "", 1),
    ]
    assert offered("fabric g { connect |", sets=SETS)[1] == [CompletionEntry("core", "switch", "switch core[9]: SA", "", 1)]
    assert offered("fabric h { connect |", sets=SETS)[1] == []
    assert offered("fabric f { connect su[0].|", sets=SETS)[1] == [
        CompletionEntry("node", "host", "host node[2][3]: HA", "", 1),
        CompletionEntry("tor", "switch", "switch tor[2]: SB", "", 1),
    ]
    assert [i.text for i in offered("fabric f { connect su[0].node[1].|", sets=SETS)[1]] == ["nic", "gpu"]
    assert [i.text for i in offered("fabric f { connect leaf.|", sets=SETS)[1]] == ["p", "q", "r"]
    assert offered("fabric f { connect su.none.|", sets=SETS)[1] == []
    own = "fabric f { host leaf: HA; connect |"
    assert [(i.text, i.kind) for i in offered(own, sets=SETS)[1]] == [("leaf", "host"), ("su", "group")]
    assert [i.text for i in offered("fabric f { host x: HA }\nextend f { connect |", sets=SETS)[1]] == ["x", "leaf", "su"]


# ---------------------------------------------------------------- files
def test_files_and_folders_that_are_used(tmp_path: Path) -> None:
    for name in ("one.fab", "2two.fab", "notes.txt", "deep/three.fab", "deep/deeper/four.fab", "empty/x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("model switch T3 { port p[2]: 400Gbps }\ndef u(k: int): int = 3\n")
    library = {i.text for i in offered("use |")[1]}
    here = [i for i in offered("use |", tmp_path)[1] if i.text not in library]
    assert here == [CompletionEntry("deep", "folder", "a folder"), CompletionEntry("one", "file", "a file")]
    assert offered("use deep.|", tmp_path)[1] == [
        CompletionEntry("deeper", "folder", "a folder"),
        CompletionEntry("three", "file", "a file"),
    ]
    assert offered("use deep.deeper.|", tmp_path)[1] == [CompletionEntry("four", "file", "a file")]
    assert offered("use empty.|", tmp_path)[1] == offered("use none.|", tmp_path)[1] == []
    assert offered("use deep |", tmp_path)[1] == []
    declared = offered("use deep.three (|", tmp_path)[1]
    assert declared == [CompletionEntry("T3", "name", "of three.fab"), CompletionEntry("u", "name", "of three.fab")]
    assert offered("use deep.three (T3, |", tmp_path)[1] == declared
    assert offered("use deep.three (T3 |", tmp_path)[1] == [CompletionEntry("as", "keyword", "", "", 8)]
    assert offered("use deep.none (|", tmp_path)[1] == []
    used = "use deep.three (T3 as M3, u as w)\nfabric f { "
    assert [i.text for i in offered(f"{used}switch s: |", tmp_path)[1]][:3] == ["SA", "SB", "M3"]
    assert offered(f"{used}let k = |", tmp_path)[1][0] == CompletionEntry("w", "function", "def u(k: int): int", "", 4)


@pytest.mark.parametrize(
    "connect", ["node[n].nic[r] to leaf[r]", "leaf[r] to node[n].nic[r]", "node[*].nic[0], node[*].nic[1] to leaf[0]"]
)
def test_cables_that_fit_come_first(connect: str) -> None:
    """Those that `tdsl list cables --for DGX_H100 --to QM9700` lists; all others behind them."""
    design = f"fabric f {{ host node[2]: DGX_H100; switch leaf[8]: QM9700; connect {connect} {{ cable | }} }}"
    _, items = offered(design)
    first = {i.text for i in items if i.rank == 1}
    assert first == {"MCA4J80_FTF", "MCA7J65", "MCP7Y10", "MFP7E10", "MFP7E30"}
    assert [i.text in first for i in items] == sorted((i.text in first for i in items), reverse=True)
    assert all(i.detail.startswith("fits: ") for i in items if i.text in first) and "WA" in {i.text for i in items}
    _, unknown = offered("fabric f { switch leaf[8]: QM9700; connect leaf[r] to nothing { cable | } }")
    assert {i.text for i in unknown} == {i.text for i in items} and {i.rank for i in unknown} == {1}
