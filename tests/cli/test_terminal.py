"""How findings look: source with remarks, whatever stands in it."""

from __future__ import annotations

import re

import pytest

from tdsl.findings.diagnostic import Diagnostic, Label, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.report.excerpt import visible_line
from tdsl.report.paint import Paint, text_columns, wrap_text
from tdsl.report.terminal import finding_block, rate_in_bps_text
from tests.conftest import Golden
from tests.tables import sections

TEXT = sections(__file__)["design"] % ("x" * 150)
MODEL = "model switch QM9700 {\n  port p[1..64]: 400Gbps\n}\n"
FILE, OTHER = SourceFile("superpod.fab", TEXT), SourceFile("stdlib:hardware/nvidia/qm9700.fab", MODEL)


def at(words: str, file: SourceFile = FILE, after: str = "") -> SourceSpan:
    start = file.text.index(words, file.text.index(after))
    return SourceSpan(file, start, start + len(words))


GROUP = TEXT[TEXT.index("group") : TEXT.index("  connect su")].rstrip()
FINDINGS = {
    "labels": Diagnostic(
        "E0101",
        "`spine[0]` needs 128 ports and has 64: 32 leaves with 4 links each",
        at("connect su[*].leaf[*] to spine[*] spread"),
        (
            Label(at("switch spine[2]: QM9700"), "2 spines, declared here"),
            Label(at("port p[1..64]: 400Gbps", OTHER), "64 ports a switch"),
            Label(at("leaf"), "the leaves"),
            Label(at(GROUP), "in every su[4]"),
        ),
        ("32 leaves × 4 links = 128 > 64",),
        "write `switch spine[4]`",
        count=64,
    ),
    "far_right": Diagnostic(
        "E0101", "`medium` means nothing here, and this message is too long to stand beside the word it is about", at("trace")
    ),
    "wide": Diagnostic("E0101", "a name behind wide characters", at("leaf", after="日"), severity=Severity.WARNING),
    "end_of_file": Diagnostic("E0101", "here the text ends", SourceSpan(FILE, len(TEXT), len(TEXT))),
    "over_lines": Diagnostic("E0101", "this group", at(GROUP), help="a help\nof two lines"),
    "no_place": Diagnostic("E0101", "something about the file as a whole", notes=("a fact",)),
    "no_page": Diagnostic("E0999", "a finding whose code has no page", at("spine")),
}


def shown(d: Diagnostic, width: int = 100) -> str:
    return finding_block(d, "superpod.fab", Paint(False), width)


@pytest.mark.parametrize("name", FINDINGS)
def test_finding(name: str, golden: Golden) -> None:
    golden(f"terminal/{name}.txt", shown(FINDINGS[name]) + "\n")


def test_no_line_is_wider_than_asked_and_colour_changes_no_character() -> None:
    for d in FINDINGS.values():
        for width in (60, 100, 140):
            assert all(text_columns(line) <= width for line in shown(d, width).splitlines()[2:]), (d, width)
        plain, coloured = (finding_block(d, "superpod.fab", Paint(on), 100) for on in (False, True))
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_nothing_in_a_design_steers_the_terminal() -> None:
    file = SourceFile("a\x1b[31m.fab", "a \x1b[2J \u202e b\x00\r c\n")
    text = finding_block(Diagnostic("E0101", "say \x1b[2J", SourceSpan(file, 2, 5), help="\x07"), file.name, Paint(False), 100)
    assert all(c == "\n" or (c >= " " and c not in "\x7f\u202e") for c in text)


def test_lines_words_and_rates_as_they_are_shown() -> None:
    assert visible_line("\ta\tb").text == "    a   b" and visible_line("日x").columns == (0, 2, 3)
    rates = {4.064e14: "406.4 Tbps", 4e11: "400 Gbps", 1.5e15: "1.5 Pbps", 12.0: "12 bps"}
    assert {bps: rate_in_bps_text(bps) for bps in rates} == rates
    assert wrap_text("one two three", 7) == ["one two", "three"]
    assert wrap_text("incomprehensibilities", 7) == ["incomprehensibilities"]
    assert wrap_text("", 7) == [""]
