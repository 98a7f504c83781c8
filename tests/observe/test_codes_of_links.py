"""Codes of speeds and widths in ibdiagnet's tables, and figures of a design that are no numbers."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from tdsl.observe.asbuilt import _figure_of_result
from tdsl.observe.readers.ibdiagnet import SPEEDS, WIDTHS


def test_codes_of_speeds_and_widths() -> None:
    """LinkSpeedActive, LinkSpeedExtActive in the second byte, FDR10 and XDR above; LinkWidthActive. Source: InfiniBand
    Architecture Specification, volume 1, PortInfo, and infiniband/iba/ib_types.h of OpenSM."""
    assert SPEEDS == {
        1: "SDR", 2: "DDR", 4: "QDR", 256: "FDR", 512: "EDR", 1024: "HDR", 2048: "NDR", 65536: "FDR10", 16777216: "XDR",
    }  # fmt: skip
    assert WIDTHS == {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}


@pytest.mark.parametrize(
    ("lower", "value", "found"),
    [
        (None, None, Fraction(0)),
        (None, 3, Fraction(3)),
        (2, 3, Fraction(2)),
        (0, 3, Fraction(0)),
        (Fraction(1, 3), 3, Fraction(1, 3)),
        (None, 0.5, Fraction(1, 2)),
        (None, float("nan"), Fraction(0)),
        (None, float("inf"), Fraction(0)),
        (None, "3", Fraction(0)),
    ],
)
def test_the_figure_of_a_result(lower: object, value: object, found: Fraction) -> None:
    """The proved bound where there is one; what is no number counts as nothing."""
    result: Any = SimpleNamespace(lower=lower, value=value)
    assert _figure_of_result(result) == found
