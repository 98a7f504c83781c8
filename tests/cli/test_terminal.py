"""How findings look, whatever stands in their source; `tests/report/test_reports.py` has whole ones."""

from __future__ import annotations

import re

from tdsl.findings.diagnostic import Diagnostic, Label
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.report.excerpt import visible_line
from tdsl.report.paint import Paint, text_columns
from tdsl.report.terminal import finding_block
from tests.tables import sections

TEXT = sections(__file__)["design"] % ("x" * 150)
FILE, OTHER = SourceFile("superpod.fab", TEXT), SourceFile("stdlib:a.fab", "model switch QM9700 {\n  port p[1..64]: 400Gbps\n}\n")
GROUP = TEXT[TEXT.index("group") : TEXT.index("  connect su")].rstrip()


def at(words: str, file: SourceFile = FILE, after: str = "") -> SourceSpan:
    start = file.text.index(words, file.text.index(after))
    return SourceSpan(file, start, start + len(words))


LABELS = (
    Label(at("switch spine[2]: QM9700"), "2 spines, declared here"),
    Label(at("port p[1..64]: 400Gbps", OTHER), "64 ports a switch"),
    Label(at(GROUP), "in every su[4]"),
)
FINDINGS = [
    Diagnostic(
        "E0101", "`spine[0]` needs 128 ports", at("connect su[*].leaf[*] to spine[*] spread"), LABELS, ("a fact",), count=64
    ),
    Diagnostic(
        "E0101", "this message is too long to stand beside the word that it is about, at the end of the line", at("trace")
    ),
    Diagnostic("E0101", "a name behind wide characters", at("leaf", after="日"), help="a help\nof two lines"),
    Diagnostic("E0101", "here the text ends", SourceSpan(FILE, len(TEXT), len(TEXT))),
]


def test_no_line_is_wider_than_asked_and_colour_changes_no_character() -> None:
    for d in FINDINGS:
        for width in (60, 100, 140):
            lines = finding_block(d, "superpod.fab", Paint(False), width).splitlines()[2:]
            assert all(text_columns(line) <= width for line in lines), (d, width)
        plain, coloured = (finding_block(d, "superpod.fab", Paint(on), 100) for on in (False, True))
        assert plain != coloured and re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_nothing_in_a_design_steers_the_terminal() -> None:
    file = SourceFile("a\x1b[31m.fab", "a \x1b[2J \u202e b\x00\r c\n")
    text = finding_block(Diagnostic("E0101", "say \x1b[2J", SourceSpan(file, 2, 5), help="\x07"), file.name, Paint(False), 100)
    assert all(c == "\n" or (c >= " " and c not in "\x7f\u202e") for c in text)
    assert visible_line("\ta\tb").text == "    a   b" and visible_line("日x").columns == (0, 2, 3)
