"""The fixtures of the checks, compiled as a user would: what passes, and what is found where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tdsl.compile import compiler
from tdsl.findings.diagnostic import Severity
from tests.harness import none

FOLDER = Path(__file__).parents[1] / "checks"


def faults(path: Path) -> Iterator[str]:
    found = [d for d in compiler.compile_and_verify(str(path)).findings if d.severity is Severity.ERROR]
    expected = re.match(r"# expect: (E\d{4}) line (\d+)", path.read_text())
    places = [(d.code, d.span.begin[0] if d.span else 0) for d in found]
    if places != ([(expected[1], int(expected[2]))] if expected else []):
        yield f"{path.parent.name}/{path.name}: {places}"


def test_fixtures():
    paths = sorted(FOLDER.glob("*/*.fab"))
    assert len(paths) > 90
    none(fault for path in paths for fault in faults(path))
