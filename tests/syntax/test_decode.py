"""Bytes to text."""

import pytest

from tdsl.findings.diagnostic import Diagnostics
from tdsl.findings.source import SourceFile
from tdsl.syntax.parser import MAX_BYTES, decode_source_file, parse_expression
from tests.syntax.shown import show


def attempt(data: bytes) -> tuple[SourceFile | None, Diagnostics]:
    diagnostics = Diagnostics()
    return decode_source_file(data, "t.fab", diagnostics), diagnostics


@pytest.mark.parametrize(
    ("data", "code", "at"),
    [
        (b"let a = 1\nlet \xff = 2\n", "E0011", (2, 5)),
        ("é\n".encode() + b"a\0", "E0011", (2, 2)),
        (b"", "E0010", (1, 1)),
        (b"  \n# nothing\n", "E0010", (1, 1)),
        (b"#" * (MAX_BYTES + 1), "E0012", (1, 1)),
    ],
)
def test_refused(data: bytes, code: str, at: tuple[int, int]) -> None:
    file, diagnostics = attempt(data)
    (finding,) = diagnostics
    assert finding.code == code and finding.span is not None and finding.span.begin == at
    assert (file is None) == (code != "E0010")


def test_byte_order_mark() -> None:
    file, diagnostics = attempt(b"\xef\xbb\xbflet a = 1\n")
    assert file is not None and file.text == "let a = 1\n" and not list(diagnostics)


def test_expression() -> None:
    diagnostics = Diagnostics()
    assert show(parse_expression("2*n + 1", "--set", diagnostics)) == "((2 * n) + 1)"
    assert show(parse_expression("0..3", "--set", diagnostics)) == "Range(low=0 high=3)"
    assert not list(diagnostics)
    assert parse_expression("2 *", "--set", diagnostics) is None
    assert parse_expression("", "--set", diagnostics) is None
    assert [d.code for d in diagnostics] == ["E0001", "E0001"]
