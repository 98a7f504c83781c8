"""Designs with much that the reference names, in few devices: all that is known of each, and of each after a small change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tdsl.compile import compiler
from tdsl.compile.compiler import Request
from tdsl.emit.build import build_files
from tdsl.fabric.graph import Fabric
from tdsl.fabric.pins import lock_text
from tdsl.findings.diagnostic import Diagnostics, Severity
from tdsl.findings.source import SourceFile
from tests.conftest import Golden
from tests.harness import links_of, written

HERE = Path(__file__).parent / "whole"
NAMES = sorted(p.stem for p in HERE.glob("*.fab"))
NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\d._]*[\d_])(?=[^\w.]|\.\.|U\b|m\b|x\b|Gbps\b|$)")


def compiled(path: Path, text: str, lock: str | None = None) -> tuple[Fabric | None, list[str]]:
    """The whole fabric of a text beside a lock, and the codes of what is no note."""
    found = compiler.compile_without_checks(
        str(written(path, text)), Request(stands=SourceFile("f.fab.lock", lock) if lock else None)
    )
    fabric, codes = (found.designs[0].fabric, [d.code for d in found.findings if d.severity is not Severity.NOTE])
    return (fabric if fabric is not None and fabric.complete else None), codes


@pytest.mark.parametrize("name", NAMES)
def test_all_that_is_known(name: str, golden: Golden, tmp_path: Path) -> None:
    """The rows of ``fabric.json``; beside its own lock every link keeps its ports."""
    text = (HERE / f"{name}.fab").read_text(encoding="utf-8")
    fabric, codes = compiled(tmp_path / "f.fab", text)
    assert fabric is not None and codes == []
    golden(f"fabric/{name}.json", build_files(fabric, ["json"], Diagnostics())["fabric.json"])
    again, codes = compiled(tmp_path / "f.fab", text, lock_text([fabric], "f.fab"))
    assert again is not None and codes == []
    assert links_of(again) == links_of(fabric)


def changes(text: str) -> Iterator[str]:
    """A text with one number more or less, or one line left out."""
    for m in NUMBER.finditer(text):
        for n in (int(m[1]) - 1, int(m[1]) + 1):
            if n >= 0 and "#" not in text[text.rfind("\n", 0, m.start()) + 1 : m.start()]:
                yield f"{text[: m.start()]}{n}{text[m.end() :]}"
    lines = text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        if line.strip() not in ("", "}") and not line.rstrip().endswith("{"):
            yield "".join(lines[:i] + lines[i + 1 :])


def joined(fabric: Fabric) -> Counter[frozenset[str]]:
    return Counter(frozenset(p.rpartition(".")[0] for p in link) for link in links_of(fabric))


@pytest.mark.parametrize("name", NAMES)
def test_a_lock_beside_a_changed_design(name: str, tmp_path: Path) -> None:
    """Who is joined is the same as without the lock, and no fewer links keep their ports."""
    path, text = tmp_path / "f.fab", (HERE / f"{name}.fab").read_text(encoding="utf-8")
    before, _ = compiled(path, text)
    assert before is not None
    lock, old = lock_text([before], "f.fab"), links_of(before)
    fine = 0
    for changed in Random(name).sample(list(changes(text)), 3):
        free, _ = compiled(path, changed)
        kept, _ = compiled(path, changed, lock)
        assert (free is None) == (kept is None), changed
        if free is not None and kept is not None:
            fine += 1
            assert "uneven" in changed or joined(free) == joined(kept), changed
            assert len(links_of(kept) & old) >= len(links_of(free) & old), changed
    assert fine
