"""Ports of switches as SONiC numbers them: transceivers, break-outs, lengths and headroom of small models, worked out by hand."""

from __future__ import annotations

import pytest

from tdsl.emit.data.faceplate import FRAME, FacePort

GBPS = 10**9


@pytest.mark.parametrize(
    ("mbps", "lanes", "wanted"),
    [(50_000, 1, "rs"), (49_999, 1, ""), (400_000, 8, "rs"), (399_999, 8, ""), (100_000, 4, "")],
)
def test_error_correction_by_the_rate_of_a_lane(mbps: int, lanes: int, wanted: str) -> None:
    assert FacePort("", "", tuple(range(lanes)), 1, "", "", "", mbps, True, 1).fec == wanted


@pytest.mark.parametrize(
    ("mbps", "metres", "mtu", "kib"),
    [
        # 2 × 9216 = 18,432 is 18 KiB; a quantum is 64 bytes: 905 × 64 = 57,920; 30 m: 2 × 30 × 50e9 / 198e6 = 15,151.5
        (400_000, 30, FRAME, 90),  # 91,503.5 bytes are 89.4 KiB
        (400_000, 0, FRAME, 75),  # 76,352 bytes are 74.6 KiB
        (800_000, 30, FRAME, 105),  # 106,655 bytes are 104.2 KiB
        (200_000, 0, 1500, 32),  # 3000 + 453 × 64 = 31,992 bytes are 31.2 KiB
        (100_000, 0, 1500, 28),  # 3000 + 394 × 64 = 28,216 bytes are 27.6 KiB
        (50_000, 0, 1500, 13),  # 3000 + 147 × 64 = 12,408 bytes are 12.1 KiB
        (40_000, 0, 1500, 11),  # 3000 + 118 × 64 = 10,552 bytes are 10.3 KiB
        (25_000, 0, 1500, 8),  # 3000 + 80 × 64 = 8,120 bytes are 7.9 KiB
        (10_000, 0, 1500, 8),  # 3000 + 67 × 64 = 7,288 bytes are 7.1 KiB
        (25_000, 0, 1536, 8),  # 3072 + 5120 = 8,192 bytes are 8 KiB
        (25_000, 0, 1537, 9),
        (10_000, 99, 1952, 10),  # 3904 + 4288 + 1250 = 9,442 bytes are 9.2 KiB
        (10_000, 198, 1178, 9),  # 2356 + 4288 + 2 × 198 × 1.25e9 / 198e6 = 2500: 9,144 bytes are 8.9 KiB
        (10_000, 198, 1214, 9),  # 9,216 bytes are 9 KiB
        (10_000, 198, 1215, 10),
        # a cable of a second: 2.5e9 bytes both ways, 578 + 4288 more are 2 bytes above a whole number of KiB
        (10_000, 198_000_000, 289, 2_441_412),
        (10_000, 198_000_000, 288, 2_441_411),
    ],
)
def test_headroom_in_kibibytes(mbps: int, metres: int, mtu: int, kib: int) -> None:
    assert FacePort("", "", (0,), 1, "", "", "", mbps, True, metres).headroom(mtu) == kib * 1024


@pytest.mark.parametrize("mbps", [10_001, 100, 1_600_000])
def test_no_headroom_for_other_rates(mbps: int) -> None:
    assert FacePort("", "", (0,), 1, "", "", "", mbps, True, 5).headroom(FRAME) is None


@pytest.mark.parametrize(
    ("mbps", "quanta"),
    [
        (10_000, 67),
        (25_000, 80),
        (40_000, 118),
        (50_000, 147),
        (100_000, 394),
        (200_000, 453),
        (400_000, 905),
        (800_000, 905),
    ],
)
def test_what_the_far_end_sends_after_a_pause(mbps: int, quanta: int) -> None:
    """In times of 512 bits: without a cable, frames are as long as to fill whole kibibytes, and one byte more takes the next."""
    room = -(-quanta * 64 // 1024) * 1024
    frame = (room - quanta * 64) // 2
    port = FacePort("", "", (0,), 1, "", "", "", mbps, True, 0)
    assert [port.headroom(frame), port.headroom(frame + 1)] == [room, room + 1024]


def test_a_port_alone_in_its_cage() -> None:
    assert FacePort("", "", (0,), 1, "", "", "", 400_000, True, 5).subport == 0 and FRAME == 9216
