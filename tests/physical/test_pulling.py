"""Bundles by rack pair, and the order in which they are pulled."""

from __future__ import annotations

from pathlib import Path

from tdsl.emit.link_tables import Wires
from tests.harness import fabric_of

HALL = """
  hall h {
    row A, B { rack 1..4 { height 42U } }
    pitch rack 0.6m, row 3m
    tray above 2.6m { across at 1, 4 }
    slack 1m
  }
"""


def columns(text: str, folder: Path) -> list[tuple[object, ...]]:
    table = Wires(fabric_of(text, folder)).cables
    return list(zip(*(table.column(n) for n in ("a_device", "b_device", "bundle", "pull_order")), strict=True))


def test_far_racks_first_then_near_ones_then_inside_a_rack(tmp_path: Path) -> None:
    text = f"""fabric f {{
  switch leaf[5]: SW
  connect leaf[0] to leaf[1] x 2
  connect leaf[0] to leaf[2]
  connect leaf[0] to leaf[3]
  connect leaf[0] to leaf[4]
  {HALL}
  place leaf[0] in h.A[1] at 40U
  place leaf[1] in h.A[2] at 40U   # 0.6 m along the tray
  place leaf[2] in h.A[4] at 40U   # 1.8 m
  place leaf[3] in h.B[1] at 40U   # 3 m
  place leaf[4] in h.A[1] at 39U
}}
"""
    rows = {(a, b): (bundle, order) for a, b, bundle, order in columns(text, tmp_path)}
    assert rows["leaf0", "leaf3"] == ("A01/B01", 1)
    assert rows["leaf0", "leaf2"] == ("A01/A04", 2)
    assert rows["leaf0", "leaf1"][0] == "A01/A02"
    assert rows["leaf0", "leaf4"] == ("A01", 5)
    orders = sorted(order for _, _, bundle, order in columns(text, tmp_path) if bundle == "A01/A02")
    assert orders == [3, 4]


def test_without_a_place_a_cable_comes_last_and_has_no_bundle(tmp_path: Path) -> None:
    text = f"""fabric f {{
  switch leaf[3]: SW
  connect leaf[2] to leaf[0]
  connect leaf[0] to leaf[1]
  {HALL}
  place leaf[0] in h.A[1] at 40U
  place leaf[1] in h.A[1] at 39U
}}
"""
    rows = {(a, b): (bundle, order) for a, b, bundle, order in columns(text, tmp_path)}
    assert rows == {("leaf0", "leaf1"): ("A01", 1), ("leaf0", "leaf2"): ("", 2)}
