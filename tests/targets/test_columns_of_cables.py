"""Columns of links and cables: what several links say of one leg, links that cross two cables, classes and settings."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.emit.link_tables import Wires, _setting_as_cell, gigabits_per_second, number_or_blank
from tdsl.emit.records import LinkClass
from tdsl.emit.view import FabricView, Sizes
from tdsl.fabric.columns import values_of_column
from tdsl.fabric.graph import Fabric
from tdsl.findings.diagnostic import Diagnostics
from tdsl.semantics.quantity import LENGTH, RATE, Quantity
from tests.fabrics import GBPS, Builder
from tests.harness import fabric_of

PLANES = """
fabric pod "A pod" {
  plane pl[2] {
    group su[2] {
      switch leaf[3]: BIG
    }
    switch spine[2]: BIG
    panel patch[2]: PATCH
    connect su[*].leaf[*] to spine[s] each via patch[s] { length 10m; colour "red" }
  }
  host node[4]: NODE
  host disk: BOX { role storage }
  connect node[n].nic[r] to pl[r % 2].su[n // 2].leaf[r // 2] { length 2.5m }
  connect disk.nic[k] to pl[k].su[1].leaf[2]
  omit node[3]
}
"""


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(PLANES, tmp_path_factory.mktemp("pod"))


@pytest.fixture(scope="module")
def view(pod: Fabric) -> FabricView:
    return FabricView(pod, Diagnostics())


def crossing(legs: int, pairs: Sequence[tuple[int, int]], rates: Sequence[int] = ()) -> Any:
    """What columns of legs ask of the wires, for links that run through these legs: (link, leg)."""
    stub: Any = SimpleNamespace(
        fabric=SimpleNamespace(cable_a=np.zeros(legs, np.int64), link_rate=np.array(rates, np.int64)),
        crossings=(np.array([p[0] for p in pairs], np.int64), np.array([p[1] for p in pairs], np.int64)),
    )
    stub._first_link = Wires._first_link.func(stub)  # type: ignore[attr-defined]
    stub._rates = Wires._rates.func(stub)  # type: ignore[attr-defined]
    return stub


def some_links(random: Random) -> tuple[int, int, list[tuple[int, int]]]:
    """Numbers of legs and links, and which link runs through which leg."""
    legs, links = random.randint(1, 6), random.randint(1, 8)
    every = [(k, leg) for k in range(links) for leg in range(legs)]
    return legs, links, random.sample(every, random.randint(0, min(len(every), 9)))


def test_the_different_values_of_the_links_of_a_leg() -> None:
    """Against the definition: ascending and joined by blanks if there are several, empty if there are none."""
    for seed in range(300):
        random = Random(seed)
        legs, links, pairs = some_links(random)
        low = random.choice([-1, 0])
        values = [random.randint(low, random.choice([0, 1, 3])) for _ in range(links)]
        stub = crossing(legs, pairs, [1] * links)
        wanted = [sorted({values[k] for k, leg in pairs if leg == n and values[k] >= 0}) for n in range(legs)]
        found = values_of_column(Wires._over_links(stub, np.array(values)))
        assert [str(x) for x in found] == [" ".join(map(str, w)) for w in wanted], (pairs, values)
        assert [isinstance(x, int) for x in found] == [len(w) == 1 for w in wanted]
        assert stub._first_link.tolist() == [min((k for k, leg in pairs if leg == n), default=-1) for n in range(legs)]


def test_the_rate_of_a_leg_is_that_of_all_its_links() -> None:
    for seed in range(200):
        random = Random(seed)
        legs, links, pairs = some_links(random)
        rates = [random.choice([100, 200, 400][: random.randint(1, 3)]) * GBPS for _ in range(links)]
        total = [sum(rates[k] for k, leg in pairs if leg == n) // GBPS for n in range(legs)]
        assert Wires._cable_rate(crossing(legs, pairs, rates)).tolist() == [n or "" for n in total]


def test_numbers_as_people_write_them() -> None:
    assert [gigabits_per_second(n * GBPS // 2) for n in (800, 25, 1)] == [400, 12.5, 0.5] and isinstance(
        gigabits_per_second(400 * GBPS), int
    )
    assert [number_or_blank(n) for n in (-1, 0, 1)] == ["", 0, 1]
    assert [_setting_as_cell(Quantity(Fraction(n), LENGTH)) for n in ("3", "5/2")] == [3, 2.5]
    assert isinstance(_setting_as_cell(Quantity(Fraction(3), LENGTH)), int)
    assert isinstance(_setting_as_cell(Quantity(Fraction(3), RATE)), str)
    assert _setting_as_cell(True) is True and _setting_as_cell(7) == 7 and _setting_as_cell("x") == "x"


def test_classes_of_links() -> None:
    """A rate is given where all links of a class have it; a class that has cables alone has no links."""
    b = Builder()
    s = b.devices("s", b.model("switch", "S", {"p": 20}), 2)
    for rate, cls in ((400, "x"), (400, "x"), (200, "y"), (100, "y"), (100, "y"), (25, "z")):
        b.link(b.free(s, 0), b.free(s, 1), rate=rate * GBPS, cls=cls)
    assert Wires(b.build()).classes == (LinkClass("x", 2, 2, 400), LinkClass("y", 3, 3, ""), LinkClass("z", 1, 1, 25))


def test_links_through_panels_cross_two_cables(pod: Fabric, view: FabricView) -> None:
    """The identifier of the cable at each end; it is one cable where no panel is between."""
    rows = list(zip(*map(view.links.column, ("a_device", "b_device", "via", "cable_id", "far_cable_id")), strict=True))
    straight = [r for r in rows if not r[2]]
    assert len(rows) == 38 and len(straight) == 14
    assert all(far == "" and (near.startswith((f"{a}:", f"{b}:"))) for a, b, _, near, far in straight)
    ends = set(view.cables.column("cable_id"))
    for a, b, via, near, far in rows:
        if via:
            assert near != far and {near, far} <= ends and via == b.replace("spine", "patch")
            legs = [
                (x, y) for x, y, c in zip(*map(view.cables.column, ("a_device", "b_device", "cable_id")), strict=True)
                if c in (near, far)
            ]  # fmt: skip
            assert sorted(map(sorted, legs)) == sorted(map(sorted, ((a, via), (b, via))))


def test_planes_rails_and_settings_of_links(pod: Fabric, view: FabricView) -> None:
    wires = Wires(pod)
    assert set(wires.link_plane.tolist()) == {0, 1} and all(isinstance(p, int) for p in view.links.column("plane"))
    for device, plane in zip(view.links.column("b_device"), view.links.column("plane"), strict=True):
        assert f"pl{plane}-" in str(device)
    lengths = dict(zip(map(str, view.cables.column("length_m")), view.cables.column("colour"), strict=True))
    assert lengths == {"10": "red", "2.5": "", "": ""}
    assert sorted(np.unique(wires.leg_length[~np.isnan(wires.leg_length)]).tolist()) == [2.5, 10]
    assert int(np.isnan(wires.leg_length).sum()) == 2


def test_numbers_of_a_fabric(view: FabricView) -> None:
    """Three of four hosts and the storage are built; links through panels have two cables."""
    assert view.sizes == Sizes(4, 0, 16, 38, 62)
    assert view._plane_names == {0: "pl0", 1: "pl1"}
    assert (view.name, view.title, view.layer, view.bundled, view.forwarding, view.prices) == (
        "pod",
        "A pod",
        "",
        False,
        False,
        "",
    )
    assert view.capabilities == {"accelerator_hosts", "cables", "hosts", "infiniband", "links"}
    assert (view.routers(""), view.routing, view.roce, view.managed, len(view.systems), len(view.addresses)) == (
        (), None, None, (), 0, 0,
    )  # fmt: skip


def test_cables_by_outermost_group(view: FabricView) -> None:
    """Those of a host, which is in no group, go to the group of their other end."""
    a, b = (view.cables.column(c) for c in ("a_device", "b_device"))
    assert [p.name for p in view.pods] == ["pl0", "pl1"]
    assert sorted(n for p in view.pods for n in p.rows) == list(range(62))
    for pod in view.pods:
        assert all(f"{pod.name}-" in f"{a[n]} {b[n]}" for n in pod.rows)


def test_cables_of_no_group_come_last(tmp_path: Path) -> None:
    text = (
        "fabric f {\n  switch top[2]: BIG\n  switch low[2]: BIG\n  group g[2] {\n    switch s: BIG\n  }\n"
        "  connect low[*] to top[*] each\n  connect g[*].s to top[*] each\n}\n"
    )
    found = FabricView(fabric_of(text, tmp_path), Diagnostics())
    assert [(p.name, len(p.rows)) for p in found.pods] == [("g0", 2), ("g1", 2), ("rest", 4)]
    alone = "fabric f {\n  switch top[2]: BIG\n  switch low[2]: BIG\n  connect low[*] to top[*] each\n}\n"
    found = FabricView(fabric_of(alone, tmp_path), Diagnostics())
    assert [(p.name, p.rows) for p in found.pods] == [("rest", (0, 1, 2, 3))]


def test_cables_by_row_of_racks() -> None:
    """By the a end, or by the b end where that alone has a place."""
    table = {
        "a_hall": ["h1", "", "h2", ""], "a_rack": ["A07", "", "B12", ""],
        "b_hall": ["h9", "h1", "", ""], "b_rack": ["Z1", "A11", "", ""],
    }  # fmt: skip
    stub: Any = SimpleNamespace(cables=SimpleNamespace(column=lambda name: table[name]))
    assert FabricView._rows_of_racks(stub) == {"h1-A": [0, 1], "h2-B": [2], "": [3]}


def test_devices_as_templates_see_them(view: FabricView) -> None:
    columns = ("name", "kind", "role", "model", "tier", "plane", "port_count")
    rows = dict(zip(view.devices.column("path"), zip(*map(view.devices.column, columns), strict=True), strict=True))
    assert len(rows) == 24 and "node[3]" not in rows
    assert rows["pl[1].su[0].leaf[2]"] == ("pl1-su0-leaf2", "switch", "", "BIG", 1, 1, 64)
    assert rows["pl[0].patch[1]"] == ("pl0-patch1", "panel", "", "PATCH", "", 0, 16)
    assert rows["node[2]"] == ("node2", "host", "accelerator", "NODE", 0, "", 4)
    assert rows["disk"][2] == "storage"
