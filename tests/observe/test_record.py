"""Records that readers make: limits of names and numbers, places, nodes that become one; and the tables of ibdiagnet."""

from __future__ import annotations

import pytest

from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile
from tdsl.observe.record import CaptureLine, Malformed, Observed, count_in_capture, hexadecimal_digits, plain_capture_name

FILE = SourceFile("c.txt", "first\n  second \t\n\n   \nlast")


def test_numbers_identifiers_and_names() -> None:
    """Numbers from 0 to a largest, of at most twenty characters; identifiers of twelve or sixteen digits; names that are seen."""
    for text, most, base, value in (
        ("0", 5, 10, 0),
        ("5", 5, 10, 5),
        ("0xff", 255, 16, 255),
        ("1" + "0" * 19, 10**19, 10, 10**19),
    ):
        assert count_in_capture(text, 7, "the port", most, base) == value
    for text, most in (("6", 5), ("-1", 5), ("x", 5), ("", 5), ("0" * 20 + "1", 10**19)):
        with pytest.raises(Malformed) as wrong:
            count_in_capture(text, 7, "the port", most)
        assert (wrong.value.line, wrong.value.message) == (7, f"the port is {text!r}, which is not a number from 0 to {most:,}")
    for text in ("08:00:27:4F:33:2d", "0800.274f.332d", "08-00-27-4f-33-2d "):
        assert hexadecimal_digits(text) == "0800274f332d"
    assert hexadecimal_digits("0x0002c903000a1b2c") == "0002c903000a1b2c"
    assert not any(map(hexadecimal_digits, ("0800274f332", "0800274f332d1", "0002c903000a1b2c0", "x", "0800274f332g", "")))
    assert plain_capture_name("a" * 512, 3) == "a" * 512 and plain_capture_name("a\tb", 3) == "a\tb"
    for text, why in (("a" * 513, "more than 512 characters"), ("a\x1b[0m", "a control character"), ("a\u200bb", "is not seen")):
        with pytest.raises(Malformed, match=why):
            plain_capture_name(text, 3)


def test_faults_of_one_capture() -> None:
    """Of many of one kind the first, with their count; a line outside of the file is its first or last."""
    made, other = Observed(), SourceFile("d.txt", "x")
    for n in range(22):
        made.fault(FILE, 5 * (n != 1), f"f{n}", "h")
    made.fault(other, 9, "one", code="E0602")
    for n in range(900):  # without a help, those are of one kind that differ in numbers and quoted text
        made.fault(FILE, 1, f"port {n} is 'p{n}'")
    made.settle()
    found = [(d.code, d.message, d.count, d.help, d.span.begin[0]) for d in made.findings if d.span]
    assert found == [("E0601", "f0", 22, "h", 5), ("E0602", "one", 1, "", 1), ("E0601", "port 0 is 'p0'", 900, "", 1)]
    made.note("E0604", CaptureLine(FILE, 2), "n", "do")
    last = list(made.findings)[-1]
    assert (last.code, last.message, last.help, last.severity) == ("E0604", "n", "do", Severity.NOTE)
