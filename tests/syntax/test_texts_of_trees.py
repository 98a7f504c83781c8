"""Trees as text, part by part: numbers, names, paths, statements and blocks; and the rules of layout at their edges."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tdsl.findings.source import SourceFile
from tdsl.syntax import writer
from tdsl.syntax.printer import format_source
from tests.syntax.shown import one


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-3, "-3"),
        (Fraction(1, 2), "0.5"),
        (Fraction(12345, 1000), "12.345"),
        (Fraction(1, 3), "1/3"),
        (Fraction(5, 4), "1.25"),
    ],
)
def test_numbers(value: int | Fraction, text: str) -> None:
    assert writer._number_text(value) == text
    assert (
        writer._number_text(Fraction(1, 10**12)) == "0.000000000001"
        and writer._number_text(Fraction(1, 10**13)) == "1/10000000000000"
    )


STATEMENTS = {
    "switch s[2, 3 of 4]: S": "switch s[2, 3 of 4]: S",
    'switch s "t": S {   role x;  height 2U }': 'switch s "t": S { role x; height 2U }',
    "group g { host h: M; if a { b 1 } }": "group g {\n  host h: M\n  if a { b 1 }\n}",
    "group g { }": "group g {  }",
    "group g { group h { host i: M } }": "group g {\n  group h {\n    host i: M\n  }\n}",
    "omit a, b[1] where n > 1": "omit a, b[1] where n > 1",
    'naming a[i] "x{i:02}{{" where i > 0': 'naming a[i] "x{i:02}{{" where i > 0',
    "if a { b 1 } else if c { d 2 } else { e }": "if a { b 1 } else if c { d 2 } else { e }",
    "for i in 0..3 { host h: M }": "for i in 0..3 {\n  host h: M\n}",
    "connect a, b to c each x 2 via p[0] where n > 1 { rate 4Gbps }": (
        "connect a, b to c each x 2 via p[0] where n > 1 { rate 4Gbps }"
    ),
    "circuit a[*] random degree 3 seed 5": "circuit a[*] random degree 3 seed 5",
    "connect a to b pairs shift 1": "connect a to b pairs shift 1",
    "let n: int = 4 where n > 1": "let n: int = 4 where n > 1",
    "let n = [k * 2 for k in 0..3][1]": "let n = [k * 2 for k in 0..3][1]",
    "height": "height",
    "hosts 4 per rack, 5": "hosts 4 per rack, 5",
    "require   a >=  3": "require a >= 3",
    "report  cost": "report cost",
    "minimize   cost": "minimize cost",
}


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements(text: str) -> None:
    assert writer.statement_text(one(text)) == STATEMENTS[text]


LAYOUTS = [
    ("a  1\n\n\n\nb 2\n\n", "a 1\n\nb 2\n"),
    ("g {\n\n  a 1\n\n}\n", "g {\n  a 1\n}\n"),
    ("let a = [1,\n2]\n", "let a = [1,\n    2]\n"),
    ("let a = [1,\n2\n]\n", "let a = [1,\n    2\n]\n"),
    ("let a = ([1,\n2\n])\n", "let a = ([1,\n    2\n])\n"),
    ("g { connect a\nto b\n }\n", "g { connect a\n      to b\n}\n"),
    ("a 1;to b\n", "a 1; to b\n"),
    ("a 1 # x\nbcd 23 # y\n\ne 4 # z\n", "a 1     # x\nbcd 23  # y\n\ne 4  # z\n"),
    ("let a = b-c\nlet d = b - c\nlet e = -c\nlet f = b* -c\n", "let a = b-c\nlet d = b - c\nlet e = -c\nlet f = b * -c\n"),
    ("# only\n", "# only\n"),
    ("g {\n# in\n}\n", "g {\n  # in\n}\n"),
    ("let a = (\n# in\n1)\n", "let a = (\n    # in\n    1)\n"),
    ("if a { b }\nelse { c }\n", "if a { b }\nelse { c }\n"),
]


@pytest.mark.parametrize(("text", "laid"), LAYOUTS)
def test_layout(text: str, laid: str) -> None:
    assert format_source(SourceFile("t.fab", text)) == laid
    assert format_source(SourceFile("t.fab", laid)) == laid


@pytest.mark.parametrize(("longer", "aligned"), [(23, True), (24, True), (25, False)])
def test_comments_in_one_column(longer: int, aligned: bool) -> None:
    """Where the lines differ by 24 letters at most."""
    text = f"a 1 # x\na {'b' * (longer + 1)} # y\n"
    wide = f"a {'b' * (longer + 1)}"
    assert format_source(SourceFile("t.fab", text)) == f"{'a 1'.ljust(len(wide) if aligned else 3)}  # x\n{wide}  # y\n"
