"""Ports of switches as SONiC numbers them: transceivers, break-outs, lengths and headroom of small models, worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.emit.data.faceplate import FRAME, Faceplates, FacePort

GBPS = 10**9


def a_class(name: str, *ports: tuple[int, int, int], first: int = 0, rate: int | None = 400 * GBPS, split: int = 1) -> Any:
    """A class of ports, each with SONiC's number, that of the whole port, and its cage."""
    return SimpleNamespace(
        name=name, first=first, size=len(ports), rate=rate, split=split,
        sonic=tuple(SimpleNamespace(number=n, whole=w, lanes=(n, n + 1), alias=f"etp{n}" if n % 3 else "") for n, w, _ in ports),
        cages=tuple(c for *_, c in ports), labels=tuple(f"L{n}" for n, *_ in ports), netdev=lambda i: f"{name}-{i}",
    )  # fmt: skip


def a_model(*classes: Any, **facts: object) -> Any:
    return SimpleNamespace(classes=classes, facts=facts)


@pytest.mark.parametrize(
    ("ports", "wanted"),
    [
        ([("a", 0, 1), ("a", 0, 1), ("a", 4, 2)], {("a", 0): 1, ("a", 4): 2}),
        ([("a", 0, 0)], {("a", 0): 1}),
        ([("a", 0, 0), ("b", 1, 0), ("b", 1, 0), ("b", 2, 0)], {("a", 0): 1, ("b", 1): 2, ("b", 2): 3}),
        # a cage of another class with the same number is another cage
        ([("a", 0, 5), ("b", 1, 5), ("c", 2, 5)], {("a", 0): 5, ("b", 1): 6, ("c", 2): 7}),
        ([("a", 0, 2), ("a", 1, 2)], {("a", 0): 2, ("a", 1): 2}),
        ([("a", 0, 3), ("a", 1, 0), ("b", 2, 3), ("c", 3, 4)], {("a", 0): 3, ("a", 1): 5, ("b", 2): 6, ("c", 3): 4}),
        ([("a", 0, 1), ("b", 1, 1), ("b", 2, 1), ("b", 3, 0)], {("a", 0): 1, ("b", 1): 2, ("b", 2): 2, ("b", 3): 3}),
        ([], {}),
    ],
)
def test_a_number_for_every_transceiver(ports: list[tuple[str, int, int]], wanted: dict[tuple[str, int], int]) -> None:
    """Its cage's number, or where that is taken the next number above all others."""
    names = dict.fromkeys(n for n, *_ in ports)
    model = a_model(*(a_class(n, *((w, w, c) for m, w, c in ports if m == n)) for n in names))
    assert Faceplates._indices(model) == wanted


@pytest.mark.parametrize(
    ("breakout", "ways", "gbps", "wanted"),
    [
        (("1x400G", "2x200G[100G]", "4x100G(4)"), 2, 200, "2x200G[100G]"),
        (("1x400G", "2x200G[100G]", "4x100G(4)"), 4, 100, "4x100G(4)"),
        (("1x400G", "2x200G[100G]", "4x100G(4)"), 1, 400, "1x400G"),
        (("1x400G", "2x200G[100G]", "4x100G(4)"), 1, 200, ""),
        ((7, "12x200G", "2x200GB", "2x2000G", "2x200G", "2x200G[50G]"), 2, 200, "2x200G"),
        ("8x100G", 8, 100, "8x100G"),
        (8, 8, 100, ""),
        (None, 1, 400, ""),
    ],
)
def test_modes_of_break_outs(breakout: object, ways: int, gbps: int, wanted: str) -> None:
    assert Faceplates._mode(a_model(**({} if breakout is None else {"breakout": breakout})), ways, gbps) == wanted


def plates(links: list[tuple[int, int]], metres: list[float], count: int) -> Any:
    """What lengths are computed from: which link runs through which leg, and the lengths of legs."""
    wires = SimpleNamespace(
        fabric=SimpleNamespace(link_count=count),
        crossings=(np.array([k for k, _ in links]), np.array([leg for _, leg in links])),
        leg_length=np.array(metres),
    )
    return Faceplates(wires)  # type: ignore[arg-type]


def test_lengths_of_links() -> None:
    """The sum over all legs, rounded up; none where one leg has no length, or no leg carries the link."""
    found = plates([(0, 0), (0, 2), (1, 1), (3, 3), (3, 1), (4, 2), (5, 0)], [2.5, np.nan, 3.0, 1.2], 7).metres
    assert found.tolist() == [6, -1, -1, -1, 3, 3, -1]


def a_switch(system: str = "sonic") -> Any:
    """The second device: ports 10 to 17; 10 and 11 are two halves of one, 13 and 14 have no rate of their own."""
    model = a_model(
        a_class("x", (0, 0, 1), (2, 0, 1), (4, 4, 2), rate=200 * GBPS, split=2),
        a_class("y", (8, 8, 0), (9, 9, 2), first=3, rate=None),
        a_class("z", first=5),
        breakout=("1x100G", "2x200G(2)"),
    )
    port_link = np.full(20, -1)
    port_link[[10, 12, 13, 17]] = 0, 1, 2, 3
    fabric = SimpleNamespace(
        port_base=np.array([0, 10, 20]), switch_system=np.array(["", system]), models=(None, model),
        device_model=np.array([0, 1]), port_link=port_link, link_rate=np.array([50, 100, 100, 400]) * GBPS, link_count=4,
    )  # fmt: skip
    wires = SimpleNamespace(
        fabric=fabric, devices=SimpleNamespace(name=np.array(["a", "b"], dtype=object)),
        crossings=(np.arange(4), np.arange(4)), leg_length=np.array([2.5, 0.0, np.nan, 9.0]),
    )  # fmt: skip
    return Faceplates(wires)  # type: ignore[arg-type]


def test_ports_of_a_switch() -> None:
    found = a_switch()
    assert found.devices == {"a": 0, "b": 1}
    assert found.of("b") == (
        FacePort("Ethernet0", "Ethernet0", (0, 1), 1, "L0", "Ethernet0", "2x200G(2)", 50_000, True, 3, 1, "L0"),
        FacePort("Ethernet2", "Ethernet2", (2, 3), 1, "L2", "Ethernet0", "2x200G(2)", 200_000, False, "", 2, "etp2"),
        FacePort("Ethernet4", "Ethernet4", (4, 5), 2, "L4", "Ethernet4", "2x200G(2)", 100_000, True, 0, 0, "etp4"),
        FacePort("Ethernet8", "Ethernet8", (8, 9), 3, "L8", "Ethernet8", "1x100G", 100_000, True, "", 0, "etp8"),
        FacePort("Ethernet9", "Ethernet9", (9, 10), 4, "L9", "Ethernet9", "", 0, False, "", 0, "L9"),
    )


def test_ports_have_the_names_of_another_system() -> None:
    assert [(p.system, p.name) for p in a_switch("cumulus").of("b")][1:4] == [
        ("x-1", "Ethernet2"), ("x-2", "Ethernet4"), ("y-0", "Ethernet8"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mbps", "lanes", "wanted"), [(50_000, 1, "rs"), (49_999, 1, ""), (400_000, 8, "rs"), (399_999, 8, ""), (100_000, 4, "")]
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
    [(10_000, 67), (25_000, 80), (40_000, 118), (50_000, 147), (100_000, 394), (200_000, 453), (400_000, 905), (800_000, 905)],
)
def test_what_the_far_end_sends_after_a_pause(mbps: int, quanta: int) -> None:
    """In times of 512 bits: without a cable, frames are as long as to fill whole kibibytes, and one byte more takes the next."""
    room = -(-quanta * 64 // 1024) * 1024
    frame = (room - quanta * 64) // 2
    port = FacePort("", "", (0,), 1, "", "", "", mbps, True, 0)
    assert [port.headroom(frame), port.headroom(frame + 1)] == [room, room + 1024]


def test_a_port_alone_in_its_cage() -> None:
    assert FacePort("", "", (0,), 1, "", "", "", 400_000, True, 5).subport == 0 and FRAME == 9216
