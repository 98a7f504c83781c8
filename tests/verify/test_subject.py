"""What a requirement may not be about. What it is about is in designs of ``checks/judged``, and judged on random designs of the
families ``scoped_groups``, ``extended_instances``, ``nested_devices`` and ``unlinked_members`` (tests/soundness)."""

from __future__ import annotations

from pathlib import Path

import pytest

import tdsl
from tdsl.compile.compiler import Request, UsageError
from tests.harness import written
from tests.tables import sections

TEXT = sections(__file__)["text"]


def test_chips_that_no_statement_names_are_no_devices(tmp_path: Path) -> None:
    """They have no rows of their own, so neither a requirement nor a failure is about them, whatever is in those rows."""
    path = written(tmp_path / "d.fab", TEXT.replace("ASKED", "require links of tray.gpu >= 0; report blast_radius of tray.gpu"))
    found = [d for d in tdsl.check(path).findings if d.code != "E0404"]
    assert [d.code for d in found] == ["E0101", "E0101"] and all("is not a device of this fabric" in d.message for d in found)
    written(path, TEXT.replace("ASKED", ""))
    with pytest.raises(UsageError, match="is not a device of this fabric"):
        tdsl.check(path, Request(fail=("tray[0].gpu[1]",)))
