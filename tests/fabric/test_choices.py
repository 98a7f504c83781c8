"""Choices among equals, by what they must optimise, and the first and last of a table: devices, rails, ASNs, places, cages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given, settings

from tdsl.fabric import keeping, patterns
from tdsl.fabric.asns import _first_connected_device
from tdsl.fabric.pins import Mount, standing_mounts
from tdsl.fabric.rails import rail_plan
from tdsl.findings.source import SourceFile, SourceSpan
from tests.fabric.test_keeping import cases, choices
from tests.harness import compile_text, fabric_of

HERE = SourceSpan(SourceFile("x.fab.lock", "line"), 0, 4)


def moved(x: np.ndarray, own: np.ndarray, standing: np.ndarray, rule: keeping.SpreadRule) -> tuple[int, int]:
    """What a choice costs: links that do not stay, then how far the new ones are from the pairs of the spread. Without a bound
    for a pair a new link costs more, the more a pair has."""
    lost = new = 0
    even = -(-rule.ports // own.shape[1])
    for links, mine, stood in zip(x.ravel().tolist(), own.ravel().tolist(), standing.ravel().tolist(), strict=True):
        over, stays = links - rule.low, max(stood - rule.low, 0)
        here = min(over, stays)
        lost -= here
        new -= 2 * here * (mine > rule.low)
        if rule.high == rule.low + 1:
            new -= 2 * (over - here) * (mine > rule.low)
        else:
            steps = [2 * t - (mine > t) for t in range(even) if stood <= t]
            new += sum(steps[: over - here]) + (2 * even + 2) * max(over - here - len(steps), 0)
    return lost, new


@given(cases())
@settings(max_examples=120, deadline=None)
def test_new_links_go_where_the_spread_has_them(case: tuple[np.ndarray, np.ndarray, bool]) -> None:
    own, standing, free = case
    rule = keeping.rule_of(own, free, alike=True)
    if rule is None or (free and own.size > 6):
        return
    standing = np.minimum(standing, rule.high)
    found = keeping._solve_transportation(own, standing, rule)
    assert found is not None
    assert moved(found, own, standing, rule) == min(moved(x, own, standing, rule) for x in choices(own, free))


def test_of_equal_choices_that_of_the_spread() -> None:
    """Where links stand in the pairs that the spread has fewer of, and some must move."""
    random = np.random.default_rng(1)
    for a, b, k in [(2, 3, 4), (3, 2, 5), (2, 3, 5), (4, 3, 4)] * 12:
        own = keeping.links_per_pair(patterns.spread_links(a, b, k, True, HERE, ("a", "b")), a, b)
        rule = keeping.rule_of(own, False, alike=True)
        assert rule is not None
        standing = np.minimum(random.integers(0, 4, (a, b)), rule.high)
        found = keeping._solve_transportation(own, standing, rule)
        assert found is not None
        assert moved(found, own, standing, rule) == min(moved(x, own, standing, rule) for x in choices(own, False))


HALL = """model switch TALL { port p[8]: 400Gbps; height 1U }
fabric f {
  switch top: TALL
  switch a[4]: TALL
  connect a[*] to top each
  hall h {
    row A { rack 1..3 { height 4U } }
    row B { rack 1 { height 4U } }
    pitch rack 0.6m, row 3m
  }
  place a[(3)] in h.B[1] at 1U
}"""


def test_what_stands_by_a_lock(tmp_path: Path) -> None:
    """The first device and the first rack, too; no device that is placed or absent, no rack that is in use, no unit above it."""
    f = fabric_of(HALL, tmp_path)
    lines = [
        ("top", "A", 1, 4), ("a[0]", "A", 2, 1), ("a[1]", "A", 3, 5), ("a[2]", "B", 1, 2), ("a[3]", "A", 3, 1), ("b", "A", 3, 1),
        ("a[2]", "C", 1, 1), ("a[1]", "A", 3, 0),
    ]  # fmt: skip
    racks = {(row, rack): at for at, (row, rack) in enumerate([("A", 1), ("A", 2), ("A", 3), ("B", 1)])}
    found = standing_mounts([Mount(device, "h", row, rack, unit, HERE) for device, row, rack, unit in lines], f)
    names = {f.device_path(d): (rack, unit) for d, (rack, unit) in found.items()}
    assert names == {"top": (racks["A", 1], 4), "a[0]": (racks["A", 2], 1)}


def test_a_hall_without_devices_is_a_place(tmp_path: Path) -> None:
    f = fabric_of(HALL.replace("  place a[(3)] in h.B[1] at 1U\n", ""), tmp_path)
    assert f.places is not None and f.places.rack_count == 4 and (f.places.device_rack < 0).all()
    assert fabric_of("fabric f { switch a[2]: SW\n connect a[0] to a[1] }", tmp_path).places is None


def test_a_stack_needs_heights(tmp_path: Path) -> None:
    text = "model switch NONE { port p[8]: 400Gbps }\n" + HALL.replace("a[4]: T", "a[4]: NONE #").replace(
        "at 1U", "stacked from 1U"
    )
    found = compile_text(text, tmp_path, verify=False).findings
    assert ("E0205", "NONE has no height, so nothing can be stacked on it") in [(d.code, d.message) for d in found]
    stands = compile_text(text.replace("400Gbps }", "400Gbps; height 1U }", 1), tmp_path, verify=False).findings
    assert "E0205" not in [d.code for d in stands]


def test_rails_of_hosts_that_others_disturb(tmp_path: Path) -> None:
    """Storage beside the accelerators meets the first leaf with its second port most; the first leaf serves the first rail."""
    text = """model chip G {}
    model host TWO { port nic[2]: 400Gbps; chip g[2]: G }
    model switch WIDE { port p[64]: 400Gbps }
    fabric f {
      host a[4]: TWO; host b[12]: TWO; switch leaf[2]: WIDE
      connect a[n].nic[r] to leaf[r]
      connect b[n].nic[(1)] to leaf[0]
      connect b[n].nic[(0)] to leaf[0] where n < 7
    }"""
    f = fabric_of(text, tmp_path)
    plan = rail_plan(f)
    served = {(f.device_path(s), r) for s, r in zip(plan.switch.tolist(), plan.serves.tolist(), strict=True)}
    assert plan.organised and plan.count == 2 and served == {("leaf[0]", 0), ("leaf[1]", 1)}
    assert {f.device_path(int(f.device_a[r]))[0] for r in plan.rows[plan.judged]} == {"a"}


def test_the_last_device_leads_itself(tmp_path: Path) -> None:
    f = fabric_of("fabric f { switch a[2]: SW\n switch z: SW\n connect a[0] to a[1] }", tmp_path)
    none = np.zeros(0, dtype=np.int64)
    assert _first_connected_device(f, np.array([f.device_count - 1]), none, none).tolist() == [f.device_count - 1]


def test_cables_that_fill_cages_join_whole_cages(tmp_path: Path) -> None:
    text = """model cable DAC { medium dac; form OSFP; rate 800Gbps; lengths 2m; source "a test" }
    model switch CAGES { port p[1..4]: 400Gbps { cage 2 OSFP } }
    fabric f {
      switch a[2]: CAGES; switch b[2]: CAGES
      connect a[i].p[k] to b[(i + k) % 2].p[2*i + (k + 1)//2] { cable DAC }
    }"""
    found = [d for d in compile_text(text, tmp_path, verify=False, models=False).findings if d.code == "E0201"]
    assert found and "the plugs of DAC fill cages, and the ports of a cage lead to different ones" in found[0].message


def test_one_limit_of_links() -> None:
    from tdsl.compile.request import Request
    from tdsl.fabric.elaborate import LINK_LIMIT

    assert Request().max_links == LINK_LIMIT == 134_217_728
