"""The fixes that findings carry, applied one at a time to the faulty designs: the finding is gone, and no stage fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.findings.diagnostic import Diagnostic
from tests.errors.test_fixtures import FIXTURES, HERE
from tests.harness import none


def applied(d: Diagnostic, text: str) -> str:
    assert d.fix is not None
    for span, new in sorted(d.fix.edits, key=lambda e: -e[0].start):
        text = text[: span.start] + new + text[span.end :]
    return text


def same(d: Diagnostic) -> tuple[object, ...]:
    """What a finding is about: its code and the source line that it marks."""
    assert d.span is not None
    return d.code, d.message, d.span.begin[0]


def faults(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    for d in compiler.compile_and_verify(path.name).findings:
        if d.allowed or d.fix is None or d.span is None:
            continue
        assert all(span.file is d.span.file for span, _ in d.fix.edits), "a fix of another file needs a test of its own"
        new = applied(d, text)
        again = compiler.compile_and_verify(path.name, Request(overlay={path.name: new, str(path.resolve()): new}))
        if new == text or same(d) in [same(x) for x in again.findings if x.span is not None]:
            yield f"{path.name}: {d.code} is still there after `{d.fix.title}`"


def test_a_fix_removes_its_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    assert len(FIXTURES) >= 120
    none(fault for path in FIXTURES for fault in faults(path))
