"""Racks and the places of devices: every column by hand, every refused statement and table row with its text."""

from __future__ import annotations

from pathlib import Path

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.fabric.graph import Fabric
from tdsl.fabric.places import RackPlaces, rows_of_places
from tdsl.findings.source import SourceFile
from tests.harness import MODELS, sections

TEXTS = sections(Path(__file__).parent / "places.txt")
OWN = f"\n{TEXTS['OWN']}\n"
DEVICES = f"{TEXTS['DEVICES']}\n"
HALLS = f"{TEXTS['HALLS']}\n"


def compiled(statements: str, folder: Path, table: str | None = None, halls: str = HALLS) -> compiler.Compilation:
    """The design of these statements, with a table of places."""
    path = folder / "design.fab"
    path.write_text(f"{DEVICES}{halls}{statements}\n}}{MODELS}{OWN}", encoding="utf-8")
    return compiler.compile_without_checks(
        str(path), Request(places=SourceFile("places.csv", table) if table is not None else None)
    )


def located(statements: str, folder: Path, table: str | None = None, halls: str = HALLS) -> tuple[Fabric, RackPlaces]:
    """The fabric and the places of a design without errors."""
    result = compiled(statements, folder, table, halls)
    assert [d.message for d in result.findings if d.severity.name == "ERROR"] == []
    fabric = result.designs[0].fabric
    assert fabric is not None and fabric.places is not None
    return fabric, fabric.places


def refused_places(
    statements: str, folder: Path, table: str | None = None, halls: str = HALLS
) -> list[tuple[str, str, str, str, list[tuple[str, str]]]]:
    """Code, underlined text, message, help and labels of every error."""
    found = [d for d in compiled(statements, folder, table, halls).findings if d.severity.name == "ERROR"]
    return [
        (d.code, d.span.text if d.span else "", d.message, d.help, [(x.span.text, x.message) for x in d.labels]) for d in found
    ]


def test_columns_of_racks(tmp_path: Path) -> None:
    """Halls, rows, numbers and coordinates: -1 without a pitch, unless there is one rack or one row."""
    _, p = located("place a[i] in h1.A[3] at 1U + 1U*i", tmp_path)
    assert p.rack_hall.tolist() == [0] * 12 + [1] * 3 + [2]
    assert p.rack_row.tolist() == [0] * 4 + [1] * 4 + [2] * 4 + [0, 0, 1, 0]
    assert p.rack_number.tolist() == [3, 4, 5, 6, 2, 3, 4, 9, 2, 3, 4, 9, 1, 2, 1, 7]
    assert p.rack_x.tolist() == [0, 600, 1200, 1800] * 3 + [-1, -1, 0, 0]
    assert p.rack_y.tolist() == [0] * 4 + [3000] * 4 + [6000] * 4 + [-1, -1, -1, 0]
    assert p.rack_count == 16 and len(p.rack_kind) == 16
    assert [k.height for k in p.rack_kind] == [48] * 4 + [None] * 12
    assert p.rack_names == [f"{r}{n:02}" for r, n in zip("AAAABBBBCCCCXXYZ", p.rack_number.tolist(), strict=True)]
    assert [p.hall_name(r) for r in (0, 11, 12, 14, 15)] == ["h1", "h1", "h2", "h2", "h3"]
    assert p.distances == {(0, 2): 12000, (2, 0): 12000}


def test_places_of_devices(tmp_path: Path) -> None:
    """Rack, unit and statement of each device, of several statements in one design."""
    fabric, p = located(
        """place a[i] in h1[i // 2 + 1, 3 - i // 4] at 2U + 3U*i
place g[k].b[*] in h1.A[k + 5] stacked from 7U
place c[*] in h2[2, 1] stacked from 1U
place n[i] in h1.B[9]""",
        tmp_path,
    )
    rows = {name: tuple(where) for name, *where in rows_of_places(fabric)}
    assert [rows[f"a{i}"] for i in range(6)] == [
        ("h1", "A", 3, 2), ("h1", "A", 3, 5), ("h1", "B", 3, 8), ("h1", "B", 3, 11), ("h1", "C", 2, 14), ("h1", "C", 2, 17),
    ]  # fmt: skip
    paths = {fabric.device_path(d): d for d in range(fabric.device_count)}
    stacks = {f"g[{k}].b[{i}]": ("A", 5 + k, 7 + 2 * i) for k in range(2) for i in range(3)}
    stacks |= {f"c[{i}]": ("Y", 1, 1 + 5 * i) for i in range(2)}
    stacks |= {f"n[{i}]": ("B", 9, 0) for i in range(2)}
    for path, (row, number, unit) in stacks.items():
        d = paths[path]
        rack = int(p.device_rack[d])
        assert (p.row_name(rack), int(p.rack_number[rack]), int(p.device_unit[d])) == (row, number, unit), path
    unplaced = paths["h[1]"]
    assert (p.device_rack[unplaced], p.device_unit[unplaced], p.device_place[unplaced]) == (-1, 0, -1)
    assert p.origin(unplaced) is None and rows[fabric.device_name(unplaced)] == ("", "", None, None)
    assert rows[fabric.device_name(paths["n[1]"])] == ("h1", "B", 9, None)
    origins = [p.origin(paths[x]) for x in ("a[0]", "a[5]", "g[0].b[1]", "c[1]", "n[0]")]
    assert [o.span.text.split()[1] for o in origins if o is not None] == ["a[i]", "a[i]", "g[k].b[*]", "c[*]", "n[i]"]
    assert not any(name.startswith("h0.") or ".gpu" in name for name in rows)  # chips are placed with their host


UNITS_OF = {
    "2U*i + 3U": [3, 5, 7, 9, 11, 13],
    "(1U + 1U)*i + low": [4, 6, 8, 10, 12, 14],
    "low*(i + 1)": [4, 8, 12, 16, 20, 24],
    "each*1U + 1U*i": [3, 4, 5, 6, 7, 8],
    "40U - 1U*each*i": [40, 37, 34, 31, 28, 25],
    "1U*(i%2 + i//2*4 + 1)": [1, 2, 5, 6, 9, 10],
    "2U*(i + 1)/2": [1, 2, 3, 4, 5, 6],
    "0.5U*(2*i + 4)": [2, 3, 4, 5, 6, 7],
    "6U - (i)*1U": [6, 5, 4, 3, 2, 1],
    "max(1, i)*1U": [1, 1, 2, 3, 4, 5],
    "1U + 2U*i + max(1, i)*1U": [2, 4, 7, 10, 13, 16],
    "1U + max(1, i)*1U + 2U*i": [2, 4, 7, 10, 13, 16],
    "3U + low + 2U*i": [7, 9, 11, 13, 15, 17],
    "1U*min(i + 1, 4)": [1, 2, 3, 4, 4, 4],
    "7U": [7] * 6,
}


def test_units_of_every_form(tmp_path: Path) -> None:
    """Sums, products, quotients, functions and values with a unit, device by device, all in one design."""
    sets = "".join(f"switch u{k}[6]: ONE\n" for k in range(len(UNITS_OF)))
    halls = f"let low = 4U\nlet each = 3\nhall w {{ row R {{ rack 1..6 }} }}\n{sets}"
    statements = "\n".join(f"place u{k}[i] in w.R[i + 1] at {unit}" for k, unit in enumerate(UNITS_OF))
    fabric, p = located(statements, tmp_path, halls=halls)
    for k, (unit, units) in enumerate(UNITS_OF.items()):
        rows = [d for d in range(fabric.device_count) if fabric.device_path(d).startswith(f"u{k}[")]
        assert p.device_unit[rows].tolist() == units, unit
        assert p.rack_number[p.device_rack[rows]].tolist() == [1, 2, 3, 4, 5, 6]


ONCE = "a device has one place; name each once"
HEAD = "device,hall,row,rack,unit\n"


def test_rows_after_a_refused_row_are_read(tmp_path: Path) -> None:
    """Three refused rows of one table are three findings."""
    table = f"{HEAD}a0,h1,A,99,2\na1,h1,A,3,2\na1,h1,A,4,2\na3,h1,A,98,5\n"
    found = refused_places("", tmp_path, table)
    assert [(code, under) for code, under, *_ in found] == [
        ("E0205", "a0,h1,A,99,2"), ("E0206", "a1,h1,A,4,2"), ("E0205", "a3,h1,A,98,5"),
    ]  # fmt: skip
    assert found[1][2:] == ("a[1] is placed twice", ONCE, [("a1,h1,A,3,2", "first here")])


def test_halls_of_a_table(tmp_path: Path) -> None:
    """A design without halls has those of the table: rows in order of appearance, racks by number, no sizes."""
    table = f"{HEAD}a0,east,B,9,2\na1,west,A,1,\na2,east,A,3,4\na3,east,B,2,7\na4,east,B,9,5\n"
    _, p = located("", tmp_path, table, halls="")
    assert [(h.name, [(r.name, [n for n, _ in r.racks]) for r in h.rows]) for h in p.halls] == [
        ("east", [("B", [2, 9]), ("A", [3])]), ("west", [("A", [1])]),
    ]  # fmt: skip
    assert [(h.rack_pitch, h.row_pitch, h.tray, h.slack) for h in p.halls] == [(None,) * 4] * 2
    assert [(k.height, k.feeds, k.feed_watts, k.mass, k.bend) for k in p.rack_kind] == [(None, 0, None, None, None)] * 4
    assert [k.span.text for k in p.rack_kind] == ["a3,east,B,2,7", "a0,east,B,9,2", "a2,east,A,3,4", "a1,west,A,1,"]
    assert [h.origin.span.text for h in p.halls] == ["a0,east,B,9,2", "a1,west,A,1,"]
    assert p.device_rack[:6].tolist() == [1, 3, 2, 0, 1, -1]
    assert p.device_unit[:6].tolist() == [2, 0, 4, 7, 5, 0]
    assert p.rack_x.tolist() == [-1, -1, 0, 0] and p.rack_y.tolist() == [-1, -1, -1, 0]
    assert p.rack_names == ["B02", "B09", "A03", "A01"]


def test_a_stack_of_devices_of_several_heights(tmp_path: Path) -> None:
    """Each stands above those before it: the second is 2U high, the fourth 4.5U, which is 5U in a rack."""
    _, p = located("override a[1]: TWO\noverride a[3]: FIVE\nplace a[*] in h1.A[3] stacked from 1U", tmp_path)
    assert p.device_unit[:6].tolist() == [1, 2, 4, 5, 10, 11]
