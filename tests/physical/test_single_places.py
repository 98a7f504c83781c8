"""Racks that are filled device by device, ways that are not known, and what one tight cable is called."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.physical.auto import _Floor, _Unplaceable
from tests.harness import compile_text
from tests.physical.test_path_bound import HALL, wired

SIZES = [(2, 30, 5), (1, 10, 9), (4, 5, 1), (1, 1, 1), (3, 20, 4)]
"""Height, power and mass of five devices."""


@pytest.mark.parametrize("each", [1, 2, 5])
@pytest.mark.parametrize(
    "limits", [(4, 99, 99), (99, 30, 99), (99, 99, 9), (5, 40, 10), (99, 99, 99), (11, 66, 20), (10, 65, 19)]
)
def test_racks_are_filled_up_to_each_limit(limits: tuple[int, int, int], each: int) -> None:
    """The next rack begins with the first device that one limit has no space for."""
    expected: list[list[int]] = []
    for d in range(len(SIZES)):
        last = expected[-1] if expected else None
        sums = [sum(SIZES[x][k] for x in [*(last or ()), d]) for k in range(3)]
        if last is None or len(last) == each or any(s > m for s, m in zip(sums, limits, strict=True)):
            expected.append([d])
        else:
            last.append(d)
    floor: Any = SimpleNamespace(size=np.array(SIZES))
    assert _Floor._filled(floor, range(len(SIZES)), limits, each) == expected


@pytest.mark.parametrize("limits", [(3, 99, 99), (99, 29, 99), (99, 99, 8)])
def test_a_device_beyond_one_limit_has_no_rack(limits: tuple[int, int, int]) -> None:
    floor: Any = SimpleNamespace(size=np.array(SIZES))
    with pytest.raises(_Unplaceable):
        _Floor._filled(floor, range(len(SIZES)), limits, 9)


@pytest.mark.parametrize("tray", [True, False])
def test_ways_between_racks(tray: bool, tmp_path: Path) -> None:
    """Without a tray every way is -1; with one the way of a rack to itself is none, and of others the same both ways."""
    body = "host n[2]: H; switch s: S; connect n[i].nic[j] to s; place n[i] in h.A[i + 1] at 1U; place s in h.A[3] at 1U"
    if tray:
        _, lengths = wired(body, tmp_path)
    else:
        bare = HALL.replace("tray above 2.6m { across at 1, 3 }", "")
        assert bare != HALL
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tests.physical.test_path_bound.HALL", bare)
            _, lengths = wired(body, tmp_path)
    racks = len(lengths.places.rack_hall)
    a, b = (np.array(x) for x in zip(*product(range(racks), repeat=2), strict=True))
    way = lengths.way(a, b).reshape(racks, racks)
    if not tray:
        assert (way == -1).all()
    else:
        assert (way == way.T).all() and not way.diagonal().any() and (way >= 0).all() and way.any()


@pytest.mark.parametrize("links", [1, 4])
def test_one_tight_cable_and_several(links: int, tmp_path: Path) -> None:
    """The finding says how many cables bend too tightly where it is more than one."""
    text = f"""
fabric f {{
  switch leaf[2]: BIG
  connect leaf[0] to leaf[1] x {links} {{ cable MFP7E10 }}
  hall h {{ row A {{ rack 1..2 {{ height 48U; bend 20mm }} }}; pitch rack 0.6m; tray above 2.6m; slack 1m }}
  place leaf[i] in h.A[i + 1] at 40U
}}
"""
    found = [d for d in compile_text(text, tmp_path).findings if d.code == "E0229"]
    assert found and all((f"({links} cables)" in d.message) == (links > 1) for d in found)
    assert links > 1 or not any(" cables)" in d.message for d in found)
