"""Cut sheets as people send them: title rows, headings of two rows, cells with both names, merged cells, encodings, workbooks,
and what technicians fill in."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from openpyxl import Workbook, load_workbook

from tests.cli.run import tdsl
from tests.harness import fabric_of, sampled
from tests.observe.captures import audited, codes, ends, named
from tests.observe.plant import Cables
from tests.observe.test_unwrapping import POD

Rows = list[list[str]]
HEADINGS = [
    ["Device A", "Port A", "Device B", "Port B"],
    ["From Host", "From Port", "To Switch", "To Port"],
    ["Source Device", "Source Interface", "Destination Device", "Destination Interface"],
    ["A-End Device", "A-End Port", "Z-End Device", "Z-End Port"],
    ["Local Hostname", "Local If", "Remote Hostname", "Remote If"],
    ["a_device", "a_port", "b_device", "b_port"],
    ["Device", "Port", "Peer", "Peer Port"],
    ["Host", "Host Port", "Switch", "Switch Port"],
    ["Server", "Port", "Switch", "Port"],
    ["hostname", "interface", "neighbour", "neighbour interface"],
    ["Source", "Source Port", "Destination", "Destination Port"],
    ["Device 1", "Port 1", "Device 2", "Port 2"],
]
TITLES: Rows = [["Cabling of hall 1", "", "", ""], ["Rev 3", "", "2026-11-02", ""], ["", "", "", ""]]


@pytest.fixture(scope="module")
def cables(tmp_path_factory: pytest.TempPathFactory) -> Cables:
    return Cables(fabric_of(POD, tmp_path_factory.mktemp("pod"), models=False))


def links(cables: Cables) -> Rows:
    """Rows in the order of devices, so that those of one device are together."""
    return sorted([*named(cables, p), *named(cables, q)] for p, q in ends(cables))


def plain(rows: Rows, r: Random) -> Rows:
    return [r.choice(HEADINGS), *rows]


def titled(rows: Rows, r: Random) -> Rows:
    return [*TITLES[: r.randint(1, 3)], *plain(rows, r)]


def two_rows(rows: Rows, r: Random) -> Rows:
    over = r.choice([["A side", "", "B side", ""], ["From", "", "To", ""], ["Near end", "Near end", "Far end", "Far end"]])
    return [*TITLES[:1], over, ["Device", "Port", "Device", "Port"], *rows]


def both_in_a_cell(rows: Rows, r: Random) -> Rows:
    sign = r.choice([" / ", ":", " ", " - "])
    return [
        ["Nr", "Device A / Port A", "Device B / Port B"],
        *([str(k), *map(sign.join, (x[:2], x[2:]))] for k, x in enumerate(rows)),
    ]


def further_columns(rows: Rows, r: Random) -> Rows:
    head = ["#", "From Rack", "From Device", "From U", "From Port", "Cable Type", "To Rack", "To Device", "To Port", "Length"]
    return [head, *([str(k), "A01", a, "12", p, "DAC", "A02", b, q, "3m"] for k, (a, p, b, q) in enumerate(rows, 1))]


def merged(rows: Rows, r: Random) -> Rows:
    """A device once for all of its ports, as merged cells are exported."""
    more = [[f"node{n}", f"spare{k}", "patch", f"{n}{k}"] for n in range(2) for k in range(2)]
    rows = sorted([*rows, *more])
    out = [list(r.choice(HEADINGS))]
    for before, row in zip([["", "", "", ""], *rows], rows, strict=False):
        out.append(["" if row[0] == before[0] else row[0], *row[1:]])
    return out


SHAPES = [plain, titled, two_rows, both_in_a_cell, further_columns]


def text_of(rows: Rows, delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize("seed", sampled(range(8), 2))
@pytest.mark.parametrize("shape", SHAPES, ids=lambda f: f.__name__)
def test_a_shape_says_the_same_cables(shape: Callable[[Rows, Random], Rows], seed: int, cables: Cables, tmp_path: Path) -> None:
    """In any encoding and with any separator; a cable less is a fault."""
    r = Random(f"{shape.__name__}{seed}")
    rows = links(cables)
    delimiter, encoding = r.choice(",;\t"), r.choice(["utf-8", "utf-8-sig", "utf-16"])
    for count, wanted in ((len(rows), []), (len(rows) - 1, ["E0625"])):
        (tmp_path / "t.csv").write_bytes(text_of(shape(rows[:count], r), delimiter).encode(encoding))
        made = audited(cables.fabric, ("p2p", tmp_path / "t.csv"))
        assert (codes(made), made.matching) == (wanted, count)
    assert tdsl("import", tmp_path / "t.csv", "--rate", "400Gbps").exit_code == 0


@pytest.mark.parametrize("heading", HEADINGS, ids=" ".join)
def test_headings_name_two_ends(heading: list[str], cables: Cables, tmp_path: Path) -> None:
    """Each with a column that names no end before them. A row of names is no heading: none of the cables is lost."""
    rows = links(cables)
    (tmp_path / "t.csv").write_text(text_of([["Cable", *heading], *([f"c{k}", *row] for k, row in enumerate(rows))]))
    made = audited(cables.fabric, ("p2p", tmp_path / "t.csv"))
    assert (codes(made), made.matching) == ([], len(rows))
    (tmp_path / "t.csv").write_text("switch 1,port 1,switch 2,port 2\nswitch 2,port 3,switch 1,port 4\n")
    done = tdsl("import", tmp_path / "t.csv", "--rate", "400Gbps")
    assert done.exit_code == 1 and "--column a_device=" in done.output


def test_cells_that_were_merged_are_told(cables: Cables, tmp_path: Path) -> None:
    """The device stands beside its first port, or in a row of its own."""
    head, *rows = merged(links(cables), Random(1))
    apart = [part for row in rows for part in ([[row[0], "", "", ""], ["", *row[1:]]] if row[0] else [row])]
    for table in (rows, apart):
        (tmp_path / "t.csv").write_text(text_of([head, *table]))
        made = audited(cables.fabric, ("p2p", tmp_path / "t.csv"))
        assert codes(made) == [] and made.matching == len(links(cables))
        (note,) = [n for n in made.notes if n.code == "E0606"]
        assert "the device of the row above is taken" in note.message
    one = links(cables)
    one[2][0] = ""  # a cell that was forgotten is no merged one
    (tmp_path / "t.csv").write_text(text_of(plain(one, Random(1))))
    assert "E0601" in codes(audited(cables.fabric, ("p2p", tmp_path / "t.csv")))


# ---------------------------------------------------------------- workbooks


def xlsx(path: Path, sheets: dict[str, Rows], merges: dict[str, list[str]] | None = None) -> Path:
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append([int(c) if c.isdigit() else c or None for c in row])
        for area in (merges or {}).get(name, []):
            sheet.merge_cells(area)
    book.save(path)
    return path


def ods(path: Path, sheets: dict[str, Rows]) -> Path:
    """The least that a reader of OpenDocument takes (OASIS, OpenDocument 1.3, part 3)."""
    space = "urn:oasis:names:tc:opendocument:xmlns:"
    body = ""
    for name, rows in sheets.items():
        body += f'<table:table table:name="{name}">'
        for row in rows:
            cells = (f'<table:table-cell office:value-type="string"><text:p>{c}</text:p></table:table-cell>' for c in row)
            body += f"<table:table-row>{''.join(cells)}</table:table-row>"
        body += "</table:table>"
    names = " ".join(f'xmlns:{n}="{space}{n}:1.0"' for n in ("office", "table", "text"))
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {names} office:version="1.3"><office:body>'
        f"<office:spreadsheet>{body}</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    entry = f'<manifest:file-entry manifest:full-path="{{}}" manifest:media-type="{kind}"/>'
    entries = entry.format("/") + entry.format("content.xml")
    manifest = f'<manifest:manifest xmlns:manifest="{space}manifest:1.0">{entries}</manifest:manifest>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", manifest)
    return path


@pytest.mark.parametrize("shape", SHAPES, ids=lambda f: f.__name__)
def test_workbooks(shape: Callable[[Rows, Random], Rows], cables: Cables, tmp_path: Path) -> None:
    """A sheet of cables beside others, as .xlsx and .ods; the others are named."""
    pytest.importorskip("python_calamine")
    rows = links(cables)
    for write, name in ((xlsx, "t.xlsx"), (ods, "t.ods")):
        half = len(rows) // 2
        sheets = {"cover": [["To", "the crew"]], "one": shape(rows[:half], Random(3)), "two": shape(rows[half:], Random(4))}
        made = audited(cables.fabric, ("p2p", write(tmp_path / name, sheets)))
        assert (codes(made), made.matching) == ([], len(rows)), name
        assert [n.message for n in made.notes if n.code == "E0606"] == ["1 sheet without the columns of two ends: cover"]


def rewritten(path: Path, part: str, *changes: tuple[str, str]) -> Path:
    """A workbook in which a part of its archive has one text, found first, replaced by another."""
    with zipfile.ZipFile(path) as archive:
        parts = {one: archive.read(one) for one in archive.namelist()}
    for old, new in changes:
        assert old.encode() in parts[part]
        parts[part] = parts[part].replace(old.encode(), new.encode(), 1)
    with zipfile.ZipFile(path, "w") as archive:
        for one, text in parts.items():
            archive.writestr(one, text)
    return path


def said_of_workbook(cables: Cables, path: Path) -> list[str]:
    return [f.finding.message for f in audited(cables.fabric, ("p2p", path)).faults]


OF_XLSX, OF_ODS = "xl/worksheets/sheet1.xml", "content.xml"


def test_a_cell_far_from_the_table(cables: Cables, tmp_path: Path) -> None:
    """Room for a thousand million million cells is not asked for: .xlsx of one far cell, .ods of a row or a cell
    repeated. Empty rows and cells that are repeated to the end of the sheet, as programs write them, are none."""
    far = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c></row></sheetData>'
    hostile = [rewritten(xlsx(tmp_path / "t.xlsx", {"one": links(cables)}), OF_XLSX, ("</sheetData>", far))]
    for what, times in (("row table:number-rows", 2**40), ("cell table:number-columns", 99_999_999)):
        path = ods(tmp_path / f"{what[:4]}.ods", {"one": [["a"], ["b"]]})
        change = f"<table:table-{what.split()[0]}", f"<table:table-{what}-repeated='{times}'"
        hostile.append(rewritten(path, OF_ODS, change))
    for path in hostile:
        assert any("cells up to its last one" in said for said in said_of_workbook(cables, path)), path
    whole = ods(tmp_path / "whole.ods", {"one": SHAPES[0](links(cables), Random(3))})
    end = "<table:table-row {}='1048000'><table:table-cell {}='16384'/></table:table-row></table:table>"
    rest = end.format(*(f"table:number-{what}-repeated" for what in ("rows", "columns")))
    assert said_of_workbook(cables, rewritten(whole, OF_ODS, ("</table:table>", rest))) == []


@pytest.mark.parametrize("cell", ['t="s"><v>0</v>', "t = 's'><f>A1</f><v>0</v>", 't="s"><v xml:space="preserve">0</v>'])
def test_a_long_text_that_many_cells_share(cell: str, cables: Cables, tmp_path: Path) -> None:
    """A text of a megabyte in 300 cells is refused before it is read, however its cells are written; in two it is read."""
    for count, refused in ((300, True), (2, False)):
        cells = "".join(f'<row r="{n}"><c r="Z{n}" {cell}</c></row>' for n in range(9001, 9001 + count))
        path = rewritten(
            xlsx(tmp_path / "t.xlsx", {"one": plain(links(cables), Random(1))}), OF_XLSX, ("</sheetData>", cells + "</sheetData>")
        )
        with zipfile.ZipFile(path, "a") as archive:
            space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
            archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{space}"><si><t>{"x" * 2**20}</t></si></sst>')
        assert any("more than 256 MiB of text" in said for said in said_of_workbook(cables, path)) == refused


def test_what_a_workbook_repeats(cables: Cables, tmp_path: Path) -> None:
    """A long text of .ods in a repeated cell, a thousand million spaces in one, and cells that are merged many times over."""
    long, spaces = ods(tmp_path / "long.ods", {"one": [["x" * 2**20]]}), ods(tmp_path / "spaces.ods", {"one": [["a"]]})
    rewritten(long, OF_ODS, ("<table:table-cell", "<table:table-cell table:number-columns-repeated='300'"))
    rewritten(spaces, OF_ODS, ("a</text:p>", "<text:s text:c='1000000000'/></text:p>"))
    merges = "".join(f'<mergeCell ref="A{n}:XFD1048576"/>' for n in range(1, 300)) + "</mergeCells>"
    sheet = {"one": [["a", *[""] * 998, "b"], *[["c"]] * 999]}
    merged = rewritten(xlsx(tmp_path / "t.xlsx", sheet, {"one": ["A1:B1"]}), OF_XLSX, ("</mergeCells>", merges))
    for path, said in ((long, "MiB of text"), (spaces, "MiB of text"), (merged, "merged cells, more than")):
        assert any(said in message for message in said_of_workbook(cables, path)), path


def test_merged_cells_of_a_workbook(cables: Cables, tmp_path: Path) -> None:
    """Those of a heading and of devices: each row has its device, and no guess is needed."""
    pytest.importorskip("python_calamine")
    rows = [[*row[2:], *row[:2]] if row[2] == "leaf0" else row for row in links(cables)]
    rows.sort(key=lambda row: row[0] != "leaf0")
    of_leaf = sum(row[0] == "leaf0" for row in rows)
    assert of_leaf > 1
    sheet = [["Cables of the pod", "", "", ""], ["A side", "", "B side", ""], ["Device", "Port", "Device", "Port"], *rows]
    areas = ["A1:D1", "A2:B2", "C2:D2", f"A4:A{3 + of_leaf}"]
    made = audited(cables.fabric, ("p2p", xlsx(tmp_path / "t.xlsx", {"cables": sheet}, {"cables": areas})))
    assert (codes(made), made.matching, [n for n in made.notes if n.code == "E0606"]) == ([], len(rows), [])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04 and no more", "not readable"),
        (b"\xd0\xcf\x11\xe0 and no more", "not readable"),
        (None, "no sheet of this workbook has the columns of two ends: notes"),
    ],
)
def test_workbooks_that_are_none(data: bytes | None, said: str, cables: Cables, tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    path = xlsx(tmp_path / "t.xlsx", {"notes": [["nothing", "here"]]})
    path.write_bytes(data or path.read_bytes())
    made = audited(cables.fabric, ("p2p", path))
    assert codes(made)[0] == "E0601" and said in made.faults[0].finding.message
    assert "this is a workbook" in audited(cables.fabric, ("lldp", path)).faults[0].finding.message


# ---------------------------------------------------------------- what technicians fill in


def test_a_workbook_that_a_technician_has_ticked(cables: Cables, tmp_path: Path) -> None:
    """Unticked it is the plan; once a box is ticked, rows without a tick are not there yet; a cable ends where it was found."""
    pytest.importorskip("python_calamine")
    (tmp_path / "d.fab").write_text(POD)
    assert tdsl("build", tmp_path / "d.fab", "--out", tmp_path / "out", "--target", "cabling").exit_code == 0
    path = tmp_path / "out" / "cabling" / "cables.xlsx"
    whole = len(links(cables))

    def work(path: Path, change: Callable[[int, dict[str, str]], dict[str, str]]) -> Path:
        book = load_workbook(path)
        for sheet in book.worksheets:
            head = [c.value for c in sheet[1]]
            if "done" in head and "cable" in head:
                sheet.cell(1, len(head) + 1, "found instead")
                columns = [*head, "found instead"]
                for k in range(2, sheet.max_row + 1):
                    cells = {n: str(sheet.cell(k, at).value or "") for at, n in enumerate(columns, 1)}
                    for name, value in change(k - 2, cells).items():
                        sheet.cell(k, columns.index(name) + 1, value)
        book.save(tmp_path / "ticked.xlsx")
        return tmp_path / "ticked.xlsx"

    assert (codes(plan := audited(cables.fabric, ("p2p", path))), plan.matching) == ([], whole)
    for words in (("", ""), ("ok", "As planned")):
        every = audited(cables.fabric, ("p2p", work(path, lambda k, row, w=words: {"done": "x", "found instead": w[k % 2]})))
        assert (codes(every), every.matching) == ([], whole)
    some = audited(cables.fabric, ("p2p", work(path, lambda k, row: {"done": "☑" if k else "☐"})))
    assert some.matching == whole - 1 and codes(some) == ["E0625"]
    assert any("not ticked as done" in note.message for note in some.notes)
    for words, ticked in (("✅ ✔️ OK 2026-11-02 1", True), ("❌ ✗ n/a pending failed 50% JD unplugged", False)):
        for word in words.split():
            one = audited(cables.fabric, ("p2p", work(path, lambda k, row, word=word: {"done": "x" if k else word})))
            assert one.matching == whole - (not ticked) and codes(one) == ["E0625"] * (not ticked), word
            assert any(f"`{word.lower()}` (1)" in n.message for n in one.notes) == (word in ("50%", "JD")), word
    for word, said in (
        ("Nothing", "no cable was found"),
        ("not plugged", "no cable was found"),
        ("p99", "does not have the port"),
    ):
        fill = {"done": "x", "found instead": word}
        one = audited(cables.fabric, ("p2p", work(path, lambda k, row, fill=fill: {"done": "x"} if k else fill)))
        assert one.matching == whole - 1 and codes(one) == ["E0625"] and any(said in n.message for n in one.notes), word
    ends_found: list[tuple[str, str]] = []

    def exchange(k: int, row: dict[str, str]) -> dict[str, str]:
        ends_found.append((row["to"], row["to port"]))
        return {"done": "yes"} | ({"found instead": " ".join(ends_found[0])} if k == 1 else {})

    work(path, exchange)
    first, second = ends_found[:2]
    moved = work(path, lambda k, row: {"done": "yes"} | ({"found instead": " ".join((second, first)[k])} if k < 2 else {}))
    found = audited(cables.fabric, ("p2p", moved))
    assert found.matching == whole - 2 and len(codes(found)) == 1
