"""Break-outs that the compiler takes from the catalogue by itself, and their transceivers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.physical.bom import bill_of_materials
from tdsl.physical.model import physical_of

CARD = "model host CX7 { port nic[2]: 400Gbps { type NDR, NDR200; cage 1 OSFP flat }; height 2U }\n"
HALL = "  hall h { row A { rack 1..99 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 0.5m }\n"


def compiled(body: str, tmp_path: Path, models: str = CARD):  # type: ignore[no-untyped-def]
    path = tmp_path / "design.fab"
    path.write_text("fabric f {\n" + body + "}\n" + models)
    found = compiler.compile_and_verify(str(path))
    return found.designs[0].fabric if found.designs else None, [d for d in found.findings if d.severity.word == "error"]


SPLIT = (
    "  switch a: QM9700 { split p[1..4] 2 }\n  host c[4]: CX7\n"
    "  connect a.p[i, k] to c[i - 1].nic[k] where i <= 4 { rate 200Gbps }\n"
    "  place a in h.A[1] at 30U\n  place c[k] in h.A[FAR] at 2U + 4U*k\n"
)


def test_a_split_port_leaves_by_a_splitter(tmp_path: Path) -> None:
    """Four ports of 400 Gb/s, in two twin-port cages, lead to eight adapters of 200 Gb/s: four splitters with two legs each, two
    twin-port transceivers in the switch, and one single-port transceiver for each adapter, which runs at half its rate."""
    fabric, errors = compiled(HALL + SPLIT.replace("FAR", "9"), tmp_path)
    assert fabric is not None and not errors
    lines = [(x.kind, x.model, x.quantity) for x in bill_of_materials(fabric) if x.kind in ("optic", "cable")]
    assert lines == [("optic", "MMA4Z00-NS", 2), ("optic", "MMA4Z00-NS400", 8), ("cable", "MFP7E20", 4)]


def test_beyond_the_reach_of_multimode(tmp_path: Path) -> None:
    """Both splitters reach 50 m; racks 1 and 80 are 79 * 0.6 = 47.4 m apart, and the ways up and down are some 4 m more."""
    fabric, errors = compiled(HALL + SPLIT.replace("FAR", "80"), tmp_path)
    assert fabric is not None and not errors  # nothing is pinned, so nothing is refused: the bill says what is missing
    physical = physical_of(fabric)
    assert physical is not None
    choice = physical.parts.choice(0)
    assert choice.cable is None and "no fibre of the catalogue and no pair of optics reach" in choice.why


def test_without_places_the_catalogue_is_asked_all_the_same(tmp_path: Path) -> None:
    body = SPLIT.partition("  place")[0]
    fabric, errors = compiled(body, tmp_path)
    assert fabric is not None and not errors and fabric.cable_leg.tolist() == [1, 2] * 4


@pytest.mark.parametrize(
    "models",
    [
        CARD.replace("; cage 1 OSFP flat", ""),  # the cage is not known
        CARD.replace("OSFP flat", "QSFP56"),  # the catalogue has no transceiver for it
    ],
)
def test_where_nothing_fits_the_finding_says_what_to_write(models: str, tmp_path: Path) -> None:
    _, errors = compiled(SPLIT.partition("  place")[0], tmp_path, models)
    assert [(e.code, e.span.begin[0]) for e in errors if e.span] == [("E0202", 4)]
    assert "model cable PART { rate 400Gbps; legs 2 }" in errors[0].help


def test_two_sockets_of_a_module_take_a_straight_cable_each(tmp_path: Path) -> None:
    """A port of 800 Gb/s that is split in two has a module with two sockets: one twin-port transceiver, two straight fibres."""
    body = (
        HALL + "  host n[4]: CX7\n  switch s: SN5600 { split p[1..4] 2 }\n  connect s.p[i, k] to n[i - 1].nic[k] where i <= 4\n"
    )
    body += "  place s in h.A[1] at 40U\n  place n[k] in h.A[9] at 2U + 4U*k\n"
    fabric, errors = compiled(body, tmp_path, CARD.replace("NDR, NDR200", "GE400"))
    assert fabric is not None and not errors and not fabric.cable_leg.any()
    lines = [(x.kind, x.model, x.quantity) for x in bill_of_materials(fabric) if x.kind in ("optic", "cable")]
    assert lines == [("optic", "MMA4Z00-NS", 4), ("optic", "MMA4Z00-NS400", 8), ("cable", "MFP7E10", 8)]


def test_four_lanes_leave_two_sockets_by_two_splitters(tmp_path: Path) -> None:
    body = HALL + "  host n[2]: CX7\n  switch s: SN5600 { split p[1] 4 }\n"
    body += "  connect s.p[1, k] to n[k // 2].nic[k % 2] { rate 200Gbps }\n"
    body += "  place s in h.A[1] at 40U\n  place n[k] in h.A[9] at 2U + 4U*k\n"
    fabric, errors = compiled(body, tmp_path, CARD.replace("NDR, NDR200", "GE400, GE200"))
    assert fabric is not None and not errors and fabric.cable_leg.tolist() == [1, 2, 1, 2]
    lines = [(x.kind, x.model, x.quantity) for x in bill_of_materials(fabric) if x.kind in ("optic", "cable")]
    assert lines == [("optic", "MMA4Z00-NS", 1), ("optic", "MMA4Z00-NS400", 4), ("cable", "MFP7E20", 2)]


@pytest.mark.parametrize(
    ("optics", "codes"),
    [
        ("MMA4Z00_NS400, MMA4Z00_NS", []),
        ("MMA4Z00_NS400, MMA4Z00_NS400", ["E0226"]),
        ("MMA4Z00_NS, MMA4Z00_NS", ["E0226"]),
    ],
)
def test_pinned_transceivers_of_a_break_out(optics: str, codes: list[str], tmp_path: Path) -> None:
    body = HALL + SPLIT.replace("FAR", "9").replace("a.p[i, k] to c[i - 1].nic[k]", "c[i - 1].nic[k] to a.p[i, k]")
    _, errors = compiled(body.replace("200Gbps }", f"200Gbps; cable MFP7E20; optic {optics} }}"), tmp_path)
    assert [e.code for e in errors] == codes


def test_a_break_out_is_as_long_as_its_longest_leg(tmp_path: Path) -> None:
    """From the middle of unit 20 down 5.5 and 16.5 units of 44.45 mm, and 0.5 m at each end: 1.24 m and 1.73 m, so 2 m."""
    text = "model host CARD { port nic[2]: 400Gbps { type NDR; cage 1 QSFP112 }; height 2U }\nfabric f {\n"
    text += "  hall h { row A { rack 1 { height 48U } }; slack 0.5m }\n  host d[2]: CARD\n  switch s: QM9700 { split p[64] 2 }\n"
    text += "  place s in h.A[1] at 20U\n  place d[k] in h.A[1] at 14U - 11U*k\n"
    text += "  connect d[k].nic[0] to s.p[k + 1] { cable MCP7Y10 }\n}\n"
    path = tmp_path / "design.fab"
    path.write_text(text)
    found = compiler.compile_without_checks(str(path)).designs[0].fabric
    assert found is not None and found.complete
    physical = physical_of(found)
    assert physical is not None
    assert physical.lengths.run.tolist() == [1_244_475, 1_733_425]
    assert physical.parts.sold[0].tolist() == [2_000_000, 2_000_000]
    cables = [x for x in bill_of_materials(found) if x.kind == "cable"]
    assert [(x.model, x.length_m, x.quantity, x.note) for x in cables] == [
        ("MCP7Y10", 2, 1, "no longer sold as of September 2026")
    ]
