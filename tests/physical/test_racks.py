"""Places: statements and tables, what they refuse, units that devices share, and what stays the same without places."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tdsl.compile import compiler
from tdsl.emit.build import build_files
from tdsl.fabric.places import rows_of_places
from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tests.harness import compile_text, places, sections

TEXTS = sections(Path(__file__).parent / "racks.txt")
BARE = f"\n{TEXTS['BARE']}\n"
HALL = f"\n{TEXTS['HALL']}\n"
PLACED = BARE + HALL + "  place node[n] in h1.A[n//4 + 1] at 2U + 8U*(n%4)\n  place leaf[*] in h1[2, 3] stacked from 30U\n}\n"


def compiled(text: str, folder: Path, table: str | None = None) -> compiler.Compilation:
    return compile_text(text, folder, models=False, places=SourceFile("places.csv", table) if table is not None else None)


def codes(found: compiler.Compilation) -> list[tuple[str, int]]:
    return [place for place, d in zip(places(found.findings), found.findings, strict=True) if d.severity.word == "error"]


def placed(found: compiler.Compilation) -> dict[str, tuple[object, ...]]:
    fabric = found.designs[0].fabric
    assert fabric is not None
    return {name: where for name, *where in ((r[0], *r[1:]) for r in rows_of_places(fabric))}


def test_a_table_says_the_same_as_statements(tmp_path: Path) -> None:
    """With halls of the table, and with those of the design."""
    rows = placed(compiled(PLACED, tmp_path))
    table = "device,hall,row,rack,unit\n" + "".join(f"{d},{','.join(map(str, where))}\n" for d, where in rows.items())
    for text in (BARE + "}\n", BARE + HALL + "}\n"):  # halls of the table, or of the design
        found = compiled(text, tmp_path, table)
        assert not codes(found)
        assert placed(found) == rows


@pytest.mark.parametrize(
    ("table", "code", "line"),
    [
        ("device,hall,row,rack\n", "E0207", 1),
        ("device,hall,row,rack,unit\nleaf9,h1,A,1,2\n", "E0207", 2),
        ("device,hall,row,rack,unit\nleaf1,h1,A,one,2\n", "E0207", 2),
        ("device,hall,row,rack,unit\nleaf1,h1,A,1,0\n", "E0207", 2),
        ("device,hall,row,rack,unit\nleaf1,h1,A,1,2,x\n", "E0207", 2),
        ("device,hall,row,rack,unit,unit\nleaf1,h1,A,1,2,3\n", "E0207", 1),
        ("device,hall,row,rack,unit\n# a comment\nleaf1,h1,,1,2\n", "E0207", 3),
        ("device,hall,row,rack,unit\nleaf1,h1,A,9,2\n", "E0205", 2),
        ("device,hall,row,rack,unit\nleaf1,h1,A,1,2\nleaf1,h1,A,2,2\n", "E0206", 3),
        ("device,hall,row,rack,unit\nleaf1,h1,A,1,2\nleaf2,h1,A,1,2\n", "E0222", 3),
    ],
)
def test_what_a_table_cannot_say(table: str, code: str, line: int, tmp_path: Path) -> None:
    assert codes(compiled(BARE + HALL + "}\n", tmp_path, table)) == [(code, line)]


def test_without_places_nothing_changes(tmp_path: Path) -> None:
    found = compiled(BARE + "}\n", tmp_path)
    assert "rack_space" not in {r.check for r in found.designs[0].results}
    fabric = found.designs[0].fabric
    assert fabric is not None
    files = build_files(fabric, ["cabling", "json"], Diagnostics())
    halls = build_files(compiled(BARE + HALL + "}\n", tmp_path).designs[0].fabric, ["json"], Diagnostics())  # type: ignore[arg-type]
    assert files["cabling/cables.csv"].count(b",,,,") > 0
    assert files["fabric.json"] == halls["fabric.json"]


TALL = "model switch TALL { port p[16]: 400Gbps; height 8U }\n"


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 12)), min_size=1, max_size=8))
def test_overlaps_are_those_that_brute_force_finds(
    tmp_path_factory: pytest.TempPathFactory, where: list[tuple[int, int]]
) -> None:
    """Devices of 8U in racks of 16U: wrong where two share a unit, or one reaches beyond the top."""
    text = f"{TALL}fabric f {{\n  switch s[{len(where)}]: TALL\n  connect s[*] each\n"
    text += "  hall h { row A { rack 1..3 { height 16U } } }\n"
    text += "".join(f"  place s[{k}] in h.A[{rack}] at {unit}U\n" for k, (rack, unit) in enumerate(where)) + "}\n"
    taken = [{(rack, u) for u in range(unit, unit + 8)} for rack, unit in where]
    clash = any(a & b for k, a in enumerate(taken) for b in taken[:k])
    found = compiled(text, tmp_path_factory.mktemp("overlaps"))
    wrong = {c for c, _ in codes(found) if c != "E0404"}
    assert bool(wrong) == (clash or any(u > 16 for t in taken for _, u in t)) and wrong <= {"E0222"}


def test_what_stands_beside_the_units_takes_none(tmp_path: Path) -> None:
    """Rack PDUs of 0U: their cables have lengths, and lists, drawings and NetBox give them a rack and no unit."""
    text = (Path(__file__).parents[1] / "checks" / "rack_space" / "good_beside_the_units.fab").read_text()
    text = text.replace("rack 1 { height 33U } }", "rack 1 { height 33U } }; pitch rack 0.6m; tray above 2.6m; slack 1m")
    fabric = compile_text(text, tmp_path, models=False).designs[0].fabric
    assert fabric is not None
    files = {
        p: b.decode() for p, b in build_files(fabric, ["racks", "netbox", "cabling"], Diagnostics()).items() if "xlsx" not in p
    }
    (line,) = [x for x in files["racks/mounting.csv"].splitlines() if ",pdu0," in x]
    assert line.startswith("h1,A,A01,16,0,pdu0,PDU,")
    assert "2 devices beside the units" in files["racks/elevations.svg"] and "33U of 33U taken" in files["racks/elevations.svg"]
    (row,) = [x for x in files["netbox/6-devices.csv"].splitlines() if x.startswith("pdu0,")]
    assert row.endswith(",h1.A01,,")
    types = {t["model"]: t for t in yaml.safe_load_all(files["netbox/2-device-types.yaml"])}
    assert types["PDU"]["u_height"] == 0
    lengths = [x.split(",")[20] for x in files["cabling/cables.csv"].splitlines() if x.startswith("pdu")]
    assert len(lengths) == 2 and all(float(x) > 2 for x in lengths)
