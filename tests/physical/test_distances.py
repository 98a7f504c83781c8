"""Distances between sites, and lengths that connects state: by hand, in micrometres."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.physical.explain import explain_cable_length
from tdsl.physical.model import physical_of
from tests.harness import compile_text

MODELS = """
model host H { port nic[4]: 400Gbps { type GE400 }; height 2U; latency 1us }
model switch S { port p[1..16]: 400Gbps { type GE400 }; height 1U; latency 1us }
"""
SITES = """fabric f {
  site dc[2] {
    host n: H
    switch s: S
    connect n.nic[i] to s { length 2m }
  }
  connect dc[0].s to dc[1].s x 2 { class wan; SETTINGS }
  distance dc[0] to dc[1] 100km
  PLACES
}
"""
HALLS = """
  hall h1 { row A { rack 1..4 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 1m }
  hall h2 { row A { rack 1..4 { height 48U } }; pitch rack 0.8m; tray above 2.4m; slack 0.5m }
  place dc[0].s in h1.A[3] at 10U
  place dc[1].s in h2.A[2] at 20U
"""


def text(settings: str = "medium fibre", places: str = "") -> str:
    return MODELS + SITES.replace("SETTINGS", settings).replace("PLACES", places)


def checked(source: str, tmp_path: Path, *select: str) -> tuple[list[tuple[str, str]], object]:
    """Codes and messages of errors, and the fabric."""
    path = tmp_path / "design.fab"
    path.write_text(source)
    found = compiler.compile_and_verify(str(path), compiler.Request(select=select) if select else compiler.Request())
    return [(d.code, d.message) for d in found.findings if d.severity.word == "error"], found.designs[0]


def wan(source: str, tmp_path: Path) -> list[tuple[str, float | None]]:
    """The arithmetic of a cable between the sites."""
    path = tmp_path / "design.fab"
    path.write_text(source)
    fabric = compiler.compile_without_checks(str(path)).designs[0].fabric
    assert fabric is not None and fabric.complete
    physical = physical_of(fabric)
    assert physical is not None
    leg = next(k for k, c in enumerate(fabric.cable_class.tolist()) if fabric.classes[c] == "wan")
    assert sum(s.length for s in physical.lengths.steps(leg)) == int(physical.lengths.run[leg])
    return list(explain_cable_length(physical, leg))


def test_without_places_a_distance_is_the_length(tmp_path: Path) -> None:
    found = wan(text(), tmp_path)
    assert found[:2] == [("distance dc[0] to dc[1]", 100_000.0), ("in all", 100_000.0)]
    assert found[2][0].startswith("no part is chosen")


def test_with_places_the_ways_to_the_entries_are_added(tmp_path: Path) -> None:
    """Middle of s[0] at 9.5 * 44.45 = 422.275 mm: slack 1000, up 2600 - 422.275 = 2177.725, along 2 * 600 = 1200. Middle of s[1]
    at 19.5 * 44.45 = 866.775: along 800, down 2400 - 866.775 = 1533.225, slack 500. In all 4377.725 + 10^8 + 2833.225 mm."""
    found = wan(text(places=HALLS), tmp_path)
    assert [x for _, x in found[:7]] == [1.0, 2.177725, 1.2, 100_000.0, 0.8, 1.533225, 0.5]
    assert found[7] == ("in all", 100_007.21095)


def test_where_one_end_has_no_place_its_way_is_left_out(tmp_path: Path) -> None:
    found = wan(text(places=HALLS.replace("  place dc[1].s in h2.A[2] at 20U\n", "")), tmp_path)
    assert [x for _, x in found[:5]] == [1.0, 2.177725, 1.2, 100_000.0, 100_004.377725]


@pytest.mark.parametrize("part", ["MFP7E10", "MFP7E30", "LC_DUPLEX", "MCP4Y10"])
def test_no_patch_cord_spans_100_km(part: str, tmp_path: Path) -> None:
    errors, _ = checked(text(f"cable {part}"), tmp_path)
    assert "E0225" in {code for code, _ in errors}


def test_latency_has_the_distance(tmp_path: Path) -> None:
    """100 km at 4.9 us a kilometre, two hosts' cables of 2 m, and the devices passed: two switches and two hosts of 1 us."""
    for source in (text(), text("length 100km").replace("  distance dc[0] to dc[1] 100km\n", "")):
        errors, design = checked(source.rstrip().removesuffix("}") + "  report latency\n}\n", tmp_path)
        assert not errors
        found = [r for r in design.results if r.check == "latency"]  # type: ignore[attr-defined]
        assert [(r.status, r.value.amount) for r in found] == [("modelled", Fraction(4_940_196, 10**10))]


@pytest.mark.parametrize(
    ("written", "to", "code"),
    [
        ("distance dc[0] to dc[1] 100km", "distance dc[0] to dd 100km", "E0101"),
        ("distance dc[0] to dc[1] 100km", "distance dc[0] to dc[2] 100km", "E0108"),
        ("distance dc[0] to dc[1] 100km", "distance dc[0] to dc[*] 100km", "E0120"),
        ("distance dc[0] to dc[1] 100km", "distance dc[0] to dc[i] 100km", "E0120"),
        ("distance dc[0] to dc[1] 100km", "distance dc[0] to dc[1].s 100km", "E0120"),
        ("distance dc[0] to dc[1] 100km", "distance dc[0] to dc[0] 100km", "E0120"),
        ("distance dc[0] to dc[1] 100km", "distance dc[0] to h1 100km", "E0120"),
        ("distance dc[0] to dc[1] 100km", "distance dc[0] to dc[1] 100Gbps", "E0103"),
    ],
)
def test_what_is_refused(written: str, to: str, code: str, tmp_path: Path) -> None:
    errors, _ = checked(text(places=HALLS).replace(written, to), tmp_path, "reachability")
    assert [c for c, _ in errors] == [code]


def test_a_stated_length_is_judged_against_the_part_and_the_way(tmp_path: Path) -> None:
    short = "fabric f {\n  switch a: QM9700\n  switch b: QM9700\n  connect a.p[1] to b.p[1] { cable MFP7E10; length LENGTH }\n"
    hall = "  hall h { row A { rack 1..9 { height 48U } }; pitch rack 1m; tray above 2.6m; slack 1m }\n"
    hall += "  place a in h.A[1] at 40U\n  place b in h.A[9] at 40U\n"
    for length, places, code in (("50m", "", []), ("51m", "", ["E0225"]), ("20m", hall, []), ("5m", hall, ["E0225"])):
        errors, _ = checked(short.replace("LENGTH", length) + places + "}\n", tmp_path)
        assert [c for c, _ in errors] == code


ROUTERS = """\
model switch ROUTER { port p[1..16]: 400Gbps { type GE400; cage 1 OSFP }; height 1U }
model cable FIBRE { medium fibre; reach 500m; diameter 8mm }
fabric f {
  site dc[2] {
    switch s[2]: ROUTER
    connect s[0] to s[1] { cable FIBRE }
  }
  connect dc[0].s[i] to dc[1].s[i] x 3 { cable FIBRE }
  hall h {
    row A, B { rack 1..4 { height 24U } }
    PITCH
    tray above 2.6m { across at 1; capacity 100mm x 100mm }
    slack 1m
  }
  distance dc[0] to dc[1] 150m
  PLACES
  report tray_fill
}
"""


@pytest.mark.parametrize(
    ("pitch", "places", "status", "words"),
    [
        # each site's six cables of 8 mm go by the entry, rack 1 of row A: 6 * 355/113 / 4 * 64 / 10,000
        ("pitch rack 1m, row 3m", ("A[2 + i]", "B[2 + i]"), "proved", "3.02% in row A from rack 1 to 2 of hall h (6 cables)"),
        # where the other site is, no place says
        ("pitch rack 1m, row 3m", ("A[2 + i]",), "bounded",
         "at least 3.02% in row A from rack 1 to 2 of hall h (6 cables); the length or diameter of 7 cables is unknown"),
        ("pitch row 3m", ("A[2 + i]", "B[2 + i]"), "skipped", ""),
        ("pitch rack 1m", ("A[2 + i]", "A[2 + i]"), "skipped", ""),
    ],
)  # fmt: skip
def test_trays_of_cables_that_span_a_distance(
    pitch: str, places: tuple[str, ...], status: str, words: str, tmp_path: Path
) -> None:
    """They lie on the way to the entry of their hall, where that is known; not between racks, nor at racks of others."""
    placed = "\n  ".join(f"place dc[({k})].s[i] in h.{p} at {3 + 4 * k}U" for k, p in enumerate(places))
    result = compile_text(ROUTERS.replace("PITCH", pitch).replace("PLACES", placed), tmp_path, models=False)
    (found,) = [r for r in result.designs[0].results if r.check == "tray_fill"]
    assert (found.status, found.text) == (status, words)
