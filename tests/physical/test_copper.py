"""Copper: chosen by length where its plugs fit, and one cable for all links of the cages that it fills."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.fabric.cables.identity import CableIndex
from tdsl.physical.model import physical_of

MODELS = """
model switch ONE { port p[1..8]: 800Gbps { type GE800; cage 1 OSFP finned }; height 1U }
model host CARD { port nic[2]: 400Gbps { type NDR; cage 1 OSFP flat }; height 2U }
"""
HALL = "  hall h { row A { rack 1..9 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 0.2m }\n"


def elaborated(body: str, tmp_path: Path):  # type: ignore[no-untyped-def]
    path = tmp_path / "design.fab"
    path.write_text("fabric f {\n" + body + "}\n" + MODELS)
    found = compiler.compile_without_checks(str(path))
    return found.designs[0].fabric if found.designs else None, [d.code for d in found.findings if d.severity.word == "error"]


@pytest.mark.parametrize(
    ("unit", "rack", "part"), [(40, 1, "MCP4Y10"), (1, 1, "MCA4J80"), (38, 2, "MCA4J80"), (1, 9, "MPO16_SM")]
)
def test_copper_by_length(unit: int, rack: int, part: str, tmp_path: Path) -> None:
    """From unit 38, in mm: to 40 of the same rack 88.9 + 400; to 1 of it 37 * 44.45 + 400 = 2,045, more than the 2 m of the
    passive cable; to 38 of the next 600 + 2 * 933 + 400 = 2,866; to 1 of the last 4,800 + 933 + 2,578 + 400 = 8,711, too far
    for copper: a fibre of eight pairs with a DR8 transceiver at each end."""
    body = HALL + "  switch a: ONE\n  switch b: ONE\n  connect a to b x 2\n"
    body += f"  place a in h.A[1] at 38U\n  place b in h.A[{rack}] at {unit}U\n"
    fabric, errors = elaborated(body, tmp_path)
    assert fabric is not None and not errors
    physical = physical_of(fabric)
    assert physical is not None
    choice = physical.parts.choice(0)
    assert (choice.cable.name if choice.cable else "") == part
    ends = [o.name if o else "" for o in (choice.optic_a, choice.optic_b)]
    assert ends == (["MMS4X00_NM16"] * 2 if part == "MPO16_SM" else ["", ""])


def test_a_plug_fills_its_cage(tmp_path: Path) -> None:
    """Four links of 400 Gb/s between two QM9700 are four fibres, or two cables of two links each."""
    for part, cables, links in (("MFP7E10", 4, 1), ("MCP4Y10", 2, 2)):
        body = f"  switch a: QM9700\n  switch b: QM9700\n  connect a.p[i] to b.p[i] where i <= 4 {{ cable {part} }}\n"
        fabric, errors = elaborated(body, tmp_path)
        assert fabric is not None and not errors
        assert len(fabric.cable_a) == cables and set(fabric.cable_links.tolist()) == {links}
        crossed = CableIndex(fabric).crossings
        assert sorted(crossed[0].tolist()) == [0, 1, 2, 3]
        assert Counter(crossed[1].tolist()) == dict.fromkeys(range(cables), links)


def test_a_splitter_has_two_legs_from_one_cage(tmp_path: Path) -> None:
    body = "  host n: CARD\n  switch s: QM9700\n  connect n.nic[i] to s.p[i + 1] { cable MCP7Y00 }\n"
    fabric, errors = elaborated(body, tmp_path)
    assert fabric is not None and not errors
    assert fabric.cable_leg.tolist() == [1, 2] and set(fabric.cable_group.tolist()) == {0}


def test_a_cage_that_leads_to_two_needs_a_splitter(tmp_path: Path) -> None:
    body = "  switch a: QM9700\n  switch b[2]: QM9700\n  connect a.p[1] to b[0].p[1] { cable MCP4Y10 }\n"
    body += "  connect a.p[2] to b[1].p[1] { cable MCP4Y10 }\n"
    _, errors = elaborated(body, tmp_path)
    assert "E0202" in errors
