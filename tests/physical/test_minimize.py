"""``minimize cost`` and ``minimize power`` count cables and transceivers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.findings.source import SourceFile
from tdsl.sizing.objectives import CablePartFigures
from tests.harness import sections

TEXTS = sections(Path(__file__).parent / "minimize.txt")
MODELS = f"\n{TEXTS['MODELS']}\n"
# Eight hosts of two ports on s leaves, as many links up as down: with x leaves in the middle there are 16 more cables for each of
# the switches that a chain of two tiers adds. With one big switch C the 16 cables of hosts are all.
TEXT = f"{TEXTS['TEXT']}\n"


def answer(
    tmp_path: Path, wire: int, below: str = "FREE", above: str = "WIRE", prices: str = ""
) -> tuple[list[int], list[str], str]:
    path = tmp_path / "design.fab"
    path.write_text(MODELS.format(wire=wire) + TEXT.format(below=below, above=above, up=4))
    options = Request(prices=SourceFile("prices.toml", prices)) if prices else Request()
    found = compiler.compile_without_checks(str(path), options)
    fabric = found.designs[0].fabric if found.designs else None
    sizes = [s.count for s in fabric.sets if s.kind == "switch"] if fabric is not None else []
    said = [d.message for d in found.findings if d.code == "E0461"]
    return sizes, [d.code for d in found.findings if d.severity.word == "error"], said[0] if said else ""


@pytest.mark.parametrize(("wire", "cost"), [(0, 140), (5, 220), (100, 1740)])
def test_cables_are_part_of_the_cost(wire: int, cost: int, tmp_path: Path) -> None:
    """Four leaves of 4 hosts' links, each with 4 up, and one switch on top: $40 + $100 + 16 wires."""
    sizes, errors, said = answer(tmp_path, wire)
    assert (sizes, errors) == ([4, 1], [])
    assert said.endswith(f"cost ${cost}")


def test_prices_of_the_table_count(tmp_path: Path) -> None:
    _, errors, said = answer(tmp_path, 5, prices='currency = "USD"\n[price]\nC = 7\nWIRE = 1\n')
    assert not errors and said.endswith(f"cost ${4 * 10 + 7 + 16}")


def test_parts_of_which_some_fabrics_have_no_figure() -> None:
    """Fabrics are compared where the same parts lack the figure in all of them, or none has it."""
    for amounts, incomparable, left_out in (
        ([], False, False), ([(5, 0)], False, False), ([(5, 0), (7, 0)], False, False), ([(5, 2), (7, 2)], False, False),
        ([(5, 0), (7, 1)], True, False), ([(5, 1), (0, 3)], True, False), ([(0, 2)], False, True),
        ([(0, 2), (0, 3)], False, True), ([(0, 0)], False, False),
    ):  # fmt: skip
        parts = CablePartFigures()
        for amount, missing in amounts:
            parts.add(Fraction(amount), missing)
        assert (parts.incomparable, parts.left_out) == (incomparable, left_out)
