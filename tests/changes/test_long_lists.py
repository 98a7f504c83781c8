"""Lists of a comparison: as many rows as there is a screen for, and what is left out is counted."""

from __future__ import annotations

import pytest

from tdsl.changes import words
from tdsl.changes.model import Changes
from tdsl.report.paint import Paint


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("rows", [0, 1, 11, 12, 13, 14, 15, 30])
def test_rows_of_a_list(rows: int, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve; thirteen where that is all, since a line that says "1 more" takes as much."""
    changes = Changes("f")
    monkeypatch.setattr(words, "change_sections", lambda c: [("cables", [("+", f"cable {i}") for i in range(rows)])])
    said = list(words._change_lines(changes, Paint(False), 80, whole))
    shown = rows if whole or rows <= 13 else 12
    assert [line for line in said if "cable " in line] == [f"  + cable {i}" for i in range(shown)]
    assert [line for line in said if "more" in line] == (
        [f"    and {rows - shown} more; --full shows them"] if shown < rows else []
    )
