"""``allow`` narrows the parts that a connect is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.physical.model import physical_of

DESIGN = """fabric f {
  hall h { row A { rack 1..9 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 0.5m }
  switch a: QM9700
  switch b: QM9700
  connect a.p[i] to b.p[i] where i <= 4 { ALLOW }
  place a in h.A[1] at 2U
  place b in h.A[2] at 2U
}
"""


@pytest.mark.parametrize(
    ("allow", "parts"),
    [
        ("colour red", ("MFP7E10", "MMA4Z00_NS")),
        ("allow MFP7E30", ("MFP7E30", "MMS4X00_NS")),
        ("allow MFP7E30, MMS4X00_NM", ("MFP7E30", "MMS4X00_NM")),
        ("allow MMS4X00_NM", ("MFP7E30", "MMS4X00_NM")),
        ("allow MMA4Z00_NS, MFP7E30", None),  # multimode on a single-mode fibre: nothing goes together
    ],
)
def test_parts_are_chosen_from_those_allowed(allow: str, parts: tuple[str, str] | None, tmp_path: Path) -> None:
    path = tmp_path / "f.fab"
    path.write_text(DESIGN.replace("ALLOW", allow))
    fabric = compiler.compile_without_checks(str(path)).designs[0].fabric
    assert fabric is not None and fabric.complete
    physical = physical_of(fabric)
    assert physical is not None
    choice = physical.parts.choice(0)
    if parts is None:
        assert choice.cable is None and choice.why
        return
    assert choice.cable is not None and choice.optic_a is not None
    assert (choice.cable.name, choice.optic_a.name) == parts


def test_a_name_that_is_no_part(tmp_path: Path) -> None:
    path = tmp_path / "f.fab"
    path.write_text(DESIGN.replace("ALLOW", "allow MFP7E31"))
    errors = [d for d in compiler.compile_and_verify(str(path)).findings if d.severity.word == "error"]
    assert [(e.code, e.span.begin[0]) for e in errors if e.span] == [("E0102", 5)]
