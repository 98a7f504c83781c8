"""Units of a rack that two devices take: judged by their units, whatever the numbers of the devices are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness import compile_text

DESIGN = """fabric f {
  host n[12]: TALL
  host m: TALL
  switch s: BIG
  connect n[i].nic[0] to s.p[i + 1]
  connect m.nic[0] to s.p[20]
  hall h { row A { rack 1..3 { height 48U } }; pitch rack 0.6m; tray above 2.6m; slack 0.5m }
  place n[10] in h.A[1] at 1U
  place n[11] in h.A[1] at 3U
  place m in h.A[1] at LOWU
}
model host TALL { port nic[2]: 400Gbps { type NDR }; height 2U }
"""


@pytest.mark.parametrize(
    ("low", "messages"), [(4, ["n[11] and m are both in unit 4 of rack A01 in hall h"]), (5, [])]
)  # fmt: skip
def test_over_two_others(low: int, messages: list[str], tmp_path: Path) -> None:
    found = compile_text(DESIGN.replace("LOW", str(low)), tmp_path).findings
    assert [d.message for d in found] == messages and {d.code for d in found} <= {"E0222"}
