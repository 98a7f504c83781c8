"""Words behind a value of a topology's parameter, of a layer and of a use: they count, or are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text, refused

RATIO = """fabric f {
  let q = 2
  hosts 2 x BOX
  t { r VALUE }
}
topology t(r: ratio, e: ports) {
  switch s[2]: SW
  connect e[h, n] to s[n]
}
"""
PATTERN = """fabric f {
  t { q VALUE }
}
topology t(q: pattern) {
  switch s[2]: SW
  switch u[2]: SW
  connect s[*] to u[*] q
}
"""
HELP = "`each`, `each x 2`, `spread`, `via ocs MODEL`"


@pytest.mark.parametrize("value", ["2:1", "q", "about 2:1", "about q", "at most 2:1", "at most q"])
def test_ratios_with_numbers_and_names(value: str, tmp_path: Path) -> None:
    assert not compile_text(RATIO.replace("VALUE", value), tmp_path, verify=False).findings


def test_a_ratio_that_is_no_limit_from_above(tmp_path: Path) -> None:
    (found,) = compile_text(RATIO.replace("VALUE", "at least q"), tmp_path, verify=False).findings
    message = "a ratio is `7:1`, `about 7:1` or `at most 7:1`"
    assert (found.code, found.span and found.span.text, found.message) == ("E0120", "at least q", message)


@pytest.mark.parametrize(("value", "word", "extra"), [("each 3", "each", "3"), ("spread a[1]", "spread", "a[1]")])
def test_patterns_use_every_word(value: str, word: str, extra: str, tmp_path: Path) -> None:
    refused(PATTERN.replace("VALUE", value), ("", "E0120", extra, f"the pattern `{word}` does not use this", HELP), tmp_path)


def test_a_layer_is_one_word(tmp_path: Path) -> None:
    text = "fabric f {\n  layer scaleup 3\n  switch a[2]: SW\n  connect a[*] each\n}\n"
    found = compile_text(text, tmp_path, verify=False).findings
    assert [(d.code, d.message) for d in found] == [("E0120", "a fabric's layer is `scaleup`, or not written")]


@pytest.mark.parametrize("declares", ["let a = 2", "param a = 2"])
def test_a_value_of_one_file_of_a_folder(declares: str, tmp_path: Path) -> None:
    """Of several files in a folder the one that declares the name is used, whatever kind of name it is."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "x.fab").write_text(f"{declares}\n")
    (tmp_path / "parts" / "y.fab").write_text("def b(x) = x\n")
    text = "use parts (a)\nfabric f {\n  switch s[a]: SW\n  connect s[*] each\n}\n"
    compiled = compile_text(text, tmp_path, verify=False)
    assert not compiled.findings and compiled.designs[0].fabric is not None
    assert compiled.designs[0].fabric.device_count == 2
