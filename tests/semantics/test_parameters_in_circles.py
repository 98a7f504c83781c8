"""A parameter that is defined in terms of itself is refused, in its default and in what ``--set`` gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

DESIGN = "param n: int = {}\nfabric f {{ switch a[n + 2]: SW; connect a[*] ring }}\n"


@pytest.mark.parametrize("default", ["n", "n + 1", "max(2, n)", "3 if n > 1 else 4"])
def test_a_default_of_itself(default: str, tmp_path: Path) -> None:
    """One finding; what rests on it is excused."""
    found = compile_text(DESIGN.format(default), tmp_path, verify=False).findings
    assert [(d.code, d.message) for d in found] == [("E0114", "`n` is defined in terms of itself")]


def test_a_given_value_of_itself(tmp_path: Path) -> None:
    """The finding says what was given."""
    found = compile_text(DESIGN.format(2), tmp_path, verify=False, set={"n": "n + 1"}).findings
    assert [(d.code, d.message) for d in found] == [("E0103", "--set n=n + 1: `n` is defined in terms of itself")]
