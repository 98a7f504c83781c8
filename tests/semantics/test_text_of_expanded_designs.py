"""The text of a design whose unknowns, parameters and phases are replaced by their values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.compile.compiler import Request, expand_intent

MODEL = "model switch S { port p[1..8]: 400Gbps }\n"


def expanded(text: str, folder: Path, **given: str) -> str:
    """The expanded text, without the model."""
    path = folder / "t.fab"
    path.write_text(text + MODEL, encoding="utf-8")
    found, result = expand_intent(str(path), Request(set=tuple(given.items())))
    assert found is not None, [d.message for d in result.findings]
    assert "model switch S" in found
    return found[: found.index("model switch S")]


FABRIC = "fabric f { switch a[n]: S\n connect a[*] each }\n"


@pytest.mark.parametrize(
    ("params", "given", "expected"),
    [
        ("param n: int = 2 where 1 <= n <= 8", {}, ["param n: int = 2 where 1 <= n <= 8"]),
        ("param n: int = 2 where 1 <= n <= 8", {"n": "3"}, ["param n: int = 3 where 1 <= n <= 8"]),
        (
            'param n: int = 2\nparam s: string = "a"\nparam t = "b"',
            {"s": "x y", "n": "4"},
            ["param n: int = 4", 'param s: string = "x y"', 'param t = "b"'],
        ),
        ('param n: int = 2\nparam s: string = "a"', {"s": '"x"'}, ["param n: int = 2", 'param s: string = "x"']),
        ('param n: int = 2\nparam s: string = "a"', {"s": 'x"y'}, ["param n: int = 2", 'param s: string = "x{34:c}y"']),
    ],
)
def test_parameters(params: str, given: dict[str, str], expected: list[str], tmp_path: Path) -> None:
    """Defaults are the values that are given; a string may be given without quotes."""
    found = expanded(f"{params}\n{FABRIC}", tmp_path, **given)
    assert [line for line in found.splitlines() if line.startswith("param")] == expected


def test_parameters_in_a_fabric(tmp_path: Path) -> None:
    """Those of the fabric, and of no other block of that name."""
    text = "fabric f { param n: int = 2\n switch a[n]: S\n connect a[*] each }\n"
    found = expanded(text, tmp_path, n="5")
    assert found.split() == text.replace("= 2", "= 5").split()


def test_unknowns(tmp_path: Path) -> None:
    """The value that is found is written in place of the unknown."""
    text = "fabric f { let n = ?\n switch a[n]: S\n connect a[*] each\n require links == 6 }\n"
    assert expanded(text, tmp_path).split() == text.replace("?", "4").split()


def test_other_text_stays(tmp_path: Path) -> None:
    """Comments and links that are written out stay as they are."""
    text = "fabric f {\n  # first\n  switch z: S\n  switch y: S\n  connect z to y\n  # last\n}\n"
    assert expanded(text, tmp_path) == text
