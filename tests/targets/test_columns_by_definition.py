"""Columns of links and cables against their definition, row by row, for random columns of small fabrics."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tdsl.emit import link_tables as module
from tdsl.emit.link_tables import Wires
from tdsl.fabric.coded import Coded
from tdsl.fabric.columns import Lists
from tests.fabrics import GBPS, Builder

NAMES = ("d0", "d1", "d2", "d3")


def objects(*values: object) -> Any:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def made(**fabric: Any) -> Any:
    """Wires of four devices with three ports each, whose models have the rows 0 to 5."""
    wires: Any = object.__new__(Wires)
    wires.fabric = SimpleNamespace(
        **({"device_count": 4, "port_device": np.repeat(np.arange(4), 3), "port_base": np.arange(0, 13, 3)} | fabric)
    )
    row = np.array([0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5])
    wires.ports = SimpleNamespace(
        rows=lambda p: row[p], path=objects(*(f"path{n}" for n in range(6))), cage=objects("1", "1", "", "", "5", "6"),
        hole=objects(*(f"hole{n}" for n in range(6))), hole_id=objects(*(f"id{n // 2}" for n in range(6))),
        system=objects(*(f"mlx5_{n}" for n in range(5)), ""), netdev=objects("swp1", "eth1", "", "Ethernet4", "swp5", "swpx"),
        sonic=objects("Ethernet0", "", "Ethernet8", "", "Ethernet4", "Ethernet16"),
        sonic_alias=objects("etp1", "etp2", "x" * 200, "etp4", "", "etp\n6"),
    )  # fmt: skip
    wires.devices = SimpleNamespace(name=objects(*NAMES), family=objects("leaf", "leaf", "spine", "node"))
    wires._made, wires._kinds, wires._stating, wires.lists, wires.interfaces = {}, {}, {}, Lists(), {}
    wires.row = row
    return wires


def some(random: Random, count: int, low: int, high: int) -> Any:
    return np.array([random.randint(low, high) for _ in range(count)], dtype=np.int64)


@pytest.mark.parametrize("seed", range(40))
def test_shared_risks(seed: int) -> None:
    """Of a link: the cages at its ends, and what it crosses."""
    random = Random(seed)
    count = random.randint(1, 6)
    a, b, via = some(random, count, 0, 11), some(random, count, 0, 11), some(random, count, -1, 11)
    if random.random() < 0.3:
        via[:] = -1
    wires = made(link_a=a, link_b=b, link_via_a=via, link_count=count)
    wanted = []
    for x, y, v in zip(a.tolist(), b.tolist(), via.tolist(), strict=True):
        found = [f"{NAMES[p // 3]}/{wires.ports.cage[wires.row[p]]}" for p in (x, y) if wires.ports.cage[wires.row[p]]]
        wanted.append(";".join([*found, *([NAMES[v // 3]] if v >= 0 else [])]))
    made_of = wires._risks()
    assert made_of.tolist() == wanted and made_of.blank == ("" in wanted)


@pytest.mark.parametrize("seed", range(30))
def test_identifiers_of_cables(seed: int) -> None:
    random = Random(seed)
    lead = some(random, random.randint(1, 5), 0, 11)
    wires = made()
    wires.identity = SimpleNamespace(lead=lead)
    every = [f"{NAMES[p // 3]}:id{wires.row[p] // 2}" for p in lead.tolist()]
    assert wires._ids().tolist() == every
    for low in (-1, 0):
        legs = some(random, 6, low, len(lead) - 1)
        found = wires._ids(legs)
        assert found.tolist() == [every[n] if n >= 0 else "" for n in legs.tolist()]
        assert found.blank == bool((legs < 0).any())


@pytest.mark.parametrize("seed", range(30))
def test_the_cables_at_both_ends_of_a_link(seed: int) -> None:
    """The leg at the a end, and of a link that crosses two cables the leg of the other one."""
    random = Random(seed)
    links = random.randint(1, 5)
    legs = [(k, 2 * k + n) for k in range(links) for n in range(random.choice([0, 1, 2]))]
    lead = some(random, 2 * links, 0, 11)
    wires = made(link_count=links)
    wires.identity = SimpleNamespace(lead=lead, crossings=tuple(np.array([x[i] for x in legs], dtype=np.int64) for i in (0, 1)))
    near, far = wires._link_cables()
    same = [(p // 3, wires.row[p] // 2) for p in lead.tolist()]
    for k in range(links):
        mine = [leg for link, leg in legs if link == k]
        assert near[k] == (mine[0] if mine else -1)
        assert far[k] == (mine[1] if len(mine) > 1 and same[mine[1]] != same[mine[0]] else -1)


def test_connectors_of_devices_that_follow_each_other() -> None:
    """Device 0 has the connectors id1 and id2, device 1 id0 and id1: each is another cable."""
    wires = made(link_count=4)
    rows = np.array([3, 4, 5, 0, 1, 2])
    wires.ports.rows = lambda ports: rows[ports]
    lead = np.array([1, 3, 2, 3, 1, 2, 4, 5])
    wires.identity = SimpleNamespace(lead=lead, crossings=(np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.arange(8)))
    near, far = wires._link_cables()
    assert (near.tolist(), far.tolist()) == ([0, 2, 4, 6], [1, 3, -1, 7])


@pytest.mark.parametrize("seed", range(30))
def test_settings_of_statements(seed: int) -> None:
    """One value, or one for each class of the statement; "" where the statement or the class has none."""
    random = Random(seed)
    classes = ("rail0", "rail1", "rail2")
    statements = [
        SimpleNamespace(settings=s)
        for s in (
            {"length": 5, "class": "rail0"}, {}, {"length": (1, 2), "class": ("rail1", "rail0")}, {"length": (1, 2)},
            {"length": (7, 8, 9), "class": ("rail1", "rail0")}, {"length": (7, 8), "class": "rail1"},
            {"length": (True, "x", 3), "class": ("rail0", "rail2", "rail1")},
        )
    ]  # fmt: skip
    wires = made(statements=statements, classes=classes)
    rows, own = some(random, 20, -1, 6), some(random, 20, -1, 2)
    wanted: list[object] = []
    for n, c in zip(rows.tolist(), own.tolist(), strict=True):
        said = statements[n].settings if n >= 0 else {}
        value: object = said.get("length", "")
        if isinstance(value, tuple):
            known: Any = said.get("class", ())
            fits = isinstance(known, tuple) and len(known) == len(value) and c >= 0 and classes[c] in known
            value = value[known.index(classes[c])] if fits else ""
        wanted.append(value)
    assert wires._setting(rows, "length", own).tolist() == wanted
    assert wires._setting(rows, "none", own).tolist() == [""] * 20
    wires.fabric.cable_statement, wires.fabric.cable_class = rows, own
    lengths = wires.leg_length
    numbers = [float(v) if isinstance(v, (int, float)) else np.nan for v in wanted]
    assert np.array_equal(lengths, np.array(numbers), equal_nan=True)


def test_colours_of_legs() -> None:
    """Of the first link, or of the statement where no link runs through the leg; none where neither says one."""
    wires = made(
        link_colour=np.array([1, -1, 0]), colours=("red", "blue"), cable_statement=np.array([0, 0, 1, 0, -1]),
        cable_class=np.array([-1, 0, 0, 0, -1]), classes=("x",), cable_a=np.zeros(5, np.int64),
        statements=[SimpleNamespace(settings={"colour": "green"}), SimpleNamespace(settings={})],
    )  # fmt: skip
    # leg 0 has link 0, leg 1 link 1 without a colour, leg 2 links 2 and 0, legs 3 and 4 none
    wires.identity = SimpleNamespace(crossings=(np.array([0, 1, 2, 0]), np.array([0, 1, 2, 2])))
    assert wires._first_link.tolist() == [0, 1, 0, -1, -1]
    assert wires._colour().tolist() == ["blue", "green", "blue", "green", ""]
    wires.fabric.link_via_a = np.array([4, -1, 0])
    assert wires._cable_via().tolist() == ["d1", "", "d1", "", ""]


def test_bundles_of_cables() -> None:
    """At the end of traffic its family, at the other the device; between switches device, then family."""
    wires = made(cable_a=np.array([0, 0, 9]), cable_b=np.array([3, 9, 0]), is_end=np.array([False, False, False, True]))
    found = wires._bundle()
    assert found.tolist() == ["d0/leaf", "d0/node", "node/d0"]
    assert all(isinstance(p, str) or (p.codes >= 0).all() for p in found.pieces)


def test_places_of_ports() -> None:
    places: Any = SimpleNamespace(
        device_unit=np.array([0, 7, 1, 3]), device_rack=np.array([-1, 0, 1, 1]), rack_names=["A01", "B02"], rack_count=2,
        hall_name=lambda r: f"h{r}",
    )  # fmt: skip
    wires, ports = made(), np.array([0, 3, 6, 11])
    assert [wires._rack(places, ports, k).tolist() for k in range(3)] == [
        ["", "h0", "h1", "h1"], ["", "A01", "B02", "B02"], ["", 7, 1, 3],
    ]  # fmt: skip
    assert wires._number(ports).tolist() == [1, 1, 1, 3]
    assert wires._device(ports).tolist() == list(NAMES)
    assert wires._port(wires.ports.path, ports).tolist() == ["path0", "path0", "path3", "path5"]


def test_names_of_ports_as_systems_have_them() -> None:
    """SONiC has its own; others those of the model, where they are of the form that the system gives."""
    import re

    wires = made()
    wires.interfaces = {"nvue": re.compile("swp[0-9]+"), "eos": re.compile("Ethernet[0-9]+")}
    names = {s: [wires._network_device(row, s) for row in range(6)] for s in ("sonic", "nvue", "eos", "frr", "")}
    every = ["swp1", "eth1", "", "Ethernet4", "swp5", "swpx"]
    assert names == {
        "sonic": ["Ethernet0", "", "Ethernet8", "", "Ethernet4", "Ethernet16"], "nvue": ["swp1", "", "", "", "swp5", ""],
        "eos": ["", "", "", "Ethernet4", "", ""], "frr": every, "": every,
    }  # fmt: skip
    assert [wires._system_name(1, x, "nvue") for x in (True, False)] == ["mlx5_1", ""]
    wires.fabric.switch_system = np.array(["sonic", "nvue", "", "sonic"])
    assert wires.network_devices(np.array([0, 3, 4, 6, 7, 9, 10, 11])) == [
        "Ethernet0", "swp1", "", "Ethernet4", "swp5", "", "Ethernet4", "Ethernet16",
    ]  # fmt: skip


@pytest.mark.parametrize("infiniband", [False, True])
def test_what_ports_announce(infiniband: bool) -> None:
    """The number of a switch port on InfiniBand; SONiC the alias without line ends, of at most 128 letters; else the name."""
    ports = np.array([0, 1, 2, 5, 6, 7, 8, 9, 11])
    wires = made(
        switch_system=np.array(["sonic", "", "", "sonic"]), is_switch=np.array([True, False, True, True]),
        models=(SimpleNamespace(port_count=3), SimpleNamespace(port_count=3)),
    )  # fmt: skip
    wires._infiniband = np.full(len(ports), infiniband)
    if infiniband:
        assert wires._announced(ports).tolist() == [1, 2, 3, "mlx5_2", 1, 2, 3, 1, 3]
        assert wires._interface(ports).tolist() == [
            "mlx5_0", "mlx5_1", "mlx5_2", "mlx5_2", "mlx5_3", "mlx5_4", "", "mlx5_3", "",
        ]  # fmt: skip
    else:
        found = wires._announced(ports).tolist()
        assert found[:2] == ["etp1", ""] and found[2] == "x" * 128
        assert found[3:8] == ["", "Ethernet4", "swp5", "swpx", ""] and "\n" not in found[8] and found[8].startswith("etp")
        assert wires._interface(ports).tolist() == [
            "Ethernet0", "", "Ethernet8", "", "Ethernet4", "swp5", "swpx", "", "Ethernet16",
        ]  # fmt: skip


def test_addresses_and_numbers_of_links() -> None:
    given = {(0, False): [("10.0.0.0", 31), ("fd00::", 127)], (0, True): [("10.0.0.1", 31)], (1, False): [], (1, True): []}
    found: Any = SimpleNamespace(
        dealt={("loopback", 4): 1, ("links", 4): 1}, asn=np.array([0, 65000, 7, 0]), routing=SimpleNamespace(mtu=9214),
        each=lambda kind, i, second: [(a, SimpleNamespace(prefix=p)) for a, p in given[i, second]],
    )  # fmt: skip
    wires = made(addressing=found, link_count=2)
    assert [wires._address(x) for x in (False, True)] == [["10.0.0.0/31 fd00::/127", ""], ["10.0.0.1/31", ""]]
    assert wires._asn(np.array([0, 3, 6, 9])).tolist() == ["", 65000, 7, ""]
    assert wires._mtu().tolist() == [9214, 9214]
    found.dealt, found.routing = {("loopback", 4): 1}, SimpleNamespace(mtu=None)
    assert list(wires._address(False).tolist()) == ["", ""] and wires._mtu().tolist() == ["", ""]
    found.routing = None
    assert wires._mtu().tolist() == ["", ""]
    wires.fabric.addressing = None
    assert wires._mtu().tolist() == wires._address(True).tolist() == wires._asn(np.array([0, 3])).tolist() == ["", ""]


def test_what_statements_pin() -> None:
    def optic(name: str) -> Any:
        return SimpleNamespace(name=name, facts={})

    statements = [SimpleNamespace(settings=s) for s in ({"optics": (optic("A"), optic("B"))}, {}, {"optics": optic("C")})]
    wires = made(statements=statements)
    rows = np.array([0, 1, 2, -1])
    assert [wires._optics(rows, end).tolist() for end in (0, 1)] == [["A", "", "", ""], ["B", "", "", ""]]
    assert wires._part_fact(rows, "fibre").tolist() == [""] * 4
    assert isinstance(wires._stated(rows, "xyz"), Coded) and wires._stated(rows, "xyz").tolist() == ["x", "y", "z", ""]


def test_classes_of_cables_alone() -> None:
    """A break-out is one cable; a class has a rate where all its links have it."""
    wires = made(
        classes=("x", "y", "z"), cable_class=np.array([0, 0, 0, 1, 2, 2]), cable_group=np.array([4, 4, 5, 6, 7, 7]),
        link_class=np.array([0, 0, 1, 1]), link_rate=np.array([400, 400, 100, 200]) * GBPS,
    )  # fmt: skip
    assert [(c.name, c.links, c.cables, c.rate_gbps) for c in wires.classes] == [
        ("x", 2, 2, 400), ("y", 2, 1, ""), ("z", 0, 1, ""),
    ]  # fmt: skip


def test_planes_of_links() -> None:
    wires = made(plane=np.array([-1, 0, 1, 3]), device_a=np.array([0, 0, 1, 2]), device_b=np.array([0, 1, 0, 3]))
    assert wires.link_plane.tolist() == [-1, 0, 0, 3]


def test_cables_in_the_order_of_the_plan() -> None:
    """Every column is that of the legs in another order, also columns that share their numbers."""
    legs = 5
    wires = made(
        cable_a=np.array([0, 3, 6, 9, 1]), cable_b=np.array([9, 6, 3, 0, 4]), cable_leg=np.array([0, 1, 2, 0, 3]),
        cable_links=np.array([1, 2, 3, 4, 5]), cable_class=np.array([0, 1, -1, 0, 1]), cable_statement=np.full(legs, -1),
        statements=[], classes=("x", "y"), name="f", places=None, link_colour=np.zeros(0, np.int64), colours=(),
        link_via_a=np.zeros(0, np.int64), link_rate=np.zeros(0, np.int64), is_end=np.array([False] * 3 + [True]),
    )  # fmt: skip
    order = np.array([3, 0, 4, 2, 1])
    turns = np.array([10, 11, 12, 13, 14])
    wires.identity = SimpleNamespace(
        ranks=(order, None), lead=wires.fabric.cable_a, crossings=(np.zeros(0, np.int64),) * 2, turns=lambda: turns
    )
    wires.devices.place = objects("p0", "p1", "p2", "p3")
    wires.stages = ()
    names = (
        "cable_id", "leg", "rate_gbps", "links", "label_a", "label_b", "link_class", "fabric_name", "pull_order", "phase",
        "status", "place", "a_device", "b_device", "a_port", "b_port", "a_path", "a_cage", "b_index", "bundle", "colour", "via",
        "medium",
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "physical_of", lambda f: None)
        table = wires.cables
        for name in names:
            column = wires.leg_column(name)
            rows = column if isinstance(column, list) else column.tolist()
            assert list(table.column(name)) == [rows[n] for n in order.tolist()], name
    assert len(table) == legs
    assert list(table.column("link_class")) == ["x", "x", "y", "", "y"] and list(table.column("leg")) == ["", "", 3, 2, 1]
    labels = [list(table.column(name)) for name in ("label_a", "label_b")]
    assert [x[0] for x in labels] == ["FROM d3 hole3 TO d0 hole0", "FROM d0 hole0 TO d3 hole3"]
    assert list(table.column("cable_id"))[1] == "d0:id0" and list(table.column("status")) == ["planned"] * 5


def columns_of(table: Any, *names: str) -> list[tuple[object, ...]]:
    """The rows of these columns."""
    return list(zip(*(table.column(n) for n in names), strict=True))


def test_links_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three links; what is at the other end, bundles, which count from 1, and the layer."""
    f: dict[str, Any] = {
        "link_a": np.array([0, 1, 5]), "link_b": np.array([6, 9, 10]), "link_via_a": np.array([-1, 4, -1]), "link_count": 3,
        "classes": ("x", "y"), "link_class": np.array([0, 1, 1]), "link_medium": np.array([1, 0, 2]), "statements": [],
        "link_rate": np.array([400, 100, 400]) * GBPS, "link_statement": np.full(3, -1), "addressing": None,
        "plane": np.array([-1, 0, 1, -1]), "device_a": np.array([0, 0, 1]), "device_b": np.array([2, 3, 3]),
        "switch_system": np.array([""] * 4), "is_switch": np.array([True] * 4), "models": (SimpleNamespace(port_count=3),) * 2,
    }  # fmt: skip
    wires = made(**f)
    wires.identity = SimpleNamespace(lead=np.array([0, 3]), crossings=(np.array([0, 1]), np.array([0, 1])))
    wires.ports.label = objects(*(f"L{n}" for n in range(6)))
    monkeypatch.setattr(module, "bundle_numbers", lambda f: (np.array([0, 2, 1]), np.array([3, 0, 1])))
    monkeypatch.setattr(module, "scaleup_links", lambda f: np.array([False, True, False]))
    monkeypatch.setattr(module, "link_rail", lambda f: np.array([-1, 0, 1]))
    monkeypatch.setattr(module, "infiniband_ports", lambda f, ports: ports != 9)
    table = wires.links
    assert len(table) == 3
    assert columns_of(table, "a_device", "b_device", "a_neighbour", "b_neighbour", "via") == [
        ("d0", "d2", "d2", "d0", ""), ("d0", "d3", "d3", "d0", "d1"), ("d1", "d3", "d3", "d1", ""),
    ]  # fmt: skip
    assert columns_of(table, "a_port", "b_port", "a_index", "b_index", "a_label", "b_label", "a_cage", "b_cage") == [
        ("path0", "path3", 1, 1, "L0", "L3", "1", ""), ("path1", "path3", 2, 1, "L1", "L3", "1", ""),
        ("path2", "path4", 3, 2, "L2", "L4", "", "5"),
    ]  # fmt: skip
    assert columns_of(table, "a_bundle", "b_bundle", "plane", "rail", "link_class", "layer") == [
        ("", 3, 1, "", "x", ""), (2, "", "", 0, "y", "scaleup"), (1, 1, 0, 1, "y", ""),
    ]  # fmt: skip
    assert columns_of(table, "rate_bps", "rate_gbps", "a_asn", "mtu", "a_address", "fec") == [
        (n * GBPS, n, "", "", "", "") for n in (400, 100, 400)
    ]  # fmt: skip
    assert columns_of(table, "cable_id", "far_cable_id") == [("d0:id0", ""), ("d1:id0", ""), ("", "")]
    # the link to port 9 is not of InfiniBand, whose devices have names of their own
    assert wires._infiniband.tolist() == [True, False, True]
    assert columns_of(table, "a_interface", "b_interface") == [("mlx5_0", "mlx5_3"), ("eth1", "Ethernet4"), ("mlx5_2", "mlx5_4")]
    # the neighbour of an a end is the b end: a number of its switch, or its name
    assert columns_of(table, "a_neighbour_port", "b_neighbour_port") == [(1, 1), ("Ethernet4", "eth1"), (2, 3)]
    assert len(set(table.column("medium"))) == 3


def test_circuits_by_row() -> None:
    wires = made(circuit_a=np.array([0, 7]), circuit_b=np.array([2, 8]), circuit_link=np.array([-1, 0]))
    table = wires.circuits
    assert columns_of(table, "device", "a_port", "a_index", "b_port", "b_index", "link") == [
        ("d0", "path0", 1, "path2", 3, ""), ("d2", "path4", 2, "path5", 3, 0),
    ]  # fmt: skip
    assert len(table) == 2


def test_labels_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    wires = made()
    monkeypatch.setattr(
        module, "cable_label_columns", lambda w: (2, {"text": lambda: ["a", "b"]}, "the legs") if w is wires else None
    )
    assert (len(wires.labels), wires.label_legs) == (2, "the legs")


def test_both_ends_of_cables() -> None:
    """What a statement pins at each end, and where the ends are."""

    def optic(name: str) -> Any:
        return SimpleNamespace(name=name, facts={})

    places: Any = SimpleNamespace(
        device_unit=np.array([4, 7, 1, 3]), device_rack=np.array([0, 0, 1, 1]), rack_names=["A01", "B02"], rack_count=2,
        hall_name=lambda r: f"h{r}",
    )  # fmt: skip
    wires = made(
        cable_a=np.array([0, 4]), cable_b=np.array([9, 8]), cable_statement=np.array([0, -1]), cable_class=np.array([0, 0]),
        statements=[SimpleNamespace(settings={"optics": (optic("A"), optic("B"))})], classes=("x",), name="f", places=places,
        cable_leg=np.array([0, 0]), cable_links=np.array([1, 1]),
    )  # fmt: skip
    wires.identity = SimpleNamespace(
        lead=wires.fabric.cable_a, turns=lambda: np.array([1, 2]), ranks=(np.arange(2), np.arange(2))
    )
    wires.stages = ()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "physical_of", lambda f: None)
        found = {
            n: wires.leg_column(f"{end}_{n}").tolist() for end in "a" for n in ("optic", "hall", "rack", "u", "index", "cage")
        }
        other = {n: wires.leg_column(f"b_{n}").tolist() for n in found}
    assert found == {
        "optic": ["A", ""], "hall": ["h0", "h0"], "rack": ["A01", "A01"], "u": [4, 7], "index": [1, 2], "cage": ["1", "1"],
    }  # fmt: skip
    assert other == {
        "optic": ["B", ""], "hall": ["h1", "h1"], "rack": ["B02", "B02"], "u": [3, 1], "index": [1, 3], "cage": ["", "6"],
    }  # fmt: skip


def test_what_wires_are_given() -> None:
    b = Builder()
    b.devices("s", b.model("switch", "S", {"p": 1}), 1)
    fabric, names, stages = b.build(), {"eos": object()}, (object(),)
    assert Wires(fabric).interfaces == {} and Wires(fabric).stages == ()
    given = Wires(fabric, names, stages)  # type: ignore[arg-type]
    assert (given.interfaces, given.stages) == (names, stages)
