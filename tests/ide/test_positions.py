"""Places as editors count them, by the encoded text itself; and files that only lend what they declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.findings.source import SourceFile
from tdsl.ide.positions import editor_position, encoded_length, offset_of_editor_position, path_of_finding_file
from tdsl.system import resources

TEXT = "ab\n\na×🙂b\n# 🙂🙂\nplain"
UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


@pytest.mark.parametrize("encoding", UNITS)
def test_lines_and_columns(encoding: str) -> None:
    codec, width = UNITS[encoding]
    file = SourceFile("a.fab", TEXT)
    for offset in range(len(TEXT) + 1):
        before = TEXT[:offset]
        line, start = before.count("\n"), before.rfind("\n") + 1
        column = len(TEXT[start:offset].encode(codec)) // width
        assert editor_position(file, offset, encoding) == (line, column)
        assert offset_of_editor_position(file, line, column, encoding) == offset
        assert encoded_length(TEXT[start:offset], encoding) == column


@pytest.mark.parametrize("encoding", UNITS)
def test_places_beyond_an_end(encoding: str) -> None:
    file = SourceFile("a.fab", TEXT)
    ends = [len("\n".join(TEXT.split("\n")[: n + 1])) for n in range(5)]
    for line, end in enumerate(ends):
        assert offset_of_editor_position(file, line, 99, encoding) == end
    assert offset_of_editor_position(file, 5, 0, encoding) == offset_of_editor_position(file, 9, 9, encoding) == len(TEXT)


def test_a_place_inside_a_character() -> None:
    """It is the start of the character."""
    file = SourceFile("a.fab", TEXT)
    at = TEXT.index("🙂")
    assert [offset_of_editor_position(file, 2, k, "utf-8") for k in range(9)] == [
        at - 2,
        at - 1,
        at - 1,
        at,
        at,
        at,
        at,
        at + 1,
        at + 2,
    ]
    assert [offset_of_editor_position(file, 2, k, "utf-16") for k in range(6)] == [at - 2, at - 1, at, at, at + 1, at + 2]


def test_files_by_their_name_in_findings() -> None:
    assert path_of_finding_file("stdlib:hardware/a.fab") == resources.packaged_folder("stdlib") / "hardware" / "a.fab"
    assert path_of_finding_file("hardware/stdlib:a.fab") == Path("hardware/stdlib:a.fab")
