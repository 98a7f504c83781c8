"""Ports of switches as SONiC numbers them: transceivers, break-outs, lengths and headroom of small models, worked out by hand."""

from __future__ import annotations

import pytest

from tdsl.emit.data.faceplate import FRAME, FacePort


def port(mbps: int, metres: int = 0, lanes: int = 1) -> FacePort:
    return FacePort("", "", tuple(range(lanes)), 1, "", "", "", mbps, True, metres)


@pytest.mark.parametrize(
    ("mbps", "lanes", "wanted"), [(50_000, 1, "rs"), (49_999, 1, ""), (400_000, 8, "rs"), (399_999, 8, ""), (100_000, 4, "")]
)
def test_error_correction_by_the_rate_of_a_lane(mbps: int, lanes: int, wanted: str) -> None:
    assert port(mbps, lanes=lanes).fec == wanted and port(mbps).subport == 0


@pytest.mark.parametrize(
    ("mbps", "metres", "mtu", "kib"),
    [
        # 2 × 9216 = 18,432 is 18 KiB; a quantum is 64 bytes: 905 × 64 = 57,920; 30 m: 2 × 30 × 50e9 / 198e6 = 15,151.5
        (400_000, 30, FRAME, 90),  # 91,503.5 bytes are 89.4 KiB
        (800_000, 30, FRAME, 105),  # 106,655 bytes are 104.2 KiB
        (10_000, 99, 1952, 10),  # 3904 + 4288 + 1250 = 9,442 bytes are 9.2 KiB
        # a cable of a second: 2.5e9 bytes both ways, 578 + 4288 more are 2 bytes above a whole number of KiB
        (10_000, 198_000_000, 289, 2_441_412),
        (10_000, 198_000_000, 288, 2_441_411),
    ],
)
def test_headroom_in_kibibytes(mbps: int, metres: int, mtu: int, kib: int) -> None:
    assert port(mbps, metres).headroom(mtu) == kib * 1024


def test_what_the_far_end_sends_after_a_pause() -> None:
    """In times of 512 bits: without a cable, frames are as long as to fill whole kibibytes, and one byte more takes the next.
    Other rates have no headroom."""
    known = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}
    for gbps, quanta in known.items():
        room = -(-quanta * 64 // 1024) * 1024
        frame = (room - quanta * 64) // 2
        assert [port(gbps * 1000).headroom(f) for f in (frame, frame + 1)] == [room, room + 1024], gbps
    assert [port(mbps, 5).headroom(FRAME) for mbps in (10_001, 100, 1_600_000)] == [None] * 3 and FRAME == 9216
