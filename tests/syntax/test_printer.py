"""The canonical layout."""

import pytest

from tdsl.findings.source import SourceFile
from tdsl.syntax.printer import format_source
from tests.syntax.programs import ALL


def fmt(text: str) -> str:
    return format_source(SourceFile("t.fab", text))


LAYOUTS = [
    ("group a{\n\n\nhost   x :M\n\n\n\nlet b=1\n\n}", "group a {\n  host x: M\n\n  let b = 1\n}\n"),
    ("let a = b+c * d", "let a = b+c * d\n"),
    ("let a = b +c*d", "let a = b + c*d\n"),
    ("let a = - 1", "let a = -1\n"),
    ("offset -1", "offset -1\n"),
    ("let a = x[ * ,i ]", "let a = x[*, i]\n"),
    ("let a = 0 .. 7", "let a = 0..7\n"),
    ("let a = 50%+1", "let a = 50%+1\n"),
    ("let a=8 % b", "let a = 8 % b\n"),
    ("hosts 4   x   M", "hosts 4 x M\n"),
    ("a;b ;  c", "a; b; c\n"),
    ("rack r { }", "rack r {}\n"),
    ("connect a\nto b\r\nwhere i<j", "connect a\n    to b\n    where i < j\n"),
    ("let a = [\n1,\n2\n]", "let a = [\n    1,\n    2\n]\n"),
    ("a 1 # x\nbbbb 2 # y\n\nc 3 #z", "a 1     # x\nbbbb 2  # y\n\nc 3  #z\n"),
    ("if a { b }\nelse { c }", "if a { b }\nelse { c }\n"),
    ("# only\n\n\n# this", "# only\n\n# this\n"),
    ("", ""),
    ("let a = b . c[ 0 ] . d", "let a = b.c[0].d\n"),
    ("g {\n\n  a 1\n\n}\n", "g {\n  a 1\n}\n"),
    ("let a = [1,\n2\n]\n", "let a = [1,\n    2\n]\n"),
    ("let a = ([1,\n2\n])\n", "let a = ([1,\n    2\n])\n"),
    ("g { connect a\nto b\n }\n", "g { connect a\n      to b\n}\n"),
    ("a 1;to b\n", "a 1; to b\n"),
    (
        "let a = b-c\nlet d = b - c\nlet e = -c\nlet f = b* -c\n",
        "let a = b-c\nlet d = b - c\nlet e = -c\nlet f = b * -c\n",
    ),
    ("g {\n# in\n}\n", "g {\n  # in\n}\n"),
    ("let a = (\n# in\n1)\n", "let a = (\n    # in\n    1)\n"),
]


@pytest.mark.parametrize(("text", "wanted"), LAYOUTS, ids=[t[:20] for t, _ in LAYOUTS])
def test_layout(text: str, wanted: str) -> None:
    assert fmt(text) == wanted
    assert fmt(wanted) == wanted


@pytest.mark.parametrize("name", ALL)
def test_programs_settle(name: str) -> None:
    result = fmt(ALL[name])
    assert result.count("#") == ALL[name].count("#")
    assert fmt(result) == result


def test_comments_far_apart_are_not_aligned() -> None:
    long = "connect " + "a" * 60 + " to b # far"
    assert fmt(f"a # near\n{long}\n") == f"a  # near\n{long.replace(' #', '  #')}\n"


@pytest.mark.parametrize(("longer", "aligned"), [(23, True), (24, True), (25, False)])
def test_comments_in_one_column(longer: int, aligned: bool) -> None:
    """Where the lines differ by 24 letters at most."""
    wide = f"a {'b' * (longer + 1)}"
    assert fmt(f"a 1 # x\n{wide} # y\n") == f"{'a 1'.ljust(len(wide) if aligned else 3)}  # x\n{wide}  # y\n"


def test_a_faulty_program_is_left_alone() -> None:
    text = "let   a = )\n"
    assert fmt(text) == text
