"""Values that ``--set`` gives to parameters."""

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
