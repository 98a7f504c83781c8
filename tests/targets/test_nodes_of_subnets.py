"""InfiniBand subnets in exact values: nodes, ports, GUIDs, partitions, managers, names and words for rates."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.emit.data.subnets import _common_number, _Guids, _Subnet, has_torus, ibsim_speed_word, is_infiniband, subnet_names
from tdsl.emit.records import Aggregator, Manager, PartitionMember, PartitionPlan, Plane, SeedLink, TorusPlan, WiredPort
from tdsl.emit.view import FabricView
from tdsl.fabric.assets import Assets
from tdsl.fabric.graph import Fabric
from tdsl.fabric.subnets import Torus
from tdsl.findings.diagnostic import Diagnostics
from tests.harness import fabric_of

MODELS = """
model switch IB { port p[1..8]: 400Gbps { type NDR } }
model host NODE { port nic[2]: 400Gbps { type NDR; os "mlx5_{i}" }; port slow[1]: 100Gbps { type EDR }; chip gpu[2]: GPU }
model host UFM { port p[1..2]: 400Gbps { type NDR } }
model chip GPU { port lane: 400Gbps }
"""
POD = """
fabric pod {
  host node[3]: NODE
  switch leaf[2]: IB
  switch spine: IB
  host ufm[2]: UFM { role manager }
  connect node[n].nic[r] to leaf[r]
  connect leaf[*] to spine each x 2
  connect ufm[u].p[1] to leaf[u]
  partition tenant 0x8001 { full node[0..1].nic }
  partition storage 0x0002 { full node[(2)].nic; limited node[0..1].nic; ipoib }
  subnet_manager ufm[(1)], ufm[(0)]
}
"""
LEAF, SPINE = 3, 5
"""Rows of the first leaf and of the spine."""


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    return fabric_of(MODELS + POD, tmp_path_factory.mktemp("pod"), models=False)


def planes(fabric: Fabric, assets: Assets | None = None) -> tuple[Plane, ...]:
    return FabricView(fabric, Diagnostics(), assets).planes


def hexed(number: int) -> str:
    return f"{number:016x}"


def test_switches_and_adapters(pod: Fabric) -> None:
    (plane,) = planes(pod)
    assert (plane.name, plane.engine, plane.shape, plane.slower, plane.known) == ("pod", "ftree", "tree", ("400 Gb/s",), False)
    assert [n.id for n in plane.switches] == ["leaf0", "leaf1", "spine"]
    assert [(n.id, n.description, n.device, n.port) for n in plane.adapters] == [
        *((f"node{d}:nic{r}", f"node{d} mlx5_{r}", f"node{d}", f"nic[{r}]") for d in range(3) for r in range(2)),
        ("ufm0:p1", "ufm0 p1", "ufm0", "p[1]"), ("ufm1:p1", "ufm1 p1", "ufm1", "p[1]"),
    ]  # fmt: skip
    leaf, adapter = plane.switches[1], plane.adapters[3]
    assert leaf.ports == (
        *(WiredPort(d + 1, f"node{d}:nic1", 1, f"node{d} mlx5_1", "4xHDR", 400) for d in range(3)),
        WiredPort(4, "spine", 2, "spine", "4xHDR", 400), WiredPort(5, "ufm1:p1", 1, "ufm1 p1", "4xHDR", 400),
        WiredPort(6, "spine", 6, "spine", "4xHDR", 400),
    )  # fmt: skip
    assert (leaf.port_count, leaf.device, leaf.port, leaf.system, leaf.aggregator) == (8, "leaf1", "", "leaf1", None)
    assert adapter.ports == (WiredPort(1, "leaf1", 2, "leaf1", "4xHDR", 400),)
    assert (adapter.port_count, adapter.system, adapter.asset, adapter.asset_port) == (1, "node1 mlx5_1", "", "")
    assert plane.roots == ("",) and plane.torus is None


def test_placeholders_of_guids(pod: Fabric) -> None:
    """Locally made, all different; an adapter's port has the next number, a switch's port 0 that of its node."""
    (plane,) = planes(pod)
    every = [*plane.switches, *plane.adapters]
    assert all(n.guid.startswith("02") and n.guid.endswith("00") and len(n.guid) == 16 for n in every)
    assert len({n.guid for n in every}) == len(every) == 11
    assert all(n.port_guid == n.guid for n in plane.switches)
    assert all(int(n.port_guid, 16) == int(n.guid, 16) + 1 for n in plane.adapters)
    assert planes(pod)[0].switches == plane.switches


def test_guids_that_are_taken() -> None:
    """A name that is asked for twice, as one whose hash is another's, has another number."""
    guids = _Guids()
    made = [guids.make("a") for _ in range(3)] + [guids.make("b")]
    assert len(set(made)) == 4 and made[0] == _Guids().make("a") and made[3] == _Guids().make("b")
    assert guids.taken == {int(g, 16) for g in made}


def test_guids_of_assets(pod: Fabric) -> None:
    """Nodes that a table gives; a subnet is known where it gives those of all switches, adapters and adapters' ports."""
    node = {(d, -1): hexed(0x100 + d) for d in (3, 4, 5)} | {(d, p): hexed(0x200 + 16 * d + p) for d in (0, 1, 2) for p in (0, 1)}
    node |= {(6, 0): hexed(0x300), (7, 0): hexed(0x301)}
    port = {key: hexed(int(guid, 16) + 0x1000) for key, guid in node.items() if key[1] >= 0}
    (plane,) = planes(pod, Assets(node=node, port=port))
    assert plane.known and plane.roots == (hexed(0x105),)
    assert [(n.guid, n.port_guid, n.asset, n.asset_port) for n in plane.switches] == [
        (hexed(g), hexed(g), hexed(g), "") for g in (0x103, 0x104, 0x105)
    ]
    one = plane.adapters[3]
    assert (one.guid, one.port_guid, one.asset, one.asset_port) == (hexed(0x211), hexed(0x1211), hexed(0x211), hexed(0x1211))
    assert plane.managers == (
        Manager("ufm1", "ufm1 p1", 15, hexed(0x1301)), Manager("ufm0", "ufm0 p1", 14, hexed(0x1300)),
    )  # fmt: skip
    for lacking in ((3, -1), (0, 1), (7, 0)):
        assert not planes(pod, Assets(node={k: v for k, v in node.items() if k != lacking}, port=port))[0].known
    assert not planes(pod, Assets(node=node, port={k: v for k, v in port.items() if k != (2, 1)}))[0].known


def test_aggregation_nodes_and_what_systems_call_themselves(pod: Fabric) -> None:
    """The aggregation node is behind the last port; its port is counted where the model says that there is one."""
    both = Assets(node={(LEAF, -2): "a" * 16}, port={(LEAF, -2): "b" * 16})
    assert [n.aggregator for n in planes(pod, both)[0].switches] == [Aggregator(8, "a" * 16, "b" * 16), None, None]
    assert planes(pod, Assets(node=both.node))[0].switches[0].aggregator is None
    assert planes(pod, Assets(port=both.port))[0].switches[0].aggregator is None
    facts: Any = pod.models[int(pod.device_model[LEAF])].facts
    facts.update({"aggregation": True, "ib_module": "Quantum"})
    try:
        switches = planes(pod, both)[0].switches
    finally:
        del facts["aggregation"], facts["ib_module"]
    assert [n.port_count for n in switches] == [9, 9, 9] and switches[0].aggregator == Aggregator(9, "a" * 16, "b" * 16)
    assert [(n.system, n.description) for n in switches] == [(f"MF0;{n}:Quantum", n) for n in ("leaf0", "leaf1", "spine")]


def test_partitions_and_managers(pod: Fabric) -> None:
    view = FabricView(pod, Diagnostics(), Assets(port={(1, 1): "d" * 16}))
    (plane,) = view.planes

    def member(d: int, r: int, full: bool) -> PartitionMember:
        return PartitionMember("d" * 16 if (d, r) == (1, 1) else "", full, f"node{d} mlx5_{r}")

    assert plane.partitions == (
        PartitionPlan("tenant", 1, False, tuple(member(d, r, True) for d in (0, 1) for r in (0, 1))),
        PartitionPlan("storage", 2, True, tuple(member(d, r, d == 2) for d in (0, 1, 2) for r in (0, 1))),
    )
    assert [(m.name, m.priority) for m in plane.managers] == [("ufm1", 15), ("ufm0", 14)]
    assert view.managers == ("ufm1", "ufm0")
    assert [(s.name, s.plane, s.manager) for s in view.standbys] == [("ufm0", plane, plane.managers[1])]
    rows = list(zip(*(view.partitions.column(c) for c in ("partition", "key", "device", "port", "membership")), strict=True))
    assert len(rows) == 10
    assert rows[1] == ("tenant", 1, "node0", "nic[1]", "full") and rows[5] == ("storage", 2, "node0", "nic[1]", "limited")
    assert rows[9] == ("storage", 2, "node2", "nic[1]", "full")


def test_no_manager_and_no_partition(tmp_path: Path) -> None:
    text = "fabric f {\n  host node[2]: NODE\n  switch leaf: IB\n  connect node[*].nic to leaf each\n}\n"
    view = FabricView(fabric_of(MODELS + text, tmp_path, models=False), Diagnostics())
    assert (view.managers, view.standbys, len(view.partitions)) == ((), (), 0)
    (plane,) = view.planes
    assert (plane.managers, plane.partitions, plane.shape, plane.engine) == ((), (), "one", "minhop")


@pytest.mark.parametrize(
    ("gbps", "wanted"),
    [
        (800, ("4xHDR", False)), (200, ("4xHDR", True)), (199, ("4xEDR", False)), (100, ("4xEDR", True)), (60, ("4xFDR", False)),
        (56, ("4xFDR", True)), (40, ("4xQDR", True)), (20, ("4xDDR", True)), (10, ("4xSDR", True)), (5, ("4xSDR", False)),
    ],
)  # fmt: skip
def test_words_for_rates(gbps: int, wanted: tuple[str, bool]) -> None:
    assert ibsim_speed_word(gbps * 10**9) == wanted


def test_the_one_number_of_several() -> None:
    assert (
        _common_number(np.array([3, 3]), {3: "plane3"}, "x") == "plane3"
        and _common_number(np.array([3, 3]), {4: "plane4"}, "x") == "x"
    )
    assert _common_number(np.array([3, 4]), {3: "plane3"}, "x") == "x" and _common_number(np.array([3, 4]), None, "x") == "x"
    assert _common_number(np.array([0, 0]), {0: "plane0"}, "x") == "plane0" and _common_number(np.array([0]), None, "") == "0"
    assert _common_number(np.array([-1, -1]), {-1: "none"}, "x") == "x" and _common_number(np.array([-1]), None, "") == ""


@pytest.mark.parametrize(
    ("plane", "rail", "wanted"),
    [
        ([0, 1, 2], [-1, -1, -1], ["p0", "p1", "p2"]),
        ([-1, -1, -1], [0, 1, 2], ["rail0", "rail1", "rail2"]),
        ([-1, -1, -1], [0, 1, 1], ["f-0", "f-1", "f-2"]),
        ([-1, -1, -1], [0, -1, 1], ["f-0", "f-1", "f-2"]),
        ([1, 1, 0], [4, 2, 2], ["p1-rail4", "p1-rail2", "p0"]),
        ([0, 1, 1], [-1, -1, -1], ["p0", "p1-0", "p1-1"]),
        ([-1, 0, -1], [5, 5, 6], ["rail5", "p0", "rail6"]),
        ([-1, 0, 0], [-1, 1, 2], ["f", "p0-rail1", "p0-rail2"]),
    ],
)
def test_names_of_subnets(plane: list[int], rail: list[int], wanted: list[str]) -> None:
    """Three subnets of two links each: that of the plane or the fabric, with rail or number where several have it."""
    wires: Any = SimpleNamespace(
        link_plane=np.repeat(plane, 2), link_rails=np.repeat(rail, 2), fabric=SimpleNamespace(name="f")
    )  # fmt: skip
    assert subnet_names(wires, {n: f"p{n}" for n in range(3)}, np.array([0, 0, 1, 1, 2, 2])) == wanted
    assert subnet_names(wires, {}, np.zeros(0, np.int64)) == []


def test_what_is_infiniband(pod: Fabric, tmp_path: Path) -> None:
    assert is_infiniband(pod)
    text = "fabric f {\n  host node[2]: NODE\n  connect node[0].nic[0] to node[1].nic[0]\n}\n"
    assert not is_infiniband(fabric_of(MODELS + text, tmp_path, models=False))
    none = "fabric f {\n  switch leaf[2]: IB\n}\n"
    assert not is_infiniband(fabric_of(MODELS + none, tmp_path, models=False))


@pytest.mark.parametrize(
    ("sizes", "wraps", "hosts", "trunk", "texts", "seeds", "most"),
    [
        ((3, 4), (True, True), 2, 1, ("3t", "4t", "1"), {"xp": (1, 0), "xm": (2, 0), "yp": (0, 1), "ym": (0, 3)}, 3),
        ((3, 4), (False, True), 2, 5, ("3m", "4t", "1"), {"xp": (1, 0), "yp": (0, 1), "ym": (0, 3)}, 5),
        ((3, 4, 5), (True, False, True), 0, 1, ("3t", "4m", "5t"),
         {"xp": (1, 0, 0), "xm": (2, 0, 0), "yp": (0, 1, 0), "zp": (0, 0, 1), "zm": (0, 0, 4)}, 1),
    ],
)  # fmt: skip
def test_seeds_of_a_torus(sizes: Any, wraps: Any, hosts: int, trunk: int, texts: Any, seeds: Any, most: int) -> None:
    """Links from the switch at the origin in both directions of a ring, in one of a line."""
    grid = np.arange(np.prod(sizes)).reshape(sizes) + 7
    assets = Assets(node={(d, -1): hexed(d) for d in grid.ravel().tolist()})
    subnet: Any = SimpleNamespace(shape=SimpleNamespace(torus=Torus(sizes, wraps, grid, hosts, trunk)), assets=assets)
    made = _Subnet._torus(subnet)
    assert made == TorusPlan(texts, tuple(SeedLink(w, hexed(7), hexed(int(grid[at]))) for w, at in seeds.items()), most)
    subnet.assets = Assets()
    made = _Subnet._torus(subnet)
    assert made is not None and {(s.near, s.far) for s in made.seeds} == {("", "")}


def test_whether_a_subnet_is_a_torus(pod: Fabric, tmp_path: Path) -> None:
    text = (
        "fabric f {\n  switch sw[5x5]: IB\n  host node[5x5]: UFM { role accelerator }\n  connect sw[*] torus\n"
        "  connect node[a, b].p[1] to sw[a, b].p[8]\n}\n"
    )
    assert not has_torus(pod)
    fabric = fabric_of(MODELS + text, tmp_path, models=False)
    assert has_torus(fabric)
    (plane,) = planes(fabric)
    assert (plane.engine, plane.torus is not None and plane.torus.sizes) == ("torus-2QoS", ("5t", "5t", "1"))
