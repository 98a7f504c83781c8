"""What a fabric says of its devices, ports and links, against values worked out by hand; and the graph made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tdsl.fabric.as_networkx import cables_of
from tdsl.fabric.columns import PortColumns
from tdsl.fabric.graph import Fabric
from tests.fabrics import GBPS, Builder
from tests.harness import fabric_of, sections

TEXTS = sections(Path(__file__).parent / "graph.txt")
TEXT = f"{TEXTS['TEXT']}\n"
DEVICES = {
    8: {"name": "rack1-n1", "path": "rack[1].n[1]", "kind": "host", "model": "NODE", "declaration": "rack.n",
        "role": "accelerator", "tier": 0, "group": "rack[1]"},
    24: {"name": "pl1-spine0", "path": "pl[1].spine[0]", "kind": "switch", "model": "BARE", "declaration": "pl.spine", "tier": 2,
         "plane": "pl[1]", "group": "pl[1]"},
    27: {"name": "carrier", "path": "relay[1]", "kind": "host", "model": "NODE", "declaration": "relay", "role": "accelerator",
         "forwards": True, "tier": 0},
    38: {"name": "rack1-n1-gpu1", "path": "rack[1].n[1].gpu[1]", "kind": "chip", "model": "GPU2", "declaration": "rack.n.gpu",
         "role": "accelerator", "tier": 0, "container": 8, "group": "rack[1]"},
}  # fmt: skip
LINKS = {
    25: (3, 8, {"rate_bps": 400 * GBPS, "class": "host-rack", "medium": "cable", "a_port": "rack[1].n[1].nic[1]",
                "b_port": "rack[1].rack[1].p[2]", "cable": "rack1-n1:nic1 rack1-1:p2", "via": "q.front[4] q.back[4]"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def racks(tmp_path_factory: pytest.TempPathFactory) -> Fabric:
    """Racks of 2 leaves and 3 hosts with 2 chips, pods with two indices, planes, hosts that forward, and a panel."""
    return fabric_of(TEXT, tmp_path_factory.mktemp("racks"), models=False)


def test_attributes_of_nodes_and_edges(racks: Fabric) -> None:
    g = racks.graph()
    assert g.graph == {"name": "f", "layer": "scaleout"}
    assert replace(racks, layer="scaleup").graph().graph["layer"] == "scaleup"
    absent = [9, 39, 40]
    assert sorted(g) == [d for d in range(41) if d not in absent] and not racks.built[absent].any()
    for device, facts in DEVICES.items():
        assert dict(g.nodes[device]) == facts
    edges = {row: ({a, b}, facts) for a, b, row, facts in g.edges(keys=True, data=True)}
    assert sorted(edges) == list(range(38))
    for row, (a, b, facts) in LINKS.items():
        assert edges[row] == ({a, b}, facts)
    assert cables_of(racks)[25] == ["rack1-n1:nic1", "rack1-1:p2"]


def test_facts_of_sets_and_models(racks: Fabric) -> None:
    """Spare hosts are the last of each rack; the nearest statement of an operating system counts, and switches alone have one."""
    assert np.flatnonzero(racks.spares).tolist() == [6, 9]
    assert racks.container.tolist() == [-1] * 29 + [4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9]
    assert racks.switch_system.tolist() == ["eos"] * 4 + [""] * 6 + ["sonic"] * 16 + [""] * 15
    assert np.flatnonzero(racks.forwards).tolist() == [26, 27]
    assert np.flatnonzero(racks.is_end).tolist() == [*range(4, 10), 26, 27, *range(29, 41)]
    assert np.flatnonzero(racks.is_switch).tolist() == [*range(4), *range(10, 26)]
    assert {racks.models[m].name: rows.tolist() for m, rows in racks.model_groups.items()} == {
        "LEAF": [0, 1, 2, 3], "NODE": [*range(4, 10), 26, 27], "BARE": [*range(10, 26)], "PATCH": [28], "GPU2": [*range(29, 41)]
    }  # fmt: skip
    assert [racks.role[d] for d in (0, 4, 22, 26, 28, 29)] == ["", "accelerator", "", "accelerator", "", "accelerator"]
    assert (racks.device_count, racks.link_count) == (41, 38)


def nested() -> tuple[Builder, Fabric]:
    """Two racks of 2 hosts with 3 trays with 2 chips each, behind one switch that is in nothing."""
    b = Builder()
    host, tray, chip = (b.model(k, n, {"p": 2}) for k, n in (("host", "H"), ("switch", "T"), ("chip", "C")))
    b.devices("top", b.model("switch", "S", {"p": 40}), None)
    hosts = b.devices("r.h", host, 2, 2)
    trays = b.devices("r.h.t", tray, 2, 2, 3, inside=hosts)
    b.devices("r.h.t.c", chip, 2, 2, 3, 2, inside=trays)
    b.sets[-1].parts = (*b.sets[-1].parts[:-1], replace(b.sets[-1].parts[-1]))
    return b, b.build()


def test_what_a_device_contains() -> None:
    _, f = nested()
    assert f.container.tolist() == [-1] * 5 + [1 + k // 3 for k in range(12)] + [5 + k // 2 for k in range(24)]
    for failed, gone in (
        ([], []),
        ([0], [0]),
        ([2], [2, 8, 9, 10, *range(23, 29)]),
        ([9], [9, 25, 26]),
        ([40], [40]),
        ([2, 9, 40], [2, 8, 9, 10, *range(23, 29), 40]),
        ([1, 4], [1, 4, 5, 6, 7, 14, 15, 16, *range(17, 23), *range(35, 41)]),
    ):
        devices = np.zeros(41, dtype=np.bool_)
        devices[failed] = True
        assert np.flatnonzero(f.with_contents(devices)).tolist() == gone
        assert np.flatnonzero(devices).tolist() == failed
    node = f.graph().nodes[40]
    assert (node["container"], node["path"], node["group"]) == (16, "r[1].h[1].t[2].c[1]", "r[1].h[1]")


def test_links_that_devices_take_with_them(racks: Fabric) -> None:
    """Links end there or cross there."""
    for failed in ([], [0], [1, 26], [28], [22, 5]):
        devices = np.zeros(41, dtype=np.bool_)
        devices[failed] = True
        wanted = [
            row for row in range(38)
            if {int(racks.device_a[row]), int(racks.device_b[row]), *([28] if racks.link_via_a[row] >= 0 else [])} & set(failed)
        ]  # fmt: skip
        assert np.flatnonzero(racks.links_lost(devices)).tolist() == wanted
    assert np.flatnonzero(racks.links_lost(np.arange(41) == 28)).tolist() == [17, 19, 21, 23, 25]
    one_sided = replace(racks, link_via_a=np.full(38, -1, dtype=np.int64))
    assert np.flatnonzero(one_sided.links_lost(np.arange(41) == 28)).tolist() == [17, 19, 21, 23, 25]


def test_facts_of_ports(racks: Fabric) -> None:
    """The class of a port with its place there, and what the faceplate and the operating system call it."""
    columns = PortColumns(racks)
    ports = np.arange(int(racks.port_base[-1]))
    rows = columns.rows(ports)
    for port in ports.tolist():
        device = int(racks.port_device[port])
        c, i = racks.port_class(port)
        assert (
            racks.port_base[device] + c.first + i == port and racks.port_path(port) == f"{racks.device_path(device)}.{c.path(i)}"
        )
        assert (columns.label[rows[port]], columns.system[rows[port]]) == (racks.port_label(port), racks.port_system(port))
        assert columns.cage[rows[port]] == racks.port_cage(port)
    leaf, nic = int(racks.port_base[1]), int(racks.port_base[5])
    assert [racks.port_cage(leaf + k) for k in range(8)] == [f"OSFP {1 + k // 2}" for k in range(8)]
    assert [racks.port_system(nic + k) for k in range(2)] == ["mlx5_0", "mlx5_1"] and racks.port_cage(nic) == ""


def test_planned_links_are_those_built_and_those_absent(tmp_path: Path) -> None:
    text = "fabric f { switch a[3]: SW; switch s: SW; connect a[i] to s; omit a[1] }"
    f = fabric_of(text, tmp_path)
    assert (f.planned_a.tolist(), f.planned_b.tolist()) == ([0, 2, 1], [3, 3, 3])
    states = [f.port_state[f.port_base[d] : f.port_base[d + 1]].tolist() for d in range(4)]
    assert states == [[1] + [0] * 7, [2] + [0] * 7, [1] + [0] * 7, [1, 2, 1] + [0] * 5]  # used, kept for what is planned, free
