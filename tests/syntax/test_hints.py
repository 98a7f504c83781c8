"""What newcomers write first: one finding each, whose help alone leads to what is right."""

from __future__ import annotations

import pytest

from tdsl.findings.diagnostic import Diagnostic
from tests.syntax.shown import read
from tests.tables import table

SLIPS = table(__file__, "slips")


def only(text: str) -> Diagnostic:
    (finding,) = list(read(text)[1])
    return finding


@pytest.mark.parametrize(("text", "help"), SLIPS)
def test_help(text: str, help: str) -> None:
    for around in ("{}", "{}\n", "fabric f {{\n  height 1U\n  {}\n  slack 2m\n}}\nlet after = 1\n"):
        assert (help.partition(";")[0] if around == "{}" else help) in only(around.format(text)).help, around


@pytest.mark.parametrize("text", [text for text, _ in SLIPS if "," not in text.partition("[")[0]])
def test_fix(text: str) -> None:
    finding = only(text)
    if finding.fix is None:
        return
    ((span, put),) = finding.fix.edits
    mended = text[: span.start] + put + text[span.end :]
    assert not list(read(mended)[1]), mended


@pytest.mark.parametrize(("text", "help"), table(__file__, "left alone"))
def test_other_help_stands(text: str, help: str) -> None:
    assert help in only(text).help
