"""``--check-seconds``: with less work the bounds are wider or as they were, and never wrong; the answer is counted, not timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tdsl.compile import compiler
from tdsl.compile.request import Request

CHORDS = """
model chip C { port lane[24]: any }
fabric chords {
  chip chip[10]: C
  connect chip[*] ring { rate 400Gbps }
  connect chip[i] to chip[j] where i < j and (i*2 + j*3) % 3 != 0 and j - i > 1 { rate 100Gbps }
  report throughput all_to_all
  report throughput shift 3
  report node_redundancy
}
"""


@pytest.mark.parametrize("seconds", [1, 5])
def test_less_work_gives_wider_bounds(tmp_path: Path, seconds: int) -> None:
    path = tmp_path / "chords.fab"
    path.write_text(CHORDS, encoding="utf-8")
    full = compiler.compile_and_verify(str(path)).designs[0].results
    first, again = (compiler.compile_and_verify(str(path), Request(check_seconds=seconds)).designs[0].results for _ in range(2))
    assert [r.facts() for r in first] == [r.facts() for r in again]
    for less, most in zip(first, full, strict=True):
        assert less.check == most.check
        a, b = less.facts(), most.facts()
        if a["lower"] is not None and b["lower"] is not None:
            assert a["lower"] <= b["upper"] and b["lower"] <= a["upper"], less.check
