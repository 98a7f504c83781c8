"""Spreadsheets read back from their XML: cells, print settings, widths, and names of sheets."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tdsl.emit.workbook import MAX_TEXT, Sheet, sheet_name, workbook_bytes

pytest.importorskip("xlsxwriter")
NS = {"m": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}


def parts(sheet: Sheet, title: str = "T") -> tuple[ElementTree.Element, ElementTree.Element, list[str]]:
    """The XML of the only sheet, of the styles, and the shared strings."""
    with zipfile.ZipFile(io.BytesIO(workbook_bytes([sheet], title))) as archive:
        page = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
        styles = ElementTree.fromstring(archive.read("xl/styles.xml"))
        strings: list[str] = []
        if "xl/sharedStrings.xml" in archive.namelist():
            table = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
            strings = ["".join(t.text or "" for t in si.iter(f"{{{NS['m']}}}t")) for si in table.findall("m:si", NS)]
    return page, styles, strings


def one(page: ElementTree.Element, tag: str) -> dict[str, str]:
    found = page.find(f"m:{tag}", NS)
    return dict(found.attrib) if found is not None else {}


def heights(sheet: Sheet) -> dict[int, float]:
    """The heights in points of the rows that have their own."""
    page, _, _ = parts(sheet)
    return {int(r.attrib["r"]): float(r.attrib["ht"]) for r in page.findall("m:sheetData/m:row", NS) if "ht" in r.attrib}


def test_a_plain_sheet() -> None:
    sheet = Sheet("first", ["a", "longer name"], [["x", 1], ["", 22.5], ["yy" * 10, 0]], frozen=1, note="N & M")
    page, _, strings = parts(sheet)
    assert one(page, "sheetFormatPr") == {"defaultRowHeight": "15"}
    assert one(page, "autoFilter") == {"ref": "A1:B4"}
    setup = one(page, "pageSetup")
    assert (setup["paperSize"], setup["orientation"], setup.get("fitToHeight")) == ("9", "landscape", "0")
    assert setup.get("fitToWidth", "1") == "1" and one(page, "pageMargins")["left"] == "0.7"
    header, footer = page.find("m:headerFooter/m:oddHeader", NS), page.find("m:headerFooter/m:oddFooter", NS)
    assert header is not None and header.text == "&LN && M&Rfirst" and footer is not None and footer.text == "&Rpage &P of &N"
    pane = page.find("m:sheetViews/m:sheetView/m:pane", NS)
    assert pane is not None and (pane.attrib["xSplit"], pane.attrib["ySplit"]) == ("1", "1")
    assert strings == ["a", "longer name", "x", "yy" * 10]
    cells = {c.attrib["r"]: (c.attrib.get("t"), c.findtext("m:v", "", NS)) for c in page.iter(f"{{{NS['m']}}}c")}
    assert cells["A2"] == ("s", "2") and cells["B2"] == (None, "1") and cells["B3"] == (None, "22.5") and "A3" not in cells
    assert heights(sheet) == {}


@pytest.mark.parametrize(
    ("columns", "hidden", "large", "paper"),
    [(12, 0, False, 9), (13, 0, False, 8), (13, 1, False, 9), (14, 1, False, 8), (30, 0, True, 9)],
)
def test_paper(columns: int, hidden: int, large: bool, paper: int) -> None:
    names = [f"c{i}" for i in range(columns)]
    sheet = Sheet("s", names, [["x"] * columns], hidden=frozenset(names[:hidden]), large=large)
    page, _, _ = parts(sheet)
    assert one(page, "pageSetup")["paperSize"] == str(paper)
    spans = [(int(c.attrib["min"]), int(c.attrib["max"])) for c in page.findall("m:cols/m:col", NS) if "hidden" in c.attrib]
    assert sum(last - first + 1 for first, last in spans) == hidden


def test_long_texts_are_cut_and_those_of_a_ledger_wrapped() -> None:
    """No column is wider than a page holds."""
    texts = ["x" * MAX_TEXT, "y" * (MAX_TEXT + 1)]
    assert MAX_TEXT == 32_767
    assert parts(Sheet("s", ["a"], [[t] for t in texts]))[2] == ["a", texts[0], "y" * (MAX_TEXT - 1) + "…"]
    page, _, _ = parts(Sheet("s", list("abcd"), [["x" * n for n in (1, 20, 58, 200)]]))
    widths = [float(c.attrib["width"]) for c in page.findall("m:cols/m:col", NS)]
    assert widths == sorted(widths) and widths[1] >= 20 and widths[3] <= 61
    assert heights(Sheet("s", ["a", "b"], [["x" * n, "y"] for n in (30, 31, 57)], ledger=True)) == {3: 30, 4: 45}


def test_names_of_sheets() -> None:
    taken: set[str] = set()
    names = ["a/b:c", "A_b_c", "'quoted'", "", "''", "History", "x" * 40, "X" * 31, "x" * 32, "a[]?b", "sheet~2"]
    assert [sheet_name(n, taken) for n in names] == [
        "a_b_c", "A_b_c~2", "quoted", "sheet", "sheet~2", "History_", "x" * 31,
        "X" * 29 + "~2", "x" * 29 + "~3", "a_b", "sheet~2~2",
    ]  # fmt: skip
    assert taken == {n.lower() for n in taken} and len(taken) == len(names)
    taken = {"y" * 31, *("y" * 29 + f"~{i}" for i in range(2, 10))}
    assert sheet_name("y" * 31, taken) == "y" * 28 + "~10"


def test_texts_of_headers() -> None:
    for note, title, shown in (("a\nb" + "&" * 100, "T", "a b" + "&&" * 77), ("", "the title", "the title")):
        header = parts(Sheet("s", ["a"], [], note=note), title)[0].find("m:headerFooter/m:oddHeader", NS)
        assert header is not None and header.text == f"&L{shown}&Rs"


def test_a_workbook_where_nothing_temporary_can_be_kept(tmp_path: Path) -> None:
    sheets = [Sheet("a", ["x"], [("1",)])]
    made = workbook_bytes(sheets, "t")
    with pytest.MonkeyPatch.context() as system:
        system.setattr(tempfile, "tempdir", str(tmp_path / "none"))
        assert workbook_bytes(sheets, "t") == made
