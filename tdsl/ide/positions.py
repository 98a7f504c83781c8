"""Places as editors count them: lines and columns from 0, columns in units of UTF-8, UTF-16 or UTF-32."""

from __future__ import annotations

from pathlib import Path

from tdsl.findings.source import SourceFile
from tdsl.system import resources

WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
"""Bytes of one unit of each encoding. Editors count in UTF-16 unless another is agreed on."""
LIBRARY = "stdlib:"


def encoded_length(text: str, encoding: str) -> int:
    """How many units a text takes."""
    if text.isascii():
        return len(text)
    name = encoding if encoding == "utf-8" else f"{encoding}-le"
    return len(text.encode(name, "surrogatepass")) // WIDTHS[encoding]


def editor_position(file: SourceFile, offset: int, encoding: str) -> tuple[int, int]:
    """Line and column of an offset in code points."""
    line, column = file.position(offset)
    start = file.line_starts[line - 1]
    return line - 1, encoded_length(file.text[start : start + column - 1], encoding)


def offset_of_editor_position(file: SourceFile, line: int, column: int, encoding: str) -> int:
    """The offset at a line and column; what lies beyond an end is that end."""
    if line >= len(file.line_starts):
        return len(file.text)
    start = file.line_starts[line]
    text = file.line(line + 1)
    if text.isascii():
        return start + min(column, len(text))
    used = 0
    for at, character in enumerate(text):
        used += encoded_length(character, encoding)
        if used > column:
            return start + at
    return start + len(text)


def path_of_finding_file(name: str) -> Path:
    """Where a file lies, by its name in findings."""
    if name.startswith(LIBRARY):
        return resources.packaged_folder("stdlib") / name.removeprefix(LIBRARY)
    return Path(name)
