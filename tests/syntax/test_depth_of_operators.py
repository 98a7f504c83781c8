"""Operators that nest count for the limit of depth; those that stand in a row do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

MANY = 150
DEEP = ["2 ** " * MANY + "1", "-" * MANY + "1", "not " * MANY + "true", "1 if true else " * MANY + "2"]
WIDE = [" + ".join(["-1"] * MANY), " * ".join(["2 ** 1"] * MANY), " and ".join(["not true"] * MANY), " - ".join(["1"] * MANY)]


def codes(value: str, folder: Path) -> set[str]:
    """What is found where a name has this value."""
    text = f"fabric f {{\n  let x = {value}\n  switch s[2]: SW\n  connect s[0] to s[1]\n}}\n"
    return {d.code for d in compile_text(text, folder, verify=False).findings}


@pytest.mark.parametrize("value", DEEP, ids=["power", "minus", "not", "else"])
def test_one_in_another(value: str, tmp_path: Path) -> None:
    assert "E0009" in codes(value, tmp_path)


@pytest.mark.parametrize("value", WIDE, ids=["sum", "product", "and", "difference"])
def test_one_after_another(value: str, tmp_path: Path) -> None:
    assert "E0009" not in codes(value, tmp_path)
