"""The fixtures of the checks, compiled as a user would: what passes, and what is found where."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tdsl import compiler
from tdsl.diagnostic import Severity

FOLDER = Path(__file__).parents[1] / "checks"
FILES = sorted(FOLDER.glob("*/*.fab"))


@pytest.mark.parametrize("path", FILES, ids=[f"{p.parent.name}/{p.stem}" for p in FILES])
def test_fixture(path):
    found = [d for d in compiler.check(str(path)).findings if d.severity is Severity.ERROR]
    expected = re.match(r"# expect: (E\d{4}) line (\d+)", path.read_text())
    places = [(d.code, d.span.begin[0] if d.span else 0) for d in found]
    assert places == ([(expected[1], int(expected[2]))] if expected else [])
