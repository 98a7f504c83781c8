"""Racks with scale-up domains, intact and after failures: times between the floor, worked out by hand, and a schedule."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tdsl.compile.compiler import Request
from tdsl.compile.second_opinion import add_second_opinions
from tdsl.semantics.quantity import Quantity
from tests.harness import compile_text
from tests.tables import sections


def results(made: Any) -> dict[str, Any]:
    """Results by requirement."""
    return {r.requirement: r for r in made.designs[0].results if r.requirement}


def seconds(value: Any) -> Fraction:
    """A time in seconds."""
    assert isinstance(value, Quantity)
    return Fraction(value.amount)


NVL = sections(__file__)["nvl"]


@pytest.mark.parametrize(
    ("omit", "fail"),
    [("", ()), ("", ("rack[1].x[2]",)), ("omit rack[0].tray[3]", ("rack[1].tray[5]",)), ("", ("rack[0].tray[0].gpu[2]",))],
)
def test_an_allreduce_of_racks_is_met_whatever_fails(omit: str, fail: tuple[str, ...], tmp_path: Path) -> None:
    """A time above the schedule is met, one between the floor and the schedule is left open, and the floor is that of blocks."""
    asked = "require allreduce 140GB <= 500ms; require survives any 1 of spine with allreduce 140GB <= 500ms\n  "
    asked += "require survives any 1 of rack[0].x with allreduce 140GB <= 600ms; require allreduce 140GB <= 320ms"
    made = compile_text(NVL.format(more=f"{omit}\n  {asked}"), tmp_path, models=False, fail=fail)
    found = results(made)
    assert add_second_opinions(made, str(tmp_path / "design.fab"), Request(fail=fail)) == [], "the second opinion finds the same"
    assert [r.status for r in found.values()][:3] == ["proved"] * 3
    divided = []  # of each rack: as one block, or each accelerator by itself; blocks, and what they receive in Gb/s
    for rack in (0, 1):
        trays = 6 - (bool(omit) and rack == 0) - (fail == ("rack[1].tray[5]",) and rack == 1)
        n = trays * 4 - (fail == ("rack[0].tray[0].gpu[2]",) and rack == 0)
        lanes = 6 - (fail == ("rack[1].x[2]",) and rack == 1)
        divided.append([(1, trays * 1600), (n, n * lanes * 1200 + trays * 1600)])
    floor = max(2 * (x + y - 1) * 1120 / Fraction(c + d) for x, c in divided[0] for y, d in divided[1])
    time = found["allreduce 140GB <= 500ms"]
    assert floor == seconds(time.lower) < seconds(time.upper) < Fraction(1, 2)
    limit = Fraction(32, 100)
    wanted = "refuted" if floor > limit else "proved" if seconds(time.upper) <= limit else "bounded"
    assert found["allreduce 140GB <= 320ms"].status == wanted
