"""Records that readers make: limits of names and numbers, places, nodes that become one; and the tables of ibdiagnet."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tdsl.findings.diagnostic import Severity
from tdsl.findings.source import SourceFile
from tdsl.observe import asbuilt, record
from tdsl.observe.readers import ibdiagnet
from tdsl.observe.record import (
    CapturedEnd,
    CapturedLink,
    CapturedNode,
    CaptureLine,
    Malformed,
    Observed,
    count_in_capture,
    hexadecimal_digits,
    plain_capture_name,
)
from tests.observe.test_requirements_as_built import result

FILE = SourceFile("c.txt", "first\n  second \t\n\n   \nlast")


@pytest.mark.parametrize(
    ("line", "start", "text"), [(1, 0, "first"), (2, 8, "second"), (3, 17, ""), (4, 21, ""), (5, 22, "last")]
)
def test_places(line: int, start: int, text: str) -> None:
    place = CaptureLine(FILE, line)
    assert (place.span.start, place.span.text, place.text) == (start, text, f"c.txt:{line}")


@pytest.mark.parametrize(
    ("text", "most", "base", "value"),
    [
        ("0", 5, 10, 0), ("5", 5, 10, 5), ("6", 5, 10, None), ("-1", 5, 10, None), ("x", 5, 10, None), ("", 5, 10, None),
        ("ff", 255, 16, 255), ("0xff", 255, 16, 255), ("1" + "0" * 19, 10**19, 10, 10**19), ("0" * 20 + "1", 10**19, 10, None),
        ("1048576", 1 << 20, 10, 1 << 20),
    ],
)  # fmt: skip
def test_numbers(text: str, most: int, base: int, value: int | None) -> None:
    """From 0 to a largest, of at most twenty characters."""
    if value is not None:
        assert count_in_capture(text, 7, "the port", most, base) == value
        return
    with pytest.raises(Malformed) as wrong:
        count_in_capture(text, 7, "the port", most, base)
    assert (wrong.value.line, wrong.value.help) == (7, "")
    assert wrong.value.message == f"the port is {text!r}, which is not a number from 0 to {most:,}"


def test_long_numbers_are_cut() -> None:
    with pytest.raises(Malformed, match=rf"^a is '{'9' * 40}', which is not a number from 0 to 1,048,576$"):
        count_in_capture("9" * 41, 1, "a")
    assert count_in_capture("1048576", 1, "a") == 1 << 20
    with pytest.raises(Malformed):
        count_in_capture("1048577", 1, "a")


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("0x0002c903000a1b2c", "0002c903000a1b2c"), ("08:00:27:4F:33:2d", "0800274f332d"), ("0800.274f.332d", "0800274f332d"),
        ("08-00-27-4f-33-2d ", "0800274f332d"), ("0800274f332", ""), ("0800274f332d1", ""), ("0002c903000a1b2c0", ""), ("x", ""),
        ("0800274f332g", ""), ("", ""),
    ],
)  # fmt: skip
def test_identifiers(text: str, digits: str) -> None:
    """Twelve or sixteen digits."""
    assert hexadecimal_digits(text) == digits


def test_names() -> None:
    assert plain_capture_name("a" * 512, 3) == "a" * 512 and plain_capture_name("a\tb", 3) == "a\tb"
    for text, message, help in (
        ("a" * 513, "a name has more than 512 characters", ""),
        ("a\x1b[0m", "a name contains a control character: 'a\\x1b[0m'", "capture the output again without a terminal"),
        ("a\u200bb", "a name contains a character that is not seen or turns the order of the text: 'a\\u200bb'", "remove it"),
    ):
        with pytest.raises(Malformed) as wrong:
            plain_capture_name(text, 3)
        assert (wrong.value.line, wrong.value.message, wrong.value.help) == (3, message, help)


def test_what_several_captures_say_of_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    made, at = Observed(), CaptureLine(FILE, 1)
    made.node("a", "", "", ("1", "2"), 3, at)
    made.node("a", "name", "switch", ("2", "4"), 2, CaptureLine(FILE, 2))
    made.node("a", "other", "host", (), 5, at)
    assert made.nodes == {"a": CapturedNode("a", "name", "switch", ("1", "2", "4"), 5, at)}
    made.node("k" * 512, "d" * 512, "", (), 0, at)
    for key, description in (("k" * 513, ""), ("k", "d" * 513)):
        with pytest.raises(Malformed, match=r"^a name has more than 512 characters$"):
            made.node(key, description, "", (), 0, at)
    monkeypatch.setattr(record, "MOST_NODES", 3)
    made.node("b", "", "", (), 0, at)
    with pytest.raises(Malformed, match=r"^there are more than 3 devices$") as wrong:
        made.node("c", "", "", (), 0, CaptureLine(FILE, 5))
    assert wrong.value.line == 5
    made.node("b", "known", "", (), 0, at)
    monkeypatch.setattr(record, "MOST_LINKS", 1)
    made.wire(CapturedLink(CapturedEnd("a", ()), CapturedEnd("b", ()), at))
    with pytest.raises(Malformed, match=r"^there are more than 1 links$") as wrong:
        made.wire(CapturedLink(CapturedEnd("a", ()), CapturedEnd("b", ()), CaptureLine(FILE, 2)))
    assert wrong.value.line == 2 and len(made.wires) == 1


def test_nodes_that_are_known_by_a_port() -> None:
    """They become one, and the ends of links follow; an alias of a node that is not there moves the ends alone."""
    made, at = Observed(), CaptureLine(FILE, 1)
    made.node("p", "port", "adapter", ("p",), 1, at)
    made.node("n", "", "adapter", ("n",), 2, CaptureLine(FILE, 2))
    made.node("x", "x", "", (), 0, at)
    made.alias.update({"p": "n", "q": "n", "x": "x", "z": "none"})
    ends = [CapturedEnd("p", ("1",)), CapturedEnd("y", ("2",)), CapturedEnd("q", ("3",), "id")]
    made.wires += [CapturedLink(ends[0], ends[1], at, 5), CapturedLink(ends[1], ends[2], at), CapturedLink(ends[1], ends[1], at)]
    made.settle()
    assert made.nodes == {
        "n": CapturedNode("n", "port", "adapter", ("n", "p"), 2, CaptureLine(FILE, 2)),
        "x": CapturedNode("x", "x", "", (), 0, at),
    }
    assert made.wires == [
        CapturedLink(CapturedEnd("n", ("1",)), ends[1], at, 5), CapturedLink(ends[1], CapturedEnd("n", ("3",), "id"), at), CapturedLink(ends[1], ends[1], at),
    ]  # fmt: skip


def test_faults_of_one_capture() -> None:
    """The first twenty of each; a line outside of the file is its first or last."""
    made, other = Observed(), SourceFile("d.txt", "x")
    for n in range(22):
        made.fault(FILE, 5 * (n != 1), f"f{n}", "h")
    made.fault(other, 9, "one", code="E0602")
    found = list(made.findings)
    assert [d.message for d in found] == [*(f"f{n}" for n in range(20)), "one"]
    assert [d.span.begin[0] for d in found if d.span] == [5, 1, *[5] * 18, 1]
    assert [(d.code, d.help) for d in found] == [("E0601", "h")] * 20 + [("E0602", "")]
    made.note("E0604", CaptureLine(FILE, 2), "n", "do")
    last = list(made.findings)[-1]
    assert (last.code, last.message, last.help, last.severity) == ("E0604", "n", "do", Severity.WARNING)


GBPS = {"SDR": 2.5, "DDR": 5, "QDR": 10, "FDR10": 10, "FDR": 14, "EDR": 25, "HDR": 50, "NDR": 100, "XDR": 200}
CODES = {"SDR": 1, "DDR": 2, "QDR": 4, "FDR": 0x100, "EDR": 0x200, "HDR": 0x400, "NDR": 0x800, "FDR10": 0x10000, "XDR": 0x1000000}
LANES = {1: 1, 2: 4, 4: 8, 8: 12, 16: 2}


def captured(ports: list[tuple[str, str]]) -> Observed:
    """One link a row between two switches: speed and width of both ends as written."""
    lines = ["START_NODES", "NodeDesc,NumPorts,NodeType,NodeGUID", *(f'"s{i}",4096,2,0x{i:016x}' for i in (1, 2)), "END_NODES"]
    lines += ["START_PORTS", "NodeGuid,PortNum,LinkSpeedActv,LinkWidthActv"]
    lines += [f"0x{i:016x},{n},{speed},{width}" for n, (speed, width) in enumerate(ports, 1) for i in (1, 2)]
    lines += ["END_PORTS", "START_LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2"]
    lines += [f"0x{1:016x},{n},0x{2:016x},{n}" for n in range(1, len(ports) + 1)]
    made = Observed()
    ibdiagnet.read(SourceFile("i.db_csv", "\n".join([*lines, "END_LINKS", ""])), "i", made)
    assert list(made.findings) == [] and made.whole
    return made


def test_speeds_and_widths_of_ibdiagnet() -> None:
    """Decimal or hexadecimal; where one is not known there is no rate."""
    ports = [(str(CODES[s]) if w % 2 else hex(CODES[s]), str(w)) for s in GBPS for w in LANES]
    made = captured([*ports, ("N/A", "2"), ("2048", "N/A"), ("3", "2"), ("2048", "3"), ("0x800", "0x2"), ("4294967296", "2")])
    wanted = [(int(GBPS[s] * 10**9) * LANES[w], LANES[w]) for s in GBPS for w in LANES]
    assert [(w.rate, w.lanes) for w in made.wires] == [*wanted, (0, 0), (0, 0), (0, 0), (0, 0), (400 * 10**9, 4), (0, 0)]
    assert [n.ports for n in made.nodes.values()] == [4096, 4096] and made.heard == set(made.nodes)


def test_values_of_results() -> None:
    """The lower bound, else the value, as a number; 0 where it is none."""

    def of(**given: object) -> Fraction:
        return asbuilt._figure_of_result(result("proved", **given))

    assert of(value=Fraction(2, 3)) == Fraction(2, 3) and of(value=7, lower=Fraction(1, 2)) == Fraction(1, 2)
    assert of(value="text") == of(value=None) == of(value=float("inf")) == of(value=float("nan")) == 0 and of(value=True) == 1
