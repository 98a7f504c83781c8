"""Formats in texts: how many characters one may make, and what does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text


@pytest.mark.parametrize(("form", "message"), [
    ("4096", ""),
    ("4097", "this format makes 4,097 characters"),
    (">4097", "this format makes 4,097 characters"),
    ("zz", "the format `zz` does not fit an int: "),
])  # fmt: skip
@pytest.mark.parametrize(("before", "after"), [("", ""), ("a", ""), ("a", "b"), ("{2}", "{3:2}")])
def test_characters_of_a_format(form: str, message: str, before: str, after: str, tmp_path: Path) -> None:
    """Whatever stands before it and behind."""
    text = f'let said = "{before}{{7:{form}}}{after}"\nfabric f {{\n  switch s[2]: SW\n  naming s "{{said}}"\n}}\n'
    found = [d.message for d in compile_text(text, tmp_path, verify=False).findings if "format" in d.message]
    assert [m[: len(message)] for m in found[:1]] == ([message] if message else [])
