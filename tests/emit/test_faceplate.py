"""Ports of switches as SONiC numbers them: transceivers, break-outs, and the lengths that it looks up, worked out by hand."""

from __future__ import annotations

import pytest

from tdsl.emit.data.faceplate import FacePort, length_to_look_up


def port(mbps: int, metres: int = 0, lanes: int = 1) -> FacePort:
    return FacePort("", "", tuple(range(lanes)), 1, "", "", "", mbps, True, metres)


@pytest.mark.parametrize(
    ("mbps", "lanes", "wanted"), [(50_000, 1, "rs"), (49_999, 1, ""), (400_000, 8, "rs"), (399_999, 8, ""), (100_000, 4, "")]
)
def test_error_correction_by_the_rate_of_a_lane(mbps: int, lanes: int, wanted: str) -> None:
    assert port(mbps, lanes=lanes).fec == wanted and port(mbps).subport == 0


@pytest.mark.parametrize(
    ("told", "mbps", "metres", "wanted"),
    [
        ("400000 5m 40m 150m", 400_000, 5, 5), ("400000 5m 40m 150m", 400_000, 6, 40), ("400000 150m 40m", 400_000, 41, 150),
        ("400000 5m 40m, 200000 300m", 200_000, 6, 300), ("400000 5m", 200_000, 3, 3), ("400000 5m", 400_000, 6, 6),
        ("none", 400_000, 7, 7), ("", 400_000, 7, 7), ("400000 5m; 40m", 400_000, 3, 3), ("400000, 5m", 400_000, 3, 3),
    ],
)  # fmt: skip
def test_the_next_row_of_the_platform(told: str, mbps: int, metres: int, wanted: int) -> None:
    """A row for a longer cable has room enough for a shorter one; without such a row the length stays as it is."""
    assert length_to_look_up(told, mbps, metres) == wanted
