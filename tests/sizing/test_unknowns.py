"""Holes: the least whole number for which spreads are even and ports suffice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.findings.diagnostic import Severity
from tests.harness import compile_text
from tests.tables import sections

TWO = sections(__file__)["two"]


def sizes(result: compiler.Compilation) -> dict[str, int]:
    fabric = result.designs[0].fabric
    assert fabric is not None, [d.message for d in result.findings]
    assert not [d.message for d in result.findings if d.severity is Severity.ERROR]
    return {s.path: s.count for s in fabric.sets}


@pytest.mark.parametrize(("units", "spines"), [(1, 4), (2, 8), (3, 16), (4, 16)])
def test_the_superpod(units: int, spines: int) -> None:
    """At 3 units 12 spines would have the ports, and 32 does not divide by 12."""
    result = compiler.compile_without_checks("dgx_superpod_h100", Request(set=(("units", str(units)),)))
    assert sizes(result)["spine"] == spines
    (note,) = result.findings
    assert note.span is not None and (note.code, note.severity, note.span.text) == ("E0461", Severity.NOTE, "?")
    assert note.message == f"`spine` is {spines}, the least number that fits"
    assert len(note.notes) == 2


def test_several_in_order_of_the_text(tmp_path: Path) -> None:
    more = TWO.replace("\n}\n", "\n  switch core[?]: SW\n  connect spine[*] to core[*] spread\n}\n")
    result = compile_text(more, tmp_path, verify=False)
    assert (sizes(result)["spine"], sizes(result)["core"]) == (4, 2)


def test_a_let_is_the_same_everywhere(tmp_path: Path) -> None:
    text = sections(__file__)["text of a let is the same everywhere"]
    result = compile_text(text, tmp_path)
    assert sizes(result)["g.b"] == 8
    assert result.designs[0].results[0].status == "proved"


def test_nothing_fits(tmp_path: Path) -> None:
    text = TWO.replace("  switch spine[?]: SW\n", "  let few = ? where few <= 1\n  switch spine[few]: SW\n")
    (found,) = compile_text(text, tmp_path).findings
    assert (found.code, found.message) == ("E0459", "no number fits `few`")
    assert any("needs 16 free ports" in x.message and x.span.begin[0] == 7 for x in found.labels)


def test_a_fault_that_no_number_mends_is_said_itself(tmp_path: Path) -> None:
    for text, code in [(TWO.replace("node[8]", "node[99]"), "E0108"), (TWO.replace("leaf[4]: SW", "leaf[4]: SWW"), "E0102")]:
        assert [d.code for d in compile_text(text, tmp_path).findings] == [code]


def test_a_hole_elsewhere(tmp_path: Path) -> None:
    assert [
        d.code for d in compile_text("let n = ?\nfabric f {\n switch a[n]: SW\n connect a[*] ring\n}\n", tmp_path).findings
    ] == ["E0120"]


def test_missing_ports_that_no_number_mends(tmp_path: Path) -> None:
    """72 hosts of one leaf beside 64 links up: each number of both unknowns fails alike, and the ports are what is said."""
    text = sections(__file__)["text of missing ports that no number mends"]
    found = [d for d in compile_text(text, tmp_path, verify=False).findings if d.severity is Severity.ERROR]
    assert [d.code for d in found] == ["E0452"]
    assert "leaf[0] needs 72 free ports `p` and has 64" in found[0].message
    mended = sizes(compile_text(text.replace("x 64", "x 56"), tmp_path, verify=False))
    assert (mended["leaf"], mended["spine"]) == (2, 1)
