"""The `medium` of a connect decides which parts of the catalogue may be chosen, and what is said where none fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.physical.model import physical_of
from tests.harness import compile_text

DESIGN = """fabric f {
  host a: CX7
  switch b: QM9700
  connect a.nic[0] to b.p[1] { MEDIUM }
  hall h { row A { rack 1..99 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 0.5m }
  place a in h.A[1] at 2U
  place b in h.A[30] at 2U
}
model host CX7 { port nic[2]: 400Gbps { type NDR, NDR200; cage 1 OSFP flat }; height 2U }
"""

FIBRE, FAR = "MFP7E10", 30
"""What is chosen where nothing is asked for, and the rack of ``b``: 23 m away."""


def chosen(medium: str, rack: int, folder: Path) -> tuple[str, str]:
    """The cable of the only link, "" if there is none, and why there is none."""
    text = DESIGN.replace("MEDIUM", medium).replace("A[30]", f"A[{rack}]")
    fabric = compile_text(text, folder, models=False, verify=False).designs[0].fabric
    assert fabric is not None
    physical = physical_of(fabric)
    assert physical is not None
    choice = physical.parts.choice(0)
    return choice.cable.name if choice.cable is not None else "", choice.why


@pytest.mark.parametrize("medium", ["", "medium cable", "medium fibre"])
def test_fibre_where_it_is_asked_for_or_nothing_is(medium: str, tmp_path: Path) -> None:
    assert chosen(medium, FAR, tmp_path) == (FIBRE, "")


@pytest.mark.parametrize("medium", ["copper", "dac", "acc", "aoc"])
def test_no_fibre_where_a_cable_with_plugs_is_asked_for(medium: str, tmp_path: Path) -> None:
    name, why = chosen(f"medium {medium}", FAR, tmp_path)
    assert (name, why) == ("", f"no {medium} cable of the catalogue fits both cages and reaches 23.444 m")
