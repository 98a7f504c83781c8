"""Tables kept as columns, and what models say of their ports, against values worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest

from tdsl.fabric import columns
from tdsl.fabric.coded import Coded, Joined, Numbers, coded_constant
from tdsl.fabric.columns import PortColumns, Table, hole_ids, hole_label, lane_axes, port_id, values_of_column
from tdsl.fabric.graph import Fabric
from tdsl.semantics.model import Axis, PortClass, SonicPort
from tests.fabrics import GBPS, Builder

# ------------------------------------------------------------ tables


@dataclass(frozen=True)
class Row:
    """A record of four fields, of which the last has no column."""

    name: object
    number: object
    plain: object
    absent: object


def table(size: int) -> Table[Row]:
    """Names ``a0``, ``b1``, ``a2`` …, numbers of which 3 is blank, and a list."""
    codes = np.arange(size) % 2
    made: dict[str, Callable[[], object]] = {
        "name": lambda: Joined(Coded(["a", "b"], codes), Coded(range(size), np.arange(size))),  # type: ignore[arg-type]
        "number": lambda: Numbers(np.arange(size), 3),
        "plain": lambda: [(k,) for k in range(size)],
    }
    return Table(Row, size, made)  # type: ignore[arg-type]


def record(k: int) -> Row:
    return Row(f"{'ab'[k % 2]}{k}", "" if k == 3 else k, (k,), "")


@pytest.mark.parametrize("stretch", [1, 2, 3, 5, 7, 8, 4096])
@pytest.mark.parametrize("size", [0, 1, 7])
def test_records_and_columns_of_a_table(size: int, stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "STRETCH", stretch)
    t = table(size)
    rows = [record(k) for k in range(size)]
    assert (len(t), list(t), t.names) == (size, rows, ("name", "number", "plain", "absent"))
    for field in t.names:
        assert t.column(field) == [getattr(r, field) for r in rows] == values_of_column(t.compact(field))
    chosen = [k for k in (5, 0, 5, 3) if k < size]
    picked = t.pick(np.array(chosen, dtype=np.int64))
    assert (len(picked), list(picked)) == (len(chosen), [rows[k] for k in chosen])
    assert [type(t.compact(f)) for f in t.names] == [Joined, Numbers, list, Coded]
    assert [type(picked.compact(f)) for f in t.names] == [Joined, Numbers, list, Coded]
    assert picked.column("plain") == [(k,) for k in chosen]
    for given in (t, picked):
        with pytest.raises(KeyError, match="no field `size`; known: name, number, plain, absent"):
            given.column("size")


def test_listed_columns() -> None:
    plain = ["x", 1]
    assert values_of_column(plain) is plain
    assert [
        values_of_column(c) for c in (coded_constant("x", 2), Numbers(np.array([1, 2])), Joined("a", coded_constant(1, 2)))
    ] == [
        ["x", "x"],
        [1, 2],
        ["a1", "a1"],
    ]


# ------------------------------------------------------------ names of ports


def made(name: str, *shape: int, low: int = 1, **facts: object) -> PortClass:
    """A class of ports."""
    (c,) = Builder().model("switch", "S", {name: {"shape": shape, "low": low}}).classes
    return replace(c, **facts)  # type: ignore[arg-type]


def test_short_names_of_ports() -> None:
    assert [port_id(made("p", 3), i) for i in range(3)] == ["p1", "p2", "p3"]
    assert [port_id(made("eth0", 2, low=5), i) for i in range(2)] == ["eth0.5", "eth0.6"]
    assert [port_id(made("nic", 2, 3), i) for i in (0, 2, 5)] == ["nic1-1", "nic1-3", "nic2-3"]
    assert [port_id(replace(made(name, 1), axes=()), 0) for name in ("mgmt", "eth0")] == ["mgmt", "eth0"]


@pytest.mark.parametrize(
    ("shape", "split", "count", "ids"),
    [
        ((4,), 1, 0, ["p1", "p2", "p3", "p4"]),
        ((2, 2), 2, 1, ["p1", "p1", "p2", "p2"]),
        ((2, 4), 4, 1, ["p1"] * 4 + ["p2"] * 4),
        ((2, 2, 2), 4, 2, ["p1"] * 4 + ["p2"] * 4),
        ((2, 2, 2), 2, 1, ["p1-1"] * 2 + ["p1-2"] * 2 + ["p2-1"] * 2 + ["p2-2"] * 2),
        ((2, 1, 2), 2, 1, ["p1-1"] * 2 + ["p2-1"] * 2),
        ((2,), 2, 1, ["p", "p"]),
        ((2,), 4, 1, ["p", "p"]),
    ],
)
def test_lanes_leave_by_one_connector(shape: tuple[int, ...], split: int, count: int, ids: list[str]) -> None:
    """The last indices that count the lanes are no part of the connector's name, and the label loses as many parts."""
    c = made("p", *shape, split=split)
    c = replace(c, labels=tuple(f"IB1/{i}/2/3" for i in range(c.size)))
    assert (lane_axes(c), hole_ids(c)) == (count, ids)
    label = {0: "IB1/{}/2/3", 1: "IB1/{}/2", 2: "IB1/{}"}[count]
    assert [hole_label(c, i) for i in range(c.size)] == [label.format(i) for i in range(c.size)]


def board() -> Fabric:
    """Two models: ``A`` with a port without index, two cages of two ports and a split port; ``B`` with three ports."""
    b = Builder()
    a = b.model("switch", "A", {"m": 1, "c": 4, "s": (1, 2)})
    m, c, s = a.classes
    m = replace(m, axes=(), labels=("MGMT",), systems=("eth0",), netdevs=("eno1",))
    c = replace(
        c, cages=(2, 2, 1, 1), form="OSFP", labels=("1/10", "1/9", "1/1", "1/2"), systems=("mlx5_0", "swp2", "", "swp4"),
        sonic=tuple(SonicPort(8 * i, (i,), 8 * i, f"etp{i}" if i else "") for i in range(4)),
    )  # fmt: skip
    s = replace(s, axes=(Axis(1, 1), Axis(0, 2)), split=2, cages=(3, 3), connectors=(0, 0), labels=("3/1", "3/2"))
    b.models[0] = a = replace(a, classes=(m, c, s))
    other = b.model("host", "B", {"x": 3})
    (x,) = other.classes
    b.models[1] = other = replace(other, classes=(replace(x, labels=("p10", "p9", "p1"), connectors=(1, 0, 1)),))
    for name, model in (("h", other), ("a", a), ("k", other)):
        b.devices(name, model, 2)
    return b.build()


def test_what_models_say_of_all_their_ports() -> None:
    p = PortColumns(board())
    assert p.base.tolist() == [0, 7]
    assert p.label.tolist() == ["MGMT", "1/10", "1/9", "1/1", "1/2", "3/1", "3/2", "p10", "p9", "p1"]
    assert p.system.tolist() == ["eth0", "mlx5_0", "swp2", "", "swp4", "", "", "", "", ""]
    assert p.netdev.tolist() == ["eno1", "", "swp2", "", "swp4", "", "", "", "", ""]
    assert p.sonic.tolist() == ["", "Ethernet0", "Ethernet8", "Ethernet16", "Ethernet24", "", "", "", "", ""]
    assert p.sonic_alias.tolist() == ["MGMT", "1/10", "etp1", "etp2", "etp3", "3/1", "3/2", "p10", "p9", "p1"]
    assert p.cage.tolist() == ["", "OSFP 2", "OSFP 2", "OSFP 1", "OSFP 1", "3", "3", "", "", ""]
    assert p.path.tolist() == ["m", "c[0]", "c[1]", "c[2]", "c[3]", "s[1, 0]", "s[1, 1]", "x[0]", "x[1]", "x[2]"]
    assert p.short.tolist() == ["m", "c0", "c1", "c2", "c3", "s1-0", "s1-1", "x0", "x1", "x2"]
    assert p.hole.tolist() == ["MGMT", "1/10", "1/9", "1/1", "1/2", "3", "3", "p10", "p9", "p1"]
    assert p.hole_id.tolist() == ["m", "c0", "c1", "c2", "c3", "s1", "s1", "x0", "x1", "x2"]
    assert p.connector.tolist() == [0, 1, 2, 3, 4, 5, 5, 0, 1, 0]
    assert p.cage_first.tolist() == [0, 1, 1, 3, 3, 5, 5, 0, 1, 0]
    # cages 1 (c2, c3), 2 (c1, c0), 3 (s) come before the port without a cage
    assert p.rank.tolist() == [6, 3, 2, 0, 1, 4, 5, 2, 1, 0]
    ports = np.array([0, 2, 4, 6, 10, 12, 13, 17, 19, 20, 22, 25])
    assert p.rows(ports).tolist() == [7, 9, 8, 0, 4, 6, 0, 4, 6, 7, 9, 9]
    assert p.cage_of(ports).tolist() == [0, 0, 4, 6, 9, 11, 13, 16, 18, 20, 20, 23]
    assert p.connector_of(ports).tolist() == [0, 0, 4, 6, 10, 11, 13, 17, 18, 20, 20, 23]


def test_no_models() -> None:
    none = PortColumns(replace(Builder().build(), device_model=np.zeros(0, dtype=np.int64)))
    assert (none.base.tolist(), none.rank.tolist(), none.connector.tolist(), none.label.tolist()) == ([], [], [], [])


@pytest.mark.parametrize(
    ("settings", "first"),
    [
        ([{}, {}], [0, 1, 2, 3, 4, 5, 6, 7]),
        ([{"carries": 2}, {}], [0, 0, 2, 2, 4, 5, 6, 7]),
        ([{}, {"carries": 2}], [0, 1, 2, 3, 4, 4, 6, 7]),
        ([{"carries": 4}, {"carries": 2}], [0, 0, 0, 0, 4, 4, 6, 7]),
        ([{"part": "dac"}, {}], [0, 0, 0, 0, 4, 5, 6, 7]),
        ([{"part": "dac"}, {"carries": 4}], [0, 0, 0, 0, 4, 4, 6, 7]),
    ],
)
def test_ports_of_a_cage_that_leave_by_one_cable(settings: list[dict[str, object]], first: list[int]) -> None:
    """Switch ``a`` has two cages of 4 ports. One statement links the first, another half of the second."""
    b = Builder()
    model = b.model("switch", "S", {"p": 8})
    (c,) = model.classes
    b.models[0] = model = replace(model, classes=(replace(c, cages=(1, 1, 1, 1, 2, 2, 2, 2), form="OSFP", rate=GBPS),))
    cable = replace(b.model("cable", "C", {}), facts={"medium": "dac", "form": "OSFP"})
    b.models.pop()
    a, z = b.devices("a", model, None), b.devices("z", b.model("switch", "T", {"p": 8}), None)
    for ports, facts in zip((range(4), range(4, 6)), settings, strict=True):
        b.connect("connect", **{k: cable if k == "part" else v for k, v in facts.items()})
        for k in ports:
            b.link(b.port(a, 0, "p", k), b.port(z, 0, "p", k))
    f = b.build()
    assert PortColumns(f).connector_of(np.arange(8)).tolist() == first
    assert PortColumns(f).connector_of(np.arange(8, 16)).tolist() == list(range(8, 16))
    unlinked = replace(
        f, **{name: getattr(f, name)[:0] for name in ("link_a", "link_b", "link_statement")}, port_link=np.full(16, -1)
    )
    assert PortColumns(unlinked).connector_of(np.arange(8)).tolist() == list(range(8))
