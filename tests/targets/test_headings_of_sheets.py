"""Headings, columns and panes of spreadsheets whose cells and headings are of unusual lengths."""

from __future__ import annotations

import pytest

from tdsl.emit.workbook import Sheet
from tests.targets.test_workbook_sheets import formats, heights, one, parts, widths


@pytest.mark.parametrize(
    ("columns", "row", "facts", "wanted"),
    [
        # the heading, 4 more, and 1
        ([""], ["x"], {}, [5]),
        ([""], ["x"], {"large": True}, [3]),
        (["a" * 56], ["x"], {}, [60]),
        (["a" * 54], ["x"], {}, [59]),
        # a heading in two lines: half of it, or its longest word
        (["abc defgh ij"], ["x"], {"ledger": True}, [17]),
        (["abc defgh ijk"], ["x"], {"ledger": True}, [11]),
        (["abc defgh ijklmno"], ["x"], {"ledger": True}, [13]),
        (["ab cd ef gh ij kl mn"], ["x"], {"ledger": True}, [15]),
        # numbers take 10 digits at most, and one place more
        (["a"], [123456.75], {}, [11]),
        (["a"], [1234567890123], {}, [16]),
        (["a"], [-1.5], {}, [6]),
        (["a"], [True], {}, [6]),
        (["a"], [99999.5], {"formats": {"a": "#,##0.00"}}, [11]),
    ],
)
def test_widths_of_columns(columns: list[str], row: list[object], facts: dict[str, object], wanted: list[float]) -> None:
    assert widths(Sheet("s", columns, [row], **facts)) == wanted  # type: ignore[arg-type]


@pytest.mark.parametrize("length", [28, 29, 56, 57, 84, 85])
def test_lines_of_wrapped_texts(length: int) -> None:
    """Texts of more than 30 characters are wrapped in lines of 28, of 15 points each."""
    found = heights(Sheet("s", ["a"], [["x" * length]], ledger=True))
    assert found == ({} if length <= 30 else {2: 15.0 * -(-length // 28)})


def test_headings_in_two_lines() -> None:
    def height(*columns: str, hidden: str = "") -> float | None:
        sheet = Sheet("s", columns, [["x"] * len(columns)], ledger=True, hidden=frozenset([hidden]))
        return heights(sheet).get(1)

    assert [height("abc defgh ij"), height("abc defgh ijk"), height("abcdefghijklm")] == [None, 30, None]
    assert [height("a", "abc defgh ijk"), height("a", "abc defgh ijk", hidden="abc defgh ijk")] == [30, None]


def test_columns_of_numbers_alone_have_their_heading_above_the_numbers() -> None:
    sheet = Sheet("s", ["a", "b", "c", "d"], [[1, "", "", 1], [2.5, "x", "", ""]], ledger=True)
    found = formats(sheet)
    assert [found[f"{c}1"].get("horizontal") for c in "ABCD"] == ["right", "left", "left", "right"]
    plain = formats(Sheet("s", ["a"], [[1]]))
    assert plain["A1"].get("horizontal") is None


def test_panes_and_filters() -> None:
    page, _, _ = parts(Sheet("s", ["a", "b", "c"], [[1, 2, 3]] * 4, frozen=2))
    pane = next(page.iter("{http://schemas.openxmlformats.org/spreadsheetml/2006/main}pane"))
    assert (pane.attrib["xSplit"], pane.attrib["ySplit"], pane.attrib["topLeftCell"]) == ("2", "1", "C2")
    assert one(page, "autoFilter")["ref"] == "A1:C5"
    assert one(page, "pageSetup") == {"paperSize": "9", "orientation": "landscape", "fitToHeight": "0"}
