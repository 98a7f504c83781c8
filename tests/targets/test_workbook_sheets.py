"""Spreadsheets read back from their XML: heights, widths, print settings, cell formats, and names of sheets."""

from __future__ import annotations

import io
import re
import zipfile
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


def widths(sheet: Sheet) -> list[float]:
    """The widths of columns in characters, without the 5 pixels that a column has beside them."""
    page, _, _ = parts(sheet)
    return [round((float(c.attrib["width"]) * 7 - 5) / 7, 2) for c in page.findall("m:cols/m:col", NS)
            for _ in range(int(c.attrib["min"]), int(c.attrib["max"]) + 1)]  # fmt: skip


def heights(sheet: Sheet) -> dict[int, float]:
    """The heights in points of the rows that have their own."""
    page, _, _ = parts(sheet)
    return {int(r.attrib["r"]): float(r.attrib["ht"]) for r in page.findall("m:sheetData/m:row", NS) if "ht" in r.attrib}


def formats(sheet: Sheet) -> dict[str, dict[str, object]]:
    """The facts of the format of each cell."""
    page, styles, _ = parts(sheet)
    number_formats = {n.attrib["numFmtId"]: n.attrib["formatCode"] for n in styles.findall("m:numFmts/m:numFmt", NS)}
    fonts, borders = styles.findall("m:fonts/m:font", NS), styles.findall("m:borders/m:border", NS)
    fills = styles.findall("m:fills/m:fill", NS)
    out = {}
    for cell in page.iter(f"{{{NS['m']}}}c"):
        look = styles.findall("m:cellXfs/m:xf", NS)[int(cell.attrib.get("s", "0"))]
        font = fonts[int(look.attrib["fontId"])]
        bottom = borders[int(look.attrib["borderId"])].find("m:bottom", NS)
        assert bottom is not None
        size, colour = font.find("m:sz", NS), bottom.find("m:color", NS)
        ground = fills[int(look.attrib["fillId"])].find("m:patternFill/m:fgColor", NS)
        facts: dict[str, object] = {
            "size": size.attrib["val"] if size is not None else "",
            "bold": font.find("m:b", NS) is not None,
            "bottom": bottom.attrib.get("style", ""),
            "colour": colour.attrib.get("rgb", "") if colour is not None else "",
            "ground": ground.attrib.get("rgb", "") if ground is not None else "",
            "number": number_formats.get(look.attrib["numFmtId"], ""),
        }
        alignment = look.find("m:alignment", NS)
        out[cell.attrib["r"]] = facts | (dict(alignment.attrib) if alignment is not None else {})
    return out


def test_a_plain_sheet() -> None:
    sheet = Sheet("first", ["a", "longer name"], [["x", 1], ["", 22.5], ["yy" * 10, 0]], frozen=1, note="N & M")
    page, _, strings = parts(sheet)
    assert one(page, "sheetFormatPr") == {"defaultRowHeight": "15"}
    assert one(page, "autoFilter") == {"ref": "A1:B4"}
    setup = one(page, "pageSetup")
    assert (setup["paperSize"], setup["orientation"], setup.get("fitToHeight")) == ("9", "landscape", "0")
    assert setup.get("fitToWidth", "1") == "1"
    assert one(page, "pageMargins")["left"] == "0.7"
    header, footer = page.find("m:headerFooter/m:oddHeader", NS), page.find("m:headerFooter/m:oddFooter", NS)
    assert header is not None and header.text == "&LN && M&Rfirst" and footer is not None and footer.text == "&Rpage &P of &N"
    pane = page.find("m:sheetViews/m:sheetView/m:pane", NS)
    assert pane is not None and (pane.attrib["xSplit"], pane.attrib["ySplit"]) == ("1", "1")
    assert strings == ["a", "longer name", "x", "yy" * 10]
    cells = {c.attrib["r"]: (c.attrib.get("t"), c.findtext("m:v", "", NS)) for c in page.iter(f"{{{NS['m']}}}c")}
    assert cells["A2"] == ("s", "2") and cells["B2"] == (None, "1") and cells["B3"] == (None, "22.5") and "A3" not in cells
    assert heights(sheet) == {}


def test_an_empty_sheet_is_filtered_as_if_it_had_a_row() -> None:
    assert one(parts(Sheet("s", ["a", "b", "c"], []))[0], "autoFilter") == {"ref": "A1:C2"}
    assert one(parts(Sheet("s", ["a"], [["x"]]))[0], "autoFilter") == {"ref": "A1:A2"}
    assert one(parts(Sheet("s", ["a"], [["x"]] * 2))[0], "autoFilter") == {"ref": "A1:A3"}


@pytest.mark.parametrize(
    ("columns", "hidden", "large", "paper"),
    [(12, 0, False, 9), (13, 0, False, 8), (13, 1, False, 9), (14, 1, False, 8), (30, 0, True, 9)],
)
def test_paper(columns: int, hidden: int, large: bool, paper: int) -> None:
    names = [f"c{i}" for i in range(columns)]
    sheet = Sheet("s", names, [["x"] * columns], hidden=frozenset(names[:hidden]), large=large)
    page, _, _ = parts(sheet)
    assert one(page, "pageSetup")["paperSize"] == str(paper)
    assert (
        sum(int(c.attrib["max"]) - int(c.attrib["min"]) + 1 for c in page.findall("m:cols/m:col", NS) if "hidden" in c.attrib)
        == hidden
    )


def test_large_type() -> None:
    page, _, _ = parts(Sheet("s", ["a"], [["x"], [3]], large=True))
    assert one(page, "sheetFormatPr")["defaultRowHeight"] == "18"
    margins = one(page, "pageMargins")
    assert [margins[k] for k in ("left", "right", "top", "bottom")] == ["0.4", "0.4", "0.65", "0.55"]


WIDE = [
    (["a"], ["x" * 20], {}, [21]),
    (["name"], ["x"], {}, [9]),
    (["name"], ["x" * 8], {}, [9]),
    (["name"], ["x" * 9], {}, [10]),
    (["a"], ["x" * 58], {}, [59]),
    (["a"], ["x" * 59], {}, [60]),
    (["a"], ["x" * 70], {}, [60]),
    (["a"], [1234567.0], {}, [9]),
    (["a"], [12345678901], {}, [16]),
    (["a"], [1234567.0], {"formats": {"a": "#,##0.00"}}, [14]),
    (["a"], [0.125], {"formats": {"b": "#,##0.00"}}, [7]),
    (["a"], ["x" * 40], {"ledger": True}, [34]),
    (["a"], ["x" * 32], {"ledger": True}, [33]),
    (["power in watts"], ["x"], {"ledger": True}, [12]),
    (["power of all"], ["x"], {"ledger": True}, [17]),
    (["power of them"], ["x"], {"ledger": True}, [11]),
    (["poweroftheirs"], ["x"], {"ledger": True}, [18]),
    (["ab      cdefgh"], ["x"], {"ledger": True}, [12]),
    (["a considerable"], ["x"], {"ledger": True}, [17]),
    (["power in watts"], ["x"], {}, [19]),
    (["a"], ["x" * 10], {"large": True}, [12]),
    (["abcd"], ["x"], {"large": True}, [8]),
    (["power in watts"], ["x"], {"large": True, "ledger": True}, [19]),
    (["a"], ["x" * 40], {"large": True, "ledger": True}, [45]),
    (["a"], ["x" * 70], {"large": True, "ledger": True}, [60]),
    (["a", "b"], ["x" * 20, 5], {}, [21, 6]),
]


@pytest.mark.parametrize(("columns", "row", "facts", "wanted"), WIDE)
def test_widths(columns: list[str], row: list[object], facts: dict[str, object], wanted: list[float]) -> None:
    """As wide as the longest text and some more, at most 60 characters, of a ledger 34; headings of two words in two lines."""
    assert widths(Sheet("s", columns, [row], **facts)) == wanted  # type: ignore[arg-type]


def test_rows_of_ledgers_that_are_wrapped() -> None:
    def ledger(*texts: object, **facts: object) -> dict[int, float]:
        return heights(Sheet("s", ["a", "b"], [[t, "x"] for t in texts], ledger=True, **facts))  # type: ignore[arg-type]

    assert ledger("x" * 30, "x" * 31, "x" * 56, "x" * 57, "x" * 84, "x" * 85, 5) == {3: 30, 4: 30, 5: 45, 6: 45, 7: 60}
    assert ledger("x" * 31, large=True) == {1: 18, 2: 18}
    assert heights(Sheet("s", ["power of them"], [["x"]], ledger=True)) == {1: 30}
    assert heights(Sheet("s", ["power of them", "b"], [["x", 1]], ledger=True)) == {1: 30}
    assert heights(Sheet("s", ["power of all"], [["x"]], ledger=True)) == {}
    assert heights(Sheet("s", ["poweroftheirs"], [["x"]], ledger=True)) == {}
    assert heights(Sheet("s", ["power of them", "b"], [["x", 1]], ledger=True, hidden=frozenset({"power of them"}))) == {}
    assert heights(Sheet("s", ["a", "b"], [["x" * 10, "x" * 31], ["x" * 31, 2]], ledger=True)) == {2: 30, 3: 30}


def test_formats_of_a_ledger() -> None:
    rows = [["text", 1, 2.5], ["", 3, ""], ["x", "y", 4]]
    found = formats(
        Sheet("s", ["name", "n", "m"], rows, ledger=True, bold=frozenset({1}), ends=frozenset({2}), formats={"m": "#,##0.00"})
    )
    line = {"size": "11", "bold": False, "bottom": "thin", "colour": "FFB0BEC5", "ground": "", "number": "", "vertical": "top"}
    text = {"horizontal": "left", "indent": "1", "wrapText": "1"}
    total = line | {"bold": True, "ground": "FFEEF2F6"}
    end = line | {"bottom": "thick", "colour": "FF37474F"}
    money = {"number": "#,##0.00"}
    assert found["A2"] == line | text and found["B2"] == line and found["C2"] == line | money
    assert found["A3"] == total | text and found["B3"] == total and found["C3"] == total | text | money
    assert found["A4"] == end | text and found["B4"] == end | text and found["C4"] == end | money
    heading = {
        "size": "11",
        "bold": True,
        "bottom": "thin",
        "ground": "FFD9E2EC",
        "number": "",
        "vertical": "top",
        "wrapText": "1",
    }
    left = heading | {"horizontal": "left", "indent": "1"}
    right = heading | {"horizontal": "right"}
    assert [{k: v for k, v in found[c].items() if k != "colour"} for c in ("A1", "B1", "C1")] == [left, left, right]


def test_formats_of_large_type() -> None:
    found = formats(Sheet("s", ["name", "n"], [["text", 1]], ledger=True, large=True))
    line = {"size": "12", "bold": False, "bottom": "thin", "colour": "FFB0BEC5", "ground": "", "number": "", "vertical": "top"}
    assert found["A2"] == line and found["B2"] == line | {"horizontal": "center"}
    assert found["B1"]["horizontal"] == "center" and "horizontal" not in found["A1"] and found["A1"]["size"] == "12"
    assert "wrapText" not in found["A1"] and "wrapText" not in found["B1"]


def test_formats_of_other_sheets() -> None:
    plain = formats(Sheet("s", ["name", "n"], [["text", 1], ["", 2]]))
    assert set(plain) == {"A1", "B1", "A2", "B2", "B3"} and "vertical" not in plain["A2"] and plain["A1"] == plain["B1"]
    summed = formats(Sheet("s", ["name", "n"], [["text", 1], ["", 2]], bold=frozenset({1})))
    assert set(summed) == {"A1", "B1", "A2", "B2", "A3", "B3"}
    assert [summed[c]["bold"] for c in ("A2", "B2", "A3", "B3")] == [False, False, True, True]
    assert summed["A2"]["bottom"] == "" and summed["A2"]["vertical"] == "top" and "horizontal" not in summed["A2"]


def test_long_texts_are_cut() -> None:
    texts = ["x" * MAX_TEXT, "y" * (MAX_TEXT + 1)]
    assert MAX_TEXT == 32_767
    assert parts(Sheet("s", ["a"], [[t] for t in texts]))[2] == ["a", texts[0], "y" * (MAX_TEXT - 1) + "…"]


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
    page, _, _ = parts(Sheet("s", ["a"], [], note="a\nb" + "&" * 100))
    header = page.find("m:headerFooter/m:oddHeader", NS)
    assert header is not None and header.text == "&La b" + "&&" * 77 + "&Rs"
    page, _, _ = parts(Sheet("s", ["a"], []), "the title")
    header = page.find("m:headerFooter/m:oddHeader", NS)
    assert header is not None and header.text == "&Lthe title&Rs"
    assert re.fullmatch("PK.*", workbook_bytes([Sheet("s", ["a"], [])], "t")[:2].decode())
