"""Elements that fail: links, ports, cables, cages, devices and their contents."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tdsl.fabric.claims import FabricElement
from tdsl.fabric.graph import Fabric
from tdsl.prove.elements import can_fail_together, elements_of_claim, failing_set_sizes, lost_rows, view_after_failures
from tdsl.prove.view import View
from tests.fabrics import Builder, random_fabric, scale_up
from tests.harness import compile_text

TRUNKS = [f"s[0].p[{x}] - s[1].p[{y}]" for x, y in ((5, 3), (6, 4), (35, 34), (36, 35))]
"""Links 0 to 5 of hosts, one of them through a panel, and 6 to 9 between the switches, two bundles of every second one."""
BUNDLES = [(f"bundle {TRUNKS[i]}", [], [6 + i, 8 + i], 1) for i in range(2)]
HOSTS = ["n[0].nic[0] - s[0].p[1]", "n[0].nic[1] - s[1].p[1]", "n[0].nic[2] - s[0].p[4]", "n[1].nic[0] - s[0].p[2]",
         "n[1].nic[1] - s[1].p[2]", "n[2].nic[0] - s[0].p[3]"]  # fmt: skip
Rows = list[tuple[str, list[int], list[int], int]]
"""Name, devices, links and copies of elements."""
TEXT = """fabric f {
  host n[3]: NODE
  switch s[2]: BIG
  panel w: PATCH
  connect n[i].nic[0] to s[0]
  connect n[i].nic[1] to s[1] where i < 2
  connect n[i].nic[(2)] to s[0] via w where i < 1
  connect s[(0)] to s[(1)] x 2 { bundle 2 }
  connect s[(0)] to s[(1)] x 2 { bundle 2 }
  REPORTS
}"""
NONE = np.zeros(0, dtype=np.int64)


def alone(names: list[str], first: int = 0) -> Rows:
    return [(name, [], [first + i], 1) for i, name in enumerate(names)]


def cage(host: int, number: int, *links: int) -> tuple[str, list[int], list[int], int]:
    return f"n[{host}] cage OSFP {number}", [], [*links], 1


NAMED: list[tuple[str, Rows]] = [
    ("links of n to s", alone(HOSTS)),
    ("links of s to n", alone(HOSTS)),
    ("of n to s[1]", [(HOSTS[i], [], [i], 1) for i in (1, 4)]),
    ("links of s[0] to s[1]", alone(TRUNKS, 6)),
    ("links of s[1] to s[0]", alone(TRUNKS, 6)),
    ("links of s[1]", [(HOSTS[i], [], [i], 1) for i in (1, 4)] + alone(TRUNKS, 6)),
    ("of n[0].nic[0..1]", alone(HOSTS[:2])),
    ("links of n[0].nic[1..2] to s[0]", [(HOSTS[2], [], [2], 1)]),
    ("of n[0].nic[0..1], n[2]", [(HOSTS[i], [], [i], 1) for i in (0, 1, 5)]),
    ("bundles of s", BUNDLES),
    ("bundles of n", []),
    ("ports of n", alone([x.split(" - ")[0] for x in HOSTS])),
    ("ports of n to s[1]", [("n[0].nic[1]", [], [1], 1), ("n[1].nic[1]", [], [4], 1)]),
    ("ports of s[1] to n", [("s[1].p[1]", [], [1], 1), ("s[1].p[2]", [], [4], 1)]),
    ("ports of s[0] to s[1]", alone([x.split(" - ")[0] for x in TRUNKS], 6)),
    ("ports of s to s", [(x.split(" - ")[1], [], [6 + i], 2) for i, x in enumerate(TRUNKS)]),
    ("cages of n", [cage(0, 1, 0, 1), cage(0, 2, 2), cage(1, 1, 3, 4), cage(2, 1, 5)]),
    ("cages of n to s[1]", [cage(0, 1, 0, 1), cage(1, 1, 3, 4)]),
    ("cages of s[1] to s[0]", [(f"s[1] cage OSFP {x}", [], y, 1) for x, y in ((2, [6, 7]), (17, [8]), (18, [9]))]),
    ("cables of n[0]", [("cable n0:nic0", [], [0], 1), ("cable n0:nic1", [], [1], 1), ("cable s0:p4", [], [2], 2)]),
    ("of n", [(f"n[{i}]", [i], [], 1) for i in range(3)]),
    ("of s, n[1], n", [(x, [d], [], 1) for x, d in (("s[0]", 3), ("s[1]", 4), ("n[1]", 1), ("n[0]", 0), ("n[2]", 2))]),
]  # fmt: skip


def test_elements_by_name(tmp_path: Path) -> None:
    """What failed before is not named."""
    text = TEXT.replace("REPORTS", "\n  ".join(f"report survives any 1 {asked}" for asked, _ in NAMED))
    design = compile_text(text, tmp_path, verify=False).designs[0]
    assert design.fabric is not None
    whole, claims = View.whole(design.fabric), {asked: c for (asked, _), c in zip(NAMED, design.claims, strict=True)}

    def named(asked: str, *failed: int) -> Rows:
        rows = np.isin(np.arange(whole.fabric.link_count), failed)
        view = whole.without(np.zeros(whole.fabric.device_count, dtype=np.bool_), rows) if failed else whole
        return [(e.name, e.devices.tolist(), e.links.tolist(), e.copies) for e in elements_of_claim(view, claims[asked])]

    for asked, wanted in NAMED:
        assert named(asked) == wanted, asked
    rest = [(HOSTS[i], [], [i], 1) for i in (1, 2, 4, 5)]
    assert named("links of n to s", 0, 3) == rest
    assert named("ports of n", 0, 3) == [(x.split(" - ")[0], a, b, c) for x, a, b, c in rest]
    assert named("bundles of s", 6, 8) == BUNDLES[1:]
    assert [x[0] for x in named("links of s[0] to s[1]", 0, 8)] == [TRUNKS[i] for i in (0, 1, 3)]


@pytest.mark.parametrize("copies", [(), (1,), (2,), (1, 2), (3, 1, 2), (1, 1, 1, 1), (2, 1, 4, 1)])
def test_so_many_things_fail_as_so_many_elements(copies: tuple[int, ...]) -> None:
    """Elements that are one thing or several: each subset can be K things if it has as many at least."""
    some = [FabricElement(str(i), NONE, NONE, x) for i, x in enumerate(copies)]
    for count in range(1, 9):
        fit = {k for k in range(1, len(some) + 1) for c in combinations(copies, k) if k <= count <= sum(c)}
        assert failing_set_sizes(some, count) == sorted(fit)
        for k in range(len(some) + 1):
            for chosen in combinations(some, k):
                assert can_fail_together(chosen, count) == (k <= count <= sum(e.copies for e in chosen))


def nested() -> Fabric:
    """Two racks with three trays each, in each two chips; every chip is linked to a switch, every second link crosses a panel."""
    b = Builder("nested")
    panel = b.devices("panel", b.model("panel", "PANEL", {"p": 30}), 2)
    rack = b.devices("rack", b.model("host", "RACK", {"p": 1}), 2)
    tray = b.devices("rack.tray", b.model("host", "TRAY", {"p": 1}), 2, 3, inside=rack)
    chip = b.devices("rack.tray.chip", b.model("chip", "CHIP", {"p": 4}), 2, 3, 2, role="accelerator", inside=tray)
    sw = b.devices("s", b.model("switch", "S", {"p": 30}), 2)
    for i in range(12):
        b.link(b.free(chip, i), b.free(sw, i % 2))
    b.link(b.free(sw, 0), b.free(sw, 1))
    f = b.build()
    via = np.array([panel.first + i % 2 if i % 3 else -1 for i in range(f.link_count)])
    ports = np.where(via >= 0, f.port_base[via], -1)
    return replace(f, link_via_a=ports, link_via_b=np.where(np.arange(f.link_count) % 4 == 1, ports, -1))


def test_the_rows_that_are_lost_with_each_element() -> None:
    """Those that a view without it lacks, by their places in the view, also where links failed before."""
    for seed, f in enumerate([nested(), scale_up().build(), *(random_fabric(s, loose=s % 3).build() for s in range(12))]):
        rng = Random(seed)
        view = View.whole(f)
        if seed % 2 or seed == 0:
            before = np.isin(np.arange(f.link_count), rng.sample(range(f.link_count), 3))
            view = view.without(np.zeros(f.device_count, dtype=np.bool_), before)
        chosen = [FabricElement("d", np.array(rng.sample(range(f.device_count), k)), NONE) for k in (1, 1, 2, 3)]
        chosen += [FabricElement("l", NONE, np.array(rng.sample(range(f.link_count), k))) for k in (1, 2, 4)]
        chosen += [FabricElement("b", np.array([rng.randrange(f.device_count)]), np.array([rng.randrange(f.link_count)]))]
        if seed == 0:
            chosen += [FabricElement("d", np.array([d]), NONE) for d in range(f.device_count)]
        for e, rows in zip(chosen, lost_rows(view, chosen), strict=True):
            left = view_after_failures(view, [e]).rows
            assert view.rows[rows].tolist() == sorted(set(view.rows.tolist()) - set(left.tolist())), (seed, e.name)
            assert rows.tolist() == sorted(set(rows.tolist()))
