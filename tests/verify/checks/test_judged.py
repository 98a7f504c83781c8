"""Small designs with what the checks say of them: each file of `judged` ends with the findings and the answers, as comments.

A file may begin with `## ` and what it shows, and with `## fail: ` and the elements that are failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.compile.compilation import Compilation
from tests.harness import compile_text

FILES = sorted((Path(__file__).parent / "judged").glob("*.fab"))


def said(compilation: Compilation) -> Iterator[str]:
    """Findings with their line, number and fix, then the answer to each requirement and report."""
    for d in compilation.findings:
        yield f"# {d.severity.word} {d.code} line {d.span.begin[0] if d.span else 0}, {d.count}: {d.message}"
        yield from [f"#   help: {d.help}"] if d.help else []
    for r in (r for design in (*compilation.designs, *compilation.clusters) for r in design.results if r.requirement):
        yield f"# {r.status} {r.requirement}: {r.text or r.reason}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_designs_are_judged_as_their_last_lines_say(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    expected = [line for line in text.splitlines() if line.startswith("# ")]
    fail = tuple(re.findall(r"^## fail: (.*)$", text, re.MULTILINE))
    assert list(said(compile_text(text, tmp_path, models=False, fail=fail))) == expected
