"""Values that ``--set`` gives, and the lanes of split ports that a path means."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text, fabric_of, links_of

DESIGN = "param n: int = 2 where 1 <= n <= 8\nfabric f { switch a[n + 1]: SW; connect a[*] ring }\n"


@pytest.mark.parametrize(("text", "n"), [("4", 4), ("2:1", 2), ("1 + 2", 3), ("8", 8), ("2", 2), ("max(2, 5)", 5)])
def test_a_value_that_is_given(text: str, n: int, tmp_path: Path) -> None:
    """An expression; a ring of n + 1 switches has as many links."""
    assert len(links_of(fabric_of(DESIGN, tmp_path, set={"n": text}))) == n + 1


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("4 4", "E0103", "--set n=4 4 is not a value"),
        (")", "E0103", "--set n=) is not a value"),
        ("1 // 0", "E0103", "--set n=1 // 0: `//` by zero"),
        ("9", "E0110", "`n` is 9 (given by --set n=9), and this must hold"),
        ("0", "E0110", "`n` is 0 (given by --set n=0), and this must hold"),
        ('"x"', "E0103", "this must be of type int and is a string"),
    ],
)
def test_a_value_that_is_refused(text: str, code: str, message: str, tmp_path: Path) -> None:
    """One finding, which says the value where it is wrong by itself."""
    found = compile_text(DESIGN, tmp_path, verify=False, set={"n": text}).findings
    assert [(d.code, d.message) for d in found] == [(code, message)]


SPLIT = "model switch X {{ port p[1..4]: 400Gbps {{ split 2 }}; port q[8]: 400Gbps }}\n"
SPLIT += "fabric f {{ switch a: X {{ split p[1..2] 2 }}; switch b[4]: X; connect {} }}\n"


@pytest.mark.parametrize(
    ("ends", "links"),
    [
        ("a.p[3] to b[0].q", {("a.p[3]", "b[0].q[0]")}),
        ("a.p[1, 1] to b[2].q[5]", {("a.p[1, 1]", "b[2].q[5]")}),
        ("a.p[n] to b[0].q where n == 3", {("a.p[3]", "b[0].q[0]")}),
    ],
)
def test_ports_beside_split_ones(ends: str, links: set[tuple[str, str]], tmp_path: Path) -> None:
    """Ports 1 and 2 have two lanes each, ports 3 and 4 are whole."""
    assert links_of(fabric_of(SPLIT.format(ends), tmp_path)) == links


@pytest.mark.parametrize(
    ("ends", "under", "message"),
    [
        ("a.p[1] to b[0].q", "1", "`p[1]` is outside 3..4"),
        ("a.p[5] to b[0].q", "5", "`p[5]` is outside 3..4"),
        ("a.p[3, 0] to b[0].q", "3", "`p[3]` is outside 1..2"),
        ("a.p[[1, 5]] to b[*].q", "[1, 5]", "`p[5]` is outside 1..4"),
        ("a.p[0..2] to b[*].q", "0..2", "`p[0]` is outside 1..4"),
        ("a.p[3..5] to b[*].q", "3..5", "`p[5]` is outside 1..4"),
        ("a.p[2..1] to b[*].q", "2..1", "this names no port"),
    ],
)
def test_ports_that_are_not_there(ends: str, under: str, message: str, tmp_path: Path) -> None:
    """The bounds of the part that the form of the index means, or of all ports."""
    found = compile_text(SPLIT.format(ends), tmp_path, verify=False).findings
    assert [(d.code, d.span.text if d.span else "", d.message) for d in found] == [("E0108", under, message)]
