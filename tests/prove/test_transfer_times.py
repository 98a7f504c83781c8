"""Times of designs small enough to be judged by hand, each of which was told wrong by a simpler argument."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.harness import compile_text
from tests.tables import sections

TABLE = sections(__file__)


def intervals(name: str, folder: Path) -> list[tuple[float, float]]:
    """The least and the greatest time of every report of a design, in seconds."""
    (made,) = compile_text(TABLE[name] + TABLE["models"], folder, models=False).designs
    asked = [r for r in made.results if r.requirement]
    assert asked, made.findings
    facts = [r.facts() for r in asked]
    return [tuple(float(f["value"] if f[end] is None else f[end]) for end in ("lower", "upper")) for f in facts]


@pytest.mark.parametrize("line", TABLE["seconds"].splitlines())
def test_a_transfer_takes_what_the_slowest_part_of_it_takes(line: str, here: Path) -> None:
    name, low, high = (x.strip() for x in line.split("  ") if x.strip())
    (found,) = intervals(name, here)
    wanted = [float(Fraction(x.removesuffix("ms")) / 1000) for x in (low, high)]
    assert found == (pytest.approx(wanted[0], rel=1e-12), pytest.approx(wanted[1], rel=1e-6))


def test_what_a_host_can_hand_on_is_no_floor(here: Path) -> None:
    """Each x sends a ninth of its data to each y and to r: over 400 Gb/s of r and 100 of the trunk. A path through
    r has 20 m of cable."""
    (much, _), (little, _) = intervals("relay", here)
    assert much <= 4 * 5 * 8e9 / 9 / (400e9 + 100e9) * (1 + 1e-9)
    assert little <= 4 * 5 * 4.9e-9 + 8e3 / 400e9
