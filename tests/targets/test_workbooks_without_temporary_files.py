"""Workbooks need no place for temporary files."""

import tempfile
from pathlib import Path

import pytest

from tdsl.emit.workbook import Sheet, workbook_bytes


def test_a_workbook_where_nothing_temporary_can_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its parts are kept in memory until it is closed."""
    sheets = [Sheet("a", ["x"], [("1",)])]
    made = workbook_bytes(sheets, "t")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert workbook_bytes(sheets, "t") == made
