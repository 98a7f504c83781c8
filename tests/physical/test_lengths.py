"""Lengths computed by hand: two halls with six cables each, the arithmetic in comments, in millimetres.

A device of 1U at unit u has its middle at (u - 0.5) * 44.45; hosts here are 2U, with their middle at u * 44.45.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tdsl.compile import compiler
from tdsl.fabric.cables.identity import CableIndex
from tdsl.physical.model import Physical, physical_of

MODELS = """
model host H { port nic[6]: 400Gbps; height 2U }
model switch S { port p[1..16]: 400Gbps; height 1U }
model panel P { port front[4]: any; port back[4]: any; height 1U }
"""

# Two halls with trays overhead. Hall h1: racks 600 mm apart, rows 3,000 mm, trays at 2,600 mm, across at racks 1 and 10,
# slack 1,000 mm. Hall h2: 800 mm, 2,400 mm, trays at 2,400 mm, across at rack 6, slack 500 mm. 120 m between their entries.
OVERHEAD = """
fabric f {
  hall h1 {
    row A..C { rack 1..10 { height 48U } }
    pitch rack 0.6m, row 3m
    tray above 2.6m { across at 1, 10 }
    slack 1m
  }
  hall h2 {
    row A, B { rack 1..8 { height 42U } }
    pitch rack 0.8m, row 2.4m
    tray above 2.4m { across at 6 }
    slack 0.5m
  }
  distance h1 to h2 120m
  host n: H
  switch s[6]: S
  panel p: P
  place n in h1.A[2] at 10U        # middle at 444.5
  place s[0] in h1.A[2] at 40U     # 39.5 * 44.45 = 1755.775
  place s[1] in h1.A[3] at 40U
  place s[2] in h1.A[9] at 1U      # 0.5 * 44.45 = 22.225
  place s[3] in h1.C[4] at 40U
  place s[4] in h2.B[3] at 20U     # 19.5 * 44.45 = 866.775
  place p in h1.A[5] at 46U        # 45.5 * 44.45 = 2022.475
  place s[5] in h1.B[5] at 40U
  connect n.nic[0] to s[0]
  connect n.nic[1] to s[1]
  connect n.nic[2] to s[2]
  connect n.nic[3] to s[3]
  connect n.nic[4] to s[4]
  connect n.nic[5] to s[5] via p
}
"""
BY_HAND = {
    # same rack: slack 1000 + |1755.775 - 444.5| = 1311.275 + slack 1000
    ("n", "s0"): 3311.275,
    # next rack: 1000 + up 2600 - 444.5 = 2155.5, along 600, down 2600 - 1755.775 = 844.225, 1000
    ("n", "s1"): 5599.725,
    # along the row: 1000 + 2155.5 + 7 * 600 = 4200 + down 2600 - 22.225 = 2577.775 + 1000
    ("n", "s2"): 10933.275,
    # two rows on: 1000 + 2155.5; by rack 1: 600 + 3 * 600 = 2400 (by rack 10 it is 4800 + 3600); 6000 across; 844.225; 1000
    ("n", "s3"): 13399.725,
    # through the panel, first leg: 1000 + 2155.5 + 3 * 600 = 1800 + 2600 - 2022.475 = 577.525 + 1000
    ("n", "p"): 6533.025,
    # second leg, next row: 1000 + 577.525; by rack 1: 2400 + 2400 = 4800 (by rack 10: 3000 + 3000 = 6000); 3000; 844.225; 1000
    ("s5", "p"): 11221.75,
    # hall to hall: 1000 + 2155.5 + 600 to rack 1 of row A, the entry; 120,000; in h2 from the entry along row A to rack 6:
    # 5 * 800 = 4000, across 2400, back to rack 3: 3 * 800 = 2400; down 2400 - 866.775 = 1533.225; slack 500
    ("n", "s4"): 134588.725,
}

# The same devices in halls whose trays are under the floor.
FLOOR = """
fabric f {
  hall h1 {
    row A { rack 1..6 { height 48U } }
    row B { rack 11..16 { height 48U } }
    pitch rack 0.7m, row 1.8m
    tray below 0.4m
    slack 0.3m
  }
  hall h2 {
    row A { rack 1..3 { height 42U } }
    pitch rack 1m
    tray below 0.5m
    slack 0m
  }
  distance h2 to h1 30m
  host n: H
  switch s[6]: S
  place n in h1.A[4] at 10U        # middle at 444.5
  place s[0] in h1.A[4] at 5U      # 4.5 * 44.45 = 200.025
  place s[1] in h1.A[5] at 5U
  place s[2] in h1.A[1] at 5U
  place s[3] in h1.B[14] at 5U
  place s[4] in h1.B[12] at 5U
  place s[5] in h2.A[3] at 5U
  connect n.nic[i] to s[i]
}
"""
BELOW_BY_HAND = {
    # same rack: 300 + 444.5 - 200.025 = 244.475 + 300
    ("n", "s0"): 844.475,
    # next rack: 300 + down 444.5 + 400 = 844.5 + 700 + up 600.025 + 300
    ("n", "s1"): 2744.525,
    # along the row: 300 + 844.5 + 3 * 700 = 2100 + 600.025 + 300
    ("n", "s2"): 4144.525,
    # row B, opposite: trays lead across at racks 1 and 6, the first and last of the first row. By rack 6:
    # 2 * 700 + 2 * 700 = 2800 (by rack 1: 2100 + 2100); 1800 across; 300 + 844.5 + 600.025 + 300
    ("n", "s3"): 6644.525,
    # row B, rack 12, the second: by rack 1: 2100 + 700 = 2800; 1800; 844.5 + 600.025 + 600
    ("n", "s4"): 6644.525,
    # hall to hall: 300 + 844.5 + 2100 to the entry; 30,000; 2 * 1000 = 2000; up 200.025 + 500 = 700.025; no slack
    ("n", "s5"): 35944.525,
}


def physical(text: str, tmp_path: Path) -> Physical:
    path = tmp_path / "design.fab"
    path.write_text(text)
    fabric = compiler.compile_without_checks(str(path)).designs[0].fabric
    assert fabric is not None and fabric.complete
    found = physical_of(fabric)
    assert found is not None
    return found


def runs(found: Physical) -> dict[tuple[str, str], float]:
    f = found.lengths.fabric
    ends = [[f.device_name(int(f.port_device[p])) for p in ports] for ports in (f.cable_a, f.cable_b)]
    return {(a, b): r / 1000 for a, b, r in zip(*ends, found.lengths.run.tolist(), strict=True)}


@pytest.mark.parametrize(("text", "by_hand"), [(OVERHEAD, BY_HAND), (FLOOR, BELOW_BY_HAND)], ids=["overhead", "floor"])
def test_two_halls_by_hand(text: str, by_hand: dict[tuple[str, str], float], tmp_path: Path) -> None:
    found = physical(MODELS + text, tmp_path)
    assert runs(found) == by_hand
    for leg, run in enumerate(found.lengths.run.tolist()):
        assert sum(s.length for s in found.lengths.steps(leg)) == run  # what is shown adds up to what is used


def test_moving_a_rack_changes_its_cables_only(tmp_path: Path) -> None:
    before = runs(physical(MODELS + OVERHEAD, tmp_path))
    after = runs(physical(MODELS + OVERHEAD.replace("s[2] in h1.A[9]", "s[2] in h1.B[9]"), tmp_path))
    assert {k for k in before if before[k] != after[k]} == {("n", "s2")}


def test_a_published_table(tmp_path: Path) -> None:
    """Oracle Exalogic: from the switch at unit 26 to nodes at units 38 to 42, cables of 3 m (docs.oracle.com, E18476_01).

    With a metre of slack at each end: 12 * 44.45 to 16 * 44.45 and 2,000 are 2,533 to 2,711 mm; MFP7E10 is sold at 3 m."""
    text = "fabric f {\n  hall h { row A { rack 1 { height 42U } }; slack 1m }\n  host n[5]: ONE\n  switch s: S\n"
    text += "  place s in h.A[1] at 26U\n  place n[k] in h.A[1] at 38U + 1U*k\n"
    text += "  connect n[k].nic to s { cable MFP7E10 }\n}\nmodel host ONE { port nic: 400Gbps; height 1U }\n"
    found = physical(MODELS + text, tmp_path)
    assert found.lengths.run.tolist() == [(12 + k) * 44_450 + 2_000_000 for k in range(5)]
    assert found.parts.sold[0].tolist() == [3_000_000] * 5


@pytest.mark.parametrize(
    ("change", "to", "why"),
    [
        ("    slack 1m\n", "", "hall h1 has no `slack`"),
        ("    pitch rack 0.6m, row 3m\n", "", "hall h1 has no `pitch` of racks"),
        ("    tray above 2.6m { across at 1, 10 }\n", "", "hall h1 has no `tray`"),
        ("  distance h1 to h2 120m\n", "", "there is no `distance h1 to h2`"),
        ("in h1.A[3] at 40U", "in h1.A[3]", "s1 has a rack and no unit"),
        ("  place s[2] in h1.A[9] at 1U      # 0.5 * 44.45 = 22.225\n", "", "s2 has no place"),
        ("height 2U", "power 1W", "H has no `height`"),
    ],
)
def test_what_is_unknown_has_no_length(change: str, to: str, why: str, tmp_path: Path) -> None:
    text = MODELS + OVERHEAD
    assert change in text
    found = physical(text.replace(change, to), tmp_path)
    unknown = {found.lengths.unknown(k) for k in np.flatnonzero(found.lengths.run < 0).tolist()}
    assert unknown == {why}
    kept = runs(physical(text, tmp_path))
    assert all(r in (kept[k], -0.001) for k, r in runs(found).items())


GPUS = """
fabric f {
  hall h1 {
    row A, B { rack 1..80 { height 48U } }
    pitch rack 0.6m, row 3m
    tray above 2.6m
    slack 1m
  }
  host node[4]: DGX_H100
  switch leaf[8]: QM9700
  switch spine[2]: QM9700
  place node[n] in h1.A[n + 1] at 2U
  place leaf[*] in h1.A[6] stacked from 30U
  place spine[k] in h1.B[80] at 10U + 1U*k
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine[*] spread x 8
}
"""


def test_the_parts_that_fit_are_chosen(tmp_path: Path) -> None:
    """Near runs get multimode, 50 m at most; runs of 60 m single-mode with the optics that reach 100 m, flat in hosts."""
    found = physical(GPUS, tmp_path)
    f, parts = found.lengths.fabric, found.parts
    chosen = set()
    for leg in range(len(f.cable_a)):
        c = parts.choice(leg)
        chosen.add((f.classes[int(f.cable_class[leg])], *(x.name if x else "" for x in (c.cable, c.optic_a, c.optic_b))))
    assert chosen == {
        ("host-leaf", "MFP7E10", "MMA4Z00_NS_FLT", "MMA4Z00_NS"),
        ("leaf-spine", "MFP7E30", "MMS4X00_NS", "MMS4X00_NS"),
    }
    device, _, part, ends = parts.cages
    count = {name: int(ends[part == k].sum()) for k, name in enumerate(o.name for o in parts.optics) if (part == k).any()}
    assert count == {"MMA4Z00_NS_FLT": 32, "MMA4Z00_NS": 32, "MMS4X00_NS": 2 * 8 * 8}
    # 4 nodes have 4 twin cages. Leaf ports 1 to 4 lead to nodes, from 2 cages; 5, 6, 20, 21, 35, 36, 50, 51 to spines, from
    # the cages 3, 10, 11, 18, 25 and 26. A spine has 4 times 8 ports side by side, in 16 cages.
    assert len(device) == 4 * 4 + 8 * (2 + 6) + 2 * 16
    length, confirmed = parts.sold
    assert set((length[confirmed == 0] // 10**6).tolist()) == {60}  # 60 m of MFP7E30 is to be confirmed
    for run, order in zip(found.lengths.run.tolist(), length.tolist(), strict=True):
        assert run <= order


def test_identifiers_of_the_plan_are_those_of_show(tmp_path: Path) -> None:
    found = physical(GPUS, tmp_path)
    assert len(set(CableIndex(found.lengths.fabric).order[2])) == 4 * 8 + 8 * 8
