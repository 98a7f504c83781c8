"""Slips of newcomers, each made in a sound design: one finding, at the place, whose fix or help makes it sound again."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.errors.test_fixes import applied
from tests.harness import compile_text
from tests.tables import table

SOUND = """\
fabric pod "A pod" {
  host node[8]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[4]: QM9700
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 4
  require reachability and bisection >= 100%
}
"""
EDITS, WORDS, FOREIGN = (table(__file__, name) for name in ("edits", "words", "formats"))


@cache
def errors_of(text: str) -> list[str]:
    """The messages of the errors in a text: most slips are mended into the same one."""
    with TemporaryDirectory() as folder:
        found = compile_text(text, Path(folder), models=False).findings
    return [d.message for d in found if d.severity.word == "error"]


def made(old: str, new: str) -> str:
    assert SOUND.count(old) == 1, old
    return SOUND.replace(old, new)


def test_the_design_is_sound(tmp_path: Path) -> None:
    assert not compile_text(SOUND, tmp_path, models=False).findings


@pytest.mark.parametrize(("name", "old", "new"), EDITS)
def test_a_slip_is_mended_by_its_fix(name: str, old: str, new: str, tmp_path: Path) -> None:
    text = made(old, new)
    (finding,) = [d for d in compile_text(text, tmp_path, models=False).findings if d.severity.word == "error"]
    assert finding.fix is not None and finding.span is not None, finding
    first = next(k for k, (a, b) in enumerate(zip(SOUND.split("\n"), text.split("\n"), strict=False), 1) if a != b)
    assert finding.span.begin[0] <= first <= finding.span.finish[0] + 1
    mended = applied(finding, text)
    assert not errors_of(mended), mended


@pytest.mark.parametrize(("name", "old", "new", "help"), WORDS)
def test_a_slip_is_answered_with_what_to_write(name: str, old: str, new: str, help: str, tmp_path: Path) -> None:
    found = [d for d in compile_text(made(old, new), tmp_path, models=False).findings if d.severity.word == "error"]
    assert [help in d.help for d in found] == [True], found


@pytest.mark.parametrize(("name", "text"), FOREIGN)
def test_another_format_is_named(name: str, text: str, tmp_path: Path) -> None:
    (finding,) = compile_text(text, tmp_path, models=False).findings
    assert finding.code == "E0017" and name in finding.message and re.search(r"`tdsl (init`|audit)", finding.help)
